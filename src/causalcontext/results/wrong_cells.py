"""The cells of the table that were taken for wrong, and the links that all of them, kept, would
have left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.errors import listed
from causalcontext.graphs.endpoints import Endpoints, as_written, mark_of
from causalcontext.graphs.graph import Edge, Graph
from causalcontext.kernels.arrays import Ints
from causalcontext.results.notes import About, ResultNote

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.timeseries.windows import SeriesWindows


class FlaggedCell(NamedTuple):
    """A cell: the row of the table, counted from 0, the column, its value, and what the rest leads
    to expect there.
    """

    row: int
    column: str
    value: float
    expected: float


@dataclass(frozen=True)
class WrongCells:
    """The flagged cells of a table.

    Attributes
    ----------
    cells : tuple of FlaggedCell
        The cells, by rows of the table.
    left_out : tuple of int
        The rows that were left out; in the others flagged cells were replaced.
    kept : tuple of (int, int, int, str)
        The edges that are found if every cell is kept: context, source, target, mark.
    """

    cells: tuple[FlaggedCell, ...]
    left_out: tuple[int, ...] = ()
    kept: tuple[tuple[int, int, int, str], ...] = ()

    def frame(self) -> pd.DataFrame:
        """One row for every cell."""
        return frame_of(self.cells, columns=list(FlaggedCell._fields))

    @property
    def note(self) -> ResultNote:
        """One sentence for the reader of a result."""
        out = set(self.left_out)
        replaced = [cell for cell in self.cells if cell.row not in out]
        columns = listed(sorted({cell.column for cell in replaced}))
        parts = []
        if replaced:
            rows = _counted(len({cell.row for cell in replaced}), "row")
            parts.append(
                f"{_counted(len(replaced), 'cell')} of {columns} in {rows} contradict the other"
                " columns and were replaced by what these lead to expect"
            )
        if out:
            parts.append(f"{_counted(len(out), 'row')} with wrong cells were left out")
        sentence = (
            f"{', and '.join(parts)}: flagged_cells() lists them, diagnose() says what they change"
        )
        return ResultNote(sentence, About.CELLS, "wrong_cells='keep' keeps them")

    def differences(self, graphs: Mapping[Any, Graph]) -> tuple[list[str], list[str], list[str]]:
        """Edges, with their contexts, that only the result has, that only the table as it is has,
        and marks of both.

        The marks are those of the result, and, after "instead of", of the table as it is.
        """
        names = next(iter(graphs.values())).names
        values = list(graphs)
        mine = {
            (r, frozenset(edge[:2])): edge
            for r, graph in enumerate(graphs.values())
            for edge in graph.edges
        }
        theirs = {
            (r, frozenset((names[x], names[y]))): Edge(names[x], names[y], mark)
            for r, x, y, mark in self.kept
        }
        new, gone = (
            [(key[0], str(links[key])) for key in links if key not in others]
            for links, others in ((mine, theirs), (theirs, mine))
        )
        turned = [
            (key[0], f"{edge} instead of {theirs[key]}")
            for key, edge in mine.items()
            if key in theirs and theirs[key] != edge
        ]
        return _in_words(new, values), _in_words(gone, values), _in_words(turned, values)

    def at_rows(self, rows: Ints | None) -> WrongCells:
        """The same cells, in a table of which only some rows, given by number, were searched."""
        if rows is None:
            return self
        cells = tuple(cell._replace(row=int(rows[cell.row])) for cell in self.cells)
        return WrongCells(cells, tuple(int(rows[row]) for row in self.left_out), self.kept)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain lists, numbers and text."""
        return asdict(self) | {"cells": [list(cell) for cell in self.cells]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> WrongCells:
        """The flagged cells of `to_dict`."""
        cells = tuple(FlaggedCell(*cell) for cell in content["cells"])
        return cls(
            cells,
            tuple(content["left_out"]),
            tuple((r, x, y, mark) for r, x, y, mark in content["kept"]),
        )


@dataclass(frozen=True, eq=False)
class CleanedTable:
    """The table that a search saw in place of the given one: rows or windows without wrong cells,
    and these cells.
    """

    cells: WrongCells
    rows: Dataset
    statistics: SufficientStatistics
    before: Endpoints
    windows: SeriesWindows | None = None

    def told(self) -> WrongCells:
        """The cells with the edges that are found if all of them are kept."""
        edges = []
        for r, endpoints in enumerate(self.before):
            for x, y in zip(*np.nonzero(np.triu(endpoints != 0)), strict=True):
                source, target = as_written(endpoints, int(x), int(y))
                edges.append((r, source, target, mark_of(endpoints, source, target)))
        return WrongCells(self.cells.cells, self.cells.left_out, tuple(edges))


def _counted(number: int, what: str) -> str:
    """A number of cells in words."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _in_words(edges: Sequence[tuple[int, str]], values: Sequence[Any]) -> list[str]:
    """`X --> Y [dry]` for every edge of some contexts, without them if it is in all."""
    where: dict[str, list[int]] = {}
    for r, edge in edges:
        where.setdefault(edge, []).append(r)
    return [
        edge
        if len(contexts_with_edge) == len(values)
        else f"{edge} [{', '.join(str(values[r]) for r in contexts_with_edge)}]"
        for edge, contexts_with_edge in sorted(where.items())
    ]
