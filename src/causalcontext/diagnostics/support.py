"""Is an edge missing because the mechanism changed, or because the data could not show it?

For x --> y that is there in one context and not in another, the context that has it is cut down to
the values of x and the conditions that the other one has seen, and asked again. If the edge
vanishes there too, its absence is a matter of support; if it persists, the mechanism is another
one.
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
    """Why an edge is missing in a context."""

    MECHANISM = "mechanism"
    SUPPORT = "support"
    SINGULAR = "singular support"
    FEW_ROWS = "few rows"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class MatchedSupport:
    """The verdict on a missing edge, and its evidence."""

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
        """True if the missing edge may be used as a change of mechanism."""
        return self.cause is Cause.MECHANISM or (
            self.cause is Cause.UNDECIDED and self.share >= GOOD_OVERLAP
        )


INCOMPARABLE = MatchedSupport(Cause.UNDECIDED, 0, 0.0, np.nan, np.nan, np.nan)


def matched_support(with_edge: Floats, without: Floats, alpha: float) -> MatchedSupport:
    """Why x - y is missing in the rows `without`, x being the candidate cause; columns are x, y and
    the conditions.
    """
    _, counts = np.unique(
        without[:, 0], return_counts=True
    )  # most values are the same; of two different, nearly all
    most_tied = MATCHED_QUANTILES[1] if counts.size == 2 else MOST_TIED_SHARE
    if not counts.size or counts.max() > most_tied * len(without):
        return MatchedSupport(Cause.SINGULAR, 0, 0.0, np.nan, 0.0, 0.0)
    here = _fit(with_edge)
    there = _fit(without)
    ratio = there.spread_x**2 / here.spread_x**2 if here.spread_x > 0 else np.nan
    power = _power(here.slope, there, len(without), alpha)
    columns = [0, *range(2, with_edge.shape[1])]
    low, high = np.quantile(without[:, columns], MATCHED_QUANTILES, axis=0)
    inside = with_edge[
        ((with_edge[:, columns] >= low) & (with_edge[:, columns] <= high)).all(axis=1)
    ]
    found = (len(inside), len(inside) / max(len(with_edge), 1))
    if power < ENOUGH_POWER:
        return MatchedSupport(Cause.FEW_ROWS, *found, np.nan, ratio, power)
    if len(inside) < FEWEST_MATCHED_ROWS:
        return MatchedSupport(Cause.UNDECIDED, *found, np.nan, ratio, power)
    again = _fit(inside)
    if again.p <= alpha:
        return MatchedSupport(Cause.MECHANISM, *found, again.p, ratio, power)
    cause = (
        Cause.SUPPORT
        if _power(here.slope, again, len(inside), alpha) >= ENOUGH_POWER
        else Cause.UNDECIDED
    )
    return MatchedSupport(cause, *found, again.p, ratio, power)


class Support:
    """Answers for pairs of columns of a table, and remembers.

    Two cells are compared on all rows that agree with them on the context variables that differ or
    are conditioned on.
    """

    def __init__(self, data: Dataset, alpha: float) -> None:
        self.data = data
        self.alpha = alpha
        self._rows: dict[int, NDArray[np.intp]] = {}
        self._known: dict[tuple[tuple[int, ...], int, int], MatchedSupport] = {}

    def verdict(
        self, cause: int, effect: int, given: Sequence[int], present: int, absent: int
    ) -> MatchedSupport:
        """Why cause - effect is missing in cell `absent`, compared with `present`."""
        contexts = self.data.contexts
        fixed = {
            *contexts.differing(present, absent),
            *(z for z in given if z in contexts.positions),
        }
        here, there = (
            contexts.number(adaptive(contexts.cell(cell), fixed)) for cell in (present, absent)
        )
        columns = (cause, effect, *(z for z in given if z not in contexts.positions))
        if (columns, here, there) not in self._known:
            comparable = all(len(self.data.categories.get(end, ())) <= 2 for end in (cause, effect))
            self._known[columns, here, there] = (
                INCOMPARABLE
                if not comparable
                else matched_support(
                    self._values(columns, here), self._values(columns, there), self.alpha
                )
            )
        return self._known[columns, here, there]

    def trusted(self, x: int, y: int, given: Sequence[int], present: int, absent: int) -> bool:
        """True if x - y may be called a change of mechanism, whichever of the two is the cause."""
        return all(self.verdict(*pair, given, present, absent).trusted for pair in ((x, y), (y, x)))

    def _values(self, columns: tuple[int, ...], view: int) -> Floats:
        """Both ends and the conditions on the complete rows of a view, as numbers.

        Two categories are the numbers 0 and 1; a condition with more of them has a column for every
        one but the first.
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
        return complete_rows(self.data)


@dataclass(frozen=True)
class _SlopeFit:
    """y on x and the conditions: slope of x, spread of x given the conditions, of the residual; p
    of the slope.
    """

    slope: float
    spread_x: float
    spread: float
    p: float


def _fit(rows: Floats) -> _SlopeFit:
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
    """With which n rows with these spreads show a slope, by the normal approximation."""
    if fit.spread <= 0.0:
        return 0.0
    shift = abs(slope) * fit.spread_x * np.sqrt(n) / fit.spread
    bound = -scipy.special.ndtri(alpha / 2)
    return float(scipy.special.ndtr(shift - bound) + scipy.special.ndtr(-bound - shift))
