"""What the report knows of the shapes of links: partial curves, thinned out and rounded."""

from __future__ import annotations

from typing import Any

from causalcontext.drawing.names import printable
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.partial_curves import PartialCurve, partial_curves

MOST_LINKS = 400
"""Beyond so many links the report has no curves."""
EVERY = 2


def curves_panel(shown: ContextGraphs) -> dict[str, Any]:
    """The curves of every link by "cause,effect" (places in the table); empty where there are no mechanisms."""
    if shown.evidence is None or shown.evidence.mechanisms is None:
        return {}
    if sum(len(one.causes) for one in shown.evidence.mechanisms.equations) > MOST_LINKS:
        return {}
    found: dict[str, Any] = {}
    for effect in shown.names:
        for curve in partial_curves(shown, effect):
            key = f"{shown.position(curve.cause)},{shown.position(effect)}"
            entry = found.setdefault(key, {"at": _at(curve), "lines": []})
            step = EVERY if curve.numeric else 1
            level = "" if curve.level is None else printable(str(curve.level))
            entry["lines"].append({"contexts": list(curve.contexts), "level": level,
                                   "values": [float(f"{value:.4g}") for value in curve.values[::step]]})  # fmt: skip
    return found


def _at(curve: PartialCurve) -> list[Any]:
    """Values of the cause: numbers, or levels as text."""
    if curve.numeric:
        return [float(f"{value:.6g}") for value in curve.at[::EVERY]]
    return [printable(str(value)) for value in curve.at]
