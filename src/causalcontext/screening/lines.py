"""Sums, differences, percentages, predictions, and, among logarithms, products, ratios and powers.

A column of a table in the order of trust is regressed on those before it that no other determines.
What is left over is nothing but rounding errors of the computer (exact), what rounding to a grid
leaves (rounded), or less than a trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import scipy

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.screening.relations import Columns, Relation, is_short, number_words, some_rows
from causalcontext.screening.settings import (
    EXACT_CONSTANT,
    EXACT_RESIDUAL,
    FAR_FROM_ROUNDING,
    FEWEST_ROWS_OF_A_RELATION,
    LARGEST_MISFIT_OF_ROUNDING,
    LARGEST_SQUARES_OF_ROUNDING,
    LARGEST_TRACE,
    LEAST_NATS_OF_ROUNDING,
    LEAST_SQUARES_OF_ROUNDING,
    MORE_LEFT_BY_CHANCE,
    MORE_LEFT_BY_FEWER_TERMS,
    MOST_LEVELS_WITH_DUMMIES,
    MOST_PARTS_WITH_A_TRACE,
    MOST_TERMS_WRITTEN,
    ON_GRID_WITHIN,
    PLAIN_NUMBER_WITHIN,
    ROWS_OF_A_SEARCH,
    SLACK_OF_HALF_A_STEP,
    SMALL_CONSTANT,
    SPARE_ROWS_OF_A_REGRESSION,
    STANDARD_ERRORS_BEYOND_HALF_A_STEP,
    WEIGHTS_ALIKE_WITHIN,
)


class Fit(IntEnum):
    """The closeness of a function: none, a trace of noise, rounding of a grid, of the computer."""

    NO = 0
    TRACE = 1
    ROUNDED = 2
    EXACT = 3


ENDING = {Fit.TRACE: " (with a trace of noise)", Fit.ROUNDED: " (rounded)", Fit.EXACT: ""}


@dataclass(frozen=True)
class _Term:
    """A regressor: a number, or the dummy of a level."""

    column: int
    level: float = np.nan

    def of(self, values: Floats) -> Floats:
        """The values of the regressor, shape (rows,): a column of `values`, shape (columns, rows),
        or 1 where it has the level and 0 elsewhere; NaN where a cell is missing.
        """
        column: Floats = values[self.column]
        if np.isnan(self.level):
            return column
        return np.where(np.isnan(column), np.nan, column == self.level)


def linear_relations(
    columns: Columns, gone: frozenset[int], logs: bool, closely: bool
) -> list[Relation]:
    """The numbers that are linear functions of the columns before them, or, with `logs`, logarithms
    that are.

    `gone` are the columns that are no longer looked at, and `closely` asks for exact relations
    alone. Candidates come from some rows; all rows confirm them, with as few terms as it takes.
    """
    rows = some_rows(columns, ROWS_OF_A_SEARCH)
    usable = [j for j in range(len(columns.names)) if j not in gone]
    terms = [term for j in usable for term in _terms(columns, rows, j, logs, closely)]
    table = np.array([term.of(rows) for term in terms])
    if len(terms) < 2:
        return []
    relations = []
    for term_number, before in _dependent(table, terms, columns, logs, closely):
        relation = _confirmed(
            columns, terms[term_number], [terms[k] for k in before], logs, closely
        )
        if relation is not None:
            relations.append(relation)
    return relations


def _terms(columns: Columns, rows: Floats, j: int, logs: bool, closely: bool) -> list[_Term]:
    """The regressors of column j: itself, or a dummy for every level but one of a category.
    Logarithms take numbers of several values alone that are positive, or closely those without 0:
    an exact product has its size and its sign.
    """
    values = rows[j][np.isfinite(rows[j])]
    if not values.size:
        return []
    if columns.is_number[j]:
        usable = (
            (values != 0.0).all()
            and (closely or values.min() > 0.0)
            and np.unique(values[:200]).size > 2
            if logs
            else np.ptp(values) > 0.0
        )
        return [_Term(j)] if usable else []
    if logs:
        return []
    levels = np.unique(values)
    return (
        [_Term(j, level) for level in levels[1:].tolist()]
        if 1 < levels.size <= MOST_LEVELS_WITH_DUMMIES
        else []
    )


def _dependent(
    table: Floats, terms: Sequence[_Term], columns: Columns, logs: bool, closely: bool
) -> list[tuple[int, list[int]]]:
    """The terms that those before them may determine, by their number, each with these.

    `table` has shape (terms, rows). The terms are made orthogonal one after the other (Gram and
    Schmidt, twice, which keeps exact relations exact): what is left of a term after those before it
    is small if they determine it. Such a term takes no part in what follows.
    """
    usable = np.isfinite(table)
    share = usable.mean(axis=1)
    while (
        usable.all(axis=0).sum() < FEWEST_ROWS_OF_A_RELATION + SPARE_ROWS_OF_A_REGRESSION
        and share.min() < 1.0
    ):
        # Without the column that is missing most often there are more complete rows.
        usable[share.argmin()] = True
        share[share.argmin()] = 1.0
    whole = usable.all(axis=0)
    values = np.nan_to_num(table[:, whole])
    present: Bools = np.asarray(np.isfinite(table[:, whole]).all(axis=1))
    if logs:
        values = np.log(np.maximum(np.abs(values), 1e-300))
    n = values.shape[1]
    if n < FEWEST_ROWS_OF_A_RELATION:
        return []
    values = values - values.mean(axis=1, keepdims=True)
    size = np.sqrt((values**2).sum(axis=1))
    candidates = []
    basis = np.zeros((0, n))
    members = list[int]()
    if present.all() and size.min() > 0.0 and _leave_enough(values / size[:, None], closely):
        return []
    limit = LARGEST_MISFIT_OF_ROUNDING if not closely else (10 * EXACT_RESIDUAL) ** 2
    blocks = np.empty((min(len(terms), n), n))
    for number in range(len(terms)):
        if not present[number] or size[number] <= 1e-12 * np.abs(table[number][whole]).max(
            initial=1.0
        ) * np.sqrt(n):
            continue
        column = values[number] / size[number]
        basis = blocks[: len(members)]
        rest = column - basis.T @ (basis @ column)
        rest = rest - basis.T @ (basis @ rest)
        left = float(rest @ rest)
        spare = n - len(members) - 1
        is_number = np.isnan(terms[number].level)
        if spare < SPARE_ROWS_OF_A_REGRESSION:
            break
        left_by_row = left * n / spare
        if is_number and members and left_by_row < limit:
            candidates.append((number, list(members)))
        trace = (10 * EXACT_RESIDUAL) ** 2 if closely else LARGEST_TRACE**2
        if left_by_row >= trace:
            blocks[len(members)] = rest / np.sqrt(left)
            members.append(number)
    return candidates


def _leave_enough(values: Floats, closely: bool) -> bool:
    """True if it is clear that those before it determine no term; `values`, shape (terms, rows),
    have mean 0 and length 1.

    What is left of every term are the pivots of a Cholesky factor of the correlations, as good as
    orthogonal terms where they are far from rounding, and in a small part of the time where there
    are many.
    """
    rows = values.shape[1]
    values = values[: rows - SPARE_ROWS_OF_A_REGRESSION]  # more terms are not asked
    limit = (10 * EXACT_RESIDUAL) ** 2 if closely else LARGEST_MISFIT_OF_ROUNDING
    trace = (10 * EXACT_RESIDUAL) ** 2 if closely else LARGEST_TRACE**2
    try:
        factor = np.linalg.cholesky(values @ values.T)
    except np.linalg.LinAlgError:
        return False
    left = np.diagonal(factor) ** 2
    by_row = left * rows / (rows - np.arange(len(left)) - 1)
    return bool(left.min() > FAR_FROM_ROUNDING and by_row.min() > 2.0 * max(limit, trace))


def _confirmed(
    columns: Columns, value: _Term, before: Sequence[_Term], logs: bool, closely: bool
) -> Relation | None:
    """The relation with the fewest terms, on all rows that have them; None where it does not hold.

    Dropping terms may raise what is left by a share first, and where too few are left then, by what
    chance allows. A relation of contexts alone, and a logical rule, are none.
    """
    for more in (
        MORE_LEFT_BY_FEWER_TERMS,
        MORE_LEFT_BY_CHANCE / min(columns.values.shape[1], ROWS_OF_A_SEARCH),
    ):
        parts = _fewest(columns, value, before, logs, closely, 1.0 + more)
        if not parts or not any(not columns.is_context[term.column] for term in parts):
            return None
        fitted = _Fitted.of(columns, *_rounded_first(columns, value, parts), logs)
        if fitted is None or fitted.is_logical(columns):
            return None
        if fitted.fit >= (Fit.EXACT if closely else Fit.TRACE):
            return fitted.relation(columns)
    return None


def _rounded_first(columns: Columns, value: _Term, parts: list[_Term]) -> tuple[_Term, list[_Term]]:
    """The value of a relation and its parts; the only number that lies on a grid is the value.

    Least squares allow for errors of the value alone: as a regressor a rounded number moves the
    slopes, and residuals beyond half a step.
    """
    terms = [value, *parts]
    on_grid = [term for term in terms if np.isnan(term.level) and columns.steps[term.column] > 0.0]
    if len(on_grid) != 1 or on_grid[0] == value:
        return value, parts
    return on_grid[0], [term for term in terms if term is not on_grid[0]]


def _fewest(
    columns: Columns,
    value: _Term,
    before: Sequence[_Term],
    logs: bool,
    closely: bool,
    allowance: float,
) -> list[_Term]:
    """The terms that a relation needs: the others are left out, those first that contribute least.

    In standard units a slope below half of the residual that is allowed contributes nothing; all
    such terms are tried together, then the smallest alone. `allowance` is the factor by which the
    mean square of what is left may rise.
    """
    values = np.array([term.of(columns.values) for term in (value, *before)])
    rows = np.isfinite(values).all(axis=0)
    values = values[:, rows][:, :: max(1, int(rows.sum()) // ROWS_OF_A_SEARCH)]
    if values.shape[1] < len(before) + SPARE_ROWS_OF_A_REGRESSION:
        return []
    if logs:
        values = np.log(np.maximum(np.abs(values), 1e-300))
    values = values - values.mean(axis=1, keepdims=True)
    values = values / np.maximum(np.sqrt((values**2).mean(axis=1, keepdims=True)), 1e-300)
    chosen = list(range(len(before)))
    slopes, left = _regression(values[0], values[1:])
    allowed = max(
        allowance * left,
        (10 * EXACT_RESIDUAL) ** 2
        if closely
        else min(LARGEST_TRACE**2, 4.0 * left + EXACT_RESIDUAL**2),
    )
    while len(chosen) > 1:
        small = np.abs(slopes) < 0.5 * np.sqrt(allowed)
        drop = np.flatnonzero(small) if small.any() else np.array([np.abs(slopes).argmin()])
        drop = drop if drop.size < len(chosen) else drop[:-1]
        fewer = [k for number, k in enumerate(chosen) if number not in set(drop.tolist())]
        new, rest = _regression(values[0], values[1:][fewer])
        if rest > allowed:
            if drop.size == 1:
                break
            drop = np.array([np.abs(slopes).argmin()])
            fewer = [k for number, k in enumerate(chosen) if number not in set(drop.tolist())]
            new, rest = _regression(values[0], values[1:][fewer])
            if rest > allowed:
                break
        chosen = fewer
        slopes = new
    return [before[k] for k in chosen]


def _regression(value: Floats, of: Floats) -> tuple[Floats, float]:
    """The slopes of least squares without a constant, shape (terms,), and the mean square of what
    is left, over n - p - 1.
    """
    slopes = np.asarray(np.linalg.lstsq(of.T, value, rcond=None)[0], dtype=np.float64)
    return slopes, float(
        ((value - slopes @ of) ** 2).mean() * value.size / max(value.size - len(of) - 1, 1)
    )


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A regression of one column on a few, in all rows.

    Attributes
    ----------
    value : _Term
    parts : tuple of _Term
    intercept : float
    slopes : Floats, shape (parts,)
    fit : Fit
    logs : bool
        True if it is one of logarithms.
    values : Floats, shape (1 + parts, rows)
        The value and the parts, in rows that have all of them.
    """

    value: _Term
    parts: tuple[_Term, ...]
    intercept: float
    slopes: Floats
    fit: Fit
    logs: bool
    values: Floats

    @classmethod
    def of(
        cls, columns: Columns, value: _Term, parts: Sequence[_Term], logs: bool
    ) -> _Fitted | None:
        """The regression of the value on the parts; None with too few rows, or none positive for
        logarithms.

        Residuals are compared with the rounding of each column, its slope times its step, by
        `closeness`; among logarithms both are put in units of the value, by d value = value d log
        value. With a trace of noise more than two parts need weights that are alike.
        """
        raw = np.array([term.of(columns.values) for term in (value, *parts)])
        raw = raw[:, np.isfinite(raw).all(axis=0)]
        if raw.shape[1] < FEWEST_ROWS_OF_A_RELATION or (logs and (raw == 0.0).any()):
            return None
        table = np.log(np.abs(raw)) if logs else raw
        mean = table.mean(axis=1)
        centred = table - mean[:, None]
        scale = np.maximum(np.sqrt((centred**2).mean(axis=1)), 1e-300)
        standard, left = _regression(centred[0] / scale[0], centred[1:] / scale[1:, None])
        slopes = standard * scale[0] / scale[1:]
        intercept = float(mean[0] - slopes @ mean[1:])
        rest = centred[0] - slopes @ centred[1:]
        steps = columns.steps[[term.column for term in (value, *parts)]].copy()
        steps[[k for k, term in enumerate((value, *parts)) if not np.isnan(term.level)]] = 0.0
        unit = np.ones((len(raw), raw.shape[1]))
        if logs:  # in units of the value
            unit = raw[0] / raw
            rest = raw[0] * rest
        weight = np.abs(np.concatenate([[1.0], slopes]))[:, None] * unit * steps[:, None]
        errors = (
            np.sqrt(left * _leverage(centred[1:] / scale[1:, None]))
            * scale[0]
            * (raw[0] if logs else 1.0)
        )
        fit = closeness(
            rest,
            weight,
            float(np.sqrt(left)),
            slopes,
            logs,
            STANDARD_ERRORS_BEYOND_HALF_A_STEP * errors,
        )
        if fit < Fit.ROUNDED and not logs and steps[0] > 0.0 and not steps[1:].any():
            short = _short_slopes(raw, slopes, float(steps[0]))
            if short is not None:
                intercept, slopes = short
                fit = Fit.ROUNDED
        if logs and raw.min() < 0.0 and (fit < Fit.EXACT or not _has_signs(raw, slopes)):
            fit = Fit.NO
        weights = np.abs(np.concatenate([[1.0], slopes]))
        plain = logs or _but_one_alike(weights) or _but_one_alike(weights * scale)
        if fit == Fit.TRACE and len(parts) > MOST_PARTS_WITH_A_TRACE and not plain:
            fit = Fit.NO
        return cls(value, tuple(parts), intercept, slopes, fit, logs, raw)

    def is_logical(self, columns: Columns) -> bool:
        """True if this is a rule such as "either of two", a mechanism; dummies that sum to 1 are
        none.
        """
        if np.unique(self.values[0][:ROWS_OF_A_SEARCH]).size > 2 or self.logs:
            return False
        low = self.values[0].min()
        high = self.values[0].max()
        levels = [np.unique(column[:ROWS_OF_A_SEARCH]).size for column in self.values[1:]]
        sums_to_one = (
            abs(self.intercept - high) < EXACT_CONSTANT
            and np.allclose(self.slopes, -1.0, atol=EXACT_CONSTANT)
            and low == 0.0
        )
        return max(levels) <= 2 and len(self.parts) > 1 and not sums_to_one

    def relation(self, columns: Columns) -> Relation:
        """The relation, with the words for every number that may be left out."""
        words = {self.value.column: self._words(columns, 0)}
        slopes = dict[int, Floats]()
        for k, term in enumerate(self.parts):
            if np.isnan(term.level):
                words[term.column] = self._words(columns, k + 1)
                size = np.full(columns.values.shape[1], np.log(abs(self.slopes[k])))
                if self.logs:
                    ratio = columns.values[self.value.column] / columns.values[term.column]
                    size += np.log(np.abs(ratio))
                slopes[term.column] = size
        parts = tuple(dict.fromkeys(term.column for term in self.parts))
        return Relation(
            self.value.column, parts, words, slopes, self._plainness(), self._made(columns)
        )

    def _made(self, columns: Columns) -> int | None:
        """The only column on a grid, of a relation that holds but for its rounding; None where
        there are none or several.
        """
        on_grid = [
            column
            for column in dict.fromkeys(term.column for term in (self.value, *self.parts))
            if columns.is_number[column] and columns.steps[column] > 0.0
        ]
        return on_grid[0] if self.fit == Fit.ROUNDED and len(on_grid) == 1 else None

    def _plainness(self) -> dict[int, int]:
        """The plainness of the function when it is solved for each of the columns: 2 for short
        decimals, and 1 more for a sum without minus and constant.
        """
        plain = dict[int, int]()
        for position, term in enumerate((self.value, *self.parts)):
            constant, weights = self._solved(position)
            short = self.fit == Fit.EXACT and all(is_short(weight) for weight in weights)
            rounding = EXACT_CONSTANT * float(np.abs(self.values[position]).max())
            is_sum = bool((weights > 0.0).all()) and abs(constant) < rounding
            plain[term.column] = 2 * short + is_sum
        return plain

    def _solved(self, position: int) -> tuple[float, Floats]:
        """The constant, and the weights of the other columns, shape (parts,), of the function
        solved for the column at a position, 0 being the value.

        0 = -value + constant + slopes @ parts is divided by minus the weight of that column. Slopes
        that are whole but for rounding are taken as whole.
        """
        constant = self.intercept
        slopes = self.slopes
        whole = np.round(slopes)
        if (
            self.fit != Fit.EXACT
            and not self.logs
            and (np.abs(slopes - whole) < PLAIN_NUMBER_WITHIN).all()
            and whole.all()
        ):
            slopes = whole
            constant = float((self.values[0] - whole @ self.values[1:]).mean())
        weights = np.concatenate([[-1.0], slopes])
        rest = [k for k in range(len(weights)) if k != position]
        return constant / -weights[position], weights[rest] / -weights[position]

    def _words(self, columns: Columns, position: int) -> str:
        """The function, solved for one of the columns."""
        constant, weights = self._solved(position)
        rest = [term for k, term in enumerate((self.value, *self.parts)) if k != position]
        others = list(zip(rest, weights.tolist(), strict=True))
        ending = ENDING[self.fit]
        if len(others) > MOST_TERMS_WRITTEN or any(not np.isnan(term.level) for term, _ in others):
            names = list(dict.fromkeys(columns.names[term.column] for term, _ in others))
            kind = "a product of powers" if self.logs else "a linear function"
            return f"is {kind} of {listed(names, MOST_TERMS_WRITTEN, 'column')}{ending}"
        if self.logs:
            near = PLAIN_NUMBER_WITHIN if self.fit == Fit.EXACT else 3.0 * PLAIN_NUMBER_WITHIN
            return f"= {_product(columns, others, np.exp(constant), near)}{ending}"
        terms = [(weight, columns.names[term.column]) for term, weight in others]
        if self.fit == Fit.EXACT:
            digits = 4
            negligible = EXACT_CONSTANT * np.abs(self.values[position]).max()
        else:
            digits = 3
            negligible = SMALL_CONSTANT * self.values[position].std()
        return f"= {linear_words(terms, constant, float(negligible), digits)}{ending}"


def closeness(
    rest: Floats,
    weight: Floats,
    relative: float,
    slopes: Floats,
    logs: bool,
    errors: Floats | float = 0.0,
) -> Fit:
    """The closeness of a function, by its residuals and the rounding of every column.

    Parameters
    ----------
    rest : Floats, shape (rows,)
        The residuals.
    weight : Floats, shape (columns, rows)
        The steps of the grid of every column, times its slope.
    relative : float
        The standard deviation of the residuals by that of the value.
    slopes : Floats, shape (parts,)
        Slopes that are whole, or half with `logs`, need no further evidence for rounding.
    logs : bool
    errors : Floats, shape (rows,), or float
        The distance that the fitted function may have from the true one.
    """
    if relative < EXACT_RESIDUAL:
        return Fit.EXACT
    wholes = slopes * (2.0 if logs else 1.0)
    is_nice = bool(
        (np.abs(wholes - np.round(wholes)) < PLAIN_NUMBER_WITHIN).all()
        and (np.round(wholes) != 0).all()
    )
    is_nice = is_nice and (logs or np.allclose(np.abs(slopes), 1.0, atol=PLAIN_NUMBER_WITHIN))
    # A total is computed of what was rounded already, or all columns were rounded afterwards.
    for steps in (weight, *weight[:, None]):
        # Half a step is the sharper test, which errors of the fit may break.
        if _is_rounding(rest, steps, is_nice, 0.0) or _is_rounding(rest, steps, is_nice, errors):
            return Fit.ROUNDED
    return Fit.TRACE if relative < LARGEST_TRACE else Fit.NO


def _has_signs(raw: Floats, powers: Floats) -> bool:
    """True if a column has the sign of the product of the powers of others, or the opposite one, in
    every row.

    `raw` has the column and the others, shape (1 + others, rows). Powers of negative numbers are
    whole.
    """
    signs = np.sign(raw[0])
    for values, power in zip(raw[1:], powers.tolist(), strict=True):
        if values.min() < 0.0:
            if abs(power - round(power)) > EXACT_RESIDUAL:
                return False
            signs = signs * np.sign(values) ** round(power)
    return bool((signs == signs[0]).all())


def _short_slopes(raw: Floats, slopes: Floats, step: float) -> tuple[float, Floats] | None:
    """The constant and the slopes with two digits, next to those of least squares, of which a
    column is the rounded sum in every row; None where there are none.

    `raw` has the column and its parts, shape (1 + parts, rows), and `step` is the grid of the
    column: in few rows errors of the slopes alone move residuals beyond half a step.
    """
    short = np.array([float(f"{slope:.2g}") for slope in slopes])
    rest = raw[0] - short @ raw[1:]
    for constant in (0.0, float(f"{rest.mean():.2g}")):
        if (np.abs(rest - constant) < (0.5 + ON_GRID_WITHIN) * step).all():
            return constant, short
    return None


def _but_one_alike(weights: Floats) -> bool:
    """True if all weights but one are the same, as those of a total, which is the other one."""
    ordered = np.sort(weights)
    return bool(
        min(ordered[-1] / ordered[1], ordered[-2] / ordered[0]) < 1.0 + WEIGHTS_ALIKE_WITHIN
    )


def _leverage(of: Floats) -> Floats:
    """The variance of a fitted value in every row, by that of a residual, shape (rows,): 1 / n + x
    (X'X)^-1 x', by the QR decomposition of the centred regressors, shape (parts, rows).
    """
    basis = np.linalg.qr(of.T)[0]
    return np.asarray(1.0 / of.shape[1] + (basis**2).sum(axis=1))


def _is_rounding(rest: Floats, steps: Floats, is_nice: bool, errors: Floats | float) -> bool:
    """True if residuals have the size and bounds of rounding to some steps, beyond chance.

    `steps` has shape (columns, rows). Rounding to steps h has variance sum h² / 12 and stays within
    sum h / 2. Noise of the same size would stay within the bounds in every row with probability
    prod erf(bound / (sigma sqrt 2)), which must be small unless the slopes are plain numbers.
    """
    expected = (steps**2).sum(axis=0) / 12.0
    bound = SLACK_OF_HALF_A_STEP * steps.sum(axis=0) / 2.0 + errors
    if not (expected > 0.0).all() or (np.abs(rest) > bound).any():
        return False
    ratio = float((rest**2 / expected).mean())
    inside = scipy.special.erf(bound / np.sqrt(2.0 * max(ratio, 1e-9) * expected))
    nats = float(-np.log(np.maximum(inside, 1e-300)).sum())
    if not LEAST_SQUARES_OF_ROUNDING < ratio < LARGEST_SQUARES_OF_ROUNDING:
        return False
    return is_nice or nats > LEAST_NATS_OF_ROUNDING


def linear_words(
    terms: Sequence[tuple[float, str]], constant: float, negligible: float, digits: int = 4
) -> str:
    """A linear function in words, without a constant that is negligible.

    `terms` have the weight and the name of each column; minus comes last.

    >>> linear_words([(-1.0, "cough"), (1.8, "fever")], 32.0, 1e-6)
    '1.8 fever - cough + 32'
    """
    pieces = sorted(terms, key=lambda term: (term[0] < 0.0, term[1]))
    if abs(constant) > negligible:
        pieces.insert(0 if pieces[0][0] < 0.0 else len(pieces), (constant, ""))
    text = ""
    for weight, name in pieces:
        amount = number_words(abs(weight), digits)
        term = amount if not name else name if amount == "1" else f"{amount} {name}"
        sign = " - " if weight < 0.0 else " + "
        text += term if not text and weight > 0.0 else f"{sign if text else '-'}{term}"
    return text


def _product(
    columns: Columns, terms: Sequence[tuple[_Term, float]], constant: float, near: float
) -> str:
    """A product of powers in words: weight / height².

    Powers that are whole or half but for `near` are written so, and a constant near 1 is left out.
    """
    above = list[str]()
    below = list[str]()
    for term, power in sorted(terms, key=lambda item: columns.names[item[0].column]):
        half = round(2.0 * power) / 2.0
        size = abs(half) if half and abs(power - half) < near else abs(power)
        name = columns.names[term.column]
        raised = {1.0: name, 2.0: f"{name}²", 3.0: f"{name}³", 0.5: f"√{name}"}.get(
            size, f"{name}^{size:.3g}"
        )
        (above if power > 0.0 else below).append(raised)
    if abs(np.log(constant)) > 2.0 * near:
        above.insert(0, number_words(float(constant)))
    return " / ".join([" ".join(above) or "1", *below])
