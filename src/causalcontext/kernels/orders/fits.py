"""The score of a node in a block: columns by moments, then the chosen set once on the rows.

Moments choose the columns. What is chosen is evaluated on the rows: the noise density of a number,
the logit of a category. `fit` chooses among candidates, for searches; `fit_many` does so for many
nodes, `score_sets` scores given sets of columns, and `best_extras` says what one more column would
gain, all three for Python.
"""

from __future__ import annotations

import math
from functools import cache

import numba
import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import (
    FunctionPointer,
    Note,
    PointerTo,
    empty_note,
    fetch,
    kind_of,
    no_function,
    note_of,
)
from causalcontext.kernels.limits import SAME_COLUMN_BELOW, SMALL_COLUMN_BELOW, SMALLEST_VARIANCE
from causalcontext.kernels.orders.fit_arrays import (
    BASIC,
    CLOSED,
    CONTEXTS,
    CURVED,
    CURVES,
    DENSITIES,
    DESIGN,
    END,
    FIT_ARRAYS,
    HURDLE,
    IDENTITY,
    KIND,
    LENGTH,
    LIMIT,
    NO_FIT_ARRAYS,
    NUMBER,
    ORDERED,
    OWNER,
    PARTNER,
    PATH,
    PIECES,
    SCALES,
    SOURCE,
    START,
    TAKEN,
    UNKNOWN,
    BlockTables,
    Calls,
    FitRows,
    Fits,
    KeptFits,
    Memory,
    Regression,
    Scratch,
    classes_of,
    find,
    keep,
    name_of,
    name_of_fit,
    recall,
    regression_of,
    row_of,
    shared_values,
    store,
)
from causalcontext.kernels.orders.scaled_fits import scaled_pointer
from causalcontext.kernels.orders.selection import invert, price_of, select_pointer, solve
from causalcontext.kernels.rows.class_choice import choice_pointer, class_pointer
from causalcontext.kernels.rows.likelihoods import LOGIT, ORDINAL, PASSES, TWO_PART
from causalcontext.kernels.rows.noise_densities import DensityTable, density_pointer
from causalcontext.kernels.rows.number_scores import number_pointer
from causalcontext.kernels.rows.scales import scale_pointer

ALIKE = 0.4
"""Columns whose squared correlation is higher are tried in each other's place."""


_KINDS = Calls(
    select_pointer.kind,
    number_pointer.kind,
    density_pointer.kind,
    choice_pointer.kind,
    class_pointer.kind,
    PASSES[LOGIT].kind,
    PASSES[LOGIT].kind,
    PASSES[LOGIT].kind,
    scaled_pointer.kind,
    scale_pointer.kind,
    NO_FIT_ARRAYS,
)
CALLS = numba.types.Tuple([kind_of(_KINDS)])
"""The type of what a note of `Calls` holds: Python hands over a note in a tenth of the time that
nine pointers take.
"""


def calls_for(
    densities: bool, classes: bool, ordered: bool, hurdles: bool, weighted: Note | None
) -> Note:
    """A note of the functions that a fit calls; `weighted` as in `Calls`, None without scales."""
    if weighted is None:
        return _even_calls(densities, classes, ordered, hurdles)
    return note_of(
        (_functions(densities, classes, ordered, hurdles, True)._replace(weighted=weighted),), CALLS
    )


@cache
def _even_calls(densities: bool, classes: bool, ordered: bool, hurdles: bool) -> Note:
    return note_of((_functions(densities, classes, ordered, hurdles, False),), CALLS)


@cache
def _functions(densities: bool, classes: bool, ordered: bool, hurdles: bool, scales: bool) -> Calls:
    """The functions that a fit calls; what no node needs is not compiled."""

    def some(wanted: bool, *pointers: PointerTo) -> list[FunctionPointer]:
        return [each() if wanted else no_function(each.kind) for each in pointers]

    return Calls._make(
        [
            select_pointer(),
            *some(densities, number_pointer, density_pointer),
            *some(
                classes,
                choice_pointer,
                class_pointer,
                PASSES[LOGIT],
                PASSES[ORDINAL if ordered else LOGIT],
                PASSES[TWO_PART if hurdles else LOGIT],
            ),
            *some(scales, scaled_pointer, scale_pointer),
            NO_FIT_ARRAYS,
        ]
    )


@kernel
def fit(arrays: Note, calls: Note, block: int, node: int, slot: int) -> float:
    """Choose columns of `work.candidates` for a node in a block, and write them with their score,
    which is returned.
    """
    facts = fetch(arrays, FIT_ARRAYS, BlockTables).block[block]
    fits = fetch(arrays, FIT_ARRAYS, Fits)
    kept = fetch(arrays, FIT_ARRAYS, KeptFits)
    kind = fetch(arrays, FIT_ARRAYS, FitRows).node[node, KIND]
    name = np.uint64(0)
    if facts[LIMIT] < 0 or (facts[DESIGN] > 0 and kind != NUMBER):
        whole = fits.whole[node, slot]
        matters = fits.matters[node, slot]
        whole[END] = CLOSED
        whole[LENGTH] = 0
        whole[TAKEN] = 0
        for j in range(matters.size):
            matters[j] = False
        fits.scores[node, slot] = -math.inf
        return -math.inf
    if kept.names.size > 0:
        name = name_of_fit(
            kept.keys, facts[IDENTITY], node, fetch(arrays, FIT_ARRAYS, Scratch).candidates
        )
        place = find(kept.names, name)
        if kept.names[place] == name:
            score = recall(kept, place, fits, node, slot)
            fits.scores[node, slot] = score
            return score
    functions = fetch(calls, CALLS, Calls)
    if is_scaled(fetch(arrays, FIT_ARRAYS, FitRows), node):
        score = _scaled(arrays, functions, block, node, slot, np.full(1, -1))
    elif kind == NUMBER:
        score = _fit_number(arrays, functions, block, node, slot)
    else:
        score = _fit_classes(arrays, functions, block, node, slot)
    fits.scores[node, slot] = score
    if kept.names.size > 0:
        keep(kept, name, fits, node, slot, score)
    return score


fit_pointer = PointerTo(fit, lambda: (NO_FIT_ARRAYS, empty_note(CALLS), 0, 0, 0))


@kernel
def is_scaled(rows: FitRows, node: int) -> bool:
    """Whether the noise of a node may have an uneven spread; neither in bins nor where it is always
    Gaussian.
    """
    return bool(
        rows.facts[SCALES] > 0.0
        and rows.node[node, KIND] == NUMBER
        and rows.node[node, PIECES] == -1
    )


@kernel
def _scaled(arrays: Note, calls: Calls, block: int, node: int, slot: int, given: Ints) -> float:
    """A number whose noise may have an uneven spread: `scaled_fits.scaled`."""
    return float(
        calls.scaled(
            arrays,
            calls.weighted,
            calls.select,
            calls.fit_scale,
            calls.density_gain,
            block,
            node,
            slot,
            given,
        )
    )


@kernel
def _fit_number(arrays: Note, calls: Calls, block: int, node: int, slot: int) -> float:
    """The score of a number: Gaussian, plus what a noise density gains; a gain is looked up
    once.
    """
    tables = fetch(arrays, FIT_ARRAYS, BlockTables)
    rows = fetch(arrays, FIT_ARRAYS, FitRows)
    whole = fetch(arrays, FIT_ARRAYS, Fits).whole[node, slot]
    left = calls.select(arrays, block, node, rows.facts[CURVES] == 0.0, slot)
    table = regression_of(arrays, block, node)
    chosen = whole[PATH + (whole.size - PATH) // 2 :]
    count = whole[TAKEN]
    score = _gaussian_score(tables.number[block, START], table, left, chosen, count)
    if rows.facts[DENSITIES] == 0.0:
        return float(score)
    memory = fetch(arrays, FIT_ARRAYS, Memory)
    name = name_of(tables.block[block], table.about, rows.keys, node, chosen, count)
    place = find(memory.names, name)
    if memory.names[place] == name:
        return float(score + memory.scores[place])
    gain = _density_gain(arrays, calls, block, table, chosen, count)
    store(memory, place, name, gain)
    return float(score + gain)


@kernel
def _gaussian_score(
    start: float, table: Regression, left: float, chosen: Ints, count: int
) -> float:
    """The penalised log-likelihood of a number of which this variance is left, `start` without
    parents.
    """
    score = start - 0.5 * table.rows * math.log(max(left, SMALLEST_VARIANCE))
    for t in range(count):
        score -= price_of(table, chosen[t])
    return float(score)


@kernel
def _density_gain(
    arrays: Note, calls: Calls, block: int, table: Regression, chosen: Ints, count: int
) -> float:
    """What the best noise density gains, with the slopes that are in `work.small[4]`."""
    rows = fetch(arrays, FIT_ARRAYS, FitRows)
    groups = fetch(arrays, FIT_ARRAYS, BlockTables).groups[block]
    work = fetch(arrays, FIT_ARRAYS, Scratch)
    densities = fetch(arrays, FIT_ARRAYS, DensityTable)
    pair = np.zeros((2, count), dtype=np.int64)
    slopes = np.zeros(count)
    for t in range(count):
        pair[0, t] = table.about[SOURCE, chosen[t]]
        pair[1, t] = table.about[CONTEXTS, chosen[t]]
        slopes[t] = work.small[4, t, 0]
    return float(
        calls.number_gain(
            rows.values,
            rows.starts,
            groups,
            rows.node[table.node],
            pair,
            slopes,
            table.rows,
            densities,
            calls.density_gain,
        )
    )


@kernel
def _fit_classes(arrays: Note, calls: Calls, block: int, node: int, slot: int) -> float:
    """The score of a category; the columns that are left of the choice are written."""
    tables = fetch(arrays, FIT_ARRAYS, BlockTables)
    rows = fetch(arrays, FIT_ARRAYS, FitRows)
    fits = fetch(arrays, FIT_ARRAYS, Fits)
    memory = fetch(arrays, FIT_ARRAYS, Memory)
    table = regression_of(arrays, block, node)
    whole = fits.whole[node, slot]
    chosen = whole[PATH + (whole.size - PATH) // 2 :]
    plain = rows.facts[CURVES] == 0.0
    sets = np.full((3, chosen.size + 1), -1)
    prices = np.zeros((3, chosen.size))
    name = np.uint64(0)
    for turn in range(1, -1, -1):
        if turn == 1 or not plain:
            calls.select(arrays, block, node, plain or turn == 0, slot)
            own = name_of(tables.block[block], table.about, rows.keys, node, chosen, whole[TAKEN])
            name = (name << np.uint64(7)) ^ (name >> np.uint64(57)) ^ own
        sets[turn, 0] = whole[TAKEN]
        for t in range(whole[TAKEN]):
            sets[turn, 1 + t] = chosen[t]
            prices[turn, t] = (
                math.inf if _is_required(table, chosen[t]) else price_of(table, chosen[t])
            )
    if not plain:
        whole[END] = UNKNOWN
        matters = fits.matters[node, slot]
        for j in range(matters.size):
            matters[j] = True
    name |= np.uint64(1)
    place = find(memory.names, name)
    if memory.names[place] == name:
        score = memory.scores[place]
        left = memory.columns[memory.number[place]]
        for t in range(left[0] + 1):
            sets[0, t] = left[t]
    else:
        one_pass = _pass_of(calls, rows.node[node, KIND])
        own_rows = classes_of(tables, rows, block, node)
        score = calls.choose_columns(own_rows, calls.class_fit, one_pass, sets, prices)
        score -= own_rows.price if rows.node[node, KIND] == HURDLE else 0.0  # its variance
        if store(memory, place, name, score):
            for t in range(sets[0, 0] + 1):
                memory.columns[memory.number[place], t] = sets[0, t]
    whole[TAKEN] = sets[0, 0]
    for t in range(sets[0, 0]):
        chosen[t] = sets[0, 1 + t]
        if _is_required(table, chosen[t]):
            score -= price_of(table, chosen[t])
    if fits.whole.shape[0] < fetch(arrays, FIT_ARRAYS, Scratch).candidates.size:
        return _swap(arrays, calls, block, node, slot, float(score))
    return float(score)


@kernel
def _pass_of(calls: Calls, kind: int) -> FunctionPointer:
    """The likelihood of a kind of node that is no plain number."""
    if kind == HURDLE:
        return calls.hurdle_pass
    return calls.ordered_pass if kind == ORDERED else calls.logit_pass


@kernel
def _swap(arrays: Note, calls: Calls, block: int, node: int, slot: int, score: float) -> float:
    """Replace columns of a category by candidates that are nearly copies of them, as long as the
    score rises.

    Only where something is given: the past of a series is nearly a copy of its present, and
    whichever of the two was chosen first leaves nothing for the other. Sets of nodes are all tried
    by an exact search.
    """
    fits = fetch(arrays, FIT_ARRAYS, Fits)
    table = regression_of(arrays, block, node)
    candidates = fetch(arrays, FIT_ARRAYS, Scratch).candidates
    whole, matters, room = (
        fits.whole[node, slot],
        fits.matters[node, slot],
        (fits.whole.shape[2] - PATH) // 2,
    )
    chosen = whole[PATH + room :]
    trial = np.empty(chosen.size + 1, dtype=np.int64)
    for t in range(whole[TAKEN]):
        best = chosen[t]
        if _is_required(table, best):
            continue
        for column in range(table.first[0], table.first[candidates.size]):
            owner = table.about[OWNER, column]
            if not candidates[owner] or table.about[CURVED, column]:
                continue
            shared = row_of(table, chosen[t] >> table.bits)[
                column & shared_values(table, chosen[t])
            ]
            if not shared**2 > ALIKE * table.variance[chosen[t]] * table.variance[column]:
                continue
            if owner < matters.size:
                matters[owner] = True
            if whole[END] != UNKNOWN and whole[LENGTH] < room:
                whole[PATH + whole[LENGTH]] = column
                whole[LENGTH] += 1
            else:
                whole[END] = UNKNOWN
            trial[0] = whole[TAKEN]
            own = True
            for a in range(whole[TAKEN]):
                trial[1 + a] = column if a == t else chosen[a]
                own = own and chosen[a] != column
            value = _class_score(arrays, calls, block, node, trial) if own else -math.inf
            if value > score + 1e-9:
                score, best = value, column
        chosen[t] = best
    return score


@kernel
def _class_score(arrays: Note, calls: Calls, block: int, node: int, columns: Ints) -> float:
    """The score of a category with a set of columns (their number, then the columns) as it is;
    remembered.
    """
    tables = fetch(arrays, FIT_ARRAYS, BlockTables)
    rows = fetch(arrays, FIT_ARRAYS, FitRows)
    memory = fetch(arrays, FIT_ARRAYS, Memory)
    table = regression_of(arrays, block, node)
    name = ~name_of(
        tables.block[block], table.about, rows.keys, node, columns[1:], columns[0]
    ) | np.uint64(1)
    place = find(memory.names, name)
    if memory.names[place] == name:
        return float(memory.scores[place])
    sets = np.full((3, columns.size), -1)
    prices = np.full((3, columns.size - 1), math.inf)
    for a in range(columns[0] + 1):
        sets[0, a] = columns[a]
    one_pass = _pass_of(calls, rows.node[node, KIND])
    own_rows = classes_of(tables, rows, block, node)
    score = calls.choose_columns(own_rows, calls.class_fit, one_pass, sets, prices)
    score -= own_rows.price if rows.node[node, KIND] == HURDLE else 0.0
    for a in range(columns[0]):
        score -= price_of(table, columns[1 + a])
    store(memory, place, name, score)
    return float(score)


@kernel
def _is_required(table: Regression, column: int) -> bool:
    """Whether a column always stays, beyond price."""
    return bool(table.required[table.about[OWNER, column]] and table.about[BASIC, column] == 1)


@kernel
def fit_many(
    fit: FunctionPointer,
    calls: Note,
    arrays: Note,
    tasks: Ints,
    candidates: Bools,
    scores: Floats,
    slopes: Floats,
    sets: Ints,
) -> None:
    """Fit nodes one after the other, in the first slot: task t is a block and a node, `candidates`
    are (tasks, p).

    Written are scores, slopes of the chosen columns of numbers, shape (tasks, W), and `sets`, shape
    (tasks, 1 + W): the number of chosen columns, and the columns.
    """
    work = fetch(arrays, FIT_ARRAYS, Scratch)
    fits = fetch(arrays, FIT_ARRAYS, Fits)
    room = (fits.whole.shape[2] - PATH) // 2
    for t in range(tasks.shape[0]):
        for j in range(candidates.shape[1]):
            work.candidates[j] = candidates[t, j]
        scores[t] = fit(arrays, calls, tasks[t, 0], tasks[t, 1], np.int64(0))
        whole = fits.whole[tasks[t, 1], 0]
        sets[t, 0] = whole[TAKEN]
        for a in range(whole[TAKEN]):
            slopes[t, a] = work.small[4, a, 0]
            sets[t, 1 + a] = whole[PATH + room + a]


@kernel
def score_sets(calls: Note, arrays: Note, tasks: Ints, sets: Ints, out: Floats) -> None:
    """Score sets of columns as they are: task t is a block and a node, `sets[t]` a number of
    columns and the columns.

    `out`, shape (tasks, 2 + W), is written: the score; for numbers the residual variance and the
    slopes, for those with a scale the variance of a number with this score.
    """
    tables = fetch(arrays, FIT_ARRAYS, BlockTables)
    rows = fetch(arrays, FIT_ARRAYS, FitRows)
    work = fetch(arrays, FIT_ARRAYS, Scratch)
    functions = fetch(calls, CALLS, Calls)
    for t in range(tasks.shape[0]):
        block = tasks[t, 0]
        node = tasks[t, 1]
        count = sets[t, 0]
        chosen = sets[t, 1:]
        table = regression_of(arrays, block, node)
        if rows.node[node, KIND] != NUMBER:
            out[t, 0] = _class_score(arrays, functions, block, node, sets[t])
            continue
        if is_scaled(rows, node):
            out[t, 0] = _scaled(arrays, functions, block, node, 0, sets[t])
            out[t, 1] = math.exp(2.0 * (tables.number[block, START] - out[t, 0]) / table.rows)
            for a in range(count):
                out[t, 2 + a] = work.small[4, a, 0]
            continue
        solve(table, chosen, count, work)
        left = max(work.small[0, 0, 0], SMALLEST_VARIANCE)
        score = _gaussian_score(tables.number[block, START], table, left, chosen, count)
        for a in range(count):
            out[t, 2 + a] = work.small[4, a, 0]
        if rows.facts[DENSITIES] > 0.0:
            score += _density_gain(arrays, functions, block, table, chosen, count)
        out[t, 0] = score
        out[t, 1] = left


@kernel
def best_extras(arrays: Note, tasks: Ints, sets: Ints, curves: Bools, out: Floats) -> None:
    """What the best further column of every variable gains by moments, its price paid, given a set
    of columns.

    `curves` says whether plain columns and whether curves are tried. `out`, shape (tasks, p, 2), is
    written: the gain (-inf if there is no column), and the share of the residual variance it
    explains, with the sign of the covariance; of a product both factors count as its owner.
    """
    work = fetch(arrays, FIT_ARRAYS, Scratch)
    for t in range(tasks.shape[0]):
        node = tasks[t, 1]
        count = sets[t, 0]
        chosen = sets[t, 1:]
        table = regression_of(arrays, tasks[t, 0], node)
        _regress_all(table, chosen, count, work)
        for j in range(out.shape[1]):
            out[t, j, 0] = -math.inf
            out[t, j, 1] = 0.0
        for column in range(table.first[0], table.first[out.shape[1] + 1]):
            if (
                not curves[table.about[CURVED, column]]
                or table.variance[column] < SMALL_COLUMN_BELOW
            ):
                continue
            share, sign = _explained(table, count, column, work)
            left = max(1.0 - share, SMALLEST_VARIANCE)
            gain = -0.5 * table.rows * math.log(left) - price_of(table, column)
            for side in range(2):
                owner = table.about[OWNER if side == 0 else PARTNER, column]
                if owner >= 0 and owner != node and gain > out[t, owner, 0]:
                    out[t, owner, 0] = gain
                    out[t, owner, 1] = math.copysign(share, sign)


@kernel
def _regress_all(table: Regression, chosen: Ints, count: int, work: Scratch) -> None:
    """Regress the response on some columns, and all other columns too.

    `work.rows` has their covariances with what every chosen column adds to those before it, in
    units in which that has variance 1, `work.shared` their covariances with what is left of the
    response, `work.small[1]` the inverse of its covariance.
    """
    solve(table, chosen, count, work)
    invert(work.small[0], work.small[1], table.width)
    inverse = work.small[3]
    slopes = work.small[4]
    rows = work.rows
    first, end = table.first[0], table.first[-1]
    for a in range(table.width):
        work.shared[a, first:end] = row_of(table, table.response + a)[first:end]
    for j in range(count):
        row = row_of(table, chosen[j] >> table.bits)
        own_values = shared_values(table, chosen[j])
        for column in range(first, end):
            rows[j, column] = row[column & own_values]
        for a in range(table.width):
            for column in range(first, end):
                work.shared[a, column] -= slopes[j, a] * rows[j, column]
    for i in range(count - 1, -1, -1):
        for column in range(first, end):
            rows[i, column] *= inverse[i, i]
        for j in range(i):
            for column in range(first, end):
                rows[i, column] += inverse[i, j] * rows[j, column]


@kernel
def _explained(table: Regression, count: int, column: int, work: Scratch) -> tuple[float, float]:
    """After `_regress_all`, the share of the residual response that a column explains; the sign of
    their covariance.
    """
    variance = table.variance[column]
    total = 0.0
    for i in range(count):
        variance -= work.rows[i, column] * work.rows[i, column]
    if variance <= SAME_COLUMN_BELOW * table.variance[column]:
        return 0.0, 1.0
    for a in range(table.width):
        for b in range(table.width):
            total += work.shared[a, column] * work.small[1, a, b] * work.shared[b, column]
    return min(total / variance, 1.0), work.shared[0, column]
