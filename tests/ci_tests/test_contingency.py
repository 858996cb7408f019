"""Tests of counts: against a twin by pandas and scipy on random tables, and as a kernel for whole
levels against the same test query by query.
"""

from __future__ import annotations

import threading
import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
import naive_mixed
from causalcontext.ci_tests.contingency import ChiSquared, GSquared, PreparedTables
from causalcontext.ci_tests.registry import find_test
from causalcontext.ci_tests.settings import FEWEST_TABLE_ROWS, ROWS_PER_CELL
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.kernels.levels import contingency
from causalcontext.knowledge import Knowledge
from causalcontext.progress import OutOfTime, Watch, nobody
from causalcontext.results.log import CITestLog
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.batched_search import BatchedSearch
from causalcontext.search.level_search import SplitSearch, TableSearch
from causalcontext.search.plan import Plan
from causalcontext.views import CIQuery, Reason, adaptive, masked, pooled

TESTS = {"log-likelihood": GSquared(), "pearson": ChiSquared()}


def prepared_of(table: pd.DataFrame, test=TESTS["log-likelihood"], context=None) -> PreparedTables:
    kinds = dict.fromkeys(set(table) - {context}, "categorical")
    data = read_table(table, context, kinds)
    prepared = test.prepare(data, gather_statistics(data))
    assert isinstance(prepared, PreparedTables)
    return prepared


def random_codes(random: np.random.Generator, rows: int, levels: list[int]) -> pd.DataFrame:
    """Columns of codes, each of which leans on the one before; some levels are rare, or missing."""
    columns = [random.choice(levels[0], rows, p=random.dirichlet(np.ones(levels[0])))]
    for count in levels[1:]:
        own = random.choice(count, rows, p=random.dirichlet(np.full(count, 0.7)))
        follows = random.random(rows) < random.choice([0.0, 0.3])
        columns.append(np.where(follows, columns[-1] % count, own))
    return pd.DataFrame({f"V{j}": codes for j, codes in enumerate(columns)})


@pytest.mark.parametrize("of", TESTS)
@pytest.mark.parametrize("seed", range(40))
def test_counts_are_those_of_the_twin(seed: int, of: str) -> None:
    """Tables with empty cells, strata of one row, levels that occur once and permuted levels."""
    random = np.random.default_rng(seed)
    rows = int(random.choice([25, 60, 400, 3000]))
    size = int(random.integers(0, 4))
    most = 4 if rows > 25 else 3
    levels = random.integers(2, most, size=2 + size).tolist()
    table = random_codes(random, rows, levels)
    if (table.nunique() < 2).any():
        pytest.skip("a column is constant")
    x, y, *given = (table[name].to_numpy(dtype=float) for name in table)
    tables = naive_mixed.strata_that_count(x, y, given)
    counted = sum(each.sum() for each in tables)
    thin = counted < ROWS_PER_CELL * sum(map(np.size, tables))
    query = [CIQuery(0, 1, tuple(range(2, 2 + size)))]
    answer = prepared_of(table, TESTS[of]).answer(query)
    assert answer.n[0] == rows
    if counted < FEWEST_TABLE_ROWS:
        assert answer.reason[0] == Reason.FEW_ROWS
        return
    if thin and max(each.sum() for each in tables) > 25:
        pytest.skip("too many tables have these margins to list them")
    statistic, df, p = naive_mixed.table_test(x, y, given, of, ROWS_PER_CELL)
    assert answer.df[0] == df
    assert answer.statistic[0] == pytest.approx(statistic, rel=1e-9, abs=1e-9)
    assert answer.p[0] == pytest.approx(p, abs=1e-9)
    renamed = table.apply(lambda codes: random.permutation(9)[codes])
    shuffled = renamed.sample(frac=1.0, random_state=seed)
    again = prepared_of(shuffled, TESTS[of]).answer([CIQuery(1, 0, query[0].given[::-1])])
    assert again.p[0] == pytest.approx(answer.p[0], abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_moments_are_those_of_permutations(seed: int) -> None:
    """The law of a thin table is that of its permutations, where these are too many to list."""
    random = np.random.default_rng(seed)
    x = random.choice(5, 90, p=random.dirichlet(np.ones(5)))
    y = random.choice(4, 90, p=random.dirichlet(np.ones(4)))
    z = random.integers(0, 4, 90)

    def p_of(first: np.ndarray) -> tuple[float, float]:
        found = prepared_of(pd.DataFrame({"x": first, "y": y, "z": z})).answer(
            [CIQuery(0, 1, (2,))]
        )
        return float(found.statistic[0]), float(found.p[0])

    order = np.argsort(z, kind="stable")
    statistics = []
    ps = []
    for _ in range(400):
        permuted = x.copy()
        for level in range(4):
            rows = order[z[order] == level]
            permuted[rows] = x[random.permutation(rows)]
        statistic, p = p_of(permuted)
        statistics.append(statistic)
        ps.append(p)
    assert stats.kstest(ps, "uniform").pvalue > 1e-4
    middle = float(np.median(statistics))
    share = np.mean(np.array(statistics) >= middle)
    near = min(range(400), key=lambda k: abs(statistics[k] - middle))
    assert ps[near] == pytest.approx(share, abs=0.08)


@pytest.mark.parametrize("levels", [(3, 300, 2), (150, 150, 2), (4, 40, 60)])
def test_many_levels_are_counted_stratum_by_stratum(levels: tuple[int, int, int]) -> None:
    random = np.random.default_rng(1)
    table = pd.DataFrame({f"V{j}": random.integers(0, k, 2000) for j, k in enumerate(levels)})
    x, y, z = (table[name].to_numpy(dtype=float) for name in table)
    answer = prepared_of(table).answer([CIQuery(0, 1, (2,))])
    expected = naive_mixed.strata_that_count(x, y, [z])
    found = [stats.chi2_contingency(each, correction=False) for each in expected]
    assert answer.statistic[0] == pytest.approx(sum(each.statistic for each in found), rel=1e-9)
    assert answer.df[0] == sum(each.dof for each in found)
    assert 1e-6 < answer.p[0] < 1.0


def test_a_hundred_strata_of_many_conditions() -> None:
    """More combinations of conditions than can be numbered at once."""
    random = np.random.default_rng(2)
    table = pd.DataFrame({f"V{j}": random.integers(0, 60, 3000) % 50 for j in range(6)})
    table["V0"] = random.integers(0, 2, 3000)
    table["V1"] = random.integers(0, 2, 3000)
    table["V2"] = random.integers(0, 5, 3000)
    for size in range(5):
        conditions = [f"V{j}" for j in range(2, 2 + size)]
        strata = table.groupby(conditions or np.zeros(3000))
        levels = strata[["V0", "V1"]].nunique()
        rows = strata.size()
        counts = ((levels > 1) & levels.lt(rows, axis=0)).all(axis=1)
        answer = prepared_of(table).answer([CIQuery(0, 1, tuple(range(2, 2 + size)))])
        if rows[counts].sum() < FEWEST_TABLE_ROWS:
            assert answer.reason[0] == Reason.FEW_ROWS
        else:
            assert answer.df[0] == (levels[counts] - 1).prod(axis=1).sum()


def test_constant_columns_and_few_rows_are_untestable() -> None:
    table = pd.DataFrame(
        {
            "x": ["a", "b"] * 20,
            "y": ["a"] * 20 + ["b", "c"] * 10,
            "z": [1] * 20 + [2, 3] * 10,
            "id": [f"n{k // 2}" for k in range(40)],
            "R": ["a"] * 20 + ["b"] * 20,
        }
    )
    prepared = prepared_of(table, context="R")
    inside = 1
    found = prepared.answer(
        [
            CIQuery(0, 1, (), inside),
            CIQuery(0, 2, (), inside),
            CIQuery(0, 1, (2,), 0),
            CIQuery(0, 1, (3,), 0),
            CIQuery(0, 1, (4,), 0),
        ]
    )
    assert found.reason.tolist() == [
        Reason.CONSTANT,
        Reason.CONSTANT,
        Reason.FEW_ROWS,
        Reason.FEW_ROWS,
        Reason.TESTABLE,
    ]
    assert found.n.tolist() == [20, 20, 40, 40, 40]
    assert np.isnan(found.p[:4]).all()


def test_statistics_that_cannot_vary_say_nothing() -> None:
    """Of a stratum with margins (1, 3) and (2, 2) all tables have the same chi-squared."""
    table = pd.DataFrame({"x": [0, 1, 1, 1] * 4, "y": [0, 0, 1, 1] * 4, "z": np.arange(16) // 4})
    assert prepared_of(table).answer([CIQuery(0, 1, (2,))]).p.tolist() == [1.0]


@pytest.mark.parametrize(("of", "rows"), [("g-squared", 500), ("chi-squared", 200)])
def test_power_given_two_conditions(of: str, rows: int) -> None:
    """A third of the rows of y repeat x: seen in nearly all tables, thin ones and others."""
    found = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        given = random.integers(0, 3, (2, rows))
        x = (given[0] + (random.random(rows) < 0.6) * random.integers(0, 3, rows)) % 3
        y = np.where(random.random(rows) < 0.35, x, (given[1] + random.integers(0, 2, rows)) % 3)
        table = pd.DataFrame({"x": x, "y": y, "z": given[0], "w": given[1]})
        test = next(each for each in TESTS.values() if each.name == of)
        found.append(prepared_of(table, test).answer([CIQuery(0, 1, (2, 3))]).p[0])
    assert np.mean(np.array(found) < 0.05) > 0.9


def context_table(seed: int, contexts: int = 1, rows: int = 400) -> pd.DataFrame:
    """Seven columns of categories, some of whose mechanisms change with contexts; a column is
    constant in one context.
    """
    random = np.random.default_rng(seed)
    r = random.integers(0, 2 + seed % 2, (max(contexts, 1), rows))
    columns = [random.integers(0, 3, rows)]
    for _ in range(6):
        cause = columns[int(random.integers(len(columns)))]
        changes = random.random() < 0.5
        follows = (random.random(rows) < 0.6) & ((r[0] == 0) | (not changes))
        count = int(random.integers(2, 5))
        columns.append(np.where(follows, cause % count, random.integers(0, count, rows)))
    columns[3] = np.where(r[0] == 0, 1, columns[3])
    table = pd.DataFrame({f"V{j}": pd.Categorical(codes) for j, codes in enumerate(columns)})
    for j in range(contexts):
        table.insert(2 * j, f"R{j}", [f"r{code}" for code in r[j]])
    return table


def searches(prepared: PreparedTables, jobs: int) -> list[SplitSearch | BatchedSearch]:
    return [SplitSearch(prepared), SplitSearch(prepared, jobs), BatchedSearch(prepared)]


@pytest.mark.parametrize("rule", [adaptive, masked, pooled])
@pytest.mark.parametrize(("seed", "contexts"), [(0, 1), (1, 1), (2, 2), (3, 0)])
@pytest.mark.parametrize("test", ["auto", "g-squared", "chi-squared"])
def test_levels_by_the_kernel_are_those_query_by_query(rule, seed, contexts, test) -> None:
    """Graphs, ends and every record, whatever the number of threads."""
    table = context_table(seed, contexts)
    data = read_table(table, [f"R{j}" for j in range(contexts)] or None)
    prepared = find_test(test).prepare(data, gather_statistics(data))
    assert isinstance(prepared, PreparedTables)
    cells = (0,) if rule is pooled else tuple(range(len(data.contexts.cells)))
    names = data.names
    known = Knowledge(forbidden=[("V5", "V1")], required=[("V0", "V4")]) if seed else Knowledge()
    plan = Plan(len(names), data.contexts, rule, cells, known.links(names), 0.05, 5)
    found = [
        algorithm_1(search, plan, jobs, lambda *_: None)
        for jobs, search in zip((1, 3, 1), searches(prepared, 3), strict=True)
    ]
    logs = [
        CITestLog.from_sepsets(plan, each.sepsets, len(data.contexts.cells), prepared.labels)
        for each in found
    ]
    for other, log in zip(found[1:], logs[1:], strict=True):
        assert np.array_equal(found[0].endpoints, other.endpoints)
        assert np.array_equal(found[0].sepsets.facts, other.sepsets.facts)
        assert np.array_equal(found[0].sepsets.given, other.sepsets.given)
        for numbers in ("p", "statistic", "df"):
            assert np.allclose(
                getattr(logs[0], numbers), getattr(log, numbers), 1e-9, 1e-12, equal_nan=True
            )
    assert np.array_equal(found[0].sepsets.numbers, found[1].sepsets.numbers, equal_nan=True)


@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac"])
def test_methods_say_the_same_without_the_kernel(method, monkeypatch) -> None:
    table = context_table(5, rows=600)

    def said() -> tuple[object, ...]:
        result = cc.discover(table, "R0", method=method)
        pairs = [(x, y) for x in table for y in table if x < y]
        return (
            result.edges().round(9),
            result.tests().round(9),
            result.notes,
            [result.explain(x, y) for x, y in pairs],
        )

    edges, tests, notes, words = said()
    calls = []
    search = TableSearch.search
    monkeypatch.setattr(
        TableSearch, "search", lambda self, task: calls.append(task) or search(self, task)
    )
    said()
    assert calls
    monkeypatch.setattr(SplitSearch, "of", lambda self, contexts: self.batched)
    other_edges, other_tests, other_notes, other_words = said()
    pd.testing.assert_frame_equal(edges, other_edges)
    pd.testing.assert_frame_equal(tests, other_tests)
    assert (notes, words) == (other_notes, other_words)


def test_mixed_tables_are_searched_in_batches() -> None:
    table = context_table(1)
    table["number"] = np.random.default_rng(0).standard_normal(len(table))
    data = read_table(table, "R0")
    prepared = find_test("auto").prepare(data, gather_statistics(data))
    assert prepared.tables is None
    assert SplitSearch(prepared).of(()).__class__ is BatchedSearch


def long_level(rows: int = 200_000) -> tuple[PreparedTables, contingency.Tables]:
    random = np.random.default_rng(0)
    table = pd.DataFrame({f"V{j}": random.integers(0, 3, rows) for j in range(12)})
    prepared = prepared_of(table)
    return prepared, prepared.codes


def test_a_kernel_ends_soon_after_the_time_is_over() -> None:
    prepared, _ = long_level()
    watch = Watch(nobody, limit=0.2)
    queries = [CIQuery(0, 1, (2, 3, 4, 5))] * 4000
    ended = []

    def beat() -> None:
        ended.append(time.perf_counter())
        watch.check()

    given = np.array([query.given for query in queries], dtype=np.int64)
    zeros = np.zeros(len(queries), dtype=np.int64)
    asked = contingency_queries(zeros, zeros, zeros + 1, given)
    with pytest.raises(OutOfTime):
        contingency.answer_tables(
            prepared.codes,
            prepared.selections,
            asked,
            np.empty((len(queries), 3)),
            np.empty((len(queries), 3), dtype=np.int64),
            beat,
        )
    assert len(ended) >= 2


def contingency_queries(view, x, y, given):
    from causalcontext.kernels.levels.gaussian import CIQueries

    return CIQueries(view, x, y, given)


def test_threads_stop_where_one_of_them_is_stopped() -> None:
    """The search of a pool ends its kernels when the main thread is interrupted."""
    from causalcontext.kernels.threads import Stopped, check_stopped, in_threads

    seen = []
    begun = threading.Event()

    def task(number: int) -> None:
        if number == 0:
            begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        for _ in range(1000):
            time.sleep(0.01)
            try:
                check_stopped()
            except Stopped:
                seen.append(number)
                raise

    with pytest.raises(KeyboardInterrupt):
        list(in_threads(task, [0, 1], 2))
    assert seen == [1]
