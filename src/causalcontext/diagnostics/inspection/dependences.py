"""Which columns are exact linear functions of others, in all rows or in the rows of one context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import COLLINEAR_BELOW, LARGEST_SCATTER

_NO_SHARE = 1e-4


@dataclass(frozen=True)
class Dependence:
    """`column` is a linear function of the columns `of`; in all rows, or where the context has the value `level`."""

    column: str
    of: tuple[str, ...]
    everywhere: bool
    level: Any = None


def linear_dependences(statistics: SufficientStatistics) -> tuple[Dependence, ...]:
    """The dependences in all rows, then those that hold in one context only."""
    whole = statistics.moments.merged()
    pooled = _dependences(whole.scatter[0], int(whole.rows[0]))
    found = [Dependence(statistics.names[column], _named(statistics, of), True) for column, of in pooled]
    if len(statistics.values) == 1:
        return tuple(found)
    known = {frozenset((column, *of)) for column, of in pooled}
    for level, scatter, n in zip(statistics.values, statistics.moments.scatter, statistics.moments.rows, strict=True):
        for column, of in _dependences(scatter, int(n)):
            if frozenset((column, *of)) not in known:
                found.append(Dependence(statistics.names[column], _named(statistics, of), False, level))
    return tuple(found)


def _named(statistics: SufficientStatistics, columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(statistics.names[column] for column in columns)


def _dependences(scatter: Floats, n: int) -> list[tuple[int, list[int]]]:
    """Columns that a pivoted Cholesky factorisation has no use for, each with those that make it up.

    With no more rows than columns everything depends on everything: that is a lack of rows, and not reported here.
    """
    squares = np.diagonal(scatter)
    varying = np.flatnonzero((squares > 0.0) & (squares <= LARGEST_SCATTER))
    if n - 1 <= len(varying):
        return []
    scale = np.sqrt(squares[varying])
    correlation = scatter[np.ix_(varying, varying)] / scale[:, None] / scale
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(correlation, tol=COLLINEAR_BELOW, lower=1)
    basis, rest = pivots[:rank] - 1, np.sort(pivots[rank:] - 1)
    shares = scipy.linalg.cho_solve((factor[:rank, :rank], True), correlation[np.ix_(basis, rest)])
    parts = [np.sort(basis[np.abs(share) > _NO_SHARE]) for share in shares.T]
    return [(int(varying[column]), varying[part].tolist()) for column, part in zip(rest, parts, strict=True)]
