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
