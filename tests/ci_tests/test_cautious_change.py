"""`cautious-change`: never below the logit, right in size where the usual gate stays shut, and its
power.
"""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
import naive_change
from causalcontext.ci_tests.change import CautiousChange, RobustChange
from causalcontext.ci_tests.rows import Variable
from causalcontext.data.columns import Kind

RANDOM = np.random.default_rng(0)


def p_value(test: RobustChange, context: np.ndarray, y: np.ndarray, z: np.ndarray) -> float:
    codes = Variable(context.astype(float), Kind.CATEGORICAL, int(context.max()) + 1)
    return test.compare(
        codes, Variable(y, Kind.CONTINUOUS), [Variable(z, Kind.CONTINUOUS)], RANDOM
    ).p


@pytest.mark.parametrize("seed", range(6))
def test_p_is_the_larger_one_of_both_routes(seed: int) -> None:
    g = np.random.default_rng(seed)
    context = g.integers(0, 3, 200)
    z = 5.0 - 2.0 * g.normal(size=200)
    y = -3.0 * z + 0.25 * context + g.normal(size=200)
    open_gate, logit = (
        p_value(RobustChange(gate=0.0), context, y, z),
        naive_change.logit(z[:, None], y, context),
    )
    if open_gate < 0.2 and logit > 1e-5:
        assert p_value(CautiousChange(), context, y, z) == pytest.approx(
            max(open_gate, logit), rel=2e-2, abs=1e-6
        )
    assert p_value(CautiousChange(), context, y, z) >= open_gate


def rejected(make, sets: int = 60) -> tuple[float, float]:
    """How often the cautious and the usual test reject at .05."""
    counts = np.zeros(2)
    for seed in range(sets):
        drawn = make(np.random.default_rng(seed))
        counts += [p_value(test, *drawn) < 0.05 for test in (CautiousChange(), RobustChange())]
    return tuple(counts / sets)


def sharp_bins(g: np.random.Generator):
    """y follows tanh of z, and the context is bins of z: nothing links y to the context given z."""
    z = g.normal(size=300)
    return np.digitize(z, (-0.6, 0.6)), np.tanh(2.0 * z) + 0.3 * g.normal(size=300), z


def coin(g: np.random.Generator):
    """The context is a coin, and shifts y."""
    context, z = g.integers(0, 2, 300), g.normal(size=300)
    return context, z + 0.45 * context + g.normal(size=300), z


def test_bins_of_a_curve_do_not_deceive_it() -> None:
    cautious, usual = rejected(sharp_bins)
    assert cautious <= 0.12
    assert usual > cautious


def test_a_coin_costs_little_power() -> None:
    cautious, usual = rejected(coin)
    assert cautious > 0.8
    assert cautious >= usual - 0.1


def test_discover_takes_it_by_name() -> None:
    context, y, z = coin(np.random.default_rng(1))
    result = cc.discover(
        pd.DataFrame({"Y": y, "Z": z, "R": context}), "R", test="cautious-change", method="pc-ac"
    )
    assert "cautious-change" in set(result.tests()["test"])
