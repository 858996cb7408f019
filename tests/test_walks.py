"""The walks of CONTRIBUTING.md: the functions that a page names are entered, in the order it says."""

import ast
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.results.kept import answers_of

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = Path(cc.__file__).parent


def soil(rows=300):
    return cc.examples.soil_moisture(rows, seed=1)


def from_csv_to_report(folder):
    file = folder / "soil.csv"
    soil().to_csv(file, index=False)
    page = folder / "report.html"
    arguments = ["discover", str(file), "--context", "soil", "--report", str(page)]

    def walk():
        answer = CliRunner().invoke(app, arguments)
        assert answer.exit_code == 0, answer.output
        assert page.exists()

    return walk


def search_of_pc_ac(_):
    table = soil(500)
    return lambda: cc.discover(table, context="soil", method="pc-ac")


def a_rule_of_orientation(_):
    """V1 orients T --> Y in the paper's first example."""
    table = cc.examples.example_i(2000, 1)

    def walk():
        result = cc.discover(table, context="R", alpha=0.01, method="pc-ac")
        assert "by V1" in result.explain("T", "Y")

    return walk


def search_of_score_ac(_):
    table = soil()
    return lambda: cc.discover(table, context="soil", method="score-ac")


def search_with_lags(_):
    random = np.random.default_rng(1)
    n = 300
    season = np.where(np.arange(n) // 50 % 2, "wet", "dry")
    rain = random.normal(size=n)
    river = 0.8 * np.roll(rain, 1) + random.normal(size=n)
    table = pd.DataFrame({"season": season, "rain": rain, "river": river})
    return lambda: cc.discover(table, context="season", lags=1, method="pc-ac")


def claim_of_a_change(_):
    result = cc.discover(soil(), context="soil", method="score-ac")
    answers_of(result).compared.clear()

    def walk():
        assert result.changes("dry", "wet").claimed.any()

    return walk


WALKS = {
    "from a CSV file to a report": from_csv_to_report,
    "the search of PC-AC": search_of_pc_ac,
    "a rule of orientation": a_rule_of_orientation,
    "the search of score-ac": search_of_score_ac,
    "a search with lags": search_with_lags,
    "a claim that a context changes an edge": claim_of_a_change,
}
"""How each walk is made ready, in a folder of its own; it is then taken by calling what comes
back."""


def named(walk):
    """The functions of a walk as "file: name", in the order of the page."""
    text = PAGE.split(f"## Walk: {walk}\n", 1)[1].split("\n## ", 1)[0]
    return list(dict.fromkeys(re.findall(r"`([\w/]+\.py: [\w.]+)`", text)))


def entered(call):
    """The functions of the package that a call enters, as "file: name", in order of their first
    entry.
    """
    order = {}

    def look(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            path = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            order.setdefault(f"{path}: {code.co_qualname}", len(order))

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return order


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_goes_as_the_page_says(walk, tmp_path):
    functions = named(walk)
    assert len(functions) >= 10
    order = entered(WALKS[walk](tmp_path))
    assert [name for name in functions if name not in order] == []
    assert sorted(functions, key=order.__getitem__) == functions


def test_every_walk_of_the_page_is_walked():
    assert re.findall(r"^## Walk: (.*)$", PAGE, re.MULTILINE) == list(WALKS)


@cache
def names_in(path):
    """The functions, classes, their members and the constants of a file, as a page names them."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(ast.unparse(target) for target in targets)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            members = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            names.update(f"{node.name}.{member.name}" for member in members)
    return names


def file_named(path):
    """A file of the page: beside the package, under `src/`, or in the package."""
    return next((base / path for base in BASES if (base / path).is_file()), None)


BASES = (ROOT, ROOT / "src", PACKAGE)


def test_every_file_that_the_page_names_is_there():
    paths = set(re.findall(r"`([\w./-]+\.(?:py|md|toml))\b", PAGE))
    assert len(paths) > 50
    assert {path for path in paths if file_named(path) is None} == set()


def test_every_name_that_the_page_gives_with_a_file_is_there():
    pairs = set(re.findall(r"`([\w/]+\.py)(?:: |`: `)(\w+(?:\.\w+)?)`", PAGE))
    assert len(pairs) > 80
    assert {
        f"{path}: {name}" for path, name in pairs if name not in names_in(file_named(path))
    } == set()
