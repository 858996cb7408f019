"""Random families of linear context graphs: one base graph, edited for every context (App. data generation).

A graph is drawn together with its coefficients: `coefficients[i, j]` is the effect of `i` on `j`, 0 without a
link. An edit (a new parent, one parent less, a link reversed) takes the coefficients of a graph, the pairs that it may
touch, the node at which it happens, the values that a new link may have and a generator. It returns new coefficients,
or None if the node has no link for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from causalcontext.errors import OptionError, check_choice
from causalcontext.graphs.paths import ancestors, is_acyclic
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.simulate.truth import shortest_union_cycle

Law = Sequence[float]
Edit = Callable[[Floats, Bools, int, Law, np.random.Generator], Floats | None]

COEFFICIENTS = (-1.8, -1.5, -1.2, 1.2, 1.5, 1.8)


def add_parent(current: Floats, free: Bools, node: int, law: Law, generator: np.random.Generator) -> Floats | None:
    """`node` has a new parent, among the nodes it had no link with."""
    unlinked = (current[:, node] == 0) & (current[node, :] == 0)
    parent = _pick(free[:, node] & unlinked, generator)
    if parent is None:
        return None
    edited = current.copy()
    edited[parent, node] = generator.choice(law)
    return edited


def remove_parent(current: Floats, free: Bools, node: int, law: Law, generator: np.random.Generator) -> Floats | None:
    """`node` has lost one of its parents."""
    parent = _pick(free[:, node] & (current[:, node] != 0), generator)
    if parent is None:
        return None
    edited = current.copy()
    edited[parent, node] = 0.0
    return edited


def flip_parent(current: Floats, free: Bools, node: int, law: Law, generator: np.random.Generator) -> Floats | None:
    """One of the parents of `node` has become its child, with the same coefficient."""
    parent = _pick(free[:, node] & (current[:, node] != 0), generator)
    if parent is None:
        return None
    edited = current.copy()
    edited[node, parent], edited[parent, node] = current[parent, node], 0.0
    return edited


def _pick(candidates: Bools, generator: np.random.Generator) -> int | None:
    """One of the true positions at random, None if there is none."""
    positions = np.flatnonzero(candidates)
    return int(positions[generator.integers(positions.size)]) if positions.size else None


EDITS: Mapping[str, Edit] = {"add": add_parent, "remove": remove_parent, "flip": flip_parent}


PROPOSALS = 10
"""Tries for one edit, and for one context graph, before its base graph is given up (the paper's number)."""
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
                "a design needs nodes >= 2, contexts >= 2, changes >= 1 and 0 < density <= 1; found "
                f"{self.nodes}, {self.contexts}, {self.changes}, {self.density}"
            )
        needed = {"exclude": ("add", "remove"), "enforce": ("add", "flip"), "any": tuple(EDITS)}[self.cycles]
        if not any(edit in needed for edit in self.edits):
            raise OptionError(f"cycles={self.cycles!r} needs one of {needed} in edits, found {self.edits}")
        if self.cycle_length is not None and (self.cycles != "enforce" or not 2 <= self.cycle_length < self.nodes):
            raise OptionError(f"cycle_length is {self.cycle_length}; it needs cycles='enforce' and a length from 2 to "
                              "one less than the number of nodes")  # fmt: skip
        if not self.coefficients or 0.0 in (*self.coefficients, *self.added_coefficients):
            raise OptionError("coefficients must be some numbers other than 0: a link has an effect")

    @property
    def new_links(self) -> tuple[float, ...]:
        """The values that an added link may have."""
        return self.added_coefficients or self.coefficients


@dataclass(frozen=True, eq=False)
class DrawnGraphs:
    """An accepted draw.

    Attributes
    ----------
    context : int
        The node that is the context variable.
    order : tuple of int
        A causal order of the base graph.
    base : array, shape (nodes, nodes)
        Linear effects of the base graph, without those of the context variable.
    coefficients : array, shape (contexts, nodes, nodes)
        Linear effects in every context; the context variable has parents, but no linear effect.
    rejections : mapping of Rejection to int
        How many proposals were turned down on the way, by reason.
    """

    context: int
    order: tuple[int, ...]
    base: Floats
    coefficients: Floats
    rejections: Mapping[Rejection, int]


def random_family(design: ModelDesign, generator: np.random.Generator) -> DrawnGraphs:
    """A family of context graphs, pairwise different, that meets the paper's assumptions and the design."""
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
        elif (reason := _wrong_cycles(design, np.asarray(coefficients != 0))) is not None:
            totals[reason] += 1
        else:
            return DrawnGraphs(context, order, base, coefficients, dict(totals))
    counts = "; ".join(f"{reason}: {count}" for reason, count in totals.most_common())
    raise OptionError(
        f"no model of {design} in {BASE_GRAPHS} base graphs ({counts}); "
        "allow more kinds of edits, fewer changes or contexts, or another density"
    )


def _wrong_cycles(design: ModelDesign, stack: Bools) -> Rejection | None:
    """What is wrong with the cycles of a finished union, None if nothing is."""
    if design.cycles != "enforce":
        return None
    length = int(shortest_union_cycle(stack))
    if length == 0:
        return Rejection.NO_UNION_CYCLE
    return Rejection.CYCLE_LENGTH if design.cycle_length not in (None, length) else None


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


@dataclass(frozen=True, eq=False)
class _Frame:
    """What stays fixed while one context graph is edited.

    `upstream` are the ancestors of the context variable: their mechanisms must not change. `together` holds
    the links with which the edited graph must stay acyclic.
    """

    base: Floats
    context: int
    edits: tuple[str, ...]
    new_links: tuple[float, ...]
    upstream: Bools
    together: Bools


def _edited_contexts(
    base: Floats, context: int, design: ModelDesign, generator: np.random.Generator, totals: Counter[Rejection]
) -> Floats | None:
    """One edited copy of the base graph per context, pairwise different; None if proposals ran out."""
    accepted: list[Floats] = []
    for _ in range(PROPOSALS * design.contexts):
        frame = _frame(base, context, design, accepted)
        edited = _edit_repeatedly(frame, design.changes, generator, totals)
        if edited is None:
            return None
        if any(np.array_equal(edited != 0, other != 0) for other in accepted):
            totals[Rejection.SAME_GRAPH] += 1
            continue
        accepted.append(edited)
        if len(accepted) == design.contexts:
            return np.stack(accepted)
    return None


def _frame(base: Floats, context: int, design: ModelDesign, accepted: list[Floats]) -> _Frame:
    """The frame of the next context; only excluded union cycles tie it to the graphs before it."""
    upstream = ancestors(base != 0, context)
    so_far = np.any([other != 0 for other in (base, *accepted)], axis=0)
    return _Frame(base, context, design.edits, design.new_links, upstream, so_far & (design.cycles == "exclude"))


def _edit_repeatedly(
    frame: _Frame, changes: int, generator: np.random.Generator, totals: Counter[Rejection]
) -> Floats | None:
    """The base graph with `changes` of its pairs edited, each another one; None if proposals ran out."""
    current: Floats | None = frame.base
    for _ in range(changes):
        if current is not None:
            current = _edit_once(frame, current, generator, totals)
    return current


def _edit_once(
    frame: _Frame, current: Floats, generator: np.random.Generator, totals: Counter[Rejection]
) -> Floats | None:
    """The graph after the first of ten proposed edits to which nothing objects, None if there is none."""
    for _ in range(PROPOSALS):
        edited = _propose(frame, current, generator)
        reason = _objection(frame, current, edited)
        if reason is None:
            return edited
        totals[reason] += 1
    return None


def _propose(frame: _Frame, current: Floats, generator: np.random.Generator) -> Floats | None:
    """A random edit at a random system node; None if that node has no link for it."""
    node = int(generator.integers(len(current) - 1))
    node += node >= frame.context
    edit = frame.edits[generator.integers(len(frame.edits))]
    return EDITS[edit](current, _free_pairs(frame, current), node, frame.new_links, generator)


def _free_pairs(frame: _Frame, current: Floats) -> Bools:
    """Pairs of system nodes that no edit has touched yet, so that edits never undo each other."""
    untouched: Bools = np.asarray(current == frame.base)
    free = untouched & untouched.T
    free[frame.context, :] = free[:, frame.context] = False
    np.fill_diagonal(free, False)
    return free


def _objection(frame: _Frame, current: Floats, edited: Floats | None) -> Rejection | None:
    """What speaks against an edit, None if nothing does."""
    if edited is None:
        return Rejection.NOTHING_TO_EDIT
    if (frame.upstream & (edited != current).any(axis=0)).any():
        return Rejection.UPSTREAM
    if not is_acyclic(edited != 0):
        return Rejection.CONTEXT_CYCLE
    if not is_acyclic(frame.together | (edited != 0)):
        return Rejection.UNION_CYCLE
    return None
