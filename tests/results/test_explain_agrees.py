"""No sentence of `explain` contradicts the graph that it is about, or the knowledge that it
names.
"""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext.results.explain import _gain, explained
from causalcontext_lab.simulate.linear import random_model


@pytest.mark.parametrize(
    ("present", "difference", "words"),
    [
        (True, 3.0, "raises the score"),
        (False, -3.0, "would lower the score"),
        (False, 61.5, "do not take its absence as settled"),
        (True, -2.0, "although without it"),
        (False, 0.0, "would lower"),
        (True, 0.0, "although without it"),
    ],
)
def test_a_score_against_the_graph_says_so(present, difference, words):
    assert words in _gain(present, difference)


def random_knowledge(names, rng):
    """Two directions that are ruled out."""
    pairs = [(a, b) for a in names for b in names if a != b]
    return cc.Knowledge(forbidden=[pairs[i] for i in rng.choice(len(pairs), 2, replace=False)])


@pytest.mark.parametrize("seed", range(6))
def test_no_sentence_contradicts_the_graph_or_the_knowledge(seed):
    model, rng = (
        random_model(nodes=6, density=0.5, seed=seed, coefficients=(-0.6, -0.2, 0.2, 0.6)),
        np.random.default_rng(seed),
    )
    known = random_knowledge(model.names, rng)
    found = cc.discover(
        model.sample(200, seed=seed), context=model.context_name, method="score-ac", knowledge=known
    )
    may = known.links(found.names).may
    for result in (found, found.with_graphs(model.truth().descriptive)):
        for i, x in enumerate(found.names):
            for j, y in enumerate(found.names[:i]):
                for value, story in zip(
                    result.contexts, explained(result, x, y, apart=True), strict=False
                ):
                    present = bool(result.graphs[value].mark(x, y))
                    assert story.startswith("present" if present else "absent")
                    assert ("raises the score" in story) <= present
                    assert ("would lower the score" in story) <= (not present)
                    assert ("ruled out" in story or "rules the link out" in story) <= (
                        not (may[i, j] and may[j, i])
                    )
                    assert "one context at a time" not in story


def test_a_given_graph_beside_tests_that_say_otherwise():
    model = random_model(nodes=5, density=0.5, seed=2)
    found = cc.discover(model.sample(400, seed=1), context=model.context_name, method="pc-ac")
    names = found.names
    empty = {value: cc.Graph.from_edges(names, []) for value in found.contexts}
    edge = next(iter(found.labeled_union))
    story = found.with_graphs(empty).explain(edge.source, edge.target)
    assert all(
        "the search by pc-ac found otherwise" in line or "independent" in line
        for line in story.split("\n")
    )
    assert "found otherwise" in story
