"""Some rows of a stream: those whose numbers have the smallest hashes.

Which rows these are does not depend on how the table is cut into batches and parts, as long as
every part knows which row it begins with. Numbers rather than values are hashed, since equal rows
have equal values; and rows are drawn from all rows alike, not so many from every context: where the
context is an effect of the system, a draw by the context would be a selection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Codes, Floats, Ints, Words
from causalcontext.kernels.rows.batches import draw

SAMPLE = 20_000
"""Rows that are kept for tests that look at rows."""
_NO_BOUND = 2**64 - 1
_AT_A_TIME = 2**16


class DrawnRows(NamedTuple):
    """Rows that were drawn: their hashes, numbers and cells, and their values of shape (p,
    rows).
    """

    hashes: Words
    numbers: Ints
    codes: Codes
    values: Floats


class RowSample:
    """At most `most` rows of p columns. Up to twice as many are held; then those with larger hashes
    are dropped.
    """

    def __init__(
        self, most: int, p: int, drawn: DrawnRows | None = None, bound: int = _NO_BOUND
    ) -> None:
        self.most = most
        self.bound = bound
        nothing = np.empty(0, dtype=np.int64)
        empty = DrawnRows(
            nothing.astype(np.uint64), nothing, nothing.astype(np.int32), np.empty((p, 0))
        )
        self._parts = [empty if drawn is None else drawn]
        self._held = self._parts[0].hashes.size
        self._room = nothing, nothing.astype(np.uint64)

    def expect(self, rows: int) -> None:
        """Note that the table has so many rows in all: only those that will be in the sample are
        then looked at.
        """
        share = 1.1 * self.most / max(rows, 1)
        if share < 0.5:
            bound = int(share * 2.0**64)
            begins = range(0, rows, _AT_A_TIME)
            chosen = np.empty(_AT_A_TIME, dtype=np.int64)
            hashes = np.empty(_AT_A_TIME, dtype=np.uint64)
            counts = ((begin, min(_AT_A_TIME, rows - begin)) for begin in begins)
            small = [
                hashes[: draw(begin, count, bound, chosen, hashes)].copy()
                for begin, count in counts
            ]
            below = np.concatenate(small)
            if below.size > self.most:
                self.bound = int(np.partition(below, self.most)[self.most])

    def choose(self, first_row: int, rows: int) -> tuple[Ints, Words]:
        """Those of so many rows whose hashes are among the smallest so far, counted from 0, and
        their hashes.
        """
        if self._room[0].size < rows:
            self._room = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.uint64)
        count = int(draw(first_row, rows, self.bound, *self._room))
        smallest = _smallest(self._room[1][:count], self.most)
        return self._room[0][smallest], self._room[1][smallest]

    def keep(self, drawn: DrawnRows) -> None:
        """Keep rows that were chosen."""
        self._parts.append(drawn)
        self._held += drawn.hashes.size
        if self._held > 2 * self.most:
            self.drawn()

    def merged(self, other: RowSample, place: Codes) -> RowSample:
        """The sample of both parts; the cells of the other one are at `place`, which ends with -1
        for no cell.
        """
        both = RowSample(self.most, len(self._parts[0].values), bound=min(self.bound, other.bound))
        both._parts = [
            *self._parts,
            *(part._replace(codes=place[part.codes]) for part in other._parts),
        ]
        both.drawn()
        return both

    def drawn(self) -> DrawnRows:
        """The rows of the sample; the others are dropped."""
        hashes, numbers, codes = (
            np.concatenate([part[k] for part in self._parts]) for k in range(3)
        )
        kept = _smallest(hashes, self.most)
        if kept.size < hashes.size:
            self.bound = int(hashes[kept].max())
        waiting = self._parts[::-1]
        values = waiting[0].values
        if len(waiting) > 1 or kept.size < hashes.size:
            values = np.empty((len(values), kept.size))
            self._parts = []
            begin = filled = 0
            while waiting:  # a part is dropped once it is copied
                part = waiting.pop()
                chosen = kept[filled : np.searchsorted(kept, begin + part.hashes.size)] - begin
                values[:, filled : filled + chosen.size] = part.values[:, chosen]
                begin = begin + part.hashes.size
                filled = filled + chosen.size
        held = DrawnRows(hashes[kept], numbers[kept], codes[kept], values)
        self._parts = [held]
        self._held = kept.size
        return held

    def in_order(self) -> tuple[Floats, Codes]:
        """The values and cells of the rows, in the order of the table."""
        held = self.drawn()
        if (np.diff(held.numbers) < 0).any():
            order = np.argsort(held.numbers)
            return held.values[:, order], held.codes[order]
        return held.values, held.codes


def _smallest(hashes: Words, most: int) -> Ints:
    """The positions of the smallest hashes, in the order of the table."""
    if hashes.size <= most:
        return np.arange(hashes.size)
    return np.sort(np.argpartition(hashes, most - 1)[:most])
