"""Does one variable stand in for another one? What else may be behind a curve that differs between contexts.

Two effects of one cause by similar curves look alike. Where a curve takes many columns to describe, a straight line in
the other effect is the cheaper description, and a score may choose it: then a link appears that is not there, or one is
missing that is. So a link counts only if no curve of another variable makes it unnecessary, and its absence only if the
variable's own curves do not show there, and make nothing unnecessary that was found in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from causalcontext.graphs.ends import directed
from causalcontext.graphs.paths import descendants
from causalcontext.independence.basis import offered
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.curve_difference import Compared, compared_rows, orthonormal
from causalcontext.results.equations import NUMBER, Term

NEEDED = 0.001
"""Terms with a larger p-value beside the curves of another variable are not needed; curves with a smaller one show."""
ROWS_A_COLUMN = 10
"""Not more curves of a variable are taken out than so many rows each allow."""

MOST_ROWS = 5_000
"""Of a context with more rows only some are asked, evenly spread."""


class Inside(NamedTuple):
    """The rows of one context in the units of the equations, and the terms of the effect there."""

    effect: int
    values: dict[int, Floats]
    terms: list[Term]

    def of_terms(self, cause: int, own: bool) -> list[Floats]:
        """The terms that hold a cause, or those that do not."""
        return [term.values(self.values) for term in self.terms if (cause in term.causes) is own]

    def curves(self, column: int) -> list[Floats]:
        """A variable and its curves, as many as the rows allow."""
        values = self.values[column]
        return list(offered(values)[: max(len(values) // ROWS_A_COLUMN, 1)])

    def shows(self, cause: int) -> bool:
        """Whether some curve of a variable explains the effect beside all other terms."""
        return extra_columns(self.values[self.effect], self.curves(cause), self.of_terms(cause, own=False)) < NEEDED

    def is_unneeded(self, cause: int, beside: int) -> bool:
        """Whether the terms of a cause explain nothing beside the curves of another variable and all other terms."""
        given = [*self.of_terms(cause, own=False), *self.curves(beside)]
        return extra_columns(self.values[self.effect], self.of_terms(cause, own=True), given) > NEEDED


def stand_in(result: ContextGraphs, x: int, y: int, present: int, absent: int) -> str:
    """Which variable may be behind a curve, or hide it where it is missing, in words; empty if none may."""
    rows = compared_rows(result, x, y, present, absent)
    if rows is None or rows.here.kind != NUMBER:
        return ""
    here, there = (_inside(rows, which) for which in (0, 1))
    if there.shows(rows.cause):
        return "another curve of it shows there"
    for other in _not_below(result, present, rows):
        if here.is_unneeded(rows.cause, beside=other):
            return f"curves of {result.names[other]} may be behind it"
    for other in sorted({cause for term in there.terms for cause in term.causes} - {rows.cause}):
        if there.is_unneeded(other, beside=rows.cause):
            return f"it may be behind {result.names[other]} there"
    return ""


def extra_columns(effect: Floats, asked: Sequence[Floats], given: Sequence[Floats]) -> float:
    """The p-value of the F test that columns do not matter beside others; NaN with too few rows, 1 without columns."""
    one = np.ones(len(effect))
    small, large = (orthonormal(np.column_stack([one, *given, *added])) for added in ((), asked))
    more, df = large.shape[1] - small.shape[1], len(effect) - large.shape[1]
    if df < SPARE_ROWS:
        return np.nan
    before, after = (float(np.sum((effect - basis @ (basis.T @ effect)) ** 2)) for basis in (small, large))
    if more == 0 or before <= after:
        return 1.0
    return float(special.fdtrc(more, df, (before - after) / more / (after / df))) if after > 0.0 else 0.0


def _inside(rows: Compared, which: int) -> Inside:
    place, equation = rows.places[which], (rows.here, rows.there)[which]
    some = np.flatnonzero(rows.inside[which])
    some = some[:: max(1, -(-len(some) // MOST_ROWS))]
    values = {column: every[some] for column, every in rows.values.items()}
    return Inside(rows.effect, values, [term for term in equation.terms if place in term.contexts])


def _not_below(result: ContextGraphs, place: int, rows: Compared) -> list[int]:
    """The variables that the effect does not cause, besides the two."""
    below = descendants(directed(result.graphs[result.contexts[place]].ends), rows.effect)
    return [other for other in rows.values if other not in (rows.cause, rows.effect) and not below[other]]
