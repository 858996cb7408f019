"""The contents of the HTML report, as plain lists and text: graphs, layout, deciding tests,
stories, settings.

Names and context values are data: they leave here as printable text, and the page only ever shows
them as text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.dataset import cell_values
from causalcontext.data.frames import frame_of, pd
from causalcontext.drawing.layout import Layout
from causalcontext.drawing.names import printable
from causalcontext.drawing.settings import NARROW_MARGIN
from causalcontext.drawing.strokes import graph_panel, mark_meanings
from causalcontext.drawing.time_layout import result_layout
from causalcontext.errors import CausalContextError, value_text
from causalcontext.knowledge import Knowledge
from causalcontext.report.advice import in_a_report
from causalcontext.report.settings import (
    CURVE_POINT_STEP,
    INTERVAL_LEVEL,
    MOST_CURVED_LINKS,
    MOST_EFFECT_ROWS,
    MOST_PAIR_STORIES,
)
from causalcontext.report.text import remarks, warnings
from causalcontext.results.effects.mechanics import Mechanics
from causalcontext.results.effects.table import asked_pairs, asked_rows, columns, pair_rows
from causalcontext.results.equations import partial_curves
from causalcontext.results.explain import explained
from causalcontext.results.kept import answers_of, with_answers
from causalcontext.results.log import Decision
from causalcontext.results.series import context_nodes
from causalcontext.results.settings import LARGEST_MARGIN
from causalcontext.results.words import context_words, p_text, view_words

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph
    from causalcontext.results.contexts import ContextGraphs


@dataclass(frozen=True)
class Section:
    """An additional card of the report: sentences, and perhaps a table.

    Attributes
    ----------
    title : str
        The heading of the card.
    lines : tuple of str
        Sentences above the table.
    table : DataFrame, optional
        Rows and columns as they are shown: numbers with three digits, p-values never as 0.
    """

    title: str
    lines: tuple[str, ...] = ()
    table: pd.DataFrame | None = None


def payload(
    result: ContextGraphs,
    sections: Sequence[Section] = (),
    spoken: Callable[[str], str] = in_a_report,
) -> dict[str, Any]:
    """Everything that the page needs to know, as plain lists, numbers and text.

    Parameters
    ----------
    result : ContextGraphs
        A result without values of too few rows, for which the page has a section of its own.
    sections : sequence of Section
        Tables that follow the graphs.
    spoken : callable
        The spelling of a sentence for its reader.

    Returns
    -------
    dict
        Pairs are in the order of `pairs`, contexts in that of `titles`, and every list by pair or
        by context has these orders. Names and context values are as they are shown (`presentable`);
        boxes and routes are those of the layout of the union.
    """
    shown = presentable(result)
    pairs = _told_pairs(result)
    panels = (graph_panel(graph) for graph in (result.union, *result.graphs.values()))
    ends = (stroke.endpoints for panel in panels for stroke in panel.strokes)
    titles = [
        context_words(shown.context, value, shown.settings.indicator) for value in shown.contexts
    ]
    titles = ["all rows"] if shown.context is None else titles
    suspicion = answers_of(result).suspicion
    suspected = () if suspicion is None else suspicion.suspected
    return {
        "names": list(shown.names),
        "columns": [printable(name) for name in shown.columns],
        "context": None if shown.context is None else printable(shown.context),
        "contextVariables": sorted(context_nodes(shown)),
        "time": _time(shown),
        "contexts": [printable(value_text(value)) for value in shown.contexts],
        "titles": [printable(title) for title in titles],
        "rows": list(result.data.rows),
        "kinds": list(result.data.kinds),
        "alpha": result.settings.alpha,
        "graphs": [marks(graph) for graph in result.graphs.values()],
        "union": marks(result.union),
        "meaning": mark_meanings(ends, result.union.kind),
        "pairs": [list(pair) for pair in pairs],
        "log": _logs(shown, pairs),
        "stories": [stories(shown, *pair) for pair in pairs],
        "edges": _edges(result),
        "suspected": ["{},{}".format(*sorted(map(result.position, pair))) for pair in suspected],
        "scored": result.evidence is not None,
        "followed": LARGEST_MARGIN,
        "effects": effects_panel(shown),
        "curves": curves_panel(shown),
        "summary": summary(result),
        "warnings": [spoken(sentence) for sentence in _warnings(result)],
        "notes": [spoken(sentence) for sentence in _notes(result)],
        "settings": _settings(result),
        "sections": [_section(section) for section in sections],
    } | drawn(result_layout(result))


def summary(result: ContextGraphs) -> str:
    """One line about the run: method, rows or windows, variables, context, and test or search."""
    named = f", context {printable(result.context or '')} with {len(result.contexts)} values"
    how = f"test {result.settings.test}, alpha {result.settings.alpha:g}"
    if result.evidence is not None:
        how = f"{result.evidence.search} search, transform {result.evidence.transform}"
    what = f"rows and {len(result.names)} variables"
    if result.series is not None:
        what = f"windows of {len(result.series.variables)} variables and {result.series.lags} lags"
    return (
        f"{result.settings.method} on {sum(result.data.rows):,}"
        f" {what}{named if result.context else ''}; {how}"
    )


def _time(shown: ContextGraphs) -> dict[str, Any] | None:
    """The lag of every node of a window graph, and which node is the same variable one step
    earlier, -1 for none.

    Covariates of the present, which stand behind the nodes of the window, have lag 0 and nothing
    before them.
    """
    if shown.series is None:
        return None
    count = len(shown.series.variables)
    lags = shown.series.lags
    extra = len(shown.names) - count * (lags + 1)
    lag = [lags - number // count for number in range(count * (lags + 1))] + [0] * extra
    earlier = [
        number - count if number >= count else -1 for number in range(count * (lags + 1))
    ] + [-1] * extra
    return {"lags": lags, "lag": lag, "earlier": earlier}


def drawn(layout: Layout) -> dict[str, Any]:
    """The boxes and routes of a layout as the page has them: numbers with two decimals, routes by
    "i,j".
    """
    routes = {
        f"{i},{j}": np.round(route.ravel(), 2).tolist() for (i, j), route in layout.routes.items()
    }
    return {
        "shown": [list(lines) for lines in layout.lines],
        "boxes": np.round(np.hstack([layout.centre, layout.size]), 2).tolist(),
        "routes": routes,
        "width": round(layout.width, 2),
        "height": round(layout.height, 2),
    }


def marks(graph: Graph) -> dict[str, str]:
    """The mark of every pair i < j with an edge, read from i to j, by "i,j"."""
    return {"{},{}".format(*stroke.pair): stroke.mark for stroke in graph_panel(graph).strokes}


def _told_pairs(result: ContextGraphs) -> list[tuple[int, int]]:
    """All pairs, or those that are an edge somewhere or close to it.

    Close means a p-value in some context below `NARROW_MARGIN` times alpha. So it is where all
    pairs in all contexts would have more stories than `MOST_PAIR_STORIES`.
    """
    first, second = np.triu_indices(len(result.names), 1)
    chosen = np.ones(first.size, dtype=bool)
    if first.size * len(result.contexts) > MOST_PAIR_STORIES:
        alpha = result.settings.alpha
        near = np.concatenate(
            [(entries.p < NARROW_MARGIN * alpha).any(axis=0) for _, entries in result.log.blocks()]
        )
        chosen = result.union.adjacency[first, second] | near
    return list(zip(first[chosen].tolist(), second[chosen].tolist(), strict=True))


def _logs(shown: ContextGraphs, pairs: Sequence[tuple[int, int]]) -> list[dict[str, Any]]:
    """The deciding tests of every context, column by column, in the order of the pairs; empty for
    other pairs.

    Columns are shorter in a file than records with the same names again and again. Views and labels
    are numbers into lists of texts; -1 is a pair that was not searched.
    """
    entries = shown.log.some(np.array([shown.log.slot(*pair) for pair in pairs], dtype=np.int64))
    views = ["", *(printable(words) for words in view_words(shown))]
    tests = ["", *(label.name for label in shown.log.labels)]
    logs = []
    for context_index, value in enumerate(shown.contexts):
        searched = entries.decision[context_index] != Decision.NOT_SEARCHED
        view = np.where(searched, entries.view[context_index], -1).tolist()
        logs.append(
            {
                "decision": [
                    Decision(decision).name.lower()
                    for decision in entries.decision[context_index].tolist()
                ],
                "p": [
                    four_digits(p)
                    for p in np.where(searched, entries.p[context_index], np.nan).tolist()
                ],
                "statistic": [
                    four_digits(x)
                    for x in np.where(searched, entries.statistic[context_index], np.nan).tolist()
                ],
                "n": np.where(searched, entries.n[context_index], 0).tolist(),
                "given": [
                    [z for z in given if z >= 0 and known]
                    for given, known in zip(
                        entries.given[context_index].tolist(), searched.tolist(), strict=True
                    )
                ],
                "rows": [views[number + 1] for number in view],
                "test": [
                    "" if number < 0 else tests[label + 1]
                    for number, label in zip(
                        view, entries.label[context_index].tolist(), strict=True
                    )
                ],
                "strength": [
                    four_digits(shown.strength(shown.names[i], shown.names[j], value))
                    for i, j in pairs
                ],
            }
        )
    return logs


def _edges(result: ContextGraphs) -> list[dict[str, Any]]:
    """The rows of `edges()`, with contexts by their places, and names as they are shown.

    A value is told apart from an equal one of another type: 1 and True are two contexts.
    """
    places_of_contexts = {
        (type(value), value): number for number, value in enumerate(result.contexts)
    }
    return [
        {
            "i": result.position(row["source"]),
            "j": result.position(row["target"]),
            "mark": row["mark"],
            "contexts": [places_of_contexts[type(value), value] for value in row["contexts"]],
            "strength": four_digits(row["strength"]),
            "p": four_digits(row["p-value"]),
            "margin": four_digits(row.get("margin", np.nan)),
            "n": int(row["n"]),
            "hidden": row.get("hidden cause", ""),
        }
        for row in result.edges().to_dict("records")
    ]


def _notes(result: ContextGraphs) -> list[str]:
    """The sentences about how the result was made; none of a cut search, where `_warnings` has them
    all.
    """
    return [printable(note) for note in remarks(result)] if result.final else []


def _warnings(result: ContextGraphs) -> list[str]:
    """The sentences before the answer of a cut search: that it was cut, and all that is known about
    it; none of others, whose card has them.
    """
    if result.final:
        return []
    left = (
        "untested edges are still there"
        if result.evidence is None
        else "this is the best model found so far"
    )
    return [
        f"The search was interrupted: {left}.",
        *(printable(sentence) for sentence in (*warnings(result), *remarks(result))),
    ]


def _settings(result: ContextGraphs) -> list[tuple[str, str]]:
    """The settings of a run as lines of name and value: method and its options, rows, columns,
    versions.
    """
    settings = result.settings
    data = result.data
    known = settings.knowledge.to_dict()
    by_tests = [
        ("test", settings.test),
        ("alpha", f"{settings.alpha:g}"),
        ("collider rule", settings.collider_rule),
        (
            "largest conditioning set",
            "no limit" if settings.max_given is None else str(settings.max_given),
        ),
        (
            "tests of the skeleton",
            ", ".join(f"{name}: {count:,}" for name, count in result.tests_run.items()),
        ),
    ]
    by_score = [(name, str(value)) for name, value in settings.score.items() if value is not None]
    lines: list[tuple[str, str]] = [
        ("method", settings.method),
        *(by_tests if result.evidence is None else by_score),
        ("missing values", settings.missing),
        ("seed", str(settings.seed)),
        ("knowledge", "; ".join(f"{key}: {value}" for key, value in known.items()) or "none"),
    ]
    for value, rows, lost in zip(result.contexts, data.rows, data.lost, strict=True):
        where = (
            ""
            if result.context is None
            else f" with {context_words(result.context, value, settings.indicator)}"
        )
        dropped = f" ({lost:,} more dropped for missing values)" if lost else ""
        lines.append((f"rows{where}", f"{rows:,}{dropped}"))
    columns = (f"{name} ({kind})" for name, kind in zip(result.names, data.kinds, strict=True))
    lines += [
        ("columns", ", ".join(columns)),
        ("fingerprint of the data", data.fingerprint),
        ("library", f"causalcontext {settings.version}"),
    ]
    return [(printable(name), printable(text)) for name, text in lines]


P_VALUES = ("p", "q", "p-value")
"""Columns of tables that hold p-values, as they are or adjusted."""


def _section(section: Section) -> dict[str, Any]:
    """The record of a section: its title, its lines, and its table as text."""

    def cell(value: Any) -> str:
        """The text of a value; three digits of a number, the parts of a tuple by commas."""
        joined = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        text = f"{value:.3g}" if isinstance(value, float) else joined
        return text and printable(text)

    def row_of(values: Sequence[Any]) -> list[str]:
        """The texts of a row; p-values are never written as 0."""
        named = zip(names, values, strict=True)
        return [p_text(value) if name in P_VALUES else cell(value) for name, value in named]

    table = frame_of() if section.table is None else section.table
    names = [str(name) for name in table.columns]
    return {
        "title": printable(section.title),
        "lines": [printable(line) for line in section.lines],
        "header": list(map(printable, names)),
        "rows": [row_of(row) for row in table.itertuples(index=False)],
    }


def presentable(result: ContextGraphs) -> ContextGraphs:
    """The same result with names and context values as they are shown; knowledge is left out.

    Letters that cannot be seen, or that turn the direction of writing, are spelled out. Where two
    values would look alike, the values of that context stay as they are.
    """
    names = shown_once(result.names)
    printed = [
        tuple(printable(value) if isinstance(value, str) else value for value in values_of_one)
        for values_of_one in result.levels
    ]
    levels = tuple(
        shown if len(set(shown)) == len(shown) else values_of_one  # unless two would look alike
        for shown, values_of_one in zip(printed, result.levels, strict=True)
    )
    values = cell_values(result.cells, levels)
    graphs = {
        shown: graph.replaced(names)
        for shown, graph in zip(values, result.graphs.values(), strict=True)
    }
    settings = replace(result.settings, knowledge=Knowledge())
    shown = replace(
        result, names=names, levels=levels, contexts=values, graphs=graphs, settings=settings
    )
    answers = answers_of(result).renamed(
        dict(zip(result.names, names, strict=True)),
        dict(zip(result.contexts, values, strict=True)),
    )
    if answers.opinion is not None and not isinstance(answers.opinion, str):
        answers = replace(answers, opinion=presentable(answers.opinion))
    return with_answers(shown, answers)


def stories(shown: ContextGraphs, i: int, j: int) -> list[str]:
    """The story of a pair of a presentable result, context by context: each is one line.

    Contexts are told apart even where the same is said of them, since the page shows one at a time.
    """
    return [
        printable(line) for line in explained(shown, shown.names[i], shown.names[j], apart=True)
    ]


def shown_once(names: Sequence[str]) -> tuple[str, ...]:
    """Printable names, with a number where two would look alike.

    >>> shown_once(["a", "b", "a"])
    ('a', 'b', 'a #2')
    """
    unique_names: list[str] = []
    for name in names:
        text = spelled = printable(name)
        count = 1
        while text in unique_names:
            count += 1
            text = f"{spelled} #{count}"
        unique_names.append(text)
    return tuple(unique_names)


def effects_panel(shown: ContextGraphs) -> dict[str, Any] | None:
    """The record of the effects of a presentable result for the panel; None where there are no
    numbers.

    Rows are compact lists (`_compact`), with notes and words as numbers into lists of texts. Of
    more rows than `MOST_EFFECT_ROWS` those of pairs that are adjacent in some context are kept
    first.
    """
    try:
        drawn = answers_of(shown).orders is not None
        mechanics = Mechanics(shown, intervals="auto" if drawn else "graph")
        pairs = asked_pairs(mechanics, None, None)
    except CausalContextError:
        return None
    named = columns(mechanics)
    every = pairs
    system = [v for v in range(mechanics.endpoints.shape[1]) if v not in mechanics.contexts]
    most = MOST_EFFECT_ROWS // len(list(asked_rows(mechanics, system[0], system[-1])))
    linked = shown.union.adjacency
    if len(every) > most:
        pairs = sorted(sorted(every, key=lambda pair: not linked[pair])[:most], key=every.index)
    notes: dict[str, int] = {"": 0}
    rows = [
        [
            _compact(shown, dict(zip(named, row, strict=True)), notes)
            for row in pair_rows(mechanics, x, y, INTERVAL_LEVEL)
        ]
        for x, y in pairs
    ]
    return {
        "pairs": [list(pair) for pair in pairs],
        "rows": rows,
        "notes": [printable(note) if note else "" for note in notes],
        "whole": len(pairs) == len(every),
        "errors": "classical" if mechanics.rows is None else "sandwich",
        "intervals": mechanics.intervals,
    }


def _compact(shown: ContextGraphs, known: dict[str, Any], notes: dict[str, int]) -> list[Any]:
    """Context, the one it is compared with or -1, least and greatest value, interval, p, numbers of
    note and levels.

    A note that was met before has the number that it got then; `notes` gets the new ones.
    """
    contexts = shown.contexts
    versus = -1 if known["versus"] is None else contexts.index(known["versus"])
    values = known["values"] or (math.nan,)
    numbers = [
        four_digits(value)
        for value in (values[0], values[-1], known["low"], known["high"], known["p"])
    ]
    moved = (
        "" if known["x_level"] is None else f"{known['x_level']} instead of {known['reference']}"
    )
    counted = "" if known["of_level"] is None else f"{known['y']} = {known['of_level']}"
    levels = notes.setdefault(", ".join(words for words in (counted, moved) if words), len(notes))
    return [
        contexts.index(known["context"]),
        versus,
        *numbers,
        notes.setdefault(known["note"], len(notes)),
        levels,
    ]


def curves_panel(shown: ContextGraphs) -> dict[str, Any]:
    """The curves of every link by "cause,effect" (places in the table); empty where there are no
    mechanisms.

    A curve has the values of the cause (`at`) and, by context, what the effect does there beside
    its other causes at their average, in the units of the table. Every second point of a number is
    kept (`CURVE_POINT_STEP`), every level of a category.
    """
    if shown.evidence is None or shown.evidence.mechanisms is None:
        return {}
    if (
        sum(len(equation.causes) for equation in shown.evidence.mechanisms.equations)
        > MOST_CURVED_LINKS
    ):
        return {}
    panels: dict[str, Any] = {}
    for effect in shown.names:
        for curve in partial_curves(shown, effect):
            key = f"{shown.position(curve.cause)},{shown.position(effect)}"
            step = CURVE_POINT_STEP if curve.numeric else 1
            at = [
                float(f"{x:.6g}") if curve.numeric else printable(str(x)) for x in curve.at[::step]
            ]
            entry = panels.setdefault(key, {"at": at, "lines": []})
            level = "" if curve.level is None else printable(str(curve.level))
            entry["lines"].append(
                {
                    "contexts": list(curve.contexts),
                    "level": level,
                    "values": [float(f"{value:.4g}") for value in curve.values[::step]],
                }
            )
    return panels


def four_digits(value: float) -> float | None:
    """A number as the page has it; None where there is none."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
