"""From a fitted model to its equations, in the numbers of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.orders.node_data import CLASS, NUMBER, ORDERED
from causalcontext.kernels.rows.class_scores import TOLERANCE, first_slopes, maximise, ordered_pointer
from causalcontext.kernels.rows.logit_rows import logit_pointer
from causalcontext.kernels.rows.noise_densities import MANY, best_density
from causalcontext.results import equations as plain
from causalcontext.results.equations import Equation, Mechanisms, Scale, Term
from causalcontext.score.columns import DesignColumns, small_counts
from causalcontext.score.model import FittedModel, Part, members
from causalcontext.score.setup import Setup

PLACES, FEW_PLACES = 101, 21
MANY_VARIABLES = 50
"""Beyond so many variables fewer quantiles of every column are kept."""
NEGLIGIBLE = 1e-12


def mechanisms_of(model: FittedModel, raw: Setup) -> Mechanisms:
    """All equations of a model; `raw` is the setup of the columns as they are, before any transform."""
    setup = model.layout.setup
    p, k = setup.variables, setup.contexts
    found = [_number_equation(model, node, part) if setup.kind[node] == NUMBER else _class_equation(model, node, part)
             for node in range(p) for part in model.parts[node]]  # fmt: skip
    if k > 1:
        everything = (1 << k) - 1
        part = Part(model.layout.masks.index(everything), everything, model.context_columns)
        found.append(_class_equation(model, p, part))
    scales: list[Scale | None] = [None] * int((setup.position >= 0).sum())
    for node in range(p + (k > 1)):
        scales[setup.position[node]] = _scale(setup, raw, node)
    return Mechanisms(tuple(scale for scale in scales if scale is not None), tuple(found))


def _scale(setup: Setup, raw: Setup, node: int) -> Scale:
    """How a variable is measured."""
    if node == setup.variables:
        return Scale(plain.CATEGORY, levels=tuple(setup.data.values))
    position = int(setup.position[node])
    if setup.kind[node] != NUMBER:
        levels = tuple(setup.data.categories[position])
        if setup.kind[node] == CLASS:
            return Scale(plain.CATEGORY, levels=levels)
        return Scale(plain.ORDERED, levels=levels, scores=tuple(_level_scores(setup, node).tolist()))
    own = int(np.flatnonzero(raw.position == position)[0])
    count = PLACES if setup.variables <= MANY_VARIABLES else FEW_PLACES
    values = raw.rows.values[own] * raw.scale[own] + raw.centre[own]
    places = np.quantile(values, np.linspace(0.0, 1.0, count))
    if raw.gap[own] > 0.0 and own in small_counts(raw):
        return Scale(plain.COUNT, float(raw.centre[own]), float(raw.scale[own]), tuple(places.tolist()))
    if raw is setup:
        return Scale(plain.NUMBER, float(setup.centre[node]), float(setup.scale[node]), tuple(places.tolist()))
    scores = np.quantile(setup.rows.values[node], np.linspace(0.0, 1.0, count))
    distinct = np.append(True, np.diff(places) > 0)
    return Scale(plain.NUMBER, 0.0, 1.0, tuple(places[distinct].tolist()), tuple(scores[distinct].tolist()))


def _level_scores(setup: Setup, node: int) -> Floats:
    table = np.zeros(int(setup.classes[node]))
    table[setup.rows.codes[node]] = setup.rows.values[node]
    return table


@dataclass(frozen=True, eq=False)
class _Design:
    """Columns of a regression on its rows: intercepts first, then the chosen columns."""

    matrix: Floats
    rows: Bools
    contexts: list[int]
    shifts: int


def _design(model: FittedModel, part: Part) -> _Design:
    layout, setup = model.layout, model.layout.setup
    about = layout.tables.about[int(layout.tables.block[part.block, 2])]
    context = setup.rows.codes[-1]
    rows = (part.mask >> context & 1).astype(bool)
    here, levels = context[rows], members(part.mask, setup.contexts)
    by_context = bool(layout.tables.block[part.block, 4])
    shifts = [(here == r).astype(float) for r in levels] if by_context else [np.ones(len(here))]
    columns = [layout.columns.values[about[2, c], rows] * ((about[4, c] >> here & 1) if about[4, c] else 1.0)
               for c in part.columns]  # fmt: skip
    return _Design(np.stack([*shifts, *columns]), rows, levels, len(shifts))


def _number_equation(model: FittedModel, node: int, part: Part) -> Equation:
    """The regression of a number."""
    columns, design = model.layout.columns, _design(model, part)
    place = int(columns.response[node])
    response = columns.values[place, design.rows] / columns.mix[place, place] + columns.mean[place]
    slopes = np.linalg.lstsq(design.matrix.T, response, rcond=None)[0]
    residual = response - slopes @ design.matrix
    density = np.zeros(MANY + 5)
    gain = best_density(residual, model.layout.setup.weight * len(residual), density)
    terms, constants = _terms(model, part, design, slopes[None, design.shifts :])
    intercepts = [
        (float(slopes[r if design.shifts > 1 else 0] + constants[0, r]),) for r in range(len(design.contexts))
    ]
    density_kept = tuple(density[[0, *range(3, len(density))]].tolist()) if gain > 0.0 else (0.0,)
    return Equation(int(model.layout.setup.position[node]), tuple(design.contexts), plain.NUMBER, tuple(intercepts),
                    terms, float(residual.std()), density_kept)  # fmt: skip


def _class_equation(model: FittedModel, node: int, part: Part) -> Equation:
    """The logit of a category, or the proportional odds of an ordered variable."""
    setup, design = model.layout.setup, _design(model, part)
    classes, ordered = int(setup.classes[node]), bool(setup.kind[node] == ORDERED)
    shifts = design.matrix[1 : design.shifts]
    matrix = np.vstack([np.ones((1, design.matrix.shape[1])), shifts, design.matrix[design.shifts :]])
    codes = setup.rows.codes[node, design.rows]
    slopes = first_slopes(codes, classes, ordered, len(matrix))
    curvature, one_pass = np.zeros((len(slopes), len(slopes))), ordered_pointer() if ordered else logit_pointer()
    maximise(one_pass, matrix, codes, classes, ordered, slopes, curvature, -math.inf, TOLERANCE)
    if ordered:
        cuts, own = slopes[: classes - 1], np.concatenate([[0.0], slopes[classes - 1 :]])[None]
        base = np.repeat(cuts[:, None], len(design.contexts), axis=1)
        sign = -1.0
    else:
        own = slopes.reshape(classes - 1, len(matrix))
        base, sign = np.repeat(own[:, :1], len(design.contexts), axis=1), 1.0
    terms, constants = _terms(model, part, design, own[:, design.shifts :])
    for r in range(1, design.shifts):
        base[:, r] += sign * own[:, r]
    base = base + sign * constants
    return Equation(int(setup.position[node]), tuple(design.contexts), plain.ORDERED if ordered else plain.CATEGORY,
                    tuple(tuple(row) for row in base.T.tolist()), terms, 0.0, (0.0,))  # fmt: skip


def _terms(model: FittedModel, part: Part, design: _Design, slopes: Floats) -> tuple[tuple[Term, ...], Floats]:
    """Terms by function, and what they add to the intercept of every context; `slopes` has a row for every response."""
    layout, columns = model.layout, model.layout.columns
    about = layout.tables.about[int(layout.tables.block[part.block, 2])]
    weights: dict[tuple[int, int], Floats] = {}
    for place, column in enumerate(part.columns):
        source, lives = int(about[2, column]), int(about[4, column]) or part.mask
        for function in np.flatnonzero(columns.mix[source]).tolist():
            key = (function, lives)
            weights[key] = weights.get(key, 0.0) + slopes[:, place] * columns.mix[source, function]
    terms = []
    constants = np.zeros((len(slopes), len(design.contexts)))
    for (function, lives), weight in sorted(weights.items()):
        if np.abs(weight).max() < NEGLIGIBLE:
            continue
        here = [r for r in design.contexts if lives >> r & 1]
        for r in here:
            constants[:, design.contexts.index(r)] -= weight * columns.mean[function]
        terms.append(_term(layout.setup, columns, function, weight, tuple(here), design.rows))
    return tuple(terms), constants


def _term(setup: Setup, columns: DesignColumns, function: int, weight: Floats, contexts: tuple[int, ...],
          rows: Bools) -> Term:  # fmt: skip
    """One term in the numbers of the table."""
    offer = columns.offers[function]
    causes = [int(setup.position[j]) for j in (offer.owner, offer.partner) if j >= 0]
    kind = plain.KINDS[offer.kind]
    standard = {position: (setup.rows.codes[j] if setup.kind[j] == CLASS else setup.rows.values[j])[rows]
                for position, j in zip(causes, (offer.owner, offer.partner), strict=False)}  # fmt: skip
    slopes = tuple(weight.tolist())
    bare = Term(kind, tuple(causes), float(offer.place), slopes, 0.0, contexts)
    return Term(kind, tuple(causes), float(offer.place), slopes, float(np.mean(bare.values(standard))), contexts)
