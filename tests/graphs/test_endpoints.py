"""Ends and the marks that are written for them; the union of PAGs against its naive twin."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

import causalcontext as cc
import naive
from causalcontext.errors import DataError, OptionError
from causalcontext.graphs.endpoints import (
    ENDPOINTS_OF_MARK,
    MARK_OF_ENDPOINTS,
    Endpoint,
    GraphKind,
    as_written,
    causes,
    directed,
    endpoints_of_arcs,
    endpoints_of_mark,
    mark_of,
    mark_texts,
    marked,
    may_cause,
)
from causalcontext.graphs.graph import Graph, LabeledEdge, LabeledUnion, union_graph
from pags import soil_pags

MARKS = [mark for mark in ENDPOINTS_OF_MARK if mark]
WRITTEN = {
    "-->": (Endpoint.TAIL, Endpoint.ARROW),
    "<--": (Endpoint.ARROW, Endpoint.TAIL),
    "o-o": (Endpoint.CIRCLE, Endpoint.CIRCLE),
    "x-x": (Endpoint.CONFLICT, Endpoint.CONFLICT),
    "<->": (Endpoint.ARROW, Endpoint.ARROW),
    "o->": (Endpoint.CIRCLE, Endpoint.ARROW),
    "<-o": (Endpoint.ARROW, Endpoint.CIRCLE),
    "---": (Endpoint.TAIL, Endpoint.TAIL),
    "<=>": (Endpoint.MIXED, Endpoint.MIXED),
    "+->": (Endpoint.MIXED, Endpoint.ARROW),
    "": (Endpoint.NONE, Endpoint.NONE),
}


def one_edge(mark, kind="pag"):
    return Graph.from_edges("XY", [("X", "Y", mark)] if mark else [], kind)


def turned(mark):
    """The same edge read the other way round."""
    return mark[::-1].translate(str.maketrans("<>", "><"))


@pytest.mark.parametrize("mark", WRITTEN)
def test_marks_stand_for_their_ends(mark):
    assert endpoints_of_mark(mark) == WRITTEN[mark]
    graph = one_edge(mark)
    assert (graph.endpoints[1, 0], graph.endpoints[0, 1]) == WRITTEN[mark]


@pytest.mark.parametrize("mark", MARKS)
def test_every_mark_is_read_both_ways(mark):
    graph = one_edge(mark)
    assert graph.mark("X", "Y") == mark
    assert graph.mark("Y", "X") == turned(mark)
    assert graph == Graph.from_edges("XY", [("Y", "X", turned(mark))], "pag")
    assert mark_texts(graph.endpoints).tolist() == [["", mark], [turned(mark), ""]]


def test_there_is_one_mark_for_every_two_ends():
    assert len(ENDPOINTS_OF_MARK) == len(MARK_OF_ENDPOINTS) == 1 + 5 * 5
    with pytest.raises(DataError, match="no mark '->'"):
        one_edge("->")


def test_edges_are_written_towards_their_arrow():
    for mark, text in (
        ("<--", "Y --> X"),
        ("<-o", "Y o-> X"),
        ("<-x", "Y x-> X"),
        ("<->", "X <-> Y"),
        ("--o", "X --o Y"),
    ):
        (edge,) = one_edge(mark).edges
        assert str(edge) == text
    assert as_written(one_edge("<-o").endpoints, 0, 1) == (1, 0)


def test_questions_about_ends_are_answered_for_stacks():
    marks = ["", *MARKS]
    stack = np.stack([one_edge(mark).endpoints for mark in marks])
    for place, mark in enumerate(marks):
        assert directed(stack)[place, 0, 1] == (mark == "-->")
        assert causes(stack)[place, 0, 1] == (mark in ("-->", "<=>"))
        assert may_cause(stack)[place, 0, 1] == (
            mark != "" and (not mark.startswith("<") or mark == "<=>")
        )
        assert marked(stack, "o-o")[place, 0, 1] == (mark == "o-o")
        assert mark_of(stack[place], 0, 1) == mark


def test_arcs_become_ends():
    arcs = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    assert str(Graph("XYZ", endpoints_of_arcs(arcs))) == "X --> Y\nX o-o Z"
    assert str(Graph("XYZ", endpoints_of_arcs(arcs, both=Endpoint.MIXED))) == "X --> Y\nX <=> Z"


def test_a_graph_says_what_it_is():
    pattern, pag = one_edge("o-o", "cpdag"), one_edge("o-o", "pag")
    assert (pattern.kind, pag.kind) == ("cpdag", "pag")
    assert pattern != pag
    assert hash(pattern) != hash(pag)
    assert pag == Graph("XY", pag.endpoints, GraphKind.PAG)
    assert Graph("XY", pattern.endpoints).kind is GraphKind.CPDAG
    with pytest.raises(OptionError, match="kind is 'mag', expected one of 'cpdag', 'pag'"):
        one_edge("o-o", "mag")


@pytest.mark.parametrize(
    "endpoints",
    [[[0, 2], [0, 0]], [[0, 6], [1, 0]], [[3, 0], [0, 0]], [[0, -1], [1, 0]], [[0, 1, 2]]],
)
def test_half_an_edge_is_refused(endpoints):
    with pytest.raises(DataError, match="both endpoints of every edge"):
        Graph("XY", np.array(endpoints))


def test_a_pag_stands_for_no_dags():
    for ask in (one_edge("-->").to_dag, one_edge("-->").to_dags):
        with pytest.raises(OptionError, match="a PAG allows for hidden variables"):
            ask()


def test_the_union_of_pags_is_the_naive_one():
    for marks in [
        *product(["", *MARKS], repeat=2),
        *combinations(["-->", "<--", "o->", "<-o", "<->", "o-o", "x-x"], 3),
    ]:
        union = union_graph([one_edge(mark) for mark in marks])
        assert union.kind is GraphKind.PAG
        assert union.mark("X", "Y") == naive.union_mark_by_endpoints(marks, pag=True)


def test_both_unions_agree_on_patterns():
    for marks in product(["", "-->", "<--", "o-o", "x-x"], repeat=3):
        assert naive.union_mark(marks) == naive.union_mark_by_endpoints(marks)


def test_an_end_that_differs_between_contexts_splits_the_labeled_union():
    graphs = {
        "dry": one_edge("-->"),
        "wet": one_edge("<->"),
        "frozen": one_edge("o->"),
        "dusty": one_edge("-->"),
    }
    assert union_graph(list(graphs.values())).mark("X", "Y") == "+->"
    assert LabeledUnion(graphs).edges == (
        LabeledEdge("X", "Y", "-->", ("dry", "dusty")),
        LabeledEdge("X", "Y", "<->", ("wet",)),
        LabeledEdge("X", "Y", "o->", ("frozen",)),
    )
    agreeing = LabeledUnion(
        {"dry": one_edge("<->"), "wet": one_edge("<-o"), "frozen": one_edge("")}
    )
    assert agreeing.edges == (LabeledEdge("Y", "X", "o->", ("dry", "wet")),)


def test_half_ends_of_different_contexts_make_no_hidden_cause():
    assert union_graph([one_edge("o->"), one_edge("<-o")]).mark("X", "Y") == "o-o"


def test_knowledge_asks_for_ends():
    """That Y is no cause of X needs an arrow at Y, and no more."""
    result = replace(
        soil_pags(),
        settings=replace(soil_pags().settings, knowledge=cc.Knowledge(forbidden=[("B", "A")])),
    )
    for mark, fine in {
        "-->": True,
        "o->": True,
        "<->": True,
        "<-o": False,
        "o-o": False,
        "x-x": False,
    }.items():
        graph = Graph.from_edges("AB", [("A", "B", mark)], "pag")
        sentences = replace(
            result, names=("A", "B"), graphs=dict.fromkeys(result.contexts, graph)
        ).knowledge_violations()
        assert (sentences == []) == fine
