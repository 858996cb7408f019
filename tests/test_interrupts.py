"""Real signals at random moments: a search ends with what it has, the process never crashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import causalcontext

ROOT = Path(__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(causalcontext.__file__).parents[1])}


def interrupted(*words: str) -> str:
    """What `benchmarks/interrupts.py` says."""
    command = [sys.executable, str(ROOT / "benchmarks" / "interrupts.py"), *words]
    run = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize("family", ["robust-change", "auto on mixed columns", "score-ac"])
def test_a_few_signals(family: str) -> None:
    """Where a signal meets the search depends on the machine: nothing may be decided yet, but nothing may crash."""
    interrupted("--family", family, "--signals", "3", "--longest", "1")


@pytest.mark.slow
def test_two_hundred_signals_over_all_families() -> None:
    interrupted("--signals", "240", "--seed", "1")
