"""From a table to a prepared test: one pass over the rows, and what is done about missing values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from causalcontext.ci_tests.protocol import IndependenceTest, PreparedTest, prepared_test
from causalcontext.ci_tests.testwise import PreparedTestwise
from causalcontext.data.checks import check_statistics
from causalcontext.data.dataset import Dataset, missing_rows, with_placeholders
from causalcontext.data.sufficient_statistics import SufficientStatistics, drop_empty_cells, gather_statistics
from causalcontext.kernels.arrays import Bools


class Preparation(NamedTuple):
    """A checked table without empty contexts, its moments, and the test for it."""

    data: Dataset
    statistics: SufficientStatistics
    prepared: PreparedTest


def prepare(data: Dataset, test: IndependenceTest, missing: str, statistics: SufficientStatistics | None = None,
            n_jobs: int = 1, tested: bool = True) -> Preparation:  # fmt: skip
    """What a search needs to begin with.

    Parameters
    ----------
    data : Dataset
    test : IndependenceTest
    missing : {"raise", "listwise", "testwise"}
    statistics : SufficientStatistics, optional
        Of all rows, where `data` are only some of them.
    n_jobs : int
        Threads of the pass over the rows.
    tested : bool
        Whether the method tests, so that an error may advise to drop rows test by test.

    Raises
    ------
    DataError
        The table cannot be searched; see `check_statistics`.
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
