"""How strong a dependence is, on the scale of a correlation, from the statistic of its test."""

from __future__ import annotations

import math

CORRELATIONS = ("partial-correlation", "fisher-z", "gaussian-ranks")
"""Tests whose statistic is a partial correlation, by the names in the log."""
INFORMATION = ("cmi-knn",)
"""Tests whose statistic is a conditional mutual information."""
DISTANCES = ("rcot", "energy")
"""Tests whose statistic has no scale of its own. All others are likelihood ratios, or grow with n as these do."""


def strength_of(test: str, statistic: float, n: int) -> float:
    """The correlation itself, or the one that two Gaussian columns with as much information would have; NaN for none.

    Examples
    --------
    >>> round(strength_of("context-change", -100 * math.log(1 - 0.3**2), 100), 6)
    0.3
    """
    if test in CORRELATIONS:
        return statistic
    if test in INFORMATION:
        return math.sqrt(-math.expm1(-2.0 * max(statistic, 0.0)))
    return math.nan if test in DISTANCES else math.sqrt(-math.expm1(-abs(statistic) / max(n, 1)))
