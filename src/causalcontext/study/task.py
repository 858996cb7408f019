"""What a method of a study is given and hands back, and a test that answers each question once for all methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from causalcontext.ci_tests.protocol import Declared, IndependenceTest, PreparedTest, prepared_test
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.knowledge import Knowledge
from causalcontext.search.batches import RememberedAnswers
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


class PreparedRemembering(Declared):
    """A prepared test and its answers; trials that never reach `answer` because they are compiled are not kept."""

    def __init__(self, inner: PreparedTest) -> None:
        self._answers = RememberedAnswers(inner)
        self.labels, self.gaussian, self.compiled_roles = inner.labels, inner.gaussian, inner.compiled_roles

    def answer(self, trials: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every trial, in order."""
        self._answers.run(trials)
        found = np.array([self._answers.of(trial) for trial in trials], dtype=np.float64).reshape(-1, 6)
        p, statistic, df, n, reason, label = found.T
        return Outcomes(statistic, df, p, n.astype(np.int64), reason.astype(np.int8), label.astype(np.int8))
