"""What the residuals of a fitted model say about it: each is independent of everything before its
node.

They are held against the numbers that come before, by the check that all methods share. Which kinds
count: without noise densities a skewed or heavy-tailed residual does; with them, a skewed one
beside curves, a known weakness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.orders.fit_arrays import NUMBER
from causalcontext.model_checks.residuals import (
    Residuals,
    Statistics,
    check_residuals,
    in_units,
    side_by_side,
    statistics,
)
from causalcontext.model_checks.settings import (
    MOST_CHECKED_ROWS,
    MOST_NUMBERS_CROSSED,
    SPARE_ROWS_OF_A_FIT,
)
from causalcontext.model_checks.violations import CURVES, SKEW, SPREAD, TAILS, Violation
from causalcontext.score.data import ScoreData
from causalcontext.score.model import FittedModel


def check_fit(
    model: FittedModel, names: Sequence[str], densities: bool, curved: bool
) -> tuple[Violation, ...]:
    """Everything that speaks against the model; `names` are those of its variables."""
    kinds = [
        CURVES,
        SPREAD,
        *([SKEW] if not densities or curved else []),
        *([] if densities else [TAILS]),
    ]
    data = model.design.data
    together: dict[tuple[int, ...], list[tuple[int, Floats]]] = {}
    for node in np.flatnonzero(data.kind[: data.responses] == NUMBER).tolist():
        parts = {}
        for part in model.parts[node]:
            residual, _ = model.residual(node, part)
            if len(residual) >= len(part.columns) + SPARE_ROWS_OF_A_FIT and residual.std() >= 1e-6:
                parts[part.mask] = in_units(residual[:, None])
        if parts:
            together.setdefault(tuple(parts), []).append(
                (node, np.concatenate(list(parts.values())))
            )
    if not together:
        return ()
    found = side_by_side([_statistics(model, masks, own) for masks, own in together.items()])
    nodes = [names[node] for own in together.values() for node, _ in own]
    return check_residuals(found, int(min(data.total, MOST_CHECKED_ROWS)), nodes, kinds)


def not_coarse(data: ScoreData, violations: Sequence[Violation]) -> tuple[Violation, ...]:
    """What is to be told: residuals of coarse columns are uneven and skewed because these are
    coarse.

    Those of normal scores bend with their causes as well, where the values end.
    """
    coarse = {data.table.names[column] for column in data.treated}
    scored = {
        data.table.names[column] for column, own in data.treated.items() if not own.widths.size
    }
    told = (one.without(scored if one.kind == CURVES else coarse) for one in violations)
    return tuple(filter(None, told))


def _statistics(
    model: FittedModel, masks: Sequence[int], own: Sequence[tuple[int, Floats]]
) -> Statistics:
    """The statistics of nodes whose parts have the same cells, against columns in units of these
    parts.
    """
    data = model.design.data
    held = np.stack([earlier(model, node) for node, _ in own], axis=1)
    used = np.flatnonzero(held.any(axis=1))
    parts = [data.values[used][:, data.selected(mask)].T for mask in masks]
    beside = np.concatenate([in_units(part - part.mean(axis=0)) for part in parts])
    thin = slice(None, None, max(1, -(-len(beside) // MOST_CHECKED_ROWS)))
    left = np.hstack([column for _, column in own])[thin]
    fit = Residuals(left, beside[thin], held[used], held[used])
    return statistics(
        fit,
        by_ranks=True,
        cubes=not model.design.options.curves_offered(data.responses),
        products=False,
    )


def earlier(model: FittedModel, node: int) -> Bools:
    """The numbers that a residual is held against: those before the node in all contexts, its
    parents if many.
    """
    data = model.design.data
    held = model.before(node, model.design.everything)
    if data.causes > MOST_NUMBERS_CROSSED:
        held = np.asarray(model.parents[:, node].any(axis=0))
    return np.asarray((data.kind == NUMBER) & held)
