"""What runs every time reaches every public name and every method: no mark `slow` takes the last
test of one away.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import causalcontext as cc
from causalcontext.methods.registry import METHODS

FOLDER = Path(__file__).parent


def is_slow(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator) == "pytest.mark.slow" for decorator in node.decorator_list)


def fast_tests() -> Iterator[ast.FunctionDef]:
    """The test functions of all files that run without an option, but for those that are marked
    slow as a whole.
    """
    for path in sorted(FOLDER.rglob("test_*.py")):
        if "browser" not in path.parts and path != Path(__file__):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if (
                    isinstance(node, ast.FunctionDef)
                    and node.name.startswith("test_")
                    and not is_slow(node)
                ):
                    yield node


def test_every_public_name_is_in_a_fast_test() -> None:
    """As `cc.name`; classes also by name alone."""
    nodes = [inner for test in fast_tests() for inner in ast.walk(test)]
    used = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "cc"
    }
    used |= {node.id for node in nodes if isinstance(node, ast.Name) and node.id[0].isupper()}
    assert [name for name in cc.__all__ if name not in used] == []


@pytest.mark.parametrize("method", METHODS)
def test_every_method_searches(method: str) -> None:
    result = cc.discover(cc.examples.soil_moisture(150, seed=1), "soil", method=method)
    assert result.complete
    assert tuple(result.graphs) == ("dry", "wet")
    assert any(graph.adjacency.any() for graph in result.graphs.values())


@pytest.mark.parametrize("method", METHODS)
def test_every_method_with_lags_searches(method: str) -> None:
    result = cc.discover(cc.examples.soil_moisture(150, seed=1), "soil", method=method, lags=1)
    assert isinstance(result, cc.LaggedGraphs)
    assert result.complete
    assert tuple(result.graphs) == ("dry", "wet")
