"""The two endpoints of an edge, and how the edge is written.

`endpoints[i, j]` is the endpoint AT j of the edge between i and j: `i --> j` has an arrow at `[i,
j]` and a tail at `[j, i]`. Functions of endpoints take arrays of shape (..., N, N); leading axes
are graphs.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from itertools import product

import numpy as np
from numpy.typing import NDArray

from causalcontext.errors import DataError
from causalcontext.kernels.arrays import Bools
from causalcontext.progress import ArrayEnumType

Endpoints = NDArray[np.int8]


class Endpoint(IntEnum, metaclass=ArrayEnumType):
    """One endpoint of an edge. `MIXED` is for unions: a tail in one context and an arrow in
    another.
    """

    NONE = 0
    TAIL = 1
    ARROW = 2
    CIRCLE = 3
    CONFLICT = 4
    MIXED = 5


class GraphKind(StrEnum):
    """The kinds of graphs, by the models that they stand for.

    A CPDAG leaves directed acyclic graphs open: `o-o` is a cause either way. In a PAG (partial
    ancestral graph) some variables may be hidden: an arrow says "no cause of the other", a tail "a
    cause of the other, perhaps through more", and a circle that neither is known.
    """

    CPDAG = "cpdag"
    PAG = "pag"


_WRITTEN = {
    Endpoint.TAIL: "--",
    Endpoint.ARROW: "<>",
    Endpoint.CIRCLE: "oo",
    Endpoint.CONFLICT: "xx",
    Endpoint.MIXED: "++",
}
"""The letters of an endpoint on the left and on the right of an edge."""

MARK_OF_ENDPOINTS: dict[tuple[Endpoint, Endpoint], str] = (
    {(Endpoint.NONE, Endpoint.NONE): ""}
    | {(x, y): f"{_WRITTEN[x][0]}-{_WRITTEN[y][1]}" for x, y in product(_WRITTEN, repeat=2)}
    | {(Endpoint.MIXED, Endpoint.MIXED): "<=>"}
)
"""The mark of an edge between x and y, read from x to y, by the endpoint at x and the endpoint at
y.
"""

ENDPOINTS_OF_MARK = {mark: endpoints for endpoints, mark in MARK_OF_ENDPOINTS.items()}
_MARK_OF_CODES = np.array(
    [[MARK_OF_ENDPOINTS.get((x, y), "") for y in Endpoint] for x in Endpoint], dtype=object
)


def endpoints_of_mark(mark: str) -> tuple[Endpoint, Endpoint]:
    """The endpoints at x and at y of an edge with this mark, read from x to y.

    >>> [end.name for end in endpoints_of_mark("o->")]
    ['CIRCLE', 'ARROW']
    """
    if mark not in ENDPOINTS_OF_MARK:
        raise DataError(
            f"there is no mark {mark!r}, expected two endpoints such as '-->', 'o-o', 'o->' or"
            " '<->'"
        )
    return ENDPOINTS_OF_MARK[mark]


def mark_of(endpoints: Endpoints, i: int, j: int) -> str:
    """The mark of one edge as text, read from i to j; empty where there is none."""
    return MARK_OF_ENDPOINTS[Endpoint(endpoints[j, i]), Endpoint(endpoints[i, j])]


def mark_texts(endpoints: Endpoints) -> NDArray[np.object_]:
    """The mark of every ordered pair as text, read from i to j."""
    return np.asarray(_MARK_OF_CODES[_at_first(endpoints), endpoints])


def adjacent(endpoints: Endpoints) -> Bools:
    """True where there is an edge."""
    return np.asarray(endpoints != Endpoint.NONE)


def marked(endpoints: Endpoints, mark: str) -> Bools:
    """True where the edge from i to j has this mark."""
    first, second = ENDPOINTS_OF_MARK[mark]
    return np.asarray((endpoints == second) & (_at_first(endpoints) == first))


def directed(endpoints: Endpoints) -> Bools:
    """True where i --> j."""
    return marked(endpoints, "-->")


def causes(endpoints: Endpoints) -> Bools:
    """True where i --> j, or i --> j in one context and j --> i in another."""
    return directed(endpoints) | marked(endpoints, "<=>")


def may_cause(endpoints: Endpoints) -> Bools:
    """True where there is an edge without an arrow at i: nothing says that i is no cause of j."""
    return np.asarray(adjacent(endpoints) & (_at_first(endpoints) != Endpoint.ARROW))


def endpoints_of_arcs(arcs: Bools, both: Endpoint = Endpoint.CIRCLE) -> Endpoints:
    """The endpoints of graphs with i --> j where only an arc from i to j exists, and `both` where
    arcs go both ways.
    """
    back = arcs.swapaxes(-1, -2)
    return np.select(
        [arcs & back, arcs, back], [both, Endpoint.ARROW, Endpoint.TAIL], Endpoint.NONE
    ).astype(np.int8)


def as_written(endpoints: Endpoints, i: int, j: int) -> tuple[int, int]:
    """The edge between i and j as it is written: towards the arrow, if it has just one."""
    return (
        (j, i)
        if endpoints[j, i] == Endpoint.ARROW and endpoints[i, j] != Endpoint.ARROW
        else (i, j)
    )


def arcs_of_edge(source: str, target: str, mark: str) -> list[tuple[str, str, str]]:
    """A directed edge along its one arc, any other along both, with the mark read along the arc."""
    if mark == "-->":
        return [(source, target, mark)]
    first, second = endpoints_of_mark(mark)
    return [(source, target, mark), (target, source, MARK_OF_ENDPOINTS[second, first])]


def kind_of_marks(
    marks: Iterable[str], kind: str | None, pag_circles: tuple[int, ...] = (1,)
) -> str:
    """The kind that was asked for; without one, "pag" if an edge has so many circles as no CPDAG
    has.
    """
    if kind is not None:
        return kind
    return (
        GraphKind.PAG if any(mark.count("o") in pag_circles for mark in marks) else GraphKind.CPDAG
    )


def _at_first(endpoints: Endpoints) -> Endpoints:
    return endpoints.swapaxes(-1, -2)
