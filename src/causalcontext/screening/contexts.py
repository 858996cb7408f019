"""Accidents of the context: copies and codes of it among the columns, spellings of one level,
columns it leaves empty.

The context itself is never left out. Of a number with many values, of which a context is a step,
nothing is said here: that may be declared, by `cc.threshold`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import log

import numpy as np

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Codes, Ints
from causalcontext.screening.cells import (
    merged_levels,
)
from causalcontext.screening.columns import (
    ColumnCells,
)
from causalcontext.screening.left_out import (
    LeftOut,
    Why,
)
from causalcontext.screening.settings import (
    FEWEST_ROWS_WITHOUT_A_VALUE,
    LEAST_NATS_OF_A_FUNCTION,
    LEVELS_IN_ANY_TABLE,
    MOST_COLUMNS_OF_SPELLINGS,
    MOST_LEVEL_PAIRS_COUNTED,
    MOST_WRONG_OF_A_NEAR_COPY,
    ROWS_OF_A_CONTEXT_GLANCE,
)


def copies_of_contexts(
    system: Sequence[ColumnCells], contexts: Mapping[str, tuple[Codes, Sequence[object]]]
) -> Iterator[LeftOut]:
    """The columns of which a context is a function, or nearly so, and those that are functions of
    contexts.

    `contexts` are the levels of every row by the name of the context, -1 where there is none, and
    what these are.
    """
    joined = _joined([codes for codes, _ in contexts.values()])
    for cells in system:
        own = _levels_of(cells)
        if own is None:
            if _is_constant_inside(cells, joined):
                yield LeftOut(
                    cells.name, Why.CONTEXT, f"is a function of {listed(contexts)}", tuple(contexts)
                )
            continue
        for name, (codes, _) in contexts.items():
            if found := _relation(own, codes, cells.values is not None):
                yield LeftOut(cells.name, Why.CONTEXT, found.format(name), (name,))
                break
        else:
            if len(contexts) > 1 and _is_function(own, joined):
                yield LeftOut(
                    cells.name, Why.CONTEXT, f"is a function of {listed(contexts)}", tuple(contexts)
                )


def _joined(codes: Sequence[Codes]) -> Ints:
    """The combination of the levels of several contexts, -1 where one is missing."""
    if len(codes) == 1:
        return codes[0].astype(np.int64)
    rows = np.column_stack(codes)
    place = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return np.where((rows >= 0).all(axis=1), place, -1)


def _levels_of(cells: ColumnCells) -> Ints | None:
    """The level of every row of text, categories and numbers of few values, -1 where it is missing;
    else None.
    """
    if cells.values is None:
        return np.asarray(cells.codes, dtype=np.int64)
    step = max(1, cells.values.size // ROWS_OF_A_CONTEXT_GLANCE)
    if np.unique(cells.values[::step]).size > LEVELS_IN_ANY_TABLE:
        return None
    missing = cells.missing
    different = np.unique(cells.values[~missing])
    if different.size > LEVELS_IN_ANY_TABLE:
        return None
    return np.where(
        missing, -1, np.searchsorted(different, np.where(missing, different[0], cells.values))
    )


def _relation(own: Ints, codes: Codes, number: bool) -> str:
    """What a column of levels is to a context, as the rest of a sentence with a place for its name;
    empty for nothing.

    A number of more values than the context has is a function of it, or none of our business.
    """
    here = int(own.max()) + 1
    there = int(codes.max()) + 1
    if _is_function(own, codes):
        return "is a copy of {}" if _is_function(codes, own) else "is a function of {}"
    if not (number and here > there) and _is_function(codes, own):
        return "determines {}, of which it has finer levels"
    if (
        here == there
        and _errors(codes, own) <= MOST_WRONG_OF_A_NEAR_COPY
        and _errors(own, codes) <= MOST_WRONG_OF_A_NEAR_COPY
    ):
        known = (own >= 0) & (codes >= 0)
        table = np.zeros((here, there), dtype=np.int64)
        np.add.at(table, (own[known], codes[known]), 1)
        wrong = 1.0 - table.max(axis=1).sum() / known.sum()
        return f"is a copy of {{}} but for {wrong:.1%} of the rows".replace(".0%", "%").replace(
            "%", " %"
        )
    return ""


def _errors(value: Ints | Codes, of: Ints | Codes) -> float:
    """The rows in which the usual value of a level is wrong, by those in which the most frequent
    value is.
    """
    known = (value >= 0) & (of >= 0)
    counts = np.zeros((int(of.max()) + 1, int(value.max()) + 1), dtype=np.int64)
    np.add.at(counts, (of[known], value[known]), 1)
    by_chance = int(known.sum() - counts.sum(axis=0).max())
    wrong = int(known.sum() - counts.max(axis=1).sum())
    return wrong / by_chance if by_chance * log(2.0) > LEAST_NATS_OF_A_FUNCTION else 1.0


def _is_function(value: Ints | Codes, of: Ints | Codes) -> bool:
    """Whether rows of one level have one value, more clearly than by chance; rows without either do
    not count.
    """
    few = slice(None, None, max(1, len(value) // ROWS_OF_A_CONTEXT_GLANCE))
    if not _one_each(value[few], of[few]):
        return False
    known = (value >= 0) & (of >= 0)
    value = value[known]
    of = of[known]
    if not value.size or not _one_each(value, of):
        return False
    shares = np.bincount(value) / value.size
    alike = float((shares**2).sum())
    repeats = value.size - np.count_nonzero(np.bincount(of))
    return alike < 1.0 and bool(-repeats * log(alike) > LEAST_NATS_OF_A_FUNCTION)


def _one_each(value: Ints | Codes, of: Ints | Codes) -> bool:
    """Whether no two rows of one level have different values; rows without either do not count."""
    known = (value >= 0) & (of >= 0)
    value = value[known].astype(np.int64)
    of = of[known].astype(np.int64)
    if not value.size:
        return True
    width = int(value.max()) + 1
    if (int(of.max()) + 1) * width > MOST_LEVEL_PAIRS_COUNTED:
        order = np.lexsort((value, of))
        return not bool(((np.diff(of[order]) == 0) & (np.diff(value[order]) != 0)).any())
    counts = np.bincount(of * width + value, minlength=(int(of.max()) + 1) * width).reshape(
        -1, width
    )
    return bool((np.count_nonzero(counts, axis=1) <= 1).all())


def _is_constant_inside(cells: ColumnCells, codes: Ints) -> bool:
    """Whether a number has one value in every context, with several rows in most of them."""
    assert cells.values is not None
    missing = cells.missing
    step = max(1, missing.size // ROWS_OF_A_CONTEXT_GLANCE)
    for some in (slice(None, None, step), slice(None)):
        known = ~missing[some] & (codes[some] >= 0)
        value = np.unique(cells.values[some][known], return_inverse=True)[1].astype(np.int64)
        if not _one_each(value, codes[some][known]):
            return False
    return _is_function(value, codes[known])


def empty_in_a_context(
    system: Sequence[ColumnCells], contexts: Mapping[str, tuple[Codes, Sequence[object]]]
) -> Iterator[LeftOut]:
    """The columns that have no value wherever a context has one of its values."""
    for cells in system:
        missing = cells.missing
        if not missing.any():
            continue
        for name, (codes, levels) in contexts.items():
            rows = np.bincount(codes[codes >= 0], minlength=len(levels))
            gaps = np.bincount(codes[missing & (codes >= 0)], minlength=len(levels))
            empty = [
                levels[place]
                for place in np.flatnonzero(
                    (gaps == rows) & (rows >= FEWEST_ROWS_WITHOUT_A_VALUE)
                ).tolist()
            ]
            if empty:
                where = listed([f"{level!r}" for level in empty])
                yield LeftOut(
                    cells.name, Why.EMPTY, f"has no value where {name} = {where}", (name,)
                )
                break


def spellings(columns: Sequence[ColumnCells]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Levels of text that differ only in case or spaces, by column and by their most frequent
    spelling.
    """
    found = {}
    for cells in columns:
        if cells.values is not None or str not in cells.families:
            continue
        counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.levels)).tolist()
        occurring = {
            level: count for level, count in zip(cells.levels, counts, strict=True) if count
        }
        if merged := merged_levels(occurring):
            found[cells.name] = merged
    return found


def words_about_spellings(found: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """One sentence on spellings, with the way to merge them; empty without any.

    >>> print(words_about_spellings({"ward": {"icu": ("ICU ",)}}))
    ward has levels that differ only in case or spaces ('icu' and 'ICU '), and each is \
a level of its own; to merge them, pass convert=True
    """
    if not found:
        return ""
    said = [
        f"{name} has levels that differ only in case or spaces "
        f"({listed([f'{level!r}' for first, others in own.items() for level in (first, *others)])})"
        for name, own in found.items()
    ]
    columns = listed(said, MOST_COLUMNS_OF_SPELLINGS, "column")
    return f"{columns}, and each is a level of its own; to merge them, pass convert=True"


def with_one_spelling(cells: ColumnCells, merged: Mapping[str, Sequence[str]]) -> list[object]:
    """The cells of text with the most frequent spelling of every level; None where there is no
    value.
    """
    first = {other: level for level, others in merged.items() for other in others}
    levels = [first.get(level, level) for level in cells.levels]
    return [levels[code] if code >= 0 else None for code in cells.codes.tolist()]


def rows_with_context(contexts: Mapping[str, tuple[Codes, Sequence[object]]]) -> Bools:
    """Where all contexts have a value."""
    return np.asarray(np.logical_and.reduce([codes >= 0 for codes, _ in contexts.values()]))
