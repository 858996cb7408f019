"""Which search is run, from how many starts, by how many threads; and the rivals of what it finds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.orders.partitions import MOST_CONTEXTS_EXACT, Partitions
from causalcontext.progress import Advance
from causalcontext.score.clock import Clock
from causalcontext.score.exact_search import check_size, is_quick, score_everything
from causalcontext.score.layout import Desk, Layout
from causalcontext.score.merging import Merger, Tree
from causalcontext.score.model import FittedModel
from causalcontext.score.options import MANY_CONTEXTS
from causalcontext.score.order_search import Climber, Rivals, lattice, random_order
from causalcontext.score.problem import Workshop

Ints = NDArray[np.int64]

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
class Found:
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


def search(workshop: Workshop, curves: bool, effort: Effort, orders: Sequence[Ints] = (),
           needed: float = -np.inf, sure: bool = True) -> Found:  # fmt: skip
    """The best model that can be found, with curves or without; `orders` are further places to start from.

    If the climb from the first of them ends below `needed`, there are no others. Nor is there an exact search that
    nobody asked for, if it ends far below, and nobody is `sure` that the search will pay.
    """
    wanted = workshop.options.search
    if wanted == "exact":
        check_size(workshop.setup)
        return _search_exactly(workshop, curves, effort)
    if (
        wanted == "auto"
        and workshop.options.starts is None
        and is_quick(workshop.setup.contexts, workshop.setup.variables)
    ):
        first = None if sure else _Orders(workshop, curves, effort, orders, 0).search(-np.inf)
        if first is not None and first.best.score < needed - FAR_BELOW:
            return first
        return _search_exactly(workshop, curves, effort)
    return _Orders(workshop, curves, effort, orders, None).search(needed)


def _search_exactly(workshop: Workshop, curves: bool, effort: Effort) -> Found:
    layout = workshop.lattice(curves)
    scores = score_everything(layout, workshop.memory(layout))
    effort.advance(-1, 1, 1)
    return Found((scores.best_model(),), "exact", lambda model: scores.without)


def best_first(models: Sequence[FittedModel]) -> list[FittedModel]:
    """Models by score; of those that are best but for rounding the first one leads."""
    best = max(model.score for model in models)
    leader = next(model for model in models if model.score > best - EQUAL)
    return [leader, *sorted((model for model in models if model is not leader), key=lambda model: -model.score)]


class _Orders:
    """Climbs from several orders; `random` ones as many as the options say, unless a number is given."""

    def __init__(self, workshop: Workshop, curves: bool, effort: Effort, orders: Sequence[Ints],
                 random: int | None) -> None:  # fmt: skip
        self._workshop, self._curves, self._effort, self._given = workshop, curves, effort, orders
        many = workshop.setup.contexts > MOST_CONTEXTS_EXACT
        self._layout = None if many else workshop.lattice(curves)
        starts = workshop.options.number_of_starts(workshop.setup, curves) if random is None else random
        self._total = starts + len(orders)
        self._jobs = min(effort.n_jobs, self._total)
        self._desks: list[Desk] = []

    def search(self, needed: float) -> Found:
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
        return Found(tuple(best_first(found)), "order", self._rivals)

    def _confirmed(self, found: Sequence[FittedModel]) -> bool:
        """Whether the best model was found twice, which is enough where a climb takes seconds."""
        options, setup = self._workshop.options, self._workshop.setup
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
        desk = self._desks.pop() if self._desks else self._new_desk()
        try:
            return self._climb(start, desk)
        finally:
            self._desks.append(desk)

    def _new_desk(self) -> Desk:
        """One with the memory of the workshop, or with its own where several climbs go on at the same time."""
        layout = self._layout or self._workshop.layout([1], self._curves)
        return layout.desk(self._workshop.memory(layout) if self._jobs == 1 else layout.memory())

    def _climb(self, start: int, desk: Desk) -> FittedModel:
        generator = np.random.default_rng([self._effort.seed % 2**32, start])
        given = start < len(self._given)
        order = self._given[start] if given else random_order(self._workshop.setup, generator)
        if self._layout is None:
            return self._climb_trees(order, generator, desk)
        return self._climber(self._layout, lattice(self._layout), desk).from_order(order, generator)

    def _climber(self, layout: Layout, family: Partitions, desk: Desk) -> Climber:
        return Climber(layout, family, desk, self._effort.clock)

    def _climb_trees(self, order: Ints, generator: np.random.Generator, desk: Desk) -> FittedModel:
        """A climb with merge trees, which are grown anew when it has ended."""
        merger = Merger(self._workshop, self._curves, desk.memory)
        trees: list[Tree] = merger.trees(None)
        best: FittedModel | None = None
        for _ in range(MOST_ROUNDS):
            model = self._climber(*merger.layout(trees), desk).from_order(order, generator)
            if best is None or model.score > best.score + 1e-6:
                best = model
            new = trees if self._effort.clock.late else merger.better(trees, model.orders)
            if new == trees:
                break
            trees, order = new, model.orders[0]
        assert best is not None
        return best

    def _rivals(self, model: FittedModel) -> Rival:
        clock, desk = self._effort.clock, self._desks[0] if self._desks else self._new_desk()
        layout, family = model.layout, lattice(model.layout) if self._layout is not None else None
        if family is None:
            merger = Merger(self._workshop, self._curves, desk.memory)
            layout, family = merger.layout(merger.better(merger.trees(None), model.orders))
        rivals = clock.result(clock.start(lambda: Rivals(self._climber(layout, family, desk), model)))
        return lambda *link: clock.result(clock.start(partial(rivals.without, *link)))
