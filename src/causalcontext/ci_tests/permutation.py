"""P-values by permutation or by draws from a model, which stop early once they are clear (Besag and Clifford 1991).

Statistics of permutations are compared here (`permutation_p`), or counted in a kernel (`sequential_p`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats

Draw = Callable[[int, int], Floats]
"""`draw(first, count)`: the statistics of `count` permutations, from the one of that number on."""

Count = Callable[[Floats, int], tuple[int, int]]
"""`draw(uniforms, most)`: how many draws reach the observed statistic, and how many were made until `most` did."""
ENOUGH, DRAWS, BATCH = 20, 500, 20
"""Of `sequential_p`: draws end when `ENOUGH` reach the observed statistic, else after `DRAWS`; `BATCH` at a time."""

_FEWEST_AT_ONCE = 8
_ROUNDING = 1e-9


def permutation_p(observed: float, draw: Draw, most: int, enough: int | None) -> float:
    """The share of permutations whose statistic is at least the observed one, by sequential Monte Carlo.

    Permutations are drawn until `enough` of them reach the observed statistic; then p = enough / draws. If that does
    not happen in `most` draws, p = (reached + 1) / (draws + 1), which is also the p-value without early stopping
    (`enough` None). Drawing many at once changes nothing: the p-value is that of drawing one after the other.

    Notes
    -----
    Besag and Clifford (1991), "Sequential Monte Carlo p-values". Under independence both kinds of p-value are valid.
    With enough / most > alpha, stopping early changes no decision at level alpha: a stopped p-value is above
    alpha, and so is the one after all draws. Statistics that differ by rounding are equal.

    Examples
    --------
    >>> permutation_p(1.0, lambda first, count: np.arange(first, first + count) % 2.0, most=100, enough=10)
    0.5
    """
    threshold = observed - _ROUNDING * max(1.0, abs(observed)) if np.isfinite(observed) else observed
    reached, drawn = 0, 0
    while drawn < most:
        wanted = most if enough is None else max(enough - reached, _FEWEST_AT_ONCE)
        hits = np.flatnonzero(draw(drawn, min(wanted, most - drawn)) >= threshold)
        if enough is not None and reached + hits.size >= enough:
            return enough / float(drawn + hits[enough - reached - 1] + 1)
        reached, drawn = reached + hits.size, drawn + min(wanted, most - drawn)
    return (reached + 1) / (drawn + 1)


def check_permutations(permutations: int, enough: int | None) -> None:
    """Raise `OptionError` unless there is at least one permutation, and one to stop at if any."""
    if permutations < 1:
        raise OptionError(f"permutations is {permutations!r}, expected at least 1")
    if enough is not None and enough < 1:
        raise OptionError(f"enough is {enough!r}, expected at least 1, or None to draw all permutations")


def sequential_p(draw: Count, rows: int, random: np.random.Generator) -> float:
    """The share of draws that reach the observed statistic, which counts as a draw where few do.

    `draw` gets random numbers of shape (draws, rows).
    """
    reached = drawn = 0
    while reached < ENOUGH and drawn < DRAWS:
        more, made = draw(random.random((BATCH, rows)), ENOUGH - reached)
        reached, drawn = reached + more, drawn + made
    return reached / drawn if reached >= ENOUGH else (reached + 1) / (drawn + 1)
