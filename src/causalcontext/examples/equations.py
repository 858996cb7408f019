"""Hand-written structural causal models: one equation per variable, and the graphs that show on
their values.

An equation is a function whose argument names are the variable's causes; `noise` is its own noise.
Equations may refer to each other in a circle as long as in every context the circle is broken.

Their truth (Sec. 3.1, App. "Additional graphs"): the observable graph G[F, P] has j -> i if, with
the other causes of i held at values that P knows, some change of j within the support of P changes
f_i. The four graphs differ in F and P:

============== ================ ===================
graph          mechanisms       values of
============== ================ ===================
union          F                all rows
descriptive    F with R := r    the rows R = r
physical       F with R := r    all rows
counterfactual F with R := r    the model under R := r
============== ================ ===================

Links at R are those of the union.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import OptionError, did_you_mean
from causalcontext.examples.noise import NoiseLaw, normal
from causalcontext.examples.settings import DONOR_ROWS, FEWEST_TRUTH_ROWS, SMALLEST_MOVED_SHARE
from causalcontext.examples.truth import Truth, directed_graph
from causalcontext.graphs.graph import Graph
from causalcontext.kernels.arrays import Bools, Values

EquationFunction = Callable[..., Any]
NOISE = "noise"


@dataclass(frozen=True, eq=False)
class EquationSCM:
    """A structural causal model by equations, one of whose variables is the context.

    The paper's Example (i): T acts on Y where R = 1 only.

    >>> model = EquationSCM("R", {
    ...     "X": lambda noise: noise,
    ...     "T": lambda noise: noise,
    ...     "R": lambda X, T, noise: X + T + 0.3 * noise > 0,
    ...     "Y": lambda R, T, noise: 1.5 * R * T + noise,
    ... })
    >>> model.sample(1000, seed=1).shape
    (1000, 4)
    >>> model.truth().descriptive[0].mark("T", "Y")
    ''
    """

    context: str  # the context variable; its equation gives truth values or integers
    # columns of the table in this order; the arguments of a function are the causes of its
    # variable, and `noise`
    equations: Mapping[str, EquationFunction]
    noise: NoiseLaw = normal  # the law of all noise terms
    # what the values of the context are called in the table, such as {0: "dry", 1: "wet"}
    labels: Mapping[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.context not in self.equations:
            raise OptionError(f"there is no equation for the context {self.context!r}")
        for name, causes in self.causes.items():
            for cause in causes:
                if cause not in self.equations:
                    hint = did_you_mean(cause, self.equations)
                    raise OptionError(
                        f"the equation of {name!r} uses {cause!r}, which has no equation{hint}"
                    )

    @property
    def names(self) -> tuple[str, ...]:
        """The variables in the order of the table's columns."""
        return tuple(self.equations)

    @cached_property
    def causes(self) -> Mapping[str, tuple[str, ...]]:
        """The arguments of every equation: the mechanism graph."""
        arguments = {
            name: inspect.signature(equation).parameters
            for name, equation in self.equations.items()
        }
        return {
            name: tuple(argument for argument in parameters if argument != NOISE)
            for name, parameters in arguments.items()
        }

    def sample(self, n: int, seed: int | np.random.Generator) -> pd.DataFrame:
        """A table of `n` rows."""
        values = self.solve(self.draw_noise(n, seed))
        if self.labels:
            present, places = np.unique(values[self.context], return_inverse=True)
            values[self.context] = np.asarray(self.level_names(present))[places]
        return frame_of({name: values[name] for name in self.names})

    def draw_noise(self, n: int, seed: int | np.random.Generator) -> dict[str, Values]:
        """The noise of every variable, an array of `n` values each."""
        drawn = self.noise(np.random.default_rng(seed), (len(self.names), n))
        return dict(zip(self.names, drawn, strict=True))

    def solve(
        self, noise: Mapping[str, Values], do: Mapping[str, Any] | None = None
    ) -> dict[str, Values]:
        """The values that satisfy all equations at once, `do` replacing those of some variables by
        constants.

        Every sweep makes at least one more step of the causal order of every row right, so that two
        sweeps per variable are enough: one until the context is right, one for the rest in that
        context.
        """
        n = len(next(iter(noise.values())))
        fixed = {name: np.full(n, value) for name, value in (do or {}).items()}
        values = {name: np.zeros(n) for name in self.names} | fixed
        for _ in range(2 * len(self.names) + 1):
            before = dict(values)
            for name in self.names:
                if name not in fixed:
                    values[name] = self.evaluate(name, values, noise[name])
            if all(np.array_equal(values[name], before[name]) for name in self.names):
                return values
        raise OptionError(
            "the equations have no solution that a causal order of every context leads to; "
            "look for variables that cause each other within one context"
        )

    def evaluate(self, name: str, values: Mapping[str, Values], noise: Values) -> Values:
        """One variable as its equation gives it; truth values as 0 and 1."""
        arguments = {cause: values[cause] for cause in self.causes[name]}
        if NOISE in inspect.signature(self.equations[name]).parameters:
            arguments[NOISE] = noise
        result = np.broadcast_to(np.asarray(self.equations[name](**arguments)), noise.shape)
        return (
            result.astype(np.int64) if name == self.context or result.dtype == np.bool_ else result
        )

    def truth(self, rows: int = 4000, seed: int = 0) -> Truth:
        """The union, descriptive, physical and counterfactual graphs, found by moving one cause at
        a time.
        """
        noise = self.draw_noise(rows, seed)
        everywhere = self.solve(noise)
        context = self.names.index(self.context)
        levels, counts = np.unique(everywhere[self.context], return_counts=True)
        if len(levels) < 2 or counts.min() < FEWEST_TRUTH_ROWS:
            raise OptionError(
                f"{self.context!r} takes the values {levels.tolist()} in {counts.tolist()} of"
                f" {rows} rows; its truth needs two values with {FEWEST_TRUTH_ROWS} rows each"
            )
        union = _observable(self, everywhere, noise, None)
        graphs: dict[str, dict[object, Graph]] = {
            "descriptive": {},
            "physical": {},
            "counterfactual": {},
        }
        for level, name in zip(levels.tolist(), self.level_names(levels), strict=True):
            in_context = everywhere[self.context] == level
            seen, their_noise = (
                {key: column[in_context] for key, column in values.items()}
                for values in (everywhere, noise)
            )
            as_set = self.solve(noise, do={self.context: level})
            views = {
                "descriptive": (seen, their_noise),
                "physical": (everywhere, noise),
                "counterfactual": (as_set, noise),
            }
            for kind, view in views.items():
                links = _observable(self, *view, level)
                links[context] = union[context]
                links[:, context] = union[:, context]
                graphs[kind][name] = directed_graph(self.names, links)
        return Truth(context=self.context, union=directed_graph(self.names, union), **graphs)

    def level_names(self, levels: Values) -> tuple[Any, ...]:
        """The names of these values of the context in the table."""
        return tuple(self.labels.get(int(level), int(level)) for level in levels)


def _observable(
    model: EquationSCM, values: Mapping[str, Values], noise: Mapping[str, Values], level: int | None
) -> Bools:
    """The links cause -> effect that show on these values, R being held at `level` unless that is
    None.
    """
    links = np.zeros((len(model.names),) * 2, dtype=np.bool_)
    rows = len(values[model.context])
    fixed = dict(values) if level is None else dict(values) | {model.context: np.full(rows, level)}
    for effect, name in enumerate(model.names):
        held = [cause for cause in model.causes[name] if level is None or cause != model.context]
        before = model.evaluate(name, fixed, noise[name])
        for cause in held:
            # How often does the effect change if one cause has its value from a row whose other
            # causes are similar?
            others = [fixed[other] for other in held if other != cause]
            moved = []
            for donors in _similar_rows(others, len(noise[name])).T:
                after = model.evaluate(name, fixed | {cause: fixed[cause][donors]}, noise[name])
                moved.append(np.mean(~np.isclose(after, before, rtol=1e-9, atol=1e-12)))
            links[model.names.index(cause), effect] = float(np.mean(moved)) > SMALLEST_MOVED_SHARE
    return links


def _similar_rows(columns: list[Values], rows: int) -> NDArray[np.intp]:
    """For every row, other rows that are nearest in these columns: shape (rows, neighbours)."""
    from scipy.spatial import cKDTree  # not imported before it is needed: it takes long

    count = min(DONOR_ROWS, rows - 1)
    if not columns:
        return (
            np.arange(rows)[:, None] + np.arange(1, count + 1) * max(rows // (count + 1), 1)
        ) % rows
    points = np.column_stack([column / max(float(np.std(column)), 1e-12) for column in columns])
    return np.asarray(cKDTree(points).query(points, k=count + 1)[1][:, 1:])
