"""A fitted model: the columns of every node in every context, which contexts share one mechanism,
and its equations.

Equations are in the numbers of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np

from causalcontext.data.coarse import LOOK, MOST_ORDERED, spike_of
from causalcontext.data.dataset import complete_rows
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.fit_arrays import (
    CLASS,
    CONTEXTS,
    NUMBER,
    ORDERED,
    OWNER,
    PARTNER,
    SOURCE,
)
from causalcontext.kernels.rows.class_choice import TOLERANCE
from causalcontext.kernels.rows.glm import RIDGE, first_slopes, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT, ORDINAL
from causalcontext.kernels.rows.noise_densities import MANY, best_density
from causalcontext.kernels.rows.scales import LARGEST_LOG, SHAPES
from causalcontext.results import equations as plain
from causalcontext.results.equations import Equation, Mechanisms, Scale, SpreadTerm, Term
from causalcontext.results.evidence import masks_of
from causalcontext.score.columns import (
    CLIP,
    LOWER_HINGE,
    PRESENT,
    PRODUCT,
    BasisFunction,
    robust_units,
    small_counts,
)
from causalcontext.score.data import ScoreData, members
from causalcontext.score.design import MIXED, POOLED, SHIFTED, ScoreDesign
from causalcontext.score.workspace import FitWorkspace

PARTITIONED = "partitioned"
CONTEXT = "context"
"""Kinds of mechanisms beside those of single blocks."""


@dataclass(frozen=True, eq=False)
class Part:
    """One regression of a node: the block it is fitted on, the contexts of that, and the columns it
    takes.

    `scale` are the columns of its noise's scale, `SHAPES` a candidate, then an indicator of every
    group but the first.
    """

    block: int
    mask: int
    columns: Ints
    scale: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def everything(self) -> Ints:
        """All columns as kernels number them: those of the scale are negative."""
        return np.concatenate([self.columns, -1 - self.scale])


def part_of(block: int, mask: int, everything: Ints) -> Part:
    """A regression with all its columns as kernels number them."""
    if not len(everything) or everything.min() >= 0:
        return Part(block, mask, everything)
    return Part(block, mask, everything[everything >= 0], -1 - everything[everything < 0])


@dataclass(frozen=True, eq=False)
class FittedModel:
    """K contexts, p system variables in the order of the data; the context, if there is one, is
    number p.
    """

    score: float  # the penalised log-likelihood of the table in pooled standard units
    # shape (K, nodes): every node comes after its parents; all orders agree up to the context
    orders: Ints
    # the regressions of every node: one, or one for every block of a partition
    parts: tuple[tuple[Part, ...], ...]
    design: ScoreDesign  # what the columns and blocks are

    @cached_property
    def kind(self) -> tuple[str, ...]:
        """What every node's model is: pooled, partitioned, shifted or mixed; "context" for that
        one.
        """
        data = self.design.data
        design = self.design
        kinds = []
        for part, *others in self.parts:
            kind = PARTITIONED if others else design.key(part.block)[0]
            if kind == MIXED:  # slopes that stay and intercepts of merged values are a shift
                lives = design.about(part.block)[CONTEXTS, part.columns]
                kind = MIXED if (lives != (1 << design.bits(part.block)) - 1).any() else SHIFTED
            kinds.append(kind)
        kinds += [POOLED] * (data.variables - data.nodes)
        return tuple(
            CONTEXT if v in data.context_variables else kind for v, kind in enumerate(kinds)
        )

    def node_scores(self, curves: bool) -> Floats:
        """The scores of all nodes, whose sum is that of the model."""
        tasks = [(part.block, node, part.everything) for node, part in self.regressions()]
        scores = FitWorkspace(self.design, curves).score(tasks)[:, 0]
        return np.asarray(
            np.bincount([node for _, node, _ in tasks], scores, self.design.data.nodes),
            dtype=np.float64,
        )

    def regressions(self) -> Iterator[tuple[int, Part]]:
        """All nodes with their regressions."""
        return ((node, part) for node, parts in enumerate(self.parts) for part in parts)

    @cached_property
    def block(self) -> Ints:
        """The contexts that share the mechanism of a node in a context, as a bit mask; shape (K,
        variables).
        """
        shape = (self.design.data.contexts, self.design.data.variables)
        masks = np.full(shape, self.design.everything, dtype=masks_of(shape[0]))
        for node, part in self.regressions():
            masks[members(part.mask, len(masks)), node] = part.mask
        return masks

    @cached_property
    def parents(self) -> Bools:
        """`parents[r, child, parent]`, shape (K, nodes, C)."""
        return np.stack([self.causes(node) for node in range(self.design.data.nodes)], axis=1)

    def causes(self, node: int) -> Bools:
        """The causes of a node in every context beside those it reads, shape (K, C)."""
        design = self.design
        found = np.repeat(design.required[node][None], design.data.contexts, axis=0)
        for part in self.parts[node]:
            about = design.about(part.block)
            for column in part.columns.tolist():
                here = members(design.lives(part.block, column), len(found))
                for who in (who for who in about[: PARTNER + 1, column].tolist() if who >= 0):
                    found[here, who] = True
            for r in members(part.mask, len(found)) if len(part.scale) else ():
                found[r, design.owners_of_scale(part.scale)] = True
        return found

    def before(self, node: int, mask: int) -> Bools:
        """The candidates before a node in all of some contexts, shape (C,)."""
        return before(self._place, node, mask, self.design.data.candidates)

    @cached_property
    def _place(self) -> Ints:
        """The place of every node in the orders."""
        return np.argsort(self.orders, axis=1)

    def residual(self, node: int, part: Part) -> tuple[Floats, Bools]:
        """The residuals of a number in one of its regressions, divided by its scale, and the rows
        of it; read only.
        """
        key = (node, part.mask)
        design = self.design
        if key not in self._residuals:
            matrix, rows, _ = design.matrix_and_rows(part.block, part.columns)
            response = design.values[design.response[node], rows]
            scale = self.scale(node, part, rows)
            slopes = np.linalg.lstsq((matrix / scale).T, response / scale, rcond=None)[0]
            self._residuals[key] = (response - slopes @ matrix) / scale, rows
        return self._residuals[key]

    @cached_property
    def _residuals(self) -> dict[tuple[int, int], tuple[Floats, Bools]]:
        """The residuals that were asked for, by node and cells."""
        return {}

    def scale(self, node: int, part: Part, rows: Bools) -> Floats:
        """The scale of the noise of a number on the rows of one of its regressions; 1 where it is
        even.
        """
        if not len(part.scale):
            return np.ones(np.count_nonzero(rows))
        slopes = self.slopes_of_scales[node, part.mask]
        columns = self.design.scale_matrix(part.block, part.scale, rows)
        logarithm = np.asarray(slopes @ (columns - columns.mean(axis=1, keepdims=True)))
        return np.asarray(np.exp(np.clip(logarithm, -LARGEST_LOG, LARGEST_LOG)))

    @cached_property
    def slopes_of_scales(self) -> dict[tuple[int, int], Floats]:
        """The slopes of the columns of every scale, by node and cells."""
        uneven = [(node, part) for node, part in self.regressions() if len(part.scale)]
        if not uneven:
            return {}
        fitted = FitWorkspace(self.design, curves=True).score(
            [(p.block, node, p.everything) for node, p in uneven]
        )
        return {
            (node, part.mask): row[2 + len(part.columns) : 2 + len(part.everything)]
            for (node, part), row in zip(uneven, fitted, strict=True)
        }

    @cached_property
    def links(self) -> Bools:
        """Directed links of every context, shape (K, variables, variables), row -> column; read
        only.
        """
        data = self.design.data
        links = np.zeros((data.contexts, data.variables, data.variables), dtype=bool)
        for node in range(data.nodes):
            links[:, :, node] = self.links_into(node)
        for context, source in data.made_of.items():
            links[:, source, context] = True
        return links

    def links_into(self, node: int) -> Bools:
        """The links of every context into a node, shape (K, variables)."""
        data = self.design.data
        links = np.zeros((data.contexts, data.variables), dtype=bool)
        links[:, : data.candidates] = self.causes(node)
        if node < data.responses:
            links[:, list(self.reads(node))] = True
        return links

    def nodes_apart(self, other: FittedModel) -> list[int]:
        """The nodes whose mechanisms may be others in another model of the same design."""
        return [
            node
            for node, (mine, theirs) in enumerate(zip(self.parts, other.parts, strict=True))
            if mine is not theirs
        ]

    @cached_property
    def linked(self) -> Bools:
        """Directed links of any context, shape (variables, variables), row -> column: quicker than
        all of `links`.
        """
        data = self.design.data
        found = np.zeros((data.variables, data.variables), dtype=bool)
        for node in range(data.nodes):
            found[:, node] = self.linked_into(node)
        for context, source in data.made_of.items():
            found[source, context] = True
        return found

    def linked_into(self, node: int) -> Bools:
        """The links of any context into a node, shape (variables,)."""
        data = self.design.data
        found = np.zeros(data.variables, dtype=bool)
        found[: data.candidates] = self.design.required[node]
        for part in self.parts[node]:
            about = self.design.about(part.block)
            who = about[: PARTNER + 1, part.columns]
            found[who[who >= 0]] = True
        if node < data.responses:
            found[list(self.reads(node))] = True
        return found

    def reads(self, node: int) -> tuple[int, ...]:
        """The context variables that the mechanism of a node changes with, or must change with by
        knowledge.
        """
        parts = self.parts[node]
        data = self.design.data
        kind, _, reader = self.design.key(parts[0].block)
        if len(parts) == 1:
            found = () if kind == POOLED else data.codings[reader].variables
        else:
            same = np.zeros(data.contexts, dtype=np.int64)  # contexts of one mechanism
            for number, part in enumerate(parts):
                same[list(members(part.mask, data.contexts))] = number
            found = next(
                variables
                for variables, _, groups, _ in data.readers
                if len({*zip(groups.tolist(), same.tolist(), strict=True)})
                == len({*groups.tolist()})
            )
        return tuple(sorted({*found, *data.must_read[node]}))


def before(place: Ints, node: int, mask: int, candidates: int) -> Bools:
    """The candidates before a node in all of some contexts; `place` has the place of every node in
    their orders.
    """
    here = place[members(mask, len(place))] if len(place) > 1 else place
    found = np.ones(candidates, dtype=bool)
    found[: place.shape[1]] = (here < here[:, node : node + 1]).all(axis=0)
    return found


def translated(model: FittedModel, new: ScoreDesign) -> FittedModel:
    """The same model in another design of the same data, which has more columns."""
    old = model.design
    if new is old:
        return model
    start = new.first - old.first

    def same(part: Part) -> Part:
        about = old.about(part.block)[:, part.columns]
        moved = about[SOURCE] + start[about[OWNER]]
        return Part(
            new.block(*old.key(part.block)),
            part.mask,
            (moved << old.bits(part.block)) + about[CONTEXTS],
            part.scale,
        )

    parts = tuple(tuple(map(same, own)) for own in model.parts)
    return FittedModel(model.score, model.orders, parts, new)


def owners(about: Ints, columns: Iterable[int]) -> tuple[int, ...]:
    """The variables that columns are made of, sorted."""
    chosen = np.asarray(list(columns), dtype=np.int64)
    found = np.concatenate([about[OWNER, chosen], about[PARTNER, chosen]])
    return tuple(np.unique(found[found >= 0]).tolist())


PLACES = 101
FEW_PLACES = 21
MANY_VARIABLES = 50
"""Beyond so many variables fewer quantiles of every column are kept."""
NEGLIGIBLE = 1e-12


def mechanisms_of(model: FittedModel, raw: ScoreData) -> Mechanisms:
    """All equations of a model; `raw` has the columns as they are, before any transform."""
    data = model.design.data
    whole = Part(
        model.design.block(POOLED, model.design.everything),
        model.design.everything,
        np.zeros(0, np.int64),
    )
    alone = ((given, whole) for given in range(data.nodes, data.candidates))
    found = [
        (
            _number_equation(model, node, part)
            if data.kind[node] == NUMBER
            else _class_equation(model.design, node, part)
        )
        for node, part in chain(model.regressions(), alone)
    ]
    nodes = np.argsort(data.position).tolist()
    scales = (
        replace(_scale(data, raw, node), spike=_spike(raw, int(data.position[node])))
        for node in nodes
    )
    return Mechanisms(tuple(scales), tuple(found))


def _spike(raw: ScoreData, position: int) -> float:
    """The share of the value that stands out in a column of numbers that nobody declared; 0 if none
    does.
    """
    own = raw.position.tolist().index(position)
    if (
        own >= raw.candidates
        or raw.kind[own] != NUMBER
        or split(raw.table.names[position])[0] in raw.table.declared
    ):
        return 0.0
    some = raw.values[own, :: max(1, raw.values.shape[1] // LOOK)]
    values, counts = np.unique(some, return_counts=True)
    return spike_of(counts, values)


def _scale(data: ScoreData, raw: ScoreData, node: int) -> Scale:
    """How a variable is measured."""
    position = int(data.position[node])
    kind = data.kind[node] if node < data.candidates else CLASS
    if kind != NUMBER:
        levels = (
            data.table.levels[data.context_variables.index(node)]
            if node in data.context_variables
            else tuple(data.table.categories[position])
        )
        if kind == CLASS:
            return Scale(plain.CATEGORY, levels=levels)
        scores = np.zeros(len(levels))
        scores[data.codes[node]] = data.values[node]
        return Scale(plain.ORDERED, levels=levels, scores=tuple(scores.tolist()))
    own = int(np.flatnonzero(raw.position == position)[0])
    count = PLACES if data.causes <= MANY_VARIABLES else FEW_PLACES
    values = raw.values[own] * raw.scale[own] + raw.centre[own]
    places = even_quantiles(values, count)
    if position in data.treated and len(seen := np.unique(values)) <= MOST_ORDERED:
        # steps of a finer number
        steps = tuple(float(data.values[node][values == value][0]) for value in seen)
        return Scale(plain.NUMBER, 0.0, 1.0, tuple(seen.tolist()), steps)
    if position in data.treated and np.isfinite(limit := data.treated[position].limit):
        if not data.treated[position].anywhere:
            return _censored(data, node, values, limit, count)
        places = even_quantiles(
            values[~np.isclose(values, limit, 0.0, 1e-9 * raw.scale[own])], count
        )
        return Scale(
            plain.NUMBER, float(data.centre[node]), float(data.scale[node]), tuple(places.tolist())
        )
    if raw.gap[own] > 0.0 and own in small_counts(raw):
        return Scale(
            plain.COUNT, float(raw.centre[own]), float(raw.scale[own]), tuple(places.tolist())
        )
    if raw.table.columns[position] is data.table.columns[position]:
        return Scale(
            plain.NUMBER, float(data.centre[node]), float(data.scale[node]), tuple(places.tolist())
        )
    scores = even_quantiles(data.values[node], count)
    distinct = np.append(True, np.diff(places) > 0)
    return Scale(
        plain.NUMBER, 0.0, 1.0, tuple(places[distinct].tolist()), tuple(scores[distinct].tolist())
    )


def _censored(data: ScoreData, node: int, values: Floats, limit: float, count: int) -> Scale:
    """Values of the table as they are; a limit stands for the mean of what is drawn beyond it."""
    first = abs(values.min() - limit) < abs(values.max() - limit)
    at_limit = values == (values.min() if first else values.max())
    places = even_quantiles(values[~at_limit], count)
    places = np.unique(np.append(places, np.nextafter(limit, np.inf if first else -np.inf)))
    scores = (places - data.centre[node]) / data.scale[node]
    beyond = data.values[node][at_limit].mean()
    end = 0 if first else len(places)
    return Scale(
        plain.NUMBER,
        0.0,
        1.0,
        tuple(np.insert(places, end, limit).tolist()),
        tuple(np.insert(scores, end, beyond).tolist()),
    )


def even_quantiles(values: Floats, count: int) -> Floats:
    """The same as `np.quantile` at evenly spaced places; where these are many, sorting once is
    several times faster.
    """
    ordered = np.sort(values)
    place = (len(values) - 1) * np.linspace(0.0, 1.0, count)
    below = place.astype(np.int64)
    low = ordered[below]
    high = ordered[np.minimum(below + 1, len(values) - 1)]
    share = place - below
    return np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1.0 - share))


def _number_equation(model: FittedModel, node: int, part: Part) -> Equation:
    """The regression of a number, weighted where the spread of its noise is uneven."""
    design = model.design
    matrix, rows, shifts = design.matrix_and_rows(part.block, part.columns)
    scale = model.scale(node, part, rows)
    place = int(design.response[node])
    contexts = members(part.mask, design.data.contexts)
    response = design.values[place, rows] / design.mix[place, place] + design.mean[place]
    slopes = np.linalg.lstsq((matrix / scale).T, response / scale, rcond=None)[0]
    residual = (response - slopes @ matrix) / scale
    density = np.zeros(MANY + 5)
    gain = (
        best_density(residual, design.data.weight * len(residual), density)
        if design.data.has_density(node)
        else 0.0
    )
    terms, constants = _terms(design, part, rows, slopes[None, shifts:])
    groups = design.groups(part.block)[contexts]
    intercepts = tuple(
        (float(slopes[group] + constants[0, r]),) for r, group in enumerate(groups.tolist())
    )
    density_kept = tuple(density[[0, *range(3, len(density))]].tolist()) if gain > 0.0 else (0.0,)
    return Equation(
        int(design.data.position[node]),
        tuple(contexts),
        plain.NUMBER,
        intercepts,
        terms,
        float(residual.std()),
        density_kept,
        _spread(model, node, part, rows),
    )


def _spread(model: FittedModel, node: int, part: Part, rows: Bools) -> tuple[SpreadTerm, ...]:
    """What the spread of the noise depends on."""
    design = model.design
    found = []
    means = design.scale_matrix(part.block, part.scale, rows).mean(axis=1)
    for column, slope, mean in zip(
        part.scale.tolist(), model.slopes_of_scales.get((node, part.mask), ()), means, strict=True
    ):
        j, shape = divmod(column, SHAPES)
        if j >= design.data.candidates:
            group = column - SHAPES * design.data.candidates + 1
            here = tuple(np.flatnonzero(design.groups(part.block) == group).tolist())
            found.append(SpreadTerm("context", -1, 0.0, 1.0, float(slope), float(mean), here))
            continue
        kind = "level"
        centre = float(shape)
        unit = 1.0
        if design.data.kind[j] != CLASS:
            kind, (centre, unit) = plain.SPREADS[shape], robust_units(design.data.values[j])
        found.append(
            SpreadTerm(kind, int(design.data.position[j]), centre, unit, float(slope), float(mean))
        )
    return tuple(found)


def _class_equation(design: ScoreDesign, node: int, part: Part) -> Equation:
    """The logit of a category, or the proportional odds of an ordered variable."""
    data, (matrix, rows, shifts) = design.data, design.matrix_and_rows(part.block, part.columns)
    classes = int(data.classes[node])
    contexts = members(part.mask, data.contexts)
    matrix[0] = 1.0  # intercepts of the other contexts are differences from the first
    codes = data.codes[node, rows]
    ordered = bool(data.kind[node] == ORDERED)
    family = ORDINAL if ordered else LOGIT
    slopes = first_slopes(family, codes, classes, len(matrix))
    fit_glm(family, matrix, codes, classes, slopes, RIDGE, TOLERANCE)
    if ordered:
        own = np.concatenate([[0.0], slopes[classes - 1 :]])[None]
        base = slopes[: classes - 1, None]
        sign = -1.0
    else:
        own = slopes.reshape(classes - 1, len(matrix))
        if node in data.groups:
            own = _of_levels(data, node, own)
        sign = 1.0
        base = own[:, :1]
    terms, constants = _terms(design, part, rows, own[:, shifts:])
    base = np.repeat(base, len(contexts), axis=1)
    for r, group in enumerate(design.groups(part.block)[contexts].tolist()):
        base[:, r] += sign * own[:, group] if group else 0.0
    base = base + sign * constants
    return Equation(
        int(data.position[node]),
        tuple(contexts),
        plain.ORDERED if ordered else plain.CATEGORY,
        tuple(tuple(row) for row in base.T.tolist()),
        terms,
        0.0,
        (0.0,),
    )


def _of_levels(data: ScoreData, node: int, slopes: Floats) -> Floats:
    """The log odds of every level against the last one, shape (levels - 1, columns), by those of
    groups of levels against the last group: inside a group levels differ by their shares alone.
    """
    group = data.groups[node]
    whole = np.vstack([slopes, np.zeros((1, slopes.shape[1]))])[group]
    table = data.table
    (levels,) = table.contexts.positions
    shares = np.bincount(
        np.asarray(table.columns[levels])[complete_rows(table)].astype(np.int64),
        minlength=len(group),
    )
    whole[:, 0] += np.log(shares / np.bincount(group, weights=shares)[group])
    return np.asarray(whole[:-1] - whole[-1])


def _terms(
    design: ScoreDesign, part: Part, rows: Bools, slopes: Floats
) -> tuple[tuple[Term, ...], Floats]:
    """Terms by function, and what they add to the intercept of every context; `slopes` has a row
    for every response.
    """
    about = design.about(part.block)
    contexts = members(part.mask, design.data.contexts)
    weights: dict[tuple[int, int], Floats] = {}
    for place, column in enumerate(part.columns):
        source = int(about[SOURCE, column])
        lives = design.lives(part.block, column)
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
            constants[:, contexts.index(r)] -= weight * (
                design.mean[function] - _lowest(design.functions[function])
            )
        terms += _terms_of(design, function, weight, tuple(here), rows)
    return tuple(terms), constants


def _lowest(function: BasisFunction) -> float:
    """What a function is more than its terms.

    A clip the place below which it is constant, a hinge its square, a hurdle's number 1 if there
    may be lower ones.
    """
    if function.kind == LOWER_HINGE:
        return function.place**2
    if not np.isfinite(function.place):
        return 0.0
    return {CLIP: function.place, PRESENT: 1.0}.get(function.kind, 0.0)


def _terms_of(
    design: ScoreDesign, place: int, weight: Floats, contexts: tuple[int, ...], rows: Bools
) -> list[Term]:
    """A function in the numbers of the table, as terms.

    A clip is made of kinks, and of x if it has no lowest place; a hinge below a place of a square
    and one above it; and whether a hurdle has a number of steps.
    """
    data = design.data
    function = design.functions[place]
    own = [j for j in (function.owner, function.partner) if j >= 0]
    causes = tuple(int(data.position[j]) for j in own)
    standard = {
        int(data.position[j]): (data.codes[j] if data.kind[j] == CLASS else data.values[j])[rows]
        for j in own
    }
    if function.kind == LOWER_HINGE:
        parts = [
            ("square", 0.0, 1.0),
            ("linear", 0.0, -2.0 * function.place),
            ("hinge", function.place, -1.0),
        ]
    elif function.kind == PRESENT:
        ends = ((function.place, -1.0), (function.end, 1.0))
        parts = [("own step", at, sign) for at, sign in ends if np.isfinite(at)]
    elif function.kind != CLIP:
        parts = [(plain.KINDS[function.kind], function.place, 1.0)]
    else:
        parts = [
            ("kink", function.place, 1.0) if np.isfinite(function.place) else ("linear", 0.0, 1.0)
        ]
        parts += [("kink", function.end, -1.0)] if np.isfinite(function.end) else []
    bare = [
        Term(kind, causes, float(at), tuple((sign * weight).tolist()), 0.0, contexts)
        for kind, at, sign in parts
    ]
    if function.kind == PRODUCT and function.end >= 0:
        shares = tuple(
            float((standard[cause] == level).mean())
            for cause, level in zip(causes, (function.place, function.end), strict=True)
        )
        bare = [replace(term, second=float(function.end), shares=shares) for term in bare]
    return [replace(term, average=float(np.mean(term.values(standard)))) for term in bare]
