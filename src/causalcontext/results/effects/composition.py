"""From mechanisms to effects: along the graph of one context, with the derivatives that errors need.

In the graph of a context the context is held at its value, so no path leads through it. With slopes b and the effects
t of x on everything, t(v) = Σ b(cause, v) t(cause) from causes to effects; with s(v), the effect of v on y, the total
effect moves with the slope of cause -> v by t(cause) s(v).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from causalcontext.graphs.dags import Family
from causalcontext.kernels.arrays import Floats
from causalcontext.results.effects.estimates import Estimate, Parameters, total
from causalcontext.results.effects.fits import MechanismFit
from causalcontext.results.effects.mechanics import Means, Mechanics, NoAnswer

MOST_PATHS = 1000


def total_effect(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> Estimate:
    """How much y changes with x in a context: the sum over all directed paths."""
    order = causes_first(mechanics, family, g, y, {x: 0.0})
    if x not in order:
        return Estimate(0.0)
    reached: dict[int, float] = {x: 1.0}
    fits: list[MechanismFit] = []
    for v in order:
        if v != x and any(cause in reached for cause in family.parents(g, v)):
            fits.append(mechanics.fit(family, g, v))
            reached[v] = sum(b * reached.get(cause, 0.0) for cause, b in _slopes(fits[-1]))
    onward = _onward(fits, y)
    gradient: dict[Parameters, Floats] = {}
    for found in fits:
        moving = [onward[found.effect] * reached.get(cause, 0.0) for cause in found.causes]
        gradient[found] = np.concatenate([np.zeros(len(found.levels)), moving])
    return Estimate(reached[y], gradient)


def direct_effect(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> float:
    """The coefficient of x in the mechanism of y; 0 if x is no cause of it."""
    return mechanics.fit(family, g, y).slope(x).value if x in family.parents(g, y) else 0.0


def paths_between(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> Iterator[tuple[int, ...]]:
    """The directed paths from x to y in a context."""
    below: dict[int, list[int]] = {}
    for v in causes_first(mechanics, family, g, y, {x: 0.0}):
        for cause in family.parents(g, v):
            below.setdefault(cause, []).append(v)
    stack: list[tuple[int, ...]] = [(x,)]
    while stack:
        path = stack.pop()
        if path[-1] == y:
            yield path
        else:
            stack += [(*path, v) for v in reversed(below.get(path[-1], []))]


def path_effect(mechanics: Mechanics, family: Family, g: int, path: tuple[int, ...]) -> Estimate:
    """The product of the coefficients along a path."""
    steps = [mechanics.fit(family, g, v).slope(cause) for cause, v in pairwise(path)]
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
    values, fits = dict(fixed), dict[int, MechanismFit]()
    for v in order:
        if v in fixed:
            continue
        if not _is_moved(mechanics, family, g, v, fixed, shift_only):
            values[v] = float(start.values[v])
            continue
        fits[v] = mechanics.fit(family, g, v)
        level, centre = _origin(fits[v], g, start if shift_only else None)
        values[v] = level + float(fits[v].slopes @ ([values[c] for c in fits[v].causes] - centre))
    onward = _onward(list(fits.values()), y)
    gradient: dict[Parameters, Floats] = {start: np.zeros(len(start.values))}
    for v in order:
        if v in fits:
            _add_fit(gradient, fits[v], onward.get(v, 0.0), values, g, start if shift_only else None)
        elif v not in fixed:
            gradient[start][v] += onward.get(v, 0.0)
    return total([Estimate(values[y], gradient)])


def standardised_mean(mechanics: Mechanics, y: int, given: tuple[int, ...], g: int) -> Estimate:
    """The mean of y in a context, with some variables as they are over all rows."""
    everyone = mechanics.means(mechanics.cells)
    fit = mechanics.regression(y, given, (g,))
    away = everyone.values[list(given)] - fit.centres[0]
    moving = np.zeros(len(everyone.values))
    moving[list(given)] = fit.slopes
    return Estimate(float(fit.levels[0] + fit.slopes @ away), {fit: np.concatenate([[1.0], away]), everyone: moving})


def causes_first(mechanics: Mechanics, family: Family, g: int, y: int, fixed: Mapping[int, float] | None = None
                 ) -> list[int]:  # fmt: skip
    """y and all that leads to it in a context, causes before effects; nothing beyond what is fixed."""
    order: list[int] = []
    state: dict[int, bool] = {}  # False while its causes are being visited, True when they are in order
    stack = [y]
    while stack:
        v = stack[-1]
        if state.get(v):
            stack.pop()
            continue
        causes = () if fixed and v in fixed else (c for c in family.parents(g, v) if c not in mechanics.contexts)
        waiting = [cause for cause in causes if not state.get(cause)]
        if any(cause in state for cause in waiting):
            raise NoAnswer(f"directed edges form a cycle through {mechanics.name(v)}")
        state[v] = not waiting
        if waiting:
            stack.append(waiting[0])
        else:
            order.append(v)
            stack.pop()
    return order


def _slopes(fit: MechanismFit) -> Iterator[tuple[int, float]]:
    return zip(fit.causes, fit.slopes.tolist(), strict=True)


def _onward(fits: list[MechanismFit], y: int) -> dict[int, float]:
    """The effect of everything on y; `fits` has causes before effects."""
    onward = {y: 1.0}
    for found in reversed(fits):
        for cause, b in _slopes(found):
            onward[cause] = onward.get(cause, 0.0) + b * onward.get(found.effect, 0.0)
    return onward


def _is_moved(mechanics: Mechanics, family: Family, g: int, v: int, fixed: Mapping[int, float], shift_only: bool
              ) -> bool:  # fmt: skip
    """Whether something that is set leads to a variable."""
    above = family.ancestors(g, v)
    return not above.isdisjoint(fixed) or (not shift_only and not above.isdisjoint(mechanics.contexts))


def _origin(fit: MechanismFit, g: int, start: Means | None) -> tuple[float, Floats]:
    """The point that a mechanism goes through: its own means, or those of the rows it is used for."""
    if start is not None:
        return float(start.values[fit.effect]), start.values[list(fit.causes)]
    place = fit.level_place(g)
    return float(fit.levels[place]), fit.centres[place]


def _add_fit(gradient: dict[Parameters, Floats], fit: MechanismFit, onward: float, values: Mapping[int, float], g: int,
             start: Means | None) -> None:  # fmt: skip
    """How the mean moves with the parameters of one mechanism."""
    _, centre = _origin(fit, g, start)
    moving = np.zeros(len(fit.levels) + len(fit.causes))
    moving[len(fit.levels) :] = onward * (np.array([values[c] for c in fit.causes]) - centre)
    if start is None:
        moving[fit.level_place(g)] = onward
    else:
        gradient[start][fit.effect] += onward
        gradient[start][list(fit.causes)] -= onward * fit.slopes
    gradient[fit] = moving
