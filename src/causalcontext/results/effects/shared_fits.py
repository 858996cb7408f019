"""A mechanism of which some slopes change with the context and others do not: one regression for all contexts.

Every context has its own level, every term is a column in the contexts of its block, and a slope that several contexts
share is one parameter: where it is all that matters, two contexts do not differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.results.effects.estimates import Estimate, Parameters
from causalcontext.results.effects.fits import ErrorKind, MechanismFit, SandwichRows, classical, sandwich

Term = tuple[int, tuple[int, ...]]
"""A column, and the contexts that share its slope."""


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
        The contexts that share the slope of every cause.
    """

    joint: Parameters = field(kw_only=True)
    places: tuple[int, ...] = field(kw_only=True)
    sharing: tuple[tuple[int, ...], ...] = field(kw_only=True)

    @property
    def block(self) -> Parameters:
        """What was estimated together."""
        return self.joint

    def moving(self, slopes: Sequence[float] | Floats) -> Floats:
        """How a number moves with the parameters of the block, by how it moves with these slopes."""
        found = np.zeros(len(self.joint.covariance))
        found[list(self.places)] = slopes
        return found

    def slope(self, cause: int) -> Estimate:
        """The coefficient of one cause."""
        place = self.causes.index(cause)
        return Estimate(float(self.slopes[place]), {self.joint: self.moving(np.eye(len(self.causes))[place])})


def shared_fits(moments: Moments, effect: int, terms: Sequence[Term], rows: SandwichRows | None
                ) -> tuple[SharedFit, ...] | str:  # fmt: skip
    """The mechanism of every context, from moments of all of them; or why there is none."""
    contexts, n = len(moments.rows), int(moments.rows.sum())
    columns = np.array([column for column, _ in terms], dtype=np.int64)
    inside = np.array([[r in block for r in range(contexts)] for _, block in terms], dtype=bool).reshape(-1, contexts)
    df = n - len(terms) - contexts
    if df < SPARE_ROWS or (moments.rows < 1).any():
        return f"too few rows: {n} for {len(terms) + contexts} coefficients"
    both = np.einsum("ir,jr->ijr", inside, inside)
    gram = np.einsum("rij,ijr->ij", moments.scatter[:, columns][:, :, columns], both)
    cross = np.einsum("ri,ir->i", moments.scatter[:, columns, effect], inside)
    unit = np.sqrt(np.maximum(np.diagonal(gram), np.finfo(float).tiny))
    scaled = gram / np.outer(unit, unit)
    if len(terms) and np.linalg.eigvalsh(scaled)[0] <= COLLINEAR_BELOW:
        return "a column is constant, or a linear function of the others, there"
    inverse = np.linalg.inv(scaled) / np.outer(unit, unit)
    slopes = inverse @ cross
    left = max(float(moments.scatter[:, effect, effect].sum() - slopes @ cross), 0.0)
    kind: ErrorKind = "classical" if rows is None else "sandwich"
    covariance = (
        classical(inverse, left / df, moments.rows) if rows is None
        else _sandwich(rows, effect, columns, inside, moments, slopes, inverse)
    )  # fmt: skip
    joint = Parameters(covariance, df)
    return tuple(_of_context(joint, moments, effect, terms, slopes, r, kind) for r in range(contexts))


def _of_context(joint: Parameters, moments: Moments, effect: int, terms: Sequence[Term], slopes: Floats, r: int,
                kind: ErrorKind) -> SharedFit:  # fmt: skip
    here = [number for number, (_, block) in enumerate(terms) if r in block]
    causes = tuple(terms[number][0] for number in here)
    places = tuple(len(moments.rows) + number for number in here)
    own = [r, *places]
    spread = np.sqrt(np.diagonal(moments.scatter[r]))
    return SharedFit(
        joint.covariance[np.ix_(own, own)], joint.df, effect, causes, (r,), moments.mean[r : r + 1, effect],
        moments.mean[r : r + 1, list(causes)], slopes[here], int(moments.rows.sum()), kind,
        spread[list(causes)] / spread[effect], joint=joint, places=places,
        sharing=tuple(terms[number][1] for number in here),
    )  # fmt: skip


def _sandwich(rows: SandwichRows, effect: int, columns: Ints, inside: np.ndarray, moments: Moments, slopes: Floats,
              inverse: Floats) -> Floats:  # fmt: skip
    """HC3, as in `fits`."""
    contexts = len(moments.rows)
    values, codes = rows.values([effect, *columns.tolist()], range(contexts))
    values -= moments.mean[codes][:, [effect, *columns.tolist()]]
    return sandwich(values[:, 0], values[:, 1:] * inside.T[codes], codes, moments.rows, slopes, inverse)
