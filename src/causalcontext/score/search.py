"""The search: the exact optimum of a small problem, or climbs from several orders; and rivals of
what it finds.

A climb moves nodes in one order for all contexts first, then in one order for each.

Exact are the orders; what a node takes from its candidates is the greedy choice, or the best one of
any subset of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.graphs.paths import causal_order
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.exact_orders import (
    best_path,
    best_prefixes,
    best_suffixes,
    fill_scores,
)
from causalcontext.kernels.orders.order_moves import NOW, OrderProblem, State, climb
from causalcontext.kernels.orders.slots import (
    MOST_CELLS_EXACT,
    NodeSlots,
    chosen_slots,
    readers_in_reach,
)
from causalcontext.progress import Advance, Count
from causalcontext.score.data import members
from causalcontext.score.design import POOLED, ScoreDesign
from causalcontext.score.lines import line_order, outsiders, screen
from causalcontext.score.merging import Merger, lattice, without_reader
from causalcontext.score.model import FittedModel, Part, part_of
from causalcontext.score.options import MANY_CONTEXTS, Clock
from causalcontext.score.workspace import FitWorkspace

LARGEST = 20
"""The most (system variables times contexts): the search keeps 2 to this power states."""
QUICK = 14
"""Up to so many it takes less time than climbs from random starts."""


def is_quick(orders: int, variables: int, contexts: int) -> bool:
    """True if the exact search, with so many orders, system variables and context variables, is the
    quicker one.
    """
    return _size(orders, variables, contexts) <= QUICK


def _size(orders: int, variables: int, contexts: int) -> float:
    """The search keeps 2 to this power states; somewhat less than that where many cells share one
    order.
    """
    if orders == 1:
        return variables + 2 * contexts
    return orders * variables if orders <= MOST_CELLS_EXACT else inf


def all_scores(
    workspace: FitWorkspace,
    slots: NodeSlots,
    stop: Callable[[], bool] = lambda: False,
    advance: Count = lambda done, total: None,
) -> tuple[Floats, Ints, Ints] | None:
    """The best scores of all nodes in all slots with candidates inside every set, and the columns
    that they take.

    None if it was told to stop, which it asks slot by slot and node by node; `advance` is told how
    many of these are done.

    Returns
    -------
    best, found : arrays, shape (slots, nodes, sets)
        Scores, and rows of `pool`.
    pool : array of int, shape (rows, 1 + W)
        A number of columns, and the columns.
    """
    nodes, count = slots.block.shape
    best = np.full((count, nodes, 1 << nodes), -np.inf)
    found = np.zeros(best.shape, dtype=np.int64)
    pool = np.zeros((1 + (8 << nodes), 1 + workspace.width), dtype=np.int64)
    # of one layout for the kernel
    tasks = np.ascontiguousarray(np.argwhere(slots.may[:, 1 + slots.owner].T))
    done = 0
    while done < len(tasks):
        if stop():
            return None
        advance(done, len(tasks))
        if len(pool) - pool[0, 0] <= best.shape[2]:
            pool = np.concatenate([pool, np.zeros_like(pool)])
        done += fill_scores(
            workspace.compiled,
            slots.block,
            tasks[done : done + 1],
            workspace.design.allowed,
            pool,
            best,
            found,
        )
    return best, found, pool


class ExactScores:
    """The scores of all nodes with all sets of candidates, in all slots.

    Only one kind of model is left out: union cycles through two or more pooled nodes, which have
    the same mechanism in all contexts but would stand in opposite orders. `is_cut`: it was told to
    stop before all scores were there, and cannot be asked.
    """

    def __init__(
        self, design: ScoreDesign, curves: bool, stop: Callable[[], bool] = lambda: False
    ) -> None:
        self._design = design
        self._slots = lattice(design)
        self._orders = design.data.orders
        self._system = design.data.responses
        scores = all_scores(FitWorkspace(design, curves), self._slots, stop)
        self.is_cut = scores is None
        if scores is None:
            return
        self._best, self._found, self._pool = scores
        self._pool[0, 0] = 0
        common = {
            *design.needs[design.needs >= 0].tolist(),
            *range(self._system, design.data.nodes),
        }
        self._needed = sum(1 << int(node) for node in common)
        self._masks = [design.key(block)[1] for block in self._slots.block[0].tolist()]
        self._ahead = np.empty(0)
        self._parts: dict[tuple[int, int, int], Part] = {}
        if self._orders > 1:
            self._cells = np.array(self._masks, dtype=np.int64)
            self._ahead = best_suffixes(
                self._best, self._slots, self._cells, self._orders, self._system
            )

    def best_model(self) -> FittedModel:
        """The model with the highest score."""
        model = self._model(0, -1, -np.inf, self._slots)
        assert model is not None
        return model

    def without(self, cause: int, effect: int, floor: float) -> FittedModel | None:
        """The best model in which one does not cause the other, in any context; None if it scores
        at most `floor`.
        """
        slots = (
            self._slots
            if self._design.allowed[effect, cause]
            else without_reader(self._slots, cause, effect)
        )
        return self._model(cause, effect, floor, slots)

    def _model(self, cause: int, effect: int, floor: float, slots: NodeSlots) -> FittedModel | None:
        """The best model without one link."""
        k = self._orders
        p = self._system
        nodes = self._design.data.nodes
        prefix, last = best_prefixes(self._best, slots, self._needed, k > 1, cause, effect)
        orders: list[list[int]] = [[] for _ in range(k)]
        parts: list[list[Part]] = [[] for _ in range(nodes)]
        score = float(prefix[-1])
        chosen = (1 << nodes) - 1
        if k > 1:
            contexts = (1 << nodes) - (1 << p)
            entry = prefix[np.arange(1 << p) | contexts]
            entry[self._needed & ~(np.arange(1 << p) | contexts) != 0] = -np.inf
            score, earlier, step = best_path(
                self._best, slots, self._cells, k, p, entry, self._ahead, floor, cause, effect
            )
        if not score > floor:
            return None
        if k > 1:
            state = (1 << (k * p)) - 1
            while earlier[state] >= 0:
                node, slot = divmod(int(step[state]), len(self._masks))
                state = int(earlier[state])
                inside = (1 << p) - 1
                for r in members(self._masks[slot], k):
                    inside &= state >> (r * p)
                    orders[r].insert(0, node)
                inside = (inside | contexts) & ~(1 << cause if node == effect else 0)
                parts[node].append(self._part(slot, node, inside))
            chosen = state & ((1 << p) - 1) | contexts
        start: list[int] = []
        while chosen:
            node = int(last[chosen])
            chosen ^= 1 << node
            start.insert(0, node)
            inside = chosen & ~(1 << cause if node == effect else 0)
            usable = np.array(
                [
                    all(need < 0 or chosen >> need & 1 for need in needs)
                    for needs in slots.needs.tolist()
                ],
                dtype=bool,
            )
            for slot in chosen_slots(slots, node, self._best[:, node, inside], usable):
                parts[node].append(self._part(slot, node, inside))
        return FittedModel(
            float(score),
            np.array([[*start, *order] for order in orders], dtype=np.int64),
            tuple(map(tuple, parts)),
            self._design,
        )

    def _part(self, slot: int, node: int, inside: int) -> Part:
        """A regression, made once: most models share most of theirs."""
        key = slot, node, int(self._found[slot, node, inside])
        if key not in self._parts:
            columns = self._pool[key[2]]
            block = int(self._slots.block[node, slot])
            self._parts[key] = part_of(block, self._masks[slot], columns[1 : 1 + columns[0]].copy())
        return self._parts[key]


Rival = Callable[[int, int, float], FittedModel | None]
"""`rival(cause, effect, floor)`: the best model without that link, None if it scores at most
`floor`.
"""
SAME_SCORE = 1e-3
"""Models whose scores differ by less count as equally good."""
FAR_BELOW = 10.0
"""A climb from a good order hardly ever ends so far below the exact optimum where that is about to
be enough.
"""
EQUAL = 1e-6
"""Models whose scores differ by less are the same but for rounding."""
MOST_ROUNDS = 4
"""How often merge trees are grown anew."""
MOST_SWEEPS = 40
REACH = 15.0
"""The neighbours of a link are moved too if turning it costs less than this, in nats."""
NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FoundModels:
    """The models of all starts, best first; `rivals` makes the function that finds rivals of a
    model.
    """

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


def search(
    design: ScoreDesign,
    curves: bool,
    effort: Effort,
    orders: Sequence[Ints] = (),
    needed: float = -np.inf,
    sure: bool = True,
) -> FoundModels:
    """The best model that can be found, with curves or without; `orders` are further places to
    start from.

    If the climb from the first of them ends below `needed`, there are no others. If it ends far
    below, and it is not `sure` that the search pays, an exact search is run only where the options
    ask for one. Where the spread of noise may be uneven, a climb takes seconds: without options
    there is only the one from the first order. With a time limit there is a climb before an exact
    search, too, which may not end in time.
    """
    options = design.options
    data = design.data
    clock = effort.clock
    size = data.orders, data.responses, data.nodes - data.responses
    free = options.search == "auto" and options.starts is None
    if free and design.scales and not sure:
        return OrderSearch(design, curves, effort, orders, 0).search(-np.inf)
    if options.search == "exact":
        if _size(*size) > LARGEST:
            raise OptionError(
                f"search='exact' with {size[1]} system variables and {size[0]} contexts is too"
                f" large, expected at most {LARGEST} variables times contexts and"
                f" {MOST_CELLS_EXACT} contexts; use search='order'"
            )
    elif not (free and is_quick(*size)):
        starts = options.number_of_starts(data.responses, data.contexts, curves)
        if not orders:
            order, causes = clock.result(
                clock.start(partial(line_order, design, effort.seed, clock))
            )
            is_screened = not curves and screen(design, causes)
            found = OrderSearch(design, curves, effort, [order], starts - 1, True).search(needed)
            return _with_outsiders(design, found, effort) if is_screened else found
        return OrderSearch(design, curves, effort, orders, starts).search(needed)
    first = None
    if clock.is_limited or not (sure or options.search == "exact"):
        first = OrderSearch(design, curves, effort, orders, 0 if orders else 1).search(-np.inf)
        if first.best.score < needed - FAR_BELOW and not (sure or options.search == "exact"):
            return first
    scores = ExactScores(design, curves, lambda: first is not None and clock.late)
    if first is not None and scores.is_cut:
        clock.skips("starts")
        return first
    effort.advance(-1, 1, 1)
    return FoundModels((scores.best_model(),), "exact", lambda model: scores.without)


def _with_outsiders(design: ScoreDesign, found: FoundModels, effort: Effort) -> FoundModels:
    """The models of a search among few candidates, after those that were no candidates are some
    where that pays.
    """
    for _ in range(MOST_ROUNDS):
        more = outsiders(found.best)
        if effort.clock.late or not more.any():
            break
        design.narrow(design.near | more)
        again = OrderSearch(design, False, effort, [found.best.orders[0]], 0).search(-np.inf)
        if again.best.score <= found.best.score + EQUAL:
            break
        models = tuple(best_first([*again.models, *found.models]))
        found = FoundModels(models, found.search, again.rivals)
    return found


def best_first(models: Sequence[FittedModel]) -> list[FittedModel]:
    """Models by score; of those that are best but for rounding the first one leads."""
    best = max(model.score for model in models)
    leader = next(model for model in models if model.score > best - EQUAL)
    return [
        leader,
        *sorted((model for model in models if model is not leader), key=lambda model: -model.score),
    ]


class OrderSearch:
    """Climbs from given orders and from random ones, some of them at the same time.

    Of equally good models that of the first climb leads: given orders come first, unless they come
    `last`.
    """

    def __init__(
        self,
        design: ScoreDesign,
        curves: bool,
        effort: Effort,
        orders: Sequence[Ints],
        random: int,
        last: bool = False,
    ) -> None:
        self._design = design
        self._curves = curves
        self._effort = effort
        self._given = orders
        is_tree = len(design.data.readers) == 1 and design.data.contexts > MOST_CELLS_EXACT
        self._slots = None if is_tree else lattice(design)
        self._first_given = random if last else 0
        self._total = random + len(orders)
        self._jobs = min(effort.n_jobs, self._total)
        self._workspaces: list[FitWorkspace] = []

    def search(self, needed: float) -> FoundModels:
        """Models from all starts, unless the first ends below `needed`. The same for any number of
        threads.
        """
        found: list[FittedModel] = []
        clock = self._effort.clock
        # where a climb takes seconds it is enough to find the best model twice
        twice = self._design.data.contexts >= MANY_CONTEXTS and self._design.options.starts is None
        try:
            for done, model in enumerate(self._models(), 1):
                found.append(model)
                self._effort.advance(-1, done, self._total)
                best = max(one.score for one in found) if twice else np.inf
                confirmed = sum(one.score > best - SAME_SCORE for one in found) > 1
                if clock.skips("starts") or found[0].score < needed or confirmed:
                    break
        except KeyboardInterrupt:
            clock.interrupt()
            clock.skips("starts")
            if not found:
                raise
        return FoundModels(tuple(best_first(found)), "order", self._rivals)

    def _models(self) -> Iterator[FittedModel]:
        """The outcome of every start, in order, some of them at the same time."""
        clock = self._effort.clock
        waiting = deque[Future[FittedModel]]()
        for start in range(self._total + self._jobs):
            if start < self._total:
                waiting.append(clock.start(partial(self._model, start)))
            if start >= self._jobs - 1 and waiting:
                yield clock.result(waiting.popleft())

    def _model(self, start: int) -> FittedModel:
        """Where the climb from one start ends, as far as the time allows."""
        generator = np.random.default_rng([self._effort.seed % 2**32, start])
        given = start - self._first_given
        order = (
            self._given[given]
            if 0 <= given < len(self._given)
            else random_order(self._design, generator)
        )
        workspace = self._workspaces.pop() if self._workspaces else self._new_workspace()
        try:
            if self._slots is not None:
                return climb_from(order, workspace, self._slots, generator, self._effort.clock)
            return self._climb_trees(order, workspace, generator)
        finally:
            self._workspaces.append(workspace)

    def _new_workspace(self) -> FitWorkspace:
        """One with the memory of the design, or with its own where several climbs go on at the same
        time.
        """
        design = self._design
        design.block(POOLED, design.everything)
        return FitWorkspace(
            design,
            self._curves,
            memory=None if self._jobs == 1 else design.new_memory(),
            keeps=True,
        )

    def _climb_trees(
        self, order: Ints, workspace: FitWorkspace, generator: np.random.Generator
    ) -> FittedModel:
        """A climb with merge trees, which are grown anew when it has ended."""
        clock = self._effort.clock
        merger = Merger(self._design, self._curves, workspace.memory, clock)
        trees = merger.trees()
        best = None
        for _ in range(MOST_ROUNDS):
            model = climb_from(order, workspace, merger.slots(trees), generator, clock)
            if best is None or model.score > best.score + EQUAL:
                best = model
            new = trees if clock.late else merger.better(trees, model.orders)
            if new == trees:
                break
            trees = new
            order = model.orders[0]
        assert best is not None
        return best

    def _rivals(self, model: FittedModel) -> Rival:
        clock = self._effort.clock
        workspace = self._workspaces[0] if self._workspaces else self._new_workspace()
        slots = self._slots
        if slots is None:
            merger = Merger(self._design, self._curves, workspace.memory, clock)
            slots = merger.slots(merger.better(merger.trees(), model.orders))
        return Rivals(model, workspace, slots, clock.flag).without


def climb_from(
    order: Ints,
    workspace: FitWorkspace,
    slots: NodeSlots,
    generator: np.random.Generator,
    clock: Clock,
) -> FittedModel:
    """The model at the end of a climb from one order, or where the clock ended it."""
    data = workspace.design.data
    for shared in (True, False) if data.orders > 1 else (True,):
        climber = Climber(workspace, slots, np.tile(order, (data.orders, 1)), shared, clock.flag)
        climber.fit(clock.overdue)
        _, score = climber.climb(sweeps(data.responses, data.nodes, generator))
        order = climber.orders[0]
        if shared and clock.flag[0]:  # what this climb has found would be fitted anew
            climber.orders[:] = order
            break
    return climber.model(score)


class Climber:
    """Where a climb stands: orders, and a workspace with the fits that belong to them.

    `orders`, shape (K, nodes), has one order per context; while they are `shared` all blocks look
    at the first.
    """

    def __init__(
        self, workspace: FitWorkspace, slots: NodeSlots, orders: Ints, shared: bool, stop: Ints
    ) -> None:
        self.design = workspace.design
        self.slots = slots.block.shape[1]
        self.shared = shared
        self.workspace = workspace.with_slots(2 * self.slots)
        arrays = self.workspace.arrays
        data = self.design.data
        uses = arrays.tables.groups >= 0
        if shared or data.orders == 1:
            uses = np.tile(np.arange(data.orders) == 0, (len(uses), 1))
        allowed = self.design.allowed & self.design.near
        self.problem = OrderProblem(slots, allowed, self.design.earlier)
        self.state = State(
            arrays.fits.scores,
            arrays.fits.matters,
            arrays.work.candidates,
            np.stack([orders, np.argsort(orders, axis=1)]).astype(np.int64),
            uses,
            np.zeros((2, data.nodes)),
            np.zeros(slots.block.shape, dtype=bool),
            np.zeros(data.nodes, dtype=bool),
            stop,
        )

    @property
    def orders(self) -> Ints:
        """The orders, shape (K, nodes)."""
        return np.asarray(self.state.orders[0])

    def climb(
        self,
        visits: Ints,
        stale: Ints = NOBODY,
        window: tuple[int, int] | None = None,
        problem: OrderProblem | None = None,
    ) -> tuple[float, float]:
        """Fit stale nodes, then climb until nothing moves or it is to stop: the last sweep's gain,
        the score.
        """
        ends = np.array(window or (0, self.orders.shape[1]), dtype=np.int64)
        gain, score = climb(
            self.workspace.compiled,
            problem or self.problem,
            self.state,
            stale,
            visits,
            ends,
            self.shared,
        )
        return float(gain), float(score)

    def fit(self, stop: Ints | None = None) -> float:
        """The score of the orders as they are; it has a flag of its own to stop at, if one is
        given.
        """
        state = self.state if stop is None else self.state._replace(stop=stop)
        nodes = np.arange(self.design.data.nodes)
        return float(
            climb(
                self.workspace.compiled,
                self.problem,
                state,
                nodes,
                NOBODY[None],
                np.array([0, len(nodes)]),
                self.shared,
            )[1]
        )

    def return_to(self, other: Climber) -> None:
        """Stand where another one stands, whose fits are elsewhere only at the nodes that were
        touched.
        """
        touched = np.flatnonzero(self.state.touched)
        for mine, theirs in zip(
            self.workspace.arrays.fits, other.workspace.arrays.fits, strict=True
        ):
            mine[touched, : self.slots] = theirs[touched, : self.slots]
        for name in ("orders", "uses", "value", "changed", "touched"):
            getattr(self.state, name)[...] = getattr(other.state, name)

    def model(self, score: float, near: FittedModel | None = None) -> FittedModel:
        """The model where the climb stands; nodes that were not touched have the mechanisms of a
        model nearby, if one is given.
        """
        design = self.design
        slots = self.problem.slots
        place = self.state.orders[1, 0]
        pooled = slots.may[:, 0] & (self.state.scores[:, 0] == self.state.value[NOW])
        parts = []
        for node in range(design.data.nodes):
            if near is not None and not self.state.touched[node]:
                parts.append(near.parts[node])
                continue
            chosen = [0]
            if not pooled[node]:
                usable = readers_in_reach(slots.needs, place, node)
                chosen = chosen_slots(slots, node, self.state.scores[node, : self.slots], usable)
            blocks = [(slot, int(slots.block[node, slot])) for slot in chosen]
            parts.append(
                tuple(
                    part_of(block, design.key(block)[1], self.workspace.taken(node, slot))
                    for slot, block in blocks
                )
            )
        return FittedModel(score, self.orders.copy(), tuple(parts), design)


def sweeps(system: int, nodes: int, generator: np.random.Generator) -> Ints:
    """In which sequence the nodes are visited, sweep by sweep; the context comes last."""
    visits = generator.permuted(np.tile(np.arange(system), (MOST_SWEEPS, 1)), axis=1)
    return np.hstack([visits, np.tile(np.arange(system, nodes), (MOST_SWEEPS, 1))])


def random_order(design: ScoreDesign, generator: np.random.Generator) -> Ints:
    """A random order of all nodes that keeps what must come first."""
    earlier = design.earlier
    waiting = generator.permutation(len(earlier)).tolist()
    order: list[int] = []
    missing = earlier.sum(axis=0)
    while waiting:
        node = next(v for v in waiting if missing[v] == 0)
        waiting.remove(node)
        order.append(node)
        missing = missing - earlier[node]
    return np.array(order, dtype=np.int64)


def with_parts_of(model: FittedModel, other: FittedModel) -> FittedModel:
    """A model that shares the mechanisms that are the same in another one."""
    parts = tuple(
        theirs if same_parts(mine, theirs) else mine
        for mine, theirs in zip(model.parts, other.parts, strict=True)
    )
    return replace(model, parts=parts)


def same_parts(one: Sequence[Part], other: Sequence[Part]) -> bool:
    """True if two mechanisms of a node are the same regressions."""
    return len(one) == len(other) and all(
        mine.block == theirs.block
        and mine.mask == theirs.mask
        and np.array_equal(mine.everything, theirs.everything)
        for mine, theirs in zip(one, other, strict=True)
    )


class Rivals:
    """The best models near a given one in which a link is missing."""

    def __init__(
        self, model: FittedModel, workspace: FitWorkspace, slots: NodeSlots, stop: Ints
    ) -> None:
        self._score = model.score
        orders = model.orders
        nodes = model.design.data.nodes
        links = np.asarray(model.linked[:nodes, :nodes])
        self._near: Bools = links | links.T
        starts = [(np.tile(orders[0], (len(orders), 1)), True)]
        if not (orders == orders[0]).all():
            starts.append((orders, False))
        # an order that does not depend on the climb: causes first, and of those that may the first
        # column
        else:
            settled = np.array(
                causal_order(links | model.design.earlier, range(nodes)), dtype=np.int64
            )
            if not (settled == orders[0]).all():
                starts.append((np.tile(settled, (len(orders), 1)), True))
        self._homes, self._trials = (
            [Climber(workspace, slots, *start, stop) for start in starts] for _ in range(2)
        )
        self._models = []
        for home, trial in zip(self._homes, self._trials, strict=True):
            score = home.fit()
            self._models.append(with_parts_of(home.model(score), model))
            trial.state.touched[:] = True
            home.state.touched[:] = False

    def without(self, cause: int, effect: int, floor: float) -> FittedModel | None:
        """The best model found in which one does not cause the other; None if it scores at most
        `floor`.

        The two ends move first, no further than to each other; if that comes close, they and their
        neighbours move anywhere.
        """
        stale = np.array([effect])
        best: FittedModel | None = None
        for home, trial, near in zip(self._homes, self._trials, self._models, strict=True):
            problem = trial.problem
            if problem.allowed[effect, cause]:
                allowed = problem.allowed.copy()
                allowed[effect, cause] = False
                problem = problem._replace(allowed=allowed)
            else:
                problem = problem._replace(slots=without_reader(problem.slots, cause, effect))
            trial.return_to(home)
            ends = sorted(trial.state.orders[1, :, [cause, effect]].ravel().tolist())
            _, score = trial.climb(
                self._visits(cause, effect, False), stale, (ends[0], ends[-1]), problem
            )
            if score > self._score - REACH:
                _, score = trial.climb(self._visits(cause, effect, True), problem=problem)
            if score > (floor if best is None else best.score):
                best = trial.model(score, near)
        return best

    def _visits(self, cause: int, effect: int, neighbours: bool) -> Ints:
        """The two ends and the context, or also what is linked to them, over and over."""
        p = self._homes[0].design.data.responses
        others = (
            np.flatnonzero(self._near[cause] | self._near[effect]).tolist() if neighbours else []
        )
        order = [
            *(v for v in (effect, cause) if v < p),
            *(v for v in others if v not in (cause, effect) and v < p),
            *(v for v in (effect, cause) if v >= p),
        ]
        return np.tile(np.array(order, dtype=np.int64), (MOST_SWEEPS // 4 if neighbours else 2, 1))
