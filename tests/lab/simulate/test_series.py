"""Random systems in time are stationary, and sample what they say."""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext.examples import FLUX_TOWER_LINKS, land_surface_model
from causalcontext_lab.simulate import SeriesDesign, random_series_model


def test_a_model_is_reproducible_and_stationary():
    design = SeriesDesign(autocorrelation=0.9)
    first, second = (random_series_model(design, 7) for _ in range(2))
    assert first.sample(50, 1).equals(second.sample(50, 1))
    assert first.stationary()
    assert max(first.radius(r) for r in (0, 1)) <= 0.97


def test_an_explosive_model_is_not_stationary():
    model = random_series_model(SeriesDesign(variables=2), 1)
    model.slopes[:, 0, 1, 0] = 1.01
    assert not model.stationary()


@pytest.mark.parametrize("seed", range(5))
def test_variables_read_no_later_copy(seed):
    model = random_series_model(SeriesDesign(), seed)
    place = {node: number for number, node in enumerate(model.order.tolist())}
    assert all(place[j] > place[6] for j, lag in enumerate(model.reads) if lag == 0)
    graph = model.truth[0]
    assert all(edge.target in (*model.names, "R") for edge in graph.edges)
    for effect, cause in np.argwhere(model.slopes[:, :, 0].any(axis=0)):
        assert place[cause] < place[effect]


def test_slopes_are_those_of_least_squares():
    model = random_series_model(SeriesDesign(variables=3, lags=1), 3)
    values, codes, _ = model.run(20_000, np.random.default_rng(0))
    for j in range(3):
        read = codes[1:] if model.reads[j] != 1 else codes[:-1]
        for r in range(2):
            rows = np.flatnonzero(read == r) + 1
            causes = [
                values[rows - lag, i]
                for lag in range(2)
                for i in range(3)
                if model.slopes[r, j, lag, i]
            ]
            design = np.column_stack([np.ones(len(rows)), *causes])
            found = np.linalg.lstsq(design, values[rows, j], rcond=None)[0][1:]
            true = [
                model.slopes[r, j, lag, i]
                for lag in range(2)
                for i in range(3)
                if model.slopes[r, j, lag, i]
            ]
            assert found == pytest.approx(true, abs=0.06)


def test_the_land_surface_is_stationary():
    model = land_surface_model()
    assert model.stationary()
    table = cc.examples.land_surface(400, seed=1)
    assert set(table["regime"]) == {"energy-limited", "water-limited"}
    assert table.equals(cc.examples.land_surface(400, seed=1))


def test_the_flux_tower_closes_its_stomata_in_dry_air():
    table = cc.examples.flux_tower(20, seed=1)
    assert table.equals(cc.examples.flux_tower(20, seed=1))
    assert len(table) == 20 * 48
    assert table["time"].diff().dropna().nunique() == 1
    day, light = table["daylight"] == "day", table["Rg"] / (table["Rg"] + 400.0)
    for dry, uptake in ((False, 32.0), (True, 18.0)):
        rows = (table["VPD"] > 1.0) == dry
        assert abs(table["GPP"] - uptake * light)[rows].mean() < 1.5
    assert abs(table["Rg"][~day]).max() < 15.0
    with pytest.raises(cc.CausalContextError, match="days is 0"):
        cc.examples.flux_tower(0, seed=1)


def test_the_links_of_the_flux_tower_are_those_of_its_equations():
    """Least squares on the true causes has the coefficients of the equations, by day and at
    night.
    """
    table = cc.examples.flux_tower(60, seed=2)
    past = table.drop(columns=["time", "daylight"]).shift(1).add_suffix("(t-1)")
    rows = table.join(past).iloc[1:]
    for name, expected in {
        "Tair": {"Tair(t-1)": 0.9, "Rg": 0.0015, "H(t-1)": 0.004},
        "SWC": {"SWC(t-1)": 0.985, "LE(t-1)": -0.002},
        "H": {"H(t-1)": 0.3, "Rg": 0.4, "LE": -0.4},
    }.items():
        assert FLUX_TOWER_LINKS[name].keys() == expected.keys()
        design = np.column_stack([np.ones(len(rows)), rows[list(expected)]])
        found = np.linalg.lstsq(design, rows[name], rcond=None)[0][1:]
        np.testing.assert_allclose(found, list(expected.values()), rtol=0.15)
    causes = [cause for cause, when in FLUX_TOWER_LINKS["LE"].items() if cause in rows]
    moist = rows[rows["VPD"] <= 1.0]
    for daylight, expected in (("day", [0.3, 2.0, 0.25, 40.0]), ("night", [0.3, 2.0])):
        here = moist[moist["daylight"] == daylight]
        used = [
            cause
            for cause in causes
            if cause != "daylight" and FLUX_TOWER_LINKS["LE"][cause] in ("", daylight)
        ]
        design = np.column_stack([np.ones(len(here)), here[used]])
        found = np.linalg.lstsq(design, here["LE"], rcond=None)[0][1:]
        np.testing.assert_allclose(found, expected, rtol=0.25)


def test_bad_designs_are_one_sentence():
    with pytest.raises(cc.OptionError, match="lags is 0"):
        SeriesDesign(lags=0)
    with pytest.raises(cc.OptionError, match="noise"):
        SeriesDesign(noise="cauchy")
