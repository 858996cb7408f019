"""Missing values test by test: every trial uses the rows that are complete in its own columns.

Trials with missing values in the same columns share their rows, and with them a prepared test. Rows without a context
are left out of everything.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.some_rows import some_rows
from causalcontext.data.survey import Survey, take_survey
from causalcontext.independence.protocol import (
    Declared,
    IndependenceTest,
    PreparedTest,
    answer_in_groups,
    prepared_test,
)
from causalcontext.kernels.arrays import Bools
from causalcontext.questions import Outcomes, Trial

MOST_PREPARED = 64
"""Sets of incomplete columns whose prepared test is kept."""


class PreparedTestwise(Declared):
    """A test that is prepared anew for every set of incomplete columns that trials ask about.

    Parameters
    ----------
    test : IndependenceTest
    data : Dataset
        With a placeholder wherever a value is missing.
    survey : Survey
        The moments of `data`.
    missing : mapping from position to array of bool, shape (rows,)
        The rows in which a column has no value.
    """

    def __init__(self, test: IndependenceTest, data: Dataset, survey: Survey,
                 missing: Mapping[int, Bools]) -> None:  # fmt: skip
        self.test, self.data, self.missing = test, data, missing
        self._prepared: OrderedDict[frozenset[int], PreparedTest] = OrderedDict()
        self._prepared[frozenset()] = everywhere = prepared_test(test, data, survey)
        self.labels = everywhere.labels

    def answer(self, trials: Sequence[Trial]) -> Outcomes:
        """One outcome for every trial, in order; `n` says how many rows were complete."""
        return answer_in_groups(
            trials, self._by_columns(trials), lambda columns, asked: self._of(columns).answer(asked)
        )

    def _by_columns(self, trials: Sequence[Trial]) -> dict[frozenset[int], list[int]]:
        """The places of the trials by the incomplete columns that they look at."""
        found: dict[frozenset[int], list[int]] = {}
        for i, trial in enumerate(trials):
            columns = frozenset(c for c in (trial.x, trial.y, *trial.given) if c in self.missing)
            found.setdefault(columns, []).append(i)
        return found

    def _of(self, columns: frozenset[int]) -> PreparedTest:
        """The test prepared for the rows that are complete in these columns."""
        if columns not in self._prepared:
            complete = ~np.any([self.missing[column] for column in columns], axis=0)
            part = some_rows(self.data, complete)
            self._prepared[columns] = prepared_test(self.test, part, take_survey(part))
            if len(self._prepared) > MOST_PREPARED:
                self._prepared.popitem(last=False)
        self._prepared.move_to_end(columns)
        return self._prepared[columns]
