"""Columns that others determine are found, named and left out; strong mechanisms are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.indicators import read_with_functions
from causalcontext.data.tables import read_table
from causalcontext.errors import DataError, KnowledgeError
from causalcontext.screening import levels
from causalcontext.screening.functions import functions_of_others
from causalcontext.screening.settings import LEAST_EQUAL_SHARE_IN_A_GLANCE

ROWS = 600
Table = pd.DataFrame
Made = dict[str, Any]


def clean(seed: int, rows: int = ROWS) -> Table:
    """A cause, its effects, a category, and a context that changes a slope."""
    random = np.random.default_rng(seed)
    ward = random.choice(["icu", "normal"], rows)
    region = random.choice(["east", "north", "south"], rows)
    age = 55.0 + 12.0 * random.normal(size=rows)
    weight = np.exp(4.3 + 0.2 * random.normal(size=rows))
    height = np.exp(0.5 + 0.08 * random.normal(size=rows))
    dose = 20.0 + 0.2 * age + (ward == "icu") * 0.1 * weight + 3.0 * random.normal(size=rows)
    stay = 8.0 + 0.3 * dose + 2.0 * random.normal(size=rows)
    return pd.DataFrame(
        {
            "age": age,
            "weight": weight,
            "height": height,
            "dose": dose,
            "stay": stay,
            "region": region,
            "ward": ward,
        }
    )


def left_out(table: Table, kept: tuple[str, ...] = (), context: object = "ward") -> dict[str, str]:
    """The columns that are left out, with the reasons."""
    found = functions_of_others(read_with_functions(table, context, None), kept)
    return {one.column: one.reason for one in found}


def regression(value: Any, *parts: Any) -> Any:
    """What a regression predicts, by plain least squares."""
    design = np.column_stack([np.ones(len(value)), *parts])
    return design @ np.linalg.lstsq(design, value, rcond=None)[0]


def noise(column: Any, size: float) -> Any:
    """The column with noise of a share of its sd."""
    return column + size * column.std() * np.random.default_rng(7).normal(size=len(column))


def scores(column: Any) -> Any:
    """The column in standard units, made positive."""
    return (column - column.mean()) / column.std() + 6.0


FORMS: dict[str, tuple[Callable[[Table], Made], str]] = {
    "copy": (lambda t: {"x2": t.dose}, "is a copy of dose"),
    "unit": (lambda t: {"x2": 1.8 * t.dose + 32.0}, "= 1.8 dose + 32"),
    "unit, rounded": (
        lambda t: {"x2": np.round(1.8 * t.dose + 32.0, 1)},
        "= 1.8 dose + 32 (rounded)",
    ),
    "copy with noise": (
        lambda t: {"x2": noise(t.dose, 1e-4)},
        "is a copy of dose (with a trace of noise)",
    ),
    "sum": (lambda t: {"total": t.dose + t.stay}, "= dose + stay"),
    "sum, rounded": (lambda t: {"total": np.round(t.dose + t.stay)}, "= dose + stay (rounded)"),
    "sum with noise": (
        lambda t: {"total": noise(t.dose + t.stay, 1e-3)},
        "= dose + stay (with a trace of noise)",
    ),
    "difference": (lambda t: {"diff": t.dose - t.stay}, "= dose - stay"),
    "weights": (
        lambda t: {"score": 0.5 * t.dose + 0.3 * t.stay + 0.2 * t.age},
        "= 0.2 age + 0.5 dose + 0.3 stay",
    ),
    "ratio": (lambda t: {"ratio": t.dose / t.age}, "= dose / age"),
    "index": (lambda t: {"bmi": t.weight / t.height**2}, "= weight / height²"),
    "product": (lambda t: {"x_score": t.weight * t.height}, "= height weight"),
    "product of scores": (
        lambda t: {"x_score": (t.dose - 30.0) * (t.stay - 9.0)},
        "function of dose and stay",
    ),
    "index, rounded": (
        lambda t: {"bmi": np.round(t.weight / t.height**2)},
        "= weight / height² (rounded)",
    ),
    "square": (lambda t: {"x2": (t.dose - t.dose.mean()) ** 2}, "is a quadratic function of dose"),
    "logarithm": (lambda t: {"log_dose": np.log(t.weight)}, "is the logarithm of weight"),
    "logarithm, rounded": (
        lambda t: {"log_w": np.round(np.log(t.weight), 2)},
        "is the logarithm of weight (rounded)",
    ),
    "exponential": (lambda t: {"x2": np.exp((t.dose - 30.0) / 5.0)}, "is an exponential of dose"),
    "rank": (lambda t: {"x2": t.dose.rank()}, "is the rank of dose"),
    "standard": (lambda t: {"x2": (t.dose - t.dose.mean()) / t.dose.std()}, "dose"),
    "threshold": (lambda t: {"high": (t.dose > 34.0).astype(int)}, "is a threshold of dose"),
    "threshold, yes or no": (lambda t: {"high": t.dose > 34.0}, "is a threshold of dose"),
    "groups": (
        lambda t: {
            "old": pd.cut(t.age, [0, 45, 60, 200], labels=["young", "mid", "old"]).astype(str)
        },
        "is a group of age",
    ),
    "code": (
        lambda t: {"number": t.region.map({"east": 2, "north": 0, "south": 1})},
        "is a code of region",
    ),
    "dummy": (lambda t: {"is_south": (t.region == "south").astype(int)}, "is a dummy of region"),
    "percentage change": (
        lambda t: {"x2": 100.0 * (t.stay - t.dose) / t.dose},
        "is the relative change from dose to stay",
    ),
    "percentage change, rounded": (
        lambda t: {"x2": np.round(100.0 * (t.stay - t.dose) / t.dose, 1)},
        "is the relative change from dose to stay (rounded)",
    ),
    "ratio of few values": (
        lambda t: {"x2": np.round(2.0 * t.age / t.dose) / 2.0},
        "= age / dose (rounded)",
    ),
    "product, rounded": (
        lambda t: {"x2": np.round(t.stay * t.dose, 1)},
        "= dose stay (rounded)",
    ),
    "logarithm of a ratio, rounded": (
        lambda t: {"x2": np.round(np.log(t.weight / t.height), 2)},
        "is the logarithm of the ratio of",
    ),
    "distance, rounded": (
        lambda t: {"x2": np.round(np.hypot(t.dose, t.stay), 1)},
        "is the distance √(dose² + stay²) (rounded)",
    ),
    "distance of scores without a sign": (
        lambda t: {"x2": (scores(t.dose) - scores(t.age)).abs()},
        "is the difference of age and dose without its sign, in standard units",
    ),
    "smaller of two scores": (
        lambda t: {"x2": np.minimum(scores(t.dose), scores(t.stay))},
        "is the smaller of dose and stay, in standard units",
    ),
    "difference of logarithms": (
        lambda t: {"x2": np.log(scores(t.stay)) - np.log(scores(t.dose))},
        "is a function of dose and stay",
    ),
    "larger of two": (
        lambda t: {"x2": np.maximum(scores(t.stay), scores(t.dose))},
        "is the larger of dose and stay, in standard units",
    ),
    "shifted ratio, rounded": (
        lambda t: {"x2": np.round(scores(t.stay) / scores(t.dose), 2)},
        "is a function of dose and stay",
    ),
    "number in one context": (
        lambda t: {"x2": np.where(t.ward == "icu", t.dose, 0.0)},
        "is a function of dose within every value of ward",
    ),
    "rank within contexts": (
        lambda t: {"x2": t.groupby("ward").dose.rank()},
        "is a function of dose within every value of ward",
    ),
    "another unit in every class": (
        lambda t: {"x2": t.dose * t.region.map({"east": 1.0, "north": 0.7, "south": 1.4})},
        "is a linear function of dose within every value of region",
    ),
    "standard within classes": (
        lambda t: {"x2": t.groupby("region").dose.transform(lambda x: (x - x.mean()) / x.std())},
        "is a linear function of dose within every value of region",
    ),
    "number in one class": (
        lambda t: {"x2": np.where(t.region == "south", t.dose, 0.0)},
        "is a linear function of dose within every value of region",
    ),
    "differences from the means of contexts": (
        lambda t: {"a2": t.dose - t.groupby("ward").dose.transform("mean")},
        "is a linear function of dose and ward",
    ),
    "prediction with squares": (
        lambda t: {"x2": regression(t.stay, t.dose, t.dose**2, t.age, t.age**2)},
        "is a quadratic function of age and dose",
    ),
    "probability": (
        lambda t: {"x2": 1.0 / (1.0 + np.exp(3.0 - 0.05 * t.age - 0.1 * t.stay + 0.01 * t.dose))},
        "is a probability computed of age, dose and stay",
    ),
    "two limits": (
        lambda t: {"risk": np.where((t.dose > 32.0) & (t.age > 55.0), "high", "low")},
        "is a group by age and dose",
    ),
    "leaf of a tree": (
        lambda t: {"leaf": 1.5 * (t.dose > 34.0) + np.where(t.age > 55.0, 0.7, 0.2)},
        "is a group by age and dose",
    ),
    "limit of a score": (
        lambda t: {"flag": (scores(t.dose) + scores(t.age) > 12.4).astype(int)},
        "is a group by age and dose",
    ),
    "largest of three": (
        lambda t: {"top": np.argmax([scores(t.dose), scores(t.age), scores(t.weight)], axis=0)},
        "is a group by age, dose and weight",
    ),
    "measured twice": (
        lambda t: {"x2_again": noise(t.dose, 0.02)},
        "measures the same as dose",
    ),
    "prediction": (lambda t: {"x2": regression(t.stay, t.age, t.dose, t.weight)}, "= "),
    "residual": (lambda t: {"x2": t.stay - regression(t.stay, t.age, t.dose)}, "stay"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_function_is_left_out_and_named(form: str, seed: int) -> None:
    make, words = FORMS[form]
    table = clean(seed)
    made = make(table)
    found = left_out(table.assign(**made))
    assert list(found) == list(made)
    assert words in next(iter(found.values()))


@pytest.mark.parametrize(("word", "extreme"), [("largest", np.max), ("smallest", np.min)])
def test_an_extreme_of_several_columns(word: str, extreme: Callable[..., Any]) -> None:
    """Which column a cell is from follows from the cells; where a context says it, it is a mechanism."""
    rains = np.random.default_rng(3).gamma(2.0, size=(4, ROWS))
    table = clean(3).assign(**{f"rain_{k}": rains[k] for k in range(4)})
    found = left_out(table.assign(rain=extreme(rains, axis=0)))
    assert found == {"rain": f"is the {word} of rain_0, rain_1, rain_2 and rain_3"}
    by_ward = np.where(table.ward == "icu", rains[0], rains[1])
    assert left_out(table.assign(rain=by_ward)) == {}


def naive_relation(table: Table, value: str, parts: list[str], logs: bool) -> float:
    """The largest residual of a column by a line in others, by its sd, with numpy alone."""
    y, *others = (
        np.log(table[name].to_numpy()) if logs else table[name].to_numpy()
        for name in (value, *parts)
    )
    return float(np.abs(y - regression(y, *others)).max() / y.std())


@pytest.mark.parametrize(
    ("form", "logs"),
    [
        ("sum", False),
        ("difference", False),
        ("weights", False),
        ("ratio", True),
        ("index", True),
        ("prediction", False),
        ("residual", False),
    ],
)
def test_what_is_said_holds_in_plain_numpy(form: str, logs: bool) -> None:
    table = clean(3)
    table = table.assign(**FORMS[form][0](table))
    (one,) = functions_of_others(read_with_functions(table, "ward", None))
    assert naive_relation(table, one.column, list(one.of), logs) < 1e-9
    for part in one.of:  # none is named in vain
        assert (
            naive_relation(table, one.column, [other for other in one.of if other != part], logs)
            > 1e-3
        )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("digits", [None, 2])
def test_an_amount_for_each_of_a_count(seed: int, digits: int | None) -> None:
    """No sum and no product: the count and 1 make the divisor."""
    table = clean(seed)
    table["visits"] = np.random.default_rng([seed, 3]).poisson(2.5, len(table))
    each = table.dose / (1 + table.visits)
    found = left_out(table.assign(x_each=each if digits is None else each.round(digits)))
    assert found == {"x_each": "is a linear function of dose within every value of visits"}
    own = np.random.default_rng([seed, 4]).normal(size=len(table))
    assert left_out(table.assign(x_each=each + 0.05 * each.std() * own)) == {}


@pytest.mark.parametrize("seed", range(3))
def test_a_combination_of_categories_goes_and_its_parts_stay(seed: int) -> None:
    """Also where one of them is written as 0 and 1; dummies make no category of themselves."""
    table = clean(seed)
    table["smoker"] = np.random.default_rng([seed, 5]).integers(0, 2, len(table))
    both = table.region + ", " + np.where(table.smoker == 1, "smoker", "none")
    assert left_out(table.assign(class_of=both)) == {
        "class_of": "is a combination of region and smoker"
    }
    dummies = {f"is_{level}": (table.region == level) * 1 for level in ("east", "north")}
    assert list(left_out(table.assign(**dummies))) == list(dummies)


@pytest.mark.parametrize("seed", range(4))
def test_of_a_number_and_its_logistic_function_the_scores_choose(seed: int) -> None:
    """Whatever the names are: links of the number are straight, those of the other one are not."""
    table = clean(seed)
    standard = (table.dose - table.dose.mean()) / table.dose.std()
    for name in ("a", "z"):
        made = {name: 1.0 / (1.0 + np.exp(-2.0 * standard))}
        assert list(left_out(table.assign(**made))) == [name]


@pytest.mark.parametrize("seed", range(8))
def test_a_rounded_total_in_few_rows(seed: int) -> None:
    """Errors of the fitted slopes move residuals beyond half a step: in 300 rows every third total
    was missed.
    """
    table = clean(seed, 300)
    total = table.age + table.dose + table.stay
    assert left_out(table.assign(total=np.round(total / 2.0) * 2.0)) == {
        "total": "= age + dose + stay (rounded)"
    }


@pytest.mark.parametrize("name", ["a", "zz"])
def test_of_a_number_in_other_units_the_one_goes_that_was_made(name: str) -> None:
    table = clean(9)
    assert left_out(table.assign(**{name: 1.8 * table.dose + 32.0})) == {name: "= 1.8 dose + 32"}
    scaled = (table.dose - table.dose.min()) / np.ptp(table.dose)
    assert set(left_out(table.assign(**{name: scaled}))) == {name}


def test_a_total_of_standard_scores_goes_and_the_scores_stay() -> None:
    table = clean(10)
    scores = table[["age", "dose", "stay"]].apply(
        lambda column: (column - column.mean()) / column.std()
    )
    table = table.assign(**scores, total=scores.sum(axis=1))
    assert left_out(table) == {"total": "= age + dose + stay"}


@pytest.mark.parametrize("as_truth", [False, True])
@pytest.mark.parametrize("rows", [300, 3000])
def test_dummies_of_the_groups_of_a_number(rows: int, as_truth: bool) -> None:
    table = clean(11, rows)
    group = pd.qcut(table.dose, 4, labels=False)
    dummies = {
        f"quarter_{k}": group == k if as_truth else (group == k).astype(int) for k in range(4)
    }
    found = left_out(table.assign(**dummies))
    assert set(found) == set(dummies)
    assert found["quarter_1"] == "is a group of dose"
    random = np.random.default_rng(11).random(rows) < 0.25
    assert left_out(table.assign(random=random.astype(int))) == {}


def test_nothing_is_told_of_the_scale_of_a_column_that_is_left_out() -> None:
    table = clean(12)
    table = table.assign(risk=np.exp((table.dose - table.dose.mean()) / table.dose.std()))
    result = cc.discover(table, "ward")
    assert {left.column for left in result.left_out} == {"risk"}
    assert not any("skewed as amounts are" in words for words in result.warnings)
    assert result.doubtful_scales == ()
    kept = cc.discover(table, "ward", keep=["risk", "dose"])
    assert any("risk is skewed as amounts are" in words for words in kept.warnings)


@pytest.mark.parametrize("digits", [0, 1, None])
def test_percentages(digits: int | None) -> None:
    parts = np.random.default_rng(4).gamma(3.0, 1.0, (4, ROWS))
    shares = 100.0 * parts / parts.sum(axis=0)
    shares = shares if digits is None else np.round(shares, digits)
    found = left_out(clean(4).assign(**{f"share_{k}": shares[k] for k in range(4)}))
    assert len(found) == 1
    ((column, words),) = found.items()
    others = [f"share_{k}" for k in range(4) if f"share_{k}" != column]
    assert words.startswith(f"= 100 - {' - '.join(others)}")


@pytest.mark.parametrize("digits", [1, None])
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("rows", [300, 2000])
def test_shares_beside_their_parts(rows: int, parts: int, digits: int | None) -> None:
    """Without the total that they are shares of, one of them and all of them."""
    table = clean(13, rows)
    names = ["weight", "age", "stay"][:parts]
    shares = 100.0 * table[names].abs().div(table[names].abs().sum(axis=1), axis=0)
    shares = (shares if digits is None else shares.round(digits)).add_prefix("part_")
    table[names] = table[names].abs()
    found = left_out(table.assign(part_age=shares["part_age"]))
    ending = "" if digits is None else " (rounded)"
    assert found == {"part_age": f"= 100 age / ({' + '.join(sorted(names))}){ending}"}
    assert set(left_out(table.join(shares))) == set(shares)
    noisy = shares["part_age"] * np.exp(0.02 * np.random.default_rng(13).normal(size=rows))
    assert left_out(table.assign(part_age=noisy if digits is None else noisy.round(digits))) == {}


@pytest.mark.parametrize("seed", range(6))
def test_a_rounded_prediction(seed: int) -> None:
    """It is the only rounded column, and weak predictors in it add less than rounding takes
    away.
    """
    table = clean(seed, 1000)
    predicted = regression(table.stay, table.dose, table.age, table.weight)
    step = 0.1 * float(predicted.std())
    assert set(left_out(table.assign(a_guess=np.round(predicted / step) * step))) == {"a_guess"}


@pytest.mark.parametrize("name", ["a", "zz"])
@pytest.mark.parametrize("share", [0.01, 0.03])
def test_a_copy_with_slips(name: str, share: float) -> None:
    """The one goes that has the slips: its links are those of the original, but weaker."""
    table = clean(14, 1000)
    random = np.random.default_rng(14)
    wrong = random.random(len(table)) < share
    found = left_out(
        table.assign(**{name: np.where(wrong, random.permutation(table.dose), table.dose)})
    )
    assert found == {name: f"is a copy of dose but for {wrong.sum()} cells"}
    many = random.random(len(table)) < 0.1
    assert (
        left_out(table.assign(**{name: np.where(many, random.permutation(table.dose), table.dose)}))
        == {}
    )


@pytest.mark.parametrize("slope", [1.0, 2.2])
@pytest.mark.parametrize("name", ["a", "zz"])
def test_slips_at_the_ends_of_a_copy(name: str, slope: float) -> None:
    """A misplaced point puts slips beyond all other values, where order does not show them."""
    table = clean(14, 1000)
    wrong = np.random.default_rng(15).random(len(table)) < 0.01
    found = left_out(table.assign(**{name: slope * table.dose * np.where(wrong, 10.0, 1.0)}))
    words = "a copy of" if slope == 1.0 else "a line in"
    assert found == {name: f"is {words} dose but for {wrong.sum()} cells"}


@pytest.mark.parametrize("name", ["a", "zz"])
@pytest.mark.parametrize("seed", range(3))
def test_the_one_goes_whose_formula_is_short(seed: int, name: str) -> None:
    """Rounded to a digit, too, where errors of the slopes alone move residuals beyond half a step."""
    table = clean(seed, 300)
    index = 0.3 * table.age + 0.7 * table.dose
    assert left_out(table.assign(**{name: index})) == {name: "= 0.3 age + 0.7 dose"}
    ((column, words),) = left_out(table.assign(**{name: index.round(1)})).items()
    assert column == name
    assert words.endswith("dose (rounded)")


@pytest.mark.parametrize("name", ["a", "zz"])
def test_deviations_from_groups_and_shares_of_them(name: str) -> None:
    table = clean(16)
    dose = table.groupby("ward").dose
    for made in (table.dose - dose.transform("mean"), table.dose / dose.transform("sum")):
        assert set(left_out(table.assign(**{name: made}))) == {name}


@pytest.mark.parametrize("name", ["a", "zz"])
def test_a_product_of_numbers_below_zero(name: str) -> None:
    """Its logarithm is that of the sizes; another sign in some rows makes it none."""
    table = clean(18).assign(gain=lambda t: t.dose - 30.0, loss=lambda t: t.stay - 17.0)
    table = table.drop(columns=["dose", "stay"])
    product = table.gain * table.loss * table.age / 100.0
    assert left_out(table.assign(**{name: product})) == {name: "= 0.01 age gain loss"}
    assert left_out(table.assign(**{name: product.abs() * np.sign(table.age - 55.0)})) == {}


def test_what_needs_a_root_was_not_made() -> None:
    """Energy is height and the square of a speed; the speed is no sum of squares."""
    for seed in range(4):
        table = clean(seed)
        made = 9.81 * table.age + 0.5 * (table.dose - 20.0) ** 2
        assert "dose" not in left_out(table.assign(zz=made))


def test_a_percentage_of_a_subtotal_beside_the_total() -> None:
    """The percentage goes first, since among the parts alone it is a share of nothing."""
    table = clean(17)
    part = table.age + table.dose
    whole = part + table.stay
    table = table.assign(a_part=part, whole=whole, ratio_of_it=np.round(100.0 * part / whole, 1))
    assert set(left_out(table)) == {"a_part", "whole", "ratio_of_it"}


def test_a_prediction_with_slopes_of_every_context() -> None:
    """It is an exact line in each of them, and none in all rows; one that has errors in one context
    is a mechanism.
    """
    table = clean(15, 1000)
    is_icu = (table.ward == "icu").to_numpy()
    predicted = np.empty(len(table))
    for rows in (is_icu, ~is_icu):
        predicted[rows] = regression(table.stay[rows], table.dose[rows], table.age[rows])
    found = left_out(table.assign(predicted=predicted))
    assert found == {"predicted": "is a linear function of age and dose within every value of ward"}
    uneven = np.where(is_icu, predicted, noise(table.stay, 0.1))
    assert left_out(table.assign(predicted=uneven)) == {}


def test_dummies_without_their_category() -> None:
    level = np.random.default_rng(5).integers(0, 5, ROWS)
    found = left_out(clean(5).assign(**{f"site_{k}": (level == k).astype(int) for k in range(5)}))
    assert len(found) == 1
    assert next(iter(found)).startswith("site_")


def test_several_at_once() -> None:
    table = clean(6)
    items = np.random.default_rng(6).exponential(size=(10, ROWS)).round(1)
    table = table.assign(
        copy=table.age, **{f"item{k}": items[k] for k in range(10)}, total=items.sum(axis=0)
    )
    table = table.assign(
        subtotal=table.dose + table.stay, grand_total=table.dose + table.stay + table.weight
    )
    found = left_out(table)
    assert set(found) == {"copy", "total", "subtotal", "grand_total"}


def test_order_of_rows_and_columns_says_nothing() -> None:
    table = clean(7)
    table = table.assign(x=table.dose + table.stay, old=table.age > 60, lw=np.log(table.weight))
    random = np.random.default_rng(7)
    expected = left_out(table)
    assert len(expected) == 3
    for _ in range(3):
        again = table.iloc[random.permutation(len(table))][random.permutation(table.columns)]
        assert left_out(again) == expected
    assert left_out(table.sort_values("dose")) == expected


@pytest.mark.parametrize("seed", range(3))
def test_which_rows_are_scored_does_not_depend_on_their_order(seed: int) -> None:
    """Of 3,000 rows 800 are scored; which column of a sum goes was another one in another order."""
    table = clean(seed, 3000)
    wanted = {
        "a": table.dose + 0.05 * table.age,
        "b": 0.3 * table.stay + 0.5 * table.weight + 0.2 * table.height,
    }
    table = table.assign(**wanted)
    random = np.random.default_rng(seed)
    expected = left_out(table)
    assert len(expected) == 2
    for _ in range(4):
        assert left_out(table.iloc[random.permutation(len(table))]) == expected


def test_what_the_user_keeps_stays() -> None:
    table = clean(8)
    table = table.assign(total=table.dose + table.stay, old=(table.age > 60).astype(int))
    assert set(left_out(table)) == {"total", "old"}
    assert set(left_out(table, ("total", "old"))) < {"dose", "stay"}
    assert left_out(table, ("total", "stay", "old")) == {"dose": "= total - stay"}
    assert left_out(table, ("total", "dose", "stay", "old")) == {}


def test_a_context_is_never_left_out() -> None:
    """It may be part of a prediction; a column that a context is made out of stays."""
    table = clean(9)
    sick = (table.ward == "icu").to_numpy(float)
    table["pred"] = regression(table.stay, table.age, table.dose, table.weight, sick)
    assert list(left_out(table)) == ["pred"]
    assert "ward" in left_out(table)["pred"]
    table = clean(9).assign(old=lambda t: t.age > 60, months=lambda t: 12.0 * t.age)
    assert set(left_out(table, context=cc.threshold("age", 50.0))) == {"old", "months"}


def test_missing_cells() -> None:
    table = clean(10)
    table = table.assign(a_copy_of=table.dose, total=table.dose + table.stay)
    random = np.random.default_rng(10)
    for column in ("a_copy_of", "total", "age"):
        table.loc[random.random(ROWS) < 0.02, column] = np.nan
    assert set(left_out(table)) == {"a_copy_of", "total"}


@pytest.mark.parametrize("share", [0.03, 0.1])
@pytest.mark.parametrize(
    "make",
    [
        lambda t: t.dose,
        lambda t: t.dose + t.stay,
        lambda t: (t.dose - 32.0) ** 2,
        lambda t: t.weight / t.height**2,
        lambda t: np.log(t.weight),
    ],
)
def test_a_strong_mechanism_is_none(make: Callable[[Table], pd.Series], share: float) -> None:
    """R² = .999 and .99: physics, not arithmetic."""
    table = clean(11)
    assert left_out(table.assign(new=noise(make(table), share))) == {}


@pytest.mark.parametrize(
    "make",
    [
        lambda t, e: np.maximum(scores(t.dose), scores(t.age)) + 0.03 * e,
        lambda t, e: np.round(np.hypot(t.dose, t.stay) + 0.3 * e, 0),
        lambda t, e: np.round(t.stay / t.dose + 0.1 * e, 1),
        lambda t, e: np.where(e > 0, t.stay, t.dose),
        lambda t, e: scores(t.dose) / scores(t.age) + 0.005 * e,
        lambda t, e: np.where(t.ward == "icu", t.dose + 0.1 * e, 0.0),
        lambda t, e: (scores(t.dose) + scores(t.age) + 0.1 * e > 12.0).astype(int),
        lambda t, e: ((t.dose + e > 32.0) & (t.age > 55.0)).astype(int),
        lambda t, e: t.dose + 0.05 * t.dose.std() * e,
        lambda t, e: 1.02 * t.dose + 0.01 * t.dose.std() * e,
    ],
)
def test_what_has_noise_of_its_own_is_no_function(make: Callable[[Table, Any], Any]) -> None:
    for seed in range(3):
        table = clean(20 + seed)
        own = np.random.default_rng(seed).normal(size=ROWS)
        assert left_out(table.assign(new=make(table, own))) == {}


@pytest.mark.parametrize("seed", range(5))
def test_a_cause_that_parts_its_effect_into_heaps_is_no_threshold(seed: int) -> None:
    """A pump that is on or off, and what it delivers: no row lies between. A limit lies among rows."""
    random = np.random.default_rng(100 + seed)
    pump = (random.random(ROWS) < 0.5).astype(float)
    flow = 2.0 * pump + 0.1 * random.normal(size=ROWS)
    table = clean(seed).assign(pump=pump, flow=flow, words=np.where(pump > 0, "on", "off"))
    assert set(left_out(table)) == {"pump"}  # the code of the words, not what the flow depends on
    assert left_out(table.drop(columns="words")) == {}
    above = (flow > np.quantile(flow, 0.3)).astype(int)
    assert set(left_out(table.drop(columns="words").assign(above=above))) == {"above"}


def test_relations_within_a_context_are_mechanisms() -> None:
    table = clean(12)
    assert left_out(table.assign(new=np.where(table.ward == "icu", table.dose, table.stay))) == {}


def test_logic_of_two_is_a_mechanism() -> None:
    """Either of two rare diseases that never occur together here is their sum."""
    random = np.random.default_rng(13)
    draw = random.random(ROWS)
    table = clean(13).assign(
        lung=(draw < 0.1).astype(int), tub=((draw > 0.1) & (draw < 0.2)).astype(int)
    )
    assert left_out(table.assign(either=table.lung | table.tub)) == {}


@pytest.mark.parametrize(("rows", "columns"), [(60, 30), (60, 58), (60, 90), (100, 40)])
def test_a_fit_without_rows_to_spare_is_none(rows: int, columns: int) -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        table = pd.DataFrame(
            random.normal(size=(rows, columns)), columns=[f"x{k}" for k in range(columns)]
        )
        assert left_out(table, context=None) == {}


@pytest.mark.parametrize("seed", range(5))
def test_clean_tables_have_none(seed: int) -> None:
    """Numbers with heaps, zeros, two values and few; categories of few levels; rows down to 60."""
    random = np.random.default_rng(seed)
    for rows in (60, 200, ROWS):
        table = clean(seed, rows)
        table = table.assign(
            heaped=5.0 * np.round(random.exponential(size=rows) * 3.0),
            none=np.where(random.random(rows) < 0.8, 0.0, table.age),
            two=random.choice([1.0, 2.0], rows),
            rare=(random.random(rows) < 0.05).astype(int),
            few=random.integers(0, 4, rows),
            count=random.poisson(1.0, rows),
            word=random.choice(["yes", "no"], rows),
            bent=table.dose * table.age / 50.0 + 3.0 * random.normal(size=rows),
        )
        assert left_out(table) == {}


def test_what_is_no_function() -> None:
    """One exception, a threshold with errors, trends."""
    random = np.random.default_rng(3)
    x = random.normal(size=500)
    near = np.exp(x)
    near[[10, 400]] = near[[400, 10]]
    table = pd.DataFrame(
        {"x": x, "near": near, "side": (x + 0.05 * random.normal(size=500) > 0).astype(float)}
    )
    assert left_out(table, context=None) == {}
    trends = pd.DataFrame(
        {"rain so far": random.exponential(size=200).cumsum(), "year": 1900 + np.arange(200) // 12}
    )
    assert left_out(trends, context=None) == {}


def test_an_answer_is_that_of_the_table_without_the_function() -> None:
    table = clean(14)
    with_total = table.assign(total=table.dose + table.stay, old=table.age > 60)
    before, after = cc.discover(table, "ward"), cc.discover(with_total, "ward")
    assert {one.column for one in after.left_out} == {"total", "old"}
    assert after.settings.method == before.settings.method
    assert after.graphs == before.graphs
    sentence = next(words for words in after.warnings if "left out" in words)
    assert "total = dose + stay" in sentence
    assert "old is a threshold of age" in sentence
    assert sentence in cc.check(with_total, "ward").notes
    assert "total" in cc.discover(with_total, "ward", keep=["total"]).names
    with pytest.raises(DataError, match="total = dose"):
        cc.discover(with_total, "ward", strict=True)


def test_what_knowledge_names_is_the_last_to_go() -> None:
    table = clean(15)
    table = table.assign(total=table.dose + table.stay, copy=table.age)
    known = cc.Knowledge(required=[["dose", "total"]])
    assert {one.column for one in cc.discover(table, "ward", knowledge=known).left_out} == {
        "copy",
        "stay",
    }
    known = cc.Knowledge(
        required=[["age", "dose"]], tiers=[["age", "copy"], ["dose", "stay", "total"]]
    )
    left = {one.column for one in cc.discover(table, "ward", knowledge=known).left_out}
    assert "copy" in left  # which no link names
    assert not left & {"age", "dose"}


@pytest.mark.parametrize("where", ["tiers", "roots", "sinks"])
def test_tiers_roots_and_sinks_are_used_without_a_function(where: str) -> None:
    table = clean(15)
    table = table.assign(total=table.dose + table.stay)
    names = ["age", "dose", "stay", "total"]
    every = {"tiers": [["age"], ["dose", "stay"], ["total"]]}
    known = cc.Knowledge(**every) if where == "tiers" else cc.Knowledge(**every, **{where: names})
    result = cc.discover(table, "ward", knowledge=known)
    plain = cc.discover(table.drop(columns="total"), "ward", knowledge=known.without(["total"]))
    assert [str(left) for left in result.left_out] == ["total = dose + stay"]
    assert result.graphs == plain.graphs
    assert result.settings.knowledge == plain.settings.knowledge
    assert "total" not in result.settings.knowledge.names
    assert result.knowledge_violations() == []
    told = next(words for words in result.warnings if words.startswith("left out of the search"))
    assert "your tiers, roots and sinks are used without total; to keep it" in told
    unnamed = cc.discover(table, "ward").warnings
    assert not any("tiers" in words for words in unnamed)


@pytest.mark.parametrize("links", ["required", "forbidden"])
def test_a_link_of_a_function_is_an_error(links: str) -> None:
    table = clean(15).assign(copy=lambda data: data.age)
    known = cc.Knowledge(
        **{links: [("age", "dose"), ("copy", "stay")]}, tiers=[["age", "copy"], ["dose", "stay"]]
    )
    with pytest.raises(
        KnowledgeError,
        match="knowledge names 'copy', which was left out of the search, since it is a",
    ):
        cc.discover(table, "ward", knowledge=known)


def test_tiers_that_name_what_is_no_variable_are_an_error() -> None:
    table = clean(15).assign(id=np.arange(ROWS), total=lambda data: data.dose + data.stay)
    known = cc.Knowledge(tiers=[["age", "id"], ["dose", "stay", "total"]])
    with pytest.raises(
        KnowledgeError, match="knowledge names 'id', which was left out of the search"
    ):
        cc.discover(table, "ward", knowledge=known)


def test_tiers_of_a_series_are_used_without_a_function_at_any_time() -> None:
    random = np.random.default_rng(16)
    x, y = random.normal(size=(2, 300))
    table = pd.DataFrame({"x": x, "y": y, "total": x + y})
    known = cc.Knowledge(
        tiers=[["x", "y"], ["total"]], forbidden=[("x(t-1)", "y")], roots=["total(t-1)"]
    )
    result = cc.discover(table, lags=1, knowledge=known, method="pc-p")
    assert [left.column for left in result.left_out] == ["total"]
    assert result.settings.knowledge == cc.Knowledge(
        tiers=[["x", "y"]], forbidden=[("x(t-1)", "y")]
    )


def test_functions_at_one_time_are_left_out_of_a_series() -> None:
    random = np.random.default_rng(16)
    x, y = random.normal(size=(2, 400))
    for t in range(1, 400):
        x[t] += 0.6 * x[t - 1]
        y[t] += 0.5 * x[t - 1]
    table = pd.DataFrame({"x": x, "y": y, "total": x + y})
    found = cc.discover(table, lags=1)
    assert [str(one) for one in found.left_out] == ["total = x + y"]
    assert any("total = x + y" in words for words in found.warnings)
    assert not any("total" in name for name in found.names)


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_rows_make_no_functions_and_hide_none(seed):
    table = clean(seed).drop(columns="ward")
    made = table.assign(
        total=table.dose + table.stay, bounded=np.clip(np.round(table.age), 40.0, 70.0)
    )
    for some, found in ((table, set()), (made, {"total", "bounded"})):
        twice = pd.concat([some.assign(ward="icu"), some.assign(ward="normal")])
        assert set(left_out(twice)) == found
        assert set(left_out(pd.concat([some, some[::3]]), context=None)) == found


@pytest.mark.parametrize("also", [False, True])
def test_check_counts_no_gaps_of_functions_that_are_left_out(also: bool) -> None:
    table = clean(3)
    table["total"] = (table["dose"] + table["stay"]).where(table.index % 20 > 0)
    if also:
        table.loc[::50, "height"] = np.nan
    checked = cc.check(table, context="ward")
    assert checked.usable is not also
    assert not any("total" in problem for problem in checked.problems)
    if not also:
        assert [left.column for left in checked.left_out] == ["total"]
        assert checked.left_out == cc.discover(table, context="ward").left_out


def test_dense_systems_of_lines_lose_no_variable() -> None:
    """Spreads grow along the paths, until the noise of a mechanism is a trace beside them."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        values = np.zeros((30, 1000))
        for effect in range(30):
            for cause in np.flatnonzero(rng.random(effect) < 10 / 29).tolist():
                values[effect] += rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 2.0) * values[cause]
            values[effect] += rng.normal(size=1000)
        table = pd.DataFrame(
            {f"V{place}": values[place] / values[place].std() for place in rng.permutation(30)}
        )
        assert functions_of_others(read_table(table, None)) == ()


@pytest.mark.parametrize("seed", range(40))
def test_pairs_that_are_not_looked_at_lie_on_no_line(seed: int) -> None:
    """All pairs are looked at together first, which must leave out no copy with slips."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(20, 70))
    values = np.round(random.normal(size=(8, rows)), int(random.integers(1, 9)))
    for _ in range(3):
        copy, column = random.choice(8, 2, replace=False)
        values[copy] = values[column] * random.choice([-2.0, 0.5, 1.0]) + random.choice([0.0, 3.0])
        slips = random.choice(rows, int(random.integers(0.17 * rows + 1)), replace=False)
        values[copy, slips] = 5.0 * random.normal(size=len(slips))
    possible = levels._pairs_in_one_order(values, list(range(8)))
    for value in range(8):
        for of in range(value):
            share = np.mean(levels._on_line_of_most(values[value], values[of])[0])
            assert share < LEAST_EQUAL_SHARE_IN_A_GLANCE or (value, of) in possible


@pytest.mark.parametrize("seed", range(20))
def test_pairs_that_are_not_compared_are_not_one_thing(seed: int) -> None:
    """Of pairs without missing cells means and spreads are compared together first."""
    random = np.random.default_rng(seed)
    first = random.normal(0.5 + seed / 10.0, 1.0, 200)
    values = np.stack([first + random.normal(0.0, size, 200) for size in (0.001, 0.01, 0.02, 1.0)])
    values[3, :: 7 if seed % 2 else 200] = np.nan
    possible = levels._pairs_of_one_size(values, list(range(4)))
    for value in range(3):
        for of in range(value):
            is_one = levels._are_one_thing(values[value], values[of])
            assert not is_one or (value, of) in possible
