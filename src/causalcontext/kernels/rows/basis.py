"""Two numbers given others whose effects may be curved: chosen columns of a table of correlations,
three questions.

Every variable has columns: itself, then curves of it. Of the conditions, the variables themselves
are always taken, and of their curves those that pay their price for one of the two ends. What is
left of the ends is asked three questions: are the ends correlated, and does either follow a curve
of the other beyond that?
"""

from __future__ import annotations

from typing import NamedTuple

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats, Ints

SAME_CURVE = 1e-6
"""A curve of which less than this share is left says nothing new."""


class Basis(NamedTuple):
    """Correlations of all columns on some rows; those of variable j are `first[j]` to `first[j + 1]
    - 1`.
    """

    table: Floats
    first: Ints
    rows: int


def answer_basis(
    basis: Basis, pairs: Ints, start: Ints, given: Ints, numbers: Floats, reasons: Ints
) -> None:
    """Answer a group of trials on the same rows; the conditions of trial t are `given[start[t] :
    start[t + 1]]`.

    `pairs` has shape (trials, 2). Written are `numbers`, shape (trials, 3), -n log(1 - share
    explained) of the question that decides, its degrees of freedom, and p; and `reasons`, shape
    (trials,), why there are none, 0 if there are.
    """
    _kernels.answer_basis(basis, pairs, start, given, numbers, reasons)
