"""Does the model hold? Checks on the residuals of a fitted model, and what their failure endangers.

If the model is right, a node's residual is independent of everything before the node. So its correlation with squares
of earlier variables, and the correlation of its square with them, must be zero. Its density may be any that is on
offer, but curves and a skewed density together are a known weakness. Each check needs a clear effect besides
significance: large tables reject every model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from causalcontext.data.dataset import gaussian_ranks
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.orders.node_data import NUMBER
from causalcontext.score.alarm import before, residuals_of
from causalcontext.score.model import FittedModel, Part, members

MOST_ROWS = 5_000
FEWEST_ROWS = 20
MANY_VARIABLES = 30
"""Beyond so many variables residuals are held against the parents only."""
CLEAR_CORRELATION, CLEAR_SKEWNESS, CLEAR_KURTOSIS = 0.1, 0.5, 1.0
LEVEL = 0.001


@dataclass(frozen=True)
class ResidualViolation:
    """A check that failed: "nonlinear", "uneven", "skewed" or "heavy tails", at which variable, and how clearly."""

    kind: str
    variable: int
    size: float


def check_residuals(model: FittedModel, densities: bool, curved: bool) -> tuple[ResidualViolation, ...]:
    """Everything that speaks against the model, by variable.

    Without noise densities a skewed or heavy-tailed residual does; with them, a skewed one beside curves.
    """
    kind, found = model.layout.setup.kind, {}
    for node, parts in enumerate(model.parts):
        for part in parts if kind[node] == NUMBER else ():
            for finding in _check(model, node, part, densities, curved):
                found[finding.kind, finding.variable] = finding
    return tuple(found.values())


def _check(model: FittedModel, node: int, part: Part, densities: bool, curved: bool) -> Iterator[ResidualViolation]:
    residual, rows = residuals_of(model, node, part)
    if len(residual) < len(part.columns) + FEWEST_ROWS or residual.std() < 1e-6:
        return
    thin = slice(None, None, max(1, -(-len(residual) // MOST_ROWS)))
    residual = residual[thin] / residual[thin].std()
    values = model.layout.setup.rows.values[:, rows][:, thin]
    shape = dict(_shape(residual))
    if "skewed" in shape and (not densities or curved):
        yield ResidualViolation("skewed", node, shape["skewed"])
    if "heavy tails" in shape and not densities:
        yield ResidualViolation("heavy tails", node, shape["heavy tails"])
    yield from _dependence(node, residual, values[_earlier(model, node, part)])


def _earlier(model: FittedModel, node: int, part: Part) -> list[int]:
    """The numbers that the residual is held against."""
    setup = model.layout.setup
    contexts = members(part.mask, setup.contexts)
    parents, earlier = model.parents_of(part, contexts[0]), before(model, node, contexts)
    return [j for j in range(setup.variables) if setup.kind[j] == NUMBER
            and (j in parents if setup.variables > MANY_VARIABLES else earlier[j])]  # fmt: skip


def _shape(residual: Floats) -> Iterator[tuple[str, float]]:
    n = len(residual)
    square = residual * residual
    skewness, kurtosis = float(square @ residual) / n, float(square @ square) / n - 3.0
    clear = -float(scipy.special.ndtri(LEVEL / 2.0))
    if abs(skewness) > max(CLEAR_SKEWNESS, clear * np.sqrt(6.0 / n)):
        yield "skewed", skewness
    if kurtosis > max(CLEAR_KURTOSIS, clear * np.sqrt(24.0 / n)):
        yield "heavy tails", kurtosis


def _dependence(node: int, residual: Floats, earlier: Floats) -> Iterator[ResidualViolation]:
    """Curvature (residual against squares) and unequal spread (squared residual against values and squares).

    Ranks must say so too: a few large values make correlations of squares large where nothing depends on anything.
    """
    n = len(residual)
    scale = earlier.std(axis=1) if len(earlier) else np.zeros(0)
    usable = (earlier - earlier.mean(axis=1, keepdims=True))[scale > 1e-9] if len(earlier) else earlier
    if len(usable) == 0:
        return
    usable = usable / scale[scale > 1e-9, None]
    squares, spread = usable * usable, residual * residual
    bend = float(np.abs(_correlations(residual, squares)).max())
    uneven = max(float(np.abs(_correlations(spread, other)).max()) for other in (usable, squares))
    size = max(bend, uneven)
    clear = -float(scipy.special.ndtri(LEVEL / (2.0 * 3.0 * len(usable))))
    enough = max(CLEAR_CORRELATION, clear / np.sqrt(n))
    if size > enough and _by_ranks(residual, usable) > enough:
        yield ResidualViolation("nonlinear" if bend > max(enough, uneven) else "uneven", node, size)


def _by_ranks(residual: Floats, earlier: Floats) -> float:
    """The same with normal scores of ranks, and distances from the median instead of squares."""
    away = earlier - np.median(earlier, axis=1, keepdims=True)
    sign, spread = gaussian_ranks(residual), gaussian_ranks(np.abs(residual - np.median(residual)))
    values = np.stack([gaussian_ranks(row) for row in away])
    sizes = np.stack([gaussian_ranks(np.abs(row)) for row in away])
    return max(float(np.abs(_correlations(a, b)).max()) for a, b in ((sign, sizes), (spread, values), (spread, sizes)))


def _correlations(one: Floats, many: Floats) -> Floats:
    left, right = one - one.mean(), many - many.mean(axis=1, keepdims=True)
    scale = np.sqrt((left @ left) * np.einsum("ij,ij->i", right, right))
    return np.asarray(right @ left / np.where(scale > 0, scale, 1.0))
