"""The totals of one pass over a stream: moments, counts and hashes of all rows, and a sample of
them.

An `Accumulator` takes record batches one after the other, and adds up with those of other parts of
the same table: `a.merged(b)`. What it keeps does not depend on how the rows are cut into batches
and parts, as long as every part knows which row it begins with. Moments are added up around a
number near the mean of every cell, the mean of the first rows that are met there, so that means far
from 0 cost no digits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.checks import MOST_CELLS, check_products
from causalcontext.data.columns import Kind
from causalcontext.data.frames import pa
from causalcontext.data.indicators import Indicator
from causalcontext.data.moments import (
    Moments,
    block_moments,
    blocks_for,
    both_triangles,
    no_totals,
    without_blocks,
)
from causalcontext.data.sample import DrawnRows, RowSample
from causalcontext.data.streams import StreamLevels, dictionary_of_batch, note_order
from causalcontext.data.sufficient_statistics import MISSING_WORD, word_of
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Bools, Codes, Floats, Values
from causalcontext.kernels.rows.batches import digest_codes, look_up
from causalcontext.kernels.rows.stretches import ScanTotals, ScanWorkspace, add_rows, workspace_for

_NEW = -2
_FEW = 256


class Accumulator:
    """The totals of a table after some of its rows.

    `system` are the columns that hold numbers or levels, `contexts` those that name the context;
    `sample` rows are kept; `made` says how the contexts are made that are no columns.
    """

    def __init__(
        self,
        system: tuple[str, ...],
        contexts: tuple[str, ...],
        sample: int,
        levels: tuple[StreamLevels, ...] = (),
        made: tuple[Indicator, ...] = (),
    ) -> None:
        self.system = system
        self.contexts = contexts
        copied = (
            replace(one, numbers=dict(one.numbers), neighbours=set(one.neighbours))
            for one in levels
        )
        self.levels = {one.name: one for one in copied}
        self.made = made
        self.neighbours: dict[str, set[tuple[Any, Any]]] = {name: set() for name in contexts}
        self.rows = 0
        self.missing_context = 0
        self.context_digest = 0
        self.cells: dict[tuple[Any, ...], int] = {} if contexts else {(): 0}
        self.sample = RowSample(sample, len(system))
        self.indicators: dict[tuple[str, Any], int] = {}
        self._blocks = blocks_for(len(self.cells), len(system))
        self._totals = no_totals(len(self.cells) * self._blocks, len(system))
        self._words = np.empty(0, dtype=np.uint64)
        self._workspace: ScanWorkspace | None = None
        self._first = 0
        self._places = np.array([-1], dtype=np.int32)

    @property
    def totals(self) -> ScanTotals:
        """The totals of all rows, the cells in the order of `cells`."""
        # After the system columns come `indicators`: 1 in the rows that have a level of an ordered
        # column, else 0.
        return without_blocks(self._totals, self._blocks)

    @property
    def block_moments(self) -> tuple[Moments, ...]:
        """The moments of every block, its cells in the order of `cells`; none where these would
        take too much room.
        """
        return block_moments(self._totals, self._blocks)

    def numbers_in(self, batch: pa.RecordBatch, name: str) -> Floats:
        """A column of a batch as numbers, NaN where there is no value: what it holds, or the
        numbers of its levels.
        """
        column = batch.column(batch.schema.get_field_index(name))
        if name not in self.levels:
            return numbers_of(column)
        if pa.types.is_null(column.type):
            return self.levels[name].numbered(np.full(len(column), -1), [])
        codes, _, cells = _coded(column)
        return self.levels[name].numbered(
            codes, [cell[0] for cell in cells], dictionary_of_batch(batch, name)
        )

    def add(self, batch: pa.RecordBatch, first_row: int) -> None:
        """Add a batch that begins with this row of the table."""
        for one in self.made:
            steps = one.codes(numbers_of(batch.column(batch.schema.get_field_index(one.column))))
            coded = pa.DictionaryArray.from_arrays(
                pa.array(steps, mask=steps < 0), pa.array(one.levels)
            )
            batch = batch.append_column(one.name, coded)
        for name, neighbours in self.neighbours.items():
            note_order(neighbours, dictionary_of_batch(batch, name))
        codes = self.codes_of(batch)
        numbers = {name: self.numbers_in(batch, name) for name in self.levels}
        made = self._indicators(numbers) if self.levels else []
        # the kernels below see no more than addresses
        held = BatchColumns(batch, self.system, numbers, made)
        chosen, hashes = self.sample.choose(first_row, codes.size)
        drawn = DrawnRows(
            hashes, first_row + chosen, codes[chosen], np.empty((held.addresses.size, chosen.size))
        )
        cells = len(self._totals.n) // self._blocks
        room = self._workspace
        if room is None or len(room.usable) < codes.size or room.starts.size != cells + 1:
            self._workspace = room = workspace_for(codes.size, cells, held.addresses.size)
        add_rows(
            held.addresses, codes, first_row, self._blocks, self._totals, room, chosen, drawn.values
        )
        self.sample.keep(
            drawn._replace(values=drawn.values[: len(self.system)]) if self.indicators else drawn
        )
        self.rows += batch.num_rows
        if self.contexts:
            if self._words.size != len(self.cells) + 1:
                called = (cell[0] if len(cell) == 1 else cell for cell in self.cells)
                self._words = np.array([*map(word_of, called), MISSING_WORD], dtype=np.uint64)
            digest, without = digest_codes(codes, self._words, first_row)
            self.context_digest = (self.context_digest + int(digest)) % 2**64
            self.missing_context += int(without)

    def merged(self, other: Accumulator) -> Accumulator:
        """The totals of both parts of a table; neither is changed."""
        both = Accumulator(
            self.system, self.contexts, self.sample.most, tuple(self.levels.values()), self.made
        )
        for name, levels in other.levels.items():
            both.levels[name].add(levels.numbers)
            both.levels[name].neighbours |= levels.neighbours
        both.neighbours = {
            name: own | other.neighbours[name] for name, own in self.neighbours.items()
        }
        both.indicators = dict(self.indicators)
        both._note_indicators()
        both.cells = dict(self.cells)
        place = np.array(
            [both.cells.setdefault(cell, len(both.cells)) for cell in other.cells] + [-1],
            dtype=np.int32,
        )
        both._blocks = min(self._blocks, other._blocks, blocks_for(len(both.cells), both._width))
        mine = self._placed(
            np.arange(len(self.cells)), len(both.cells), both._blocks, both.indicators
        )
        theirs = other._placed(place[:-1], len(both.cells), both._blocks, both.indicators)
        # around the centres of the first where it has rows; moments by Chan, Golub and LeVeque
        centre = np.where((mine.n > 0)[:, None], mine.centre, theirs.centre)
        with np.errstate(over="ignore", invalid="ignore"):
            moments = Moments(mine.n, mine.mean, mine.scatter)
            moments += Moments(theirs.n, (theirs.centre - centre) + theirs.mean, theirs.scatter)
        sums = {
            key: getattr(mine, key) + getattr(theirs, key)
            for key in ("lost", "missing", "infinite", "digests")
        }
        low = np.minimum(mine.low, theirs.low)
        high = np.maximum(mine.high, theirs.high)
        both._totals = ScanTotals(
            n=moments.rows,
            centre=centre,
            mean=moments.mean,
            low=low,
            high=high,
            scatter=moments.scatter,
            **sums,
        )
        both.rows = self.rows + other.rows
        both.missing_context = self.missing_context + other.missing_context
        both.context_digest = (self.context_digest + other.context_digest) % 2**64
        both.sample = self.sample.merged(other.sample, place)
        return both

    def packed(self) -> bytes:
        """Everything in it as bytes, to be sent to another process; `unpacked` reads them."""
        drawn = self.sample.drawn()
        head = {
            "system": self.system,
            "contexts": self.contexts,
            "most": self.sample.most,
            "bound": self.sample.bound,
            "cells": list(self.cells),
            "rows": self.rows,
            "missing_context": self.missing_context,
            "context_digest": self.context_digest,
            "blocks": self._blocks,
            "levels": [
                [one.name, one.kind, one.family, list(one.numbers), list(one.neighbours)]
                for one in self.levels.values()
            ],
            "neighbours": {name: list(own) for name, own in self.neighbours.items()},
            "made": [astuple(one) for one in self.made],
            "indicators": list(self.indicators),
        }
        arrays = {f"totals_{name}": array for name, array in self._totals._asdict().items()}
        arrays |= {f"drawn_{name}": array for name, array in drawn._asdict().items()}
        written = BytesIO()
        np.savez(written, head=np.frombuffer(json.dumps(head).encode(), np.uint8), **arrays)
        return written.getvalue()

    @property
    def _width(self) -> int:
        """The number of columns of the totals."""
        return len(self.system) + len(self.indicators)

    def _indicators(self, numbers: Mapping[str, Floats]) -> list[Floats]:
        """For every level of an ordered column, 1 in the rows that have it, NaN in those that have
        none, else 0.
        """
        self._note_indicators()
        if self._totals.mean.shape[1] < self._width:
            self._make_room()
            self._workspace = None
        return [
            np.where(
                np.isnan(numbers[name]), np.nan, numbers[name] == self.levels[name].numbers[level]
            )
            for name, level in self.indicators
        ]

    def _note_indicators(self) -> None:
        """A column for every level of an ordered column that is new."""
        for name, levels in self.levels.items():
            if levels.kind is Kind.ORDERED:
                for level in levels.numbers:
                    self.indicators.setdefault((name, level), self._width)

    def _placed(
        self,
        place: NDArray[np.integer[Any]],
        cells: int,
        blocks: int,
        indicators: Mapping[tuple[str, Any], int],
    ) -> ScanTotals:
        """The totals with the cells at some places among so many, in their blocks or as one, and
        more indicators.
        """
        totals = (
            self._totals if blocks == self._blocks else without_blocks(self._totals, self._blocks)
        )
        levels = (place[:, None] * blocks + np.arange(blocks)).ravel()
        p = len(self.system)
        known = list(self.indicators)[: totals.mean.shape[1] - p]
        columns = np.array([*range(p), *(indicators[one] for one in known)])
        return widened(totals, levels, cells * blocks, columns, p + len(indicators))

    def codes_of(self, batch: pa.RecordBatch) -> Codes:
        """The cell of every row, -1 where a context variable is missing; new cells are noted."""
        if not self.contexts:
            return np.zeros(batch.num_rows, dtype=np.int32)
        codes = np.empty(batch.num_rows, dtype=np.int32)
        alone = len(self.contexts) == 1
        numbers = (
            _whole(batch.column(batch.schema.get_field_index(self.contexts[0]))) if alone else None
        )
        if numbers is not None and look_up(numbers, self._first, 0, self._places, codes):
            return codes
        few = None if numbers is None else few_cells(numbers)
        read = few or cells_of(batch, self.contexts)
        places = (-1 if None in cell else self.cells.get(cell, _NEW) for cell in read.cells)
        # of the cells that were read, -1 behind them
        place = np.array([*places, -1], dtype=np.int32)
        if not look_up(read.numbers, read.first, -1, place, codes):
            for number in np.unique(read.numbers).tolist():
                if place[number - read.first] == _NEW:
                    place[number - read.first] = self.cells.setdefault(
                        read.cells[number - read.first], len(self.cells)
                    )
            self._make_room()
            look_up(read.numbers, read.first, -1, place, codes)
        if few is not None:
            self._first = read.first
            self._places = place
        return codes

    def _make_room(self) -> None:
        """Room for cells and indicators that are new."""
        if len(self.cells) > MOST_CELLS:
            raise DataError(
                f"{', '.join(self.contexts)} has more than {MOST_CELLS} values or combinations of"
                " values, which looks like an identifier"
            )
        check_products(self._width, len(self.cells))
        known = np.arange(len(self._totals.n) // self._blocks)
        blocks = min(self._blocks, blocks_for(len(self.cells), self._width))
        self._totals = self._placed(known, len(self.cells), blocks, self.indicators)
        self._blocks = blocks


def unpacked(content: bytes) -> Accumulator:
    """The accumulator that was packed."""
    with np.load(BytesIO(content), allow_pickle=False) as arrays:
        head = json.loads(arrays["head"].tobytes())
        levels = [
            StreamLevels(name, Kind(kind), family) for name, kind, family, _, _ in head["levels"]
        ]
        for one, (_, _, _, values, neighbours) in zip(levels, head["levels"], strict=True):
            one.add(values)
            one.neighbours.update(map(tuple, neighbours))
        made = tuple(
            Indicator(column, name, tuple(cuts), quantiles, tuple(called), best)
            for column, name, cuts, quantiles, called, best in head["made"]
        )
        found = Accumulator(
            tuple(head["system"]), tuple(head["contexts"]), head["most"], tuple(levels), made
        )
        found.neighbours = {name: set(map(tuple, own)) for name, own in head["neighbours"].items()}
        for name, level in head["indicators"]:
            found.indicators[name, level] = found._width
        found.cells = {tuple(cell): place for place, cell in enumerate(head["cells"])}
        found.rows = head["rows"]
        found.missing_context = head["missing_context"]
        found.context_digest = head["context_digest"]
        found._blocks = head["blocks"]
        found._totals = ScanTotals(*(arrays[f"totals_{name}"] for name in ScanTotals._fields))
        drawn = DrawnRows(*(arrays[f"drawn_{name}"] for name in DrawnRows._fields))
    found.sample = RowSample(head["most"], len(found.system), drawn, head["bound"])
    return found


def widened(
    totals: ScanTotals,
    place: NDArray[np.integer[Any]],
    levels: int,
    columns: NDArray[np.integer[Any]] | None = None,
    width: int = 0,
) -> ScanTotals:
    """The same totals with its cells, and columns, at some places among so many; new columns are 0
    in all rows.
    """
    if columns is None:
        width = totals.mean.shape[1]
        columns = np.arange(width)
    wide = no_totals(levels, width)
    for name, array in totals._asdict().items():
        if name == "digests":
            wide.digests[columns] = array
        elif name == "scatter":
            if (np.diff(columns) < 0).any():
                # else what is below the diagonal, all that is kept, stays there
                array = both_triangles(array)
            wide.scatter[np.ix_(place, columns, columns)] = array
        else:
            getattr(wide, name)[np.ix_(place, columns) if array.ndim > 1 else place] = array
    return wide


class BatchColumns:
    """Some columns of a batch as float64, NaN where there is no value; not copied where they are
    float64 already.

    `instead` has other numbers for some columns, `more` are further ones. `addresses` say where the
    numbers of each begin, valid as long as this object lives; uint64, shape (columns,).

    >>> import ctypes
    >>> import pyarrow as pa
    >>> columns = BatchColumns(pa.record_batch({"X": [1.0, 2.0], "Y": [3, None]}), ["X", "Y"])
    >>> [list((ctypes.c_double * 2).from_address(int(address))) for address in columns.addresses]
    [[1.0, 2.0], [3.0, nan]]
    """

    def __init__(
        self,
        batch: pa.RecordBatch,
        names: Sequence[str],
        instead: Mapping[str, Floats] | None = None,
        more: Sequence[Floats] = (),
    ) -> None:
        plain = pa.float64()
        self._held = batch.select(list(names)).columns
        self.addresses = np.empty(len(names), dtype=np.uint64)
        for place, column in enumerate(self._held):
            if instead and names[place] in instead:
                self._held[place] = instead[names[place]]
                self.addresses[place] = self._held[place].ctypes.data
            elif len(column) and not column.null_count and column.type == plain:
                self.addresses[place] = column.buffers()[1].address + 8 * column.offset
            else:
                self._held[place] = numbers = numbers_of(column)
                self.addresses[place] = numbers.ctypes.data
        self._held += more
        self.addresses = np.append(
            self.addresses, np.array([one.ctypes.data for one in more], dtype=np.uint64)
        )


def numbers_of(column: pa.Array) -> Floats:
    """A column as float64, NaN where there is no value."""
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    if pa.types.is_decimal(column.type):
        # by way of text every one becomes the nearest number, as in memory
        column = column.cast(pa.string()).cast(pa.float64())
    numbers = np.require(_stored(column), dtype=np.float64, requirements=["C", "A"])
    return np.where(_present(column), numbers, np.nan) if column.null_count else numbers


def _stored(column: pa.Array) -> Values:
    """The numbers of a column where they lie, with anything where one is missing."""
    # So says `to_numpy` of pyarrow, too, but it imports pandas, which takes 40 MB.
    kind = np.dtype(column.type.to_pandas_dtype())
    if not len(column):
        return np.empty(0, dtype=kind)
    return np.frombuffer(column.buffers()[1], kind, len(column), column.offset * kind.itemsize)


def _present(column: pa.Array) -> Bools:
    """True for the rows in which a column has a value."""
    return _stored(column.is_valid().cast(pa.uint8())).view(np.bool_)


class BatchCells(NamedTuple):
    """The cells of a batch."""

    # shape (rows,); `number - first` is the place of the row's cell in `cells`; -1 where a context
    # variable is missing
    numbers: Values
    first: int
    cells: list[tuple[Any, ...]]  # values of the context variables; some may be those of no row


def cells_of(batch: pa.RecordBatch, contexts: Sequence[str]) -> BatchCells:
    """The cells of a batch by one or several context variables.

    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"R": [5, 7, 5], "S": ["a", None, "b"]})
    >>> cells_of(batch, ["R"]).cells, cells_of(batch, ["R"]).first
    ([(5,), (6,), (7,)], 5)
    >>> read = cells_of(batch, ["R", "S"])
    >>> [read.cells[number] if number >= 0 else None for number in read.numbers.tolist()]
    [(5, 'a'), None, (5, 'b')]
    """
    columns = [batch.column(batch.schema.get_field_index(name)) for name in contexts]
    if len(columns) == 1:
        numbers = _whole(columns[0])
        return (None if numbers is None else few_cells(numbers)) or _coded(columns[0])
    numbers, cells = _coded(columns[0])[::2]
    for column in columns[1:]:
        digits, values = _coded(column)[::2]
        known = (numbers >= 0) & (digits >= 0)
        combined = np.where(known, numbers.astype(np.int64) * len(values) + digits, -1)
        found, numbers = np.unique(combined, return_inverse=True)
        missing = int(found.size > 0 and found[0] < 0)
        numbers = numbers - missing
        cells = [
            cells[pair // len(values)] + values[pair % len(values)]
            for pair in found[missing:].tolist()
        ]
    return BatchCells(numbers, 0, cells)


def few_cells(numbers: Values) -> BatchCells | None:
    """The cells of whole numbers that lie close together, the numbers as they are; None for
    others.
    """
    if not numbers.size:
        return None
    low = int(numbers.min())
    high = int(numbers.max())
    if high - low >= _FEW or high >= 2**62:
        return None
    return BatchCells(numbers, low, [(number,) for number in range(low, high + 1)])


def _whole(column: pa.Array) -> Values | None:
    """The numbers of a column that holds whole ones, none missing; None for any other."""
    return _stored(column) if pa.types.is_integer(column.type) and not column.null_count else None


def _coded(column: pa.Array) -> BatchCells:
    """The values of a column, and which of them every row has."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    numbers = _stored(coded.indices)
    if coded.indices.null_count:
        numbers = np.where(_present(coded.indices), numbers.astype(np.int64), -1)
        numbers.setflags(write=False)  # as Arrow's own: kernels are compiled once more for others
    return BatchCells(numbers, 0, [(value,) for value in coded.dictionary.to_pylist()])
