"""Columns taken through the library's door one at a time, so that one bad column does not hide another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.dataset import Dataset, cell_values
from causalcontext.data.frames import frame_of
from causalcontext.data.indicators import Indicator
from causalcontext.data.kinds import Column, Kind, infer_kind
from causalcontext.data.tables import cells_of, read_table
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Codes, Values
from causalcontext.views import Contexts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class SystemReading:
    """What the door says about a system variable.

    Attributes
    ----------
    name, dtype : str
    kind : str
        A `Kind`, or "unknown".
    values : array of shape (rows,), or None
        The numbers; None if the library refuses the column.
    problem : str
        Why it does; empty if it does not.
    """

    name: str
    dtype: str
    kind: str
    values: Values | None
    problem: str = ""


@dataclass(frozen=True, eq=False)
class ContextReading:
    """What the door says about the context.

    Attributes
    ----------
    name, dtype : str or None
        None without a context.
    levels : tuple
        Its values. Without a context, and where it cannot be used, all rows are of the level "all".
    codes : array of int32, shape (rows,)
        Position in `levels` for every row; -1 where the context is missing.
    problem : str
        Why the library refuses the column; empty if it does not.
    parts : tuple of ContextReading
        Where several columns are the context: what is said about each of them. `levels` are then the combinations of
        their values that occur.
    cells : tuple of tuples of int
        These combinations, by the places of the values.
    """

    name: str | None
    dtype: str | None
    levels: tuple[Any, ...]
    codes: Codes
    problem: str = ""
    parts: tuple[ContextReading, ...] = ()
    cells: tuple[tuple[int, ...], ...] = ()

    @property
    def columns(self) -> tuple[ContextReading, ...]:
        """What is said about every context variable; none without a context."""
        return self.parts or (() if self.name is None else (self,))

    @property
    def splits(self) -> bool:
        """Whether there are contexts: one was named, and it can be used."""
        return len(self.levels) > 1


def read_system(column: Column, declared: Kind | None) -> SystemReading:
    """One system variable, usable or with the reason why not."""
    kind = _stated_kind(column, declared)
    try:
        data = read_table(_beside_zeros(column, 1), None, kinds=_only(column.name, declared))
    except DataError as error:
        return SystemReading(column.name, column.dtype_name, kind, None, str(error))
    values = data.columns[0]
    if values.dtype.kind == "f" and np.isnan(values).all():
        problem = f"column {column.name!r} has no value in any row; drop it"
        return SystemReading(column.name, column.dtype_name, kind, None, problem)
    return SystemReading(column.name, column.dtype_name, kind, values)


def unread_system(column: Column, declared: Kind | None) -> SystemReading:
    """One system variable of a table without rows: there is nothing to read."""
    return SystemReading(column.name, column.dtype_name, _stated_kind(column, declared), None)


def read_context(column: Column | None, declared: Kind | None, n_rows: int) -> ContextReading:
    """The context, usable or with the reason why not."""
    everywhere = np.zeros(n_rows, dtype=np.int32)
    if column is None:
        return ContextReading(None, None, ("all",), everywhere)
    if n_rows == 0:
        return ContextReading(column.name, column.dtype_name, ("all",), everywhere)
    try:
        data = read_table(_beside_zeros(column, 2), column.name, kinds=_only(column.name, declared))
    except DataError as error:
        return ContextReading(column.name, column.dtype_name, ("all",), everywhere, str(error))
    return ContextReading(column.name, column.dtype_name, data.values, data.codes)


def combined(parts: Sequence[ContextReading], n_rows: int) -> ContextReading:
    """The context that several columns are together, usable if each of them is."""
    name = ", ".join(str(part.name) for part in parts)
    unusable = ContextReading(name, None, ("all",), np.zeros(n_rows, dtype=np.int32), parts=tuple(parts))
    if not all(part.splits for part in parts):
        return unusable
    try:
        cells, codes = cells_of({str(part.name): part.codes for part in parts}, n_rows)
    except DataError as error:
        return replace(unusable, problem=str(error))
    values = cell_values(Contexts(tuple(range(len(parts))), cells), tuple(part.levels for part in parts))
    return replace(unusable, levels=values, codes=codes, cells=cells)


def made_context(indicator: Indicator, system: Sequence[SystemReading], n_rows: int) -> ContextReading:
    """The context that is made out of a column, usable or with the reason why not."""
    nothing = ContextReading(None, None, ("all",), np.zeros(n_rows, dtype=np.int32))
    unusable = replace(nothing, name=indicator.name, dtype="int32")
    if not any(reading.name == indicator.column and reading.values is not None for reading in system):
        return unusable
    try:
        data = indicator.applied(usable_part(nothing, system))
    except DataError as error:
        return replace(unusable, problem=str(error))
    return replace(unusable, levels=data.values, codes=data.codes)


def usable_part(context: ContextReading, system: Sequence[SystemReading]) -> Dataset:
    """The table without the columns that the library refuses."""
    usable = [(reading, reading.values) for reading in system if reading.values is not None]
    first = context.columns if context.splits else ()
    cells = context.cells or tuple((level,) for level in range(len(context.levels)))
    return Dataset(
        names=(*(str(part.name) for part in first), *(reading.name for reading, _ in usable)),
        kinds=(*(Kind.CATEGORICAL for _ in first), *(Kind(reading.kind) for reading, _ in usable)),
        columns=(*(part.codes for part in first), *(values for _, values in usable)),
        dtypes=(*("" for _ in first), *(reading.dtype for reading, _ in usable)),
        contexts=Contexts(tuple(range(len(first))), cells) if first else Contexts(),
        levels=tuple(part.levels for part in first),
        codes=context.codes,
    )


def _beside_zeros(column: Column, count: int) -> pd.DataFrame:
    """A table of the column and `count` harmless ones, since a table needs two variables."""
    zeros = {f"{column.name}{mark}": 0.0 for mark in ("'", "''")[:count]}
    return frame_of({column.name: column.series.to_native(), **zeros})


def _only(name: str, declared: Kind | None) -> dict[str, str]:
    return {} if declared is None else {name: declared.value}


def _stated_kind(column: Column, declared: Kind | None) -> str:
    if declared is not None:
        return declared.value
    try:
        return infer_kind(column).value
    except DataError:
        return "unknown"
