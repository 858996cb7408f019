"""Straight lines or curves, columns as they are or normal scores: the search in each class that stands a chance.

Curves must earn `CURVES_COST` log n over straight lines in total: where the context follows x, a slope of x that
changes with the context is a bend in x, and no single curve would be told from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.orders.node_data import NUMBER
from causalcontext.kernels.orders.node_scores import fit_pointer
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.knowledge import Links
from causalcontext.score.alarm import curves_gain, looks_curved
from causalcontext.score.columns import make_columns
from causalcontext.score.design import FitWorkspace
from causalcontext.score.design_factory import DesignFactory
from causalcontext.score.model import FittedModel, members
from causalcontext.score.options import MOST_CURVED_VARIABLES, ScoreOptions
from causalcontext.score.proposals import propose
from causalcontext.score.search import Effort, FoundModels, search
from causalcontext.score.setup import Setup, set_up
from causalcontext.score.transform import log_slope, transformed, with_normal_scores

CURVES_COST = 3.0
PROMISE = 0.5
"""Curves are searched if single ones would gain this share of what is asked for in the best linear model."""
FEW_VARIABLES = 12
"""Up to so many variables one set of moments serves straight lines and curves; beyond, that is slow for the former."""
MARGINAL_PARAMETERS = 4.0
"""A column's marginal distribution is not free: normal scores are charged like so many parameters a column."""
FAR = 4.0
"""Curves hardly ever gain so many times what each of them would gain by itself."""
CHANCE = 50.0
"""Normal scores are searched if at the orders found without them they come so close, in nats."""


@dataclass(frozen=True, eq=False)
class Explored:
    """What was found in one scale of the columns.

    Attributes
    ----------
    design factory : DesignFactory
    found : Found
        By straight lines, or by curves where these pay.
    curved : bool
        Whether curves were taken.
    doubt : float
        The score with curves minus that without; NaN if curves were not tried.
    """

    designs: DesignFactory
    found: FoundModels
    curved: bool
    doubt: float

    @property
    def score(self) -> float:
        """The score of the best model."""
        return self.found.best.score


def explore(data: Dataset, setup: Setup, links: Links, options: ScoreOptions,
            effort: Effort) -> tuple[Explored, str]:  # fmt: skip
    """The best model, and the scale of the columns it is made for: "none" or "ranks"."""
    if options.transform == "ranks":
        return _in_one_scale(_ranked(data, links), options, effort), "ranks"
    straight = _straight(setup, options, effort)
    try:
        return _improved(data, straight, links, effort)
    except KeyboardInterrupt:  # the model of straight lines is there, and is kept
        effort.clock.interrupt()
        effort.clock.skips("curves")
        return straight, "none"


def _improved(data: Dataset, straight: Explored, links: Links, effort: Effort) -> tuple[Explored, str]:
    """Normal scores and curves, where they pay."""
    setup, options = straight.designs.setup, straight.designs.options
    if options.transform == "auto" and not effort.clock.skips("normal scores"):
        ranked, charge = _ranked(data, links), _charge(setup, options)
        if _have_a_chance(ranked, options, straight.found.best, charge):
            return _compared(straight, ranked, charge, effort)
    return _bent(straight, effort), "none"


def _compared(straight: Explored, ranked: Setup, charge: float, effort: Effort) -> tuple[Explored, str]:
    """Normal scores against columns as they are."""
    other = _in_one_scale(ranked, straight.designs.options, effort)
    lead = other.score + charge - straight.score
    if lead > 0.0 and (np.isnan(other.doubt) or lead > FAR * curves_gain(straight.designs, straight.found.best)):
        return other, "ranks"  # a warp: no curves of the columns as they are come near
    mine = _bent(straight, effort)
    return (other, "ranks") if other.score + charge > mine.score else (mine, "none")


def _in_one_scale(setup: Setup, options: ScoreOptions, effort: Effort) -> Explored:
    return _bent(_straight(setup, options, effort), effort)


def _straight(setup: Setup, options: ScoreOptions, effort: Effort) -> Explored:
    """The best model without curves; in a small table curves have their columns already."""
    curves = setup.variables <= FEW_VARIABLES and options.curves != "never"
    designs = DesignFactory(setup, make_columns(setup, curves), options)
    return Explored(designs, search(designs, False, effort), False, np.nan)


def _bent(straight: Explored, effort: Effort) -> Explored:
    """Curves, if straight lines leave something to explain and the time is not up."""
    designs, plain = straight.designs, straight.found
    setup, options = designs.setup, designs.options
    if options.curves == "never" or setup.variables > MOST_CURVED_VARIABLES or effort.clock.skips("curves"):
        return straight
    if not designs.columns.curved.any():
        designs = DesignFactory(setup, make_columns(setup, True), options)
    need = CURVES_COST * float(np.log(setup.total))
    numbers = bool((setup.kind[: setup.variables] == NUMBER).all())  # categories hide curves from a quick look
    sure = options.curves == "always"
    if not sure and numbers:
        curved, certain = looks_curved(designs, plain.best, PROMISE * need)
        if not curved:
            return straight
        sure = certain > need
    offers = propose(designs)
    if not (sure or offers or designs.columns.curved.any()):
        return straight  # nothing but categories
    richer = designs.with_columns(make_columns(setup, True, offers)) if offers else designs
    enough = need if options.curves == "auto" else 0.0
    found = search(richer, True, effort, [plain.best.orders[0]], plain.best.score + enough, sure)
    gain = found.best.score - plain.best.score
    if options.curves == "always" or gain > need:
        return Explored(richer, found, True, gain)
    return Explored(straight.designs, plain, False, gain)


def _ranked(data: Dataset, links: Links) -> Setup:
    scores = with_normal_scores(data)
    return set_up(scores, gather_statistics(scores, "listwise"), links)


def _charge(setup: Setup, options: ScoreOptions) -> float:
    """What must be added to the score of normal scores to compare it: slopes of the transform, less the price."""
    columns = [setup.rows.values[j] for j in transformed(setup)]
    slopes = sum(log_slope(column) for column in columns) * setup.weight
    return slopes - len(columns) * MARGINAL_PARAMETERS * 0.5 * options.penalty * float(np.log(setup.total))


def _have_a_chance(ranked: Setup, options: ScoreOptions, model: FittedModel, charge: float) -> bool:
    """Whether normal scores come close with the orders and the blocks of a model of the columns as they are."""
    if not transformed(ranked):
        return False
    designs = DesignFactory(ranked, make_columns(ranked, False), options)
    number = np.argsort(ranked.position)[np.argsort(np.argsort(model.layout.setup.position))]
    place = np.argsort(number[model.orders], axis=1)
    masks = sorted({part.mask for parts in model.parts for part in parts} | {(1 << ranked.contexts) - 1})
    tasks = []
    for node, parts in enumerate(model.parts):
        for part in parts:
            beyond = part.block - model.layout.shifted
            block = len(masks) + beyond if beyond >= 0 else masks.index(part.mask)
            tasks.append((block, int(number[node]), part.mask))
    if ranked.contexts > 1:
        tasks.append((len(masks) - 1, ranked.variables, masks[-1]))
    return float(_fitted(designs, masks, tasks, place).sum()) + charge > model.score - CHANCE


def _fitted(designs: DesignFactory, masks: list[int], tasks: list[tuple[int, int, int]], place: Ints) -> Floats:
    """Scores of nodes in blocks, their candidates being what comes before them in all contexts of a mask."""
    setup, layout = designs.setup, designs.layout(masks, False)
    allowed = np.vstack([setup.allowed, setup.context_allowed[None]])
    candidates = np.zeros((len(tasks), setup.variables), dtype=bool)
    for row, (_, node, mask) in enumerate(tasks):
        here = members(mask, setup.contexts)
        before = (place[here, : setup.variables] < place[here, node : node + 1]).all(axis=0)
        candidates[row] = before & allowed[node]
    scores, top = np.zeros(len(tasks)), FitWorkspace(layout, 1, layout.memory())
    todo = np.array([[block, node] for block, node, _ in tasks], dtype=np.int64)
    fit_many(fit_pointer(), layout.calls, top.note, todo, candidates, scores, np.zeros((len(tasks), 0)),
             np.zeros((len(tasks), 0), dtype=np.int64))  # fmt: skip
    return scores
