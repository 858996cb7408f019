"""Functions of two numbers that people compute by name: a ratio, a change in percent, a distance,
the larger of two, the largest of several.

A form has no coefficients but those of a line, so that it is recognised where it was rounded to a
digit, and where no polynomial comes near, as beside a kink. What comes out of such a form was made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats
from causalcontext.screening.bends import is_fine, standard
from causalcontext.screening.lines import ENDING, Fit, closeness
from causalcontext.screening.relations import Columns, Relation, complete
from causalcontext.screening.settings import (
    EXACT_RESIDUAL,
    FEWEST_ROWS_OF_A_RELATION,
    FEWEST_VALUES_OF_A_FORM,
    LARGEST_MISFIT_OF_A_FORM_GLANCE,
    LARGEST_TRACE,
    LARGEST_TRACE_OF_A_SURFACE,
    LEAST_DIFFERENT_SHARE_OF_TAKEN_CELLS,
    LEAST_GAIN_OF_A_SECOND_COLUMN,
    LEAST_NATS_OF_A_FUNCTION,
    LEAST_SHARE_OF_ROUNDING,
    LEAST_SHARE_TAKEN,
    MOST_COLUMNS_OF_SURFACES,
    MOST_COLUMNS_TAKEN_FROM,
    MOST_ROWS_OF_A_CURVE,
    MOST_TERMS_WRITTEN,
    PLAIN_NUMBER_WITHIN,
    ROWS_OF_A_FORM_GLANCE,
    ROWS_OF_A_LEVEL_GLANCE,
    STANDARD_ERRORS_BEYOND_HALF_A_STEP,
)

Function = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class _Form:
    """A function of two numbers that has a name.

    Attributes
    ----------
    words : str
        The rest of a sentence, with places for the two names.
    formula : str
        The same as a formula, where the form itself is the column; empty where words are plainer.
    of : callable
        The function of the two columns, both of shape (rows,).
    both_ways : bool
        True if the function of (y, x) is another one than that of (x, y).
    domain : callable
        True if two columns are in the domain of the function.
    undone : bool
        True if the columns of an exact form are products and ratios of each other: any of them may
        have been made.
    in_units : bool
        True if the form means something in standard units, too.
    """

    words: str
    of: Function
    formula: str = ""
    both_ways: bool = False
    domain: Callable[[Floats, Floats], bool] = lambda x, y: True
    undone: bool = False
    in_units: bool = False


def _divides(x: Floats, y: Floats) -> bool:
    """True if no value of the second column is 0."""
    return bool((y != 0.0).all())


def _positive(x: Floats, y: Floats) -> bool:
    """True if both columns are above 0 in all rows."""
    return bool(x.min() > 0.0 and y.min() > 0.0)


FORMS = (
    _Form(
        "is the ratio of {} to {}",
        lambda x, y: x / y,
        "= {} / {}",
        both_ways=True,
        domain=_divides,
        undone=True,
    ),
    _Form(
        "is the ratio of {} to the square of {}",
        lambda x, y: x / y**2,
        "= {} / {}²",
        both_ways=True,
        domain=_divides,
        undone=True,
    ),
    _Form(
        "is the product of {} and {}",
        lambda x, y: x * y,
        "= {} {}",
        undone=True,
        in_units=True,
    ),
    _Form(
        "is the product of {} and the square of {}",
        lambda x, y: x * y**2,
        "= {} {}²",
        both_ways=True,
        undone=True,
    ),
    _Form(
        "is the logarithm of the ratio of {} to {}",
        lambda x, y: np.asarray(np.log(x) - np.log(y)),
        domain=_positive,
    ),
    _Form("is the distance √({}² + {}²)", lambda x, y: np.asarray(np.hypot(x, y)), in_units=True),
    _Form("is the larger of {} and {}", lambda x, y: np.asarray(np.maximum(x, y)), in_units=True),
    _Form("is the smaller of {} and {}", lambda x, y: np.asarray(np.minimum(x, y)), in_units=True),
    _Form(
        "is the difference of {} and {} without its sign",
        lambda x, y: np.asarray(np.abs(x - y)),
        in_units=True,
    ),
)
CHANGE = "is the relative change from {} to {}"
"""The words on a ratio less 1, times any number: a change in percent."""
IN_UNITS = ", in standard units"


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def form_relations(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that are a form of two others, but for a line: exact, rounded, or with a trace of
    noise.

    Every form of every two columns is held against all others in a glance, and in all rows where it
    comes near. Products and ratios that are exact are left to the searches that ask which of the
    columns was made. What overflows in the units of the table is no form.
    """
    numbers = [j for j in columns.numbers(gone) if _has_values(columns.values[j])]
    if not 2 < len(numbers) <= MOST_COLUMNS_OF_SURFACES:
        return []
    whole = complete(columns.values, numbers)
    if whole.shape[1] < FEWEST_ROWS_OF_A_RELATION:
        return []
    every = max(1, -(-whole.shape[1] // ROWS_OF_A_FORM_GLANCE))
    rows = whole[:, ::every]
    units = standard(whole)[:, ::every]
    rounding = (columns.steps[numbers] / np.maximum(rows.std(axis=1), 1e-300)) ** 2 / 12.0
    limits = np.maximum(LARGEST_MISFIT_OF_A_FORM_GLANCE, 2.0 * rounding)
    parts = [k for k, column in enumerate(numbers) if is_fine(columns.values[column])]
    best = dict[int, tuple[float, Relation]]()
    for x, y, value, form, in_units in _near_forms(rows, units, limits, parts):
        if columns.may_go[numbers[value]]:
            of = numbers[x], numbers[y]
            relation = _relation(columns, numbers[value], of, form, in_units)
            if relation is not None and relation[0] < best.get(numbers[value], (np.inf,))[0]:
                best[numbers[value]] = relation
    return [relation for _, relation in best.values()]


def _near_forms(
    rows: Floats, units: Floats, limits: Floats, parts: list[int]
) -> Iterator[tuple[int, int, int, _Form, bool]]:
    """The columns x, y and value, the form, and whether it is one of standard units, wherever the
    line of the value on the form of x and y leaves less than its limit in the glance.

    `rows` and `units`, the same in standard units, have shape (columns, rows), and `limits`, shares
    of variance, shape (columns,); `parts` are the columns that forms are made of.
    """
    centred = standard(rows)
    for x in parts:
        for form in FORMS:
            others = np.array([y for y in parts if y != x and (form.both_ways or y > x)], dtype=int)
            for in_units in (False, True)[: 1 + form.in_units]:
                table = units if in_units else rows
                left = table[x]
                usable = [y for y in others.tolist() if form.domain(left, table[y])]
                if not usable:
                    continue
                values = standard(form.of(left, table[usable]))
                misfit = 1.0 - (values @ centred.T / rows.shape[1]) ** 2
                misfit[~np.isfinite(misfit)] = 1.0
                for number, value in np.argwhere(misfit < limits).tolist():
                    if value not in (x, usable[number]):
                        yield x, usable[number], value, form, in_units


def _has_values(values: Floats) -> bool:
    """True if a number has enough different values to be a form of others."""
    finite = values[np.isfinite(values)]
    return (
        finite.size >= FEWEST_ROWS_OF_A_RELATION
        and np.unique(finite).size >= FEWEST_VALUES_OF_A_FORM
    )


def _relation(
    columns: Columns, value: int, of: tuple[int, int], form: _Form, in_units: bool
) -> tuple[float, Relation] | None:
    """The misfit of a form in all rows, and its relation; None where it does not hold, or where one
    of the two columns is as good.
    """
    raw = complete(columns.values, [value, *of])
    raw = raw[:, :: max(1, raw.shape[1] // MOST_ROWS_OF_A_CURVE)]
    if raw.shape[1] < FEWEST_ROWS_OF_A_RELATION:
        return None
    z = raw[0]
    x, y = standard(raw[1:]) if in_units else raw[1:]
    if not form.domain(x, y):
        return None
    units = raw[1:].std(axis=1) if in_units else np.ones(2)
    steps = columns.steps[[value, *of]] / np.array([1.0, *units])
    line = _line(z, x, y, form.of, steps)
    if line is None:
        return None
    fit, constant, slope, misfit = line
    is_change = abs(constant + slope) < PLAIN_NUMBER_WITHIN * abs(slope)
    rounding = float(columns.steps[value]) / math.sqrt(12.0)
    if form is FORMS[0] and math.sqrt(misfit) * float(z.std()) < LEAST_SHARE_OF_ROUNDING * rounding:
        return None  # a divisor of another one: no ratio is a whole number by itself
    is_plain = abs(constant) < PLAIN_NUMBER_WITHIN * abs(slope) * float(np.abs(form.of(x, y)).max())
    if fit == Fit.EXACT and form.undone and not in_units and is_plain:
        return None
    least = LEAST_GAIN_OF_A_SECOND_COLUMN * max(misfit, EXACT_RESIDUAL**2)
    if fit != Fit.ROUNDED and _misfit_of_less(z, x, y) < least:
        return None
    if _nats(z) < LEAST_NATS_OF_A_FUNCTION:
        return None
    names = [columns.names[column] for column in of]
    is_itself = is_plain and abs(slope - 1.0) < PLAIN_NUMBER_WITHIN and not in_units
    words = (form.formula if form.formula and is_itself else form.words).format(*names)
    if is_change and form is FORMS[0]:
        words = CHANGE.format(*reversed(names))
    words += (IN_UNITS if in_units else "") + ENDING[fit]
    return misfit, Relation(value, of, {value: words}, made=value)


def _line(
    z: Floats, x: Floats, y: Floats, form: Function, steps: Floats
) -> tuple[Fit, float, float, float] | None:
    """The closeness, the constant, the slope and the misfit of the line of a column on a form of
    two others; None where it does not hold.

    `steps`, shape (3,), are the grids of the three columns. The line of least squares is tried, and
    those with a power of ten for its slope, as people multiply by 100. What the rounding of x and y
    does is their step times the derivative of the form. A column without a grid is exact, or
    the others have none either. On
    a coarse grid, where rounding is not uniform, a plain line that is right in every row will do.
    """
    f = form(x, y)
    centred = f - f.mean()
    squares = float(centred @ centred)
    spread = float(z.std())
    if not 0.0 < squares < np.inf or spread == 0.0:
        return None
    slope = float(centred @ z) / squares
    if slope == 0.0:
        return None
    constant = float(z.mean()) - slope * float(f.mean())
    tried = [(constant, slope)]
    power = float(np.copysign(10.0 ** round(np.log10(abs(slope))), slope))
    if abs(slope / power - 1.0) < 5.0 * PLAIN_NUMBER_WITHIN:
        tried += [(0.0, power), (-power, power)]
    moved = np.array(
        [_derivative(form, x, y, steps[1], 0.0), _derivative(form, x, y, 0.0, steps[2])]
    )
    best: tuple[Fit, float, float, float] | None = None
    for number, (c, k) in enumerate(tried):
        rest = z - c - k * f
        misfit = float((rest**2).mean()) / spread**2
        relative = float(np.sqrt(misfit))
        grid = np.vstack([np.full(z.shape, steps[0]), abs(k) * moved])
        errors = 0.0 if number else STANDARD_ERRORS_BEYOND_HALF_A_STEP * spread * relative
        leverage = np.sqrt(1.0 / z.size + centred**2 / squares)
        plain = np.array([1.0 if number else 0.5])
        fit = closeness(rest, grid, relative, plain, False, errors * leverage)
        if fit < Fit.ROUNDED and number and (np.abs(rest) < (0.5 + 1e-6) * steps[0]).all():
            fit = Fit.ROUNDED
        if fit < Fit.EXACT and not steps[0] and steps.any():
            fit = Fit.NO
        if fit == Fit.TRACE and relative > min(LARGEST_TRACE, LARGEST_TRACE_OF_A_SURFACE):
            fit = Fit.NO
        if fit > (Fit.NO if best is None else best[0]):
            best = fit, c, k, misfit
    return best


def _derivative(form: Function, x: Floats, y: Floats, by_x: float, by_y: float) -> Floats:
    """How much a step of x or of y changes a form in every row, shape (rows,); 0 for no step."""
    if not by_x and not by_y:
        return np.zeros(x.shape)
    change = np.abs(form(x + by_x / 2, y + by_y / 2) - form(x - by_x / 2, y - by_y / 2))
    return np.asarray(np.nan_to_num(change, nan=0.0, posinf=0.0))


def _nats(z: Floats) -> float:
    """The improbability that independent draws of the values of a column meet all of its rows."""
    counts = np.unique(z, return_counts=True)[1]
    return float(-(counts * np.log(counts / z.size)).sum())


def _misfit_of_less(z: Floats, x: Floats, y: Floats) -> float:
    """The misfit 1 - R² of a column by less than a form of two others: by the parabola of one of
    them, or by their plane, the least of the three.
    """
    z, x, y = standard(np.array([z, x, y]))
    constant = np.ones_like(z)
    designs = (
        np.array(terms) for terms in ([constant, x, x**2], [constant, y, y**2], [constant, x, y])
    )
    return min(_misfit(z, design) for design in designs)


def _misfit(z: Floats, design: Floats) -> float:
    """The misfit of a column in standard units by the rows of a design, shape (terms, rows)."""
    basis = np.linalg.qr(design.T)[0]
    return float(((z - basis @ (basis.T @ z)) ** 2).mean())


def extreme_cells(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that are the largest or the smallest of several others in every row.

    Numbers must be fine ones, whose values hardly repeat. Every cell must be that of another column
    in the same row, and the columns it is taken from, each in some rows, must bound it in all.
    """
    numbers = [j for j in columns.numbers(gone) if _hardly_repeats(columns.values[j])]
    relations = []
    for value in _seen_elsewhere(columns.values, numbers):
        parts = _taken_from(columns, value, [j for j in numbers if j != value])
        if len(parts) < 2 or not columns.may_go[value]:
            continue
        cells, *others = complete(columns.values, [value, *parts])
        names = listed(sorted(columns.names[j] for j in parts), MOST_TERMS_WRITTEN, "column")
        for word, extreme in (("largest", np.max), ("smallest", np.min)):
            if (cells == extreme(others, axis=0)).all():
                words = {value: f"is the {word} of {names}"}
                relations.append(Relation(value, tuple(parts), words, made=value))
    return relations


def _seen_elsewhere(values: Floats, numbers: list[int]) -> list[int]:
    """The numbers whose cell is that of another one in each of some rows, if it is not missing;
    `values` has shape (columns, rows).
    """
    few = values[numbers][:, :: max(1, values.shape[1] // ROWS_OF_A_LEVEL_GLANCE)]
    possible = np.ones(len(numbers), dtype=bool)
    for row in few.T:
        _, number, count = np.unique(row, return_inverse=True, return_counts=True)
        possible &= (count[number] > 1) | ~np.isfinite(row)
    return [j for j, is_possible in zip(numbers, possible.tolist(), strict=True) if is_possible]


def _taken_from(columns: Columns, value: int, others: list[int]) -> list[int]:
    """The columns that all cells of a column are those of, the one with most cells first; empty
    where some cell is nowhere else in its row.
    """
    known = np.isfinite(columns.values[value])
    left = known.copy()
    rest = list(others)
    parts = list[int]()
    while left.any():
        if not rest or len(parts) == MOST_COLUMNS_TAKEN_FROM:
            return []
        same = (columns.values[rest] == columns.values[value]) & left
        counts = same.sum(axis=1)
        most = int(counts.argmax())
        if counts[most] < LEAST_SHARE_TAKEN * known.sum():
            return []
        left &= ~same[most]
        parts.append(rest.pop(most))
    return parts


def _hardly_repeats(values: Floats) -> bool:
    """True if nearly every row of a column has a value of its own."""
    finite = values[np.isfinite(values)]
    different = np.unique(finite).size
    return (
        finite.size >= FEWEST_ROWS_OF_A_RELATION
        and different >= LEAST_DIFFERENT_SHARE_OF_TAKEN_CELLS * finite.size
    )
