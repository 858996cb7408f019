"""Rows, means and centred cross products of the cells of a table: all that linear-Gaussian work
needs.

Moments of parts of a table add up to those of the whole (`a + b`), cells merge into views
(`merged`), and everything that is computed from them is scaled first, so that units never matter.

A pass over the rows adds up such totals cell by cell: batches go in one after the other, without
losing digits. Rows of a stream also fall into blocks, so that a bootstrap can draw blocks when the
rows are gone: 512 rows that follow each other are in the same block, whose number is a hash of
theirs. It depends neither on batches nor on partitions, and rows that resemble their neighbours
stay together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints
from causalcontext.kernels.limits import COLLINEAR_BELOW, SMALLEST_SCATTER
from causalcontext.kernels.rows.scan import mirror
from causalcontext.kernels.rows.stretches import ScanTotals, add_rows, workspace_for

_BLOCK = 512


class CellRegression(NamedTuple):
    """Least squares of one variable on others in one cell."""

    slopes: Floats  # shape (columns,)
    # shape (columns, columns); of their cross products: times `left / df`, the slopes' covariances
    inverse: Floats
    left: float  # the residual sum of squares
    df: int  # rows that are left after the intercept and the slopes

    @property
    def errors(self) -> Floats:
        """The standard errors of the slopes."""
        return np.asarray(np.sqrt(self.left / self.df * np.diagonal(self.inverse)))


@dataclass(frozen=True, eq=False)
class Moments:
    """The moments of the rows of every cell.

    >>> parts = ([[1.0], [3.0]], [[2.0], [6.0]])
    >>> halves = [Moments.of_rows(np.array(part), np.zeros(2, int), 1) for part in parts]
    >>> whole = halves[0] + halves[1]
    >>> whole.rows.tolist(), whole.mean.tolist(), whole.scatter.tolist()
    ([4], [[3.0]], [[[14.0]]])
    """

    rows: Ints  # shape (cells,)
    mean: Floats  # shape (cells, p); 0 where a cell has no row
    scatter: Floats  # shape (cells, p, p); centred cross products inside each cell

    @classmethod
    def of_rows(cls, values: Floats, codes: NDArray[np.integer], cells: int) -> Moments:
        """The moments of an array of shape (rows, p), every row in its cell."""
        rows = np.zeros(cells, dtype=np.int64)
        mean = np.zeros((cells, values.shape[1]))
        scatter = np.zeros((cells, values.shape[1], values.shape[1]))
        for cell in range(cells):
            part = values[codes == cell]
            rows[cell] = len(part)
            if len(part):
                mean[cell] = part.mean(axis=0)
                part = part - mean[cell]
                scatter[cell] = part.T @ part
        return cls(rows, mean, scatter)

    def __add__(self, other: Moments) -> Moments:
        """The moments of both sets of rows, cell by cell (Chan, Golub and LeVeque 1983)."""
        total = self.rows + other.rows
        share = other.rows / np.maximum(total, 1)
        difference = np.where(
            (self.rows > 0)[:, None] & (other.rows > 0)[:, None], other.mean - self.mean, 0.0
        )
        away = difference * np.sqrt(self.rows * share)[:, None]
        start = np.where((self.rows > 0)[:, None], self.mean, other.mean)
        between = away[:, :, None] * away[:, None, :]
        return Moments(
            total, start + difference * share[:, None], self.scatter + other.scatter + between
        )

    def counted_for(self, share: float) -> Moments:
        """The same means and covariances, every row counting for a share of one; at least one row a
        cell.
        """
        rows = np.maximum(np.round(share * self.rows), np.minimum(self.rows, 1)).astype(np.int64)
        return Moments(
            rows, self.mean, self.scatter * (rows / np.maximum(self.rows, 1))[:, None, None]
        )

    def of(self, variables: Sequence[int]) -> Moments:
        """The moments of some variables, in this order."""
        chosen = list(variables)
        return Moments(self.rows, self.mean[:, chosen], self.scatter[:, chosen][:, :, chosen])

    def some(self, cells: Sequence[int]) -> Moments:
        """The moments of some cells, each for itself."""
        chosen = list(cells)
        return Moments(self.rows[chosen], self.mean[chosen], self.scatter[chosen])

    def merged(self, cells: Sequence[int] | None = None) -> Moments:
        """The moments of some cells, or of all, as one cell."""
        chosen = list(range(self.rows.size) if cells is None else cells)
        if len(chosen) == 1:
            alone = slice(chosen[0], chosen[0] + 1)
            return Moments(self.rows[alone], self.mean[alone], self.scatter[alone])
        scatter = np.empty(self.scatter.shape[1:])
        mean = self.merge_into(scatter, chosen)
        return Moments(np.array([self.rows[chosen].sum()]), mean[None], scatter[None])

    def merge_into(self, scatter: Floats, cells: Sequence[int]) -> Floats:
        """Write the cross products of some cells together, shape (p, p); their mean, shape (p,)."""
        chosen = list(cells)
        with np.errstate(over="ignore", invalid="ignore"):
            mean, between = self._between(chosen)
            for begin in range(0, len(scatter), _BLOCK):
                # whole products are as large as the scatter, and slower
                rows = slice(begin, begin + _BLOCK)
                scatter[rows] = self.scatter[chosen[0], rows] if chosen else 0.0
                for cell in chosen[1:]:
                    scatter[rows] += self.scatter[cell, rows]
                scatter[rows] += between[:, rows].T @ between
        return mean

    @cached_property
    def squares(self) -> Floats:
        """The sums of squares of every variable over all rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            _, between = self._between(list(range(self.rows.size)))
            return np.asarray(
                np.diagonal(self.scatter, axis1=1, axis2=2).sum(axis=0) + (between**2).sum(axis=0)
            )

    def _between(self, chosen: list[int]) -> tuple[Floats, Floats]:
        """The mean of some cells together, and how far each is from it, times the root of its
        rows.
        """
        rows = self.rows[chosen]
        means = self.mean[chosen]
        # Differences from one cell: means that are equal stay exactly equal.
        origin = means[np.argmax(rows)] if rows.size else np.zeros(self.mean.shape[1])
        shift = np.where(rows[:, None] > 0, means - origin, 0.0)
        centre = rows @ shift / max(int(rows.sum()), 1)
        return origin + centre, np.sqrt(rows)[:, None] * (shift - centre)

    def spread(self, cell: int = 0) -> Floats:
        """The roots of the sums of squares in a cell; 1 for a variable that is constant there."""
        squares = np.maximum(np.diagonal(self.scatter[cell]), 0.0)
        return np.where(squares > 0.0, np.sqrt(squares), 1.0)

    def correlation(self, cell: int = 0) -> Floats:
        """The correlations in a cell; 0 for a variable that is constant there."""
        scale = self.spread(cell)
        return np.asarray(self.scatter[cell] / scale[:, None] / scale)

    def regression(self, y: int, columns: Sequence[int], cell: int = 0) -> CellRegression | None:
        """Least squares of y on some columns; None where one of them, or y, is a linear function of
        the others.
        """
        used = [*columns, y]
        products = self.scatter[cell][np.ix_(used, used)]
        squares = np.maximum(np.diagonal(products), 0.0)
        scale = np.where(squares > 0.0, np.sqrt(squares), 1.0)
        correlation = products / scale[:, None] / scale
        within = correlation[:-1, :-1]
        across = correlation[:-1, -1].copy()
        if correlation[-1, -1] <= 0.0 or not independent(within):
            return None
        inverse = np.linalg.inv(within)
        left = max(1.0 - float(across @ inverse @ across), COLLINEAR_BELOW)
        causes_scale = scale[:-1]
        effect_scale = float(scale[-1])
        slopes = (inverse @ across) * effect_scale / causes_scale
        inverse = inverse / causes_scale[:, None] / causes_scale
        return CellRegression(
            slopes, inverse, left * effect_scale**2, int(self.rows[cell]) - len(columns) - 1
        )


def independent(correlation: Floats) -> bool:
    """True if no variable is a linear function of the others."""
    if (np.diagonal(correlation) <= 0.0).any():
        return False
    return not correlation.size or bool(np.linalg.eigvalsh(correlation)[0] > COLLINEAR_BELOW)


BLOCKS = 32
MOST_NUMBERS = 2**23
"""Cross products of all cells and blocks: more than 64 MB are not kept."""


def no_totals(levels: int, variables: int) -> ScanTotals:
    """The totals of no rows."""
    shape = (levels, variables)
    sizes = {"n": levels, "lost": levels, "missing": shape, "infinite": shape}
    counts = {name: np.zeros(size, dtype=np.int64) for name, size in sizes.items()}
    return ScanTotals(
        centre=np.zeros(shape),
        mean=np.zeros(shape),
        low=np.full(shape, np.inf),
        high=np.full(shape, -np.inf),
        scatter=np.zeros((*shape, variables)),
        digests=np.zeros(variables, dtype=np.uint64),
        **counts,
    )


def add_batch(totals: ScanTotals, values: Floats, codes: Codes, first_row: int) -> None:
    """Add a batch of rows to the totals: values of shape (p, rows), contiguous, and the context of
    every row, or -1.
    """
    # `first_row` is the place of the batch in the table, for the digests.
    variables, rows = values.shape
    addresses = values.ctypes.data + values.strides[0] * np.arange(variables, dtype=np.uint64)
    nobody = np.empty(0, dtype=np.int64)  # no rows are copied
    nothing = np.empty((variables, 0))
    room = workspace_for(rows, len(totals.n), variables)
    places = np.ascontiguousarray(codes, dtype=np.int32)
    add_rows(addresses, places, first_row, 1, totals, room, nobody, nothing)


def settle(totals: ScanTotals) -> Bools:
    """True for variables that are constant in a context, once all batches are in; the moments are
    exact for them.
    """
    # Rounding leaves traces of a constant: its mean is replaced by the value itself, its cross
    # products by 0. Means are whole afterwards, and centres 0.
    mirror(totals.scatter)
    totals.mean[...] += totals.centre
    totals.centre[...] = 0.0
    single = (totals.low == totals.high) | (totals.n <= 1)[:, None]
    totals.mean[...] = np.where(single & (totals.n > 0)[:, None], totals.low, totals.mean)
    constant: Bools = single | (np.diagonal(totals.scatter, axis1=1, axis2=2) < SMALLEST_SCATTER)
    for level in np.flatnonzero(constant.any(axis=1)):
        totals.scatter[level, constant[level], :] = 0.0
        totals.scatter[level, :, constant[level]] = 0.0
    return constant


def blocks_for(cells: int, variables: int) -> int:
    """The number of blocks that there is room for: all of them, or one."""
    return BLOCKS if max(cells, 1) * BLOCKS * variables**2 <= MOST_NUMBERS else 1


def without_blocks(totals: ScanTotals, blocks: int) -> ScanTotals:
    """The totals of cells out of that of their blocks: block b of cell k is number `k * blocks +
    b`.
    """
    cells = len(totals.n) // blocks
    first_block = np.arange(cells) * blocks
    # a block with rows, where there is one
    first = first_block + np.argmax(totals.n.reshape(cells, blocks) > 0, axis=1)
    base = totals.centre[first]
    shift = (totals.centre - np.repeat(base, blocks, axis=0)) + totals.mean
    parts = Moments(totals.n, shift, totals.scatter)
    merged_totals = no_totals(cells, totals.mean.shape[1])
    for cell in range(cells):
        whole = parts.merged(range(first_block[cell], first_block[cell] + blocks))
        merged_totals.n[cell] = whole.rows[0]
        merged_totals.mean[cell] = whole.mean[0]
        merged_totals.scatter[cell] = whole.scatter[0]
    counts = {
        name: np.add.reduceat(getattr(totals, name), first_block, axis=0)
        for name in ("lost", "missing", "infinite")
    }
    low = np.minimum.reduceat(totals.low, first_block, axis=0)
    high = np.maximum.reduceat(totals.high, first_block, axis=0)
    return merged_totals._replace(centre=base, low=low, high=high, digests=totals.digests, **counts)


def block_moments(totals: ScanTotals, blocks: int) -> tuple[Moments, ...]:
    """The moments of every block, all cells in it; none where there is one block."""
    if blocks == 1:
        return ()
    mean = np.where(totals.n[:, None] > 0, totals.centre + totals.mean, 0.0)
    scatter = both_triangles(totals.scatter)
    return tuple(
        Moments(totals.n[b::blocks], mean[b::blocks], scatter[b::blocks]) for b in range(blocks)
    )


def both_triangles(scatter: Floats) -> Floats:
    """Symmetric matrices by their lower triangles."""
    return np.asarray(np.tril(scatter) + np.swapaxes(np.tril(scatter, -1), 1, 2))


def some_cells(totals: ScanTotals, cells: Sequence[int]) -> ScanTotals:
    """The totals of some cells, in their order."""
    return totals._replace(
        **{name: array[cells] for name, array in totals._asdict().items() if name != "digests"}
    )
