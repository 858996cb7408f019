"""All small models with a context, and random ones that are too many to list.

A model is a labeled tuple of context graphs over R and the system variables: links at R shared, parents of a
node differing between contexts only if R is one of them (children of R with unchanged parents allowed), every
context graph acyclic, no union cycle through R or its ancestors."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import OptionError
from causalcontext.graphs.paths import is_acyclic
from causalcontext.kernels.arrays import Bools
from causalcontext.simulate.truth import is_strongly_acyclic, is_weakly_sufficient

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


def with_hidden_cause(models: Bools, varying: bool = False, context: int = 0) -> Bools:
    """Every model with one more node, a cause of two or more of the others that no table has.

    Parameters
    ----------
    models : array of bool, shape (models, contexts, N, N)
    varying : bool
        Whether children of R may be its children in some contexts only.
    context : int
        The position of R.

    Returns
    -------
    array of bool, shape (more models, contexts, N + 1, N + 1)
        The new node is the last one.

    Examples
    --------
    >>> len(with_hidden_cause(every_model()))
    28083
    """
    found = []
    for children in np.unique(models[:, 0, context], axis=0):
        chosen = models[(models[:, 0, context] == children).all(axis=1)]
        effects = _effects(children & varying, models.shape[1])
        stacks = np.zeros((len(chosen), len(effects), *models.shape[1:2], *[models.shape[2] + 1] * 2), dtype=np.bool_)
        stacks[..., :-1, :-1] = chosen[:, None]
        stacks[..., -1, :-1] = effects
        found.append(stacks.reshape(-1, *stacks.shape[2:]))
    return np.concatenate(found)


def _effects(free: Bools, contexts: int) -> Bools:
    """What a hidden cause may act on in every context, two nodes or more; in some contexts only where `free`.

    Returns
    -------
    array of bool, shape (choices, contexts, nodes)
    """
    everywhere = [(False,) * contexts, (True,) * contexts]
    somewhere = list(product((False, True), repeat=contexts))
    choices = np.array(list(product(*(somewhere if is_free else everywhere for is_free in free))))
    several = choices.any(axis=2).sum(axis=1) > 1
    return np.asarray(choices[several].swapaxes(1, 2))


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
