"""What the guards found, as findings of a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator

from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.guards.words import WORDS, advice, danger, named
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.evidence import OF_RESIDUALS
from causalcontext.results.lagged import LaggedGraphs


def model_misfits(result: ContextGraphs) -> Iterator[Finding]:
    """Ways in which the table contradicts the model behind the search."""
    for misfit in result.misfits:
        found = WORDS[misfit.kind].found.format(named(misfit.columns))
        message = f"{found}: {danger(misfit, result.context is not None)}"
        yield Finding("model", Severity.WARNING, message, advice(misfit, result.already_asked),
                      {"kind": misfit.kind, "columns": misfit.columns, "size": misfit.size})  # fmt: skip


def residuals_against(result: ContextGraphs) -> Iterator[Finding]:
    """What the residuals of a score-based search say against its own model."""
    for note in result.notes if result.evidence is not None else ():
        if note.startswith(OF_RESIDUALS):
            message, compare, advised = note.partition("; compare with ")
            yield Finding("model", Severity.WARNING, message, f"compare with {advised}" if compare else "")


def told_with_the_result(result: ContextGraphs) -> Iterator[Finding]:
    """Warnings of the search itself; where rows are at hand, another check looks for functions of a column."""
    for warning in result.warnings:
        if isinstance(result, LaggedGraphs) or result.rows is None or " is a function of " not in warning:
            yield Finding("search", Severity.WARNING, warning)
