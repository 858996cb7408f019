"""The options of `discover` are the same in the library, on the command line and in the
estimator.
"""

import re
from dataclasses import fields
from inspect import signature
from itertools import product

import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.methods.registry import METHODS, SPECIAL
from causalcontext.options import Keywords, Options
from causalcontext_lab.calibration.calibrate import CalibrationKeywords, CalibrationOptions

ELSEWHERE = {"knowledge": "--knowledge", "kinds": "--kind", "n_jobs": "--jobs", "na_values": "--na"}
"""Options that the command line spells in its own way."""


@pytest.mark.parametrize(
    ("options", "keywords"), [(Options, Keywords), (CalibrationOptions, CalibrationKeywords)]
)
def test_type_checkers_see_the_same_options(options, keywords):
    assert list(keywords.__annotations__) == [entry.name for entry in fields(options)]


@pytest.mark.parametrize("function", [cc.discover, cc.calibrate])
def test_help_shows_every_option_with_its_default(function):
    kind = Options if function is cc.discover else CalibrationOptions
    shown = signature(function).parameters
    for entry in fields(kind):
        assert shown[entry.name].default == entry.default
        assert entry.name in function.__doc__


def test_the_command_line_takes_every_option():
    text = (
        CliRunner()
        .invoke(app, ["discover", "--help"], env={"COLUMNS": "300", "NO_COLOR": "1"})
        .output
    )
    for entry in fields(Options):
        assert ELSEWHERE.get(entry.name, "--" + entry.name.replace("_", "-")) in text


def test_the_estimator_takes_every_option():
    table = cc.examples.soil_moisture(300, seed=1)
    options = {
        "method": "pc-ac",
        "alpha": 0.001,
        "max_given": 1,
        "orientation": "within",
        "masked_scope": "cycle",
    }
    model = cc.PCAC(context="soil", **options).fit(table)
    assert model.result_ == cc.discover(table, context="soil", **options)
    assert set(model.get_params()) == {"context", *(entry.name for entry in fields(Options))}
    with pytest.raises(cc.OptionError, match="did you mean 'alpha'"):
        cc.PCAC(alhpa=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"method": "pc-ac", "curves": "always"},
            (
                "curves is for method 'score-ac', and method is 'pc-ac'; leave curves out, or pass"
                " method='score-ac'"
            ),
        ),
        (
            {"method": "pc-m", "masked_scope": "cycle", "penalty": 1.0},
            "masked_scope is for method 'pc-ac', and",
        ),
        (
            {"method": "score-ac", "contested": "bidirected"},
            "contested is for method 'fci-ac', and",
        ),
        (
            {"context_confounded": False},
            "context_confounded is for method 'fci-ac', and method is 'auto'",
        ),
        (
            {"alpha": 0.01, "curves": "always"},
            (
                "curves is for method 'score-ac', and alpha, which is for searches by tests, is"
                " passed, too"
            ),
        ),
        (
            {"method": "pc-ac", "lags": 1, "orientation": "within"},
            "orientation is for searches without lags",
        ),
        ({"lags": 1, "masked_scope": "cycle"}, "masked_scope is for searches without lags"),
        (
            {"method": "score-ac", "lags": 1, "unit_effects": "none"},
            "unit_effects is 'none', which is for panels",
        ),
        ({"unit_effects": "none"}, "unit_effects is 'none', which is for panels"),
        ({"lags": 1, "step": "1D"}, "step is '1D', the time between two rows; pass time=..."),
        (
            {"method": "score-ac", "search": "exact", "starts": 3},
            "starts is 3, which is for climbs from random orders",
        ),
        (
            {"method": "score-ac", "starts": 10**30},
            "starts is 1000000000000000000000000000000, expected at most",
        ),
        (
            {"method": "score-ac", "lags": 1, "device": "cuda"},
            "device is for methods 'pc-ac', 'pc-m', 'pc-p', 'pc-b'",
        ),
    ],
)
def test_an_option_that_the_method_does_not_use_is_refused(options, words):
    with pytest.raises(cc.OptionError, match="^" + re.escape(words)):
        cc.discover(cc.examples.soil_moisture(300, seed=1), context="soil", **options)


def test_a_scan_refuses_a_step_without_a_time():
    with pytest.raises(cc.CausalContextError, match="step is 1, the time between two rows"):
        cc.scan(iter([pd.DataFrame({"X": [1.0, 2.0, 3.0], "R": [0, 1, 0]})]), "R", lags=1, step=1)


OTHERS = {
    "test": "basis",
    "max_given": 1,
    "collider_rule": "first",
    "device": "auto",
    "masked_scope": "cycle",
    "orientation": "within",
    "possible_dsep": 2,
    "contested": "bidirected",
    "context_confounded": False,
    "search": "order",
    "starts": 1,
    "curves": "never",
    "penalty": 1.0,
    "wrong_cells": "keep",
}


def test_every_method_takes_just_the_options_that_it_declares():
    assert set(OTHERS) == set(SPECIAL)
    for method, name in product(METHODS, SPECIAL):
        try:
            Options(method=method, **{name: OTHERS[name]})
            taken = True
        except cc.OptionError:
            taken = False
        assert taken == (name in METHODS[method].options), (method, name)


def test_auto_refuses_options_of_scores_for_a_table_that_it_leaves_to_tests():
    table = cc.examples.soil_moisture(300, seed=1).assign(town=[f"t{i % 150}" for i in range(300)])
    with pytest.raises(
        cc.OptionError, match="curves is for method 'score-ac', which method 'auto' does not choose"
    ):
        cc.discover(table, "soil", curves="always", keep=["town"])


def test_the_command_line_and_the_estimator_refuse_the_same(tmp_path):
    table = cc.examples.soil_moisture(60, seed=1)
    table.to_csv(tmp_path / "t.csv", index=False)
    for command in ("discover", "stability"):
        words = [
            command,
            str(tmp_path / "t.csv"),
            "--context",
            "soil",
            "--method",
            "pc-m",
            "--curves",
            "always",
        ]
        done = CliRunner().invoke(app, words)
        assert done.exit_code != 0
        assert "curves is for method 'score-ac'" in str(done.exception) + done.output
    with pytest.raises(cc.OptionError, match="curves is for method 'score-ac'"):
        cc.PCAC(context="soil", curves="always").fit(table)


@pytest.mark.parametrize(
    "options",
    [
        {
            "method": "fci-ac",
            "contested": "bidirected",
            "possible_dsep": 2,
            "orientation": "within",
        },
        {"method": "score-ac", "curves": "always", "alpha": 0.01, "search": "order", "starts": 1},
        {
            "method": "pc-ac",
            "masked_scope": "cycle",
            "max_given": 1,
            "test": "basis",
            "collider_rule": "first",
        },
        {"curves": "never"},
    ],
)
def test_options_that_have_an_effect_are_taken(options):
    result = cc.discover(cc.examples.soil_moisture(300, seed=1), context="soil", **options)
    assert result.settings.method == options.get("method", "score-ac")


def test_auto_takes_options_of_scores_with_a_context_that_is_made_out_of_a_column():
    table = cc.examples.soil_moisture(300, seed=1).drop(columns="soil")
    result = cc.discover(table, cc.threshold(table.columns[0], 0.0), curves="always")
    assert result.settings.method == "score-ac"
    assert result.notes[0] == "method 'auto' chose score-ac: curves was passed"


def test_sets_may_be_as_large_as_one_likes():
    table = cc.examples.soil_moisture(100, seed=1)
    for options in ({"method": "pc-ac"}, {"method": "fci-ac"}):
        found = cc.discover(table, "soil", test="partial-correlation", max_given=10**30, **options)
        same = cc.discover(table, "soil", test="partial-correlation", **options)
        assert found.graphs == same.graphs
        assert str(found.diagnose()) == str(same.diagnose())


def test_the_largest_penalty_leaves_no_link_and_a_larger_one_is_refused():
    table = cc.examples.soil_moisture(100, seed=1)
    assert not cc.discover(
        table, "soil", method="score-ac", penalty=1000.0, curves="never"
    ).union.edges
    with pytest.raises(
        cc.OptionError, match=r"penalty is 1000000000\.0, expected a number up to 1000"
    ):
        cc.discover(table, "soil", method="score-ac", penalty=1e9)
