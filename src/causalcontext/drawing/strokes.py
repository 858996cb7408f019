"""The contents of a picture: one panel per context, the labeled union, or two contexts compared; as
plain strokes.

Every kind of picture is a list of panels, every panel a list of strokes, and any painter can draw
them. The legend says what their marks, colours and widths mean: one sample stroke each, and nothing
that does not occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.files import check_writable
from causalcontext.drawing.names import printable, shortened
from causalcontext.drawing.settings import (
    LONGEST_LABEL,
    LONGEST_LABEL_IN_TIME,
    MOST_NAMED_CONTEXTS,
    MOST_PICTURE_LABELS,
    NARROW_MARGIN,
)
from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import (
    MARK_OF_ENDPOINTS,
    Endpoint,
    GraphKind,
    endpoints_of_mark,
    mark_of,
)
from causalcontext.results.log import Decision, Entries
from causalcontext.results.words import context_place, fixed_words, share_text

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph
    from causalcontext.results.contexts import ContextGraphs

KINDS = ("contexts", "union", "difference")
TIME_KINDS = ("time-series", "summary")
"""More for results with lags; "time-series" is "contexts"."""
ENDINGS = ("png", "svg", "pdf")
INK = "#222222"
SOFT = "#9a9a9a"
CONTEXT_FILL = "#2b2b2b"
BOX_FILL = "#ffffff"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colours that people with any kind of colour vision tell apart, on paper too (Okabe and Ito)."""
_FEW_TO_MANY = ("#c6dbef", "#9ecae1", "#6baed6", "#3182bd", "#08519c")
_ARROWS = {"-->": "→", "<--": "←", "<=>": "⇔", "<->": "↔"}
"""Marks that have a sign of their own."""
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
_PAIR = (0, 1)
_ARROW = endpoints_of_mark("-->")
_OPEN = endpoints_of_mark("o-o")
Shades = tuple[str, ...]


@dataclass(frozen=True)
class Stroke:
    """One edge as drawn: its ends, colours, width, and whether it is in doubt.

    Positions are those of the result's variables, so that a stroke needs a layout to be drawn.
    """

    pair: tuple[int, int]  # positions i < j of its variables
    endpoints: tuple[Endpoint, Endpoint]  # at i and at j
    colours: tuple[str, ...] = (INK,)  # several take turns along the line
    strength: float | None = None  # from 0 to 1; None where it was not measured
    uncertain: bool = False  # kept narrowly, in some contexts perhaps untested
    label: str = ""  # written beside the line
    untested: bool = (
        False  # there only because no test of the pair could be run, in any of its contexts
    )

    @property
    def mark(self) -> str:
        """The edge as text, read from i to j."""
        return MARK_OF_ENDPOINTS[self.endpoints]


@dataclass(frozen=True)
class Panel:
    """A title and strokes, all of them in the shared layout."""

    title: str
    strokes: tuple[Stroke, ...]


def graph_panel(graph: Graph) -> Panel:
    """The panel of a graph by itself, without a title: strokes in ink, without strengths."""
    return Panel("", tuple(Stroke(pair, endpoints_of(graph, pair)) for pair in _edges(graph)))


def context_panel(result: ContextGraphs, value: Any, probabilities: bool = False) -> Panel:
    """The panel of one context; edges that not all contexts have are in its colour, others in ink.

    With `probabilities` a label has how probable an edge is: the share of graphs, drawn by their
    score, with an arrow either way in this context. The title has the rows.
    """
    draws = result._effect_draws() if probabilities else None
    if isinstance(draws, str):
        raise OptionError(f"probabilities is True, but no graphs were drawn: {draws}")
    position = context_place(result.contexts, value)
    graph = result.graphs[value]
    shares = (
        np.zeros((len(result.names),) * 2)
        if draws is None
        else draws.edges[:, position].mean(axis=0)
    )
    everywhere = np.all([other.adjacency for other in result.graphs.values()], axis=0)
    context_shade = context_colour(result.contexts, position)
    strokes = tuple(
        Stroke(
            pair,
            endpoints_of(graph, pair),
            (INK if everywhere[pair] else context_shade,),
            _strength(result, pair, [value]),
            _uncertain(result, pair, [value]),
            share_text(shares[pair] + shares[pair[::-1]]) if probabilities else "",
            _untested(result, pair, [value]),
        )
        for pair in _edges(graph)
    )
    title = "all rows" if result.context is None else context_title(result, value)
    return Panel(f"{title}   ({result.data.rows[position]:,} rows)", strokes)


def union_panel(result: ContextGraphs) -> Panel:
    """The panel of the labeled union: edges carry the colours and names of the contexts that have
    them.

    An edge of all contexts is in ink, without a name. Where too many would have names
    (`MOST_PICTURE_LABELS`), colours alone must do.
    """
    graph = result.union
    having = {
        pair: [value for value, other in result.graphs.items() if other.endpoints[pair]]
        for pair in _edges(graph)
    }
    labelled = (
        sum(len(values) < len(result.contexts) for values in having.values()) <= MOST_PICTURE_LABELS
    )
    strokes = tuple(
        Stroke(
            pair,
            endpoints_of(graph, pair),
            colours_of(result, values),
            _strength(result, pair, values),
            _uncertain(result, pair, values),
            _label(result, values) if labelled else "",
            _untested(result, pair, values),
        )
        for pair, values in having.items()
    )
    return Panel("graph" if result.context is None else "labeled union", strokes)


def difference_panel(
    result: ContextGraphs, first: Any, second: Any, x: Sequence[float] | None = None
) -> Panel:
    """The panel of two contexts compared.

    An edge with the same marks in both is pale. One that a context lacks has the colour of the
    other, and one with two marks has both colours, and the marks as its label, `→ | ←`. These are
    read from left to right: `x`, shape (variables,), says where the variables stand.
    """
    compared = (first, second)
    colours = two_colours(result, first, second)
    strokes = []
    either = result.graphs[first].adjacency | result.graphs[second].adjacency
    for i, j in np.argwhere(np.triu(either)).tolist():
        pair = (i, j)
        left, right = (i, j) if x is None or x[i] <= x[j] else (j, i)
        both = [endpoints_of(result.graphs[value], pair) for value in compared]
        same = both[0] == both[1]
        present = [side for side in (0, 1) if any(both[side])]
        having = [compared[side] for side in present]
        shades = tuple(colours[side] for side in present)
        marks = [mark_of(result.graphs[value].endpoints, left, right) for value in compared]
        label = (
            " | ".join(_ARROWS.get(mark, mark) for mark in marks)
            if len(having) == 2 and not same
            else ""
        )
        strokes.append(
            Stroke(
                pair,
                both[present[0]],
                (SOFT,) if same else shades,
                _strength(result, pair, having),
                _uncertain(result, pair, having),
                label,
                _untested(result, pair, having),
            )
        )
    return Panel(f"{shown(first)} against {shown(second)}", tuple(strokes))


def two_colours(result: ContextGraphs, first: Any, second: Any) -> tuple[str, str]:
    """The colours of two contexts; the first two colours if there are too many contexts for one
    each.
    """
    first_index = context_place(result.contexts, first)
    second_index = context_place(result.contexts, second)
    return (
        (_COLOURS[first_index], _COLOURS[second_index])
        if has_own_colours(result.contexts)
        else (_COLOURS[0], _COLOURS[1])
    )


def has_own_colours(contexts: Sequence[Any]) -> bool:
    """True if there are few enough contexts for a colour each."""
    return len(contexts) <= len(_COLOURS)


def context_colour(contexts: Sequence[Any], context_index: int) -> str:
    """The colour of a context; all the same if there are too many to tell apart."""
    return _COLOURS[context_index] if has_own_colours(contexts) else _COLOURS[0]


def text_colour(colours: Sequence[str]) -> str:
    """A colour for words about such a line: its own if that is dark enough to read."""
    return colours[0] if len(colours) == 1 and colours[0] in _COLOURS[:4] else INK


def share_colour(count: int, total: int) -> str:
    """The shade of an edge that `count` of `total` contexts have, from light to dark.

    It stands for the names of contexts where there are more of these than colours.
    """
    return _FEW_TO_MANY[min(int(len(_FEW_TO_MANY) * count / total), len(_FEW_TO_MANY) - 1)]


def check_picture_path(path: str | FilePath | None) -> None:
    """Refuse a path whose ending is no picture's, or that cannot be written; None is no file."""
    if path is None:
        return
    ending = FilePath(path).suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        raise OptionError(
            f"cannot save a picture as {str(path)!r}: its name must end with .png, .svg or .pdf"
        )
    check_writable(path)


def context_title(result: ContextGraphs, value: Any) -> str:
    """A context in a heading, on one line: `soil = wet`, or `soil = wet, season = 2`."""
    names = [result.names[position] for position in result.cells.positions]
    values = value if len(names) > 1 else (value,)
    made_of = {shown(name): shown(source) for name, source in result.made_of.items()}
    return fixed_words(
        {shown(name): shown(level) for name, level in zip(names, values, strict=True)}, made_of
    )


def contexts_title(result: ContextGraphs, values: Sequence[Any]) -> str:
    """Some contexts on one line: `soil = wet, dry`.

    Of several context variables, the values that all of these and no others have, `soil = wet`; if
    there are no such values, every context by itself, separated by bars.
    """
    if len(result.cells.positions) == 1:
        return f"{result.context} = {', '.join(map(str, values))}"
    common = {
        part: level
        for part, level in enumerate(values[0])
        if all(other[part] == level for other in values)
    }
    if sum(
        all(value[part] == level for part, level in common.items()) for value in result.contexts
    ) > len(values):
        return " | ".join(context_title(result, value) for value in values)
    names = [result.names[position] for position in result.cells.positions]
    return fixed_words({names[part]: level for part, level in common.items()}, result.made_of)


def shown(value: Any) -> str:
    """A context value or name as it is written in titles and legends: printable, at most 40
    characters.
    """
    return shortened(printable(_words(value)), 40)


def _words(value: Any) -> str:
    """A context value as text; the values of a combination with commas."""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _edges(graph: Graph) -> list[tuple[int, int]]:
    """The pairs i < j of a graph that have an edge, row by row."""
    return [(i, j) for i, j in np.argwhere(np.triu(graph.endpoints)).tolist()]


def endpoints_of(graph: Graph, pair: tuple[int, int]) -> tuple[Endpoint, Endpoint]:
    """The endpoints at the first and at the second of two variables."""
    return Endpoint(graph.endpoints[pair[::-1]]), Endpoint(graph.endpoints[pair])


def colours_of(result: ContextGraphs, having: Sequence[Any]) -> tuple[str, ...]:
    """The colours of an edge that these contexts have, which take turns along its line.

    That is ink if all have it, one colour each if there are enough, else a shade for their number.
    """
    if len(having) == len(result.contexts):
        return (INK,)
    if not has_own_colours(result.contexts):
        return (share_colour(len(having), len(result.contexts)),)
    return tuple(
        context_colour(result.contexts, context_place(result.contexts, value)) for value in having
    )


def _label(result: ContextGraphs, having: Sequence[Any]) -> str:
    """The names of the contexts that have an edge; empty if all do, and their number if they are
    many.
    """
    if len(having) == len(result.contexts):
        return ""
    if len(having) > MOST_NAMED_CONTEXTS:
        return f"{len(having)} of {len(result.contexts)}"
    longest = LONGEST_LABEL if result.series is None else LONGEST_LABEL_IN_TIME // len(having)
    between = " | " if any(isinstance(value, tuple) for value in having) else ", "
    return between.join(shortened(printable(_words(value)), longest) for value in having)


def _strength(result: ContextGraphs, pair: tuple[int, int], having: Sequence[Any]) -> float | None:
    """The smallest measured strength in these contexts, as `edges()` has it, at most 1; None
    without any.
    """
    strengths = [
        abs(result.strength(result.names[pair[0]], result.names[pair[1]], value))
        for value in having
    ]
    measured = [value for value in strengths if np.isfinite(value)]
    return min(1.0, min(measured)) if measured else None


def _uncertain(result: ContextGraphs, pair: tuple[int, int], having: Sequence[Any]) -> bool:
    """True if the edge is in doubt in all of these contexts, and tested in one.

    In doubt is an edge that no test was run for, or that was kept with a p-value above alpha /
    `NARROW_MARGIN`.
    """
    entries = _entries(result, pair, having)
    near = result.settings.alpha / NARROW_MARGIN
    doubtful = all(entry.decision == Decision.UNTESTABLE or entry.p > near for entry in entries)
    return doubtful and not _untested(result, pair, having)


def _untested(result: ContextGraphs, pair: tuple[int, int], having: Sequence[Any]) -> bool:
    """True if nothing tested the edge in any of these contexts."""
    return all(entry.decision == Decision.UNTESTABLE for entry in _entries(result, pair, having))


def _entries(result: ContextGraphs, pair: tuple[int, int], having: Sequence[Any]) -> list[Entries]:
    """The deciding tests of a pair in these contexts."""
    return [
        result.log.at(context_place(result.contexts, value), result.log.slot(*pair))
        for value in having
    ]


@dataclass(frozen=True)
class LegendEntry:
    """An entry of the legend: a stroke as it may look, and its meaning in words."""

    stroke: Stroke
    words: str


def mark_meanings(
    endpoints: Iterable[tuple[Endpoint, Endpoint]], kind: GraphKind
) -> dict[str, str]:
    """The meanings of the marks of these edges in graphs of that kind, each mark once.

    `<--` is turned round, so that a mark and its mirror image are one entry. A mark without words
    of its own has those of the first of its ends in `_ENDPOINT_WORDS`.
    """
    words = _WORDS | (_WORDS_IN_PAG if kind is GraphKind.PAG else {})
    turned = (sorted(ends, key=_TOWARDS_ARROW.index) for ends in endpoints)
    occurring = {MARK_OF_ENDPOINTS[first, second] for first, second in turned}
    others = {
        mark: next(
            words for end, words in _ENDPOINT_WORDS.items() if end in endpoints_of_mark(mark)
        )
        for mark in sorted(occurring - set(words))
    }
    return {mark: meaning for mark, meaning in (words | others).items() if mark in occurring}


def graph_legend(
    panels: Sequence[Panel], kind: GraphKind = GraphKind.CPDAG
) -> tuple[LegendEntry, ...]:
    """The legend of the marks of these panels, an entry for each mark that occurs.

    An entry shows the mark itself behind its words, but for the common arrow.
    """
    meanings = mark_meanings(
        (stroke.endpoints for panel in panels for stroke in panel.strokes), kind
    )
    return tuple(
        LegendEntry(
            Stroke(_PAIR, endpoints_of_mark(mark), strength=0.4),
            words if mark == "-->" else f"{words} ({mark})",
        )
        for mark, words in meanings.items()
    )


def legend(
    result: ContextGraphs, panels: Sequence[Panel], compared: tuple[Any, Any] | None = None
) -> tuple[LegendEntry, ...]:
    """The legend of marks, colours, widths and doubts, with nothing that does not occur in these
    panels.

    `compared` are the two contexts of a difference, whose colours mean something else than those of
    single contexts.
    """
    strokes = [stroke for panel in panels for stroke in panel.strokes]
    meanings = _colour_meanings(result, compared)
    used = {stroke.colours for stroke in strokes} | {
        (colour,) for stroke in strokes for colour in stroke.colours
    }
    colours = [
        LegendEntry(Stroke(_PAIR, _ARROW, shades, strength=0.4), words)
        for shades, words in meanings
        if shades in used
    ]
    more = []
    if any(stroke.strength is not None for stroke in strokes):
        more += [
            LegendEntry(Stroke(_PAIR, _OPEN, strength=0.05), "weak"),
            LegendEntry(Stroke(_PAIR, _OPEN, strength=1.0), "strong (|partial correlation|)"),
        ]
    if any(stroke.uncertain for stroke in strokes):
        words = f"uncertain: p > alpha/{NARROW_MARGIN:g}"
        more.append(LegendEntry(Stroke(_PAIR, _OPEN, strength=0.3, uncertain=True), words))
    if any(stroke.untested for stroke in strokes):
        words = "not tested: no test could be run"
        more.append(LegendEntry(Stroke(_PAIR, _OPEN, untested=True), words))
    return (*graph_legend(panels, result.union.kind), *colours, *more)


def _colour_meanings(
    result: ContextGraphs, compared: tuple[Any, Any] | None
) -> Iterator[tuple[Shades, str]]:
    """The colours, or combinations of them, and their meanings in words.

    Of a difference these are the colours of its two contexts, and the pale one of what they share.
    Otherwise ink, and a colour for every context, or a shade for every number of them.
    """
    if compared is not None:
        colours = two_colours(result, *compared)
        first, second = map(shown, compared)
        yield from (
            ((SOFT,), "the same in both"),
            ((colours[0],), f"only {first}"),
            ((colours[1],), f"only {second}"),
            (colours, f"other mark: {first} | {second}"),
        )
        return
    if result.context is None:
        return
    yield (INK,), "in all contexts"
    if has_own_colours(result.contexts):
        for number, value in enumerate(result.contexts):
            yield (
                (context_colour(result.contexts, number),),
                f"not in all: {context_title(result, value)}",
            )
        return
    yield (context_colour(result.contexts, 0),), "not in all contexts"
    counts = range(1, len(result.contexts))
    for shade in dict.fromkeys(share_colour(count, len(result.contexts)) for count in counts):
        same = [count for count in counts if share_colour(count, len(result.contexts)) == shade]
        span = str(same[0]) if len(same) == 1 else f"{same[0]} to {same[-1]}"
        yield (shade,), f"in {span} of {len(result.contexts)} contexts"
