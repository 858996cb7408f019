"""The levels of a column of a stream: which values occur, in what order, and a number for each.

The number is a hash of the value, so that moments, sample and fingerprint depend neither on which value came first nor
on how a stream is cut into batches, files and partitions. Once all rows are in, numbers become places in the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from causalcontext.data.checks import MOST_CELLS
from causalcontext.data.columns import check_levels_repeat, check_no_dates, check_no_typing_error
from causalcontext.data.frames import pa
from causalcontext.data.kinds import Kind
from causalcontext.data.streams import is_text
from causalcontext.data.sufficient_statistics import level_number
from causalcontext.errors import DataError, NotYetError, listed, shortly
from causalcontext.kernels.arrays import Floats, Values

MOST_ORDERED = 20
"""Levels of an ordered column: the moments of each are kept, as of a column of its own."""
FAMILIES: dict[str, Callable[[Any], Any]] = {"bool": bool, "int": int, "float": float, "str": str}


@dataclass(eq=False)
class StreamLevels:
    """The levels of a column that have been met so far."""

    name: str
    kind: Kind  # categorical or ordered
    family: str  # the type that all values have
    numbers: dict[Any, float] = field(default_factory=dict)
    neighbours: set[tuple[Any, Any]] = field(default_factory=set)  # those that follow each other in a dictionary

    def copied(self) -> StreamLevels:
        """The same levels, to be added to."""
        return replace(self, numbers=dict(self.numbers), neighbours=set(self.neighbours))

    def numbered(self, codes: Values, values: Sequence[Any], dictionary: Sequence[Any] = ()) -> Floats:
        """The number of every row's level, NaN where there is none; `codes` are places in `values`, -1 for none.

        `dictionary` has levels in their order, where the column says one.
        """
        own = [self._own(value) for value in values]
        used = np.zeros(len(own) + 1, dtype=np.bool_)
        used[codes] = True
        self.add(value for value, met in zip(own, used[:-1].tolist(), strict=True) if met and value is not None)
        if len(dictionary) > MOST_CELLS and self.kind is Kind.ORDERED:
            raise self._too_many(MOST_CELLS)
        note_order(self.neighbours, [self._own(value) for value in dictionary])
        return np.array([*(self.numbers.get(value, np.nan) for value in own), np.nan])[codes]

    def add(self, levels: Iterable[Any]) -> None:
        """Note levels, new ones among them."""
        most = MOST_ORDERED if self.kind is Kind.ORDERED else MOST_CELLS
        for level in levels:
            if level not in self.numbers:
                self.numbers[level] = level_number(level)
                if len(self.numbers) > most:
                    raise self._too_many(most)

    def placed(self, numbers: Floats, levels: Sequence[Any]) -> Floats:
        """The places of levels among all, in order, instead of their numbers."""
        known = np.array([self.numbers[level] for level in levels])
        order, found = np.argsort(known), numbers.copy()
        there = ~np.isnan(numbers)
        found[there] = order[np.searchsorted(known[order], numbers[there])]
        return found

    def in_order(self, rows: int) -> tuple[Any, ...]:
        """The levels: sorted, or in the order of the dictionaries; `rows` have one."""
        levels = sorted(self.numbers)
        if self.family == "str":
            check_no_typing_error(self.name, levels)
        check_levels_repeat(self.name, "column", rows, levels)
        order, unclear = in_dictionaries(levels, self.neighbours)
        if unclear and self.kind is Kind.ORDERED:
            raise DataError(f"the dictionaries of column {self.name!r} do not say one order of its levels: "
                            f"{listed([shortly(level) for level in unclear], what='level')} have no order; give all "
                            "parts of the table the same dictionary")  # fmt: skip
        return order

    def _own(self, value: Any) -> Any:
        """A value in the type that all have; None for NaN."""
        if value is None or value != value:
            return None
        own = FAMILIES[self.family](value)
        if own != value:
            raise DataError(f"column {self.name!r} holds {shortly(value)} after whole numbers; convert it to one type")
        return own + 0.0 if self.family == "float" else own  # -0.0 is 0.0

    def _too_many(self, most: int) -> Exception:
        if self.kind is Kind.ORDERED:
            return NotYetError(f"not yet: column {self.name!r} is ordered and has more than {most} levels, which a "
                               "table that is read in batches cannot have; declare its numbers continuous or "
                               "count, or read the table into memory")  # fmt: skip
        check_no_dates(self.name, list(self.numbers))
        return NotYetError(f"not yet: column {self.name!r} has more than {most:,} levels, which looks like an "
                           "identifier; leave it out, or read the table into memory")  # fmt: skip


def note_order(neighbours: set[tuple[Any, Any]], dictionary: Sequence[Any]) -> None:
    """Add what follows what in a dictionary; one that is too long for levels says nothing."""
    if len(dictionary) <= MOST_CELLS:
        neighbours.update(pairwise(value for value in dictionary if value is not None))


def in_dictionaries(levels: Iterable[Any], neighbours: set[tuple[Any, Any]]) -> tuple[tuple[Any, ...], list[Any]]:
    """Levels in the one order that dictionaries say together, else sorted; and levels whose order they leave open.

    >>> in_dictionaries(["a", "b", "c"], {("c", "a"), ("a", "b")})
    (('c', 'a', 'b'), [])
    >>> in_dictionaries(["b", "a", "c"], {("a", "c"), ("b", "c")})
    (('a', 'b', 'c'), ['a', 'b'])
    """
    own, before, order = set(levels), set(neighbours), list[Any]()
    left = {level for pair in before for level in pair} | own if before else set()
    while left:
        first = left - {after for _, after in before}
        if len(first) != 1:
            return tuple(sorted(own)), sorted(first or left)
        order += first
        left -= first
        before = {pair for pair in before if pair[0] not in first}
    return tuple(level for level in order or sorted(own) if level in own), []


def dictionary_of_batch(batch: pa.RecordBatch, name: str) -> list[Any]:
    """The levels of a column in the order that its maker gave them; none where it has no dictionary.

    A `Categorical` of polars has no order of its own: that of its dictionary depends on what else the process read.
    """
    place = batch.schema.get_field_index(name)
    field = batch.schema.field(place)
    made_by_reading = any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or ())
    if made_by_reading or not pa.types.is_dictionary(field.type):
        return []
    return list(batch.column(place).dictionary.to_pylist())


def family_of(dtype: pa.DataType) -> str | None:
    """The type of the values of a column as levels; None for what can be no level."""
    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    if pa.types.is_boolean(plain):
        return "bool"
    if pa.types.is_integer(plain):
        return "int"
    if pa.types.is_floating(plain):
        return "float"
    return "str" if is_text(plain) else None
