"""Results of tables with context values of too few rows: the result of the search, and what stands
for these values.

The search, and every question to its result, knows nothing of such values: `of_search` is the
result as if the table had been without their rows. What a user holds has all values of the context;
the graph of one that was not searched is the union over those that were. A context variable with a
single value left is a variable without links.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from causalcontext.data.dataset import cell_values
from causalcontext.graphs.graph import Graph, union_graph
from causalcontext.results.few_rows import ThinLevels, row_words
from causalcontext.results.kept import answers_of, with_answers

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

P = ParamSpec("P")
T = TypeVar("T")


def asked_of_search(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method of a result that is about what was searched, and knows nothing of values with too
    few rows.
    """

    @wraps(method)
    def asked(self: Any, /, *args: P.args, **more: P.kwargs) -> T:
        return method(self.searched, *args, **more)

    return asked


def with_thin_levels(result: ContextGraphs, thin: ThinLevels | None) -> ContextGraphs:
    """The result of a search with all values of the context: the pooled graph where there were too
    few rows.
    """
    if thin is None:
        return result
    names = list(result.names)
    for name, position in thin.untested:
        names.insert(min(position, len(names)), name)
    searched = [_placed(graph, tuple(names)) for graph in result.graphs.values()]
    pooled = union_graph(searched)
    graph_by_value = dict(zip(thin.searched, searched, strict=True))
    graphs = {value: graph_by_value.get(value, pooled) for value in thin.contexts}
    whole = replace(result, names=tuple(names), contexts=thin.contexts, graphs=graphs, thin=thin)
    return with_answers(whole, answers_of(result))


def of_search(result: ContextGraphs) -> ContextGraphs:
    """The result without the values that were not searched, each of the others under its own
    name.
    """
    thin = result.thin
    if thin is None:
        return result
    gone = [name for name, _ in thin.untested]
    kept = [position for position, name in enumerate(result.names) if name not in gone]
    names = tuple(result.names[position] for position in kept)
    graphs = {
        value: Graph(
            names, result.graphs[value].endpoints[np.ix_(kept, kept)], result.graphs[value].kind
        )
        for value in thin.searched
    }
    searched = replace(result, names=names, contexts=thin.searched, graphs=graphs, thin=None)
    return with_answers(searched, answers_of(result))


def as_searched(result: ContextGraphs) -> ContextGraphs:
    """The same with the values called as the search called them, as a file keeps it."""
    searched = of_search(result)
    called = cell_values(searched.cells, searched.levels)
    graphs = dict(zip(called, searched.graphs.values(), strict=True))
    answers = answers_of(result).renamed({}, dict(zip(searched.contexts, called, strict=True)))
    return with_answers(replace(searched, contexts=called, graphs=graphs), answers)


def _placed(graph: Graph, names: tuple[str, ...]) -> Graph:
    """The graph over more variables, which have no links."""
    if graph.names == names:
        return graph
    places = [names.index(name) for name in graph.names]
    endpoints = np.zeros((len(names), len(names)), dtype=np.int8)
    endpoints[np.ix_(places, places)] = graph.endpoints
    return Graph(names, endpoints, graph.kind)


def why_no_changes(result: ContextGraphs, first: Any, second: Any) -> str:
    """The reason why nothing is compared between two values of the context; "" if both were
    searched.
    """
    if result.thin is None:
        return ""
    sentences = [
        f"context {value!r} has {row_words(count)}, too few to compare it with another"
        for value, count in result.thin.rows
        if _is_value(first, value) or _is_value(second, value)
    ]
    return "; ".join(sentences)


def _is_value(asked: Any, value: Any) -> bool:
    """True where a caller, who may pass anything, asks for a value of the context."""
    return bool(np.isscalar(asked) or isinstance(asked, tuple)) and bool(asked == value)
