"""One search in a process of its own: `python -m causalcontext_app.worker`, a task on stdin, lines
of JSON on stdout.

SIGINT ends it with what is known; where the process that started it is gone, it ends as well.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from causalcontext import discover
from causalcontext.errors import CausalContextError, InterruptedSearch
from causalcontext.progress import Watch, described, duration
from causalcontext.report.advice import in_the_app
from causalcontext.report.html import write_report
from causalcontext_app.question import Question

if TYPE_CHECKING:
    from causalcontext import ContextGraphs

SECONDS_BETWEEN_LINES = 0.2


class Lines:
    """Messages to the process that started this one, a line of JSON each; those on progress are not
    too many.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._last = 0.0

    def say(self, **message: Any) -> None:
        """The message is on its way."""
        self._stream.write(json.dumps(message) + "\n")
        self._stream.flush()

    def progress(self, words: str, share: float, left: str = "") -> None:
        """The message is on its way, unless the last one was just sent."""
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self.say(words=words, share=round(share, 4), left=left)

    def watch(self) -> Watch:
        """What a search tells its progress to."""

        def show(phase: int, share: float, left: float | None) -> None:
            self.progress(
                described(phase), share, "" if left is None else f"about {duration(left)} left"
            )

        def tell(size: int, done: int, total: int) -> None:
            self.progress(described(size), done / max(total, 1), f"{done:,} of {total:,}")

        return Watch(tell, show=show)


class LinesOfLog(logging.Handler):
    """Shows what the library logs, such as that it compiles, as progress."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """The message is on its way."""
        self._lines.say(words=record.getMessage(), share=0.0, left="")


def run(task: dict[str, Any], lines: Lines) -> None:
    """The files that the task names are written, and the last line says how it went."""
    try:
        question = Question.from_dict(task["question"])
        lines.say(words="reading the table", share=0.0, left="")
        table = question.table(Path(task["table"]))
        lines.say(words="searching", share=0.0, left="")
        result = discover(
            table, question.asked_context(), progress=lines.watch(), **question.arguments()
        )
    except InterruptedSearch as stop:
        if task.get("samples"):  # the result of the run is complete, and stays
            lines.say(error="cancelled")
            return
        _write(stop.result, task)
        lines.say(done="interrupted")
    except KeyboardInterrupt:
        lines.say(error="cancelled before anything was known")
    except CausalContextError as error:
        lines.say(error=in_the_app(str(error)))
    except MemoryError:
        lines.say(
            error=(
                "the search needs more memory than there is; leave out columns, or pass a smaller"
                " max_given"
            )
        )
    else:
        _finish(result, task, lines)


def _finish(result: ContextGraphs, task: dict[str, Any], lines: Lines) -> None:
    """The result is written, with its stability where that is asked for; a late SIGINT changes
    nothing.
    """
    samples = task.get("samples", 0)
    if not samples:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        lines.say(words="writing the report", share=1.0, left="")
        _write(result, task)
        lines.say(done="complete")
        return
    try:
        stable = result.stability(
            samples,
            progress=lambda done, total: lines.progress(
                "bootstrap samples", done / total, f"{done} of {total}"
            ),
        )
        write_report(
            result,
            task["report"],
            title=task["title"],
            stability=stable,
            spoken=in_the_app,
        )
        lines.say(done="complete")
    except KeyboardInterrupt:
        lines.say(error="cancelled")
    except CausalContextError as error:
        lines.say(error=in_the_app(str(error)))


def _write(result: ContextGraphs, task: dict[str, Any]) -> None:
    write_report(result, task["report"], title=task["title"], diagnose=True, spoken=in_the_app)
    result.save(task["result"])


def _end_with_parent(stream: IO[str]) -> None:
    """Leave when stdin ends: the process that started this one is gone."""
    stream.read()
    os._exit(1)


def main() -> None:
    """Read a task, search, and tell."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    stream = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may print among the lines
    lines = Lines(stream)
    logging.getLogger("causalcontext").addHandler(LinesOfLog(lines))
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, args=(sys.stdin,), daemon=True).start()
    run(task, lines)
    stream.flush()
    os._exit(0)  # the thread that waits for stdin would hold its lock


if __name__ == "__main__":
    main()
