"""Numbers that know how they move with the parameters they were computed from, so that they know
their error.

A coefficient, a product along a path, a total effect, a mean under an intervention and the
difference of two of these are all functions of parameters that were estimated in blocks: one block
for every mechanism. The noises of different mechanisms are independent, so are the errors of their
blocks, and the variance of a function is the sum of what the blocks contribute (the delta method).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy

from causalcontext.kernels.arrays import Floats

ROUNDING = 1e-13
"""A sum that is smaller than this share of its terms is 0."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """A block of parameters that were estimated together."""

    covariance: Floats  # shape (parameters, parameters)
    df: float  # rows that are left after the parameters


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number, and its derivatives by the parameters of every block.

    Examples
    --------
    >>> block = Parameters(np.diag([0.01, 0.04]), df=100)
    >>> slope = Estimate(1.5, {block: np.array([0.0, 1.0])})
    >>> twice = slope.scaled(2.0)
    >>> twice.value, round(twice.error, 3), (twice - slope - slope).error
    (3.0, 0.4, 0.0)
    """

    value: float
    gradient: Mapping[Parameters, Floats] = field(default_factory=dict)

    def __add__(self, other: Estimate) -> Estimate:
        return total((self, other))

    def __sub__(self, other: Estimate) -> Estimate:
        return total((self, other.scaled(-1.0)))

    def scaled(self, factor: float) -> Estimate:
        """The number times a constant."""
        return Estimate(
            self.value * factor, {block: factor * part for block, part in self.gradient.items()}
        )

    @cached_property
    def _variances(self) -> tuple[tuple[float, float], ...]:
        """What every block contributes to the variance, and its degrees of freedom."""
        parts = (
            (float(part @ block.covariance @ part), block.df)
            for block, part in self.gradient.items()
        )
        return tuple((max(variance, 0.0), df) for variance, df in parts)

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.sqrt(sum(variance for variance, _ in self._variances)))

    @property
    def df(self) -> float:
        """Degrees of freedom of the error (Welch and Satterthwaite)."""
        spread = sum(variance**2 / df for variance, df in self._variances)
        return float(self.error**4 / spread) if spread > 0.0 else np.inf

    def interval(self, level: float) -> tuple[float, float]:
        """Where the true number lies with a probability of `level`, over repeated tables."""
        if self.error == 0.0:
            return self.value, self.value
        reach = -float(quantile(self.df, (1.0 - level) / 2.0)) * self.error
        return self.value - reach, self.value + reach

    @property
    def p(self) -> float:
        """The p-value of "the number is 0"; NaN where it has no error."""
        if self.error == 0.0:
            return np.nan
        return float(2.0 * tail(self.df, -abs(self.value) / self.error))


def total(parts: Iterable[Estimate]) -> Estimate:
    """The sum of several numbers; what cancels but for rounding is exactly 0."""
    found = list(parts)
    by_block: dict[Parameters, list[Floats]] = {}
    for part in found:
        for block, derivative in part.gradient.items():
            by_block.setdefault(block, []).append(derivative)
    gradient = {block: derivatives[0] for block, derivatives in by_block.items()}
    for block, rows in ((block, np.array(own)) for block, own in by_block.items() if len(own) > 1):
        added: Floats = rows.sum(axis=0)
        gradient[block] = np.where(np.abs(added) <= ROUNDING * np.abs(rows).sum(axis=0), 0.0, added)
    value, size = sum(part.value for part in found), sum(abs(part.value) for part in found)
    return Estimate(
        0.0 if abs(value) <= ROUNDING * size else float(value),
        {block: part for block, part in gradient.items() if part.any()},
    )


def quantile(df: float, probability: float) -> float:
    """The quantile of Student's t; of the normal distribution without a limit to the degrees of
    freedom.
    """
    return float(
        scipy.special.ndtri(probability) if np.isinf(df) else scipy.special.stdtrit(df, probability)
    )


def tail(df: float, value: float) -> float:
    """The probability below a value, by the same distributions."""
    return float(scipy.special.ndtr(value) if np.isinf(df) else scipy.special.stdtr(df, value))
