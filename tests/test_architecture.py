"""Imports point one way, kernels know nothing of the package, and nothing loads a pickle."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import causalcontext

PACKAGE = Path(causalcontext.__file__).parent
LAYERS = [
    {"errors", "version", "progress", "kernels"},
    {"questions"},
    {"data", "graphs"},
    {"knowledge", "independence", "simulate", "diagnostics.support"},
    {"search"},
    {"results"},
    {"score"},
    {"methods"},
    {"discover", "several", "drawing"},
    {"report", "doors", "diagnostics"},
    {"study"},
    {"cli", "__init__", "__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    return part(".".join(path.relative_to(PACKAGE).with_suffix("").parts))


def part(module: str) -> str:
    """The part of the package that a module belongs to; a module may be a part of its own."""
    return module if module in RANK else module.split(".")[0]


def imported_parts(path: Path) -> set[str]:
    """Parts of the package that a module imports when it is imported itself."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("causalcontext."):
            found.add(part(node.module.removeprefix("causalcontext.")))
        elif isinstance(node, ast.ImportFrom) and node.module == "causalcontext":
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path):
    here = part_of(path)
    for part in imported_parts(path) - {here}:
        assert RANK[part] < RANK[here] or (RANK[part] == RANK[here] and part not in ("data", "graphs", "simulate")), (
            f"{path.name} of {here!r} must not import {part!r}"
        )


@pytest.mark.parametrize("path", [path for path in FILES if part_of(path) == "simulate"], ids=lambda path: path.name)
def test_truth_does_not_lean_on_the_search(path):
    allowed = {"errors", "questions", "data", "graphs", "simulate"}
    assert imported_parts(path) <= allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_loads_a_pickle(path):
    source = path.read_text()
    assert "pickle" not in source or "read_pickle" not in source.replace("no pickle", "")
    assert "import pickle" not in source


def test_importing_the_library_is_light():
    heavy = ("scipy.stats", "scipy.spatial", "scipy.optimize", "matplotlib", "networkx", "joblib", "rich", "typer")
    code = f"import sys, causalcontext; print([name for name in {heavy!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
