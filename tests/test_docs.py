"""Every Python block of the README and the docs runs, and prints what the page says."""

import re
from pathlib import Path

import pytest

from causalcontext.results.contexts import PUBLIC, WITH_CUT, WITH_LAGS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONG = {
    f"docs/{name}.md" for name in ("any-size", "calibrate", "how-to", "method-guide", "time-series")
}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def pages_with_code() -> list:
    """Pages with Python blocks; those that take long are slow."""
    names = [
        str(page.relative_to(ROOT))
        for page in PAGES
        if any(language == "python" for language, _ in blocks(page))
    ]
    assert {"README.md", *LONG} <= set(names)
    return [
        pytest.param(ROOT / name, id=name, marks=[pytest.mark.slow] * (name in LONG))
        for name in names
    ]


@pytest.mark.parametrize("page", pages_with_code())
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


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < 700


def test_links_lead_somewhere():
    links = [
        (page, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text("utf-8"))
    ]
    local = [(page, target) for page, target in links if not target.startswith(("http:", "https:"))]
    assert len(local) > 50
    assert [
        f"{page.name} links to {target}"
        for page, target in local
        if not (page.parent / target).exists()
    ] == []


OTHERS = ("README.md", "CONTRIBUTING.md", "benchmarks/README.md", "benchmarks/research/README.md")
NAMING = [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in OTHERS)]
FOLDERS = ("src/causalcontext", "src", "", "benchmarks", "benchmarks/research", "tests")
PLACES = [ROOT / folder for folder in FOLDERS]


def test_code_that_pages_name_exists():
    """Files, the functions and classes that are named beside them, and modules by their dotted
    names.
    """
    missing = []
    for page in NAMING:
        text = page.read_text(encoding="utf-8")
        for path, names in re.findall(r"`([\w/]+\.py)(?:: ([\w., ]+))?`", text):
            found = [place / path for place in PLACES if (place / path).is_file()]
            if not found:
                missing.append(f"{page.name}: no file {path}")
                continue
            source = found[0].read_text(encoding="utf-8")
            for name in filter(None, names.split(", ")):
                parts = name.split(".")
                if not all(
                    re.search(rf"(def|class) {part}\b|^{part}\b", source, re.MULTILINE)
                    for part in parts
                ):
                    missing.append(f"{page.name}: {path} has no {name}")
        for module in re.findall(r"\b(?:import|from) (causalcontext\w*(?:\.\w+)*)", text):
            folder = ROOT / "src" / module.replace(".", "/")
            if not (folder.is_dir() or folder.with_suffix(".py").is_file()):
                missing.append(f"{page.name}: no module {module}")
    assert missing == []


def test_pages_name_what_a_result_has_for_users():
    """Other attributes are for the package alone; decisions tell of former names."""
    unknown = {}
    for page in PAGES:
        if "decisions" in page.parts:
            continue
        text = page.read_text(encoding="utf-8").replace("result.json", "")
        named = set(re.findall(r"\bresult\.([a-z_]+)", text))
        if named - {*PUBLIC, *WITH_LAGS, *WITH_CUT}:
            unknown[page.name] = named - {*PUBLIC, *WITH_LAGS, *WITH_CUT}
    assert unknown == {}


def test_the_readme_leads_to_the_list_of_every_page():
    listed = (ROOT / "docs" / "index.md").read_text().splitlines()
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [page.name for page in pages if page.stem not in listed] == []
    assert "(docs/index.md)" in (ROOT / "README.md").read_text()


def test_the_site_lists_every_page():
    index = (ROOT / "docs" / "index.md").read_text().split()
    pages = [page.stem for page in (ROOT / "docs").glob("*.md") if page.name != "index.md"]
    assert [page for page in pages if page not in index] == []
