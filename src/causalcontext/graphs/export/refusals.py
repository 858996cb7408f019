"""What a format cannot say, as one sentence."""

from __future__ import annotations

from collections.abc import Collection

from causalcontext.errors import OptionError
from causalcontext.graphs.graph import Graph, Mark

_ADVICE = {
    Mark.CONFLICT: "; export.conflicts_as_undirected(graph) turns them into 'o-o'",
    Mark.BOTH: "; export the graphs of the contexts instead of their union",
}


def refuse_marks(graph: Graph, allowed: Collection[Mark], where: str) -> None:
    """Return if every edge has one of the allowed marks."""
    for edge in graph.edges:
        mark = Mark(int(graph.marks[graph.position(edge.source), graph.position(edge.target)]))
        if mark not in allowed:
            raise OptionError(f"{where} has no mark for '{edge}'{_ADVICE.get(mark, '')}")


def refuse_letters(graph: Graph, letters: Collection[str], where: str) -> None:
    """Return if no name holds one of the letters, and none is empty."""
    for name in graph.names:
        found = next((letter for letter in name if letter in letters), None)
        if found is not None or not name:
            what = "an empty name" if not name else f"{found!r} in a name"
            raise OptionError(f"{where} cannot hold {what}: {name!r}; rename the column")


def missing_package(package: str, extra: str) -> OptionError:
    """What to install."""
    return OptionError(f"this needs the package {package}: pip install 'causalcontext[{extra}]'")
