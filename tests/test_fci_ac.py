"""`discover(..., method="fci-ac")` on tables: options, knowledge, words, unions, changes,
stability, files.
"""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.graphs.endpoints import Endpoint, GraphKind
from causalcontext.results.explain import explained
from causalcontext_lab.simulate import random_hidden_model

PAIR = {"fertiliser", "yield"}


@pytest.fixture(scope="module")
def table():
    return cc.examples.farm(5000, seed=2)


@pytest.fixture(scope="module")
def farm(table):
    return discover(table)


@pytest.fixture(scope="module")
def switched():
    """A switches X -> Y; B, an effect of X, switches Y -> Z; something hidden causes Z and W."""
    rng = np.random.default_rng(3)
    x, y, z, w, e, hidden = rng.standard_normal((6, 4000))
    a, b = rng.integers(2, size=4000), np.array(["east", "north"])[(x + 0.7 * e > 0).astype(int)]
    y = y + np.where(a == 1, 1.0 + 1.2 * x, 0.0)
    z = z + hidden + np.where(b == "north", 1.0 * y, 0.5)
    return pd.DataFrame({"X": x, "A": a, "Y": y, "Z": z, "B": b, "W": w + hidden})


@pytest.fixture(scope="module")
def two(switched):
    return cc.discover(switched, context=["A", "B"], alpha=0.01, method="fci-ac")


@pytest.fixture(scope="module")
def bold(table):
    return discover(table, contested="bidirected")


def discover(table, **options):
    return cc.discover(table, context="water", alpha=0.01, method="fci-ac", **options)


def test_what_fertiliser_does_depends_on_water(farm, bold):
    assert [graph.mark("fertiliser", "yield") for graph in bold.graphs.values()] == ["-->", "<->"]
    assert [graph.mark("fertiliser", "yield") for graph in farm.graphs.values()] == ["-->", "x-x"]
    assert {graph.mark("water", "uptake") for graph in farm.graphs.values()} == {"-->"}
    assert farm.union.kind is GraphKind.PAG
    assert farm.settings.masked_scope == "always"


def test_the_labeled_union_has_an_edge_for_every_mark_that_contradicts_another(bold):
    found = {
        edge.mark: edge.contexts
        for edge in bold.labeled_union
        if {edge.source, edge.target} == PAIR
    }
    assert found == {"-->": ("irrigated",), "<->": ("rain-fed",)}


def test_explain_says_what_ends_mean_and_where_they_come_from(farm, bold):
    irrigated, rain_fed = explained(bold, "yield", "fertiliser", apart=True)
    assert "Neither causes the other: a hidden cause acts on both, or a test erred" in rain_fed
    assert (
        "An arrow at yield by collider: uptake and fertiliser are separated where water = rain-fed"
        in rain_fed
    )
    assert (
        "fertiliser causes yield, perhaps through others; a hidden cause of both is not excluded"
        in irrigated
    )
    assert (
        "A tail at fertiliser by R4: a discriminating path between water and uptake shows it"
        in irrigated
    )
    contested = explained(farm, "fertiliser", "yield", apart=True)[1]
    assert (
        "A hidden common cause, or two separations that contradict each other. Contested at"
        " yield by" in contested
    )
    expected = "In this context neither a direct mechanism nor a hidden common cause links them."
    assert expected in farm.explain("price", "rain")
    assert "A tail at water by V" in farm.explain("water", "uptake")


def test_every_end_of_a_direction_has_its_reason(bold):
    for place, value in enumerate(bold.contexts):
        graph = bold.graphs[value]
        for x, y in np.argwhere(np.isin(graph.endpoints, (Endpoint.ARROW, Endpoint.TAIL))).tolist():
            story = explained(bold, graph.names[x], graph.names[y], apart=True)[place]
            assert f" at {graph.names[y]} by " in story or f" at {graph.names[y]}, since" in story


def test_changes_lists_ends_that_differ(bold, farm):
    changes = bold.changes("rain-fed", "irrigated")
    endpoints = changes[changes["kind"] == "end"]
    assert endpoints[["source", "target", "mark"]].to_numpy().tolist() == [
        ["fertiliser", "yield", "<-> | -->"]
    ]
    edges = changes[changes["kind"] == "edge"]
    assert set(zip(edges["source"], edges["target"], strict=True)) >= {("fertiliser", "uptake")}
    assert "end" not in set(farm.changes("rain-fed", "irrigated")["kind"])


def test_diagnose_does_not_call_an_edge_a_mechanism(farm):
    found = [finding.message for finding in farm.diagnose()]
    assert any(
        "not claimed as a change, since score-ac cannot be compared with a PAG" in message
        for message in found
    )
    expected = "have a hidden common cause, or their separating sets contradict each other"
    assert any(expected in message for message in found)
    assert not any("so the mechanism differs" in message for message in found)


def test_a_pattern_is_told_which_directions_hidden_causes_would_spoil(table, farm):
    plain = cc.discover(table, context="water", alpha=0.01, method="pc-ac")
    (finding,) = plain.diagnose().about("hidden causes")
    assert "fertiliser x-x yield in rain-fed" in finding.evidence["edges"]
    assert "3 of 5 directions rest on the assumption" in finding.message
    assert not farm.diagnose().about("hidden causes")


def test_stability_counts_ends(farm):
    stable = farm.stability(samples=4)
    endpoints = stable.endpoints(least=0.0)
    shares = endpoints[["arrow", "tail", "circle", "conflict"]].sum(axis=1)
    edges = stable.edges(least=0.0).set_index(["x", "y", "context"])["present"]
    for (other, at, context), share in zip(
        endpoints[["other", "at", "context"]].itertuples(index=False), shares, strict=True
    ):
        x, y = sorted((other, at), key=farm.names.index)
        assert share == pytest.approx(edges.get((x, y, context), 0.0))
    row = endpoints.query("other == 'water' and at == 'uptake' and context == 'irrigated'").iloc[0]
    assert (row["found"], row["arrow"]) == ("arrow", 1.0)


def test_files_keep_everything(bold, tmp_path):
    bold.save(tmp_path / "farm.json")
    loaded = cc.load(tmp_path / "farm.json")
    assert loaded == bold
    assert loaded.explain("fertiliser", "yield").count("hidden cause") == 2
    bold.report(tmp_path / "farm.html")
    page = (tmp_path / "farm.html").read_text(encoding="utf-8")
    assert "hidden common cause, unless a test erred" in page
    assert str(bold).count("<->") == 2


def test_knowledge_is_about_ancestry(table):
    """A forbidden direction is one arrowhead and no more; a required one is both ends."""
    known = cc.Knowledge(forbidden=[("price", "fertiliser")], required=[("rain", "water")])
    found = discover(table, knowledge=known)
    for graph in found.graphs.values():
        assert graph.mark("price", "fertiliser") in ("<-o", "<->", "<--")
        assert graph.mark("rain", "water") == "-->"
    assert not found.knowledge_violations()
    assert "your knowledge says so" in found.explain("price", "fertiliser")


def test_a_pair_that_is_ruled_out_orients_nothing(table):
    apart = cc.Knowledge(forbidden=[("price", "yield"), ("yield", "price")])
    found = discover(table, knowledge=apart)
    assert not any(graph.mark("price", "yield") for graph in found.graphs.values())
    assert not any(
        {origin.via, (x, y)} >= {(found.position("price"),), (found.position("yield"),)}
        for (_, x, y), origin in found.origins.items()
        if origin.rule == "collider"
    )


def test_an_unconfounded_context_has_directions(table):
    assert (
        discover(table, context_confounded=True).graphs["irrigated"].mark("rain", "water") == "o-o"
    )
    settled = discover(
        table, context_confounded=False, knowledge=cc.Knowledge(forbidden=[("water", "rain")])
    )
    assert settled.graphs["irrigated"].mark("rain", "water") == "-->"
    assert "you say that nothing hidden causes" in settled.explain("rain", "water")


def test_options_that_make_no_sense_are_refused(table):
    with pytest.raises(
        cc.OptionError, match="contested is 'maybe', expected one of 'conflict', 'bidirected'"
    ):
        discover(table, contested="maybe")
    with pytest.raises(cc.OptionError, match="context_confounded is 'no', expected True or False"):
        discover(table, context_confounded="no")
    with pytest.raises(cc.OptionError, match="possible_dsep"):
        discover(table, possible_dsep=0)


def test_columns_may_stand_in_any_order_and_threads_do_not_matter():
    model = random_hidden_model(observed=8, hidden=2, seed=11)
    rows = model.sample(800, seed=1)
    found = cc.discover(rows, context="R", method="fci-ac", contested="bidirected")
    for seed in range(4):
        names = list(np.random.default_rng(seed).permutation(rows.columns))
        other = cc.discover(
            rows[names], context="R", method="fci-ac", contested="bidirected", n_jobs=1 + seed % 2
        )
        for value in found.contexts:
            for x in names:
                for y in names:
                    assert found.graphs[value].mark(x, y) == other.graphs[value].mark(x, y)


def test_without_noise_the_graphs_are_those_of_the_model():
    """The whole way through `discover`, with an oracle as the test; larger sets find no more
    here.
    """
    for seed in range(4):
        model = random_hidden_model(observed=6, hidden=2, seed=seed)
        rows = model.sample(60, seed=1)
        for options in ({}, {"possible_dsep": 6}, {"orientation": "within"}):
            found = cc.discover(
                rows,
                context="R",
                method="fci-ac",
                test=model.oracle(),
                contested="bidirected",
                **options,
            )
            endpoints = np.stack([graph.endpoints for graph in found.graphs.values()])
            assert np.array_equal(endpoints != 0, model.endpoints != 0)
            causes = model.causes.swapaxes(1, 2)
            assert not ((endpoints == Endpoint.ARROW) & causes).any()
            assert not ((endpoints == Endpoint.TAIL) & ~causes).any()


def test_missing_values_kinds_and_other_tests(table):
    some = table.iloc[:800].copy()
    some.loc[some.index[::40], "price"] = np.nan
    for missing in ("listwise", "testwise"):
        assert discover(some, missing=missing).union.kind is GraphKind.PAG
    clinic = cc.discover(
        cc.examples.clinic(400, seed=1),
        context="status",
        method="fci-ac",
        max_given=1,
        kinds={"visits": "count"},
    )
    assert clinic.union.kind is GraphKind.PAG


def test_without_a_context_it_is_plain_fci(table):
    found = cc.discover(table.drop(columns="water"), method="fci-ac", alpha=0.01)
    assert found.contexts == ("all",)
    assert found.union.kind is GraphKind.PAG


def test_an_edge_that_could_not_be_tested_inside_a_context_says_nothing_about_the_context():
    """z is constant in context 1: that x - z is "there" is no evidence of a change."""
    generator = np.random.default_rng(1)
    x, r = generator.normal(size=(2, 600))
    context = (r > 0).astype(int)
    z = np.where(context, 0.5, generator.normal(size=600))
    found = cc.discover(
        pd.DataFrame({"x": x, "z": z, "R": context}), context="R", method="fci-ac", test="fisher-z"
    )
    assert not any(origin.rule in ("V", "V*") for origin in found.origins.values())


def test_an_interrupted_search_leaves_circles(table):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(cc.InterruptedSearch) as caught:
        discover(table, progress=stop)
    result = caught.value.result
    assert result.union.kind is GraphKind.PAG
    assert not result.complete
    assert set(np.unique(result.union.endpoints)) <= {Endpoint.NONE, Endpoint.CIRCLE}


def test_exporters_take_the_graphs(bold):
    graph = bold.graphs["rain-fed"]
    assert cc.Graph.from_edges(graph.names, graph.edges, "pag") == graph
    assert "fertiliser <-> yield" in cc.export.to_tetrad(graph)
    assert cc.export.from_tetrad(cc.export.to_tetrad(graph), kind="pag") == graph
    assert cc.export.from_tigramite(*_tigramite(graph), kind="pag") == graph
    assert "dir=both" in cc.export.to_dot(graph)


def _tigramite(graph):
    return cc.export.to_tigramite(graph), graph.names


def test_several_contexts_have_a_graph_for_every_combination(two):
    assert two.contexts == tuple((a, b) for a in (0, 1) for b in ("east", "north"))
    for (a, b), graph in two.graphs.items():
        assert graph.kind is GraphKind.PAG
        assert bool(graph.mark("X", "Y")) == (a == 1)
        assert bool(graph.mark("Y", "Z")) == (b == "north")
        assert graph.mark("Z", "W") in ("<-o", "<->", "x-x", "o-o")
        assert graph.mark("A", "Y") == "-->"
    assert {"pooled", "A=0", "B=east"} <= set(two.tests()["rows"])


def test_results_of_several_contexts_answer_all_questions(two, tmp_path):
    assert "rows with A = 0" in two.explain("X", "Y")
    changes = two.changes((0, "north"), (1, "north"))
    assert ("X", "Y") in set(zip(changes["source"], changes["target"], strict=True))
    assert not changes["claimed"].any()
    assert set(two.effects("X", "Y").query("versus.isna()")["context"]) == set(two.contexts)
    assert (
        two.effects("A", "Y")["note"]
        .str.contains("several contexts together with hidden variables")
        .all()
    )
    assert two.diagnose().about("missing edge")
    assert set(two.stability(samples=2).endpoints(least=0.0)["context"]) == set(two.contexts)
    two.report(tmp_path / "two.html")
    two.save(tmp_path / "two.json")
    loaded = cc.load(tmp_path / "two.json")
    assert loaded == two
    assert loaded.explain("A", "Y") == two.explain("A", "Y")


def test_order_of_several_contexts_and_columns_does_not_matter(switched, two):
    for seed, contexts in enumerate((["B", "A"], ["A", "B"])):
        names = list(np.random.default_rng(seed).permutation(switched.columns))
        other = cc.discover(
            switched[names], context=contexts, alpha=0.01, method="fci-ac", n_jobs=1 + seed
        )
        for (a, b), graph in two.graphs.items():
            twin = other.graphs[(b, a) if contexts == ["B", "A"] else (a, b)]
            assert all(graph.mark(x, y) == twin.mark(x, y) for x in names for y in names)


def test_a_second_context_that_does_nothing_changes_no_edge_between_others(switched, two):
    coin = np.random.default_rng(4).integers(2, size=len(switched))
    more = cc.discover(
        switched.assign(C=coin), context=["A", "B", "C"], alpha=0.001, method="fci-ac"
    )
    less = cc.discover(switched, context=["A", "B"], alpha=0.001, method="fci-ac")
    for (a, b, _), graph in more.graphs.items():
        assert all(
            bool(graph.mark(x, y)) == bool(less.graphs[a, b].mark(x, y))
            for x in "XYZW"
            for y in "XYZW"
        )
