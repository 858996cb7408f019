"""What a noise density gains over the Gaussian one: maximum-entropy densities of standardised
residuals.

A density is an exponential family on a grid. Level 1 has the features u, u^2, log cosh u and u
exp(-u^2 / 2), the Gaussian density being the case without the last two; level 2 adds the squares of
hinges at five places. Its support is the line (beyond +-8 every density falls like exp(-|u|), or it
could pile up its mass there) or reaches from the smallest residual to the largest. Only means of
the features enter, so one pass over the residuals is enough for all densities. Each density pays
for its extra parameters at the plain BIC; the best one that pays is taken.

Skewness and kurtosis, then the features' means say beforehand whether a density can pay, by score
tests against the Gaussian density. Laws without a chance are not fitted.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats

REACH = 8.0
POINTS = 129
CROWDING = 2.5
"""The points of the line are denser in the middle, by the hyperbolic sine."""
LOOKED_UP = 161
KNOTS = (-1.5, -0.75, 0.0, 0.75, 1.5)
MANY = 4 + len(KNOTS)
"""The features of level 2, the Gaussian ones included."""


class DensityTable(NamedTuple):
    """What all fits share: features at the points of the grid, their Gaussian means, and two score
    tests.
    """

    line: Floats  # shape (MANY + 2, POINTS): features, places and weights of the line
    lookup: (
        Floats  # shape (2, LOOKED_UP): the features that need an exponential, at equal distances
    )
    expected: Floats  # shape (MANY,): the means under the Gaussian density
    # `few`, `many`: shape (2, 2) and (7, 7): inverse covariances of the features beyond u and u^2,
    # given these, under the Gaussian density
    few: Floats
    many: Floats


def features_at(u: Floats) -> Floats:
    """The features of level 2 at some places, shape (MANY, places)."""
    hinges = [np.maximum(u - knot, 0.0) ** 2 for knot in KNOTS]
    return np.stack(
        [u, u * u, np.logaddexp(u, -u) - math.log(2.0), u * np.exp(-0.5 * u * u), *hinges]
    )


@cache
def density_table() -> DensityTable:
    """The table of all fits."""
    even = np.linspace(-CROWDING, CROWDING, POINTS)
    points = REACH * np.sinh(even) / math.sinh(CROWDING)
    width = REACH * np.cosh(even) / math.sinh(CROWDING) * (even[1] - even[0])
    width[[0, -1]] = 0.5 * width[[0, -1]] + 1.0
    features = features_at(points)
    weight = np.exp(-0.5 * points * points) * width
    weight /= weight.sum()
    expected = features @ weight
    centred = features - expected[:, None]
    spread = (centred * weight) @ centred.T
    left = spread[2:, 2:] - spread[2:, :2] @ np.linalg.solve(spread[:2, :2], spread[:2, 2:])
    line = np.vstack([features, points, width])
    lookup = np.ascontiguousarray(features_at(np.linspace(-REACH, REACH, LOOKED_UP))[2:4])
    return DensityTable(line, lookup, expected, np.linalg.inv(left[:2, :2]), np.linalg.inv(left))


def best_density(residual: Floats, rows: float, density: Floats) -> float:
    """What the best noise density of residuals gains over the Gaussian one, its price paid; 0 if
    none pays.

    The residuals stand for so many rows. `density`, shape (MANY + 5,), is written: the number of
    features (0 for the Gaussian density), the mean and the standard deviation of the residuals,
    lowest and highest place of the support, then coefficients.
    """
    standardised = residual.astype(float)  # a copy, which is overwritten
    return float(_kernels.density_gain(standardised, float(rows), density_table(), density))
