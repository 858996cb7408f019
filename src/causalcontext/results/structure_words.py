"""The reasons why a link is missing, by the structure of the graph: blocked paths, and paths that
conditioning opens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.errors import listed
from causalcontext.graphs.dags import extension
from causalcontext.graphs.endpoints import directed, marked
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import split
from causalcontext.graphs.paths import ancestors, descendants, is_d_separated
from causalcontext.kernels.arrays import Bools
from causalcontext.results.series import context_nodes
from causalcontext.results.settings import KEPT_GRAPHS, MOST_SEPARATORS_NAMED

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


def missing_link_words(result: ContextGraphs, x: str, y: str, context_index: int) -> str:
    """A sentence about the separation of two variables without a link in the graph of one context;
    "" where the graph does not say.

    The graphs are those of the table as it is: a variable that is a function of another one has no
    structure of its own.
    """
    graph = result.graphs[result.contexts[context_index]]
    links = directed_form(graph)
    if links is None or {x, y} & result.made_of.keys():
        return ""
    if result.series is not None:
        return _over_time(result, graph, links, x, y)
    a = result.position(x)
    b = result.position(y)
    contexts = sorted({*result.cells.positions} - {a, b})
    given = separating_set(links, a, b, contexts)
    if given is None:
        return ""
    opened = [
        z for z in contexts if z not in given and not is_d_separated(links, a, b, (*given, z))
    ]
    if given:
        return _blocked_words(graph, given, opened)
    if not opened:
        return (
            "no path between them is open: neither acts on the other, and they have no common cause"
        )
    return _opened_words(result, graph, a, b, opened)


def _blocked_words(graph: Graph, given: Sequence[int], opened: Sequence[int]) -> str:
    """The sentence about a pair that a set separates; `opened` are contexts that link it again."""
    blocked = f"every path between them is blocked by {_named(graph, given)}"
    if not opened:
        return blocked
    return f"{blocked}, and one is opened by conditioning on {_named(graph, opened)} as well"


def _opened_words(
    result: ContextGraphs, graph: Graph, a: int, b: int, opened: Sequence[int]
) -> str:
    """The sentence about a pair without a common cause that conditioning on contexts links."""
    names = _named(graph, opened)
    whole = directed_form(result.union)
    is_independent = whole is not None and is_d_separated(whole, a, b, ())
    overall = "independent overall, but " if is_independent else ""
    within = f"{graph.names[a]} and {graph.names[b]} are {overall}dependent within contexts, since"
    verb = _both_verb(graph, a, b, opened)
    if not verb:
        return f"{within} conditioning on {names} links them"
    effect = "a common effect links its" if len(opened) == 1 else "common effects links their"
    return f"{within} both {verb} {names} and conditioning on {effect} causes"


def _named(graph: Graph, positions: Sequence[int]) -> str:
    """The names of some variables in words."""
    return listed([graph.names[z] for z in positions], most=MOST_SEPARATORS_NAMED)


def _over_time(result: ContextGraphs, graph: Graph, links: Bools, x: str, y: str) -> str:
    """The same over time, where the causes of the first row of a window are not known: given all
    its causes, a variable depends on nothing but its effects.

    Where the context is an effect of the later variable, its rows are chosen by that effect: the
    sentence says which path this opens, and nothing is said if the window shows none, since one
    may run through earlier rows.
    """
    earlier, later = (result.position(name) for name in (x, y))
    if split(y)[1] > split(x)[1] or (
        split(x)[1] == split(y)[1] and ancestors(links, earlier)[later]
    ):
        earlier, later = later, earlier
    if split(graph.names[later])[1]:
        return ""
    causes = np.flatnonzero(links[:, later]).tolist()
    below = descendants(links, later)
    choosing = [z for z in context_nodes(result) if below[z]]
    if choosing and is_d_separated(links, later, earlier, (*causes, *choosing)):
        return ""
    names = listed([graph.names[cause] for cause in causes], most=MOST_SEPARATORS_NAMED)
    blocked = (
        f"every path between them is blocked by {names}"
        if causes
        else f"no path between them is open: nothing acts on {graph.names[later]}"
    )
    if not choosing:
        return blocked
    effects = listed([graph.names[z] for z in choosing], most=MOST_SEPARATORS_NAMED)
    return f"{blocked}, and one is opened by conditioning on {effects} as well"


@lru_cache(maxsize=KEPT_GRAPHS)
def directed_form(graph: Graph) -> Bools | None:
    """The links of a directed acyclic graph with the same separations; None where no such graph is
    meant.
    """
    known = directed(graph.endpoints)
    plain = known | known.T | marked(graph.endpoints, "o-o")
    return extension(graph.endpoints) if np.array_equal(plain, graph.adjacency) else None


def separating_set(
    links: Bools, x: int, y: int, contexts: Collection[int] = ()
) -> tuple[int, ...] | None:
    """A set without a member too many that blocks every path of an acyclic graph; None of two
    variables with a link.

    Of members that could replace each other contexts are kept, since they are what rows are told
    apart by.

    >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> separating_set(chain, 0, 2), separating_set(chain, 0, 1)
    ((1,), None)
    """
    if links[x, y] or links[y, x]:
        return None
    candidates: Iterable[list[int]] = (
        [],
        *(np.flatnonzero(links[:, end]).tolist() for end in (x, y)),
    )
    for candidate in candidates:
        if is_d_separated(links, x, y, candidate):
            kept = candidate
            for z in sorted(candidate, key=lambda z: (z in contexts, z)):
                without = [other for other in kept if other != z]
                if is_d_separated(links, x, y, without):
                    kept = without
            return tuple(kept)
    return None


def _both_verb(graph: Graph, x: int, y: int, effects: Collection[int]) -> str:
    """The verb for two variables that both act on some effects: "cause" or "lead to"; "" if not
    both act on each of them for certain.
    """
    causes = directed(graph.endpoints)
    if all(causes[x, z] and causes[y, z] for z in effects):
        return "cause"
    return (
        "lead to"
        if all(above[x] and above[y] for above in (ancestors(causes, z) for z in effects))
        else ""
    )
