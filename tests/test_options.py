"""The options of `discover` are the same in the library, on the command line and in the estimator."""

from dataclasses import fields
from inspect import signature

import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.diagnostics.calibration.calibrate import CalibrationKeywords, CalibrationOptions
from causalcontext.options import Keywords, Options

ELSEWHERE = {"knowledge": "--knowledge", "kinds": "--kind", "n_jobs": "--jobs"}
"""Options that the command line spells in its own way."""


@pytest.mark.parametrize(("options", "keywords"), [(Options, Keywords), (CalibrationOptions, CalibrationKeywords)])
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
    text = CliRunner().invoke(app, ["discover", "--help"], env={"COLUMNS": "300", "NO_COLOR": "1"}).output
    for entry in fields(Options):
        assert ELSEWHERE.get(entry.name, "--" + entry.name.replace("_", "-")) in text


def test_the_estimator_takes_every_option():
    table = cc.examples.soil_moisture(300, seed=1)
    options = {"method": "pc-m", "alpha": 0.001, "max_given": 1, "orientation": "within", "masked_scope": "cycle"}
    model = cc.PCAC(context="soil", **options).fit(table)
    assert model.result_ == cc.discover(table, context="soil", **options)
    assert set(model.get_params()) == {"context", *(entry.name for entry in fields(Options))}
    with pytest.raises(cc.OptionError, match="did you mean 'alpha'"):
        cc.PCAC(alhpa=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "pc-ac", "curves": "always"}, "curves has no effect with method 'pc-ac'"),
        ({"method": "pc-m", "masked_scope": "cycle", "penalty": 1.0},
         "masked_scope and penalty have no effect with method 'pc-m'"),
        ({"method": "score-ac", "test": "basis"}, "test has no effect with method 'score-ac'"),
        ({"method": "score-ac", "contested": "bidirected"}, "contested has no effect with method 'score-ac'"),
        ({"alpha": 0.01, "curves": "always"}, "curves has no effect with method 'pc-ac'"),
        ({"method": "pc-ac", "lags": 1, "orientation": "within"},
         "orientation has no effect with method 'pc-ac' and lags"),
        ({"method": "score-ac", "lags": 1, "unit_effects": "none"},
         "unit_effects has no effect with method 'score-ac' and lags"),
    ],
)  # fmt: skip
def test_an_option_without_effect_is_noted(options, words):
    result = cc.discover(cc.examples.soil_moisture(300, seed=1), context="soil", **options)
    assert words in result.notes


@pytest.mark.parametrize(
    "options",
    [
        {"method": "fci-ac", "contested": "bidirected", "possible_dsep": 2, "orientation": "within"},
        {"method": "score-ac", "curves": "always", "alpha": 0.01, "search": "order", "starts": 1},
        {"method": "pc-ac", "masked_scope": "cycle", "max_given": 1, "test": "basis", "collider_rule": "first"},
        {"curves": "never"},
    ],
)
def test_options_that_have_an_effect_are_not_noted(options):
    result = cc.discover(cc.examples.soil_moisture(300, seed=1), context="soil", **options)
    assert not any("no effect" in note for note in result.notes)


def test_auto_takes_options_of_scores_with_a_context_that_is_made_out_of_a_column():
    table = cc.examples.soil_moisture(300, seed=1).drop(columns="soil")
    result = cc.discover(table, cc.threshold(table.columns[0], 0.0), curves="always")
    assert result.settings.method == "score-ac"
    assert result.notes[0] == "method 'auto' chose score-ac: curves was passed"
