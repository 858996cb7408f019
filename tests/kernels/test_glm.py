"""The one solver of generalised linear models: derivatives, and the largest likelihood by a twin,
in hard cases.
"""

import numpy as np
import pytest
from scipy import optimize, special, stats

from causalcontext._kernels import factorise, invert, solve_half, solve_rest
from causalcontext.kernels.rows.glm import (
    NO_TIES,
    RIDGE,
    first_slopes,
    fit_glm,
    maximise,
    probabilities,
    write_ridge,
)
from causalcontext.kernels.rows.likelihoods import (
    LOGIT,
    NUMBERS_FROM,
    ORDINAL,
    POISSON,
    TWO_PART,
    UNIT,
    call_pass,
)

FAMILIES = [LOGIT, ORDINAL, POISSON]
HARD = ["plain", "skewed", "shifted", "separated", "twice the same", "constant"]


def a_model(family: int, seed: int):
    """A design, a response with 3 classes or counts, and coefficients somewhere."""
    rng = np.random.default_rng(seed)
    design = np.vstack([np.ones(40), rng.standard_normal((2, 40))])
    if family == POISSON:
        return design, rng.poisson(3.0, 40), rng.standard_normal(3) * 0.3
    codes = rng.permutation(np.arange(40) % 3)
    slopes = (
        rng.standard_normal(6)
        if family == LOGIT
        else np.concatenate([[-0.7, 0.4], rng.standard_normal(2)])
    )
    return design, codes, slopes


def derivatives(family, design, response, slopes):
    """The value, the gradient and the whole negative Hessian."""
    gradient, half = np.zeros(slopes.size), np.zeros((slopes.size, slopes.size))
    value = call_pass(family, design, response, 2, slopes, gradient, half)
    return value, gradient, np.tril(half) + np.tril(half, -1).T


def twin(family, design, response, classes, slopes):
    """The log-likelihood, from probabilities or means alone."""
    rows = np.arange(response.size)
    if family == POISSON:
        return float(
            special.xlogy(response, np.exp(slopes @ design)).sum() - np.exp(slopes @ design).sum()
        )
    if family == ORDINAL:
        cuts = np.concatenate([[-np.inf], slopes[: classes - 1], [np.inf]])
        if (np.diff(cuts) <= 0.0).any():
            return -np.inf
        shift = slopes[classes - 1 :] @ design[1:]
        above, below = cuts[response + 1] - shift, cuts[response] - shift
        return float(np.log(np.maximum(special.expit(above) - special.expit(below), 1e-300)).sum())
    scores = np.vstack([slopes.reshape(classes - 1, -1) @ design, np.zeros(response.size)])
    return float((scores[response, rows] - special.logsumexp(scores, axis=0)).sum())


def hard_case(family: int, kind: str):
    rng = np.random.default_rng(0)
    design = np.vstack([np.ones(80), rng.standard_normal((2, 80))])
    response = rng.poisson(np.exp(0.4 * design[1])) if family == POISSON else rng.integers(0, 3, 80)
    if kind == "skewed":
        design[1:] = np.exp(design[1:])
    if kind == "shifted":
        design[1:] += 30.0
    if kind == "separated":
        response = (
            np.where(design[1] > 0.0, response, 0)
            if family == POISSON
            else np.digitize(design[1], (-0.5, 0.5))
        )
        design[1] = design[1] > 0.0 if family == POISSON else design[1]
    if kind == "twice the same":
        design[2] = design[1]
    if kind == "constant":
        design[2] = 0.0
    return design, response


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", [0, 1])
def test_derivatives(family, seed):
    design, response, slopes = a_model(family, seed)
    value, gradient, hessian = derivatives(family, design, response, slopes)
    assert value == pytest.approx(twin(family, design, response, 3, slopes), rel=1e-10)
    for i, direction in enumerate(np.eye(slopes.size) * 1e-5):
        up, down = (
            derivatives(family, design, response, slopes + sign * direction) for sign in (1, -1)
        )
        assert (up[0] - down[0]) / 2e-5 == pytest.approx(gradient[i], abs=1e-5)
        np.testing.assert_allclose(-(up[1] - down[1]) / 2e-5, hessian[i], atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("ridge", [0.0, RIDGE])
@pytest.mark.parametrize("kind", HARD)
def test_the_fit_finds_the_largest_likelihood(family: int, ridge: float, kind: str) -> None:
    design, response = hard_case(family, kind)
    classes = 2 if family == POISSON else 3
    slopes = first_slopes(family, response, classes, len(design))
    penalty, start = np.empty(slopes.size), slopes.copy()
    write_ridge(family, classes, len(design), ridge, penalty)

    def minus(at):
        return 0.5 * penalty @ at**2 - twin(family, design, response, classes, at)

    likelihood = fit_glm(family, design, response, classes, slopes, ridge, 1e-9)
    assert likelihood == pytest.approx(twin(family, design, response, classes, slopes), abs=1e-8)
    for method in ("BFGS", "Nelder-Mead"):
        start = optimize.minimize(
            minus, start, method=method, tol=1e-10, options={"maxiter": 3000}
        ).x
    assert minus(slopes) <= minus(start) + 1e-6
    assert np.isfinite(slopes).all()
    if kind == "plain":
        assert slopes == pytest.approx(start, abs=1e-3)


@pytest.mark.parametrize("family", [LOGIT, ORDINAL])
def test_separated_classes_reach_the_bound(family):
    position = np.linspace(-1, 1, 60)
    design, codes = np.vstack([np.ones(60), position]), np.digitize(position, [-0.3, 0.4])
    slopes = np.zeros(4) if family == LOGIT else np.array([-1.0, 1.0, 0.0])
    assert -1e-7 < fit_glm(family, design, codes, 3, slopes, 0.0, 1e-9) <= 0
    assert np.isfinite(slopes).all()


def test_cuts_out_of_order_are_impossible():
    design, codes, _ = a_model(ORDINAL, 0)
    assert derivatives(ORDINAL, design, codes, np.array([0.5, 0.2, 0.0, 0.0]))[0] == -np.inf


def test_a_light_ridge_costs_little():
    design, codes, _ = a_model(LOGIT, 2)
    free, light = (
        fit_glm(LOGIT, design, codes, 3, np.zeros(6), ridge, 1e-9) for ridge in (0.0, RIDGE)
    )
    assert free - 0.05 < light <= free


def test_tied_coefficients_are_those_of_the_sum_of_their_columns():
    """One slope on two columns is that on their sum; a coefficient that is left out leaves its
    column out.
    """
    rng = np.random.default_rng(4)
    design = np.vstack([np.ones(200), rng.standard_normal((3, 200))])
    codes = (design[1] + design[2] + rng.logistic(size=200) > 0.0).astype(np.int64)
    tied, curvature = np.zeros(2), np.zeros((2, 2))
    likelihood = maximise(
        LOGIT,
        design,
        codes,
        1,
        np.array([0, 1, 1, -1]),
        np.zeros(2),
        tied,
        curvature,
        -np.inf,
        1e-10,
    )
    slopes, room = np.zeros(2), np.zeros((2, 2))
    summed = np.vstack([np.ones(200), design[1] + design[2]])
    expected = maximise(LOGIT, summed, codes, 1, NO_TIES, np.zeros(2), slopes, room, -np.inf, 1e-10)
    assert likelihood == pytest.approx(expected)
    assert tied == pytest.approx(slopes, rel=1e-6)
    assert np.tril(curvature) == pytest.approx(np.tril(room), rel=1e-4)


@pytest.mark.parametrize("kind", ["plain", "all numbers", "no numbers", "few numbers"])
def test_a_hurdle_is_a_logit_and_a_regression_of_the_numbers(kind):
    """The variance is the best one, but at least 1 where there are hardly more numbers than
    coefficients.
    """
    rng = np.random.default_rng(7)
    design = np.vstack([np.ones(300), rng.standard_normal((2, 300))])
    some = design[1] + rng.logistic(size=300) > {"all numbers": -np.inf, "no numbers": np.inf}.get(
        kind, 0.0
    )
    some = some & (np.cumsum(some) <= 6) if kind == "few numbers" else some
    y = 3.0 + design[1] - 2.0 * design[2] + 0.4 * rng.standard_normal(300)
    codes = np.where(some, NUMBERS_FROM + np.rint(y * UNIT).astype(int), 0)
    slopes = first_slopes(TWO_PART, codes, 3, 3)
    start = slopes + 0.3
    likelihood = fit_glm(TWO_PART, design, codes, 3, slopes, 0.0, 1e-9)
    odds = (
        fit_glm(ORDINAL, design, some.astype(np.int64), 2, np.zeros(3), 0.0, 1e-9)
        if 0 < some.sum() < 300
        else 0.0
    )
    left = y[some] - np.linalg.lstsq(design[:, some].T, y[some], rcond=None)[0] @ design[:, some]
    spread = np.sqrt(np.mean(left**2)) if some.sum() > 8 else 1.0
    assert likelihood == pytest.approx(odds + stats.norm.logpdf(left, scale=spread).sum(), abs=1e-3)
    _, gradient, curvature = derivatives(TWO_PART, design, codes, start)
    for i, direction in enumerate(np.eye(6) * 1e-5):
        up, down = (
            derivatives(TWO_PART, design, codes, start + sign * direction)[0] for sign in (1, -1)
        )
        assert (up - down) / 2e-5 == pytest.approx(gradient[i], abs=1e-3)
    assert (np.linalg.eigvalsh(curvature) > -1e-9).all()
    assert not curvature[3:, :3].any()


@pytest.mark.parametrize("family", [LOGIT, ORDINAL])
def test_probabilities_are_those_that_the_likelihood_sums_up(family):
    design, codes, slopes = a_model(family, 3)
    share = probabilities(family, design, 3, slopes)
    assert share.sum(axis=1) == pytest.approx(1.0)
    assert np.log(share[np.arange(40), codes]).sum() == pytest.approx(
        twin(family, design, codes, 3, slopes)
    )


def test_a_single_class_is_certain():
    """Rows of one context may have one of the classes alone."""
    assert probabilities(LOGIT, np.ones((2, 4)), 1, np.zeros(0)).tolist() == [[1.0]] * 4


def test_factors_solve_and_invert_and_leave_out_what_is_said_twice():
    rng = np.random.default_rng(5)
    columns = rng.standard_normal((30, 4)) + 3.0
    matrix, right = columns.T @ columns, rng.standard_normal(4)
    factor, solution, inverse = matrix.copy(), right.copy(), np.empty((4, 4))
    factorise(factor)
    assert np.tril(factor) == pytest.approx(np.linalg.cholesky(matrix))
    assert solve_half(factor, solution) == pytest.approx(right @ np.linalg.solve(matrix, right))
    solve_rest(factor, solution)
    assert solution == pytest.approx(np.linalg.solve(matrix, right))
    invert(matrix.copy(), inverse)
    assert inverse == pytest.approx(np.linalg.inv(matrix))
    columns[:, 2] = columns[:, 0]
    factor, solution = columns.T @ columns, columns.T @ right[:1].repeat(30)
    factorise(factor)
    solve_half(factor, solution)
    solve_rest(factor, solution)
    assert solution[2] == 0.0
    assert columns @ solution == pytest.approx(
        columns @ np.linalg.lstsq(columns, right[:1].repeat(30), rcond=None)[0]
    )
