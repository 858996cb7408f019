"""The record of one kind of damage: where, how much of the table, and what a reader must know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.screening.left_out import DoubtfulScale
from causalcontext.screening.settings import LARGEST_TO_SQUARE, MOST_ROWS_OF_A_LOOK, NORMAL_IQR


class DamageKind(StrEnum):
    """The families of damage: rows that are no observations, cells that are no measurements, and
    scales.
    """

    DUPLICATES = "duplicate rows"
    NEAR_DUPLICATES = "nearly duplicate rows"
    TOTALS = "row of totals"
    CODES = "codes for missing values"
    SLIP = "cells far away"
    FAR = "a heap far away"
    IMPUTED = "imputed means"
    CARRIED = "values carried forward"
    INTERPOLATED = "interpolated values"
    REPEATED = "one value repeated"
    CAP = "cap at a limit"
    ROUNDED = "coarse rounding"
    HEAPED = "some values rounded coarsely"
    READ_TWICE = "two readings of one thing"
    STANDARDISED = "standardised within contexts"
    LOGARITHM = "amounts that want a logarithm"


@dataclass(frozen=True, eq=False)
class Damage:
    """One kind of damage.

    Attributes
    ----------
    kind : DamageKind
    columns : tuple of str
        The columns that have it; empty where it is rows that are damaged.
    share : float
        The share of the rows that have it.
    words : str
        What was found, and what it means.
    way : str
        Of damaged cells, what a reader may do; it follows what was done about them.
    rows : array of bool, shape (n,), or None
        The rows that are no observations of their own.
    cells : mapping of column position to array of bool, shape (n,)
        The cells that are no measurements.
    doubtful : DoubtfulScale or None
        The differences between contexts that the damage may make.
    """

    kind: DamageKind
    columns: tuple[str, ...]
    share: float
    words: str
    way: str = ""
    rows: Bools | None = None
    cells: Mapping[int, Bools] = field(default_factory=dict)
    doubtful: DoubtfulScale | None = None


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A number column and the spread of its values.

    Attributes
    ----------
    values : Floats, shape (rows,)
        NaN where a cell is missing.
    some : Floats, shape (at most MOST_ROWS_OF_A_LOOK,)
        The finite values of every m-th row, sorted; what follows is of these.
    distinct, counts : shape (different values,)
        The different values in their order, and the number of times that each occurs.
    declared : bool
        True if the caller has declared the kind of the column.
    """

    name: str
    position: int
    values: Floats
    some: Floats
    distinct: Floats
    counts: Ints
    declared: bool

    @property
    def effective(self) -> float:
        """Effective values, 1 / sum p², where p is the share of each value in `some`: k for k
        values that are as frequent, and less for others.
        """
        return len(self.some) ** 2 / float(np.sum(self.counts.astype(np.float64) ** 2))

    @property
    def step(self) -> float:
        """The smallest distance of two different values; 0 with fewer than two."""
        return float(np.diff(self.distinct).min()) if len(self.distinct) > 1 else 0.0


def number_columns(data: Dataset) -> tuple[NumberColumn, ...]:
    """The continuous system variables that have at least two different values, none of them too
    large to be squared (`LARGEST_TO_SQUARE`), in the order of the table.
    """
    columns = []
    for position in data.system:
        values = np.asarray(data.columns[position])
        if (
            position in data.categories
            or data.kinds[position] is Kind.CATEGORICAL
            or values.dtype.kind not in "iuf"
        ):
            continue
        numbers = values.astype(np.float64)
        sample = numbers[:: max(1, -(-len(numbers) // MOST_ROWS_OF_A_LOOK))]
        sample = np.sort(sample[np.isfinite(sample)])
        distinct, counts = np.unique(sample, return_counts=True)
        largest = np.abs(numbers).max(where=np.isfinite(numbers), initial=0.0)
        if len(distinct) > 1 and largest < LARGEST_TO_SQUARE:
            name = data.names[position]
            declared = name in data.declared
            columns.append(
                NumberColumn(
                    name, position, numbers, sample, distinct, counts.astype(np.int64), declared
                )
            )
    return tuple(columns)


def robust_units(values: Floats) -> tuple[float, float]:
    """The median, and the distance of the quartiles divided by that of a standard normal law.

    Where half of the values are the same, so that the quartiles are, the second is the standard
    deviation of all.
    """
    low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
    deviation = float(high - low) / NORMAL_IQR
    return float(median), deviation if deviation > 0.0 else float(values.std())


def percent(share: float) -> str:
    """A share as text.

    >>> percent(0.031), percent(0.0004)
    ('3 %', '0.04 %')
    """
    return f"{100.0 * share:.0f} %" if share >= 0.01 else f"{100.0 * share:.1g} %"


def last_digit(value: float) -> float:
    """The unit of the last digit of a number as it is written: 0.01 of 12.34."""
    text = f"{value:.12g}"
    if "e" in text or "." not in text:
        return 1.0 if "e" not in text else 0.0
    return float(10.0 ** -len(text.split(".")[1]))


def union_of(masks: Sequence[NDArray[np.bool_]], rows: int) -> Bools:
    """True in the rows that are in any of the masks, shape (rows,)."""
    together = np.zeros(rows, dtype=bool)
    for mask in masks:
        together |= mask
    return together
