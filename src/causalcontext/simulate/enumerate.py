"""All small models with a context, and random ones that are too many to list.

A model is a labeled tuple of context graphs over R and the system variables: links at R shared, parents of a
node differing between contexts only if R is one of them (children of R with unchanged parents allowed), every
context graph acyclic, no union cycle through R or its ancestors.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import OptionError
from causalcontext.graphs.paths import is_acyclic
from causalcontext.kernels.arrays import Bools
from causalcontext.simulate.assumptions import is_strongly_acyclic, is_weakly_sufficient

MOST_CANDIDATES = 1_000_000
BATCH = 20_000


def every_model(variables: int = 3, contexts: int = 2, context: int = 0) -> Bools:
    """Every model with R and `variables` system variables.

    Parameters
    ----------
    variables : int
        Number of system variables; the graphs have one node more.
    contexts : int
        Number of contexts.
    context : int
        The position of R among the nodes.

    Returns
    -------
    array of bool, shape (models, contexts, variables + 1, variables + 1)

    Examples
    --------
    >>> len(every_model(variables=3, contexts=2))
    2553
    """
    graphs = acyclic_graphs(variables)
    candidates = 3**variables * len(graphs) ** contexts
    if candidates > MOST_CANDIDATES:
        raise OptionError(
            f"{variables} variables and {contexts} contexts make {candidates} candidates, more than "
            f"{MOST_CANDIDATES}; draw some with random_models instead"
        )
    links = np.array(list(product(range(3), repeat=variables)))
    places = np.indices((len(links), *[len(graphs)] * contexts)).reshape(contexts + 1, -1)
    return _valid(_stacks(links[places[0]], graphs[places[1:].T], context), context)


def random_models(
    count: int, variables: int = 4, contexts: int = 2, context: int = 0, *, seed: int | np.random.Generator
) -> Bools:
    """`count` models drawn uniformly, with repetition, from those that `every_model` would list.

    Returns
    -------
    array of bool, shape (count, contexts, variables + 1, variables + 1)
    """
    generator = np.random.default_rng(seed)
    graphs = acyclic_graphs(variables)
    found: list[Bools] = []
    while sum(map(len, found)) < count:
        links = generator.integers(3, size=(BATCH, variables))
        chosen = graphs[generator.integers(len(graphs), size=(BATCH, contexts))]
        found.append(_valid(_stacks(links, chosen, context), context))
    return np.concatenate(found)[:count]


@cache
def acyclic_graphs(variables: int) -> Bools:
    """Every labeled acyclic directed graph: shape (graphs, variables, variables)."""
    if not 1 <= variables <= 4:
        raise OptionError(f"variables is {variables}; graphs can be listed for 1 to 4")
    cause, effect = np.nonzero(~np.eye(variables, dtype=np.bool_))
    choices = np.array(list(product((False, True), repeat=cause.size)), dtype=np.bool_)
    graphs = np.zeros((len(choices), variables, variables), dtype=np.bool_)
    graphs[:, cause, effect] = choices
    acyclic = graphs[is_acyclic(graphs)]
    acyclic.setflags(write=False)
    return acyclic


def _stacks(links: NDArray[np.integer], graphs: Bools, context: int) -> Bools:
    """Context graphs with the links at R put in.

    Parameters
    ----------
    links : array of int, shape (models, variables)
        0: no link with R, 1: a parent of R, 2: a child of R.
    graphs : array of bool, shape (models, contexts, variables, variables)
    """
    models, contexts, variables = graphs.shape[:3]
    system = np.delete(np.arange(variables + 1), context)
    stacks = np.zeros((models, contexts, variables + 1, variables + 1), dtype=np.bool_)
    stacks[:, :, system[:, None], system] = graphs
    stacks[:, :, system, context] = (links == 1)[:, None, :]
    stacks[:, :, context, system] = (links == 2)[:, None, :]
    return stacks


def _valid(stacks: Bools, context: int) -> Bools:
    """The models that meet weak context-sufficiency and strong context-acyclicity."""
    sufficient = stacks[is_weakly_sufficient(stacks, context)]
    return sufficient[is_strongly_acyclic(sufficient, context)]
