"""Random linear models with a context that may be caused by the system (Sec. 5.1, App. data
generation).

One pass makes the data: the ancestors of the context variable R in causal order, then R, then
everything else in the order of the row's own context. So R really is a function of its final
parents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import OptionError
from causalcontext.examples import NoiseLaw, normal
from causalcontext.graphs.paths import ancestors, causal_order
from causalcontext_lab.arrays import Bools, Floats, Ints
from causalcontext_lab.simulate.random_graphs import ModelDesign, Rejection, random_family
from causalcontext_lab.simulate.truth import TrueGraphs, is_strongly_acyclic


@dataclass(frozen=True, eq=False)
class ContextSCM(TrueGraphs):
    """A linear structural causal model per context, and the mechanism that chooses the context.

    The context variable R has parents among the coefficients (the same in all contexts), but no
    effects: it chooses the mechanisms of its children, which are the nodes whose coefficients, or
    shifts, differ between contexts.
    """

    names: tuple[str, ...]  # the nodes, in the order of the table's columns
    context: int  # the position of R among them
    # shape (contexts, nodes, nodes): [r, i, j] is the effect of i on j in context r, 0 for none
    coefficients: Floats
    # the causal order that the context graphs follow as far as their links allow
    base_order: tuple[int, ...]
    balance: float = 1.0  # R is cut at the sample quantiles `(i / contexts) ** balance`
    context_noise: float = 0.2  # the factor of R's noise, where R has parents
    noise: NoiseLaw = normal  # the law of all noise terms
    # proposals that were turned down, by reason
    rejections: Mapping[Rejection, int] = field(default_factory=dict)
    shifts: Floats | None = (
        None  # shape (contexts, nodes): what is added to every node in every context
    )

    def __post_init__(self) -> None:
        nodes = len(self.names)
        if self.coefficients.shape[1:] != (nodes, nodes) or sorted(self.base_order) != list(
            range(nodes)
        ):
            raise OptionError(
                f"a model of {nodes} nodes needs coefficients of shape (contexts, {nodes}, {nodes})"
                f" and an order of all nodes; found {self.coefficients.shape} and {self.base_order}"
            )
        if self.coefficients[:, self.context, :].any():
            raise OptionError(
                "the context variable has linear effects; it should only choose mechanisms"
            )
        if (self.coefficients != self.coefficients[0])[:, :, self.context].any():
            raise OptionError(
                "the coefficients of the context variable's parents differ between contexts"
            )
        if not is_strongly_acyclic(self.adjacency, self.context):
            raise OptionError(
                "a context graph, or the union at the context or its ancestors, has a cycle"
            )

    @property
    def context_name(self) -> str:
        """The name of the context variable."""
        return self.names[self.context]

    @property
    def contexts(self) -> int:
        """The number of contexts."""
        return len(self.coefficients)

    @property
    def context_parents(self) -> tuple[int, ...]:
        """The parents of the context variable."""
        return tuple(np.flatnonzero(self.coefficients[0, :, self.context]).tolist())

    @cached_property
    def adjacency(self) -> Bools:
        """The links of every context, those at R included: shape (contexts, nodes, nodes)."""
        stack = np.asarray(self.coefficients != 0)
        changing = (self.coefficients != self.coefficients[0]).any(axis=(0, 1))
        if self.shifts is not None:
            changing |= (self.shifts != self.shifts[0]).any(axis=0)
        stack[:, self.context, :] = changing
        return stack

    @cached_property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """A causal order of every context graph."""
        return tuple(causal_order(links, self.base_order) for links in self.adjacency)

    def sample(self, n: int, seed: int | np.random.Generator) -> pd.DataFrame:
        """A table of `n` rows; the context's column holds the integers 0 .. contexts - 1.

        >>> table = random_model(nodes=4, seed=1).sample(6, seed=2)
        >>> table.shape
        (6, 4)
        """
        if n < self.contexts:
            raise OptionError(
                f"n is {n}; a table with {self.contexts} contexts needs at least as many rows"
            )
        generator = np.random.default_rng(seed)
        values = self.noise(generator, (len(self.names), n))
        # First the ancestors of R and R itself, then each row by the mechanisms of its own context.
        done = ancestors(self.adjacency[0], self.context)
        add_effects(values, self.coefficients[0], [node for node in self.orders[0] if done[node]])
        if self.context_parents:
            values[self.context] *= self.context_noise
        add_effects(values, self.coefficients[0], [self.context])
        levels = cut_at_quantiles(values[self.context], self.contexts, self.balance)
        done[self.context] = True
        for level, order in enumerate(self.orders):
            rows = np.flatnonzero(levels == level)
            block = values[:, rows]
            if self.shifts is not None:
                block += self.shifts[level][:, None]
            add_effects(block, self.coefficients[level], [node for node in order if not done[node]])
            values[:, rows] = block
        columns = {name: values[node] for node, name in enumerate(self.names)}
        return frame_of(columns | {self.context_name: levels})


def random_model(
    nodes: int = 8,
    density: float = 0.4,
    *,
    seed: int | np.random.Generator,
    balance: float = 1.0,
    context_noise: float = 0.2,
    noise: NoiseLaw = normal,
    **design: Any,
) -> ContextSCM:
    """A random linear model that meets weak context-sufficiency and strong context-acyclicity.

    Parameters
    ----------
    nodes : int
        Number of nodes, the context variable included.
    density : float
        Share of all pairs that are linked in the base graph.
    contexts : int
        Number of contexts; their graphs are pairwise different.
    changes : int
        Number of edits of the base graph for every context, the first included.
    edits : sequence of "add", "remove", "flip"
        The allowed edits at a random system node: a new parent, one parent less, a link to a parent
        reversed.
    cycles : "exclude", "enforce" or "any"
        Whether the union of the context graphs may or must have directed cycles, of any length.
    balance : float
        1 gives contexts of equal size, less than 1 larger first ones, more than 1 larger last ones.
    context_noise : float
        Factor of the context variable's noise.
    seed : int or numpy Generator
    noise : function
        The law of all noise terms.
    cycle_length : int, optional
        With enforced cycles, the length of the shortest one; 2 is a link that is reversed between
        contexts.
    exogenous : bool
        The context variable has no causes.
    coefficients : sequence of float
        What the linear effects are drawn from.

    Notes
    -----
    The base graph has its links along a random order of the nodes. One node, drawn uniformly,
    becomes R and loses its outgoing links; R -> v for every v whose parents differ between
    contexts. As in the paper, an edit is proposed up to ten times before a new base graph is drawn.
    The paper asks every edit for a cycle when cycles are enforced; here the finished union must
    have one.

    >>> model = random_model(nodes=5, density=0.6, seed=3)
    >>> model.context_graph(0) == model.context_graph(1)
    False
    """
    if not balance > 0 or context_noise < 0:
        raise OptionError(
            f"balance is {balance} and context_noise {context_noise}; expected > 0 and >= 0"
        )
    family = random_family(ModelDesign(nodes, density, **design), np.random.default_rng(seed))
    names = tuple("R" if node == family.context else f"X{node}" for node in range(nodes))
    return ContextSCM(
        names,
        family.context,
        family.coefficients,
        family.order,
        balance,
        context_noise,
        noise,
        family.rejections,
    )


def cut_at_quantiles(values: Floats, levels: int, balance: float) -> Ints:
    """The level 0 .. levels - 1 of every value, cut at the sample quantiles `(i / levels) **
    balance`.
    """
    quantiles = (np.arange(1, levels) / levels) ** balance
    return np.searchsorted(np.quantile(values, quantiles), values, side="right").astype(np.int64)


def add_effects(values: Floats, coefficients: Floats, order: Sequence[int]) -> None:
    """Every node of `order`, causes first, has its parents' effects added to its noise, (nodes,
    rows), in place.
    """
    for node in order:
        parents = np.flatnonzero(coefficients[:, node])
        if parents.size:
            values[node] += coefficients[parents, node] @ values[parents]
