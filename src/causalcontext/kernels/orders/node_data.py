"""Blocks, rows and remembered scores: what all fits of a search share."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.function_pointers import FunctionPointer
from causalcontext.kernels.handles import empty_note
from causalcontext.kernels.orders.kept_fits import KeptFits, Names, no_kept
from causalcontext.kernels.orders.regressions import (
    CONTEXTS,
    SOURCE,
    BlockRegression,
    Fits,
    Scratch,
    Target,
    no_fits,
    scratch,
)
from causalcontext.kernels.rows.class_choice import ClassRows
from causalcontext.kernels.rows.noise_densities import DensityTable, density_table

NUMBER, CLASS, ORDERED = range(3)
"""Kinds of nodes."""
KIND, RESPONSE, WIDTH, CLASSES, PIECES = range(5)
"""Columns of `FitRows.node`."""
OFFSET, COLUMNS, DESIGN, MASK, BY_CONTEXT, LIMIT = range(6)
"""Columns of `BlockTables.block`."""
ROWS, START, PRICE = range(3)
"""Columns of `BlockTables.number`."""
WEIGHT, DENSITIES, CURVES, BLURS = range(4)
"""Entries of `FitRows.facts`; the blurs of all nodes follow."""


class BlockTables(NamedTuple):
    """All blocks. B blocks, Q columns at most; two designs: plain columns, and columns by contexts.

    Attributes
    ----------
    covariance : array, shape (entries,)
        One square matrix after the other.
    block : array of int, shape (B, 6)
        Where its matrix starts, how many columns it has, its design, its contexts as a bit mask, 1 if every context
        has its own intercept, the most columns beside required ones (-1: too few rows).
    number : array, shape (B, 3)
        Rows; the score of a number of unit variance without parents; the price of one parameter.
    about : array of int, shape (2, 7, Q)
    first : array of int, shape (2, p + 2)
    cost, weight, variance : arrays, shape (B, Q)
    extra : array, shape (2, Q)
    """

    covariance: Floats
    block: Ints
    number: Floats
    about: Ints
    first: Ints
    cost: Floats
    extra: Floats
    weight: Floats
    variance: Floats


class FitRows(NamedTuple):
    """The rows, sorted by context; m of them.

    Attributes
    ----------
    values : array, shape (columns and more, m)
        Plain and curved columns, then numbers elsewhere in their bins.
    codes : array of int, shape (nodes, m)
        Classes of the nodes that have some; the context's are the last.
    starts : array of int, shape (contexts + 1,)
    node : array of int, shape (nodes, 5)
        Kind, first response column, number of response columns, classes; for a number that was counted or rounded the
        first of the rows of `values` in which it lies elsewhere in its bin, else -1.
    keys : array of uint64, shape (16 * columns,)
        Random numbers that make the names of sets; 16 a column, by the contexts it lives in.
    facts : array, shape (3 + nodes,)
        How many rows of the table each of these stands for; 1 if noise densities are on offer; 1 if curves are; for
        every node the variance inside the bins of a number that was counted or rounded, else 0.
    """

    values: Floats
    codes: Ints
    starts: Ints
    node: Ints
    keys: Names
    facts: Floats


class Memory(NamedTuple):
    """Sets that were evaluated before, of one thread: names, scores or gains, and what was left of the set."""

    names: Names
    scores: Floats
    columns: Ints
    filled: Ints


def no_memory(width: int, size: int) -> Memory:
    """An empty memory for sets of at most `width` columns."""
    return Memory(np.zeros(size, dtype=np.uint64), np.empty(size), np.empty((size, width + 1), dtype=np.int64),
                  np.zeros(1, dtype=np.int64))  # fmt: skip


class Required(NamedTuple):
    """`links[child, parent]`: required parents."""

    links: Bools


class FitArrays(NamedTuple):
    """Everything that a fit reads and writes; one for every thread. A fit fetches what it needs of it.

    A fit that is kept is not made again, and leaves nothing in `work`.
    """

    tables: BlockTables
    rows: FitRows
    densities: DensityTable
    required: Required
    fits: Fits
    work: Scratch
    memory: Memory
    kept: KeptFits


class Calls(NamedTuple):
    """The functions that choose columns and look at rows, behind pointers."""

    select: FunctionPointer
    number_gain: FunctionPointer
    density_gain: FunctionPointer
    choose_columns: FunctionPointer
    class_fit: FunctionPointer
    logit_pass: FunctionPointer
    ordered_pass: FunctionPointer


def _sample() -> FitArrays:
    """A arrays of a fit without content: its type is that of all."""
    whole = [np.zeros((1,) * axes, dtype=np.int64) for axes in range(4)]
    number = [np.zeros((1,) * axes) for axes in range(5)]
    names = [np.zeros((1,) * axes, dtype=np.uint64) for axes in range(3)]
    tables = BlockTables(number[1], whole[2], number[2], whole[3], whole[2], *[number[2]] * 4)
    rows = FitRows(number[2], whole[2], whole[1], whole[2], names[1], number[1])
    memory = Memory(names[1], number[1], whole[2], whole[1])
    return FitArrays(tables, rows, density_table(), Required(np.zeros((1, 1), dtype=np.bool_)), no_fits(1, 1, 1, 1),
                 scratch(1, 1, 1, 1), memory, no_kept(1, 1, 0))  # fmt: skip


FIT_ARRAYS = numba.typeof(_sample())
NO_FIT_ARRAYS = empty_note(FIT_ARRAYS)
"""For its type."""


@kernel
def regression_of(tables: BlockTables, block: int) -> BlockRegression:
    """One block."""
    start, size, design = tables.block[block, OFFSET], tables.block[block, COLUMNS], tables.block[block, DESIGN]
    covariance = tables.covariance[start : start + size * size].reshape((size, size))
    return BlockRegression(covariance, tables.about[design], tables.first[design], tables.cost[block],
                           tables.extra[design], tables.weight[block], tables.variance[block],
                           tables.number[block, ROWS], tables.block[block, LIMIT])  # fmt: skip


@kernel
def classes_of(tables: BlockTables, rows: FitRows, block: int, node: int) -> ClassRows:
    """A category as a response on the rows of one block."""
    facts, own = tables.block[block], rows.node[node]
    return ClassRows(rows.values, rows.codes[node], rows.starts, facts[MASK], facts[BY_CONTEXT] == 1, own[CLASSES],
                     own[KIND] == ORDERED, rows.facts[WEIGHT], tables.number[block, PRICE])  # fmt: skip


@kernel
def target_of(rows: FitRows, number: int) -> Target:
    """A node as a response."""
    return Target(number, rows.node[number, RESPONSE], rows.node[number, WIDTH], rows.facts[BLURS + number])


@kernel
def kind_of(block: Ints) -> int:
    """A number for what a block is, the same in all layouts of a table; `block` is its row of `BlockTables.block`."""
    return int(4 * block[MASK] + 2 * block[DESIGN] + block[BY_CONTEXT])


@kernel
def name_of(block: Ints, about: Ints, keys: Names, node: int, chosen: Ints, count: int) -> np.uint64:
    """A name for a node, a block (its row of `BlockTables.block`) and a set of columns, whatever their order."""
    name = np.uint64(node + 1) * np.uint64(0x9E3779B97F4A7C15)
    name ^= np.uint64(kind_of(block)) * np.uint64(0xC2B2AE3D27D4EB4F)
    for t in range(count):
        name ^= keys[(about[SOURCE, chosen[t]] << 4) + about[CONTEXTS, chosen[t]]]
    return name | np.uint64(1)


@kernel
def store(memory: Memory, place: int, name: np.uint64, score: float) -> bool:
    """Remember a score, unless the memory is nearly full."""
    if memory.filled[0] >= memory.names.size // 2:
        return False
    memory.names[place], memory.scores[place] = name, score
    memory.filled[0] += 1
    return True
