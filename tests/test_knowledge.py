"""Knowledge: contradictions, names, combinations, and that a search never breaks it."""

import numpy as np
import pytest

import causalcontext as cc
from marks import rest_slow

METHODS = ("pc-ac", "pc-m", "pc-p", "pc-b")
NAMES = ("X", "Y", "Z", "R")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"required": [("X", "Y")], "forbidden": [("X", "Y")]}, "both required and forbidden"),
        ({"required": [("X", "Y"), ("Y", "X")]}, "form a cycle through 'X', 'Y'"),
        ({"required": [("X", "Y"), ("Y", "Z"), ("Z", "X")]}, "form a cycle"),
        ({"required": [("Y", "X")], "tiers": [["X"], ["Y"]]}, "'X' is in an earlier tier than 'Y'"),
        (
            {"required": [("X", "Y"), ("Y", "Z")], "tiers": [["Z"], ["X"]]},
            "lead from 'X' to 'Z', which is in an earlier",
        ),
        ({"required": [("X", "Y")], "roots": ["Y"]}, "'Y' is a root"),
        ({"required": [("X", "Y")], "sinks": ["X"]}, "'X' is a sink"),
        ({"tiers": [["X"], ["X", "Y"]]}, "'X' is in more than one tier"),
        ({"required": [("X", "X")]}, "from 'X' to itself"),
        ({"required": ["XY"]}, "expected a list"),
        ({"required": [("X", "Y", "Z")]}, "expected a pair"),
        ({"roots": "X"}, "expected a list"),
        ({"roots": [3]}, "expected a column name in quotes"),
    ],
)
def test_contradictions_are_rejected_when_made(content, words):
    with pytest.raises(cc.KnowledgeError, match=words):
        cc.Knowledge(**content)


def test_links_rule_out_what_follows():
    links = cc.Knowledge(required=[("X", "Y"), ("Y", "Z")], tiers=[["X"], ["R"]]).links(NAMES)
    x, y, z, r = range(4)
    assert links.must[x, y]
    assert links.must[y, z]
    assert not links.may[y, x]
    assert not links.may[z, x]  # would close a cycle
    assert links.may[x, z]
    assert not links.may[r, x]
    assert links.may[r, y]


def test_roots_and_sinks():
    links = cc.Knowledge(roots=["X", "Y"], sinks=["Z"]).links(NAMES)
    assert links.absent[0, 1]
    assert not links.may[:, 0].any()
    assert not links.may[2].any()


def test_context_neighbours_close_the_context():
    absent = cc.Knowledge.context_neighbours("R", parents=["X"], children=["Y"]).links(NAMES)
    assert absent.absent[3, 2]
    assert absent.must[0, 3]
    assert absent.must[3, 1]
    unknown = cc.Knowledge.context_neighbours(
        "R", parents=["X"], children=["Y"], others="unknown"
    ).links(NAMES)
    assert not unknown.absent[3, 2]
    with pytest.raises(cc.OptionError, match="others is 'maybe'"):
        cc.Knowledge.context_neighbours("R", others="maybe")


def test_combination_keeps_both_orders():
    first, second = (
        cc.Knowledge(tiers=[["X"], ["Y"]]),
        cc.Knowledge(tiers=[["Y"], ["Z"]], roots=["X"]),
    )
    links = (first | second).links(NAMES)
    assert not links.may[1, 0]
    assert not links.may[2, 1]
    with pytest.raises(cc.KnowledgeError, match="both required and forbidden"):
        cc.Knowledge(required=[("X", "Y")]) | cc.Knowledge(forbidden=[("X", "Y")])


def test_unknown_names_are_suggested():
    with pytest.raises(cc.KnowledgeError, match="names 'Yy', which is not a column"):
        cc.Knowledge(required=[("X", "Yy")]).links(NAMES)


def test_toml_has_the_same_keys(tmp_path):
    path = tmp_path / "knowledge.toml"
    path.write_text('required = [["R", "Y"]]\ntiers = [["X"], ["R", "Y"]]\nsinks = ["Y"]\n')
    knowledge = cc.Knowledge.from_toml(path)
    assert knowledge == cc.Knowledge(required=[("R", "Y")], tiers=[["X"], ["R", "Y"]], sinks=["Y"])
    assert cc.Knowledge.from_dict(knowledge.to_dict()) == knowledge
    path.write_text('require = [["R", "Y"]]')
    with pytest.raises(cc.KnowledgeError, match="did you mean 'required'"):
        cc.Knowledge.from_toml(path)
    path.write_text("required = [")
    with pytest.raises(cc.FileError, match="not valid TOML"):
        cc.Knowledge.from_toml(path)
    with pytest.raises(cc.FileError, match="cannot be read"):
        cc.Knowledge.from_toml(tmp_path / "none.toml")


def random_knowledge(rng, names, order) -> cc.Knowledge:
    """True or false, but consistent: everything follows one order."""
    rank = {name: place for place, name in enumerate(order)}
    pairs = [(a, b) for a in names for b in names if rank[a] < rank[b]]
    chosen = [pairs[k] for k in rng.choice(len(pairs), size=4, replace=False)]
    third = len(order) // 3
    return cc.Knowledge(
        required=chosen[:2],
        forbidden=[chosen[2], chosen[2][::-1], chosen[3][::-1]],
        tiers=[order[:third], order[third : 2 * third]] if rng.random() < 0.5 else (),
    )


@pytest.mark.parametrize("seed", rest_slow(range(12), fast=3))
@pytest.mark.parametrize("method", METHODS)
def test_no_search_breaks_knowledge(method, seed):
    rng = np.random.default_rng(seed)
    table = cc.examples.soil_moisture(300, seed=seed)
    order = [str(name) for name in rng.permutation(table.columns)]
    knowledge = random_knowledge(rng, list(table.columns), order)
    result = cc.discover(table, context="soil", method=method, knowledge=knowledge)
    assert result.knowledge_violations() == []
    log = result.tests()
    for cause, effect in knowledge.required:
        rows = log.query("(x == @cause and y == @effect) or (x == @effect and y == @cause)")
        assert set(rows["decision"]) == {"required"}
        assert all(graph.mark(cause, effect) == "-->" for graph in result.graphs.values())
    assert log.query("decision in ('required', 'forbidden')")["p"].isna().all()


@pytest.mark.parametrize("method", METHODS)
def test_the_papers_link_assumptions(method):
    table = cc.examples.soil_moisture(400, seed=0)
    everything = cc.Knowledge.context_neighbours(
        "soil", parents=["precipitation", "radiation"], children=["evapotranspiration", "runoff"]
    )
    result = cc.discover(table, context="soil", method=method, knowledge=everything)
    for graph in result.graphs.values():
        assert graph.parents("soil") == ("precipitation", "radiation")
        assert set(graph.neighbours("soil")) == {
            "precipitation",
            "radiation",
            "evapotranspiration",
            "runoff",
        }
    children = cc.Knowledge.context_children("soil", ["runoff"])
    result = cc.discover(table, context="soil", method=method, knowledge=children)
    assert all(graph.mark("soil", "runoff") == "-->" for graph in result.graphs.values())


def test_violations_are_found_where_there_are_some():
    table = cc.examples.soil_moisture(400, seed=0)
    result = cc.discover(table, context="soil", method="pc-ac")
    from dataclasses import replace

    wrong = cc.Knowledge(required=[("runoff", "radiation")], forbidden=[("precipitation", "soil")])
    both = cc.Knowledge(forbidden=[("radiation", "temperature"), ("temperature", "radiation")])
    checked = replace(result, settings=replace(result.settings, knowledge=wrong | both))
    text = " ".join(checked.knowledge_violations())
    assert "runoff --> radiation is required" in text
    assert "precipitation --> soil is ruled out" in text
    assert "radiation and temperature are adjacent" in text


def test_a_sink_is_never_conditioned_on():
    table = cc.examples.soil_moisture(400, seed=0)
    result = cc.discover(
        table, context="soil", knowledge=cc.Knowledge(sinks=["humidity", "soil"]), method="pc-ac"
    )
    log = result.tests()
    assert not any("humidity" in given for given in log["given"])
    assert set(log["rows"]) == {"pooled", ""}  # two sinks share no link, and no test
    assert result.knowledge_violations() == []
