"""What several commands take: arguments and options, the table they name, and the files they
write.
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
from causalcontext.discover import check_scannable, scanned_once
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
    typer.Option("--report", metavar="FILE", help="Write an interactive HTML report here."),
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
    """What every search of a table takes, as `opened` reads it."""


def with_options(
    kind: type[Any], without: Sequence[str] = (), searches: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take every field of a dataclass of options that has a text for `--help`, after
    its own.

    One that searches a table takes the table, its columns and what is known about them first.
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
        own = signature(with_parameters(command, shown, eval_str=True))
        parameters = [
            *(part for part in table if part.name not in without),
            *own.parameters.values(),
        ]
        command.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {
            parameter.name: parameter.annotation for parameter in parameters
        } | {"return": None}
        return command

    return extended


def _flag(entry: Field[Any], hint: Any, searches: bool) -> Parameter:
    """A flag of the command line; what may be an object in the library is a name here.

    With `searches` the options of methods are listed by method, and one that is not passed is None:
    beside "auto" any other value is refused.
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
    """The table of a command, its context and its options; of what is not read into memory, what
    one pass found.

    With `once=False`, for a command that searches several times, and with lags it is the files
    themselves.

    Everything that can be refused is refused before that pass. `asked` is what the command line
    says, `outputs` the files that the command is going to write, by option; `progress` is whether a
    bar shows the bytes that were read.
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
        coded = parsed_codes(wanted.na_values)
        alike: dict[tuple[str, ...], list[str]] = {}
        for column, words in words_for_missing(table).items():
            if not set(words) <= set(coded):
                alike.setdefault(words, []).append(repr(column))
        for words, columns in alike.items():
            where = f"column{'s' if len(columns) > 1 else ''} {listed(columns)}"
            read, what = ("is read as a level like any other", "it means a missing value")
            if len(words) > 1:
                read, what = ("are read as levels like any other", "they mean missing values")
            say(
                f"note: {listed(map(repr, words))} in {where} {read}; if {what}, pass"
                f" --na={','.join(words)}"
            )
        return table, context, options
    names = [
        name for name in open_stream(source, choice[0] or ()).schema.names if not is_index(name)
    ]
    kept, context = chosen_names(names, *choice)
    check_scannable(context, wanted)
    files = files_of(source)
    check_apart(tuple(outputs.values()), files)
    if not once and wanted.lags is not None:
        if len(kept) < len(names):
            raise NotYetError(
                "not yet: --columns and --drop with lags for a table that is read in batches; write"
                " a file with these columns alone"
            )
        say(
            f"{spoken(files)} {'is' if len(files) == 1 else 'are'} read in batches, once for every"
            " search"
        )
        return source, context, options
    say(f"{spoken(files)} {'is' if len(files) == 1 else 'are'} read once, in batches")
    return scanned_once(source, context, wanted, progress, kept), context, options


def read_whole(path: Path) -> pd.DataFrame:
    """The table of a file for a command that needs its rows; a sentence comes before one that may
    not fit.
    """
    path = table_file(path)
    if path.is_file() and is_out_of_memory(path):
        say(
            f"{path} has {path.stat().st_size / 2**20:,.0f} MB and is read into memory, where it"
            " takes several times as much; discover and stability read it in batches"
        )
    return read_file(path)


def chosen_columns(table: pd.DataFrame, *choice: Sequence[str] | None) -> tuple[pd.DataFrame, Any]:
    """The columns of a table that are searched, those of the context among them, and the
    context.
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
    """The names that `--context`, `--columns` and `--drop` leave, and the context."""
    parsed = parsed_context(context or (), names)
    needed = [one.column if isinstance(one, Indicator) else one for one in parsed or ()]
    kept = _listed(names, columns or ())
    dropped = _listed(names, drop or ())
    return [
        name for name in names if (not kept or name in {*kept, *needed}) and name not in dropped
    ], parsed


def _listed(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The columns that are listed: one in every text, or several with commas."""
    parts = (
        part.strip() for text in texts for part in ([text] if text in names else text.split(","))
    )
    found = [part for part in parts if part]
    check_are_columns(found, names)
    return found


def parsed_context(texts: Sequence[str], names: Sequence[str]) -> list[str | Indicator] | None:
    """What `--context` says: columns of the table, and thresholds or bins of some.

    >>> parsed_context(["soil"], ["soil", "VPD"])
    ['soil']
    >>> [one.name for one in parsed_context(["VPD > 0.6"], ["VPD"])]
    ['VPD > 0.6']
    """
    found: list[str | Indicator] = [
        text if text in names else condition(text) or text for text in texts
    ]
    for one in found:
        if isinstance(one, str) and one not in names and any(sign in one for sign in "<>="):
            raise OptionError(
                f"context is {one!r}, expected a column, or 'X > 0.6', 'X <= 0.6', 'X > best', "
                "'0.3 < X <= 0.6', 'X bins 4' or 'X bins 0.3, 0.6'"
            )
    check_are_columns([one.column for one in found if isinstance(one, Indicator)], names)
    return found or None


def parsed_kinds(declarations: Iterable[str] | None) -> dict[str, str]:
    """Kinds by column from `column=kind` declarations.

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
    """The context value that is written so; a combination of values is written with commas."""
    written = {context_text(value): value for value in contexts}
    return list(written.values())[context_place(tuple(written), text)]


def context_text(value: Any) -> str:
    """A context value as it is written."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check_outputs(outputs: Mapping[str, Path | None], inputs: Sequence[Path | None] = ()) -> None:
    """Return if the files, by option, can be written, none of them is an input, and no two are the
    same.
    """
    asked = {option: file for option, file in outputs.items() if file is not None}
    files = [file for file in asked.values() if not is_stdout(file)]
    for file in files:
        check_writable(file)
    check_apart(files, inputs)
    resolved = [Path(STDOUT[0]) if is_stdout(file) else file.resolve() for file in asked.values()]
    if len(set(resolved)) < len(resolved):
        options = " and as ".join(asked)
        raise FileError(
            f"cannot write {list(asked.values())[-1]}: it is asked for twice, as {options}"
        )


def check_apart(outputs: Sequence[Path | None], inputs: Sequence[Path | None]) -> None:
    """Return if no file that is going to be written is one that is read."""
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
