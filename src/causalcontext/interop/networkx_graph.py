"""networkx, and the text formats it writes: GML (DoWhy) and GraphML (yEd, Gephi, Cytoscape, igraph)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import MARK_OF_ENDPOINTS, GraphKind, endpoints_of_mark
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import times
from causalcontext.graphs.union import LabeledUnion
from causalcontext.interop.formats import kind_of_marks, refuse_letters

if TYPE_CHECKING:
    import networkx as nx
_NOT_XML = "".join(map(chr, [*range(9), 11, 12, *range(13, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)]))


def to_networkx(graph: Graph) -> nx.DiGraph:
    """One arc for a directed edge, two for every other; the attribute `mark` of an arc reads along it.

    A PAG has the attribute `kind`; nodes of a window graph have `variable` and `lag`.

    Examples
    --------
    >>> arcs = to_networkx(Graph.from_edges("XYZ", [("X", "Y", "-->"), ("Y", "Z", "o-o")]))
    >>> sorted(arcs.edges(data="mark"))
    [('X', 'Y', '-->'), ('Y', 'Z', 'o-o'), ('Z', 'Y', 'o-o')]
    """
    import networkx as nx

    made = nx.DiGraph() if graph.kind is GraphKind.CPDAG else nx.DiGraph(kind=graph.kind.value)
    attributes = times(graph.names)
    made.add_nodes_from((name, attributes.get(name, {})) for name in graph.names)
    made.add_edges_from((x, y, {"mark": mark}) for edge in graph.edges for x, y, mark in _arcs(*edge))
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
            mark = "o-o" if both else "-->"
        edges[frozenset((source, target))] = (source, target, mark)
    said = graph.graph.get("kind")
    kind = kind_of_marks((mark for *_, mark in edges.values()), said if said in list(GraphKind) else None)
    return Graph.from_edges(names, edges.values(), kind)


def labeled_to_networkx(union: LabeledUnion) -> nx.MultiDiGraph:
    """The labeled union: arcs as in `to_networkx`, with the attributes `mark` and `contexts` (a tuple)."""
    import networkx as nx

    made = nx.MultiDiGraph()
    for *edge, contexts in union.edges:
        made.add_edges_from((x, y, {"mark": mark, "contexts": contexts}) for x, y, mark in _arcs(*edge))
    made.add_nodes_from(times(list(made)).items())
    return made


def _arcs(source: str, target: str, mark: str) -> list[tuple[str, str, str]]:
    """An edge along its one arc, or along both."""
    if mark == "-->":
        return [(source, target, mark)]
    first, second = endpoints_of_mark(mark)
    return [(source, target, mark), (target, source, MARK_OF_ENDPOINTS[second, first])]


def to_gml(graph: Graph) -> str:
    """The graph in GML; arcs and marks as in `to_networkx`, any name as it is.

    Nodes of a window graph have the attributes `variable` and `lag`.
    """
    import networkx as nx

    return "\n".join(nx.generate_gml(to_networkx(graph)))


def from_gml(text: str) -> Graph:
    """The graph in a GML text."""
    import networkx as nx

    try:
        return from_networkx(nx.parse_gml(text))
    except nx.NetworkXError as error:
        raise DataError(f"the text is not GML: {error}") from error


def to_graphml(graph: Graph) -> str:
    """The graph in GraphML; arcs, marks and times as in `to_networkx`. Control characters are refused: XML has none."""
    import networkx as nx

    refuse_letters(graph, _NOT_XML, "GraphML")
    text = "\n".join(nx.generate_graphml(_numbered(graph)))
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}"


def from_graphml(text: str) -> Graph:
    """The graph in a GraphML text; names are the attribute `name` of nodes if they have it, else their keys."""
    import networkx as nx

    try:
        found = nx.parse_graphml(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
    except (nx.NetworkXError, ParseError, KeyError) as error:
        raise DataError(f"the text is not GraphML: {error}") from error
    names = nx.get_node_attributes(found, "name")
    return from_networkx(nx.relabel_nodes(found, names) if len(names) == len(found) else found)


def _numbered(graph: Graph) -> nx.DiGraph:
    """Nodes n0, n1, ... with their names as attributes: keys of XML lose spaces and line ends, contents keep them."""
    import networkx as nx

    keys = {name: f"n{place}" for place, name in enumerate(graph.names)}
    numbered = nx.relabel_nodes(to_networkx(graph), keys)
    nx.set_node_attributes(numbered, {key: name for name, key in keys.items()}, "name")
    return numbered
