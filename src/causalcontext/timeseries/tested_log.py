"""What a search over time by tests decided about every pair, as a log."""

from __future__ import annotations

import numpy as np

from causalcontext.results.entries import Decision, Entries
from causalcontext.results.log import CITestLog
from causalcontext.search.lagged.algorithm import LaggedFound, Record
from causalcontext.search.lagged.plan import LaggedPlan
from causalcontext.search.sepsets import slot
from causalcontext.views import Contexts


def log_of(found: LaggedFound, plan: LaggedPlan, asked: Contexts, contexts: int) -> CITestLog:
    """The log; `asked` numbers the views of the result, and one graph stands for all contexts if there is only one."""
    nodes = plan.window.nodes
    graphs, pairs = len(plan.values), nodes * (nodes - 1) // 2
    width = max((len(record.query.given) for record in found.records.values() if record.query), default=0)
    numbers = np.full((3, graphs, pairs), np.nan)
    facts = np.zeros((4, graphs, pairs), dtype=np.int64)
    view, given = np.full((graphs, pairs), -1), np.full((graphs, pairs, width), -1, dtype=np.int16)
    decision = np.repeat(_undecided(plan)[None], graphs, axis=0)
    for (g, z, y), record in found.records.items():
        place = slot(z, y, nodes)
        if decision[g, place] in (Decision.REQUIRED, Decision.FORBIDDEN):
            continue
        decision[g, place] = _decision(record)
        facts[:, g, place] = record.rows, record.reason, record.untested, 0
        if record.query is not None and record.answer is not None:
            numbers[:, g, place] = record.answer.p, record.answer.statistic, record.answer.df
            facts[:, g, place] = record.answer.n, 0, record.untested, record.answer.label
            view[g, place] = asked.number(plan.contexts.views[record.query.view])
            given[g, place, : len(record.query.given)] = record.query.given
    whole = [0] * contexts if graphs < contexts else list(range(graphs))
    n, reason, untested, label = facts
    entries = Entries(decision[whole], numbers[0, whole], numbers[1, whole], numbers[2, whole], n[whole], view[whole],
                      given[whole], reason[whole].astype(np.int8), untested[whole], np.zeros_like(n[whole]),
                      label[whole].astype(np.int8))  # fmt: skip
    return CITestLog(entries, nodes, found.labels)


def _decision(record: Record) -> Decision:
    if record.separated:
        return Decision.ABSENT
    return Decision.UNTESTABLE if record.answer is None else Decision.PRESENT


def _undecided(plan: LaggedPlan) -> np.ndarray:
    """What is known about every pair before any test: two earlier nodes are not searched, since links repeat."""
    first, second = np.triu_indices(plan.window.nodes, 1)
    searched, links = plan.searched(), plan.links
    now = np.zeros(plan.window.nodes, dtype=bool)
    now[list(plan.targets)] = True
    past_copy = np.array([plan.window.is_context(u) for u in range(plan.window.nodes)]) & ~now
    never = ~(now[first] | now[second])
    unread = (past_copy[first] | past_copy[second]) & ~searched[first, second]
    found = np.where(searched[first, second], Decision.UNTESTABLE, Decision.FORBIDDEN)
    found = np.where(never | unread, Decision.NOT_SEARCHED, found)
    if not plan.context_columns:
        at_context = np.array([plan.window.is_context(u) for u in range(plan.window.nodes)])
        found = np.where(at_context[first] | at_context[second], Decision.NOT_SEARCHED, found)
    return np.where(links.required[first, second], Decision.REQUIRED, found).astype(np.int8)
