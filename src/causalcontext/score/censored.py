"""Numbers in whose place one value is written: zeros of rain, the highest amount that was recorded,
days without sales.

That value is written for all numbers beyond a limit (censored), or in place of some numbers
anywhere, the more often the lower or the higher these are, by a probit (structural). If the number
behind it acts, its cells are drawn given all other columns of their rows, by normal variables with
the means and covariances of a context, and searched like plain numbers. The score of the drawn
table less the log density q of the draws is at most the log probability of what was written (the
evidence lower bound), by which it is compared with other treatments. If what is written acts, its
children see no more than the table has, and the column itself is a Tobit regression or a hurdle: a
logit of whether there is a number, and a regression of the number. `written_score` is what these
explain at the parents that a model has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.data.coarse import FewValues
from causalcontext.data.dataset import complete_rows
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.fit_arrays import CLASS, SOURCE
from causalcontext.kernels.rows.class_choice import TOLERANCE
from causalcontext.kernels.rows.glm import RIDGE, first_slopes, fit_glm
from causalcontext.kernels.rows.likelihoods import ORDINAL
from causalcontext.score.columns import evaluated
from causalcontext.score.data import ScoreData, members
from causalcontext.score.model import FittedModel

MOST_DRAWN = 12
"""With more columns at limits, lags included, none is drawn: probabilities of so many at once are
slow.
"""
ROUNDS = 15
SWEEPS = 5
"""How often moments are taken of drawn cells, and how often cells are drawn with the last ones."""
ROUNDS_ANYWHERE = 40
"""The former, where numbers lie anywhere: a probit is fitted as well."""
RIDGE_OF_SLOPES = 1.0
"""Keeps the slope of a probit finite where x tells all."""
ROWS_OF_MOMENTS = 5000
ROWS_AT_A_TIME = 4096
DRAWS = 32
"""By so many draws the probability that several numbers of a row lie beyond their limits is
estimated.
"""
STEPS = 60
SETTLED = 1e-4
FARTHEST = -30.0
"""Beyond so many standard deviations a normal variable under a limit is as good as at it."""


class Limit(NamedTuple):
    """A limit in the units of the table; numbers lie below it (`side` 1), above it (-1) or anywhere
    (0).
    """

    value: float
    side: float


class Unwritten(NamedTuple):
    """Which numbers x are not written: where slope x + normal noise lies below an end; a limit, if
    there is none.
    """

    # `ends`, `slopes`, `noise`: shape (columns,); `noise` is a variance, 0 or 1
    ends: Floats
    slopes: Floats
    noise: Floats


class Normal(NamedTuple):
    """Means and covariances of columns in a context, and the rows of it."""

    rows: Ints
    mean: Floats
    covariance: Floats


def limits_of(
    data: ScoreData, coarse: Sequence[FewValues], anywhere: bool = False
) -> dict[int, Limit]:
    """By position, values that stand out at an end of a range, or anywhere; none if not all rows
    are at hand.
    """
    found = {
        place: Limit(
            float(few.values[few.spike]), 0.0 if anywhere else 1.0 if few.spike == 0 else -1.0
        )
        for few in coarse
        if few.at_limit or (anywhere and few.spike >= 0)
        for place in few.columns
    }
    return found if len(found) <= MOST_DRAWN and data.weight == 1.0 else {}


def drawn_columns(
    data: ScoreData, limits: Mapping[int, Limit], seed: int
) -> tuple[dict[int, Floats], float]:
    """Columns by position whose cells at a limit are drawn, in units of the table, and what draws
    add to the score.

    That is minus their log density given everything else; causes without a mechanism have one given
    each other instead, which is added. So are the log probabilities that numbers are written, or
    not, where these are estimated, less the price of two parameters. In standard units. Rows are
    taken in an order that depends on what they hold alone.
    """
    used = np.flatnonzero(data.is_system)
    values = np.where(data.kind[used, None] == CLASS, data.codes[used], data.values[used]).T
    order = np.lexsort(values.T)
    x = values[order]
    cells = data.cells[order]
    beyond = np.zeros(x.shape, dtype=bool)
    sides = np.ones(len(used))
    ends = np.full(len(used), np.inf)
    for column, j in enumerate(used.tolist()):
        own = limits.get(int(data.position[j]))
        if own is not None:
            ends[column] = (own.value - data.centre[j]) / data.scale[j]
            beyond[:, column] = np.isclose(x[:, column], ends[column], 0.0, 1e-9)
            sides[column] = own.side
    random = np.random.default_rng([seed % 2**32, len(x)])
    anywhere = sides == 0.0
    sides[anywhere] = 1.0
    unwritten = Unwritten(ends * sides, np.ones(len(used)), anywhere.astype(np.float64))
    x, normals, unwritten = _drawn(x * sides, beyond, cells, unwritten, random)
    added = -log_density_beyond(x, beyond, unwritten, normals, random)
    given = used >= data.nodes
    for column in np.flatnonzero(anywhere & ~given).tolist():
        away = unwritten.slopes[column] * x[~beyond[:, column], column] - unwritten.ends[column]
        added += float(scipy.special.log_ndtr(away).sum() - np.log(data.total))
    if beyond[:, given].any():
        some = [
            Normal(rows, mean[given], covariance[np.ix_(given, given)])
            for rows, mean, covariance in normals
        ]
        causes = Unwritten(*(one[given] for one in unwritten))
        added += log_density_beyond(x[:, given], beyond[:, given], causes, some, random)
    written = np.flatnonzero(complete_rows(data.table))
    written = written[np.argsort(data.table.codes[written], kind="stable")][order]
    found = {}
    for column in np.flatnonzero(beyond.any(axis=0)).tolist():
        position = int(data.position[used[column]])
        found[position] = np.array(data.table.columns[position], dtype=np.float64)
        here = beyond[:, column]
        j = used[column]
        found[position][written[here]] = (
            x[here, column] * sides[column] * data.scale[j] + data.centre[j]
        )
    return found, added


def _drawn(
    x: Floats, beyond: Bools, cells: Ints, unwritten: Unwritten, random: np.random.Generator
) -> tuple[Floats, list[Normal], Unwritten]:
    """Rows whose cells are drawn where nothing was written, the normal variables that draw them,
    and what was not.
    """
    x = x - 0.5 * beyond * x.std(axis=0)
    anywhere = np.flatnonzero(unwritten.noise).tolist()
    ends = unwritten.ends.copy()
    slopes = unwritten.slopes.copy()
    for j in anywhere:
        rest = x[~beyond[:, j], j]
        x[beyond[:, j], j] = rest.mean() + rest.std() * random.standard_normal(len(x) - len(rest))
        ends[j] = scipy.special.ndtri(beyond[:, j].mean())
        slopes[j] = 0.0
    found = Unwritten(ends, slopes, unwritten.noise)
    some = np.arange(0, len(x), max(1, len(x) // ROWS_OF_MOMENTS))
    part = x[some]
    for _ in range(ROUNDS_ANYWHERE if anywhere else ROUNDS):
        _draw_once(part, beyond[some], found, _normals(part, cells[some], cells[some]), random)
        for j in anywhere:
            ends[j], slopes[j] = probit(part[:, j], beyond[some, j], ends[j], slopes[j])
    x[some] = part
    normals = _normals(part, cells[some], cells)
    for _ in range(SWEEPS):
        _draw_once(x, beyond, found, normals, random)
    return x, normals, found


def probit(
    x: Floats, chosen: Bools, end: float = 0.0, slope: float = 0.0, steps: int = 4
) -> tuple[float, float]:
    """The end and the slope by which slope x + noise < end chooses, a few Newton steps on from
    others.
    """
    design = np.stack([np.ones(len(x)), -x])
    sign = np.where(chosen, 1.0, -1.0)
    theta = np.array([end, slope])
    ridge = np.array([0.0, RIDGE_OF_SLOPES])
    for _ in range(steps):
        away = sign * (theta @ design)
        ratio = _inverse_mills(away)
        curvature = (design * (ratio * (ratio + away))) @ design.T + np.diag(ridge + 1e-6)
        step = np.linalg.solve(curvature, design @ (sign * ratio) - ridge * theta)
        theta = theta + step / max(1.0, float(np.abs(step).max()))
    return float(theta[0]), float(theta[1])


def _inverse_mills(away: Floats) -> Floats:
    """The density of a standard normal variable over the probability that it lies below."""
    return np.asarray(np.exp(-0.5 * away**2 - scipy.special.log_ndtr(away)) / np.sqrt(2.0 * np.pi))


def _normals(x: Floats, cells: Ints, where: Ints) -> list[Normal]:
    """Moments by context, those of small ones with a share of the covariances within contexts."""
    parts = [x[cells == cell] for cell in np.unique(cells)]
    scatters = [(part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in parts]
    within = sum(scatters) / len(x)
    prior = 2 * x.shape[1]
    within = within + np.diag(1e-9 + 1e-9 * np.diagonal(within))
    return [
        Normal(
            np.flatnonzero(where == cell),
            part.mean(axis=0),
            (own + prior * within) / (len(part) + prior),
        )
        for cell, part, own in zip(np.unique(cells), parts, scatters, strict=True)
    ]


def _draw_once(
    x: Floats,
    beyond: Bools,
    unwritten: Unwritten,
    normals: Sequence[Normal],
    random: np.random.Generator,
) -> None:
    """Draw cells in whose place a value was written, given the rest of their rows (Gibbs): slope x
    + noise, then x.
    """
    for own, mean, covariance in normals:
        precision = np.linalg.inv(covariance)
        for j in np.flatnonzero(beyond[own].any(axis=0)).tolist():
            rows = own[beyond[own, j]]
            slope = unwritten.slopes[j]
            noise = unwritten.noise[j]
            variance = 1.0 / precision[j, j]
            expected = x[rows, j] - (x[rows] - mean) @ precision[j] * variance
            spread = np.sqrt(slope**2 * variance + noise)
            away = below((unwritten.ends[j] - slope * expected) / spread, random.random(len(rows)))
            x[rows, j] = expected + slope * variance / spread * away
            if noise:
                x[rows, j] += np.sqrt(variance * noise) / spread * random.standard_normal(len(rows))


def below(end: Floats, uniform: Floats) -> Floats:
    """Standard normal variables below an end, by uniform ones.

    Examples
    --------
    >>> below(np.array([0.0, 0.0, -40.0]), np.array([0.5, 1.0, 0.5])).round(2).tolist()
    [-0.67, 0.0, -40.02]
    """
    z = scipy.special.ndtri(np.clip(uniform * scipy.special.ndtr(end), 1e-300, 1.0))
    return np.where(end < FARTHEST, end + 1.0 / np.minimum(end, FARTHEST), z)


def log_density_beyond(
    x: Floats,
    beyond: Bools,
    unwritten: Unwritten,
    normals: Sequence[Normal],
    random: np.random.Generator,
) -> float:
    """The log density of numbers that were not written, given the other cells of their rows.

    Of numbers anywhere that is less the log probability that such a number is not written.
    """
    total = 0.0
    count = beyond.sum(axis=1)
    for rows, mean, covariance in normals:
        precision = np.linalg.inv(covariance)
        pulls = (x[rows] - mean) @ precision
        for k in np.unique(count[rows])[np.unique(count[rows]) > 0].tolist():
            same = np.flatnonzero(count[rows] == k)
            for some in (
                same[start : start + ROWS_AT_A_TIME]
                for start in range(0, len(same), ROWS_AT_A_TIME)
            ):
                cell = np.nonzero(beyond[rows[some]])[1].reshape(len(some), k)
                inner = precision[cell[:, :, None], cell[:, None, :]]
                pull = np.take_along_axis(pulls[some], cell, 1)
                spread = np.linalg.inv(inner)
                away = np.einsum("rij,rj->ri", spread, pull)
                slope = unwritten.slopes[cell]
                room = unwritten.ends[cell] - slope * (x[rows[some][:, None], cell] - away)
                size = np.linalg.slogdet(inner)[1] - k * np.log(2.0 * np.pi)
                total += float(0.5 * (size - (pull * away).sum(axis=1)).sum())
                spread = slope[:, :, None] * spread * slope[:, None, :]
                spread[:, np.arange(k), np.arange(k)] += unwritten.noise[cell]
                total -= float(log_probability_below(room, spread, random).sum())
    return total


def log_probability_below(ends: Floats, covariance: Floats, random: np.random.Generator) -> Floats:
    """The log probability that normal variables of mean 0 all lie below their ends, row by row.

    `ends` has shape (rows, k), `covariance` (rows, k, k). By draws one after the other, each given
    those before it (Geweke, Hajivassiliou and Keane); exact if k = 1.
    """
    factor = np.linalg.cholesky(covariance)
    n, k = ends.shape
    draws = DRAWS if k > 1 else 1
    z = np.zeros((n, draws, k))
    weight = np.zeros((n, draws))
    for j in range(k):
        mean = np.einsum("rdi,ri->rd", z[:, :, :j], factor[:, j, :j])
        end = (ends[:, None, j] - mean) / factor[:, None, j, j]
        weight += scipy.special.log_ndtr(end)
        if j + 1 < k:
            z[:, :, j] = below(end, random.random((n, draws)))
    return np.asarray(scipy.special.logsumexp(weight, axis=1) - np.log(draws))


def written_score(model: FittedModel, raw: ScoreData, limits: Mapping[int, Limit]) -> float:
    """The score of mechanisms of numbers at limits, by written causes at the parents of a model, in
    units of `raw`.
    """
    design, data = model.design, model.design.data
    number = {int(position): j for j, position in enumerate(raw.position)}
    total = 0.0
    for node, part in model.regressions():
        own = number[int(data.position[node])]
        limit = limits.get(int(data.position[node]))
        if limit is None:
            continue
        rows = raw.selected(part.mask)
        groups = design.groups(part.block)[raw.cells[rows]]
        columns = []
        for column in part.columns.tolist():
            function = design.functions[int(design.about(part.block)[SOURCE, column])]
            owner, partner = (
                number[int(data.position[j])] if j >= 0 else j
                for j in (function.owner, function.partner)
            )
            lives = np.isin(
                raw.cells[rows], members(design.lives(part.block, column), raw.contexts)
            )
            values = evaluated(
                raw.values[:, rows],
                raw.codes[:, rows],
                function._replace(owner=owner, partner=partner),
            )
            columns.append(values * lives)
        matrix = np.stack([*(groups == np.unique(groups)[:, None]).astype(np.float64), *columns])
        end = (limit.value - raw.centre[own]) / raw.scale[own]
        y = raw.values[own, rows]
        at_limit = np.isclose(y, end, 0.0, 1e-9)
        price = design.price(float(rows.sum()))
        if limit.side:
            total += tobit(matrix, limit.side * y, at_limit) - price * (len(matrix) + 1)
        else:
            total += hurdle(matrix, y, at_limit) - price * (2 * len(matrix) + 1)
    return total


def hurdle(design: Floats, response: Floats, away: Bools) -> float:
    """The largest log likelihood of a logit of whether there is a number, and of a normal number
    where there is.
    """
    codes = away.astype(np.int64)
    rest = design[:, ~away]
    y = response[~away]
    shifts = np.vstack([np.ones(len(away)), design[1:]])
    total = fit_glm(
        ORDINAL, shifts, codes, 2, first_slopes(ORDINAL, codes, 2, len(design)), RIDGE, TOLERANCE
    )
    left = float(np.sum((y - np.linalg.lstsq(rest.T, y, rcond=None)[0] @ rest) ** 2)) / max(
        len(y), 1
    )
    return total - 0.5 * len(y) * float(np.log(2.0 * np.pi * max(left, 1e-12)) + 1.0)


def tobit(design: Floats, response: Floats, censored: Bools) -> float:
    """The largest log likelihood, by EM, of a normal response, some values of which lie at or below
    what is written.
    """
    inverse = np.linalg.pinv(design)
    z = response.copy()
    end = response[censored]
    spread = max(float(response.std()), 1e-9)
    slopes = z @ inverse
    for _ in range(STEPS):
        expected = slopes @ design[:, censored]
        away = (end - expected) / spread
        ratio = _inverse_mills(away)
        z[censored] = expected - spread * ratio
        slopes = z @ inverse
        left = np.sum((z - slopes @ design) ** 2) + spread**2 * np.sum(
            np.maximum(1.0 - away * ratio - ratio**2, 0.0)
        )
        before = spread
        spread = max(float(np.sqrt(left / len(z))), 1e-9)
        if abs(spread - before) < SETTLED * spread:
            break
    standard = (response - slopes @ design) / spread
    inside = -0.5 * standard[~censored] ** 2 - np.log(spread) - 0.5 * np.log(2.0 * np.pi)
    return float(inside.sum() + scipy.special.log_ndtr(standard[censored]).sum())
