"""The predicates against networkx, one graph at a time."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from causalcontext_lab.simulate.truth import (
    has_long_union_cycle,
    is_strongly_acyclic,
    is_weakly_sufficient,
    shortest_union_cycle,
)


def random_stacks(count, contexts, nodes, density, seed):
    stacks = np.random.default_rng(seed).random((count, contexts, nodes, nodes)) < density
    stacks[..., np.arange(nodes), np.arange(nodes)] = False
    return stacks


def digraph(adjacency):
    return nx.from_numpy_array(adjacency, create_using=nx.DiGraph)


def cycles_of(stack):
    return list(nx.simple_cycles(digraph(stack.any(axis=0))))


@pytest.mark.parametrize("density", [0.05, 0.1, 0.2])
def test_union_cycles_agree_with_networkx(density):
    stacks = random_stacks(80, 2, 5, density, seed=2)
    lengths = [[len(cycle) for cycle in cycles_of(stack)] for stack in stacks]
    assert shortest_union_cycle(stacks).tolist() == [min(found, default=0) for found in lengths]
    assert has_long_union_cycle(stacks).tolist() == [
        max(found, default=0) >= 3 for found in lengths
    ]


def test_strong_acyclicity_agrees_with_its_definition():
    stacks = random_stacks(300, 2, 5, 0.1, seed=3)
    for stack, found in zip(stacks, is_strongly_acyclic(stacks, 1), strict=True):
        union = digraph(stack.any(axis=0))
        upstream = nx.ancestors(union, 1) | {1}
        each_acyclic = all(nx.is_directed_acyclic_graph(digraph(graph)) for graph in stack)
        assert found == (
            each_acyclic and not any(upstream & set(cycle) for cycle in cycles_of(stack))
        )


def test_a_flip_between_children_of_the_context_meets_both_assumptions():
    stack = np.zeros((2, 3, 3), dtype=bool)
    stack[0, 0, 1] = stack[1, 1, 0] = True
    assert not is_weakly_sufficient(stack, 2)
    stack[:, 2, :2] = True
    assert is_weakly_sufficient(stack, 2)
    assert is_strongly_acyclic(stack, 2)
    assert shortest_union_cycle(stack) == 2
    assert not has_long_union_cycle(stack)


def test_parents_may_differ_only_at_children_of_the_context():
    stack = np.zeros((2, 3, 3), dtype=bool)
    stack[0, 0, 1] = True
    assert not is_weakly_sufficient(stack, 2)
    stack[:, 2, 1] = True
    assert is_weakly_sufficient(stack, 2)


@pytest.mark.parametrize("link", [(0, 2), (2, 0)])
def test_links_at_the_context_must_be_shared(link):
    stack = np.zeros((2, 3, 3), dtype=bool)
    stack[0, *link] = True
    assert not is_weakly_sufficient(stack, 2)
