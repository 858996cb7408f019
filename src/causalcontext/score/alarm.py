"""Do straight lines leave something to explain? A quick look at the best linear model.

The search with curves takes several times as long as that without. It is left out where no curve would be worth its
price in the best linear model: no curve of an earlier variable, none of a later one that looks unrelated (of two
variables joined by a square alone either may have come first), none of an effect in the regression of its cause with
which the link would better be turned round, and no product.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.orders.node_data import NUMBER
from causalcontext.kernels.orders.node_scores import fit_pointer
from causalcontext.kernels.orders.set_scores import best_extras
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.score.blocks import price
from causalcontext.score.design import FitWorkspace, ScoreDesign
from causalcontext.score.design_factory import DesignFactory
from causalcontext.score.model import FittedModel, Part, members, translated
from causalcontext.score.proposals import products_for

ONLY_CURVES = np.array([False, True])
MOST_FOR_PRODUCTS = 60
"""Beyond so many variables products are not looked for here."""


def looks_curved(designs: DesignFactory, model: FittedModel, need: float) -> tuple[bool, float]:
    """Whether curves and products would gain so much in a model without curves, one a regression, prices paid.

    Then what curves of earlier variables would gain: these need nothing else to change.
    """
    gains, earlier = _gains(designs, model)
    total, certain = (float(np.maximum(each.max(axis=1, initial=0.0), 0.0).sum())
                      for each in (gains, np.where(earlier, gains, -np.inf)))  # fmt: skip
    curved = total > need or _turned_round(designs, model, need) > need
    return curved or total + sum(_products(designs, model)) > need, certain


def curves_gain(designs: DesignFactory, model: FittedModel) -> float:
    """What the curves of all variables would gain in a model without curves, each by itself, prices paid."""
    if not designs.columns.curved.any():
        return np.inf
    return float(np.maximum(_gains(designs, model)[0], 0.0).sum())


def _gains(designs: DesignFactory, model: FittedModel) -> tuple[Floats, Bools]:
    """What the best curve of every eligible variable would gain in every regression of a model; which come before."""
    layout = designs.layout(model.layout.masks, curves=True)
    tasks, eligible, earlier, unrelated = [], [], [], _unrelated(designs)
    for (node, part), (_, own) in zip(_regressions(translated(model, layout)), _regressions(model), strict=True):
        tasks.append((part.block, node, part.columns.tolist()))
        eligible.append(_eligible(designs, model, node, own, unrelated))
        earlier.append(before(model, node, members(own.mask, designs.setup.contexts)))
    return np.where(np.array(eligible), _of_one_curve(layout, tasks), -np.inf), np.array(earlier)


def _of_one_curve(layout: ScoreDesign, tasks: list[tuple[int, int, list[int]]]) -> Floats:
    """What the best curve of every variable gains beside given columns, by (block, node, columns)."""
    out = np.zeros((len(tasks), layout.setup.variables, 2))
    sets = np.zeros((len(tasks), 1 + layout.width), dtype=np.int64)
    for row, (_, _, columns) in enumerate(tasks):
        sets[row, : 1 + len(columns)] = [len(columns), *columns]
    pairs = np.array([[block, node] for block, node, _ in tasks], dtype=np.int64).reshape(-1, 2)
    best_extras(FitWorkspace(layout, 1, layout.memory()).note, pairs, sets, ONLY_CURVES, out)
    return np.asarray(out[:, :, 0])


def _turned_round(designs: DesignFactory, model: FittedModel, need: float) -> float:
    """What turning a link round would gain at most, if it may be a curve then: all rows, the same other parents.

    Pairs in which no curve of the effect would pay beside lines are passed over.
    """
    setup, p = designs.setup, designs.setup.variables
    layout = designs.layout([(1 << setup.contexts) - 1], curves=True)
    links = np.asarray(model.links.any(axis=0))[:p, :p]
    pairs = _bent_backwards(layout, links, need)
    wanted: list[tuple[int, Bools]] = []
    for cause, effect in pairs:
        above, beside = links[:, cause], links[:, effect]
        this, that = np.arange(p) == cause, np.arange(p) == effect
        wanted += [(cause, above), (effect, beside), (cause, above | that), (effect, beside & ~this)]
    if not wanted:
        return 0.0
    tasks = np.array([[0, node] for node, _ in wanted], dtype=np.int64)
    scores, top = np.zeros(len(wanted)), FitWorkspace(layout, 1, designs.memory(layout))
    fit_many(fit_pointer(), layout.calls, top.note, tasks, np.array([candidates for _, candidates in wanted]), scores,
             np.zeros((len(wanted), 0)), np.zeros((len(wanted), 0), dtype=np.int64))  # fmt: skip
    by_pair = scores.reshape(-1, 4)
    return float((by_pair[:, 2] + by_pair[:, 3] - by_pair[:, 0] - by_pair[:, 1]).max())


def _bent_backwards(layout: ScoreDesign, links: Bools, need: float) -> list[tuple[int, int]]:
    """Links between numbers in which a curve of the effect would pay in the regression of the cause, and is allowed."""
    setup, tasks = layout.setup, []
    numbers = setup.kind == NUMBER
    pairs = [(cause, effect) for cause, effect in np.argwhere(links).tolist()
             if numbers[cause] and numbers[effect] and setup.allowed[cause, effect]]  # fmt: skip
    for cause, effect in pairs:
        parents = [j for j in np.flatnonzero(links[:, cause]).tolist() if j != effect and numbers[j]]
        others = [effect, *parents][: layout.width - 1]
        tasks.append((0, cause, [int(layout.columns.first[j]) for j in others]))
    gains = _of_one_curve(layout, tasks)
    return [pair for pair, row in zip(pairs, gains, strict=True) if row[pair[1]] > need]


def _regressions(model: FittedModel) -> Iterator[tuple[int, Part]]:
    for node, parts in enumerate(model.parts):
        for part in parts:
            yield node, part
    if model.layout.setup.contexts > 1:
        everything = (1 << model.layout.setup.contexts) - 1
        yield len(model.parts), Part(model.layout.masks.index(everything), everything, model.context_columns)


def _eligible(designs: DesignFactory, model: FittedModel, node: int, part: Part, unrelated: Bools) -> Bools:
    """Variables whose curves may belong into a regression; into that of a category only those that look unrelated.

    Given a category every function of a cause differs in mean, and a straight line is not the right one. What
    may not be an effect could as well come first, wherever it stands.
    """
    setup = designs.setup
    p, here = setup.variables, members(part.mask, setup.contexts)
    eligible = unrelated[node, :p] & ~model.links[here, node, :p].any(axis=0)
    if setup.kind[node] == NUMBER:
        eligible |= before(model, node, here) | ~setup.allowed[:, node]
    return np.asarray(eligible & (setup.context_allowed if node == p else setup.allowed[node]))


def before(model: FittedModel, node: int, contexts: list[int]) -> Bools:
    """The variables before a node in all of some contexts."""
    place = np.argsort(model.orders, axis=1)[contexts]
    return np.asarray((place[:, : len(model.parts)] < place[:, node : node + 1]).all(axis=0))


def _unrelated(designs: DesignFactory) -> Bools:
    """Pairs of variables, the context being last, whose plain columns are not correlated over all rows."""
    setup, columns = designs.setup, designs.columns
    p, n = setup.variables, setup.total
    first = columns.first[:p]
    away = columns.means[:, first] - setup.n @ columns.means[:, first] / n
    total = columns.scatter[:, first[:, None], first].sum(axis=0) + (away.T * setup.n) @ away
    unrelated = np.zeros((p + 1, p + 1), dtype=bool)
    unrelated[:p, :p] = total**2 / n < np.log(n)
    unrelated[p, :p] = (setup.n[:, None] * away**2).sum(axis=0) < np.log(n) * max(setup.contexts - 1, 1)
    return unrelated


def _products(designs: DesignFactory, model: FittedModel) -> Iterator[float]:
    """What the best product of earlier variables would gain in every regression, its price paid.

    Of three variables one of which is the product of the others the last one shows it, whatever their order.
    """
    setup = designs.setup
    for node, parts in enumerate(model.parts):
        if setup.kind[node] != NUMBER or not 3 <= setup.variables <= MOST_FOR_PRODUCTS:
            continue
        for part in parts:
            earlier = before(model, node, members(part.mask, setup.contexts))
            residual, rows = residuals_of(model, node, part)
            cost = price(designs.options, setup.block_rows(part.mask))
            gains = [gain for _, gain in products_for(setup, earlier, rows, residual, cost)]
            yield max(gains, default=0.0)


def residuals_of(model: FittedModel, node: int, part: Part) -> tuple[Floats, NDArray[np.bool_]]:
    """The residuals of a number in one of its regressions, and the rows of it."""
    layout, setup = model.layout, model.layout.setup
    design = int(layout.tables.block[part.block, 2])
    about = layout.tables.about[design]
    context = setup.rows.codes[-1]
    rows = (part.mask >> context & 1).astype(bool)
    here = context[rows]
    levels = members(part.mask, setup.contexts) if layout.tables.block[part.block, 4] else [-1]
    shifts = [np.ones(len(here)) if r < 0 else (here == r).astype(float) for r in levels]
    columns = [layout.columns.values[about[2, c], rows] * ((about[4, c] >> here & 1) if about[4, c] else 1.0)
               for c in part.columns]  # fmt: skip
    matrix = np.stack([*shifts, *columns])
    response = layout.columns.values[layout.columns.response[node], rows]
    slopes = np.linalg.lstsq(matrix.T, response, rcond=None)[0]
    return response - slopes @ matrix, rows
