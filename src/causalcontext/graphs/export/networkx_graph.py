"""networkx: the exchange format of Python's graph world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from causalcontext.errors import DataError
from causalcontext.graphs.graph import MARK_OF_TEXT, Graph, Mark
from causalcontext.graphs.union import LabeledUnion

if TYPE_CHECKING:
    import networkx as nx


def to_networkx(graph: Graph) -> nx.DiGraph:
    """One arc for a directed edge, two for every other; the attribute `mark` of an arc reads along it.

    Examples
    --------
    >>> arcs = to_networkx(Graph.from_edges("XYZ", [("X", "Y", "-->"), ("Y", "Z", "o-o")]))
    >>> sorted(arcs.edges(data="mark"))
    [('X', 'Y', '-->'), ('Y', 'Z', 'o-o'), ('Z', 'Y', 'o-o')]
    """
    import networkx as nx

    made = nx.DiGraph()
    made.add_nodes_from(graph.names)
    for edge in graph.edges:
        made.add_edge(edge.source, edge.target, mark=edge.mark)
        if edge.mark != Mark.FORWARD.text:
            made.add_edge(edge.target, edge.source, mark=edge.mark)
    return made


def from_networkx(graph: nx.Graph) -> Graph:
    """The graph of arcs: with `mark` what it says; without, one arc is `-->`, two arcs or an undirected edge `o-o`."""
    if graph.is_multigraph():
        raise DataError("the networkx graph is a multigraph; a graph here has at most one edge between two variables")
    names = list(graph.nodes)
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"the networkx graph has a node {name!r}, expected names as text")
    edges: dict[frozenset[str], tuple[str, str, str]] = {}
    for source, target, mark in graph.edges(data="mark"):
        if source == target:
            raise DataError(f"the networkx graph has an edge from {source!r} to itself")
        if mark is None:
            both = not graph.is_directed() or graph.has_edge(target, source)
            mark = Mark.UNDIRECTED.text if both else Mark.FORWARD.text
        if mark not in MARK_OF_TEXT:
            raise DataError(f"the networkx graph has a mark {mark!r}, expected one of {list(MARK_OF_TEXT)}")
        edges[frozenset((source, target))] = (source, target, mark)
    return Graph.from_edges(names, edges.values())


def labeled_to_networkx(union: LabeledUnion) -> nx.MultiDiGraph:
    """The labeled union: arcs as in `to_networkx`, with the attributes `mark` and `contexts` (a tuple)."""
    import networkx as nx

    made = nx.MultiDiGraph()
    for edge in union.edges:
        made.add_edge(edge.source, edge.target, mark=edge.mark, contexts=edge.contexts)
        if edge.mark != Mark.FORWARD.text:
            made.add_edge(edge.target, edge.source, mark=edge.mark, contexts=edge.contexts)
    return made
