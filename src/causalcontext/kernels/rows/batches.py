"""Kernels that prepare a batch of a stream: where its columns lie, the cells of its rows, and which are drawn."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Codes, Ints, Values
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.draws import GOLDEN, ONE, ZERO, mixed
from causalcontext.kernels.rows.addresses import Words, letters_at, words_at

_EIGHT, _FLOAT64 = np.uint64(8), np.uint8(ord("g"))
_AT_A_TIME = 64
_TWO_LEVELS = 3
"""Words of two levels and of none."""


@kernel
def find_columns(schema: np.uint64, batch: np.uint64, positions: Ints, addresses: Words) -> int:
    """Write down where the values of some columns begin, 0 where they are not float64 or some are missing; how many.

    The two are addresses in Arrow's C data interface: of an ArrowSchema, which has its format first ("g" is float64)
    and its children sixth, and of an ArrowArray: length, missing values, offset, numbers of buffers and children,
    buffers (the second one holds the values), children.
    """
    above, others = words_at(batch, 7), 0
    children, kinds = words_at(above[6], above[4]), words_at(words_at(schema, 6)[5], above[4])
    for j in range(positions.size):
        words = words_at(children[positions[j]], 6)
        kind = letters_at(words_at(kinds[positions[j]], 1)[0], 2)
        addresses[j] = ZERO
        if kind[0] == _FLOAT64 and kind[1] == 0:
            buffers = words_at(words[5], 2)
            if words[1] == ZERO or buffers[0] == ZERO:
                addresses[j] = buffers[1] + (words[2] + above[2]) * _EIGHT
        others += addresses[j] == ZERO
    return others


@kernel
def digest_codes(codes: Codes, words: Words, first_row: int) -> tuple[np.uint64, int]:
    """The sum over rows of a hash of (word of the row's level, row), and how many rows have no level.

    The last word is that of no level.
    """
    total, without, row = ZERO, 0, (np.uint64(first_row) + ONE) * GOLDEN
    if words.size == _TWO_LEVELS:  # a choice between numbers is made for several rows at once, looking up is not
        first, second, none = words[0], words[1], words[2]
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

    False if that is below -1 somewhere, or if something is no place of the list or below `lowest`, 0 or -1.
    """
    least, most, straight = np.int64(0), np.int64(0), True
    for i in range(numbers.size):
        place = np.int64(numbers[i]) - first
        least, most = min(least, place), max(most, place)
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
    """Write down the rows of a batch whose hashes are below a bound, and the hashes; how many there are."""
    found, one = 0, np.uint64(first_row) + ONE
    for begin in range(0, rows, _AT_A_TIME):
        end, least = min(begin + _AT_A_TIME, rows), bound
        for i in range(begin, end):
            least = min(least, mixed((one + np.uint64(i)) * GOLDEN))
        if least >= bound:  # mostly so, and told without looking at every row for itself
            continue
        for i in range(begin, end):
            word = mixed((one + np.uint64(i)) * GOLDEN)
            if word < bound:
                chosen[found], hashes[found] = i, word
                found += 1
    return found
