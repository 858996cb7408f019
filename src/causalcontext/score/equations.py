"""From a fitted model to its equations, in the numbers of the table."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np

from causalcontext.data.coarse import LOOK, MOST_ORDERED, spike_of
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.orders.fit_arrays import CLASS, NUMBER, ORDERED, SOURCE
from causalcontext.kernels.rows.class_choice import TOLERANCE
from causalcontext.kernels.rows.glm import RIDGE, first_slopes, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT, ORDINAL
from causalcontext.kernels.rows.noise_densities import MANY, best_density
from causalcontext.kernels.rows.scales import SHAPES
from causalcontext.results import equations as plain
from causalcontext.results.equations import Equation, Mechanisms, Scale, SpreadTerm, Term
from causalcontext.score.columns import CLIP, LOWER_HINGE, BasisFunction, robust_units, small_counts
from causalcontext.score.data import ScoreData, members
from causalcontext.score.design import POOLED, ScoreDesign
from causalcontext.score.model import FittedModel, Part

PLACES, FEW_PLACES = 101, 21
MANY_VARIABLES = 50
"""Beyond so many variables fewer quantiles of every column are kept."""
NEGLIGIBLE = 1e-12


def mechanisms_of(model: FittedModel, raw: ScoreData) -> Mechanisms:
    """All equations of a model; `raw` has the columns as they are, before any transform."""
    data = model.design.data
    whole = Part(model.design.block(POOLED, model.design.everything), model.design.everything, np.zeros(0, np.int64))
    alone = ((given, whole) for given in range(data.nodes, data.candidates))
    found = [_number_equation(model, node, part) if data.kind[node] == NUMBER else
             _class_equation(model.design, node, part) for node, part in chain(model.regressions(), alone)]  # fmt: skip
    nodes = np.argsort(data.position).tolist()
    scales = (replace(_scale(data, raw, node), spike=_spike(raw, int(data.position[node]))) for node in nodes)
    return Mechanisms(tuple(scales), tuple(found))


def _spike(raw: ScoreData, position: int) -> float:
    """The share of the value that stands out in a column of numbers that nobody declared; 0 if none does."""
    own = raw.position.tolist().index(position)
    if own >= raw.candidates or raw.kind[own] != NUMBER or split(raw.table.names[position])[0] in raw.table.declared:
        return 0.0
    some = raw.values[own, :: max(1, raw.values.shape[1] // LOOK)]
    return spike_of(np.unique(some, return_counts=True)[1])


def _scale(data: ScoreData, raw: ScoreData, node: int) -> Scale:
    """How a variable is measured."""
    if node in data.context_variables:
        return Scale(plain.CATEGORY, levels=data.table.levels[data.context_variables.index(node)])
    position = int(data.position[node])
    if data.kind[node] != NUMBER:
        levels = tuple(data.table.categories[position])
        if data.kind[node] == CLASS:
            return Scale(plain.CATEGORY, levels=levels)
        scores = np.zeros(len(levels))
        scores[data.codes[node]] = data.values[node]
        return Scale(plain.ORDERED, levels=levels, scores=tuple(scores.tolist()))
    own = int(np.flatnonzero(raw.position == position)[0])
    count = PLACES if data.causes <= MANY_VARIABLES else FEW_PLACES
    values = raw.values[own] * raw.scale[own] + raw.centre[own]
    places = even_quantiles(values, count)
    if position in data.treated and len(seen := np.unique(values)) <= MOST_ORDERED:  # steps of a finer number
        steps = tuple(float(data.values[node][values == value][0]) for value in seen)
        return Scale(plain.NUMBER, 0.0, 1.0, tuple(seen.tolist()), steps)
    if position in data.treated and np.isfinite(limit := data.treated[position].limit):
        if not data.treated[position].anywhere:
            return _censored(data, node, values, limit, count)
        places = even_quantiles(values[~np.isclose(values, limit, 0.0, 1e-9 * raw.scale[own])], count)
        return Scale(plain.NUMBER, float(data.centre[node]), float(data.scale[node]), tuple(places.tolist()))
    if raw.gap[own] > 0.0 and own in small_counts(raw):
        return Scale(plain.COUNT, float(raw.centre[own]), float(raw.scale[own]), tuple(places.tolist()))
    if raw.table.columns[position] is data.table.columns[position]:
        return Scale(plain.NUMBER, float(data.centre[node]), float(data.scale[node]), tuple(places.tolist()))
    scores = even_quantiles(data.values[node], count)
    distinct = np.append(True, np.diff(places) > 0)
    return Scale(plain.NUMBER, 0.0, 1.0, tuple(places[distinct].tolist()), tuple(scores[distinct].tolist()))


def _censored(data: ScoreData, node: int, values: Floats, limit: float, count: int) -> Scale:
    """Values of the table as they are; a limit stands for the mean of what is drawn beyond it."""
    first = abs(values.min() - limit) < abs(values.max() - limit)
    at_limit = values == (values.min() if first else values.max())
    places = even_quantiles(values[~at_limit], count)
    places = np.unique(np.append(places, np.nextafter(limit, np.inf if first else -np.inf)))
    scores, beyond = (places - data.centre[node]) / data.scale[node], data.values[node][at_limit].mean()
    end = 0 if first else len(places)
    return Scale(plain.NUMBER, 0.0, 1.0, tuple(np.insert(places, end, limit).tolist()),
                 tuple(np.insert(scores, end, beyond).tolist()))  # fmt: skip


def even_quantiles(values: Floats, count: int) -> Floats:
    """The same as `np.quantile` at evenly spaced places; where these are many, sorting once is several times faster."""
    ordered, place = np.sort(values), (len(values) - 1) * np.linspace(0.0, 1.0, count)
    below = place.astype(np.int64)
    low, high, share = ordered[below], ordered[np.minimum(below + 1, len(values) - 1)], place - below
    return np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1.0 - share))


def _number_equation(model: FittedModel, node: int, part: Part) -> Equation:
    """The regression of a number, weighted where the spread of its noise is uneven."""
    design = model.design
    matrix, rows, shifts = design.matrix_and_rows(part.block, part.columns)
    scale = model.scale(node, part, rows)
    place, contexts = int(design.response[node]), members(part.mask, design.data.contexts)
    response = design.values[place, rows] / design.mix[place, place] + design.mean[place]
    slopes = np.linalg.lstsq((matrix / scale).T, response / scale, rcond=None)[0]
    residual = (response - slopes @ matrix) / scale
    density = np.zeros(MANY + 5)
    gain = best_density(residual, design.data.weight * len(residual), density) if design.data.has_density(node) else 0.0
    terms, constants = _terms(design, part, rows, slopes[None, shifts:])
    groups = design.groups(part.block)[contexts]
    intercepts = tuple((float(slopes[group] + constants[0, r]),) for r, group in enumerate(groups.tolist()))
    density_kept = tuple(density[[0, *range(3, len(density))]].tolist()) if gain > 0.0 else (0.0,)
    return Equation(int(design.data.position[node]), tuple(contexts), plain.NUMBER, intercepts, terms,
                    float(residual.std()), density_kept, _spread(model, node, part, rows))  # fmt: skip


def _spread(model: FittedModel, node: int, part: Part, rows: Bools) -> tuple[SpreadTerm, ...]:
    """What the spread of the noise depends on."""
    design, found = model.design, []
    means = design.scale_matrix(part.block, part.scale, rows).mean(axis=1)
    for column, slope, mean in zip(part.scale.tolist(), model.slopes_of_scales.get((node, part.mask), ()), means,
                                   strict=True):  # fmt: skip
        j, shape = divmod(column, SHAPES)
        if j >= design.data.candidates:
            group = column - SHAPES * design.data.candidates + 1
            here = tuple(np.flatnonzero(design.groups(part.block) == group).tolist())
            found.append(SpreadTerm("context", -1, 0.0, 1.0, float(slope), float(mean), here))
            continue
        kind, centre, unit = "level", float(shape), 1.0
        if design.data.kind[j] != CLASS:
            kind, (centre, unit) = plain.SPREADS[shape], robust_units(design.data.values[j])
        found.append(SpreadTerm(kind, int(design.data.position[j]), centre, unit, float(slope), float(mean)))
    return tuple(found)


def _class_equation(design: ScoreDesign, node: int, part: Part) -> Equation:
    """The logit of a category, or the proportional odds of an ordered variable."""
    data, (matrix, rows, shifts) = design.data, design.matrix_and_rows(part.block, part.columns)
    classes, ordered, contexts = (
        int(data.classes[node]),
        bool(data.kind[node] == ORDERED),
        members(part.mask, data.contexts),
    )
    matrix[0] = 1.0  # intercepts of the other contexts are differences from the first
    codes = data.codes[node, rows]
    family = ORDINAL if ordered else LOGIT
    slopes = first_slopes(family, codes, classes, len(matrix))
    fit_glm(family, matrix, codes, classes, slopes, RIDGE, TOLERANCE)
    if ordered:
        own, base, sign = np.concatenate([[0.0], slopes[classes - 1 :]])[None], slopes[: classes - 1, None], -1.0
    else:
        own, sign = slopes.reshape(classes - 1, len(matrix)), 1.0
        base = own[:, :1]
    terms, constants = _terms(design, part, rows, own[:, shifts:])
    base = np.repeat(base, len(contexts), axis=1)
    for r, group in enumerate(design.groups(part.block)[contexts].tolist()):
        base[:, r] += sign * own[:, group] if group else 0.0
    base = base + sign * constants
    return Equation(int(data.position[node]), tuple(contexts), plain.ORDERED if ordered else plain.CATEGORY,
                    tuple(tuple(row) for row in base.T.tolist()), terms, 0.0, (0.0,))  # fmt: skip


def _terms(design: ScoreDesign, part: Part, rows: Bools, slopes: Floats) -> tuple[tuple[Term, ...], Floats]:
    """Terms by function, and what they add to the intercept of every context; `slopes` has a row for every response."""
    about, contexts = design.about(part.block), members(part.mask, design.data.contexts)
    weights: dict[tuple[int, int], Floats] = {}
    for place, column in enumerate(part.columns):
        source, lives = int(about[SOURCE, column]), design.lives(part.block, column)
        for function in np.flatnonzero(design.mix[source]).tolist():
            key = (function, lives)
            weights[key] = weights.get(key, 0.0) + slopes[:, place] * design.mix[source, function]
    terms = []
    constants = np.zeros((len(slopes), len(contexts)))
    for (function, lives), weight in sorted(weights.items()):
        if np.abs(weight).max() < NEGLIGIBLE:
            continue
        here = [r for r in contexts if lives >> r & 1]
        for r in here:
            constants[:, contexts.index(r)] -= weight * (design.mean[function] - _lowest(design.functions[function]))
        terms += _terms_of(design, function, weight, tuple(here), rows)
    return tuple(terms), constants


def _lowest(function: BasisFunction) -> float:
    """What a function is more than its terms: a clip the place below which it is constant, a hinge its square."""
    if function.kind == LOWER_HINGE:
        return function.place**2
    return function.place if function.kind == CLIP and np.isfinite(function.place) else 0.0


def _terms_of(design: ScoreDesign, place: int, weight: Floats, contexts: tuple[int, ...], rows: Bools) -> list[Term]:
    """A function in the numbers of the table, as terms.

    A clip is made of kinks, and of x if it has no lowest place; a hinge below a place of a square and one above it.
    """
    data, function = design.data, design.functions[place]
    own = [j for j in (function.owner, function.partner) if j >= 0]
    causes = tuple(int(data.position[j]) for j in own)
    standard = {int(data.position[j]): (data.codes[j] if data.kind[j] == CLASS else data.values[j])[rows] for j in own}
    if function.kind == LOWER_HINGE:
        parts = [("square", 0.0, 1.0), ("linear", 0.0, -2.0 * function.place), ("hinge", function.place, -1.0)]
    elif function.kind != CLIP:
        parts = [(plain.KINDS[function.kind], function.place, 1.0)]
    else:
        parts = [("kink", function.place, 1.0) if np.isfinite(function.place) else ("linear", 0.0, 1.0)]
        parts += [("kink", function.end, -1.0)] if np.isfinite(function.end) else []
    bare = [Term(kind, causes, float(at), tuple((sign * weight).tolist()), 0.0, contexts) for kind, at, sign in parts]
    return [replace(term, average=float(np.mean(term.values(standard)))) for term in bare]
