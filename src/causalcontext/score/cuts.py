"""Where does a column cut mechanisms in two, and is that a cut at all, or a smooth change?

Every mechanism that may change with x is a regression of its response on candidate causes. Three
models of it are compared, columns chosen one at a time at their price:

- without a change: lines and curves of the other causes, a line of x;
- smooth: also smooth functions s(x), and products z s(x) of causes with them;
- cut at c: what is there without a change and smooth functions s(x), and columns that hold on one
  side alone: 1(x > c), x 1(x > c) and z 1(x > c).

Any curve looks like a cut to straight lines, so a cut must be better than the smooth model (rule
D): the gain of a cut over it, summed over mechanisms, less log n for its place, has to exceed 0.75
log n.

Rows are sorted by x once. Sums over the rows above a cut are then differences of running totals, so
a cut costs nothing in n, and all cuts of a grid are searched at once by the same sweeps
(`_chosen_columns`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import log
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.data.dataset import gaussian_ranks
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.score.columns import HINGES, STEPS

DEMAND = 0.75
"""A cut must be better than a smooth change by so many times the logarithm of the rows, the price
of its place paid.
"""
NARROWEST = 0.6
AT = 600.0
CENTRES = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9)
WAVES = 6
FARTHEST = 2.4
"""Smooth changes of x: widths in standard deviations, places as shares of the rows, and waves
between these ranks.
"""
INTERVAL = 7.35
"""Twice the fall of the log likelihood inside which the place of a cut lies in 95 % of samples
(Hansen 1997).
"""
OUTERMOST = 0.1
"""The share of the rows on either side of every cut that is tried."""
GRID = 64
MOST_PLACES = 1500
"""Places at which the likelihood is looked at after the grid."""
FEWEST_ABOVE = 12
"""Rows on either side of a cut."""
COARSER = 4
LEAST_GAIN = 1.0
"""Mechanisms to which no cut of a grid that is so many times coarser gives so many nats are not
looked at further.
"""
MOST_STEPS = 60
LEAST_LEFT = 1e-6
"""A column of which those before it leave less than this share is not chosen."""


class CutResponse(NamedTuple):
    """A mechanism that may change with x: its response, x, and what else may cause it."""

    name: str
    # `y`, `x`: shape (n,): in standard units
    y: Floats
    x: Floats
    # shape (q, n): other causes, in standard units; indicators of the levels of a category
    lines: Floats
    curved: Bools  # shape (q,): which of them may act along a curve: numbers
    given: (
        Floats  # shape (m, n): columns that are offered in every model: what other contexts change
    )
    groups: (
        Floats  # shape (g, n): in place of x, which is 0: indicators of the levels of a category
    )


@dataclass(frozen=True, eq=False)
class CutProfile:
    """Scores over the places of a cut."""

    places: Floats  # shape (C,): the cuts that were tried, ascending, in the units of x
    scores: Floats  # shape (C,): the log score with a cut there, relative to that without a change
    plain: float  # the log score without a change
    smooth: float  # that of the best smooth change, relative to it
    value: float  # the best place
    # `low`, `high`: where the place lies in 95 % of samples, if there is a cut
    low: float
    high: float
    gain: float  # D: how much better the cut is than the smooth change
    rows: int
    responses: tuple[str, ...]  # the responses whose mechanism the cut changes
    gains: tuple[float, ...]  # what each of them adds to D

    @property
    def demand(self) -> float:
        """What the gain has to exceed."""
        return DEMAND * log(self.rows)

    @property
    def verdict(self) -> str:
        """True if there is a cut."""
        if self.gain > self.demand:
            return "cut"
        return "smooth change" if self.smooth > self.demand and self.gain <= 0.0 else "undecided"


def cut_profile(responses: Sequence[Sequence[CutResponse]], values: Floats) -> CutProfile:
    """The scores of all cuts, the best one with its interval, and the gain over a smooth change.

    `responses` has the copies of every response: with several of x (lags), a mechanism changes with
    the one that fits best. `values` are those of x, in the units of `CutResponse.x`.
    """
    rows = len(responses[0][0].y)
    places = grid_of(values)
    plain = np.zeros(len(responses))
    smooth = np.zeros(len(responses))
    cut = np.full((len(responses), len(places)), -np.inf)
    copy = np.zeros(len(responses), dtype=np.int64)
    chosen: list[list[tuple[CutColumns, Bools]]] = []
    for number, copies in enumerate(responses):
        plains, smooths, scored, *own = zip(
            *(_compared(one, places) for one in copies), strict=True
        )
        plain[number] = max(plains)
        smooth[number] = max(plain[number], *smooths)
        cut[number] = np.max(scored, axis=0)
        copy[number] = int(np.argmax(np.max(scored, axis=1)))
        chosen.append(list(zip(*own, strict=True)))
    better = np.maximum(cut, smooth[:, None])
    total = better.sum(axis=0) if (cut > smooth[:, None] + 1e-9).any() else cut.sum(axis=0)
    best = int(np.argmax(total))
    gains = better[:, best] - smooth
    price = log(rows)
    ways = (
        gains > price,
        gains >= max(gains.max(), 1e-9),
        smooth - plain > price,
        cut[:, best] > plain,
    )
    changed: list[int] = next((np.flatnonzero(way).tolist() for way in ways if way.any()), [])
    fits = [
        _Fixed(responses[i][copy[i]], chosen[i][copy[i]][0], chosen[i][copy[i]][1][best])
        for i in changed
    ]
    value, low, high, rise = _refined([fit for fit in fits if fit.own.any()], values, places, best)
    scores = cut.sum(axis=0) - plain.sum()
    if value != places[best]:  # the best place is one of the profile
        at = int(np.searchsorted(places, value))
        places = np.insert(places, at, value)
        scores = np.insert(scores, at, scores[best] + rise)
    return CutProfile(
        places,
        scores,
        float(plain.sum()),
        float((smooth - plain).sum()),
        value,
        low,
        high,
        float(gains.sum() + rise - price),
        rows,
        tuple(responses[i][0].name for i in changed),
        tuple(gains[changed].tolist()),
    )


def group_gains(responses: Sequence[Sequence[CutResponse]]) -> Floats:
    """What other slopes in the groups of a category gain for every response, beside products of any
    two causes.
    """
    found = [
        max(
            _best(columns_of(one, "groups"))[0] - _best(columns_of(one, "pairs"))[0]
            for one in copies
        )
        for copies in responses
    ]
    return np.asarray(np.maximum(np.array(found), 0.0))


def beside(one: CutResponse, groups: Sequence[Floats]) -> CutResponse:
    """The same response, to which levels and slopes of its own in some rows are offered in every
    model.
    """
    own = [
        group * column for group in groups for column in (np.ones_like(one.y), one.x, *one.lines)
    ]
    return one._replace(
        given=np.concatenate([one.given, np.array(own).reshape(len(own), len(one.y))])
    )


def grid_of(values: Floats) -> Floats:
    """The cuts to try: halfway between neighbouring values, at quantiles."""
    ordered, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts)[:-1]
    least = max(FEWEST_ABOVE, int(OUTERMOST * len(values)))
    usable = np.flatnonzero((below >= least) & (below <= len(values) - least))
    if not usable.size:
        return np.empty(0)
    spread = np.unique(
        np.round(np.linspace(0, usable.size - 1, min(GRID, usable.size))).astype(int)
    )
    if usable.size > GRID:  # equal shares of rows, not of distinct values
        wanted = np.linspace(below[usable[0]], below[usable[-1]], GRID)
        spread = np.unique(np.minimum(np.searchsorted(below[usable], wanted), usable.size - 1))
    here = usable[spread]
    return np.asarray(0.5 * (ordered[here] + ordered[here + 1]))


class CutColumns(NamedTuple):
    """The columns that are offered to a response: the same at all cuts, and those that hold above a
    cut.
    """

    fixed: Floats  # shape (p, n), centred, of unit variance
    above: Floats  # shape (k, n), to be set to zero below the cut
    y: Floats


def columns_of(one: CutResponse, model: str, curves: Floats | None = None) -> CutColumns:
    """The columns of a response in a model, with all curves of its other causes, or with some.

    "plain", "curves", "smooth" (curves, waves and changes) and "cut"; for a category "pairs" and
    "groups".
    """
    powers = np.concatenate([one.lines, one.lines[one.curved] ** 2])
    bent = curves_of(one) if curves is None else curves
    own = [*bent, *one.given, *one.groups, one.x, *one.lines]
    above: list[Floats] = []
    if model in ("curves", "smooth"):  # one at a time, few columns may find a curve that many miss
        bends = _curves(one.x, steps=False) if model == "curves" else smooth_functions(one.x)
        own += [*bends, *(z * s for z in powers for s in (one.x, *bends))]
    elif model == "cut":
        own += smooth_functions(one.x)
        above = [np.ones_like(one.x), one.x, *powers]
    elif model == "groups":
        own += [group * z for group in one.groups for z in powers]
    elif model == "pairs":
        own += [first * second for first, second in combinations(one.lines[one.curved], 2)]
    fixed = np.array(own)
    fixed -= fixed.mean(axis=1, keepdims=True)
    fixed /= np.maximum(np.sqrt(np.einsum("ij,ij->i", fixed, fixed) / len(one.y)), 1e-12)[:, None]
    return CutColumns(fixed, np.array(above).reshape(len(above), len(one.y)), one.y - one.y.mean())


def curves_of(one: CutResponse) -> Floats:
    """The curves and steps of the other causes, shape (m, n)."""
    found = [curve for z in one.lines[one.curved] for curve in _curves(z, steps=True)]
    return np.array(found).reshape(len(found), len(one.y))


def _curves(x: Floats, steps: bool) -> list[Floats]:
    """A square and squared hinges of a number, and steps."""
    knots = np.quantile(x, HINGES)
    found = [x * x, *(np.maximum(x - knot, 0.0) ** 2 for knot in knots)]
    return found + (
        [np.asarray(x > place, dtype=np.float64) for place in np.quantile(x, STEPS)]
        if steps
        else []
    )


def smooth_functions(x: Floats) -> list[Floats]:
    """Curves, waves and smooth changes from one level to another, all of x.

    With n rows a change narrower than `NARROWEST` times a root of `AT / n` can hardly be told from
    a cut.
    """
    ranks = gaussian_ranks(x)
    narrow = NARROWEST * float(np.sqrt(AT / len(x)))
    angle = np.pi * (np.clip(ranks, -FARTHEST, FARTHEST) / (2.0 * FARTHEST) + 0.5)
    waves = [wave(k * angle) for k in range(1, WAVES + 1) for wave in (np.sin, np.cos)]
    changes = [
        np.tanh((ranks - scipy.special.ndtri(share)) / width)
        for share in CENTRES
        for width in (narrow, narrow**0.5, 1.0)
    ]
    return [*_curves(x, steps=False), x**3, ranks, *changes, *waves]


def _best(columns: CutColumns) -> tuple[float, Bools]:
    """The score of the columns that are worth their price, and which these are."""
    every = np.concatenate([columns.fixed, columns.y[None]])
    scores, picked = _chosen_columns((every @ every.T)[None], len(columns.y))
    return float(scores[0]), picked[0]


def _compared(one: CutResponse, places: Floats) -> tuple[float, float, Floats, CutColumns, Bools]:
    """The scores of a response without a change, with a smooth one and with every cut; its columns
    at every cut.

    With no gain on a coarse grid of cuts there is nothing to look at more closely. Curves of other
    causes are those that the model without a change has chosen.
    """
    curves = curves_of(one)
    plain, picked = _best(columns_of(one, "plain", curves))
    columns = columns_of(one, "cut", curves[picked[: len(curves)]])
    order = np.argsort(one.x, kind="stable")
    first = np.searchsorted(one.x[order], places, side="right")
    few = np.unique(np.r_[0 : len(places) : COARSER, len(places) - 1])
    scores, picked = _chosen_columns(products_at(columns, order, first[few]), len(one.y))
    if scores.max() < plain + LEAST_GAIN:
        place = np.searchsorted(few, np.arange(len(places)))
        return plain, plain, scores[place], columns, picked[place]
    scores, picked = _chosen_columns(products_at(columns, order, first), len(one.y))
    smooth = max(_best(columns_of(one, model))[0] for model in ("curves", "smooth"))
    return plain, smooth, scores, columns, picked


def products_at(columns: CutColumns, order: Ints, first: Ints) -> Floats:
    """Centred cross products of columns and response, for cuts before sorted rows, shape (C, p + k
    + 1, p + k + 1).
    """
    fixed = columns.fixed[:, order]
    above = columns.above[:, order]
    n = len(order)
    p = len(fixed)
    k = len(above)
    still = np.concatenate([fixed, columns.y[None, order]])
    # sums of products over the sorted rows from `first` on, shape (C, k, 1 + p + 1 + k): running
    # totals of parts
    every = np.concatenate([np.ones((1, n)), still, above])
    parts = np.array([above[:, a:b] @ every[:, a:b].T for a, b in pairwise([*first.tolist(), n])])
    sums = np.cumsum(parts[::-1], axis=0)[::-1]
    out = np.empty((len(first), p + k + 1, p + k + 1))
    gram = still @ still.T
    places = np.concatenate([np.arange(p), [p + k]])
    out[:, places[:, None], places] = gram
    # the others are centred: nothing to take away
    out[:, p : p + k, places] = sums[:, :, 1 : p + 2]
    out[:, places, p : p + k] = np.swapaxes(sums[:, :, 1 : p + 2], 1, 2)
    totals = sums[:, :, 0]
    out[:, p : p + k, p : p + k] = sums[:, :, p + 2 :] - totals[:, :, None] * totals[:, None, :] / n
    return out


def _chosen_columns(products: Floats, rows: int) -> tuple[Floats, Bools]:
    """Columns of many regressions at once, added and dropped one at a time while that pays; the
    scores.

    `products` are cross products with the response last, shape (C, p + 1, p + 1); a sweep on a
    column takes it into the regression, or out of it. A score is the Gaussian log likelihood less
    log n for every column.
    """
    a = products.copy()
    price = log(rows)
    half = 0.5 * rows
    count = len(a)
    last = a.shape[1] - 1
    picked = np.zeros((count, last), dtype=bool)
    size = np.einsum("cii->ci", a)[:, :last].copy()
    score = -half * np.log(np.maximum(a[:, last, last], 1e-300))
    active = np.arange(count)
    for _ in range(MOST_STEPS):
        diagonal = np.einsum("cii->ci", a)[active, :last]
        moved = a[active, :last, last] ** 2
        inside = picked[active]
        left = a[active, last, last][:, None]
        usable = inside | (diagonal > LEAST_LEFT * size[active])
        share = np.where(usable, moved / np.where(usable, np.abs(diagonal), 1.0), 0.0) / np.maximum(
            left, 1e-300
        )
        gain = np.where(
            inside,
            price - half * np.log1p(share),
            -half * np.log1p(-np.minimum(share, 1.0 - 1e-12)) - price,
        )
        gain[~usable] = -np.inf
        column = np.argmax(gain, axis=1) if last else np.zeros(len(active), dtype=np.int64)
        best = gain[np.arange(len(active)), column] if last else np.full(len(active), -np.inf)
        on = best > 1e-9
        active = active[on]
        column = column[on]
        best = best[on]
        if not active.size:
            break
        _sweep(a, active, column, np.where(picked[active, column], -1.0, 1.0))
        picked[active, column] ^= True
        score[active] += best
    return score, picked


def _sweep(a: Floats, cases: Ints, column: Ints, sign: Floats) -> None:
    """Take a column into the regression of some cases (sign 1), or out of it (sign -1)."""
    part = a[cases]
    here = np.arange(len(cases))
    pivot = part[here, column, column]
    row = part[here, column]
    part -= row[:, :, None] * (row / pivot[:, None])[:, None, :]
    scaled = sign[:, None] * row / pivot[:, None]
    part[here, column] = scaled
    part[here, :, column] = scaled
    part[here, column, column] = -1.0 / pivot
    a[cases] = part


class _Fixed:
    """A response with the columns of its best cut: the likelihood at any other place."""

    def __init__(self, one: CutResponse, columns: CutColumns, picked: Bools) -> None:
        p = len(columns.fixed)
        self.own = picked[p:]
        self.columns = CutColumns(columns.fixed[picked[:p]], columns.above[self.own], columns.y)
        self.order = np.argsort(one.x, kind="stable")
        self.sorted = one.x[self.order]

    def likelihood(self, places: Floats) -> Floats:
        """The Gaussian log likelihood with a cut at every place."""
        first = np.searchsorted(self.sorted, places, side="right")
        products = products_at(self.columns, self.order, first)
        size = products.shape[1] - 1
        n = len(self.sorted)
        gram = products[:, :size, :size] + 1e-9 * n * np.eye(size)
        slopes = np.linalg.solve(gram, products[:, :size, size:])[:, :, 0]
        left = products[:, size, size] - np.einsum("ci,ci->c", slopes, products[:, :size, size])
        return np.asarray(-0.5 * n * np.log(np.maximum(left, 1e-300)))


def _refined(
    fits: Sequence[_Fixed], values: Floats, places: Floats, best: int
) -> tuple[float, float, float, float]:
    """The best place between its neighbours on the grid, its interval, and what it gains over that
    on the grid.
    """
    if not fits:
        return float(places[best]), float(places[0]), float(places[-1]), 0.0
    # halfway between neighbouring values: all of them around the best cut, many elsewhere; the grid
    # itself
    ordered = np.unique(values)
    before = places[max(best - 1, 0)]
    after = places[min(best + 1, len(places) - 1)]
    halfway = 0.5 * (ordered[1:] + ordered[:-1])
    halfway = halfway[(halfway >= places[0]) & (halfway <= places[-1])]
    near = halfway[(halfway >= before) & (halfway <= after)]
    some = (each[:: max(1, len(each) // MOST_PLACES)] for each in (near, halfway))
    fine = np.unique(np.concatenate([places, *some]))
    found = np.sum([fit.likelihood(fine) for fit in fits], axis=0)
    start = float(np.sum([fit.likelihood(places[best : best + 1]) for fit in fits]))
    between = np.flatnonzero((fine >= before) & (fine <= after))
    top = int(between[np.argmax(found[between])])
    inside = np.flatnonzero(2.0 * (found[top] - found) <= INTERVAL)
    low = max(int(inside[0]) - 1, 0)
    high = min(int(inside[-1]) + 1, len(fine) - 1)
    return (
        float(fine[top]),
        float(fine[low]),
        float(fine[high]),
        max(float(found[top]) - start, 0.0),
    )
