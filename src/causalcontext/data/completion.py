"""Missing cells by a model: what every observed cell says about the moments, and completed tables
for what needs rows.

In every cell of the context the columns are normal, categories by indicators. EM finds means and
covariances that make the observed values most likely (Dempster, Laird and Rubin 1977); rows without
a context count in every cell that they may belong to, by its probability. What is missing of the
information about a covariance follows from the patterns of missing values, and is what an honest
number of rows leaves out. Completed tables come from EM on bootstrap weights (King and others
2001), followed by matching: a missing value is that of a row with nearly the same prediction, so
that counts stay counts, and categories categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.moments import Moments
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Bools, Floats, Ints

STACKED = 5
POOLED = 20
"""Completed tables that a score sees as one, and those whose answers to a test are pooled: fewer
cost power.
"""
PRIOR_ROWS = 1.0
"""So many rows without any correlation are added to every cell, so that its covariance has an
inverse.
"""
CLOSE = 1e-4
MOST_STEPS = 300
"""EM ends when no mean or covariance, in standard units, moves by more; or after so many steps."""
DONORS = 5
"""A missing value is taken from one of so many rows whose prediction is nearest."""
MOST_INFORMED = 30
"""With more columns what is missing of the information about a pair is the share of rows that lack
one of the two.
"""
FEWEST_OBSERVED = 10
"""Values that a column needs to be modelled."""
_AT_A_TIME = 2**22


@dataclass(frozen=True, eq=False)
class IncompleteColumns:
    """The table as EM sees it: numbers in standard units, and indicators of categories. T rows, q
    columns.
    """

    values: Floats  # shape (T, q); 0 where missing
    seen: Bools  # shape (T, q)
    owner: Ints  # shape (q,); the column of the table
    pattern: Ints  # shape (T,); the row of `patterns` that says what is seen
    patterns: Bools  # shape (P, q)
    possible: Bools  # shape (T, K); the cells of the context that a row may belong to
    centre: Floats  # shape (q,)
    scale: Floats  # shape (q,)


@dataclass(frozen=True, eq=False)
class NormalCells:
    """A normal law in every cell of the context."""

    share: Floats  # shape (K,)
    mean: Floats  # shape (K, q)
    covariance: Floats  # shape (K, q, q); with the prior
    scatter: Floats  # shape (K, q, q); expected cross products around the mean, without the prior
    rows: Floats  # shape (K,)


@dataclass(frozen=True, eq=False)
class Completed:
    """The model of a table with missing cells: a model of its columns, and tables drawn from
    it.
    """

    given: Dataset
    columns: IncompleteColumns
    model: NormalCells
    seed: int
    most: int = POOLED  # tables at most
    drawn: dict[int, Dataset] = field(default_factory=dict)

    def table(self, number: int) -> Dataset:
        """A completed table, by its number; drawn when it is first asked for."""
        if number not in self.drawn:
            random = np.random.default_rng([self.seed, number])
            self.drawn[number] = _drawn(self.given, self.columns, self.model, random)
        return self.drawn[number]

    def tables(self, most: int) -> list[Dataset]:
        """The first completed tables."""
        return [self.table(number) for number in range(min(most, self.most))]

    @property
    def rows(self) -> Ints:
        """The rows of every cell; those without a context are counted where the first table has
        them.
        """
        return np.bincount(self.table(0).codes, minlength=len(self.given.contexts.cells))

    @property
    def note(self) -> str:
        """The note on what was done, in a sentence."""
        lack = 1.0 - self.columns.seen[:, self.information.first].mean()
        return (
            f"{100.0 * lack:.2g} % of the cells are missing and were modelled, from all"
            f" {self.given.n_rows:,} rows; what is known about two columns given the others is"
            f" worth {100.0 * self.share:.0f} % of them on average"
        )

    @cached_property
    def information(self) -> Information:
        """The information about covariances that missing cells leave."""
        return Information(self.columns, self.model)

    @cached_property
    def share(self) -> float:
        """The information about a pair of columns given all others that is left, in the mean over
        all pairs.
        """
        # Without conditions more is left: the more columns a mechanism has, the more of them are
        # missing in a row.
        places = range(len(self.given.system))
        cells = range(len(self.model.rows))
        pairs = [(x, y) for x in places for y in places if x < y] or [(0, 0)]
        others = [[z for z in places if z not in pair] for pair in pairs]
        return float(
            np.mean(
                [
                    self.information.share(*pair, given, cells)
                    for pair, given in zip(pairs, others, strict=True)
                ]
            )
        )

    @cached_property
    def moments(self) -> Moments:
        """Expected moments of the system variables; as many rows as the information that is left is
        worth.
        """
        model = self.model
        columns = self.columns
        plain = self.information.first
        scale = columns.scale[plain]
        rows = np.maximum(np.round(self.share * model.rows), 1.0)
        scatter = model.scatter[:, plain[:, None], plain] * scale[:, None] * scale
        scatter *= (rows / np.maximum(model.rows, 1e-9))[:, None, None]
        return Moments(
            rows.astype(np.int64), model.mean[:, plain] * scale + columns.centre[plain], scatter
        )

    @cached_property
    def stacked(self) -> Dataset:
        """All completed tables as one, in which every row counts for less than one."""
        tables = self.tables(STACKED)
        return replace(stacked(tables), share=self.worth(len(tables)) / len(tables))

    def worth(self, count: int) -> float:
        """The weight of a row of so many completed tables: these add what they differ by, divided
        by their number.
        """
        return 1.0 / (1.0 / self.share + (1.0 / self.share - 1.0) / count)


def stacked(tables: Sequence[Dataset]) -> Dataset:
    """Tables of the same columns as one."""
    columns = tuple(
        np.concatenate(parts) for parts in zip(*(table.columns for table in tables), strict=True)
    )
    return replace(
        tables[0], columns=columns, codes=np.concatenate([table.codes for table in tables])
    )


def complete(data: Dataset, seed: int, most: int = POOLED) -> Completed:
    """The model of a table with missing cells, from which completed tables are drawn, so many at
    most.
    """
    columns = _columns(data)
    return Completed(data, columns, fit(columns), seed, most)


def _columns(data: Dataset) -> IncompleteColumns:
    values = []
    seen = []
    owner = []
    for position in sorted(data.system, key=lambda column: data.names[column]):
        # the order of columns must not matter
        numbers = np.asarray(data.columns[position], dtype=np.float64)
        present = np.isfinite(numbers)
        if present.sum() < FEWEST_OBSERVED:
            raise DataError(
                f"column {data.names[position]!r} has {present.sum()} values, missing='model' needs"
                f" {FEWEST_OBSERVED}; drop the column"
            )
        levels = (
            len(data.categories.get(position, ()))
            if data.kinds[position] is Kind.CATEGORICAL
            else 2
        )
        for level in range(max(levels - 1, 1)):
            values.append(numbers if levels <= 2 else (numbers == level).astype(np.float64))
            seen.append(present)
            owner.append(position)
    wide = np.column_stack(values)
    known = np.column_stack(seen)
    centre = np.nanmean(np.where(known, wide, np.nan), axis=0)
    scale = np.nanstd(np.where(known, wide, np.nan), axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    patterns, pattern = np.unique(known, axis=0, return_inverse=True)
    cells = np.array(data.contexts.cells).reshape(len(data.contexts.cells), -1)
    possible = np.ones((data.n_rows, len(cells)), dtype=bool)
    for j, position in enumerate(data.contexts.positions):
        own_level = np.asarray(data.columns[position], dtype=np.int64)
        possible &= (own_level < 0)[:, None] | (own_level[:, None] == cells[:, j])
    # two contexts, each missing where the other has a value that no cell combines it with
    possible[~possible.any(axis=1)] = True
    return IncompleteColumns(
        np.where(known, (wide - centre) / scale, 0.0),
        known,
        np.array(owner),
        pattern.ravel(),
        patterns,
        possible,
        centre,
        scale,
    )


def fit(
    columns: IncompleteColumns, weight: Floats | None = None, start: NormalCells | None = None
) -> NormalCells:
    """The most likely normal law of every cell, by EM; `weight` of every row, all 1 by default."""
    rows, q = columns.values.shape
    cells = columns.possible.shape[1]
    count = np.ones(rows) if weight is None else weight
    model = start or NormalCells(
        np.full(cells, 1.0 / cells),
        np.zeros((cells, q)),
        np.tile(np.eye(q), (cells, 1, 1)),
        np.zeros((cells, q, q)),
        np.zeros(cells),
    )
    unknown = columns.possible.sum(axis=1) > 1
    belongs = columns.possible / columns.possible.sum(axis=1, keepdims=True)
    for _ in range(MOST_STEPS):
        expected = [
            _expected(columns, belongs[:, cell] * count, model, cell) for cell in range(cells)
        ]
        total, mean, scatter = (
            np.stack([np.asarray(moments_of_cell[i]) for moments_of_cell in expected])
            for i in range(3)
        )
        covariance = (scatter + PRIOR_ROWS * np.eye(q)) / (total + PRIOR_ROWS)[:, None, None]
        after = NormalCells(total / total.sum(), mean, covariance, scatter, total)  # the M step
        moved = max(
            np.abs(after.mean - model.mean).max(), np.abs(after.covariance - model.covariance).max()
        )
        model = after
        if moved < CLOSE:
            break
        if unknown.any():
            belongs[unknown] = posterior(columns, model)[unknown]
    return model


def _expected(
    columns: IncompleteColumns, weight: Floats, model: NormalCells, cell: int
) -> tuple[float, Floats, Floats]:
    """Rows, mean and cross products of one cell as the model expects them: one E step."""
    mean = model.mean[cell]
    covariance = model.covariance[cell]
    total = float(weight.sum())
    q = len(mean)
    sums = np.zeros(q)
    products = np.zeros((q, q))
    left = np.zeros((q, q))
    for pattern_range, rows in _parts(columns):
        slopes, rest = _regressions(columns.patterns[pattern_range], covariance)[:2]
        pattern = columns.pattern[rows] - pattern_range.start
        filled = predicted(columns, rows, slopes[pattern], mean)
        sums += weight[rows] @ filled
        products += (filled.T * weight[rows]) @ filled
        left += np.tensordot(
            np.bincount(pattern, weight[rows], pattern_range.stop - pattern_range.start), rest, 1
        )
    centre = sums / max(total, 1e-12)
    return total, centre, products - total * np.outer(centre, centre) + left


def posterior(columns: IncompleteColumns, model: NormalCells) -> Floats:
    """The probability of every cell that a row may belong to, given what is seen of it, shape (T,
    K).
    """
    log_density = np.zeros(columns.possible.shape)
    for cell in range(columns.possible.shape[1]):
        for pattern_range, rows in _parts(columns):
            _, _, inverse, size = _regressions(
                columns.patterns[pattern_range], model.covariance[cell]
            )
            pattern = columns.pattern[rows] - pattern_range.start
            away = np.where(columns.seen[rows], columns.values[rows] - model.mean[cell], 0.0)
            log_density[rows, cell] = -0.5 * (
                np.einsum("ti,tij,tj->t", away, inverse[pattern], away) + size[pattern]
            )
    log_density += np.log(np.maximum(model.share, 1e-300))
    return np.asarray(
        scipy.special.softmax(np.where(columns.possible, log_density, -np.inf), axis=1)
    )


def _parts(columns: IncompleteColumns) -> list[tuple[slice, Ints]]:
    """Patterns, as many as fit into memory together, with their rows."""
    patterns, q = columns.patterns.shape
    size = max(1, _AT_A_TIME // (q * q))
    parts = [slice(first, min(first + size, patterns)) for first in range(0, patterns, size)]
    return [
        (part, np.flatnonzero((columns.pattern >= part.start) & (columns.pattern < part.stop)))
        for part in parts
    ]


def _regressions(patterns: Bools, covariance: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """For every pattern: slopes of all columns on those that are seen, what is left of their
    covariances, the inverse of the covariance of those seen, and its log determinant; shapes (P, q,
    q), three times, and (P,).
    """
    both = patterns[:, :, None] & patterns[:, None, :]
    alone = ~patterns[:, :, None] * np.eye(patterns.shape[1])
    inside = np.where(both, covariance, 0.0) + alone
    inverse = np.where(both, np.linalg.inv(inside), 0.0)
    slopes = covariance @ inverse
    slopes = np.where(patterns[:, :, None], np.eye(patterns.shape[1]), slopes)
    left = covariance - slopes @ covariance
    left = np.where(both | patterns[:, :, None] | patterns[:, None, :], 0.0, left)
    return slopes, left, inverse, np.linalg.slogdet(inside)[1]


def predicted(columns: IncompleteColumns, rows: Ints, slopes: Floats, mean: Floats) -> Floats:
    """Some rows with what the seen values lead to expect where one is missing; slopes of every
    row.
    """
    away = np.where(columns.seen[rows], columns.values[rows] - mean, 0.0)
    return np.asarray(np.einsum("tij,tj->ti", slopes, away) + mean)


def _drawn(
    data: Dataset, columns: IncompleteColumns, model: NormalCells, random: np.random.Generator
) -> Dataset:
    """A completed table: a draw from the model of a bootstrap sample, then values of rows that are
    predicted alike.
    """
    weight = random.multinomial(data.n_rows, np.full(data.n_rows, 1.0 / data.n_rows)).astype(
        np.float64
    )
    sample_model = fit(columns, weight, model)
    cells = np.array([random.choice(len(row), p=row) for row in posterior(columns, sample_model)])
    filled = np.zeros_like(columns.values)
    for cell in range(len(sample_model.rows)):
        for pattern_range, rows in _parts(columns):
            rows = rows[cells[rows] == cell]
            slopes, left = _regressions(
                columns.patterns[pattern_range], sample_model.covariance[cell]
            )[:2]
            values, vectors = np.linalg.eigh(left)
            root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
            pattern = columns.pattern[rows] - pattern_range.start
            noise = np.einsum(
                "tij,tj->ti", root[pattern], random.standard_normal((len(rows), root.shape[1]))
            )
            filled[rows] = (
                predicted(columns, rows, slopes[pattern], sample_model.mean[cell]) + noise
            )
    return _matched(data, columns, sample_model, cells, filled, random)


def _matched(
    data: Dataset,
    columns: IncompleteColumns,
    model: NormalCells,
    cells: Ints,
    filled: Floats,
    random: np.random.Generator,
) -> Dataset:
    """The table with, for every missing value, one of a row of the same cell whose prediction is
    nearly the same.
    """
    values = [
        np.array(column, dtype=np.float64) if number in data.system else column
        for number, column in enumerate(data.columns)
    ]
    for position in dict.fromkeys(columns.owner.tolist()):
        of_variable = np.flatnonzero(columns.owner == position)
        others = np.flatnonzero(columns.owner != position)
        seen = columns.seen[:, of_variable[0]]
        for cell in range(len(model.rows)):
            lack = np.flatnonzero(~seen & (cells == cell))
            candidates = np.flatnonzero(seen & (cells == cell))
            if not lack.size:
                continue
            # a column without a value in a cell
            candidates = candidates if candidates.size else np.flatnonzero(seen)
            covariance = model.covariance[cell]
            slopes = np.linalg.solve(
                covariance[np.ix_(others, others)], covariance[np.ix_(others, of_variable)]
            )
            near = filled[:, others] @ slopes
            count = min(DONORS, candidates.size)
            nearest = (
                scipy.spatial.cKDTree(near[candidates])
                .query(near[lack], count)[1]
                .reshape(len(lack), count)
            )
            donors = candidates[
                nearest[np.arange(len(lack)), random.integers(count, size=len(lack))]
            ]
            values[position][lack] = values[position][donors]
            filled[np.ix_(lack, of_variable)] = columns.values[np.ix_(donors, of_variable)]
    contexts = np.array(data.contexts.cells, dtype=np.int32).reshape(len(data.contexts.cells), -1)
    for j, position in enumerate(data.contexts.positions):
        values[position] = contexts[cells, j]
    return replace(data, columns=tuple(values), codes=cells.astype(data.codes.dtype))


class Information:
    """The information about covariances that missing cells leave, by the patterns of missing
    values.

    Of a normal law with covariance S, a row of which the columns o are seen has the information
    tr(J E J F) / 2 about the elements E and F of S, J being the inverse of S over o and 0
    elsewhere.
    """

    def __init__(self, columns: IncompleteColumns, model: NormalCells) -> None:
        self.columns = columns
        self.model = model
        # of every system variable, in table order, its first column
        self.first = np.array(
            [
                int(np.flatnonzero(columns.owner == variable)[0])
                for variable in np.unique(columns.owner)
            ]
        )
        self._known: dict[tuple[int, int, tuple[int, ...], tuple[int, ...]], float] = {}
        q = columns.values.shape[1]
        self._pairs = np.array([(a, b) for a in range(q) for b in range(a, q)]).T
        self._errors = (
            [self._error(cell) for cell in range(len(model.rows))] if q <= MOST_INFORMED else []
        )

    def share(self, x: int, y: int, given: Sequence[int], cells: Sequence[int]) -> float:
        """The share that is left for the partial correlation of two system variables given others,
        on the rows of some cells.
        """
        key = (x, y, tuple(given), tuple(cells))
        if key not in self._known:
            together = self.columns.seen[:, self.first[x]] & self.columns.seen[:, self.first[y]]
            self._known[key] = self._share(*key) if self._errors else float(together.mean())
        return self._known[key]

    def _share(self, x: int, y: int, given: tuple[int, ...], cells: tuple[int, ...]) -> float:
        model = self.model
        chosen = list(cells)
        rows = model.rows[chosen]
        mean = rows @ model.mean[chosen] / rows.sum()
        away = model.mean[chosen] - mean
        pooled = (
            np.tensordot(rows, model.covariance[chosen], 1) + (away.T * rows) @ away
        ) / rows.sum()
        owner = self.columns.owner
        # all columns of every condition
        parts = [np.flatnonzero(owner == owner[self.first[z]]) for z in given]
        conditions = np.concatenate([np.empty(0, dtype=np.int64), *parts])
        first, second = (self._residual(pooled, int(self.first[end]), conditions) for end in (x, y))
        a, b = self._pairs
        gradient = np.where(
            a == b, first[a] * second[a], first[a] * second[b] + first[b] * second[a]
        )
        whole = left = 0.0
        for cell, n in zip(chosen, rows.tolist(), strict=True):
            covariance = model.covariance[cell]
            across = first @ covariance @ second
            whole += n * ((first @ covariance @ first) * (second @ covariance @ second) + across**2)
            left += n * n * float(gradient @ self._errors[cell] @ gradient)
        return float(np.clip(whole / max(left, 1e-300), 0.01, 1.0))

    def _residual(self, covariance: Floats, column: int, given: Ints) -> Floats:
        """The residual of a column given others, as weights of all columns."""
        weights = np.zeros(len(covariance))
        weights[column] = 1.0
        if given.size:
            fit = np.linalg.lstsq(
                covariance[np.ix_(given, given)], covariance[given, column], rcond=None
            )
            weights[given] = -fit[0]
        return weights

    def _error(self, cell: int) -> Floats:
        """The covariance of the estimated covariances of a cell: the inverse of their
        information.
        """
        columns = self.columns
        a, b = self._pairs
        weight = posterior(columns, self.model)[:, cell]
        count = np.bincount(columns.pattern, weight, len(columns.patterns))
        half = np.where(a == b, 0.5, 1.0)
        information = np.diag(np.full(len(a), 1e-9))
        inverse = _regressions(columns.patterns, self.model.covariance[cell])[2]
        for precision, n in zip(inverse, count.tolist(), strict=True):
            if n > 0.0:
                information += n * (
                    precision[np.ix_(a, a)] * precision[np.ix_(b, b)]
                    + precision[np.ix_(a, b)] * precision[np.ix_(b, a)]
                )
        return np.asarray(np.linalg.inv(information * half[:, None] * half))
