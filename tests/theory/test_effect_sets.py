"""Sets of effects on oracle patterns, exactly: the effects of all models with the same
independences, and no others.
"""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from test_across_contexts import independences

import causalcontext as cc
from causalcontext.graphs.dags import OpenGraphs
from causalcontext.results.effects import sets
from causalcontext.results.effects.asking import context_effect, difference, effect_in
from causalcontext.results.effects.mechanics import Mechanics
from causalcontext.results.effects.sets import local_effects
from causalcontext.views import Contexts
from causalcontext_lab.simulate.testing import every_model, random_discrete_model
from linear_twins import linear_twin, naive_context_effects, naive_effects, result_of
from marks import rest_slow
from oracle import of_some_skeletons, search_oracle

TWO = Contexts((0,), ((0,), (1,)))
NAMES = "RXYZ"
SYSTEM = (1, 2, 3)


@pytest.fixture(scope="module", params=rest_slow([20, 1]))
def classes(request):
    """The models of some skeletons, slowly all 2,553 models, in classes with the same
    independences.
    """
    found = defaultdict(list)
    for seed, truth in of_some_skeletons(every_model(), request.param):
        found[independences(random_discrete_model(truth, 0, seed=seed))].append((seed, truth))
    return list(found.values())


@pytest.fixture(scope="module")
def some(classes):
    """(pattern, all graphs of its class, a linear twin of one of them) for every class."""
    chosen = []
    for members in classes:
        seed, truth = members[0]
        pattern = search_oracle(random_discrete_model(truth, 0, seed=seed), across=True).endpoints
        chosen.append((pattern, [other for _, other in members], linear_twin(members[-1][1], seed)))
    return chosen


def mechanics_of(pattern, moments, kept=[]):  # noqa: B006
    graphs = {r: cc.Graph(NAMES, endpoints) for r, endpoints in enumerate(pattern)}
    if not kept:
        kept.append(result_of(graphs, moments))
    return Mechanics(replace(kept[0], graphs=graphs, moments=moments))


def same_values(answer, wanted):
    """Whether the values of an answer are these numbers, each once."""
    found = np.array([estimate.value for estimate in answer.estimates])
    unique = np.unique(np.round(wanted, 8))
    return len(found) == len(unique) and np.allclose(found, unique, atol=1e-6)


def test_families_are_the_models_with_the_same_independences(some):
    for pattern, members, _ in some:
        graphs = OpenGraphs(pattern, TWO)
        families = graphs.families(range(len(graphs.components)))
        found = {
            tuple(family.parents(g, v) for g in (0, 1) for v in range(4)) for family in families
        }
        wanted = {
            tuple(tuple(np.flatnonzero(links[g, :, v])) for g in (0, 1) for v in range(4))
            for links in members
        }
        assert found == wanted


def test_effects_are_those_of_the_models_with_the_same_independences(some):
    for pattern, members, twin in some:
        mechanics = mechanics_of(pattern, twin.moments)
        wanted = np.array([naive_effects(links, twin.moments) for links in members])
        for x, y in ((x, y) for x in SYSTEM for y in SYSTEM if x != y):
            for g in (0, 1):
                answer = effect_in(mechanics, g, x, y)
                assert same_values(answer, wanted[:, g, x, y])
                assert min(abs(e.value - twin.effects()[g, x, y]) for e in answer.estimates) < 1e-8
            assert same_values(
                difference(mechanics, 1, 0, x, y), wanted[:, 1, x, y] - wanted[:, 0, x, y]
            )


def test_effects_of_the_context_are_those_of_the_models_with_the_same_independences(some):
    for pattern, members, twin in some:
        mechanics = mechanics_of(pattern, twin.moments)
        wanted = np.array([naive_context_effects(links, twin.moments) for links in members])
        truth = twin.means_under(1) - twin.means_under(0)
        for y in SYSTEM:
            answer = context_effect(mechanics, 0, 1, 0, y)
            assert same_values(answer, wanted[:, y])
            assert min(abs(e.value - truth[y]) for e in answer.estimates) < 1e-8


def test_the_local_method_has_the_truth_among_its_values(some):
    for pattern, _, twin in some:
        mechanics = mechanics_of(pattern, twin.moments)
        for g, x, y in np.argwhere(mechanics.reach):
            found = [estimate.value for estimate in local_effects(mechanics, g, x, y).estimates]
            assert min(abs(value - twin.effects()[g, x, y]) for value in found) < 1e-8


def test_too_many_graphs_are_left_to_the_local_method(some, monkeypatch):
    monkeypatch.setattr(sets, "MOST_FAMILIES", 1)
    seen = 0
    for pattern, _, twin in some:
        mechanics = mechanics_of(pattern, twin.moments)
        truth = twin.means_under(1) - twin.means_under(0)
        for y in SYSTEM:
            for x in (x for x in SYSTEM if x != y):
                answer = effect_in(mechanics, 1, x, y)
                values = [estimate.value for estimate in answer.estimates]
                assert min(values) - 1e-8 <= twin.effects()[1, x, y] <= max(values) + 1e-8
                seen += "local method" in answer.note
            values = [
                estimate.value for estimate in context_effect(mechanics, 0, 1, 0, y).estimates
            ]
            assert min(values) - 1e-8 <= truth[y] <= max(values) + 1e-8
    assert seen > len(some) / 2


@pytest.mark.slow
@pytest.mark.parametrize("classes", [1], indirect=True)
def test_every_model_has_its_truth_among_the_values_of_its_pattern(classes):
    """Each of the 2,553 models with slopes of its own; one value where all models of its class
    agree.
    """
    single = asked = 0
    for members in classes:
        pattern = search_oracle(
            random_discrete_model(members[0][1], 0, seed=members[0][0]), across=True
        ).endpoints
        for seed, truth in members:
            twin = linear_twin(truth, seed)
            mechanics = mechanics_of(pattern, twin.moments)
            wanted = np.array([naive_effects(links, twin.moments) for _, links in members])
            of_context = twin.means_under(1) - twin.means_under(0)
            for g, x, y in ((g, x, y) for g in (0, 1) for x in SYSTEM for y in SYSTEM if x != y):
                answer = effect_in(mechanics, g, x, y)
                assert min(abs(e.value - twin.effects()[g, x, y]) for e in answer.estimates) < 1e-8
                assert answer.identified == (np.ptp(wanted[:, g, x, y]) < 1e-8)
                single, asked = single + answer.identified, asked + 1
            for y in SYSTEM:
                answer = context_effect(mechanics, 0, 1, 0, y)
                assert min(abs(e.value - of_context[y]) for e in answer.estimates) < 1e-8
    assert asked == 2553 * 12
    assert single > 0.5 * asked


def test_how_many_graphs_are_asked_depends_on_sizes_alone(some, monkeypatch):
    mechanics = mechanics_of(some[0][0], some[0][2].moments)
    assert sets.most_families(mechanics) == sets.MOST_FAMILIES
    monkeypatch.setattr(sets, "MOST_ANSWERS", 0)
    assert sets.most_families(mechanics) == sets.FEWEST_FAMILIES
