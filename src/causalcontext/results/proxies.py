"""Does one variable stand in for another one? What else may be behind a curve that differs between contexts.

Two effects of one cause by similar curves look alike. Where a curve takes many columns to describe, a straight line in
the other effect is the cheaper description, and a score may choose it: then a link appears that is not there, or one is
missing that is. So a link counts only if no curve of another variable makes it unnecessary, and its absence only if the
variable's own curves do not show there, and make nothing unnecessary that was found in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from causalcontext.ci_tests.basis import offered
from causalcontext.graphs.endpoints import directed
from causalcontext.graphs.paths import descendants
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.results.curve_difference import Compared, rows_in_units
from causalcontext.results.equations import NUMBER, Equation, Term

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

NEEDED = 0.001
"""Terms with a larger p-value beside the curves of another variable are not needed; curves with a smaller one show."""
ROWS_A_COLUMN = 10
"""Not more curves of a variable are taken out than so many rows each allow."""

COPIES, ROUNDING, CONSTANT = 1e-10, 1e-14, 1e-9
"""What counts as nothing: shares of variance of a column beside others and of an effect, of the size of a column."""
MOST_ROWS = 5_000
"""Of a context with more rows only some are asked, evenly spread."""


@dataclass(frozen=True, eq=False)
class ContextRows:
    """The rows of one context in the units of the equations, and the terms of the effect there."""

    effect: int
    values: dict[int, Floats]
    terms: list[Term]
    _curves: dict[int, list[Floats]] = field(default_factory=dict)

    def of_terms(self, cause: int, own: bool) -> list[Floats]:
        """The terms that hold a cause, or those that do not."""
        return [term.values(self.values) for term in self.terms if (cause in term.causes) is own]

    def curves(self, column: int) -> list[Floats]:
        """A variable and its curves, as many as the rows allow."""
        if column not in self._curves:
            values = self.values[column]
            self._curves[column] = list(offered(values)[: max(len(values) // ROWS_A_COLUMN, 1)])
        return self._curves[column]

    def shows(self, cause: int) -> bool:
        """Whether some curve of a variable explains the effect beside all other terms."""
        return extra_columns(self.values[self.effect], self.curves(cause), self.of_terms(cause, own=False)) < NEEDED

    def is_unneeded(self, cause: int, beside: int) -> bool:
        """Whether the terms of a cause explain nothing beside the curves of another variable and all other terms."""
        given = [*self.of_terms(cause, own=False), *self.curves(beside)]
        return extra_columns(self.values[self.effect], self.of_terms(cause, own=True), given) > NEEDED


def proxy(result: ContextGraphs, rows: Compared) -> str:
    """Which variable may be behind a curve, or hide it where it is missing, in words; empty if none may."""
    if rows.here.kind != NUMBER:
        return ""
    here, there = map(_inside_of, (rows.values,) * 2, rows.inside, (rows.here, rows.there), rows.places)
    if there.shows(rows.cause):
        return "another curve of the cause is found there"
    for other in _not_below(result, rows.places[0], rows.effect, rows.values):
        if other != rows.cause and here.is_unneeded(rows.cause, beside=other):
            return f"curves of {result.names[other]} may explain it"
    for other in sorted({cause for term in there.terms for cause in term.causes} - {rows.cause}):
        if there.is_unneeded(other, beside=rows.cause):
            return f"it may explain the effect of {result.names[other]} there"
    return ""


class Replaceable(NamedTuple):
    """A link that explains nothing beside the curves of another variable, and a context where that is so."""

    cause: int
    effect: int
    other: int
    place: int


def replaceable_links(result: ContextGraphs) -> list[Replaceable]:
    """The links of curved mechanisms that curves of a neighbour of the cause make unnecessary, each once."""
    found = result.evidence
    if found is None or found.mechanisms is None or result.rows is None or not found.curved:
        return []
    values, codes = rows_in_units(found.mechanisms, result.rows)
    near = np.any([graph.endpoints != 0 for graph in result.graphs.values()], axis=0)
    links: dict[tuple[int, int], Replaceable] = {}
    for place, effect in product(range(len(result.contexts)), values):
        equation = found.mechanisms.equation(effect, place)
        if equation.kind == NUMBER:
            inside = _inside_of(values, codes == place, equation, place)
            others = _not_below(result, place, effect, values)
            for cause in sorted({cause for term in inside.terms for cause in term.causes}):
                close = (z for z in others if z != cause and near[z, cause])
                other = next((z for z in close if inside.is_unneeded(cause, z) and inside.shows(z)), None)
                if other is not None:
                    links.setdefault((cause, effect), Replaceable(cause, effect, other, place))
    return list(links.values())


def extra_columns(effect: Floats, asked: Sequence[Floats], given: Sequence[Floats]) -> float:
    """The p-value of the F test that columns do not matter beside others; NaN with too few rows, 1 without columns."""
    y = effect - effect.mean()
    (small, fewer), (large, rank) = _explained(y, given), _explained(y, [*given, *asked])
    more, df = rank - fewer, len(y) - 1 - rank
    if df < SPARE_ROWS:
        return np.nan
    left = max(float(y @ y) - large, ROUNDING * float(y @ y))
    if more <= 0 or large <= small or left <= 0.0:
        return 1.0
    return float(scipy.special.fdtrc(more, df, (large - small) / more / (left / df)))


def _explained(y: Floats, columns: Sequence[Floats]) -> tuple[float, int]:
    """How much of a centred sum of squares columns explain, and their rank; constant ones and copies do not count."""
    if len(columns) == 0:
        return 0.0, 0
    centred = np.column_stack(columns)
    centred = centred - centred.mean(axis=0)
    size = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    raw = np.sqrt(np.sum(np.square(columns), axis=1))
    centred = np.where(size > CONSTANT * raw, centred / np.where(size > 0.0, size, 1.0), 0.0)
    sizes, vectors = np.linalg.eigh(centred.T @ centred)
    kept = sizes > COPIES * max(float(sizes[-1]), 1.0)
    along = vectors[:, kept].T @ (centred.T @ y)
    return float(np.sum(along**2 / sizes[kept])), int(kept.sum())


def _inside_of(values: dict[int, Floats], there: Bools, equation: Equation, place: int) -> ContextRows:
    some = np.flatnonzero(there)
    some = some[:: max(1, -(-len(some) // MOST_ROWS))]
    return ContextRows(equation.effect, {column: every[some] for column, every in values.items()},
                  [term for term in equation.terms if place in term.contexts])  # fmt: skip


def _not_below(result: ContextGraphs, place: int, effect: int, values: Iterable[int]) -> list[int]:
    """The variables that an effect does not cause, and that it is not."""
    below = descendants(directed(result.graphs[result.contexts[place]].endpoints), effect)
    return [other for other in values if other != effect and not below[other]]
