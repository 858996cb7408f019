"""Log-likelihoods of generalised linear models with their derivatives: one pass over the rows each
(`src/kernels/likelihoods.hpp`).

The families are the multinomial logit, proportional odds, the Poisson regression and the hurdle.
The first three are concave in their coefficients, and bounded: by 0 for classes, by that of a fit
to every row for counts. The hurdle is a logit and a normal regression, whose variance is the best
one; a Newton step ends at its maximum. The design has one line for every column and one entry a
row, so that all sums run along memory.
"""

from __future__ import annotations

from causalcontext import _kernels
from causalcontext.kernels.arrays import Floats, Ints

LOGIT = 0
ORDINAL = 1
POISSON = 2
TWO_PART = 3
"""The families: classes, ordered classes, counts, and hurdles: numbers in some rows, one value in
the others.
"""
NO_NUMBER = 0
NUMBERS_FROM = 1 << 40
UNIT = float(1 << 20)
"""A hurdle's codes: 0 where there is no number, else `NUMBERS_FROM` plus the number times `UNIT`,
rounded.
"""


def call_pass(
    family: int,
    design: Floats,
    response: Ints,
    free: int,
    slopes: Floats,
    gradient: Floats,
    curvature: Floats,
) -> float:
    """The log-likelihood of a family; gradient and the lower half of the negative Hessian.

    What there is no room for is not written. The design has shape (width, rows), its first row is
    1; `free` is the number of classes but one. The slopes are `free * width` of a logit, whose last
    class has none; the cuts, then `width - 1` of proportional odds, -inf where cuts are not in
    order; `width` of counts, without the term log(count!); those of the logit of whether there is
    no number, then those of the numbers, of a hurdle.
    """
    return float(_kernels.one_pass(family, design, response, free, slopes, gradient, curvature))
