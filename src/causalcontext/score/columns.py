"""The columns that variables offer to their effects: themselves, curves, steps, levels, products; and their moments.

A number x in standard units offers x and, where curves are allowed, its square, squared hinges at its quintiles and
steps at five quantiles, each without what the columns before it explain: greedy choices among columns that say nearly
the same are poor. Knots are taken over all rows, so a column is the same function in every context. A category offers
an indicator of every level, an ordered variable its normal scores and, as curves, a step between every two levels.
Further columns are proposed by the data (`proposals`): steps at a place of their own, and products of two variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.kinds import Kind
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.orders.node_data import CLASS, ORDERED
from causalcontext.kernels.rows.scan import add_cross_products, mirror
from causalcontext.score.setup import Setup, SortedRows

LINEAR, SQUARE, HINGE, STEP, LEVEL, OWN_STEP, PRODUCT, ROOT = range(8)
"""Kinds of columns; roots of small counts are explained, but explain nothing."""
HINGES = (0.2, 0.4, 0.6, 0.8)
STEPS = (0.2, 0.35, 0.5, 0.65, 0.8)
CURVES = 1 + len(HINGES) + len(STEPS)
ROOT_SHIFT = 0.375
"""Anscombe's: with it the root of a Poisson variable has nearly the same variance at every mean."""
SAME_COLUMN = 1e-6
"""A column of which the earlier ones of its variable leave less than this share is left out."""


class Offer(NamedTuple):
    """A function: of one variable (`partner` -1), or a product of two; `place` is a knot or a level of the owner."""

    owner: int
    partner: int
    kind: int
    place: float


@dataclass(frozen=True, eq=False)
class DesignColumns:
    """Q columns of p variables, each with mean 0 and variance 1 over all rows; then proposed ones, then roots.

    Attributes
    ----------
    offers : tuple of Offer
    mean : array, shape (Q,)
        Means of the functions.
    mix : array, shape (Q, Q)
        Columns are `mix @ (functions - mean)`.
    first : array of int, shape (p + 2,)
        The columns of variable j are `first[j]` to `first[j + 1] - 1`; `first[p]` to `first[p + 1] - 1` are proposed.
    values : array, shape (Q, rows)
        The columns on the rows of the setup.
    means, scatter : arrays, shape (K, Q) and (K, Q, Q)
        Moments by context, over all rows of the table.
    """

    offers: tuple[Offer, ...]
    mean: Floats
    mix: Floats
    first: Ints
    values: Floats
    means: Floats
    scatter: Floats

    @property
    def size(self) -> int:
        """Q."""
        return len(self.offers)

    @property
    def owner(self) -> Ints:
        """The variable of every column."""
        return np.array([offer.owner for offer in self.offers], dtype=np.int64)

    @property
    def curved(self) -> NDArray[np.bool_]:
        """Which columns are more than the variable itself."""
        return np.array([offer.kind not in (LINEAR, LEVEL, ROOT) for offer in self.offers], dtype=bool)

    @property
    def response(self) -> Ints:
        """The column of every variable that is explained: of numbers themselves, of small counts the root."""
        found = self.first[:-2].copy()
        for place in range(int(self.first[-1]), self.size):
            found[self.offers[place].owner] = place
        return found

    def surcharge(self, rows: float) -> Floats:
        """The price of a curve beside its parameter: the choice among so many."""
        products = max(sum(offer.kind == PRODUCT for offer in self.offers), self.variables * (self.variables - 1) // 2)
        price = {LINEAR: 0.0, LEVEL: 0.0, OWN_STEP: log(rows), PRODUCT: log(max(products, CURVES))}
        return np.array([price.get(offer.kind, log(CURVES)) for offer in self.offers])

    @property
    def variables(self) -> int:
        """The variables p."""
        return len(self.first) - 2


def make_columns(setup: Setup, curves: bool, proposed: Sequence[Offer] = ()) -> DesignColumns:
    """The columns of a table, with curves or without."""
    own = _offers(setup, curves)
    everything = tuple(offer for part in own for offer in part) + tuple(proposed) + tuple(_roots(setup))
    raw = functions(setup.rows, everything)
    mean = raw.mean(axis=1)
    raw -= mean[:, None]
    kept: list[int] = []
    mixes, endpoints, start = [], [0], 0
    for part in own:
        gram = _cross_products(raw[start : start + len(part)])
        here = _distinct(gram) if len(part) > 1 and part[0].kind != LEVEL else list(range(len(part)))
        mixes.append(_apart(gram[np.ix_(here, here)] / raw.shape[1], part[0].kind == LEVEL))
        kept += [start + place for place in here]
        endpoints.append(len(kept))
        start += len(part)
    kept += range(start, len(everything))
    offers = tuple(everything[place] for place in kept)
    first = np.array([*endpoints, endpoints[-1] + len(proposed)], dtype=np.int64)
    mix = np.diag(1.0 / np.maximum(np.sqrt(np.mean(raw[kept] ** 2, axis=1)), 1e-300))
    for variable, own_mix in enumerate(mixes):
        part_of = slice(endpoints[variable], endpoints[variable + 1])
        mix[part_of, part_of] = own_mix
    values = _mixed(mix, first, raw[kept])
    means, scatter = _moments(setup, offers, mean[kept], mix, first, values)
    return DesignColumns(offers, mean[kept], mix, first, values, means, scatter)


def functions(rows: SortedRows, offers: Sequence[Offer]) -> Floats:
    """The functions on some rows, shape (Q, rows)."""
    out = np.empty((len(offers), rows.values.shape[1]))
    for place, offer in enumerate(offers):
        out[place] = one_function(rows.values, rows.codes, offer)
    return out


def one_function(values: Floats, codes: NDArray[np.generic], offer: Offer) -> Floats:
    """One function; `values` are in standard units, shape (p, rows)."""
    x = values[offer.owner]
    if offer.kind == LINEAR:
        return np.asarray(x)
    if offer.kind == ROOT:
        return np.asarray(np.sqrt(np.maximum(x + offer.place, 0.0)))
    if offer.kind == SQUARE:
        return np.asarray(x * x)
    if offer.kind == HINGE:
        return np.asarray(np.maximum(x - offer.place, 0.0) ** 2)
    if offer.kind in (STEP, OWN_STEP):
        return np.asarray(x > offer.place, dtype=np.float64)
    if offer.kind == LEVEL:
        return np.asarray(codes[offer.owner] == offer.place, dtype=np.float64)
    one = x if offer.place < 0 else np.asarray(codes[offer.owner] == offer.place, dtype=np.float64)
    return np.asarray(one * values[offer.partner])


def _roots(setup: Setup) -> list[Offer]:
    """The roots of small counts, whose noise grows with their mean: that of their root hardly does."""
    return [Offer(j, -1, ROOT, (setup.centre[j] + ROOT_SHIFT) / setup.scale[j]) for j in small_counts(setup)]


def small_counts(setup: Setup) -> list[int]:
    """Counts with few values."""
    lowest = setup.rows.values.min(axis=1, initial=0.0) * setup.scale + setup.centre
    return [j for j in range(setup.variables) if setup.gap[j] > 0.0 and lowest[j] > -0.5
            and setup.data.kinds[setup.position[j]] is Kind.COUNT]  # fmt: skip


def _offers(setup: Setup, curves: bool) -> list[list[Offer]]:
    """The columns of every variable."""
    values, everything = setup.rows.values, []
    places = np.quantile(values, HINGES + STEPS, axis=1).T if curves and values.size else np.empty((len(values), 0))
    for j in range(setup.variables):
        if setup.kind[j] == CLASS:
            levels = int(setup.classes[j])
            everything.append([Offer(j, -1, LEVEL, float(level)) for level in range(levels if levels > 2 else 1)])
            continue
        offers = [Offer(j, -1, LINEAR, 0.0)]
        if curves and setup.kind[j] == ORDERED:
            seen = np.unique(values[j])
            offers += [Offer(j, -1, STEP, at) for at in (0.5 * (seen[1:] + seen[:-1])).tolist()]
        elif curves:
            knots, steps = places[j, : len(HINGES)].tolist(), places[j, len(HINGES) :].tolist()
            offers += [Offer(j, -1, SQUARE, 0.0), *(Offer(j, -1, HINGE, at) for at in knots),
                       *(Offer(j, -1, STEP, at) for at in steps)]  # fmt: skip
        everything.append(offers)
    return everything


def _distinct(gram: Floats) -> list[int]:
    """The rows of a matrix of cross products that are no linear function of earlier ones."""
    left, size, kept = gram.copy(), np.diagonal(gram).copy(), []
    for place in range(len(gram)):
        pivot = left[place, place]
        if pivot > SAME_COLUMN * size[place] and size[place] > 0.0:
            kept.append(place)
            left -= np.outer(left[:, place], left[place]) / pivot
    return kept or [0]


def _apart(gram: Floats, levels: bool) -> Floats:
    """What makes columns of one variable: scaled, and, but for levels, each without what the ones before explain."""
    scale = np.sqrt(np.maximum(np.diagonal(gram), 1e-300))
    if levels or len(scale) == 1:
        return np.diag(1.0 / scale)
    correlation = gram / scale[:, None] / scale
    factor = np.linalg.cholesky(correlation + 1e-13 * np.eye(len(scale)))
    return np.asarray(np.linalg.inv(factor) / scale)


def _cross_products(rows: Floats) -> Floats:
    """Products of all pairs of rows, without the threads of a BLAS."""
    total = np.zeros((1, len(rows), len(rows)))
    add_cross_products(rows, 0, rows.shape[1], total[0])
    mirror(total)
    return np.asarray(total[0])


def _mixed(mix: Floats, first: Ints, centred: Floats) -> Floats:
    """`mix @ centred`, variable by variable."""
    out = np.empty_like(centred)
    for start, end in pairwise(first[:-1]):
        out[start:end] = mix[start:end, start:end] @ centred[start:end]
    rest = slice(first[-2], len(mix))
    out[rest] = np.diagonal(mix)[rest, None] * centred[rest]
    return out


def _moments(setup: Setup, offers: Sequence[Offer], mean: Floats, mix: Floats, first: Ints,
             values: Floats) -> tuple[Floats, Floats]:  # fmt: skip
    """Means and centred cross products by context, over all rows."""
    k, q = setup.contexts, len(offers)
    count, means, scatter = np.zeros(k), np.zeros((k, q)), np.zeros((k, q, q))
    for rows in setup.all_rows():
        if rows is not setup.rows:
            values = _mixed(mix, first, functions(rows, offers) - mean[:, None])
        for r in range(k):
            part = values[:, rows.starts[r] : rows.starts[r + 1]]
            size = part.shape[1]
            if size == 0:
                continue
            own = part.mean(axis=1)
            centred = np.ascontiguousarray(part - own[:, None])
            away = own - means[r]
            scatter[r] += _cross_products(centred) + np.outer(away, away) * (count[r] * size / (count[r] + size))
            means[r] += away * size / (count[r] + size)
            count[r] += size
    return means, scatter
