"""to_dag refuses, to_dags enumerates; against brute force over all orientations."""

from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest

from causalcontext.errors import OptionError
from causalcontext.graphs.dags import has_extension
from causalcontext.graphs.graph import Graph


def colliders(graph):
    return {
        (x, w, y)
        for w in graph.names
        for x in graph.parents(w)
        for y in graph.parents(w)
        if x < y and graph.mark(x, y) == ""
    }


def naive_dags(graph):
    """Try every orientation of every undirected edge."""
    fixed = [edge for edge in graph.edges if edge.mark == "-->"]
    loose = [edge for edge in graph.edges if edge.mark == "o-o"]
    found = set()
    for flips in product([False, True], repeat=len(loose)):
        turned = [
            (e.target, e.source, "-->") if flip else (e.source, e.target, "-->")
            for e, flip in zip(loose, flips, strict=True)
        ]
        candidate = Graph.from_edges(graph.names, [*fixed, *turned])
        acyclic = nx.is_directed_acyclic_graph(
            nx.DiGraph([(e.source, e.target) for e in candidate.edges])
        )
        if acyclic and colliders(candidate) == colliders(graph):
            found.add(candidate)
    return found


@pytest.mark.parametrize("seed", range(25))
def test_all_graphs_and_no_others(seed):
    generator = np.random.default_rng(seed)
    names = "ABCDE"
    pairs = [
        (a, b) for i, a in enumerate(names) for b in names[i + 1 :] if generator.random() < 0.55
    ]
    graph = Graph.from_edges(
        names, [(a, b, generator.choice(["o-o", "o-o", "-->"])) for a, b in pairs]
    )
    expected = naive_dags(graph)
    assert has_extension(graph.endpoints) == bool(expected)
    if expected:
        found = graph.to_dags()
        assert len(found) == len(set(found))
        assert set(found) == expected
    else:
        with pytest.raises(OptionError, match="no directed acyclic graph"):
            graph.to_dags()


def test_a_directed_graph_is_itself():
    graph = Graph.from_edges("XY", [("X", "Y", "-->")])
    assert graph.to_dag() == graph
    assert graph.to_dags() == (graph,)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([("X", "Y", "o-o")], "is undirected"),
        ([("X", "Y", "x-x")], "contradicts every"),
        ([("X", "Y", "<=>")], "contradicts every"),
        ([("X", "Y", "-->"), ("Y", "Z", "-->"), ("Z", "X", "-->")], "form a cycle"),
    ],
)
def test_what_is_no_dag_is_refused(edges, words):
    with pytest.raises(OptionError, match=words):
        Graph.from_edges("XYZ", edges).to_dag()


def test_too_many_are_refused():
    complete = Graph.from_edges(
        "ABCDE", [(a, b, "o-o") for i, a in enumerate("ABCDE") for b in "ABCDE"[i + 1 :]]
    )
    assert len(complete.to_dags()) == 120
    with pytest.raises(OptionError, match="more than 100"):
        complete.to_dags(limit=100)


def test_a_graph_with_too_many_open_edges_to_direct_is_one_sentence():
    chain = [f"V{i}" for i in range(1200)]
    graph = Graph.from_edges(chain, [(a, b, "o-o") for a, b in pairwise(chain)])
    with pytest.raises(OptionError, match="has 1199 edges without a direction"):
        graph.to_dags()
