"""Coarse columns in a search: as they are, by normal scores, or with every value spread over the
range it stands for.

A noise density fits the spikes of a coarse column rather than its noise, and a parent smears them:
links vanish. The treatments are models of the same table once each is the probability of the values
that were written: a density times the width of what a value stands for, or the share of a value
times what the normal scores gain by their parents. Shares of m values are counted in the same rows,
which costs m - 1 nats (AIC). A value that stands out may be written in place of numbers
(`censored`), or where there is none (a hurdle).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from causalcontext.data.coarse import (
    AS_THEY_ARE,
    CENSORED,
    HEAPS,
    HURDLES,
    REPLACED,
    SCORES,
    FewValues,
)
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import stable_order
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.kernels.arrays import Floats, Ints, Values
from causalcontext.kernels.orders.fit_arrays import NUMBER
from causalcontext.kernels.rows.class_choice import TOLERANCE
from causalcontext.kernels.rows.glm import RIDGE, first_slopes, fit_glm
from causalcontext.kernels.rows.likelihoods import ORDINAL
from causalcontext.score.censored import Limit, drawn_columns, limits_of
from causalcontext.score.data import ScoreData, Treated, score_data

MOST_SCORED = 10
"""Coarse columns of so many values at most are never spread: their values say nothing about a
density.
"""
MOST_OF_A_HEAP = 0.5
"""Nor those of which one value is most rows: it is none of many that numbers were rounded to."""
SMOOTH = 0.35
WIDEST = 2.0
"""The bandwidth by which the density of a heaped column is estimated, and the widest spread of a
value, in sd.
"""
MARGINAL_PARAMETERS = 4.0
"""A column's marginal distribution is not free: normal scores are charged like so many parameters a
column.
"""
NO_WIDTHS = np.empty(0)
ROWS_ASKED = 5000
"""So many rows are enough to ask whether levels act, or a finer number behind them."""


@dataclass(frozen=True, eq=False)
class Treatment:
    """A way to search coarse columns: the data, and what makes its scores log probabilities of
    written values.

    Where cells at limits were drawn: the limits by position, what the draws add to the score, and
    the data with what is written at limits.
    """

    name: str
    data: ScoreData
    charge: float
    limits: Mapping[int, Limit] = field(default_factory=dict)
    drawn: float = 0.0
    written: ScoreData | None = None


def treatments(
    data: ScoreData, coarse: Sequence[FewValues], seed: int = 0, only: str = ""
) -> list[Treatment]:
    """All that are worth a search, columns as they are first; only these where no column is coarse.

    Three to five steps of a finer number have normal scores in all of them. Numbers are drawn for
    `only` one of them.
    """
    coarse = [few for few in coarse if few.kind is Kind.CONTINUOUS]
    steps = [few for few in coarse if few.is_graded]
    coarse = [few for few in coarse if not few.is_graded]
    data = _treated(SCORES, data, steps, []).data if steps else data
    charge = sum(charge_as_is(data, few, j) for few in coarse for j in responses_of(data, few))
    found = [Treatment(AS_THEY_ARE, data, charge)]
    if coarse:
        found.append(_treated(SCORES, data, coarse, []))
        heaped = [
            few
            for few in coarse
            if len(few.values) > MOST_SCORED
            and few.shares.max() < MOST_OF_A_HEAP
            and all(data.gap[j] > 0.0 for j in responses_of(data, few))
        ]
        if heaped:
            found.append(
                _treated(HEAPS, data, [few for few in coarse if few not in heaped], heaped)
            )
        if limits := limits_of(data, coarse, anywhere=True):
            # hurdles, other coarse columns by normal scores
            scores = found[1]
            treated = {
                place: own._replace(hurdle=limits[place].value) if place in limits else own
                for place, own in scores.data.treated.items()
            }
            hurdles = _with_columns(
                scores.data, {place: data.table.columns[place] for place in limits}, treated
            )
            densities = sum(_densities_of_scores(data, coarse, limits).values())
            found.append(Treatment(HURDLES, hurdles, scores.charge - densities))
        for name in (name for name in (CENSORED, REPLACED) if only in ("", name)):
            limits = limits_of(data, coarse, anywhere=name == REPLACED)
            if limits:
                found.append(_drawn(name, data, coarse, limits, found[1], seed))
    return found


def with_steps(data: ScoreData, found: Sequence[FewValues]) -> tuple[FewValues, ...]:
    """The numbers of few values, where those of three to five are steps of finer numbers unless
    their levels act.

    Of two normal variables, one cut into levels, the levels follow proportional odds in the other
    one, which is not normal given the level; if the level itself is the cause, it is. So levels act
    if one of them explains a number by log n nats better than it is explained. All of a table are
    taken alike: few pairs tell the difference.
    """
    asked = [
        data.position.tolist().index(few.columns[0]) for few in found if few.kind is Kind.ORDERED
    ]
    numbers = np.flatnonzero(data.kind == NUMBER)
    rows = np.arange(0, data.values.shape[1], max(1, data.values.shape[1] // ROWS_ASKED))
    if not (asked and len(numbers) and len(rows)):
        return tuple(found)
    acts = any(
        levels_act(
            data.values[np.append(numbers, node)][:, rows], data.codes[node, rows], data.cells[rows]
        )
        > np.log(len(rows))
        for node in asked
    )
    return tuple(few._replace(finer=few.kind is Kind.ORDERED and not acts) for few in found)


def levels_act(values: Floats, codes: Ints, cells: Ints) -> float:
    """How many nats better levels explain a number, by a straight line, than they are explained, at
    most.

    `values` has a row for every number, then one for the scores of the levels, `codes`; all means
    differ by cell.
    """
    shifts = (cells == np.unique(cells)[:, None]).astype(np.float64)
    codes = np.unique(codes, return_inverse=True)[1]
    if codes.max() == 0:  # every m-th row of a long table may have one level
        return -np.inf
    centred = values - (values @ shifts.T / shifts.sum(axis=1)) @ shifts
    explained = []
    classes = int(codes.max()) + 1
    for more in ([], *([row] for row in values[:-1])):  # proportional odds
        design = np.vstack([np.ones(len(codes)), shifts[1:], *more])
        slopes = first_slopes(ORDINAL, codes, classes, len(design))
        explained.append(fit_glm(ORDINAL, design, codes, classes, slopes, RIDGE, TOLERANCE))
    products = centred[:-1] @ centred[-1]
    squares = np.maximum((centred**2).sum(axis=1), 1e-300)
    share = np.minimum(products**2 / squares[:-1] / squares[-1], 1.0 - 1e-12)
    return float(
        np.max(-0.5 * len(codes) * np.log1p(-share) - (np.array(explained[1:]) - explained[0]))
    )


def normal_scores_of(shares: Floats) -> Floats:
    """The mean of a standard normal variable between the quantiles that bound every value, by
    shares of the values.
    """
    cuts = scipy.special.ndtri(
        np.clip(np.concatenate([[0.0], np.cumsum(shares)[:-1], [1.0]]), 0.0, 1.0)
    )
    heights = np.exp(-0.5 * cuts**2) / np.sqrt(2.0 * np.pi)
    return np.asarray(-np.diff(heights) / shares)


def widths_of(values: Floats, shares: Floats) -> Floats:
    """How wide every value would have to be spread for a smooth density, in the units of the
    values.
    """
    sd = float(np.sqrt(shares @ (values - shares @ values) ** 2))
    away = (values[:, None] - values) / (SMOOTH * sd)
    density = np.exp(-0.5 * away**2) @ shares / (SMOOTH * np.sqrt(2.0 * np.pi))
    return np.asarray(np.minimum(shares / density, WIDEST) * sd)


def _treated(
    name: str, data: ScoreData, scored: Sequence[FewValues], heaped: Sequence[FewValues]
) -> Treatment:
    """Some columns by normal scores without a noise density, others spread."""
    columns = list(data.table.columns)
    treated = dict(data.treated)
    charge = 0.0
    for few in scored:
        scores = normal_scores_of(few.shares)
        for place in few.columns:
            values = np.asarray(columns[place], dtype=np.float64)
            own = np.minimum(np.searchsorted(few.values, values), len(scores) - 1)
            columns[place] = np.where(np.isfinite(values), scores[own], np.nan)
            treated[place] = Treated(scores, NO_WIDTHS)
        here = float(np.sum(few.shares * np.log(few.shares))) + 0.5 * (1.0 + np.log(2.0 * np.pi))
        charge += len(responses_of(data, few)) * (data.total * here - len(few.values) + 1)
    for few in heaped:
        widths = widths_of(few.values, few.shares)
        for place in few.columns:
            treated[place] = Treated(few.values, widths)
        for j in responses_of(data, few):
            charge += (
                data.total * float(few.shares @ np.log(widths / data.scale[j]))
                - len(few.values)
                + 1
            )
    if not scored:
        return Treatment(name, replace(data, treated=treated), charge)
    return Treatment(name, _with_columns(data, dict(enumerate(columns)), treated), charge)


def _drawn(
    name: str,
    data: ScoreData,
    coarse: Sequence[FewValues],
    limits: Mapping[int, Limit],
    scores: Treatment,
    seed: int,
) -> Treatment:
    """Cells at limits drawn beyond them or anywhere, other coarse columns by normal scores.

    What makes its score comparable is what makes that of normal scores so, where these are a
    density of what is not at the limit, estimated in the same rows: shares of single values say
    nothing about measurements.
    """
    columns, added = drawn_columns(data, limits, seed)
    treated = {
        place: (
            own._replace(limit=limits[place].value, anywhere=name == REPLACED)
            if place in limits
            else own
        )
        for place, own in scores.data.treated.items()
    }
    found = _with_columns(scores.data, columns, treated)
    scale = dict(zip(found.position.tolist(), found.scale.tolist(), strict=False))
    charge = scores.charge
    for j, density in _densities_of_scores(data, coarse, limits).items():
        added -= data.total * float(np.log(scale[int(data.position[j])] / data.scale[j]))
        charge -= density
    plain = {place: data.table.columns[place] for place in limits}
    written = _with_columns(
        scores.data, plain, {place: own for place, own in treated.items() if place not in limits}
    )
    return Treatment(name, found, charge + added, limits, added, written)


def _with_columns(
    data: ScoreData, columns: Mapping[int, Values], treated: Mapping[int, Treated]
) -> ScoreData:
    """The data with some columns of its table replaced."""
    mine = tuple(columns.get(place, column) for place, column in enumerate(data.table.columns))
    table = replace(data.table, columns=mine)
    return score_data(
        table, gather_statistics(table, "listwise"), data.links, data.is_window, treated
    )


def _densities_of_scores(
    data: ScoreData, coarse: Sequence[FewValues], limits: Mapping[int, Limit]
) -> dict[int, float]:
    """What makes the score of normal scores a log density, of variables with a value that stands
    out, by the others.
    """
    found = {}
    total = data.total
    for few in (few for few in coarse if few.columns[0] in limits):
        for j in responses_of(data, few):
            at_limit = np.isclose(
                data.values[j], (few.values[few.spike] - data.centre[j]) / data.scale[j], 0.0, 1e-9
            )
            rest = data.values[j][~at_limit]
            inside = len(rest)
            at = total - len(rest)
            shares = inside * np.log(inside / total) + at * np.log(at / total)
            density = float(log_density(rest).sum()) + 0.5 * total * (1.0 + np.log(2.0 * np.pi))
            found[j] = float(shares + density - MARGINAL_PARAMETERS * np.log(total))
    return found


def log_density(column: Floats) -> Floats:
    """The log density at every value by spacings over the 2 m nearest order statistics, m = sqrt(n)
    (Vasicek 1976).

    Digamma terms remove the bias of a logarithm of a spacing. Equal values are kept apart by the
    smallest distance that occurs.
    """
    order = stable_order(column)
    ordered = column[order]
    n = len(ordered)
    reach = max(1, int(np.sqrt(n)))
    low = np.maximum(np.arange(n) - reach, 0)
    high = np.minimum(np.arange(n) + reach, n - 1)
    gaps = np.diff(ordered)
    smallest = gaps[gaps > 0].min(initial=1.0) if n > 1 else 1.0
    width = np.maximum(ordered[high] - ordered[low], smallest)
    density = np.empty(n)
    density[order] = (
        scipy.special.digamma(high - low) - scipy.special.digamma(n + 1) - np.log(width)
    )
    return density


def responses_of(data: ScoreData, few: FewValues) -> list[int]:
    """The variables that a coarse column is: those with a mechanism."""
    return [j for j in range(data.responses) if int(data.position[j]) in few.columns]


def charge_as_is(data: ScoreData, few: FewValues, node: int) -> float:
    """The log of the smallest distance of two values, for every row: a density times it is a
    probability.
    """
    return data.total * float(np.log(np.diff(few.values).min() / data.scale[node]))
