"""Every door leads out and back, through the tool it is made for where that is installed."""

from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import hostile
from causalcontext import export
from causalcontext.errors import CausalContextError
from causalcontext.graphs.graph import Graph, LabeledUnion

ALL_MARKS = Graph.from_edges(
    "ABCDE",
    [("A", "B", "-->"), ("C", "B", "-->"), ("C", "D", "o-o"), ("D", "E", "x-x"), ("A", "E", "<->")],
)
PLAIN = Graph.from_edges("ABCD", [("D", "B", "-->"), ("C", "B", "-->"), ("C", "A", "o-o")])
DAG = Graph.from_edges("ZXY", [("X", "Y", "-->"), ("Z", "X", "-->"), ("Z", "Y", "-->")])
PAG = Graph.from_edges(
    "ABCDEF",
    [
        ("A", "B", "-->"),
        ("B", "C", "o->"),
        ("D", "C", "<->"),
        ("D", "E", "o-o"),
        ("E", "F", "---"),
        ("F", "A", "--o"),
    ],
    "pag",
)
HOSTILE = Graph.from_edges(
    hostile.NAMES, [(a, b, "-->") for a, b in zip(hostile.NAMES, hostile.NAMES[1:], strict=False)]
)

others_warn = pytest.mark.filterwarnings("ignore")
"""Consumers may warn about their own dependencies."""

LOSSLESS = {
    "networkx": (export.to_networkx, export.from_networkx),
    "gml": (export.to_gml, export.from_gml),
    "graphml": (export.to_graphml, export.from_graphml),
    "mark table": (export.to_mark_table, export.from_mark_table),
    "tigramite": (export.to_tigramite, lambda array: export.from_tigramite(array, ALL_MARKS.names)),
}
DIRECTED_AND_UNDIRECTED = {
    "tetrad": (export.to_tetrad, export.from_tetrad),
    "adjacency": (export.to_adjacency, export.from_adjacency),
}

NAMES_BESIDE = {"tigramite"}
"""Formats that have no names, which are handed over beside them."""
REFUSING_NAMES = {"tetrad"}
"""Formats that have no way to write some letters."""


def random_graph(seed: int, marks: tuple[str, ...], kind: str = "cpdag") -> Graph:
    generator = np.random.default_rng(seed)
    drawn = [(*pair, str(generator.choice(["", "", *marks]))) for pair in combinations("ABCDEF", 2)]
    return Graph.from_edges("ABCDEF", [edge for edge in drawn if edge[2]], kind)


def unquoted(text: str) -> str:
    """The text of a DOT string, as a reader of DOT returns it."""
    if not text.startswith('"'):
        return text
    letters, spelled = iter(text[1:-1]), {"n": "\n", "r": "\r"}
    return "".join(
        spelled.get(after := next(letters), after) if letter == "\\" else letter
        for letter in letters
    )


@pytest.mark.parametrize("door", LOSSLESS)
def test_every_mark_comes_back(door):
    out, back = LOSSLESS[door]
    assert back(out(ALL_MARKS)) == ALL_MARKS


@pytest.mark.parametrize("door", [*LOSSLESS, *DIRECTED_AND_UNDIRECTED])
def test_random_graphs_come_back(door):
    out, back = (LOSSLESS | DIRECTED_AND_UNDIRECTED)[door]
    for seed in range(10):
        graph = random_graph(seed, ("-->", "<--", "o-o"))
        found = (
            export.from_tigramite(out(graph), graph.names)
            if door == "tigramite"
            else back(out(graph))
        )
        assert found == graph


@pytest.mark.parametrize("door", [*LOSSLESS, "tetrad"])
def test_pags_come_back(door):
    every = ("-->", "<--", "o->", "<-o", "<->", "o-o", "---", "o--", "--o")
    out, back = (LOSSLESS | DIRECTED_AND_UNDIRECTED)[door]
    for graph in (PAG, *(random_graph(seed, every, "pag") for seed in range(10))):
        found = (
            export.from_tigramite(out(graph), graph.names)
            if door == "tigramite"
            else back(out(graph))
        )
        assert found == graph


def test_a_pag_that_looks_like_a_pattern_needs_a_word():
    """Without a circle, or with two at every edge, some formats cannot tell the kinds apart."""
    plain = Graph.from_edges("ABC", [("A", "B", "-->"), ("B", "C", "o-o")], "pag")
    for out, back in (LOSSLESS[door] for door in ("networkx", "gml", "graphml")):
        assert back(out(plain)) == plain
    assert export.from_tetrad(export.to_tetrad(plain)) == plain
    for found in (
        export.from_mark_table(export.to_mark_table(plain), kind="pag"),
        export.from_tigramite(export.to_tigramite(plain), plain.names, kind="pag"),
        export.from_tetrad(export.to_tetrad(plain), kind="pag"),
    ):
        assert found == plain
    assert export.from_mark_table(export.to_mark_table(plain)).kind == "cpdag"


def test_lines_of_other_tools_are_undirected_in_a_pattern_only():
    text = "Graph Nodes:\nA;B;C\n\nGraph Edges:\n1. A --- B\n2. B --> C\n"
    assert export.from_tetrad(text).mark("A", "B") == "o-o"
    assert export.from_tetrad(text, kind="pag").mark("A", "B") == "---"
    assert export.from_tetrad(text.replace("-->", "o->")).mark("A", "B") == "---"


def test_a_table_of_ones_and_zeros_holds_no_pag():
    with pytest.raises(CausalContextError, match="cannot represent a PAG"):
        export.to_adjacency(Graph.from_edges("AB", [("A", "B", "-->")], "pag"))
    with pytest.raises(CausalContextError, match="no mark for 'A o-> B'"):
        export.to_adjacency(Graph.from_edges("AB", [("A", "B", "o->")], "pag"))


def test_marks_of_a_table_must_agree():
    table = pd.DataFrame([["", "-->"], ["-->", ""]], index=list("ab"), columns=list("ab"))
    with pytest.raises(CausalContextError, match="the reverse"):
        export.from_mark_table(table)


def test_dot_has_an_end_for_every_end():
    text = export.to_dot(PAG)
    assert '"B" -> "C" [dir=both, arrowhead=normal, arrowtail=odot];' in text
    assert '"C" -> "D" [dir=both, arrowhead=normal, arrowtail=normal, style=dashed];' in text
    assert '"E" -> "F" [dir=both, arrowhead=none, arrowtail=none];' in text
    mixed = Graph.from_edges("XY", [("X", "Y", "+->")], "pag")
    assert '"X" -> "Y" [dir=both, arrowhead=normal, arrowtail=onormal];' in export.to_dot(mixed)


@pytest.mark.parametrize("out", [export.to_tetrad, export.to_adjacency, export.to_causal_learn])
def test_what_a_format_cannot_say_is_refused(out):
    with pytest.raises(
        CausalContextError, match=r"no mark for 'D x-x E'; export\.conflicts_as_undirected"
    ):
        out(Graph.from_edges("DE", [("D", "E", "x-x")]))
    with pytest.raises(CausalContextError, match="export the graphs of the contexts"):
        out(Graph.from_edges("DE", [("D", "E", "<=>")]))


def test_conflicts_can_be_made_undirected():
    assert export.conflicts_as_undirected(ALL_MARKS).mark("D", "E") == "o-o"


@pytest.mark.parametrize("door", sorted({*LOSSLESS, *DIRECTED_AND_UNDIRECTED} - NAMES_BESIDE))
def test_hostile_names_come_back_or_are_refused(door):
    out, back = (LOSSLESS | DIRECTED_AND_UNDIRECTED)[door]
    if door in REFUSING_NAMES:
        with pytest.raises(CausalContextError, match="cannot hold"):
            out(HOSTILE)
    else:
        assert back(out(HOSTILE)) == HOSTILE


def test_control_characters_are_refused_by_graphml():
    with pytest.raises(CausalContextError, match=r"GraphML cannot hold '\\x07'"):
        export.to_graphml(Graph.from_edges(["a\x07", "b"], []))


@pytest.mark.parametrize(
    ("back", "text"),
    [
        (export.from_gml, "graph ["),
        (export.from_graphml, "<graphml>"),
        (export.from_tetrad, "nothing"),
        (export.from_networkx, nx.MultiGraph([("a", "b")])),
        (export.from_networkx, nx.DiGraph([(1, 2)])),
        (export.from_networkx, nx.DiGraph([("a", "a")])),
        (
            lambda array: export.from_tigramite(array, "ab"),
            np.array([["", "+->"], ["<-+", ""]])[:, :, None],
        ),
        (
            export.from_adjacency,
            pd.DataFrame([[0, 2], [0, 0]], index=list("ab"), columns=list("ab")),
        ),
        (
            export.from_mark_table,
            pd.DataFrame([["", "?"], ["", ""]], index=list("ab"), columns=list("ab")),
        ),
    ],
)
def test_what_cannot_be_read_is_one_sentence(back, text):
    with pytest.raises(CausalContextError):
        back(text)


def test_networkx_without_marks():
    assert Graph.from_networkx(nx.Graph([("a", "b")])).mark("a", "b") == "o-o"
    assert Graph.from_networkx(nx.DiGraph([("a", "b")])).mark("b", "a") == "<--"
    assert Graph.from_networkx(nx.DiGraph([("a", "b"), ("b", "a")])).mark("a", "b") == "o-o"
    assert nx.is_directed_acyclic_graph(DAG.to_networkx())


def test_labeled_union_in_networkx_and_dot():
    union = LabeledUnion({"dry": DAG, "wet": Graph.from_edges("ZXY", [("Z", "X", "-->")])})
    arcs = export.labeled_to_networkx(union)
    assert arcs.edges["X", "Y", 0]["contexts"] == ("dry",)
    assert '"X" -> "Y" [label="dry"];' in export.to_dot(union)


def test_tigramite_and_back_with_covariates_that_have_no_past():
    window = Graph.from_edges(
        ["X(t-1)", "Y(t-1)", "X", "Y", "hour sin"],
        [("X(t-1)", "Y", "-->"), ("hour sin", "X", "-->")],
    )
    array = export.to_tigramite(window)
    assert export.from_tigramite(array, ["X", "Y", "hour sin"], covariates=["hour sin"]) == window


def test_labeled_union_in_gml_and_graphml():
    union = LabeledUnion({'we"t &': HOSTILE, "dry": Graph.from_edges(hostile.NAMES, [])})
    read_gml = nx.parse_gml(export.to_gml(union))
    read_xml = nx.parse_graphml(export.to_graphml(union).split("\n", 1)[1], force_multigraph=True)
    names = nx.get_node_attributes(read_xml, "name")
    for read in (read_gml, nx.relabel_nodes(read_xml, names)):
        assert set(read.edges()) == {(edge.source, edge.target) for edge in union.edges}
        assert {data["contexts"] for *_, data in read.edges(data=True)} == {'we"t &'}
    with pytest.raises(CausalContextError, match="GraphML cannot hold"):
        export.to_graphml(LabeledUnion({"bell\a": DAG}))


@others_warn
def test_pydot_reads_dot():
    pydot = pytest.importorskip("pydot", reason="pydot is not installed")
    for graph in (PLAIN, ALL_MARKS, PAG, HOSTILE):
        (read,) = pydot.graph_from_dot_data(export.to_dot(graph))
        names = [unquoted(node.get_name()) for node in read.get_nodes()]
        arcs = {
            tuple(map(unquoted, (edge.get_source(), edge.get_destination())))
            for edge in read.get_edges()
        }
        assert names == list(graph.names)
        assert arcs == {(edge.source, edge.target) for edge in graph.edges}


@others_warn
def test_dowhy_reads_gml():
    pytest.importorskip(
        "dowhy", reason="DoWhy is not installed: it needs an older scipy than this environment has"
    )
    from dowhy import CausalModel

    generator = np.random.default_rng(0)
    table = pd.DataFrame(generator.standard_normal((50, 3)), columns=list("ZXY"))
    model = CausalModel(table, treatment="X", outcome="Y", graph=export.to_gml(DAG.to_dag()))
    found = model.identify_effect(proceed_when_unidentifiable=True)
    assert found.get_backdoor_variables() == ["Z"]


@others_warn
def test_causal_learn_takes_and_gives():
    pytest.importorskip("causallearn", reason="causal-learn is not installed")
    for graph in (PLAIN, DAG, PAG):
        assert export.from_causal_learn(export.to_causal_learn(graph)) == graph


@others_warn
def test_causal_learn_reads_tetrad_text(tmp_path):
    pytest.importorskip("causallearn", reason="causal-learn is not installed")
    from causallearn.utils.TXT2GeneralGraph import txt2generalgraph

    file = tmp_path / "graph.txt"
    for graph in (PLAIN, DAG, PAG):
        file.write_text(export.to_tetrad(graph))
        assert export.from_causal_learn(txt2generalgraph(str(file))) == graph


@others_warn
def test_tigramite_takes_the_array():
    pytest.importorskip("tigramite", reason="tigramite is not installed")
    from tigramite.causal_effects import CausalEffects

    array = export.to_tigramite(DAG)
    for graph, kind in ((array, "stationary_dag"), (array[:, :, 0], "dag")):
        effects = CausalEffects(graph, graph_type=kind, X=[(1, 0)], Y=[(2, 0)])
        assert set(effects.get_optimal_set()) == {(0, 0)}


@pytest.mark.parametrize(
    ("lag", "mark", "kind"),
    [(1, "o->", "pag"), (0, "o->", "pag"), (1, "-->", "cpdag"), (1, "o-o", "cpdag")],
)
def test_tigramite_says_a_pag_by_any_lag(lag, mark, kind):
    array = np.full((2, 2, 2), "", dtype="<U3")
    array[0, 1, lag] = mark
    if lag == 0:
        array[1, 0, 0] = "<-o"
    found = export.from_tigramite(array, ["X", "Y"])
    assert found.kind == kind
    assert [edge.mark for edge in found.edges] == [mark]
