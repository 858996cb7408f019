"""Reachability, cycles, orders and separation against networkx, one graph at a time."""

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest

from causalcontext.graphs.graph import Graph
from causalcontext.graphs.paths import (
    ancestors,
    blocks,
    causal_order,
    descendants,
    is_acyclic,
    is_d_separated,
    possible_descendants,
    reach,
    reached,
    shortest_cycle,
    shortest_path,
)
from causalcontext_lab.simulate.testing import random_models

NODES = 6


def random_links(count, density, seed):
    links = np.random.default_rng(seed).random((count, NODES, NODES)) < density
    links[:, np.arange(NODES), np.arange(NODES)] = False
    return links


def digraph(links):
    return nx.from_numpy_array(links, create_using=nx.DiGraph)


def reaching(links, node):
    """The nodes from which one or more links lead to `node`, by networkx."""
    graph = digraph(links)
    return {a for a in graph if any(nx.has_path(graph, b, node) for b in graph[a])}


@pytest.mark.parametrize("density", [0.05, 0.15, 0.3])
def test_ancestors_descendants_and_reach_agree_with_networkx(density):
    graphs = random_links(40, density, seed=1)
    above, below, everything = ancestors(graphs, 2), descendants(graphs, 2), reach(graphs)
    for place, links in enumerate(graphs):
        assert set(np.flatnonzero(above[place])) == reaching(links, 2)
        assert set(np.flatnonzero(below[place])) == reaching(links.T, 2)
        for node in range(NODES):
            assert set(np.flatnonzero(everything[place][:, node])) == reaching(links, node)


@pytest.mark.parametrize("seed", range(10))
def test_possible_descendants_are_found_along_every_path_without_an_arrow_back(seed):
    generator = np.random.default_rng(seed)
    marks = ["-->", "<--", "o-o", "o->", "<-o", "<->", "x-x"]
    pairs = [pair for pair in combinations("ABCDEF", 2) if generator.random() < 0.4]
    graph = Graph.from_edges(
        "ABCDEF", [(*pair, str(generator.choice(marks))) for pair in pairs], "pag"
    )
    skeleton = nx.Graph(pairs)
    skeleton.add_nodes_from("ABCDEF")
    open_paths = [
        path
        for end in "BCDEF"
        for path in nx.all_simple_paths(skeleton, "A", end)
        if not any(graph.mark(a, b).startswith("<") for a, b in pairwise(path))
    ]
    found = {graph.names[node] for node in np.flatnonzero(possible_descendants(graph.endpoints, 0))}
    assert found - {"A"} == {path[-1] for path in open_paths}


@pytest.mark.parametrize("seed", range(10))
def test_steps_through_several_graphs_are_steps_through_their_union(seed):
    graphs = random_links(3, 0.1, seed)
    children = [[set(np.flatnonzero(row).tolist()) for row in links] for links in graphs]
    assert reached(0, children) == nx.descendants(digraph(graphs.any(axis=0)), 0)


@pytest.mark.parametrize("density", [0.05, 0.15, 0.3])
def test_cycles_agree_with_networkx(density):
    graphs = random_links(40, density, seed=2)
    lengths = [min(map(len, nx.simple_cycles(digraph(links))), default=0) for links in graphs]
    assert is_acyclic(graphs).tolist() == [length == 0 for length in lengths]
    for links, length in zip(graphs, lengths, strict=True):
        cycle = shortest_cycle(links)
        assert len(cycle) == length
        assert all(links[a, b] for a, b in zip(cycle, (*cycle[1:], *cycle[:1]), strict=True))


def test_shortest_paths_agree_with_networkx():
    for links in random_links(40, 0.2, seed=3):
        path = shortest_path(links, 0, 5)
        expected = (
            nx.shortest_path_length(digraph(links), 0, 5) + 1
            if nx.has_path(digraph(links), 0, 5)
            else 0
        )
        assert len(path) == expected
        assert nx.is_path(digraph(links), path)


@pytest.mark.parametrize("seed", range(10))
def test_an_order_puts_causes_first_and_keeps_to_the_preferred_one(seed):
    generator = np.random.default_rng(seed)
    links = np.triu(generator.random((NODES, NODES)) < 0.3, k=1)
    preferred = generator.permutation(NODES).tolist()
    links = links[np.ix_(preferred, preferred)]
    order = causal_order(links, preferred)
    expected = nx.lexicographical_topological_sort(digraph(links), key=preferred.index)
    assert list(order) == list(expected)


def test_blocks_are_those_of_networkx():
    for links in random_links(20, 0.15, seed=4):
        skeleton = links | links.T
        expected = {
            frozenset(map(frozenset, block))
            for block in nx.biconnected_component_edges(nx.from_numpy_array(skeleton))
        }
        assert {frozenset(map(frozenset, block)) for block in blocks(skeleton)} == expected


def test_separation_agrees_with_networkx():
    for stack in random_models(60, variables=4, seed=1):
        for given in [(), (2,), (3,), (2, 3), (2, 3, 4)]:
            expected = nx.is_d_separator(digraph(stack[0]), {0}, {1}, set(given))
            assert is_d_separated(stack[0], 0, 1, given) == expected
