"""Functions of one number that bend (a logarithm, a square, a rank), and products, ratios and
indices of two numbers.

A smooth function of a column shows in the order of that column: every value lies on the line
between its neighbours. A ratio with squares and the like, of columns in any units, is a surface: 1,
y, y², t, t y, t y².
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from causalcontext.data.dataset import mean_ranks
from causalcontext.kernels.arrays import Floats
from causalcontext.screening.lines import ENDING, Fit, closeness, linear_words
from causalcontext.screening.relations import (
    Columns,
    Relation,
    complete,
    is_short,
    log_slopes,
    some_rows,
)
from causalcontext.screening.settings import (
    COPY_SLOPE_WITHIN,
    EXACT_CONSTANT,
    EXACT_RESIDUAL,
    EXACT_SURFACE_RESIDUAL,
    FEWEST_DIFFERENT_VALUES,
    FEWEST_ROWS_OF_A_CURVE_GLANCE,
    FEWEST_ROWS_OF_A_RELATION,
    FEWEST_ROWS_OF_A_SURFACE,
    FIRST_ROWS_OF_A_NUMBER,
    LARGEST_LOGARITHM,
    LARGEST_MISFIT_OF_A_SURFACE_GLANCE,
    LARGEST_ROUGHNESS_BY_ROWS,
    LARGEST_SQUARES_LEFT_BY_ROUNDING,
    LARGEST_TRACE,
    LARGEST_TRACE_OF_A_SURFACE,
    LEAST_BEND_OF_A_SURFACE,
    LEAST_CORRELATION_OF_A_TREND,
    LEAST_GAIN_OF_A_SECOND_COLUMN,
    MOST_CELLS_OF_A_CURVE_GLANCE,
    MOST_COLUMNS_OF_SURFACES,
    MOST_ROWS_OF_A_CURVE,
    MOST_ROWS_OF_A_CURVE_GLANCE,
    ROWS_OF_A_SURFACE_GLANCE,
    SHARE_AT_ENDS_OF_A_CURVE,
    SMALL_CONSTANT,
)


def bent_relations(columns: Columns, gone: frozenset[int]) -> list[Relation]:
    """The numbers that are smooth functions of one other, whatever the curve.

    Every pair is held against a glance, then against all rows. If each is a function of the other,
    either may be left out, and the slopes are known; else only the value may be, as the square of a
    number of both signs.
    """
    numbers = [j for j in columns.numbers(gone) if is_fine(columns.values[j])]
    if len(numbers) < 2:
        return []
    most = int(
        np.clip(
            MOST_CELLS_OF_A_CURVE_GLANCE // len(numbers) ** 2,
            FEWEST_ROWS_OF_A_CURVE_GLANCE,
            MOST_ROWS_OF_A_CURVE_GLANCE,
        )
    )
    glance = some_rows(columns, most)[numbers]
    possible = np.zeros((len(numbers), len(numbers)), dtype=bool)
    limit = max(LARGEST_TRACE, LARGEST_ROUGHNESS_BY_ROWS / glance.shape[1])
    for x in range(len(numbers)):
        possible[:, x] = roughness(glance[x], glance) < limit
    np.fill_diagonal(possible, False)
    pairs = {(numbers[y], numbers[x]) for y, x in np.argwhere(possible).tolist()}
    pairs = {(y, x) for y, x in pairs if _is_curve(columns, y, x)}
    relations = []
    for value, of in sorted(pairs):
        both = (of, value) in pairs
        if both and value < of:
            continue
        if not both and not columns.may_go[value]:
            continue
        words = {value: curve_words(columns, value, of)}
        slopes = dict[int, Floats]()
        if both:
            words[of] = curve_words(columns, of, value)
            slopes[of] = log_slopes(columns.values[value], columns.values[of])
        relations.append(
            Relation(
                value, (of,), words, slopes, line_plainness(columns, value, of) if both else {}
            )
        )
    return relations


def line_plainness(columns: Columns, value: int, of: int) -> dict[int, int]:
    """The plainness of the line between two columns when it is solved for each of them, 2 or 0;
    empty where no line is exact.

    1.8 celsius + 32 is plainer than 0.5556 fahrenheit - 17.78.
    """
    y, x = complete(columns.values, [value, of])
    if _line_left(y, x) >= EXACT_RESIDUAL**2:
        return {}
    plain = dict[int, int]()
    for column, upper, lower in ((value, y, x), (of, x, y)):
        slope, constant = (float(number) for number in np.polyfit(lower, upper, 1))
        is_through_zero = abs(constant) < EXACT_CONSTANT * float(np.abs(upper).max())
        plain[column] = 2 * (is_short(slope) and (is_through_zero or is_short(constant)))
    return plain


def surface_relations(columns: Columns, gone: frozenset[int], closely: bool) -> list[Relation]:
    """The numbers that are products, ratios or quadratic functions of two others, such as x / y² in
    any units.

    `closely` asks for exact relations alone. Of the relations of three columns the one that leaves
    least is kept.
    """
    numbers = [j for j in columns.numbers(gone) if is_fine(columns.values[j])]
    if not 2 < len(numbers) <= MOST_COLUMNS_OF_SURFACES:
        return []
    rows = some_rows(columns, ROWS_OF_A_SURFACE_GLANCE)[numbers]
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    if rows.shape[1] < FEWEST_ROWS_OF_A_SURFACE:
        return []
    table = standard(rows)
    best_by_columns = dict[frozenset[int], tuple[float, Relation]]()
    for t in range(len(numbers)):
        others = [k for k in range(len(numbers)) if k != t]
        left = beyond_surfaces(table, t, others)
        for row, value in np.argwhere(
            left < (LARGEST_TRACE**2 if closely else LARGEST_MISFIT_OF_A_SURFACE_GLANCE)
        ).tolist():
            y = others[row]
            if value not in (t, y):
                relation = _surface(columns, numbers[value], numbers[t], numbers[y], closely)
                if relation is not None:
                    key = frozenset((value, t, y))
                    known = best_by_columns.get(key)
                    if known is None or relation[0] < known[0]:
                        best_by_columns[key] = relation
    return [relation for _, relation in best_by_columns.values()]


def is_fine(values: Floats) -> bool:
    """True if a number has values and rows enough to bend with another one."""
    finite = values[np.isfinite(values)]
    return (
        finite.size >= FEWEST_ROWS_OF_A_RELATION
        and np.unique(finite[:FIRST_ROWS_OF_A_NUMBER]).size >= FEWEST_DIFFERENT_VALUES
    )


def roughness(x: Floats, table: Floats) -> Floats:
    """The distance of values from the line between their neighbours in the order of x, for every
    column, by its standard deviation, shape (columns,).

    `x` has shape (rows,) and `table` shape (columns, rows). A value between two neighbours, at w
    and 1 - w of the way, would be off by noise of its own and theirs, sqrt(1 + w² + (1 - w)²) times
    that of a row, by which the distance is divided. Rows at both ends are left out, since
    neighbours are far away there. Infinite for a constant column.
    """
    order = np.argsort(x, kind="stable")[: int(np.isfinite(x).sum())]
    cut = int(SHARE_AT_ENDS_OF_A_CURVE * order.size)
    order = order[cut : order.size - cut]
    x = x[order]
    values = table[:, order]
    width = x[2:] - x[:-2]
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.where(width > 0.0, (x[2:] - x[1:-1]) / width, 0.5)
    rest = values[:, 1:-1] - near * values[:, :-2] - (1.0 - near) * values[:, 2:]
    rest /= np.sqrt(1.0 + near**2 + (1.0 - near) ** 2)
    if not np.isfinite(rest).all():
        with np.errstate(invalid="ignore"):
            known = np.isfinite(values).sum(axis=1) > FEWEST_ROWS_OF_A_RELATION
            rest = np.where(known[:, None], rest, 1.0)
            values = np.where(known[:, None], values, 0.0)
            spread = np.nanstd(values, axis=1)
            left = np.sqrt(np.nanmean(rest**2, axis=1))
    else:
        spread = values.std(axis=1)
        left = np.sqrt((rest**2).mean(axis=1))
    return np.where(spread > 0.0, left / np.maximum(spread, 1e-300), np.inf)


def _is_curve(columns: Columns, value: int, of: int) -> bool:
    """True if a column is a smooth function of another one, in all rows: by the roughness between
    neighbours, or as a line or parabola.

    Trends are smooth functions of each other by their order alone, so only the second counts for
    them.
    """
    pair = complete(columns.values, [of, value])
    pair = pair[:, :: max(1, pair.shape[1] // MOST_ROWS_OF_A_CURVE)]
    if pair.shape[1] < FEWEST_ROWS_OF_A_RELATION:
        return False
    trend = np.corrcoef(mean_ranks(pair[0]), np.arange(pair.shape[1]))[0, 1]
    if (
        abs(trend) < LEAST_CORRELATION_OF_A_TREND
        and roughness(pair[0], pair[1:])[0] < LARGEST_TRACE
    ):
        return True
    x = standard(pair)  # of few rows, or of trends, the usual functions
    return bool(_left(x[1], _powers(x[0])) < LARGEST_TRACE**2)


def _powers(x: Floats) -> Floats:
    """1, x and x², shape (3, rows)."""
    return np.array([np.ones_like(x), x, x**2])


def _left(value: Floats, of: Floats) -> float:
    """The misfit 1 - R² of a regression, with the variance of residuals over n - p.

    `value` has shape (rows,) and `of`, which has the constant, shape (p, rows).
    """
    slopes = np.linalg.lstsq(of.T, value, rcond=None)[0]
    spare = max(value.size - len(of), 1)
    return float(((value - slopes @ of) ** 2).sum() / spare / max(value.var(), 1e-300))


def standard(values: Floats) -> Floats:
    """Columns in standard units, shape (columns, rows)."""
    centred = values - values.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(centred.std(axis=1, keepdims=True), 1e-300))


FORMS: tuple[tuple[str, Callable[[Floats], Floats], bool], ...] = (
    ("is the logarithm of {}", np.log, True),
    ("is the square of {}", np.square, False),
    ("is the square root of {}", np.sqrt, True),
    ("is 1 / {}", lambda x: 1.0 / x, True),
    ("is the rank of {}", mean_ranks, False),
)


def curve_words(columns: Columns, value: int, of: int) -> str:
    """The words on a function of one column, its name if it has one; values on a grid may be
    rounded.

    A line comes first, then the functions of `FORMS`, exponentials and logarithms in other units,
    and parabolas. Rounding to a step h leaves h² / 12, half as much again by chance.
    """
    y, x = complete(columns.values, [value, of])
    name = columns.names[of]
    rounding = columns.steps[value] ** 2 / 12.0 / max(float(y.var()), 1e-300)
    rounded = LARGEST_SQUARES_LEFT_BY_ROUNDING * rounding
    allowed = max(LARGEST_TRACE**2, rounded)

    def ending(left: float) -> str:
        """The words on the closeness of a function that leaves this share of the variance."""
        if left < EXACT_RESIDUAL**2:
            return ENDING[Fit.EXACT]
        return ENDING[Fit.ROUNDED if left < rounded else Fit.TRACE]

    left = _line_left(y, x)
    if left < allowed:
        return _line_words(y, x, name, left < EXACT_RESIDUAL**2) + ending(left)
    for words, function, positive in FORMS:
        if not positive or x.min() > 0.0:
            left = _line_left(y, function(x))
            if left < allowed:
                return words.format(name) + ending(left)
    if y.min() > 0.0 and _line_left(np.log(y), x) < LARGEST_TRACE**2:
        return f"is an exponential of {name}"
    if np.abs(y).max() < LARGEST_LOGARITHM and _line_left(np.exp(y), x) < LARGEST_TRACE**2:
        return f"is a logarithm of {name}"
    both = standard(np.array([y, x]))
    left = _left(both[0], _powers(both[1]))
    if left < allowed:
        return f"is a quadratic function of {name}{ending(left)}"
    return f"is a function of {name}"


def _line_words(y: Floats, x: Floats, name: str, exact: bool) -> str:
    """A line in words: 1.8 celsius + 32."""
    slope, constant = (float(number) for number in np.polyfit(x, y, 1))
    is_close = abs(np.mean(y - x)) < SMALL_CONSTANT * np.std(y)
    if is_close and np.isclose(slope, 1.0, atol=1e-9 if exact else COPY_SLOPE_WITHIN):
        return f"is a copy of {name}"
    negligible = float(EXACT_CONSTANT * np.abs(y).max() if exact else SMALL_CONSTANT * y.std())
    return f"= {linear_words([(slope, name)], constant, negligible, 4 if exact else 3)}"


def _line_left(y: Floats, x: Floats) -> float:
    """The misfit of a line; infinite where the other column is constant or undefined."""
    if not np.isfinite(x).all() or np.ptp(x) == 0.0:
        return np.inf
    return _left(*_two(y, x))


def _two(y: Floats, x: Floats) -> tuple[Floats, Floats]:
    """The value and the terms 1 and x of a line, in standard units."""
    both = standard(np.array([y, x]))
    return both[0], np.array([np.ones_like(y), both[1]])


def _basis(t: Floats, y: Floats) -> Floats:
    """The terms of a surface, 1, y, y², t, t y, t y², shape (6, ..., rows)."""
    constant = np.ones(np.broadcast(t, y).shape)
    return np.stack([constant, y * constant, y**2 * constant, t * constant, t * y, t * y**2])


def beyond_surfaces(table: Floats, t: int, others: list[int]) -> Floats:
    """The misfit 1 - R² of every column by the surfaces of one column with every other, shape
    (others, columns).

    `table` has shape (columns, rows) in standard units, `t` is the column and `others` the other
    ones.
    """
    terms = np.moveaxis(_basis(table[t], table[others]), 0, -1)  # shape (others, rows, 6)
    basis = np.linalg.qr(terms)[0]
    inside = np.einsum("onk,cn->ock", basis, table, optimize=True)
    rows = table.shape[1]
    return np.asarray((rows - (inside**2).sum(axis=2)) / (rows - terms.shape[2]))


def _surface(
    columns: Columns, value: int, t: int, y: int, closely: bool
) -> tuple[float, Relation] | None:
    """The misfit and the relation of a surface of two columns; None where this is none.

    With t and y in standard units, the value is regressed on 1, y, y², t, t y and t y². It is none
    if residuals are larger than a trace or the rounding of the three columns, by the slopes of the
    surface h |d value / d column| for steps h, and none if y alone or t alone is as good.
    """
    three = complete(columns.values, [value, t, y])
    three = three[:, :: max(1, three.shape[1] // MOST_ROWS_OF_A_CURVE)]
    if three.shape[1] < FEWEST_ROWS_OF_A_SURFACE:
        return None
    mean = three.mean(axis=1)
    scale = three.std(axis=1)
    table = standard(three)
    basis = _basis(table[1], table[2])
    coefficients = np.linalg.lstsq(basis.T, table[0], rcond=None)[0]
    left = _left(table[0], basis)
    steps = columns.steps[[value, t, y]] / scale
    grid = steps[:, None] * np.abs(
        np.array([np.ones_like(table[1]), *_surface_slopes(coefficients, table)])
    )
    relative = float(np.sqrt(left))
    relative = 0.0 if relative < EXACT_SURFACE_RESIDUAL else relative
    fit = closeness(table[0] - coefficients @ basis, grid, relative, np.array([0.5]), logs=False)
    is_loose = fit == Fit.TRACE and relative > LARGEST_TRACE_OF_A_SURFACE
    if is_loose or fit < (Fit.EXACT if closely else Fit.TRACE):
        return None
    left_by_one = min(_left(table[0], basis[:3]), _left(table[0], basis[[0, 3]]))
    if left_by_one < LEAST_GAIN_OF_A_SECOND_COLUMN * max(left, EXACT_RESIDUAL**2):
        return None
    everywhere = (columns.values[[value, t, y]] - mean[:, None]) / scale[:, None]
    by_t, by_y = _surface_slopes(coefficients, everywhere)
    slopes = {
        t: np.log(np.maximum(np.abs(by_t), 1e-12)) + np.log(scale[0] / scale[1]),
        y: np.log(np.maximum(np.abs(by_y), 1e-12)) + np.log(scale[0] / scale[2]),
    }
    words = {
        value: surface_words(columns, value, [t, y]) + ENDING[fit],
        t: surface_words(columns, t, [value, y]) + ENDING[fit],
        y: surface_words(columns, y, [value, t]) + ENDING[fit],
    }
    is_bent = np.abs(coefficients[[2, 5]]).max() > LEAST_BEND_OF_A_SURFACE
    if fit == Fit.EXACT and is_bent and columns.may_go[[value, t]].any():
        del words[y], slopes[y]  # its formula has a root, and theirs have squares
    return left, Relation(value, (t, y), words, slopes)


def surface_words(columns: Columns, value: int, of: list[int]) -> str:
    """The words on a column that is a smooth function of two others: a product or a ratio with
    their names, or a function of them.
    """
    names = sorted(columns.names[other] for other in of)
    return product_words(columns, value, of) or f"is a function of {' and '.join(names)}"


def _surface_slopes(coefficients: Floats, table: Floats) -> tuple[Floats, Floats]:
    """The derivatives of a surface by its two columns, the second and third of three, both of shape
    (rows,).
    """
    t = table[1]
    y = table[2]
    by_t = coefficients[3] + coefficients[4] * y + coefficients[5] * y**2
    by_y = (
        coefficients[1]
        + 2.0 * coefficients[2] * y
        + t * (coefficients[4] + 2.0 * coefficients[5] * y)
    )
    return by_t, by_y


def product_words(columns: Columns, value: int, of: list[int]) -> str:
    """The words on a column that is the product of two others or their ratio, in their own units;
    empty where it is neither.
    """
    z, a, b = complete(columns.values, [value, *of])
    variance = max(float(z.var()), 1e-300)
    rounded = LARGEST_SQUARES_LEFT_BY_ROUNDING * columns.steps[value] ** 2 / 12.0 / variance
    allowed = max(LARGEST_TRACE**2, rounded)
    first, second = (columns.names[j] for j in of)
    names = sorted((first, second))
    if _line_left(z, a * b) < allowed:
        return f"is the product of {names[0]} and {names[1]}"
    for over, under, x, y in ((first, second, a, b), (second, first, b, a)):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = x / y
            squared = x / y**2
        if _line_left(z, ratio) < allowed:
            return f"is the ratio of {over} to {under}"
        if _line_left(z, squared) < allowed:
            return f"is the ratio of {over} to the square of {under}"
    return ""
