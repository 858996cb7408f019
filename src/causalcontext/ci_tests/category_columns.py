"""A category, a number and conditions of any kind as arrays for kernels, whatever the names of the levels are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.ci_tests.rows import Variable
from causalcontext.kernels.arrays import Floats, Ints


def as_arrays(x: Variable, y: Variable, given: Sequence[Variable]) -> tuple[Floats, Floats, Ints, int]:
    """Columns of the conditions, the number, codes of the category and how many there are."""
    category, number = (y, x) if x.is_number else (x, y)
    codes = _ranked(category, number.values)
    columns = [column for z in given for column in _columns(z, number.values)]
    conditions = np.column_stack(columns) if columns else np.empty((number.values.size, 0))
    return np.ascontiguousarray(conditions), number.values, codes, category.levels


def _columns(condition: Variable, number: Floats) -> list[Floats]:
    """The numbers of a condition, or dummies for all of its levels but the most frequent one."""
    if condition.is_number:
        return [condition.values]
    codes = _ranked(condition, number)
    return [(codes == level).astype(np.float64) for level in range(condition.levels - 1)]


def _ranked(category: Variable, number: Floats) -> Ints:
    """Codes in ascending order of rows, then of the mean of the number: no answer depends on the names of levels."""
    codes = category.codes
    rows = np.bincount(codes, minlength=category.levels)
    mean = np.bincount(codes, weights=number, minlength=category.levels) / np.maximum(rows, 1)
    places = np.empty(category.levels, dtype=np.int64)
    places[np.lexsort((mean, rows))] = np.arange(category.levels)
    return places[codes]
