"""Why an arrow points as it does, in words."""

from __future__ import annotations

from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.log import Decision
from causalcontext.search.family import Origin

FORMS = {
    "knowledge": "your knowledge allows no other direction",
    "collider": "{via} and {cause} are separated{set}, not given {effect}: a collider",
    "R1": "the other direction would make {cause} a collider of {via} and {effect}",
    "R2": "the other direction would close a cycle through {via}",
    "R3": "the other direction would close a cycle or make a collider with {via}",
    "R4": "the other direction would close a cycle or make a collider with {via}",
    "deterministic": "{effect} was made out of {cause}",
    "indicator": "{lost} is missing in {source}, and only {effect} can be an effect of {context}",
    "T1": "it points so in {source}, and only edges between two children of {context} can turn around",
    "V1": "{lost} is missing in {source} and only its effect can be a child of {context}",
    "V4": "{lost} is missing in {source}, so {context} changes the causes of {effect}",
    "F": "the edge between {effect} and {via} turns around in {source}, so {context} causes both",
    "A1": "{system} is a known {kin} of {context}",
    "A2": "{cause} is a known ancestor of {context} and {effect} a known descendant",
    "A3": "{cause} leads to {effect}, an ancestor of {context}, and no cycle of any contexts may meet {context}",
}


def origin_words(result: ContextGraphs, place: int, x: str, y: str) -> str:
    """The sentence about the arrow between x and y in one context; empty without an arrow or a known origin."""
    for cause, effect in ((x, y), (y, x)):
        origin = result.origins.get((place, result.position(cause), result.position(effect)))
        if origin is not None:
            return f"{cause} --> {effect} by {origin.rule}: {_because(result, origin, place, cause, effect)}."
    return ""


def _because(result: ContextGraphs, origin: Origin, place: int, cause: str, effect: str) -> str:
    via = " and ".join(result.names[v] for v in origin.via)
    context = _context(result, origin, place, cause)
    words = FORMS[origin.rule].format(
        cause=cause,
        effect=effect,
        via=via,
        context=context,
        source=result.contexts[origin.graph],
        lost=f"the edge {via or cause} - {effect}",
        system=effect if cause == context else cause,
        kin="descendant" if cause == context else "ancestor",
        set=_separating_set(result, origin, cause) if origin.rule == "collider" else "",
    )
    here = origin.graph == place or origin.rule in ("T1", "V1", "V4", "F", "knowledge", "deterministic", "indicator")
    return words if here else f"{words} (found in {result.contexts[origin.graph]}, the same in all contexts)"


def _context(result: ContextGraphs, origin: Origin, place: int, cause: str) -> str:
    """The context variable that a rule is about; of several, the one that differs, or all of them."""
    named = [result.names[position] for position in result.cells.positions]
    if len(named) < 2:
        return str(result.context)
    if origin.rule in ("A1", "A2", "A3"):
        return result.names[origin.via[0]]
    if cause in named:
        return cause
    differing = [result.names[z] for z in result.cells.differing(place, origin.graph)]
    return " and ".join(differing if len(differing) == 1 else named)


def _separating_set(result: ContextGraphs, origin: Origin, cause: str) -> str:
    """What separates the two ends of a collider, and on which rows."""
    slot = result.log.slot(result.position(cause), origin.via[0])
    if result.log.decision[origin.graph, slot] != Decision.ABSENT:
        return ""
    fixed = result.fixed(int(result.log.view[origin.graph, slot]))
    given = [result.names[z] for z in result.log.conditions(origin.graph, slot)]
    rows = f"where {', '.join(f'{name} = {value}' for name, value in fixed.items())}" if fixed else "on all rows"
    return f" given {', '.join(given)} {rows}" if given else f" {rows}"
