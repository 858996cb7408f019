"""Tables read what the search stored; what costs more is a question, and its answer is kept."""

import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.results.changes import NOT_CONFIRMED
from causalcontext.results.kept import answers_of, questions_left

ROWS = 1500
FORBIDDEN = ("search", "score", "diagnostics", "model_checks")
RUN = ("methods/registry", "run_method")
"""What runs a method; the rest of that part writes down which one it was."""
ARITHMETIC = {
    ("search/sepsets", "slot"),
    ("search/sepsets", "pairs_at"),
    ("score/options", "__post_init__"),
    ("search/rules", "rule_named"),
    ("search/rules", "<genexpr>"),
}
"""Where a pair stands in the log, the record of options that a file has, and the words of a rule of
orientation: no search.
"""
NAMES_OF_WINDOWS = "search/lagged/plan"
"""The numbers of the nodes of a window, which mechanisms() reads: no search."""
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
MORE_ACCESSORS: dict[str, Callable[[cc.ContextGraphs, Path], object]] = {
    "html": lambda result, path: result._repr_html_(),
    "cautions": lambda result, path: result.cautions,
    "method": lambda result, path: result.method,
    "flagged_cells": lambda result, path: result.flagged_cells(),
    "explain": lambda result, path: result.explain(result.names[0], result.names[1]),
    "mechanisms": lambda result, path: result.mechanisms(),
    "reads": lambda result, path: result.reads,
    "windows": lambda result, path: result.windows,
    "summary": lambda result, path: result.summary,
    "slopes": lambda result, path: result.slopes(),
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
    "lines pc-ac": (lines, "pc-ac"),
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
            place = (module, frame.f_code.co_name)
            if module == NAMES_OF_WINDOWS:
                return
            if module.partition("/")[0] in FORBIDDEN or place == RUN:
                seen.add(place)

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen - ARITHMETIC


@pytest.mark.parametrize("name", ACCESSORS)
def test_no_accessor_enters_a_search_or_a_check(case, name, tmp_path):
    table, method = case
    result = cc.discover(table, "R", method=method)
    assert entered(lambda: ACCESSORS[name](result, tmp_path)) == set()


def few_rows(change: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table) -> pd.DataFrame:
    """The first 300 rows of `lines`, changed."""
    return change(lines().iloc[:300].copy())


def with_holes(table: pd.DataFrame) -> pd.DataFrame:
    """A tenth of the cells of two columns is missing."""
    return table.mask(np.random.default_rng(4).random(table.shape) < 0.1).assign(
        R=table["R"], A=table["A"], B=table["B"], F=table["F"]
    )


def in_time(table: pd.DataFrame) -> pd.DataFrame:
    """Three columns, one of which follows another a step later, in three units."""
    late = 0.7 * table["A"].shift(1, fill_value=0.0) + table["B"]
    return table[["A", "R"]].assign(B=late, C=table["C"], unit=np.arange(len(table)) // 100)


def two_contexts(table: pd.DataFrame) -> pd.DataFrame:
    """A second context, which nothing depends on."""
    return table.assign(S=np.where(np.arange(len(table)) % 2, "day", "night"))


def five_levels(table: pd.DataFrame) -> pd.DataFrame:
    """Five contexts, the most that a search compares at its end."""
    return table.assign(R=np.random.default_rng(5).integers(0, 5, len(table)))


def rare_level(table: pd.DataFrame) -> pd.DataFrame:
    """A value of the context that three rows have."""
    return table.assign(R=np.where(np.arange(len(table)) < 3, "moist", table["R"]))


RESULTS = {
    **{
        name: lambda name=name: cc.discover(few_rows(), "R", method=name)
        for name in ("auto", "score-ac", "pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac")
    },
    **{
        f"{what}, {name}": lambda name=name, change=change, context=context, keywords=keywords: (
            cc.discover(few_rows(change), context, method=name, **keywords)
        )
        for name in ("score-ac", "pc-ac", "fci-ac")
        for what, change, context, keywords in (
            ("no context", lambda table: table.drop(columns="R"), None, {}),
            ("several contexts", two_contexts, ["R", "S"], {}),
            ("five contexts", five_levels, "R", {}),
            ("threshold", lambda table: table.drop(columns="R"), cc.threshold("A", 0.1), {}),
            ("missing cells", with_holes, "R", {"missing": "model"}),
            ("few rows of a level", rare_level, "R", {}),
            ("lags", lambda table: in_time(table).drop(columns="unit"), "R", {"lags": 1}),
            ("panel", in_time, "R", {"lags": 1, "units": "unit"}),
        )
    },
    "best cut": lambda: cc.discover(
        few_rows(lambda table: table.drop(columns="R")),
        cc.threshold("A", "best"),
        method="score-ac",
    ),
}


def hidden_work(result: cc.ContextGraphs, path: Path) -> dict[str, set[tuple[str, str]]]:
    """The accessors of a result that run forbidden parts of the package, with the functions."""
    guilty = {}
    for name, read in (ACCESSORS | MORE_ACCESSORS).items():
        if name == "changes" and not {"dry", "wet"} <= set(result.contexts):
            continue

        def call(read=read):
            with suppress(cc.CausalContextError):  # what such a result does not have
                read(result, path)

        if functions := entered(call):
            guilty[name] = functions
    return guilty


SLOW = ("fci-ac", "few rows of a level", "panel", "threshold")
"""Parts of the names of results that are read by the slow tests alone; of fci-ac a plain one is
fast.
"""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (", " in name and any(map(name.count, SLOW))))
        for name in RESULTS
    ],
)
def test_no_accessor_of_any_result_enters_a_search_or_a_check(name, tmp_path):
    result = RESULTS[name]()
    assert hidden_work(result, tmp_path) == {}
    result.save(tmp_path / "saved.json")
    assert hidden_work(cc.load(tmp_path / "saved.json"), tmp_path) == {}


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


@pytest.mark.slow
@pytest.mark.parametrize("method", ["score-ac", "pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac"])
def test_the_first_changes_of_five_contexts_cost_no_tenth_of_a_search(method):
    table = five_levels(lines())
    searches, reads = [], []
    for _ in range(5):
        start = process_time()
        result = cc.discover(table, "R", method=method)
        searches.append(process_time() - start)
        start = process_time()
        result.changes()
        reads.append(process_time() - start)
    assert min(reads) < 0.1 * min(searches)


@pytest.mark.parametrize("method", ["score-ac", "pc-ac"])
def test_a_search_compares_up_to_five_contexts(method):
    result = cc.discover(five_levels(few_rows()), "R", method=method)
    assert len(answers_of(result).compared) == 10


def test_the_changes_of_many_contexts_are_a_question_with_a_bar(tmp_path):
    table = few_rows().assign(R=np.random.default_rng(5).integers(0, 6, 300))
    result = cc.discover(table, "R", method="pc-ac")
    assert not answers_of(result).compared
    told = []
    changes = result.changes(progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 15) for done in range(16)]
    assert len(answers_of(result).compared) == 15
    pd.testing.assert_frame_equal(result.changes(), changes)
    result.save(tmp_path / "result.json")
    pd.testing.assert_frame_equal(cc.load(tmp_path / "result.json").changes(), changes)


def test_questions_that_may_take_long_report_how_far_they_are():
    result = cc.discover(few_rows(), "R", method="score-ac")
    told = []
    result.probabilities(progress=lambda done, total: told.append((done, total)))
    assert told == [(done, len(told)) for done in range(len(told))]
    told.clear()
    pairs = len(
        result.effects(progress=lambda *counts: told.append(counts))[["x", "y"]].value_counts()
    )
    assert told == [(done, pairs) for done in range(1, pairs + 1)]
    told.clear()
    result.effects("A", "B", samples=20, progress=lambda *counts: told.append(counts))
    assert told == [(done, 20) for done in range(1, 21)]


def test_an_empty_table_prints_why_it_is_empty():
    result = cc.discover(few_rows(), "R", method="pc-ac")
    table = result.probabilities()
    assert table.attrs["reason"] == "the graphs were not found by score-ac"
    assert repr(table) == (
        "no rows: the graphs were not found by score-ac\n"
        "columns: context, x, y, edge, cause, ancestor"
    )
    assert "found by score-ac" in table._repr_html_()
    assert isinstance(table, pd.DataFrame)
    assert type(table.copy()) is pd.DataFrame
    assert repr(pickle.loads(pickle.dumps(table))) == repr(table)


@pytest.mark.parametrize("wrong", ["x", 0.0, 1.5, True, None])
def test_a_bound_of_labels_that_is_no_correlation_is_refused(wrong):
    result = cc.discover(few_rows(), "R", method="pc-ac")
    with pytest.raises(cc.OptionError, match=r"^negligible is .*, expected a number between 0 and"):
        result.labels(wrong)


def test_a_slope_that_shrinks_is_a_candidate_until_another_engine_says_so():
    """From 1.0 to 0.4 on a link that both contexts have: tests model no slopes, but compare them."""
    rng = np.random.default_rng(3)
    wet = rng.integers(0, 2, 2000)
    u, x, y = rng.normal(size=(3, 2000))
    y = np.where(wet == 1, 0.4, 1.0) * x + 0.6 * u + y
    table = pd.DataFrame({"U": u, "X": x, "Y": y, "R": np.where(wet == 1, "wet", "dry")})
    result = cc.discover(table, "R", method="pc-ac")
    (row,) = result.changes().query("kind == 'slope' and source == 'X'").itertuples()
    assert (row.target, row.status, row.claimed, row.reason) == (
        "Y",
        "candidate",
        False,
        NOT_CONFIRMED,
    )
    assert row.effect_present == pytest.approx(1.0, abs=0.1)
    assert row.effect_absent == pytest.approx(0.4, abs=0.1)
    result.second_opinion()
    (row,) = result.changes().query("kind == 'slope' and source == 'X'").itertuples()
    assert (row.status, row.claimed, row.reason) == ("claimed", True, "")


def test_slopes_that_are_the_same_are_not_listed():
    listed = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 400))
        table = pd.DataFrame({"X": x, "Y": 0.8 * x + y, "R": rng.integers(0, 2, 400)})
        result = cc.discover(table, "R", method="pc-ac")
        listed += int((result.changes()["kind"] == "slope").sum())
    assert listed <= 2


def test_answers_are_kept_shown_and_saved(tmp_path):
    result = cc.discover(lines(), "R", method="score-ac")
    assert len(questions_left(result)) == 2
    assert set(result.edges()["hidden cause"]) == {"not asked"}
    assert result.edges()[["p_edge", "stability"]].isna().all(axis=None)
    diagnosis = result.diagnose()
    assert result.diagnose() is diagnosis
    shares = result.stability(5)
    result.probabilities()
    assert questions_left(result) == []
    assert "not seen" in set(result.edges()["hidden cause"])
    assert result.edges()[["p_edge", "stability"]].notna().all(axis=None)
    result.save(tmp_path / "result.json")
    loaded = cc.load(tmp_path / "result.json")
    assert str(loaded.diagnose()) == str(diagnosis)
    assert loaded.diagnose().to_list() == diagnosis.to_list()
    pd.testing.assert_frame_equal(answers_of(loaded).stability.edges(), shares.edges())
    pd.testing.assert_frame_equal(answers_of(loaded).stability.labels(), shares.labels())
    pd.testing.assert_frame_equal(loaded.edges(), result.edges())
    pd.testing.assert_frame_equal(loaded.changes(), result.changes())


def test_other_graphs_keep_no_answers():
    result = cc.discover(lines(), "R", method="score-ac")
    result.diagnose()
    other = result.with_graphs(dict(result.graphs))
    assert answers_of(other).diagnosis is None
    assert not other.changes()["claimed"].any()
