"""Which search is run, from how many starts, by how many threads; and the rivals of what it finds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

import numpy as np

from causalcontext.kernels.arrays import Ints
from causalcontext.kernels.orders.partitions import MOST_CONTEXTS_EXACT, ContextPartitions
from causalcontext.progress import Advance
from causalcontext.score.clock import Clock
from causalcontext.score.design import FitCache, ScoreDesign
from causalcontext.score.design_factory import DesignFactory
from causalcontext.score.exact_search import check_size, is_quick, score_everything
from causalcontext.score.merging import Merger, Tree
from causalcontext.score.model import FittedModel
from causalcontext.score.options import MANY_CONTEXTS
from causalcontext.score.order_search import Climber, Rivals, lattice, random_order

Rival = Callable[[int, int, float], FittedModel | None]
"""`rival(cause, effect, floor)`: the best model without that link, None if it scores at most `floor`."""
SAME_SCORE = 1e-3
"""Models whose scores differ by less count as equally good."""
FAR_BELOW = 10.0
"""A climb from a good order hardly ever ends so far below the exact optimum where that is about to be enough."""
EQUAL = 1e-6
"""Models whose scores differ by less are the same but for rounding."""
MOST_ROUNDS = 4
"""How often merge trees are grown anew."""


@dataclass(frozen=True, eq=False)
class FoundModels:
    """The models of all starts, best first; `rivals` makes the function that finds rivals of a model."""

    models: tuple[FittedModel, ...]
    search: str
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


def search(designs: DesignFactory, curves: bool, effort: Effort, orders: Sequence[Ints] = (),
           needed: float = -np.inf, sure: bool = True) -> FoundModels:  # fmt: skip
    """The best model that can be found, with curves or without; `orders` are further places to start from.

    If the climb from the first of them ends below `needed`, there are no others. Nor is there an exact search that
    nobody asked for, if it ends far below, and nobody is `sure` that the search will pay.
    """
    wanted = designs.options.search
    if wanted == "exact":
        check_size(designs.setup)
        return _search_exactly(designs, curves, effort)
    if (
        wanted == "auto"
        and designs.options.starts is None
        and is_quick(designs.setup.contexts, designs.setup.variables)
    ):
        first = None if sure else _Orders(designs, curves, effort, orders, 0).search(-np.inf)
        if first is not None and first.best.score < needed - FAR_BELOW:
            return first
        return _search_exactly(designs, curves, effort)
    return _Orders(designs, curves, effort, orders, None).search(needed)


def _search_exactly(designs: DesignFactory, curves: bool, effort: Effort) -> FoundModels:
    layout = designs.lattice(curves)
    scores = score_everything(layout, designs.memory(layout))
    effort.advance(-1, 1, 1)
    return FoundModels((scores.best_model(),), "exact", lambda model: scores.without)


def best_first(models: Sequence[FittedModel]) -> list[FittedModel]:
    """Models by score; of those that are best but for rounding the first one leads."""
    best = max(model.score for model in models)
    leader = next(model for model in models if model.score > best - EQUAL)
    return [leader, *sorted((model for model in models if model is not leader), key=lambda model: -model.score)]


class _Orders:
    """Climbs from several orders; `random` ones as many as the options say, unless a number is given."""

    def __init__(self, designs: DesignFactory, curves: bool, effort: Effort, orders: Sequence[Ints],
                 random: int | None) -> None:  # fmt: skip
        self._designs, self._curves, self._effort, self._given = designs, curves, effort, orders
        many = designs.setup.contexts > MOST_CONTEXTS_EXACT
        self._layout = None if many else designs.lattice(curves)
        starts = designs.options.number_of_starts(designs.setup, curves) if random is None else random
        self._total = starts + len(orders)
        self._jobs = min(effort.n_jobs, self._total)
        self._caches: list[FitCache] = []

    def search(self, needed: float) -> FoundModels:
        """Models from all starts, unless the first ends below `needed`. The same for any number of threads."""
        found: list[FittedModel] = []
        clock = self._effort.clock
        try:
            for done, model in enumerate(self._runs(), 1):
                found.append(model)
                self._effort.advance(-1, done, self._total)
                if clock.skips("starts") or found[0].score < needed or self._confirmed(found):
                    break
        except KeyboardInterrupt:
            clock.interrupt()
            clock.skips("starts")
            if not found:
                raise
        return FoundModels(tuple(best_first(found)), "order", self._rivals)

    def _confirmed(self, found: Sequence[FittedModel]) -> bool:
        """Whether the best model was found twice, which is enough where a climb takes seconds."""
        options, setup = self._designs.options, self._designs.setup
        best = max(model.score for model in found)
        many = setup.contexts >= MANY_CONTEXTS and options.starts is None
        return many and sum(model.score > best - SAME_SCORE for model in found) > 1

    def _runs(self) -> Iterator[FittedModel]:
        """The outcome of every start, in order, some of them at the same time."""
        clock, waiting = self._effort.clock, deque[Future[FittedModel]]()
        for start in range(self._total + self._jobs):
            if start < self._total:
                waiting.append(clock.start(partial(self._run, start)))
            if start >= self._jobs - 1 and waiting:
                yield clock.result(waiting.popleft())

    def _run(self, start: int) -> FittedModel:
        """One climb, as far as the time allows."""
        cache = self._caches.pop() if self._caches else self._new_cache()
        try:
            return self._climb(start, cache)
        finally:
            self._caches.append(cache)

    def _new_cache(self) -> FitCache:
        """One with the memory of the design factory, or with its own where several climbs go on at the same time."""
        layout = self._layout or self._designs.layout([1], self._curves)
        return layout.cache(self._designs.memory(layout) if self._jobs == 1 else layout.memory())

    def _climb(self, start: int, cache: FitCache) -> FittedModel:
        generator = np.random.default_rng([self._effort.seed % 2**32, start])
        given = start < len(self._given)
        order = self._given[start] if given else random_order(self._designs.setup, generator)
        if self._layout is None:
            return self._climb_trees(order, generator, cache)
        return self._climber(self._layout, lattice(self._layout), cache).from_order(order, generator)

    def _climber(self, layout: ScoreDesign, family: ContextPartitions, cache: FitCache) -> Climber:
        return Climber(layout, family, cache, self._effort.clock)

    def _climb_trees(self, order: Ints, generator: np.random.Generator, cache: FitCache) -> FittedModel:
        """A climb with merge trees, which are grown anew when it has ended."""
        merger = Merger(self._designs, self._curves, cache.memory)
        trees: list[Tree] = merger.trees(None)
        best: FittedModel | None = None
        for _ in range(MOST_ROUNDS):
            model = self._climber(*merger.layout(trees), cache).from_order(order, generator)
            if best is None or model.score > best.score + 1e-6:
                best = model
            new = trees if self._effort.clock.late else merger.better(trees, model.orders)
            if new == trees:
                break
            trees, order = new, model.orders[0]
        assert best is not None
        return best

    def _rivals(self, model: FittedModel) -> Rival:
        clock, cache = self._effort.clock, self._caches[0] if self._caches else self._new_cache()
        layout, family = model.layout, lattice(model.layout) if self._layout is not None else None
        if family is None:
            merger = Merger(self._designs, self._curves, cache.memory)
            layout, family = merger.layout(merger.better(merger.trees(None), model.orders))
        rivals = clock.result(clock.start(lambda: Rivals(self._climber(layout, family, cache), model)))
        return lambda *link: clock.result(clock.start(partial(rivals.without, *link)))
