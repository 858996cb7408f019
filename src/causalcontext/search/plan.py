"""What a search is about: how many graphs over which variables, whose rows answer, and what is known.

A link at a context variable cannot depend on that variable's own value. So graphs whose cells differ in it alone share
the link: it is tested once, with candidates from all of them, and the answer is copied (`Plan.leaders`). A pair of two
system variables is answered by every graph for itself; what graphs ask on the same rows is tested once all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.graphs.endpoints import GraphKind
from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.levels.neighbours import SharedAnswers
from causalcontext.knowledge import Links
from causalcontext.views import CIQuery, Contexts, ViewRule, masked, pooled

if TYPE_CHECKING:
    from causalcontext.search.family import Proposal
    from causalcontext.search.sepsets import SepsetRecords

Physical = Callable[[int, int, int, int], bool]
"""`physical(x, y, present, absent)`: whether x - y is missing in graph `absent` though its rows could show it."""
Trusted = Callable[[int, int, Sequence[int], int, int], bool]
"""The same given a set, for two cells: `trusted(x, y, given, present, absent)`."""
MOST_GRAPHS = 60
"""Graphs whose answers one call of a kernel looks for: their bits must fit an integer."""


class Mask(NamedTuple):
    """A set of triggers among the conditions of a question."""

    triggers: tuple[int, ...]  # columns
    named: tuple[int, ...]  # the context variables that they name
    # the triggers that stay among the conditions: the column of an indicator, and context variables on all rows
    kept: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """One joint search for several graphs."""

    variables: int  # how many, context variables included
    contexts: Contexts  # the context variables, and the cells of the table
    rule: ViewRule  # which rows answer a question
    cells: tuple[int, ...]  # the cell of every graph that is searched; a pooled search has a single graph, of cell 0
    links: Links  # what is known
    alpha: float  # two variables are called independent if the p-value is larger
    max_given: int  # the largest conditioning set
    collider_rule: str = "majority"  # {"majority", "conservative", "first"}
    # {"adaptive", "cycle", "always"}: for which of the edges that are left all sets are asked once more, inside the
    # contexts
    masked_scope: str = "adaptive"
    # whether an edge that is missing in one graph may orient others, asked given the set that separated the pair.
    # Without one, every graph is oriented by itself.
    across: Trusted | None = None
    # of the graphs. Where variables may be hidden (a PAG), both views are asked for every set, whether or not a context
    # variable is a neighbour, and whoever is a neighbour may be conditioned on, cause or not.
    kind: GraphKind = GraphKind.CPDAG
    asked: Bools | None = None  # the pairs that are tested, shape (N, N); all of them by default

    @property
    def serving(self) -> Bools:
        """Which neighbours of a variable (column) may be conditioned on, shape (N, N): causes, in a PAG any."""
        return self.links.may if self.kind is GraphKind.CPDAG else np.ones_like(self.links.may)

    @property
    def searched(self) -> tuple[int, ...]:
        """The context variables whose links are tested: not where they are constant, nor functions of a column."""
        measured = (position for position in self.contexts.positions if self.contexts.source_of(position) is None)
        return () if self.rule is masked else tuple(measured)

    @cached_property
    def graphs(self) -> Contexts:
        """The searched context variables, with their levels in every graph, before those of others.

        In a PAG, the column of which a context variable is a function takes its place: it is what conditions name, and
        all rules for context variables hold for it.
        """
        positions = self.contexts.positions
        places = sorted(range(len(positions)), key=lambda j: positions[j] not in self.searched)
        cells = tuple(tuple(self.contexts.cells[cell][j] for j in places) for cell in self.cells)
        made = self.sources if self.kind is GraphKind.PAG else ()
        return Contexts((*self.searched, *made), cells)

    @property
    def sources(self) -> tuple[int, ...]:
        """The columns of which context variables are functions."""
        return tuple(source for _, source in self.contexts.made)

    @cached_property
    def leaders(self) -> dict[tuple[int, ...], Ints]:
        """The graph that answers for every graph, by the context variables of a pair: none, one or two."""
        found: dict[tuple[int, ...], Ints] = {(): np.arange(len(self.cells))}
        for contexts in (some for size in (1, 2) for some in combinations(self.searched, size)):
            own = [self.searched.index(position) for position in contexts]
            others = [j for j in range(len(self.contexts.positions)) if j not in own]
            first: dict[tuple[int, ...], int] = {}
            found[contexts] = np.array(
                [first.setdefault(tuple(cell[j] for j in others), g) for g, cell in enumerate(self.graphs.cells)]
            )
        return found

    @cached_property
    def shares(self) -> list[tuple[tuple[int, ...], SharedAnswers]]:
        """The same in parts of at most `MOST_GRAPHS` graphs, those without a leader left out."""
        found, graphs = [], np.arange(len(self.cells))
        for contexts, leader in self.leaders.items():
            for begin in range(0, graphs.size, MOST_GRAPHS):
                end = min(begin + MOST_GRAPHS, graphs.size)
                if (leader == graphs)[begin:end].any():
                    found.append((contexts, SharedAnswers(leader, begin, end)))
        return found

    @cached_property
    def masks(self) -> tuple[Mask, ...]:
        """The sets of columns that switch the rows, smallest first; the empty one is the first."""
        if self.rule is masked:
            return (Mask((), (), ()),)
        switching = self.searched if self.rule is pooled else self.contexts.positions
        chosen = [some for size in range(len(switching) + 1) for some in combinations(switching, size)]
        return tuple(self._mask(some) for some in chosen)

    def _mask(self, named: tuple[int, ...]) -> Mask:
        made = {position: self.contexts.source_of(position) for position in named}
        triggers = tuple(position if source is None else source for position, source in made.items())
        kept = triggers if self.rule is pooled else tuple(source for source in made.values() if source is not None)
        return Mask(triggers, named, kept)

    @cached_property
    def triggers(self) -> tuple[int, ...]:
        """The columns that switch the rows."""
        return tuple(dict.fromkeys(column for mask in self.masks for column in mask.triggers))

    @cached_property
    def trigger_numbers(self) -> Ints:
        """The number of the trigger that a column is, -1 for others."""
        numbers = np.full(self.variables, -1, dtype=np.int64)
        numbers[list(self.triggers)] = np.arange(len(self.triggers))
        return numbers

    def among(self, columns: Sequence[int]) -> Bools:
        """Which variables are some columns, shape (N,)."""
        found = np.zeros(self.variables, dtype=bool)
        found[list(columns)] = True
        return found

    @cached_property
    def context_numbers(self) -> Ints:
        """The number of the searched context variable that a column is, -1 for others; -2 for one not searched."""
        numbers = np.full(self.variables, -1, dtype=np.int64)
        numbers[list(self.contexts.positions)] = -2
        numbers[list(self.searched)] = np.arange(len(self.searched))
        return numbers

    @cached_property
    def views(self) -> Ints:
        """The view that answers in every graph for every mask, shape (graphs, masks)."""
        cells = [self.contexts.cell(cell) for cell in self.cells]
        views = [[self.contexts.number(self.rule(cell, mask.named)) for mask in self.masks] for cell in cells]
        return np.array(views, dtype=np.int64)

    def repeat_cuts(self, sepsets: SepsetRecords, before: Bools) -> None:
        """What was separated since `before`, shape (graphs, pairs), is so wherever it repeats itself: nowhere."""

    def repeated(self, proposal: Proposal) -> Iterator[Proposal]:
        """The other ends that are what a proposed one is, since their links repeat it: none."""
        yield from ()

    def query(self, graph: int, mask: int, x: int, y: int, chosen: tuple[int, ...]) -> CIQuery:
        """What is run for a set: `chosen` variables, and the triggers of a mask."""
        return CIQuery(x, y, (*chosen, *self.masks[mask].kept), int(self.views[graph, mask]))

    def complete_graphs(self) -> Bools:
        """Every pair adjacent in every graph, but for those absent by assumption; shape (graphs, N, N).

        Where a context variable cannot be tested, only its required links are there.
        """
        graphs = np.empty((len(self.cells), self.variables, self.variables), dtype=bool)
        start = graphs[0]
        np.logical_or(self.links.may, self.links.may.T, out=start)
        for position in self.contexts.positions:
            if position not in self.searched:
                start[position] = start[:, position] = self.links.required[position]
        graphs[1:] = start
        return graphs
