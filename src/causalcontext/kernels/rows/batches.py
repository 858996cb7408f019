"""Kernels that prepare a batch of a stream: the cells of its rows, and which are drawn."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Codes, Ints, Values
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.draws import GOLDEN, ONE, ZERO, mixed
from causalcontext.kernels.rows.addresses import Words

_AT_A_TIME = 64
_TWO_LEVELS = 3
"""Words of two levels and of none."""


@kernel
def digest_codes(codes: Codes, words: Words, first_row: int) -> tuple[np.uint64, int]:
    """The sum over rows of a hash of (word of the row's level, row), and how many have none, whose
    word is the last.
    """
    total = ZERO
    without = 0
    row = (np.uint64(first_row) + ONE) * GOLDEN
    if (
        words.size == _TWO_LEVELS
    ):  # a choice between numbers is made for several rows at once, looking up is not
        first = words[0]
        second = words[1]
        none = words[2]
        for i in range(codes.size):
            without += codes[i] < 0
            total += mixed((none if codes[i] < 0 else (second if codes[i] > 0 else first)) + row)
            row += GOLDEN
        return total, without
    for i in range(codes.size):
        without += codes[i] < 0
        total += mixed(words[codes[i]] + row)
        row += GOLDEN
    return total, without


@kernel
def look_up(numbers: Values, first: int, lowest: int, places: Codes, codes: Codes) -> bool:
    """Write down what a list has at `number - first`, its last entry for -1.

    False if that is below -1 somewhere, or if something is no place of the list or below `lowest`,
    0 or -1.
    """
    least = np.int64(0)
    most = np.int64(0)
    straight = True
    for i in range(numbers.size):
        place = np.int64(numbers[i]) - first
        least = min(least, place)
        most = max(most, place)
        codes[i] = place
    if least < lowest or most >= places.size - 1:
        return False
    for k in range(places.size - 1):
        straight = straight and places[k] == k
    if straight:  # as it mostly is
        return True
    least = np.int64(0)
    for i in range(numbers.size):
        codes[i] = places[codes[i]]
        least = min(least, codes[i])
    return bool(least >= -1)


@kernel
def draw(first_row: int, rows: int, bound: np.uint64, chosen: Ints, hashes: Words) -> int:
    """Write down the rows of a batch whose hashes are below a bound, and the hashes; how many there
    are.
    """
    found = 0
    one = np.uint64(first_row) + ONE
    for begin in range(0, rows, _AT_A_TIME):
        end = min(begin + _AT_A_TIME, rows)
        least = bound
        for i in range(begin, end):
            least = min(least, mixed((one + np.uint64(i)) * GOLDEN))
        if least >= bound:  # mostly so, and told without looking at every row for itself
            continue
        for i in range(begin, end):
            word = mixed((one + np.uint64(i)) * GOLDEN)
            if word < bound:
                chosen[found] = i
                hashes[found] = word
                found += 1
    return found
