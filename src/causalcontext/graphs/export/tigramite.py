"""tigramite's string array: `graph[i, j, 0]` is the mark of the edge read from i to j, at lag 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import DataError
from causalcontext.graphs.export.refusals import refuse_marks
from causalcontext.graphs.graph import MARK_OF_TEXT, Graph, Mark


def to_tigramite(graph: Graph) -> NDArray[np.str_]:
    """The marks as text, shape (variables, variables, 1); for tigramite's `graph_type="dag"` drop the last axis.

    Examples
    --------
    >>> to_tigramite(Graph.from_edges("XY", [("X", "Y", "-->")]))[:, :, 0].tolist()
    [['', '-->'], ['<--', '']]
    """
    refuse_marks(graph, set(Mark) - {Mark.BOTH}, "tigramite")
    texts = np.array([mark.text for mark in Mark], dtype="<U3")
    return texts[graph.marks][:, :, None]


def from_tigramite(array: NDArray[Any], names: Sequence[str]) -> Graph:
    """The graph in an array of tigramite without lagged edges; the names are not in it."""
    if array.ndim != 3 or array.shape[:2] != (len(names),) * 2:
        raise DataError(f"the array has shape {array.shape}, expected ({len(names)}, {len(names)}, lags)")
    if (array[:, :, 1:] != "").any():
        raise DataError("the array has lagged edges, which a graph without time cannot hold")
    unknown = sorted(set(array[:, :, 0].ravel().tolist()) - set(MARK_OF_TEXT))
    if unknown:
        raise DataError(f"the array has a mark {unknown[0]!r}, expected one of {list(MARK_OF_TEXT)}")
    marks = np.vectorize(lambda text: int(MARK_OF_TEXT[text]), otypes=[np.int8])(array[:, :, 0])
    return Graph(names, marks)
