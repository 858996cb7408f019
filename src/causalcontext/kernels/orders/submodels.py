"""Sub-models of given orders: which of the variables before it a variable depends on, and with
which coefficients.

Sets of variables are bit masks. A variable is pooled (one regression on all rows); after a context
it may also be shifted (one regression, around the means at every value) or apart (a regression of
its own at every value). Regressions come from moments: a *block* is a set of rows with its centred
cross products: `scatter`, shape (blocks, variables, variables), and `facts`, shape (blocks, 3), its
rows, its intercepts and the price of a parameter (`src/kernels/submodels.hpp`).
"""

from __future__ import annotations

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Floats, Ints


def subset_weights(scatter: Floats, facts: Floats, weights: Floats) -> None:
    """`weights[b, v, S]` is filled: the log-likelihood of v given the set S in a block, less what
    parameters cost.

    `scatter` has shape (blocks, variables, variables), `facts` (blocks, 3).
    """
    _kernels.subset_weights(scatter, facts, weights)


def draw_models(
    weights: Floats,
    readers: Ints,
    before: Ints,
    allowed: Ints,
    required: Ints,
    may: Bools,
    uniform: Floats,
    kinds: Ints,
    sets: Ints,
) -> None:
    """`kinds` and `sets` are filled: what every variable reads in every draw, and its causes in
    every cell.

    `weights`, shape (blocks, variables, sets), are those of the pooled block, then for every reader
    of the shifted one and those of its values. `readers`, shape (readers, 2 + cells), has the first
    block of a reader, how many values it has, and its value in every cell; `before`, shape (draws,
    1 + readers, variables), the variables before every variable as a bit mask, then, for every
    reader, 1 if it comes before the variable. Causes that are `allowed` and `required` are bit
    masks; `may`, shape (1 + readers, variables), says whether a variable may be pooled, and whether
    it may use a reader. `uniform` has shape (draws, variables, 1 + cells). `kinds`, shape (draws,
    variables), are -1 pooled, 2 q shifted by reader q, 2 q + 1 apart; `sets` has shape (draws,
    variables, cells).
    """
    _kernels.draw_models(weights, readers, before, allowed, required, may, uniform, kinds, sets)


def draw_slopes(
    scatter: Floats,
    facts: Floats,
    readers: Ints,
    kinds: Ints,
    sets: Ints,
    normal: Floats,
    slopes: Floats,
) -> None:
    """`slopes[draw, cell, cause, effect]` are filled, drawn from the t distribution around least
    squares.

    `normal`, shape (draws, variables, cells, 1 + variables), has standard normal numbers: the first
    one makes the chi-squared number of the residual variance (Wilson and Hilferty 1931).
    """
    _kernels.draw_slopes(scatter, facts, readers, kinds, sets, normal, slopes)
