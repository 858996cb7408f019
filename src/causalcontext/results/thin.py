"""Results of tables with context values of too few rows: the result of the search, and what stands for these values.

The search, and every question to its result, knows nothing of such values: `of_search` is the result as if the table
had been without their rows. What a user holds has all values of the context; the graph of one that was not searched is
the union over those that were. A context variable with a single value left is a variable without links.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from causalcontext.data.dataset import cell_values
from causalcontext.errors import listed
from causalcontext.graphs.graph import Graph, union_graph

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

MOST_NAMED = 8
"""Levels that a warning names."""
LEVEL_TYPES = {"int": int, "float": float, "bool": bool, "str": str}
"""The types that values of a context have."""
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class ThinLevels:
    """The values of the context that took no part in the search.

    Attributes
    ----------
    context : str
        The name of the context variable, of several all of them.
    contexts : tuple
        All values of the context, in order, those that were left out among them.
    rows : tuple of (value, int)
        What was left out, each with its rows.
    untested : tuple of (name, position)
        Context variables with a single value left, and where they stood in the table: nothing tests their links.
    """

    context: str
    contexts: tuple[Any, ...]
    rows: tuple[tuple[Any, int], ...]
    untested: tuple[tuple[str, int], ...] = ()

    @property
    def values(self) -> tuple[Any, ...]:
        """What was left out."""
        return tuple(value for value, _ in self.rows)

    @property
    def searched(self) -> tuple[Any, ...]:
        """The values that are left."""
        return tuple(value for value in self.contexts if value not in self.values)

    @property
    def warning(self) -> str:
        """One sentence with all levels and their rows.

        >>> print(ThinLevels("R", ("dry", "other", "wet"), (("other", 3),)).warning)
        R = 'other' has 3 rows, too few to say anything: left out of the search; its graph is the pooled one
        """
        told = listed([f"{self.context} = {value!r} has {row_words(count)}" for value, count in self.rows], MOST_NAMED)
        its = "its graph is the pooled one" if len(self.rows) == 1 else "their graphs are the pooled one"
        sentence = f"{told}, too few to say anything: left out of the search; {its}"
        if not self.untested:
            return sentence
        alone = " and ".join(name for name, _ in self.untested)
        return f"{sentence}; without them {alone} has a single value, so its links are untested and none is drawn"

    @property
    def stories(self) -> tuple[str, ...]:
        """What `explain` says of the values that were left out."""
        return tuple(
            f"in {value}: not searched, {row_words(count)} are too few to say anything; its graph is the pooled one."
            for value, count in self.rows
        )

    def to_dict(self) -> dict[str, Any]:
        """The values by their place, as files have them."""
        return {"context": self.context, "levels": [_kept(value) for value in self.contexts],
                "rows": [[self.contexts.index(value), count] for value, count in self.rows],
                "untested": [list(one) for one in self.untested]}  # fmt: skip

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ThinLevels:
        """What `to_dict` has written."""
        contexts = tuple(map(_value, content["levels"]))
        if len(set(contexts)) < len(contexts) or not 0 < len(content["rows"]) < len(contexts):
            raise ValueError("thin names a level twice, or leaves none to search")
        rows = tuple((contexts[place], count) for place, count in content["rows"])
        return cls(content["context"], contexts, rows, tuple((name, place) for name, place in content["untested"]))


def _kept(value: Any) -> list[Any]:
    """A value of the context with the type of each of its parts, since JSON has fewer types."""
    parts = value if isinstance(value, tuple) else (value,)
    return [isinstance(value, tuple), [[type(part).__name__, part] for part in parts]]


def _value(kept: Any) -> Any:
    several, parts = kept
    found = tuple(LEVEL_TYPES[kind](part) for kind, part in parts)
    return found if several else found[0]


def asked_of_search(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method of a result that is about what was searched, and knows nothing of values with too few rows."""

    @wraps(method)
    def asked(self: Any, *args: P.args, **more: P.kwargs) -> T:
        return method(self.searched, *args, **more)

    return asked


def with_thin_levels(result: ContextGraphs, thin: ThinLevels | None) -> ContextGraphs:
    """The result of a search with all values of the context: the pooled graph where there were too few rows."""
    if thin is None:
        return result
    names = list(result.names)
    for name, position in thin.untested:
        names.insert(min(position, len(names)), name)
    searched = [_placed(graph, tuple(names)) for graph in result.graphs.values()]
    pooled = union_graph(searched)
    own = dict(zip(thin.searched, searched, strict=True))
    graphs = {value: own.get(value, pooled) for value in thin.contexts}
    return replace(result, names=tuple(names), contexts=thin.contexts, graphs=graphs, thin=thin)


def of_search(result: ContextGraphs) -> ContextGraphs:
    """The result without the values that were not searched, each of the others under its own name."""
    thin = result.thin
    if thin is None:
        return result
    gone = [name for name, _ in thin.untested]
    kept = [place for place, name in enumerate(result.names) if name not in gone]
    names = tuple(result.names[place] for place in kept)
    graphs = {value: Graph(names, result.graphs[value].endpoints[np.ix_(kept, kept)], result.graphs[value].kind)
              for value in thin.searched}  # fmt: skip
    return replace(result, names=names, contexts=thin.searched, graphs=graphs, thin=None)


def as_searched(result: ContextGraphs) -> ContextGraphs:
    """The same with the values called as the search called them, as a file keeps it."""
    searched = of_search(result)
    called = cell_values(searched.cells, searched.levels)
    return replace(searched, contexts=called, graphs=dict(zip(called, searched.graphs.values(), strict=True)))


def _placed(graph: Graph, names: tuple[str, ...]) -> Graph:
    """The graph over more variables, which have no links."""
    if graph.names == names:
        return graph
    places = [names.index(name) for name in graph.names]
    endpoints = np.zeros((len(names), len(names)), dtype=np.int8)
    endpoints[np.ix_(places, places)] = graph.endpoints
    return Graph(names, endpoints, graph.kind)


def thin_words(count: int) -> str:
    """How a value of few rows is marked in titles.

    >>> thin_words(3)
    '3 rows: pooled graph'
    """
    return f"{row_words(count)}: pooled graph"


def row_words(count: int) -> str:
    """How many rows, in words."""
    return "1 row" if count == 1 else f"{count:,} rows"


def why_no_changes(result: ContextGraphs, first: Any, second: Any) -> str:
    """Why nothing is compared between two values of the context; "" if both were searched."""
    rows = {} if result.thin is None else dict(result.thin.rows)
    few = [value for value in (first, second) if value in rows]
    told = (f"context {value!r} has {row_words(rows[value])}, too few to compare it with another" for value in few)
    return "; ".join(told)


def untested_words(thin: ThinLevels, x: str, y: str) -> str:
    """Why nothing is known of a pair with a context variable of which a single value is left; "" for other pairs."""
    for name, _ in thin.untested:
        if name in (x, y):
            counts = ", ".join(f"{value!r} has {row_words(count)}" for value, count in thin.rows)
            return (f"{x} and {y}: untested, and no link is drawn. {counts}, too few to say anything; a single value "
                    f"of {name} is left without them, so nothing can be compared.")  # fmt: skip
    return ""
