"""Tests that look at rows: the seam for a test of one's own, and what is done before every one of
them.

A test is a class with a `name` and a method `compare(x, y, given, random)`. It gets the columns of
one query on the rows that answer it, and gives a statistic with its p-value, or the reason why
there is none. Everything else is done here: which rows, which of their levels occur, constant
columns, and a source of random numbers that depends on the names of the columns alone, so that
neither the order of columns nor that of queries matters.

P-values by permutation or by draws from a model stop early once they are clear (Besag and Clifford
1991). Statistics of permutations are compared here (`permutation_p`), or counted in a kernel
(`sequential_p`).
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.ci_tests.protocol import Declared, Label, Needs, Strength
from causalcontext.ci_tests.settings import (
    DRAWS_AT_ONCE,
    ENOUGH_REACHED,
    FEWEST_DRAWS_AT_ONCE,
    MOST_BOOTSTRAP_DRAWS,
    STATISTIC_ROUNDING,
)
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.views import CIQuery, Outcomes, Reason, described


@cache
def _unused_random() -> np.random.Generator:
    """What a test is handed that does not draw."""
    return np.random.default_rng(0)


class Variable(NamedTuple):
    """A column on the rows of a query."""

    # shape (rows,): continuous numbers with mean 0 and variance 1; counts; codes 0, 1, ...,
    # `levels` - 1 of a categorical or ordered column, every one of which occurs
    values: Floats
    kind: Kind
    levels: int = (
        0  # how many values a categorical or ordered column has on these rows; 0 for numbers
    )

    @property
    def is_number(self) -> bool:
        """True where the values are numbers (continuous, count) rather than codes."""
        return self.kind.is_number

    @property
    def codes(self) -> Ints:
        """The codes of a categorical or ordered column as integers."""
        return self.values.astype(np.int64)


class Comparison(NamedTuple):
    """The answer of a test to one query; `df` is NaN where it has none."""

    statistic: float
    df: float
    p: float
    reason: Reason = Reason.TESTABLE


def untestable(reason: Reason) -> Comparison:
    """No p-value, for this reason: the pair keeps its edge."""
    return Comparison(np.nan, np.nan, np.nan, reason)


class RowTest(ABC):
    """A test of x against y given a set, on rows; subclasses have a `name` and a method `compare`.

    A subclass that draws random numbers takes them from `random`. One that is a frozen dataclass
    with a field `seed` gets the seed of `discover`.
    """

    name: str
    seed: int = 0
    draws: ClassVar[bool] = True
    """True if `compare` draws random numbers; a source of them takes longer to make than a quick
    test to run.
    """
    strength: ClassVar[Strength] = Strength.RATIO
    """The meaning of the statistic as the strength of a dependence."""
    needs: ClassVar[Needs] = Needs.ROWS
    at_context: ClassVar[bool] = True
    model_free: ClassVar[bool] = False
    """True if it assumes nothing but independent rows, of two numbers too."""
    sees_curves: ClassVar[bool] = False
    """True if it sees curves of one column between two numbers."""
    transforms: ClassVar[bool] = False
    """True if it looks at normal scores of the numbers."""
    pair: frozenset[Kind] | None = None
    """The kinds of x and y that it is asked about, if not all that it takes."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The name of the test in the log."""
        return (Label(self.name, self.strength),)

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """True where the test is made for columns of these kinds; by default for all."""
        return True

    def answers(self, data: Dataset, query: CIQuery) -> bool:
        """True where the test is made for the columns of a query."""
        x = data.kinds[query.x]
        y = data.kinds[query.y]
        return self.pair in (None, {x, y}) and self.takes(
            x, y, [data.kinds[z] for z in query.given]
        )

    @abstractmethod
    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The answer for one query. No column is constant; x comes before y, and conditions are in
        order, by name.
        """

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedRows:
        """The test for this table."""
        return PreparedRows(self, data)


class PreparedRows(Declared):
    """A row test and the table it looks at; incomplete rows are left out."""

    def __init__(self, test: RowTest, data: Dataset) -> None:
        self.test = test
        self.data = data
        self.labels = test.labels
        self._complete = complete_rows(data)
        self._rows: dict[int, NDArray[np.intp]] = {}
        self._columns: dict[tuple[int, int], Variable | None] = {}

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order."""
        name = self.data.names.__getitem__
        answers = []
        for query in queries:
            comparison = self._clear(query)
            if comparison is None:
                x, y = (
                    self._variable(end, query.view) for end in sorted((query.x, query.y), key=name)
                )
                given = [self._variable(z, query.view) for z in sorted(query.given, key=name)]
                random = self._random(query) if self.test.draws else _unused_random()
                comparison = untestable(Reason.CONSTANT)
                if x is not None and y is not None:
                    comparison = self.test.compare(
                        x, y, [z for z in given if z is not None], random
                    )
                if not comparison.reason and not np.isfinite(comparison.p):
                    comparison = untestable(Reason.COLLINEAR)
            answers.append(comparison)
        columns = np.array([answer[:3] for answer in answers], dtype=np.float64).reshape(-1, 3)
        n = np.array([len(self.rows_of(query.view)) for query in queries], dtype=np.int64)
        reason = np.array([answer.reason for answer in answers], dtype=np.int8)
        return Outcomes(columns[:, 0], columns[:, 1], columns[:, 2], n, reason)

    def rows_of(self, view: int) -> NDArray[np.intp]:
        """The complete rows of a view."""
        if view not in self._rows:
            matches = self._complete.copy()
            for column, level in self.data.contexts.views[view]:
                matches &= np.asarray(self.data.columns[column]) == level
            self._rows[view] = np.flatnonzero(matches)
        return self._rows[view]

    def _clear(self, query: CIQuery) -> Comparison | None:
        """The answers that are clear without a look at the rows: none, but for tests that know
        more.
        """
        return None

    def _variable(self, column: int, view: int) -> Variable | None:
        """A column on the rows of a view; None if it is constant there."""
        if (column, view) not in self._columns:
            rows = self.rows_of(view)
            values = np.asarray(self.data.columns[column])
            values = values if len(rows) == len(values) else values[rows]  # all rows: no copy
            variable = as_variable(np.asarray(values, np.float64), self.data.kinds[column])
            if variable is not None and variable.kind is Kind.CONTINUOUS:
                variable = variable._replace(values=standardised(variable.values))
            self._columns[column, view] = variable
        return self._columns[column, view]

    def _random(self, query: CIQuery) -> np.random.Generator:
        names = self.data.names
        view = [
            [name, str(value)]
            for name, value in described(
                self.data.contexts, query.view, names, self.data.levels
            ).items()
        ]
        text = json.dumps(
            [
                self.test.seed,
                sorted((names[query.x], names[query.y])),
                sorted(names[z] for z in query.given),
                view,
            ]
        )
        return np.random.default_rng(
            np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint32)
        )


def as_variable(values: Floats, kind: Kind) -> Variable | None:
    """The values as a `Variable`, with codes of the levels that occur; None if they are
    constant.
    """
    if kind.is_number:
        return None if values.size == 0 or values.min() == values.max() else Variable(values, kind)
    occurring, codes = np.unique(values, return_inverse=True)
    return (
        None
        if occurring.size < 2
        else Variable(codes.astype(np.float64), kind, int(occurring.size))
    )


def standardised(values: Floats) -> Floats:
    """Numbers with mean 0 and variance 1, so that units and offsets change nothing."""
    centred = values - values.mean()
    centred /= np.abs(centred).max()
    return np.asarray((centred - centred.mean()) / centred.std())


Draw = Callable[[int, int], Floats]
"""`draw(first, count)`: the statistics of `count` permutations, from the one of that number on."""

CountedDraw = Callable[[Floats, int], tuple[int, int]]
"""`draw(uniforms, most)`, uniforms of shape (draws, rows): how many reach the observed statistic,
of how many.
"""


def permutation_p(observed: float, draw: Draw, most: int, enough: int | None) -> float:
    """The share of permutations whose statistic is at least the observed one, by sequential Monte
    Carlo.

    Permutations are drawn until `enough` of them reach the observed statistic; then p = enough /
    draws. If that does not happen in `most` draws, p = (reached + 1) / (draws + 1), which is also
    the p-value without early stopping (`enough` None). Drawing many at once changes nothing: the
    p-value is that of drawing one after the other.

    Besag and Clifford (1991), "Sequential Monte Carlo p-values". Under independence both kinds of
    p-value are valid. With enough / most > alpha, stopping early changes no decision at level
    alpha: a stopped p-value is above alpha, and so is the one after all draws. Statistics that
    differ by rounding are equal.

    >>> every_second = lambda first, count: np.arange(first, first + count) % 2.0
    >>> permutation_p(1.0, every_second, most=100, enough=10)
    0.5
    """
    threshold = (
        observed - STATISTIC_ROUNDING * max(1.0, abs(observed))
        if np.isfinite(observed)
        else observed
    )
    reached = 0
    drawn = 0
    while drawn < most:
        wanted = most if enough is None else max(enough - reached, FEWEST_DRAWS_AT_ONCE)
        hits = np.flatnonzero(draw(drawn, min(wanted, most - drawn)) >= threshold)
        if enough is not None and reached + hits.size >= enough:
            return enough / float(drawn + hits[enough - reached - 1] + 1)
        reached = reached + hits.size
        drawn = drawn + min(wanted, most - drawn)
    return (reached + 1) / (drawn + 1)


def check_permutations(permutations: int, enough: int | None) -> None:
    """Raise `OptionError` unless there is at least one permutation, and one to stop at if any."""
    if permutations < 1:
        raise OptionError(f"permutations is {permutations!r}, expected at least 1")
    if enough is not None and enough < 1:
        raise OptionError(
            f"enough is {enough!r}, expected at least 1, or None to draw all permutations"
        )


def sequential_p(draw: CountedDraw, rows: int, random: np.random.Generator) -> float:
    """The share of draws that reach the observed statistic, which counts as a draw where few do."""
    reached = drawn = 0
    while reached < ENOUGH_REACHED and drawn < MOST_BOOTSTRAP_DRAWS:
        more, made = draw(random.random((DRAWS_AT_ONCE, rows)), ENOUGH_REACHED - reached)
        reached = reached + more
        drawn = drawn + made
    return reached / drawn if reached >= ENOUGH_REACHED else (reached + 1) / (drawn + 1)
