"""Why an edge has its ends, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from causalcontext.graphs.endpoints import Endpoint, GraphKind, mark_of
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import split
from causalcontext.results.entries import Decision
from causalcontext.results.words import fixed_words
from causalcontext.search.family import Origin
from causalcontext.search.rules import Scope, rule_named

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

MEANINGS = {
    "-->": "{x} causes {y}, perhaps through others; a hidden cause of both is not excluded.",
    "o->": "{y} does not cause {x}; {x} causes {y}, or a hidden cause acts on both.",
    "<->": "Neither causes the other: a hidden cause acts on both, or a test erred (with few rows, most are wrong).",
    "o-o": "Either may cause the other, or a hidden cause may act on both.",
    "x-x": "A hidden common cause, or two separations that contradict each other.",
    "x->": "{y} does not cause {x}; whether {x} causes {y} is contested.",
    "": "In this context neither a direct mechanism nor a hidden common cause links them.",
}
"""What the marks of a PAG say about one context."""


def meaning(result: ContextGraphs, place: int, x: str, y: str) -> str:
    """What the edge of a PAG says, or that there is none; empty for a CPDAG."""
    graph = result.graphs[result.contexts[place]]
    if graph.kind is GraphKind.CPDAG:
        return ""
    function = next((name for name in (x, y) if name in result.made_of), None)
    if function is not None:
        return _meaning_of_function(graph, function, y if function == x else x)
    for first, second in ((x, y), (y, x)):
        words = MEANINGS.get(mark_of(graph.endpoints, graph.position(first), graph.position(second)))
        if words is not None:
            return words.format(x=first, y=second)
    return ""


def _meaning_of_function(graph: Graph, function: str, other: str) -> str:
    """What an edge says at a context that is made out of a column; nothing where none is drawn."""
    mark = graph.mark(function, other)
    if mark == "-->":
        return f"{function} acts on {other}, or on something that leads to it."
    vanishing = "an edge of it is missing in some contexts"
    return f"{function} may act on {other}: {vanishing}." if mark[:1] == "o" else ""


def origin_words(result: ContextGraphs, place: int, x: str, y: str) -> str:
    """The sentences about the ends of x - y in one context; empty without an end whose origin is known."""
    found = []
    for cause, effect in ((x, y), (y, x)):
        origin = result.origins.get((place, result.position(cause), result.position(effect)))
        if origin is not None:
            what = _end(result, place, cause, effect)
            found.append(f"{what} by {origin.rule}: {_because(result, origin, place, cause, effect)}.")
        elif _follows(result, place, cause, effect):
            found.append(f"An arrow at {effect}, since {cause} causes it and there are no cycles.")
    return " ".join(found)


def _follows(result: ContextGraphs, place: int, cause: str, effect: str) -> bool:
    """Whether the arrow at the effect is one that the tail at the cause has brought about, in a PAG."""
    graph = result.graphs[result.contexts[place]]
    known = (place, result.position(effect), result.position(cause)) in result.origins
    return graph.kind is GraphKind.PAG and known and graph.mark(cause, effect) == "-->"


def _end(result: ContextGraphs, place: int, cause: str, effect: str) -> str:
    """The end at the effect: the whole direction in a CPDAG, where it is one arrow and one tail."""
    graph = result.graphs[result.contexts[place]]
    if graph.kind is GraphKind.CPDAG:
        return f"{cause} --> {effect}"
    end = graph.endpoints[graph.position(cause), graph.position(effect)]
    return f"{_ENDPOINT_WORDS[Endpoint(end)]} at {effect}"


_ENDPOINT_WORDS = {Endpoint.ARROW: "An arrow", Endpoint.TAIL: "A tail", Endpoint.CONFLICT: "Contested"}


def _because(result: ContextGraphs, origin: Origin, place: int, cause: str, effect: str) -> str:
    rule = rule_named(origin.rule, result.graphs[result.contexts[place]].kind)
    via = " and ".join(result.names[v] for v in origin.via)
    words = rule.words.format(
        cause=cause,
        effect=effect,
        via=via,
        context=_context(result, origin, place, cause),
        source=result.contexts[origin.graph],
        lost=f"the edge {via or cause} - {effect}",
        system=effect if cause == via else cause,
        kin="descendant" if cause == via else "ancestor",
        set=_separating_set(result, origin, cause) if "{set}" in rule.words else "",
    )
    if origin.graph == place or rule.scope is Scope.KNOWLEDGE or "{source}" in rule.words:
        return words
    apart = rule.kind is GraphKind.PAG and len(result.cells.positions) > 1
    shared = "the same here" if apart else "the same in all contexts"
    return f"{words} (found in {result.contexts[origin.graph]}, {shared})"


def _context(result: ContextGraphs, origin: Origin, place: int, cause: str) -> str:
    """The context variable that a rule is about; of several, the one that differs, or all of them."""
    named = [result.names[position] for position in result.cells.positions]
    if len(named) < 2:
        return str(result.context)
    if cause in named or split(cause)[0] in named:
        return cause
    differing = [result.names[z] for z in result.cells.differing(place, origin.graph)]
    return " and ".join(differing if len(differing) == 1 else named)


def _separating_set(result: ContextGraphs, origin: Origin, cause: str) -> str:
    """What separates the two ends of a collider, and on which rows."""
    slot = result.log.slot(result.position(cause), origin.via[0])
    entry = result.log.at(origin.graph, slot)
    if entry.decision != Decision.ABSENT:
        return ""
    fixed = result.fixed(int(entry.view))
    given = [result.columns[z] for z in entry.conditions]
    rows = f"where {fixed_words(fixed, result.made_of)}" if fixed else "on all rows"
    return f" given {', '.join(given)} {rows}" if given else f" {rows}"
