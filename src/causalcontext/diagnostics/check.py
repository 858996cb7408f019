"""`cc.check`: everything that can be said about a table without a search, and what would suit it.

Columns are read one at a time, so that one bad column does not hide another.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict, Unpack

import numpy as np
import scipy

from causalcontext.data.as_written import numbers_with_words, parsed_codes, without_codes
from causalcontext.data.checks import check_missing_option, check_statistics
from causalcontext.data.coarse import few_valued, words_for
from causalcontext.data.columns import Column, Kind, declared_kinds, infer_kind, read_system
from causalcontext.data.dataset import Dataset, cell_values
from causalcontext.data.frames import nw, pd
from causalcontext.data.indicators import (
    Indicator,
    read_with_functions,
    split_context,
    step_functions,
)
from causalcontext.data.sufficient_statistics import SufficientStatistics, gather_statistics
from causalcontext.data.table_files import read_file
from causalcontext.data.tables import cells_of, context_levels, context_places, eager_frame
from causalcontext.diagnostics.rows import overlap
from causalcontext.diagnostics.settings import LARGE_SET, SMALLEST_COEFFICIENT
from causalcontext.errors import (
    CausalContextError,
    DataError,
    check_choice,
    check_truth,
    did_you_mean,
    listed,
)
from causalcontext.kernels.arrays import Bools, Codes, Floats, Values
from causalcontext.kernels.limits import (
    COLLINEAR_BELOW,
    LARGEST_SCATTER,
    SMALLEST_SCATTER,
    SPARE_ROWS,
)
from causalcontext.methods.auto import TESTWISE_CHOICE, MethodChoice, choose_by_table
from causalcontext.methods.method_object import option
from causalcontext.model_checks.linear_fits import check_table
from causalcontext.model_checks.violations import OUTLIERS, ROWS, SKEW, TAILS, sentence
from causalcontext.options import Options, made, names_to_keep, takes
from causalcontext.results.few_rows import ThinLevels
from causalcontext.screening.cells import DECIMALS, POINT
from causalcontext.screening.left_out import LeftOut
from causalcontext.screening.screen import Asked, Screening, check_strict, screened, screened_data
from causalcontext.screening.thin_levels import (
    context_without,
    kinds_without,
    rows_searched,
    some_rows_of,
    thin_levels,
)
from causalcontext.views import Contexts

AnyContext = str | Indicator | Sequence[str | Indicator] | None
BY_LIKELIHOOD = "as they are or rank-transformed, whichever fits better"
"""The way in which score-ac treats coarse columns."""
STEPS_OR_LEVELS = "as ordered, or as steps of a finer number, whichever fits better"
"""Its way with three to five values."""
OF_COLUMNS = (OUTLIERS, ROWS, SKEW, TAILS)
"""Violations that columns show by themselves; curves and the like need a graph."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """A table, looked at from all sides.

    Attributes
    ----------
    context : ContextReading
    system : tuple of SystemReading
    statistics : SufficientStatistics or None
        Counts and moments of the columns that can be used; None if there are none.
    rows : tuple of int
        Rows of every context, incomplete ones included.
    dependences : tuple of Dependence
    problems : tuple of str
        What `discover` refuses, one sentence each.
    notes : tuple of str
        What it cannot test, or would be misled by, one sentence each.
    advice : tuple of str
        Which method and test suit the table, one sentence each.
    left_out : tuple of LeftOut
        The columns that `discover` leaves out, each with the reason.
    """

    context: ContextReading
    system: tuple[SystemReading, ...]
    statistics: SufficientStatistics | None
    rows: tuple[int, ...]
    dependences: tuple[Dependence, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    advice: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def usable(self) -> bool:
        """True if `discover` takes the table."""
        return not self.problems

    def __str__(self) -> str:
        rows = ", ".join(
            f"{level_text(level)}: {n:,}"
            for level, n in zip(self.context.levels, self.rows, strict=True)
        )
        kinds = ", ".join(f"{reading.name} ({reading.kind})" for reading in self.system)
        lines = [f"rows: {rows}", f"columns: {kinds}"]
        for name, texts in (
            ("problems", self.problems),
            ("notes", self.notes),
            ("advice", self.advice),
        ):
            lines += [f"{name} ({len(texts)})", *(f"  {text}" for text in texts)] if texts else []
        return "\n".join(
            [*lines, "usable" if self.usable else "not usable: discover refuses this table"]
        )


def inspect(
    table: pd.DataFrame,
    context: AnyContext,
    kinds: Mapping[str, str] | None = None,
    missing: str = "raise",
) -> Inspection:
    """Everything that `discover` would refuse or could not test, found without a search.

    `check` adds what would mislead a search, and which method suits the table.
    """
    inspection, _, screening = _inspected(table, Asked(context, kinds, missing=missing))
    return _with_words(inspection, screening)


def _inspected(table: pd.DataFrame, asked: Asked) -> tuple[Inspection, pd.DataFrame, Screening]:
    """The findings about a table, the part of it that is searched, and its screening.

    A column that could not be read has its reason from the screening, and is not told of twice.
    """
    check_missing_option(asked.missing)
    names = [str(name) for name in table.columns]
    for indicator in split_context(asked.context)[1]:
        if indicator.column not in names:
            near = did_you_mean(indicator.column, names)
            raise DataError(f"the table has no column {indicator.column!r}{near}")
    declared_kinds(asked.kinds, names)
    rest, _, screening = screened(table, asked)
    inspection = _read_inspection(rest, replace(asked, kinds=screening.kinds(asked.kinds)))
    unread = [
        reading.problem
        for reading in inspection.system
        if reading.problem and reading.name in screening.unread
    ]
    problems = (
        *screening.problems,
        *(problem for problem in inspection.problems if problem not in unread),
    )
    return replace(inspection, problems=problems, left_out=screening.left_out), rest, screening


def _with_words(inspection: Inspection, screening: Screening, strict: bool = False) -> Inspection:
    """The inspection with what the screening says: columns that are left out, and how others were
    read.
    """
    problems = inspection.problems
    if strict:
        try:
            check_strict(screening)
        except DataError as error:
            problems = (str(error), *problems)
    return replace(
        inspection,
        problems=problems,
        notes=(*screening.warnings, *screening.notes, *inspection.notes),
        left_out=screening.left_out,
    )


def _read_inspection(table: pd.DataFrame, asked: Asked) -> Inspection:
    """The inspection of a table of which columns were left out, column by column.

    Every column is read by itself, so that one that is refused hides nothing of the others. A
    context that cannot be used counts as one context with all rows.
    """
    context = asked.context
    kinds = asked.kinds
    missing = asked.missing
    named = [
        (str(series.name), series)
        for series in nw.from_native(table, eager_only=True).iter_columns()
    ]
    columns = {name: Column(name, series.dtype, series) for name, series in named}
    declared = declared_kinds(kinds, list(columns))
    measured, made = split_context(context)
    names = tuple(columns)
    at = [columns.pop(names[position]) for position in context_places(measured, names)]
    system = tuple(
        read_system_column(column, declared.get(name), len(table))
        for name, column in columns.items()
    )
    nothing = ContextReading(codes=np.zeros(len(table), dtype=np.int32))
    readings = [_read_context(column, declared.get(column.name), nothing) for column in at]
    readings += [_made_context(indicator, system, nothing) for indicator in made]
    readings = readings or [nothing]
    return _looked_into(
        readings[0] if len(readings) == 1 else _combined(readings, nothing), system, missing
    )


def level_text(level: object) -> str:
    """The value of a context, `(dry, north)` of several."""
    return f"({', '.join(map(str, level))})" if isinstance(level, tuple) else str(level)


def largest_set(rows: int) -> int:
    """The number of variables that a test inside a context of so many rows can condition on.

    It is rows - 2 - `SPARE_ROWS`: both ends take a row each; negative if no test can be run.
    """
    return rows - 2 - SPARE_ROWS


def largest_context_set(rows: int) -> int:
    """The number of variables that a test of the context can condition on with so many rows of a
    value.

    It is rows - 1 - `SPARE_ROWS`; beyond, the test leaves that value out.
    """
    return rows - 1 - SPARE_ROWS


def constant_levels(statistics: SufficientStatistics, column: int) -> list[int]:
    """The contexts with several complete rows among which the column does not vary."""
    return [
        int(level)
        for level in np.flatnonzero(statistics.constant[:, column] & (statistics.moments.rows > 1))
    ]


def _looked_into(
    context: ContextReading, system: tuple[SystemReading, ...], missing: str
) -> Inspection:
    """The inspection, once every column has been read.

    Usable columns have their statistics gathered; where no problem was found so far, the checks of
    `discover` have the last word (`check_statistics`).
    """
    data = usable_part(context, system)
    statistics = gather_statistics(data, missing) if data.system and data.n_rows else None
    dependences = () if statistics is None else linear_dependences(statistics)
    problems = [
        context.problem,
        *(part.problem for part in context.parts),
        *(reading.problem for reading in system),
    ]
    if len(context.codes) == 0:
        problems.append("the table has no rows")
    if len(system) < 2:
        besides = "" if context.name is None else f" besides the context {context.name!r}"
        problems.append(
            f"the table has {_count(len(system), 'column')}{besides}; at least 2 are needed"
        )
    if statistics is not None:
        problems += _value_problems(statistics, data, missing)
    problems = [problem for problem in problems if problem]
    notes: tuple[str, ...] = ()
    if statistics is not None:
        if not problems:
            try:
                check_statistics(statistics, data, missing)
            except DataError as error:  # what else the library refuses, in its own words
                problems = [str(error)]
        notes = (
            *words_for(few_valued(data), BY_LIKELIHOOD, STEPS_OR_LEVELS),
            *_few_rows(context, statistics),
            *_untestable(context, statistics, dependences),
        )
    rows = np.bincount(context.codes[context.codes >= 0], minlength=len(context.levels))
    return Inspection(
        context, system, statistics, tuple(rows.tolist()), dependences, tuple(problems), notes
    )


def _value_problems(statistics: SufficientStatistics, data: Dataset, missing: str) -> Iterator[str]:
    """Missing and infinite values, and columns that do not vary."""
    names = np.array(statistics.names, dtype=object)
    holes = names[statistics.missing.any(axis=0)].tolist()
    total = int(statistics.missing.sum()) + statistics.missing_context
    if total and missing == "raise":
        where = [data.context_name, *holes] if statistics.missing_context else holes
        dropped = int(statistics.lost.sum()) + statistics.missing_context
        yield (
            f"{_count(total, 'missing value')} in {listed(where)}; pass missing='model', which uses"
            f" every observed cell, or missing='listwise' to drop {dropped} of {data.n_rows} rows"
        )
    if statistics.infinite.any():
        where = names[statistics.infinite.any(axis=0)].tolist()
        counted = _count(int(statistics.infinite.sum()), "infinite value")
        yield f"{counted} in {listed(where)}; replace, or drop the rows"
    fixed = names[_constant_everywhere(statistics)].tolist()
    if fixed:
        yield f"the same value in all complete rows of {listed(fixed)}; drop constant columns"


def _constant_everywhere(statistics: SufficientStatistics) -> Bools:
    """True for the columns with one value in all complete rows, shape (columns,)."""
    whole = statistics.moments.merged()
    constant: Bools = np.diagonal(whole.scatter[0]) < SMALLEST_SCATTER
    return constant if whole.rows[0] > 1 else np.zeros_like(constant)


def _few_rows(context: ContextReading, statistics: SufficientStatistics) -> Iterator[str]:
    """Contexts (or a whole table) in which tests with larger sets cannot be run.

    Enough is a set of `LARGE_SET` variables, or of all others where there are fewer.
    """
    enough = min(LARGE_SET, len(statistics.names) - 2)
    for level, n in zip(statistics.values, statistics.moments.rows.tolist(), strict=True):
        inside = largest_set(n)
        across = largest_context_set(n)
        if inside >= enough:
            continue
        where = f"{context.name} = {level_text(level)}" if context.splits else "the table"
        can = f"tests inside it can condition on {_count(inside, 'variable')} at most"
        words = (
            f"{where} has {_count(n, 'complete row')}:"
            f" {can if inside >= 0 else 'no test can be run inside it'}"
        )
        if context.splits and across < enough:
            beyond = "" if across < 0 else f" given more than {_count(across, 'variable')}"
            words += f", tests of {context.name}{beyond} leave it out"
        yield words


def _untestable(
    context: ContextReading, statistics: SufficientStatistics, dependences: Sequence[Dependence]
) -> Iterator[str]:
    """Columns that are constant in some contexts, or linear functions of others."""
    everywhere = _constant_everywhere(statistics)
    alike = dict[str, list[str]]()
    for column, name in enumerate(statistics.names):
        levels = constant_levels(statistics, column)
        if context.splits and levels and not everywhere[column]:
            alike.setdefault(
                listed([level_text(statistics.values[level]) for level in levels]), []
            ).append(name)
    for where, names in alike.items():
        are_constant = (
            f"{'is' if len(names) == 1 else 'are'} constant where {context.name} = {where}"
        )
        pronoun = "it" if len(names) == 1 else "they"
        yield f"{listed(names)} {are_constant}: {pronoun} cannot be tested there"
    for dependence in dependences:
        where = (
            ""
            if dependence.everywhere
            else f" where {context.name} = {level_text(dependence.level)}"
        )
        yield (
            f"{dependence.column} is a linear function of {listed(dependence.of)}{where}: links"
            " among them cannot be distinguished, and given these it cannot be tested"
        )


def _count(number: int, what: str) -> str:
    """A number of things in words: `1 column`, `2 columns`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class Dependence:
    """`column` is a linear function of the columns `of`; in all rows, or where the context has the
    value `level`.
    """

    column: str
    of: tuple[str, ...]
    everywhere: bool
    level: Any = None


def linear_dependences(statistics: SufficientStatistics) -> tuple[Dependence, ...]:
    """The dependences in all rows, then those that hold in one context only.

    A relation of the same columns that holds in all rows is not told again of a context.
    """
    whole = statistics.moments.merged()
    pooled = _dependences(whole.scatter[0], int(whole.rows[0]))
    names = np.array(statistics.names, dtype=object)
    known = {frozenset((column, *of)) for column, of in pooled}
    dependences = [Dependence(names[column], tuple(names[of]), True) for column, of in pooled]
    moments = statistics.moments
    for level, scatter, n in zip(statistics.values, moments.scatter, moments.rows, strict=True):
        inside = _dependences(scatter, int(n)) if len(statistics.values) > 1 else []
        dependences += [
            Dependence(names[column], tuple(names[of]), False, level)
            for column, of in inside
            if frozenset((column, *of)) not in known
        ]
    return tuple(dependences)


def _dependences(scatter: Floats, n: int) -> list[tuple[int, list[int]]]:
    """Columns that a pivoted Cholesky factorisation has no use for, each with those that make it
    up.

    `scatter` has shape (columns, columns), of n rows; columns are compared in standard units. A
    column takes part in a relation if its coefficient exceeds `SMALLEST_COEFFICIENT`. With no more
    rows than columns everything depends on everything: that is a lack of rows, and not reported
    here.
    """
    squares = np.diagonal(scatter)
    varying = np.flatnonzero((squares > 0.0) & (squares <= LARGEST_SCATTER))
    if n - 1 <= len(varying):
        return []
    scale = np.sqrt(squares[varying])
    correlation = scatter[np.ix_(varying, varying)] / scale[:, None] / scale
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(correlation, tol=COLLINEAR_BELOW, lower=1)
    basis = pivots[:rank] - 1
    rest = np.sort(pivots[rank:] - 1)
    shares = scipy.linalg.cho_solve((factor[:rank, :rank], True), correlation[np.ix_(basis, rest)])
    parts = [np.sort(basis[np.abs(share) > SMALLEST_COEFFICIENT]) for share in shares.T]
    return [
        (int(varying[column]), varying[part].tolist())
        for column, part in zip(rest, parts, strict=True)
    ]


SAME = {name: dict(entry.metadata) for name, entry in Options.__dataclass_fields__.items()}
"""The options of `discover` as the command line shows them."""


@dataclass(frozen=True)
class CheckOptions:
    """The options of `discover` that `check` takes, declared as there, so that their flags are the
    same.
    """

    kinds: Mapping[str, str] | None = option(None)
    missing: str = option("raise", **SAME["missing"])
    na_values: Any = option(None, **SAME["na_values"])
    keep: Sequence[str] | None = option(None, **SAME["keep"])
    strict: bool = option(False, **SAME["strict"])
    decimal: str = option(POINT, **SAME["decimal"])
    convert: bool = option(False, **SAME["convert"])

    def __post_init__(self) -> None:
        check_choice("decimal", self.decimal, DECIMALS)
        check_truth("strict", self.strict)
        check_truth("convert", self.convert)


class CheckKeywords(TypedDict, total=False):
    """The fields of `CheckOptions`, for type checkers."""

    kinds: Mapping[str, str] | None
    missing: str
    na_values: Any
    keep: Sequence[str] | None
    strict: bool
    decimal: str
    convert: bool


@takes(CheckOptions)
def check(table: Any, context: AnyContext = None, **options: Unpack[CheckKeywords]) -> Inspection:
    """The columns that `discover` would refuse, could not test or be misled by, and the method and
    test that suit the table.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or path of a file
    context : str, what `cc.threshold` and `cc.bins` make, or a sequence of them, optional
        The column that names the context, a step function of a column, or several of them.
    kinds, missing, na_values, keep, strict, decimal, convert
        As for `discover`.

    Returns
    -------
    Inspection
        `usable`, and as sentences `problems` (what `discover` refuses), `notes` and `advice`;
        `left_out` has the columns that `discover` leaves out; `str()` has everything.

    Examples
    --------
    >>> import causalcontext as cc
    >>> found = cc.check(cc.examples.soil_moisture(500, seed=1), context="soil")
    >>> found.usable, found.advice[0]
    (True, "all columns are numbers: method='auto', the default, tries score-ac first")
    """
    table = read_file(table) if isinstance(table, str | os.PathLike) else table
    frame = (
        table
        if nw.dependencies.is_pandas_dataframe(table)
        else eager_frame(table, None).to_pandas()
    )
    chosen: CheckOptions = made(CheckOptions, options, "check")
    codes = parsed_codes(chosen.na_values)
    kinds = chosen.kinds
    missing = chosen.missing
    frame = without_codes(frame, codes) if codes else frame
    kept = names_to_keep(chosen.keep)
    strict = bool(chosen.strict)
    asked = Asked(
        context, kinds, kept=kept, missing=missing, decimal=chosen.decimal, convert=chosen.convert
    )
    inspection, rest, screening = _inspected(frame, asked)
    words = numbers_with_words(rest)
    if words:
        inspection = replace(inspection, notes=(*inspection.notes, _note_on_words(words)))
    try:
        data, of_search, thin = _searched(frame, rest, screening, asked)
    except CausalContextError:  # inspect has said why, column by column
        return _with_words(inspection, screening, strict)
    if inspection.problems:
        known = {left.column for left in screening.left_out}
        inspection = _without_problems_of(
            inspection, frame, {left.column for left in of_search.left_out} - known, asked
        )
        unread = [problem for problem in screening.problems if problem not in inspection.problems]
        inspection = replace(inspection, problems=(*unread, *inspection.problems))
    if inspection.problems:
        return _with_words(inspection, screening, strict)
    screening = of_search
    inspection = replace(
        inspection,
        notes=(*inspection.notes, *_misleading(data)),
        advice=tuple(_suitable(data, missing, thin)),
    )
    return _with_words(inspection, screening, strict)


def _note_on_words(words: Mapping[str, Collection[str]]) -> str:
    """The sentence on words among the numbers of columns, and how to call them missing."""
    columns = [
        f"{name} ({', '.join(word or repr(word) for word in of_column)})"
        for name, of_column in words.items()
    ]
    every = sorted({word for of_column in words.values() for word in of_column})
    return (
        f"{listed(columns, what='column')}: numbers but for these words; if they mean missing"
        f" values, pass na_values={every!r}"
    )


def _without_problems_of(
    inspection: Inspection, table: pd.DataFrame, gone: set[str], asked: Asked
) -> Inspection:
    """The inspection without the problems of functions of other columns, which `discover` leaves
    out.
    """
    if not gone:
        return inspection
    rest = table.loc[:, [str(name) not in gone for name in table.columns]]
    again, _, _ = _inspected(rest, replace(asked, kinds=kinds_without(asked.kinds, tuple(gone))))
    return replace(inspection, problems=again.problems)


def _searched(
    table: pd.DataFrame, rest: pd.DataFrame, screening: Screening, asked: Asked
) -> tuple[Dataset, Screening, ThinLevels | None]:
    """The part of a table that `discover` searches, its screening, and the thin values of the
    context.

    Rows of values of the context that are too few are left out. `rest` is the part of the table
    that the screening left; without those rows it looks once more.
    """
    read = read_with_functions(rest, asked.context, screening.kinds(asked.kinds))
    thin = thin_levels(read, asked.missing)
    if thin is not None:
        gone = [name for name, _ in thin.untested]
        kept = rows_searched(read, thin, screening.rows, len(table))
        told_of_all_rows = screening.told  # of all rows, as `discover` says it
        context = context_without(asked.context, thin)
        kinds = kinds_without(asked.kinds, gone)
        asked = replace(asked, context=context, kinds=kinds)
        rest, _, screening = screened(some_rows_of(table, None, kept, gone), asked)
        screening = replace(screening, told=told_of_all_rows)
        read = read_with_functions(rest, context, screening.kinds(kinds))
    return *screened_data(read, screening, asked), thin


def _misleading(data: Dataset) -> Iterator[str]:
    """Sentences on columns that a search would take for something else.

    These are functions that make a context, ranges that hardly overlap between contexts, and what
    rows and columns by themselves say against the model (`OF_COLUMNS`).
    """
    sources = [data.names[source] for _, source in data.contexts.made]
    for step_function in step_functions(data):
        certain = (
            f"{step_function.context} is a function of {step_function.column} without exception"
        )
        advice = step_function.advice(len(data.contexts.positions) == 1)
        yield f"{certain}; if it was made of it: {advice}"
    apart = [
        column
        for step_function in overlap(data)
        if (column := step_function.evidence["column"]) not in sources
    ]
    if apart:
        yield (
            f"the 5-95 % ranges of {', '.join(apart[:5])} hardly overlap between some values of"
            f" {data.context_name}"
        )
    nothing = np.zeros((len(data.values), len(data.names), len(data.names)), dtype=np.int8)
    levels = {few.name for few in few_valued(data) if few.kind is not Kind.CONTINUOUS}
    for violation in check_table(data, nothing):
        if violation.kind not in OF_COLUMNS:
            continue
        of_numbers = violation if violation.kind == ROWS else violation.without(levels)
        if of_numbers is not None:
            yield sentence(of_numbers, bool(data.contexts.positions))


def _suitable(data: Dataset, missing: str, thin: ThinLevels | None) -> Iterator[str]:
    """The method and tests that suit the kinds of columns, in sentences.

    `data` has no rows of values of the context with too few; `thin` says which these are.
    """
    kinds = {data.kinds[position] for position in data.system}
    if missing == "testwise":
        choice: MethodChoice | None = TESTWISE_CHOICE
    else:
        choice = choose_by_table(data, gather_statistics(data, "listwise"))
    if choice is not None:
        yield choice.reason
    elif kinds == {Kind.CONTINUOUS}:
        yield "all columns are numbers: method='auto', the default, tries score-ac first"
    if thin is not None:
        yield thin.warning
    if len(kinds) > 1:
        yield "columns are of several kinds: test='auto' picks a test for every pair"


@dataclass(frozen=True, eq=False)
class SystemReading:
    """The outcome of reading a system variable."""

    name: str
    dtype: str
    kind: str  # a `Kind`, or "unknown"
    values: Values | None  # the numbers, one for every row; None if the library refuses the column
    problem: str = ""  # why it does
    declared: bool = False  # whether its kind was said


@dataclass(frozen=True, eq=False)
class ContextReading:
    """The outcome of reading the context."""

    name: str | None = None  # None without a context
    dtype: str | None = None
    # its values; without a context, and where it cannot be used, all rows are alike
    levels: tuple[Any, ...] = ("all",)
    # of every row; -1 where it is missing
    codes: Codes = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    problem: str = ""  # why the library refuses the column
    # of several columns: what is said about each; `levels` are combinations
    parts: tuple[ContextReading, ...] = ()
    cells: tuple[tuple[int, ...], ...] = ()  # these combinations, by the places of the values

    @property
    def columns(self) -> tuple[ContextReading, ...]:
        """The report of every context variable; none without a context."""
        return self.parts or (() if self.name is None else (self,))

    @property
    def splits(self) -> bool:
        """True if there are contexts: one was named, and it can be used."""
        return len(self.levels) > 1


def read_system_column(column: Column, declared: Kind | None, n_rows: int) -> SystemReading:
    """One system variable, usable or with the reason why not; of a table without rows, its kind
    alone.
    """
    kind = "unknown" if declared is None else declared.value
    reading = SystemReading(
        column.name, column.dtype_name, kind, None, declared=declared is not None
    )
    try:
        inferred = infer_kind(column)  # no declaration makes a date or a list usable
        reading = replace(reading, kind=(declared or inferred).value)
        values = read_system(column, declared or inferred)[0] if n_rows else None
    except DataError as error:
        return replace(reading, problem=str(error)) if n_rows else reading
    if values is not None and values.dtype.kind == "f" and np.isnan(values).all():
        return replace(reading, problem=f"column {column.name!r} has no value in any row; drop it")
    return replace(reading, values=values)


def _read_context(column: Column, declared: Kind | None, nothing: ContextReading) -> ContextReading:
    """The context, usable or with the reason why not."""
    unusable = replace(nothing, name=column.name, dtype=column.dtype_name)
    try:
        levels, codes = (
            context_levels(column, declared)
            if len(nothing.codes)
            else (nothing.levels, nothing.codes)
        )
    except DataError as error:
        return replace(unusable, problem=str(error))
    return replace(unusable, levels=levels, codes=codes)


def _combined(parts: Sequence[ContextReading], nothing: ContextReading) -> ContextReading:
    """The context that several columns are together, usable if each of them is.

    Its values are the combinations that occur in the rows.
    """
    unusable = replace(
        nothing, name=", ".join(str(part.name) for part in parts), parts=tuple(parts)
    )
    if not all(part.splits for part in parts):
        return unusable
    try:
        cells, codes = cells_of({str(part.name): part.codes for part in parts}, len(nothing.codes))
    except DataError as error:
        return replace(unusable, problem=str(error))
    values = cell_values(
        Contexts(tuple(range(len(parts))), cells), tuple(part.levels for part in parts)
    )
    return replace(unusable, levels=values, codes=codes, cells=cells)


def _made_context(
    indicator: Indicator, system: Sequence[SystemReading], nothing: ContextReading
) -> ContextReading:
    """The context that is made out of a column, usable or with the reason why not.

    Without a usable column it has no reason of its own: that of the column is told.
    """
    unusable = replace(nothing, name=indicator.name, dtype="int32")
    if not any(
        reading.name == indicator.column and reading.values is not None for reading in system
    ):
        return unusable
    try:
        data = indicator.applied(usable_part(nothing, system))
    except DataError as error:
        return replace(unusable, problem=str(error))
    return replace(unusable, levels=data.values, codes=data.codes)


def usable_part(context: ContextReading, system: Sequence[SystemReading]) -> Dataset:
    """The table without the columns that the library refuses, context variables first."""
    names: list[str] = []
    kinds: list[Kind] = []
    columns: list[Any] = []
    dtypes: list[str] = []
    contexts = Contexts()
    parts = context.columns if context.splits else ()
    if parts:
        cells = context.cells or tuple((level,) for level in range(len(context.levels)))
        contexts = Contexts(tuple(range(len(parts))), cells)
    for part in parts:
        names.append(str(part.name))
        kinds.append(Kind.CATEGORICAL)
        columns.append(part.codes)
        dtypes.append("")
    usable = [reading for reading in system if reading.values is not None]
    for reading in usable:
        names.append(reading.name)
        kinds.append(Kind(reading.kind))
        columns.append(reading.values)
        dtypes.append(reading.dtype)
    return Dataset(
        names=tuple(names),
        kinds=tuple(kinds),
        columns=tuple(columns),
        dtypes=tuple(dtypes),
        contexts=contexts,
        levels=tuple(part.levels for part in parts),
        codes=context.codes,
        declared=frozenset(reading.name for reading in usable if reading.declared),
    )
