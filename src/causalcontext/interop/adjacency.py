"""Graphs as tables: marks by name, or ones and zeros."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import DataError, OptionError
from causalcontext.graphs.endpoints import (
    Endpoint,
    GraphKind,
    endpoints_of_arcs,
    endpoints_of_mark,
    kind_of_marks,
    mark_texts,
    may_cause,
)
from causalcontext.graphs.graph import Graph
from causalcontext.interop.formats import refuse_marks


def to_mark_table(graph: Graph) -> pd.DataFrame:
    """The mark of every pair, read from the row to the column; nothing is lost but the kind of the
    graph.

    Examples
    --------
    >>> to_mark_table(Graph.from_edges("XY", [("X", "Y", "-->")])).loc["Y", "X"]
    '<--'
    """
    return frame_of(mark_texts(graph.endpoints), index=list(graph.names), columns=list(graph.names))


def from_mark_table(table: pd.DataFrame, kind: str | None = None) -> Graph:
    """The graph of a table of marks; unless `kind` says what it is, a PAG if an edge has just one
    circle.
    """
    return graph_of_marks(_names(table), table.to_numpy(), kind)


def to_adjacency(graph: Graph) -> pd.DataFrame:
    """1 where the row may cause the column, else 0: an undirected edge has both; other marks are
    refused.
    """
    refuse_marks(graph, ("-->", "o-o"), "a table of ones and zeros")
    if graph.kind is GraphKind.PAG:
        raise OptionError("a table of ones and zeros cannot represent a PAG")
    ones = may_cause(graph.endpoints).astype(np.int64)
    return frame_of(ones, index=list(graph.names), columns=list(graph.names))


def from_adjacency(table: pd.DataFrame) -> Graph:
    """The graph of a table of ones and zeros."""
    names = _names(table)
    ones = table.to_numpy()
    if not np.isin(ones, (0, 1)).all() or np.diagonal(ones).any():
        raise DataError("the table has entries other than 0 and 1, or a 1 on its diagonal")
    return Graph(names, endpoints_of_arcs(ones == 1))


def conflicts_as_undirected(graph: Graph) -> Graph:
    """The same graph with `o-o` for every `x-x`, for formats that cannot say that directions
    conflict.
    """
    is_conflict = graph.endpoints == Endpoint.CONFLICT
    return graph.replaced(endpoints=np.where(is_conflict, Endpoint.CIRCLE, graph.endpoints))


def graph_of_marks(names: Sequence[str], texts: NDArray[np.object_], kind: str | None) -> Graph:
    """The graph whose mark, read from i to j, is `texts[i, j]`."""
    endpoints = np.vectorize(lambda mark: int(endpoints_of_mark(mark)[1]), otypes=[np.int8])(texts)
    if not np.array_equal(mark_texts(endpoints), texts):
        raise DataError(
            "a mark read from the second variable to the first must be the reverse of the other one"
        )
    return Graph(names, endpoints, kind_of_marks(texts.ravel(), kind))


def _names(table: pd.DataFrame) -> tuple[str, ...]:
    """The names of the columns, which must be those of the rows."""
    names = tuple(str(name) for name in table.columns)
    if tuple(str(name) for name in table.index) != names:
        raise DataError(
            "the rows and columns of the table must have the same names in the same order"
        )
    return names
