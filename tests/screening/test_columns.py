"""Columns that cannot be variables are left out, and measurements stay."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import causalcontext as cc
from causalcontext.screening.left_out import Why
from causalcontext.screening.screen import Asked, screened

ROWS = 400
RNG = np.random.default_rng(0)


def table(**columns):
    x, y = RNG.standard_normal((2, ROWS))
    return pd.DataFrame({"X": x, "Y": x + y, "R": RNG.choice(["dry", "wet"], ROWS)}).assign(
        **columns
    )


def found_in(values, name="W", **asked):
    return screened(table(**{name: values}), Asked("R", **asked))[2]


DAYS = pd.date_range("2021-03-01", periods=ROWS, freq="D")
NOT_VARIABLES = {
    "constant": (np.full(ROWS, 0.1 + 0.2), Why.CONSTANT),
    "one value and gaps": (np.where(np.arange(ROWS) % 2, 1.0, np.nan), Why.CONSTANT),
    "rows": (np.arange(ROWS), Why.IDENTIFIER),
    "rows backwards, in tens": (1000 * ROWS - 10 * np.arange(ROWS), Why.IDENTIFIER),
    "rows with gaps": (np.cumsum(RNG.integers(1, 3, ROWS)), Why.IDENTIFIER),
    "shuffled": (RNG.permutation(ROWS) + 10_000, Why.IDENTIFIER),
    "shuffled, every third number": (3 * RNG.permutation(ROWS) + 7.0, Why.IDENTIFIER),
    "some rows twice": (
        np.r_[np.arange(ROWS - 15), RNG.integers(0, ROWS - 15, 15)],
        Why.IDENTIFIER,
    ),
    "keys of sixteen digits": (10**15 + RNG.permutation(ROWS), Why.IDENTIFIER),
    "keys": ([f"K-{place}" for place in RNG.permutation(ROWS)], Why.IDENTIFIER),
    "days": (DAYS, Why.DATE),
    "days as text": (DAYS.strftime("%d/%m/%Y"), Why.DATE),
    "times of the day": (
        list(pd.date_range("2021-03-01", periods=ROWS, freq="7min").time),
        Why.DATE,
    ),
    "days in words": (DAYS.strftime("%d %B %Y"), Why.DATE),
    "days as numbers": (RNG.permutation(DAYS.strftime("%Y%m%d").astype(int)), Why.DATE),
    "months as numbers": (RNG.choice(DAYS.strftime("%Y%m").astype(int), ROWS), Why.DATE),
    "text": ([f"the patient was seen at {place}" for place in range(ROWS)], Why.TEXT),
    "surnames": ([f"name {place}" for place in RNG.integers(0, 150, ROWS)], Why.LEVELS),
    "nothing": (np.full(ROWS, np.nan), Why.EMPTY),
}
VARIABLES = {
    "whole numbers in steps of a tenth": np.round(10 * RNG.standard_normal(ROWS)).astype(int),
    "incomes": RNG.lognormal(10.0, 0.5, ROWS).astype(int),
    "incomes, sorted": np.sort(RNG.lognormal(10.0, 0.5, ROWS).astype(int)),
    "large counts": RNG.poisson(1e6, ROWS),
    "random keys of a wide range": RNG.choice(10**7, ROWS, replace=False),
    "years": RNG.integers(2015, 2023, ROWS),
    "a design": np.tile(np.arange(ROWS // 2), 2),
    "a grid": np.linspace(0.0, 1.0, ROWS),
    "measurements of eight digits": 20_000_000 + RNG.integers(0, 10**6, ROWS),
    "cities": [f"city {place}" for place in RNG.integers(0, 20, ROWS)],
    "codes of a category in text": RNG.integers(1, 6, ROWS).astype(str),
    "doses of two sizes": RNG.choice(["5 mg", "10 mg"], ROWS),
    "stages": RNG.choice(["1", "2a", "2b", "3"], ROWS).astype(object) + " x",
    "grades": pd.Categorical(RNG.choice(["low", "high"], ROWS), ordered=True),
    "truth": RNG.random(ROWS) < 0.5,
}


@pytest.mark.parametrize("case", NOT_VARIABLES)
def test_no_variable_is_left_out_whatever_the_order_of_rows(case):
    values, why = NOT_VARIABLES[case]
    found = found_in(values)
    assert [(left.column, left.why) for left in found.left_out] == [("W", why)]
    assert found_in(values, kept=["W"]).left_out == ()
    if case not in ("rows with gaps",):  # a clock is one in its own order alone
        order = RNG.permutation(ROWS)
        assert [
            left.why for left in found_in(pd.Series(values).iloc[order].to_numpy()).left_out
        ] == [why]


@pytest.mark.parametrize("case", VARIABLES)
def test_a_variable_stays(case):
    given = table(W=VARIABLES[case])
    same, _, found = screened(given, Asked("R"))
    assert same is given
    assert found.left_out == found.told == found.notes == found.problems == ()


def test_whole_numbers_stay_in_any_number_of_tables():
    """Level: of 160 columns of whole numbers, with as many places as rows or a few times more, none
    is an id.
    """
    for share in (0.5, 1.0, 2.0, 10.0):
        columns = {f"W{k}": RNG.integers(0, int(share * ROWS), ROWS) for k in range(40)}
        assert screened(table(**columns), Asked("R"))[2].left_out == ()


def test_a_name_to_keep_is_a_column():
    with pytest.raises(cc.DataError, match="no column 'Id'; did you mean 'id'"):
        cc.discover(table(id=np.arange(ROWS)), "R", keep=["Id"])


def test_ranks_of_all_columns_are_no_ids():
    ranks = table(V=RNG.standard_normal(ROWS))[["X", "Y", "V"]].rank().astype(int)
    assert screened(ranks, Asked())[2].left_out == ()


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow", "mapping", "array"])
def test_every_kind_of_table(form):
    own = table(id=np.arange(ROWS), one=1.5)
    made = {
        "pandas": own,
        "polars": pl.from_pandas(own),
        "pyarrow": pa.Table.from_pandas(own),
        "mapping": {name: own[name].to_numpy() for name in own},
    }
    plain = {}
    if form == "array":
        plain, own = {"names": list("XYRio")}, own.assign(R=(own["R"] == "wet").astype(float))
        made["array"] = own.to_numpy(dtype=float)
    result = cc.discover(made[form], "R", method="pc-p", max_given=0, **plain)
    assert result.names == ("X", "Y", "R")
    assert len(result.left_out) == 2
    assert result.warnings[0].startswith("left out of the search: ")


def test_rows_without_a_value_or_without_a_context_are_left_out():
    given = table().astype({"R": object})
    given.loc[ROWS - 3 :, :] = None
    given.loc[5:9, "R"] = None
    given = given.astype({"X": float, "Y": float})
    result = cc.discover(given, "R", method="pc-p", max_given=0)
    assert sum(result.data.rows) == ROWS - 8
    assert "3 rows of 400 have no value in any column and are left out" in result.warnings
    assert "R has no value in 5 rows of 400, which are left out" in result.warnings
    given.loc[:30, "R"] = None
    with pytest.raises(cc.DataError, match=r"missing values in 'R' \(31\)"):
        cc.discover(given, "R")


def test_wrong_cells_keep_their_rows_in_the_table_that_was_given():
    from causalcontext.results.wrong_cells import FlaggedCell, WrongCells

    found = WrongCells((FlaggedCell(1, "X", 9.0, 0.0),), (2,)).at_rows(np.array([0, 4, 5]))
    assert found.cells[0].row == 4
    assert found.left_out == (5,)


def test_what_was_left_out_is_saved(tmp_path):
    result = cc.discover(table(id=np.arange(ROWS)), "R", method="pc-p", max_given=0)
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert again.left_out == result.left_out
    with pytest.raises(
        cc.OptionError, match=r"id was left out of the search, since it is an identifier"
    ):
        again.explain("X", "id")
    with pytest.raises(cc.OptionError, match=r"pass keep=\['id'\]"):
        again.effects("id", "X")


def test_with_lags_a_trend_stays_and_a_constant_of_units_goes():
    units, steps = np.repeat(np.arange(10), ROWS // 10), np.tile(np.arange(ROWS // 10), 10)
    panel = table(
        unit=units,
        day=steps,
        level=np.arange(ROWS) + 5,
        altitude=np.repeat(RNG.random(10), ROWS // 10),
    )
    options = {"lags": 1, "time": "day", "units": "unit", "method": "pc-p", "max_given": 0}
    result = cc.discover(panel.drop(columns="R"), **options)
    assert [(left.column, left.why) for left in result.left_out] == [("altitude", Why.UNITS)]
    (told,) = [words for words in result.warnings if words.startswith("left out of the search")]
    assert "altitude never changes within a unit of unit" in told
    assert {"X", "Y", "level"} <= set(result.names)
    assert cc.discover(panel.drop(columns="R"), **options, unit_effects="none").left_out == ()


def test_kinds_and_knowledge_of_what_is_left_out():
    given = table(W=1.5)
    assert cc.discover(given, "R", kinds={"W": "continuous"}, method="pc-p", max_given=0).left_out
    with pytest.raises(
        cc.KnowledgeError, match="knowledge names 'W', which was left out of the search"
    ):
        cc.discover(given, "R", knowledge=cc.Knowledge(roots=["W"]))
    assert found_in(np.arange(ROWS), kinds={"W": "continuous"}).left_out == ()


def test_the_index_that_pandas_writes_to_a_file(tmp_path):
    file = tmp_path / "t.csv"
    table().to_csv(file)
    result = cc.discover(file, "R", method="pc-p", max_given=0)
    assert [left.column for left in result.left_out] == ["Unnamed: 0"]


def test_files_that_are_read_in_batches_are_read_without_dates_keys_and_text(tmp_path):
    own = table(
        key=[f"P{place:05d}" for place in range(ROWS)],
        day=DAYS,
        note=[f"seen at {k} today" for k in range(ROWS)],
    )
    for part in range(2):
        own[part * 200 : (part + 1) * 200].to_parquet(tmp_path / f"part-{part}.parquet")
    result = cc.discover(tmp_path, "R", method="pc-p", max_given=0)
    assert [left.column for left in result.left_out] == ["key", "day", "note"]
    assert result.warnings[0].startswith("left out of the search: key is an identifier")
    assert result.names == ("X", "Y", "R")
    with pytest.raises(cc.DataError, match="strict is True"):
        cc.discover(tmp_path, "R", method="pc-p", strict=True)
    with pytest.raises(cc.DataError, match="column 'day'"):
        cc.discover(tmp_path, "R", method="pc-p", keep=["day"])


@pytest.mark.parametrize("gaps", [0, 5])
def test_the_intervals_of_pandas_cut_are_levels_in_order(gaps):
    first, second = np.random.default_rng(7).standard_normal((2, ROWS))
    given = table(hidden=pd.cut(first, [-9, -1, 0, 9]), half=pd.cut(second, [-9, 0, 9]))
    given.loc[: gaps - 1, "half"] = np.nan
    found = cc.discover(given.drop(columns="R"), "half", method="pc-p", max_given=0)
    assert found.contexts == ("(-9, 0]", "(0, 9]")
    assert screened(given, Asked("R"))[0]["hidden"].cat.categories.tolist() == [
        "(-9, -1]",
        "(-1, 0]",
        "(0, 9]",
    ]
    assert cc.check(given.drop(columns="R"), "half").usable
    groups = given.drop(columns="half").assign(group=pd.cut(given["X"], [-99, 0, 99]))
    assert [
        left.column for left in cc.discover(groups, "R", method="pc-p", max_given=0).left_out
    ] == ["group"]


def test_durations_are_read_in_seconds() -> None:
    rng = np.random.default_rng(0)
    minutes = rng.normal(30.0, 5.0, 200)
    table = pd.DataFrame(
        {"wait": pd.to_timedelta(minutes, unit="min"), "X": minutes + rng.normal(size=200)}
    )
    table = table.assign(R=np.where(rng.random(200) < 0.5, "a", "b"))
    result = cc.discover(table, "R")
    assert result.union.mark("wait", "X") != ""
    assert any("wait holds durations, and is read in seconds" in note for note in result.notes)
    assert cc.check(table, "R").usable


def test_text_that_begins_with_numbers_is_told():
    """Ranges, fractions and lengths in feet are quantities that no rule reads; cities, groups of
    few levels, dates and what the caller declares are none.
    """
    sizes = RNG.integers(20, 60, ROWS)
    quantities = {
        "ranges": [f"{size}-{size + 5}" for size in sizes],
        "parts": [f"{size}/60" for size in sizes],
        "feet": [f"{size // 12}'{size % 12}\"" for size in sizes],
    }
    for name, values in quantities.items():
        (said,) = found_in(values).told
        assert said.startswith("text that begins with numbers is searched as levels"), name
        assert repr(min(values)) in said
        assert screened(table(W=values), Asked("R", kinds={"W": "categorical"}))[2].told == ()
    for values in (
        [f"{size // 10}0-{size // 10}9" for size in sizes],
        [f"city {size}" for size in sizes],
        [f"2021-03-{size % 28 + 1:02d}" for size in sizes],
    ):
        assert found_in(values).told == ()
