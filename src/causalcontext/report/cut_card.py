"""The card of a report about a cut that was looked for: its profile, and the graphs of other cuts to choose from.

It needs no script: every cut is a radio button, and the graphs of the one that is chosen are shown.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from causalcontext.diagnostics.nearby_cuts import endpoints_at
from causalcontext.drawing.names import printable
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.union import LabeledUnion
from causalcontext.results.cut import CUT

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

MOST_VARIABLES = 40
"""Beyond so many the graphs of other cuts would take longer than a report should."""
OTHERS = (0.15, 0.4, 0.6, 0.85)
"""Other cuts whose graphs are shown, as shares of those that were tried."""
STYLE = """#cuts input:not(:checked) + label + pre { display: none } #cuts label { margin-right: 1em }
#cuts { display: flex; flex-wrap: wrap; align-items: baseline } #cuts pre { order: 1; width: 100% }"""


def cut_card(result: ContextGraphs) -> str:
    """The card, or nothing where no cut was looked for."""
    if result.cut is None:
        return ""
    told = "".join(f"<p>{escape(printable(str(cut)))}.</p>" for cut in result.cuts)
    picture = f'<figure aria-label="Score over the place of the cut">{_svg(result)}</figure>'
    return (f'<section class="card" id="cut" aria-label="The cut"><h2>Where is the cut?</h2>{told}{picture}'
            f"{''.join(_chooser(result))}</section>")  # fmt: skip


def _svg(result: ContextGraphs) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    from causalcontext.drawing.cut import SIZE, paint_cut

    content = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "causalcontext", "svg.fonttype": "path"}):
        figure = Figure(figsize=(SIZE[0] * len(result.cuts), SIZE[1]), layout="constrained")
        for place, cut in enumerate(result.cuts):
            paint_cut(figure.add_subplot(1, len(result.cuts), place + 1), cut)
        figure.savefig(content, format="svg", metadata={"Date": None})
    text = content.getvalue()
    return text[text.index("<svg") :]


def _chooser(result: ContextGraphs) -> Iterator[str]:
    """Radio buttons of some cuts, each with the labeled union that a search with it finds; of a single cut alone."""
    cut, rows = result.cut, result.rows
    single = cut is not None and cut.verdict == CUT and len(result.cuts) == 1 == len(result.cells.positions)
    if not single or cut is None or rows is None or len(result.names) > MOST_VARIABLES:
        return
    shares = (cut.places[int(share * (len(cut.places) - 1))] for share in OTHERS)
    unions = {cut.value: str(result.labeled_union)}
    for place in (cut.low, cut.high, *shares):
        found = None if place is None else endpoints_at(result, rows, result.cells.made[0][1], place)
        if place is not None and found is not None and place not in unions:
            unions[place] = _union(result, found, place)
    if len(unions) < 2:
        return
    yield f'<style>{STYLE}</style><h3>What depends on the choice?</h3><div id="cuts" role="radiogroup">'
    for number, place in enumerate(sorted(unions)):
        chosen, best = (" checked", " (found)") if place == cut.value else ("", "")
        yield (f'<input type="radio" name="cut" id="cut-{number}"{chosen}>'
               f'<label for="cut-{number}">{place:.4g}{best}</label>'
               f'<pre dir="auto">{escape(printable_lines(unions[place]))}</pre>')  # fmt: skip
    yield "</div>"


def _union(result: ContextGraphs, endpoints: Endpoints, cut: float) -> str:
    kind, levels = result.union.kind, (f"<= {cut:.4g}", f"> {cut:.4g}")
    return str(
        LabeledUnion({level: Graph(result.names, own, kind) for level, own in zip(levels, endpoints, strict=True)})
    )


def printable_lines(text: str) -> str:
    """A text whose lines stay lines."""
    return "\n".join(printable(line) if line else "" for line in text.split("\n"))
