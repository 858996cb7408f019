"""What one run has and another has not: edges that appeared, vanished or have another mark, context by context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from causalcontext.graphs.endpoints import as_written, mark_of
from causalcontext.results.words import context_words

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph
    from causalcontext.results.contexts import ContextGraphs


def compared(first: ContextGraphs, second: ContextGraphs) -> dict[str, Any]:
    """What the second result has in place of the first, for every context; for the unions, if these differ in number.

    Contexts are compared by their values; those of a threshold that was moved, in their order.
    """
    # A context that is made out of a column has its threshold in its name.
    alone = (set(first.names) ^ set(second.names)) - {*first.made_of, *second.made_of}
    notes = [f"{name} is in one of the two runs alone" for name in (*first.names, *second.names) if name in alone]
    panels: list[tuple[str, Graph, Graph]]
    if set(first.contexts) == set(second.contexts):
        panels = [(_title(first, value), first.graphs[value], second.graphs[value]) for value in first.contexts]
    elif len(first.contexts) == len(second.contexts):
        both = zip(first.contexts, second.contexts, strict=True)
        panels = [(f"{_title(first, a)}, then {_title(second, b)}", first.graphs[a], second.graphs[b])
                  for a, b in both]  # fmt: skip
    else:
        notes.append("the runs have different contexts; their unions are compared")
        panels = [("union of all contexts", first.union, second.union)]
    return {"notes": notes, "panels": [{"title": title, **_differences(a, b)} for title, a, b in panels]}


def _title(result: ContextGraphs, value: Any) -> str:
    return "all rows" if result.context is None else context_words(result.context, value, result.settings.indicator)


def _differences(first: Graph, second: Graph) -> dict[str, Any]:
    names = [name for name in first.names if name in second.names]
    found: dict[str, Any] = {"appeared": [], "vanished": [], "turned": [], "same": 0}
    for place, x in enumerate(names):
        for y in names[place + 1 :]:
            before, after = _edge(first, x, y), _edge(second, x, y)
            if before == after:
                found["same"] += bool(before)
            elif not before or not after:
                found["vanished" if before else "appeared"].append(before or after)
            else:
                found["turned"].append([before, after])
    return found


def _edge(graph: Graph, x: str, y: str) -> str:
    """The edge between two variables as text, its arrow to the right; empty if there is none."""
    if not graph.mark(x, y):
        return ""
    a, b = as_written(graph.endpoints, graph.position(x), graph.position(y))
    return f"{graph.names[a]} {mark_of(graph.endpoints, a, b)} {graph.names[b]}"
