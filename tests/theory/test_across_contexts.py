"""Orientation across contexts, exactly: no wrong mark, and every mark that can be known at all."""

import itertools
from collections import defaultdict

import numpy as np
import pytest

from causalcontext.graphs.endpoints import directed, marked
from causalcontext.search.colliders import Triples
from causalcontext.views import Contexts
from causalcontext_lab.simulate.testing import every_model, random_discrete_model, random_models
from causalcontext_lab.simulate.truth import has_long_union_cycle
from marks import rest_slow
from oracle import of_some_skeletons, open_to_kin, search_oracle, skeleton, wrong_marks

R, X, Y, Z = range(4)


def links(*contexts, nodes=4):
    """Context graphs from lists of arrows."""
    truth = np.zeros((len(contexts), nodes, nodes), dtype=bool)
    for graph, arrows in zip(truth, contexts, strict=True):
        for cause, effect in arrows:
            graph[cause, effect] = True
    return truth


def independences(model):
    """Every independence, on all rows and inside every context: what a search could ever learn."""
    nodes = range(len(model.names))
    answers = []
    for x, y in itertools.combinations(nodes, 2):
        rest = [z for z in nodes if z not in (x, y)]
        for size in range(len(rest) + 1):
            for given in itertools.combinations(rest, size):
                answers.append(model.independent(x, y, given))
                if model.context not in (x, y, *given):
                    answers += [
                        model.independent(x, y, given, ((model.context, r),)) for r in (0, 1)
                    ]
    return tuple(answers)


@pytest.fixture(scope="module", params=rest_slow([20, 1]))
def searches(request):
    """Models, and what is found with rules across contexts: of one in 20 of all 2,553 models,
    slowly of all.
    """
    models = list(enumerate(every_model()))[:: request.param]
    return [
        (truth, search_oracle(random_discrete_model(truth, R, seed=seed), across=True))
        for seed, truth in models
    ]


def count(arrows):
    """System marks over both contexts, marks at R once a model."""
    return int(arrows[:, 1:, 1:].sum()), int(arrows[0, R].sum() + arrows[0, :, R].sum())


@pytest.mark.parametrize(
    ("every", "models", "arrows"), rest_slow([(20, 82, (49, 38)), (1, 2553, (3144, 1746))])
)
def test_rules_find_all_identifiable_marks_of_all_2553_models_and_no_wrong_one(
    every, models, arrows
):
    """The naive twin: a mark is identifiable if all models with the same independences share it."""
    classes, searched = defaultdict(list), []
    for seed, truth in of_some_skeletons(every_model(), every):
        model = random_discrete_model(truth, R, seed=seed)
        searched.append((truth, independences(model), search_oracle(model, across=True)))
        classes[searched[-1][1]].append(truth)
    common = {signature: np.all(truths, axis=0) for signature, truths in classes.items()}
    system = at_context = 0
    for truth, signature, found in searched:
        assert wrong_marks(found.endpoints, truth) == 0
        assert np.array_equal(directed(found.endpoints), common[signature])
        assert found.doubts == ()
        more = count(directed(found.endpoints))
        system, at_context = system + more[0], at_context + more[1]
    assert len(searched) == models
    assert (system, at_context) == arrows


def test_every_arrow_has_an_origin_and_nothing_else_has(searches):
    rules = set()
    for _, found in searches:
        arrows = {tuple(map(int, place)) for place in np.argwhere(directed(found.endpoints))}
        assert set(found.origins) == arrows
        rules |= {origin.rule for origin in found.origins.values()}
    assert {"collider", "V1", "V4", "T1", "R1"} <= rules


@pytest.mark.parametrize("models", rest_slow([20, 200]))
@pytest.mark.parametrize("position", [0, 3])
def test_no_wrong_mark_with_four_variables(position, models):
    for seed, truth in enumerate(
        random_models(200, variables=4, context=position, seed=40 + position)[:models]
    ):
        found = search_oracle(
            random_discrete_model(truth, position, seed=seed), across=True, masked_scope="always"
        )
        assert np.array_equal(found.endpoints != 0, skeleton(truth))
        assert wrong_marks(found.endpoints, truth) == 0


def test_no_neighbour_with_an_open_link_is_a_known_ancestor_or_descendant_of_the_context(searches):
    """Rule A1 has nothing left to say (docs/decisions/orientation-across.md)."""
    for _, found in searches:
        assert not open_to_kin(found.endpoints, (R,))


def test_links_at_the_context_are_the_same_in_all_graphs(searches):
    for _, found in searches:
        assert np.array_equal(found.endpoints[0, R], found.endpoints[1, R])


def test_union_graphs_never_carry_a_collider_that_no_context_has(searches):
    """X -[0]-> W -[1]-> Y looks like a collider on all rows; no graph of a context says so."""
    for truth, found in searches:
        arrows = directed(found.endpoints)
        for x, y in itertools.combinations(range(4), 2):
            for w in range(4):
                if (
                    arrows[:, x, w].any()
                    and arrows[:, y, w].any()
                    and not (found.endpoints[:, x, y] != 0).any()
                ):
                    # both arrowheads are true in some context, so the union has them for a reason
                    assert truth[:, x, w].any()
                    assert truth[:, y, w].any()
    chain = links([(R, Y), (R, Z), (X, Y)], [(R, Y), (R, Z), (Y, Z)])
    found = search_oracle(random_discrete_model(chain, R, seed=2), across=True)
    arrows = directed(found.endpoints)
    assert not (arrows[:, X, Y] & arrows[:, Z, Y]).any()
    assert not arrows[:, Z, Y].any()


def test_first_example_beyond_joint_causal_inference():
    """Context 0: X -> Z <- Y; context 1: X -> Y and nothing at Z (App. "Orientation rules")."""
    truth = links([(X, Z), (Y, Z), (R, Y), (R, Z)], [(X, Y), (R, Y), (R, Z)])
    plain = search_oracle(random_discrete_model(truth, R, seed=1))
    found = search_oracle(random_discrete_model(truth, R, seed=1), across=True)
    assert np.array_equal(directed(found.endpoints), truth)
    assert found.origins[0, Y, Z].rule == "collider"
    assert found.origins[0, R, Z].rule in ("collider", "V1", "V4")
    assert directed(plain.endpoints).sum() <= directed(found.endpoints).sum()


def test_second_example_beyond_joint_causal_inference():
    """X -> Y everywhere, Y -> Z in context A and Z -> Y in context B: the flip says that R causes
    both.
    """
    truth = links([(X, Y), (Y, Z), (R, Y), (R, Z)], [(X, Y), (Z, Y), (R, Y), (R, Z)])
    found = search_oracle(random_discrete_model(truth, R, seed=1), across=True)
    assert np.array_equal(directed(found.endpoints), truth)
    assert found.origins[0, Y, Z].rule == "R1"
    assert found.origins[1, Z, Y].rule == "collider"


def test_a_vanishing_edge_orients_nothing_where_the_data_could_not_show_it():
    from causalcontext.search.family import Evidence
    from causalcontext.search.rules import orient_all

    adjacency = skeleton(links([(X, R), (R, Y), (X, Y)], [(X, R), (R, Y)], nodes=3))
    free = [Triples(frozenset(), frozenset({(X, R, Y)}))] * 2
    from causalcontext.knowledge import Knowledge

    known = Knowledge(required=[("X", "R")]).links(("R", "X", "Y"))
    one = Contexts((R,), ((0,), (1,)))
    trusted = directed(orient_all(adjacency, Evidence(free, known, one)).endpoints)
    assert trusted[0, X, Y]
    assert trusted[0, R, Y]
    gated = orient_all(adjacency, Evidence(free, known, one, lambda *_: False))
    assert marked(gated.endpoints, "o-o")[0, R, Y]


def four_cycle():
    """X -[0]-> A -> Y -[1]-> B -> X with children A, B."""
    r, x, a, y, b = range(5)
    shared = [(r, a), (r, b), (a, y), (b, x)]
    return links([*shared, (x, a)], [*shared, (y, b)], nodes=5), x, y


def test_masked_tests_remove_the_false_edge_of_the_four_cycle():
    truth, x, y = four_cycle()
    model = random_discrete_model(truth, 0, seed=1)
    assert search_oracle(model, across=True).endpoints[:, x, y].all()
    for scope in ("cycle", "always"):
        found = search_oracle(model, across=True, masked_scope=scope)
        assert not found.endpoints[:, x, y].any()
        assert np.array_equal(found.endpoints != 0, skeleton(truth))
        assert wrong_marks(found.endpoints, truth) == 0


@pytest.mark.parametrize("count", rest_slow([15, 150]))
def test_scopes_beyond_the_paper_leave_no_wrong_skeleton_on_large_cycles(count):
    models = random_models(4000, seed=8)
    models = models[has_long_union_cycle(models)][:count]
    assert len(models) == count
    wrong = dict.fromkeys(("cycle", "always"), 0)
    for seed, truth in enumerate(models):
        model = random_discrete_model(truth, 0, seed=seed)
        for scope in wrong:
            found = search_oracle(model, across=True, masked_scope=scope)
            wrong[scope] += not np.array_equal(found.endpoints != 0, skeleton(truth))
            assert wrong_marks(found.endpoints, truth) == 0
    assert wrong == {"cycle": 0, "always": 0}
