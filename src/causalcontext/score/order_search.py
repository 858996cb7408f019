"""The order search: insertion moves from several starts, first one order for all contexts, then one for each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.orders.node_scores import fit_pointer
from causalcontext.kernels.orders.order_moves import climb
from causalcontext.kernels.orders.order_state import Moves, OrderProblem, State
from causalcontext.kernels.orders.partitions import NEVER, ContextPartitions, chosen_slots
from causalcontext.kernels.orders.selection import copy_pointer
from causalcontext.score.clock import Clock
from causalcontext.score.design import FitCache, FitWorkspace, ScoreDesign
from causalcontext.score.model import FittedModel, Part
from causalcontext.score.setup import Setup

MOST_SWEEPS = 40
REACH = 15.0
"""The neighbours of a link are moved too if turning it costs less than this, in nats."""
NOBODY = np.empty(0, dtype=np.int64)


def lattice(layout: ScoreDesign) -> ContextPartitions:
    """Slots of a layout whose blocks are all sets of contexts."""
    setup = layout.setup
    slots = np.tile(np.arange(len(layout.tables.block)), (setup.variables, 1))
    return ContextPartitions(setup.contexts, slots, np.zeros((2, *slots.shape), dtype=np.int64), setup.role)


def make_problem(layout: ScoreDesign, family: ContextPartitions) -> OrderProblem:
    """The problem with these slots."""
    setup = layout.setup
    moves = Moves(fit_pointer(), copy_pointer(), layout.calls)
    allowed = np.vstack([setup.allowed, setup.context_allowed[None]])
    return OrderProblem(moves, family, allowed, setup.first)


class SearchState:
    """Where a search stands: orders, and a workspace with the fits that belong to them.

    Parameters
    ----------
    orders : array of int, shape (K, p + 1)
        One order per context; while they are `shared` all blocks look at the first.
    """

    def __init__(self, layout: ScoreDesign, family: ContextPartitions, orders: Ints, shared: bool, cache: FitCache,
                 stop: Ints) -> None:  # fmt: skip
        p, slots = layout.setup.variables, family.block.shape[1]
        uses = uses_of(layout)
        if shared:
            uses = np.zeros_like(uses)
            uses[:, 0] = True
        self.shared, self.slots = shared, slots
        self.top = FitWorkspace(layout, 2 * slots, cache.memory, cache.kept)
        self.state = State(self.top.note, self.top.arrays.fits.scores, self.top.arrays.fits.matters,
                           self.top.arrays.work.candidates,
                           np.stack([orders, np.argsort(orders, axis=1)]).astype(np.int64), uses, np.zeros((2, p)),
                           np.zeros((p, slots), dtype=bool), np.zeros(p + 1, dtype=bool), stop)  # fmt: skip

    @property
    def orders(self) -> Ints:
        """The orders, shape (K, p + 1)."""
        return np.asarray(self.state.orders[0])

    def return_to(self, other: SearchState, nodes: NDArray[np.bool_]) -> None:
        """Stand where another one stands; only the fits of some nodes are elsewhere."""
        for mine, theirs in zip(self.top.arrays.fits, other.top.arrays.fits, strict=True):
            for node in np.flatnonzero(nodes).tolist():
                mine[node, : self.slots] = theirs[node, : self.slots]
        for place in range(4, len(self.state) - 1):
            self.state[place][...] = other.state[place]


def uses_of(layout: ScoreDesign) -> Bools:
    """Which contexts' orders a block looks at, shape (blocks, contexts)."""
    masks = layout.tables.block[:, 3]
    return np.asarray((masks[:, None] >> np.arange(layout.setup.contexts) & 1).astype(bool))


@dataclass(eq=False)
class Climber:
    """Climbs of one thread in one problem."""

    layout: ScoreDesign
    family: ContextPartitions
    cache: FitCache
    clock: Clock

    def __post_init__(self) -> None:
        self.problem = make_problem(self.layout, self.family)

    def from_order(self, order: Ints, generator: np.random.Generator) -> FittedModel:
        """The model at the end of a climb from one order, as far as the time allows."""
        setup = self.layout.setup
        standing = self.standing(np.tile(order, (setup.contexts, 1)), True)
        _, score = self.climb(self.problem, standing, self._everybody(), sweeps(setup, generator))
        if setup.contexts > 1:
            standing = self.standing(np.tile(standing.orders[0], (setup.contexts, 1)), False)
            _, score = self.climb(self.problem, standing, self._everybody(), sweeps(setup, generator))
        return self.read(standing, score)

    def standing(self, orders: Ints, shared: bool) -> SearchState:
        """A place to climb from, not yet fitted."""
        return SearchState(self.layout, self.family, orders, shared, self.cache, self.clock.flag)

    def fitted(self, orders: Ints, shared: bool) -> tuple[SearchState, float]:
        """The fits of some orders, and their score."""
        standing = self.standing(orders, shared)
        return standing, self.climb(self.problem, standing, self._everybody(), np.empty((0, 0), dtype=np.int64))[1]

    @staticmethod
    def climb(problem: OrderProblem, standing: SearchState, stale: Ints, visits: Ints,
              window: tuple[int, int] | None = None) -> tuple[float, float]:  # fmt: skip
        """Fit some nodes, then climb until nothing moves or the clock says stop: the last sweep's gain, the score."""
        endpoints = np.array(window or (0, standing.orders.shape[1]), dtype=np.int64)
        gain, score = climb(problem, standing.state, stale, visits, endpoints, standing.shared)
        return float(gain), float(score)

    def _everybody(self) -> Ints:
        return np.arange(self.layout.setup.variables)

    def read(self, standing: SearchState, score: float) -> FittedModel:
        """The model of a standing."""
        setup, masks = self.layout.setup, self.layout.tables.block[:, 3]
        p, place = setup.variables, standing.state.orders[1, 0]
        parts = []
        for node in range(p):
            after = setup.contexts == 1 or place[node] > place[p]
            chosen = chosen_slots(self.family, node, standing.state.scores[node, : standing.slots], bool(after))
            blocks = [int(self.family.block[node, slot]) for slot in chosen]
            parts.append(tuple(Part(block, int(masks[block]), standing.top.taken(node, slot))
                               for slot, block in zip(chosen, blocks, strict=True)))  # fmt: skip
        columns = standing.top.taken(p, 0) if setup.contexts > 1 else NOBODY
        return FittedModel(score, standing.orders.copy(), tuple(parts), columns, self.layout)


def sweeps(setup: Setup, generator: np.random.Generator) -> Ints:
    """In which sequence the nodes are visited, sweep by sweep; the context comes last."""
    p = setup.variables
    nodes = generator.permuted(np.tile(np.arange(p), (MOST_SWEEPS, 1)), axis=1)
    return np.hstack([nodes, np.full((MOST_SWEEPS, 1), p)])


def random_order(setup: Setup, generator: np.random.Generator) -> Ints:
    """A random order of all variables and the context that keeps what must come first."""
    if setup.contexts == 1:
        inner = random_extension(setup.first[:-1, :-1], generator)
        return np.concatenate([[setup.variables], inner])
    return random_extension(setup.first, generator)


def random_extension(first: Bools, generator: np.random.Generator) -> Ints:
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


@dataclass(eq=False)
class Rivals:
    """The best models near a given one in which a link is missing."""

    climber: Climber
    model: FittedModel

    def __post_init__(self) -> None:
        contexts, orders = self.climber.layout.setup.contexts, self.model.orders
        starts = [(True, np.tile(orders[0], (contexts, 1)))]
        if not (orders == orders[0]).all():
            starts.append((False, orders))
        self._homes = [self.climber.fitted(start, shared)[0] for shared, start in starts]
        self._trials = [self.climber.standing(start, shared) for shared, start in starts]
        for home, trial in zip(self._homes, self._trials, strict=True):
            trial.state.touched[:] = True
            home.state.touched[:] = False
        links = np.asarray(self.model.links.any(axis=0))
        self._near: Bools = links | links.T

    def without(self, cause: int, effect: int, floor: float) -> FittedModel | None:
        """The best model found in which one does not cause the other; None if it scores at most `floor`.

        The two ends move first, no further than to each other; if that comes close, they and their neighbours move
        anywhere.
        """
        problem = self._banned(cause, effect)
        stale = NOBODY if effect == self.climber.layout.setup.variables else np.array([effect])
        best: FittedModel | None = None
        for home, trial in zip(self._homes, self._trials, strict=True):
            trial.return_to(home, trial.state.touched)
            endpoints = sorted(trial.state.orders[1, :, [cause, effect]].ravel().tolist())
            score = self.climber.climb(
                problem, trial, stale, self._visits(cause, effect, False), (endpoints[0], endpoints[-1])
            )[1]
            if score > self.model.score - REACH:
                score = self.climber.climb(problem, trial, NOBODY, self._visits(cause, effect, True))[1]
            if score > (floor if best is None else best.score):
                best = self.climber.read(trial, score)
        return best

    def _banned(self, cause: int, effect: int) -> OrderProblem:
        problem, p = self.climber.problem, self.climber.layout.setup.variables
        if cause == p:
            role = problem.family.role.copy()
            role[effect] = NEVER
            return problem._replace(family=problem.family._replace(role=role))
        allowed = problem.allowed.copy()
        allowed[effect, cause] = False
        return problem._replace(allowed=allowed)

    def _visits(self, cause: int, effect: int, neighbours: bool) -> Ints:
        """The two ends and the context, or also what is linked to them, over and over."""
        p = len(self._near) - 1
        endpoints = [v for v in (effect, cause) if v != p]
        others = np.flatnonzero(self._near[cause] | self._near[effect]).tolist() if neighbours else []
        order = [
            *endpoints,
            *(v for v in others if v not in (cause, effect, p)),
            *([p] if p in (cause, effect) else []),
        ]
        return np.tile(np.array(order, dtype=np.int64), (MOST_SWEEPS // 4 if neighbours else 2, 1))
