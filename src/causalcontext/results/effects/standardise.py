"""Mean differences where a mechanism is no straight line: categories and counts, by standardisation over rows.

The mean of y given x and the causes of x is fitted on the rows of the context: a line for numbers, a logit for two
categories, a Poisson regression for counts. Then every row is asked twice, with the value of x moved and without, and
the differences are averaged. For the effect of the context itself it is the mean given the causes of the context,
fitted in either context and averaged over all rows. This needs the rows; and an x that leads to a context which leads
to y has no such answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.data.kinds import Kind
from causalcontext.graphs.dags import Family
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.limits import COLLINEAR_BELOW, SPARE_ROWS
from causalcontext.kernels.rows.glm import first_slopes, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT, POISSON
from causalcontext.results.effects.composition import causes_first
from causalcontext.results.effects.estimates import Estimate, Parameters
from causalcontext.results.effects.fits import CompleteRows
from causalcontext.results.effects.levels import Contrast
from causalcontext.results.effects.mechanics import Mechanics, NoAnswer, Refused

CONVERGED, SMALL_STEP = 1e-12, 1e-3
"""Where a fit ends; a coefficient that would still move by more than this share of it has not converged."""
LARGEST_EXPONENT = 30.0


class MeanModel(NamedTuple):
    """The mean of y as a function of a design, and the covariance of its coefficients."""

    kind: Kind
    slopes: Floats
    covariance: Floats
    df: int

    def mean(self, design: Floats) -> Floats:
        """The mean for every row."""
        return _mean(self.kind, design @ self.slopes)


def standardised_effect(mechanics: Mechanics, family: Family, g: int, x: int, y: int, levels: Contrast) -> Estimate:
    """The mean difference of y, or of the probability of its level, that a unit of x or another level makes."""
    rows = _checked(mechanics)
    cells = _rows_for(mechanics, family, g, x, y)
    causes = mechanics.parents(family, g, x)
    if y in causes or x not in causes_first(mechanics, family, g, y, {x: 0.0}):
        return Estimate(0.0)
    held = [mechanics.name(c) for c in family.parents(g, x) if c in mechanics.contexts]
    if y in mechanics.contexts and held:
        raise Refused(f"not yet: effects on {mechanics.name(y)} of {mechanics.name(x)}, which {held[0]} causes")
    if -1 in causes:
        raise Refused(f"not yet: effects along categories and counts of {mechanics.name(x)}, of which a covariate is a "
                      "cause")  # fmt: skip
    rows = mechanics.rows_back_to(max(map(mechanics.lag, (x, *causes)))) or rows
    key = (y, x, *causes, "on", *cells, levels)
    if key not in mechanics.standardised:
        mechanics.standardised[key] = _mean_difference(mechanics, rows, (x, *causes), y, cells, levels)
    return mechanics.standardised[key]


def standardised_context_effect(mechanics: Mechanics, family: Family, g: int, h: int, y: int, levels: Contrast
                                ) -> Estimate:  # fmt: skip
    """The mean of y if every case is put in one context, minus that if it is put in another."""
    rows = _checked(mechanics)
    if len(mechanics.contexts) > 1:
        raise Refused("not yet: effects of one of several contexts on categories and counts")
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
            model = _model(mechanics, y, values[:, 0], design(mechanics, causes, values[:, 1:], everyone), levels)
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
    seen = values[:, 1:]
    by_level = levels.after >= 0
    model = _model(mechanics, y, values[:, 0], design(mechanics, variables, seen, seen, by_level), levels)
    moved, still = seen.copy(), seen.copy()
    if by_level:
        moved[:, 0], still[:, 0] = levels.after, levels.before
        if not {levels.after, levels.before} <= {*np.unique(seen[:, 0]).astype(int).tolist()}:
            raise NoAnswer(f"no row there has one of the two levels of {mechanics.name(variables[0])}")
    else:
        moved[:, 0] += 1.0
    first, second = (design(mechanics, variables, some, seen, by_level) for some in (moved, still))
    return _averaged([(model, first, 1.0), (model, second, -1.0)])


def _model(mechanics: Mechanics, y: int, values: Floats, columns: Floats, levels: Contrast) -> MeanModel:
    """The mean of a number, or the probability of the level that counts (ordered: of it or a higher one)."""
    kind = mechanics.kind(y)
    if levels.of < 0:
        return mean_model(kind, values, columns)
    counted = values >= levels.of if kind is Kind.ORDERED else values == levels.of
    if counted.all() or not counted.any():
        level = mechanics.levels(y)[levels.of]
        raise NoAnswer(f"{'every' if counted.any() else 'no'} row there has {mechanics.name(y)} = {level}")
    return mean_model(Kind.CATEGORICAL, counted.astype(np.float64), columns)


def mean_model(kind: Kind, y: Floats, columns: Floats) -> MeanModel:
    """The mean of y given some columns by maximum likelihood, with the covariance of the sandwich."""
    if len(y) - columns.shape[1] < SPARE_ROWS:
        raise NoAnswer(f"too few rows: {len(y)} for {columns.shape[1]} coefficients")
    slopes = _largest_likelihood(kind, y, columns)
    fitted = columns @ slopes
    information = (columns * _derivative(kind, fitted)[:, None]).T @ columns
    if not np.linalg.eigvalsh(information / len(y))[0] > COLLINEAR_BELOW:
        raise NoAnswer("a column is constant or a linear function of the others there, or tells the categories "
                       "apart without exception")  # fmt: skip
    score, inverse = columns * (y - _mean(kind, fitted))[:, None], np.linalg.inv(information)
    if float(np.abs(inverse @ score.sum(axis=0)).max()) > SMALL_STEP * (1.0 + float(np.abs(slopes).max())):
        raise NoAnswer("the regression does not converge")
    df = len(y) - columns.shape[1]
    return MeanModel(kind, slopes, inverse @ score.T @ score @ inverse * (len(y) / df), df)


def _largest_likelihood(kind: Kind, y: Floats, columns: Floats) -> Floats:
    """The coefficients of a line, of a logit of the second of two categories, or of a Poisson regression."""
    if kind is Kind.CONTINUOUS:
        return np.asarray(np.linalg.lstsq(columns, y, rcond=None)[0])
    family, response = (LOGIT, y == 0.0) if kind is Kind.CATEGORICAL else (POISSON, y)
    numbers, design = response.astype(np.int64), np.ascontiguousarray(columns.T)
    slopes = first_slopes(family, numbers, 2, len(design))
    fit_glm(family, design, numbers, 2, slopes, 0.0, CONVERGED)
    return slopes


def design(mechanics: Mechanics, variables: Sequence[int], values: Floats, like: Floats, by_level: bool = False
           ) -> Floats:  # fmt: skip
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
    """The average over rows of signed means, with its error: that of the models, and that of the rows."""
    each = np.sum([sign * model.mean(columns) for model, columns, sign in parts], axis=0)
    by_model: dict[int, tuple[MeanModel, Floats]] = {}
    for model, columns, sign in parts:
        moved = sign * (columns * _derivative(model.kind, columns @ model.slopes)[:, None]).mean(axis=0)
        known = by_model.get(id(model.slopes))
        by_model[id(model.slopes)] = (model, moved if known is None else known[1] + moved)
    gradient: dict[Parameters, Floats] = {
        Parameters(model.covariance, model.df): moved for model, moved in by_model.values()
    }
    rows = Parameters(np.array([[float(each.var(ddof=1)) / len(each)]]), len(each) - 1)
    return Estimate(float(each.mean()), gradient | {rows: np.ones(1)})


def _checked(mechanics: Mechanics) -> CompleteRows:
    """The rows, if the result has them."""
    if mechanics.rows is None:
        raise Refused("not yet: effects along categories and counts need the rows, which this result does not have")
    return mechanics.rows


def _rows_for(mechanics: Mechanics, family: Family, g: int, x: int, y: int) -> tuple[int, ...]:
    """The rows of the context, unless x leads to it; then all rows, if the context does not lead to y."""
    later = (c for c in sorted(mechanics.contexts) if mechanics.lag(c) <= mechanics.lag(x))
    above = [c for c in later if x in causes_first(mechanics, family, g, c, {x: 0.0})]
    if y in mechanics.contexts:
        return mechanics.everyone
    way = [family.ancestors(g, v) for v in (mechanics.now(x), *mechanics.between(g, x, y))]
    if not above:
        return mechanics.rows_of(g) if any(mechanics.contexts & found for found in way) else mechanics.everyone
    if any(mechanics.contexts & found for found in way[1:]):
        raise Refused(f"not yet: {mechanics.name(x)} may cause {mechanics.name(above[0])}, which may cause "
                       f"{mechanics.name(y)}, and not all mechanisms between them are linear")  # fmt: skip
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
