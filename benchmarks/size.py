"""How large is the house, and how far is it from a call to what it does?

    python benchmarks/size.py --before ../older-checkout

Lines, files and names are read from the sources. Hops are counted while four calls run: how many
functions of the package stand on the stack, one inside the other, when a kernel is called, at most.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

from measuring import markdown_table

HERE = Path(__file__).parent
SHORT = 3
"""Lines of a function that its only caller could hold itself."""
RECORDS = {"dataclass", "NamedTuple", "TypedDict"}
FLOWS = {
    "CSV to report": (
        "from causalcontext.cli.app import app; app(['discover', 'soil.csv', '--context', 'soil',"
        " '--report', 'soil.html'], standalone_mode=False)"
    ),
    "CI query": "cc.discover(table, 'soil', method='pc-ac')",
    "score-ac": "cc.discover(table, 'soil', method='score-ac')",
    "lags": "cc.discover(table, 'soil', method='score-ac', lags=1)",
}
"""The calls that CONTRIBUTING follows."""
COUNTING = """
import sys, causalcontext as cc
table = cc.examples.soil_moisture(500, seed=1)
table.to_csv("soil.csv", index=False)
deepest = 0
def count(frame, event, argument):
    global deepest
    if event == "call" and frame.f_globals.get("__name__", "").startswith("causalcontext.kernels"):
        hops, up = 0, frame
        while up is not None:
            hops += up.f_globals.get("__name__", "").startswith("causalcontext")
            up = up.f_back
        deepest = max(deepest, hops)
{call}  # what is imported late is imported
sys.setprofile(count)
{call}
sys.setprofile(None)
print("hops", deepest, file=sys.stderr)
"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="the root of another checkout")
    parser.add_argument(
        "--names",
        action="store_true",
        help="list class names that stand twice, and cycles of imports",
    )
    chosen = parser.parse_args()
    roots = [HERE.parent, *([chosen.before] if chosen.before else [])]
    found = [measured(root) for root in roots]
    header = ["", "now", "before"][: 1 + len(roots)]
    print(
        markdown_table(header, [[what, *(f"{one[what]:,}" for one in found)] for what in found[0]])
    )
    if chosen.names:
        trees = trees_of(roots[0])
        for name, places in sorted(defined_twice(trees).items()):
            print(name, *places)
        for cycle in cycles(trees):
            print("cycle:", *sorted(cycle))


def measured(root: Path) -> dict[str, int]:
    """All numbers of a checkout."""
    trees = trees_of(root)
    folder, around = root / "src" / "causalcontext", [len(cycle) for cycle in cycles(trees)]
    return {
        "source lines": sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py")),
        "files": len(trees),
        "record types": sum(is_record(node) for tree in trees.values() for node in ast.walk(tree)),
        "class names that stand twice": len(defined_twice(trees)),
        f"functions called once, of {SHORT} lines or fewer": called_once(trees),
        "modules in cycles of imports, lazy ones counted": sum(around),
        "the largest cycle": max(around, default=0),
    } | {f"hops: {flow}": hops(call, root) for flow, call in FLOWS.items()}


def trees_of(root: Path) -> dict[str, ast.Module]:
    """Every module by its name."""
    source = root / "src"
    return {
        ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(
            ".__init__"
        ): ast.parse(path.read_text())
        for path in sorted((source / "causalcontext").rglob("*.py"))
    }


def is_record(node: ast.AST) -> bool:
    """Whether a node defines a record: a dataclass, a named tuple, a typed dictionary."""
    if not isinstance(node, ast.ClassDef):
        return False
    marks = [
        part.func if isinstance(part, ast.Call) else part
        for part in [*node.decorator_list, *node.bases]
    ]
    return any(isinstance(mark, ast.Name) and mark.id in RECORDS for mark in marks)


def defined_twice(trees: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Names of classes that several modules define."""
    places = defaultdict(list)
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module)
    return {name: where for name, where in places.items() if len(where) > 1}


def called_once(trees: dict[str, ast.Module]) -> int:
    """Private functions of few lines whose name is used in one place."""
    used: Counter[str] = Counter()
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                used[node.id] += 1
            elif isinstance(node, ast.Attribute):
                used[node.attr] += 1
    functions = (
        node
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    )
    return sum(
        used[node.name] == 1 and lines_of(node) <= SHORT and not node.decorator_list
        for node in functions
    )


def lines_of(function: ast.FunctionDef) -> int:
    """Lines of a function without its head and its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def cycles(trees: dict[str, ast.Module]) -> list[set[str]]:
    """Modules that import each other, imports inside functions included, those for type checkers
    not.
    """
    graph = nx.DiGraph()
    for module, tree in trees.items():
        graph.add_edges_from((module, other) for other in imported(tree, trees) if other != module)
    return [part for part in nx.strongly_connected_components(graph) if len(part) > 1]


def imported(tree: ast.Module, trees: dict[str, ast.Module]) -> Iterator[str]:
    """Modules of the package that a module imports."""
    for node in without_type_checking(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in trees)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                if inner in trees or node.module in trees:
                    yield inner if inner in trees else node.module


def without_type_checking(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        ):
            continue
        yield node
        yield from without_type_checking(node)


def hops(call: str, root: Path) -> int:
    """The most functions of the package inside each other, when a kernel is called."""
    code = COUNTING.replace("{call}", call)
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
    return int(run.stderr.rsplit("hops", 1)[-1])


if __name__ == "__main__":
    main()
