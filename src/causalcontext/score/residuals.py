"""What the residuals of a fitted model say about it: each is independent of everything before its node.

They are held against the numbers that come before, by the check that all methods share. Which kinds count: without
noise densities a skewed or heavy-tailed residual does; with them, a skewed one beside curves, a known weakness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.kernels.orders.fit_arrays import NUMBER
from causalcontext.model_checks.residuals import (
    MANY_VARIABLES,
    MOST_ROWS,
    SPARE_ROWS,
    Residuals,
    Statistics,
    check_residuals,
    in_units,
    side_by_side,
    statistics,
)
from causalcontext.model_checks.violations import CURVES, SKEW, SPREAD, TAILS, Violation
from causalcontext.score.model import FittedModel


def check_fit(model: FittedModel, names: Sequence[str], densities: bool, curved: bool) -> tuple[Violation, ...]:
    """Everything that speaks against the model; `names` are those of its variables."""
    kinds = [CURVES, SPREAD, *([SKEW] if not densities or curved else []), *([] if densities else [TAILS])]
    data = model.design.data
    numbers = np.flatnonzero(data.kind[: data.responses] == NUMBER).tolist()
    found = {node: one for node in numbers if (one := _of_node(model, node)) is not None}
    rows = int(min(data.total, MOST_ROWS))
    return check_residuals(side_by_side(list(found.values())), rows, [names[j] for j in found], kinds) if found else ()


def _of_node(model: FittedModel, node: int) -> Statistics | None:
    """The statistics of a node, every part of it in its own units; None without residuals."""
    parts, held = [], earlier(model, node)
    for part in model.parts[node]:
        residual, rows = model.residual(node, part)
        if len(residual) >= len(part.columns) + SPARE_ROWS and residual.std() >= 1e-6:
            values = model.design.data.values[:, rows][held].T
            parts.append((in_units(residual[:, None]), in_units(values - values.mean(axis=0))))
    if not parts:
        return None
    thin = slice(None, None, max(1, -(-sum(len(left) for left, _ in parts) // MOST_ROWS)))
    left, beside = (np.concatenate(columns)[thin] for columns in zip(*parts, strict=True))
    against = np.ones((len(held), 1), dtype=bool)
    return statistics(Residuals(left, beside, against, against, np.zeros(len(left), dtype=bool)), by_ranks=True)


def earlier(model: FittedModel, node: int) -> list[int]:
    """The numbers that a residual is held against: those before the node in all contexts, its parents if many."""
    data, held = model.design.data, model.before(node, model.design.everything)
    if data.causes > MANY_VARIABLES:
        held = np.asarray(model.parents[:, node].any(axis=0))
    return [j for j in range(data.candidates) if data.kind[j] == NUMBER and held[j]]
