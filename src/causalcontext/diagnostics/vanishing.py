"""Edges that some contexts have and others have not: a change of mechanism, or of what the data can show?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.diagnostics.support import Cause, MatchedSupport, Support
from causalcontext.errors import listed
from causalcontext.graphs.endpoints import Endpoints, GraphKind, as_written, mark_of
from causalcontext.results.slope_fits import conditions
from causalcontext.results.verdicts import ChangeVerdict, ChangeVerdicts, verdict_on

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

TOPIC = "missing edge"
WORDS = {
    Cause.MECHANISM: "persists where both contexts have data, so the mechanism differs (a physical change)",
    Cause.SUPPORT: "is not found on the values that both contexts share: its absence may be due to that range",
    Cause.SINGULAR: "cannot be detected where most values of the cause are equal",
    Cause.FEW_ROWS: "would hardly be detected with so few rows and so little variation of the cause",
    Cause.UNDECIDED: "cannot be compared: too few rows lie where both contexts have data",
}
ADVICE = {
    Cause.SUPPORT: "read its absence as descriptive: the link may exist there for values that were not observed",
    Cause.SINGULAR: "leave the variable out for this context, or collect rows in which it varies",
    Cause.FEW_ROWS: "do not read it as a difference between contexts; see labels() and changes()",
    Cause.UNDECIDED: "do not read it as a change of mechanism without other evidence",
}
UNCLEAR = "the slopes do not differ clearly"
DOUBTS = {"no change if the edge has the other direction": "nothing differs if the edge has the other direction"}
MOST_NAMED = 3
MOST_EDGES = 5
RANK = (Cause.SINGULAR, Cause.SUPPORT, Cause.FEW_ROWS, Cause.UNDECIDED, Cause.MECHANISM)
"""Which verdict counts where an edge has no direction: the one that trusts the absence least."""


def vanishing_edges(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Edges that some contexts lack: those that stand first, then a few that are in doubt, and how many more are.

    There is one finding for every edge and every reason why contexts lack it. They are compared with the context that
    has it and differs least in its context variables, of several the largest.
    """
    found: list[Finding] = []
    support = Support(rows, result.settings.alpha)
    endpoints = np.stack([result.graphs[value].endpoints for value in result.contexts])
    contexts, sayings = result.cells.positions, ChangeVerdicts(result)
    for x, y in zip(*np.nonzero(np.triu(endpoints.any(axis=0))), strict=True):
        if x in contexts or y in contexts:
            continue
        has = np.flatnonzero(endpoints[:, x, y]).tolist()
        told: dict[tuple[Cause | None, ChangeVerdict | None], list[tuple[MatchedSupport, int, int]]] = {}
        for absent in np.flatnonzero(endpoints[:, x, y] == 0).tolist():
            differing = [len(result.cells.differing(place, absent)) for place in has]
            present = has[int(np.lexsort((has, [-result.data.rows[place] for place in has], differing))[0])]
            source, target = as_written(endpoints[present], int(x), int(y))
            settled = mark_of(endpoints[present], source, target) == "-->" and result.union.kind is GraphKind.CPDAG
            verdict = _verdict(result, support, source, target, settled, present, absent)
            said = verdict_on(result.names[source], result.names[target], sayings.between(present, absent))
            key = None if said is not None and said.doubt else verdict.cause  # a doubt is one, whatever the support
            told.setdefault((key, said), []).append((verdict, present, absent))
        for (_, said), places in told.items():
            found.append(_finding(result, endpoints, (int(x), int(y)), said, places))
    yield from (finding for finding in found if finding.severity is Severity.NOTE)
    doubtful = [finding for finding in found if finding.severity is not Severity.NOTE]
    yield from doubtful[:MOST_EDGES]
    more = list(dict.fromkeys(f"{f.evidence['source']} - {f.evidence['target']}" for f in doubtful[MOST_EDGES:]))
    if more:
        what = "edges that some contexts lack are" if len(more) > 1 else "edge that some contexts lack is"
        message = f"{len(more)} more {what} in doubt: {', '.join(more)}"
        evidence = {"source": "", "target": "", "cause": "several", "edges": tuple(more)}
        yield Finding(TOPIC, Severity.CAUTION, message, "see changes() and explain() for them", evidence)


def _finding(result: ContextGraphs, endpoints: Endpoints, pair: tuple[int, int], said: ChangeVerdict | None,
             places: list[tuple[MatchedSupport, int, int]]) -> Finding:  # fmt: skip
    """What is said about an edge in all contexts that lack it for one reason."""
    verdict, present, _ = places[0]
    x, y = as_written(endpoints[present], *pair)
    edge = f"{result.names[x]} {mark_of(endpoints[present], x, y)} {result.names[y]}"
    here, without = result.contexts[present], tuple(result.contexts[place] for *_, place in places)
    doubt = "" if said is None else said.doubt  # what speaks against a change of mechanism, as `changes` sees it
    if said is not None and not said.claimed and not doubt and verdict.cause is Cause.MECHANISM:
        doubt = UNCLEAR
    trusted = verdict.cause is Cause.MECHANISM and not doubt
    evidence = {"source": result.names[x], "target": result.names[y], "present": here, "absent": without[0],
                "all absent": without, "cause": verdict.cause.value, "doubt": doubt, "p": verdict.p,
                "matched rows": verdict.rows, "variance ratio": verdict.variance_ratio,
                "power": verdict.power}  # fmt: skip
    shows = ", where its slope is not 0 either" if said is not None and said.kind == "slope" else ""
    where = f"{edge} is in {here} and not in {listed(without, MOST_NAMED)}{shows}"
    words = f"not claimed as a change, since {DOUBTS.get(doubt, doubt)}" if doubt else f"it {WORDS[verdict.cause]}"
    advice = "" if said is not None and said.doubt else ADVICE.get(verdict.cause, "")
    if advice and said is not None and said.claimed:
        advice += "; changes() claims it from the slopes alone"
    return Finding(TOPIC, Severity.NOTE if trusted else Severity.CAUTION, f"{where}: {words}", advice, evidence)


def _verdict(result: ContextGraphs, support: Support, x: int, y: int, directed: bool, present: int, absent: int
             ) -> MatchedSupport:  # fmt: skip
    made_from = result.settings.indicator  # its ranges never overlap between the steps made out of it
    given = [z for z in conditions(result, x, y, absent) if result.names[z] != made_from]
    found = [support.verdict(*ends, given, present, absent) for ends in ((x, y), (y, x))[: 1 if directed else 2]]
    return min(found, key=lambda verdict: RANK.index(verdict.cause))
