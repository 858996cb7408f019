"""Levels that are steps of several numbers: "high risk" where two are above limits, the leaf of a
tree, a cluster, a threshold of a score.

Every level but one fills a box of two numbers that holds no row of another level, or a plane in all
numbers parts any two levels. Where a cause makes a level likelier only, rows of others lie between;
where a cause of few levels parts its effects, there are no rows near the borders.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import scipy

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.screening.bends import is_fine, standard
from causalcontext.screening.relations import Columns, Relation, complete
from causalcontext.screening.settings import (
    FEWEST_ROWS_AT_A_BORDER,
    FEWEST_ROWS_OF_STEPS,
    FEWEST_ROWS_OF_THE_RAREST,
    LEAST_NATS_OF_A_FUNCTION,
    LEAST_SHARE_RIGHT_OF_A_PLANE,
    MOST_LEVELS_OF_STEPS,
    MOST_NUMBERS_OF_A_PLANE,
    MOST_NUMBERS_OF_STEPS,
    MOST_ROWS_OF_STEPS,
    MOST_TERMS_WRITTEN,
    RIDGE_OF_A_PLANE,
    ROWS_AT_A_BORDER_BY_ROOT,
    STEPS_TO_A_PLANE,
)


def step_relations(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The columns of few levels that two numbers determine by boxes, or several by planes.

    Columns in `gone`, contexts and columns that may not be left out are not asked. A relation has
    no slopes: a level is never put in place of a number.
    """
    numbers = [j for j in columns.numbers(gone) if is_fine(columns.values[j])]
    if not 1 < len(numbers) <= MOST_NUMBERS_OF_STEPS:
        return []
    relations = []
    for column in range(len(columns.names)):
        is_open = columns.may_go[column] and not columns.is_context[column]
        if column in gone or column in numbers or not is_open:
            continue
        parts = tuple(numbers[part] for part in _parting_numbers(columns, column, numbers))
        if parts:
            names = sorted(columns.names[part] for part in parts)
            words = {column: f"is a group by {listed(names, MOST_TERMS_WRITTEN, 'column')}"}
            relations.append(Relation(column, parts, words))
    return relations


def _parting_numbers(columns: Columns, column: int, numbers: list[int]) -> tuple[int, ...]:
    """The numbers by which the levels of a column are boxes or parted by planes, as positions in
    `numbers`; empty without any.
    """
    rows = complete(columns.values, [column, *numbers])
    rows = rows[:, :: max(1, -(-rows.shape[1] // MOST_ROWS_OF_STEPS))]
    if rows.shape[1] < FEWEST_ROWS_OF_STEPS:
        return ()
    levels, codes, counts = np.unique(rows[0], return_inverse=True, return_counts=True)
    are_few = 1 < len(levels) <= MOST_LEVELS_OF_STEPS
    if not are_few or counts.min() < FEWEST_ROWS_OF_THE_RAREST:
        return ()
    table = rows[1:]
    parts = _boxes(table, codes, counts, _ways(counts)) or _planes(table, codes, counts)
    return parts if parts and _touch(table[list(parts)], codes) else ()


def _touch(rows: Floats, codes: Ints) -> bool:
    """True if levels border on each other: the nearest row often has another level.

    `rows` has shape (numbers, rows), `codes` the level of every row. A cause of few levels may part
    its effects without an error, in heaps with nothing between.
    """
    points = standard(rows).T
    near = scipy.spatial.cKDTree(points).query(points, k=2)[1]
    nearest = np.where(near[:, 0] == np.arange(len(points)), near[:, 1], near[:, 0])
    other = int(np.count_nonzero(codes[nearest] != codes))
    return other >= max(FEWEST_ROWS_AT_A_BORDER, ROWS_AT_A_BORDER_BY_ROOT * math.sqrt(len(points)))


def _ways(counts: Ints) -> float:
    """The logarithm of the number of ways to give rows these levels, n! / prod m! for n rows of
    which m have each level.
    """
    return float(scipy.special.gammaln(counts.sum() + 1) - scipy.special.gammaln(counts + 1).sum())


def _boxes(rows: Floats, codes: Ints, counts: Ints, ways: float) -> tuple[int, ...]:
    """The two numbers in whose plane every level but one fills a box of its own, and none of which
    does that alone; empty without any.

    `rows` has shape (numbers, rows), `codes` the level of every row, `counts` the rows of every
    level, and `ways` the nats of all arrangements. Of these some are boxes by chance: four borders
    for each level but one, each at any row, and any two numbers.
    """
    number = len(rows)
    boxed = np.zeros((number, number), dtype=np.int64)
    for level in range(len(counts)):
        in_level = codes == level
        low = rows[:, in_level].min(axis=1, keepdims=True)
        high = rows[:, in_level].max(axis=1, keepdims=True)
        inside = ((rows[:, ~in_level] >= low) & (rows[:, ~in_level] <= high)).astype(np.float32)
        boxed += inside @ inside.T == 0.0
    bounds = 4.0 * (len(counts) - 1) * np.log(rows.shape[1]) + 2.0 * np.log(number)
    if ways - bounds < LEAST_NATS_OF_A_FUNCTION:
        return ()
    parting = boxed >= len(counts) - 1
    both = ~np.diagonal(parting)
    possible = np.argwhere(np.triu(parting & np.outer(both, both), 1))
    return tuple(possible[0].tolist()) if len(possible) else ()


def _planes(rows: Floats, codes: Ints, counts: Ints) -> tuple[int, ...]:
    """The numbers, as few as it takes, in which a plane parts any two levels; empty without any.

    A glance asks the plane of least squares; then numbers are left out one by one as long as a
    plane still parts the levels.
    """
    table = standard(rows)
    if not _parted(table, codes, counts, glance=True):
        return ()
    chosen = list(range(len(table)))
    if not _parted(table, codes, counts):
        return ()
    for candidate in range(len(table)):
        fewer = [k for k in chosen if k != candidate]
        if fewer and _parted(table[fewer], codes, counts):
            chosen = fewer
    return tuple(chosen) if 1 < len(chosen) <= MOST_NUMBERS_OF_A_PLANE else ()


def _parted(table: Floats, codes: Ints, counts: Ints, glance: bool = False) -> bool:
    """True if a plane parts any two levels, more clearly than by chance.

    `table` has shape (numbers, rows) in standard units. A plane of p coefficients has about n^p
    ways to part n rows. In a glance the plane of least squares must get
    `LEAST_SHARE_RIGHT_OF_A_PLANE` right.
    """
    for first, second in combinations(range(len(counts)), 2):
        few = np.flatnonzero((codes == first) | (codes == second))
        design = np.vstack([np.ones(len(few)), table[:, few]]).T
        side = np.where(codes[few] == first, 1.0, -1.0)
        clear = (
            _ways(counts[[first, second]]) - len(design.T) * np.log(len(few))
            > LEAST_NATS_OF_A_FUNCTION
        )
        if glance:
            fitted = design @ np.linalg.lstsq(design, side, rcond=None)[0]
            if not clear or np.mean(fitted * side > 0.0) < LEAST_SHARE_RIGHT_OF_A_PLANE:
                return False
        elif not (clear and _plane_parts(design, side)):
            return False
    return True


def _plane_parts(design: Floats, side: Floats) -> bool:
    """True if logistic regression, which runs towards a parting plane, comes to one.

    `design` has shape (rows, coefficients), `side` is 1 or -1. Newton's steps end as soon as every
    row is on its side.
    """
    weights = np.zeros(design.shape[1])
    for _ in range(STEPS_TO_A_PLANE):
        fitted = design @ weights
        if (fitted * side > 0.0).all():
            return True
        probability = scipy.special.expit(fitted)
        spread = probability * (1.0 - probability) + RIDGE_OF_A_PLANE
        gradient = design.T @ ((side > 0.0) - probability) - RIDGE_OF_A_PLANE * weights
        curvature = (design.T * spread) @ design + RIDGE_OF_A_PLANE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, gradient)
    return bool(((design @ weights) * side > 0.0).all())
