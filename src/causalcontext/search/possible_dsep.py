"""Who might separate two variables besides their neighbours: the Possible-D-SEP sets of FCI."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from causalcontext.kernels.arrays import Bools
from causalcontext.search.colliders import Triple


def possible_d_sep(adjacency: Bools, colliders: Collection[Triple]) -> Bools:
    """True where v might be in a set that separates x from something: shape (N, N), from row x to column v.

    v is reached from x by a path on which every inner variable is a collider, or has neighbours on the path that are
    adjacent to each other (Spirtes, Glymour and Scheines, 2000).
    """
    found = np.zeros_like(adjacency)
    neighbours = [np.flatnonzero(row).tolist() for row in adjacency]
    for x in range(len(adjacency)):
        seen = {(x, v) for v in neighbours[x]}
        frontier = list(seen)
        while frontier:
            before, here = frontier.pop()
            found[x, here] = True
            for after in neighbours[here]:
                triple = (min(before, after), here, max(before, after))
                goes_on = after not in (before, x) and (adjacency[before, after] or triple in colliders)
                if goes_on and (here, after) not in seen:
                    seen.add((here, after))
                    frontier.append((here, after))
    return found
