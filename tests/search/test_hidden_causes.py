"""fci-ac without noise: every end that it draws is true, whatever is hidden; the counts are those
of all small models.

The counts of the per-context search, of rule U and of all-row removals make the tempting shortcuts
fail: see docs/hidden-causes.md for what each rule would do wrong.
"""

from functools import cache

import numpy as np
import pytest

from causalcontext.graphs.endpoints import Endpoint, GraphKind, adjacent, marked
from causalcontext.graphs.paths import mag_adjacency
from causalcontext.search import rules
from causalcontext.search.family import Proposal
from causalcontext.views import Contexts, masked, pooled
from causalcontext_lab.simulate import random_hidden_model
from causalcontext_lab.simulate.hidden import PreparedOracle, SeparationTest
from causalcontext_lab.simulate.testing import every_model, random_models, with_hidden_cause
from hidden_models import (
    Answers,
    marks,
    questions,
    search_pags,
    search_patterns,
    search_written,
    signatures,
    written,
    wrong_endpoints,
)
from marks import rest_slow

FOUR = (0, 1, 2, 3)
SYSTEM = np.array([[a != b and a > 0 and b > 0 for b in FOUR] for a in FOUR])
AT_CONTEXT = ~SYSTEM & ~np.eye(4, dtype=bool)

NAMED = {
    "a present edge need not be a mechanism": (
        "X>R L>R L>Y R>Y X>Y@1",
        "Ro-oX Ro-oY Xo-oY",
        "Ro-oX Ro-oY Xo-oY",
    ),
    "a cause in one context, perhaps only a hidden common cause in the other": (
        "L>A L>Y A>B@0 B>Y R>B",
        "R-->B Ao->B A-->Y B-->Y",
        "R-->B Ao->Y B-->Y",
    ),
    "a pair varies though neither end is adjacent to the context": (
        "X>A L>A L>Y A>B@0 B>Y R>B",
        "R-->B Ao->B Ao-oX A-->Y B-->Y Xo->Y",
        "R-->B Xo->A A<->Y B-->Y",
    ),
    "a link at the context that one context lacks": (
        "R>A R>B L>A L>Y A>B@0 B>Y",
        "Ro-oA Ro-oB Ro->Y Ao-oB Ao-oY Bo-oY",
        "Ro-oA Ro-oB Ro->Y Ao->Y Bo->Y",
    ),
    "a collider of all rows that one context has not": (
        "X>W@0 W>X@1 Y>W@0 R>X R>W",
        "Ro-oX R-->W Xo->W Yo->W",
        "Ro-oX R-->W Wo-oX",
    ),
    "a hidden common cause that acts in one context": ("R>X L>X@0 L>Y", "R-->X Yo->X", "R-->X"),
    "a change that shows where the context acts": (
        "Y>R Y>X R>Z X>Z@1 Y>Z@1",
        "Ro-oY R-->Z Xo-oY",
        "Ro-oY R-->Z Xo-oY Xo->Z Yo->Z",
    ),
    "a separation inside a context that has left both neighbourhoods": (
        "X>C C>Y X>E E>Y L1>X L1>A L2>A L2>Y A>B@0 B>Y R>B",
        "R-->B Ao->B Ao-oX A-->Y B-->Y Co->Y Co-oX Eo->Y Eo-oX Xo->Y",
        "R-->B Xo->A A<->Y B-->Y C-->Y Co-oX E-->Y Eo-oX",
    ),
    "a union cycle without anything hidden": (
        "X>A@0 A>Y Y>B@1 B>X R>A R>B",
        "R-->A R-->B X-->A A-->Y B-->X",
        "R-->A R-->B A-->Y Y-->B B-->X",
    ),
}
COUNTS = (
    "models",
    "signatures",
    "true pairs",
    "wrongly removed",
    "too many",
    "vary",
    "certified",
    "true links at context",
    "kept links at context",
    "arrows",
    "tails",
    "bidirected",
    "arrows at context",
    "tails at context",
    "wrong",
    "conflicts",
)
CONSTANT = (
    28_083,
    822,
    130_512,
    0,
    0,
    18_336,
    18_336,
    73_716,
    73_716,
    31_368,
    2_064,
    144,
    15_498,
    4_656,
    0,
    0,
)
VARYING = (
    149_755,
    894,
    667_152,
    0,
    0,
    158_568,
    158_568,
    414_324,
    414_324,
    139_980,
    8_592,
    300,
    71_814,
    24_420,
    0,
    0,
)


@pytest.mark.parametrize("name", NAMED)
def test_named_models(name):
    text, *expected = NAMED[name]
    names, found = search_written(text)
    for endpoints, edges in zip(found.endpoints, expected, strict=True):
        assert marks(names, endpoints) == set(edges.split())
    assert not found.doubts


@pytest.mark.parametrize("name", NAMED)
def test_named_models_with_larger_sets(name):
    """Neighbours are enough for all of them."""
    names, found = search_written(NAMED[name][0], possible_dsep=6)
    for endpoints, edges in zip(found.endpoints, NAMED[name][1:], strict=True):
        assert marks(names, endpoints) == set(edges.split())


@cache
def classes(varying):
    """All models with one hidden cause, one of each set of answers, and to which class each model
    belongs.
    """
    stacks = with_hidden_cause(every_model(), varying)
    rows = np.packbits(signatures(stacks, 4), axis=1)
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return stacks, first, place.ravel()


def found_endpoints(varying, **options):
    """What is found for every model, shape (models, contexts, 4, 4), and how many doubts there
    are.
    """
    stacks, first, place = classes(varying)
    asked, endpoints, doubts = list(questions(4)), [], 0
    for row in signatures(stacks[first], 4):
        found = search_pags(Answers(dict(zip(asked, row.tolist(), strict=True))), 4, **options)
        endpoints.append(found.endpoints)
        doubts += len(found.doubts)
    return np.stack(endpoints)[place], doubts


def counted(varying, **options):
    """The counts by name."""
    stacks, first, _ = classes(varying)
    endpoints, doubts = found_endpoints(varying, **options)
    assert doubts == 0
    here, there = adjacent(endpoints), mag_adjacency(stacks, FOUR)
    pairs = np.triu(SYSTEM)
    vary, found_vary = ((which[:, 0] != which[:, 1]) & pairs for which in (there, here))
    linked = there[:, :, 0].any(axis=1)
    values = (
        len(stacks),
        len(first),
        (there & pairs).sum(),
        (there & ~here & pairs).sum(),
        (here & ~there & pairs).sum(),
        vary.sum(),
        (vary & found_vary & (here == there).all(axis=1)).sum(),
        linked.sum(),
        here[:, 0, 0].sum(),
        ((endpoints == Endpoint.ARROW) & SYSTEM).sum(),
        ((endpoints == Endpoint.TAIL) & SYSTEM).sum(),
        (marked(endpoints, "<->") & pairs).sum(),
        ((endpoints[:, 0] == Endpoint.ARROW) & AT_CONTEXT).sum(),
        ((endpoints[:, 0] == Endpoint.TAIL) & AT_CONTEXT).sum(),
        wrong_endpoints(endpoints, stacks, 4).sum(),
        (endpoints == Endpoint.CONFLICT).sum(),
    )
    return dict(zip(COUNTS, map(int, values), strict=True))


@pytest.mark.slow
def test_every_small_model_with_a_hidden_cause():
    assert counted(varying=False) == dict(zip(COUNTS, CONSTANT, strict=True))


@pytest.mark.slow
def test_every_small_model_with_a_hidden_cause_that_may_act_in_one_context_only():
    assert counted(varying=True) == dict(zip(COUNTS, VARYING, strict=True))


@pytest.mark.slow
def test_graphs_that_do_not_learn_from_each_other_share_their_ends_at_the_context_all_the_same():
    found = counted(varying=False, across=False)
    assert (found["arrows"], found["tails"], found["tails at context"]) == (31_368, 2_064, 1_392)
    assert found["wrong"] == found["conflicts"] == 0


@pytest.mark.slow
def test_an_unconfounded_context_says_more_and_is_right_if_it_is_unconfounded():
    stacks, _, _ = classes(False)
    endpoints, _ = found_endpoints(False, confounded=False)
    confounded = stacks[:, 0, 4, 0]
    tails = (endpoints[:, 0] == Endpoint.TAIL) & AT_CONTEXT
    assert tails[~confounded].sum() == 6_960
    assert not wrong_endpoints(endpoints, stacks, 4)[~confounded].any()
    assert wrong_endpoints(endpoints, stacks, 4)[confounded].any()


def wrong_and_found(endpoints, stacks, end):
    """How many ends of that kind between system variables are wrong, out of how many."""
    chosen = (endpoints == end) & SYSTEM
    return int((chosen & wrong_endpoints(endpoints, stacks, 4)).sum()), int(chosen.sum())


@pytest.mark.slow
def test_other_searches_are_wrong_on_the_same_exact_answers():
    """FCI on all rows is wrong, in arrows too, pc-ac in its tails alone; FCI inside each context
    says little.
    """
    stacks, first, place = classes(False)
    asked, pool, inside, pattern = list(questions(4)), [], [], []
    for row in signatures(stacks[first], 4):
        answers = Answers(dict(zip(asked, row.tolist(), strict=True)))
        pool.append(
            np.repeat(
                search_pags(answers, 4, across=False, rule=pooled, cells=(0,)).endpoints, 2, axis=0
            )
        )
        inside.append(search_pags(answers, 4, across=False, rule=masked).endpoints)
        pattern.append(search_patterns(answers, 4).endpoints)
    pool, inside, pattern = (np.stack(found)[place] for found in (pool, inside, pattern))
    there, pairs = mag_adjacency(stacks, FOUR), np.triu(SYSTEM)
    assert wrong_and_found(pool, stacks, Endpoint.ARROW) == (444, 31_956)
    assert wrong_and_found(pool, stacks, Endpoint.TAIL) == (228, 1_488)
    assert (adjacent(pool) & ~there & pairs).sum() == 19_308
    assert wrong_and_found(inside, stacks, Endpoint.ARROW) == (0, 12_396)
    assert wrong_and_found(inside, stacks, Endpoint.TAIL) == (0, 0)
    assert (adjacent(inside) & ~there & pairs).sum() == 2_370
    assert wrong_and_found(pattern, stacks, Endpoint.ARROW) == (0, 31_332)
    assert wrong_and_found(pattern, stacks, Endpoint.TAIL) == (4_056, 31_332)
    assert np.array_equal(adjacent(pattern) & pairs, there & pairs)


@pytest.mark.parametrize("models", rest_slow([5, 100]))
def test_larger_models_with_several_hidden_causes(models):
    """Neighbours may leave an edge too many; nothing true is removed and no end is wrong."""
    too_many = 0
    for seed in range(models):
        model = random_hidden_model(observed=7, hidden=3, degree=1.8, seed=seed)
        prepared = PreparedOracle(model.oracle().deviation, model.observed, by_last(7))
        found = search_pags(prepared, 8, contexts=by_last(7))
        causes = model.causes.swapaxes(1, 2)
        assert not ((found.endpoints == Endpoint.ARROW) & causes).any()
        assert not ((found.endpoints == Endpoint.TAIL) & ~causes).any()
        assert adjacent(found.endpoints)[adjacent(model.endpoints)].all()
        too_many += int((adjacent(found.endpoints) & ~adjacent(model.endpoints)).sum())
    assert too_many <= 4


def by_last(place):
    """Two contexts by the variable at a place."""
    return Contexts((place,), ((0,), (1,)))


def test_larger_sets_may_be_needed_and_are_found():
    """One of few models in which neighbours leave an edge; no end is wrong either way."""
    model = random_hidden_model(observed=7, hidden=4, degree=1.8, seed=261)
    prepared = PreparedOracle(model.oracle().deviation, model.observed, by_last(7))
    causes = model.causes.swapaxes(1, 2)
    for possible_dsep, too_many in ((None, 4), (1, 4), (7, 0)):
        found = search_pags(prepared, 8, contexts=by_last(7), possible_dsep=possible_dsep)
        assert (adjacent(found.endpoints) & ~adjacent(model.endpoints)).sum() == too_many
        assert not ((found.endpoints == Endpoint.ARROW) & causes).any()
        assert not ((found.endpoints == Endpoint.TAIL) & ~causes).any()


@pytest.mark.parametrize("models", rest_slow([10, 40]))
def test_three_contexts(models):
    three = Contexts((0,), ((0,), (1,), (2,)))
    every = with_hidden_cause(random_models(40, variables=4, contexts=3, seed=5), varying=True)
    for number in np.random.default_rng(6).choice(len(every), size=40, replace=False)[:models]:
        stack = every[number]
        prepared = PreparedOracle(
            SeparationTest(stack, 0, "RWXYZ").deviation, tuple(range(5)), three
        )
        found = search_pags(prepared, 5, contexts=three, cells=(0, 1, 2))
        there = mag_adjacency(stack, range(5))
        assert np.array_equal(adjacent(found.endpoints)[:, 1:, 1:], there[:, 1:, 1:])
        assert not wrong_endpoints(found.endpoints, stack, 5).any()
        assert not found.doubts


def copied_direction(family):
    """T1: x --> y here, and one of them is not adjacent to R: so it is wherever they are
    adjacent.
    """
    for graph in family.graphs:
        for x, effects in enumerate(graph.children):
            for y in effects - {0}:
                for h, other in enumerate(family.graphs):
                    if (
                        x
                        and y in other.adjacent[x]
                        and (0 not in other.adjacent[x] or 0 not in other.adjacent[y])
                    ):
                        yield Proposal(h, y, x, Endpoint.TAIL, (), h)


def changed_effect(family):
    """V1: x - z is missing somewhere, and x is not adjacent to R: x --> z."""
    for g, h, context, x, z in family.vanishing:
        if context not in family.graphs[g].adjacent[x]:
            yield Proposal(g, z, x, Endpoint.TAIL, (), h)


def pooled_colliders(family):
    """A collider of one context is one wherever both edges are."""
    for judged in family.evidence.triples:
        for x, w, y in sorted(judged.colliders):
            for h, graph in enumerate(family.graphs):
                for a in {x, y} & graph.adjacent[w]:
                    yield Proposal(h, a, w, Endpoint.ARROW, (), h)


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (
            copied_direction,
            "a cause in one context, perhaps only a hidden common cause in the other",
        ),
        (changed_effect, "a hidden common cause that acts in one context"),
        (pooled_colliders, "a collider of all rows that one context has not"),
    ],
)
def test_tempting_rules_are_wrong(rule, name, monkeypatch):
    entry = rules.OrientationRule(
        "tempting", rules.Scope.ACROSS, rules.Turn.CONSEQUENCES, rule, "", "", GraphKind.PAG
    )
    monkeypatch.setattr(rules, "RULES", (*rules.RULES, entry))
    names, found = search_written(NAMED[name][0])
    _, _, stack = written(NAMED[name][0])
    assert wrong_endpoints(found.endpoints, stack, len(names)).any()
