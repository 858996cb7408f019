"""From a table to a prepared test: one pass over the rows, and what is done about missing values.

Test by test, every query uses the rows that are complete in its own columns. Queries with missing
values in the same columns share their rows, and with them a prepared test. Rows without a context
are left out of everything.

By a model, tests of moments see expected moments of as many rows as the information about a query
is worth, so does what `robust-change` asks about means and slopes; other tests see completed
tables, whose answers are pooled.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy

from causalcontext.ci_tests import protocol
from causalcontext.ci_tests.change import PreparedChange, change_of_moments
from causalcontext.ci_tests.gaussian import PreparedGaussian
from causalcontext.ci_tests.partial_correlation import LinearGaussian
from causalcontext.ci_tests.protocol import (
    Declared,
    IndependenceTest,
    Label,
    PreparedTest,
    Strength,
    prepared_test,
)
from causalcontext.ci_tests.registry import PreparedComposite
from causalcontext.ci_tests.rows import Comparison
from causalcontext.ci_tests.settings import LOOK_BELOW, MOST_PREPARED, NEAR_CHI_SQUARED
from causalcontext.data.checks import check_none_infinite, check_statistics
from causalcontext.data.columns import Kind
from causalcontext.data.completion import POOLED, Completed, complete
from causalcontext.data.dataset import Dataset, missing_rows, some_rows, with_placeholders
from causalcontext.data.moments import Moments
from causalcontext.data.sufficient_statistics import (
    SufficientStatistics,
    drop_empty_cells,
    gather_statistics,
)
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.limits import SPARE_ROWS
from causalcontext.kernels.rows.robust_change import Parts
from causalcontext.views import CIQuery, Outcomes, Reason

Preparation = tuple[Dataset, SufficientStatistics, PreparedTest]
"""A checked table without empty contexts, its moments, and the test for it."""


def prepare(
    data: Dataset,
    test: IndependenceTest,
    missing: str,
    statistics: SufficientStatistics | None = None,
    tested: bool = True,
    seed: int = 0,
    completions: int = POOLED,
) -> Preparation:
    """The table and the prepared test that a search begins with, unless `check_statistics` says
    that the table cannot be searched.

    `statistics` are those of all rows, where `data` are only some of them. With `tested` the method
    tests, so that an error may advise to drop rows test by test. `completions` of a table whose
    missing cells are modelled are drawn by `seed`.
    """
    gaps = missing_rows(data) if missing == "testwise" and statistics is None else {}
    statistics = gather_statistics(data, missing) if statistics is None else statistics
    if gaps:
        return _prepare_testwise(data, statistics, test, gaps)
    if missing == "model" and (statistics.missing.any() or statistics.missing_context):
        return _prepare_model(data, statistics, test, seed, completions)
    check_statistics(statistics, data, missing, tested)
    data, statistics = drop_empty_cells(data, statistics)
    return data, statistics, prepared_test(test, data, statistics)


def _prepare_testwise(
    data: Dataset, observed: SufficientStatistics, test: IndependenceTest, gaps: Mapping[int, Bools]
) -> Preparation:
    """The same with missing values: only rows without a context are dropped."""
    filled = with_placeholders(data, gaps)
    statistics = gather_statistics(filled)
    infinite = replace(statistics, infinite=observed.infinite)
    check_statistics(infinite, data, "listwise")
    statistics = replace(statistics, missing=observed.missing, fingerprint=observed.fingerprint)
    kept, statistics = drop_empty_cells(data, statistics)
    columns = [
        kept.columns[i] if i in kept.contexts.positions else c for i, c in enumerate(filled.columns)
    ]
    filled = replace(kept, columns=tuple(columns))
    return kept, statistics, PreparedTestwise(test, filled, statistics, gaps)


def _prepare_model(
    data: Dataset,
    observed: SufficientStatistics,
    test: IndependenceTest,
    seed: int,
    completions: int,
) -> Preparation:
    """The same with missing values that are modelled: no row is dropped."""
    check_none_infinite(observed, data)
    completed = complete(data, seed, completions)
    first = completed.table(0)
    statistics = gather_statistics(first)
    check_statistics(statistics, first)
    statistics = replace(
        statistics,
        moments=completed.moments,
        missing=observed.missing,
        fingerprint=observed.fingerprint,
    )
    return first, statistics, PreparedCompletions(test, completed)


class PreparedCompletions(Declared):
    """A test of a table whose missing cells are modelled.

    A test of moments answers by expected moments, with as many rows as the information is worth
    that is left about the columns of the query. Any other test answers for every completed table,
    and the answers are pooled.
    """

    def __init__(self, test: IndependenceTest, completed: Completed) -> None:
        self.completed = completed
        self._test = test
        self._first = self._prepared(completed.table(0))
        self.labels = self._first.labels
        self._place = {position: number for number, position in enumerate(completed.given.system)}
        self._by_rows: dict[tuple[int, int], PreparedGaussian] = {}

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order; `n` says how many rows the information is
        worth.
        """
        outcomes = protocol.no_outcomes(len(queries))
        for (kind, percent, offset), chosen in protocol.grouped(queries, self._by_moments).items():
            group_outcomes = self._of_moments(kind, percent).answer([queries[i] for i in chosen])
            protocol.put(outcomes, chosen, group_outcomes, offset)
        others = [i for i, query in enumerate(queries) if self._by_moments(query) is None]
        changes = {i: self._change(queries[i]) for i in others}
        for i, change in changes.items():
            if change is not None:
                answer, rows, offset = change
                change_outcome = Outcomes(
                    np.array([answer.statistic]),
                    np.array([answer.df]),
                    np.array([answer.p]),
                    np.array([rows]),
                    np.zeros(1, dtype=np.int8),
                )
                protocol.put(outcomes, [i], change_outcome, offset)
        others = [i for i, change in changes.items() if change is None]
        if others:
            asked = [queries[i] for i in others]
            answers = [prepared.answer(asked) for prepared in self._each]
            protocol.put(outcomes, others, pooled(answers, self.labels))
        return outcomes

    def _change(self, query: CIQuery) -> tuple[Comparison, int, int] | None:
        """The answers of `robust-change` about a context and a number given numbers, by how many
        rows, and its first label.

        Means and slopes are compared by expected moments, with the rows that the information about
        the number given the others is worth; spreads, and the logit if most tables open the gate,
        by pooled p-values. None if another test answers, or there is more among the columns.
        """
        contexts = self.completed.given.contexts
        ends = [end for end in (query.x, query.y) if end in contexts.positions]
        columns = [*sorted(query.given), *(end for end in (query.x, query.y) if end not in ends)]
        if len(ends) != 1 or not all(self._is_completed_number(z) for z in columns):
            return None
        parts = self._parts_of_change(query)
        if parts is None:
            return None
        classes = self._moments_of_classes(query, ends, columns)
        if len(classes) < 2:
            return None
        spreads = np.array([[part.variance, part.gaussian_variance] for part in parts])
        answer = change_of_moments(classes, float(pooled_p(spreads, np.ones(2)).max()))
        if not np.isfinite(answer.p):
            return None
        logits = np.array([[part.logit] for part in parts if not np.isnan(part.logit)])
        if answer.p < LOOK_BELOW and 2 * len(logits) > len(parts):
            answer = answer._replace(p=max(answer.p, float(pooled_p(logits, np.ones(1))[0])))
        rows = sum(int(moments.rows[0]) for moments in classes)
        first = self._first
        member = first.member_of(query) if isinstance(first, PreparedComposite) else None
        return answer, rows, 0 if member is None else member[1]

    def _is_completed_number(self, column: int) -> bool:
        """True for a continuous column of the model that completes the table."""
        return column in self._place and self.completed.given.kinds[column] is Kind.CONTINUOUS

    def _parts_of_change(self, query: CIQuery) -> list[Parts] | None:
        """The parts of `robust-change` on every completed table; None if one of them has another
        test, or cannot run it.
        """
        parts = []
        for prepared in self._each:
            test = prepared.of(query) if isinstance(prepared, PreparedComposite) else prepared
            of_table = test.parts(query) if isinstance(test, PreparedChange) else None
            if of_table is None or of_table.reason:
                return None
            parts.append(of_table)
        return parts

    def _moments_of_classes(
        self, query: CIQuery, ends: Sequence[int], columns: Sequence[int]
    ) -> list[Moments]:
        """The expected moments of the columns in every class of the context, for classes of enough
        rows.

        Rows count for the share of information that the missing cells leave about the last column
        given the others.
        """
        contexts = self.completed.given.contexts
        places = [self._place[column] for column in columns]
        share = self.completed.information.share(
            places[-1], places[-1], places[:-1], contexts.members(query.view)
        )
        moments = self.completed.moments.counted_for(share / self.completed.share)
        classes = [
            moments.merged(contexts.members(part)).of(places)
            for part in contexts.parts(query.view, ends)
        ]
        fewest = len(columns) + SPARE_ROWS
        return [of_class for of_class in classes if of_class.rows[0] >= fewest]

    @cached_property
    def _each(self) -> list[PreparedTest]:
        """The test for every completed table."""
        return [
            self._first,
            *(self._prepared(table) for table in self.completed.tables(POOLED)[1:]),
        ]

    def _prepared(self, table: Dataset) -> PreparedTest:
        return prepared_test(self._test, table, gather_statistics(table))

    def _by_moments(self, query: CIQuery) -> tuple[int, int, int] | None:
        """The kind of a test of moments, what is left of the information in percent, and the place
        of its labels.
        """
        first = self._first
        offset = 0
        if isinstance(first, PreparedComposite):
            member = first.member_of(query)
            if member is None or not isinstance(member[0], LinearGaussian):
                return None
            kind = member[0].kind
            offset = member[1]
        elif isinstance(first, PreparedGaussian):
            kind = first.kind
        else:
            return None
        system = [self._place[end] for end in (query.x, query.y) if end in self._place]
        if not system:
            return kind, round(100.0 * self.completed.share), offset
        given = [self._place[z] for z in query.given if z in self._place]
        cells = self.completed.given.contexts.members(query.view)
        left = self.completed.information.share(system[0], system[-1], sorted(given), cells)
        return kind, max(round(100.0 * left), 1), offset

    def _of_moments(self, kind: int, percent: int) -> PreparedGaussian:
        if (kind, percent) not in self._by_rows:
            data = self.completed.table(0)
            worth = percent / 100.0 / self.completed.share
            statistics = replace(
                self._statistics, moments=self.completed.moments.counted_for(worth)
            )
            self._by_rows[kind, percent] = PreparedGaussian(
                statistics.of_columns(data), data.contexts, kind
            )
        return self._by_rows[kind, percent]

    @cached_property
    def _statistics(self) -> SufficientStatistics:
        return gather_statistics(self.completed.table(0))


def pooled(answers: Sequence[Outcomes], labels: Sequence[Label]) -> Outcomes:
    """The answers for completed tables as one: the statistic D2 of Li, Meng, Raghunathan and Rubin
    (1991).

    Every p-value stands for a chi-squared statistic; what these differ by between the tables is
    what is not known.
    """
    first = answers[0]
    statistic = np.mean([outcomes.statistic for outcomes in answers], axis=0)
    rows = np.mean([outcomes.n for outcomes in answers], axis=0)
    reason = np.max([outcomes.reason for outcomes in answers], axis=0).astype(np.int8)
    label = np.zeros(len(first.p), dtype=np.int8) if first.label is None else first.label
    ratio = np.array(
        [not labels or labels[code].strength is Strength.RATIO for code in label], dtype=bool
    )
    # of Student's t and of F the degrees of freedom are others: these p-values stand for one
    statistic_df = np.where(np.isfinite(first.df), np.maximum(first.df, 1.0), 1.0)
    away = np.mean(
        [
            np.abs(scipy.special.chdtrc(statistic_df, np.abs(outcomes.statistic)) - outcomes.p)
            for outcomes in answers
        ],
        axis=0,
    )
    df = np.where(ratio & (away < NEAR_CHI_SQUARED), statistic_df, 1.0)
    p = pooled_p(np.array([outcomes.p for outcomes in answers]), df)
    untestable = reason != Reason.TESTABLE
    statistic = np.where(untestable, np.nan, statistic)
    p = np.where(untestable, np.nan, p)
    return Outcomes(statistic, first.df, p, rows.astype(np.int64), reason, first.label)


def pooled_p(p: Floats, df: Floats) -> Floats:
    """D2 of p-values that stand for chi-squared statistics; shapes (tables, queries) and
    (queries,).
    """
    count = len(p)
    if count == 1:
        return np.asarray(p[0])
    chi = scipy.special.chdtri(df, np.clip(p, 1e-300, 1.0))
    between = (1.0 + 1.0 / count) * np.var(np.sqrt(chi), axis=0, ddof=1)
    value = (chi.mean(axis=0) / df - (count + 1.0) / (count - 1.0) * between) / (1.0 + between)
    spare = df ** (-3.0 / count) * (count - 1.0) * (1.0 + 1.0 / np.maximum(between, 1e-6)) ** 2
    return np.asarray(
        np.where(value > 0.0, scipy.special.fdtrc(df, spare, np.maximum(value, 0.0)), 1.0)
    )


class PreparedTestwise(Declared):
    """A test that is prepared anew for every set of incomplete columns that queries ask about.

    `data` has a placeholder wherever a value is missing, `missing` the rows in which a column has
    none.
    """

    def __init__(
        self,
        test: IndependenceTest,
        data: Dataset,
        statistics: SufficientStatistics,
        missing: Mapping[int, Bools],
    ) -> None:
        self.test = test
        self.data = data
        self.missing = missing
        self._prepared: OrderedDict[frozenset[int], PreparedTest] = OrderedDict()
        self._prepared[frozenset()] = everywhere = prepared_test(test, data, statistics)
        self.labels = everywhere.labels

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order; `n` says how many rows were complete."""
        outcomes = protocol.no_outcomes(len(queries))
        gaps = self.missing.keys()
        incomplete = protocol.grouped(
            queries, lambda query: frozenset(gaps & {query.x, query.y, *query.given})
        )
        for columns, chosen in incomplete.items():
            protocol.put(outcomes, chosen, self._of(columns).answer([queries[i] for i in chosen]))
        return outcomes

    def _of(self, columns: frozenset[int]) -> PreparedTest:
        """The test prepared for the rows that are complete in these columns."""
        if columns not in self._prepared:
            complete = ~np.any([self.missing[column] for column in columns], axis=0)
            part = some_rows(self.data, complete)
            self._prepared[columns] = prepared_test(self.test, part, gather_statistics(part))
            if len(self._prepared) > MOST_PREPARED:
                self._prepared.popitem(last=False)
        self._prepared.move_to_end(columns)
        return self._prepared[columns]
