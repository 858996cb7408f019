"""The search problem as the kernels see it: blocks of contexts with their moments and prices, and the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import log, pi
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.handles import note_of
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.kernels.orders.kept_fits import Kept, no_kept
from causalcontext.kernels.orders.node_data import (
    BENCH,
    CLASS,
    CURVES,
    LAWS,
    ORDERED,
    Bench,
    Calls,
    Memory,
    Rows,
    Tables,
    no_memory,
)
from causalcontext.kernels.orders.node_scores import calls_for
from causalcontext.kernels.orders.regressions import BASIC, PATH, TAKEN, no_fits, scratch
from causalcontext.kernels.rows.laws import law_table
from causalcontext.kernels.rows.number_scores import IN_A_BIN
from causalcontext.score.columns import CURVES as OFFERED_CURVES
from causalcontext.score.columns import LEVEL, Columns, one_function
from causalcontext.score.options import ScoreOptions
from causalcontext.score.setup import Setup

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_PLAIN, MOST_CURVED = 12, 20
"""The most columns of a node beside required ones, without curves and with them."""
MOST_CONTEXTS_MIXED = 2
"""Up to so many contexts slopes may differ between any sets of them; more of them cost time and gained nothing."""
GROWTH = 8
"""By what factor room for matrices grows: memory that is never written is never taken."""
PLAIN, MIXED = range(2)
"""Designs: columns that live on all rows of a block; columns that live in some contexts."""


@dataclass(frozen=True, eq=False)
class Desk:
    """What one thread remembers in a search: sets of columns that were evaluated, and whole fits."""

    memory: Memory
    kept: Kept


class Worktop:
    """Tables, rows and room for fits, for one thread, and the note by which kernels find them.

    Only a search over orders keeps fits, and asks what matters to them.
    """

    def __init__(self, layout: Layout, slots: int, memory: Memory, kept: Kept | None = None) -> None:
        setup = layout.setup
        p, columns = setup.variables, layout.tables.about.shape[2]
        forced = np.vstack([setup.forced, setup.context_forced[None]])
        self.bench = Bench(layout.tables, layout.rows, law_table(), forced,
                           no_fits(p + 1, slots, layout.width, p if kept else 0),
                           scratch(p, columns, layout.width, layout.responses), memory,
                           kept or no_kept(p, 1, 0))  # fmt: skip
        self.note = note_of(self.bench, BENCH)

    def taken(self, node: int, slot: int) -> Ints:
        """The columns of a fit."""
        whole, room = self.bench.fits.whole[node, slot], (self.bench.fits.whole.shape[2] - PATH) // 2
        return np.array(whole[PATH + room : PATH + room + whole[TAKEN]])


@dataclass(frozen=True, eq=False)
class Layout:
    """Blocks as bit masks of contexts, then, with two or more contexts, the shifted model and the mixed one."""

    setup: Setup
    columns: Columns
    masks: tuple[int, ...]
    tables: Tables
    rows: Rows

    @property
    def shifted(self) -> int:
        """The number of the block with an intercept for every context; that with own slopes follows, if any."""
        return len(self.masks)

    @property
    def plain(self) -> bool:
        """Whether curves are not on offer."""
        return bool(self.rows.facts[CURVES] == 0.0)

    @property
    def calls(self) -> Calls:
        """The functions that a fit calls."""
        return calls_for(bool((self.setup.kind == ORDERED).any()))

    @cached_property
    def width(self) -> int:
        """The most columns of a node, required ones included."""
        return (MOST_PLAIN if self.plain else MOST_CURVED) + self._required

    @cached_property
    def _required(self) -> int:
        """The most columns that required parents bring, and one to spare for a family that falls apart."""
        basic = np.zeros(self.setup.variables)
        np.add.at(basic, self.columns.owner, self.tables.about[PLAIN, BASIC, : self.columns.size])
        forced = np.vstack([self.setup.forced, self.setup.context_forced[None]])
        return int((forced @ basic).max(initial=0)) + 2

    @property
    def responses(self) -> int:
        """The most response columns of a node."""
        return int(self.rows.node[:, 2].max())

    def memory(self) -> Memory:
        """An empty memory."""
        return no_memory(MOST_CURVED + self._required, 1 << (15 if self.setup.variables <= 12 else 18))

    def desk(self, memory: Memory) -> Desk:
        """A desk for a search, on which no fit lies yet."""
        places = 1 << (14 if self.setup.variables <= 12 else 17)
        return Desk(memory, no_kept(self.setup.variables, self.width, places))

    def offering(self, curves: bool, laws: bool = True) -> Layout:
        """The same with other things on offer."""
        facts = self.rows.facts.copy()
        facts[LAWS], facts[CURVES] = float(laws), float(curves and bool(self.columns.curved.any()))
        return replace(self, rows=self.rows._replace(facts=facts))


@dataclass(frozen=True, eq=False)
class Block:
    """One block, before all of them go into one table."""

    matrix: Floats
    design: int
    mask: int
    by_context: bool
    parameters: float
    cost: Floats


@dataclass(frozen=True, eq=False)
class DesignFacts:
    """What is known of the columns of a design: `about`, `first` and `extra` of a regression."""

    about: Ints
    first: Ints
    extra: Floats


@dataclass(frozen=True, eq=False)
class Shelved:
    """The rows of one block in the tables of a layout."""

    block: Ints
    number: Floats
    cost: Floats
    weight: Floats
    variance: Floats


class Shelf:
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


class Workshop:
    """Makes layouts of one table, each block only once."""

    def __init__(self, setup: Setup, columns: Columns, options: ScoreOptions) -> None:
        self.setup, self.columns, self.options = setup, columns, options
        self._designs, self._shelf = [_plain_design(setup, columns, options)], Shelf()
        last = [_shifted(setup, columns, options)] if setup.contexts > 1 else []
        if 1 < setup.contexts <= MOST_CONTEXTS_MIXED:
            design, block = _mixed(setup, columns, options)
            self._designs.append(design)
            last.append(block)
        self._blocks: dict[int, Shelved] = {}
        self._last = [self._shelved(block) for block in last]
        self._rows = _rows(setup, columns)
        self._memory: Memory | None = None

    def with_columns(self, columns: Columns) -> Workshop:
        """One with further columns at the end; what was evaluated need not be evaluated again."""
        other = Workshop(self.setup, columns, self.options)
        other._memory = self._memory
        return other

    def memory(self, layout: Layout) -> Memory:
        """The memory of the main thread, which all searches of this workshop share."""
        if self._memory is None:
            self._memory = layout.memory()
        return self._memory

    def layout(self, masks: Sequence[int], curves: bool, laws: bool = True) -> Layout:
        """The layout of some sets of contexts."""
        for mask in masks:
            if mask not in self._blocks:
                self._blocks[mask] = self._shelved(_block(self.setup, self.columns, self.options, mask))
        blocks = [*(self._blocks[mask] for mask in masks), *self._last]
        tables = _tables(self._shelf.entries, blocks, self._designs)
        return Layout(self.setup, self.columns, tuple(masks), tables, self._rows).offering(
            curves, laws and self.options.laws
        )

    def _shelved(self, block: Block) -> Shelved:
        """A block with its matrix on the shelf."""
        setup, options, n = self.setup, self.options, self.setup.block_rows(block.mask)
        widest = max(design.about.shape[1] for design in self._designs)
        spare = n - SPARE_ROWS if n < setup.total else max(n - SPARE_ROWS, 0)
        facts = [self._shelf.put(block.matrix), len(block.matrix), block.design, block.mask, int(block.by_context),
                 int(np.clip(spare, -1, MOST_CURVED))]  # fmt: skip
        start = -0.5 * n * (1.0 + log(2.0 * pi)) - price(options, n) * block.parameters
        paid = _padded(block.cost + self._designs[block.design].extra[: len(block.cost)], widest)
        return Shelved(np.array(facts, dtype=np.int64), np.array([n, start, price(options, n)]),
                       _padded(block.cost, widest), np.exp(2.0 * paid / max(n, 1.0)),
                       _padded(block.matrix.diagonal(), widest))  # fmt: skip

    def lattice(self, curves: bool, laws: bool = True) -> Layout:
        """The layout with every set of contexts as a block: all partitions are within reach."""
        return self.layout(range(1, 1 << self.setup.contexts), curves, laws)


def price(options: ScoreOptions, rows: float) -> float:
    """What a parameter costs in a block of so many rows."""
    return 0.5 * options.penalty * log(max(rows, 2.0))


def _rows(setup: Setup, columns: Columns) -> Rows:
    width = np.where(setup.kind == CLASS, np.maximum(setup.classes - 1, 1), 1)
    response = np.append(columns.response, columns.size)
    pieces, blur, places = _in_bins(setup, columns)
    node = np.stack([setup.kind, response, width, setup.classes, pieces], axis=1).astype(np.int64)
    facts = np.array([setup.weight, 1.0, 1.0, *blur])
    return Rows(places, setup.rows.codes, setup.rows.starts, node, _keys(max(12, columns.size.bit_length())), facts)


def _in_bins(setup: Setup, columns: Columns) -> tuple[Ints, Floats, Floats]:
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


def _tables(entries: Floats, blocks: Sequence[Shelved], designs: Sequence[DesignFacts]) -> Tables:
    """The tables of some blocks, whose matrices are among the `entries` of a shelf."""
    widest, both = max(design.about.shape[1] for design in designs), [*designs, designs[0]][:2]
    return Tables(
        entries, np.stack([block.block for block in blocks]), np.stack([block.number for block in blocks]),
        np.stack([_padded(design.about, widest) for design in both]), np.stack([design.first for design in both]),
        np.stack([block.cost for block in blocks]), np.stack([_padded(design.extra, widest) for design in both]),
        np.stack([block.weight for block in blocks]), np.stack([block.variance for block in blocks]),
    )  # fmt: skip


def _padded(array: NDArray[Any], width: int) -> NDArray[Any]:
    out = np.zeros((*array.shape[:-1], width), dtype=array.dtype)
    out[..., : array.shape[-1]] = array
    return out


def _plain_design(setup: Setup, columns: Columns, options: ScoreOptions) -> DesignFacts:
    q, p, extra = columns.size, setup.variables, max(setup.contexts - 1, 0)
    about = np.zeros((7, q + extra), dtype=np.int64)
    about[0, :q], about[0, q:] = columns.owner, p
    about[1] = -1
    about[1, :q] = [_partner(offer.owner, offer.partner, place >= columns.first[p])
                    for place, offer in enumerate(columns.offers)]  # fmt: skip
    about[2] = about[3] = np.arange(q + extra)
    about[5, :q] = _basic(setup, columns)
    about[6, :q] = columns.curved
    surcharge = columns.surcharge(setup.total) + options.parent_price(p)
    return DesignFacts(about, columns.first, np.append(surcharge, np.zeros(extra)))


def _partner(owner: int, partner: int, proposed: bool) -> int:
    """The second owner; a proposed column of one variable counts as its product with itself."""
    return owner if proposed and partner < 0 else partner


def _basic(setup: Setup, columns: Columns) -> NDArray[np.bool_]:
    """The columns that a required parent must have: the number itself, all levels of a category but one."""
    number = np.arange(columns.size) - columns.first[columns.owner]
    level = np.array([offer.kind == LEVEL for offer in columns.offers], dtype=bool)
    enough = np.where(level, np.maximum(setup.classes[columns.owner] - 1, 1), 1)
    return np.asarray((number < enough) & (np.arange(columns.size) < columns.first[setup.variables]))


def _block(setup: Setup, columns: Columns, options: ScoreOptions, mask: int) -> Block:
    """The rows of some contexts; of all contexts with indicators of these at the end."""
    k, q = setup.contexts, columns.size
    members = [r for r in range(k) if mask >> r & 1]
    n, means = setup.n[members], columns.means[members]
    away = means - n @ means / n.sum()
    matrix = np.zeros((q + max(k - 1, 0),) * 2)
    matrix[:q, :q] = (columns.scatter[members].sum(axis=0) + (away.T * n) @ away) / n.sum()
    if len(members) == k and k > 1:
        share = setup.n[: k - 1] / setup.total
        matrix[q:, :q] = share[:, None] * away[: k - 1]
        matrix[:q, q:] = matrix[q:, :q].T
        matrix[q:, q:] = np.diag(share) - np.outer(share, share)
    return Block(matrix, PLAIN, mask, False, 2.0, np.full(len(matrix), price(options, float(n.sum()))))


def _shifted(setup: Setup, columns: Columns, options: ScoreOptions) -> Block:
    """All rows, around the means of their own contexts."""
    k, q = setup.contexts, columns.size
    matrix = np.zeros((q + k - 1,) * 2)
    matrix[:q, :q] = columns.scatter.sum(axis=0) / setup.total
    return Block(matrix, PLAIN, (1 << k) - 1, True, 1.0 + k, np.full(len(matrix), price(options, setup.total)))


def _mixed(setup: Setup, columns: Columns, options: ScoreOptions) -> tuple[DesignFacts, Block]:
    """Columns that live in some contexts only, around their means there; a curve pays twice for being chosen then.

    The responses come first, with the numbers that they have in the plain design, and are nobody's columns.
    """
    k, q, p = setup.contexts, columns.size, setup.variables
    plain, everything = _plain_design(setup, columns, options), (1 << k) - 1
    source, mask = np.repeat(np.arange(q), everything), np.tile(np.arange(1, everything + 1), q)
    place = np.concatenate([np.arange(q), source])
    lives = np.concatenate([np.full(q, everything), mask])
    matrix = _mixed_moments(columns.scatter, setup.total)
    about = plain.about[:, place]
    about[0, :q], about[1, :q] = p, -1
    about[2] = place
    about[3] = np.concatenate([np.arange(q), q + np.searchsorted(source, source)])
    about[4] = lives
    about[5] &= (lives == everything) & (np.arange(len(place)) >= q)
    first = q + np.searchsorted(source, columns.first)
    prices = np.array([price(options, setup.block_rows(contexts)) for contexts in range(everything + 1)])
    extra = plain.extra[place] + log(OFFERED_CURVES) * (columns.curved[place] & (lives != everything))
    block = Block(matrix, MIXED, everything, True, 1.0 + k, prices[lives])
    return DesignFacts(about, first.astype(np.int64), extra), block


def _mixed_moments(scatter: Floats, total: float) -> Floats:
    """Covariances of q columns, then of each of them in every set of contexts; `scatter` is that of single contexts."""
    k, q = scatter.shape[:2]
    sets = (1 << k) - 1
    within = [scatter[[r for r in range(k) if mask >> r & 1]].sum(axis=0) / total for mask in range(sets + 1)]
    lives = [(slice(0, q), sets), *((slice(q + mask - 1, None, sets), mask) for mask in range(1, sets + 1))]
    matrix = np.zeros((q + q * sets,) * 2)
    for rows, one in lives:
        for columns, other in lives:
            if one & other:
                matrix[rows, columns] = within[one & other]
    return matrix
