"""Which mechanisms may change with a column, and what else may cause them: from a search without
that context.

Ancestors of the column are no responses: what comes before it cannot change with it. The column
itself stays among the causes of every response, so that rows are never selected by what is not
conditioned on. Where a search leaves a direction open, both ends may be a response, and a cause of
the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.data.dataset import Dataset, complete_rows, gaussian_ranks
from causalcontext.graphs.lag_names import at, split
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.score.cuts import CutResponse

MOST_CAUSES = 10
"""Causes that are offered to a response; of more, those that explain most of it, alone or on one
side of x.
"""
MOST_ROWS = 8000
"""Of longer tables every m-th row is used."""
FEWEST_OF_A_LEVEL = 5
MOST_GROUPS = 6
"""A number with at most so many values has no cut between them that a line would miss: it is taken
as a category.
"""


class Table:
    """The columns of a table as regressions take them; rows are those without missing values."""

    def __init__(self, data: Dataset, ranks: bool) -> None:
        usable = np.flatnonzero(complete_rows(data))
        self.data = data
        self.ranks = ranks
        self.rows: Ints = usable[:: max(1, -(-len(usable) // MOST_ROWS))]

    def values(self, position: int) -> Floats:
        """A number, in the units of the table."""
        return np.asarray(self.data.columns[position], dtype=np.float64)[self.rows]

    def number(self, position: int) -> Floats:
        """A number in standard units; its normal scores, where a search preferred these."""
        values = self.values(position)
        values = gaussian_ranks(values) if self.ranks else values
        spread = float(values.std())
        return np.asarray((values - values.mean()) / (spread if spread > 0.0 else 1.0))

    def is_number(self, position: int) -> bool:
        """True if a column holds numbers."""
        return position not in self.data.contexts.positions and self.data.kinds[position].is_number

    def in_groups(self, position: int) -> bool:
        """True if mechanisms change with a column as it is, not with a cut of it."""
        return not self.is_number(position) or np.unique(self.values(position)).size <= MOST_GROUPS

    def levels(self, position: int) -> list[Floats]:
        """Indicators of all levels of a category but the most frequent one, of levels that are not
        rare.
        """
        codes = np.unique(np.asarray(self.data.columns[position])[self.rows], return_inverse=True)[
            1
        ]
        counts = np.bincount(codes)
        return [
            np.asarray(codes == level, dtype=np.float64)
            for level in range(len(counts))
            if level != counts.argmax() and counts[level] >= FEWEST_OF_A_LEVEL
        ]

    def lines(self, position: int) -> list[Floats]:
        """What a column offers to an effect without curves."""
        return [self.number(position)] if self.is_number(position) else self.levels(position)


def responses_of(
    table: Table, source: str, arrows: Bools, may: Bools, lags: Sequence[int] | None
) -> list[list[CutResponse]]:
    """The mechanisms that may change with a column, each with the copies of the column that it may
    change with.

    `arrows` are the directed links of a search without it, `may` what knowledge leaves open, both
    cause first. Where rows are windows of a time series, `lags` are those at which mechanisms may
    read the column.
    """
    names = table.data.names
    before = reach(arrows)
    position = table.data.position(source)
    centre = 0.0  # the same units at all lags
    scale = np.inf
    if not table.in_groups(position):
        centre = float(table.values(position).mean())
        scale = float(table.values(position).std()) or 1.0
    copies = [names.index(at(source, lag)) for lag in lags or (0,)]
    found = []
    for y in range(len(names)):
        if not table.is_number(y) or (lags is not None and split(names[y])[1]):
            continue
        causes = [
            z
            for z in range(len(names))
            if z != y and may[z, y] and not before[y, z] and _searched(table, z)
        ]
        own = []
        for x in (x for x in copies if x != y and may[x, y] and not before[y, x]):
            levels = table.levels(x) if table.in_groups(x) else []
            lag = (table.values(x) - centre) / scale
            groups = np.array(levels).reshape(len(levels), len(table.rows))
            offered = _offered(table, y, x, causes, copies)
            own.append(CutResponse(names[y], table.number(y), np.asarray(lag), *offered, groups))
        if own:
            found.append(own)
    return found


def _searched(table: Table, position: int) -> bool:
    """True if a column is part of the system: contexts that are made out of a column are not."""
    contexts = table.data.contexts
    return position not in contexts.positions or contexts.source_of(position) is None


def _offered(
    table: Table, y: int, x: int, causes: Sequence[int], copies: Sequence[int]
) -> tuple[Floats, Bools, Floats]:
    """Lines of the other causes, which of these may bend, and their products with the contexts that
    are measured.

    Curves of x at another lag are a smooth change, and belong into the models that have x at that
    lag.
    """
    others = [z for z in causes if z != x]
    if len(others) > MOST_CAUSES:
        above = table.values(x) > np.median(table.values(x))
        response = table.number(y)
        told = {}
        # the share that a cause explains, with slopes of its own on either side of the median of x
        for z in others:
            own = table.lines(z)
            columns = [
                np.ones_like(response),
                above.astype(np.float64),
                *own,
                *(line * above for line in own),
            ]
            fitted = (
                np.column_stack(columns)
                @ np.linalg.lstsq(np.column_stack(columns), response, rcond=None)[0]
            )
            told[z] = 1.0 - float(
                np.sum((response - fitted) ** 2) / np.sum((response - response.mean()) ** 2)
            )
        others = sorted(sorted(others, key=lambda z: -told[z])[:MOST_CAUSES])
    parts = [
        (line, table.is_number(z) and z not in copies) for z in others for line in table.lines(z)
    ]
    lines = [line for line, _ in parts]
    curved = [bends for _, bends in parts]
    groups = [
        level
        for z in table.data.contexts.positions
        if _searched(table, z)
        for level in table.levels(z)
    ]
    given = [line * group for group in groups for line, bends in parts if bends]
    rows = len(table.rows)
    return (
        np.array(lines).reshape(len(lines), rows),
        np.array(curved, dtype=bool),
        np.array(given).reshape(len(given), rows),
    )
