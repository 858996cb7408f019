"""How stable is a result with lags? The same search on halves of the windows, drawn in blocks without replacement.

Drawing with replacement repeats rows, which a score takes for information: false links grow tenfold. Every row of
the lagged table carries its window, so blocks may be cut anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from causalcontext.graphs.endpoints import Endpoints
from causalcontext.kernels.arrays import Bools
from causalcontext.timeseries.local_models import LocalModels
from causalcontext.timeseries.marks import WindowMarks
from causalcontext.timeseries.order_search import search
from causalcontext.timeseries.problem import LaggedProblem


@dataclass(frozen=True, eq=False)
class HalfSamples:
    """Draws half of the windows by the number of a sample, and searches it; other fields are those of `WindowMarks`."""

    problem: LaggedProblem
    names: tuple[str, ...]
    place: tuple[int, ...]
    covariates: tuple[str, ...]
    starts: int

    def endpoints(self, number: int, seed: int) -> Endpoints:
        """The ends of all contexts for one sample, shape (contexts, N, N)."""
        random = np.random.default_rng([seed, number])
        chosen = half_of_blocks(len(self.problem.table.row), random)
        local = LocalModels(replace(self.problem, table=self.problem.table.some(chosen)))
        found = search(local, self.starts, seed)
        return WindowMarks(local, found, self.names, self.place, self.covariates).endpoints()


def half_of_blocks(rows: int, random: np.random.Generator) -> Bools:
    """True for the rows of half of all blocks, each of 1.5 times the third root of the rows.

    Examples
    --------
    >>> chosen = half_of_blocks(1000, np.random.default_rng(0))
    >>> int(chosen.sum()), bool((np.diff(np.flatnonzero(chosen)) == 1).mean() > 0.8)
    (505, True)
    """
    length = ceil(1.5 * rows ** (1 / 3))
    block = np.arange(rows) // length
    count = int(block[-1]) + 1
    chosen = np.zeros(count, dtype=bool)
    chosen[random.permutation(count)[: ceil(count / 2)]] = True
    return np.asarray(chosen[block])
