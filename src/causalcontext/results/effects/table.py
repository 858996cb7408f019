"""`effects()`: tidy rows, one for every cause, effect and context, then one for every pair of contexts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.errors import NotYetError, OptionError, check_level
from causalcontext.graphs.lag_names import split
from causalcontext.results.effects.asking import approximations, asked_node, by_path, check_steps, difference, effect_in
from causalcontext.results.effects.frames import framed
from causalcontext.results.effects.interventions import context_direct, context_effect, downstream
from causalcontext.results.effects.mechanics import Mechanics, NoAnswer
from causalcontext.results.effects.sets import Possible

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["context", "versus", "effect", "se", "low", "high", "p", "direct", "values", "identified", "note"]
PATH_COLUMNS = ["context", "path", "effect", "se", "low", "high", "p", "values", "identified", "note"]


def effects(mechanics: Mechanics, x: str | None, y: str | None, level: float, steps: int | None = None) -> pd.DataFrame:
    """The effects of all x on all y that a path may lead to, or of those that are named; with lags at every lag."""
    check_level("level", level)
    rows = [row for pair in asked_pairs(mechanics, x, y, steps) for row in pair_rows(mechanics, *pair, level)]
    return framed(rows, columns(mechanics))


def columns(mechanics: Mechanics, after: Sequence[str] = COLUMNS) -> list[str]:
    """The columns of a table: cause, with lags how many steps before, and effect; then the others."""
    return ["x", *["lag"] * (mechanics.result.series is not None), "y", *after]


def effects_by_path(mechanics: Mechanics, x: str | None, y: str | None, level: float, steps: int | None = None
                    ) -> pd.DataFrame:  # fmt: skip
    """What every directed path carries, in every context."""
    check_level("level", level)
    if x is None or y is None:
        raise OptionError("by_path needs a cause and an effect: effects(x, y, by_path=True)")
    rows = []
    for cause, effect in asked_pairs(mechanics, x, y, steps):
        if cause in mechanics.contexts:
            raise NotYetError(f"not yet: what {x} does by path; contexts change whole mechanisms, not one coefficient")
        for g, value in enumerate(mechanics.result.contexts):
            try:
                found = by_path(mechanics, g, cause, effect)
            except NoAnswer as reason:
                raise OptionError(str(reason)) from reason
            for path, answer in found.items():
                words = " --> ".join(mechanics.name(v) for v in path)
                rows.append((*_names(mechanics, cause, effect), value, words, *numbers(answer, level),
                             answer.identified, answer.note))  # fmt: skip
    return framed(rows, columns(mechanics, PATH_COLUMNS))


def asked_pairs(mechanics: Mechanics, x: str | None, y: str | None, steps: int | None = None) -> list[tuple[int, int]]:
    """The pairs that are named; without names, those between which a path may lead in some context."""
    lagged = mechanics.result.series is not None
    (cause, lag), (effect, later) = ((None, None) if name is None else asked_node(mechanics, name) for name in (x, y))
    if later:
        raise OptionError(f"y is {y!r}, which is in the past; links repeat: ask for {split(str(y))[0]!r}")
    if effect is not None and effect in mechanics.contexts:
        raise NotYetError(f"not yet: effects on the context {y!r}, which has no linear mechanism; its links are in "
                          "edges()")  # fmt: skip
    most = mechanics.window.lags if steps is None else check_steps(steps)
    if cause is not None and cause == effect and lag is None and most == 0:
        earlier = ", or an earlier time" if lagged else ""
        raise OptionError(f"x and y are both {x!r}; effects needs two different variables{earlier}")
    if cause in mechanics.contexts:
        if lagged:
            raise NotYetError(f"not yet: effects of the context {x!r} over time; changes() has what it changes")
        _check_settable(mechanics, cause)
        return [(cause, effect)] if effect is not None else [p for p in _reached_contexts(mechanics) if p[0] == cause]
    variables = range(mechanics.window.variables + mechanics.window.covariates)
    system = [v for v in map(mechanics.at, variables) if v not in mechanics.contexts]
    lags = range(most + 1) if lag is None else [lag]
    asked = (
        (mechanics.at(mechanics.place(i)[0], k), j)
        for i in (system if cause is None else [cause]) for j in (system if effect is None else [effect]) for k in lags
    )  # fmt: skip
    pairs = [(i, j) for i, j in asked if i >= 0 and i != j
             and (None not in (cause, effect) or any(mechanics.leads(g, i, j) for g in mechanics.cells))]  # fmt: skip
    first = [] if lagged or cause is not None else [p for p in _reached_contexts(mechanics) if effect in (None, p[1])]
    return first + pairs


def _names(mechanics: Mechanics, x: int, y: int) -> tuple[Any, ...]:
    lag = () if mechanics.result.series is None else (mechanics.lag(x),)
    return (mechanics.name(mechanics.now(x)), *lag, mechanics.name(y))


def asked_rows(mechanics: Mechanics, x: int, y: int) -> Iterator[tuple[int, int, int, int]]:
    """(x, y, context, the context it is compared with or -1) for the rows of one pair."""
    if x in mechanics.contexts:
        steps = mechanics.result.cells.steps()
        yield from sorted((x, y, g, h) for h, g, position in steps if position == x and h < g)
        return
    yield from ((x, y, g, -1) for g in mechanics.cells)
    yield from ((x, y, h, g) for g, h in combinations(mechanics.cells, 2))


def pair_rows(mechanics: Mechanics, x: int, y: int, level: float) -> Iterator[tuple[Any, ...]]:
    """The rows of one pair."""
    if x in mechanics.contexts:
        yield from _context_rows(mechanics, x, y, level)
        return
    values = mechanics.result.contexts
    named = _names(mechanics, x, y)
    direct = [_direct(mechanics, g, x, y) for g in mechanics.cells]
    for _, _, g, h in asked_rows(mechanics, x, y):
        if h < 0:
            answer = effect_in(mechanics, g, x, y)
            found, note = numbers(answer, level, direct[g]), answer.note or _reminders(mechanics, g, x, y)
            yield (*named, values[g], None, *found, answer.identified, note)
        else:
            answer = difference(mechanics, g, h, x, y)
            found = numbers(answer, level, direct[g] - direct[h])
            yield (*named, values[g], values[h], *found, answer.identified, answer.note or same(answer))


def _context_rows(mechanics: Mechanics, x: int, y: int, level: float) -> Iterator[tuple[Any, ...]]:
    """do(R = a) minus do(R = b), for all pairs of contexts between which just R differs."""
    result = mechanics.result
    for _, _, g, h in asked_rows(mechanics, x, y):
        answer = context_effect(mechanics, x, g, h, y)
        direct = _context_direct(mechanics, g, h, y) if answer.identified else np.nan
        moved = [v for _, v in (*downstream(mechanics, g, y), *downstream(mechanics, h, y))]
        note = answer.note or "; ".join(approximations(mechanics, g, list(dict.fromkeys(moved))))
        yield (mechanics.name(x), mechanics.name(y), result.contexts[g], result.contexts[h],
               *numbers(answer, level, direct), answer.identified, note)  # fmt: skip


def numbers(answer: Possible, level: float, direct: float | None = None) -> tuple[Any, ...]:
    """Effect, error, interval, p-value, the direct part where it is asked for, and all possible values."""
    between = () if direct is None else (direct,)
    values = tuple(estimate.value for estimate in answer.estimates)
    if not values:
        return (*(np.nan,) * 5, *between, ())
    intervals = [estimate.interval(level) for estimate in answer.estimates]
    low, high = min(one[0] for one in intervals), max(one[1] for one in intervals)
    if not answer.identified:
        return (np.nan, np.nan, low, high, np.nan, *between, values)
    (only,) = answer.estimates
    return (only.value, only.error, low, high, only.p, *between, values)


def _direct(mechanics: Mechanics, g: int, x: int, y: int) -> float:
    """The coefficient of x in the mechanism of y, if the graphs agree on it; else NaN."""
    if mechanics.is_pag:
        return np.nan
    if not mechanics.leads(g, x, y):
        return 0.0
    families = mechanics.graphs.families(mechanics.graphs.touching([(g, y)])) or ()
    try:
        values = {mechanics.fit(family, g, y).slope(x).value if x in mechanics.parents(family, g, y) else 0.0
                  for family in families}  # fmt: skip
    except NoAnswer:
        return np.nan
    return values.pop() if len(values) == 1 else np.nan


def _context_direct(mechanics: Mechanics, g: int, h: int, y: int) -> float:
    """What the own mechanism of y contributes; NaN where the graphs are not settled."""
    asked = [*downstream(mechanics, g, y), *downstream(mechanics, h, y)]
    if mechanics.is_pag or mechanics.graphs.touching(asked):
        return np.nan
    (family,) = mechanics.graphs.families([]) or ()
    try:
        return context_direct(mechanics, family, g, h, y)
    except NoAnswer:
        return np.nan


def _reminders(mechanics: Mechanics, g: int, x: int, y: int) -> str:
    """In the graph of a context the context is held, also if x may move it; and lines may stand for curves."""
    held = mechanics.result.context is not None and mechanics.into_contexts[g, mechanics.place(x)[0]]
    context = mechanics.result.context
    said = "are held at their values" if len(mechanics.result.cells.positions) > 1 else "is held at its value"
    found = [f"{context} {said}"] * bool(held)
    between = mechanics.between(g, x, y)
    on_the_way = dict.fromkeys(mechanics.place(v)[0] for v in (x, *between))
    causes = [mechanics.at(v, lag) for v in on_the_way for lag in range(mechanics.window.lags + 1)]
    return "; ".join(found + approximations(mechanics, g, between, [cause for cause in causes if cause >= 0]))


def same(answer: Possible) -> str:
    """A reminder where the graph leaves nothing to differ."""
    return "the same mechanisms" if answer.identified and answer.estimates[0].error == 0.0 else ""


def _check_settable(mechanics: Mechanics, context: int) -> None:
    """Return if the context can be thought of as set."""
    source = mechanics.result.cells.source_of(context)
    if source is not None:
        raise OptionError(f"{mechanics.name(context)!r} is made out of {mechanics.name(source)!r} and cannot be set by "
                          f"itself; ask for effects of {mechanics.name(source)!r}")  # fmt: skip


def _reached_contexts(mechanics: Mechanics) -> list[tuple[int, int]]:
    """The contexts that may be set, each with all that it may lead to in some context."""
    moved = [int(y) for y in np.flatnonzero(mechanics.from_contexts.any(axis=0)) if y not in mechanics.contexts]
    cells = mechanics.result.cells
    return [(context, y) for context in cells.positions if cells.source_of(context) is None for y in moved]
