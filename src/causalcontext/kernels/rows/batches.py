"""Kernels that prepare a batch of a stream: the cells of its rows, and which are drawn."""

from __future__ import annotations

from causalcontext import _kernels
from causalcontext.kernels.arrays import Codes, Ints, Values, Words


def digest_codes(codes: Codes, words: Words, first_row: int) -> tuple[int, int]:
    """The sum over rows of a hash of (word of the row's level, row), and how many have none, whose
    word is the last.
    """
    result: tuple[int, int] = _kernels.digest_codes(codes, words, first_row)
    return result


def look_up(numbers: Values, first: int, lowest: int, places: Codes, codes: Codes) -> bool:
    """Write down what a list has at `number - first`, its last entry for -1.

    False if that is below -1 somewhere, or if something is no place of the list or below `lowest`,
    0 or -1.
    """
    return bool(_kernels.look_up(numbers, first, lowest, places, codes))


def draw(first_row: int, rows: int, bound: int, chosen: Ints, hashes: Words) -> int:
    """Write down the rows of a batch whose hashes are below a bound, and the hashes; how many there
    are.
    """
    return int(_kernels.draw(first_row, rows, bound, chosen, hashes))
