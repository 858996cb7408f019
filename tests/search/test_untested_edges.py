"""An edge that nothing tested is no arrow: it keeps open ends, feeds no rule, and is drawn and told
as untested.
"""

import sys

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.drawing.plot import result_picture
from causalcontext.graphs.endpoints import Endpoint
from causalcontext.kernels.levels.neighbours import list_edges
from causalcontext.search.colliders import Triples
from causalcontext.search.family import Evidence, GraphFamily
from causalcontext.search.rules import orient_all
from causalcontext.views import Contexts

TESTING = ("pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac")


def noise(rows=600, seed=3, few=3):
    """Independent columns, and a context of two values, one of a few rows: nothing at the context
    can be tested.
    """
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.standard_normal((rows, 4)), columns=list("ABCD"))
    values = np.full(rows, "dry", dtype=object)
    values[random.choice(rows, few, replace=False)] = "other"
    return table.assign(R=values)


def untested_pairs(result, value):
    tests = result.tests()
    here = tests[(tests["context"] == value) & (tests["decision"] == "untestable")]
    return list(zip(here["x"], here["y"], strict=True))


@pytest.mark.parametrize("method", TESTING)
def test_untested_edges_stay_open_in_every_graph(method, monkeypatch):
    monkeypatch.setattr(
        sys.modules["causalcontext.reading.tasks"], "thin_levels", lambda data, missing: None
    )
    result = cc.discover(noise(), context="R", method=method, alpha=0.001)
    for value in result.contexts:
        for x, y in untested_pairs(result, value):
            assert result.graphs[value].mark(x, y) in ("o-o", "")
        assert [edge for edge in result.graphs[value].edges if edge.mark == "-->"] == []
    assert any(untested_pairs(result, value) for value in result.contexts)
    assert "not tested at all" in result.warnings[0]


def constant_inside(seed=0):
    """B, C and D are independent, and A is a number in dry and one value in wet, where nothing of
    it can be tested.
    """
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.standard_normal((400, 4)), columns=list("ABCD"))
    context = np.repeat(["dry", "wet"], 200)
    return table.assign(A=np.where(context == "wet", 0.0, table["A"]), R=context)


@pytest.fixture(scope="module")
def masked():
    return cc.discover(constant_inside(), context="R", method="pc-m", alpha=0.001)


def test_a_column_without_values_to_compare_is_no_collider(masked):
    marks = [masked.graphs["wet"].mark(cause, "A") for cause in "BCD"]
    assert marks == ["o-o"] * 3
    assert masked.graphs["dry"].edges == ()


def test_a_warning_counts_them_and_the_text_marks_them(masked):
    assert masked.warnings[0].startswith("3 edges were not tested at all")
    assert "A - B in wet (one of the two columns is constant in these rows)" in masked.warnings[0]
    assert str(masked).count("(not tested)") == 6
    assert masked.edges()["p-value"].isna().all()
    assert "untestable" in masked.explain("A", "B")


def test_they_are_drawn_as_untested(masked):
    picture = result_picture(masked, "contexts")
    strokes = [stroke for panel in picture.panels for stroke in panel.strokes]
    assert [stroke.untested for stroke in strokes] == [True] * 3
    assert not any(stroke.uncertain for stroke in strokes)
    assert any("no test could be run" in sample.words for sample in picture.samples)


def test_knowledge_still_gives_them_an_end():
    known = cc.Knowledge(forbidden=[("A", "B")])
    result = cc.discover(
        constant_inside(), context="R", method="pc-m", alpha=0.001, knowledge=known
    )
    assert [result.graphs["wet"].mark(cause, "A") for cause in "BCD"] == ["-->", "o-o", "o-o"]


def family(adjacency, untested, colliders=(), contexts=()):
    """Graphs over a few variables, some of whose edges nothing tested."""
    stack = np.asarray(adjacency, dtype=bool)
    edges = list_edges(stack)
    unknown = np.asarray(untested, dtype=bool)[:, edges.first, edges.second] & edges.present
    triples = [Triples(frozenset(colliders), frozenset())] * len(stack)
    cells = (
        Contexts(contexts, tuple((level,) for level in range(len(stack))))
        if contexts
        else Contexts()
    )
    return edges, Evidence(triples, contexts=cells, untested=unknown)


def links(variables, *pairs):
    matrix = np.zeros((variables, variables), dtype=bool)
    for a, b in pairs:
        matrix[a, b] = matrix[b, a] = True
    return matrix


def test_no_rule_goes_through_an_untested_edge():
    # 0 --> 2 <-- 1 is a collider, and rule R1 would direct 2 - 3.
    adjacency = links(4, (0, 2), (1, 2), (2, 3))
    _, evidence = family([adjacency], [links(4, (2, 3))], colliders=[(0, 2, 1)])
    endpoints = orient_all(adjacency[None], evidence).endpoints[0]
    assert endpoints[2, 3] == endpoints[3, 2] == Endpoint.CIRCLE
    assert endpoints[0, 2] == Endpoint.ARROW
    tested = orient_all(adjacency[None], evidence._replace(untested=None)).endpoints[0]
    assert tested[2, 3] == Endpoint.ARROW


def test_an_untested_edge_blocks_what_needs_its_ends_apart():
    # Were 0 and 3 known to be apart, 0 --> 2 would direct 2 - 3; nothing tested 0 - 3.
    adjacency = links(4, (0, 2), (1, 2), (2, 3), (0, 3), (1, 3))
    _, evidence = family([adjacency], [links(4, (0, 3), (1, 3))], colliders=[(0, 2, 1)])
    endpoints = orient_all(adjacency[None], evidence).endpoints[0]
    assert endpoints[2, 3] == endpoints[3, 2] == Endpoint.CIRCLE


def test_an_untested_edge_does_not_vanish():
    here, there = links(3, (1, 2)), links(3)
    edges, evidence = family([here, there], [here, there], contexts=(0,))
    assert GraphFamily(edges, 3, evidence).vanishing == ()
    assert len(GraphFamily(edges, 3, evidence._replace(untested=None)).vanishing) == 2
