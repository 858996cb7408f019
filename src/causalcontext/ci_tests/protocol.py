"""The seam between a search and a test: a test is prepared once for a table, then answers batches
of queries.

A test *declares* what it can do; nothing is found out by its name. What a test declares of its
assumptions: `TRAITS`. What a prepared test declares:
the names of the tests that may answer, with what their statistics mean (`labels`), and whether a
kernel answers whole levels for it, on moments (`gaussian`) or on codes (`tables`), and about which
pairs (`compiled_roles`). `Declared` is a base class with the declarations of a plain test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from causalcontext.views import CIQuery, Outcomes, Reason

if TYPE_CHECKING:
    from causalcontext.ci_tests.contingency import PreparedTables
    from causalcontext.ci_tests.gaussian import PreparedGaussian
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.sufficient_statistics import SufficientStatistics

Key = TypeVar("Key")


class Needs(StrEnum):
    """The part of a table that a test looks at."""

    MOMENTS = "moments"
    ROWS = "rows"


@runtime_checkable
class PreparedTest(Protocol):
    """A test that has seen the table: a pure function of the query."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """The tests that may answer; an outcome says which did by its place here."""

    @property
    def gaussian(self) -> PreparedGaussian | None:
        """The linear-Gaussian test whose kernel answers whole levels, if there is one."""

    @property
    def tables(self) -> PreparedTables | None:
        """The test on counts whose kernel answers whole levels, if there is one."""

    @property
    def compiled_roles(self) -> tuple[int, ...]:
        """With how many context variables in a pair that kernel answers: none, one, two."""

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order; never an exception for a query that cannot be
        run.
        """


@runtime_checkable
class IndependenceTest(Protocol):
    """The protocol of `discover(..., test=...)`: a name, and a way to look at the table once."""

    @property
    def name(self) -> str:
        """The name of the test in settings and logs."""

    def prepare(self, data: Dataset, statistics: SufficientStatistics) -> PreparedTest:
        """The test for this table. `statistics` holds the moments of every cell, from one pass over
        the rows.
        """


TRAITS = ("model_free", "sees_curves", "transforms")
"""The properties that a test may declare of itself, each as an attribute that is true. The model
checks ask for what it leaves open.

- `model_free`: it assumes nothing but independent rows, of two numbers too.
- `sees_curves`: of two numbers it sees curves of one column; products of two it does not.
- `transforms`: it looks at normal scores of the numbers, so that monotone scales do not matter.
"""


def declared_traits(test: object) -> tuple[str, ...]:
    """The traits that a test declares; of a test made of others, those of the first of them."""
    members = getattr(test, "members", ())
    head = members[0] if members else test
    return tuple(trait for trait in TRAITS if getattr(head, trait, False))


class Declared:
    """The declarations of a prepared test that answers batches of queries and nothing else."""

    labels: tuple[Label, ...] = ()
    gaussian: PreparedGaussian | None = None
    tables: PreparedTables | None = None
    compiled_roles: tuple[int, ...] = ()


class Plain(Declared):
    """A prepared test of one's own that has no more than a method `answer`."""

    def __init__(self, name: str, prepared: PreparedTest) -> None:
        self.labels = (Label(name),)
        self._prepared = prepared

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order; the name of the test is all that is known about
        it.
        """
        return replace(self._prepared.answer(queries), label=None)


def prepared_test(
    test: IndependenceTest, data: Dataset, statistics: SufficientStatistics
) -> PreparedTest:
    """The test for a table, with every declaration that a search relies on."""
    prepared = test.prepare(data, statistics)
    return (
        prepared if isinstance(prepared, (Declared, PreparedTest)) else Plain(test.name, prepared)
    )


def grouped(
    queries: Sequence[CIQuery], key: Callable[[CIQuery], Key | None]
) -> dict[Key, list[int]]:
    """The places of the queries by a key; those without one are in no group."""
    groups: dict[Key, list[int]] = {}
    for number, query in enumerate(queries):
        query_key = key(query)
        if query_key is not None:
            groups.setdefault(query_key, []).append(number)
    return groups


def no_outcomes(count: int) -> Outcomes:
    """Outcomes of so many queries that no test has answered."""
    statistic, df, p = np.full((3, count), np.nan)
    reason = np.full(count, Reason.NO_TEST, dtype=np.int8)
    return Outcomes(
        statistic, df, p, np.zeros(count, dtype=np.int64), reason, np.zeros(count, dtype=np.int8)
    )


def put(
    outcomes: Outcomes,
    places: Sequence[int] | slice,
    group_outcomes: Outcomes,
    first_label: int = 0,
) -> None:
    """Write outcomes down at their places among others, labels counted from the first one."""
    outcomes.statistic[places] = group_outcomes.statistic
    outcomes.df[places] = group_outcomes.df
    outcomes.p[places] = group_outcomes.p
    outcomes.n[places] = group_outcomes.n
    outcomes.reason[places] = group_outcomes.reason
    if outcomes.label is not None:
        outcomes.label[places] = first_label + (
            0 if group_outcomes.label is None else group_outcomes.label
        )


class Strength(StrEnum):
    """The rule that turns a statistic into the strength of a dependence, on the scale of a
    correlation.
    """

    CORRELATION = "correlation"
    """It is one."""
    INFORMATION = "information"
    """It is a conditional mutual information."""
    RATIO = "ratio"
    """It is twice a difference of log-likelihoods, or grows with the rows as these do."""
    NONE = "none"
    """It has no scale of its own."""


class Label(NamedTuple):
    """The name of a test, and what its statistic means."""

    name: str
    strength: Strength = Strength.RATIO

    def strength_of(self, statistic: float, n: int) -> float:
        """The correlation itself, or that of two Gaussian columns with as much information; NaN for
        none.

        >>> round(Label("context-change").strength_of(-100 * math.log(1 - 0.3**2), 100), 6)
        0.3
        """
        if self.strength is Strength.CORRELATION:
            return statistic
        if self.strength is Strength.INFORMATION:
            return math.sqrt(-math.expm1(-2.0 * max(statistic, 0.0)))
        return (
            math.nan
            if self.strength is Strength.NONE
            else math.sqrt(-math.expm1(-abs(statistic) / max(n, 1)))
        )
