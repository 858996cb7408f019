"""Linear-Gaussian tests prepared for one table: all that is kept of the rows are the cross products
of every view.

Two context variables given numbers are compared by Wilks' lambda of their indicators, on the
moments of every cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.ci_tests.protocol import Declared, Label, Strength, grouped, no_outcomes, put
from causalcontext.ci_tests.settings import FAIR_SQUARES, USUAL_SIZE
from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.levels.gaussian import (
    FISHER,
    CIQueries,
    RowSelections,
    Views,
    answer_batch,
    workspace,
)
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.views import CIQuery, Contexts, Outcomes, Reason

STUDENT_LABEL = Label("partial-correlation", Strength.CORRELATION)
FISHER_LABEL = Label("fisher-z", Strength.CORRELATION)
OTHER_LABELS = (Label("partial-correlation by context"), Label("context-change"), Label("wilks"))
"""Tests of two system variables given a context on all rows, of a context against one of them, and
of two contexts."""
_MAKING_ROOM = Lock()
Answer = tuple[float, float, int, int]
"""Statistic, degrees of freedom, rows, reason."""
WILKS_PLACE = 3
"""The place of Wilks' lambda among the labels."""


class RowSelection(NamedTuple):
    """The rows that answer: strata, each with the parts that are compared, as tuples of cells."""

    strata: tuple[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], ...]
    inside: bool


class PreparedGaussian(Declared):
    """Partial correlation for two system variables, LR* for a context against one of them, Wilks
    for two contexts.

    `moments` are those of all columns of the table in every cell, constant at context variables;
    `kind` is `STUDENT` or `FISHER`: how the p-value of a partial correlation is computed.
    """

    compiled_roles = (0, 1)

    def __init__(self, moments: Moments, contexts: Contexts, kind: int) -> None:
        self.moments = moments
        self.contexts = contexts
        self.kind = kind
        self.gaussian = self
        self.labels = (FISHER_LABEL if kind == FISHER else STUDENT_LABEL, *OTHER_LABELS)
        self._cells = _in_fair_units(moments)
        self._variables = moments.mean.shape[1]
        self._place: dict[tuple[int, ...], int] = {
            (cell,): cell for cell in range(moments.rows.size)
        }
        self._selections: dict[tuple[int, tuple[int, ...], tuple[int, ...], int], RowSelection] = {}
        self._merged = np.zeros((0, self._variables, self._variables))
        self._rows = moments.rows
        self._views: Views | None = None
        self._fewest = int(moments.rows.min())
        if len(contexts.positions) <= 1:
            self._make_room([contexts.members(number) for number in range(len(contexts.views))])

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order."""
        outcomes = no_outcomes(len(queries))
        for (ends, size), chosen in grouped(queries, self._shape).items():
            asked = [queries[i] for i in chosen]
            if ends == 2:
                group_outcomes = wilks(self.moments, self.contexts, asked)
            else:
                group_outcomes = self._answer_group(asked, ends, size)
            put(outcomes, chosen, group_outcomes)
        return outcomes

    def _shape(self, query: CIQuery) -> tuple[int, int]:
        """The number of context variables in the pair of a query, and the number of other
        conditions.
        """
        if not self.contexts.positions:
            return 0, len(query.given)
        return len(self._ends(query)), sum(z not in self.contexts.positions for z in query.given)

    def selection(
        self, view: int, named: tuple[int, ...], ends: tuple[int, ...], conditions: int
    ) -> RowSelection:
        """The rows that answer about a pair, given so many variables that are no contexts.

        Context variables among the conditions (`named`) divide the rows of the view into strata;
        those of the pair (`ends`) divide every stratum into parts: those with enough rows are
        compared.
        """
        key = (view, named, ends, self.matters(conditions) if ends else 0)
        if key not in self._selections:
            views = self.contexts.parts(view, named) if named else (view,)
            strata = [(self.contexts.members(v), self._parts(v, ends, conditions)) for v in views]
            if ends:
                comparable = [parts for _, parts in strata if len(parts) > 1]
                strata = [(tuple(sorted(sum(parts, ()))), parts) for parts in comparable]
            self._selections[key] = RowSelection(tuple(strata), view > 0)
        return self._selections[key]

    def matters(self, conditions: int) -> int:
        """The number of conditions, or 0 where every cell has enough rows for any number of
        them.
        """
        return 0 if self._fewest > self._variables + SPARE_ROWS else conditions

    def selections(self, asked: Sequence[RowSelection], change: bool) -> RowSelections:
        """The row selections as arrays for the kernels."""
        strata = [stratum for selection in asked for stratum in selection.strata]
        self._make_room([cells for whole, parts in strata for cells in (whole, *parts)])
        return RowSelections(
            start=np.cumsum([0, *(len(selection.strata) for selection in asked)]),
            whole=np.array([self._place[whole] for whole, _ in strata], dtype=np.int64),
            parts_start=np.cumsum([0, *(len(parts) for _, parts in strata)]),
            parts=np.array(
                [self._place[cells] for _, parts in strata for cells in parts], dtype=np.int64
            ),
            change=int(change),
            inside=np.array([selection.inside for selection in asked], dtype=np.int64),
        )

    @cached_property
    def _all_rows(self) -> RowSelections:
        """The only selection without contexts."""
        return self.selections([self.selection(0, (), (), 0)], change=False)

    def views(self, size: int) -> Views:
        """The moments, rows and expected terms that kernels need, for conditioning sets of up to
        `size` variables.
        """
        with _MAKING_ROOM:
            if self._views is None or self._views.expected.shape[1] <= size:
                # n (ψ((n - rank - 1) / 2) + log(2 / n)) for every view and rank; zero where n is
                # too small
                n = self._rows[:, None].astype(np.float64)
                half = (n - 1.0 - np.arange(max(size, USUAL_SIZE) + 1)) / 2.0
                safe = half > 0.0
                terms = n * (
                    scipy.special.digamma(np.where(safe, half, 1.0))
                    + np.log(2.0 / np.maximum(n, 1.0))
                )
                expected = np.where(safe, terms, 0.0)
                self._views = Views(
                    self._cells.scatter, self._merged, self._rows, expected, self.kind
                )
            return self._views

    def place(self, view: int) -> int:
        """The place of the cross products of a view among those of `views`."""
        cells = self.contexts.members(view)
        self._make_room([cells])
        return self._place[cells]

    def _ends(self, query: CIQuery) -> tuple[int, ...]:
        return tuple(end for end in (query.x, query.y) if end in self.contexts.positions)

    def _parts(
        self, view: int, ends: Sequence[int], conditions: int
    ) -> tuple[tuple[int, ...], ...]:
        """The parts of a view that have enough rows, as cells."""
        if not ends:
            return ()
        parts = (self.contexts.members(part) for part in self.contexts.parts(view, ends))
        needed = conditions + 1 + SPARE_ROWS
        return tuple(cells for cells in parts if self.moments.rows[list(cells)].sum() >= needed)

    def _answer_group(self, queries: list[CIQuery], ends: int, size: int) -> Outcomes:
        """Queries with as many context variables in the pair, and as many conditions that are
        none.
        """
        positions = self.contexts.positions
        known: dict[RowSelection, int] = {}
        selection = np.zeros(len(queries), dtype=np.int64)
        for i, query in enumerate(queries if positions else ()):
            named = tuple(z for z in query.given if z in positions)
            selected = self.selection(query.view, named, self._ends(query), size)
            selection[i] = known.setdefault(selected, len(known))
        selections = self.selections(list(known), ends == 1) if positions else self._all_rows
        pairs = []
        given = []
        for query in queries:
            x = query.x
            y = query.y
            if ends:  # against a context, the moments of the other one are looked at twice
                x, y = _without_context(x, y, positions)
            pairs.append((x, y))
            conditions = query.given
            if positions:
                conditions = tuple(z for z in conditions if z not in positions)
            given.append(conditions)
        first, second = np.array(pairs, dtype=np.int64).T.copy()
        sets = np.array(given, dtype=np.int64).reshape(len(queries), size)
        asked = CIQueries(selection, first, second, sets)
        numbers = np.full((len(queries), 3), np.nan)
        facts = np.zeros((len(queries), 3), dtype=np.int64)
        scratch = workspace(selections, size, 1, self._variables)
        answer_batch(self.views(size), selections, asked, numbers, facts, scratch)
        for i, query in enumerate(queries if ends else ()):
            if set(self._ends(query)).intersection(self.contexts.fixed(query.view)):
                numbers[i] = np.nan
                facts[i, 1] = Reason.CONSTANT
        statistic, df, p = numbers.T
        rows = facts[:, 0]
        reason = facts[:, 1].astype(np.int8)
        label = facts[:, 2].astype(np.int8)
        return Outcomes(statistic, df, p, rows, reason, label)

    def _make_room(self, wanted: Sequence[tuple[int, ...]]) -> None:
        """Let the cross products hold some sets of cells; those of several threads one after the
        other.
        """
        with _MAKING_ROOM:
            fresh = [cells for cells in dict.fromkeys(wanted) if cells not in self._place]
            if not fresh:
                return
            begin = len(self._merged)
            merged = np.empty((begin + len(fresh), *self._merged.shape[1:]))
            merged[:begin] = self._merged
            rows = np.zeros(len(fresh), dtype=np.int64)
            for number, cells in enumerate(fresh):
                rows[number] = self._cells.rows[list(cells)].sum()
                self._cells.merge_into(merged[begin + number], cells)
                self._place[cells] = len(self._rows) + number
            self._merged = merged
            self._rows = np.concatenate([self._rows, rows])
            self._views = None


def _without_context(x: int, y: int, positions: Sequence[int]) -> tuple[int, int]:
    """The system variable of a pair twice, where the other end is a context; else the pair."""
    if x in positions:
        return y, y
    if y in positions:
        return x, x
    return x, y


def _in_fair_units(moments: Moments) -> Moments:
    """The moments themselves, or copies in other units where products of their own come close to
    under- or overflow.
    """
    squares = moments.squares
    if (
        squares.max(initial=0.0) < FAIR_SQUARES
        and squares[squares > 0.0].min(initial=1.0) > 1.0 / FAIR_SQUARES
    ):
        return moments
    units = np.sqrt(np.where(squares > 0.0, squares, 1.0) / max(int(moments.rows.sum()), 1))
    return Moments(moments.rows, moments.mean / units, moments.scatter / units[:, None] / units)


def wilks(moments: Moments, contexts: Contexts, queries: Sequence[CIQuery]) -> Outcomes:
    """Bartlett's chi-squared for every query; context variables among the conditions divide it into
    strata.
    """
    answers = [_answer(moments, contexts, query) for query in queries]
    numbers = np.array([answer[:2] for answer in answers], dtype=np.float64)
    statistic, df = numbers.reshape(-1, 2).T
    facts = np.array([answer[2:] for answer in answers], dtype=np.int64)
    n, reason = facts.reshape(-1, 2).T
    label = np.full(len(answers), WILKS_PLACE, dtype=np.int8)
    p = scipy.special.chdtrc(df, np.maximum(statistic, 0.0))
    return Outcomes(statistic, df, p, n, reason.astype(np.int8), label)


def _answer(moments: Moments, contexts: Contexts, query: CIQuery) -> Answer:
    """Bartlett's chi-squared for two contexts, summed over the strata that can be tested.

    Each stratum has its own degrees of freedom, and these add up as well, since the rows of strata
    are independent. Where no stratum can be tested, the reason is that of the last one.
    """
    named = [z for z in query.given if z in contexts.positions]
    if {query.x, query.y}.intersection(contexts.fixed(query.view)):
        return np.nan, np.nan, 0, Reason.CONSTANT
    columns = [z for z in query.given if z not in named]
    views = contexts.parts(query.view, named) if named else (query.view,)
    answers = [
        _stratum(moments, contexts, contexts.members(view), (query.x, query.y), columns)
        for view in views
    ]
    tested = [answer for answer in answers if not answer[3]]
    if not tested:
        return np.nan, np.nan, sum(answer[2] for answer in answers), answers[-1][3]
    statistic = sum(answer[0] for answer in tested)
    df = sum(answer[1] for answer in tested)
    rows = sum(answer[2] for answer in tested)
    return statistic, df, rows, Reason.TESTABLE


def _stratum(
    moments: Moments,
    contexts: Contexts,
    cells: Sequence[int],
    pair: tuple[int, int],
    columns: list[int],
) -> Answer:
    """The answer on the rows of some cells.

    With V the log volumes (determinants) of the correlations that the conditions leave of both sets
    of indicators together, and of either alone, the statistic is (n - 1 - |Z| - (p + q + 1) / 2)
    (V_x + V_y - V_xy): minus the logarithm of Wilks' lambda with Bartlett's factor. It is
    chi-squared with p q degrees of freedom.
    """
    n = int(moments.rows[list(cells)].sum())
    first, second = (_indicators(contexts, cells, end) for end in pair)
    p = first.shape[1]
    q = second.shape[1]
    if min(p, q) == 0:
        return np.nan, np.nan, n, Reason.CONSTANT
    if n - len(columns) - 2 - p - q < SPARE_ROWS:
        return np.nan, np.nan, n, Reason.FEW_ROWS
    left = _left_over(moments.some(cells), np.hstack([first, second]), columns)
    volumes = [_log_volume(part) for part in (left, left[:p, :p], left[p:, p:])]
    if not np.isfinite(volumes[1]) or not np.isfinite(volumes[2]):
        return np.nan, np.nan, n, Reason.COLLINEAR
    factor = n - 1 - len(columns) - (p + q + 1) / 2
    statistic = factor * (volumes[1] + volumes[2] - volumes[0])
    return statistic, float(p * q), n, Reason.TESTABLE


def _indicators(contexts: Contexts, cells: Sequence[int], end: int) -> Floats:
    """One column for every level but the first that occurs, shape (cells, levels - 1)."""
    position = contexts.positions.index(end)
    codes = np.array([contexts.cells[cell][position] for cell in cells])
    return np.asarray(codes[:, None] == np.unique(codes)[1:], dtype=np.float64)


def _left_over(moments: Moments, indicators: Floats, columns: list[int]) -> Floats:
    """Correlations of indicators, which are constant inside cells, after regression on some
    columns.
    """
    k = indicators.shape[1]
    scatter = np.zeros((len(indicators), k + len(columns), k + len(columns)))
    scatter[:, k:, k:] = moments.scatter[:, columns][:, :, columns]
    joined = Moments(moments.rows, np.hstack([indicators, moments.mean[:, columns]]), scatter)
    table = joined.merged().correlation()
    if not columns:
        return table
    inverse = np.linalg.pinv(table[k:, k:], rcond=COLLINEAR_BELOW, hermitian=True)
    return np.asarray(table[:k, :k] - table[:k, k:] @ inverse @ table[k:, :k])


def _log_volume(table: Floats) -> float:
    """log det of what is left of correlations, -inf where they are singular."""
    spread = np.sqrt(np.maximum(np.diagonal(table), 0.0))
    if (spread**2 <= COLLINEAR_BELOW).any():
        return -np.inf
    values = np.linalg.eigvalsh(table / spread[:, None] / spread)
    log_values = np.log(np.maximum(values, COLLINEAR_BELOW))
    return float(log_values.sum() + 2.0 * np.log(spread).sum())
