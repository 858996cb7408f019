"""Every place that an exporter has to be entered in; CONTRIBUTING.md lists them."""

import ast
import inspect
from pathlib import Path

import pytest
from test_export import DIRECTED_AND_UNDIRECTED, LOSSLESS

import causalcontext
from causalcontext import export
from causalcontext.cli.export import FORMATS
from causalcontext.graphs.graph import Graph

PACKAGE = Path(causalcontext.__file__).parent / "interop"
PAGE = (Path(__file__).parents[2] / "docs" / "interop.md").read_text(encoding="utf-8")
COMMANDS = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
TESTS = Path(__file__).with_name("test_export.py").read_text(encoding="utf-8")
OF_A_GRAPH = {"to_dag", "to_dags"}
"""Directed graphs of a CPDAG, which are no other format."""
TO_NAMES = sorted(
    name for name in export.__all__ if name.startswith("to_") and name not in OF_A_GRAPH
)
FROM_NAMES = sorted(name for name in export.__all__ if name.startswith("from_"))
READ_BY_ITS_TOOL = {"dot"}
"""Formats of text without a way back: `test_pydot_reads_dot` has hostile names and all marks.
"""
NEEDS_ITS_PACKAGE = {"from_causal_learn"}
"""Its round trip is `test_causal_learn_takes_and_gives`, where the package is installed."""


def defined(path: Path) -> set[str]:
    """The names of functions for and from other formats that a file defines."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {name for name in names if name.startswith(("to_", "from_"))}


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.stem)
def test_an_exporter_is_public(path):
    if path.name != "__init__.py":
        assert defined(path) <= set(export.__all__), "enter it in interop/__init__.py"


@pytest.mark.parametrize("name", TO_NAMES)
def test_an_exporter_of_text_is_a_format_of_the_command(name):
    function = getattr(export, name)
    if inspect.signature(function).return_annotation == "str":
        assert FORMATS.get(name.removeprefix("to_")) is function, "enter it in cli/export.py"


@pytest.mark.parametrize("name", FORMATS)
def test_an_exporter_of_text_is_read_back(name):
    assert f"from_{name}" in FROM_NAMES or name in READ_BY_ITS_TOOL, (
        "write from_..., or read it with the tool in tests/interop/test_export.py and enter it here"
    )


@pytest.mark.parametrize("text", ["", "nothing", "A;B\n1. A ~~ B", "A,B\nC,D,E,F"])
@pytest.mark.parametrize("name", [name for name in FORMATS if f"from_{name}" in FROM_NAMES])
def test_text_that_is_no_graph_is_refused_in_one_sentence(name, text):
    with pytest.raises(causalcontext.CausalContextError):
        getattr(export, f"from_{name}")(text)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_of_the_command_is_in_its_docs(name):
    (row,) = (line for line in COMMANDS.splitlines() if line.startswith("| `causalcontext export"))
    assert name.replace("_", " ") in row.lower(), "add it to the row of docs/command-line.md"


def test_a_format_of_the_command_is_an_exporter():
    assert {f"to_{name}" for name in FORMATS} <= set(TO_NAMES)


@pytest.mark.parametrize("name", [*TO_NAMES, *FROM_NAMES])
def test_an_exporter_is_in_the_docs(name):
    method = f"graph.{name}(" if hasattr(Graph, name) else f"export.{name}"
    assert method in PAGE or f"Graph.{name}(" in PAGE, "add it to the table of docs/interop.md"


@pytest.mark.parametrize("name", TO_NAMES)
def test_an_exporter_is_tested(name):
    assert f"export.{name}" in TESTS, "test it in tests/interop/test_export.py"


@pytest.mark.parametrize("name", FROM_NAMES)
def test_what_is_read_back_has_a_round_trip(name):
    format_name = name.removeprefix("from_").replace("_", " ")
    round_trips = {door.replace("_", " ") for door in (*LOSSLESS, *DIRECTED_AND_UNDIRECTED)}
    assert name in NEEDS_ITS_PACKAGE or format_name in round_trips, (
        "enter it in LOSSLESS or DIRECTED_AND_UNDIRECTED of tests/interop/test_export.py"
    )
