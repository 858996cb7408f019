"""How the score-based engine searches, checked at the door, and when it stops: the time limit and
Ctrl-C.

Work is done in a thread of its own, while the caller's thread listens: when the time is up, or at
Ctrl-C, it raises a flag that kernels look at between two moves, and waits for what they have
reached until then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from math import log
from typing import TypeVar

import numpy as np

from causalcontext.errors import OptionError, check_choice, check_positive, check_whole, shortly

Result = TypeVar("Result")
GRACE = 1.0
"""Seconds after the end in which what is needed for any model at all may still be done."""


class Clock:
    """Tells a search when to stop, after `limit` seconds, and remembers why, and what was left out
    because of it.

    `flag`, shape (1,), is 1 as soon as the search is to stop, `overdue` as soon as even the first
    fits are, `GRACE` later. `interrupted` says whether that was Ctrl-C, and `cut` what was ended
    early or left out.
    """

    def __init__(self, limit: float | None = None) -> None:
        self._deadline = None if limit is None else time.monotonic() + limit
        self.flag, self.overdue = np.zeros((2, 1), dtype=np.int64)
        self.interrupted = False
        self.cut: list[str] = []

    @property
    def is_limited(self) -> bool:
        """True if there is a time limit."""
        return self._deadline is not None

    @property
    def late(self) -> bool:
        """True if the search must stop."""
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self.flag[0] = 1
        return bool(self.flag[0])

    @property
    def is_overdue(self) -> bool:
        """True if even steps that belong to any model must stop."""
        return self._deadline is not None and time.monotonic() >= self._deadline + GRACE

    def skips(self, what: str) -> bool:
        """True if there is no time left for something, which is written down then."""
        if self.late and what not in self.cut:
            self.cut.append(what)
        return self.late

    def interrupt(self) -> None:
        """Stop because of Ctrl-C."""
        self.interrupted = True
        self.flag[0] = 1

    def start(self, call: Callable[[], Result]) -> Future[Result]:
        """A call that goes on in a thread of its own."""
        future: Future[Result] = Future()

        def work() -> None:
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return future

    def result(self, future: Future[Result]) -> Result:
        """What a call returns; it is told to stop when the time is up, or at Ctrl-C. A second
        Ctrl-C does not wait.
        """
        while True:
            try:
                # the next flag to be raised, and seconds until then, if known
                following = self.flag
                left = None
                if self.flag[0]:
                    following = self.overdue
                    left = None if self.overdue[0] else GRACE
                elif self._deadline is not None:
                    left = max(self._deadline - time.monotonic(), 0.0)
                if wait([future], left).done:
                    return future.result()
                following[0] = 1
            except KeyboardInterrupt:
                if self.interrupted:
                    raise
                self.interrupt()


CHOICES = {
    "search": ("auto", "order", "exact"),
    "transform": ("auto", "none", "ranks"),
    "curves": ("auto", "never", "always"),
    "wrong_cells": ("auto", "keep"),
}
LARGEST_PENALTY = 1000.0
"""With larger ones scores could not be compared: their differences would be lost in rounding."""
MOST_STARTS = 100_000
"""A search from more random orders would not end."""
MOST_LEVELS = 50
"""Levels of a category or an ordered column that a search takes. An unrelated column of 30 levels
in 1,000 rows takes no longer than any other column; one of 300 takes minutes."""
MANY_VARIABLES = 200
"""From so many variables on, the price of a parent also grows with their number."""
MOST_CURVED_VARIABLES = 250
"""Beyond so many variables curves are not tried."""
FEW_VARIABLES = 50
"""Up to so many variables climbs begin at 10 orders, the best one for lines and random ones, beyond
at 3, and from `MANY_VARIABLES` on at the former alone."""
STARTS_WITHOUT_CONTEXTS = 3
"""Without contexts climbs hardly ever leave the best order for lines: it is the best order but for
densities of noise and for categories."""
MANY_CONTEXTS = 5
"""From so many contexts on, contexts are merged, which takes longer: fewer starts, and none after
the best model was found twice."""


@dataclass(frozen=True)
class ScoreOptions:
    """The choices of the score-based engine."""

    # "order", insertion moves on orders from several random starts, or "exact", the optimum of a
    # small problem; "auto" takes the latter where it is the quicker one and no number of starts is
    # asked for
    search: str = "auto"
    # "none", or "ranks": columns are replaced by the normal scores of their ranks; "auto" asks the
    # likelihood
    transform: str = "auto"
    # starts of the order search: the best order for lines, then random ones; by default 10 for up
    # to 50 variables, 3 for up to 200, else 1; fewer without contexts, and for the search with
    # curves, which also starts from what was found without them
    starts: int | None = None
    penalty: float = (
        2.0  # each parameter costs `penalty / 2 * log(rows of its block)`; 1 is the plain BIC
    )
    time_limit: float | None = None  # seconds after which the best model so far is returned
    curves: str = (
        "auto"  # whether mechanisms may be curved: "never", "always", or "auto" by the likelihood
    )
    densities: bool = True  # whether noise may have another density than the Gaussian one
    # "keep", or "auto": cells that are far from what the rest of their row leads to expect are
    # replaced, if the likelihood is for it
    wrong_cells: str = "auto"

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        if self.starts is not None:
            check_whole("starts", self.starts, 1, ", or None for the default")
            if self.starts > MOST_STARTS:
                raise OptionError(
                    f"starts is {shortly(self.starts)}, expected at most {MOST_STARTS}"
                )
        check_positive("penalty", self.penalty)
        if self.penalty > LARGEST_PENALTY:
            raise OptionError(
                f"penalty is {self.penalty!r}, expected a number up to {LARGEST_PENALTY:.0f}; with"
                " that no link is left"
            )
        if self.time_limit is not None:
            check_positive("time_limit", self.time_limit, " of seconds, or None")

    def number_of_starts(self, variables: int, contexts: int, curves: bool) -> int:
        """The random starts for a table."""
        if self.starts is not None:
            return self.starts
        starts = 10 if variables <= FEW_VARIABLES else 3 if variables < MANY_VARIABLES else 1
        if contexts == 1:
            starts = min(starts, STARTS_WITHOUT_CONTEXTS)
        if contexts >= MANY_CONTEXTS:
            starts = min(starts, 4)
        return (
            min(starts, 4 if variables <= 20 else 2 if variables <= 50 else 1) if curves else starts
        )

    def curves_offered(self, variables: int) -> bool:
        """True if mechanisms of a table with so many variables may be curved."""
        return self.curves != "never" and variables <= MOST_CURVED_VARIABLES

    def parent_price(self, variables: int) -> float:
        """What a parent costs beyond its parameter: the extended BIC with factor 1/2, for many
        variables only.
        """
        return 0.5 * log(variables) if variables >= MANY_VARIABLES else 0.0
