"""Graphs as tables: marks by name, or ones and zeros."""

from __future__ import annotations

import numpy as np
import pandas as pd

from causalcontext.errors import DataError
from causalcontext.graphs.export.refusals import refuse_marks
from causalcontext.graphs.graph import MARK_OF_TEXT, Graph, Mark


def to_mark_table(graph: Graph) -> pd.DataFrame:
    """The mark of every pair, read from the row to the column; nothing is lost.

    Examples
    --------
    >>> to_mark_table(Graph.from_edges("XY", [("X", "Y", "-->")])).loc["Y", "X"]
    '<--'
    """
    texts = np.array([mark.text for mark in Mark], dtype=object)
    return pd.DataFrame(texts[graph.marks], index=list(graph.names), columns=list(graph.names))


def from_mark_table(table: pd.DataFrame) -> Graph:
    """The graph of a table of marks."""
    names = _names(table)
    unknown = [mark for mark in pd.unique(table.to_numpy().ravel()) if mark not in MARK_OF_TEXT]
    if unknown:
        raise DataError(f"the table has a mark {unknown[0]!r}, expected one of {list(MARK_OF_TEXT)}")
    marks = np.vectorize(lambda text: int(MARK_OF_TEXT[text]), otypes=[np.int8])(table.to_numpy())
    return Graph(names, marks)


def to_adjacency(graph: Graph) -> pd.DataFrame:
    """1 where the row may cause the column, else 0: an undirected edge has both; other marks are refused."""
    refuse_marks(graph, {Mark.FORWARD, Mark.BACKWARD, Mark.UNDIRECTED}, "a table of ones and zeros")
    ones = np.isin(graph.marks, (Mark.FORWARD, Mark.UNDIRECTED)).astype(np.int64)
    return pd.DataFrame(ones, index=list(graph.names), columns=list(graph.names))


def from_adjacency(table: pd.DataFrame) -> Graph:
    """The graph of a table of ones and zeros."""
    names, ones = _names(table), table.to_numpy()
    if not np.isin(ones, (0, 1)).all() or np.diagonal(ones).any():
        raise DataError("the table has entries other than 0 and 1, or a 1 on its diagonal")
    forward, backward = ones == 1, ones.T == 1
    choices = [forward & backward, forward, backward]
    return Graph(names, np.select(choices, [Mark.UNDIRECTED, Mark.FORWARD, Mark.BACKWARD], Mark.ABSENT))


def conflicts_as_undirected(graph: Graph) -> Graph:
    """The same graph with `o-o` for every `x-x`, for formats that cannot say that directions conflict."""
    return Graph(graph.names, np.where(graph.marks == Mark.CONFLICT, Mark.UNDIRECTED, graph.marks))


def _names(table: pd.DataFrame) -> tuple[str, ...]:
    names = tuple(str(name) for name in table.columns)
    if tuple(str(name) for name in table.index) != names:
        raise DataError("the rows and columns of the table must have the same names in the same order")
    return names
