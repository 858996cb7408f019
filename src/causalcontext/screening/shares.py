"""Shares of a sum that is no column itself: 100 a / (a + b), and other ratios of a column to a sum
of several.

Where s = a / L and L is linear in columns, a / s is L: a regression without s, weighted so that
errors are those of s.
"""

from __future__ import annotations

import numpy as np

from causalcontext.errors import listed
from causalcontext.kernels.arrays import Floats
from causalcontext.screening.lines import ENDING, Fit, closeness, linear_words
from causalcontext.screening.relations import Columns, Relation, complete, number_words, some_rows
from causalcontext.screening.settings import (
    EXACT_RESIDUAL,
    FEWEST_DIFFERENT_VALUES,
    FEWEST_ROWS_OF_A_RELATION,
    LARGEST_MISFIT_OF_A_SHARE_GLANCE,
    LARGEST_TRACE,
    MOST_COLUMNS_OF_SHARES,
    MOST_TERMS_WRITTEN,
    ROWS_OF_A_SEARCH,
    ROWS_OF_A_SHARE_GLANCE,
    SPARE_ROWS_OF_A_REGRESSION,
    STANDARD_ERRORS_BEYOND_HALF_A_STEP,
    STEPS_TO_A_SHARE,
    WEIGHTS_ALIKE_WITHIN,
)


def share_relations(columns: Columns, gone: frozenset[int], closely: bool) -> list[Relation]:
    """The numbers from 0 up that are another one divided by a linear function of several; `closely`
    asks for exact ones.

    Each number is tried as a share of each other one in a glance, the closest first.
    """
    numbers = [
        j
        for j in columns.numbers(gone)
        if np.unique(columns.values[j, :ROWS_OF_A_SEARCH]).size > FEWEST_DIFFERENT_VALUES
    ]
    if not 2 < len(numbers) <= MOST_COLUMNS_OF_SHARES:
        return []
    rows = complete(some_rows(columns, ROWS_OF_A_SHARE_GLANCE), numbers)
    if rows.shape[1] < max(FEWEST_ROWS_OF_A_RELATION, len(numbers) + SPARE_ROWS_OF_A_REGRESSION):
        return []
    relations = []
    for position, share in enumerate(numbers):
        is_share = columns.may_go[share] and rows[position].min() >= 0.0
        if (
            not is_share
            or np.count_nonzero(rows[position]) < len(numbers) + SPARE_ROWS_OF_A_REGRESSION
        ):
            continue
        left = _left_by_part(rows, position)
        for part in np.argsort(left, kind="stable")[
            : np.count_nonzero(left < LARGEST_MISFIT_OF_A_SHARE_GLANCE)
        ].tolist():
            relation = _share(
                columns, share, numbers[part], [j for j in numbers if j != share], closely
            )
            if relation is not None:
                relations.append(relation)
                break
    return relations


def _left_by_part(rows: Floats, position: int) -> Floats:
    """The misfit 1 - R² of a column as each of the others divided by a linear function of all
    others, shape (columns,).

    `rows` has shape (columns, rows), `position` is that of the column. For s = a / L the quotients
    a / s are regressed on a constant and all other columns, for every a at once; s is then held
    against a over the fitted sum. Rows where the share is 0 say nothing of L.
    """
    rows = rows[:, rows[position] > 0.0]
    share = rows[position]
    rest = np.delete(rows, position, axis=0)
    basis = np.linalg.qr(np.vstack([np.ones_like(share), rest]).T)[0]
    quotients = rows / share
    sums = (quotients @ basis) @ basis.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        left = ((share - rows / sums) ** 2).mean(axis=1) / max(float(share.var()), 1e-300)
    left[position] = np.inf
    return np.where(np.isfinite(left), left, np.inf)


def _share(
    columns: Columns, share: int, part: int, others: list[int], closely: bool
) -> Relation | None:
    """The relation with the fewest columns in the sum; None where there is none.

    A term that adds less to the sum than half of the residual allows goes, all such at once and
    then one by one, as long as the residual stays below twice the first one.
    """
    terms: list[int | None] = [None, *others]
    few = complete(columns.values, [share, part, *others])
    few = few[:, :: max(1, few.shape[1] // ROWS_OF_A_SEARCH)]
    weights, left = _fitted(few[0], few[1], _design(few, terms, others))[:2]
    allowed = max(2.0 * left, (10.0 * EXACT_RESIDUAL * few[0].std()) ** 2)
    if (
        left
        > (LARGEST_MISFIT_OF_A_SHARE_GLANCE if not closely else (10.0 * EXACT_RESIDUAL) ** 2)
        * few[0].var()
    ):
        return None
    while len(terms) > 1:
        sizes = (
            np.abs(weights)
            * np.sqrt((_design(few, terms, others) ** 2).mean(axis=1))
            * few[0].mean()
        )
        small = np.flatnonzero(sizes * few[0].mean() < 0.5 * np.sqrt(allowed) * few[1].mean())
        drops = [small] if 1 < small.size < len(terms) else []
        for drop in (*drops, np.array([sizes.argmin()])):
            fewer = [term for k, term in enumerate(terms) if k not in set(drop.tolist())]
            new, rest = _fitted(few[0], few[1], _design(few, fewer, others))[:2]
            if rest <= allowed:
                terms = fewer
                weights = new
                break
        else:
            break
    members = [term for term in terms if term is not None]
    if len(terms) < 2 or not {*members} - {part}:
        return None  # a ratio, or a curve of one column
    return _confirmed(columns, share, part, terms, closely)


def _confirmed(
    columns: Columns, share: int, part: int, terms: list[int | None], closely: bool
) -> Relation | None:
    """The relation, on all rows that have its columns; None where it does not hold there."""
    members = [term for term in terms if term is not None]
    rows = complete(columns.values, [share, part, *members])
    weights, left, rest, leverage = _fitted(rows[0], rows[1], _design(rows, terms, members))
    steps = np.full((1, rows.shape[1]), columns.steps[share])
    errors = STANDARD_ERRORS_BEYOND_HALF_A_STEP * np.sqrt(left * leverage)
    relative = float(np.sqrt(left) / rows[0].std())
    nice = np.array([1.0 if _is_percentage(terms, weights) else 0.5])
    fit = closeness(rest, steps, relative, nice, logs=False, errors=errors)
    if fit < (Fit.EXACT if closely else Fit.TRACE) or (
        fit == Fit.TRACE and relative > LARGEST_TRACE
    ):
        return None
    parts = tuple(dict.fromkeys((part, *members)))
    words = _words(
        columns, part, terms, weights, float(np.abs(weights @ _design(rows, terms, members)).max())
    )
    words += ENDING[fit]
    return Relation(share, parts, *_solved(columns, share, part, terms, weights, words))


def _solved(
    columns: Columns,
    share: int,
    part: int,
    terms: list[int | None],
    weights: Floats,
    words: str,
) -> tuple[dict[int, str], dict[int, Floats]]:
    """The words for every column that may be left out, and log |d share / d column| for the others,
    shape (rows,).

    A percentage change is as well a share of two columns as one of these is one of it: with one
    column m in the sum, s = a / (c + w m), so that d s / d a = s / a and d s / d m = -w s² / a.
    """
    members = [term for term in terms if term is not None]
    said = {share: words}
    slopes = dict[int, Floats]()
    if len(members) > 1 or part in members:
        return said, slopes
    (member,) = members
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.log(np.abs(columns.values[share] / columns.values[part]))
        weight = abs(float(weights[terms.index(member)]))
        by_member = size + np.log(weight * np.abs(columns.values[share]))
    slopes[part] = np.where(np.isfinite(size), size, np.nan)
    slopes[member] = np.where(np.isfinite(by_member), by_member, np.nan)
    for column, other in ((part, member), (member, part)):
        names = sorted((columns.names[share], columns.names[other]))
        said[column] = f"is a function of {names[0]} and {names[1]}"
    return said, slopes


def _is_percentage(terms: list[int | None], weights: Floats) -> bool:
    """True if a share is one of a plain sum, or 100 times that."""
    factor = 1.0 / float(weights.mean())
    is_sum = None not in terms and float(np.ptp(weights)) < WEIGHTS_ALIKE_WITHIN * abs(
        float(weights.mean())
    )
    return is_sum and min(abs(factor - 1.0), abs(factor / 100.0 - 1.0)) < WEIGHTS_ALIKE_WITHIN


def _design(rows: Floats, terms: list[int | None], others: list[int]) -> Floats:
    """The terms of a sum, shape (terms, rows), the constant for None.

    `rows` has the share, the part, and then the columns `others`.
    """
    return np.array(
        [np.ones(rows.shape[1]) if term is None else rows[2 + others.index(term)] for term in terms]
    )


def _fitted(share: Floats, part: Floats, design: Floats) -> tuple[Floats, float, Floats, Floats]:
    """The weights of the terms, the mean square of the residuals of the share, these, and the
    leverage of every row.

    Gauss and Newton: for s = a / L(w), d s / d w is -s² / a times each term, so that the next
    weights are those of a regression of 2 s - (observed share) on s² / a times each term, which
    begins at the observed share. Where the sum comes to 0 the residual is infinite.
    """
    value = share
    scale = np.sqrt((design**2).mean(axis=1))
    for _ in range(STEPS_TO_A_SHARE):
        slopes = (
            np.divide(value**2, part, out=np.zeros_like(part), where=part != 0.0)
            * design
            / scale[:, None]
        )
        weights = np.linalg.lstsq(slopes.T, 2.0 * value - share, rcond=None)[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = part / (weights / scale @ design)
        if not np.isfinite(value).all():
            return weights / scale, np.inf, np.full(share.shape, np.inf), np.zeros(share.shape)
    rest = share - value
    leverage = (np.linalg.qr(slopes.T)[0] ** 2).sum(axis=1)
    left = float((rest**2).sum() / max(share.size - len(design), 1))
    return np.asarray(weights / scale), left, rest, np.asarray(leverage)


def _words(
    columns: Columns, part: int, terms: list[int | None], weights: Floats, largest: float
) -> str:
    """The function in words: 100 fever / (cough + fever)."""
    names = ["" if term is None else columns.names[term] for term in terms]
    if len(terms) > MOST_TERMS_WRITTEN:
        of = listed(sorted({columns.names[part], *names} - {""}), MOST_TERMS_WRITTEN, "column")
        return f"is the ratio of {columns.names[part]} to a sum of {of}"
    constant = float(weights[terms.index(None)]) if None in terms else 0.0
    factor = 1.0
    slopes = [
        weight for term, weight in zip(terms, weights.tolist(), strict=True) if term is not None
    ]
    if not constant and max(slopes) - min(slopes) < WEIGHTS_ALIKE_WITHIN * abs(slopes[0]):
        factor = 1.0 / float(np.mean(slopes))
        slopes = [1.0] * len(slopes)
    pieces = [
        (slope, name) for slope, name in zip(slopes, [name for name in names if name], strict=True)
    ]
    amount = "" if abs(factor - 1.0) < WEIGHTS_ALIKE_WITHIN else f"{number_words(factor, 3)} "
    return (
        f"= {amount}{columns.names[part]} / ({linear_words(pieces, constant, 1e-6 * largest, 3)})"
    )
