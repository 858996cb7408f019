"""Whatever asks about a pair is told the same: all pairs of ten tables, by `explain`, `changes`,
`labels`, `diagnose` and the report."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.examples import proteins
from causalcontext.report.payload import payload
from causalcontext.results.changes import WithinContexts, inside_words, why_inside_only
from causalcontext.results.explain import explained
from causalcontext_lab.simulate import random_model
from marks import rest_slow

OTHER_ROWS = re.compile(r"; (within .*?|on all rows) p [=<] (?P<p>[0-9.e+-]*[0-9])(?P<comma>,?)")
EXOGENOUS = cc.Knowledge(roots=["condition"])


def small(shape: str, rows: int) -> pd.DataFrame:
    return proteins(0, shape, rows)[["Raf", "Mek", "Erk", "Akt", "PKA", "condition"]]


def simpson(rows: int = 900) -> pd.DataFrame:
    """X and Y are dependent in both contexts, and not on all rows."""
    rng = np.random.default_rng(5)
    r, x, noise = rng.integers(2, size=rows), rng.standard_normal(rows), rng.standard_normal(rows)
    shift = 2.0 * r - 1.0
    y = 0.6 * x - 0.6 * shift + noise
    return pd.DataFrame({"X": x + shift, "Y": y, "Z": rng.standard_normal(rows), "R": r})


TABLES: dict[str, Callable[[], cc.ContextGraphs]] = {
    "soil": lambda: cc.discover(cc.examples.soil_moisture(1000, seed=1), "soil", method="pc-ac"),
    "little soil": lambda: cc.discover(
        cc.examples.soil_moisture(120, seed=3), "soil", test="partial-correlation", method="pc-ac"
    ),
    "proteins": lambda: cc.discover(
        small("log", 2000), "condition", alpha=0.01, test="partial-correlation", method="pc-ac"
    ),
    "raw proteins": lambda: cc.discover(
        small("raw", 1500), "condition", alpha=0.01, test="partial-correlation", method="pc-ac"
    ),
    "declared exogenous": lambda: cc.discover(
        small("log", 2000),
        "condition",
        alpha=0.01,
        knowledge=EXOGENOUS,
        test="partial-correlation",
        method="pc-ac",
    ),
    "Simpson": lambda: cc.discover(
        simpson(),
        "R",
        test="partial-correlation",
        knowledge=cc.Knowledge(roots=["R"]),
        method="pc-ac",
    ),
    "selection": lambda: cc.discover(
        cc.examples.example_i(1500, 1), "R", test="partial-correlation", method="pc-ac"
    ),
    "random": lambda: cc.discover(
        random_model(7, 0.5, seed=2, contexts=3).sample(900, 2), "R", method="pc-ac"
    ),
    "threshold": lambda: cc.discover(
        cc.examples.soil_moisture(800, seed=2).drop(columns="soil"),
        cc.threshold("radiation", 0.3),
        method="pc-ac",
    ),
    "masked": lambda: cc.discover(
        random_model(7, 0.5, seed=4, contexts=2).sample(900, 2), "R", method="pc-m"
    ),
    "score-ac": lambda: cc.discover(
        cc.examples.soil_moisture(1000, seed=1), "soil", method="score-ac"
    ),
}


FIRST = ("soil", "Simpson", "selection", "threshold", "masked", "score-ac")
every_table = pytest.mark.parametrize(
    "name", rest_slow([*FIRST, *sorted(TABLES.keys() - FIRST)], fast=len(FIRST))
)


@cache
def result_of(name: str) -> cc.ContextGraphs:
    return TABLES[name]()


@every_table
def test_explain_says_what_the_graphs_have(name: str) -> None:
    result = result_of(name)
    for x, y in itertools.combinations(result.names, 2):
        lines = explained(result, x, y, apart=True)
        for value, line in zip(result.contexts, lines, strict=True):
            mark = result.graphs[value].mark(x, y)
            assert line.startswith(
                f"present in {value} ({x} {mark} {y})" if mark else f"absent in {value}"
            )


@every_table
def test_explain_comments_on_what_sounds_otherwise(name: str) -> None:
    """A p-value on other rows that points the other way comes with its reason, and the reason is
    that of diagnose.
    """
    result, alpha = result_of(name), result_of(name).settings.alpha
    reason = why_inside_only(result)
    for x, y in itertools.combinations(result.names, 2):
        for line in explained(result, x, y, apart=True):
            found = OTHER_ROWS.search(line)
            if found is None:
                continue
            otherwise = line.startswith("present") == (float(found["p"]) > alpha)
            assert bool(found["comma"]) == otherwise, line
            if otherwise and line.startswith("absent") and "; within" in line:
                assert ("a common effect, can induce this" in line) == (
                    reason is WithinContexts.SELECTION
                )


@every_table
def test_labels_and_changes_follow_the_graphs(name: str) -> None:
    result = result_of(name)
    for row in result.labels().itertuples():
        assert (row.label == "present") == bool(
            result.graphs[row.context].mark(row.source, row.target)
        )
    for a, b in itertools.combinations(result.contexts, 2):
        for row in result.changes(a, b).itertuples():
            if row.kind == "edge":
                assert result.graphs[row.present].mark(row.source, row.target)
                assert not result.graphs[row.absent].mark(row.source, row.target)
                assert not (row.claimed and row.reason)


@every_table
def test_diagnose_and_changes_agree(name: str) -> None:
    """No mechanism differs for the one and not for the other; a claim that the support does not
    bear out is named.
    """
    result = result_of(name)
    for finding in result.diagnose().about("missing edge"):
        if "present" not in finding.evidence:
            continue
        found = finding.evidence
        for absent in found["all absent"]:
            assert result.graphs[found["present"]].mark(found["source"], found["target"])
            assert not result.graphs[absent].mark(found["source"], found["target"])
            changes = result.changes(found["present"], absent)
            pair = changes[
                changes["source"].isin([found["source"], found["target"]])
                & changes["target"].isin([found["source"], found["target"]])
            ]
            claimed = bool(pair["claimed"].any())
            assert ("the mechanism differs" in finding.message) <= claimed
            assert ("not claimed as a change" in finding.message) <= (not claimed)
            if claimed and found["cause"] != "mechanism":
                assert "changes() claims it" in finding.advice
    topics = {finding.topic for finding in result.diagnose() if "would link" in finding.message}
    assert topics <= {why_inside_only(result).value}


@every_table
def test_the_report_tells_the_same_stories(name: str) -> None:
    result = result_of(name)
    page = payload(result)
    for pair, told in zip(page["pairs"], page["stories"], strict=True):
        assert list(told) == explained(result, *(result.names[i] for i in pair), apart=True)


def test_cancellation_is_no_selection() -> None:
    result = result_of("Simpson")
    assert not result.graphs[0].mark("X", "Y")
    assert "Simpson" in result.explain("X", "Y")
    assert "may be chance" not in result.explain("X", "Y")
    assert "may be chance" in inside_words(result, 0.03)
    (finding,) = result.diagnose().about("cancellation")
    assert "a search within each context alone would link X and Y" in finding.message
    assert not [f for f in result.diagnose().about("selection bias") if "would link" in f.message]


def test_what_cancels_in_the_pool_is_found_by_the_method_that_is_advised() -> None:
    result = cc.discover(simpson(), "R", method="score-ac", knowledge=cc.Knowledge(roots=["R"]))
    assert all(graph.mark("X", "Y") for graph in result.graphs.values())
    assert "method='score-ac'" in result_of("Simpson").diagnose().about("cancellation")[0].advice
