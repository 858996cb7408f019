"""What a test declares decides how it is treated, never its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.ci_tests.partial_correlation import Sandwich
from causalcontext.ci_tests.protocol import TRAITS, declared_traits
from causalcontext.ci_tests.registry import TESTS, Composite
from causalcontext.data.dataset import gaussian_ranks
from causalcontext.model_checks.violations import CURVES, ROWS, TAILS
from questions import suspicion_of, violations_of

SOURCE = Path(cc.__file__).parents[1]


@dataclass(frozen=True)
class Lines(Sandwich):
    """A test of one's own that declares nothing."""

    name: str = "lines of one's own"


@dataclass(frozen=True)
class Free(Lines):
    """The same, said to assume nothing but independent rows."""

    name: str = "free of one's own"
    model_free = True


@dataclass(frozen=True)
class Curves(Lines):
    """The same, said to see curves."""

    name: str = "curves of one's own"
    sees_curves = True


@dataclass(frozen=True)
class Ranks(Lines):
    """The same, said to look at normal scores."""

    name: str = "ranks of one's own"
    transforms = True


@pytest.fixture(scope="module")
def curved() -> pd.DataFrame:
    """X causes Y by a curve; the rows follow each other."""
    random = np.random.default_rng(3)
    x = np.convolve(random.normal(size=503), [1.0, 0.9, 0.8, 0.7], "valid")
    y = x**2 + x + np.convolve(random.normal(size=503), [0.5, 0.4, 0.3, 0.2], "valid")
    return pd.DataFrame({"X": x, "Y": y, "R": random.random(500) < 0.5})


@pytest.fixture(scope="module")
def warped() -> pd.DataFrame:
    """A line between X and Y, of which Y is shown on another scale."""
    random = np.random.default_rng(4)
    x = random.normal(size=500)
    y = gaussian_ranks(x + 0.5 * random.normal(size=500))
    return pd.DataFrame({"X": x, "Y": np.exp(2.0 * y), "R": random.random(500) < 0.5})


def kinds_found(table: pd.DataFrame, test: Lines) -> set[str]:
    result = cc.discover(table, "R", method="pc-ac", test=test)
    return {violation.kind for violation in violations_of(result)}


def test_model_checks_ask_for_what_a_test_of_ones_own_leaves_open(curved: pd.DataFrame) -> None:
    assert {CURVES, ROWS} <= kinds_found(curved, Lines())
    assert kinds_found(curved, Free()) == {ROWS}
    assert CURVES not in kinds_found(curved, Curves())
    assert ROWS in kinds_found(curved, Curves())


def test_model_checks_look_at_what_a_test_of_ones_own_looks_at(warped: pd.DataFrame) -> None:
    assert kinds_found(warped, Lines()) - {TAILS}
    assert kinds_found(warped, Ranks()) == set()


@pytest.mark.parametrize("test", [Lines(), Free(), Curves(), Ranks()], ids=lambda test: test.name)
def test_hidden_processes_are_asked_about_where_a_test_takes_lines(test: Lines) -> None:
    random = np.random.default_rng(5)
    noise = random.normal(size=(400, 2))
    values = np.zeros((400, 2))
    for row in range(1, 400):
        values[row] = 0.6 * values[row - 1] + 0.5 * values[row - 1, ::-1] * [0.0, 1.0] + noise[row]
    table = pd.DataFrame(values, columns=["A", "B"])
    result = cc.discover(table, method="pc-ac", lags=1, test=test, max_given=1)
    refused = "straight lines" in suspicion_of(result).why_not
    assert refused == (type(test) is not Lines)


def test_a_loaded_result_knows_what_its_test_declared(curved: pd.DataFrame, tmp_path: Path) -> None:
    result = cc.discover(curved, "R", method="pc-ac", test=Curves())
    result.save(tmp_path / "result.json", rows=True)
    loaded = cc.load(tmp_path / "result.json")
    assert loaded.settings.test_traits == ("sees_curves",)
    assert loaded == result


def test_what_is_offered_declares_itself() -> None:
    assert {
        name: declared_traits(test) for name, test in TESTS.items() if declared_traits(test)
    } == {
        "gaussian-ranks": ("transforms",),
        "basis": ("sees_curves",),
        "cmi-knn": ("model_free",),
    }
    assert declared_traits(Composite("both", (Ranks(), Free()))) == ("transforms",)
    assert len(TRAITS) == 3


def listed_names(tree: ast.AST) -> Iterator[str]:
    """The names of tests that a module compares with, or keeps in a list."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.Tuple | ast.List | ast.Set | ast.Dict):
            for inner in ast.iter_child_nodes(node):
                if isinstance(inner, ast.Constant) and inner.value in TESTS:
                    yield inner.value


LISTS_OF_NAMES = {
    "causalcontext/model_checks/violations.py": {
        "cmi-knn",
        "sandwich",
    },  # advice, whose words are calls
    "causalcontext/results/effects/fits.py": {"sandwich"},  # a kind of standard errors
    "causalcontext/results/effects/mechanics.py": {"sandwich"},  # the same
}
"""Where a name is written, and decides nothing."""


def test_nothing_is_decided_by_the_name_of_a_test() -> None:
    """A module that compares with the name of a test, or keeps a list of names, is listed here."""
    found: dict[str, set[str]] = {}
    for path in SOURCE.glob("causalcontext*/**/*.py"):
        names = set(listed_names(ast.parse(path.read_text())))
        if names:
            found[path.relative_to(SOURCE).as_posix()] = names
    assert found == LISTS_OF_NAMES
