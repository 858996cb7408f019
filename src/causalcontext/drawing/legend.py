"""What the marks, colours and widths of a picture mean: one sample stroke each, and nothing that does not occur."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from causalcontext.drawing.strokes import (
    INK,
    NEAR,
    SOFT,
    Panel,
    Stroke,
    context_colour,
    context_title,
    has_own_colours,
    share_colour,
    shown,
    two_colours,
)
from causalcontext.graphs.endpoints import MARK_OF_ENDPOINTS, Endpoint, GraphKind, endpoints_of_mark

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

_WORDS = {
    "-->": "cause → effect",
    "o->": "cause, or hidden common cause",
    "o-o": "adjacent, direction not determined",
    "x-x": "conflicting directions",
    "<=>": "direction differs between contexts",
    "<->": "hidden common cause",
}
_WORDS_IN_PAG = {
    "-->": "cause → effect, perhaps through others",
    "o-o": "cause, effect, or hidden common cause",
    "x-x": "hidden common cause, or contradictory tests",
    "<->": "hidden common cause, unless a test erred",
}
_ENDPOINT_WORDS = {
    Endpoint.MIXED: "an endpoint that differs between contexts",
    Endpoint.CONFLICT: "an endpoint in conflict",
    Endpoint.CIRCLE: "an endpoint that is not determined",
    Endpoint.TAIL: "a tail at both endpoints",
}
_TOWARDS_ARROW = (Endpoint.TAIL, Endpoint.CIRCLE, Endpoint.CONFLICT, Endpoint.MIXED, Endpoint.ARROW)
_PAIR, _ARROW, _OPEN = (0, 1), endpoints_of_mark("-->"), endpoints_of_mark("o-o")
Shades = tuple[str, ...]


@dataclass(frozen=True)
class LegendEntry:
    """An entry of the legend: a stroke as it may look, and what that means."""

    stroke: Stroke
    words: str


def mark_meanings(endpoints: Iterable[tuple[Endpoint, Endpoint]], kind: GraphKind) -> dict[str, str]:
    """What the marks of these edges mean in graphs of that kind, each mark once and towards its arrow."""
    words = _WORDS | (_WORDS_IN_PAG if kind is GraphKind.PAG else {})
    found = {
        MARK_OF_ENDPOINTS[first, second] for first, second in (sorted(e, key=_TOWARDS_ARROW.index) for e in endpoints)
    }
    others = {
        mark: next(words for end, words in _ENDPOINT_WORDS.items() if end in endpoints_of_mark(mark))
        for mark in sorted(found - set(words))
    }
    return {mark: meaning for mark, meaning in (words | others).items() if mark in found}


def graph_legend(panels: Sequence[Panel], kind: GraphKind = GraphKind.CPDAG) -> tuple[LegendEntry, ...]:
    """The marks of these panels."""
    meanings = mark_meanings((stroke.endpoints for stroke in _strokes(panels)), kind)
    return tuple(
        LegendEntry(
            Stroke(_PAIR, endpoints_of_mark(mark), strength=0.4), words if mark == "-->" else f"{words} ({mark})"
        )
        for mark, words in meanings.items()
    )


def legend(result: ContextGraphs, panels: Sequence[Panel], compared: tuple[Any, Any] | None = None
           ) -> tuple[LegendEntry, ...]:  # fmt: skip
    """The marks, colours, widths and doubts of these panels; `compared` are the two contexts of a difference."""
    strokes = _strokes(panels)
    meanings = _context_colours(result) if compared is None else _compared_colours(result, *compared)
    used = {stroke.colours for stroke in strokes} | {(colour,) for stroke in strokes for colour in stroke.colours}
    colours = [LegendEntry(Stroke(_PAIR, _ARROW, shades, strength=0.4), words) for shades, words in meanings
               if shades in used]  # fmt: skip
    more = []
    if any(stroke.strength is not None for stroke in strokes):
        more += [LegendEntry(Stroke(_PAIR, _OPEN, strength=0.05), "weak"),
                 LegendEntry(Stroke(_PAIR, _OPEN, strength=1.0), "strong (|partial correlation|)")]  # fmt: skip
    if any(stroke.uncertain for stroke in strokes):
        words = f"uncertain: p > alpha/{NEAR:g}, or untestable"
        more.append(LegendEntry(Stroke(_PAIR, _OPEN, strength=0.3, uncertain=True), words))
    return (*graph_legend(panels, result.union.kind), *colours, *more)


def _strokes(panels: Sequence[Panel]) -> list[Stroke]:
    return [stroke for panel in panels for stroke in panel.strokes]


def _context_colours(result: ContextGraphs) -> Iterator[tuple[Shades, str]]:
    """Every colour that panels of contexts and unions may have."""
    if result.context is None:
        return
    yield (INK,), "in all contexts"
    if has_own_colours(result.contexts):
        for place, value in enumerate(result.contexts):
            yield (context_colour(result.contexts, place),), f"not in all: {context_title(result, value)}"
        return
    yield (context_colour(result.contexts, 0),), "not in all contexts"
    counts = range(1, len(result.contexts))
    for shade in dict.fromkeys(share_colour(count, len(result.contexts)) for count in counts):
        same = [count for count in counts if share_colour(count, len(result.contexts)) == shade]
        span = str(same[0]) if len(same) == 1 else f"{same[0]} to {same[-1]}"
        yield (shade,), f"in {span} of {len(result.contexts)} contexts"


def _compared_colours(result: ContextGraphs, first: Any, second: Any) -> Iterator[tuple[Shades, str]]:
    colours = two_colours(result, first, second)
    yield (SOFT,), "the same in both"
    yield (colours[0],), f"only {shown(first)}"
    yield (colours[1],), f"only {shown(second)}"
    yield colours, f"other mark: {shown(first)} | {shown(second)}"
