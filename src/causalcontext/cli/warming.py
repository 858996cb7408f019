"""The first minute: kernels are compiled once on every machine, here by two processes at a time.

A command that searches calls `warm_up`. Where compiled kernels are found on disk it returns at once. Otherwise it says
what is happening, lets one process compile one half and another one the other, and waits for both; the search then
finds them on disk. Nothing depends on it: what is not there is compiled when needed.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd

from causalcontext.cli.terminal import say
from causalcontext.kernels.compiling import is_on_disk
from causalcontext.kernels.levels.skeleton import search_pairs
from causalcontext.kernels.orders.selection import select, select_call
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.kernels.rows.class_choice import choice_call, choose_columns
from causalcontext.kernels.rows.number_scores import number_call
from causalcontext.kernels.rows.robust_change import fill_parts

SENTENCE = "compiling for this machine, once: up to a minute"
Part = tuple[str, Any]
"""The name of a function that compiles, and a kernel that is on disk afterwards."""
_LEVELS: Part = ("compile_levels", search_pairs)
_CHANGES: Part = ("compile_changes", fill_parts)
_NUMBERS: Part = ("compile_numbers", select)
_CLASSES: Part = ("compile_classes", choose_columns)
_SCORES: Part = ("compile_scores", fit_many)
TESTS = ((_LEVELS, _CHANGES),)
"""What a search by tests needs, in rounds of two processes."""
SCORES = ((_NUMBERS, _CLASSES),)
"""What a search by scores needs most; the rest of it is compiled by the search, which builds upon these two."""
EVERYTHING = ((_NUMBERS, _CLASSES), (_LEVELS, _SCORES))


def warm_up(rounds: tuple[tuple[Part, Part], ...]) -> None:
    """These kernels are on disk, unless they cannot be kept."""
    missing = [[part for part, kernel in parts if not is_on_disk(kernel)] for parts in rounds]
    if any(missing):
        say(SENTENCE)
    for parts in missing:
        _compile(parts)


def _compile(parts: list[str]) -> None:
    """Run these functions at once, a process for each."""
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


def compile_numbers() -> None:
    """What visits rows, chooses columns, and scores numbers, is on disk."""
    from causalcontext.data.survey import take_survey
    from causalcontext.data.tables import read_table

    take_survey(read_table(small_table(), "R"))
    select_call()
    number_call()


def compile_classes() -> None:
    """What scores categories is on disk."""
    choice_call()


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

    table = small_table()
    data = read_table(table.assign(D=table["D"] + 5.0 * table["R"]), "R")  # a clear change is told from moments
    prepared = prepare(data, find_test("auto", 0), "raise").prepared
    last = len(data.names) - 1
    prepared.answer([Trial(x, last, given) for x in range(4) for given in ((), ((x + 1) % 3,))])


def small_table() -> pd.DataFrame:
    """A table on which a search needs every kernel: four variables, one of which differs between contexts."""
    generator = np.random.default_rng(0)
    values = generator.standard_normal((400, 4))
    context = np.arange(400) % 2
    values[:, 1] += values[:, 0]
    values[:, 2] += values[:, 1] + 0.2 * context
    values[:, 3] += values[:, 1]
    return pd.DataFrame(values, columns=["A", "B", "C", "D"]).assign(R=context)
