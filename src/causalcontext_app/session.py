"""What the server holds: one table, the project, the running searches; every method is one thing
the page can ask.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causalcontext import load, read_file
from causalcontext.ci_tests.registry import TESTS
from causalcontext.data.columns import Kind
from causalcontext.data.files import check_writable
from causalcontext.data.frames import pd
from causalcontext.data.streams import is_out_of_memory
from causalcontext.data.table_files import DELIMITERS, PARQUET
from causalcontext.errors import FileError, OptionError
from causalcontext.examples import land_surface, soil_moisture
from causalcontext.graphs.endpoints import as_written, mark_of
from causalcontext.methods.registry import METHODS, TEXTS, owners
from causalcontext.options import group_of
from causalcontext.report.advice import in_the_app
from causalcontext.report.html import page
from causalcontext.results.words import context_words
from causalcontext_app.columns import checked, described_columns
from causalcontext_app.jobs import Job
from causalcontext_app.question import (
    OPTIONS,
    Project,
    Question,
    Run,
    file_for,
    fingerprint,
    open_project,
    result_file,
    run_title,
)

if TYPE_CHECKING:
    from causalcontext import ContextGraphs, Graph

LARGEST_UPLOAD = 256 * 2**20
"""Bytes of an upload; `discover` reads larger files in batches."""
SAMPLES = 100
"""Bootstrap samples of a look at stability."""
EXAMPLES = {
    "soil-moisture": lambda: soil_moisture(2000, seed=1),
    "land-surface": lambda: land_surface(1500, seed=1),
}
PICTURES = {"svg": "image/svg+xml", "png": "image/png"}


class Session:
    """One table, or the file of a project, and what is asked about it; a project is kept beside its
    table.
    """

    def __init__(self, file: Path | None = None, project: Path | None = None) -> None:
        # for this user alone: mode 0700
        self.folder = Path(tempfile.mkdtemp(prefix="causalcontext-"))
        self._lock = threading.RLock()
        self._jobs = dict[int, Job]()
        self._frame: pd.DataFrame | None = None
        self._columns: list[dict[str, Any]] = []
        self._project: Project | None = None
        self._kept_at = project
        self.notices: list[str] = []
        try:
            if file is not None or project is not None:
                self._open(file or Path(project or ""))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """All searches are ended, and the private folder is gone."""
        for job in list(self._jobs.values()):
            job.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def project(self) -> Project:
        """The project; without a table one sentence says that there is none."""
        if self._project is None:
            raise OptionError("no table is open; open one first")
        return self._project

    @property
    def kept(self) -> Path | None:
        """Where the project is kept."""
        return None if self._project is None else self._project.file

    def _open(self, file: Path) -> None:
        if file.name.endswith(".json"):
            self._load(open_project(file, self.folder))
            return
        kept = self._kept_at or file_for(file)
        if kept.exists():
            known = open_project(kept, self.folder)
            if known.table.resolve() == file.resolve():
                self._load(known)
                self.notices.append(
                    f"your work was restored, with {len(known.runs)}"
                    f" run{'s' * (len(known.runs) != 1)}"
                )
                return
            raise FileError(
                f"{kept} is the project of another table, {known.table}; pass --project with a new"
                " file"
            )
        self._begin(file, file.name, kept if self._kept_at or _is_writable(kept) else None)

    def _begin(self, table: Path, name: str, kept: Path | None) -> None:
        """A new project on a table; the old one, if any, is left as it is in its file."""
        frame, columns = self._read(table)
        for job in list(self._jobs.values()):
            job.kill()
        self._jobs.clear()
        for old in self.folder.glob("run-*"):
            old.unlink()
        refused = [
            column["name"] for column in columns if not (column["usable"] or column["left_out"])
        ]
        question = Question.from_dict({"drop": refused})
        self._frame = frame
        self._columns = columns
        self.notices = []
        self._project = Project(table, name, fingerprint(table), question, file=kept)
        self.project.save(self.folder)

    def _load(self, project: Project) -> None:
        (self._frame, self._columns), found = self._read(project.table), fingerprint(project.table)
        if found != project.fingerprint:
            self.notices.append(
                f"{project.name} has changed since the project was made: earlier runs are about the"
                " table as it was"
            )
            project.fingerprint = found
        self._project = project

    def _read(self, table: Path) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
        if table.is_file() and is_out_of_memory(table):
            raise FileError(
                f"{table} has {table.stat().st_size / 2**20:,.0f} MB, and the app reads tables of"
                " up to 256 MB; causalcontext discover reads larger ones in batches"
            )
        frame = read_file(table)
        frame.columns = frame.columns.astype(str)
        return frame, described_columns(frame)

    def upload_place(self, name: str) -> Path:
        """A new file in the private folder for a table of this name, of which the ending alone
        matters.
        """
        endings = (*DELIMITERS, PARQUET)
        ending = next((ending for ending in endings if name.lower().endswith(ending)), None)
        if ending is None:
            raise FileError(
                f"cannot read {name}: its name must end with one of {', '.join(endings)}"
            )
        return Path(tempfile.mkdtemp(dir=self.folder)) / f"table{ending}"

    def uploaded(self, table: Path, name: str) -> dict[str, Any]:
        """The file that was uploaded is the table; its project is in no file, since the table will
        not stay.
        """
        shown = re.split(r"[/\\]", name)[-1]
        with self._lock:
            try:
                self._begin(table, shown, None)
            except FileError as error:
                raise FileError(str(error).replace(str(table), shown)) from error
            return self.state()

    def example(self, name: str) -> dict[str, Any]:
        """A table that ships with the library is the table."""
        if name not in EXAMPLES:
            raise OptionError(f"there is no example {name!r}")
        place = self.upload_place(f"{name}.csv")
        EXAMPLES[name]().to_csv(place, index=False)
        return self.uploaded(place, f"{name}.csv")

    def state(self) -> dict[str, Any]:
        """Everything but the columns."""
        with self._lock:
            options = [
                {
                    "name": name,
                    "default": entry.default,
                    "shown": entry.metadata["shown"],
                    "text": entry.metadata["text"],
                    "group": group_of(name),
                    "methods": owners(name) or None,  # None: every method understands it
                }
                for name, entry in OPTIONS.items()
            ]
            common = {
                "methods": [
                    {"name": name, "text": TEXTS.get(name, "")}
                    for name in sorted(METHODS, key=lambda name: name != "auto")
                ],
                "kinds": [kind.value for kind in Kind],
                "tests": ["auto", *TESTS],
                "options": options,
                "examples": list(EXAMPLES),
            }
            if self._project is None or self._frame is None:
                return common | {"table": None, "runs": []}
            kept = None if self.kept is None else str(self.kept)
            table = {
                "name": self.project.name,
                "rows": len(self._frame),
                "kept": kept,
                "notices": self.notices,
            }
            return common | {"table": table, "runs": self.runs()} | self._asked()

    def _asked(self) -> dict[str, Any]:
        """The question as it stands, and the variables that knowledge can be about."""
        question = self.project.question
        kept = question.options.get("keep") or ()
        names = [
            column["name"]
            for column in self._columns
            if not column["left_out"] or column["name"] in kept
        ]
        return {"question": question.to_dict(), "variables": question.variables(names)}

    def columns(self) -> list[dict[str, Any]]:
        """Every column of the table."""
        return self._columns

    def ask(self, content: Any) -> dict[str, Any]:
        """The question is that of the page, if it contradicts nothing; else one sentence says what,
        and it stays.
        """
        question = Question.from_dict(content)
        with self._lock:
            question.check([column["name"] for column in self._columns])
            self.project.question = question
            self.project.save(self.folder)
            return self._asked()

    def check(self, content: Any) -> dict[str, Any]:
        """What `check` says about a question."""
        if self._frame is None:
            raise OptionError("no table is open; open one first")
        return checked(self._frame, Question.from_dict(content))

    def runs(self) -> list[dict[str, Any]]:
        """Every run in short."""
        with self._lock:
            return [
                self._short(run) for run in ([] if self._project is None else self.project.runs)
            ]

    def _short(self, run: Run) -> dict[str, Any]:
        job = self._jobs.get(run.number)
        found = {
            "number": run.number,
            "title": run.title,
            "state": run.state,
            "error": run.error,
            "seconds": round(job.seconds if job and run.state == "running" else run.seconds, 1),
            "stability": run.stability,
            "question": run.question,
        }
        return (
            found if job is None else found | {"progress": job.progress, "cancelled": job.cancelled}
        )

    def start(self, content: Any) -> dict[str, Any]:
        """A search of the question begins."""
        with self._lock:
            question = self.ask(content)["question"]
            number = max((run.number for run in self.project.runs), default=0) + 1
            run = Run(number, run_title(self.project.question), question)
            self.project.runs.append(run)
            self._jobs[number] = Job(self._task(run), lambda message: self._ended(run, message))
            return self._short(run)

    def _task(self, run: Run) -> dict[str, Any]:
        return {
            "table": str(self.project.table.resolve()),
            "question": run.question,
            "title": self._title(run),
            "result": str(result_file(self.folder, run.number)),
            "report": str(self._report_file(run.number)),
        }

    def _title(self, run: Run) -> str:
        return f"{self.project.name}, run {run.number}"

    def _report_file(self, number: int) -> Path:
        return self.folder / f"run-{number}.html"

    def _ended(self, run: Run, message: dict[str, Any]) -> None:
        """A search has ended: the run says how, and the project is saved; one that was removed is
        forgotten.
        """
        with self._lock:
            if not any(one is run for one in self.project.runs):
                return
            job = self._jobs.pop(run.number, None)
            run.seconds = 0.0 if job is None else job.seconds
            run.state = message.get("done", "failed")
            run.error = message.get("error", "")
            self.project.save(self.folder)

    def run(self, number: int) -> Run:
        """A run by its number."""
        found = next((run for run in self.project.runs if run.number == number), None)
        if found is None:
            raise OptionError(f"there is no run {number}")
        return found

    def cancel(self, number: int) -> dict[str, Any]:
        """The search of a run, or the look at its stability, ends soon."""
        with self._lock:
            run = self.run(number)
            job = self._jobs.get(number)
            if job is not None:
                job.cancel()
            return self._short(run)

    def wait(self, number: int, seconds: float | None = None) -> None:
        """Return when the search of a run has ended."""
        job = self._jobs.get(number)
        if job is not None:
            job.wait(seconds)

    def remove(self, number: int) -> list[dict[str, Any]]:
        """The run is gone, and its files with it."""
        with self._lock:
            run = self.run(number)
            job = self._jobs.pop(number, None)
            if job is not None:
                job.kill()
            self.project.runs.remove(run)
            for file in (result_file(self.folder, number), self._report_file(number)):
                file.unlink(missing_ok=True)
            self.project.save(self.folder)
            return self.runs()

    def look_at_stability(self, number: int) -> dict[str, Any]:
        """A look at the stability of a run begins; its report says more afterwards."""
        with self._lock:
            run = self.run(number)
            if number in self._jobs or run.state != "complete":
                raise OptionError(
                    f"run {number} is {run.state}; stability needs a run that is complete and idle"
                )
            run.stability = "running"

            def ended(message: dict[str, Any]) -> None:
                with self._lock:
                    if any(one is run for one in self.project.runs):
                        self._jobs.pop(number, None)
                        run.stability = message.get("error", "done")

            self._jobs[number] = Job(self._task(run) | {"samples": SAMPLES}, ended)
            return self._short(run)

    def result(self, number: int) -> ContextGraphs:
        """The result of a run."""
        run = self.run(number)
        file = result_file(self.folder, number)
        if not file.exists():
            raise OptionError(f"run {number} has no result: {run.error or 'it is still running'}")
        return load(file)

    def report(self, number: int) -> str:
        """The page about a run."""
        file = self._report_file(number)
        if not file.exists():
            file.write_text(
                page(self.result(number), self._title(self.run(number)), spoken=in_the_app),
                encoding="utf-8",
            )
        return file.read_text(encoding="utf-8")

    def names(self, number: int) -> list[str]:
        """The variables of the graphs of a run, by place, as knowledge names them."""
        return list(self.result(number).names)

    def compare(self, first: int, second: int) -> dict[str, Any]:
        """What the second run has in place of the first."""
        return compared(self.result(first), self.result(second))

    def scripts(self, number: int) -> dict[str, str]:
        """A run as Python, as a command, and its knowledge as TOML."""
        run = self.run(number)
        question = Question.from_dict(run.question)
        output = f"run-{number}.json"
        path = (
            self.project.name
            if self.folder in self.project.table.parents
            else str(self.project.table.resolve())
        )
        return {
            "python": question.as_python(path, output),
            "command": question.as_command(path, output),
            "toml": question.knowledge.to_toml(),
        }

    def download(self, number: int, what: str) -> tuple[str | bytes, str, str]:
        """What can be taken away of a run: content, type and the name of a file."""
        name = f"run-{number}"
        if what in PICTURES:
            return self._picture(number, what), PICTURES[what], f"{name}.{what}"
        if what == "json":
            self.result(number)
            return (
                result_file(self.folder, number).read_text(encoding="utf-8"),
                "application/json",
                f"{name}.json",
            )
        if what == "html":
            return self.report(number), "text/html", f"{name}.html"
        endings = {"python": "py", "command": "sh", "toml": "toml"}
        if what not in endings:
            raise OptionError(f"there is no download {what!r}")
        return (
            self.scripts(number)[what],
            "text/plain",
            f"{name}{'-knowledge' * (what == 'toml')}.{endings[what]}",
        )

    def _picture(self, number: int, ending: str) -> bytes:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        place = self.folder / f"run-{number}.{ending}"
        with self._lock:  # pyplot is for one thread at a time
            self.result(number).plot(path=place)
            pyplot.close("all")
        return place.read_bytes()

    def project_text(self) -> str:
        """The file of the project, to take away."""
        with self._lock:
            return self.project.text(self.folder)


def _is_writable(file: Path) -> bool:
    try:
        check_writable(file)
    except FileError:
        return False
    return True


def compared(first: ContextGraphs, second: ContextGraphs) -> dict[str, Any]:
    """What the second result has in place of the first, for every context; for the unions, if these
    differ in number.

    Contexts are compared by their values; those of a threshold that was moved, in their order.
    """
    # A context that is made out of a column has its threshold in its name.
    alone = (set(first.names) ^ set(second.names)) - {*first.made_of, *second.made_of}
    notes = [
        f"{name} is in only one of the two runs"
        for name in (*first.names, *second.names)
        if name in alone
    ]
    panels: list[tuple[str, Graph, Graph]]
    if set(first.contexts) == set(second.contexts):
        panels = [
            (_title(first, value), first.graphs[value], second.graphs[value])
            for value in first.contexts
        ]
    elif len(first.contexts) == len(second.contexts):
        both = zip(first.contexts, second.contexts, strict=True)
        panels = [
            (f"{_title(first, a)}, then {_title(second, b)}", first.graphs[a], second.graphs[b])
            for a, b in both
        ]
    else:
        notes.append("the runs have different contexts; their unions are compared")
        panels = [("union of all contexts", first.union, second.union)]
    return {
        "notes": notes,
        "panels": [{"title": title, **_differences(a, b)} for title, a, b in panels],
    }


def _title(result: ContextGraphs, value: Any) -> str:
    return (
        "all rows"
        if result.context is None
        else context_words(result.context, value, result.settings.indicator)
    )


def _differences(first: Graph, second: Graph) -> dict[str, Any]:
    names = [name for name in first.names if name in second.names]
    found: dict[str, Any] = {"appeared": [], "vanished": [], "turned": [], "same": 0}
    for place, x in enumerate(names):
        for y in names[place + 1 :]:
            before = _edge(first, x, y)
            after = _edge(second, x, y)
            if before == after:
                found["same"] += bool(before)
            elif not before or not after:
                found["vanished" if before else "appeared"].append(before or after)
            else:
                found["turned"].append([before, after])
    return found


def _edge(graph: Graph, x: str, y: str) -> str:
    """The edge between two variables as text, its arrow to the right; empty if there is none."""
    if not graph.mark(x, y):
        return ""
    a, b = as_written(graph.endpoints, graph.position(x), graph.position(y))
    return f"{graph.names[a]} {mark_of(graph.endpoints, a, b)} {graph.names[b]}"
