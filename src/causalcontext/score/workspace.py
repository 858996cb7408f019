"""The workspace of one thread: room for fits, what it remembers of earlier ones, and fits of many
nodes in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.fit_arrays import (
    CURVES,
    DENSITIES,
    LIMIT,
    PATH,
    SCALES,
    TAKEN,
    WIDTH,
    FitArrays,
    Memory,
    no_fits,
    no_kept,
    scratch,
)
from causalcontext.kernels.orders.fits import (
    best_extras,
    compiled_workspace,
    fit_many,
    score_sets,
)
from causalcontext.kernels.rows.noise_densities import density_table
from causalcontext.score.design import ScoreDesign

NodeTask = tuple[int, int]
"""A block and a node."""
ColumnTask = tuple[int, int, Any]
"""A block, a node, and columns."""


class FitWorkspace:
    """Fits of the blocks that a design has so far; `compiled` is all of it as kernels read it.

    `curves` and `densities` are on offer where the design and the options have them. `memory` has
    sets of columns that were evaluated; by default it is that of the design, which is not for
    several threads. Rows of covariances go with it. Only a search over orders `keeps` whole fits,
    and asks what matters to them.
    """

    def __init__(
        self,
        design: ScoreDesign,
        curves: bool,
        densities: bool = True,
        memory: Memory | None = None,
        keeps: bool = False,
    ) -> None:
        data = design.data
        self.design = design
        self.memory = memory or design.memory
        self.covariances = design.covariances if self.memory is design.memory else design.new_rows()
        self.curves = curves and bool(design.curved.any())
        self.densities = densities and design.options.densities
        self.scales = design.scales and self.densities
        self.width = design.width(curves)
        places = 1 << (14 if data.responses <= 12 else 17)
        self.kept = (
            no_kept(data.candidates, self.width, places)
            if keeps
            else no_kept(data.candidates, 1, 0)
        )
        self._make_room(1)

    def with_slots(self, slots: int) -> FitWorkspace:
        """One that remembers the same, with room for so many fits of every node in all blocks that
        there are by now.
        """
        other = copy(self)
        other._make_room(slots)
        return other

    def _make_room(self, slots: int) -> None:
        design, tables, facts = self.design, self.design.tables(), self.design.rows.facts.copy()
        facts[DENSITIES] = float(self.densities)
        facts[CURVES] = float(self.curves)
        facts[SCALES] *= self.scales
        if self.scales:  # what a location takes leaves room for the columns of a scale
            limited = tables.block.copy()
            limited[:, LIMIT] = np.minimum(limited[:, LIMIT], design.most_columns(self.curves))
            tables = tables._replace(block=limited)
        p = design.data.candidates
        nodes = design.data.nodes
        self.arrays = FitArrays(
            tables,
            design.rows._replace(facts=facts),
            density_table(),
            no_fits(nodes, slots, self.width, p if len(self.kept.names) else 0),
            scratch(p, tables.about.shape[2], self.width, int(design.rows.node[:, WIDTH].max())),
            self.memory,
            self.covariances,
            self.kept,
        )
        self.compiled = compiled_workspace(self.arrays, self.scales)

    def taken(self, node: int, slot: int) -> Ints:
        """The columns of a fit."""
        whole, room = (
            self.arrays.fits.whole[node, slot],
            (self.arrays.fits.whole.shape[2] - PATH) // 2,
        )
        return np.array(whole[PATH + room : PATH + room + whole[TAKEN]])

    def fit(
        self, tasks: Sequence[NodeTask], candidates: Sequence[Bools]
    ) -> tuple[Floats, Floats, list[Ints]]:
        """The scores of nodes in blocks with some candidates, the slopes of numbers, and the
        columns they take.
        """
        offered = np.array(candidates, dtype=bool).reshape(len(tasks), self.design.data.candidates)
        self._check_blocks(tasks)
        scores = np.zeros(len(tasks))
        slopes = np.zeros((len(tasks), self.width))
        sets = np.zeros((len(tasks), 1 + self.width), dtype=np.int64)
        fit_many(self.compiled, _pairs(tasks), offered, scores, slopes, sets)
        return scores, slopes, [row[1 : 1 + row[0]] for row in sets]

    def score(self, tasks: Sequence[ColumnTask]) -> Floats:
        """Scores, residual variances and slopes of given columns, shape (tasks, 2 + W)."""
        out = np.zeros((len(tasks), 2 + self.width))
        score_sets(self.compiled, _pairs(tasks), self._sets(tasks), out)
        return out

    def extras(self, tasks: Sequence[ColumnTask], plain: bool = True) -> Floats:
        """What the best further column of every variable would gain, and the share it explains;
        shape (tasks, p, 2).
        """
        out = np.zeros((len(tasks), self.design.data.candidates, 2))
        best_extras(
            self.compiled, _pairs(tasks), self._sets(tasks), np.array([plain, self.curves]), out
        )
        return out

    def _check_blocks(self, tasks: Sequence[NodeTask]) -> None:
        """Return if all blocks were there when the workspace was made: kernels would read beyond
        the tables.
        """
        assert max((block for block, _ in tasks), default=-1) < len(self.arrays.tables.block)

    def _sets(self, tasks: Sequence[ColumnTask]) -> Ints:
        sets = np.zeros((len(tasks), 1 + self.width), dtype=np.int64)
        for row, (_, _, columns) in zip(sets, tasks, strict=True):
            row[: 1 + len(columns)] = [len(columns), *columns]
        return sets


def _pairs(tasks: Sequence[NodeTask] | Sequence[ColumnTask]) -> Ints:
    return np.array([task[:2] for task in tasks], dtype=np.int64).reshape(-1, 2)
