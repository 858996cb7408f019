"""The records of a study in a file of JSON lines: appended job by job, so that a killed study loses one job at most."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from causalcontext.data.files import write_whole
from causalcontext.errors import FileError, is_whole
from causalcontext.study.designs import Design
from causalcontext.study.jobs import Record, runs_of
from causalcontext.study.tables import METRICS_OF
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
    """The records of every job that has all of its runs, in their order; a job with a damaged record runs again."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise FileError(f"cannot read the records file {str(path)!r}: {error.strerror}") from error
    if not lines:
        return
    _check_header(path, lines[0], design)
    jobs: dict[Job, list[Record]] = {}
    for line in lines[1:]:
        record = _parsed(line)
        if record is not None and _is_whole(record):
            jobs.setdefault(_job(record), []).append(record)
    expected = [("draw", "", ""), *(("run", kind, method) for kind, method in runs_of(design))]
    known = set(design.jobs())
    for job, records in jobs.items():
        if job in known and [_what(record) for record in records] == expected:
            yield records


def _check_header(path: Path, line: bytes, design: Design) -> None:
    found, expected = _parsed(line), json.loads(_line(_header(design)))
    if found is None or found.get("format") != FORMAT:
        raise FileError(f"file {str(path)!r} does not hold the records of a study")
    for key in ("version", "design"):
        if found.get(key) != expected[key]:
            raise FileError(f"records file {str(path)!r} was made with another {key}; choose another folder, or "
                            "remove the file to start again")  # fmt: skip


def _header(design: Design) -> dict[str, Any]:
    return {"format": FORMAT, "version": __version__, "design": design.to_dict()}


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def _parsed(line: bytes) -> Record | None:
    """A record, None for a line that was cut off or is no text."""
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _is_whole(record: Record) -> bool:
    """Whether a record has what the tables need, and numbers where they count."""
    if not is_whole(record.get("setting")) or not is_whole(record.get("repeat")):
        return False
    texts = [record.get(key, "") for key in ("kind", "knowledge", "method", "reason")]
    counts = [record.get(key, {}) for key in ("tests", "rejections")]
    if not all(isinstance(text, str) for text in texts) or not _is_number(record.get("seconds", 0.0)):
        return False
    if not all(isinstance(count, dict) and all(map(is_whole, count.values())) for count in counts):
        return False
    if counts[0] and set(counts[0]) != {"pooled", "within contexts"}:
        return False
    return texts[0] == "draw" or "reason" in record or _is_scored(record)


def _is_scored(record: Record) -> bool:
    """Whether a run has its metrics: of the union at least, or of ends where variables are hidden."""
    graphs = {graph: record[graph] for graph in METRICS_OF if graph in record}
    return bool({"union", "ancestral"} & set(graphs)) and all(
        isinstance(scores, dict)
        and set(scores) >= set(METRICS_OF[graph])
        and all(value is None or _is_number(value) for value in scores.values())
        for graph, scores in graphs.items()
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _job(record: Record) -> Job:
    return int(record["setting"]), int(record["repeat"])


def _what(record: Record) -> tuple[str, str, str]:
    return record.get("kind", ""), record.get("knowledge", ""), record.get("method", "")
