"""The directed graphs that open edges leave, for all contexts at once.

A *family* is one directed acyclic graph per context. Families that a result leaves open have its
edges, its directions and no new collider; links at a context variable are the same in all graphs,
and a variable has the same causes in two contexts unless a context variable that differs between
them is one of its causes. For a context and three variables these are exactly the models with the
same independences, in all 2,553 cases (`tests/theory/test_effect_sets.py`).

Open edges that share a node, or that are the same pair in two contexts, depend on each other; they
make a *component*, and every component is listed by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import chain, islice, product
from sys import maxsize
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind, directed, marked
from causalcontext.graphs.paths import is_acyclic
from causalcontext.graphs.settings import (
    MOST_LISTING_STEPS,
    MOST_LOCAL_STEPS,
    MOST_OPEN_EDGES,
    STEPS_PER_TURN,
)
from causalcontext.kernels.arrays import Bools
from causalcontext.views import Contexts

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph

OpenEdge = tuple[int, int, int]
"""(graph, i, j) with i < j."""
Arrow = tuple[int, int, int]
"""(graph, cause, effect)"""
Ends = list[list[list[int]]]
"""The endpoints of all graphs."""
UndecidedTriple = tuple[int, int, int, int]
"""(graph, x, w, y) with x < y: x - w - y, x and y not adjacent, is a collider or not."""
NONE, TAIL, ARROW, CIRCLE = map(
    int, (Endpoint.NONE, Endpoint.TAIL, Endpoint.ARROW, Endpoint.CIRCLE)
)
"""Plain numbers, which are quicker to name in a search than members of an enum."""


class Family:
    """One directed graph per context, as far as it was asked for: `parents(graph, variable)`."""

    def __init__(
        self, settled: Sequence[Sequence[tuple[int, ...]]], more: Iterable[Arrow] = ()
    ) -> None:
        self._settled = settled
        self._more: dict[tuple[int, int], tuple[int, ...]] = {}
        for g, cause, effect in more:
            self._more[g, effect] = (*self._more.get((g, effect), ()), cause)

    def parents(self, graph: int, variable: int) -> tuple[int, ...]:
        """The causes of a variable in a graph, in order."""
        more = self._more.get((graph, variable))
        settled = self._settled[graph][variable]
        return settled if more is None else tuple(sorted((*settled, *more)))

    def ancestors(self, graph: int, variable: int) -> set[int]:
        """The variables that lead to a variable in a graph; the variable itself is one."""
        ancestors = {variable}
        frontier = [variable]
        while frontier:
            for parent in self.parents(graph, frontier.pop()):
                if parent not in ancestors:
                    ancestors.add(parent)
                    frontier.append(parent)
        return ancestors


class LocalFamilies(NamedTuple):
    """Families in which some edges are directed, and whether there are more of them than these."""

    families: tuple[Family, ...]
    cut: bool


class OpenGraphs:
    """The graphs of all contexts, and the families that their open edges leave.

    `endpoints` have shape (graphs, N, N). `undecided` are variables that have one of several
    causes, in all graphs the same; it is open which. `ruled_out` says whether new colliders are,
    and, where nothing is left, the next one holds; `triples` may be new colliders in any case.

    >>> from causalcontext.graphs.graph import Graph
    >>> chain = Graph.from_edges("XYZ", [("X", "Y", "o-o"), ("Y", "Z", "o-o")])
    >>> graphs = OpenGraphs(chain.endpoints[None], Contexts())
    >>> [[family.parents(0, v) for v in range(3)] for family in graphs.families([0]) or ()]
    [[(), (0,), (1,)], [(1,), (), (1,)], [(1,), (2,), ()]]
    """

    def __init__(
        self,
        endpoints: Endpoints,
        contexts: Contexts,
        undecided: Sequence[tuple[int, tuple[int, ...]]] = (),
        ruled_out: Sequence[bool] = (True,),
        triples: Collection[UndecidedTriple] = (),
    ) -> None:
        self.contexts = contexts
        self._ruled_out = ruled_out
        self._triples = frozenset(triples)
        self.endpoints = endpoints.copy() if undecided else endpoints
        for variable, causes in undecided:
            self.endpoints[:, list(causes), variable] = Endpoint.NONE
            self.endpoints[:, variable, list(causes)] = Endpoint.NONE
        self.components = tuple(_components(self.endpoints))
        self._listed: dict[int, tuple[tuple[Arrow, ...], ...] | None] = {}
        graphs = range(len(endpoints))
        settled = Family(self.settled)
        for variable, causes in undecided:
            ways: list[tuple[Arrow, ...]] = []
            for cause in causes:
                closes_a_cycle = any(variable in settled.ancestors(g, cause) for g in graphs)
                if not closes_a_cycle:
                    ways.append(tuple((g, cause, variable) for g in graphs))
            self._listed[len(self.components)] = tuple(ways)
            self.components += (tuple(edge for way in ways for edge in way),)
        self._families: dict[tuple[tuple[int, ...], int], tuple[Family, ...] | None] = {}
        self._local: dict[tuple[tuple[OpenEdge, ...], int], LocalFamilies] = {}
        self._turnings: dict[bool, _Turning] = {}

    @cached_property
    def settled(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The parents of every variable in every graph by the edges that have a direction."""
        links = directed(self.endpoints)
        return tuple(
            tuple(tuple(np.flatnonzero(into).tolist()) for into in graph.T) for graph in links
        )

    @cached_property
    def open_places(self) -> frozenset[tuple[int, int]]:
        """Every (graph, variable) with an open edge."""
        return frozenset(self._numbers_at)

    @cached_property
    def open_variables(self) -> frozenset[int]:
        """Every variable with an open edge in some graph."""
        return frozenset(v for _, v in self.open_places)

    @cached_property
    def _numbers_at(self) -> dict[tuple[int, int], set[int]]:
        """The numbers of the components with an edge at every (graph, variable)."""
        numbers: dict[tuple[int, int], set[int]] = {}
        for number, edges in enumerate(self.components):
            for g, *ends in edges:
                for v in ends:
                    numbers.setdefault((g, v), set()).add(number)
        return numbers

    def touching(self, places: Iterable[tuple[int, int]]) -> tuple[int, ...]:
        """The components with an edge at some (graph, variable)."""
        numbers = set[int]()
        for node in places:
            numbers.update(self._numbers_at.get(node, ()))
            if len(numbers) == len(self.components):
                break  # mostly at the first place: a graph that is left open is one component
        return tuple(sorted(numbers))

    def families(self, components: Sequence[int], limit: int = 1000) -> tuple[Family, ...] | None:
        """Every family, with the edges of some components directed; None if there are more than
        `limit`.

        The same question gives the same objects again.
        """
        key = (tuple(components), limit)
        if key not in self._families:
            self._families[key] = self._listed_families(components, limit)
        return self._families[key]

    def _listed_families(self, components: Sequence[int], limit: int) -> tuple[Family, ...] | None:
        """Every choice of one orientation for each component, as a family; None if there are more
        than `limit`.
        """
        listed = [self._orientations(number, limit) for number in components]
        choices = [orientations for orientations in listed if orientations is not None]
        number_of_families = np.prod([len(orientations) for orientations in choices], dtype=float)
        if len(choices) < len(listed) or number_of_families > limit:
            return None
        return tuple(
            Family(self.settled, chain.from_iterable(chosen)) for chosen in product(*choices)
        )

    def _orientations(self, number: int, limit: int) -> tuple[tuple[Arrow, ...], ...] | None:
        """The ways to direct all edges of a component; None if there are too many."""
        if number not in self._listed:
            for no_colliders in self._ruled_out:
                turning = self._turning(no_colliders)
                orientations = tuple(
                    islice(turning.orientations(self.components[number]), limit + 1)
                )
                too_many = len(orientations) > limit or turning.is_cut
                self._listed[number] = None if too_many else orientations
                if orientations:
                    break
        return self._listed[number]

    def _turning(self, no_colliders: bool) -> _Turning:
        """What directs edges, with all of them as they are: made once, since graphs may be wide."""
        if no_colliders not in self._turnings:
            self._turnings[no_colliders] = _Turning(
                self.endpoints, self.contexts, no_colliders, self._triples
            )
        self._turnings[no_colliders].start_again()
        return self._turnings[no_colliders]

    def closed(self, limit: int = 1000) -> Endpoints:
        """The endpoints with every direction that all families of a component have; one with too
        many stays open.
        """
        closed = self.endpoints.copy()
        for number in range(len(self.components)):
            listed = self._orientations(number, limit)
            if not listed:
                continue
            for g, cause, effect in set.intersection(*map(set, listed)):
                closed[g, cause, effect] = Endpoint.ARROW
                closed[g, effect, cause] = Endpoint.TAIL
        return closed

    def local(self, edges: Sequence[OpenEdge], limit: int = 1000) -> LocalFamilies:
        """The ways to direct some open edges, with what follows at once; other edges of their
        components stay open.

        Of every edge the way from its first end is tried first, and the last edges are turned
        first: of very many ways these are the ones that are listed. The same question gives the
        same objects again.
        """
        key = (tuple(edges), limit)
        if key not in self._local:
            share = MOST_LOCAL_STEPS // max(len(self.open_places), 1)
            turning = _Turning(
                self.endpoints, self.contexts, self._ruled_out[0], self._triples, share
            )
            orientations = tuple(islice(turning.orientations(edges), limit + 1))
            families = tuple(Family(self.settled, arrows) for arrows in orientations[:limit])
            self._local[key] = LocalFamilies(families, len(orientations) > limit or turning.is_cut)
        return self._local[key]


class _Turning:
    """Directs edges one after the other and takes them back, in lists: numbers of an array are slow
    to look at.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        contexts: Contexts,
        no_colliders: bool,
        triples: frozenset[UndecidedTriple],
        most_steps: int = MOST_LISTING_STEPS,
    ) -> None:
        self.contexts = contexts
        self._no_colliders = no_colliders
        self._triples = triples
        self.steps = 0
        self._most_steps = most_steps
        self._trail: list[Arrow] = []
        self._ends: Ends = endpoints.tolist()
        self._before: Ends = endpoints.tolist()
        graphs = range(len(endpoints))
        self._differing = [[contexts.differing(g, h) for h in graphs] for g in graphs]
        arcs = [directed(graph) for graph in endpoints]
        self._effects = [[set(np.flatnonzero(row).tolist()) for row in graph] for graph in arcs]
        self._causes = [[set(np.flatnonzero(row).tolist()) for row in graph.T] for graph in arcs]

    @property
    def is_cut(self) -> bool:
        """True if there were too many ways to try them all."""
        return self.steps > self._most_steps

    def orientations(self, edges: Sequence[OpenEdge]) -> Iterator[tuple[Arrow, ...]]:
        """Every way to direct the edges: no new collider, no cycle, and graphs that agree."""
        left = (number for number, (g, i, j) in enumerate(edges) if self._ends[g][i][j] == CIRCLE)
        first = next(left, None)
        if first is None:
            yield tuple(sorted(self._trail))
            return
        if len(edges) > MOST_OPEN_EDGES and 1 + sum(1 for _ in left) > MOST_OPEN_EDGES:
            self.steps = self._most_steps + 1
            return
        g, i, j = edges[first]
        for a, b in ((i, j), (j, i)):
            mark = len(self._trail)
            self.steps += STEPS_PER_TURN
            if self.is_cut:
                return
            if self._direct((g, a, b)):
                yield from self.orientations(edges[first + 1 :])
            self._take_back(mark)

    def start_again(self) -> None:
        """Take all arrows back, and count steps anew."""
        self._take_back(0)
        self.steps = 0

    def _take_back(self, mark: int) -> None:
        """Take the last arrows back, all but some."""
        while len(self._trail) > mark:
            h, c, d = self._trail.pop()
            self._ends[h][c][d] = self._ends[h][d][c] = CIRCLE
            self._effects[h][c].discard(d)
            self._causes[h][d].discard(c)

    def _direct(self, arrow: Arrow) -> bool:
        """Direct an edge and those that follow in other graphs; False if that is impossible, or
        takes too long.
        """
        queue = [arrow]
        while queue:
            if self.is_cut:
                return False  # the other way to direct the edge would not be tried anyway
            g, a, b = queue.pop()
            ends = self._ends[g]
            if ends[a][b] != CIRCLE:
                if ends[a][b] == TAIL:
                    return False
                continue
            ends[a][b] = ARROW
            ends[b][a] = TAIL
            self._effects[g][a].add(b)
            self._causes[g][b].add(a)
            self._trail.append((g, a, b))
            if self._makes_collider(g, a, b) or self._reaches(g, b, a):
                return False  # a new collider that is no open question, or a cycle
            for affected in self._affected(g, a, b):
                copies = self._copies(*affected)
                if copies is None:
                    return False
                queue += copies
        return True

    def _makes_collider(self, g: int, a: int, b: int) -> bool:
        """True if a --> b makes a new collider that is ruled out and no open question."""
        if not self._no_colliders:
            return False
        ends_at_a = self._ends[g][a]
        for c in self._causes[g][b]:
            apart = c != a and ends_at_a[c] == NONE
            if apart and (g, min(a, c), b, max(a, c)) not in self._triples:
                return True
        return False

    def _affected(self, g: int, a: int, b: int) -> list[Arrow]:
        """The new arrow; where it makes a variable a cause of a context, all arrows at that
        variable.
        """
        affected = [(g, a, b)]
        if b not in self.contexts.positions or a in self.contexts.positions:
            return affected
        others = [c for c in range(len(self._ends[g])) if c not in self.contexts.positions]
        for h, ends in enumerate(self._ends):
            affected += [(h, a, c) for c in others if ends[a][c] == ARROW]
            affected += [(h, c, a) for c in others if ends[c][a] == ARROW]
        return affected

    def _copies(self, g: int, a: int, b: int) -> list[Arrow] | None:
        """The arrows that a --> b in one graph asks of the others; None if one of them cannot have
        it.
        """
        ends = self._ends
        self.steps += len(ends)
        others = [h for h in range(len(ends)) if h != g]
        if a in self.contexts.positions or b in self.contexts.positions:
            return [(h, a, b) for h in others if ends[h][a][b]]
        copies = []
        asked = dict[tuple[int, ...], tuple[bool, bool]]()
        for h in others:
            differing = self._differing[g][h]
            if differing not in asked:  # in most of the graphs the same
                same = _unchanged(ends[g], b, differing)
                a_never = _unchanged(self._before[g], a, differing)
                never = a_never and _unchanged(self._before[g], b, differing)
                asked[differing] = (same or _unchanged(ends[g], a, differing), same and not never)
            copied, proof = asked[differing]
            if copied and ends[h][a][b]:
                copies.append((h, a, b))
            elif copied and proof:
                # if neither end could ever change, the missing edge would prove nothing
                return None
        return copies

    def _reaches(self, g: int, start: int, goal: int) -> bool:
        """True if arrows lead from one variable to another."""
        effects = self._effects[g]
        met = {start}
        frontier = [start]
        while frontier:
            following = effects[frontier.pop()]
            if goal in following:
                return True
            frontier += following - met
            met |= following
        return False


def _unchanged(ends: list[list[int]], v: int, contexts: tuple[int, ...]) -> bool:
    """True if none of these context variables can cause a variable, by the endpoints of a graph."""
    return all(ends[c][v] in (NONE, TAIL) for c in contexts)


def _components(endpoints: Endpoints) -> Iterator[tuple[OpenEdge, ...]]:
    """The open edges in groups that depend on each other, neighbours next to each other."""
    edges = [(int(g), int(i), int(j)) for g, i, j in np.argwhere(np.triu(marked(endpoints, "o-o")))]
    at: dict[tuple[int, ...], list[OpenEdge]] = {}
    for edge in edges:
        for key in _shared_with(edge):
            at.setdefault(key, []).append(edge)
    left = dict.fromkeys(edges)
    while left:
        connected = [next(iter(left))]  # in the order in which they are met
        left.pop(connected[0])
        for edge in connected:
            for key in _shared_with(edge):
                for other in at[key]:
                    if other in left:
                        left.pop(other)
                        connected.append(other)
        yield tuple(connected)


def _shared_with(edge: OpenEdge) -> tuple[tuple[int, ...], ...]:
    """The nodes of an edge in its graph, and its pair in any graph: edges that share one depend on
    each other.
    """
    g, i, j = edge
    return (g, i), (g, j), (-1, i, j)


def has_extension(endpoints: Endpoints) -> bool:
    """True if a directed acyclic graph has the edges and directions of a CPDAG
    and no new collider.
    """
    return extension(endpoints) is not None


def extension(endpoints: Endpoints) -> Bools | None:
    """The links of a directed acyclic graph with the edges and directions of a CPDAG and no new
    collider; or None.

    By Dor and Tarsi (1992): a variable is last in such a graph if it causes nothing and its
    undirected neighbours are adjacent to all of its neighbours; it is taken away, and so on. A
    variable that may go now may go later, so that only neighbours of one that went are looked at.
    """
    near = [set(np.flatnonzero(row).tolist()) for row in endpoints != Endpoint.NONE]
    effects = [set(np.flatnonzero(row).tolist()) for row in directed(endpoints)]
    loose = [set(np.flatnonzero(row).tolist()) for row in marked(endpoints, "o-o")]
    links = np.zeros(endpoints.shape, dtype=np.bool_)

    def may_go(v: int) -> bool:
        """True if a variable causes nothing that is left, and would be no new collider."""
        return not effects[v] and all(near[v] - {u} <= near[u] for u in loose[v])

    ready = [v for v in range(len(near)) if may_go(v)]
    waiting = set(range(len(near))).difference(ready)
    for _ in range(len(near)):
        if not ready:
            return None
        last = heappop(ready)
        links[sorted(near[last]), last] = True
        for u in near[last]:
            for others in (near[u], effects[u], loose[u]):
                others.discard(last)
        for u in sorted(near[last] & waiting):
            if may_go(u):
                waiting.discard(u)
                heappush(ready, u)
    return links


def to_dag(graph: Graph) -> Graph:
    """The graph itself if it is directed and acyclic.

    Raises
    ------
    OptionError
        An edge has no direction, or directed edges form a cycle; the message names it and says what
        to do.

    Examples
    --------
    >>> from causalcontext.graphs.graph import Graph
    >>> to_dag(Graph.from_edges("XYZ", [("X", "Y", "-->"), ("Y", "Z", "o-o")]))
    Traceback (most recent call last):
        ...
    causalcontext.errors.OptionError: 'Y o-o Z' is undirected; to_dags() lists the directed graphs
    that are possible
    """
    _check_cpdag(graph)
    for edge in graph.edges:
        if edge.mark == "o-o":
            raise OptionError(
                f"'{edge}' is undirected; to_dags() lists the directed graphs that are possible"
            )
    if not is_acyclic(directed(graph.endpoints)):
        raise OptionError(
            "directed edges form a cycle, so there is no directed acyclic graph with these edges"
        )
    return graph


def to_dags(graph: Graph, limit: int = 1000) -> tuple[Graph, ...]:
    """Every directed acyclic graph with the same edges, the given directions, and no new collider.

    Raises
    ------
    OptionError
        There are more than `limit` of them, or none, or an edge is in conflict.

    Examples
    --------
    >>> from causalcontext.graphs.graph import Graph
    >>> dags = to_dags(Graph.from_edges("XYZ", [("X", "Y", "o-o"), ("Y", "Z", "o-o")]))
    >>> [str(dag).replace("\\n", ", ") for dag in dags]
    ['X --> Y, Y --> Z', 'Y --> X, Y --> Z', 'Y --> X, Z --> Y']
    """
    _check_cpdag(graph)
    dags: list[Graph] = []
    turning = _Turning(graph.endpoints[None], Contexts(), True, frozenset(), most_steps=maxsize)
    edges = [(0, i, j) for i, j in np.argwhere(np.triu(marked(graph.endpoints, "o-o"))).tolist()]
    listed = turning.orientations(edges) if is_acyclic(directed(graph.endpoints)) else ()
    for arrows in listed:
        endpoints = graph.endpoints.copy()
        for _, cause, effect in arrows:
            endpoints[cause, effect] = Endpoint.ARROW
            endpoints[effect, cause] = Endpoint.TAIL
        dags.append(graph.replaced(endpoints=endpoints))
        if len(dags) > limit:
            raise OptionError(
                f"the graph represents more than {limit} directed acyclic graphs; add knowledge, or"
                " raise the limit"
            )
    if turning.is_cut:
        raise OptionError(
            f"the graph has {len(edges)} edges without a direction, more than the"
            f" {MOST_OPEN_EDGES} that can be directed in every way; add knowledge"
        )
    if not dags:
        raise OptionError(
            "no directed acyclic graph has these edges and directions without a new collider"
        )
    return tuple(dags)


def _check_cpdag(graph: Graph) -> None:
    """Return if the graph can stand for directed acyclic graphs over its variables."""
    if graph.kind is GraphKind.PAG:
        raise OptionError(
            "a PAG allows for hidden variables, so it represents no directed acyclic graphs over"
            " the observed ones"
        )
    for edge in graph.edges:
        if edge.mark not in ("-->", "o-o"):
            raise OptionError(
                f"'{edge}' contradicts every directed acyclic graph; take the graph of one context,"
                " or settle the edge by knowledge"
            )
