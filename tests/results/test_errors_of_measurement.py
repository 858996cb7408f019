"""Slopes that differ because causes were measured with errors are no changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.moments import Moments
from causalcontext.results.slopes import corrected_slope, slope


def moments_of(values: np.ndarray) -> Moments:
    centred = values - values.mean(axis=0)
    return Moments(np.array([len(values)]), values.mean(axis=0)[None], (centred.T @ centred)[None])


def measured_causes(rows: int, generator: np.random.Generator) -> np.ndarray:
    """Z causes X and Y; both causes are measured with errors of variance .25 and .5, the columns
    are X, Y, Z.
    """
    z = generator.standard_normal(rows)
    x = z + generator.standard_normal(rows)
    y = z + 0.5 * x + generator.standard_normal(rows)
    return np.column_stack(
        [
            x + 0.5**0.5 * generator.standard_normal(rows),
            y,
            z + 0.5 * generator.standard_normal(rows),
        ]
    )


ERRORS = np.array([0.5, 0.0, 0.25])


def test_without_errors_it_is_the_slope() -> None:
    own = moments_of(measured_causes(300, np.random.default_rng(1)))
    one, other = slope(own, 0, 0, 1, (2,)), corrected_slope(own, 0, 0, 1, (2,), np.zeros(3))
    assert other.value == pytest.approx(one.value, rel=1e-10)
    assert other.error == pytest.approx(one.error, rel=1e-10)


def test_errors_that_are_known_are_taken_out() -> None:
    own = moments_of(measured_causes(200_000, np.random.default_rng(2)))
    assert abs(slope(own, 0, 0, 1, (2,)).value - 0.5) > 0.03
    assert corrected_slope(own, 0, 0, 1, (2,), ERRORS).value == pytest.approx(0.5, abs=0.01)


def test_standard_errors_are_right() -> None:
    """Against the spread of estimates of 400 tables."""
    generator = np.random.default_rng(3)
    found = [
        corrected_slope(moments_of(measured_causes(400, generator)), 0, 0, 1, (2,), ERRORS)
        for _ in range(400)
    ]
    assert np.mean([one.error for one in found]) == pytest.approx(
        np.std([one.value for one in found]), rel=0.12
    )


def test_more_error_than_variance_has_no_slope() -> None:
    own = moments_of(measured_causes(300, np.random.default_rng(4)))
    assert np.isnan(corrected_slope(own, 0, 0, 1, (2,), np.array([5.0, 0.0, 0.0])).value)


def table_with(error: float, seed: int) -> pd.DataFrame:
    """Z causes X; it causes Y where R is 1; X causes nothing."""
    generator = np.random.default_rng(seed)
    r = generator.integers(0, 2, 1000)
    z = generator.standard_normal(1000)
    x = 1.5 * z + generator.standard_normal(1000)
    y = 1.5 * z * r + generator.standard_normal(1000)
    exact = np.column_stack([z, x, y])
    seen = exact + error * exact.std(axis=0) * generator.standard_normal(exact.shape)
    return pd.DataFrame(seen, columns=["Z", "X", "Y"]).assign(R=r)


def test_what_a_mismeasured_cause_leaves_is_not_claimed() -> None:
    """Where Z is measured with an error, X stands for a part of it, in the context in which Z
    causes Y.
    """
    listed = claimed = told = 0
    for seed in range(12):
        found = cc.discover(table_with(0.5, seed), "R", method="score-ac").changes(0, 1)
        pairs = [
            frozenset(pair)
            for pair in found[["source", "target"]].itertuples(index=False, name=None)
        ]
        about = found[[pair == {"X", "Y"} for pair in pairs]]
        listed += len(about) > 0
        claimed += int(about["claimed"].sum())
        told += int(found[[pair == {"Z", "Y"} for pair in pairs]]["claimed"].sum())
        assert all(
            "measured with errors" in reason for reason in about.loc[about["q"] <= 0.05, "reason"]
        )
    assert listed >= 6
    assert claimed == 0
    assert told >= 9


def test_changes_of_exact_columns_are_still_claimed() -> None:
    found = cc.discover(table_with(0.0, 1), "R", method="score-ac").changes(0, 1)
    claimed = found.loc[found["claimed"], ["source", "target"]].itertuples(index=False, name=None)
    assert {frozenset(pair) for pair in claimed} == {frozenset({"Z", "Y"})}


def levels_claimed(error: float, shift: float, tables: int) -> tuple[int, int, int]:
    """Z causes X, R and Y, and R moves Y by a shift: levels that are listed, claimed, and explained
    by errors.
    """
    listed = claimed = explained = 0
    for seed in range(tables):
        generator = np.random.default_rng([seed, 77])
        w, z = generator.standard_normal((2, 1000))
        z = z + w
        r = (z + generator.logistic(scale=0.3, size=1000) > 0).astype(int)
        y = z + shift * r + generator.standard_normal(1000)
        exact = np.column_stack([w, z, y])
        seen = exact + error * exact.std(axis=0) * generator.standard_normal(exact.shape)
        table = pd.DataFrame(seen, columns=["W", "Z", "Y"]).assign(R=r)
        knowledge = cc.Knowledge(tiers=[["W"], ["Z"], ["R"], ["Y"]])
        found = cc.discover(table, "R", method="score-ac", knowledge=knowledge).changes(0, 1)
        about = found[(found["kind"] == "level") & (found["target"] == "Y")]
        listed, claimed = listed + len(about), claimed + int(about["claimed"].sum())
        explained += int(about["reason"].str.contains("measured with errors").sum())
    return listed, claimed, explained


def test_a_level_that_a_mismeasured_cause_explains_is_not_claimed() -> None:
    """What Z, measured with an error, leaves of its effect goes to R, which Z causes."""
    listed, claimed, explained = levels_claimed(0.5, 0.0, 12)
    assert listed >= 10
    assert claimed <= 1
    assert explained >= 8


def test_a_large_level_is_claimed_all_the_same() -> None:
    listed, claimed, _ = levels_claimed(0.0, 2.0, 12)
    assert listed == claimed == 12
