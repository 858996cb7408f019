"""Some of the rows of a table: the complete ones, a sample of a long table, those of some cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.kernels.arrays import Bools, Values


def complete_rows(data: Dataset) -> Bools:
    """True for the rows with a context and a finite number in every system variable."""
    complete: Bools = data.codes >= 0
    for position in data.system:
        complete = complete & np.isfinite(np.asarray(data.columns[position]))
    return complete


def some_rows(data: Dataset, rows: Values) -> Dataset:
    """The table of some rows, given by number or by truth values."""
    columns = tuple(np.asarray(column)[rows] for column in data.columns)
    return replace(data, columns=columns, codes=data.codes[rows])


def only_cells(data: Dataset, cells: Sequence[int]) -> Dataset:
    """The table with these cells only; the rows of the others belong to no cell, and levels that they alone had go."""
    place = np.full(len(data.contexts.cells) + 1, -1, dtype=np.int32)  # the last entry answers the code -1
    place[list(cells)] = np.arange(len(cells), dtype=np.int32)
    codes = place[data.codes]
    columns, levels, kept = list(data.columns), [], [list(data.contexts.cells[cell]) for cell in cells]
    for j, position in enumerate(data.contexts.positions):
        used = sorted({cell[j] for cell in kept})
        for cell in kept:
            cell[j] = used.index(cell[j])
        levels.append(tuple(data.levels[j][level] for level in used))
        columns[position] = np.append([cell[j] for cell in kept], -1).astype(np.int32)[codes]
    contexts = replace(data.contexts, cells=tuple(tuple(cell) for cell in kept))
    return replace(data, columns=tuple(columns), contexts=contexts, levels=tuple(levels), codes=codes)


def thinned(data: Dataset, most: int, seed: int) -> Dataset:
    """The table itself, or about `most` of its rows: as many of every cell, all of those that have fewer.

    Drawing by the context changes how often its values occur, and nothing about the others given the context.

    Examples
    --------
    >>> from causalcontext.data.tables import read_table
    >>> table = {"X": np.arange(50.0), "Y": np.arange(50.0), "R": [0] * 46 + [1] * 4}
    >>> thinned(read_table(table, "R"), 10, seed=0).codes.tolist()
    [0, 0, 0, 0, 0, 1, 1, 1, 1]
    """
    if data.n_rows <= most:
        return data
    generator = np.random.default_rng(seed)
    cells = len(data.contexts.cells)
    share = max(most // cells, 1)
    chosen = []
    for cell in range(cells):
        rows = np.flatnonzero(data.codes == cell)
        chosen.append(rows if rows.size <= share else generator.choice(rows, share, replace=False))
    return some_rows(data, np.sort(np.concatenate(chosen)))
