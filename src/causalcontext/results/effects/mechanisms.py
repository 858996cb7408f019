"""`mechanisms()`: the direct coefficients of every variable in every context, with the rows they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.errors import check_level
from causalcontext.graphs.dags import Family
from causalcontext.graphs.endpoints import may_cause
from causalcontext.results.effects.asking import approximations
from causalcontext.results.effects.estimates import Estimate
from causalcontext.results.effects.fits import MechanismFit
from causalcontext.results.effects.frames import framed
from causalcontext.results.effects.mechanics import Mechanics, NoAnswer, Refused, RowChoice
from causalcontext.results.effects.sets import MOST_FAMILIES, edge_text, possible
from causalcontext.results.effects.shared_fits import SharedFit

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["cause", "effect", "context", "coefficient", "se", "low", "high", "p", "standardised", "rows", "n",
           "shared by", "why", "errors", "identified", "note"]  # fmt: skip


class _FoundCoefficient(NamedTuple):
    """A coefficient in one family of graphs, its fit, and the rows that it rests on."""

    slope: Estimate
    fit: MechanismFit
    rows: RowChoice


def mechanisms(mechanics: Mechanics, level: float) -> pd.DataFrame:
    """One row for every link between system variables that may be a cause, in every context."""
    check_level("level", level)
    links = may_cause(mechanics.endpoints)
    links[:, list(mechanics.contexts)] = False
    rows = [_row(mechanics, g, cause, effect, level) for g, effect, cause in np.argwhere(links.swapaxes(1, 2)).tolist()
            if effect not in mechanics.contexts]  # fmt: skip
    order = sorted(rows, key=lambda row: (mechanics.result.position(row[1]), mechanics.result.position(row[0])))
    return framed(order, COLUMNS)


def _row(mechanics: Mechanics, g: int, cause: int, effect: int, level: float) -> tuple[Any, ...]:
    named = (mechanics.name(cause), mechanics.name(effect), mechanics.result.contexts[g])
    try:
        if mechanics.is_pag:
            raise NoAnswer("a PAG leaves room for hidden causes, so it has no direct coefficients")
        found, note = _possible_slopes(mechanics, g, cause, effect)
    except NoAnswer as reason:
        return (*named, *(np.nan,) * 6, "", 0, (), "", "", False, reason.note)
    reminder = note or "; ".join(approximations(mechanics, g, (effect,), (cause,)))
    return (*named, *_numbers(mechanics, found, cause, level), not note, reminder)


def _possible_slopes(mechanics: Mechanics, g: int, cause: int, effect: int) -> tuple[list[_FoundCoefficient], str]:
    """The different coefficients over the graphs in which there is the link; what is open, in words."""
    asked = [(g, effect)]
    checked = possible(mechanics, asked, lambda family: Estimate(0.0), lambda: [Estimate(0.0)])
    if not checked.estimates:
        raise Refused(checked.note)
    found: dict[MechanismFit, _FoundCoefficient] = {}
    for family in _families(mechanics, g, effect):
        if cause in family.parents(g, effect):
            fit, choice = mechanics.fit(family, g, effect), mechanics.rows_for(family, g, effect)
            slope = fit.slope(cause)
            found.setdefault(fit, _FoundCoefficient(slope, fit, choice))
    if not found:
        raise NoAnswer(f"no directed acyclic graph has {mechanics.name(cause)} --> {mechanics.name(effect)}")
    settled = cause in mechanics.graphs.settled[g][effect]
    notes = [] if settled else [f"{edge_text(mechanics, g, cause, effect)} is open"]
    if len(found) > 1:
        notes.append(f"{len(found)} choices of other causes or of rows are left open")
    return sorted(found.values(), key=lambda one: one.slope.value), "; ".join(notes)


def _families(mechanics: Mechanics, g: int, effect: int) -> Iterator[Family] | Sequence[Family]:
    """The families that differ at one variable; of very many, those that differ next to it."""
    components = mechanics.graphs.touching([(g, effect)])
    families = mechanics.graphs.families(components, MOST_FAMILIES)
    if families is not None:
        return families
    edges = [edge for number in components for edge in mechanics.graphs.components[number] if effect in edge[1:]]
    return mechanics.graphs.local(edges)


def _numbers(mechanics: Mechanics, found: Sequence[_FoundCoefficient], cause: int, level: float) -> tuple[Any, ...]:
    """Everything between the names and the note."""
    slope, fit, choice = found[0]
    intervals = [one.slope.interval(level) for one in found]
    low, high = min(one[0] for one in intervals), max(one[1] for one in intervals)
    if len(found) > 1:
        return (np.nan, np.nan, low, high, np.nan, np.nan, "", 0, (), "", fit.kind)
    place = fit.causes.index(cause)
    groups = fit.sharing[place] if isinstance(fit, SharedFit) else range(len(choice.groups))
    graphs = sorted(g for k in groups for g in choice.graphs[k])
    return (slope.value, slope.error, low, high, slope.p, slope.value * float(fit.scale[place]),
            mechanics.rows_text(choice.groups), fit.n, tuple(mechanics.result.contexts[g] for g in graphs),
            choice.why, fit.kind)  # fmt: skip
