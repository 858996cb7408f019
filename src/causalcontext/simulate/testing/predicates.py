"""Does a system meet the paper's assumptions (Sec. 3.3, App. "Details on sufficiency conditions"), and if not, why?

Every predicate takes the true graphs of a system and returns a `Assumption`, which is true or false and says why.

>>> from causalcontext.simulate.examples import named_model
>>> print(single_graph_sufficiency(named_model("example-ii").truth()))
no: for R = 0, T --> Y is in the physical graph and not in the descriptive graph
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from causalcontext.graphs import paths
from causalcontext.graphs.endpoints import causes
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.paths import is_d_separated
from causalcontext.simulate.testing.discrete import DiscreteModel
from causalcontext.simulate.truth import Truth


@dataclass(frozen=True)
class Assumption:
    """Whether an assumption holds, and what speaks against it."""

    holds: bool
    why: str

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return f"{'yes' if self.holds else 'no'}: {self.why}"


def weak_context_sufficiency(truth: Truth) -> Assumption:
    """The parents of a variable that is no child of the context are those of the union in every context."""
    children = causes(truth.union.endpoints)[truth.union.position(truth.context)]
    for level, graph in truth.descriptive.items():
        for name, is_child in zip(truth.union.names, children, strict=True):
            lost = _parents(truth.union, name) - _parents(graph, name)
            if lost and not is_child and name != truth.context:
                link = f"{min(lost)} --> {name}"
                return Assumption(False, f"{link} is absent for {truth.context} = {level}, and {name} is no child of "
                                      f"{truth.context}")  # fmt: skip
    return Assumption(True, f"every variable whose parents change is a child of {truth.context}")


def single_graph_sufficiency(truth: Truth) -> Assumption:
    """The descriptive, physical and counterfactual graphs of every context agree, so changes are physical."""
    kinds = {"physical": truth.physical, "descriptive": truth.descriptive, "counterfactual": truth.counterfactual}
    for (one, first), (other, second) in combinations(kinds.items(), 2):
        for level in truth.contexts:
            for edge in _difference(first[level], second[level]):
                return Assumption(False, f"for {truth.context} = {level}, {edge} is in the {one} graph and not in the "
                                      f"{other} graph")  # fmt: skip
            for edge in _difference(second[level], first[level]):
                return Assumption(False, f"for {truth.context} = {level}, {edge} is in the {other} graph and not in "
                                         f"the {one} graph")  # fmt: skip
    return Assumption(True, "the descriptive, physical and counterfactual graphs of every context agree")


def weak_context_acyclicity(truth: Truth) -> Assumption:
    """The descriptive graph of every context is acyclic."""
    for level, graph in truth.descriptive.items():
        cycle = shortest_cycle(graph)
        if cycle:
            return Assumption(False, f"for {truth.context} = {level} there is the cycle {_arrows(cycle)}")
    return Assumption(True, "the graph of every context is acyclic")


def strong_context_acyclicity(truth: Truth) -> Assumption:
    """Besides, no cycle of the union meets the context or one of its ancestors."""
    weak = weak_context_acyclicity(truth)
    if not weak:
        return weak
    links = causes(truth.union.endpoints)
    context = truth.union.position(truth.context)
    upstream = paths.ancestors(links, context)
    upstream[context] = True
    cycle = paths.shortest_cycle(links & upstream[:, None] & upstream)
    if cycle:
        names = [truth.union.names[node] for node in cycle]
        return Assumption(
            False, f"the union has the cycle {_arrows(tuple(names))} through {truth.context} or its ancestors"
        )
    return Assumption(True, f"every context is acyclic, and no union cycle meets {truth.context} or its ancestors")


def short_union_cycles(truth: Truth) -> Assumption:
    """Every cycle of the union is a link that is reversed between contexts, as Theorem 1 asks."""
    links = causes(truth.union.endpoints)
    for a, b in np.argwhere(links):
        without = links.copy()
        without[b, a] = False
        back = paths.shortest_path(without, int(b), int(a))
        if back:
            names = tuple(truth.union.names[node] for node in back)
            return Assumption(False, f"the union has the cycle {_arrows(names)} of length {len(names)}")
    flips = int((links & links.T).sum()) // 2
    return Assumption(True, f"the union has {flips} reversed link{'' if flips == 1 else 's'} and no longer cycle")


def r_faithfulness(model: DiscreteModel) -> Assumption:
    """Lemma "faithful": every independence of the joint, and of the rows R = r, is a separation in the graph of r.

    Exact, by going through all pairs and sets; meant for a handful of variables.
    """
    for level, links in enumerate(model.adjacency):
        inside = links.copy()
        inside[model.context] = inside[:, model.context] = False
        for x, y, given in _questions(range(len(model.names))):
            if model.independent(x, y, given) and not is_d_separated(links, x, y, given):
                return Assumption(False, _unfaithful(model, x, y, given, level, ""))
        system = [node for node in range(len(model.names)) if node != model.context]
        where = ((model.context, level),)
        for x, y, given in _questions(system):
            if model.independent(x, y, given, where) and not is_d_separated(inside, x, y, given):
                rows = f" among the rows {model.names[model.context]} = {level}"
                return Assumption(False, _unfaithful(model, x, y, given, level, rows))
    return Assumption(True, "every independence is a separation in every context graph")


def shortest_cycle(graph: Graph) -> tuple[str, ...]:
    """The variables of a shortest directed cycle, in its order; empty if there is none."""
    return tuple(graph.names[node] for node in paths.shortest_cycle(causes(graph.endpoints)))


def _questions(nodes: Any) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    for x, y in combinations(nodes, 2):
        rest = [node for node in nodes if node not in (x, y)]
        for size in range(len(rest) + 1):
            for given in combinations(rest, size):
                yield x, y, given


def _unfaithful(model: DiscreteModel, x: int, y: int, given: tuple[int, ...], level: int, rows: str) -> str:
    condition = f" given {', '.join(model.names[z] for z in given)}" if given else ""
    names = model.names
    return (f"{names[x]} and {names[y]} are independent{condition}{rows}, and not separated in the graph of "
            f"{names[model.context]} = {level}")  # fmt: skip


def _parents(graph: Graph, name: str) -> set[str]:
    return {graph.names[cause] for cause in np.flatnonzero(causes(graph.endpoints)[:, graph.position(name)])}


def _difference(first: Graph, second: Graph) -> Iterator[str]:
    """The links of the first graph that the second lacks."""
    for cause, effect in np.argwhere(causes(first.endpoints) & ~causes(second.endpoints)):
        yield f"{first.names[cause]} --> {first.names[effect]}"


def _arrows(cycle: tuple[str, ...]) -> str:
    """A cycle in words, from its first name in the alphabet on."""
    start = cycle.index(min(cycle))
    return " --> ".join((*cycle[start:], *cycle[: start + 1]))
