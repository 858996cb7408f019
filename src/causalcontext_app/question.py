"""What one search is asked: columns, kinds, context, options, knowledge; and the same as a script.

The page, the project file and the process that searches exchange a question as plain lists and
mappings. Whatever is in them is checked here, by the library's own checks and with its sentences.

A project is the table, the question as it stands, and every run with its result, in one JSON file.
It is written whole or not at all after every change, so that a server which is killed loses the
running search alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from causalcontext import Knowledge, __version__, bins, read_file, threshold
from causalcontext.data.columns import number_text
from causalcontext.data.files import write_whole
from causalcontext.data.frames import pd
from causalcontext.data.indicators import Indicator
from causalcontext.errors import (
    CausalContextError,
    FileError,
    OptionError,
    check_are_columns,
    listed,
    shortly,
)
from causalcontext.options import ENTRIES, options_of
from causalcontext.timeseries.windows import allowed_links

OPTIONS = {name: entry for name, entry in ENTRIES.items() if entry.metadata["text"]}
"""The options that are a number, a text or a yes or no, by name."""
KEYS = ("drop", "kinds", "context", "options", "knowledge")


@dataclass(frozen=True)
class Question:
    """What one search is asked."""

    drop: tuple[str, ...]  # columns that are left out
    kinds: Mapping[str, str]  # what is said about columns, against their dtypes
    context: tuple[str | Indicator, ...]
    options: Mapping[str, Any]  # options of `discover` that are not as by default
    knowledge: Knowledge

    @classmethod
    def from_dict(cls, content: Any) -> Question:
        """The question that plain lists and mappings hold; anything else in them is refused with
        one sentence.
        """
        if not isinstance(content, dict) or not set(content) <= set(KEYS):
            raise OptionError(
                f"a question is {shortly(content)}, expected a mapping with {', '.join(KEYS)}"
            )
        kinds, options = (
            _checked(content, name, dict, "a mapping") for name in ("kinds", "options")
        )
        for name, value in options.items():
            names = (
                name == "keep"
                and isinstance(value, list)
                and all(isinstance(one, str) for one in value)
            )
            if name not in OPTIONS or not (names or isinstance(value, str | int | float | None)):
                raise OptionError(
                    f"{name} is {shortly(value)}, which is not an option of this page"
                )
        kept = {name: value for name, value in options.items() if value != OPTIONS[name].default}
        knowledge = Knowledge.from_dict(_checked(content, "knowledge", dict, "a mapping"))
        drop = tuple(_checked(content, "drop", list, "a list"))
        for one in drop:
            if not isinstance(one, str):
                raise OptionError(f"drop holds {shortly(one)}, expected the name of a column")
        context = tuple(map(_context, _checked(content, "context", list, "a list")))
        return cls(drop, kinds, context, kept, knowledge)

    def to_dict(self) -> dict[str, Any]:
        """The question as plain lists and mappings."""
        return {
            "drop": list(self.drop),
            "kinds": dict(self.kinds),
            "context": [_plain(one) for one in self.context],
            "options": dict(self.options),
            "knowledge": self.knowledge.to_dict(),
        }

    def check(self, names: Sequence[str]) -> None:
        """Return if the options go together and everything that is named is a column that is not
        left out.
        """
        options_of(self.arguments(), "discover")
        left = [name for name in names if name not in self.drop]
        contexts = [one.column if isinstance(one, Indicator) else one for one in self.context]
        taken = [self.options[name] for name in ("time", "units") if name in self.options]
        check_are_columns(self.drop, names)
        check_are_columns([*contexts, *taken, *self.kinds], left)
        variables = self.variables(names)
        if "lags" in self.options:
            allowed_links(self.knowledge, variables, self.options["lags"])
        else:
            self.knowledge.links(variables)

    def variables(self, names: Sequence[str]) -> list[str]:
        """The variables of the graphs: columns that are not left out, and contexts that are made
        out of one.
        """
        out = {*self.drop, self.options.get("time"), self.options.get("units")}
        made = [one.name for one in self.context if isinstance(one, Indicator)]
        return [name for name in names if name not in out] + made

    def arguments(self) -> dict[str, Any]:
        """The keywords of `discover`."""
        known = {"knowledge": self.knowledge} if self.knowledge.names else {}
        return {**self.options, **({"kinds": dict(self.kinds)} if self.kinds else {}), **known}

    def asked_context(self) -> Any:
        """The argument `context` of `discover`."""
        return (
            None
            if not self.context
            else self.context[0]
            if len(self.context) == 1
            else list(self.context)
        )

    def table(self, path: Path) -> pd.DataFrame:
        """The table of a file without the columns that are left out."""
        return self.of_frame(read_file(path))

    def of_frame(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A table without the columns that are left out."""
        return frame.loc[:, [str(name) not in self.drop for name in frame.columns]]

    def as_python(self, path: str, output: str) -> str:
        """A script that repeats the search on the file and saves its result."""
        lines = [f"# Made by causalcontext {__version__}.", "import causalcontext as cc", ""]
        lines.append(f"table = cc.read_file({path!r})")
        if self.drop:
            lines.append(f"table = table.drop(columns={list(self.drop)!r})")
        arguments = {
            name: repr(value) for name, value in self.arguments().items() if name != "knowledge"
        }
        if self.knowledge.names:
            lines.append(f"knowledge = cc.{self.knowledge!r}")
            arguments["knowledge"] = "knowledge"
        context = [_written(one, python=True) for one in self.context]
        if context:
            arguments = {
                "context": context[0] if len(context) == 1 else f"[{', '.join(context)}]"
            } | arguments
        lines += [
            "result = cc.discover(",
            "    table,",
            *(f"    {name}={text}," for name, text in arguments.items()),
        ]
        return "\n".join([*lines, ")", f"result.save({output!r})", "print(result)", ""])

    def as_command(self, path: str, output: str) -> str:
        """A script for a shell that repeats the search on the file and saves its result."""
        parts = [
            "causalcontext discover"
            f" {shlex.quote(path if not path.startswith('-') else f'./{path}')}"
        ]
        parts += [_option("context", _written(one)) for one in self.context]
        parts += [_option("drop", name) for name in self.drop]
        parts += [_option("kind", f"{name}={kind}") for name, kind in self.kinds.items()]
        for name, value in self.options.items():
            shown = (OPTIONS[name].metadata["name"] or name).replace("_", "-")
            truth = f"--{'' if value else 'no-'}{shown}"
            text = ",".join(value) if isinstance(value, list) else str(value)
            parts.append(truth if isinstance(value, bool) else _option(shown, text))
        before = ""
        if self.knowledge.names:
            file = f"{Path(output).stem}-knowledge.toml"
            before = (
                f"cat > {shlex.quote(file)} <<'END OF KNOWLEDGE'\n{self.knowledge.to_toml()}END OF"
                " KNOWLEDGE\n"
            )
            parts.append(_option("knowledge", file))
        return before + " \\\n  ".join([*parts, _option("json", output)]) + "\n"


def _context(one: Any) -> str | Indicator:
    """A column, or a step function of one."""
    if isinstance(one, str):
        return one
    if isinstance(one, dict) and isinstance(one.get("column"), str):
        if set(one) == {"column", "quantiles"}:
            return bins(one["column"], quantiles=one["quantiles"])
        if set(one) == {"column", "cuts"} and isinstance(one["cuts"], list):
            cuts = one["cuts"]
            return (
                threshold(one["column"], cuts[0]) if len(cuts) == 1 else bins(one["column"], cuts)
            )
    raise OptionError(
        f"context is {shortly(one)}, expected a column, or a column with cuts or quantiles"
    )


def _plain(one: str | Indicator) -> Any:
    if isinstance(one, str):
        return one
    return {"column": one.column} | (
        {"quantiles": one.quantiles} if one.quantiles else {"cuts": list(one.cuts)}
    )


def _written(one: str | Indicator, python: bool = False) -> str:
    """A context in Python, or on the command line."""
    if isinstance(one, str):
        return repr(one) if python else one
    if one.quantiles:
        return (
            f"cc.bins({one.column!r}, quantiles={one.quantiles})"
            if python
            else f"{one.column} bins {one.quantiles}"
        )
    if len(one.cuts) == 1:
        return (
            f"cc.threshold({one.column!r}, {one.cuts[0]!r})"
            if python
            else f"{one.column} > {one.cuts[0]!r}"
        )
    return (
        f"cc.bins({one.column!r}, {list(one.cuts)!r})"
        if python
        else f"{one.column} bins {','.join(repr(cut) for cut in one.cuts)}"
    )


def _option(name: str, value: str) -> str:
    return f"--{name}={shlex.quote(value)}"


def _checked(content: Mapping[str, Any], what: str, kind: type[Any], words: str) -> Any:
    value = content.get(what, kind())
    if not isinstance(value, kind):
        raise OptionError(f"{what} is {shortly(value)}, expected {words}")
    return value


def run_title(question: Question) -> str:
    """A run in a few words: its context, and what is not as by default."""
    names = [_written(one) for one in question.context]
    context = f"by {', '.join(names)}" if names else "one graph"
    chosen = {
        name: value for name, value in question.options.items() if name not in ("time", "units")
    }
    words = [
        (
            f"{value}"
            if name == "method"
            else f"{name} {number_text(value) if isinstance(value, float) else value}"
        )
        for name, value in chosen.items()
    ]
    # a link that is forbidden both ways is one statement, and so is the tier of a variable
    known = question.knowledge
    forbidden = {
        frozenset(link) if link[::-1] in known.forbidden else link for link in known.forbidden
    }
    others = (known.required, forbidden, known.roots, known.sinks, known.closed, *known.tiers)
    count = sum(map(len, others))
    words += [f"{count} statement{'' if count == 1 else 's'} known"] if count else []
    words += [f"without {listed(question.drop, 2)}"] if question.drop else []
    words += [f"{name} {kind}" for name, kind in list(question.kinds.items())[:2]]
    return "; ".join([context, *words])


FORMAT = "causalcontext-project"
FORMAT_VERSION = 1
ENDING = ".causalcontext.json"
STATES = ("running", "complete", "interrupted", "failed")


@dataclass
class Run:
    """One search: what was asked, and how it went; its result is a file."""

    number: int
    title: str
    question: dict[str, Any]
    state: str = "running"
    error: str = ""
    seconds: float = 0.0
    stability: str = ""


@dataclass
class Project:
    """The table and everything that was asked about it."""

    table: Path  # the file of the table
    name: str  # what it is called
    fingerprint: str  # a hash of its bytes
    question: Question  # as it stands on the page
    runs: list[Run] = field(default_factory=list)
    file: Path | None = None  # where it is kept; None for a table that was uploaded, or an example

    def text(self, results: Path) -> str:
        """The project as the text of a file, with the results that lie in a folder."""
        table = self.table.resolve()
        beside = self.file is None or table.parent == self.file.resolve().parent
        place = self.name if beside else str(table)
        runs = [asdict(run) for run in self.runs if run.state != "running"]
        head = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "table": {"path": place, "name": self.name, "fingerprint": self.fingerprint},
            "question": self.question.to_dict(),
            "runs": runs,
        }
        kept = [(run.number, result_file(results, run.number)) for run in self.runs]
        saved = [
            f'"{number}": {file.read_text(encoding="utf-8").strip()}'
            for number, file in kept
            if file.exists()
        ]
        return (
            f'{json.dumps(head, ensure_ascii=False, indent=1)[:-2]},\n "results":'
            f" {{{', '.join(saved)}}}\n}}\n"
        )

    def save(self, results: Path) -> None:
        """The file of the project, if it has one, holds what the project is now."""
        if self.file is not None:
            write_whole(self.file, self.text(results))


def result_file(folder: Path, number: int) -> Path:
    """The file of the result of a run."""
    return folder / f"run-{number}.json"


def fingerprint(path: Path) -> str:
    """A hash of the bytes of a file."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}") from error


def file_for(table: Path) -> Path:
    """The file of a new project: beside its table."""
    return table.with_name(f"{table.name}{ENDING}")


def open_project(file: Path, results: Path) -> Project:
    """The project of a file; its results are files in a folder afterwards."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"project file {str(file)!r} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"project file {str(file)!r} is not valid JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileError(f"file {str(file)!r} is not a project of causalcontext")
    if content.get("format_version") != FORMAT_VERSION:
        raise FileError(
            f"project file {str(file)!r} has format version {content.get('format_version')}, this"
            f" library reads {FORMAT_VERSION}"
        )
    try:
        return _made(content, file, results)
    except (AttributeError, CausalContextError, LookupError, TypeError, ValueError) as error:
        raise FileError(
            f"project file {str(file)!r} is damaged: {error or type(error).__name__}"
        ) from error


def _made(content: dict[str, Any], file: Path, results: Path) -> Project:
    table = content["table"]
    runs = [Run(**run) for run in content["runs"]]
    for run in runs:
        Question.from_dict(run.question)
        run.stability = ""  # was in a report, and no result has it
        if not isinstance(run.number, int) or run.number < 1 or run.state not in STATES:
            raise ValueError(f"a run has the number {run.number!r} and the state {run.state!r}")
        result = content["results"].get(str(run.number))
        if result is not None:
            write_whole(result_file(results, run.number), json.dumps(result))
    path = Path(os.path.join(file.resolve().parent, table["path"]))
    names = str(table["name"]), str(table["fingerprint"])
    return Project(path, *names, Question.from_dict(content["question"]), runs, file)
