"""Does a context change the level of a mechanism, or the spread of its noise, where slopes stay the same?

The level differs if the indicator of the second context has a coefficient in a regression of the effect on its causes
with slopes that both contexts share. The spread differs if, after a regression in either context, the distances of
residuals from their median do (Brown and Forsythe 1974), beside causes and their distances too: a spread that grows
with a cause differs wherever contexts hold other values of it. Errors are the larger of White's (HC3) and the usual
ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.data.dataset import Dataset, complete_rows, with_normal_scores
from causalcontext.data.kinds import Kind
from causalcontext.graphs.endpoints import directed, may_cause
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.results.curve_difference import robust_slope, rows_in_units, rows_inside
from causalcontext.results.equations import NUMBER, Mechanisms, Term
from causalcontext.results.series import context_nodes
from causalcontext.results.shared_bends import columns_of, shared_level
from causalcontext.results.slope_fits import UNCHANGED, possible_causes
from causalcontext.results.violations import by_ranks, is_curved

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

LEVEL, SPREAD = KINDS = ("level", "spread")
CURVED = "beside curves a change of level cannot be distinguished from a curve that is not fitted well"


class Moved(NamedTuple):
    """What a context changes in a mechanism, in the first and in the second context, and the p-value of "nothing"."""

    here: float
    there: float
    p: float


def readers(result: ContextGraphs, a: int, b: int, but: Collection[int]) -> Iterator[tuple[int, int]]:
    """Contexts, or lags of them, and the continuous variables that each causes in two contexts, but for some."""
    found = [directed(result.graphs[result.contexts[place]].endpoints) for place in (a, b)]
    apart = {split(result.names[position])[0] for position in result.cells.differing(a, b)}
    seen = set(but) | context_nodes(result)
    for source in sorted(node for node in context_nodes(result) if split(result.names[node])[0] in apart):
        for target in np.flatnonzero(found[0][source] & found[1][source]).tolist():
            if target not in seen and Kind(result.data.kinds[target]) is Kind.CONTINUOUS:
                seen.add(target)
                yield source, target


def moved(result: ContextGraphs, target: int, a: int, b: int) -> tuple[dict[str, Moved], str] | None:
    """How the level and the spread of a mechanism differ between two contexts, and a doubt about its level.

    None without rows, where the variable is not searched as a number, and where the contexts it reads are the same.
    """
    table, mechanisms = result.table, None if result.evidence is None else result.evidence.mechanisms
    if table is None or (mechanisms is not None and mechanisms.scales[target].kind != NUMBER):
        return None
    table = with_normal_scores(table) if by_ranks(result) else table
    kept, (first, second) = complete_rows(table), (rows_inside(result, target, place) for place in (a, b))
    rows = kept & (first ^ second)
    there = second[rows]
    if there.all() or not there.any():
        return None
    y = _column(table, target, rows)
    causes = [z for z in possible_causes(result, target, target, (a, b)) if z not in context_nodes(result)]
    numbers = [_column(table, z, rows) for z in causes if table.kinds[z].is_number]
    assert result.table is not None
    others, log_scale = _explained(mechanisms, result.table, target, (a, b), rows, there)
    others = others if others is not None else [column for z in causes for column in columns_of(table, z, rows)]
    found = {LEVEL: level(y, others, there), SPREAD: spread(y, others, there, log_scale, numbers)}
    if is_curved(result):
        return found, CURVED
    if found[LEVEL].p > UNCHANGED:
        return found, ""
    possible = [z for z in _not_effects(result, target, (a, b)) if table.kinds[z].is_number]
    return found, shared_level(result, y, others, {z: _column(table, z, rows) for z in possible}, there)


def _column(table: Dataset, place: int, rows: Bools) -> Floats:
    return np.asarray(table.columns[place], dtype=np.float64)[rows]


def _not_effects(result: ContextGraphs, target: int, places: Sequence[int]) -> list[int]:
    """The system variables that a variable causes in no context, by whatever way."""
    may = np.any([may_cause(result.graphs[result.contexts[place]].endpoints) for place in places], axis=0)
    reached = np.zeros(len(may), dtype=bool)
    reached[target] = True
    while (further := reached | may[reached].any(axis=0)).sum() > reached.sum():
        reached = further
    return [z for z in np.flatnonzero(~reached).tolist() if z not in context_nodes(result)]


def level(y: Floats, others: Sequence[Floats], there: Bools) -> Moved:
    """The mean of y where other columns have their average, in the first and in the second of two contexts."""
    found = robust_slope(there.astype(np.float64), y, others)
    here = float(y.mean() - found.value * there.mean())
    return Moved(here, here + found.value, found.p)


def spread(y: Floats, others: Sequence[Floats], there: Bools, log_scale: Floats, causes: Sequence[Floats]) -> Moved:
    """The standard deviation of what other columns leave of y, in the first and in the second of two contexts.

    `log_scale` is what causes are known to add to the logarithm of the spread; `causes` are numbers it may depend on.
    """
    design, left, sizes = np.column_stack([np.ones(len(y)), *others]), np.empty(len(y)), np.empty(len(y))
    for some in (~there, there):
        n, own = int(some.sum()), design[some]
        slopes, _, rank, _ = np.linalg.lstsq(own, y[some], rcond=None)
        if n < rank + SPARE_ROWS:
            return Moved(np.nan, np.nan, np.nan)
        left[some] = (y[some] - own @ slopes) * np.exp(-log_scale[some]) * np.sqrt(n / (n - rank))
        sizes[some] = np.abs(left[some] - np.median(left[some]))
    away = [z - np.median(z) for z in causes]
    beside = [*away, *(np.abs(z) for z in away)]
    p = np.max([robust_slope(there.astype(np.float64), sizes, columns).p for columns in ([], beside)])
    return Moved(float(left[~there].std()), float(left[there].std()), float(p))


def _explained(mechanisms: Mechanisms | None, table: Dataset, target: int, places: tuple[int, int], rows: Bools,
               there: Bools) -> tuple[list[Floats] | None, Floats]:  # fmt: skip
    """The terms of the equations of a target, None without equations; and what causes add to the log of its spread."""
    log_scale = np.zeros(len(there))
    if mechanisms is None:
        return None, log_scale
    every, _ = rows_in_units(mechanisms, table)
    values = {column: each[rows[complete_rows(table)]] for column, each in every.items()}
    terms: dict[tuple[object, ...], Term] = {}
    for place, inside in zip(places, (~there, there), strict=True):
        equation = mechanisms.equation(target, place)
        terms |= {(term.kind, term.causes, term.place): term for term in equation.terms if place in term.contexts}
        for each in (each for each in equation.spread if each.cause >= 0):
            log_scale[inside] += each.values(values[each.cause], place)[inside]
    return [term.values(values) for term in terms.values()], log_scale
