"""What the guards found, as findings of a diagnosis."""

from __future__ import annotations

from collections.abc import Iterator

from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.guards.words import WORDS, advice, danger, named
from causalcontext.results.contexts import ContextGraphs


def model_misfits(result: ContextGraphs) -> Iterator[Finding]:
    """Ways in which the table contradicts the model behind the search."""
    for misfit in result.misfits:
        message = f"{WORDS[misfit.kind].found.format(named(misfit.columns))}: {danger(misfit)}"
        yield Finding("model", Severity.WARNING, message, advice(misfit, result.suits_score),
                      {"kind": misfit.kind, "columns": misfit.columns, "size": misfit.size})  # fmt: skip
