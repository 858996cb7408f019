"""Is an edge missing because the mechanism changed, or because the data could not show it?

For x --> y that is there in one context and not in another, the context that has it is cut down to
the values of x and the conditions that the other one has seen, and asked again. If the edge
vanishes there too, its absence is a matter of support; if it persists, the mechanism is another
one.

The search asks this of every edge by which it would orient others (`search/across.py`), `diagnose`
of every edge that it reports. Both read one verdict, so that they cannot disagree.
`benchmarks/support.py` judges the verdicts on the paper's two examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.diagnostics.settings import (
    ENOUGH_POWER,
    FEWEST_MATCHED_ROWS,
    GOOD_OVERLAP,
    MATCHED_QUANTILES,
    MOST_TIED_SHARE,
)
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.limits import COLLINEAR_BELOW, SMALLEST_SCATTER
from causalcontext.views import adaptive


class Cause(StrEnum):
    """The reason why an edge is missing in a context."""

    MECHANISM = "mechanism"
    SUPPORT = "support"
    SINGULAR = "singular support"
    FEW_ROWS = "few rows"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class MatchedSupport:
    """The verdict on a missing edge, and its evidence.

    `rows` and `share` count the rows of the context with the edge that lie inside the box of the
    other one; p is that of the re-test on these.
    """

    cause: Cause
    rows: int  # of the context with the edge that lie inside the box of the other one
    share: float  # the same as a share
    p: float  # of the re-test on these rows
    variance_ratio: float  # variance of x given the conditions, without the edge over with it
    power: (
        float  # with which the context without the edge would have shown it, had it the same slope
    )

    @property
    def trusted(self) -> bool:
        """True if the missing edge may be used as a change of mechanism.

        An undecided one may where most rows match: what both contexts have seen is nearly the same,
        and only the re-test had too few rows.
        """
        return self.cause is Cause.MECHANISM or (
            self.cause is Cause.UNDECIDED and self.share >= GOOD_OVERLAP
        )


INCOMPARABLE = MatchedSupport(Cause.UNDECIDED, 0, 0.0, np.nan, np.nan, np.nan)


def matched_support(with_edge: Floats, without: Floats, alpha: float) -> MatchedSupport:
    """The verdict on x - y, which is missing in the rows `without`, x being the candidate cause.

    Both arrays have shape (rows, 2 + conditions), with columns x, y and the conditions. The
    questions are asked in this order; the first that is answered decides.

    1. Nearly all values of x are equal: nothing can be detected (singular).
    2. With the slope of the other context, these rows would have shown the edge with a power
       below `ENOUGH_POWER`: too few rows.
    3. Of the rows with the edge, those inside the 5-95 % box of the others are too few: undecided.
    4. The edge is found on them: the mechanism differs.
    5. It is not, though they would have shown it: a matter of support. Else undecided.
    """
    # most values are the same; of two different, nearly all
    _, counts = np.unique(without[:, 0], return_counts=True)
    most_tied = MATCHED_QUANTILES[1] if counts.size == 2 else MOST_TIED_SHARE
    if not counts.size or counts.max() > most_tied * len(without):
        return MatchedSupport(Cause.SINGULAR, 0, 0.0, np.nan, 0.0, 0.0)
    fit_with_edge = _fit(with_edge)
    fit_without = _fit(without)
    ratio = (
        fit_without.spread_x**2 / fit_with_edge.spread_x**2
        if fit_with_edge.spread_x > 0
        else np.nan
    )
    power = _power(fit_with_edge.slope, fit_without, len(without), alpha)
    columns = [0, *range(2, with_edge.shape[1])]
    low, high = np.quantile(without[:, columns], MATCHED_QUANTILES, axis=0)
    inside = with_edge[
        ((with_edge[:, columns] >= low) & (with_edge[:, columns] <= high)).all(axis=1)
    ]
    matched = (len(inside), len(inside) / max(len(with_edge), 1))
    if power < ENOUGH_POWER:
        return MatchedSupport(Cause.FEW_ROWS, *matched, np.nan, ratio, power)
    if len(inside) < FEWEST_MATCHED_ROWS:
        return MatchedSupport(Cause.UNDECIDED, *matched, np.nan, ratio, power)
    again = _fit(inside)
    if again.p <= alpha:
        return MatchedSupport(Cause.MECHANISM, *matched, again.p, ratio, power)
    cause = (
        Cause.SUPPORT
        if _power(fit_with_edge.slope, again, len(inside), alpha) >= ENOUGH_POWER
        else Cause.UNDECIDED
    )
    return MatchedSupport(cause, *matched, again.p, ratio, power)


class Support:
    """The verdicts on pairs of columns of a table, each computed once.

    Two cells are compared on all rows that agree with them on the context variables that differ or
    are conditioned on, which may be the rows of several cells.
    """

    def __init__(self, data: Dataset, alpha: float) -> None:
        self.data = data
        self.alpha = alpha
        self._rows: dict[int, NDArray[np.intp]] = {}
        self._known: dict[tuple[tuple[int, ...], int, int], MatchedSupport] = {}

    def verdict(
        self, cause: int, effect: int, given: Sequence[int], present: int, absent: int
    ) -> MatchedSupport:
        """The verdict on the edge from `cause` to `effect`, missing in cell `absent`, compared with
        `present`.

        Categories with more than two levels have no slope to compare, and are undecided. The
        verdict is kept by columns and rows, since several cells may be compared on the same ones.
        """
        contexts = self.data.contexts
        fixed = {
            *contexts.differing(present, absent),
            *(z for z in given if z in contexts.positions),
        }
        view_with_edge, view_without = (
            contexts.number(adaptive(contexts.cell(cell), fixed)) for cell in (present, absent)
        )
        columns = (cause, effect, *(z for z in given if z not in contexts.positions))
        if (columns, view_with_edge, view_without) not in self._known:
            comparable = all(len(self.data.categories.get(end, ())) <= 2 for end in (cause, effect))
            self._known[columns, view_with_edge, view_without] = (
                INCOMPARABLE
                if not comparable
                else matched_support(
                    self._values(columns, view_with_edge),
                    self._values(columns, view_without),
                    self.alpha,
                )
            )
        return self._known[columns, view_with_edge, view_without]

    def trusted(self, x: int, y: int, given: Sequence[int], present: int, absent: int) -> bool:
        """True if x - y may be called a change of mechanism, whichever of the two is the cause."""
        return all(self.verdict(*pair, given, present, absent).trusted for pair in ((x, y), (y, x)))

    def _values(self, columns: tuple[int, ...], view: int) -> Floats:
        """Both ends and the conditions on the complete rows of a view, as numbers; shape (rows,
        columns).

        Categories of two levels are the numbers 0 and 1; a condition with more of them has a column
        for each but the first.
        """
        if view not in self._rows:
            inside = np.isin(self.data.codes, self.data.contexts.members(view))
            self._rows[view] = np.flatnonzero(inside & self._usable)
        numbers = []
        for column in columns:
            values = np.asarray(self.data.columns[column], dtype=np.float64)[self._rows[view]]
            levels = len(self.data.categories.get(column, ()))
            numbers += (
                [values]
                if levels <= 2
                else [(values == code).astype(np.float64) for code in range(1, levels)]
            )
        return np.column_stack(numbers)

    @cached_property
    def _usable(self) -> Bools:
        """True for the rows without a missing value, shape (rows,)."""
        return complete_rows(self.data)


@dataclass(frozen=True)
class _SlopeFit:
    """The regression of y on x and conditions.

    `spread_x` is the standard deviation of x given the conditions, `spread` that of the residual,
    both in the units of their columns; p is that of the slope.
    """

    slope: float
    spread_x: float
    spread: float
    p: float


def _fit(rows: Floats) -> _SlopeFit:
    """The regression of the second column on the first, given the others; without an edge (slope 0,
    p 1) where x is a function of the conditions or there are too few rows.

    By the theorem of Frisch and Waugh, x and y are regressed on the conditions, and the slope is
    that of what is left. Its p-value is that of Student's t with n - columns degrees of freedom.
    """
    n = len(rows)
    df = n - rows.shape[1]
    if df < 2:
        return _SlopeFit(0.0, 0.0, 0.0, 1.0)
    # Centred and scaled first: neither an offset nor a unit may cost digits.
    centred = rows - rows.mean(axis=0)
    scale = np.maximum(np.abs(centred).max(axis=0), SMALLEST_SCATTER)
    centred = centred / scale
    left = centred[:, :2]
    if rows.shape[1] > 2:
        left = left - centred[:, 2:] @ np.linalg.lstsq(centred[:, 2:], left, rcond=None)[0]
    xx, yy, xy = (float(left[:, i] @ left[:, j]) for i, j in ((0, 0), (1, 1), (0, 1)))
    if xx <= COLLINEAR_BELOW * float(centred[:, 0] @ centred[:, 0]) or yy <= 0.0:
        return _SlopeFit(0.0, 0.0, 0.0, 1.0)
    slope = xy / xx
    rest = max(yy - slope * xy, 1e-300)
    t = slope * np.sqrt(xx * df / rest)
    spread_x = float(np.sqrt(xx / n) * scale[0])
    spread = float(np.sqrt(rest / df) * scale[1])
    p = float(2.0 * scipy.special.stdtr(df, -abs(t)))
    return _SlopeFit(slope * float(scale[1] / scale[0]), spread_x, spread, p)


def _power(slope: float, fit: _SlopeFit, n: int, alpha: float) -> float:
    """The power with which n rows with these spreads show a slope, by the normal approximation.

    The t-value is about normal around |slope| spread_x sqrt(n) / spread; the power is the
    probability that it lies beyond the bound of a two-sided test at alpha.
    """
    if fit.spread <= 0.0:
        return 0.0
    shift = abs(slope) * fit.spread_x * np.sqrt(n) / fit.spread
    bound = -scipy.special.ndtri(alpha / 2)
    return float(scipy.special.ndtr(shift - bound) + scipy.special.ndtr(-bound - shift))
