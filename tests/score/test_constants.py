"""A number that is the same in every row of a context: the answer among the other columns is that
without it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.tables import read_table
from causalcontext.score.constants import constant_columns, with_traces

Floats = np.ndarray


def table(seed: int, rows: int = 600) -> pd.DataFrame:
    """X causes the ward, which moves Y and changes what Y does to Z."""
    rng = np.random.default_rng(seed)
    x, e, f, g = rng.normal(size=(4, rows))
    icu = rng.random(rows) < 1.0 / (1.0 + np.exp(-2.0 * x))
    y = 0.8 * x + icu + 0.8 * e
    z = np.where(icu, 1.0, 0.0) * y + 0.8 * f
    return pd.DataFrame(
        {"X": x, "Y": y, "Z": z, "W": 0.7 * z + g, "ward": np.where(icu, "icu", "normal")}
    )


def off_in(rows: pd.DataFrame, ward: str, values: Floats, off: Floats | float) -> pd.DataFrame:
    return rows.assign(score=np.where(rows["ward"] == ward, off, values))


def among_others(found: cc.ContextGraphs) -> dict[str, set[tuple[str, str, str]]]:
    """The edges that are no edges of the score, by context."""
    return {
        str(value): {
            (edge.source, edge.target, edge.mark)
            for edge in graph.edges
            if "score" not in (edge.source, edge.target)
        }
        for value, graph in found.graphs.items()
    }


def linked(found: cc.ContextGraphs) -> set[tuple[str, str]]:
    """The pairs that are linked in some context, both ways round."""
    edges = [(edge.source, edge.target) for graph in found.graphs.values() for edge in graph.edges]
    return {*edges, *(edge[::-1] for edge in edges)}


ACCIDENTS: dict[str, Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]] = {
    "noise elsewhere": lambda rows, rng: off_in(rows, "normal", rng.normal(size=len(rows)), 0.0),
    "far from the others": lambda rows, rng: off_in(
        rows, "icu", 5.0 + rng.normal(size=len(rows)), 0.0
    ),
    "an effect elsewhere": lambda rows, rng: off_in(
        rows, "normal", rows["X"].to_numpy() + 0.6 * rng.normal(size=len(rows)), 0.0
    ),
    "off but for rounding": lambda rows, rng: off_in(
        rows, "normal", 3.0 + rng.normal(size=len(rows)), 3.0 + 1e-9 * rng.normal(size=len(rows))
    ),
}


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_the_answer_among_the_others_is_that_without_the_column(accident: str) -> None:
    rows = table(1)
    spoilt = ACCIDENTS[accident](rows, np.random.default_rng(7))
    clean, found = cc.discover(rows, "ward"), cc.discover(spoilt, "ward")
    assert found.settings.method == "score-ac"
    assert among_others(found) == among_others(clean)
    assert ("score", "ward") in linked(found)
    assert any("score is the same in every row where ward is" in words for words in found.warnings)
    claimed = [
        {
            (row.source, row.target, row.kind)
            for row in result.changes("normal", "icu").itertuples()
            if row.claimed and "score" not in (row.source, row.target)
        }
        for result in (clean, found)
    ]
    assert claimed[0] == claimed[1] != set()


def test_two_columns_that_are_off_in_the_same_context_are_not_linked_by_that() -> None:
    """Traces that were the same for both would be a copy."""
    rows, rng = table(2), np.random.default_rng(3)
    normal = rows["ward"] == "normal"
    both = rows.assign(
        score=np.where(normal, 0.0, rng.normal(size=600)),
        test=np.where(normal, 2.0, rng.normal(size=600)),
    )
    data = read_table(both, "ward")
    traced = with_traces(data, constant_columns(data))
    score, test = (
        np.asarray(traced.columns[data.names.index(name)])[normal] for name in ("score", "test")
    )
    assert abs(np.corrcoef(score, test)[0, 1]) < 0.2
    assert min(score.std(), test.std()) > 0.05
    assert ("score", "test") not in linked(cc.discover(both, "ward"))


def test_a_trace_belongs_to_the_row_whatever_the_order_and_the_units() -> None:
    rows = off_in(table(3), "normal", np.random.default_rng(4).normal(size=600), 0.0)
    other = rows.sample(frac=1.0, random_state=5)
    other = other[other.columns[::-1]].assign(X=100.0 - 32.0 * other["X"])
    columns = []
    for one in (rows, other):
        data = read_table(one, "ward")
        traced = with_traces(data, constant_columns(data))
        columns.append(
            pd.Series(
                np.asarray(traced.columns[data.names.index("score")]), index=one.index
            ).sort_index()
        )
    np.testing.assert_allclose(columns[0], columns[1], rtol=0.0, atol=1e-12)


def test_what_varies_or_holds_few_values_is_left_as_it_is() -> None:
    rows, rng = table(4), np.random.default_rng(6)
    icu = rows["ward"] == "icu"
    rows = rows.assign(
        dose=np.where(icu, rng.poisson(2.0, size=600), 0),
        noisy=np.where(icu, 1.0, 1e-3) * rows["X"],
    )
    assert constant_columns(read_table(rows, "ward")) == {}
    assert constant_columns(read_table(rows.drop(columns="ward"), None)) == {}
