"""`scan`: a table of any number of rows, read once, and what a search needs of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from causalcontext.data.accumulate import Accumulator
from causalcontext.data.checks import check_products, check_size
from causalcontext.data.clusters import partitions_of
from causalcontext.data.dataset import Dataset
from causalcontext.data.frames import is_index
from causalcontext.data.kinds import Kind, declared_kinds
from causalcontext.data.moments import Moments
from causalcontext.data.sample import SAMPLE, RowSample
from causalcontext.data.scanned_windows import ScannedWindows, WindowAccumulator
from causalcontext.data.series import check_cycle, stamps_of
from causalcontext.data.series_options import SeriesKeywords, SeriesOptions, series_options
from causalcontext.data.streams import Stream, gathered, is_number, is_text, open_stream, rows_per_batch
from causalcontext.data.sufficient_statistics import SufficientStatistics, gather_statistics, statistics_of
from causalcontext.data.tables import check_two_variables, context_places, read_table
from causalcontext.errors import DataError, NotYetError, OptionError, check_whole, did_you_mean, shortly
from causalcontext.kernels.rows.stretches import ScanTotals
from causalcontext.progress import counting_bar
from causalcontext.views import Contexts

if TYPE_CHECKING:
    import pyarrow as pa

ONLY_NUMBERS = "a table that is read in batches holds numbers besides its context"
Watch = Callable[[int, int | None], None]
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
        Where nothing but the sample is used, `rows` are those of the sample, and the table has so many; else 0.
    windows : ScannedWindows or None
        With lags: moments of all windows, and a sample of them.
    """

    data: Dataset
    statistics: SufficientStatistics
    rows: int
    source: str
    blocks: tuple[Moments, ...] = ()
    of_rows: int = 0
    windows: ScannedWindows | None = None

    def on_sample(self, data: Dataset) -> Scan:
        """The same table where nothing but the sample is used, for columns that moments of all rows know nothing of."""
        return replace(self, data=data, rows=data.n_rows, blocks=(), of_rows=self.of_rows or self.rows)

    @property
    def whole(self) -> bool:
        """Whether the sample is the whole table."""
        return self.data.n_rows == self.rows

    def note(self, scored: bool = False, with_lags: bool = False) -> str:
        """What rests on all rows, and what on the sample; empty where there is no difference."""
        if with_lags and self.windows is not None:
            return self.windows.note(self.source, scored)
        sample = f"a random sample of {self.data.n_rows:,} rows"
        if self.of_rows > self.rows:
            return f"{self.source} was read once: everything rests on {sample} of its {self.of_rows:,}"
        if self.whole:
            return ""
        if scored:
            return (f"{self.source} was read once: the model of score-ac, its edges, directions, scores and warnings "
                    f"rest on {sample}, effects and slopes on all {self.rows:,} rows")  # fmt: skip
        return (f"{self.source} was read once: partial-correlation and fisher-z, also at the context, and "
                f"effects use all {self.rows:,} rows; other tests, the support check and warnings use {sample}; the "
                "column n of tests() has the rows of every decision")  # fmt: skip

    def __repr__(self) -> str:
        named = f", context {self.data.context_name}" if self.data.contexts.positions else ""
        lags = "" if self.windows is None else f", {self.windows.options.lags} lags"
        return (f"Scan({self.rows:,} rows, {len(self.data.names)} columns{named}{lags}, a sample of "
                f"{self.data.n_rows:,} rows)")  # fmt: skip


def scan(
    source: Any,
    context: str | Sequence[str] | None = None,
    *,
    columns: Sequence[str] | None = None,
    kinds: Mapping[Any, str] | None = None,
    sample: int = SAMPLE,
    lags: int | None = None,
    progress: bool | Watch = False,
    **series: Unpack[SeriesKeywords],
) -> Scan:
    """Read a table of any number of rows once, in batches.

    Parameters
    ----------
    source : path, pattern, list of paths, Dask or Spark table, LazyFrame or anything with `__arrow_c_stream__`
        A Parquet or text file, a folder of them, `"folder/*.parquet"`, a list in any order; a DuckDB relation, a
        pyarrow reader; an iterator of tables, such as `pandas.read_csv(path, chunksize=100_000)`.
    context : str or sequence of str, optional
        The columns that name the context: text, whole numbers or truth values. Where another column has levels, nothing
        but the sample of rows is kept.
    columns : sequence of str, optional
        Those to read, the context among them; all by default.
    kinds : mapping from column to {"continuous", "categorical", "ordered", "count"}, optional
    sample : int
        Rows to keep for tests that look at rows; with lags, windows.
    lags : int, optional
        Rows follow each other in time, and windows of so many lags are kept for `discover(..., lags=lags)`. They are
        read in their order, which has to be that of time, and in a panel the rows of a unit stand together.
    progress : bool or callable
        Show a bar, or call `progress(bytes read, bytes in all or None)`.
    time, units, step, context_lags, covariates, unit_effects, missing
        With lags, as in `discover`; `missing` is "windows" or "interpolate".

    Returns
    -------
    Scan
        To be given to `discover`. What it holds does not depend on how the table is cut into batches, files or
        partitions.

    Raises
    ------
    CausalContextError
        With one sentence that says what was found, what was expected and what to do.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"X": [1.0, 3.0, 2.0, 6.0], "Y": [0.0, 1.0, 2.0, 3.0], "R": ["dry", "dry", "wet", "wet"]})
    >>> found = scan(table.to_reader(), context="R")
    >>> found
    Scan(4 rows, 3 columns, context R, a sample of 4 rows)
    >>> found.statistics.moments.mean.tolist()
    [[2.0, 0.5], [4.0, 2.5]]
    """
    for name in series:
        if name not in SeriesKeywords.__annotations__:
            raise OptionError(f"scan has no option {name!r}{did_you_mean(name, SeriesKeywords.__annotations__)}")
    follow = series_options(lags, **series)
    return scan_checked(
        source, context, None, columns=columns, kinds=kinds, sample=sample, progress=progress, series=follow
    )


def scan_checked(
    source: Any,
    context: str | Sequence[str] | None,
    check: Callable[[tuple[str, ...]], None] | None,
    *,
    columns: Sequence[str] | None = None,
    kinds: Mapping[Any, str] | None = None,
    sample: int = SAMPLE,
    progress: bool | Watch = False,
    series: SeriesOptions | None = None,
) -> Scan:
    """The same, once `check` has seen the names of the columns: it may refuse them before the table is read."""
    check_whole("sample", sample, 1)
    parts = partitions_of(source)
    if parts is not None and series is not None:
        raise NotYetError(f"not yet: lags with {parts.source}; write it to files that are sorted by time")
    taken = () if series is None else series.taken
    named = [context] if isinstance(context, str) else list(context or ())
    stream = open_stream(source, [*named, *taken]) if parts is None else parts
    if isinstance(stream, Stream) and series is not None:
        stream = with_cycles_in_batches(_with_taken(stream, series), series)
    schema, only = stream.schema, columns
    for name in taken:
        schema = schema.remove(schema.get_field_index(name))
    if columns is not None and series is not None:
        only = [
            *(name for name in columns if name not in taken),
            *(name for one in series.cycles for name in one.names),
        ]
    names = () if series is not None else _columns_with_levels(schema, context, kinds, only)
    if isinstance(stream, Stream) and names:
        if check is not None:
            check(names)
        with _watched(progress) as watch:
            return _sampled(stream, names, context, kinds, int(sample), watch)
    read = columns_of(schema, context, kinds, only)
    check_products(len(read.system), 2 if read.contexts else 1)
    if check is not None:
        check(read.names)
    if not isinstance(stream, Stream):
        return finished(stream.accumulated(read.system, read.contexts, int(sample)), read, stream.source)
    windows = None
    if series is not None:
        series.check_columns(read.names, read.contexts)
        windows = WindowAccumulator(read.names, read.kinds, read.contexts, series, int(sample))
    with _watched(progress) as watch:
        found = _accumulated(stream, read, int(sample), watch, windows)
    scanned = finished(found, read, stream.source)
    return scanned if windows is None else replace(scanned, windows=windows.finished(found, scanned.data))


@dataclass(frozen=True)
class StreamColumns:
    """The columns of a stream: their names in order, where the context variables are, kinds and dtypes."""

    names: tuple[str, ...]
    places: tuple[int, ...]
    kinds: tuple[Kind, ...]
    dtypes: tuple[str, ...]

    @property
    def system(self) -> tuple[str, ...]:
        """The columns that are no context variables."""
        return tuple(name for place, name in enumerate(self.names) if place not in self.places)

    @property
    def contexts(self) -> tuple[str, ...]:
        """The context variables, in the order they were given."""
        return tuple(self.names[place] for place in self.places)


def columns_of(
    schema: pa.Schema, context: Any, kinds: Mapping[Any, str] | None, only: Sequence[str] | None = None
) -> StreamColumns:
    """What a stream holds, or what of it is asked for, checked before anything is read."""
    import pyarrow as pa

    for name in only or ():
        if name not in schema.names:
            raise DataError(f"the table has no column {name!r}{did_you_mean(name, schema.names)}")
    names = tuple(name for name in schema.names if (name in only if only is not None else not is_index(name)))
    if len(set(names)) < len(names):
        raise DataError("the table has several columns of the same name; rename or drop some")
    places = context_places(context, names)
    declared = declared_kinds(kinds, names)
    check_two_variables(names, places)
    found = []
    for place, name in enumerate(names):
        dtype = schema.field(name).type
        if pa.types.is_binary(dtype) or pa.types.is_large_binary(dtype):
            raise DataError(f"column {name!r} holds {dtype}: bytes that are no text in UTF-8; if it comes from a text "
                            "file, save that in UTF-8, or pass pandas.read_csv(path, encoding=\"latin-1\", "
                            "chunksize=100_000) with the encoding it has")  # fmt: skip
        if place in places:
            _check_context(name, dtype, declared.get(name))
        elif not is_number(dtype):
            raise NotYetError(f"not yet: column {name!r} holds {dtype}, and {ONLY_NUMBERS}; convert the column, leave "
                              "it out, or read the table into memory")  # fmt: skip
        kind = Kind.CATEGORICAL if place in places else declared.get(name, Kind.CONTINUOUS)
        if place not in places and not kind.is_number:
            raise NotYetError(f"not yet: column {name!r} is declared {kind.value}, and {ONLY_NUMBERS}; read the table "
                              "into memory")  # fmt: skip
        found.append(kind)
    in_memory = {"double": "float64", "float": "float32", "halffloat": "float16"}  # what the types are called there
    types = (str(schema.field(name).type) for name in names)
    return StreamColumns(names, places, tuple(found), tuple(in_memory.get(dtype, dtype) for dtype in types))


def _check_context(name: str, dtype: pa.DataType, declared: Kind | None) -> None:
    import pyarrow as pa

    if declared is Kind.CONTINUOUS:
        raise DataError(f"context {name!r} is declared continuous; a context is categorical")
    plain = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    if pa.types.is_null(plain):
        raise DataError(f"context {name!r} has no value in the rows that are read first; leave the rows without one "
                        "out")  # fmt: skip
    if pa.types.is_floating(plain):
        raise DataError(f"context {name!r} is continuous ({dtype}); convert its labels to integers or to text")
    if not (is_text(plain) or pa.types.is_integer(plain) or pa.types.is_boolean(plain)):
        raise DataError(f"context {name!r} holds {dtype}, expected text, integers or truth values; convert it to text")


def _with_taken(stream: Stream, series: SeriesOptions) -> Stream:
    """The stream, if it has the columns that order its rows."""
    for name in series.taken:
        if name not in stream.schema.names:
            raise DataError(f"the table has no column {name!r}{did_you_mean(name, stream.schema.names)}")
    return stream


def with_cycles_in_batches(stream: Stream, series: SeriesOptions) -> Stream:
    """The stream with the columns of cycles at its end; their phase is 0 in the first row."""
    import pyarrow as pa

    made, schema = [name for one in series.cycles for name in one.names], stream.schema
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
            new = [pa.array(column) for one in series.cycles for column in one.columns(time, origin)]
            yield pa.record_batch([*batch.columns, *new], names=[*batch.schema.names, *made]), done

    return replace(stream, schema=schema, batches=batches) if made else stream


def _columns_with_levels(schema: pa.Schema, context: Any, kinds: Mapping[Any, str] | None, only: Sequence[str] | None
                         ) -> tuple[str, ...]:  # fmt: skip
    """The columns to read, where one besides the context has levels or is declared to, and all can be read, or ()."""
    import pyarrow as pa

    names = tuple(schema.names if only is None else only)
    if len(set(names)) < len(names) or not set(names) <= set(schema.names):
        return ()
    names = tuple(name for name in schema.names if name in names and not (only is None and is_index(name)))
    places, declared = context_places(context, names), declared_kinds(kinds, names)
    types = {name: schema.field(name).type for place, name in enumerate(names) if place not in places}
    plain = {name: dtype.value_type if pa.types.is_dictionary(dtype) else dtype for name, dtype in types.items()}
    leveled = {name for name, dtype in plain.items() if is_text(dtype) or pa.types.is_boolean(dtype)}
    if not all(is_number(dtype) or name in leveled for name, dtype in plain.items()):
        return ()
    return names if leveled or any(name in plain and not kind.is_number for name, kind in declared.items()) else ()


def _sampled(stream: Stream, names: tuple[str, ...], context: Any, kinds: Mapping[Any, str] | None, sample: int,
             watch: Watch) -> Scan:  # fmt: skip
    """The scan of a table with levels, of which moments know nothing: a sample of its rows, the one of all scans."""
    import pyarrow as pa

    chooser, rows = RowSample(sample, 0), 0
    hashes, kept = np.empty(0, dtype=np.uint64), None
    for batch, done in gathered(stream.batches(names), rows_per_batch(names) // 2):
        chosen, drawn = chooser.choose(rows, batch.num_rows)
        part = pa.Table.from_batches([batch]).take(pa.array(chosen))
        kept = part if kept is None else pa.concat_tables([kept, part], promote_options="permissive")
        hashes = np.concatenate([hashes, drawn])
        rows += batch.num_rows
        smallest = np.sort(np.argsort(hashes)[:sample])
        kept, hashes = kept.take(pa.array(smallest)), hashes[smallest]
        watch(done, stream.size)
    if kept is None:
        raise DataError("the table has no rows")
    data = read_table(kept.unify_dictionaries(), context, kinds=kinds)
    return Scan(data, gather_statistics(data, "listwise"), data.n_rows, stream.source, of_rows=rows)


@contextmanager
def _watched(progress: bool | Watch) -> Iterator[Watch]:
    """Where to report the bytes that were read: the caller's own function, a bar of megabytes, or nowhere."""
    if callable(progress):
        yield progress
        return
    with counting_bar("MB read", progress) as count:
        yield lambda done, total: count(done >> 20, max(done, total or 0) >> 20)


def _accumulated(stream: Stream, columns: StreamColumns, sample: int, watch: Watch,
                 windows: WindowAccumulator | None = None) -> Accumulator:  # fmt: skip
    names = columns.names if windows is None else (*columns.names, *windows.options.taken)
    found = Accumulator(columns.system, columns.contexts, sample)
    if stream.rows is not None:
        found.sample.expect(stream.rows)
    enough = rows_per_batch(columns.names) // 2  # as many of a text file, whose blocks are small, stay in the cache
    for batch, done in gathered(stream.batches(names), enough):
        found.add(batch, found.rows)
        if windows is not None:
            windows.add(batch, found)
        watch(done, stream.size)
    return found


def finished(found: Accumulator, columns: StreamColumns, source: str) -> Scan:
    """The scan of a table whose rows have all been added."""
    if found.rows == 0:
        raise DataError("the table has no rows")
    levels, contexts, order = _contexts(found, columns)
    place = np.full(len(found.cells) + 1, -1, dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    values, codes = found.sample.in_order()
    codes, system = place[codes], iter(values)
    levels_of_cell = np.array([*contexts.cells, (-1,) * len(columns.places)], dtype=np.int32)
    data = Dataset(
        names=columns.names,
        kinds=columns.kinds,
        columns=tuple(levels_of_cell[codes, columns.places.index(i)] if i in columns.places else next(system)
                      for i in range(len(columns.names))),
        dtypes=columns.dtypes,
        contexts=contexts,
        levels=levels,
        codes=codes,
    )  # fmt: skip
    check_size(data)
    blocks = tuple(block.some(order) for block in found.block_moments)
    kept = {name: array if name == "digests" else array[order] for name, array in found.totals._asdict().items()}
    statistics = statistics_of(ScanTotals(**kept), data, found.rows, found.context_digest, found.missing_context)
    return Scan(data, statistics, found.rows, source, blocks)


def _contexts(found: Accumulator, columns: StreamColumns) -> tuple[tuple[tuple[Any, ...], ...], Contexts, list[int]]:
    """The levels of every context variable, sorted; the cells by these, and where they are in the accumulator."""
    levels = tuple(tuple(sorted({cell[j] for cell in found.cells})) for j in range(len(columns.places)))
    for name, values in zip(columns.contexts, levels, strict=True):
        if len(values) < 2:
            had = f"1 level ({shortly(values[0])})" if values else "no value in any row"
            raise DataError(f"context {name!r} has {had}; at least 2 are needed")
        if 2 * len(values) > found.rows:
            raise DataError(f"context {name!r} has {len(values)} levels in {found.rows} rows, which looks like an "
                            "identifier or a continuous column; its values must repeat")  # fmt: skip
    coded = {tuple(levels[j].index(value) for j, value in enumerate(cell)): k for cell, k in found.cells.items()}
    cells = sorted(coded)
    return levels, Contexts(columns.places, tuple(cells)), [coded[cell] for cell in cells]
