"""Queries, one class for every kind of pair; and null tables, in which one column is drawn from its
conditions alone.

A number is the fitted value of its regression on the conditions plus noise: its own residuals in
another order (Freedman and Lane 1983), or Gaussian numbers of the same variance. A category is
drawn from a multinomial logit on the conditions. Where the context is a condition, or only one
context is looked at, all this is done in every context by itself. Whatever the fit is worth, the
new column depends on nothing but the conditions: the null holds exactly.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.errors import OptionError
from causalcontext.kernels.rows.glm import RIDGE, first_slopes, fit_glm, probabilities
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.views import CIQuery
from causalcontext_lab.arrays import Bools, Floats, Ints

NULLS = ("permutation", "bootstrap")
ALTERNATIVES = ("mean", "slope", "variance", "association")
MOST_WORK = 5e7
"""Rows times coefficients squared, up to which the logit of a category has all conditions."""
TOLERANCE = 1e-6
"""A gain of likelihood that ends a fit."""
Random = np.random.Generator
NONE = "none"
"""What the table calls an alternative that makes no sense for a query."""
WORDS = {
    Kind.CATEGORICAL: "category",
    Kind.ORDERED: "ordered category",
    Kind.COUNT: "count",
    Kind.CONTINUOUS: "number",
}
"""What kinds are called, in the order in which the ends of a pair are named; the later end is the
response.
"""
PLURALS = {"category": "categories", "ordered category": "ordered categories"}


class NullColumn(NamedTuple):
    """A response without any dependence on the other end: `fitted` + `noise`, or codes in `fitted`
    and no noise.
    """

    fitted: Floats
    noise: Floats


def null_column(data: Dataset, draw: DrawnQuery, null: str, random: Random) -> NullColumn:
    """The response of a query, drawn anew given the conditions."""
    values = np.asarray(data.columns[draw.response], dtype=np.float64)
    conditions = [column for column in draw.given if column != data.context]
    fitted, noise = np.empty((2, data.n_rows))
    strata = [np.arange(data.n_rows)]
    if draw.level is not None or data.context in draw.given:  # contexts are kept apart
        strata = [np.flatnonzero(data.codes == level) for level in range(len(data.contexts.cells))]
    for rows in strata:
        design = design_of(data, conditions, rows)
        own = values[rows]
        if data.kinds[draw.response].is_number:
            slopes, _, rank, _ = np.linalg.lstsq(design, own, rcond=None)
            fitted[rows] = design @ slopes
            residual = own - fitted[rows]
            if null == "permutation":
                noise[rows] = random.permutation(residual)
            else:
                spread = np.sqrt(residual @ residual / max(len(own) - int(rank), 1))
                noise[rows] = spread * random.standard_normal(len(own))
        else:
            noise[rows] = 0.0
            if design.shape[1] == 1 and null == "permutation":
                fitted[rows] = random.permutation(own)
            else:
                shares = np.cumsum(category_shares(design, own), axis=1)[:, :-1]
                fitted[rows] = np.unique(own)[(random.random((len(own), 1)) > shares).sum(axis=1)]
    return NullColumn(fitted, noise)


def finished(values: Floats, kind: Kind) -> Floats:
    """The values as a column of that kind can hold them: counts are whole numbers from 0."""
    return np.maximum(np.round(values), 0.0) if kind is Kind.COUNT else values


def design_of(data: Dataset, conditions: list[int], rows: Ints) -> Floats:
    """An intercept, standardised numbers, and one indicator for every category but the first; shape
    (rows, width).
    """
    parts = [np.ones((len(rows), 1))]
    for column in conditions:
        values = np.asarray(data.columns[column], dtype=np.float64)[rows]
        is_number = data.kinds[column].is_number
        parts.append(
            _scaled(values)[:, None] if is_number else values[:, None] == np.unique(values)[1:]
        )
    return np.hstack(parts)


def _scaled(values: Floats, inside: Bools | slice = slice(None)) -> Floats:
    """The values with mean 0 and standard deviation 1, both in some of the rows; constants are not
    scaled.
    """
    spread = values[inside].std()
    return np.asarray((values - values[inside].mean()) / (spread if spread > 0.0 else 1.0))


def category_shares(design: Floats, codes: Floats) -> Floats:
    """The probability of every category in every row by a multinomial logit, shape (rows,
    categories).

    A light ridge keeps separated categories from being certain. Many categories are fitted on the
    first conditions alone, since the price grows with the square of both.
    """
    categories, own = np.unique(codes, return_inverse=True)
    if categories.size == 1:
        return np.ones((len(codes), 1))
    widest = max(1, int(np.sqrt(MOST_WORK / len(codes)) / (categories.size - 1)))
    columns = np.ascontiguousarray(design[:, :widest].T)
    slopes = first_slopes(LOGIT, own, categories.size, len(columns))
    fit_glm(LOGIT, columns, own, categories.size, slopes, RIDGE, TOLERANCE)
    return probabilities(LOGIT, columns, categories.size, slopes)


def changed_column(
    name: str, data: Dataset, draw: DrawnQuery, null: NullColumn, effect: float, random: Random
) -> tuple[str, Floats | None]:
    """The alternative that was used, and the response under it; None where the alternative makes no
    sense.

    "mean": a shift in one category of the other end, drawn at random, or a slope on it; "slope":
    another slope on the first condition that is a number, in that category, or above the median of
    the other end; "variance": noise that is 1 + `effect` times as large there; "association": every
    category of the other end has a category of the response tied to it, taken with probability
    `effect`. Two categories have no mean: "mean" stands for "association" there.
    """
    is_number = data.kinds[draw.response].is_number
    if not is_number and name == "mean":
        name = "association"
        effect = min(effect, 1.0)
    if is_number == (name == "association"):
        return NONE, None
    if name == "association":
        occurring = np.unique(null.fitted)
        _, other = np.unique(np.asarray(data.columns[draw.other]), return_inverse=True)
        tied = random.permutation(occurring)[other % occurring.size]
        return name, np.where(random.random(data.n_rows) < effect, tied, null.fitted)
    inside: Bools = np.full(data.n_rows, True) if draw.level is None else data.codes == draw.level
    inside = inside if inside.any() else ~inside  # all rows, where the context happens to have none
    values = np.asarray(data.columns[draw.other], dtype=np.float64)
    if name == "mean" and data.kinds[draw.other].is_number:
        shift = _scaled(values, inside)
    elif data.kinds[draw.other].is_number:
        shift = np.asarray(values > np.median(values[inside]), dtype=np.float64)
    else:
        shift = np.asarray(values == random.choice(np.unique(values)), dtype=np.float64)
    if name == "variance":
        return name, null.fitted + null.noise * (1.0 + effect * shift)
    numbers = [column for column in draw.given if data.kinds[column].is_number]
    if name == "slope" and not numbers:
        return NONE, None
    if name == "slope":
        shift = shift * _scaled(np.asarray(data.columns[numbers[0]], dtype=np.float64), inside)
    return name, null.fitted + null.noise + effect * float(null.noise[inside].std()) * shift


class DrawnQuery(NamedTuple):
    """A query that was drawn, by positions of columns: `response` is what a null table draws
    anew.
    """

    response: int
    other: int
    given: tuple[int, ...]
    level: int | None
    """The context whose rows answer; None for all rows."""


@dataclass(frozen=True)
class QueryClass:
    """A class of queries."""

    pair: str  # what the class is called
    responses: tuple[int, ...]  # columns that may be the response, by name
    # columns that may be the other end; the same ones where both ends are alike
    others: tuple[int, ...]
    conditions: tuple[int, ...]  # columns to draw conditions from
    size: int  # how many conditions are drawn
    masked: bool = False  # whether the rows of one context answer, rather than all
    fixed: bool = False  # whether all conditions are taken, in their order
    key: str = ""  # what random numbers depend on, if it is not `pair`

    def random(self, seed: int, repeat: int) -> Random:
        """The random numbers of a repeat, which depend neither on the order of the work nor on
        other questions.
        """
        text = json.dumps([seed, self.key or self.pair, self.size, repeat])
        return np.random.default_rng(
            np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint32)
        )

    def draw(self, levels: int, random: Random) -> DrawnQuery:
        """A query of this class; `levels` is the number of contexts."""
        response = self.responses[random.integers(len(self.responses))]
        others = [column for column in self.others if column != response]
        other = others[random.integers(len(others))]
        pool = [column for column in self.conditions if column not in (response, other)]
        given = (
            pool
            if self.fixed
            else random.permutation(np.array(pool, dtype=np.int64))[: self.size].tolist()
        )
        return DrawnQuery(
            response, other, tuple(given), int(random.integers(levels)) if self.masked else None
        )


def all_questions(data: Dataset, largest_given: int) -> tuple[QueryClass, ...]:
    """One question for every class of pair and every number of conditions; two numbers also inside
    one context.
    """
    by_name = sorted(data.system, key=data.names.__getitem__)
    pools = {kind: tuple(i for i in by_name if data.kinds[i] is kind) for kind in WORDS}
    present = [kind for kind in WORDS if pools[kind]]
    classes: list[tuple[str, tuple[int, ...], tuple[int, ...], bool]] = []
    if data.context is not None:
        classes += [
            (f"context against {_one(kind)}", pools[kind], (data.context,), False)
            for kind in present
        ]
    for first, second in combinations_with_replacement(present, 2):
        if first is not second:
            classes.append(
                (f"{WORDS[first]} against {_one(second)}", pools[second], pools[first], False)
            )
        elif len(pools[first]) > 1:
            plural = PLURALS.get(WORDS[first], f"{WORDS[first]}s")
            classes.append((f"two {plural}", pools[first], pools[first], False))
    numbers = pools[Kind.CONTINUOUS]
    if data.context is not None and len(numbers) > 1:
        classes.append(("two numbers in one context", numbers, numbers, True))
    return tuple(
        QueryClass(pair, responses, others, tuple(by_name), size, masked)
        for pair, responses, others, masked in classes
        for size in range(
            min(largest_given, len(data.system) - (1 if others == (data.context,) else 2)) + 1
        )
    )


def one_question(data: Dataset, x: str, y: str, given: Sequence[str]) -> QueryClass:
    """The question that is asked about these columns; neither the order of x and y nor that of
    `given` matters.
    """
    if isinstance(given, str):
        raise OptionError(
            f"given is {given!r}, expected a sequence of column names, such as [{given!r}]"
        )
    endpoints = tuple(data.position(str(name)) for name in (x, y))
    conditions = tuple(data.position(name) for name in sorted(map(str, given)))
    chosen = (*endpoints, *conditions)
    repeated = next((column for column in chosen if chosen.count(column) > 1), None)
    if repeated is not None:
        raise OptionError(
            f"{data.names[repeated]!r} is named twice; x, y and given are different columns"
        )
    first, second = sorted(endpoints, key=lambda end: (_rank(data, end), data.names[end]))
    alike = (first, second) if _rank(data, first) == _rank(data, second) else ()
    key = json.dumps(
        [
            sorted(data.names[end] for end in endpoints),
            [data.names[column] for column in conditions],
        ]
    )
    return QueryClass(
        f"{x} against {y}",
        alike or (second,),
        alike or (first,),
        conditions,
        len(conditions),
        fixed=True,
        key=key,
    )


def query_table(data: Dataset, draw: DrawnQuery, response: Floats) -> tuple[Dataset, CIQuery]:
    """The table of one query, its columns and the context by name, with another response; and the
    query in it.
    """
    chosen = {draw.response, draw.other, *draw.given, *data.contexts.positions}
    order = sorted(chosen, key=data.names.__getitem__)
    place = {column: position for position, column in enumerate(order)}
    small = replace(
        data,
        names=tuple(data.names[column] for column in order),
        kinds=tuple(data.kinds[column] for column in order),
        columns=tuple(
            response if column == draw.response else data.columns[column] for column in order
        ),
        dtypes=tuple(data.dtypes[column] for column in order),
        contexts=replace(
            data.contexts, positions=tuple(place[column] for column in data.contexts.positions)
        ),
        categories={
            place[column]: data.categories[column] for column in order if column in data.categories
        },
    )
    x, y = sorted((place[draw.response], place[draw.other]))
    view = 0 if draw.level is None else small.contexts.number(small.contexts.cell(draw.level))
    return small, CIQuery(x, y, tuple(sorted(place[column] for column in draw.given)), view)


def _rank(data: Dataset, column: int) -> int:
    """The context is never the response; a number is, rather than a category."""
    return -1 if column == data.context else list(WORDS).index(data.kinds[column])


def _one(kind: Kind) -> str:
    return f"{'an' if WORDS[kind][0] in 'aeiou' else 'a'} {WORDS[kind]}"
