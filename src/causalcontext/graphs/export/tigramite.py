"""tigramite's string array: `graph[i, j, 0]` is the mark of the edge read from i to j, at lag 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import DataError
from causalcontext.graphs.ends import ENDS_OF_MARK, End, mark_texts
from causalcontext.graphs.export.adjacency import graph_of_marks
from causalcontext.graphs.export.refusals import refuse_marks
from causalcontext.graphs.graph import Graph
from causalcontext.kernels.arrays import Values

_MARKS = tuple(mark for mark, ends in ENDS_OF_MARK.items() if End.MIXED not in ends)
"""Its `+->` is two edges in one, not an end that differs between contexts."""


def to_tigramite(graph: Graph) -> NDArray[np.str_]:
    """The marks as text, shape (variables, variables, 1); for tigramite's `graph_type="dag"` drop the last axis.

    Examples
    --------
    >>> to_tigramite(Graph.from_edges("XY", [("X", "Y", "-->")]))[:, :, 0].tolist()
    [['', '-->'], ['<--', '']]
    """
    refuse_marks(graph, _MARKS, "tigramite")
    return mark_texts(graph.ends).astype("<U3")[:, :, None]


def from_tigramite(array: Values, names: Sequence[str], kind: str | None = None) -> Graph:
    """The graph in an array of tigramite without lagged edges; the names are not in it.

    Nor is it said what the graph is: unless `kind` says it, a PAG if an edge has just one circle.
    """
    if array.ndim != 3 or array.shape[:2] != (len(names),) * 2:
        raise DataError(f"the array has shape {array.shape}, expected ({len(names)}, {len(names)}, lags)")
    if (array[:, :, 1:] != "").any():
        raise DataError("the array has lagged edges, which a graph without time cannot hold")
    unknown = sorted(set(array[:, :, 0].ravel().tolist()) - set(_MARKS))
    if unknown:
        raise DataError(f"the array has a mark {unknown[0]!r} that a graph here cannot hold")
    return graph_of_marks(names, array[:, :, 0].astype(object), kind)
