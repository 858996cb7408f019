"""Rounds of proposals against their naive twin, in patterns and in PAGs; conflicts, doubts,
origins, entries.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import causalcontext as cc
import naive
from causalcontext.graphs.endpoints import Endpoint, GraphKind, mark_of
from causalcontext.graphs.graph import Graph
from causalcontext.kernels.levels.neighbours import list_edges
from causalcontext.search import across, rules
from causalcontext.search.colliders import Triples
from causalcontext.search.family import Doubt, Evidence, GraphFamily, Origin, Proposal
from causalcontext.search.rules import CHECKS, RULES, OrientationRule, Scope, Turn, orient_all
from causalcontext.views import Contexts

NODES = 5
LETTERS = {Endpoint.CIRCLE: "o", Endpoint.ARROW: ">", Endpoint.TAIL: "-", Endpoint.CONFLICT: "x"}


def family_of(adjacency, kind=GraphKind.PAG, contexts=()):
    stack = np.asarray(adjacency, dtype=bool)
    free = [Triples(frozenset(), frozenset())] * len(stack)
    codes = tuple((level,) * len(contexts) for level in range(len(stack)))
    return GraphFamily(
        list_edges(stack), stack.shape[1], Evidence(free, contexts=Contexts(contexts, codes)), kind
    )


def pair(kind=GraphKind.PAG):
    """A family of one graph with one edge, 0 - 1."""
    return family_of([[[0, 1], [1, 0]]], kind)


def propose(a, b, end, graph=0):
    return "rule", Proposal(graph, a, b, end, (), graph)


def state(family, graph=0):
    endpoints = family.endpoints[graph]
    return {(int(a), int(b)): LETTERS[Endpoint(endpoints[a, b])] for a, b in np.argwhere(endpoints)}


@pytest.mark.parametrize("kind", GraphKind)
@pytest.mark.parametrize("seed", range(25))
def test_rounds_are_the_naive_ones(kind, seed):
    generator = np.random.default_rng(seed)
    adjacency = np.triu(generator.random((NODES, NODES)) < 0.7, k=1)
    family = family_of([adjacency | adjacency.T], kind)
    endpoints, doubts = state(family), set()
    for _ in range(5):
        asked = [
            (a, b, end)
            for a, b in endpoints
            for end in (Endpoint.ARROW, Endpoint.TAIL)
            if generator.random() < 0.12
        ]
        changed = family.apply(propose(*proposal) for proposal in asked)
        before = dict(endpoints)
        doubts |= naive.orientation_round(
            endpoints, [(a, b, LETTERS[end]) for a, b, end in asked], kind == "pag"
        )
        assert state(family) == endpoints
        assert changed == (before != endpoints)
        assert set(family.doubts) == {Doubt("rule", 0, a, b) for a, b in doubts}


def test_an_arrow_of_a_pattern_is_a_direction_and_one_of_a_pag_is_not():
    for kind, mark in ((GraphKind.CPDAG, "-->"), (GraphKind.PAG, "o->")):
        family = pair(kind)
        assert family.apply([propose(0, 1, Endpoint.ARROW)])
        assert mark_of(family.endpoints[0], 0, 1) == mark
        assert (family.graphs[0].parents[1] == {0}) == (mark == "-->")
        assert set(family.origins) == {(0, 0, 1)}


def test_a_tail_of_a_pag_is_a_direction():
    family = pair()
    family.apply([propose(1, 0, Endpoint.TAIL)])
    assert mark_of(family.endpoints[0], 0, 1) == "-->"
    assert family.graphs[0].children[0] == {1}
    assert family.origins == {
        (0, 1, 0): Origin("rule", 0, ())
    }  # the arrow at 1 follows, and has no origin


def test_two_arrows_of_a_round_are_a_conflict_in_a_pattern_and_a_hidden_cause_in_a_pag():
    for kind, mark in ((GraphKind.CPDAG, "x-x"), (GraphKind.PAG, "<->")):
        family = pair(kind)
        family.apply([propose(0, 1, Endpoint.ARROW), propose(1, 0, Endpoint.ARROW)])
        assert mark_of(family.endpoints[0], 0, 1) == mark
        assert len(family.origins) == (2 if kind is GraphKind.PAG else 0)


def test_contradictions_of_a_round_close_what_is_open_and_leave_what_is_settled():
    family = pair()
    family.apply([propose(0, 1, Endpoint.ARROW), propose(0, 1, Endpoint.TAIL)])
    assert mark_of(family.endpoints[0], 0, 1) == "x-x"
    family = pair()
    family.apply([propose(1, 0, Endpoint.ARROW)])
    family.apply([propose(0, 1, Endpoint.ARROW), propose(0, 1, Endpoint.TAIL)])
    assert mark_of(family.endpoints[0], 0, 1) == "<-x"
    assert not family.apply([propose(0, 1, Endpoint.ARROW)])  # a conflict is never overwritten


def test_an_earlier_end_stands_and_the_contradiction_is_a_doubt():
    family = pair()
    family.apply([propose(0, 1, Endpoint.ARROW)])
    assert not family.apply([propose(0, 1, Endpoint.TAIL)])
    assert mark_of(family.endpoints[0], 0, 1) == "o->"
    assert set(family.doubts) == {Doubt("rule", 0, 0, 1)}


def test_a_rule_may_ask_for_a_conflict():
    family = pair()
    family.apply([propose(0, 1, Endpoint.CONFLICT)])
    assert mark_of(family.endpoints[0], 0, 1) == "x-x"


def test_ends_at_a_context_are_shared_by_all_graphs():
    triangle = ~np.eye(3, dtype=bool)
    family = family_of([triangle] * 3, contexts=(0,))
    family.apply([propose(1, 0, Endpoint.ARROW, graph=1), propose(1, 2, Endpoint.ARROW, graph=1)])
    assert [mark_of(endpoints, 1, 0) for endpoints in family.endpoints] == ["o->"] * 3
    assert [mark_of(endpoints, 1, 2) for endpoints in family.endpoints] == ["o-o", "o->", "o-o"]


def test_checks_of_patterns_are_not_made_of_pags():
    """An edge may vanish between two variables that are not adjacent to the context if something is
    hidden.
    """
    edge = np.zeros((2, 3, 3), dtype=bool)
    edge[0, 1, 2] = edge[0, 2, 1] = True
    evidence = Evidence(
        [Triples(frozenset(), frozenset())] * 2, contexts=Contexts((0,), ((0,), (1,)))
    )
    assert [doubt.rule for doubt in orient_all(edge, evidence).doubts] == ["V2"]
    assert orient_all(edge, evidence, GraphKind.PAG).doubts == ()


def test_a_rule_is_one_function_and_one_entry(monkeypatch):
    """A rule for PAGs that is not in the library: it runs, stops, and is explained."""

    def arrow_at_everything(family):
        for g, graph in enumerate(family.graphs):
            for a, b in graph.open_endpoints():
                yield Proposal(g, a, b, Endpoint.ARROW, (), g)

    words = "{effect} causes nothing"
    entry = OrientationRule(
        "Z", Scope.WITHIN, Turn.CONSEQUENCES, arrow_at_everything, "a test", words, GraphKind.PAG
    )
    monkeypatch.setattr(rules, "RULES", (*RULES, entry))
    result = cc.discover(cc.examples.soil_moisture(300, seed=1), context="soil", method="pc-ac")
    adjacency = np.stack([graph.adjacency for graph in result.graphs.values()])
    evidence = Evidence([Triples(frozenset(), frozenset())] * len(adjacency))
    found = orient_all(adjacency, evidence, GraphKind.PAG)
    graphs = {
        value: Graph(result.names, endpoints, "pag")
        for value, endpoints in zip(result.contexts, found.endpoints, strict=True)
    }
    pags = replace(result, graphs=graphs, origins=found.origins)
    edge = pags.graphs["dry"].edges[0]
    assert {edge.mark for graph in graphs.values() for edge in graph} == {"<->"}
    told = pags.explain(edge.source, edge.target).splitlines()[0]
    assert (
        f"An arrow at {edge.target} by Z: {edge.target} causes nothing. An arrow at {edge.source}"
        " by Z" in told
    )


def test_entries_have_names_words_and_a_line_in_the_docs():
    assert len({(rule.name, rule.kind) for rule in RULES}) == len(RULES)
    known = {"cause", "effect", "via", "context", "source", "lost", "set", "system", "kin"}
    page = (Path(__file__).parents[2] / "docs" / "orientation.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert set(re.findall(r"{(\w+)}", rule.words)) <= known
        assert rule.propose is None or f"| {rule.name} |" in page
    for check in CHECKS:
        assert f"({check.name})" in page


def test_an_end_that_was_asked_for_is_not_asked_for_again():
    """Six contexts, x - y in three of them: nine steps lose it, and each end needs one of them."""
    stack = np.zeros((6, 3, 3), dtype=bool)
    stack[:, 0, 2] = stack[:, 2, 0] = stack[:3, 1, 2] = stack[:3, 2, 1] = True
    asked = []
    free = [Triples(frozenset(), frozenset())] * 6
    evidence = Evidence(free, contexts=Contexts((0,), tuple((level,) for level in range(6))))
    evidence = evidence._replace(physical=lambda *edge: asked.append(edge) is None)
    family = GraphFamily(list_edges(stack), 3, evidence)
    found = list(across.vanishing_from_unchanged(family))
    everything = [
        proposal
        for lost in family.vanishing
        if lost.x == 1
        for proposal in (
            Proposal(lost.present, 1, 2, Endpoint.ARROW, (), lost.absent),
            Proposal(lost.present, 0, 2, Endpoint.ARROW, (1,), lost.absent),
        )
    ]
    firsts = {}
    for proposal in everything:
        firsts.setdefault((0 if proposal.a == 0 else proposal.graph, proposal.a), proposal)
    assert found == list(firsts.values())
    assert len(asked) == len(found) == 4
