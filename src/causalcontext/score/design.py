"""The design: the columns that every variable offers, their moments and prices, and what may cause
what.

A regression is fitted on a block. A `POOLED` block has the rows of some cells, around their common
mean; a `SHIFTED` one has all rows, around the means at every value of a reader; in a `MIXED` one a
column may also live at some of these values only, which may be merged into two. Blocks are made
when they are first asked for, and keep their numbers; their covariances are made by the kernels,
row by row, out of the moments by cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from hashlib import blake2b
from math import inf, log, pi
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import NOBODY, Bools, Floats, Ints
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.kernels.orders.fit_arrays import (
    BASIC,
    BITS,
    CLASS,
    CONTEXTS,
    CURVED,
    DESIGN,
    FAMILY,
    HURDLE,
    NUMBER,
    OWNER,
    PARTNER,
    SCALES,
    SOURCE,
    BlockTables,
    FitRows,
    KeptRows,
    Memory,
    no_memory,
    no_rows,
    random_names,
)
from causalcontext.kernels.rows.bends import Held
from causalcontext.kernels.rows.number_scores import IN_A_BIN, NO_DENSITY
from causalcontext.kernels.rows.scales import MOST_SCALES, SHAPES
from causalcontext.score.columns import (
    CLIP,
    CURVES,
    LEVEL,
    LINEAR,
    OWN_STEP,
    PRESENT,
    PRODUCT,
    ROOT,
    BasisFunction,
    evaluated,
    make_columns,
    moments_of,
    scale_columns,
)
from causalcontext.score.data import ScoreData
from causalcontext.score.options import ScoreOptions

POOLED = "pooled"
SHIFTED = "shifted"
MIXED = "mixed"
"""Kinds of blocks."""
PLAIN = 0
"""The design of columns that live on all rows of a block; those of columns by values of readers
follow.
"""
BlockKey = tuple[str, int, int]
"""A kind, cells as a bit mask, and a reader or one with merged values (`ScoreData.codings`), -1 if
pooled.
"""
FEWEST_PLAIN = 12
FEWEST_CURVED = 20
"""Columns of a node beside required ones that any table allows, without curves and with them."""
ROWS_A_COLUMN = 10
"""A table with more rows allows a further column for so many of them: a mechanism of 10 causes
needs 15 before those are left out that others stand for. With 30 columns of degree 10 and 1,000
rows, SHD 75 at 12 columns, 9 at 40.

A mechanism of some contexts alone has a column for so many of their rows, too, and no more. With 12
columns of noise 12 rows beside 48 brought 31 links and now 1 (5 tables), with 18 columns 14 rows
beside 76 brought 64 and now 1, with 100 columns 40 rows beside 360 brought 1,030 and now 18 (2
tables; with a column for 5 rows 397). Random models of 6 to 12 variables with contexts of 30 to 200
rows kept all of their 3,830 links."""
MOST_COLUMNS = 60
"""And no more than this: the time of a path grows with the square of its length, and what is
remembered of it too.
"""
MOST_VALUES_MIXED = 4
"""Readers with so many values at most have mixed models, in which slopes may differ between any
sets of values.
"""
LARGEST_EXPONENT = 600.0
"""What a link costs as a factor of variances is no more than the exponential of this, whatever the
penalty.
"""


class ScoreDesign:
    """Q columns, each with mean 0 and variance 1 over all rows: those of C candidates, proposed
    ones, then roots.

    Variables may offer `curves` of themselves, and there are `proposed` columns. `memory` has what
    was evaluated before with the same columns, of which there may be more now; attributes and their
    shapes:

    - `scales`: whether the noise of numbers may have an uneven spread (`with_scales`).
    - `functions`, `mean` (Q,), `mix` (Q, Q): columns are `mix @ (functions - mean)`; `values` (Q,
      rows) has them.
    - `first` (C + 2,): columns `first[j]` to `first[j + 1] - 1` are those of variable j, for j = C
      the proposed ones.
    - `means` (K, Q), `scatter` (K, Q, Q): moments by cell, over all rows of the table.
    - `owner` (Q,); `curved` (Q,): which columns are more than the variable itself.
    - `response` (C,): the column of every variable that is explained: of numbers themselves, of
      small counts the root; of a category the first of several.
    - `surcharge` (Q,): the price of a column beside its parameter: the choice among so many.
    - `allowed`, `required` (nodes, C): `[child, parent]`; a system variable reads the context
      instead.
    - `near` (nodes, C): who is ever a candidate of a node; all, unless a search over orders of many
      variables has chosen (`narrow`).
    - `needs` (readers, 2): what comes before every node that uses a reader, -1 for no node.
    - `may` (nodes, 1 + readers): whether a node may have one mechanism in all cells, and may change
      with a reader.
    - `earlier` (nodes, nodes): `earlier[a, b]`: a must come before b in every order.
    - `rows`: what kernels see of the rows.
    - `memory`, `covariances`: of the main thread, shared by all searches of the design.
    """

    def __init__(
        self,
        data: ScoreData,
        options: ScoreOptions,
        curves: bool,
        proposed: Sequence[BasisFunction] = (),
        memory: Memory | None = None,
    ) -> None:
        self.data = data
        self.options = options
        self.scales = False
        self.functions, self.mean, self.mix, self.first, self.values = make_columns(
            data, curves, proposed
        )
        self.means, self.scatter = moments_of(
            data, self.functions, self.mean, self.mix, self.first, self.values
        )
        self.owner = np.array([function.owner for function in self.functions], dtype=np.int64)
        self.curved = np.array(
            [each.kind not in (LINEAR, LEVEL, ROOT, PRESENT) for each in self.functions], dtype=bool
        )
        self.response = self.first[:-2].copy()
        for place in range(int(self.first[-1]), self.size):
            self.response[self.owner[place]] = place
        self.surcharge = _surcharge(data, self.functions, self.price(data.total))
        self.allowed, self.required, self.needs, self.may, self.earlier = _known(data)
        self.near = np.ones_like(self.allowed)
        self._facts = [_plain_facts(self)]
        self._mixed = {}
        for levels in sorted(
            {reader.levels for reader in data.codings if reader.levels <= MOST_VALUES_MIXED}
        ):
            self._mixed[levels] = len(self._facts)
            self._facts.append(_facts_by_value(self, levels))
        self._widest = max(about.shape[1] for about, _, _ in self._facts)
        about, first, extra = zip(*self._facts, strict=True)
        abouts, extras = (
            np.stack([_padded(each, self._widest) for each in some]) for some in (about, extra)
        )
        self._all_facts = abouts, np.stack(first), extras
        basic = np.bincount(
            self.owner, weights=self._facts[PLAIN][0][BASIC, : self.size], minlength=data.candidates
        )
        # one to spare: a family may fall apart
        self.most_required = int((self.required @ basic).max(initial=0)) + 2
        self.rows = _fit_rows(self)
        self.memory, self.covariances = memory or self.new_memory(), self.new_rows()
        self._forget_blocks()

    def _forget_blocks(self) -> None:
        self._numbers: dict[BlockKey, int] = {}
        self._keys: list[BlockKey] = []
        self._blocks: list[NDArray[Any]] = []
        self._lock = Lock()
        self._tables: BlockTables | None = None

    @property
    def size(self) -> int:
        """Q."""
        return len(self.functions)

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

    def with_scales(self) -> ScoreDesign:
        """The design in which the noise of numbers may have an uneven spread."""
        other, rows, facts = copy(self), self.rows.values, self.rows.facts.copy()
        facts[SCALES] = len(rows)
        other.rows = self.rows._replace(
            values=np.vstack([rows, scale_columns(self.data)]), facts=facts
        )
        other.scales = True
        other.covariances = self.new_rows()
        other._forget_blocks()
        return other

    def narrow(self, near: Bools) -> None:
        """Let nodes choose among some candidates alone; workspaces that were made before stay."""
        with self._lock:
            self.near = near | self.required
            self._tables = None

    def most_columns(self, curves: bool) -> int:
        """The most columns of the location of a node beside required ones, if curves are on offer
        or not.
        """
        return most_columns(self.data.total, curves and bool(self.curved.any()), self.size)

    def width(self, curves: bool) -> int:
        """The most columns of a node, required ones and those of a scale included, if curves are on
        offer or not.
        """
        spare = (MOST_SCALES + 1) * self.scales  # and one more for a further column
        return self.most_columns(curves) + self.most_required + spare

    def owners_of_scale(self, columns: Ints) -> Ints:
        """The candidates among the owners of columns of a scale."""
        owner = columns // SHAPES
        return owner[owner < self.data.candidates]

    def new_memory(self) -> Memory:
        """An empty memory, with room for what designs with further columns may take."""
        width = most_columns(self.data.total, True) + self.most_required
        return no_memory(width, 1 << (15 if self.data.responses <= 12 else 18))

    def new_rows(self) -> KeptRows:
        """Room for rows of covariances."""
        return no_rows(self._widest)

    def block(self, kind: str, mask: int, reader: int = -1) -> int:
        """The number of a block."""
        key = (kind, mask, reader)
        with self._lock:
            if key not in self._numbers:
                made = self._made(key)
                count = len(self._keys)
                if not self._blocks:
                    self._blocks = [np.empty((1, *row.shape), row.dtype) for row in made]
                if count == len(self._blocks[0]):  # tables that were handed out before stay valid
                    self._blocks = [
                        np.concatenate([each, np.empty_like(each)]) for each in self._blocks
                    ]
                for each, row in zip(self._blocks, made, strict=True):
                    each[count] = row
                self._keys.append(key)
                self._numbers[key] = count
                self._tables = None
        return self._numbers[key]

    def key(self, block: int) -> BlockKey:
        """The kind of a block, its cells as a bit mask, and its reader."""
        return self._keys[block]

    def groups(self, block: int) -> Ints:
        """The intercept of every cell in a block, -1 for cells that are not in it."""
        return np.asarray(self._blocks[1][block])

    def pooled(self, masks: Sequence[int]) -> list[int]:
        """The blocks of some sets of cells."""
        return [self.block(POOLED, mask) for mask in masks]

    def changing(self, reader: int) -> list[int]:
        """The blocks of all cells that change with a reader.

        One has an intercept for every value; then come those with own slopes, for every value and
        for merged ones.
        """
        return [self.block(SHIFTED, self.everything, reader)] + [
            self.block(MIXED, self.everything, q)
            for q in (reader, *self._merged(reader))
            if self.data.codings[q].levels in self._mixed
        ]

    def _merged(self, reader: int) -> list[int]:
        """The codings that are a reader with merged values."""
        return [
            q
            for q, (own, _) in enumerate(self.data.merged, len(self.data.readers))
            if own == reader
        ]

    def about(self, block: int) -> Ints:
        """What the columns of a block are: rows as in `Regression.about`."""
        return self._facts[int(self._blocks[0][block, DESIGN])][0]

    def bits(self, block: int) -> int:
        """The number of values at some of which a column of a block may live, 0 for plain
        columns.
        """
        return int(self._blocks[0][block, BITS])

    def tables(self) -> BlockTables:
        """All blocks so far, for kernels."""
        with self._lock:
            if self._tables is None:
                block, groups, number, cost, weight, variance = (
                    each[: len(self._keys)] for each in self._blocks
                )
                about, first, extra = self._all_facts
                self._tables = BlockTables(
                    self.data.n,
                    self.means,
                    self.scatter,
                    block,
                    groups,
                    number,
                    about,
                    first,
                    cost,
                    extra,
                    weight,
                    variance,
                    self.required,
                    self.near,
                )
            return self._tables

    def matrix_and_rows(self, block: int, columns: Ints) -> tuple[Floats, Bools, int]:
        """Columns of a regression on the rows of its block, intercepts first; which rows; how many
        intercepts.
        """
        groups = self.groups(block)
        about = self.about(block)
        own_group = groups[self.data.cells]
        rows = own_group >= 0
        own_group = own_group[rows]
        shifts = [(own_group == group).astype(float) for group in range(groups.max() + 1)]
        lives = [
            (about[CONTEXTS, c] >> own_group & 1) if about[CONTEXTS, c] else 1.0 for c in columns
        ]
        own = [
            self.values[about[SOURCE, c], rows] * here
            for c, here in zip(columns, lives, strict=True)
        ]
        return np.stack([*shifts, *own]), rows, len(shifts)

    def scale_matrix(self, block: int, columns: Ints, rows: Bools) -> Floats:
        """Columns of a scale on the rows of a block, shape (columns, rows of the block)."""
        shapes = SHAPES * self.data.candidates
        groups = self.groups(block)[self.data.cells[rows]]
        first = int(self.rows.facts[SCALES])
        own = [
            groups == c - shapes + 1 if c >= shapes else self.rows.values[first + c, rows]
            for c in columns.tolist()
        ]
        return np.array(own, dtype=np.float64).reshape(len(columns), int(rows.sum()))

    def lives(self, block: int, column: int) -> int:
        """The cells of a block in which a column lives, as a bit mask."""
        _, mask, reader = self.key(block)
        values = int(self.about(block)[CONTEXTS, column])
        return self.data.codings[reader].cells(values) if values else mask

    def _made(self, key: BlockKey) -> tuple[NDArray[Any], ...]:
        """The rows of a block in the tables: `block`, `groups`, `number`, `cost`, `weight`,
        `variance`.
        """
        (kind, mask, q), data = key, self.data
        n = data.rows_of(mask)
        design = PLAIN
        bits = 0
        groups = np.array([(mask >> cell & 1) - 1 for cell in range(data.contexts)], dtype=np.int64)
        if kind != POOLED:
            groups = data.codings[q].groups
        apart = self._variances(groups) / n
        price = self.price(n)
        cost = np.full(self.size, price)
        variance = apart.sum(axis=0)
        if kind == MIXED:
            design = self._mixed[len(apart)]
            bits = len(apart)
            lives = np.arange(1 << bits) >> np.arange(bits)[:, None] & 1
            by_set = [
                self.price(data.rows_of(data.codings[q].cells(own))) for own in range(1 << bits)
            ]
            cost = np.tile(by_set, self.size)
            variance = (apart.T @ lives).ravel()
        spare = max(n - SPARE_ROWS, 0)
        if n < data.total:  # some contexts alone: few rows fit anything
            spare = min(n - SPARE_ROWS, n // ROWS_A_COLUMN)
        identity = (
            int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), "little") >> 1
        )
        facts = [bits, int(np.clip(spare, -1, most_columns(n, True))), design, identity]
        place = q - len(data.readers)
        # among ways to merge values
        choice = log(len(self._merged(data.merged[place][0]))) if place >= 0 else 0.0
        start = -0.5 * n * (1.0 + log(2.0 * pi)) - price * (1.0 + len(apart)) - choice
        paid = _padded(cost + self._facts[design][2][: len(cost)], self._widest)
        return (
            np.array(facts, dtype=np.int64),
            groups,
            np.array([n, start, price]),
            _padded(cost, self._widest),
            np.exp(np.minimum(2.0 * paid / max(n, 1.0), LARGEST_EXPONENT)),
            _padded(variance, self._widest),
        )

    def _variances(self, groups: Ints) -> Floats:
        """Squares of columns around their means in every group of cells, shape (groups, Q)."""
        inside = (groups == np.arange(groups.max() + 1)[:, None]) * self.data.n
        centre = (inside @ self.means) / inside.sum(axis=1, keepdims=True)
        around = (
            np.diagonal(self.scatter, axis1=1, axis2=2)
            + self.data.n[:, None] * (self.means - centre[groups]) ** 2
        )
        return np.asarray((inside > 0.0).astype(float) @ around)


def most_columns(rows: float, curves: bool, offered: float = inf) -> int:
    """The most columns of a mechanism beside required ones, with so many rows, of so many that are
    offered.

    >>> tuple(most_columns(rows, False) for rows in (1_000, 300, 100))
    (60, 30, 12)
    >>> most_columns(1_000, False, 25)
    25
    """
    fewest = FEWEST_CURVED if curves else FEWEST_PLAIN
    return max(fewest, int(min(rows // ROWS_A_COLUMN, offered, MOST_COLUMNS)))


def _known(data: ScoreData) -> tuple[Bools, Bools, Ints, Bools, Bools]:
    """What is allowed and required, what readers need, which nodes may use them, and what must come
    first.
    """
    p = data.responses
    nodes = data.nodes
    position = data.position[: data.candidates]
    may, must = (
        each[position[:, None], position[:nodes]].T for each in (data.links.may, data.links.must)
    )
    allowed = may.copy()
    required = must.copy()
    contexts = ~data.is_system
    np.fill_diagonal(allowed[:, :nodes], False)
    allowed[:p, contexts] = required[:p, contexts] = False
    needs = np.full((len(data.readers), 2), NOBODY)
    use = np.zeros((nodes, 1 + len(needs)), dtype=bool)
    use[:p, 0] = ~must[:p, contexts].any(axis=1)
    use[p:, 0] = True
    for q, reader in enumerate(data.readers):
        own = np.isin(np.arange(data.candidates), reader.variables)
        needs[q, : len(reader.needs)] = reader.needs
        use[:p, 1 + q] = may[:p, own].all(axis=1) & ~must[:p, contexts & ~own].any(axis=1)
        use[[node for node in reader.needs if node < p], 1 + q] = False  # a threshold of itself
    return allowed, required, needs, use, reach(must[:, :nodes].T)


def _surcharge(data: ScoreData, functions: Sequence[BasisFunction], unit: float) -> Floats:
    """What a column costs beside its parameter: a curve is chosen among so many, a product among
    more, a place of n.
    """
    products = max(
        sum(each.kind == PRODUCT for each in functions), data.causes * (data.causes - 1) // 2
    )
    price = {
        LINEAR: 0.0,
        LEVEL: 0.0,
        PRESENT: 0.0,
        OWN_STEP: log(data.total),
        PRODUCT: log(max(products, CURVES)),
    }
    return np.array(
        [
            (
                Held(each.place, each.end).cost(data.values[each.owner], data.total, unit, CURVES)
                if each.kind == CLIP
                else price.get(each.kind, log(CURVES))
            )
            for each in functions
        ]
    )


def _plain_facts(design: ScoreDesign) -> tuple[Ints, Ints, Floats]:
    """`about`, `first` and `extra` of columns that live on all rows of a block.

    A proposed column of one variable counts as its product with itself. A required parent must have
    the number itself, or all levels of a category but one.
    """
    data = design.data
    place = np.arange(design.size)
    proposed = design.first[data.candidates]
    about = np.zeros((7, design.size), dtype=np.int64)
    about[OWNER] = design.owner
    about[PARTNER] = [
        each.owner if own >= proposed and each.partner < 0 else each.partner
        for own, each in enumerate(design.functions)
    ]
    about[SOURCE] = about[FAMILY] = place
    level = np.array([each.kind == LEVEL for each in design.functions], dtype=bool)
    enough = np.where(level, np.maximum(data.classes[design.owner] - 1, 1), 1)
    about[BASIC] = (place - design.first[design.owner] < enough) & (place < proposed)
    about[CURVED] = design.curved
    return about, design.first, design.surcharge + design.options.parent_price(data.causes)


def _facts_by_value(design: ScoreDesign, levels: int) -> tuple[Ints, Ints, Floats]:
    """The same of columns that live at some values of a reader only; a curve pays twice for being
    chosen then.

    Column s at the values of a bit mask has the number `(s << levels) + mask`; none is taken at no
    value.
    """
    plain, first, extra = design._facts[PLAIN]
    place = np.arange(design.size << levels)
    source, lives = np.divmod(place, 1 << levels)
    everywhere = lives == (1 << levels) - 1
    about = plain[:, source]
    about[FAMILY] = place - lives + 1
    about[CONTEXTS] = lives
    about[BASIC] &= everywhere
    return (
        about,
        first << levels,
        extra[source] + log(CURVES) * (design.curved[source] & ~everywhere),
    )


def _fit_rows(design: ScoreDesign) -> FitRows:
    """The rows for kernels. A number that was counted or rounded lies anywhere between neighbouring
    values.
    """
    data, nodes = design.data, design.data.nodes
    pieces = np.full(nodes, -1)
    blur = np.zeros(nodes)
    places = [design.values]
    for j in np.flatnonzero(data.kind[:nodes] == NUMBER).tolist():
        own = int(design.response[j])
        width = np.asarray(data.bin_widths(j))
        pieces[j] = -1 if data.has_density(j) else NO_DENSITY
        if not width.any():
            continue
        away = ((np.arange(IN_A_BIN) + 0.5) / IN_A_BIN - 0.5)[:, None] * width
        moved = np.stack(
            [evaluated(data.values + shift, data.codes, design.functions[own]) for shift in away]
        )
        moved = (moved - design.mean[own]) * design.mix[own, own]
        pieces[j] = sum(map(len, places))
        blur[j] = np.var(moved - design.values[own])
        places.append(moved)
    width = np.where(data.kind == CLASS, np.maximum(data.classes - 1, 1), 1)
    kinds = data.kind.copy()
    classes = data.classes.copy()
    hurdles = [j for j in range(nodes) if not np.isnan(data.hurdle(j))]
    kinds[hurdles] = HURDLE
    width[hurdles] = 2
    classes[hurdles] = 3
    node = np.stack(
        [kinds[:nodes], design.response[:nodes], width[:nodes], classes[:nodes], pieces], axis=1
    ).astype(np.int64)
    starts = np.searchsorted(data.cells, np.arange(data.contexts + 1))
    facts = [data.weight, 1.0, 1.0, 0.0, *blur]
    return FitRows(
        np.vstack(places) if len(places) > 1 else design.values,
        data.codes,
        starts,
        node,
        random_names(0, 16 << max(12, design.size.bit_length())),
        np.array(facts),
    )


def _padded(array: NDArray[Any], width: int) -> NDArray[Any]:
    out = np.zeros((*array.shape[:-1], width), dtype=array.dtype)
    out[..., : array.shape[-1]] = array
    return out
