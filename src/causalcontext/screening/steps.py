"""Levels that are steps of several numbers: "high risk" where two are above limits, the leaf of a
tree, a cluster, a threshold of a score.

Every level but one fills a box of two numbers that holds no row of another level, or a plane in all
numbers parts any two levels. Where a cause makes a level likelier only, rows of others lie between.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import scipy

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.screening.bends import (
    is_fine,
    standard,
)
from causalcontext.screening.relations import (
    Columns,
    Relation,
)
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
    """Columns of few levels that two numbers determine by boxes, or several by planes."""
    numbers = [j for j in columns.numbers(gone) if is_fine(columns.values[j])]
    if not 1 < len(numbers) <= MOST_NUMBERS_OF_STEPS:
        return []
    relations = []
    for column in range(len(columns.names)):
        if column in gone or column in numbers or not columns.may_go[column]:
            continue
        if columns.is_context[column]:
            continue
        rows = columns.values[[column, *numbers]]
        rows = rows[:, np.isfinite(rows).all(axis=0)]
        rows = rows[:, :: max(1, -(-rows.shape[1] // MOST_ROWS_OF_STEPS))]
        if (
            rows.shape[1] < FEWEST_ROWS_OF_STEPS
            or np.unique(rows[0, :MOST_ROWS_OF_STEPS]).size > MOST_LEVELS_OF_STEPS
        ):
            continue
        levels, codes, counts = np.unique(rows[0], return_inverse=True, return_counts=True)
        if not 1 < len(levels) <= MOST_LEVELS_OF_STEPS or counts.min() < FEWEST_ROWS_OF_THE_RAREST:
            continue
        ways = _ways(counts)
        parts = _boxes(rows[1:], codes, counts, ways) or _planes(rows[1:], codes, counts)
        if parts and _touch(rows[1:][list(parts)], codes):
            names = listed(
                sorted(columns.names[numbers[part]] for part in parts), MOST_TERMS_WRITTEN, "column"
            )
            words = {column: f"is a group by {names}"}
            relations.append(Relation(column, tuple(numbers[part] for part in parts), words))
    return relations


def _touch(rows: Floats, codes: Ints) -> bool:
    """Whether levels border on each other: the nearest row often has another level.

    A cause of few levels may part its effects without an error, in heaps with nothing between.
    """
    points = standard(rows).T
    near = scipy.spatial.cKDTree(points).query(points, k=2)[1]
    nearest = np.where(near[:, 0] == np.arange(len(points)), near[:, 1], near[:, 0])
    other = int(np.count_nonzero(codes[nearest] != codes))
    return other >= max(FEWEST_ROWS_AT_A_BORDER, ROWS_AT_A_BORDER_BY_ROOT * math.sqrt(len(points)))


def _ways(counts: Ints) -> float:
    """In nats: how many ways there are to give rows these levels."""
    return float(scipy.special.gammaln(counts.sum() + 1) - scipy.special.gammaln(counts + 1).sum())


def _boxes(rows: Floats, codes: Ints, counts: Ints, ways: float) -> tuple[int, ...]:
    """The two numbers in whose plane every level but one fills a box of its own, and none of which
    does that alone.
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
    """The numbers, as few as it takes, in which a plane parts any two levels."""
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
    """Whether a plane parts any two levels, more clearly than by chance; in a glance the plane of
    least squares nearly does.
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
    """Whether logistic regression, which runs towards a parting plane, finds one."""
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
