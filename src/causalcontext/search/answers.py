"""Answers of a test to queries, each asked once; whole batches go to the test, by threads where there are several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.kernels.arrays import Ints
from causalcontext.kernels.threads import in_threads
from causalcontext.views import CIQuery, Outcomes


class CIAnswer(NamedTuple):
    """What a test said about one query."""

    p: float
    statistic: float
    df: float
    n: int
    reason: int
    label: int


class RememberedAnswers:
    """A prepared test that remembers what it was asked.

    Parameters
    ----------
    prepared : PreparedTest
    n_jobs : int
        Threads.
    """

    def __init__(self, prepared: PreparedTest, n_jobs: int = 1) -> None:
        self.prepared, self.n_jobs = prepared, n_jobs
        self._known: dict[CIQuery, CIAnswer] = {}

    def __len__(self) -> int:
        return len(self._known)

    def run(self, queries: Iterable[CIQuery]) -> None:
        """Answer the queries that are not answered yet."""
        fresh = [t for t in dict.fromkeys(canonical(query) for query in queries) if t not in self._known]
        if not fresh:
            return
        for part, outcomes in self._outcomes(fresh):
            self._remember(part, outcomes)

    def of(self, query: CIQuery) -> CIAnswer:
        """The answer to a query that was run."""
        return self._known[canonical(query)]

    def evidence(self, query: CIQuery) -> float:
        """How much an answer speaks against independence: the strength times the root of the rows; 0 without any."""
        answer = self.of(query)
        if answer.reason:
            return 0.0
        label = self.prepared.labels[answer.label]
        size = abs(label.strength_of(answer.statistic, answer.n)) * sqrt(max(answer.n, 1))
        return size if size == size else sqrt(-2.0 * log(max(answer.p, 1e-300)))

    def counts(self, since: int = 0) -> Ints:
        """Tests run on all rows, and on the rows of some contexts; those after the first `since`."""
        fresh = list(self._known)[since:]
        some = sum(1 for query in fresh if query.view)
        return np.array([len(fresh) - some, some], dtype=np.int64)

    def _outcomes(self, queries: list[CIQuery]) -> Iterator[tuple[list[CIQuery], Outcomes]]:
        """The answers, in parts that threads work on where there are several."""
        size = -(-len(queries) // (4 * self.n_jobs)) if self.n_jobs > 1 else len(queries)
        parts = [queries[begin : begin + size] for begin in range(0, len(queries), size)]
        yield from zip(parts, in_threads(self.prepared.answer, parts, self.n_jobs), strict=True)

    def _remember(self, queries: list[CIQuery], outcomes: Outcomes) -> None:
        label = np.zeros(len(queries)) if outcomes.label is None else outcomes.label
        columns = (outcomes.p, outcomes.statistic, outcomes.df, outcomes.n, outcomes.reason, label)
        for query, p, statistic, df, n, reason, which in zip(queries, *columns, strict=True):
            self._known[query] = CIAnswer(float(p), float(statistic), float(df), int(n), int(reason), int(which))


def canonical(query: CIQuery) -> CIQuery:
    """The same query with its two variables in column order."""
    if query.x <= query.y:
        return query
    return CIQuery(query.y, query.x, query.given, query.view)
