"""Tests that look at rows: the seam for a test of one's own, and what is done before every one of them.

A test is a class with a `name` and a method `compare(x, y, given, random)`. It gets the columns of one query on the
rows that answer it, and gives a statistic with its p-value, or the reason why there is none. Everything else is done
here: which rows, which of their levels occur, constant columns, and a source of random numbers that depends on the
names of the columns alone, so that neither the order of columns nor that of queries matters.

Columns of a query become the design of a regression, reduced to full rank. Numbers enter as one column, categorical and
ordered columns as indicators, counts as a condition also by their logarithm. What a variable adds to the conditions is
an orthogonal basis of the part of its columns that the conditions do not explain, so that collinear columns, repeated
conditions and levels that determine each other lower the rank and do no harm.

The linear association of two designs is measured by Wilks' lambda and Rao's F. One formula serves several tests:
Student's t of the partial correlation where both sets have one column, the F test of adding columns to a linear
regression where one has one. It is symmetric, and exact in both cases for Gaussian noise.

P-values by permutation or by draws from a model stop early once they are clear (Besag and Clifford 1991). Statistics of
permutations are compared here (`permutation_p`), or counted in a kernel (`sequential_p`).
"""

from __future__ import annotations

import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from causalcontext.ci_tests.protocol import Declared, Label, Needs, Strength
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, complete_rows
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.views import CIQuery, Outcomes, Reason, described

_NO_RANDOM = np.random.default_rng(0)


class Variable(NamedTuple):
    """A column on the rows of a query.

    Attributes
    ----------
    values : array of float, shape (rows,)
        Continuous numbers with mean 0 and variance 1; counts; codes 0, 1, ..., `levels` - 1 of a categorical or ordered
        column, every one of which occurs.
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
    def codes(self) -> Ints:
        """The codes of a categorical or ordered column as integers."""
        return self.values.astype(np.int64)


class Comparison(NamedTuple):
    """What a test says about one query; `df` is NaN where it has none."""

    statistic: float
    df: float
    p: float
    reason: Reason = Reason.TESTABLE


def untestable(reason: Reason) -> Comparison:
    """No p-value, for this reason: the pair keeps its edge."""
    return Comparison(np.nan, np.nan, np.nan, reason)


class RowTest(ABC):
    """A test of x against y given a set, on rows; subclasses have a `name` and a method `compare`.

    A subclass that draws random numbers takes them from `random`. One that is a frozen dataclass with a field `seed`
    gets the seed of `discover`.
    """

    name: str
    seed: int = 0
    draws: ClassVar[bool] = True
    """Whether `compare` draws random numbers; a source of them takes longer to make than a quick test to run."""
    strength: ClassVar[Strength] = Strength.RATIO
    """What the statistic means as the strength of a dependence."""
    needs: ClassVar[Needs] = Needs.ROWS
    at_context: ClassVar[bool] = True

    @property
    def labels(self) -> tuple[Label, ...]:
        """What the log calls the test."""
        return (Label(self.name, self.strength),)

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """Whether the test is made for columns of these kinds; by default for all."""
        return True

    def answers(self, data: Dataset, query: CIQuery) -> bool:
        """Whether the test is made for the columns of a query."""
        return self.takes(data.kinds[query.x], data.kinds[query.y], [data.kinds[z] for z in query.given])

    @abstractmethod
    def compare(self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator) -> Comparison:
        """The answer for one query. No column is constant; x comes before y, and conditions are in order, by name."""

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedRows:
        """The test for this table."""
        return PreparedRows(self, data)


class PreparedRows(Declared):
    """A row test and the table it looks at; incomplete rows are left out."""

    def __init__(self, test: RowTest, data: Dataset) -> None:
        self.test, self.data = test, data
        self.labels = test.labels
        self._complete = complete_rows(data)
        self._rows: dict[int, NDArray[np.intp]] = {}
        self._columns: dict[tuple[int, int], Variable | None] = {}

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order."""
        name, answers = self.data.names.__getitem__, []
        for query in queries:
            found = self._clear(query)
            if found is None:
                x, y = (self._variable(end, query.view) for end in sorted((query.x, query.y), key=name))
                given = [self._variable(z, query.view) for z in sorted(query.given, key=name)]
                random = self._random(query) if self.test.draws else _NO_RANDOM
                found = untestable(Reason.CONSTANT)
                if x is not None and y is not None:
                    found = self.test.compare(x, y, [z for z in given if z is not None], random)
                if not found.reason and not np.isfinite(found.p):
                    found = untestable(Reason.COLLINEAR)
            answers.append(found)
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
        """What is clear without a look at the rows: nothing, but for tests that know more."""
        return None

    def _variable(self, column: int, view: int) -> Variable | None:
        """A column on the rows of a view; None if it is constant there."""
        if (column, view) not in self._columns:
            rows, values = self.rows_of(view), np.asarray(self.data.columns[column])
            values = values if len(rows) == len(values) else values[rows]  # all rows: no copy
            found = as_variable(np.asarray(values, np.float64), self.data.kinds[column])
            if found is not None and found.kind is Kind.CONTINUOUS:
                found = found._replace(values=standardised(found.values))
            self._columns[column, view] = found
        return self._columns[column, view]

    def _random(self, query: CIQuery) -> np.random.Generator:
        names = self.data.names
        view = [[name, str(value)] for name, value in
                described(self.data.contexts, query.view, names, self.data.levels).items()]  # fmt: skip
        text = json.dumps([self.test.seed, sorted((names[query.x], names[query.y])),
                           sorted(names[z] for z in query.given), view])  # fmt: skip
        return np.random.default_rng(np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint32))


def as_variable(values: Floats, kind: Kind) -> Variable | None:
    """The values as a `Variable`, with codes of the levels that occur; None if they are constant."""
    if kind.is_number:
        return None if values.size == 0 or values.min() == values.max() else Variable(values, kind)
    occurring, codes = np.unique(values, return_inverse=True)
    return None if occurring.size < 2 else Variable(codes.astype(np.float64), kind, int(occurring.size))


def standardised(values: Floats) -> Floats:
    """Numbers with mean 0 and variance 1, so that units and offsets change nothing."""
    centred = values - values.mean()
    centred /= np.abs(centred).max()
    return np.asarray((centred - centred.mean()) / centred.std())


SMALLEST_SHARE = 1e-5
"""A column whose unexplained part is shorter than this share of it adds nothing."""
FEWEST_DF = 5


def columns_of(variable: Variable) -> Floats:
    """A number less its mean, at most 1 in size; a column of 0 and 1 less its mean for every level of other variables.

    Shape (rows, 1) or (rows, levels).
    """
    if variable.is_number:
        centred = variable.values - variable.values.mean()
        return np.asarray((centred / np.abs(centred).max())[:, None])
    indicators = np.asarray(variable.values[:, None] == np.arange(variable.levels), dtype=np.float64)
    return np.asarray(indicators - indicators.mean(axis=0))


def base_of(given: Sequence[Variable], rows: int) -> Floats:
    """An orthogonal basis of 1 and the conditions, whose first column is 1 and whose columns have mean square 1."""
    one = np.ones((rows, 1))
    if not given:
        return one
    return np.hstack([one, added_to(one, np.hstack([condition_columns(variable) for variable in given]))])


def condition_columns(variable: Variable) -> Floats:
    """The columns of a condition: those of the variable, and log(1 + count) beside a count.

    Effects of counts are often proportional to them, and often to their logarithm; a condition that misses its own
    effect leaves a dependence behind.
    """
    own = columns_of(variable)
    if variable.kind is not Kind.COUNT or variable.values.min() < 0.0:
        return own
    return np.hstack([own, columns_of(Variable(np.log1p(variable.values), Kind.CONTINUOUS))])


def added_to(base: Floats, columns: Floats) -> Floats:
    """An orthogonal basis of what the columns add to `base`, with mean squares 1; shape (rows, added rank)."""
    rows = len(base)
    length = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    scaled = columns / np.where(length > 0.0, length, 1.0)
    for _ in range(2):  # once more for what rounding left
        scaled = scaled - base @ (base.T @ scaled / rows)
    left, spread, _ = np.linalg.svd(scaled, full_matrices=False)
    return np.asarray(left[:, spread > SMALLEST_SHARE] * np.sqrt(rows))


def strata_of(given: Sequence[Variable], rows: int) -> Ints:
    """A number 0, 1, ... for every row: the combination of values that the conditions have there."""
    strata = np.zeros(rows, dtype=np.int64)
    for variable in given:
        _, own = np.unique(variable.values, return_inverse=True)
        _, strata = np.unique(strata * (own.max() + 1) + own, return_inverse=True)
    return strata


def parts_of(strata: Ints) -> list[NDArray[np.intp]]:
    """The rows of every stratum, in order."""
    order = np.argsort(strata, kind="stable")
    return np.split(order, np.cumsum(np.bincount(strata))[:-1])


def association(x: Floats, y: Floats, base: Floats) -> Comparison:
    """Whether x and y, bases of what two variables add to `base` (from `added_to`), are uncorrelated.

    From shapes (rows, p), (rows, q) and (rows, rank): correlation and n - rank - 1 for p = q = 1, else Rao's F and its
    first degrees of freedom, pq.
    """
    (rows, p), q, rank = x.shape, y.shape[1], base.shape[1]
    if p == 0 or q == 0:
        return untestable(Reason.COLLINEAR)
    if rows - rank - max(p, q) < FEWEST_DF or rows - rank - p - q < 1:
        return untestable(Reason.FEW_ROWS)
    if p == q == 1:
        df = rows - rank - 1
        bounded = float(np.clip(float(x[:, 0] @ y[:, 0]) / rows, -1.0, 1.0))
        unexplained = (1.0 - bounded) * (1.0 + bounded)
        t = abs(bounded) * math.sqrt(df / unexplained) if unexplained > 0.0 else math.inf
        return Comparison(bounded, df, float(2.0 * scipy.special.stdtr(df, -t)))
    canonical = np.clip(np.linalg.svd(x.T @ y / rows, compute_uv=False), 0.0, 1.0)
    unexplained = float(np.prod((1.0 - canonical) * (1.0 + canonical)))
    return _rao(unexplained, p, q, rows - rank)


def _rao(unexplained: float, p: int, q: int, spare: int) -> Comparison:
    """Rao's F of Wilks' lambda; `spare` is the number of rows less the rank of the conditions."""
    below = p * p + q * q - 5
    root = math.sqrt((p * p * q * q - 4) / below) if below > 0 else 1.0
    df = (spare - (p + q + 1) / 2) * root - (p * q - 2) / 2
    share = unexplained ** (1.0 / root)
    ratio = (1.0 - share) / share * df / (p * q) if share > 0.0 else math.inf
    return Comparison(ratio, float(p * q), float(scipy.special.fdtrc(p * q, df, ratio)))


Draw = Callable[[int, int], Floats]
"""`draw(first, count)`: the statistics of `count` permutations, from the one of that number on."""

Count = Callable[[Floats, int], tuple[int, int]]
"""`draw(uniforms, most)`: how many draws reach the observed statistic, and how many were made until `most` did."""
ENOUGH, DRAWS, BATCH = 20, 500, 20
"""Of `sequential_p`: draws end when `ENOUGH` reach the observed statistic, else after `DRAWS`; `BATCH` at a time."""

_FEWEST_AT_ONCE = 8
_ROUNDING = 1e-9


def permutation_p(observed: float, draw: Draw, most: int, enough: int | None) -> float:
    """The share of permutations whose statistic is at least the observed one, by sequential Monte Carlo.

    Permutations are drawn until `enough` of them reach the observed statistic; then p = enough / draws. If that does
    not happen in `most` draws, p = (reached + 1) / (draws + 1), which is also the p-value without early stopping
    (`enough` None). Drawing many at once changes nothing: the p-value is that of drawing one after the other.

    Notes
    -----
    Besag and Clifford (1991), "Sequential Monte Carlo p-values". Under independence both kinds of p-value are valid.
    With enough / most > alpha, stopping early changes no decision at level alpha: a stopped p-value is above
    alpha, and so is the one after all draws. Statistics that differ by rounding are equal.

    Examples
    --------
    >>> permutation_p(1.0, lambda first, count: np.arange(first, first + count) % 2.0, most=100, enough=10)
    0.5
    """
    threshold = observed - _ROUNDING * max(1.0, abs(observed)) if np.isfinite(observed) else observed
    reached, drawn = 0, 0
    while drawn < most:
        wanted = most if enough is None else max(enough - reached, _FEWEST_AT_ONCE)
        hits = np.flatnonzero(draw(drawn, min(wanted, most - drawn)) >= threshold)
        if enough is not None and reached + hits.size >= enough:
            return enough / float(drawn + hits[enough - reached - 1] + 1)
        reached, drawn = reached + hits.size, drawn + min(wanted, most - drawn)
    return (reached + 1) / (drawn + 1)


def check_permutations(permutations: int, enough: int | None) -> None:
    """Raise `OptionError` unless there is at least one permutation, and one to stop at if any."""
    if permutations < 1:
        raise OptionError(f"permutations is {permutations!r}, expected at least 1")
    if enough is not None and enough < 1:
        raise OptionError(f"enough is {enough!r}, expected at least 1, or None to draw all permutations")


def sequential_p(draw: Count, rows: int, random: np.random.Generator) -> float:
    """The share of draws that reach the observed statistic, which counts as a draw where few do.

    `draw` gets random numbers of shape (draws, rows).
    """
    reached = drawn = 0
    while reached < ENOUGH and drawn < DRAWS:
        more, made = draw(random.random((BATCH, rows)), ENOUGH - reached)
        reached, drawn = reached + more, drawn + made
    return reached / drawn if reached >= ENOUGH else (reached + 1) / (drawn + 1)
