"""`effects()` and `mechanisms()` of a result with lags: tidy rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.errors import NotYetError, OptionError, check_level, did_you_mean, shortly
from causalcontext.graphs.lag_names import at, split
from causalcontext.results.effects.estimates import Estimate
from causalcontext.results.effects.fits import MechanismFit
from causalcontext.results.effects.frames import framed
from causalcontext.results.effects.lagged_mechanics import MOST_CHOICES, LaggedMechanics, WindowChoice
from causalcontext.results.effects.mechanics import NoAnswer, Refused
from causalcontext.results.effects.mechanisms import COLUMNS as MECHANISM_COLUMNS
from causalcontext.results.effects.responses import Responses
from causalcontext.results.effects.shared_fits import SharedFit
from causalcontext.results.effects.table import numbers, same

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["x", "lag", "y", "context", "versus", "effect", "se", "low", "high", "p", "direct", "values", "identified",
           "note"]  # fmt: skip
PATH_COLUMNS = ["x", "lag", "y", "context", "path", "effect", "se", "low", "high", "p", "values", "identified", "note"]
MOST_STEPS = 200


class LaggedEffectQuery(NamedTuple):
    """A cause so many steps ago, and an effect, by number."""

    x: int
    lag: int
    y: int


def lagged_effects(mechanics: LaggedMechanics, x: str | None, y: str | None, level: float, steps: int | None
                   ) -> pd.DataFrame:  # fmt: skip
    """The effects of all x on all y that a path may lead to, or of those that are named, at every lag."""
    check_level("level", level)
    asked, responses = questions(mechanics, x, y, steps)
    return framed([row for question in asked for row in question_rows(responses, question, level)], COLUMNS)


def lagged_effects_by_path(mechanics: LaggedMechanics, x: str | None, y: str | None, level: float, steps: int | None
                           ) -> pd.DataFrame:  # fmt: skip
    """What every directed path carries, at every lag and in every context."""
    check_level("level", level)
    if x is None or y is None:
        raise OptionError("by_path needs a cause and an effect: effects(x, y, by_path=True)")
    asked, responses = questions(mechanics, x, y, steps)
    rows = []
    for question in asked:
        for g, value in enumerate(mechanics.result.contexts):
            try:
                found = responses.by_path(g, question.x, question.y, question.lag)
            except NoAnswer as reason:
                raise OptionError(str(reason)) from reason
            for path, answer in found.items():
                words = " --> ".join(at(mechanics.name(v), ago) for v, ago in path)
                rows.append((mechanics.name(question.x), question.lag, mechanics.name(question.y), value, words,
                             *numbers(answer, level), answer.identified, answer.note))  # fmt: skip
    return framed(rows, PATH_COLUMNS)


def questions(mechanics: LaggedMechanics, x: str | None, y: str | None, steps: int | None
              ) -> tuple[list[LaggedEffectQuery], Responses]:  # fmt: skip
    """What is asked, and who answers it; without names, pairs between which a path may lead in some context."""
    most = mechanics.lags if steps is None else _steps(steps)
    cause, lag = _asked(mechanics, x)
    effect, later = _asked(mechanics, y)
    if later:
        raise OptionError(f"y is {y!r}, which is in the past; links repeat: ask for {split(str(y))[0]!r}")
    if effect is not None and effect == mechanics.context:
        raise NotYetError(f"not yet: effects on the context {y!r}, which has no linear mechanism; its links are in "
                          "edges()")  # fmt: skip
    if cause is not None and cause == mechanics.context:
        raise NotYetError(f"not yet: effects of the context {x!r} over time; changes() has what it changes")
    if cause is not None and cause == effect and lag is None and most == 0:
        raise OptionError(f"x and y are both {x!r}; effects needs two different variables, or an earlier time")
    responses = Responses(mechanics, max(most, lag or 0))
    named = cause is not None and effect is not None
    asked = [
        LaggedEffectQuery(i, k, j)
        for i in ([cause] if cause is not None else mechanics.system)
        for j in ([effect] if effect is not None else mechanics.system)
        for k in ([lag] if lag is not None else range(most + 1))
        if (i, k) != (j, 0) and (named or any(reach[k, i, j] for reach in responses.reach))
    ]
    return asked, responses


def question_rows(responses: Responses, question: LaggedEffectQuery, level: float) -> Iterator[tuple[Any, ...]]:
    """The effect in every context, then the differences between contexts."""
    mechanics, (x, lag, y) = responses.mechanics, question
    values, named = mechanics.result.contexts, (mechanics.name(x), lag, mechanics.name(y))
    direct = [responses.direct(g, x, y, lag) for g in mechanics.cells]
    for g in mechanics.cells:
        answer = responses.effect_in(g, x, y, lag)
        note = answer.note or _reminders(responses, g, question)
        yield (*named, values[g], None, *numbers(answer, level, direct[g]), answer.identified, note)
    for g, h in combinations(mechanics.cells, 2):
        answer = responses.difference(h, g, x, y, lag)
        found = numbers(answer, level, direct[h] - direct[g])
        yield (*named, values[h], values[g], *found, answer.identified, answer.note or same(answer))


def lagged_mechanisms(mechanics: LaggedMechanics, level: float) -> pd.DataFrame:
    """One row for every link into a system variable that may be a cause, in every context."""
    check_level("level", level)
    rows = [
        _mechanism_row(mechanics, g, v, column, level)
        for v in mechanics.system
        for column in _columns_into(mechanics, v)
        for g in mechanics.cells
        if column in _possible_causes(mechanics, g, v)
    ]
    return framed(rows, MECHANISM_COLUMNS)


class _FoundEffect(NamedTuple):
    slope: Estimate
    fit: MechanismFit
    windows: WindowChoice


def _mechanism_row(mechanics: LaggedMechanics, g: int, v: int, column: int, level: float) -> tuple[Any, ...]:
    named = (_column_name(mechanics, column), mechanics.name(v), mechanics.result.contexts[g])
    try:
        found, note = _slopes(mechanics, g, v, column)
    except NoAnswer as reason:
        return (*named, *(np.nan,) * 6, "", 0, (), "", "", False, reason.note)
    intervals = [one.slope.interval(level) for one in found]
    low, high = min(one[0] for one in intervals), max(one[1] for one in intervals)
    first = found[0]
    if len(found) > 1:
        return (*named, np.nan, np.nan, low, high, np.nan, np.nan, "", 0, (), "", first.fit.kind, False, note)
    slope, fit, windows = first
    scale = float(fit.scale[fit.causes.index(column)])
    shared, rows = _shared(mechanics, windows), mechanics.rows_text(windows)
    if isinstance(fit, SharedFit):
        shared, rows = tuple(mechanics.result.contexts[r] for r in fit.sharing[fit.causes.index(column)]), "all"
    return (*named, slope.value, slope.error, low, high, slope.p, slope.value * scale, rows, fit.n, shared,
            windows.why, fit.kind, not note, note or "; ".join(_followed(mechanics, v, first)))  # fmt: skip


def _slopes(mechanics: LaggedMechanics, g: int, v: int, column: int) -> tuple[list[_FoundEffect], str]:
    """The different coefficients over what is open, and what that is."""
    blamed, choices = mechanics.conflict([v], (g,)), mechanics.choices([v])
    if blamed:
        raise Refused(f"not identified, because of {blamed}")
    if mechanics.cyclic(g):
        raise NoAnswer("directed edges inside the time step form a cycle")
    if choices is None:
        raise NoAnswer(f"more than {MOST_CHOICES} graphs are left open by {mechanics.open_words([v])}")
    found: dict[MechanismFit, _FoundEffect] = {}
    without = 0
    for choice in choices:
        fit = mechanics.fit(choice, g, v)
        if column in fit.causes:
            found[fit] = _FoundEffect(fit.slope(column), fit, mechanics.windows_for(choice, g, v))
        else:
            without += 1
    if not found:
        raise NoAnswer(f"no directed acyclic graph has {_column_name(mechanics, column)} --> {mechanics.name(v)}")
    open_ = len(found) > 1 or without
    words = f"left open by {mechanics.open_words([v])}" if open_ else ""
    return sorted(found.values(), key=lambda one: one.slope.value), words


def _columns_into(mechanics: LaggedMechanics, v: int) -> list[int]:
    return sorted({column for g in mechanics.cells for column in _possible_causes(mechanics, g, v)})


def _possible_causes(mechanics: LaggedMechanics, g: int, v: int) -> list[int]:
    """The columns that are or may be causes of a variable in a context."""
    choices = mechanics.choices([v])
    if choices:
        return sorted({column for choice in choices for column in mechanics.causes(choice, g, v)})
    return [mechanics.column(int(i), int(lag)) for lag, i in np.argwhere(mechanics.may[g, :, :, v])]


def _shared(mechanics: LaggedMechanics, windows: WindowChoice) -> tuple[Any, ...]:
    """The contexts that share the mechanism."""
    values = mechanics.result.contexts
    if not windows.copies:
        return tuple(values)
    return tuple(dict.fromkeys(values[cell % len(values)] for cell in windows.cells))


def _column_name(mechanics: LaggedMechanics, column: int) -> str:
    place = mechanics.place(column)
    if place is not None:
        return mechanics.name(*place)
    first = len(mechanics.system) * (mechanics.lags + 1)
    return mechanics.result.names[mechanics.variables * (mechanics.lags + 1) + column - first]


def _reminders(responses: Responses, g: int, question: LaggedEffectQuery) -> str:
    """The context is held, also where x moves it; and residuals that follow each other make errors too small."""
    mechanics = responses.mechanics
    held = mechanics.result.context is not None and mechanics.leads_to_context(g, question.x)
    notes = [f"{mechanics.result.context} is held at its value"] * bool(held)
    between = responses.between(g, question.x, question.y, question.lag)
    for choice in (mechanics.choices(between) or ())[:1]:
        for v in between:
            windows = mechanics.windows_for(choice, g, v)
            fit = mechanics.fit(choice, g, v)
            notes += _followed(mechanics, v, _FoundEffect(Estimate(0.0), fit, windows))
    return "; ".join(dict.fromkeys(notes))


def _followed(mechanics: LaggedMechanics, v: int, found: _FoundEffect) -> Sequence[str]:
    correlation = mechanics.follows(found.fit, found.windows)
    if not correlation:
        return []
    return [f"residuals of {mechanics.name(v)} follow each other (correlation {correlation:.2f}), so that its "
            "coefficients and errors are in doubt: pass more lags"]  # fmt: skip


def _asked(mechanics: LaggedMechanics, name: str | None) -> tuple[int | None, int | None]:
    """The variable and the lag that a name says; a plain name says no lag."""
    if name is None:
        return None, None
    known = [mechanics.name(v) for v in range(mechanics.variables)]
    if isinstance(name, str):
        plain, lag = split(name)
        if name in known:
            return known.index(name), None
        if plain in known and lag:
            return known.index(plain), _steps(lag)
    covariates = mechanics.series.covariates
    if name in covariates:
        raise NotYetError(f"not yet: effects of covariate {name!r} over time; mechanisms() has its coefficients")
    raise OptionError(f"there is no variable {shortly(name)}{did_you_mean(name, known)}")


def _steps(steps: int) -> int:
    if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps <= MOST_STEPS:
        raise OptionError(f"steps is {steps!r}, expected a whole number from 0 to {MOST_STEPS}")
    return steps
