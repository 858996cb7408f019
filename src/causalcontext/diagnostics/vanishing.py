"""Edges that some contexts have and others have not: a change of mechanism, or of what the data can show?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.diagnostics.support import Cause, MatchedSupport, Support
from causalcontext.graphs.ends import Kind, as_written, mark_of
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.mechanism_difference import conditions

TOPIC = "missing edge"
WORDS = {
    Cause.MECHANISM: "persists where both contexts have data, so the mechanism differs (a physical change)",
    Cause.SUPPORT: "vanishes on the values that both contexts have, so its absence is a matter of support",
    Cause.SINGULAR: "cannot show where most values of the cause are one and the same",
    Cause.FEW_ROWS: "would hardly show in so few rows with so little variation of the cause",
    Cause.UNDECIDED: "cannot be compared: too few rows lie where both contexts have data",
}
WORDS_IN_PAG = WORDS | {
    Cause.MECHANISM: "persists where both contexts have data, so a mechanism or a hidden common cause differs"
}
ADVICE = {
    Cause.SUPPORT: "read it as descriptive: the link may exist there, on values that were not seen",
    Cause.SINGULAR: "leave the variable out of this context, or take its other values from elsewhere",
    Cause.FEW_ROWS: "do not read it as a difference between contexts; see labels() and changes()",
    Cause.UNDECIDED: "do not read it as a change of mechanism without other evidence",
}
RANK = (Cause.SINGULAR, Cause.SUPPORT, Cause.FEW_ROWS, Cause.UNDECIDED, Cause.MECHANISM)
"""Which verdict counts where an edge has no direction: the one that trusts the absence least."""


def vanishing_edges(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """One finding for every missing edge of a context, compared with the largest context that has it."""
    support = Support(rows, result.settings.alpha)
    ends = np.stack([result.graphs[value].ends for value in result.contexts])
    contexts = result.cells.positions
    for x, y in zip(*np.nonzero(np.triu(ends.any(axis=0))), strict=True):
        if x in contexts or y in contexts:
            continue
        has = np.flatnonzero(ends[:, x, y]).tolist()
        told: set[MatchedSupport] = set()  # cells that differ in other context variables share a comparison
        for absent in np.flatnonzero(ends[:, x, y] == 0).tolist():
            present = _nearest(result, has, absent)
            source, target = as_written(ends[present], int(x), int(y))
            mark = mark_of(ends[present], source, target)
            settled = mark == "-->" and result.union.kind is Kind.PATTERN
            verdict = _verdict(result, support, source, target, settled, present, absent)
            if verdict not in told or len(contexts) == 1:
                yield _finding(result, (source, target, mark), verdict, present, absent)
            told.add(verdict)


def _nearest(result: ContextGraphs, having: list[int], absent: int) -> int:
    """The context with most rows among those that have the edge and differ least in their context variables."""
    return min(having, key=lambda g: (len(result.cells.differing(g, absent)), -result.data.rows[g], g))


def _finding(result: ContextGraphs, link: tuple[int, int, str], verdict: MatchedSupport, present: int,
             absent: int) -> Finding:  # fmt: skip
    x, y, mark = link
    edge = f"{result.names[x]} {mark} {result.names[y]}"
    here, there = result.contexts[present], result.contexts[absent]
    severity = Severity.NOTE if verdict.cause is Cause.MECHANISM else Severity.CAUTION
    evidence = {"source": result.names[x], "target": result.names[y], "present": here, "absent": there,
                "cause": verdict.cause.value, "p": verdict.p, "matched rows": verdict.rows,
                "variance ratio": verdict.variance_ratio, "power": verdict.power}  # fmt: skip
    words = WORDS if result.union.kind is Kind.PATTERN else WORDS_IN_PAG
    message = f"{edge} is in {here} and not in {there}: it {words[verdict.cause]}"
    return Finding(TOPIC, severity, message, ADVICE.get(verdict.cause, ""), evidence)


def _verdict(
    result: ContextGraphs, support: Support, x: int, y: int, directed: bool, present: int, absent: int
) -> MatchedSupport:
    made_from = result.settings.indicator  # its ranges never overlap between the steps made out of it
    given = [z for z in conditions(result, x, y, absent) if result.names[z] != made_from]
    found = [support.verdict(x, y, given, present, absent)]
    if not directed:
        found.append(support.verdict(y, x, given, present, absent))
    return min(found, key=lambda verdict: RANK.index(verdict.cause))
