"""What a method of a study is given and hands back, and a test that answers each question once for all methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from causalcontext.ci_tests.protocol import IndependenceTest, PreparedTest, prepared_test
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.knowledge import Knowledge
from causalcontext.views import CIQuery, Outcomes


@dataclass(frozen=True, eq=False)
class StudyTask:
    """A table, its context, what is known about links, and how to test.

    `memory` is shared by all tasks on the same table, for what need not be computed twice.
    """

    table: pd.DataFrame
    context: str
    knowledge: Knowledge
    test: str
    alpha: float
    memory: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class EstimatedEndpoints:
    """Found ends in the order of the table's columns.

    Attributes
    ----------
    contexts : array of ends, shape (contexts, N, N), or None
        None for methods that find the union alone.
    union : array of ends, shape (1, N, N)
    tests : mapping
        How many tests were run on which rows, where the method counts them.
    """

    contexts: Endpoints | None
    union: Endpoints
    tests: Mapping[str, int] = field(default_factory=dict)


Answer = tuple[float, float, float, int, int, int]


@dataclass(frozen=True, eq=False)
class Remembering:
    """The test `inner`, prepared once for every table; methods that ask after another one are answered from memory."""

    inner: IndependenceTest
    prepared: dict[str, PreparedRemembering] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the test is called."""
        return self.inner.name

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedRemembering:
        """The test for this table, with what it has answered."""
        if statistics.fingerprint not in self.prepared:
            self.prepared[statistics.fingerprint] = PreparedRemembering(prepared_test(self.inner, data, statistics))
        return self.prepared[statistics.fingerprint]


class PreparedRemembering:
    """A prepared test and its answers; trials that never reach `answer` because they are compiled are not kept."""

    def __init__(self, inner: PreparedTest) -> None:
        self.inner = inner
        self._answers: dict[CIQuery, Answer] = {}
        self.labels, self.gaussian, self.compiled_roles = inner.labels, inner.gaussian, inner.compiled_roles

    def answer(self, trials: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every trial, in order."""
        fresh = [trial for trial in dict.fromkeys(trials) if trial not in self._answers]
        if fresh:
            found = self.inner.answer(fresh)
            label = np.zeros(len(fresh), dtype=np.int8) if found.label is None else found.label
            columns = (found.statistic, found.df, found.p, found.n, found.reason, label)
            self._answers |= {trial: tuple(values) for trial, *values in zip(fresh, *columns, strict=True)}
        rows = np.array([self._answers[trial] for trial in trials], dtype=np.float64).reshape(-1, 6).T
        n, reason, label = rows[3].astype(np.int64), rows[4].astype(np.int8), rows[5].astype(np.int8)
        return Outcomes(rows[0], rows[1], rows[2], n, reason, label)
