"""The options of `discover` are the same in the library, on the command line, in the app, in saved
results and in the estimator; those of a method belong to its object.
"""

import copy
import json
import pickle
import re
from dataclasses import FrozenInstanceError, fields
from inspect import signature
from itertools import product

import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.methods.registry import METHOD_OPTIONS, METHODS
from causalcontext.options import ENTRIES, Keywords, MethodKeywords, Options, group_of, options_of
from causalcontext_lab.calibration.calibrate import CalibrationKeywords, CalibrationOptions

ELSEWHERE = {"knowledge": "--knowledge", "kinds": "--kind", "n_jobs": "--jobs", "na_values": "--na"}
"""Options that the command line spells in its own way."""
OTHERS = {
    "test": "basis",
    "alpha": 0.01,
    "max_given": 1,
    "collider_rule": "first",
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
"""A value of every option of a method that is not its default."""
KINDS = {
    "pc-ac": cc.PCAC,
    "pc-m": cc.PCM,
    "pc-p": cc.PCP,
    "pc-b": cc.PCB,
    "fci-ac": cc.FCIAC,
    "score-ac": cc.ScoreAC,
}


def table() -> pd.DataFrame:
    return cc.examples.soil_moisture(300, seed=1)


@pytest.mark.parametrize(
    ("options", "keywords"), [(Options, Keywords), (CalibrationOptions, CalibrationKeywords)]
)
def test_type_checkers_see_the_same_options(options, keywords):
    names = [entry.name for entry in fields(options)]
    of_methods = list(METHOD_OPTIONS) if keywords is Keywords else []
    assert sorted(keywords.__annotations__) == sorted(names + of_methods)
    assert sorted(MethodKeywords.__annotations__) == sorted(METHOD_OPTIONS)


@pytest.mark.parametrize("function", [cc.discover, cc.calibrate])
def test_help_shows_every_option_with_its_default(function):
    kind = Options if function is cc.discover else CalibrationOptions
    shown = signature(function).parameters
    for entry in fields(kind):
        assert shown[entry.name].default == entry.default
        assert re.search(rf"\b{entry.name}\b", function.__doc__)


@pytest.mark.parametrize("name", KINDS)
def test_the_page_of_a_method_has_every_option_with_its_default(name):
    kind = KINDS[name]
    for entry in fields(kind):
        assert signature(kind).parameters[entry.name].default == entry.default
        assert re.search(rf"^    {entry.name} : ", kind.__doc__, re.MULTILINE)


def help_text(command: str) -> str:
    environment = {"COLUMNS": "300", "NO_COLOR": "1"}
    return CliRunner().invoke(app, [command, "--help"], env=environment).output


@pytest.mark.parametrize("command", ["discover", "stability"])
def test_the_command_line_takes_every_option_under_the_name_of_its_methods(command):
    text = help_text(command)
    panels = {panel.split("─")[0].strip(): panel for panel in text.split("╭─")}
    for name in ENTRIES:
        flag = ELSEWHERE.get(name, "--" + name.replace("_", "-"))
        panel = panels[group_of(name) or "Options"]
        assert re.search(rf"{flag} ", panel), (name, group_of(name))


def test_every_method_has_a_public_object():
    assert set(KINDS) == set(METHODS) - {"auto"}
    public = [cc.PCAC, cc.PCM, cc.PCP, cc.PCB, cc.FCIAC, cc.ScoreAC]
    assert list(KINDS.values()) == public
    assert {kind.__name__ for kind in public} <= set(cc.__all__)


def test_options_of_the_same_name_have_the_same_default():
    for kind in KINDS.values():
        for name, default in kind.defaults().items():
            assert default == METHOD_OPTIONS[name]
    assert not set(METHOD_OPTIONS) & {entry.name for entry in fields(Options)}


@pytest.mark.parametrize("name", KINDS)
def test_a_name_is_the_object_with_its_defaults(name):
    kind = KINDS[name]
    assert METHODS[name].kind is kind
    by_name = cc.discover(table(), "soil", method=name)
    by_object = cc.discover(table(), "soil", method=kind())
    assert by_name == by_object
    assert by_name.method == kind()
    assert by_name.settings.method == name


@pytest.mark.parametrize("name", KINDS)
def test_an_object_says_the_call_to_write(name):
    kind = KINDS[name]
    assert repr(kind()) == f"cc.{kind.__name__}()"
    made = kind(**{option: OTHERS[option] for option in kind.defaults()})
    assert eval(repr(made), {"cc": cc}) == made != kind()
    assert made.changed == made.values
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert hash(made) == hash(copy.copy(made))
    with pytest.raises(FrozenInstanceError):
        made.alpha = 0.5


@pytest.mark.parametrize("name", KINDS)
def test_options_beside_a_name_are_those_of_its_object_and_are_kept(name, tmp_path):
    kind = KINDS[name]
    options = {option: OTHERS[option] for option in kind.defaults()}
    beside = cc.discover(table(), "soil", method=name, **options)
    assert beside == cc.discover(table(), "soil", method=kind(**options))
    assert beside.method == kind(**options)
    beside.save(tmp_path / "r.json")
    loaded = cc.load(tmp_path / "r.json")
    assert loaded.method == kind(**options)
    content = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert content["method"] == {"name": name} | options


def test_a_result_knows_a_test_of_ones_own_by_name(tmp_path):
    class Own:
        name = "own"

        def prepare(self, data, statistics):
            from causalcontext.ci_tests.registry import find_test

            return find_test("partial-correlation").prepare(data, statistics)

    result = cc.discover(table(), "soil", method=cc.PCAC(test=Own(), max_given=1))
    result.save(tmp_path / "r.json")
    method = cc.load(tmp_path / "r.json").method
    assert method.test.name == "own"
    assert method.max_given == 1
    with pytest.raises(cc.OptionError, match=r"the test 'own' is one's own, .* pass the test"):
        cc.discover(table(), "soil", method=method)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cc.PCAC(alhpa=0.1), "cc.PCAC has no option 'alhpa'; did you mean 'alpha'?"),
        (lambda: cc.PCM(masked_scope="cycle"), "cc.PCM has no option 'masked_scope'; it has test"),
        (lambda: cc.PCAC(alpha=2), "alpha is 2, expected a number between 0 and 1"),
        (lambda: cc.PCAC(collider_rule="frist"), "collider_rule is 'frist', expected one of"),
        (lambda: cc.FCIAC(contested="maybe"), "contested is 'maybe', expected one of"),
        (lambda: cc.ScoreAC(curves="some"), "curves is 'some', expected one of"),
        (
            lambda: cc.ScoreAC(search="exact", starts=3),
            "starts is 3, which is for climbs from random orders",
        ),
        (lambda: cc.PCAC("soil"), "cc.PCAC takes options by name"),
        (
            lambda: cc.PCAC(context="soil"),
            re.compile(r"cc\.PCAC takes options .* fits a table is cc\.ContextDiscovery, "),
        ),
        (
            lambda: cc.discover(table(), "soil", method=cc.PCAC),
            "method is the class PCAC, expected an object of it: pass method=cc.PCAC()",
        ),
        (
            lambda: cc.discover(table(), "soil", method=cc.PCAC(test="basis"), alpha=0.01),
            "alpha stands beside the object of a method, which holds its options: pass"
            " method=cc.PCAC(test='basis', alpha=0.01)",
        ),
        (
            lambda: cc.discover(table(), "soil", alhpa=0.01),
            "discover has no option 'alhpa'; did you mean 'alpha'?",
        ),
    ],
)
def test_a_wrong_object_is_refused_in_one_sentence(call, words):
    pattern = words if isinstance(words, re.Pattern) else "^" + re.escape(words)
    with pytest.raises(cc.OptionError, match=pattern):
        call()


def test_the_former_estimator_names_the_new_one():
    with pytest.raises(AttributeError, match=r"cc\.ContextDiscovery, with cc\.PCAC\(\) as its"):
        cc.PCAC().fit(table())
    assert not hasattr(cc.PCAC(), "fit")


@pytest.mark.parametrize("name", METHOD_OPTIONS)
def test_an_option_of_a_method_beside_auto_is_an_error_that_shows_the_call(name):
    for method in ({}, {"method": "auto"}):
        with pytest.raises(cc.OptionError) as refused:
            cc.discover(table(), "soil", **method, **{name: OTHERS[name]})
        said = str(refused.value)
        assert re.match(rf"{name} belongs to (methods? '|methods that test)", said)
        by_object, by_name = re.fullmatch(
            r"[^:]+: pass method=(cc\.\w+\(.*\)), or (method='.*)", said
        ).groups()
        shown = eval(by_object, {"cc": cc})
        assert shown.changed == {name: OTHERS[name]}
        assert options_of(eval(f"dict({by_name})"), "discover").method == shown


def test_several_options_beside_auto_are_shown_in_one_call():
    with pytest.raises(cc.OptionError) as refused:
        cc.discover(table(), "soil", alpha=0.01, curves="always")
    assert str(refused.value) == (
        "alpha and curves belong to method 'score-ac': pass method=cc.ScoreAC(alpha=0.01,"
        " curves='always'), or method='score-ac', alpha=0.01, curves='always'"
    )


def test_the_estimator_takes_every_option():
    options = {
        "method": "pc-ac",
        "alpha": 0.001,
        "max_given": 1,
        "orientation": "within",
        "masked_scope": "cycle",
    }
    model = cc.ContextDiscovery(context="soil", **options).fit(table())
    assert model.result_ == cc.discover(table(), context="soil", **options)
    names = {"context", *(entry.name for entry in fields(Options))}
    assert set(model.get_params(deep=False)) == names
    nested = {f"method__{name}" for name in cc.PCAC.defaults()}
    assert set(model.get_params()) == names | nested
    with pytest.raises(cc.OptionError, match="did you mean 'alpha'"):
        cc.ContextDiscovery(alhpa=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"method": "pc-ac", "curves": "always"},
            (
                "curves belongs to method 'score-ac', and method is 'pc-ac': leave curves out, or"
                " pass method=cc.ScoreAC(curves='always')"
            ),
        ),
        (
            {"method": "pc-m", "masked_scope": "cycle", "penalty": 1.0},
            "masked_scope belongs to method 'pc-ac', and",
        ),
        (
            {"method": "score-ac", "contested": "bidirected"},
            "contested belongs to method 'fci-ac', and",
        ),
        (
            {"method": "pc-ac", "lags": 1, "orientation": "within"},
            "orientation is for searches without lags",
        ),
        (
            {"method": "pc-ac", "lags": 1, "masked_scope": "cycle"},
            "masked_scope is for searches without lags",
        ),
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
            "device is 'cuda', which is for methods that test, and method is 'score-ac'",
        ),
        ({"device": "cuda"}, "device is 'cuda', which is for methods that test, and method is 'a"),
    ],
)
def test_an_option_that_the_method_does_not_use_is_refused(options, words):
    with pytest.raises(cc.OptionError, match="^" + re.escape(words)):
        cc.discover(cc.examples.soil_moisture(300, seed=1), context="soil", **options)


def test_a_scan_refuses_a_step_without_a_time():
    with pytest.raises(cc.CausalContextError, match="step is 1, the time between two rows"):
        cc.scan(iter([pd.DataFrame({"X": [1.0, 2.0, 3.0], "R": [0, 1, 0]})]), "R", lags=1, step=1)


def test_every_method_takes_just_the_options_that_it_declares():
    assert set(OTHERS) == set(METHOD_OPTIONS)
    for method, name in product(METHODS, METHOD_OPTIONS):
        try:
            options_of({"method": method, name: OTHERS[name]}, "discover")
            taken = True
        except cc.OptionError:
            taken = False
        assert taken == (name in METHODS[method].options), (method, name)


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
        assert "curves belongs to method 'score-ac'" in str(done.exception) + done.output
    with pytest.raises(cc.OptionError, match="curves belongs to method 'score-ac'"):
        cc.ContextDiscovery("soil", method="pc-m", curves="always")


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
        {"method": "score-ac", "curves": "never"},
    ],
)
def test_options_that_have_an_effect_are_taken(options):
    result = cc.discover(cc.examples.soil_moisture(300, seed=1), context="soil", **options)
    assert result.settings.method == options["method"]


def test_sets_may_be_as_large_as_one_likes():
    table = cc.examples.soil_moisture(100, seed=1)
    for kind in (cc.PCAC, cc.FCIAC):
        largest = kind(test="partial-correlation", max_given=10**30)
        found = cc.discover(table, "soil", method=largest)
        same = cc.discover(table, "soil", method=kind(test="partial-correlation"))
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
