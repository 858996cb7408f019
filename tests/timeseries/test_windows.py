"""Windows never cross units, gaps or missing values; moments of pieces add up; every bad table is
one sentence.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from naive_series import windows

import causalcontext as cc
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.moments import Moments
from causalcontext.data.series import Series, as_series, unit_means, with_single_cells_filled
from causalcontext.data.tables import read_table
from causalcontext.data.windows import constant_units, lagged_table, window_ends
from causalcontext.graphs.lag_names import at, split
from causalcontext.options import Options
from causalcontext.reading.tables import read_with_lags


def a_series(seed=0, rows=120, units=3, gaps=True, missing=True):
    random = np.random.default_rng(seed)
    unit = np.sort(random.integers(units, size=rows))
    steps = np.concatenate(
        [
            np.cumsum(random.choice([1, 1, 1, 4 if gaps else 1], size=(unit == u).sum()))
            for u in range(units)
        ]
    )
    values = random.normal(loc=(5.0, -3.0, 0.0), size=(rows, 3))
    if missing:
        values[random.random(values.shape) < 0.03] = np.nan
    codes = random.integers(2, size=rows)
    codes[random.random(rows) < 0.02] = -1 if missing else 0
    return Series(
        ("X", "Y", "Z"), values, codes, ("C",), random.normal(size=(rows, 1)), unit, steps
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lags", [1, 2, 4])
def test_windows_are_those_of_the_naive_twin(seed, lags):
    series = a_series(seed)
    ends, counts = window_ends(series, lags)
    assert ends.tolist() == windows(series.units, series.steps, series.complete, lags)
    assert (
        counts.used + counts.starts + counts.gaps + counts.missing
        == counts.rows
        == len(series.codes)
    )


def test_columns_are_the_values_at_their_lags():
    series = a_series(1)
    table = lagged_table(series, 2, 2)
    values = table.values * table.scale + table.centre
    for row, end in zip(values, table.row, strict=True):
        for lag in range(3):
            assert row[3 * lag : 3 * lag + 3] == pytest.approx(series.values[end - lag])
        assert row[9:] == pytest.approx(series.covariates[end])
    assert (
        table.codes == np.column_stack([series.codes[table.row - lag] for lag in range(3)])
    ).all()


def test_moments_of_a_table_with_gaps_are_those_of_its_runs_added_up():
    series = a_series(2, missing=False)
    table = lagged_table(series, 1, 2)
    raw = table.values * table.scale + table.centre
    whole = Moments.of_rows(raw, table.codes[:, 1], 2)
    breaks = np.flatnonzero((np.diff(series.units) != 0) | (np.diff(series.steps) != 1)) + 1
    added = None
    for rows in np.split(np.arange(len(series.units)), breaks):
        run = Series(
            series.names,
            series.values[rows],
            series.codes[rows],
            ("C",),
            series.covariates[rows],
            np.zeros(len(rows), dtype=int),
            np.arange(len(rows)),
        )
        if len(rows) < 2:
            continue
        piece = lagged_table(run, 1, 2)
        scale = np.where(piece.scale > 0, piece.scale, 1.0)
        moments = Moments.of_rows(piece.values * scale + piece.centre, piece.codes[:, 1], 2)
        added = moments if added is None else added + moments
    assert added.rows.tolist() == whole.rows.tolist()
    assert added.mean == pytest.approx(whole.mean)
    assert added.scatter == pytest.approx(whole.scatter)


def test_unit_means_go_and_single_cells_are_filled():
    series = a_series(3)
    centred = replace(series, values=series.values - unit_means(series))
    for unit in range(3):
        assert np.nanmean(centred.values[centred.units == unit], axis=0) == pytest.approx(
            0.0, abs=1e-12
        )
    line = Series(
        ("X",),
        np.array([[1.0], [np.nan], [3.0], [np.nan], [np.nan], [6.0]]),
        np.zeros(6, dtype=int),
        (),
        np.zeros((6, 0)),
        np.zeros(6, dtype=int),
        np.array([0, 1, 2, 3, 4, 5]),
    )
    filled = with_single_cells_filled(line)
    assert filled.values[:3, 0].tolist() == [1.0, 2.0, 3.0]
    assert np.isnan(filled.values[3:5, 0]).all()
    assert filled.interpolated == 1


def test_a_gap_is_no_neighbour_for_filling_in():
    line = Series(
        ("X",),
        np.array([[1.0], [np.nan], [3.0]]),
        np.zeros(3, dtype=int),
        (),
        np.zeros((3, 0)),
        np.zeros(3, dtype=int),
        np.array([0, 1, 5]),
    )
    assert with_single_cells_filled(line).interpolated == 0


def steps_of(stamps, units=None, step=None):
    table = pd.DataFrame({"X": np.arange(len(stamps), dtype=float), "Y": 0.0})
    named = None if units is None else ("site", np.asarray(units))
    return as_series(read_table(table, None), (), ("when", np.asarray(stamps)), named, step)


def test_time_orders_rows_and_finds_gaps():
    found = steps_of(
        pd.to_datetime(
            ["2020-01-01 01:00", "2020-01-01 00:30", "2020-01-01 00:00", "2020-01-01 03:00"]
        )
    )
    assert found.steps.tolist() == [0, 1, 2, 6]
    assert found.values[:, 0].tolist() == [2.0, 1.0, 0.0, 3.0]


@pytest.mark.parametrize("frequency", ["MS", "ME", "QS", "QE"])
def test_months_and_quarters_are_regular(frequency):
    found = steps_of(pd.date_range("1999-12-01", periods=30, freq=frequency))
    assert (np.diff(found.steps) == 1).all()


def test_text_and_time_zones_are_dates_too():
    assert steps_of(["2020-01-01", "2020-01-02", "2020-01-04"]).steps.tolist() == [0, 1, 3]
    assert steps_of(pd.date_range("2020-10-24", periods=4, freq="D", tz="UTC")).steps.tolist() == [
        0,
        1,
        2,
        3,
    ]


@pytest.mark.parametrize(
    ("stamps", "units", "step", "match"),
    [
        (
            [1, 2, 2, 3],
            None,
            None,
            "has 2 twice; drop one of the rows, or name the series of a panel",
        ),
        ([1, 2, 2, 3], [0, 0, 0, 1], None, "twice in one unit"),
        ([1.0, 2.0, 3.0, 4.5], None, None, "irregular steps: most are 1, one is 1.5"),
        ([1, 2, 3, 4], None, "x", "step is 'x', expected a positive number"),
        ([1, 2, 3, 4], None, -1, "expected a positive number"),
        ([1.0, np.nan, 3.0, 4.0], None, None, "has 1 missing values; every row needs a time"),
        (
            ["a", "b", "c", "d"],
            None,
            None,
            "holds 'a', expected dates such as 2020-01-31, or numbers",
        ),
        ([1, 2, 3, 4], [0, 1, 2, 3], None, "one row in every unit"),
        ([1, 2, 3, 4], ["a", None, "a", "a"], None, "units column 'site' has 1 missing values"),
    ],
)
def test_bad_stamps_are_one_sentence(stamps, units, step, match):
    with pytest.raises(cc.CausalContextError, match=match):
        steps_of(
            np.array(stamps, dtype=object if isinstance(stamps[0], str) else None), units, step
        )


def test_units_with_one_context_are_counted():
    series = Series(
        ("X",),
        np.zeros((6, 1)),
        np.array([0, 0, 0, 1, 1, 1]),
        (),
        np.zeros((6, 0)),
        np.array([0, 0, 1, 1, 2, 2]),
        np.arange(6),
    )
    assert constant_units(series.codes, series.units) == 2


def two_contexts(rows=80, seed=0):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.normal(size=(rows, 2)), columns=["X", "Y"])
    table.insert(1, "R", random.choice(["dry", "wet"], size=rows))
    table["S"] = random.integers(3, size=rows)
    return table


def windows_of(table, context, **options):
    chosen = Options(lags=2, **options)
    return read_with_lags(table, context, chosen, None, find_test("auto", 0))[0]


@pytest.mark.parametrize("name", ["columns", "scored"])
def test_windows_hold_every_context_at_every_lag(name):
    table = two_contexts()
    windows = windows_of(table, ["S", "R"])
    data = getattr(windows, name)
    ends = np.arange(windows.window.depth if name == "columns" else 2, len(table))
    for place, node in enumerate(windows.nodes):
        column, lag = split(node)
        wanted = table[column].to_numpy()[ends - lag]
        if column == "R":
            wanted = (wanted == "wet").astype(int)
        assert data.names[place] == node
        assert (np.asarray(data.columns[place]) == wanted).all()
    told = [data.names[position] for position in data.contexts.positions]
    assert told == ["R", "S", "R(t-1)", "S(t-1)"]
    assert data.levels == (("dry", "wet"), (0, 1, 2)) * 2
    assert all(
        data.contexts.cells[code]
        == tuple(int(np.asarray(data.columns[place])[row]) for place in data.contexts.positions)
        for row, code in enumerate(data.codes)
    )
    assert windows.cells.positions == tuple(windows.nodes.index(node) for node in ("S", "R"))
    assert windows.cells.cells == windows.data.contexts.cells
    assert sum(windows.rows(tested=True)) == windows.columns.n_rows
    assert (
        len(data.categories)
        == data.names.count("R(t-2)") + data.names.count("S(t-2)") + 2 * (name == "columns") * 2
    )


def test_a_context_made_of_a_column_has_that_column_of_its_time_for_a_source():
    table = two_contexts()
    windows = windows_of(table, [cc.threshold("X", 0.2), "R"])
    data = windows.scored
    told = [data.names[place] for place in data.contexts.positions]
    assert told == ["R", "X > 0.2", "R(t-1)", "X > 0.2(t-1)"]
    assert data.contexts.sources == (None, data.names.index("X"), None, data.names.index("X(t-1)"))
    for lag in range(3):
        step, values = (
            np.asarray(data.columns[data.names.index(at(name, lag))]) for name in ("X > 0.2", "X")
        )
        assert (step == (values > 0.2)).all()
    links = windows.links(cc.Knowledge())
    nowhere = [place for place, node in enumerate(windows.nodes) if split(node)[0] == "X > 0.2"]
    assert not (links.may | links.may.T)[nowhere].any()
    assert windows.cells.sources == (windows.nodes.index("X"), None)


def test_a_context_made_of_a_covariate_has_a_source_now_alone():
    data = windows_of(two_contexts(), cc.bins("Y", quantiles=3), covariates=["Y"]).scored
    assert data.contexts.sources == (data.names.index("Y"),)
    assert data.names.index("Y bin(t-1)") in data.categories


def test_links_over_time_with_several_contexts():
    known = cc.Knowledge(forbidden=[("R", "S"), ("X(t-1)", "R")], roots=["X"])
    for order in (["R", "S"], ["S", "R"]):
        windows = windows_of(two_contexts(), order, knowledge=known)
        may = windows.links(known).may
        place = windows.nodes.index
        assert not any(may[place(at("R", lag)), place("S")] for lag in range(3))
        assert may[place("S(t-1)"), place("R")]
        assert not may[place("X(t-1)"), place("R")]
        assert may[place("X(t-2)"), place("R")]
        assert may[:, place("X")].tolist() == [
            node in ("X(t-1)", "X(t-2)") for node in windows.nodes
        ]
        assert not may[:, : place("X")].any()


def test_rare_combinations_of_contexts_are_one_sentence():
    table = two_contexts(200)
    table.loc[table["R"] == "wet", "S"] = 0
    table.loc[0, ["R", "S"]] = "wet", 1
    with pytest.raises(
        cc.CausalContextError,
        match=r"contexts R, S are \('wet', 1\) in 0 whole windows, expected at",
    ):
        windows_of(table, ["R", "S"]).check()


def test_windows_of_several_draws_count_for_what_is_left():
    random = np.random.default_rng(4)
    values = random.normal(loc=5.0, size=(300, 3)).cumsum(axis=0) * 0.05 - random.normal(
        size=(300, 3)
    )
    values[random.random(values.shape) < 0.08] = np.nan
    frame = pd.DataFrame(values, columns=["X", "Y", "Z"]).assign(
        R=random.choice(["a", "b"], size=300)
    )
    windows = read_with_lags(
        frame, "R", Options(lags=1, missing="model"), None, find_test("auto", 0)
    )[0]
    assert len(windows.drawn) == 4
    whole, searched, single = windows.table.values.shape[0], windows.searched, windows.scored
    assert searched.n_rows == 5 * single.n_rows == 5 * whole
    assert single.share < 5.0 * searched.share < 1.0
    parts = [
        windows._dataset(windows.all_windows.row, 1, (0, 1), own)
        for own in (windows.series, *windows.drawn)
    ]
    x = searched.names.index("X")
    assert (
        searched.columns[x].tolist() == np.concatenate([part.columns[x] for part in parts]).tolist()
    )
    seen = np.isfinite(frame["X"].to_numpy())[windows.all_windows.row]
    assert all((part.columns[x][seen] == parts[0].columns[x][seen]).all() for part in parts)
    assert not all((part.columns[x] == parts[0].columns[x]).all() for part in parts)
    moments = windows.statistics.moments
    assert moments.rows.sum() == pytest.approx(
        windows.columns.n_rows * 5.0 * searched.share, abs=2.0
    )


@pytest.mark.parametrize("holes", ["", "rows", "column", "units"])
def test_windows_count_for_less_by_single_cells_alone(holes):
    """Long holes and the ends of units cost windows, not what the others are worth."""
    random = np.random.default_rng(6)
    frame = pd.DataFrame(random.normal(size=(400, 3)), columns=["X", "Y", "Z"]).assign(
        time=np.arange(400)
    )
    if holes:
        frame.loc[100:199, {"rows": ["X", "Y", "Z"], "column": ["Y"], "units": []}[holes]] = np.nan
    frame.loc[300, "X"] = np.nan
    options = {"unit": np.repeat(np.arange(50), 8)} if holes == "units" else {}
    chosen = Options(lags=2, missing="model", time="time", units="unit" if options else None)
    windows = read_with_lags(frame.assign(**options), None, chosen, None, find_test("auto", 0))[0]
    assert windows.scored.share > 0.97


def test_weights_and_fallbacks_are_there_beside_drawn_cells():
    random = np.random.default_rng(8)
    x, e, z = random.normal(size=(3, 600))
    table = pd.DataFrame(
        {"X": x, "Y": np.r_[0.0, 0.8 * x[:-1]] + np.exp(0.8 * np.r_[0.0, x[:-1]]) * e, "Z": z}
    )
    table.loc[::40, "Z"] = np.nan
    errors = [
        cc.discover(table, lags=1, method="score-ac", missing=missing).effects(
            "X(t-1)", "Y", intervals="graph"
        )["se"][0]
        for missing in ("windows", "model")
    ]
    assert errors[1] < 2.0 * errors[0]
    turns = table.assign(R=np.where(np.arange(600) % 2, "a", "b"))
    found = cc.discover(turns, "R", lags=1, method="fci-ac", missing="model", max_given=1)
    assert any(note.startswith("the context at time t alone chooses rows") for note in found.notes)


def test_a_context_that_ends_too_few_windows_is_left_out_and_told():
    """The windows that hold such a value are lost, as those with a missing context are."""
    rng = np.random.default_rng(0)
    rows = 500
    x, y = np.zeros(rows), np.zeros(rows)
    regime = np.where((np.arange(rows) // 25) % 2 == 0, "dry", "wet").astype(object)
    for t in range(1, rows):
        x[t] = 0.5 * x[t - 1] + rng.standard_normal()
        y[t] = (0.9 if regime[t] == "dry" else 0.1) * x[t - 1] + rng.standard_normal()
    regime[[50, 200, 350]] = "flood"
    table = pd.DataFrame({"X": x, "Y": y, "R": regime})
    result = cc.discover(table, "R", lags=1)
    without = cc.discover(
        table.assign(R=table["R"].where(table["R"] != "flood")), "R", lags=1, missing="windows"
    )
    assert "R = 'flood' has 3 rows, too few to say anything" in result.warnings[0]
    assert set(result.contexts) == {"dry", "wet", "flood"}
    assert result.windows.used == rows - 1 - 6
    for value in ("dry", "wet"):
        np.testing.assert_array_equal(
            result.graphs[value].endpoints, without.graphs[value].endpoints
        )
    assert result["flood"].edges == result.union.edges
