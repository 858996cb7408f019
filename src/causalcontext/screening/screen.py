"""The looks at a table before a search, in order: first at the table as it was given, then at what
was read of it.

`screened_table` leaves out columns that cannot be variables, so that reading does not stop at them;
`screened_data` leaves out functions of other columns, and says what is damaged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from causalcontext.data.columns import WORDS, Column
from causalcontext.data.dataset import Dataset, without_columns
from causalcontext.data.frames import nw
from causalcontext.data.indicators import split_context
from causalcontext.data.series_options import SeriesOptions
from causalcontext.data.tables import columns_of_table, context_places, eager_frame
from causalcontext.errors import DataError, KnowledgeError, check_are_columns
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Bools, Codes, Ints, Values
from causalcontext.knowledge import Knowledge
from causalcontext.screening.cells import POINT, text_numbers
from causalcontext.screening.columns import (
    NAMES_OF_INDEX,
    ColumnCells,
    are_dates,
    cells_of_column,
    has_intervals,
    why_no_variable,
    words_about_quantities,
)
from causalcontext.screening.contexts import (
    copies_of_contexts,
    empty_in_a_context,
    spellings,
    with_one_spelling,
    words_about_equal_contexts,
    words_about_spellings,
)
from causalcontext.screening.damage import mended, mended_series, told_without
from causalcontext.screening.functions import functions_of_others
from causalcontext.screening.left_out import (
    DoubtfulScale,
    LeftOut,
    Why,
    words_about_absence,
    words_about_left_out,
)
from causalcontext.screening.rare_levels import with_rare_levels_together
from causalcontext.screening.settings import (
    FEWEST_RANK_COLUMNS,
    FEWEST_ROWS_OF_A_CONSTANT,
    LARGEST_SHARE_WITHOUT_CONTEXT,
    LEAST_SHARE_OF_RANK_COLUMNS,
    LEVELS_IN_ANY_TABLE,
    ROUNDING_SHARE_OF_LARGEST,
)
from causalcontext.screening.word_rows import rows_of_words

DAMAGED = ("auto", "keep")
"""The ways to treat damaged rows and cells: they are left out, or kept."""

KEYS = (Why.LEVELS, Why.IDENTIFIER, Why.TEXT)
"""The reasons why a column is left out that may say which rows belong together."""


@dataclass(frozen=True)
class Asked:
    """The options of a caller on the columns and rows of a table.

    Attributes
    ----------
    context : name, several names, or None
        The contexts, as `discover` takes them.
    kinds : mapping from names to kinds, or None
    names : sequence of str, or None
        The names of the columns of an array.
    kept : collection of str
        The columns that are not left out.
    missing : str
        The treatment of missing values.
    decimal : str
        The decimal sign of numbers in text, one of `DECIMALS`.
    convert : bool
        True if numbers with units and separators are read, and spellings merged.
    series : SeriesOptions or None
        The order of the rows in time; None where they do not follow each other.
    damaged : str
        One of `DAMAGED`.
    codes_decided : bool
        True if the caller said which values are codes for missing ones.
    named, linked : collections of str
        The columns that knowledge names, and those of them that are in a link, or closed.
    """

    context: Any = None
    kinds: Mapping[str, str] | None = None
    names: Sequence[str] | None = None
    kept: Collection[str] = ()
    missing: str = "raise"
    decimal: str = POINT
    convert: bool = False
    series: SeriesOptions | None = None
    damaged: str = "auto"
    codes_decided: bool = False
    named: Collection[str] = ()
    linked: Collection[str] = ()

    @property
    def declared(self) -> dict[str, str]:
        """The kinds by the names of columns; of what is no mapping reading says so."""
        if not isinstance(self.kinds, Mapping):
            return {}
        return {str(name): str(kind) for name, kind in self.kinds.items()}


@dataclass(frozen=True)
class Screening:
    """The findings of the looks at a table before a search.

    Attributes
    ----------
    left_out : tuple of LeftOut
        The columns that take no part in the search.
    told : tuple of str
        Other sentences that a reader must know.
    notes : tuple of str
        Sentences on text that was read as numbers.
    problems : tuple of str
        The reasons why columns cannot be read as they are, one sentence each.
    unread : tuple of str
        The columns that these are about.
    doubtful : tuple of DoubtfulScale
        The columns whose scale makes differences between contexts.
    rows : Ints or None
        The rows that are searched, by number, where some of the table are left out.
    keys : mapping from str to Ints, shape (rows,)
        The groups of rows, by the columns left out that say which rows belong together.
    unused : tuple of str
        The columns left out that tiers, roots or sinks name, which are used without them.
    """

    left_out: tuple[LeftOut, ...] = ()
    told: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    doubtful: tuple[DoubtfulScale, ...] = ()
    rows: Ints | None = field(default=None, compare=False)
    keys: Mapping[str, Ints] = field(default_factory=dict, compare=False)
    unused: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """The sentences that belong among the warnings of a result."""
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
NO_TREATMENT = "none"
"""A word for missing values that is the name of a group as often."""


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
    the findings.

    Text that is numbers is read as such; an error names the cells of text that is not. The table
    keeps its kind: an array, a frame of pandas or polars.
    """
    rest, names, screening = screened(table, asked)
    if screening.problems:
        raise DataError(screening.problems[0])
    if screening.left_out and asked.series is None:
        _check_enough([column.name for column in columns_of_table(rest, names)], asked, screening)
    return rest, names, screening


def screened(table: Any, asked: Asked) -> tuple[Any, Sequence[str] | None, Screening]:
    """The table without the columns that cannot be variables, the names of an array, and the
    findings, with what cannot be read among the problems rather than as an error.

    First come the rows that can be searched, then text that holds numbers, in these rows; the
    columns that are left out are judged by what is read. A table without findings is returned as it
    is.
    """
    columns = columns_of_table(table, asked.names)
    names = [column.name for column in columns]
    check_are_columns(asked.kept, names)
    contexts, taken = _contexts_and_taken(names, asked)
    if not columns or len(columns[0].series) < FEWEST_ROWS_OF_A_CONSTANT:
        return table, asked.names, NOTHING
    cells = {column.name: cells_of_column(column) for column in columns}
    rows, sentences = _rows_searched(cells, contexts, asked)
    cells = {name: column.some(rows) for name, column in cells.items()}
    texts = {name: column for name, column in cells.items() if name not in contexts}
    numbers, notes, problems = _numbers_of_texts(texts, asked)
    numbers |= _durations(texts)
    for name, values in numbers.items():
        cells[name] = ColumnCells(cells[name].column, values, cells[name].codes, ())
    no_system = taken | set(problems)
    system = [cells[name] for name in names if name not in no_system]
    # Of contexts levels alone are asked about.
    levels_of_contexts = {name: _levels_by_row(cells[name]) for name in contexts}
    left_out = _left_out(system, levels_of_contexts, asked)
    about_contexts = (words_about_equal_contexts(levels_of_contexts),)
    out = {left.column for left in left_out}
    rewritten, about_spellings = _rewritten_text(cells, {*out, *numbers}, rows, asked.convert)
    no_levels = {*out, *numbers, *problems, *asked.declared}
    about_quantities = words_about_quantities(
        [column for name, column in texts.items() if name not in no_levels]
    )
    screening = Screening(
        left_out,
        (
            *filter(None, about_contexts),
            *sentences,
            *about_spellings,
            *_words_for_missing([cells[name] for name in contexts], asked),
            *filter(None, (about_quantities,)),
        ),
        (*notes, *_notes_on_durations(texts)),
        tuple(problems.values()),
        tuple(problems),
        rows=_numbers_of_rows(rows),
        keys=_keys(cells, left_out),
    )
    if not (left_out or numbers or rewritten) and rows is None:
        return table, asked.names, screening
    changed: dict[str, Any] = numbers | rewritten
    rest, rest_names = _part(table, names, out, rows, changed, asked.names)
    return rest, rest_names, screening


def _numbers_of_rows(rows: Bools | None) -> Ints | None:
    """The numbers of the rows where `rows` is True, shape (rows kept,); None for all."""
    return None if rows is None else np.flatnonzero(rows)


def _contexts_and_taken(names: Sequence[str], asked: Asked) -> tuple[list[str], set[str]]:
    """The names of the columns that are contexts, and of all columns that are no system variables:
    these, those that contexts are made of, and those that number the times and units of a series.
    """
    measured, made = split_context(asked.context)
    contexts = [names[position] for position in context_places(measured, tuple(names))]
    taken = {*contexts, *(context.column for context in made)}
    if asked.series is not None:
        cycles = {cycle.column for cycle in asked.series.cycles}
        taken |= {*asked.series.taken, *asked.series.covariates} | cycles
    return contexts, taken


def _rows_searched(
    cells: Mapping[str, ColumnCells], contexts: Sequence[str], asked: Asked
) -> tuple[Bools | None, tuple[str, ...]]:
    """True in the rows that are searched, shape (rows,), None for all, and what is to be said of
    the others: rows without values, without a context, and of words.
    """
    rows, sentences = _rows_to_keep(list(cells.values()), [cells[name] for name in contexts], asked)
    words = rows_of_words([column for name, column in cells.items() if name not in asked.declared])
    if words is None or asked.series is not None or asked.damaged == "keep":
        return rows, sentences
    without_words = ~words.rows if rows is None else rows & ~words.rows
    return without_words, (*sentences, words.told)


def _durations(columns: Mapping[str, ColumnCells]) -> dict[str, Values]:
    """The columns that hold durations, in seconds."""
    return {
        name: cells.values
        for name, cells in columns.items()
        if isinstance(cells.column.dtype, nw.Duration) and cells.values is not None
    }


def _notes_on_durations(columns: Mapping[str, ColumnCells]) -> list[str]:
    """A sentence on each column that holds durations."""
    return [f"{name} holds durations, and is read in seconds" for name in _durations(columns)]


def _rewritten_text(
    columns: Mapping[str, ColumnCells],
    no_text: Collection[str],
    rows: Bools | None,
    convert: bool,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The columns of text whose cells are written anew, and a sentence on spellings that are not,
    if there are any.

    Intervals become text, and with `convert` every level has one spelling. The columns `no_text`
    are left out, or were read as numbers.
    """
    rewritten: dict[str, Any] = {
        name: _intervals_as_text(cells.column, rows)
        for name, cells in columns.items()
        if has_intervals(cells.column)
    }
    alike = spellings([cells for name, cells in columns.items() if name not in no_text])
    if alike and not convert:
        return rewritten, (words_about_spellings(alike),)
    for name, merged in alike.items():
        rewritten[name] = with_one_spelling(columns[name], merged)
    return rewritten, ()


def _words_for_missing(contexts: Sequence[ColumnCells], asked: Asked) -> list[str]:
    """A sentence on every value of a context that is a word for missing values, such as NA or ?,
    and that fewer than half of the rows have; none where the caller said what means missing.

    Such a value counts as one of its own, since NA is Namibia as well. "None" is what a group
    without treatment is called.
    """
    sentences = list[str]()
    if asked.codes_decided:
        return sentences
    for cells in contexts:
        if cells.values is not None:
            continue
        counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.levels)).tolist()
        for level, count in zip(cells.levels, counts, strict=True):
            text = str(level).strip()
            is_word = text in WORDS and text.lower() != NO_TREATMENT
            if is_word and 0 < 2 * count < len(cells.codes):
                sentences.append(
                    f"{cells.name} is {level!r} in {_rows(count)} of {len(cells.codes):,}, which is"
                    " read as a value like all others; if it means that the value is missing, pass"
                    f" na_values=[{level!r}], and these rows are left out"
                )
    return sentences


def _rows_to_keep(
    columns: Sequence[ColumnCells], contexts: Sequence[ColumnCells], asked: Asked
) -> tuple[Bools | None, tuple[str, ...]]:
    """True in the rows that have a value and a context, shape (rows,), None for all; and sentences
    on the others.

    Where missing values are modelled or answer what they can, all rows stay. Rows without a context
    are left out if they are fewer than `LARGEST_SHARE_WITHOUT_CONTEXT`; of more, reading says so.
    """
    if asked.missing != "raise" or asked.series is not None:
        return None, ()
    sentences = []
    empty = np.ones(len(columns[0].missing), dtype=bool)
    for cells in columns:
        empty &= cells.missing
        if not empty.any():
            break
    keep = ~empty
    if empty.any():
        count = int(empty.sum())
        sentences.append(
            f"{_rows(count)} of {empty.size:,} {'have' if count > 1 else 'has'} no value in any"
            f" column and {'are' if count > 1 else 'is'} left out"
        )
    for cells in contexts:
        lacking = cells.missing & keep
        count = int(lacking.sum())
        if 0 < count < LARGEST_SHARE_WITHOUT_CONTEXT * keep.sum():
            keep = keep & ~lacking
            sentences.append(
                f"{cells.name} has no value in {_rows(count)} of {empty.size:,}, which "
                f"{'are' if count > 1 else 'is'} left out"
            )
    return (None, ()) if keep.all() or not keep.any() else (keep, tuple(sentences))


def _intervals_as_text(column: Column, rows: Bools | None) -> Any:
    """A category of intervals, as `pandas.cut` makes them, with the same levels and order, but as
    text.
    """
    as_text = column.series.to_native().cat.rename_categories(str).array
    return as_text if rows is None else as_text[rows]


def _rows(count: int) -> str:
    """A number of rows in words."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def _numbers_of_texts(
    columns: Mapping[str, ColumnCells], asked: Asked
) -> tuple[dict[str, Values], list[str], dict[str, str]]:
    """Columns of text that are numbers as numbers, shape (rows,), notes on them, and the reason why
    others cannot be read, by column.

    Levels that no row has are not looked at. Columns that are declared to be levels stay, and so do
    categories of a few numbers and dates.
    """
    numbers_by_column: dict[str, Values] = {}
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
        if str not in cells.families and len(texts) <= LEVELS_IN_ANY_TABLE:
            # a category of a few numbers
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
        numbers_by_column[name] = numbers[cells.codes]
        notes.append(read.note)
    return numbers_by_column, notes, problems


def _levels_by_row(cells: ColumnCells) -> tuple[Codes, Sequence[object]]:
    """The level of every row of a context, shape (rows,), -1 where there is none, and the levels
    that occur.
    """
    if cells.values is None:
        used, codes = np.unique(cells.codes[cells.codes >= 0], return_inverse=True)
        level_of_row = np.full(len(cells.codes), -1, dtype=np.int32)
        level_of_row[cells.codes >= 0] = codes
        return level_of_row, [cells.levels[level] for level in used.tolist()]
    missing = cells.missing
    different, codes = np.unique(cells.values[~missing], return_inverse=True)
    level_of_row = np.full(len(missing), -1, dtype=np.int32)
    level_of_row[~missing] = codes
    return level_of_row, different.tolist()


def _left_out(
    system: Sequence[ColumnCells],
    contexts: Mapping[str, tuple[Codes, Sequence[object]]],
    asked: Asked,
) -> tuple[LeftOut, ...]:
    """The columns that cannot be variables, but for those that the caller keeps, in the order of
    the table.

    Each is looked at by itself, then beside the contexts, of which those with a single value say
    nothing. `contexts` has the levels by row and the values of the levels by the name of the
    context.
    """
    system = [cells for cells in system if cells.name not in asked.kept]
    left_by_name = _left_by_themselves(system, asked)
    split = {name: levels for name, levels in contexts.items() if len(levels[1]) > 1}
    rest = [cells for cells in system if cells.name not in left_by_name]
    if split:
        left_by_name |= {left.column: left for left in copies_of_contexts(rest, split)}
    rest = [cells for cells in rest if cells.name not in left_by_name]
    if split and asked.missing != "testwise" and asked.series is None:
        left_by_name |= {left.column: left for left in empty_in_a_context(rest, split)}
    return tuple(left_by_name[cells.name] for cells in system if cells.name in left_by_name)


def _left_by_themselves(system: Sequence[ColumnCells], asked: Asked) -> dict[str, LeftOut]:
    """The columns that cannot be variables whatever the others are, by name.

    Where most numbers look like ids in any order, they are ranks, and stay.
    """
    left_by_name: dict[str, LeftOut] = {}
    for cells in system:
        is_declared = cells.name in asked.declared
        left = why_no_variable(cells, is_declared, asked.series is not None)
        if left is not None:
            left_by_name[cells.name] = left
    numbers = [cells.name for cells in system if cells.values is not None]
    ids = [
        name
        for name in numbers
        if name in left_by_name and left_by_name[name].why is Why.IDENTIFIER
    ]
    ranks = {name for name in ids if NAMES_OF_INDEX.fullmatch(name) is None}
    most = LEAST_SHARE_OF_RANK_COLUMNS * len(numbers)
    if len(ranks) >= FEWEST_RANK_COLUMNS and len(ranks) > most:
        return {name: left for name, left in left_by_name.items() if name not in ranks}
    return left_by_name


def _keys(columns: Mapping[str, ColumnCells], left_out: Sequence[LeftOut]) -> dict[str, Ints]:
    """The groups of rows by the columns of text that were left out since nearly every row, or every
    few rows, have a value of their own.
    """
    return {
        left.column: np.asarray(columns[left.column].codes, dtype=np.int64)
        for left in left_out
        if left.why in KEYS and columns[left.column].values is None
    }


def _check_enough(names: Sequence[str], asked: Asked, screening: Screening) -> None:
    """Return if there are two variables besides the contexts, or none was left out."""
    left = len(names) - len(context_places(split_context(asked.context)[0], tuple(names)))
    if left < 2:
        raise DataError(
            f"the table has {left} column{'' if left == 1 else 's'} that can be searched, and at"
            f" least 2 are needed; {words_about_left_out(screening.left_out)}"
        )


def _part(
    table: Any,
    names: Sequence[str],
    out: Collection[str],
    rows: Bools | None,
    new_cells: Mapping[str, Any],
    array_names: Sequence[str] | None,
) -> tuple[Any, Sequence[str] | None]:
    """A table of any kind without some columns and rows, some columns with new cells, and the names
    of an array.

    `names` are those of all columns and `out` those that go; `rows` is True in the rows that stay,
    shape (rows,), None for all; `new_cells` are those of the rows that stay, by the name of the
    column. `array_names` are the names that the caller gave the columns of an array.
    """
    kept = [position for position, name in enumerate(names) if name not in out]
    changed = {name: cells for name, cells in new_cells.items() if name not in out}
    if isinstance(table, np.ndarray) and not changed:
        part = table[:, kept] if rows is None else table[rows][:, kept]
        return part, [names[position] for position in kept]
    if nw.dependencies.is_pandas_dataframe(table):
        return _part_of_pandas(table, kept, rows, changed), None
    eager = eager_frame(table, array_names).select([names[position] for position in kept])
    if rows is not None:
        eager = eager.filter(rows.tolist())
    made = [
        nw.new_series(name, list(cells), backend=eager.implementation)
        for name, cells in changed.items()
    ]
    return eager.with_columns(*made).to_native() if made else eager.to_native(), None


def _part_of_pandas(
    table: Any, kept: Sequence[int], rows: Bools | None, changed: Mapping[str, Any]
) -> Any:
    """Some columns and rows of a frame of pandas, some columns with new cells.

    The frame that was given stays as it is. Its columns may be called by numbers, while `changed`
    has their names as text.
    """
    frame = table.iloc[:, kept] if rows is None else table.iloc[np.flatnonzero(rows), kept]
    titles = {str(title): title for title in frame.columns}
    if changed:
        frame = frame.copy(deep=False)
    for name, cells in changed.items():
        frame[titles[name]] = cells
    return frame


def screened_data(data: Dataset, before: Screening, asked: Asked) -> tuple[Dataset, Screening]:
    """The columns that were read without damage and without the functions of others, and all
    findings.

    `before` has those of `screened`. Damage comes first, since copies of rows and codes hide
    everything else, then functions of other columns, then categories of many levels. The rows of a
    series follow each other, so that none of them is left out, but damaged cells are missing.
    """
    screening = before
    series = asked.series
    if series is None:
        data = replace(data, keys=before.keys)
        repaired = mended(data, asked.missing, asked.damaged == "keep", asked.codes_decided)
        data = repaired.data
        if repaired.kept_rows is not None:
            rows = repaired.kept_rows
            screening = replace(
                screening, rows=rows if screening.rows is None else screening.rows[rows]
            )
    else:
        keep = asked.damaged == "keep"
        repaired = mended_series(data, series.missing, series.lags, keep, asked.codes_decided)
        data = repaired.data
    covariates = () if series is None else series.covariates
    left_out = functions_of_others(data, (*asked.kept, *covariates), asked.named, asked.linked)
    findings = repaired.findings
    sentences = repaired.told
    if left_out:
        rest = without_columns(data, [left.column for left in left_out])
        findings, sentences = told_without(repaired, rest, series is not None)
    doubtful = tuple(finding.doubtful for finding in findings if finding.doubtful is not None)
    screening = replace(
        screening,
        told=(*screening.told, *sentences),
        doubtful=() if asked.damaged == "keep" else doubtful,
    )
    data, of_many_levels, merged = with_rare_levels_together(data, asked.kept)
    data = replace(data, keys={**data.keys, **_groups(data, of_many_levels)})
    left_out = (*left_out, *of_many_levels)
    screening = replace(screening, told=(*screening.told, *merged))
    if left_out:
        data = without_columns(data, [left.column for left in left_out])
    return data, replace(screening, left_out=(*screening.left_out, *left_out))


def _groups(data: Dataset, left_out: Sequence[LeftOut]) -> dict[str, Ints]:
    """The groups of rows by the levels of the categories left out, shape (rows,), -1 where a value
    is missing.
    """
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

    `units` has the unit of every row, shape (rows,). Rounding of `ROUNDING_SHARE_OF_LARGEST` is no
    change.
    """
    left_out = []
    for position in data.system:
        name = data.names[position]
        if name in kept or name in asked.covariates or position in data.contexts.sources:
            continue
        values = np.asarray(data.columns[position], dtype=np.float64)
        known = np.isfinite(values)
        order = np.lexsort((values[known], units[known]))
        inside = np.diff(units[known][order]) == 0
        steps = np.abs(np.diff(values[known][order]))[inside]
        scale = float(np.abs(values[known]).max(initial=0.0))
        if inside.any() and (steps <= ROUNDING_SHARE_OF_LARGEST * scale).all():
            left_out.append(
                LeftOut(name, Why.UNITS, f"never changes within a unit of {asked.units}")
            )
    return tuple(left_out)


def check_strict(screening: Screening) -> None:
    """Return unless columns were left out, for a caller who passed strict=True."""
    if screening.left_out:
        raise DataError(
            "strict is True, and the table has columns that would be "
            f"{words_about_left_out(screening.left_out)}, or drop them"
        )
