"""What one pass over a stream keeps: moments, counts and hashes of all rows, and a sample of them.

An `Accumulator` takes record batches one after the other, and adds up with those of other parts of the same table:
`a.merged(b)`. What it keeps does not depend on how the rows are cut into batches and parts, as long as every part
knows which row it begins with: a row is in the sample if the hash of its *number* is among the smallest ones.
Numbers rather than values, since equal rows have equal values; and drawn from all rows alike, not so many from every
context: where the context is an effect of the system, a draw by the context would be a selection.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.moments import Moments
from causalcontext.data.survey import MISSING_WORD, word_of
from causalcontext.data.tally import Tally, add_batch, no_tally
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Codes, Floats, Ints
from causalcontext.kernels.rows.scan import digest_rows

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS = 1000
_GOLDEN, _FIRST, _SECOND = (np.uint64(f) for f in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_27, _30, _31, _ONE = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(1)


class Accumulator:
    """What is known about a table after some of its rows.

    Parameters
    ----------
    system, contexts : tuples of str
        The columns that hold numbers, and those that name the context.
    sample : int
        How many rows to keep.
    """

    def __init__(self, system: tuple[str, ...], contexts: tuple[str, ...], sample: int) -> None:
        self.system, self.contexts, self.sample = system, contexts, sample
        self.rows, self.missing_context, self.context_digest = 0, 0, 0
        self.cells: dict[tuple[Any, ...], int] = {} if contexts else {(): 0}
        self.tally = no_tally(len(self.cells), len(system))
        self.hashes = np.empty(0, dtype=np.uint64)
        self.numbers, self.kept_codes = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
        self.kept = np.empty((len(system), 0))

    def add(self, batch: pa.RecordBatch, first_row: int) -> None:
        """Add a batch that begins with this row of the table."""
        codes = self._codes(batch)
        values = np.empty((len(self.system), batch.num_rows))
        for place, name in enumerate(self.system):
            values[place] = batch.column(batch.schema.get_field_index(name)).to_numpy(zero_copy_only=False)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            add_batch(self.tally, values, codes, first_row)
        self.rows += batch.num_rows
        self.missing_context += int(np.count_nonzero(codes < 0))
        if self.contexts:
            called = (cell[0] if len(cell) == 1 else cell for cell in self.cells)
            words = np.array([*map(word_of, called), MISSING_WORD], dtype=np.uint64)
            self.context_digest = (self.context_digest + int(digest_rows(words[codes], first_row))) % 2**64
        self._draw(values, codes, first_row)

    def merged(self, other: Accumulator) -> Accumulator:
        """What is known about both parts of a table; neither is changed."""
        both = Accumulator(self.system, self.contexts, self.sample)
        both.cells = dict(self.cells)
        place = np.array([both.cells.setdefault(cell, len(both.cells)) for cell in other.cells] + [-1], dtype=np.int32)
        mine = widened(self.tally, np.arange(len(self.cells)), len(both.cells))
        theirs = widened(other.tally, place[:-1], len(both.cells))
        both.tally = _added(mine, theirs)
        both.rows, both.missing_context = self.rows + other.rows, self.missing_context + other.missing_context
        both.context_digest = (self.context_digest + other.context_digest) % 2**64
        both.hashes = np.concatenate([self.hashes, other.hashes])
        both.numbers = np.concatenate([self.numbers, other.numbers])
        both.kept_codes = np.concatenate([self.kept_codes, place[other.kept_codes]])
        both.kept = np.concatenate([self.kept, other.kept], axis=1)
        both._keep_smallest()
        return both

    def sampled(self) -> tuple[Floats, Codes]:
        """The values and cells of the rows that were drawn, in the order of the table."""
        self._keep_smallest()
        order = np.argsort(self.numbers)
        return self.kept[:, order], self.kept_codes[order]

    def _codes(self, batch: pa.RecordBatch) -> Codes:
        """The cell of every row, -1 where a context variable is missing; new cells are noted."""
        if not self.contexts:
            return np.zeros(batch.num_rows, dtype=np.int32)
        values, digits = zip(*(_coded(batch, name) for name in self.contexts), strict=True)
        combined, size = np.zeros(batch.num_rows, dtype=np.int64), 1
        known = np.ones(batch.num_rows, dtype=bool)
        for levels, digit in zip(values, digits, strict=True):
            combined, known, size = combined * max(len(levels), 1) + digit, known & (digit >= 0), size * len(levels)
        place = np.full(size + 1, -1, dtype=np.int32)
        for found in np.flatnonzero(np.bincount(combined[known], minlength=size)).tolist():
            rest, cell = found, []
            for levels in reversed(values):
                rest, digit = divmod(rest, len(levels))
                cell.append(levels[digit])
            place[found] = self.cells.setdefault(tuple(reversed(cell)), len(self.cells))
        if len(self.cells) > MOST_CELLS:
            raise DataError(f"{', '.join(self.contexts)} has more than {MOST_CELLS} values or combinations of values, "
                            "which looks like an identifier")  # fmt: skip
        if len(self.cells) > len(self.tally.n):
            self.tally = widened(self.tally, np.arange(len(self.tally.n)), len(self.cells))
        return place[np.where(known, combined, size)]

    def _draw(self, values: Floats, codes: Codes, first_row: int) -> None:
        """Keep the rows of a batch whose hashes are among the smallest so far."""
        numbers = np.arange(first_row, first_row + codes.size)
        hashes = row_hashes(numbers)
        full = self.hashes.size >= self.sample
        chosen = np.flatnonzero(hashes < self.hashes.max()) if full else np.arange(codes.size)
        self.hashes = np.concatenate([self.hashes, hashes[chosen]])
        self.numbers = np.concatenate([self.numbers, numbers[chosen]])
        self.kept_codes = np.concatenate([self.kept_codes, codes[chosen]])
        self.kept = np.concatenate([self.kept, values[:, chosen]], axis=1)
        self._keep_smallest()

    def _keep_smallest(self) -> None:
        if self.hashes.size > self.sample:
            chosen = np.argpartition(self.hashes, self.sample - 1)[: self.sample]
            self.hashes, self.numbers = self.hashes[chosen], self.numbers[chosen]
            self.kept_codes, self.kept = self.kept_codes[chosen], self.kept[:, chosen]


def row_hashes(numbers: Ints) -> NDArray[np.uint64]:
    """A hash of every row number, another one for every number (splitmix64)."""
    with np.errstate(over="ignore"):
        bits = (numbers.astype(np.uint64) + _ONE) * _GOLDEN
        bits = (bits ^ (bits >> _30)) * _FIRST
        bits = (bits ^ (bits >> _27)) * _SECOND
    return np.asarray(bits ^ (bits >> _31))


def widened(tally: Tally, place: NDArray[np.integer[Any]], levels: int) -> Tally:
    """The same tally with its cells at some places among so many."""
    wide = no_tally(levels, tally.mean.shape[1])
    for field in fields(Tally):
        if field.name == "digests":
            wide.digests[:] = tally.digests
        else:
            getattr(wide, field.name)[place] = getattr(tally, field.name)
    return wide


def _added(one: Tally, two: Tally) -> Tally:
    """What both say; the moments by the formula of Chan, Golub and LeVeque."""
    with np.errstate(over="ignore", invalid="ignore"):
        moments = Moments(one.n, one.mean, one.scatter) + Moments(two.n, two.mean, two.scatter)
        return replace(one, n=moments.rows, mean=moments.mean, scatter=moments.scatter, lost=one.lost + two.lost,
                       low=np.minimum(one.low, two.low), high=np.maximum(one.high, two.high),
                       missing=one.missing + two.missing, infinite=one.infinite + two.infinite,
                       digests=one.digests + two.digests)  # fmt: skip


def _coded(batch: pa.RecordBatch, name: str) -> tuple[list[Any], Ints]:
    """The values of a column in a batch, and which of them every row has; -1 where it has none."""
    import pyarrow as pa

    column = batch.column(batch.schema.get_field_index(name))
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return coded.dictionary.to_pylist(), codes
