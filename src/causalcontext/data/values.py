"""A system variable as an array of numbers: its own values, or the codes of its categories."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from causalcontext.data.cuts import number_text
from causalcontext.data.frames import is_missing
from causalcontext.data.kinds import Column, Kind, has_own_order, plain_values
from causalcontext.data.levels import read_levels
from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Values

MOSTLY = 0.5
"""Share of numbers from which on a column of text is taken for numbers with typing errors."""


def read_system(column: Column, kind: Kind) -> tuple[Values, tuple[Any, ...]]:
    """The values of a column, and the categories that codes stand for; no categories for numbers.

    Raises
    ------
    DataError
        Text that is mostly numbers; categories that hardly repeat; an order that nobody gave; counts that are not
        whole numbers.
    """
    if kind is Kind.CONTINUOUS:
        return _numbers(column), ()
    if kind is Kind.COUNT:
        return _counts(column), ()
    if kind is Kind.ORDERED and not has_own_order(column):
        raise DataError(f"column {column.name!r} is declared ordered, but its values ({column.dtype_name}) have no "
                        "order of their own; make it an ordered categorical, or numbers")  # fmt: skip
    _check_no_typing_error(column)
    levels, codes = read_levels(column, declared=True, role="column")
    return (np.where(codes < 0, np.nan, codes) if (codes < 0).any() else codes), levels


def _numbers(column: Column) -> Values:
    """A column as a numeric array, in its own dtype where compiled code can read it, else as float64."""
    values = plain_values(column)
    if values.dtype.kind in "iuf" and values.dtype.itemsize <= 8:
        return values
    if values.dtype.kind != "O":
        return values.astype(np.float64)
    numbers = np.full(len(values), np.nan)
    present = ~is_missing(values)
    try:
        numbers[present] = values[present].astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"column {column.name!r} is declared continuous but not numeric: {error}") from error
    return numbers


def _counts(column: Column) -> Values:
    """Whole numbers from 0; what is missing or infinite is reported later."""
    values = _numbers(column)
    finite = values[np.isfinite(values)]
    wrong = finite[(finite < 0) | (finite != np.floor(finite))]
    if wrong.size:
        raise DataError(
            f"column {column.name!r} is declared count but holds {number_text(float(wrong[0]))}, expected whole "
            "numbers from 0"
        )
    return values


def _check_no_typing_error(column: Column) -> None:
    """Return unless the column is text that is mostly, but not always, numbers."""
    import pandas as pd

    if not isinstance(column.dtype, nw.String):
        return
    values = pd.Series(plain_values(column)).dropna()
    distinct = pd.Series(values.unique(), dtype=object)
    numbers = pd.to_numeric(distinct, errors="coerce").notna()
    if numbers.all() or numbers.mean() < MOSTLY:
        return
    raise DataError(f"column {column.name!r} is text, but {int(numbers.sum())} of its {len(distinct)} different values "
                    f"are numbers; {distinct[~numbers].iloc[0]!r} is not: correct it, or drop the column")  # fmt: skip
