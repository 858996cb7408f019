"""Metrics of found graphs against sets of pairs and arrows, and error bars against a loop."""

import math

import numpy as np
import pytest

import naive
from causalcontext.graphs.endpoints import directed, endpoints_of_arcs, endpoints_of_mark
from causalcontext.graphs.graph import union_endpoints
from causalcontext_lab.study.reports import bootstrap_std, resampling_weights
from causalcontext_lab.study.runner import graph_metrics, label_metrics, rounded

NODES, CONTEXTS, R = 6, 3, 2


def random_case(seed):
    """True links and found ends of three contexts, and some pairs that were told."""
    generator = np.random.default_rng(seed)
    truth = np.triu(generator.random((CONTEXTS, NODES, NODES)) < 0.4, k=1)
    order = generator.permutation(NODES)
    truth = truth[:, order][:, :, order]
    drawn = np.triu(generator.choice([0, 0, 1, 2, 3, 4], size=(CONTEXTS, NODES, NODES)), k=1)
    at_first, at_second = np.array(
        [endpoints_of_mark(mark) for mark in ("", "-->", "<--", "o-o", "x-x")], dtype=np.int8
    ).T
    endpoints = at_second[drawn] + at_first[drawn].swapaxes(1, 2)
    told = np.zeros((NODES, NODES), dtype=bool)
    if seed % 2:
        told[R] = told[:, R] = True
        told[R, R] = False
    return truth, endpoints, told


def pair_set(adjacency):
    return {
        frozenset((int(i), int(j))) for i, j in np.argwhere(np.triu(adjacency | adjacency.T, k=1))
    }


def arrow_set(links):
    return {(int(i), int(j)) for i, j in np.argwhere(links)}


def mean(rows, name):
    values = [row[name] for row in rows if not math.isnan(row[name])]
    return sum(values) / len(values) if values else math.nan


@pytest.mark.parametrize("seed", range(12))
def test_rates_agree_with_sets(seed):
    truth, endpoints, told = random_case(seed)
    told_pairs = pair_set(told)
    rows = [
        naive.adjacency_rates(pair_set(found != 0), pair_set(links), range(NODES), told_pairs)
        | naive.mark_rates(
            arrow_set(directed(found)), pair_set(found != 0), arrow_set(links), told_pairs
        )
        for found, links in zip(endpoints, truth, strict=True)
    ]
    found = graph_metrics(endpoints, truth, R, told)
    for name in rows[0]:
        assert found[name] == pytest.approx(mean(rows, name), nan_ok=True)


@pytest.mark.parametrize("seed", range(12))
def test_labels_agree_with_sets(seed):
    truth, endpoints, _ = random_case(seed)
    expected = naive.label_rates(
        [pair_set(found != 0) for found in endpoints], [pair_set(links) for links in truth], R
    )
    found = label_metrics(endpoints, truth, R)
    assert found == pytest.approx(expected, nan_ok=True)


def test_links_at_the_context_are_counted_apart():
    truth = np.zeros((1, 4, 4), dtype=bool)
    truth[0, 0, 1] = truth[0, 1, 2] = True
    endpoints = np.zeros((1, 4, 4), dtype=np.int8)
    endpoints[0, 1, 0], endpoints[0, 0, 1] = endpoints_of_mark("-->")
    endpoints[0, 3, 2], endpoints[0, 2, 3] = endpoints_of_mark("o-o")
    found = graph_metrics(endpoints, truth, 0, np.zeros((4, 4), dtype=bool))
    assert (found["tpr_at_context"], found["fpr_at_context"]) == (1.0, 0.0)
    assert (found["tpr_system"], found["fpr_system"]) == (0.0, 0.5)
    assert found["shd"] == 2.0


def test_the_right_graph_has_perfect_metrics_and_no_distance():
    truth, _, told = random_case(4)
    endpoints = endpoints_of_arcs(truth)
    found = graph_metrics(endpoints, truth, R, told)
    assert [
        found[name] for name in ("tpr", "fpr", "adj_prec", "f1", "edge_prec", "edge_rec", "shd")
    ] == [
        1,
        0,
        1,
        1,
        1,
        1,
        0,
    ]
    assert set(label_metrics(endpoints, truth, R).values()) == {1.0}


def test_a_reversed_link_of_the_union_is_right_both_ways():
    truth = np.zeros((2, 3, 3), dtype=bool)
    truth[0, 1, 2] = truth[1, 2, 1] = True
    union = graph_metrics(
        union_endpoints(endpoints_of_arcs(truth))[None],
        truth.any(axis=0)[None],
        0,
        np.zeros((3, 3), dtype=bool),
    )
    assert (union["tpr"], union["edge_rec"], union["shd"]) == (1.0, 1.0, 0.0)


def test_missing_values_are_null_in_files():
    assert rounded({"a": float("nan"), "b": 1 / 3}) == {"a": None, "b": 0.33333333}


def test_error_bars_agree_with_a_loop_and_ignore_missing_runs():
    generator = np.random.default_rng(1)
    values = generator.random((30, 2))
    values[3, 1] = values[7, 1] = np.nan
    spread = bootstrap_std(values)
    for column in range(2):
        assert spread[column] == pytest.approx(
            naive.bootstrap_error(values[:, column], resampling_weights(30))
        )
    assert spread[0] == pytest.approx(values[:, 0].std(ddof=1) / np.sqrt(30), rel=0.2)


def test_error_bars_of_too_few_runs_are_unknown():
    assert np.isnan(bootstrap_std(np.array([[1.0]]))).all()
    assert np.isnan(bootstrap_std(np.zeros((0, 2)))).all()
