"""A test that answers the same trial on the same table once, whichever methods of a study ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from causalcontext.ci_tests.protocol import IndependenceTest, PreparedTest, prepared_test
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.views import CIQuery, Outcomes

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
