"""Slow, obvious twins of the nonparametric tests, written from the papers; nothing is imported from
the package.

A column is a pair `(values, is_code)`: codes are either equal or farther apart than any two ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

Floats = NDArray[np.float64]
Column = tuple[Any, bool]


def frenzel_pompe(x: Any, y: Any, given: Sequence[Any], share: float) -> float:
    """psi(k) - <psi(n_xz) + psi(n_yz) - psi(n_z)> on ranks; n counts the rows closer than the k-th
    neighbour.
    """
    n = len(x)
    k = max(1, int(share * n)) if share < 1 else int(share)
    ranks = [stats.rankdata(column) for column in (x, y, *given)]
    total = 0.0
    for i in range(n):
        gaps = [np.abs(column - column[i]) for column in ranks]
        radius = np.sort(largest(gaps, n))[k]
        closer = [
            np.sum(largest(part, n) < radius) for part in (gaps[:1] + gaps[2:], gaps[1:], gaps[2:])
        ]
        total += special.digamma(k) - special.digamma(closer[0]) - special.digamma(closer[1])
        total += special.digamma(closer[2])
    return total / n


def mesner_shalizi(x: Column, y: Column, given: Sequence[Column], share: float) -> float:
    """<psi(n_xyz) - psi(n_xz) - psi(n_yz) + psi(n_z)>; n counts the other rows as close as the k-th
    neighbour.

    k is a share of the rows with the same codes, or that many of them; no such other row: the term
    is 0.
    """
    n = len(x[0])
    total = 0.0
    for i in range(n):
        gaps = [column_gaps(column, i) for column in (x, y, *given)]
        same = np.isfinite(largest(gaps, n))
        k = min(max(1, int(share * same.sum()) if share < 1 else int(share)), same.sum() - 1)
        if k == 0:
            continue
        radius = np.sort(largest(gaps, n))[k]
        parts = (gaps, gaps[:1] + gaps[2:], gaps[1:], gaps[2:])
        joint, with_x, with_y, alone = (np.sum(largest(part, n) <= radius) - 1 for part in parts)
        total += (
            special.digamma(joint)
            - special.digamma(with_x)
            - special.digamma(with_y)
            + special.digamma(alone)
        )
    return total / n


def column_gaps(column: Column, i: int) -> Floats:
    """The distances of all rows to row i in one column."""
    values, is_code = np.asarray(column[0]), column[1]
    if is_code:
        return np.where(values == values[i], 0.0, np.inf)
    ranks = stats.rankdata(values)
    return np.abs(ranks - ranks[i])


def largest(gaps: Sequence[Floats], n: int) -> Floats:
    """The distances in the maximum norm; all 0 without columns."""
    return np.max(gaps, axis=0) if len(gaps) else np.zeros(n)


def sequential_p(
    observed: float, statistics: Iterable[float], most: int, enough: int | None
) -> float:
    """Besag and Clifford's p-value, one statistic after the other."""
    reached = 0
    for drawn, statistic in enumerate(statistics, start=1):
        reached += statistic >= observed
        if enough is not None and reached == enough:
            return enough / drawn
        if drawn == most:
            break
    return (reached + 1) / (most + 1)
