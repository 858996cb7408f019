"""GraphML, for yEd, Gephi, Cytoscape and igraph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from causalcontext.errors import DataError
from causalcontext.graphs.export.networkx_graph import from_networkx, to_networkx
from causalcontext.graphs.export.refusals import refuse_letters
from causalcontext.graphs.graph import Graph

if TYPE_CHECKING:
    import networkx as nx

_NOT_XML = "".join(map(chr, [*range(9), 11, 12, *range(13, 32), 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)]))


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
