"""One pass over the rows: counts, means, cross products per context, and a fingerprint of the table.

Everything that linear-Gaussian work needs is in the moments of every context, so the rows are visited once, a
batch at a time. The table is never copied as a whole.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.checks import check_missing_option, check_size
from causalcontext.data.dataset import Dataset
from causalcontext.data.moments import RunningMoments, add_batch, no_moments, settle
from causalcontext.kernels.rows.scan import digest_rows

_BATCH_VALUES = 2**19  # 4 MB: a batch stays in the cache, so that columns of a row-major array are read once
_LARGEST_BATCH_VALUES = 2**22
_ROWS_PER_LEVEL = 256  # fewer rows are not worth an update of all cross products of their context
_PER_LEVEL = ("n", "mean", "scatter", "constant", "missing", "infinite", "lost")
_PERFECT = 1 - 1e-12


@dataclass(frozen=True, eq=False)
class Survey:
    """The moments of every context, and what stood in the way of computing them.

    K contexts, p system variables. The moments are those of the *usable* rows: a context value, and a finite
    number in every system variable.

    Attributes
    ----------
    names : tuple of str
        The system variables, in table order.
    levels : tuple
        The context's values.
    n : array of int64, shape (K,)
        Usable rows.
    mean : array of float64, shape (K, p)
        0 where a context has no usable row.
    scatter : array of float64, shape (K, p, p)
        Centred cross products. Rows and columns of a variable that is constant in a context are exactly 0.
    constant : array of bool, shape (K, p)
        One value in all usable rows of the context, or differences too small to be squared.
    missing, infinite : arrays of int64, shape (K, p)
        NaN and infinite values.
    missing_context : int
        Rows without a context value.
    lost : array of int64, shape (K,)
        Rows of each context that are not usable: what listwise deletion drops.
    fingerprint : str
        Same for the same table in any order of columns, in any batches and in any dtypes; another one if a
        value, the order of the rows, a name or a context value changes.
    emptied : tuple of (level, rows)
        Contexts that `drop_empty_levels` took out because all of their rows were lost.
    """

    names: tuple[str, ...]
    levels: tuple[Any, ...]
    n: NDArray[np.int64]
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]
    constant: NDArray[np.bool_]
    missing: NDArray[np.int64]
    infinite: NDArray[np.int64]
    missing_context: int
    lost: NDArray[np.int64]
    fingerprint: str
    emptied: tuple[tuple[Any, int], ...] = ()

    def pooled(self) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
        """Rows, means (p,) and centred cross products (p, p) of all contexts together."""
        n = int(self.n.sum())
        # Differences from one context: means that are equal stay exactly equal.
        origin = self.mean[np.argmax(self.n)]
        with np.errstate(over="ignore", invalid="ignore"):
            shift = np.where(self.n[:, None] > 0, self.mean - origin, 0.0)
            mean_shift = self.n @ shift / max(n, 1)
            between = np.sqrt(self.n)[:, None] * (shift - mean_shift)
            return n, origin + mean_shift, self.scatter.sum(axis=0) + between.T @ between


def take_survey(data: Dataset, missing: str = "raise", batch: int = 65536) -> Survey:
    """The `Survey` of a table, after one pass over its rows.

    Parameters
    ----------
    data : Dataset
    missing : {"raise", "listwise", "testwise"}
        Checked here, before a long pass. Rows with a missing value never enter the moments; whether they are
        an error is up to `check_survey`.
    batch : int
        Largest number of rows at a time; fewer are taken when there are many columns.

    Examples
    --------
    >>> from causalcontext.data.tables import read_table
    >>> table = {"X": [1.0, 3.0, 2.0, 6.0], "Y": [0, 1, 2, 3], "R": ["dry", "dry", "wet", "wet"]}
    >>> survey = take_survey(read_table(table, context="R"))
    >>> survey.n.tolist(), survey.mean.tolist()
    ([2, 2], [[2.0, 0.5], [4.0, 2.5]])
    >>> survey.scatter[1].tolist()
    [[8.0, 2.0], [2.0, 0.5]]
    """
    check_missing_option(missing)
    check_size(data)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        moments = _pass_over_rows(data, batch)
        constant = settle(moments)
    return Survey(
        names=tuple(data.names[position] for position in data.system),
        levels=data.levels,
        n=moments.n,
        mean=moments.mean,
        scatter=moments.scatter,
        constant=constant,
        missing=moments.missing,
        infinite=moments.infinite,
        missing_context=int(np.count_nonzero(data.codes < 0)),
        lost=moments.lost,
        fingerprint=_fingerprint(data, moments.digests),
    )


def drop_empty_levels(data: Dataset, survey: Survey) -> tuple[Dataset, Survey]:
    """The table and its survey without the contexts that have no usable row; `survey.emptied` lists them.

    Their rows stay in the table, with the code -1: they belong to no context that is searched.
    """
    kept = survey.n > 0
    if data.context is None or kept.all():
        return data, survey
    place = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    codes = place[data.codes]
    columns = tuple(codes if i == data.context else column for i, column in enumerate(data.columns))
    levels = tuple(level for level, keep in zip(data.levels, kept, strict=True) if keep)
    per_level = {name: getattr(survey, name)[kept] for name in _PER_LEVEL}
    emptied = tuple((data.levels[level], int(survey.lost[level])) for level in np.flatnonzero(~kept))
    return (
        replace(data, columns=columns, levels=levels, codes=codes),
        replace(survey, levels=levels, emptied=survey.emptied + emptied, **per_level),
    )


def collinear_pairs(survey: Survey, level: int | None = None) -> list[tuple[str, str]]:
    """Pairs of variables that are exact linear functions of each other, in all rows or in one context."""
    scatter = survey.pooled()[2] if level is None else survey.scatter[level]
    scale = np.sqrt(np.diagonal(scatter))
    scale = np.where(scale > 0, scale, np.inf)
    correlation = np.abs(scatter / scale[:, None] / scale[None, :])
    first, second = np.nonzero(np.triu(correlation > _PERFECT, k=1))
    return [(survey.names[i], survey.names[j]) for i, j in zip(first, second, strict=True)]


def _pass_over_rows(data: Dataset, batch: int) -> RunningMoments:
    columns = [data.columns[position] for position in data.system]
    moments = no_moments(len(data.levels), len(columns))
    rows = _rows_per_batch(batch, len(columns), len(data.levels), data.n_rows)
    buffer = np.empty(len(columns) * rows)
    for first in range(0, data.n_rows, rows):
        codes = data.codes[first : first + rows]
        values = buffer[: len(columns) * len(codes)].reshape(len(columns), len(codes))
        for place, column in enumerate(columns):
            values[place] = column[first : first + rows]
        add_batch(moments, values, codes, first)
    return moments


def _rows_per_batch(batch: int, variables: int, levels: int, n_rows: int) -> int:
    """As many rows as are worth a visit to the cross products, and no more than fit in little memory."""
    worthwhile = max(_BATCH_VALUES // variables, _ROWS_PER_LEVEL * levels)
    return max(1, min(batch, worthwhile, max(_LARGEST_BATCH_VALUES // variables, 1), n_rows))


def _fingerprint(data: Dataset, digests: NDArray[np.uint64]) -> str:
    """A hash of names and values; columns enter sorted by name."""
    names = [data.names[position] for position in data.system]
    parts: list[Any] = sorted(zip(names, digests.tolist(), strict=True))
    parts += sorted([data.names[place], [str(value) for value in data.categories[place]]] for place in data.categories)
    if data.context is not None:
        parts.append(["context", data.context_name, _context_digest(data)])
    return hashlib.sha256(json.dumps([data.n_rows, parts]).encode()).hexdigest()


def _context_digest(data: Dataset) -> int:
    """A hash of the context's values row by row, whatever codes they have."""
    texts = [json.dumps([type(level).__name__, str(level)]) for level in data.levels] + ["missing"]
    hashes = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    words = np.frombuffer(b"".join(hashes), dtype=np.uint64)
    return int(digest_rows(words[data.codes], 0))
