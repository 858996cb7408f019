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

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Codes, Floats, Ints
from causalcontext.kernels.rows.noise_densities import DensityTable

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
"""Rows of `BlockTables.about`."""
END, LENGTH, TAKEN, PATH = range(4)
"""Columns of `Fits.whole`: path and chosen columns follow."""
CLOSED, ONLY_IF_IT_PAYS, WELCOME, UNKNOWN = range(4)
"""Which columns could still be added at the end of a path; `UNKNOWN`: any may matter, and no path
is kept.
"""

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
    # shape (1 + readers, 7, Q), for plain columns and for those by values of every reader: the
    # variable a column belongs to, and the second one of a product, else -1; its number among the
    # columns of the rows. Where a column lives in some contexts only: the first of its family, in
    # which the contexts, as a bit mask, count up from 1; and that mask (0: the whole block). 1 if a
    # required parent must have the column; 1 if it is a curve
    about: Ints
    # shape (1 + readers, p + 2): the columns of variable i are `first[i]` to `first[i + 1] - 1`;
    # `first[p]` to `first[p + 1] - 1` are products
    first: Ints
    # `cost`, `weight`, `variance`: shape (B, Q): the price of one parameter; exp(2 price / rows) of
    # a column, for a response of one column; variances in units of the pooled ones
    cost: Floats
    extra: Floats  # shape (1 + readers, Q): the price of choosing the column among many
    weight: Floats
    variance: Floats
    required: Bools  # shape (nodes, p): `required[child, parent]`
    # shape (nodes, p): who is ever a candidate: in wide tables fits do not look at others
    near: Bools


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
    """Everything that a fit reads and writes; one for every thread.

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
