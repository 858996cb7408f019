"""How much of what a cause does to a category shows: by a naive twin, its level, its power, and
what may be claimed.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import causalcontext as cc
from causalcontext.results.curve_difference import class_share, kept_more
from causalcontext.results.slopes import heterogeneity


def naive_share(odds, codes, others):
    """The coefficient by a general optimiser, and its error from differences of the likelihood."""
    levels = odds.shape[1] + 1
    columns = [np.ones(len(codes)), *((other - other.mean()) / other.std() for other in others)]
    width = len(columns)

    def loss(beta):
        total = np.zeros((len(codes), levels))
        for level in range(levels - 1):
            own = beta[level * width : (level + 1) * width]
            total[:, level] = beta[-1] * odds[:, level] + sum(
                b * c for b, c in zip(own, columns, strict=True)
            )
        chosen = total[np.arange(len(codes)), codes.astype(int)]
        slopes = np.delete(beta[:-1], np.arange(0, (levels - 1) * width, width))
        return float(np.sum(np.log(np.exp(total).sum(axis=1)) - chosen) + 0.005 * np.sum(slopes**2))

    best = minimize(
        loss, np.zeros((levels - 1) * width + 1), method="BFGS", options={"gtol": 1e-7}
    ).x
    step, unit = 1e-4, np.eye(len(best))
    curvature = np.array(
        [
            [
                loss(best + step * (a + b))
                - loss(best + step * (a - b))
                - loss(best - step * (a - b))
                + loss(best - step * (a + b))
                for a in unit
            ]
            for b in unit
        ]
    ) / (4 * step**2)
    return best[-1], np.sqrt(np.linalg.inv(curvature)[-1, -1])


def drawn(seed, rows=400, size=1.0, levels=3, other=0.8):
    """A cause, what it adds to log odds, the level, and another cause."""
    rng = np.random.default_rng(seed)
    x, z = rng.standard_normal((2, rows)) + 3.0
    odds = np.outer(x - 3.0, np.linspace(1.2, -0.7, levels - 1))
    total = np.column_stack([size * odds + other * (z[:, None] - 3.0), np.zeros(rows)])
    codes = np.argmax(total + rng.gumbel(size=total.shape), axis=1).astype(float)
    return odds, codes, z


@pytest.mark.parametrize("levels", [2, 3])
def test_the_share_is_that_of_its_naive_twin(levels):
    odds, codes, z = drawn(1, 150, levels=levels)
    found, (value, error) = class_share(odds, codes, [z]), naive_share(odds, codes, [z])
    assert found.value == pytest.approx(value, rel=1e-4)
    assert found.error >= error * (1.0 - 1e-3)
    assert found.error == pytest.approx(error, rel=0.2)
    moved = class_share(odds, codes, [-1e5 * z + 7.0, z, np.ones(len(z))])
    assert (moved.value, moved.error) == pytest.approx((found.value, found.error), rel=1e-6)


@pytest.mark.slow
def test_shares_are_as_sure_as_their_errors_say():
    """Two contexts with the same effect: 5 % of the differences are significant, and nearly all if
    one has none.
    """
    same, other = [], []
    for seed in range(150):
        here, there, nothing = (
            class_share(odds, codes, [z])
            for odds, codes, z in (
                drawn(3 * seed),
                drawn(3 * seed + 1, 250),
                drawn(3 * seed + 2, 250, 0.0),
            )
        )
        same.append(heterogeneity((here, there))[1])
        other.append(heterogeneity((here, nothing))[1])
    assert np.mean(np.array(same) < 0.05) < 0.1
    assert np.mean(np.array(other) < 0.001) > 0.95


def test_rare_levels_are_left_out_and_few_rows_or_separated_levels_have_no_share():
    odds, codes, z = drawn(5, levels=3)
    assert np.isfinite(
        class_share(odds, np.where(np.arange(400) < 3, 2.0, np.minimum(codes, 1.0)), [z]).value
    )
    assert np.isnan(class_share(odds[:12], codes[:12], [z[:12]]).value)
    assert np.isnan(class_share(odds, np.ones(400), [z]).value)
    assert np.isnan(class_share(odds, (odds[:, 0] > 0.0).astype(float), [z]).value)
    assert np.isnan(class_share(np.zeros_like(odds), codes, [z]).value)


def class_table(seed, there, rows=700):
    """K follows X in context a, `there` times as much in b, and Z in both; the context is a
    coin.
    """
    rng = np.random.default_rng(seed)
    code, (x, z) = rng.integers(0, 2, rows), rng.standard_normal((2, rows))
    size = np.where(code == 0, 1.0, there)
    total = np.column_stack([2.0 * size * x + z, -1.5 * z, np.zeros(rows)]) + rng.gumbel(
        size=(rows, 3)
    )
    kinds = np.array(["red", "green", "blue"], dtype=object)[np.argmax(total, axis=1)]
    return pd.DataFrame({"X": x, "Z": z, "K": kinds, "R": np.array(["a", "b"])[code]})


@pytest.mark.parametrize("seed", range(2))
def test_a_cause_of_a_category_that_one_context_lacks_is_claimed(seed):
    known = cc.Knowledge(tiers=[["X", "Z"], ["K"]], roots=["R"])
    found = cc.discover(class_table(seed, 0.0), "R", method="score-ac", knowledge=known).changes(
        "a", "b"
    )
    assert found.loc[found["claimed"], ["source", "target"]].to_numpy().tolist() == [["X", "K"]]
    assert found["effect_absent"].abs().max() < 0.3
    same = cc.discover(class_table(seed, 0.6), "R", method="score-ac", knowledge=known).changes(
        "a", "b"
    )
    assert not same["claimed"].any()


def noisier_table(seed, noise, there=1.0, other=1.0, rows=600):
    """K is cut from a sum of X, Z and noise, which is larger in b."""
    rng = np.random.default_rng(seed)
    code, (x, z, error) = rng.integers(0, 2, rows), rng.standard_normal((3, rows))
    total = (
        1.5 * np.where(code == 0, 1.0, there) * x
        + other * z
        + np.where(code == 0, 1.0, noise) * error
    )
    kinds = np.array(["low", "middle", "high"], dtype=object)[np.searchsorted([-0.8, 0.8], total)]
    return pd.DataFrame({"X": x, "Z": z, "K": kinds, "R": np.array(["a", "b"])[code]})


def test_slopes_that_shrink_together_are_no_change_of_one_cause():
    """Where only noise grows, all slopes of a logit are smaller; and without another cause nobody
    can tell.
    """
    known, doubts = cc.Knowledge(tiers=[["X", "Z"], ["K"]], roots=["R"]), []
    for seed in range(4):
        found = cc.discover(
            noisier_table(seed, 6.0), "R", method="score-ac", knowledge=known
        ).changes("a", "b")
        assert not found["claimed"].any()
        doubts += found["reason"].tolist()
    expected = {
        "there is no other cause to compare its odds with",
        "all causes may have smaller effects there",
    }
    assert expected.intersection(doubts)
    alone = cc.discover(
        noisier_table(0, 1.0, 0.0, 0.0), "R", method="score-ac", knowledge=known
    ).changes("a", "b")
    assert alone["reason"].tolist() == ["there is no other cause to compare its odds with"]


def test_what_one_cause_kept_is_held_against_what_another_lost():
    odds, codes, z = drawn(11, 600, size=0.0, other=1.5)
    kept = np.repeat(1.5 * (z - 3.0)[:, None], 2, axis=1)
    assert kept_more(odds, kept, codes, []) < 1e-6
    assert kept_more(kept, odds, codes, []) > 0.99
    assert np.isnan(kept_more(odds, odds, codes, []))
