"""Least squares of a mechanism on the rows of some contexts: level, slopes and their errors.

Everything but the sandwich comes from moments. The level is the mean of the effect where its causes are at *their*
means, so that it is uncorrelated with the slopes and no offset of a column can cost digits. A *shifted* mechanism has
one set of slopes and a level of its own in every context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.results.effects.estimates import Estimate, Parameters

ErrorKind = Literal["sandwich", "classical"]
Groups = tuple[tuple[int, ...], ...]
"""Cells of rows, by group."""


@dataclass(frozen=True, eq=False)
class MechanismFit(Parameters):
    """One mechanism: `effect = level + slopes · (causes - centre) + noise`.

    The parameters are the levels, then the slopes.

    Attributes
    ----------
    effect : int
    causes : tuple of int
    groups : tuple of tuples of int
        The cells whose rows were used: one group for every level.
    graphs : tuple of tuples of int
        The contexts that every level is of.
    levels : array, shape (groups,)
    centres : array, shape (groups, causes)
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
    groups: Groups
    graphs: Groups
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

    def moving(self, slopes: Sequence[float] | Floats, place: int = 0, level: float = 0.0) -> Floats:
        """How a number moves with the parameters of the block, by how it moves with the slopes and one level."""
        levels = np.zeros(len(self.levels))
        levels[place] = level
        return np.concatenate([levels, slopes])

    def level_place(self, g: int) -> int:
        """Which of the levels holds in a context."""
        return 0 if len(self.levels) == 1 else next(k for k, some in enumerate(self.graphs) if g in some)

    def slope(self, cause: int) -> Estimate:
        """The coefficient of one cause."""
        place = self.causes.index(cause)
        return Estimate(float(self.slopes[place]), {self.block: self.moving(np.eye(len(self.causes))[place])})


class CompleteRows:
    """The complete rows of a table, column by column, around the means of all of them."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        complete = complete_rows(data)
        self._kept = None if complete.all() else np.flatnonzero(complete)
        self.codes: Ints = self._of(data.codes).astype(np.int64)
        self._here: dict[Groups, tuple[Ints, Ints]] = {}

    def inside(self, groups: Groups) -> tuple[Ints, Ints]:
        """The complete rows of some groups of cells by number, and the group of each."""
        if groups not in self._here:
            group = np.full(len(self.data.contexts.cells) + 1, -1)
            for number, cells in enumerate(groups):
                group[list(cells)] = number
            here = np.flatnonzero(group[self.codes] >= 0)
            self._here[groups] = here, group[self.codes[here]]
        return self._here[groups]

    def values(self, columns: Sequence[int], groups: Groups) -> tuple[Floats, Ints]:
        """Some columns on the rows of some groups of cells, shape (rows, columns), and the group of every row."""
        here, place = self.inside(groups)
        found = np.column_stack([np.asarray(self._of(self.data.columns[c]), dtype=np.float64)[here] for c in columns])
        return found, place

    def _of(self, column: np.ndarray) -> np.ndarray:
        return np.asarray(column) if self._kept is None else np.asarray(column)[self._kept]


def fit(moments: Moments, effect: int, causes: tuple[int, ...], groups: Groups, rows: CompleteRows | None,
        graphs: Groups = ()) -> MechanismFit:  # fmt: skip
    """Least squares of an effect on its causes, with an intercept for every group, on the rows of some cells.

    Parameters
    ----------
    moments : Moments
        Of every cell.
    effect : int
    causes : tuple of int
    groups : tuple of tuples of int
        The cells, by level: one group, or of a shifted mechanism several.
    rows : CompleteRows or None
        With rows the errors are those of the sandwich, which needs no equal variances; else the classical ones.
    graphs : tuple of tuples of int
        The contexts that every level is of.
    """
    columns = [effect, *causes]
    levels = grouped(moments, groups, columns)
    whole = levels if len(groups) == 1 else _within(levels)
    n, df = int(whole.rows[0]), int(whole.rows[0]) - len(causes) - len(levels.rows)
    few = df < SPARE_ROWS or (levels.rows < 1).any()
    found = None if few else whole.regression(0, range(1, len(columns)))
    if found is None:
        none, size = np.full(len(causes), np.nan), 1 + len(causes)
        problem = (f"too few rows: {n} for {size} coefficients" if few
                   else "a column is constant, or a linear function of the others, there")  # fmt: skip
        return MechanismFit(np.full((size, size), np.nan), np.nan, effect, causes, groups, graphs, np.full(1, np.nan),
                            none[None], none, n, "classical", none, problem)  # fmt: skip
    if rows is None:
        covariance = classical(found.inverse, found.left / df, levels.rows)
    else:
        values, place = rows.values(columns, groups)
        values -= levels.mean[place]
        covariance = sandwich(values[:, 0], values[:, 1:], place, levels.rows, found.slopes, found.inverse)
        covariance *= levels.rows.sum() / max(len(place), 1)  # where only part of the rows is at hand
    spread = whole.spread()
    kind: ErrorKind = "classical" if rows is None else "sandwich"
    return MechanismFit(covariance, df, effect, causes, groups, graphs, levels.mean[:, 0], levels.mean[:, 1:],
                        found.slopes, n, kind, spread[1:] / spread[0])  # fmt: skip


def grouped(moments: Moments, groups: Groups, columns: Sequence[int] | None = None) -> Moments:
    """The moments of some columns, or of all, in every group of cells."""
    some = list(range(moments.mean.shape[1]) if columns is None else columns)
    parts = [
        Moments(part.rows, part.mean[:, some], part.scatter[:, some][:, :, some]).merged()
        for part in (moments.some(cells) for cells in groups)
    ]
    return Moments(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "mean", "scatter")))


def classical(inverse: Floats, variance: float, rows: Ints) -> Floats:
    """The covariance of levels and slopes where the noise has one variance."""
    count = len(rows)
    covariance = np.zeros((count + len(inverse),) * 2)
    covariance[range(count), range(count)] = 1.0 / rows
    covariance[count:, count:] = inverse
    return covariance * variance


def sandwich(response: Floats, design: Floats, place: Ints, rows: Ints, slopes: Floats, inverse: Floats) -> Floats:
    """The covariance of levels and slopes whatever the variances are (MacKinnon and White 1985, HC3).

    Response and design are centred by level; `place` is the level of every row, `rows` its size.
    """
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
