"""What a picture shows: one panel per context, the labeled union, or two contexts compared; as plain strokes.

Every kind of picture is a list of panels, every panel a list of strokes, and any painter can draw them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from causalcontext.drawing.names import printable, shortened
from causalcontext.drawing.palette import INK, SOFT, context_colour, has_own_colours, share_colour
from causalcontext.errors import OptionError, did_you_mean
from causalcontext.graphs.graph import Graph, Mark
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.log import Decision

LONGEST_LABEL = 12
MOST_LABELS = 40
NEAR = 5.0
"""An edge whose largest p-value is above alpha / NEAR was kept narrowly."""


@dataclass(frozen=True)
class Stroke:
    """One edge as drawn.

    Attributes
    ----------
    pair : (int, int)
        Positions i < j of its ends.
    mark : Mark
        Read from i to j.
    colours : tuple of str
        Several take turns along the line.
    strength : float or None
        From 0 to 1; None where it was not measured.
    uncertain : bool
        Kept narrowly, or untestable.
    label : str
        Written beside the line.
    """

    pair: tuple[int, int]
    mark: Mark
    colours: tuple[str, ...] = (INK,)
    strength: float | None = None
    uncertain: bool = False
    label: str = ""


@dataclass(frozen=True)
class Panel:
    """A title and strokes, all of them in the shared layout."""

    title: str
    strokes: tuple[Stroke, ...]


@dataclass(frozen=True)
class Sample:
    """An entry of the legend: a stroke as it may look, and what that means."""

    stroke: Stroke
    words: str


def graph_panel(graph: Graph, title: str = "") -> Panel:
    """A graph by itself."""
    return Panel(title, tuple(Stroke(pair, Mark(int(graph.marks[pair]))) for pair in _edges(graph)))


def context_panel(result: ContextGraphs, value: Any) -> Panel:
    """The graph of one context; edges that not all contexts have are in its colour."""
    place, graph = context_place(result, value), result.graphs[value]
    everywhere = np.all([other.adjacency for other in result.graphs.values()], axis=0)
    own = context_colour(result.contexts, place)
    strokes = [
        Stroke(pair, Mark(int(graph.marks[pair])), (INK if everywhere[pair] else own,),
               _strength(result, pair, [value]), _uncertain(result, pair, [value]))
        for pair in _edges(graph)
    ]  # fmt: skip
    title = "all rows" if result.context is None else f"{shown(result.context)} = {shown(value)}"
    return Panel(f"{title}   ({result.data.rows[place]:,} rows)", tuple(strokes))


def union_panel(result: ContextGraphs) -> Panel:
    """The labeled union: edges that not all contexts have carry the colours and names of those that do."""
    graph = result.union
    partial = sum(len(_having(result, pair)) < len(result.contexts) for pair in _edges(graph))
    strokes = []
    for pair in _edges(graph):
        having = _having(result, pair)
        strokes.append(
            Stroke(pair, Mark(int(graph.marks[pair])), _colours(result, having), _strength(result, pair, having),
                   _uncertain(result, pair, having), _label(result, having) if partial <= MOST_LABELS else "")
        )  # fmt: skip
    return Panel("graph" if result.context is None else "labeled union", tuple(strokes))


def difference_panel(result: ContextGraphs, first: Any, second: Any) -> Panel:
    """Two contexts compared: what they share is pale, what one of them lacks has the colour of the other."""
    places = context_place(result, first), context_place(result, second)
    colours = tuple(context_colour(range(2) if not has_own_colours(result.contexts) else result.contexts, place)
                    for place in (places if has_own_colours(result.contexts) else (0, 1)))  # fmt: skip
    strokes = []
    for pair in _pairs(result):
        marks = [Mark(int(result.graphs[value].marks[pair])) for value in (first, second)]
        having = [value for value, mark in zip((first, second), marks, strict=True) if mark]
        if not having:
            continue
        same = marks[0] is marks[1]
        shade = (SOFT,) if same else tuple(c for c, mark in zip(colours, marks, strict=True) if mark)
        label = f"{_ARROWS[marks[0]]} | {_ARROWS[marks[1]]}" if len(having) == 2 and not same else ""
        strokes.append(Stroke(pair, next(mark for mark in marks if mark), shade,
                              _strength(result, pair, having), _uncertain(result, pair, having), label))  # fmt: skip
    return Panel(f"{shown(first)} against {shown(second)}", tuple(strokes))


def legend(result: ContextGraphs | None, panels: Sequence[Panel], compared: tuple[Any, Any] | None = None
           ) -> tuple[Sample, ...]:  # fmt: skip
    """What every mark, colour and width of these panels means; nothing that does not occur."""
    strokes = [stroke for panel in panels for stroke in panel.strokes]
    samples = [Sample(Stroke((0, 1), mark, strength=0.4), words) for mark, words in _MARK_WORDS.items()
               if any(_like(stroke.mark) is mark for stroke in strokes)]  # fmt: skip
    if result is not None:
        samples += _colour_samples(result, strokes, compared)
    if any(stroke.strength is not None for stroke in strokes):
        samples.append(Sample(Stroke((0, 1), Mark.UNDIRECTED, strength=0.05), "weak"))
        samples.append(Sample(Stroke((0, 1), Mark.UNDIRECTED, strength=1.0), "strong (|partial correlation|)"))
    if any(stroke.uncertain for stroke in strokes):
        samples.append(Sample(Stroke((0, 1), Mark.UNDIRECTED, strength=0.3, uncertain=True),
                              f"uncertain: kept narrowly (p > alpha/{NEAR:g}) or untestable"))  # fmt: skip
    return tuple(samples)


def context_variables(result: ContextGraphs) -> tuple[int, ...]:
    """The positions of the variables that name the context."""
    return tuple(place for place, name in enumerate(result.names) if name == result.context)


def context_place(result: ContextGraphs, value: Any) -> int:
    """The place of a context value, or an error that suggests one."""
    for place, known in enumerate(result.contexts):
        if known == value and type(known) is type(value):
            return place
    expected = ", ".join(repr(known) for known in result.contexts[:8])
    raise OptionError(
        f"there is no context {value!r}{did_you_mean(value, result.contexts)} (expected one of {expected})"
    )


def shown(value: Any) -> str:
    """A context value or name as it is written in titles and legends."""
    return shortened(printable(str(value)), 40)


_MARK_WORDS = {
    Mark.FORWARD: "cause → effect",
    Mark.UNDIRECTED: "adjacent, direction not determined (o-o)",
    Mark.CONFLICT: "conflicting directions (x-x)",
    Mark.BOTH: "one way here, the other way there (<=>)",
    Mark.CONFOUNDED: "hidden common cause (<->)",
}
_ARROWS = {Mark.FORWARD: "→", Mark.BACKWARD: "←", Mark.UNDIRECTED: "o-o", Mark.CONFLICT: "x-x", Mark.BOTH: "⇔",
           Mark.CONFOUNDED: "↔"}  # fmt: skip


def _like(mark: Mark) -> Mark:
    return Mark.FORWARD if mark is Mark.BACKWARD else mark


def _colour_samples(result: ContextGraphs, strokes: Sequence[Stroke], compared: tuple[Any, Any] | None
                    ) -> list[Sample]:  # fmt: skip
    used = {stroke.colours for stroke in strokes}
    if compared is not None:
        pair = difference_panel(result, *compared)
        colours = {stroke.colours for stroke in pair.strokes} & used
        names = dict(zip(_two_colours(result, compared), compared, strict=True))
        lines: list[tuple[tuple[str, ...], str]] = [((SOFT,), "the same in both")]
        lines += [((colour,), f"only {shown(value)}") for colour, value in names.items()]
        lines.append((tuple(names), f"other mark: {shown(compared[0])} | {shown(compared[1])}"))
        return [_coloured(shade, words) for shade, words in lines if shade in colours]
    if result.context is None:
        return []
    samples = [_coloured((INK,), "in all contexts")] if (INK,) in used else []
    if not has_own_colours(result.contexts):
        few, many = share_colour(1, 10), share_colour(9, 10)
        return [*samples, _coloured((few,), "in few contexts"), _coloured((many,), "in most contexts")]
    seen = {colour for colours in used for colour in colours}
    name = shown(result.context)
    return samples + [_coloured((colour,), f"not in all: {name} = {shown(value)}")
                      for place, value in enumerate(result.contexts)
                      if (colour := context_colour(result.contexts, place)) in seen]  # fmt: skip


def _two_colours(result: ContextGraphs, compared: tuple[Any, Any]) -> tuple[str, str]:
    if not has_own_colours(result.contexts):
        return context_colour(range(2), 0), context_colour(range(2), 1)
    first, second = (context_colour(result.contexts, context_place(result, value)) for value in compared)
    return first, second


def _coloured(colours: tuple[str, ...], words: str) -> Sample:
    return Sample(Stroke((0, 1), Mark.FORWARD, colours, strength=0.4), words)


def _pairs(result: ContextGraphs) -> list[tuple[int, int]]:
    return list(combinations(range(len(result.names)), 2))


def _edges(graph: Graph) -> list[tuple[int, int]]:
    first, second = np.nonzero(np.triu(graph.marks))
    return [(int(i), int(j)) for i, j in zip(first, second, strict=True)]


def _having(result: ContextGraphs, pair: tuple[int, int]) -> list[Any]:
    return [value for value, graph in result.graphs.items() if graph.marks[pair] != Mark.ABSENT]


def _colours(result: ContextGraphs, having: Sequence[Any]) -> tuple[str, ...]:
    if len(having) == len(result.contexts):
        return (INK,)
    if not has_own_colours(result.contexts):
        return (share_colour(len(having), len(result.contexts)),)
    return tuple(context_colour(result.contexts, context_place(result, value)) for value in having)


def _label(result: ContextGraphs, having: Sequence[Any]) -> str:
    if len(having) == len(result.contexts):
        return ""
    text = ", ".join(shortened(printable(str(value)), LONGEST_LABEL) for value in having)
    return text if len(text) <= 2 * LONGEST_LABEL else f"{len(having)} of {len(result.contexts)}"


def _strength(result: ContextGraphs, pair: tuple[int, int], having: Sequence[Any]) -> float | None:
    """The smallest measured strength in these contexts, as `edges()` has it."""
    found = [abs(result.strength(result.names[pair[0]], result.names[pair[1]], value)) for value in having]
    measured = [value for value in found if np.isfinite(value)]
    return min(1.0, min(measured)) if measured else None


def _uncertain(result: ContextGraphs, pair: tuple[int, int], having: Sequence[Any]) -> bool:
    """Whether the edge is in doubt in all of these contexts."""
    slot, doubts = result.log.slot(*pair), []
    for value in having:
        place = context_place(result, value)
        untestable = result.log.decision[place, slot] == Decision.UNTESTABLE
        doubts.append(bool(untestable or result.log.p[place, slot] > result.settings.alpha / NEAR))
    return all(doubts)
