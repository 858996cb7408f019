"""A progress bar with the time left, for searches that take a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, int, int], None]
"""Called as `advance(size of the conditioning sets, pairs done, pairs in all)`; size -1 counts starts of a search."""


@contextmanager
def progress_bar(progress: bool | Advance) -> Iterator[Advance]:
    """A function to report progress to: the caller's own, a bar on the terminal, or one that does nothing."""
    if callable(progress):
        yield progress
    elif progress:
        with _terminal_bar() as advance:
            yield advance
    else:
        yield lambda size, done, total: None


@contextmanager
def _terminal_bar() -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[int, object] = {}

        def advance(size: int, done: int, total: int) -> None:
            if size not in tasks:
                tasks[size] = bar.add_task(_described(size), total=total)
            bar.update(tasks[size], completed=done, total=total)  # type: ignore[arg-type]

        yield advance


def _described(size: int) -> str:
    if size < 0:
        return "random starts"
    return f"pairs given {size} variable{'' if size == 1 else 's'}"
