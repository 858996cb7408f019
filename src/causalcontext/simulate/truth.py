"""The true graphs of a simulated system, by name (Sec. 3.1 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.graph import Graph, Mark
from causalcontext.simulate.assumptions import union_of


@dataclass(frozen=True)
class Truth:
    """The observable graphs of a system, keyed by the context's values as they stand in the table.

    Attributes
    ----------
    physical : mapping of context value to Graph
        What the mechanisms allow in a context, on all values that the system can take.
    descriptive : mapping of context value to Graph
        What the mechanisms do on the values seen together with that context; what Algorithm 1 finds.
    union : Graph
        The links of any context.
    """

    physical: Mapping[Any, Graph]
    descriptive: Mapping[Any, Graph]
    union: Graph


def directed_graph(names: Sequence[str], adjacency: NDArray[np.bool_]) -> Graph:
    """The graph with `i --> j` where `adjacency[i, j]`, and `i <=> j` where both directions hold."""
    forward, backward = adjacency, adjacency.T
    one_way = np.where(forward, Mark.FORWARD, np.where(backward, Mark.BACKWARD, Mark.ABSENT))
    return Graph(names, np.where(forward & backward, Mark.BOTH, one_way))


def union_graph(names: Sequence[str], stack: NDArray[np.bool_]) -> Graph:
    """The links of any context, from a stack of adjacencies of shape (contexts, nodes, nodes)."""
    return directed_graph(names, union_of(stack))
