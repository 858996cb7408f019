"""`scan`: a table of any number of rows, read once, and what a search needs of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from causalcontext import errors
from causalcontext.data import streams
from causalcontext.data.accumulate import Accumulator
from causalcontext.data.checks import check_products, check_size
from causalcontext.data.clusters import partitions_of
from causalcontext.data.columns import Kind, check_levels_repeat, declared_kinds, for_dates
from causalcontext.data.dataset import Dataset, without_columns
from causalcontext.data.frames import frame_of, is_index, pa, pd
from causalcontext.data.indicators import Indicator, contexts_of, split_context
from causalcontext.data.moments import Moments, both_triangles, some_cells
from causalcontext.data.sample import SAMPLE
from causalcontext.data.scanned_windows import ScannedWindows, WindowAccumulator
from causalcontext.data.series import check_cycle, stamps_of
from causalcontext.data.series_options import SeriesKeywords, SeriesOptions, series_options
from causalcontext.data.streams import Stream, StreamLevels
from causalcontext.data.sufficient_statistics import (
    SufficientStatistics,
    of_some_columns,
    statistics_of,
)
from causalcontext.data.tables import check_two_variables, context_places
from causalcontext.errors import DataError, NotYetError, OptionError
from causalcontext.kernels.arrays import Values
from causalcontext.kernels.rows.stretches import ScanTotals
from causalcontext.progress import counting_bar
from causalcontext.screening.left_out import LeftOut
from causalcontext.views import Contexts

_OF_LEVELS = (Kind.CATEGORICAL, Kind.ORDERED)
_IN_MEMORY = {
    "double": "float64",
    "float": "float32",
    "halffloat": "float16",
    "bool": "boolean",
    "large_string": "string",
    "string_view": "string",
}
"""The names of types in memory."""
ReadWatch = Callable[[int, int | None], None]
"""`watch(bytes read so far, bytes in all or None)`."""


@dataclass(frozen=True, eq=False)
class Scan:
    """A table that was read once; `discover` takes it instead of a table.

    Attributes
    ----------
    data : Dataset
        A sample of the rows; every row is as likely to be in it as any other.
    statistics : SufficientStatistics
        Counts, means, cross products and a fingerprint of all rows.
    rows : int
        How many rows there are.
    source : str
        What was read.
    blocks : tuple of Moments
        Of blocks of rows, which `stability` draws from; empty where these would take too much room.
    of_rows : int
        Where nothing but the sample is used, `rows` are those of the sample, and the table has so
        many; else 0.
    windows : ScannedWindows or None
        With lags: moments of all windows, and a sample of them.
    context : str, Indicator, list of them, or None
        As it was given.
    left_out : tuple of LeftOut
        The columns that `discover` did not read, each with the reason.
    """

    data: Dataset
    statistics: SufficientStatistics
    rows: int
    source: str
    blocks: tuple[Moments, ...] = ()
    of_rows: int = 0
    windows: ScannedWindows | None = None
    context: Any = None
    left_out: tuple[LeftOut, ...] = ()

    def on_sample(self, data: Dataset) -> Scan:
        """The same table where nothing but the sample is used, for columns that moments of all rows
        know nothing of.
        """
        windows = None if self.windows is None else replace(self.windows, sample_only=True)
        return replace(
            self,
            data=data,
            rows=data.n_rows,
            blocks=(),
            of_rows=self.of_rows or self.rows,
            windows=windows,
        )

    def without(self, names: Sequence[str]) -> Scan:
        """The same table without some system variables; rows that lost a value in one of them stay
        lost.
        """
        statistics = self.statistics
        kept = [place for place, name in enumerate(statistics.names) if name not in names]
        blocks = tuple(block.of(kept) for block in self.blocks)
        data = without_columns(self.data, names)
        return replace(self, data=data, statistics=of_some_columns(statistics, kept), blocks=blocks)

    def sample_as_table(self) -> pd.DataFrame:
        """The rows of the sample as a table in memory, with the types and the levels that the
        columns had.
        """
        data = self.data
        columns = dict[str, Any]()
        made = {position for position, _ in data.contexts.made}
        for position, name in enumerate(data.names):
            if position in made:
                continue
            values = np.asarray(data.columns[position])
            dtype = data.dtypes[position]
            if position in data.contexts.positions:
                levels = data.levels[data.contexts.positions.index(position)]
                columns[name] = _of_levels(values, levels, False)
            elif position in data.categories:
                is_ordered = data.kinds[position] is Kind.ORDERED
                levels = data.categories[position]
                if is_ordered or dtype == "categorical":
                    columns[name] = _of_levels(values, levels, is_ordered)
                else:
                    columns[name] = _of_values(values, levels)
            else:
                columns[name] = _of_numbers(values, dtype)
        return frame_of(columns)

    @property
    def whole(self) -> bool:
        """True if the sample is the whole table."""
        return self.data.n_rows == self.rows

    @property
    def is_table(self) -> bool:
        """True if the sample is the whole table, of whose rows nothing is asked but what a search
        without lags asks.
        """
        return self.whole and not self.of_rows and self.windows is None

    def note(self, scored: bool = False, with_lags: bool = False) -> str:
        """A note on what rests on all rows, and what on the sample; empty where there is no
        difference.
        """
        if with_lags and self.windows is not None:
            return self.windows.note(self.source, scored)
        sample = f"a random sample of {self.data.n_rows:,} rows"
        if self.of_rows > self.rows:
            return (
                f"{self.source} was read once: everything rests on {sample} of its {self.of_rows:,}"
            )
        if self.whole:
            return ""
        if scored:
            return (
                f"{self.source} was read once: the model of score-ac, its edges, directions, scores"
                f" and warnings rest on {sample}, effects and slopes on all {self.rows:,} rows"
            )
        numbers = " of numbers" if self.data.categories else ""
        return (
            f"{self.source} was read once: partial-correlation and fisher-z{numbers}, also at the"
            f" context, and effects use all {self.rows:,} rows; other tests, the support check and"
            f" warnings use {sample}; the column n of tests() has the rows of every decision"
        )

    def __repr__(self) -> str:
        named = f", context {self.data.context_name}" if self.data.contexts.positions else ""
        lags = "" if self.windows is None else f", {self.windows.options.lags} lags"
        return (
            f"Scan({self.rows:,} rows, {len(self.data.names)} columns{named}{lags}, a sample of "
            f"{self.data.n_rows:,} rows)"
        )


def _of_levels(codes: Values, levels: Sequence[Any], ordered: bool) -> Any:
    """A column of pandas that holds levels, given by their places; NaN or -1 is a missing value."""
    places = np.where(np.isfinite(codes), codes, -1).astype(np.int64)
    return pd.Categorical.from_codes(places, categories=pd.Index(levels), ordered=ordered)


def _of_values(codes: Values, levels: Sequence[Any]) -> Values:
    """The values of a column that are given by their places among its levels; None is a missing
    value.
    """
    values = np.array([*levels, None], dtype=object)
    return values[np.where(np.isfinite(codes), codes, -1).astype(np.int64)]


def _of_numbers(values: Values, dtype: str) -> Values:
    """The numbers of a column in the type that the table had; in their own where that has no place
    for a gap.
    """
    if dtype == "float32":
        return values.astype(np.float32)
    if dtype.startswith(("int", "uint")) and np.isfinite(values).all():
        return values.astype(dtype)
    return values


def scan(
    source: Any,
    context: str | Indicator | Sequence[str | Indicator] | None = None,
    *,
    columns: Sequence[str] | None = None,
    kinds: Mapping[Any, str] | None = None,
    sample: int = SAMPLE,
    lags: int | None = None,
    progress: bool | ReadWatch = False,
    **series: Unpack[SeriesKeywords],
) -> Scan:
    """Read a table of any number of rows once, in batches.

    Parameters
    ----------
    source : path, pattern, list of paths, Dask or Spark table, LazyFrame or anything with
    `__arrow_c_stream__`
        A Parquet or text file, a folder of them, `"folder/*.parquet"`, a list in any order; a
        DuckDB relation, a pyarrow reader; an iterator of tables, such as `pandas.read_csv(path,
        chunksize=100_000)`.
    context : str, `cc.threshold`, `cc.bins`, or a sequence of them, optional
        The columns that name the context: text, whole numbers or truth values; or what makes it out
        of a column, by cuts that are known.
    columns : sequence of str, optional
        Those to read, the context among them; all by default.
    kinds : mapping from column to {"continuous", "categorical", "ordered", "count"}, optional
        By default numbers are continuous, text and truth values categorical, ordered dictionaries
        ordered.
    sample : int
        Rows to keep for tests that look at rows; with lags, windows.
    lags : int, optional
        Rows follow each other in time, and windows of so many lags are kept for `discover(...,
        lags=lags)`. They are read in their order, which has to be that of time, and in a panel the
        rows of a unit stand together.
    progress : bool or callable
        Show a bar, or call `progress(bytes read, bytes in all or None)`.
    time, units, step, context_lags, covariates, unit_effects, missing
        With lags, as in `discover`; `missing` is "windows" or "interpolate".

    Returns
    -------
    Scan
        To be given to `discover`. What it holds does not depend on how the table is cut into
        batches, files or partitions.

    Raises
    ------
    CausalContextError
        With one sentence that says what was found, what was expected and what to do.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers = {"X": [1.0, 3.0, 2.0, 6.0], "Y": [0.0, 1.0, 2.0, 3.0]}
    >>> table = pa.table({**numbers, "R": ["dry", "dry", "wet", "wet"]})
    >>> found = scan(table.to_reader(), context="R")
    >>> found
    Scan(4 rows, 3 columns, context R, a sample of 4 rows)
    >>> found.statistics.moments.mean.tolist()
    [[2.0, 0.5], [4.0, 2.5]]
    """
    for name in series:
        if name not in SeriesKeywords.__annotations__:
            raise OptionError(
                "scan has no option"
                f" {name!r}{errors.did_you_mean(name, SeriesKeywords.__annotations__)}"
            )
    return scan_checked(
        source,
        context,
        None,
        columns=columns,
        kinds=kinds,
        sample=sample,
        progress=progress,
        series=series_options(lags, **series),
    )


def scan_checked(
    source: Any,
    context: Any,
    check: Callable[[StreamColumns], None] | None,
    *,
    columns: Sequence[str] | None = None,
    kinds: Mapping[Any, str] | None = None,
    sample: int = SAMPLE,
    progress: bool | ReadWatch = False,
    series: SeriesOptions | None = None,
) -> Scan:
    """The same, once `check` has seen the columns: it may refuse them before the table is read."""
    errors.check_whole("sample", sample, 1)
    levels = (
        [str(name) for name, kind in kinds.items() if kind in _OF_LEVELS]
        if isinstance(kinds, Mapping)
        else []
    )
    parts = partitions_of(source)
    if parts is not None and series is not None:
        raise NotYetError(
            f"not yet: lags with {parts.source}; write it to files that are sorted by time"
        )
    taken = () if series is None else series.taken
    # others are made of the sample of windows
    context = context if series is None else split_context(context)[0]
    stream = (
        streams.open_stream(source, [*contexts_of(context), *levels, *taken])
        if parts is None
        else parts
    )
    if isinstance(stream, Stream) and series is not None:
        errors.check_are_columns(taken, stream.schema.names)
        stream = with_cycles_in_batches(stream, series)
    schema = stream.schema
    only = columns
    for name in taken:
        schema = schema.remove(schema.get_field_index(name))
    if columns is not None and series is not None:
        only = [name for name in columns if name not in taken] + [
            name for one in series.cycles for name in one.names
        ]
    read = columns_of(schema, context, kinds, only)
    for one in read.levels:
        if series is not None and one.name in series.covariates:
            raise NotYetError(
                f"not yet: covariate {one.name!r} is {one.kind.value}, and those of a table that is"
                " read in batches hold numbers; read the table into memory"
            )
    check_products(len(read.system), 2 if read.contexts else 1)
    if check is not None:
        check(read)
    if not isinstance(stream, Stream):
        return finished(
            stream.accumulated(read.stored, read.accumulator(int(sample))), read, stream.source
        )
    windows = None
    if series is not None:
        series.check_columns(read.names, read.contexts)
        windows = WindowAccumulator(read.names, read.kinds, read.contexts, series, int(sample))
    found = _accumulated(stream, read, int(sample), progress, windows)
    scanned = finished(found, read, stream.source)
    return (
        scanned
        if windows is None
        else replace(scanned, windows=windows.finished(found, scanned.data))
    )


@dataclass(frozen=True)
class StreamColumns:
    """The columns of a stream; contexts that are made out of a column come last."""

    names: tuple[str, ...]
    places: tuple[int, ...]  # where the context variables are
    kinds: tuple[Kind, ...]
    dtypes: tuple[str, ...]
    context: Any = None
    made: tuple[Indicator, ...] = ()
    sources: tuple[int | None, ...] = ()
    levels: tuple[StreamLevels, ...] = ()  # of columns that hold some
    declared: frozenset[str] = frozenset()  # those whose kind was said

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.names[: len(self.names) - len(self.made)]

    @property
    def system(self) -> tuple[str, ...]:
        """The columns that are no context variables."""
        return tuple(name for place, name in enumerate(self.names) if place not in self.places)

    @property
    def contexts(self) -> tuple[str, ...]:
        """The context variables, in the order they were given."""
        return tuple(self.names[place] for place in self.places)

    def accumulator(self, sample: int) -> Accumulator:
        """The totals of the table before its first row."""
        return Accumulator(self.system, self.contexts, sample, self.levels, self.made)


def columns_of(
    schema: pa.Schema,
    context: Any,
    kinds: Mapping[Any, str] | None,
    only: Sequence[str] | None = None,
) -> StreamColumns:
    """The columns of a stream, or those asked for, checked before anything is read."""
    errors.check_are_columns(only or (), schema.names)
    names = tuple(
        name for name in schema.names if (name in only if only is not None else not is_index(name))
    )
    if len(set(names)) < len(names):
        raise DataError("the table has several columns of the same name; rename or drop some")
    measured, made = split_context(context)
    places = context_places(measured, names)
    declared = declared_kinds(kinds, names)
    check_two_variables(names, places)
    found = [
        _kind_of(schema.field(name), declared.get(name), place in places)
        for place, name in enumerate(names)
    ]
    levels = tuple(
        StreamLevels(name, kind, streams.family_of(schema.field(name).type) or "str")
        for place, (name, kind) in enumerate(zip(names, found, strict=True))
        if place not in places and not kind.is_number
    )
    types = [schema.field(name).type for name in names]
    dtypes = [
        "categorical" if pa.types.is_dictionary(one) else _IN_MEMORY.get(str(one), str(one))
        for one in types
    ]
    sources: dict[str, int] = {}
    for one in made:
        if not one.cuts:
            raise NotYetError(
                f"not yet: a scan with cc.bins({one.column!r}, quantiles={one.quantiles}), whose"
                " edges are not known before all rows were read; pass it to discover, which takes"
                " the quantiles of the sample, or pass edges=[...]"
            )
        sources[one.name] = one.source(names, found, tuple(sources.values()))
        names = (*names, one.name)
        found = [*found, Kind.CATEGORICAL]
        dtypes = [*dtypes, "int32"]
    asked = [one.name if isinstance(one, Indicator) else str(one) for one in contexts_of(context)]
    return StreamColumns(
        names,
        tuple(map(names.index, asked)),
        tuple(found),
        tuple(dtypes),
        context,
        made,
        tuple(map(sources.get, asked)) if made else (),
        levels,
        frozenset(declared),
    )


def _kind_of(field: pa.Field, declared: Kind | None, context: bool) -> Kind:
    """The kind of a column by its type, or as it was declared."""
    name = field.name
    dtype = field.type
    if pa.types.is_binary(dtype) or pa.types.is_large_binary(dtype):
        raise DataError(
            f"column {name!r} holds {dtype}: bytes that are not UTF-8 text; if it comes from a text"
            ' file, save that in UTF-8, or pass pandas.read_csv(path, encoding="latin-1",'
            " chunksize=100_000) with the encoding it has"
        )
    if context:
        _check_context(name, dtype, declared)
        return Kind.CATEGORICAL
    if pa.types.is_date(dtype) or pa.types.is_timestamp(dtype):
        raise DataError(f"column {name!r} holds {dtype}; {for_dates(name)}")
    number = streams.is_number(dtype) or pa.types.is_null(dtype)
    if not number and streams.family_of(dtype) is None:
        raise DataError(
            f"column {name!r} holds {dtype}, which is neither continuous nor categorical; convert"
            " it to numbers or to text, or leave it out"
        )
    ordered = pa.types.is_dictionary(dtype) and dtype.ordered
    # polars calls every Enum ordered
    enum = any(key.startswith(b"_PL_ENUM") for key in field.metadata or ())
    kind = declared or (
        Kind.CONTINUOUS if number else Kind.ORDERED if ordered and not enum else Kind.CATEGORICAL
    )
    if kind.is_number and not number and not pa.types.is_boolean(dtype):
        raise DataError(
            f"column {name!r} is declared {kind.value} but not numeric: it holds {dtype};"
            " convert it"
        )
    if kind is Kind.ORDERED and not (ordered or number or pa.types.is_boolean(dtype)):
        raise DataError(
            f"column {name!r} is declared ordered, but its values ({dtype}) have no order of their"
            " own; make it an ordered dictionary, or numbers"
        )
    return kind


def _check_context(name: str, dtype: pa.DataType, declared: Kind | None) -> None:
    if declared is Kind.CONTINUOUS:
        raise DataError(f"context {name!r} is declared continuous; a context is categorical")
    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    if pa.types.is_null(plain):
        raise DataError(
            f"context {name!r} has no value in the first rows; drop the rows without one"
        )
    if pa.types.is_floating(plain):
        raise DataError(
            f"context {name!r} is continuous ({dtype}); convert its labels to integers or to text"
        )
    if not (streams.is_text(plain) or pa.types.is_integer(plain) or pa.types.is_boolean(plain)):
        raise DataError(
            f"context {name!r} holds {dtype}, expected text, integers or truth values; convert it"
            " to text"
        )


def with_cycles_in_batches(stream: Stream, series: SeriesOptions) -> Stream:
    """The stream with the columns of cycles at its end; their phase is 0 in the first row."""
    made = [name for one in series.cycles for name in one.names]
    schema = stream.schema
    for one in series.cycles:
        check_cycle(one, series.taken, schema.names)
    for name in made:
        schema = schema.append(pa.field(name, pa.float64()))

    def batches(names: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, int]]:
        origin = None
        for batch, done in stream.batches([name for name in names if name not in made]):
            time = batch.column(batch.schema.get_field_index(series.time)).to_pandas().to_numpy()
            if not len(time):
                continue
            if origin is None:
                origin = float(stamps_of(str(series.time), time[:1])[0][0])
            new = [
                pa.array(column) for one in series.cycles for column in one.columns(time, origin)
            ]
            yield pa.record_batch([*batch.columns, *new], names=[*batch.schema.names, *made]), done

    return replace(stream, schema=schema, batches=batches) if made else stream


def _accumulated(
    stream: Stream,
    columns: StreamColumns,
    sample: int,
    progress: bool | ReadWatch,
    windows: WindowAccumulator | None,
) -> Accumulator:
    """The totals of one pass over a stream; `progress` is told the bytes that were read, a bar the
    megabytes.
    """
    found = columns.accumulator(sample)
    if stream.rows is not None:
        found.sample.expect(stream.rows)
    # as many rows of a text file, whose blocks are small, stay in the cache
    enough = streams.rows_per_batch(columns.stored) // 2
    names = columns.stored if windows is None else (*columns.stored, *windows.options.taken)
    with counting_bar("MB read", not callable(progress) and progress) as count:
        for batch, done in streams.gathered(stream.batches(names), enough):
            found.add(batch, found.rows)
            if windows is not None:
                windows.add(batch, found)
            if callable(progress):
                progress(done, stream.size)
            count(done >> 20, max(done, stream.size or 0) >> 20)
    return found


def finished(found: Accumulator, columns: StreamColumns, source: str) -> Scan:
    """The scan of a table whose rows have all been added."""
    if found.rows == 0:
        raise DataError("the table has no rows")
    levels, contexts, order = _contexts(found, columns)
    place = np.full(len(found.cells) + 1, -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    values, codes = found.sample.in_order()
    totals = found.totals
    blocks = found.block_moments
    categories = {}
    if found.levels:
        missing = totals.missing.sum(axis=0)
        values = values.copy()
        for name, levels_of_column in found.levels.items():
            j = found.system.index(name)
            categories[name] = levels_of_column.in_order(found.rows - int(missing[j]))
            # instead of the numbers of levels
            values[j] = levels_of_column.placed(values[j], categories[name])
        totals, blocks = _of_places(found, totals, blocks, categories)
    codes = place[codes]
    system = iter(values)
    levels_of_cell = np.array([*contexts.cells, (-1,) * len(columns.places)], dtype=np.int32)
    data = Dataset(
        columns.names,
        columns.kinds,
        tuple(
            levels_of_cell[codes, columns.places.index(i)] if i in columns.places else next(system)
            for i in range(len(columns.names))
        ),
        columns.dtypes,
        contexts,
        levels,
        codes,
        {
            columns.names.index(name): categories[name]
            for name in columns.system
            if name in categories
        },
        columns.declared,
    )
    check_size(data)
    statistics = statistics_of(
        some_cells(totals, order), data, found.rows, found.context_digest, found.missing_context
    )
    return Scan(
        data,
        statistics,
        found.rows,
        source,
        tuple(block.some(order) for block in blocks),
        context=columns.context,
    )


def _of_places(
    found: Accumulator,
    raw: ScanTotals,
    blocks: tuple[Moments, ...],
    categories: Mapping[str, tuple[Any, ...]],
) -> tuple[ScanTotals, tuple[Moments, ...]]:
    """Totals and blocks in which columns of levels are the places of these: `weights` times a row,
    and `shift`.
    """
    # Two levels are on a line with their places. An ordered column is the sum of its indicators,
    # each times the place of its level. More than two categories have no moments, but for whether
    # they are constant.
    p = len(found.system)
    weights = np.eye(p, p + len(found.indicators))
    shift = np.zeros(p)
    low = raw.low[:, :p].copy()
    high = raw.high[:, :p].copy()
    for name, levels in categories.items():
        j = found.system.index(name)
        numbers = np.array([found.levels[name].numbers[level] for level in levels])
        if found.levels[name].kind is Kind.ORDERED:
            weights[j] = 0.0
            for place, level in enumerate(levels):
                weights[j, found.indicators[name, level]] = place
        elif len(levels) > 1:
            weights[j, j] = 1.0 / (numbers[1] - numbers[0])
            shift[j] = -numbers[0] * weights[j, j]
        alone = low[:, j] == high[:, j]
        value = np.array(
            [
                np.flatnonzero(numbers == number).sum()
                for number in np.where(alone, low[:, j], np.nan)
            ]
        )
        low[:, j] = value
        high[:, j] = np.where(alone, value, len(levels) - 1.0)
    totals = raw._replace(
        centre=raw.centre @ weights.T + shift,
        mean=raw.mean @ weights.T,
        low=low,
        high=high,
        scatter=weights @ both_triangles(raw.scatter) @ weights.T,
        missing=raw.missing[:, :p],
        infinite=raw.infinite[:, :p],
        digests=raw.digests[:p],
    )
    means = (
        np.where(block.rows[:, None] > 0, block.mean @ weights.T + shift, 0.0) for block in blocks
    )
    return totals, tuple(
        Moments(block.rows, mean, weights @ block.scatter @ weights.T)
        for block, mean in zip(blocks, means, strict=True)
    )


def _contexts(
    found: Accumulator, columns: StreamColumns
) -> tuple[tuple[tuple[Any, ...], ...], Contexts, list[int]]:
    """The levels of every context variable in order; the cells by these, and where they are in the
    accumulator.
    """
    made = {one.name: one for one in columns.made}
    levels = tuple(
        streams.in_dictionaries((cell[j] for cell in found.cells), found.neighbours[name])[0]
        for j, name in enumerate(columns.contexts)
    )
    for name, values in zip(columns.contexts, levels, strict=True):
        if len(values) == 1 and name in made:
            raise made[name].one_level()
        if len(values) < 2:
            had = f"1 level ({errors.shortly(values[0])})" if values else "no value in any row"
            raise DataError(f"context {name!r} has {had}; at least 2 are needed")
        check_levels_repeat(name, "context", found.rows, values)
    coded = {
        tuple(levels[j].index(value) for j, value in enumerate(cell)): k
        for cell, k in found.cells.items()
    }
    cells = sorted(coded)
    return (
        levels,
        Contexts(columns.places, tuple(cells), columns.sources),
        [coded[cell] for cell in cells],
    )
