"""The paper's Examples (i) and (ii), from a table to graphs."""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext.examples import example_i_model, example_ii_truth, soil_moisture_truth
from causalcontext.graphs.endpoints import directed

SEEDS = range(5)


def has(graph: cc.Graph, x: str, y: str) -> bool:
    return graph.mark(x, y) != ""


@pytest.mark.parametrize("seed", SEEDS)
def test_example_i_selection_bias_fools_masking_alone(seed):
    table = cc.examples.example_i(4000, seed)
    found = {
        method: cc.discover(table, context="R", method=method)
        for method in ("pc-ac", "pc-m", "pc-p", "pc-b")
    }
    assert all(has(found["pc-m"].graphs[r], "X", "T") for r in (0, 1))
    for method in ("pc-ac", "pc-b"):
        assert not any(has(found[method].graphs[r], "X", "T") for r in (0, 1))
        assert [has(found[method].graphs[r], "T", "Y") for r in (0, 1)] == [False, True]
    assert has(found["pc-p"].graphs[0], "T", "Y")


@pytest.mark.parametrize("seed", SEEDS)
def test_example_i_has_the_true_skeleton(seed):
    result = cc.discover(cc.examples.example_i(4000, seed), context="R", method="pc-ac")
    for value, truth in example_i_model().truth().descriptive.items():
        assert np.array_equal(result.graphs[value].adjacency, truth.adjacency)


@pytest.mark.parametrize("seed", SEEDS)
def test_example_ii_lies_between_the_descriptive_and_the_physical_graph(seed):
    """Remark "descriptively sound": what is removed is absent from the data, what is kept exists in
    the system.
    """
    truth = example_ii_truth()
    result = cc.discover(cc.examples.example_ii(4000, seed), context="R", method="pc-ac")
    for value, graph in result.graphs.items():
        system = [i for i, name in enumerate(graph.names) if name != "R"]
        found, least, most = (
            g.adjacency[np.ix_(system, system)]
            for g in (graph, truth.descriptive[value], truth.physical[value])
        )
        assert (least <= found).all()
        assert (found <= most).all()
    assert has(result.graphs[1], "T", "Y")


def test_example_ii_loses_the_link_where_it_has_no_support():
    lost = [
        not has(
            cc.discover(cc.examples.example_ii(4000, seed), context="R", method="pc-ac").graphs[0],
            "T",
            "Y",
        )
        for seed in SEEDS
    ]
    assert sum(lost) >= 4


def test_soil_moisture_is_found():
    result = cc.discover(
        cc.examples.soil_moisture(2000, seed=1), context="soil", alpha=0.01, method="pc-ac"
    )
    for value, truth in soil_moisture_truth().descriptive.items():
        assert np.array_equal(result.graphs[value].adjacency, truth.adjacency)
        assert (directed(result.graphs[value].endpoints) <= directed(truth.endpoints)).all()
