"""causal-learn (extra `compare`): its `GeneralGraph`, and our context-adaptive test for its PC, FCI
and CD-NOD.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.ci_tests.registry import find_test
from causalcontext.data.checks import check_statistics
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import MARK_OF_ENDPOINTS, Endpoint, endpoints_of_mark
from causalcontext.interop.formats import graph_of_lines, missing_package, plain_lines
from causalcontext.kernels.arrays import Values
from causalcontext.views import CIQuery, adaptive

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph

NAME = "causalcontext"


def to_causal_learn(graph: Graph) -> Any:
    """The graph for causal-learn; undirected edges of a CPDAG are `---`, as in the result of its
    PC.
    """
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
        at_x, at_y = (Endpoint[end.name] for end in endpoints_of_mark(mark))
        made.add_edge(Edge(nodes[x], nodes[y], at_x, at_y))
    return made


def from_causal_learn(graph: Any, kind: str | None = None) -> Graph:
    """The graph of causal-learn's `GeneralGraph`; unless `kind` says what it is, a PAG if an edge
    has a circle.
    """
    names = [str(node.get_name()) for node in graph.get_nodes()]
    edges = []
    for edge in graph.get_graph_edges():
        first = edge.get_endpoint1().name
        second = edge.get_endpoint2().name
        if not {first, second} <= {"TAIL", "ARROW", "CIRCLE"}:
            raise DataError(f"the edge '{edge}' is of a kind that causalcontext has no mark for")
        mark = MARK_OF_ENDPOINTS[Endpoint[first], Endpoint[second]]
        edges.append((edge.get_node1().get_name(), edge.get_node2().get_name(), mark))
    return graph_of_lines(names, edges, kind)


class AdaptiveTest:
    """`p-value = test(x, y, given)` by column numbers, on the rows that the paper's line 8 chooses.

    Parameters
    ----------
    data : array, shape (rows, columns)
        The context is one of the columns, as numbers.
    context : int or None
        The column of the context.
    level : int
        The context whose graph is searched: the number of its value among the sorted ones.
    test : str
        A name of the registry.
    """

    def __init__(
        self, data: Values, context: int | None = None, level: int = 0, test: str = "auto"
    ) -> None:
        names = [str(column) for column in range(data.shape[1])]
        table = read_table(np.asarray(data), None if context is None else str(context), names=names)
        statistics = gather_statistics(table, "raise")
        check_statistics(statistics, table)
        self.contexts = table.contexts
        self.level = level
        self._prepared = find_test(test).prepare(table, statistics)

    def __call__(self, x: int, y: int, given: Sequence[int] | None = None) -> float:
        """The p-value; 0 where the question cannot be asked, so that the edge stays."""
        asked = sorted(int(z) for z in given or ())
        view = self.contexts.number(adaptive(self.contexts.cell(self.level), asked))
        conditions = tuple(z for z in asked if z not in self.contexts.fixed(view))
        p = float(self._prepared.answer([CIQuery(int(x), int(y), conditions, view)]).p[0])
        return 0.0 if np.isnan(p) else p


def register(name: str = NAME) -> str:
    """Make the test known to causal-learn under this name; afterwards its searches take it by name.

    Examples
    --------
    >>> from causalcontext.interop.causal_learn import register
    >>> name = register()                                                         # doctest: +SKIP
    >>> pc(array, indep_test=name, context=3, level=0)                            # doctest: +SKIP
    >>> fci(array, independence_test_method=name, context=3, level=0)             # doctest: +SKIP
    """
    try:
        from causallearn.utils.cit import CIT_Base, register_ci_test
    except ImportError as error:
        raise missing_package("causal-learn 0.1.4 or newer", "compare") from error

    class Registered(CIT_Base):  # type: ignore[misc]
        def __init__(self, data: Values, **options: Any) -> None:
            super().__init__(data)
            self.method = name
            self._test = AdaptiveTest(data, **options)

        def __call__(self, X: int, Y: int, condition_set: Sequence[int] | None = None) -> float:
            return self._test(X, Y, condition_set)

    register_ci_test(name, Registered)
    return name
