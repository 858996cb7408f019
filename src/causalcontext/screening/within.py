"""Numbers that are exact lines of others in every context, with other slopes in each: a prediction
made by ward; and lines of one other number in every level of a column: an amount per head.

A mechanism that holds within some contexts only is none of them, and no mechanism of nature leaves
nothing over. Without this look such a prediction sent the whole table to tests, which lost links
and turned arrows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.screening.bends import is_fine
from causalcontext.screening.lines import linear_relations
from causalcontext.screening.relations import Columns, Relation
from causalcontext.screening.settings import (
    FEWEST_ROWS_OF_A_LEVEL_LINE,
    FEWEST_ROWS_OF_A_RELATION,
    LARGEST_ROUNDING_OF_A_LEVEL_LINE,
    LARGEST_TRACE,
    LEAST_SHARE_OF_LEVEL_LINES,
    MOST_COLUMNS_OF_SMOOTH_FUNCTIONS,
    MOST_CONTEXTS_ONE_BY_ONE,
    MOST_LEVELS_OF_LINES,
    MOST_TERMS_WRITTEN,
    SLACK_OF_HALF_A_STEP,
    SPARE_ROWS_OF_A_REGRESSION,
)


def relations_in_every_context(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that are exact linear functions of other numbers in every context.

    Each context is searched by itself as `linear_relations` searches the table, for exact relations
    alone, and a number must be a function in all of them. There must be rows to spare in the
    smallest: one for every number, and those of a relation. With more than
    `MOST_CONTEXTS_ONE_BY_ONE` contexts none is looked for.
    """
    places = np.flatnonzero(columns.is_context)
    if not places.size:
        return []
    known = np.isfinite(columns.values[places]).all(axis=0)
    contexts, context_of_row = np.unique(
        columns.values[places][:, known], axis=1, return_inverse=True
    )
    rows = [
        np.flatnonzero(known)[context_of_row.ravel() == context]
        for context in range(contexts.shape[1])
    ]
    enough = FEWEST_ROWS_OF_A_RELATION + SPARE_ROWS_OF_A_REGRESSION + int(columns.is_number.sum())
    if (
        not 1 < len(rows) <= MOST_CONTEXTS_ONE_BY_ONE
        or min(len(rows_inside) for rows_inside in rows) < enough
    ):
        return []
    others = gone | set(np.flatnonzero(~columns.is_number).tolist())
    by_context: list[dict[int, Relation]] = []
    shared: set[int] | None = None
    for rows_inside in rows:
        inside = replace(columns, values=np.ascontiguousarray(columns.values[:, rows_inside]))
        relations = linear_relations(inside, others, logs=False, closely=True)
        by_value = {relation.value: relation for relation in relations}
        by_context.append(by_value)
        shared = set(by_value) if shared is None else shared & set(by_value)
        if not shared:
            return []
    return [
        _joined(columns, [by_value[value] for by_value in by_context], rows)
        for value in sorted(shared or ())
    ]


def lines_in_every_level(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that are straight lines of another number within every level of a category or
    of a number of few values: an amount for each of a count, a score within each class.

    Levels with fewer than `FEWEST_ROWS_OF_A_LEVEL_LINE` rows say nothing, and all others with
    `LEAST_SHARE_OF_LEVEL_LINES` of the rows together must agree: what is left over in each of them
    is a trace of noise or the rounding of both numbers; a number that is constant in
    some of them, as a product with a flag is, is a line there. Lines that are the same in all
    levels are the matter of other searches.
    """
    numbers = [j for j in columns.numbers(gone) if is_fine(columns.values[j])]
    if len(numbers) < 2 or len(numbers) > MOST_COLUMNS_OF_SMOOTH_FUNCTIONS:
        return []
    relations = []
    for group in range(len(columns.names)):
        if group in gone or group in numbers or columns.is_context[group]:
            continue
        known = np.isfinite(columns.values[[group, *numbers]]).all(axis=0)
        levels, level_of_row = np.unique(columns.values[group][known], return_inverse=True)
        if not 1 < len(levels) <= MOST_LEVELS_OF_LINES:
            continue
        table = columns.values[numbers][:, known]
        steps = columns.steps[numbers]
        pairs = set(_pairs_of_lines(table, level_of_row, steps))
        for value, of in sorted(pairs):
            both = (of, value) in pairs
            if columns.may_go[numbers[value]] and not (both and value > of):
                relations.append(_line_by_level(columns, numbers[value], numbers[of], group, both))
    return relations


def _pairs_of_lines(table: Floats, level_of_row: Ints, steps: Floats) -> list[tuple[int, int]]:
    """The pairs (value, of) of rows of a table, shape (columns, rows), of which the first is a line
    of the second within every level, but not in all rows; `steps` are those of their grids.
    """
    count = len(table)
    agree = np.ones((count, count), dtype=bool)
    asked = 0
    sizes = np.bincount(level_of_row)
    for level in np.argsort(-sizes, kind="stable").tolist():
        if sizes[level] < FEWEST_ROWS_OF_A_LEVEL_LINE:
            break
        inside = table[:, level_of_row == level]
        agree &= _beyond_lines(inside) < _trace_or_rounding(inside, steps)
        asked += int(sizes[level])
        np.fill_diagonal(agree, False)
        if not agree.any():
            return []
    if asked < LEAST_SHARE_OF_LEVEL_LINES * len(level_of_row):
        return []
    agree &= _beyond_lines(table) > _trace_or_rounding(table, steps)
    return [(value, of) for value, of in np.argwhere(agree).tolist()]


def _trace_or_rounding(table: Floats, steps: Floats) -> Floats:
    """What a line may leave over, in standard deviations, shape (columns, columns).

    Rounding of two columns to steps h and g leaves sqrt((h² / s² + g² / t²) / 12), s and t being
    their standard deviations; it counts up to `LARGEST_ROUNDING_OF_A_LEVEL_LINE`.
    """
    squares = (steps / np.maximum(table.std(axis=1), 1e-300)) ** 2 / 12.0
    rounding = SLACK_OF_HALF_A_STEP * np.sqrt(squares[:, None] + squares)
    counted = np.minimum(rounding, LARGEST_ROUNDING_OF_A_LEVEL_LINE)
    return np.asarray(np.maximum(LARGEST_TRACE, counted))


def _beyond_lines(table: Floats) -> Floats:
    """What is left of every column (rows) beside a line of every other one (columns), in standard
    deviations, shape (columns, columns): sqrt(1 - r²), 0 for a constant, 1 beside one.
    """
    centred = table - table.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    constant = np.ptp(table, axis=1) == 0.0  # whatever offset a column has
    centred /= np.maximum(length, 1e-300)
    squares = np.clip((centred @ centred.T) ** 2, 0.0, 1.0)
    squares[:, constant] = 0.0
    squares[constant] = 1.0
    return np.asarray(np.sqrt(1.0 - squares))


def _line_by_level(columns: Columns, value: int, of: int, group: int, both_ways: bool) -> Relation:
    """The relation of a number that is a line of another one within every level of a column.

    With `both_ways` the other one is a line of the number as well, and may go in its place. The
    slope of every row is that of its level, the ratio of the standard deviations there.
    """
    names = columns.names
    words = {value: f"is a linear function of {names[of]} within every value of {names[group]}"}
    if not both_ways:
        return Relation(value, (of, group), words)
    words[of] = f"is a linear function of {names[value]} within every value of {names[group]}"
    slopes = np.full(columns.values.shape[1], np.nan)
    codes = columns.values[group]
    for level in np.unique(codes[np.isfinite(codes)]):
        rows = codes == level
        spreads = [float(np.nanstd(columns.values[column][rows])) for column in (value, of)]
        if min(spreads) > 0.0:
            slopes[rows] = np.log(spreads[0] / spreads[1])
    return Relation(value, (of, group), words, {of: slopes})


def _joined(columns: Columns, relations: list[Relation], rows: list[np.ndarray]) -> Relation:
    """One relation of those that hold in every context.

    Its parts are those of any context. A column may be left out in place of the value where every
    context has words for it; its slopes, shape (rows,), are those of the context of each row.
    """
    parts = tuple(sorted({part for relation in relations for part in relation.parts}))
    value = relations[0].value
    words = dict[int, str]()
    slopes = dict[int, Floats]()
    contexts = listed(
        [columns.names[context] for context in np.flatnonzero(columns.is_context).tolist()]
    )
    for column in (value, *parts):
        if not all(column in relation.words for relation in relations):
            continue
        others = sorted(columns.names[other] for other in (value, *parts) if other != column)
        listing = listed(others, MOST_TERMS_WRITTEN, "column")
        words[column] = f"is a linear function of {listing} within every value of {contexts}"
        if column != value:
            slopes[column] = np.full(columns.values.shape[1], np.nan)
            for relation, rows_inside in zip(relations, rows, strict=True):
                slopes[column][rows_inside] = relation.slopes[column]
    return Relation(value, parts, words, slopes)
