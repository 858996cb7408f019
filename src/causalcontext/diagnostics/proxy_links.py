"""Which links may be there in place of others? Those of curved mechanisms that another variable's curves replace."""

from __future__ import annotations

from collections.abc import Iterator

from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.errors import listed
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.proxies import replaceable_links


def proxy_links(result: ContextGraphs) -> Iterator[Finding]:
    """Links that explain nothing beside the curves of another variable: a line may describe what a curve makes."""
    found = replaceable_links(result)
    if not found:
        return
    name = result.names
    links = tuple(f"{name[link.cause]} --> {name[link.effect]}" for link in found)
    explained = tuple(f"{text} (curves of {name[link.other]})" for text, link in zip(links, found, strict=True))
    message = f"{listed(explained)} may stand in for what another variable does"
    advice = "take them as candidates: the score chose the shorter description, and curves of the other explain as much"
    yield Finding("proxies", Severity.CAUTION, message, advice, {"edges": links})
