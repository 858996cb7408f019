"""From mechanisms to effects: along the graph of one context, with the derivatives that errors need.

In the graph of a context the context is held at its value, so no path leads through it. With slopes b and the effects
t of x on everything, t(v) = Σ b(cause, v) t(cause) from causes to effects; with s(v), the effect of v on y, the total
effect moves with the slope of cause -> v by t(cause) s(v).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from itertools import pairwise

import numpy as np

from causalcontext.graphs.dags import Family
from causalcontext.kernels.arrays import Floats
from causalcontext.results.effects.estimates import Estimate, total
from causalcontext.results.effects.fits import MechanismFit
from causalcontext.results.effects.mechanics import Means, Mechanics, NoAnswer

MOST_PATHS = 1000
Use = tuple[MechanismFit, tuple[int, ...]]
"""A mechanism, and its causes at the time for which it is used."""


def total_effect(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> Estimate:
    """How much y changes with x in a context: the sum over all directed paths."""
    reached: dict[int, float] = {x: 1.0}
    uses: dict[int, Use] = {}
    for v in _on_the_way(mechanics, family, g, x, y):
        if v != x and any(cause in reached for cause in mechanics.parents(family, g, v)):
            fit = mechanics.fit(family, g, v)
            uses[v] = fit, mechanics.earlier(fit.causes, v)
            reached[v] = sum(b * reached.get(cause, 0.0) for cause, b in _slopes(uses[v]))
    if y not in reached:
        return Estimate(0.0)
    onward = _onward(uses, y)
    parts = [Estimate(reached[y])]
    for v, (fit, causes) in uses.items():
        moving = fit.moving([onward[v] * reached.get(cause, 0.0) for cause in causes])
        parts.append(Estimate(0.0, {fit.block: moving}))
    return total(parts)


def _on_the_way(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> list[int]:
    """What lies between x and y in a context, causes before effects; perhaps with other causes of y."""
    if mechanics.window.lags or mechanics.cyclic[g].any():
        return causes_first(mechanics, family, g, y, {x: 0.0})
    if (family, g) not in mechanics.orders:
        links = {v: mechanics.parents(family, g, v) for v in range(len(mechanics.endpoints[g]))}
        mechanics.orders[family, g] = {v: place for place, v in enumerate(TopologicalSorter(links).static_order())}
    between, found, stack = mechanics.between(g, x, y), {y}, [y]
    while stack:
        more = [cause for cause in mechanics.parents(family, g, stack.pop()) if cause in between and cause not in found]
        found.update(more)
        stack += more
    return sorted(found, key=mechanics.orders[family, g].__getitem__)


def paths_between(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> Iterator[tuple[int, ...]]:
    """The directed paths from x to y in a context."""
    below: dict[int, list[int]] = {}
    for v in causes_first(mechanics, family, g, y, {x: 0.0}):
        for cause in mechanics.parents(family, g, v):
            below.setdefault(cause, []).append(v)
    stack: list[tuple[int, ...]] = [(x,)]
    while stack:
        path = stack.pop()
        if path[-1] == y:
            yield path
        else:
            stack += [(*path, v) for v in reversed(below.get(path[-1], []))]


def path_effect(mechanics: Mechanics, family: Family, g: int, path: tuple[int, ...]) -> Estimate:
    """The product of the coefficients along a path; 0 where it is none."""
    steps = []
    for cause, v in pairwise(path):
        if cause not in mechanics.parents(family, g, v):
            return Estimate(0.0)
        fit = mechanics.fit(family, g, v)
        steps.append(fit.slope(fit.causes[mechanics.earlier(fit.causes, v).index(cause)]))
    values = np.array([step.value for step in steps])
    parts = []
    for place, step in enumerate(steps):
        others = float(np.prod(np.delete(values, place)))
        parts.append(Estimate(0.0, step.scaled(others).gradient))
    return Estimate(float(values.prod()), total(parts).gradient)


def mean_under(mechanics: Mechanics, family: Family, g: int, y: int, fixed: Mapping[int, float],
               start: Means, shift_only: bool = False) -> Estimate:  # fmt: skip
    """The mean of y if some variables are set, and the context is set to that of a graph.

    Parameters
    ----------
    fixed : mapping from variable to value
    start : Means
        What the variables upstream of everything that is set have: their means on these rows.
    shift_only : bool
        For the cases that are in the context anyway: everything keeps its mean but for what `fixed` moves.
    """
    order = causes_first(mechanics, family, g, y, fixed)
    means = {v: float(start.values[mechanics.column(v)]) for v in order}
    values, moved, uses = dict(fixed), set(fixed), dict[int, Use]()
    for v in order:
        if v in fixed:
            continue
        led = not (keeps := _keeps(mechanics, v, shift_only)) and mechanics.contexts & {*family.parents(g, v)}
        if not led and moved.isdisjoint(mechanics.parents(family, g, v)):
            values[v] = means[v]
            continue
        moved.add(v)
        fit = mechanics.fit(family, g, v)
        uses[v] = fit, mechanics.earlier(fit.causes, v)
        level = means[v] if keeps else fit.levels[fit.level_place(g)]
        values[v] = float(level + fit.slopes @ _away(uses[v], g, values, means if keeps else None))
    onward = _onward(uses, y)
    at_start, parts = np.zeros(len(start.values)), [Estimate(values[y])]
    for v in order:
        share, keeps = onward.get(v, 0.0), _keeps(mechanics, v, shift_only)
        if v in uses:
            fit, causes = uses[v]
            slopes = share * _away(uses[v], g, values, means if keeps else None)
            level = 0.0 if keeps else share
            parts.append(Estimate(0.0, {fit.block: fit.moving(slopes, fit.level_place(g), level)}))
            for cause, slope in zip(causes, fit.slopes.tolist(), strict=True):
                if keeps and cause in means:
                    at_start[mechanics.column(cause)] -= share * slope
        if v not in fixed and (keeps or v not in uses):
            at_start[mechanics.column(v)] += share
    return total([*parts, Estimate(0.0, {start: at_start})])


def standardised_mean(mechanics: Mechanics, y: int, given: tuple[int, ...], g: int) -> Estimate:
    """The mean of y in a context, with some variables as they are over all rows."""
    everyone = mechanics.means(mechanics.everyone)
    fit = mechanics.regression(y, given, (mechanics.rows_of(g),))
    away = everyone.values[list(given)] - fit.centres[0]
    moving = np.zeros(len(everyone.values))
    moving[list(given)] = fit.slopes
    return Estimate(float(fit.levels[0] + fit.slopes @ away), {fit: np.concatenate([[1.0], away]), everyone: moving})


def causes_first(mechanics: Mechanics, family: Family, g: int, y: int, fixed: Mapping[int, float] | None = None
                 ) -> list[int]:  # fmt: skip
    """y and all that leads to it in a context, causes before effects; no causes of what is fixed, or is earlier."""
    order: list[int] = []
    earliest = max(mechanics.lag(v) for v in (y, *(fixed or ())))
    state: dict[int, bool] = {}  # False while its causes are being visited, True when they are in order
    stack = [y]
    while stack:
        v = stack[-1]
        if state.get(v):
            stack.pop()
            continue
        last = mechanics.lag(v) > earliest or bool(fixed and v in fixed)
        causes = () if last else mechanics.parents(family, g, v)
        waiting = [cause for cause in causes if cause >= 0 and not state.get(cause)]
        if any(cause in state for cause in waiting):
            raise NoAnswer(f"directed edges form a cycle through {mechanics.name(v)}")
        state[v] = not waiting
        if waiting:
            stack.append(waiting[0])
        else:
            order.append(v)
            stack.pop()
    return order


def _slopes(use: Use) -> Iterator[tuple[int, float]]:
    return zip(use[1], use[0].slopes.tolist(), strict=True)


def _onward(uses: dict[int, Use], y: int) -> dict[int, float]:
    """The effect of everything on y; `uses` has causes before effects."""
    onward = {y: 1.0}
    for v in reversed(uses):
        for cause, b in _slopes(uses[v]):
            onward[cause] = onward.get(cause, 0.0) + b * onward.get(v, 0.0)
    return onward


def _keeps(mechanics: Mechanics, v: int, shift_only: bool) -> bool:
    """Whether a variable keeps its mean but for what is set: a context is set now, and not in the past."""
    return shift_only or mechanics.lag(v) > 0


def _away(use: Use, g: int, values: Mapping[int, float], means: Mapping[int, float] | None) -> Floats:
    """How far the causes of a mechanism are from where it has its level: from their means, or from those of its fit."""
    fit, causes = use
    if means is not None:
        return np.array([values[c] - means[c] if c in means else 0.0 for c in causes])
    return np.asarray([values[c] for c in causes] - fit.centres[fit.level_place(g)])
