"""A project: the table, the question as it stands, and every run with its result, in one JSON file.

It is written whole or not at all after every change, so that a server which is killed loses the running search alone.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from causalcontext.app.question import Question
from causalcontext.data.files import write_whole
from causalcontext.errors import CausalContextError, FileError

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
        head = {"format": FORMAT, "format_version": FORMAT_VERSION,
                "table": {"path": place, "name": self.name, "fingerprint": self.fingerprint},
                "question": self.question.to_dict(), "runs": runs}  # fmt: skip
        kept = [(run.number, result_file(results, run.number)) for run in self.runs]
        saved = [f'"{number}": {file.read_text(encoding="utf-8").strip()}' for number, file in kept if file.exists()]
        return f'{json.dumps(head, ensure_ascii=False, indent=1)[:-2]},\n "results": {{{", ".join(saved)}}}\n}}\n'

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
        raise FileError(f"project file {str(file)!r} has format version {content.get('format_version')}, this library "
                        f"reads {FORMAT_VERSION}")  # fmt: skip
    try:
        return _made(content, file, results)
    except (AttributeError, CausalContextError, LookupError, TypeError, ValueError) as error:
        raise FileError(f"project file {str(file)!r} is damaged: {error or type(error).__name__}") from error


def _made(content: dict[str, Any], file: Path, results: Path) -> Project:
    table, runs = content["table"], [Run(**run) for run in content["runs"]]
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
