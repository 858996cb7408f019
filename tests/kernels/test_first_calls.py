"""What is compiled ahead is what searches call."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.tables import read_table
from causalcontext.kernels import first_calls
from causalcontext.kernels.calls import kind_of
from causalcontext.kernels.first_calls import LEVELS, SCORES, TESTS, comparing, proposing, scoring, searching, voting
from causalcontext.kernels.orders.node_scores import calls_for, calls_kind, fit_call, fit_kind
from causalcontext.methods import first_run
from causalcontext.methods.first_run import SENTENCE, halves_for


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return cc.examples.soil_moisture(2000, seed=1)


def test_types_are_those_of_a_search_by_tests(table: pd.DataFrame) -> None:
    cc.discover(table, "soil", method="pc-ac")
    for kernel, samples in (*searching(), *voting(), *comparing()):
        assert tuple(map(kind_of, samples)) in kernel.signatures, kernel


def test_types_are_those_of_a_search_by_scores(table: pd.DataFrame) -> None:
    cc.discover(table, "soil", method="score-ac")
    for kernel, samples in (*scoring(), *proposing()):
        assert tuple(map(kind_of, samples)) in kernel.signatures, kernel
    assert kind_of(calls_kind()) == kind_of(calls_for(ordered=False))
    assert fit_kind() == kind_of(fit_call())


@pytest.mark.parametrize("part", ["search", "votes", "levels", "changes", "numbers", "classes"])
def test_parts_can_be_compiled(part: str) -> None:
    getattr(first_calls, f"compile_{part}")()


def test_searches_need_their_halves(table: pd.DataFrame) -> None:
    signs = table.drop(columns="soil").gt(0.0).astype(str).assign(soil=table["soil"])
    numbers, words = read_table(table, "soil"), read_table(signs, "soil")
    one = read_table(table.drop(columns="soil"), None)
    several = read_table(table.assign(half=np.arange(len(table)) % 2), ["soil", "half"])
    assert halves_for("auto", "auto", numbers) is SCORES
    assert halves_for("score-ac", "auto", numbers) is SCORES
    assert halves_for("pc-ac", "auto", numbers) is TESTS
    assert halves_for("auto", "auto", several) is TESTS
    assert halves_for("pc-m", "auto", numbers) is LEVELS
    assert halves_for("pc-ac", "partial-correlation", numbers) is LEVELS
    assert halves_for("pc-ac", "auto", one) is LEVELS
    assert halves_for("pc-ac", "cmi-knn", numbers) is None
    assert halves_for("pc-ac", "auto", words) is None


@pytest.mark.parametrize("there", [True, False])
def test_a_search_says_once_that_it_compiles(
    there: bool, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(first_run, "_seen", set())
    monkeypatch.setattr(first_run, "is_on_disk", lambda kernel: there)
    monkeypatch.setattr("causalcontext.kernels.beside._is_welcome", lambda: False)
    monkeypatch.setattr(first_run, "logger", logging.getLogger("a search that compiles"))
    with caplog.at_level(logging.INFO, "a search that compiles"):
        for _ in range(2):
            cc.discover(table, "soil", test="partial-correlation")
    assert caplog.messages == ([] if there else [SENTENCE])


COLD = """
import causalcontext as cc
from causalcontext.kernels import beside
beside._is_welcome = lambda: True
{spoiled}
result = cc.discover(cc.examples.soil_moisture(2000, seed=1), "soil", method="pc-ac")
assert not beside._running
print(result.labeled_union)
"""
DIES = 'beside._CALL = "raise SystemExit(1)"'


@pytest.mark.slow
@pytest.mark.parametrize("spoiled", ["", DIES])
def test_the_first_search_finds_what_later_ones_find(spoiled: str, table: pd.DataFrame, tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    call = [sys.executable, "-c", COLD.format(spoiled=spoiled)]
    run = subprocess.run(call, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == f"{cc.discover(table, 'soil', method='pc-ac').labeled_union}\n"
    assert run.stderr == ""
