"""Whether columns improve a regression of a class, an ordered class or a count: likelihood ratios, without penalty.

Classes are fitted by a multinomial logit, ordered classes by proportional odds, counts by a Poisson regression with
an estimated dispersion. The likelihood is bounded, and separated classes only move the coefficients, not its supremum:
where the larger model separates the classes and the smaller does not, the ratio is as large as it can be. Where the
smaller one does already, there is no information left, and the degrees of freedom, which are ranks of the
information, are 0: nothing can be tested.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.ci_tests.rows import Variable
from causalcontext.data.kinds import Kind
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.rows.newton import LOGIT, ORDINAL, POISSON, maximum, one_pass

NO_INFORMATION = 1e-3
"""Information below which a direction of the coefficients is not estimable; 1 is what a single row can give."""
CONVERGED = 1e-9


class LikelihoodFit(NamedTuple):
    """The largest log-likelihood and where it is.

    Attributes
    ----------
    likelihood : float
    slopes : array, shape (coefficients,)
    """

    likelihood: float
    slopes: Floats


class Response(NamedTuple):
    """What is explained: a family of `kernels.newton`, integers, and the number of classes (2 for counts)."""

    family: int
    values: Ints
    classes: int


def response_of(variable: Variable) -> Response:
    """The variable as the response of a regression; two ordered classes are two classes."""
    if variable.kind is Kind.COUNT:
        return Response(POISSON, variable.values.astype(np.int64), 2)
    ordered = variable.kind is Kind.ORDERED and variable.levels > 2
    return Response(ORDINAL if ordered else LOGIT, variable.codes, variable.levels)


class NestedFits(NamedTuple):
    """Two fits, the second with columns that the first has not.

    Attributes
    ----------
    response : Response
    base, design : arrays, shapes (rows, width) and (rows, larger width)
    small : Fit
    start : array
        The coefficients of the smaller model in the larger one.
    ratio : float
        Twice the difference of the log-likelihoods.
    df : int
    large : Fit
    """

    response: Response
    base: Floats
    design: Floats
    small: LikelihoodFit
    start: Floats
    ratio: float
    df: int
    large: LikelihoodFit


def compare_fits(response: Response, base: Floats, added: Floats) -> NestedFits:
    """The regressions on `base` and on both; without information on what is added, df is 0 and so is the ratio."""
    base, design = np.ascontiguousarray(base), np.ascontiguousarray(np.hstack([base, added]))
    small = fit(response, base, start_of(response, base))
    start = widen(response, small.slopes, base.shape[1], added.shape[1])
    df = informed(response, design, start, base.shape[1])
    if df == 0:
        return NestedFits(response, base, design, small, start, 0.0, 0, small)
    large = fit(response, design, start)
    ratio = max(2.0 * (large.likelihood - small.likelihood), 0.0)
    return NestedFits(response, base, design, small, start, ratio, df, large)


def shares(response: Response, design: Floats, slopes: Floats) -> Floats:
    """The probability of every class in every row, shape (rows, classes)."""
    if response.family == ORDINAL:
        cuts, rest = slopes[: response.classes - 1], slopes[response.classes - 1 :]
        below = scipy.special.expit(cuts - (design[:, 1:] @ rest)[:, None])
        return np.asarray(np.maximum(np.diff(below, axis=1, prepend=0.0, append=1.0), 0.0))
    predictor = np.zeros((len(design), response.classes))
    predictor[:, :-1] = design @ slopes.reshape(response.classes - 1, -1).T
    return np.asarray(scipy.special.softmax(predictor, axis=1))


def dispersion(found: NestedFits) -> float:
    """Pearson's chi-squared of the larger model of counts, over its spare rows."""
    mean = np.exp(found.design @ found.large.slopes)
    surplus = (found.response.values - mean) ** 2 / np.maximum(mean, 1e-300)
    return float(surplus.sum() / (len(found.design) - found.design.shape[1]))


def fit(response: Response, design: Floats, start: Floats) -> LikelihoodFit:
    """The fit without penalty."""
    tolerance = CONVERGED * (1.0 + 1e-3 * len(design))
    slopes = start.copy()
    return LikelihoodFit(
        maximum(response.family, design, response.values, response.classes, slopes, 0.0, tolerance), slopes
    )


def start_of(response: Response, base: Floats) -> Floats:
    """The coefficients that give the shares of the classes, or the mean count, and no slopes."""
    if response.family == POISSON:
        start = np.zeros(base.shape[1])
        start[0] = np.log(response.values.mean())
        return start
    share = np.bincount(response.values, minlength=response.classes) / len(base)
    if response.family == ORDINAL:
        below = np.cumsum(share)[:-1]
        return np.concatenate([np.log(below / (1.0 - below)), np.zeros(base.shape[1] - 1)])
    slopes = np.zeros((response.classes - 1, base.shape[1]))
    slopes[:, 0] = np.log(share[:-1] / share[-1])
    return slopes.ravel()


def widen(response: Response, slopes: Floats, width: int, more: int) -> Floats:
    """The same coefficients in the larger model, with zeros for the columns that join."""
    if response.family != LOGIT:
        return np.concatenate([slopes, np.zeros(more)])
    return np.hstack([slopes.reshape(-1, width), np.zeros((response.classes - 1, more))]).ravel()


def informed(response: Response, design: Floats, slopes: Floats, width: int) -> int:
    """By how much the rank of the information grows with the columns after the first `width`."""
    hessian = np.zeros((slopes.size, slopes.size))
    one_pass(response.family, design, response.values, response.classes - 1, slopes, np.zeros(slopes.size), hessian)
    inside = np.ones(slopes.size, dtype=bool)
    if response.family == LOGIT:
        inside = np.tile(np.arange(design.shape[1]) < width, response.classes - 1)
    else:
        inside[slopes.size - (design.shape[1] - width) :] = False
    return _rank(hessian) - _rank(hessian[np.ix_(inside, inside)])


def coefficients(response: Response, width: int) -> int:
    """How many coefficients a regression on `width` columns, the intercept among them, has."""
    return {LOGIT: (response.classes - 1) * width, ORDINAL: response.classes - 2 + width}.get(response.family, width)


def _rank(information: Floats) -> int:
    return int((np.linalg.eigvalsh(information) > NO_INFORMATION).sum())
