"""Contexts made out of a column: a threshold, or bins.

Such a context is a function of its column, so a search must be told: given the column it carries no information.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from causalcontext.data.cuts import number_text, short_cut
from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.errors import LARGEST, DataError, OptionError, check_whole, shortly
from causalcontext.kernels.arrays import Floats
from causalcontext.views import Contexts

MOST_BINS = 1000


@dataclass(frozen=True)
class Indicator:
    """A context that is a step function of one column; made by `threshold` and `bins`.

    Attributes
    ----------
    column : str
    name : str
        What the context is called among the results.
    cuts : tuple of float
        Where the steps are, ascending; a value on a cut belongs to the step below.
    quantiles : int
        Instead of cuts: that many steps of about equal size.
    """

    column: str
    name: str
    cuts: tuple[float, ...] = ()
    quantiles: int = 0

    def applied(self, data: Dataset) -> Dataset:
        """The table with the context as its last column."""
        place = data.position(self.column)
        if self.name in data.names:
            raise DataError(f"the table has a column {self.name!r} already; pass name=... for the new context")
        if not data.kinds[place].is_number:
            raise DataError(f"column {self.column!r} is {data.kinds[place].value}; a threshold needs numbers, and a "
                            f"categorical column is a context itself: context={self.column!r}")  # fmt: skip
        values = np.asarray(data.columns[place], dtype=np.float64)
        cuts = self.cuts or _quantile_cuts(values, self.quantiles, self.column)
        codes = np.where(np.isfinite(values), np.searchsorted(cuts, values, side="left"), -1).astype(np.int32)
        if np.unique(codes[codes >= 0]).size < 2:
            raise DataError(f"context {self.name!r} has 1 level; at least 2 are needed: all values of {self.column!r} "
                            "lie on one side of the cuts")  # fmt: skip
        contexts = Contexts((len(data.names),), tuple((step,) for step in range(len(cuts) + 1)), source=place)
        return replace(
            data,
            names=(*data.names, self.name),
            kinds=(*data.kinds, Kind.CATEGORICAL),
            columns=(*data.columns, codes),
            dtypes=(*data.dtypes, "int32"),
            contexts=contexts,
            levels=(_level_names(cuts),),
            codes=codes,
        )


def threshold(column: str, value: float, *, name: str | None = None) -> Indicator:
    """The context "is this column larger than a value?", to be passed as `context`.

    Examples
    --------
    >>> threshold("soil_moisture", 0.3).name
    'soil_moisture > 0.3'
    """
    _check_column(column)
    if not isinstance(value, int | float | np.floating | np.integer) or not abs(value) <= LARGEST:
        raise OptionError(f"the threshold of {column!r} is {shortly(value)}, expected a number")
    return Indicator(column, name or f"{column} > {number_text(float(value))}", (float(value),))


def bins(
    column: str, edges: Iterable[float] | None = None, *, quantiles: int | None = None, name: str | None = None
) -> Indicator:
    """The context "in which range does this column lie?", to be passed as `context`.

    Parameters
    ----------
    column : str
    edges : sequence, array or series of float, optional
        The inner edges of the bins.
    quantiles : int, optional
        Instead of edges: the number of bins of equal size.
    name : str, optional
        What the context is called; "<column> bin" by default.

    Examples
    --------
    >>> bins("X", quantiles=4).name
    'X bin'
    """
    _check_column(column)
    if (edges is None) == (quantiles is None):
        raise OptionError(f"bins({column!r}) needs either edges=[...] or quantiles=...")
    if quantiles is not None:
        check_whole("quantiles", quantiles, 2)
        if quantiles > MOST_BINS:
            raise OptionError(f"quantiles is {quantiles}, expected at most {MOST_BINS}")
        return Indicator(column, name or f"{column} bin", quantiles=int(quantiles))
    cuts = _numbers(column, edges if edges is not None else ())
    return Indicator(column, name or f"{column} bin", cuts)


def _numbers(column: str, edges: Iterable[Any]) -> tuple[float, ...]:
    try:
        edges = list(edges)
        cuts = tuple(float(edge) for edge in edges)
    except (TypeError, ValueError) as error:
        raise OptionError(f"the edges of {column!r} are {shortly(edges)}, expected numbers") from error
    if not cuts or not np.isfinite(cuts).all() or any(a >= b for a, b in pairwise(cuts)):
        raise OptionError(f"the edges of {column!r} are {shortly(edges)}, expected ascending numbers")
    return cuts


def _check_column(column: object) -> None:
    if not isinstance(column, str):
        raise OptionError(f"the column of a context is {shortly(column)}, expected its name")


def _quantile_cuts(values: Floats, quantiles: int, column: str) -> tuple[float, ...]:
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        raise DataError(f"column {column!r} has no value to make bins of")
    ordered = np.unique(finite)
    last = np.searchsorted(ordered, np.quantile(finite, np.arange(1, quantiles) / quantiles), side="right") - 1
    last = np.unique(last[last < ordered.size - 1])  # the last value of every bin but the highest
    if last.size == 0:
        raise DataError(f"column {column!r} has one value only; no bins can be made of it")
    return tuple(short_cut(float(ordered[place]), float(ordered[place + 1])) for place in last)


def _level_names(cuts: Sequence[float]) -> tuple[str, ...]:
    """`<= 0.3`, `(0.3, 0.7]`, `> 0.7`."""
    texts = [number_text(cut) for cut in cuts]
    middle = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return (f"<= {texts[0]}", *middle, f"> {texts[-1]}")
