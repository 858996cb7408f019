"""What so many rows can show at all, what could not be tested, and what was decided by a hair."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.log import Decision

LARGE_EFFECT = 0.3
POWER = 0.8
NEAR = 5.0
MOST_LISTED = 10


def minimum_detectable(n: int, given: int, alpha: float) -> float:
    """The partial correlation that n rows show with a power of 80 %, given so many variables; 1 with too few rows.

    Examples
    --------
    >>> round(minimum_detectable(100, 0, 0.05), 3)
    0.277
    """
    if n - given - 3 <= 0:
        return 1.0
    return float(np.tanh((special.ndtri(1 - alpha / 2) + special.ndtri(POWER)) / np.sqrt(n - given - 3)))


def rows_and_power(result: ContextGraphs) -> Iterator[Finding]:
    """Contexts that are too small to show effects of a usual size, and the least effect that each can show."""
    masked = result.log.view > 0
    sizes = (result.log.given >= 0).sum(axis=2)
    for place, value in enumerate(result.contexts):
        n = result.data.rows[place]
        given = int(sizes[place][masked[place]].max(initial=0))
        least = minimum_detectable(n, given, result.settings.alpha)
        small = least > LARGE_EFFECT
        message = f"{value} has {n:,} rows: a partial correlation of {least:.2f} is found with a power of 80 %"
        advice = "an edge that is missing there may be lack of power; see labels()" if small else ""
        evidence = {"context": value, "rows": n, "given": given, "minimum detectable": least}
        yield Finding("rows", Severity.WARNING if small else Severity.NOTE, message, advice, evidence)


def untestable_pairs(result: ContextGraphs) -> Iterator[Finding]:
    """Pairs that keep their edge because no test of them could be run."""
    for place, value in enumerate(result.contexts):
        count = int((result.log.decision[place] == Decision.UNTESTABLE).sum())
        if count:
            message = f"{count} pairs could not be tested in {value} and kept their edge"
            yield Finding("untestable", Severity.WARNING, message, "see tests() for the reasons",
                          {"context": value, "pairs": count})  # fmt: skip


def near_misses(result: ContextGraphs) -> Iterator[Finding]:
    """Decisions with α/5 < p < 5α, links at the context first: a missed one silences the context's information."""
    alpha, log = result.settings.alpha, result.log
    first, second = np.triu_indices(len(result.names), 1)
    context = result.position(str(result.context))
    near = (log.p > alpha / NEAR) & (log.p < alpha * NEAR) & np.isin(log.decision, (Decision.PRESENT, Decision.ABSENT))
    at_context = (first == context) | (second == context)
    near[1:, at_context] = False  # shared by all contexts
    place, slot = np.nonzero(near)
    order = sorted(range(place.size), key=lambda k: (not at_context[slot[k]], log.p[place[k], slot[k]]))
    for k in order[:MOST_LISTED]:
        yield _near_miss(result, int(place[k]), int(slot[k]), int(first[slot[k]]), int(second[slot[k]]))
    if place.size > MOST_LISTED:
        yield Finding("near miss", Severity.NOTE, f"{place.size - MOST_LISTED} more decisions were close; see tests()")


def _near_miss(result: ContextGraphs, place: int, slot: int, x: int, y: int) -> Finding:
    names, p = (result.names[x], result.names[y]), float(result.log.p[place, slot])
    kept = result.log.decision[place, slot] == Decision.PRESENT
    at_context = result.context in names
    where = "all contexts" if at_context else str(result.contexts[place])
    message = f"{names[0]} - {names[1]} in {where} was {'kept' if kept else 'removed'} with p = {p:.2g}"
    missed = at_context and not kept
    advice = "a missed link at the context hides what the context changes: try a larger alpha" if missed else ""
    evidence = {"x": names[0], "y": names[1], "context": result.contexts[place], "p": p, "kept": bool(kept)}
    return Finding("near miss", Severity.CAUTION if at_context else Severity.NOTE, message, advice, evidence)
