"""The best order of variables whose mechanisms are lines with Gaussian noise, from moments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext import _kernels
from causalcontext.kernels.arrays import Bools, Floats, Ints


class LineProblem(NamedTuple):
    """What is given of p variables."""

    covariance: Floats  # shape (p, p): of variables with variance 1, or 0 for a constant
    allowed: Bools  # shape (p, p): `allowed[effect, cause]`
    required: Bools  # shape (p, p): `required[effect, cause]`: always a cause, and allowed
    first: Bools  # shape (p, p): `first[a, b]`: a comes before b in every order
    rows: float
    price: float  # of a cause, in nats
    most: int  # causes of a variable


def search_lines(
    problem: LineProblem, seed: int, stop: Ints, order: Ints | None = None
) -> tuple[float, Ints, Bools]:
    """The best score, the order that has it, and its causes, shape (p, p), `[effect, cause]`.

    The score is the sum over variables of -n / 2 log(the variance that causes leave) less the price
    of causes. Without an `order` to begin with, shape (p,), the search makes its own one. A 1 in
    `stop`, shape (1,), ends it with the order that it has.
    """
    size = len(problem.covariance)
    best = np.arange(size) if order is None else order.astype(np.int64)
    causes = np.zeros((size, size), dtype=bool)
    score = _kernels.search_lines(problem, best, order is not None, seed, stop, causes)
    return float(score), best, causes


def screen_lines(covariance: Floats, rows: Floats, price: Floats, most: int) -> Bools:
    """Who may matter to whom in a wide table, shape (p, p), which is symmetric.

    `covariance`, shape (blocks, p, p), is that of all rows and of the rows of every context;
    `rows` and `price`, shape (blocks,), are the rows of a block and the price of a cause there. In
    every block forward selection takes at most so many columns at half the price, of all others,
    whatever their direction.
    """
    near = np.zeros(covariance.shape[1:], dtype=bool)
    _kernels.screen_lines(covariance, rows, price, most, near)
    return near
