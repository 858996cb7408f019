"""Mechanisms, labels and effects over time against naive twins on shifted columns; what is open
stays open.
"""

import naive_lagged_effects as naive
import numpy as np
import pandas as pd
import pytest
import scipy

import causalcontext as cc
from causalcontext.data.dataset import some_rows
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.examples import land_surface_model
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import at, split
from causalcontext.results.curve_difference import rows_inside
from causalcontext.results.effects.fits import CompleteRows, grouped, shared_fits
from causalcontext_lab.simulate import SeriesDesign, random_series_model
from naive_effects import least_squares


def causes_of(graph, names, context="R"):
    """{effect: [(cause, lag)]} of a window graph, the context left out."""
    found = {name: [] for name in names}
    for edge in graph.edges:
        cause, lag = split(edge.source)
        if context not in (cause, edge.target):
            found[edge.target].append((cause, lag))
    return found


def with_truth(model, table, lags, **options):
    """A result with the graphs of a model, whatever was found; columns of the table in any
    order.
    """
    result = cc.discover(table, context="R", lags=lags, method="score-ac", **options)
    graphs = {
        value: Graph.from_edges(result.names, list(model.truth[value].edges))
        for value in result.contexts
    }
    return result.with_graphs(graphs)


@pytest.fixture(scope="module", params=[1, 4])
def case(request):
    """A random system with shifted means and turned signs, its columns in another order."""
    model = random_series_model(SeriesDesign(variables=4, lags=2), request.param)
    table = model.sample(400, request.param)
    table["X2"] = 500.0 - 30.0 * table["X2"]
    table["X3"] = table["X3"] * 1e-3 - 7.0
    table = table[["X3", "R", "X1", "X4", "X2"]]
    return model, table, with_truth(model, table, 2)


def test_effects_are_sums_over_all_paths(case):
    model, table, result = case
    reads = {
        name: None if lag < 0 else int(lag)
        for name, lag in zip(model.names, model.reads, strict=True)
    }
    found = result.effects(steps=4)
    assert found["identified"].all()
    checked = 0
    for context in (0, 1):
        graph = causes_of(model.truth[context], model.names)
        fits = naive.mechanisms(table, graph, reads, context, 2)
        rows = found[(found["context"] == context) & found["versus"].isna()]
        for row in rows.itertuples():
            value, error = naive.effect(fits, graph, row.x, row.lag, row.y)
            assert row.effect == pytest.approx(value, rel=1e-6, abs=1e-9)
            assert row.se == pytest.approx(error, rel=1e-4, abs=1e-9)
            checked += value != 0.0
    assert checked > 20


def test_differences_are_those_of_the_effects(case):
    _, _, result = case
    found = {
        (row.x, row.lag, row.y, row.context, row.versus): row
        for row in result.effects().itertuples()
    }
    pairs = [key[:3] for key in found if key[4] is not None]
    assert pairs
    for pair in pairs:
        one, other, row = found[(*pair, 1, None)], found[(*pair, 0, None)], found[(*pair, 1, 0)]
        assert row.effect == pytest.approx(one.effect - other.effect, abs=1e-9)
        assert row.se <= one.se + other.se + 1e-12


def test_mechanisms_are_regressions_on_all_parents(case):
    model, table, result = case
    reads = {
        name: None if lag < 0 else int(lag)
        for name, lag in zip(model.names, model.reads, strict=True)
    }
    found = result.mechanisms().set_index(["cause", "effect", "context"]).sort_index()
    assert found["identified"].all()
    for context in (0, 1):
        graph = causes_of(model.truth[context], model.names)
        for effect, (causes, slopes, covariance) in naive.mechanisms(
            table, graph, reads, context, 2
        ).items():
            for place, (cause, lag) in enumerate(causes, start=1):
                row = found.loc[(at(cause, lag), effect, context)]
                assert row["coefficient"] == pytest.approx(slopes[place], rel=1e-6)
                assert row["se"] == pytest.approx(np.sqrt(covariance[place, place]), rel=1e-6)
                copy = reads[effect]
                assert row["rows"] == ("all" if copy is None else f"{at('R', copy)}={context}")


def test_paths_add_up(case):
    _, _, result = case
    whole = result.effects("X1", "X2", steps=3)
    parts = result.effects("X1", "X2", steps=3, by_path=True)
    for row in whole[whole["versus"].isna()].itertuples():
        chosen = parts[(parts["lag"] == row.lag) & (parts["context"] == row.context)]
        assert chosen["effect"].sum() == pytest.approx(row.effect, abs=1e-9)


@pytest.mark.slow
def test_long_effects_are_those_of_the_simulator():
    """A unit of radiation, many steps later, as the true slopes carry it."""
    model = land_surface_model()
    table = model.sample(4000, 3).rename(columns={"regime": "R"})
    result = cc.discover(table, context="R", lags=1, method="score-ac")
    found = result.effects("radiation(t-4)", "moisture")
    for r, label in enumerate(model.labels):
        moved = np.zeros((5, 6))
        for t in range(5):
            for v in model.order[model.order < 6]:
                moved[t, v] = (t == 0) * (v == 1) + sum(
                    model.slopes[r, v, lag] @ moved[t - lag] for lag in range(min(t, 1) + 1)
                )
        row = found[(found["context"] == label) & found["versus"].isna()].iloc[0]
        assert row["low"] <= moved[4, 2] <= row["high"]
        assert row["lag"] == 4


@pytest.fixture(scope="module")
def land():
    table = cc.examples.land_surface(1000, seed=2)
    return cc.discover(table, context="regime", lags=1, method="score-ac")


def test_labels_say_absent_only_where_it_is_shown(land):
    labels = land.labels().set_index(["source", "target", "context"])["label"].sort_index()
    assert labels["moisture", "latent", "water-limited"] == "present"
    assert labels["moisture", "latent", "energy-limited"] == "absent"
    assert set(land.labels(negligible=0.01)["label"]) == {"present", "undetermined"}
    assert ("radiation", "latent", "-->", ("energy-limited",)) in set(land.labeled_union)


def test_a_file_keeps_what_effects_need(land, tmp_path):
    land.save(tmp_path / "land.json")
    again = cc.load(tmp_path / "land.json")
    mine, other = (one.effects("radiation", "latent", errors="classical") for one in (land, again))
    np.testing.assert_allclose(mine["effect"], other["effect"], rtol=1e-9)
    np.testing.assert_allclose(mine["se"], other["se"], rtol=1e-9)
    assert again.labels().equals(land.labels())
    with pytest.raises(cc.OptionError, match="needs the windows"):
        again.effects("radiation", "latent", errors="sandwich")


def test_a_context_that_x_moves_is_held(land):
    row = land.effects("radiation(t-1)", "moisture").iloc[0]
    assert row["note"] == "regime is held at its value"


def test_what_is_open_has_several_values(land):
    found = _replaced(land, _with_open(land, "rain", "moisture")).effects("rain", "moisture")
    now = found[(found["lag"] == 0) & found["versus"].isna()]
    assert not now["identified"].any()
    assert now["note"].str.contains("left open by rain o-o moisture").all()
    assert (now["low"] <= 0.0).all()


def test_tests_would_have_seen_a_collider():
    """X(t-1) --> X o-o Y: where tests decided, Y --> X would be a collider that they did not
    see.
    """
    random = np.random.default_rng(1)
    x = np.zeros(500)
    for t in range(1, 500):
        x[t] = 0.6 * x[t - 1] + random.normal()
    table = {"X": x, "Y": 0.5 * x + random.normal(size=500)}
    result = cc.discover(table, lags=1, method="score-ac")
    graph = Graph.from_edges(result.names, [("X(t-1)", "X", "-->"), ("X", "Y", "o-o")])
    by_tests = result.with_graphs({"all": graph}).effects("X", "Y")
    assert by_tests["identified"].all()
    assert by_tests["direct"].iloc[0] == pytest.approx(0.5, abs=0.15)
    assert not _replaced(result, {"all": graph}).effects("X", "Y")["identified"].all()


def _with_open(result, x, y):
    return {
        value: Graph(
            graph.names, _opened(graph.endpoints, graph.names.index(x), graph.names.index(y))
        )
        for value, graph in result.graphs.items()
    }


def _opened(endpoints, i, j):
    endpoints = endpoints.copy()
    endpoints[i, j] = endpoints[j, i] = 3
    return endpoints


def _replaced(result, graphs):
    from dataclasses import replace

    return replace(result, graphs=graphs)


def test_residuals_that_follow_each_other_are_named():
    random = np.random.default_rng(0)
    values = np.zeros((800, 2))
    for t in range(2, 800):
        values[t] = 0.2 * values[t - 1] + 0.6 * values[t - 2] + random.normal(size=2)
    table = {"X": values[:, 0], "Y": values[:, 1]}
    result = cc.discover(table, lags=1, method="score-ac")
    assert (
        result.effects("X(t-1)", "X")["note"].str.contains("residuals of X follow each other").all()
    )
    assert not cc.discover(table, lags=2, method="score-ac").effects("X(t-1)", "X")["note"].any()


def test_undecided_copies_leave_several_values(land):
    from dataclasses import replace

    reads = land.reads | {"latent": ("regime", (0, 1))}
    doubtful = replace(land, series=replace(land.series, reads=reads))
    found = doubtful.effects("radiation(t-1)", "moisture")
    assert "the lag at which regime acts on latent" in found["note"].iloc[0]
    assert len(found["values"].iloc[0]) == 2


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        (("radiation", "latent(t-1)"), "ask for 'latent'"),
        (("radiaton", "latent"), "did you mean 'radiation'"),
        (("regime(t-1)", "latent"), "effects of the context 'regime' at later times"),
        (("regime", "regime(t-1)"), "which is in the past"),
    ],
)
def test_bad_questions_are_one_sentence(land, asked, match):
    with pytest.raises(cc.CausalContextError, match=match):
        land.effects(*asked)


def test_bad_options_are_one_sentence(land):
    for options, match in [
        ({"steps": -1}, "steps is -1"),
        ({"samples": 10}, "effects with samples"),
        ({"level": 2}, "level"),
    ]:
        with pytest.raises(cc.CausalContextError, match=match):
            land.effects("radiation", "latent", **options)
    with pytest.raises(cc.OptionError, match="or an earlier time"):
        land.effects("latent", "latent", steps=0)


def test_results_of_tests_have_the_same_answers(land):
    table = cc.examples.land_surface(1000, seed=2)
    tested = cc.discover(table, context="regime", lags=1, method="pc-ac")
    assert tested.evidence is None
    if {v: set(g.edges) for v, g in tested.graphs.items()} == {
        v: set(g.edges) for v, g in land.graphs.items()
    }:
        mine, other = (one.effects(steps=3) for one in (tested, land))
        np.testing.assert_allclose(mine["effect"], other["effect"])
    assert set(tested.labels()["label"]) <= {"present", "absent", "undetermined"}


def test_a_masked_search_is_fitted_inside_its_contexts():
    table = cc.examples.land_surface(600, seed=2)
    masked = cc.discover(table, context="regime", lags=1, method="pc-m").mechanisms()
    fitted = masked[masked["identified"]]
    assert (fitted["why"] == "links at regime were not searched").all()
    assert set(fitted["rows"]) == {"regime=energy-limited", "regime=water-limited"}


def test_an_edge_in_conflict_is_blamed_where_it_is(land):
    place = [land.names.index(name) for name in ("rain", "moisture")]
    graphs = dict(land.graphs)
    endpoints = graphs["water-limited"].endpoints.copy()
    endpoints[place[0], place[1]] = endpoints[place[1], place[0]] = 4
    graphs["water-limited"] = Graph(land.names, endpoints)
    found = land.with_graphs(graphs).effects("rain", "moisture").query("lag == 0")
    notes = {(row.context, row.versus): row.note for row in found.itertuples()}
    assert (
        notes["water-limited", None]
        == "not identified, because of rain x-x moisture in regime=water-limited"
    )
    assert notes["energy-limited", None] == "regime is held at its value"


def test_moments_of_windows_are_those_of_the_rows():
    """Three contexts, context lags R(t) and R(t-2), means far from 0; groups of cells in any
    order.
    """
    random = np.random.default_rng(5)
    wide = random.normal(size=(200, 2)) * [50.0, 1e-3] + [1e4, 7.0]
    table = pd.DataFrame(wide, columns=["X", "Y"]).assign(R=random.integers(3, size=200))
    result = cc.discover(table, context="R", lags=2, context_lags=(0, 2), method="score-ac")
    contexts, moments = result.window_moments
    assert [result.names[position] for position in contexts.positions] == ["R", "R(t-2)"]
    shifted = naive.windows(table, 2)
    nodes = [place for place, name in enumerate(result.names) if split(name)[0] != "R"]
    rows = CompleteRows(result.windowed.scored)
    columns = ["{}@{}".format(*split(result.names[place])) for place in nodes]
    chosen = [
        shifted[(shifted["R@0"] == now) & (shifted["R@2"] == before)][columns]
        for now, before in contexts.cells
    ]
    for groups in [((0,),), ((4, 0), (8,)), ((1, 2, 5),)]:
        expected = [pd.concat([chosen[cell] for cell in cells]).to_numpy() for cells in groups]
        found = grouped(moments, groups, nodes)
        values, place = rows.values(nodes, groups)
        for number, part in enumerate(expected):
            away = part - part.mean(axis=0)
            assert found.rows[number] == len(part)
            np.testing.assert_allclose(found.mean[number], part.mean(axis=0), rtol=1e-9)
            np.testing.assert_allclose(found.scatter[number], away.T @ away, rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(
                np.sort(values[place == number], axis=0), np.sort(part, axis=0)
            )


@pytest.mark.parametrize("errors", ["sandwich", "classical"])
def test_shared_slopes_are_one_regression_for_all_contexts(errors):
    """Three contexts; one slope for all, one for two, one in a single context; means and units of
    all sizes.
    """
    random = np.random.default_rng(8)
    codes = random.integers(3, size=300)
    wide = (
        random.normal(size=(300, 4)) * [1.0, 50.0, 1e-3, 2.0]
        + [1e4, -3.0, 7.0, 0.0]
        + codes[:, None]
    )
    wide[:, 3] += (
        0.1 * wide[:, 1] - np.where(codes < 2, 500.0, 0.0) * wide[:, 2] + (codes == 1) * wide[:, 0]
    )
    wide[:, 3] += random.normal(size=300) * (1 + codes)
    data = read_table({**dict(zip("ABCD", wide.T, strict=True)), "R": codes}, context="R")
    terms, groups = [(1, (0, 1, 2)), (2, (0, 1)), (0, (1,))], ((0,), (1,), (2,))
    rows = CompleteRows(data) if errors == "sandwich" else None
    found = shared_fits(gather_statistics(data).of_columns(data), 3, terms, rows, groups, groups)
    frame = pd.DataFrame({"y": wide[:, 3], "R1": codes == 1, "R2": codes == 2})
    for column, block in terms:
        inside = np.isin(codes, block)
        centre = wide[
            inside, column
        ].mean()  # inside a term another origin moves levels and nothing else
        frame[f"x{column}"] = np.where(inside, wide[:, column] - centre, 0.0)
    slopes, robust, classical = least_squares(frame, "y", ["R1", "R2", "x1", "x2", "x0"])
    expected = np.sqrt(np.diagonal(robust if errors == "sandwich" else classical))[3:]
    assert [fit.causes for fit in found] == [(1, 2), (1, 2, 0), (1,)]
    for column, value, error in zip((1, 2, 0), slopes[3:], expected, strict=True):
        slope = found[1].slope(column)
        assert slope.value == pytest.approx(value, rel=1e-6)
        assert slope.error == pytest.approx(error, rel=1e-6)
    assert (found[0].slope(1) - found[2].slope(1)).error == 0.0
    few = some_rows(data, np.arange(9))
    assert "too few rows" in shared_fits(
        gather_statistics(few).of_columns(few), 3, terms, None, groups, groups
    )


def test_slopes_that_stay_are_the_same_in_both_contexts(land):
    found = land.mechanisms().set_index(["cause", "effect", "context"]).sort_index()
    slopes = land.slopes().set_index(["source", "lag", "target", "context"]).sort_index()
    own = found.loc[("latent(t-1)", "latent")]
    assert land.evidence.model[land.position("latent")] == "mixed"
    assert own["coefficient"].nunique() == 1
    assert own["shared by"].iloc[0] == land.contexts
    for (source, lag, target, context), row in slopes[slopes["present"]].iterrows():
        assert found.loc[(at(source, lag), target, context), "coefficient"] == pytest.approx(
            row["slope"], rel=1e-6
        )
    turned = found.loc[("radiation", "sensible")]
    assert turned["coefficient"].nunique() == 2
    assert (turned["shared by"] == [(value,) for value in turned.index]).all()


def test_labels_are_partial_correlations_on_the_rows_that_a_variable_reads(case):
    model, table, result = case
    reads = {
        name: None if lag < 0 else int(lag)
        for name, lag in zip(model.names, model.reads, strict=True)
    }
    wide = naive.windows(table, 2)
    graphs = [causes_of(model.truth[context], model.names) for context in (0, 1)]
    for row in result.labels().itertuples():
        causes = sorted({*graphs[0][row.target], *graphs[1][row.target]})
        copy = reads[row.target]
        rows = wide if copy is None else wide[wide[f"R@{copy}"] == row.context]
        others = [f"{cause}@{lag}" for cause, lag in causes if (cause, lag) != split(row.source)]
        design = np.column_stack(
            [np.ones(len(rows)), *(rows[name].to_numpy(float) for name in others)]
        )
        left = [
            y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
            for y in (
                rows["{}@{}".format(*split(row.source))].to_numpy(float),
                rows[f"{row.target}@0"].to_numpy(float),
            )
        ]
        assert row.correlation == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-6)
        assert row.n == len(rows)
        assert (row.label == "present") == (split(row.source) in graphs[row.context][row.target])


def test_a_file_with_other_windows_is_refused(land, tmp_path):
    import json

    from causalcontext.results.files import checksum

    land.save(tmp_path / "land.json")
    content = json.loads((tmp_path / "land.json").read_text())
    for key, value in (
        ("copies", [0, 5]),
        ("codes", [[0, 7]] * 4),
        ("moments", None),
        ("copies", [0]),
    ):
        broken = content | {"windows": content["windows"] | {key: value}}
        broken["checksum"] = checksum(broken)
        (tmp_path / "broken.json").write_text(json.dumps(broken))
        with pytest.raises(cc.FileError, match="damaged"):
            cc.load(tmp_path / "broken.json")


def test_the_command_line_shows_effects_over_time(land, tmp_path, monkeypatch):
    import json

    from typer.testing import CliRunner

    from causalcontext.cli.app import app

    land.save(tmp_path / "land.json")
    words = ["effects", str(tmp_path / "land.json"), "radiation(t-1)", "moisture", "--json", "-"]
    told = CliRunner().invoke(app, words)
    assert told.exit_code == 0, told.output
    assert [row["lag"] for row in json.loads(told.output)] == [1, 1, 1]
    monkeypatch.setenv("COLUMNS", "200")
    shown = CliRunner().invoke(
        app, ["effects", str(tmp_path / "land.json"), "radiation(t-1)", "moisture"]
    )
    assert "radiation(t-1) on moisture" in shown.output


def test_a_result_without_a_context_keeps_its_effects(tmp_path):
    table = cc.examples.land_surface(300, seed=2).drop(columns="regime")
    result = cc.discover(table, lags=1, method="score-ac")
    result.save(tmp_path / "plain.json")
    again = cc.load(tmp_path / "plain.json").effects("rain", "moisture")
    np.testing.assert_allclose(again["effect"], result.effects("rain", "moisture")["effect"])
    with pytest.raises(cc.OptionError, match="only one graph"):
        result.labels()


def test_a_cycle_inside_the_time_step_is_no_answer_there_and_one_elsewhere(land):
    names = land.names
    graphs = {
        "energy-limited": Graph.from_edges(
            names, [("rain", "moisture", "-->"), ("moisture", "latent", "-->")]
        ),
        "water-limited": Graph.from_edges(
            names,
            [("rain", "moisture", "-->"), ("moisture", "latent", "-->"), ("latent", "rain", "-->")],
        ),
    }
    found = land.with_graphs(graphs).effects("rain", "latent").query("lag == 0 and versus.isna()")
    notes = dict(zip(found["context"], found["note"], strict=True))
    assert "form a cycle" in notes["water-limited"]
    assert notes["energy-limited"].startswith("residuals of moisture follow each other")


def test_contexts_that_disagree_are_directed_each_for_itself(land):
    names = land.names
    graphs = {
        "energy-limited": Graph.from_edges(
            names, [("rain", "moisture", "-->"), ("rain", "latent", "o-o")]
        ),
        "water-limited": Graph.from_edges(
            names, [("moisture", "rain", "-->"), ("rain", "latent", "o-o")]
        ),
    }
    found = land.with_graphs(graphs).effects("rain", "latent").query("lag == 0 and versus.isna()")
    assert not found["note"].str.contains("no directed acyclic graph").any()


@pytest.fixture(scope="module")
def mixed():
    """Numbers, two categories and counts, with links inside a step and from the step before; R
    changes y.
    """
    random = np.random.default_rng(3)
    x, y, count = np.zeros(600), np.zeros(600), np.zeros(600, dtype=int)
    category, regime = np.zeros(600, dtype=int), np.zeros(600, dtype=int)
    for t in range(1, 600):
        regime[t] = random.random() < (0.9 if regime[t - 1] else 0.1)
        x[t] = 0.5 * x[t - 1] + random.normal()
        category[t] = random.random() < 1.0 / (1.0 + np.exp(-x[t]))
        y[t] = (
            0.4 * y[t - 1]
            + (1.5 if regime[t] else -1.0) * x[t]
            + 0.8 * category[t]
            + random.normal()
        )
        count[t] = random.poisson(np.exp(0.3 * x[t]))
    table = pd.DataFrame(
        {"x": x, "y": y, "b": np.where(category, "yes", "no"), "c": count, "R": regime}
    )
    edges = [
        ("x(t-1)", "x"),
        ("x", "b"),
        ("x", "c"),
        ("y(t-1)", "y"),
        ("x", "y"),
        ("b", "y"),
        ("R", "y"),
    ]
    return table, [(*edge, "-->") for edge in edges]


def as_windows(table, lags):
    """The windows as a plain table, without the past of the context."""
    shifted = {
        at(name, lag): table[name].shift(lag) for lag in range(lags, -1, -1) for name in table
    }
    wide = pd.DataFrame(shifted).iloc[lags:]
    return wide.drop(columns=[name for name in wide if name.startswith("R(")]).astype({"R": int})


def with_edges(table, edges, **options):
    kinds = {name: "count" for name in table if split(name)[0] == "c"}
    result = cc.discover(table, context="R", method="pc-ac", kinds=kinds, max_given=0, **options)
    return result.with_graphs(dict.fromkeys(result.contexts, Graph.from_edges(result.names, edges)))


def test_results_of_a_plain_table_of_windows_are_the_same(mixed):
    """Inside a time step, with a context that has no lag: mechanisms, effects and interventions."""
    table, edges = mixed
    over_time, plain = (
        with_edges(table, edges, lags=1, context_lags=(0,)),
        with_edges(as_windows(table, 1), edges),
    )
    mine, other = (
        one.mechanisms().set_index(["cause", "effect", "context"]).sort_index()
        for one in (over_time, plain)
    )
    assert mine["note"].tolist() == other["note"].tolist()
    for column in ("coefficient", "se", "p", "standardised", "n"):
        np.testing.assert_allclose(mine[column], other[column], rtol=1e-9)
    for pair in (("x", "y"), ("x", "b"), ("x", "c"), ("b", "y")):
        mine, other = over_time.effects(*pair).query("lag == 0"), plain.effects(*pair)
        assert mine["identified"].all(), mine["note"]
        for column in ("effect", "se", "direct"):
            np.testing.assert_allclose(mine[column], other[column], rtol=1e-9)
    for among in ("everyone", "context"):
        mine, other = (
            one.predict_intervention({"b": 1.0}, among=among) for one in (over_time, plain)
        )
        assert mine["variable"].tolist() == ["y", "y"]
        assert mine["identified"].all()
        pd.testing.assert_frame_equal(mine, other)


def test_effects_of_the_past_on_categories_and_counts_look_beyond_the_window(mixed):
    """The cause of x(t-1) is x(t-2), which is held fixed."""
    table, edges = mixed
    later = [("x(t-1)", "b", "-->"), ("x(t-1)", "c", "-->")]
    over_time = with_edges(table, [edges[0], *later], lags=1)
    plain = with_edges(as_windows(table, 2), [("x(t-2)", "x(t-1)", "-->"), *later])
    for name in ("b", "c"):
        mine, other = over_time.effects("x(t-1)", name), plain.effects("x(t-1)", name)
        assert mine["identified"].all()
        np.testing.assert_allclose(mine[["effect", "se"]], other[["effect", "se"]], rtol=1e-9)


@pytest.mark.parametrize("among", ["context", "everyone"])
def test_an_intervention_of_the_past_moves_the_present_by_its_effect(case, among):
    model, table, result = case
    found = result.predict_intervention({"X1(t-2)": 3.0, "X2(t-1)": 480.0}, among=among)
    assert set(found["variable"]) <= set(model.names)
    reads = {
        name: None if lag < 0 else int(lag)
        for name, lag in zip(model.names, model.reads, strict=True)
    }
    wide = naive.windows(table, 2)
    for context in (0, 1):
        graph = causes_of(model.truth[context], model.names)
        fits = naive.mechanisms(table, graph, reads, context, 2)
        held = wide[(wide["R@0"] == context) & (wide["R@1"] == context)]
        rows = held if among == "context" else wide
        values, everyone = {("X1", 2): 3.0, ("X2", 1): 480.0}, among == "everyone"
        for row in found[found["context"] == context].itertuples():
            expected = naive.mean_under(rows, fits, reads, row.variable, 0, values, 2, everyone)
            assert row.mean == pytest.approx(expected, rel=1e-6, abs=1e-9)
            assert row.now == pytest.approx(held[f"{row.variable}@0"].mean(), rel=1e-9)


def test_covariates_have_effects_now_and_no_past():
    random = np.random.default_rng(4)
    sun, x = random.normal(size=400), np.zeros(400)
    for t in range(1, 400):
        x[t] = 0.5 * x[t - 1] + 0.7 * sun[t] + random.normal()
    result = cc.discover({"x": x, "sun": sun}, lags=1, covariates=["sun"], method="pc-ac")
    found = result.effects("sun", "x")
    assert found["lag"].tolist() == [0]
    assert found["effect"].iloc[0] == pytest.approx(0.7, abs=0.15)
    with pytest.raises(cc.OptionError, match="no variable"):
        result.effects("sun(t-1)", "x")


@pytest.mark.parametrize("options", [{"lags": 1}, {}])
def test_what_a_threshold_is_made_of_is_fitted_on_all_rows(options):
    """Rows above a threshold are chosen by the noise of its column; a slope inside them would be
    too small.
    """
    random = np.random.default_rng(6)
    u, v = np.zeros(600), np.zeros(600)
    for t in range(1, 600):
        u[t] = 0.7 * u[t - 1] + random.normal()
        v[t] = (1.5 if u[t] > 0.0 else 0.0) * v[t - 1] * 0.5 + random.normal()
    table = pd.DataFrame({"u": u, "v": v})
    if not options:
        table = table.assign(before=table["u"].shift()).iloc[1:]
    result = cc.discover(table, context=cc.threshold("u", 0.0), method="pc-ac", **options)
    before = "u(t-1)" if options else "before"
    edges = [(before, "u", "-->"), ("u", result.context, "-->")]
    given = result.with_graphs(
        dict.fromkeys(result.contexts, Graph.from_edges(result.names, edges))
    )
    found = given.mechanisms()
    np.testing.assert_allclose(found["coefficient"], np.polyfit(u[:-1], u[1:], 1)[0], rtol=1e-9)
    assert (found["rows"] == "all").all()
    assert found["why"].str.startswith("ancestor of u > 0").all()


def test_two_contexts_with_lags_choose_rows_as_without():
    """y depends on R, z on S one step ago: each is fitted on all windows with that value."""
    random = np.random.default_rng(7)
    table = pd.DataFrame(random.integers(2, size=(500, 2)), columns=["R", "S"])
    x, y, z = random.normal(size=(3, 500))
    for t in range(1, 500):
        y[t] += (1.5 if table["R"][t] else -1.0) * x[t]
        z[t] += (1.5 if table["S"][t - 1] else -0.5) * y[t]
    result = cc.discover(table.assign(x=x, y=y, z=z), context=["R", "S"], lags=1, method="pc-ac")
    edges = [("x", "y", "-->"), ("R", "y", "-->"), ("y", "z", "-->"), ("S(t-1)", "z", "-->")]
    given = result.with_graphs(
        dict.fromkeys(result.contexts, Graph.from_edges(result.names, edges))
    )
    found = given.mechanisms().set_index(["effect", "context"]).sort_index()
    for r, s in result.contexts:
        in_r, in_s = table["R"].to_numpy()[1:] == r, table["S"].to_numpy()[:-1] == s
        expected = (
            np.polyfit(x[1:][in_r], y[1:][in_r], 1)[0],
            np.polyfit(y[1:][in_s], z[1:][in_s], 1)[0],
        )
        assert found.loc[("y", (r, s)), "rows"] == f"R={r}"
        assert found.loc[("z", (r, s)), "rows"] == f"S(t-1)={s}"
        np.testing.assert_allclose(
            found.loc[[("y", (r, s)), ("z", (r, s))], "coefficient"], expected, rtol=1e-9
        )
        effect = (
            given.effects("x", "z")
            .query("lag == 0 and versus.isna()")
            .set_index("context")["effect"]
        )
        assert effect[(r, s)] == pytest.approx(expected[0] * expected[1], rel=1e-9)


def test_curves_that_change_over_time_are_compared_by_shares(tmp_path):
    """A sine that acts where R(t-1) is 1: all of it shows there and nothing elsewhere; files keep
    the claim.
    """
    random = np.random.default_rng(3)
    x, y, regime = np.zeros(900), np.zeros(900), np.zeros(900, dtype=int)
    for t in range(1, 900):
        regime[t] = random.random() < (0.8 if regime[t - 1] else 0.2)
        x[t] = 0.5 * x[t - 1] + random.normal()
        y[t] = (
            0.4 * y[t - 1]
            + (2.0 * np.sin(2.0 * x[t - 1]) if regime[t - 1] else 0.0)
            + random.normal()
        )
    result = cc.discover({"x": x, "y": y, "R": regime}, context="R", lags=1, method="score-ac")
    assert result.evidence.curved
    assert result.reads["y"] == ("R", 1)
    for place in (0, 1):
        np.testing.assert_array_equal(
            rows_inside(result, result.position("y"), place), regime[:-1] == place
        )
    found = result.changes(0, 1).set_index(["source", "target"]).loc[("x(t-1)", "y")]
    assert found["claimed"]
    assert (found["present"], found["absent"]) == (1, 0)
    assert found["effect_present"] == pytest.approx(1.0, abs=0.05)
    assert found["effect_absent"] == pytest.approx(0.0, abs=0.15)
    result.save(tmp_path / "curves.json")
    again = cc.load(tmp_path / "curves.json").changes(0, 1).set_index(["source", "target"])
    assert again.loc[("x(t-1)", "y"), "claimed"]


def test_a_cut_search_that_leaves_everything_open_can_be_asked(tmp_path):
    """The local method asks for the causes of x, of which those of X(t-1) lie before the window; it
    ended in an IndexError."""
    random = np.random.default_rng(0)
    values = random.normal(size=(400, 3)) + random.normal(size=(400, 1))
    table = pd.DataFrame(values, columns=list("XYZ")).assign(R=np.arange(400) % 3)
    result = cc.discover(table, "R", lags=1, method="pc-ac", time_limit=1e-6)
    assert not result.complete
    found = result.effects()
    assert set(found["lag"]) == {0, 1}
    assert not found.query("lag == 1 and y != 'R'")["identified"].any()
    result.report(tmp_path / "open.html")


def test_the_local_method_adjusts_for_the_past_of_a_cause_and_refuses_causes_of_the_past(
    monkeypatch,
):
    monkeypatch.setattr("causalcontext.results.effects.sets.MOST_FAMILIES", 0)
    random = np.random.default_rng(1)
    z, x, y = random.normal(size=(3, 2000))
    z = z + random.normal(size=2000)
    x[1:] += z[:-1]
    y[1:] += 0.5 * x[1:] + 2.0 * z[:-1]
    table = pd.DataFrame({"z": z, "x": x, "y": y, "R": np.arange(2000) // 7 % 2})
    result = cc.discover(table, "R", lags=1, method="pc-ac", time_limit=20)
    edges = [("z(t-1)", "x", "-->"), ("z(t-1)", "y", "-->"), ("x", "y", "-->"), ("z", "x", "o-o")]
    given = result.with_graphs(
        dict.fromkeys(result.contexts, Graph.from_edges(result.names, edges))
    )
    found = given.effects("x", "y").query("versus.isna()").set_index(["lag", "context"])
    for value in (0, 1):
        low, high = found.loc[(0, value), ["low", "high"]]
        assert low < 0.5 < high
        assert high - low < 0.4  # without z(t-1) it would be 1.5
    past = given.effects("z", "y").query("lag == 1 and versus.isna()")
    assert not past["identified"].any()
    assert past["note"].str.contains("directed graphs are possible").all()


def regime_series(rows, seed):
    """X leads to the regime a step later, which changes Z, and the level of Y; Z leads to Y at
    once.
    """
    generator = np.random.default_rng(seed)
    noise, x, y, z, r = (
        generator.standard_normal((rows, 4)),
        *np.zeros((3, rows)),
        np.zeros(rows, dtype=int),
    )
    for t in range(1, rows):
        x[t] = 1.0 + 0.5 * x[t - 1] + noise[t, 0]
        r[t] = x[t - 1] - 2.0 + 0.8 * noise[t, 1] > 0.0
        z[t] = 0.3 * z[t - 1] + r[t] * x[t - 1] + noise[t, 2]
        y[t] = 0.4 * y[t - 1] + 0.8 * z[t] + 1.5 * r[t] + noise[t, 3]
    return pd.DataFrame({"X": x, "Y": y, "Z": z, "R": r})


@pytest.fixture(scope="module")
def regime():
    table = regime_series(1500, 5)
    return table, cc.discover(table, "R", lags=1, method="score-ac")


def test_a_context_is_set_now_and_the_past_stays(regime):
    """Against regressions inside either context, evaluated at the means of the past over all
    windows.
    """
    table, result = regime
    windows = (
        table.iloc[1:]
        .reset_index(drop=True)
        .join(table.iloc[:-1].reset_index(drop=True).add_suffix("_1"))
    )
    after = {}
    for value in (0, 1):
        inside, mean = windows[windows["R"] == value], windows.mean()
        z = naive_line(inside, "Z", ["Z_1", "X_1"]) if value else naive_line(inside, "Z", ["Z_1"])
        y = naive_line(inside, "Y", ["Y_1", "Z"])
        after[value] = {"Z": z[0] + z[1:] @ mean[["Z_1", "X_1"][: len(z) - 1]]}
        after[value]["Y"] = y[0] + y[1] * mean["Y_1"] + y[2] * after[value]["Z"]
    found = result.effects("R")
    assert set(found["y"]) == {"Y", "Z"}
    for row in found.itertuples():
        assert (row.lag, row.context, row.versus) == (0, 1, 0)
        assert row.effect == pytest.approx(
            after[1][row.y] - after[0][row.y], rel=0.05
        )  # score-ac shares some slopes
        truth = {"Z": windows["X_1"].mean(), "Y": 1.5 + 0.8 * windows["X_1"].mean()}[row.y]
        assert abs(row.effect - truth) < 3.5 * row.se
        assert "set at time t" in row.note
    pd.testing.assert_frame_equal(
        result.effects("R", "Y"), found[found["y"] == "Y"].reset_index(drop=True)
    )


def naive_line(table, effect, causes):
    design = np.column_stack([np.ones(len(table)), table[causes]])
    return np.linalg.lstsq(design, table[effect].to_numpy(), rcond=None)[0]


def test_effects_on_a_context_over_time(regime):
    """The truth is the mean change of the probability, X a step before or two."""
    _, result = regime
    found = result.effects("X", "R", steps=2).set_index("lag")
    x, noise = (
        regime_series(60_000, 6)["X"].to_numpy()[100:],
        np.random.default_rng(7).standard_normal(59_900),
    )
    for lag, now in ((1, lambda v: v), (2, lambda v: 1.0 + 0.5 * v + noise)):
        truth = float(
            np.mean(normal_cdf((now(x + 1.0) - 2.0) / 0.8) - normal_cdf((now(x) - 2.0) / 0.8))
        )
        assert found.loc[lag, "effect"] == pytest.approx(truth, abs=0.03)
        assert found.loc[lag, "of_level"] == 1
        assert found.loc[lag, "context"] is None
    assert found.loc[0, "effect"] == 0.0
    (row,) = result.effects("Z(t-1)", "R").itertuples()
    assert row.effect == 0.0 or "not yet" in row.note  # R causes Z


def normal_cdf(values):
    return scipy.special.ndtr(values)
