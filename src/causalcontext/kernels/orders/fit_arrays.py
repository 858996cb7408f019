"""What the kernels of a search share: the design, the rows, and the workspace in which a thread
fits.

A workspace remembers. A set of columns that was evaluated on the rows is not evaluated again. Half
of the fits of a search over orders are repeated: a fit is a function of what its node may choose
from, so whole fits are kept by node, block and candidates. Covariances are made row by row, when a
regression takes a column, and kept by block and column. Where there is no room left all of these
are forgotten: what a climb needs again it mostly needed a moment ago.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints
from causalcontext.kernels.compiling import kernel
from causalcontext.kernels.handles import FunctionPointer, Note, empty_note, fetch
from causalcontext.kernels.rows.class_choice import ClassRows
from causalcontext.kernels.rows.noise_densities import DensityTable, density_table

NUMBER, CLASS, ORDERED, HURDLE = range(4)
"""Kinds of nodes."""
KIND, RESPONSE, WIDTH, CLASSES, PIECES = range(5)
"""Columns of `FitRows.node`."""
BITS, LIMIT, DESIGN, IDENTITY = range(4)
"""Columns of `BlockTables.block`."""
ROWS, START, PRICE = range(3)
"""Columns of `BlockTables.number`."""
WEIGHT, DENSITIES, CURVES, SCALES, BLURS = range(5)
"""Entries of `FitRows.facts`; the blurs of all nodes follow."""
OWNER, PARTNER, SOURCE, FAMILY, CONTEXTS, BASIC, CURVED = range(7)
"""Rows of `Regression.about`."""
END, LENGTH, TAKEN, PATH = range(4)
"""Columns of `Fits.whole`: path and chosen columns follow."""
CLOSED, ONLY_IF_IT_PAYS, WELCOME, UNKNOWN = range(4)
"""Which columns could still be added at the end of a path; `UNKNOWN`: any may matter, and no path
is kept.
"""
LEFT, LEAST, FACTOR, VALUE = range(4)
"""Lines of `Scratch.line`."""

KEPT_ROWS = 1 << 16
KEPT_ENTRIES = 1 << 24
"""Places for rows of covariances, and their entries; memory that is never written is never taken.
"""

Names = NDArray[np.uint64]


class BlockTables(NamedTuple):
    """The design: B blocks, q plain columns, p variables; Q columns at most, by values of readers
    included.
    """

    # `n`, `means`, `scatter`: shape (cells,), (cells, q), (cells, q, q): rows of every cell, means
    # and centred cross products of plain columns there
    n: Floats
    means: Floats
    scatter: Floats
    # shape (B, 4): the values of a reader at some of which columns live, 0 for plain columns; the
    # most columns beside required ones (-1: too few rows); 0 for plain columns and more for those
    # by values of a reader; a number for what the block is in all designs of a table
    block: Ints
    # shape (B, cells): the intercept of every cell, -1 for cells that are not in the block
    groups: Ints
    # shape (B, 3): rows; the score of a number of unit variance without parents; the price of one
    # parameter
    number: Floats
    about: Ints  # shape (1 + readers, 7, Q)
    first: Ints  # shape (1 + readers, p + 2)
    # `cost`, `weight`, `variance`: shape (B, Q)
    cost: Floats
    extra: Floats  # shape (1 + readers, Q)
    weight: Floats
    variance: Floats
    required: Bools  # shape (nodes, p): `required[child, parent]`


class FitRows(NamedTuple):
    """The rows, sorted by cell; m of them."""

    # shape (columns and more, m): plain and curved columns, then numbers elsewhere in their bins
    values: Floats
    codes: Ints  # shape (nodes, m): classes of the nodes that have some
    starts: Ints  # shape (cells + 1,)
    # shape (nodes, 5): kind, first response column, number of response columns, classes; for a
    # number that was counted or rounded the first of the rows of `values` in which it lies
    # elsewhere in its bin, else -1
    node: Ints
    # shape (16 * columns,): random numbers that make the names of sets; 16 a column, by the
    # contexts it lives in
    keys: Names
    # shape (4 + nodes,): how many rows of the table each of these stands for; 1 if noise densities
    # are on offer; 1 if curves are; the first of the rows of `values` that a scale may have, 0
    # without scales; for every node the variance inside the bins of a number that was counted or
    # rounded, else 0
    facts: Floats


class Fits(NamedTuple):
    """The regression of every node in every slot (a node's blocks), at most W columns, and the path
    that led to it.
    """

    scores: Floats  # shape (nodes, slots)
    # shape (nodes, slots, 3 + 2 W): `END`, `LENGTH` of the path, number `TAKEN`; the path; the
    # columns taken. Columns of a scale are negative: -1 less their place among those of all
    # candidates, `SHAPES` each, and of the groups of a block after these
    whole: Ints
    # shape (nodes, slots, p) or (nodes, slots, 0): whether the fit would be another one if a
    # candidate were none, or if another variable were one. Without room for it, that is not noted
    matters: Bools


class Scratch(NamedTuple):
    """Arrays of one thread for a regression in progress; D response columns at most."""

    candidates: Bools  # shape (p,)
    # shape (2, Q): columns, those of candidates first; for the others the variable that would have
    # to be a candidate
    listed: Ints
    rows: Floats  # shape (W, Q)
    shared: Floats  # shape (D, Q)
    # shape (4, Q): of the listed columns: residual variances, those that count as none, prices as
    # factors, what would be left
    line: Floats
    # shape (5, S, S): the response's residual covariance, its inverse, a factor, its inverse,
    # slopes
    small: Floats


class Memory(NamedTuple):
    """Sets that were evaluated before, of one thread: names, scores or gains, and what was left of
    the set.

    What was left is in line `number`: lines of sets that follow each other are neighbours, so that
    little memory is taken.
    """

    names: Names
    scores: Floats
    number: Codes
    columns: Ints
    filled: Ints


class KeptRows(NamedTuple):
    """Rows of covariances, of one thread and one design."""

    # shape (places,): names of rows, 0 where none is kept; the number of places is a power of 2
    names: Ints
    start: Ints  # shape (places,): where a row begins among the entries
    entries: Floats  # shape (entries,)
    filled: Ints  # shape (2,): how many rows are kept, and how many entries these have


class KeptFits(NamedTuple):
    """Whole fits of one thread in one problem."""

    keys: Names  # shape (p,): random numbers that make the names of sets of candidates
    names: (
        Names  # shape (places,): names of fits, 0 where nothing is kept; no places: nothing ever is
    )
    number: Codes  # shape (places,): which fit that is
    scores: Floats  # shape (fits,)
    columns: Codes  # shape (fits, 1 + W): the number of columns taken, and the columns
    matters: Bools  # shape (fits, p): whose candidacy the fit depends on
    filled: Ints  # shape (1,): how many fits are kept


class FitArrays(NamedTuple):
    """Everything that a fit reads and writes; one for every thread. A fit fetches what it needs of
    it.

    A fit that is kept is not made again, and leaves nothing in `work`.
    """

    tables: BlockTables
    rows: FitRows
    densities: DensityTable
    fits: Fits
    work: Scratch
    memory: Memory
    covariances: KeptRows
    kept: KeptFits


class Calls(NamedTuple):
    """The functions that choose columns and look at rows, behind pointers; kernels find them in a
    note.

    `weighted` is a note of the same `FitArrays`, but for moments and covariances with weights,
    which `scaled` writes.
    """

    select: FunctionPointer
    number_gain: FunctionPointer
    density_gain: FunctionPointer
    choose_columns: FunctionPointer
    class_fit: FunctionPointer
    logit_pass: FunctionPointer
    ordered_pass: FunctionPointer
    hurdle_pass: FunctionPointer
    scaled: FunctionPointer
    fit_scale: FunctionPointer
    weighted: Note


def no_fits(nodes: int, slots: int, width: int, asked: int) -> Fits:
    """Room for fits with at most `width` columns, and for what matters among so many variables."""
    shape = (nodes, slots)
    return Fits(
        np.zeros(shape),
        np.zeros((*shape, 3 + 2 * width), dtype=np.int64),
        np.zeros((*shape, asked), dtype=np.bool_),
    )


def scratch(variables: int, columns: int, width: int, responses: int) -> Scratch:
    """Scratch arrays for one thread."""
    size = max(width, responses) + 1
    return Scratch(
        np.zeros(variables, dtype=np.bool_),
        np.zeros((2, columns), dtype=np.int64),
        np.zeros((width, columns)),
        np.zeros((responses, columns)),
        np.zeros((4, columns)),
        np.zeros((5, size, size)),
    )


def no_memory(width: int, size: int) -> Memory:
    """An empty memory for sets of at most `width` columns."""
    return Memory(
        np.zeros(size, dtype=np.uint64),
        np.empty(size),
        np.empty(size, dtype=np.int32),
        np.empty((size // 2, width + 1), dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


def no_rows(longest: int, rows: int = KEPT_ROWS, entries: int = KEPT_ENTRIES) -> KeptRows:
    """Room for rows of covariances, the longest of which has so many entries."""
    return KeptRows(
        np.zeros(rows, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(max(entries, longest)),
        np.zeros(2, dtype=np.int64),
    )


def no_kept(variables: int, width: int, places: int) -> KeptFits:
    """Room for half as many fits as places; memory that is never written is never taken."""
    return KeptFits(
        random_names(1, variables),
        np.zeros(places, dtype=np.uint64),
        np.empty(places, dtype=np.int32),
        np.empty(places // 2),
        np.empty((places // 2, 1 + width), dtype=np.int32),
        np.empty((places // 2, variables), dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
    )


@cache
def random_names(seed: int, count: int) -> Names:
    """Random numbers that make names."""
    return np.random.default_rng(seed).integers(1, 1 << 63, size=count, dtype=np.uint64)


def _sample() -> FitArrays:
    """Arrays of a fit without content: their type is that of all."""
    whole = [np.zeros((1,) * axes, dtype=np.int64) for axes in range(4)]
    number = [np.zeros((1,) * axes) for axes in range(4)]
    names = np.zeros(1, dtype=np.uint64)
    tables = BlockTables(
        number[1],
        number[2],
        number[3],
        whole[2],
        whole[2],
        number[2],
        whole[3],
        whole[2],
        number[2],
        number[2],
        number[2],
        number[2],
        np.zeros((1, 1), dtype=np.bool_),
    )
    rows = FitRows(number[2], whole[2], whole[1], whole[2], names, number[1])
    return FitArrays(
        tables,
        rows,
        density_table(),
        no_fits(1, 1, 1, 1),
        scratch(1, 1, 1, 1),
        no_memory(1, 1),
        no_rows(1),
        no_kept(1, 1, 0),
    )


FIT_ARRAYS = numba.typeof(_sample())
NO_FIT_ARRAYS = empty_note(FIT_ARRAYS)
"""For its type."""


class Regression(NamedTuple):
    """A node as the response on the rows of one block, the Q columns of p variables there, and what
    they cost.
    """

    arrays: Note  # of `FitArrays`: `row_of` finds or makes covariances there
    block: int
    plain: int  # how many columns the rows have
    # column `(s << bits) + mask` is column s of the rows at the values of a reader in a bit mask of
    # so many, and 0 elsewhere; there is none at no value. 0 where columns live on the whole block
    bits: int
    # shape (7, Q): the node a column belongs to, and the second one of a product, else -1; its
    # number among the columns of the rows. Where a column lives in some contexts only: the first of
    # its family, in which the contexts, as a bit mask, count up from 1; and that mask (0: the whole
    # block). 1 if a required parent must have the column; 1 if it is a curve
    about: Ints
    # shape (p + 2,): the columns of variable i are `first[i]` to `first[i + 1] - 1`; `first[p]` to
    # `first[p + 1] - 1` are products
    first: Ints
    cost: Floats  # shape (Q,): the price of one parameter
    extra: Floats  # shape (Q,): what a column costs beside its parameters: the choice among many
    weight: Floats  # shape (Q,): exp(2 price / rows) of a column, for a response of one column
    variance: Floats  # shape (Q,): of every column, in units of the pooled standard deviations
    required: Bools  # shape (p,): parents whose basic columns always stay
    rows: float
    most: int  # the most columns beside required ones, -1 for too few rows
    # `node`, `response`, `width`: the node, its first response column among those of the rows, and
    # how many it has
    node: int
    response: int
    width: int
    blur: float  # the variance inside the bins of a number that was counted or rounded


@kernel
def regression_of(arrays: Note, block: int, node: int) -> Regression:
    """A node as the response in one block; `arrays` is the note of `FitArrays`."""
    tables = fetch(arrays, FIT_ARRAYS, BlockTables)
    rows = fetch(arrays, FIT_ARRAYS, FitRows)
    design = tables.block[block, DESIGN]
    return Regression(
        arrays,
        block,
        tables.means.shape[1],
        tables.block[block, BITS],
        tables.about[design],
        tables.first[design],
        tables.cost[block],
        tables.extra[design],
        tables.weight[block],
        tables.variance[block],
        tables.required[node],
        tables.number[block, ROWS],
        tables.block[block, LIMIT],
        node,
        rows.node[node, RESPONSE],
        rows.node[node, WIDTH],
        rows.facts[BLURS + node],
    )


@kernel
def row_of(table: Regression, source: int) -> Floats:
    """The covariances of a plain column on all rows of a block with all columns there, until the
    next row is asked for.

    That of a column at some values with another one is what they share: `row[other &
    shared_values(table, column)]`, where the row is that of the plain column `column >>
    table.bits`.
    """
    kept = fetch(table.arrays, FIT_ARRAYS, KeptRows)
    places = kept.names.size - 1
    name = table.block * table.plain + source + 1
    place = name & places
    while kept.names[place] != name:
        if kept.names[place] == 0:
            return _made_row(table, source, name)
        place = (place + 1) & places
    start = kept.start[place]
    return np.asarray(kept.entries[start : start + (table.plain << table.bits)])


@kernel
def shared_values(table: Regression, column: int) -> int:
    """What is left of the number of a column by `&` is the same column at the values where a given
    one lives.
    """
    return int(column | -(1 << table.bits))


@kernel
def _made_row(table: Regression, source: int, name: int) -> Floats:
    """Make a row and keep it: cross products within cells, and of the means of cells that share an
    intercept.
    """
    kept = fetch(table.arrays, FIT_ARRAYS, KeptRows)
    tables = fetch(table.arrays, FIT_ARRAYS, BlockTables)
    groups = tables.groups[table.block]
    n = tables.n
    means = tables.means
    bits = table.bits
    columns = table.plain
    places = kept.names.size - 1
    if 2 * kept.filled[0] > places or kept.filled[1] + (columns << bits) > kept.entries.size:
        kept.names[:] = 0
        kept.filled[:] = 0
    place = name & places
    while kept.names[place] != 0:
        place = (place + 1) & places
    kept.names[place], kept.start[place] = name, kept.filled[1]
    row = kept.entries[kept.filled[1] : kept.filled[1] + (columns << bits)]
    kept.filled[0] += 1
    kept.filled[1] += row.size
    rows = np.zeros(groups.size)
    total = np.zeros(groups.size)
    for cell in range(groups.size):
        if groups[cell] >= 0:
            rows[groups[cell]] += n[cell]
            total[groups[cell]] += n[cell] * means[cell, source]
    row[:] = 0.0
    for cell in range(groups.size):
        group = groups[cell]
        if group < 0 or n[cell] == 0.0:
            continue
        own = tables.scatter[cell, source]
        mean = means[cell]
        away = n[cell] * (mean[source] - total[group] / rows[group])
        step = 2 << group
        if bits == 0:
            for j in range(columns):
                row[j] += own[j] + away * mean[j]
            continue
        for first in range(0, row.size, step):  # the sets with this value
            for place in range(first + step // 2, first + step):
                row[place] += own[place >> bits] + away * mean[place >> bits]
    for place in range(row.size):
        row[place] /= table.rows
    return np.asarray(row)


@kernel
def response_covariance(table: Regression, left: Floats) -> None:
    """Write the covariance of the response."""
    for a in range(table.width):
        row = row_of(table, table.response + a)
        for b in range(table.width):
            left[a, b] = row[((table.response + b + 1) << table.bits) - 1]
    left[0, 0] += table.blur


@kernel
def classes_of(tables: BlockTables, rows: FitRows, block: int, node: int) -> ClassRows:
    """A category as a response on the rows of one block."""
    own = rows.node[node]
    return ClassRows(
        rows.values,
        rows.codes[node],
        rows.starts,
        tables.groups[block],
        own[CLASSES],
        own[KIND] == ORDERED,
        rows.facts[WEIGHT],
        tables.number[block, PRICE],
    )


@kernel
def find(names: Names, name: np.uint64) -> int:
    """The place of a name, or an empty place."""
    place = np.int64(name >> np.uint64(40)) % names.size
    while names[place] != name and names[place] != np.uint64(0):
        place = (place + 1) % names.size
    return int(place)


@kernel
def name_of(
    block: Ints, about: Ints, keys: Names, node: int, chosen: Ints, count: int
) -> np.uint64:
    """A name for a node, a block (its row of `BlockTables.block`) and a set of columns, whatever
    their order.
    """
    name = np.uint64(node + 1) * np.uint64(0x9E3779B97F4A7C15)
    name ^= np.uint64(block[IDENTITY]) * np.uint64(0xC2B2AE3D27D4EB4F)
    for t in range(count):
        name ^= keys[(about[SOURCE, chosen[t]] << 4) + about[CONTEXTS, chosen[t]]]
    return name | np.uint64(1)


@kernel
def store(memory: Memory, place: int, name: np.uint64, score: float) -> bool:
    """Remember a score, unless the memory is nearly full."""
    if memory.filled[0] >= memory.names.size // 2:
        return False
    memory.names[place], memory.scores[place], memory.number[place] = name, score, memory.filled[0]
    memory.filled[0] += 1
    return True


@kernel
def name_of_fit(keys: Names, kind: int, node: int, candidates: Bools) -> np.uint64:
    """A name for a node, a kind of block and a set of candidates."""
    name = np.uint64(node + 1) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(kind) * np.uint64(
        0xC2B2AE3D27D4EB4F
    )
    for j in range(keys.size):
        name ^= keys[j] if candidates[j] else np.uint64(0)
    return name | np.uint64(1)


@kernel
def recall(kept: KeptFits, place: int, fits: Fits, node: int, slot: int) -> float:
    """Write a fit that was kept to a slot, but for the path that led to it; its score."""
    number = kept.number[place]
    whole = fits.whole[node, slot]
    matters = fits.matters[node, slot]
    room = (whole.size - PATH) // 2
    columns = kept.columns[number]
    mattered = kept.matters[number]
    whole[TAKEN] = columns[0]
    for t in range(columns[0]):
        whole[PATH + room + t] = columns[1 + t]
    for j in range(matters.size):
        matters[j] = mattered[j]
    return float(kept.scores[number])


@kernel
def keep(kept: KeptFits, name: np.uint64, fits: Fits, node: int, slot: int, score: float) -> None:
    """Keep the fit of a slot."""
    if kept.filled[0] >= kept.scores.size:
        kept.names[:] = np.uint64(0)
        kept.filled[0] = 0
    whole = fits.whole[node, slot]
    matters = fits.matters[node, slot]
    place = find(kept.names, name)
    number = kept.filled[0]
    room = (whole.size - PATH) // 2
    kept.names[place] = name
    kept.number[place] = number
    kept.scores[number] = score
    kept.columns[number, 0] = whole[TAKEN]
    for t in range(whole[TAKEN]):
        kept.columns[number, 1 + t] = whole[PATH + room + t]
    for j in range(matters.size):
        kept.matters[number, j] = matters[j]
    kept.filled[0] += 1
