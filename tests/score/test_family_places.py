"""Every place that a family of mechanisms has to be entered in; CONTRIBUTING.md lists them."""

import ast
import inspect
from pathlib import Path

import pytest

from causalcontext.kernels.orders import fit_arrays, fits
from causalcontext.kernels.rows import likelihoods
from causalcontext.score import data, design, workspace

NAIVE = (Path(__file__).parents[1] / "kernels" / "test_glm.py").read_text(encoding="utf-8")


def functions_of_passes():
    """The likelihoods that are written in the file: all that end in `_pass` but the caller."""
    body = ast.parse(inspect.getsource(likelihoods)).body
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    return [
        name
        for name in names
        if name.endswith("_pass") and name != "call_pass" and not name.startswith("_")
    ]


def families():
    """The numbers of the families by name: the block of constants that begins with `LOGIT`."""
    numbers = {}
    for node in ast.parse(inspect.getsource(likelihoods)).body:
        if isinstance(node, ast.Assign) and (numbers or ast.unparse(node.targets[0]) == "LOGIT"):
            numbers[ast.unparse(node.targets[0])] = ast.literal_eval(node.value)
        elif numbers:
            break
    return numbers


FAMILIES = families()
KINDS = dict(zip(("NUMBER", "CLASS", "ORDERED", "HURDLE"), range(4), strict=True))
"""Kinds of responses in `kernels/orders/fit_arrays.py`, by which a fit chooses a likelihood."""
PASSES_OF_A_FIT = [name for name in fit_arrays.Calls._fields if name.endswith("_pass")]


def test_a_likelihood_is_listed_at_its_number():
    listed = [each._function.__name__ for each in likelihoods.PASSES]
    assert listed == functions_of_passes(), "enter it in PASSES, in the order of the numbers"
    assert list(FAMILIES.values()) == list(range(len(listed)))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_has_a_naive_twin(name):
    assert name in NAIVE, "compare it with a slow twin in tests/kernels/test_glm.py"


def test_the_kinds_of_responses_are_those_of_the_file():
    assert {name: getattr(fit_arrays, name) for name in KINDS} == KINDS
    line = "NUMBER, CLASS, ORDERED, HURDLE = range(4)\n"
    assert line in inspect.getsource(fit_arrays), "enter a new kind in KINDS here"


@pytest.mark.parametrize("name", PASSES_OF_A_FIT)
def test_a_likelihood_that_a_fit_is_given_is_taken_for_a_kind(name):
    assert f"calls.{name}" in inspect.getsource(fits._pass_of), "choose it in _pass_of of fits.py"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "NUMBER"])
def test_some_column_is_of_the_kind(kind):
    text = inspect.getsource(data) + inspect.getsource(design)
    assert text.count(kind) > 1, "KINDS of score/data.py or _fit_rows of score/design.py sets it"


@pytest.mark.parametrize("kind", ["ORDERED", "HURDLE"])
def test_a_likelihood_is_compiled_where_a_node_needs_it(kind):
    assert f"kinds == {kind}" in inspect.getsource(workspace.FitWorkspace.__init__)
