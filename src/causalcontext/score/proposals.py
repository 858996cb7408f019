"""Columns that the data propose: steps at a place of their own, and products of two variables.

A threshold between two offered steps leaves rows on the wrong side, and noise with a sharp edge makes much of them. So
where a curve of x in the regression of y on everything else, or on x alone, is worse than a single step at its best
place, that step is proposed. A product is proposed where it still explains what the regression on everything else
leaves. Proposals only widen the choice: a proposed column must pay more than others, and both ends must come before the
effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.node_data import CLASS, NUMBER
from causalcontext.kernels.orders.node_scores import fit_pointer
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.kernels.rows.class_scores import weighted_products
from causalcontext.score.blocks import price
from causalcontext.score.columns import OWN_STEP, PRODUCT, Offer
from causalcontext.score.design import FitWorkspace
from causalcontext.score.design_factory import DesignFactory
from causalcontext.score.setup import Setup

FEWEST = 10
"""A step needs so many rows on either side."""
MOST_PRODUCTS = 40
MOST_IN_PAIRS = 30
"""Up to so many variables steps are also looked for in pairs of them."""


class NodeRegression(NamedTuple):
    """A node on some others: residuals, chosen columns, slopes."""

    node: int
    residual: Floats
    chosen: Ints
    slopes: Floats


def propose(designs: DesignFactory) -> list[Offer]:
    """Columns worth trying beside the usual ones, in a fixed order."""
    setup = designs.setup
    numbers = [j for j in range(setup.variables) if setup.kind[j] == NUMBER]
    everything = [(y, [j for j in range(setup.variables) if j != y]) for y in numbers]
    if setup.contexts == 2:
        everything.append((setup.variables, list(range(setup.variables))))
    pairs = [(y, [x]) for y in numbers for x in numbers if x != y] if len(numbers) <= MOST_IN_PAIRS else []
    cost = price(designs.options, setup.total)
    search = _StepSearch(designs, cost)
    steps: dict[Offer, None] = {}
    products: dict[Offer, float] = {}
    for place, fit in enumerate(_regressed(designs, everything + pairs)):
        steps.update(dict.fromkeys(search.steps(fit)))
        if place < len(everything) and fit.node < setup.variables:
            others = np.arange(setup.variables) != fit.node
            for offer, gain in products_for(setup, others, np.arange(len(fit.residual)), fit.residual, cost):
                products[offer] = max(gain, products.get(offer, 0.0))
    best = sorted(products, key=lambda offer: -products[offer])[:MOST_PRODUCTS]
    return [*sorted(steps), *sorted(best)]


def _regressed(designs: DesignFactory, wanted: list[tuple[int, list[int]]]) -> Iterator[NodeRegression]:
    """Nodes on some others, on all rows and by moments; the context by a linear probability."""
    setup, columns = designs.setup, designs.columns
    layout = designs.layout([(1 << setup.contexts) - 1], curves=True, densities=False)
    tasks = np.array([[0, node] for node, _ in wanted], dtype=np.int64).reshape(-1, 2)
    candidates = np.zeros((len(wanted), setup.variables), dtype=bool)
    for row, (_, others) in enumerate(wanted):
        candidates[row, others] = True
    scores, slopes = np.zeros(len(wanted)), np.zeros((len(wanted), layout.width))
    sets, top = np.zeros((len(wanted), 1 + layout.width), dtype=np.int64), FitWorkspace(layout, 1, layout.memory())
    fit_many(fit_pointer(), layout.calls, top.note, tasks, candidates, scores, slopes, sets)
    for row, (node, _) in enumerate(wanted):
        chosen = sets[row, 1 : 1 + sets[row, 0]]
        design = columns.values[chosen]
        if node == setup.variables:
            response = (setup.rows.codes[-1] == 0).astype(float)
            found = np.linalg.lstsq(design.T, response - response.mean(), rcond=None)[0]
        else:
            response, found = columns.values[columns.response[node]], slopes[row, : len(chosen)]
        residual = response - found @ design
        yield NodeRegression(node, residual - residual.mean(), chosen, found)


class _StepSearch:
    """Looks for steps that are better than the curves of a regression, with the other columns as they are."""

    def __init__(self, designs: DesignFactory, cost: float) -> None:
        self._setup, self._columns, self._cost = designs.setup, designs.columns, cost
        self._owner, self._curved = designs.columns.owner, designs.columns.curved
        self._surcharge = designs.columns.surcharge(designs.setup.total)
        self._orders: dict[int, Ints] = {}

    def steps(self, fit: NodeRegression) -> Iterator[Offer]:
        """The steps that a regression proposes."""
        owners = self._owner[fit.chosen]
        half = 0.5 * self._setup.total
        for x in np.unique(owners[self._curved[fit.chosen]]).tolist():
            mine = owners == x
            part = fit.residual + fit.slopes[mine] @ self._columns.values[fit.chosen[mine]]
            place, left = best_step(self._setup.rows.values[x], part, self._order(x))
            curve = half * log(float(fit.residual @ fit.residual)) + self._cost * mine.sum()
            curve += self._surcharge[fit.chosen[mine]].sum()
            if left > 0.0 and half * log(left) + self._cost + log(self._setup.total) < curve:
                yield Offer(x, -1, OWN_STEP, place)

    def _order(self, x: int) -> Ints:
        if x not in self._orders:
            self._orders[x] = np.argsort(self._setup.rows.values[x], kind="stable")
        return self._orders[x]


def best_step(x: Floats, y: Floats, order: Ints) -> tuple[float, float]:
    """The place of the step of x that explains y best, and the sum of squares that it leaves; 0 for no step.

    `order` sorts x.
    """
    ordered, values = x[order], y[order] - y.mean()
    below = np.cumsum(values)[:-1]
    count = np.arange(1, len(x))
    gain = below**2 / count + below**2 / (len(x) - count)
    gain[ordered[1:] <= ordered[:-1]] = -1.0
    gain[: FEWEST - 1] = gain[len(gain) - FEWEST + 1 :] = -1.0
    best = int(np.argmax(gain)) if len(gain) else 0
    if not len(gain) or gain[best] <= 0.0:
        return 0.0, 0.0
    return float(0.5 * (ordered[best] + ordered[best + 1])), float(values @ values - gain[best])


def products_for(setup: Setup, allowed: Bools, rows: NDArray[np.generic], residual: Floats,
                 cost: float) -> Iterator[tuple[Offer, float]]:  # fmt: skip
    """Products of allowed variables that explain a residual on some rows, and what they gain, their price paid.

    One factor is a number, the other a number or a level of a category.
    """
    p, n = setup.variables, len(residual)
    names, factors = _factors(setup, allowed, rows)
    if len(names) < 2:
        return
    shared, square = np.zeros((len(names),) * 2), np.zeros((len(names),) * 2)
    weighted_products(factors, residual, 0, 0, True, shared)
    weighted_products(factors * factors, np.ones(n), 0, 0, True, square)
    share = np.minimum(shared**2 / np.maximum(square * float(residual @ residual), 1e-300), 1.0 - 1e-9)
    gain = -0.5 * setup.weight * n * np.log1p(-share) - cost - log(max(p * (p - 1) / 2, 10))
    for i, j in np.argwhere((gain > 0.0) & (square > 1e-8 * n)).tolist():
        (one, level), (other, second) = names[i], names[j]
        if one == other or (level >= 0 and second >= 0):
            continue
        if second >= 0:
            one, level, other, second = other, second, one, level
        yield (
            Offer(*((min(one, other), max(one, other)) if level < 0 else (one, other)), PRODUCT, level),
            float(gain[i, j]),
        )


def _factors(setup: Setup, allowed: Bools, rows: NDArray[np.generic]) -> tuple[list[tuple[int, float]], Floats]:
    """Everything that may be a factor: numbers, and levels of categories, centred."""
    names: list[tuple[int, float]] = []
    found = []
    for j in np.flatnonzero(allowed).tolist():
        if setup.kind[j] == CLASS:
            levels = range(int(setup.classes[j]) if setup.classes[j] > 2 else 1)
            names += [(j, float(level)) for level in levels]
            found += [(setup.rows.codes[j][rows] == level).astype(float) for level in levels]
        elif setup.kind[j] == NUMBER:
            names.append((j, -1.0))
            found.append(setup.rows.values[j][rows])
    left = np.stack(found) if found else np.empty((0, 0))
    return names, left - left.mean(axis=1, keepdims=True) if found else left
