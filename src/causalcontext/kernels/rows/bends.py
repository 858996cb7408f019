"""Bends of one column: kinks, saturations and smooth curves, each by least squares beside given
columns.

Where a context follows x, a bend of x that all rows share looks like a slope of x that changes with
the context. So the one is held against the other. A column is x held between two places,
`min(max(x, low), high)`: with one of them at infinity a kink, with both finite a saturation, with
none x itself; or its square or a squared hinge, above a place or below it. The columns of -x are
those of x, mirrored: which of its two directions a column is measured in says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log
from typing import NamedTuple

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats

FEWEST = 10
"""A kink needs so many rows on either side."""
MOST_ROWS = 4_000
"""Of more rows some, evenly spread, say where places are; what is left is always that of all rows.
"""
KNOTS = (0.2, 0.4, 0.6, 0.8)
"""Quantiles at which squared hinges begin, upwards and downwards."""
NOTHING = 1e-9
"""The share of a column that given ones leave is nothing."""


class Held(NamedTuple):
    """x between two places, or, with a power of 2, the square of x, or of what is above `low` or
    below `high`.
    """

    low: float
    high: float
    power: int = 1

    def cost(self, x: Floats, rows: float, price: float, curves: int) -> float:
        """What the column costs beside its parameter: its places, or the choice of a smooth one
        among so many curves.

        A slope that lives in some contexts is paid by their rows, and so is one that lives between
        places.
        """
        if self.power == 2:
            return log(curves)
        places = int(np.isfinite(self.low)) + int(np.isfinite(self.high))
        inside = np.count_nonzero((x > self.low) & (x < self.high)) if places else len(x)
        return log(rows) * places + price * log(max(inside, 1) / len(x)) / log(rows)

    def values(self, x: Floats) -> Floats:
        """The column."""
        if self.power == 1:
            return np.clip(x, self.low, self.high)
        if self.low > -inf:
            return np.asarray(np.maximum(x - self.low, 0.0) ** 2)
        return np.asarray(x * x if self.high == inf else np.maximum(self.high - x, 0.0) ** 2)


LINE = Held(-inf, inf)


class Bend(NamedTuple):
    """Columns of x, and the sum of squares that they leave beside the given ones."""

    columns: tuple[Held, ...]
    left: float


def bends(x: Floats, y: Floats, given: Floats, smooth: Sequence[Held] | None = None) -> list[Bend]:
    """Straight line, then kinks, a saturation and smooth curves of x, each the best of its kind.

    `given`, shape (rows, columns), are orthonormal columns, the constant one among them; `smooth`
    are the smooth columns of x, where these are known.
    """
    step = max(1, -(-len(x) // MOST_ROWS))
    order = np.argsort(x[::step])
    ordered = x[::step][order]
    if len(order) <= 3 * FEWEST or ordered[FEWEST] >= ordered[-1 - FEWEST]:
        return []
    line = with_column(given, x)
    rows = _lines(line, x, y)
    widths = np.full(2, given.shape[1])
    part_rows, part_order = rows, order
    if step > 1:
        own = [orthonormal(list(basis[::step].T), len(order)) for basis in (given, line)]
        part_rows = _lines(own[1], x[::step], y[::step])
        widths[1] = own[0].shape[1]
        order = np.argsort(x)
    found = np.empty((7, 5))
    places = np.array([column[:2] for column in smooth or smooth_columns(x)], dtype=float)
    count = _kernels.fill_bends(rows, order, part_rows, part_order, widths, places, found)
    return [
        Bend((LINE,) * int(beside) + (Held(low, high, int(power)),), left)
        for beside, low, high, power, left in found[:count].tolist()
    ]


def _lines(basis: Floats, x: Floats, y: Floats) -> Floats:
    """A line for every column of a basis, then x and y: shape (columns + 2, rows)."""
    return np.ascontiguousarray(np.vstack([basis.T, x, y]), dtype=float)


def smooth_columns(x: Floats) -> list[Held]:
    """The square of x, and squared hinges, first those above their places."""
    places = np.quantile(x, KNOTS).tolist()
    return [
        Held(-inf, inf, 2),
        *(Held(at, inf, 2) for at in places),
        *(Held(-inf, at, 2) for at in places),
    ]


def left_by(y: Floats, given: Floats, columns: Sequence[Floats]) -> float:
    """The sum of squares that columns leave beside given ones."""
    for column in columns:
        given = with_column(given, column)
    rest = y - given @ (given.T @ y)
    return float(rest @ rest)


def orthonormal(columns: Sequence[Floats], rows: int) -> Floats:
    """An orthonormal basis of the constant and some columns; what earlier ones explain is left
    out.
    """
    basis = np.full((rows, 1), rows**-0.5)
    for column in columns:
        basis = with_column(basis, column)
    return basis


def with_column(basis: Floats, column: Floats) -> Floats:
    """The basis with one more column, if it is not in there."""
    rest = column - basis @ (basis.T @ column)
    rest -= basis @ (basis.T @ rest)
    size = float(rest @ rest)
    away = column - column.mean()
    return (
        basis
        if size <= NOTHING * float(away @ away)
        else np.column_stack([basis, rest / np.sqrt(size)])
    )
