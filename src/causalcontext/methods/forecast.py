"""The seconds that score-ac will take, forecast by counted operations: the same table has the same
forecast anywhere.

Four sums: passes over the rows, climbs over orders, which grow with columns and contexts, fits of
categories, and curves where the table has some. `benchmarks/forecast.py` prints forecasts beside
seconds that were measured.
"""

from __future__ import annotations

import numpy as np

from causalcontext.data.coarse import few_valued
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.kernels.arrays import Floats
from causalcontext.methods.settings import (
    BENT_ERRORS,
    CONTEXT_POWER,
    LEAST_SECONDS,
    MOST_PARTNERS,
    ROWS_FOR_CURVES,
    SECONDS_PER_CURVE,
    SECONDS_PER_LOGIT,
    SECONDS_PER_PAIR,
    SECONDS_PER_VALUE,
    SECONDS_PER_WIDE_PAIR,
)
from causalcontext.score.options import MOST_CURVED_VARIABLES


def forecast(data: Dataset) -> float:
    """The seconds that score-ac takes for a table, within a factor of about 3.

    Noise with an uneven spread, which only the residuals show, may add up to half a minute.
    """
    rows = data.n_rows
    columns = len(data.system)
    contexts = len(data.contexts.cells)
    climbs = (
        SECONDS_PER_PAIR * columns * min(columns, MOST_PARTNERS)
        + SECONDS_PER_WIDE_PAIR * columns**2
    ) * contexts**CONTEXT_POWER
    values = rows * columns * np.sqrt(contexts)
    seconds = (
        LEAST_SECONDS
        + climbs
        + SECONDS_PER_VALUE * values
        + SECONDS_PER_LOGIT * rows * columns * _squared_levels(data)
    )
    if columns <= MOST_CURVED_VARIABLES and has_curves(data):
        seconds += climbs + SECONDS_PER_CURVE * rows * columns**2 * contexts
    return float(seconds)


def has_curves(data: Dataset) -> bool:
    """True where the square or the cube of some number goes with another column more than chance
    allows.

    The rows are those of the largest context: slopes that differ between contexts look like a bend.
    """
    complete = complete_rows(data)
    counts = np.bincount(data.codes[complete], minlength=1)
    rows = np.flatnonzero(complete & (data.codes == counts.argmax()))
    rows = rows[:: max(1, -(-len(rows) // ROWS_FOR_CURVES))]
    numbers = [column for column in data.system if data.kinds[column].is_number]
    if len(rows) < 10 or len(numbers) < 2:
        return False
    z = _in_standard_units(
        np.array([np.asarray(data.columns[column])[rows] for column in numbers], dtype=np.float64)
    )
    line = z @ z.T / z.shape[1]
    for power in (2, 3):
        # what of a power is no line of the column itself, and its correlations with the others
        # beside that line
        curve = z**power - (z**power).mean(axis=1, keepdims=True)
        curve = _in_standard_units(curve - (curve * z).mean(axis=1, keepdims=True) * z)
        left = np.sqrt(np.maximum(1.0 - line**2, 1e-9))
        correlation = np.abs(curve @ z.T / z.shape[1]) / left
        np.fill_diagonal(correlation, 0.0)
        if correlation.max() > BENT_ERRORS / np.sqrt(z.shape[1]):
            return True
    return False


def _in_standard_units(columns: Floats) -> Floats:
    """Columns with mean 0 and variance 1, in rows of a matrix; constant ones are 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        # such columns are refused, in words, where they are read
        away = columns - columns.mean(axis=1, keepdims=True)
        spread = away.std(axis=1, keepdims=True)
    usable = np.isfinite(spread) & (spread > 0.0)
    return np.asarray(np.divide(away, spread, out=np.zeros_like(away), where=usable))


def _squared_levels(data: Dataset) -> float:
    """The sum of squared numbers of levels, of categories and of numbers that are searched as
    levels.
    """
    levels = [len(data.categories[column]) for column in data.system if column in data.categories]
    levels += [len(few.values) for few in few_valued(data) if few.kind is not Kind.CONTINUOUS]
    return float(np.sum(np.square(levels))) if levels else 0.0
