"""Tables read what the search stored; what costs more is a question, and its answer is kept."""

import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc

ROWS = 1500
FORBIDDEN = ("search", "score", "diagnostics", "model_checks", "methods")
PLACES_OF_PAIRS = {("search/sepsets", "slot"), ("search/sepsets", "pairs_at")}
"""Where a pair stands in the log: arithmetic that lives beside the search."""
ACCESSORS: dict[str, Callable[[cc.ContextGraphs, Path], object]] = {
    "graphs": lambda result, path: result.graphs,
    "union": lambda result, path: result.union,
    "labeled_union": lambda result, path: result.labeled_union,
    "edges": lambda result, path: result.edges(),
    "labels": lambda result, path: result.labels(),
    "tests": lambda result, path: result.tests(),
    "scores": lambda result, path: result.scores(),
    "changes": lambda result, path: result.changes("dry", "wet"),
    "all changes": lambda result, path: result.changes(),
    "save": lambda result, path: result.save(path / "result.json"),
    "==": lambda result, path: result == result,
    "repr": lambda result, path: repr(result),
    "str": lambda result, path: str(result),
}


def lines() -> pd.DataFrame:
    """Straight mechanisms; C needs B in one context, and E has another level there."""
    rng = np.random.default_rng(0)
    wet = rng.integers(0, 2, ROWS)
    a = rng.normal(size=ROWS)
    b = 0.8 * a + rng.normal(size=ROWS)
    c = 0.9 * wet * b + rng.normal(size=ROWS)
    d = 0.7 * c + 0.5 * a + rng.normal(size=ROWS)
    e = 0.6 * d + wet + rng.normal(size=ROWS)
    f = 0.8 * e + rng.normal(size=ROWS)
    values = {"A": a, "B": b, "C": c, "D": d, "E": e, "F": f}
    return pd.DataFrame(values).assign(R=np.where(wet == 1, "wet", "dry"))


def curves() -> pd.DataFrame:
    """The same with curves."""
    table = lines()
    rng = np.random.default_rng(1)
    wet = (table["R"] == "wet").to_numpy()
    b = np.tanh(2.0 * table["A"]) + 0.5 * rng.normal(size=ROWS)
    c = np.where(wet, b**2, 0.0) + 0.7 * rng.normal(size=ROWS)
    d = np.sin(1.5 * c) + 0.5 * table["A"] + 0.6 * rng.normal(size=ROWS)
    return table.assign(B=b, C=c, D=d)


def mixed() -> pd.DataFrame:
    """The same with categories of two and of four levels."""
    table = lines()
    levels = np.digitize(table["D"], [-1.0, 0.0, 1.0])
    return table.assign(B=np.where(table["B"] > 0.0, "yes", "no"), D=np.array([*"pqrs"])[levels])


CASES = {
    "lines score-ac": (lines, "score-ac"),
    "curves score-ac": (curves, "score-ac"),
    "mixed pc-ac": (mixed, "pc-ac"),
}


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, str]:
    make, method = CASES[request.param]
    return make(), method


def entered(call: Callable[[], object]) -> set[tuple[str, str]]:
    """The functions of forbidden parts of the package that a call runs, by module."""
    seen = set()

    def look(frame, event, argument):
        file = frame.f_code.co_filename.replace("\\", "/")
        if event == "call" and "/causalcontext/" in file:
            module = file.rpartition("/causalcontext/")[2].removesuffix(".py")
            if module.partition("/")[0] in FORBIDDEN:
                seen.add((module, frame.f_code.co_name))

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen - PLACES_OF_PAIRS


@pytest.mark.parametrize("name", ACCESSORS)
def test_no_accessor_enters_a_search_or_a_check(case, name, tmp_path):
    table, method = case
    result = cc.discover(table, "R", method=method)
    assert entered(lambda: ACCESSORS[name](result, tmp_path)) == set()


def test_the_guard_sees_questions(case):
    table, method = case
    result = cc.discover(table, "R", method=method)
    assert {module.partition("/")[0] for module, _ in entered(result.diagnose)} >= {"diagnostics"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ACCESSORS)
def test_no_accessor_costs_a_tenth_of_a_search(case, name, tmp_path):
    table, method = case
    searches, reads = [], []
    for _ in range(7):
        start = process_time()
        result = cc.discover(table, "R", method=method)
        searches.append(process_time() - start)
        start = process_time()
        ACCESSORS[name](result, tmp_path)
        reads.append(process_time() - start)
    assert min(reads) < 0.1 * min(searches)
