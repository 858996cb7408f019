"""Every script of benchmarks/ is in an index, which says where its figures are."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
RESEARCH = FOLDER / "research"
LINK = re.compile(r"\]\(([^)]+)\)")


def indexed(readme: Path, columns: int) -> dict[str, str]:
    """The scripts of an index, each with the last cell of its row."""
    text = readme.read_text(encoding="utf-8")
    if "## Which page" in text:
        text = text[text.index("## Which page") :]
        text = text[: text.index("\n## ", 3)]
    row = re.compile(
        r"^\| `(\w+\.py)` \|" + r"(?:.*\|)?" * (columns - 2) + r" (.*) \|$", re.MULTILINE
    )
    return dict(row.findall(text))


def is_script(path: Path) -> bool:
    """Whether a file can be run, and is no part of others alone."""
    return 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("folder", "columns"), [(FOLDER, 2), (RESEARCH, 3)])
def test_every_script_is_in_the_index(folder, columns):
    index = indexed(folder / "README.md", columns)
    assert sorted(index) == sorted(path.name for path in folder.glob("*.py"))


@pytest.mark.parametrize(("folder", "columns"), [(FOLDER, 2), (RESEARCH, 3)])
def test_pages_of_the_index_name_the_script(folder, columns):
    for name, cell in indexed(folder / "README.md", columns).items():
        pages = LINK.findall(cell)
        assert pages or cell.startswith("none: "), name
        for page in pages:
            text = (folder / page).read_text(encoding="utf-8")
            path = (folder / name).relative_to(ROOT).as_posix()
            assert path in text, f"{page} does not name {path}"


def test_scripts_without_a_page_for_users_are_research():
    decisions = [cell for cell in indexed(FOLDER / "README.md", 2).values() if "decisions/" in cell]
    assert decisions == []
    for name, cell in indexed(FOLDER / "README.md", 2).items():
        assert not (cell.startswith("none: ") and is_script(FOLDER / name)), name


def imported_files(path: Path) -> set[str]:
    """The modules that a script imports on its first level."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)}


def test_scripts_for_pages_need_no_research():
    research = {path.stem for path in RESEARCH.glob("*.py")}
    for path in FOLDER.glob("*.py"):
        assert not research & imported_files(path), path.name


def test_a_script_of_research_starts():
    script = RESEARCH / "claims_that_hold.py"
    run = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "usage" in run.stdout
