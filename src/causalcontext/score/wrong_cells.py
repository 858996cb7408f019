"""Which cells of a table are wrong: far from what the other columns of their row lead to expect?

Cells are flagged inside contexts, by robust means and covariances of the continuous columns: in
rows with a large Mahalanobis distance d², the cell is taken out that lowers d² most, then the next
one, until the rest fits. If that takes more than half of the cells, or the rest never fits, the
whole row is wrong. Flagged cells are replaced by their conditional means, wrong rows left out, and
the table is searched again.

Heavy tails, skewed noise and curves have far cells, too, and nothing about these is wrong. So the
flags are accepted only if they shorten the description of the table: the scores of the cells that
stay, a wide density for each flagged cell, and the names of the flagged cells, against the score of
the table as it is. docs/decisions/wrong-cells.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.data.coarse import FewValues
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows, gaussian_ranks, some_rows
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.score.data import ScoreData, score_data
from causalcontext.score.explore import (
    Explored,
    asks_for_scales,
    charge_for_ranks,
    explore,
    explore_even,
    in_ranks,
    scores_at_orders,
)
from causalcontext.score.search import Effort
from causalcontext.score.treatments import treatments

FAR = 0.001
FITS = 0.01
"""Rows with a d² beyond the first tail of its distribution have wrong cells, until d² is within the
second one.
"""
PASSES = 3
"""How often cells are flagged, each time with the means and covariances of what is left."""
ROWS_A_COLUMN = 5
FEWEST_ROWS = 30
"""Contexts with fewer rows, a column or in all, are put together, each around its own medians."""
MOST_FLAGGED = 0.2
"""With a larger share of the cells flagged, robust means and covariances are not to be trusted."""
MOST_DEPENDENT = 5.0
FEWEST_FLAGS = 5
"""Wrong cells are anywhere. Where those of a column lie at large or small values of another one, by
so many standard errors, its noise depends on that. At least so many flags are asked."""
MOST_LEFT_OUT = 1.0 / 3.0
"""Where mechanisms are curved, rows with flagged cells are left out, unless they are more than this
share.
"""
LEAST_CHANCE = 50.0
CHANCE_A_CELL = 1.0
"""The table without flagged cells is searched if it comes so close with the orders of the table as
it is, in nats.
"""
RIDGE = 1e-6
"""Added to variances, in robust units: copies of a column have no inverse covariance."""
VALUES_AT_A_TIME = 2_000_000
NORMAL = 1.482602218505602
"""The standard deviation of a normal law whose median absolute deviation is 1."""


class Flags(NamedTuple):
    """Flagged cells of n complete rows and q continuous columns."""

    rows: Ints  # shape (n,): the complete rows of the table
    columns: Ints  # shape (q,): positions of the columns
    wrong: Bools  # shape (n, q)
    # shape (n, q): distances from the median of the column in the context, in robust standard
    # deviations
    away: Floats
    spread: Floats  # shape (n, q): these standard deviations
    # shape (n, q): what the cells that stay lead to expect in flagged ones; elsewhere the values
    # themselves
    expected: Floats
    gain: float  # by how much d² falls in all

    def of_columns(self, positions: Ints) -> Flags:
        """Those of some columns."""
        some = np.isin(self.columns, positions)
        return Flags(
            self.rows,
            self.columns[some],
            self.wrong[:, some],
            self.away[:, some],
            self.spread[:, some],
            self.expected[:, some],
            self.gain,
        )

    @property
    def whole(self) -> Bools:
        """The rows that are wrong as a whole, shape (n,)."""
        return np.asarray(self.wrong.all(axis=1))


Search = tuple[Explored, str, str]
"""What `explore` found: the best model, the scale of its columns, and what was done with coarse
ones.
"""


class Cleaned(NamedTuple):
    """A table without its wrong cells: the flags, rows left out, the columns in units of the score,
    the best model.
    """

    flags: Flags
    left_out: Bools
    data: ScoreData
    found: Search


def without_wrong_cells(
    data: ScoreData,
    search: Search,
    few: Sequence[FewValues],
    effort: Effort,
    flags_of: Callable[[], Flags | None],
    even: bool = False,
) -> Cleaned | None:
    """The table without its wrong cells and its best model, if that describes the table in fewer
    nats; else None.

    If `even`, also None where most wrong cells are none of wrong rows, or the spread of the noise
    is uneven without them as well: `search` has a model with an even one then, which says too
    little against wrong cells. Columns with few values have no wrong cells. No row of windows is
    left out.
    """
    (explored, transform, treatment), found = search, flags_of()
    if found is None or not found.wrong.any() or found.wrong.mean() > MOST_FLAGGED:
        return None
    if even and 2 * int(found.wrong[found.whole].sum()) < int(found.wrong.sum()):
        return None
    flags = found.of_columns(data.position[: data.responses])
    options = explored.design.options
    if not flags.wrong.size:  # all numbers are givens: no mechanism would be told better
        return None
    most = 0.5 * (found.gain + np.log(2.0 * np.pi) * flags.wrong.sum()) + wide_density(
        flags.away, flags.wrong
    )
    if most < cost_of_names(flags.wrong) or effort.clock.skips("wrong cells"):
        # even if all noise were Gaussian
        return None
    if dependence(found.away, found.wrong) > MOST_DEPENDENT:  # uneven noise, or curves
        return None
    out = found.whole & (not data.is_window)
    cleaned = _without(data, found, out)
    if not (cleaned.n > 0).all():  # a context of wrong rows alone
        return None
    enough = _log_density(flags, data, np.array([explored.score]), explored.charge)
    ways = treatments(
        cleaned, few if options.transform != "none" else (), effort.seed, only=treatment
    )
    for way in (way for way in ways if way.name == treatment):
        quick = way.data if transform == "none" else in_ranks(way.data, transform)
        scores = scores_at_orders(quick, options, explored.found.best, explored.curved)[
            _order(quick, cleaned)
        ]
        chance = max(LEAST_CHANCE, CHANCE_A_CELL * float(flags.wrong.sum()))
        charge = way.charge + (
            0.0 if transform == "none" else charge_for_ranks(way.data, options, transform)
        )
        if _description(flags, cleaned, scores, charge) < enough - chance:
            return None
    other = (explore_even if even else explore)(cleaned, options, effort, few)
    if even and asks_for_scales(other[0]):
        return None
    scores = other[0].found.best.node_scores(other[0].curved)[_order(other[0].design.data, cleaned)]
    if _description(flags, cleaned, scores, other[0].charge) < enough:
        return None
    some = np.asarray(found.wrong.any(axis=1))
    if (
        not data.is_window
        and other[0].curved
        and some.mean() < MOST_LEFT_OUT
        and (some & ~out).any()
    ):
        fewer = _without(data, found, some)  # conditional means are those of straight lines
        if (fewer.n > 0).all():
            out = some
            cleaned = fewer
            other = explore(fewer, options, effort, few, only=other[2])
    return Cleaned(found, out, cleaned, other)


def _without(data: ScoreData, flags: Flags, out: Bools) -> ScoreData:
    table = cleaned_table(data.table, flags, out)
    return score_data(table, gather_statistics(table, "listwise"), data.links, data.is_window)


def cleaned_table(table: Dataset, flags: Flags, out: Bools) -> Dataset:
    """The table with flagged cells replaced by what is expected there, without some of the complete
    rows.
    """
    columns = list(table.columns)
    for place, position in enumerate(flags.columns.tolist()):
        values = np.array(columns[position], dtype=np.float64)
        values[flags.rows] = flags.expected[:, place]
        columns[position] = values
    table = replace(table, columns=tuple(columns))
    return (
        some_rows(table, np.delete(np.arange(table.n_rows), flags.rows[out]))
        if out.any()
        else table
    )


def cost_of_names(wrong: Bools) -> float:
    """What it costs to say how many rows and single cells are wrong, and which, in nats."""
    n, q = wrong.shape
    rows = int(wrong.all(axis=1).sum())
    all_of, some = np.array([[n, n * q], [rows, int(wrong.sum()) - q * rows]], dtype=np.float64)
    choices = -np.log1p(all_of) - scipy.special.betaln(some + 1.0, all_of - some + 1.0)
    return float(choices.sum() + np.log(all_of).sum())


def wide_density(away: Floats, wrong: Bools) -> float:
    """The log density of flagged cells in robust units, in every column by the better one of two
    wide densities.

    One is t with 2 degrees of freedom, twice as wide; the other one normal, with the spread of the
    flagged cells themselves, which is charged for.
    """
    total = 0.0
    for z in (
        column[flagged] for column, flagged in zip(away.T, wrong.T, strict=True) if flagged.any()
    ):
        student = -1.5 * float(np.log1p(z * z / 8.0).sum()) - 2.5 * np.log(2.0) * z.size
        variance = max(float(np.mean(z * z)), RIDGE)
        normal = -0.5 * z.size * (np.log(2.0 * np.pi * variance) + 1.0) - 0.5 * np.log(len(away))
        total += max(student, normal)
    return total


def dependence(away: Floats, wrong: Bools) -> float:
    """How clearly single flags of a column depend on the values, or their sizes, of another one, in
    standard errors.
    """
    whole = np.asarray(wrong.all(axis=1))
    right = ~wrong
    single = (wrong & ~whole[:, None]).astype(np.float64)
    counts = single.T @ right
    largest = 0.0
    asked = (counts >= FEWEST_FLAGS) & ~np.eye(len(counts), dtype=bool)
    for values in (away, np.abs(away)):
        sums = single.T @ np.where(right, gaussian_ranks(values), 0.0)
        largest = max(
            largest, float(np.abs(sums / np.sqrt(np.maximum(counts, 1.0)))[asked].max(initial=0.0))
        )
    return largest


def _description(flags: Flags, cleaned: ScoreData, scores: Floats, charge: float) -> float:
    """The log density of the table as it is, by a model of the cleaned one.

    A row that was left out counts like the average of the others, and so does what is not flagged
    in a row; flagged cells have a wide density, and names.
    """
    more = len(flags.rows) / cleaned.total
    stay = 1.0 - flags.wrong.mean()
    own = np.isin(cleaned.position[: cleaned.nodes], flags.columns)
    mine = _log_density(flags, cleaned, np.where(own, scores, 0.0), charge) * stay
    rest = float((mine + scores[~own].sum()) * more)
    return rest + wide_density(flags.away, flags.wrong) - cost_of_names(flags.wrong)


def _log_density(flags: Flags, data: ScoreData, scores: Floats, charge: float) -> float:
    """The log density of rows by the scores of nodes, with columns that may have flagged cells in
    robust units.
    """
    kept = (
        np.ones(len(flags.rows), dtype=bool) if len(flags.rows) == int(data.total) else ~flags.whole
    )
    scale = dict(zip(data.position.tolist(), data.scale.tolist(), strict=False))
    units = np.log(flags.spread[kept]).sum() - data.total * sum(
        np.log(scale[c]) for c in flags.columns.tolist()
    )
    return float(scores.sum() + units + charge)


def _order(data: ScoreData, like: ScoreData) -> Ints:
    """The numbers that the nodes of one table have in another order of the same columns."""
    place = {column: node for node, column in enumerate(data.position.tolist())}
    return np.array(
        [place[column] for column in like.position[: like.nodes].tolist()], dtype=np.int64
    )


def flag_cells(table: Dataset, ends: Ints | None = None, but: Container[int] = ()) -> Flags | None:
    """The flagged cells of the continuous columns but for some; None where rows are too few, or
    nothing spreads.

    `ends` are the rows of a series that windows end at: a cell of the series is flagged if half of
    its windows say so.
    """
    rows = np.flatnonzero(complete_rows(table))
    columns = np.array(
        [c for c in table.system if table.kinds[c] is Kind.CONTINUOUS and c not in but],
        dtype=np.int64,
    )
    if not columns.size or not rows.size:
        return None
    values = np.column_stack(
        [np.asarray(table.columns[c], dtype=np.float64)[rows] for c in columns.tolist()]
    )
    centre, spread, groups = _robust_units(values, table.codes[rows].astype(np.int64))
    varies = (spread > 0.0).all(axis=0)
    groups = [group for group in groups if len(group) >= ROWS_A_COLUMN * varies.sum()]
    if not varies.any() or not groups:
        return None
    columns = columns[varies]
    values = values[:, varies]
    centre = centre[:, varies]
    spread = spread[:, varies]
    away = (values - centre) / spread
    wrong = np.zeros(away.shape, dtype=bool)
    expected = away.copy()
    gain = 0.0
    laws = []
    for group in groups:
        wrong[group], law, lower = _flagged(away[group], whole=ends is None)
        laws.append(law)
        gain += lower
    if ends is not None:
        # the number of the cell of the series that every cell of the windows is, shape (n, q)
        names, lags = zip(*(split(table.names[c]) for c in columns.tolist()), strict=True)
        variable = np.array([names.index(name) for name in names])
        cells = (ends[:, None] - np.array(lags)) * len(names) + variable
        votes = np.bincount(cells.ravel(), wrong.ravel())
        seen = np.bincount(cells.ravel())
        # in all windows, or in none
        wrong = np.asarray(2.0 * votes[cells] >= seen[cells]) & (votes[cells] > 0)
        gain /= 1 + max(lags)
    for group, (mean, precision) in zip(groups, laws, strict=True):
        expected[group] = mean + _completed(away[group] - mean, precision, wrong[group])[0]
    expected = np.where(wrong, centre + spread * expected, values)
    if ends is not None:  # one value for every cell of the series
        expected = (np.bincount(cells.ravel(), expected.ravel()) / np.maximum(seen, 1))[cells]
    return Flags(rows, columns, wrong, away, spread, expected, gain)


def _robust_units(values: Floats, codes: Ints) -> tuple[Floats, Floats, list[Ints]]:
    """Medians and robust standard deviations of the contexts, row by row, and rows that are looked
    at together.

    Contexts with few rows share their deviations, each around its own medians, with the largest one
    where they are too few together.
    """
    centre = np.empty_like(values)
    spread = np.empty_like(values)
    groups: list[Ints] = []
    small: list[Ints] = []
    for cell in np.unique(codes):
        rows = np.flatnonzero(codes == cell)
        centre[rows] = np.median(values[rows], axis=0)
        few = len(rows) < max(FEWEST_ROWS, ROWS_A_COLUMN * values.shape[1])
        (small if few else groups).append(rows)
    if sum(map(len, small)) < ROWS_A_COLUMN * values.shape[1] and groups:  # too few even together
        small.append(groups.pop(int(np.argmax([len(rows) for rows in groups]))))
    groups += [np.sort(np.concatenate(small))] if small else []
    for rows in groups:
        spread[rows] = NORMAL * np.median(np.abs(values[rows] - centre[rows]), axis=0)
    return centre, spread, groups


Law = tuple[Floats, Floats]
"""Means, and the inverse of the covariances."""


def _flagged(z: Floats, whole: bool = True) -> tuple[Bools, Law, float]:
    """The flagged cells of rows in robust units, means and inverse covariances of the rest, and
    what d² falls by.
    """
    mean = np.zeros(z.shape[1])
    precision = _inverse(np.corrcoef(gaussian_ranks(z), rowvar=False).reshape(len(mean), -1))
    wrong, gain = _greedy(z, precision, whole)
    for _ in range(PASSES - 1 if wrong.any() else 0):
        filled, more = _completed(z - mean, precision, wrong)
        filled, mean = filled - filled.mean(axis=0), mean + filled.mean(axis=0)
        precision = _inverse((filled.T @ filled + more) / len(z))
        wrong, gain = _greedy(z - mean, precision, whole)
    return wrong, (mean, precision), gain


def _inverse(covariance: Floats) -> Floats:
    return np.asarray(np.linalg.inv(covariance + RIDGE * np.eye(len(covariance))))


def _greedy(z: Floats, precision: Floats, whole: bool) -> tuple[Bools, float]:
    """The cells that must go before the rest of their row fits, and what d² falls by in all."""
    q = z.shape[1]
    wrong = np.zeros(z.shape, dtype=bool)
    gain = 0.0
    far = np.flatnonzero(np.einsum("ij,ij->i", z @ precision, z) > scipy.special.chdtri(q, FAR))
    for part in np.array_split(far, -(-far.size * q * q // VALUES_AT_A_TIME)) if far.size else ():
        wrong[part], rest = _taken_out(z[part], precision)
        gain += float((np.einsum("ij,ij->i", z[part] @ precision, z[part]) - rest).sum())
        if whole:
            taken = wrong[part].sum(axis=1)
            wrong[
                part[
                    (taken > 0.5 * q)
                    | ((taken > 0) & (rest > scipy.special.chdtri(q - taken, FAR)))
                ]
            ] = True
    return wrong, gain


def _taken_out(z: Floats, precision: Floats) -> tuple[Bools, Floats]:
    """The same for rows that are far, and d² of the rest; its inverse covariance has zeros for what
    is taken out.
    """
    q = z.shape[1]
    each = np.arange(z.shape[1])
    left = np.repeat(precision[None], len(z), axis=0)
    wrong = np.zeros(z.shape, dtype=bool)
    distance = np.einsum("ij,ij->i", z @ precision, z)
    active = np.arange(len(z))
    for taken in range(q // 2 + 1):
        active = active[distance[active] > scipy.special.chdtri(q - taken, FITS)]
        pull = np.einsum("rij,rj->ri", left[active], z[active])
        own = left[active][:, each, each]
        lower = np.where(wrong[active], 0.0, pull * pull / np.where(wrong[active], 1.0, own))
        cell = lower.argmax(axis=1)
        lower = lower[np.arange(len(active)), cell]
        active, cell, lower = (
            some[lower > scipy.special.chdtri(1, FAR)] for some in (active, cell, lower)
        )
        if not active.size:
            break
        wrong[active, cell] = True
        distance[active] -= lower
        column = left[active, :, cell]
        left[active] -= (
            column[:, :, None]
            * (column / column[np.arange(len(active)), cell][:, None])[:, None, :]
        )
    return wrong, distance


def _completed(z: Floats, precision: Floats, wrong: Bools) -> tuple[Floats, Floats]:
    """Rows with conditional means in place of flagged cells, and the sum of the covariances that
    these lack.
    """
    filled = z.copy()
    lacking = np.zeros_like(precision)
    q = z.shape[1]
    some = np.flatnonzero(wrong.any(axis=1))
    for part in (
        np.array_split(some, -(-some.size * q * q // VALUES_AT_A_TIME)) if some.size else ()
    ):
        out = wrong[part]
        both = out[:, :, None] & out[:, None, :]
        covariance = np.where(both, np.linalg.inv(np.where(both, precision, np.eye(q))), 0.0)
        pull = np.where(out, 0.0, z[part]) @ precision
        filled[part] = np.where(out, -np.einsum("rij,rj->ri", covariance, pull), z[part])
        lacking += covariance.sum(axis=0)
    return filled, lacking
