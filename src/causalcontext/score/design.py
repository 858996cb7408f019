"""The design: the columns that every variable offers, their moments and prices, and what may cause what.

A regression is fitted on a block: a kind, and cells as a bit mask. A `POOLED` block has the rows of some cells, around
their common mean; a `SHIFTED` one has them around the means of their own cells; in a `MIXED` one a column may also live
in some cells only. Blocks are made when they are first asked for, and keep their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log, pi
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.kernels.orders.fit_arrays import (
    BASIC,
    BY_CONTEXT,
    CLASS,
    CONTEXTS,
    CURVED,
    DESIGN,
    FAMILY,
    MASK,
    OWNER,
    PARTNER,
    SOURCE,
    BlockTables,
    FitRows,
    Memory,
    no_memory,
)
from causalcontext.kernels.orders.partitions import ALWAYS, FREE, NEVER
from causalcontext.kernels.rows.number_scores import IN_A_BIN
from causalcontext.score.columns import (
    CURVES,
    LEVEL,
    LINEAR,
    OWN_STEP,
    PRODUCT,
    ROOT,
    BasisFunction,
    evaluated,
    make_columns,
    moments_of,
)
from causalcontext.score.data import ScoreData, members
from causalcontext.score.options import ScoreOptions

POOLED, SHIFTED, MIXED = "pooled", "shifted", "mixed"
"""Kinds of blocks."""
PLAIN, BY_CELL = range(2)
"""Columns that live on all rows of a block, and columns that live in some cells."""
MOST_PLAIN, MOST_CURVED = 12, 20
"""The most columns of a node beside required ones, without curves and with them."""
MOST_CONTEXTS_MIXED = 2
"""Up to so many contexts slopes may differ between any sets of them; more of them cost time and gained nothing."""
GROWTH = 8
"""By what factor room for matrices grows: memory that is never written is never taken."""


class ScoreDesign:
    """Q columns, each with mean 0 and variance 1 over all rows: those of p variables, proposed ones, then roots.

    Parameters
    ----------
    data : ScoreData
    options : ScoreOptions
    curves : bool
        Whether variables offer curves of themselves.
    proposed : sequence of BasisFunction
        Further columns.
    memory : Memory, optional
        What was evaluated before with the same columns, of which there may be more now.

    Attributes
    ----------
    functions : tuple of BasisFunction
    mean : array, shape (Q,)
        Means of the functions.
    mix : array, shape (Q, Q)
        Columns are `mix @ (functions - mean)`.
    first : array of int, shape (p + 2,)
        The columns of variable j are `first[j]` to `first[j + 1] - 1`; `first[p]` to `first[p + 1] - 1` are proposed.
    values : array, shape (Q, rows)
    means, scatter : arrays, shape (K, Q) and (K, Q, Q)
        Moments by cell, over all rows of the table.
    owner : array of int, shape (Q,)
    curved : array of bool, shape (Q,)
        Which columns are more than the variable itself.
    response : array of int, shape (p,)
        The column of every variable that is explained: of numbers themselves, of small counts the root.
    surcharge : array, shape (Q,)
        The price of a column beside its parameter: the choice among so many.
    allowed, required : arrays of bool, shape (p + 1, p)
        `[child, parent]`; the last child is the context.
    role : array of int, shape (p,)
        Whether the context may, may not or must be a parent of a node.
    earlier : array of bool, shape (p + 1, p + 1)
        `earlier[a, b]`: a must come before b in every order.
    rows : FitRows
        What kernels see of the rows.
    memory : Memory
        Of the main thread, shared by all searches of the design.
    """

    def __init__(self, data: ScoreData, options: ScoreOptions, curves: bool, proposed: Sequence[BasisFunction] = (),
                 memory: Memory | None = None) -> None:  # fmt: skip
        self.data, self.options = data, options
        self.functions, self.mean, self.mix, self.first, self.values = make_columns(data, curves, proposed)
        self.means, self.scatter = moments_of(data, self.functions, self.mean, self.mix, self.first, self.values)
        self.owner = np.array([function.owner for function in self.functions], dtype=np.int64)
        self.curved = np.array([each.kind not in (LINEAR, LEVEL, ROOT) for each in self.functions], dtype=bool)
        self.response = self.first[:-2].copy()
        for place in range(int(self.first[-1]), self.size):
            self.response[self.owner[place]] = place
        self.surcharge = _surcharge(data, self.functions)
        self.allowed, self.required, self.role, self.earlier = _known(data)
        self._facts = [_plain_facts(self)]
        if self.is_mixed:
            self._facts.append(_facts_by_cell(self))
        self._widest = max(about.shape[1] for about, _, _ in self._facts)
        basic = np.bincount(self.owner, weights=self._facts[PLAIN][0][BASIC, : self.size], minlength=data.candidates)
        self.most_required = (
            int((self.required @ basic).max(initial=0)) + 2
        )  # one to spare for a family that falls apart
        self.rows = _fit_rows(self)
        self.memory = memory or self.new_memory()
        self._numbers: dict[tuple[str, int], int] = {}
        self._blocks: list[tuple[Any, ...]] = []
        self._entries, self._filled, self._lock = np.empty(0), 0, Lock()
        self._tables: BlockTables | None = None

    @property
    def size(self) -> int:
        """Q."""
        return len(self.functions)

    @property
    def is_mixed(self) -> bool:
        """Whether there are blocks in which columns live in some cells only."""
        return 1 < self.data.contexts <= MOST_CONTEXTS_MIXED

    @property
    def everything(self) -> int:
        """All cells as a bit mask."""
        return (1 << self.data.contexts) - 1

    def price(self, rows: float) -> float:
        """What a parameter costs in a block of so many rows."""
        return 0.5 * self.options.penalty * log(max(rows, 2.0))

    def with_proposed(self, proposed: Sequence[BasisFunction]) -> ScoreDesign:
        """The design with further columns; what was evaluated need not be evaluated again."""
        return ScoreDesign(self.data, self.options, True, proposed, self.memory)

    def width(self, curves: bool) -> int:
        """The most columns of a node, required ones included, if curves are on offer or not."""
        return (MOST_CURVED if curves and self.curved.any() else MOST_PLAIN) + self.most_required

    def new_memory(self) -> Memory:
        """An empty memory."""
        return no_memory(MOST_CURVED + self.most_required, 1 << (15 if self.data.responses <= 12 else 18))

    def block(self, kind: str, mask: int) -> int:
        """The number of a block."""
        with self._lock:
            if (kind, mask) not in self._numbers:
                self._blocks.append(self._made(kind, mask))
                self._numbers[kind, mask], self._tables = len(self._blocks) - 1, None
        return self._numbers[kind, mask]

    def key(self, block: int) -> tuple[str, int]:
        """The kind of a block, and its cells as a bit mask."""
        mask, by_cell, own_means = self._blocks[block][0][[MASK, DESIGN, BY_CONTEXT]].tolist()
        return MIXED if by_cell else SHIFTED if own_means else POOLED, mask

    def pooled(self, masks: Sequence[int]) -> list[int]:
        """The blocks of some sets of cells."""
        return [self.block(POOLED, mask) for mask in masks]

    def changing(self) -> list[int]:
        """The blocks of all cells with an intercept for every cell, then with own slopes too, if there are any."""
        kinds = ((SHIFTED, MIXED) if self.is_mixed else (SHIFTED,)) if self.data.contexts > 1 else ()
        return [self.block(kind, self.everything) for kind in kinds]

    def about(self, block: int) -> Ints:
        """What the columns of a block are: rows as in `Regression.about`."""
        return self._facts[int(self._blocks[block][0][DESIGN])][0]

    def tables(self) -> BlockTables:
        """All blocks so far, for kernels."""
        with self._lock:
            if self._tables is None:
                about, first, extra = zip(*[*self._facts, self._facts[PLAIN]][:2], strict=True)
                block, number, cost, weight, variance = map(np.stack, zip(*self._blocks, strict=True))
                about, extra = (np.stack([_padded(each, self._widest) for each in both]) for both in (about, extra))
                self._tables = BlockTables(self._entries, block, number, about, np.stack(first), cost, extra, weight,
                                           variance, self.required)  # fmt: skip
            return self._tables

    def matrix_and_rows(self, block: int, columns: Ints) -> tuple[Floats, Bools, int]:
        """Columns of a regression on the rows of its block, intercepts first; which rows; how many intercepts."""
        (kind, mask), about, data = self.key(block), self.about(block), self.data
        rows = data.selected(mask)
        cells = data.cells[rows]
        shifts = [np.ones(len(cells))] if kind == POOLED else [(cells == r).astype(float)
                                                               for r in members(mask, data.contexts)]  # fmt: skip
        own = [self.values[about[SOURCE, c], rows] * ((about[CONTEXTS, c] >> cells & 1) if about[CONTEXTS, c] else 1.0)
               for c in columns]  # fmt: skip
        return np.stack([*shifts, *own]), rows, len(shifts)

    def _made(self, kind: str, mask: int) -> tuple[Any, ...]:
        """The rows of a block in the tables: `block`, `number`, `cost`, `weight`, `variance`."""
        data, design, n = self.data, BY_CELL if kind == MIXED else PLAIN, self.data.rows_of(mask)
        cells = members(mask, data.contexts)
        matrix = (_mixed_moments(self.scatter, data.total) if kind == MIXED
                  else _block_moments(self, cells, kind == SHIFTED))  # fmt: skip
        intercepts = 1 if kind == POOLED else len(cells)
        price = self.price(n)
        cost = np.full(len(matrix), price)
        if kind == MIXED:
            lives = self._facts[BY_CELL][0][CONTEXTS]
            cost = np.array([self.price(data.rows_of(own)) for own in range(self.everything + 1)])[lives]
        spare = n - SPARE_ROWS if n < data.total else max(n - SPARE_ROWS, 0)
        facts = [
            self._put(matrix),
            len(matrix),
            design,
            mask,
            int(kind != POOLED),
            int(np.clip(spare, -1, MOST_CURVED)),
        ]
        start = -0.5 * n * (1.0 + log(2.0 * pi)) - price * (1.0 + intercepts)
        paid = _padded(cost + self._facts[design][2][: len(cost)], self._widest)
        return (np.array(facts, dtype=np.int64), np.array([n, start, price]), _padded(cost, self._widest),
                np.exp(2.0 * paid / max(n, 1.0)), _padded(matrix.diagonal(), self._widest))  # fmt: skip

    def _put(self, matrix: Floats) -> int:
        """Where a matrix begins among all entries; who has the entries of before may go on using them."""
        start, self._filled = self._filled, self._filled + matrix.size
        if self._filled > len(self._entries):
            larger = np.empty(max(self._filled, GROWTH * start))
            larger[:start] = self._entries[:start]
            self._entries = larger
        self._entries[start : self._filled] = matrix.ravel()
        return start


def _known(data: ScoreData) -> tuple[Bools, Bools, Ints, Bools]:
    """What is allowed and required, the roles of the context, and what must come first."""
    p, links = data.responses, data.links
    nodes, system = data.position, data.position[:p]
    allowed, required = np.ones((p + 1, p), dtype=bool), np.zeros((p + 1, p), dtype=bool)
    role, first = np.full(p, FREE), np.zeros((p + 1, p + 1), dtype=bool)
    there = p + int(nodes[p] >= 0)
    allowed[:there], required[:there] = (each[system[:, None], nodes[:there]].T for each in (links.may, links.must))
    first[:p] = required.T
    if there > p:
        role = np.where(links.must[nodes[p], system], ALWAYS, np.where(links.may[nodes[p], system], FREE, NEVER))
        first[p, :p] = role == ALWAYS
    return allowed, required, role.astype(np.int64), reach(first)


def _surcharge(data: ScoreData, functions: Sequence[BasisFunction]) -> Floats:
    """What a column costs beside its parameter: a curve is chosen among so many, a product among more."""
    products = max(sum(each.kind == PRODUCT for each in functions), data.candidates * (data.candidates - 1) // 2)
    price = {LINEAR: 0.0, LEVEL: 0.0, OWN_STEP: log(data.total), PRODUCT: log(max(products, CURVES))}
    return np.array([price.get(each.kind, log(CURVES)) for each in functions])


def _plain_facts(design: ScoreDesign) -> tuple[Ints, Ints, Floats]:
    """`about`, `first` and `extra` of columns that live on all rows of a block; indicators of cells are at the end.

    A proposed column of one variable counts as its product with itself. A required parent must have the number itself,
    or all levels of a category but one.
    """
    data, q, indicators = design.data, design.size, design.data.contexts - 1
    p, place = data.candidates, np.arange(design.size)
    about = np.zeros((7, q + indicators), dtype=np.int64)
    about[OWNER], about[PARTNER] = p, -1
    about[OWNER, :q] = design.owner
    about[PARTNER, :q] = [each.owner if own >= design.first[p] and each.partner < 0 else each.partner
                          for own, each in enumerate(design.functions)]  # fmt: skip
    about[SOURCE] = about[FAMILY] = np.arange(q + indicators)
    level = np.array([each.kind == LEVEL for each in design.functions], dtype=bool)
    enough = np.where(level, np.maximum(data.classes[design.owner] - 1, 1), 1)
    about[BASIC, :q] = (place - design.first[design.owner] < enough) & (place < design.first[p])
    about[CURVED, :q] = design.curved
    surcharge = design.surcharge + design.options.parent_price(p)
    return about, design.first, np.append(surcharge, np.zeros(indicators))


def _facts_by_cell(design: ScoreDesign) -> tuple[Ints, Ints, Floats]:
    """The same of columns that live in some cells only; a curve pays twice for being chosen then.

    The responses come first, with the numbers that they have among plain columns, and are nobody's columns.
    """
    plain, _, extra = design._facts[PLAIN]
    q, everything = design.size, design.everything
    source, mask = np.repeat(np.arange(q), everything), np.tile(np.arange(1, everything + 1), q)
    place, lives = np.concatenate([np.arange(q), source]), np.concatenate([np.full(q, everything), mask])
    about = plain[:, place]
    about[OWNER, :q], about[PARTNER, :q] = design.data.candidates, -1
    about[SOURCE] = place
    about[FAMILY] = np.concatenate([np.arange(q), q + np.searchsorted(source, source)])
    about[CONTEXTS] = lives
    about[BASIC] &= (lives == everything) & (np.arange(len(place)) >= q)
    first = q + np.searchsorted(source, design.first)
    return about, first.astype(np.int64), extra[place] + log(CURVES) * (design.curved[place] & (lives != everything))


def _block_moments(design: ScoreDesign, cells: list[int], shifted: bool) -> Floats:
    """Covariances of columns on the rows of some cells, then of indicators of cells where all of them are there.

    Shifted: around the means of their own cells.
    """
    data, q = design.data, design.size
    k = data.contexts
    matrix = np.zeros((q + k - 1,) * 2)
    if shifted:
        matrix[:q, :q] = design.scatter.sum(axis=0) / data.total
        return matrix
    n, means = data.n[cells], design.means[cells]
    away = means - n @ means / n.sum()
    matrix[:q, :q] = (design.scatter[cells].sum(axis=0) + (away.T * n) @ away) / n.sum()
    if len(cells) == k and k > 1:
        share = data.n[: k - 1] / data.total
        matrix[q:, :q] = share[:, None] * away[: k - 1]
        matrix[:q, q:] = matrix[q:, :q].T
        matrix[q:, q:] = np.diag(share) - np.outer(share, share)
    return matrix


def _mixed_moments(scatter: Floats, total: float) -> Floats:
    """Covariances of q columns, then of each of them in every set of cells; `scatter` is that of single cells."""
    k, q = scatter.shape[:2]
    sets = (1 << k) - 1
    within = [scatter[members(mask, k)].sum(axis=0) / total for mask in range(sets + 1)]
    lives = [(slice(0, q), sets), *((slice(q + mask - 1, None, sets), mask) for mask in range(1, sets + 1))]
    matrix = np.zeros((q + q * sets,) * 2)
    for rows, one in lives:
        for columns, other in lives:
            if one & other:
                matrix[rows, columns] = within[one & other]
    return matrix


def _fit_rows(design: ScoreDesign) -> FitRows:
    """The rows for kernels. A number that was counted or rounded lies anywhere between neighbouring values."""
    data, p = design.data, design.data.responses
    pieces, blur, places = np.full(p + 1, -1), np.zeros(p + 1), [design.values]
    for j in np.flatnonzero(data.gap[:p] > 0.0).tolist():
        own = int(design.response[j])
        away = data.gap[j] * ((np.arange(IN_A_BIN) + 0.5) / IN_A_BIN - 0.5)
        moved = np.stack([evaluated(data.values + shift, data.codes, design.functions[own]) for shift in away])
        moved = (moved - design.mean[own]) * design.mix[own, own]
        pieces[j], blur[j] = sum(map(len, places)), np.var(moved - design.values[own])
        places.append(moved)
    width = np.where(data.kind == CLASS, np.maximum(data.classes - 1, 1), 1)
    response = np.append(design.response, design.size)
    node = np.stack([data.kind, response, width, data.classes, pieces], axis=1).astype(np.int64)
    starts = np.searchsorted(data.cells, np.arange(data.contexts + 1))
    return FitRows(np.ascontiguousarray(np.vstack(places)), data.codes, starts, node,
                   _keys(max(12, design.size.bit_length())), np.array([data.weight, 1.0, 1.0, *blur]))  # fmt: skip


@cache
def _keys(bits: int) -> NDArray[np.uint64]:
    """Random numbers for up to 2 to the power of `bits` columns."""
    return np.random.default_rng(0).integers(1, 1 << 63, size=16 << bits, dtype=np.uint64)


def _padded(array: NDArray[Any], width: int) -> NDArray[Any]:
    out = np.zeros((*array.shape[:-1], width), dtype=array.dtype)
    out[..., : array.shape[-1]] = array
    return out
