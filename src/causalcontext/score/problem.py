"""The search problem as the kernels see it: blocks of contexts, the slots of every node, the context's table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.orders.context_parents import ContextTable, Memory
from causalcontext.kernels.orders.order_state import Problem, State
from causalcontext.kernels.orders.parent_sets import MOST_PARENTS, Blocks, no_fits, scratch
from causalcontext.kernels.orders.partitions import Partitions
from causalcontext.score.options import ScoreOptions
from causalcontext.score.setup import Setup

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SPARE_ROWS = 5
"""A block needs so many rows more than parents."""
PATIENCE = 1
"""Two causes may hide each other; more patience was not better on small problems, where the optimum is known."""


@dataclass(frozen=True, eq=False)
class Layout:
    """A problem, and the contexts of its blocks as bit masks; the shifted model, if any, is one block more."""

    masks: tuple[int, ...]
    problem: Problem

    def uses(self, contexts: int) -> NDArray[np.bool_]:
        """Which contexts' orders a block looks at, shape (blocks, contexts); the shifted model looks at all."""
        everything = (1 << contexts) - 1
        masks = [*self.masks, everything] if contexts > 1 else list(self.masks)
        return np.array([[bool(mask >> r & 1) for r in range(contexts)] for mask in masks])


def lattice_layout(setup: Setup, options: ScoreOptions) -> Layout:
    """The problem with every set of contexts as a block: all partitions are within reach."""
    masks = tuple(range(1, 1 << setup.contexts))
    blocks = make_blocks(setup, options, masks)
    slots = np.tile(np.arange(len(blocks.rows)), (setup.variables, 1))
    unused = np.zeros_like(slots)
    family = Partitions(setup.contexts, slots, unused, unused, setup.role)
    return Layout(masks, make_problem(setup, options, blocks, family))


def make_problem(setup: Setup, options: ScoreOptions, blocks: Blocks, family: Partitions) -> Problem:
    """The problem with these blocks and slots."""
    return Problem(blocks, context_table(setup, options), family, setup.allowed, setup.forced, setup.first)


def make_blocks(setup: Setup, options: ScoreOptions, masks: Sequence[int]) -> Blocks:
    """Blocks for these sets of contexts and, with two or more contexts, the shifted model at the end."""
    covariance = [setup.block_covariance(mask) for mask in masks]
    rows = [setup.block_rows(mask) for mask in masks]
    parameters = [2.0] * len(masks)
    if setup.contexts > 1:
        covariance.append(setup.within_covariance())
        rows.append(setup.rows)
        parameters.append(1.0 + setup.contexts)
    n = np.array(rows)
    cost = 0.5 * options.penalty * np.log(np.maximum(n, 2.0))
    base = -0.5 * n * (1.0 + log(2.0 * pi)) - cost * np.array(parameters)
    spare = np.where(n >= setup.rows, np.maximum(n - SPARE_ROWS, 0), n - SPARE_ROWS)
    most = np.clip(spare, -1, MOST_PARENTS).astype(np.int64)
    price = cost + options.parent_price(setup.variables)
    return Blocks(np.stack(covariance), n, base, price, most, PATIENCE)


def context_table(setup: Setup, options: ScoreOptions) -> ContextTable:
    """What the context's own score needs."""
    k, p = setup.contexts, setup.variables
    price = 0.5 * options.penalty * log(setup.rows) * (k - 1) + options.parent_price(p)
    keys = np.random.default_rng(0).integers(1, 1 << 63, size=p, dtype=np.uint64)
    return ContextTable(setup.block_covariance((1 << k) - 1), setup.within_covariance(), setup.values, setup.codes, k,
                        setup.rows, setup.weight, price, setup.context_allowed, setup.context_forced, keys)  # fmt: skip


def widest(setup: Setup) -> int:
    """The most parents that a node can have."""
    return min(setup.variables, MOST_PARENTS + int(setup.forced.sum(axis=1).max(initial=0))) + 1


def make_state(setup: Setup, layout: Layout, orders: Ints, shared: bool, memory: Memory) -> State:
    """A state with one order per context, shape (K, p + 1); while they are shared all blocks look at the first."""
    p, (slots, width) = setup.variables, (layout.problem.family.block.shape[1], widest(setup))
    uses = layout.uses(setup.contexts)
    if shared:
        uses = np.zeros_like(uses)
        uses[:, 0] = True
    return State(orders.copy(), np.argsort(orders, axis=1), uses, no_fits(p, slots, width), no_fits(p, slots, width),
                 np.zeros(p), np.zeros(p), np.zeros((p, slots), dtype=bool), memory, scratch(p, width))  # fmt: skip
