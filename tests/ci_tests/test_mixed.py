"""The tests for columns of any kinds: against twins, statsmodels and scipy; level and power; what
breaks others.
"""

import itertools
import math
import time

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive
import naive_mixed
from causalcontext.ci_tests.contingency import TableTest
from causalcontext.ci_tests.designs import added_to, association, base_of, columns_of, level_numbers
from causalcontext.ci_tests.registry import TESTS
from causalcontext.ci_tests.rows import Comparison, as_variable
from causalcontext.ci_tests.tsagris import combined, compare_fits, regression, response_of
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.views import CIQuery, Contexts, Reason
from marks import rest_slow

KINDS = {
    "number": Kind.CONTINUOUS,
    "category": Kind.CATEGORICAL,
    "ordered": Kind.ORDERED,
    "count": Kind.COUNT,
}
ROW_TESTS = (
    "tsagris",
    "conditional-gaussian",
    "g-squared",
    "chi-squared",
    "sandwich",
    "gaussian-ranks",
)
WANTED = ["number", "binary", "category", "ordered", "count"]


def draw(kind, effect, rng):
    """A column that moves with `effect`, shifted and scaled."""
    n = len(effect)
    if kind == "number":
        return "number", 1e3 - 7 * (effect + rng.standard_normal(n))
    if kind == "binary":
        return "category", (effect + rng.logistic(size=n) > 0.2).astype(float)
    if kind == "category":
        slopes = np.array([-1.0, 0.5, 0.0, 1.0])
        return "category", (effect[:, None] * slopes + rng.gumbel(size=(n, 4))).argmax(
            axis=1
        ).astype(float)
    if kind == "ordered":
        return "ordered", np.digitize(-effect + rng.logistic(size=n), [-1.5, 0.0, 1.0]).astype(
            float
        )
    return "count", rng.poisson(np.exp(0.7 + 0.4 * np.clip(effect, -3, 3))).astype(float)


def variable(column):
    found = as_variable(column[1], KINDS[column[0]])
    assert found is not None
    return found


def ask(name, x, y, given=(), seed=0):
    if isinstance(TESTS[name], TableTest):
        return ask_tables(TESTS[name], x, y, given)
    return TESTS[name].compare(
        variable(x), variable(y), [variable(z) for z in given], np.random.default_rng(seed)
    )


def ask_tables(test, x, y, given):
    """The answer of a test that prepares the codes of whole tables."""
    columns = (x, y, *given)
    rows = len(x[1])
    data = Dataset(
        names=tuple(f"V{number}" for number in range(len(columns))),
        kinds=(Kind.CATEGORICAL,) * len(columns),
        columns=tuple(level_numbers(column[1]) for column in columns),
        dtypes=("int64",) * len(columns),
        contexts=Contexts(),
        levels=(),
        codes=np.zeros(rows, dtype=np.int32),
    )
    query = CIQuery(0, 1, tuple(range(2, len(columns))))
    outcomes = test.prepare(data, gather_statistics(data)).answer([query])
    return Comparison(
        float(outcomes.statistic[0]),
        float(outcomes.df[0]),
        float(outcomes.p[0]),
        Reason(outcomes.reason[0]),
    )


def scaled(column):
    return (column[1] - column[1].mean()) / column[1].std()


def small_world(rng, n, x, y, given, strength=0.0):
    """Columns x and y that depend on the conditions, and y on x with this strength."""
    conditions = [draw(kind, np.zeros(n), rng) for kind in given]
    shared = sum((scaled(z) for z in conditions), np.zeros(n)) * 0.7
    first = draw(x, shared, rng)
    return first, draw(y, shared + strength * scaled(first), rng), conditions


@pytest.mark.parametrize("x", WANTED)
@pytest.mark.parametrize("y", ["number", "category", "ordered", "count"])
@pytest.mark.parametrize("given", [(), ("binary", "count")])
def test_every_regression_is_its_twin(x, y, given):
    rng = np.random.default_rng(3)
    response, other, conditions = small_world(rng, 400, x, y, given, 0.2)
    base = base_of([variable(z) for z in conditions], 400)
    found = regression(variable(response), base, added_to(base, columns_of(variable(other))), rng)
    statistic, df, p = naive_mixed.regression_p(response, other, conditions)
    if x == "number" and y in ("number", "count"):
        assert found.statistic**2 / (1 - found.statistic**2) * found.df == pytest.approx(
            statistic, rel=1e-6
        )
    else:
        assert (found.statistic, found.df) == (pytest.approx(statistic, rel=1e-4, abs=1e-5), df)
    assert found.p == pytest.approx(p, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize(
    ("x", "y"), [("binary", "number"), ("count", "category"), ("ordered", "binary")]
)
def test_tsagris_is_its_twin(x, y):
    first, second, conditions = small_world(np.random.default_rng(5), 500, x, y, ("number",), 0.1)
    assert ask("tsagris", first, second, conditions).p == pytest.approx(
        naive_mixed.tsagris(first, second, conditions), rel=1e-3
    )


@pytest.mark.slow
def test_likelihoods_agree_with_statsmodels():
    api = pytest.importorskip("statsmodels.api")
    ordinal = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    rng = np.random.default_rng(8)
    z, w = rng.standard_normal((2, 300))
    category, ordered, count = (
        draw(kind, z - 0.5 * w, rng) for kind in ("category", "ordered", "count")
    )
    base = base_of([variable(("number", z))], 300)
    added = added_to(base, columns_of(variable(("number", w))))
    full, small = np.column_stack([np.ones(300), z, w]), np.column_stack([np.ones(300), z])

    found = compare_fits(response_of(variable(category)), base, added)
    large, less = (api.MNLogit(category[1], design).fit(disp=0) for design in (full, small))
    assert (found.large.likelihood, found.small.likelihood) == pytest.approx(
        (large.llf, less.llf), abs=1e-6
    )
    assert found.df == 3

    found = compare_fits(response_of(variable(ordered)), base, added)
    large, less = (
        ordinal.OrderedModel(ordered[1], design[:, 1:], distr="logit").fit(
            disp=0, method="bfgs", gtol=1e-8
        )
        for design in (full, small)
    )
    assert (found.large.likelihood, found.small.likelihood) == pytest.approx(
        (large.llf, less.llf), abs=1e-5
    )
    assert found.df == 1

    answer = regression(variable(count), base, added, rng)
    large, less = (
        api.GLM(count[1], design, family=api.families.Poisson()).fit() for design in (full, small)
    )
    assert answer.statistic == pytest.approx(
        (less.deviance - large.deviance) / (large.pearson_chi2 / 297), rel=1e-6
    )


def test_g_squared_agrees_with_scipy_and_the_twin():
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 3, 4000).astype(float), rng.integers(0, 4, 4000).astype(float)
    y[x == 1] = np.minimum(y[x == 1], 2 + (rng.random((x == 1).sum()) < 0.8))
    strata = [rng.integers(0, 2, 4000).astype(float), rng.integers(0, 3, 4000).astype(float)]
    table = pd.crosstab(x, y).to_numpy()
    plain = ask("g-squared", ("category", x), ("ordered", y))
    expected = stats.chi2_contingency(table, lambda_="log-likelihood", correction=False)
    assert (plain.statistic, plain.df, plain.p) == pytest.approx(
        (expected.statistic, expected.dof, expected.pvalue)
    )
    given = ask("g-squared", ("category", x), ("ordered", y), [("category", z) for z in strata])
    assert (given.statistic, given.df) == pytest.approx(naive_mixed.g_squared(x, y, strata))


@pytest.mark.parametrize(
    "values", [[3.0, 0, 3, 7], [0.5, 2, 0.5], [-1.0, 4, 4], [1e300, 0, 1e300], [2, 2, 900]]
)
def test_levels_are_numbered_in_their_order(values):
    assert (
        level_numbers(np.array(values)).tolist()
        == np.unique(values, return_inverse=True)[1].tolist()
    )


def test_conditional_gaussian_in_strata_is_its_twin():
    rng = np.random.default_rng(4)
    n = 200
    r, s = rng.integers(0, 3, n).astype(float), rng.integers(0, 2, n).astype(float)
    z = rng.standard_normal(n) + 50
    x, y = z * (r - 1) - 3 * s + rng.standard_normal(n), -z + 0.2 * z * r + rng.standard_normal(n)
    found = ask(
        "conditional-gaussian",
        ("number", x),
        ("number", y),
        [("category", r), ("number", z), ("ordered", s)],
    )
    statistic, df, inside = naive_mixed.stratified(x, y, [z], [r, s])
    assert inside == n
    assert (found.statistic, found.df) == (pytest.approx(statistic), df)
    assert found.p == pytest.approx(stats.chi2.sf(statistic, df))


def test_thin_strata_give_way_to_indicators():
    rng = np.random.default_rng(6)
    r, s = rng.integers(0, 8, 60).astype(float), rng.integers(0, 4, 60).astype(float)
    x, y = rng.standard_normal((2, 60))
    found = ask(
        "conditional-gaussian", ("number", x), ("number", y), [("category", r), ("category", s)]
    )
    assert naive_mixed.stratified(x, y, [], [r, s])[2] < 0.8 * 60
    data = np.column_stack([x, y, naive_mixed.dummies(r), naive_mixed.dummies(s)])
    correlation, _, df, p = naive.partial_correlation(data, 0, 1, range(2, data.shape[1]))
    assert (found.statistic, found.df, found.p) == pytest.approx((correlation, df, p))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_conditional_gaussian_of_a_mixed_pair_is_the_change_of_contexts(order):
    rng = np.random.default_rng(9)
    n = 150
    r, s, z = rng.integers(0, 3, n), rng.integers(0, 3, n).astype(float), rng.standard_normal(n)
    y = 100 + z * r - s + rng.standard_normal(n) * (1 + 0.2 * r)
    pair = [("category", r.astype(float)), ("number", y)]
    found = ask("conditional-gaussian", *(pair[i] for i in order), [("number", z), ("category", s)])
    data = np.column_stack([y, z, naive_mixed.dummies(s)])
    statistic, df, p = naive.context_change(data, r, 0, (1, 2, 3))
    assert (found.statistic, found.df, found.p) == pytest.approx((statistic, df, p), rel=1e-6)


def test_sandwich_and_gaussian_ranks_are_their_twins():
    rng = np.random.default_rng(10)
    n = 60
    z, r = np.exp(rng.standard_normal(n)), rng.integers(0, 3, n).astype(float)
    x, y = 1e4 - z + rng.standard_normal(n), z * rng.standard_normal(n) - r
    given = [("number", z), ("category", r)]
    found = ask("sandwich", ("number", x), ("number", y), given)
    expected = naive_mixed.sandwich(x, y, naive_mixed.regressors(given))
    assert (found.statistic, found.df, found.p) == pytest.approx(expected, rel=1e-6)
    found = ask("gaussian-ranks", ("number", x), ("number", y), [("number", z)])
    assert (found.statistic, found.df, found.p) == pytest.approx(
        naive.legacy_correlation(np.column_stack([x, y, z]), 0, 1, (2,))
    )


def test_association_is_wilks_lambda_and_symmetric():
    rng = np.random.default_rng(11)
    n = 120
    x, y, z = rng.standard_normal((n, 3)), rng.standard_normal((n, 2)), rng.standard_normal((n, 2))
    y[:, 0] += 0.4 * x[:, 1] - z[:, 0]
    base = base_of([variable(("number", column)) for column in z.T], n)
    first, second = added_to(base, x), added_to(base, y)
    found, swapped = association(first, second, base), association(second, first, base)
    share = math.sqrt(naive_mixed.wilks(x, y, z))
    df = 2 * (n - 3 - 3.0) - 2  # for p = 3, q = 2: Rao's root is 2
    assert found.statistic == pytest.approx((1 - share) / share * df / 6)
    assert found.p == pytest.approx(stats.f.sf(found.statistic, 6, df))
    assert swapped.p == pytest.approx(found.p)


@pytest.mark.parametrize("name", ROW_TESTS)
def test_symmetric_questions_have_symmetric_answers(name):
    """Swapped ends, other order of conditions and rows, other names of levels: the same p-value."""
    rng = np.random.default_rng(12)
    of_tables = isinstance(TESTS[name], TableTest)
    wanted = ["binary", "category", "ordered"] if of_tables else WANTED
    for x, y in itertools.combinations_with_replacement(wanted, 2):
        first, second, given = small_world(
            rng, 700, x, y, ("binary",) if of_tables else ("number", "binary")
        )
        shuffled = rng.permutation(700)
        renamed = [(kind, 2 - v if kind == "category" else v) for kind, v in (first, second)]
        plain = ask(name, first, second, given)
        assert plain.reason is Reason.TESTABLE
        assert ask(name, second, first, given[::-1]).p == pytest.approx(plain.p, rel=1e-5)
        assert ask(name, *renamed, given).p == pytest.approx(plain.p, rel=1e-5)
        moved = [(kind, v[shuffled]) for kind, v in (first, second, *given)]
        assert ask(name, moved[0], moved[1], moved[2:]).p == pytest.approx(plain.p, rel=1e-5)


def rejections(name, x, y, given, n, strength, repeats, seed=0):
    """The share of p-values below .05."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        first, second, conditions = small_world(rng, n, x, y, given, strength)
        if all(len(np.unique(column[1])) > 1 for column in (first, second, *conditions)):
            found.append(ask(name, first, second, conditions, int(rng.integers(2**32))).p)
    return np.mean(np.array(found) < 0.05)


LEVELS = [  # one of every test first
    ("tsagris", "binary", "number", ("number", "ordered"), 30),
    ("conditional-gaussian", "number", "number", ("category", "binary"), 60),
    ("g-squared", "binary", "category", ("binary", "ordered"), 60),
    ("chi-squared", "binary", "category", ("binary", "ordered"), 60),
    ("g-squared", "category", "ordered", ("category", "ordered"), 100),
    ("sandwich", "number", "number", ("number", "number", "number"), 30),
    ("gaussian-ranks", "number", "number", ("number", "binary"), 40),
    *(
        ("tsagris", x, y, ("number",), 120)
        for x, y in itertools.combinations_with_replacement(WANTED, 2)
    ),
    ("tsagris", "category", "ordered", (), 40),
    ("tsagris", "binary", "category", ("count",), 40),
    ("conditional-gaussian", "category", "number", ("number", "binary"), 80),
    ("g-squared", "category", "ordered", (), 400),
    ("chi-squared", "category", "ordered", (), 400),
]


@pytest.mark.parametrize(("name", "x", "y", "given", "n"), rest_slow(LEVELS, fast=5))
def test_level(name, x, y, given, n):
    """Within the bounds of 80 draws at .05 (1 in 2,000 by chance), which small permutation tests
    may undercut.
    """
    share = rejections(name, x, y, given, n, 0.0, 80)
    assert share <= stats.binom.ppf(1 - 5e-4, 80, 0.05) / 80


@pytest.mark.slow
@pytest.mark.parametrize(("name", "x", "y", "given", "n"), LEVELS)
def test_level_with_many_draws(name, x, y, given, n):
    assert 0.02 < rejections(name, x, y, given, n, 0.0, 1000, seed=1) < 0.08


@pytest.mark.parametrize(
    ("name", "x", "y", "given"),
    rest_slow(
        [
            ("conditional-gaussian", "number", "number", ("category",)),
            ("conditional-gaussian", "category", "number", ("number", "binary")),
            ("g-squared", "binary", "category", ("binary",)),
            ("sandwich", "number", "number", ("number",)),
            ("gaussian-ranks", "number", "number", ("number",)),
            *(
                ("tsagris", x, y, ("number",))
                for x, y in itertools.combinations_with_replacement(WANTED, 2)
            ),
        ],
        fast=7,
    ),
)
def test_power(name, x, y, given):
    assert rejections(name, x, y, given, 300, 0.7, 30) > 0.8


def test_conditional_gaussian_sees_slopes_that_cancel():
    """A slope of +1 in one stratum and -1 in the other, which indicators alone would miss."""
    rng = np.random.default_rng(13)
    r, x = rng.integers(0, 2, 120).astype(float), rng.standard_normal(120)
    y = x * (2 * r - 1) + rng.standard_normal(120)
    assert ask("conditional-gaussian", ("number", x), ("number", y), [("category", r)]).p < 1e-8
    assert ask("tsagris", ("number", x), ("number", y), [("category", r)]).p > 0.01


def test_the_sandwich_keeps_its_level_where_variances_move_together():
    rng = np.random.default_rng(14)
    counts = np.zeros(2)
    for _ in range(300):
        spread = np.exp(rng.standard_normal(100))
        x, y = rng.standard_normal((2, 100)) * spread
        counts += [
            ask(name, ("number", x), ("number", y)).p < 0.05 for name in ("sandwich", "tsagris")
        ]
    assert counts[0] <= stats.binom.ppf(1 - 5e-4, 300, 0.05)
    assert counts[1] > 45  # the plain test rejects far too often


@pytest.mark.parametrize("kind", ["category", "ordered"])
def test_separation_is_the_strongest_dependence(kind):
    rng = np.random.default_rng(15)
    z, y = rng.standard_normal((2, 100))
    classes = np.digitize(y, [-0.5, 0.5]).astype(float)
    for given in ([], [("number", z)]):
        answer = ask("tsagris", (kind, classes), ("number", y), given)
        assert answer.reason is Reason.TESTABLE
        assert answer.p < 1e-20
    small = ask("tsagris", (kind, classes[:20]), ("number", y[:20]))
    assert small.p < 0.01


@pytest.mark.parametrize("kind", ["category", "ordered"])
def test_a_class_that_the_conditions_decide_leaves_only_the_other_side(kind):
    rng = np.random.default_rng(16)
    z, noise = rng.standard_normal((2, 100))
    classes = (kind, np.digitize(z, [-0.5, 0.5]).astype(float))
    base = base_of([variable(("number", z))], 100)
    other = ("category", (noise > 0).astype(float))
    side = regression(variable(classes), base, added_to(base, columns_of(variable(other))), rng)
    assert side.reason is Reason.COLLINEAR
    both = ask("tsagris", classes, other, [("number", z)])
    assert (
        both.p
        == regression(variable(other), base, added_to(base, columns_of(variable(classes))), rng).p
    )
    decided = ("category", (z > 0.1).astype(float))
    neither = ask("tsagris", classes, decided, [("number", z)])
    assert neither.reason is Reason.COLLINEAR


def test_a_level_that_is_decided_costs_no_degree_of_freedom():
    """Where z = 1 all rows have class 0; only the other half of the rows speaks, as if z were not
    there.
    """
    rng = np.random.default_rng(17)
    z, y = np.repeat([0.0, 1.0], 200), rng.standard_normal(400)
    y[200:] = rng.permutation(np.repeat([0.0, 5.0], 100))
    x = np.where(z == 1, 0.0, rng.integers(0, 3, 400))
    base = base_of([variable(("category", z))], 400)
    found = compare_fits(
        response_of(variable(("category", x))),
        base,
        added_to(base, columns_of(variable(("number", y)))),
    )
    assert found.df == 2
    inside = compare_fits(
        response_of(variable(("category", x[:200]))),
        np.ones((200, 1)),
        added_to(np.ones((200, 1)), columns_of(variable(("number", y[:200])))),
    )
    assert found.small.likelihood == pytest.approx(inside.small.likelihood, abs=1e-5)


@pytest.mark.parametrize("name", ROW_TESTS)
def test_what_breaks_others_has_a_verdict(name):
    """One-level strata, empty cells, collinear and repeated conditions, many levels, few rows: no
    crash.
    """
    rng = np.random.default_rng(18)
    n = 75
    many = ("category", rng.permutation(np.arange(n) % 25).astype(float))
    pair = ("category", rng.integers(0, 2, n).astype(float))
    number, count = ("number", rng.standard_normal(n)), ("count", rng.poisson(2.0, n).astype(float))
    finer = ("category", 2 * pair[1] + (number[1] > 0))
    rare = ("category", np.r_[np.zeros(n - 3), np.ones(3)])
    unique = ("category", np.arange(n, dtype=float))
    ordered = ("ordered", rng.integers(0, 25, n).astype(float))
    columns = [many, pair, number, count, finer, rare, unique, ordered]
    for x, y in itertools.combinations(columns, 2):
        for given in ([], [pair, finer, number, number], [many, rare], [unique, number]):
            answer = ask(name, x, y, given)
            assert answer.reason or 0 <= answer.p <= 1
        assert ask(name, x, y, [x]).reason is not Reason.TESTABLE
        assert ask(name, x, y, [number, y]).reason is not Reason.TESTABLE
    for size in (2, 3, 5):
        for x, y in itertools.permutations(columns, 2):
            shorter = [(kind, values[-size:]) for kind, values in (x, y, number)]
            if all(len(np.unique(values)) > 1 for _, values in shorter[:2]):
                assert ask(name, *shorter[:2], shorter[2:]).reason is not Reason.TESTABLE


def test_a_condition_that_is_repeated_changes_nothing():
    rng = np.random.default_rng(19)
    for name in ROW_TESTS:
        kinds = (
            ("binary", "category", "ordered")
            if isinstance(TESTS[name], TableTest)
            else ("number", "binary", "category")
        )
        first, second, (given,) = small_world(rng, 600, kinds[0], kinds[1], (kinds[2],))
        again = (given[0], -given[1] if given[0] == "number" else given[1].max() - given[1])
        plain, twice = (
            ask(name, first, second, [given]),
            ask(name, first, second, [given, given, again]),
        )
        assert (plain.df, plain.p) == pytest.approx((twice.df, twice.p), rel=1e-6)


def test_identical_values_in_a_table_are_no_evidence():
    """With all values different a permutation changes nothing: a constant statistic is untestable,
    not p = 1.
    """
    x, y = ("category", np.arange(40.0)), ("category", np.repeat([0.0, 1.0], 20))
    assert ask("g-squared", x, y).reason is Reason.FEW_ROWS
    strata, halves = (
        ("category", np.repeat(np.arange(20.0), 2)),
        ("category", np.tile([0.0, 1.0], 20)),
    )
    assert ask("g-squared", halves, y, [strata]).reason is Reason.FEW_ROWS
    assert ask("g-squared", halves, halves, [strata]).reason is Reason.FEW_ROWS


def test_a_count_that_is_no_count_is_a_number():
    rng = np.random.default_rng(20)
    values = rng.standard_normal(80)
    as_count, as_number = (
        ask("tsagris", (kind, values), ("category", values > 0.3)) for kind in ("count", "number")
    )
    assert as_count.p == pytest.approx(as_number.p)


def test_one_side_alone_answers_where_the_other_cannot():
    from causalcontext.ci_tests.rows import Comparison, untestable

    found = Comparison(3.0, 1.0, 0.2)
    assert (
        combined(found, untestable(Reason.FEW_ROWS))
        == combined(untestable(Reason.COLLINEAR), found)
        == found
    )
    assert (
        combined(untestable(Reason.FEW_ROWS), untestable(Reason.COLLINEAR)).reason
        is not Reason.TESTABLE
    )
    assert combined(found, Comparison(4.0, 2.0, 0.05)) == Comparison(4.0, 2.0, 0.1)
    assert combined(found, Comparison(4.0, 2.0, 0.15)) == Comparison(4.0, 2.0, 0.2)


@pytest.mark.slow
def test_many_levels_on_both_sides_are_answered_in_time():
    rng = np.random.default_rng(21)
    n = 20_000
    x, y, z = (rng.integers(0, 40, n).astype(float) for _ in range(3))
    start = time.monotonic()
    answers = [
        ask("tsagris", ("category", x), ("category", y), [("number", rng.standard_normal(n))]),
        ask("g-squared", ("category", x), ("category", y), [("category", z % 4)]),
        ask("tsagris", ("category", x), ("number", y + rng.standard_normal(n)), [("category", z)]),
    ]
    assert time.monotonic() - start < 60
    assert answers[0].reason is Reason.FEW_ROWS
    assert all(answer.p > 1e-3 for answer in answers[1:])


@pytest.mark.parametrize("name", ROW_TESTS)
def test_on_a_table_with_a_context(name):
    """Through the door of the search: answers depend neither on the order of columns nor on that of
    queries.
    """
    rng = np.random.default_rng(22)
    n = 90
    r = rng.integers(0, 2, n)
    table = pd.DataFrame(
        {"R": r, "A": rng.standard_normal(n) + r, "B": rng.standard_normal(n), "C": r * 1.5}
    )
    answers = []
    for columns in (["R", "A", "B", "C"], ["B", "C", "R", "A"]):
        data = read_table(table[columns], "R")
        at = {column: data.names.index(column) for column in columns}
        prepared = TESTS[name].prepare(data, gather_statistics(data))
        inside = 2
        queries = [
            CIQuery(at["A"], at["B"], (at["R"],)),
            CIQuery(at["R"], at["A"], (at["B"],)),
            CIQuery(at["A"], at["B"], (), inside),
            CIQuery(at["C"], at["A"], (), inside),
        ]
        answers.append(prepared.answer(queries))
    np.testing.assert_allclose(answers[0].p, answers[1].p, rtol=1e-9)
    assert answers[0].reason[3] == Reason.CONSTANT
