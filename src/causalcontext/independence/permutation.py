"""P-values by permutation, which stop early once they are clear: the one engine of all permutation tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import OptionError

Floats = NDArray[np.float64]
Draw = Callable[[int], Floats]
"""`draw(count)`: the statistics of the next `count` permutations."""

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
    >>> permutation_p(1.0, lambda count: np.arange(count) % 2.0, most=100, enough=10)
    0.5
    """
    threshold = observed - _ROUNDING * max(1.0, abs(observed)) if np.isfinite(observed) else observed
    reached, drawn = 0, 0
    while drawn < most:
        wanted = most if enough is None else max(enough - reached, _FEWEST_AT_ONCE)
        hits = np.flatnonzero(draw(min(wanted, most - drawn)) >= threshold)
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
