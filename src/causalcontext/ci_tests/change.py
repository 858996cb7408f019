"""A category against a number: does the regression of the number on the conditions differ between
the categories?

Three questions share the level, the mean most of it: shifts of the mean (F), slopes (F) and spread
(the larger p of Brown-Forsythe and Bartlett). A gate asks whether the number given the conditions
is linear with an even spread at all. If it is not, a difference between categories proves nothing,
and another model has to agree: a logit of the category on the conditions that needs the number.
What was compared, and why this: docs/decisions/change-test.md.

Rows are looked at only where moments and shared fits leave the decision open. Where every variable
touches the context, every set of variables is asked about, and nearly every answer is "clearly not
independent". For these an upper bound of the p-value is enough (`kernels.rows.robust_change`):
moments of the contexts, and the likelihood of a logit of the context on a set of columns, which all
queries over these columns share. The logit is fitted to some of the rows first; what is clear
beyond doubt there is clear in all of them. Anything that is not clear is answered on rows, as if
nothing had been tried before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import scipy

from causalcontext.ci_tests.rows import (
    Comparison,
    PreparedRows,
    RowTest,
    Variable,
    standardised,
    untestable,
)
from causalcontext.ci_tests.settings import (
    CLEAR_IN_SAMPLE,
    LOOK_BELOW,
    SAMPLE_ROWS,
    SHARED_FIT_SLACK,
    SHARED_FIT_TOLERANCE,
    WIDE_COLUMNS,
)
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, thinned
from causalcontext.data.moments import Moments
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.linear import sweep
from causalcontext.kernels.rows import robust_change as kernels
from causalcontext.kernels.rows.glm import RIDGE, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.kernels.rows.robust_change import CLEAR, GATE_LEVEL, CellMoments, Parts
from causalcontext.views import CIQuery, Reason

ALWAYS = 2.0
"""A gate level above every p-value."""


class ChangeTest(RowTest):
    """A test of one number and one category, with conditions of any kind."""

    draws: ClassVar[bool] = False

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """One number and one category."""
        return x.is_number != y.is_number


@dataclass(frozen=True)
class RobustChange(ChangeTest):
    """Mean, slopes and spread of a number, compared between categories; right in size for heavy and
    skewed tails.

    `gate` is the level of the two checks that the number given the conditions is linear with an
    even spread; 0 trusts in both. A search asks many questions and each may open the gate in vain,
    which costs links where the conditions nearly determine the category.
    """

    name: str = "robust-change"
    gate: float = GATE_LEVEL
    most_rows: int = 20_000  # of longer tables that many are asked, equally many of every context
    seed: int = 0  # draws them
    pair: frozenset[Kind] | None = None

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedRows:
        """The test for this table, or for some of the rows of a long one; clear cases are told from
        moments.
        """
        return PreparedChange(self, thinned(data, self.most_rows, self.seed), self.seed)

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """F, degrees of freedom of the part that decides, and the p-value of all."""
        parts = kernels.robust_change(*as_arrays(x, y, given), LOOK_BELOW, self.gate)
        return (
            untestable(Reason(parts.reason))
            if parts.reason
            else Comparison(parts.statistic, parts.df, parts.p)
        )


def change_parts(
    x: Variable, y: Variable, given: Sequence[Variable] = (), gate: float = GATE_LEVEL
) -> Parts:
    """The kinds of change: every p-value behind `RobustChange`, the gate's included.

    >>> generator = np.random.default_rng(0)
    >>> group = Variable(np.repeat([0.0, 1.0], 100), Kind.CATEGORICAL, 2)
    >>> number = Variable(generator.normal(scale=1 + group.values), Kind.CONTINUOUS)
    >>> parts = change_parts(group, number)
    >>> parts.variance < 0.001 < parts.mean
    True
    """
    parts: Parts = kernels.robust_change(*as_arrays(x, y, given), 2.0, gate)
    return parts


@dataclass(frozen=True)
class CautiousChange(RobustChange):
    """`RobustChange` whose p-value is never smaller than that of the logit, given any conditions.

    `robust-change` asks the logit only where its gate opens. Where the category is made from the
    conditions or from an effect of the number, by sharp bins of a curve, the gate stays shut too
    often. Asking always keeps the level, and costs power where the conditions nearly determine the
    category; so it is no default (docs/tests.md).
    """

    name: str = "cautious-change"
    gate: float = ALWAYS


def as_arrays(
    x: Variable, y: Variable, given: Sequence[Variable]
) -> tuple[Floats, Floats, Ints, int]:
    """Columns of the conditions, the number, codes of the category and how many there are."""
    category = x
    number = y
    if x.is_number:
        category = y
        number = x
    codes = _ranked(category, number.values)
    columns = [column for z in given for column in _columns(z, number.values)]
    conditions = np.column_stack(columns) if columns else np.empty((number.values.size, 0))
    return np.ascontiguousarray(conditions), number.values, codes, category.levels


def _columns(condition: Variable, number: Floats) -> list[Floats]:
    """The numbers of a condition, or dummies for all of its levels but the most frequent one."""
    if condition.is_number:
        return [condition.values]
    codes = _ranked(condition, number)
    return [(codes == level).astype(np.float64) for level in range(condition.levels - 1)]


def _ranked(category: Variable, number: Floats) -> Ints:
    """Codes in ascending order of rows, then of the mean of the number: no answer depends on the
    names of levels.
    """
    codes = category.codes
    rows = np.bincount(codes, minlength=category.levels)
    mean = np.bincount(codes, weights=number, minlength=category.levels) / np.maximum(rows, 1)
    places = np.empty(category.levels, dtype=np.int64)
    places[np.lexsort((mean, rows))] = np.arange(category.levels)
    return places[codes]


class PreparedChange(PreparedRows):
    """A test of a change, and what its queries share: moments, and logits of every category on sets
    of numbers.
    """

    test: RobustChange

    def __init__(self, test: RobustChange, data: Dataset, seed: int) -> None:
        super().__init__(test, data)
        self._seed = seed
        self._shared: dict[tuple[int, int], SharedFits] = {}

    def _clear(self, query: CIQuery) -> Comparison | None:
        """A bound of the p-value, if it is so small that no decision depends on more."""
        category = query.x
        number = query.y
        if self._is_number(query.x):
            category = query.y
            number = query.x
        if not query.given or not all(self._is_number(z) for z in query.given):
            return None
        shared = self._fits(category, query.view)
        if shared is None or not {number, *query.given} <= shared.places.keys():
            return None
        given = tuple(sorted(shared.places[z] for z in query.given))
        statistic, df, p = kernels.bound_from_moments(
            shared.cells, np.array([*given, shared.places[number]])
        )
        if not p <= CLEAR:
            return None
        logit = shared.bound(given, shared.places[number])
        if logit > CLEAR:
            return None
        return Comparison(statistic, df, max(p, logit))

    def parts(self, query: CIQuery) -> Parts | None:
        """Every p-value behind the answer, the logit's where the gate opens; None where a column is
        constant.
        """
        name = self.data.names.__getitem__
        x, y = (self._variable(end, query.view) for end in sorted((query.x, query.y), key=name))
        given = [self._variable(z, query.view) for z in sorted(query.given, key=name)]
        if x is None or y is None:
            return None
        return change_parts(x, y, [z for z in given if z is not None], self.test.gate)

    def _is_number(self, column: int) -> bool:
        return self.data.kinds[column].is_number

    def _fits(self, category: int, view: int) -> SharedFits | None:
        """The parts that queries of a category on the rows of a view share; None if it is constant
        there.
        """
        key = category, view
        if key not in self._shared:
            classes = self._variable(category, view)
            if classes is None:
                return None
            numbers = {
                column: variable
                for column in sorted(self.data.system, key=self.data.names.__getitem__)
                if self._is_number(column)
                and (variable := self._variable(column, view)) is not None
            }
            self._shared[key] = SharedFits(classes, numbers, self._seed)
        return self._shared[key]


ClassedRows = tuple[Floats, Ints]
"""Rows of the numbers, shape (numbers + 1, rows), the first of which is 1, and their classes."""
ResidualColumn = tuple[int, Floats, float]
"""A column whose residual takes its place: where it is, with an intercept first; its slopes; what
they leave.
"""


class SharedFits:
    """Moments of numbers by the classes of one category, and logits of the category on sets of the
    numbers.

    `numbers`, by column, are in the order of their names; the seed draws the rows of the sample.
    """

    def __init__(self, classes: Variable, numbers: dict[int, Variable], seed: int) -> None:
        self.places = {column: number for number, column in enumerate(numbers)}
        rows = np.bincount(classes.codes)
        # as for a query: the last class is largest
        ranks = np.argsort(np.argsort(rows, kind="stable"))
        codes = ranks[classes.codes]
        order = np.argsort(codes, kind="stable")
        columns = [
            variable.values if variable.kind is Kind.CONTINUOUS else standardised(variable.values)
            for variable in numbers.values()
        ]
        design = np.vstack([np.ones(order.size), *columns])[:, order]
        start = np.concatenate(([0], np.cumsum(np.sort(rows))))
        parts = [design[1:, begin:end] for begin, end in pairwise(start)]
        mean = np.array([np.zeros(len(columns)), *(part.mean(axis=1) for part in parts)])
        away = [part - part.mean(axis=1, keepdims=True) for part in parts]
        self.cells = CellMoments(
            start.astype(float), mean, np.array([_products(part) for part in away])
        )
        self._products = _products(design[1:])
        self._samples = _samples((design, codes[order]), np.sort(rows), seed)
        self._fitted: dict[tuple[int, tuple[int, ...]], tuple[float, Floats]] = {}

    def bound(self, given: tuple[int, ...], number: int) -> float:
        """The largest possible p-value of the logit; 1 if that is not clear."""
        both = tuple(sorted((*given, number)))
        turned: ResidualColumn | None = None
        for sample in range(len(self._samples)):
            level = CLEAR if sample == len(self._samples) - 1 else CLEAR_IN_SAMPLE
            small = self._fit(sample, given)
            large = self._fit(sample, both)
            gain = large[0] - small[0] - SHARED_FIT_SLACK
            free = small[1].shape[0]
            if kernels.bound_of_logit(gain, free) > level:
                continue
            turned = turned or self._turned(both, both.index(number))
            lost = kernels.most_lost(large[1], *turned, RIDGE)
            p: float = kernels.bound_of_logit(gain - lost, free)
            if p > level:
                p = kernels.bound_of_logit(
                    self._fit_turned(sample, both, turned) - small[0] - SHARED_FIT_SLACK, free
                )
            if p <= level:
                return p
        return 1.0

    def _fit(self, sample: int, members: tuple[int, ...]) -> tuple[float, Floats]:
        """Likelihood and slopes of a set; begun where that to fewer rows, or those to fewer
        members, ended.
        """
        waiting = [] if (sample, members) in self._fitted else [(sample, members)]
        while waiting:
            k, subset = waiting[-1]
            if k > 0:
                before = [(k - 1, subset)]
            else:
                smaller = {subset[:-1], subset[:-2], (*subset[:-2], *subset[-1:])}
                before = [(0, part) for part in smaller - {subset}]
            missing = [key for key in before if key not in self._fitted]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if (k, subset) not in self._fitted:
                design, codes = self._samples[k]
                slopes = self._start(subset) if k == 0 else self._fitted[k - 1, subset][1].copy()
                likelihood = fit_glm(
                    LOGIT,
                    _chosen(design, subset),
                    codes,
                    len(slopes) + 1,
                    slopes.reshape(-1),
                    RIDGE,
                    SHARED_FIT_TOLERANCE,
                )
                self._fitted[k, subset] = likelihood, slopes
        return self._fitted[sample, members]

    def _start(self, members: tuple[int, ...]) -> Floats:
        """Slopes as if the last two members changed those of the others independently of each
        other.
        """
        slopes = np.zeros((self.cells.start.size - 2, len(members) + 1))
        if members:
            slopes[:, :-1] = self._fitted[0, members[:-1]][1]
        if len(members) > 1:
            other = self._fitted[0, (*members[:-2], members[-1])][1]
            slopes[:, :-2] += other[:, :-1] - self._fitted[0, members[:-2]][1]
            slopes[:, -1] = other[:, -1]
        return slopes

    def _turned(self, members: tuple[int, ...], position: int) -> ResidualColumn:
        """The regression of a member on the others."""
        order = [*(member for member in members if member != members[position]), members[position]]
        products = self._products[np.ix_(order, order)]
        sweep(products, len(order) - 1, int(self.cells.start[-1]))
        weights = np.insert(products[:-1, -1], (0, position), 0.0)
        return position + 1, weights, float(np.sqrt(products[-1, -1] / self.cells.start[-1]))

    def _fit_turned(self, sample: int, members: tuple[int, ...], turned: ResidualColumn) -> float:
        """The likelihood with a residual in place of a member, as a query on rows has it."""
        design, codes = self._samples[sample]
        at, weights, left = turned
        chosen = _chosen(design, members)
        slopes = self._fit(sample, members)[1].copy()
        chosen[at] = (chosen[at] - np.einsum("a,ai->i", weights, chosen)) / left
        slopes += slopes[:, [at]] * weights
        slopes[:, at] *= left
        return fit_glm(
            LOGIT, chosen, codes, len(slopes) + 1, slopes.reshape(-1), RIDGE, SHARED_FIT_TOLERANCE
        )


def _chosen(design: Floats, members: tuple[int, ...]) -> Floats:
    return np.ascontiguousarray(design[[0, *(member + 1 for member in members)]])


def _products(columns: Floats) -> Floats:
    """Of all pairs; few columns have the same digits whatever the names that order them, many are
    worth BLAS.
    """
    if len(columns) > WIDE_COLUMNS:
        return np.asarray(columns @ columns.T)
    return np.asarray(np.einsum("ai,bi->ab", columns, columns))


def change_of_moments(classes: Sequence[Moments], spread: float) -> Comparison:
    """The answer by the moments of every class, the number's column last, and by the p-value of a
    change of its spread.

    The gate, which looks at rows, stays shut.
    """
    rows = np.array([class_moments.rows[0] for class_moments in classes])
    means = np.concatenate([class_moments.mean for class_moments in classes])
    scatter = np.concatenate([class_moments.scatter for class_moments in classes])
    whole = Moments(rows, means, scatter).merged()
    scale = np.sqrt(np.maximum(np.diagonal(whole.scatter[0]) / rows.sum(), 1e-300))
    standard = np.vstack([np.zeros_like(scale), (means - whole.mean) / scale])
    start = np.concatenate(([0.0], np.cumsum(rows)))
    inside = np.ascontiguousarray(scatter / scale / scale[:, None])
    cells = CellMoments(start, standard, inside)
    statistic, df, p = kernels.bound_from_moments(cells, np.arange(scale.size))
    of_spread = kernels.combine(1.0, 1.0 if scale.size > 1 else np.nan, spread)
    df_spread = len(rows) - 1.0
    if not of_spread < p:
        return Comparison(statistic, df, p)
    df_inside = rows.sum() - len(rows)
    statistic = float(scipy.stats.f.isf(spread, df_spread, df_inside))
    return Comparison(statistic, df_spread, of_spread)


def _samples(every: ClassedRows, rows: Ints, seed: int) -> tuple[ClassedRows, ...]:
    """Some of the rows, equally many of every class, then more, then all of them."""
    generator = np.random.default_rng(seed)
    start = np.concatenate(([0], np.cumsum(rows)[:-1]))
    shuffled = [
        begin + generator.permutation(int(size)) for begin, size in zip(start, rows, strict=True)
    ]
    chosen = [
        np.concatenate([np.sort(class_rows[: size // rows.size]) for class_rows in shuffled])
        for size in SAMPLE_ROWS
        if 1.5 * size < rows.sum()
    ]
    design, codes = every
    return *(
        (np.ascontiguousarray(design[:, class_rows]), codes[class_rows]) for class_rows in chosen
    ), every
