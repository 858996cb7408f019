"""PC-B: what PC-M finds in a context and PC-P on all rows (paper, App. "Baseline method / intersection graph")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.graph import Mark


def intersect(masked: NDArray[np.int8], pooled: NDArray[np.int8], contexts: Sequence[int]) -> NDArray[np.int8]:
    """The marks of PC-B from those of PC-M, shape (contexts, N, N), and of PC-P, shape (N, N).

    A mark on which both agree is kept, the directed one is taken where only one is directed, and where they contradict
    each other the edge is a conflict. Links at context variables are those of PC-P.
    """
    both = (masked != Mark.ABSENT) & (pooled != Mark.ABSENT)
    masked_directed, pooled_directed = _directed(masked), _directed(pooled)
    marks = np.select(
        [~both, masked == pooled, masked_directed & ~pooled_directed, pooled_directed & ~masked_directed],
        [np.int8(Mark.ABSENT), masked, masked, pooled],
        default=np.int8(Mark.CONFLICT),
    ).astype(np.int8)
    chosen = list(contexts)
    marks[:, chosen], marks[:, :, chosen] = pooled[chosen], pooled[:, chosen]
    return marks


def _directed(marks: NDArray[np.int8]) -> NDArray[np.bool_]:
    directed: NDArray[np.bool_] = (marks == Mark.FORWARD) | (marks == Mark.BACKWARD)
    return directed
