"""Answers of a test to trials, each asked once; whole batches go to the test, by threads where there are several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from causalcontext.independence.protocol import PreparedTest
from causalcontext.kernels.arrays import Ints
from causalcontext.kernels.threads import in_threads
from causalcontext.questions import Outcomes, Trial


class Answer(NamedTuple):
    """What a test said about one trial."""

    p: float
    statistic: float
    df: float
    n: int
    reason: int
    label: int


class Answers:
    """A prepared test that remembers what it was asked.

    Parameters
    ----------
    prepared : PreparedTest
    n_jobs : int
        Threads.
    """

    def __init__(self, prepared: PreparedTest, n_jobs: int = 1) -> None:
        self.prepared, self.n_jobs = prepared, n_jobs
        self._known: dict[Trial, Answer] = {}

    def __len__(self) -> int:
        return len(self._known)

    def run(self, trials: Iterable[Trial]) -> None:
        """Answer the trials that are not answered yet."""
        fresh = [t for t in dict.fromkeys(canonical(trial) for trial in trials) if t not in self._known]
        if not fresh:
            return
        for part, outcomes in self._outcomes(fresh):
            self._remember(part, outcomes)

    def of(self, trial: Trial) -> Answer:
        """The answer to a trial that was run."""
        return self._known[canonical(trial)]

    def evidence(self, trial: Trial) -> float:
        """How much an answer speaks against independence: the strength times the root of the rows; 0 without any."""
        answer = self.of(trial)
        if answer.reason:
            return 0.0
        label = self.prepared.labels[answer.label]
        size = abs(label.strength_of(answer.statistic, answer.n)) * sqrt(max(answer.n, 1))
        return size if size == size else sqrt(-2.0 * log(max(answer.p, 1e-300)))

    def counts(self, since: int = 0) -> Ints:
        """Tests run on all rows, and on the rows of some contexts; those after the first `since`."""
        fresh = list(self._known)[since:]
        some = sum(1 for trial in fresh if trial.view)
        return np.array([len(fresh) - some, some], dtype=np.int64)

    def _outcomes(self, trials: list[Trial]) -> Iterator[tuple[list[Trial], Outcomes]]:
        """The answers, in parts that threads work on where there are several."""
        size = -(-len(trials) // (4 * self.n_jobs)) if self.n_jobs > 1 else len(trials)
        parts = [trials[begin : begin + size] for begin in range(0, len(trials), size)]
        yield from zip(parts, in_threads(self.prepared.answer, parts, self.n_jobs), strict=True)

    def _remember(self, trials: list[Trial], outcomes: Outcomes) -> None:
        label = np.zeros(len(trials)) if outcomes.label is None else outcomes.label
        columns = (outcomes.p, outcomes.statistic, outcomes.df, outcomes.n, outcomes.reason, label)
        for trial, p, statistic, df, n, reason, which in zip(trials, *columns, strict=True):
            self._known[trial] = Answer(float(p), float(statistic), float(df), int(n), int(reason), int(which))


def canonical(trial: Trial) -> Trial:
    """The same trial with its two variables in column order."""
    if trial.x <= trial.y:
        return trial
    return Trial(trial.y, trial.x, trial.given, trial.view)
