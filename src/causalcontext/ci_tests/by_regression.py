"""Whether a variable improves the regression of another one on the conditions: one regression for every kind.

- numbers: linear, by F;
- classes: multinomial logit, by the likelihood ratio;
- ordered classes: proportional odds, by the likelihood ratio;
- counts: Poisson with a log link and an estimated dispersion, by F.

The law of a likelihood ratio of classes is chi-squared only where rows are many. Where the smaller model leaves fewer
than `ROWS_PER_COEFFICIENT` effective rows for every coefficient, classes are drawn from it instead.
"""

from __future__ import annotations

import numpy as np
import scipy

from causalcontext.ci_tests.association import FEWEST_DF, association
from causalcontext.ci_tests.bootstrap import bootstrap_p
from causalcontext.ci_tests.designs import added_to, columns_of
from causalcontext.ci_tests.likelihood_fits import (
    NestedFits,
    coefficients,
    compare_fits,
    dispersion,
    response_of,
    shares,
)
from causalcontext.ci_tests.rows import Comparison, Variable, untestable
from causalcontext.data.kinds import Kind
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.rows.newton import POISSON
from causalcontext.views import Reason

ROWS_PER_COEFFICIENT = 15
CLEAR, INSIGNIFICANT = 1e-5, 0.25
"""A chi-squared p-value below the first is kept from a third of these rows on, one above the second always."""
FEWEST_ROWS_PER_COEFFICIENT = 2
"""Below this not even the bootstrap is run."""
COSTLIEST_FIT, COSTLIEST_BOOTSTRAP = 5e7, 4e5
"""Rows times coefficients squared, up to which a fit is made, and made again for every draw."""


def regression(response: Variable, base: Floats, added: Floats, random: np.random.Generator) -> Comparison:
    """Whether the columns `added` help to explain `response` beside the columns `base`."""
    if added.shape[1] == 0:
        return untestable(Reason.COLLINEAR)
    if response.kind is Kind.CONTINUOUS or not _is_fitted(response):
        return association(added_to(base, columns_of(response)), added, base)
    wanted = response_of(response)
    rows, width = len(base), base.shape[1] + added.shape[1]
    needed = coefficients(wanted, width)
    if rows < max(FEWEST_ROWS_PER_COEFFICIENT * needed, width + FEWEST_DF) or rows * needed**2 > COSTLIEST_FIT:
        return untestable(Reason.FEW_ROWS)
    found = compare_fits(wanted, base, added)
    if found.df == 0:
        return untestable(Reason.COLLINEAR)
    return _answer_counts(found) if wanted.family == POISSON else _answer_classes(found, needed, random)


def effective_rows(found: NestedFits) -> float:
    """The rows that the smaller model leaves undecided: all if classes are equally likely, none if they are certain."""
    share = shares(found.response, found.base, found.small.slopes)
    classes = found.response.classes
    return float((1.0 - (share**2).sum(axis=1)).sum()) * classes / (classes - 1)


def _is_fitted(response: Variable) -> bool:
    """Whether a count column holds counts; one that does not is explained like any number."""
    if response.kind is not Kind.COUNT:
        return True
    return bool(response.values.min() >= 0.0 and (response.values == np.rint(response.values)).all())


def _answer_classes(found: NestedFits, needed: int, random: np.random.Generator) -> Comparison:
    p = float(scipy.special.chdtrc(found.df, found.ratio))
    each = effective_rows(found) / needed
    clear = p > INSIGNIFICANT or (p < CLEAR and each >= ROWS_PER_COEFFICIENT / 3)
    if each < ROWS_PER_COEFFICIENT and not clear and len(found.base) * needed**2 <= COSTLIEST_BOOTSTRAP:
        p = bootstrap_p(found, random)
    return Comparison(found.ratio, float(found.df), p)


def _answer_counts(found: NestedFits) -> Comparison:
    """F of the ratio in units of the dispersion."""
    scale, spare = dispersion(found), len(found.design) - found.design.shape[1]
    statistic = found.ratio / found.df / scale if scale > 0.0 else np.inf
    return Comparison(statistic, float(found.df), float(scipy.special.fdtrc(found.df, spare, statistic)))
