"""Curves: whether straight lines leave something to explain, and which columns the data propose for
it.

The search with curves takes several times as long as that without. It is left out where no curve
would be worth its price in the best linear model: no curve of an earlier variable, none of a later
one that looks unrelated (of two variables joined by a square alone either may have come first),
none of an effect in the regression of its cause with which the link would better be turned round,
and no product, in place of a slope that changes with a context either.

A threshold between two offered steps leaves rows on the wrong side, and noise with a sharp edge
makes much of them. So where a curve of x in the regression of y on everything else, or on x alone,
is worse than a single step at its best place, that step is proposed. A product is proposed where it
still explains what the regression on everything else leaves. The logit of a category adds up what
its causes do to the log odds; where two neighbours of a category do more together, products of
their levels are proposed. Proposals only widen the choice: a proposed column must pay more than
others, and both ends must come before the effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations
from math import log

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import stable_order
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.limits import SMALLEST_SCATTER
from causalcontext.kernels.linear import weighted_products
from causalcontext.kernels.orders.fit_arrays import CLASS, NUMBER
from causalcontext.kernels.rows.class_choice import TOLERANCE
from causalcontext.kernels.rows.glm import RIDGE, first_slopes, fit_glm, probabilities
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.score.columns import OWN_STEP, PRODUCT, BasisFunction
from causalcontext.score.data import ScoreData, members
from causalcontext.score.design import POOLED, SHIFTED, ScoreDesign
from causalcontext.score.model import FittedModel, Part, translated
from causalcontext.score.options import Clock
from causalcontext.score.workspace import ColumnTask, FitWorkspace

MOST_FOR_PRODUCTS = 60
"""Beyond so many variables products are not looked for here."""
FEWEST = 10
"""A step needs so many rows on either side, a combination of levels so many in all."""
MOST_PRODUCTS = 40
MOST_INTERACTIONS = 12
"""The most products of levels that are proposed for a category."""
MOST_CELLS = 8_000_000
"""Rows times products of levels: with more, every so many rows are looked at."""
MOST_IN_PAIRS = 30
"""Up to so many variables steps are also looked for in pairs of them."""


def looks_curved(design: ScoreDesign, model: FittedModel, need: float) -> tuple[bool, float]:
    """True if curves and products would gain so much in a model without curves, one a regression,
    prices paid.

    Then what curves of earlier variables would gain: these need nothing else to change.
    """
    gains, earlier = _gains(design, model)
    total, certain = (
        float(np.maximum(each.max(axis=1, initial=0.0), 0.0).sum())
        for each in (gains, np.where(earlier, gains, -np.inf))
    )
    curved = (
        total > need or _for_contexts(design, model) or _turned_round(design, model, need) > need
    )
    return curved or total + sum(_products(design, model)) > need, certain


def curves_gain(design: ScoreDesign, model: FittedModel) -> float:
    """What the curves of all variables would gain in a model without curves, each by itself, prices
    paid.
    """
    if not design.curved.any():
        return np.inf
    return float(np.maximum(_gains(design, model)[0], 0.0).sum())


def _gains(design: ScoreDesign, model: FittedModel) -> tuple[Floats, Bools]:
    """What the best curve of every eligible variable would gain in every regression of a model;
    which come before.
    """
    data = design.data
    unrelated = _unrelated(design)
    eligible = [
        _eligible(design, model, node, part, unrelated) for node, part in model.regressions()
    ]
    earlier = np.array([model.before(node, part.mask) for node, part in model.regressions()])
    same = [
        (part.block, node, part.columns) for node, part in translated(model, design).regressions()
    ]
    gains = np.where(np.array(eligible), _of_one_curve(design, same), -np.inf)
    later = np.flatnonzero(((gains > 0.0) & ~earlier).any(axis=1)).tolist()
    # what comes before a context may differ by its values, and so do curves of all that follows it:
    # no more than beside a level for every context
    pooled = [
        i for i in later if design.key(same[i][0])[0] == POOLED and data.kind[same[i][1]] == NUMBER
    ]
    for reader in range(len(data.readers)) if pooled else ():
        beside = design.block(SHIFTED, design.everything, reader)
        gains[pooled] = np.minimum(
            gains[pooled], _of_one_curve(design, [(beside, *same[i][1:]) for i in pooled])
        )
    return gains, earlier


def _of_one_curve(design: ScoreDesign, tasks: list[ColumnTask]) -> Floats:
    """What the best curve of every variable gains beside given columns, by (block, node,
    columns).
    """
    return np.asarray(FitWorkspace(design, curves=True).extras(tasks, plain=False)[:, :, 0])


def _turned_round(design: ScoreDesign, model: FittedModel, need: float) -> float:
    """What turning a link round would gain at most, if it may be a curve then: all rows, the same
    other parents.

    That is the least of what it gains with one line for all contexts and with levels and slopes of
    their own, which look like curves where there is none. Pairs in which no curve of the effect
    would pay beside lines are passed over.
    """
    data, block, numbers = (
        design.data,
        design.block(POOLED, design.everything),
        design.data.kind == NUMBER,
    )
    links = np.asarray(model.links[:, : data.candidates, : data.nodes].any(axis=0))
    links[~data.is_system] = False
    links[:, data.responses :] = False
    pairs = [
        (cause, effect)
        for cause, effect in np.argwhere(links[: data.nodes]).tolist()
        if numbers[cause] and numbers[effect] and design.allowed[cause, effect]
    ]
    tasks: list[ColumnTask] = []
    for cause, effect in pairs:
        parents = [
            j for j in np.flatnonzero(links[:, cause]).tolist() if j != effect and numbers[j]
        ]
        others = [effect, *parents][: design.width(True) - 1]
        tasks.append((block, cause, [int(design.first[j]) for j in others]))
    wanted: list[tuple[int, Bools]] = []
    for (cause, effect), gains in zip(pairs, _of_one_curve(design, tasks), strict=True):
        if gains[effect] <= need:
            continue
        above = links[:, cause]
        beside = links[:, effect]
        this = np.arange(len(links)) == cause
        that = np.arange(len(links)) == effect
        wanted += [
            (cause, above),
            (effect, beside),
            (cause, above | that),
            (effect, beside & ~this),
        ]
    if not wanted:
        return 0.0
    ways = (
        block,
        *(way for reader in range(len(data.readers)) for way in design.changing(reader)[:2]),
    )
    # after the ways: a workspace has the blocks that there are when it is made
    workspace = FitWorkspace(design, curves=True)
    candidates = [candidates for _, candidates in wanted]
    gain = np.full(len(wanted) // 4, np.inf)
    for way in ways:
        by_pair = workspace.fit([(way, node) for node, _ in wanted], candidates)[0].reshape(-1, 4)
        with np.errstate(invalid="ignore"):  # a hurdle has no such fit where single slopes change
            gain = np.fmin(gain, by_pair[:, 2] + by_pair[:, 3] - by_pair[:, 0] - by_pair[:, 1])
        if gain.max() <= need:
            break
    return float(gain.max())


def _eligible(
    design: ScoreDesign, model: FittedModel, node: int, part: Part, unrelated: Bools
) -> Bools:
    """Variables whose curves may belong into a regression; into that of a category only those that
    look unrelated.

    Given a category every function of a cause differs in mean, and a straight line is not the right
    one. What may not be an effect could as well come first, wherever it stands.
    """
    data = design.data
    eligible = unrelated[node] & ~model.links[
        members(part.mask, data.contexts), node, : data.candidates
    ].any(axis=0)
    if data.kind[node] == NUMBER:
        eligible |= model.before(node, part.mask)
        eligible[: data.nodes] |= ~design.allowed[:, node]
    return np.asarray(eligible & design.allowed[node])


def _unrelated(design: ScoreDesign) -> Bools:
    """Nodes and candidates, system variables, whose plain columns are not correlated over all
    rows.
    """
    data, p, n = design.data, design.data.responses, design.data.total
    system = np.flatnonzero(data.is_system)
    first = design.first[system]
    away = design.means[:, first] - data.n @ design.means[:, first] / n
    total = design.scatter[:, first[:, None], first].sum(axis=0) + (away.T * data.n) @ away
    unrelated = np.zeros((data.nodes, data.candidates), dtype=bool)
    unrelated[:p, system] = total[:p] ** 2 / n < np.log(n)
    for reader in data.readers:
        if len(reader.variables) > 1 or (context := reader.variables[0]) >= data.nodes:
            continue
        rows = np.bincount(reader.groups, weights=data.n)
        sums = (reader.groups == np.arange(reader.levels)[:, None]) @ (data.n[:, None] * away)
        unrelated[context, system] = (sums**2 / rows[:, None]).sum(axis=0) < np.log(n) * (
            reader.levels - 1
        )
    return unrelated


def _products(design: ScoreDesign, model: FittedModel) -> Iterator[float]:
    """What the best product of earlier variables would gain in every regression, its price paid.

    Of three variables one of which is the product of the others the last one shows it, whatever
    their order.
    """
    data = design.data
    for node, part in model.regressions():
        if data.kind[node] != NUMBER or not 3 <= data.causes <= MOST_FOR_PRODUCTS:
            continue
        residual, rows = model.residual(node, part)
        cost = design.price(data.rows_of(part.mask))
        before = model.before(node, part.mask) & data.is_system
        yield max(
            (gain for _, gain in _products_for(data, before, rows, residual, cost)), default=0.0
        )


def _for_contexts(design: ScoreDesign, model: FittedModel) -> bool:
    """True if a product explains one end of a link better than a slope of the other end that
    changes with the context.

    A context that follows z hides the product of x and z: no residual is left of it, and links turn
    round.
    """
    data = design.data
    numbers = np.flatnonzero((data.kind == NUMBER) & data.is_system)
    if data.contexts == 1 or not 3 <= len(numbers) <= MOST_FOR_PRODUCTS:
        return False
    parents = np.asarray(model.parents.any(axis=0))
    shifts = [(data.cells == r).astype(float) for r in range(1, data.contexts)]
    for node in (
        node for node in range(data.responses) if data.kind[node] == NUMBER and model.reads(node)
    ):
        for cause in (x for x in numbers.tolist() if parents[node, x]):
            for effect, other in ((node, cause), (cause, node))[
                : 2 if cause < data.responses else 1
            ]:
                beside = [j for j in numbers.tolist() if parents[effect, j] and j != other]
                third = [z for z in numbers.tolist() if z not in (effect, other)]
                lead = product_lead(
                    data.values[effect],
                    data.values[other],
                    data.values[beside],
                    data.values[third],
                    shifts,
                    design.price(data.total),
                )
                if effect == cause and lead > log(len(third)):  # the link would have to turn round
                    own = [j for j in numbers.tolist() if parents[node, j]]
                    lead = min(
                        lead, _lead_of_turning(data, node, cause, own, beside, third, shifts)
                    )
                if lead > log(len(third)):
                    return True
    return False


def _lead_of_turning(
    data: ScoreData,
    node: int,
    cause: int,
    parents: list[int],
    above: list[int],
    third: list[int],
    shifts: Sequence[Floats],
) -> float:
    """How much better node and cause are explained if the link turns round and the cause has a
    product of the node.

    In nats; the node has slopes by context of its `parents`, the cause of those `above` it.
    """

    def left(y: int, columns: Iterable[Floats]) -> float:
        """The log of what regression leaves of the squares of a number."""
        basis = np.linalg.qr(np.column_stack([np.ones(len(data.values[y])), *columns]))[0]
        rest = data.values[y] - basis @ (basis.T @ data.values[y])
        return log(max(float(rest @ rest), SMALLEST_SCATTER))

    def by_context(causes: list[int]) -> list[Floats]:
        """Shifts, lines and slopes by context."""
        return [*shifts, *(data.values[j] * weight for j in causes for weight in (1.0, *shifts))]

    x = data.values[node]
    gains = []
    for z in third:
        beside = [*by_context(above), *data.values[[z] if z not in above else []]]
        gains.append(left(cause, beside) - left(cause, [*beside, x, x * data.values[z]]))
    lost = left(node, by_context([j for j in parents if j != cause])) - left(
        node, by_context(parents)
    )
    return 0.5 * len(x) * (max(gains) - lost)


def product_lead(
    y: Floats, x: Floats, others: Floats, third: Floats, shifts: Sequence[Floats], price: float
) -> float:
    """How much better a product of x and another number explains y than lines, and than slopes by
    context.

    In nats, every column at its price; `others` and the number itself are beside it in all of them.
    Slopes by context are those of x alone, or of `others` as well. `shifts` are the indicators of
    all contexts but one.
    """
    n = len(y)
    floor = SMALLEST_SCATTER
    plain = np.column_stack([np.ones(n), x, *others])
    basis = np.linalg.qr(plain)[0]
    rest = third - (third @ basis) @ basis.T
    products = third * x
    products -= (products @ basis) @ basis.T
    line, own = _beside(y - basis @ (basis.T @ y), rest, floor)
    products -= ((products * rest).sum(axis=1) / np.maximum((rest * rest).sum(axis=1), floor))[
        :, None
    ] * rest
    bent = np.maximum(
        line
        - (products * own).sum(axis=1) ** 2 / np.maximum((products * products).sum(axis=1), floor),
        floor,
    )
    lead = 0.5 * n * np.log(line / bent) - price
    for changing in (2, plain.shape[1])[: 1 + bool(len(others))]:
        if lead.max() <= 0.0:  # the columns are many, and straight lines the rule
            break
        changes = [plain[:, :changing] * shift[:, None] for shift in shifts]
        split = np.linalg.qr(np.column_stack([plain, *changes]))[0]
        apart, _ = _beside(y - split @ (split.T @ y), third - (third @ split) @ split.T, floor)
        over_contexts = 0.5 * n * np.log(apart / bent) + price * (changing * len(shifts) - 1)
        lead = np.minimum(lead, over_contexts)
    return float(lead.max())


def _beside(left: Floats, columns: Floats, floor: float) -> tuple[Floats, Floats]:
    """What every one of some columns leaves of a residual: the sum of squares, and the rest
    itself.
    """
    slopes = (columns @ left) / np.maximum((columns * columns).sum(axis=1), floor)
    rest = left - slopes[:, None] * columns
    return np.maximum((rest * rest).sum(axis=1), floor), rest


def propose(design: ScoreDesign) -> list[BasisFunction]:
    """Columns worth trying beside the usual ones, in a fixed order."""
    data = design.data
    alone = np.eye(data.candidates, dtype=bool)
    numbers = np.flatnonzero(data.kind == NUMBER).tolist()
    effects = [y for y in numbers if y < data.responses]
    everything = [(y, data.is_system & ~alone[y]) for y in effects]
    everything += [
        (c, data.is_system) for c in range(data.responses, data.nodes) if data.classes[c] == 2
    ]
    pairs = (
        [(y, alone[x]) for y in effects for x in numbers if x != y]
        if len(numbers) <= MOST_IN_PAIRS
        else []
    )
    cost = design.price(data.total)
    order = cache(lambda x: stable_order(data.values[x]))
    steps: dict[BasisFunction, None] = {}
    products: dict[BasisFunction, float] = {}
    wanted = everything + pairs
    block = design.block(POOLED, design.everything)
    workspace = FitWorkspace(design, curves=True, densities=False)
    _, fitted, sets = workspace.fit(
        [(block, node) for node, _ in wanted], [others for _, others in wanted]
    )
    for place, ((node, _), slopes, chosen) in enumerate(zip(wanted, fitted, sets, strict=True)):
        columns = design.values[chosen]
        slopes = slopes[: len(chosen)]
        response = design.values[design.response[node]]
        if node >= data.responses:  # a context is regressed by a linear probability
            response = (data.codes[node] == 0).astype(float)
            slopes = np.linalg.lstsq(columns.T, response - response.mean(), rcond=None)[0]
        residual = response - slopes @ columns
        residual = residual - residual.mean()
        steps.update(dict.fromkeys(_steps(design, residual, chosen, slopes, order)))
        if place < len(everything) and node < data.responses:
            others = data.is_system & ~alone[node]
            for function, gain in _products_for(
                data, others, np.arange(len(residual)), residual, cost
            ):
                products[function] = max(gain, products.get(function, 0.0))
    best = sorted(products, key=lambda function: -products[function])[:MOST_PRODUCTS]
    return [*sorted(steps), *sorted(best)]


def propose_interactions(
    design: ScoreDesign, model: FittedModel, clock: Clock
) -> list[BasisFunction]:
    """Products of levels of two neighbours of a category that its logit on these two leaves out.

    Neighbours are its causes and its effects in a model without products, which may have turned
    links round.
    """
    data = design.data
    categories = (data.kind == CLASS) & data.is_system
    linked = np.asarray(model.links[:, : data.candidates, : data.nodes].any(axis=0))
    linked[: data.nodes] |= linked[: data.nodes].T
    found: set[BasisFunction] = set()
    for node in np.flatnonzero(data.kind[: data.nodes] == CLASS).tolist():
        classes = int(data.classes[node])
        gains = dict[BasisFunction, float]()
        needed = (classes - 1) * design.price(data.total) + log(
            max(data.causes * (data.causes - 1) / 2, 10)
        )
        for one, other in combinations(np.flatnonzero(linked[:, node] & categories).tolist(), 2):
            if clock.late:
                break
            step = max(
                1,
                int(data.classes[one] * data.classes[other] * len(data.codes[node])) // MOST_CELLS,
            )
            first, second = (
                (data.codes[j, ::step] == np.arange(data.classes[j])[:, None]).astype(float)
                for j in (one, other)
            )
            codes = np.ascontiguousarray(data.codes[node, ::step])
            own = step * data.weight * interaction_gains(codes, classes, first, second)
            gains |= {
                BasisFunction(one, other, PRODUCT, float(a), float(b)): float(own[a, b])
                for a, b in np.argwhere(own > needed).tolist()
            }
        found |= set(sorted(gains, key=lambda function: -gains[function])[:MOST_INTERACTIONS])
    return sorted(found)


def interaction_gains(codes: Ints, classes: int, one: Floats, other: Floats) -> Floats:
    """What every product of levels would add to the log-likelihood of a logit on two categories,
    about.

    Score tests, with variances that hold if the logit does not; 0 for combinations of a few rows.

    Parameters
    ----------
    codes : array of int, shape (rows,)
    one, other : arrays, shape (levels, rows)
        Indicators of the levels of either category.
    """
    plain = np.vstack([np.ones_like(one[:1]), one[:-1], other[:-1]])
    slopes = first_slopes(LOGIT, codes, classes, len(plain))
    fit_glm(LOGIT, plain, codes, classes, slopes, RIDGE, TOLERANCE)
    left = (codes[:, None] == np.arange(classes)) - probabilities(LOGIT, plain, classes, slopes)
    basis = np.linalg.qr(plain.T)[0]
    products = (one[:, None] * other).reshape(-1, len(codes))
    few = products.sum(axis=1) < FEWEST
    products -= (products @ basis) @ basis.T
    score = (products @ left) ** 2 / np.maximum(
        (products * products) @ (left * left), SMALLEST_SCATTER
    )
    # one class is what the others leave
    gains = np.where(few, 0.0, 0.5 * (1.0 - 1.0 / classes) * score.sum(axis=1))
    return np.asarray(gains.reshape(len(one), len(other)))


def _steps(
    design: ScoreDesign,
    residual: Floats,
    chosen: Ints,
    slopes: Floats,
    order: Callable[[int], Ints],
) -> Iterator[BasisFunction]:
    """Steps that are better than the curves of a regression, with the other columns as they are."""
    owners = design.owner[chosen]
    half = 0.5 * design.data.total
    cost = design.price(design.data.total)
    for x in np.unique(owners[design.curved[chosen]]).tolist():
        mine = owners == x
        part = residual + slopes[mine] @ design.values[chosen[mine]]
        place, left = best_step(design.data.values[x], part, order(x))
        curve = half * log(max(float(residual @ residual), SMALLEST_SCATTER)) + cost * mine.sum()
        curve += design.surcharge[chosen[mine]].sum()
        if left > 0.0 and half * log(left) + cost + log(design.data.total) < curve:
            yield BasisFunction(x, -1, OWN_STEP, place)


def best_step(x: Floats, y: Floats, order: Ints) -> tuple[float, float]:
    """The place of the step of x, sorted by `order`, that explains y best, and the squares it
    leaves; 0 for no step.
    """
    ordered = x[order]
    values = y[order] - y.mean()
    below = np.cumsum(values)[:-1]
    count = np.arange(1, len(x))
    gain = below**2 / count + below**2 / (len(x) - count)
    gain[ordered[1:] <= ordered[:-1]] = -1.0
    gain[: FEWEST - 1] = gain[len(gain) - FEWEST + 1 :] = -1.0
    best = int(np.argmax(gain)) if len(gain) else 0
    if not len(gain) or gain[best] <= 0.0:
        return 0.0, 0.0
    return float(0.5 * (ordered[best] + ordered[best + 1])), float(values @ values - gain[best])


def _products_for(
    data: ScoreData, allowed: Bools, rows: NDArray[np.generic], residual: Floats, cost: float
) -> Iterator[tuple[BasisFunction, float]]:
    """Products of a number and a number or level that explain a residual on some rows; what they
    gain, price paid.
    """
    p = data.causes
    n = len(residual)
    names: list[tuple[int, float]] = []
    found = []
    for j in np.flatnonzero(allowed).tolist():
        if data.kind[j] == CLASS:
            levels = range(int(data.classes[j]) if data.classes[j] > 2 else 1)
            names += [(j, float(level)) for level in levels]
            found += [(data.codes[j][rows] == level).astype(float) for level in levels]
        elif data.kind[j] == NUMBER:
            names.append((j, -1.0))
            found.append(data.values[j][rows])
    if len(names) < 2:
        return
    factors = np.stack(found)
    factors -= factors.mean(axis=1, keepdims=True)
    shared = np.zeros((len(names),) * 2)
    square = np.zeros((len(names),) * 2)
    weighted_products(factors, residual, shared)
    weighted_products(factors * factors, np.ones(n), square)
    share = np.minimum(
        shared**2 / np.maximum(square * float(residual @ residual), 1e-300), 1.0 - 1e-9
    )
    gain = -0.5 * data.weight * n * np.log1p(-share) - cost - log(max(p * (p - 1) / 2, 10))
    for i, j in np.argwhere((gain > 0.0) & (square > 1e-8 * n)).tolist():
        (one, level), (other, second) = names[i], names[j]
        if one == other or (level >= 0 and second >= 0):
            continue
        if second >= 0:
            one, level, other, second = other, second, one, level
        ends = (min(one, other), max(one, other)) if level < 0 else (one, other)
        yield BasisFunction(*ends, PRODUCT, level), float(gain[i, j])
