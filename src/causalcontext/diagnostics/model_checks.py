"""What the model checks found, as findings of a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator

from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.errors import listed
from causalcontext.model_checks.words import WORDS, advice, danger
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.lagged import LaggedGraphs
from causalcontext.results.notes import About, about, of_residuals


def model_violations(result: ContextGraphs) -> Iterator[Finding]:
    """Ways in which the table contradicts the model behind the search."""
    for violation in result.violations:
        found = WORDS[violation.kind].found.format(listed(violation.columns))
        message = f"{found}: {danger(violation, result.context is not None, result.already_asked)}"
        yield Finding("model", Severity.WARNING, message, advice(violation, result.already_asked),
                      {"kind": violation.kind, "columns": violation.columns, "size": violation.size})  # fmt: skip


def residuals_against(result: ContextGraphs) -> Iterator[Finding]:
    """What the residuals of a score-based search say against its own model."""
    for note in of_residuals(result.notes):
        yield Finding("model", Severity.WARNING, note.found, note.advice)


def told_with_the_result(result: ContextGraphs) -> Iterator[Finding]:
    """Warnings of the search itself; where rows are at hand, another check looks for functions of a column."""
    for warning in result.warnings:
        if isinstance(result, LaggedGraphs) or result.rows is None or about(warning) is not About.FUNCTION:
            yield Finding("search", Severity.WARNING, warning)
