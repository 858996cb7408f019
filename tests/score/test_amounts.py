"""Amounts among other columns: they alone may be searched by their normal scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.amounts import is_amount


def of_amounts(seed: int, bent: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Lines, or curves, among normal numbers; and the same with one number as an amount."""
    rng = np.random.default_rng(seed)
    wet = rng.random(800) < 0.5
    heat, light, a, b = rng.standard_normal((4, 800))
    uptake = 0.8 * heat + 0.9 * wet + 0.7 * a
    towards = 1.3 * np.sin(1.4 * light) if bent else 0.8 * light
    growth = 0.8 * uptake + towards + 0.7 * b
    table = pd.DataFrame(
        {
            "heat": heat,
            "light": light,
            "uptake": uptake,
            "growth": growth,
            "soil": np.where(wet, "wet", "dry"),
        }
    )
    return table, table.assign(uptake=30.0 * np.exp(uptake))


def links(result: cc.ContextGraphs) -> set[frozenset[str]]:
    """The linked pairs of the union."""
    return {frozenset((edge.source, edge.target)) for edge in result.union.edges}


def arrows(result: cc.ContextGraphs) -> set[tuple[str, str]]:
    """The directed links of the union."""
    return {(edge.source, edge.target) for edge in result.union.edges if edge.mark == "-->"}


@pytest.mark.parametrize("bent", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_an_amount_has_the_links_of_its_logarithm(seed: int, bent: bool) -> None:
    as_number, as_amount = of_amounts(seed, bent)
    before = cc.discover(as_number, "soil")
    after = cc.discover(as_amount, "soil")
    assert after.evidence.transform == "ranks"
    assert links(after) == links(before)
    assert not any((effect, cause) in arrows(after) for cause, effect in arrows(before))
    scales = dict(zip(after.names, after.evidence.mechanisms.scales, strict=True))
    assert scales["uptake"].scores
    assert not scales["light"].scores
    assert any("uptake is skewed as amounts are" in text for text in after.warnings)


def test_an_effect_of_an_amount_has_no_interval() -> None:
    """Per unit it is another number at every amount."""
    _, table = of_amounts(3, False)
    result = cc.discover(table, "soil")
    rows = result.effects("uptake", "growth")
    rows = rows[rows["versus"].isna()]
    assert rows["low"].isna().all()
    assert rows["note"].str.contains("no interval: uptake is skewed as amounts are").all()
    assert np.isfinite(result.effects("light", "growth")["effect"]).all()


def test_whoever_asks_for_ranks_gets_all_of_them() -> None:
    _, table = of_amounts(1, False)
    assert cc.discover(table, "soil", transform="none").evidence.transform == "none"
    asked = cc.discover(table, "soil", transform="ranks")
    assert any("every continuous column was replaced" in text for text in asked.notes)


@pytest.mark.parametrize(
    ("law", "amount"),
    [
        ("lognormal", True),
        ("normal", False),
        ("exponential", False),
        ("uniform", False),
        ("standard_t", False),
    ],
)
def test_the_shape_of_an_amount(law: str, amount: bool) -> None:
    """Of skewed laws the lognormal alone is near normal as a logarithm."""
    rng = np.random.default_rng(5)
    draw = {
        "lognormal": lambda: rng.lognormal(1.0, 1.0, 1000),
        "normal": lambda: rng.normal(10.0, 2.0, 1000),
        "exponential": lambda: rng.exponential(2.0, 1000),
        "uniform": lambda: rng.uniform(0.0, 5.0, 1000),
        "standard_t": lambda: rng.standard_t(3.0, 1000),
    }[law]
    assert all(is_amount(draw()) is amount for _ in range(20))
    assert not is_amount(draw()[:50])
