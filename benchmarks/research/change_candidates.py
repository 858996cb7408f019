"""The tests of change that `which_change_test.py` compares, on one table at a time.

A LR*; B Chow's F and Brown-Forsythe, Fisher-combined; C is B with a gate (RESET and Breusch-Pagan
inside every context, then a logit with y, y² and y z); D the larger p of A and C; E the test
`robust-change` with the gate at .05 that was frozen first; F the same with the gate of the library.
Beside them the mean-only test: shifts by context, slopes in common.
"""

from __future__ import annotations

import math

import numpy as np

from causalcontext._kernels import chi2_upper
from causalcontext.kernels.linear import sweep
from causalcontext.kernels.rows.fits_by_context import (
    ContextFits,
    Groups,
    cross_products,
    fit_all,
    group_rows,
    residuals_of,
)
from causalcontext.kernels.rows.glm import RIDGE, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.kernels.rows.robust_change import (
    bartlett,
    brown_forsythe,
    combine,
    common_terms,
    context_needs,
    curvature,
    likelihood_ratio,
    nested_f,
    uneven_spread,
)

NAMES = (
    "A: LR*",
    "B: Chow + BF",
    "C: B, gated",
    "D: max(A, C)",
    "E: gate at .05",
    "F: robust-change",
    "mean only",
)
FROZEN_GATE = 0.05
LOOK_BELOW = 0.2


def p_values(
    columns: np.ndarray, y: np.ndarray, codes: np.ndarray, levels: int, gate: float
) -> np.ndarray:
    """One p-value for every name; `gate` is the level of F.

    Gates are asked where a p-value is below .2: they can only raise it.
    """
    out = np.empty(7)
    groups, fits = _without_gates(columns, y, codes, levels, out)
    if columns.shape[1] > 0 and out[1] < LOOK_BELOW and _first_gate(groups, fits) < FROZEN_GATE:
        out[2] = max(out[1], _first_logit(groups))
    out[3] = max(out[0], out[2])
    if columns.shape[1] > 0 and out[5] < LOOK_BELOW:
        checks = _checks(groups, fits)
        asked = context_needs(groups, fits, out[5]) if checks < FROZEN_GATE else 0.0
        out[4] = max(out[5], asked)
        out[5] = out[4] if checks < gate else out[5]
    return out


def _checks(groups: Groups, fits: ContextFits) -> float:
    return min(curvature(groups, fits), uneven_spread(groups, fits))


def _without_gates(
    columns: np.ndarray, y: np.ndarray, codes: np.ndarray, levels: int, out: np.ndarray
) -> tuple[Groups, ContextFits]:
    groups = group_rows(columns, y, codes, levels)
    fits = fit_all(groups)
    out[0] = likelihood_ratio(groups, fits)[2]
    _, variance = brown_forsythe(groups, fits)
    out[1] = _fisher(nested_f(groups, fits, 0, 2)[2], variance)
    out[2] = out[1]
    out[6] = nested_f(groups, fits, 0, 1)[2]
    out[5] = combine(out[6], nested_f(groups, fits, 1, 2)[2], max(variance, bartlett(groups, fits)))
    out[4] = out[5]
    return groups, fits


def _fisher(first: float, second: float) -> float:
    return chi2_upper(-2.0 * (math.log(max(first, 1e-300)) + math.log(max(second, 1e-300))), 4.0)


def _first_gate(groups: Groups, fits: ContextFits) -> float:
    """The smaller p of RESET and Breusch-Pagan (Koenker), each Fisher-combined over contexts."""
    m = groups.rows.shape[1] - 1
    residuals = residuals_of(groups, fits, 2)
    reset, spread, terms = 0.0, 0.0, groups.start.size - 1
    for r in range(terms):
        begin, end = groups.start[r], groups.start[r + 1]
        rows = groups.rows[begin:end]
        reset -= 2.0 * math.log(max(_reset(rows, rows[:, m] - residuals[begin:end]), 1e-300))
        spread -= 2.0 * math.log(max(_koenker(rows[:, :m], residuals[begin:end] ** 2), 1e-300))
    return min(chi2_upper(reset, 2.0 * terms), chi2_upper(spread, 2.0 * terms))


def _reset(rows: np.ndarray, fitted: np.ndarray) -> float:
    n, m = rows.shape[0], rows.shape[1] - 1
    away = fitted - fitted.mean()
    away = away / max(math.sqrt(np.mean(away * away)), 1e-150)
    table = np.empty((n, m + 3))
    table[:, :m] = rows[:, :m]
    table[:, m], table[:, m + 1], table[:, m + 2] = away**2, away**3, rows[:, m]
    return common_terms(table, np.array([0, n]), m)


def _koenker(conditions: np.ndarray, squares: np.ndarray) -> float:
    n, m = conditions.shape
    table = np.empty((n, 2 * m + 1))
    table[:, :m], table[:, m : 2 * m], table[:, 2 * m] = conditions, conditions**2, squares
    scatter = cross_products(table, np.array([0, n]))[0]
    before = scatter[2 * m, 2 * m]
    rank = sweep(scatter, 2 * m, n)
    if rank == 0 or before <= 0.0:
        return 1.0
    return chi2_upper(n * (1.0 - scatter[2 * m, 2 * m] / before), float(rank))


def _first_logit(groups: Groups) -> float:
    """The likelihood ratio of a logit of the context on Z when y, y² and y z join, all at once."""
    contexts, (conditions, y) = groups.start.size - 1, (groups.rows[:, :-1].T, groups.rows[:, -1])
    m = len(conditions)
    codes = np.repeat(np.arange(contexts), np.diff(groups.start))
    added = np.vstack([y * y, y * conditions])
    added -= added.mean(axis=1, keepdims=True)
    added /= np.sqrt(np.mean(added**2, axis=1, keepdims=True))
    design = np.ascontiguousarray(np.vstack([np.ones(y.size), conditions, y, added]))
    before, after = (
        fit_glm(
            LOGIT, design[:width], codes, contexts, np.zeros((contexts - 1) * width), RIDGE, 1e-7
        )
        for width in (m + 1, len(design))
    )
    return chi2_upper(2.0 * (after - before), (contexts - 1.0) * (m + 2))
