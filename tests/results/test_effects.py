"""Mechanisms and effects against naive twins on raw rows: shifted means, negative slopes, unequal
variances.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
import naive_effects as naive
from causalcontext.graphs import dags
from causalcontext.results.effects import mechanics, sets

NAMES = ["Y", "B", "R", "X", "A"]
GRAPH = {
    "dry": {"A": [], "X": ["A"], "R": ["X"], "B": ["X", "A", "R"], "Y": ["B", "X"]},
    "wet": {"A": [], "X": ["A"], "R": ["X"], "B": ["X", "R"], "Y": ["B", "X"]},
}
"""X and A lead to R; R changes the mechanism of B; that of Y is the same everywhere."""


def table(n=600, seed=0, shift=100.0):
    rng = np.random.default_rng(seed)
    a, e = rng.normal(size=n), rng.normal(size=(3, n))
    x = -0.8 * a + e[0] * (0.3 + np.abs(a)) + shift
    wet = x - shift + 0.5 * rng.normal(size=n) > 0.2
    b = np.where(wet, -0.9 * x + 5.0, 1.2 * x - 0.6 * a) + e[1]
    y = 0.7 * b - 0.5 * x + e[2] - shift
    return pd.DataFrame({"A": a, "X": x, "R": np.where(wet, "wet", "dry"), "B": b, "Y": y})[NAMES]


def graphs(graph, names=NAMES):
    return {
        r: cc.Graph.from_edges(names, [(c, v, "-->") for v in of for c in of[v]])
        for r, of in graph.items()
    }


def remarked(pair, mark):
    """The graphs with another mark between two variables."""
    new = {}
    for r, graph in graphs(GRAPH).items():
        edges = [
            (e.source, e.target, mark if {e.source, e.target} == pair else e.mark)
            for e in graph.edges
        ]
        new[r] = cc.Graph.from_edges(NAMES, edges)
    return new


@pytest.fixture(scope="module")
def rows():
    return table()


@pytest.fixture(scope="module")
def result(rows):
    return cc.discover(rows, context="R", method="pc-ac").with_graphs(graphs(GRAPH))


@pytest.fixture(scope="module")
def fits(rows):
    return naive.mechanisms(rows, GRAPH)


def one(frame, **values):
    for name, value in values.items():
        frame = frame[frame[name] == value] if value is not None else frame[frame[name].isna()]
    (row,) = frame.to_dict("records")
    return row


def test_coefficients_errors_rows_and_intervals_are_the_naive_ones(rows, result):
    found = result.mechanisms(level=0.9)
    assert len(found) == sum(
        len([c for c in of[v] if c != "R"]) for of in GRAPH.values() for v in of if v != "R"
    )
    for row in found.to_dict("records"):
        r, effect = row["context"], row["effect"]
        causes = [c for c in GRAPH[r][effect] if c != "R"]
        used = naive.rows_of(rows, GRAPH, r, effect)
        slopes, robust, _ = naive.least_squares(used, effect, causes)
        place = 1 + causes.index(row["cause"])
        error, df = np.sqrt(robust[place, place]), len(used) - len(slopes)
        assert row["coefficient"] == pytest.approx(slopes[place], rel=1e-7)
        assert row["se"] == pytest.approx(error, rel=1e-6)
        assert row["low"] == pytest.approx(slopes[place] + stats.t.ppf(0.05, df) * error, rel=1e-6)
        assert row["p"] == pytest.approx(
            2 * stats.t.sf(abs(slopes[place]) / error, df), rel=1e-4, abs=1e-300
        )
        scaled = slopes[place] * used[row["cause"]].std() / used[effect].std()
        assert row["standardised"] == pytest.approx(scaled, rel=1e-7)
        assert (row["n"], row["rows"]) == (len(used), "all" if len(used) == len(rows) else f"R={r}")
        assert row["shared by"] == (("dry", "wet") if len(used) == len(rows) else (r,))
    whys = found.set_index(["cause", "effect", "context"])["why"]
    assert whys["A", "X", "dry"] == "ancestor of R: one mechanism in all contexts"
    assert whys["X", "B", "wet"] == "R causes it"
    assert whys["B", "Y", "wet"] == "R does not cause it: one mechanism in all contexts"


def test_classical_errors_are_the_naive_ones(rows, result):
    row = one(result.mechanisms(errors="classical"), cause="A", effect="B", context="dry")
    _, _, classical = naive.least_squares(rows[rows["R"] == "dry"], "B", ["X", "A"])
    assert row["se"] == pytest.approx(np.sqrt(classical[2, 2]), rel=1e-7)
    assert row["errors"] == "classical"


@pytest.mark.parametrize(("x", "y"), [("A", "Y"), ("X", "Y"), ("A", "B"), ("B", "Y"), ("Y", "A")])
def test_effects_and_differences_are_sums_over_paths_with_the_errors_of_the_delta_method(
    result, fits, x, y
):
    found = result.effects(x, y)
    effect = {r: naive.total_effect(fits, GRAPH, r, x, y) for r in GRAPH}
    for r in GRAPH:
        row = one(found, context=r, versus=None)
        error = naive.standard_error(lambda f, r=r: naive.total_effect(f, GRAPH, r, x, y), fits)
        assert (row["effect"], row["se"]) == pytest.approx((effect[r], error), rel=1e-5, abs=1e-9)
        assert row["low"] <= row["effect"] <= row["high"]
    row = one(found, context="wet", versus="dry")
    error = naive.standard_error(
        lambda f: (
            naive.total_effect(f, GRAPH, "wet", x, y) - naive.total_effect(f, GRAPH, "dry", x, y)
        ),
        fits,
    )
    assert (row["effect"], row["se"]) == pytest.approx(
        (effect["wet"] - effect["dry"], error), rel=1e-5, abs=1e-9
    )
    assert found["identified"].all()


def test_paths_add_up_and_each_is_a_product(result, fits):
    found = result.effects("A", "Y", by_path=True)
    for row in found.to_dict("records"):
        path = row["path"].split(" --> ")
        error = naive.standard_error(lambda f, r=row["context"], p=path: naive.along(f, r, p), fits)
        expected = (naive.along(fits, row["context"], path), error)
        assert (row["effect"], row["se"]) == pytest.approx(expected, rel=1e-5)
    assert found.groupby("context").size().to_dict() == {"dry": 3, "wet": 2}
    whole = result.effects("A", "Y")
    for r, added in found.groupby("context")["effect"].sum().items():
        assert added == pytest.approx(one(whole, context=r, versus=None)["effect"])


def test_the_direct_part_is_the_coefficient(result):
    found = result.effects("X", "Y")
    slope = one(result.mechanisms(), cause="X", effect="Y", context="dry")["coefficient"]
    assert found["direct"].tolist() == pytest.approx([slope, slope, 0.0])


def test_the_order_of_columns_does_not_matter(rows, result):
    names = NAMES[::-1]
    turned = cc.discover(rows[names], context="R", method="pc-ac").with_graphs(graphs(GRAPH, names))
    for ask in (lambda r: r.mechanisms(), lambda r: r.effects()):
        first, second = ask(result), ask(turned)
        key = (
            ["cause", "effect", "context"] if "cause" in first else ["x", "y", "context", "versus"]
        )
        first, second = (
            f.fillna({"versus": ""}).sort_values(key).reset_index(drop=True)
            for f in (first, second)
        )
        pd.testing.assert_frame_equal(
            first.drop(columns="values", errors="ignore"),
            second.drop(columns="values", errors="ignore"),
            rtol=1e-6,
            atol=1e-9,
        )


def test_a_saved_result_answers_from_its_moments(result, tmp_path):
    result.save(tmp_path / "r.json")
    loaded = cc.load(tmp_path / "r.json")
    first, second = result.effects(errors="classical"), loaded.effects()
    pd.testing.assert_frame_equal(first, second)
    assert set(loaded.mechanisms()["errors"]) == {"classical"}
    with pytest.raises(cc.CausalContextError, match="needs the rows"):
        loaded.effects(errors="sandwich")
    with pytest.raises(cc.CausalContextError, match="loaded result"):
        loaded.effects("A", "Y", samples=20)


def test_without_a_context_there_is_one_context():
    rows = table(300).drop(columns="R")
    found = cc.discover(rows, method="pc-ac").effects()
    assert set(found["context"]) <= {"all"}


def test_open_directions_are_a_set_and_conflicts_are_named(result):
    pattern = remarked({"A", "X"}, "o-o")
    found = one(result.with_graphs(pattern).effects("A", "X"), context="dry", versus=None)
    assert not found["identified"]
    assert np.isnan(found["effect"])
    assert found["values"][1] == 0.0
    assert found["low"] < found["values"][0] < found["high"] == 0.0
    assert "left open by X o-o A" in found["note"] or "left open by A o-o X" in found["note"]
    crossed = remarked({"B", "Y"}, "x-x")
    found = one(result.with_graphs(crossed).effects("X", "Y"), context="dry", versus=None)
    assert found["note"] == "not identified, because of Y x-x B"
    assert found["values"] == ()


def test_open_ancestry_of_the_context_leaves_both_choices_of_rows():
    """Z o-o R: either Z leads to R, and is fitted on all rows, or R causes Z, and it is fitted by
    context.
    """
    names = ["Z", "W", "R"]
    rng = np.random.default_rng(1)
    z = rng.normal(size=400)
    frame = pd.DataFrame(
        {"Z": z, "W": z + rng.normal(size=400), "R": (z + rng.normal(size=400) > 0).astype(int)}
    )
    graph = cc.Graph.from_edges(names, [("W", "Z", "-->"), ("Z", "R", "o-o"), ("W", "R", "-->")])
    result = cc.discover(frame[names], context="R", method="pc-ac").with_graphs(
        {0: graph, 1: graph}
    )
    found = one(result.effects("W", "Z"), context=1, versus=None)
    wanted = [np.polyfit(part["W"], part["Z"], 1)[0] for part in (frame, frame[frame["R"] == 1])]
    assert found["values"] == pytest.approx(tuple(sorted(wanted)))


def test_what_cannot_be_fitted_says_so():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"X": rng.normal(size=60), "R": np.arange(60) % 2})
    frame["Y"] = np.where(frame["R"] == 0, frame["X"], 0.0) + rng.normal(size=60)
    frame.loc[frame["R"] == 1, "X"] = 3.0
    graph = cc.Graph.from_edges(["X", "R", "Y"], [("X", "Y", "-->"), ("R", "Y", "-->")])
    found = (
        cc.discover(frame, context="R", method="pc-ac")
        .with_graphs({0: graph, 1: graph})
        .effects("X", "Y")
    )
    assert one(found, context=0, versus=None)["identified"]
    note = one(found, context=1, versus=None)["note"]
    assert note.startswith("not identified: Y cannot be fitted (rows: R=1): a column is constant")


def test_marks_of_a_pag_are_to_blame_or_allow_adjustment(rows, result):
    edges = [
        ("A", "X", "o->"),
        ("X", "R", "-->"),
        ("X", "B", "-->"),
        ("R", "B", "-->"),
        ("B", "Y", "<->"),
    ]
    pag = cc.Graph.from_edges(NAMES, edges, "pag")
    found = result.with_graphs({"dry": pag, "wet": pag})
    assert "A o-> X" in one(found.effects("A", "X"), context="dry", versus=None)["note"]
    assert one(found.effects("B", "Y"), context="dry", versus=None)["effect"] == 0.0
    assert not found.mechanisms()["identified"].any()
    assert (
        "R --> B, which may hide a common cause"
        in one(found.effects("R", "B"), context="wet")["note"]
    )
    assert one(found.effects("X", "B"), context="dry", versus=None)["note"].startswith(
        "not identified, because of R, which"
    )
    plain = cc.Graph.from_edges(
        NAMES, [("A", "X", "o->"), ("X", "B", "-->"), ("R", "B", "o->")], "pag"
    )
    found = one(
        result.with_graphs({"dry": plain, "wet": plain}).effects("X", "B"),
        context="dry",
        versus=None,
    )
    dry = rows[rows["R"] == "dry"]
    assert found["effect"] == pytest.approx(naive.least_squares(dry, "B", ["X", "A"])[0][1])


def test_graphs_of_fci_ac_answer_where_their_marks_allow_it():
    found = cc.discover(
        cc.examples.soil_moisture(1000, seed=1), context="soil", method="fci-ac", alpha=0.01
    ).effects()
    assert found["identified"].any()
    assert (
        found.loc[~found["identified"], "note"].str.startswith("not identified, because of").all()
    )


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda r: r.effects("A", "nowhere"), "there is no variable 'nowhere'"),
        (lambda r: r.effects("A", "A"), "both 'A'"),
        (lambda r: r.effects("A", "R", by_path=True), "effects on the context 'R'"),
        (lambda r: r.effects("A", by_path=True), "needs a cause and an effect"),
        (lambda r: r.effects("R", "Y", by_path=True), "by path"),
        (lambda r: r.effects(level=1.5), "level"),
        (lambda r: r.effects(errors="hc9"), "errors"),
        (lambda r: r.effects(graph="other"), "graph"),
        (lambda r: r.effects("A", "Y", samples=3), "samples"),
        (lambda r: r.effects("A", "Y", by_path=True, samples=30), "by_path"),
        (lambda r: r.with_graphs({"dry": r.graphs["dry"]}), "expected"),
        (lambda r: r.predict_intervention({}), "values"),
        (lambda r: r.predict_intervention({"R": 1.0}), "is a context"),
        (lambda r: r.predict_intervention({"X": "much"}), "a number"),
        (lambda r: r.predict_intervention({"X": 1.0}, "damp"), "damp"),
    ],
)
def test_bad_questions_get_one_sentence(result, ask, words):
    with pytest.raises(cc.CausalContextError, match=words):
        ask(result)


def test_a_score_based_result_says_which_rows_and_where_lines_stand_for_curves():
    rng = np.random.default_rng(0)
    n = 1500
    x, r = rng.normal(size=n), rng.integers(0, 3, n)
    y = np.abs(x) * 2.0 + 0.3 * rng.normal(size=n)
    z = 0.8 * x + np.array([0.0, 3.0, -2.0])[r] + rng.normal(size=n)
    frame = pd.DataFrame({"X": x, "Y": y, "Z": z, "R": r})
    known = cc.Knowledge(tiers=[["X"], ["R"], ["Y", "Z"]])
    result = cc.discover(frame, context="R", method="score-ac", knowledge=known, transform="none")
    level = one(result.mechanisms(), cause="X", effect="Z", context=1)
    assert level["shared by"] == (0, 1, 2)
    assert level["why"] == "the model of Z is shifted"
    design = np.column_stack([x, *(r == k for k in range(3))]).astype(float)
    assert level["coefficient"] == pytest.approx(np.linalg.lstsq(design, z, rcond=None)[0][0])
    assert result.evidence.curved
    assert (
        "linear approximation of X --> Y"
        in one(result.effects("X", "Y"), context=0, versus=None)["note"]
    )
    assert one(result.effects("X", "Z"), context=0, versus=None)["note"] == ""


@pytest.mark.parametrize(("columns", "contexts"), [(3, 8), (6, 4)])
def test_open_graphs_of_many_contexts_are_listed_with_bounded_work(columns, contexts, monkeypatch):
    """A time limit leaves everything open."""
    random, looks, fits = np.random.default_rng(0), [], []
    values = np.cumsum(random.normal(size=(contexts * 40, columns)), axis=1)
    table = pd.DataFrame(values, columns=[f"X{i}" for i in range(columns)]).assign(
        R=np.repeat(range(contexts), 40)
    )
    result = cc.discover(table, "R", method="pc-ac", time_limit=1e-9)
    copies, local_effect = dags._Turning._copies, sets._local_effect
    monkeypatch.setattr(dags._Turning, "_copies", lambda *given: looks.append(1) or copies(*given))
    monkeypatch.setattr(
        sets, "_local_effect", lambda *given: fits.append(1) or local_effect(*given)
    )
    found = result.effects()
    pairs = columns * (columns - 1)
    assert (
        len(found)
        == pairs * contexts * (contexts + 1) // 2 + columns * contexts * (contexts - 1) // 2
    )
    assert len(looks) < 200_000
    assert len(fits) < sets.MOST_FITS
    assert not found["identified"].any()
    assert found["note"].str.contains("left open by|leave too many choices").all()


def test_of_large_open_graphs_some_values_are_listed_with_at_least(monkeypatch):
    """Twelve dense columns took 9,000 regressions; which are asked does not depend on the order of
    the columns.
    """
    random, fits = np.random.default_rng(1), []
    values = random.normal(size=(300, 12)) + random.normal(size=(300, 1))
    table = pd.DataFrame(values, columns=[f"X{i}" for i in range(12)]).assign(R=np.arange(300) % 2)
    regression = mechanics.fit
    monkeypatch.setattr(mechanics, "fit", lambda *given: fits.append(1) or regression(*given))
    result = cc.discover(table, "R", method="pc-m", time_limit=1e-9)
    found = result.effects()
    assert len(fits) < sets.MOST_FITS
    assert found["note"].str.contains("at least between").any()
    assert not found["identified"].any()
    turned = cc.discover(table[table.columns[::-1]], "R", method="pc-m", time_limit=1e-9).effects(
        "X3", "X7"
    )
    same = result.effects("X3", "X7")
    for one, other in zip(same["values"], turned["values"], strict=True):
        assert one == pytest.approx(other)
    assert result.mechanisms()["note"].str.contains("at least").any()


def test_where_every_pair_could_ask_one_choice_of_very_many_none_is_asked(monkeypatch):
    """Two of the choices of 25 open edges would say next to nothing about the others, and took
    4,700 regressions.
    """
    random, fits = np.random.default_rng(2), []
    values = random.normal(size=(400, 25)) + random.normal(size=(400, 1))
    table = pd.DataFrame(values, columns=[f"X{i}" for i in range(25)]).assign(R=np.arange(400) % 4)
    result = cc.discover(table, "R", method="pc-ac", time_limit=1e-9)
    regression = mechanics.fit
    monkeypatch.setattr(mechanics, "fit", lambda *given: fits.append(1) or regression(*given))
    found = result.effects()
    assert len(fits) < 300
    assert not found["identified"].any()
    assert (
        found["note"]
        .str.contains("too many choices of the causes of X3 and R; add knowledge")
        .any()
    )
    assert result.mechanisms()["note"].str.contains("at least").any()


def test_one_pair_in_many_open_contexts_takes_its_share_of_the_work(monkeypatch):
    """One arrow may ask something of every other graph, and that of every other variable: it stops,
    too.
    """
    random, contexts, looks = np.random.default_rng(0), 26, []
    values = np.cumsum(random.normal(size=(contexts * 40, 12)), axis=1)
    table = pd.DataFrame(values, columns=[f"X{i}" for i in range(12)]).assign(
        R=np.repeat(range(contexts), 40)
    )
    result = cc.discover(table, "R", method="pc-ac", time_limit=1e-9)
    copies = dags._Turning._copies
    monkeypatch.setattr(dags._Turning, "_copies", lambda *given: looks.append(1) or copies(*given))
    assert not result.effects("X0", "X1")["identified"].any()
    assert len(looks) * contexts < dags.MOST_LOCAL_STEPS // 5


def test_open_edges_that_no_directed_graph_has_are_refused_where_there_are_too_many_to_list(
    monkeypatch,
):
    """In large graphs that a time limit cut, every direction at a variable may make a cycle or a
    new collider.
    """
    table = pd.DataFrame(
        np.cumsum(np.random.default_rng(0).normal(size=(200, 4)), axis=1)
    ).add_prefix("X")
    result = cc.discover(table.assign(R=np.arange(200) % 2), "R", method="pc-m", time_limit=1e-9)
    monkeypatch.setattr(dags.OpenGraphs, "families", lambda *_: None)
    monkeypatch.setattr(dags.OpenGraphs, "local", lambda *_: dags.LocalFamilies((), False))
    for found in (result.effects("X0", "X1"), result.mechanisms()):
        assert found["note"].str.contains("no directed acyclic graph").all()
