"""Pictures: one layout for all contexts, every edge and name in them, files as asked for."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.patches import Circle, PathPatch, Polygon

import causalcontext as cc
import hostile
from causalcontext.drawing.layout import crossings, layer_numbers, layout, oriented_arcs
from causalcontext.drawing.names import printable, shown_names
from causalcontext.drawing.strokes import (
    context_panel,
    difference_panel,
    graph_legend,
    graph_panel,
    legend,
    union_panel,
)
from causalcontext.graphs.graph import Graph
from causalcontext_lab.simulate.linear import random_model
from marks import rest_slow
from pags import soil_pags

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def soil():
    return cc.discover(
        cc.examples.soil_moisture(2000, seed=1), context="soil", method="pc-ac", alpha=0.01
    )


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def random_graph(seed, count, density):
    generator = np.random.default_rng(seed)
    names = [f"V{i}" for i in range(count)]
    pairs = [
        (a, b) for i, a in enumerate(names) for b in names[i + 1 :] if generator.random() < density
    ]
    return Graph.from_edges(
        names, [(a, b, generator.choice(["-->", "o-o", "x-x", "<--"])) for a, b in pairs]
    )


def texts(axes):
    return {text.get_text() for text in axes.texts}


def test_causes_stand_left_of_effects():
    graph = Graph.from_edges(
        "ABCD", [("D", "A", "-->"), ("A", "B", "-->"), ("D", "B", "-->"), ("C", "B", "-->")]
    )
    x = layout(graph).centre[:, 0]
    assert x[3] < x[0] < x[1]
    assert x[2] < x[1]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("count", "density"), [(6, 0.4), (15, 0.2), (40, 0.06)])
def test_boxes_do_not_touch_and_all_is_inside(seed, count, density):
    graph = random_graph(seed, count, density)
    found = layout(graph)
    low, high = found.centre - found.size / 2, found.centre + found.size / 2
    apart = (low[:, None] >= high[None]).any(axis=2) | (high[:, None] <= low[None]).any(axis=2)
    assert (apart | np.eye(count, dtype=bool)).all()
    assert (low >= 0).all()
    assert (high <= [found.width, found.height]).all()
    for route in found.routes.values():
        assert (route >= 0).all()
        assert (route <= [found.width, found.height]).all()
    assert set(found.routes) == {
        tuple(sorted(map(graph.position, edge[:2]))) for edge in graph.edges
    }


@pytest.mark.parametrize("seed", range(8))
def test_routes_start_and_end_at_their_boxes(seed):
    found = layout(random_graph(seed, 12, 0.3))
    for (i, j), route in found.routes.items():
        for box, end in ((i, route[0]), (j, route[-1])):
            away = np.abs(end - found.centre[box]) - found.size[box] / 2
            assert away[0] == pytest.approx(0.0, abs=1e-9)
            assert away[1] <= 0.0


def test_directed_cycles_are_drawn_too():
    graph = Graph.from_edges("ABC", [("A", "B", "-->"), ("B", "C", "-->"), ("C", "A", "-->")])
    arcs = oriented_arcs(graph)
    assert sorted(layer_numbers(3, arcs)) == [0, 1, 2]


def test_crossings_are_counted():
    assert crossings([[0, 1], [2, 3]], [[3], [2], [], []]) == 1
    assert crossings([[0, 1], [2, 3]], [[2, 3], [2, 3], [], []]) == 1
    assert crossings([[0, 1], [2, 3]], [[2], [3], [], []]) == 0
    random, side = np.random.default_rng(1), range(40)
    links = [sorted((40 + random.permutation(40)[:15]).tolist()) for _ in side]
    naive = sum(
        here > there
        for a in side
        for b in range(a + 1, 40)
        for here in links[a]
        for there in links[b]
    )
    assert crossings([list(side), list(range(40, 80))], [*links, *[[]] * 40]) == naive


def test_one_panel_per_context_in_one_layout(soil):
    axes = soil.plot()
    assert [one.texts[0].get_text() for one in axes] == [
        "soil = dry   (986 rows)",
        "soil = wet   (1,014 rows)",
    ]
    boxes = [
        [tuple(text.get_position()) for text in one.texts if text.get_text() in soil.names]
        for one in axes
    ]
    assert boxes[0] == boxes[1]
    assert len(boxes[0]) == 7


def test_panels_show_what_the_graphs_have(soil):
    for value in soil.contexts:
        strokes = context_panel(soil, value).strokes
        endpoints = np.zeros((7, 7), dtype=np.int8)
        for stroke in strokes:
            i, j = stroke.pair
            endpoints[j, i], endpoints[i, j] = stroke.endpoints
        assert Graph(soil.names, endpoints) == soil.graphs[value]
    labels = {stroke.label for stroke in union_panel(soil).strokes}
    assert labels == {"", "dry", "wet"}


def test_difference_tells_apart_what_differs(soil):
    strokes = {stroke.pair: stroke for stroke in difference_panel(soil, "dry", "wet").strokes}
    only_wet = strokes[soil.position("precipitation"), soil.position("runoff")]
    shared = strokes[soil.position("precipitation"), soil.position("soil")]
    assert only_wet.colours != shared.colours
    assert len(soil.plot("difference", contexts=["wet", "dry"])) == 1
    for wrong in (["wet"], ["wet", "wet"], ["wet", "damp"]):
        with pytest.raises(cc.OptionError):
            soil.plot("difference", contexts=wrong)


def test_two_marks_of_a_pair_are_read_from_left_to_right():
    table = cc.examples.soil_moisture(300, seed=1)[["precipitation", "runoff", "soil"]]
    result = cc.discover(table, context="soil")
    edges = {
        "dry": [("precipitation", "runoff", "<--")],
        "wet": [("precipitation", "runoff", "o-o")],
    }
    turned = replace(
        result,
        graphs={value: Graph.from_edges(result.names, marks) for value, marks in edges.items()},
    )
    assert difference_panel(turned, "dry", "wet").strokes[0].label == "← | o-o"
    assert difference_panel(turned, "dry", "wet", [1.0, 0.0, 2.0]).strokes[0].label == "→ | o-o"
    (axes,) = turned.plot("difference")
    assert "→ | o-o" in texts(axes)  # the cause, runoff, stands on the left


def test_the_legend_explains_every_mark_and_colour():
    marks = [
        ("A", "B", "-->"),
        ("B", "C", "o-o"),
        ("C", "D", "x-x"),
        ("D", "E", "<=>"),
        ("E", "A", "<->"),
    ]
    graph = Graph.from_edges("ABCDE", marks)
    (axes,) = graph.plot()
    words = " ".join(text.get_text() for text in axes.get_figure().axes[-1].texts)
    for needed in ("cause", "o-o", "x-x", "<=>", "<->"):
        assert needed in words


def test_every_end_is_drawn(tmp_path):
    edges = [
        ("A", "B", "o->"),
        ("B", "C", "<->"),
        ("C", "D", "---"),
        ("D", "E", "x->"),
        ("E", "F", "+->"),
        ("F", "G", "--o"),
    ]
    graph = Graph.from_edges("ABCDEFG", edges, "pag")
    (axes,) = graph.plot(path=tmp_path / "pag.svg")
    circles = [patch for patch in axes.patches if isinstance(patch, Circle)]
    filled = [
        patch.get_facecolor()[:3] != (1.0, 1.0, 1.0)
        for patch in axes.patches
        if isinstance(patch, Polygon)
    ]
    assert len(circles) == 2
    assert sorted(filled) == [False] + [True] * 5  # a hollow arrow where the end differs
    dashed = [
        patch.get_linestyle() not in ("-", "solid")
        for patch in axes.patches
        if isinstance(patch, PathPatch)
    ]
    assert sum(dashed) == 2  # <-> and x->
    assert [sample.words for sample in graph_legend([graph_panel(graph)], graph.kind)] == [
        "cause, or hidden common cause (o->)",
        "hidden common cause, unless a test erred (<->)",
        "an endpoint that differs between contexts (+->)",
        "a tail at both endpoints (---)",
        "an endpoint that is not determined (--o)",
        "an endpoint in conflict (x->)",
    ]


def test_pags_are_drawn_like_patterns():
    pags = soil_pags()
    for kind in ("contexts", "union", "difference"):
        pags.plot(kind)
    words = {sample.words for sample in legend(pags, [union_panel(pags)])}
    assert "cause → effect, perhaps through others" in words
    x = layout(Graph.from_edges("AB", [("B", "A", "o->")], "pag")).centre[:, 0]
    assert x[1] < x[0]  # what may be a cause stands on the left


def test_uncertain_edges_are_marked():
    table = cc.examples.soil_moisture(120, seed=3)
    result = cc.discover(
        table, context="soil", method="pc-ac", alpha=0.05, test="partial-correlation"
    )
    panels = [context_panel(result, value) for value in result.contexts]
    doubtful = [stroke for panel in panels for stroke in panel.strokes if stroke.uncertain]
    assert doubtful
    assert any("uncertain" in sample.words for sample in legend(result, panels))
    tests = result.tests()
    near = tests[
        (tests["decision"] == "untestable")
        | ((tests["decision"] == "present") & (tests["p"] > 0.01))
    ]
    assert len(doubtful) == len(near)


@pytest.mark.parametrize("ending", rest_slow(["svg", "png", "pdf"]))
def test_files_are_written_and_the_same_again(soil, tmp_path, ending):
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    soil.plot("union", path=first)
    soil.plot("union", path=second)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == second.read_bytes()


def test_other_endings_and_folders_are_refused(soil, tmp_path):
    for wrong in (tmp_path / "a.bmp", tmp_path / "missing" / "a.png"):
        with pytest.raises(cc.CausalContextError):
            soil.plot(path=wrong)
    with pytest.raises(cc.OptionError, match="did you mean 'union'"):
        soil.plot("unoin")


def test_given_axes_are_used(soil):
    figure, axes = pyplot.subplots(1, 2)
    assert soil.plot(axes=axes) == tuple(axes)
    assert len(figure.axes) == 2
    with pytest.raises(cc.OptionError, match="1 axes for 2 panels"):
        soil.plot(axes=axes[0])


@pytest.mark.parametrize("contexts", rest_slow([3, 9]))
def test_many_contexts(contexts):
    model = random_model(8, contexts=contexts, density=0.4, seed=5)
    result = cc.discover(model.sample(200 * contexts, seed=1), context=model.context_name)
    assert len(result.plot()) == contexts
    for kind in ("union", "difference"):
        result.plot(kind)


def test_hostile_names_are_drawn(tmp_path):
    result = cc.discover(hostile.table(), context=hostile.CONTEXT)
    for kind in ("contexts", "union", "difference"):
        result.plot(kind, path=tmp_path / "hostile.svg")
        assert "<script>window" not in (tmp_path / "hostile.svg").read_text(encoding="utf-8")


def test_names_are_shown_short_and_different():
    shown = shown_names(hostile.NAMES)
    assert len(set(shown)) == len(hostile.NAMES)
    assert max(len(line) for lines in shown for line in lines) <= 20
    assert printable(" a\nb ") == "␣a\\nb␣"


def test_without_a_context_and_without_edges():
    generator = np.random.default_rng(0)
    result = cc.discover(
        generator.standard_normal((200, 3)), names=["a", "b", "c"], method="pc-ac", alpha=1e-9
    )
    assert result.union.edges == ()
    for kind in ("contexts", "union"):
        (axes,) = result.plot(kind)
        assert {"a", "b", "c"} <= texts(axes)


def test_marks_are_read_from_the_first_to_the_second():
    assert graph_panel(Graph.from_edges("AB", [("A", "B", "<--")])).strokes[0].mark == "<--"


@pytest.mark.parametrize("contexts", [3, 9])
def test_every_colour_is_in_the_legend(contexts):
    model = random_model(8, contexts=contexts, density=0.4, seed=5)
    result = cc.discover(model.sample(200 * contexts, seed=1), context=model.context_name)
    pictures = [
        ([context_panel(result, value) for value in result.contexts], None),
        ([union_panel(result)], None),
        ([difference_panel(result, 0, 2)], (0, 2)),
    ]
    for panels, compared in pictures:
        explained = {
            colour
            for sample in legend(result, panels, compared)
            for colour in sample.stroke.colours
        }
        assert {
            colour for panel in panels for stroke in panel.strokes for colour in stroke.colours
        } <= explained
