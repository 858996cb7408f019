"""Variables that stand in for others: the F test by its naive twin, and what is not claimed because
of them.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
from causalcontext.results.curve_difference import ContextRows, extra_columns, replaceable_links
from causalcontext.results.equations import Term


def naive_p(effect, asked, given):
    """The F test by two least squares fits."""
    one = np.ones((len(effect), 1))
    small, large = np.column_stack([one, *given]), np.column_stack([one, *given, *asked])
    left = [
        np.sum((effect - design @ np.linalg.lstsq(design, effect)[0]) ** 2)
        for design in (small, large)
    ]
    more, df = len(asked), len(effect) - large.shape[1]
    return stats.f.sf((left[0] - left[1]) / more / (left[1] / df), more, df)


@pytest.mark.parametrize("seed", range(3))
def test_extra_columns_are_asked_as_by_two_fits(seed):
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.standard_normal((4, 60)) + 7.0
    effect = -0.3 * a - 0.2 * b + c + rng.standard_normal(60) + 50.0
    p = extra_columns(effect, [a, b], [c, d])
    assert p == pytest.approx(naive_p(effect, [a, b], [c, d]), rel=1e-6)
    assert extra_columns(effect, [b, 3.0 * a, a], [d, 1e6 * c, np.ones(60)]) == pytest.approx(
        p, rel=1e-5
    )


def test_columns_that_add_nothing_and_few_rows():
    x = np.random.default_rng(0).standard_normal((3, 40))
    assert extra_columns(x[0], [], [x[1]]) == extra_columns(x[0], [2.0 * x[1] + 1.0], [x[1]]) == 1.0
    assert extra_columns(x[1], [x[1]], [x[2]]) < 1e-100
    assert np.isnan(extra_columns(x[0, :6], [x[1, :6]], [x[2, :6]]))


def line(cause):
    return Term("linear", (cause,), 0.0, (1.0,), 0.0, (0,))


def test_a_line_in_one_effect_is_unneeded_beside_curves_of_the_cause_of_both_and_not_the_other_way():
    rng = np.random.default_rng(1)
    z = rng.standard_normal(400)
    x, y = (1.5 * np.sin(2.0 * z) + 0.5 * rng.standard_normal(400) for _ in range(2))
    inside = ContextRows(2, {0: z, 1: x, 2: y}, [line(1)])
    assert inside.is_unneeded(1, beside=0)
    assert inside.shows(0)
    truth = ContextRows(2, {0: z, 1: x, 2: x + rng.standard_normal(400)}, [line(1)])
    assert not truth.is_unneeded(1, beside=0)
    assert not truth.shows(0)
    assert truth.shows(1)


def waves(seed, rows=500, noise=0.5):
    """X and Y are waves of Z, Y in context a only; what Y has of Z looks like a line in X."""
    rng = np.random.default_rng(seed)
    code, z = rng.integers(0, 2, rows), rng.standard_normal(rows)
    x = 1.8 * np.sqrt(2.0) * np.sin(2.0 * z) + noise * rng.standard_normal(rows)
    y = (
        np.where(code == 0, 1.2 * np.sqrt(2.0) * np.sin(2.0 * z), 0.0)
        + rng.standard_normal(rows)
        + 0.6 * code
    )
    return pd.DataFrame({"Z": z, "X": x, "Y": y, "R": np.array(["a", "b"])[code]})


def test_a_line_that_stands_in_for_a_wave_is_a_candidate_with_its_reason():
    reasons = []
    for seed in range(6):
        result = cc.discover(
            waves(seed), "R", method="score-ac", knowledge=cc.Knowledge(tiers=[["Z"], ["X"], ["Y"]])
        )
        found = result.changes("a", "b")
        assert {
            tuple(pair) for pair in found.loc[found["claimed"], ["source", "target"]].to_numpy()
        } <= {("Z", "Y")}
        reasons += found.loc[found["source"] == "X", "reason"].tolist()
    assert "curves of Z may explain it" in reasons


def test_a_diagnosis_names_lines_that_stand_in_for_waves_and_no_others():
    known = cc.Knowledge(tiers=[["Z"], ["X"], ["Y"]])
    result = cc.discover(waves(0, noise=0.8), "R", method="score-ac", knowledge=known)
    (finding,) = result.diagnose().about("proxies")
    assert finding.evidence["edges"] == ("X --> Y",)
    assert "X --> Y (curves of Z)" in finding.message
    true = waves(0).assign(
        Y=lambda table: table["X"] + np.random.default_rng(5).standard_normal(len(table))
    )
    honest = cc.discover(true, "R", method="score-ac", knowledge=known)
    assert honest.union.mark("X", "Y") == "-->"
    assert not replaceable_links(honest)
    straight = true.assign(
        X=lambda table: table["Z"] + np.random.default_rng(6).standard_normal(len(table))
    )
    assert not replaceable_links(cc.discover(straight, "R", method="score-ac", knowledge=known))
