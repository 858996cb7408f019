"""Calibration: nulls are nulls, right tests are called right and wrong ones wrong, and nothing
depends on order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, chi2_contingency, f_oneway, kstest

import causalcontext as cc
import naive_calibration as naive
from causalcontext.ci_tests.partial_correlation import PartialCorrelation
from causalcontext.ci_tests.rows import Comparison, RowTest, untestable
from causalcontext.data.columns import Kind
from causalcontext.data.tables import read_table
from causalcontext.views import Reason
from causalcontext_lab.calibration.report import QUANTILE, compatible, wilson
from causalcontext_lab.calibration.tables import (
    ALTERNATIVES,
    DrawnQuery,
    NullColumn,
    all_questions,
    category_shares,
    changed_column,
    design_of,
    null_column,
    one_question,
    query_table,
)
from marks import rest_slow

matplotlib.use("Agg")


def gaussian_table(n: int = 200, seed: int = 0) -> pd.DataFrame:
    """Three numbers in a chain with shifted means and a negative slope, and a context of three
    levels.
    """
    generator = np.random.default_rng(seed)
    a = generator.normal(5.0, 2.0, n)
    b = 3.0 - 0.8 * a + generator.normal(0.0, 1.0, n)
    c = 0.5 * b + generator.normal(-40.0, 1.0, n)
    return pd.DataFrame({"a": a, "b": b, "c": c, "R": generator.choice(["dry", "mild", "wet"], n)})


def mixed_table(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Every kind of column, dependent in a chain."""
    generator = np.random.default_rng([seed, 1])
    table = gaussian_table(n, seed)
    table["species"] = np.where(
        table["a"] + generator.normal(0, 2, n) > 5, "oak", generator.choice(["ash", "elm"], n)
    )
    table["burnt"] = (table["species"] == "oak") ^ (generator.random(n) < 0.2)
    size = pd.cut(table["c"], [-np.inf, -42, -40, np.inf], labels=["small", "middle", "large"])
    table["size"] = pd.Categorical(size, ["small", "middle", "large"], ordered=True)
    table["birds"] = generator.poisson(np.exp(0.2 * (table["a"] - 5)))
    return table


KINDS = {"birds": "count"}


class AnyColumns(RowTest):
    """Two categories by Pearson's test, a category against a number by F, in the strata of
    categorical conditions.
    """

    name = "any-columns"

    def takes(self, x: Kind, y: Kind, given: Any) -> bool:
        return not (x.is_number and y.is_number)

    def compare(self, x: Any, y: Any, given: Any, random: Any) -> Comparison:
        if x.is_number:
            x, y = y, x
        if given:
            return untestable(Reason.NO_TEST)
        if y.is_number:
            found = f_oneway(*(y.values[x.codes == code] for code in range(x.levels)))
            return Comparison(float(found.statistic), np.nan, float(found.pvalue))
        counts = np.zeros((x.levels, y.levels))
        np.add.at(counts, (x.codes, y.codes), 1)
        found = chi2_contingency(counts, correction=False)
        return Comparison(float(found.statistic), float(found.dof), float(found.pvalue))


@dataclass(frozen=True)
class Altered:
    """Partial correlation with p-values that are changed afterwards."""

    name: str
    power: float
    factor: float = 1.0

    def prepare(self, data: Any, statistics: Any) -> Any:
        prepared, alter = PartialCorrelation().prepare(data, statistics), self

        class Prepared:
            def answer(self, queries: Any) -> Any:
                found = prepared.answer(queries)
                return replace(found, p=alter.factor * found.p**alter.power)

        return Prepared()


def null_of(
    table: pd.DataFrame,
    response: str,
    other: str,
    given: tuple[str, ...] = (),
    null: str = "permutation",
    seed: int = 0,
    level: int | None = None,
) -> tuple[Any, DrawnQuery, NullColumn]:
    data = read_table(table, "R", KINDS if "birds" in table else None)
    draw = DrawnQuery(
        data.position(response), data.position(other), tuple(map(data.position, given)), level
    )
    return data, draw, null_column(data, draw, null, np.random.default_rng(seed))


# Nulls


def test_a_number_is_its_fit_plus_its_own_residuals_in_another_order() -> None:
    table = gaussian_table()
    _, _, null = null_of(table, "c", "R", ("a", "b"))
    left = naive.residuals(table["c"].to_numpy(), [table["a"], table["b"]])
    assert null.fitted == pytest.approx(table["c"] - left)
    assert np.sort(null.noise) == pytest.approx(np.sort(left))
    assert abs(np.corrcoef(null.noise, left)[0, 1]) < 0.25


def test_categories_are_conditions_too() -> None:
    table = mixed_table()
    _, _, null = null_of(table, "b", "R", ("species", "a"))
    species = [table["species"] == name for name in ("elm", "oak")]
    left = naive.residuals(table["b"].to_numpy(), [*species, table["a"]])
    assert np.sort(null.noise) == pytest.approx(np.sort(left))


def test_gaussian_noise_has_the_variance_of_the_residuals() -> None:
    table = gaussian_table(4000)
    _, _, null = null_of(table, "c", "R", ("b",), null="bootstrap")
    left = naive.residuals(table["c"].to_numpy(), [table["b"]])
    assert null.noise.std() == pytest.approx(left.std(), rel=0.05)
    assert not np.isin(null.noise, left).any()


@pytest.mark.parametrize(("given", "level"), [(("R", "a"), None), (("a",), 1)])
def test_contexts_are_kept_apart_where_the_context_is_given_or_one_of_them_is_looked_at(
    given: Any, level: Any
) -> None:
    table = gaussian_table()
    _, _, null = null_of(table, "b", "c", given, level=level)
    for context, part in table.groupby("R"):
        left = naive.residuals(part["b"].to_numpy(), [part["a"]])
        assert np.sort(null.noise[table["R"] == context]) == pytest.approx(np.sort(left))


def test_shares_are_those_of_a_multinomial_logit() -> None:
    data = read_table(mixed_table(), "R", KINDS)
    design = design_of(data, [data.position("a"), data.position("burnt")], np.arange(data.n_rows))
    codes = np.asarray(data.columns[data.position("species")])
    shares = category_shares(design, codes)
    assert shares == pytest.approx(naive.multinomial_shares(design, codes), abs=2e-3)
    assert shares.sum(axis=1) == pytest.approx(1.0)


def test_separated_categories_have_shares_too() -> None:
    x = np.linspace(-1, 1, 40)
    codes = (x > 0).astype(int)
    shares = category_shares(np.column_stack([np.ones(40), x]), codes)
    assert np.isfinite(shares).all()
    assert ((shares[:, 1] > 0.5) == (codes == 1)).all()


def test_a_category_without_conditions_is_permuted() -> None:
    table = mixed_table()
    data, draw, null = null_of(table, "species", "burnt")
    before = np.asarray(data.columns[draw.response])
    assert np.array_equal(np.sort(null.fitted), np.sort(before))
    assert not np.array_equal(null.fitted, before)


def test_a_drawn_category_depends_on_its_conditions_and_on_nothing_else() -> None:
    table = mixed_table(3000)
    _, _, null = null_of(table, "burnt", "R", ("species",))
    observed = pd.crosstab(table["species"], table["burnt"], normalize="index")[True]
    drawn = pd.crosstab(table["species"], null.fitted, normalize="index")[1.0]
    assert drawn.to_numpy() == pytest.approx(observed.to_numpy(), abs=0.06)
    p = chi2_contingency(pd.crosstab(table["R"], null.fitted)).pvalue
    assert p > 1e-3


def test_counts_stay_counts() -> None:
    report = cc.calibrate(
        mixed_table(), "R", kinds=KINDS, x="birds", y="R", given=["a"], repeats=3, test=Recorder()
    )
    assert report.table["untested"].item() == 0
    assert Recorder.seen
    for values in Recorder.seen:
        assert (values >= 0).all()
        assert np.array_equal(values, np.round(values))


class Recorder(RowTest):
    """Keeps the counts that it sees."""

    name = "recorder"
    seen: list[np.ndarray] = []  # noqa: RUF012

    def compare(self, x: Any, y: Any, given: Any, random: Any) -> Comparison:
        self.seen += [end.values for end in (x, y) if end.kind is Kind.COUNT]
        return Comparison(0.0, 1.0, float(random.random()))


# Alternatives


def test_a_mean_shift_is_in_units_of_the_noise() -> None:
    data, draw, null = null_of(gaussian_table(), "b", "R", ("a",))
    name, changed = changed_column("mean", data, draw, null, 0.7, np.random.default_rng(1))
    shift = (changed - null.fitted - null.noise) / null.noise.std()
    assert name == "mean"
    by_level = [np.unique(np.round(shift[data.codes == level], 9)).tolist() for level in range(3)]
    assert sorted(by_level) == [[0.0], [0.0], [0.7]]


def test_the_mean_of_a_number_against_a_number_is_a_slope() -> None:
    data, draw, null = null_of(gaussian_table(), "b", "c", ("a",))
    _, changed = changed_column("mean", data, draw, null, 0.7, np.random.default_rng(1))
    shift = (changed - null.fitted - null.noise) / null.noise.std()
    assert shift.std() == pytest.approx(0.7)
    assert np.corrcoef(shift, data.columns[draw.other])[0, 1] == pytest.approx(1.0)


def test_another_slope_in_one_level() -> None:
    data, draw, null = null_of(gaussian_table(), "c", "R", ("a",))
    name, changed = changed_column("slope", data, draw, null, 0.7, np.random.default_rng(1))
    shift = changed - null.fitted - null.noise
    moved = [bool(np.abs(shift[data.codes == level]).max() > 1e-9) for level in range(3)]
    assert name == "slope"
    assert sorted(moved) == [False, False, True]


def test_more_noise_in_one_level() -> None:
    data, draw, null = null_of(gaussian_table(), "c", "R", ("a",))
    _, changed = changed_column("variance", data, draw, null, 0.7, np.random.default_rng(1))
    ratio = (changed - null.fitted) / null.noise
    assert sorted({round(float(value), 6) for value in ratio}) == [1.0, 1.7]
    assert all(np.ptp(ratio[data.codes == level]) < 1e-6 for level in range(3))


def test_two_categories_are_tied() -> None:
    data, draw, null = null_of(mixed_table(2000), "species", "burnt")
    name, changed = changed_column("mean", data, draw, null, 0.5, np.random.default_rng(1))
    assert name == "association"
    kept = (changed == null.fitted).mean()
    assert 0.5 < kept < 0.8
    assert chi2_contingency(pd.crosstab(data.columns[draw.other], changed)).pvalue < 1e-20


@pytest.mark.parametrize(
    ("alternative", "response", "other", "given"),
    [
        ("slope", "a", "R", ()),
        ("slope", "a", "R", ("species",)),
        ("association", "a", "R", ()),
        ("variance", "species", "R", ()),
        ("slope", "species", "R", ("a",)),
    ],
)
def test_an_alternative_that_makes_no_sense_is_none(
    alternative: str, response: str, other: str, given: Any
) -> None:
    data, draw, null = null_of(mixed_table(), response, other, given)
    assert changed_column(alternative, data, draw, null, 0.5, np.random.default_rng(0)) == (
        "none",
        None,
    )


# Questions


def test_every_class_of_pair_is_asked_about() -> None:
    data = read_table(mixed_table(), "R", KINDS)
    pairs = list(dict.fromkeys(question.pair for question in all_questions(data, 1)))
    assert pairs == [
        "context against a category",
        "context against an ordered category",
        "context against a count",
        "context against a number",
        "two categories",
        "category against an ordered category",
        "category against a count",
        "category against a number",
        "ordered category against a count",
        "ordered category against a number",
        "count against a number",
        "two numbers",
        "two numbers in one context",
    ]


def test_trials_are_of_their_class() -> None:
    data = read_table(mixed_table(), "R", KINDS)
    for question in all_questions(data, 2):
        for repeat in range(5):
            draw = question.draw(3, question.random(0, repeat))
            columns = (draw.response, draw.other, *draw.given)
            assert len(set(columns)) == 2 + question.size
            assert (draw.other == data.context) == question.pair.startswith("context")
            assert data.context not in (draw.response, *draw.given)
            assert (draw.level is not None) == ("in one context" in question.pair)
            assert data.kinds[draw.response].is_number >= data.kinds[draw.other].is_number


def test_a_named_pair_has_its_number_as_response() -> None:
    data = read_table(mixed_table(), "R", KINDS)
    for x, y, response in (
        ("a", "R", "a"),
        ("R", "a", "a"),
        ("species", "a", "a"),
        ("R", "species", "species"),
        ("birds", "a", "a"),
    ):
        assert one_question(data, x, y, ()).responses == (data.position(response),)
    assert len(one_question(data, "a", "b", ()).responses) == 2


def test_the_table_of_a_trial_holds_its_columns_by_name() -> None:
    data = read_table(mixed_table(), "R", KINDS)
    draw = DrawnQuery(data.position("c"), data.position("species"), (data.position("b"),), 2)
    small, query = query_table(data, draw, np.zeros(data.n_rows))
    assert small.names == ("R", "b", "c", "species")
    assert small.categories == {3: ("ash", "elm", "oak")}
    assert query == (2, 3, (1,), 3)
    assert not small.columns[2].any()
    assert small.columns[1] is data.columns[draw.given[0]]


# Intervals


@pytest.mark.parametrize(("rejected", "tested"), [(0, 50), (3, 60), (10, 200), (200, 200)])
def test_the_interval_holds_all_shares_that_are_compatible(rejected: int, tested: int) -> None:
    assert wilson(rejected, tested) == pytest.approx(
        naive.compatible_shares(rejected, tested, QUANTILE), abs=2e-5
    )


def test_the_band_is_where_the_interval_contains_alpha() -> None:
    low, high = compatible(0.05, 200)
    for rejected in range(60):
        interval = wilson(rejected, 200)
        assert (interval[0] <= 0.05 <= interval[1]) == (low <= rejected / 200 <= high)


def test_right_tests_are_rarely_called_wrong() -> None:
    """Of all counts that a right test may reach in 200 repeats, those that are called wrong have
    probability < 2 %.
    """
    counts = np.arange(201)
    low, high = compatible(0.05, 200)
    wrong = (counts / 200 < low) | (counts / 200 > high)
    assert binom.pmf(counts[wrong], 200, 0.05).sum() < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("null", ["permutation", "bootstrap"])
@pytest.mark.parametrize("given", [[], ["b"], ["b", "R"]])
def test_p_values_under_a_null_are_uniform(null: str, given: list[str]) -> None:
    found = cc.calibrate(
        gaussian_table(300), "R", x="a", y="c", given=given, null=null, repeats=3000
    )
    assert kstest(found.queries["p"], "uniform").pvalue > 1e-3


# Reports


@pytest.fixture(scope="module")
def report() -> Any:
    return cc.calibrate(gaussian_table(), "R", repeats=120)


def test_a_right_test_is_called_right(report: Any) -> None:
    table = report.table
    assert table["verdict"].tolist() == ["right"] * len(table)
    assert table["pair"].unique().tolist() == [
        "context against a number",
        "two numbers",
        "two numbers in one context",
    ]
    assert table["test"].unique().tolist() == ["robust-change", "partial-correlation"]
    assert (table["repeats"] == 120).all()
    assert (table["untested"] == 0).all()
    assert ((table["size_low"] <= table["size"]) & (table["size"] <= table["size_high"])).all()


def test_the_table_counts_the_trials(report: Any) -> None:
    for row, (_, queries) in zip(
        report.table.itertuples(), report.queries.groupby("question"), strict=True
    ):
        assert row.size == (queries["p"] <= 0.05).mean()
        assert row.power == (queries["p_alternative"] <= 0.05).mean()
        assert row.rows == int(queries["rows"].median())
    inside = report.queries[report.queries["pair"] == "two numbers in one context"]
    assert set(inside["rows"]) == set(gaussian_table()["R"].value_counts())


def test_the_report_speaks(report: Any) -> None:
    text = str(report)
    assert (
        "auto: 120 repeats of a permutation null at alpha 0.05, power against mean with effect 0.5"
        in text
    )
    assert f"size is right in {len(report.table)} of {len(report.table)} rows" in text
    assert report.to_dict()["table"][0]["pair"] == "context against a number"
    assert report.to_dict()["settings"]["context"] == "R"


@pytest.mark.slow
def test_a_wrong_test_is_called_wrong() -> None:
    found = cc.calibrate(
        gaussian_table(), "R", test=Altered("squared", 2.0), repeats=300, largest_given=0
    )
    assert set(found.table["verdict"]) == {"rejects too often"}
    assert set(found.table["test"]) == {"squared"}
    assert "two numbers: rejects too often" in str(found)
    assert "most often for" in str(found)


@pytest.mark.slow
def test_p_values_up_to_a_half_are_called_wrong() -> None:
    found = cc.calibrate(
        gaussian_table(), "R", test=Altered("halved", 1.0, 0.5), repeats=800, x="a", y="b"
    )
    assert found.table["verdict"].tolist() == ["rejects too often"]
    assert found.table["size"].item() == pytest.approx(0.1, abs=0.03)


def test_a_timid_test_is_called_so() -> None:
    found = cc.calibrate(
        gaussian_table(), "R", test=Altered("rooted", 0.4), repeats=200, x="a", y="b", given=["c"]
    )
    assert found.table["verdict"].tolist() == ["rejects too rarely"]
    assert "links that are found are reliable" in str(found)


@pytest.mark.slow
def test_heavy_tails_are_found_out() -> None:
    """LR* takes heavy tails for a change of variance; a Gaussian null does not show that, the
    user's residuals do.
    """
    table = gaussian_table()
    table["c"] = np.random.default_rng(1).standard_t(2, len(table))
    asked = {"x": "c", "y": "R", "test": "partial-correlation", "repeats": 150}
    assert cc.calibrate(table, "R", **asked).table["verdict"].item() == "rejects too often"
    assert cc.calibrate(table, "R", **asked, null="bootstrap").table["verdict"].item() == "right"
    assert cc.calibrate(table, "R", x="c", y="R", repeats=150).table["verdict"].item() == "right"


@pytest.mark.slow
def test_power_grows_with_the_effect() -> None:
    powers = [
        cc.calibrate(gaussian_table(), "R", x="c", y="R", given=["a"], effect=effect, repeats=100)
        .table["power"]
        .item()
        for effect in (0.0, 0.3, 0.6, 1.2)
    ]
    assert powers[0] < 0.15
    assert powers[1] < powers[2] < powers[3]
    assert powers[3] > 0.95


@pytest.mark.parametrize(("alternative", "seen"), [("slope", 0.9), ("variance", 0.9)])
def test_changes_that_the_default_test_sees(alternative: str, seen: float) -> None:
    found = cc.calibrate(
        gaussian_table(),
        "R",
        x="R",
        y="b",
        given=["a"],
        alternative=alternative,
        effect=1.0,
        repeats=60,
    )
    assert found.table["power"].item() > seen
    assert found.table["alternative"].item() == alternative


@pytest.mark.slow
def test_categories_are_calibrated_with_a_test_of_ones_own() -> None:
    found = cc.calibrate(
        mixed_table(), "R", kinds=KINDS, test=AnyColumns(), repeats=150, largest_given=0
    )
    table = found.table.set_index("pair")
    assert table.loc["two categories", "test"] == "any-columns"
    assert table.loc["two numbers", "test"] == "partial-correlation"
    assert table.loc["count against a number", "test"] == "tsagris"
    assert set(table["verdict"]) == {"right"}
    assert table.loc["context against a category", "alternative"] == "association"
    assert (table["power"] > 0.4).all()


def test_what_no_test_takes_is_untestable_and_said_so() -> None:
    kinds = mixed_table(seed=2)[["a", "b", "species", "burnt", "R"]]
    found = cc.calibrate(kinds, "R", test="regression-legacy", repeats=4, largest_given=1)
    table = found.table.set_index(["pair", "given"])
    assert table.loc[("two categories", 0), "verdict"] == "untestable"
    assert table.loc[("two numbers", 0), "verdict"] == "right"
    assert np.isnan(table.loc[("two categories", 0), "size"])
    expected = (
        "two categories given 0 or 1 columns: untestable (no test is available for columns of these"
        " kinds)"
    )
    assert expected in str(found)


def test_a_response_that_follows_from_its_conditions_is_untestable() -> None:
    table = gaussian_table().assign(d=lambda frame: 2 * frame["a"] + 1)
    found = cc.calibrate(table, "R", x="d", y="R", given=["a"], repeats=5)
    assert found.table["verdict"].item() == "untestable"
    assert "linear function of the conditions" in found.table["reason"].item()


# Order, workers, rows


@pytest.fixture(scope="module")
def mixed_report() -> Any:
    return cc.calibrate(
        mixed_table(120), "R", kinds=KINDS, repeats=6, largest_given=1, seed=3, test=AnyColumns()
    )


def test_the_order_of_columns_does_not_matter(mixed_report: Any) -> None:
    table = mixed_table(120)
    turned = table[list(reversed(table.columns))]
    again = cc.calibrate(
        turned, "R", kinds=KINDS, repeats=6, largest_given=1, seed=3, test=AnyColumns()
    )
    pd.testing.assert_frame_equal(again.queries, mixed_report.queries)
    pd.testing.assert_frame_equal(again.table, mixed_report.table)


@pytest.mark.slow
def test_workers_do_not_matter(mixed_report: Any) -> None:
    seen: list[tuple[int, int]] = []
    again = cc.calibrate(
        mixed_table(120),
        "R",
        kinds=KINDS,
        repeats=6,
        largest_given=1,
        seed=3,
        test=AnyColumns(),
        n_jobs=2,
        progress=lambda done, total: seen.append((done, total)),
    )
    pd.testing.assert_frame_equal(again.queries, mixed_report.queries)
    assert seen[-1] == (6 * len(again.table), 6 * len(again.table))


def test_the_seed_matters_and_other_rows_do_not(report: Any) -> None:
    fewer = cc.calibrate(gaussian_table(), "R", repeats=20, largest_given=0)
    for pair in fewer.table["pair"]:
        mine = fewer.queries[fewer.queries["pair"] == pair]["p"].to_numpy()
        theirs = report.queries[(report.queries["pair"] == pair) & (report.queries["given"] == 0)][
            "p"
        ].to_numpy()
        assert np.array_equal(mine, theirs[:20])
    other = cc.calibrate(gaussian_table(), "R", repeats=20, largest_given=0, seed=-5)
    assert not np.array_equal(other.queries["p"], fewer.queries["p"])


def test_the_order_of_a_pair_and_of_its_conditions_does_not_matter() -> None:
    table, names = mixed_table(150), ["b", "species", "c"]
    one = cc.calibrate(
        table, "R", kinds=KINDS, x="a", y="birds", given=names, repeats=5, alternative="slope"
    )
    other = cc.calibrate(
        table, "R", kinds=KINDS, x="birds", y="a", given=names[::-1], repeats=5, alternative="slope"
    )
    pd.testing.assert_frame_equal(
        one.queries.drop(columns="pair"), other.queries.drop(columns="pair")
    )


def test_large_tables_are_sampled_and_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.modules["causalcontext_lab.calibration.calibrate"], "MOST_ROWS", 150)
    found = cc.calibrate(gaussian_table(1200), "R", repeats=2)
    assert found.table["rows"].max() == 150
    assert "150 of 1,200 rows were drawn at random" in str(found)


def test_rows_with_missing_values_are_an_error_or_left_out() -> None:
    table = gaussian_table()
    table.loc[:6, "a"] = np.nan
    with pytest.raises(cc.DataError, match="missing values in 'a'"):
        cc.calibrate(table, "R", repeats=2)
    found = cc.calibrate(table, "R", repeats=2, missing="listwise")
    assert found.table["rows"].max() == 193
    assert "7 rows with missing values were left out" in str(found)


def test_without_a_context() -> None:
    found = cc.calibrate(gaussian_table().drop(columns="R"), repeats=3)
    assert found.table["pair"].tolist() == ["two numbers"] * 2
    assert found.table["given"].tolist() == [0, 1]


def test_the_context_as_a_condition() -> None:
    found = cc.calibrate(gaussian_table(300), "R", x="a", y="c", given=["R", "b"], repeats=150)
    assert found.table["test"].item() == "partial-correlation by context"
    assert found.table["verdict"].item() == "right"


def test_ctrl_c_keeps_what_is_done() -> None:
    def stop(done: int, total: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(cc.InterruptedSearch) as caught:
        cc.calibrate(gaussian_table(), "R", repeats=50, largest_given=0, progress=stop)
    found = caught.value.result
    assert found.table["repeats"].tolist() == [4, 3, 3]
    assert not found.complete
    assert "interrupted after 3 of 50 repeats" in str(found)


# What is refused


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"x": "a", "y": "bb"}, "the table has no column 'bb'; did you mean 'b'?"),
        ({"x": "a", "y": "b", "given": ["cc"]}, "the table has no column 'cc'; did you mean 'c'?"),
        ({"x": "a"}, "x is 'a' but there is no y; name both"),
        ({"y": "a"}, "y is 'a' but there is no x; name both"),
        ({"given": ["a"]}, "given is for a pair that is named"),
        ({"x": "a", "y": "b", "given": "c"}, "given is 'c', expected a sequence of column names"),
        ({"x": "a", "y": "a"}, "'a' is named twice"),
        ({"x": "a", "y": "b", "given": ["b"]}, "'b' is named twice"),
        (
            {"null": "permutations"},
            "null is 'permutations', expected one of .* did you mean 'permutation'?",
        ),
        ({"alternative": "means"}, "alternative is 'means', .* did you mean 'mean'?"),
        ({"test": "fisher"}, "test is 'fisher'"),
        ({"effect": -1.0}, "effect is -1.0, expected a number from 0"),
        ({"effect": float("nan")}, "effect is nan, expected a number from 0"),
        ({"effect": 2.0, "alternative": "association"}, "expected a probability"),
        ({"alpha": 0.0}, "alpha is 0.0, expected a number between 0 and 1"),
        ({"repeats": 0}, "repeats is 0, expected a whole number from 1"),
        ({"largest_given": -1}, "largest_given is -1, expected a whole number from 0"),
        ({"missing": "testwise"}, "missing is 'testwise', expected one of 'raise', 'listwise'"),
        ({"seed": 0.5}, "seed is 0.5, expected a whole number"),
        ({"n_jobs": 0}, "n_jobs is 0, expected a whole number from 1"),
    ],
)
def test_what_means_nothing_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(cc.CausalContextError, match=sentence.replace("?", r"\?")):
        cc.calibrate(gaussian_table(50), "R", **options)


def test_constant_columns_are_refused() -> None:
    with pytest.raises(cc.DataError, match="the same value in all rows of 'd'"):
        cc.calibrate(gaussian_table().assign(d=1.0), "R", repeats=2)


# Pictures


@pytest.mark.parametrize("alternative", rest_slow(ALTERNATIVES))
def test_the_picture_shows_every_row(alternative: str, tmp_path: Path) -> None:
    from matplotlib import pyplot

    found = cc.calibrate(
        mixed_table(100), "R", kinds=KINDS, repeats=2, largest_given=1, alternative=alternative
    )
    sizes, powers = found.plot(tmp_path / "calibration.svg")
    assert len(sizes.get_yticklabels()) == len(found.table)
    assert "99 %" in sizes.get_xlabel()
    assert alternative in powers.get_xlabel()
    assert "svg" in (tmp_path / "calibration.svg").read_text()[:400]
    pyplot.close("all")


def test_a_picture_that_cannot_be_saved_is_refused(report: Any) -> None:
    with pytest.raises(cc.OptionError, match="must end with"):
        report.plot("calibration.gif")
