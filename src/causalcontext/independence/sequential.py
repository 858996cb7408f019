"""Monte-Carlo p-values that stop early, as Besag and Clifford (1991) proposed: a large p-value needs few draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ENOUGH, DRAWS, BATCH = 20, 500, 20
"""Draws end when `ENOUGH` of them reach the observed statistic, else after `DRAWS`; they are made `BATCH` at a time."""
Draw = Callable[[Floats, int], tuple[int, int]]
"""`draw(uniforms, most)`: how many draws reach the observed statistic, and how many were made until `most` did."""


def sequential_p(draw: Draw, rows: int, random: np.random.Generator) -> float:
    """The share of draws that reach the observed statistic, which counts as a draw where few do.

    Parameters
    ----------
    draw : callable
        Gets random numbers of shape (draws, rows).
    rows : int
    random : numpy.random.Generator
    """
    reached = drawn = 0
    while reached < ENOUGH and drawn < DRAWS:
        more, made = draw(random.random((BATCH, rows)), ENOUGH - reached)
        reached, drawn = reached + more, drawn + made
    return reached / drawn if reached >= ENOUGH else (reached + 1) / (drawn + 1)
