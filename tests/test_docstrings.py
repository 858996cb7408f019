"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
from pathlib import Path

import pytest

import causalcontext

SOURCE = Path(causalcontext.__file__).parents[1]
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(SOURCE.glob("causalcontext*/**/*.py"))
    if path.stem != "__main__" and ">>>" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    # Long sentences are wrapped in docstrings, not where they are printed.
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted
    assert found.failed == 0
