"""score-ac: the best-scoring model asks no questions; mechanisms and their parents may differ
between contexts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.errors import DataError, OptionError, check_level, shortly
from causalcontext.methods.method_object import MethodObject, method_object, option
from causalcontext.methods.settings import FEWEST_SCANNED_ROWS
from causalcontext.methods.task import Task
from causalcontext.model_checks.violations import Violation
from causalcontext.results.outcome import Outcome
from causalcontext.score.engine import run_score
from causalcontext.score.options import ScoreOptions
from causalcontext.timeseries.scored import score_windows


@method_object
class ScoreAC(MethodObject):
    """score-ac: the best-scoring model of mechanisms that may differ between contexts.

    It asks no independence tests, and is strong where lines or curves fit. Marks, effects and
    claims are statements about all models near the best one.

    Parameters
    ----------
    search : {"auto", "order", "exact"}
        "exact" finds the optimum of a small problem, "order" climbs from `starts` orders, "auto"
        takes the quicker one.
    starts : int, optional
        Orders to climb from, the best one for straight lines and random ones; by default fewer, the
        more variables there are.
    curves : {"auto", "never", "always"}
        Whether mechanisms may bend; "auto" asks the likelihood.
    penalty : float
        The price of a parameter in units of the BIC: 1 is the plain BIC.
    wrong_cells : {"auto", "keep"}
        Cells that the rest of their row contradicts are replaced by what it leads to expect, and
        rows that are wrong as a whole left out, if that shortens the description of the table;
        `flagged_cells()` has them. "keep" leaves every cell as it is.
    alpha : float
        The level of the checks of the model and of the claims of change; the search has no level.

    Examples
    --------
    >>> import causalcontext as cc
    >>> table = cc.examples.soil_moisture(2000, seed=1)
    >>> result = cc.discover(table, "soil", method=cc.ScoreAC(curves="never", penalty=1.0))
    >>> result.method
    cc.ScoreAC(curves='never', penalty=1.0)
    """

    name: ClassVar[str] = "score-ac"

    search: str = option(
        "auto", "NAME", "auto (the quicker one), order, or exact for small tables."
    )
    starts: int | None = option(None, "N", "Orders to start from, the first one by straight lines.")
    curves: str = option("auto", "NAME", "auto (if they raise the score enough), never or always.")
    penalty: float = option(2.0, "NUMBER", "The penalty per parameter; 1 is the BIC.")
    wrong_cells: str = option(
        "auto",
        "NAME",
        "auto (replace cells that look wrong, if that shortens the description), or keep.",
    )
    alpha: float = option(0.05, "NUMBER", "The level of checks and of claims of change.")

    def __post_init__(self) -> None:
        check_level("alpha", self.alpha)
        searched = {name: value for name, value in self.values.items() if name != "alpha"}
        ScoreOptions(**searched)
        if self.search == "exact" and self.starts is not None:
            raise OptionError(
                f"starts is {shortly(self.starts)}, which is for climbs from random orders,"
                " and search is 'exact'; leave starts out, or pass search='order'"
            )


def score_ac(task: Task) -> Outcome:
    """score-ac: the best-scoring model."""
    if task.windows is not None:
        return score_windows(
            task.windows, task.links, task.score, task.settings.seed, task.n_jobs, task.advance
        )
    return scored(task)[0]


def scored(task: Task) -> tuple[Outcome, tuple[Violation, ...], bool]:
    """The best-scoring model of the table, what its residuals say, and whether there was time
    enough.
    """
    # Of a table that was scanned the rows are a sample. Curves, noise densities and the logits of
    # the context need rows, and scores can be compared only if all of them come from the same ones:
    # so all of the model rests on the sample.
    table = task.data
    statistics = task.statistics
    score = task.score
    if task.completed is not None:  # a cell that looks wrong would be so in every completed table
        table = task.completed.stacked
        score = replace(score, wrong_cells="keep")
        statistics = gather_statistics(table)
    elif _is_sample(task):
        few = few_rows(task)
        if few:
            raise DataError(f"{few}; pass a larger sample=, or method='pc-ac'")
        # The moments of all rows would go on having cells that look wrong in a sample.
        statistics = gather_statistics(task.data, "listwise")
        score = replace(score, wrong_cells="keep")
    return run_score(
        table, statistics, task.links, score, task.settings.seed, task.n_jobs, task.advance
    )


def few_rows(task: Task) -> str:
    """A sentence about a context with too few rows in the sample of a scan; "" if none has."""
    if _is_sample(task):
        statistics = gather_statistics(task.data, "listwise")
        for value, rows in zip(statistics.values, statistics.moments.rows.tolist(), strict=True):
            if rows < FEWEST_SCANNED_ROWS:
                return (
                    f"context {value!r} has {rows} of the rows that the scan kept, score-ac needs"
                    f" {FEWEST_SCANNED_ROWS}"
                )
    return ""


def _is_sample(task: Task) -> bool:
    return int(task.statistics.moments.rows.sum()) > task.data.n_rows
