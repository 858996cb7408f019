"""What differs between two contexts, and what may be claimed to differ.

An edge that is missing in a small context may be lack of power, and a correlation moves with the variance of the cause
though the mechanism does not. So a change is claimed only where the edge is found in one context and not in the other,
and the slopes differ too, after false-discovery control over all such claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causalcontext.errors import NotYetError, OptionError
from causalcontext.graphs.graph import Mark
from causalcontext.independence.gaussian import PreparedGaussian
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.several import one_context_only
from causalcontext.results.slopes import Slope, heterogeneity, slope

LARGEST_NEGLIGIBLE = 0.15
"""A partial correlation below this counts as no edge."""
ONE_SIDED_95 = 1.645


class Change(NamedTuple):
    """One difference between the graphs of two contexts.

    `effect` is the slope of the target on the source in either context, NaN where it cannot be computed.
    """

    source: str
    target: str
    mark: str
    kind: str
    present: Any
    absent: Any
    effect_present: float
    effect_absent: float
    difference: float
    p: float
    q: float
    claimed: bool
    label: str


def changes(result: ContextGraphs, first: Any, second: Any, alpha: float | None = None) -> pd.DataFrame:
    """The differences between two context graphs, those that may be claimed first."""
    moments = moments_of(result)
    a, b = context_place(result, first), context_place(result, second)
    if a == b:
        raise OptionError(f"changes needs two different contexts, got {first!r} twice")
    level = result.settings.alpha if alpha is None else alpha
    found = [_compare(result, moments, *edge) for edge in _one_sided(result, a, b)]
    adjusted = false_discovery([change.p for change in found])
    found = [c._replace(q=float(q), claimed=bool(q <= level)) for c, q in zip(found, adjusted, strict=True)]
    found += list(_turned(result, a, b))
    order = sorted(found, key=lambda c: (not c.claimed, c.q if c.q == c.q else 2.0))
    return pd.DataFrame(order, columns=list(Change._fields))


def labels(result: ContextGraphs, negligible: float = LARGEST_NEGLIGIBLE) -> pd.DataFrame:
    """Every edge of the union between system variables in every context: present, absent or undetermined.

    "present": found there. "absent": not found, and the 90 % interval of the partial correlation lies within
    ±`negligible`. "undetermined": not found, but it may well be there.
    """
    moments = moments_of(result)
    rows = [
        (*_named(result, x, y), value, *_label(result, moments, x, y, place, negligible))
        for x, y in _union_pairs(result)
        for place, value in enumerate(result.contexts)
    ]
    return pd.DataFrame(rows, columns=["source", "target", "mark", "context", "label", "correlation", "bound", "n"])


def false_discovery(p: Sequence[float]) -> NDArray[np.float64]:
    """Benjamini and Hochberg's adjusted p-values; what was not tested stays NaN and is not counted."""
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    scaled = values[order] * tested.size / np.arange(1, tested.size + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def moments_of(result: ContextGraphs) -> PreparedGaussian:
    """The per-context moments that slopes are computed from."""
    if result.context is None:
        raise OptionError("there is only one graph; pass context=... to discover to compare contexts")
    one_context_only(result, "changes and labels")
    if result.moments is None:
        raise NotYetError(f"not yet: changes and labels need per-context moments, which test {result.settings.test!r} "
                          "does not keep")  # fmt: skip
    return result.moments


def context_place(result: ContextGraphs, value: Any) -> int:
    """The position of a context value."""
    for place, known in enumerate(result.contexts):
        if known == value and type(known) is type(value):
            return place
    listed = ", ".join(repr(known) for known in result.contexts)
    raise OptionError(f"there is no context {value!r}, expected one of {listed}")


def conditions(result: ContextGraphs, x: int, y: int, place: int) -> tuple[int, ...]:
    """The set that decided about x and y in a context, without the context variable."""
    slot = result.log.slot(x, y)
    context = result.position(str(result.context))
    return tuple(int(z) for z in result.log.given[place, slot] if z >= 0 and z != context)


def compare_slopes(
    result: ContextGraphs, moments: PreparedGaussian, x: int, y: int, given: Sequence[int], places: Sequence[int]
) -> tuple[list[Slope], float]:
    """The slopes of y on x in some contexts, and the p-value of "they are all the same".

    A set that leaves causes of y out, or holds effects of it, bends slopes by context though nothing has changed. So
    the slopes are compared given the set that separated the pair and given all possible causes of y, and the larger
    p-value counts. An edge without a direction is compared both ways, as is one whose effect cannot be caused by the
    context: then its direction is in doubt. The slopes returned are given the possible causes.
    """
    directed = _marks(result, places[0])[x, y] == Mark.FORWARD and may_be_caused(result, y, places[0])
    ways = [(x, y)] if directed else [(x, y), (y, x)]
    p_values = [
        heterogeneity([slope(moments, place, cause, effect, chosen) for place in places])[1]
        for cause, effect in ways
        for chosen in dict.fromkeys((tuple(sorted(given)), possible_causes(result, effect, cause, places)))
    ]
    causes = possible_causes(result, y, x, places)
    return [slope(moments, place, x, y, causes) for place in places], float(np.max(p_values))  # NaN if one is


def possible_causes(result: ContextGraphs, effect: int, cause: int, places: Sequence[int]) -> tuple[int, ...]:
    """What may cause `effect` in some of the contexts, besides `cause` and the context variable."""
    possible = np.zeros(len(result.names), dtype=bool)
    for place in places:
        towards = _marks(result, place)[:, effect]
        possible |= (towards != Mark.ABSENT) & (towards != Mark.BACKWARD)
    possible[[cause, effect, result.position(str(result.context))]] = False
    return tuple(np.flatnonzero(possible).tolist())


def may_be_caused(result: ContextGraphs, variable: int, place: int) -> bool:
    """Whether the context may cause a variable: adjacent to it, and not known to cause it."""
    mark = _marks(result, place)[result.position(str(result.context)), variable]
    return mark not in (Mark.ABSENT, Mark.BACKWARD)


def _marks(result: ContextGraphs, place: int) -> NDArray[np.int8]:
    return result.graphs[result.contexts[place]].marks


def _one_sided(result: ContextGraphs, a: int, b: int) -> Iterator[tuple[int, int, int, int]]:
    """(source, target, context that has the edge, context that has not) for system pairs."""
    marks = [result.graphs[value].marks for value in result.contexts]
    context = result.position(str(result.context))
    for x, y in zip(*np.nonzero(np.triu((marks[a] != 0) != (marks[b] != 0))), strict=True):
        if context in (x, y):
            continue
        present, absent = (a, b) if marks[a][x, y] else (b, a)
        source, target = (x, y) if marks[present][x, y] != Mark.BACKWARD else (y, x)
        yield int(source), int(target), present, absent


def _compare(result: ContextGraphs, moments: PreparedGaussian, x: int, y: int, present: int, absent: int) -> Change:
    given = conditions(result, x, y, absent)
    (here, there), p = compare_slopes(result, moments, x, y, given, (present, absent))
    mark = Mark(int(result.graphs[result.contexts[present]].marks[x, y])).text
    label = _label(result, moments, x, y, absent, LARGEST_NEGLIGIBLE)[0]
    return Change(result.names[x], result.names[y], mark, "edge", result.contexts[present], result.contexts[absent],
                  here.value, there.value, there.value - here.value, p, np.nan, False, label)  # fmt: skip


def _turned(result: ContextGraphs, a: int, b: int) -> Iterator[Change]:
    """Edges that point one way in the one context and the other way in the other."""
    first, second = (result.graphs[result.contexts[place]].marks for place in (a, b))
    for x, y in zip(*np.nonzero((first == Mark.FORWARD) & (second == Mark.BACKWARD)), strict=True):
        yield Change(result.names[x], result.names[y], "-->", "direction", result.contexts[a], result.contexts[b],
                     np.nan, np.nan, np.nan, np.nan, np.nan, False, "present")  # fmt: skip


def _label(
    result: ContextGraphs, moments: PreparedGaussian, x: int, y: int, place: int, negligible: float
) -> tuple[str, float, float, int]:
    """The label, the partial correlation, the end of its 90 % interval that is further from 0, and the rows."""
    n = int(moments.rows[place])
    given = conditions(result, x, y, place)
    fit = slope(moments, place, x, y, given)
    weight = n - len(given) - 3
    bound = float(np.tanh(np.abs(np.arctanh(fit.correlation)) + ONE_SIDED_95 / np.sqrt(weight))) if weight > 0 else 1.0
    if result.graphs[result.contexts[place]].marks[x, y]:
        return "present", fit.correlation, bound, n
    return ("absent" if bound < negligible else "undetermined"), fit.correlation, bound, n


def _union_pairs(result: ContextGraphs) -> Iterator[tuple[int, int]]:
    context = result.position(str(result.context))
    for x, y in zip(*np.nonzero(np.triu(result.union.marks)), strict=True):
        if context not in (x, y):
            yield int(x), int(y)


def _named(result: ContextGraphs, x: int, y: int) -> tuple[str, str, str]:
    mark = Mark(int(result.union.marks[x, y]))
    if mark is Mark.BACKWARD:
        return result.names[y], result.names[x], Mark.FORWARD.text
    return result.names[x], result.names[y], mark.text
