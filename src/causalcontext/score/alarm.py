"""Do straight lines leave something to explain? A quick look at the best linear model.

The search with curves takes several times as long as that without. It is left out where no curve would be worth its
price in the best linear model: no curve of an earlier variable, none of a later one that looks unrelated (of two
variables joined by a square alone either may have come first), none of an effect in the regression of its cause with
which the link would better be turned round, and no product.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.orders.fit_arrays import NUMBER
from causalcontext.score.data import members
from causalcontext.score.design import POOLED, ScoreDesign
from causalcontext.score.model import FittedModel, Part, translated
from causalcontext.score.proposals import products_for
from causalcontext.score.workspace import ColumnTask, FitWorkspace

MOST_FOR_PRODUCTS = 60
"""Beyond so many variables products are not looked for here."""


def looks_curved(design: ScoreDesign, model: FittedModel, need: float) -> tuple[bool, float]:
    """Whether curves and products would gain so much in a model without curves, one a regression, prices paid.

    Then what curves of earlier variables would gain: these need nothing else to change.
    """
    gains, earlier = _gains(design, model)
    total, certain = (float(np.maximum(each.max(axis=1, initial=0.0), 0.0).sum())
                      for each in (gains, np.where(earlier, gains, -np.inf)))  # fmt: skip
    curved = total > need or _turned_round(design, model, need) > need
    return curved or total + sum(_products(design, model)) > need, certain


def curves_gain(design: ScoreDesign, model: FittedModel) -> float:
    """What the curves of all variables would gain in a model without curves, each by itself, prices paid."""
    if not design.curved.any():
        return np.inf
    return float(np.maximum(_gains(design, model)[0], 0.0).sum())


def _gains(design: ScoreDesign, model: FittedModel) -> tuple[Floats, Bools]:
    """What the best curve of every eligible variable would gain in every regression of a model; which come before."""
    unrelated = _unrelated(design)
    eligible = [_eligible(design, model, node, part, unrelated) for node, part in model.regressions()]
    earlier = [model.before(node, part.mask) for node, part in model.regressions()]
    same = [(part.block, node, part.columns) for node, part in translated(model, design).regressions()]
    return np.where(np.array(eligible), _of_one_curve(design, same), -np.inf), np.array(earlier)


def _of_one_curve(design: ScoreDesign, tasks: list[ColumnTask]) -> Floats:
    """What the best curve of every variable gains beside given columns, by (block, node, columns)."""
    return np.asarray(FitWorkspace(design, curves=True).extras(tasks, plain=False)[:, :, 0])


def _turned_round(design: ScoreDesign, model: FittedModel, need: float) -> float:
    """What turning a link round would gain at most, if it may be a curve then: all rows, the same other parents.

    Pairs in which no curve of the effect would pay beside lines are passed over.
    """
    p, block = design.data.responses, design.block(POOLED, design.everything)
    links = np.asarray(model.links.any(axis=0))[:p, :p]
    wanted: list[tuple[int, Bools]] = []
    for cause, effect in _bent_backwards(design, links, need):
        above, beside = links[:, cause], links[:, effect]
        this, that = np.arange(p) == cause, np.arange(p) == effect
        wanted += [(cause, above), (effect, beside), (cause, above | that), (effect, beside & ~this)]
    if not wanted:
        return 0.0
    tasks = [(block, node) for node, _ in wanted]
    scores, _, _ = FitWorkspace(design, curves=True).fit(tasks, [candidates for _, candidates in wanted])
    by_pair = scores.reshape(-1, 4)
    return float((by_pair[:, 2] + by_pair[:, 3] - by_pair[:, 0] - by_pair[:, 1]).max())


def _bent_backwards(design: ScoreDesign, links: Bools, need: float) -> list[tuple[int, int]]:
    """Links between numbers in which a curve of the effect would pay in the regression of the cause, and is allowed."""
    block, tasks, numbers = design.block(POOLED, design.everything), [], design.data.kind == NUMBER
    pairs = [(cause, effect) for cause, effect in np.argwhere(links).tolist()
             if numbers[cause] and numbers[effect] and design.allowed[cause, effect]]  # fmt: skip
    for cause, effect in pairs:
        parents = [j for j in np.flatnonzero(links[:, cause]).tolist() if j != effect and numbers[j]]
        others = [effect, *parents][: design.width(True) - 1]
        tasks.append((block, cause, [int(design.first[j]) for j in others]))
    gains = _of_one_curve(design, tasks)
    return [pair for pair, row in zip(pairs, gains, strict=True) if row[pair[1]] > need]


def _eligible(design: ScoreDesign, model: FittedModel, node: int, part: Part, unrelated: Bools) -> Bools:
    """Variables whose curves may belong into a regression; into that of a category only those that look unrelated.

    Given a category every function of a cause differs in mean, and a straight line is not the right one. What
    may not be an effect could as well come first, wherever it stands.
    """
    data, p = design.data, design.data.responses
    eligible = unrelated[node, :p] & ~model.links[members(part.mask, data.contexts), node, :p].any(axis=0)
    if data.kind[node] == NUMBER:
        eligible |= model.before(node, part.mask) | ~design.allowed[:p, node]
    return np.asarray(eligible & design.allowed[node])


def _unrelated(design: ScoreDesign) -> Bools:
    """Pairs of variables, the context being last, whose plain columns are not correlated over all rows."""
    data, p, n = design.data, design.data.responses, design.data.total
    first = design.first[:p]
    away = design.means[:, first] - data.n @ design.means[:, first] / n
    total = design.scatter[:, first[:, None], first].sum(axis=0) + (away.T * data.n) @ away
    unrelated = np.zeros((p + 1, p + 1), dtype=bool)
    unrelated[:p, :p] = total**2 / n < np.log(n)
    unrelated[p, :p] = (data.n[:, None] * away**2).sum(axis=0) < np.log(n) * max(data.contexts - 1, 1)
    return unrelated


def _products(design: ScoreDesign, model: FittedModel) -> Iterator[float]:
    """What the best product of earlier variables would gain in every regression, its price paid.

    Of three variables one of which is the product of the others the last one shows it, whatever their order.
    """
    data = design.data
    for node, part in model.regressions():
        if data.kind[node] != NUMBER or not 3 <= data.candidates <= MOST_FOR_PRODUCTS:
            continue
        residual, rows = residuals_of(model, node, part)
        cost = design.price(data.rows_of(part.mask))
        gains = [gain for _, gain in products_for(data, model.before(node, part.mask), rows, residual, cost)]
        yield max(gains, default=0.0)


def residuals_of(model: FittedModel, node: int, part: Part) -> tuple[Floats, Bools]:
    """The residuals of a number in one of its regressions, and the rows of it."""
    design = model.design
    matrix, rows, _ = design.matrix_and_rows(part.block, part.columns)
    response = design.values[design.response[node], rows]
    slopes = np.linalg.lstsq(matrix.T, response, rcond=None)[0]
    return response - slopes @ matrix, rows
