"""The paper's assumptions: where they hold, where they fail, and the reason given."""

import numpy as np
import pytest

from causalcontext_lab.simulate import named_model, random_model
from causalcontext_lab.simulate.testing import (
    DiscreteModel,
    r_faithfulness,
    random_discrete_model,
    random_models,
    single_graph_sufficiency,
    strong_context_acyclicity,
    weak_context_acyclicity,
    weak_context_sufficiency,
)
from causalcontext_lab.simulate.truth import TrueGraphs


def truth_of(*links, contexts=1, context="R"):
    """The truth of a model given as a list of links per context, such as ["R>X", "X>Y"]."""
    names = sorted({end for graph in links for link in graph for end in link.split(">")})
    stack = np.zeros((len(links), len(names), len(names)), dtype=bool)
    for level, graph in enumerate(links):
        for link in graph:
            cause, effect = link.split(">")
            stack[level, names.index(cause), names.index(effect)] = True
    model = TrueGraphs()
    model.names, model.context, model.adjacency = names, names.index(context), stack
    return model.truth()


def test_hierarchy_of_sufficiency():
    """Strong, single-graph, weak: the examples of the appendix, one on each step."""
    verdicts = {
        name: (bool(weak_context_sufficiency(truth)), bool(single_graph_sufficiency(truth)))
        for name in ("example-i", "example-ii", "example-ii-shifted", "daylight")
        for truth in [named_model(name).truth()]
    }
    assert verdicts == {
        "example-i": (True, True),
        "example-ii": (False, False),
        "example-ii-shifted": (True, False),
        "daylight": (False, False),
    }


def test_findings_say_why():
    truth = named_model("example-ii").truth()
    assert (
        str(weak_context_sufficiency(truth))
        == "no: T --> Y is absent for R = 0, and Y is no child of R"
    )
    assert (
        "for R = 0, T --> Y is in the physical graph and not in the descriptive"
        in single_graph_sufficiency(truth).why
    )
    assert str(weak_context_sufficiency(named_model("example-i").truth())).startswith(
        "yes: every variable"
    )


def test_context_cycles_are_named():
    truth = truth_of(["R>X", "X>Y", "Y>Z", "Z>X"], ["R>X"])
    finding = weak_context_acyclicity(truth)
    assert not finding
    assert finding.why == "for R = 0 there is the cycle X --> Y --> Z --> X"
    assert strong_context_acyclicity(truth) == finding


def test_union_cycles_at_ancestors_of_the_context_violate_strong_acyclicity_only():
    truth = truth_of(["X>Y", "Y>R"], ["Y>X", "Y>R"])
    assert weak_context_acyclicity(truth)
    finding = strong_context_acyclicity(truth)
    assert not finding
    assert "X --> Y --> X" in finding.why
    assert strong_context_acyclicity(named_model("orientation-flip").truth())


def test_random_models_meet_what_they_promise():
    for seed in range(10):
        truth = random_model(
            seed=seed, contexts=3, changes=2, edits=("add", "remove", "flip"), cycles="any"
        ).truth()
        assert weak_context_sufficiency(truth)
        assert single_graph_sufficiency(truth)
        assert strong_context_acyclicity(truth)


def test_generic_tables_are_faithful():
    for place, stack in enumerate(random_models(15, variables=3, seed=2)):
        assert r_faithfulness(random_discrete_model(stack, 0, seed=place))


def test_an_accidental_independence_is_reported():
    links = np.zeros((2, 3, 3), dtype=bool)
    links[:, 1, 2] = links[:, 0, 2] = True
    joint = np.full((2, 2, 2), 1 / 8)
    finding = r_faithfulness(DiscreteModel(("R", "X", "Y"), 0, links, joint))
    assert not finding
    assert finding.why == "R and X are independent given Y, and not separated in the graph of R = 0"


def test_an_accident_inside_one_context_is_reported():
    links = np.zeros((2, 3, 3), dtype=bool)
    links[:, 1, 2] = links[:, 0, 2] = True
    joint = random_discrete_model(links, 0, seed=1, names=("R", "X", "Y")).joint.copy()
    inside = joint[1]
    joint[1] = inside.sum(axis=1, keepdims=True) * inside.sum(axis=0, keepdims=True) / inside.sum()
    finding = r_faithfulness(DiscreteModel(("R", "X", "Y"), 0, links, joint))
    assert not finding
    assert "among the rows R = 1" in finding.why


@pytest.mark.parametrize("seed", range(6))
def test_simulated_independences_agree_with_the_oracle_of_the_discrete_analogue(seed):
    """The separations that the theory rests on: given the parents of an effect, pooled or inside a
    context.
    """
    from causalcontext.ci_tests.registry import find_test
    from causalcontext.data.sufficient_statistics import gather_statistics
    from causalcontext.data.tables import read_table
    from causalcontext.views import CIQuery

    model = random_model(
        nodes=6, density=0.4, seed=seed, edits=("add", "remove", "flip"), cycles="any"
    )
    analogue = random_discrete_model(model.adjacency, model.context, seed=seed, names=model.names)
    data = read_table(model.sample(20_000, seed=seed), "R")
    test = find_test("partial-correlation").prepare(data, gather_statistics(data, "raise"))
    checked = {True: 0, False: 0}
    for level, links in enumerate(model.adjacency):
        for y in (node for node in range(6) if node != model.context):
            child = links[model.context, y]
            parents = [
                node for node in np.flatnonzero(links[:, y]).tolist() if node != model.context
            ]
            causes = links if child else model.adjacency.any(axis=0)
            for x in (
                node
                for node in range(6)
                if node not in (y, model.context) and not _reaches(causes, y, node)
            ):
                given = tuple(node for node in parents if node != x)
                independent = analogue.independent(
                    x, y, given, ((model.context, level),) if child else ()
                )
                p = float(test.answer([CIQuery(x, y, given, 1 + level if child else 0)]).p[0])
                assert independent == (not links[x, y]), "the oracle agrees with the graph"
                assert p > 1e-4 if independent else p < 1e-3
                checked[independent] += 1
    assert min(checked.values()) >= 3


def _reaches(links, start, end):
    reached = links[start].copy()
    for _ in range(len(links)):
        reached |= links[reached].any(axis=0)
    return reached[end]
