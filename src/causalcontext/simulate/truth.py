"""The true graphs of a simulated system, by name (Sec. 3.1 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from causalcontext.graphs.endpoints import Endpoint, endpoints_of_arcs
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.union import LabeledUnion
from causalcontext.kernels.arrays import Bools
from causalcontext.simulate.assumptions import union_of


@dataclass(frozen=True)
class Truth:
    """The observable graphs of a system, keyed by the context's values as they stand in the table.

    Attributes
    ----------
    context : str
        The context variable; links at it are the same in all graphs.
    union : Graph
        The links of any context.
    descriptive : mapping of context value to Graph
        What the mechanisms do on the values seen together with that context; what Algorithm 1 finds.
    physical : mapping of context value to Graph
        What the mechanisms allow in a context, on all values that the system takes.
    counterfactual : mapping of context value to Graph
        What would be seen had the context been set to that value under the same noises.
    """

    context: str
    union: Graph
    descriptive: Mapping[Any, Graph]
    physical: Mapping[Any, Graph]
    counterfactual: Mapping[Any, Graph]

    @property
    def contexts(self) -> tuple[Any, ...]:
        """The values of the context."""
        return tuple(self.descriptive)

    @property
    def labeled_union(self) -> LabeledUnion:
        """The links of the descriptive graphs, each with the contexts that have it."""
        return LabeledUnion(self.descriptive)


def same_truth(names: Sequence[str], context: int, stack: Bools) -> Truth:
    """The truth of a model that is never constant where it could vary, so that the three context graphs agree."""
    graphs = {level: directed_graph(names, links) for level, links in enumerate(stack)}
    return Truth(names[context], union_graph(names, stack), graphs, graphs, graphs)


def directed_graph(names: Sequence[str], adjacency: Bools) -> Graph:
    """The graph with `i --> j` where `adjacency[i, j]`, and `i <=> j` where both directions hold."""
    return Graph(names, endpoints_of_arcs(adjacency, both=Endpoint.MIXED))


def union_graph(names: Sequence[str], stack: Bools) -> Graph:
    """The links of any context, from a stack of adjacencies of shape (contexts, nodes, nodes)."""
    return directed_graph(names, union_of(stack))
