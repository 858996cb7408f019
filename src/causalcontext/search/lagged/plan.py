"""What a search over time is about: which variable at which time a column is, the rows that may
answer, what is known.

The nodes of a window graph come first, from the longest lag to the present, then covariates, which
have no lags; then the past beyond the window, as far as causes of causes may lie. It is conditioned
on, and never a node. A *context lag* is a column of a context at some lag: R(t), R(t-1), ...; a
mechanism changes with one of them for every context, or with none. A context that is made out of a
column (`cc.threshold`) is not searched: on the rows of its value are asked the questions with that
column, of the same time, among their conditions.

A pair at a context given other context lags is tested inside every value of these lags, and summed
up. A test that takes another context lag for a column would suppose that it moves levels only; but
it may change slopes as well. Inside each of its values there is nothing to suppose. p-values of
separate rows are combined by Fisher's method.

fci-ac over time searches a PAG over the window for every combination of the values of context lags.
The window is a table like any other, and what lies before it is hidden; so the search is that of
`search.fci`, with context lags as context variables, and nothing can precede its cause. Time adds
that the law of the window is that of every window before it. What separates a pair at time t
separates the pair one step earlier, given the set one step earlier, which may lie outside of the
window. So only pairs with an end at time t are tested. Rows where R(t-1) has a value become rows
where R(t-2) has it; where that is no context lag of the plan, nothing is said about earlier pairs.

Ends say who causes whom where context lags have their values. Before the earliest one the context
is free, so a pair at time t has the mechanisms of its combination, and the earlier pair has those
and perhaps others: what causes another at time t does so earlier, and what does not cause it
earlier does not at time t. Without contexts both hold both ways.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
import scipy

from causalcontext.ci_tests.protocol import Declared, Label, PreparedTest
from causalcontext.kernels.arrays import Bools
from causalcontext.kernels.levels.skeleton import MASK, SEPARATED, SIZE
from causalcontext.knowledge import Links
from causalcontext.search.family import TAIL, Proposal
from causalcontext.search.plan import Plan
from causalcontext.search.sepsets import SepsetRecords, slot
from causalcontext.views import (
    CIQuery,
    Contexts,
    Outcomes,
    Reason,
    ViewRule,
    adaptive,
    masked,
    pooled,
)

FIRST_LEVEL = 0.1
"""A column of the past stays a possible parent if it is dependent at this level: a parent that is
lost is lost.
"""


@dataclass(frozen=True)
class Window:
    """The numbers of the columns.

    Examples
    --------
    >>> window = Window(variables=3, lags=1, covariates=1, contexts=(2,))
    >>> window.at(0, 1), window.at(0, 0), window.at(0, 2), window.nodes, window.columns
    (0, 3, 7, 7, 10)
    >>> window.shifted(3, 1), window.shifted(0, 1), window.shifted(6, 1)
    (0, 7, 6)
    """

    variables: int  # how many, contexts included
    lags: int  # the longest lag of a cause
    covariates: int = 0
    contexts: tuple[int, ...] = ()  # which of the variables are contexts, ascending
    beyond: int | None = None  # how many more lags may be conditioned on; as many again by default

    @property
    def nodes(self) -> int:
        """The columns that are nodes of a window graph."""
        return self.variables * (self.lags + 1) + self.covariates

    @property
    def depth(self) -> int:
        """The longest lag of a column."""
        return self.lags + (self.lags if self.beyond is None else self.beyond)

    @property
    def columns(self) -> int:
        """All columns."""
        return self.nodes + self.variables * (self.depth - self.lags)

    @property
    def now(self) -> tuple[int, ...]:
        """The columns at time t, covariates not among them."""
        return tuple(self.at(variable, 0) for variable in range(self.variables))

    @property
    def extra(self) -> tuple[int, ...]:
        """The covariates."""
        return tuple(range(self.nodes - self.covariates, self.nodes))

    def at(self, variable: int, lag: int) -> int:
        """The column of a variable so many steps ago."""
        if lag <= self.lags:
            return (self.lags - lag) * self.variables + variable
        return self.nodes + (lag - self.lags - 1) * self.variables + variable

    def place(self, column: int) -> tuple[int, int] | None:
        """The variable and the lag of a column; None for a covariate."""
        if column >= self.nodes:
            lag, variable = divmod(column - self.nodes, self.variables)
            return variable, lag + self.lags + 1
        if column >= self.nodes - self.covariates:
            return None
        lag, variable = divmod(column, self.variables)
        return variable, self.lags - lag

    def lag(self, column: int) -> int:
        """The lag of a column (steps); a covariate, which has no time of its own, 0."""
        place = self.place(column)
        return 0 if place is None else place[1]

    def is_now(self, column: int) -> bool:
        """True if a column is a variable at time t."""
        place = self.place(column)
        return place is not None and place[1] == 0

    def is_context(self, column: int) -> bool:
        """True if a column is a context lag."""
        place = self.place(column)
        return place is not None and place[0] in self.contexts

    def context_number(self, column: int) -> int:
        """Which of the contexts a context lag is of, by number."""
        place = self.place(column)
        assert place is not None
        return self.contexts.index(place[0])

    def shifted(self, column: int, steps: int, longest: int | None = None) -> int | None:
        """The same variable so many steps earlier, None beyond all columns, or the longest lag; a
        covariate stays.
        """
        place = self.place(column)
        if place is None:
            return column
        lag = place[1] + steps
        return (
            self.at(place[0], lag)
            if 0 <= lag <= (self.depth if longest is None else longest)
            else None
        )


@dataclass(frozen=True, eq=False)
class LaggedPlan:
    """One joint search for the window graphs of all contexts."""

    window: Window
    # of the columns: the context variables are the context lags that are told apart, those of now
    # first
    contexts: Contexts
    rule: ViewRule  # `adaptive`, `masked` (on the contexts of now) or `pooled`
    # the value of every context in every graph, in the order of `window.contexts`
    values: tuple[tuple[int, ...], ...]
    context_lags: tuple[int, ...]  # the lags at which a context may act on a variable
    links: Links  # what is known about the nodes; time order is a part of it
    alpha: float
    max_given: int  # the largest set of variables of the same time step that are conditioned on
    collider_rule: str = "majority"  # {"majority", "conservative", "first"}

    @property
    def graphs(self) -> range:
        """The graphs that are searched."""
        return range(len(self.values))

    @cached_property
    def context_columns(self) -> tuple[int, ...]:
        """The context lags whose links are tested, those of now first; none where contexts are not
        tested.
        """
        measured = (
            position
            for position in self.contexts.positions
            if self.contexts.source_of(position) is None
        )
        return () if self.rule is masked else tuple(measured)

    @cached_property
    def made_columns(self) -> dict[int, int]:
        """The context lags that are made out of a column, with that column; none where rows are
        never chosen by it.
        """
        sources = {
            position: self.contexts.source_of(position) for position in self.contexts.positions
        }
        return (
            {}
            if self.rule is not adaptive
            else {p: source for p, source in sources.items() if source is not None}
        )

    @cached_property
    def past_context_columns(self) -> tuple[int, ...]:
        """Those of the past."""
        return tuple(context for context in self.context_columns if not self.window.is_now(context))

    @cached_property
    def contexts_now(self) -> Contexts:
        """All contexts at time t and their values in every graph; none where no links of contexts
        are tested.
        """
        if not self.context_columns:
            return Contexts((), ((),) * len(self.values))
        return Contexts(tuple(self.window.at(v, 0) for v in self.window.contexts), self.values)

    @cached_property
    def targets(self) -> tuple[int, ...]:
        """The variables at time t whose causes are looked for."""
        return tuple(
            y for y in self.window.now if not self.window.is_context(y) or y in self.context_columns
        )

    def is_shared(self, x: int, y: int) -> bool:
        """True if a pair has the same answer in all graphs: links at contexts are those of the
        union.
        """
        return self.window.is_context(x) or self.window.is_context(y)

    def named_by(self, columns: Collection[int]) -> list[int]:
        """The context lags that are made out of some of these columns."""
        return [context for context, source in self.made_columns.items() if source in columns]

    def rows(self, graph: int, named: Sequence[int]) -> tuple[int | None, tuple[int, ...]]:
        """The view that answers where conditions name some context lags, and those that stay
        conditions.

        There is no view where the context lags never have the value of the graph together.
        """
        value = self.values[graph]
        positions = self.contexts.positions
        ordered = tuple(context for context in positions if context in named)
        if self.rule is masked:  # only the present is looked at
            positions = positions[: len(self.window.contexts)]
        cell = tuple(
            (position, value[self.window.context_number(position)]) for position in positions
        )
        try:
            view = self.contexts.number(self.rule(cell, ordered))
        except KeyError:
            return None, ()
        return view, ordered if self.rule is pooled else ()

    def first_views(self, graph: int) -> tuple[int, ...]:
        """The rows on which a column of the past may show that it is a parent: all, or those of
        lags of some contexts.

        At most two contexts, and one lag of each.
        """
        if self.rule is not adaptive:
            found, _ = self.rows(graph, ())
            return () if found is None else (found,)
        lags = self.contexts.positions
        number = self.window.context_number
        pairs = (pair for pair in combinations(lags, 2) if number(pair[0]) != number(pair[1]))
        named = [(), *((context,) for context in lags), *pairs]
        views = (self.rows(graph, columns)[0] for columns in named)
        return tuple(view for view in views if view is not None)

    def candidates(self, y: int) -> Iterator[int]:
        """The columns of the past, and covariates, that may cause a variable."""
        for u in range(self.window.nodes):
            if self.window.is_now(u) or not self.links.may[u, y]:
                continue
            acting = self.window.is_context(y) or self.window.lag(u) in self.context_lags
            if not self.window.is_context(u) or (u in self.past_context_columns and acting):
                yield u  # on the context itself every past context lag that is told apart may act

    def known_parents(self, y: int) -> tuple[int, ...]:
        """The columns of the past that are known to cause a variable."""
        return tuple(
            u for u in np.flatnonzero(self.links.must[:, y]).tolist() if not self.window.is_now(u)
        )

    def searched(self) -> Bools:
        """Pairs that may be adjacent, shape (nodes, nodes): those with an end at time t that are
        not ruled out.
        """
        here = np.zeros((self.window.nodes, self.window.nodes), dtype=bool)
        for y in self.targets:
            here[[*self.candidates(y)], y] = True
            here[[x for x in self.targets if not self.links.absent[x, y]], y] = True
        return here | here.T


BY_CONTEXT_LAG = Label("by the other context lag (Fisher)")
SMALLEST = 1e-300


class ByContextLags(Declared):
    """A prepared test whose queries at a context never have lags of it, some of `contexts`, among
    their conditions.
    """

    def __init__(self, prepared: PreparedTest, contexts: Contexts) -> None:
        self._prepared = prepared
        self._contexts = contexts
        self.labels = (*prepared.labels, BY_CONTEXT_LAG)

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order."""
        parts = [self._parts(query) for query in queries]
        asked = list(dict.fromkeys(part for some in parts for part in some))
        found = self._prepared.answer(asked)
        place = {query: i for i, query in enumerate(asked)}
        label = np.zeros(len(asked), dtype=np.int8) if found.label is None else found.label
        columns = (found.statistic, found.df, found.p, found.n, found.reason, label)
        rows = [
            (
                [column[place[some[0]]] for column in columns]
                if len(some) == 1
                else _combined(found, [place[part] for part in some], len(self.labels) - 1)
            )
            for some in parts
        ]
        table = np.array(rows, dtype=np.float64).reshape(-1, 6)
        return Outcomes(
            table[:, 0],
            table[:, 1],
            table[:, 2],
            table[:, 3].astype(np.int64),
            table[:, 4].astype(np.int8),
            table[:, 5].astype(np.int8),
        )

    def _parts(self, query: CIQuery) -> list[CIQuery]:
        """The query itself, or one for every combination of values of the context lags among its
        conditions.
        """
        context_lags = self._contexts.positions
        named = [z for z in query.given if z in context_lags]
        if not named or not {query.x, query.y}.intersection(context_lags):
            return [query]
        given = tuple(z for z in query.given if z not in named)
        return [
            CIQuery(query.x, query.y, given, view)
            for view in self._contexts.parts(query.view, named)
        ]


def fisher(p: Sequence[float]) -> float:
    """One p-value for several of separate rows; those that are not known are left out, and without
    any it is 1.

    Examples
    --------
    >>> round(fisher([0.05, 0.05]), 4), fisher([float("nan")])
    (0.0175, 1.0)
    """
    known = [value for value in p if value == value]
    if not known:
        return 1.0
    return float(
        scipy.special.chdtrc(
            2 * len(known), float(-2.0 * np.log(np.maximum(known, SMALLEST)).sum())
        )
    )


def _combined(found: Outcomes, places: list[int], label: int) -> list[float]:
    """Fisher's sum over the parts that could be tested."""
    told = [i for i in places if not found.reason[i]]
    if not told:
        return [
            np.nan,
            np.nan,
            np.nan,
            int(found.n[places].sum()),
            int(found.reason[places[0]]),
            label,
        ]
    statistic = float(-2.0 * np.log(np.maximum(found.p[told], SMALLEST)).sum())
    p = fisher(found.p[told].tolist())
    return [statistic, 2.0 * len(told), p, int(found.n[told].sum()), int(Reason.TESTABLE), label]


NO_WINDOW = Window(0, 0)


@dataclass(frozen=True, eq=False)
class WindowPlan(Plan):
    """One joint search for PAGs over the window."""

    window: Window = NO_WINDOW

    @cached_property
    def own_past(self) -> tuple[int | None, ...]:
        """What every node was a step earlier; None where that is no plain column of the window."""
        earlier = [
            None if self.window.is_context(v) else self._moved(v, 1)
            for v in range(self.window.nodes)
        ]
        return tuple(None if u in (v, *self.triggers) else u for v, u in enumerate(earlier))

    def repeat_separations(self, sepsets: SepsetRecords, before: Bools) -> None:
        """What was separated since `before`, shape (graphs, pairs), is so earlier; members beyond
        the window go.
        """
        cut = np.argwhere(sepsets.separated() & ~before).tolist()
        for (graph, place), steps in product(cut, range(1, self.window.lags + 1)):
            x, y = (
                self._moved(int(ends[place]), steps) for ends in (sepsets.first, sepsets.second)
            )
            named = self.masks[sepsets.facts[graph, place, MASK]].named
            fixed = [self._moved(position, steps) for position in named]
            if x is None or y is None or not set(self.contexts.positions).issuperset(fixed):
                continue
            other = slot(x, y, self.variables)
            mask = next(m for m, mask in enumerate(self.masks) if set(mask.named) == set(fixed))
            earlier = (
                self._moved(v, steps) for v in sepsets.given[graph, place].tolist() if v >= 0
            )
            given = [v for v in earlier if v is not None]
            for h in self._alike(graph, dict(zip(named, fixed, strict=True))):
                if sepsets.facts[h, other, SEPARATED] != 1:
                    sepsets.numbers[h, other] = sepsets.numbers[graph, place]
                    sepsets.facts[h, other] = sepsets.facts[graph, place]
                    sepsets.facts[h, other, [MASK, SIZE]] = mask, len(given)
                    sepsets.given[h, other] = -1
                    sepsets.given[h, other, : len(given)] = given

    def repeated(self, proposal: Proposal) -> Iterator[Proposal]:
        """The same end at other times: an arrow later, a tail earlier, and without contexts either
        at all times.
        """
        lags = [self.window.lag(v) for v in (proposal.a, proposal.b)]
        free = not self.contexts.positions
        earlier = range(1, self.window.lags - max(lags) + 1) if free or proposal.end is TAIL else ()
        later = range(-min(lags), 0) if free or proposal.end is not TAIL else ()
        for steps in (*earlier, *later):
            a, b = (self._moved(v, steps) for v in (proposal.a, proposal.b))
            if a is None or b is None or {a, b} == {proposal.a, proposal.b}:
                continue
            moved = {position: self._moved(position, steps) for position in self.contexts.positions}
            for h in self._alike(proposal.graph, moved):
                yield proposal._replace(graph=h, a=a, b=b, source=h)

    def _alike(self, graph: int, moved: Mapping[int, int | None]) -> Iterator[int]:
        """The graphs in which context lags have the values that others have in a graph; those
        outside are free.
        """
        here = dict(self.contexts.cell(self.cells[graph]))
        wanted = {there: here[position] for position, there in moved.items() if there is not None}
        for h, number in enumerate(self.cells):
            cell = dict(self.contexts.cell(number))
            if all(cell.get(position, value) == value for position, value in wanted.items()):
                yield h

    def _moved(self, node: int, steps: int) -> int | None:
        return self.window.shifted(node, steps, self.window.lags)


def pairs_now(window: Window) -> Bools:
    """True for pairs with an end at time t; shape (nodes, nodes)."""
    now = np.zeros(window.nodes, dtype=bool)
    now[list(window.now)] = True
    return np.asarray(now[:, None] | now[None])


def repeated_links(links: Links, window: Window, contexts: Contexts) -> Links:
    """What is known about links into time t, said of all earlier times as well.

    Context lags that are not told apart have no links: they are not in the table.
    """
    may, must = (np.zeros((window.nodes, window.nodes), dtype=bool) for _ in range(2))
    extra = list(window.extra)
    may[extra] = links.may[extra]
    must[extra] = links.must[extra]
    placed = {v: place for v in range(window.nodes) if (place := window.place(v)) is not None}
    for (a, (cause, before)), (b, (effect, after)) in product(placed.items(), repeat=2):
        if before >= after:
            here = window.at(cause, before - after), window.at(effect, 0)
            may[a, b] = links.may[here]
            must[a, b] = links.must[here]
    for v in placed:
        if window.is_context(v) and v not in contexts.positions:
            may[v], may[:, v], must[v], must[:, v] = (False,) * 4
    return Links(may, must)
