"""Tests of one's own, the choice by kinds, and missing values test by test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
import naive
from causalcontext.ci_tests.gaussian import PreparedGaussian
from causalcontext.ci_tests.preparation import prepare
from causalcontext.ci_tests.protocol import Declared
from causalcontext.ci_tests.registry import find_test
from causalcontext.ci_tests.rows import Comparison, PreparedRows, RowTest, Variable
from causalcontext.data.columns import Kind
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.search.batched_search import BatchedSearch
from causalcontext.search.level_search import SplitSearch
from causalcontext.views import CIQuery, Reason


@dataclass(frozen=True)
class RankCorrelation(RowTest):
    """Spearman's correlation of two numbers with nothing given; what else there is, is answered by
    `auto`.
    """

    name: str = "spearman"

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        return x.is_number and y.is_number and not given

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        found = stats.spearmanr(x.values, y.values)
        return Comparison(float(found.statistic), np.nan, float(found.pvalue))


@dataclass(frozen=True)
class Drawn(RowTest):
    """A p-value out of a hat, to see which hat."""

    name: str = "drawn"
    seed: int = 0

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        return Comparison(0.0, np.nan, float(random.random()))


def soil(n: int = 400, seed: int = 3) -> pd.DataFrame:
    return cc.examples.soil_moisture(n, seed=seed)


def test_a_test_of_ones_own_answers_what_it_takes_and_auto_the_rest() -> None:
    result = cc.discover(soil(), context="soil", test=RankCorrelation(), method="pc-ac")
    tests = result.tests()
    plain = tests.query("test == 'spearman'")
    assert len(plain)
    assert all(len(given) == 0 for given in plain["given"])
    row = plain.iloc[0]
    columns = (
        soil()[soil()["soil"] == row["rows"].removeprefix("soil=")]
        if "=" in row["rows"]
        else soil()
    )
    assert row["p"] == pytest.approx(stats.spearmanr(columns[row["x"]], columns[row["y"]]).pvalue)
    assert set(tests["test"]) > {"spearman", "partial-correlation"}


def test_random_numbers_follow_the_names_and_not_the_order() -> None:
    table = soil(60)
    orders = [list(table), list(table)[::-1]]
    answers = []
    for order in orders:
        data = read_table(table[order], "soil")
        prepared = PreparedRows(Drawn(seed=1), data)
        place = {name: data.position(name) for name in table}
        names = [name for name in table if name != "soil"]
        queries = [
            CIQuery(place[names[0]], place[names[1]], (place[names[2]], place["soil"])),
            CIQuery(place[names[1]], place[names[0]], (place["soil"], place[names[2]])),
            CIQuery(place[names[0]], place[names[1]], (place[names[2]],), 1),
        ]
        answers.append(prepared.answer(queries).p)
    assert np.array_equal(answers[0], answers[1])
    assert answers[0][0] == answers[0][1] != answers[0][2]
    other = PreparedRows(Drawn(seed=2), read_table(table, "soil")).answer([CIQuery(0, 1, ())]).p
    assert (
        other
        != PreparedRows(Drawn(seed=1), read_table(table, "soil")).answer([CIQuery(0, 1, ())]).p
    )


def test_the_seed_of_discover_reaches_the_test() -> None:
    logs = [
        cc.discover(soil(60), context="soil", test=Drawn(), seed=seed, method="pc-ac").tests()["p"]
        for seed in (1, 1, 2)
    ]
    assert logs[0].equals(logs[1])
    assert not logs[0].equals(logs[2])


def test_threads_do_not_change_the_answers() -> None:
    logs = [
        cc.discover(soil(60), context="soil", test=Drawn(), n_jobs=jobs, method="pc-ac").tests()
        for jobs in (1, 3)
    ]
    pd.testing.assert_frame_equal(*logs)


def test_constant_columns_are_untestable_and_constant_conditions_harmless() -> None:
    table = pd.DataFrame(
        {
            "x": np.arange(40.0),
            "y": np.arange(40.0) % 7,
            "z": [1.0] * 20 + [2.0, 3.0] * 10,
            "R": ["a"] * 20 + ["b"] * 20,
        }
    )
    data = read_table(table, "R")
    prepared = PreparedRows(RankCorrelation(), data)
    inside = 1
    found = prepared.answer(
        [CIQuery(0, 2, (), inside), CIQuery(0, 1, (2,), inside), CIQuery(0, 1, (), inside)]
    )
    assert found.reason.tolist() == [Reason.CONSTANT, Reason.TESTABLE, Reason.TESTABLE]
    assert found.p[1] == found.p[2]
    assert found.n.tolist() == [20, 20, 20]


class Choosing(Declared):
    """`partial-correlation`, but through batches for pairs at the context."""

    compiled_roles = (0,)

    def __init__(self, prepared: PreparedGaussian) -> None:
        self.gaussian, self.labels, self.answer = prepared, prepared.labels, prepared.answer


@pytest.mark.parametrize("seed", range(3))
def test_a_split_search_finds_what_the_compiled_one_finds(seed: int) -> None:
    from causalcontext.knowledge import Knowledge
    from causalcontext.results.log import CITestLog
    from causalcontext.search.algorithm import algorithm_1
    from causalcontext.search.plan import Plan
    from causalcontext.views import adaptive

    data = read_table(soil(300, seed), "soil")
    prepared = find_test("partial-correlation").prepare(data, gather_statistics(data))
    plan = Plan(
        len(data.names), data.contexts, adaptive, (0, 1), Knowledge().links(data.names), 0.05, 9
    )
    searches = [
        SplitSearch(Choosing(prepared)),
        SplitSearch(prepared),
        BatchedSearch(prepared, n_jobs=2),
    ]
    found = [
        algorithm_1(search, plan, jobs, lambda *_: None) for jobs, search in enumerate(searches, 1)
    ]
    logs = [CITestLog.from_sepsets(plan, each.sepsets, 2, prepared.labels) for each in found]
    for other, log in zip(found[1:], logs[1:], strict=True):
        assert np.array_equal(found[0].endpoints, other.endpoints)
        for numbers in ("p", "statistic", "df"):
            assert np.allclose(getattr(logs[0], numbers), getattr(log, numbers), equal_nan=True)


def holey(seed: int = 0) -> pd.DataFrame:
    """A table with values missing at random in two columns."""
    table = soil(300, seed)
    generator = np.random.default_rng(seed)
    for name in list(table.columns.drop("soil"))[:2]:
        table.loc[generator.random(len(table)) < 0.2, name] = np.nan
    return table


def test_testwise_uses_the_rows_that_are_complete_in_the_columns_of_the_trial() -> None:
    table = holey()
    data, _, prepared = prepare(
        read_table(table, "soil"), find_test("partial-correlation"), "testwise"
    )
    system = list(data.system)
    values = table[[data.names[i] for i in system]].to_numpy(dtype=float)
    for x, y, given in ((0, 1, ()), (0, 2, (1,)), (2, 3, ()), (2, 3, (0,))):
        columns = [x, y, *given]
        complete = np.isfinite(values[:, columns]).all(axis=1)
        expected = naive.partial_correlation(values[complete], x, y, given)
        found = prepared.answer([CIQuery(system[x], system[y], tuple(system[z] for z in given))])
        assert found.n[0] == complete.sum()
        assert found.p[0] == pytest.approx(expected[3])
        assert found.statistic[0] == pytest.approx(expected[0])


def test_testwise_at_the_context_and_inside_it() -> None:
    table = holey(1)
    data, _, prepared = prepare(
        read_table(table, "soil"), find_test("partial-correlation"), "testwise"
    )
    system = list(data.system)
    values = table[[data.names[i] for i in system]].to_numpy(dtype=float)
    complete = np.isfinite(values[:, [0, 3]]).all(axis=1)
    expected = naive.context_change(values[complete], data.codes[complete], 0, (3,))
    found = prepared.answer([CIQuery(data.context, system[0], (system[3],))])
    assert found.p[0] == pytest.approx(expected[2])
    inside = complete & (data.codes == 1)
    expected = naive.partial_correlation(values[inside], 0, 3, ())
    found = prepared.answer([CIQuery(system[0], system[3], (), 2)])
    assert (found.n[0], found.p[0]) == (inside.sum(), pytest.approx(expected[3]))


def test_testwise_says_what_it_did() -> None:
    table = holey(2)
    result = cc.discover(table, context="soil", missing="testwise", method="pc-ac")
    assert result.data.rows == tuple((table["soil"] == value).sum() for value in result.contexts)
    assert "itself a selection" in result.warnings[0]
    assert result.tests().query("rows == 'pooled'")["n"].nunique() > 1
    complete = cc.discover(soil(300, 2), context="soil", missing="testwise", method="pc-ac")
    assert complete.warnings == ()
    assert complete.graphs == cc.discover(soil(300, 2), context="soil", method="pc-ac").graphs


def test_testwise_does_not_depend_on_the_order_of_columns() -> None:
    table = holey(4)
    graphs = [
        cc.discover(table[order], context="soil", missing="testwise", method="pc-ac").union
        for order in (list(table), list(table)[::-1])
    ]
    names = list(table)
    assert all(graphs[0].mark(a, b) == graphs[1].mark(a, b) for a in names for b in names if a != b)


def test_testwise_survives_stability_and_diagnosis() -> None:
    result = cc.discover(holey(5), context="soil", missing="testwise", method="pc-ac")
    assert result.diagnose() is not None
    assert result.stability(samples=3).samples == 3


def test_a_column_without_any_value_is_left_out_and_an_error_if_it_is_kept() -> None:
    table = holey()
    empty = table.columns[0]
    table[empty] = np.nan
    options = {"context": "soil", "missing": "testwise", "method": "pc-ac"}
    result = cc.discover(table, **options)
    assert [str(left) for left in result.left_out] == [f"{empty} has no value in any row"]
    with pytest.raises(cc.DataError, match=f"no value in any row of '{empty}'"):
        cc.discover(table, **options, keep=[empty])
