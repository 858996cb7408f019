"""The model checks of a result: contradictions between the table and the model, for a method and
its test.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.coarse import MOST_ORDERED
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, with_normal_scores
from causalcontext.data.sufficient_statistics import drop_empty_cells
from causalcontext.errors import listed
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.model_checks.linear_fits import check_rows, check_table
from causalcontext.model_checks.violations import (
    CURVES,
    KINDS,
    OUTLIERS,
    ROWS,
    TAILS,
    UNEXPLAINED,
    AdviceFacts,
    Violation,
    sentence,
)
from causalcontext.results.equations import CATEGORY, Scale
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.kept import answers_of
from causalcontext.results.series import context_nodes, series_of
from causalcontext.results.settings import TOO_FEW_LAGS

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

STRAIGHT = ("linear", "level")
"""Kinds of terms that are no curves."""
HARMLESS = (TAILS,)
"""Violations that do not make claims of change false."""
ENGINE = (OUTLIERS, ROWS)
"""Violations that matter to a score-based method, which says itself what its residuals contradict;
outliers only where it did not look for wrong cells: those that it leaves are part of the noise,
whose density it knows."""


def violations_of(result: ContextGraphs) -> tuple[Violation, ...]:
    """The model checks that fail, made now if they were not made before: a question, no reading.

    Without rows nothing is checked, and nothing is kept.
    """
    kept = answers_of(result)
    if result.rows is None and result.windowed is None and result.scanned is None:
        return kept.violations or ()
    if kept.violations is None:
        kept.violations = find_violations(result.searched)
    return kept.violations


def known_violations(result: ContextGraphs) -> tuple[Violation, ...]:
    """The model checks that are known to fail; none where they were not made."""
    return answers_of(result).violations or ()


def check_words(result: ContextGraphs) -> tuple[str, ...]:
    """The model checks that are known to fail, each in a sentence that says what to try."""
    facts = advice_facts(result)
    return tuple(
        sentence(violation, result.context is not None, facts)
        for violation in known_violations(result)
    )


def words_about_rows(result: ContextGraphs) -> tuple[str, ...]:
    """The sentences on rows that depend on each other, after a search by tests of a table in
    memory; the checks that are not about rows wait for `diagnose()`.
    """
    if result.rows is None or not result.final:
        return ()
    endpoints = np.stack([result.graphs[value].endpoints for value in result.contexts])
    found = check_rows(_as_searched(result, _in_scores(result, result.rows)), endpoints)
    facts = advice_facts(result)
    return tuple(sentence(violation, result.context is not None, facts) for violation in found)


def _in_scores(result: ContextGraphs, data: Dataset) -> Dataset:
    """The table as the search saw it, by normal scores where it did."""
    return with_normal_scores(data) if by_ranks(result) else data


def advice_facts(result: ContextGraphs) -> AdviceFacts:
    """The methods and options that advice need not name, since the search had them."""
    options = [("test", result.settings.test), ("method", result.settings.method)]
    if by_ranks(result):
        options.append(("transform", "ranks"))
    return AdviceFacts(suits_score(result), tuple(options))


def suits_score(result: ContextGraphs) -> bool:
    """True where score-ac takes the context: with lags one column at most, not made of another."""
    if result.series is None:
        return True
    return len(result.cells.positions) <= 1 and result.settings.indicator is None


def find_violations(result: ContextGraphs) -> tuple[Violation, ...]:
    """The findings of the model checks that matter to the method and the test; nothing without
    rows.

    Of a table that was read in batches they look at the sample, whose rows do not follow each
    other. With lags they look at the windows, and at variables of time t alone: nothing in a window
    causes what was before. Whether windows depend on earlier ones is the question of the lag alarm.
    """
    if not result.final:
        return ()
    endpoints = np.stack([result.graphs[value].endpoints for value in result.contexts])
    kinds = _kinds_that_matter(result)
    if result.windowed is not None:
        return _violations_of_windows(result, endpoints, kinds - {ROWS})
    data = result.rows
    if data is None and result.scanned is not None:
        data = drop_empty_cells(result.scanned.data, result.scanned.statistics)[0]
        kinds -= {ROWS}
    if data is None:
        return ()
    data = _as_searched(result, _in_scores(result, data))
    return tuple(violation for violation in check_table(data, endpoints) if violation.kind in kinds)


def _kinds_that_matter(result: ContextGraphs) -> frozenset[str]:
    """The kinds of violations that make answers of the method, or of its test, wrong."""
    if result.evidence is not None:
        return frozenset(ENGINE) if result.evidence.wrong_cells == "keep" else frozenset({ROWS})
    if "model_free" in result.settings.test_traits:
        return frozenset({ROWS})
    if "sees_curves" in result.settings.test_traits:
        return frozenset(KINDS) - {CURVES}
    return frozenset(KINDS)


def _violations_of_windows(
    result: ContextGraphs, endpoints: Endpoints, kinds: Collection[str]
) -> tuple[Violation, ...]:
    """The findings about the columns of windows, without those about variables of the past."""
    assert result.windowed is not None
    data = _as_searched(result, result.windowed.columns)
    beyond = len(data.names) - len(result.names)
    wide = np.pad(endpoints, ((0, 0), (0, beyond), (0, beyond)))
    earlier = {*data.names} - {*series_of(result).variables}
    violations = []
    for whole in check_table(data, wide):
        of_now = whole.without(earlier) if whole.kind in kinds else None
        if of_now is not None:
            violations.append(of_now)
    return tuple(violations)


def _as_searched(result: ContextGraphs, data: Dataset) -> Dataset:
    """The table with the kinds that a score-based search took numbers of few values for."""
    scales = (
        ()
        if result.evidence is None or result.evidence.mechanisms is None
        else result.evidence.mechanisms.scales
    )
    kinds = list(data.kinds)
    for position, scale in enumerate(scales):
        if kinds[position] is Kind.CONTINUOUS and position in data.system:
            coarse = bool(scale.scores) and not by_ranks(result)
            kinds[position] = {CATEGORY: Kind.CATEGORICAL}.get(
                scale.kind, Kind.ORDERED if coarse else kinds[position]
            )
    return replace(data, kinds=tuple(kinds))


def slopes_mislead(result: ContextGraphs, near: Collection[str], effects: Collection[str]) -> str:
    """The reason why mechanisms must not be compared between contexts: the model is wrong there;
    empty if nothing says so.

    `effects` are the variables whose mechanisms a claim compares, `near` these, the other end of
    the link, and all that may cause them. What the model says of other columns is no part of the
    comparison. That rows depend on each other makes errors of slopes too small where the residuals
    of the effect do: those of its causes may be of any kind.
    """
    past = None if result.series is None else result.series.beyond_lags
    if past is not None and past <= TOO_FEW_LAGS:
        return (
            "the lags are too few: the past beyond them still tells something (a trend does that,"
            " too)"
        )
    contradiction = _contradiction(result.evidence, near)
    if contradiction:
        return contradiction
    checks = answers_of(result).violations
    if checks is None and result.evidence is not None:
        return "the model checks were not made: diagnose()"
    for violation in checks or ():
        if violation.kind in HARMLESS:
            continue
        concerned = effects if violation.kind == ROWS else near
        columns = [column for column in violation.columns if column in concerned]
        if columns:
            return f"the model is wrong ({violation.kind} at {listed(columns)})"
    return ""


def _contradiction(evidence: ScoreEvidence | None, near: Collection[str]) -> str:
    """The reason that a search by scores gives itself: its residuals contradict its model."""
    contradictions = () if evidence is None else evidence.contradictions
    for kind, words in UNEXPLAINED.items():
        for other_kind, columns in contradictions:
            if other_kind != kind:
                continue
            where = sorted(set(columns).intersection(near) if columns else near)
            if where:
                return f"the model is wrong ({words} at {listed(where)})"
    return ""


def is_curved(result: ContextGraphs) -> bool:
    """True where some mechanisms are more than straight lines."""
    return result.evidence is not None and result.evidence.curved


def bends_in(result: ContextGraphs, effect: int, places: Sequence[int]) -> bool:
    """True where the mechanism of a variable is more than straight lines and levels in one of some
    contexts.

    Curves are chosen for all mechanisms together, but many of them may take none.
    """
    if not is_curved(result):
        return False
    mechanisms = None if result.evidence is None else result.evidence.mechanisms
    if mechanisms is None or all(equation.effect != effect for equation in mechanisms.equations):
        return True
    terms = (
        term
        for context_index in places
        for term in mechanisms.equation(effect, context_index).terms
        if context_index in term.contexts
    )
    return any(term.kind not in STRAIGHT for term in terms)


def has_levels(result: ContextGraphs) -> bool:
    """True where equations hold categories or ordered columns, which have no slopes."""
    evidence = result.evidence
    system = set(range(len(result.names))) - context_nodes(result)
    if evidence is None or evidence.mechanisms is None:
        return evidence is not None and any(
            not Kind(result.data.kinds[position]).is_number for position in system
        )
    return any(not evidence.mechanisms.scales[position].is_number for position in system)


def graded(result: ContextGraphs) -> frozenset[str]:
    """The numbers of two to five values that the search took for levels, or for steps, without a
    declaration.
    """
    return frozenset(
        name
        for name, scale in _undeclared(result)
        if not scale.is_number or 0 < len(scale.scores) <= MOST_ORDERED
    )


def spiked(result: ContextGraphs) -> frozenset[str]:
    """The numbers of which one value stands out beside measurements, as zeros do."""
    return frozenset(name for name, scale in _undeclared(result) if scale.spike > 0.0)


def scored(result: ContextGraphs) -> frozenset[str]:
    """The coarse numbers that the search took by normal scores."""
    return frozenset(
        name
        for name, scale in _undeclared(result)
        if scale.is_number and scale.scores and not by_ranks(result)
    )


def _undeclared(result: ContextGraphs) -> Iterator[tuple[str, Scale]]:
    """The columns of numbers by name, and how the search measured them; none without equations."""
    if result.evidence is not None and result.evidence.mechanisms is not None:
        facts = zip(result.names, result.data.kinds, result.evidence.mechanisms.scales, strict=True)
        yield from ((name, scale) for name, kind, scale in facts if Kind(kind) is Kind.CONTINUOUS)


def by_ranks(result: ContextGraphs) -> bool:
    """True where the search replaced columns by normal scores that the rows of the result do not
    have.
    """
    searched = result.evidence is not None and result.evidence.transform == "ranks"
    return searched or "transforms" in result.settings.test_traits
