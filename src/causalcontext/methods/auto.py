"""auto: which method suits the data, and why; docs/decisions/default-method.md has the
measurements.

One question: does the table suit a search by scores, in a minute? What the residuals of the
best-scoring model say is told, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.kernels.arrays import Floats
from causalcontext.methods.forecast import forecast
from causalcontext.methods.method_object import MethodObject, method_object
from causalcontext.methods.pc_ac import pc_ac
from causalcontext.methods.pc_p import pc_p
from causalcontext.methods.score_ac import few_rows, score_ac, scored
from causalcontext.methods.settings import (
    ENOUGH_ROWS,
    FEWEST_ROWS_A_CONTEXT,
    FEWEST_ROWS_A_VARIABLE,
    FEWEST_ROWS_FOR_SCORE,
    FEWEST_SCANNED_ROWS,
    LEAST_WEIGHT,
    LONGEST_FORECAST,
    MOST_COLUMNS_OF_SERIES,
    MOST_MISFITTED,
    STRONG_CORRELATION,
    TIED_VARIANCE,
    TOLD_AS_HOURS,
)
from causalcontext.methods.task import Task
from causalcontext.model_checks.violations import CURVES, UNEXPLAINED, Violation
from causalcontext.results.notes import About, ResultNote
from causalcontext.results.outcome import Outcome
from causalcontext.score.options import MOST_LEVELS


@dataclass(frozen=True)
class MethodChoice:
    """A method, why, and what to do about the reason."""

    method: str
    why: str
    remedy: str = ""

    @property
    def reason(self) -> str:
        """One line for the reader of a result."""
        return f"method 'auto' chose {self.method}: {self.why}"


@method_object
class Auto(MethodObject):
    """auto: score-ac or pc-ac, each with its defaults, whichever suits the table.

    It has no options: those of a method go with that method.
    """

    name: ClassVar[str] = "auto"


TESTWISE_CHOICE = MethodChoice("pc-ac", "missing='testwise' is for searches by tests")
"""The choice where every test leaves out rows of its own, which no search by scores does."""
MERGE = "merge it with another context, or leave its rows out"
"""Advice about a context of few rows."""
ACCEPTED = "it accepts all columns"
"""Why score-ac is chosen; what its residuals say against its model is a warning."""


def choose_by_columns(data: Dataset) -> MethodChoice | None:
    """PC-AC where score-ac does not take the columns, or takes too long; None if it does."""
    if why := _refused(data):
        return MethodChoice("pc-ac", why, "merge some of its levels")
    why = _slow(data)
    return MethodChoice("pc-ac", why) if why else None


def choose_by_table(data: Dataset, statistics: SufficientStatistics) -> MethodChoice | None:
    """The same, or PC-AC where a likelihood says too little about the rows; None if score-ac is
    tried.
    """
    return choose_by_columns(data) or _degenerate(data, statistics)


def choose_for_windows(data: Dataset) -> MethodChoice:
    """The method for windows of a table: score-ac, if it takes the columns."""
    if why := _refused(data):
        return MethodChoice("pc-ac", why, "merge some of its levels")
    variables = len(data.names)
    if variables > MOST_COLUMNS_OF_SERIES:
        return MethodChoice(
            "pc-ac",
            f"with lags of {variables:,} variables score-ac would take too long",
            "choose fewer columns",
        )
    return MethodChoice("score-ac", ACCEPTED)


def choose_by_residuals(findings: Sequence[Violation], variables: int) -> MethodChoice:
    """score-ac, also where its mechanisms do not fit at all, which is said: tests err more often
    still there.
    """
    bent = {
        column: finding.kind
        for finding in reversed(findings)
        if finding.kind in UNEXPLAINED
        for column, size in zip(finding.columns, finding.sizes, strict=True)
        if size > STRONG_CORRELATION
    }
    if len(bent) >= max(2.0, MOST_MISFITTED * variables):
        words = (
            "variables have residuals of unequal variance, so links may be false: try"
            " method='pc-ac', test='sandwich' or 'cmi-knn'"
        )
        if CURVES in bent.values():
            words = (
                "mechanisms are clearly not additive; tests are even less reliable there: compare"
                " with method='pc-ac', test='cmi-knn'"
            )
        return MethodChoice("score-ac", f"{len(bent)} of {variables} {words}")
    return MethodChoice("score-ac", ACCEPTED)


def auto(task: Task) -> Outcome:
    """The outcome of the method that suits the data: score-ac, unless it does not take the table,
    or a likelihood says little about it.
    """
    choice = choose_for_windows(task.data) if task.windows is not None else None
    if task.windows is None:
        choice = choose_by_table(task.data, task.statistics)
        few = few_rows(task)
        if choice is None and few:
            choice = MethodChoice("pc-ac", few, MERGE)
    if choice is not None and choice.method == "pc-ac":
        outcome = (pc_ac if task.data.contexts.positions else pc_p)(task)
        by_tests = ResultNote(
            "searched by tests, which find fewer links and claim fewer changes than scores:"
            f" {choice.why}",
            About.TESTS,
            choice.remedy,
        )
        outcome = replace(outcome, notes=(by_tests, *outcome.notes))
    elif choice is not None:
        outcome = score_ac(task)
    else:
        outcome, findings, complete = scored(task)
        choice = choose_by_residuals(findings, len(task.data.system))
        if choice.why != ACCEPTED:
            outcome = replace(
                outcome, notes=(ResultNote(choice.why, About.RESIDUALS), *outcome.notes)
            )
        if not complete:  # no time is left for another search
            choice = MethodChoice("score-ac", ACCEPTED)
    return replace(outcome, method=choice.method, notes=(choice.reason, *outcome.notes))


def _refused(data: Dataset) -> str:
    """The reason why score-ac cannot search the table; "" if it can."""
    many = [
        data.names[i]
        for i in data.system
        if i in data.categories and len(data.categories[i]) > MOST_LEVELS
    ]
    return f"column {many[0]!r} has more than {MOST_LEVELS} levels" if many else ""


def _slow(data: Dataset) -> str:
    """The reason why score-ac would take long; "" if it does not."""
    seconds = forecast(data)
    if seconds <= LONGEST_FORECAST:
        return ""
    return (
        f"score-ac would take about {_duration(seconds)} here (forecast); pass method='score-ac' to"
        " have it"
    )


def _duration(seconds: float) -> str:
    """A forecast in words.

    >>> _duration(64.0), _duration(170.0), _duration(4_000.0), _duration(90_000.0)
    ('1 minute', '3 minutes', '70 minutes', '25 hours')
    """
    if seconds >= TOLD_AS_HOURS:
        return f"{seconds / 3600.0:.0f} hours"
    minutes = seconds / 60.0
    whole = round(minutes) if minutes < 10.0 else round(minutes, -1)
    return f"{whole:.0f} minute{'' if whole == 1 else 's'}"


def _degenerate(data: Dataset, statistics: SufficientStatistics) -> MethodChoice | None:
    """PC-AC where a likelihood says too little, so that tests, which say "untestable", are the
    safer judge; None where it says enough.
    """
    # With few rows a model has many false links. In contexts of a few rows and for columns that are
    # linear functions of each other a likelihood has no maximum. A number that is constant in a
    # context has a mechanism that is a constant.
    rows = statistics.moments.rows
    names = statistics.names
    if rows.sum() < max(
        FEWEST_ROWS_FOR_SCORE,
        FEWEST_ROWS_A_CONTEXT * len(rows),
        min(FEWEST_ROWS_A_VARIABLE * len(names), ENOUGH_ROWS),
    ):
        contexts = f" in {len(rows)} contexts" if len(rows) > 1 else ""
        return MethodChoice(
            "pc-ac",
            f"{rows.sum()} rows are few for a model of {len(names)} variables{contexts}",
            f"add rows, or choose fewer columns{' or contexts' if len(rows) > 1 else ''}",
        )
    if rows.min() < FEWEST_SCANNED_ROWS:
        why = f"context {data.values[int(rows.argmin())]!r} has {rows.min()} rows"
        return MethodChoice("pc-ac", why, MERGE)
    numbers = [
        number for number, position in enumerate(data.system) if data.kinds[position].is_number
    ]
    # with no more rows than columns all of them are linear functions of each other
    parts = [
        *statistics.moments.merged().scatter[:1][[rows.sum() > len(names) + 1]],
        *statistics.moments.scatter[rows > len(names) + 1],
    ]
    tied = next(
        (tied_columns for part in parts if (tied_columns := _tied(part[np.ix_(numbers, numbers)]))),
        (),
    )
    listed = [repr(names[numbers[number]]) for number in tied]
    if not listed:
        return None
    return MethodChoice(
        "pc-ac",
        f"columns {', '.join(listed[:-1])} and {listed[-1]} are linear functions of each other",
        "leave one of them out",
    )


def _tied(scatter: Floats) -> list[int]:
    """Columns that are linear functions of each other, by their cross products; none if no columns
    are.
    """
    varies = np.flatnonzero(np.diagonal(scatter) > 0.0)
    if len(varies) < 2:
        return []
    scatter = scatter[np.ix_(varies, varies)]
    scale = np.sqrt(np.diagonal(scatter))
    values, vectors = np.linalg.eigh(scatter / scale[:, None] / scale)
    return (
        varies[np.abs(vectors[:, 0]) > LEAST_WEIGHT].tolist() if values[0] < TIED_VARIANCE else []
    )
