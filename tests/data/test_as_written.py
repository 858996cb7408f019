"""Codes for missing values are named, never dropped in silence; clocks of the field are read as
what they are.
"""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.data.as_written import (
    codes_for_missing,
    decimal_years,
    joined_time,
    numbers_with_words,
    without_codes,
    written_dates,
)
from causalcontext.data.series import stamps_of
from causalcontext.data.tables import read_table


def tower(rows=480, seed=0):
    """Half hours in the format of a FLUXNET file: dates as numbers, -9999 where nothing was
    measured.
    """
    random = np.random.default_rng(seed)
    time = pd.date_range("2014-01-30", periods=rows, freq="30min")
    light = np.maximum(
        np.sin(2 * np.pi * (time.hour + time.minute / 60 - 6) / 24), 0.0
    ) + 0.1 * random.random(rows)
    vpd = 1.5 * light + 0.5 * random.standard_normal(rows)
    flux = -2.0 * light + 0.5 * random.standard_normal(rows)
    frame = pd.DataFrame(
        {
            "TIMESTAMP": time.strftime("%Y%m%d%H%M").astype(int),
            "SW_IN": light,
            "VPD": vpd,
            "NEE": flux,
        }
    )
    frame.loc[::40, "NEE"] = -9999.0
    return frame


def test_codes_are_found_where_they_are_far_away_and_repeated():
    x = np.arange(50.0)
    frame = {
        "few": np.where(x < 2, -9999.0, x),
        "code": np.where(x < 3, -9999.0, x),
        "near": np.where(x < 3, -99.0, 4 * x),
        "own": np.where(x < 3, -999.0, 100.0 * (x - 25)),
    }
    assert codes_for_missing(read_table(frame, None)) == {"code": {-9999.0: 3}}


def test_discover_and_check_name_codes_and_na_values_takes_them_out():
    frame = (
        tower().drop(columns="TIMESTAMP").assign(R=lambda x: np.where(x["VPD"] > 0.5, "dry", "wet"))
    )
    said = (
        "NEE has 12 cells of -9999 (2 %), far from its other values; taken for missing, and 12 rows"
        " left out; if these are measurements, pass na_values=[]; if -9999 means missing, pass"
        " na_values=[-9999]"
    )
    assert said in cc.discover(frame, "R", method="pc-p").warnings
    assert said in cc.check(frame, "R").notes
    assert not any(
        "log" in note for note in cc.check(frame, "R").notes if "NEE" in note and note != said
    )
    with pytest.raises(cc.CausalContextError, match="missing values in 'NEE'"):
        cc.discover(frame, "R", na_values=-9999)
    result = cc.discover(frame, "R", method="pc-p", na_values=[-9999], missing="model")
    holes = cc.discover(frame.replace(-9999.0, np.nan), "R", method="pc-p", missing="model")
    assert result.graphs == holes.graphs
    assert not any("-9999" in warning for warning in result.warnings)


def test_words_among_numbers_are_named_and_taken_out():
    frame = pd.DataFrame(
        {"X": ["1.5", ".", "2.5"] * 20, "Y": np.arange(60.0) % 7, "name": ["a", "b", "."] * 20}
    )
    assert numbers_with_words(frame) == {"X": (".",)}
    assert any("na_values=['.']" in note for note in cc.check(frame).notes)
    numbers = frame.assign(X=np.where(frame["X"] == ".", ".", np.arange(60).astype(str)))
    with pytest.raises(
        cc.CausalContextError,
        match=r"'.' is not: if it means a missing value pass na_values=\['.'\]",
    ):
        cc.discover(numbers)
    found = cc.discover(
        frame.drop(columns="name"), na_values=".", missing="listwise", method="pc-p"
    )
    assert found.data.rows == (40,)
    assert found.data.kinds[0] == "continuous"


@pytest.mark.parametrize(
    "written",
    [
        lambda time: time.strftime("%Y%m%d%H%M").astype(int),
        lambda time: time.strftime("%Y%m%d%H%M%S").astype(float),
        lambda time: time.strftime("%Y-%m-%dT%H:%M"),
        lambda time: time,
    ],
)
def test_half_hours_across_a_month_are_regular_however_they_are_written(written):
    frame = tower().assign(
        TIMESTAMP=written(pd.date_range("2014-01-30", periods=480, freq="30min"))
    )
    result = cc.discover(
        frame, lags=1, time="TIMESTAMP", na_values=[-9999], missing="windows", method="pc-p"
    )
    assert any(
        "it begins at 2014-01-30 00:00:00, a step is 00:30:00" in note for note in result.notes
    )
    assert result.windows.gaps == 0


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (
            pd.date_range("2001-01-31", periods=200, freq="ME"),
            "dates: it begins at 2001-01-31 00:00:00, a step is a month",
        ),
        (
            pd.date_range("1960-01-01", periods=200, freq="QS"),
            "dates: it begins at 1960-01-01 00:00:00, a step is 3 months",
        ),
        (np.arange(200) * 5 - 40, "numbers: it begins at -40, a step is 5"),
        (1950.0 + np.arange(200) / 12.0, "begins at 1950"),
    ],
)
def test_a_note_says_what_was_understood_of_any_clock(times, words):
    random = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"when": times, "X": random.normal(size=200), "Y": random.normal(size=200)}
    )
    notes = cc.discover(frame, lags=1, time="when", method="pc-p", max_given=0).notes
    assert sum("time column 'when' was read as" in note and words in note for note in notes) == 1


def test_a_second_clock_is_named():
    frame = tower().assign(END=tower()["TIMESTAMP"])
    warnings = cc.discover(frame, lags=1, time="TIMESTAMP", method="pc-p", max_given=0).warnings
    assert warnings[0].startswith(
        "left out of the search: END holds dates written as YYYYMMDDHHMM (time='END' with"
    )
    assert [left.column for left in cc.check(frame).left_out] == ["TIMESTAMP", "END"]


def test_single_cells_that_are_drawn_over_time_are_told():
    options = {"lags": 1, "time": "TIMESTAMP", "method": "pc-p", "na_values": -9999, "max_given": 0}
    assert any(
        "drawn several times" in note
        for note in cc.discover(tower(), missing="model", **options).notes
    )
    assert not any(
        "drawn several times" in note
        for note in cc.discover(tower(), missing="windows", **options).notes
    )


def test_numbers_that_are_no_dates_stay_numbers():
    assert written_dates(np.arange(10_000_000, 10_000_010)) is None
    assert written_dates(np.array([20141301])) is None
    assert written_dates(np.array([20140101, 20140102]))[1] == "dates written as YYYYMMDD"
    assert stamps_of("t", np.array([3.0, 5.0])) == (pytest.approx([3.0, 5.0]), False)


@pytest.mark.parametrize("count", [12, 4, 365])
def test_decimal_years_are_steps_of_a_year(count):
    years = np.round(1958.0 + np.arange(count, 4 * count) / count, 4 if count > 12 else 2)
    steps, words = decimal_years(years)
    np.testing.assert_array_equal(steps, np.arange(3 * count))
    assert words == f"decimal years of {count} steps each"
    assert decimal_years(np.arange(1950.0, 1990.0)) is None
    assert decimal_years(np.array([1958.1, 1958.3, 1958.31, 1958.9])) is None


@pytest.mark.parametrize(
    ("columns", "second"),
    [
        ({"DATE": ["2014-01-01", "2014-01-01"], "TIME": ["00:00", "00:30"]}, "2014-01-01 00:30"),
        ({"DATE": ["2014-01-01", "2014-01-01"], "TIME": [0, 30]}, "2014-01-01 00:30"),
        ({"YEAR": [2014, 2014], "MONTH": [1, 2]}, "2014-02-01"),
        ({"YEAR": [2014, 2014], "DOY": [1, 60]}, "2014-03-01"),
        ({"YEAR": [2014, 2014], "MONTH": [1, 2], "DAY": [3, 4]}, "2014-02-04"),
    ],
)
def test_dates_in_several_columns(columns, second):
    frame, name = joined_time(pd.DataFrame(columns), list(columns))
    assert list(frame.columns) == [name] == [" ".join(columns)]
    assert frame[name].iloc[1] == pd.Timestamp(second)


def test_the_command_line_reads_a_file_of_the_field(tmp_path):
    file = tmp_path / "tower.csv"
    tower().to_csv(file, index=False)
    words = [
        str(file),
        "--context",
        "VPD >= 0.5",
        "--lags",
        "1",
        "--time",
        "TIMESTAMP",
        "--cycle",
        "TIMESTAMP:1D",
        "--na=-9999",
        "--missing",
        "model",
        "--method",
        "pc-p",
        "--json",
        str(tmp_path / "r.json"),
    ]
    done = CliRunner().invoke(app, ["discover", *words])
    assert done.exit_code == 0, done.output
    assert "dates written as YYYYMMDDHHMM" in " ".join(done.output.split())
    result = cc.load(tmp_path / "r.json")
    assert result.contexts == ("< 0.5", ">= 0.5")
    assert "TIMESTAMP 1D sin" in result.names
    done = CliRunner().invoke(app, ["check", str(file), "--columns", "SW_IN,VPD,NEE"])
    assert "--na=-9999" in " ".join(done.output.split())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"na_values": object()}, "na_values is .*, expected numbers or words"),
        ({"lags": 1, "time": ["TIMESTAMP", "hour"]}, "the table has no column 'hour'"),
        (
            {"lags": 1, "time": ["VPD", "NEE"]},
            "time is VPD and NEE, which hold .*; expected a date and a time of the day",
        ),
        ({"lags": 1, "time": []}, "time is \\[\\], expected a column, or two or three"),
    ],
)
def test_what_is_not_understood_is_one_sentence(options, sentence):
    with pytest.raises(cc.CausalContextError, match=sentence):
        cc.discover(tower(), **options)


def test_times_inside_one_day_are_no_months():
    random = np.random.default_rng(3)
    times = pd.Timestamp("2020-05-04") + pd.to_timedelta(
        np.sort(random.integers(0, 80_000, 200)) + np.arange(200), "s"
    )
    frame = pd.DataFrame(
        {"when": times, "X": random.normal(size=200), "Y": random.normal(size=200)}
    )
    with pytest.raises(cc.DataError, match="irregular steps"):
        cc.discover(frame, lags=1, time="when")


def test_a_large_number_of_a_clock_is_written_out():
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(200, 2)), columns=["X", "Y"]).assign(
        when=1_234_567 + 10 * np.arange(200)
    )
    notes = cc.discover(frame, lags=1, time="when", method="pc-p", max_given=0).notes
    assert any("begins at 1234567, a step is 10" in note for note in notes)


def test_codes_are_found_beside_text_that_arrow_holds():
    frame = pd.DataFrame({"X": [1.5, 2.5, -9999.0, 4.5], "R": ["a", "b", "a", "b"]})
    changed = without_codes(frame.convert_dtypes(dtype_backend="pyarrow"), ["-9999"])
    assert changed["X"].isna().tolist() == [False, False, True, False]
    assert changed["R"].tolist() == ["a", "b", "a", "b"]
