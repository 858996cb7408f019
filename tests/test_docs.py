"""Every Python block of the README and the docs runs, and prints what the page says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_run_and_print_what_the_page_says(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "docs"}
    expecting = False
    printed = ""
    for language, text in blocks(page):
        if language == "python":
            exec(compile(text, str(page), "exec"), names)
            printed, expecting = capsys.readouterr().out, True
        elif language == "" and expecting and printed:
            assert text.strip() == printed.strip()
            expecting = False
        else:
            expecting = False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_code_that_pages_name_exists():
    text = (ROOT / "docs" / "algorithm.md").read_text(encoding="utf-8")
    for path, names in re.findall(r"`([\w/]+\.py): ([\w., ]+)`", text):
        source = (ROOT / "src" / "causalcontext" / path).read_text(encoding="utf-8")
        for name in names.split(", "):
            assert re.search(rf"(def|class) {name.split('.')[-1]}\b", source), f"{path} has no {name}"


def test_the_readme_lists_every_page():
    readme = (ROOT / "README.md").read_text()
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [page.name for page in pages if f"docs/{page.name}" not in readme] == []


def test_the_site_lists_every_page():
    index = (ROOT / "docs" / "index.md").read_text().split()
    pages = [page.stem for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [page for page in pages if page not in index] == []
