"""The time that a search may take and will take, and a bar that shows it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import EnumType
from typing import TYPE_CHECKING

from causalcontext.errors import OptionError, shortly
from causalcontext.settings import LONG_SEARCH, NEW_VOTES, QUERIES_KEPT, QUICK_SEARCH, SETTLED_SHARE

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

Advance = Callable[[int, int, int], None]
"""Called as `advance(size of the conditioning sets, pairs done, pairs in all)`; other phases have
negative sizes.
"""
STARTS = -1
COLLIDERS = -2
"""The size in place of the size of sets: random starts of a search; votes on colliders."""

Count = Callable[[int, int], None]
"""Called as `count(done, in all)`."""
logger = logging.getLogger("causalcontext")


class OutOfTime(KeyboardInterrupt):
    """The time limit is over. To the parts of a search it is what Ctrl-C is: they hand back what
    they have.
    """


class ArrayEnumType(EnumType):
    """The type of enums whose members meet arrays, without losing Ctrl-C.

    numpy asks a member for attributes that it does not have, and takes any exception for a no. In
    Python 3.11 an enum answers by Python code, in which Ctrl-C may be raised, and would be lost;
    here it answers without any.
    """

    __getattr__ = type.__getattribute__


class Watch:
    """Keeps the time limit of a search, estimates the time left, and reports progress.

    After `limit` seconds the search is stopped by `OutOfTime`. `show` is called with the phase, the
    share of the work that is done and the seconds left (None: not known yet), `say` once with a
    forecast, if the search will take long.
    """

    def __init__(
        self,
        tell: Advance,
        limit: float | None = None,
        show: Callable[[int, float, float | None], None] | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.limit = limit
        self.over = False
        self.queries = 0
        self._tell = tell
        self._show = show
        self._say = say
        self._begin = self._phase_begin = time.perf_counter()
        self._phase = 0
        self._done = 0.0
        self._seconds = 0.0
        self._expected: dict[int, float] = {}
        self._kept = QUERIES_KEPT
        self._forecast = False

    def __call__(self, size: int, done: int, total: int) -> None:
        """Report that so many pairs of a phase are done, of so many in all; stop the search where
        its time is over.

        A new `size` begins a new phase. Random starts of a search over orders are passed on alone:
        that search keeps its limit itself.
        """
        self._tell(size, done, total)
        if size == STARTS:
            return  # a search over orders keeps its limit itself
        if size != self._phase:
            self._enter(size)
        self._look(done / max(total, 1))

    def answered(self, queries: int) -> None:
        """Report that so many queries are answered: the time left is reckoned by these."""
        self.queries += queries
        self._done += queries
        self._look()

    def expect(self, phase: int, queries: Mapping[int, float]) -> None:
        """A phase begins; `queries` says about how many it has, and every later one.

        The share of the queries that were expected for this phase and are still there corrects what
        is expected of later ones. The forecast is said once, from the second phase on, as soon as
        it is known that the search takes long.
        """
        if phase != self._phase:
            self._enter(phase)
        if phase > 0 and self._expected.get(phase):
            self._kept = min(queries.get(phase, 0.0) / self._expected[phase], 1.0)
        self._expected = dict(queries)
        seconds = self._seconds_per_query()
        sizes = [size for size in self._expected if size >= 0]
        if self._forecast or seconds is None or self._phase < 2 or not sizes:
            return
        text = forecast(self.likely(), seconds)
        if text:  # one line, as soon as it is known that the search takes long
            self._forecast = True
            logger.info(text)
            if self._say is not None:
                self._say(text)

    def check(self) -> None:
        """Stop the search where its time is over."""
        if self.limit is not None and self.elapsed > self.limit:
            self.over = True
            raise OutOfTime

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._begin

    def left(self) -> float | None:
        """The seconds that are left, about; None where nothing is known.

        They are the time of a query in this phase, or in the last one, times the queries that are
        likely to come.
        """
        seconds = self._seconds_per_query()
        if seconds is None or not self._expected:
            return None
        likely = self.likely()
        here = max(likely.pop(self._phase, 0.0) - self._done, 0.0)
        return seconds * (here + sum(likely.values()))

    def likely(self) -> dict[int, float]:
        """The queries that are expected, less those that will not be there any more when it comes
        to them.

        With κ the share that the last level left over, level s + k has κ^(3k) of the queries that
        were counted for it. Votes on colliders are counted once per set, less those that were asked
        before (`NEW_VOTES`).
        """
        # What is counted for later levels supposes that no more edges are removed. The share that
        # the last level left over says how far that is from the truth; the other numbers were read
        # off random models of 8 to 12 variables.
        queries = dict(self._expected)
        for size in [size for size in queries if size > self._phase >= 0]:
            queries[size] *= self._kept ** (3 * (size - self._phase))
        if COLLIDERS in queries:
            few = SETTLED_SHARE * queries[COLLIDERS]
            settled = self._phase == COLLIDERS or queries.get(self._phase, 0.0) < few
            queries[COLLIDERS] *= NEW_VOTES * (1.0 if settled else self._kept)
        return queries

    def _enter(self, phase: int) -> None:
        """A new phase begins; what a query took in the last one is kept."""
        self._seconds = self._seconds_per_query() or 0.0
        self._phase = phase
        self._phase_begin = time.perf_counter()
        self._done = 0.0

    def _seconds_per_query(self) -> float | None:
        """The seconds that a query takes: in this phase, once there are some; before that in the
        last one.
        """
        spent = time.perf_counter() - self._phase_begin
        if self._done >= 1.0 and (spent > 0.2 or not self._seconds):
            return spent / self._done
        return self._seconds or None

    def _look(self, share: float = 0.0) -> None:
        """Show where the search is (the share of its time, else of the pairs), and stop it where
        its time is over.
        """
        if self._show is not None:
            left = self.left()
            if left is not None:
                share = self.elapsed / max(self.elapsed + left, 1e-9)
            self._show(self._phase, share, left)
        self.check()


def forecast(queries: Mapping[int, float], seconds: float) -> str:
    """The forecast in words, from the queries of every phase and the `seconds` of one; empty where
    the search is short.

    >>> forecast({2: 2000, 3: 8000, 4: 30000}, 0.01)
    'about 40,000 tests, some 7 minutes; with max_given=2 some 20 s'
    >>> forecast({2: 2000}, 0.001)
    ''
    """
    total = sum(queries.values())
    if seconds * total < LONG_SEARCH:
        return ""
    text = f"about {float(f'{total:.2g}'):,.0f} tests, some {duration(seconds * total)}"
    sizes = sorted(size for size in queries if size >= 0)
    upto = {size: seconds * sum(queries[s] for s in sizes if s <= size) for size in sizes[:-1]}
    bound = min(QUICK_SEARCH, seconds * total / 2)
    quick = [size for size, needed in upto.items() if needed < bound]
    if not quick:
        return text
    return f"{text}; with max_given={quick[-1]} some {duration(upto[quick[-1]])}"


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(34.2), duration(400.0), duration(9000.0)
    ('34 s', '7 minutes', '2.5 hours')
    """
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} minutes" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} hours"


@contextmanager
def watching(progress: bool | Advance, limit: float | None = None) -> Iterator[Watch]:
    """A watch that tells the caller's own function, shows a bar on the terminal, or does neither.

    There is one bar for the whole search. A watch that the caller hands over is used as it is, with
    the limit of this search.
    """
    # One bar is for the whole search: the phase, the share that is done, the time left. The caller
    # may also hand over a watch.
    if isinstance(progress, Watch):
        progress.limit = limit
        yield progress
        return
    if not callable(progress) and not isinstance(progress, bool):
        raise OptionError(
            f"progress is {shortly(progress)}, expected True, False or a function of three numbers"
        )
    if progress is not True:
        yield Watch(progress if callable(progress) else nobody, limit)
        return
    with bar("{task.fields[left]}") as shown:
        task = shown.add_task("search", total=1.0, left="")

        def show(phase: int, share: float, left: float | None) -> None:
            """The bar with a phase, its share and the time that is left."""
            words = "" if left is None else f"about {duration(left)} left"
            shown.update(task, description=described(phase), completed=share, left=words)

        def tell(size: int, done: int, total: int) -> None:
            """The bar during random starts, which are counted instead of forecast."""
            if size == STARTS:
                share = done / max(total, 1)
                words = f"{done}/{total}"
                shown.update(task, description=described(size), completed=share, left=words)

        yield Watch(tell, limit, show, lambda text: shown.console.print(text, highlight=False))


def nobody(size: int, done: int, total: int) -> None:
    """Told everything, does nothing."""


@contextmanager
def counting_bar(what: str, progress: bool | Count) -> Iterator[Count]:
    """A function to report a count to: the caller's own, a bar on the terminal, or one that does
    nothing.
    """
    if callable(progress) or not progress:
        yield progress if callable(progress) else lambda done, total: None
        return
    from rich.progress import MofNCompleteColumn, TimeRemainingColumn

    with bar(MofNCompleteColumn(), TimeRemainingColumn()) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


def bar(*columns: str | ProgressColumn) -> Progress:
    """A bar on stderr, with some columns after it, which disappears when it is done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress

    return Progress(
        "{task.description}", BarColumn(), *columns, console=Console(stderr=True), transient=True
    )


def described(phase: int) -> str:
    """A phase of a search in words."""
    if phase == STARTS:
        return "random starts"
    if phase == COLLIDERS:
        return "colliders"
    return f"pairs given {phase} variable{'' if phase == 1 else 's'}"
