"""Copies and codes of a context, its spellings, and columns that it leaves empty."""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.screening.left_out import Why
from causalcontext.screening.screen import Asked, screened

ROWS = 600
RNG = np.random.default_rng(1)
WET = RNG.random(ROWS) < 0.4


def found_in(values, **asked):
    x, y = RNG.standard_normal((2, ROWS))
    table = pd.DataFrame({"X": x, "Y": y, "R": np.where(WET, "wet", "dry"), "W": values})
    return screened(table, Asked("R", **asked))[2]


LIKE_THE_CONTEXT = {
    "a copy": np.where(WET, "W", "D"),
    "a code": WET.astype(int),
    "two percent of errors": WET ^ (RNG.random(ROWS) < 0.02),
    "finer levels": np.where(WET, RNG.choice(["a", "b"], ROWS), RNG.choice(["c", "d", "e"], ROWS)),
    "a number for every context": np.where(WET, 3.7, -1.2),
    "a code with gaps": np.where(RNG.random(ROWS) < 0.2, np.nan, WET),
}
UNLIKE_IT = {
    "a number that determines it": np.where(WET, 1.0, -1.0) * RNG.exponential(1.0, ROWS),
    "twenty percent of errors": WET ^ (RNG.random(ROWS) < 0.2),
    "an unrelated category": RNG.choice(["a", "b"], ROWS),
    "a rare flag": (RNG.random(ROWS) < 0.01).astype(int),
    "a level of one context": np.where(
        WET, RNG.choice(["a", "b"], ROWS), RNG.choice(["b", "c"], ROWS)
    ),
    "a grade of which it is a step": np.where(
        WET, RNG.integers(4, 7, ROWS), RNG.integers(1, 4, ROWS)
    ),
}


@pytest.mark.parametrize("case", LIKE_THE_CONTEXT)
def test_what_is_like_the_context_is_left_out(case):
    found = found_in(LIKE_THE_CONTEXT[case])
    assert [(left.column, left.why, left.of) for left in found.left_out] == [
        ("W", Why.CONTEXT, ("R",))
    ]
    assert found_in(LIKE_THE_CONTEXT[case], kept=["W"]).left_out == ()


@pytest.mark.parametrize("case", UNLIKE_IT)
def test_what_is_unlike_it_stays(case):
    assert found_in(UNLIKE_IT[case]).left_out == ()


def test_several_contexts_and_a_code_of_their_combination():
    season = RNG.choice(["summer", "winter"], ROWS)
    table = pd.DataFrame(
        {
            "X": RNG.standard_normal(ROWS),
            "Y": RNG.standard_normal(ROWS),
            "S": season,
            "R": np.where(WET, "wet", "dry"),
            "normal": 10.0 * WET + (season == "winter"),
        }
    )
    found = screened(table, Asked(["R", "S"]))[2]
    assert [left.column for left in found.left_out] == ["normal"]


def test_a_column_that_one_context_leaves_empty():
    values = np.where(WET, RNG.standard_normal(ROWS), np.nan)
    assert [str(left) for left in found_in(values).left_out] == ["W has no value where R = 'dry'"]
    assert found_in(values, missing="testwise").left_out == ()


def test_spellings_of_a_level_are_told_and_merged_where_that_is_asked_for():
    context = np.where(WET, "icu", "normal").astype(object)
    context[np.flatnonzero(WET)[:40]] = "ICU "
    x, y = RNG.standard_normal((2, ROWS))
    table = pd.DataFrame({"X": x, "Y": y, "ward": context})
    options = {"method": "pc-p", "max_given": 0}
    result = cc.discover(table, "ward", **options)
    assert set(result.contexts) == {"icu", "ICU ", "normal"}
    (told,) = [words for words in result.warnings if "case or spaces" in words]
    assert told.endswith("to merge them, pass convert=True")
    assert told in cc.check(table, "ward").notes
    merged = cc.discover(table, "ward", convert=True, **options)
    assert merged.contexts == ("icu", "normal")
    assert not any("case or spaces" in words for words in merged.warnings)


def test_a_truth_value_is_written_as_one():
    table = pd.DataFrame(
        {
            "X": RNG.standard_normal(ROWS),
            "W": np.where(WET, np.nan, 1.0 + RNG.random(ROWS)),
            "R": WET,
        }
    )
    (left,) = screened(table, Asked("R"))[2].left_out
    assert left.reason == "has no value where R = True"


def test_a_truth_value_of_a_table_asks_for_a_context():
    x = RNG.standard_normal(ROWS)
    table = pd.DataFrame({"X": x, "Y": WET * x + RNG.standard_normal(ROWS), "R": WET})
    result = cc.discover(table, context="R")
    first, second = np.sort(table["R"].unique())
    assert result.changes(first, second).equals(result.changes(False, True))
    with pytest.raises(cc.OptionError, match="there is no context 0"):
        result.changes(0, 1)


@pytest.mark.parametrize("noise", [1e-9, 1e-3])
def test_a_code_with_a_trace_of_noise_is_left_out(noise):
    values = np.where(WET, 12.0, -3.0) + noise * RNG.standard_normal(ROWS)
    assert [left.column for left in found_in(values).left_out] == ["W"]
    assert found_in(values, kept=["W"]).left_out == ()
    heaps = np.where(WET, 12.0, -3.0) + 0.3 * RNG.standard_normal(ROWS)
    assert found_in(heaps).left_out == ()


def test_contexts_that_are_copies_or_functions_of_each_other_are_told():
    x, y = RNG.standard_normal((2, ROWS))
    finer = np.where(WET, RNG.choice(["a", "b"], ROWS), RNG.choice(["c", "d"], ROWS))
    coin = RNG.choice(["heads", "tails"], ROWS)
    table = pd.DataFrame({"X": x, "Y": y, "R": WET.astype(int), "S": np.where(WET, "w", "d")})
    table = table.assign(F=finer, coin=coin)
    told = {
        ("R", "S"): ["S is a copy of R"],
        ("S", "R"): ["R is a copy of S"],
        ("R", "F"): ["R is a function of F"],
        ("F", "coin"): [],
    }
    for names, clauses in told.items():
        part = table[["X", "Y", *names]]
        sentences = screened(part, Asked(list(names)))[2].told
        assert [
            f"of the contexts {clause}:" in said for clause in clauses for said in sentences
        ] == [True] * len(clauses)
        assert len(sentences) == len(clauses)


@pytest.mark.parametrize("method", ["auto", "pc-ac", "fci-ac"])
@pytest.mark.parametrize("kind", ["number", "count", "category", "flag"])
def test_a_column_with_one_value_in_a_context_is_told_by_every_method(method, kind):
    rng = np.random.default_rng([2, len(kind)])
    elsewhere = {
        "number": rng.standard_normal(ROWS),
        "count": rng.poisson(3.0, ROWS),
        "category": rng.choice(["b", "c"], ROWS),
        "flag": rng.integers(0, 2, ROWS),
    }[kind]
    x, y = rng.standard_normal((2, ROWS))
    off = "b" if kind == "category" else 0
    table = pd.DataFrame({"X": x, "Y": x + y, "R": np.where(WET, "wet", "dry")})
    told = cc.discover(table.assign(W=np.where(WET, elsewhere, off)), "R", method=method).warnings
    assert [said.startswith("W is the same in every row where R is dry") for said in told].count(
        True
    ) == 1
    varied = cc.discover(table.assign(W=elsewhere), "R", method=method).warnings
    rare = cc.discover(table.assign(W=(rng.random(ROWS) < 0.005) * 1), "R", method=method).warnings
    assert not any("is the same in every row" in said for said in (*varied, *rare))


@pytest.mark.parametrize("word", ["NA", "?", "", "n/a", "missing"])
def test_a_word_for_missing_values_in_a_context_is_told(word):
    """It stays a value, since NA is Namibia as well, and `na_values=` leaves its rows out."""
    x = RNG.standard_normal(ROWS)
    values = np.where(WET, "wet", "dry").astype(object)
    values[5:30] = word
    table = pd.DataFrame({"X": x, "Y": x + RNG.standard_normal(ROWS), "R": values})
    words = f"R is {word!r} in 25 rows of 600"
    assert any(words in told for told in screened(table, Asked("R"))[2].told)
    decided = cc.discover(table, "R", na_values=[word])
    assert decided.contexts == ("dry", "wet")
    assert not any(words in told for told in decided.warnings)


def test_a_group_without_treatment_and_most_rows_are_not_told():
    for word in ("none", "NA"):
        table = pd.DataFrame({"X": RNG.standard_normal(ROWS), "R": np.where(WET, "drug", word)})
        assert screened(table, Asked("R"))[2].told == ()
