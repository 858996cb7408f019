"""Fewer rows of a long table, for tests whose time grows with them."""

from __future__ import annotations

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.missing import some_rows


def thinned(data: Dataset, most: int, seed: int) -> Dataset:
    """The table itself, or about `most` of its rows: as many of every context, all of those that have fewer.

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
    share = max(most // len(data.levels), 1)
    chosen = []
    for level in range(len(data.levels)):
        rows = np.flatnonzero(data.codes == level)
        chosen.append(rows if rows.size <= share else generator.choice(rows, share, replace=False))
    return some_rows(data, np.sort(np.concatenate(chosen)))
