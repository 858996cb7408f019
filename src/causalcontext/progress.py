"""A progress bar with the time left, for searches that take a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from causalcontext.errors import OptionError, shortly

Advance = Callable[[int, int, int], None]
"""Called as `advance(size of the conditioning sets, pairs done, pairs in all)`; size -1 counts starts of a search."""

Count = Callable[[int, int], None]
"""Called as `count(done, in all)`."""


@contextmanager
def progress_bar(progress: bool | Advance) -> Iterator[Advance]:
    """A function to report progress to: the caller's own, a bar on the terminal, or one that does nothing."""
    if callable(progress):
        yield progress
    elif not isinstance(progress, bool):
        raise OptionError(f"progress is {shortly(progress)}, expected True, False or a function of three numbers")
    elif progress:
        with _terminal_bar() as advance:
            yield advance
    else:
        yield lambda size, done, total: None


@contextmanager
def _terminal_bar() -> Iterator[Advance]:
    with _bar() as bar:
        tasks: dict[int, Any] = {}

        def advance(size: int, done: int, total: int) -> None:
            if size not in tasks:
                tasks[size] = bar.add_task(_described(size), total=total)
            bar.update(tasks[size], completed=done, total=total)

        yield advance


@contextmanager
def counting_bar(what: str, progress: bool | Count) -> Iterator[Count]:
    """A function to report a count to: the caller's own, a bar on the terminal, or one that does nothing."""
    if callable(progress) or not progress:
        yield progress if callable(progress) else lambda done, total: None
        return
    with _bar() as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _bar() -> Any:
    """A bar on stderr with the time left, which disappears when it is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _described(size: int) -> str:
    if size < 0:
        return "random starts"
    return f"pairs given {size} variable{'' if size == 1 else 's'}"
