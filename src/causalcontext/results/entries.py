"""The deciding query of a pair in a context: what was asked, what came out, and what became of the pair."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Floats, Ints, Shorts
from causalcontext.progress import ArrayEnumType


class Decision(IntEnum, metaclass=ArrayEnumType):
    """What became of a pair in a context."""

    PRESENT = 0
    ABSENT = 1
    UNTESTABLE = 2
    REQUIRED = 3
    FORBIDDEN = 4
    NOT_SEARCHED = 5


@dataclass(frozen=True, eq=False)
class Entries:
    """The deciding queries of some pairs in every context, as arrays of shape (contexts, pairs), or of one pair in one.

    `p`, `statistic` and `df` are of the separating query, or of the one with the largest p-value where the edge was
    kept; NaN without a test.
    """

    decision: NDArray[np.int8]  # a `Decision`
    p: Floats
    statistic: Floats
    df: Floats
    n: Ints  # rows used
    view: Ints  # the number of the view that answered: 0 for all rows; -1 without a test
    given: Shorts
    """The conditioning set, shape (contexts, pairs, width), padded with -1; without contexts that the view fixes."""
    reason: NDArray[np.int8]  # why a pair could not be tested, a `Reason`
    untested: Ints  # how many queries of the pair could not be run
    cut: Ints  # the size from which on not all sets were tried, since there are too many; 0 where all were
    label: NDArray[np.int8]  # which of the labels of the log, the tests, was used

    @property
    def conditions(self) -> tuple[int, ...]:
        """The conditioning set of the deciding query of one pair in one context."""
        return tuple(int(z) for z in self.given if z >= 0)


def picked(entries: Entries, places: Ints) -> Entries:
    """Entries of some of the pairs, by their places."""
    return Entries(*(getattr(entries, field.name)[:, places] for field in fields(Entries)))


def woven(listed: Entries, others: Entries, where: Bools) -> Entries:
    """Entries of the pairs for which `where` is true, and of all others, in the order of the pairs."""
    values: dict[str, Any] = {}
    listed, others = alike(listed, others)
    for field in fields(Entries):
        mine, theirs = getattr(listed, field.name), getattr(others, field.name)
        values[field.name] = made = np.empty((len(mine), where.size, *mine.shape[2:]), dtype=mine.dtype)
        made[:, where], made[:, ~where] = mine, theirs
    return Entries(**values)


def alike(one: Entries, other: Entries) -> tuple[Entries, Entries]:
    """The same entries, with sets of the same width."""
    width = max(one.given.shape[2], other.given.shape[2])
    return replace(one, given=padded(one.given, width)), replace(other, given=padded(other.given, width))


def padded(given: Shorts, width: int) -> Shorts:
    """Sets with room for so many variables."""
    return np.pad(given, ((0, 0), (0, 0), (0, width - given.shape[2])), constant_values=-1)
