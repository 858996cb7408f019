"""One check of residuals, for tests, scores and lags: do they contradict the model that left them?

If a model is right, its residuals have no correlation with squares, cubes and products of other
columns, their squares none with the columns, their skewness and excess kurtosis is 0, no row is far
away, and each is independent of the rows before (`model_checks.row_order`). A finding needs a clear
effect besides significance: large tables reject every model.

A model with noise densities of its own may have skewed or heavy-tailed residuals. So the caller
says which of the kinds count, and a dependence must then show with normal scores of ranks as well:
a few large values make correlations of squares large where nothing depends on anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.data.dataset import gaussian_ranks
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.model_checks.row_order import RowOrder, group_dependence, row_dependence
from causalcontext.model_checks.settings import (
    CHECK_LEVEL,
    CLEAR_CORRELATION,
    CLEAR_FAR_SHARE,
    CLEAR_KURTOSIS,
    CLEAR_LAG,
    CLEAR_PRODUCT,
    CLEAR_QUANTILES,
    CLEAR_SKEWNESS,
    FAR_DEVIATIONS,
    FEWEST_FAR_ROWS,
    MOST_COLUMNS_IN_PAIRS,
    PRODUCTS_AT_A_TIME,
    ROW_CHECK_LEVEL,
)
from causalcontext.model_checks.violations import KINDS, ROWS, Violation


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
    order: RowOrder | None = None  # of the rows; None where their dependence is not asked
    # shape (responses,): their places among the columns of `order`
    column: Ints = np.zeros(0, dtype=np.int64)


class Statistics(NamedTuple):
    """One number for every response; quantiles and far rows are counted only where skewness and
    kurtosis are clear.
    """

    curves: Floats  # the largest correlation of the residual with squares and cubes of its causes
    # with squares of the others: a cause that acts by its square alone is no neighbour
    hidden_curves: Floats
    interactions: Floats  # the largest with products of two of the others
    spread: Floats  # the largest of its square with its causes and their squares
    # the first four with normal scores, where that is asked for and one of them is clear
    by_ranks: Floats
    skewness: Floats
    quantiles: Floats
    kurtosis: Floats
    far: Floats
    rows: Floats  # the dependence of rows on those near them
    groups: Floats  # shape (keys, responses): the dependence of rows on those of their group


def check_residuals(
    measured: Statistics,
    rows: int,
    names: Sequence[str],
    kinds: Sequence[str] = KINDS,
    keys: Sequence[str] = (),
) -> tuple[Violation, ...]:
    """The violations that the statistics of all responses, with these names,
    show on so many rows; `keys` are the columns that say which rows belong together.

    Members of a household may stand side by side as well: the column that names it says more.
    """
    alike = tuple(_alike_in_groups(measured.groups, rows, names, keys))
    violations = [
        violation
        for violation in _violations(measured, rows, names)
        if not (alike and violation.kind == ROWS)
    ]
    return tuple(violation for violation in (*violations, *alike) if violation.kind in kinds)


def rows_are_alike(fit: Residuals) -> bool:
    """True if the residuals of some response depend on those of rows near them, or of the same
    group, as clearly as a violation does.
    """
    assert fit.order is not None
    count = len(fit.left)
    near = np.nan_to_num(row_dependence(fit.left, fit.order, fit.column))
    groups = np.nan_to_num(group_dependence(fit.left, fit.order))
    return any(
        bool(_beyond(sizes, CLEAR_LAG, sizes.size, count, ROW_CHECK_LEVEL).any())
        for sizes in (near, groups)
        if sizes.size
    )


def least(fits: Sequence[Statistics]) -> Statistics:
    """The statistics, one by one, of the fit of the same responses that contradicts least."""
    nearest = []
    for sizes in map(np.array, zip(*fits, strict=True)):
        # a fit without a residual does not count, 0 if none has one
        filled = np.where(np.isnan(sizes), np.inf, sizes)
        smallest = np.argmin(np.abs(filled), axis=0)[None]
        best = np.take_along_axis(filled, smallest, axis=0)[0]
        nearest.append(np.where(np.isinf(best), 0.0, best))
    return Statistics(*nearest)


def side_by_side(parts: Sequence[Statistics]) -> Statistics:
    """The statistics of several responses, each of which was fitted on rows of its own; 0 without
    residuals.
    """
    columns = (np.concatenate(column, axis=-1) for column in zip(*parts, strict=True))
    return Statistics(*map(np.nan_to_num, columns))


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
    square = left * left
    dependence = _dependence(left, beside, square, beside * beside, causes, others, cubes, products)
    doubtful = np.flatnonzero((dependence > CLEAR_CORRELATION).any(axis=0))
    ranked = dependence.copy()
    if by_ranks and doubtful.size:
        ranked[:, doubtful] = _dependence_by_ranks(fit, doubtful, cubes, products)
    skewness = np.mean(square * left, axis=0)
    kurtosis = np.mean(square * square, axis=0) - 3.0
    quantiles = _where(np.abs(skewness) > CLEAR_SKEWNESS, _quantile_skewness, left)
    far = _where(kurtosis > CLEAR_KURTOSIS, _far, left)
    rows = np.zeros(left.shape[1])
    groups = np.zeros((0, left.shape[1]))
    if order is not None:
        rows = row_dependence(left, order, column)
        groups = group_dependence(left, order)
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


def _dependence_by_ranks(fit: Residuals, doubtful: Ints, cubes: bool, products: bool) -> Floats:
    """The dependence of doubtful responses with normal scores of ranks, shape (4, doubtful).

    Distances from the median take the place of squares, which even of normal scores belong to few
    rows: where a curve does not follow its cause at the ends, squares would say of a few rows that
    residuals are larger.
    """
    left = fit.left[:, doubtful]
    return _dependence(
        gaussian_ranks(left),
        gaussian_ranks(fit.beside),
        gaussian_ranks(_distances_from_median(left)),
        gaussian_ranks(_distances_from_median(fit.beside)),
        fit.causes[:, doubtful],
        fit.others[:, doubtful],
        cubes,
        products,
    )


def _distances_from_median(columns: Floats) -> Floats:
    """The distance of every value from the median of its column."""
    return np.asarray(np.abs(columns - np.median(columns, axis=0)))


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
    curves = _largest(against_squares, causes)
    if cubes:
        against_cubes = _correlations((beside * beside - 3.0) * beside, left)
        curves = np.maximum(curves, _largest(against_cubes, causes))
    hidden_curves = _largest(against_squares, others)
    interactions = _products(left, beside, others & products)
    spread_by_squares = _largest(_correlations(squares, spread), causes)
    spread_by_lines = _largest(_correlations(beside, spread), causes)
    uneven = np.maximum(spread_by_squares, spread_by_lines)
    return np.stack([curves, hidden_curves, interactions, uneven])


def _violations(measured: Statistics, rows: int, names: Sequence[str]) -> Iterator[Violation]:
    """The violations of every kind, with the responses that show it, the clearest first.

    The variance of a skewness is 6 / rows, that of a kurtosis 24 / rows, that of a correlation 1 /
    rows.
    """
    nodes = len(names)
    pairs = nodes * max(nodes - 1, 1)
    asymmetric = _beyond(measured.skewness, CLEAR_SKEWNESS, nodes, rows / 6.0)
    skewed = asymmetric & (abs(measured.quantiles) > CLEAR_QUANTILES)
    far = (measured.far >= np.maximum(CLEAR_FAR_SHARE * rows, FEWEST_FAR_ROWS)) & ~skewed
    excess = np.maximum(measured.kurtosis, 0.0)
    heavy = _beyond(excess, CLEAR_KURTOSIS, nodes, rows / 24.0) & ~skewed & ~far
    # then residuals are correlated with squares and products of their own effects
    odd = bool(np.any(skewed | far))
    curves_by_ranks, hidden_by_ranks, products_by_ranks, spread_by_ranks = measured.by_ranks
    if odd:
        curves = measured.curves
        ranked = curves_by_ranks
        products = np.zeros(nodes)
    else:
        curves = np.maximum(measured.curves, measured.hidden_curves)
        ranked = np.maximum(curves_by_ranks, hidden_by_ranks)
        products = measured.interactions
    least_curves = np.minimum(curves, ranked)
    least_products = np.minimum(products, products_by_ranks)
    least_spread = np.minimum(measured.spread, spread_by_ranks)
    checks = (
        (curves, _beyond(least_curves, CLEAR_CORRELATION, 2 * pairs, rows)),
        (products, _beyond(least_products, CLEAR_PRODUCT, pairs * nodes, rows)),
        (measured.spread, _beyond(least_spread, CLEAR_CORRELATION, 2 * pairs, rows)),
        (measured.skewness, skewed),
        (measured.kurtosis, heavy),
        (measured.far / rows, far),
        (measured.rows, _beyond(measured.rows, CLEAR_LAG, nodes, rows, ROW_CHECK_LEVEL)),
    )
    for kind, (sizes, failing) in zip(KINDS, checks, strict=True):
        chosen = [
            (-abs(sizes[node]), names[node], node) for node in np.flatnonzero(failing).tolist()
        ]
        nodes_in_order = [node for *_, node in sorted(chosen)]
        if nodes_in_order:
            clear = tuple(float(sizes[node]) for node in nodes_in_order)
            columns = tuple(names[node] for node in nodes_in_order)
            yield Violation(kind, columns, clear[0], sizes=clear)


def _alike_in_groups(
    groups: Floats, rows: int, names: Sequence[str], keys: Sequence[str]
) -> Iterator[Violation]:
    """The responses in which rows of one group are alike, the clearest first, for every key."""
    for key, sizes in zip(keys, groups, strict=True):
        alike = _beyond(sizes, CLEAR_LAG, groups.size, rows, ROW_CHECK_LEVEL)
        chosen = sorted((-sizes[node], names[node]) for node in np.flatnonzero(alike).tolist())
        if chosen:
            columns = tuple(name for _, name in chosen)
            clear = tuple(float(-size) for size, _ in chosen)
            yield Violation(ROWS, columns, clear[0], key, clear)


def _beyond(
    sizes: Floats, clear: float, comparisons: int, weight: float, level: float = CHECK_LEVEL
) -> Bools:
    """True where a size is clear, and significant among so many comparisons; its variance is
    1 / weight.
    """
    bound = -float(scipy.special.ndtri(level / (2.0 * comparisons))) / np.sqrt(weight)
    return np.asarray(np.abs(sizes) > max(clear, bound))


def _largest(correlations: Floats, against: Bools) -> Floats:
    """The largest size of a correlation with the columns that count, for every response."""
    return np.asarray(np.where(against, np.abs(correlations), 0.0).max(axis=0, initial=0.0))


def _products(left: Floats, beside: Floats, against: Bools) -> Floats:
    """The largest correlation of every residual with a product of two of its columns."""
    if not against.any():
        return np.zeros(left.shape[1])
    if beside.shape[1] > MOST_COLUMNS_IN_PAIRS:
        return np.array(
            [_products_of(left[:, j], beside[:, own]) for j, own in enumerate(against.T)]
        )
    first, second = np.triu_indices(beside.shape[1], 1)
    both = against[first] & against[second]
    wanted = np.flatnonzero(both.any(axis=1))
    largest = np.zeros(left.shape[1])
    for begin in range(0, wanted.size, PRODUCTS_AT_A_TIME):
        chosen = wanted[begin : begin + PRODUCTS_AT_A_TIME]
        products = beside[:, first[chosen]] * beside[:, second[chosen]]
        largest = np.maximum(largest, _largest(_correlations(products, left), both[chosen]))
    return largest


def _products_of(left: Floats, beside: Floats) -> float:
    """The largest correlation of one residual, shape (rows,), with a product of two columns."""
    first, second = np.triu_indices(beside.shape[1], 1)
    largest = 0.0
    for begin in range(0, first.size, PRODUCTS_AT_A_TIME):
        chosen = slice(begin, begin + PRODUCTS_AT_A_TIME)
        products = beside[:, first[chosen]] * beside[:, second[chosen]]
        largest = max(largest, float(np.abs(_correlations(products, left[:, None])).max()))
    return largest


def _correlations(many: Floats, others: Floats) -> Floats:
    """The correlation of every column of `many` with every column of `others`."""
    first = many - many.mean(axis=0)
    second = others - others.mean(axis=0)
    sums_of_first = np.einsum("ij,ij->j", first, first)
    sums_of_second = np.einsum("ij,ij->j", second, second)
    scale = np.sqrt(np.outer(sums_of_first, sums_of_second))
    return np.asarray(first.T @ second / np.where(scale > 0, scale, 1.0))


def _where(wanted: Bools, statistic: Callable[[Floats], Floats], left: Floats) -> Floats:
    """A statistic of some of the columns; 0 elsewhere, NaN where there are no residuals."""
    sizes = np.where(np.isnan(left[0]), np.nan, 0.0)
    if wanted.any():
        sizes[wanted] = statistic(left[:, wanted])
    return sizes


def _quantile_skewness(left: Floats) -> Floats:
    """(Q90 + Q10 - 2 Q50) / (Q90 - Q10) of every column."""
    low, middle, high = np.quantile(left, (0.1, 0.5, 0.9), axis=0)
    return np.asarray((high + low - 2.0 * middle) / np.where(high > low, high - low, 1.0))


def _far(left: Floats) -> Floats:
    """The number of rows that are far from the median, for every column."""
    away = np.abs(left - np.median(left, axis=0))
    robust = 1.4826 * np.median(away, axis=0)
    bound = FAR_DEVIATIONS * np.where(robust > 0, robust, np.inf)
    return np.asarray((away > bound).sum(axis=0).astype(np.float64))
