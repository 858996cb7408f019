"""Text that holds numbers is read as numbers, or refused with two of its cells; never a
category.
"""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.screening.cells import cell_of, text_numbers
from causalcontext.screening.screen import Asked, screened

ROWS = 120
NUMBERS = np.round(np.random.default_rng(2).uniform(1_000.0, 9_000.0, ROWS), 1)


def texts(form):
    return [form(value) for value in NUMBERS]


def with_comma(value):
    return f"{value:.1f}".replace(".", ",")


REFUSED = {
    "unit": (texts(lambda value: f"{value} kg"), {"convert": True}, "convert=True"),
    "percent": (texts(lambda value: f"{value}%"), {"convert": True}, "convert=True"),
    "currency": (texts(lambda value: f"€ {value:,.1f}"), {"convert": True}, "convert=True"),
    "decimal commas": (texts(with_comma), {"decimal": ","}, "decimal=','"),
    "thousands": (texts(lambda value: f"{value:,.1f}"), {"convert": True}, "convert=True"),
    "Swiss thousands": (
        texts(lambda value: f"{value:,.1f}".replace(",", "'")),
        {"convert": True},
        "convert=True",
    ),
    "both": (
        texts(lambda value: f"{value:,.1f} kg".translate(str.maketrans(",.", ".,"))),
        {"decimal": ",", "convert": True},
        "decimal=','",
    ),
}


def frame(values):
    x, y = np.random.default_rng(3).standard_normal((2, ROWS))
    return pd.DataFrame({"X": x, "Y": y, "dose": values})


@pytest.mark.parametrize("case", REFUSED)
def test_the_way_that_is_named_leads_to_the_numbers(case):
    values, options, way = REFUSED[case]
    with pytest.raises(cc.DataError, match="column 'dose' is text: numbers with") as caught:
        cc.discover(frame(values))
    assert way in str(caught.value)
    assert repr(min(values)) in str(caught.value)
    assert str(caught.value) in cc.check(frame(values)).problems
    assert cc.check(frame(values), **options).usable
    result = cc.discover(frame(values), method="pc-p", max_given=0, **options)
    assert result.moments.mean[0, 2] == pytest.approx(NUMBERS.mean())


def test_plain_numbers_in_text_are_read():
    result = cc.discover(frame(NUMBERS.astype(str)), method="pc-p", max_given=0)
    assert result.data.kinds[2] == "continuous"
    assert "dose is text of numbers, and read as numbers" in result.notes


@pytest.mark.parametrize(
    "some",
    [["12 kg", "500 g"], ["12 kg", "14"], ["12,5", "n/a"], ["1", "n/a"], ["1,5", "unknown"]],
    ids=lambda some: some[1],
)
def test_what_no_option_can_read_is_refused(some):
    values = [*some, *texts(lambda value: some[0].replace("1", f"{value:.0f}"))[2:]]
    with pytest.raises(cc.DataError, match="'dose'"):
        cc.discover(frame(values), convert=True, decimal=",")


def test_keys_and_categories_are_no_numbers():
    for known in (
        ["north", "south"],
        ["12A", "7B", "9C", "1D", "2E", "3F"],
        ["007", "019", "120"] * 9,
        ["1", "2", "3"],
        ["2 mg", "4 mg"],
        ["0x", "1x", "2x"],
        ["10:30", "11:30", "12:30"],
        ["1-2", "3-4", "5-6"],
    ):
        assert text_numbers("X", known) is None


def test_a_column_with_points_stays_beside_one_with_commas():
    table = frame(texts(with_comma)).assign(Y=NUMBERS.astype(str))
    result = cc.discover(table, decimal=",", method="pc-p", max_given=0)
    assert result.moments.mean[0, 1] == pytest.approx(NUMBERS.mean())


def test_declared_levels_stay_levels():
    values = [f"{place % 4} mg" for place in range(ROWS)]
    result = cc.discover(frame(values), kinds={"dose": "categorical"}, method="pc-p", max_given=0)
    assert result.data.kinds[2] == "categorical"


@pytest.mark.parametrize("word", ["", " ", "NA "])
def test_a_word_for_a_missing_value_is_named_with_the_way(word):
    x, y = np.random.default_rng(5).standard_normal((2, ROWS))
    table = pd.DataFrame({"X": x, "Y": y, "W": [*texts(str)[:-3], *[word] * 3]})
    with pytest.raises(cc.DataError, match="if it means a missing value pass na_values="):
        cc.discover(table)
    found = cc.discover(table, na_values=[word], missing="listwise")
    assert "W" in found.names


def test_infinity_in_text_is_no_key():
    found = text_numbers("W", [*texts(str), "inf"])
    assert found is not None
    assert "'inf' is not: correct it" in found.problem


def test_a_category_of_very_many_numbers_is_numbers():
    table = pd.DataFrame(
        {
            "X": NUMBERS,
            "Y": NUMBERS[::-1],
            "W": pd.Categorical(NUMBERS),
            "V": pd.Categorical(np.arange(ROWS) % 4 / 2),
        }
    )
    found = screened(table, Asked())
    assert found[0]["W"].tolist() == NUMBERS.tolist()
    assert found[0]["V"].dtype == "category"


@pytest.mark.parametrize("mark", ["'", '"'])
def test_numbers_in_quotes_are_numbers(mark):
    result = cc.discover(
        frame(texts(lambda value: f"{mark}{value}{mark}")), method="pc-p", max_given=0
    )
    assert result.moments.mean[0, 2] == pytest.approx(NUMBERS.mean())


def test_quarters_are_dates_and_no_numbers_with_units():
    quarters = [f"{2010 + place % 12}Q{place % 4 + 1}" for place in range(ROWS)]
    for written in (quarters, [f"{text[4:]} {text[:4]}" for text in quarters]):
        result = cc.discover(frame(written), method="pc-p", max_given=0)
        assert [left.why for left in result.left_out] == ["date"]


@pytest.mark.parametrize("word", ["missing", "#DIV/0!", "BDL"])
def test_words_among_numbers_are_named_with_the_way(word):
    with pytest.raises(cc.DataError, match="if it means a missing value pass na_values=") as caught:
        cc.discover(frame([*texts(str)[:-3], *[word] * 3]))
    assert repr([word]) in str(caught.value)


@pytest.mark.parametrize("place", [0, 60, ROWS])
def test_a_row_of_words_is_left_out(place):
    table = frame(NUMBERS).assign(ward=["icu", "normal"] * (ROWS // 2))
    header = pd.DataFrame([{name: name for name in table}])
    with_header = pd.concat([table[:place], header, table[place:]], ignore_index=True)
    plain, result = (cc.discover(one, "ward") for one in (table, with_header))
    assert result.graphs == plain.graphs
    assert any(f"row {place + 1:,} holds words" in words for words in result.warnings)
    assert int(result.moments.rows.sum()) == ROWS
    with pytest.raises(cc.DataError, match="'X' is not"):
        cc.discover(with_header, "ward", damaged="keep")


def test_a_word_in_one_column_is_no_row_of_words():
    with pytest.raises(cc.DataError, match="'low' is not"):
        cc.discover(frame([*texts(str)[:-1], "low"]))


def test_numbers_behind_an_apostrophe_are_numbers():
    """A spreadsheet writes it before cells that are text."""
    texts = ["'12.5", "' 3", "'-4.1"]
    assert text_numbers("dose", texts).values.tolist() == [12.5, 3.0, -4.1]
    assert cell_of("'a") is None
