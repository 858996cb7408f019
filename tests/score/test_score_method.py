"""`method="score-ac"` and `method="auto"` through the public door."""

import numpy as np
import pandas as pd
import pytest
from score_tables import kinds_table, model_table
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.diagnostics.other_methods import ask_other_engine
from causalcontext.examples import exponential, student_t5
from causalcontext.score import explore, options
from causalcontext_lab.simulate import random_model
from marks import rest_slow


@pytest.fixture(scope="module")
def table():
    return cc.examples.soil_moisture(800, seed=4)


@pytest.fixture(scope="module")
def result(table):
    return cc.discover(table, context="soil", method="score-ac")


def marks_by_name(result):
    names = sorted(result.names)
    return {
        value: [[graph.mark(x, y) for y in names] for x in names]
        for value, graph in result.graphs.items()
    }


def test_the_example_is_recovered(result):
    assert result.union.mark("precipitation", "soil") == "-->"
    assert result.graphs["wet"].mark("precipitation", "runoff") == "-->"
    assert result.graphs["dry"].mark("precipitation", "runoff") == ""
    assert result.graphs["dry"].neighbours("soil") == result.graphs["wet"].neighbours("soil") != ()
    assert result.settings.method == "score-ac"
    assert result.complete
    assert result.notes == ()


def test_evidence_takes_the_place_of_tests(result):
    tests, scores = result.tests(), result.scores()
    assert list(tests.columns) == list(
        cc.discover(model_table(100, 1), "R", method="pc-ac").tests().columns
    )
    assert len(tests) == len(scores)
    assert (tests["decision"] == scores["decision"]).all()
    assert (tests["statistic"] == scores["score"]).all()
    assert (tests["n"] == scores["n"]).all()
    assert set(tests["test"]) == {"score"}
    assert set(tests["rows"]) <= {"pooled", "soil=dry", "soil=wet"}
    assert tests["p"].isna().all()
    assert all(not {row.x, row.y} & set(row.given) for row in tests.itertuples())
    assert len(scores) == 2 * 21
    assert list(scores.columns[:4]) == ["context", "x", "y", "effect"]
    for row in scores.itertuples():
        present = result.graphs[row.context].mark(row.x, row.y) != ""
        assert present == (row.decision == "present")
        assert (row.score > 0) == present
    assert len(cc.discover(model_table(100, 1), "R", method="pc-ac").scores()) == 0


def test_edges_have_scores_and_no_p_values(result):
    edges = result.edges()
    assert list(edges.columns) == [
        "source",
        "target",
        "mark",
        "contexts",
        "strength",
        "p-value",
        "n",
        "score",
        "model",
        "margin",
        "hidden cause",
        "p_edge",
        "p_direction",
        "stability",
    ]
    assert edges["p-value"].isna().all()
    assert (edges["score"] > 0).all()
    assert edges["strength"].abs().between(0, 1).all()
    at_context = edges[(edges["source"] == "soil") | (edges["target"] == "soil")]
    assert (at_context["n"] == 800).all()


def test_strength_is_the_partial_correlation(table, result):
    edge = result.edges().set_index(["source", "target"]).loc["temperature", "humidity"]
    rows = table[["temperature", "evapotranspiration", "humidity"]].to_numpy()
    precision = np.linalg.inv(np.cov(rows.T))
    naive = -precision[0, 2] / np.sqrt(precision[0, 0] * precision[2, 2])
    assert edge["strength"] == pytest.approx(naive, abs=1e-9)
    gain = -0.5 * 800 * np.log(1 - naive**2) - np.log(800)
    assert edge["score"] == pytest.approx(gain, abs=1e-6)


def test_explanations_say_how_much_and_which_mechanism(result):
    dry, wet = result.explain("precipitation", "runoff").splitlines()
    assert dry.startswith(
        "absent in dry: every path between them is blocked by soil; the link would lower the score"
    )
    assert "intercept and some slopes differ between contexts (800 rows)" in dry
    assert wet.startswith(
        "present in wet (precipitation --> runoff): the link raises the score of the model by"
    )
    assert "either direction score the same" in result.explain("radiation", "temperature")
    assert "multinomial logit on 800 rows" in result.explain("precipitation", "soil")


def test_saved_results_are_equal_again(tmp_path, result):
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert again == result
    assert again.scores().equals(result.scores())
    assert again.edges().equals(result.edges())
    assert str(again) == str(result)
    assert again.explain("soil", "runoff") == result.explain("soil", "runoff")


def test_the_summary_says_how_it_was_found(result):
    assert "score-ac on 800 rows, 7 variables (search: exact, transform: none, score: " in str(
        result
    )
    climbed = cc.discover(
        cc.examples.soil_moisture(300, seed=4), context="soil", method="score-ac", search="order"
    )
    assert "search: order" in str(climbed)
    assert "of 10 starts" in str(climbed)


@pytest.mark.parametrize("design", rest_slow([{"contexts": 3}, {}, {"nodes": 12}]))
def test_workers_columns_and_units_do_not_matter(design):
    rows = model_table(300, 21, **design)
    result = cc.discover(rows, "R", method="score-ac", seed=3)
    assert cc.discover(rows, "R", method="score-ac", seed=3) == result
    assert cc.discover(rows, "R", method="score-ac", seed=3, n_jobs=2) == result
    shuffled = rows[np.random.default_rng(0).permutation(rows.columns)]
    assert marks_by_name(cc.discover(shuffled, "R", method="score-ac", seed=3)) == marks_by_name(
        result
    )
    scaled = rows.assign(**{name: 1000.0 * rows[name] + 5.0 for name in rows if name != "R"})
    assert marks_by_name(cc.discover(scaled, "R", method="score-ac", seed=3)) == marks_by_name(
        result
    )
    renamed = rows.rename(
        columns={name: f"Z{ord(name[-1]) % 7}{name}" for name in rows if name != "R"}
    )
    again = cc.discover(renamed, "R", method="score-ac", seed=3)
    assert [graph.endpoints.tolist() for graph in again.graphs.values()] == [
        graph.endpoints.tolist() for graph in result.graphs.values()
    ]


def test_exact_and_order_search_agree():
    rows = model_table(400, 33)
    exact = cc.discover(rows, "R", method="score-ac", search="exact")
    order = cc.discover(rows, "R", method="score-ac", search="order")
    assert exact.evidence.score == pytest.approx(order.evidence.score, abs=1e-6)
    assert exact.graphs == order.graphs
    with pytest.raises(cc.OptionError, match="too large"):
        cc.discover(model_table(100, 1, nodes=16), "R", method="score-ac", search="exact")


def test_without_a_context_there_is_one_graph(table):
    result = cc.discover(table.drop(columns="soil"), method="score-ac", transform="none")
    assert result.contexts == ("all",)
    assert result.graphs["all"].mark("radiation", "temperature") == "o-o"
    assert set(result.evidence.model) == {"pooled"}
    assert "one regression" in result.explain("radiation", "temperature")


def test_a_shift_of_level_alone_is_found():
    generator = np.random.default_rng(8)
    code, x = generator.integers(3, size=900), generator.normal(size=900)
    y = x + 0.8 * code + generator.normal(size=900)
    result = cc.discover({"X": x, "Y": y, "R": code}, "R", method="score-ac", transform="none")
    assert result.evidence.model[:2] == ("pooled", "shifted")
    assert "intercept differs between contexts, its slopes do not" in result.explain("X", "Y")
    assert [str(edge) for edge in result.union.edges] == ["X --> Y", "R --> Y"]


def test_a_time_limit_returns_the_best_so_far():
    rows = model_table(300, 2, nodes=80, density=0.04)
    result = cc.discover(rows, "R", method="score-ac", time_limit=1e-6, transform="none")
    assert not result.complete
    assert result.final
    assert result.evidence.starts == 1
    said = result.warnings[0]
    assert said.startswith("the time limit ended the search early")
    assert "curves were not tried" in said
    assert "directions that were not checked are left open" in said
    assert {edge.mark for edge in result.union.edges} == {"o-o"}


def interrupting(times):
    """`wait` of the clock: Ctrl-C is pressed the first times it is called."""
    from concurrent.futures import wait

    left = [times]

    def waiting(futures, timeout):
        left[0] -= 1
        if left[0] >= 0:
            raise KeyboardInterrupt
        return wait(futures, timeout)

    return waiting


@pytest.mark.parametrize(
    ("method", "nodes"), [(cc.ScoreAC(search="order"), 12), ("auto", 30)], ids=["score-ac", "auto"]
)
def test_ctrl_c_in_the_first_climb_keeps_where_it_stands(method, nodes, monkeypatch):
    def never(_):
        raise AssertionError("another search was begun")

    monkeypatch.setattr(options, "wait", interrupting(1))
    monkeypatch.setattr("causalcontext.methods.auto.pc_ac", never)
    with pytest.raises(cc.InterruptedSearch) as caught:
        cc.discover(model_table(300, 2, nodes=nodes), "R", method=method)
    result = caught.value.result
    assert not result.complete
    assert result.settings.method == "score-ac"
    assert result.evidence.starts == 1
    assert any(note.startswith("Ctrl-C ended the search early") for note in result.notes)
    assert not any("time limit" in note for note in (*result.notes, *result.warnings))


def test_a_second_ctrl_c_does_not_wait(monkeypatch):
    monkeypatch.setattr(options, "wait", interrupting(2))
    with pytest.raises(KeyboardInterrupt) as caught:
        cc.discover(model_table(300, 2, nodes=12), "R", method="score-ac", search="order")
    assert not isinstance(caught.value, cc.InterruptedSearch)


def test_ctrl_c_while_directions_are_asked_leaves_them_open(monkeypatch):
    rows = model_table(300, 2)
    whole = cc.discover(rows, "R", method="score-ac")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("causalcontext.score.search.ExactScores.without", stop)
    with pytest.raises(cc.InterruptedSearch) as caught:
        cc.discover(rows, "R", method="score-ac")
    graphs = caught.value.result.graphs
    assert {level: graph.adjacency.tolist() for level, graph in graphs.items()} == {
        level: graph.adjacency.tolist() for level, graph in whole.graphs.items()
    }
    assert {edge.mark for graph in graphs.values() for edge in graph.edges} == {"o-o"}


def test_ctrl_c_in_a_second_opinion_is_heard(monkeypatch):
    result = cc.discover(
        model_table(300, 2, nodes=12), "R", method="pc-ac", test="partial-correlation"
    )
    monkeypatch.setattr(options, "wait", interrupting(1))
    with pytest.raises(KeyboardInterrupt):
        ask_other_engine(result)


def test_progress_counts_starts():
    seen = []
    cc.discover(
        model_table(200, 2),
        "R",
        method="score-ac",
        starts=3,
        transform="none",
        progress=lambda *a: seen.append(a),
    )
    assert seen == [(-1, 1, 3), (-1, 2, 3), (-1, 3, 3)]


def test_ctrl_c_keeps_the_best_so_far():
    def stop(size, done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(cc.InterruptedSearch) as caught:
        cc.discover(model_table(200, 2), "R", method="score-ac", search="order", progress=stop)
    assert caught.value.result.evidence.starts == 2
    assert not caught.value.result.complete


@pytest.mark.parametrize("stage", ["in_ranks", "looks_curved"])
def test_ctrl_c_after_straight_lines_keeps_their_model(stage, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    table = model_table(200, 2)
    straight = cc.discover(table, "R", method="score-ac", transform="none", curves="never")
    monkeypatch.setattr(explore, stage, stop)
    with pytest.raises(cc.InterruptedSearch) as caught:
        cc.discover(table, "R", method="score-ac")
    assert dict(caught.value.result.graphs) == dict(straight.graphs)
    assert not caught.value.result.complete


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"search": "fast"}, "search is 'fast'"),
        ({"transform": "log"}, "transform is 'log'"),
        ({"curves": "some"}, "curves is 'some'"),
        ({"starts": 0}, "starts is 0"),
        ({"penalty": -1.0}, "penalty is -1.0"),
        ({"time_limit": 0}, "time_limit is 0"),
    ],
)
def test_bad_options_are_refused(option, words):
    with pytest.raises(cc.OptionError, match=words):
        cc.discover(model_table(100, 1), "R", method="score-ac", **option)


def test_small_constant_and_collinear_contexts_are_survived():
    generator = np.random.default_rng(5)
    rows = pd.DataFrame(generator.normal(size=(120, 3)), columns=list("XYZ")).assign(
        R=[0] * 100 + [1] * 17 + [2] * 3
    )
    rows.loc[rows["R"] == 1, "X"] = 2.0
    rows["W"] = np.where(rows["R"] == 0, rows["Y"], generator.normal(size=120))
    result = cc.discover(rows, "R", method="score-ac", transform="none")
    assert np.isfinite(result.evidence.score)
    assert result.union.mark("R", "X") == "-->"
    assert result.knowledge_violations() == []


@pytest.mark.parametrize("warp", rest_slow([np.exp, lambda x: x**3]), ids=["exp", "cube"])
def test_ranks_undo_a_warp_and_are_not_used_without_need(warp):
    rows = model_table(600, 77)
    plain = cc.discover(rows, "R", method="score-ac")
    assert plain.evidence.transform == "none"
    bent = rows.assign(
        **{name: warp(rows[name] / rows[name].std()) for name in rows if name != "R"}
    )
    found = cc.discover(bent, "R", method="score-ac")
    assert found.evidence.transform == "ranks"
    again = cc.discover(rows, "R", method="score-ac", transform="ranks")
    assert again.evidence.transform == "ranks"
    assert marks_by_name(found) == marks_by_name(again)


@pytest.mark.parametrize("noise", [exponential, student_t5])
def test_noise_has_a_law_of_its_own(noise):
    """Skew and tails speak for directions now, not against the model."""
    model = random_model(seed=6, noise=noise)
    result = cc.discover(model.sample(1000, 1), "R", method="score-ac", transform="none")
    truth = model.union_graph()
    assert all(
        truth.mark(edge.source, edge.target) in ("-->", "<=>") for edge in result.union.edges
    )
    assert "o-o" not in str(result.union)
    assert not any("skewed" in note or "tails" in note for note in result.warnings)
    assert {
        one.density[0] > 0 for one in result.evidence.mechanisms.equations if one.kind == "number"
    } == {True}


def test_curves_with_skewed_noise_are_warned_of():
    generator = np.random.default_rng(3)
    a = generator.normal(size=800)
    b = a**2 + 0.5 * (generator.exponential(size=800) - 1.0)
    rows = pd.DataFrame({"A": a, "B": b, "R": generator.integers(2, size=800)})
    result = cc.discover(rows, "R", method="score-ac", transform="none")
    words = "edges are mostly safe, but links at the context may be false or point the wrong way"
    assert f"residuals of B are skewed: {words}" in result.warnings


@pytest.mark.slow
def test_gaussian_tables_get_few_warnings():
    noted = [
        bool(cc.discover(model_table(500, seed), "R", method="score-ac").warnings)
        for seed in range(12)
    ]
    assert sum(noted) <= 2


def uneven_table(seed):
    """Noise whose size depends on the causes: no curve of a mean fits it."""
    generator = np.random.default_rng(seed)
    a, b = generator.normal(size=(2, 800))
    c = a * generator.normal(size=800)
    d = b * np.abs(b) * generator.normal(size=800)
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d, "R": generator.integers(2, size=800)})


def test_auto_says_what_it_chose_and_why(monkeypatch):
    monkeypatch.setattr(
        "causalcontext.score.explore._uneven", lambda even, effort: even
    )  # as if no scale fitted
    straight = cc.discover(model_table(400, 3), "R", method="auto")
    assert straight.settings.method == "score-ac"
    assert straight.notes[0].startswith("method 'auto' chose score-ac: it accepts all columns")
    uneven = cc.discover(uneven_table(1), "R", method="auto", transform="none")
    assert uneven.settings.method == "score-ac"
    assert "variables have residuals of unequal variance" in uneven.notes[0]
    assert len(uneven.tests()) > 0
    assert uneven == cc.discover(uneven_table(1), "R", method="auto", transform="none")


def test_auto_takes_categories_but_not_very_many_levels():
    rows = kinds_table(300, 1)
    assert cc.discover(rows, "R", method="auto").settings.method == "score-ac"
    some = cc.discover(rows.assign(K=[f"k{i % 30}" for i in range(300)]), "R", method="auto")
    assert some.settings.method == "score-ac"
    many = cc.discover(
        rows.assign(K=[f"k{i % 60}" for i in range(300)]), "R", method="auto", keep=["K"]
    )
    assert many.settings.method == "pc-ac"
    assert "column 'K' has more than 50 levels" in many.notes[0]


def test_the_command_line_knows_score_ac(tmp_path, table):
    table.to_csv(tmp_path / "soil.csv", index=False)
    arguments = [
        "discover",
        str(tmp_path / "soil.csv"),
        "--context",
        "soil",
        "--method",
        "score-ac",
    ]
    done = CliRunner().invoke(
        app, [*arguments, "--starts", "4", "--json", str(tmp_path / "r.json")]
    )
    assert done.exit_code == 0
    assert "score-ac on 800 rows" in done.output
    assert "4 of 4 starts" in done.output
    assert cc.load(tmp_path / "r.json").evidence.starts == 4
    assert CliRunner().invoke(app, [*arguments, "--transform", "log"]).exit_code == 2


def test_where_there_are_only_categories_no_curves_are_tried():
    generator = np.random.default_rng(6)
    a, b = generator.integers(3, size=(2, 400))
    c = np.where(generator.random(400) < 0.8, (a + b) % 3, generator.integers(3, size=400))
    code = (generator.random(400) < 0.2 + 0.3 * c).astype(int)
    table = pd.DataFrame({"A": a, "B": b, "C": c}).astype(str).add("x").assign(R=code)
    found, lines = (
        cc.discover(table, "R", method="score-ac", curves=curves) for curves in ("auto", "never")
    )
    assert np.isnan(found.evidence.curves_gain)
    assert found.evidence.score == lines.evidence.score
