"""Tests that look at rows: the seam for a test of one's own, and what is done before every one of them.

A test is a class with a `name` and a method `compare(x, y, given, random)`. It gets the columns of one trial on the
rows that answer it, and gives a statistic with its p-value, or the reason why there is none. Everything else is done
here: which rows, which of their levels occur, constant columns, and a source of random numbers that depends on the
names of the columns alone, so that neither the order of columns nor that of trials matters.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.kinds import Kind
from causalcontext.data.missing import complete_rows
from causalcontext.questions import Outcomes, Reason, Trial

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.survey import Survey

Floats = NDArray[np.float64]
Where = tuple[tuple[int, int], ...]


_NO_RANDOM = np.random.default_rng(0)


class Variable(NamedTuple):
    """A column on the rows of a trial.

    Attributes
    ----------
    values : array of float, shape (rows,)
        Numbers; codes 0, 1, ..., `levels` - 1 of a categorical or ordered column, every one of which occurs.
    kind : Kind
    levels : int
        How many values a categorical or ordered column has on these rows; 0 for numbers.
    """

    values: Floats
    kind: Kind
    levels: int = 0

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers (continuous, count) rather than codes."""
        return self.kind.is_number

    @property
    def codes(self) -> NDArray[np.int64]:
        """The codes of a categorical or ordered column as integers."""
        return self.values.astype(np.int64)


class Answer(NamedTuple):
    """What a test says about one trial; `df` is NaN where it has none."""

    statistic: float
    df: float
    p: float
    reason: Reason = Reason.TESTABLE


def untestable(reason: Reason) -> Answer:
    """No p-value, for this reason: the pair keeps its edge."""
    return Answer(np.nan, np.nan, np.nan, reason)


class RowTest(ABC):
    """A test of x against y given a set, on rows; subclasses have a `name` and a method `compare`.

    A subclass that draws random numbers takes them from `random`. One that is a frozen dataclass with a field `seed`
    gets the seed of `discover`.
    """

    name: str
    seed: int = 0
    draws: ClassVar[bool] = True
    """Whether `compare` draws random numbers; a source of them takes longer to make than a quick test to run."""

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """Whether the test is made for columns of these kinds; by default for all."""
        return True

    def answers(self, data: Dataset, trial: Trial) -> bool:
        """Whether the test is made for the columns of a trial."""
        return self.takes(data.kinds[trial.x], data.kinds[trial.y], [data.kinds[z] for z in trial.given])

    @abstractmethod
    def compare(self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator) -> Answer:
        """The answer for one trial. No column is constant; x comes before y, and conditions are in order, by name."""

    def prepare(self, data: Dataset, survey: Survey) -> PreparedRows:
        """The test for this table."""
        return PreparedRows(self, data)


class PreparedRows:
    """A row test and the table it looks at; incomplete rows are left out.

    Parameters
    ----------
    test : RowTest
    data : Dataset
    """

    def __init__(self, test: RowTest, data: Dataset) -> None:
        self.test, self.data = test, data
        self.labels = (test.name,)
        self._complete = complete_rows(data)
        self._rows: dict[Where, NDArray[np.intp]] = {}
        self._columns: dict[tuple[int, Where], Variable | None] = {}

    def answer(self, trials: Sequence[Trial]) -> Outcomes:
        """One outcome for every trial, in order."""
        answers = [self._answer(trial) for trial in trials]
        columns = np.array([answer[:3] for answer in answers], dtype=np.float64).reshape(-1, 3)
        n = np.array([len(self.rows_of(trial.where)) for trial in trials], dtype=np.int64)
        reason = np.array([answer.reason for answer in answers], dtype=np.int8)
        return Outcomes(columns[:, 0], columns[:, 1], columns[:, 2], n, reason)

    def rows_of(self, where: Where) -> NDArray[np.intp]:
        """The complete rows where these context values hold."""
        if where not in self._rows:
            matches = self._complete.copy()
            for column, level in where:
                matches &= np.asarray(self.data.columns[column]) == level
            self._rows[where] = np.flatnonzero(matches)
        return self._rows[where]

    def _answer(self, trial: Trial) -> Answer:
        name = self.data.names.__getitem__
        x, y = (self._variable(end, trial.where) for end in sorted((trial.x, trial.y), key=name))
        if x is None or y is None:
            return untestable(Reason.CONSTANT)
        conditions = (self._variable(z, trial.where) for z in sorted(trial.given, key=name))
        random = self._random(trial) if self.test.draws else _NO_RANDOM
        answer = self.test.compare(x, y, [z for z in conditions if z is not None], random)
        return answer if answer.reason or np.isfinite(answer.p) else untestable(Reason.COLLINEAR)

    def _variable(self, column: int, where: Where) -> Variable | None:
        """A column on the rows of a view; None if it is constant there."""
        if (column, where) not in self._columns:
            rows, values = self.rows_of(where), np.asarray(self.data.columns[column])
            values = values if len(rows) == len(values) else values[rows]  # all rows: no copy
            self._columns[column, where] = as_variable(np.asarray(values, np.float64), self.data.kinds[column])
        return self._columns[column, where]

    def _random(self, trial: Trial) -> np.random.Generator:
        names = self.data.names
        view = [[names[column], str(self.data.levels[level])] for column, level in trial.where]
        text = json.dumps([self.test.seed, sorted((names[trial.x], names[trial.y])),
                           sorted(names[z] for z in trial.given), view])  # fmt: skip
        return np.random.default_rng(np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint32))


def as_variable(values: Floats, kind: Kind) -> Variable | None:
    """The values as a `Variable`, with codes of the levels that occur; None if they are constant."""
    if kind.is_number:
        return None if values.size == 0 or values.min() == values.max() else Variable(values, kind)
    occurring, codes = np.unique(values, return_inverse=True)
    return None if occurring.size < 2 else Variable(codes.astype(np.float64), kind, int(occurring.size))
