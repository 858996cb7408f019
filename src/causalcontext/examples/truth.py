"""The true graphs of a simulated system, by name (Sec. 3.1 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from causalcontext.graphs.endpoints import Endpoint, endpoints_of_arcs
from causalcontext.graphs.graph import Graph, LabeledUnion
from causalcontext.kernels.arrays import Bools


@dataclass(frozen=True)
class Truth:
    """The observable graphs of a system, keyed by the context's values as they stand in the
    table.
    """

    context: str  # the context variable; links at it are the same in all graphs
    union: Graph  # the links of any context
    # what the mechanisms do on the values seen together with a context; what Algorithm 1 finds
    descriptive: Mapping[Any, Graph]
    # what the mechanisms allow in a context, on all values that the system takes
    physical: Mapping[Any, Graph]
    # what would be seen had the context been set, under the same noises
    counterfactual: Mapping[Any, Graph]

    @property
    def contexts(self) -> tuple[Any, ...]:
        """The values of the context."""
        return tuple(self.descriptive)

    @property
    def labeled_union(self) -> LabeledUnion:
        """The links of the descriptive graphs, each with the contexts that have it."""
        return LabeledUnion(self.descriptive)


def directed_graph(names: Sequence[str], adjacency: Bools) -> Graph:
    """The graph with `i --> j` where `adjacency[i, j]`, and `i <=> j` where both directions
    hold.
    """
    return Graph(names, endpoints_of_arcs(adjacency, both=Endpoint.MIXED))
