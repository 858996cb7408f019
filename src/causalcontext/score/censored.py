"""Numbers that are written at a limit where they lie beyond it: zeros of rain, the highest amount that was recorded.

If the number behind the limit acts, its cells are drawn given all other columns of their rows, by normal variables with
the means and covariances of a context, and searched like plain numbers. The score of the drawn table less the log
density q of the draws is at most the log probability of what was written (the evidence lower bound), by which it is
compared with other treatments. If what is written acts, its children see no more than the table has, and the column
itself is a Tobit regression; `tobit_score` is what that explains at the parents that a model has.
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
from causalcontext.score.columns import evaluated
from causalcontext.score.data import ScoreData, members
from causalcontext.score.model import FittedModel

MOST_DRAWN = 12
"""With more columns at limits, lags included, none is drawn: probabilities of so many at once are slow."""
ROUNDS, SWEEPS = 15, 5
"""How often moments are taken of drawn cells, and how often cells are drawn with the last ones."""
ROWS_OF_MOMENTS, ROWS_AT_A_TIME = 5000, 4096
DRAWS = 32
"""By so many draws the probability that several numbers of a row lie beyond their limits is estimated."""
STEPS, SETTLED = 60, 1e-4
FARTHEST = -30.0
"""Beyond so many standard deviations a normal variable under a limit is as good as at it."""


class Limit(NamedTuple):
    """A limit in the units of the table; numbers lie below it (`side` 1) or above it (-1)."""

    value: float
    side: float


class Normal(NamedTuple):
    """Means and covariances of columns in a context, and the rows of it."""

    rows: Ints
    mean: Floats
    covariance: Floats


def limits_of(data: ScoreData, coarse: Sequence[FewValues]) -> dict[int, Limit]:
    """The limits by position: values that stand out at an end of a column's range; none if all rows are not at hand."""
    found = {place: Limit(float(few.values[few.spike]), 1.0 if few.spike == 0 else -1.0)
             for few in coarse if few.at_limit for place in few.columns}  # fmt: skip
    return found if len(found) <= MOST_DRAWN and data.weight == 1.0 else {}


def drawn_columns(data: ScoreData, limits: Mapping[int, Limit], seed: int) -> tuple[dict[int, Floats], float]:
    """Columns by position whose cells at a limit are drawn, in units of the table, and what draws add to the score.

    That is minus their log density given everything else; causes without a mechanism have one given each other instead,
    which is added. In standard units. Rows are taken in an order that depends on what they hold alone.
    """
    used = np.flatnonzero(data.is_system)
    values = np.where(data.kind[used, None] == CLASS, data.codes[used], data.values[used]).T
    order = np.lexsort(values.T)
    x, cells = values[order], data.cells[order]
    beyond, sides = np.zeros(x.shape, dtype=bool), np.ones(len(used))
    for column, j in enumerate(used.tolist()):
        own = limits.get(int(data.position[j]))
        if own is not None:
            beyond[:, column] = np.isclose(x[:, column], (own.value - data.centre[j]) / data.scale[j], 0.0, 1e-9)
            sides[column] = own.side
    random = np.random.default_rng([seed % 2**32, len(x)])
    x, normals = _drawn(x * sides, beyond, cells, random)
    ends = np.where(beyond, values[order] * sides, np.inf)
    added = -log_density_beyond(x, beyond, ends, normals, random)
    given = used >= data.nodes
    if beyond[:, given].any():
        some = [Normal(rows, mean[given], covariance[np.ix_(given, given)]) for rows, mean, covariance in normals]
        added += log_density_beyond(x[:, given], beyond[:, given], ends[:, given], some, random)
    written = np.flatnonzero(complete_rows(data.table))
    written = written[np.argsort(data.table.codes[written], kind="stable")][order]
    found = {}
    for column in np.flatnonzero(beyond.any(axis=0)).tolist():
        position = int(data.position[used[column]])
        found[position] = np.array(data.table.columns[position], dtype=np.float64)
        here, j = beyond[:, column], used[column]
        found[position][written[here]] = x[here, column] * sides[column] * data.scale[j] + data.centre[j]
    return found, added


def _drawn(x: Floats, beyond: Bools, cells: Ints, random: np.random.Generator) -> tuple[Floats, list[Normal]]:
    """Rows whose cells at limits are drawn below them, and the normal variables that they were drawn by."""
    ends, x = x, x.copy()
    x -= 0.5 * beyond * x.std(axis=0)
    some = np.arange(0, len(x), max(1, len(x) // ROWS_OF_MOMENTS))
    part = x[some]
    for _ in range(ROUNDS):
        _draw_once(part, beyond[some], ends[some], _normals(part, cells[some], cells[some]), random)
    x[some], normals = part, _normals(part, cells[some], cells)
    for _ in range(SWEEPS):
        _draw_once(x, beyond, ends, normals, random)
    return x, normals


def _normals(x: Floats, cells: Ints, where: Ints) -> list[Normal]:
    """Moments by context, those of small ones with a share of the covariances within contexts."""
    parts = [x[cells == cell] for cell in np.unique(cells)]
    scatters = [(part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in parts]
    within, prior = sum(scatters) / len(x), 2 * x.shape[1]
    within = within + np.diag(1e-9 + 1e-9 * np.diagonal(within))
    return [Normal(np.flatnonzero(where == cell), part.mean(axis=0), (own + prior * within) / (len(part) + prior))
            for cell, part, own in zip(np.unique(cells), parts, scatters, strict=True)]  # fmt: skip


def _draw_once(x: Floats, beyond: Bools, ends: Floats, normals: Sequence[Normal], random: np.random.Generator) -> None:
    """Draw every cell at a limit once, given all others of its row (Gibbs), in place."""
    for own, mean, covariance in normals:
        precision = np.linalg.inv(covariance)
        for j in np.flatnonzero(beyond[own].any(axis=0)).tolist():
            rows = own[beyond[own, j]]
            spread = precision[j, j] ** -0.5
            expected = x[rows, j] - (x[rows] - mean) @ precision[j] * spread**2
            x[rows, j] = expected + spread * below((ends[rows, j] - expected) / spread, random.random(len(rows)))


def below(end: Floats, uniform: Floats) -> Floats:
    """Standard normal variables below an end, by uniform ones.

    Examples
    --------
    >>> below(np.array([0.0, 0.0, -40.0]), np.array([0.5, 1.0, 0.5])).round(2).tolist()
    [-0.67, 0.0, -40.02]
    """
    z = scipy.special.ndtri(np.clip(uniform * scipy.special.ndtr(end), 1e-300, 1.0))
    return np.where(end < FARTHEST, end + 1.0 / np.minimum(end, FARTHEST), z)


def log_density_beyond(x: Floats, beyond: Bools, ends: Floats, normals: Sequence[Normal],
                       random: np.random.Generator) -> float:  # fmt: skip
    """The log density of cells below their ends, given the other cells of their rows."""
    total, count = 0.0, beyond.sum(axis=1)
    for rows, mean, covariance in normals:
        precision = np.linalg.inv(covariance)
        pulls = (x[rows] - mean) @ precision
        for k in np.unique(count[rows])[np.unique(count[rows]) > 0].tolist():
            same = np.flatnonzero(count[rows] == k)
            for some in (same[start : start + ROWS_AT_A_TIME] for start in range(0, len(same), ROWS_AT_A_TIME)):
                cell = np.nonzero(beyond[rows[some]])[1].reshape(len(some), k)
                inner, pull = precision[cell[:, :, None], cell[:, None, :]], np.take_along_axis(pulls[some], cell, 1)
                spread = np.linalg.inv(inner)
                away = np.einsum("rij,rj->ri", spread, pull)
                own = rows[some][:, None]
                room = ends[own, cell] - x[own, cell] + away
                size = np.linalg.slogdet(inner)[1] - k * np.log(2.0 * np.pi)
                total += float(0.5 * (size - (pull * away).sum(axis=1)).sum())
                total -= float(log_probability_below(room, spread, random).sum())
    return total


def log_probability_below(ends: Floats, covariance: Floats, random: np.random.Generator) -> Floats:
    """The log probability that normal variables of mean 0 all lie below their ends, row by row.

    `ends` has shape (rows, k), `covariance` (rows, k, k). By draws one after the other, each given those before it
    (Geweke, Hajivassiliou and Keane); exact if k = 1.
    """
    factor = np.linalg.cholesky(covariance)
    n, k = ends.shape
    draws = DRAWS if k > 1 else 1
    z, weight = np.zeros((n, draws, k)), np.zeros((n, draws))
    for j in range(k):
        mean = np.einsum("rdi,ri->rd", z[:, :, :j], factor[:, j, :j])
        end = (ends[:, None, j] - mean) / factor[:, None, j, j]
        weight += scipy.special.log_ndtr(end)
        if j + 1 < k:
            z[:, :, j] = below(end, random.random((n, draws)))
    return np.asarray(scipy.special.logsumexp(weight, axis=1) - np.log(draws))


def tobit_score(model: FittedModel, raw: ScoreData, limits: Mapping[int, Limit]) -> float:
    """The score of all mechanisms of numbers at limits, of written causes, at the parents that they have in a model.

    `raw` has the columns as they are, in whose units the score is.
    """
    design, data = model.design, model.design.data
    number, total = {int(position): j for j, position in enumerate(raw.position)}, 0.0
    for node, part in model.regressions():
        own, limit = number[int(data.position[node])], limits.get(int(data.position[node]))
        if limit is None:
            continue
        rows = raw.selected(part.mask)
        groups, columns = design.groups(part.block)[raw.cells[rows]], []
        for column in part.columns.tolist():
            function = design.functions[int(design.about(part.block)[SOURCE, column])]
            owner, partner = (number[int(data.position[j])] if j >= 0 else j
                              for j in (function.owner, function.partner))  # fmt: skip
            lives = np.isin(raw.cells[rows], members(design.lives(part.block, column), raw.contexts))
            values = evaluated(raw.values[:, rows], raw.codes[:, rows], function._replace(owner=owner, partner=partner))
            columns.append(values * lives)
        matrix = np.stack([*(groups == np.unique(groups)[:, None]).astype(np.float64), *columns])
        end = (limit.value - raw.centre[own]) / raw.scale[own]
        y = raw.values[own, rows]
        fit = tobit(matrix, limit.side * y, np.isclose(y, end, 0.0, 1e-9))
        total += fit - design.price(float(rows.sum())) * (len(matrix) + 1)
    return total


def tobit(design: Floats, response: Floats, censored: Bools) -> float:
    """The largest log likelihood of a normal response, some of whose values lie at or below what is written.

    By expectation and maximisation; `design` has shape (columns, rows).
    """
    inverse, z = np.linalg.pinv(design), response.copy()
    end, spread = response[censored], max(float(response.std()), 1e-9)
    slopes = z @ inverse
    for _ in range(STEPS):
        expected = slopes @ design[:, censored]
        away = (end - expected) / spread
        ratio = np.exp(-0.5 * away**2 - scipy.special.log_ndtr(away)) / np.sqrt(2.0 * np.pi)
        z[censored] = expected - spread * ratio
        slopes = z @ inverse
        left = np.sum((z - slopes @ design) ** 2) + spread**2 * np.sum(np.maximum(1.0 - away * ratio - ratio**2, 0.0))
        before, spread = spread, max(float(np.sqrt(left / len(z))), 1e-9)
        if abs(spread - before) < SETTLED * spread:
            break
    standard = (response - slopes @ design) / spread
    inside = -0.5 * standard[~censored] ** 2 - np.log(spread) - 0.5 * np.log(2.0 * np.pi)
    return float(inside.sum() + scipy.special.log_ndtr(standard[censored]).sum())
