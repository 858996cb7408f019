"""The linear-Gaussian tests against their naive twins, on ugly tables."""

import itertools

import numpy as np
import pandas as pd
import pytest

import naive
from causalcontext.ci_tests.registry import TESTS, find_test
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.kernels.threads import in_threads
from causalcontext.views import CIQuery, Reason
from marks import rest_slow

SYSTEM = ("A", "B", "C", "D", "E")


def ugly_table(seed: int, sizes=(60, 90, 50)) -> tuple[np.ndarray, np.ndarray]:
    """Five related columns with shifted means, other scales, negative correlations, changing with
    the context.
    """
    rng = np.random.default_rng(seed)
    context = np.repeat(np.arange(len(sizes)), sizes)
    rng.shuffle(context)
    n = context.size
    noise = rng.standard_normal((n, 5))
    a = noise[:, 0] + 1e4
    b = -0.7 * (a - 1e4) + noise[:, 1] * (1 + context)
    c = 0.5 * b * (context == 1) + noise[:, 2] - 40 * context
    d = 1e-3 * (b - c + noise[:, 3])
    e = 1e5 * noise[:, 4]
    return np.column_stack([a, b, c, d, e]), context


def prepare(
    system: np.ndarray, context: np.ndarray, test: str = "partial-correlation", place: int = 2
):
    table = pd.DataFrame(system, columns=list(SYSTEM))
    table.insert(place, "R", context)
    data = read_table(table, "R")
    return (
        find_test(test).prepare(data, gather_statistics(data)),
        [data.names.index(name) for name in SYSTEM],
        place,
    )


def subsets(without, sizes=(0, 1, 2, 3)):
    rest = [i for i in range(5) if i not in without]
    return [given for size in sizes for given in itertools.combinations(rest, size)]


@pytest.mark.parametrize("seed", rest_slow(range(3)))
@pytest.mark.parametrize("place", [0, 2, 5])
def test_partial_correlation_in_every_view(seed, place):
    system, context = ugly_table(seed)
    prepared, at, _ = prepare(system, context, place=place)
    for x, y in itertools.combinations(range(5), 2):
        for given in subsets((x, y)):
            for level in (None, 0, 1, 2):
                rows = system if level is None else system[context == level]
                where = 0 if level is None else 1 + level
                outcome = prepared.answer(
                    [CIQuery(at[x], at[y], tuple(at[z] for z in given), where)]
                )
                correlation, _, df, p = naive.partial_correlation(rows, x, y, given)
                assert outcome.statistic[0] == pytest.approx(correlation, rel=1e-6, abs=1e-9)
                assert outcome.df[0] == df
                assert outcome.p[0] == pytest.approx(p, rel=1e-5, abs=1e-12)
                assert outcome.n[0] == len(rows)


@pytest.mark.parametrize("seed", rest_slow(range(2)))
def test_fisher_z(seed):
    system, context = ugly_table(seed)
    prepared, at, _ = prepare(system, context, "fisher-z")
    for x, y in itertools.combinations(range(5), 2):
        for given in subsets((x, y)):
            outcome = prepared.answer([CIQuery(at[x], at[y], tuple(at[z] for z in given))])
            _, _, p = naive.fisher_z(system, x, y, given)
            assert outcome.p[0] == pytest.approx(p, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("seed", rest_slow(range(3)))
def test_partial_correlation_given_the_context(seed):
    system, context = ugly_table(seed)
    prepared, at, r = prepare(system, context)
    for x, y in itertools.combinations(range(5), 2):
        for given in subsets((x, y)):
            outcome = prepared.answer([CIQuery(at[x], at[y], (r, *(at[z] for z in given)))])
            statistic, df, p = naive.stratified_partial_correlation(system, context, x, y, given)
            assert outcome.statistic[0] == pytest.approx(statistic, rel=1e-6, abs=1e-9)
            assert outcome.df[0] == df
            assert outcome.p[0] == pytest.approx(p, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("sizes", [(60, 90, 50), (20, 20), (300, 7), (12, 9, 8, 7, 60)])
def test_context_change(sizes):
    system, context = ugly_table(5, sizes)
    prepared, at, r = prepare(system, context)
    for y in range(5):
        for given in subsets((y,), (0, 1, 2, 3, 4)):
            query = CIQuery(r, at[y], tuple(at[z] for z in given))
            outcome = prepared.answer([query, CIQuery(query.y, query.x, query.given)])
            twin = naive.context_change(system, context, y, given)
            if twin is None:
                assert outcome.reason.tolist() == [Reason.FEW_CONTEXTS] * 2
                continue
            statistic, df, p = twin
            assert outcome.statistic == pytest.approx([statistic] * 2, rel=1e-5)
            assert outcome.df.tolist() == [df, df]
            assert outcome.p == pytest.approx([p] * 2, rel=1e-4, abs=1e-12)


def test_collinear_conditions_lower_the_rank_as_in_the_twin():
    system, context = ugly_table(7)
    system[:, 4] = 2 * system[:, 0] - system[:, 1]
    prepared, at, r = prepare(system, context)
    outcome = prepared.answer(
        [
            CIQuery(at[2], at[3], (at[0], at[1], at[4])),
            CIQuery(at[2], at[3], (r, at[0], at[1], at[4])),
            CIQuery(r, at[2], (at[0], at[1], at[4])),
        ]
    )
    _, _, df, p = naive.partial_correlation(system, 2, 3, (0, 1, 4))
    assert (outcome.df[0], outcome.p[0]) == (df, pytest.approx(p, rel=1e-4))
    _, df, p = naive.stratified_partial_correlation(system, context, 2, 3, (0, 1, 4))
    assert (outcome.df[1], outcome.p[1]) == (df, pytest.approx(p, rel=1e-4))
    _, df, p = naive.context_change(system, context, 2, (0, 1, 4))
    assert (outcome.df[2], outcome.p[2]) == (df, pytest.approx(p, rel=1e-3))


def test_reasons_are_told_apart():
    system, context = ugly_table(8, sizes=(100, 6))
    system[:, 4] = 2 * system[:, 0] - system[:, 1]
    system[context == 1, 2] = 5.0
    prepared, at, r = prepare(system, context)
    outcome = prepared.answer(
        [
            CIQuery(at[0], at[1], (), 2),  # six rows: four residual degrees of freedom
            CIQuery(at[0], at[2], (), 1),
            CIQuery(at[2], at[3], ()),
            CIQuery(at[4], at[3], (at[0], at[1])),
            CIQuery(r, at[0], ()),
            CIQuery(r, at[0], (at[1],)),
            CIQuery(r, at[2], ()),
            CIQuery(r, at[2], (), 1),
        ]
    )
    few, fine = Reason.FEW_ROWS, Reason.TESTABLE
    expected = [
        few,
        fine,
        fine,
        Reason.COLLINEAR,
        fine,
        Reason.FEW_CONTEXTS,
        Reason.CONSTANT,
        Reason.CONSTANT,
    ]
    assert outcome.reason.tolist() == expected
    assert np.isnan(outcome.p[outcome.reason != 0]).all()
    assert np.isfinite(outcome.p[outcome.reason == 0]).all()


def test_constant_column_inside_a_context_is_untestable_there_only():
    system, context = ugly_table(9)
    system[context == 1, 2] = 0.1
    prepared, at, _ = prepare(system, context)
    outcome = prepared.answer([CIQuery(at[2], at[3], (), 1 + level) for level in range(3)])
    assert outcome.reason.tolist() == [0, Reason.CONSTANT, 0]
    given = prepared.answer([CIQuery(at[0], at[3], (at[2],), 2), CIQuery(at[0], at[3], (), 2)])
    assert given.p[0] == given.p[1]  # a constant condition changes nothing


@pytest.mark.parametrize("name", sorted(TESTS))
def test_every_registered_test_tells_its_name(name):
    assert find_test(name).name == name


@pytest.mark.slow
def test_level_and_power_of_context_change():
    """Size near .05 also when R is a threshold of Z; power for changes of mean, slope and
    variance.
    """
    repeats, rng = 400, np.random.default_rng(11)
    rejected = {"null": 0, "threshold": 0, "mean": 0, "slope": 0, "spread": 0}
    for _ in range(repeats):
        z, noise = rng.standard_normal((2, 100))
        coin, cut = rng.permutation(np.repeat([0, 1], 50)), (z > 0).astype(int)
        tables = {
            "null": (z + noise, coin),
            "threshold": (z + noise, cut),
            "mean": (z + noise + 1.2 * coin, coin),
            "slope": (z * (1 - 1.2 * coin) + noise, coin),
            "spread": (z + noise * (1 + 0.8 * coin), coin),
        }
        for case, (y, context) in tables.items():
            system = np.column_stack([y, z, rng.standard_normal((100, 3))])
            prepared, at, r = prepare(system, context)
            rejected[case] += int(prepared.answer([CIQuery(r, at[0], (at[1],))]).p[0] < 0.05)
    share = {case: count / repeats for case, count in rejected.items()}
    assert 0.02 < share["null"] < 0.085
    assert 0.02 < share["threshold"] < 0.085
    assert min(share["mean"], share["slope"], share["spread"]) > 0.85


@pytest.mark.slow
def test_level_and_power_of_partial_correlation():
    repeats, rng = 400, np.random.default_rng(12)
    rejected = np.zeros(4)
    for _ in range(repeats):
        z, e, f, g, h = rng.standard_normal((5, 60))
        context = rng.permutation(np.repeat([0, 1], 30))
        system = np.column_stack([z + e, -z + f, z, 0.7 * e + g, h])
        prepared, at, r = prepare(system, context)
        queries = [
            CIQuery(at[0], at[1], (at[2],)),
            CIQuery(at[0], at[1], (r, at[2])),
            CIQuery(at[0], at[3], (at[2],)),
            CIQuery(at[0], at[3], (r, at[2])),
        ]
        rejected += prepared.answer(queries).p < 0.05
    assert ((rejected[:2] / repeats > 0.02) & (rejected[:2] / repeats < 0.085)).all()
    assert (rejected[2:] / repeats > 0.9).all()


def test_threads_that_ask_about_other_rows_do_not_disturb_each_other():
    """With several context variables the cross products of views are added up when somebody asks
    for them.
    """
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.standard_normal((600, 60)), columns=[f"X{j}" for j in range(60)])
    table = table.assign(R=rng.integers(0, 4, 600), S=rng.integers(0, 4, 600))
    data = read_table(table, ["R", "S"])
    queries = [CIQuery(0, 1, (2,), view) for view in range(len(data.contexts.views))]
    expected = (
        find_test("partial-correlation").prepare(data, gather_statistics(data)).answer(queries)
    )
    for _ in range(5):
        prepared = find_test("partial-correlation").prepare(data, gather_statistics(data))
        found = list(in_threads(lambda query, test=prepared: test.answer([query]), queries, 8))
        assert [float(one.p[0]) for one in found] == expected.p.tolist()
