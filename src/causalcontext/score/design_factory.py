"""From the columns of a table to search problems: all blocks in one table, made when they are first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import log, pi
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.kernels.orders.node_data import CLASS, BlockTables, FitRows, Memory
from causalcontext.kernels.rows.number_scores import IN_A_BIN
from causalcontext.score.blocks import Block, DesignFacts, block_of, mixed_block, plain_design, price, shifted_block
from causalcontext.score.columns import DesignColumns, one_function
from causalcontext.score.design import MOST_CURVED, ScoreDesign
from causalcontext.score.options import ScoreOptions
from causalcontext.score.setup import Setup

MOST_CONTEXTS_MIXED = 2
"""Up to so many contexts slopes may differ between any sets of them; more of them cost time and gained nothing."""
GROWTH = 8
"""By what factor room for matrices grows: memory that is never written is never taken."""


@dataclass(frozen=True, eq=False)
class BlockRows:
    """The rows of one block in the tables of a layout."""

    block: Ints
    number: Floats
    cost: Floats
    weight: Floats
    variance: Floats


class GrowingArray:
    """Matrices one after the other in one array, which grows; whoever has the array of before may go on using it."""

    def __init__(self) -> None:
        self.entries, self._filled = np.empty(0), 0
        self._lock = Lock()

    def put(self, matrix: Floats) -> int:
        """Where a matrix begins."""
        with self._lock:
            start, self._filled = self._filled, self._filled + matrix.size
            if self._filled > len(self.entries):
                larger = np.empty(max(self._filled, GROWTH * start))
                larger[:start] = self.entries[:start]
                self.entries = larger
            self.entries[start : self._filled] = matrix.ravel()
            return start


class DesignFactory:
    """Makes layouts of one table, each block only once."""

    def __init__(self, setup: Setup, columns: DesignColumns, options: ScoreOptions) -> None:
        self.setup, self.columns, self.options = setup, columns, options
        self._designs, self._shelf = [plain_design(setup, columns, options)], GrowingArray()
        last = [shifted_block(setup, columns, options)] if setup.contexts > 1 else []
        if 1 < setup.contexts <= MOST_CONTEXTS_MIXED:
            design, block = mixed_block(setup, columns, options)
            self._designs.append(design)
            last.append(block)
        self._blocks: dict[int, BlockRows] = {}
        self._last = [self._shelved(block) for block in last]
        self._rows = _rows(setup, columns)
        self._memory: Memory | None = None

    def with_columns(self, columns: DesignColumns) -> DesignFactory:
        """One with further columns at the end; what was evaluated need not be evaluated again."""
        other = DesignFactory(self.setup, columns, self.options)
        other._memory = self._memory
        return other

    def memory(self, layout: ScoreDesign) -> Memory:
        """The memory of the main thread, which all searches of this design factory share."""
        if self._memory is None:
            self._memory = layout.memory()
        return self._memory

    def layout(self, masks: Sequence[int], curves: bool, densities: bool = True) -> ScoreDesign:
        """The layout of some sets of contexts."""
        for mask in masks:
            if mask not in self._blocks:
                self._blocks[mask] = self._shelved(block_of(self.setup, self.columns, self.options, mask))
        blocks = [*(self._blocks[mask] for mask in masks), *self._last]
        tables = _tables(self._shelf.entries, blocks, self._designs)
        return ScoreDesign(self.setup, self.columns, tuple(masks), tables, self._rows).offering(
            curves, densities and self.options.densities
        )

    def _shelved(self, block: Block) -> BlockRows:
        """A block with its matrix on the growing array."""
        setup, options, n = self.setup, self.options, self.setup.block_rows(block.mask)
        widest = max(design.about.shape[1] for design in self._designs)
        spare = n - SPARE_ROWS if n < setup.total else max(n - SPARE_ROWS, 0)
        facts = [self._shelf.put(block.matrix), len(block.matrix), block.design, block.mask, int(block.by_context),
                 int(np.clip(spare, -1, MOST_CURVED))]  # fmt: skip
        start = -0.5 * n * (1.0 + log(2.0 * pi)) - price(options, n) * block.parameters
        paid = _padded(block.cost + self._designs[block.design].extra[: len(block.cost)], widest)
        return BlockRows(np.array(facts, dtype=np.int64), np.array([n, start, price(options, n)]),
                       _padded(block.cost, widest), np.exp(2.0 * paid / max(n, 1.0)),
                       _padded(block.matrix.diagonal(), widest))  # fmt: skip

    def lattice(self, curves: bool, densities: bool = True) -> ScoreDesign:
        """The layout with every set of contexts as a block: all partitions are within reach."""
        return self.layout(range(1, 1 << self.setup.contexts), curves, densities)


def _rows(setup: Setup, columns: DesignColumns) -> FitRows:
    width = np.where(setup.kind == CLASS, np.maximum(setup.classes - 1, 1), 1)
    response = np.append(columns.response, columns.size)
    pieces, blur, places = _in_bins(setup, columns)
    node = np.stack([setup.kind, response, width, setup.classes, pieces], axis=1).astype(np.int64)
    facts = np.array([setup.weight, 1.0, 1.0, *blur])
    return FitRows(places, setup.rows.codes, setup.rows.starts, node, _keys(max(12, columns.size.bit_length())), facts)


def _in_bins(setup: Setup, columns: DesignColumns) -> tuple[Ints, Floats, Floats]:
    """For every node where its places in its bins begin (-1: no bins), their variance; all columns with these places.

    A number that was counted or rounded lies anywhere between the middles of neighbouring values.
    """
    p = setup.variables
    start, blur, places = np.full(p + 1, -1), np.zeros(p + 1), [columns.values]
    for j in np.flatnonzero(setup.gap[:p] > 0.0).tolist():
        own = int(columns.response[j])
        away = setup.gap[j] * ((np.arange(IN_A_BIN) + 0.5) / IN_A_BIN - 0.5)
        moved = np.stack(
            [one_function(setup.rows.values + shift, setup.rows.codes, columns.offers[own]) for shift in away]
        )
        moved = (moved - columns.mean[own]) * columns.mix[own, own]
        start[j], blur[j] = sum(map(len, places)), np.var(moved - columns.values[own])
        places.append(moved)
    return start, blur, np.ascontiguousarray(np.vstack(places))


@cache
def _keys(bits: int) -> NDArray[np.uint64]:
    """Random numbers for up to 2 to the power of `bits` columns."""
    return np.random.default_rng(0).integers(1, 1 << 63, size=16 << bits, dtype=np.uint64)


def _tables(entries: Floats, blocks: Sequence[BlockRows], designs: Sequence[DesignFacts]) -> BlockTables:
    """The tables of some blocks, whose matrices are among the `entries` of a growing array."""
    widest, both = max(design.about.shape[1] for design in designs), [*designs, designs[0]][:2]
    return BlockTables(
        entries, np.stack([block.block for block in blocks]), np.stack([block.number for block in blocks]),
        np.stack([_padded(design.about, widest) for design in both]), np.stack([design.first for design in both]),
        np.stack([block.cost for block in blocks]), np.stack([_padded(design.extra, widest) for design in both]),
        np.stack([block.weight for block in blocks]), np.stack([block.variance for block in blocks]),
    )  # fmt: skip


def _padded(array: NDArray[Any], width: int) -> NDArray[Any]:
    out = np.zeros((*array.shape[:-1], width), dtype=array.dtype)
    out[..., : array.shape[-1]] = array
    return out
