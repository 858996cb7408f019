"""Counts of neighbours in rank space, for many shuffled copies of one column at once.

The counting is in `src/kernels/neighbours.hpp`.
"""

from __future__ import annotations

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Floats, Ints, Shorts


def shuffled_information(
    shuffled: Shorts,
    is_code: Bools,
    columns: Shorts,
    psi: Floats,
    far: int,
    neighbours: float,
    strict: bool,
) -> Floats:
    """The estimate of the conditional mutual information of x and y given Z for every shuffled copy
    of x.

    `shuffled`, shape (copies, rows), has ranks or codes of x, `columns`, shape (1 + conditions,
    rows), those of y, then of the conditions; `is_code` says which of them all are codes. `psi` is
    the digamma function at 0 (not used), 1, 2, and so on; `far` is the distance between two codes,
    larger than that between any two ranks; of `neighbours` below 1, the share counts of the rows
    at less than `far` from a row, itself included. `strict` counts as
    Frenzel and Pompe do (closer than the k-th neighbour, the row itself included), else as Mesner
    and Shalizi do (as close as the k-th neighbour, the row itself left out).
    """
    totals = np.zeros(shuffled.shape[0])
    _kernels.shuffled_information(shuffled, is_code, columns, psi, far, neighbours, strict, totals)
    return totals


def nearest_rows(columns: Shorts, is_code: Bools, far: int, most: int, seed: np.uint64) -> Ints:
    """The `most` nearest rows of every row, itself among them, at less than `far`; -1 where there
    are fewer.

    Among rows that are equally far the last places are given at random, from a stream for every
    row.
    """
    nearest = np.full((columns.shape[1], most), -1)
    _kernels.find_nearest(columns, is_code, far, seed, nearest)
    return nearest


def local_shuffles(
    nearest: Ints, loose: Ints, strata: Ints, starts: Ints, first: int, copies: int, seed: np.uint64
) -> Ints:
    """For copies from the `first` on and every row, the row whose x it takes: of its stratum, or
    one of its nearest.

    Rows in `strata`, of which one ends where the next of `starts` begins, are permuted within their
    stratum. A `loose` row takes one of its nearest rows that no loose row before it took, if there
    is one; the order of loose rows and that of their nearest rows are drawn anew for every copy.
    Every copy has a stream of its own, so that one call for many copies gives what many calls give.
    """
    sources = np.empty((copies, loose.size + strata.size), np.int64)
    _kernels.draw_shuffles(nearest, loose, strata, starts, first, seed, sources)
    return sources
