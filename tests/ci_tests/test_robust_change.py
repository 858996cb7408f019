"""The tests for a change between contexts: twins on awkward data, other libraries, level, power,
edge cases.
"""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
import naive_change
from causalcontext.ci_tests.change import RobustChange, change_parts
from causalcontext.ci_tests.registry import find_test
from causalcontext.ci_tests.rows import as_variable
from causalcontext.data.columns import Kind
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.kernels.rows.robust_change import GATE_LEVEL
from causalcontext.views import CIQuery, Reason

NO_RANDOM = np.random.default_rng(0)


def number(values):
    return as_variable(np.asarray(values, dtype=float), Kind.CONTINUOUS)


def category(values):
    return as_variable(np.asarray(values, dtype=float), Kind.CATEGORICAL)


def answer(test, context, y, *given):
    return test.compare(category(context), number(y), list(given), NO_RANDOM)


def awkward(seed, contexts=3, conditions=2, n=180, *, curved=False, noise="normal"):
    """Far from the origin, negative correlations, uneven contexts that depend on the first
    condition.
    """
    generator = np.random.default_rng(seed)
    mixing = generator.normal(size=(max(conditions, 1), max(conditions, 1)))
    z = generator.normal(size=(n, max(conditions, 1))) @ mixing
    context = np.digitize(
        z[:, 0] / z[:, 0].std() + generator.normal(size=n), np.linspace(-1, 1, contexts - 1)
    )
    weights = generator.uniform(-2, 2, size=z.shape[1])
    errors = getattr(generator, noise)(size=n)
    y = (
        -3.0 * (z @ weights if conditions else 0)
        + errors * (1 + 0.3 * context)
        + (z[:, 0] ** 2 if curved else 0)
    )
    return 50.0 + 10.0 * z[:, :conditions], 1000.0 + 0.01 * y, context


@pytest.mark.parametrize("conditions", [0, 1, 2, 4])
@pytest.mark.parametrize("contexts", [2, 3, 5])
def test_every_part_is_that_of_whole_design_matrices(contexts, conditions):
    z, y, context = awkward(10 * contexts + conditions, contexts, conditions)
    rows = naive_change.large_contexts(z, context)
    found = change_parts(category(context), number(y), [number(column) for column in z.T])
    part = (z[rows], y[rows], context[rows])
    assert found.mean == pytest.approx(naive_change.mean_part(*part)[2], rel=1e-6)
    assert found.slope == pytest.approx(naive_change.slope_part(*part)[2], rel=1e-6, nan_ok=True)
    assert found.mean_and_slope == pytest.approx(naive_change.chow(*part)[2], rel=1e-6)
    assert found.variance == pytest.approx(naive_change.brown_forsythe(*part)[1], rel=1e-6)
    assert found.gaussian_variance == pytest.approx(naive_change.bartlett(*part), rel=1e-6)
    if conditions:
        assert found.curvature == pytest.approx(naive_change.curvature(*part), rel=1e-5)
        assert found.uneven_spread == pytest.approx(naive_change.uneven_spread(*part), rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_gate_that_opens_asks_the_logit_of_the_twin(seed):
    z, y, context = awkward(seed, 3, 2, curved=True, noise="exponential")
    found = change_parts(
        category(context), number(y), [number(column) for column in z.T], gate=0.05
    )
    rows = naive_change.large_contexts(z, context)
    assert min(found.curvature, found.uneven_spread) < 0.05
    assert found.logit == pytest.approx(
        naive_change.logit(z[rows], y[rows], context[rows]), rel=1e-3
    )
    assert found.p == pytest.approx(naive_change.robust_change(z, y, context), rel=1e-3)


@pytest.mark.parametrize("seed", range(20, 26))
def test_the_p_value_is_the_twins(seed):
    z, y, context = awkward(seed, 2 + seed % 3, seed % 4)
    expected = naive_change.robust_change(z, y, context)
    found = answer(RobustChange(), context, y, *(number(column) for column in z.T))
    if expected < 0.2:
        assert found.p == pytest.approx(expected, rel=1e-3)
    else:
        assert 0.2 <= found.p <= expected * (1 + 1e-6)


def test_statistic_and_df_are_those_of_the_part_that_decides():
    z, y, context = awkward(3)
    given = [number(column) for column in z.T]
    shifted = answer(RobustChange(), context, y + 0.2 * context, *given)
    f, df, _ = naive_change.mean_part(z, y + 0.2 * context, context)
    assert (shifted.statistic, shifted.df) == (pytest.approx(f), df)
    turned = answer(RobustChange(), context, y + 0.01 * (z[:, 1] - 50) * (context == 1), *given)
    f, df, _ = naive_change.slope_part(z, y + 0.01 * (z[:, 1] - 50) * (context == 1), context)
    assert (turned.statistic, turned.df) == (pytest.approx(f), df)


def test_a_category_among_the_conditions_is_its_dummies():
    z, y, context = awkward(6)
    kind = np.random.default_rng(6).integers(3, size=len(y))
    dummies = np.column_stack([z, kind == 0, kind == 2]).astype(float)
    given = [*(number(column) for column in z.T), category(kind)]
    parts = change_parts(category(context), number(y), given)
    assert parts.mean == pytest.approx(naive_change.mean_part(dummies, y, context)[2], rel=1e-6)
    assert parts.slope == pytest.approx(naive_change.slope_part(dummies, y, context)[2], rel=1e-6)


def test_collinear_conditions_lower_ranks_only():
    z, y, context = awkward(7)
    doubled = [number(column) for column in (*z.T, z[:, 0] - 2 * z[:, 1] + 3)]
    plain = change_parts(category(context), number(y), [number(column) for column in z.T])
    found = change_parts(category(context), number(y), doubled)
    for name in ("mean", "slope", "mean_and_slope", "variance", "gaussian_variance", "df"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), rel=1e-6)


def test_names_and_order_do_not_matter():
    """Order of rows and of conditions, names of contexts and of categories, shifts and units."""
    z, y, context = awkward(8, curved=True, noise="exponential")
    kind = np.random.default_rng(8).integers(3, size=len(y))
    given = [number(z[:, 0]), number(z[:, 1]), category(kind)]
    first = change_parts(category(context), number(y), given)
    assert first.logit > 0  # the gate is open, and the ridge of the logit would tell
    order = np.random.default_rng(9).permutation(len(y))
    moved = [number(-3 * z[order, 1] + 7), category((2 - kind)[order]), number(z[order, 0] / 8)]
    second = change_parts(number(5 - 2 * y[order]), category(((context + 1) % 3)[order]), moved)
    assert second == pytest.approx(first, rel=1e-5)


def test_scipy_has_the_same_parts_without_conditions():
    generator = np.random.default_rng(11)
    context = np.repeat([0, 1, 2], [30, 45, 70])
    y = generator.standard_t(5, size=145) * (1 + 0.2 * context)
    found = change_parts(category(context), number(y), [])
    groups = [y[context == level] for level in range(3)]
    assert found.mean == pytest.approx(stats.f_oneway(*groups).pvalue)
    assert found.variance == pytest.approx(stats.levene(*groups, center="median").pvalue)
    assert found.gaussian_variance == pytest.approx(stats.bartlett(*groups).pvalue)
    assert math.isnan(found.slope)


def test_scipy_has_the_same_brown_forsythe_on_residuals():
    z, y, context = awkward(12)
    residuals = (
        y
        - np.column_stack([np.ones(len(y)), z])
        @ np.linalg.lstsq(np.column_stack([np.ones(len(y)), z]), y, rcond=None)[0]
    )
    groups = [residuals[context == level] for level in range(3)]
    found = change_parts(category(context), number(y), [number(column) for column in z.T])
    assert found.variance == pytest.approx(stats.levene(*groups, center="median").pvalue, rel=1e-6)


def test_statsmodels_has_the_same_f_and_reset():
    linear_model = pytest.importorskip("statsmodels.regression.linear_model")
    z, y, context = awkward(13, 3, 1)
    ones, dummies = np.ones((len(y), 1)), (context[:, None] == [1, 2]).astype(float)
    common = linear_model.OLS(y, np.column_stack([ones, z])).fit()
    shifts = linear_model.OLS(y, np.column_stack([ones, z, dummies])).fit()
    every = linear_model.OLS(y, np.column_stack([ones, z, dummies, dummies * z])).fit()
    found = change_parts(category(context), number(y), [number(z[:, 0])])
    assert found.mean == pytest.approx(shifts.compare_f_test(common)[1], rel=1e-6)
    assert found.slope == pytest.approx(every.compare_f_test(shifts)[1], rel=1e-6)
    assert found.mean_and_slope == pytest.approx(every.compare_f_test(common)[1], rel=1e-6)
    fitted = (common.fittedvalues - y.mean())[:, None]
    powers = np.column_stack([fitted**2, fitted**3]) / fitted.std() ** 2
    reset = linear_model.OLS(y, np.column_stack([ones, z, dummies, dummies * z, powers])).fit()
    assert found.curvature == pytest.approx(reset.compare_f_test(every)[1], rel=1e-5)


def share_rejected(draw, repeats, seed, test=None):
    """How often a test rejects at .05 on tables (context, y, conditions) drawn anew."""
    generator = np.random.default_rng(seed)
    tables = (draw(generator) for _ in range(repeats))
    answers = [
        answer(test or RobustChange(), context, y, *map(number, z)) for context, y, *z in tables
    ]
    return np.mean([found.p < 0.05 for found in answers])


def of_linear_null(noise, contexts):
    def draw(generator):
        z, w = generator.normal(size=(2, 200))
        context = generator.permutation(np.arange(200) % contexts)
        return context, z - w + noise(generator), z, w

    return draw


NOISES = {
    "gaussian": lambda generator: generator.normal(size=200),
    "t5": lambda generator: generator.standard_t(5, size=200),
    "laplace": lambda generator: generator.laplace(size=200),
    "exponential": lambda generator: generator.exponential(size=200),
}


@pytest.mark.slow
@pytest.mark.parametrize("contexts", [2, 5])
@pytest.mark.parametrize("noise", NOISES)
def test_level_for_tails_of_all_kinds(noise, contexts):
    """LR* has sizes up to .2 and more here."""
    rejected = share_rejected(of_linear_null(NOISES[noise], contexts), 600, 1)
    assert (
        stats.binom.ppf(0.0005, 600, 0.05) / 600
        <= rejected
        <= stats.binom.ppf(0.9995, 600, 0.055) / 600
    )


def test_level_where_y_causes_a_condition_that_makes_the_context():
    """W -> P -> R with exponential noise: W given P is neither linear nor even, so that only the
    gate is right.
    """

    def draw(generator):
        y = generator.exponential(size=200)
        effect = y + generator.exponential(size=200)
        return (effect + generator.normal(size=200) > 2).astype(int), y, effect

    assert share_rejected(draw, 400, 2) < 0.08


def test_power_for_a_change_of_mean_slope_or_spread():
    def draw(change):
        def table(generator):
            z = generator.normal(size=200)
            context, noise = generator.integers(2, size=200), generator.standard_t(5, size=200)
            return context, change(z, context, noise), z

        return table

    assert share_rejected(draw(lambda z, r, e: z + e + 0.8 * r), 200, 3) > 0.9
    assert share_rejected(draw(lambda z, r, e: z * (1 - 0.9 * r) + e), 200, 4) > 0.9
    assert share_rejected(draw(lambda z, r, e: z + e * (1 + r)), 200, 5) > 0.9


def test_parts_say_what_has_changed():
    generator = np.random.default_rng(14)
    context = np.repeat([0, 1], 150)
    z, e = generator.normal(size=(2, 300))
    changes = {
        "mean": z + e + context,
        "slope": z * (1 - 1.5 * context) + e,
        "variance": z + e * (1 + 2 * context),
    }
    for name, y in changes.items():
        parts = change_parts(category(context), number(y), [number(z)])._asdict()
        assert min(("mean", "slope", "variance"), key=parts.__getitem__) == name
        assert parts[name] < 1e-4


def test_small_contexts_are_left_out():
    z, y, context = awkward(15)
    few = np.concatenate([np.full(3, 7), context[3:]])
    with_few = answer(RobustChange(), few, y, *map(number, z.T))
    without = answer(RobustChange(), context[3:], y[3:], *map(number, z[3:].T))
    assert with_few == pytest.approx(without)


def test_reasons_are_told_apart():
    generator = np.random.default_rng(16)
    y, z = generator.normal(size=(2, 40))
    three, halves = np.repeat([0, 1], [37, 3]), np.repeat([0, 1], 20)
    test = RobustChange()
    assert answer(test, three, y).reason == Reason.FEW_CONTEXTS
    assert answer(test, np.arange(40) % 25, y).reason == Reason.FEW_CONTEXTS
    assert answer(test, halves, 3 - 2 * z, number(z)).reason == Reason.COLLINEAR
    assert answer(test, halves, y, category(np.arange(40) // 10)).reason == Reason.COLLINEAR
    assert answer(
        test, np.repeat([0, 1], [34, 6]), np.where(np.arange(40) < 39, 1.0, 2.0)
    ).reason in (0, 3)
    only_in_few = np.where(three == 1, 1.0, 2.0)
    assert answer(test, np.repeat([0, 1, 2], [18, 19, 3]), only_in_few).reason == Reason.CONSTANT


def test_without_any_noise_a_change_is_certain_and_no_change_is_untestable():
    z = np.linspace(0, 1, 60)
    context = np.arange(60) % 2
    found = answer(RobustChange(), context, z * (1 + context), number(z))
    assert found.p < 1e-12
    assert answer(RobustChange(), context, 1.0 * context).p == 0.0
    assert answer(RobustChange(), context, 2 * z - 3, number(z)).reason == Reason.COLLINEAR


def test_many_contexts():
    generator = np.random.default_rng(17)
    context = generator.permutation(np.repeat(np.arange(25), 12))
    z, e = generator.normal(size=(2, 300))
    assert answer(RobustChange(), context, z + e, number(z)).p > 0.01
    assert answer(RobustChange(), context, z + e + 0.2 * context, number(z)).p < 1e-6


def test_conditions_that_tell_the_contexts_apart_leave_the_gate_nothing_to_gain():
    """A sharp threshold: the logit of the context on Z is perfect, so that y given Z must be linear
    to be judged.
    """
    generator = np.random.default_rng(18)
    z = generator.normal(size=400)
    parts = change_parts(
        category((z > 0).astype(int)), number(z**2 + generator.normal(size=400)), [number(z)]
    )
    assert min(parts.mean, parts.slope) < 1e-6
    assert parts.curvature < GATE_LEVEL
    assert parts.p > 0.5


def test_discover_takes_it_by_name():
    table = cc.simulate.random_model(nodes=5, seed=3).sample(400, seed=4)
    result = cc.discover(table, context="R", test="robust-change", method="pc-ac")
    used = set(result.tests()["test"])
    assert "robust-change" in used
    assert find_test("robust-change").name == "robust-change"


def test_only_a_number_and_a_category():
    number_, category_ = Kind.CONTINUOUS, Kind.CATEGORICAL
    test = RobustChange()
    assert test.takes(number_, Kind.ORDERED, [category_, Kind.COUNT])
    assert test.takes(category_, Kind.COUNT, [])
    assert not test.takes(number_, Kind.COUNT, [])
    assert not test.takes(category_, category_, [number_])


@pytest.mark.parametrize("seed", range(30, 36))
def test_moments_alone_bound_the_p_value_from_below(seed):
    """Mean, slope and Bartlett's test need no rows: where they do not reject together, the whole
    test does not.
    """
    z, y, context = awkward(seed, 3, 2, curved=seed % 2 == 0, noise="exponential")
    parts = change_parts(category(context), number(y), [number(column) for column in z.T])
    assert parts.p >= naive_change.combine(parts.mean, parts.slope, parts.gaussian_variance) * (
        1 - 1e-9
    )


def test_without_a_gate_the_parts_decide():
    generator = np.random.default_rng(19)
    z = generator.normal(size=400)
    context, y, given = (z > 0).astype(int), z**2 + generator.normal(size=400), [number(z)]
    parts = change_parts(category(context), number(y), given)
    spread = max(parts.variance, parts.gaussian_variance)
    trusting = answer(RobustChange(gate=0.0), context, y, *given)
    assert trusting.p == pytest.approx(
        naive_change.combine(parts.mean, parts.slope, spread), abs=1e-12
    )
    assert trusting.p < 1e-6 < answer(RobustChange(), context, y, *given).p


def test_long_tables_are_thinned_and_small_contexts_kept():
    generator = np.random.default_rng(3)
    n = 30_000
    table = pd.DataFrame(
        {"x": generator.standard_normal(n), "R": (np.arange(n) % 1000 == 0).astype(int)}
    )
    table["y"] = table["x"] + generator.standard_normal(n) + table["R"]
    data = read_table(table, "R")
    queries = [CIQuery(data.position("R"), data.position("y"), (data.position("x"),))]
    some = RobustChange(most_rows=1000).prepare(data, gather_statistics(data)).answer(queries)
    every = RobustChange(most_rows=n).prepare(data, gather_statistics(data)).answer(queries)
    assert (some.n[0], every.n[0]) == (530, n)
    assert max(some.p[0], every.p[0]) < 0.01
    again = RobustChange(most_rows=1000).prepare(data, gather_statistics(data)).answer(queries)
    assert again.p[0] == some.p[0]
    other = (
        RobustChange(most_rows=1000, seed=1).prepare(data, gather_statistics(data)).answer(queries)
    )
    assert other.p[0] != some.p[0]
