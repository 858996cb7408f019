"""A sepset records that leaves out what the empty set separates says the same as one that lists
every pair.
"""

import numpy as np
import pandas as pd
import pytest

import naive
from causalcontext import Knowledge, discover
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.results.log import CITestLog, Decision
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.level_search import Marginal, SplitSearch
from causalcontext.search.plan import Plan
from causalcontext.search.sepsets import pairs_at, slots
from causalcontext.views import adaptive, masked, pooled
from marks import rest_slow

pytestmark = pytest.mark.usefixtures("screened_however_small")

COLUMNS = (
    "decision",
    "p",
    "statistic",
    "df",
    "n",
    "view",
    "given",
    "reason",
    "untested",
    "cut",
    "label",
)


@pytest.fixture
def screened_however_small(monkeypatch):
    monkeypatch.setattr("causalcontext.search.level_search.FEWEST_TO_SCREEN", 0)


class Unscreened(SplitSearch):
    """A search that records every pair."""

    def screen(self, plan, asked):
        return None


def random_table(seed: int, contexts: int, columns: int = 12) -> pd.DataFrame:
    """A sparse linear system with shifted means, units far apart, a constant here and a collinear
    column there.
    """
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(60, 400))
    labels = rng.integers(0, 2 + seed % 2, (rows, contexts))
    values = rng.standard_normal((rows, columns))
    for j in range(1, columns):
        for i in rng.choice(j, size=min(j, int(rng.integers(0, 3))), replace=False):
            here = labels[:, 0] > 0 if contexts and rng.random() < 0.3 else 1.0
            values[:, j] += here * rng.choice([-0.7, 0.5]) * values[:, i]
    if seed % 3 == 0:
        values[:, 5] = values[:, 1] - values[:, 2]
    if contexts:
        values[:, 3] += labels.sum(axis=1)
        values[labels[:, 0] == 0, 4] *= 0.0 if seed % 4 == 0 else 1.0
    table = pd.DataFrame(
        values * 10.0 ** rng.integers(-3, 4, columns) + 7, columns=[f"X{j}" for j in range(columns)]
    )
    for k in range(contexts):
        table.insert(int(rng.integers(0, table.shape[1])), f"R{k}", labels[:, k])
    return table


def both(table: pd.DataFrame, contexts: int, rule, knowledge: Knowledge, **settings):
    """What the two kinds of sepset records find, with their logs."""
    data = read_table(table, [f"R{k}" for k in range(contexts)] or None)
    prepared = find_test("partial-correlation").prepare(data, gather_statistics(data))
    cells = (0,) if rule is pooled else tuple(range(len(data.contexts.cells)))
    plan = Plan(
        table.shape[1],
        data.contexts,
        rule,
        cells,
        knowledge.links(data.names),
        0.05,
        table.shape[1],
        **settings,
    )
    found = [
        algorithm_1(kind(prepared), plan, 1, lambda *_: None) for kind in (SplitSearch, Unscreened)
    ]
    return found, [
        CITestLog.from_sepsets(plan, one.sepsets, len(cells), prepared.labels) for one in found
    ]


@pytest.mark.parametrize("seed", rest_slow(range(6), fast=2))
@pytest.mark.parametrize("contexts", [0, 1, 2])
@pytest.mark.parametrize("rule", [adaptive, masked, pooled])
def test_every_mark_and_every_entry_is_the_same(seed, contexts, rule):
    known = Knowledge(required=[("X0", "X3")], forbidden=[("X1", "X2"), ("X2", "X1"), ("X6", "X7")])
    scope = ("adaptive", "cycle", "always")[seed % 3] if rule is adaptive else "adaptive"
    rules = ("majority", "conservative", "first")
    (sparse, dense), (mine, theirs) = both(
        random_table(seed, contexts),
        contexts,
        rule,
        known if seed % 2 else Knowledge(),
        masked_scope=scope,
        collider_rule=rules[seed % 3],
    )
    assert np.array_equal(sparse.endpoints, dense.endpoints)
    assert sparse.sepsets.tests.tolist() == dense.sepsets.tests.tolist()
    assert sparse.sepsets.first.size < dense.sepsets.first.size
    for name in COLUMNS:
        assert np.array_equal(getattr(mine, name), getattr(theirs, name), equal_nan=True), name
    assert mine == theirs
    for g in range(sparse.sepsets.graphs):
        for x, y in zip(dense.sepsets.first.tolist(), dense.sepsets.second.tolist(), strict=True):
            assert sparse.sepsets.separating_set(g, x, y) == dense.sepsets.separating_set(g, x, y)


def test_the_log_tells_about_pairs_one_by_one_and_in_blocks():
    _, (mine, theirs) = both(random_table(2, 1), 1, adaptive, Knowledge())
    for name in COLUMNS:
        parts = [getattr(entries, name) for _, entries in mine.blocks(7)]
        if name != "given":
            assert np.array_equal(
                np.concatenate(parts, axis=1), getattr(theirs, name), equal_nan=True
            )
    for slot in range(mine.pairs):
        assert mine.at(1, slot).conditions == theirs.at(1, slot).conditions
        assert mine.strength(0, slot) == pytest.approx(theirs.strength(0, slot), nan_ok=True)
        assert mine.at(0, slot).decision == theirs.decision[0, slot]


@pytest.mark.parametrize("alpha", [1e-6, 0.001, 0.05, 0.5])
def test_survivors_are_those_of_the_naive_test(alpha):
    table = random_table(1, 1).drop(columns="R0").assign(R=np.arange(len(random_table(1, 1))) % 2)
    data = read_table(table, "R")
    prepared = find_test("partial-correlation").prepare(data, gather_statistics(data))
    asked = ~np.eye(table.shape[1], dtype=bool)
    asked[-1], asked[:, -1] = False, False
    asked[2, 3] = asked[3, 2] = False
    found = Marginal(prepared, np.array([0, 1]), asked, alpha)
    values, here = table.to_numpy(), table["R"].to_numpy() == 0
    expected = [
        (i, j)
        for i in range(table.shape[1] - 1)
        for j in range(i + 1, table.shape[1] - 1)
        if asked[i, j]
        and min(
            naive.partial_correlation(values, i, j, ())[-1],
            naive.partial_correlation(values[here], i, j, ())[-1],
        )
        <= alpha
    ]
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == expected


def test_with_too_few_rows_everything_survives():
    table = random_table(4, 0).head(6)
    data = read_table(table, None)
    prepared = find_test("partial-correlation").prepare(data, gather_statistics(data))
    asked = ~np.eye(12, dtype=bool)
    assert Marginal(prepared, np.array([0]), asked, 0.05).first.size == 66


def test_places_of_pairs_and_back():
    for variables in (2, 3, 9):
        first, second = np.triu_indices(variables, 1)
        places = slots(first, second, variables)
        assert places.tolist() == list(range(first.size))
        assert [array.tolist() for array in pairs_at(places, variables)] == [
            first.tolist(),
            second.tolist(),
        ]


def test_an_interrupted_first_level_decides_nothing(monkeypatch):
    def screen(self, plan, asked):
        raise KeyboardInterrupt

    from causalcontext.errors import InterruptedSearch

    monkeypatch.setattr(SplitSearch, "screen", screen)
    with pytest.raises(InterruptedSearch) as caught:
        discover(random_table(1, 1), "R0", test="partial-correlation", method="pc-ac")
    result = caught.value.result
    assert (result.log.decision == Decision.UNTESTABLE).all()
    assert "interrupted before" in result.explain("X0", "X1")
    assert len(result.union.edges) == 13 * 12 // 2


@pytest.mark.parametrize("place", [0, 12])
def test_cross_products_of_many_variables_are_kept_once(place, monkeypatch):
    table = random_table(1, 1).drop(columns="R0")
    table.insert(place, "R", np.arange(len(table)) % 2)
    before = discover(table, "R", test="partial-correlation", method="pc-ac")
    monkeypatch.setattr("causalcontext.data.sufficient_statistics._MANY_VARIABLES", 1)
    data = read_table(table, "R")
    statistics = gather_statistics(data)
    twin = gather_statistics(data)
    columns = statistics.of_columns(data)
    assert np.shares_memory(statistics.moments.scatter, columns.scatter)
    assert np.array_equal(statistics.moments.scatter, twin.moments.scatter)
    assert discover(table, "R", test="partial-correlation", method="pc-ac") == before


def test_threads_and_places_of_columns_change_nothing_in_a_wide_table():
    rng = np.random.default_rng(8)
    values = rng.standard_normal((90, 150))
    values[:, 1:] += 0.6 * values[:, :-1] * (rng.random(149) < 0.5)
    table = pd.DataFrame(values, columns=[f"X{j}" for j in range(150)]).assign(
        R=rng.integers(0, 2, 90)
    )
    chosen = {"method": "pc-ac", "test": "partial-correlation", "alpha": 0.01}
    one, three = (discover(table, "R", n_jobs=jobs, **chosen) for jobs in (1, 3))
    assert one == three
    assert np.array_equal(one.moments.scatter, three.moments.scatter)
    turned = discover(table[table.columns[::-1]], "R", **chosen)
    assert len(turned.union.edges) == len(one.union.edges) > 50
    assert all(one.union.mark(edge.source, edge.target) == edge.mark for edge in turned.union.edges)


@pytest.mark.parametrize("factor", [1e-65, 1e65])
def test_units_far_from_one_change_no_test(factor):
    table = random_table(1, 1, columns=6)
    units = pd.Series([factor, 1.0, 1.0 / factor, 1.0, factor, 1.0], [f"X{j}" for j in range(6)])
    other = table.assign(**{name: table[name] * unit for name, unit in units.items()})
    chosen = {"method": "pc-ac", "test": "partial-correlation"}
    one, two = (discover(one_table, "R0", **chosen) for one_table in (table, other))
    assert one.graphs == two.graphs
    np.testing.assert_allclose(two.log.p, one.log.p, rtol=1e-6)
    assert one.tests_run == two.tests_run
