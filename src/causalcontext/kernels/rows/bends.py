"""Bends of one column: kinks, saturations and smooth curves, each by least squares beside given columns.

Where a context follows x, a bend of x that all rows share looks like a slope of x that changes with the context. So the
one is held against the other. A column is x held between two places, `min(max(x, low), high)`: with one of them at
infinity a kink, with both finite a saturation, with none x itself; or its square or a squared hinge.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Floats

FEWEST = 10
"""A kink needs so many rows on either side."""
KINKS, FINER, PAIRS = 24, 7, 10
"""Places at which kinks are looked for, then between the neighbours of the best one; places of saturations."""
MOST_ROWS = 4_000
"""Of more rows some, evenly spread, say where places are; what is left is always that of all rows."""
KNOTS = (0.2, 0.4, 0.6, 0.8)
"""Quantiles at which squared hinges begin."""
NOTHING = 1e-9
"""The share of a column that given ones leave is nothing."""


class Held(NamedTuple):
    """x between two places, or, with a power of 2, the square of x, or of what is above `low`."""

    low: float
    high: float
    power: int = 1

    def cost(self, x: Floats, rows: float, price: float, curves: int) -> float:
        """What the column costs beside its parameter: its places, or the choice of a smooth one among so many curves.

        A slope that lives in some contexts is paid by their rows, and so is one that lives between places.
        """
        if self.power == 2:
            return log(curves)
        places = int(np.isfinite(self.low)) + int(np.isfinite(self.high))
        inside = np.mean((x > self.low) & (x < self.high))
        return log(rows) * places + price * log(max(float(inside), 1.0 / len(x))) / log(rows)

    def values(self, x: Floats) -> Floats:
        """The column."""
        if self.power == 1:
            return np.clip(x, self.low, self.high)
        return np.asarray(x * x if self.low == -inf else np.maximum(x - self.low, 0.0) ** 2)


LINE = Held(-inf, inf)


class Bend(NamedTuple):
    """Columns of x, and the sum of squares that they leave beside the given ones."""

    columns: tuple[Held, ...]
    left: float


def bends(x: Floats, y: Floats, given: Floats) -> list[Bend]:
    """Straight line, then kinks, a saturation and smooth curves of x, each the best of its kind.

    Parameters
    ----------
    x, y : arrays, shape (rows,)
    given : array, shape (rows, columns)
        Orthonormal columns, the constant one among them.
    """
    thin = slice(None, None, max(1, -(-len(x) // MOST_ROWS)))
    own, ordered = x[thin], np.sort(x[thin])
    if len(own) <= 3 * FEWEST or ordered[FEWEST] >= ordered[-1 - FEWEST]:
        return []
    line = with_column(given, x)
    bases = [basis if len(own) == len(x) else orthonormal(list(basis[thin].T), len(own)) for basis in (given, line)]
    rests = [y[thin] - basis @ (basis.T @ y[thin]) for basis in bases]
    found: list[tuple[Held, ...]] = [(LINE,)]
    for beside, low in ((0, True), (0, False), (1, True)):
        found.append((LINE,) * beside + (_best_kink(own, ordered, bases[beside], rests[beside], low),))
    places = _places(ordered, PAIRS)
    saturations = [Held(low, high) for k, low in enumerate(places) for high in places[k + 1 :]]
    smooth = smooth_columns(x)
    for beside, offered in ((0, saturations), (0, smooth), (1, smooth)):
        if offered:
            found.append((LINE,) * beside + (offered[_best(own, offered, bases[beside], rests[beside])],))
    return [Bend(columns, left_by(y, given, [column.values(x) for column in columns])) for columns in found]


def smooth_columns(x: Floats) -> list[Held]:
    """The square of x, and squared hinges."""
    return [Held(-inf, inf, 2), *(Held(at, inf, 2) for at in np.quantile(x, KNOTS).tolist())]


def left_by(y: Floats, given: Floats, columns: Sequence[Floats]) -> float:
    """The sum of squares that columns leave beside given ones."""
    for column in columns:
        given = with_column(given, column)
    rest = y - given @ (given.T @ y)
    return float(rest @ rest)


def orthonormal(columns: Sequence[Floats], rows: int) -> Floats:
    """An orthonormal basis of the constant and some columns; what earlier ones explain is left out."""
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
    return basis if size <= NOTHING * float(away @ away) else np.column_stack([basis, rest / np.sqrt(size)])


def _places(ordered: Floats, count: int) -> list[float]:
    """Places between sorted values, with enough rows on either side."""
    at = np.linspace(FEWEST, len(ordered) - FEWEST, count).astype(np.int64)
    return list(map(float, np.unique(0.5 * (ordered[at - 1] + ordered[at]))))


def _best_kink(x: Floats, ordered: Floats, basis: Floats, response: Floats, low: bool) -> Held:
    """The best kink, looked for in two rounds."""
    places = _places(ordered, KINKS)
    for _ in range(2):
        offered = [Held(at, inf) if low else Held(-inf, at) for at in places]
        here = _best(x, offered, basis, response)
        best, near = offered[here], (places[max(here - 1, 0)], places[min(here + 1, len(places) - 1)])
        places = [places[here], *np.linspace(*near, FINER).tolist()]
    return best


def _best(x: Floats, offered: Sequence[Held], basis: Floats, response: Floats) -> int:
    """Which column explains most of a response, both without what a basis explains."""
    low, high, power = (np.array(each)[:, None] for each in zip(*offered, strict=True))
    columns = np.clip(x, low, high)
    squared = power[:, 0] == 2
    columns[squared] = (x - np.where(np.isfinite(low[squared]), np.minimum(x, low[squared]), 0.0)) ** 2
    columns -= columns.mean(axis=1, keepdims=True)
    whole, along = np.einsum("ij,ij->i", columns, columns), columns @ basis
    size = whole - np.einsum("ij,ij->i", along, along)
    usable = size > NOTHING * whole
    return int(np.argmax(np.where(usable, (columns @ response) ** 2 / np.where(usable, size, 1.0), 0.0)))
