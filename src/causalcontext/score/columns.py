"""The columns that variables offer to their effects: themselves, curves, steps, levels, products;
and their moments.

A number x in standard units offers x and, where curves are allowed, its square, squared hinges at
its quintiles and steps at five quantiles, each without what the columns before it explain: greedy
choices among columns that say nearly the same are poor. Knots are taken over all rows, so a column
is the same function in every context. A category offers an indicator of every level, an ordered
variable its normal scores and, as curves, a step between every two levels, a hurdle itself and
whether there is a number. Further columns are proposed by the data (`curves`): steps at a place of
their own, products of two variables, and (`bends`) kinks and saturations, x held between two
places, and squared hinges on either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.orders.fit_arrays import CLASS, ORDERED
from causalcontext.kernels.rows.likelihoods import NO_NUMBER
from causalcontext.kernels.rows.scales import SHAPES
from causalcontext.kernels.rows.scan import add_cross_products, mirror
from causalcontext.results.settings import FARTHEST_SPREAD, OUTER_SPREAD
from causalcontext.score.data import ScoreData

LINEAR, SQUARE, HINGE, STEP, LEVEL, OWN_STEP, PRODUCT, CLIP, ROOT, LOWER_HINGE, PRESENT = range(11)
"""Kinds of columns; roots of small counts are explained, but explain nothing."""
HINGES = (0.2, 0.4, 0.6, 0.8)
STEPS = (0.2, 0.35, 0.5, 0.65, 0.8)
CURVES = 1 + len(HINGES) + len(STEPS)
ROOT_SHIFT = 0.375
"""Anscombe's: with it the root of a Poisson variable has nearly the same variance at every mean."""
ROWS_AT_A_TIME = 512
SAME_COLUMN = 1e-6
"""A column of which the earlier ones of its variable leave less than this share is left out."""


class BasisFunction(NamedTuple):
    """A function: of one variable (`partner` -1), or a product of two; `place` is a knot or a level
    of the owner.

    A clip holds x between `place` and `end`, one of which may be infinite; x of a hurdle is present
    outside of them. A product has a number of the owner (`place` -1) or a level, and a number of
    the partner (`end` -1) or a level.
    """

    owner: int
    partner: int
    kind: int
    place: float
    end: float = -1.0


def make_columns(
    data: ScoreData, curves: bool, proposed: Sequence[BasisFunction]
) -> tuple[tuple[BasisFunction, ...], Floats, Floats, Ints, Floats]:
    """The columns of a table, with curves or without: functions, means, mix, first, values of a
    `ScoreDesign`.
    """
    own = _own_functions(data, curves)
    # the noise of small counts grows with their mean, that of their root hardly does
    roots = (
        BasisFunction(j, -1, ROOT, (data.centre[j] + ROOT_SHIFT) / data.scale[j])
        for j in small_counts(data)
    )
    everything = (*(function for part in own for function in part), *proposed, *roots)
    raw = _evaluated(data.values, data.codes, everything)
    mean = raw.mean(axis=1)
    raw -= mean[:, None]
    kept: list[int] = []
    mixes = []
    ends = [0]
    start = 0
    for part in own:
        products = np.zeros((1, len(part), len(part)))
        # without the threads of a BLAS
        add_cross_products(raw[start : start + len(part)], products[0])
        mirror(products)
        gram = products[0]
        here = (
            _distinct(gram) if len(part) > 1 and part[0].kind != LEVEL else list(range(len(part)))
        )
        mixes.append(_apart(gram[np.ix_(here, here)] / raw.shape[1], part[0].kind == LEVEL))
        kept += [start + place for place in here]
        ends.append(len(kept))
        start += len(part)
    kept += range(start, len(everything))
    first = np.array([*ends, ends[-1] + len(proposed)], dtype=np.int64)
    square = np.einsum("ij,ij->i", raw, raw)[kept] / raw.shape[1]
    mix = np.diag(1.0 / np.maximum(np.sqrt(square), 1e-300))
    for variable, own_mix in enumerate(mixes):
        part_of = slice(ends[variable], ends[variable + 1])
        mix[part_of, part_of] = own_mix
    raw = raw if len(kept) == len(raw) else raw[kept]
    return (
        tuple(everything[place] for place in kept),
        mean[kept],
        mix,
        first,
        _mixed(mix, first, raw),
    )


def _evaluated(values: Floats, codes: Ints, functions: Sequence[BasisFunction]) -> Floats:
    """The functions on some rows, shape (Q, rows)."""
    out = np.empty((len(functions), values.shape[1]))
    for place, function in enumerate(functions):
        out[place] = evaluated(values, codes, function)
    return out


def evaluated(values: Floats, codes: Ints, function: BasisFunction) -> Floats:
    """One function; `values` are in standard units, shape (C, rows)."""
    owner, partner, kind, place, end = function
    x = values[owner]
    shapes = {
        LINEAR: lambda: x,
        ROOT: lambda: np.sqrt(np.maximum(x + place, 0.0)),
        SQUARE: lambda: x * x,
        HINGE: lambda: np.maximum(x - place, 0.0) ** 2,
        LOWER_HINGE: lambda: np.maximum(place - x, 0.0) ** 2,
        CLIP: lambda: np.clip(x, place, end),
        PRESENT: lambda: (x < place) | (x > end),
        STEP: lambda: x > place,
        OWN_STEP: lambda: x > place,
        LEVEL: lambda: codes[owner] == place,
        PRODUCT: lambda: (
            (x if place < 0 else codes[owner] == place)
            * (values[partner] if end < 0 else codes[partner] == end)
        ),
    }
    return np.asarray(shapes[kind](), dtype=np.float64)


def small_counts(data: ScoreData) -> list[int]:
    """Counts with few values."""
    lowest = data.values.min(axis=1, initial=0.0) * data.scale + data.centre
    return [
        j
        for j in range(data.candidates)
        if data.gap[j] > 0.0
        and lowest[j] > -0.5
        and data.table.kinds[data.position[j]] is Kind.COUNT
    ]


def robust_units(values: Floats) -> tuple[float, float]:
    """The median, and the median distance from it as a standard deviation of normal values."""
    centre = float(np.median(values))
    return centre, max(1.4826 * float(np.median(np.abs(values - centre))), 1e-3)


def scale_columns(data: ScoreData) -> Floats:
    """The columns that candidates offer to the scale of a noise, `SHAPES` each, shape (SHAPES C,
    rows).

    Of a number in robust units, not beyond 3 of them: itself, its size, its sign, and what it is
    above and below the middle half; of a category the indicators of its levels, as many as there is
    room for.
    """
    found = np.zeros((data.candidates, SHAPES, data.values.shape[1]))
    for j in range(data.candidates):
        if data.kind[j] == CLASS:
            levels = min(int(data.classes[j]) - 1, SHAPES)
            found[j, :levels] = data.codes[j] == np.arange(levels)[:, None]
            continue
        centre, unit = robust_units(data.values[j])
        z = np.clip((data.values[j] - centre) / unit, -FARTHEST_SPREAD, FARTHEST_SPREAD)
        found[j] = (
            z,
            np.abs(z),
            z > 0.0,
            np.maximum(z - OUTER_SPREAD, 0.0),
            np.maximum(-z - OUTER_SPREAD, 0.0),
        )
    return found.reshape(data.candidates * SHAPES, data.values.shape[1])


def _own_functions(data: ScoreData, curves: bool) -> list[list[BasisFunction]]:
    """The columns of every variable."""
    values = data.values
    everything = []
    places = (
        np.quantile(values, HINGES + STEPS, axis=1).T
        if curves and values.size
        else np.empty((len(values), 0))
    )
    for j in range(data.candidates):
        if data.kind[j] == CLASS:
            levels = int(data.classes[j])
            everything.append(
                [
                    BasisFunction(j, -1, LEVEL, float(level))
                    for level in range(levels if levels > 2 else 1)
                ]
            )
            continue
        own = [BasisFunction(j, -1, LINEAR, 0.0)]
        if not np.isnan(empty := data.hurdle(j)):
            rest = values[j][data.codes[j] != NO_NUMBER]
            below = rest[rest < empty].max(initial=-np.inf)
            above = rest[rest > empty].min(initial=np.inf)
            own.append(
                BasisFunction(
                    j, -1, PRESENT, float(0.5 * (below + empty)), float(0.5 * (empty + above))
                )
            )
        if curves and data.kind[j] == ORDERED:
            seen = np.unique(values[j])
            own += [
                BasisFunction(j, -1, STEP, at) for at in (0.5 * (seen[1:] + seen[:-1])).tolist()
            ]
        elif curves:
            knots = places[j, : len(HINGES)].tolist()
            steps = places[j, len(HINGES) :].tolist()
            own += [
                BasisFunction(j, -1, SQUARE, 0.0),
                *(BasisFunction(j, -1, HINGE, at) for at in knots),
                *(BasisFunction(j, -1, STEP, at) for at in steps),
            ]
        everything.append(own)
    return everything


def _distinct(gram: Floats) -> list[int]:
    """The rows of a matrix of cross products that are no linear function of earlier ones."""
    left = gram.copy()
    size = np.diagonal(gram).copy()
    kept = []
    for place in range(len(gram)):
        pivot = left[place, place]
        if pivot > SAME_COLUMN * size[place] and size[place] > 0.0:
            kept.append(place)
            left -= np.outer(left[:, place], left[place]) / pivot
    return kept or [0]


def _apart(gram: Floats, levels: bool) -> Floats:
    """What makes columns of one variable: scaled, and, but for levels, each without what the ones
    before explain.
    """
    scale = np.sqrt(np.maximum(np.diagonal(gram), 1e-300))
    if levels or len(scale) == 1:
        return np.diag(1.0 / scale)
    correlation = gram / scale[:, None] / scale
    factor = np.linalg.cholesky(correlation + 1e-13 * np.eye(len(scale)))
    return np.asarray(np.linalg.inv(factor) / scale)


def _mixed(mix: Floats, first: Ints, centred: Floats) -> Floats:
    """`mix @ centred`, variable by variable and in place: with curves these are the largest arrays
    of a search.
    """
    for start, end in pairwise(first[:-1]):
        centred[start:end] = mix[start:end, start:end] @ centred[start:end]
    rest = slice(first[-2], len(mix))
    centred[rest] *= np.diagonal(mix)[rest, None]
    return centred


def moments_of(
    data: ScoreData,
    functions: Sequence[BasisFunction],
    mean: Floats,
    mix: Floats,
    first: Ints,
    values: Floats,
) -> tuple[Floats, Floats]:
    """Means and centred cross products of columns by cell, over all rows."""
    k = data.contexts
    q = len(functions)
    count = np.zeros(k)
    means = np.zeros((k, q))
    scatter = np.zeros((k, q, q))
    for own_values, codes, cells in data.all_rows():
        if own_values is not data.values:
            values = _mixed(mix, first, _evaluated(own_values, codes, functions) - mean[:, None])
        starts = np.searchsorted(cells, np.arange(k + 1))
        for r in range(k):
            part = values[:, starts[r] : starts[r + 1]]
            size = part.shape[1]
            if size == 0:
                continue
            own = part.mean(axis=1)
            away = own - means[r]
            for begin in range(0, size, ROWS_AT_A_TIME):
                # a copy of all rows would be as large as the columns
                centred = np.ascontiguousarray(
                    part[:, begin : begin + ROWS_AT_A_TIME] - own[:, None]
                )
                add_cross_products(centred, scatter[r])
            if count[r] > 0.0:
                scatter[r] += np.outer(away, away) * (count[r] * size / (count[r] + size))
            means[r] += away * size / (count[r] + size)
            count[r] += size
    mirror(scatter)
    return means, (
        scatter * (data.n / np.maximum(count, 1.0))[:, None, None]
        if data.table.share != 1.0
        else scatter
    )
