"""Bends before contexts: kinks, saturations and curves that may take the place of a slope that
changes with a context.

Where a context follows x, a line in one context and none in the other describes a kink of x, at
about the same price, and no residual is left that would ask for a curve. So every mechanism that
changes with a context is held against one for all rows in which causes may bend, of those causes
whose values differ between contexts. Where that comes close, the bends are proposed, and the search
decides between the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, log, pi

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.orders.fit_arrays import NUMBER, SOURCE
from causalcontext.kernels.rows.bends import (
    LINE,
    Bend,
    Held,
    bends,
    left_by,
    orthonormal,
    smooth_columns,
)
from causalcontext.score.columns import (
    CLIP,
    CURVES,
    HINGE,
    LOWER_HINGE,
    PRODUCT,
    SQUARE,
    BasisFunction,
)
from causalcontext.score.design import ScoreDesign
from causalcontext.score.model import FittedModel
from causalcontext.score.workspace import FitWorkspace

APART = 0.05
"""The share of the variance of x, or of its square, between contexts, from which on a bend may
stand for a context.
"""
CLOSE = 1.0
"""Bends are proposed if they come so close to a changing mechanism, in parameters."""
AS_GOOD = 2.0
"""The rows do not distinguish models whose scores differ by less, in nats."""
NEARLY_BEST = 3.0
"""Bends of a cause that are worse than its best one by more, in nats, are not proposed."""


def propose_bends(model: FittedModel) -> tuple[list[BasisFunction], set[int]]:
    """Bends that may take the place of contexts in a model, in a fixed order, and the nodes where
    they are as good.
    """
    design, data = model.design, model.design.data
    apart = _apart(design)
    tried = {}
    for node in range(data.responses):
        # those whose mechanism changes with a context, and has causes that may bend
        if (
            data.kind[node] != NUMBER
            or not design.may[node, 0]
            or not (readers := model.reads(node))
        ):
            continue
        causes = model.parents[:, node].any(axis=0) & apart
        causes[[data.made_of[v] for v in readers if v in data.made_of]] = False
        if causes.any():
            tried[node] = _bent(model, node, np.flatnonzero(causes).tolist())
    if not tried:
        return [], set()
    found: dict[BasisFunction, None] = {}
    equal: set[int] = set()
    workspace = FitWorkspace(design, curves=True, densities=False)
    for node, (loss, proposed) in tried.items():
        tasks = [(part.block, node, part.columns) for part in model.parts[node]]
        ahead = loss + float(workspace.score(tasks)[:, 0].sum())
        equal |= {node} if ahead < AS_GOOD else set()
        if ahead < CLOSE * design.price(data.total):
            found.update(dict.fromkeys(proposed))
    return sorted(found), equal


def _apart(design: ScoreDesign) -> Bools:
    """Which candidates are numbers with other values in some contexts than in others, by mean or by
    spread.
    """
    data, first = design.data, design.first[: design.data.candidates]
    share = data.n / data.n.sum()
    square = (
        design.scatter[:, first, first] / np.maximum(data.n, 1.0)[:, None]
        + design.means[:, first] ** 2
    )
    between = share @ design.means[:, first] ** 2, share @ (square - share @ square) ** 2
    fourth = np.mean(np.square(np.square(design.values[first])), axis=1) - 1.0
    return np.asarray(
        (data.kind == NUMBER)
        & ((between[0] > APART) | (between[1] > APART * np.maximum(fourth, 1.0)))
    )


def _bent(
    model: FittedModel, node: int, causes: Sequence[int]
) -> tuple[float, list[BasisFunction]]:
    """The least loss of one mechanism for all rows, causes being bent one after the other; and the
    best bends.
    """
    design, data = model.design, model.design.data
    y = design.values[design.response[node]]
    n = float(data.total)
    price = design.price(data.total)
    (columns, paid), smooth = (
        _columns(model, node),
        {x: smooth_columns(data.values[x]) for x in causes},
    )
    proposed: list[BasisFunction] = []

    def loss(left: float) -> float:
        return 0.5 * n * (log(max(left, 1e-300) / len(y)) + 1.0 + log(2.0 * pi)) + 2.0 * price

    best = loss(left_by(y, orthonormal(list(columns.values()), len(y)), [])) + sum(paid.values())
    last = -1
    for _ in causes:
        trials = []
        for x in (cause for cause in causes if cause != last):  # the last one has its best bend
            others = [key for key in columns if key[0] != x]
            rest = sum(paid[key] for key in others)
            for bend in bends(
                data.values[x], y, orthonormal([columns[key] for key in others], len(y)), smooth[x]
            ):
                own = [
                    price + column.cost(data.values[x], n, price, CURVES) for column in bend.columns
                ]
                trials.append((loss(bend.left) + rest + sum(own), x, bend, own))
        good = [trial for trial in trials if trial[0] < best]
        if not good:
            break
        best, x, chosen, own = min(good, key=lambda trial: trial[:2])
        last = x
        for near, z, bend, _ in good:
            if z == x and near < best + NEARLY_BEST:
                proposed += _functions(x, smooth[x], bend)
        for key in [key for key in columns if key[0] == x]:
            del columns[key], paid[key]
        for number, (column, cost) in enumerate(zip(chosen.columns, own, strict=True)):
            columns[x, -1 - number] = column.values(data.values[x])
            paid[x, -1 - number] = cost
    return best, proposed


def _columns(
    model: FittedModel, node: int
) -> tuple[dict[tuple[int, int], Floats], dict[tuple[int, int], float]]:
    """The columns of a node in any context, and what each would cost for all rows; by cause (-1:
    product), number.
    """
    design = model.design
    columns = {}
    paid = {}
    for part in model.parts[node]:
        for c in design.about(part.block)[SOURCE, part.columns].tolist():
            key = (-1 if design.functions[c].kind == PRODUCT else int(design.owner[c]), c)
            columns[key] = design.values[c]
            paid[key] = design.price(design.data.total) + float(design.surcharge[c])
    return columns, paid


def _functions(x: int, smooth: Sequence[Held], bend: Bend) -> Iterator[BasisFunction]:
    """The columns of a bend; where it is smooth, all smooth ones on its side, since one alone is
    hardly the curve.
    """
    last = bend.columns[-1]
    for column in smooth if last.power == 2 else bend.columns:
        if column.power == 2:
            if column.low == -inf and column.high == inf:
                yield BasisFunction(x, -1, SQUARE, 0.0)
            elif column.high == last.high == inf:
                yield BasisFunction(x, -1, HINGE, column.low)
            elif column.low == last.low == -inf:
                yield BasisFunction(x, -1, LOWER_HINGE, column.high)
        elif column != LINE:
            yield BasisFunction(x, -1, CLIP, column.low, column.high)
