"""Windows of tables that are read in batches: the same as in memory, however the rows are cut."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import causalcontext as cc
from causalcontext.data.accumulate import Accumulator
from causalcontext.data.columns import Kind
from causalcontext.data.scanned_windows import WindowAccumulator
from causalcontext.data.series_options import SeriesOptions
from causalcontext.data.sufficient_statistics import gather_statistics

ROWS = 1200


def table(panel=False, several=False, holes=True, seed=0):
    """X(t-1) -> Y (only in wet), Y -> Z, X(t-1) -> R; gaps in time, missing numbers and
    contexts.
    """
    random = np.random.default_rng(seed)
    x, y, z, wet = np.zeros((4, ROWS))
    for t in range(1, ROWS):
        x[t] = 0.5 * x[t - 1] + random.normal()
        wet[t] = x[t - 1] + random.normal() > 0
        y[t] = 0.7 * x[t - 1] * wet[t] + 0.3 * y[t - 1] + random.normal()
        z[t] = 0.6 * y[t] + random.normal()
    found = pd.DataFrame(
        {"X": x, "Y": y, "Z": z, "R": np.where(wet, "wet", "dry"), "day": np.arange(ROWS) * 2.0}
    )
    if several:
        found["A"] = random.integers(5, 7, size=ROWS)
    if panel:
        found["site"] = np.searchsorted([100, 350, 355, 800], np.arange(ROWS), side="right")
        found[["X", "Y"]] += found[["site"]].to_numpy() * 10.0
    if holes:
        found.loc[[50, 51, 300, 700], "Y"] = np.nan
        found.loc[900, "R"] = None
        found = found.drop(index=[*range(400, 405), 1000]).reset_index(drop=True)
    return found


def accumulated(frame, contexts, options, size, sample):
    """What is kept of the rows in batches of a size."""
    names = tuple(name for name in frame.columns if name not in options.taken)
    system = tuple(name for name in names if name not in contexts)
    rows, windows = (
        Accumulator(system, contexts, sample),
        WindowAccumulator(names, (Kind.CONTINUOUS,) * len(names), contexts, options, sample),
    )
    whole = pa.Table.from_pandas(frame, preserve_index=False).combine_chunks()
    for begin in range(0, len(frame), size):
        for batch in whole.slice(begin, size).to_batches():
            rows.add(batch, rows.rows)
            windows.add(batch, rows)
    return rows, windows


def kept(frame, contexts, options, size, sample):
    """The same, once all rows have been added, with the contexts of a scan of the whole table."""
    rows, windows = accumulated(frame, contexts, options, size, sample)
    data = cc.scan(
        pa.Table.from_pandas(frame, preserve_index=False).to_reader(),
        list(contexts) or None,
        columns=[name for name in frame.columns if name not in options.taken],
    ).data
    return windows.finished(rows, data)


CASES = {
    "gaps": ({}, ("R",), SeriesOptions(2, "day", missing="windows")),
    "no context": ({}, (), SeriesOptions(2, "day", missing="windows")),
    "several": ({"several": True}, ("R", "A"), SeriesOptions(1, "day", missing="windows")),
    "long": ({}, ("R",), SeriesOptions(3, "day", context_lags=(0, 2), missing="windows")),
    "covariate": ({}, ("R",), SeriesOptions(2, "day", covariates=("X",), missing="windows")),
    "interpolate": ({}, ("R",), SeriesOptions(2, "day", missing="interpolate")),
    "panel": ({"panel": True}, ("R",), SeriesOptions(2, "day", "site", missing="windows")),
    "panel, interpolate": (
        {"panel": True},
        ("R",),
        SeriesOptions(2, "day", "site", missing="interpolate"),
    ),
    "panel, no means": (
        {"panel": True},
        ("R",),
        SeriesOptions(1, "day", "site", unit_effects="none", missing="windows"),
    ),
    "no time": ({"holes": False}, ("R",), SeriesOptions(2)),
}


def made(case):
    how, contexts, options = CASES[case]
    frame = table(**how)
    if not contexts:
        frame = frame.drop(columns="R")
    return (frame if options.time else frame.drop(columns="day")), contexts, options


@pytest.mark.parametrize("case", CASES)
def test_what_is_kept_does_not_depend_on_batches(case):
    frame, contexts, options = made(case)
    whole = kept(frame, contexts, options, len(frame), 200)
    assert not whole.whole
    for size in (1, 7, 333) if case == "gaps" else (7, 333):
        found = kept(frame, contexts, options, size, 200)
        assert found.counts == whole.counts
        np.testing.assert_array_equal(found.series.values, whole.series.values)
        np.testing.assert_array_equal(found.series.codes, whole.series.codes)
        for depth, (cells, totals) in whole.totals.items():
            assert found.totals[depth][0] == cells
            again = found.totals[depth][1]
            assert (again.n == totals.n).all()
            np.testing.assert_allclose(
                again.mean + again.centre, totals.mean + totals.centre, atol=1e-12
            )
            lower = np.tril_indices(totals.mean.shape[1])
            np.testing.assert_allclose(
                again.scatter[:, *lower], totals.scatter[:, *lower], atol=1e-9
            )


@pytest.mark.parametrize("case", CASES)
def test_windows_and_their_statistics_are_those_of_memory(case):
    frame, contexts, options = made(case)
    asked = {
        name: getattr(options, name)
        for name in ("lags", "time", "units", "context_lags", "unit_effects", "missing")
    }
    asked |= {
        "covariates": options.covariates or None,
        "method": "pc-ac",
        "test": "partial-correlation",
    }
    context = list(contexts) or None
    memory = cc.discover(frame, context, **asked)
    parts = [frame[:500], frame[500:]]
    whole, some = (
        cc.discover(iter(parts), context, **asked),
        cc.discover(iter(parts), context, sample=400, **asked),
    )
    assert whole == memory, "the sample has all windows"
    assert whole.notes == memory.notes
    assert whole.warnings == memory.warnings == some.warnings or options.units is None
    assert some.data == memory.data, "counts and fingerprint are those of all rows"
    assert any("a random sample of 400 windows" in note for note in some.notes)
    for value in memory.contexts:
        assert (some.graphs[value].endpoints == memory.graphs[value].endpoints).all()
    pd.testing.assert_frame_equal(some.tests(), memory.tests(), atol=1e-9)
    pd.testing.assert_frame_equal(some.slopes(), memory.slopes(), atol=1e-9)
    windows, all_windows = some.windowed, gather_statistics(memory.windowed.columns)
    assert windows.statistics.values == all_windows.values
    np.testing.assert_array_equal(windows.statistics.moments.rows, all_windows.moments.rows)
    np.testing.assert_allclose(windows.statistics.moments.mean, all_windows.moments.mean, atol=1e-9)
    np.testing.assert_allclose(
        windows.statistics.moments.scatter, all_windows.moments.scatter, atol=1e-6
    )
    lines = {
        tuple(row) for row in np.column_stack(memory.windowed.columns.columns).round(9).tolist()
    }
    assert {
        tuple(row) for row in np.column_stack(windows.columns.columns).round(9).tolist()
    } <= lines


def test_score_ac_sees_the_windows_of_memory():
    frame = table()
    asked = {"lags": 2, "time": "day", "missing": "windows", "method": "score-ac"}
    memory = cc.discover(frame, "R", **asked)
    found = cc.discover(iter([frame[:300], frame[300:]]), "R", **asked)
    assert found.evidence.wrong_cells == "keep", "wrong cells are looked for in tables in memory"
    assert replace(found, evidence=replace(found.evidence, wrong_cells="none")) == memory
    some = cc.discover(iter([frame]), "R", sample=800, **asked)
    assert some.windowed.scored.n_rows == 800
    assert some.data == memory.data
    assert some.union.mark("X(t-1)", "R")


@pytest.mark.parametrize("panel", [False, True])
@pytest.mark.parametrize("method", ["pc-ac", "score-ac"])
def test_contexts_made_out_of_a_column_rest_on_the_sample_of_windows(method, panel):
    asked = {
        "lags": 1,
        "time": "day",
        "missing": "windows",
        "method": method,
        "units": "site" if panel else None,
    }
    for context in (
        cc.threshold("X", 0.2),
        cc.bins("Y", quantiles=2),
        ["R", cc.threshold("X", 1.0)],
    ):
        frame = table(panel=panel)
        frame = frame if isinstance(context, list) else frame.drop(columns="R")
        memory = cc.discover(frame, context, **asked)
        found = cc.discover(iter([frame[:300], frame[300:]]), context, **asked)
        assert dict(found.graphs) == dict(memory.graphs)
        assert found.data.rows == memory.data.rows
        some = cc.discover(iter([frame]), context, sample=700, **asked)
        assert len(some.contexts) == len(memory.contexts)
        assert any(
            "everything rests on a random sample of 700 windows" in note for note in some.notes
        )


@pytest.mark.parametrize("size", [37, 900])
@pytest.mark.parametrize("method", ["pc-ac", "score-ac"])
def test_levels_in_windows_are_those_of_memory(method, size):
    random = np.random.default_rng(3)
    x, k, wet = np.zeros(500), np.zeros(500, dtype=int), random.random(500) < 0.5
    for t in range(1, 500):
        x[t] = 0.4 * x[t - 1] + 1.2 * wet[t] * (k[t - 1] == 2) + random.normal()
        k[t] = int(np.clip(np.round(1.0 + 0.9 * x[t] + random.normal()), 0, 2))
    levels = np.array(["middle", "low", "high"])[k]  # met in another order than they are sorted
    frame = pd.DataFrame(
        {"X": x, "K": levels, "B": x > random.normal(size=500), "R": np.where(wet, "wet", "dry")}
    )
    memory = cc.discover(frame, "R", lags=1, method=method)
    batches = pa.Table.from_pandas(frame).to_reader(max_chunksize=size)
    scanned = cc.discover(cc.scan(batches, "R", lags=1), lags=1, method=method)
    assert dict(scanned.graphs) == dict(memory.graphs)
    assert scanned.mechanisms().round(6).equals(memory.mechanisms().round(6))


def test_cycles_are_those_of_memory():
    frame = table()
    asked = {
        "lags": 1,
        "time": "day",
        "missing": "windows",
        "method": "pc-ac",
        "covariates": [cc.cycle("day", 20.0)],
    }
    assert cc.discover(iter([frame[:300], frame[300:]]), "R", **asked) == cc.discover(
        frame, "R", **asked
    )


def test_dates_months_and_text_files(tmp_path):
    frame = table(holes=False).drop(columns="day")
    for step in ("30min", "MS"):
        frame["when"] = pd.date_range("1900-01-01", periods=ROWS, freq=step)
        short = frame.drop(index=[20, 40])
        asked = {"lags": 1, "time": "when", "method": "pc-ac"}
        memory = cc.discover(short, "R", **asked)
        assert memory.windows.gaps == 6
        assert cc.discover(iter([short[:30], short[30:]]), "R", **asked) == memory
        for part, begin in enumerate(range(0, len(short), 450)):
            short[begin : begin + 450].to_csv(
                tmp_path / f"{part}.csv", index=False, float_format="%.17g"
            )
        assert cc.discover(tmp_path, "R", **asked).windows == memory.windows


def test_a_scan_is_searched_as_it_was_made():
    found = cc.scan(iter([table()]), "R", lags=2, time="day", sample=300)
    assert "2 lags" in repr(found)
    asked = {"time": "day", "missing": "windows", "method": "pc-ac"}
    assert cc.discover(found, "R", lags=2, **asked).windows.used > 1000
    for wrong in (
        {"lags": 1},
        {"lags": 2, "context_lags": [0]},
        {"lags": 2, "missing": "interpolate"},
    ):
        with pytest.raises(cc.OptionError, match="scanned with other lags, or another way"):
            cc.discover(found, "R", **asked | wrong)
    with pytest.raises(cc.OptionError, match="scanned without lags"):
        cc.discover(cc.scan(iter([table()]), "R"), "R", lags=1, missing="windows")
    with pytest.raises(cc.DataError, match="5 rows have missing values; pass missing='model'"):
        cc.discover(iter([table()]), "R", lags=1, time="day")


def test_a_rare_cell_that_the_sample_lacks_is_known_by_moments():
    frame = table(holes=False)
    frame["R"] = np.where(np.arange(ROWS) < 20, "rare", frame["R"])
    asked = {"lags": 1, "method": "pc-ac", "test": "partial-correlation"}
    memory = cc.discover(frame, "R", **asked)
    some = cc.discover(iter([frame]), "R", sample=300, **asked)
    assert some.contexts == memory.contexts
    pd.testing.assert_frame_equal(some.tests(), memory.tests(), atol=1e-9)
    with pytest.raises(
        cc.DataError, match="in 5 whole windows, expected at least 7; pass a larger sample="
    ):
        cc.discover(iter([frame]), "R", sample=300, lags=1, method="score-ac")


@pytest.mark.parametrize(
    ("change", "asked", "words"),
    [
        (lambda f: f[::-1], {"time": "day"}, "goes back from .* sorted by units, then by time"),
        (lambda f: pd.concat([f, f[-1:]]), {"time": "day"}, "twice; drop one of the rows"),
        (
            lambda f: f.assign(day=f["day"].where(f["day"] != 600.0, 600.5)),
            {"time": "day"},
            "irregular steps",
        ),
        (
            lambda f: f.assign(day=f["day"].where(f["day"] != 600.0)),
            {"time": "day"},
            "every row needs a time",
        ),
        (
            lambda f: f.assign(site=np.arange(len(f)) % 2),
            {"units": "site"},
            "unit 0 of 'site' comes back",
        ),
        (
            lambda f: f.assign(site=1).astype({"site": "Int64"}).assign(site=pd.NA),
            {"units": "site"},
            "needs a unit",
        ),
        (
            lambda f: f.assign(X=f["X"].where(f["day"] != 600.0, np.inf)),
            {"time": "day"},
            "'X' has infinite values",
        ),
        (lambda f: f, {"time": "dy"}, "no column 'dy'; did you mean 'day'"),
        (lambda f: f, {"covariates": ["W"]}, "no column 'W'"),
        (lambda f: f, {"covariates": ["X", "Y", "Z", "day"]}, "at least one must be left"),
        (lambda f: f, {"time": "R"}, "cannot be time or units and take part"),
    ],
)
def test_bad_input_is_one_sentence(change, asked, words):
    frame = change(table(holes=False))
    parts = [frame[:7], frame[7:700], frame[700:]]
    with pytest.raises(cc.CausalContextError, match=words) as caught:
        cc.discover(iter(parts), "R", lags=2, missing="windows", **asked)
    assert "\n" not in str(caught.value)


def test_options_that_need_lags_say_so():
    with pytest.raises(cc.OptionError, match="scan has no option 'unit'; did you mean 'units'"):
        cc.scan(iter([table()]), "R", lags=1, unit="site")
    with pytest.raises(
        cc.OptionError, match="time is 'day', which is for rows that follow each other"
    ):
        cc.scan(iter([table()]), "R", time="day")
    with pytest.raises(cc.OptionError, match="would paste rows together"):
        cc.scan(iter([table()]), "R", lags=1, missing="listwise")
