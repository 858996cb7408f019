"""The models that theory is checked on: how many there are, and that the sampler draws from the
same set.
"""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest

from causalcontext.errors import OptionError
from causalcontext_lab.simulate.testing import acyclic_graphs, every_model, random_models
from causalcontext_lab.simulate.truth import (
    has_long_union_cycle,
    is_strongly_acyclic,
    is_weakly_sufficient,
    shortest_union_cycle,
)


@pytest.mark.parametrize("context", range(4))
def test_counts_of_models_with_three_variables(context):
    models = every_model(variables=3, contexts=2, context=context)
    long_cycles = has_long_union_cycle(models)
    assert models.shape == (2553, 2, 4, 4)
    assert long_cycles.sum() == 162
    assert (~long_cycles).sum() == 2391
    assert (shortest_union_cycle(models) >= 3).sum() == 36


def test_no_model_is_listed_twice():
    models = every_model().reshape(2553, -1)
    assert len(np.unique(models, axis=0)) == 2553


def test_enumeration_agrees_with_a_plain_loop_over_two_variables():
    links = list(product(("none", "into R", "from R"), repeat=2))
    graphs = [(), ((0, 1),), ((1, 0),)]
    found = sum(is_model(at_r, g_0, g_1) for at_r, g_0, g_1 in product(links, graphs, graphs))
    assert len(every_model(variables=2)) == found


def is_model(at_r, *graphs):
    union = nx.DiGraph([link for graph in graphs for link in graph])
    union.add_nodes_from([0, 1, "R"])
    for v, link in enumerate(at_r):
        if link == "into R":
            union.add_edge(v, "R")
        if link == "from R":
            union.add_edge("R", v)
        parents = {tuple(a for a, b in graph if b == v) for graph in graphs}
        if len(parents) > 1 and link != "from R":
            return False
    upstream = nx.ancestors(union, "R") | {"R"}
    return not any(upstream & set(cycle) for cycle in nx.simple_cycles(union))


def test_numbers_of_labeled_acyclic_graphs():
    assert [len(acyclic_graphs(m)) for m in (1, 2, 3, 4)] == [1, 3, 25, 543]


def test_random_models_meet_the_assumptions_and_repeat_with_the_seed():
    models = random_models(500, variables=4, context=2, seed=7)
    assert models.shape == (500, 2, 5, 5)
    assert is_weakly_sufficient(models, 2).all()
    assert is_strongly_acyclic(models, 2).all()
    assert np.array_equal(models, random_models(500, variables=4, context=2, seed=7))


def test_random_models_are_drawn_uniformly():
    models = random_models(20 * 2553, variables=3, seed=11).reshape(20 * 2553, -1)
    _, counts = np.unique(models, axis=0, return_counts=True)
    assert len(counts) == 2553
    chi_squared = ((counts - 20) ** 2 / 20).sum()
    assert abs(chi_squared - 2552) < 5 * np.sqrt(2 * 2552)


def test_too_many_models_are_refused():
    with pytest.raises(OptionError, match="random_models"):
        every_model(variables=4)
    with pytest.raises(OptionError, match="1 to 4"):
        random_models(1, variables=6, seed=0)
