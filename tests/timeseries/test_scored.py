"""score-ac with lags: the search of a table of windows, with several contexts, thresholds and all
kinds of columns.
"""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.knowledge import Knowledge
from causalcontext.score.data import score_data
from causalcontext.score.design import ScoreDesign
from causalcontext.score.options import ScoreOptions
from causalcontext.score.search import ExactScores
from causalcontext.timeseries.scored import cells_of_now
from causalcontext.views import Contexts
from causalcontext_lab.simulate import SeriesDesign, random_series_model


def two_contexts(rows=1500, seed=0):
    """B follows A where R is hi; the sign of B -> C is that of S; C acts on D a step later where A
    was above 0.
    """
    random = np.random.default_rng(seed)
    noise, x = random.normal(size=(rows, 4)), np.zeros((rows, 4))
    r, s = np.zeros(rows, dtype=bool), np.zeros(rows, dtype=bool)
    for t in range(1, rows):
        s[t] = random.random() < (0.8 if s[t - 1] else 0.2)
        x[t, 0] = 0.5 * x[t - 1, 0] + noise[t, 0]
        r[t] = random.random() < 1.0 / (1.0 + np.exp(-2.0 * x[t, 0]))
        x[t, 1] = 0.4 * x[t - 1, 1] + 0.8 * r[t] * x[t, 0] + noise[t, 1]
        x[t, 2] = 0.3 * x[t - 1, 2] + (0.7 if s[t] else -0.7) * x[t, 1] + noise[t, 2]
        x[t, 3] = 0.3 * x[t - 1, 3] + 0.6 * (x[t - 1, 0] > 0) * x[t - 1, 2] + noise[t, 3]
    table = pd.DataFrame(x, columns=list("ABCD"))
    return table.assign(R=np.where(r, "hi", "lo"), S=np.where(s, "day", "night"))


@pytest.fixture(scope="module")
def table():
    return two_contexts()


def search(rows, context, **options):
    return cc.discover(rows, context=context, **({"lags": 1, "method": "score-ac"} | options))


def links(result):
    return {
        value: {(edge.source, edge.target) for edge in result.graphs[value].edges}
        for value in result.contexts
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_windows_made_by_hand_give_the_same_links(seed):
    """With the context of time t alone, a search with lags is one of a table of windows whose past
    are roots.
    """
    model = random_series_model(SeriesDesign(variables=4, lags=1, autocorrelation=0.5), seed)
    rows = model.sample(600, seed)
    wide = pd.concat(
        [
            rows.iloc[1:].reset_index(drop=True),
            rows.iloc[:-1].add_suffix("(t-1)").reset_index(drop=True),
        ],
        axis=1,
    )
    wide["R(t-1)"] = wide["R(t-1)"].astype("category")
    past = [name for name in wide if name.endswith("(t-1)")]
    system = list(model.names)
    known = cc.Knowledge(roots=past, forbidden=[("R(t-1)", name) for name in system])
    by_hand = cc.discover(
        wide, "R", method="score-ac", knowledge=known, curves="never", transform="none"
    )
    found = search(rows, "R", context_lags=[0], curves="never", transform="none")
    for value in found.contexts:
        mine, other = links(found)[value], links(by_hand)[value]
        assert {pair for pair in mine if pair[1] in system} == {
            pair for pair in other if pair[1] in system
        }


def test_several_contexts_and_the_lag_of_each(table):
    result = search(table, ["R", "S"])
    assert dict(result.reads) | {"D": None} == {"A": None, "B": ("R", 0), "C": ("S", 0), "D": None}
    for value, found in links(result).items():
        assert (("A", "B") in found) == (value[0] == "hi")
        assert {
            ("A", "R"),
            ("R", "B"),
            ("S", "C"),
            ("B", "C"),
            ("C(t-1)", "D"),
            ("S(t-1)", "S"),
        } <= found
        assert ("S", "B") not in found and ("R", "C") not in found  # noqa: PT018


def test_the_order_of_contexts_and_columns_does_not_matter(table):
    one = search(table, ["R", "S"])
    other = search(table[["S", "D", "R", "B", "A", "C"]], ["S", "R"])
    turned = {value[::-1]: found for value, found in links(other).items()}
    assert links(one) == turned
    assert dict(one.reads) == dict(other.reads)


def test_a_threshold_of_the_past_beside_a_context(table):
    """D depends on whether A was above 0 a step before, B on whether it is now; nobody had to make
    the column.
    """
    near = (
        table["B"]
        + 0.8 * np.where(table["A"] > 0, table["A"], 0.0)
        - 0.8 * (table["R"] == "hi") * table["A"]
    )
    rows = table.assign(B=near).drop(columns="R")
    result = search(rows, ["S", cc.threshold("A", 0.0)])
    assert (result.reads["B"], result.reads["D"]) == (("A > 0", 0), ("A > 0", 1))
    for value, found in links(result).items():
        assert (("C(t-1)", "D") in found) == (value[1] == "> 0")
        assert ("A", "A > 0") in found
        assert not any(target == "A > 0(t-1)" for _, target in found)


def test_everything_may_be_asked(table, tmp_path):
    result = search(table.iloc[:700], ["S", cc.threshold("A", 0.0)])
    assert "depends on" in result.explain("A", "B")
    assert {"source", "target", "claimed"} <= set(result.changes(*result.contexts[:2]).columns)
    assert not result.mechanisms().empty
    assert not result.effects("A", "B").empty
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result
    result.report(tmp_path / "r.html")
    assert result.stability(samples=2) is not None
    result.diagnose()


@pytest.mark.parametrize("method", ["score-ac", "pc-ac"])
def test_halves_have_every_context_even_one_of_few_rows(table, method):
    rare = np.repeat(["a", "c", "b"], [200, 14, 186])
    result = search(table.iloc[:400].assign(R=rare).drop(columns="S"), "R", method=method)
    halves = [result.windowed.half(number, 0) for number in range(8)]
    assert all(min(half.rows(tested)) >= 3 for half in halves for tested in (False, True))
    result.stability(samples=3)


def test_columns_keep_their_kinds():
    random = np.random.default_rng(3)
    rows, x, k, c = 800, np.zeros(800), np.zeros(800, dtype=int), np.zeros(800, dtype=int)
    for t in range(1, rows):
        x[t] = 0.4 * x[t - 1] + 1.2 * (k[t - 1] == 2) + random.normal()
        k[t] = int(np.clip(np.round(1.0 + 0.9 * x[t] + random.normal()), 0, 2))
        c[t] = random.poisson(np.exp(0.5 + 0.5 * np.tanh(x[t - 1])))
    table = pd.DataFrame({"X": x, "K": np.array(["low", "middle", "high"])[k], "C": c})
    result = search(table, None, kinds={"C": "count"})
    found = links(result)["all"]
    assert {("X(t-1)", "X"), ("K(t-1)", "X"), ("X(t-1)", "C")} <= found
    assert result.graphs["all"].mark("X", "K") != ""
    assert ("C(t-1)", "X") not in found
    assert ("C(t-1)", "K") not in found


def test_curves_over_time_are_found_and_lines_are_not_enough():
    random = np.random.default_rng(5)
    x, y = random.normal(size=600), np.zeros(600)
    for t in range(1, 600):
        x[t] += 0.3 * x[t - 1]
        y[t] = x[t - 1] ** 2 + 0.3 * y[t - 1] + random.normal()
    rows = pd.DataFrame({"X": x, "Y": y})
    assert ("X(t-1)", "Y") in links(search(rows, None))["all"]
    assert search(rows, None).evidence.curved
    lines = search(rows, None, curves="never", transform="none")
    assert lines.evidence.shape(lines.position("X(t-1)"), lines.position("Y"), 0) in ("", "spread")


def test_the_cell_that_stands_for_a_context_has_the_same_past():
    rows = pd.DataFrame(
        {"R": list("aabbab"), "R(t-1)": list("aaabba"), "X": range(6), "Y": [1, 3, 2, 5, 4, 9]}
    )
    data = read_table(rows, ["R", "R(t-1)"])
    now = Contexts((0,), ((0,), (1,)))
    assert [data.contexts.cells[cell] for cell in cells_of_now(data, now)] == [(0, 0), (1, 1)]
    alternating = read_table(rows.iloc[[2, 4] * 3].reset_index(drop=True), ["R", "R(t-1)"])
    assert [alternating.contexts.cells[cell] for cell in cells_of_now(alternating, now)] == [
        (0, 1),
        (1, 0),
    ]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_givens_cost_no_mechanism_and_change_no_link(seed):
    """What nothing may cause is given: the same links as where it has a mechanism, by all sets of
    candidates.
    """
    random = np.random.default_rng(seed)
    z = random.normal(size=(300, 2)) * [1.0, 3.0] + [0.0, 5.0]
    x = z @ [0.8, -0.2] + random.normal(size=300)
    y = 0.7 * x + 0.3 * z[:, 1] + random.normal(size=300)
    data = read_table(pd.DataFrame({"Z1": z[:, 0], "Z2": z[:, 1], "X": x, "Y": y}), None)
    options = ScoreOptions(curves="never", transform="none", densities=False)
    known = Knowledge(roots=["Z1", "Z2"]).links(data.names)
    design = ScoreDesign(
        score_data(data, gather_statistics(data, "listwise"), known), options, False
    )
    assert (design.data.responses, design.data.nodes, design.data.candidates) == (2, 2, 4)
    model = ExactScores(design, False).best_model()
    names = [data.names[position] for position in design.data.position]
    found = {(names[a], names[b]) for a, b in np.argwhere(model.links[0]).tolist()}
    assert found == _best_by_least_squares(data, ("Z1", "Z2"), ("X", "Y"))


def _best_by_least_squares(data, givens, nodes):
    """Every order of the nodes, every set of parents: least squares and log n for each
    parameter.
    """
    columns = {
        name: np.asarray(column) for name, column in zip(data.names, data.columns, strict=True)
    }
    n, best = data.n_rows, (-np.inf, set())
    for first, second in (nodes, nodes[::-1]):
        total, links_ = 0.0, set()
        for node, before in ((first, givens), (second, (*givens, first))):
            options = []
            for mask in range(1 << len(before)):
                parents = [name for k, name in enumerate(before) if mask >> k & 1]
                matrix = np.column_stack([np.ones(n), *(columns[name] for name in parents)])
                left = (
                    columns[node] - matrix @ np.linalg.lstsq(matrix, columns[node], rcond=None)[0]
                )
                options.append(
                    (-0.5 * n * np.log(left @ left / n) - len(parents) * np.log(n), parents)
                )
            value, parents = max(options)
            total, links_ = total + value, links_ | {(parent, node) for parent in parents}
        if total > best[0] + 1e-6:
            best = total, links_
    return best[1]
