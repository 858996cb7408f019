"""What one pass over a stream keeps: moments, counts and hashes of all rows, and a sample of them.

An `Accumulator` takes record batches one after the other, and adds up with those of other parts of the same table:
`a.merged(b)`. What it keeps does not depend on how the rows are cut into batches and parts, as long as every part
knows which row it begins with. Moments are added up around a number near the mean of every cell, the mean of the first
rows that are met there, so that means far from 0 cost no digits.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.moments import Moments
from causalcontext.data.record_batches import Columns, cells_of
from causalcontext.data.sample import Sample
from causalcontext.data.survey import MISSING_WORD, word_of
from causalcontext.data.tally import Tally, no_tally
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Codes, Floats
from causalcontext.kernels.rows.batches import add_sorted, digest_codes, look, look_up
from causalcontext.kernels.rows.scan import order_by_level

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CELLS = 1000
Words = NDArray[np.uint64]
_NEW = -2


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
        self.system, self.contexts = system, contexts
        self.rows, self.missing_context, self.context_digest = 0, 0, 0
        self.cells: dict[tuple[Any, ...], int] = {} if contexts else {(): 0}
        self.sample = Sample(sample, len(system))
        self._tally = no_tally(len(self.cells), len(system))  # its means are less these numbers, which lie near them
        self._centres = np.zeros_like(self._tally.mean)

    @property
    def tally(self) -> Tally:
        """What all rows say, the cells in the order of `cells`."""
        return replace(self._tally, mean=self._centres + self._tally.mean)

    def add(self, batch: pa.RecordBatch, first_row: int) -> None:
        """Add a batch that begins with this row of the table."""
        codes = self._codes(batch)
        held = Columns(batch, self.system)  # the kernels below see no more than addresses
        columns = held.addresses
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            self._add_moments(columns, codes, first_row)
        self.rows += batch.num_rows
        if self.contexts:
            called = (cell[0] if len(cell) == 1 else cell for cell in self.cells)
            words = np.array([*map(word_of, called), MISSING_WORD], dtype=np.uint64)
            digest, without = digest_codes(codes, words, first_row)
            self.context_digest = (self.context_digest + int(digest)) % 2**64
            self.missing_context += int(without)
        self.sample.add(columns, codes, first_row)

    def merged(self, other: Accumulator) -> Accumulator:
        """What is known about both parts of a table; neither is changed."""
        both = Accumulator(self.system, self.contexts, self.sample.most)
        both.cells = dict(self.cells)
        place = np.array([both.cells.setdefault(cell, len(both.cells)) for cell in other.cells] + [-1], dtype=np.int32)
        size, mine, theirs = len(both.cells), np.arange(len(self.cells)), place[:-1]
        both._centres = _spread(other._centres, theirs, size)
        known = self._tally.n > 0
        both._centres[mine[known]] = self._centres[known]
        both._tally = _added(widened(self._around(both._centres[mine]), mine, size),
                             widened(other._around(both._centres[theirs]), theirs, size))  # fmt: skip
        both.rows, both.missing_context = self.rows + other.rows, self.missing_context + other.missing_context
        both.context_digest = (self.context_digest + other.context_digest) % 2**64
        both.sample = self.sample.merged(other.sample, place)
        return both

    def _add_moments(self, columns: Words, codes: Codes, first_row: int) -> None:
        tally, usable = self._tally, np.empty(codes.size, dtype=np.bool_)
        look(columns, codes, first_row, tally.digests, tally.missing, tally.infinite, usable)
        order, starts = order_by_level(codes, usable, len(tally.n))
        if order.size < codes.size:
            tally.lost[:] += np.bincount(codes[codes >= 0], minlength=len(tally.n)) - np.diff(starts)
        add_sorted(columns, order, starts, tally.n, self._centres, tally.mean, tally.low, tally.high, tally.scatter)

    def _around(self, centres: Floats) -> Tally:
        """The tally with means less other numbers."""
        return replace(self._tally, mean=(self._centres - centres) + self._tally.mean)

    def _codes(self, batch: pa.RecordBatch) -> Codes:
        """The cell of every row, -1 where a context variable is missing; new cells are noted."""
        codes = np.zeros(batch.num_rows, dtype=np.int32)
        if not self.contexts:
            return codes
        read = cells_of(batch, self.contexts)
        places = (-1 if None in cell else self.cells.get(cell, _NEW) for cell in read.cells)
        place = np.array([*places, -1], dtype=np.int32)
        if look_up(read.numbers, read.first, place, codes) == 0:
            return codes
        for number in np.unique(read.numbers[codes == _NEW]).tolist():
            place[number - read.first] = self.cells.setdefault(read.cells[number - read.first], len(self.cells))
        self._make_room()
        look_up(read.numbers, read.first, place, codes)
        return codes

    def _make_room(self) -> None:
        """Room for cells that are new."""
        if len(self.cells) > MOST_CELLS:
            raise DataError(f"{', '.join(self.contexts)} has more than {MOST_CELLS} values or combinations of values, "
                            "which looks like an identifier")  # fmt: skip
        known = np.arange(len(self._tally.n))
        self._tally = widened(self._tally, known, len(self.cells))
        self._centres = _spread(self._centres, known, len(self.cells))


def widened(tally: Tally, place: NDArray[np.integer[Any]], levels: int) -> Tally:
    """The same tally with its cells at some places among so many."""
    wide = no_tally(levels, tally.mean.shape[1])
    for field in fields(Tally):
        if field.name == "digests":
            wide.digests[:] = tally.digests
        else:
            getattr(wide, field.name)[place] = getattr(tally, field.name)
    return wide


def _spread(centres: Floats, place: NDArray[np.integer[Any]], levels: int) -> Floats:
    """The same rows at some places among so many."""
    wide = np.zeros((levels, centres.shape[1]))
    wide[place] = centres
    return wide


def _added(one: Tally, two: Tally) -> Tally:
    """What both say; the moments by the formula of Chan, Golub and LeVeque."""
    with np.errstate(over="ignore", invalid="ignore"):
        moments = Moments(one.n, one.mean, one.scatter) + Moments(two.n, two.mean, two.scatter)
        return replace(one, n=moments.rows, mean=moments.mean, scatter=moments.scatter, lost=one.lost + two.lost,
                       low=np.minimum(one.low, two.low), high=np.maximum(one.high, two.high),
                       missing=one.missing + two.missing, infinite=one.infinite + two.infinite,
                       digests=one.digests + two.digests)  # fmt: skip
