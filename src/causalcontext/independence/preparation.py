"""From a table to a prepared test: one pass over the rows, and what is done about missing values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from causalcontext.data.checks import check_survey
from causalcontext.data.dataset import Dataset
from causalcontext.data.missing import missing_rows, with_placeholders
from causalcontext.data.survey import Survey, drop_empty_cells, take_survey
from causalcontext.independence.protocol import IndependenceTest, PreparedTest, prepared_test
from causalcontext.independence.testwise import PreparedTestwise
from causalcontext.kernels.arrays import Bools


class Preparation(NamedTuple):
    """A checked table without empty contexts, its moments, and the test for it."""

    data: Dataset
    survey: Survey
    prepared: PreparedTest


def prepare(data: Dataset, test: IndependenceTest, missing: str, survey: Survey | None = None,
            n_jobs: int = 1, tested: bool = True) -> Preparation:  # fmt: skip
    """What a search needs to begin with.

    Parameters
    ----------
    data : Dataset
    test : IndependenceTest
    missing : {"raise", "listwise", "testwise"}
    survey : Survey, optional
        Of all rows, where `data` are only some of them.
    n_jobs : int
        Threads of the pass over the rows.
    tested : bool
        Whether the method tests, so that an error may advise to drop rows test by test.

    Raises
    ------
    DataError
        The table cannot be searched; see `check_survey`.
    """
    gaps = missing_rows(data) if missing == "testwise" and survey is None else {}
    survey = take_survey(data, missing, n_jobs=n_jobs) if survey is None else survey
    if gaps:
        return _prepare_testwise(data, survey, test, gaps)
    check_survey(survey, data, missing, tested)
    data, survey = drop_empty_cells(data, survey)
    return Preparation(data, survey, prepared_test(test, data, survey))


def _prepare_testwise(
    data: Dataset, observed: Survey, test: IndependenceTest, gaps: Mapping[int, Bools]
) -> Preparation:
    """The same with missing values: only rows without a context are dropped."""
    filled = with_placeholders(data, gaps)
    survey = take_survey(filled)
    infinite = replace(survey, infinite=observed.infinite)
    check_survey(infinite, data, "listwise")
    survey = replace(survey, missing=observed.missing, fingerprint=observed.fingerprint)
    kept, survey = drop_empty_cells(data, survey)
    columns = [kept.columns[i] if i in kept.contexts.positions else c for i, c in enumerate(filled.columns)]
    filled = replace(kept, columns=tuple(columns))
    return Preparation(kept, survey, PreparedTestwise(test, filled, survey, gaps))
