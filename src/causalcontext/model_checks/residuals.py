"""One check of residuals, for tests, scores and lags: do they contradict the model that left them?

If a model is right, its residuals have no correlation with squares, cubes and products of other
columns, their squares none with the columns, their skewness and excess kurtosis is 0, no row is far
away, and each is independent of the rows before (`model_checks.row_order`). A finding needs a clear
effect besides significance: large tables reject every model.

A model with noise densities of its own may have skewed or heavy-tailed residuals. So which of the
kinds count is the caller's to say, and a dependence must then show with normal scores of ranks as
well: a few large values make correlations of squares large where nothing depends on anything.

A graph is an estimate, and which rows share a mechanism is another one. So every number of a table
(`check_table`) is regressed on those that point at it, on those that may, and on all of its
neighbours, in all rows together and in every context by itself: whatever the truth is, one of them
is near it. A check fails if it fails in each of these ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows, gaussian_ranks
from causalcontext.graphs.endpoints import Endpoints, adjacent, directed, may_cause
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.model_checks.row_order import (
    RowOrder,
    group_dependence,
    row_dependence,
    row_order,
)
from causalcontext.model_checks.violations import KINDS, ROWS, Violation

LEVEL = 0.01
"""Of a check of a whole table."""
LEVEL_OF_ROWS = 0.001
"""The same of the check of dependent rows. One table has many orders, by each of its columns, and
none of them should cost a claim; households and series are far beyond it (a correlation of
neighbours of .2 and more)."""
CLEAR_CORRELATION = 0.1
CLEAR_PRODUCT = 0.15
CLEAR_SKEWNESS = 0.5
CLEAR_KURTOSIS = 1.0
CLEAR_LAG = 0.05
CLEAR_QUANTILES = 0.08
"""Skewness by quantiles, (Q90 + Q10 - 2 Q50) / (Q90 - Q10): a few far rows do not move it."""
FEWEST_GROUPS = 30
SMALLEST_GROUP = 1.5
LARGEST_GROUP = 15.0
"""Different whole numbers, and the rows that share each on average, where they may be those of
households or patients. Rows of larger groups are as far apart as those of `row_order` that
neighbours are compared with, and fewer groups are too far from each other for that."""
FAR = 8.0
CLEAR_SHARE = 0.002
LEAST_FAR = 2
"""Rows farther from the median than so many robust standard deviations: at least this share of
rows, and so many.
"""
MANY_VARIABLES = 30
"""Beyond so many numbers residuals are held against their causes only."""
MOST_ROWS = 5_000
"""Rows that are looked at."""
SPARE_ROWS = 20
"""Rows that are fitted together take part with at least so many more than coefficients."""
PRODUCTS_AT_A_TIME = 500


class Residuals(NamedTuple):
    """Residuals with mean 0 and variance 1, and the columns beside them, alike; NaN where there are
    no residuals.
    """

    left: Floats  # shape (rows, responses)
    beside: Floats  # shape (rows, columns)
    causes: Bools
    """Shape (columns, responses): causes in the model, whose curves are looked for and the size of
    residuals may depend on."""
    others: Bools  # shape (columns, responses): columns whose squares and products are looked for
    order: RowOrder | None = None  # how the rows follow each other; None where that is not asked
    column: Ints = np.zeros(
        0, dtype=np.int64
    )  # shape (responses,): their places among the columns of `order`


class Statistics(NamedTuple):
    """One number for every response; quantiles and far rows are counted only where skewness and
    kurtosis are clear.
    """

    curves: Floats  # the largest correlation of the residual with squares and cubes of its causes
    hidden_curves: (
        Floats  # with squares of the others: a cause that acts by its square alone is no neighbour
    )
    interactions: Floats  # the largest with products of two of the others
    spread: Floats  # the largest of its square with its causes and their squares
    # the first four with normal scores, where that is asked for and one of them is clear
    by_ranks: Floats
    skewness: Floats
    quantiles: Floats
    kurtosis: Floats
    far: Floats
    rows: Floats  # how much rows depend on those before them
    groups: Floats  # shape (keys, responses): how much rows of one group are alike


def check_residuals(
    found: Statistics,
    rows: int,
    names: Sequence[str],
    kinds: Sequence[str] = KINDS,
    keys: Sequence[str] = (),
) -> tuple[Violation, ...]:
    """The violations that the statistics of all responses, which are named, show on so many
    rows; `keys` are the columns by which rows belong together.
    """
    alike = tuple(_alike_groups(found.groups, rows, names, keys))
    return tuple(
        violation
        for violation in (*_violations(found, rows, names), *alike)
        if violation.kind in kinds and not (alike and violation.kind == ROWS and not violation.key)
    )


def least(found: Sequence[Statistics]) -> Statistics:
    """Of several fits of the same responses what contradicts least, statistic by statistic."""
    nearest = []
    for sizes in map(np.array, zip(*found, strict=True)):
        filled = np.where(
            np.isnan(sizes), np.inf, sizes
        )  # a fit without a residual does not count, 0 if none has one
        best = np.take_along_axis(filled, np.argmin(np.abs(filled), axis=0)[None], axis=0)[0]
        nearest.append(np.where(np.isinf(best), 0.0, best))
    return Statistics(*nearest)


def side_by_side(found: Sequence[Statistics]) -> Statistics:
    """The statistics of several responses, each of which was fitted on rows of its own; 0 without
    residuals.
    """
    return Statistics(
        *(np.nan_to_num(np.concatenate(column, axis=-1)) for column in zip(*found, strict=True))
    )


def in_units(columns: Floats) -> Floats:
    """Columns with mean 0, in units of their standard deviation."""
    spread = np.sqrt(np.einsum("ij,ij->j", columns, columns) / len(columns))
    return np.asarray(columns / np.where(spread > 0, spread, 1.0))


def statistics(
    fit: Residuals, by_ranks: bool = False, cubes: bool = True, products: bool = True
) -> Statistics:
    """All statistics of one fit, those of dependence perhaps by ranks as well; cubes and products
    may be left out.
    """
    left, beside, causes, others, order, column = fit
    dependence = _dependence(
        left, beside, left * left, beside * beside, causes, others, cubes, products
    )
    doubtful = np.flatnonzero((dependence > CLEAR_CORRELATION).any(axis=0))
    ranked = dependence.copy()
    if by_ranks and doubtful.size:
        # by ranks, distances from the median take the place of squares, which even of normal scores
        # belong to few rows: where a curve does not follow its cause at the ends, squares would say
        # of a few rows that residuals are larger
        own, columns = (
            (gaussian_ranks(each), gaussian_ranks(np.abs(each - np.median(each, axis=0))))
            for each in (left[:, doubtful], beside)
        )
        ranked[:, doubtful] = _dependence(
            own[0],
            columns[0],
            own[1],
            columns[1],
            causes[:, doubtful],
            others[:, doubtful],
            cubes,
            products,
        )
    square = left * left
    skewness = np.mean(square * left, axis=0)
    kurtosis = np.mean(square * square, axis=0) - 3.0
    quantiles = _where(np.abs(skewness) > CLEAR_SKEWNESS, _quantile_skewness, left)
    far = _where(kurtosis > CLEAR_KURTOSIS, _far, left)
    rows = np.zeros(left.shape[1]) if order is None else row_dependence(left, order, column)
    groups = np.zeros((0, left.shape[1])) if order is None else group_dependence(left, order)
    return Statistics(
        dependence[0],
        dependence[1],
        dependence[2],
        dependence[3],
        ranked,
        skewness,
        quantiles,
        kurtosis,
        far,
        rows,
        groups,
    )


def _dependence(
    left: Floats,
    beside: Floats,
    spread: Floats,
    squares: Floats,
    causes: Bools,
    others: Bools,
    cubes: bool,
    products: bool,
) -> Floats:
    """The first four statistics, shape (4, responses), by residuals and columns, and by the squares
    of both.
    """
    against_squares = _correlations(squares, left)
    own = _largest(against_squares, causes)
    if cubes:
        own = np.maximum(
            own, _largest(_correlations((beside * beside - 3.0) * beside, left), causes)
        )
    uneven = (_largest(_correlations(columns, spread), causes) for columns in (squares, beside))
    return np.stack(
        [
            own,
            _largest(against_squares, others),
            _products(left, beside, others & products),
            np.maximum(*uneven),
        ]
    )


def _violations(found: Statistics, rows: int, names: Sequence[str]) -> Iterator[Violation]:
    nodes = len(names)
    pairs = nodes * max(nodes - 1, 1)
    skewed = _beyond(found.skewness, CLEAR_SKEWNESS, nodes, rows / 6.0) & (
        abs(found.quantiles) > CLEAR_QUANTILES
    )
    far = (found.far >= np.maximum(CLEAR_SHARE * rows, LEAST_FAR)) & ~skewed
    heavy = (
        _beyond(np.maximum(found.kurtosis, 0.0), CLEAR_KURTOSIS, nodes, rows / 24.0)
        & ~skewed
        & ~far
    )
    odd = bool(
        np.any(skewed | far)
    )  # then residuals are correlated with squares and products of their own effects
    own, hidden, interactions, spread = found.by_ranks
    ranked = own if odd else np.maximum(own, hidden)
    curves = found.curves if odd else np.maximum(found.curves, found.hidden_curves)
    products = np.zeros(nodes) if odd else found.interactions
    checks = (
        (curves, _beyond(np.minimum(curves, ranked), CLEAR_CORRELATION, 2 * pairs, rows)),
        (products, _beyond(np.minimum(products, interactions), CLEAR_PRODUCT, pairs * nodes, rows)),
        (
            found.spread,
            _beyond(np.minimum(found.spread, spread), CLEAR_CORRELATION, 2 * pairs, rows),
        ),
        (found.skewness, skewed),
        (found.kurtosis, heavy),
        (found.far / rows, far),
        (found.rows, _beyond(found.rows, CLEAR_LAG, nodes, rows, LEVEL_OF_ROWS)),
    )
    for kind, (sizes, there) in zip(KINDS, checks, strict=True):
        chosen = sorted(
            np.flatnonzero(there).tolist(), key=lambda node: (-abs(sizes[node]), names[node])
        )
        if chosen:
            clear = tuple(float(sizes[node]) for node in chosen)
            yield Violation(kind, tuple(names[node] for node in chosen), clear[0], sizes=clear)


def _alike_groups(
    groups: Floats, rows: int, names: Sequence[str], keys: Sequence[str]
) -> Iterator[Violation]:
    """Where rows of one group are alike, for every column by which rows belong together."""
    for key, sizes in zip(keys, groups, strict=True):
        clear = _beyond(sizes, CLEAR_LAG, groups.size, rows, LEVEL_OF_ROWS)
        chosen = sorted(
            np.flatnonzero(clear).tolist(), key=lambda node: (-sizes[node], names[node])
        )
        if chosen:
            found = tuple(float(sizes[node]) for node in chosen)
            yield Violation(ROWS, tuple(names[node] for node in chosen), found[0], key, found)


def _beyond(
    sizes: Floats, clear: float, comparisons: int, weight: float, level: float = LEVEL
) -> Bools:
    """Where a size is clear, and significant among so many comparisons; its variance is 1 /
    weight.
    """
    bound = -float(scipy.special.ndtri(level / (2.0 * comparisons))) / np.sqrt(weight)
    return np.asarray(np.abs(sizes) > max(clear, bound))


def _largest(correlations: Floats, against: Bools) -> Floats:
    return np.asarray(np.where(against, np.abs(correlations), 0.0).max(axis=0, initial=0.0))


def _products(left: Floats, beside: Floats, against: Bools) -> Floats:
    """The largest correlation of every residual with a product of two of its columns."""
    if not against.any():
        return np.zeros(left.shape[1])
    first, second = np.triu_indices(beside.shape[1], 1)
    both = against[first] & against[second]
    wanted = np.flatnonzero(both.any(axis=1))
    largest = np.zeros(left.shape[1])
    for begin in range(0, wanted.size, PRODUCTS_AT_A_TIME):
        some = wanted[begin : begin + PRODUCTS_AT_A_TIME]
        products = beside[:, first[some]] * beside[:, second[some]]
        largest = np.maximum(largest, _largest(_correlations(products, left), both[some]))
    return largest


def _correlations(many: Floats, others: Floats) -> Floats:
    """Of every column of the one with every column of the other."""
    first = many - many.mean(axis=0)
    second = others - others.mean(axis=0)
    scale = np.sqrt(
        np.outer(np.einsum("ij,ij->j", first, first), np.einsum("ij,ij->j", second, second))
    )
    return np.asarray(first.T @ second / np.where(scale > 0, scale, 1.0))


def _where(wanted: Bools, statistic: Callable[[Floats], Floats], left: Floats) -> Floats:
    """A statistic of some of the columns; 0 elsewhere, NaN where there are no residuals."""
    found = np.where(np.isnan(left[0]), np.nan, 0.0)
    if wanted.any():
        found[wanted] = statistic(left[:, wanted])
    return found


def _quantile_skewness(left: Floats) -> Floats:
    low, middle, high = np.quantile(left, (0.1, 0.5, 0.9), axis=0)
    return np.asarray((high + low - 2.0 * middle) / np.where(high > low, high - low, 1.0))


def _far(left: Floats) -> Floats:
    """How many rows are far from the median."""
    away = np.abs(left - np.median(left, axis=0))
    robust = 1.4826 * np.median(away, axis=0)
    return np.asarray(
        (away > FAR * np.where(robust > 0, robust, np.inf)).sum(axis=0).astype(np.float64)
    )


LEAST_ROWS = 1_000
MOST_CELLS = 1_000_000
"""Rows times variables, so that wide tables do not take long."""
RUN = 50
"""Long tables are looked at in runs of so many rows, since the order of rows matters."""
NOTHING_LEFT = 1e-6
"""A residual variance below this share of the variable's own is rounding."""
RIDGE = 1e-8
"""In units of variances: columns that are functions of each other share a slope."""


class NumericRows(NamedTuple):
    """Rows of all columns as numbers."""

    # standardised numbers, and indicators of the levels of categories; shape (rows, columns)
    values: Floats
    owner: Ints  # the variable behind every column
    checked: Ints  # the columns of continuous variables
    cells: Ints  # the context of every row
    order: RowOrder


def check_table(data: Dataset, endpoints: Endpoints) -> tuple[Violation, ...]:
    """Everything in which a table contradicts the linear-Gaussian model around some graphs, shape
    (contexts, N, N).
    """
    keys = groups_of_rows(data)
    numeric = numeric_rows(data, keys)
    found = [statistics(fit) for fit in fits(numeric, endpoints)] if numeric.checked.size else []
    names = [data.names[position] for position in numeric.owner[numeric.checked]]
    if not found:
        return ()
    return check_residuals(least(found), len(numeric.values), names, keys=tuple(keys))


def groups_of_rows(data: Dataset) -> dict[str, Ints]:
    """By every column that may say which rows belong together, the group of every row.

    These are columns of text that were left out, and whole numbers that a few rows share each, as
    the number of a household.
    """
    groups = {name: codes for name, codes in data.keys.items() if len(codes) == data.n_rows}
    for position in data.system:
        values = np.asarray(data.columns[position])
        if data.kinds[position] is not Kind.CONTINUOUS:
            continue
        known = np.isfinite(values)
        different = np.unique(values[known])
        if different.size < FEWEST_GROUPS or np.any(different != np.round(different)):
            continue
        if SMALLEST_GROUP <= known.sum() / different.size <= LARGEST_GROUP:
            groups[data.names[position]] = np.where(
                known, np.searchsorted(different, values), -1
            ).astype(np.int64)
    return groups


def numeric_rows(data: Dataset, keys: Mapping[str, Ints] = MappingProxyType({})) -> NumericRows:
    """The complete rows of a table, or runs of them; `keys` have the groups of all rows."""
    complete = np.flatnonzero(complete_rows(data))
    most = int(np.clip(MOST_CELLS // max(len(data.names), 1), LEAST_ROWS, MOST_ROWS))
    places = np.arange(complete.size)
    if complete.size > most:  # runs of neighbouring ones, evenly spread
        starts = np.linspace(0, complete.size - RUN, most // RUN).astype(np.int64)
        places = np.asarray((starts[:, None] + np.arange(RUN)).ravel())
    rows = complete[places]
    owner = []
    checked = []
    columns: list[Floats] = []
    for position in data.system:
        values = np.asarray(data.columns[position])[rows].astype(np.float64)
        if data.kinds[position] is Kind.CONTINUOUS:
            checked.append(len(columns))
        if data.kinds[position] is Kind.CATEGORICAL:
            parts = [(values == level).astype(np.float64) for level in np.unique(values)[1:]]
        else:
            parts = [values]
        columns += [_standardised(part) for part in parts]
        owner += [position] * len(parts)
    follows = np.concatenate(([False], np.diff(places) == 1))[: rows.size]
    table = np.column_stack(columns) if columns else np.empty((rows.size, 0))
    groups = np.array([codes[rows] for codes in keys.values()], dtype=np.int64)
    order = row_order(table, follows)._replace(keys=groups.reshape(len(keys), rows.size))
    return NumericRows(
        table,
        np.array(owner, dtype=np.int64),
        np.array(checked, dtype=np.int64),
        data.codes[rows].astype(np.int64),
        order,
    )


def fits(numeric: NumericRows, endpoints: Endpoints) -> Iterator[Residuals]:
    """The fits of all ways, each once; `endpoints` has shape (contexts, N, N)."""
    ways = [
        np.asarray(way.any(axis=0))
        for way in (directed(endpoints), may_cause(endpoints), adjacent(endpoints))
    ]
    together = np.zeros_like(numeric.cells)
    numbers = numeric.owner[numeric.checked]
    possible = ways[1][np.ix_(numbers, numbers)]
    seen: list[Bools] = []
    for way in ways:
        design = way[np.ix_(numeric.owner, numbers)]
        if any(np.array_equal(design, other) for other in seen):
            continue
        seen.append(design)
        for cells in (together, numeric.cells) if numeric.cells.any() else (together,):
            found = _fit(numeric, design, cells, design[numeric.checked] | possible)
            if found is not None:
                yield found


def _fit(numeric: NumericRows, design: Bools, cells: Ints, causes: Bools) -> Residuals | None:
    """The residuals of the rows of every cell by itself; None if there are too few everywhere."""
    widest = int(design.sum(axis=0).max(initial=0))
    parts = []
    for cell in range(int(cells.max(initial=0)) + 1):
        rows = np.flatnonzero(cells == cell)
        if rows.size >= widest + SPARE_ROWS:
            parts.append((rows, *_left(numeric.values[rows], design, numeric.checked)))
    if not parts:
        return None
    order = np.concatenate([part[0] for part in parts])
    back = np.argsort(order)
    left, beside = (np.concatenate([part[k] for part in parts])[back] for k in (1, 2))
    others = causes if left.shape[1] > MANY_VARIABLES else ~np.eye(left.shape[1], dtype=bool)
    return Residuals(left, beside, causes, others, numeric.order.at(order[back]), numeric.checked)


def _left(values: Floats, design: Bools, checked: Ints) -> tuple[Floats, Floats]:
    """Residuals and the columns themselves, standardised, from cross products."""
    centred = values - values.mean(axis=0)
    products = centred.T @ centred
    slopes = np.zeros(design.shape)
    for node, column in enumerate(checked):
        causes = np.flatnonzero(design[:, node])
        if causes.size:
            inner = products[causes[:, None], causes] + RIDGE * len(values) * np.eye(causes.size)
            slopes[causes, node] = np.linalg.solve(inner, products[causes, column])
    left = centred[:, checked] - centred @ slopes
    own = np.diag(products)[checked]
    nothing = np.einsum("ij,ij->j", left, left) <= NOTHING_LEFT * own
    left[:, nothing | (own <= 1e-9 * len(values))] = np.nan
    return in_units(left), in_units(centred[:, checked])


def _standardised(values: Floats) -> Floats:
    if values.size == 0 or values.min() == values.max():
        return np.zeros_like(values)
    centred = values - values.mean()
    centred = centred / np.abs(centred).max()
    return np.asarray(centred / centred.std())
