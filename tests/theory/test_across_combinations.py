"""Several context variables, exactly: what is drawn across combinations of their values is never
wrong.
"""

from collections import defaultdict

import numpy as np
import pytest

from causalcontext.graphs.endpoints import directed, mark_texts
from causalcontext.kernels.levels.neighbours import list_edges
from causalcontext.search.colliders import Triples
from causalcontext.search.family import Evidence, GraphFamily
from causalcontext.search.rules import RULES, Scope, proposals
from causalcontext.views import Contexts
from causalcontext_lab.simulate.truth import has_long_union_cycle
from marks import rest_slow
from oracle import of_some_skeletons, open_to_kin, skeleton, wrong_marks
from several_models import (
    SeveralModel,
    every_model_of_two,
    independences,
    random_joint,
    random_made_model,
    random_several_model,
    search_made,
    search_several,
)

A, B, X, Y = range(4)


def model(*combinations, nodes=4, seed=1):
    """Two context variables and the arrows of the combinations (0, 0), (0, 1), (1, 0), (1, 1)."""
    truth = np.zeros((4, nodes, nodes), dtype=bool)
    for graph, arrows in zip(truth, combinations, strict=True):
        for cause, effect in arrows:
            graph[cause, effect] = True
    return SeveralModel(2, truth, random_joint(truth, 2, np.random.default_rng(seed)))


def check(contexts, system, count, seed, collider_rule="majority"):
    """No wrong mark in random models, right skeletons; arrows across and within, and the rules that
    drew them.
    """
    generator = np.random.default_rng(seed)
    arrows, rules = np.zeros(2, dtype=int), set()
    for _ in range(count):
        drawn = random_several_model(contexts, system, generator)
        for place, across in enumerate((True, False)):
            found = search_several(drawn, collider_rule, across)
            if not has_long_union_cycle(drawn.truth):
                assert np.array_equal(found.endpoints != 0, skeleton(drawn.truth))
            assert wrong_marks(found.endpoints, drawn.truth) == 0
            assert found.doubts == ()
            assert not (across and open_to_kin(found.endpoints, range(contexts)))
            arrows[place] += directed(found.endpoints).sum()
            rules |= {origin.rule for origin in found.origins.values()}
    return arrows, rules


@pytest.mark.parametrize(
    ("every", "models", "arrows"), rest_slow([(25, 50, (57, 58)), (1, 1773, (1880, 2450))])
)
def test_all_identifiable_marks_of_all_1773_models_of_two_contexts_and_two_variables_and_no_wrong_one(
    every, models, arrows
):
    """The naive twin: a mark is identifiable if all models with the same independences share it."""
    generator, classes, searched = np.random.default_rng(0), defaultdict(list), []
    for _, truth in of_some_skeletons(every_model_of_two(), every):
        drawn = SeveralModel(2, truth, random_joint(truth, 2, generator))
        searched.append((drawn, independences(drawn)))
        classes[searched[-1][1]].append(truth)
    system = at_contexts = 0
    for drawn, signature in searched:
        found = search_several(drawn)
        assert np.array_equal(found.endpoints != 0, skeleton(drawn.truth))
        assert wrong_marks(found.endpoints, drawn.truth) == 0
        assert np.array_equal(directed(found.endpoints), np.all(classes[signature], axis=0))
        assert not open_to_kin(found.endpoints, (A, B))
        system += int(directed(found.endpoints)[:, 2:, 2:].sum())
        at_contexts += int(
            directed(found.endpoints[0]).sum() - directed(found.endpoints[0])[2:, 2:].sum()
        )
    assert (len(searched), (system, at_contexts)) == (models, arrows)


@pytest.mark.slow
@pytest.mark.parametrize("collider_rule", ["majority", "conservative", "first"])
def test_no_wrong_mark_with_two_contexts_and_two_variables(collider_rule):
    (across, within), rules = check(2, 2, 100, 1, collider_rule)
    assert across > within
    assert {"V1", "V4"} <= rules


@pytest.mark.slow
def test_no_wrong_mark_with_two_contexts_and_three_variables():
    (across, within), rules = check(2, 3, 100, 12)
    assert across > 1.05 * within
    assert {"V1", "V4", "A2"} <= rules


@pytest.mark.slow
@pytest.mark.parametrize(("contexts", "system", "count"), [(2, 3, 1500), (3, 2, 200), (2, 4, 150)])
def test_no_wrong_mark_in_many_models(contexts, system, count):
    check(contexts, system, count, 13)


def test_links_at_context_variables_point_the_same_way_everywhere():
    generator = np.random.default_rng(5)
    for _ in range(30):
        endpoints = search_several(random_several_model(2, 3, generator)).endpoints
        assert (endpoints[:, :2] == endpoints[:1, :2]).all()
        assert (endpoints[:, :, :2] == endpoints[:1, :, :2]).all()


def test_the_variable_that_differs_is_the_cause():
    """A switches X --> Y, B shifts Y: B differs between combinations too, but the edge vanishes
    with A alone.
    """
    shared = [(A, Y), (B, Y)]
    found = search_several(model([(X, Y), *shared], [(X, Y), *shared], shared, shared))
    marks = mark_texts(found.endpoints)
    assert marks[:, A, Y].tolist() == ["-->"] * 4
    assert marks[:, X, Y].tolist() == ["-->", "-->", "", ""]


def test_combinations_that_differ_in_two_variables_conclude_nothing():
    free = [Triples(frozenset(), frozenset())] * 2
    adjacency = skeleton(model([(X, Y), (A, Y), (B, Y)], *[[(A, Y), (B, Y)]] * 3).truth)[[0, 3]]
    edges = list_edges(adjacency)
    apart = GraphFamily(
        edges, adjacency.shape[1], Evidence(free, contexts=Contexts((A, B), ((0, 0), (1, 1))))
    )
    assert apart.vanishing == ()
    assert not list(proposals([rule for rule in RULES if rule.scope is Scope.ACROSS], apart))
    step = GraphFamily(
        edges, adjacency.shape[1], Evidence(free, contexts=Contexts((A, B), ((0, 0), (1, 0))))
    )
    assert {(v.context, v.x, v.y) for v in step.vanishing} == {(A, X, Y), (A, Y, X)}
    generator = np.random.default_rng(6)
    for _ in range(30):
        drawn = random_several_model(2, 3, generator)
        assert wrong_marks(search_several(drawn, cells=(0, 3)).endpoints, drawn.truth[[0, 3]]) == 0


def test_an_edge_that_turns_around_with_one_variable_makes_it_a_cause_of_both():
    Z = 4
    shared = [(A, Y), (A, Z), (X, Y), (B, X)]
    found = search_several(model(*[[*shared, (Y, Z)]] * 2, *[[*shared, (Z, Y)]] * 2, nodes=5))
    marks = mark_texts(found.endpoints)
    assert marks[:, A, Y].tolist() == marks[:, A, Z].tolist() == ["-->"] * 4
    assert marks[:, Y, Z].tolist() == ["-->", "-->", "<--", "<--"]


@pytest.mark.parametrize(
    ("made", "system", "models"),
    rest_slow(
        [((False, True), 2, 40), ((False, True), 3, 100), ((True, True), 2, 100), ((True,), 3, 150)]
    ),
)
def test_no_wrong_mark_where_some_contexts_are_functions_of_columns(made, system, models):
    generator, columns = np.random.default_rng(1), len(made) + system
    for _ in range(models):
        drawn = random_made_model(made, system, generator, steady=True)
        contexts, endpoints, doubts = search_made(drawn)
        found = endpoints[:, :columns, :columns]
        if not has_long_union_cycle(drawn.truth):
            assert np.array_equal(found != 0, skeleton(drawn.truth))
        assert wrong_marks(found, drawn.truth) == 0
        assert not doubts
        for function, column in contexts.made:
            assert not (directed(endpoints)[:, function, :columns] & ~drawn.reads[column]).any()
