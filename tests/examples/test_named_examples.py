"""The paper's examples and the soil-moisture table show the dependences that their graphs
promise.
"""

from __future__ import annotations

import numpy as np
import pytest

from causalcontext.examples import (
    example_i,
    example_i_model,
    example_ii,
    example_ii_truth,
    soil_moisture,
    soil_moisture_truth,
)

N = 4000


def z_score(table, x, y, given=()):
    """A partial correlation as a normal score, by regressing both columns on the others."""
    design = np.column_stack([np.ones(len(table)), *(table[name] for name in given)])
    pair = table[[x, y]].to_numpy(dtype=float)
    residuals = pair - design @ np.linalg.lstsq(design, pair, rcond=None)[0]
    return np.arctanh(np.corrcoef(residuals.T)[0, 1]) * np.sqrt(len(table) - len(given) - 3)


@pytest.mark.parametrize("example", [example_i, example_ii])
def test_masking_an_endogenous_context_makes_its_causes_dependent(example):
    table = example(N, seed=1)
    assert abs(z_score(table, "X", "T")) < 3.5
    for level in (0, 1):
        assert z_score(table[table["R"] == level], "X", "T") < -6


def test_example_i_switches_t_to_y_off():
    table = example_i(N, seed=2)
    off, on = (table[table["R"] == level] for level in (0, 1))
    assert abs(z_score(off, "T", "Y")) < 3.5
    assert z_score(on, "T", "Y") > 20
    assert z_score(table, "T", "Y") > 20


def test_example_i_makes_y_depend_on_r():
    table = example_i(N, seed=3)
    assert table.groupby("R")["Y"].var().pipe(lambda spread: spread[1] > 1.5 * spread[0])


def test_example_ii_has_no_support_for_t_to_y_where_r_is_0():
    table = example_ii(N, seed=4)
    off, on = (table[table["R"] == level] for level in (0, 1))
    assert (off["T"] > 0.8).mean() < 0.02
    assert abs(z_score(off, "T", "Y")) < 3.5
    assert z_score(on, "T", "Y") > 20
    assert z_score(table, "T", "Y") > 20


def test_tables_of_the_examples():
    for example in (example_i, example_ii):
        table = example(100, seed=5)
        assert table.columns.tolist() == ["X", "T", "R", "Y"]
        assert table["R"].dtype.kind == "i"
        assert sorted(table["R"].unique()) == [0, 1]
        assert table.equals(example(100, seed=5))


def test_truth_of_example_i():
    truth = example_i_model().truth()
    assert [str(edge) for edge in truth.physical[0]] == ["X --> R", "T --> R", "R --> Y"]
    assert [str(edge) for edge in truth.physical[1]] == ["X --> R", "T --> R", "T --> Y", "R --> Y"]
    assert truth.descriptive == truth.physical
    assert truth.union == truth.physical[1]


def test_truth_of_example_ii_differs_between_physical_and_descriptive():
    truth = example_ii_truth()
    assert truth.physical[0].mark("T", "Y") == "-->"
    assert truth.descriptive[0].mark("T", "Y") == ""
    assert truth.physical[1] == truth.descriptive[1] == truth.physical[0] == truth.union
    assert truth.union.mark("R", "Y") == ""


def test_soil_moisture_names_its_contexts():
    table = soil_moisture(2000, seed=6)
    assert tuple(table.columns) == soil_moisture_truth().union.names
    assert sorted(table["soil"].unique()) == ["dry", "wet"]
    assert 800 < (table["soil"] == "dry").sum() < 1200
    assert table.equals(soil_moisture(2000, seed=6))


@pytest.mark.parametrize("level", ["dry", "wet"])
def test_soil_moisture_links_are_plain_to_see_in_their_context(level):
    """Every link is strong given the other parents of its effect, every non-parent upstream is
    silent.
    """
    table = soil_moisture(2000, seed=7)
    rows = table[table["soil"] == level]
    graph = soil_moisture_truth().physical[level]
    for effect in ("evapotranspiration", "temperature", "humidity", "runoff"):
        parents = [name for name in graph.parents(effect) if name != "soil"]
        for cause in parents:
            assert (
                abs(z_score(rows, cause, effect, [name for name in parents if name != cause])) > 10
            )
        for other in {"precipitation", "radiation"} - set(parents):
            assert abs(z_score(rows, other, effect, parents)) < 3.5


def test_soil_moisture_is_an_effect_of_the_system():
    table = soil_moisture(2000, seed=8)
    assert abs(z_score(table, "precipitation", "radiation")) < 3.5
    for level in ("dry", "wet"):
        assert z_score(table[table["soil"] == level], "precipitation", "radiation") > 6


def test_soil_moisture_contexts_differ_in_two_links():
    truth = soil_moisture_truth()
    dry, wet = set(truth.physical["dry"]), set(truth.physical["wet"])
    assert {str(edge) for edge in dry - wet} == {"precipitation --> evapotranspiration"}
    assert {str(edge) for edge in wet - dry} == {"precipitation --> runoff"}
    assert set(truth.union) == dry | wet
