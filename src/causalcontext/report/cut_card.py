"""The card of a report about a cut that was looked for: its profile, and a slider over the graphs of other cuts.

The page draws both. One layout serves the graphs of all cuts, so that nothing moves but what depends on the choice.
"""

from __future__ import annotations

from dataclasses import replace
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.columns import number_text
from causalcontext.diagnostics.nearby_cuts import endpoints_at
from causalcontext.drawing.names import printable
from causalcontext.drawing.time_layout import result_layout
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.union import union_endpoints
from causalcontext.report.payload import drawn, four_digits, marks
from causalcontext.results.cut import CUT, Cut

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

MOST_VARIABLES = 40
"""Beyond so many the graphs of other cuts would take longer than a report should."""
MOST_TRIED = 16
MOST_SECONDS = 15.0
"""So many cuts are searched for the slider, those next to the cut that was found first, while there is time."""
MOST_LABELS = 12
"""Of more links that one side of a cut has alone, colours must do."""
TRIED = """<div id="cut-tried"><h3>What depends on the choice?</h3>
<div class="field"><label for="cut-slider">Cut at</label>
<span><input type="range" id="cut-slider" min="0" step="1"> <output id="cut-value" for="cut-slider"></output>
<button type="button" id="cut-back">Back to the cut found</button></span></div>
<div id="cut-story" aria-live="polite"></div></div>"""
GRAPH = """<div><div id="cut-stage" tabindex="0" role="group" aria-label="The graph with this cut"></div>
<ul id="cut-legend" class="legend" aria-label="Legend"></ul></div>"""


def cut_card(result: ContextGraphs, panel: dict[str, Any] | None) -> str:
    """The card, which the page fills in from the panel; nothing where no cut was looked for."""
    if panel is None:
        return ""
    told = "".join(f'<p dir="auto">{escape(_sentence(cut))}</p>' for cut in result.cuts)
    tried, graph = (TRIED, GRAPH) if panel["tried"] else ("", "")
    return (f'<section class="card" id="cut" aria-labelledby="cut-heading"><h2 id="cut-heading">Where is the cut?</h2>'
            f'{told}<div class="halves"><div><div id="cut-profiles"></div>{tried}</div>{graph}</div></section>'
            )  # fmt: skip


def cut_panel(result: ContextGraphs) -> dict[str, Any] | None:
    """What the page needs to know about the cut of a result: the profiles and, of a single cut, graphs of others."""
    if result.cut is None:
        return None
    return {"column": printable(result.cut.column), "profiles": [_profile(cut) for cut in result.cuts],
            "tried": _tried(result, result.cut)}  # fmt: skip


def _sentence(cut: Cut) -> str:
    words = printable(str(cut))
    return f"{words}." if words.startswith(printable(cut.column)) else f"{words[0].upper()}{words[1:]}."


def _profile(cut: Cut) -> dict[str, Any]:
    found = {"places": list(map(four_digits, cut.places)), "scores": list(map(four_digits, cut.scores))}
    lines = {"smooth": four_digits(cut.smooth), "needed": four_digits(cut.needed)}
    return found | lines | {"value": cut.value, "low": cut.low, "high": cut.high}


def _tried(result: ContextGraphs, cut: Cut) -> dict[str, Any] | None:
    """The graphs that searches with other cuts find, the two sides of each, and where everything stands in them."""
    found = tried_cuts(result, cut)
    if len(found) < 2:
        return None
    places = sorted(found)
    sides = union_endpoints(np.stack([found[place] for place in places]), result.union.kind)
    wide = replace(result, graphs={value: Graph(result.names, own, result.union.kind)
                                   for value, own in zip(result.contexts, sides, strict=True)})  # fmt: skip
    graphs = [[marks(Graph(result.names, own, result.union.kind)) for own in found[place]] for place in places]
    alone = max(len(below.keys() ^ above.keys()) for below, above in graphs)
    return {"places": places, "words": [number_text(cut.value) if place == cut.value else f"{place:.4g}"
                                        for place in places],
            "found": places.index(cut.value), "graphs": graphs, "small": alone <= MOST_LABELS
            } | drawn(result_layout(wide))  # fmt: skip


def tried_cuts(result: ContextGraphs, cut: Cut) -> dict[float, Endpoints]:
    """The endpoints on both sides of the cut that was found, and of other places, by the place; empty without a cut."""
    if cut.verdict != CUT or len(result.cuts) > 1 or len(result.cells.positions) > 1 or not result.complete:
        return {}
    found = {cut.value: np.stack([graph.endpoints for graph in result.graphs.values()])}
    if len(result.names) > MOST_VARIABLES:
        return found
    spread = np.unique(np.linspace(0, len(cut.places) - 1, MOST_TRIED - 2).round().astype(int)).tolist()
    others = [place for place in (cut.low, cut.high, *(cut.places[one] for one in spread)) if place is not None]
    end = monotonic() + MOST_SECONDS
    for place in sorted(set(others) - {cut.value}, key=lambda place: abs(place - cut.value)):
        endpoints = endpoints_at(result, place) if monotonic() < end else None
        if endpoints is not None:
            found[place] = endpoints
    return found
