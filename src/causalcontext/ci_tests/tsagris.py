"""Tsagris' symmetric test for columns of any kinds: does either variable improve the regression of
the other?

There is one regression for every kind.

- numbers: linear, by F;
- classes: multinomial logit, by the likelihood ratio;
- ordered classes: proportional odds, by the likelihood ratio;
- counts: Poisson with a log link and an estimated dispersion, by F.

Nothing is penalised. The likelihood is bounded, and separated classes only move the coefficients,
not its supremum: where the larger model separates the classes and the smaller does not, the ratio
is as large as it can be. Where the smaller one does already, there is no information left, and the
degrees of freedom, which are ranks of the information, are 0: nothing can be tested.

The law of a likelihood ratio of classes is chi-squared only where rows are many. Where the smaller
model leaves fewer than `ROWS_PER_COEFFICIENT` effective rows for every coefficient, classes are
drawn from it instead, with the conditions as they are, and both models are fitted again: a
parametric bootstrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.ci_tests.designs import added_to, association, base_of, columns_of
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable, sequential_p, untestable
from causalcontext.ci_tests.settings import (
    CLEAR_P,
    COSTLIEST_BOOTSTRAP,
    COSTLIEST_FIT,
    FEWEST_DF,
    FEWEST_ROWS_PER_COEFFICIENT,
    FIT_CONVERGED,
    INSIGNIFICANT_P,
    NO_INFORMATION,
    ROWS_PER_COEFFICIENT,
)
from causalcontext.data.columns import Kind
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.rows.glm import drawn_exceedances, first_slopes, fit_glm, probabilities
from causalcontext.kernels.rows.likelihoods import LOGIT, ORDINAL, POISSON, call_pass
from causalcontext.views import Reason


@dataclass(frozen=True)
class Tsagris(RowTest):
    """x on the conditions with and without y, and y with and without x, each by the regression of
    its kind.

    Tsagris, Borboudakis, Lagani and Tsamardinos (2018): p = min(2 min(p1, p2), max(p1, p2)). Where
    one regression cannot be run, or has no information left beside the conditions, the other
    answers alone.
    """

    name: str = "tsagris"
    seed: int = 0

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The answer for one query."""
        base = base_of(given, len(x.values))
        from_x = added_to(base, columns_of(x))
        from_y = added_to(base, columns_of(y))
        if min(from_x.shape[1], from_y.shape[1]) == 0:
            return untestable(Reason.COLLINEAR)
        if x.kind is Kind.CONTINUOUS and y.kind is Kind.CONTINUOUS:
            return association(from_x, from_y, base)
        of_x = regression(x, base, from_y, random)
        of_y = regression(y, base, from_x, random)
        return combined(of_x, of_y)


def combined(first: Comparison, second: Comparison) -> Comparison:
    """Both answers in one: the statistic and df of the one with the smaller p-value."""
    if first.reason or second.reason:
        return second if first.reason else first
    least, most = sorted((first, second), key=lambda answer: answer.p)
    return least._replace(p=min(2.0 * least.p, most.p))


class Response(NamedTuple):
    """The response of a regression: a family of `kernels.rows.likelihoods`, integers, and the
    number of classes (2 for counts).
    """

    family: int
    values: Ints
    classes: int


class LikelihoodFit(NamedTuple):
    """The largest log-likelihood, and the coefficients where it is."""

    likelihood: float
    slopes: Floats


class NestedFits(NamedTuple):
    """Two fits, the second with columns that the first has not."""

    response: Response
    base: Floats
    design: Floats
    small: LikelihoodFit
    large: LikelihoodFit
    start: Floats  # the coefficients of the smaller model in the larger one
    ratio: float  # twice the difference of the log-likelihoods
    df: int


def regression(
    response: Variable, base: Floats, added: Floats, random: np.random.Generator
) -> Comparison:
    """The test of "the columns `added` do not help to explain `response` beside the columns
    `base`"; one row for every row.
    """
    if added.shape[1] == 0:
        return untestable(Reason.COLLINEAR)
    values = response.values
    no_counts = response.kind is Kind.COUNT and (
        values.min() < 0.0 or (values != np.rint(values)).any()
    )
    if response.kind is Kind.CONTINUOUS or no_counts:  # explained like any number
        return association(added_to(base, columns_of(response)), added, base)
    wanted = response_of(response)
    rows = len(base)
    width = base.shape[1] + added.shape[1]
    needed = width
    if wanted.family == LOGIT:
        needed = (wanted.classes - 1) * width
    elif wanted.family == ORDINAL:
        needed = wanted.classes - 2 + width
    fewest = max(FEWEST_ROWS_PER_COEFFICIENT * needed, width + FEWEST_DF)
    if rows < fewest or rows * needed**2 > COSTLIEST_FIT:
        return untestable(Reason.FEW_ROWS)
    fits = compare_fits(wanted, base, added)
    if fits.df == 0:
        return untestable(Reason.COLLINEAR)
    if wanted.family == POISSON:
        return _answer_counts(fits)
    return _answer_classes(fits, needed, random)


def response_of(variable: Variable) -> Response:
    """The variable as the response of a regression; two ordered classes are two classes."""
    if variable.kind is Kind.COUNT:
        return Response(POISSON, variable.values.astype(np.int64), 2)
    ordered = variable.kind is Kind.ORDERED and variable.levels > 2
    return Response(ORDINAL if ordered else LOGIT, variable.codes, variable.levels)


def compare_fits(response: Response, base: Floats, added: Floats) -> NestedFits:
    """The regressions on `base` and on both; without information on what is added, df is 0 and so
    is the ratio.
    """
    width = base.shape[1]
    more = added.shape[1]
    design = np.ascontiguousarray(np.hstack([base, added]).T)
    small = _fit(response, design[:width], first_slopes(*response, width))
    start = np.concatenate([small.slopes, np.zeros(more)])
    if response.family == LOGIT:
        start = np.hstack(
            [small.slopes.reshape(-1, width), np.zeros((response.classes - 1, more))]
        ).ravel()
    df = _informed(response, design, start, width)
    large = _fit(response, design, start) if df > 0 else small
    ratio = max(2.0 * (large.likelihood - small.likelihood), 0.0)
    return NestedFits(response, design[:width], design, small, large, start, ratio, df)


def _fit(response: Response, design: Floats, start: Floats) -> LikelihoodFit:
    family, values, classes = response
    slopes = start.copy()
    tolerance = FIT_CONVERGED * (1.0 + 1e-3 * values.size)
    return LikelihoodFit(fit_glm(family, design, values, classes, slopes, 0.0, tolerance), slopes)


def _informed(response: Response, design: Floats, slopes: Floats, width: int) -> int:
    """By how much the rank of the information grows with the columns after the first `width`."""
    family, values, classes = response
    information = np.zeros((slopes.size, slopes.size))
    gradient = np.zeros(slopes.size)
    call_pass(family, design, values, classes - 1, slopes, gradient, information)
    inside = np.ones(slopes.size, dtype=bool)
    if family == LOGIT:
        inside = np.tile(np.arange(len(design)) < width, classes - 1)
    else:
        inside[slopes.size - (len(design) - width) :] = False
    every = np.linalg.eigvalsh(information)
    base = np.linalg.eigvalsh(information[np.ix_(inside, inside)])
    return int((every > NO_INFORMATION).sum() - (base > NO_INFORMATION).sum())


def _answer_classes(fits: NestedFits, needed: int, random: np.random.Generator) -> Comparison:
    """The likelihood ratio, by chi-squared or by the bootstrap.

    Effective rows are those that the smaller model leaves undecided: all if classes are equally
    likely, none if they are certain.
    """
    family, _, classes = fits.response
    p = float(scipy.special.chdtrc(fits.df, fits.ratio))
    share = probabilities(family, fits.base, classes, fits.small.slopes)
    undecided = float((1.0 - (share**2).sum(axis=1)).sum())
    each = undecided * classes / (classes - 1) / needed
    clear = p > INSIGNIFICANT_P or (p < CLEAR_P and each >= ROWS_PER_COEFFICIENT / 3)
    if each < ROWS_PER_COEFFICIENT and not clear and len(share) * needed**2 <= COSTLIEST_BOOTSTRAP:
        fixed = (
            family,
            fits.base,
            fits.design,
            np.cumsum(share, axis=1),
            fits.small.slopes,
            fits.start,
            fits.ratio,
        )
        p = sequential_p(
            lambda uniforms, most: drawn_exceedances(*fixed, uniforms, most), len(share), random
        )
    return Comparison(fits.ratio, float(fits.df), p)


def _answer_counts(fits: NestedFits) -> Comparison:
    """F of the ratio in units of the dispersion: Pearson's chi-squared of the larger model, over
    its spare rows.
    """
    width, rows = fits.design.shape
    mean = np.exp(fits.large.slopes @ fits.design)
    squares = (fits.response.values - mean) ** 2
    scale = float((squares / np.maximum(mean, 1e-300)).sum()) / (rows - width)
    statistic = fits.ratio / fits.df / scale if scale > 0.0 else np.inf
    p = float(scipy.special.fdtrc(fits.df, rows - width, statistic))
    return Comparison(statistic, float(fits.df), p)
