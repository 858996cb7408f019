"""Why two variables are adjacent or not, in words, context by context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.graphs.lag_names import at, split
from causalcontext.results.entries import Decision, Entries
from causalcontext.results.explain_scores import explain_scores
from causalcontext.results.origins import meaning, origin_words
from causalcontext.results.series import series_of
from causalcontext.results.verdicts import inside_words
from causalcontext.results.words import fixed_words, p_words
from causalcontext.views import REASON_TEXT, Reason

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


def explain(result: ContextGraphs, x: str, y: str) -> str:
    """The story of a pair: one line per context; of two variables of a window the earlier one comes first."""
    if result.position(x) == result.position(y):
        raise OptionError(f"explain needs two different variables, got {x!r} twice")
    if result.series is not None:
        (early, lag), (late, other) = sorted((split(x), split(y)), key=lambda pair: -pair[1])
        if other:
            return (f"{x} and {y} are both in the past; links repeat, so this is the pair {at(early, lag - other)} and "
                    f"{late}: explain that")  # fmt: skip
        x, y = (x, y) if split(x)[1] >= split(y)[1] else (y, x)
        told = _left_out(result, x) if result.evidence is None else ""
        if told:
            return told
    if result.evidence is not None:
        return explain_scores(result, result.evidence, x, y)
    stories = ((_sentence(result, x, y, place), meaning(result, place, x, y), origin_words(result, place, x, y))
               for place in range(len(result.contexts)))  # fmt: skip
    return "\n".join(" ".join(filter(None, story)) for story in stories)


def _left_out(result: ContextGraphs, x: str) -> str:
    """Why the context at some lag is never tested; "" if it is."""
    (name, lag), searched = split(x), series_of(result).copies
    contexts = [result.names[position] for position in result.cells.positions]
    if name not in contexts or lag in searched or result.settings.method == "pc-m":
        return ""
    return (f"{x} takes no part in the search: mechanisms may depend on {name} at lags "
            f"{', '.join(map(str, searched))} (context_lags)")  # fmt: skip


def _sentence(result: ContextGraphs, x: str, y: str, place: int) -> str:
    """Why the edge is there or not, by the test that decided."""
    value = result.contexts[place]
    entry = result.log.at(place, result.log.slot(result.position(x), result.position(y)))
    decision = Decision(int(entry.decision))
    mark = result.graphs[value].mark(x, y)
    lead = "" if result.context is None else f" in {value}"
    head = f"present{lead} ({x} {mark} {y})" if mark else f"absent{lead}"
    if decision is Decision.REQUIRED:
        return f"{head}: the link is required by your knowledge; it was not tested."
    if decision is Decision.FORBIDDEN:
        return f"{head}: your knowledge rules the link out; it was not tested."
    function = next((name for name in (x, y) if name in result.made_of), None)
    if decision is Decision.NOT_SEARCHED and function is not None:
        return f"{head}: {function} is a function of {result.made_of[function]}; its links follow from missing edges."
    if decision is Decision.NOT_SEARCHED:
        why = f"looks at one context at a time, where {result.context} is constant, so it cannot test links at it"
        return f"{head}: {result.settings.method} {why}."
    if decision is Decision.UNTESTABLE:
        if entry.untested == 0:
            return f"{head}: the search was interrupted before this pair was tested."
        why = REASON_TEXT[Reason(int(entry.reason))]
        return f"{head}, but untestable: no test of {x} and {y} could be run ({why}), so the edge stays."
    rows = _rows(result, result.fixed(int(entry.view)), int(entry.n))
    where, p = f"{_given(result, entry)} {rows}", p_words(float(entry.p))
    if decision is Decision.ABSENT:
        story = f"{x} and {y} are independent{where}, {p}"
    elif _on_second_look(result, x, y, place):
        story = f"{x} and {y} are dependent{where}, {p}: a smaller conditioning set had hidden it"
    else:
        story = f"{x} and {y} are dependent in every test, most weakly{where}, {p}"
    return f"{head}: {story}{_other_view(result, x, y, place, decision)}{_untested(entry)}."


def _on_second_look(result: ContextGraphs, x: str, y: str, place: int) -> bool:
    """Whether a link was put back after a set had separated its ends."""
    a, b = result.position(x), result.position(y)
    origins = (result.origins.get((place, *pair)) for pair in ((a, b), (b, a)))
    return any(origin is not None and origin.rule == "reads" for origin in origins)


def _given(result: ContextGraphs, entry: Entries) -> str:
    names = [result.columns[z] for z in entry.conditions]
    return f" given {', '.join(names)}" if names else ""


def _rows(result: ContextGraphs, fixed: dict[str, Any], n: int) -> str:
    if not fixed:
        return f"on all {n} rows" if result.context is None or n == sum(result.data.rows) else f"on {n} rows"
    return f"among the {n} rows with {fixed_words(fixed, result.made_of)}"


def _other_view(result: ContextGraphs, x: str, y: str, place: int, decision: Decision) -> str:
    """The same question on the other rows, where it can be asked: all of them, or those of the context.

    Where the other rows say something else than the graph does, it is said why the graph does not follow them.
    """
    asked, contexts = result.log.query(place, result.position(x), result.position(y)), result.cells.positions
    if result.prepared is None or not contexts or set(contexts).intersection((asked.x, asked.y, *asked.given)):
        return ""
    if asked.view:
        view, words = 0, "on all rows"
    else:
        view, words = result.cells.number(result.cells.cell(place)), f"within {result.contexts[place]}"
    p = float(result.prepared.answer([asked._replace(view=view)]).p[0])
    if np.isnan(p):
        return f"; {words} it could not be tested"
    dependent = p <= result.settings.alpha
    if dependent == (decision is Decision.PRESENT):
        return f"; {words} {p_words(p)}"
    if dependent:
        reason = "which is due to the other contexts" if asked.view else inside_words(result)
    else:
        why = "pooling the contexts hides it" if asked.view else "these rows alone are not enough"
        reason = f"which does not show it: {why}"
    return f"; {words} {p_words(p)}, {reason}"


def _untested(entry: Entries) -> str:
    """What was not tried: queries that could not be run, and sets that are too many."""
    count, cut = int(entry.untested), int(entry.cut)
    failed = f" ({count} {'query' if count == 1 else 'queries'} of this pair could not be run)" if count else ""
    return failed + (f" (not all sets of {cut} and more neighbours were tested)" if cut else "")
