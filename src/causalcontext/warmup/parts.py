"""Calls of the processes that compile ahead: parts of searches, and whole searches, of tiny tables.

`methods/ahead.py` names these functions and says which searches need which of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from causalcontext.ci_tests.change import PreparedChange, RobustChange, SharedFits
from causalcontext.ci_tests.preparation import prepare
from causalcontext.ci_tests.registry import find_test
from causalcontext.ci_tests.rows import PreparedRows, Variable
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.frames import frame_of
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.discover import discover
from causalcontext.examples import land_surface
from causalcontext.kernels.arrays import Floats
from causalcontext.kernels.orders.scaled_fits import scaled_pointer
from causalcontext.kernels.orders.slots import best_partition
from causalcontext.kernels.rows.bends import bends, orthonormal
from causalcontext.kernels.rows.class_choice import TOLERANCE, choice_pointer, class_pointer
from causalcontext.kernels.rows.glm import RIDGE, first_slopes, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT, PASSES
from causalcontext.kernels.rows.noise_densities import density_pointer
from causalcontext.kernels.rows.number_scores import number_pointer
from causalcontext.kernels.rows.scales import scale_pointer
from causalcontext.knowledge import Knowledge
from causalcontext.progress import nobody
from causalcontext.score.engine import run_score
from causalcontext.score.options import ScoreOptions
from causalcontext.views import CIQuery

__all__ = ["choice_pointer", "class_pointer", "density_pointer", "number_pointer"]
"""Parts that are kernels' own; the others are the functions below."""

NAMES = ("A", "B", "C", "R")


def tiny(rows: int = 80) -> Floats:
    """A chain of numbers, one of them curved, and a context that depends on the first and changes
    the second.
    """
    a, b, c, r = np.random.default_rng(0).normal(size=(4, rows))
    high = a + r > 0.0
    return np.column_stack([a, a + b + 0.8 * high, b - 0.3 * b**2 + c, high])


def _tiny_data(rows: int = 80) -> Dataset:
    return read_table(tiny(rows), "R", names=NAMES)


def _mixed() -> Any:
    """The same as a table with a truth value, a count and an ordered column."""
    import pandas as pd

    table = frame_of(tiny(), columns=NAMES)
    grades = pd.Categorical(np.digitize(table["B"], [0.0, 1.0]).astype(str), ordered=True)
    return table.assign(
        D=table["A"] > 0.0, E=np.round(np.exp(table["C"])).astype(int), F=grades, R=table["R"] > 0.0
    )


def scan() -> None:
    """Read a table and gather its moments."""
    gather_statistics(_tiny_data(), "listwise")


def levels() -> None:
    """A search by partial correlations."""
    discover(tiny(), context="R", names=NAMES, method="pc-ac", test="partial-correlation")


def comparisons_by_logits() -> None:
    """The comparison of a number between contexts by logits, where moments decide."""
    table = tiny(2000)
    classes = Variable(table[:, 3].copy(), Kind.CATEGORICAL, 2)
    numbers = {column: Variable(table[:, column].copy(), Kind.CONTINUOUS) for column in range(2)}
    SharedFits(classes, numbers, 0).bound((0,), 1)


def comparisons_on_rows() -> None:
    """The comparison by moments, and on the rows where moments do not decide."""
    PreparedChange(RobustChange(), _tiny_data(20), 0)._clear(CIQuery(1, 3, (0,)))
    PreparedRows(RobustChange(gate=0.0), _tiny_data()).answer([CIQuery(1, 3, (0,))])


def batches() -> None:
    """Single queries about numbers, categories and counts."""
    data = read_table(_mixed(), "R", kinds={"E": "count"})
    _, _, prepared = prepare(data, find_test("auto"), "raise")
    prepared.answer([CIQuery(0, 1, (2,)), CIQuery(4, 3, (0,)), CIQuery(5, 3, (0,))])


def orders() -> None:
    """The exact search over orders of a small table, without noise densities and categories."""
    _search_orders("exact")


def climbs() -> None:
    """The climb over orders of a larger table."""
    _search_orders("order")


def _search_orders(search: str) -> None:
    data = read_table(tiny()[:, :3], None, names=NAMES[:3])
    options = ScoreOptions(
        search=search, transform="none", densities=False, starts=1 if search == "order" else None
    )
    run_score(
        data,
        gather_statistics(data, "listwise"),
        Knowledge().links(data.names),
        options,
        0,
        1,
        nobody,
    )
    # as the two searches hand them on, where one order serves several cells
    scores = np.zeros((2, 2))
    scores_of_cells = scores[:, 0] if search == "exact" else scores[0]
    best_partition(2, 2, np.zeros((2, 2, 4), dtype=np.int64)[:, 0, 1:3], scores_of_cells)


def logits() -> None:
    """Fits of categories, in a search and for the equations of its result."""
    codes = np.array([0, 1, 0, 1])
    fit_glm(LOGIT, np.ones((1, 4)), codes, 2, first_slopes(LOGIT, codes, 2, 1), RIDGE, TOLERANCE)


def whole_scores() -> None:
    """A search by scores of columns of all kinds, and what is asked of its result; noise of uneven
    spread.
    """
    for pointer in (scaled_pointer, scale_pointer, *PASSES):
        pointer()
    cause, effect = tiny()[:, :2].T.copy()
    bends(cause, effect, orthonormal((), cause.size))
    mixed = _mixed()
    lines: dict[str, Any] = {"curves": "never", "transform": "none", "wrong_cells": "keep"}
    # graphs are drawn
    discover(tiny(200), context="R", names=NAMES, method="score-ac", **lines).effects()
    for table in (mixed[[*NAMES]], mixed):
        result = discover(
            table, context="R", method="score-ac", kinds={"E": "count"} if "E" in table else None
        )
        result.effects()
        result.changes(*result.contexts)
        result.diagnose()


def whole_tests() -> None:
    """Searches by tests, over time too."""
    options: dict[str, Any]
    for options in ({"method": "pc-ac"}, {"method": "fci-ac"}, {"method": "pc-ac", "lags": 1}):
        discover(tiny(200), context="R", names=NAMES, **options)
    discover(_mixed(), context="R", method="pc-ac", kinds={"E": "count"}).diagnose()


def other_tests() -> None:
    """Tests that are asked only by name."""
    for name in ("cmi-knn-mixed", "basis"):
        discover(tiny(60), context="R", names=NAMES, method="pc-ac", test=name, max_given=1)


def simulations() -> None:
    """The simulation of a series."""
    land_surface(20, 0)
