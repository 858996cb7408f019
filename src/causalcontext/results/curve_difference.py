"""Does a curved mechanism differ between two contexts? How much of the curve of one context shows
in the other.

A straight slope says little about a curve, and less where the contexts hold other values of the
cause. So the curve that a cause has in the context with the link is computed row by row, and the
effect is regressed on it, given what else each of the two equations holds, inside either context:
the slope is 1 if all of the curve is there, and 0 if nothing is. Only rows count whose value of the
cause is seen in both contexts, since beyond them a curve is a guess.

Of what a cause does to a category, it is the log odds of the levels that are held against it: the
logit of the category gets one coefficient for all of them, beside other causes, whose slopes are
free. Slopes of logits have no scale of their own: where anything else moves the category more, all
of them are smaller. So what one cause lost counts only beside what another one kept.

And does one variable stand in for another one? Two effects of one cause by similar curves look
alike. Where a curve takes many columns to describe, a straight line in the other effect is the
cheaper description, and a score may choose it: then a link appears that is not there, or one is
missing that is. So a link counts only if no curve of another variable makes it unnecessary, and its
absence only if the variable's own curves do not show there, and make nothing unnecessary that was
found in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from causalcontext.ci_tests.basis import offered
from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.graphs.endpoints import directed
from causalcontext.graphs.paths import descendants
from causalcontext.kernels.arrays import NOBODY, Bools, Floats, Ints, Values
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.kernels.rows.glm import RIDGE, maximise, probabilities
from causalcontext.kernels.rows.likelihoods import LOGIT, call_pass
from causalcontext.results.equations import CATEGORY, NUMBER, Equation, Mechanisms, Term
from causalcontext.results.series import copies_in
from causalcontext.results.settings import (
    CONSTANT_SHARE,
    COPY_SHARE,
    FEWEST_OF_A_LEVEL,
    KEPT_MORE_LEVEL,
    LEAST_CURVE_SHARE,
    LEAST_LEFT_SHARE,
    LOGIT_TOLERANCE,
    MOST_CURVE_ROWS,
    MOST_LOGIT_ENTRIES,
    NEEDED_LEVEL,
    ROUNDING_OF_SQUARES,
    ROWS_PER_CURVE,
    SEEN_QUANTILES,
    SMALL_STEP,
)
from causalcontext.results.slopes import Slope

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

UNKNOWN_SLOPE = Slope(np.nan, np.nan, np.nan, 0)


class Compared(NamedTuple):
    """A link of two contexts row by row, in the units of the equations."""

    cause: int
    effect: int
    present_equation: Equation  # of the effect in the context with the link
    absent_equation: Equation  # of the effect in the context without the link
    places: tuple[int, int]  # the two contexts, in this order
    values: dict[int, Floats]  # the complete rows of every column
    inside: tuple[Bools, Bools]  # the rows of either context
    levels: bool  # whether the cause is a category


def compared_rows(
    result: ContextGraphs, x: int, y: int, present: int, absent: int
) -> Compared | None:
    """The rows, equations and curves that a link is compared by; None without rows or equations,
    and where the effect is ordered or a count.

    The cause and the effect are those of the model of the context with the link. Values are in the
    units of the equations, of complete rows; each context has its own mask of rows.
    """
    evidence = result.evidence
    if evidence is None or evidence.mechanisms is None or result.table is None:
        return None
    effect = int(evidence.effect[present, evidence.slot(x, y)])
    if effect < 0 or evidence.mechanisms.scales[effect].kind not in (NUMBER, CATEGORY):
        return None
    present_equation, absent_equation = (
        evidence.mechanisms.equation(effect, context_index) for context_index in (present, absent)
    )
    values, _ = rows_in_units(evidence.mechanisms, result.table)
    kept = complete_rows(result.table)
    cause = x if effect == y else y
    inside = (rows_inside(result, effect, present)[kept], rows_inside(result, effect, absent)[kept])
    levels = evidence.mechanisms.scales[cause].kind == CATEGORY
    return Compared(
        cause, effect, present_equation, absent_equation, (present, absent), values, inside, levels
    )


def rows_inside(result: ContextGraphs, effect: int, context_index: int) -> Bools:
    """The rows of a context; with lags, those in which the contexts that a variable reads have its
    values.
    """
    table = result.table
    series = result.series
    assert table is not None
    if series is None:
        return np.asarray(table.codes == context_index)
    step = len(series.variables)
    names = [series.variables[position - series.lags * step] for position in result.cells.positions]
    read = dict(copies_in(series.reads.get(series.variables[effect - series.lags * step])))
    inside = np.ones(table.n_rows, dtype=bool)
    for name, position, level in zip(
        names, result.cells.positions, result.cells.cells[context_index], strict=True
    ):
        if name in read:
            inside &= np.asarray(table.columns[position - read[name][0] * step]) == level
    return inside


def rows_in_units(mechanisms: Mechanisms, data: Dataset) -> tuple[dict[int, Floats], Values]:
    """The complete rows of every system variable in the units of the equations, and the context of
    each.

    The first has arrays of shape (complete rows,) by the number of the column, the second the place
    of each row's context. Levels of categories are numbers of levels.
    """
    rows = complete_rows(data)
    values_by_column = {}
    for column in data.system:
        scale = mechanisms.scales[column]
        values = np.asarray(data.columns[column], dtype=np.float64)[rows]
        # numbers of few values are searched as levels
        has_values = scale.is_number or data.kinds[column].is_number
        values_by_column[column] = (
            scale.standard(values)
            if has_values
            else scale.standard(scale.levels)[values.astype(np.int64)]
        )
    return values_by_column, data.codes[rows]


def curve_shares(rows: Compared) -> tuple[Slope, Slope]:
    """The share of a link's curve that shows in the context with it, and in the other one.

    The curve is that of the model in the context with the link. In the rows of either context whose
    value of the cause both contexts have seen (between `SEEN_QUANTILES`), the effect is regressed
    on the curve beside all other terms: 1 is the whole curve, 0 no effect. Of a category it is the
    share of log odds.
    """
    values = rows.values
    cause = rows.cause
    mine = [
        term
        for term in rows.present_equation.terms
        if cause in term.causes and rows.places[0] in term.contexts
    ]
    if not mine:
        return UNKNOWN_SLOPE, UNKNOWN_SLOPE
    curve = _sum_of(mine, values)
    others = other_terms(rows)
    cause_values = values[cause]
    if any(not context_rows.any() for context_rows in rows.inside):
        # the rows whose value of the cause is seen in both contexts
        seen = np.zeros(cause_values.shape, dtype=bool)
    elif rows.levels:
        seen = np.isin(cause_values, cause_values[rows.inside[0]]) & np.isin(
            cause_values, cause_values[rows.inside[1]]
        )
    else:
        low, high = np.array(
            [
                np.quantile(cause_values[context_rows], SEEN_QUANTILES)
                for context_rows in rows.inside
            ]
        ).T
        seen = (cause_values >= low.max()) & (cause_values <= high.min())
    share = class_share if rows.present_equation.kind == CATEGORY else robust_slope
    curve = curve if rows.present_equation.kind == CATEGORY else curve[:, 0]
    first, second = (
        share(
            curve[context_rows & seen],
            values[rows.effect][context_rows & seen],
            [term.values(values)[context_rows & seen] for term in others],
        )
        for context_rows in rows.inside
    )
    return first, second


def scale_doubt(rows: Compared) -> str:
    """The reason in words why less of the effect of a cause on a category may be no change of the
    cause; "" for numbers.

    Slopes of logits shrink together where noise grows. So another cause of both contexts must have
    kept more.
    """
    if rows.present_equation.kind != CATEGORY:
        return ""
    present_terms, absent_terms = (
        [term for term in equation.terms if context_index in term.contexts]
        for equation, context_index in zip(
            (rows.present_equation, rows.absent_equation), rows.places, strict=True
        )
    )
    both = (
        {cause for term in terms for cause in term.causes}
        for terms in (present_terms, absent_terms)
    )
    shared = set.intersection(*both) - {rows.cause}
    kept = [term for term in present_terms if shared.issuperset(term.causes)]
    if not kept:
        return "there is no other cause to compare its odds with"
    values = {column: every[rows.inside[1]] for column, every in rows.values.items()}
    mine = _sum_of([term for term in present_terms if rows.cause in term.causes], values)
    free = [term.values(values) for term in absent_terms if not shared.issuperset(term.causes)]
    p = kept_more(mine, _sum_of(kept, values), values[rows.effect], free)
    return "" if p < KEPT_MORE_LEVEL else "all causes may have smaller effects there"


def _sum_of(terms: Sequence[Term], values: dict[int, Floats]) -> Floats:
    """The sum of terms, shape (rows, 1), or (rows, levels - 1) for the log odds of a category."""
    return np.asarray(
        np.sum([np.outer(term.values(values), term.slopes) for term in terms], axis=0)
    )


def other_terms(rows: Compared) -> list[Term]:
    """The terms of the two equations that do not hold the cause, each function once.

    Their slopes are fitted anew in either context, so that a term which only one of them has does
    no harm to the other.
    """
    both = zip((rows.present_equation, rows.absent_equation), rows.places, strict=True)
    return list(
        {
            term.function: term
            for equation, context_index in both
            for term in equation.terms
            if rows.cause not in term.causes and context_index in term.contexts
        }.values()
    )


def robust_slope(curve: Floats, effect: Floats, others: Sequence[Floats]) -> Slope:
    """The coefficient of the curve given other columns; its error is the larger of White's (HC3)
    and the usual one.

    Shapes are (rows,). With e the residuals, h the leverages and c the part of the curve that the
    columns leave, the errors are √(Σ (c e / (1 - h))²) / Σ c² and √(Σ e² / df / Σ c²). NaN with too
    few rows, and where the columns leave nothing of the curve.
    """
    n = len(curve)
    if n <= SPARE_ROWS:
        return UNKNOWN_SLOPE
    columns = np.column_stack([np.ones(n), *others])  # of any scale; copies do not count
    scaled = columns / np.maximum(np.sqrt(np.mean(columns**2, axis=0)), 1e-300)
    left, sizes, _ = np.linalg.svd(scaled, full_matrices=False)
    basis = np.asarray(left[:, sizes > 1e-8 * sizes[0]])
    df = n - basis.shape[1] - 1
    if df < SPARE_ROWS:
        return UNKNOWN_SLOPE
    curve_left = curve - basis @ (basis.T @ curve)
    left = effect - basis @ (basis.T @ effect)
    size = float(curve_left @ curve_left)
    spread = float(np.sum((curve - curve.mean()) ** 2))
    if size <= max(LEAST_CURVE_SHARE * spread, ROUNDING_OF_SQUARES * float(curve @ curve)):
        return UNKNOWN_SLOPE
    value = float(curve_left @ left) / size
    residual = left - value * curve_left
    leverage = np.minimum(np.sum(basis**2, axis=1) + curve_left**2 / size, 0.99)
    usual = float(residual @ residual) / df / size
    robust = float(np.sum((curve_left * residual / (1.0 - leverage)) ** 2)) / size**2
    error = float(np.sqrt(max(usual, robust)))
    t = value / error if error > 0.0 else np.inf
    return Slope(value, error, float(t / np.sqrt(t * t + df)) if np.isfinite(t) else 1.0, df)


class Shares(NamedTuple):
    """The coefficients of given log odds, their covariances from the information and from the
    sandwich, and df.
    """

    values: Floats
    usual: Floats
    robust: Floats
    df: int

    def along(self, weights: Sequence[float]) -> Slope:
        """A combination of them; its error is the larger of the two."""
        w = np.asarray(weights, dtype=np.float64)
        value = float(w @ self.values)
        error = float(np.sqrt(max(w @ self.usual @ w, w @ self.robust @ w)))
        t = value / error
        return Slope(value, error, float(t / np.sqrt(t * t + self.df)), self.df)


def class_share(odds: Floats, codes: Floats, others: Sequence[Floats]) -> Slope:
    """The coefficient of given log odds in the logit of a category; NaN where `class_shares` has
    nothing.
    """
    shares = class_shares([odds], codes, others)
    return UNKNOWN_SLOPE if shares is None else shares.along([1.0])


def kept_more(odds: Floats, kept: Floats, codes: Floats, others: Sequence[Floats]) -> float:
    """The p-value of "no more is left of some log odds than of others", one-sided; NaN where it
    cannot be told.

    It is that of Student's t of the difference of the two coefficients in one logit, with their
    covariance.
    """
    shares = class_shares([odds, kept], codes, others)
    if shares is None:
        return np.nan
    more = shares.along([-1.0, 1.0])
    return float(scipy.special.stdtr(more.df, -more.value / more.error))


def class_shares(given: Sequence[Floats], codes: Floats, others: Sequence[Floats]) -> Shares | None:
    """The coefficients of given log odds in the logit of a category beside other columns, whose
    slopes are free.

    `given`, each of shape (rows, levels - 1), is what causes add to the log odds of every level
    against the last one, `codes` the number of the level of every row, `others` have the shape
    (rows,). None with fewer than two levels, with too few rows, and where no finite coefficients
    are best.
    """
    levels, counts = np.unique(codes.astype(np.int64), return_counts=True)
    levels = levels[counts >= FEWEST_OF_A_LEVEL]
    if len(levels) < 2:
        return None
    kept = np.isin(codes, levels)
    design = _standardised(
        np.column_stack([np.ones(int(kept.sum())), *(other[kept] for other in others)])
    )
    free = len(levels) - 1
    df = len(design) - free * design.shape[1] - len(given)
    if df < SPARE_ROWS:
        return None
    step = max(1, -(-design.size * free * free // MOST_LOGIT_ENTRIES))
    every = [np.column_stack([odds, np.zeros(len(odds))])[np.ix_(kept, levels)] for odds in given]
    relative = [(odds[:, :-1] - odds[:, -1:])[::step].T for odds in every]
    response = np.searchsorted(levels, codes[kept][::step])
    lines = np.ascontiguousarray(np.vstack([design[::step].T, *relative]))
    return _fitted(lines, response, free, design.shape[1], df // step)


def _fitted(design: Floats, response: Ints, free: int, wide: int, df: int) -> Shares | None:
    """The coefficients of given odds in the logit with the largest likelihood.

    The first `wide` lines of the design, shape (lines, rows), have free slopes, with a light ridge
    on all but one; then comes one line for every level of every given odds, which share a
    coefficient.
    """
    places = np.full((free, len(design)), NOBODY)
    places[:, :wide] = np.arange(free * wide).reshape(free, wide)
    number = free * wide + (len(design) - wide) // free
    for level in range(free):
        places[level, wide + level :: free] = np.arange(free * wide, number)
    ties = places.ravel()
    ridge = np.where(np.arange(number) < free * wide, RIDGE, 0.0)
    ridge[0 : free * wide : wide] = 0.0
    beta = np.zeros(number)
    maximise(
        LOGIT,
        design,
        response,
        free,
        ties,
        ridge,
        beta,
        np.empty((number, number)),
        -np.inf,
        LOGIT_TOLERANCE,
    )
    slopes = np.where(ties == NOBODY, 0.0, beta[ties])
    tied = (ties[:, None] == np.arange(number)).astype(np.float64)
    gradient = np.zeros(ties.size)
    half = np.zeros((ties.size, ties.size))
    call_pass(LOGIT, design, response, free, slopes, gradient, half)
    information = tied.T @ (np.tril(half) + np.tril(half, -1).T) @ tied + np.diag(ridge)
    if not np.linalg.cond(information) <= 1e12:
        return None
    inverse = np.linalg.inv(information)
    change = inverse @ (gradient @ tied - ridge * beta)
    if np.abs(change).max() > SMALL_STEP * (1.0 + np.abs(beta).max()):
        return None
    surplus = (response[:, None] == np.arange(free)) - probabilities(
        LOGIT, design, free + 1, slopes
    )[:, :-1]
    parts = (surplus[:, :, None] * design.T[:, None, :]).reshape(len(surplus), -1) @ tied
    robust = inverse @ (parts.T @ parts) @ inverse
    given = slice(free * wide, None)
    return Shares(beta[given], inverse[given, given], robust[given, given], df)


def _standardised(design: Floats) -> Floats:
    """Columns with mean 0 and variance 1, but the first, which is 1; copies and constant ones are
    left out.
    """
    kept = [design[:, 0]]
    for column in design.T[1:]:
        rest = column - column.mean()
        size = float(rest @ rest)
        basis = np.linalg.qr(np.column_stack(kept))[0]
        left = rest - basis @ (basis.T @ rest)
        if float(left @ left) > 1e-8 * size > 0.0:
            kept.append(rest / np.sqrt(size / len(rest)))
    return np.column_stack(kept)


@dataclass(frozen=True, eq=False)
class ContextRows:
    """The rows of one context in the units of the equations, and the terms of the effect there."""

    effect: int
    values: dict[int, Floats]
    terms: list[Term]
    _curves: dict[int, list[Floats]] = field(default_factory=dict)

    def of_terms(self, cause: int, of_cause: bool) -> list[Floats]:
        """The terms that hold a cause, or those that do not."""
        return [
            term.values(self.values) for term in self.terms if (cause in term.causes) is of_cause
        ]

    def curves(self, column: int) -> list[Floats]:
        """A variable and its curves, as many as the rows allow."""
        if column not in self._curves:
            values = self.values[column]
            self._curves[column] = list(offered(values)[: max(len(values) // ROWS_PER_CURVE, 1)])
        return self._curves[column]

    def shows(self, cause: int) -> bool:
        """True where some curve of a variable explains the effect beside all other terms."""
        return (
            extra_columns(
                self.values[self.effect], self.curves(cause), self.of_terms(cause, of_cause=False)
            )
            < NEEDED_LEVEL
        )

    def is_unneeded(self, cause: int, beside: int) -> bool:
        """True where the terms of a cause explain nothing beside the curves of another variable and
        all other terms.
        """
        given = [*self.of_terms(cause, of_cause=False), *self.curves(beside)]
        return (
            extra_columns(self.values[self.effect], self.of_terms(cause, of_cause=True), given)
            > NEEDED_LEVEL
        )


def proxy(result: ContextGraphs, rows: Compared) -> str:
    """A sentence about the variable that may be behind a curve, or hide it where it is missing; ""
    if none may.

    Three things are asked, by F tests at `NEEDED_LEVEL`. Does another curve of the cause show in
    the context without the link? Do the terms of the cause explain nothing, in the context with the
    link, beside the curves of a variable that the effect does not cause? And do the terms of
    another cause explain nothing, in the context without the link, beside the curves of this one?
    """
    if rows.present_equation.kind != NUMBER:
        return ""
    present_fits, absent_fits = map(
        _inside_of,
        (rows.values,) * 2,
        rows.inside,
        (rows.present_equation, rows.absent_equation),
        rows.places,
    )
    if absent_fits.shows(rows.cause):
        return "another curve of the cause is found there"
    for other in _not_below(result, rows.places[0], rows.effect, rows.values):
        if other != rows.cause and present_fits.is_unneeded(rows.cause, beside=other):
            return f"curves of {result.names[other]} may explain it"
    for other in sorted(
        {cause for term in absent_fits.terms for cause in term.causes} - {rows.cause}
    ):
        if absent_fits.is_unneeded(other, beside=rows.cause):
            return f"it may explain the effect of {result.names[other]} there"
    return ""


class Replaceable(NamedTuple):
    """A link that explains nothing beside the curves of another variable, and a context where that
    is so.
    """

    cause: int
    effect: int
    other: int
    place: int


def replaceable_links(result: ContextGraphs) -> list[Replaceable]:
    """The links of curved mechanisms that curves of a neighbour of the cause make unnecessary, each
    once.
    """
    evidence = result.evidence
    if evidence is None or evidence.mechanisms is None:
        return []
    if result.rows is None or not evidence.curved:
        return []
    values, codes = rows_in_units(evidence.mechanisms, result.rows)
    near = np.any([graph.endpoints != 0 for graph in result.graphs.values()], axis=0)
    links: dict[tuple[int, int], Replaceable] = {}
    for context_index, effect in product(range(len(result.contexts)), values):
        equation = evidence.mechanisms.equation(effect, context_index)
        if equation.kind != NUMBER:
            continue
        inside = _inside_of(values, codes == context_index, equation, context_index)
        others = _not_below(result, context_index, effect, values)
        for cause in sorted({cause for term in inside.terms for cause in term.causes}):
            close = [z for z in others if z != cause and near[z, cause]]
            other = _stand_in(inside, cause, close)
            if other is not None:
                link = Replaceable(cause, effect, other, context_index)
                links.setdefault((cause, effect), link)
    return list(links.values())


def _stand_in(inside: ContextRows, cause: int, close: Sequence[int]) -> int | None:
    """The first variable beside whose curves the cause explains nothing; None without one."""
    for other in close:
        if inside.is_unneeded(cause, other) and inside.shows(other):
            return other
    return None


def extra_columns(effect: Floats, asked: Sequence[Floats], given: Sequence[Floats]) -> float:
    """The p-value of the F test that columns do not matter beside others; NaN with too few rows, 1
    without columns.
    """
    y = effect - effect.mean()
    small, fewer = _explained(y, given)
    large, rank = _explained(y, [*given, *asked])
    more = rank - fewer
    df = len(y) - 1 - rank
    if df < SPARE_ROWS:
        return np.nan
    left = max(float(y @ y) - large, LEAST_LEFT_SHARE * float(y @ y))
    if more <= 0 or large <= small or left <= 0.0:
        return 1.0
    return float(scipy.special.fdtrc(more, df, (large - small) / more / (left / df)))


def _explained(y: Floats, columns: Sequence[Floats]) -> tuple[float, int]:
    """The part of a centred sum of squares that columns explain, and their rank; constant ones and
    copies do not count.
    """
    if len(columns) == 0:
        return 0.0, 0
    centred = np.column_stack(columns)
    centred = centred - centred.mean(axis=0)
    size = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    raw = np.sqrt(np.sum(np.square(columns), axis=1))
    centred = np.where(size > CONSTANT_SHARE * raw, centred / np.where(size > 0.0, size, 1.0), 0.0)
    sizes, vectors = np.linalg.eigh(centred.T @ centred)
    kept = sizes > COPY_SHARE * max(float(sizes[-1]), 1.0)
    along = vectors[:, kept].T @ (centred.T @ y)
    return float(np.sum(along**2 / sizes[kept])), int(kept.sum())


def _inside_of(
    values: dict[int, Floats], in_context: Bools, equation: Equation, context_index: int
) -> ContextRows:
    """The rows of one context, and the terms of the equation there; of many rows an even share."""
    chosen_rows = np.flatnonzero(in_context)
    chosen_rows = chosen_rows[:: max(1, -(-len(chosen_rows) // MOST_CURVE_ROWS))]
    return ContextRows(
        equation.effect,
        {column: every[chosen_rows] for column, every in values.items()},
        [term for term in equation.terms if context_index in term.contexts],
    )


def _not_below(
    result: ContextGraphs, context_index: int, effect: int, values: Iterable[int]
) -> list[int]:
    """The variables that an effect does not cause, and that it is not."""
    below = descendants(directed(result.graphs[result.contexts[context_index]].endpoints), effect)
    return [other for other in values if other != effect and not below[other]]
