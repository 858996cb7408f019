"""score-ac: the best-scoring model asks no questions; mechanisms and their parents may differ
between contexts.
"""

from __future__ import annotations

from dataclasses import replace

from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.errors import DataError
from causalcontext.methods.task import Task
from causalcontext.model_checks.violations import Violation
from causalcontext.results.outcome import Outcome
from causalcontext.score.engine import run_score
from causalcontext.timeseries.scored import score_windows

FEWEST = 10
"""Rows that every context must have in the sample of a scan."""


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
    """Which context has too few rows in the sample of a scan; "" if none has."""
    if _is_sample(task):
        found = gather_statistics(task.data, "listwise")
        for value, rows in zip(found.values, found.moments.rows.tolist(), strict=True):
            if rows < FEWEST:
                return (
                    f"context {value!r} has {rows} of the rows that the scan kept, score-ac needs"
                    f" {FEWEST}"
                )
    return ""


def _is_sample(task: Task) -> bool:
    return int(task.statistics.moments.rows.sum()) > task.data.n_rows
