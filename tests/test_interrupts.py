"""Real signals at random moments: a search ends with what it has, the process never crashes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import causalcontext
import causalcontext as cc
from causalcontext.data.frames import Later

ROOT = Path(__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(causalcontext.__file__).parents[1])}


def interrupted(*words: str) -> str:
    """What `benchmarks/research/interrupts.py` says."""
    command = [sys.executable, str(ROOT / "benchmarks" / "research" / "interrupts.py"), *words]
    run = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("family", ["robust-change", "auto on mixed columns", "score-ac"])
def test_a_few_signals(family: str) -> None:
    """Where a signal meets the search depends on the machine: nothing may be decided yet, but
    nothing may crash.
    """
    interrupted("--family", family, "--signals", "3", "--longest", "1")


@pytest.mark.parametrize("ask", ["stability", "diagnose"])
def test_nobody_goes_on_with_half_a_search(ask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search hands back what it has; what needs whole ones must not take that for a result."""
    result = cc.discover(
        cc.examples.soil_moisture(200, seed=1), "soil", test="partial-correlation", method="pc-ac"
    )

    def interrupted_level(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("causalcontext.search.algorithm.run_level", interrupted_level)
    with pytest.raises(KeyboardInterrupt):
        result.stability(3) if ask == "stability" else result.diagnose()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_waits_until_a_library_is_imported_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of pandas was left, whose next import ended in another error, and the interrupt was
    lost.
    """
    sent = (
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfor _ in range(10_000):\n   "
        " pass\nwhole = True\n"
    )
    (tmp_path / "library_that_takes_long.py").write_text(sent)
    monkeypatch.syspath_prepend(tmp_path)
    library = Later("library_that_takes_long")
    before = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell ignores it for what runs behind
    try:
        with pytest.raises(KeyboardInterrupt):
            _ = library.whole
    finally:
        signal.signal(signal.SIGINT, before)
    assert library.whole


@pytest.mark.slow
def test_a_hundred_signals_over_all_families() -> None:
    interrupted("--signals", "96", "--seed", "1")
