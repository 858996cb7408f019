"""Every place that a CI test has to be entered in; CONTRIBUTING.md lists them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import causalcontext as cc
from causalcontext import ci_tests
from causalcontext.ci_tests.contingency import TableTest
from causalcontext.ci_tests.partial_correlation import LinearGaussian, Sandwich
from causalcontext.ci_tests.registry import TESTS, Composite, find_test
from causalcontext.ci_tests.rows import RowTest
from causalcontext.errors import OptionError

ROOT = Path(__file__).parents[2]
FUZZ = (ROOT / "tests" / "fuzz" / "ugly.py").read_text(encoding="utf-8")
RECIPE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## Add a CI test", 1)[1]
RECIPE = RECIPE.split("\n## ", 1)[0]
REPLICATED = {"regression-legacy"}
"""The published test, faults included, which is compared with what was published."""


BASES = (LinearGaussian, RowTest, TableTest)
"""What every test is one of."""


def classes() -> dict[str, type]:
    """The tests that are written in `ci_tests`, by name: what has a name and can be prepared."""
    tests = {}
    for module in iter_modules(ci_tests.__path__, f"{ci_tests.__name__}."):
        for _, kind in inspect.getmembers(import_module(module.name), inspect.isclass):
            own = kind.__module__ == module.name and issubclass(kind, BASES)
            name = getattr(kind, "name", None)
            if own and isinstance(name, str) and not inspect.isabstract(kind):
                tests[name] = kind
            elif own and not inspect.isabstract(kind) and kind not in BASES:
                tests[kind().name] = kind
    return tests


CLASSES = classes()


@pytest.mark.parametrize("name", CLASSES)
def test_a_test_is_in_the_registry(name):
    assert name in TESTS, "enter it in TESTS of ci_tests/registry.py"
    assert type(TESTS[name]) is CLASSES[name]


def test_the_classes_are_those_of_the_registry():
    """Nothing that is registered is missed by the test above."""
    composites = {name for name, test in TESTS.items() if isinstance(test, Composite)}
    assert set(CLASSES) | composites | REPLICATED == set(TESTS)


FOR_ALL = {"test_test_places.py", "test_declared.py"}
"""Files that look at all tests alike."""


@pytest.mark.parametrize("name", sorted(set(CLASSES) - REPLICATED))
def test_a_file_of_tests_names_it(name):
    files = [path for path in Path(__file__).parent.glob("test_*.py") if path.name not in FOR_ALL]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    assert f"{CLASSES[name].__name__}(" in text or f'"{name}"' in text, "test it in tests/ci_tests"


@pytest.mark.parametrize("name", sorted(set(CLASSES) - REPLICATED))
def test_a_test_is_drawn_by_the_fuzz(name):
    assert f'"{name}"' in FUZZ, "enter it in tests/fuzz/ugly.py"


def test_the_recipe_names_every_test_that_fails():
    for file in ("ci_tests/test_test_places", "ci_tests/test_auto", "test_bad_input"):
        assert f"tests/{file}.py" in RECIPE
        assert (ROOT / "tests" / f"{file}.py").is_file()


@dataclass(frozen=True)
class Other(RowTest):
    """A test of one's own that took a name of the library."""

    name: str = "cmi-knn"

    def compare(self, x, y, given, random):
        raise AssertionError


@dataclass(frozen=True)
class Stricter(Sandwich):
    """A kind of the library's test: it may keep the name."""


def test_a_name_of_the_library_is_not_given_to_another_test():
    with pytest.raises(OptionError, match="'cmi-knn', as a test of the library is"):
        cc.discover(cc.examples.soil_moisture(100, seed=1), "soil", method="pc-ac", test=Other())
    assert find_test(Stricter()).name == "sandwich"
