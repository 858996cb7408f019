"""Regressions by cross products; the linear algebra is in `src/kernels/linear.hpp`.

One rule for columns that say the same: what is left of such a column is nothing, and its
coefficient stays 0.
"""

from __future__ import annotations

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats


def sweep(table: Floats, size: int, rows: float) -> int:
    """Regress everything on the first `size` variables, in place; their rank.

    Afterwards `table[:size, a]` holds the slopes of a variable a and the rest of the table what is
    left of the cross products. `rows` is the number of rows behind the table, whose columns have
    about unit variance.
    """
    return int(_kernels.sweep(table, size, rows))


def weighted_products(design: Floats, weight: Floats, goal: Floats) -> None:
    """Fill the lower triangle of `goal`, shape (width, width), with the cross products of all lines
    of a design, shape (width, rows), weighted.
    """
    _kernels.weighted_products(design, weight, goal)
