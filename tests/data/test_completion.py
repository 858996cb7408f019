"""Missing cells by a model: EM against the observed likelihood, honest numbers of rows, completed
tables.
"""

import numpy as np
import pandas as pd
import pytest
import scipy

import causalcontext as cc
from causalcontext.ci_tests.preparation import PreparedCompletions, pooled, prepare
from causalcontext.ci_tests.protocol import Label
from causalcontext.ci_tests.registry import find_test
from causalcontext.data import completion
from causalcontext.data.completion import PRIOR_ROWS, Information, complete, fit
from causalcontext.data.tables import read_table
from causalcontext.views import CIQuery, Outcomes


def table(rows=200, share=0.2, seed=0, columns=4):
    """A chain of numbers with holes, whose first link is there in one context only."""
    random = np.random.default_rng(seed)
    r = random.integers(2, size=rows)
    values = [random.standard_normal(rows)]
    for _ in range(columns - 1):
        values.append(
            (0.8 * values[-1] if len(values) > 1 else r * values[-1]) + random.standard_normal(rows)
        )
    names = "ABCDEFGH"[:columns]
    frame = pd.DataFrame(dict(zip(names, values, strict=True)))
    return frame.mask(random.random(frame.shape) < share).assign(R=np.where(r, "wet", "dry"))


def observed_likelihood(parameters, values, seen):
    """The log-likelihood of what is seen, row by row, and of the rows without correlation that are
    added.
    """
    q = values.shape[1]
    mean, root = parameters[:q], np.zeros((q, q))
    root[np.tril_indices(q)] = parameters[q:]
    covariance = root @ root.T + 1e-9 * np.eye(q)
    total = (
        -0.5 * PRIOR_ROWS * (np.linalg.slogdet(covariance)[1] + np.trace(np.linalg.inv(covariance)))
    )
    for there in np.unique(seen, axis=0):
        rows, inside = (seen == there).all(axis=1), covariance[np.ix_(there, there)]
        away = values[rows][:, there] - mean[there]
        total -= 0.5 * (
            rows.sum() * np.linalg.slogdet(inside)[1]
            + np.sum(away.T * np.linalg.solve(inside, away.T))
        )
    return total


def test_em_finds_the_largest_likelihood_of_what_is_seen(monkeypatch):
    monkeypatch.setattr(completion, "CLOSE", 1e-9)
    monkeypatch.setattr(completion, "MOST_STEPS", 5000)
    data = read_table(table(40, 0.25, columns=3).drop(columns="R"), None)
    columns = completion._columns(data)
    model, start = fit(columns), np.concatenate([np.zeros(3), np.eye(3)[np.tril_indices(3)]])
    best = scipy.optimize.minimize(
        lambda x: -observed_likelihood(x, columns.values, columns.seen), start, tol=1e-10
    )
    root = np.zeros((3, 3))
    root[np.tril_indices(3)] = best.x[3:]
    np.testing.assert_allclose(model.mean[0], best.x[:3], atol=1e-3)
    np.testing.assert_allclose(model.covariance[0], root @ root.T, atol=2e-3)


def test_a_table_without_holes_has_its_own_moments_and_all_its_rows():
    whole = read_table(table(share=0.0), "R")
    completed = complete(whole, 0)
    expected = cc.data.sufficient_statistics.gather_statistics(whole).moments
    assert completed.share == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_array_equal(completed.moments.rows, expected.rows)
    np.testing.assert_allclose(completed.moments.mean, expected.mean, atol=1e-8)
    np.testing.assert_allclose(completed.moments.scatter, expected.scatter, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(completed.table(3).columns[0], whole.columns[0])


def test_unrelated_columns_have_the_information_of_the_rows_that_have_both():
    data = read_table(table(300, 0.3).drop(columns="R"), None)
    columns = completion._columns(data)
    q = columns.values.shape[1]
    nothing = completion.NormalCells(
        np.ones(1), np.zeros((1, q)), np.eye(q)[None], 300 * np.eye(q)[None], np.array([300.0])
    )
    both = columns.seen[:, 0] & columns.seen[:, 1]
    assert Information(columns, nothing).share(0, 1, (), [0]) == pytest.approx(
        both.mean(), abs=1e-6
    )
    assert Information(columns, nothing).share(0, 1, (2,), [0]) == pytest.approx(
        both.mean(), abs=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("given", [(), (2,), (2, 3)])
def test_information_is_one_over_the_variance_of_what_em_estimates(given):
    found, worth = [], []
    for seed in range(300):
        random = np.random.default_rng([seed, 7])
        z, w = random.standard_normal((2, 250))
        x, y = (
            0.8 * z + 0.5 * w + random.standard_normal(250),
            0.8 * z + random.standard_normal(250),
        )
        if given == ():  # the pair itself has to be independent
            y = random.standard_normal(250)
        if given == (2, 3):
            y = y + 0.5 * w
        wide = np.column_stack([x, y, z, w])
        data = read_table(
            pd.DataFrame(wide, columns=list("abcd")).mask(random.random(wide.shape) < 0.3), None
        )
        columns = completion._columns(data)
        model = fit(columns)
        inverse = np.linalg.inv(model.covariance[0][np.ix_([0, 1, *given], [0, 1, *given])])
        found.append(-inverse[0, 1] / np.sqrt(inverse[0, 0] * inverse[1, 1]))
        worth.append(Information(columns, model).share(0, 1, given, [0]))
    assert 250 * np.mean(worth) * np.var(found) == pytest.approx(1.0, abs=0.25)


def test_answers_for_completed_tables_are_pooled_by_d2():
    p = np.array([[0.01, 0.5, 0.2], [0.03, 0.6, 0.001], [0.02, 0.4, 0.05]])
    df = np.array([1.0, 2.0, 3.0])
    answers = [
        Outcomes(scipy.stats.chi2.isf(row, df), df, row, np.full(3, 9), np.zeros(3, np.int8))
        for row in p
    ]
    found, m = pooled(answers, [Label("any")]), 3
    for place, k in enumerate([1, 2, 3]):  # Li, Meng, Raghunathan and Rubin (1991), by hand
        w = [scipy.stats.chi2.isf(row[place], k) for row in p]
        r = (1 + 1 / m) * sum((np.sqrt(one) - np.mean(np.sqrt(w))) ** 2 for one in w) / (m - 1)
        d = (np.mean(w) / k - (m + 1) / (m - 1) * r) / (1 + r)
        expected = (
            scipy.stats.f.sf(d, k, k ** (-3 / m) * (m - 1) * (1 + 1 / r) ** 2) if d > 0 else 1.0
        )
        assert found.p[place] == pytest.approx(expected)


def test_degrees_of_freedom_of_students_t_are_none_of_a_chi_squared_statistic():
    p = [np.array([0.01]), np.array([0.02]), np.array([0.015])]
    answers = [
        Outcomes(
            scipy.stats.t.isf(own / 2, 195),
            np.array([195.0]),
            own,
            np.array([200]),
            np.zeros(1, np.int8),
        )
        for own in p
    ]
    assert 0.01 < pooled(answers, [Label("sandwich")]).p[0] < 0.05


def test_a_change_between_contexts_by_moments_is_the_one_of_the_rows_where_nothing_is_missing():
    random = np.random.default_rng(3)
    r, z = random.integers(3, size=240), random.exponential(size=240)
    y = z + 0.2 * r + random.standard_normal(240)
    frame = pd.DataFrame(
        {
            "z": z,
            "y": y,
            "w": 0.5 * z**2 + random.standard_normal(240) * np.where(r, 1, 1.3),
            "R": r,
        }
    )
    data, test = read_table(frame, "R"), find_test("auto")
    asked = [
        CIQuery(1, 3, ()),
        CIQuery(3, 1, (0,)),
        CIQuery(2, 3, (0, 1)),
        CIQuery(2, 3, ()),
        CIQuery(0, 3, (2,)),
    ]
    expected, found = (
        prepare(data, test, "raise")[2].answer(asked),
        PreparedCompletions(test, complete(data, 0)),
    )
    found = found.answer(asked)
    assert 1e-5 < expected.p.min() < 0.05
    np.testing.assert_allclose(found.p, expected.p, rtol=1e-4)
    np.testing.assert_allclose(found.df, expected.df)
    np.testing.assert_array_equal(found.label, expected.label)
    np.testing.assert_array_equal(found.n, expected.n)


def test_completed_tables_keep_kinds_values_and_what_was_seen():
    frame = table(120, 0.15).assign(
        colour=np.random.default_rng(1).choice(["red", "green", "blue"], 120),
        count=np.random.default_rng(2).poisson(3.0, 120).astype(float),
    )
    frame.loc[::7, "colour"], frame.loc[::5, "count"], frame.loc[::11, "R"] = None, np.nan, None
    data = read_table(frame, "R")
    drawn = complete(data, 0).table(0)
    for position in data.system:
        given, own = (np.asarray(each.columns[position], dtype=float) for each in (data, drawn))
        np.testing.assert_array_equal(own[np.isfinite(given)], given[np.isfinite(given)])
        assert set(own) <= set(given[np.isfinite(given)])
    assert (drawn.codes >= 0).all()
    np.testing.assert_array_equal(drawn.codes[data.codes >= 0], data.codes[data.codes >= 0])


def test_rows_without_a_context_go_where_they_belong():
    frame = table(300, 0.0).assign(R=np.repeat(["dry", "wet"], 150))
    frame["B"] = frame["B"].where(frame["R"] == "dry", frame["B"] + 20.0)
    truth = frame["R"].to_numpy().copy()
    frame.loc[::10, "R"] = None
    drawn = complete(read_table(frame, "R"), 0).table(0)
    assert [drawn.values[code] for code in drawn.codes] == truth.tolist()


@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac", "score-ac", "auto"])
def test_every_method_takes_a_table_with_holes(method):
    result = cc.discover(table(400, 0.15, seed=3), "R", method=method, missing="model")
    assert sum(result.data.rows) == 400
    assert any("missing and were modelled" in note for note in result.notes)
    assert result.graphs["wet"].mark("C", "D") != ""
    if method in ("score-ac", "auto"):
        assert result.settings.method == "score-ac"
        assert result.graphs["wet"].mark("A", "B") != ""
        assert result.graphs["dry"].mark("A", "B") == ""


def test_order_of_columns_and_seed_of_completions():
    frame = table(300, 0.2, seed=5)
    first, again = (cc.discover(frame, "R", method="pc-ac", missing="model") for _ in range(2))
    assert first == again
    turned = cc.discover(frame[["R", "D", "B", "A", "C"]], "R", method="pc-ac", missing="model")
    for value in first.contexts:
        for x in first.names:
            for y in first.names:
                assert turned.graphs[value].mark(x, y) == first.graphs[value].mark(x, y)


def test_without_holes_model_changes_nothing():
    frame = table(200, 0.0)
    assert cc.discover(frame, "R", missing="model").graphs == cc.discover(frame, "R").graphs


def test_effects_stability_and_files_of_a_modelled_table(tmp_path):
    result = cc.discover(
        table(400, 0.15, seed=3),
        "R",
        missing="model",
        knowledge=cc.Knowledge(tiers=[["A"], ["B"], ["C"], ["D"]]),
    )
    effect = result.effects("C", "D").iloc[0]
    assert effect["low"] < 0.8 < effect["high"]
    assert 0.05 < effect["high"] - effect["low"] < 0.5
    often = result.stability(3).edges().set_index(["x", "y", "context"])["present"]
    assert often["C", "D", "wet"] == 1.0
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result
    assert isinstance(result.prepared, PreparedCompletions)


def test_what_missing_offers_first():
    with pytest.raises(
        cc.CausalContextError,
        match=r'pass missing="model" to use every observed cell of all 200 rows, '
        r'"listwise" to drop the rows that have one, which keeps \d+ of 200, or "testwise"',
    ):
        cc.discover(table(), "R")
    with pytest.raises(
        cc.CausalContextError, match="column 'A' has 3 values, missing='model' needs 10"
    ):
        cc.discover(
            table().assign(A=[1.0, 2.0, 3.0] + [np.nan] * 197), "R", missing="model", keep=["A"]
        )


@pytest.mark.slow
def test_level_and_power_with_a_third_of_the_cells_missing():
    found = {"auto": [], "sandwich": []}
    for seed in range(80):
        random = np.random.default_rng([seed, 9])
        z, r = random.standard_normal(200), random.integers(2, size=200)
        wide = np.column_stack(
            [z + random.standard_normal(200), z + random.standard_normal(200), z + 0.8 * r]
        )
        frame = (
            pd.DataFrame(wide, columns=list("XYZ"))
            .mask(random.random(wide.shape) < 0.3)
            .assign(R=r)
        )
        completed = complete(read_table(frame, "R"), seed)
        for test, p in found.items():
            asked = [
                CIQuery(0, 1, (2, 3)),
                CIQuery(0, 3, ()),
                CIQuery(0, 2, ()),
                CIQuery(2, 3, (0,)),
            ]
            p.append(PreparedCompletions(find_test(test), completed).answer(asked).p)
    for p in found.values():
        rejected = (np.array(p) < 0.05).sum(axis=0)
        assert rejected[:2].max() <= scipy.stats.binom.ppf(0.999, 80, 0.05)
        assert rejected[2:].min() > 72


CONTEXTS = {
    "none": None,
    "one": "R",
    "two": ["R", "S"],
    "threshold": cc.threshold("X", 0.0),
    "bins": cc.bins("X", [0.0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("lags", [None, 1])
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("method", ["pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac", "score-ac", "auto"])
def test_modelled_cells_go_with_every_method_context_and_question(method, context, lags, tmp_path):
    """Kinds of all sorts, a tenth of the cells missing: what a result answers without holes it
    answers with them.
    """
    random = np.random.default_rng(9)
    x, y, z = random.normal(size=(3, 400))
    table = pd.DataFrame(
        {"X": x - 0.5, "Y": 4.0 - x + y, "Z": np.where(y + z > 0.0, "high", "low").astype(object)}
    )
    table["W"] = random.poisson(np.exp(0.4 * y))
    holes = random.random((400, 4)) < 0.1
    holes[:, 0] &= context not in ("threshold", "bins")
    table = table.astype({"W": float}).mask(holes)
    table = table.assign(
        R=np.where(y + random.normal(size=400) > 0.0, "r", "q"),
        S=random.choice(["s", "t"], size=400),
    )
    if context != "two":
        table = table.drop(columns=["S"] if context == "one" else ["R", "S"])
    options = {} if lags is None else {"lags": lags}
    result = cc.discover(
        table, CONTEXTS[context], method=method, missing="model", kinds={"W": "count"}, **options
    )
    assert result.complete
    assert not result.edges().empty
    assert str(result.explain("X", "Y"))
    assert {"x", "y", "effect"} <= set(result.effects("X", "Y").columns)
    assert result.diagnose() is not None
    if len(result.contexts) > 1:
        assert result.changes(*result.contexts[:2]) is not None
    assert result.stability(samples=2, progress=False) is not None
    result.report(tmp_path / "report.html")
    result.save(tmp_path / "result.json")
    assert cc.load(tmp_path / "result.json") == result
