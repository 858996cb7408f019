"""What a test says about itself in the log: its name, and what its statistic means as a strength."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import NamedTuple


class Strength(StrEnum):
    """How a statistic becomes the strength of a dependence, on the scale of a correlation."""

    CORRELATION = "correlation"
    """It is one."""
    INFORMATION = "information"
    """It is a conditional mutual information."""
    RATIO = "ratio"
    """It is twice a difference of log-likelihoods, or grows with the rows as these do."""
    NONE = "none"
    """It has no scale of its own."""


class Label(NamedTuple):
    """The name of a test, and what its statistic means."""

    name: str
    strength: Strength = Strength.RATIO

    def strength_of(self, statistic: float, n: int) -> float:
        """The correlation itself, or that of two Gaussian columns with as much information; NaN for none.

        Examples
        --------
        >>> round(Label("context-change").strength_of(-100 * math.log(1 - 0.3**2), 100), 6)
        0.3
        """
        if self.strength is Strength.CORRELATION:
            return statistic
        if self.strength is Strength.INFORMATION:
            return math.sqrt(-math.expm1(-2.0 * max(statistic, 0.0)))
        return math.nan if self.strength is Strength.NONE else math.sqrt(-math.expm1(-abs(statistic) / max(n, 1)))
