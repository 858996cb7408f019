"""Is there a card that can be used? One sentence if not."""

from __future__ import annotations

from functools import cache
from typing import Any

OLDEST = (7, 0)
"""The lowest compute capability that is used: older cards lack what the kernels count on."""


@cache
def obstacle() -> str:
    """Why no CUDA card can be used; empty if one can."""
    try:
        from numba import config, cuda
    except ImportError:
        return "numba-cuda is not installed: pip install 'causalcontext[gpu]'"
    settings: Any = config  # made when numba is imported, so type checkers know nothing of it
    if settings.ENABLE_CUDASIM:
        return ""
    try:
        if not cuda.is_available():
            return "no CUDA card was found, or its driver is missing or too old"
        card = cuda.get_current_device()
        if tuple(card.compute_capability) < OLDEST:
            found = ".".join(str(part) for part in card.compute_capability)
            return (
                f"the card has compute capability {found}, at least {OLDEST[0]}.{OLDEST[1]} is"
                " needed"
            )
    except Exception as error:  # a driver may fail in ways that no list of exceptions covers
        return (
            f"the CUDA driver does not work: {(str(error) or type(error).__name__).splitlines()[0]}"
        )
    return ""
