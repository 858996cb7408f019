"""All checks in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from causalcontext.data.dataset import Dataset
from causalcontext.diagnostics.assumptions import (
    broken_rules,
    directed_cycles,
    large_cycles,
    model_violations,
    proxy_links,
    residuals_against,
    told_with_the_result,
    turned_directions,
    wrong_cells,
)
from causalcontext.diagnostics.findings import Diagnosis, Finding, Severity
from causalcontext.diagnostics.other_methods import selection_bias, unconfirmed_causes
from causalcontext.diagnostics.rows import determinism, near_misses, ranked_overlap, rows_and_power, untestable_pairs
from causalcontext.diagnostics.vanishing import vanishing_edges

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

OF_ANY_GRAPH: tuple[Callable[[ContextGraphs], Iterator[Finding]], ...] = (
    told_with_the_result, model_violations, residuals_against, wrong_cells,
)  # fmt: skip
CHECKS: tuple[Callable[[ContextGraphs], Iterator[Finding]], ...] = (
    rows_and_power, untestable_pairs, selection_bias, broken_rules, directed_cycles, turned_directions,
    large_cycles, near_misses, proxy_links,
)  # fmt: skip
CHECKS_OF_ROWS: tuple[Callable[[ContextGraphs, Dataset], Iterator[Finding]], ...] = (
    unconfirmed_causes, vanishing_edges, determinism, ranked_overlap,
)  # fmt: skip

RANKS = ("deterministic context", "search", "model", "untestable", "missing edge", "cancellation", "wrong cells",
         "proxies", "assumptions", "rows", "overlap", "selection bias", "near miss", "large cycles")  # fmt: skip


def diagnose(result: ContextGraphs) -> Diagnosis:
    """The findings of every check, the most severe first, then by what they are about (`RANKS`)."""
    checks = OF_ANY_GRAPH if result.context is None else (*OF_ANY_GRAPH, *CHECKS)
    found = [finding for check in checks for finding in check(result)]
    rows, unchecked = result.rows, _unchecked(result)
    if unchecked is not None:
        found.append(unchecked)
    elif rows is not None:
        found += [finding for check in CHECKS_OF_ROWS for finding in check(result, rows)]
    return Diagnosis(tuple(sorted(found, key=_rank)))


def _rank(finding: Finding) -> tuple[int, int]:
    """Severe ones first, then those that bear on what differs between contexts."""
    return -finding.severity, RANKS.index(finding.topic) if finding.topic in RANKS else len(RANKS)


def _unchecked(result: ContextGraphs) -> Finding | None:
    """Why rows are not checked; None if they are."""
    if result.context is None:
        return Finding("context", Severity.NOTE, "without a context there is one graph, and nothing to compare")
    if result.series is not None:
        missing = "missing edges, determinism and overlap are not checked with lags"
        return Finding("rows", Severity.NOTE, missing, "changes() says which differences may be claimed")
    if result.scanned is not None:
        missing = "missing edges, hidden causes and overlap are not checked in a table that was read in batches"
        return Finding("rows", Severity.NOTE, missing, "run discover on a part of it that fits in memory")
    if result.rows is None:
        missing = "missing edges, determinism and overlap: not available on a loaded result, which has no rows"
        return Finding("rows", Severity.NOTE, missing, "run discover again to have them checked")
    return None
