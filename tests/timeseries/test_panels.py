"""Panels: what units share at a time is taken away, its degrees of freedom are counted, errors are
by units.
"""

import numpy as np
import pandas as pd
import pytest
import scipy

import causalcontext as cc
from causalcontext.data.series import Series, without_time_means
from causalcontext.results.effects.fits import sandwich


def states(seed, units=50, years=11, effect=0.0):
    """States and years as in the castle-doctrine table: a recession moves unemployment, and laws
    come in its years.

    Homicide follows unemployment; the law is a context that states adopt at different times.
    """
    random = np.random.default_rng(seed)
    year = np.tile(np.arange(2000, 2000 + years), units)
    state = np.repeat(np.arange(units), years)
    adopted = np.where(
        random.random(units) < 0.6, random.choice([2005, 2006, 2007, 2008], units), 3000
    )
    law = (year >= adopted[state]).astype(int)
    recession = 2.0 * np.isin(year, (2008, 2009, 2010))
    unemployment = (
        5.0
        + random.standard_normal(units)[state]
        + recession
        + 0.5 * random.standard_normal(len(year))
    )
    homicide = 0.4 * unemployment + effect * law + random.standard_normal(units)[state]
    homicide += 0.3 * random.standard_normal(years)[year - 2000] + 0.4 * random.standard_normal(
        len(year)
    )
    return pd.DataFrame(
        {
            "state": [f"S{s}" for s in state],
            "year": year,
            "unemployment": unemployment,
            "homicide": homicide,
            "law": law,
        }
    )


def naive_two_ways(values, units, times):
    """Residuals of a regression on dummies of units and times."""
    dummies = np.hstack(
        [pd.get_dummies(units).to_numpy(float), pd.get_dummies(times).to_numpy(float)[:, 1:]]
    )
    return values - dummies @ np.linalg.lstsq(dummies, values, rcond=None)[0]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_means_of_units_and_times_are_those_of_dummies(missing):
    random = np.random.default_rng(0)
    units, steps = np.repeat(np.arange(6), 8), np.tile(np.arange(8), 6)
    values = random.standard_normal((48, 2)) + units[:, None] + np.sin(steps)[:, None]
    values[random.random(values.shape) < missing] = np.nan
    series = Series(("X", "Y"), values, np.zeros(48, int), (), np.zeros((48, 0)), units, steps)
    found = without_time_means(series, np.array([True, True]), True).values
    for j in range(2):
        known = np.isfinite(values[:, j])
        np.testing.assert_allclose(
            found[known, j], naive_two_ways(values[known, j], units[known], steps[known]), atol=1e-8
        )
    alone = without_time_means(series, np.array([True, False]), False).values
    np.testing.assert_array_equal(alone[:, 1], values[:, 1])
    assert abs(np.nanmean(alone[steps == 3, 0])) < 1e-12


def test_errors_by_units_are_those_of_their_definition():
    random = np.random.default_rng(1)
    x, units = random.standard_normal((60, 2)), np.repeat(np.arange(12), 5)
    y = x @ [1.0, 0.0] + random.standard_normal(12)[units]
    x, y = x - x.mean(axis=0), y - y.mean()
    inverse = np.linalg.inv(x.T @ x)
    slopes = inverse @ x.T @ y
    found = sandwich(y, x, np.zeros(60, int), np.array([60]), slopes, inverse, None, units)[1:, 1:]
    leverage = 1 / 60 + np.einsum("ij,jk,ik->i", x, inverse, x)
    e, meat = (y - x @ slopes) / (1 - leverage), np.zeros((2, 2))
    for unit in range(12):
        score = x[units == unit].T @ e[units == unit]
        meat += np.outer(score, score)
    np.testing.assert_allclose(found, 12 / 11 * inverse @ meat @ inverse)


def test_degrees_of_freedom_of_times_are_counted():
    table = states(0)
    options = {
        "lags": 1,
        "time": "year",
        "units": "state",
        "method": "pc-p",
        "test": "partial-correlation",
    }
    n = [
        cc.discover(table, "law", **options, time_effects=way).tests()["n"].max()
        for way in ("none", "means")
    ]
    windows = 50 * 10
    assert n[0] <= windows
    assert n[1] <= windows - 9 - 49 + 2  # two cells are rounded


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"lags": 1, "time": "year"}, "time_effects is 'means', which is for panels; pass units="),
        ({}, "time_effects is 'means', which is for panels; pass lags="),
        (
            {"lags": 1, "time": "year", "units": "state", "context": "crisis"},
            "context 'crisis' has one value at every time",
        ),
    ],
)
def test_what_time_effects_need(options, sentence):
    table = states(0).assign(crisis=lambda own: np.isin(own["year"], (2008, 2009)).astype(int))
    with pytest.raises(cc.CausalContextError, match=sentence):
        cc.discover(table, **({"context": "law"} | options), time_effects="means")


def linked(result, one, other):
    """Whether two variables are linked at any lag."""
    return any(
        {edge.source.split("(")[0], edge.target.split("(")[0]} == {one, other}
        for edge in result.labeled_union
    )


@pytest.mark.slow
@pytest.mark.parametrize(("method", "without"), [("pc-ac", 14), ("auto", 5)])
def test_recession_years_make_no_link_of_law_and_unemployment(method, without):
    options = {"lags": 1, "time": "year", "units": "state", "method": method}
    plain, found = (
        [cc.discover(states(seed), "law", time_effects=way, **options) for seed in range(20)]
        for way in ("none", "means")
    )
    assert sum(linked(result, "law", "unemployment") for result in plain) >= without
    assert sum(linked(result, "law", "unemployment") for result in found) <= 3
    assert all(linked(result, "homicide", "unemployment") for result in found)


@pytest.mark.slow
def test_intervals_by_units_cover_where_units_have_shocks_that_last():
    covered = {"unit": 0, "row": 0}
    for seed in range(60):
        random = np.random.default_rng([seed, 5])
        units = np.repeat(np.arange(30), 12)
        x = random.standard_normal((30, 12)).cumsum(axis=1).ravel() * 0.5
        y = 0.5 * x + random.standard_normal((30, 12)).cumsum(axis=1).ravel() * 0.5
        x, y = (own - pd.Series(own).groupby(units).transform("mean").to_numpy() for own in (x, y))
        inverse = np.array([[1.0 / (x @ x)]])
        slope = inverse[0, 0] * (x @ y)
        for way, own in (("unit", units), ("row", None)):
            level, size = np.zeros(360, int), np.array([360])
            error = np.sqrt(
                sandwich(y, x[:, None], level, size, np.array([slope]), inverse, None, own)[1, 1]
            )
            covered[way] += abs(slope - 0.5) < scipy.stats.t.ppf(0.975, 29) * error
    assert covered["unit"] >= 51
    assert covered["row"] < 48
