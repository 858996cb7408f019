"""Is a number an amount: positive, strongly skewed, and near normal as a logarithm?

Incomes, doses and concentrations are. Their mechanisms are lines in the logarithm, and bent in
their own units.
"""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Floats

FEWEST_ROWS_OF_AN_AMOUNT = 100
"""Rows before the shape of an amount is told (rows). Chosen, not measured."""

LEAST_SKEWNESS_OF_AN_AMOUNT = 1.3
"""The least skewness of an amount (no unit). Exponential and gamma noise of shape 2 have 2 and 1.4
beside -1.1 and -0.8 of their logarithms and stay outside by the next two; lognormal amounts have 6
beside 0."""

LARGEST_SKEWNESS_LEFT_BY_A_LOGARITHM = 0.2
"""The skewness of the logarithm by that of the amount (a ratio)."""

LARGEST_SKEWNESS_OF_A_LOGARITHM = 0.7
"""The skewness of the logarithm by itself (no unit)."""

LARGEST_KURTOSIS_OF_A_LOGARITHM = 2.0
"""The excess kurtosis of the logarithm (no unit). Chosen, not measured."""

LEAST_RATIO_OF_AMOUNTS = 20.0
"""The largest amount by the smallest one (a ratio). Chosen, not measured."""


def is_amount(values: Floats) -> bool:
    """True if positive numbers, shape (rows,), are strongly skewed and their logarithms hardly.

    The skewness g is the third moment in standard units. It must be above
    `LEAST_SKEWNESS_OF_AN_AMOUNT`, and that of the logarithm below `LARGEST_SKEWNESS_OF_A_LOGARITHM`
    and a share of g.

    >>> quantiles = np.linspace(-2.5, 2.5, 201)
    >>> is_amount(np.exp(quantiles)), is_amount(5.0 + quantiles)
    (True, False)
    """
    if len(values) < FEWEST_ROWS_OF_AN_AMOUNT:
        return False
    low = float(values.min())
    if low <= 0.0 or float(values.max()) < LEAST_RATIO_OF_AMOUNTS * low:
        return False
    skewness = _moment(values, 3)
    if skewness <= LEAST_SKEWNESS_OF_AN_AMOUNT:
        return False
    logarithms = np.log(values)
    most = min(LARGEST_SKEWNESS_LEFT_BY_A_LOGARITHM * skewness, LARGEST_SKEWNESS_OF_A_LOGARITHM)
    excess_kurtosis = _moment(logarithms, 4) - 3.0
    return (
        abs(_moment(logarithms, 3)) < most
        and abs(excess_kurtosis) < LARGEST_KURTOSIS_OF_A_LOGARITHM
    )


def _moment(values: Floats, order: int) -> float:
    """The mean of a power of the values in standard units: 3 for skewness, 4 for kurtosis."""
    deviation = float(values.std())
    return (
        float(np.mean(((values - values.mean()) / deviation) ** order)) if deviation > 0.0 else 0.0
    )
