"""Why an edge is missing: the matched-support re-test, on data whose reason is known."""

import numpy as np
import pytest
from scipy import stats

from causalcontext.diagnostics.support import Cause, _fit, matched_support


def rows(rng, n, mechanism, low=-2.0, high=2.0):
    x = rng.uniform(low, high, n)
    z = rng.standard_normal(n)
    return np.column_stack([x, mechanism(x) + 0.5 * z + 0.5 * rng.standard_normal(n), z])


def test_fit_is_least_squares():
    rng = np.random.default_rng(0)
    data = rows(rng, 60, lambda x: 0.3 * x)
    fit = _fit(data)
    design = np.column_stack([np.ones(60), data[:, 0], data[:, 2]])
    coefficients, rest, *_ = np.linalg.lstsq(design, data[:, 1], rcond=None)
    error = np.sqrt(rest[0] / 57 * np.linalg.inv(design.T @ design)[1, 1])
    assert fit.slope == pytest.approx(coefficients[1])
    assert fit.p == pytest.approx(2 * stats.t.sf(abs(coefficients[1] / error), 57), rel=1e-6)


def verdict(mechanism, other, low, high, n=600, seed=1):
    rng = np.random.default_rng(seed)
    return matched_support(rows(rng, 600, mechanism), rows(rng, n, other, low, high), 0.01)


@pytest.mark.parametrize(("offset", "factor"), [(1e7, 1.0), (-1e9, 1e8), (1e6, 1e-8)])
def test_neither_offsets_nor_units_change_the_verdict(offset, factor):
    rng = np.random.default_rng(7)
    here, there = rows(rng, 400, lambda x: x), rows(rng, 300, lambda x: 0.0 * x)
    expected = matched_support(here, there, 0.05)
    moved = [factor * (part + offset) for part in (here, there)]
    found = matched_support(*moved, 0.05)
    assert (found.cause, found.rows) == (expected.cause, expected.rows)
    assert found.variance_ratio == pytest.approx(expected.variance_ratio, rel=1e-3)


def test_mechanism():
    found = verdict(lambda x: x, lambda x: 0.0 * x, -1.5, 1.5)
    assert found.cause is Cause.MECHANISM
    assert found.trusted
    assert 0.5 < found.share < 0.8


def test_support():
    flat = lambda x: np.maximum(x, 0.0)  # noqa: E731
    found = verdict(flat, flat, -2.0, 0.0)
    assert found.cause is Cause.SUPPORT
    assert not found.trusted


def test_few_rows():
    found = verdict(lambda x: 0.2 * x, lambda x: 0.2 * x, -0.5, 0.5, n=30)
    assert found.cause is Cause.FEW_ROWS
    assert found.power < 0.8
    assert found.variance_ratio < 0.2


def test_undecided_without_overlap():
    found = verdict(lambda x: x, lambda x: 0.0 * x, 2.5, 6.0)
    assert found.cause is Cause.UNDECIDED
    assert (found.rows, found.trusted) == (0, False)


def test_singular():
    rng = np.random.default_rng(2)
    still = rows(rng, 200, lambda x: x)
    still[:150, 0] = 0.0
    assert matched_support(rows(rng, 200, lambda x: x), still, 0.01).cause is Cause.SINGULAR
