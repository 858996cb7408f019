"""CONTRIBUTING.md names the nearest tests of every header, and they exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEADERS = ROOT / "src" / "kernels"


def rows_of_the_table() -> list[tuple[list[str], list[str]]]:
    """Headers and tests of every row."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.split("## Nearest tests\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    return [(re.findall(r"`(.+?)`", names), re.findall(r"`(.+?)`", tests)) for names, tests in rows]


def test_every_header_has_a_row():
    named = [name for names, _ in rows_of_the_table() for name in names]
    assert sorted(named) == sorted(path.stem for path in HEADERS.glob("*.hpp"))


def test_the_tests_exist():
    missing = [
        path for _, tests in rows_of_the_table() for path in tests if not (ROOT / path).exists()
    ]
    assert missing == []


def test_every_part_of_the_package_has_a_folder_of_tests():
    package = ROOT / "src" / "causalcontext"
    parts = {path.parent.name for path in package.glob("*/__init__.py")}
    tested = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert parts - tested <= {"satellites", "methods", "reading", "simulate"}
