"""d-separation in an acyclic directed graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalcontext.simulate.assumptions import ancestors


def is_d_separated(links: NDArray[np.bool_], x: int, y: int, given: Sequence[int]) -> bool:
    """True if the nodes `given` block every path between x and y; `links[i, j]` says i -> j.

    Notes
    -----
    By moralisation: among x, y, `given` and their ancestors, marry the parents of every node, forget the directions
    and take `given` out; what is then connected was not separated (Lauritzen et al. 1990).

    Examples
    --------
    >>> collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> is_d_separated(collider, 0, 1, ()), is_d_separated(collider, 0, 1, (2,))
    (True, False)
    """
    named = [x, y, *given]
    kept = np.any([ancestors(links, node) for node in named], axis=0)
    kept[named] = True
    among = links & kept[:, None] & kept
    married = among | among.T | (among.astype(int) @ among.T.astype(int) > 0)
    married[list(given), :] = married[:, list(given)] = False
    np.fill_diagonal(married, False)
    return not ancestors(married, y)[x]
