"""Exponentials and dot products of a few rows at a time: what lies in the cache is used often, in
vector registers.
"""

from __future__ import annotations

import math

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.compiling import kernel

AT_ONCE = 128
"""Rows of a block."""
LEFT = 4
RIGHT = 2
"""So many lines of each side of a product are worked on together."""

PER_LN2 = 1.0 / math.log(2.0)
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
"""log 2 in two parts, the first with few digits: whole multiples of it are exact."""
WHOLE = 1.5 * 2.0**52
"""A small number added to this is rounded to a whole one, which the last bits show."""
BIAS = 1023
LEAST = -700.0
"""Below this, exponentials are those of this."""


@kernel
def padded(lines: int, at_once: int) -> int:
    """The next multiple of `at_once`."""
    return (lines + at_once - 1) // at_once * at_once


@kernel(fastmath={"contract"})
def exponentials(line: Floats, length: int, spare: Floats, bits: Ints) -> None:
    """Replace numbers of at most 0 by their exponentials, to about 15 digits; `bits` is a view of
    `spare`.

    exp(x) = 2^k exp(r) with |r| <= log(2) / 2. Every loop is one that compilers turn into vector
    instructions.
    """
    for t in range(length):
        spare[t] = max(line[t], LEAST) * PER_LN2 + WHOLE
    for t in range(length):
        k = spare[t] - WHOLE
        r = max(line[t], LEAST) - k * LN2_HIGH - k * LN2_LOW
        tail = 1.0 / 39916800.0 + r * (1.0 / 479001600.0)
        tail = 1.0 / 362880.0 + r * (1.0 / 3628800.0 + r * tail)
        tail = 1.0 / 5040.0 + r * (1.0 / 40320.0 + r * tail)
        tail = 1.0 / 120.0 + r * (1.0 / 720.0 + r * tail)
        tail = 1.0 / 6.0 + r * (1.0 / 24.0 + r * tail)
        line[t] = 1.0 + r * (1.0 + r * (0.5 + r * tail))
    for t in range(length):
        bits[t] = (bits[t] + BIAS) << 52
    for t in range(length):
        line[t] *= spare[t]


@kernel(fastmath={"reassoc", "contract"})
def add_dots(left: Floats, right: Floats, length: int, triangle: bool, sums: Floats) -> None:
    """Add the dot products of all lines of two blocks to `sums[i, j]`; for a triangle j <= i is
    enough.

    Blocks have shape (lines, AT_ONCE), with a multiple of `LEFT` and of `RIGHT` lines.
    """
    for i in range(0, left.shape[0], LEFT):
        for j in range(0, min(right.shape[0], i + LEFT) if triangle else right.shape[0], RIGHT):
            a = 0.0
            b = 0.0
            c = 0.0
            d = 0.0
            e = 0.0
            f = 0.0
            g = 0.0
            h = 0.0
            for t in range(length):
                one = right[j, t]
                two = right[j + 1, t]
                a += left[i, t] * one
                b += left[i, t] * two
                c += left[i + 1, t] * one
                d += left[i + 1, t] * two
                e += left[i + 2, t] * one
                f += left[i + 2, t] * two
                g += left[i + 3, t] * one
                h += left[i + 3, t] * two
            sums[i, j] += a
            sums[i, j + 1] += b
            sums[i + 1, j] += c
            sums[i + 1, j + 1] += d
            sums[i + 2, j] += e
            sums[i + 2, j + 1] += f
            sums[i + 3, j] += g
            sums[i + 3, j + 1] += h
