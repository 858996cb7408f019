"""Models some of whose variables are missing from their tables, and what is true about the others.

The truth of a context is its maximal ancestral graph over the variables of the table (docs/hidden-causes.md): an edge
where no set separates two variables, a tail for "causes", an arrow for "does not cause", in that context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.paths import mag_adjacency, reach
from causalcontext.kernels.arrays import Bools
from causalcontext.simulate.assumptions import union_of
from causalcontext.simulate.mixture import SeparationTest, separated

if TYPE_CHECKING:
    import pandas as pd


class WholeModel(Protocol):
    """A model with all of its variables: `ContextSCM`, `DiscreteModel`."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def context(self) -> int: ...

    @property
    def adjacency(self) -> Bools: ...

    def sample(self, n: int, seed: int | np.random.Generator) -> pd.DataFrame: ...


@dataclass(frozen=True, eq=False)
class HiddenVariables:
    """A model whose tables lack some columns.

    Attributes
    ----------
    model : ContextSCM or DiscreteModel
        With all variables.
    hidden : tuple of int
        The positions of those that no table has; the context is not among them.

    Examples
    --------
    >>> from causalcontext.simulate import random_model
    >>> whole = random_model(nodes=6, seed=1)
    >>> without = HiddenVariables(whole, tuple(v for v in (0, 1) if v != whole.context))
    >>> set(without.names) < set(whole.names)
    True
    """

    model: WholeModel
    hidden: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.model.context in self.hidden:
            raise OptionError("the context variable is among the hidden ones; a table without it has no contexts")

    @cached_property
    def observed(self) -> tuple[int, ...]:
        """The positions of the variables that a table has."""
        return tuple(node for node in range(len(self.model.names)) if node not in self.hidden)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of a table."""
        return tuple(self.model.names[node] for node in self.observed)

    @property
    def context(self) -> int:
        """The position of the context variable among them."""
        return self.observed.index(self.model.context)

    @property
    def context_name(self) -> str:
        """The name of the context variable."""
        return self.model.names[self.model.context]

    def sample(self, n: int, seed: int | np.random.Generator) -> pd.DataFrame:
        """A table of `n` rows without the hidden variables."""
        return self.model.sample(n, seed)[list(self.names)]

    @cached_property
    def causes(self) -> Bools:
        """True where i is an ancestor of j in a context, perhaps through others: shape (contexts, M, M)."""
        return np.asarray(reach(self.model.adjacency)[:, np.array(self.observed)[:, None], np.array(self.observed)])

    @cached_property
    def endpoints(self) -> Endpoints:
        """The ends of the true graph of every context, shape (contexts, M, M).

        Links at the context variable are those that no set separates on all rows, so they are the same in all contexts;
        in a context whose own graph has no such link, the context variable still is a cause of the other end.
        """
        there = mag_adjacency(self.model.adjacency, self.observed)
        somewhere = np.asarray(there[:, self.context].any(axis=0))
        there[:, self.context] = there[:, :, self.context] = self._links_at_context(somewhere)
        at_second = np.where(self.causes.swapaxes(1, 2), Endpoint.TAIL, Endpoint.ARROW)
        return np.where(there, at_second, Endpoint.NONE).astype(np.int8)

    def true_graphs(self) -> Mapping[int, Graph]:
        """The true graph of every context."""
        return {level: Graph(self.names, endpoints, GraphKind.PAG) for level, endpoints in enumerate(self.endpoints)}

    def oracle(self) -> SeparationTest:
        """A test for tables of this model that cannot err."""
        return SeparationTest(self.model.adjacency, self.model.context, self.model.names)

    def _links_at_context(self, somewhere: Bools) -> Bools:
        """True for the variables that no set separates from the context variable; shape (M,).

        Those that no set separates `somewhere`, in the graph of a context, are among them.
        """
        found = somewhere.copy()
        for place, node in enumerate(self.observed):
            if place != self.context and not somewhere[place]:
                found[place] = not self._is_apart(node)
        return found

    def _is_apart(self, node: int) -> bool:
        """Whether one set separates a node from the context variable in every graph, all their ancestors first."""
        stack, context = self.model.adjacency, self.model.context
        above = np.asarray(reach(union_of(stack))[:, [context, node]].any(axis=1))
        candidates = [other for other in self.observed if above[other] and other not in (context, node)]
        tried = chain([tuple(candidates)], subsets(candidates))
        return any(bool(separated(stack, context, context, node, given)) for given in tried)


def subsets(members: Sequence[int]) -> chain[tuple[int, ...]]:
    """All subsets, small ones first."""
    return chain.from_iterable(combinations(members, size) for size in range(len(members) + 1))
