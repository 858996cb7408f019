"""Does a context change the level of a mechanism, or the spread of its noise, where slopes stay the
same?

The level differs if the indicator of the second context has a coefficient in a regression of the
effect on its causes with slopes that both contexts share. The spread differs if, after a regression
in either context, the distances of residuals from their median do (Brown and Forsythe 1974), beside
causes and their distances too: a spread that grows with a cause differs wherever contexts hold
other values of it. Errors are the larger of White's (HC3) and the usual ones.

And does a bend that all contexts share explain what looks like a slope, or a level, that changes
between them? Where two contexts hold other values of a cause, a line in each of them describes a
kink or a curve of it. So a claim needs more: slopes by context must be better than any bend for
both contexts by so much that kinks are hardly ever claimed. Where a context is made out of the very
cause, a slope that changes with it is a kink, and nothing is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows, with_normal_scores
from causalcontext.graphs.endpoints import directed, may_cause
from causalcontext.graphs.lag_names import split
from causalcontext.graphs.paths import descendants
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.kernels.rows.bends import LINE, bends, left_by, orthonormal, with_column
from causalcontext.results.curve_difference import (
    Compared,
    compared_rows,
    other_terms,
    robust_slope,
    rows_in_units,
    rows_inside,
)
from causalcontext.results.equations import NUMBER, Mechanisms, Term
from causalcontext.results.series import context_nodes
from causalcontext.results.settings import (
    CONSTANT_SHARE,
    CURVES_TO_CHOOSE_FROM,
    DESPITE_ERRORS,
    LEVEL_STEP_QUANTILES,
    PRICE_OF_A_CLAIM,
    ROUNDING_NATS,
    UNCHANGED,
)
from causalcontext.results.slope_fits import possible_causes
from causalcontext.results.slopes import BY_ERRORS, corrected, shares_of_errors
from causalcontext.results.violations import bends_in, by_ranks

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

SHARED = "a bend of {} that all contexts share explains it as well"
OTHER = "{} explains it as well"


def shared_bend(result: ContextGraphs, x: int, y: int, present: int, absent: int) -> str:
    """The reason in words why a change of x - y may be a bend that both contexts share; "" if not,
    or without rows.

    Both directions are asked about where the graph gives none; a variable of the past is no effect.
    A column that the context was made out of is not asked about: there a slope that changes at the
    threshold is a bend by definition.
    """
    table = result.table
    if table is None or not all(table.kinds[end].is_number for end in (x, y)):
        return ""
    table = with_normal_scores(table) if by_ranks(result) else table
    forward = directed(result.graphs[result.contexts[present]].endpoints)
    past = 0 if result.series is None else result.series.lags * len(result.series.variables)
    known = forward[x, y] or forward[y, x]
    places = (present, absent)
    for cause, effect in ((x, y), (y, x)):
        # what was before is no effect
        possible = effect >= past and (not known or forward[cause, effect])
        if possible and _as_good(result, table, cause, effect, places):
            return SHARED.format(result.names[cause])
    return ""


def _as_good(
    result: ContextGraphs, table: Dataset, cause: int, effect: int, places: tuple[int, int]
) -> bool:
    """True where a bend of the cause is better than a line, and no worse than slopes by context, or
    hardly.
    """
    if cause in map(table.contexts.source_of, table.contexts.positions):
        return False
    first, second = (rows_inside(result, effect, context_index) for context_index in places)
    rows = complete_rows(table) & (first ^ second)
    first = first[rows]
    if first.all() or not first.any():
        return False
    curved = None
    if bends_in(result, effect, places):
        curved = compared_rows(result, cause, effect, *places)
    if curved is not None:
        line, bend, split = _curved_losses(curved, cause, effect, first)
    else:
        contexts = context_nodes(result)
        given = [z for z in possible_causes(result, effect, cause, places) if z not in contexts]
        others = [column for z in given for column in columns_of(table, z, rows)]
        x, y = (_column(table, end, rows) for end in (cause, effect))
        line, bend, split = losses(x, y, others, first, [])
    return bend < line - ROUNDING_NATS and bend < split + PRICE_OF_A_CLAIM


def _curved_losses(
    curved: Compared, cause: int, effect: int, first: Bools
) -> tuple[float, float, float]:
    """The losses of a link whose equations have curves: `losses` in the units of the equations,
    with the terms of the cause in either context.
    """
    seen = curved.inside[0] ^ curved.inside[1]
    values = {column: every[seen] for column, every in curved.values.items()}
    others = [term.values(values) for term in other_terms(curved)]
    in_first = curved.inside[0][seen]
    terms = []
    for equation, context_index, inside in (
        (curved.present_equation, curved.places[0], in_first),
        (curved.absent_equation, curved.places[1], ~in_first),
    ):
        for term in equation.terms:
            if curved.cause in term.causes and context_index in term.contexts:
                terms.append(term.values(values) * inside)
    return losses(values[cause], values[effect], others, first, terms)


def losses(
    x: Floats, y: Floats, others: Sequence[Floats], first: Bools, terms: Sequence[Floats] = ()
) -> tuple[float, float, float]:
    """Minus the penalised log-likelihoods of a line, of the best bend and of slopes by context,
    beside other columns.

    Parameters
    ----------
    x, y : ndarray of shape (rows,)
        The cause and the effect, from their means.
    others : sequence of ndarrays of shape (rows,)
        Other columns, which have the same slopes in both contexts, or all of them their own.
    first : ndarray of shape (rows,)
        The rows of the first of the two contexts.
    terms : sequence of ndarrays of shape (rows,)
        Curves by context, which may take the place of slopes.

    Returns
    -------
    tuple of float
        n / 2 log(RSS) plus log n for every column, in nats. A slope in one context costs the
        logarithm of its rows, a curve also log `CURVES_TO_CHOOSE_FROM`.
    """
    n = len(y)
    here = first.astype(np.float64)
    price = log(n)
    inside = [log(max(float(part.sum()), 2.0)) for part in (here, 1.0 - here)]
    shared_basis = orthonormal(others, n)
    basis_with_level = orthonormal([here, *others], n)
    basis_by_context = basis_with_level
    for column in others:
        basis_by_context = with_column(basis_by_context, here * column)
    shared_price = price * len(others)
    price_with_level = price * (1 + len(others))
    price_by_context = price * (1 + 2 * len(others))
    line = np.inf
    bend = np.inf
    split = np.inf
    for basis, basis_price in (
        (shared_basis, shared_price),
        (basis_by_context, price_by_context),
    ):
        for curve in bends(x, y, basis):
            cost = sum(
                price + column.cost(x, n, price, CURVES_TO_CHOOSE_FROM) for column in curve.columns
            )
            loss = 0.5 * n * log(max(curve.left, 1e-300)) + cost + basis_price
            if curve.columns == (LINE,):
                line = min(line, loss)
            else:
                bend = min(bend, loss)
    slopes = [([here * x], inside[0]), ([x - here * x], inside[1]), ([x, here * x], sum(inside))]
    if terms:
        slopes.append((list(terms), len(terms) * (price + log(CURVES_TO_CHOOSE_FROM))))
    for basis, basis_price in (
        (basis_with_level, price_with_level),
        (basis_by_context, price_by_context),
    ):
        for slope_columns, cost in slopes:
            left = left_by(y, basis, slope_columns)
            split = min(split, 0.5 * n * log(max(left, 1e-300)) + cost + basis_price)
    return line, bend, split


def shared_level(
    result: ContextGraphs,
    y: Floats,
    others: Sequence[Floats],
    numbers: Mapping[int, Floats],
    in_second: Bools,
) -> str:
    """The reason in words why a level that changes with a context may be a bend of a cause, or
    another cause; "" if not.

    `others` are columns that both contexts share, `numbers` causes and what may be one, `in_second`
    the rows of one context. A line counts where it is not among the columns.
    """
    n = len(y)
    price = log(len(y))
    basis = orthonormal(others, len(y))

    def loss(left: float, cost: float) -> float:
        """Minus the penalised log-likelihood of a model that leaves this sum of squares, in
        nats.
        """
        return 0.5 * n * log(max(left, 1e-300)) + cost

    enough = loss(left_by(y, basis, [in_second.astype(np.float64)]), price) + PRICE_OF_A_CLAIM
    enough = min(enough, loss(left_by(y, basis, []), 0.0))
    for cause, x in numbers.items():
        line = price * (with_column(basis, x).shape[1] - basis.shape[1])
        steps = [
            np.asarray(x > at, dtype=np.float64)
            for at in np.unique(np.quantile(x, LEVEL_STEP_QUANTILES)).tolist()
        ]
        losses_of_models = [loss(left_by(y, basis, [step]), 2.0 * price) for step in steps]
        for bend in bends(x, y, basis):
            costs = (
                line if column == LINE else price + column.cost(x, n, price, CURVES_TO_CHOOSE_FROM)
                for column in bend.columns
            )
            losses_of_models.append(loss(bend.left, sum(costs)))
        if min(losses_of_models) < enough - ROUNDING_NATS:
            return (OTHER if line else SHARED).format(result.names[cause])
    return ""


def columns_of(table: Dataset, position: int, rows: Bools) -> Iterator[Floats]:
    """The columns of a variable in some rows, shape (rows,) each: a number from its mean, or
    indicators of the levels of a category but one.
    """
    column = np.asarray(table.columns[position])[rows]
    if table.kinds[position].is_number:
        yield _column(table, position, rows)
    else:
        yield from ((column == level).astype(np.float64) for level in np.unique(column)[1:])


LEVEL, SPREAD = KINDS = ("level", "spread")
CURVED = (
    "beside curves a change of level cannot be distinguished from a curve that is not fitted well"
)


class Moved(NamedTuple):
    """A number of a mechanism in the first and in the second context, and the p-value of "they are
    the same".
    """

    first: float
    second: float
    p: float


def readers(
    result: ContextGraphs, a: int, b: int, but: Collection[int]
) -> Iterator[tuple[int, int]]:
    """Contexts, or lags of them, and the continuous variables that each causes in two contexts, but
    for some.

    A context must differ between the two, and the link must have the same direction in both.
    Variables whose links or slopes are known to differ are in `but`: their level is a part of that.
    """
    context_graphs = [
        directed(result.graphs[result.contexts[context_index]].endpoints)
        for context_index in (a, b)
    ]
    apart = {split(result.names[position])[0] for position in result.cells.differing(a, b)}
    seen = set(but) | context_nodes(result)
    for source in sorted(
        node for node in context_nodes(result) if split(result.names[node])[0] in apart
    ):
        for target in np.flatnonzero(
            context_graphs[0][source] & context_graphs[1][source]
        ).tolist():
            if target not in seen and Kind(result.data.kinds[target]) is Kind.CONTINUOUS:
                seen.add(target)
                yield source, target


def moved(
    result: ContextGraphs, target: int, a: int, b: int
) -> tuple[dict[str, Moved], str] | None:
    """The level and the spread of a mechanism in two contexts, and a doubt about its level.

    None without rows, where the variable is not searched as a number, and where the contexts it
    reads are the same.
    """
    whole = result.table
    mechanisms = None if result.evidence is None else result.evidence.mechanisms
    if whole is None or (mechanisms is not None and mechanisms.scales[target].kind != NUMBER):
        return None
    table = with_normal_scores(whole) if by_ranks(result) else whole
    first = rows_inside(result, target, a)
    second = rows_inside(result, target, b)
    rows = complete_rows(table) & (first ^ second)
    in_second = second[rows]
    if in_second.all() or not in_second.any():
        return None
    y = _column(table, target, rows)
    middle = float(np.asarray(table.columns[target], dtype=np.float64)[rows].mean())
    contexts = context_nodes(result)
    causes = [z for z in possible_causes(result, target, target, (a, b)) if z not in contexts]
    numbers = [_column(table, z, rows) for z in causes if table.kinds[z].is_number]
    if mechanisms is None:
        others = [column for z in causes for column in columns_of(table, z, rows)]
        log_scale = np.zeros(len(in_second))
    else:
        of_complete = rows[complete_rows(whole)]
        values, _ = rows_in_units(mechanisms, whole)
        values = {column: every[of_complete] for column, every in values.items()}
        others, log_scale = _terms_of_both(mechanisms, target, (a, b), values, in_second)
    levels = level(y, others, in_second)
    levels = levels._replace(first=middle + levels.first, second=middle + levels.second)
    numbers_by_kind = {LEVEL: levels, SPREAD: spread(y, others, in_second, log_scale, numbers)}
    if bends_in(result, target, (a, b)):
        return numbers_by_kind, CURVED
    if numbers_by_kind[LEVEL].p > UNCHANGED:
        return numbers_by_kind, ""
    possible = {
        z: _column(table, z, rows)
        for z in _causeless(result, target, (a, b))
        if z not in contexts and table.kinds[z].is_number
    }
    doubt = shared_level(result, y, others, possible, in_second)
    return numbers_by_kind, doubt or _errors_explain(result, table, target, causes, rows, in_second)


def _terms_of_both(
    mechanisms: Mechanisms,
    target: int,
    places: tuple[int, int],
    values: dict[int, Floats],
    in_second: Bools,
) -> tuple[list[Floats], Floats]:
    """The terms of the equations of two contexts, row by row, each once, and the sum that causes
    add to the logarithm of the spread of the noise, shape (n,).
    """
    terms: dict[tuple[object, ...], Term] = {}
    log_scale = np.zeros(len(in_second))
    for context_index, inside in zip(places, (~in_second, in_second), strict=True):
        equation = mechanisms.equation(target, context_index)
        for term in equation.terms:
            if context_index in term.contexts:
                terms[term.function] = term
        for spread_term in equation.spread:
            if spread_term.cause >= 0:
                added = spread_term.values(values[spread_term.cause], context_index)
                log_scale[inside] += added[inside]
    return [term.values(values) for term in terms.values()], log_scale


def _causeless(result: ContextGraphs, target: int, places: tuple[int, int]) -> list[int]:
    """The variables that the target causes in neither context, by no way."""
    may = np.any(
        [may_cause(result.graphs[result.contexts[index]].endpoints) for index in places], axis=0
    )
    caused = descendants(may, target) | (np.arange(len(may)) == target)
    return [int(z) for z in np.flatnonzero(~caused)]


def _errors_explain(
    result: ContextGraphs,
    table: Dataset,
    target: int,
    causes: Sequence[int],
    rows: Bools,
    in_second: Bools,
) -> str:
    """The reason in words why errors of measurement may explain that levels differ; "" if they do
    not.

    What a cause that is measured with an error leaves of its effect goes to a context that goes
    along with it. So the coefficient of the context is computed again with errors of growing shares
    of the variance taken out of all numbers; it must keep its sign and a p-value of
    `DESPITE_ERRORS`.
    """
    contexts = context_nodes(result)
    system = [
        z for z, kind in enumerate(table.kinds) if kind is Kind.CONTINUOUS and z not in contexts
    ]
    noisy = [z for z in causes if z in system]
    if not noisy or result.series is not None:
        return ""
    numbers = np.stack([_column(table, z, rows) for z in system])
    if not (numbers.var(axis=1) > 0.0).all():
        return ""
    exact = [column for z in causes if z not in system for column in columns_of(table, z, rows)]
    columns = np.stack(
        [
            in_second,
            *exact,
            *(numbers[system.index(z)] for z in noisy),
            numbers[system.index(target)],
        ]
    )
    covariance = np.cov(columns, ddof=0)
    df = len(in_second) - len(columns)
    variance = np.where(np.arange(len(columns) - 1) > len(exact), np.diagonal(covariance)[:-1], 0.0)
    apart = corrected(covariance, 0.0 * variance, df).value
    inside = [np.cov(numbers[:, context_rows], ddof=0) for context_rows in (in_second, ~in_second)]
    for share in shares_of_errors(inside, numbers.var(axis=1)):
        left = corrected(covariance, share * variance, df)
        if apart * left.value <= 0.0 or not left.p <= DESPITE_ERRORS:
            return BY_ERRORS.format(share)
    return ""


def _column(table: Dataset, position: int, rows: Bools) -> Floats:
    """A number in some rows, from its mean there: far from 0 its squares and products would lose
    their digits.
    """
    column = np.asarray(table.columns[position], dtype=np.float64)[rows]
    return np.asarray(column - column.mean())


def level(y: Floats, others: Sequence[Floats], in_second: Bools) -> Moved:
    """The mean of y where other columns have their average, in the first and in the second of two
    contexts.

    The difference is the coefficient of the indicator of the second context beside the columns,
    with robust errors (`robust_slope`); its p-value is that of "the levels are the same".
    """
    shift = robust_slope(in_second.astype(np.float64), y, others)
    here = float(y.mean() - shift.value * in_second.mean())
    return Moved(here, here + shift.value, shift.p)


def spread(
    y: Floats,
    others: Sequence[Floats],
    in_second: Bools,
    log_scale: Floats,
    causes: Sequence[Floats],
) -> Moved:
    """The standard deviation of what other columns leave of y, in the first and in the second of
    two contexts.

    `log_scale` is what causes are known to add to the logarithm of the spread; `causes` are numbers
    it may depend on. Distances of residuals from their median are regressed on the indicator of the
    second context (Brown and Forsythe 1974), alone and beside causes and their distances: the
    larger p-value counts. NaN with too few rows in a context, and where y is a constant in one:
    that is no mechanism with noise, and a warning names it.
    """
    design = np.column_stack([np.ones(len(y)), *others])
    left = np.empty(len(y))
    sizes = np.empty(len(y))
    for context_rows in (~in_second, in_second):
        n = int(context_rows.sum())
        context_design = design[context_rows]
        slopes, _, rank, _ = np.linalg.lstsq(context_design, y[context_rows], rcond=None)
        if n < rank + SPARE_ROWS:
            return Moved(np.nan, np.nan, np.nan)
        left[context_rows] = (
            (y[context_rows] - context_design @ slopes)
            * np.exp(-log_scale[context_rows])
            * np.sqrt(n / (n - rank))
        )
        sizes[context_rows] = np.abs(left[context_rows] - np.median(left[context_rows]))
        if sizes[context_rows].max() <= CONSTANT_SHARE * np.abs(y).max():
            return Moved(np.nan, np.nan, np.nan)
    away = [z - np.median(z) for z in causes]
    beside = [*away, *(np.abs(z) for z in away)]
    p = np.max(
        [robust_slope(in_second.astype(np.float64), sizes, columns).p for columns in ([], beside)]
    )
    return Moved(float(left[~in_second].std()), float(left[in_second].std()), float(p))
