"""Random families of linear context graphs: one base graph, edited for every context (App. data
generation).

A graph is drawn together with its coefficients: `coefficients[i, j]` is the effect of `i` on `j`, 0
without a link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from causalcontext.errors import OptionError, check_choice
from causalcontext.graphs.paths import ancestors, is_acyclic
from causalcontext_lab.arrays import Bools, Floats
from causalcontext_lab.simulate.truth import shortest_union_cycle

COEFFICIENTS = (-1.8, -1.5, -1.2, 1.2, 1.5, 1.8)
EDITS = ("add", "remove", "flip")


def edit_parent(
    edit: str,
    current: Floats,
    free: Bools,
    node: int,
    law: Sequence[float],
    generator: np.random.Generator,
) -> Floats | None:
    """The coefficients after an edit at a node, None if the node has no link for it."""
    # With "add" the node has a new parent, among the nodes it had no link with; with "remove" it
    # has lost one of its parents; with "flip" one of them has become its child, with the same
    # coefficient. `free` are the pairs that the edit may touch, `law` the values that a new link
    # may have.
    linked = current[:, node] != 0
    candidates = ~linked & (current[node] == 0) if edit == "add" else linked
    positions = np.flatnonzero(free[:, node] & candidates)
    if not positions.size:
        return None
    parent = positions[generator.integers(positions.size)]
    edited = current.copy()
    edited[parent, node] = generator.choice(law) if edit == "add" else 0.0
    if edit == "flip":
        edited[node, parent] = current[parent, node]
    return edited


PROPOSALS = 10
"""Tries for one edit, and for one context graph, before its base graph is given up (the paper's
number).
"""
BASE_GRAPHS = 1000
"""Base graphs tried before a design is called impossible."""


class Rejection(StrEnum):
    """Why a proposal was turned down."""

    NOTHING_TO_EDIT = "the drawn node has no link for the drawn edit"
    UPSTREAM = "the edit would make the context a cause of its own ancestor"
    CONTEXT_CYCLE = "the edited graph has a cycle"
    UNION_CYCLE = "the union graph would have a cycle"
    SAME_GRAPH = "two contexts would have the same graph"
    NO_UNION_CYCLE = "the union graph has no cycle"
    CYCLE_LENGTH = "the shortest cycle of the union graph has another length"
    GIVEN_UP = "proposals ran out: a new base graph was drawn"


@dataclass(frozen=True)
class ModelDesign:
    """What kind of family to draw; the meaning of every entry is that of `random_model`."""

    nodes: int = 8
    density: float = 0.4
    contexts: int = 2
    changes: int = 1
    edits: tuple[str, ...] = ("remove",)
    cycles: str = "exclude"
    cycle_length: int | None = None
    exogenous: bool = False
    coefficients: tuple[float, ...] = COEFFICIENTS
    added_coefficients: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("edits", "coefficients"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for edit in self.edits:
            check_choice("an entry of edits", edit, EDITS)
        check_choice("cycles", self.cycles, ("exclude", "enforce", "any"))
        if self.nodes < 2 or self.contexts < 2 or self.changes < 1 or not 0 < self.density <= 1:
            raise OptionError(
                "a design needs nodes >= 2, contexts >= 2, changes >= 1 and 0 < density <= 1;"
                f" found {self.nodes}, {self.contexts}, {self.changes}, {self.density}"
            )
        needed = {"exclude": ("add", "remove"), "enforce": ("add", "flip"), "any": EDITS}[
            self.cycles
        ]
        if not any(edit in needed for edit in self.edits):
            raise OptionError(
                f"cycles={self.cycles!r} needs one of {needed} in edits, found {self.edits}"
            )
        if self.cycle_length is not None and (
            self.cycles != "enforce" or not 2 <= self.cycle_length < self.nodes
        ):
            raise OptionError(
                f"cycle_length is {self.cycle_length}; it needs cycles='enforce' and a length from"
                " 2 to one less than the number of nodes"
            )
        if not self.coefficients or 0.0 in (*self.coefficients, *self.added_coefficients):
            raise OptionError(
                "coefficients must be some numbers other than 0: a link has an effect"
            )


@dataclass(frozen=True, eq=False)
class DrawnGraphs:
    """An accepted draw."""

    context: int  # the node that is the context variable
    order: tuple[int, ...]  # a causal order of the base graph
    # shape (nodes, nodes): linear effects of the base graph, without those of the context variable
    base: Floats
    # shape (contexts, nodes, nodes): linear effects in every context; the context variable has
    # parents, but no linear effect
    coefficients: Floats
    rejections: Mapping[Rejection, int]  # how many proposals were turned down on the way, by reason


def random_family(design: ModelDesign, generator: np.random.Generator) -> DrawnGraphs:
    """A family of context graphs, pairwise different, that meets the paper's assumptions and the
    design.
    """
    totals: Counter[Rejection] = Counter()
    for _ in range(BASE_GRAPHS):
        order, base = random_base(design.nodes, design.density, generator, design.coefficients)
        context = int(generator.integers(design.nodes))
        base[context, :] = 0.0
        if design.exogenous:
            base[:, context] = 0.0
        coefficients = _edited_contexts(base, context, design, generator, totals)
        if coefficients is None:
            totals[Rejection.GIVEN_UP] += 1
            continue
        length = (
            int(shortest_union_cycle(np.asarray(coefficients != 0)))
            if design.cycles == "enforce"
            else None
        )
        if length == 0:
            totals[Rejection.NO_UNION_CYCLE] += 1
        elif length is not None and design.cycle_length not in (None, length):
            totals[Rejection.CYCLE_LENGTH] += 1
        else:
            return DrawnGraphs(context, order, base, coefficients, dict(totals))
    counts = "; ".join(f"{reason}: {count}" for reason, count in totals.most_common())
    raise OptionError(
        f"no model of {design} in {BASE_GRAPHS} base graphs ({counts}); allow more kinds of edits,"
        " fewer changes or contexts, or another density"
    )


def link_count(nodes: int, density: float) -> int:
    """The number of links of a base graph: the share `density` of all pairs, rounded down."""
    return int(np.floor(density * (nodes * (nodes - 1) // 2) + 1e-9))


def random_base(
    nodes: int, density: float, generator: np.random.Generator, law: Sequence[float] = COEFFICIENTS
) -> tuple[tuple[int, ...], Floats]:
    """A random causal order, and `link_count` links along it with random coefficients."""
    order = generator.permutation(nodes)
    earlier, later = np.triu_indices(nodes, k=1)
    chosen = generator.choice(earlier.size, size=link_count(nodes, density), replace=False)
    coefficients = np.zeros((nodes, nodes))
    links = (order[earlier[chosen]], order[later[chosen]])
    coefficients[links] = generator.choice(law, size=chosen.size)
    return tuple(order.tolist()), coefficients


def _edited_contexts(
    base: Floats,
    context: int,
    design: ModelDesign,
    generator: np.random.Generator,
    totals: Counter[Rejection],
) -> Floats | None:
    """One edited copy of the base graph per context, pairwise different; None if proposals ran
    out.
    """
    accepted: list[Floats] = []
    for _ in range(PROPOSALS * design.contexts):
        so_far = np.any([other != 0 for other in (base, *accepted)], axis=0)
        edited: Floats | None = base
        for _ in range(design.changes):
            if edited is not None:
                edited = _edited_once(base, edited, context, design, so_far, generator, totals)
        if edited is None:
            return None
        if any(np.array_equal(edited != 0, other != 0) for other in accepted):
            totals[Rejection.SAME_GRAPH] += 1
            continue
        accepted.append(edited)
        if len(accepted) == design.contexts:
            return np.stack(accepted)
    return None


def _edited_once(
    base: Floats,
    current: Floats,
    context: int,
    design: ModelDesign,
    so_far: Bools,
    generator: np.random.Generator,
    totals: Counter[Rejection],
) -> Floats | None:
    """The graph after the first of ten random edits at a system node to which nothing objects; None
    if all fail.
    """
    # Edits are at pairs of system nodes that none has touched yet, so that they never undo each
    # other. Mechanisms of ancestors of the context variable must not change; only excluded union
    # cycles tie a graph to those before it.
    untouched = np.asarray(current == base)
    free = untouched & untouched.T
    free[context, :] = free[:, context] = False
    np.fill_diagonal(free, False)
    upstream = ancestors(base != 0, context)
    together = so_far & (design.cycles == "exclude")
    for _ in range(PROPOSALS):
        node = int(generator.integers(len(current) - 1))
        node += node >= context
        edit = design.edits[generator.integers(len(design.edits))]
        law = design.added_coefficients or design.coefficients
        edited = edit_parent(edit, current, free, node, law, generator)
        if edited is None:
            totals[Rejection.NOTHING_TO_EDIT] += 1
        elif (upstream & (edited != current).any(axis=0)).any():
            totals[Rejection.UPSTREAM] += 1
        elif not is_acyclic(edited != 0):
            totals[Rejection.CONTEXT_CYCLE] += 1
        elif not is_acyclic(together | (edited != 0)):
            totals[Rejection.UNION_CYCLE] += 1
        else:
            return edited
    return None
