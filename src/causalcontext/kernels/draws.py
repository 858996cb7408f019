"""Random numbers by place instead of by turn: the t-th number of a stream is a function of the
stream and of t, as in `src/kernels/draws.hpp`.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ONE = np.uint64(1)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
Bits = TypeVar("Bits", np.uint64, NDArray[np.uint64])


def splitmix64(bits: Bits) -> Bits:
    """The finaliser of splitmix64, of a number or of an array: a bit of the input moves half of
    those of the output.
    """
    bits = (bits ^ (bits >> _30)) * _FIRST_FACTOR
    bits = (bits ^ (bits >> _27)) * _SECOND_FACTOR
    return bits ^ (bits >> _31)
