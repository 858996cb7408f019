"""The records of a study in a file of JSON lines: appended job by job, so that a killed study loses one job at most."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from causalcontext.data.files import write_whole
from causalcontext.errors import FileError
from causalcontext.study.designs import Design
from causalcontext.study.jobs import Record, runs_of
from causalcontext.version import __version__

FORMAT = "causalcontext-study"
Job = tuple[int, int]


def open_records(path: str | Path, design: Design) -> tuple[set[Job], TextIO]:
    """The jobs that a file holds in full, and the file, open for more.

    What a kill has left half-written is dropped first. A file of another design or another version of this library is
    refused: its records could not be told apart from new ones.
    """
    path = Path(path)
    kept = list(_complete_jobs(path, design)) if path.exists() else []
    lines = [_line(_header(design)), *(_line(record) for records in kept for record in records)]
    write_whole(path, "".join(lines))
    return {_job(records[0]) for records in kept}, path.open("a", encoding="utf-8")


def append_records(file: TextIO, records: Iterable[Record]) -> None:
    """The records of one job are in the file, in one write."""
    file.write("".join(_line(record) for record in records))
    file.flush()


def read_records(path: str | Path, design: Design) -> list[Record]:
    """All records of complete jobs, in the order of the design, whatever order they were made in."""
    path = Path(path)
    if not path.exists():
        raise FileError(f"records file {str(path)!r} does not exist; run the study first")
    jobs = {_job(records[0]): records for records in _complete_jobs(path, design)}
    return [record for job in design.jobs() if job in jobs for record in jobs[job]]


def _complete_jobs(path: Path, design: Design) -> Iterator[list[Record]]:
    """The records of every job that has all of its runs, in their order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines:
        return
    _check_header(path, lines[0], design)
    jobs: dict[Job, list[Record]] = {}
    for line in lines[1:]:
        record = _parsed(line)
        if record is not None:
            jobs.setdefault(_job(record), []).append(record)
    expected = [("draw", "", ""), *(("run", kind, method) for kind, method in runs_of(design))]
    known = set(design.jobs())
    for job, records in jobs.items():
        if job in known and [_what(record) for record in records] == expected:
            yield records


def _check_header(path: Path, line: str, design: Design) -> None:
    found, expected = _parsed(line), json.loads(_line(_header(design)))
    if found is None or found.get("format") != FORMAT:
        raise FileError(f"file {str(path)!r} does not hold the records of a study")
    for key in ("version", "design"):
        if found[key] != expected[key]:
            raise FileError(f"records file {str(path)!r} was made with another {key}; choose another folder, or "
                            "remove the file to start again")  # fmt: skip


def _header(design: Design) -> dict[str, Any]:
    return {"format": FORMAT, "version": __version__, "design": design.to_dict()}


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def _parsed(line: str) -> Record | None:
    """A record, None for a line that was cut off."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError:
        return None
    return record if isinstance(record, dict) else None


def _job(record: Record) -> Job:
    return int(record["setting"]), int(record["repeat"])


def _what(record: Record) -> tuple[str, str, str]:
    return record["kind"], record.get("knowledge", ""), record.get("method", "")
