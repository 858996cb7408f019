"""Parts that several commands share: arguments and options, the table they name, and the files they
write.

The options of a search are declared once, as fields of dataclasses (`options.Options` and the
method objects); `with_options` turns each into a flag, in groups by method. So a new option is on
the command line as soon as it is in the library, under the same name.

A command calls `opened` before anything else. It refuses what can be refused without reading the
table, then reads it: into memory, or once, in batches, where it is large or in several files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from causalcontext.cli.pipes import STDOUT, is_stdout, table_file
from causalcontext.cli.terminal import say
from causalcontext.data.as_written import parsed_codes
from causalcontext.data.files import check_writable
from causalcontext.data.frames import is_index, pd
from causalcontext.data.indicators import Indicator, condition
from causalcontext.data.streams import is_out_of_memory, open_stream
from causalcontext.data.table_files import files_of, read_file, spoken, words_for_missing
from causalcontext.errors import FileError, NotYetError, OptionError, check_are_columns, listed
from causalcontext.knowledge import Knowledge
from causalcontext.methods.method_object import default_of
from causalcontext.methods.registry import METHOD_OPTIONS
from causalcontext.options import (
    ENTRIES,
    Keywords,
    Options,
    group_of,
    options_of,
    with_parameters,
)
from causalcontext.reading.scans import check_scannable, scanned_once
from causalcontext.report.html import check_page
from causalcontext.results.words import context_place

TableArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="A .csv, .tsv (both also .gz) or .parquet file; - is standard input."
    ),
]
TablesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA...",
        help=(
            "A .csv, .tsv (both also .gz) or .parquet file; or a folder of them, a pattern such as"
            ' "year-*.parquet", several files: these are read once, in batches, and so is a file of'
            " more than 256 MB; - is standard input."
        ),
    ),
]
ContextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--context",
        metavar="COLUMN",
        help=(
            'The column that names the context (repeatable: combinations), "VPD > 0.6" (or >=, <,'
            ' <=), "VPD > best" (found), "0.3 < VPD <= 0.6", "VPD bins 0.3,0.6" or "VPD bins 4".'
        ),
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="NAMES", help="Search only these columns: a,b. Repeatable."),
]
DropOption = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="NAMES", help="Leave these columns out. Repeatable."),
]
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="Overrides the dtype: R=categorical; also continuous, ordered, count. Repeatable.",
    ),
]
KnowledgeOption = Annotated[
    Path | None,
    typer.Option("--knowledge", metavar="FILE", help="Expert knowledge about links, a TOML file."),
]
ResultArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT", help="A file that discover --json has written; - is standard input."
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--json", metavar="FILE", help="Save the whole result here, as JSON; - is standard output."
    ),
]
JsonOption = Annotated[
    Path | None,
    typer.Option(
        "--json", metavar="FILE", help="Write the answer here, as JSON; - is standard output."
    ),
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write an interactive HTML report here; - is standard output.",
    ),
]
ProgressOption = Annotated[bool, typer.Option(help="A progress bar, on terminals only.")]


def _searched(
    data: TablesArgument,
    context: ContextOption = None,
    columns: ColumnsOption = None,
    drop: DropOption = None,
    knowledge: KnowledgeOption = None,
    kind: KindOption = None,
) -> None:
    """Hold the parameters of every search of a table, as `opened` reads them; never called."""


def with_options(
    kind: type[Any], without: Sequence[str] = (), searches: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that lets a command take every field of a dataclass of options that has a help
    text.

    The fields follow the command's own parameters. A command that searches a table takes the table,
    its columns and what is known about them first (`_searched`).

    Parameters
    ----------
    kind : the dataclass, `Options` for all options of `discover`
    without : names of parameters that the command does not take
    searches : False for a command that only looks at a table
    """
    entries = ENTRIES if kind is Options else {entry.name: entry for entry in fields(kind)}
    hints = get_type_hints(Keywords) if kind is Options else get_type_hints(kind)
    shown = [
        _flag(entry, hints[name], searches=kind is Options)
        for name, entry in entries.items()
        if entry.metadata["text"] and name not in without
    ]
    table = signature(_searched, eval_str=True).parameters.values() if searches else ()

    def extended(command: Callable[..., None]) -> Callable[..., None]:
        of_command = signature(with_parameters(command, shown, eval_str=True))
        parameters = [
            *(part for part in table if part.name not in without),
            *of_command.parameters.values(),
        ]
        command.__signature__ = of_command.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {
            parameter.name: parameter.annotation for parameter in parameters
        } | {"return": None}
        return command

    return extended


def _flag(entry: Field[Any], hint: Any, searches: bool) -> Parameter:
    """The parameter of a flag; what may be an object in the library is a name here.

    The type is the first of text, decimal number, whole number and switch that the hint allows, and
    text for anything else. With `searches` the options of methods are listed by method, and one
    that is not passed is None: beside "auto" any other value is refused.
    """
    more = entry.metadata
    default = default_of(entry)
    plain: Any = next(
        (kind for kind in (str, float, int, bool) if hint == kind or hint == kind | None), str
    )
    extra: dict[str, Any] = {}
    if searches:
        extra["rich_help_panel"] = group_of(entry.name) or None
    if searches and entry.name in METHOD_OPTIONS:
        shown = entry.name.replace("_", "-") if default is True else str(default)
        extra["show_default"] = False if default is None else shown
        default = None
    named = [f"--{more['name']}"] if more["name"] else []
    described = typer.Option(*named, metavar=more["shown"] or None, help=more["text"], **extra)
    annotation: Any = Annotated[plain | None if default is None else plain, described]
    return Parameter(entry.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def opened(
    asked: Mapping[str, Any], outputs: Mapping[str, Path | None], progress: bool, once: bool = True
) -> tuple[Any, Any, dict[str, Any]]:
    """The table of a command, its context, and the options that are left for `discover`.

    Everything that can be refused is refused before the table is read as a whole. A file that fits
    is read into memory; of a larger one, or of several, the answer holds what one pass over the
    rows found (a `Scan`). With `once=False`, for a command that searches several times, and with
    lags, it is the files themselves.

    Parameters
    ----------
    asked : what the command line says, by the names of parameters
    outputs : the files that the command is going to write, by option
    progress : whether a bar shows the bytes that were read
    once : whether one pass over the rows is enough for the command
    """
    options = {
        name: value
        for name, value in asked.items()
        if value is not None or name not in METHOD_OPTIONS
    }
    paths, knowledge, kind = (options.pop(name) for name in ("data", "knowledge", "kind"))
    choice = [options.pop(name, None) for name in ("context", "columns", "drop")]
    options["kinds"] = parsed_kinds(kind)
    check_outputs(outputs, inputs=[*paths, knowledge])
    options["knowledge"] = None if knowledge is None else Knowledge.from_toml(knowledge)
    wanted = options_of(options, "discover")
    paths = [table_file(path) for path in paths]
    source: Any = paths[0] if len(paths) == 1 else list(paths)
    if not is_out_of_memory(source):
        table, context = chosen_columns(read_file(source), *choice)
        _say_words(table, wanted)
        return table, context, options
    return *_batches(source, choice, outputs, wanted, progress, once), options


def _say_words(table: pd.DataFrame, wanted: Options) -> None:
    """Tell of words such as `NA` that were read as levels, and may mean a missing value.

    Columns with the same words share a sentence; words that `--na` names mean what it says.
    """
    named_by_option = parsed_codes(wanted.na_values)
    columns_by_words: dict[tuple[str, ...], list[str]] = {}
    for column, words in words_for_missing(table).items():
        if not set(words) <= set(named_by_option):
            columns_by_words.setdefault(words, []).append(repr(column))
    for words, columns in columns_by_words.items():
        where = f"column{'s' if len(columns) > 1 else ''} {listed(columns)}"
        if len(words) > 1:
            reading = "are read as levels like any other"
            meaning = "they mean missing values"
        else:
            reading = "is read as a level like any other"
            meaning = "it means a missing value"
        say(
            f"note: {listed(map(repr, words))} in {where} {reading}; if {meaning}, pass"
            f" --na={','.join(words)}"
        )


def _batches(
    source: Any,
    choice: Sequence[Any],
    outputs: Mapping[str, Path | None],
    wanted: Options,
    progress: bool,
    once: bool,
) -> tuple[Any, Any]:
    """The scan of files that are read in batches, or the files themselves, and the context.

    Nothing but the names of the columns is read before all that can be refused is. A search with
    lags that comes back to its rows takes the files, and cannot leave columns out.
    """
    stream = open_stream(source, choice[0] or ())
    names = [name for name in stream.schema.names if not is_index(name)]
    kept, context = chosen_names(names, *choice)
    check_scannable(context, wanted)
    files = files_of(source)
    check_apart(tuple(outputs.values()), files)
    read = f"{spoken(files)} {'is' if len(files) == 1 else 'are'} read"
    if once or wanted.lags is None:
        say(f"{read} once, in batches")
        return scanned_once(source, context, wanted, progress, kept), context
    if len(kept) < len(names):
        raise NotYetError(
            "not yet: --columns and --drop with lags for a table that is read in batches; write"
            " a file with these columns alone"
        )
    say(f"{read} in batches, once for every search")
    return source, context


def read_whole(path: Path) -> pd.DataFrame:
    """The table of a file, for a command that needs its rows.

    A file that may not fit into memory is announced by a sentence, not refused: the reader knows
    the machine better.
    """
    path = table_file(path)
    if path.is_file() and is_out_of_memory(path):
        say(
            f"{path} has {path.stat().st_size / 2**20:,.0f} MB and is read into memory, where it"
            " takes several times as much; discover and stability read it in batches"
        )
    return read_file(path)


def chosen_columns(table: pd.DataFrame, *choice: Sequence[str] | None) -> tuple[pd.DataFrame, Any]:
    """The columns of a table that are searched, those of the context among them, and the context.

    `choice` is what `--context`, `--columns` and `--drop` say, in this order.
    """
    names = [str(name) for name in table.columns]
    kept, context = chosen_names(names, *choice)
    return table.loc[:, [name in kept for name in names]], context


def chosen_names(
    names: Sequence[str],
    context: Sequence[str] | None,
    columns: Sequence[str] | None,
    drop: Sequence[str] | None,
) -> tuple[list[str], list[str | Indicator] | None]:
    """The names that `--context`, `--columns` and `--drop` leave, and the context.

    Columns of the context stay although `--columns` does not list them; `--drop` wins over both,
    and a missing context is refused later, in the words of `discover`.
    """
    parsed = parsed_context(context or (), names)
    needed = [entry.column if isinstance(entry, Indicator) else entry for entry in parsed or ()]
    kept = _listed(names, columns or ())
    dropped = _listed(names, drop or ())
    for column in needed:
        if column in dropped:
            raise OptionError(f"column {column!r} is the context, and --drop leaves it out")
    return [
        name for name in names if (not kept or name in {*kept, *needed}) and name not in dropped
    ], parsed


def _listed(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The columns that texts list: one in every text, or several with commas.

    A text that is the name of a column is that column, commas included.
    """
    parts = (
        part.strip() for text in texts for part in ([text] if text in names else text.split(","))
    )
    columns = [part for part in parts if part]
    check_are_columns(columns, names)
    return columns


def parsed_context(texts: Sequence[str], names: Sequence[str]) -> list[str | Indicator] | None:
    """The context that `--context` names: columns of the table, and thresholds or bins of some.

    A text that is the name of a column is that column, whatever signs are in it. None stands for no
    context.

    >>> parsed_context(["soil"], ["soil", "VPD"])
    ['soil']
    >>> [one.name for one in parsed_context(["VPD > 0.6"], ["VPD"])]
    ['VPD > 0.6']
    """
    context: list[str | Indicator] = [
        text if text in names else condition(text) or text for text in texts
    ]
    for entry in context:
        if isinstance(entry, str) and entry not in names and any(sign in entry for sign in "<>="):
            raise OptionError(
                f"context is {entry!r}, expected a column, or 'X > 0.6', 'X <= 0.6', 'X > best', "
                "'0.3 < X <= 0.6', 'X bins 4' or 'X bins 0.3, 0.6'"
            )
    cut_columns = [entry.column for entry in context if isinstance(entry, Indicator)]
    check_are_columns(cut_columns, names)
    return context or None


def parsed_kinds(declarations: Iterable[str] | None) -> dict[str, str]:
    """The declared kinds by column, from `column=kind` declarations.

    The last equals sign separates, since names may have one. Unknown kinds and columns are refused
    by the reader of the table, in the words of the library.

    >>> parsed_kinds(["R=categorical", "a=b=continuous"])
    {'R': 'categorical', 'a=b': 'continuous'}
    """
    kinds = {}
    for declaration in declarations or ():
        column, equals, kind = declaration.rpartition("=")
        if not equals:
            raise OptionError(
                f"kind is {declaration!r}, expected column=KIND, such as R=categorical"
            )
        kinds[column] = kind
    return kinds


def context_value(contexts: Iterable[Any], text: str) -> Any:
    """The context value that is written so; a combination of values is written with commas.

    Values may be numbers: `1` on the command line is the value 1 of the table. An unknown text is
    refused with the nearest value that there is.
    """
    written = {context_text(value): value for value in contexts}
    return list(written.values())[context_place(tuple(written), text)]


def context_text(value: Any) -> str:
    """The context value as it is written on the command line and in tables: `dry`, or `dry,2`.

    It is the inverse of `context_value` among the values of one result.
    """
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check_outputs(outputs: Mapping[str, Path | None], inputs: Sequence[Path | None] = ()) -> None:
    """Refuse files that cannot be written, that are inputs of the command, or that are asked for
    twice.

    `outputs` are by option, None where the option is not used, so that the sentence can name it. It
    comes first in every command, so that no search runs for a file that cannot be saved.
    """
    asked = {option: file for option, file in outputs.items() if file is not None}
    files = [file for file in asked.values() if not is_stdout(file)]
    for option, file in asked.items():
        if is_stdout(file):
            continue
        if option == "--report":
            check_page(file)
        else:
            check_writable(file)
    check_apart(files, inputs)
    resolved = [Path(STDOUT[0]) if is_stdout(file) else file.resolve() for file in asked.values()]
    if len(set(resolved)) < len(resolved):
        options = " and as ".join(asked)
        raise FileError(
            f"cannot write {list(asked.values())[-1]}: it is asked for twice, as {options}"
        )


def check_apart(outputs: Sequence[Path | None], inputs: Sequence[Path | None]) -> None:
    """Refuse a file to write that is one of those that are read.

    Files are compared as the system has them, so that another path or a link to the same file
    counts.
    """
    for file in outputs:
        for other in inputs:
            if (
                file
                and other
                and os.path.exists(file)
                and os.path.exists(other)
                and os.path.samefile(file, other)
            ):
                raise FileError(f"cannot write {file}: it is an input of the same command")
