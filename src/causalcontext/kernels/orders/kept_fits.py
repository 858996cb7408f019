"""Fits that were made before, by node, block and candidates: half of the fits of a search over orders are repeated.

A fit is a function of what its node may choose from. Where there is no room left everything is forgotten: what a climb
needs again it mostly needed a moment ago.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.orders.regressions import PATH, TAKEN, Fits

Names = NDArray[np.uint64]


class KeptFits(NamedTuple):
    """Fits of one thread in one problem; p variables, at most W columns.

    Attributes
    ----------
    keys : array of uint64, shape (p,)
        Random numbers that make the names of sets of candidates.
    names : array of uint64, shape (places,)
        Names of fits, 0 where nothing is kept; no places: nothing ever is.
    number : array of int, shape (places,)
        Which fit that is.
    scores : array, shape (fits,)
    columns : array of int, shape (fits, 1 + W)
        The number of columns taken, and the columns.
    matters : array of bool, shape (fits, p)
        Whose candidacy the fit depends on.
    filled : array of int, shape (1,)
        How many fits are kept.
    """

    keys: Names
    names: Names
    number: Codes
    scores: Floats
    columns: Codes
    matters: Bools
    filled: Ints


def no_kept(variables: int, width: int, places: int) -> KeptFits:
    """Room for half as many fits as places; memory that is never written is never taken."""
    keys = np.random.default_rng(1).integers(1, 1 << 63, size=variables, dtype=np.uint64)
    return KeptFits(keys, np.zeros(places, dtype=np.uint64), np.empty(places, dtype=np.int32), np.empty(places // 2),
                np.empty((places // 2, 1 + width), dtype=np.int32), np.empty((places // 2, variables), dtype=np.bool_),
                np.zeros(1, dtype=np.int64))  # fmt: skip


@kernel
def find(names: Names, name: np.uint64) -> int:
    """The place of a name, or an empty place."""
    place = np.int64(name >> np.uint64(40)) % names.size
    while names[place] != name and names[place] != np.uint64(0):
        place = (place + 1) % names.size
    return int(place)


@kernel
def name_of_fit(keys: Names, kind: int, node: int, candidates: Bools) -> np.uint64:
    """A name for a node, a kind of block and a set of candidates."""
    name = np.uint64(node + 1) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(kind) * np.uint64(0xC2B2AE3D27D4EB4F)
    for j in range(keys.size):
        name ^= keys[j] if candidates[j] else np.uint64(0)
    return name | np.uint64(1)


@kernel
def recall(kept: KeptFits, place: int, fits: Fits, node: int, slot: int) -> float:
    """Write a fit that was kept to a slot, but for the path that led to it; its score."""
    number, whole, matters = kept.number[place], fits.whole[node, slot], fits.matters[node, slot]
    room, columns, mattered = (whole.size - PATH) // 2, kept.columns[number], kept.matters[number]
    whole[TAKEN] = columns[0]
    for t in range(columns[0]):
        whole[PATH + room + t] = columns[1 + t]
    for j in range(matters.size):
        matters[j] = mattered[j]
    return float(kept.scores[number])


@kernel
def keep(kept: KeptFits, name: np.uint64, fits: Fits, node: int, slot: int, score: float) -> None:
    """Keep the fit of a slot."""
    if kept.filled[0] >= kept.scores.size:
        kept.names[:] = np.uint64(0)
        kept.filled[0] = 0
    whole, matters = fits.whole[node, slot], fits.matters[node, slot]
    place, number, room = find(kept.names, name), kept.filled[0], (whole.size - PATH) // 2
    kept.names[place], kept.number[place], kept.scores[number] = name, number, score
    kept.columns[number, 0] = whole[TAKEN]
    for t in range(whole[TAKEN]):
        kept.columns[number, 1 + t] = whole[PATH + room + t]
    for j in range(matters.size):
        kept.matters[number, j] = matters[j]
    kept.filled[0] += 1
