"""Fits from Python, one call for many nodes."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.function_pointers import FunctionPointer
from causalcontext.kernels.handles import Note, fetch
from causalcontext.kernels.orders.node_data import FIT_ARRAYS, Calls
from causalcontext.kernels.orders.regressions import PATH, TAKEN, Fits, Scratch


@kernel
def fit_many(
    fit: FunctionPointer,
    calls: Calls,
    arrays: Note,
    tasks: Ints,
    candidates: Bools,
    scores: Floats,
    slopes: Floats,
    sets: Ints,
) -> None:
    """Fit nodes one after the other, in the first slot: task t is a block and a node.

    Parameters
    ----------
    tasks : array of int, shape (tasks, 2)
    candidates : array of bool, shape (tasks, p)
    scores : array, shape (tasks,)
        Written, like what follows.
    slopes : array, shape (tasks, W) or (tasks, 0)
        The slopes of the chosen columns, for numbers.
    sets : array of int, shape (tasks, 1 + W) or (tasks, 0)
        The number of chosen columns, and the columns.
    """
    work, fits = fetch(arrays, FIT_ARRAYS, Scratch), fetch(arrays, FIT_ARRAYS, Fits)
    room = (fits.whole.shape[2] - PATH) // 2
    for t in range(tasks.shape[0]):
        for j in range(candidates.shape[1]):
            work.candidates[j] = candidates[t, j]
        scores[t] = fit(arrays, calls, tasks[t, 0], tasks[t, 1], np.int64(0))
        whole = fits.whole[tasks[t, 1], 0]
        for a in range(min(slopes.shape[1], whole[TAKEN])):
            slopes[t, a] = work.small[4, a, 0]
        if sets.shape[1] > 0:
            sets[t, 0] = whole[TAKEN]
            for a in range(whole[TAKEN]):
                sets[t, 1 + a] = whole[PATH + room + a]
