"""`basis`: against its twin on rows, the level where mechanisms are curved, the power for curves,
and in a search.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.views import CIQuery, Reason
from marks import rest_slow
from naive_basis import basis_test
from questions import violations_of


def drawn(seed: int, n: int = 300) -> pd.DataFrame:
    """Curved and straight links, means far from zero, negative correlations, a constant and two
    values.
    """
    g = np.random.default_rng(seed)
    a, b = g.normal(size=(2, n))
    c = -0.8 * a + g.normal(size=n)
    d = a**2 + np.sin(2 * b) + g.normal(size=n)
    e = -np.abs(b) + 0.3 * c + g.exponential(size=n)
    return pd.DataFrame(
        {
            "a": 1e4 - 3 * a,
            "b": b,
            "c": c * 1e-3 + 5,
            "d": d,
            "e": -e,
            "flat": np.full(n, 7.0),
            "two": (b + g.normal(size=n) > 0).astype(float),
        }
    )


QUERIES = [
    ("a", "c", ""),
    ("d", "e", ""),
    ("d", "e", "b"),
    ("c", "d", "a"),
    ("c", "e", "abd"),
    ("b", "d", "ace"),
    ("e", "two", "b"),
    ("two", "d", "abc"),
    ("a", "b", "cde"),
]


def answers(table: pd.DataFrame, queries: list[tuple[str, str, tuple[str, ...]]]):
    data = read_table(table, None, kinds=dict.fromkeys(table.columns, "continuous"))
    place = list(table.columns).index
    prepared = find_test("basis").prepare(data, gather_statistics(data))
    return prepared.answer(
        [CIQuery(place(x), place(y), tuple(place(z) for z in given)) for x, y, given in queries]
    )


@pytest.mark.parametrize("seed", rest_slow(range(3)))
def test_it_equals_its_twin(seed: int) -> None:
    table = drawn(seed)
    twins = [
        basis_test(table[x].to_numpy(), table[y].to_numpy(), [table[z].to_numpy() for z in given])
        for x, y, given in QUERIES
    ]
    queries = [(x, y, tuple(given)) for x, y, given in QUERIES]
    found = answers(table, queries)
    np.testing.assert_allclose(found.p, twins, rtol=1e-5, atol=1e-12)
    assert (found.n == len(table)).all()
    permuted = table[np.random.default_rng(seed).permutation(table.columns)]
    np.testing.assert_allclose(answers(permuted, queries).p, found.p, rtol=1e-9, atol=1e-15)
    swapped = answers(table, [(y, x, given[::-1]) for x, y, given in queries])
    np.testing.assert_array_equal(swapped.p, found.p)


def test_constants_and_copies_are_no_evidence() -> None:
    table = drawn(5).assign(copy=lambda t: 2 * t.a - 1)
    found = answers(
        table,
        [
            ("flat", "a", ()),
            ("copy", "b", ("a",)),
            ("c", "d", ("a",)),
            ("c", "d", ("a", "flat")),
            ("c", "d", ("a", "copy")),
        ],
    )
    assert found.reason[:2].tolist() == [Reason.CONSTANT, Reason.COLLINEAR]
    assert np.isnan(found.p[:2]).all()
    assert found.p[3] == found.p[2]
    assert answers(table[:8], [("c", "d", ("a", "b", "e"))]).reason[0] == Reason.FEW_ROWS


def test_with_nothing_given_a_line_costs_half_as_much_again() -> None:
    """Where the line decides, p is that of Student's t, paid once for the other questions."""
    g = np.random.default_rng(1)
    x = g.normal(size=400)
    y = g.normal(size=400) - 0.4 * x
    found = answers(pd.DataFrame({"x": x, "y": y}), [("x", "y", ())])
    assert found.p[0] == pytest.approx(1.5 * stats.pearsonr(x, y).pvalue, rel=1e-2)
    assert found.df[0] == 1
    assert found.statistic[0] == pytest.approx(
        -400 * np.log1p(-(stats.pearsonr(x, y).statistic ** 2))
    )


def rejected(make, sets: int = 200) -> tuple[float, float]:
    """How often `basis` and partial correlation reject x against y given the rest."""
    counts = np.zeros(2)
    for seed in range(sets):
        table = make(np.random.default_rng(seed))
        data = read_table(table, None)
        query = CIQuery(0, 1, tuple(range(2, table.shape[1])))
        counts += [
            find_test(test).prepare(data, gather_statistics(data)).answer([query]).p[0] < 0.05
            for test in ("basis", "partial-correlation")
        ]
    return tuple(counts / sets)


def curved_causes(g: np.random.Generator) -> pd.DataFrame:
    """x and y follow curves of the same conditions, and nothing else links them."""
    z = g.normal(size=(3, 400))
    x = np.abs(z[0]) + np.sin(2 * z[1]) + z[2] + g.normal(size=400)
    y = z[0] ** 2 - 1.5 * np.sign(z[1] - 0.3) + np.tanh(z[2]) + g.normal(size=400)
    return pd.DataFrame({"x": x, "y": y, "z": z[0], "u": z[1], "v": z[2]})


def straight_causes(g: np.random.Generator) -> pd.DataFrame:
    z = g.normal(size=(2, 100))
    return pd.DataFrame(
        {
            "x": z.sum(axis=0) + g.normal(size=100),
            "y": z[0] - z[1] + g.normal(size=100),
            "z": z[0],
            "u": z[1],
        }
    )


def a_curve(g: np.random.Generator) -> pd.DataFrame:
    z, x = g.normal(size=(2, 200))
    return pd.DataFrame({"x": x, "y": 0.5 * x**2 + z + g.normal(size=200), "z": z})


def a_line(g: np.random.Generator) -> pd.DataFrame:
    z, x = g.normal(size=(2, 100))
    return pd.DataFrame({"x": x, "y": 0.35 * x + z + g.normal(size=100), "z": z})


@pytest.mark.slow
def test_level_where_causes_are_curved() -> None:
    basis, straight = rejected(curved_causes)
    assert basis <= 0.11  # .05 and three standard errors, and a little for what stays of the curves
    assert straight > 0.5


@pytest.mark.slow
def test_level_where_causes_are_straight() -> None:
    basis, _ = rejected(straight_causes)
    assert basis <= 0.1


@pytest.mark.slow
def test_power_for_a_curve_and_for_a_line() -> None:
    basis, straight = rejected(a_curve)
    assert basis > 0.9
    assert straight < 0.4
    basis, straight = rejected(a_line)
    assert basis > straight - 0.12


def test_a_search_by_name_finds_curves_and_its_guards_do_not_speak_of_them() -> None:
    g = np.random.default_rng(3)
    x, coin = g.normal(size=600), g.integers(0, 2, 600)
    y = x**2 + 0.5 * g.normal(size=600)
    table = pd.DataFrame(
        {"X": x, "Y": y, "Z": np.tanh(2 * y) + 0.5 * g.normal(size=600), "R": coin}
    )
    found = cc.discover(table, "R", test="basis", method="pc-ac")
    assert {"basis", "robust-change"} <= set(found.tests()["test"])
    assert all(set(graph.neighbours("Y")) == {"X", "Z"} for graph in found.graphs.values())
    assert all(graph.neighbours("X") == ("Y",) for graph in found.graphs.values())
    assert "curves" not in {violation.kind for violation in violations_of(found)}
    parallel = cc.discover(table[["Z", "R", "Y", "X"]], "R", test="basis", n_jobs=2, method="pc-ac")
    assert all(set(graph.neighbours("Y")) == {"X", "Z"} for graph in parallel.graphs.values())
