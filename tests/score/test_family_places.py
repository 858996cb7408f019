"""Every place that a family of mechanisms has to be entered in; CONTRIBUTING.md lists them."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from causalcontext.kernels.orders import fit_arrays
from causalcontext.kernels.rows import likelihoods
from causalcontext.score import data, design

NAIVE = (Path(__file__).parents[1] / "kernels" / "test_glm.py").read_text(encoding="utf-8")


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
HEADERS = Path(__file__).parents[2] / "src" / "kernels"
LIKELIHOODS = (HEADERS / "likelihoods.hpp").read_text(encoding="utf-8")


def test_families_have_the_same_numbers_in_both_languages():
    listed = re.search(r"enum Family : Int { (.*?) };", LIKELIHOODS)
    assert listed is not None
    assert {name: number for number, name in enumerate(listed[1].split(", "))} == FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_has_a_likelihood(name):
    assert f"case {name}:" in LIKELIHOODS, "choose its function in one_pass"


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_has_a_naive_twin(name):
    assert name in NAIVE, "compare it with a slow twin in tests/kernels/test_glm.py"


def test_the_kinds_of_responses_are_those_of_the_file():
    assert {name: getattr(fit_arrays, name) for name in KINDS} == KINDS
    line = "NUMBER, CLASS, ORDERED, HURDLE = range(4)\n"
    assert line in inspect.getsource(fit_arrays), "enter a new kind in KINDS here"


def test_kinds_of_responses_have_the_same_numbers_in_both_languages():
    text = (HEADERS / "fit_arrays.hpp").read_text(encoding="utf-8")
    assert f"enum {{ {', '.join(KINDS)} }};" in text, "enter the kind in src/kernels/fit_arrays.hpp"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("NUMBER", "CLASS")])
def test_a_kind_has_a_likelihood_of_its_own(kind):
    text = (HEADERS / "fits.hpp").read_text(encoding="utf-8")
    assert f"kind == {kind}" in text, "choose its likelihood in best_of_sets"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "NUMBER"])
def test_some_column_is_of_the_kind(kind):
    text = inspect.getsource(data) + inspect.getsource(design)
    assert text.count(kind) > 1, "KINDS of score/data.py or _fit_rows of score/design.py sets it"
