"""A mechanism of which some slopes change with the context and others do not: one regression for all contexts.

Every context has its own level, every term is a column in the contexts of its block, and a slope that several contexts
share is one parameter: where it is all that matters, two contexts do not differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.results.effects.estimates import Parameters
from causalcontext.results.effects.fits import (
    CompleteRows,
    ErrorKind,
    Groups,
    MechanismFit,
    classical,
    grouped,
    sandwich,
)

Term = tuple[int, tuple[int, ...]]
"""A column, and the groups of cells that share its slope."""


@dataclass(frozen=True, eq=False)
class SharedFit(MechanismFit):
    """What a regression for all contexts says about one of them; `joint` has the parameters of all.

    Attributes
    ----------
    joint : Parameters
        The levels of all contexts, then the slopes of all terms.
    places : tuple of int
        Where the slopes of this context are among the parameters.
    sharing : tuple of tuples of int
        The groups that share the slope of every cause.
    own : int
        The number of its own group.
    """

    joint: Parameters = field(kw_only=True)
    places: tuple[int, ...] = field(kw_only=True)
    sharing: tuple[tuple[int, ...], ...] = field(kw_only=True)
    own: int = field(kw_only=True)

    @property
    def block(self) -> Parameters:
        """What was estimated together."""
        return self.joint

    def moving(self, slopes: Sequence[float] | Floats, place: int = 0, level: float = 0.0) -> Floats:
        """How a number moves with the parameters of the block, by how it moves with these slopes and this level."""
        found = np.zeros(len(self.joint.covariance))
        found[list(self.places)] = slopes
        found[self.own] = level
        return found


def shared_fits(moments: Moments, effect: int, terms: Sequence[Term], rows: CompleteRows | None, groups: Groups,
                graphs: Groups) -> tuple[SharedFit, ...] | str:  # fmt: skip
    """The mechanism in every group of cells, from the moments of all; or why there is none."""
    levels = grouped(moments, groups)
    contexts, n = len(groups), int(levels.rows.sum())
    columns = np.array([column for column, _ in terms], dtype=np.int64)
    inside = np.array([[r in block for r in range(contexts)] for _, block in terms], dtype=bool).reshape(-1, contexts)
    df = n - len(terms) - contexts
    if df < SPARE_ROWS or (levels.rows < 1).any():
        return f"too few rows: {n} for {len(terms) + contexts} coefficients"
    both = np.einsum("ir,jr->ijr", inside, inside)
    gram = np.einsum("rij,ijr->ij", levels.scatter[:, columns][:, :, columns], both)
    cross = np.einsum("ri,ir->i", levels.scatter[:, columns, effect], inside)
    unit = np.sqrt(np.maximum(np.diagonal(gram), np.finfo(float).tiny))
    scaled = gram / np.outer(unit, unit)
    if len(terms) and np.linalg.eigvalsh(scaled)[0] <= COLLINEAR_BELOW:
        return "a column is constant, or a linear function of the others, there"
    inverse = np.linalg.inv(scaled) / np.outer(unit, unit)
    slopes = inverse @ cross
    if rows is None:
        left = max(float(levels.scatter[:, effect, effect].sum() - slopes @ cross), 0.0)
        joint = Parameters(classical(inverse, left / df, levels.rows), df)
    else:
        used = [effect, *columns.tolist()]
        values, place = rows.values(used, groups)
        values -= levels.mean[place][:, used]
        joint = Parameters(
            sandwich(values[:, 0], values[:, 1:] * inside.T[place], place, levels.rows, slopes, inverse), df
        )
    kind: ErrorKind = "classical" if rows is None else "sandwich"
    spread = np.sqrt(np.diagonal(levels.scatter, axis1=1, axis2=2))
    found = []
    for r in range(contexts):
        here = [number for number, (_, block) in enumerate(terms) if r in block]
        causes = [terms[number][0] for number in here]
        places = tuple(contexts + number for number in here)
        known = np.ix_([r, *places], [r, *places])
        found.append(SharedFit(
            joint.covariance[known], df, effect, tuple(causes), (groups[r],), (graphs[r],),
            levels.mean[r : r + 1, effect], levels.mean[r : r + 1, causes], slopes[here], n, kind,
            spread[r, causes] / spread[r, effect], joint=joint, places=places,
            sharing=tuple(terms[number][1] for number in here), own=r,
        ))  # fmt: skip
    return tuple(found)
