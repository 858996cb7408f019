"""A new option has every place that CONTRIBUTING.md lists: each test fails for one that was
forgotten.

An option of a method must change an answer, an option of `discover` must refuse a wrong value, and
both stand in the help of the command line, in the documentation and, where an answer depends on
them, in the file of a result.
"""

import ast
import json
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.methods.registry import METHOD_OPTIONS, METHODS
from causalcontext.options import ENTRIES, Options
from causalcontext.results.outcome import Settings
from causalcontext.results.schema import check_content
from causalcontext.score.options import ScoreOptions

ROOT = Path(__file__).parent.parent
NOT_ON_THE_COMMAND_LINE = {"knowledge", "kinds"}
"""Objects, which the command line reads from a file and as COLUMN=KIND."""
PROVENANCE = ("settings", "method")
"""What a file says of the options; the rest of it is answers."""


def soil(rows: int = 400) -> pd.DataFrame:
    return cc.examples.soil_moisture(rows, seed=1)


def few() -> pd.DataFrame:
    return soil(100)


def curved() -> pd.DataFrame:
    random = np.random.default_rng(0)
    cause = random.normal(size=400)
    soil_values = np.where(random.random(400) > 0.5, "wet", "dry")
    effect = cause**2 + 0.3 * random.normal(size=400)
    return pd.DataFrame({"X": cause, "Y": effect, "soil": soil_values})


def damaged() -> pd.DataFrame:
    random = np.random.default_rng(1)
    cause = random.normal(size=400)
    table = pd.DataFrame({"X": cause, "Y": cause + 0.1 * random.normal(size=400)})
    table["Z"] = table["Y"] + 0.1 * random.normal(size=400)
    table.loc[[5, 50, 250], "Y"] += 40.0
    return table.assign(soil=np.where(np.arange(400) % 2, "wet", "dry"))


CHANGES = {
    "test": (soil, "pc-ac", "basis"),
    "alpha": (soil, "pc-ac", 1e-9),
    "max_given": (soil, "pc-ac", 0),
    "collider_rule": (few, "pc-ac", "first"),
    "masked_scope": (soil, "pc-ac", "always"),
    "orientation": (soil, "pc-ac", "within"),
    "possible_dsep": (soil, "fci-ac", 2),
    "contested": (soil, "fci-ac", "bidirected"),
    "context_confounded": (soil, "fci-ac", False),
    "search": (soil, "score-ac", "order"),
    "starts": (soil, "score-ac", 1),
    "curves": (curved, "score-ac", "never"),
    "penalty": (soil, "score-ac", 1.0),
    "wrong_cells": (damaged, "score-ac", "keep"),
}
"""A table on which an option changes an answer: the table, the method, the option's value."""
WRONG = {
    "method": "pc-ca",
    "knowledge": {"roots": ["soil"]},
    "kinds": {"soil": "categoric"},
    "missing": "drop",
    "na_values": object(),
    "keep": 3,
    "strict": "yes",
    "damaged": "drop",
    "decimal": ";",
    "convert": "yes",
    "n_jobs": 0,
    "device": "gpu",
    "seed": -1,
    "transform": "log",
    "sample": 0,
    "time_limit": 0,
    "lags": 0,
    "time": "runoff",
    "units": "soil",
    "step": "1D",
    "context_lags": [0],
    "covariates": ["runoff"],
    "cycle": "hour:1D",
    "unit_effects": "some",
    "time_effects": "some",
}
"""A value of every option of `discover` that is refused, some because they need lags."""


def answers(result: cc.ContextGraphs, folder: Path) -> str:
    """What a file has beside the options and its checksum, as text."""
    path = folder / "r.json"
    result.save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    kept = {
        name: part
        for name, part in content.items()
        if name not in (*PROVENANCE, "checksum", "signature")
    }
    return json.dumps(kept, sort_keys=True)


@pytest.mark.parametrize("name", METHOD_OPTIONS)
def test_an_option_of_a_method_changes_an_answer(name, tmp_path):
    assert name in CHANGES, f"CHANGES has no table on which {name} changes an answer"
    table, method, value = CHANGES[name]
    assert value != METHOD_OPTIONS[name]
    before = cc.discover(table(), "soil", method=method)
    after = cc.discover(table(), "soil", method=method, **{name: value})
    assert answers(before, tmp_path) != answers(after, tmp_path), f"{name} changes nothing"


@pytest.mark.parametrize("name", METHOD_OPTIONS)
def test_an_option_of_a_method_is_checked_when_its_object_is_made(name):
    for method in METHODS.values():
        if name in method.options:
            with pytest.raises(cc.CausalContextError, match=rf"^{name} is "):
                method.kind(**{name: [object()]})


@pytest.mark.parametrize("name", METHOD_OPTIONS)
def test_an_option_of_a_method_is_kept_in_files(name, tmp_path):
    """As a field of `Settings`, or of `ScoreOptions`; the schema of files knows it."""
    kept = {entry.name for entry in (*fields(Settings), *fields(ScoreOptions))}
    assert name in kept, f"neither Settings nor ScoreOptions has {name}"
    table, method, value = CHANGES[name]
    path = tmp_path / "r.json"
    cc.discover(table(), "soil", method=method, **{name: value}).save(path)
    assert getattr(cc.load(path).method, name) == value
    content = json.loads(path.read_text(encoding="utf-8"))
    if name in content["settings"]:  # those of scores are checked when they are used
        content["settings"][name] = {"no": "option"}
        with pytest.raises(ValueError, match=name):
            check_content(content)


@pytest.mark.parametrize("entry", fields(Options), ids=lambda entry: entry.name)
def test_an_option_of_discover_refuses_a_wrong_value(entry):
    assert entry.name in WRONG, f"WRONG has no value of {entry.name} that is refused"
    with pytest.raises(cc.CausalContextError):
        cc.discover(soil(60), "soil", **{entry.name: WRONG[entry.name]})


CHECKS = {"__post_init__", "_check_used"}
"""Functions of `Options` that refuse values; to read an option there is not to use it."""


def read_names() -> set[str]:
    """The attributes that the package reads of an object of options, outside of their checks."""
    names = set()
    for path in (ROOT / "src" / "causalcontext").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        of_options = {"options", "chosen", "wanted"}
        if path.name == "options.py":
            of_options.add("self")
        checks = (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name in CHECKS
        )
        checked = {id(node) for check in checks for node in ast.walk(check)}
        names |= {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in of_options
            and id(node) not in checked
        }
    return names


READ = read_names()


@pytest.mark.parametrize("entry", fields(Options), ids=lambda entry: entry.name)
def test_an_option_of_discover_is_read(entry):
    assert entry.name in READ, f"nothing reads options.{entry.name}: it would be ignored"


@pytest.mark.parametrize("name", ENTRIES)
def test_an_option_has_a_line_on_the_command_line(name):
    text = ENTRIES[name].metadata["text"]
    assert bool(text) == (name not in NOT_ON_THE_COMMAND_LINE)
    assert not text or text.endswith((".", ",", "..."))
    assert name == ENTRIES[name].name


@pytest.mark.parametrize("name", [name for name in METHODS if name != "auto"])
def test_a_method_has_a_page_of_the_reference(name):
    page = (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")
    assert f".. autoclass:: {METHODS[name].kind.__name__}\n" in page
    index = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    assert f"[{name}]({name}.md)" in index
    assert re.search(rf"^{name}$", index, re.MULTILINE)


def test_the_recipe_names_the_places_that_these_tests_look_at():
    recipe = (
        (ROOT / "CONTRIBUTING.md")
        .read_text(encoding="utf-8")
        .split("## Add an option of a method")[1]
    )
    recipe = recipe.split("\n## Style")[0]
    for place in (
        "MethodKeywords",
        "Keywords",
        "__post_init__",
        "Settings",
        "ScoreOptions",
        "results/schema.py",
        "OTHERS",
        "CHANGES",
        "WRONG",
        "python tests/combinations.py",
    ):
        assert place in recipe, place
