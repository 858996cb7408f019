"""Every Python block of the README and the docs runs, and prints what the page says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OTHERS = ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")
PAGES = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in OTHERS)]
PLACES = [ROOT / "src" / "causalcontext", ROOT / "src", ROOT, ROOT / "benchmarks", ROOT / "tests"]


def test_code_that_pages_name_exists():
    """Files, the functions and classes that are named beside them, and modules by their dotted names."""
    missing = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for path, names in re.findall(r"`([\w/]+\.py)(?:: ([\w., ]+))?`", text):
            found = [place / path for place in PLACES if (place / path).is_file()]
            if not found:
                missing.append(f"{page.name}: no file {path}")
                continue
            source = found[0].read_text(encoding="utf-8")
            for name in filter(None, names.split(", ")):
                if not re.search(rf"(def|class) {name.split('.')[-1]}\b|^{name}\b", source, re.MULTILINE):
                    missing.append(f"{page.name}: {path} has no {name}")
        for module in re.findall(r"\b(?:import|from) (causalcontext(?:\.\w+)*)", text):
            folder = ROOT / "src" / module.replace(".", "/")
            if not (folder.is_dir() or folder.with_suffix(".py").is_file()):
                missing.append(f"{page.name}: no module {module}")
    assert missing == []


def test_the_readme_lists_every_page():
    readme = (ROOT / "README.md").read_text()
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [page.name for page in pages if f"docs/{page.name}" not in readme] == []


def test_the_site_lists_every_page():
    index = (ROOT / "docs" / "index.md").read_text().split()
    pages = [page.stem for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [page for page in pages if page not in index] == []
