"""The first minute: kernels are compiled once on every machine, here by two processes at a time.

A command that searches calls `warm_up`. Where compiled kernels are found on disk it returns at once. Otherwise it says
what is happening, lets one process compile what searches levels and another one what scores models (or, for a search by
tests alone, what compares contexts), and waits for both; the search then finds them on disk. Nothing depends on it:
what is not there is compiled when needed.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd

from causalcontext.cli.terminal import say
from causalcontext.kernels.compiling import is_on_disk
from causalcontext.kernels.levels.skeleton import search_pairs
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.kernels.rows.robust_change import fill_parts

SENTENCE = "compiling for this machine, once: about a minute"
_LEVELS, _CHANGES, _SCORES = (
    ("compile_levels", search_pairs),
    ("compile_changes", fill_parts),
    ("compile_scores", fit_many),
)


def warm_up(tests: bool = False) -> None:
    """The kernels of the default search, or of a search by tests, are on disk, unless they cannot be kept."""
    parts = [part for part, kernel in (_LEVELS, _CHANGES if tests else _SCORES) if not is_on_disk(kernel)]
    if not parts:
        return
    say(SENTENCE)
    calls = [f"from causalcontext.cli.warming import {part}; {part}()" for part in parts]
    running = [subprocess.Popen([sys.executable, "-c", call], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for call in calls]  # fmt: skip
    try:
        for process in running:
            process.wait()
    except BaseException:
        for process in running:
            process.terminate()
        raise


def compile_levels() -> None:
    """What searches levels and votes on colliders is on disk."""
    from causalcontext.discover import discover

    discover(small_table(), "R", test="partial-correlation", alpha=0.05)


def compile_scores() -> None:
    """What scores models is on disk."""
    from causalcontext.discover import discover

    discover(small_table(), "R", method="score-ac")


def compile_changes() -> None:
    """What compares a number between contexts is on disk."""
    from causalcontext.data.tables import read_table
    from causalcontext.independence.preparation import prepare
    from causalcontext.independence.registry import find_test
    from causalcontext.questions import Trial

    data = read_table(small_table(), "R")
    prepared = prepare(data, find_test("auto", 0), "raise").prepared
    last = len(data.names) - 1
    prepared.answer([Trial(x, last, given) for x in range(3) for given in ((), ((x + 1) % 3,))])


def small_table() -> pd.DataFrame:
    """A table on which a search needs every kernel: four variables, one of which differs between contexts."""
    generator = np.random.default_rng(0)
    values = generator.standard_normal((400, 4))
    context = np.arange(400) % 2
    values[:, 1] += values[:, 0]
    values[:, 2] += values[:, 1] + 0.2 * context
    values[:, 3] += values[:, 1]
    return pd.DataFrame(values, columns=["A", "B", "C", "D"]).assign(R=context)
