"""What is compiled ahead is what searches call."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.tables import read_table
from causalcontext.kernels.calls import kind_of
from causalcontext.kernels.first_calls import CLIMBS, LEVELS, PARTS, SCORES, TESTS, Hands, compile_part
from causalcontext.kernels.orders.node_scores import calls_for, calls_kind, fit_call, fit_kind
from causalcontext.kernels.orders.selection import copy_call, copy_kind
from causalcontext.methods import first_run
from causalcontext.methods.first_run import SENTENCE, hands_for


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return cc.examples.soil_moisture(2000, seed=1)


@pytest.mark.parametrize(
    ("method", "hands", "more"),
    [("pc-ac", TESTS, 0), ("score-ac", SCORES, 0), ("score-ac", CLIMBS, 6), ("pc-m", LEVELS, 0)],
)
def test_types_are_those_of_a_search(method: str, hands: Hands, more: int, table: pd.DataFrame) -> None:
    """Of a table with so many more columns."""
    noise = pd.DataFrame(np.random.default_rng(1).normal(size=(len(table), more))).add_prefix("noise ")
    table = pd.concat([table, noise], axis=1)
    cc.discover(table, "soil", method=method)
    for hand in hands:
        for name in hand:
            for kernel, samples in PARTS[name].called():
                assert tuple(map(kind_of, samples)) in kernel.signatures, kernel


def test_types_of_pointers_are_those_of_a_search() -> None:
    assert kind_of(calls_kind()) == kind_of(calls_for(ordered=False))
    assert fit_kind() == kind_of(fit_call())
    assert copy_kind() == kind_of(copy_call())


@pytest.mark.parametrize("name", PARTS)
def test_parts_can_be_compiled(name: str) -> None:
    compile_part(PARTS[name])


def test_searches_need_their_parts(table: pd.DataFrame) -> None:
    signs = table.drop(columns="soil").gt(0.0).astype(str).assign(soil=table["soil"])
    numbers, words = read_table(table, "soil"), read_table(signs, "soil")
    wide = read_table(
        table.assign(more=table["runoff"] + np.arange(len(table)), still=np.arange(len(table)) % 7.5), "soil"
    )
    one = read_table(table.drop(columns="soil"), None)
    several = read_table(table.assign(half=np.arange(len(table)) % 2), ["soil", "half"])
    assert hands_for("auto", "auto", numbers) is SCORES
    assert hands_for("score-ac", "auto", numbers) is SCORES
    assert hands_for("auto", "auto", wide) is CLIMBS
    assert hands_for("pc-ac", "auto", numbers) is TESTS
    assert hands_for("auto", "auto", several) is TESTS
    assert hands_for("pc-m", "auto", numbers) is LEVELS
    assert hands_for("pc-ac", "partial-correlation", numbers) is LEVELS
    assert hands_for("pc-ac", "auto", one) is LEVELS
    assert hands_for("pc-ac", "cmi-knn", numbers) == ()
    assert hands_for("pc-ac", "auto", words) == ()


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
from numba.core import event
import causalcontext as cc
from causalcontext.kernels import beside
class Compiled(event.Listener):
    def on_start(self, happened):
        print("compiled", happened.data["dispatcher"].py_func.__name__)
    def on_end(self, happened):
        pass
beside._is_welcome = lambda: True
{spoiled}
with event.install_listener("numba:compile", Compiled()):
    result = cc.discover(cc.examples.soil_moisture(2000, seed=1), "soil", method={method!r})
assert not beside._running
print(result.labeled_union)
"""
DIES = 'beside._CALL = "raise SystemExit(1)"'


@pytest.mark.slow
@pytest.mark.parametrize(("method", "small"), [("pc-ac", []), ("score-ac", ["_write"])])
def test_the_first_search_finds_what_later_ones_find(
    method: str, small: list[str], table: pd.DataFrame, tmp_path: Path
) -> None:
    """Other processes compile all but what is small."""
    said = _cold_search(method, "", tmp_path)
    assert said == [*(f"compiled {name}" for name in small), *str(_union(table, method)).splitlines()]


@pytest.mark.slow
def test_the_first_search_does_without_other_processes(table: pd.DataFrame, tmp_path: Path) -> None:
    said = [line for line in _cold_search("pc-ac", DIES, tmp_path) if not line.startswith("compiled ")]
    assert said == str(_union(table, "pc-ac")).splitlines()


def _cold_search(method: str, spoiled: str, folder: Path) -> list[str]:
    call = [sys.executable, "-c", COLD.format(spoiled=spoiled, method=method)]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    run = subprocess.run(call, env=environment, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return run.stdout.splitlines()


def _union(table: pd.DataFrame, method: str) -> Any:
    return cc.discover(table, "soil", method=method).labeled_union


def test_a_part_that_no_search_needed_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no other process can be started, it stays away until it is needed: no sentence for that in every run."""
    started: list[object] = []
    there = {kernel for name in ("moments", "comparisons") for kernel in PARTS[name].kernels}
    monkeypatch.setattr(first_run, "_seen", set())
    monkeypatch.setattr(first_run, "is_on_disk", lambda kernel: kernel in there)
    monkeypatch.setattr(first_run, "compiled_beside", lambda jobs: started.extend(jobs) or nullcontext())
    with first_run.compiled_ahead(TESTS):
        assert not started
    with first_run.compiled_ahead(SCORES):
        assert [job.given for job in started] == list(SCORES)
