"""From a table to a prepared test: one pass over the rows, and what is done about missing values.

Test by test, every query uses the rows that are complete in its own columns. Queries with missing values in the same
columns share their rows, and with them a prepared test. Rows without a context are left out of everything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from causalcontext.ci_tests.protocol import (
    Declared,
    IndependenceTest,
    PreparedTest,
    grouped,
    no_outcomes,
    prepared_test,
    put,
)
from causalcontext.data.checks import check_statistics
from causalcontext.data.dataset import Dataset, missing_rows, some_rows, with_placeholders
from causalcontext.data.sufficient_statistics import SufficientStatistics, drop_empty_cells, gather_statistics
from causalcontext.kernels.arrays import Bools
from causalcontext.views import CIQuery, Outcomes

MOST_PREPARED = 64
"""Sets of incomplete columns whose prepared test is kept."""


class Preparation(NamedTuple):
    """A checked table without empty contexts, its moments, and the test for it."""

    data: Dataset
    statistics: SufficientStatistics
    prepared: PreparedTest


def prepare(data: Dataset, test: IndependenceTest, missing: str, statistics: SufficientStatistics | None = None,
            n_jobs: int = 1, tested: bool = True) -> Preparation:  # fmt: skip
    """What a search needs to begin with, unless `check_statistics` says that the table cannot be searched.

    `statistics` are those of all rows, where `data` are only some of them. With `tested` the method tests, so that an
    error may advise to drop rows test by test.
    """
    gaps = missing_rows(data) if missing == "testwise" and statistics is None else {}
    statistics = gather_statistics(data, missing, n_jobs=n_jobs) if statistics is None else statistics
    if gaps:
        return _prepare_testwise(data, statistics, test, gaps)
    check_statistics(statistics, data, missing, tested)
    data, statistics = drop_empty_cells(data, statistics)
    return Preparation(data, statistics, prepared_test(test, data, statistics))


def _prepare_testwise(
    data: Dataset, observed: SufficientStatistics, test: IndependenceTest, gaps: Mapping[int, Bools]
) -> Preparation:
    """The same with missing values: only rows without a context are dropped."""
    filled = with_placeholders(data, gaps)
    statistics = gather_statistics(filled)
    infinite = replace(statistics, infinite=observed.infinite)
    check_statistics(infinite, data, "listwise")
    statistics = replace(statistics, missing=observed.missing, fingerprint=observed.fingerprint)
    kept, statistics = drop_empty_cells(data, statistics)
    columns = [kept.columns[i] if i in kept.contexts.positions else c for i, c in enumerate(filled.columns)]
    filled = replace(kept, columns=tuple(columns))
    return Preparation(kept, statistics, PreparedTestwise(test, filled, statistics, gaps))


class PreparedTestwise(Declared):
    """A test that is prepared anew for every set of incomplete columns that queries ask about.

    `data` has a placeholder wherever a value is missing, `missing` the rows in which a column has none.
    """

    def __init__(self, test: IndependenceTest, data: Dataset, statistics: SufficientStatistics,
                 missing: Mapping[int, Bools]) -> None:  # fmt: skip
        self.test, self.data, self.missing = test, data, missing
        self._prepared: OrderedDict[frozenset[int], PreparedTest] = OrderedDict()
        self._prepared[frozenset()] = everywhere = prepared_test(test, data, statistics)
        self.labels = everywhere.labels

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order; `n` says how many rows were complete."""
        outcomes = no_outcomes(len(queries))
        for columns, chosen in grouped(queries, self._incomplete).items():
            put(outcomes, chosen, self._of(columns).answer([queries[i] for i in chosen]))
        return outcomes

    def _incomplete(self, query: CIQuery) -> frozenset[int]:
        """The incomplete columns that a query looks at."""
        return frozenset(column for column in (query.x, query.y, *query.given) if column in self.missing)

    def _of(self, columns: frozenset[int]) -> PreparedTest:
        """The test prepared for the rows that are complete in these columns."""
        if columns not in self._prepared:
            complete = ~np.any([self.missing[column] for column in columns], axis=0)
            part = some_rows(self.data, complete)
            self._prepared[columns] = prepared_test(self.test, part, gather_statistics(part))
            if len(self._prepared) > MOST_PREPARED:
                self._prepared.popitem(last=False)
        self._prepared.move_to_end(columns)
        return self._prepared[columns]
