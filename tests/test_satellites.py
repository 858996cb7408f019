"""The lab and the app use the core by its public names, and nothing in the core imports them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext import satellites
from causalcontext.cli.app import app

SOURCE = Path(cc.__file__).parents[1]
CORE = SOURCE / "causalcontext"
SATELLITES = ("causalcontext_lab", "causalcontext_app")
API = (Path(__file__).parents[1] / "docs" / "api.rst").read_text(encoding="utf-8")
PUBLIC_MODULES = {
    "causalcontext.ci_tests.protocol",
    "causalcontext.ci_tests.registry",
    "causalcontext.ci_tests.rows",
    "causalcontext.errors",
    "causalcontext.examples",
    "causalcontext.graphs.endpoints",
    "causalcontext.graphs.paths",
    "causalcontext.views",
}
"""Modules that the reference names as public, besides `causalcontext` itself."""
VOICE = "commands of satellites have the options and the voice of all others"
FILES = "a file is written whole or not at all, and refused in the same sentence everywhere"
PANDAS = "tables of pandas, which is imported with the first of them"
ROWS = "a table is read once, and its null tables are made of what was read"
PICTURES = "pictures have the colours and the formats of all others"
OWN_SEARCH = "the published searches are run with parts of the search, faults included"
OPTIONS = "options are declared and checked as those of discover are"
PAGE = "the page says of columns, options and results what the library says of them"
EXCEPTIONS = {
    "causalcontext_lab": {
        "causalcontext.cli": VOICE,
        "causalcontext.cli.inputs": VOICE,
        "causalcontext.cli.pipes": VOICE,
        "causalcontext.cli.settings": VOICE,
        "causalcontext.cli.terminal": VOICE,
        "causalcontext.data.checks": ROWS,
        "causalcontext.data.columns": ROWS,
        "causalcontext.data.dataset": ROWS,
        "causalcontext.data.files": FILES,
        "causalcontext.data.frames": PANDAS,
        "causalcontext.data.sufficient_statistics": ROWS,
        "causalcontext.data.tables": ROWS,
        "causalcontext.diagnostics.stability": "samples are shared by threads, and stopped, alike",
        "causalcontext.drawing.paint": PICTURES,
        "causalcontext.drawing.plot": PICTURES,
        "causalcontext.drawing.strokes": PICTURES,
        "causalcontext.graphs.graph": OWN_SEARCH,
        "causalcontext.kernels.rows.glm": "null tables with categories are drawn from a logit",
        "causalcontext.kernels.rows.likelihoods": "null tables with categories, too",
        "causalcontext.methods.method_object": OPTIONS,
        "causalcontext.methods.pc_b": OWN_SEARCH,
        "causalcontext.options": OPTIONS,
        "causalcontext.progress": VOICE,
        "causalcontext.search.algorithm": OWN_SEARCH,
        "causalcontext.search.batched_search": OWN_SEARCH,
        "causalcontext.search.plan": OWN_SEARCH,
    },
    "causalcontext_app": {
        "causalcontext.cli.terminal": VOICE,
        "causalcontext.data.columns": PAGE,
        "causalcontext.data.files": FILES,
        "causalcontext.data.frames": PANDAS,
        "causalcontext.data.indicators": PAGE,
        "causalcontext.data.streams": PAGE,
        "causalcontext.data.table_files": PAGE,
        "causalcontext.diagnostics.check": PAGE,
        "causalcontext.methods.registry": PAGE,
        "causalcontext.options": OPTIONS,
        "causalcontext.progress": VOICE,
        "causalcontext.report.advice": PAGE,
        "causalcontext.report.html": PAGE,
        "causalcontext.results.words": PAGE,
        "causalcontext.screening.screen": PAGE,
        "causalcontext.timeseries.windows": PAGE,
    },
}
"""Modules of the core that a satellite imports although they are not public, and the reasons."""


def imported_names(path: Path) -> Iterator[tuple[str, str]]:
    """The modules that a file imports, each with the name that it takes from there."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def is_public(module: str, name: str) -> bool:
    """Whether a name, or a module inside one, is what the core promises to keep."""
    if f"{module}.{name}" in PUBLIC_MODULES:
        return True
    if module == "causalcontext":
        return name in cc.__all__
    return module in PUBLIC_MODULES and not name.startswith("_")


def test_the_core_imports_no_satellite():
    files = sorted(CORE.rglob("*.py"))
    assert len(files) > 200
    wrong = [
        (path.name, module)
        for path in files
        for module, _ in imported_names(path)
        if module.partition(".")[0] in SATELLITES
    ]
    assert wrong == []


@pytest.mark.parametrize("satellite", SATELLITES)
def test_satellites_import_public_names(satellite):
    """A name that is not public needs a reason here, and a reason that is not needed any more
    goes.
    """
    files = sorted((SOURCE / satellite).rglob("*.py"))
    assert len(files) > 5
    private = {
        module
        for path in files
        for module, name in imported_names(path)
        if module.partition(".")[0] == "causalcontext" and not is_public(module, name)
    }
    assert private == set(EXCEPTIONS[satellite])


def test_the_lab_and_the_app_do_not_know_each_other():
    for satellite, other in (SATELLITES, SATELLITES[::-1]):
        for path in (SOURCE / satellite).rglob("*.py"):
            assert other not in {module.partition(".")[0] for module, _ in imported_names(path)}


def test_public_modules_are_in_the_reference():
    assert [module for module in sorted(PUBLIC_MODULES) if module not in API] == []
    for module in PUBLIC_MODULES:
        assert import_module(module).__doc__


def test_the_core_loads_no_satellite_unless_it_is_asked():
    code = """import sys, causalcontext
print([name for name in sys.modules if name.startswith(("causalcontext_lab", "causalcontext_app"))])
causalcontext.simulate.random_model
print("causalcontext_lab.simulate" in sys.modules, "causalcontext_lab.study" in sys.modules)"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", "True False"]


@pytest.mark.parametrize("name", satellites.NAMES)
def test_every_name_is_found(name):
    assert getattr(cc, name) is satellites.named(name)
    assert name in dir(cc)


def test_old_names_work_and_wrong_ones_say_where_to_look():
    from causalcontext.simulate import random_model

    assert random_model is cc.simulate.random_model
    with pytest.raises(ImportError):
        from causalcontext.simulate import nothing  # noqa: F401
    with pytest.raises(AttributeError, match=r"simulators are in causalcontext_lab\.simulate"):
        import_module("causalcontext.simulate").nothing  # noqa: B018
    with pytest.raises(AttributeError, match="module 'causalcontext' has no attribute 'nothing'"):
        cc.nothing  # noqa: B018


@pytest.mark.parametrize("name", satellites.COMMANDS)
def test_every_command_is_found(name):
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0, shown.output
    assert satellites.command(name) is satellites.at(satellites.COMMANDS[name])
