"""What `auto` picks for which kinds, that it never breaks, and that it finds the graphs of a mixed
system.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.ci_tests.registry import TESTS, find_test
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.examples import clinic_model
from causalcontext.views import CIQuery, Reason
from marks import rest_slow

PAGE = Path(__file__).parents[2] / "docs" / "tests.md"
KINDS = {
    "x": "continuous",
    "w": "continuous",
    "sex": "categorical",
    "town": "categorical",
    "grade": "ordered",
    "visits": "count",
    "R": "categorical",
}


def mixed_table(n: int = 240, seed: int = 0) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    x, w = generator.standard_normal((2, n))
    return pd.DataFrame(
        {
            "x": x,
            "w": w - x,
            "sex": generator.integers(2, size=n),
            "town": generator.integers(4, size=n),
            "grade": np.digitize(x + generator.standard_normal(n), (-1, 0, 1)),
            "visits": generator.poisson(np.exp(0.3 * w)),
            "R": generator.integers(3, size=n),
        }
    )


@pytest.mark.parametrize(
    ("x", "y", "given", "expected"),
    [
        ("x", "w", (), "partial-correlation"),
        ("x", "w", ("R",), "partial-correlation by context"),
        ("x", "R", ("w",), "robust-change"),
        ("sex", "x", ("town", "visits"), "robust-change"),
        ("sex", "town", ("grade",), "chi-squared"),  # fewer than ten rows a cell
        ("sex", "R", (), "g-squared"),
        ("sex", "town", ("x",), "tsagris"),
        ("x", "w", ("town",), "conditional-gaussian"),
        ("x", "w", ("visits",), "conditional-gaussian"),
        ("x", "grade", (), "tsagris"),
        ("visits", "R", (), "tsagris"),
        ("grade", "visits", ("sex",), "tsagris"),
    ],
)
def test_the_kinds_decide(x: str, y: str, given: tuple[str, ...], expected: str) -> None:
    data = read_table(mixed_table(), "R", kinds=KINDS)
    prepared = find_test("auto").prepare(data, gather_statistics(data))
    for first, second in ((x, y), (y, x)):
        query = CIQuery(
            data.position(first), data.position(second), tuple(data.position(z) for z in given)
        )
        found = prepared.answer([query])
        assert prepared.labels[found.label[0]].name == expected
        assert found.reason[0] == Reason.TESTABLE


def test_every_test_is_on_the_page() -> None:
    page = PAGE.read_text()
    assert [name for name in TESTS if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    "test", ["tsagris", "g-squared", "sandwich", "conditional-gaussian", "cautious-change"]
)
def test_a_test_by_name_answers_what_it_takes(test: str) -> None:
    result = cc.discover(
        mixed_table(160), context="R", kinds=KINDS, test=test, max_given=1, method="pc-ac"
    )
    used = set(result.tests()["test"]) - {""}
    assert test in used
    assert not (result.tests()["decision"] == "untestable").any()


@pytest.mark.parametrize("seed", rest_slow([1, 2, 3]))
def test_the_clinic_is_found(seed: int) -> None:
    result = cc.discover(
        cc.examples.clinic(1500, seed=seed),
        context="status",
        kinds={"visits": "count"},
        method="pc-ac",
    )
    truth = clinic_model().truth()
    for value, graph in result.graphs.items():
        names = graph.names
        wrong = [
            (a, b)
            for a, b in combinations(names, 2)
            if bool(graph.mark(a, b)) != bool(truth.descriptive[value].mark(a, b))
        ]
        assert len(wrong) <= 1, wrong


def test_neither_columns_nor_names_of_levels_nor_threads_matter() -> None:
    table = cc.examples.clinic(400, seed=4)
    kinds = {"visits": "count"}
    reference = cc.discover(table, context="status", kinds=kinds, method="pc-ac")
    renamed = table.assign(smoker=table["smoker"].map({"yes": "a", "no": "b"}))
    others = [
        cc.discover(table[list(table)[::-1]], context="status", kinds=kinds, method="pc-ac"),
        cc.discover(renamed, context="status", kinds=kinds, method="pc-ac"),
        cc.discover(table, context="status", kinds=kinds, n_jobs=2, method="pc-ac"),
    ]
    for other in others:
        for value, graph in reference.graphs.items():
            marks = {(a, b): graph.mark(a, b) for a, b in combinations(graph.names, 2)}
            assert marks == {(a, b): other.graphs[value].mark(a, b) for a, b in marks}


def ugly(case: str, seed: int = 0) -> pd.DataFrame:
    """A table with one of the usual troubles of categories."""
    generator = np.random.default_rng(seed)
    n = 120
    x, w = generator.standard_normal((2, n))
    town = generator.integers(3, size=n)
    table = pd.DataFrame({"x": x, "w": w, "town": town, "sex": generator.integers(2, size=n)})
    table["R"] = generator.integers(2, size=n)
    return {
        "separated": table.assign(sex=(x > 0).astype(int)),
        "separated by a category": table.assign(sex=(town > 0).astype(int)),
        "empty cells": table.assign(town=np.where(table["sex"] == 0, 0, town)),
        "one-level strata": table.assign(town=np.where(table["R"] == 0, 1, town)),
        "collinear dummies": table.assign(town=2 * table["sex"] + table["R"]),
        "many levels": table.assign(town=np.arange(n) % 40),
        "three rows": table.assign(R=(np.arange(n) < 3).astype(int)),
        "a rare level": table.assign(town=np.where(np.arange(n) == 0, 9, 0) + (np.arange(n) % 2)),
        "a copy": table.assign(w=table["x"]),
        "constant in a context": table.assign(x=np.where(table["R"] == 0, 1.0, x)),
    }[case]


CASES = (
    "separated",
    "separated by a category",
    "empty cells",
    "one-level strata",
    "collinear dummies",
    "many levels",
    "three rows",
    "a rare level",
    "a copy",
    "constant in a context",
)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("test", rest_slow(["auto", "tsagris", "cmi-knn"]))
def test_trouble_gets_a_verdict(case: str, test: str) -> None:
    table = ugly(case)
    data = read_table(table, "R", kinds={"town": "categorical", "sex": "categorical"})
    prepared = find_test(test).prepare(data, gather_statistics(data))
    places = range(len(data.names))
    queries = [
        CIQuery(a, b, given)
        for a, b in combinations(places, 2)
        for given in ((), *((c,) for c in places if c not in (a, b)))
    ]
    queries += [CIQuery(0, 1, (2,), 1 + level) for level in (0, 1)]
    found = prepared.answer(queries)
    for p, reason in zip(found.p, found.reason, strict=True):
        assert (reason == Reason.TESTABLE) == bool(0.0 <= p <= 1.0)


@pytest.mark.parametrize("test", ["auto", "tsagris"])
def test_separation_is_the_strongest_dependence(test: str) -> None:
    table = ugly("separated")
    result = cc.discover(
        table,
        "R",
        kinds={"town": "categorical", "sex": "categorical"},
        keep=["sex"],
        test=test,
        method="pc-ac",
    )
    assert all(graph.mark("x", "sex") for graph in result.graphs.values())
