"""A file with the rows answers what the result answered, and a damaged one is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.results import content
from causalcontext.results.content import checksum, encoded


@pytest.fixture(scope="module")
def table():
    """A category, a count, an ordered column and a number with holes, beside the context."""
    rng = np.random.default_rng(4)
    x = 5.0 - rng.normal(size=400)
    ill = rng.random(400) < 1.0 / (1.0 + np.exp(5.0 - x))
    visits = rng.poisson(np.exp(0.3 * ill + 0.5))
    pain = pd.Categorical(
        np.where(ill, "high", np.where(rng.random(400) < 0.5, "low", "some")),
        ["low", "some", "high"],
        ordered=True,
    )
    site = np.where(x + rng.normal(size=400) > 5.0, "north", "south")
    cost = np.where(site == "north", 2.0, 0.2) * visits + rng.normal(size=400)
    cost[:7] = np.nan
    return pd.DataFrame(
        {
            "x": x,
            "ill": np.where(ill, "yes", "no"),
            "visits": visits,
            "pain": pain,
            "cost": cost,
            "site": site,
        }
    )


@pytest.fixture(scope="module")
def result(table):
    options = {"kinds": {"visits": "count"}, "missing": "listwise", "keep": ["ill", "pain"]}
    return cc.discover(table, "site", method="score-ac", **options)


def test_a_loaded_result_answers_the_same(result, tmp_path):
    result.save(tmp_path / "with.json", rows=True)
    loaded = cc.load(tmp_path / "with.json")
    for cause, effect in (("x", "ill"), ("ill", "visits"), ("x", "cost"), ("x", "pain")):
        pd.testing.assert_frame_equal(loaded.effects(cause, effect), result.effects(cause, effect))
    pd.testing.assert_frame_equal(loaded.mechanisms(), result.mechanisms())
    pd.testing.assert_frame_equal(
        loaded.changes("north", "south"), result.changes("north", "south")
    )
    cc.load(tmp_path / "with.json").save(tmp_path / "again.json", rows=True)
    assert (tmp_path / "again.json").read_text() == (tmp_path / "with.json").read_text()
    assert str(loaded.diagnose()) == str(result.diagnose())


def test_without_rows_the_refusal_says_what_keeps_them(result, tmp_path):
    result.save(tmp_path / "without.json")
    note = cc.load(tmp_path / "without.json").effects("x", "ill")["note"].iloc[0]
    assert "save(path, rows=True) keeps them" in note
    with pytest.raises(cc.OptionError, match="has no rows to keep"):
        cc.load(tmp_path / "without.json").save(tmp_path / "more.json", rows=True)


def test_made_contexts_and_booleans_too(tmp_path):
    rng = np.random.default_rng(8)
    x = rng.normal(size=300)
    table = pd.DataFrame(
        {
            "x": x.astype(np.float32),
            "flag": x + rng.normal(size=300) > 0,
            "y": np.where(x > 0.2, 1.5, 0.0) * x + rng.normal(size=300),
        }
    )
    found = cc.discover(table, cc.threshold("x", 0.2), method="score-ac")
    found.save(tmp_path / "with.json", rows=True)
    loaded = cc.load(tmp_path / "with.json")
    pd.testing.assert_frame_equal(loaded.effects("x", "flag"), found.effects("x", "flag"))
    assert loaded.rows.contexts == found.rows.contexts


def test_too_large_and_lags_are_refused(result, table, tmp_path, monkeypatch):
    monkeypatch.setattr(content, "MOST_FILE_CELLS", 100)
    with pytest.raises(
        cc.OptionError, match="at most 100 cells, this table has 400 rows of 6 columns"
    ):
        result.save(tmp_path / "large.json", rows=True)
    series = cc.discover(table[["x", "cost"]].dropna(), lags=1)
    with pytest.raises(cc.OptionError, match="not yet: rows=True with lags"):
        series.save(tmp_path / "lags.json", rows=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["codes", "length", "infinite", "level", "kind"])
def test_damaged_rows_are_refused(result, tmp_path, damage):
    file = tmp_path / "with.json"
    result.save(file, rows=True)
    content = json.loads(file.read_text())
    kept, x = content["rows"], np.zeros(400)
    if damage == "codes":
        kept["codes"] = encoded(np.full(400, 7))
    elif damage == "length":
        kept["columns"][0] = encoded(x[:9])
    elif damage == "infinite":
        x[3] = np.inf
        kept["columns"][0] = encoded(x)
    elif damage == "level":
        kept["columns"][1] = encoded(x + 9.0)
    else:
        kept["kinds"][0] = "sound"
    content["checksum"] = checksum(content)
    file.write_text(json.dumps(content))
    with pytest.raises(cc.FileError, match="is damaged"):
        cc.load(file)


def test_the_command_line_keeps_rows_where_it_can(table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    run = CliRunner().invoke(
        app,
        [
            "discover",
            str(tmp_path / "t.csv"),
            "--context",
            "site",
            "--missing",
            "listwise",
            "--json",
            str(tmp_path / "r.json"),
            "--keep-rows",
        ],
    )
    assert run.exit_code == 0, run.output
    assert cc.load(tmp_path / "r.json").rows is not None
    alone = CliRunner().invoke(
        app, ["discover", str(tmp_path / "t.csv"), "--context", "site", "--keep-rows"]
    )
    assert alone.exit_code != 0
