"""Exponentials and dot products of a few rows at a time (`src/kernels/row_blocks.hpp`)."""

from __future__ import annotations

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats

AT_ONCE = 128
"""Rows of a block."""


def exponentials(line: Floats) -> None:
    """Replace numbers of at most 0, shape (n,), by their exponentials, to about 15 digits."""
    _kernels.exponentials(line)


def add_dots(left: Floats, right: Floats, length: int, triangle: bool, sums: Floats) -> None:
    """Add the products of the first `length` rows of all pairs of lines of two blocks, shapes (n,
    AT_ONCE) and (m, AT_ONCE), to `sums`, shape (n, m, 4).

    A dot product is what its four parts add up to. n and m are multiples of 3. For a triangle j <=
    i is enough.
    """
    _kernels.add_dots(left, right, length, triangle, sums)
