"""Is an edge missing because the mechanism changed, or because the data could not show it?

For x --> y that is there in one context and not in another, the context that has it is cut down to the values of x and
the conditions that the other one has seen, and asked again. If the edge vanishes there too, its absence is a matter of
support; if it persists, the mechanism is another one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from causalcontext.data.dataset import Dataset
from causalcontext.data.missing import complete_rows

Floats = NDArray[np.float64]

BOX = (0.05, 0.95)
FEWEST_ROWS = 30
ENOUGH_POWER = 0.8
TIED = 0.5
GOOD_OVERLAP = 0.5


class Cause(StrEnum):
    """Why an edge is missing in a context."""

    MECHANISM = "mechanism"
    SUPPORT = "support"
    SINGULAR = "singular support"
    FEW_ROWS = "few rows"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class MatchedSupport:
    """The verdict on a missing edge, and its evidence.

    Attributes
    ----------
    cause : Cause
    rows : int
        Rows of the context with the edge that lie inside the box of the other one.
    share : float
        The same as a share.
    p : float
        Of the re-test on these rows.
    variance_ratio : float
        Variance of x given the conditions, without the edge over with it.
    power : float
        With which the context without the edge would have shown it, had it the same slope.
    """

    cause: Cause
    rows: int
    share: float
    p: float
    variance_ratio: float
    power: float

    @property
    def trusted(self) -> bool:
        """Whether the missing edge may be used as a change of mechanism."""
        return self.cause is Cause.MECHANISM or (self.cause is Cause.UNDECIDED and self.share >= GOOD_OVERLAP)


INCOMPARABLE = MatchedSupport(Cause.UNDECIDED, 0, 0.0, np.nan, np.nan, np.nan)


def matched_support(with_edge: Floats, without: Floats, alpha: float) -> MatchedSupport:
    """Why x - y is missing in the rows `without`, x being the candidate cause.

    Parameters
    ----------
    with_edge, without : arrays, shape (rows, 2 + conditions)
        x, y and the conditions in the two contexts.
    alpha : float

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.standard_normal((2, 500))
    >>> matched_support(np.c_[x, x + noise], np.c_[x, noise], alpha=0.05).cause
    <Cause.MECHANISM: 'mechanism'>
    """
    if _tied(without[:, 0]):
        return MatchedSupport(Cause.SINGULAR, 0, 0.0, np.nan, 0.0, 0.0)
    here, there = _fit(with_edge), _fit(without)
    ratio = there.spread_x**2 / here.spread_x**2 if here.spread_x > 0 else np.nan
    power = _power(here.slope, there, len(without), alpha)
    columns = [0, *range(2, with_edge.shape[1])]
    low, high = np.quantile(without[:, columns], BOX, axis=0)
    inside = with_edge[((with_edge[:, columns] >= low) & (with_edge[:, columns] <= high)).all(axis=1)]
    found = (len(inside), len(inside) / max(len(with_edge), 1))
    if power < ENOUGH_POWER:
        return MatchedSupport(Cause.FEW_ROWS, *found, np.nan, ratio, power)
    if len(inside) < FEWEST_ROWS:
        return MatchedSupport(Cause.UNDECIDED, *found, np.nan, ratio, power)
    again = _fit(inside)
    if again.p <= alpha:
        return MatchedSupport(Cause.MECHANISM, *found, again.p, ratio, power)
    cause = Cause.SUPPORT if _power(here.slope, again, len(inside), alpha) >= ENOUGH_POWER else Cause.UNDECIDED
    return MatchedSupport(cause, *found, again.p, ratio, power)


class Support:
    """Answers for pairs of columns of a table, and remembers.

    Parameters
    ----------
    data : Dataset
    alpha : float
    """

    def __init__(self, data: Dataset, alpha: float) -> None:
        self.data, self.alpha = data, alpha
        self._rows: dict[Hashable, NDArray[np.intp]] = {}
        self._known: dict[Hashable, MatchedSupport] = {}

    def verdict(self, cause: int, effect: int, given: Sequence[int], present: int, absent: int) -> MatchedSupport:
        """Why cause - effect is missing in context `absent`, compared with `present`."""
        return self._compared((cause, effect, *given), present, absent)

    def trusted(self, x: int, y: int, given: Sequence[int], present: int, absent: int) -> bool:
        """Whether x - y may be called a change of mechanism, whichever of the two is the cause."""
        return all(self.verdict(*pair, given, present, absent).trusted for pair in ((x, y), (y, x)))

    def _compared(self, columns: tuple[int, ...], present: Hashable, absent: Hashable) -> MatchedSupport:
        key = (columns, present, absent)
        if key not in self._known:
            here, there = (self._values(columns, level) for level in (present, absent))
            self._known[key] = (
                INCOMPARABLE if here is None or there is None else matched_support(here, there, self.alpha)
            )
        return self._known[key]

    def _values(self, columns: tuple[int, ...], level: Hashable) -> Floats | None:
        """Both ends and the conditions in a context, as numbers; None if an end has several categories.

        Two categories are the numbers 0 and 1; a condition with more of them has a column for every one but the first.
        """
        if any(len(self.data.categories.get(end, ())) > 2 for end in columns[:2]):
            return None
        rows = self._complete(level)
        values = [np.asarray(self.data.columns[column], dtype=np.float64)[rows] for column in columns]
        conditions = zip(columns[2:], values[2:], strict=True)
        numbers = [part for z, column in conditions for part in self._as_numbers(z, column)]
        return np.column_stack([*values[:2], *numbers])

    def _as_numbers(self, column: int, values: Floats) -> list[Floats]:
        levels = len(self.data.categories.get(column, ()))
        return [values] if levels <= 2 else [(values == code).astype(np.float64) for code in range(1, levels)]

    def _complete(self, level: Hashable) -> NDArray[np.intp]:
        """The complete rows of a context."""
        if level not in self._rows:
            self._rows[level] = np.flatnonzero(self._is_in(level) & self._usable)
        return self._rows[level]

    @cached_property
    def _usable(self) -> NDArray[np.bool_]:
        return complete_rows(self.data)

    def _is_in(self, level: Any) -> NDArray[np.bool_]:
        return np.asarray(self.data.codes == level)


class CellSupport(Support):
    """The same for several context variables.

    Two cells are compared on all rows that agree with them on the context variables that differ or are conditioned on.

    Parameters
    ----------
    data : Dataset
        The system variables, and the cell of every row as their context.
    alpha : float
    contexts : tuple of int
        Positions of the context variables among all variables; questions are asked in these positions.
    codes : array of int, shape (cells, context variables)
    """

    def __init__(self, data: Dataset, alpha: float, contexts: tuple[int, ...], codes: NDArray[np.int64]) -> None:
        super().__init__(data, alpha)
        self.contexts, self.codes = contexts, codes
        variables = range(len(data.system) + len(contexts))
        self._column = {v: column for column, v in enumerate(v for v in variables if v not in contexts)}

    def verdict(self, cause: int, effect: int, given: Sequence[int], present: int, absent: int) -> MatchedSupport:
        """Why cause - effect is missing in cell `absent`, compared with `present`."""
        differs = self.codes[present] != self.codes[absent]
        fixed = [j for j, context in enumerate(self.contexts) if differs[j] or context in given]
        here, there = (tuple((j, int(self.codes[cell, j])) for j in fixed) for cell in (present, absent))
        system = (z for z in given if z not in self.contexts)
        return self._compared(tuple(self._column[v] for v in (cause, effect, *system)), here, there)

    def _is_in(self, level: Any) -> NDArray[np.bool_]:
        """The rows of all cells with these (context variable, code)."""
        cells = np.all([self.codes[:, j] == code for j, code in level], axis=0)
        return np.asarray(np.append(cells, False)[self.data.codes])  # a row without a cell has the code -1


@dataclass(frozen=True)
class _Fit:
    """y on x and the conditions: slope of x, spread of x given the conditions, of the residual; p of the slope."""

    slope: float
    spread_x: float
    spread: float
    p: float


def _fit(rows: Floats) -> _Fit:
    n = len(rows)
    df = n - rows.shape[1]
    if df < 2:
        return _Fit(0.0, 0.0, 0.0, 1.0)
    design = np.column_stack([np.ones(n), rows[:, 2:]])
    left = rows[:, :2] - design @ np.linalg.lstsq(design, rows[:, :2], rcond=None)[0]
    xx, yy, xy = float(left[:, 0] @ left[:, 0]), float(left[:, 1] @ left[:, 1]), float(left[:, 0] @ left[:, 1])
    if xx <= 1e-12 * n * float(rows[:, 0].var()) or yy <= 0.0:
        return _Fit(0.0, 0.0, 0.0, 1.0)
    slope = xy / xx
    rest = max(yy - slope * xy, 1e-300)
    t = slope * np.sqrt(xx * df / rest)
    return _Fit(slope, np.sqrt(xx / n), np.sqrt(rest / df), float(2.0 * special.stdtr(df, -abs(t))))


def _power(slope: float, fit: _Fit, n: int, alpha: float) -> float:
    """With which n rows with these spreads show a slope, by the normal approximation."""
    if fit.spread <= 0.0:
        return 0.0
    shift = abs(slope) * fit.spread_x * np.sqrt(n) / fit.spread
    bound = -special.ndtri(alpha / 2)
    return float(special.ndtr(shift - bound) + special.ndtr(-bound - shift))


def _tied(values: Floats) -> bool:
    """Whether most of the values are one and the same; of two different values, nearly all."""
    if len(values) == 0:
        return True
    _, counts = np.unique(values, return_counts=True)
    return bool(counts.max() > (BOX[1] if counts.size == 2 else TIED) * len(values))
