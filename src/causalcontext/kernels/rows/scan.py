"""Kernels that look at every value of a column, and multiply columns with each other."""

from __future__ import annotations

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats, Words


def digest_rows(words: Words) -> int:
    """A sum over rows of a hash of (word, row): it changes with every word and with the order of
    the rows.
    """
    return int(_kernels.digest_rows(words))


def add_cross_products(centred: Floats, scatter: Floats) -> None:
    """Add the cross products of centred columns, shape (variables, rows), to the lower triangle of
    `scatter`; no sum depends on where a column stands.
    """
    _kernels.add_cross_products(centred, scatter)


def mirror(scatter: Floats) -> None:
    """Copy the lower triangle of every matrix, shape (levels, variables, variables), to the upper
    one.
    """
    _kernels.mirror(scatter)
