"""Open paths and MAGs against lists of all paths."""

import numpy as np
import pytest

import naive_hidden as naive
from causalcontext.graphs.paths import mag_adjacency, open_paths
from causalcontext.search.fci import possible_d_sep

NODES = 6


def random_dags(count, density, seed, nodes=NODES):
    generator = np.random.default_rng(seed)
    for _ in range(count):
        order = generator.permutation(nodes)
        yield (
            (np.triu(generator.random((nodes, nodes)) < density, 1))[np.ix_(order, order)],
            generator,
        )


def chosen(generator, without):
    given = generator.random(NODES) < 0.35
    given[list(without)] = False
    return given


@pytest.mark.parametrize("leaving", [False, True])
def test_open_paths_are_those_of_the_list(leaving):
    naive_open = naive.leaves_open if leaving else lambda *asked: not naive.separated(*asked)
    for links, generator in random_dags(60, 0.4, seed=int(leaving)):
        given = chosen(generator, {0})
        found = open_paths(links, 0, given, leaving)
        for y in range(1, NODES):
            if not given[y]:
                assert found[y] == naive_open(links, 0, y, np.flatnonzero(given).tolist())


def test_many_graphs_and_sets_are_answered_at_once():
    links = np.stack([found for found, _ in random_dags(8, 0.5, seed=3)]).reshape(
        2, 4, NODES, NODES
    )
    given = np.random.default_rng(4).random((2, 4, NODES)) < 0.3
    given[..., 2] = False
    found = open_paths(links, 2, given)
    for place in np.ndindex(2, 4):
        assert np.array_equal(found[place], open_paths(links[place], 2, given[place]))


def test_adjacent_in_a_mag_are_those_with_an_inducing_path_and_without_a_separating_set():
    observed = (0, 2, 3, 5)
    for links, _ in random_dags(50, 0.45, seed=5):
        found = mag_adjacency(links, observed)
        for i, x in enumerate(observed):
            for j, y in enumerate(observed):
                if i < j:
                    assert (
                        found[i, j] == found[j, i] == naive.has_inducing_path(links, x, y, observed)
                    )
                    assert found[i, j] != naive.some_set_separates(links, x, y, observed)


def test_possible_d_sep_is_that_of_the_list():
    for links, generator in random_dags(40, 0.4, seed=7):
        adjacency = links | links.T
        triples = [
            (a, b, c)
            for a in range(NODES)
            for c in range(a + 1, NODES)
            for b in range(NODES)
            if adjacency[a, b] and adjacency[b, c] and not adjacency[a, c]
        ]
        colliders = {triple for triple in triples if generator.random() < 0.5}
        found = possible_d_sep(adjacency, colliders)
        for x in range(NODES):
            inside = set(np.flatnonzero(found[x]).tolist())
            assert inside >= naive.possible_d_sep(adjacency, colliders, x)
            assert not inside & {x}
