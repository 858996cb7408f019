"""Categories of very many levels: the rare ones are taken together, or the column is left out.

A city, a surname, a diagnosis. The model of a category has coefficients for every level, so that a
rare level can say little, and the time of a search grows with the square of the number of levels.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.kernels.arrays import Ints
from causalcontext.score.options import MOST_LEVELS
from causalcontext.screening.left_out import LeftOut, Why
from causalcontext.screening.settings import LARGEST_SHARE_OF_RARE_LEVELS

TOGETHER = "other levels"
"""The name of the level that rare levels become."""


def with_rare_levels_together(
    data: Dataset, kept: Collection[str] = ()
) -> tuple[Dataset, tuple[LeftOut, ...], tuple[str, ...]]:
    """The table with rare levels of large categories taken together, the columns to leave out, and
    the sentences on both.

    A category of more than `MOST_LEVELS` levels keeps the most frequent ones, one less than a
    search takes, and the others become the level `TOGETHER`. Where these are more than
    `LARGEST_SHARE_OF_RARE_LEVELS` of the rows, the column is left out. Columns in `kept`, and
    ordered levels, stay as they are.
    """
    columns = list(data.columns)
    categories = dict(data.categories)
    left_out = list[LeftOut]()
    sentences = list[str]()
    for position in data.system:
        name = data.names[position]
        levels = data.categories.get(position, ())
        if (
            data.kinds[position] is not Kind.CATEGORICAL
            or len(levels) <= MOST_LEVELS
            or name in kept
        ):
            continue
        codes = np.asarray(data.columns[position], dtype=np.float64)
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
        columns[position] = merged if not known.all() else merged.astype(np.int64)
        categories[position] = (*(levels[level] for level in frequent.tolist()), TOGETHER)
        sentences.append(
            f"{name} has {len(levels)} levels: the {len(levels) - len(frequent)} rarest, each of at"
            f" most {_rows(int(np.delete(counts, frequent).max()))}, are taken together"
        )
    if sentences:
        data = replace(data, columns=tuple(columns), categories=categories)
    return data, tuple(left_out), tuple(sentences)


def _most_frequent(counts: Ints) -> Ints:
    """The levels that stay, in their order, shape (`MOST_LEVELS` - 1,); of levels as frequent the
    first.
    """
    return np.sort(np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1])


def _rows(count: int) -> str:
    """A number of rows in words."""
    return f"{count} row{'' if count == 1 else 's'}"
