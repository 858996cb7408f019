"""The score of a node in a block: columns by moments, then the chosen set once on the rows.

Moments choose the columns (`src/kernels/selection.hpp`). What is chosen is evaluated on the rows
(`src/kernels/fits.hpp`): the noise density of a number, the logit of a category. `fit_many` chooses
among candidates, `score_sets` scores given sets of columns, and `best_extras` says what one more
column would gain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.fit_arrays import FitArrays, no_rows

CompiledWorkspace = Any
"""`_kernels.FitWorkspace`: the arrays of one thread as kernels read them, which it keeps alive."""

WEIGHTED_ROWS = 1 << 10
WEIGHTED_ENTRIES = 1 << 16
"""Places for rows of covariances with weights, and their entries."""


def compiled_workspace(arrays: FitArrays, scales: bool) -> CompiledWorkspace:
    """The workspace of a thread for kernels; with `scales` there is room for moments with weights,
    by which locations are chosen where noise has an uneven spread.
    """
    weighted = arrays
    if scales:
        tables = arrays.tables
        moments = {
            name: np.zeros_like(getattr(tables, name))
            for name in ("n", "means", "scatter", "variance")
        }
        weighted = arrays._replace(
            tables=tables._replace(**moments),
            covariances=no_rows(tables.about.shape[2], WEIGHTED_ROWS, WEIGHTED_ENTRIES),
        )
    return _kernels.FitWorkspace(arrays, weighted)


def fit_many(
    workspace: CompiledWorkspace,
    tasks: Ints,
    candidates: Bools,
    scores: Floats,
    slopes: Floats,
    sets: Ints,
) -> None:
    """Fit nodes one after the other, in the first slot: task t is a block and a node, `candidates`
    are (tasks, p).

    Written are scores, slopes of the chosen columns of numbers, shape (tasks, W), and `sets`, shape
    (tasks, 1 + W): the number of chosen columns, and the columns.
    """
    _kernels.fit_many(workspace, tasks, candidates, scores, slopes, sets)


def score_sets(workspace: CompiledWorkspace, tasks: Ints, sets: Ints, out: Floats) -> None:
    """Score sets of columns as they are: task t is a block and a node, `sets[t]` a number of
    columns and the columns.

    `out`, shape (tasks, 2 + W), is written: the score; for numbers the residual variance and the
    slopes, for those with a scale the variance of a number with this score.
    """
    _kernels.score_sets(workspace, tasks, sets, out)


def best_extras(
    workspace: CompiledWorkspace, tasks: Ints, sets: Ints, curves: Bools, out: Floats
) -> None:
    """What the best further column of every variable gains by moments, its price paid, given a set
    of columns.

    `curves` says whether plain columns and whether curves are tried. `out`, shape (tasks, p, 2), is
    written: the gain (-inf if there is no column), and the share of the residual variance it
    explains, with the sign of the covariance; of a product both factors count as its owner.
    """
    _kernels.best_extras(workspace, tasks, sets, curves, out)
