"""What so many rows can show at all, what could not be tested, and what was decided by a hair."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from scipy import special

from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.log import Decision
from causalcontext.results.words import p_words
from causalcontext.search.ledger import pairs_at

LARGE_EFFECT = 0.3
POWER = 0.8
KEPT, REMOVED = 1.25, 1.1
"""An edge was kept by a hair if p > alpha / 1.25, and a link at a context removed by one if p < 1.1 alpha."""
MOST_NEAR = 3
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
    masked, given = result.log.kept.view > 0, result.log.kept.given
    sizes = (given >= 0).sum(axis=2) - np.isin(given, result.cells.positions).sum(axis=2)
    smallest = np.argsort(result.data.rows, kind="stable")[:MOST_LISTED]
    for place in sorted(smallest.tolist()):
        yield _power_of(result, place, int(sizes[place][masked[place]].max(initial=0)))
    more = len(result.contexts) - len(smallest)
    if more:
        yield Finding("rows", Severity.NOTE, f"{more} more contexts have at least as many rows as these")


def _power_of(result: ContextGraphs, place: int, given: int) -> Finding:
    value, n = result.contexts[place], result.data.rows[place]
    least = minimum_detectable(n, given, result.settings.alpha)
    small = least > LARGE_EFFECT
    message = f"{value} has {n:,} rows: a partial correlation of {least:.2f} is found with a power of 80 %"
    advice = "an edge that is missing there may be lack of power; see labels()" if small else ""
    evidence = {"context": value, "rows": n, "given": given, "minimum detectable": least}
    return Finding("rows", Severity.WARNING if small else Severity.NOTE, message, advice, evidence)


def untestable_pairs(result: ContextGraphs) -> Iterator[Finding]:
    """Pairs that keep their edge because no test of them could be run."""
    for place, value in enumerate(result.contexts):
        count = int((result.log.kept.decision[place] == Decision.UNTESTABLE).sum())
        if count:
            message = f"{count} pairs could not be tested in {value} and kept their edge"
            yield Finding("untestable", Severity.WARNING, message, "see tests() for the reasons",
                          {"context": value, "pairs": count})  # fmt: skip


def near_misses(result: ContextGraphs) -> Iterator[Finding]:
    """Edges that were kept by a hair, and links at a context that were removed by one: those silence the context.

    Among many pairs without a link some p-values are close to alpha by chance, so the margins are narrow.
    """
    alpha, log = result.settings.alpha, result.log
    contexts = result.cells.positions
    tests: dict[tuple[int, float], list[int]] = {}  # one test may decide in several contexts
    for slots, found in log.blocks():
        first, second = pairs_at(slots, len(result.names))
        at_context = np.isin(first, contexts) | np.isin(second, contexts)
        kept = (found.decision == Decision.PRESENT) & (found.p > alpha / KEPT)
        near = kept | ((found.decision == Decision.ABSENT) & (found.p < alpha * REMOVED) & at_context)
        for place, k in zip(*(index.tolist() for index in np.nonzero(near)), strict=True):
            tests.setdefault((int(slots[k]), float(found.p[place, k])), []).append(place)
    pairs = dict(zip(sorted({slot for slot, _ in tests}), _pairs(result, tests), strict=True))
    order = sorted(tests, key=lambda test: (set(pairs[test[0]]).isdisjoint(contexts), test[1]))
    for slot, p in order[:MOST_NEAR]:
        yield _near_miss(result, tests[slot, p], slot, *pairs[slot])
    if len(order) > MOST_NEAR:
        yield Finding("near miss", Severity.NOTE, f"{len(order) - MOST_NEAR} more decisions were close; see tests()")


def _pairs(result: ContextGraphs, tests: Collection[tuple[int, float]]) -> list[tuple[int, int]]:
    """The two variables of every pair that tests are about, in the order of the pairs."""
    slots = np.array(sorted({slot for slot, _ in tests}), dtype=np.int64)
    first, second = pairs_at(slots, len(result.names))
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _near_miss(result: ContextGraphs, places: list[int], slot: int, x: int, y: int) -> Finding:
    names, p = (result.names[x], result.names[y]), float(result.log.at(places[0], slot).p)
    kept = result.log.at(places[0], slot).decision == Decision.PRESENT
    at_context = not {x, y}.isdisjoint(result.cells.positions)
    message = (
        f"{names[0]} - {names[1]} in {_where(result, places)} was {'kept' if kept else 'removed'} with {p_words(p)}"
    )
    missed = at_context and not kept
    advice = "a missed link at the context hides what the context changes: try a larger alpha" if missed else ""
    evidence = {"x": names[0], "y": names[1], "context": result.contexts[places[0]], "p": p, "kept": bool(kept)}
    return Finding("near miss", Severity.CAUTION if at_context else Severity.NOTE, message, advice, evidence)


def _where(result: ContextGraphs, places: list[int]) -> str:
    """Contexts in words."""
    if len(places) == len(result.contexts):
        return "all contexts"
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return f"{result.contexts[places[0]]}{more}"
