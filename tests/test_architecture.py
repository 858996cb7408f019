"""Imports point one way, also inside functions, kernels know nothing of the package, and nothing
loads a pickle.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import causalcontext
from bad_input import GOOD_TEXT

PACKAGE = Path(causalcontext.__file__).parent
LAYERS = [
    {"_kernels"},
    {
        "enums",
        "satellites",
        "errors",
        "settings",
        "version",
        "progress",
        "kernels",
        "kernels.arrays",
        "data.frames",
        "screening.left_out",
        "screening.settings",
    },
    {"views"},
    {"data", "graphs"},
    {
        "knowledge",
        "ci_tests",
        "examples",
        "diagnostics.settings",
        "diagnostics.support",
        "model_checks",
    },
    {"search"},
    {"results"},
    {"score", "timeseries"},
    {"screening"},
    {"methods"},
    {"options"},
    {"reading"},
    {"drawing"},
    {"report", "diagnostics"},
    {"results.answers", "results.assembly", "results.contexts", "results.files"},
    {"discover"},
    {"interop", "diagnostics.find_contexts"},
    {"cli", "simulate", "__init__", "__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in FILES}
UPWARDS = {
    (
        "graphs.graph",
        "drawing",
    ): "a graph draws itself: plot, and its picture in a notebook, a labeled union its table",
}
"""Imports of a higher part, inside a method and in no cycle, and the reasons."""


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def part_of(path: Path) -> str:
    return part(module_of(path))


def part(module: str) -> str:
    """The part of the package that a module belongs to; a module may be a part of its own."""
    return module if module in RANK else module.split(".")[0]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> set[str]:
    """Modules of the package that a module imports, when it is imported itself or later; not for
    types alone.
    """
    tree = tree_of(path)
    found = set()
    for node in _run(tree):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and f"{node.module}.".startswith("causalcontext.")
        ):
            whole = node.module.removeprefix("causalcontext").removeprefix(".")
            for alias in node.names:
                inner = f"{whole}.{alias.name}".removeprefix(".")
                found.add(inner if inner in MODULES or not whole else whole)
    return found


def imported_parts(path: Path) -> set[str]:
    return {part(module) for module in imports(path)}


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement that may be run: all but those for type checkers."""
    for child in ast.iter_child_nodes(node):
        if (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == "TYPE_CHECKING"
        ):
            continue
        yield child
        yield from _run(child)


def may_import(here: str, other: str) -> bool:
    """Whether a part may import another one: it is on a lower layer, or on the same one and none of
    three parts.
    """
    level = RANK[other] == RANK[here] and other not in ("data", "graphs", "examples")
    return RANK[other] < RANK[here] or level


def test_imports_point_one_way():
    assert len(FILES) > 200
    pairs = [
        (path, other) for path in FILES for other in sorted(imported_parts(path) - {part_of(path)})
    ]
    wrong = [
        (module_of(path), other) for path, other in pairs if not may_import(part_of(path), other)
    ]
    assert wrong == list(UPWARDS)


def test_no_module_is_part_of_a_cycle():
    import networkx

    arcs = networkx.DiGraph([(module_of(path), other) for path in FILES for other in imports(path)])
    assert [cycle for cycle in networkx.strongly_connected_components(arcs) if len(cycle) > 1] == []


def test_the_root_is_small_and_arguments_are_few():
    assert len([path for path in FILES if path.parent == PACKAGE]) <= 10
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = len(node.args.args) + len(node.args.kwonlyargs) + len(node.args.posonlyargs)
                assert count <= 10, f"{path.name}: {node.name} takes {count} arguments"


def test_truth_does_not_lean_on_the_search():
    """Neither the example systems of the core nor the simulators of the lab know the search."""
    allowed = {
        "_kernels",
        "errors",
        "settings",
        "kernels.arrays",
        "views",
        "data",
        "data.frames",
        "graphs",
        "examples",
        "Graph",
        "LabeledUnion",
    }
    modules = [path for path in FILES if part_of(path) == "examples"]
    modules += sorted((PACKAGE.parent / "causalcontext_lab" / "simulate").rglob("*.py"))
    assert len(modules) > 10
    beyond = {path.name: sorted(imported_parts(path) - allowed) for path in modules}
    assert {module: parts for module, parts in beyond.items() if parts} == {}


def test_nothing_loads_a_pickle():
    sources = {module_of(path): path.read_text() for path in FILES}
    assert [
        module
        for module, source in sources.items()
        if "read_pickle" in source or "import pickle" in source
    ] == []


def test_importing_the_library_is_light(tmp_path):
    """Neither the library nor, after it, the command line loads a heavy library; `check` loads none
    for plotting.
    """
    heavy = [
        "scipy.special",
        "scipy.linalg",
        "scipy.stats",
        "scipy.spatial",
        "scipy.optimize",
        "narwhals",
        "pandas",
        "pyarrow",
        "polars",
        "dask",
        "matplotlib",
        "networkx",
        "joblib",
    ]
    (tmp_path / "data.csv").write_text(GOOD_TEXT)
    code = f"""import sys, causalcontext
first = [name for name in {[*heavy, "rich", "typer"]!r} if name in sys.modules]
from causalcontext.cli.app import app
then = [name for name in {heavy!r} if name in sys.modules]
app(["check", "data.csv", "--context", "R"], standalone_mode=False)
print()
print(first, then, [name for name in ("matplotlib", "networkx", "joblib", "polars") if name in sys.modules])"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines()[-1] == "[] [] []"
    assert run.stdout.startswith("rows by value of R")


def test_numba_is_for_graphics_cards_alone():
    importing = [module_of(path) for path in FILES if "numba import" in path.read_text()]
    assert importing
    assert all(module.startswith("kernels.cuda") for module in importing)
