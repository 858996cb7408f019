"""What kernels see of a record batch: where its numbers lie, and which cell every row belongs to."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints, Values
from causalcontext.kernels.rows.batches import find_columns

if TYPE_CHECKING:
    import pyarrow as pa

_FEW = 256
_NAMES = (b"arrow_schema", b"arrow_array")
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class BatchColumns:
    """Some columns of a batch as float64, NaN where there is no value; not copied where they are float64 already.

    Attributes
    ----------
    addresses : array of uint64, shape (columns,)
        Where the numbers of each begin; valid as long as this object lives.

    Examples
    --------
    >>> import pyarrow as pa
    >>> columns = BatchColumns(pa.record_batch({"X": [1.0, 2.0], "Y": [3, None]}), ["X", "Y"])
    >>> [list((ctypes.c_double * 2).from_address(int(address))) for address in columns.addresses]
    [[1.0, 2.0], [3.0, nan]]
    """

    def __init__(self, batch: pa.RecordBatch, names: Sequence[str]) -> None:
        positions = _positions(tuple(batch.schema.names), tuple(names))
        self.addresses = np.empty(positions.size, dtype=np.uint64)
        self._capsules = batch.__arrow_c_array__()  # asking column by column takes longer than adding them up
        schema, array = (
            np.uint64(_pointer(capsule, name)) for capsule, name in zip(self._capsules, _NAMES, strict=True)
        )
        self._copies: list[Floats] = []
        if find_columns(schema, array, positions, self.addresses):
            for j in np.flatnonzero(self.addresses == 0):
                self._copies.append(_numbers(batch.column(int(positions[j]))))
                self.addresses[j] = self._copies[-1].ctypes.data


@lru_cache(maxsize=16)
def _positions(held: tuple[str, ...], names: tuple[str, ...]) -> Ints:
    place = {name: position for position, name in enumerate(held)}
    return np.array([place[name] for name in names], dtype=np.int64)


def _numbers(column: pa.Array) -> Floats:
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_decimal(column.type):  # by way of text every one becomes the nearest number, as in memory
        column = column.cast(pa.string()).cast(pa.float64())
    numbers = np.require(_stored(column), dtype=np.float64, requirements=["C", "A"])
    return np.where(_present(column), numbers, np.nan) if column.null_count else numbers


def _stored(column: pa.Array) -> Values:
    """The numbers of a column where they lie, with anything where one is missing.

    So says `to_numpy` of pyarrow, too, but it imports pandas, which takes 40 MB.
    """
    kind = np.dtype(column.type.to_pandas_dtype())
    if not len(column):
        return np.empty(0, dtype=kind)
    return np.frombuffer(column.buffers()[1], kind, len(column), column.offset * kind.itemsize)


def _present(column: pa.Array) -> Bools:
    """Where a column that lacks some values has one."""
    bits = np.frombuffer(column.buffers()[0], dtype=np.uint8)
    found = np.unpackbits(bits, bitorder="little", count=column.offset + len(column))[column.offset :]
    return found.view(np.bool_)


class BatchCells(NamedTuple):
    """The cells of a batch.

    Attributes
    ----------
    numbers : array of whole numbers, shape (rows,)
        `number - first` is the place of the row's cell in `cells`; -1 where a context variable is missing.
    first : int
    cells : list of tuples
        Values of the context variables; some may be those of no row.
    """

    numbers: Values
    first: int
    cells: list[tuple[Any, ...]]


def cells_of(batch: pa.RecordBatch, contexts: Sequence[str]) -> BatchCells:
    """The cells of a batch by one or several context variables.

    Examples
    --------
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
        cells = [cells[pair // len(values)] + values[pair % len(values)] for pair in found[missing:].tolist()]
    return BatchCells(numbers, 0, cells)


def whole_numbers(batch: pa.RecordBatch, contexts: Sequence[str]) -> Values | None:
    """The numbers of a context that is made of them, none missing; None for any other, and for several contexts."""
    if len(contexts) > 1:
        return None
    return _whole(batch.column(batch.schema.get_field_index(contexts[0])))


def few_cells(numbers: Values) -> BatchCells | None:
    """The cells of whole numbers that lie close together, the numbers as they are; None for others."""
    if not numbers.size:
        return None
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= _FEW or high >= 2**62:
        return None
    return BatchCells(numbers, low, [(number,) for number in range(low, high + 1)])


def _whole(column: pa.Array) -> Values | None:
    import pyarrow as pa

    return _stored(column) if pa.types.is_integer(column.type) and not column.null_count else None


def _coded(column: pa.Array) -> BatchCells:
    """The values of a column, and which of them every row has."""
    import pyarrow as pa

    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    numbers = _stored(coded.indices)
    if coded.indices.null_count:
        numbers = np.where(_present(coded.indices), numbers.astype(np.int64), -1)
        numbers.setflags(write=False)  # as Arrow's own: kernels are compiled once more for others
    return BatchCells(numbers, 0, [(value,) for value in coded.dictionary.to_pylist()])
