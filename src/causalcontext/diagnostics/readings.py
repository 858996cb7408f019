"""Columns read one at a time, so that one bad column does not hide another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from causalcontext.data.columns import read_system
from causalcontext.data.dataset import Dataset, cell_values
from causalcontext.data.indicators import Indicator
from causalcontext.data.kinds import Column, Kind, infer_kind
from causalcontext.data.tables import cells_of, context_levels
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Codes, Values
from causalcontext.views import Contexts


@dataclass(frozen=True, eq=False)
class SystemReading:
    """What reading a system variable finds."""

    name: str
    dtype: str
    kind: str  # a `Kind`, or "unknown"
    values: Values | None  # the numbers, one for every row; None if the library refuses the column
    problem: str = ""  # why it does
    declared: bool = False  # whether its kind was said


@dataclass(frozen=True, eq=False)
class ContextReading:
    """What reading the context finds."""

    name: str | None = None  # None without a context
    dtype: str | None = None
    levels: tuple[Any, ...] = ("all",)  # its values; without a context, and where it cannot be used, all rows are alike
    codes: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int32))  # of every row; -1 where it is missing
    problem: str = ""  # why the library refuses the column
    parts: tuple[ContextReading, ...] = ()  # of several columns: what is said about each; `levels` are combinations
    cells: tuple[tuple[int, ...], ...] = ()  # these combinations, by the places of the values

    @property
    def columns(self) -> tuple[ContextReading, ...]:
        """What is said about every context variable; none without a context."""
        return self.parts or (() if self.name is None else (self,))

    @property
    def splits(self) -> bool:
        """Whether there are contexts: one was named, and it can be used."""
        return len(self.levels) > 1


def read_system_column(column: Column, declared: Kind | None, n_rows: int) -> SystemReading:
    """One system variable, usable or with the reason why not; of a table without rows, its kind alone."""
    kind = "unknown" if declared is None else declared.value
    reading = SystemReading(column.name, column.dtype_name, kind, None, declared=declared is not None)
    try:
        inferred = infer_kind(column)  # no declaration makes a date or a list usable
        reading = replace(reading, kind=(declared or inferred).value)
        values = read_system(column, declared or inferred)[0] if n_rows else None
    except DataError as error:
        return replace(reading, problem=str(error)) if n_rows else reading
    if values is not None and values.dtype.kind == "f" and np.isnan(values).all():
        return replace(reading, problem=f"column {column.name!r} has no value in any row; drop it")
    return replace(reading, values=values)


def read_context_column(column: Column | None, declared: Kind | None, n_rows: int) -> ContextReading:
    """The context, usable or with the reason why not."""
    unusable = ContextReading(codes=np.zeros(n_rows, dtype=np.int32))
    if column is None:
        return unusable
    unusable = replace(unusable, name=column.name, dtype=column.dtype_name)
    try:
        levels, codes = context_levels(column, declared) if n_rows else (unusable.levels, unusable.codes)
    except DataError as error:
        return replace(unusable, problem=str(error))
    return replace(unusable, levels=levels, codes=codes)


def combined(parts: Sequence[ContextReading], n_rows: int) -> ContextReading:
    """The context that several columns are together, usable if each of them is."""
    name = ", ".join(str(part.name) for part in parts)
    unusable = ContextReading(name, codes=np.zeros(n_rows, dtype=np.int32), parts=tuple(parts))
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
    nothing = ContextReading(codes=np.zeros(n_rows, dtype=np.int32))
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
        declared=frozenset(reading.name for reading, _ in usable if reading.declared),
    )
