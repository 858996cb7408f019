"""The kernels of the card, run by numba's simulator, and what is said where there is no card."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.ci_tests.cmi_knn import CmiKnn
from causalcontext.ci_tests.registry import (
    find_test,
    note_on_device,
    on_device,
    usable_device,
)
from causalcontext.errors import OptionError
from causalcontext.kernels.cuda import card

HERE = Path(__file__).parent


@pytest.mark.slow
def test_kernels_of_the_card_answer_as_those_of_the_processor():
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    run = subprocess.run(
        [sys.executable, str(HERE / "cuda_in_simulator.py")],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def test_without_a_card_auto_says_why_and_gives_the_same_result(monkeypatch):
    monkeypatch.setattr(card, "obstacle", lambda: "no CUDA card was found")
    table = cc.examples.soil_moisture(300, seed=1)
    result = cc.discover(table, context="soil", device="auto", method="pc-ac")
    assert result.notes == ("device 'auto' uses the processor: no CUDA card was found",)
    assert result.graphs == cc.discover(table, context="soil", method="pc-ac").graphs
    with pytest.raises(
        OptionError, match="device is 'cuda', but no CUDA card was found; device='cpu' gives"
    ):
        cc.discover(table, context="soil", device="cuda", method="pc-ac")


def test_an_unknown_device_is_named():
    with pytest.raises(OptionError, match="device is 'gpu', expected one of"):
        usable_device("gpu")


def test_every_test_with_work_for_a_card_is_told(monkeypatch):
    monkeypatch.setattr(card, "obstacle", lambda: "")
    assert usable_device("auto") == ("cuda", "")
    for name in ("cmi-knn", "cmi-knn-mixed"):
        members = on_device(find_test(name), "cuda").members
        assert [member.device for member in members if isinstance(member, CmiKnn)] == ["cuda"]
    assert on_device(find_test("tsagris"), "cuda") == find_test("tsagris")


@pytest.mark.parametrize("lags", [None, 1])
@pytest.mark.parametrize("method", ["pc-ac", "fci-ac"])
def test_a_card_that_has_nothing_to_do_is_named(monkeypatch, method, lags):
    monkeypatch.setattr(card, "obstacle", lambda: "")
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("XYZ"))
    for device, named in (("cpu", False), ("cuda", True)):
        notes = cc.discover(table, lags=lags, method=method, device=device).notes
        assert any("device has no effect here" in note for note in notes) == named


def test_a_card_that_counts_neighbours_is_not_called_idle():
    for name, note in (("cmi-knn", False), ("cmi-knn-mixed", False), ("auto", True)):
        assert bool(note_on_device(on_device(find_test(name), "cuda"), "cuda")) == note
