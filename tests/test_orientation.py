"""Options of orientation and cycles in `discover`, the gate on real rows, and what is said about
arrows.
"""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext.graphs.endpoints import directed, mark_texts
from causalcontext_lab.simulate import random_model


@pytest.mark.parametrize("seed", range(5))
def test_a_mechanism_that_is_switched_off_orients_the_link_of_the_context(seed):
    """Example (i): T - Y is missing for R = 0, and T causes R, so T --> Y and R --> Y."""
    table = cc.examples.example_i(2000, seed)
    result = cc.discover(table, context="R", alpha=0.01, method="pc-ac")
    assert result.union.mark("T", "Y") == "-->"
    assert result.union.mark("R", "Y") == "-->"
    assert "by V" in result.explain("T", "Y")


def test_a_mechanism_out_of_support_orients_nothing():
    """Example (ii): without the gate, V1 would say Y --> T and R --> T, or R --> Y."""
    for seed in range(10):
        result = cc.discover(cc.examples.example_ii(2000, seed), context="R", method="pc-ac")
        assert not any(origin.rule in ("V1", "V4") for origin in result.origins.values())
        assert result.union.mark("Y", "T") != "-->"


@pytest.mark.parametrize("scope", ["adaptive", "cycle", "always"])
def test_scopes_only_remove_edges_and_pay_tests(scope):
    table = random_model(seed=5, edits=("add", "flip"), cycles="enforce").sample(500, seed=1)
    plain = cc.discover(table, context="R", orientation="within", method="pc-ac")
    result = cc.discover(
        table, context="R", orientation="within", masked_scope=scope, method="pc-ac"
    )
    assert result.settings.masked_scope == scope
    assert sum(result.tests_run.values()) >= sum(plain.tests_run.values())
    for value, graph in result.graphs.items():
        assert (graph.adjacency <= plain.graphs[value].adjacency).all()
    for row in result.tests().itertuples():
        assert (row.decision == "present") == (result.graphs[row.context].mark(row.x, row.y) != "")


def test_separations_inside_a_context_hold_the_context():
    """The set behind a masked separation counts as a set with R, else R would look like a
    collider.
    """
    table = random_model(seed=5, edits=("add", "flip"), cycles="enforce").sample(500, seed=1)
    result = cc.discover(
        table,
        context="R",
        masked_scope="always",
        collider_rule="first",
        orientation="within",
        method="pc-ac",
    )
    log = result.tests()
    masked = log[(log["rows"] != "pooled") & (log["decision"] == "absent")]
    assert len(masked) > 0
    for row in masked.itertuples():
        graph = result.graphs[row.context]
        if graph.mark(row.x, "R") and graph.mark("R", row.y):
            origin = result.origins.get(
                (result.contexts.index(row.context), result.position(row.x), result.position("R"))
            )
            assert (
                origin is None
                or origin.rule != "collider"
                or origin.via != (result.position(row.y),)
            )


@pytest.mark.parametrize("seed", range(6))
def test_links_at_the_context_have_the_same_marks_in_all_graphs(seed):
    model = random_model(seed=seed, contexts=3)
    result = cc.discover(model.sample(900, seed=seed), context="R", method="pc-ac")
    place = result.position("R")
    marks = np.stack([mark_texts(graph.endpoints)[place] for graph in result.graphs.values()])
    assert (marks == marks[0]).all()


def test_across_adds_arrows_and_keeps_the_skeleton():
    more = 0
    for seed in range(12):
        table = random_model(seed=seed).sample(1000, seed=seed)
        within, across = (
            cc.discover(table, context="R", orientation=o, method="pc-ac")
            for o in ("within", "across")
        )
        for value in within.contexts:
            assert np.array_equal(within.graphs[value].adjacency, across.graphs[value].adjacency)
            more += int(directed(across.graphs[value].endpoints).sum()) - int(
                directed(within.graphs[value].endpoints).sum()
            )
    assert more > 0


def test_every_arrow_is_explained():
    result = cc.discover(cc.examples.soil_moisture(2000, seed=1), context="soil", method="pc-ac")
    for edge in result.union.edges:
        if edge.mark == "-->":
            assert f"{edge.source} --> {edge.target} by " in result.explain(
                edge.source, edge.target
            )
    known = cc.Knowledge(required=[("radiation", "temperature")])
    told = cc.discover(
        cc.examples.soil_moisture(2000, seed=1), context="soil", knowledge=known, method="pc-ac"
    )
    assert "by knowledge" in told.explain("radiation", "temperature")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"method": "pc-ac", "masked_scope": "cycles"}, "did you mean 'cycle'"),
        ({"method": "pc-ac", "orientation": "both"}, "orientation is 'both'"),
    ],
)
def test_bad_options_get_one_sentence(option, words):
    with pytest.raises(cc.OptionError, match=words):
        cc.discover(cc.examples.soil_moisture(100, seed=1), context="soil", **option)
