"""causal-learn's `GeneralGraph` (extra `compare`)."""

from __future__ import annotations

from typing import Any

from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import MARK_OF_ENDPOINTS, Endpoint, endpoints_of_mark
from causalcontext.graphs.export.lines import graph_of_lines, plain_lines
from causalcontext.graphs.export.refusals import missing_package
from causalcontext.graphs.graph import Graph


def to_causal_learn(graph: Graph) -> Any:
    """The graph for causal-learn; undirected edges of a CPDAG are `---`, as in the result of its PC."""
    edges = list(plain_lines(graph, "causal-learn"))
    try:
        from causallearn.graph.Edge import Edge
        from causallearn.graph.Endpoint import Endpoint
        from causallearn.graph.GeneralGraph import GeneralGraph
        from causallearn.graph.GraphNode import GraphNode
    except ImportError as error:
        raise missing_package("causal-learn", "compare") from error
    nodes = {name: GraphNode(name) for name in graph.names}
    made = GeneralGraph(list(nodes.values()))
    for x, y, mark in edges:
        made.add_edge(Edge(nodes[x], nodes[y], *(Endpoint[end.name] for end in endpoints_of_mark(mark))))
    return made


def from_causal_learn(graph: Any, kind: str | None = None) -> Graph:
    """The graph of causal-learn's `GeneralGraph`; unless `kind` says what it is, a PAG if an edge has a circle."""
    names = [str(node.get_name()) for node in graph.get_nodes()]
    edges = []
    for edge in graph.get_graph_edges():
        endpoints = edge.get_endpoint1().name, edge.get_endpoint2().name
        if not {*endpoints} <= {"TAIL", "ARROW", "CIRCLE"}:
            raise DataError(f"the edge '{edge}' has a kind that a graph here cannot hold")
        mark = MARK_OF_ENDPOINTS[Endpoint[endpoints[0]], Endpoint[endpoints[1]]]
        edges.append((edge.get_node1().get_name(), edge.get_node2().get_name(), mark))
    return graph_of_lines(names, edges, kind)
