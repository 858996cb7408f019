"""Tables that ship with the library: what they hold, and how a newcomer gets at them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.cli.demo import next_words

RELEASE = Path(__file__).parents[1] / "release"


def test_the_list_and_the_tables() -> None:
    told = CliRunner().invoke(app, ["example"], env={"COLUMNS": "200"})
    assert told.exit_code == 0
    assert "  soil: 2,000 days over land, simulated" in told.stdout
    assert "  voters: 944 voters" in told.stdout
    for name in ("soil", "voters"):
        printed = CliRunner().invoke(app, ["example", name])
        assert printed.exit_code == 0
        assert printed.stdout == cc.examples.path(name).read_text()
    wrong = CliRunner().invoke(app, ["example", "soils"])
    assert wrong.exit_code == 2
    assert "did you mean 'soil'?" in wrong.stderr
    with pytest.raises(cc.OptionError, match="expected one of 'soil', 'voters'"):
        cc.examples.path("farm")


def test_soil_is_the_simulated_example() -> None:
    """The same rows with four decimals, so that every page has the same graph."""
    shipped, drawn = cc.read_file(cc.examples.path("soil")), cc.examples.soil_moisture(2000, seed=1)
    assert list(shipped.columns) == list(drawn.columns)
    assert (shipped["soil"] == drawn["soil"].astype(str)).all()
    numbers = [name for name in drawn.columns if name != "soil"]
    assert (shipped[numbers] - drawn[numbers]).abs().to_numpy().max() <= 0.5001e-4
    assert cc.discover(shipped, "soil").labeled_union == cc.discover(drawn, "soil").labeled_union


def test_voters_are_those_of_statsmodels() -> None:
    source = pytest.importorskip("statsmodels.datasets.anes96", reason="statsmodels is not installed")
    assert "public domain" in source.COPYRIGHT
    theirs, shipped = source.load_pandas().data, cc.read_file(cc.examples.path("voters"))
    same = [name for name in shipped.columns if name not in ("vote", "logpopul")]
    assert (shipped[same] == theirs[same]).to_numpy().all()
    assert (shipped["logpopul"] - theirs["logpopul"]).abs().max() <= 0.5001e-4
    assert ((shipped["vote"] == "Dole") == (theirs["vote"] == 1)).all()


def test_what_to_do_next_names_what_was_written() -> None:
    words = next_words(Path("out/a.json"), Path("out/a.html"))
    assert "open out/a.html in a browser" in words
    assert "causalcontext explain out/a.json precipitation radiation" in words
    assert "causalcontext example soil > soil.csv" in words
    assert "causalcontext discover soil.csv --context soil" in words
    assert ("activate" in words) == (sys.prefix != sys.base_prefix)
    assert "explain" not in next_words(None, None)


def test_the_first_pages_are_typed_as_they_stand(tmp_path: Path) -> None:
    """The reader of pages: commands in one shell, Python behind them, outputs beside their blocks."""
    spec = importlib.util.spec_from_file_location("first_minutes", RELEASE / "first_minutes.py")
    assert spec is not None
    assert spec.loader is not None
    first_minutes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(first_minutes)
    page = tmp_path / "page.md"
    page.write_text("```sh\nmake x\n```\n```python\nprint(1)\n```\n```\n1\n```\n```python\nx = 2\n```\n")
    blocks = first_minutes.blocks_of(page)
    assert first_minutes.expected_outputs(blocks) == ["1", None]
    script = first_minutes.script_of(blocks, tmp_path / "code.py").splitlines()
    assert script[:3] == ["set -e", "source .venv/bin/activate", "make x"]
    assert script[-1] == f"python '{tmp_path / 'code.py'}'"
    for name in first_minutes.PAGES:
        blocks = first_minutes.blocks_of(first_minutes.ROOT / name)
        commands = [text for language, text in blocks if language == "sh"]
        assert not any("data.csv" in text for text in commands)
