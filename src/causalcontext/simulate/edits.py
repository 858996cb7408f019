"""What can happen to a graph between contexts: a new parent, one parent less, a link reversed.

Every edit takes the coefficients of a graph (`current[i, j]`: the effect of `i` on `j`), the pairs that it
may touch, the node at which it happens, the values that a new link may have and a generator. It returns new
coefficients, or None if the node has no link for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats

Law = Sequence[float]
Edit = Callable[[Floats, Bools, int, Law, np.random.Generator], Floats | None]

COEFFICIENTS = (-1.8, -1.5, -1.2, 1.2, 1.5, 1.8)


def add_parent(current: Floats, free: Bools, node: int, law: Law, generator: np.random.Generator) -> Floats | None:
    """`node` has a new parent, among the nodes it had no link with."""
    unlinked = (current[:, node] == 0) & (current[node, :] == 0)
    parent = _pick(free[:, node] & unlinked, generator)
    if parent is None:
        return None
    edited = current.copy()
    edited[parent, node] = generator.choice(law)
    return edited


def remove_parent(current: Floats, free: Bools, node: int, law: Law, generator: np.random.Generator) -> Floats | None:
    """`node` has lost one of its parents."""
    parent = _pick(free[:, node] & (current[:, node] != 0), generator)
    if parent is None:
        return None
    edited = current.copy()
    edited[parent, node] = 0.0
    return edited


def flip_parent(current: Floats, free: Bools, node: int, law: Law, generator: np.random.Generator) -> Floats | None:
    """One of the parents of `node` has become its child, with the same coefficient."""
    parent = _pick(free[:, node] & (current[:, node] != 0), generator)
    if parent is None:
        return None
    edited = current.copy()
    edited[node, parent], edited[parent, node] = current[parent, node], 0.0
    return edited


def _pick(candidates: Bools, generator: np.random.Generator) -> int | None:
    """One of the true positions at random, None if there is none."""
    positions = np.flatnonzero(candidates)
    return int(positions[generator.integers(positions.size)]) if positions.size else None


EDITS: Mapping[str, Edit] = {"add": add_parent, "remove": remove_parent, "flip": flip_parent}
