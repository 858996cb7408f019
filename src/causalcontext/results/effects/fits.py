"""Least squares of a mechanism on the rows of some contexts: level, slopes and their errors.

Everything but the sandwich, and fits that weight rows by the spread of the noise, comes from
moments. The level is the mean of the effect where its causes are at *their* means, so that it is
uncorrelated with the slopes and no offset of a column can cost digits. A *shifted* mechanism has
one set of slopes and a level of its own in every context. Where some slopes change with the context
and others do not, one regression is for all contexts: every term is a column in the contexts of its
block, and a slope that several contexts share is one parameter, so that two contexts do not differ
where it is all that matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.results.effects.estimates import Estimate, Parameters

ErrorKind = Literal["sandwich", "classical"]
CellGroups = tuple[tuple[int, ...], ...]
"""Cells of rows, by group."""
SharedTerm = tuple[int, tuple[int, ...]]
"""A column, and the groups of cells that share its slope."""


@dataclass(frozen=True, eq=False)
class MechanismFit(Parameters):
    """One mechanism: `effect = level + slopes · (causes - centre) + noise`.

    The parameters are the levels, then the slopes.
    """

    effect: int
    causes: tuple[int, ...]
    groups: CellGroups  # the cells whose rows were used: one group for every level
    graphs: CellGroups  # the contexts that every level is of
    levels: Floats  # shape (groups,)
    centres: Floats  # shape (groups, causes)
    slopes: Floats  # shape (causes,)
    n: int  # rows
    kind: ErrorKind  # what the covariance is
    # shape (causes,): the standard deviation of every cause over that of the effect, in these rows
    scale: Floats
    problem: str = ""  # why there are no numbers; empty if there are

    @property
    def block(self) -> Parameters:
        """What was estimated together."""
        return self

    def moving(
        self, slopes: Sequence[float] | Floats, place: int = 0, level: float = 0.0
    ) -> Floats:
        """How a number moves with the parameters of the block, by how it moves with the slopes and
        one level.
        """
        levels = np.zeros(len(self.levels))
        levels[place] = level
        return np.concatenate([levels, slopes])

    def level_place(self, g: int) -> int:
        """Which of the levels holds in a context."""
        return (
            0
            if len(self.levels) == 1
            else next(k for k, some in enumerate(self.graphs) if g in some)
        )

    def slope(self, cause: int) -> Estimate:
        """The coefficient of one cause."""
        place = self.causes.index(cause)
        return Estimate(
            float(self.slopes[place]), {self.block: self.moving(np.eye(len(self.causes))[place])}
        )


class CompleteRows:
    """The complete rows of a table, column by column, around the means of all of them."""

    def __init__(self, data: Dataset, clusters: Ints | None = None) -> None:
        self.data = data
        complete = complete_rows(data)
        self._kept = None if complete.all() else np.flatnonzero(complete)
        self._clusters = (
            None if clusters is None or len(clusters) != data.n_rows else self._of(clusters)
        )
        self.codes: Ints = self._of(data.codes).astype(np.int64)
        self._here: dict[CellGroups, tuple[Ints, Ints]] = {}

    def inside(self, groups: CellGroups) -> tuple[Ints, Ints]:
        """The complete rows of some groups of cells by number, and the group of each."""
        if groups not in self._here:
            group = np.full(len(self.data.contexts.cells) + 1, -1)
            for number, cells in enumerate(groups):
                group[list(cells)] = number
            here = np.flatnonzero(group[self.codes] >= 0)
            self._here[groups] = here, group[self.codes[here]]
        return self._here[groups]

    def values(self, columns: Sequence[int], groups: CellGroups) -> tuple[Floats, Ints]:
        """Some columns on the rows of some groups of cells, shape (rows, columns), and the group of
        every row.
        """
        here, place = self.inside(groups)
        found = np.column_stack(
            [np.asarray(self._of(self.data.columns[c]), dtype=np.float64)[here] for c in columns]
        )
        return found, place

    def clusters(self, groups: CellGroups) -> Ints | None:
        """The unit of every row of some groups of cells, whose residuals may be correlated; None
        without units.
        """
        return None if self._clusters is None else self._clusters[self.inside(groups)[0]]

    def _of(self, column: np.ndarray) -> np.ndarray:
        return np.asarray(column) if self._kept is None else np.asarray(column)[self._kept]


def fit(
    moments: Moments,
    effect: int,
    causes: tuple[int, ...],
    groups: CellGroups,
    rows: CompleteRows | None,
    graphs: CellGroups = (),
    weights: Floats | None = None,
) -> MechanismFit:
    """Least squares of an effect on its causes, with an intercept for every group, on the rows of
    some cells.

    `moments` are those of every cell, `groups` the cells by level: one group, or of a shifted
    mechanism several; `graphs` are the contexts that every level is of. With rows the errors are
    those of the sandwich, which needs no equal variances; else the classical ones. `weights`, shape
    (rows,), are of every row of these cells, where the noise is not equally wide in all of them;
    they need `rows`.
    """
    columns = [effect, *causes]
    levels = grouped(moments, groups, columns)
    n = int(levels.rows.sum())
    df = int(levels.rows.sum()) - len(causes) - len(levels.rows)
    few = df < SPARE_ROWS or (levels.rows < 1).any()
    spread = _within(levels).spread()
    if rows is not None and weights is not None and not few:
        levels = weighted(*rows.values(columns, groups), weights, len(groups))
    whole = _within(levels)
    found = None if few else whole.regression(0, range(1, len(columns)))
    if found is None:
        none = np.full(len(causes), np.nan)
        size = 1 + len(causes)
        problem = (
            f"too few rows: {n} for {size} coefficients"
            if few
            else "a column is constant, or a linear function of the others, there"
        )
        return MechanismFit(
            np.full((size, size), np.nan),
            np.nan,
            effect,
            causes,
            groups,
            graphs,
            np.full(1, np.nan),
            none[None],
            none,
            n,
            "classical",
            none,
            problem,
        )
    if rows is None:
        covariance = classical(found.inverse, found.left / df, levels.rows)
    else:
        values, place = rows.values(columns, groups)
        values -= levels.mean[place]
        clusters = rows.clusters(groups)
        covariance = sandwich(
            values[:, 0],
            values[:, 1:],
            place,
            levels.rows,
            found.slopes,
            found.inverse,
            weights,
            clusters,
        )
        df = df if clusters is None else min(df, len(np.unique(clusters)) - 1)
        covariance *= n / max(len(place), 1)  # where only part of the rows is at hand
    kind: ErrorKind = "classical" if rows is None else "sandwich"
    return MechanismFit(
        covariance,
        df,
        effect,
        causes,
        groups,
        graphs,
        levels.mean[:, 0],
        levels.mean[:, 1:],
        found.slopes,
        n,
        kind,
        spread[1:] / spread[0],
    )


def grouped(moments: Moments, groups: CellGroups, columns: Sequence[int] | None = None) -> Moments:
    """The moments of some columns, or of all, in every group of cells."""
    some = list(range(moments.mean.shape[1]) if columns is None else columns)
    return stacked(
        [
            Moments(part.rows, part.mean[:, some], part.scatter[:, some][:, :, some]).merged()
            for part in map(moments.some, groups)
        ]
    )


def stacked(parts: Sequence[Moments]) -> Moments:
    """The cells of several moments, one after the other."""
    return Moments(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("rows", "mean", "scatter")
        )
    )


def weighted(values: Floats, place: Ints, weights: Floats, groups: int) -> Moments:
    """The moments of weighted rows in every group; sums of weights are its rows."""
    parts = []
    for group in range(groups):
        own = values[place == group]
        share = weights[place == group]
        mean = share @ own / share.sum()
        parts.append(
            Moments(share.sum()[None], mean[None], ((own - mean).T * share @ (own - mean))[None])
        )
    return stacked(parts)


def classical(inverse: Floats, variance: float, rows: Ints) -> Floats:
    """The covariance of levels and slopes where the noise has one variance."""
    count = len(rows)
    covariance = np.zeros((count + len(inverse),) * 2)
    covariance[range(count), range(count)] = 1.0 / rows
    covariance[count:, count:] = inverse
    return covariance * variance


def sandwich(
    response: Floats,
    design: Floats,
    place: Ints,
    rows: Ints | Floats,
    slopes: Floats,
    inverse: Floats,
    weights: Floats | None = None,
    clusters: Ints | None = None,
) -> Floats:
    """The covariance of levels and slopes whatever the variances are (MacKinnon and White 1985,
    HC3).

    Response and design are centred by level; `place` is the level of every row, `rows` its size.
    With weights, sizes and `inverse` are those of the weighted rows. With `clusters`, the unit of
    every row, residuals of one unit may be correlated (Liang and Zeger 1986).
    """
    share = np.ones(len(place)) if weights is None else weights
    level = np.zeros((len(place), len(rows)))
    level[np.arange(len(place)), place] = share / rows[place]
    moving = share[:, None] * (design @ inverse)
    leverage = share / rows[place] + np.einsum("ij,ij->i", moving, design)
    residual = (response - design @ slopes) / np.maximum(1.0 - leverage, 1.0 / len(place))
    influence = np.hstack([level, moving]) * residual[:, None]
    if clusters is not None:
        units, unit = np.unique(clusters, return_inverse=True)
        together = np.zeros((len(units), influence.shape[1]))
        np.add.at(together, unit.ravel(), influence)
        return np.asarray(together.T @ together * (len(units) / max(len(units) - 1, 1)))
    return np.asarray(influence.T @ influence)


def _within(part: Moments) -> Moments:
    """The moments around the means of every row's own context."""
    return Moments(
        part.rows.sum(keepdims=True), part.mean[:1], part.scatter.sum(axis=0, keepdims=True)
    )


@dataclass(frozen=True, eq=False)
class SharedFit(MechanismFit):
    """What a regression for all contexts says about one of them; `joint` has the parameters of
    all.
    """

    # the levels of all contexts, then the slopes of all terms
    joint: Parameters = field(kw_only=True)
    # where the slopes of this context are among the parameters
    places: tuple[int, ...] = field(kw_only=True)
    # the groups that share the slope of every cause
    sharing: tuple[tuple[int, ...], ...] = field(kw_only=True)
    own: int = field(kw_only=True)  # the number of its own group

    @property
    def block(self) -> Parameters:
        """What was estimated together."""
        return self.joint

    def moving(
        self, slopes: Sequence[float] | Floats, place: int = 0, level: float = 0.0
    ) -> Floats:
        """How a number moves with the parameters of the block, by how it moves with these slopes
        and this level.
        """
        found = np.zeros(len(self.joint.covariance))
        found[list(self.places)] = slopes
        found[self.own] = level
        return found


def shared_fits(
    moments: Moments,
    effect: int,
    terms: Sequence[SharedTerm],
    rows: CompleteRows | None,
    groups: CellGroups,
    graphs: CellGroups,
    weights: Floats | None = None,
) -> tuple[SharedFit, ...] | str:
    """The mechanism in every group of cells, from the moments of all; or why there is none."""
    levels = grouped(moments, groups)
    contexts = len(groups)
    n = int(levels.rows.sum())
    columns = np.array([column for column, _ in terms], dtype=np.int64)
    inside = np.array(
        [[r in block for r in range(contexts)] for _, block in terms], dtype=bool
    ).reshape(-1, contexts)
    df = n - len(terms) - contexts
    if df < SPARE_ROWS or (levels.rows < 1).any():
        return f"too few rows: {n} for {len(terms) + contexts} coefficients"
    spread = np.sqrt(np.diagonal(levels.scatter, axis1=1, axis2=2))
    if rows is not None and weights is not None:
        levels = weighted(*rows.values(range(levels.mean.shape[1]), groups), weights, contexts)
    both = np.einsum("ir,jr->ijr", inside, inside)
    gram = np.einsum("rij,ijr->ij", levels.scatter[:, columns][:, :, columns], both)
    cross = np.einsum("ri,ir->i", levels.scatter[:, columns, effect], inside)
    unit = np.sqrt(np.maximum(np.diagonal(gram), np.finfo(float).tiny))
    scaled = gram / np.outer(unit, unit)
    if len(terms) and np.linalg.eigvalsh(scaled)[0] <= COLLINEAR_BELOW:
        return "a column is constant, or a linear function of the others, there"
    inverse = np.linalg.inv(scaled) / np.outer(unit, unit)
    slopes = inverse @ cross
    if rows is None:
        left = max(float(levels.scatter[:, effect, effect].sum() - slopes @ cross), 0.0)
        joint = Parameters(classical(inverse, left / df, levels.rows), df)
    else:
        used = [effect, *columns.tolist()]
        values, place = rows.values(used, groups)
        values -= levels.mean[place][:, used]
        design = values[:, 1:] * inside.T[place]
        clusters = rows.clusters(groups)
        joint = Parameters(
            sandwich(values[:, 0], design, place, levels.rows, slopes, inverse, weights, clusters),
            df,
        )
    kind: ErrorKind = "classical" if rows is None else "sandwich"
    found = []
    for r in range(contexts):
        here = [number for number, (_, block) in enumerate(terms) if r in block]
        causes = [terms[number][0] for number in here]
        places = tuple(contexts + number for number in here)
        known = np.ix_([r, *places], [r, *places])
        found.append(
            SharedFit(
                joint.covariance[known],
                df,
                effect,
                tuple(causes),
                (groups[r],),
                (graphs[r],),
                levels.mean[r : r + 1, effect],
                levels.mean[r : r + 1, causes],
                slopes[here],
                n,
                kind,
                spread[r, causes] / spread[r, effect],
                joint=joint,
                places=places,
                sharing=tuple(terms[number][1] for number in here),
                own=r,
            )
        )
    return tuple(found)
