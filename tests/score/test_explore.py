"""Normal scores, and the density behind the choice to use them."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

import causalcontext as cc
from causalcontext.data.dataset import gaussian_ranks, mean_ranks, stable_order
from causalcontext.examples import exponential
from causalcontext.score.explore import log_slope, normal_scores
from causalcontext.score.model import even_quantiles
from causalcontext.score.treatments import log_density
from causalcontext_lab.simulate import random_model


def test_normal_scores_share_ranks_of_equal_values():
    column = np.array([3.0, 1.0, 3.0, 2.0, 5.0, 1.0])
    assert normal_scores(column) == pytest.approx(norm.ppf(rankdata(column) / 7.0))


@pytest.mark.parametrize("digits", [1, 12])
def test_ranks_orders_and_quantiles_are_those_of_scipy_and_numpy(digits):
    """Columns without equal values take a shorter way, those with some the longer one."""
    columns = np.round(np.random.default_rng(digits).normal(size=(150, 3)), digits)
    columns[:, 1] = np.sort(np.random.default_rng(1).normal(size=150))[::-1]
    scores = gaussian_ranks(columns)
    for j, column in enumerate(columns.T):
        assert mean_ranks(column).tolist() == rankdata(column).tolist()
        assert scores[:, j].tolist() == gaussian_ranks(column).tolist()
        assert scores[:, j] == pytest.approx(norm.ppf((rankdata(column) - 0.5) / 150))
        assert stable_order(column).tolist() == sorted(range(150), key=column.tolist().__getitem__)
        for count in (21, 101):
            assert (
                even_quantiles(column, count).tolist()
                == np.quantile(column, np.linspace(0, 1, count)).tolist()
            )
    assert gaussian_ranks(np.empty(0)).size == 0


@pytest.mark.parametrize("n", [200, 2000])
def test_the_density_is_right_on_average(n):
    """The mean log density of standard normal draws is minus their entropy."""
    means = [log_density(np.random.default_rng(seed).normal(size=n)).mean() for seed in range(20)]
    assert np.mean(means) == pytest.approx(-0.5 * np.log(2 * np.pi * np.e), abs=0.03)


def test_the_slope_of_no_transform_is_nothing_and_a_warp_costs_its_own():
    x = np.random.default_rng(4).normal(size=1000)
    assert abs(log_slope(x)) < 25
    entropy_of_lognormal = 0.5 * np.log(2 * np.pi * np.e) - np.log(np.exp(x).std())
    naive = 1000 * (0.5 * np.log(2 * np.pi * np.e) - entropy_of_lognormal)
    assert log_slope(np.exp(x)) == pytest.approx(naive, rel=0.15)


def test_ties_do_not_break_the_density():
    assert np.isfinite(log_density(np.repeat([1.0, 2.0, 3.0], 50))).all()


def test_skewed_noise_is_no_warp():
    """The likelihood alone would take normal scores in many of these tables."""
    taken = 0
    for seed in range(6):
        rows = random_model(seed=seed, noise=exponential).sample(600, seed)
        taken += cc.discover(rows, "R", method="score-ac", starts=2).evidence.transform == "ranks"
    assert taken <= 1
