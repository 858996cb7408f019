"""What moments say before a search: the best order for lines with Gaussian noise in all contexts
together, and, of many variables, who may matter to whom.

Moments take a small part of the time of a climb with all that a model may have (contexts, densities
of noise, categories). Climbs begin at the best order for lines. Where there are many variables each
looks at those alone that forward selection takes in all rows or in those of a context; in the model
that was found all others are tried, and who would gain is looked at then (`outsiders`), so that
this decides how long a search takes, not what it finds.
"""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.kernels.orders.line_orders import LineProblem, screen_lines, search_lines
from causalcontext.score.design import ScoreDesign
from causalcontext.score.model import FittedModel
from causalcontext.score.options import Clock
from causalcontext.score.workspace import FitWorkspace

FEWEST_SCREENED = 150
"""From so many nodes on each looks at some of the others alone; below that all of them cost
little."""
MOST_NEAR = 40
"""The most columns that forward selection takes in a block. With 8 causes a variable it takes about
20."""
MOST_BLOCKS = 8
"""The most contexts whose rows are looked at by themselves; of more, all rows alone."""


def line_order(design: ScoreDesign, seed: int, clock: Clock) -> tuple[Ints, Bools]:
    """The best order of all nodes by lines, shape (nodes,), and the causes that they have there,
    `[effect, cause]`.

    A category is the first of its indicators, a context variable one of the nodes.
    """
    _, order, causes = search_lines(line_problem(design), seed % 2**32, clock.flag)
    return order, causes


def line_problem(design: ScoreDesign) -> LineProblem:
    """The moments of all rows, and what is known."""
    data = design.data
    nodes = data.nodes
    allowed = design.allowed[:, :nodes].copy()
    # a mechanism that reads a context may have its level as a cause
    for reader, needs in enumerate(design.needs.tolist()):
        for node in needs:
            if node >= 0:
                allowed[:, node] |= design.may[:, 1 + reader]
    np.fill_diagonal(allowed, False)
    return LineProblem(
        _covariance(design, design.response[:nodes]),
        allowed,
        np.ascontiguousarray(design.required[:, :nodes] & allowed),
        design.earlier,
        float(data.total),
        design.price(data.total) + design.options.parent_price(data.causes),
        design.most_columns(curves=False),
    )


def screen(design: ScoreDesign, causes: Bools) -> bool:
    """Let nodes look at a few others alone, where there are many nodes; whether they do.

    `causes`, shape (nodes, nodes), are those in the best order for lines, which are among them.
    """
    data = design.data
    if data.nodes < FEWEST_SCREENED or not design.near.all():
        return False
    columns = design.response[: data.candidates]
    count = data.n.astype(np.float64)
    blocks = [np.ones(len(count), dtype=bool)]
    if 1 < len(count) <= MOST_BLOCKS:
        blocks += [
            np.arange(len(count)) == cell
            for cell in np.flatnonzero(count > 2 * SPARE_ROWS).tolist()
        ]
    rows = np.array([count[block].sum() for block in blocks])
    price = [design.price(n) + design.options.parent_price(data.causes) for n in rows.tolist()]
    near = screen_lines(
        np.stack([_covariance(design, columns, block) for block in blocks]),
        rows,
        np.array(price),
        MOST_NEAR,
    )
    near = np.ascontiguousarray(near[: data.nodes])
    near[:, : data.nodes] |= causes | causes.T
    design.narrow(near)
    return True


def outsiders(model: FittedModel) -> Bools:
    """Who would gain in a model without being looked at, shape (nodes, C)."""
    design = model.design
    data = design.data
    found = np.zeros_like(design.near)
    regressions = list(model.regressions())
    tasks = [(part.block, node, part.columns) for node, part in regressions]
    gains = FitWorkspace(design, curves=False).extras(tasks)[:, :, 0]
    for (node, part), gain in zip(regressions, gains, strict=True):
        may = design.allowed[node] & ~design.near[node] & (gain > 0.0)
        found[node] |= may & model.before(node, part.mask)
    found[:, : data.nodes] |= found[:, : data.nodes].T
    return found


def _covariance(design: ScoreDesign, columns: Ints, inside: Bools | None = None) -> Floats:
    """The covariance of some columns over all rows, or those of some cells, in units of their
    standard deviations; 0 for constants.
    """
    count = design.data.n if inside is None else design.data.n * inside
    means = design.means[:, columns]
    away = means - count @ means / count.sum()
    cells = np.flatnonzero(count)
    whole = np.zeros((len(columns), len(columns)))
    for cell in cells.tolist():
        whole += design.scatter[cell][columns[:, None], columns]
    whole = (whole + (count[:, None] * away).T @ away) / count.sum()
    spread = np.sqrt(np.diagonal(whole))
    units = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-6)
    return np.ascontiguousarray(whole * units * units[:, None])
