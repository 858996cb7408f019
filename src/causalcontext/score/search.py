"""Which search is run, from how many starts, by how many threads; and the rivals of what it finds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.orders.node_data import Memory
from causalcontext.kernels.orders.partitions import MOST_CONTEXTS_EXACT
from causalcontext.progress import Advance
from causalcontext.score.exact_search import check_size, is_quick, score_everything
from causalcontext.score.merging import Merger, Tree
from causalcontext.score.model import FittedModel
from causalcontext.score.order_search import Climber, Clock, Rivals, lattice, random_order
from causalcontext.score.problem import Layout, Workshop

Ints = NDArray[np.int64]

Rival = Callable[[int, int, float], FittedModel | None]
"""`rival(cause, effect, floor)`: the best model without that link, None if it scores at most `floor`."""
MOST_ROUNDS = 4
"""How often merge trees are grown anew."""


@dataclass(frozen=True, eq=False)
class Found:
    """The models of all starts, best first.

    `complete` is False if Ctrl-C or the time limit cut the search short; `rivals` makes the function that finds rivals
    of a model.
    """

    models: tuple[FittedModel, ...]
    search: str
    complete: bool
    interrupted: bool
    rivals: Callable[[FittedModel], Rival]

    @property
    def best(self) -> FittedModel:
        """The model with the highest score."""
        return self.models[0]


@dataclass(frozen=True)
class Effort:
    """How hard to search: the random seed, threads, whom to tell, and when to stop."""

    seed: int
    n_jobs: int
    advance: Advance
    clock: Clock


def search(workshop: Workshop, curves: bool, effort: Effort, orders: Sequence[Ints] = ()) -> Found:
    """The best model that can be found, with curves or without; `orders` are further places to start from."""
    wanted = workshop.options.search
    if wanted == "exact":
        check_size(workshop.setup)
    if wanted == "exact" or (wanted == "auto" and workshop.options.starts is None and is_quick(workshop.setup)):
        return _search_exactly(workshop, curves, effort)
    return _Orders(workshop, curves, effort, orders).search()


def _search_exactly(workshop: Workshop, curves: bool, effort: Effort) -> Found:
    layout = workshop.lattice(curves)
    scores = score_everything(layout, workshop.memory(layout))
    effort.advance(-1, 1, 1)
    return Found((scores.best_model(),), "exact", True, False, lambda model: scores.without)


class _Orders:
    """Climbs from several orders."""

    def __init__(self, workshop: Workshop, curves: bool, effort: Effort, orders: Sequence[Ints]) -> None:
        self._workshop, self._curves, self._effort, self._given = workshop, curves, effort, orders
        many = workshop.setup.contexts > MOST_CONTEXTS_EXACT
        self._layout = None if many else workshop.lattice(curves)
        self._local = threading.local()

    def search(self) -> Found:
        """Models from all starts. The same for any number of threads."""
        found: list[FittedModel] = []
        complete, interrupted = True, False
        total = self._workshop.options.number_of_starts(self._workshop.setup, self._curves) + len(self._given)
        try:
            for done, (model, finished) in enumerate(self._runs(total), 1):
                complete &= finished
                if model is not None:
                    found.append(model)
                self._effort.advance(-1, done, total)
        except KeyboardInterrupt:
            complete, interrupted = False, True
            if not found:
                raise
        found.sort(key=lambda model: -model.score)
        return Found(tuple(found), "order", complete, interrupted, self._rivals)

    def _runs(self, total: int) -> Iterator[tuple[FittedModel | None, bool]]:
        """The outcome of every start, in order."""
        jobs = min(self._effort.n_jobs, total)
        if jobs == 1:
            for start in range(total):
                yield self._run(start)
            return
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=jobs, prefer="threads", return_as="generator")
        yield from parallel(delayed(self._run)(start) for start in range(total))

    def _run(self, start: int) -> tuple[FittedModel | None, bool]:
        """One climb; None if the time was up before it began (the first one always begins)."""
        if start > 0 and self._effort.clock.late:
            return None, False
        generator = np.random.default_rng([self._effort.seed % 2**32, start])
        given = start < len(self._given)
        order = self._given[start] if given else random_order(self._workshop.setup, generator)
        if self._layout is None:
            return self._climb_trees(order, generator)
        return self._climber(self._layout).from_order(order, generator)

    def _memory(self, layout: Layout) -> Memory:
        """The memory of this thread."""
        if not hasattr(self._local, "memory"):
            main = threading.current_thread() is threading.main_thread()
            self._local.memory = self._workshop.memory(layout) if main else layout.memory()
        memory: Memory = self._local.memory
        return memory

    def _climber(self, layout: Layout) -> Climber:
        return Climber(layout, lattice(layout), self._memory(layout), self._effort.clock)

    def _climb_trees(self, order: Ints, generator: np.random.Generator) -> tuple[FittedModel, bool]:
        """A climb with merge trees, which are grown anew when it has ended."""
        merger = Merger(self._workshop, self._curves, self._memory(self._workshop.layout([1], self._curves)))
        trees: list[Tree] = merger.trees(None)
        best: FittedModel | None = None
        finished = True
        for _ in range(MOST_ROUNDS):
            layout, family = merger.layout(trees)
            climber = Climber(layout, family, self._memory(layout), self._effort.clock)
            model, finished = climber.from_order(order, generator)
            if best is None or model.score > best.score + 1e-6:
                best = model
            new = merger.better(trees, model.orders)
            if new == trees or not finished:
                break
            trees, order = new, model.orders[0]
        assert best is not None
        return best, finished

    def _rivals(self, model: FittedModel) -> Rival:
        if self._layout is not None:
            return Rivals(self._climber(model.layout), model).without
        merger = Merger(self._workshop, self._curves, self._memory(model.layout))
        layout, family = merger.layout(merger.better(merger.trees(None), model.orders))
        climber = Climber(layout, family, self._memory(layout), self._effort.clock)
        return Rivals(climber, model).without
