"""tigramite's string array: `graph[i, j, lag]` is the mark of the edge read from i, so many steps
ago, to j.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import ENDPOINTS_OF_MARK, Endpoint, kind_of_marks, mark_texts
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import at, split, window_names
from causalcontext.interop.adjacency import graph_of_marks
from causalcontext.interop.formats import refuse_marks
from causalcontext.kernels.arrays import Values

_MARKS = tuple(
    mark for mark, endpoints in ENDPOINTS_OF_MARK.items() if Endpoint.MIXED not in endpoints
)
"""Its `+->` is two edges in one, not an endpoint that differs between contexts."""


def to_tigramite(graph: Graph) -> NDArray[np.str_]:
    """The marks as text, shape (variables, variables, lags + 1); for its `graph_type="dag"` drop
    the last axis.

    Nodes such as `X(t-1)` are the variable X at a lag; a graph without any has lag 0 only.

    Examples
    --------
    >>> to_tigramite(Graph.from_edges("XY", [("X", "Y", "-->")]))[:, :, 0].tolist()
    [['', '-->'], ['<--', '']]
    >>> graph = Graph.from_edges(["X(t-1)", "Y(t-1)", "X", "Y"], [("X(t-1)", "Y", "-->")])
    >>> to_tigramite(graph)[:, :, 1].tolist()
    [['', '-->'], ['', '']]
    """
    refuse_marks(graph, _MARKS, "tigramite")
    texts = mark_texts(graph.endpoints).astype("<U3")
    positions = {name: position for position, name in enumerate(graph.names)}
    names = [name for name in graph.names if not split(name)[1]]
    lags = max((split(name)[1] for name in graph.names), default=0)
    array = np.full((len(names), len(names), lags + 1), "", dtype="<U3")
    now = [positions[name] for name in names]
    for lag in range(lags + 1):
        for i, name in enumerate(names):
            if at(name, lag) in positions:
                array[i, :, lag] = texts[positions[at(name, lag)], now]
    lagged_links = np.count_nonzero(array[:, :, 1:])
    links_now = np.count_nonzero(array[:, :, 0]) // 2
    if lagged_links + links_now < len(graph.edges):
        raise DataError(
            "tigramite's array can hold only links into time t, and the graph has others"
        )
    return array


def from_tigramite(
    array: Values, names: Sequence[str], kind: str | None = None, covariates: Collection[str] = ()
) -> Graph:
    """The graph in an array of tigramite; the names are not in it. Lagged links make a window graph
    over `X(t-1)`.

    Nor does an array say what kind of graph it is: unless `kind` does, it is a PAG if an edge, of
    any lag, has just one circle. `covariates` are names, such as cycles, which a window graph has
    at time t alone.
    """
    if array.ndim != 3 or array.shape[:2] != (len(names),) * 2:
        raise DataError(
            f"the array has shape {array.shape}, expected ({len(names)}, {len(names)}, lags)"
        )
    unknown = sorted(set(array.ravel().tolist()) - set(_MARKS))
    if unknown:
        raise DataError(f"the array has a mark {unknown[0]!r} that causalcontext does not have")
    kind = str(kind_of_marks(array.ravel().tolist(), kind))
    now = graph_of_marks(names, array[:, :, 0].astype(object), kind)
    if array.shape[2] == 1:
        return now
    lags = array.shape[2] - 1
    links = [
        (at(names[i], lag), names[j], str(array[i, j, lag]))
        for lag in range(1, lags + 1)
        for i, j in np.argwhere(array[:, :, lag] != "").tolist()
    ]
    varying = [name for name in names if name not in covariates]
    nodes = [*window_names(varying, lags), *(name for name in names if name in covariates)]
    return Graph.from_edges(nodes, [*links, *now.edges], kind)
