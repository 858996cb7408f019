"""Random linear models with hidden common causes, and a context that may be confounded itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.graphs.paths import is_acyclic
from causalcontext.kernels.arrays import Floats
from causalcontext.simulate.edits import add_parent, flip_parent, remove_parent
from causalcontext.simulate.hidden import HiddenVariables
from causalcontext.simulate.linear import ContextSCM

EFFECTS = (0.6, 1.4)
"""The size of linear effects and shifts, either sign."""
RELATIVE_NOISE = 0.5
"""The noise of the context variable, in standard deviations of what its causes say."""
MOST_CHANGES, TRIES = 3, 20


def random_hidden_model(observed: int = 8, hidden: int = 2, degree: float = 2.2, *, seed: int | np.random.Generator
                        ) -> HiddenVariables:  # fmt: skip
    """A random linear model of two contexts, some of whose variables no table has.

    Parameters
    ----------
    observed : int
        System variables of a table, from 4 on.
    hidden : int
        Hidden causes of two of them each; in half of the models the first one also causes the context.
    degree : float
        How many links a system variable has on average with others, hidden ones not counted.
    seed : int or numpy Generator

    Notes
    -----
    The context variable R stands behind two to five variables of a random order, each a cause of it with probability
    one half, and is 1 above the median of its causes plus noise. Up to three variables behind R are changed in both
    contexts, in either by itself: a link to one of their causes is removed, added or reversed, or they are shifted.

    Examples
    --------
    >>> model = random_hidden_model(seed=1)
    >>> model.sample(100, seed=2).shape
    (100, 9)
    """
    if observed < 4 or hidden < 0 or not 0 <= degree <= observed - 1:
        raise OptionError(f"found {observed} observed and {hidden} hidden variables and a degree of {degree}; expected "
                          f"4 or more, 0 or more, and a degree from 0 to {observed - 1}")  # fmt: skip
    generator = np.random.default_rng(seed)
    draft = _draft(observed, hidden, degree, generator)
    coefficients, shifts = _changed(draft, generator)
    noise = RELATIVE_NOISE * _spread(draft.base, draft.context) or 1.0
    names = (*(f"X{node}" for node in range(observed)), "R", *(f"L{node}" for node in range(hidden)))
    model = ContextSCM(names, draft.context, coefficients, draft.order, context_noise=noise, shifts=shifts)
    return HiddenVariables(model, tuple(range(observed + 1, observed + 1 + hidden)))


@dataclass(frozen=True, eq=False)
class _Draft:
    """Linear effects before anything differs between contexts, and an order of all nodes; `later` are behind R."""

    base: Floats
    order: tuple[int, ...]
    context: int
    later: tuple[int, ...]


def _draft(observed: int, hidden: int, degree: float, generator: np.random.Generator) -> _Draft:
    context, size = observed, observed + 1 + hidden
    order = generator.permutation(observed)
    base = np.zeros((size, size))
    for place, effect in enumerate(order):
        linked = generator.random(place) < degree / (observed - 1)
        base[order[:place][linked], effect] = _effects(generator, int(linked.sum()))
    cut = int(generator.integers(2, min(5, observed - 2) + 1))
    causes = order[:cut][generator.random(cut) < 0.5]
    base[causes, context] = _effects(generator, len(causes))
    for node in range(observed + 1, size):
        effects = generator.choice(observed, size=2, replace=False)
        base[node, effects] = _effects(generator, len(effects))
    if hidden and generator.random() < 0.5:
        base[observed + 1, context] = _effects(generator, 1)[0]
    in_order = (*range(observed + 1, size), *order[:cut], context, *order[cut:])
    return _Draft(base, tuple(map(int, in_order)), context, tuple(order[cut:].tolist()))


def _effects(generator: np.random.Generator, count: int) -> Floats:
    return np.asarray(generator.uniform(*EFFECTS, size=count) * generator.choice((-1.0, 1.0), size=count))


def _changed(draft: _Draft, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """The effects of both contexts, shape (2, N, N), and their shifts, shape (2, N)."""
    both, shifts = np.stack([draft.base, draft.base]), np.zeros((2, len(draft.base)))
    for node in generator.permutation(draft.later)[:MOST_CHANGES].tolist():
        for level in (0, 1):
            _change_once(draft, both, shifts, (level, node), generator)
    return both, shifts


def _change_once(draft: _Draft, both: Floats, shifts: Floats, where: tuple[int, int], generator: np.random.Generator
                 ) -> None:  # fmt: skip
    """One more difference at a node of a context, in place; none if nothing fits."""
    level, node = where
    free = np.zeros(draft.base.shape, dtype=bool)
    earlier = [node for node in draft.order if node < draft.context]
    free[np.ix_(earlier, draft.later)] = (both[0] == both[1])[np.ix_(earlier, draft.later)]
    within = np.zeros_like(free)
    within[np.ix_(draft.later, draft.later)] = True
    for _ in range(TRIES):
        law = _effects(generator, 1).tolist()
        what = int(generator.integers(4))
        if what == 3:
            shifts[level, node] += law[0]
            return
        edit, may = ((remove_parent, free), (add_parent, free), (flip_parent, free & within))[what]
        edited = edit(both[level], may, node, law, generator)
        if edited is not None and is_acyclic(edited != 0):
            both[level] = edited
            return


def _spread(base: Floats, node: int) -> float:
    """The standard deviation of what the causes of a node say, with noises of variance 1."""
    total = np.linalg.inv(np.eye(len(base)) - base)
    return float(np.linalg.norm(total @ base[:, node]))
