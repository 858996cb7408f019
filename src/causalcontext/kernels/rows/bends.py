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

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel

FEWEST = 10
"""A kink needs so many rows on either side."""
KINKS = 24
FINER = 7
PAIRS = 10
"""Places at which kinks are looked for, then between the neighbours of the best one; places of
saturations.
"""
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
    rows = np.vstack([line.T, x, y])
    widths = np.full(2, given.shape[1])
    part_rows, part_order = rows, order
    if step > 1:
        own = [orthonormal(list(basis[::step].T), len(order)) for basis in (given, line)]
        part_rows = np.vstack([own[1].T, x[::step], y[::step]])
        widths[1] = own[0].shape[1]
        order = np.argsort(x)
    found = np.empty((7, 5))
    places = np.array([column[:2] for column in smooth or smooth_columns(x)])
    count = fill_bends(rows, order, part_rows, part_order, widths, places, found)
    return [
        Bend((LINE,) * int(beside) + (Held(low, high, int(power)),), left)
        for beside, low, high, power, left in found[:count].tolist()
    ]


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


class _RunningSums(NamedTuple):
    """Sums over the rows up to every place of x, by which columns of x are held against a basis and
    a response.
    """

    x: Floats  # shape (rows,): sorted
    beside: Floats  # shape (columns + 1, rows): the basis, and what it leaves of the response
    # `sums`, `products`: shape (columns + 2, rows + 1): running sums of ones and of these, and of
    # their products with x from its mean
    sums: Floats
    products: Floats
    squares: Floats  # shape (rows + 1,): the same of the square of x from its mean
    # `centre`, `left`: the mean of x; the sum of squares that the basis leaves
    centre: float
    left: float


@kernel
def _running_sums(rows: Floats, width: int, order: Ints) -> _RunningSums:
    """The sums of rows with an orthonormal basis, the first so many lines, and x and a response,
    the last two.
    """
    x = rows[-2]
    y = rows[-1]
    n = rows.shape[1]
    beside = np.empty((width + 1, n))
    rest = y.copy()
    for j in range(width):
        slope = 0.0
        for i in range(n):
            slope += rows[j, i] * y[i]
        for i in range(n):
            rest[i] -= slope * rows[j, i]
            beside[j, i] = rows[j, order[i]]
    beside[width] = rest[order]
    ordered = x[order]
    centre = x.mean()
    left = 0.0
    sums = np.zeros((width + 2, n + 1))
    products = np.zeros((width + 2, n + 1))
    squares = np.zeros(n + 1)
    for i in range(n):
        squares[i + 1] = squares[i] + (ordered[i] - centre) ** 2
        left += rest[i] * rest[i]
    for j in range(width + 2):
        for i in range(n):
            value = 1.0 if j == 0 else beside[j - 1, i]
            sums[j, i + 1] = sums[j, i] + value
            products[j, i + 1] = products[j, i] + value * (ordered[i] - centre)
    return _RunningSums(ordered, beside, sums, products, squares, centre, left)


@kernel
def _explained(rows: _RunningSums, low: float, high: float, power: int) -> float:
    """The sum of squares that a column explains: what it has beside the basis, of what that
    leaves.
    """
    n = rows.x.size
    width = rows.beside.shape[0] - 1
    along = np.zeros(width + 2)
    square = _squared(rows, low, high, along) if power == 2 else _held(rows, low, high, along)
    whole = square - along[0] * along[0] / n
    size = whole
    for j in range(1, width + 2):
        along[j] -= along[0] / n * rows.sums[j, n]
        if j <= width:
            size -= along[j] * along[j]
    return along[width + 1] ** 2 / size if size > NOTHING * whole else 0.0


@kernel
def _held(rows: _RunningSums, low: float, high: float, along: Floats) -> float:
    """The square of x held between two places, from the mean of x, and its products with ones,
    basis and response.
    """
    n = rows.x.size
    first = np.searchsorted(rows.x, low)
    end = np.searchsorted(rows.x, high)
    below = low - rows.centre if first > 0 else 0.0
    above = high - rows.centre if end < rows.x.size else 0.0
    for j in range(along.size):
        along[j] = below * rows.sums[j, first] + above * (rows.sums[j, n] - rows.sums[j, end])
        along[j] += rows.products[j, end] - rows.products[j, first]
    return float(below**2 * first + above**2 * (n - end) + rows.squares[end] - rows.squares[first])


@kernel
def _squared(rows: _RunningSums, low: float, high: float, along: Floats) -> float:
    """The same of x squared from its mean, or of what is above a place, or below it, squared."""
    square = 0.0
    start = low if low > -inf else high if high < inf else 0.0
    mean = 0.0
    column = np.zeros(rows.x.size)
    for i in range(column.size):
        column[i] = (rows.x[i] - start) ** 2 if low < rows.x[i] < high else 0.0
        mean += column[i] / column.size
    for i in range(column.size):
        column[i] -= mean
        square += column[i] * column[i]
    for j in range(1, along.size):
        for i in range(column.size):
            along[j] += column[i] * rows.beside[j - 1, i]
    return square


@kernel
def fill_bends(
    rows: Floats,
    order: Ints,
    part_rows: Floats,
    part_order: Ints,
    widths: Ints,
    smooth: Floats,
    found: Floats,
) -> int:
    """Write a straight line and bends, each the best of its kind: beside x or not, low, high,
    power, left. How many.

    `rows` and `part_rows`, shape (columns + 2, rows), have an orthonormal basis of given columns
    and x, then x and the response: all rows, and those that say where places are; the orders sort
    x. `widths`: how many of these columns are those of the given ones. `smooth`, shape (smooth
    columns, 2): above and below which places smooth columns are. `found` has shape (7, 5).
    """
    plain = _running_sums(part_rows, widths[1], part_order)
    lined = _running_sums(part_rows, part_rows.shape[0] - 2, part_order)
    whole, lined_whole = plain, lined
    if part_rows.shape[1] < rows.shape[1]:
        whole = _running_sums(rows, widths[0], order)
        lined_whole = _running_sums(rows, rows.shape[0] - 2, order)
    found[0] = np.array([0.0, -inf, inf, 1.0, 0.0])
    found[1] = np.array([0.0, _best_kink(plain, True), inf, 1.0, 0.0])
    found[2] = np.array([0.0, -inf, _best_kink(plain, False), 1.0, 0.0])
    found[3] = np.array([1.0, _best_kink(lined, True), inf, 1.0, 0.0])
    count = 4
    best = -1.0
    places = _places(plain.x, PAIRS)
    for a in range(places.size):
        for b in range(a + 1, places.size):
            value = _explained(plain, places[a], places[b], 1)
            if value > best:
                best = value
                found[4] = np.array([0.0, places[a], places[b], 1.0, 0.0])
    count += 1 if places.size > 1 else 0
    for beside in range(2):
        best = -1.0
        for low, high in smooth:
            value = _explained(lined if beside == 1 else plain, low, high, 2)
            if value > best:
                best = value
                found[count] = np.array([float(beside), low, high, 2.0, 0.0])
        count += 1
    found[0, 4] = lined_whole.left
    for place in range(1, count):
        own = lined_whole if found[place, 0] == 1.0 else whole
        found[place, 4] = own.left - _explained(
            own, found[place, 1], found[place, 2], int(found[place, 3])
        )
    return int(count)


@kernel
def _places(ordered: Floats, count: int) -> Floats:
    """Places between sorted values, with enough rows on either side: the same ones for -x."""
    found = np.empty(count)
    size = 0
    step = (ordered.size - 2.0 * FEWEST) / (count - 1)
    for k in range(count):
        at = (
            int(k * step + FEWEST)
            if 2 * k < count
            else ordered.size - int((count - 1 - k) * step + FEWEST)
        )
        place = 0.5 * (ordered[at - 1] + ordered[at])
        if size == 0 or place > found[size - 1]:
            found[size] = place
            size += 1
    return found[:size]


@kernel
def _best_kink(rows: _RunningSums, low: bool) -> float:
    """The place of the best kink, looked for in two rounds."""
    places = _places(rows.x, KINKS)
    at = 0.0
    for _ in range(2):
        best, here = -1.0, 0
        for k in range(places.size):
            value = (
                _explained(rows, places[k], inf, 1) if low else _explained(rows, -inf, places[k], 1)
            )
            if value > best:
                best, here = value, k
        at = places[here]
        start = places[max(here - 1, 0)]
        end = places[min(here + 1, places.size - 1)]
        places = np.empty(1 + FINER)
        places[0] = at
        for k in range(FINER):
            places[1 + k] = start + k * ((end - start) / (FINER - 1))
    return float(at)
