"""What the library answers to a table, beside the truth and beside its answer to the clean
table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from time import perf_counter
from typing import Any

import numpy as np
from cases import Case

import causalcontext as cc

Marked = tuple[str, str, str]


@dataclass
class Answer:
    """The graph of every clean context, claims, one effect, and the warnings, in the names of the
    clean table.
    """

    error: str = ""
    graphs: dict[str | None, dict[frozenset[str], Marked]] = field(default_factory=dict)
    claims: set[tuple[str, str, str]] = field(default_factory=set)
    claims_of_alike: int = 0
    interval: tuple[float, float] | None = None
    warnings: tuple[str, ...] = ()
    refused: bool = False
    """Whether claims are refused since the model is wrong."""
    seconds: float = 0.0


def answer_to(case: Case) -> Answer:
    """The answer to a table, or the sentence that refuses it."""
    truth, answer = case.base.truth, Answer()
    back = {str(new): old for old, new in case.names.items()}
    values: dict[str | None, Any] = {None: "all"}
    if truth.values is not None:
        values = {value: case.values.get(value, value) for value in truth.values}
    options = dict(case.options)
    if truth.tiers:
        options["knowledge"] = cc.Knowledge(
            tiers=[[str(case.now(name)) for name in tier] for tier in truth.tiers]
        )
    kinds = {case.now(name): kind for name, kind in case.kinds.items()}
    begin = perf_counter()
    try:
        result = case.hand_over(case.table, {"context": case.context, "kinds": kinds, **options})
    except cc.CausalContextError as error:
        answer.error = str(error)
        return answer
    answer.warnings = result.warnings
    for value, here in values.items():
        edges = [
            (back.get(edge.source, edge.source), back.get(edge.target, edge.target), edge.mark)
            for edge in result.graphs[here].edges
        ]
        answer.graphs[value] = {frozenset(edge[:2]): edge for edge in edges}
    if len(set(values.values())) > 1:
        changes = result.changes(*values.values())
        answer.claims = {
            (back.get(row.source, row.source), back.get(row.target, row.target), row.kind)
            for row in changes.itertuples()
            if row.claimed
        }
        answer.refused = any("the model is wrong" in str(reason) for reason in changes["reason"])
    for pair in case.alike:
        answer.claims_of_alike += int(result.changes(*pair)["claimed"].sum())
    if not case.everywhere:
        answer.interval = _interval(case, result, values)
    answer.seconds = perf_counter() - begin
    return answer


def _interval(
    case: Case, result: cc.ContextGraphs, values: dict[str | None, Any]
) -> tuple[float, float] | None:
    """The interval of the effect that is asked, in the units of the clean table."""
    cause, effect, _ = case.base.truth.asked
    where = values[case.base.truth.values[1]] if case.base.truth.values else "all"
    if str(case.now(cause)) not in result.names or str(case.now(effect)) not in result.names:
        return None
    try:
        rows = result.effects(str(case.now(cause)), str(case.now(effect)))
    except cc.CausalContextError:
        return None
    alone = rows[rows["versus"].isna()]
    chosen = [row for row in alone.itertuples() if row.context == where]
    if not chosen or np.isnan(chosen[0].low):
        return None
    unit = case.scale.get(cause, 1.0) / case.scale.get(effect, 1.0)
    low, high = sorted((chosen[0].low * unit, chosen[0].high * unit))
    return low, high


SLACK = 0.5
"""Widths of an interval by which it may miss the true effect: of clean tables one in twenty misses
it by less, and one in ten thousand by more."""


@dataclass(frozen=True)
class Figures:
    """How an answer compares with the truth; counts of links are means over the two contexts."""

    links: float = 0.0
    false_links: float = 0.0
    wrong_arrows: float = 0.0
    claims: float = 0.0
    false_claims: float = 0.0
    covered: float = 0.0
    """1 where the interval has the true effect or nearly so, 0 where it has not; not a number where
    there is none.
    """
    told: float = 0.0
    """Whether a warning that the clean table does not get tells of the accident."""
    refused: float = 0.0
    named: float = 0.0
    """Whether the sentence that refuses a table names the matter."""


def figures_of(case: Case, answer: Answer, clean: Answer) -> Figures:
    """The figures of an answer; the columns that an accident affects are left out of links and
    claims.
    """
    if answer.error:
        return Figures(refused=1.0, named=float(_tells(case, answer.error)))
    told = any(_tells(case, warning) for warning in _new(answer.warnings, clean.warnings))
    links, false, wrong = _links(case, answer)
    claims, false_claims = _claims(case, answer)
    covered = float("nan")
    if answer.interval is not None and not case.affected & set(case.base.truth.asked[:2]):
        low, high = answer.interval
        slack = SLACK * (high - low)
        covered = float(low - slack <= case.base.truth.asked[2] <= high + slack)
    return Figures(links, false, wrong, claims, false_claims, covered, float(told))


def _links(case: Case, answer: Answer) -> tuple[float, float, float]:
    """True links, false links and arrows that point the wrong way, among columns that the accident
    does not affect.
    """
    truth = case.base.truth
    own = {str(name) for name in case.base.table} - case.affected
    true, false, wrong = 0, 0, 0
    for value, graph in answer.graphs.items():
        linked = {pair for pair in case.base.links(value, case.everywhere) if pair <= own}
        for pair, (source, target, mark) in graph.items():
            if not pair <= own:
                continue
            false += pair not in linked
            wrong += mark == "-->" and (target, source) in truth.arrows
        stood = {
            frozenset((x, y))
            for pair in graph
            for x in _stands_for(case, min(pair))
            for y in _stands_for(case, max(pair))
            if x != y
        }
        true += len(linked & stood)
    count = max(len(answer.graphs), 1)
    return true / count, false / count, wrong / count


def _claims(case: Case, answer: Answer) -> tuple[float, float]:
    """True and false claims of change."""
    truth = case.base.truth
    own = {str(name) for name in case.base.table} - case.affected
    true: set[tuple[str, str]] = set()
    false = answer.claims_of_alike
    for source, target, kind in answer.claims:
        pairs = {(x, y) for x in _stands_for(case, source) for y in _stands_for(case, target)}
        if not case.everywhere and kind in ("edge", "slope") and pairs & set(truth.changed):
            true |= {pair for pair in pairs & set(truth.changed) if set(pair) <= own}
        elif kind in ("level", "spread") and {y for _, y in pairs} & set(truth.moved):
            continue
        elif target in own and (source in own or source == truth.context):
            false += 1
    return float(len(true)), float(false)


def _stands_for(case: Case, name: str) -> tuple[str, ...]:
    return case.stands_for.get(name, (name,))


def _new(warnings: Sequence[str], clean: Sequence[str]) -> list[str]:
    """The warnings that the clean table does not get, whatever numbers they hold."""
    known = {re.sub(r"[\d.,]+", "#", warning) for warning in clean}
    return [warning for warning in warnings if re.sub(r"[\d.,]+", "#", warning) not in known]


LETTERS_OF_A_NAME = 60
"""Letters of a long name that a sentence has in any case, before it shortens the name."""


def _tells(case: Case, sentence: str) -> bool:
    return any(
        word[:LETTERS_OF_A_NAME] in sentence
        if len(word) > LETTERS_OF_A_NAME
        else re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence, re.IGNORECASE)
        for word in case.about
    )


class Verdict(StrEnum):
    """What an accident does to the answer about the other columns."""

    FINE = "fine"
    TOLD = "told"
    """Something true is lost, nothing false is said, and a warning tells of it."""
    REFUSED = "refused"
    """There is no answer, and a sentence names the matter."""
    LOST = "lost"
    """Something true is lost, and no warning tells of it."""
    FALSE = "false"
    """Something false is said, though a warning tells of the matter."""
    SILENT = "silent"
    """Something false is said, and no warning tells of it; or a table is refused by a sentence that
    names nothing.
    """


FALSE_LINKS, WRONG_ARROWS, FALSE_CLAIMS, UNCOVERED = 0.3, 0.34, 0.3, 0.3
LOST_LINKS, LOST_CLAIMS = 0.5, 0.34
"""How much a mean over tables may differ from that of the clean tables: a link that one context of
one table in two has by chance, or lacks, is no harm; half would cry at accidents that add a column
of noise, double would miss a link in every second table."""


def verdict_on(after: Sequence[Figures], before: Sequence[Figures]) -> Verdict:
    """The verdict on the means of some tables, after an accident and before."""
    refused = [figures for figures in after if figures.refused]
    if any(not figures.named for figures in refused):
        return Verdict.SILENT
    if 2 * len(refused) > len(after):
        return Verdict.REFUSED
    answered = [pair for pair in zip(after, before, strict=True) if not pair[0].refused]
    mean, clean = (
        {
            entry.name: _mean([getattr(pair[which], entry.name) for pair in answered])
            for entry in fields(Figures)
        }
        for which in (0, 1)
    )
    worse = {name: mean[name] - clean[name] for name in mean}
    false = (
        worse["false_links"] >= FALSE_LINKS
        or worse["wrong_arrows"] >= WRONG_ARROWS
        or worse["false_claims"] >= FALSE_CLAIMS
        or worse["covered"] <= -UNCOVERED
    )
    lost = worse["links"] <= -LOST_LINKS or worse["claims"] <= -LOST_CLAIMS
    told = mean["told"] > 0.5
    if false:
        return Verdict.FALSE if told else Verdict.SILENT
    if lost:
        return Verdict.TOLD if told else Verdict.LOST
    return Verdict.FINE


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return float(np.mean(known)) if known else float("nan")
