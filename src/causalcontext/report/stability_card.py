"""The card of a report that says what is found again in bootstrap samples."""

from __future__ import annotations

from typing import Any

from causalcontext.data.frames import frame_of
from causalcontext.diagnostics.stability import Stability
from causalcontext.errors import OptionError, shortly
from causalcontext.graphs.endpoints import as_written, mark_of
from causalcontext.report.payload import Section
from causalcontext.results.contexts import ContextGraphs

LEAST = 0.5
"""Pairs without an edge are listed where this share of samples has one."""
COLUMNS = ("edge", "context", "found in", "with this mark in")


def stability_section(result: ContextGraphs, stability: Stability) -> Section:
    """Every edge with the share of samples that have it, and that have it with the same mark; the rarest come first."""
    if not isinstance(stability, Stability) or stability.result != result:
        found = "that of another result" if isinstance(stability, Stability) else shortly(stability)
        raise OptionError(f"stability is {found}, expected what result.stability() of this result returned")
    shares = sorted(stability.edges(0.0).to_dict("records"), key=_rarity)
    rows = [_row(result, row) for row in shares if row["found"] or row["present"] >= LEAST]
    line = f"The same search in {stability.samples:,} bootstrap samples; what is found again least often comes first."
    return Section("Stability", (line,), frame_of(rows, columns=COLUMNS))


def _rarity(shares: dict[Any, Any]) -> tuple[float, float]:
    return shares["present"], shares.get(shares["found"], 0.0)


def _row(result: ContextGraphs, shares: dict[Any, Any]) -> tuple[str, str, str, str]:
    context, share = shares["context"], f"{shares['present']:.0%}"
    named = "all rows" if result.context is None else shares["context"]
    named = ", ".join(map(str, named)) if isinstance(named, tuple) else str(named)
    if not shares["found"]:
        return f"{shares['x']}, {shares['y']}: no edge here", named, share, ""
    endpoints = result.graphs[context].endpoints
    x, y = as_written(endpoints, result.position(shares["x"]), result.position(shares["y"]))
    edge = f"{result.names[x]} {mark_of(endpoints, x, y)} {result.names[y]}"
    return edge, named, share, f"{shares[shares['found']]:.0%}"
