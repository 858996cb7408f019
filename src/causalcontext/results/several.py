"""Results with several context variables: which of them a test fixed, and at which values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.log import Decision


def context_positions(result: ContextGraphs) -> tuple[int, ...]:
    """Where the context variables are among the names: one of them, several, or none."""
    named = result.settings.contexts or ((result.context,) if result.context is not None else ())
    return tuple(result.position(name) for name in named)


def differing_contexts(result: ContextGraphs, first: int, second: int) -> tuple[int, ...]:
    """The positions of the context variables whose values differ between two contexts."""
    positions = context_positions(result)
    if not result.settings.contexts:
        return positions
    values = zip(positions, result.contexts[first], result.contexts[second], strict=True)
    return tuple(position for position, a, b in values if a != b)


def fixed_values(result: ContextGraphs, place: int, slot: int) -> dict[str, Any]:
    """The context variables that the deciding test of a pair fixed, with their values."""
    view = int(result.log.view[place, slot])
    if view <= 0:
        return {}
    if not result.settings.contexts:
        return {str(result.context): result.contexts[view - 1]}
    given = {result.names[z] for z in result.log.given[place, slot] if z >= 0}
    values = zip(result.settings.contexts, result.contexts[view - 1], strict=True)
    return {name: value for name, value in values if name in given}


def with_fixed_values(result: ContextGraphs, frame: pd.DataFrame) -> pd.DataFrame:
    """The log with the fixed context variables under `rows` instead of among the conditions."""
    places, slots = np.nonzero(result.log.decision != Decision.NOT_SEARCHED)
    fixed = [fixed_values(result, place, slot) for place, slot in zip(places.tolist(), slots.tolist(), strict=True)]
    rows = [", ".join(f"{name}={value}" for name, value in found.items()) for found in fixed]
    given = [tuple(name for name in chosen if name not in found)
             for chosen, found in zip(frame["given"], fixed, strict=True)]  # fmt: skip
    kept = [text or old for text, old in zip(rows, frame["rows"], strict=True)]
    return frame.assign(rows=kept, given=pd.Series(given, dtype=object))
