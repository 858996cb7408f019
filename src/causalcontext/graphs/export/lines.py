"""Edges as Tetrad and causal-learn write them, and what kind of graph they make."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from causalcontext.graphs.endpoints import GraphKind
from causalcontext.graphs.export.refusals import COMMON_MARKS, refuse_marks
from causalcontext.graphs.graph import Graph


def kind_of_marks(marks: Iterable[str], kind: str | None, pag_circles: tuple[int, ...] = (1,)) -> str:
    """The kind that was asked for; without one, "pag" if an edge has so many circles as no CPDAG has."""
    if kind is not None:
        return kind
    return GraphKind.PAG if any(mark.count("o") in pag_circles for mark in marks) else GraphKind.CPDAG


def plain_lines(graph: Graph, where: str) -> Iterator[tuple[str, str, str]]:
    """The edges as Tetrad and causal-learn write them: circles in a PAG, `---` for undirected elsewhere.

    An edge with a tail and a circle starts at its tail: causal-learn loses it the other way round.
    """
    refuse_marks(graph, COMMON_MARKS[graph.kind], where)
    line = "o-o" if graph.kind is GraphKind.PAG else "---"
    for x, y, mark in graph.edges:
        yield (y, x, "--o") if mark == "o--" else (x, y, line if mark == "o-o" else mark)


def graph_of_lines(names: Collection[str], edges: Collection[tuple[str, str, str]], kind: str | None) -> Graph:
    """The graph of edges as `plain_lines` writes them; unless `kind` says what it is, a PAG if one has a circle."""
    kind = kind_of_marks((mark for *_, mark in edges), kind, pag_circles=(1, 2))
    line = "---" if kind == GraphKind.PAG else "o-o"
    return Graph.from_edges(tuple(names), [(x, y, line if mark == "---" else mark) for x, y, mark in edges], kind)
