"""causal-learn's `GeneralGraph` (extra `compare`)."""

from __future__ import annotations

from typing import Any

from causalcontext.errors import DataError
from causalcontext.graphs.export.refusals import missing_package, refuse_marks
from causalcontext.graphs.graph import Graph, Mark

_ENDS = {"-->": ("TAIL", "ARROW"), "o-o": ("TAIL", "TAIL"), "<->": ("ARROW", "ARROW")}


def to_causal_learn(graph: Graph) -> Any:
    """The graph for causal-learn; undirected edges are `---`, as in the result of its PC."""
    refuse_marks(graph, {Mark.FORWARD, Mark.BACKWARD, Mark.UNDIRECTED, Mark.CONFOUNDED}, "causal-learn")
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
        start, end = (Endpoint[end] for end in _ENDS[edge.mark])
        made.add_edge(Edge(nodes[edge.source], nodes[edge.target], start, end))
    return made


def from_causal_learn(graph: Any) -> Graph:
    """The graph of causal-learn's `GeneralGraph`; edges of other kinds (`o->`) are refused."""
    names = [str(node.get_name()) for node in graph.get_nodes()]
    edges = []
    for edge in graph.get_graph_edges():
        ends = edge.get_endpoint1().name, edge.get_endpoint2().name
        source, target = edge.get_node1().get_name(), edge.get_node2().get_name()
        if ends == ("ARROW", "TAIL"):
            source, target, ends = target, source, ("TAIL", "ARROW")
        mark = next((mark for mark, known in _ENDS.items() if known == ends), None)
        mark = "o-o" if ends == ("CIRCLE", "CIRCLE") else mark
        if mark is None:
            raise DataError(f"the edge '{edge}' has a kind that a graph here cannot hold")
        edges.append((source, target, mark))
    return Graph.from_edges(names, edges)
