"""The walks of CONTRIBUTING.md: the functions that a page names are entered, in the order it says."""

import re
import sys
from pathlib import Path

import pytest

import causalcontext as cc

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGE = str(Path(cc.__file__).parent)


def search_of_pc_ac():
    table = cc.examples.soil_moisture(500, seed=1)
    cc.discover(table, context="soil", method="pc-ac")


def a_rule_of_orientation():
    """V1 orients T --> Y in the paper's first example."""
    table = cc.examples.example_i(2000, 1)
    result = cc.discover(table, context="R", alpha=0.01, method="pc-ac")
    assert "by V1" in result.explain("T", "Y")


WALKS = {"the search of PC-AC": search_of_pc_ac, "a rule of orientation": a_rule_of_orientation}


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
        if event == "call" and code.co_filename.startswith(PACKAGE):
            path = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            order.setdefault(f"{path}: {code.co_qualname}", len(order))

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return order


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_goes_as_the_page_says(walk):
    functions = named(walk)
    assert len(functions) >= 10
    order = entered(WALKS[walk])
    assert [name for name in functions if name not in order] == []
    assert sorted(functions, key=order.__getitem__) == functions


def test_every_walk_of_the_page_is_walked():
    assert re.findall(r"^## Walk: (.*)$", PAGE, re.MULTILINE) == list(WALKS)
