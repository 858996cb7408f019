"""Two numbers given numbers, where mechanisms may be curved: curves of the conditions are chosen,
and taken out.

Every number offers itself, its square, squared hinges and steps. Correlations of all these columns
are computed once for every view of the rows; then whole groups of queries are answered from them by
one kernel call. Taking out all curves at once costs power and is wrong in size; choosing those that
either end needs is not (docs/tests.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from causalcontext.ci_tests.protocol import grouped, no_outcomes, put
from causalcontext.ci_tests.rows import (
    Comparison,
    PreparedRows,
    RowTest,
    Variable,
    standardised,
    untestable,
)
from causalcontext.ci_tests.settings import BASIS_HINGES, BASIS_STEPS
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.rows.basis import SAME_CURVE, Basis, answer_basis
from causalcontext.kernels.rows.scan import add_cross_products, mirror
from causalcontext.views import CIQuery, Outcomes, Reason


@dataclass(frozen=True)
class ChosenCurves(RowTest):
    """Partial correlation that takes curves of the conditions out, and looks for curves between the
    two ends.

    Conditions that are categories, or a context on all rows, are left to `auto`: slopes may differ
    between them.
    """

    name: str = "basis"
    draws: ClassVar[bool] = False
    sees_curves: ClassVar[bool] = True
    most_rows: int = 50_000  # of longer tables that many are asked, drawn from all alike
    seed: int = 0  # draws them

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """Two continuous columns given numbers; counts have an uneven spread, which `tsagris`
        knows.
        """
        return {x, y} == {Kind.CONTINUOUS} and all(kind.is_number for kind in given)

    def answers(self, data: Dataset, query: CIQuery) -> bool:
        """True where the test takes the columns of a query, but for contexts that are constant in
        its rows.
        """
        fixed = data.contexts.fixed(query.view)
        given = [data.kinds[z] for z in query.given if z not in fixed]
        return self.takes(data.kinds[query.x], data.kinds[query.y], given)

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedRows:
        """The test for this table."""
        return PreparedBasis(self, data, self.most_rows, self.seed)

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The answer for one query."""
        basis = basis_of([variable.values for variable in (x, y, *given)])
        numbers, reasons = _ask(basis, [(0, 1, tuple(range(2, 2 + len(given))))])
        if reasons[0]:
            return untestable(Reason(int(reasons[0])))
        return Comparison(*numbers[0].tolist())


class PreparedBasis(PreparedRows):
    """The test and the table it looks at: a table of correlations for every view, made when it is
    first needed.
    """

    def __init__(self, test: RowTest, data: Dataset, most_rows: int, seed: int) -> None:
        super().__init__(test, data)
        self._most_rows = most_rows
        self._seed = seed
        self._bases: dict[int, Basis] = {}

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order; those on the same rows by one call."""
        outcomes = no_outcomes(len(queries))
        for view, chosen in grouped(queries, lambda query: query.view).items():
            basis = self._basis(view)
            name = self.data.names.__getitem__
            questions = []
            for i in chosen:
                x, y = sorted((queries[i].x, queries[i].y), key=name)
                given = tuple(sorted(queries[i].given, key=name))
                questions.append((x, y, given))
            numbers, reasons = _ask(basis, questions)
            statistic, df, p = numbers.T
            rows = np.full(len(chosen), basis.rows, dtype=np.int64)
            put(outcomes, chosen, Outcomes(statistic, df, p, rows, reasons.astype(np.int8)))
        return outcomes

    def rows_of(self, view: int) -> NDArray[np.intp]:
        """The complete rows of a view, or some of them."""
        rows = super().rows_of(view)
        if len(rows) > self._most_rows:
            rows = np.random.default_rng(self._seed).choice(rows, self._most_rows, replace=False)
            self._rows[view] = np.sort(rows)
        return self._rows[view]

    def _basis(self, view: int) -> Basis:
        """The correlations on the rows of a view; categories and constant columns have no columns
        there.
        """
        if view not in self._bases:
            rows = self.rows_of(view)
            variables = []
            for position, column in enumerate(self.data.columns):
                is_number = self.data.kinds[position].is_number
                if is_number and position not in self.data.contexts.positions:
                    variables.append(np.asarray(column, np.float64)[rows])
                else:
                    variables.append(np.zeros(len(rows)))
            self._bases[view] = basis_of(variables)
        return self._bases[view]


def basis_of(variables: Sequence[Floats]) -> Basis:
    """Correlations of the columns that every variable offers; a constant one offers none.

    >>> basis_of([np.arange(100.0), np.repeat(1.0, 100), np.tile([0.0, 1.0], 50)]).first.tolist()
    [0, 14, 14, 15]
    """
    columns = [offered(values) for values in variables]
    together = np.concatenate(columns)
    rows = len(variables[0])
    table = np.zeros((1, len(together), len(together)))
    add_cross_products(together, table[0])
    mirror(table)
    first = np.array([0, *accumulate(len(part) for part in columns)], dtype=np.int64)
    return Basis(table[0] / max(rows, 1), first, rows)


def offered(values: Floats) -> Floats:
    """A number in standard units and its curves, each without what the ones before explain; shape
    (columns, rows).
    """
    if values.size == 0 or values.min() == values.max():
        return np.empty((0, len(values)))
    x = standardised(values)
    hinges = np.quantile(x, BASIS_HINGES)
    steps = np.quantile(x, BASIS_STEPS)
    functions = chain(
        [x, x * x],
        (np.maximum(x - at, 0.0) ** 2 for at in hinges),
        (x > at for at in steps),
    )
    kept: list[Floats] = []
    for function in functions:
        rest = np.asarray(function, np.float64) - np.mean(function)
        size = np.mean(rest * rest)
        for _ in range(2):  # once more, for the digits that the first time lost
            for column in kept:
                rest = rest - np.mean(rest * column) * column
        left = np.mean(rest * rest)
        if left > SAME_CURVE * size:
            kept.append(rest / np.sqrt(left))
    return np.array(kept)


def _ask(
    basis: Basis, asked: Sequence[tuple[int, int, tuple[int, ...]]]
) -> tuple[Floats, NDArray[np.int64]]:
    """The numbers and reasons of questions (x, y, given), from one call."""
    pairs = np.array([question[:2] for question in asked], dtype=np.int64).reshape(-1, 2)
    start = np.array([0, *accumulate(len(question[2]) for question in asked)], dtype=np.int64)
    given = np.array([z for question in asked for z in question[2]], dtype=np.int64)
    numbers = np.full((len(asked), 3), np.nan)
    reasons = np.zeros(len(asked), dtype=np.int64)
    answer_basis(basis, pairs, start, given, numbers, reasons)
    return numbers, reasons
