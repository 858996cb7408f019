"""Arrowheads: Meek's rules against their naive twin and against brute force, conflicts,
knowledge.
"""

import itertools

import numpy as np
import pytest

import naive
from causalcontext.graphs.endpoints import directed, mark_of, marked
from causalcontext.knowledge import Knowledge
from causalcontext.search.colliders import Triples
from causalcontext.search.family import Evidence
from causalcontext.search.rules import orient_all

FREE = Knowledge()


def orient(matrix, links, triples):
    """The ends of one pattern, shape (N, N)."""
    return orient_all(matrix[None], Evidence([triples], links)).endpoints[0]


def adjacency(edges, variables):
    matrix = np.zeros((variables, variables), dtype=bool)
    for i, j in edges:
        matrix[i, j] = matrix[j, i] = True
    return matrix


def random_dag(rng, variables, density):
    order = rng.permutation(variables)
    return [
        (int(order[i]), int(order[j]))
        for i, j in itertools.combinations(range(variables), 2)
        if rng.random() < density
    ]


def colliders_of(dag, variables):
    matrix = adjacency(dag, variables)
    return frozenset(
        (x, w, y)
        for x, y in itertools.combinations(range(variables), 2)
        for w in range(variables)
        if (x, w) in dag and (y, w) in dag and not matrix[x, y]
    )


def arrows_of(endpoints):
    return {(int(i), int(j)) for i, j in zip(*np.nonzero(directed(endpoints)), strict=True)}


@pytest.mark.parametrize("seed", range(60))
def test_true_colliders_give_the_cpdag(seed):
    rng = np.random.default_rng(seed)
    variables = 4 + seed % 2
    dag = random_dag(rng, variables, 0.6)
    endpoints = orient(
        adjacency(dag, variables),
        FREE.links(range(variables)),
        Triples(colliders_of(dag, variables), frozenset()),
    )
    arrows, lines = naive.cpdag(dag)
    assert arrows_of(endpoints) == arrows
    assert {
        frozenset(map(int, pair))
        for pair in zip(*np.nonzero(marked(endpoints, "o-o")), strict=True)
    } == lines


@pytest.mark.parametrize("seed", range(40))
def test_rules_with_knowledge_and_ambiguous_triples_are_the_naive_ones(seed):
    rng = np.random.default_rng(100 + seed)
    variables = 6
    dag = random_dag(rng, variables, 0.55)
    names = [str(i) for i in range(variables)]
    matrix = adjacency(dag, variables)
    known = [dag[k] for k in rng.choice(len(dag), size=min(2, len(dag)), replace=False)]
    true_colliders = colliders_of(dag, variables)
    unshielded = [
        (x, w, y)
        for x, y in itertools.combinations(range(variables), 2)
        if not matrix[x, y]
        for w in range(variables)
        if matrix[x, w] and matrix[w, y]
    ]
    ambiguous = frozenset(triple for triple in unshielded if rng.random() < 0.2)
    colliders = true_colliders - ambiguous
    links = Knowledge(required=[(names[i], names[j]) for i, j in known]).links(names)
    endpoints = orient(matrix, links, Triples(colliders, ambiguous))
    by_knowledge = {
        (int(i), int(j))
        for i, j in zip(*np.nonzero(matrix & links.may & ~links.may.T), strict=True)
    }
    start = by_knowledge | {(x, w) for x, w, _ in colliders} | {(y, w) for _, w, y in colliders}
    rest = [pair for pair in dag if pair not in start and pair[::-1] not in start]
    arrows, _ = naive.meek(start, rest, ambiguous)
    assert arrows_of(endpoints) == arrows
    assert arrows <= set(dag)  # and none of them is wrong


def test_contradicting_colliders_are_a_conflict_whatever_the_order_of_columns():
    chain = adjacency([(0, 1), (1, 2), (2, 3)], 4)
    triples = Triples(frozenset({(0, 1, 2), (1, 2, 3)}), frozenset())
    endpoints = orient(chain, FREE.links("abcd"), triples)
    assert mark_of(endpoints, 1, 2) == mark_of(endpoints, 2, 1) == "x-x"
    assert mark_of(endpoints, 0, 1) == mark_of(endpoints, 3, 2) == "-->"
    mirrored = orient(chain[::-1, ::-1], FREE.links("abcd"), triples)
    assert np.array_equal(mirrored[::-1, ::-1], endpoints)


def test_a_conflict_supports_no_further_rule():
    graph = adjacency([(0, 1), (1, 2), (2, 3), (2, 4)], 5)
    triples = Triples(frozenset({(0, 1, 2), (1, 2, 3)}), frozenset())
    endpoints = orient(graph, FREE.links("abcde"), triples)
    assert mark_of(endpoints, 1, 2) == "x-x"
    assert mark_of(endpoints, 2, 4) == "-->"  # by R1 from 3 --> 2, not from the conflict
    only = orient(graph, FREE.links("abcde"), Triples(triples.colliders, frozenset({(3, 2, 4)})))
    assert mark_of(only, 2, 4) == "o-o"


def test_a_collider_that_knowledge_rules_out_orients_nothing():
    graph = adjacency([(0, 1), (1, 2)], 3)
    links = Knowledge(required=[("b", "a")]).links("abc")
    endpoints = orient(graph, links, Triples(frozenset({(0, 1, 2)}), frozenset()))
    assert mark_of(endpoints, 1, 0) == "-->"
    assert mark_of(endpoints, 1, 2) == "o-o"


def test_triples_apart_by_assumption_orient_nothing():
    graph = adjacency([(0, 1), (1, 2)], 3)
    links = Knowledge(required=[("a", "b")], forbidden=[("a", "c"), ("c", "a")]).links("abc")
    endpoints = orient(graph, links, Triples(frozenset(), frozenset({(0, 1, 2)})))
    assert mark_of(endpoints, 0, 1) == "-->"
    assert mark_of(endpoints, 1, 2) == "o-o"  # R1 would need a verdict on (a, b, c)
