"""The links of window graphs by lag, whose windows are right for a mechanism in time, and its fit on them.

Inside a time step a result may leave directions open, and a score which copy of the context a variable reads; a
`LinkChoice` settles both. A variable that reads the copy R(t-1) of the context is fitted on the windows with that value
of R(t-1), one that reads no copy on all of them: given all its parents, its noise knows nothing of the copy that
selects its windows. Links repeat, so the mechanism of X(t-2) is that of X.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.data.kinds import Kind
from causalcontext.data.moments import Moments
from causalcontext.data.windows import WindowMoments, WindowRows, numbered
from causalcontext.errors import NotYetError, OptionError, check_choice, listed
from causalcontext.graphs.endpoints import Endpoint, Endpoints, directed, mark_of, marked, may_cause
from causalcontext.graphs.lag_names import at
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools
from causalcontext.results.effects.fits import MechanismFit, fit
from causalcontext.results.effects.mechanics import ERRORS, NoAnswer, NotLinear
from causalcontext.results.effects.shared_fits import SharedFit, Term, shared_fits
from causalcontext.results.series import series_of

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

MOST_CHOICES = 256
"""Where a result leaves more than this open, no number is given."""


class LinkChoice(NamedTuple):
    """One way to settle what a result leaves open.

    `arrows` are (cause, effect) of the present, `copies` are (variable, lag of the copy of the context that it reads);
    variables are numbered as in `series.variables`.
    """

    arrows: frozenset[tuple[int, int]] = frozenset()
    copies: tuple[tuple[int, int], ...] = ()


class WindowLinks:
    """Who causes whom how many steps later, in every context.

    Variables are numbered as in `series.variables`, the context included; columns as in `LaggedTable`.
    """

    def __init__(self, result: ContextGraphs) -> None:
        self.result, self.series = result, series_of(result)
        self.endpoints: Endpoints = np.stack([graph.endpoints for graph in result.graphs.values()])
        self.variables, self.lags = len(self.series.variables), self.series.lags
        positions = result.cells.positions
        self.context = positions[0] - self.lags * self.variables if positions else None
        self.system = tuple(v for v in range(self.variables) if v != self.context)

    @property
    def cells(self) -> range:
        """The contexts, by number."""
        return range(len(self.endpoints))

    def node(self, variable: int, lag: int) -> int:
        """The position of a variable at a lag in a window graph."""
        return (self.lags - lag) * self.variables + variable

    def column(self, variable: int, lag: int = 0) -> int:
        """The column of a system variable at a lag in the table of windows."""
        return lag * len(self.system) + self.system.index(variable)

    def place(self, column: int) -> tuple[int, int] | None:
        """The variable and the lag of a column; None for a covariate."""
        lag, number = divmod(column, len(self.system))
        return (self.system[number], lag) if lag <= self.lags else None

    def name(self, variable: int, lag: int = 0) -> str:
        """The name of a variable at a lag, as the result shows it."""
        return self.result.names[self.node(variable, lag)]

    @cached_property
    def directed(self) -> Bools:
        """Directed edges between the nodes of window graphs, shape (graphs, nodes, nodes)."""
        return directed(self.endpoints)

    @cached_property
    def settled(self) -> Bools:
        """`settled[g, lag, i, j]`: i so many steps ago is a cause of j; shape (graphs, lags + 1, variables, ...)."""
        return self._by_lag(self.directed)

    @cached_property
    def open(self) -> Bools:
        """`open[g, i, j]`: inside the time step there is an edge of i and j without a direction."""
        return self._by_lag(marked(self.endpoints, "o-o"))[:, 0]

    @cached_property
    def may(self) -> Bools:
        """Like `settled`, for system variables that may be causes."""
        links = self._by_lag(may_cause(self.endpoints))
        if self.context is not None:
            links[:, :, self.context] = links[:, :, :, self.context] = False
        return links

    def reach(self, g: int, steps: int) -> Bools:
        """`reach[k, i, j]`: i may lead to j within exactly k steps, k up to `steps`; i leads to itself in none."""
        none = np.eye(self.variables, dtype=bool)
        present = none | reach(self.may[g, 0])
        found = [present]
        for k in range(1, steps + 1):
            arrived = np.zeros_like(none)
            for lag in range(1, min(k, self.lags) + 1):
                arrived |= (found[k - lag].astype(np.float32) @ self.may[g, lag].astype(np.float32)) > 0
            found.append(np.asarray((arrived.astype(np.float32) @ present.astype(np.float32)) > 0))
        return np.stack(found)

    def leads_to_context(self, g: int, variable: int) -> bool:
        """Whether a variable may lead to the context, at any lag."""
        if self.context is None:
            return False
        everywhere = self._by_lag(may_cause(self.endpoints))[g].any(axis=0)
        return bool(reach(everywhere)[variable, self.context])

    def causes(self, choice: LinkChoice, g: int, variable: int) -> tuple[int, ...]:
        """The columns that a variable is a function of in a context."""
        now = self.settled[g, :, :, variable].copy()
        for cause, effect in choice.arrows:
            if effect == variable and self.open[g, cause, effect]:
                now[0, cause] = True
        found = [self.column(int(v), int(lag)) for lag, v in np.argwhere(now) if v != self.context]
        into = self.directed[g, :, self.node(variable, 0)]
        start, nodes = len(self.system) * (self.lags + 1), self.variables * (self.lags + 1)
        return (*sorted(found), *(start + int(q) for q in np.flatnonzero(into[nodes:])))

    def copies(self, choice: LinkChoice, g: int, variable: int) -> tuple[int, ...]:
        """The lags of the copies of the context that a variable reads."""
        if self.context is None:
            return ()
        for reader, lag in choice.copies:
            if reader == variable:
                return (lag,)
        now = self.settled[g, :, self.context, variable].copy()
        now[0] |= (self.context, variable) in choice.arrows and self.open[g, self.context, variable]
        return tuple(np.flatnonzero(now).tolist())

    def choices(self, variables: Iterable[int]) -> tuple[LinkChoice, ...] | None:
        """All ways to settle what is open at some variables; None if there are too many."""
        wanted = list(dict.fromkeys(variables))
        pairs = self.open_pairs(wanted)
        undecided = [(v, lags) for v in wanted if len(lags := self._undecided(v)) > 1]
        if 2.0 ** len(pairs) * float(np.prod([len(lags) for _, lags in undecided])) > MOST_CHOICES:
            return None
        readings = list(product(*(tuple((v, lag) for lag in lags) for v, lags in undecided)))
        return tuple(LinkChoice(arrows, copies) for arrows in self._directions(pairs) for copies in readings
                     if self._readable(arrows, copies))  # fmt: skip

    def open_pairs(self, variables: Iterable[int]) -> list[tuple[int, int]]:
        """The edges without direction at some variables."""
        wanted = set(variables)
        pairs = np.argwhere(np.triu(self.open.any(axis=0))).tolist()
        return [(i, j) for i, j in pairs if i in wanted or j in wanted]

    def open_words(self, variables: Sequence[int]) -> str:
        """What is open at some variables, in words."""
        found = [f"{self.name(i)} o-o {self.name(j)}" for i, j in self.open_pairs(variables)]
        found += [f"the copy of {self.result.context} that {self.name(v)} reads" for v in variables
                  if len(self._undecided(v)) > 1]  # fmt: skip
        return listed(found, 3)

    def conflict(self, variables: Iterable[int], cells: Sequence[int]) -> str:
        """An edge in conflict at some variables in some contexts; empty if there is none."""
        for g, v in product(cells, variables):
            here = self.node(v, 0)
            for other in np.flatnonzero(
                (self.endpoints[g, here] == Endpoint.CONFLICT) | (self.endpoints[g, :, here] == Endpoint.CONFLICT)
            ):
                i, j = sorted((here, int(other)))
                return f"{self.result.names[i]} {mark_of(self.endpoints[g], i, j)} {self.result.names[j]}"
        return ""

    def _by_lag(self, links: Bools) -> Bools:
        """Links between nodes of window graphs that lead into the present, by lag."""
        v, now = self.variables, slice(self.lags * self.variables, (self.lags + 1) * self.variables)
        return np.stack([links[:, (self.lags - lag) * v : (self.lags - lag + 1) * v, now]
                         for lag in range(self.lags + 1)], axis=1)  # fmt: skip

    def _undecided(self, variable: int) -> tuple[int, ...]:
        """The copies of the context between which a score does not decide."""
        if self.result.evidence is None or variable == self.context:
            return ()
        copy = self.series.reads.get(self.series.variables[variable])
        return copy[1] if copy is not None and isinstance(copy[1], tuple) else ()

    def _directions(self, pairs: Sequence[tuple[int, int]]) -> list[frozenset[tuple[int, int]]]:
        """The ways to direct some edges of the present without a cycle, and without a new collider if that is possible.

        Tests would have seen a collider, a score need not have.
        """
        turned = product((False, True), repeat=len(pairs))
        ways = [frozenset((j, i) if turn else (i, j) for turn, (i, j) in zip(turns, pairs, strict=True))
                for turns in turned]  # fmt: skip
        acyclic = [arrows for arrows in ways if self._acyclic(arrows)]
        if self.result.evidence is not None:
            return acyclic
        return [arrows for arrows in acyclic if not self._new_collider(arrows)] or acyclic

    def _readable(self, arrows: frozenset[tuple[int, int]], copies: Sequence[tuple[int, int]]) -> bool:
        """Whether nothing that leads to R(t) inside the time step reads R(t)."""
        above, _ = self._present(arrows)
        return all(lag > 0 or not above[reader, self.context] for reader, lag in copies)

    def _acyclic(self, arrows: frozenset[tuple[int, int]]) -> bool:
        """Whether no cycle is new: in the union of all contexts, or in any of them where the union has one anyway."""
        together, each = self._present(arrows)
        if not self._present(())[0].diagonal().any():
            return not together.diagonal().any()
        return not any(each[g].diagonal().any() for g in self.cells if not self.cyclic(g))

    def cyclic(self, g: int) -> bool:
        """Whether directed edges inside the time step form a cycle in a context."""
        return bool(self._cycles[g])

    @cached_property
    def _cycles(self) -> Bools:
        return np.asarray(np.diagonal(reach(self.settled[:, 0]), axis1=1, axis2=2).any(axis=1))

    def _present(self, arrows: Iterable[tuple[int, int]]) -> tuple[Bools, Bools]:
        """Who leads to whom inside the time step: in the union of all contexts, and in each."""
        each = self.settled[:, 0].copy()
        for i, j in arrows:
            each[:, i, j] |= self.open[:, i, j]
        return reach(np.asarray(each.any(axis=0))), reach(each)

    def _new_collider(self, arrows: Iterable[tuple[int, int]]) -> bool:
        """Whether two causes that are not adjacent now meet."""
        links = self.directed.copy()
        chosen = [(self.node(i, 0), self.node(j, 0)) for i, j in arrows]
        for a, b in chosen:
            links[:, a, b] |= self.endpoints[:, a, b] == Endpoint.CIRCLE
        for g, (a, b) in product(self.cells, chosen):
            others = links[g, :, b] & (self.endpoints[g, a] == Endpoint.NONE)
            others[a] = False
            if links[g, a, b] and others.any():
                return True
        return False


LARGEST_Z = 3.3
"""Residuals of neighbouring windows that are correlated more clearly than this are named."""


class WindowChoice(NamedTuple):
    """The windows of a mechanism: cells of copies of the context, whether each has its own level, and why these.

    `together` says that slopes which contexts share are fitted on the windows of all of them.
    """

    copies: tuple[int, ...]
    cells: tuple[int, ...]
    shifted: bool
    why: str
    together: bool = False


class LaggedMechanics(WindowLinks):
    """The window graphs of a result with the fits of their mechanisms, each made once.

    Parameters
    ----------
    result : ContextGraphs
    errors : {"auto", "sandwich", "classical"}
        "auto" takes the sandwich where the result has its windows.
    """

    def __init__(self, result: ContextGraphs, errors: str = "auto") -> None:
        check_choice("errors", errors, ERRORS)
        if not result.complete:
            raise OptionError("the search was interrupted, so its graphs are not final; run discover again")
        super().__init__(result)
        self.moments = _moments(result)
        if errors == "sandwich" and result.windowed is None:
            raise OptionError("errors is 'sandwich', which needs the windows of the table; this result has none")
        self._robust = errors != "classical" and result.windowed is not None
        self._fits: dict[tuple[object, ...], MechanismFit] = {}
        self._follows: dict[MechanismFit, float] = {}
        self._joint: dict[tuple[object, ...], tuple[SharedFit, ...] | str] = {}
        self._merged: dict[tuple[int, ...], Moments] = {}

    def windows_for(self, choice: LinkChoice, g: int, variable: int) -> WindowChoice:
        """Whose windows a mechanism is fitted on."""
        if self.context is None:
            return WindowChoice((), (0,), False, "there is no context")
        if self.result.settings.method == "pc-m" and 0 in self.moments.copies:
            return WindowChoice((0,), (g,), False, f"links at {self.result.context} were not searched")
        copies = self.copies(choice, g, variable)
        if not copies:
            return self._without_copy(choice, g, variable)
        unknown = [self.name(self.context, lag) for lag in copies if lag not in self.moments.copies]
        if unknown:
            raise NoAnswer(f"{self.name(variable)} reads {unknown[0]}, which is none of context_lags")
        read = " and ".join(self.name(self.context, lag) for lag in copies)
        evidence = self.result.evidence
        if evidence is None or len(copies) > 1 or self.open[:, :, variable].any():
            cell = int(numbered(np.full((1, len(copies)), g), len(self.cells))[0])
            return WindowChoice(copies, (cell,), False, f"{read} causes it")
        here = self.node(variable, 0)
        mask, model = int(evidence.block[g, here]), evidence.model[here]
        why = f"it reads {read}, its model is {model}"
        if model == "mixed":
            return WindowChoice(copies, (g,), False, f"{why}: slopes that stay are fitted together", True)
        return WindowChoice(copies, tuple(r for r in self.cells if mask >> r & 1), model == "shifted", why)

    def fit(self, choice: LinkChoice, g: int, variable: int) -> MechanismFit:
        """The mechanism of a variable in a context."""
        causes, windows = self.causes(choice, g, variable), self.windows_for(choice, g, variable)
        self._check_linear(variable, causes)
        if windows.together:
            return self._shared(choice, g, variable, windows)
        return self.regression(variable, causes, windows)

    def _shared(self, choice: LinkChoice, g: int, variable: int, windows: WindowChoice) -> MechanismFit:
        """The mechanism in one context of a regression for all of them."""
        terms = self._terms(choice, variable)
        key = (variable, tuple(terms), windows.copies)
        if key not in self._joint:
            rows = self._rows(windows.copies) if self._robust else None
            self._joint[key] = shared_fits(self.by_copies(windows.copies), self.column(variable), terms, rows)
        found = self._joint[key]
        if isinstance(found, str):
            raise NoAnswer(f"{self.name(variable)} cannot be fitted: {found}")
        return found[g]

    def _terms(self, choice: LinkChoice, variable: int) -> list[Term]:
        """The columns of a mechanism, each with the contexts that share its slope: those with the same number."""
        slopes = {(row.source, row.context): row.slope for row in self.series.slopes
                  if row.target == self.series.variables[variable]}  # fmt: skip
        blocks: dict[tuple[int, float], list[int]] = {}
        for r, value in enumerate(self.result.contexts):
            for column in self.causes(choice, r, variable):
                known = slopes.get((self._plain_name(column), value), float(r))
                blocks.setdefault((column, known), []).append(r)
        return [(column, tuple(members)) for (column, _), members in blocks.items()]

    def _plain_name(self, column: int) -> str:
        """The name of a column as the search knew it."""
        place, series = self.place(column), self.series
        if place is not None:
            return at(series.variables[place[0]], place[1])
        return series.covariates[column - len(self.system) * (self.lags + 1)]

    def regression(self, variable: int, causes: tuple[int, ...], windows: WindowChoice) -> MechanismFit:
        """Least squares of a variable on columns of the table of windows."""
        copies, cells, shifted = windows.copies, windows.cells, windows.shifted and len(windows.cells) > 1
        key = (variable, causes, copies, cells, shifted)
        if key not in self._fits:
            rows = self._rows(copies) if self._robust else None
            self._fits[key] = fit(self.by_copies(copies), self.column(variable), causes, cells, shifted, rows)
        found = self._fits[key]
        if found.problem:
            where = "" if self.context is None else f" (windows: {self.rows_text(windows)})"
            raise NoAnswer(f"{self.name(variable)} cannot be fitted{where}: {found.problem}")
        return found

    def follows(self, found: MechanismFit, windows: WindowChoice) -> float:
        """The correlation of residuals of neighbouring windows where it is clear; else 0."""
        if found not in self._follows:
            self._follows[found] = self._residual_correlation(found, windows)
        return self._follows[found]

    def rows_text(self, windows: WindowChoice) -> str:
        """Windows in words: "all", "R(t-1)=wet"."""
        k = len(self.cells)
        if self.context is None or len(windows.cells) == k ** len(windows.copies):
            return "all"
        return " or ".join(", ".join(self._cell_texts(windows.copies, cell)) for cell in windows.cells)

    def _cell_texts(self, copies: Sequence[int], cell: int) -> Iterator[str]:
        assert self.context is not None
        values = self.result.contexts
        for number, lag in enumerate(copies):
            code = cell // len(values) ** (len(copies) - 1 - number) % len(values)
            yield f"{self.name(self.context, lag)}={values[code]}"

    def _without_copy(self, choice: LinkChoice, g: int, variable: int) -> WindowChoice:
        """All windows; where causes differ between contexts all the same, those of contexts with the same ones."""
        own = self.causes(choice, g, variable)
        alike = tuple(h for h in self.cells if self.causes(choice, h, variable) == own)
        why = f"{self.result.context} does not cause it: one mechanism in all contexts"
        past = [lag for lag in self.moments.copies if lag > 0]
        if len(alike) == len(self.cells) or not past:
            return WindowChoice((), (0,), False, why)
        return WindowChoice((past[0],), alike, False, f"{why}, but its causes differ between contexts")

    def _check_linear(self, variable: int, causes: Sequence[int]) -> None:
        kinds = self.result.data.kinds
        places = [self.place(column) for column in causes]
        nodes = [self.node(variable, 0), *(self.node(*place) for place in places if place is not None)]
        for node in nodes:
            if Kind(kinds[node]) is not Kind.CONTINUOUS:
                raise NotLinear(f"not yet: {self.result.names[node]} is {kinds[node]}, without a linear mechanism")

    def by_copies(self, copies: tuple[int, ...]) -> Moments:
        """The moments of every combination of values of some copies of the context."""
        if copies not in self._merged:
            self._merged[copies] = self.moments.by(copies)
        return self._merged[copies]

    def _rows(self, copies: Sequence[int]) -> WindowRows:
        assert self.result.windowed is not None
        return WindowRows(self.result.windowed.table, copies)

    def _residual_correlation(self, found: MechanismFit, windows: WindowChoice) -> float:
        if self.result.windowed is None:
            return 0.0
        rows = self._rows(windows.copies)
        values, codes = rows.values([found.effect, *found.causes], found.cells)
        place = np.zeros(len(codes), dtype=np.int64) if len(found.levels) == 1 else np.searchsorted(found.cells, codes)
        residual = values[:, 0] - found.levels[place] - np.sum((values[:, 1:] - found.centres[place]) * found.slopes, 1)
        time = self.result.windowed.table.row[rows.inside(found.cells)]
        after = np.flatnonzero(np.diff(time) == 1)
        spread = float(residual.var()) * len(after)
        if spread <= 0.0:
            return 0.0
        correlation = float(residual[after] @ residual[after + 1]) / spread
        return correlation if abs(correlation) * np.sqrt(len(after)) > LARGEST_Z else 0.0


def _moments(result: ContextGraphs) -> WindowMoments:
    found = result.window_moments
    if found is None:
        raise NotYetError(
            "not yet: coefficients and effects need the moments of the windows, which this result does not have"
        )
    return found
