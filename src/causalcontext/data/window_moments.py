"""Moments of a lagged table by the copies of the context: what regressions on windows need when the rows are gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from causalcontext.data.moments import Moments
from causalcontext.data.windows import LaggedTable
from causalcontext.kernels.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class WindowMoments:
    """The moments of every combination of values that copies of the context have together, in the units of the table.

    Attributes
    ----------
    copies : tuple of int
        The lags of the copies.
    contexts : int
    codes : array of int, shape (cells, copies)
        The values of the copies in every cell.
    moments : Moments
        One cell for every row of `codes`; columns as in `LaggedTable`.
    """

    copies: tuple[int, ...]
    contexts: int
    codes: Ints
    moments: Moments

    @classmethod
    def of_table(cls, table: LaggedTable, copies: Sequence[int]) -> WindowMoments:
        """The moments of all windows."""
        codes, place = np.unique(table.codes[:, list(copies)], axis=0, return_inverse=True)
        found = Moments.of_rows(table.values, place.reshape(-1), len(codes))
        scale = table.scale
        moments = Moments(found.rows, table.centre + scale * found.mean, found.scatter * np.outer(scale, scale))
        return cls(tuple(copies), table.contexts, codes.astype(np.int64), moments)

    def by(self, copies: Sequence[int]) -> Moments:
        """The moments of every combination of values of some of the copies, `numbered` as there."""
        some = [self.copies.index(lag) for lag in copies]
        number = numbered(self.codes[:, some], self.contexts)
        cells = [np.flatnonzero(number == cell).tolist() for cell in range(self.contexts ** len(copies))]
        parts = [self.moments.merged(members) if members else self._nothing() for members in cells]
        return Moments(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("rows", "mean", "scatter"))
        )

    def _nothing(self) -> Moments:
        width = self.moments.mean.shape[1]
        return Moments(np.zeros(1, dtype=np.int64), np.zeros((1, width)), np.zeros((1, width, width)))


class WindowRows:
    """The windows themselves in the units of the table, in the cells of some copies of the context."""

    def __init__(self, table: LaggedTable, copies: Sequence[int]) -> None:
        self.table = table
        self.codes: Ints = numbered(table.codes[:, list(copies)], table.contexts)

    def values(self, columns: Sequence[int], cells: Sequence[int]) -> tuple[Floats, Ints]:
        """Some columns on the rows of some cells, shape (rows, columns), and the cell of every row."""
        here, some = self.inside(cells), list(columns)
        found = self.table.values[here][:, some] * self.table.scale[some] + self.table.centre[some]
        return found, self.codes[here]

    def inside(self, cells: Sequence[int]) -> Ints:
        """The windows of some cells, by number."""
        return np.flatnonzero(np.isin(self.codes, list(cells)))


def numbered(codes: Ints, contexts: int) -> Ints:
    """One number for every combination of values: the first copy counts most.

    Examples
    --------
    >>> numbered(np.array([[0, 1], [1, 0]]), 3).tolist()
    [1, 3]
    """
    number = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        number = number * contexts + column
    return number
