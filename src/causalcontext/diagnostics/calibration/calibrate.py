"""`calibrate`: from a table and a test to the share of wrong and of right rejections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from causalcontext.data.checks import check_statistics
from causalcontext.data.dataset import Dataset, complete_rows, some_rows
from causalcontext.data.sufficient_statistics import drop_empty_cells, gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.diagnostics.calibration.options import CalibrationKeywords, CalibrationOptions
from causalcontext.diagnostics.calibration.questions import QueryClass, all_questions, one_question
from causalcontext.diagnostics.calibration.repeats import Repeat, Repeats, run_repeats
from causalcontext.diagnostics.calibration.report import Calibration
from causalcontext.diagnostics.calibration.sizes import calibration_table, queries_frame
from causalcontext.errors import InterruptedSearch
from causalcontext.options import made, takes
from causalcontext.progress import Count, counting_bar

MOST_ROWS = 20_000
"""Larger tables are calibrated on a sample of their rows."""


@takes(CalibrationOptions)
def calibrate(
    table: Any,
    context: str | None = None,
    *,
    names: Sequence[str] | None = None,
    progress: bool | Count = False,
    **options: Unpack[CalibrationKeywords],
) -> Calibration:
    """The size and the power of a test on tables like this one.

    Every repeat draws a query, replaces one of its two columns by one that depends on the conditions alone, and asks
    the test; then once more with a dependence of a known kind and strength. A test that is right rejects a share
    `alpha` of the first.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, or 2-D array with `names`
        Of more than 20,000 rows, as many are drawn.
    context : str, optional
        The column that names the context.
    test : str or IndependenceTest
        As for `discover`.
    x, y : str, optional
        The pair to test; by default every class of pair that the table has, drawn anew in every repeat.
    given : sequence of str, optional
        The conditions, if a pair is named.
    null : {"permutation", "bootstrap"}
        The noise of a number: its own residuals in another order, or Gaussian. A category is drawn from a multinomial
        logit on the conditions.
    alternative : {"mean", "slope", "variance", "association"}
        A shift in one category or a slope on a number ("association" for two categories); another slope on a condition
        in one category, or above the median of a number; noise 1 + `effect` times as large there; for two categories,
        each of the one tied to one of the other with probability `effect`.
    effect : float
        In standard deviations of the noise.
    alpha : float
        A p-value that is not larger means rejection.
    repeats : int
    largest_given : int
        The largest number of conditions, unless a pair is named.
    kinds : mapping from column to {"continuous", "categorical", "ordered", "count"}, optional
        Overrides what the dtypes say.
    missing : {"raise", "listwise"}
        Stop at missing values, or drop the rows that have some.
    names : sequence of str, optional
        Column names of an array.
    seed : int
    n_jobs : int
        Worker processes of joblib; -1 for all cores. The result does not depend on it.
    progress : bool or callable
        Show a bar with the time left, or call `progress(queries done, queries in all)`.

    Returns
    -------
    Calibration

    Raises
    ------
    CausalContextError
        With one sentence that says what was found, what was expected and what to do.
    InterruptedSearch
        After Ctrl-C; its `result` holds the calibration by the repeats until then.

    Examples
    --------
    >>> import causalcontext as cc
    >>> soil = cc.examples.soil_moisture(300, seed=1)
    >>> report = cc.calibrate(soil, "soil", x="soil", y="runoff", given=["precipitation"], repeats=100)
    >>> report.table["verdict"].tolist()
    ['right']
    """
    chosen = made(CalibrationOptions, options, "calibrate")
    settings = chosen.settings(context)
    table = read_table(table, context, kinds=chosen.kinds, names=names)
    data, notes = _rows_to_use(table, chosen.missing, int(chosen.seed))
    questions = _questions(data, chosen)
    plan = Repeats(data, questions, chosen.test, chosen.null, chosen.alternative, float(chosen.effect),
                   int(chosen.seed))  # fmt: skip
    found, complete = _collect(plan, int(chosen.repeats), chosen.n_jobs, progress)
    queries = queries_frame(questions, found)
    report = Calibration(calibration_table(queries, float(chosen.alpha)), queries, settings, notes, complete)
    if not complete:
        raise InterruptedSearch(report)
    return report


def _questions(data: Dataset, options: CalibrationOptions) -> tuple[QueryClass, ...]:
    """The query that is named, or a question for every class of pair."""
    if options.x is None or options.y is None:
        return all_questions(data, options.largest_given)
    return (one_question(data, options.x, options.y, options.given or ()),)


def _rows_to_use(data: Dataset, missing: str, seed: int) -> tuple[Dataset, tuple[str, ...]]:
    """The complete rows, or a sample of them, without contexts that have none; and what was left out."""
    statistics = gather_statistics(data, missing)
    check_statistics(statistics, data, missing)
    rows, notes = np.flatnonzero(complete_rows(data)), []
    if len(rows) < data.n_rows:
        notes.append(f"{data.n_rows - len(rows):,} rows with missing values were left out")
    if len(rows) > MOST_ROWS:
        notes.append(f"{MOST_ROWS:,} of {len(rows):,} rows were drawn at random")
        rows = np.sort(np.random.default_rng(abs(seed)).choice(rows, MOST_ROWS, replace=False))
    kept = some_rows(data, rows)
    return drop_empty_cells(kept, gather_statistics(kept))[0], tuple(notes)


def _collect(plan: Repeats, repeats: int, n_jobs: int, progress: bool | Count) -> tuple[list[Repeat], bool]:
    """What was found, and whether nothing is missing; an interruption before the first repeat is passed on."""
    found: list[Repeat] = []
    total = repeats * len(plan.questions)
    try:
        with counting_bar("queries", progress) as advance:
            for part in run_repeats(plan, repeats, n_jobs):
                found += part
                advance(len(found), total)
    except KeyboardInterrupt:
        if not found:
            raise
    return found, len(found) == total
