"""A series as a table of windows for tests: every variable at every lag is a column of its own kind.

The context variables of the table are copies of the context, R(t), R(t-1), ...; its cells are their combinations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.data.series import Series
from causalcontext.kernels.arrays import Ints, Values
from causalcontext.views import Contexts

Column = tuple[str, int]
"""A variable and a lag; covariates have lag 0."""


def lagged_dataset(data: Dataset, series: Series, ends: Ints, columns: Mapping[str, Column],
                   copies: Sequence[int]) -> Dataset:  # fmt: skip
    """The table of some columns, one row for every window.

    Parameters
    ----------
    data : Dataset
        The table that the series was made of.
    series : Series
    ends : array of int, shape (n,)
        The rows of the series that windows end at.
    columns : mapping from name to (variable, lag)
    copies : sequence of int
        The lags of the copies of the context that are context variables, in this order; others are categories.
    """
    found = tuple(columns.values())
    known = [_values(data, series, ends, *column) for column in found]
    places = {column: place for place, column in enumerate(found)}
    context = None if data.context is None else data.names[data.context]
    positions = () if context is None else tuple(places[context, lag] for lag in copies)
    contexts, codes = _cells(positions, known, len(ends))
    categories = {
        place: data.levels[0] if name == context else data.categories[data.position(name)]
        for place, (name, _) in enumerate(found)
        if place not in positions and (name == context or data.position(name) in data.categories)
    }
    return Dataset(
        names=tuple(columns),
        kinds=tuple(Kind.CATEGORICAL if name == context else data.kinds[data.position(name)] for name, _ in found),
        columns=tuple(known),
        dtypes=tuple(data.dtypes[data.position(name)] for name, _ in found),
        contexts=contexts,
        levels=tuple(data.levels[0] for _ in positions),
        codes=codes,
        categories=categories,
    )


def _values(data: Dataset, series: Series, ends: Ints, name: str, lag: int) -> Values:
    if data.context is not None and name == data.names[data.context]:
        return np.asarray(series.codes[ends - lag], dtype=np.int32)
    if name in series.covariate_names:
        return np.ascontiguousarray(series.covariates[ends, series.covariate_names.index(name)])
    return np.ascontiguousarray(series.values[ends - lag, series.names.index(name)])


def _cells(positions: tuple[int, ...], columns: list[Values], rows: int) -> tuple[Contexts, Values]:
    """The combinations of the copies that occur, and the one of every row."""
    if not positions:
        return Contexts(), np.zeros(rows, dtype=np.int32)
    found, codes = np.unique(
        np.column_stack([columns[position] for position in positions]), axis=0, return_inverse=True
    )
    cells = tuple(tuple(int(level) for level in row) for row in found)
    return Contexts(positions, cells), codes.reshape(-1).astype(np.int32)
