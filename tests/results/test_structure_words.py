"""The reason for a missing link names what blocks it and what conditioning opens, and both are true
of the graph.
"""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext.graphs.paths import is_d_separated
from causalcontext.results.explain import explained
from causalcontext.results.structure_words import missing_link_words, separating_set
from causalcontext_lab.simulate.linear import random_model


@pytest.fixture(scope="module")
def soil():
    return cc.discover(cc.examples.soil_moisture(2000, seed=1), "soil")


def test_the_flagship_sentence(soil):
    """Rain and radiation both decide how wet the soil is, and the soil is what the contexts are."""
    (line,) = soil.explain("precipitation", "radiation").split("\n")
    rest = (
        "precipitation and radiation are independent overall, but dependent within contexts, since"
        " both cause soil and conditioning on a common effect links its causes; the link would"
        " lower the score of the model by"
    )
    assert line.startswith(f"absent in dry and wet: {rest}")
    apart = explained(soil, "precipitation", "radiation", apart=True)
    for line, value in zip(apart, ("dry", "wet"), strict=True):
        assert line.startswith(f"absent in {value}: {rest}")


def test_contexts_of_which_the_same_is_said_share_a_line():
    random = np.random.default_rng(0)
    a = random.standard_normal(300)
    table = {"A": a, "B": a + random.standard_normal(300), "R": np.arange(300) % 3}
    result = cc.discover(table, "R", method="score-ac")
    linked, empty = (
        cc.Graph.from_edges(result.names, edges) for edges in ([("A", "B", "-->")], [])
    )
    given = result.with_graphs({0: linked, 1: empty, 2: linked})
    lines = given.explain("A", "B").split("\n")
    assert [line.split(":")[0] for line in lines] == ["present in 0 and 2 (A --> B)", "absent in 1"]
    heads = [line.split(":")[0] for line in explained(given, "A", "B", apart=True)]
    assert heads == ["present in 0 (A --> B)", "absent in 1", "present in 2 (A --> B)"]


def test_a_chain_is_blocked(soil):
    assert "every path between them is blocked by radiation; the link would" in soil.explain(
        "soil", "temperature"
    )
    assert (
        "every path between them is blocked by soil; "
        in soil.explain("precipitation", "runoff").split("\n")[0]
    )
    assert (
        "blocked" not in soil.explain("precipitation", "runoff").split("\n")[1]
    )  # where the link is present


def with_graph(result, edges):
    graph = cc.Graph.from_edges(result.names, edges)
    return result.with_graphs(dict.fromkeys(result.contexts, graph))


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (
            [],
            (
                "no path between them is open: neither acts on the other, and they have no common"
                " cause"
            ),
        ),
        ([("A", "C", "-->"), ("C", "B", "-->")], "every path between them is blocked by C"),
        (
            [("A", "R", "-->"), ("B", "R", "-->")],
            (
                "{x} and {y} are independent overall, but dependent within "
                "contexts, since both cause R and conditioning on a common effect links its causes"
            ),
        ),
        (
            [("A", "C", "-->"), ("B", "C", "-->"), ("C", "R", "-->")],
            (
                "{x} and {y} are independent overall, but dependent within contexts, since both"
                " lead to R and conditioning on a common effect links its causes"
            ),
        ),
        (
            [("A", "C", "-->"), ("C", "B", "-->"), ("A", "R", "-->"), ("B", "R", "-->")],
            (
                "every path between them is blocked by C, and one is opened by conditioning on R as"
                " well"
            ),
        ),
        (
            [("A", "C", "-->"), ("B", "C", "-->")],
            (
                "no path between them is open: neither acts on the other, and they have "
                "no common cause"
            ),
        ),
        ([("R", "A", "-->"), ("R", "B", "-->")], "every path between them is blocked by R"),
        ([("A", "C", "o-o"), ("C", "B", "o-o")], "every path between them is blocked by C"),
    ],
)
def test_every_structure_has_its_words(edges, words):
    random = np.random.default_rng(0)
    table = {name: random.standard_normal(80) for name in "ABC"} | {"R": random.integers(0, 2, 80)}
    result = with_graph(cc.discover(table, "R", method="pc-ac", test="partial-correlation"), edges)
    assert missing_link_words(result, "A", "B", 0) == words.format(x="A", y="B")
    assert missing_link_words(result, "B", "A", 1) == words.format(x="B", y="A")


@pytest.mark.parametrize("seed", range(4))
def test_what_blocks_separates_and_has_no_member_too_many(seed):
    graph = random_model(nodes=8, density=0.4, seed=seed).truth().descriptive[0]
    links = np.array([[graph.mark(a, b) == "-->" for b in graph.names] for a in graph.names])
    for x in range(8):
        for y in range(x):
            found = separating_set(links, x, y)
            assert (found is None) == bool(graph.endpoints[x, y])
            if found is not None:
                assert is_d_separated(links, x, y, found)
                for z in found:
                    assert not is_d_separated(links, x, y, [other for other in found if other != z])


def test_the_causes_of_the_later_variable_block_paths_over_time():
    """In windows the causes of a variable are known, and those of its causes may not be."""
    random, rows = np.random.default_rng(2), 600
    context = random.integers(0, 2, rows)
    x, y = np.zeros((2, rows))
    for t in range(1, rows):
        x[t] = 0.5 * x[t - 1] + random.standard_normal()
        y[t] = 0.4 * y[t - 1] + (1.0 if context[t] else 0.2) * x[t - 1] + random.standard_normal()
    result = cc.discover({"x": x, "y": y, "R": context}, "R", lags=2, method="score-ac")
    for pair in (("y(t-1)", "x"), ("x", "y(t-1)")):
        (line,) = result.explain(*pair).splitlines()
        assert "every path between them is blocked by x(t-1); the link would lower" in line
    first = result.explain("x", "y").splitlines()[0]
    assert "every path between them is blocked by" in first
    causes = [edge.source for edge in result.graphs[0].edges if edge.target == "y"]
    assert all(cause in first for cause in causes)
    assert "blocked" not in result.explain("x(t-1)", "y")


def test_a_context_opens_a_path_over_time_where_both_variables_act_on_it():
    """Rows of a context are chosen by its value, an effect of two variables with pasts."""
    random, rows = np.random.default_rng(3), 1000
    x, y = np.zeros((2, rows))
    for t in range(1, rows):
        x[t], y[t] = 0.5 * np.array([x[t - 1], y[t - 1]]) + random.standard_normal(2)
    context = np.where(x + y + 0.3 * random.standard_normal(rows) > 0, "wet", "dry")
    result = cc.discover({"x": x, "y": y, "R": context}, "R", lags=1, method="score-ac")
    assert result.graphs["wet"].mark("x", "R") == result.graphs["wet"].mark("y", "R") == "-->"
    for pair in (("x", "y"), ("y", "x")):
        (line,) = result.explain(*pair).splitlines()
        assert "every path between them is blocked by" in line
        assert "(t-1), and one is opened by conditioning on R as well; the link would" in line
    (past,) = result.explain("y(t-1)", "x").splitlines()
    assert "blocked by x(t-1), and one is opened by conditioning on R as well" in past


def test_several_contexts_are_written_without_quotes():
    random, rows = np.random.default_rng(1), 400
    season, shift = random.choice(["dry", "wet"], rows), random.choice(["day", "night"], rows)
    a = random.standard_normal(rows)
    table = {"A": a, "Y": np.where(season == "dry", 2, 0) * a + random.standard_normal(rows)}
    result = cc.discover(table | {"S": season, "T": shift}, ["S", "T"], method="score-ac")
    texts = [str(result), result.explain("A", "Y"), str(result.diagnose()), str(result.union)]
    assert "in (dry, day) and (dry, night)" in texts[1]
    for text in texts:
        assert "('" not in text


def test_a_link_that_was_not_scored_is_not_said_to_be_ruled_out():
    """Knowledge puts both tiers before the context and rules out one direction of the first two."""
    earlier = [["education", "experience", "black"], ["small_child"], ["union"]]
    table = cc.read_file(cc.examples.path("wages"))[[name for tier in earlier for name in tier]]
    knowledge = cc.Knowledge(tiers=earlier)
    result = cc.discover(table, "union", knowledge=knowledge, method="score-ac")
    told = result.explain("black", "small_child")
    assert not result.union.mark("black", "small_child")
    assert "no link between them was scored" in told or "the link would lower the score" in told
    assert "other links" not in told
