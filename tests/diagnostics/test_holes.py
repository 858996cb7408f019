"""Whether holes depend on other columns: who decides is named, chance is not."""

import numpy as np
import pandas as pd
import pytest
import scipy

import causalcontext as cc
from causalcontext.diagnostics.rows import _likelihood


def holey(seed, slope, rows=300):
    """W is missing the more often the larger A is; X anywhere."""
    random = np.random.default_rng([seed, 3])
    a, b, x, w = random.standard_normal((4, rows))
    gone = random.random(rows) < scipy.special.expit(slope * a - 1.0)
    x = np.where(random.random(rows) < 0.2, np.nan, x + a)
    return pd.DataFrame(
        {"A": a, "B": b, "X": x, "W": np.where(gone, np.nan, w), "R": random.integers(2, size=rows)}
    )


def found(table, missing):
    result = cc.discover(table, "R", method="pc-p", max_given=0, missing=missing)
    return [one for one in result.diagnose() if one.topic == "missing cells"]


@pytest.mark.parametrize("missing", ["model", "listwise", "testwise"])
def test_what_decides_is_named_with_what_the_mode_does_about_it(missing):
    (finding,) = found(holey(1, 1.5), missing)
    assert finding.message.startswith("whether W is missing depends on A (p = ")
    assert finding.evidence["depends on"] == ("A",)
    assert "missing='model'" in finding.advice
    assert ("selected sample" in finding.advice) == (missing == "listwise")


def test_the_logit_is_that_of_its_definition():
    table = holey(2, 1.0).assign(C=lambda own: own["A"] ** 2)
    missing, columns = table["W"].isna().to_numpy(), [table[name].to_numpy()[None] for name in "AC"]

    def minus(slopes):
        line = slopes[0] + slopes[1] * columns[0][0] + slopes[2] * columns[1][0]
        return -np.sum(np.where(missing, line, 0.0) - np.logaddexp(0.0, line))

    assert _likelihood(missing, columns) == pytest.approx(
        -scipy.optimize.minimize(minus, np.zeros(3)).fun, abs=1e-4
    )


@pytest.mark.slow
def test_level_and_power():
    chance = sum(bool(found(holey(seed, 0.0), "listwise")) for seed in range(200))
    assert chance <= scipy.stats.binom.ppf(0.999, 200, 0.01)
    assert sum(bool(found(holey(seed, 0.7), "listwise")) for seed in range(40)) >= 36
