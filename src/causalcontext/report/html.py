"""`result.report("report.html")`: one self-contained page that answers "why is this edge missing?" with a click.

The page is three files in `page/` and one block of data. It asks nothing of a network, and a content security policy
forbids it to: only the one script whose hash is in the page may run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from causalcontext.data.files import check_writable, write_whole
from causalcontext.data.frames import frame_of
from causalcontext.diagnostics.findings import Diagnosis
from causalcontext.diagnostics.stability import Stability
from causalcontext.drawing.names import printable
from causalcontext.errors import OptionError, shortly
from causalcontext.graphs.endpoints import as_written, mark_of
from causalcontext.report.answer import answer
from causalcontext.report.payload import Section, payload
from causalcontext.version import __version__

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
LEAST = 0.5
"""Pairs without an edge are listed where this share of samples has one."""
COLUMNS = ("edge", "context", "found in", "with this mark in")


def write_report(
    result: ContextGraphs, path: str | Path, *, title: str | None = None, stability: Stability | None = None,
    sections: Sequence[Section] = (),
) -> None:  # fmt: skip
    """Write the page to a file, whole or not at all; see `ContextGraphs.report`."""
    check_writable(path)
    again = () if stability is None else (stability_section(result, stability),)
    write_whole(path, page(result, title, (*again, *sections)))


def page(result: ContextGraphs, title: str | None = None, sections: Sequence[Section] = ()) -> str:
    """The page as text."""
    diagnosis = result.diagnose() if result.complete else Diagnosis(())
    own = [] if result.evidence is None else [Section("Scores", (), result.scores())]
    if len(diagnosis):
        own.append(Section("Diagnosis", (), diagnosis.to_frame().drop(columns="evidence")))
    if result.wrong_cells is not None:
        own.append(Section("Cells taken for wrong", (), result.flagged_cells()))
    default = "Causal graph" if result.context is None else f"Causal graphs by {result.context}"
    text = str(result.labeled_union)  # for readers without a script
    if result.series is not None:
        text = f"{result.summary}\n\nThe same, lag by lag:\n{text}"
    script = _part("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {
        "SCRIPT_HASH": f"sha256-{digest}",
        "VERSION": html.escape(__version__),
        "TITLE": html.escape(printable(title or default)),
        "STYLE": _part("report.css"),
        "ANSWER": answer(result, diagnosis),
        "TEXT": html.escape(text),
        "DATA": safe_json(payload(result, (*own, *sections))),
        "SCRIPT": script,
    }
    # In one pass, so that data which look like a name stay data.
    return re.sub(r"\{\{(\w+)\}\}", lambda name: values[name[1]], _part("report.html"))


def safe_json(content: Any) -> str:
    """JSON that can stand inside a script element: no `<`, `>` or `&`, whatever the data are."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter, spelled in _UNSAFE.items():
        text = text.replace(letter, spelled)
    return text


def _part(name: str) -> str:
    return files("causalcontext.report").joinpath("page", name).read_text(encoding="utf-8")


def stability_section(result: ContextGraphs, stability: Stability) -> Section:
    """Every edge with the share of samples that have it, and that have it with the same mark; the rarest come first."""
    if not isinstance(stability, Stability) or stability.result != result:
        what = "that of another result" if isinstance(stability, Stability) else shortly(stability)
        raise OptionError(f"stability is {what}, expected what result.stability() of this result returned")
    found = stability.edges(0.0).to_dict("records")
    shares = sorted(found, key=lambda row: (row["present"], row.get(row["found"], 0.0)))
    rows = [_row(result, row) for row in shares if row["found"] or row["present"] >= LEAST]
    line = f"The same search in {stability.samples:,} bootstrap samples; the rarest edges come first."
    return Section("Stability", (line,), frame_of(rows, columns=COLUMNS))


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
