"""`rcot`: random features of x and y, freed of Z by regression, are uncorrelated if x and y are
independent given Z.

Strobl, Zhang and Visweswaran (2019), "Approximate kernel-based conditional independence tests for
fast non-parametric causal discovery". Its cost grows with the rows, not with their square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from causalcontext.ci_tests.protocol import Strength
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable, untestable
from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.views import Reason

FEWEST_ROWS = 30
ROWS_PER_FEATURE = 8
"""Small tables get fewer features of Z than asked for: at most one for that many rows."""
LEAST_ROOM = 2
"""Numbers act separately in every combination of codes if there is room for them and that many
features more.
"""
_ROWS_FOR_WIDTH = 250
_RIDGE = 1e-8
_VANISHED = 1e-8


@dataclass(frozen=True)
class Rcot(RowTest):
    """The randomized conditional correlation test, for any columns.

    Numbers are standardised, with the longer tail on the right; features are cos(w z + b) with
    Gaussian w of the width that the median distance of rows gives (of at most 250, drawn by the
    seed), b uniform, standardised again. Codes are one-hot, every level kept, so that no level is
    singled out. The regression on Z is a ridge regression (penalty 1e-8 of the largest eigenvalue:
    only numerical) on the features of Z, and on its numbers themselves, which the original leaves
    out. With codes in Z, every combination of codes has a regression of its own, of fewer features
    (one for every 8 rows of a combination, on average), or, if that leaves no room for them, codes
    only shift the mean.

    The statistic is n times the sum of squared covariances of the residuals. Under independence it
    is a weighted sum of chi-squared variables whose weights are the eigenvalues of the covariance C
    of the products of residuals; the p-value matches its first three cumulants (Hall 1983, Buckley
    and Eagleson 1988). C is divided by n minus the degrees of freedom that the regression spent,
    without which small samples reject too often.
    """

    seed: int = 0
    features: int = 5  # random Fourier features of x, and of y, where these are numbers
    features_given: int = 25  # of the numbers among the conditions, all together
    strength: ClassVar[Strength] = Strength.NONE
    model_free: ClassVar[bool] = True
    name: str = field(default="rcot", init=False, repr=False)

    def __post_init__(self) -> None:
        if self.features < 1 or self.features_given < 1:
            raise OptionError(
                f"features is {self.features!r} and features_given {self.features_given!r}, "
                "expected at least 1 of each"
            )

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The statistic n ||cov||², and its p-value."""
        rows = x.values.size
        if rows < FEWEST_ROWS:
            return untestable(Reason.FEW_ROWS)
        most = min(self.features_given, rows // ROWS_PER_FEATURE)
        basis = ridge_basis(features_of_conditions(given, most, random, rows))
        spent = 1.0 + (basis**2).sum()
        if rows - spent < FEWEST_ROWS // 2:
            return untestable(Reason.FEW_ROWS)
        sides = [
            (
                fourier_features(_upright(variable.values)[:, np.newaxis], self.features, random)
                if variable.is_number
                else _centred(_one_hot(variable.codes))
            )
            for variable in (x, y)
        ]
        residuals = [side - basis @ (basis.T @ side) for side in sides]
        if any(
            (rest**2).sum() <= _VANISHED * (side**2).sum()
            for rest, side in zip(residuals, sides, strict=True)
        ):
            return untestable(Reason.COLLINEAR)
        left, right = residuals
        statistic = float(((left.T @ right) ** 2).sum() / rows)
        products = (left[:, :, np.newaxis] * right[:, np.newaxis, :]).reshape(rows, -1)
        wide = products.shape[1] > rows
        covariance = (products @ products.T if wide else products.T @ products) / (rows - spent)
        squared = covariance @ covariance
        traces = (
            float(np.trace(covariance)),
            float(np.trace(squared)),
            float((covariance * squared).sum()),
        )
        cumulants = (
            traces[0],
            2.0 * traces[1],
            8.0 * traces[2],
        )  # of the statistic under independence
        return Comparison(statistic, np.nan, weighted_chi2_upper(statistic, cumulants))


def features_of_conditions(
    given: Sequence[Variable], most: int, random: np.random.Generator, rows: int
) -> Floats:
    """What x and y are regressed on, centred; shape (rows, features), nothing if nothing is
    given.
    """
    if not given:
        return np.empty((rows, 0))
    numbers = np.array([_upright(z.values) for z in given if z.is_number]).reshape(-1, rows).T
    codes = [z.codes for z in given if not z.is_number]
    cells = (
        np.unique(codes, axis=1, return_inverse=True)[1].ravel()
        if codes
        else np.zeros(rows, np.intp)
    )
    room = min(most, rows // (ROWS_PER_FEATURE * int(cells.max() + 1)))
    if room >= LEAST_ROOM + numbers.shape[1]:
        each = np.column_stack([np.ones(rows), numbers, fourier_features(numbers, room, random)])
        return _centred(np.column_stack([each * cell[:, np.newaxis] for cell in _one_hot(cells).T]))
    return _centred(
        np.column_stack([numbers, fourier_features(numbers, most, random), *map(_one_hot, codes)])
    )


def fourier_features(numbers: Floats, count: int, random: np.random.Generator) -> Floats:
    """`count` random cosines of the rows of `numbers`, standardised, none without numbers; shape
    (rows, count).
    """
    if numbers.shape[1] == 0:
        return numbers
    directions = random.standard_normal((numbers.shape[1], count))
    shifts = random.uniform(0.0, 2.0 * np.pi, count)
    waves = np.cos(numbers @ directions / median_distance(numbers, random) + shifts)
    return np.column_stack([_standardised(wave) for wave in waves.T])


def median_distance(numbers: Floats, random: np.random.Generator) -> float:
    """The median Euclidean distance of two different rows; of 250 of them, drawn at random, if
    there are more.
    """
    if len(numbers) > _ROWS_FOR_WIDTH:
        numbers = numbers[random.choice(len(numbers), _ROWS_FOR_WIDTH, replace=False)]
    squared = sum(np.subtract.outer(column, column) ** 2 for column in numbers.T)
    apart = np.asarray(squared)[np.triu_indices(len(numbers), 1)]
    apart = apart[apart > 0.0]
    return float(np.sqrt(np.median(apart))) if apart.size else 1.0


def ridge_basis(design: Floats) -> Floats:
    """Columns b such that v - b b'v is what a ridge regression on the design leaves of v, and b b'
    has trace df.
    """
    if design.shape[1] == 0:
        return design
    weights, directions = np.linalg.eigh(design.T @ design)
    return np.asarray(
        design @ (directions / np.sqrt(np.maximum(weights, 0.0) + _RIDGE * weights[-1]))
    )


def weighted_chi2_upper(statistic: float, cumulants: tuple[float, float, float]) -> float:
    """P(Q > statistic) for a weighted sum of chi-squared variables with these first three
    cumulants.
    """
    mean, variance, third = cumulants
    df = 8.0 * variance**3 / third**2
    return float(
        scipy.special.chdtrc(df, max(df + np.sqrt(2.0 * df / variance) * (statistic - mean), 0.0))
    )


def _one_hot(codes: Ints | NDArray[np.intp]) -> Floats:
    return np.asarray(codes[:, np.newaxis] == np.arange(codes.max() + 1), dtype=np.float64)


def _centred(columns: Floats) -> Floats:
    return np.asarray(columns - columns.mean(axis=0))


def _upright(values: Floats) -> Floats:
    """Mean 0, variance 1, and the longer tail on the right: features then do not depend on the sign
    of a column.
    """
    scaled = _standardised(values)
    return scaled if (scaled**3).sum() >= 0.0 else -scaled


def _standardised(values: Floats) -> Floats:
    """Mean 0 and variance 1; zeros if the values are constant."""
    centred = values - values.mean()
    spread = centred.std()
    return np.asarray(
        centred / spread if spread > 1e-12 * np.abs(values).max() else np.zeros_like(centred)
    )
