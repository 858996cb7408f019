"""Does the linear-Gaussian model hold? Checks on the residuals of a fitted model, and what their failure endangers.

If the model is right, a node's residual is independent of everything before the node, and Gaussian. So its correlation
with squares of earlier variables, and the correlation of its square with them, must be zero; its skewness and excess
kurtosis too. Each check needs a clear effect besides significance: large tables reject every model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from causalcontext.score.model import FittedModel
from causalcontext.score.setup import Setup

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_ROWS = 5_000
MANY_VARIABLES = 30
"""Beyond so many variables residuals are held against the parents only."""
CLEAR_CORRELATION, CLEAR_SKEWNESS, CLEAR_KURTOSIS = 0.1, 0.5, 1.0
LEVEL = 0.001


@dataclass(frozen=True)
class Misfit:
    """A check that failed: "nonlinear", "skewed" or "heavy tails", at which variable, and how clearly."""

    kind: str
    variable: int
    size: float


def check_residuals(setup: Setup, model: FittedModel) -> tuple[Misfit, ...]:
    """Everything that speaks against the model, by variable."""
    thin = slice(None, None, max(1, -(-len(setup.values) // MOST_ROWS)))
    values, codes = setup.values[thin], setup.codes[thin]
    found = {
        (finding.kind, finding.variable): finding
        for node in range(setup.variables)
        for finding in _check_node(setup, model, node, values, codes)
    }
    return tuple(found.values())


def _check_node(
    setup: Setup, model: FittedModel, node: int, values: Floats, codes: NDArray[np.int64]
) -> Iterator[Misfit]:
    for mask in dict.fromkeys(model.block[:, node].tolist()):
        members = [r for r in range(setup.contexts) if mask >> r & 1]
        rows = np.isin(codes, members) if len(members) < setup.contexts else slice(None)
        residual = residuals(
            values[rows], codes[rows], node, model.parents[members[0], node], bool(model.shifted[node])
        )
        if residual is None:
            continue
        earlier = _earlier(setup, model, node, members[0])
        yield from _shape(node, residual)
        yield from _dependence(node, residual, values[rows][:, earlier])


def residuals(
    values: Floats, codes: NDArray[np.int64], node: int, parents: NDArray[np.bool_], shifted: bool
) -> Floats | None:
    """Standardised residuals of a node on its parents; None if too few rows or no variation are left."""
    design = np.ones((len(values), 1))
    if shifted:
        design = (codes[:, None] == np.unique(codes)).astype(np.float64)
    design = np.hstack([design, values[:, parents]])
    if len(values) < design.shape[1] + 20:
        return None
    slopes, *_ = np.linalg.lstsq(design, values[:, node], rcond=None)
    left = values[:, node] - design @ slopes
    spread = left.std()
    return None if spread < 1e-6 else np.asarray(left / spread)


def _earlier(setup: Setup, model: FittedModel, node: int, context: int) -> NDArray[np.bool_]:
    """What the residual is held against."""
    if setup.variables > MANY_VARIABLES:
        return np.asarray(model.parents[context, node])
    place = np.argsort(model.orders[context])
    return np.asarray(place[: setup.variables] < place[node])


def _shape(node: int, residual: Floats) -> Iterator[Misfit]:
    n = len(residual)
    square = residual * residual
    skewness, kurtosis = float(square @ residual) / n, float(square @ square) / n - 3.0
    clear = -float(ndtri(LEVEL / 2.0))
    if abs(skewness) > max(CLEAR_SKEWNESS, clear * np.sqrt(6.0 / n)):
        yield Misfit("skewed", node, skewness)
    if kurtosis > max(CLEAR_KURTOSIS, clear * np.sqrt(24.0 / n)):
        yield Misfit("heavy tails", node, kurtosis)


def _dependence(node: int, residual: Floats, earlier: Floats) -> Iterator[Misfit]:
    """Curvature (residual against squares) and unequal spread (squared residual against values and squares)."""
    n, count = earlier.shape
    if count == 0:
        return
    scale = earlier.std(axis=0)
    usable = (earlier - earlier.mean(axis=0))[:, scale > 1e-9] / scale[scale > 1e-9]
    if usable.shape[1] == 0:
        return
    squares, spread = usable * usable, residual * residual
    pairs = ((residual, squares), (spread, usable), (spread, squares))
    size = max(float(np.abs(_correlations(a, b)).max()) for a, b in pairs)
    clear = -float(ndtri(LEVEL / (2.0 * 3.0 * usable.shape[1])))
    if size > max(CLEAR_CORRELATION, clear / np.sqrt(n)):
        yield Misfit("nonlinear", node, size)


def _correlations(one: Floats, many: Floats) -> Floats:
    left, right = one - one.mean(), many - many.mean(axis=0)
    scale = np.sqrt((left @ left) * np.einsum("ij,ij->j", right, right))
    return np.asarray(left @ right / np.where(scale > 0, scale, 1.0))
