"""The looks at a table before a search, in order: first at the table as it was given, then at what
was read of it.

`screened_table` leaves out columns that cannot be variables, so that reading does not stop at them;
`screened_data` leaves out functions of other columns, and says what is damaged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe

from causalcontext.data.columns import Column
from causalcontext.data.dataset import Dataset, without_columns
from causalcontext.data.indicators import split_context
from causalcontext.data.series_options import SeriesOptions
from causalcontext.data.tables import columns_of_table, context_places, eager_frame
from causalcontext.errors import DataError, KnowledgeError, check_are_columns
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Bools, Codes, Ints, Values
from causalcontext.knowledge import Knowledge
from causalcontext.screening.cells import (
    POINT,
    text_numbers,
)
from causalcontext.screening.columns import (
    NAMES_OF_INDEX,
    ColumnCells,
    are_dates,
    cells_of_column,
    has_intervals,
    why_no_variable,
)
from causalcontext.screening.contexts import (
    copies_of_contexts,
    empty_in_a_context,
    spellings,
    with_one_spelling,
    words_about_spellings,
)
from causalcontext.screening.damage import (
    mended,
    told_without,
)
from causalcontext.screening.functions import (
    functions_of_others,
)
from causalcontext.screening.left_out import (
    DoubtfulScale,
    LeftOut,
    Why,
    words_about_absence,
    words_about_left_out,
)
from causalcontext.screening.rare_levels import (
    with_rare_levels_together,
)
from causalcontext.screening.settings import (
    FEWEST_RANK_COLUMNS,
    FEWEST_ROWS_OF_A_CONSTANT,
    LARGEST_SHARE_WITHOUT_CONTEXT,
    LEAST_SHARE_OF_RANK_COLUMNS,
    LEVELS_IN_ANY_TABLE,
    ROUNDING_SHARE_OF_LARGEST,
)
from causalcontext.screening.word_rows import (
    rows_of_words,
)

DAMAGED = ("auto", "keep")
"""What is done with damaged rows and cells: they are left out, or kept."""

KEYS = (Why.LEVELS, Why.IDENTIFIER, Why.TEXT)
"""Why a column is left out that may say which rows belong together."""


@dataclass(frozen=True)
class Asked:
    """What a caller says about the columns of a table."""

    context: Any = None
    kinds: Mapping[str, str] | None = None
    names: Sequence[str] | None = None
    kept: Collection[str] = ()
    missing: str = "raise"
    decimal: str = POINT
    convert: bool = False
    series: SeriesOptions | None = (
        None  # how rows follow each other in time; None where they do not
    )
    damaged: str = "auto"  # one of `DAMAGED`
    codes_decided: bool = False  # whether the caller said which values are codes for missing ones
    named: Collection[str] = ()  # the columns that knowledge names
    linked: Collection[str] = ()  # those of them that are in a link, or closed

    @property
    def declared(self) -> dict[str, str]:
        """The kinds by the names of columns; of what is no mapping reading says so."""
        if not isinstance(self.kinds, Mapping):
            return {}
        return {str(name): str(kind) for name, kind in self.kinds.items()}


@dataclass(frozen=True)
class Screening:
    """What was found before a search."""

    left_out: tuple[LeftOut, ...] = ()
    told: tuple[str, ...] = ()
    """Other sentences that a reader must know."""
    notes: tuple[str, ...] = ()
    """How text was read."""
    problems: tuple[str, ...] = ()
    """Why columns cannot be read as they are, one sentence each."""
    unread: tuple[str, ...] = ()
    """The columns that these are about."""
    doubtful: tuple[DoubtfulScale, ...] = ()
    """The columns whose scale makes differences between contexts."""
    rows: Ints | None = field(default=None, compare=False)
    """The rows that are searched, where some of the table are left out."""
    keys: Mapping[str, Ints] = field(default_factory=dict, compare=False)
    """The groups of rows, by the columns left out that say which rows belong together."""
    unused: tuple[str, ...] = ()
    """The columns left out that tiers, roots or sinks name, which are used without them."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What belongs among the warnings of a result."""
        return tuple(
            words
            for words in (words_about_left_out(self.left_out, self.unused), *self.told)
            if words
        )

    def within(self, rows: Ints | None) -> Screening:
        """The same in a larger table, of which these rows were looked at; None for all."""
        if rows is None:
            return self
        return replace(self, rows=rows if self.rows is None else rows[self.rows])

    def kinds(self, declared: Mapping[str, str] | None) -> Mapping[str, str] | None:
        """The kinds that were declared of columns that are searched."""
        out = {left.column for left in self.left_out}
        if not out or not isinstance(declared, Mapping):
            return declared
        return {name: kind for name, kind in declared.items() if str(name) not in out}

    def with_knowledge(
        self, known: Knowledge, series: SeriesOptions | None
    ) -> tuple[Screening, Knowledge]:
        """The screening with the words on knowledge, and what is known of the columns that are
        searched.

        Tiers, roots and sinks often list every column of a table, so that they are used without
        functions of other columns. A column of another kind that is named, and a link of a
        function, are an error.
        """
        functions = {left.column for left in self.left_out if left.why is Why.FUNCTION}
        functions -= {*columns_of_variables(known.linked, series)}
        unused = tuple(
            column for column in columns_of_variables(known.names, series) if column in functions
        )
        rest = known.without(
            [name for name in known.names if column_of_variable(name, series) in functions]
        )
        left_out = {left.column: left for left in self.left_out}
        for column in columns_of_variables(rest.names, series):
            if column in left_out:
                raise KnowledgeError(
                    f"knowledge names {column!r}, which {words_about_absence(left_out[column])}"
                )
        return replace(self, unused=unused) if unused else self, rest


NOTHING = Screening()


def columns_of_variables(names: Iterable[str], series: SeriesOptions | None) -> tuple[str, ...]:
    """The columns of some variables; with lags several of these are one column at different
    times.
    """
    return tuple(dict.fromkeys(column_of_variable(name, series) for name in names))


def column_of_variable(name: str, series: SeriesOptions | None) -> str:
    """The column of a variable, which with lags may be that of an earlier time."""
    return name if series is None else split(name)[0]


def screened_table(table: Any, asked: Asked) -> tuple[Any, Sequence[str] | None, Screening]:
    """The table in memory without the columns that cannot be variables, the names of an array, and
    what was found.

    Text that is numbers is read as such; an error names the cells of text that is not.
    """
    rest, names, found = screened(table, asked)
    if found.problems:
        raise DataError(found.problems[0])
    if found.left_out and asked.series is None:
        _check_enough([column.name for column in columns_of_table(rest, names)], asked, found)
    return rest, names, found


def screened(table: Any, asked: Asked) -> tuple[Any, Sequence[str] | None, Screening]:
    """The same, with what cannot be read among the problems."""
    columns = columns_of_table(table, asked.names)
    names = [column.name for column in columns]
    check_are_columns(asked.kept, names)
    measured, made = split_context(asked.context)
    contexts = [names[place] for place in context_places(measured, tuple(names))]
    if not columns or len(columns[0].series) < FEWEST_ROWS_OF_A_CONSTANT:
        return table, asked.names, NOTHING
    taken = {*contexts, *(one.column for one in made)}
    if asked.series is not None:
        taken |= {
            *asked.series.taken,
            *asked.series.covariates,
            *(one.column for one in asked.series.cycles),
        }
    cells = {column.name: cells_of_column(column) for column in columns}
    rows, told = _rows_to_keep(
        [cells[name] for name in names], [cells[name] for name in contexts], asked
    )
    words = rows_of_words([cells[name] for name in names if name not in asked.declared])
    if words is not None and asked.series is None and asked.damaged != "keep":
        rows = ~words.rows if rows is None else rows & ~words.rows
        told = (*told, words.told)
    here = {name: one.some(rows) for name, one in cells.items()}
    texts = {name: one for name, one in here.items() if name not in contexts}
    new, notes, problems = _numbers_of_texts(texts, asked)
    for name, one in texts.items():
        if isinstance(one.column.dtype, nw.Duration) and one.values is not None:
            new[name] = one.values
            notes.append(f"{name} holds durations, and is read in seconds")
    here |= {
        name: ColumnCells(here[name].column, values, here[name].codes, ())
        for name, values in new.items()
    }
    # Of contexts levels alone are asked about.
    codes = {name: _levels_by_row(here[name]) for name in contexts}
    searched = [here[name] for name in names if name not in taken and name not in problems]
    left_out = _left_out(searched, codes, asked)
    out = {left.column for left in left_out}
    alike = spellings([one for name, one in here.items() if name not in out and name not in new])
    merged: dict[str, Any] = {
        name: _intervals_as_text(one.column, rows)
        for name, one in here.items()
        if has_intervals(one.column)
    }
    if asked.convert:
        merged |= {name: with_one_spelling(here[name], own) for name, own in alike.items()}
    told = (*told, *filter(None, [words_about_spellings({} if asked.convert else alike)]))
    places = None if rows is None else np.flatnonzero(rows)
    found = Screening(
        left_out,
        told,
        tuple(notes),
        tuple(problems.values()),
        tuple(problems),
        rows=places,
        keys=_keys(here, left_out),
    )
    if not (left_out or new or merged) and rows is None:
        return table, asked.names, found
    kept = [place for place, name in enumerate(names) if name not in out]
    changed: dict[str, Any] = {
        name: values for name, values in (new | merged).items() if name not in out
    }
    rest, rest_names = _part(table, names, kept, rows, changed, asked.names)
    return rest, rest_names, found


def _rows_to_keep(
    columns: Sequence[ColumnCells], contexts: Sequence[ColumnCells], asked: Asked
) -> tuple[Bools | None, tuple[str, ...]]:
    """The rows that can be searched, None for all, and what is to be said of the others."""
    if asked.missing != "raise" or asked.series is not None:
        return None, ()
    told = []
    empty = np.ones(len(columns[0].missing), dtype=bool)
    for cells in columns:
        empty &= cells.missing
        if not empty.any():
            break
    keep = ~empty
    if empty.any():
        count = int(empty.sum())
        told.append(
            f"{_rows(count)} of {empty.size:,} {'have' if count > 1 else 'has'} no value in any"
            f" column and {'are' if count > 1 else 'is'} left out"
        )
    for cells in contexts:
        lacking = cells.missing & keep
        count = int(lacking.sum())
        if 0 < count < LARGEST_SHARE_WITHOUT_CONTEXT * keep.sum():
            keep = keep & ~lacking
            told.append(
                f"{cells.name} has no value in {_rows(count)} of {empty.size:,}, which "
                f"{'are' if count > 1 else 'is'} left out"
            )
    return (None, ()) if keep.all() or not keep.any() else (keep, tuple(told))


def _intervals_as_text(column: Column, rows: Bools | None) -> Any:
    """A category of intervals, as `pandas.cut` makes them, with the same levels and order, but as
    text.
    """
    as_text = column.series.to_native().cat.rename_categories(str).array
    return as_text if rows is None else as_text[rows]


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def _numbers_of_texts(
    columns: Mapping[str, ColumnCells], asked: Asked
) -> tuple[dict[str, Values], list[str], dict[str, str]]:
    """Columns of text that are numbers as numbers, notes on them, and why others cannot be read, by
    column.
    """
    found: dict[str, Values] = {}
    notes: list[str] = []
    problems: dict[str, str] = {}
    declared = asked.declared
    for name, cells in columns.items():
        levels = declared.get(name) in ("categorical", "ordered")
        if cells.values is not None or not {str, float} & set(cells.families) or levels:
            continue
        if not set(cells.families) <= {str, int, float}:
            continue
        used = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.levels)) > 0
        texts = [level for level, here in zip(cells.levels, used.tolist(), strict=True) if here]
        if (
            str not in cells.families and len(texts) <= LEVELS_IN_ANY_TABLE
        ):  # a category of a few numbers
            continue
        read = text_numbers(name, texts, asked.decimal, asked.convert)
        if read is None:
            continue
        if read.values is None:
            if not are_dates(texts):
                problems[name] = read.problem
            continue
        numbers = np.full(len(cells.levels) + 1, np.nan)
        numbers[:-1][used] = read.values
        found[name] = numbers[cells.codes]
        notes.append(read.note)
    return found, notes, problems


def _levels_by_row(cells: ColumnCells) -> tuple[Codes, Sequence[object]]:
    """The level of every row of a context, -1 where there is none, and the levels that occur."""
    if cells.values is None:
        used, codes = np.unique(cells.codes[cells.codes >= 0], return_inverse=True)
        place = np.full(len(cells.codes), -1, dtype=np.int32)
        place[cells.codes >= 0] = codes
        return place, [cells.levels[level] for level in used.tolist()]
    missing = cells.missing
    different, codes = np.unique(cells.values[~missing], return_inverse=True)
    place = np.full(len(missing), -1, dtype=np.int32)
    place[~missing] = codes
    return place, different.tolist()


def _left_out(
    system: Sequence[ColumnCells],
    contexts: Mapping[str, tuple[Codes, Sequence[object]]],
    asked: Asked,
) -> tuple[LeftOut, ...]:
    """The columns that cannot be variables, but for those that the caller keeps, in the order of
    the table.
    """
    declared = asked.declared
    system = [cells for cells in system if cells.name not in asked.kept]
    found: dict[str, LeftOut] = {}
    for cells in system:
        left = why_no_variable(cells, cells.name in declared, asked.series is not None)
        if left is not None:
            found[cells.name] = left
    numbers = [cells.name for cells in system if cells.values is not None]
    permuted = [
        name
        for name in numbers
        if name in found
        and found[name].why is Why.IDENTIFIER
        and NAMES_OF_INDEX.fullmatch(name) is None
    ]
    if len(permuted) >= FEWEST_RANK_COLUMNS and len(permuted) > LEAST_SHARE_OF_RANK_COLUMNS * len(
        numbers
    ):
        found = {name: left for name, left in found.items() if name not in permuted}
    split = {name: own for name, own in contexts.items() if len(own[1]) > 1}
    rest = [cells for cells in system if cells.name not in found]
    if split:
        found |= {left.column: left for left in copies_of_contexts(rest, split)}
    rest = [cells for cells in rest if cells.name not in found]
    if split and asked.missing != "testwise" and asked.series is None:
        found |= {left.column: left for left in empty_in_a_context(rest, split)}
    return tuple(found[cells.name] for cells in system if cells.name in found)


def _keys(columns: Mapping[str, ColumnCells], left_out: Sequence[LeftOut]) -> dict[str, Ints]:
    """The groups of rows by the columns of text that were left out since nearly every row, or every
    few rows, have a value of their own.
    """
    return {
        left.column: np.asarray(columns[left.column].codes, dtype=np.int64)
        for left in left_out
        if left.why in KEYS and columns[left.column].values is None
    }


def _check_enough(names: Sequence[str], asked: Asked, found: Screening) -> None:
    """Return if there are two variables besides the contexts, or none was left out."""
    left = len(names) - len(context_places(split_context(asked.context)[0], tuple(names)))
    if left < 2:
        raise DataError(
            f"the table has {left} column{'' if left == 1 else 's'} that can be searched, and at"
            f" least 2 are needed; {words_about_left_out(found.left_out)}"
        )


def _part(
    table: Any,
    names: Sequence[str],
    kept: Sequence[int],
    rows: Bools | None,
    changed: Mapping[str, Any],
    own: Sequence[str] | None,
) -> tuple[Any, Sequence[str] | None]:
    """Some columns and rows of a table of any kind, some columns with new cells, and the names of
    an array.
    """
    if isinstance(table, np.ndarray) and not changed:
        part = table[:, list(kept)] if rows is None else table[rows][:, list(kept)]
        return part, [names[place] for place in kept]
    if is_pandas_dataframe(table):
        frame = (
            table.iloc[:, list(kept)]
            if rows is None
            else table.iloc[np.flatnonzero(rows), list(kept)]
        )
        titles = {str(title): title for title in frame.columns}
        if changed:
            frame = frame.copy(deep=False)
        for name, cells in changed.items():
            frame[titles[name]] = cells
        return frame, None
    eager = eager_frame(table, own).select([names[place] for place in kept])
    if rows is not None:
        eager = eager.filter(rows.tolist())
    made = [
        nw.new_series(name, list(cells), backend=eager.implementation)
        for name, cells in changed.items()
    ]
    return eager.with_columns(*made).to_native() if made else eager.to_native(), None


def screened_data(data: Dataset, before: Screening, asked: Asked) -> tuple[Dataset, Screening]:
    """The columns that were read without damage and without the functions of others, and all that
    is to be said.

    The rows of a series follow each other, so that none of them is left out: what is damaged is the
    matter of windows.
    """
    found, repaired = before, None
    if asked.series is None:
        data = replace(data, keys=before.keys)
        repaired = mended(data, asked.missing, asked.damaged == "keep", asked.codes_decided)
        data = repaired.data
        if repaired.kept_rows is not None:
            rows = repaired.kept_rows
            found = replace(found, rows=rows if found.rows is None else found.rows[rows])
    covariates = () if asked.series is None else asked.series.covariates
    left_out = functions_of_others(data, (*asked.kept, *covariates), asked.named, asked.linked)
    if repaired is not None:
        findings = repaired.findings
        told = repaired.told
        if left_out:
            findings, told = told_without(
                repaired, without_columns(data, [left.column for left in left_out])
            )
        doubtful = tuple(finding.doubtful for finding in findings if finding.doubtful is not None)
        found = replace(
            found, told=(*found.told, *told), doubtful=() if asked.damaged == "keep" else doubtful
        )
    data, of_many_levels, merged = with_rare_levels_together(data, asked.kept)
    data = replace(data, keys={**data.keys, **_groups(data, of_many_levels)})
    left_out = (*left_out, *of_many_levels)
    found = replace(found, told=(*found.told, *merged))
    if left_out:
        data = without_columns(data, [left.column for left in left_out])
    return data, replace(found, left_out=(*found.left_out, *left_out))


def _groups(data: Dataset, left_out: Sequence[LeftOut]) -> dict[str, Ints]:
    """The groups of rows by the levels of categories, -1 where a value is missing."""
    columns = {left.column: data.columns[data.position(left.column)] for left in left_out}
    return {
        name: np.nan_to_num(np.asarray(codes, dtype=np.float64), nan=-1.0).astype(np.int64)
        for name, codes in columns.items()
    }


def constant_in_units(
    data: Dataset, units: Ints, asked: SeriesOptions, kept: Collection[str] = ()
) -> tuple[LeftOut, ...]:
    """The system variables of a panel that never change within a unit: without the means of units
    nothing is left.
    """
    found = []
    for place in data.system:
        name = data.names[place]
        if name in kept or name in asked.covariates or place in data.contexts.sources:
            continue
        values = np.asarray(data.columns[place], dtype=np.float64)
        known = np.isfinite(values)
        order = np.lexsort((values[known], units[known]))
        inside = np.diff(units[known][order]) == 0
        steps = np.abs(np.diff(values[known][order]))[inside]
        scale = float(np.abs(values[known]).max(initial=0.0))
        if inside.any() and (steps <= ROUNDING_SHARE_OF_LARGEST * scale).all():
            found.append(LeftOut(name, Why.UNITS, f"never changes within a unit of {asked.units}"))
    return tuple(found)


def check_strict(found: Screening) -> None:
    """Return unless columns were left out, for a caller who passed strict=True."""
    if found.left_out:
        raise DataError(
            "strict is True, and the table has columns that would be "
            f"{words_about_left_out(found.left_out)}, or drop them"
        )
