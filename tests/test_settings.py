"""A number that decides something stands once, in the settings of its part, with its unit and its
reason.
"""

import ast
from pathlib import Path

import pytest

import causalcontext

PACKAGE = Path(causalcontext.__file__).parent
PARTS = ("cli", "diagnostics", "drawing", "examples", "interop", "model_checks", "search")
CODES = {"_PAIR", "COLLIDER", "NO_COLLIDER", "NO_COPY", "OPEN"}
"""Names of values, which decide nothing: any other numbers would do."""


def files_of(part):
    return [path for path in sorted((PACKAGE / part).rglob("*.py")) if "lagged" not in path.parts]


def is_number(value):
    """Whether an expression is a number, or several."""
    if isinstance(value, ast.Tuple):
        return bool(value.elts) and all(map(is_number, value.elts))
    if isinstance(value, ast.UnaryOp | ast.BinOp):
        return all(is_number(each) for each in ast.iter_child_nodes(value) if is_value(each))
    return isinstance(value, ast.Constant) and type(value.value) in (int, float)


def is_value(node):
    return not isinstance(node, ast.operator | ast.unaryop)


def numbers(path):
    """The numeric constants of a module by name, and those that a docstring follows."""
    values = {}
    explained = set()
    waiting = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.isupper() and is_number(node.value):
                values[name] = ast.unparse(node.value)
                waiting.append(name)
                continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            explained.update(waiting)
        waiting = []
    return values, explained


@pytest.mark.parametrize("part", PARTS)
def test_numbers_stand_in_the_settings_of_their_part(part):
    elsewhere = {
        f"{path.name}: {name}"
        for path in files_of(part)
        if path.name != "settings.py"
        for name in numbers(path)[0]
        if name not in CODES
    }
    assert elsewhere == set()


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("settings.py")), ids=lambda path: path.parent.name
)
def test_every_number_of_a_table_has_its_reason(path):
    values, explained = numbers(path)
    assert set(values) - explained == set()


def test_no_name_of_a_table_has_another_value_elsewhere():
    """One name, one number: in all tables, and in these parts beside the rest of the package."""
    values = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for name, value in numbers(path)[0].items():
            values.setdefault(name, {})[path] = value
    tables = {
        name
        for name, by_path in values.items()
        if any(path.name == "settings.py" and path.parent.name in PARTS for path in by_path)
    }
    assert {name for name in tables if len(set(values[name].values())) > 1} == set()


@pytest.mark.parametrize("part", PARTS)
def test_every_number_of_a_table_is_used(part):
    path = PACKAGE / part / "settings.py"
    names = numbers(path)[0] if path.is_file() else {}
    text = "".join(each.read_text(encoding="utf-8") for each in files_of(part) if each != path)
    text += (PACKAGE / "examples" / "__init__.py").read_text(encoding="utf-8")
    assert {name for name in names if name not in text} == set()
