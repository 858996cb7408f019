"""Cycles of the day or the year as columns: sines and cosines of the time, to be covariates.

A cycle that drives several variables is a hidden common cause of them, unless it is in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.data.series import stamps_of, step_length
from causalcontext.errors import DataError, OptionError, check_whole
from causalcontext.kernels.arrays import Floats, Values


@dataclass(frozen=True)
class Cycle:
    """Sines and cosines of a time column; made by `cycle`."""

    column: str
    period: str | float
    harmonics: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it makes."""
        numbers = ["" if h == 1 else str(h) for h in range(1, self.harmonics + 1)]
        return tuple(f"{self.column} {self.period} {wave}{h}" for h in numbers for wave in ("sin", "cos"))

    def columns(self, stamps: Values) -> list[Floats]:
        """The columns, in the order of `names`."""
        time, dated = stamps_of(self.column, stamps)
        turns = 2.0 * np.pi * (time - time.min()) / step_length("period", self.period, dated)
        return [wave(h * turns) for h in range(1, self.harmonics + 1) for wave in (np.sin, np.cos)]


def cycle(column: str, period: str | float, harmonics: int = 1) -> Cycle:
    """Covariates for a cycle: `discover(..., lags=3, time="hour", covariates=[cc.cycle("hour", "1D")])`.

    Parameters
    ----------
    column : str
        The time column.
    period : str or float
        A duration such as "1D" or "365.25D"; a number where the time is one.
    harmonics : int
        A cycle that is no sine needs 2 or 3.

    Examples
    --------
    >>> cycle("hour", "1D", harmonics=2).names
    ('hour 1D sin', 'hour 1D cos', 'hour 1D sin2', 'hour 1D cos2')
    """
    if not isinstance(column, str):
        raise OptionError(f"the column of a cycle is {column!r}, expected the name of the time column")
    check_whole("harmonics", harmonics, 1)
    return Cycle(column, period, harmonics)


def with_cycles(data: Dataset, cycles: tuple[Cycle, ...], taken: Mapping[str, Values]) -> Dataset:
    """The table with the columns of cycles at its end."""
    for found in cycles:
        if found.column not in taken:
            raise OptionError(f"the cycle is of column {found.column!r}, expected the time column: pass "
                              f"time={found.column!r}")  # fmt: skip
        clash = [name for name in found.names if name in data.names]
        if clash:
            raise DataError(f"the table has a column {clash[0]!r} already; rename it")
        columns = found.columns(taken[found.column])
        data = replace(
            data, names=data.names + found.names, kinds=data.kinds + (Kind.CONTINUOUS,) * len(columns),
            columns=(*data.columns, *columns), dtypes=data.dtypes + ("float64",) * len(columns),
        )  # fmt: skip
    return data
