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
from causalcontext.kernels.arrays import Codes, Ints
from causalcontext.screening.cells import merged_levels
from causalcontext.screening.columns import ColumnCells
from causalcontext.screening.left_out import LeftOut, Why
from causalcontext.screening.settings import (
    FEWEST_ROWS_OF_A_TRACE,
    FEWEST_ROWS_WITHOUT_A_VALUE,
    LARGEST_TO_SQUARE,
    LARGEST_TRACE,
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

    `system` are the cells of the columns that may be searched; `contexts` holds the level of every
    row, -1 where there is none, and the values of these levels, by the name of the context. A
    column of text, categories or few numbers is held against each context, then against their
    combination. A number of many values is asked only whether it has one value in every context, or
    one with a trace of noise: a context that is a step of a number stays, since that may be
    declared by `cc.threshold`.
    """
    joined = _joined([codes for codes, _ in contexts.values()])
    for cells in system:
        levels = _levels_of(cells)
        if levels is None:
            if _is_constant_inside(cells, joined):
                yield LeftOut(
                    cells.name, Why.CONTEXT, f"is a function of {listed(contexts)}", tuple(contexts)
                )
            elif _is_trace_inside(cells, joined):
                reason = f"is a function of {listed(contexts)} with a trace of noise"
                yield LeftOut(cells.name, Why.CONTEXT, reason, tuple(contexts))
            continue
        for name, (codes, _) in contexts.items():
            if relation := _relation(levels, codes, cells.values is not None):
                yield LeftOut(cells.name, Why.CONTEXT, relation.format(name), (name,))
                break
        else:
            if len(contexts) > 1 and _is_function(levels, joined):
                yield LeftOut(
                    cells.name, Why.CONTEXT, f"is a function of {listed(contexts)}", tuple(contexts)
                )


def _joined(codes: Sequence[Codes]) -> Ints:
    """The combination of the levels of several contexts, shape (rows,), -1 where one is missing."""
    if len(codes) == 1:
        return codes[0].astype(np.int64)
    rows = np.column_stack(codes)
    combination = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return np.where((rows >= 0).all(axis=1), combination, -1)


def _levels_of(cells: ColumnCells) -> Ints | None:
    """The level of every row, shape (rows,), -1 where it is missing; None for a number of many
    values.

    Numbers of up to `LEVELS_IN_ANY_TABLE` values have levels, as text and categories do; some of
    the rows soon tell of a number that it has more.
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


def _relation(levels: Ints, codes: Codes, number: bool) -> str:
    """The relation of a column of levels to a context, as the rest of a sentence with {} for its
    name; empty for no relation.

    `levels` and `codes`, shape (rows,), are -1 where there is no value. Each may be a function of
    the other, both (a copy), or both but for some rows (a copy with errors). A `number` of more
    values than the context has may be a function of it, but does not count as its finer levels.
    """
    column_levels = int(levels.max()) + 1
    context_levels = int(codes.max()) + 1
    if _is_function(levels, codes):
        return "is a copy of {}" if _is_function(codes, levels) else "is a function of {}"
    if not (number and column_levels > context_levels) and _is_function(codes, levels):
        return "determines {}, of which it has finer levels"
    if (
        column_levels == context_levels
        and _errors(codes, levels) <= MOST_WRONG_OF_A_NEAR_COPY
        and _errors(levels, codes) <= MOST_WRONG_OF_A_NEAR_COPY
    ):
        known = (levels >= 0) & (codes >= 0)
        table = np.zeros((column_levels, context_levels), dtype=np.int64)
        np.add.at(table, (levels[known], codes[known]), 1)
        wrong = 1.0 - table.max(axis=1).sum() / known.sum()
        return f"is a copy of {{}} but for {wrong:.1%} of the rows".replace(".0%", "%").replace(
            "%", " %"
        )
    return ""


def _errors(value: Ints | Codes, of: Ints | Codes) -> float:
    """The rows in which the usual value of a level is wrong, by those in which the most frequent
    value is.

    With n rows of which m have the most frequent value, and w rows that differ from the most
    frequent value of their level of `of`, this is w / (n - m): 0 for a function, 1 for a column
    without any relation, and 1 as well where n - m coin tosses could agree by chance.
    """
    known = (value >= 0) & (of >= 0)
    counts = np.zeros((int(of.max()) + 1, int(value.max()) + 1), dtype=np.int64)
    np.add.at(counts, (of[known], value[known]), 1)
    by_chance = int(known.sum() - counts.sum(axis=0).max())
    wrong = int(known.sum() - counts.max(axis=1).sum())
    return wrong / by_chance if by_chance * log(2.0) > LEAST_NATS_OF_A_FUNCTION else 1.0


def _is_function(value: Ints | Codes, of: Ints | Codes) -> bool:
    """True if rows of one level have one value, more clearly than by chance.

    Rows without either do not count. Two rows drawn at random have the same value with probability
    a = sum p²; each of the rows that repeat a level agrees with it by chance with about this
    probability, so that the evidence is -log a nats a repeat.
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
    """True if no two rows of one level have different values; rows without either do not count.

    Levels and values are counted in a table; where it would have more than
    `MOST_LEVEL_PAIRS_COUNTED` cells, rows are sorted by both, and neighbours compared.
    """
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
    """True if a number has one value in every context, with several rows in most of them.

    Some of the rows are looked at first, since they contradict it in nearly every table.
    """
    assert cells.values is not None
    missing = cells.missing
    step = max(1, missing.size // ROWS_OF_A_CONTEXT_GLANCE)
    for rows in (slice(None, None, step), slice(None)):
        known = ~missing[rows] & (codes[rows] >= 0)
        value = np.unique(cells.values[rows][known], return_inverse=True)[1].astype(np.int64)
        if not _one_each(value, codes[rows][known]):
            return False
    return _is_function(value, codes[known])


def _is_trace_inside(cells: ColumnCells, codes: Ints) -> bool:
    """True if a number hardly varies within any context, beside how it varies in the table.

    Its standard deviation within every context is `LARGEST_TRACE` at most of that over all rows.
    Some of the rows are looked at first, since they contradict it in nearly every table.
    """
    assert cells.values is not None
    step = max(1, cells.values.size // ROWS_OF_A_CONTEXT_GLANCE)
    for rows in (slice(None, None, step), slice(None)):
        known = np.isfinite(cells.values[rows]) & (codes[rows] >= 0)
        values = cells.values[rows][known].astype(np.float64)
        code = codes[rows][known]
        count = np.bincount(code)
        if np.count_nonzero(count) < 2 or count[count > 0].min() < FEWEST_ROWS_OF_A_TRACE:
            return False
        if np.abs(values).max() > LARGEST_TO_SQUARE:  # whose squares overflow
            return False
        values = values - values.mean()
        squares = np.bincount(code, values**2) - np.bincount(code, values) ** 2 / np.maximum(
            count, 1
        )
        largest = float((squares[count > 0] / count[count > 0]).max())
        if largest > LARGEST_TRACE**2 * float((values**2).mean()):
            return False
    return True


def words_about_equal_contexts(contexts: Mapping[str, tuple[Codes, Sequence[object]]]) -> str:
    """A sentence on the contexts that others determine; empty without any.

    `contexts` holds the level of every row, shape (rows,), and the values of the levels. A context
    that another one determines has no rows of its own: links to either may be those of the other.
    """
    clauses = []
    names = list(contexts)
    for index, name in enumerate(names):
        for other in names:
            codes, finer = contexts[name][0], contexts[other][0]
            if name == other or not _is_function(codes, finer):
                continue
            is_copy = _is_function(finer, codes)
            if is_copy and index < names.index(other):  # the first of two copies is the original
                continue
            clauses.append(f"{name} is {'a copy' if is_copy else 'a function'} of {other}")
            break
    if not clauses:
        return ""
    words = "it" if len(clauses) == 1 else "them"
    return (
        f"of the contexts {listed(clauses)}: no rows tell their links apart, so that links at them"
        f" may be false; leave {words} out of the contexts and of the table"
    )


def empty_in_a_context(
    system: Sequence[ColumnCells], contexts: Mapping[str, tuple[Codes, Sequence[object]]]
) -> Iterator[LeftOut]:
    """The columns that have no value wherever a context has one of its values.

    A graph of that context could not have the column, so it is left out for all of them, with the
    values where it is empty. Contexts of few rows, where gaps may be chance, are none of these.
    """
    for cells in system:
        missing = cells.missing
        if not missing.any():
            continue
        for name, (codes, levels) in contexts.items():
            rows = np.bincount(codes[codes >= 0], minlength=len(levels))
            gaps = np.bincount(codes[missing & (codes >= 0)], minlength=len(levels))
            is_empty = (gaps == rows) & (rows >= FEWEST_ROWS_WITHOUT_A_VALUE)
            empty = [levels[code] for code in np.flatnonzero(is_empty).tolist()]
            if empty:
                where = listed([repr(level) for level in empty])
                yield LeftOut(
                    cells.name, Why.EMPTY, f"has no value where {name} = {where}", (name,)
                )
                break


def spellings(columns: Sequence[ColumnCells]) -> dict[str, dict[str, tuple[str, ...]]]:
    """The levels of text that differ only in case or spaces, by column and by their most frequent
    spelling. Levels that no row has do not count.
    """
    spellings_by_column = {}
    for cells in columns:
        if cells.values is not None or str not in cells.families:
            continue
        counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.levels)).tolist()
        occurring = {
            level: count for level, count in zip(cells.levels, counts, strict=True) if count
        }
        if merged := merged_levels(occurring):
            spellings_by_column[cells.name] = merged
    return spellings_by_column


def words_about_spellings(spellings_by_column: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """One sentence on spellings, with the way to merge them; empty without any.

    >>> print(words_about_spellings({"ward": {"icu": ("ICU ",)}}))
    ward has levels that differ only in case or spaces ('icu' and 'ICU '), and each is \
a level of its own; to merge them, pass convert=True
    """
    if not spellings_by_column:
        return ""
    clauses = []
    for name, merged in spellings_by_column.items():
        quoted = [repr(level) for first, others in merged.items() for level in (first, *others)]
        clauses.append(f"{name} has levels that differ only in case or spaces ({listed(quoted)})")
    columns = listed(clauses, MOST_COLUMNS_OF_SPELLINGS, "column")
    return f"{columns}, and each is a level of its own; to merge them, pass convert=True"


def with_one_spelling(cells: ColumnCells, merged: Mapping[str, Sequence[str]]) -> list[object]:
    """The cells of text with the most frequent spelling of every level; None where there is no
    value.

    `merged` has the other spellings by the one that stays, as `spellings` returns them.
    """
    first = {other: level for level, others in merged.items() for other in others}
    levels = [first.get(level, level) for level in cells.levels]
    return [levels[code] if code >= 0 else None for code in cells.codes.tolist()]
