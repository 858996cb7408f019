"""Effects and partial curves as the report shows them: numbers by cause, effect and context, rounded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from causalcontext.drawing.names import printable
from causalcontext.errors import CausalContextError
from causalcontext.results.effects.mechanics import Mechanics
from causalcontext.results.effects.table import asked_pairs, asked_rows, columns, pair_rows
from causalcontext.results.partial_curves import PartialCurve, partial_curves

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

LEVEL = 0.95
MOST_ROWS = 6000
"""Rows of the table of effects that are shown; if there are more, pairs that are adjacent somewhere come first."""
MOST_LINKS = 400
"""Beyond so many links the report has no curves."""
EVERY = 2


def effects_panel(shown: ContextGraphs) -> dict[str, Any] | None:
    """What the panel needs to know of a presentable result; None where there are no numbers."""
    try:
        mechanics = Mechanics(shown)
        pairs, whole = _chosen(mechanics)
    except CausalContextError:
        return None
    named = columns(mechanics)
    notes: dict[str, int] = {"": 0}
    rows = [[_compact(shown, dict(zip(named, row, strict=True)), notes) for row in pair_rows(mechanics, x, y, LEVEL)]
            for x, y in pairs]  # fmt: skip
    return {
        "pairs": [list(pair) for pair in pairs],
        "rows": rows,
        "notes": [printable(note) if note else "" for note in notes],
        "whole": whole,
        "errors": "classical" if mechanics.rows is None else "sandwich",
    }


def _chosen(mechanics: Mechanics) -> tuple[list[tuple[int, int]], bool]:
    """The pairs that are shown, and whether they are all."""
    pairs = asked_pairs(mechanics, None, None)
    system = [v for v in range(mechanics.endpoints.shape[1]) if v not in mechanics.contexts]
    most = MOST_ROWS // len(list(asked_rows(mechanics, system[0], system[-1])))
    if len(pairs) <= most:
        return pairs, True
    linked = mechanics.result.union.adjacency
    return sorted(sorted(pairs, key=lambda pair: not linked[pair])[:most], key=pairs.index), False


def _compact(shown: ContextGraphs, known: dict[str, Any], notes: dict[str, int]) -> list[Any]:
    """Context, the one it is compared with or -1, least and greatest value, interval, p-value, number of the note."""
    contexts = shown.contexts
    versus = -1 if known["versus"] is None else contexts.index(known["versus"])
    values = known["values"] or (math.nan,)
    numbers = [four_digits(value) for value in (values[0], values[-1], known["low"], known["high"], known["p"])]
    return [contexts.index(known["context"]), versus, *numbers, notes.setdefault(known["note"], len(notes))]


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


def four_digits(value: float) -> float | None:
    """A number as the page has it; None where there is none."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
