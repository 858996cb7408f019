"""Cells that the rest of their row contradicts: flagged, accepted or not, and what a result says
about them.
"""

import json
from functools import partial

import naive_cells
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.data.tables import read_table
from causalcontext.knowledge import Knowledge
from causalcontext.progress import nobody
from causalcontext.score import wrong_cells
from causalcontext.score.data import score_data
from causalcontext.score.explore import explore
from causalcontext.score.options import Clock, ScoreOptions
from causalcontext.score.search import Effort
from causalcontext.score.wrong_cells import (
    cleaned_table,
    cost_of_names,
    dependence,
    flag_cells,
    wide_density,
)
from questions import violations_of

NAMES = ("A", "B", "C", "D")


def chain(rows=400, seed=0, noise="normal"):
    """A -> B -> C -> D, where B -> C is missing in one of two contexts; shifted means, a negative
    slope.
    """
    generator = np.random.default_rng(seed)
    draw = {"normal": generator.standard_normal, "t3": lambda size: generator.standard_t(3, size)}[
        noise
    ]
    r = generator.integers(0, 2, rows)
    a = draw(rows) + 40.0
    b = -1.5 * (a - 40.0) + draw(rows)
    c = 1.5 * r * b + draw(rows) - 7.0
    d = 1.2 * c + draw(rows)
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d, "R": np.where(r == 1, "on", "off")})


def damaged(table, share=0.04, seed=1, rows=False):
    """Cells about ten standard deviations away, or whole rows; and which."""
    generator = np.random.default_rng(seed)
    hit = generator.random((len(table), 1 if rows else len(NAMES))) < share
    hit = np.broadcast_to(hit, (len(table), len(NAMES)))
    values = table[list(NAMES)]
    sides = generator.choice([-1, 1], hit.shape) * generator.uniform(9.0, 11.0, hit.shape)
    far = values.mean().to_numpy() + values.std().to_numpy() * sides
    wrong = np.where(hit, far, values.to_numpy())
    return table.assign(**dict(zip(NAMES, wrong.T, strict=True))), hit


@pytest.fixture(scope="module")
def found():
    table, hit = damaged(chain())
    return table, hit, cc.discover(table, "R", method="score-ac")


def flags_of(table):
    return flag_cells(read_table(table, "R"))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
@pytest.mark.parametrize("rows", [True, False])
def test_flags_are_those_of_the_naive_twin(order, rows):
    table, _ = damaged(chain(150, seed=5), 0.06, rows=rows)
    names = [NAMES[j] for j in order]
    found = flags_of(table[[*names, "R"]])
    for value in ("off", "on"):
        here = (table["R"] == value).to_numpy()
        wrong, expected = naive_cells.flag(table.loc[here, names].to_numpy())
        assert wrong.any()
        np.testing.assert_array_equal(found.wrong[here], wrong)
        np.testing.assert_allclose(found.expected[here], expected, rtol=1e-6)


def test_flags_do_not_depend_on_units_or_the_order_of_columns():
    table, _ = damaged(chain())
    first = flags_of(table)
    other = flags_of(
        table.assign(A=table["A"] * 1e4, C=5.0 - 0.01 * table["C"])[["R", "D", "B", "A", "C"]]
    )
    place = [["D", "B", "A", "C"].index(name) for name in NAMES]
    np.testing.assert_array_equal(first.wrong, other.wrong[:, place])


def test_descriptions_have_the_naive_parts():
    table, _ = damaged(chain(200, seed=3), 0.05)
    flags = flags_of(table)
    whole = np.vstack([flags.wrong, np.ones((3, 4), dtype=bool)])
    assert cost_of_names(whole) == pytest.approx(naive_cells.names(whole))
    for scale in (0.2, 1.0, 5.0):
        assert wide_density(scale * flags.away, flags.wrong) == pytest.approx(
            naive_cells.wide(scale * flags.away, flags.wrong)
        )


def test_flags_that_depend_on_another_column_are_no_errors():
    table, _ = damaged(chain(200, seed=3), 0.05)
    flags = flags_of(table)
    assert dependence(flags.away, flags.wrong) == pytest.approx(
        naive_cells.dependence(flags.away, flags.wrong)
    )
    generator = np.random.default_rng(1)
    a, b = generator.normal(size=(2, 800))
    uneven = pd.DataFrame({"A": a, "B": b, "C": b * np.abs(b) * generator.normal(size=800)})
    uneven["R"] = generator.integers(2, size=800)
    flags = flags_of(uneven)
    assert dependence(flags.away, flags.wrong) > 10.0
    assert cc.discover(uneven, "R", method="score-ac").flagged_cells().empty


def explored(table):
    data = read_table(table, "R")
    statistics = wrong_cells.gather_statistics(data, "listwise")
    scored = score_data(data, statistics, Knowledge().links(data.names))
    effort = Effort(0, 1, nobody, Clock())
    return scored, explore(scored, ScoreOptions(), effort), effort


def test_scores_of_nodes_add_up_and_descriptions_do_not_depend_on_units(monkeypatch):
    table, _ = damaged(chain(), rows=True)
    lengths = []
    described = wrong_cells._description
    monkeypatch.setattr(
        wrong_cells, "_description", lambda *some: lengths.append(described(*some)) or lengths[-1]
    )
    for units in (1.0, 1000.0):
        changed = table.assign(B=table["B"] * units)
        scored, found, effort = explored(changed)
        best = found[0]
        assert best.found.best.node_scores(best.curved).sum() == pytest.approx(best.score, abs=1e-2)
        enough = wrong_cells._log_density(
            flags_of(changed), scored, np.array([best.score]), best.charge
        )
        assert (
            wrong_cells.without_wrong_cells(scored, found, (), effort, partial(flags_of, changed))
            is not None
        )
        lengths.append(enough)
    np.testing.assert_allclose(
        lengths[: len(lengths) // 2], lengths[len(lengths) // 2 :], rtol=1e-6
    )


def test_wrong_cells_are_found_and_the_graphs_are_those_of_the_right_table(found):
    table, hit, result = found
    clean = cc.discover(chain(), "R", method="score-ac")
    assert result.graphs == clean.graphs
    assert cc.discover(table, "R", method="score-ac", wrong_cells="keep").graphs != clean.graphs
    cells = result.flagged_cells()
    assert list(cells.columns) == ["row", "column", "value", "expected"]
    got, true = (
        set(zip(cells["row"], cells["column"], strict=True)),
        {(i, NAMES[j]) for i, j in np.argwhere(hit)},
    )
    assert len(got & true) > 0.95 * len(true)
    assert len(got - true) < 0.1 * len(true)
    for cell in cells.itertuples():
        assert table.loc[cell.row, cell.column] == cell.value
    away = [chain().loc[cell.row, cell.column] - cell.expected for cell in cells.itertuples()]
    assert np.abs(away).mean() < 3.0
    assert result.warnings[0].startswith(f"{len(cells)} cells of ")
    assert (
        result.rows.columns[0][int(cells["row"][0])] != table["A"][0] or cells["column"][0] != "A"
    )


def test_effects_and_claims_are_those_of_the_cleaned_rows(found):
    _, _, result = found
    clean = cc.discover(chain(), "R", method="score-ac")
    mine, theirs = (one.changes("off", "on").query("claimed") for one in (result, clean))
    assert set(zip(mine["source"], mine["target"], strict=True)) == {("B", "C")}
    assert mine["effect_present"].tolist() == pytest.approx(
        theirs["effect_present"].tolist(), abs=0.1
    )
    slopes = [one.effects("C", "D")["effect"].tolist() for one in (result, clean)]
    assert slopes[0] == pytest.approx(slopes[1], abs=0.15)
    assert violations_of(result) == ()


def test_diagnose_says_what_the_cells_change(found):
    table, _, result = found
    kept = cc.discover(table, "R", method="score-ac", wrong_cells="keep")
    finding = result.diagnose().about("wrong cells")[0]
    pairs = {(r, frozenset(edge[:2])) for r, graph in result.graphs.items() for edge in graph.edges}
    others = {(r, frozenset(edge[:2])) for r, graph in kept.graphs.items() for edge in graph.edges}
    assert bool(finding.evidence["added"]) == bool(pairs - others)
    assert bool(finding.evidence["removed"]) == bool(others - pairs)
    for edge in finding.evidence["added"]:
        assert edge in finding.message or "more" in finding.message


def test_files_reports_and_samples_know_the_cells(found, tmp_path):
    _, _, result = found
    result.save(tmp_path / "result.json")
    loaded = cc.load(tmp_path / "result.json")
    assert loaded == result
    assert loaded.flagged_cells().equals(result.flagged_cells())
    assert loaded.diagnose().about("wrong cells") == result.diagnose().about("wrong cells")
    result.report(tmp_path / "report.html")
    assert "Cells taken for wrong" in (tmp_path / "report.html").read_text()
    stable = result.stability(3, seed=1)
    assert stable.edges(0.9).query("x == 'A' and y == 'B'")["present"].min() == 1.0


def test_wrong_rows_are_left_out():
    table, hit = damaged(chain(), 0.03, rows=True)
    result = cc.discover(table, "R", method="score-ac")
    rows = set(np.flatnonzero(hit.any(axis=1)).tolist())
    assert set(result.wrong_cells.left_out) == rows
    assert sum(result.data.rows) == len(table) - len(rows)
    assert result.graphs == cc.discover(chain(), "R", method="score-ac").graphs
    assert f"{len(rows)} rows with wrong cells were left out" in result.warnings[0]


def test_rows_with_wrong_cells_are_left_out_where_mechanisms_are_curved():
    table = chain(500)
    table = table.assign(
        D=2.0 * np.sin(table["C"] + 7.0) + np.random.default_rng(3).normal(size=500)
    )
    table, _ = damaged(table)
    result = cc.discover(table, "R", method="score-ac")
    assert result.evidence.curved
    assert set(result.wrong_cells.left_out) == set(result.flagged_cells()["row"])
    assert len(result.rows.codes) == 500 - len(result.wrong_cells.left_out)
    assert result.graphs["on"].mark("C", "D") == "-->"


@pytest.mark.parametrize("noise", ["normal", "t3"])
def test_right_tables_stay_as_they_are(noise):
    table = chain(noise=noise)
    result = cc.discover(table, "R", method="score-ac")
    assert result.flagged_cells().empty
    assert result.evidence.wrong_cells == "none"
    assert result.graphs == cc.discover(table, "R", method="score-ac", wrong_cells="keep").graphs
    assert violations_of(result) == ()
    assert result.changes("off", "on")["claimed"].any()


def test_rows_are_those_of_the_table_with_missing_values():
    table, _ = damaged(chain())
    table.loc[[0, 3, 50], "B"] = np.nan
    result = cc.discover(table, "R", method="score-ac", missing="listwise")
    cells = result.flagged_cells()
    assert len(cells) > 30
    assert all(table.loc[cell.row, cell.column] == cell.value for cell in cells.itertuples())
    assert sum(result.data.lost) == 3


def test_several_contexts_and_categories():
    table, _ = damaged(chain(600))
    generator = np.random.default_rng(9)
    table["S"] = generator.choice(["x", "y"], len(table), p=[0.8, 0.2])
    table["E"] = pd.Categorical(
        np.where(table["A"] + generator.normal(size=len(table)) > 40.0, "yes", "no")
    )
    result = cc.discover(table, ["S", "R"], method="score-ac")
    assert len(result.flagged_cells()) > 60
    codes = {
        cell: int(count) for cell, count in zip(result.contexts, result.data.rows, strict=True)
    }
    assert codes == {
        cell: int(((table["S"] == cell[0]) & (table["R"] == cell[1])).sum())
        for cell in result.contexts
    }
    assert set(result.flagged_cells()["column"]) == set(NAMES)


def test_only_few_rows_a_column_and_constants_are_left_alone():
    assert flags_of(chain(18)) is None
    table = chain(100).assign(A=np.r_[np.zeros(60), np.arange(40.0)])
    assert flags_of(table).columns.tolist() == [1, 2, 3]
    flags = flags_of(chain(100))
    data = read_table(chain(100), "R")
    assert cleaned_table(data, flags, flags.whole).n_rows == 100


def test_cells_of_series_are_wrong_at_all_lags():
    generator = np.random.default_rng(4)
    n = 500
    x, y = np.zeros((2, n))
    r = (np.cumsum(generator.random(n) < 0.05) % 2).astype(int)
    for t in range(1, n):
        x[t] = 0.6 * x[t - 1] + generator.normal()
        y[t] = 0.5 * y[t - 1] + r[t] * 0.9 * x[t - 1] + generator.normal()
    clean = pd.DataFrame({"X": x + 50.0, "Y": y, "R": r, "time": np.arange(n)})
    hit = generator.random((n, 2)) < 0.03
    far = clean[["X", "Y"]].mean().to_numpy() + 10.0 * clean[["X", "Y"]].std().to_numpy()
    wrong = np.where(hit, far, clean[["X", "Y"]])
    table = (
        clean.assign(X=wrong[:, 0], Y=wrong[:, 1])
        .sample(frac=1.0, random_state=1)
        .reset_index(drop=True)
    )
    result = cc.discover(table, "R", method="score-ac", lags=1, time="time")
    cells = result.flagged_cells()
    got = {
        (int(table.loc[cell.row, "time"]), "XY".index(cell.column)) for cell in cells.itertuples()
    }
    assert got >= {(i, j) for i, j in np.argwhere(hit).tolist() if i > 0}
    assert len(got) <= hit.sum() + 3
    assert all(table.loc[cell.row, cell.column] == cell.value for cell in cells.itertuples())
    assert result.graphs == cc.discover(clean, "R", method="score-ac", lags=1, time="time").graphs
    assert abs(result.windowed.series.values[:, 0]).max() < 60.0
    finding = result.diagnose().about("wrong cells")
    assert len(finding) == 1


def test_the_option_is_checked_and_used(tmp_path):
    with pytest.raises(cc.OptionError, match="wrong_cells is 'drop'"):
        cc.discover(chain(60), "R", method="score-ac", wrong_cells="drop")
    with pytest.raises(
        cc.OptionError, match="wrong_cells belongs to method 'score-ac', and method is 'pc-ac'"
    ):
        cc.discover(chain(60), "R", method="pc-ac", wrong_cells="keep")
    table, _ = damaged(chain())
    table.to_csv(tmp_path / "table.csv", index=False)
    for option, there in ((["--wrong-cells", "keep"], False), ([], True)):
        path = tmp_path / f"{there}.json"
        done = CliRunner().invoke(
            app,
            [
                "discover",
                str(tmp_path / "table.csv"),
                "--context",
                "R",
                "--method",
                "score-ac",
                *option,
                "--json",
                str(path),
            ],
        )
        assert done.exit_code == 0, done.output
        assert ("wrong_cells" in json.loads(path.read_text())) is there


def test_tables_that_are_read_in_batches_keep_all_cells(tmp_path):
    table, _ = damaged(chain(3000))
    table.to_csv(tmp_path / "table.csv", index=False)
    scanned = cc.scan(tmp_path / "table.csv", "R", sample=500)
    result = cc.discover(scanned, method="score-ac")
    assert result.flagged_cells().empty
    assert result.evidence.wrong_cells == "keep"
    assert [violation.kind for violation in violations_of(result)] == ["outliers"]
