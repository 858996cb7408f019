"""Categories of very many levels: the rare ones are taken together, or the column is left out.

A city, a surname, a diagnosis. What a search can say of a level rests on its rows, and its time
grows with the square of the number of levels.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.kernels.arrays import Ints
from causalcontext.score.options import MOST_LEVELS
from causalcontext.screening.left_out import (
    LeftOut,
    Why,
)
from causalcontext.screening.settings import LARGEST_SHARE_OF_RARE_LEVELS

TOGETHER = "other levels"
"""What rare levels are called together."""


def with_rare_levels_together(
    data: Dataset, kept: Collection[str] = ()
) -> tuple[Dataset, tuple[LeftOut, ...], tuple[str, ...]]:
    """The table with rare levels of large categories taken together, the columns to leave out, and
    what to say.
    """
    columns = list(data.columns)
    categories = dict(data.categories)
    left_out = list[LeftOut]()
    told = list[str]()
    for place in data.system:
        name = data.names[place]
        levels = data.categories.get(place, ())
        if data.kinds[place] is not Kind.CATEGORICAL or len(levels) <= MOST_LEVELS or name in kept:
            continue
        codes = np.asarray(data.columns[place], dtype=np.float64)
        counts = np.bincount(codes[np.isfinite(codes)].astype(np.int64), minlength=len(levels))
        frequent = _most_frequent(counts)
        if counts[frequent].sum() < (1.0 - LARGEST_SHARE_OF_RARE_LEVELS) * counts.sum():
            reason = (
                f"has {len(levels)} levels, and no {MOST_LEVELS - 1} of them hold most of the rows"
            )
            left_out.append(LeftOut(name, Why.LEVELS, reason))
            continue
        new = np.full(len(levels), len(frequent))
        new[frequent] = np.arange(len(frequent))
        known = np.isfinite(codes)
        merged = np.full(len(codes), np.nan)
        merged[known] = new[codes[known].astype(np.int64)]
        columns[place] = merged if not known.all() else merged.astype(np.int64)
        categories[place] = (*(levels[level] for level in frequent.tolist()), TOGETHER)
        told.append(
            f"{name} has {len(levels)} levels: the {len(levels) - len(frequent)} rarest, each of at"
            f" most {_rows(int(np.delete(counts, frequent).max()))}, are taken together"
        )
    if told:
        data = replace(data, columns=tuple(columns), categories=categories)
    return data, tuple(left_out), tuple(told)


def _most_frequent(counts: Ints) -> Ints:
    """The levels that stay, in their order: one less than a category may have; of levels as
    frequent the first.
    """
    return np.sort(np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1])


def _rows(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"
