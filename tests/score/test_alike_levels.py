"""Levels of a context that nothing tells apart are one class of its logit."""

from math import log

import numpy as np
import pandas as pd
import pytest
from score_tables import design_of

import causalcontext as cc
from causalcontext.kernels.orders.fit_arrays import CLASS
from causalcontext.score.alike_levels import alike_levels

SPLIT = [f"wet {part}" for part in "abc"]


def soil(seed, rows=900, split=SPLIT, far=0.0):
    """Rain and heat cause the soil; a third of the wet soils may have more rain than the others."""
    generator = np.random.default_rng(seed)
    rain = 3.0 + generator.normal(size=rows)
    heat = -2.0 + generator.normal(size=rows)
    wet = rain - 3.0 - heat - 2.0 + 0.5 * generator.logistic(size=rows) > 0.0
    part = np.where(wet, 1 + generator.integers(0, len(split), rows), 0)
    rain += far * (part == 1)
    runoff = np.where(wet, 1.0, 0.2) * rain + generator.normal(size=rows)
    names = np.array(["dry", *split])
    return pd.DataFrame({"rain": rain, "heat": heat, "runoff": runoff, "soil": names[part]}), part


def groups_of(table, part):
    columns = table[["rain", "heat", "runoff"]].to_numpy().T
    return alike_levels(columns, part, int(part.max()) + 1).tolist()


def test_levels_drawn_by_lot_are_one_group():
    found = [groups_of(*soil(seed)) for seed in range(40)]
    assert sum(group == [0, 1, 1, 1] for group in found) >= 36


def test_a_level_that_differs_stays_by_itself():
    found = [groups_of(*soil(seed, far=1.0)) for seed in range(20)]
    assert sum(group == [0, 1, 2, 2] for group in found) >= 17


def test_levels_that_differ_in_a_product_alone_stay_apart():
    """Means and variances of both columns are equal in all levels; their correlation is not."""
    generator = np.random.default_rng(1)
    part = generator.integers(0, 3, 1500)
    x, noise = generator.normal(size=(2, 1500))
    slope = np.array([0.7, 0.7, -0.7])[part]
    y = slope * x + np.sqrt(1.0 - 0.49) * noise
    assert alike_levels(np.vstack([x, y]), part, 3).tolist() == [0, 0, 1]


def test_levels_of_a_context_that_does_nothing_stay_by_themselves():
    generator = np.random.default_rng(2)
    columns = generator.normal(size=(3, 600))
    assert alike_levels(columns, generator.integers(0, 3, 600), 3).tolist() == [0, 1, 2]


def test_groups_do_not_depend_on_orders_and_units():
    table, part = soil(3)
    columns = table[["rain", "heat", "runoff"]].to_numpy().T
    expected = alike_levels(columns, part, 4).tolist()
    rows = np.random.default_rng(0).permutation(len(part))
    for other, codes in (
        (columns[::-1], part),
        (columns[:, rows], part[rows]),
        (1e6 + 1e-3 * columns, part),
        (-columns, part),
        (np.vstack([columns, np.full(len(part), 7.0)]), part),
    ):
        assert alike_levels(other, codes, 4).tolist() == expected
    assert alike_levels(columns, 3 - part, 4).tolist() == [0, 0, 0, 1]


def test_the_context_has_groups_for_classes_and_equations_for_levels():
    table, part = soil(4)
    data = design_of(table, "soil").data
    (place,) = data.context_variables
    assert data.kind[place] == CLASS
    assert data.classes[place] == 2
    result = cc.discover(table, context="soil", method="score-ac")
    assert set(result.union.parents("soil")) >= {"rain", "heat"}
    (equation,) = [own for own in result.evidence.mechanisms.equations if own.effect == 3]
    odds = np.array(equation.intercepts[0])
    assert len(odds) == 3
    rows = np.bincount(part)[1:]
    assert odds[2] - odds[1] == pytest.approx(log(rows[1] / rows[0]))
    for term in equation.terms:
        assert term.slopes[1] == pytest.approx(0.0, abs=1e-12)
        assert term.slopes[2] == pytest.approx(0.0, abs=1e-12)
        assert term.slopes[0] != pytest.approx(0.0, abs=0.1)


def test_splitting_a_level_changes_no_arrow():
    for seed in range(5):
        whole, _ = soil(seed, split=["wet"])
        parts, _ = soil(seed)
        graphs = [cc.discover(table, context="soil", method="score-ac") for table in (whole, parts)]
        before, after = ({str(edge) for edge in own.union.edges} for own in graphs)
        assert after == before
