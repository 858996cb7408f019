"""The names of a result: those for users, those that are going away, and wrong ones."""

import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.results.contexts import PUBLIC, WITH_CUT, WITH_LAGS
from causalcontext.results.old_names import OLD_NAMES


@pytest.fixture(scope="module")
def soil():
    return cc.discover(cc.examples.soil_moisture(500, seed=1), context="soil")


@pytest.fixture(scope="module")
def lagged():
    """A series in which runoff has a past of its own."""
    table = cc.examples.soil_moisture(400, seed=1)
    table["runoff"] = table["runoff"] + 0.6 * table["runoff"].shift(1, fill_value=0.0)
    return cc.discover(table, context="soil", lags=1, method="pc-ac")


EVERY = (*PUBLIC, *WITH_LAGS, *WITH_CUT)


def listed(result):
    return [name for name in dir(result) if not name.startswith("_")]


def test_a_result_lists_the_names_for_users(soil, lagged):
    assert listed(soil) == sorted(PUBLIC)
    assert len(PUBLIC) <= 31
    assert listed(lagged) == sorted((*PUBLIC, *WITH_LAGS))
    assert all(hasattr(type(soil), name) or name in vars(soil) for name in EVERY)


def test_a_result_with_a_cut_lists_it():
    table = cc.examples.soil_moisture(400, seed=1).drop(columns="soil")
    cut = cc.discover(table, cc.threshold("precipitation", "best"), method="score-ac")
    assert listed(cut) == sorted((*PUBLIC, *WITH_CUT))


def test_the_reference_lists_the_same_names():
    page = (Path(__file__).parents[2] / "docs" / "api.rst").read_text(encoding="utf-8")
    members = re.search(r"autoclass:: ContextGraphs\n   :members: (.*)\n", page)[1].split(", ")
    attributes = {"names", "contexts", "graphs", "warnings", "notes", "complete"}
    assert set(EVERY) - set(members) == attributes | {"data", "left_out"}
    assert set(members) <= set(EVERY)


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


@pytest.mark.parametrize(
    "ask",
    [
        lambda result: result.slopes("runof"),
        lambda result: result.slopes(target="runof"),
        lambda result: result.at("runof", 1),
        lambda result: result.reads["runof"],
        lambda result: result.summary.lags("runof", "soil"),
        lambda result: result.explain("runof", "soil"),
        lambda result: result.effects("runof", "soil"),
    ],
)
def test_a_wrong_column_of_a_search_with_lags_is_an_error_that_says_which_there_are(lagged, ask):
    with pytest.raises(cc.OptionError) as caught:
        ask(lagged)
    assert "'runof'; did you mean 'runoff'?" in str(caught.value)
    assert "'precipitation'" in str(caught.value)


def test_slopes_are_asked_by_variable_and_by_copy(lagged):
    rows = lagged.slopes("runoff", "runoff")
    assert len(rows)
    assert lagged.slopes("runoff(t-1)", "runoff").equals(rows)
    with pytest.raises(cc.OptionError, match=r"'runoff\(t-3\)'; did you mean 'runoff\(t-1\)'"):
        lagged.slopes("runoff(t-3)")
    with pytest.raises(cc.OptionError, match="at lag 2, expected a lag up to 1"):
        lagged.at("runoff", 2)


def test_find_contexts_says_that_it_takes_no_context():
    with pytest.raises(cc.OptionError, match="it looks for contexts; leave context out"):
        cc.find_contexts(cc.examples.soil_moisture(100, seed=1), context="soil")


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


TABLES = {
    "edges": lambda result: result.edges(),
    "scores": lambda result: result.scores(),
    "changes": lambda result: result.changes(),
    "labels": lambda result: result.labels(),
    "flagged_cells": lambda result: result.flagged_cells(),
    "probabilities": lambda result: result.probabilities(),
    "mechanisms": lambda result: result.mechanisms(),
    "effects": lambda result: result.effects(),
    "effects of one": lambda result: result.effects("A"),
    "effects by path": lambda result: result.effects("A", "B", by_path=True),
    "predict_intervention": lambda result: result.predict_intervention({"A": 1.0}),
    "effects of samples": lambda result: result.effects(samples=20),
    "slopes": lambda result: result.slopes(),
    "shares of edges": lambda result: result.stability(2).edges(),
    "shares of endpoints": lambda result: result.stability(2).endpoints(),
    "shares of labels": lambda result: result.stability(2).labels(),
}
WITHOUT_LAGS = ("effects of samples",)


@pytest.fixture(scope="module", params=[{}, {"lags": 1}], ids=["rows", "lags"])
def nothing(request):
    """A result without an edge, whatever the method finds in noise."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(120, 3)), columns=[*"ABC"])
    table["R"] = rng.integers(0, 2, 120)
    return cc.discover(table, "R", method="pc-ac", alpha=1e-9, **request.param)


@pytest.mark.parametrize("name", TABLES)
def test_an_empty_table_says_why(nothing, name):
    if (nothing.series is None and name == "slopes") or (
        nothing.series is not None and name in WITHOUT_LAGS
    ):
        with pytest.raises(cc.CausalContextError):
            TABLES[name](nothing)
        return
    table = TABLES[name](nothing)
    assert table.empty
    assert len(table.attrs["reason"]) > 10


def test_other_empty_tables_say_why():
    plain = cc.discover(cc.examples.soil_moisture(200, seed=1).drop(columns="soil"))
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(150, 3)), columns=[*"ABC"])
    for empty in (plain.changes(), cc.find_contexts(table)):
        assert empty.empty
        assert len(empty.attrs["reason"]) > 10


def test_a_table_with_rows_has_no_reason(soil):
    for table in (soil.edges(), soil.mechanisms(), soil.effects(), soil.tests()):
        assert len(table)
        assert "reason" not in table.attrs


@pytest.mark.parametrize("options", [{"method": "pc-ac"}, {"method": "pc-p"}, {}, {"lags": 1}])
def test_tables_have_the_same_columns_after_every_method(soil, options):
    result = cc.discover(cc.examples.soil_moisture(300, seed=2), context="soil", **options)
    assert list(result.edges()) == list(soil.edges())
    assert list(result.changes()) == list(soil.changes())
