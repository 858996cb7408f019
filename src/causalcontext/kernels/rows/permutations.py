"""Statistics of permuted rows: cells of contingency tables."""

from __future__ import annotations

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats, Ints


def cell_sum(x: Ints, y: Ints, bounds: Ints, table: Ints, logs: Floats) -> float:
    """The sum of count log(count) over the cells of every stratum.

    x and y are codes, rows of a stratum together, from `bounds[s]` up to `bounds[s + 1]`; `table`,
    shape (levels of x, levels of y), holds zeros, and zeros afterwards; `logs` has c log(c) at c.
    """
    return float(_kernels.cell_sum(x, y, bounds, table, logs))


def permuted_exceedances(
    x: Ints,
    y: Ints,
    bounds: Ints,
    table: Ints,
    logs: Floats,
    observed: float,
    uniforms: Floats,
    most: int,
) -> tuple[int, int]:
    """How many permutations of x inside strata reach `observed`, and how many were made before
    `most` did.

    `uniforms`, shape (permutations, rows), holds the random numbers; x is left permuted.
    """
    result: tuple[int, int] = _kernels.permuted_exceedances(
        x, y, bounds, table, logs, observed, uniforms, most
    )
    return result
