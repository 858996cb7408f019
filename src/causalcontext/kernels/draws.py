"""Random numbers by place instead of by turn: the t-th number of a stream is a function of the stream and of t.

Rows and copies that have a stream each can be drawn in any order, by any number of threads, on any device.
"""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.compiling import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
_ONE, _11, _27, _30, _31 = np.uint64(1), np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
_UNIT = 2.0**-53


@kernel
def stream_of(seed: np.uint64, number: int) -> np.uint64:
    """The stream of a row or a copy: splitmix64 at that place."""
    bits = seed + (np.uint64(number) + _ONE) * _GOLDEN
    bits = (bits ^ (bits >> _30)) * _FIRST_FACTOR
    bits = (bits ^ (bits >> _27)) * _SECOND_FACTOR
    return bits ^ (bits >> _31)


@kernel
def uniform_at(stream: np.uint64, turn: int) -> float:
    """The number of that turn, from 0 up to 1."""
    bits = stream + (np.uint64(turn) + _ONE) * _GOLDEN
    bits = (bits ^ (bits >> _30)) * _FIRST_FACTOR
    bits = (bits ^ (bits >> _27)) * _SECOND_FACTOR
    return float((bits ^ (bits >> _31)) >> _11) * _UNIT
