"""PC-B: what PC-M finds in a context and PC-P on all rows (paper, App. "Baseline method / intersection graph")."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent, directed
from causalcontext.kernels.arrays import Bools


def intersect(masked: Endpoints, pooled: Endpoints, contexts: Sequence[int]) -> Endpoints:
    """The ends of PC-B from those of PC-M, shape (contexts, N, N), and of PC-P, shape (N, N).

    A mark on which both agree is kept, the directed one is taken where only one is directed, and where they contradict
    each other the edge is a conflict. Links at context variables are those of PC-P.
    """
    both = adjacent(masked) & adjacent(pooled)
    masked_directed, pooled_directed = _either_way(masked), _either_way(pooled)
    same = masked == pooled
    endpoints = np.select(
        [~both, same & same.swapaxes(1, 2), masked_directed & ~pooled_directed, pooled_directed & ~masked_directed],
        [np.int8(Endpoint.NONE), masked, masked, pooled],
        default=np.int8(Endpoint.CONFLICT),
    ).astype(np.int8)
    chosen = list(contexts)
    endpoints[:, chosen], endpoints[:, :, chosen] = pooled[chosen], pooled[:, chosen]
    return endpoints


def _either_way(endpoints: Endpoints) -> Bools:
    forward = directed(endpoints)
    return forward | forward.swapaxes(-1, -2)
