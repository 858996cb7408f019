"""Theorem 1 and the intersection lemma, exactly: every model with R + 3 variables, a sample with R
+ 4.

The fast tests take one model in `every`, the slow ones all of them.
"""

import numpy as np
import pytest

from causalcontext.graphs.endpoints import directed
from causalcontext.methods.pc_b import intersect
from causalcontext.views import masked, pooled
from causalcontext_lab.simulate.testing import every_model, random_discrete_model, random_models
from causalcontext_lab.simulate.truth import has_long_union_cycle
from marks import rest_slow
from oracle import search_oracle, skeleton, wrong_marks


def models_of_theorem_1():
    """The 2,391 models without a long cycle in their union, numbered."""
    models = every_model()
    models = models[~has_long_union_cycle(models)]
    assert len(models) == 2391
    return list(enumerate(models))


@pytest.mark.parametrize("every", rest_slow([15, 1]))
def test_theorem_1_holds_on_all_2391_models(every):
    wrong_skeletons = wrong = 0
    for seed, truth in models_of_theorem_1()[::every]:
        found = search_oracle(random_discrete_model(truth, 0, seed=seed))
        wrong_skeletons += not np.array_equal(found.endpoints != 0, skeleton(truth))
        wrong += wrong_marks(found.endpoints, truth)
    assert (wrong_skeletons, wrong) == (0, 0)


@pytest.mark.slow
def test_marks_of_all_2553_models_are_as_many_as_the_theory_counts():
    system = at_context = 0
    for seed, truth in enumerate(every_model()):
        arrows = directed(search_oracle(random_discrete_model(truth, 0, seed=seed)).endpoints)
        system += int(arrows[:, 1:, 1:].sum())
        at_context += int(arrows[:, 0].sum() + arrows[:, :, 0].sum())
    assert (system, at_context / 2) == (3084, 1242)


@pytest.mark.parametrize("every", rest_slow([5, 1]))
@pytest.mark.parametrize("position", [0, 2, 4])
def test_theorem_1_holds_on_a_sample_with_four_variables(position, every):
    models = random_models(150, variables=4, context=position, seed=20 + position)
    models = models[~has_long_union_cycle(models)]
    assert len(models) > 80
    for seed, truth in list(enumerate(models))[::every]:
        found = search_oracle(random_discrete_model(truth, position, seed=seed))
        assert np.array_equal(found.endpoints != 0, skeleton(truth))
        assert wrong_marks(found.endpoints, truth) == 0


@pytest.mark.parametrize("every", rest_slow([70, 7]))
@pytest.mark.parametrize("rule", ["majority", "conservative", "first"])
def test_every_collider_rule_is_right_without_noise(rule, every):
    for seed, truth in models_of_theorem_1()[::every]:
        found = search_oracle(random_discrete_model(truth, 0, seed=seed), collider_rule=rule)
        assert wrong_marks(found.endpoints, truth) == 0


@pytest.mark.parametrize("every", rest_slow([30, 1]))
def test_intersection_lemma_holds_on_all_models(every):
    for seed, truth in models_of_theorem_1()[::every]:
        model = random_discrete_model(truth, 0, seed=seed)
        inside = search_oracle(model, masked)
        everywhere = search_oracle(model, pooled, levels=(0,))
        both = intersect(inside.endpoints, everywhere.endpoints[0], [0]) != 0
        assert np.array_equal(both[:, 1:, 1:], skeleton(truth)[:, 1:, 1:])
        assert not (inside.endpoints[:, 0] != 0).any()


def test_masking_has_selection_bias_where_adaptive_search_has_none():
    truth = np.zeros((2, 3, 3), dtype=bool)
    truth[:, [1, 2], 0] = True  # X --> R <-- T
    model = random_discrete_model(truth, 0, seed=3)
    assert search_oracle(model, masked).endpoints[:, 1, 2].all()
    assert not search_oracle(model).endpoints[:, 1, 2].any()


def test_the_four_cycle_keeps_a_false_edge_as_the_theory_says():
    """X -[0]-> A -> Y -[1]-> B -> X with children A, B: outside Theorem 1, and X - Y is never
    removed.
    """
    r, x, a, y, b = range(5)
    truth = np.zeros((2, 5, 5), dtype=bool)
    truth[:, r, a] = truth[:, r, b] = truth[:, a, y] = truth[:, b, x] = True
    truth[0, x, a] = truth[1, y, b] = True
    found = search_oracle(random_discrete_model(truth, r, seed=1))
    assert found.endpoints[:, x, y].all()
