"""The order search: insertion moves from random starts, first one order for all contexts, then one for each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.orders.context_parents import Memory, no_memory
from causalcontext.kernels.orders.order_moves import climb
from causalcontext.kernels.orders.order_state import State, refit
from causalcontext.kernels.orders.partitions import MOST_CONTEXTS_EXACT
from causalcontext.progress import Advance
from causalcontext.score.merging import Merger, Tree, better_trees, tree_layout
from causalcontext.score.model import FittedModel, read_model
from causalcontext.score.options import ScoreOptions
from causalcontext.score.problem import Layout, lattice_layout, make_state
from causalcontext.score.setup import Setup

Ints = NDArray[np.int64]

MOST_SWEEPS = 40
FEW_VARIABLES = 60
"""Up to so many variables a whole climb is one call; beyond, the clock is looked at after every sweep."""


@dataclass(frozen=True, eq=False)
class Searched:
    """The models of all starts, best first; `complete` is False if Ctrl-C or the time limit cut the search short."""

    models: tuple[FittedModel, ...]
    complete: bool
    interrupted: bool = False


def search_orders(setup: Setup, options: ScoreOptions, seed: int, n_jobs: int, advance: Advance) -> Searched:
    """Models from several random starts. The same for any number of threads."""
    starts = options.number_of_starts(setup.variables)
    deadline = None if options.time_limit is None else time.monotonic() + options.time_limit
    layout = lattice_layout(setup, options) if setup.contexts <= MOST_CONTEXTS_EXACT else None
    jobs = min(n_jobs, starts)
    found: list[FittedModel] = []
    complete, interrupted = True, False
    try:
        for done, (model, finished) in enumerate(_runs(setup, options, layout, seed, starts, jobs, deadline), 1):
            complete &= finished
            if model is not None:
                found.append(model)
            advance(-1, done, starts)
    except KeyboardInterrupt:
        complete, interrupted = False, True
        if not found:
            raise
    found.sort(key=lambda model: -model.score)
    return Searched(tuple(found), complete, interrupted)


def _runs(setup: Setup, options: ScoreOptions, layout: Layout | None, seed: int, starts: int, jobs: int,
          deadline: float | None) -> Iterator[tuple[FittedModel | None, bool]]:  # fmt: skip
    """The outcome of every start, in order."""
    if jobs == 1:
        memory = no_memory()
        for start in range(starts):
            yield _run_start(setup, options, layout, seed, start, deadline, memory)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")
    yield from parallel(
        delayed(_run_start)(setup, options, layout, seed, start, deadline, no_memory()) for start in range(starts)
    )


def _run_start(setup: Setup, options: ScoreOptions, layout: Layout | None, seed: int, start: int,
               deadline: float | None, memory: Memory) -> tuple[FittedModel | None, bool]:  # fmt: skip
    """One climb from a random order; None if the time was up before it began (the first one always begins)."""
    if start > 0 and _late(deadline):
        return None, False
    generator = np.random.default_rng([seed % 2**32, start])
    order = random_order(setup, generator)
    if layout is None:
        return _climb_trees(setup, options, order, generator, deadline, memory)
    state = make_state(setup, layout, np.tile(order, (setup.contexts, 1)), True, memory)
    finished, score = _climb(layout, state, _visits(setup, generator), True, deadline)
    if setup.contexts > 1:
        state = make_state(setup, layout, np.tile(state.orders[0], (setup.contexts, 1)), False, memory)
        in_time, score = _climb(layout, state, _visits(setup, generator), False, deadline)
        finished = finished and in_time
    return read_model(setup, layout, state, score), finished


def layout_of(setup: Setup, options: ScoreOptions, model: FittedModel) -> Layout:
    """A layout in which the blocks of a model can be scored again."""
    if setup.contexts <= MOST_CONTEXTS_EXACT:
        return lattice_layout(setup, options)
    merger = Merger(setup, options)
    place = np.argsort(model.orders, axis=1)
    return tree_layout(merger, [merger.tree(node, place) for node in range(setup.variables)])


def _climb(layout: Layout, state: State, visits: Ints, shared: bool, deadline: float | None) -> tuple[bool, float]:
    """Sweep until nothing moves; False if the time was up first, and the score reached."""
    if visits.shape[1] <= FEW_VARIABLES:
        few = visits[: 1 if _late(deadline) else None]
        return not _late(deadline), climb(layout.problem, state, few, shared)[1]
    score = 0.0
    for turn in range(len(visits)):
        gain, score = climb(layout.problem, state, visits[turn : turn + 1], shared)
        if gain <= 0.0:
            return True, score
        if _late(deadline):
            return False, score
    return True, score


def _climb_trees(setup: Setup, options: ScoreOptions, order: Ints, generator: np.random.Generator,
                 deadline: float | None, memory: Memory) -> tuple[FittedModel, bool]:  # fmt: skip
    """The same with merge trees, which are grown anew between sweeps."""
    merger = Merger(setup, options)
    orders = np.tile(order, (setup.contexts, 1))
    trees: list[Tree] = [merger.tree(node, None) for node in range(setup.variables)]
    finished = True
    for shared in (True, False):
        for visits in _visits(setup, generator):
            layout = tree_layout(merger, trees)
            state = make_state(setup, layout, orders, shared, memory)
            refit(layout.problem, state)
            new = better_trees(merger, layout, trees, state, shared)
            if new != trees:
                trees, layout = new, tree_layout(merger, new)
                state = make_state(setup, layout, orders, shared, memory)
            gain, _ = climb(layout.problem, state, visits[None], shared)
            orders = np.tile(state.orders[0], (setup.contexts, 1)) if shared else state.orders
            if gain <= 0.0:
                break
            if _late(deadline):
                finished = False
                break
    layout = tree_layout(merger, trees)
    state = make_state(setup, layout, orders, False, memory)
    return read_model(setup, layout, state, refit(layout.problem, state)), finished


def random_order(setup: Setup, generator: np.random.Generator) -> Ints:
    """A random order of all variables and the context that keeps what must come first."""
    if setup.contexts == 1:
        inner = random_extension(setup.first[:-1, :-1], generator)
        return np.concatenate([[setup.variables], inner])
    return random_extension(setup.first, generator)


def random_extension(first: NDArray[np.bool_], generator: np.random.Generator) -> Ints:
    """A random order in which a comes before b wherever `first[a, b]`."""
    preferred = generator.permutation(len(first))
    if not first.any():
        return preferred.astype(np.int64)
    order: list[int] = []
    waiting = preferred.tolist()
    missing = first.sum(axis=0)
    while waiting:
        node = next(v for v in waiting if missing[v] == 0)
        waiting.remove(node)
        order.append(node)
        missing = missing - first[node]
    return np.array(order, dtype=np.int64)


def _visits(setup: Setup, generator: np.random.Generator) -> Ints:
    """In which sequence the nodes are visited, sweep by sweep."""
    return generator.permuted(np.tile(np.arange(setup.variables), (MOST_SWEEPS, 1)), axis=1)


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
