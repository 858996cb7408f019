"""Random systems in time are stationary, and sample what they say."""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext.simulate import SeriesDesign, random_series_model
from causalcontext.simulate.examples import land_surface_model


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
            causes = [values[rows - lag, i] for lag in range(2) for i in range(3) if model.slopes[r, j, lag, i]]
            design = np.column_stack([np.ones(len(rows)), *causes])
            found = np.linalg.lstsq(design, values[rows, j], rcond=None)[0][1:]
            true = [model.slopes[r, j, lag, i] for lag in range(2) for i in range(3) if model.slopes[r, j, lag, i]]
            assert found == pytest.approx(true, abs=0.06)


def test_the_land_surface_is_stationary():
    model = land_surface_model()
    assert model.stationary()
    table = cc.examples.land_surface(400, seed=1)
    assert set(table["regime"]) == {"energy-limited", "water-limited"}
    assert table.equals(cc.examples.land_surface(400, seed=1))


def test_bad_designs_are_one_sentence():
    with pytest.raises(cc.OptionError, match="lags is 0"):
        SeriesDesign(lags=0)
    with pytest.raises(cc.OptionError, match="noise"):
        SeriesDesign(noise="cauchy")
