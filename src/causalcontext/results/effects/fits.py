"""Least squares of a mechanism on the rows of some contexts: level, slopes and their errors.

Everything but the sandwich comes from moments. The level is the mean of the effect where its causes are at *their*
means, so that it is uncorrelated with the slopes and no offset of a column can cost digits. A *shifted* mechanism has
one set of slopes and a level of its own in every context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.results.effects.estimates import Estimate, Parameters

ErrorKind = Literal["sandwich", "classical"]


@dataclass(frozen=True, eq=False)
class MechanismFit(Parameters):
    """One mechanism: `effect = level + slopes · (causes - centre) + noise`.

    The parameters are the levels, then the slopes.

    Attributes
    ----------
    effect : int
    causes : tuple of int
    cells : tuple of int
        The contexts whose rows were used.
    levels : array, shape (1,), or (cells,) of a shifted mechanism
    centres : array, shape (1 or cells, causes)
    slopes : array, shape (causes,)
    n : int
        Rows.
    kind : {"sandwich", "classical"}
        What the covariance is.
    scale : array, shape (causes,)
        The standard deviation of every cause over that of the effect, in these rows.
    problem : str
        Why there are no numbers; empty if there are.
    """

    effect: int
    causes: tuple[int, ...]
    cells: tuple[int, ...]
    levels: Floats
    centres: Floats
    slopes: Floats
    n: int
    kind: ErrorKind
    scale: Floats
    problem: str = ""

    @property
    def block(self) -> Parameters:
        """What was estimated together."""
        return self

    def moving(self, slopes: Sequence[float] | Floats) -> Floats:
        """How a number moves with the parameters of the block, by how it moves with the slopes."""
        return np.concatenate([np.zeros(len(self.levels)), slopes])

    def level_place(self, cell: int) -> int:
        """Which of the levels holds in a context."""
        return 0 if len(self.levels) == 1 else self.cells.index(cell)

    def slope(self, cause: int) -> Estimate:
        """The coefficient of one cause."""
        place = self.causes.index(cause)
        unit = np.zeros(len(self.levels) + len(self.causes))
        unit[len(self.levels) + place] = 1.0
        return Estimate(float(self.slopes[place]), {self: unit})


class SandwichRows(Protocol):
    """Rows that a sandwich can be made of."""

    def values(self, columns: Sequence[int], cells: Sequence[int]) -> tuple[Floats, Ints]:
        """Some columns on the rows of some cells, shape (rows, columns), and the cell of every row."""


class CompleteRows:
    """The complete rows of a table, column by column, around the means of all of them."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        complete = complete_rows(data)
        self._kept = None if complete.all() else np.flatnonzero(complete)
        self.codes: Ints = self._of(data.codes).astype(np.int64)
        self._here: dict[tuple[int, ...], Ints] = {}

    def values(self, columns: Sequence[int], cells: Sequence[int]) -> tuple[Floats, Ints]:
        """Some columns on the rows of some contexts, shape (rows, columns), and the context of every row."""
        key = tuple(cells)
        if key not in self._here:
            self._here[key] = np.flatnonzero(np.isin(self.codes, key))
        here = self._here[key]
        found = np.column_stack([np.asarray(self._of(self.data.columns[c]), dtype=np.float64)[here] for c in columns])
        return found, self.codes[here]

    def _of(self, column: np.ndarray) -> np.ndarray:
        return np.asarray(column) if self._kept is None else np.asarray(column)[self._kept]


def fit(moments: Moments, effect: int, causes: tuple[int, ...], cells: tuple[int, ...], shifted: bool,
        rows: SandwichRows | None) -> MechanismFit:  # fmt: skip
    """Least squares of an effect on its causes, with an intercept, on the rows of some contexts.

    Parameters
    ----------
    moments : Moments
        Of every context.
    effect : int
    causes : tuple of int
    cells : tuple of int
    shifted : bool
        Whether every context has a level of its own.
    rows : RowsAtHand or None
        With rows the errors are those of the sandwich, which needs no equal variances; else the classical ones.
    """
    columns = [effect, *causes]
    some = moments.some(cells)
    part = Moments(some.rows, some.mean[:, columns], some.scatter[:, columns][:, :, columns])
    levels = part if shifted else part.merged()
    whole = _within(part) if shifted else levels
    n, df = int(whole.rows[0]), int(whole.rows[0]) - len(causes) - len(levels.rows)
    if df < SPARE_ROWS or (levels.rows < 1).any():
        return _without(effect, causes, cells, n, f"too few rows: {n} for {len(causes) + 1} coefficients")
    found = whole.regression(0, range(1, len(columns)))
    if found is None:
        return _without(effect, causes, cells, n, "a column is constant, or a linear function of the others, there")
    plain = classical(found.inverse, found.left / df, levels.rows)
    spread = whole.spread()
    known = {"effect": effect, "causes": causes, "cells": cells, "n": n, "levels": levels.mean[:, 0],
             "centres": levels.mean[:, 1:], "slopes": found.slopes, "scale": spread[1:] / spread[0]}  # fmt: skip
    if rows is None:
        return MechanismFit(plain, df, kind="classical", **known)
    return MechanismFit(
        _sandwich(rows, columns, cells, levels, found.slopes, found.inverse), df, kind="sandwich", **known
    )


def classical(inverse: Floats, variance: float, rows: Ints) -> Floats:
    """The covariance of levels and slopes where the noise has one variance."""
    count = len(rows)
    covariance = np.zeros((count + len(inverse),) * 2)
    covariance[range(count), range(count)] = 1.0 / rows
    covariance[count:, count:] = inverse
    return covariance * variance


def _sandwich(rows: SandwichRows, columns: Sequence[int], cells: tuple[int, ...], levels: Moments, slopes: Floats,
              inverse: Floats) -> Floats:  # fmt: skip
    """The covariance of levels and slopes whatever the variances are (MacKinnon and White 1985, HC3)."""
    values, codes = rows.values(columns, cells)
    place = np.zeros(len(codes), dtype=np.int64) if len(levels.rows) == 1 else np.searchsorted(cells, codes)
    values -= levels.mean[place]
    found = sandwich(values[:, 0], values[:, 1:], place, levels.rows, slopes, inverse)
    # Where only part of the rows is at hand, they stand for all.
    return np.asarray(found * (levels.rows.sum() / max(len(codes), 1)))


def sandwich(response: Floats, design: Floats, place: Ints, rows: Ints, slopes: Floats, inverse: Floats) -> Floats:
    """HC3 of levels and slopes, from what is centred by level; `place` is the level of every row, `rows` its size."""
    level = np.zeros((len(place), len(rows)))
    level[np.arange(len(place)), place] = 1.0 / rows[place]
    moving = design @ inverse
    leverage = 1.0 / rows[place] + np.einsum("ij,ij->i", moving, design)
    residual = (response - design @ slopes) / np.maximum(1.0 - leverage, 1.0 / len(place))
    influence = np.hstack([level, moving]) * residual[:, None]
    return np.asarray(influence.T @ influence)


def _within(part: Moments) -> Moments:
    """The moments around the means of every row's own context."""
    return Moments(part.rows.sum(keepdims=True), part.mean[:1], part.scatter.sum(axis=0, keepdims=True))


def _without(effect: int, causes: tuple[int, ...], cells: tuple[int, ...], n: int, problem: str) -> MechanismFit:
    """The fit that could not be made."""
    none, size = np.full(len(causes), np.nan), 1 + len(causes)
    return MechanismFit(
        np.full((size, size), np.nan),
        np.nan,
        effect,
        causes,
        cells,
        np.full(1, np.nan),
        none[None],
        none,
        n,
        "classical",
        none,
        problem,
    )
