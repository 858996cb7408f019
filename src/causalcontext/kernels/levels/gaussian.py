"""The linear-Gaussian tests as one compiled function of (x, y, given), on moments alone.

A *row selection* says which rows answer. For two system variables it is one view (partial
correlation), or several views whose partial correlations are combined: the question given a context
variable on all rows. For a context variable against a system variable every view of the row
selection is divided into parts, and LR* asks whether the regression of y differs between them. The
formulas are in docs/tests.md.

The set of a regression is factored one variable at a time, so that the next set of a lexicographic
enumeration only pays for the positions that changed. A variable that is a linear function of the
ones before it is skipped and lowers the rank.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.kernels.special import chi2_upper, correlation_two_sided, normal_two_sided

STUDENT = 0
FISHER = 1
ONE_VIEW = 0
SEVERAL_VIEWS = 1
CHANGE = 2
"""How a row selection answers: the places of the tests among the labels of the prepared test."""
TESTABLE = 0
FEW_ROWS = 1
CONSTANT = 2
COLLINEAR = 3
FEW_CONTEXTS = 4


class Views(NamedTuple):
    """What is known about the rows of every view."""

    # cells, merged: centred cross products of every cell, and of cells taken together; zeros at
    # context variables. The cells are those of the table's moments, not copies: of thousands of
    # variables nothing else is as large.
    cells: Floats
    merged: Floats
    rows: Ints  # shape (views,)
    expected: (
        Floats  # shape (views, ranks): the view's term of the exact mean of LR under independence
    )
    kind: int  # `STUDENT` or `FISHER`: how the p-value of a partial correlation is computed


class RowSelections(NamedTuple):
    """Which rows answer; row selection k has the strata from `start[k]` up to `start[k + 1]`."""

    start: Ints  # shape (row selections + 1,)
    whole: Ints  # shape (strata,): the view of every stratum
    # shape (strata + 1,): where the parts of a stratum begin; it has none unless a context variable
    # is one of the pair
    parts_start: Ints
    parts: Ints  # shape (parts,): views
    change: int  # whether a context variable is one of the pair
    # shape (row selections,): 0 where a row selection holds all rows, 1 where it holds those of
    # some contexts
    inside: Ints


class PairFit(NamedTuple):
    """The regression of a pair on a set, factored for every view of a row selection."""

    factor: Floats
    loads: Floats
    moments: Floats
    rank: Ints


class Workspace(NamedTuple):
    """Scratch arrays of one thread: the regression in progress, its set, and a pool of candidates.

    The rows of `lists` are the places of the chosen candidates, the set, the pool, and for every
    member of the pool the graphs in which it may serve the one variable and the other (`CHOSEN` ...
    `THEIRS`).
    """

    fit: PairFit
    lists: Ints
    weakest: Floats


CHOSEN = 0
GIVEN = 1
POOL = 2
MINE = 3
THEIRS = 4


def workspace(selections: RowSelections, size: int, graphs: int, variables: int) -> Workspace:
    """Scratch arrays for sets of at most `size` variables."""
    width = size + 1
    views = 1
    for k in range(len(selections.start) - 1):
        strata = slice(selections.start[k], selections.start[k + 1])
        views = max(
            views,
            int(1 + selections.parts_start[strata.stop] - selections.parts_start[strata.start])
            + int(strata.stop - strata.start),
        )
    fit = PairFit(
        np.zeros((views, width, width)),
        np.zeros((views, 2, width)),
        np.zeros((views, width + 1, 3)),
        np.zeros((views, width + 1), dtype=np.int64),
    )
    return Workspace(fit, np.zeros((5, max(width, variables)), dtype=np.int64), np.zeros(graphs))


@kernel
def start(
    data: Views, selections: RowSelections, selection: int, x: int, y: int, fit: PairFit
) -> None:
    """Begin a run of sets for the pair (x, y); for LR* both are the system variable."""
    u = 0
    for s in range(selections.start[selection], selections.start[selection + 1]):
        _start_view(data, selections.whole[s], x, y, u, fit)
        u += 1
        for k in range(selections.parts_start[s], selections.parts_start[s + 1]):
            _start_view(data, selections.parts[k], x, y, u, fit)
            u += 1


@kernel
def _start_view(data: Views, view: int, x: int, y: int, u: int, fit: PairFit) -> None:
    # A card cannot return arrays from functions, so what a view is stands here and in
    # `_extend_view`.
    scatter = data.cells[view] if view < len(data.cells) else data.merged[view - len(data.cells)]
    fit.moments[u, 0, 0] = scatter[x, x]
    fit.moments[u, 0, 1] = scatter[y, y]
    fit.moments[u, 0, 2] = scatter[x, y]
    fit.rank[u, 0] = 0


class PairQuery(NamedTuple):
    """A pair, and the row selection that answers about it."""

    selection: int
    x: int
    y: int


@kernel
def answer_set(
    data: Views, selections: RowSelections, asked: PairQuery, given: Ints, begin: int, fit: PairFit
) -> tuple[float, float, int, int]:
    """The test given a set, of which the part before `begin` is as before: (statistic, df, rows,
    reason).
    """
    first = selections.start[asked.selection]
    last = selections.start[asked.selection + 1]
    if selections.change == 0 and last - first == 1:
        view = selections.whole[first]
        _extend_view(data, view, asked, given, begin, 0, fit)
        df = data.rows[view] - fit.rank[0, given.size] - 2
        if df < SPARE_ROWS:
            return math.nan, math.nan, data.rows[view], FEW_ROWS
        correlation, reason = _correlation(fit.moments[0, 0], fit.moments[0, given.size])
        return correlation, float(df), data.rows[view], reason
    u = 0
    for s in range(first, last):
        _extend_view(data, selections.whole[s], asked, given, begin, u, fit)
        u += 1
        for k in range(selections.parts_start[s], selections.parts_start[s + 1]):
            _extend_view(data, selections.parts[k], asked, given, begin, u, fit)
            u += 1
    if selections.change == 1:
        return _change(data, selections, asked, given.size, fit)
    return _several_views(data, selections, asked, given.size, fit)


@kernel
def _extend_view(
    data: Views, view: int, asked: PairQuery, given: Ints, begin: int, u: int, fit: PairFit
) -> None:
    scatter = data.cells[view] if view < len(data.cells) else data.merged[view - len(data.cells)]
    extend_projection(
        scatter,
        asked.x,
        asked.y,
        given,
        begin,
        fit.factor[u],
        fit.loads[u],
        fit.moments[u],
        fit.rank[u],
    )


@kernel
def extend_projection(
    scatter: Floats,
    x: int,
    y: int,
    given: Ints,
    start: int,
    factor: Floats,
    loads: Floats,
    moments: Floats,
    rank: Ints,
) -> None:
    """Regress x and y on `given`, a set of some size, where everything up to `start` is already
    done.

    Afterwards `moments[size]` holds the residual squares of x, those of y and their residual
    products, and `rank[size]` the rank of the set.
    """
    for j in range(start, given.size):
        z = given[j]
        pivot = scatter[z, z]
        for k in range(j):
            value = scatter[z, given[k]]
            for i in range(k):
                value -= factor[j, i] * factor[k, i]
            value = value / factor[k, k] if factor[k, k] > 0.0 else 0.0
            factor[j, k] = value
            pivot -= value * value
        if pivot <= COLLINEAR_BELOW * scatter[z, z]:
            factor[j, j] = 0.0
            loads[0, j] = 0.0
            loads[1, j] = 0.0
            for part in range(3):
                moments[j + 1, part] = moments[j, part]
            rank[j + 1] = rank[j]
            continue
        root = math.sqrt(pivot)
        on_x = scatter[x, z]
        on_y = scatter[y, z]
        factor[j, j] = root
        for i in range(j):
            on_x -= loads[0, i] * factor[j, i]
            on_y -= loads[1, i] * factor[j, i]
        on_x /= root
        on_y /= root
        loads[0, j] = on_x
        loads[1, j] = on_y
        moments[j + 1, 0] = moments[j, 0] - on_x * on_x
        moments[j + 1, 1] = moments[j, 1] - on_y * on_y
        moments[j + 1, 2] = moments[j, 2] - on_x * on_y
        rank[j + 1] = rank[j] + 1


@kernel
def label_of(selections: RowSelections, selection: int) -> int:
    """How a row selection answers."""
    if selections.change == 1:
        return CHANGE
    return (
        ONE_VIEW
        if selections.start[selection + 1] - selections.start[selection] == 1
        else SEVERAL_VIEWS
    )


@kernel
def tail(kind: int, label: int, statistic: float, df: float) -> float:
    """The p-value of a statistic from `answer_set`; `kind` is that of the views."""
    if label != ONE_VIEW:
        return chi2_upper(statistic, df)
    if kind == FISHER:
        return normal_two_sided(math.atanh(_inside(statistic)) * math.sqrt(df - 1.0))
    return correlation_two_sided(statistic * statistic, df)


@kernel
def _correlation(before: Floats, left: Floats) -> tuple[float, int]:
    """The partial correlation from moments before and after the regression, or the reason why there
    is none.
    """
    if before[0] <= 0.0 or before[1] <= 0.0:
        return math.nan, CONSTANT
    if left[0] <= COLLINEAR_BELOW * before[0] or left[1] <= COLLINEAR_BELOW * before[1]:
        return math.nan, COLLINEAR
    return left[2] / math.sqrt(left[0] * left[1]), TESTABLE


@kernel
def _several_views(
    data: Views, selections: RowSelections, asked: PairQuery, size: int, fit: PairFit
) -> tuple[float, float, int, int]:
    """Σ_r (n_r - rank_r - 3) atanh(ρ_r)² over the views that can be tested; one degree of freedom
    each.
    """
    total = 0.0
    tested = 0
    rows = 0
    all_rows = 0
    last_reason = FEW_ROWS
    first = selections.start[asked.selection]
    for s in range(first, selections.start[asked.selection + 1]):
        view = selections.whole[s]
        u = s - first
        all_rows += data.rows[view]
        if data.rows[view] <= fit.rank[u, size] + 3:
            continue
        correlation, reason = _correlation(fit.moments[u, 0], fit.moments[u, size])
        if reason != TESTABLE:
            last_reason = reason
            continue
        z = math.atanh(_inside(correlation))
        total += (data.rows[view] - fit.rank[u, size] - 3) * z * z
        tested += 1
        rows += data.rows[view]
    if tested == 0:
        return math.nan, math.nan, all_rows, last_reason
    return total, float(tested), rows, TESTABLE


@kernel
def _change(
    data: Views, selections: RowSelections, asked: PairQuery, size: int, fit: PairFit
) -> tuple[float, float, int, int]:
    """LR* of "one regression of y for all parts", Bartlett-corrected by the exact mean of LR;
    strata add up.
    """
    ratio = 0.0
    mean = 0.0
    df = 0
    rows = 0
    u = 0
    for s in range(selections.start[asked.selection], selections.start[asked.selection + 1]):
        rows += data.rows[selections.whole[s]]
    if rows == 0:
        return math.nan, math.nan, rows, FEW_CONTEXTS
    for s in range(selections.start[asked.selection], selections.start[asked.selection + 1]):
        unit = fit.moments[u, 0, 1] / data.rows[selections.whole[s]]
        for k in range(selections.parts_start[s] - 1, selections.parts_start[s + 1]):
            is_whole = k < selections.parts_start[s]
            view = selections.whole[s] if is_whole else selections.parts[k]
            before = fit.moments[u, 0, 1]
            squares = fit.moments[u, size, 1]
            if not (before > 0.0 and squares > COLLINEAR_BELOW * before):
                return math.nan, math.nan, rows, CONSTANT if before <= 0.0 else COLLINEAR
            sign = 1 if is_whole else -1
            ratio += sign * data.rows[view] * math.log(squares / (data.rows[view] * unit))
            mean += sign * data.expected[view, fit.rank[u, size]]
            df -= sign * (fit.rank[u, size] + 2)
            u += 1
    if df <= 0 or mean <= 0.0:
        return math.nan, math.nan, rows, COLLINEAR
    return max(ratio, 0.0) * df / mean, float(df), rows, TESTABLE


@kernel
def _inside(correlation: float) -> float:
    """A correlation that rounding has not pushed to ±1, where atanh is infinite."""
    return min(max(correlation, -1.0 + 1e-15), 1.0 - 1e-15)


class CIQueries(NamedTuple):
    """Unrelated questions with sets of one size: row selections (n,), ends (n,), and conditions (n,
    size).
    """

    selection: Ints
    x: Ints
    y: Ints
    given: Ints


@kernel
def answer_batch(
    data: Views,
    selections: RowSelections,
    asked: CIQueries,
    numbers: Floats,
    facts: Ints,
    work: Workspace,
) -> None:
    """Fill `numbers` (statistic, df, p) and `facts` (rows, reason, label)."""
    for i in range(asked.x.size):
        question = PairQuery(asked.selection[i], asked.x[i], asked.y[i])
        start(data, selections, question.selection, question.x, question.y, work.fit)
        statistic, df, rows, reason = answer_set(
            data, selections, question, asked.given[i], 0, work.fit
        )
        label = label_of(selections, question.selection)
        facts[i, 0] = rows
        facts[i, 1] = reason
        facts[i, 2] = label
        numbers[i, 0] = statistic
        numbers[i, 1] = df if reason == TESTABLE else math.nan
        numbers[i, 2] = tail(data.kind, label, statistic, df) if reason == TESTABLE else math.nan
