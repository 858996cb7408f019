"""GML, as networkx writes it and DoWhy reads it: `CausalModel(..., graph=export.to_gml(graph.to_dag()))`."""

from __future__ import annotations

from causalcontext.errors import DataError
from causalcontext.graphs.export.networkx_graph import from_networkx, to_networkx
from causalcontext.graphs.graph import Graph


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
