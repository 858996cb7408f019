"""`effects()`, `mechanisms()` and `predict_intervention()`: tidy tables of one type, whatever was
found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from numbers import Real
from typing import Any

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import (
    NotYetError,
    OptionError,
    check_choice,
    check_level,
    listed,
    shortly,
    value_text,
)
from causalcontext.graphs.endpoints import may_cause
from causalcontext.graphs.lag_names import split
from causalcontext.progress import Count, counting_bar
from causalcontext.results.effects import asking
from causalcontext.results.effects.composition import (
    Contrast,
    contrasts,
    level_words,
    mean_under,
    named_levels,
)
from causalcontext.results.effects.estimates import Estimate
from causalcontext.results.effects.fits import MechanismFit, SharedFit
from causalcontext.results.effects.mechanics import GIVEN, Mechanics, NoAnswer, Refused, RowChoice
from causalcontext.results.effects.sets import (
    MOST_FAMILIES,
    LocalAnswers,
    Possible,
    edge_text,
    local_families,
    most_families,
    possible,
)
from causalcontext.results.empty import because
from causalcontext.results.words import context_place

LEVEL_COLUMNS = ["x_level", "reference", "of_level"]
COLUMNS = [
    "context",
    "versus",
    "effect",
    "se",
    "low",
    "high",
    "p",
    "direct",
    "values",
    "identified",
    "note",
    "intervals",
]
PATH_COLUMNS = [
    "context",
    "path",
    "effect",
    "se",
    "low",
    "high",
    "p",
    "values",
    "identified",
    "note",
]
_NUMBERS = (
    "se",
    "low",
    "high",
    "p",
    "direct",
    "mean",
    "now",
    "coefficient",
    "standardised",
    "from graph",
    "spread",
    "zero in",
    "open in",
)
_TYPES: dict[str, type] = dict.fromkeys(_NUMBERS, float) | {
    "identified": bool,
    "n": int,
    "samples": int,
    "lag": int,
}
MECHANISM_COLUMNS = [
    "cause",
    "effect",
    "context",
    "coefficient",
    "se",
    "low",
    "high",
    "p",
    "standardised",
    "rows",
    "n",
    "shared by",
    "why",
    "errors",
    "identified",
    "note",
    "spread",
]
LARGEST_SET = 1e100
"""The squares of larger values could not be computed with."""
AMONG = ("everyone", "context")
SET_NOW = (
    "{} is set at time t and at the earlier times that mechanisms depend on; its values before stay"
    " as they were"
)
LevelOptions = tuple[Any, Any]
"""The level of x that others are compared with, and the level of y that counts; None for what is
not said.
"""
NO_MECHANISMS = "no system variable has a possible cause among the others, in any context"
FoundCoefficient = tuple[Estimate, MechanismFit, RowChoice]
"""A coefficient in one family of graphs, its fit, and the rows that it rests on."""


def effects(
    mechanics: Mechanics,
    x: str | None,
    y: str | None,
    level: float,
    steps: int | None = None,
    levels: LevelOptions = (None, None),
    progress: bool | Count = False,
) -> pd.DataFrame:
    """The effects of all x on all y that a path may lead to, or of those that are named; with lags
    at every lag.
    """
    check_level("level", level)
    check_levels_asked(x, y, levels)
    pairs = asked_pairs(mechanics, x, y, steps)
    rows: list[Any] = []
    with counting_bar("effects", progress) as advance:
        for done, pair in enumerate(pairs, 1):
            rows += pair_rows(mechanics, *pair, level, contrasts(mechanics, *pair, *levels))
            advance(done, len(pairs))
    return because(framed(rows, columns(mechanics)), no_effects(x, y))


def no_effects(x: str | None, y: str | None) -> str:
    """The reason in words why a table of effects has no row.

    >>> no_effects("X", None)
    'no path leads from X in any context'
    """
    ends = [f" from {x}" if x is not None else "", f" to {y}" if y is not None else ""]
    return f"no path leads{''.join(ends) or ' from a variable to another'} in any context"


def check_levels_asked(x: str | None, y: str | None, levels: LevelOptions) -> None:
    """Return if the levels that are named are those of a variable that is named."""
    for option, role, name, value in zip(
        ("reference", "of_level"), "xy", (x, y), levels, strict=True
    ):
        if value is not None and name is None:
            raise OptionError(
                f"{option} is {shortly(value)}, a level of {role}, which is not named"
            )


def columns(mechanics: Mechanics, after: Sequence[str] = COLUMNS) -> list[str]:
    """The columns of a table: cause, with lags how many steps before, and effect; then the
    others.
    """
    return ["x", *["lag"] * (mechanics.result.series is not None), "y", *LEVEL_COLUMNS, *after]


def effects_by_path(
    mechanics: Mechanics,
    x: str | None,
    y: str | None,
    level: float,
    steps: int | None = None,
    levels: LevelOptions = (None, None),
) -> pd.DataFrame:
    """What every directed path carries, in every context."""
    check_level("level", level)
    if x is None or y is None:
        raise OptionError("by_path needs a cause and an effect: effects(x, y, by_path=True)")
    rows = []
    for cause, effect in asked_pairs(mechanics, x, y, steps):
        if cause in mechanics.contexts:
            raise NotYetError(
                f"not yet: what {x} does by path; contexts change whole mechanisms, not one"
                " coefficient"
            )
        if effect in mechanics.contexts:
            raise NotYetError(
                f"not yet: effects on the context {y!r} by path; it has no linear mechanism"
            )
        compared = contrasts(mechanics, cause, effect, *levels)
        for (g, value), contrast in product(enumerate(mechanics.result.contexts), compared):
            try:
                found = asking.by_path(mechanics, g, cause, effect, contrast)
            except NoAnswer as reason:
                raise OptionError(str(reason)) from reason
            said = level_words(mechanics, cause, effect, contrast)
            doubt = asking.no_interval(mechanics, [cause], effect)
            for path, answer in found.items():
                words = " --> ".join(mechanics.name(v) for v in path)
                shown, lost = _honest(numbers(answer, level), doubt)
                rows.append(
                    (
                        *_names(mechanics, cause, effect, contrast),
                        value,
                        words,
                        *shown,
                        answer.identified,
                        _joined(said, answer.note, lost),
                    )
                )
    return because(
        framed(rows, columns(mechanics, PATH_COLUMNS)),
        f"no directed path leads from {x} to {y} in any context",
    )


def asked_pairs(
    mechanics: Mechanics, x: str | None, y: str | None, steps: int | None = None
) -> list[tuple[int, int]]:
    """The pairs that are named; without names, those between which a path may lead in some
    context.
    """
    lagged = mechanics.result.series is not None
    (cause, lag), (effect, later) = (
        (None, None) if name is None else asking.asked_node(mechanics, name) for name in (x, y)
    )
    if later:
        raise OptionError(
            f"y is {y!r}, which is in the past; links repeat: ask for {split(str(y))[0]!r}"
        )
    if (
        effect is not None
        and effect in mechanics.contexts
        and (mechanics.is_pag or cause in mechanics.contexts)
    ):
        kind = "in a PAG" if mechanics.is_pag else "of another context"
        raise NotYetError(f"not yet: effects on the context {y!r} {kind}; its links are in edges()")
    most = mechanics.window.lags if steps is None else asking.check_steps(steps)
    if cause is not None and cause == effect and lag is None and most == 0:
        earlier = ", or an earlier time" if lagged else ""
        raise OptionError(f"x and y are both {x!r}; effects needs two different variables{earlier}")
    if cause in mechanics.contexts:
        if lagged and (lag or mechanics.is_pag):
            when = (
                "in a PAG over time"
                if mechanics.is_pag
                else "at later times, which depend on its further course"
            )
            raise NotYetError(f"not yet: effects of the context {split(str(x))[0]!r} {when}")
        source = mechanics.result.cells.source_of(cause)
        if source is not None:
            raise OptionError(
                f"{mechanics.name(cause)!r} is made out of {mechanics.name(source)!r} and cannot be"
                f" set by itself; ask for effects of {mechanics.name(source)!r}"
            )
        return (
            [(cause, effect)]
            if effect is not None
            else [p for p in _reached_contexts(mechanics) if p[0] == cause]
        )
    variables = range(mechanics.window.variables + mechanics.window.covariates)
    system = [v for v in map(mechanics.at, variables) if v not in mechanics.contexts]
    lags = range(most + 1) if lag is None else [lag]
    asked = (
        (mechanics.at(mechanics.place(i)[0], k), j)
        for i in (system if cause is None else [cause])
        for j in (system if effect is None else [effect])
        for k in lags
    )
    into = np.atleast_1d(mechanics.into_contexts.any(axis=0))
    pairs = [
        (i, j)
        for i, j in asked
        if i >= 0
        and i != j
        and (
            None not in (cause, effect)
            or any(mechanics.leads(g, i, j) for g in mechanics.cells)
            or (j in mechanics.contexts and into[mechanics.place(i)[0]])
        )
    ]
    first = (
        []
        if lagged or cause is not None
        else [p for p in _reached_contexts(mechanics) if effect in (None, p[1])]
    )
    return first + pairs


def _names(mechanics: Mechanics, x: int, y: int, levels: Contrast) -> tuple[Any, ...]:
    lag = () if mechanics.result.series is None else (mechanics.lag(x),)
    return (
        mechanics.name(mechanics.now(x)),
        *lag,
        mechanics.name(y),
        *named_levels(mechanics, x, y, levels),
    )


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def asked_rows(mechanics: Mechanics, x: int, y: int) -> Iterator[tuple[int, int, int, int]]:
    """(x, y, context, the context it is compared with or -1) for the rows of one pair."""
    if x in mechanics.contexts:
        steps = mechanics.result.cells.steps()
        yield from sorted((x, y, g, h) for h, g, position in steps if position == x and h < g)
        return
    if y in mechanics.contexts:  # which is not held
        yield x, y, 0, -1
        return
    yield from ((x, y, g, -1) for g in mechanics.cells)
    yield from ((x, y, h, g) for g, h in combinations(mechanics.cells, 2))


def pair_rows(
    mechanics: Mechanics, x: int, y: int, level: float, levels: Sequence[Contrast] | None = None
) -> Iterator[tuple[Any, ...]]:
    """The rows of one pair, for all levels that are compared."""
    for one in contrasts(mechanics, x, y) if levels is None else levels:
        yield from (_context_rows if x in mechanics.contexts else _variable_rows)(
            mechanics, x, y, level, one
        )


def _variable_rows(
    mechanics: Mechanics, x: int, y: int, level: float, levels: Contrast
) -> Iterator[tuple[Any, ...]]:
    """The effect in every context, then the differences; on a context, one answer for all rows.

    Error, interval and p-value are over draws of graphs, where there are any; an interval has the
    estimate of the graph that was found in it.
    """
    values = mechanics.result.contexts
    on_context = y in mechanics.contexts
    named = _names(mechanics, x, y, levels)
    said = level_words(mechanics, x, y, levels)
    doubt = asking.no_interval(mechanics, [x], y)
    direct = [_direct(mechanics, g, x, y, levels) for g in mechanics.cells]
    for _, _, g, h in asked_rows(mechanics, x, y):
        if h < 0:
            answer = asking.effect_in(mechanics, g, x, y, levels)
            part = direct[g]
            note = answer.note or ("" if on_context else _reminders(mechanics, g, x, y))
        else:
            answer = asking.difference(mechanics, g, h, x, y, levels)
            part = direct[g] - direct[h]
            note = answer.note or same(answer)
        shown = numbers(answer, level, part)
        kind = GIVEN if on_context else mechanics.intervals
        if mechanics.draws is not None and not on_context:
            error, low, high, p = mechanics.draws.spread(x, y, g, h, level)
            low = float(np.fmin(low, shown[0]))
            high = float(np.fmax(high, shown[0]))
            shown = (shown[0], error, low, high, p, *shown[5:])
            kind = "mixture"
        note = (
            f"{note} in this graph"
            if answer is asking.NO_PATH and h < 0 and shown[2] < shown[3]
            else note
        )
        shown, lost = _honest(shown, doubt)
        yield (
            *named,
            None if on_context else values[g],
            None if h < 0 else values[h],
            *shown,
            answer.identified,
            _joined(said, note, lost),
            kind,
        )


def _context_rows(
    mechanics: Mechanics, x: int, y: int, level: float, levels: Contrast
) -> Iterator[tuple[Any, ...]]:
    """do(R = a) minus do(R = b), for all pairs of contexts between which just R differs."""
    result = mechanics.result
    said = level_words(mechanics, x, y, levels)
    doubt = asking.no_interval(mechanics, [x], y)
    for _, _, g, h in asked_rows(mechanics, x, y):
        answer = asking.context_effect(mechanics, x, g, h, y, levels)
        direct = _context_direct(mechanics, g, h, y) if answer.identified else np.nan
        moved = [
            v for _, v in (*asking.downstream(mechanics, g, y), *asking.downstream(mechanics, h, y))
        ]
        note = answer.note or "; ".join(
            asking.approximations(mechanics, g, list(dict.fromkeys(moved)))
        )
        note = _joined(note, SET_NOW.format(mechanics.name(x)) if result.series is not None else "")
        shown, lost = _honest(numbers(answer, level, direct), doubt)
        yield (
            *_names(mechanics, x, y, levels),
            result.contexts[g],
            result.contexts[h],
            *shown,
            answer.identified,
            _joined(said, note, lost),
            GIVEN,
        )


def numbers(answer: Possible, level: float, direct: float | None = None) -> tuple[Any, ...]:
    """Effect, error, interval, p-value, the direct part where it is asked for, and all possible
    values.
    """
    between = () if direct is None else (direct,)
    values = tuple(estimate.value for estimate in answer.estimates)
    low, high = answer.interval(level)
    if not answer.identified:
        return (np.nan, np.nan, low, high, np.nan, *between, values)
    (only,) = answer.estimates
    return (only.value, only.error, low, high, only.p, *between, values)


def _honest(found: tuple[Any, ...], doubt: str) -> tuple[tuple[Any, ...], str]:
    """The numbers of an effect, as `numbers` returns them, without error, interval and p-value
    where `doubt` says why a scale has none; and these words, "" where no interval is lost: of what
    is not identified, and of a pair without a path.
    """
    if not doubt or np.isnan(found[2]) or found[2] == found[3]:
        return found, ""
    return (found[0], *(np.nan,) * 4, *found[5:]), doubt


def _direct(mechanics: Mechanics, g: int, x: int, y: int, levels: Contrast) -> float:
    """The coefficient of x in the mechanism of y, if the graphs agree on it; else NaN."""
    if mechanics.is_pag or y in mechanics.contexts:
        return np.nan
    if not mechanics.leads(g, x, y):
        return 0.0
    families = (
        mechanics.graphs.families(mechanics.graphs.touching([(g, y)]), most_families(mechanics))
        or ()
    )
    try:
        values = {
            (
                levels.signed(mechanics.fit(family, g, y).slope(x)).value
                if x in mechanics.parents(family, g, y)
                else 0.0
            )
            for family in families
        }
    except NoAnswer:
        return np.nan
    return values.pop() if len(values) == 1 else np.nan


def _context_direct(mechanics: Mechanics, g: int, h: int, y: int) -> float:
    """What the change of the own mechanism of y does, all its causes as they are under do(context
    of h).

    NaN where the graphs are not settled.
    """
    asked = [*asking.downstream(mechanics, g, y), *asking.downstream(mechanics, h, y)]
    if mechanics.is_pag or mechanics.graphs.touching(asked):
        return np.nan
    (family,) = mechanics.graphs.families([]) or ()
    if mechanics.contexts.isdisjoint(family.parents(g, y)):
        return 0.0
    everyone = mechanics.means(mechanics.everyone)
    try:
        fit = mechanics.fit(family, g, y)
        place = fit.level_place(g)
        causes = [
            mean_under(mechanics, family, h, cause, {}, everyone).value for cause in fit.causes
        ]
        with_own = float(fit.levels[place] + fit.slopes @ (causes - fit.centres[place]))
        return with_own - mean_under(mechanics, family, h, y, {}, everyone).value
    except NoAnswer:
        return np.nan


def _reminders(mechanics: Mechanics, g: int, x: int, y: int) -> str:
    """In the graph of a context the context is held, also if x may move it; and lines may stand for
    curves.
    """
    held = (
        mechanics.result.context is not None and mechanics.into_contexts[g, mechanics.place(x)[0]]
    )
    context = mechanics.result.context
    said = (
        "are held at their values"
        if len(mechanics.result.cells.positions) > 1
        else "is held at its value"
    )
    found = [f"{context} {said}"] * bool(held)
    between = mechanics.between(g, x, y)
    on_the_way = dict.fromkeys(mechanics.place(v)[0] for v in (x, *between))
    causes = [mechanics.at(v, lag) for v in on_the_way for lag in range(mechanics.window.lags + 1)]
    return "; ".join(
        found
        + asking.approximations(mechanics, g, between, [cause for cause in causes if cause >= 0])
    )


def same(answer: Possible) -> str:
    """A reminder where the graph leaves nothing to differ."""
    return "the same mechanisms" if answer.identified and answer.estimates[0].error == 0.0 else ""


def _reached_contexts(mechanics: Mechanics) -> list[tuple[int, int]]:
    """The contexts that may be set, each with all that it may lead to in some context."""
    moved = [
        int(y)
        for y in np.flatnonzero(mechanics.from_contexts.any(axis=0))
        if y not in mechanics.contexts and mechanics.lag(int(y)) == 0
    ]
    cells = mechanics.result.cells
    return [
        (context, y)
        for context in cells.positions
        if cells.source_of(context) is None
        for y in moved
    ]


def framed(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pd.DataFrame:
    """A table whose columns have the same types, rows or not; context values keep theirs."""
    found: dict[str, Any] = {}
    # beside a cause, the effect is a name
    types = _TYPES if "cause" in columns else _TYPES | {"effect": float}
    for place, name in enumerate(columns):
        values = np.empty(len(rows), dtype=object)
        values[:] = [row[place] for row in rows]
        found[name] = (
            values.astype(types[name]) if name in types else pd.Series(values, dtype=object)
        )
    return frame_of(found, columns=list(columns))


def mechanisms(mechanics: Mechanics, level: float) -> pd.DataFrame:
    """One row for every link between system variables that may be a cause, in every context."""
    check_level("level", level)
    links = may_cause(mechanics.endpoints)
    links[:, list(mechanics.contexts)] = links[:, :, list(mechanics.contexts)] = False
    found = np.argwhere(links.swapaxes(1, 2)).tolist()
    rows = [
        (*_mechanism_row(mechanics, g, cause, effect, level), _spread(mechanics, g, cause, effect))
        for g, effect, cause in found
    ]
    order = sorted(
        rows, key=lambda row: (mechanics.result.position(row[1]), mechanics.result.position(row[0]))
    )
    return because(framed(order, MECHANISM_COLUMNS), NO_MECHANISMS)


def _spread(mechanics: Mechanics, g: int, cause: int, effect: int) -> float:
    """By what factor the noise of an effect grows with a cause; NaN where its spread does not
    depend on it.

    From one standard deviation below the average of a number to one above it, or from the first
    level to the last.
    """
    result, evidence = mechanics.result, mechanics.result.evidence
    place, position = (result.position(mechanics.name(v)) for v in (effect, cause))
    if (
        evidence is None
        or evidence.mechanisms is None
        or not evidence.mechanisms.is_spread(place, position, g)
    ):
        return np.nan
    scale = evidence.mechanisms.scales[position]
    ends: Sequence[Any] = [scale.centre - scale.spread, scale.centre + scale.spread]
    if scale.levels or scale.scores:
        ends = (
            scale.levels[:: max(1, len(scale.levels) - 1)]
            or scale.own(np.array([-1.0, 1.0])).tolist()
        )
    low, high = evidence.mechanisms.spread_curve(place, position, ends, g)
    return float(high / low)


def _mechanism_row(
    mechanics: Mechanics, g: int, cause: int, effect: int, level: float
) -> tuple[Any, ...]:
    named = (mechanics.name(cause), mechanics.name(effect), mechanics.result.contexts[g])
    try:
        if mechanics.is_pag:
            raise NoAnswer("a PAG leaves room for hidden causes, so it has no direct coefficients")
        found, note = _possible_slopes(mechanics, g, cause, effect)
    except NoAnswer as reason:
        return (*named, *(np.nan,) * 6, "", 0, (), "", "", False, reason.note)
    reminder = note or "; ".join(asking.approximations(mechanics, g, (effect,), (cause,)))
    if mechanics.is_binary(cause):
        reminder = _joined(level_words(mechanics, cause, effect, Contrast(0, 1)), reminder)
    slope, fit, choice = found[0]
    (*shown, _), lost = _honest(
        numbers(Possible(tuple(one for one, *_ in found)), level),
        asking.no_interval(mechanics, [cause], effect),
    )
    reminder = _joined(reminder, lost)
    if len(found) > 1:
        return (*named, *shown, np.nan, "", 0, (), "", fit.kind, not note, reminder)
    place = fit.causes.index(cause)
    groups = fit.sharing[place] if isinstance(fit, SharedFit) else range(len(choice.groups))
    shared = tuple(
        mechanics.result.contexts[h] for h in sorted(h for k in groups for h in choice.graphs[k])
    )
    return (
        *named,
        *shown,
        slope.value * float(fit.scale[place]),
        mechanics.rows_text(choice.groups),
        fit.n,
        shared,
        choice.why,
        fit.kind,
        not note,
        reminder,
    )


def _possible_slopes(
    mechanics: Mechanics, g: int, cause: int, effect: int
) -> tuple[list[FoundCoefficient], str]:
    """The different coefficients over the graphs in which there is the link; what is open, in
    words.
    """
    asked = [(g, effect)]
    checked = possible(
        mechanics, asked, lambda family: Estimate(0.0), lambda: LocalAnswers([Estimate(0.0)])
    )
    if not checked.estimates:
        raise Refused(checked.note)
    found: dict[MechanismFit, FoundCoefficient] = {}
    families = mechanics.graphs.families(mechanics.graphs.touching(asked), MOST_FAMILIES)
    cut = False
    if families is None:  # of very many, those that differ next to it, or some of them
        families, cut = local_families(mechanics, mechanics.cells, [effect])
    for family in families:
        if cause in family.parents(g, effect):
            fit = mechanics.fit(family, g, effect)
            choice = mechanics.rows_for(family, g, effect)
            found.setdefault(fit, (fit.slope(cause), fit, choice))
    if not found:
        raise NoAnswer(
            f"no directed acyclic graph has {mechanics.name(cause)} --> {mechanics.name(effect)}"
        )
    settled = cause in mechanics.graphs.settled[g][effect]
    notes = [] if settled else [f"{edge_text(mechanics, g, cause, effect)} is open"]
    if len(found) > 1 or cut:
        notes.append(
            f"{'at least ' * cut}{len(found)} choices of other causes or of rows are possible"
        )
    return sorted(found.values(), key=lambda one: one[0].value), "; ".join(notes)


def predict_intervention(
    mechanics: Mechanics, values: Mapping[str, float], context: Any, among: str, level: float
) -> pd.DataFrame:
    """The means of everything downstream of some variables that are set; see
    `ContextGraphs.predict_intervention`.
    """
    result = mechanics.result
    check_choice("among", among, AMONG)
    check_level("level", level)
    if mechanics.is_pag:
        raise NotYetError(
            "not yet: means under an intervention in a PAG; effects() says what one leaves"
            " identified"
        )
    fixed = _fixed(mechanics, values)
    places = (
        range(len(result.contexts))
        if context is None
        else [context_place(result.contexts, context)]
    )
    now = [
        y for y in range(mechanics.endpoints.shape[1]) if mechanics.lag(y) == 0 and y not in fixed
    ]
    rows = [
        _prediction(mechanics, g, y, fixed, among, level)
        for g in places
        for y in now
        if any(mechanics.leads(g, x, y) for x in fixed)
    ]
    table = framed(
        rows, ["context", "variable", "mean", "se", "low", "high", "now", "identified", "note"]
    )
    where = "in any context" if context is None else f"in {value_text(context)}"
    return because(table, f"no path leads from {listed(values, len(values))} {where}")


def _prediction(
    mechanics: Mechanics, g: int, y: int, fixed: Mapping[int, float], among: str, level: float
) -> tuple[Any, ...]:
    inside = among == "context"
    own = mechanics.rows_of(g)
    start = mechanics.means(own if inside else mechanics.everyone)
    between = [(g, v) for v in dict.fromkeys(v for x in fixed for v in mechanics.between(g, x, y))]
    between += [] if inside else asking.downstream(mechanics, g, y)
    found = possible(
        mechanics, between, lambda family: mean_under(mechanics, family, g, y, fixed, start, inside)
    )
    (mean, error, low, high, *_), lost = _honest(
        numbers(found, level), asking.no_interval(mechanics, list(fixed), y)
    )
    now = float(mechanics.means(own).values[y])
    note = found.note or "; ".join(asking.approximations(mechanics, g, [v for _, v in between]))
    note = _joined(note, lost)
    return (
        mechanics.result.contexts[g],
        mechanics.name(y),
        mean,
        error,
        low,
        high,
        now,
        found.identified,
        note,
    )


def _fixed(mechanics: Mechanics, values: Mapping[str, float]) -> dict[int, float]:
    if not isinstance(values, Mapping) or not values:
        raise OptionError(
            f"values is {values!r}, expected a mapping such as {{'precipitation': 3.0}}"
        )
    fixed = {}
    for name, value in values.items():
        variable, lag = asking.asked_node(mechanics, name)
        position = mechanics.at(mechanics.place(variable)[0], lag or 0)
        if variable in mechanics.contexts:
            raise OptionError(f"{name!r} is a context: set it by context=...")
        try:
            fixed[position] = float(value) if isinstance(value, int | float | Real) else np.nan
        except OverflowError:
            fixed[position] = np.nan
        if not abs(fixed[position]) <= LARGEST_SET:
            raise OptionError(
                f"{shortly(name)} is set to {shortly(value)}, expected a number up to"
                f" {LARGEST_SET:g}"
            )
    return fixed
