"""Tables that ship with the library: what they hold, and how a newcomer gets at them."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.cli.demo import next_words

ROOT = Path(__file__).parents[2]
RELEASE = ROOT / "tests" / "release"


def test_the_list_and_the_tables() -> None:
    told = CliRunner().invoke(app, ["example"], env={"COLUMNS": "200"})
    assert told.exit_code == 0
    assert "  soil: 2,000 days over land, simulated" in told.stdout
    assert "  wages: 3,286 married women" in told.stdout
    for name in ("soil", "wages"):
        printed = CliRunner().invoke(app, ["example", name])
        assert printed.exit_code == 0
        assert printed.stdout == cc.examples.path(name).read_text()
    wrong = CliRunner().invoke(app, ["example", "soils"])
    assert wrong.exit_code == 2
    assert "did you mean 'soil'?" in wrong.stderr
    with pytest.raises(cc.OptionError, match="expected one of 'soil', 'wages'"):
        cc.examples.path("farm")


def test_soil_is_the_simulated_example() -> None:
    """The same rows with four decimals, so that every page has the same graph."""
    shipped, drawn = cc.read_file(cc.examples.path("soil")), cc.examples.soil_moisture(2000, seed=1)
    assert list(shipped.columns) == list(drawn.columns)
    assert (shipped["soil"] == drawn["soil"].astype(str)).all()
    numbers = [name for name in drawn.columns if name != "soil"]
    assert (shipped[numbers] - drawn[numbers]).abs().to_numpy().max() <= 0.5001e-4
    assert cc.discover(shipped, "soil").labeled_union == cc.discover(drawn, "soil").labeled_union


def test_wages_are_those_of_the_survey() -> None:
    """3,286 women, 491 of them in a union; the mean logarithm of the hourly wage is known from
    textbooks (2.196).
    """
    wages = cc.read_file(cc.examples.path("wages"))
    assert wages["union"].value_counts().to_dict() == {"no member": 2795, "member": 491}
    assert abs(wages["log_wage"].mean() - 2.1958) < 1e-4
    assert not wages.isna().to_numpy().any()


def test_what_to_do_next_names_what_was_written() -> None:
    words = next_words(Path("out/a.json"), Path("out/a.html"))
    assert "open out/a.html in a browser" in words
    assert "causalcontext explain out/a.json precipitation radiation" in words
    assert "causalcontext example soil > soil.csv" in words
    assert "causalcontext discover soil.csv --context soil" in words
    assert ("activate" in words) == (sys.prefix != sys.base_prefix)
    assert "explain" not in next_words(None, None)


def test_the_first_pages_are_typed_as_they_stand(tmp_path: Path) -> None:
    """The reader of pages: commands in one shell, Python behind them, outputs beside their
    blocks.
    """
    spec = importlib.util.spec_from_file_location("first_minutes", RELEASE / "first_minutes.py")
    assert spec is not None
    assert spec.loader is not None
    first_minutes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(first_minutes)
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\nmake x\n```\n```python\nprint(1)\n```\n```\n1\n```\n```python\nx = 2\n```\n"
    )
    blocks = first_minutes.blocks_of(page)
    assert first_minutes.expected_outputs(blocks) == ["1", None]
    script = first_minutes.script_of(blocks, tmp_path / "code.py").splitlines()
    assert script[:3] == ["set -e", "source .venv/bin/activate", "make x"]
    assert script[-1] == f"python '{tmp_path / 'code.py'}'"
    installed, never = first_minutes.left_out(first_minutes.PAGES)
    assert "docs/concepts.md" in installed
    assert "docs/app.md" in never  # commands alone, which tests/test_docs.py does not run
    for name in installed:
        languages = [language for language, _ in first_minutes.blocks_of(ROOT / name)]
        assert "python" in languages, name
    assert not {*installed, *never} & {*first_minutes.PAGES}
    for name in first_minutes.PAGES:
        blocks = first_minutes.blocks_of(first_minutes.ROOT / name)
        commands = [text for language, text in blocks if language == "sh"]
        assert not any("data.csv" in text for text in commands)


@pytest.mark.slow
def test_the_shell_finds_what_python_finds_in_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands about wages say what comes first, as the Python code above them does."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```sh\n(causalcontext example wages.*?)```", text, re.DOTALL)
    example_line, order_line, search_line = block.strip().splitlines()
    (tiers,) = re.findall(r"^earlier = (.*)$", text, re.MULTILINE)
    assert order_line == f"echo 'tiers = {tiers}' > earlier.toml"
    Path("earlier.toml").write_text(f"tiers = {tiers}\n")
    words = example_line.split()
    Path(words[-1]).write_text(CliRunner().invoke(app, words[1:-2]).stdout)
    answer = CliRunner().invoke(app, [*search_line.split()[1:], "--json", "wages.json"])
    assert answer.exit_code == 0, answer.stderr
    known = cc.Knowledge(tiers=ast.literal_eval(tiers))
    result = cc.discover(cc.examples.path("wages"), context="union", knowledge=known)
    assert cc.load("wages.json").graphs == result.graphs
