"""The derivatives of the likelihoods are those of their values, and separated classes reach the bound."""

import numpy as np
import pytest

from causalcontext.kernels.rows.newton import LOGIT, ORDINAL, POISSON, logit_likelihood, maximise, one_pass


def a_model(family: int, seed: int):
    """A design, a response with 3 classes or counts, and coefficients somewhere."""
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(40), rng.standard_normal((40, 2))])
    if family == POISSON:
        return design, rng.poisson(3.0, 40), rng.standard_normal(3) * 0.3
    codes = rng.permutation(np.arange(40) % 3)
    slopes = rng.standard_normal(6) if family == LOGIT else np.concatenate([[-0.7, 0.4], rng.standard_normal(2)])
    return design, codes, slopes


def derivatives(family, design, response, slopes):
    gradient, hessian = np.zeros(slopes.size), np.zeros((slopes.size, slopes.size))
    value = one_pass(family, design, response, 2, slopes, gradient, hessian)
    return value, gradient, hessian


@pytest.mark.parametrize("family", [LOGIT, ORDINAL, POISSON])
@pytest.mark.parametrize("seed", [0, 1])
def test_derivatives(family, seed):
    design, response, slopes = a_model(family, seed)
    _, gradient, hessian = derivatives(family, design, response, slopes)
    for i, direction in enumerate(np.eye(slopes.size) * 1e-5):
        up, down = (derivatives(family, design, response, slopes + sign * direction) for sign in (1, -1))
        assert (up[0] - down[0]) / 2e-5 == pytest.approx(gradient[i], abs=1e-5)
        np.testing.assert_allclose(-(up[1] - down[1]) / 2e-5, hessian[i], atol=1e-5)


@pytest.mark.parametrize("family", [LOGIT, ORDINAL])
def test_separated_classes_reach_the_bound(family):
    position = np.linspace(-1, 1, 60)
    design, codes = np.column_stack([np.ones(60), position]), np.digitize(position, [-0.3, 0.4])
    start = np.zeros(4) if family == LOGIT else np.array([-1.0, 1.0, 0.0])
    likelihood, slopes = maximise(family, design, codes, 3, start, 0.0, 1e-9)
    assert -1e-7 < likelihood <= 0
    assert np.isfinite(slopes).all()


def test_cuts_out_of_order_are_impossible():
    design, codes, _ = a_model(ORDINAL, 0)
    assert derivatives(ORDINAL, design, codes, np.array([0.5, 0.2, 0.0, 0.0]))[0] == -np.inf


def test_a_light_ridge_costs_little():
    design, codes, _ = a_model(LOGIT, 2)
    free, _ = maximise(LOGIT, design, codes, 3, np.zeros(6), 0.0, 1e-9)
    assert free - 0.05 < logit_likelihood(design, codes, 3) <= free
