"""pc-ac, pc-m, pc-p and pc-b with lags: against naive regressions, on tables of any kind, whatever
rows and columns.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from series_tables import daily_table

import causalcontext as cc
from causalcontext.graphs.lag_names import split
from causalcontext_lab.simulate import SeriesDesign, random_series_model


def lagged(table, context="regime", **options):
    return cc.discover(
        table, context=context, **({"lags": 1, "method": "pc-ac", "alpha": 0.01} | options)
    )


@pytest.fixture(scope="module")
def land():
    return cc.examples.land_surface(1500, seed=1)


@pytest.fixture(scope="module")
def result(land):
    return lagged(land)


def naive_p(table, row, gaps=()):
    """The p-value of a row of tests() by two least-squares fits on windows that are made here, one
    by one.
    """
    names = [row["x"], row["y"], *row["given"]]
    fixed = [part.split("=") for part in row["rows"].split(", ")] if row["rows"] != "pooled" else []
    windows = []
    for t in range(3, len(table)):
        if any(t - 3 < gap <= t for gap in gaps):
            continue
        past = {
            name: table.iloc[t - split(name)[1]][split(name)[0]]
            for name in (*names, *(n for n, _ in fixed))
        }
        if all(str(past[name]) == value for name, value in fixed):
            windows.append([past[name] for name in names])
    values = np.array(windows, dtype=float)
    rest = np.column_stack([np.ones(len(values)), values[:, 2:]])
    x, y = (v - rest @ np.linalg.lstsq(rest, v, rcond=None)[0] for v in values.T[:2])
    df = len(values) - rest.shape[1] - 1
    r = x @ y / np.sqrt((x @ x) * (y @ y))
    return len(values), 2 * stats.t.sf(abs(r) * np.sqrt(df / (1 - r * r)), df)


def test_p_values_are_those_of_a_naive_regression(land):
    table = land.iloc[:300] * 1
    table["rain"] = 50.0 - 3.0 * table["rain"]
    table = table.drop(index=[100, 101]).reset_index(drop=True)
    stamped = table.assign(day=np.where(table.index < 100, table.index, table.index + 2))
    found = lagged(stamped, time="day").tests()
    told = found[(found["test"] == "partial-correlation") & (found["given"].map(len) > 0)]
    assert told["rows"].nunique() > 2
    for _, row in told.groupby("rows").head(3).iterrows():
        n, p = naive_p(table, row, gaps=[100])
        assert row["n"] == n
        assert row["p"] == pytest.approx(p, rel=1e-6)


def test_the_land_surface_is_found_without_selection_bias(result):
    graphs = result.graphs
    assert graphs["water-limited"].mark("moisture", "latent") == "-->"
    assert graphs["water-limited"].mark("radiation", "latent") == ""
    assert graphs["energy-limited"].mark("radiation", "latent") == "-->"
    assert graphs["energy-limited"].mark("moisture", "latent") == ""
    assert result.reads["latent"] == ("regime", 0)
    for value in result.contexts:
        assert graphs[value].mark("radiation", "moisture") == ""
        assert graphs[value].mark("latent(t-1)", "moisture") == "-->"
        assert graphs[value].mark("moisture", "regime") == "-->"
    inside = lagged(cc.examples.land_surface(1500, seed=1), method="pc-m")
    assert inside.graphs["water-limited"].mark("radiation", "moisture") != ""
    assert inside.reads["latent"] is None


def test_pc_b_has_what_pc_m_and_pc_p_share():
    table = cc.examples.land_surface(1500, seed=1)
    inside, everywhere, both = (lagged(table, method=name) for name in ("pc-m", "pc-p", "pc-b"))
    for value, graph in both.graphs.items():
        one, other = inside.graphs[value], everywhere.graphs[value]
        for a, b in combinations(both.names, 2):
            if "regime" in a + b:
                assert graph.mark(a, b) == other.mark(a, b)
            else:
                assert bool(graph.mark(a, b)) == bool(one.mark(a, b) and other.mark(a, b))
            if graph.mark(a, b) and one.mark(a, b) == other.mark(a, b):
                assert graph.mark(a, b) == one.mark(a, b)
    links = {(row.source, row.target, row.context) for row in both.series.slopes if row.present}
    for source, target, value in links:
        assert both.graphs[value].mark(source, target)
    assert both.reads == everywhere.reads
    assert both.mechanisms()["effect"].isin(both.names).all()


def test_stories_name_lags_rows_and_sets(result):
    story = result.explain("moisture(t-1)", "moisture")
    assert "moisture(t-1) --> moisture by time: an effect cannot precede its cause" in story
    lost = result.explain("radiation", "latent").splitlines()
    assert lost[1].startswith("absent in water-limited: radiation and latent are independent given")
    assert "rows with regime = water-limited, p = " in lost[1]
    assert "links repeat" in result.explain("moisture(t-1)", "rain(t-1)")
    tests = result.tests()
    assert set(tests["decision"]) <= {"present", "absent", "untestable"}
    assert {"pooled", "regime=water-limited"} <= set(tests["rows"])
    edges = result.edges().set_index(["source", "target"])
    assert edges.loc[("moisture(t-1)", "moisture"), "p-value"].max() < 1e-6
    assert "latent" in str(result.summary)
    assert "pc-ac on 1,497 rows" in str(result)


def test_changes_have_slopes(result):
    result.second_opinion()
    changes = result.changes("water-limited", "energy-limited").set_index(["source", "target"])
    assert changes.loc[("moisture", "latent"), "claimed"].all()
    slopes = result.slopes("moisture", "latent").set_index("context")
    assert slopes.loc["water-limited", "slope"] == pytest.approx(0.6, abs=0.1)
    assert slopes.loc["energy-limited", "slope"] == 0.0


def test_files_keep_everything(result, tmp_path):
    result.save(tmp_path / "tested.json")
    again = cc.load(tmp_path / "tested.json")
    assert again == result
    assert again.tests().equals(result.tests())
    assert again.explain("radiation", "latent") == result.explain("radiation", "latent")
    result.report(tmp_path / "tested.html")
    result.plot("time-series", path=tmp_path / "tested.svg")


def links(graph):
    """Edges; those without a direction in the order of the alphabet."""
    return {(*(e[:2] if e.mark == "-->" else sorted(e[:2])), e.mark) for e in graph.edges}


def same_links(first, second, values=None):
    values = values or {}
    for value in first.contexts:
        assert links(first.graphs[value]) == links(second.graphs[values.get(value, value)])


def test_units_order_names_and_threads_do_not_matter(land):
    short = land.iloc[:500]
    first = lagged(short, lags=2)
    moved = short[
        ["sensible", "regime", "moisture", "rain", "latent", "temperature", "radiation"]
    ].copy()
    moved[["rain", "latent"]] = moved[["rain", "latent"]] * 1e-3 + 50.0
    same_links(first, lagged(moved, lags=2))
    same_links(first, lagged(short, lags=2, n_jobs=2))
    relabeled = short.assign(
        regime=short["regime"].map({"water-limited": "z", "energy-limited": "a"})
    )
    same_links(
        first, lagged(relabeled, lags=2), values={"water-limited": "z", "energy-limited": "a"}
    )


def false_links(model, found):
    """Links that no context has."""
    true = {(e.source, e.target) for graph in model.truth.values() for e in graph.edges}
    return (
        {(e.source, e.target) for graph in found.graphs.values() for e in graph.edges}
        - true
        - {(b, a) for a, b in true}
    )


def test_gaps_are_not_bridged():
    model = random_series_model(SeriesDesign(variables=4, lags=1, autocorrelation=0.9), 1)
    rows = np.sort(np.random.default_rng(1).permutation(2000)[:1200])
    table = model.sample(2000, 3).iloc[rows].assign(step=rows)
    kept = lagged(table, "R", time="step")
    pasted = lagged(table.drop(columns="step"), "R")
    assert (kept.windows.used, pasted.windows.used) == (int((np.diff(rows) == 1).sum()), 1197)
    assert len(false_links(model, kept)) < len(false_links(model, pasted))


def test_units_lose_their_means():
    model = random_series_model(SeriesDesign(variables=4, lags=1), 5)
    levels = np.random.default_rng(0).normal(scale=8.0, size=(6, 4))
    parts = [model.sample(150, seed).assign(site=f"s{seed}") for seed in range(6)]
    for part, level in zip(parts, levels, strict=True):
        part[list(model.names)] += level
    table = pd.concat(parts)
    found = lagged(table, "R", units="site")
    assert found.windows.starts == 18
    assert len(false_links(model, found)) <= 1
    assert len(false_links(model, lagged(table, "R", units="site", unit_effects="none"))) > 1


def test_cycles_are_conditioned_on():
    table = daily_table()
    ignored = lagged(table, "R", time="hour")
    known = lagged(table, "R", time="hour", covariates=[cc.cycle("hour", "1D")])
    assert any(e.source in "XYZ" and e.source != e.target for e in ignored.summary)
    assert not any(e.source in "XYZ" and e.target in "XYZ" for e in known.summary)
    graph = known.graphs[0]
    assert graph.mark("hour 1D sin", "X") == "-->"
    assert graph.parents("hour 1D sin") == ()


def test_missing_values_cost_windows_or_single_cells(land):
    table = land.iloc[:600].copy()
    table.iloc[np.arange(20, 600, 25), 2] = np.nan
    with pytest.raises(cc.DataError, match="24 rows have missing values; pass missing='model'"):
        lagged(table)
    windows, filled = lagged(table, missing="windows"), lagged(table, missing="interpolate")
    assert windows.windows.missing == 24 * 4
    assert (filled.windows.missing, filled.windows.interpolated) == (0, 24)


def test_conditions_stay_in_the_window_where_units_are_short():
    model = random_series_model(SeriesDesign(variables=3, lags=1), 1)
    parts = [model.sample(4, seed).assign(site=seed) for seed in range(60)]
    found = lagged(pd.concat(parts), "R", units="site")
    assert any("conditions lie in the window only" in note for note in found.notes)
    assert found.series.depth == 1


def test_knowledge_holds_at_all_lags_or_at_one(land):
    short = land.iloc[:600]
    never = lagged(short, lags=2, knowledge=cc.Knowledge(forbidden=[("latent", "moisture")]))
    assert never.summary.lags("latent", "moisture") == ()
    assert "rules the link out" in never.explain("latent(t-1)", "moisture")
    once = lagged(
        short,
        lags=2,
        knowledge=cc.Knowledge(
            forbidden=[("latent(t-1)", "moisture")],
            required=[("rain(t-2)", "latent"), ("rain", "sensible")],
        ),
    )
    assert 1 not in once.summary.lags("latent", "moisture")
    assert 2 in once.summary.lags("rain", "latent")
    assert once.graphs["water-limited"].mark("rain", "sensible") == "-->"
    assert "required by your knowledge" in once.explain("rain(t-2)", "latent")


def test_sets_may_be_limited(land):
    short = land.iloc[:600]
    found = lagged(short, max_given=0)
    assert found.tests_run["pooled"] < lagged(short).tests_run["pooled"]
    assert len(found.edges()) >= len(lagged(short).edges())


def test_a_time_limit_leaves_what_is_known(land):
    found = lagged(land, lags=3, time_limit=1e-9)
    assert any("time limit ended the search" in warning for warning in found.warnings)
    assert (found.complete, found.final) == (False, True)


def test_an_interrupted_search_has_a_result(land):
    def stop(size, done, total):
        raise KeyboardInterrupt

    with pytest.raises(cc.InterruptedSearch) as caught:
        cc.discover(land, context="regime", lags=1, method="pc-ac", progress=stop)
    assert not caught.value.result.complete


def test_without_a_context_there_is_one_graph(land):
    found = lagged(land.iloc[:700].drop(columns="regime"), None)
    assert found.contexts == ("all",)
    assert found.graphs["all"].mark("rain", "moisture") == "-->"
    assert "are independent on all 697 rows" in found.explain("rain(t-1)", "radiation")


def test_a_pooled_search_has_one_graph_for_all(land):
    found = lagged(land, method="pc-p")
    first, second = found.graphs.values()
    assert first == second
    assert first.mark("moisture(t-1)", "moisture") == "-->"
    assert first.mark("moisture", "regime") != ""


def test_copies_further_back_are_not_searched(land):
    found = lagged(land.iloc[:500], lags=2)
    assert "regime(t-2) takes no part" in found.explain("regime(t-2)", "latent")
    longer = lagged(land.iloc[:500], lags=2, context_lags=(0, 2))
    assert "takes no part" not in longer.explain("regime(t-2)", "latent")


def test_a_copy_that_is_not_named_is_no_cause(land):
    found = lagged(land, context_lags=(1,))
    assert set(found.reads.values()) <= {None, ("regime", 1)}
    assert found.graphs["water-limited"].mark("regime", "latent") in ("", "<--")
    assert found.graphs["water-limited"].mark("moisture", "regime") == "-->"


def test_two_series_without_a_link():
    random = np.random.default_rng(1)
    columns = {
        "X": random.normal(size=200),
        "Y": random.normal(size=200),
        "R": random.integers(2, size=200),
    }
    found = lagged(pd.DataFrame(columns), "R")
    assert len(found.summary) <= 1
    assert found.tests()["n"].min() >= 90


def test_what_reads_no_context_has_the_same_causes_in_all(land):
    for seed in range(3):
        model = random_series_model(SeriesDesign(variables=5, lags=1, autocorrelation=0.4), seed)
        found = lagged(model.sample(400, seed), "R")
        first, second = (found.graphs[value] for value in found.contexts)
        for name in model.names:
            if all(first.mark(copy, name) in ("", "<--") for copy in ("R", "R(t-1)")):
                past = [
                    {v for v in graph.parents(name) if "(t-1)" in v} for graph in (first, second)
                ]
                assert past[0] == past[1]


def test_the_alarm_goes_off_with_too_few_lags():
    model = random_series_model(SeriesDesign(variables=4, lags=3, autocorrelation=0.5), 3)
    table = model.sample(1000, 0)
    few, enough = lagged(table, "R"), lagged(table, "R", lags=3)
    assert few.warnings[0].startswith("lag alarm: given all that was found, X")
    assert (
        "(t-3) still tells something about" in few.warnings[0]
        or "(t-2) still tells" in few.warnings[0]
    )
    assert enough.warnings == ()


def persistent(rows, seed):
    """Six columns that persist and do not explode, with seven links at lags 0 to 2."""
    random = np.random.default_rng(seed)
    while True:
        links = np.zeros((3, 6, 6))
        links[1] = np.diag(random.uniform(0.7, 0.9, 6))
        for cause, effect in random.permutation(
            [(i, j) for i in range(6) for j in range(6) if i != j]
        )[:7]:
            lag = random.integers(0 if cause < effect else 1, 3)
            links[lag, cause, effect] = random.choice((-1, 1)) * random.uniform(0.3, 0.6)
        now = np.linalg.inv(np.eye(6) - links[0])
        step = np.block([[links[1] @ now, np.eye(6)], [links[2] @ now, np.zeros((6, 6))]])
        if np.abs(np.linalg.eigvals(step)).max() < 0.97:
            break
    values = np.zeros((rows + 200, 6))
    for t in range(2, len(values)):
        values[t] = (
            values[t - 1] @ links[1] + values[t - 2] @ links[2] + random.normal(size=6)
        ) @ now
    return pd.DataFrame(values[200:], columns=list("ABCDEF"))


def test_the_alarm_is_quiet_where_the_search_lost_links_that_the_lags_hold():
    """Weak links of persistent columns are lost; then earlier values tell about a column, but lags
    are not too few.
    """
    found = [lagged(persistent(500, seed), None, lags=2) for seed in range(20)]
    assert sum(bool(result.warnings) for result in found) <= 3


def switched(rows, seed, lag):
    """X acts on Y in the same time step where a copy of R is on; R is on and off by itself."""
    random = np.random.default_rng(seed)
    x, y, r = np.zeros(rows), np.zeros(rows), np.zeros(rows, int)
    for t in range(1, rows):
        r[t] = int(random.random() < (0.8 if r[t - 1] else 0.2))
        x[t] = 0.5 * x[t - 1] + random.normal()
        y[t] = 0.4 * y[t - 1] + (0.7 if r[t - lag] else 0.0) * x[t] + random.normal()
    return pd.DataFrame({"X": x, "Y": y, "R": np.where(r, "on", "off")})


@pytest.mark.parametrize("lag", [0, 1])
def test_a_slope_that_changes_inside_the_time_step_is_found_on_a_second_look(lag, monkeypatch):
    for seed in range(2):
        found = lagged(switched(800, seed, lag), "R")
        assert found.reads == {"X": None, "Y": ("R", lag)}
        assert (found.graphs["on"].mark("X", "Y"), found.graphs["off"].mark("X", "Y")) == (
            "-->",
            "",
        )
    if lag == 0:
        story = lagged(switched(800, 0, 0), "R").explain("R", "Y")
        assert "a smaller conditioning set had hidden it" in story
        assert "R --> Y by reads: given all of its causes, Y depends on R" in story
        monkeypatch.setattr(
            "causalcontext.search.lagged.algorithm.context_lags_to_restore", lambda *_: []
        )
        assert lagged(switched(800, 0, 0), "R").reads["Y"] is None


def test_a_lost_link_from_the_past_directs_the_context():
    random = np.random.default_rng(5)
    x, y, r = np.zeros(900), np.zeros(900), random.integers(2, size=900)
    for t in range(1, 900):
        x[t] = random.normal()
        y[t] = (0.8 if r[t] else 0.0) * x[t - 1] + random.normal()
    found = lagged(pd.DataFrame({"X": x, "Y": y, "R": r}), "R")
    assert found.reads["Y"] == ("R", 0)
    assert (found.graphs[1].mark("X(t-1)", "Y"), found.graphs[0].mark("X(t-1)", "Y")) == ("-->", "")
    assert "R --> Y by" in found.explain("R", "Y")


@pytest.mark.slow
def test_a_static_search_on_lagged_columns_loses_links_of_persistent_series():
    """It tries too many sets of columns that are nearly copies of each other; that is why there are
    two phases.
    """
    hits, total = np.zeros(2), 0
    for seed in range(5):
        model = random_series_model(SeriesDesign(variables=4, lags=1, autocorrelation=0.9), seed)
        table = model.sample(500, seed)
        past = table.iloc[:-1].astype(float).reset_index(drop=True).add_suffix("(before)")
        order = cc.Knowledge(tiers=[list(past.columns), list(table.columns)])
        static = cc.discover(
            past.join(table.iloc[1:].reset_index(drop=True)),
            context="R",
            method="pc-ac",
            alpha=0.01,
            knowledge=order,
        )
        found = lagged(table, "R")
        for value, graph in model.truth.items():
            true = [
                e
                for e in graph.edges
                if e.source.endswith("(t-1)") and e.source[0] == e.target[0] == "X"
            ]
            total += len(true)
            hits[0] += sum(
                static.graphs[value].mark(f"{split(e.source)[0]}(before)", e.target) != ""
                for e in true
            )
            hits[1] += sum(found.graphs[value].mark(e.source, e.target) != "" for e in true)
    assert hits[0] / total < 0.85 < 0.95 < hits[1] / total


def mixed(rows, seed):
    """A category and a count that are caused by the past, and a context caused by both."""
    random = np.random.default_rng(seed)
    number, kind, count, regime = (
        np.zeros(rows),
        np.zeros(rows, int),
        np.zeros(rows, int),
        np.zeros(rows, int),
    )
    for t in range(1, rows):
        number[t] = 0.5 * number[t - 1] + random.normal()
        kind[t] = int(random.random() < 1 / (1 + np.exp(-2.0 * number[t - 1])))
        regime[t] = int(random.random() < 1 / (1 + np.exp(-3.0 * (kind[t] - 0.5))))
        count[t] = random.poisson(np.exp(0.4 + (0.6 * number[t] if regime[t] else 0.0)))
    return pd.DataFrame(
        {
            "number": number,
            "kind": pd.Categorical(kind.astype(str)),
            "count": count,
            "regime": regime,
        }
    )


def test_categories_and_counts_have_lags_too():
    table = mixed(800, 1)
    chosen = cc.discover(
        table.iloc[:300], context="regime", lags=1, method="auto", kinds={"count": "count"}
    )
    assert chosen.settings.method == "score-ac"
    assert chosen.notes[0].startswith("method 'auto' chose score-ac: it accepts all columns")
    found = lagged(table, kinds={"count": "count"})
    for value in found.contexts:
        assert found.graphs[value].mark("number(t-1)", "number") == "-->"
        assert found.graphs[value].mark("number(t-1)", "kind") == "-->"
        assert found.graphs[value].mark("number(t-1)", "count") == ""
    assert found.graphs[1].mark("number", "count") != ""
    assert set(found.tests()["test"]) >= {"conditional-gaussian", "robust-change", "tsagris"}
    numbers = cc.discover(
        table[["number", "regime"]].assign(other=table["number"] ** 2),
        context="regime",
        lags=1,
        method="auto",
    )
    assert numbers.settings.method == "score-ac"


def test_ordered_and_nominal_columns_of_a_panel():
    random = np.random.default_rng(2)
    x, grade, kind = np.zeros(700), np.zeros(700, int), np.zeros(700, int)
    for t in range(1, 700):
        x[t] = 0.5 * x[t - 1] + random.normal()
        grade[t] = np.digitize(1.2 * x[t - 1] + random.logistic(), [-1, 1])
        weights = np.exp([0.0, 1.5 * (grade[t] == 2), 1.0 * (grade[t - 1] == 0)])
        kind[t] = random.choice(3, p=weights / weights.sum())
    words = pd.Categorical(
        np.array(["low", "mid", "high"])[grade], categories=["low", "mid", "high"], ordered=True
    )
    letters, context = np.array(list("abc"))[kind], random.integers(2, size=700)
    sites = np.repeat(["s1", "s2"], 350)
    table = pd.DataFrame({"x": x, "grade": words, "kind": letters, "R": context, "site": sites})
    found = lagged(table, "R", units="site")
    graph = found.graphs[0]
    assert graph.mark("x(t-1)", "grade") == "-->"
    assert graph.mark("grade", "kind") != ""
    assert graph.mark("grade(t-1)", "kind") == "-->"
    assert graph.mark("x(t-1)", "kind") == ""
    assert found.data.kinds[:4] == ("continuous", "ordered", "categorical", "categorical")
    table.loc[[50, 120], "grade"] = None
    table.loc[80, "x"] = np.nan
    filled = lagged(table, "R", units="site", missing="interpolate", method="pc-p")
    assert (filled.windows.interpolated, filled.windows.missing) == (1, 8)


@pytest.mark.slow
def test_stability_counts_links_over_halves(land):
    found = lagged(land.iloc[:800])
    stable = found.stability(samples=4, seed=1)
    edges = stable.edges(0.5).set_index(["x", "y", "context"])
    assert edges.loc[("rain", "moisture", "water-limited"), "present"] == 1.0
    assert (found.stability(samples=4, seed=1).frequency == stable.frequency).all()


def test_three_contexts_and_a_value_that_never_stays():
    random = np.random.default_rng(3)
    values = np.cumsum(random.integers(1, 3, size=900)) % 3
    x = np.zeros(900)
    for t in range(1, 900):
        x[t] = (0.8 if values[t - 1] == 0 else -0.2) * x[t - 1] + random.normal()
    found = lagged(pd.DataFrame({"X": x, "Y": random.normal(size=900), "R": values}), "R")
    assert found.reads["X"] == ("R", 1)
    assert found.graphs[0].mark("X(t-1)", "X") == "-->"


def test_the_command_line_takes_lags(land, tmp_path):
    from typer.testing import CliRunner

    from causalcontext.cli.app import app

    table, file = tmp_path / "land.csv", str(tmp_path / "land.json")
    land.iloc[:400].to_csv(table, index=False)
    options = ["--context", "regime", "--lags", "1", "--method", "pc-ac", "--json", file]
    run = CliRunner().invoke(app, ["discover", str(table), *options])
    assert run.exit_code == 0, run.output
    told = CliRunner().invoke(app, ["explain", file, "moisture(t-1)", "moisture"])
    assert told.exit_code == 0, told.output
    assert "an effect cannot precede its cause" in told.output.replace("\n", " ")
