"""The names of a result: those for users, those that are going away, and wrong ones."""

import pickle
import re
from pathlib import Path

import pytest

import causalcontext as cc
from causalcontext.results.contexts import PUBLIC
from causalcontext.results.old_names import OLD_NAMES


@pytest.fixture(scope="module")
def soil():
    return cc.discover(cc.examples.soil_moisture(500, seed=1), context="soil")


def test_a_result_lists_the_names_for_users(soil):
    listed = [name for name in dir(soil) if not name.startswith("_")]
    assert listed == sorted(PUBLIC)
    assert len(listed) <= 37
    assert all(hasattr(type(soil), name) or name in vars(soil) for name in PUBLIC)


def test_the_reference_lists_the_same_names():
    page = (Path(__file__).parents[2] / "docs" / "api.rst").read_text(encoding="utf-8")
    members = re.search(r"autoclass:: ContextGraphs\n   :members: (.*)\n", page)[1].split(", ")
    attributes = {"names", "contexts", "graphs", "warnings", "notes", "complete", "settings"}
    assert set(PUBLIC) - set(members) == attributes | {"data", "left_out"}
    assert set(members) <= set(PUBLIC)


def test_a_context_gives_its_graph(soil):
    assert soil["wet"] == soil.graphs["wet"]
    assert dict(pickle.loads(pickle.dumps(soil)).graphs) == dict(soil.graphs)


@pytest.mark.parametrize(
    "ask",
    [
        lambda result: result["wett"],
        lambda result: result.graphs["wett"],
        lambda result: result.changes("dry", "wett"),
        lambda result: result.strength("soil", "runoff", "wett"),
        lambda result: result.plot(contexts=["wett"]),
    ],
)
def test_a_wrong_context_is_an_error_that_says_which_there_are(soil, ask):
    with pytest.raises(cc.OptionError) as caught:
        ask(soil)
    assert "'wett'; did you mean 'wet'?" in str(caught.value)
    assert "'dry', 'wet'" in str(caught.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda result: result.explain("runof", "soil"),
        lambda result: result.effects("runof", "soil"),
        lambda result: result.strength("runof", "soil", "wet"),
        lambda result: result.union.mark("runof", "soil"),
    ],
)
def test_a_wrong_column_is_an_error_that_says_which_there_are(soil, ask):
    with pytest.raises(cc.CausalContextError) as caught:
        ask(soil)
    assert "'runof'; did you mean 'runoff'?" in str(caught.value)
    assert "'precipitation'" in str(caught.value)


def test_a_mapping_of_graphs_is_a_mapping(soil):
    assert "wett" not in soil.graphs
    assert soil.graphs.get("wett") is None
    with pytest.raises(KeyError, match="there is no context 'wett'"):
        soil.graphs["wett"]


@pytest.mark.parametrize("name", OLD_NAMES)
def test_old_names_work_and_say_what_to_use(soil, name):
    with pytest.warns(DeprecationWarning, match=re.escape(f"use {OLD_NAMES[name].instead}")):
        getattr(soil, name)


def test_a_name_that_never_was_is_an_error_that_suggests_one(soil):
    with pytest.raises(AttributeError, match="no 'edge'; did you mean 'edges'"):
        soil.edge  # noqa: B018


def test_an_empty_table_says_why(soil):
    by_tests = cc.discover(
        cc.examples.soil_moisture(200, seed=1), context="soil", method="pc-ac", alpha=1e-9
    )
    for table in (
        by_tests.scores(),
        by_tests.flagged_cells(),
        by_tests.probabilities(),
        cc.discover(cc.examples.soil_moisture(200, seed=1).drop(columns="soil")).changes(),
    ):
        assert table.empty
        assert len(table.attrs["reason"]) > 10


@pytest.mark.parametrize("options", [{"method": "pc-ac"}, {"method": "pc-p"}, {}, {"lags": 1}])
def test_tables_have_the_same_columns_after_every_method(soil, options):
    result = cc.discover(cc.examples.soil_moisture(300, seed=2), context="soil", **options)
    assert list(result.edges()) == list(soil.edges())
    assert list(result.changes()) == list(soil.changes())
