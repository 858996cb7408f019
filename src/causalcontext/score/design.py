"""The search problem as the kernels see it: one table of all blocks, the rows, and where a search keeps its fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from causalcontext.kernels.arrays import Ints
from causalcontext.kernels.handles import note_of
from causalcontext.kernels.orders.kept_fits import KeptFits, no_kept
from causalcontext.kernels.orders.node_data import (
    CURVES,
    DENSITIES,
    FIT_ARRAYS,
    NUMBER,
    ORDERED,
    BlockTables,
    Calls,
    FitArrays,
    FitRows,
    Memory,
    Required,
    no_memory,
)
from causalcontext.kernels.orders.node_scores import calls_for
from causalcontext.kernels.orders.regressions import BASIC, PATH, TAKEN, no_fits, scratch
from causalcontext.kernels.rows.noise_densities import density_table
from causalcontext.score.blocks import PLAIN
from causalcontext.score.columns import DesignColumns
from causalcontext.score.setup import Setup

MOST_PLAIN, MOST_CURVED = 12, 20
"""The most columns of a node beside required ones, without curves and with them."""


@dataclass(frozen=True, eq=False)
class FitCache:
    """What one thread remembers in a search: sets of columns that were evaluated, and whole fits."""

    memory: Memory
    kept: KeptFits


class FitWorkspace:
    """Tables, rows and room for fits, for one thread, and the note by which kernels find them.

    Only a search over orders keeps fits, and asks what matters to them.
    """

    def __init__(self, layout: ScoreDesign, slots: int, memory: Memory, kept: KeptFits | None = None) -> None:
        setup = layout.setup
        p, columns = setup.variables, layout.tables.about.shape[2]
        forced = np.vstack([setup.forced, setup.context_forced[None]])
        self.arrays = FitArrays(layout.tables, layout.rows, density_table(), Required(forced),
                           no_fits(p + 1, slots, layout.width, p if kept else 0),
                           scratch(p, columns, layout.width, layout.responses), memory,
                           kept or no_kept(p, 1, 0))  # fmt: skip
        self.note = note_of(self.arrays, FIT_ARRAYS)

    def taken(self, node: int, slot: int) -> Ints:
        """The columns of a fit."""
        whole, room = self.arrays.fits.whole[node, slot], (self.arrays.fits.whole.shape[2] - PATH) // 2
        return np.array(whole[PATH + room : PATH + room + whole[TAKEN]])


@dataclass(frozen=True, eq=False)
class ScoreDesign:
    """Blocks as bit masks of contexts, then, with two or more contexts, the shifted model and the mixed one."""

    setup: Setup
    columns: DesignColumns
    masks: tuple[int, ...]
    tables: BlockTables
    rows: FitRows

    @property
    def shifted(self) -> int:
        """The number of the block with an intercept for every context; that with own slopes follows, if any."""
        return len(self.masks)

    @property
    def plain(self) -> bool:
        """Whether curves are not on offer."""
        return bool(self.rows.facts[CURVES] == 0.0)

    @property
    def calls(self) -> Calls:
        """The functions that a fit calls."""
        kinds = self.setup.kind if self.setup.position[-1] >= 0 else self.setup.kind[:-1]
        densities = bool(self.rows.facts[DENSITIES] > 0.0)
        return calls_for(densities, bool((kinds != NUMBER).any()), bool((kinds == ORDERED).any()))

    @cached_property
    def width(self) -> int:
        """The most columns of a node, required ones included."""
        return (MOST_PLAIN if self.plain else MOST_CURVED) + self._required

    @cached_property
    def _required(self) -> int:
        """The most columns that required parents bring, and one to spare for a family that falls apart."""
        basic = np.zeros(self.setup.variables)
        np.add.at(basic, self.columns.owner, self.tables.about[PLAIN, BASIC, : self.columns.size])
        forced = np.vstack([self.setup.forced, self.setup.context_forced[None]])
        return int((forced @ basic).max(initial=0)) + 2

    @property
    def responses(self) -> int:
        """The most response columns of a node."""
        return int(self.rows.node[:, 2].max())

    def memory(self) -> Memory:
        """An empty memory."""
        return no_memory(MOST_CURVED + self._required, 1 << (15 if self.setup.variables <= 12 else 18))

    def cache(self, memory: Memory) -> FitCache:
        """A cache for a search, on which no fit lies yet."""
        places = 1 << (14 if self.setup.variables <= 12 else 17)
        return FitCache(memory, no_kept(self.setup.variables, self.width, places))

    def offering(self, curves: bool, densities: bool = True) -> ScoreDesign:
        """The same with other things on offer."""
        facts = self.rows.facts.copy()
        facts[DENSITIES], facts[CURVES] = float(densities), float(curves and bool(self.columns.curved.any()))
        return replace(self, rows=self.rows._replace(facts=facts))
