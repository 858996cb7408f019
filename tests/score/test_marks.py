"""Marks of score-ac are those of a set of models: all of them agree, rules close them, and there is
an extension.
"""

from itertools import combinations, product

import numpy as np
import pytest
from score_tables import curved_table, kinds_table, model_table, searched

import causalcontext as cc
from causalcontext.graphs.dags import OpenGraphs
from causalcontext.graphs.endpoints import Endpoint, adjacent, directed, marked
from causalcontext.results.evidence import score_edges
from causalcontext.results.explain import explained
from causalcontext.results.settings import CLEAR_MARGIN, LARGEST_MARGIN
from causalcontext.score.judgement import direct, in_table
from causalcontext_lab.simulate import random_model
from marks import rest_slow

WEAK = (-0.6, -0.4, 0.4, 0.6)
DESIGNS = {
    "weak": {"coefficients": WEAK},
    "dense": {"nodes": 7, "density": 0.6, "coefficients": WEAK},
    "cycles": {"edits": ("add", "remove", "flip"), "cycles": "enforce", "coefficients": WEAK},
    "three contexts": {"contexts": 3, "changes": 2, "coefficients": WEAK},
}


def families_of(marks, contexts):
    """Directed links of all families of graphs that marks leave, each of shape (contexts, N, N)."""
    endpoints, _, undecided = marks
    graphs = OpenGraphs(endpoints, contexts, triples=undecided)
    found = graphs.families(range(len(graphs.components)), limit=20_000)
    for family in found or ():
        links = np.zeros(endpoints.shape, dtype=bool)
        for g, v in np.ndindex(endpoints.shape[:2]):
            links[g, list(family.parents(g, v)), v] = True
        yield links


def two_contexts(rows, seed):
    generator = np.random.default_rng([seed, rows])
    a, b = generator.normal(size=(2, rows))
    r, s = (
        (a + generator.logistic(size=rows) > 0).astype(int),
        (b + generator.logistic(size=rows) > 0).astype(int),
    )
    c = 0.4 * a + np.where(r == 1, 0.5, 0.0) * b + generator.normal(size=rows)
    d = np.where(s == 1, -0.5, 0.4) * c + 0.3 * b + generator.normal(size=rows)
    return {"A": a, "B": b, "C": c, "D": d, "R": r, "S": s}


@pytest.mark.parametrize("seed", rest_slow(range(12), fast=4))
@pytest.mark.parametrize("how", ["exact", "order"])
def test_all_models_near_the_best_one_have_what_is_agreed_and_the_marks_are_its_closure(how, seed):
    """A naive closure: list every family of graphs with the agreed arrows and the colliders of the
    best model.
    """
    found = searched(
        model_table(150, 700 + seed, nodes=4, density=0.7, edits=("add", "remove", "flip")), how
    )
    told, data = direct(found), found.best.design.data
    contexts = data.table.contexts
    rivals, near = found.rivals(told.model), [told.model]
    for cause, effect in np.argwhere(told.model.links.any(axis=0)).tolist():
        other = rivals(cause, effect, told.model.score - LARGEST_MARGIN)
        near += (
            [other] if other is not None and other.score > told.model.score - CLEAR_MARGIN else []
        )
    reversed_in_one = np.any([other.links.swapaxes(1, 2) for other in near], axis=0)
    missing_in_one = np.any([~other.links.any(axis=0) for other in near], axis=0)
    assert np.array_equal(told.agreed, told.model.links & ~reversed_in_one & ~missing_in_one)

    def place(links):
        return in_table(data, links)

    marks = told.marks(contexts, place)
    links, (endpoints, origins, _) = place(told.model.links), marks
    assert np.array_equal(adjacent(endpoints), links | links.swapaxes(1, 2))
    arrows, open_edges = directed(endpoints), marked(endpoints, "o-o")
    assert not (place(told.agreed) & ~arrows).any()
    assert not (arrows & ~links).any()
    for at in np.argwhere(arrows & ~place(told.agreed)).tolist():
        assert (
            tuple(at) in origins
            or (at[0], at[2], at[1]) in origins
            or {at[1], at[2]} & {*contexts.positions}
        )
    families = list(families_of(marks, contexts))
    assert any(np.array_equal(family, links) for family in families)
    assert np.array_equal(
        np.all(families, axis=0), arrows
    )  # what is open can be turned: nothing was missed
    assert np.array_equal(np.any(families, axis=0), arrows | open_edges)


def test_a_link_that_a_model_near_the_best_one_does_not_have_is_open_unless_marks_need_it():
    """Directions with a margin below `CLEAR_MARGIN` are arrows only by a rule, or as colliders that an
    extension needs.
    """
    weak, arrows = 0, 0
    for seed in range(20):
        result = cc.discover(
            model_table(300, 60 + seed, coefficients=WEAK), "R", method="score-ac", curves="never"
        )
        edges = result.edges()
        for edge in edges[edges["margin"] < CLEAR_MARGIN].itertuples():
            weak += 1
            if edge.mark == "-->":
                arrows += 1
                cause, effect = result.position(edge.source), result.position(edge.target)
                places = [result.contexts.index(value) for value in edge.contexts]
                ruled = [
                    (g, a, b) in result.origins
                    for g in places
                    for a, b in ((cause, effect), (effect, cause))
                ]
                assert any(ruled)
    assert weak >= 40
    assert arrows <= weak / 2


def test_pairs_that_turn_round_between_contexts_are_open_where_the_model_is_doubted():
    rng = np.random.default_rng(3)
    r, x, y, z = rng.integers(0, 2, 600), *rng.exponential(size=(3, 600))
    x, y = np.where(r == 1, x + y, x), np.where(r == 1, y, y + x)
    found = searched({"X": x, "Y": y, "Z": z + x, "R": r}, "exact")
    told, data = direct(found), found.best.design.data

    def links(doubted):
        endpoints = told.marks(
            data.table.contexts, lambda own: in_table(data, own), doubted
        ).endpoints
        return directed(endpoints), marked(endpoints, "o-o")

    arrows, _ = links(False)
    assert arrows[0, 0, 1]
    assert arrows[1, 1, 0]
    doubted, still_open = links(True)
    assert still_open[:, 0, 1].all()
    assert np.array_equal(doubted[:, 0, 2], arrows[:, 0, 2])  # other links keep their direction


@pytest.mark.parametrize("design", rest_slow(DESIGNS.values(), fast=2), ids=DESIGNS)
def test_every_graph_has_an_extension_and_every_row_of_mechanisms_a_graph(design):
    contested = 0
    for seed in range(8):
        result = cc.discover(
            model_table(300, 40 + seed, **design), "R", method="score-ac", curves="never"
        )
        contested += bool(result.origins or result.evidence.undecided)
        for graph in result.graphs.values():
            assert graph.to_dags(limit=20_000)
        assert not result.mechanisms()["note"].str.contains("no directed acyclic graph").any()
    assert contested >= 2


@pytest.mark.parametrize("seed", range(6))
def test_with_several_contexts_thresholds_curves_kinds_and_knowledge_too(seed):
    knowledge = cc.Knowledge(forbidden=[("D", "C"), ("C", "A")], tiers=[["A", "B"], ["C", "D"]])
    two = two_contexts(250, seed)
    for table, context, options in (
        (two, ["R", "S"], {}),
        (two, ["R", "S"], {"knowledge": knowledge}),
        ({name: two[name] for name in "ABCD"}, cc.threshold("A", 0.1), {}),
        (curved_table(200, seed), "R", {}),
        (kinds_table(200, seed), "R", {}),
    ):
        result = cc.discover(table, context, method="score-ac", **options)
        assert all(graph.to_dags(limit=20_000) for graph in result.graphs.values())
        if options:
            assert not any(
                graph.mark("C", "D") == "<--" or graph.mark("A", "C") == "<--"
                for graph in result.graphs.values()
            )
            for cause, effect in (("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"), ("C", "D")):
                assert {graph.mark(cause, effect) for graph in result.graphs.values()} <= {
                    "",
                    "-->",
                }


def test_a_rule_behind_a_mark_is_explained_kept_and_compared(tmp_path):
    for seed in range(20):
        result = cc.discover(model_table(300, 40 + seed, coefficients=WEAK), "R", method="score-ac")
        if result.origins:
            break
    g, a, b = next(iter(result.origins))
    words = explained(result, result.names[a], result.names[b], apart=True)[g]
    assert "not all models near the best one say so" in words
    result.save(tmp_path / "kept.json")
    assert cc.load(tmp_path / "kept.json").origins == result.origins


def test_undecided_triples_are_kept_and_effects_range_over_both():
    found = 0
    for seed in range(30):
        result = cc.discover(
            model_table(300, 40 + seed, coefficients=WEAK), "R", method="score-ac", curves="never"
        )
        for g, x, w, y in result.evidence.undecided:
            value, names = result.contexts[g], result.names
            graph = result.graphs[value]
            assert x < y
            assert graph.mark(names[x], names[y]) == ""
            ends = {(cause, w): graph.mark(names[cause], names[w]) for cause in (x, y)}
            cause = next((one for (one, _), mark in ends.items() if mark == "o-o"), None)
            if cause is None or result.names[w] == "R" or names[cause] == "R":
                continue
            found += 1
            rows = result.mechanisms().set_index(["cause", "effect", "context"])
            assert np.isfinite(rows.loc[(names[cause], names[w], value), "low"])
            assert np.isfinite(rows.loc[(names[w], names[cause], value), "low"])
    assert found >= 3


def test_undecided_triples_move_with_their_contexts_and_survive_a_file(tmp_path):
    for seed in range(30):
        result = cc.discover(
            model_table(300, 40 + seed, coefficients=WEAK), "R", method="score-ac", curves="never"
        )
        if result.evidence.undecided:
            break
    turned = result.evidence.renumbered(np.array([1, 0]))
    assert sorted((1 - g, *rest) for g, *rest in turned.undecided) == sorted(
        result.evidence.undecided
    )
    result.save(tmp_path / "kept.json")
    assert cc.load(tmp_path / "kept.json").evidence == result.evidence


def marks_with_and_without_noise(nodes, contexts, rows, seed):
    """The marks of all pairs in every context of a drawn table, and of the same with a column of
    noise.
    """
    table = random_model(nodes, 0.5, seed=seed, contexts=contexts).sample(rows, seed)
    more = table.assign(noise=np.random.default_rng(seed + 10**6).standard_normal(rows))
    found, other = (cc.discover(one, "R", method="score-ac") for one in (table, more))
    pairs = list(combinations(found.names, 2))
    return [
        [[graph.mark(*pair) for pair in pairs] for graph in one.graphs.values()]
        for one in (found, other)
    ]


@pytest.mark.parametrize(("rows", "seed"), [(300, 88_010), (1000, 88_071)])
def test_a_direction_that_can_be_turned_at_no_cost_once_another_is_turned_is_open(rows, seed):
    """Climbs from other orders met other models of one equivalence class, and links that some of
    them turn had arrows.

    Turning one link of 88010 costs 5.5 nats from the best model, and nothing from an equally good
    one.
    """
    marks, with_noise = marks_with_and_without_noise(8, 3, rows, seed)
    assert marks == with_noise


@pytest.mark.slow
def test_a_column_of_noise_changes_hardly_any_marks():
    """None of 144 tables, with climbs or solved exactly."""
    changed = []
    for number, (nodes, contexts, rows) in enumerate(
        12 * [*product((4, 6, 8), (2, 3), (300, 1000))]
    ):
        marks, with_noise = marks_with_and_without_noise(nodes, contexts, rows, 88_000 + number)
        changed += [nodes] * (marks != with_noise)
    assert changed == []


def test_the_margin_of_an_edge_is_that_of_the_contexts_that_direct_it():
    """Where one context directs an edge and another leaves it open, the union has the arrow of the
    first.
    """
    result = cc.discover(cc.examples.soil_moisture(500, seed=1), "soil", method="score-ac")
    cause, effect = result.position("evapotranspiration"), result.position("humidity")
    slot, dry = result.evidence.slot(cause, effect), result.graphs["dry"].endpoints.copy()
    dry[cause, effect] = dry[effect, cause] = Endpoint.CIRCLE
    graphs = {"dry": result.graphs["dry"].replaced(endpoints=dry), "wet": result.graphs["wet"]}
    result.evidence.margin[:, slot] = 1.0, 7.0
    edges = score_edges(result.evidence, graphs, result.names).set_index(["source", "target"])
    assert tuple(edges.loc[("evapotranspiration", "humidity"), ["mark", "margin"]]) == ("-->", 7.0)
    same = score_edges(result.evidence, result.graphs, result.names).set_index(["source", "target"])
    assert same.loc[("evapotranspiration", "humidity"), "margin"] == 1.0
