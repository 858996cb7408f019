"""From local models to the evidence on every link, and to slopes with standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.lagged.subsets import CLOSED
from causalcontext.kernels.limits import SAME_COLUMN_BELOW, SMALLEST_VARIANCE, SPARE_ROWS
from causalcontext.timeseries.local_models import LocalModel, LocalModels
from causalcontext.timeseries.problem import LaggedProblem


@dataclass(frozen=True, eq=False)
class TargetLinkScores:
    """One target: K contexts, p columns of the table.

    Attributes
    ----------
    difference, strength : arrays, shape (K, p)
        The score with a link minus that without it; the partial correlation. NaN where it could not be one.
    slope, error : arrays, shape (K, p)
        In standard units; NaN for absent links.
    own, own_error : arrays, shape (K, p)
        Inside one context alone, on the parents of all contexts.
    df : array of int, shape (K,)
        Of the regressions inside one context.
    rows : array of int, shape (K,)
        Rows that share the mechanism of a context.
    """

    difference: Floats
    strength: Floats
    slope: Floats
    error: Floats
    own: Floats
    own_error: Floats
    df: Ints
    rows: Ints


class _Regression(NamedTuple):
    """Covariances of candidates and, last, the target; which of them are chosen, and what each costs."""

    covariance: Floats
    columns: Ints
    chosen: Bools
    price: Floats
    rows: float
    free: int


def judge_target(problem: LaggedProblem, node: int, model: LocalModel, before: int) -> TargetLinkScores:
    """The evidence on every link into a system variable."""
    k, width = problem.contexts, problem.table.width
    wide = np.full((6, k, width), np.nan)
    judged = TargetLinkScores(wide[0], wide[1], wide[2], wide[3], wide[4], wide[5], *np.zeros((2, k), dtype=np.int64))
    open_ = np.flatnonzero(problem.status(node, before) != CLOSED)
    for r in range(k):
        regression = _regression(problem, node, model, r, open_)
        judged.rows[r] = int(regression.rows)
        _judge(regression, [wide[number, r] for number in range(4)])
    _own_slopes(problem, node, model, judged)
    return judged


def judge_context(local: LocalModels, model: LocalModel, before: int) -> tuple[Floats, Floats]:
    """The score differences of links into the context: from every column, and from every lag of its own."""
    models, width = local.context, local.problem.table.width
    status = models.status(before)
    chosen = tuple(np.flatnonzero(model.parents[0]).tolist()) + tuple(width + lag - 1 for lag in model.own_past)
    whole = models.fit(chosen)
    found = np.full(len(status), np.nan)
    for g in np.flatnonzero(status != CLOSED).tolist():
        if g in chosen:
            found[g] = whole.score - models.fit(tuple(other for other in chosen if other != g)).score
        else:
            found[g] = whole.gains[g]
    return found[:width], found[width:]


def judge_reading(local: LocalModels, node: int, model: LocalModel, before: int) -> dict[int, float]:
    """For every copy of the context that may be read: the best model that reads it less the best that does not."""
    models = local.all_of(node, before)
    found = {}
    for candidate in models:
        if candidate.copy >= 0:
            others = [other.score for other in models if other.copy != candidate.copy]
            found[candidate.copy] = candidate.score - max(others, default=-np.inf)
    return found


def _regression(problem: LaggedProblem, node: int, model: LocalModel, r: int, open_: Ints) -> _Regression:
    everything = (1 << problem.contexts) - 1
    if model.kind == "mixed":
        return _interaction(problem, node, model, r, open_)
    rows, free = problem.rows, 1
    if model.kind == "pooled":
        table = problem.pooled
    else:
        blocks = problem.blocks[problem.copies.index(model.copy)]
        mask = model.mechanism[r]
        table, rows = (blocks.own[mask], float(blocks.rows[mask])) if mask != everything else (blocks.within[-1], rows)
        free = problem.contexts if mask == everything else 1
    columns = np.append(open_, node)
    price = np.full(len(open_), problem.cost(rows))
    return _Regression(table[np.ix_(columns, columns)], open_, model.parents[r, open_], price, rows, free)


def _interaction(problem: LaggedProblem, node: int, model: LocalModel, r: int, open_: Ints) -> _Regression:
    """The chosen columns of all contexts, and in this one alone those that are not chosen here."""
    blocks = problem.blocks[problem.copies.index(model.copy)]
    chosen = sorted({(int(c), int(model.blocks[s, c])) for s, c in np.argwhere(model.parents)})
    more = [(int(c), 1 << r) for c in open_ if not model.parents[r, c]]
    columns = np.array([c for c, _ in chosen + more] + [node])
    masks = np.array([mask for _, mask in chosen + more] + [(1 << problem.contexts) - 1])
    table = blocks.within[masks[:, None] & masks, columns[:, None], columns]
    price = np.array([problem.cost(float(blocks.rows[mask])) for mask in masks[:-1]])
    here = np.array([bool(mask >> r & 1) for mask in masks[:-1]], dtype=bool)
    return _Regression(table, np.where(here, columns[:-1], -1), np.arange(len(columns) - 1) < len(chosen), price,
                       problem.rows, problem.contexts)  # fmt: skip


def _judge(regression: _Regression, into: list[Floats]) -> None:
    """Write difference, strength, slope and error of every candidate."""
    difference, strength, slope, error = into
    table, chosen = regression.covariance, np.flatnonzero(regression.chosen)
    inverse = np.linalg.pinv(table[np.ix_(chosen, chosen)])
    rest = table - table[:, chosen] @ inverse @ table[chosen]
    left = max(float(rest[-1, -1]), SMALLEST_VARIANCE)
    half, df = 0.5 * regression.rows, max(regression.rows - len(chosen) - regression.free, 1.0)
    slopes = inverse @ table[chosen, -1]
    for place, beta, spread in zip(chosen, slopes, np.diagonal(inverse), strict=True):
        column = regression.columns[place]
        if column < 0 or not spread > 0.0:
            continue
        difference[column] = half * np.log1p(beta**2 / spread / left) - regression.price[place]
        strength[column] = beta / np.sqrt(beta**2 + left * spread)
        slope[column], error[column] = beta, np.sqrt(left * spread / df)
    for place in np.flatnonzero(~regression.chosen):
        column, own = regression.columns[place], float(rest[place, place])
        if own <= SAME_COLUMN_BELOW * table[place, place]:
            continue
        after = max(left - float(rest[place, -1]) ** 2 / own, SMALLEST_VARIANCE)
        difference[column] = half * np.log(left / after) - regression.price[place]
        strength[column] = float(rest[place, -1]) / np.sqrt(own * left)


def _own_slopes(problem: LaggedProblem, node: int, model: LocalModel, judged: TargetLinkScores) -> None:
    """Slopes inside every context alone, on the parents of all contexts."""
    columns = np.flatnonzero(model.parents.any(axis=0))
    place = problem.copies.index(model.copy) if model.copy >= 0 else 0
    moments = problem.moments[place]
    for r in range(problem.contexts):
        judged.df[r] = int(moments.rows[r]) - len(columns) - 1
        fit = moments.regression(node, columns.tolist(), r) if judged.df[r] >= SPARE_ROWS and len(columns) else None
        if fit is not None:
            judged.own[r, columns], judged.own_error[r, columns] = fit.slopes, fit.errors
