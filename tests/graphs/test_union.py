"""Union marks against the naive rule, labeled unions row by row."""

import itertools

import numpy as np
import pytest

import naive
from causalcontext.errors import DataError
from causalcontext.graphs.endpoints import Endpoint
from causalcontext.graphs.graph import Graph, LabeledEdge, LabeledUnion, union_graph

MARKS = ["", "-->", "<--", "o-o", "x-x"]


def one_edge(mark: str) -> Graph:
    return Graph.from_edges("XY", [("X", "Y", mark)] if mark else [])


@pytest.mark.parametrize("marks", list(itertools.product(MARKS, repeat=3)), ids=" ".join)
def test_union_mark_is_the_naive_one(marks):
    assert union_graph([one_edge(mark) for mark in marks]).mark("X", "Y") == naive.union_mark(marks)


def test_labels():
    graphs = {0: one_edge("-->"), 1: one_edge("<--"), 2: one_edge("o-o"), 3: one_edge("")}
    assert LabeledUnion(graphs).edges == (
        LabeledEdge("X", "Y", "-->", (0,)),
        LabeledEdge("Y", "X", "-->", (1,)),
        LabeledEdge("X", "Y", "o-o", (2,)),
    )
    same = LabeledUnion({"a": one_edge("<--"), "b": one_edge("o-o")})
    assert same.edges == (LabeledEdge("Y", "X", "-->", ("a", "b")),)
    assert str(same) == "Y --> X"
    assert str(LabeledUnion({0: one_edge("x-x"), 1: one_edge("")})) == "X x-x Y  [0]"
    assert str(LabeledUnion({0: one_edge(""), 1: one_edge("")})) == "(no edges)"


def test_graph_by_name():
    graph = Graph.from_edges("XYZ", [("X", "Y", "-->"), ("Z", "Y", "-->"), ("X", "Z", "o-o")])
    assert graph.mark("Y", "Z") == "<--"
    assert graph.parents("Y") == ("X", "Z")
    assert graph.neighbours("X") == ("Y", "Z")
    assert [str(edge) for edge in graph] == ["X --> Y", "X o-o Z", "Z --> Y"]
    assert graph.adjacency.sum() == 6
    assert graph == Graph("XYZ", graph.endpoints)
    assert hash(graph) == hash(Graph("XYZ", graph.endpoints))
    with pytest.raises(DataError, match="no variable 'W'"):
        graph.mark("W", "X")


def test_graph_is_frozen_and_consistent():
    graph = one_edge("-->")
    with pytest.raises(ValueError, match="read-only"):
        graph.endpoints[0, 1] = 0
    with pytest.raises(DataError, match="both endpoints"):
        Graph("XY", np.array([[0, Endpoint.ARROW], [0, 0]]))
