"""Several context variables: a table is cut into cells, one for every combination of their values that occurs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.data.tables import eager_frame, read_table
from causalcontext.errors import DataError, OptionError, did_you_mean

MOST_CELLS = 1000


@dataclass(frozen=True, eq=False)
class Cells:
    """The combinations of context values that occur in a table.

    Attributes
    ----------
    names : tuple of str
        Every column in table order, context variables included.
    contexts : tuple of int
        Positions of the context variables among them, in the order they were given.
    levels : tuple of tuples
        The values of every context variable.
    codes : array of int, shape (cells, context variables)
        The level of every context variable in every cell.
    data : Dataset
        The system variables, and the cell of every row as their context.
    """

    names: tuple[str, ...]
    contexts: tuple[int, ...]
    levels: tuple[tuple[Any, ...], ...]
    codes: NDArray[np.int64]
    data: Dataset

    @property
    def values(self) -> tuple[tuple[Any, ...], ...]:
        """The context values of every cell."""
        return tuple(tuple(self.levels[j][code] for j, code in enumerate(row)) for row in self.codes)

    @property
    def system(self) -> tuple[int, ...]:
        """Positions of the system variables among `names`."""
        return tuple(position for position in range(len(self.names)) if position not in self.contexts)


def read_cells(
    table: Any, contexts: Sequence[str], kinds: Mapping[str, str] | None = None, names: Sequence[str] | None = None
) -> Cells:
    """A table with several context variables."""
    chosen = _checked(contexts)
    frame = eager_frame(table, names)
    columns = tuple(str(name) for name in frame.columns)
    for name in chosen:
        if name not in columns:
            raise DataError(f"the table has no context column {name!r}{did_you_mean(name, columns)}")
    if isinstance(table, np.ndarray):
        frame = _with_whole_labels(frame, chosen)
    read = [_one(frame, chosen, name, kinds) for name in chosen]
    return _cells(columns, chosen, read)


def by_variable(data: Dataset, contexts: Sequence[str]) -> Iterator[Dataset]:
    """A table of cells once for every context variable, with that one as its context."""
    assert data.context is not None
    for j, name in enumerate(contexts):
        values = [cell[j] for cell in data.levels]
        levels = tuple(dict.fromkeys(values))
        place = np.array([*(levels.index(value) for value in values), -1], dtype=np.int32)
        codes = place[data.codes]  # a row without a cell has the code -1
        names = tuple(name if i == data.context else column for i, column in enumerate(data.names))
        columns = tuple(codes if i == data.context else column for i, column in enumerate(data.columns))
        yield replace(data, names=names, columns=columns, levels=levels, codes=codes)


def _checked(contexts: Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(contexts)
    if not chosen or any(not isinstance(name, str) for name in chosen) or len(set(chosen)) < len(chosen):
        raise OptionError(f"context is {contexts!r}, expected different column names")
    return chosen


def _with_whole_labels(frame: nw.DataFrame[Any], chosen: tuple[str, ...]) -> nw.DataFrame[Any]:
    """Labels of an array, which has one dtype for all columns, as integers where they are whole numbers."""
    whole = [name for name in chosen if (frame[name].to_numpy() % 1 == 0).all()]
    return frame.with_columns(*[nw.col(name).cast(nw.Int64) for name in whole])


def _one(frame: nw.DataFrame[Any], chosen: tuple[str, ...], name: str, kinds: Mapping[str, str] | None) -> Dataset:
    """The table with one of the context variables as its context, and without the others."""
    others = [other for other in chosen if other != name]
    declared = {column: kind for column, kind in (kinds or {}).items() if column not in others}
    return read_table(frame.drop(others).to_native(), name, kinds=declared)


def _cells(columns: tuple[str, ...], chosen: tuple[str, ...], read: Sequence[Dataset]) -> Cells:
    by_row = np.column_stack([data.codes for data in read])
    known = (by_row >= 0).all(axis=1)
    codes, place = np.unique(by_row[known], axis=0, return_inverse=True)
    if len(codes) > MOST_CELLS:
        raise DataError(f"{', '.join(chosen)} have {len(codes)} combinations of values, more than {MOST_CELLS}")
    rows = np.full(len(by_row), -1, dtype=np.int32)
    rows[known] = place.ravel()
    first = read[0]
    system = [first.names[i] for i in first.system]
    levels = tuple(data.levels for data in read)
    values = tuple(tuple(levels[j][code] for j, code in enumerate(row)) for row in codes)
    data = Dataset(
        names=(*system, ", ".join(chosen)),
        kinds=(*(first.kinds[i] for i in first.system), Kind.CATEGORICAL),
        columns=(*(first.columns[i] for i in first.system), rows),
        dtypes=(*(first.dtypes[i] for i in first.system), "int32"),
        context=len(system),
        levels=values,
        codes=rows,
    )
    return Cells(columns, tuple(columns.index(name) for name in chosen), levels, codes.astype(np.int64), data)
