"""How often classes drawn from the smaller of two models give a likelihood ratio as large as the one observed."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.rows.newton import maximise

TOLERANCE = 1e-5
"""Of the fits to drawn classes, in units of the log-likelihood."""


@kernel
def drawn_exceedances(family: int, base: Floats, design: Floats, below: Floats, start_small: Floats,
                      start_large: Floats, observed: float, uniforms: Floats,
                      most: int) -> tuple[int, int]:  # fmt: skip
    """How many draws reach `observed`, and how many were made before `most` of them did.

    Parameters
    ----------
    family : int
        `LOGIT` or `ORDINAL`.
    base, design : arrays, shapes (rows, small width) and (rows, large width)
    below : array, shape (rows, classes)
        Cumulative shares of the classes in every row.
    start_small, start_large : arrays
        Coefficients of the smaller model, and the same in the larger one.
    uniforms : array, shape (draws, rows)
    """
    rows, classes = below.shape
    codes = np.zeros(rows, dtype=np.int64)
    reached = 0
    for draw in range(uniforms.shape[0]):
        for row in range(rows):
            code = 0
            while code < classes - 1 and uniforms[draw, row] > below[row, code]:
                code += 1
            codes[row] = code
        small = maximise(family, base, codes, classes, start_small, 0.0, TOLERANCE)[0]
        large = maximise(family, design, codes, classes, start_large, 0.0, TOLERANCE)[0]
        if 2.0 * (large - small) >= observed - 20.0 * TOLERANCE:
            reached += 1
            if reached == most:
                return reached, draw + 1
    return reached, uniforms.shape[0]
