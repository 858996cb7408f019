"""Every place that a rule of orientation has to be entered in; CONTRIBUTING.md lists them."""

import inspect
import re
from pathlib import Path

import pytest

from causalcontext.graphs.endpoints import GraphKind
from causalcontext.search import across, within
from causalcontext.search.rules import CHECKS, RULES

PAGE = (Path(__file__).parents[2] / "docs" / "orientation.md").read_text(encoding="utf-8")
PAG_PART = PAGE.index("## Where variables may be hidden")
PARTS = {GraphKind.CPDAG: PAGE[:PAG_PART], GraphKind.PAG: PAGE[PAG_PART:]}
NOT_RULES = {"if_physical"}
"""Takes a proposal, and yields it or not."""
ENTERED = {rule.propose for rule in RULES} | {check.edges for check in CHECKS}
PROPOSING = {
    f"{module.__name__}.{name}": function
    for module in (within, across)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
    and not name.startswith("_")
    and re.match(
        r"Iterator\[(Proposal|EndClaim|GraphEdge|tuple)",
        str(function.__annotations__.get("return")),
    )
    and name not in NOT_RULES
}


@pytest.mark.parametrize("name", PROPOSING)
def test_a_rule_is_entered(name):
    assert PROPOSING[name] in ENTERED, "enter it in RULES, or in CHECKS, of search/rules.py"


def test_the_functions_are_those_that_are_entered():
    """Nothing that is entered is missed by the test above."""
    assert {function for function in ENTERED if function is not None} == set(PROPOSING.values())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.kind} {rule.name}")
def test_a_rule_says_why(rule):
    assert rule.words, "write the words for `explain`"
    assert rule.rests_on, "say what is in doubt if the rule contradicts what is settled"
    if rule.propose is not None:
        assert rule.propose.__doc__, "write what the rule says, and of whom it is"


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.propose], ids=lambda rule: f"{rule.kind} {rule.name}"
)
def test_a_rule_is_in_the_docs_of_its_kind_of_graph(rule):
    assert f"| {rule.name} |" in PARTS[rule.kind], "add it to the table of docs/orientation.md"
