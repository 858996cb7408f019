"""Which queries are calibrated: one question for every class of pair that a table has, or one query by name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.errors import OptionError

WORDS = {Kind.CATEGORICAL: "category", Kind.ORDERED: "ordered category", Kind.COUNT: "count", Kind.CONTINUOUS: "number"}
"""What kinds are called, in the order in which the ends of a pair are named; the later end is the response."""
PLURALS = {"category": "categories", "ordered category": "ordered categories"}


class DrawnQuery(NamedTuple):
    """A query that was drawn, by positions of columns: `response` is what a null table draws anew."""

    response: int
    other: int
    given: tuple[int, ...]
    level: int | None
    """The context whose rows answer; None for all rows."""


@dataclass(frozen=True)
class QueryClass:
    """A class of queries.

    Attributes
    ----------
    pair : str
        What the class is called.
    responses, others : tuples of int
        Columns that may be the response and the other end, by name; the same ones where both ends are alike.
    conditions : tuple of int
        Columns to draw conditions from.
    size : int
        How many conditions are drawn.
    masked : bool
        Whether the rows of one context answer, rather than all.
    fixed : bool
        Whether all conditions are taken, in their order.
    key : str
        What random numbers depend on, if it is not `pair`.
    """

    pair: str
    responses: tuple[int, ...]
    others: tuple[int, ...]
    conditions: tuple[int, ...]
    size: int
    masked: bool = False
    fixed: bool = False
    key: str = ""

    def random(self, seed: int, repeat: int) -> np.random.Generator:
        """The random numbers of a repeat, which depend neither on the order of the work nor on other questions."""
        text = json.dumps([seed, self.key or self.pair, self.size, repeat])
        return np.random.default_rng(np.frombuffer(hashlib.sha256(text.encode()).digest(), dtype=np.uint32))

    def draw(self, levels: int, random: np.random.Generator) -> DrawnQuery:
        """A query of this class; `levels` is the number of contexts."""
        response = self.responses[random.integers(len(self.responses))]
        others = [column for column in self.others if column != response]
        other = others[random.integers(len(others))]
        pool = [column for column in self.conditions if column not in (response, other)]
        given = pool if self.fixed else random.permutation(np.array(pool, dtype=np.int64))[: self.size].tolist()
        return DrawnQuery(response, other, tuple(given), int(random.integers(levels)) if self.masked else None)


def all_questions(data: Dataset, largest_given: int) -> tuple[QueryClass, ...]:
    """One question for every class of pair and every number of conditions; two numbers also inside one context."""
    by_name = sorted(data.system, key=data.names.__getitem__)
    pools = {kind: tuple(i for i in by_name if data.kinds[i] is kind) for kind in WORDS}
    present = [kind for kind in WORDS if pools[kind]]
    classes: list[tuple[str, tuple[int, ...], tuple[int, ...], bool]] = []
    if data.context is not None:
        classes += [(f"context against {_one(kind)}", pools[kind], (data.context,), False) for kind in present]
    for place, first in enumerate(present):
        for second in present[place:]:
            if first is not second or len(pools[first]) > 1:
                classes.append((_pair(first, second), pools[second], pools[first], False))
    numbers = pools[Kind.CONTINUOUS]
    if data.context is not None and len(numbers) > 1:
        classes.append(("two numbers in one context", numbers, numbers, True))
    return tuple(
        QueryClass(pair, responses, others, tuple(by_name), size, masked)
        for pair, responses, others, masked in classes
        for size in range(min(largest_given, len(data.system) - (1 if others == (data.context,) else 2)) + 1)
    )


def one_question(data: Dataset, x: str, y: str, given: Sequence[str]) -> QueryClass:
    """The question that is asked about these columns; neither the order of x and y nor that of `given` matters."""
    if isinstance(given, str):
        raise OptionError(f"given is {given!r}, expected a sequence of column names, such as [{given!r}]")
    endpoints = tuple(data.position(str(name)) for name in (x, y))
    conditions = tuple(data.position(name) for name in sorted(map(str, given)))
    chosen = (*endpoints, *conditions)
    repeated = next((column for column in chosen if chosen.count(column) > 1), None)
    if repeated is not None:
        raise OptionError(f"{data.names[repeated]!r} is named twice; x, y and given are different columns")
    responses: tuple[int, ...]
    others: tuple[int, ...]
    first, second = sorted(endpoints, key=lambda end: (_rank(data, end), data.names[end]))
    if _rank(data, first) == _rank(data, second):
        responses = others = (first, second)
    else:
        responses, others = (second,), (first,)
    key = json.dumps([sorted(data.names[end] for end in endpoints), [data.names[column] for column in conditions]])
    return QueryClass(f"{x} against {y}", responses, others, conditions, len(conditions), fixed=True, key=key)


def check_named(x: str | None, y: str | None, given: Sequence[str] | None) -> None:
    """Return if a query is named as a whole, or not at all."""
    if (x is None) != (y is None):
        found, other = ("x", "y") if y is None else ("y", "x")
        raise OptionError(
            f"{found} is {(x or y)!r} but there is no {other}; name both, or neither for all kinds of pair"
        )
    if x is None and given is not None:
        raise OptionError("given is for a pair that is named; name x and y too, or leave it out")


def _rank(data: Dataset, column: int) -> int:
    """The context is never the response; a number is, rather than a category."""
    return -1 if column == data.context else list(WORDS).index(data.kinds[column])


def _pair(first: Kind, second: Kind) -> str:
    if first is second:
        return f"two {PLURALS.get(WORDS[first], WORDS[first] + 's')}"
    return f"{WORDS[first]} against {_one(second)}"


def _one(kind: Kind) -> str:
    return f"{'an' if WORDS[kind][0] in 'aeiou' else 'a'} {WORDS[kind]}"
