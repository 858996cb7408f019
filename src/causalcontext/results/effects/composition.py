"""From mechanisms to effects: along the graph of one context, with the derivatives that errors
need.

In the graph of a context the context is held at its value, so no path leads through it. With slopes
b and the effects t of x on everything, t(v) = Σ b(cause, v) t(cause) from causes to effects; with
s(v), the effect of v on y, the total effect moves with the slope of cause -> v by t(cause) s(v).

Where a mechanism is no straight line, of categories and counts, mean differences are standardised
over rows. The mean of y given x and the causes of x is fitted on the rows of the context: a line
for numbers, a logit for two categories, a Poisson regression for counts. Then every row is asked
twice, with the value of x moved and without, and the differences are averaged. For the effect of
the context itself it is the mean given the causes of the context, fitted in either context and
averaged over all rows. An x that leads to a context which leads to y has no such answer.

What is compared is a `Contrast`: a category has no unit, so a cause goes from one level to another.
An effect on a category is the difference of the probability of one of its levels; on an ordered
column, of that level or a higher one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy

from causalcontext.data.columns import Kind
from causalcontext.errors import OptionError, did_you_mean, shortly
from causalcontext.graphs.dags import Family
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.kernels.rows.glm import first_slopes, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT, POISSON
from causalcontext.results.effects.estimates import Estimate, Parameters, total
from causalcontext.results.effects.fits import CompleteRows, MechanismFit
from causalcontext.results.effects.mechanics import Means, Mechanics, NoAnswer, Refused

MOST_LEVELS = 20
"""A cause or an effect with more levels than this is asked about one level at a time."""


class Contrast(NamedTuple):
    """The levels of the cause before and after, and the level of the effect that counts, as codes;
    -1 for numbers.
    """

    before: int = -1
    after: int = -1
    of: int = -1

    def signed(self, estimate: Estimate) -> Estimate:
        """The coefficient of a cause with two levels, in the direction that is asked for."""
        return estimate.scaled(-1.0) if self.after < self.before else estimate


def contrasts(
    mechanics: Mechanics, x: int, y: int, reference: Any = None, of_level: Any = None
) -> list[Contrast]:
    """What is compared for one pair: every level of x with its reference, for every level of y."""
    causes = mechanics.levels(x)
    own = mechanics.levels(y)
    if x in mechanics.contexts or not causes:
        _check_unused(mechanics, x, "reference", reference)
        moves = [(-1, -1)]
    else:
        first = 0 if reference is None else _code(mechanics, x, "reference", reference)
        moves = [(first, code) for code in range(len(causes)) if code != first]
    if not own:
        _check_unused(mechanics, y, "of_level", of_level)
        counted = [-1]
    elif of_level is not None:
        counted = [_code(mechanics, y, "of_level", of_level)]
    else:
        counted = list(
            range(1 if len(own) == 2 or mechanics.kind(y) is Kind.ORDERED else 0, len(own))
        )
    if mechanics.kind(y) is Kind.ORDERED and counted == [0]:
        raise OptionError(
            f"of_level is {of_level!r}, the lowest level of {mechanics.name(y)}: all cases have it"
            " or a higher one; name a higher level"
        )
    for name, option, found in (
        (mechanics.name(x), "reference", moves),
        (mechanics.name(y), "of_level", counted),
    ):
        if len(found) > MOST_LEVELS:
            raise OptionError(
                f"{name} has more than {MOST_LEVELS} levels, too many to compare them all"
                + (f"; name one by {option}=..." if option == "of_level" else "")
            )
    return [Contrast(*move, of) for move in moves for of in counted]


def named_levels(mechanics: Mechanics, x: int, y: int, contrast: Contrast) -> tuple[Any, Any, Any]:
    """The level of x, the one that it is compared with, and that of y, by name; None for
    numbers.
    """
    causes = mechanics.levels(x)
    own = mechanics.levels(y)
    before, after = (
        causes[code] if code >= 0 else None for code in (contrast.before, contrast.after)
    )
    return after, before, own[contrast.of] if contrast.of >= 0 else None


def level_words(mechanics: Mechanics, x: int, y: int, contrast: Contrast) -> str:
    """The levels in words; empty for numbers."""
    (after, before, of), found = named_levels(mechanics, x, y, contrast), []
    if contrast.of >= 0:
        higher = mechanics.kind(y) is Kind.ORDERED and contrast.of < len(mechanics.levels(y)) - 1
        found.append(
            f"the probability of {mechanics.name(y)} = {of}" + (" or higher" if higher else "")
        )
    if contrast.after >= 0:
        found.append(f"{mechanics.name(x)} = {after} instead of {before}")
    return "; ".join(found)


def _code(mechanics: Mechanics, variable: int, option: str, level: Any) -> int:
    """The code of a level that is named, by its value or by the text of it."""
    levels = mechanics.levels(variable)
    found = [code for code, own in enumerate(levels) if own == level or str(own) == level]
    if len(found) != 1:
        known = did_you_mean(str(level), [str(one) for one in levels])
        raise OptionError(
            f"{option} is {shortly(level)}, which is no level of {mechanics.name(variable)}{known}"
        )
    return found[0]


def _check_unused(mechanics: Mechanics, variable: int, option: str, level: Any) -> None:
    if level is not None:
        what = (
            "a context, whose values are compared in pairs"
            if variable in mechanics.contexts
            else "a number"
        )
        raise OptionError(f"{option} is {shortly(level)}, but {mechanics.name(variable)} is {what}")


MOST_PATHS = 1000
Use = tuple[MechanismFit, tuple[int, ...]]
"""A mechanism, and its causes at the time for which it is used."""


def total_effect(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> Estimate:
    """How much y changes with x in a context: the sum over all directed paths."""
    reached: dict[int, float] = {x: 1.0}
    uses: dict[int, Use] = {}
    for v in _on_the_way(mechanics, family, g, x, y):
        if v != x and any(cause in reached for cause in mechanics.parents(family, g, v)):
            fit = mechanics.fit(family, g, v)
            uses[v] = fit, mechanics.earlier(fit.causes, v)
            reached[v] = sum(
                b * reached.get(cause, 0.0)
                for cause, b in zip(uses[v][1], fit.slopes.tolist(), strict=True)
            )
    if y not in reached:
        return Estimate(0.0)
    onward = _onward(uses, y)
    parts = [Estimate(reached[y])]
    for v, (fit, causes) in uses.items():
        moving = fit.moving([onward[v] * reached.get(cause, 0.0) for cause in causes])
        parts.append(Estimate(0.0, {fit.block: moving}))
    return total(parts)


def _on_the_way(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> list[int]:
    """What lies between x and y in a context, causes before effects; perhaps with other causes of
    y.
    """
    if mechanics.window.lags or mechanics.cyclic[g].any():
        return causes_first(mechanics, family, g, y, {x: 0.0})
    if (family, g) not in mechanics.orders:
        links = {v: mechanics.parents(family, g, v) for v in range(len(mechanics.endpoints[g]))}
        mechanics.orders[family, g] = {
            v: place for place, v in enumerate(TopologicalSorter(links).static_order())
        }
    between = mechanics.between(g, x, y)
    found = {y}
    stack = [y]
    while stack:
        more = [
            cause
            for cause in mechanics.parents(family, g, stack.pop())
            if cause in between and cause not in found
        ]
        found.update(more)
        stack += more
    return sorted(found, key=mechanics.orders[family, g].__getitem__)


def paths_between(
    mechanics: Mechanics, family: Family, g: int, x: int, y: int
) -> Iterator[tuple[int, ...]]:
    """The directed paths from x to y in a context."""
    below: dict[int, list[int]] = {}
    for v in causes_first(mechanics, family, g, y, {x: 0.0}):
        for cause in mechanics.parents(family, g, v):
            below.setdefault(cause, []).append(v)
    stack: list[tuple[int, ...]] = [(x,)]
    while stack:
        path = stack.pop()
        if path[-1] == y:
            yield path
        else:
            stack += [(*path, v) for v in reversed(below.get(path[-1], []))]


def path_effect(
    mechanics: Mechanics, g: int, path: tuple[int, ...], levels: Contrast, family: Family
) -> Estimate:
    """The product of the coefficients along a path, in the direction that is asked for; 0 where it
    is none.
    """
    steps = []
    parts = []
    for cause, v in pairwise(path):
        if cause not in mechanics.parents(family, g, v):
            return levels.signed(Estimate(0.0))
        fit = mechanics.fit(family, g, v)
        steps.append(fit.slope(fit.causes[mechanics.earlier(fit.causes, v).index(cause)]))
    values = np.array([step.value for step in steps])
    for place, step in enumerate(steps):
        parts.append(Estimate(0.0, step.scaled(float(np.prod(np.delete(values, place)))).gradient))
    return levels.signed(Estimate(float(values.prod()), total(parts).gradient))


def mean_under(
    mechanics: Mechanics,
    family: Family,
    g: int,
    y: int,
    fixed: Mapping[int, float],
    start: Means,
    shift_only: bool = False,
) -> Estimate:
    """The mean of y if some variables are set, and the context is set to that of a graph.

    `start` are the means of what is upstream of everything that is set. With `shift_only`, for
    cases that are in the context anyway, everything keeps its mean but for what `fixed` moves.
    """
    order = causes_first(mechanics, family, g, y, fixed)
    means = {v: float(start.values[mechanics.column(v)]) for v in order}
    values = dict(fixed)
    moved = set(fixed)
    uses = dict[int, Use]()
    for v in order:
        if v in fixed:
            continue
        keeps = shift_only or mechanics.lag(v) > 0  # a context is set now, and not in the past
        led = not keeps and mechanics.contexts & {*family.parents(g, v)}
        if not led and moved.isdisjoint(mechanics.parents(family, g, v)):
            values[v] = means[v]
            continue
        moved.add(v)
        fit = mechanics.fit(family, g, v)
        uses[v] = fit, mechanics.earlier(fit.causes, v)
        level = means[v] if keeps else fit.levels[fit.level_place(g)]
        values[v] = float(level + fit.slopes @ _away(uses[v], g, values, means if keeps else None))
    onward = _onward(uses, y)
    at_start = np.zeros(len(start.values))
    parts = [Estimate(values[y])]
    for v in order:
        share = onward.get(v, 0.0)
        keeps = shift_only or mechanics.lag(v) > 0
        if v in uses:
            fit, causes = uses[v]
            slopes = share * _away(uses[v], g, values, means if keeps else None)
            level = 0.0 if keeps else share
            parts.append(Estimate(0.0, {fit.block: fit.moving(slopes, fit.level_place(g), level)}))
            for cause, slope in zip(causes, fit.slopes.tolist(), strict=True):
                if keeps and cause in means:
                    at_start[mechanics.column(cause)] -= share * slope
        if v not in fixed and (keeps or v not in uses):
            at_start[mechanics.column(v)] += share
    return total([*parts, Estimate(0.0, {start: at_start})])


def standardised_mean(mechanics: Mechanics, y: int, given: tuple[int, ...], g: int) -> Estimate:
    """The mean of y in a context, with some variables as they are over all rows."""
    everyone = mechanics.means(mechanics.everyone)
    fit = mechanics.regression(y, given, (mechanics.rows_of(g),))
    away = everyone.values[list(given)] - fit.centres[0]
    moving = np.zeros(len(everyone.values))
    moving[list(given)] = fit.slopes
    return Estimate(
        float(fit.levels[0] + fit.slopes @ away),
        {fit: np.concatenate([[1.0], away]), everyone: moving},
    )


def causes_first(
    mechanics: Mechanics, family: Family, g: int, y: int, fixed: Mapping[int, float]
) -> list[int]:
    """y and all that leads to it in a context, causes before effects; no causes of what is fixed,
    or is earlier.
    """
    order: list[int] = []
    earliest = max(mechanics.lag(v) for v in (y, *fixed))
    # False while its causes are being visited, True when they are in order
    state: dict[int, bool] = {}
    stack = [y]
    while stack:
        v = stack[-1]
        if state.get(v):
            stack.pop()
            continue
        causes = (
            () if mechanics.lag(v) > earliest or v in fixed else mechanics.parents(family, g, v)
        )
        waiting = [cause for cause in causes if cause >= 0 and not state.get(cause)]
        if any(cause in state for cause in waiting):
            raise NoAnswer(f"directed edges form a cycle through {mechanics.name(v)}")
        state[v] = not waiting
        if waiting:
            stack.append(waiting[0])
        else:
            order.append(v)
            stack.pop()
    return order


def _onward(uses: dict[int, Use], y: int) -> dict[int, float]:
    """The effect of everything on y; `uses` has causes before effects."""
    onward = {y: 1.0}
    for v, (fit, causes) in reversed(uses.items()):
        for cause, b in zip(causes, fit.slopes.tolist(), strict=True):
            onward[cause] = onward.get(cause, 0.0) + b * onward.get(v, 0.0)
    return onward


def _away(
    use: Use, g: int, values: Mapping[int, float], means: Mapping[int, float] | None
) -> Floats:
    """How far the causes of a mechanism are from where it has its level: from their means, or from
    those of its fit.
    """
    fit, causes = use
    if means is not None:
        return np.array([values[c] - means[c] if c in means else 0.0 for c in causes])
    return np.asarray([values[c] for c in causes] - fit.centres[fit.level_place(g)])


CONVERGED = 1e-12
SMALL_STEP = 1e-3
"""Where a fit ends; a coefficient that would still move by more than this share of it has not
converged.
"""
LARGEST_EXPONENT = 30.0


class MeanModel(NamedTuple):
    """The mean of y as a function of a design, and the covariance of its coefficients."""

    kind: Kind
    slopes: Floats
    covariance: Floats
    df: int


def standardised_effect(
    mechanics: Mechanics, family: Family, g: int, x: int, y: int, levels: Contrast
) -> Estimate:
    """The mean difference of y, or of the probability of its level, that a unit of x or another
    level makes.
    """
    rows = _checked(mechanics)
    cells = _rows_for(mechanics, family, g, x, y)
    causes = mechanics.parents(family, g, x)
    if y in causes or x not in causes_first(mechanics, family, g, y, {x: 0.0}):
        return Estimate(0.0)
    held = [
        mechanics.name(c) for c in family.parents(g, mechanics.now(x)) if c in mechanics.contexts
    ]
    if y in mechanics.contexts and held:
        raise Refused(
            f"not yet: effects on {mechanics.name(y)} of {mechanics.name(x)}, which {held[0]}"
            " causes"
        )
    if -1 in causes:
        raise Refused(
            f"not yet: effects along categories and counts of {mechanics.name(x)}, of which a"
            " covariate is a cause"
        )
    rows = mechanics.rows_back_to(max(map(mechanics.lag, (x, *causes)))) or rows
    key = (y, x, *causes, "on", *cells, levels)
    if key not in mechanics.standardised:
        mechanics.standardised[key] = _mean_difference(
            mechanics, rows, (x, *causes), y, cells, levels
        )
    return mechanics.standardised[key]


def standardised_context_effect(
    mechanics: Mechanics, family: Family, g: int, h: int, y: int, levels: Contrast
) -> Estimate:
    """The mean of y if every case is put in one context, minus that if it is put in another."""
    rows = _checked(mechanics)
    if len(mechanics.contexts) > 1:
        which = (
            "one of several contexts" if mechanics.result.series is None else "a context over time"
        )
        raise Refused(f"not yet: effects of {which} on categories and counts")
    (context,) = mechanics.contexts
    causes = family.parents(g, context)
    if y in causes or context not in family.ancestors(g, y) | family.ancestors(h, y):
        return Estimate(0.0)
    key = (y, *causes, "between", g, h, levels)
    if key not in mechanics.standardised:
        everyone = rows.values([y, *causes], (mechanics.everyone,))[0][:, 1:]
        parts = []
        for cell, sign in zip((g, h), (1.0, -1.0), strict=True):
            values, _ = rows.values([y, *causes], ((cell,),))
            model = _model(
                mechanics,
                y,
                values[:, 0],
                design(mechanics, causes, values[:, 1:], everyone),
                levels,
            )
            parts.append((model, design(mechanics, causes, everyone, everyone), sign))
        mechanics.standardised[key] = _averaged(parts)
    return mechanics.standardised[key]


def _mean_difference(
    mechanics: Mechanics,
    rows: CompleteRows,
    variables: tuple[int, ...],
    y: int,
    cells: tuple[int, ...],
    levels: Contrast,
) -> Estimate:
    """Every row is asked twice, with the first of the variables moved and without."""
    values, _ = rows.values([y, *variables], (cells,))
    if not len(values):
        raise NoAnswer(
            f"no complete row there has {mechanics.name(y)} and {mechanics.name(variables[0])}"
        )
    seen = values[:, 1:]
    by_level = levels.after >= 0
    model = _model(
        mechanics, y, values[:, 0], design(mechanics, variables, seen, seen, by_level), levels
    )
    moved = seen.copy()
    still = seen.copy()
    if by_level:
        moved[:, 0] = levels.after
        still[:, 0] = levels.before
        if not {levels.after, levels.before} <= {*np.unique(seen[:, 0]).astype(int).tolist()}:
            raise NoAnswer(
                f"no row there has one of the two levels of {mechanics.name(variables[0])}"
            )
    else:
        moved[:, 0] += 1.0
    first, second = (design(mechanics, variables, some, seen, by_level) for some in (moved, still))
    return _averaged([(model, first, 1.0), (model, second, -1.0)])


def _model(
    mechanics: Mechanics, y: int, values: Floats, columns: Floats, levels: Contrast
) -> MeanModel:
    """The mean of a number, or the probability of the level that counts (ordered: of it or a higher
    one).
    """
    kind = mechanics.kind(y)
    if levels.of < 0:
        return mean_model(kind, values, columns)
    counted = values >= levels.of if kind is Kind.ORDERED else values == levels.of
    if counted.all() or not counted.any():
        level = mechanics.levels(y)[levels.of]
        raise NoAnswer(
            f"{'every' if counted.any() else 'no'} row there has {mechanics.name(y)} = {level}"
        )
    return mean_model(Kind.CATEGORICAL, counted.astype(np.float64), columns)


def mean_model(kind: Kind, y: Floats, columns: Floats) -> MeanModel:
    """The mean of y given some columns by maximum likelihood, with the covariance of the
    sandwich.
    """
    if len(y) - columns.shape[1] < SPARE_ROWS:
        raise NoAnswer(f"too few rows: {len(y)} for {columns.shape[1]} coefficients")
    if kind is Kind.CONTINUOUS:
        slopes = np.asarray(np.linalg.lstsq(columns, y, rcond=None)[0])
    else:  # a logit of the second of two categories, or a Poisson regression
        family, response = (LOGIT, y == 0.0) if kind is Kind.CATEGORICAL else (POISSON, y)
        numbers = response.astype(np.int64)
        lines = np.ascontiguousarray(columns.T)
        slopes = first_slopes(family, numbers, 2, len(lines))
        fit_glm(family, lines, numbers, 2, slopes, 0.0, CONVERGED)
    fitted = columns @ slopes
    information = (columns * _derivative(kind, fitted)[:, None]).T @ columns
    if not np.linalg.eigvalsh(information / len(y))[0] > COLLINEAR_BELOW:
        raise NoAnswer(
            "a column is constant or a linear function of the others there, or tells the categories"
            " apart without exception"
        )
    score = columns * (y - _mean(kind, fitted))[:, None]
    inverse = np.linalg.inv(information)
    if float(np.abs(inverse @ score.sum(axis=0)).max()) > SMALL_STEP * (
        1.0 + float(np.abs(slopes).max())
    ):
        raise NoAnswer("the regression does not converge")
    df = len(y) - columns.shape[1]
    return MeanModel(kind, slopes, inverse @ score.T @ score @ inverse * (len(y) / df), df)


def design(
    mechanics: Mechanics,
    variables: Sequence[int],
    values: Floats,
    like: Floats,
    by_level: bool = False,
) -> Floats:
    """An intercept, numbers in units of their spread in `like`, and all categories but the first.

    The first of the variables is taken level by level, too, if `by_level`.
    """
    columns = [np.ones(len(values))]
    for place, variable in enumerate(variables):
        if mechanics.kind(variable) is Kind.CATEGORICAL or (by_level and place == 0):
            levels = np.unique(like[:, place])
            columns += [(values[:, place] == level).astype(float) for level in levels[1:]]
        else:
            spread = float(like[:, place].std()) or 1.0
            columns.append((values[:, place] - like[:, place].mean()) / spread)
    return np.column_stack(columns)


def _averaged(parts: Sequence[tuple[MeanModel, Floats, float]]) -> Estimate:
    """The average over rows of signed means, with its error: that of the models, and that of the
    rows.
    """
    each = np.sum(
        [sign * _mean(model.kind, columns @ model.slopes) for model, columns, sign in parts], axis=0
    )
    by_model: dict[int, tuple[MeanModel, Floats]] = {}
    for model, columns, sign in parts:
        moved = sign * (columns * _derivative(model.kind, columns @ model.slopes)[:, None]).mean(
            axis=0
        )
        known = by_model.get(id(model.slopes))
        by_model[id(model.slopes)] = (model, moved if known is None else known[1] + moved)
    rows = Parameters(np.array([[float(each.var(ddof=1)) / len(each)]]), len(each) - 1)
    gradient = {Parameters(model.covariance, model.df): moved for model, moved in by_model.values()}
    return Estimate(float(each.mean()), gradient | {rows: np.ones(1)})


def _checked(mechanics: Mechanics) -> CompleteRows:
    if mechanics.rows is None:
        raise Refused(
            "effects along categories and counts need the rows, which this result does not have: "
            "save(path, rows=True) keeps them in the file"
        )
    return mechanics.rows


def _rows_for(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> tuple[int, ...]:
    """The rows of the context, unless x leads to it; then all rows, if the context does not lead to
    y.
    """
    later = (c for c in sorted(mechanics.contexts) if mechanics.lag(c) <= mechanics.lag(x))
    above = [c for c in later if x in causes_first(mechanics, family, g, c, {x: 0.0})]
    if y in mechanics.contexts:
        return mechanics.everyone
    way = [family.ancestors(g, v) for v in (mechanics.now(x), *mechanics.between(g, x, y))]
    if not above:
        return (
            mechanics.rows_of(g)
            if any(mechanics.contexts & found for found in way)
            else mechanics.everyone
        )
    if any(mechanics.contexts & found for found in way[1:]):
        raise Refused(
            f"not yet: {mechanics.name(x)} may cause {mechanics.name(above[0])}, which may cause "
            f"{mechanics.name(y)}, and not all mechanisms between them are linear"
        )
    return mechanics.everyone


def _mean(kind: Kind, fitted: Floats) -> Floats:
    if kind is Kind.CATEGORICAL:
        return np.asarray(scipy.special.expit(fitted))
    return np.exp(np.minimum(fitted, LARGEST_EXPONENT)) if kind is Kind.COUNT else fitted


def _derivative(kind: Kind, fitted: Floats) -> Floats:
    if kind is Kind.CONTINUOUS:
        return np.ones(len(fitted))
    mean = _mean(kind, fitted)
    return mean * (1.0 - mean) if kind is Kind.CATEGORICAL else mean
