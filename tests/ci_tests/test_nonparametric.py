"""CMIknn and the permutation engine: twins, symmetries, level and power, rough columns."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
import naive_knn
from causalcontext.ci_tests.cmi_knn import CmiKnn, exchange_of, rank_space
from causalcontext.ci_tests.registry import find_test
from causalcontext.ci_tests.rows import Variable, as_variable, permutation_p
from causalcontext.data.columns import Kind
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.errors import OptionError
from causalcontext.views import CIQuery, Reason
from marks import rest_slow


def number(values) -> Variable:
    return Variable(np.asarray(values, dtype=float), Kind.CONTINUOUS)


def code(values, kind=Kind.CATEGORICAL) -> Variable:
    return as_variable(np.asarray(values, dtype=float), kind)


def stream(seed=0) -> np.random.Generator:
    return np.random.default_rng(seed)


def ugly_rows(seed: int, n: int = 120):
    """Four numbers with shifted means, other scales and negative correlations, and two columns of
    codes.
    """
    random = stream(seed)
    z, w = random.standard_normal(n) * 1e5, random.standard_normal(n) - 1e4
    x = -2e-5 * z + random.standard_normal(n) + 1e3
    y = np.exp(0.5 * random.standard_normal(n) - 0.3 * (x - 1e3))
    r = np.digitize(1e-5 * z + random.standard_normal(n), [-0.8, 0.9])
    s = random.integers(0, 4, n)
    return {"x": x, "y": y, "z": z, "w": w, "r": r, "s": s}


def variable(columns, name) -> Variable:
    return code(columns[name]) if name in "rs" else number(columns[name])


# the permutation engine


@pytest.mark.parametrize("enough", [None, 1, 5, 10, 200])
@pytest.mark.parametrize("chance", [0.01, 0.1, 0.6])
def test_batches_give_the_p_value_of_one_by_one(enough, chance):
    for seed in range(20):
        statistics = (stream(seed).random(100) < chance).astype(float)
        p = permutation_p(
            1.0, lambda first, count, all_=statistics: all_[first : first + count], 100, enough
        )
        assert p == pytest.approx(naive_knn.sequential_p(1.0, statistics, 100, enough))


def test_stopping_early_changes_no_decision_but_saves_draws():
    drawn = 0
    for seed in range(200):
        statistics = stream(seed).random(100)
        observed = stream(1000 + seed).random() ** 0.2

        def draw(first, count, statistics=statistics):
            nonlocal drawn
            drawn += count
            return statistics[first : first + count]

        full = naive_knn.sequential_p(observed, statistics, 100, None)
        stopped = permutation_p(observed, draw, 100, 10)
        assert (stopped <= 0.05) == (full <= 0.05)
    assert drawn < 200 * 75


def test_a_test_that_stops_early_decides_as_one_that_does_not():
    for seed in range(40):
        x, y, given = common_cause(stream(seed), "mean" if seed % 4 == 0 else "none", 60)
        stopped, full = (
            test.compare(x, y, given, stream(seed)) for test in (CmiKnn(), CmiKnn(enough=None))
        )
        assert (stopped.p <= 0.05) == (full.p <= 0.05)
        assert stopped.p == full.p or min(stopped.p, full.p) > 0.05


def test_an_infinite_statistic_has_a_p_value():
    assert permutation_p(np.inf, lambda first, count: np.zeros(count), 99, 5) == pytest.approx(0.01)


# CMIknn: the statistic


@pytest.mark.parametrize("given", [(), ("z",), ("z", "w")])
@pytest.mark.parametrize("neighbours", [0.2, 0.05, 3])
def test_numbers_are_counted_as_frenzel_and_pompe_do(given, neighbours):
    columns = ugly_rows(1)
    found = CmiKnn(neighbours=neighbours).statistic(
        *(variable(columns, c) for c in "xy"), [variable(columns, c) for c in given]
    )
    expected = naive_knn.frenzel_pompe(
        columns["x"], columns["y"], [columns[c] for c in given], neighbours
    )
    assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("ends", ["xr", "ry", "rs", "xy"])
@pytest.mark.parametrize("given", [(), ("z",), ("w", "s"), ("r",), ("r", "s", "z")])
@pytest.mark.parametrize("neighbours", rest_slow([4, 0.2, 60]))
def test_codes_are_counted_as_mesner_and_shalizi_do(ends, given, neighbours):
    columns = ugly_rows(2)
    given = tuple(name for name in given if name not in ends)
    if not set("rs") & {*ends, *given}:
        return
    found = CmiKnn(neighbours=neighbours).statistic(
        *(variable(columns, c) for c in ends), [variable(columns, c) for c in given]
    )
    sides = [(columns[name], name in "rs") for name in (*ends, *given)]
    assert found == pytest.approx(
        naive_knn.mesner_shalizi(sides[0], sides[1], sides[2:], neighbours), abs=1e-10
    )


def test_ties_of_numbers_are_counted_as_mesner_and_shalizi_do():
    columns = {
        name: np.round(values, -4 if name == "z" else 0) for name, values in ugly_rows(3).items()
    }
    found = CmiKnn().statistic(number(columns["x"]), number(columns["y"]), [number(columns["z"])])
    sides = [(columns[name], False) for name in "xyz"]
    assert found == pytest.approx(
        naive_knn.mesner_shalizi(sides[0], sides[1], sides[2:], 0.2), abs=1e-10
    )


def test_the_estimate_is_near_known_information():
    """Codes 0 ... m - 1, and a number uniform from the code to two above it: log m - (m - 1) log 2
    / m nats.
    """
    random, m = stream(4), 5
    x = random.integers(0, m, 1500)
    y = x + 2 * random.random(1500)
    truth = np.log(m) - (m - 1) * np.log(2) / m
    assert CmiKnn(neighbours=5).statistic(code(x), number(y), []) == pytest.approx(truth, abs=0.06)
    # two Gaussians that are correlated at .6, and are independent given a copy of their codes
    a, b = random.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 1500).T
    assert CmiKnn(neighbours=8).statistic(number(a), number(b), []) == pytest.approx(
        -0.5 * np.log(0.64), abs=0.06
    )
    both = CmiKnn(neighbours=8).statistic(code(x), code(np.minimum(x, 2)), [])
    cells = np.bincount(np.minimum(x, 2)) / 1500
    assert both == pytest.approx(-(cells * np.log(cells)).sum(), abs=0.01)


# CMIknn: what is permuted


def test_permutations_stay_among_the_nearest_rows_and_hardly_repeat():
    columns = ugly_rows(5, 300)
    space = rank_space(
        variable(columns, "x"),
        variable(columns, "y"),
        [variable(columns, "z"), variable(columns, "r")],
    )
    exchange = exchange_of(space, 5, np.uint64(1))
    sources = exchange.sources(0, 20, np.uint64(2))
    assert np.array_equal(exchange.sources(7, 5, np.uint64(2)), sources[7:12])
    ranks = stats.rankdata(columns["z"])
    for row in sources:
        assert np.array_equal(columns["r"][row], columns["r"])
        assert np.unique(row).size > 0.85 * row.size
    nearest = [
        np.sort(np.abs(ranks - ranks[i])[columns["r"] == columns["r"][i]])[4] for i in range(300)
    ]
    assert np.all(np.abs(ranks[sources] - ranks) <= nearest)
    assert np.mean(sources != np.arange(300)) > 0.6


def test_rows_with_equal_conditions_are_permuted_among_themselves():
    columns = ugly_rows(6)
    for given, strata in (((), 1), (("r",), 3), (("r", "s"), 12)):
        space = rank_space(
            variable(columns, "x"),
            variable(columns, "y"),
            [variable(columns, name) for name in given],
        )
        exchange = exchange_of(space, 5, np.uint64(1))
        cells = np.zeros(120) + sum(columns[name] * 4.0**power for power, name in enumerate(given))
        for row in exchange.sources(0, 10, np.uint64(2)):
            assert np.array_equal(cells[row], cells)
            assert np.unique(row).size >= 120 - exchange.loose.size
        assert exchange.starts.size - 1 <= strata


# symmetries

NONPARAMETRIC = [CmiKnn()]


QUESTIONS = [
    ("x", "y", ""),
    ("y", "x", ""),
    ("y", "x", "wz"),
    ("x", "y", "zw"),
    ("r", "x", "z"),
    ("x", "y", "zr"),
]


def answers(test, table: pd.DataFrame, questions) -> dict:
    data = read_table(table, "r")
    prepared, at = test.prepare(data, gather_statistics(data)), data.names.index
    queries = [CIQuery(at(x), at(y), tuple(map(at, given))) for x, y, given in questions]
    return dict(zip(questions, prepared.answer(queries).p, strict=True))


@pytest.mark.parametrize("test", NONPARAMETRIC, ids=lambda test: test.name)
def test_neither_order_of_columns_nor_order_of_trials_changes_a_p_value(test):
    columns = ugly_rows(7, 150)
    table = pd.DataFrame({**columns, "r": np.array(["b", "c", "a"])[columns["r"]]}).drop(
        columns=["s"]
    )
    expected = answers(test, table, QUESTIONS)
    assert answers(test, table[["w", "r", "y", "z", "x"]], QUESTIONS[::-1]) == expected
    for one, other in ((0, 1), (2, 3)):
        assert expected[QUESTIONS[one]] == expected[QUESTIONS[other]]


def test_a_search_by_neighbours_finds_the_change():
    random = stream(20)
    x = random.standard_normal(300)
    r = x + 0.5 * random.standard_normal(300) > 0
    table = pd.DataFrame(
        {"X": x, "Y": 2 * r * np.abs(x) + 0.5 * random.standard_normal(300), "R": r}
    )
    graphs = cc.discover(table, "R", test="cmi-knn", method="pc-ac").graphs
    x, y = (graphs[True].names.index(name) for name in "XY")
    assert [bool(graphs[level].adjacency[x, y]) for level in (False, True)] == [False, True]


@pytest.mark.parametrize("test", NONPARAMETRIC, ids=lambda test: test.name)
@pytest.mark.parametrize("ends", ["xy", "rx", "rs"])
def test_new_labels_and_the_order_of_conditions_change_nothing(test, ends):
    columns = ugly_rows(8)
    rest = [name for name in "zs" if name not in ends]
    first = test.compare(
        *(variable(columns, c) for c in ends), [variable(columns, c) for c in rest], stream()
    )
    columns["r"], columns["s"] = 2 - columns["r"], np.array([2, 0, 3, 1])[columns["s"]]
    second = test.compare(
        *(variable(columns, c) for c in ends), [variable(columns, c) for c in rest[::-1]], stream()
    )
    assert second.p == pytest.approx(first.p, rel=1e-6)
    assert second.statistic == pytest.approx(first.statistic, rel=1e-6, abs=1e-12)


def test_the_statistic_ignores_sides_order_of_rows_and_monotone_changes():
    columns = ugly_rows(9)
    sides = [variable(columns, name) for name in "xyzr"]
    expected = CmiKnn().statistic(sides[0], sides[1], sides[2:])
    order = stream().permutation(120)
    moved = [variable({name: columns[name][order]}, name) for name in "xyzr"]
    bent = [
        number(-np.exp(0.1 * (columns["x"] - 1e3))),
        number(np.log(columns["y"])),
        sides[3],
        sides[2],
    ]
    assert CmiKnn().statistic(sides[1], sides[0], sides[2:]) == pytest.approx(expected, abs=1e-12)
    assert CmiKnn().statistic(moved[0], moved[1], moved[2:]) == pytest.approx(expected, abs=1e-12)
    assert CmiKnn().statistic(bent[0], bent[1], bent[2:]) == pytest.approx(expected, abs=1e-12)


def test_sides_of_different_kinds_have_no_order():
    columns = ugly_rows(10)
    given = [number(columns["z"])]
    one = CmiKnn().compare(code(columns["r"]), number(columns["x"]), given, stream())
    other = CmiKnn().compare(number(columns["x"]), code(columns["r"]), given, stream())
    assert one == pytest.approx(other, nan_ok=True)


@pytest.mark.parametrize("test", NONPARAMETRIC, ids=lambda test: test.name)
def test_the_seed_decides(test):
    columns = ugly_rows(11)
    sides = number(stream(3).standard_normal(120)), code(columns["s"])
    p = [test.compare(*sides, [], stream(seed)).p for seed in (0, 0, 1, 2, 3)]
    assert p[0] == p[1]
    assert len(set(p)) > 1
    assert find_test(test.name).name == test.name


# level and power


def rejections(test, design, repeats: int) -> int:
    total = 0
    for seed in range(repeats):
        x, y, given = design(stream(seed))
        total += test.compare(x, y, given, stream(10_000 + seed)).p <= 0.05
    return total


def common_cause(random, effect="none", n=150, codes=True):
    """A number y and a binary or continuous x with the same cause z; x may change y's mean,
    variance or slope.
    """
    z, noise = random.standard_normal(n), random.standard_normal(n)
    source = 0.8 * z + random.standard_normal(n)
    x = (source > 0).astype(float) if codes else source
    change = {
        "none": 0.0,
        "mean": x,
        "variance": x * noise,
        "slope": -1.5 * x * z,
        "square": 0.5 * x**2,
    }[effect]
    return (code(x) if codes else number(x)), number(z + noise + change), [number(z)]


def apart(random, effect="none", n=150, codes=True):
    """The same with nothing given: x and z are drawn independently, and z is part of the noise."""
    x, y, _ = common_cause(random, effect, n, codes)
    order = random.permutation(n)
    return (x._replace(values=x.values[order]), y, []) if effect == "none" else (x, y, [])


LEVELS = [(design, codes) for design in (common_cause, apart) for codes in (True, False)]


def bounds(repeats: int) -> tuple[float, float]:
    """Where the rejections of a test of size .04 to .06 fall, but for three in ten thousand."""
    return stats.binom.ppf(1e-4, repeats, 0.04), stats.binom.ppf(1 - 1e-4, repeats, 0.06)


@pytest.mark.parametrize("test", NONPARAMETRIC, ids=lambda test: test.name)
@pytest.mark.slow
@pytest.mark.parametrize(("design", "codes"), LEVELS)
def test_level(test, design, codes):
    low, high = bounds(200)
    assert low <= rejections(test, lambda random: design(random, codes=codes), 200) <= high


@pytest.mark.parametrize(
    ("effect", "codes", "least"),
    rest_slow(
        [("slope", True, 0.8), ("mean", True, 0.8), ("variance", True, 0.5), ("square", False, 0.8)]
    ),
)
def test_power_of_cmi_knn(effect, codes, least):
    assert (
        rejections(CmiKnn(), lambda random: common_cause(random, effect, 250, codes), 40)
        >= least * 40
    )


@pytest.mark.parametrize("test", NONPARAMETRIC, ids=lambda test: test.name)
def test_power_where_correlation_is_zero(test):
    def design(random):
        x = random.standard_normal(150)
        return number(x), number(x**2 + random.standard_normal(150)), []

    assert rejections(test, design, 40) >= 34


@pytest.mark.slow
@pytest.mark.parametrize("test", NONPARAMETRIC, ids=lambda test: test.name)
@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("conditions", [0, 1, 2, 3])
@pytest.mark.parametrize("n", [200, 500])
def test_level_by_levels_and_conditions(test, levels, conditions, n):
    def design(random):
        z = random.standard_normal((conditions, n))
        common = z.sum(axis=0) / np.sqrt(max(conditions, 1))
        source = 0.7 * common + random.standard_normal(n)
        x = np.digitize(source, np.quantile(source, np.arange(1, levels) / levels))
        return (
            code(x),
            number(np.sin(2 * common) + common + random.standard_normal(n)),
            [number(row) for row in z],
        )

    assert (
        stats.binom.ppf(1e-4, 300, 0.03)
        <= rejections(test, design, 300)
        <= stats.binom.ppf(1 - 1e-4, 300, 0.08)
    )


# rough columns: a verdict, or the reason why there is none


@pytest.mark.parametrize("test", NONPARAMETRIC, ids=lambda test: test.name)
def test_three_rows_are_too_few(test):
    answer = test.compare(code([0, 1, 0]), number([1.0, 2.0, 3.0]), [], stream())
    assert answer.reason == Reason.FEW_ROWS
    assert np.isnan(answer.p)


@pytest.mark.parametrize("test", NONPARAMETRIC, ids=lambda test: test.name)
def test_a_column_that_is_constant_in_every_stratum_is_untestable(test):
    strata = np.repeat(np.arange(4), 30)
    y = number(stream().standard_normal(120))
    for x in (code(strata % 2), number(strata * 1.5)):
        for sides in ((x, y), (y, x)):
            assert test.compare(*sides, [code(strata)], stream()).reason == Reason.COLLINEAR


def test_strata_of_one_row_are_too_few_rows():
    columns = ugly_rows(13, 60)
    answer = CmiKnn().compare(
        number(columns["x"]), number(columns["y"]), [code(np.arange(60))], stream()
    )
    assert answer.reason == Reason.FEW_ROWS


@pytest.mark.parametrize("test", rest_slow(NONPARAMETRIC), ids=lambda test: test.name)
def test_many_levels_ties_and_duplicates_have_a_verdict(test):
    random = stream(14)
    x, y, z = random.standard_normal((3, 240))
    thirty, eight = code(np.arange(240) % 30), code(np.arange(240) // 30)
    nearly_constant = number(np.arange(240) < 3)
    rough = [
        number(np.round(y)),
        thirty,
        eight,
        nearly_constant,
        code(np.arange(240) < 1),
        number(np.round(x) > 0),
    ]
    twice = [number(np.repeat(column[:120], 2)) for column in (x, y, z)]
    for one, other in itertools.permutations([number(x), *rough], 2):
        for given in (
            [],
            [number(z)],
            [number(np.round(z))],
            [code(np.round(z) - np.round(z).min())],
        ):
            answer = test.compare(one, other, given, stream())
            assert answer.reason != Reason.TESTABLE or 0 < answer.p <= 1
    assert 0 < test.compare(twice[0], twice[1], [twice[2]], stream()).p <= 1


@pytest.mark.parametrize("test", NONPARAMETRIC, ids=lambda test: test.name)
def test_thirty_levels_and_perfect_separation_are_dependence(test):
    levels = np.arange(300) % 30
    y = number(levels + 0.1 * stream().random(300))
    assert test.compare(code(levels), y, [], stream()).p <= 0.01
    assert test.compare(code(levels), code(levels % 10), [], stream()).p <= 0.01
    assert (
        test.compare(
            code(levels % 2), number(levels % 2 + 0.01 * stream(1).random(300)), [], stream()
        ).p
        <= 0.01
    )


def test_an_ordered_column_keeps_its_order():
    random = stream(15)
    x = random.integers(0, 6, 300)
    y = number(x + 2 * random.standard_normal(300))
    ordered = CmiKnn().statistic(code(x, Kind.ORDERED), y, [])
    sides = [(x, False), (y.values, False)]
    assert ordered == pytest.approx(
        naive_knn.mesner_shalizi(sides[0], sides[1], [], 0.2), abs=1e-10
    )


def test_a_large_table_is_thinned_by_the_seed():
    columns = ugly_rows(16, 400)
    sides = number(columns["x"]), number(columns["y"]), [number(columns["z"])]
    thin = CmiKnn(most_rows=100)
    first, again, other = (thin.compare(*sides, stream(seed)) for seed in (0, 0, 1))
    assert first == pytest.approx(again, nan_ok=True)
    assert first.statistic != other.statistic
    rare = code(np.arange(400) == 7)
    assert thin.compare(rare, sides[1], [], stream()).reason in (Reason.CONSTANT, Reason.TESTABLE)


@pytest.mark.parametrize(
    "options",
    [
        {"neighbours": 0},
        {"permutations": 0},
        {"enough": 0},
        {"shuffle_neighbours": 1},
        {"most_rows": 100_000},
    ],
)
def test_options_are_checked(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        CmiKnn(**options)


def test_a_statistic_alone_needs_ranks_that_are_short():
    many = number(np.arange(17_000.0))
    with pytest.raises(OptionError, match="17000 rows"):
        CmiKnn().statistic(many, many, [])
