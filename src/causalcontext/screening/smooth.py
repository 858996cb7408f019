"""Smooth functions of two numbers, whatever the surface, and functions of sums with squares.

A ratio of shifted columns, a percentage change, the larger of two, a distance: near a row such a
column is a plane of the two others with a little curvature, and nothing is left over. A predicted
probability is a logistic function of a sum, and a prediction may have squares.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from causalcontext.data.dataset import mean_ranks
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.screening.bends import (
    beyond_surfaces,
    is_fine,
    roughness,
    standard,
    surface_words,
)
from causalcontext.screening.relations import Columns, Relation, complete, log_slopes, some_rows
from causalcontext.screening.settings import (
    EXACT_RESIDUAL,
    FEWEST_ROWS_ASKED_FOR_SMOOTHNESS,
    FEWEST_ROWS_OF_A_BENT_CONTEXT,
    FEWEST_ROWS_OF_A_SMOOTH_FUNCTION,
    LARGEST_MISFIT_OF_A_SMOOTH_GLANCE,
    LARGEST_RESIDUAL_BY_A_PLANE,
    LARGEST_RESIDUAL_OF_A_SMOOTH_FUNCTION,
    LARGEST_TRACE,
    LEAST_TERM_OF_A_SUM_WITH_SQUARES,
    MOST_COLUMNS_OF_SMOOTH_FUNCTIONS,
    MOST_CONTEXTS_ONE_BY_ONE,
    MOST_ROWS_ASKED_FOR_SMOOTHNESS,
    MOST_ROWS_OF_A_SMOOTH_FUNCTION,
    MOST_TERMS_WRITTEN,
    NEIGHBOURS_OF_A_SMOOTH_FUNCTION,
    ROWS_OF_A_SURFACE_GLANCE,
    SHARE_AT_ENDS_OF_A_SURFACE,
    SHARE_OF_SMOOTH_ROWS,
    SPARE_ROWS_OF_A_REGRESSION,
)


def smooth_relations(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that are smooth functions of two others, those that bend.

    Surfaces of every two numbers are held against all others in a glance, where much may be left
    over. Then rows in the middle of both are asked whether they lie on the surface of their
    neighbours. Of three columns each of which is a function of the others, one relation is enough.
    """
    numbers = [j for j in columns.numbers(gone) if is_fine(columns.values[j])]
    if not 2 < len(numbers) <= MOST_COLUMNS_OF_SMOOTH_FUNCTIONS:
        return []
    rows = complete(columns.values, numbers)
    rows = rows[:, :: max(1, -(-rows.shape[1] // MOST_ROWS_OF_A_SMOOTH_FUNCTION))]
    if rows.shape[1] < FEWEST_ROWS_OF_A_SMOOTH_FUNCTION:
        return []
    table = standard(rows)
    glance = standard(rows[:, :: max(1, rows.shape[1] // ROWS_OF_A_SURFACE_GLANCE)])
    ranks = np.array([mean_ranks(row) for row in rows]) / rows.shape[1]
    relations = list[Relation]()
    taken = set[frozenset[int]]()
    for first in range(len(numbers)):
        others = list(range(first + 1, len(numbers)))
        if not others:
            continue
        left = beyond_surfaces(glance, first, others)
        for misfits, second in zip(left, others, strict=True):
            near = np.flatnonzero(misfits < LARGEST_MISFIT_OF_A_SMOOTH_GLANCE).tolist()
            possible = [
                value
                for value in near
                if value not in (first, second) and frozenset((first, second, value)) not in taken
            ]
            if not possible:
                continue
            smooth = _smooth(table, ranks, first, second, possible)
            for value, slopes in smooth.items():
                triple = frozenset((first, second, value))
                if triple in taken:
                    continue
                taken.add(triple)
                places = (value, first, second)
                relations.append(_relation(columns, table, ranks, numbers, places, slopes))
    return relations


def _smooth(
    table: Floats, ranks: Floats, first: int, second: int, values: list[int]
) -> dict[int, Floats]:
    """The columns that are smooth functions of two, each with its log slopes by these, shape (2,).

    `table` has the columns in standard units and `ranks` their ranks between 0 and 1, both of shape
    (columns, rows); `values` are the columns that are asked. A quadratic surface is fitted to the
    `NEIGHBOURS_OF_A_SMOOTH_FUNCTION` nearest rows of each row asked, near by ranks, and its value
    there held against the row, in units of sqrt(1 + |weights|²), by which noise of each row would
    move the difference. Most rows must be near, and nearer than to the plane of all rows.
    """
    points = ranks[[first, second]].T
    inside = (np.abs(points - 0.5) < 0.5 - SHARE_AT_ENDS_OF_A_SURFACE).all(axis=1)
    asked = np.flatnonzero(inside)
    if len(asked) < FEWEST_ROWS_ASKED_FOR_SMOOTHNESS:
        return {}
    asked = asked[:: max(1, len(asked) // MOST_ROWS_ASKED_FOR_SMOOTHNESS)]
    near = scipy.spatial.cKDTree(points).query(
        points[asked], k=NEIGHBOURS_OF_A_SMOOTH_FUNCTION + 1
    )[1]
    near = _without_oneself(near, asked)
    steps = table[[first, second]][:, near] - table[[first, second]][:, asked, None]
    scale = np.maximum(np.sqrt((steps**2).mean(axis=2, keepdims=True)), 1e-300)
    x, y = steps / scale
    design = np.stack([np.ones_like(x), x, y, x**2, x * y, y**2], axis=2)
    weights = np.linalg.pinv(design)  # shape (asked, terms, neighbours)
    size = np.sqrt(1.0 + (weights[:, 0] ** 2).sum(axis=1))
    plane = np.vstack([np.ones(table.shape[1]), table[[first, second]]]).T
    slopes_by_column = dict[int, Floats]()
    for value in values:
        column = table[value]
        rest = np.sort(np.abs(column[asked] - (weights[:, 0] * column[near]).sum(axis=1)) / size)
        spread = min(1.0, float(column[asked].std()))  # a few rows may be far away
        left = float(np.sqrt((rest[: int(SHARE_OF_SMOOTH_ROWS * len(rest))] ** 2).mean()))
        left = left / max(spread, 1e-300)
        if left > LARGEST_RESIDUAL_OF_A_SMOOTH_FUNCTION:
            continue
        line = np.linalg.lstsq(plane, column, rcond=None)[0]
        if left * spread > LARGEST_RESIDUAL_BY_A_PLANE * float(
            (column - plane @ line)[asked].std()
        ):
            continue
        by_both = np.einsum("akn,an->ka", weights[:, 1:3], column[near]) / scale[:, :, 0]
        slopes_by_column[value] = np.log(np.maximum(np.abs(by_both), 1e-9)).mean(axis=1)
    return slopes_by_column


def _without_oneself(near: Ints, asked: Ints) -> Ints:
    """The nearest rows but the row itself, shape (asked, NEIGHBOURS_OF_A_SMOOTH_FUNCTION).

    Where equal rows hide the row itself, the farthest one goes.
    """
    oneself = near == asked[:, None]
    oneself[~oneself.any(axis=1), -1] = True
    return np.asarray(near[~oneself].reshape(len(asked), NEIGHBOURS_OF_A_SMOOTH_FUNCTION))


def _relation(
    columns: Columns,
    table: Floats,
    ranks: Floats,
    numbers: list[int],
    places: tuple[int, int, int],
    slopes: Floats,
) -> Relation:
    """The relation, with words for every column of the three that is a function of the others.

    `places` are the positions of the value and the two others in `numbers`, the columns of the
    table; `slopes` are the logs of the derivatives in standard units, shape (2,), and are put in
    the units of the columns.
    """
    value, *parts = places
    words = {
        numbers[value]: surface_words(columns, numbers[value], [numbers[part] for part in parts])
    }
    by_part = dict[int, Floats]()
    spread = {position: float(np.nanstd(columns.values[numbers[position]])) for position in places}
    for part, other, slope in zip(parts, reversed(parts), slopes.tolist(), strict=True):
        low, high = sorted((value, other))
        if _smooth(table, ranks, low, high, [part]):
            name = numbers[part]
            words[name] = surface_words(columns, name, [numbers[value], numbers[other]])
            by_part[name] = np.full(
                columns.values.shape[1], slope + np.log(spread[value] / spread[part])
            )
    return Relation(numbers[value], tuple(numbers[part] for part in parts), words, by_part)


def bent_in_every_context(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that in every context are constant or a smooth function of one other, as a column
    times a code of the context is, and a rank within contexts.
    """
    context_columns = np.flatnonzero(columns.is_context).tolist()
    numbers = [j for j in columns.numbers(gone) if is_fine(columns.values[j])]
    if not context_columns or not 1 < len(numbers) <= MOST_COLUMNS_OF_SMOOTH_FUNCTIONS:
        return []
    known = np.isfinite(columns.values[[*context_columns, *numbers]]).all(axis=0)
    contexts, context_of_row = np.unique(
        columns.values[context_columns][:, known], axis=1, return_inverse=True
    )
    count = contexts.shape[1]
    table = columns.values[numbers][:, known]
    inside = [table[:, context_of_row.ravel() == context] for context in range(count)]
    fewest = min((rows.shape[1] for rows in inside), default=0)
    if not 1 < count <= MOST_CONTEXTS_ONE_BY_ONE or fewest < FEWEST_ROWS_OF_A_BENT_CONTEXT:
        return []
    pairs = {(numbers[value], numbers[of]) for value, of in _bent_pairs(inside)}
    clause = "within every value of " + listed([columns.names[j] for j in context_columns])
    relations = []
    for value, of in sorted(pairs):
        both = (of, value) in pairs
        if both and value > of:
            relations.append(_relation_both_ways(columns, value, of, clause))
        elif not both and columns.may_go[value]:
            words = {value: f"is a function of {columns.names[of]} {clause}"}
            relations.append(Relation(value, (of,), words))
    return relations


def _bent_pairs(inside: list[Floats]) -> list[tuple[int, int]]:
    """The pairs (value, of) of rows of a table where in every context the first is constant,
    monotone or smooth in the order of the second.

    `inside` has the table of each context, shape (columns, rows).
    """
    count = inside[0].shape[0]
    possible = np.ones((count, count), dtype=bool)
    for table in inside:
        constant = np.ptp(table, axis=1) == 0.0
        for of in np.flatnonzero(possible.any(axis=0)).tolist():
            if constant[of]:
                possible[:, of] &= constant
                continue
            steps = np.diff(table[:, np.argsort(table[of], kind="stable")], axis=1)
            monotone = (steps >= 0.0).all(axis=1) | (steps <= 0.0).all(axis=1)
            smooth = roughness(table[of], table) < LARGEST_TRACE
            possible[:, of] &= constant | monotone | smooth
    np.fill_diagonal(possible, False)
    return [(value, of) for value, of in np.argwhere(possible).tolist()]


def _relation_both_ways(columns: Columns, value: int, of: int, clause: str) -> Relation:
    """The relation of two numbers that are functions of each other in every context.

    Of the two the only one on a grid was made.
    """
    words = {
        value: f"is a function of {columns.names[of]} {clause}",
        of: f"is a function of {columns.names[value]} {clause}",
    }
    slopes = {of: log_slopes(columns.values[value], columns.values[of])}
    on_grid = [column for column in (value, of) if columns.steps[column] > 0.0]
    made = on_grid[0] if len(on_grid) == 1 else None
    return Relation(value, (of,), words, slopes, made=made)


LINKS: tuple[tuple[str, Callable[[Floats], Bools], Callable[[Floats], Floats]], ...] = (
    ("is a quadratic function of {}", lambda z: np.ones(z.shape, dtype=bool), lambda z: z),
    (
        "is a probability computed of {}",
        lambda z: (z > 0.0) & (z < 1.0),
        lambda z: np.log(z) - np.log1p(-z),
    ),
    ("is an exponential of a sum of {}", lambda z: z > 0.0, np.log),
)
"""Functions of a sum: the words, True where the inverse is defined, and the inverse."""


def sums_with_squares(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that are exact functions of sums with squares, as predictions and probabilities.

    The inverse of each function of `LINKS` is regressed on all other numbers and their squares in
    standard units. Only exact relations count: with so many terms a mechanism may leave a trace.
    """
    numbers = [j for j in columns.numbers(gone) if is_fine(columns.values[j])]
    if not 2 < len(numbers) <= MOST_COLUMNS_OF_SMOOTH_FUNCTIONS:
        return []
    rows = complete(some_rows(columns, MOST_ROWS_OF_A_SMOOTH_FUNCTION), numbers)
    if (
        rows.shape[1]
        < 2 * len(numbers) + FEWEST_ROWS_OF_A_SMOOTH_FUNCTION // 2 + SPARE_ROWS_OF_A_REGRESSION
    ):
        return []
    table = standard(rows)
    terms = np.concatenate([table, standard(table**2)])
    relations = []
    for position, number in enumerate(numbers):
        if not columns.may_go[number]:
            continue
        others = [k for k in range(len(terms)) if k % len(numbers) != position]
        design = np.vstack([np.ones(rows.shape[1]), terms[others]]).T
        basis = np.linalg.qr(design)[0]
        for words, defined, inverse in LINKS:
            if not defined(rows[position]).all():
                continue
            value = standard(inverse(rows[position])[None])[0]
            left = float(((value - basis @ (basis.T @ value)) ** 2).mean())
            if not left < EXACT_RESIDUAL:
                continue
            weights = np.linalg.lstsq(design, value, rcond=None)[0][1:]
            exact = float(((value - design[:, 1:] @ weights) ** 2).mean())
            if exact > (10.0 * EXACT_RESIDUAL) ** 2 + 2.0 * float(value.mean() ** 2):
                continue
            used = [
                others[k] % len(numbers)
                for k in np.flatnonzero(np.abs(weights) > LEAST_TERM_OF_A_SUM_WITH_SQUARES)
            ]
            parts = sorted({numbers[k] for k in used})
            if len(parts) > 1:
                names = listed(
                    sorted(columns.names[part] for part in parts), MOST_TERMS_WRITTEN, "column"
                )
                relations.append(Relation(number, tuple(parts), {number: words.format(names)}))
                break
    return relations
