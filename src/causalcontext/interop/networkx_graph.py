"""networkx, and the text formats it writes: GML (DoWhy) and GraphML (yEd, Gephi, Cytoscape,
igraph).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from causalcontext.data.frames import Later
from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import arcs_of_edge
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import times
from causalcontext.interop.formats import refuse_letters

if TYPE_CHECKING:
    import networkx as nx

    from causalcontext.graphs.graph import LabeledUnion
else:
    nx = Later("networkx")
_NOT_XML = "".join(
    map(chr, [*range(9), 11, 12, *range(13, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)])
)


to_networkx = Graph.to_networkx
from_networkx = Graph.from_networkx


def labeled_to_networkx(union: LabeledUnion) -> nx.MultiDiGraph:
    """The labeled union: arcs as in `to_networkx`, with the attributes `mark` and `contexts` (a
    tuple).
    """
    made = nx.MultiDiGraph()
    for *edge, contexts in union.edges:
        made.add_edges_from(
            (x, y, {"mark": mark, "contexts": contexts}) for x, y, mark in arcs_of_edge(*edge)
        )
    made.add_nodes_from(times(list(made)).items())
    return made


def to_gml(graph: Graph | LabeledUnion) -> str:
    """The graph in GML; arcs and marks as in `to_networkx`, any name as it is.

    Nodes of a window graph have the attributes `variable` and `lag`, edges of a labeled union
    `contexts`, as text.
    """
    return "\n".join(nx.generate_gml(_with_contexts_as_text(graph)))


def from_gml(text: str) -> Graph:
    """The graph in a GML text."""
    try:
        return from_networkx(nx.parse_gml(text))
    except nx.NetworkXError as error:
        raise DataError(f"the text is not GML: {error}") from error


def to_graphml(graph: Graph | LabeledUnion) -> str:
    """The graph in GraphML, with the attributes that `to_gml` writes. Control characters are
    refused: XML has none.
    """
    made = _with_contexts_as_text(graph)
    values = [] if isinstance(graph, Graph) else map(str, graph.all_contexts)
    refuse_letters([*made, *values], _NOT_XML, "GraphML")
    # XML keys lose spaces and line ends, contents do not
    keys = {name: f"n{number}" for number, name in enumerate(made)}
    numbered = nx.relabel_nodes(made, keys)
    nx.set_node_attributes(numbered, {key: name for name, key in keys.items()}, "name")
    text = "\n".join(nx.generate_graphml(numbered))
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}"


def from_graphml(text: str) -> Graph:
    """The graph in a GraphML text; names are the attribute `name` of nodes if they have it, else
    their keys.
    """
    try:
        graph = nx.parse_graphml(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))
    except (nx.NetworkXError, ParseError, KeyError) as error:
        raise DataError(f"the text is not GraphML: {error}") from error
    names = nx.get_node_attributes(graph, "name")
    if len(names) == len(graph):
        graph = nx.relabel_nodes(graph, names)
    return from_networkx(graph)


def _with_contexts_as_text(graph: Graph | LabeledUnion) -> nx.DiGraph | nx.MultiDiGraph:
    """The graph for formats that hold no tuples."""
    if isinstance(graph, Graph):
        return to_networkx(graph)
    made = labeled_to_networkx(graph)
    for *_, attributes in made.edges(data=True):
        attributes["contexts"] = ", ".join(map(str, attributes["contexts"]))
    return made
