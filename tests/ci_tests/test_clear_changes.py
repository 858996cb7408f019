"""`robust-change` from moments and shared fits: bounds that hold, and the decisions and logs of the
test on rows.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.ci_tests import change
from causalcontext.ci_tests.change import RobustChange
from causalcontext.ci_tests.rows import PreparedRows
from causalcontext.data.dataset import thinned
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.kernels.rows.glm import fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.kernels.rows.robust_change import CLEAR, most_lost
from causalcontext.views import CIQuery


def drawn(seed: int, rows: int, contexts: int) -> pd.DataFrame:
    """Every variable touches the context, weakly or strongly; lines, curves and skewed noise."""
    generator = np.random.default_rng(seed)
    context = generator.integers(0, contexts, rows)
    columns: dict[str, np.ndarray] = {}
    for j in range(5):
        value = generator.normal(0.0, (0.1, 1.0, 2.0, 0.3, 1.0)[j], contexts)[context]
        value = value + (
            generator.exponential(size=rows) if seed % 2 else generator.normal(size=rows)
        )
        for cause in columns.values():
            if generator.random() < 0.4:
                value = value + generator.uniform(-1.0, 1.0) * (
                    cause if seed % 3 else np.tanh(cause)
                )
        columns[f"v{j}"] = 10.0 * value - 300.0
    return pd.DataFrame(columns).assign(constant=1.0, R=context)


@pytest.mark.parametrize("seed", range(6))
def test_a_residual_in_place_of_its_column_never_costs_more_than_it_may(seed: int) -> None:
    generator = np.random.default_rng(seed)
    ridge, rows = 0.5, 150
    others = generator.exponential(size=(2, rows)) * [[1.0], [3.0]]
    column = (seed - 2.5) * others[0] - others[1] + generator.normal(size=rows)
    design = np.vstack([np.ones(rows), others, column])
    codes = np.digitize(others[0] + column + generator.normal(size=rows), (0.0, 2.0))
    weights = np.linalg.lstsq(design[:3].T, column, rcond=None)[0]
    rest = column - weights @ design[:3]
    turned = np.vstack([design[:3], rest / rest.std()])
    slopes, other = np.zeros((2, 4)), np.zeros((2, 4))
    before, after = (
        fit_glm(LOGIT, lines, codes, 3, where.reshape(-1), ridge, 1e-10)
        for lines, where in ((design, slopes), (turned, other))
    )
    bound = most_lost(slopes, 3, np.array([0.0, *weights[1:], 0.0]), rest.std(), ridge)
    assert before - after <= bound + 1e-6


@pytest.mark.parametrize(
    ("seed", "rows", "contexts"), [(0, 200, 2), (1, 400, 3), (2, 900, 4), (3, 900, 3)]
)
def test_a_bound_is_an_upper_bound_and_all_else_is_exact(
    seed: int, rows: int, contexts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change, "SAMPLE_ROWS", (300, 500))
    data = read_table(drawn(seed, rows, contexts), "R")
    test = RobustChange()
    quick, slow = (
        test.prepare(data, gather_statistics(data)),
        PreparedRows(test, thinned(data, test.most_rows, 0)),
    )
    context = data.names.index("R")
    sets = [(), (1,), (1, 2), (1, 2, 3), (0, 1, 2, 3, 4), (2, 4), (1, 5)]
    queries = [
        CIQuery(x, context, tuple(z for z in given if z != x), 0)
        for given in sets
        for x in range(6)
    ]
    found, exact = quick.answer(queries), slow.answer(queries)
    assert np.array_equal(found.reason, exact.reason)
    clear = (found.p != exact.p) & (exact.reason == 0)
    assert clear.any()
    assert (found.p[clear] <= CLEAR).all()
    assert (exact.p[clear] <= found.p[clear] * (1 + 1e-9)).all()
    open_ = ~clear & (exact.reason == 0)
    assert found.statistic[open_] == pytest.approx(exact.statistic[open_], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_marks_and_log_are_those_of_the_test_on_rows(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = drawn(seed, 300, 3).drop(columns="constant")
    quick = cc.discover(table, context="R", method="pc-ac")
    turned = cc.discover(table[table.columns[::-1]], context="R", n_jobs=2, method="pc-ac")
    monkeypatch.setattr(
        RobustChange, "prepare", lambda self, data, statistics: PreparedRows(self, data)
    )
    slow = cc.discover(table, context="R", method="pc-ac")
    assert all(
        np.array_equal(quick.graphs[value].endpoints, slow.graphs[value].endpoints)
        for value in slow.contexts
    )
    assert all(
        np.array_equal(quick.graphs[value].endpoints, turned.graphs[value].endpoints[::-1, ::-1])
        for value in slow.contexts
    )
    mine, theirs = quick.tests(), slow.tests()
    clear = (mine.p <= CLEAR) & (theirs.p <= CLEAR)
    pd.testing.assert_frame_equal(mine[~clear], theirs[~clear])
