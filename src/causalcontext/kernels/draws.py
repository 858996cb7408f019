"""Random numbers by place instead of by turn: the t-th number of a stream is a function of the
stream and of t.

Rows and copies that have a stream each can be drawn in any order, by any number of threads, on any
device.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.compiling import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
ZERO = np.uint64(0)
ONE = np.uint64(1)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
_11 = np.uint64(11)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
_UNIT = 2.0**-53
Bits = TypeVar("Bits", np.uint64, NDArray[np.uint64])


def splitmix64(bits: Bits) -> Bits:
    """The finaliser of splitmix64, of a number or of an array: a bit of the input moves half of
    those of the output.
    """
    bits = (bits ^ (bits >> _30)) * _FIRST_FACTOR
    bits = (bits ^ (bits >> _27)) * _SECOND_FACTOR
    return bits ^ (bits >> _31)


mixed = kernel(splitmix64)


@kernel
def stream_of(seed: np.uint64, number: int) -> np.uint64:
    """The stream of a row or a copy: splitmix64 at that place."""
    return mixed(seed + (np.uint64(number) + ONE) * GOLDEN)


@kernel
def uniform_at(stream: np.uint64, turn: int) -> float:
    """The number of that turn, from 0 up to 1."""
    return float(mixed(stream + (np.uint64(turn) + ONE) * GOLDEN) >> _11) * _UNIT
