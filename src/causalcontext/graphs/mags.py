"""What is left of a directed acyclic graph when some of its variables are hidden: its maximal ancestral graph (MAG).

Two observed variables are adjacent if no set of the others separates them. The end at y of x - y is a tail if y is an
ancestor of x, else an arrow; so `<->` says that neither causes the other, and that something hidden causes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, Endpoints
from causalcontext.graphs.paths import open_paths, reach
from causalcontext.kernels.arrays import Bools


def mag_endpoints(links: Bools, observed: Sequence[int]) -> Endpoints:
    """The ends of the MAG over the observed nodes, in their order: shape (..., M, M) from links of shape (..., N, N).

    Examples
    --------
    >>> fork = np.zeros((3, 3), dtype=bool)
    >>> fork[2, 0] = fork[2, 1] = True
    >>> [Endpoint(end).name for end in mag_endpoints(fork, (0, 1))[[0, 1], [1, 0]]]
    ['ARROW', 'ARROW']
    """
    causes = reach(links)[..., np.array(observed)[:, None], np.array(observed)]
    at_second = np.where(causes.swapaxes(-1, -2), Endpoint.TAIL, Endpoint.ARROW)
    return np.where(mag_adjacency(links, observed), at_second, Endpoint.NONE).astype(np.int8)


def mag_adjacency(links: Bools, observed: Sequence[int]) -> Bools:
    """True where no set of other observed nodes separates two of them, by their place among `observed`.

    Notes
    -----
    If any set separates x and y, their observed ancestors do.
    """
    causes, seen = reach(links), np.zeros(links.shape[-1], dtype=bool)
    seen[list(observed)] = True
    found = np.zeros((*links.shape[:-2], len(observed), len(observed)), dtype=bool)
    for (i, x), (j, y) in combinations(enumerate(observed), 2):
        given = (causes[..., :, x] | causes[..., :, y]) & seen
        given[..., [x, y]] = False
        found[..., i, j] = found[..., j, i] = open_paths(links, x, given)[..., y]
    return found
