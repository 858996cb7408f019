"""Straight lines or curves, columns as they are or normal scores: the search in each class that
stands a chance.

Curves must earn `CURVES_COST` log n over straight lines in total: where the context follows x, a
slope of x that changes with the context is a bend in x, and no single curve would be told from it.

A monotone warp of a column (a logarithm, a cube) bends straight lines. Normal scores undo any such
warp, but bend mechanisms that were straight. Both models are densities of the same data once the
slope of the transform is counted, so the larger likelihood decides. The density of a column is
estimated by its spacings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from causalcontext.data.amounts import is_amount
from causalcontext.data.coarse import FewValues
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import complete_rows, mean_ranks
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.orders.fit_arrays import NUMBER
from causalcontext.model_checks.violations import SPREAD, Violation
from causalcontext.score.bends import AS_GOOD, propose_bends
from causalcontext.score.censored import written_score
from causalcontext.score.columns import SQUARE
from causalcontext.score.curves import curves_gain, looks_curved, propose, propose_interactions
from causalcontext.score.data import ScoreData, score_data
from causalcontext.score.design import POOLED, ScoreDesign
from causalcontext.score.model import FittedModel, before
from causalcontext.score.options import ScoreOptions
from causalcontext.score.residuals import check_fit, not_coarse
from causalcontext.score.search import EQUAL, Effort, FoundModels, search
from causalcontext.score.treatments import (
    MARGINAL_PARAMETERS,
    Treatment,
    charge_as_is,
    log_density,
    responses_of,
    treatments,
)
from causalcontext.score.workspace import FitWorkspace

CURVES_COST = 3.0
COARSE_CURVES = 2.0
"""So many times this where coarse columns have normal scores."""
SCALES_COST = 3.0
"""What mechanisms whose noise has an uneven spread must earn, in log n."""
PROMISE = 0.5
"""Curves are searched if single ones would gain this share of what is asked for in the best linear
model.

An uneven spread is searched if it gains this share at the orders of the best model with an even
one.
"""
NEAR_ENOUGH = 0.2
"""And if at these orders it lacks at most so much, in nats a row: other orders hardly ever make up
for more.
"""
FEW_VARIABLES = 12
"""Up to so many variables one set of moments serves straight lines and curves; beyond, that is slow
for the former.
"""
FAR = 4.0
"""Empirical bound: the joint gain of curves, or of bends, is at most so many times the sum of their
single gains.
"""
RANKS, AMOUNTS = "ranks", "amounts"
"""Normal scores replace all continuous columns, or those alone that are amounts."""
CHANCE = 50.0
"""Normal scores are searched if at the orders found without them they come so close, in nats."""


@dataclass(frozen=True, eq=False)
class Explored:
    """What was found in one scale of the columns."""

    design: ScoreDesign
    found: FoundModels  # by straight lines, or by curves where these pay
    curved: bool  # whether curves were taken
    doubt: float  # the score with curves minus that without; NaN if curves were not tried
    # what makes the score one of the columns as they are, in standard units: slopes of normal
    # scores, and shares of values of coarse columns
    charge: float = 0.0
    # what mechanisms with an uneven spread add to the score; NaN if they were not taken
    scales_gain: float = np.nan
    straight: Explored | None = None  # what was found without curves, if this was found with them
    # whether curves are bends in place of contexts alone: these pay one by one, not as a class
    instead: bool = False
    # variables whose mechanism changes with a context here, and might as well have a bend that all
    # contexts share
    undecided: tuple[int, ...] = ()

    def paid(self, scales: bool) -> float:
        """What its class of models, with an uneven spread or not, must gain over straight lines
        with an even one.
        """
        return price_of_class(self.design.data, self.curved and not self.instead, scales)

    @cached_property
    def findings(self) -> tuple[Violation, ...]:
        """What the residuals of the best model say against it."""
        data = self.design.data
        names = [data.table.names[i] for i in data.position]
        return check_fit(self.found.best, names, self.design.options.densities, self.curved)

    @property
    def score(self) -> float:
        """The score of the best model."""
        return self.found.best.score


def price_of_class(data: ScoreData, curved: bool, scales: bool) -> float:
    """What a class of models must gain over straight lines with an even spread.

    What a coarse column is cut from bends with its causes where its values end: curves cost more
    beside normal scores.
    """
    dearer = 1.0 if all(own.widths.size for own in data.treated.values()) else COARSE_CURVES
    return (CURVES_COST * dearer * curved + SCALES_COST * scales) * float(np.log(data.total))


LARGEST_UNEVEN = 200_000
"""Rows times contexts squared: in larger tables a climb with an uneven spread takes minutes."""
LARGEST_UNEVEN_WIDE = 40_000_000
"""And times variables cubed: with 20 variables 4,000 rows took half a minute, with 40 variables 500
rows 5 seconds, and 1,000 rows minutes."""


def explore(
    data: ScoreData,
    options: ScoreOptions,
    effort: Effort,
    coarse: Sequence[FewValues] = (),
    only: str = "",
) -> tuple[Explored, str, str]:
    """The best model, the scale of the columns it is made for, "none" or "ranks", and what is done
    with coarse ones.

    If `only` one treatment of coarse columns is asked for, and possible, there are no others.
    """
    best, transform, way = explore_even(data, options, effort, coarse, only)
    return explore_uneven(best, effort), transform, way


def explore_uneven(even: Explored, effort: Effort) -> Explored:
    """The best model, whose noise may have an uneven spread, from the best one with an even
    spread.
    """
    try:
        return _uneven(even, effort) if asks_for_scales(even) else even
    except KeyboardInterrupt:  # the model with an even spread is there, and is kept
        effort.clock.interrupt()
        effort.clock.skips("scales")
        return even


def asks_for_scales(even: Explored) -> bool:
    """True if residuals contradict the model, or those of straight lines have an uneven spread, and
    the table is small.

    In large ones the residual checks still say that the spread is uneven.
    """
    data = even.design.data
    size = data.total * data.contexts**2
    if size > LARGEST_UNEVEN or size * data.responses**3 > LARGEST_UNEVEN_WIDE:
        return False
    told = not_coarse(data, even.findings)
    straight = even.straight or even
    spread = told or not_coarse(straight.design.data, straight.findings)
    return even.design.options.densities and bool(
        told or any(each.kind == SPREAD for each in spread)
    )


def explore_even(
    data: ScoreData,
    options: ScoreOptions,
    effort: Effort,
    coarse: Sequence[FewValues],
    only: str = "",
) -> tuple[Explored, str, str]:
    """The best model whose noise has the same spread everywhere."""
    ways = treatments(data, coarse if options.transform != "none" else (), effort.seed, only)
    ways = [way for way in ways if way.name == only] or ways
    if options.transform == "ranks":
        way = ways[min(1, len(ways) - 1)]
        found = _bent(_straight(in_ranks(way.data), options, effort), effort)
        return (
            replace(found, charge=way.charge + charge_for_ranks(way.data, options)),
            "ranks",
            way.name,
        )
    straight = _straight(ways[0].data, options, effort)
    try:
        if len(ways) > 1:
            ways[0] = replace(
                ways[0], charge=ways[0].charge - beyond_shares(straight.design, coarse)
            )
            return _likeliest(straight, ways, effort)
        found, transform = _improved(straight, _bent, effort)
        return replace(found, charge=found.charge + ways[0].charge), transform, ways[0].name
    except KeyboardInterrupt:  # the model of straight lines is there, and is kept
        effort.clock.interrupt()
        effort.clock.skips("curves")
        return replace(straight, charge=ways[0].charge), "none", ways[0].name


def _uneven(even: Explored, effort: Effort) -> Explored:
    """Noise whose spread depends on causes, where it pays: `SCALES_COST` log n in total.

    Curves may have stood for an uneven spread, so that straight lines with it are tried as well;
    and it may have stood for curves, which are tried where residuals say so then.
    """
    best = even
    straight = even.straight or even
    if effort.clock.skips("scales"):
        return even
    for plain in (straight, even) if even.curved else (straight,):
        if best.design.scales and not not_coarse(best.design.data, best.findings):
            break  # nothing asks for curves any more
        design = plain.design.with_scales()
        needed = best.score - best.paid(best.design.scales) + plain.paid(scales=True)
        gain = float(_at_orders(design, plain.found.best, plain.curved).sum()) - plain.score
        lacking = needed - plain.score - NEAR_ENOUGH * design.data.total
        if gain < max(lacking, PROMISE * price_of_class(design.data, curved=False, scales=True)):
            continue
        found = search(design, plain.curved, effort, [plain.found.best.orders[0]], needed, False)
        if found.best.score > needed:
            gain = found.best.score - plain.score
            best = Explored(
                design, found, plain.curved, even.doubt, even.charge, gain, instead=plain.instead
            )
    return best


def _likeliest(
    straight: Explored, ways: Sequence[Treatment], effort: Effort
) -> tuple[Explored, str, str]:
    """The treatment of coarse columns whose model gives the written values the highest probability.

    Of those that draw numbers the likelier one competes, if such numbers act. Curves are tried from
    the likeliest on, where they may lead to the best. Normal scores of the other columns are tried
    beside the best, or beside those of coarse columns if these stay as they are.
    """
    straights: list[tuple[Treatment, Explored]] = [(ways[0], straight)]
    drawn: list[tuple[Treatment, Explored]] = []
    for way in ways[1:]:
        if effort.clock.skips("normal scores"):
            break
        (drawn if way.limits else straights).append(
            (way, _straight(way.data, straight.design.options, effort))
        )
    if drawn:
        way, likelier = max(drawn, key=_likelihood)
        assert way.written is not None
        # numbers behind limits act if they explain more than what is written does, at the parents
        # of two models: the best one with drawn numbers, and that with normal scores
        elsewhere = ~np.isin(way.written.position[: way.written.nodes], list(way.limits))
        by_model = (
            float(
                scores_at_orders(way.written, likelier.design.options, model, False)[
                    elsewhere
                ].sum()
            )
            + written_score(model, way.written, way.limits)
            for model in (likelier.found.best, straights[1][1].found.best)
        )
        if likelier.score + way.drawn > max(by_model):
            straights.append((way, likelier))
    way, plain = max(straights, key=_likelihood)
    bent = _bent(plain, effort)
    for other, lines in sorted(straights, key=_likelihood, reverse=True)[1:]:
        lacking = bent.score + way.charge - _likelihood((other, lines))
        if lacking < max(CHANCE, FAR * curves_gain(lines.design, lines.found.best)):
            curves = _bent(lines, effort)
            if curves.score + other.charge > bent.score + way.charge:
                way = other
                plain = lines
                bent = curves
    beside = ways[1] if way is ways[0] else way
    found, transform = _improved(
        plain, lambda *_: bent, effort, beside.data, beside.charge - way.charge
    )
    found = replace(found, charge=found.charge + way.charge)
    return found, transform, way.name if transform == "none" else beside.name


def _likelihood(one: tuple[Treatment, Explored]) -> float:
    """The log probability of the written values, in a model of a treatment."""
    return one[1].score + one[0].charge


def beyond_shares(design: ScoreDesign, coarse: Sequence[FewValues]) -> float:
    """What the densities of coarse columns as they are promise too much, where without causes they
    beat the shares.

    No probability does, but a density may be narrower than the distance of values. It follows the
    shares then, and has to pay for them like normal scores: one nat a value, a mean and a spread.
    """
    data = design.data
    total = 0.0
    alone = design.block(POOLED, design.everything)
    nothing = np.zeros(0, dtype=np.int64)
    for few in (few for few in coarse if few.kind is Kind.CONTINUOUS and not few.is_graded):
        shares = data.total * float(few.shares @ np.log(few.shares))
        for node in responses_of(data, few):
            score = float(FitWorkspace(design, curves=False).score([(alone, node, nothing)])[0, 0])
            excess = score + charge_as_is(data, few, node) - shares
            total += (
                excess + len(few.values) - 1 + 2.0 * design.price(data.total)
                if excess > 0.0
                else 0.0
            )
    return total


def _improved(
    straight: Explored,
    bent: Callable[[Explored, Effort], Explored],
    effort: Effort,
    beside: ScoreData | None = None,
    charge: float = 0.0,
) -> tuple[Explored, str]:
    """Normal scores and curves, where they pay; `beside` has the columns to take ranks of, if not
    those searched.
    """
    data = beside or straight.design.data
    options = straight.design.options
    if (
        options.transform != "auto"
        or not _transformed(data, RANKS)
        or effort.clock.skips("normal scores")
    ):
        return bent(straight, effort), "none"
    ranked = [
        (found, transform)
        for transform in (RANKS, AMOUNTS)
        if (found := _ranked(straight, data, transform, effort, charge)) is not None
    ]
    if not ranked:
        return bent(straight, effort), "none"
    other, transform = max(ranked, key=lambda each: each[0].score + each[0].charge)
    lead = other.score + other.charge - straight.score
    if lead > 0.0 and (
        np.isnan(other.doubt) or lead > FAR * curves_gain(straight.design, straight.found.best)
    ):
        return other, transform  # a warp: no curves of the columns as they are come near
    mine = bent(straight, effort)
    return (other, transform) if other.score + other.charge > mine.score else (mine, "none")


def _ranked(
    straight: Explored, data: ScoreData, transform: str, effort: Effort, charge: float
) -> Explored | None:
    """The best model of the columns in normal scores, with what these cost; None where there are
    none to replace, or the same ones as with all, and where they are far from paying at the orders
    of straight lines.
    """
    options = straight.design.options
    columns = _transformed(data, transform)
    if not columns or (transform == AMOUNTS and columns == _transformed(data, RANKS)):
        return None
    ranked = in_ranks(data, transform)
    charge = charge + charge_for_ranks(data, options, transform)
    at_orders = float(scores_at_orders(ranked, options, straight.found.best, False).sum())
    if at_orders + charge <= straight.score - CHANCE:
        return None
    return replace(_bent(_straight(ranked, options, effort), effort), charge=charge)


def _straight(data: ScoreData, options: ScoreOptions, effort: Effort) -> Explored:
    """The best model without curves, contexts in order or not; in a small table curves have their
    columns already.
    """
    curved = data.causes <= FEW_VARIABLES and options.curves != "never"
    design = ScoreDesign(data, options, curved)
    found = Explored(design, search(design, False, effort), False, np.nan)
    for name in data.may_be_ordered:
        if effort.clock.skips("ordered contexts"):
            break
        design = ScoreDesign(found.design.data.with_ordered_contexts([name]), options, curved)
        best = found.found.best
        try:
            other = search(design, False, effort, [best.orders[0]], best.score)
        except KeyboardInterrupt:  # the model with this context as labels is there, and is kept
            effort.clock.interrupt()
            effort.clock.skips("ordered contexts")
            break
        if other.best.score > best.score + EQUAL:
            found = Explored(design, other, False, np.nan)
    return found


def _bent(straight: Explored, effort: Effort) -> Explored:
    """Curves, if straight lines leave something to explain and the time is not up, or bends in
    place of contexts.
    """
    options = straight.design.options
    data = straight.design.data
    if not options.curves_offered(data.responses) or effort.clock.skips("curves"):
        return straight
    curves = _curved(straight, effort)
    if curves is not None and options.curves == "always":
        return curves
    ahead = (
        -np.inf
        if curves is None
        else curves.score - straight.score - price_of_class(data, True, False)
    )
    kinked = _kinked(straight, ahead, effort)
    if curves is None or ahead <= kinked.score - straight.score:
        return kinked if curves is None or kinked.instead else replace(kinked, doubt=curves.doubt)
    return curves


def _curved(straight: Explored, effort: Effort) -> Explored | None:
    """The best model with curves; None if a quick look finds none."""
    design = straight.design
    plain = straight.found.best
    data = design.data
    options = design.options
    if not design.curved.any():
        design = ScoreDesign(data, options, True)
    need = price_of_class(data, True, False)
    # categories hide curves from a quick look
    numbers = bool((data.kind[: data.responses] == NUMBER).all())
    sure = options.curves == "always"
    if not sure and numbers:
        curved, certain = looks_curved(design, plain, PROMISE * need)
        if not curved:
            return None
        sure = certain > need
    proposed = [*propose(design), *propose_interactions(design, plain, effort.clock)]
    if not (sure or proposed or design.curved.any()):
        return None  # nothing but categories
    richer = design.with_proposed(proposed) if proposed else design
    enough = need if options.curves == "auto" else 0.0
    found = search(richer, True, effort, [plain.orders[0]], plain.score + enough, sure)
    if options.curves == "always" or found.best.score > plain.score + need:
        # bends in place of contexts where these are better by more than a parameter
        more = [
            each
            for each in propose_bends(found.best)[0]
            if each.kind != SQUARE and each not in proposed
        ]
        if more:
            needed = found.best.score + richer.price(data.total)
            bent = richer.with_proposed([*proposed, *more])
            other = search(bent, True, effort, [found.best.orders[0]], needed)
            richer, found = (bent, other) if other.best.score > needed else (richer, found)
    return Explored(richer, found, True, found.best.score - plain.score, straight=straight)


def _kinked(straight: Explored, ahead: float, effort: Effort) -> Explored:
    """Straight lines with bends in place of contexts, where these are better; each costs about what
    it replaces.

    Where they are hardly better, contexts stay: they are given because mechanisms may change with
    them. Bends that are of use elsewhere are no reason: whether curves pay is another question, so
    `doubt` is left open. The climb from the orders without bends says whether there is anything to
    look for. So does what curves are `ahead` of straight lines, prices paid: the joint gain is at
    most `FAR` times the sum of the single gains.
    """
    plain = straight.found.best
    design = straight.design
    bends, equal = propose_bends(plain)
    if not bends:
        return straight
    richer = ScoreDesign(design.data, design.options, False, bends)
    if ahead > FAR * curves_gain(richer, plain):
        return straight
    for needed, sure in ((np.inf, False), (plain.score, True)):
        found = search(richer, True, effort, [plain.orders[0]], needed, sure)
        freed = tuple(
            y for y in range(design.data.responses) if plain.reads(y) and not found.best.reads(y)
        )
        gain = found.best.score - plain.score
        if not freed or gain <= 0.0:
            break
    if not freed or gain <= AS_GOOD:
        return replace(straight, undecided=tuple(sorted({*freed, *equal})))
    return Explored(richer, found, True, np.nan, straight=straight, instead=True)


def in_ranks(data: ScoreData, transform: str = RANKS) -> ScoreData:
    """The same table with normal scores of the columns that a transform replaces."""
    table, columns, usable = data.table, list(data.table.columns), complete_rows(data.table)
    for position in _ranked_positions(data, transform):
        column = np.full(table.n_rows, np.nan)
        column[usable] = normal_scores(table.columns[position][usable])
        columns[position] = column
    scores = replace(table, columns=tuple(columns))
    return score_data(
        scores, gather_statistics(scores, "listwise"), data.links, data.is_window, data.treated
    )


def _ranked_positions(data: ScoreData, transform: str) -> list[int]:
    """The columns that normal scores replace: the continuous ones that no treatment has replaced,
    or those of them that are amounts.

    A logarithm makes the mechanisms of an amount lines, and the others need not be warped for it.
    """
    table = data.table
    continuous = [
        position
        for position in table.system
        if table.kinds[position] is Kind.CONTINUOUS and position not in data.treated
    ]
    if transform == RANKS:
        return continuous
    usable = complete_rows(table)
    return [
        position
        for position in continuous
        if is_amount(np.asarray(table.columns[position], dtype=np.float64)[usable])
    ]


def _transformed(data: ScoreData, transform: str) -> list[int]:
    """The variables that normal scores replace."""
    positions = _ranked_positions(data, transform)
    return [j for j in range(data.responses) if int(data.position[j]) in positions]


def charge_for_ranks(data: ScoreData, options: ScoreOptions, transform: str = RANKS) -> float:
    """What must be added to the score of normal scores to compare it: slopes of the transform, less
    the price.
    """
    columns = [data.values[j] for j in _transformed(data, transform)]
    slopes = sum(log_slope(column) for column in columns) * data.weight
    return slopes - len(columns) * MARGINAL_PARAMETERS * 0.5 * options.penalty * float(
        np.log(data.total)
    )


def scores_at_orders(
    data: ScoreData, options: ScoreOptions, model: FittedModel, curves: bool
) -> Floats:
    """The scores of all nodes with the orders and the blocks of a model of other values of the same
    columns.
    """
    design = ScoreDesign(
        data.with_ordered_contexts(model.design.data.ordered_contexts), options, curves
    )
    return _at_orders(design.with_scales() if model.design.scales else design, model, curves)


def _at_orders(design: ScoreDesign, model: FittedModel, curves: bool) -> Floats:
    """The same in a design of these columns."""
    data = design.data
    number = np.argsort(data.position)[np.argsort(np.argsort(model.design.data.position))]
    place = np.argsort(number[model.orders], axis=1)
    tasks = []
    candidates = []
    for node, part in model.regressions():
        own = int(number[node])
        tasks.append((design.block(*model.design.key(part.block)), own))
        candidates.append(before(place, own, part.mask, data.candidates) & design.allowed[own])
    scores, _, _ = FitWorkspace(design, curves).fit(tasks, candidates)
    return np.asarray(np.bincount([own for _, own in tasks], scores, data.nodes), dtype=np.float64)


def normal_scores(column: NDArray[np.generic]) -> Floats:
    """Normal quantiles of the ranks; equal values share one."""
    return np.asarray(scipy.special.ndtri(mean_ranks(column) / (len(column) + 1.0)))


def log_slope(column: Floats) -> float:
    """The sum over rows of the log slope of the transform, from standardised values to standardised
    normal scores.

    A model of the scores with log-likelihood L is a model of the column with log-likelihood L plus
    this.
    """
    z = normal_scores(column)
    standard = (column - column.mean()) / column.std()
    return float(
        np.sum(log_density(standard) + 0.5 * z**2 + 0.5 * np.log(2.0 * np.pi))
        - len(z) * np.log(z.std())
    )
