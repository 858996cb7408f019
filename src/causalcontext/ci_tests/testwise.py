"""Missing values test by test: every query uses the rows that are complete in its own columns.

Queries with missing values in the same columns share their rows, and with them a prepared test. Rows without a context
are left out of everything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np

from causalcontext.ci_tests.protocol import (
    Declared,
    IndependenceTest,
    PreparedTest,
    answer_in_groups,
    prepared_test,
)
from causalcontext.data.dataset import Dataset, some_rows
from causalcontext.data.sufficient_statistics import SufficientStatistics, gather_statistics
from causalcontext.kernels.arrays import Bools
from causalcontext.views import CIQuery, Outcomes

MOST_PREPARED = 64
"""Sets of incomplete columns whose prepared test is kept."""


class PreparedTestwise(Declared):
    """A test that is prepared anew for every set of incomplete columns that queries ask about.

    Parameters
    ----------
    test : IndependenceTest
    data : Dataset
        With a placeholder wherever a value is missing.
    statistics : SufficientStatistics
        The moments of `data`.
    missing : mapping from position to array of bool, shape (rows,)
        The rows in which a column has no value.
    """

    def __init__(self, test: IndependenceTest, data: Dataset, statistics: SufficientStatistics,
                 missing: Mapping[int, Bools]) -> None:  # fmt: skip
        self.test, self.data, self.missing = test, data, missing
        self._prepared: OrderedDict[frozenset[int], PreparedTest] = OrderedDict()
        self._prepared[frozenset()] = everywhere = prepared_test(test, data, statistics)
        self.labels = everywhere.labels

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order; `n` says how many rows were complete."""
        return answer_in_groups(
            queries, self._by_columns(queries), lambda columns, asked: self._of(columns).answer(asked)
        )

    def _by_columns(self, queries: Sequence[CIQuery]) -> dict[frozenset[int], list[int]]:
        """The places of the queries by the incomplete columns that they look at."""
        found: dict[frozenset[int], list[int]] = {}
        for i, query in enumerate(queries):
            columns = frozenset(c for c in (query.x, query.y, *query.given) if c in self.missing)
            found.setdefault(columns, []).append(i)
        return found

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
