"""How does a table contradict the model behind its own result? The model checks, for a method and its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.dataset import with_normal_scores
from causalcontext.data.kinds import Kind
from causalcontext.data.sufficient_statistics import drop_empty_cells
from causalcontext.errors import listed
from causalcontext.model_checks.linear_fits import check_table
from causalcontext.model_checks.violations import CURVES, KINDS, OUTLIERS, ROWS, TAILS, UNEXPLAINED, Violation

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.results.contexts import ContextGraphs

MODEL_FREE = ("cmi-knn", "rcot")
"""Tests that assume nothing but independent rows, for two numbers too, which others leave to partial correlations."""
CURVED = ("basis",)
"""Tests of numbers that see curves of one column; products of two they do not."""
HARMLESS = (TAILS,)
"""What does not make claims of change false."""
ENGINE = (OUTLIERS, ROWS)
"""What matters to a score-based method, which says itself what its own residuals contradict."""


def find_violations(result: ContextGraphs) -> tuple[Violation, ...]:
    """What the model checks find that matters to the method and the test; nothing without rows.

    Of a table that was read in batches they look at the sample, whose rows do not follow each other. A search with lags
    has copies of columns that nothing in its window causes: these checks are not for it.
    """
    data = _rows_at_hand(result)
    if data is None or not result.complete or result.settings.series:
        return ()
    kinds = _kinds(result) if result.rows is not None else tuple(kind for kind in _kinds(result) if kind != ROWS)
    data = with_normal_scores(data) if by_ranks(result) else data
    endpoints = np.stack([result.graphs[value].endpoints for value in result.contexts])
    return tuple(violation for violation in check_table(data, endpoints) if violation.kind in kinds)


def _rows_at_hand(result: ContextGraphs) -> Dataset | None:
    """All rows, or the sample of a table that was read in batches; None of a loaded result."""
    if result.rows is not None or result.scanned is None:
        return result.rows
    return drop_empty_cells(result.scanned.data, result.scanned.statistics)[0]


def slopes_mislead(result: ContextGraphs) -> str:
    """Why slopes must not be compared between contexts: the model is wrong; empty if nothing says so."""
    found = () if result.evidence is None else result.evidence.contradicted
    if any(kind in found for kind in UNEXPLAINED):
        return f"the model is wrong ({next(words for kind, words in UNEXPLAINED.items() if kind in found)})"
    wrong = [violation for violation in result.violations if violation.kind not in HARMLESS]
    if not wrong:
        return ""
    return f"the model is wrong ({wrong[0].kind} at {listed(wrong[0].columns)})"


def is_curved(result: ContextGraphs) -> bool:
    """Whether mechanisms are more than straight lines."""
    return result.evidence is not None and result.evidence.curved


def has_levels(result: ContextGraphs) -> bool:
    """Whether equations hold categories or ordered columns, which have no slopes."""
    system = set(range(len(result.names))) - set(result.cells.positions)
    return result.evidence is not None and any(not Kind(result.data.kinds[place]).is_number for place in system)


def by_ranks(result: ContextGraphs) -> bool:
    """Whether the search replaced columns by normal scores that the rows of the result do not have."""
    searched = result.evidence is not None and result.evidence.transform == "ranks"
    return searched or result.settings.test == "gaussian-ranks"


def _kinds(result: ContextGraphs) -> tuple[str, ...]:
    if result.evidence is not None:
        return ENGINE
    if result.settings.test in MODEL_FREE:
        return (ROWS,)
    if result.settings.test in CURVED:
        return tuple(kind for kind in KINDS if kind != CURVES)
    return KINDS
