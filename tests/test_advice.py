"""Each place speaks its own language: Python in messages, options on the command line, labels in
the app.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.report.advice import KNOWN, in_the_app, on_the_command_line
from causalcontext.report.html import page
from causalcontext.report.payload import Section, _section
from causalcontext.results.words import p_text, p_words, share_text

PACKAGE = Path(cc.__file__).parent
OTHER_DOORS = ("cli", "options.py")
"""What speaks to no user of Python."""


def text_of(node: ast.expr) -> str | None:
    """A text of the source with `x` in place of what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
            else:
                parts.append(
                    "'x'"
                    if isinstance(part, ast.FormattedValue) and part.conversion == ord("r")
                    else "x"
                )
        return "".join(parts)
    return None


def messages() -> list[str]:
    """Every text of several words in the library that is no docstring."""
    found = []
    calibration = {*(PACKAGE.parent / "causalcontext_lab" / "calibration").rglob("*.py")}
    core = {*PACKAGE.rglob("*.py")} - {PACKAGE / "report" / "advice.py"}
    for file in sorted(core | calibration):
        if file in core and file.relative_to(PACKAGE).parts[0] in OTHER_DOORS:
            continue
        tree = ast.parse(file.read_text())
        inside = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in node.values
        }
        plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            text = (
                text_of(node)
                if isinstance(node, ast.expr) and id(node) not in inside | plain
                else None
            )
            if text is not None and " " in text.strip():
                found.append(text)
    return found


MESSAGES = messages()
OPTION = re.compile(rf"(?<![\w.])({'|'.join(KNOWN)}|context)=(?!=)")


METHOD = re.compile(r"(?<![\w.])[a-z_]+\(\)|\bresult\.|\bfind_contexts\b|\bor None\b|rows=True")
UNREACHED = re.compile(
    r"\bto_dags|reset_index|answer_names|expected what result\.stability"
    r"|None to draw|pair == @row|None for the default|will be gone in the next version"
)
"""What is said of calls that neither the command line nor the app makes."""


def test_methods_of_a_result_are_named_in_python_alone() -> None:
    named = [text for text in MESSAGES if METHOD.search(text) and not UNREACHED.search(text)]
    assert len(named) > 20
    for text in named:
        assert not METHOD.search(on_the_command_line(text)), on_the_command_line(text)
    for text in named:
        assert "()" not in in_the_app(text), in_the_app(text)


def test_a_report_speaks_the_language_of_its_place(tmp_path: Path) -> None:
    """Cards in place of methods; options as Python, the command line or the app call them."""
    table = cc.examples.soil_moisture(300, seed=1)
    result = cc.discover(table, "soil", method="pc-ac", test="partial-correlation")
    note = "look at flagged_cells(); if these values are right, pass wrong_cells='keep'"
    result = replace(result, warnings=(note,))
    python, command, browser = (
        page(result),
        page(result, spoken=on_the_command_line),
        page(result, spoken=in_the_app),
    )
    for text in (python, command, browser):
        assert "flagged_cells()" not in text
        assert "look at the table &#x27;Cells taken for wrong&#x27; of the report" in text
    for text in (python, command):
        assert "Check stability" not in text
        assert "the table &#x27;Diagnosis&#x27;" not in text  # it was not asked for
    assert "result.diagnose()" in python
    assert "result.stability()" in python
    assert "causalcontext stability" in command
    assert "Check stability" in browser
    assert "pass wrong_cells=&#x27;keep&#x27;" in python
    assert "pass --wrong-cells keep" in command
    assert "pass wrong cells: keep" in browser
    result.save(tmp_path / "result.json")
    answer = CliRunner().invoke(app, ["report", str(tmp_path / "result.json")])
    assert answer.exit_code == 0
    assert "pass --wrong-cells keep" in (tmp_path / "result.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--method", "pc-ac", "--max-given", "-2"),
            "--max-given is -2, expected a whole number from 0",
        ),
        (("--kind", "nope=count"), "--kind has 'nope', which is not in the table"),
        (
            ("--context-lags", "a", "--lags", "1"),
            "--context-lags is 'a', expected whole numbers from 0 such as 0,1",
        ),
        (("--time-limit", "0"), "--time-limit is 0.0, expected a positive number of seconds"),
        (("--lags", "-1"), "--lags is -1, expected a whole number from 1"),
        (
            ("--alpha", "0.01"),
            "--alpha belongs to methods that test: pass --method pc-ac --alpha 0.01",
        ),
        (
            ("--cycle", "time:1D"),
            "covariates and cycles are for rows that follow each other in time; pass --lags N too,"
            " such as --lags 3",
        ),
        (("--drop", "soil"), "column 'soil' is the context, and --drop leaves it out"),
        (("--context", "soil"), "context names 'soil' twice, expected different column names"),
        (
            ("--context", "runoff bins 1"),
            "the number of bins of 'runoff' is 1, expected a whole number from 2",
        ),
    ],
)
def test_errors_on_the_command_line_have_no_values_of_python(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "soil.csv"
    cc.examples.soil_moisture(60, seed=1).to_csv(file, index=False)
    answer = CliRunner().invoke(app, ["discover", str(file), "--context", "soil", *words])
    assert answer.stderr == f"error: {said}\n"


def test_messages_of_the_library_name_no_flags() -> None:
    flags = [
        text
        for text in MESSAGES
        if re.search(r"(?<![\w-])--[a-z]{2,}", text) and not text.startswith("python ")
    ]
    assert flags == []


def test_no_message_on_the_command_line_is_in_python() -> None:
    advice = [text for text in MESSAGES if OPTION.search(text)]
    assert len(advice) > 50
    for text in advice:
        said = on_the_command_line(text)
        assert not OPTION.search(said), (text, said)
        assert "--" in said, (text, said)
        assert "pandas" not in said, said
    for text in MESSAGES:
        assert "pandas.read_csv" not in on_the_command_line(f"do this, or {text}"), text
        assert "pandas.read_csv" not in in_the_app(f"do this, or {text}"), text


@pytest.mark.parametrize(
    ("python", "command"),
    [
        (
            "pass kinds={'PID': 'ordered'}, or 'categorical'",
            "pass --kind PID=ordered, or 'categorical'",
        ),
        ("kinds={'my grade': 'count'}", "--kind 'my grade=count'"),
        (
            'pass missing="model" to use all, "listwise" to drop rows, or "testwise" to drop them',
            "pass --missing model to use all, --missing listwise to drop rows, or --missing"
            " testwise to drop them",
        ),
        ("pass na_values=['.', 'NA']", "pass --na=.,NA"),
        ("pass na_values=[-9999]", "pass --na=-9999"),
        (
            "leave alpha out, or pass method='score-ac'",
            "leave --alpha out, or pass --method score-ac",
        ),
        (
            "if rows follow each other in time pass time='day' with lags=..., such as lags=3",
            "if rows follow each other in time pass --time day with --lags N, such as --lags 3",
        ),
        (
            'declare it: context=cc.threshold("VPD", 0.6), without the column R',
            "declare it: --context 'VPD > 0.6', without the column R",
        ),
        (
            'cc.bins("T", edges=[0.3, 0.6]) among the contexts',
            "'T bins 0.3,0.6' among the contexts",
        ),
        ("pass knowledge=cc.Knowledge(tiers=...)", "pass --knowledge FILE with tiers"),
        (
            "pass strict=True, or context_confounded=False",
            "pass --strict, or --no-context-confounded",
        ),
        ("pass a larger sample=, or method='pc-ac'", "pass a larger --sample, or --method pc-ac"),
        (
            "max_given is -1, expected a whole number from 0",
            "--max-given is -1, expected a whole number from 0",
        ),
        ("a column x_missing=3 stays", "a column x_missing=3 stays"),
        (
            "holds dates (time='admitted' with lags=... makes use of it)",
            "holds dates (--time admitted with --lags N makes use of it)",
        ),
        ("pandas.DataFrame(columns=3)", "pandas.DataFrame(columns=3)"),
    ],
)
def test_what_the_command_line_says(python: str, command: str) -> None:
    said = on_the_command_line(python)
    assert said.replace("--na=.,NA", "--na .,NA") == command.replace("--na=.,NA", "--na .,NA")


def test_each_door(tmp_path: Path) -> None:
    """The same two faults of a table, in Python and on the command line; what is written as JSON
    speaks Python.
    """
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.standard_normal((60, 3)), columns=list("ABC")).assign(
        R=["a", "b"] * 30
    )
    table.loc[3, "A"] = np.nan
    file = tmp_path / "data.csv"
    table.to_csv(file, index=False)
    (problem,) = cc.check(table, "R").problems
    assert (
        "pass missing='model', which uses every observed cell, or missing='listwise' to drop"
        in problem
    )
    shown = CliRunner().invoke(app, ["check", str(file), "--context", "R"], env={"COLUMNS": "300"})
    assert (
        "pass --missing model, which uses every observed cell, or --missing listwise to drop"
        in shown.stdout
    )
    told = CliRunner().invoke(app, ["check", str(file), "--context", "R", "--json", "-"])
    assert json.loads(told.stdout)["problems"] == [problem]
    assert "pass missing: model, which" in in_the_app(problem)
    semicolons = tmp_path / "semicolons.csv"
    semicolons.write_text("A;B;C;R\n1,2,3,a\n")
    with pytest.raises(cc.FileError, match=r"or pass pandas\.read_csv\(path, sep=';'\)$"):
        cc.read_file(semicolons)
    answer = CliRunner().invoke(app, ["check", str(semicolons)])
    assert answer.stderr.endswith("are its columns separated by ';'? Save it with ','\n")


def test_no_p_value_and_no_probability_is_written_as_zero_or_one() -> None:
    assert [p_text(p) for p in (1.0, 0.0, 1e-300, 3e-17, 2e-5, 0.04)] == [
        "> 0.99",
        "< 1e-16",
        "< 1e-16",
        "< 1e-16",
        "2e-05",
        "0.04",
    ]
    assert [p_words(p) for p in (0.0, 0.04)] == ["p < 1e-16", "p = 0.04"]
    assert [share_text(share) for share in (0.0, 0.004, 0.5, 1.0)] == [
        "< 0.01",
        "< 0.01",
        "0.50",
        "> 0.99",
    ]
    sections = [
        Section("Tests", (), pd.DataFrame({"x": ["A"], "p": [0.0], "q": [1e-20], "size": [0.0]}))
    ]
    assert [_section(section)["rows"] for section in sections] == [
        [["A", "< 1e-16", "< 1e-16", "0"]]
    ]


def test_models_that_score_the_same_have_no_margin() -> None:
    table = cc.examples.soil_moisture(500, seed=1)
    edges = cc.discover(table, "soil").edges()
    undirected = edges[edges["mark"] == "o-o"]
    assert len(undirected) > 0
    assert set(undirected["margin"]) <= {0.0}


def test_claims_in_a_file_without_rows_say_how_to_keep_them() -> None:
    said = "it cannot be tested again, since the file has no rows: save the result with rows=True"
    assert on_the_command_line(said).endswith("the file has no rows: search again with --keep-rows")
