"""causal-learn's `GeneralGraph` (extra `compare`)."""

from __future__ import annotations

from typing import Any

from causalcontext.errors import DataError
from causalcontext.graphs.ends import MARK_OF_ENDS, End, Kind, ends_of_mark
from causalcontext.graphs.export.refusals import COMMON_MARKS, missing_package, refuse_marks, with_plain_lines
from causalcontext.graphs.graph import Graph


def to_causal_learn(graph: Graph) -> Any:
    """The graph for causal-learn; undirected edges of a pattern are `---`, as in the result of its PC."""
    refuse_marks(graph, COMMON_MARKS[graph.kind], "causal-learn")
    try:
        from causallearn.graph.Edge import Edge
        from causallearn.graph.Endpoint import Endpoint
        from causallearn.graph.GeneralGraph import GeneralGraph
        from causallearn.graph.GraphNode import GraphNode
    except ImportError as error:
        raise missing_package("causal-learn", "compare") from error
    nodes = {name: GraphNode(name) for name in graph.names}
    made = GeneralGraph(list(nodes.values()))
    for edge in graph.edges:
        plain = edge.mark == "o-o" and graph.kind is Kind.PATTERN
        start, end = (Endpoint[end.name] for end in ends_of_mark("---" if plain else edge.mark))
        made.add_edge(Edge(nodes[edge.source], nodes[edge.target], start, end))
    return made


def from_causal_learn(graph: Any, kind: str | None = None) -> Graph:
    """The graph of causal-learn's `GeneralGraph`; unless `kind` says what it is, a PAG if an edge has a circle."""
    names = [str(node.get_name()) for node in graph.get_nodes()]
    edges = []
    for edge in graph.get_graph_edges():
        ends = edge.get_endpoint1().name, edge.get_endpoint2().name
        if not {*ends} <= {"TAIL", "ARROW", "CIRCLE"}:
            raise DataError(f"the edge '{edge}' has a kind that a graph here cannot hold")
        mark = MARK_OF_ENDS[End[ends[0]], End[ends[1]]]
        edges.append((edge.get_node1().get_name(), edge.get_node2().get_name(), mark))
    return with_plain_lines(names, edges, kind)
