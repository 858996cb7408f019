"""The score of a number whose noise may have an uneven spread: columns of the location and of the
scale in turns.

Moments choose the columns of the location, rows those of the scale; then the location is chosen
again with moments weighted by 1 / s^2, as long as the score rises. `scaled` stands behind a
pointer: a search without scales compiles none of this.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer, Note, PointerTo, fetch
from causalcontext.kernels.linear import weighted_products
from causalcontext.kernels.orders.fit_arrays import (
    BITS,
    CONTEXTS,
    CURVES,
    END,
    FIT_ARRAYS,
    LENGTH,
    NO_FIT_ARRAYS,
    OWNER,
    PARTNER,
    PATH,
    PRICE,
    RESPONSE,
    SCALES,
    SOURCE,
    START,
    TAKEN,
    UNKNOWN,
    BlockTables,
    FitRows,
    Fits,
    KeptRows,
    Regression,
    Scratch,
    regression_of,
)
from causalcontext.kernels.orders.selection import price_of, select_pointer
from causalcontext.kernels.rows.noise_densities import DensityTable, density_pointer
from causalcontext.kernels.rows.scales import (
    CHOICE,
    MOST_SCALES,
    SHAPES,
    ScaleCalls,
    ScaleFit,
    ScaleRows,
    choose_scale,
    no_scale,
    scale_pointer,
)

MOST_ROUNDS = 3
"""How often the columns of the location are chosen again with the weights of a scale."""


@kernel
def scaled(
    arrays: Note,
    weighted: Note,
    select: FunctionPointer,
    fit_scale: FunctionPointer,
    density_gain: FunctionPointer,
    block: int,
    node: int,
    slot: int,
    given: Ints,
) -> float:
    """Choose columns of the location and of the scale of a number in a block, and write them; the
    score.

    With `given`, a number of columns and the columns, these are scored as they are and only their
    slopes are written. `weighted` is `Calls.weighted`.
    """
    plain = fetch(arrays, FIT_ARRAYS, FitRows).facts[CURVES] == 0.0
    fits = fetch(arrays, FIT_ARRAYS, Fits)
    whole = fits.whole[node, slot]
    candidates = fetch(arrays, FIT_ARRAYS, Scratch).candidates
    groups = fetch(arrays, FIT_ARRAYS, BlockTables).groups[block]
    offered = np.zeros(
        SHAPES * candidates.size + groups.max(), dtype=np.bool_
    )  # of candidates, and all groups but one
    calls = ScaleCalls(fit_scale, density_gain, fetch(arrays, FIT_ARRAYS, DensityTable))
    if given[0] >= 0:
        return _as_given(arrays, calls, block, node, offered, given)
    select(arrays, block, node, plain, slot)
    for column in range(offered.size):
        offered[column] = column >= SHAPES * candidates.size or candidates[column // SHAPES]
    trail = np.zeros(1 + (whole.size - PATH) // 2, dtype=np.int64)
    tried = np.zeros(offered.size, dtype=np.bool_)
    _note_path(whole, trail)
    chosen = _taken(whole)
    fit = _no_scale(arrays, block, chosen)
    score = _location_and_scale(arrays, calls, block, node, chosen, offered, fit, tried)
    for _ in range(MOST_ROUNDS if fit.taken[0] > 0 else 0):
        _write_moments(arrays, weighted, block, node, fit.log_scale)
        select(weighted, block, node, plain, slot)
        _note_path(whole, trail)
        others = _taken(whole)
        if _are_same(chosen, others):
            break
        other = _no_scale(arrays, block, others)
        for a in range(fit.taken.size):
            other.taken[a] = fit.taken[a]
        better = _location_and_scale(arrays, calls, block, node, others, offered, other, tried)
        if better <= score + 1e-9:
            break
        score = better
        chosen = others
        fit = other
    _mark(regression_of(arrays, block, node), fits.matters[node, slot], candidates, trail, tried)
    _write(whole, chosen, fit.taken, trail)
    return float(score)


scaled_pointer = PointerTo(
    scaled,
    lambda: (
        NO_FIT_ARRAYS,
        NO_FIT_ARRAYS,
        select_pointer.kind,
        scale_pointer.kind,
        density_pointer.kind,
        0,
        0,
        0,
        np.zeros(1, dtype=np.int64),
    ),
)


@kernel
def _as_given(
    arrays: Note, calls: ScaleCalls, block: int, node: int, offered: Bools, given: Ints
) -> float:
    """The score of given columns; `work.small[4]` has their slopes, those of the scale after the
    others.
    """
    taken = np.zeros(1 + MOST_SCALES, dtype=np.int64)
    chosen = _split(given, taken)
    fit = _no_scale(arrays, block, chosen)
    for a in range(taken.size):
        fit.taken[a] = taken[a]
    score = _location_and_scale(arrays, calls, block, node, chosen, offered, fit, offered[:0])
    slopes = fetch(arrays, FIT_ARRAYS, Scratch).small[4]
    for t in range(chosen.size):
        slopes[t, 0] = fit.location[fit.location.size - chosen.size + t]
    for t in range(taken[0]):
        slopes[chosen.size + t, 0] = fit.slopes[t]
    return score


@kernel
def _no_scale(arrays: Note, block: int, chosen: Ints) -> ScaleFit:
    """Room for a fit with some columns of the location."""
    intercepts = fetch(arrays, FIT_ARRAYS, BlockTables).groups[block].max() + 1
    return no_scale(_size_of(arrays, block), intercepts + chosen.size)


@kernel
def _size_of(arrays: Note, block: int) -> int:
    """The rows of a block."""
    starts = fetch(arrays, FIT_ARRAYS, FitRows).starts
    groups = fetch(arrays, FIT_ARRAYS, BlockTables).groups[block]
    size = 0
    for r in range(groups.size):
        size += starts[r + 1] - starts[r] if groups[r] >= 0 else 0
    return size


@kernel
def _split(given: Ints, taken: Ints) -> Ints:
    """The columns of the location; those of the scale are written to `taken`."""
    count = 0
    chosen = np.empty(given[0], dtype=np.int64)
    for t in range(given[0]):
        if given[1 + t] >= 0:
            chosen[count] = given[1 + t]
            count += 1
        else:
            taken[0] += 1
            taken[taken[0]] = -1 - given[1 + t]
    return chosen[:count]


@kernel
def _taken(whole: Ints) -> Ints:
    """The columns that a selection took."""
    columns = np.empty(whole[TAKEN], dtype=np.int64)
    start = PATH + (whole.size - PATH) // 2
    for t in range(columns.size):
        columns[t] = whole[start + t]
    return columns


@kernel
def _are_same(one: Ints, other: Ints) -> bool:
    """Whether two sets have the same columns."""
    shared = 0
    for column in one:
        for candidate in other:
            shared += 1 if column == candidate else 0
    return shared == one.size and shared == other.size


@kernel
def _note_path(whole: Ints, trail: Ints) -> None:
    """Add the columns of a path to all those that were ever taken: their number and the columns; -1
    for too many.
    """
    for t in range(whole[LENGTH]):
        known = trail[0] < 0
        for a in range(max(trail[0], 0)):
            known = known or trail[1 + a] == whole[PATH + t]
        if not known:
            if trail[0] + 1 < trail.size:
                trail[0] += 1
                trail[trail[0]] = whole[PATH + t]
            else:
                trail[0] = -1


@kernel
def _mark(table: Regression, matters: Bools, candidates: Bools, trail: Ints, tried: Bools) -> None:
    """Add the columns that the scale tried to the trail, and mark the variables whose candidacy
    matters.

    These are all that were ever taken, and all that are no candidates yet; everybody where too many
    were taken to list.
    """
    for j in range(matters.size):
        matters[j] = not candidates[j] or trail[0] < 0
    for t in range(max(trail[0], 0) if matters.size > 0 else 0):
        for side in (OWNER, PARTNER):
            owner = table.about[side, trail[1 + t]]
            if owner >= 0:
                matters[owner] = True
    for column in range(SHAPES * candidates.size):
        if tried[column]:
            if matters.size > 0:
                matters[column // SHAPES] = True
            if 0 <= trail[0] < trail.size - 1:
                trail[0] += 1
                trail[trail[0]] = -1 - column
            else:
                trail[0] = -1


@kernel
def _write(whole: Ints, chosen: Ints, taken: Ints, trail: Ints) -> None:
    """Write the columns that were chosen, and all that were ever taken."""
    room = (whole.size - PATH) // 2
    whole[TAKEN] = chosen.size + taken[0]
    for t in range(chosen.size):
        whole[PATH + room + t] = chosen[t]
    for t in range(taken[0]):
        whole[PATH + room + chosen.size + t] = -1 - taken[1 + t]
    whole[LENGTH] = max(trail[0], 0)
    if trail[0] < 0:
        whole[END] = UNKNOWN
    for t in range(whole[LENGTH]):
        whole[PATH + t] = trail[1 + t]


@kernel
def _location_and_scale(
    arrays: Note,
    calls: ScaleCalls,
    block: int,
    node: int,
    chosen: Ints,
    offered: Bools,
    fit: ScaleFit,
    tried: Bools,
) -> float:
    """The score of some columns of the location with the best scale of those offered, beginning
    with `fit.taken`.
    """
    tables = fetch(arrays, FIT_ARRAYS, BlockTables)
    table = regression_of(arrays, block, node)
    rows = _scale_rows(arrays, table, chosen, offered, fit.taken)
    score = choose_scale(rows, calls, fit, tried)
    for t in range(chosen.size):
        score -= price_of(table, chosen[t])
    return float(score + tables.number[block, START])


@kernel
def _scale_rows(
    arrays: Note, table: Regression, chosen: Ints, offered: Bools, taken: Ints
) -> ScaleRows:
    """The rows of a regression with its columns; those that are not offered to the scale, and not
    taken, are 0.
    """
    tables = fetch(arrays, FIT_ARRAYS, BlockTables)
    rows = fetch(arrays, FIT_ARRAYS, FitRows)
    groups = tables.groups[table.block]
    m = _size_of(arrays, table.block)
    intercepts = groups.max() + 1
    first = int(rows.facts[SCALES])
    price = tables.number[table.block, PRICE]
    response = np.zeros((1, m))
    location = np.zeros((intercepts + chosen.size, m))
    columns = np.zeros((offered.size, m))
    prices = np.empty(offered.size)
    square = np.zeros(offered.size)
    shapes = offered.size - groups.max()
    _gather(rows, groups, rows.node[table.node, RESPONSE], 0, response[0])
    for t in range(chosen.size):
        lives = table.about[CONTEXTS, chosen[t]]
        _gather(rows, groups, table.about[SOURCE, chosen[t]], lives, location[intercepts + t])
    for group in range(intercepts):
        _gather(rows, groups, -1, 1 << group, location[group])
    for h in range(offered.size):
        prices[h] = price + (CHOICE if h < shapes and h % SHAPES > 0 else 0.0)
        wanted = offered[h]
        for a in range(taken[0]):
            wanted = wanted or taken[1 + a] == h
        if wanted:
            _gather(
                rows,
                groups,
                first + h if h < shapes else -1,
                0 if h < shapes else 2 << (h - shapes),
                columns[h],
            )
            square[h] = _centre(columns[h])
    return ScaleRows(response[0], location, columns, square, prices, table.rows)


@kernel
def _gather(rows: FitRows, groups: Ints, source: int, lives: int, goal: Floats) -> None:
    """A row of the values (-1: ones) on the rows of a block, 0 outside the groups of a bit mask (0:
    all).
    """
    place = 0
    for r in range(groups.size):
        if groups[r] < 0:
            continue
        here = lives == 0 or lives & (1 << groups[r]) != 0
        for t in range(rows.starts[r], rows.starts[r + 1]):
            if here:
                goal[place] = rows.values[source, t] if source >= 0 else 1.0
            place += 1


@kernel
def _centre(column: Floats) -> float:
    """Take the mean from a column; what is left of its sum of squares."""
    total, square = 0.0, 0.0
    for t in range(column.size):
        total += column[t]
    for t in range(column.size):
        column[t] -= total / column.size
        square += column[t] * column[t]
    return square


@kernel
def _write_moments(arrays: Note, weighted: Note, block: int, node: int, log_scale: Floats) -> None:
    """Moments of all columns by cell with weights 1 / s^2, whose mean over the rows of the block is
    1.
    """
    rows = fetch(arrays, FIT_ARRAYS, FitRows)
    tables = fetch(weighted, FIT_ARRAYS, BlockTables)
    kept = fetch(weighted, FIT_ARRAYS, KeptRows)
    groups = tables.groups[block]
    kept.filled[0] = kept.filled[1] = 0
    for place in range(kept.names.size):
        kept.names[place] = 0
    weight = np.empty(log_scale.size)
    total = 0.0
    for t in range(weight.size):
        weight[t] = math.exp(-2.0 * log_scale[t])
        total += weight[t]
    for t in range(weight.size):
        weight[t] *= tables.number[block, 0] / total
    columns = _columns_in_use(arrays, block, node)
    first = 0
    for r in range(groups.size):
        tables.n[r] = 0.0
        if groups[r] >= 0:
            _write_cell(
                rows,
                tables,
                r,
                columns,
                weight[first : first + rows.starts[r + 1] - rows.starts[r]],
            )
            first += rows.starts[r + 1] - rows.starts[r]
    _write_variances(tables, block, columns)


@kernel(fastmath={"reassoc", "contract"})
def _write_cell(rows: FitRows, tables: BlockTables, r: int, columns: Ints, weight: Floats) -> None:
    """The weighted moments of some columns in one cell."""
    part = np.empty((columns.size, weight.size))
    start = rows.starts[r]
    for t in range(weight.size):
        tables.n[r] += weight[t]
    for a in range(columns.size if tables.n[r] > 0.0 else 0):
        own = rows.values[columns[a]]
        mean = 0.0
        column = part[a]
        for t in range(weight.size):
            mean += weight[t] * own[start + t]
        mean /= tables.n[r]
        for t in range(weight.size):
            column[t] = own[start + t] - mean
        tables.means[r, columns[a]] = mean
    products = np.zeros((columns.size, columns.size))
    weighted_products(part, weight, products)
    for a in range(columns.size):
        for b in range(a + 1):
            tables.scatter[r, columns[a], columns[b]] = tables.scatter[
                r, columns[b], columns[a]
            ] = products[a, b]


@kernel
def _columns_in_use(arrays: Note, block: int, node: int) -> Ints:
    """The plain columns of the response and of the candidates."""
    tables = fetch(arrays, FIT_ARRAYS, BlockTables)
    work = fetch(arrays, FIT_ARRAYS, Scratch)
    response = fetch(arrays, FIT_ARRAYS, FitRows).node[node, RESPONSE]
    found = np.empty(tables.means.shape[1], dtype=np.int64)
    count = 0
    for column in range(found.size):
        owner = tables.about[0, OWNER, column]
        if column == response or (work.candidates[owner] and owner != node):
            found[count] = column
            count += 1
    return found[:count]


@kernel
def _write_variances(tables: BlockTables, block: int, columns: Ints) -> None:
    """The variances of columns in a block, around the means of its groups, and of columns by values
    of a reader.
    """
    groups = tables.groups[block]
    bits = tables.block[block, BITS]
    rows = tables.number[block, 0]
    apart = np.zeros(groups.max() + 1)
    for column in columns:
        for group in range(apart.size):
            n = 0.0
            total = 0.0
            apart[group] = 0.0
            for r in range(groups.size):
                if groups[r] == group:
                    n += tables.n[r]
                    total += tables.n[r] * tables.means[r, column]
            for r in range(groups.size):
                if groups[r] == group and n > 0.0:
                    away = tables.means[r, column] - total / n
                    apart[group] += tables.scatter[r, column, column] + tables.n[r] * away * away
        for lives in range(1 << bits):
            value = 0.0
            for group in range(apart.size):
                value += apart[group] if bits == 0 or lives >> group & 1 else 0.0
            tables.variance[block, (column << bits) + lives] = value / rows
