"""Thresholds and groups of a number, codes and dummies of a category, and columns that have one
order.

A column of few levels, or one whose values repeat, is a function of another one if equal values of
that always have equal values of it. Chance does this as well where few rows repeat, so that every
claim counts the ways in which rows could have been arranged otherwise.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.screening.bends import curve_words, line_plainness
from causalcontext.screening.heaps import are_heaps
from causalcontext.screening.relations import Columns, Relation, complete, log_slopes, some_rows
from causalcontext.screening.settings import (
    EXACT_RESIDUAL,
    FEWEST_EFFECTIVE_VALUES,
    FEWEST_REPEATED_PAIRS,
    FEWEST_ROWS_OF_A_RELATION,
    FEWEST_ROWS_OF_THE_RAREST,
    LARGEST_DIFFERENCE_OF_MEASUREMENTS,
    LARGEST_DIFFERENCE_OF_SCALES,
    LEAST_EQUAL_SHARE_IN_A_GLANCE,
    LEAST_EQUAL_SHARE_OF_A_COPY,
    LEAST_MEAN_OF_MEASUREMENTS,
    LEAST_NATS_OF_A_FUNCTION,
    LEAST_SHARE_OF_COMBINATIONS,
    MOST_GROUPS_OF_A_NUMBER,
    MOST_PARTS_OF_A_COMBINATION,
    MOST_TERMS_WRITTEN,
    ROW_GAPS_COMPARED,
    ROWS_OF_A_LEVEL_GLANCE,
    ROWS_OF_A_SEARCH,
)


def level_relations(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The columns that one other column determines in every row, by repeats, order or a range; of
    two that determine each other the later one. Before them come categories that are combinations
    of others, which would be called coarser groupings of these.

    `gone` are the columns that are no longer looked at. Pairs of columns are held against
    `ROWS_OF_A_LEVEL_GLANCE` rows first, all at once, then against `ROWS_OF_A_SEARCH`, then all
    rows.
    """
    few = some_rows(columns, ROWS_OF_A_LEVEL_GLANCE)
    look = some_rows(columns, ROWS_OF_A_SEARCH)
    usable = [j for j in range(len(columns.names)) if j not in gone and not columns.is_context[j]]
    possible = _may_determine(few[usable])
    groups = ~columns.is_number[usable] | np.array(
        [_has_two_values(column) for column in columns.values[usable]]
    )
    possible[:, groups] |= _may_be_groups(few[usable], few[usable][groups])
    np.fill_diagonal(possible, False)
    pairs = {(usable[value], usable[of]) for of, value in np.argwhere(possible).tolist()}
    pairs = {(value, of) for value, of in pairs if _determines(look, columns, value, of, 0.0)}
    pairs = {
        (value, of)
        for value, of in pairs
        if _determines(columns.values, columns, value, of, LEAST_NATS_OF_A_FUNCTION)
    }
    relations = _combinations(columns, pairs)
    for value, of in sorted(pairs):
        both = (of, value) in pairs
        if both and value < of:
            continue
        if both:
            relations.append(_relation_both_ways(columns, value, of))
        elif columns.may_go[value]:
            relations.append(Relation(value, (of,), {value: _words_one_way(columns, value, of)}))
    return relations


def _combinations(columns: Columns, pairs: set[tuple[int, int]]) -> list[Relation]:
    """The categories that are combinations of the levels of several columns, as "female, old" is.

    `pairs` are those (value, of) of which the second determines the first. The columns that a
    category determines must together determine it, and nearly all of their combinations occur, as
    those of dummies do not.
    """
    relations = []
    for category in sorted({of for _, of in pairs}):
        if columns.is_number[category] or not columns.may_go[category]:
            continue
        parts = [
            value
            for value, of in sorted(pairs)
            if of == category and (category, value) not in pairs
        ]
        parts = _needed(columns.values, category, parts)
        if len(parts) < 2:
            continue
        names = [columns.names[part] for part in parts]
        words = f"is a combination of {listed(sorted(names), MOST_TERMS_WRITTEN, 'column')}"
        relations.append(Relation(category, tuple(parts), {category: words}))
    return relations


def _needed(values: Floats, category: int, parts: list[int]) -> list[int]:
    """Those of the columns that together determine a category, without the ones that others make
    up for; none where they do not determine it, or too few of their combinations occur.
    """
    if not 1 < len(parts) <= MOST_PARTS_OF_A_COMBINATION:
        return []
    known = np.isfinite(values[[category, *parts]]).all(axis=0)
    if not known.any():
        return []
    codes = {
        column: np.unique(values[column][known], return_inverse=True)[1]
        for column in (category, *parts)
    }

    def counted(chosen: list[int]) -> int:
        """The combinations of the levels of some columns that occur."""
        joint = np.zeros(int(known.sum()), dtype=np.int64)
        for column in chosen:
            joint = joint * (int(codes[column].max()) + 1) + codes[column]
            joint = np.unique(joint, return_inverse=True)[1]
        return int(joint.max()) + 1

    levels = counted([category])
    if counted(parts) != levels:
        return []
    for part in list(parts):
        rest = [other for other in parts if other != part]
        if len(rest) > 1 and counted(rest) == levels:
            parts = rest
    possible = math.prod(counted([part]) for part in parts)
    return parts if levels > LEAST_SHARE_OF_COMBINATIONS * possible else []


def _relation_both_ways(columns: Columns, value: int, of: int) -> Relation:
    """The relation of two columns that determine each other, either of which may be left out.

    The code of a category goes, not the category.
    """
    words = {value: _words_both(columns, value, of), of: _words_both(columns, of, value)}
    slopes = {of: log_slopes(columns.values[value], columns.values[of])}
    if columns.is_number[value] != columns.is_number[of]:
        code = value if columns.is_number[value] else of
        words = {code: words[code]} if columns.may_go[code] else words
    are_numbers = bool(columns.is_number[[value, of]].all())
    plainness = line_plainness(columns, value, of) if are_numbers else {}
    return Relation(value, (of,), words, slopes, plainness)


def near_copies(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that have the value of another one, or lie on one line with it, in nearly every
    row, and are elsewhere in some: copies with slips.

    Beside such a copy links among other columns were lost and arrows turned. The one with the slips
    goes where scores tell.
    """
    few = some_rows(columns, ROWS_OF_A_LEVEL_GLANCE)
    relations = []
    for value, of in _pairs_in_one_order(few, _fine_numbers(columns, gone)):
        if np.mean(_on_line_of_most(few[value], few[of])[0]) < LEAST_EQUAL_SHARE_IN_A_GLANCE:
            continue
        both = complete(columns.values, [value, of])
        rows = both.shape[1]
        if rows < FEWEST_ROWS_OF_A_RELATION:
            continue
        on_line, slope = _on_line_of_most(*both)
        count = int(np.count_nonzero(~on_line))
        if not 0 < count <= (1.0 - LEAST_EQUAL_SHARE_OF_A_COPY) * rows:
            continue
        ending = f"but for {count:,} cell{'' if count == 1 else 's'}"
        is_copy = bool((both[0] == both[1])[on_line].all())
        words = {
            column: f"is {'a copy of' if is_copy else 'a line in'} {columns.names[other]} {ending}"
            for column, other in ((value, of), (of, value))
        }
        size = np.full(columns.values.shape[1], np.log(abs(slope)))
        relations.append(Relation(value, (of,), words, {of: size}))
    return relations


def _pairs_in_one_order(values: Floats, fine: list[int]) -> list[tuple[int, int]]:
    """The pairs of columns, the later one of each first, of which one may lie on a line with the
    other in the share `LEAST_EQUAL_SHARE_IN_A_GLANCE` of some rows; `values` has shape (columns,
    rows).

    In the order of one column the other one rises, or falls, from row to row between rows on the
    line. A row beside it breaks two such steps at most. Columns without anything in common rise at
    half of the steps, so that next to none are left of many.
    """
    pairs = []
    rows = values.shape[1]
    least = rows - 1 - 2 * math.floor((1.0 - LEAST_EQUAL_SHARE_IN_A_GLANCE) * rows + 1e-9)
    own = values[fine]
    with np.errstate(invalid="ignore"):
        quartiles = np.percentile(own, [25, 75], axis=1) if rows else np.zeros((2, len(fine)))
        slack = 2.0 * EXACT_RESIDUAL * (quartiles[1] - quartiles[0])[:, None]
        for place, of in enumerate(fine):
            later = slice(place + 1, None)
            order = np.argsort(own[place], kind="stable")
            steps = np.diff(own[later, order], axis=1)
            rises = np.count_nonzero(steps >= -slack[later], axis=1)
            falls = np.count_nonzero(steps <= slack[later], axis=1)
            possible = np.flatnonzero(np.maximum(rises, falls) >= least)
            pairs += [(fine[place + 1 + other], of) for other in possible.tolist()]
    return sorted(pairs)


def _on_line_of_most(value: Floats, of: Floats) -> tuple[Bools, float]:
    """True in the rows that lie on the line of most rows, shape (rows,), and its slope; no row and
    the slope 1 where there is no line.

    The slope is the median of those between rows half a table apart in the order of the other
    column, which slips in fewer than a quarter of the rows do not move.
    """
    order = np.argsort(of, kind="stable")
    half = order.size // 2
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (value[order][half:] - value[order][: order.size - half]) / (
            of[order][half:] - of[order][: order.size - half]
        )
    slopes = slopes[np.isfinite(slopes)]
    if not slopes.size or np.median(slopes) == 0.0:
        return np.zeros(value.shape, dtype=bool), 1.0
    slope = float(np.median(slopes))
    rest = value - slope * of
    scale = float(np.subtract(*np.percentile(value, [75, 25])))
    with np.errstate(invalid="ignore"):
        on_line = np.abs(rest - np.nanmedian(rest)) <= EXACT_RESIDUAL * scale
    return np.asarray(on_line), slope


def second_measurements(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers in the same units, with the same mean and spread, that hardly differ: one thing
    that was measured twice.

    Either may go, and each counts as the other one in the same units. The words have the standard
    deviation of their difference.
    """
    relations = []
    few = some_rows(columns, ROWS_OF_A_SEARCH)
    for value, of in _pairs_of_one_size(few, _fine_numbers(columns, gone)):
        both = complete(few, [value, of])
        if both.shape[1] < FEWEST_ROWS_OF_A_RELATION or not _are_one_thing(*both):
            continue
        share = float((both[0] - both[1]).std() / both[1].std())
        ending = f"(they differ by {100.0 * share:.1f} % of a standard deviation)"
        words = {
            value: f"measures the same as {columns.names[of]} {ending}",
            of: f"measures the same as {columns.names[value]} {ending}",
        }
        relations.append(Relation(value, (of,), words, {of: np.zeros(columns.values.shape[1])}))
    return relations


def _fine_numbers(columns: Columns, gone: frozenset[int]) -> list[int]:
    """The numbers of many values."""
    return [
        j
        for j in columns.numbers(gone)
        if _effective_values(columns.values[j]) >= FEWEST_EFFECTIVE_VALUES
    ]


def _pairs_of_one_size(values: Floats, fine: list[int]) -> list[tuple[int, int]]:
    """The pairs of columns, the later one of each first, whose means may be equal and away from 0;
    `values` has shape (columns, rows).

    Pairs with a missing cell are all possible: their means are those of the rows that have both.
    """
    own = values[fine]
    whole: Bools = np.asarray(np.isfinite(own).all(axis=1))
    with np.errstate(invalid="ignore"):
        mean: Floats = np.mean(own, axis=1)
        spread: Floats = np.std(own, axis=1)
        # rounded up: what is left is compared exactly
        away = np.abs(mean) >= 0.99 * LEAST_MEAN_OF_MEASUREMENTS * spread
        near = 1.01 * LARGEST_DIFFERENCE_OF_SCALES * spread
    pairs = []
    for place, of in enumerate(fine):
        with np.errstate(invalid="ignore"):
            alike = away & away[place] & (np.abs(mean - mean[place]) <= near[place])
        possible = np.flatnonzero(alike | ~whole | ~whole[place])
        pairs += [(fine[other], of) for other in possible.tolist() if other > place]
    return sorted(pairs)


def _are_one_thing(value: Floats, of: Floats) -> bool:
    """True if two numbers, shape (rows,), are two measurements of one thing: they differ by little,
    have one spread and one mean, and this mean is away from 0.
    """
    spread = float(of.std())
    means = float(value.mean()), float(of.mean())
    # Columns in standard units have the same mean and spread, whatever they measure.
    if spread == 0.0 or min(abs(mean) for mean in means) < LEAST_MEAN_OF_MEASUREMENTS * spread:
        return False
    return bool(
        float((value - of).std()) < LARGEST_DIFFERENCE_OF_MEASUREMENTS * spread
        and abs(float(value.std()) / spread - 1.0) < LARGEST_DIFFERENCE_OF_SCALES
        and abs(means[0] - means[1]) < LARGEST_DIFFERENCE_OF_SCALES * spread
    )


def _effective_values(values: Floats) -> float:
    """Effective values of a number, 1 / sum p²."""
    counts = np.unique(values[np.isfinite(values)], return_counts=True)[1].astype(np.float64)
    return float(counts.sum()) ** 2 / max(float((counts**2).sum()), 1.0)


def _determines(values: Floats, columns: Columns, value: int, of: int, clear: float) -> bool:
    """True if the column `of` determines the column `value` in all of some rows.

    `values` has shape (columns, rows), and `clear` the nats that must speak against chance; with 0
    a contradiction alone counts. Levels without an order could have been numbered in k! ways, which
    they must make up for.
    """
    pair = (values[value], values[of])
    ways = 0.0
    if columns.is_number[of] and are_heaps(*pair):
        return False
    if _is_range(*pair, clear=clear):
        return True
    if not columns.is_number[value]:
        levels = _ordered_levels(*pair)
        pair = (levels, pair[1])
        ways = scipy.special.gammaln(len(np.unique(levels[np.isfinite(levels)])) + 1)
    return _is_function(*pair, clear=clear and clear + ways)


def _ordered_levels(value: Floats, of: Floats) -> Floats:
    """The levels numbered by the mean of the other column, shape (rows,): the order of words means
    nothing.
    """
    usable = np.isfinite(value) & np.isfinite(of)
    levels = np.full(value.shape, np.nan)
    if usable.any():
        level_of_row = np.unique(value[usable], return_inverse=True)[1]
        order = np.argsort(
            np.bincount(level_of_row, of[usable]) / np.bincount(level_of_row), kind="stable"
        )
        levels[usable] = np.argsort(order)[level_of_row]
    return levels


def _is_function(value: Floats, of: Floats, clear: float = LEAST_NATS_OF_A_FUNCTION) -> bool:
    """True if equal values of `of` have equal values of `value`, more clearly than by chance.

    If both have one order, chance has n! / prod m! arrangements of n rows with values that m rows
    have; else the evidence is -log(sum p²) for each row that repeats a value of `of`. Columns that
    rise or fall from the first row to the last have the same order without being functions.
    """
    usable = np.isfinite(value) & np.isfinite(of)
    value = value[usable]
    of = of[usable]
    order = np.lexsort((value, of))
    step = np.diff(value[order])
    same = np.diff(of[order]) == 0.0
    counts = np.unique(value, return_counts=True)[1]
    if (
        len(counts) < 2
        or (same & (step != 0.0)).any()
        or (len(counts) == 2 and counts.min() < FEWEST_ROWS_OF_THE_RAREST)
    ):
        return False
    if _is_monotone(step):
        if _is_monotone(np.diff(value)) and _is_monotone(np.diff(of)):
            # trends: columns that rise or fall from the first row to the last have the same order
            return False
        return bool(
            scipy.special.gammaln(value.size + 1) - scipy.special.gammaln(counts + 1).sum() > clear
        )
    return bool(-np.count_nonzero(same) * np.log(((counts / value.size) ** 2).sum()) > clear)


def _is_range(value: Floats, of: Floats, clear: float) -> bool:
    """True if one of two values is that of all rows in a range of the other column, more clearly
    than by chance.

    The arrangements that do so, n² of two borders, are set against all of them.
    """
    usable = np.isfinite(value) & np.isfinite(of)
    value = value[usable]
    of = of[usable]
    counts = np.unique(value, return_counts=True)[1]
    if len(counts) != 2 or counts.min() < FEWEST_ROWS_OF_THE_RAREST or _is_monotone(np.diff(of)):
        return False
    order = np.lexsort((value, of))
    step = np.diff(value[order])
    same = np.diff(of[order]) == 0.0
    if np.count_nonzero(step) != 2 or (same & (step != 0.0)).any():
        return False
    ways = scipy.special.gammaln(value.size + 1) - scipy.special.gammaln(counts + 1).sum()
    return bool(ways - 2.0 * np.log(value.size) > clear)


def _has_two_values(values: Floats) -> bool:
    """True if a column, shape (rows,), has two different values at most, and one at least."""
    known = values[np.isfinite(values)]
    return bool(known.size) and bool(((known == known.min()) | (known == known.max())).all())


def _is_monotone(step: Floats) -> bool:
    """True if no step falls, or none rises."""
    return bool((step >= 0.0).all() or (step <= 0.0).all())


def _may_determine(values: Floats) -> Bools:
    """True at (i, j) if no two of some rows contradict that column i determines column j, which is
    not constant in them, shape (columns, columns).

    `values` has shape (columns, rows). Pairs of rows some rows apart are compared. A pair that is
    equal in i and not in j contradicts; so does one against the order, unless values of i repeat
    enough for a function that is not monotone.
    """
    with np.errstate(invalid="ignore"):
        step = np.concatenate(
            [values[:, gap:] - values[:, :-gap] for gap in ROW_GAPS_COMPARED], axis=1
        )
        up, down, same = (
            where.astype(np.float32) for where in (step > 0.0, step < 0.0, step == 0.0)
        )
    against = up @ down.T
    monotone = (up @ up.T + down @ down.T == 0.0) | (against + against.T == 0.0)
    broken = same @ (up + down).T > 0.0
    repeats = same.sum(axis=1) >= FEWEST_REPEATED_PAIRS
    varies = (up + down).any(axis=1)
    possible = ~broken & (monotone | repeats[:, None]) & varies
    return np.asarray(possible)


def _may_be_groups(values: Floats, levels: Floats) -> Bools:
    """True at (i, j) if in the order of column i the rows of every level of j stand together, as
    far as some rows show, shape (columns, columns of levels).

    `values` has shape (columns, rows) and `levels` shape (columns of levels, rows). Of two levels
    one stands in the middle of the other at most, so that there are at most two borders.
    """
    order = np.argsort(values, axis=1)
    here = np.isfinite(np.take_along_axis(values, order, axis=1))
    possible = np.zeros((len(values), len(levels)), dtype=bool)
    for j, level in enumerate(levels):
        sorted_levels = level[order]
        usable = here & np.isfinite(sorted_levels)
        breaks = (np.diff(sorted_levels, axis=1) != 0.0) & usable[:, 1:] & usable[:, :-1]
        possible[:, j] = breaks.sum(axis=1) < max(3, len(np.unique(level[np.isfinite(level)])))
    return possible


def _words_one_way(columns: Columns, value: int, of: int) -> str:
    """The words on a column that another one determines, and that does not determine it."""
    name = columns.names[of]
    levels = len(np.unique(columns.values[value][np.isfinite(columns.values[value])]))
    if not columns.is_number[of]:
        return f"is a {'dummy' if levels == 2 else 'coarser grouping'} of {name}"
    if levels == 2:
        is_range = _is_range(columns.values[value], columns.values[of], 0.0)
        return f"is a {'group' if is_range else 'threshold'} of {name}"
    return (
        f"is a group of {name}"
        if levels <= MOST_GROUPS_OF_A_NUMBER
        else curve_words(columns, value, of)
    )


def _words_both(columns: Columns, value: int, of: int) -> str:
    """The words on a column that another one determines and that determines it: a copy, a code, or
    a function with a name.
    """
    name = columns.names[of]
    values = columns.values[value]
    other_values = columns.values[of]
    is_same = bool(((values == other_values) | np.isnan(values) | np.isnan(other_values)).all())
    if is_same and columns.is_number[value] == columns.is_number[of]:
        return f"is a copy of {name}"
    few = len(np.unique(values[np.isfinite(values)])) <= MOST_GROUPS_OF_A_NUMBER
    if few or not (columns.is_number[value] and columns.is_number[of]):
        return f"is a code of {name}"
    return curve_words(columns, value, of)
