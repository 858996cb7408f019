"""Models some of whose variables are missing from their tables, and what is true about the others.

The truth of a context is its maximal ancestral graph over the variables of the table
(docs/hidden-causes.md): an edge where no set separates two variables, a tail for "causes", an arrow
for "does not cause", in that context.

Inside a context, x and y are independent given S if S and R separate them in its graph. On all rows
the contexts are mixed, and separation in every graph is not enough: x may depend on R in one
context and R on y in another. `separated` has the rule (docs/hidden-causes.md). It needs no joint
distribution, so it answers for large models too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from causalcontext import Graph
from causalcontext.data.frames import pd
from causalcontext.errors import DataError, OptionError
from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind
from causalcontext.graphs.paths import descendants, is_acyclic, mag_adjacency, open_paths, reach
from causalcontext.views import CIQuery, Contexts, Outcomes, Reason
from causalcontext_lab.arrays import Bools, Floats
from causalcontext_lab.simulate.linear import ContextSCM
from causalcontext_lab.simulate.random_graphs import edit_parent
from causalcontext_lab.simulate.truth import union_of

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext_lab.simulate.testing import DiscreteModel


Where = tuple[tuple[int, int], ...]
"""Nodes, and the values that they have."""
TOLERANCE = 1e-10
"""A smaller deviation from independence is none."""


@dataclass(frozen=True, eq=False)
class HiddenVariables:
    """A model whose tables lack some columns.

    >>> from causalcontext_lab.simulate import random_model
    >>> whole = random_model(nodes=6, seed=1)
    >>> without = HiddenVariables(whole, tuple(v for v in (0, 1) if v != whole.context))
    >>> set(without.names) < set(whole.names)
    True
    """

    model: ContextSCM | DiscreteModel  # with all variables
    # the positions of those that no table has; the context is not among them
    hidden: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.model.context in self.hidden:
            raise OptionError(
                "the context variable is among the hidden ones; a table without it has no contexts"
            )

    @cached_property
    def observed(self) -> tuple[int, ...]:
        """The positions of the variables that a table has."""
        return tuple(node for node in range(len(self.model.names)) if node not in self.hidden)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of a table."""
        return tuple(self.model.names[node] for node in self.observed)

    @property
    def context(self) -> int:
        """The position of the context variable among them."""
        return self.observed.index(self.model.context)

    @property
    def context_name(self) -> str:
        """The name of the context variable."""
        return self.model.names[self.model.context]

    def sample(self, n: int, seed: int | np.random.Generator) -> pd.DataFrame:
        """A table of `n` rows without the hidden variables."""
        return self.model.sample(n, seed)[list(self.names)]

    @cached_property
    def causes(self) -> Bools:
        """True where i is an ancestor of j in a context, perhaps through others: shape (contexts,
        M, M).
        """
        return np.asarray(
            reach(self.model.adjacency)[
                :, np.array(self.observed)[:, None], np.array(self.observed)
            ]
        )

    @cached_property
    def endpoints(self) -> Endpoints:
        """The ends of the true graph of every context, shape (contexts, M, M).

        Links at the context variable are those that no set separates on all rows, so they are the
        same in all contexts; in a context whose own graph has no such link, the context variable
        still is a cause of the other end.
        """
        stack = self.model.adjacency
        context = self.model.context
        there = mag_adjacency(stack, self.observed)
        # what no set separates from R in some context
        linked = np.asarray(there[:, self.context].any(axis=0))
        for place, node in enumerate(self.observed):
            if place != self.context and not linked[place]:
                above = np.asarray(reach(union_of(stack))[:, [context, node]].any(axis=1))
                candidates = [
                    other
                    for other in self.observed
                    if above[other] and other not in (context, node)
                ]
                tried = chain([tuple(candidates)], subsets(candidates))  # all their ancestors first
                linked[place] = not any(
                    bool(separated(stack, context, context, node, given)) for given in tried
                )
        there[:, self.context] = there[:, :, self.context] = linked
        at_second = np.where(self.causes.swapaxes(1, 2), Endpoint.TAIL, Endpoint.ARROW)
        return np.where(there, at_second, Endpoint.NONE).astype(np.int8)

    def true_graphs(self) -> Mapping[int, Graph]:
        """The true graph of every context."""
        return {
            level: Graph(self.names, endpoints, GraphKind.PAG)
            for level, endpoints in enumerate(self.endpoints)
        }

    def oracle(self) -> SeparationTest:
        """A test for tables of this model that cannot err."""
        return SeparationTest(self.model.adjacency, self.model.context, self.model.names)


def subsets(members: Sequence[int]) -> chain[tuple[int, ...]]:
    """All subsets, small ones first."""
    return chain.from_iterable(combinations(members, size) for size in range(len(members) + 1))


EFFECTS = (0.6, 1.4)
"""The size of linear effects and shifts, either sign."""
RELATIVE_NOISE = 0.5
"""The noise of the context variable, in standard deviations of what its causes say."""
MOST_CHANGES = 3
TRIES = 20


def random_hidden_model(
    observed: int = 8, hidden: int = 2, degree: float = 2.2, *, seed: int | np.random.Generator
) -> HiddenVariables:
    """A random linear model of two contexts, some of whose variables no table has.

    Parameters
    ----------
    observed : int
        System variables of a table, from 4 on.
    hidden : int
        Hidden causes of two of them each; in half of the models the first one also causes the
        context.
    degree : float
        How many links a system variable has on average with others, hidden ones not counted.
    seed : int or numpy Generator

    Notes
    -----
    The context variable R stands behind two to five variables of a random order, each a cause of it
    with probability one half, and is 1 above the median of its causes plus noise. Up to three
    variables behind R are changed in both contexts, in either by itself: a link to one of their
    causes is removed, added or reversed, or they are shifted.

    >>> model = random_hidden_model(seed=1)
    >>> model.sample(100, seed=2).shape
    (100, 9)
    """
    if observed < 4 or hidden < 0 or not 0 <= degree <= observed - 1:
        raise OptionError(
            f"found {observed} observed and {hidden} hidden variables and a degree of {degree};"
            f" expected 4 or more, 0 or more, and a degree from 0 to {observed - 1}"
        )
    generator = np.random.default_rng(seed)
    draft = _draft(observed, hidden, degree, generator)
    both = np.stack([draft.base, draft.base])  # of the two contexts
    shifts = np.zeros((2, len(draft.base)))
    for node in generator.permutation(draft.later)[:MOST_CHANGES].tolist():
        for level in (0, 1):
            _change_once(draft, both, shifts, (level, node), generator)
    # of all paths, with noises of variance 1
    total = np.linalg.inv(np.eye(len(draft.base)) - draft.base)
    noise = RELATIVE_NOISE * float(np.linalg.norm(total @ draft.base[:, draft.context])) or 1.0
    names = (
        *(f"X{node}" for node in range(observed)),
        "R",
        *(f"L{node}" for node in range(hidden)),
    )
    model = ContextSCM(names, draft.context, both, draft.order, context_noise=noise, shifts=shifts)
    return HiddenVariables(model, tuple(range(observed + 1, observed + 1 + hidden)))


@dataclass(frozen=True, eq=False)
class _Draft:
    """Linear effects before anything differs between contexts, and an order of all nodes; `later`
    are behind R.
    """

    base: Floats
    order: tuple[int, ...]
    context: int
    later: tuple[int, ...]


def _draft(observed: int, hidden: int, degree: float, generator: np.random.Generator) -> _Draft:
    context = observed
    size = observed + 1 + hidden
    order = generator.permutation(observed)
    base = np.zeros((size, size))
    for place, effect in enumerate(order):
        linked = generator.random(place) < degree / (observed - 1)
        base[order[:place][linked], effect] = _effects(generator, int(linked.sum()))
    cut = int(generator.integers(2, min(5, observed - 2) + 1))
    causes = order[:cut][generator.random(cut) < 0.5]
    base[causes, context] = _effects(generator, len(causes))
    for node in range(observed + 1, size):
        effects = generator.choice(observed, size=2, replace=False)
        base[node, effects] = _effects(generator, len(effects))
    if hidden and generator.random() < 0.5:
        base[observed + 1, context] = _effects(generator, 1)[0]
    in_order = (*range(observed + 1, size), *order[:cut], context, *order[cut:])
    return _Draft(base, tuple(map(int, in_order)), context, tuple(order[cut:].tolist()))


def _effects(generator: np.random.Generator, count: int) -> Floats:
    return np.asarray(
        generator.uniform(*EFFECTS, size=count) * generator.choice((-1.0, 1.0), size=count)
    )


def _change_once(
    draft: _Draft,
    both: Floats,
    shifts: Floats,
    where: tuple[int, int],
    generator: np.random.Generator,
) -> None:
    """One more difference at a node of a context, in place; none if nothing fits."""
    level, node = where
    free = np.zeros(draft.base.shape, dtype=bool)
    earlier = [node for node in draft.order if node < draft.context]
    free[np.ix_(earlier, draft.later)] = (both[0] == both[1])[np.ix_(earlier, draft.later)]
    within = np.zeros_like(free)
    within[np.ix_(draft.later, draft.later)] = True
    for _ in range(TRIES):
        law = _effects(generator, 1).tolist()
        what = int(generator.integers(4))
        if what == 3:
            shifts[level, node] += law[0]
            return
        edit, may = (("remove", free), ("add", free), ("flip", free & within))[what]
        edited = edit_parent(edit, both[level], may, node, law, generator)
        if edited is not None and is_acyclic(edited != 0):
            both[level] = edited
            return


def separated(
    stack: Bools, context: int, x: int, y: int, given: Sequence[int], level: int | None = None
) -> Bools:
    """True where x and y are independent given a set, on all rows or on those of the context
    `level`.

    `stack`, shape (..., contexts, N, N), has the graph of every context, links at the context
    variable R and hidden variables included; leading axes are models. `context` is the position of
    R, which may be given on all rows.

    On all rows and without R in S, independence holds if S separates x and y in every graph, and if
    there are no two contexts r and s with a path x ~ R open in r and a path R ~ y open in s such
    that R is an ancestor of S or one of the two paths leaves R along an arrow. If S separates y
    from R in every graph, P(y | S, R = r) is the same for all r; if it does not, all open paths run
    into R, and the graphs of the ancestors are one and the same. That nothing else is independent
    is faithfulness.

    >>> stack = np.zeros((2, 3, 3), dtype=bool)
    >>> stack[0, 0, 1] = stack[:, 2, 1] = True
    >>> bool(separated(stack, 2, 0, 1, ())), bool(separated(stack, 2, 0, 1, (), level=1))
    (False, True)
    """
    chosen = np.zeros(stack.shape[-1], dtype=bool)
    chosen[list(given)] = True
    if level is not None:
        chosen[context] = True
        return ~open_paths(stack[..., level, :, :], x, chosen)[..., y]
    apart = ~open_paths(stack, x, chosen)[..., y].any(axis=-1)
    if context in (x, y, *given) or not apart.any():
        return np.asarray(apart)
    return np.asarray(apart & ~_mixed(stack, context, x, y, chosen))


def _mixed(stack: Bools, context: int, x: int, y: int, given: Bools) -> Bools:
    """True where x and y are dependent because different contexts connect them with R."""
    near = open_paths(stack, context, given)
    out = open_paths(stack, context, given, leaving=True)
    above = np.asarray((descendants(stack, context) & given).any(axis=-1))
    found = np.zeros(stack.shape[:-3], dtype=bool)
    for r in range(stack.shape[-3]):
        for s in range(stack.shape[-3]):
            if r != s:
                leaves = above[..., r] | out[..., r, x] | out[..., s, y]
                found |= near[..., r, x] & near[..., s, y] & leaves
    return found


class SeparationTest:
    """The independence test that knows the graphs: p is 1 where independence follows from them,
    else 0.

    `stack` has shape (contexts, N, N), and `names` are those of all nodes; a table holds those that
    are not hidden.
    """

    name: str = "separation"

    def __init__(self, stack: Bools, context: int, names: Sequence[str]) -> None:
        self.stack = stack
        self.context = context
        self.names = tuple(names)

    def prepare(self, data: Dataset, statistics: object = None) -> PreparedOracle:
        """The oracle for the columns of a table."""
        unknown = [name for name in data.names if name not in self.names]
        if unknown:
            raise DataError(f"the table has a column {unknown[0]!r}, which the model does not have")
        nodes = tuple(self.names.index(name) for name in data.names)
        return PreparedOracle(self.deviation, nodes, data.contexts)

    def deviation(self, x: int, y: int, given: Sequence[int] = (), where: Where = ()) -> float:
        """0 where two nodes are independent given some, on the rows where the context has a value,
        else 1.
        """
        return 1.0 - float(
            separated(self.stack, self.context, x, y, given, where[0][1] if where else None)
        )


@dataclass(frozen=True, eq=False)
class PreparedOracle:
    """A test that cannot err, for one table."""

    # how far two nodes of a model are from independence, given some and where others have certain
    # values
    deviation: Callable[[int, int, Sequence[int], Where], float]
    nodes: tuple[int, ...]  # the node of every column
    contexts: Contexts  # the views of the table
    _known: dict[CIQuery, float] = field(default_factory=dict, init=False, repr=False)

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, without rows; the statistic is the deviation from
        independence.
        """
        for query in (query for query in queries if query not in self._known):
            where = tuple(
                (self.nodes[column], level) for column, level in self.contexts.views[query.view]
            )
            x, y, *given = (self.nodes[column] for column in (query.x, query.y, *query.given))
            constant_here = any(node in (x, y) for node, _ in where)  # one of the two, in the view
            self._known[query] = np.nan if constant_here else self.deviation(x, y, given, where)
        statistic = np.array([self._known[query] for query in queries], dtype=np.float64)
        constant = np.isnan(statistic)
        p = np.where(constant, np.nan, statistic <= TOLERANCE)
        reason = np.where(constant, Reason.CONSTANT, Reason.TESTABLE).astype(np.int8)
        return Outcomes(
            statistic, np.full(p.shape, np.nan), p, np.zeros(p.shape, dtype=np.int64), reason
        )
