"""What every cause does to an effect, as curves over the values of the cause, one for every context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats
from causalcontext.results.equations import Mechanisms

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

POINTS = 81


@dataclass(frozen=True, eq=False)
class PartialCurve:
    """The expected effect in some contexts as one cause takes its values, everything else being at its average.

    Attributes
    ----------
    cause, effect : str
    contexts : tuple of int
        The places of the contexts that share the curve.
    at : tuple
        Values of the cause: places between its 1st and 99th percentile, or its levels.
    numeric : bool
        Whether these are numbers.
    level : value or None
        The level whose probability it is, where the effect has levels.
    values : array
        One number for every value of the cause.
    """

    cause: str
    effect: str
    contexts: tuple[int, ...]
    at: tuple[Any, ...]
    numeric: bool
    level: Any
    values: Floats


def mechanisms_of(result: ContextGraphs) -> Mechanisms:
    """The equations of a result; an error if it has none."""
    found = None if result.evidence is None else result.evidence.mechanisms
    if found is None:
        raise OptionError(f"a result of {result.settings.method} has no mechanisms; use method='score-ac'")
    return found


def causes_of(result: ContextGraphs, effect: str) -> tuple[str, ...]:
    """The causes in the equations of an effect, in any context, in the order of the table; the context is none."""
    mechanisms, place = mechanisms_of(result), result.position(effect)
    found = {cause for one in mechanisms.equations if one.effect == place for cause in one.causes}
    return tuple(name for position, name in enumerate(result.names) if position in found)


def partial_curves(result: ContextGraphs, effect: str) -> Iterator[PartialCurve]:
    """The curves of all causes of an effect, each in all contexts that share it; of two levels the second one's."""
    mechanisms, place = mechanisms_of(result), result.position(effect)
    levels = mechanisms.scales[place].levels
    for cause in causes_of(result, effect):
        position = result.position(cause)
        at, numeric = _values(mechanisms, position), mechanisms.scales[position].is_number
        terms = [mechanisms.equation(place, r).terms for r in range(len(result.contexts))]
        living = [r for r, own in enumerate(terms) if any(position in t.causes and r in t.contexts for t in own)]
        found = {r: mechanisms.partial_curve(place, position, at, r) for r in living}
        for contexts in _sharing(found):
            rows = np.atleast_2d(found[contexts[0]])
            named = list(zip(levels or (None,), rows, strict=True))
            for level, values in named[1 if len(levels) == 2 else 0 :]:
                yield PartialCurve(cause, effect, contexts, at, numeric, level, values)


def _sharing(found: dict[int, Floats]) -> list[tuple[int, ...]]:
    """Contexts with the same curve."""
    groups: list[list[int]] = []
    for r, values in found.items():
        same = [group for group in groups if np.allclose(found[group[0]], values, rtol=1e-9, atol=1e-12)]
        if same:
            same[0].append(r)
        else:
            groups.append([r])
    return [tuple(group) for group in groups]


def _values(mechanisms: Mechanisms, cause: int) -> tuple[Any, ...]:
    scale = mechanisms.scales[cause]
    if not scale.is_number:
        return scale.levels
    edges = np.interp([0.01, 0.99], np.linspace(0.0, 1.0, len(scale.places)), scale.places)
    return tuple(np.linspace(edges[0], edges[1], POINTS).tolist())
