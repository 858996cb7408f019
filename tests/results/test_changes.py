"""What differs between contexts: slopes and their comparison against naive twins, labels, claims."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
import naive
from causalcontext.data.stock import take_stock
from causalcontext.data.tables import read_table
from causalcontext.independence.registry import find_test
from causalcontext.results.changes import false_discovery
from causalcontext.results.slopes import heterogeneity, slope


def table(seed: int, sizes=(300, 80, 40)) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    values = rng.standard_normal((n, 4)) @ rng.uniform(-1, 1, (4, 4)) + 7.0
    frame = pd.DataFrame(values, columns=list("ABCD"))
    return frame.assign(R=np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("given", [(), (2,), (2, 3)])
def test_slopes_and_their_comparison_are_the_naive_ones(seed, given):
    frame = table(seed)
    data = read_table(frame, "R")
    moments = find_test("auto").prepare(data, take_stock(data))
    twins = [naive.regression_slope(part[list("ABCD")].to_numpy(), 0, 1, given) for _, part in frame.groupby("R")]
    found = [slope(moments, r, 0, 1, given) for r in range(3)]
    for mine, (value, error) in zip(found, twins, strict=True):
        assert (mine.value, mine.error) == pytest.approx((value, error), rel=1e-8)
    q, p = heterogeneity(found)
    assert q == pytest.approx(naive.heterogeneity(twins), rel=1e-8)
    assert p == pytest.approx(stats.chi2.sf(q, 2), rel=1e-8)
    q, p = heterogeneity(found[:2])
    assert q == pytest.approx(naive.heterogeneity(twins[:2]), rel=1e-8)
    assert p > stats.chi2.sf(q, 1)  # Student's tails: standard errors are estimates


def test_slopes_that_cannot_be_computed_are_not_numbers():
    frame = table(1, sizes=(50, 5, 40))
    frame.loc[frame["R"] == 2, "A"] = 3.0
    data = read_table(frame, "R")
    moments = find_test("auto").prepare(data, take_stock(data))
    assert np.isfinite(slope(moments, 0, 0, 1, ()).value)
    assert np.isnan(slope(moments, 1, 0, 1, ()).value)
    assert np.isnan(slope(moments, 2, 0, 1, ()).value)
    assert np.isnan(heterogeneity([slope(moments, r, 0, 1, ()) for r in (1, 2)])[1])


@pytest.mark.parametrize("seed", range(5))
def test_false_discovery_control_is_the_naive_one(seed):
    p = np.random.default_rng(seed).uniform(size=9) ** 3
    assert false_discovery(p) == pytest.approx(naive.benjamini_hochberg(p.tolist()))
    holes = np.insert(p, 4, np.nan)
    assert np.delete(false_discovery(holes), 4) == pytest.approx(naive.benjamini_hochberg(p.tolist()))
    assert false_discovery([]).size == 0


@pytest.fixture(scope="module")
def soil():
    return cc.discover(cc.examples.soil_moisture(2000, seed=1), context="soil", alpha=0.01)


def test_true_changes_are_claimed_with_their_effect(soil):
    found = soil.changes("dry", "wet").set_index(["source", "target"])
    taken_up = found.loc["precipitation", "evapotranspiration"]
    assert taken_up["claimed"]
    assert (taken_up["present"], taken_up["absent"]) == ("dry", "wet")
    assert taken_up["effect_present"] == pytest.approx(0.9, abs=0.1)
    assert taken_up["effect_absent"] == pytest.approx(0.0, abs=0.1)
    assert found.loc["precipitation", "runoff"]["claimed"]
    assert set(found.index[found["claimed"]]) == {("precipitation", "evapotranspiration"), ("precipitation", "runoff")}
    mirrored = soil.changes("wet", "dry").set_index(["source", "target"])
    assert mirrored.loc[found.index, "p"].equals(found["p"])


def test_labels_have_three_values(soil):
    found = soil.labels().set_index(["source", "target", "context"])["label"]
    assert found["precipitation", "runoff", "wet"] == "present"
    assert found["precipitation", "runoff", "dry"] == "absent"
    few = cc.discover(cc.examples.soil_moisture(150, seed=3), context="soil", alpha=0.001).labels()
    missing = few[few["label"] != "present"]
    assert set(missing["label"]) == {"undetermined"}  # about 75 rows a context cannot show an absence
    assert set(soil.labels(negligible=0.9)["label"]) == {"present", "absent"}


def test_changes_of_a_loaded_result_are_the_same(soil, tmp_path):
    soil.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    pd.testing.assert_frame_equal(again.changes("dry", "wet"), soil.changes("dry", "wet"))
    pd.testing.assert_frame_equal(again.labels(), soil.labels())


def test_questions_that_make_no_sense_get_one_sentence(soil):
    with pytest.raises(cc.OptionError, match="there is no context 'moist', expected one of 'dry', 'wet'"):
        soil.changes("dry", "moist")
    with pytest.raises(cc.OptionError, match="two different contexts"):
        soil.changes("dry", "dry")
    with pytest.raises(cc.OptionError, match="only one graph"):
        cc.discover(cc.examples.soil_moisture(200, seed=1).drop(columns="soil")).labels()


def test_a_cause_whose_variance_changes_is_not_a_change_of_its_effect():
    """The correlation of x and y moves with the variance of x; the slope does not."""
    claims = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        w, x, y = rng.standard_normal((3, 1100))
        r = (w > np.quantile(w, 10 / 11)).astype(int)
        x = w + np.where(r == 1, 0.05, 1.0) * x
        frame = pd.DataFrame({"W": w, "X": x, "Y": 0.4 * x + y, "R": r})
        claims += int(cc.discover(frame, context="R").changes(0, 1)["claimed"].sum())
    assert claims <= 1
