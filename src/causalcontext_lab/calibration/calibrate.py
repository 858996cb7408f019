"""`calibrate`: from a table and a test to the share of wrong and of right rejections; its
options.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np

from causalcontext import read_file
from causalcontext.ci_tests.protocol import IndependenceTest, prepared_test
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.checks import check_statistics
from causalcontext.data.dataset import Dataset, complete_rows, some_rows
from causalcontext.data.sufficient_statistics import drop_empty_cells, gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.diagnostics.stability import each_sample
from causalcontext.errors import (
    InterruptedSearch,
    NotYetError,
    OptionError,
    check_choice,
    check_jobs,
    check_level,
    check_whole,
)
from causalcontext.methods.method_object import option
from causalcontext.options import made, takes
from causalcontext.progress import Count, counting_bar
from causalcontext.views import Reason
from causalcontext_lab.arrays import Floats
from causalcontext_lab.calibration.report import (
    Calibration,
    Repeat,
    calibration_table,
    queries_frame,
)
from causalcontext_lab.calibration.tables import (
    ALTERNATIVES,
    NULLS,
    DrawnQuery,
    QueryClass,
    all_questions,
    changed_column,
    finished,
    null_column,
    one_question,
    query_table,
)

LARGEST_SEED = 2**31
MOST_ROWS = 20_000
"""Larger tables are calibrated on a sample of their rows."""


@dataclass(frozen=True)
class CalibrationOptions:
    """What to calibrate, and how; `calibrate` says what each of them means."""

    test: str | IndependenceTest = option(
        "auto", "NAME", "auto, or a test by name: tsagris, cmi-knn, ..."
    )
    x: str | None = option(None, "COLUMN", "One variable of a pair; all kinds of pairs without it.")
    y: str | None = option(None, "COLUMN", "The other end.")
    given: Sequence[str] | None = option(None)
    null: str = option("permutation", "NAME", "permutation or bootstrap.")
    alternative: str = option("mean", "NAME", "mean, slope, variance or association.")
    effect: float = option(0.5, "NUMBER", "In standard deviations of the noise.")
    alpha: float = option(0.05, "NUMBER", "Larger p-values mean independence.")
    repeats: int = option(200, "N", "Null tables for every row of the answer.")
    largest_given: int = option(2, "N", "The largest number of conditions.")
    kinds: Mapping[str, str] | None = option(None)
    missing: str = option("raise", "MODE", "Missing values: raise, or listwise (drop rows).")
    seed: int = option(0, "N", "Same seed, same answer.")
    n_jobs: int = option(1, "N", "Processes; -1 for all cores.", "jobs")

    def __post_init__(self) -> None:
        find_test(self.test)
        check_choice("null", self.null, NULLS)
        check_choice("alternative", self.alternative, ALTERNATIVES)
        check_choice("missing", self.missing, ("raise", "listwise"))
        real = isinstance(self.effect, int | float | np.integer | np.floating) and not isinstance(
            self.effect, bool
        )
        if not real or not 0.0 <= self.effect < np.inf:
            raise OptionError(f"effect is {self.effect!r}, expected a number from 0")
        if self.alternative == "association" and self.effect > 1.0:
            raise OptionError(
                f"effect is {self.effect!r}, expected a probability: between 0 and 1 for"
                " 'association'"
            )
        check_level("alpha", self.alpha)
        check_whole("repeats", self.repeats, 1)
        check_whole("largest_given", self.largest_given, 0)
        check_whole("seed", self.seed)
        check_jobs(self.n_jobs)
        if (self.x is None) != (self.y is None):
            found, other = ("x", "y") if self.y is None else ("y", "x")
            raise OptionError(
                f"{found} is {(self.x or self.y)!r} but there is no {other}; name both, or neither"
                " for all kinds of pair"
            )
        if self.x is None and self.given is not None:
            raise OptionError(
                "given is for a pair that is named; name x and y too, or leave it out"
            )

    def settings(self, context: str | None) -> dict[str, Any]:
        """What a report says about how it was made."""
        return {
            "context": None if context is None else str(context),
            "test": find_test(self.test).name,
            "x": self.x,
            "y": self.y,
            "given": None if self.given is None else list(self.given),
            "null": self.null,
            "alternative": self.alternative,
            "effect": float(self.effect),
            "alpha": float(self.alpha),
            "repeats": int(self.repeats),
            "largest_given": int(self.largest_given),
            "missing": self.missing,
            "seed": int(self.seed),
        }


class CalibrationKeywords(TypedDict, total=False):
    """The fields of `CalibrationOptions`, for type checkers."""

    test: str | IndependenceTest
    x: str | None
    y: str | None
    given: Sequence[str] | None
    null: str
    alternative: str
    effect: float
    alpha: float
    repeats: int
    largest_given: int
    kinds: Mapping[str, str] | None
    missing: str
    seed: int
    n_jobs: int


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

    Every repeat draws a query, replaces one of its two columns by one that depends on the
    conditions alone, and asks the test; then once more with a dependence of a known kind and
    strength. A test that is right rejects a share `alpha` of the first.

    Parameters
    ----------
    table : pandas, polars or pyarrow table, 2-D array with `names`, or path of a file
        Of more than 20,000 rows, as many are drawn.
    context : str, optional
        The column that names the context.
    test : str or IndependenceTest
        As for `discover`.
    x, y : str, optional
        The pair to test; by default every class of pair that the table has, drawn anew in every
        repeat.
    given : sequence of str, optional
        The conditions, if a pair is named.
    null : {"permutation", "bootstrap"}
        The noise of a number: its own residuals in another order, or Gaussian. A category is drawn
        from a multinomial logit on the conditions.
    alternative : {"mean", "slope", "variance", "association"}
        A shift in one category or a slope on a number ("association" for two categories); another
        slope on a condition in one category, or above the median of a number; noise 1 + `effect`
        times as large there; for two categories, each of the one tied to one of the other with
        probability `effect`.
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
    >>> question = {"x": "soil", "y": "runoff", "given": ["precipitation"]}
    >>> report = cc.calibrate(soil, "soil", **question, repeats=100)
    >>> report.table["verdict"].tolist()
    ['right']
    """
    chosen = made(CalibrationOptions, options, "calibrate")
    settings = chosen.settings(context)
    table = read_file(table) if isinstance(table, str | os.PathLike) else table
    table = read_table(table, context, kinds=chosen.kinds, names=names)
    data, notes = _rows_to_use(table, chosen.missing, int(chosen.seed))
    if chosen.x is None or chosen.y is None:
        questions = all_questions(data, chosen.largest_given)
    else:
        questions = (one_question(data, chosen.x, chosen.y, chosen.given or ()),)
    found: list[Repeat] = []
    total = int(chosen.repeats) * len(questions)
    try:
        with counting_bar("queries", progress) as advance:
            for one in each_sample(
                partial(run_repeat, data, questions, chosen), total, int(chosen.seed), chosen.n_jobs
            ):
                found.append(one)
                advance(len(found), total)
    except KeyboardInterrupt:
        if not found:
            raise
    queries = queries_frame(questions, found)
    complete = len(found) == total
    report = Calibration(
        calibration_table(queries, float(chosen.alpha)), queries, settings, notes, complete
    )
    if not complete:
        raise InterruptedSearch(report)
    return report


def _rows_to_use(data: Dataset, missing: str, seed: int) -> tuple[Dataset, tuple[str, ...]]:
    """The complete rows, or a sample of them, without contexts that have none; and what was left
    out.
    """
    statistics = gather_statistics(data, missing)
    check_statistics(statistics, data, missing)
    rows = np.flatnonzero(complete_rows(data))
    notes = []
    if len(rows) < data.n_rows:
        notes.append(f"{data.n_rows - len(rows):,} rows with missing values were left out")
    if len(rows) > MOST_ROWS:
        notes.append(f"{MOST_ROWS:,} of {len(rows):,} rows were drawn at random")
        rows = np.sort(np.random.default_rng(abs(seed)).choice(rows, MOST_ROWS, replace=False))
    kept = some_rows(data, rows)
    return drop_empty_cells(kept, gather_statistics(kept))[0], tuple(notes)


def run_repeat(
    data: Dataset,
    questions: Sequence[QueryClass],
    options: CalibrationOptions,
    place: int,
    seed: int,
) -> Repeat:
    """The repeat at that place: its query is drawn, its response drawn anew, with and without a
    dependence.
    """
    repeat, number = divmod(place, len(questions))
    random = questions[number].random(seed, repeat)
    draw = questions[number].draw(len(data.contexts.cells), random)
    test = find_test(options.test, int(random.integers(LARGEST_SEED)))
    null = null_column(data, draw, options.null, random)
    kind = data.kinds[draw.response]
    said = _answer(data, draw, finished(null.fitted + null.noise, kind), test)
    name, changed = changed_column(
        options.alternative, data, draw, null, float(options.effect), random
    )
    power = np.nan if changed is None else _answer(data, draw, finished(changed, kind), test)[2]
    x, y = sorted((data.names[draw.response], data.names[draw.other]))
    given = tuple(sorted(data.names[column] for column in draw.given))
    return Repeat(number, repeat, x, y, given, data.names[draw.response], *said, name, power)


def _answer(
    data: Dataset, draw: DrawnQuery, response: Floats, test: IndependenceTest
) -> tuple[str, int, float, int]:
    """What a test says about one table: its name, the rows it used, its p-value, or the reason why
    it has none.
    """
    small, query = query_table(data, draw, response)
    try:
        prepared = prepared_test(test, small, gather_statistics(small))
    except NotYetError:
        return "", 0, np.nan, Reason.NO_TEST
    found = prepared.answer([query])
    label = prepared.labels[0 if found.label is None else int(found.label[0])]
    name = "" if found.reason[0] == Reason.NO_TEST else label.name
    return name, int(found.n[0]), float(found.p[0]), int(found.reason[0])
