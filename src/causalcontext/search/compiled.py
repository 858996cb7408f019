"""The level search of the linear-Gaussian tests: whole levels go to a kernel."""

from __future__ import annotations

from threading import Lock

import numpy as np
from numpy.typing import NDArray

from causalcontext.independence.gaussian import PreparedGaussian, Sheet
from causalcontext.kernels.levels.gaussian import Workspace, workspace
from causalcontext.kernels.levels.skeleton import (
    Ballots,
    Decisions,
    Level,
    Masks,
    Pairs,
    count_votes,
    no_decisions,
    search_pairs,
)
from causalcontext.search.levels import Scene, Sweep

Ints = NDArray[np.int64]
NEVER = 1 << 20
"""The size of a mask that is left out."""


class CompiledSearch:
    """Searches levels with the kernel of a prepared test."""

    def __init__(self, prepared: PreparedGaussian) -> None:
        self.prepared = prepared
        self._lock = Lock()
        self._last: tuple[Scene, int, bool, Level] | None = None

    def search(self, sweep: Sweep, pairs: Pairs) -> tuple[Decisions, Ints]:
        """The deciding sets of some of the pairs of a sweep; the tests run on all rows, and on those of contexts."""
        level = self._level(sweep.scene, sweep.size, triggers_count=True)
        decisions = no_decisions(pairs.first.size, sweep.scene.share.end - sweep.scene.share.begin, sweep.size)
        return decisions, search_pairs(level, pairs, decisions, _workspace(level))

    def vote(self, scene: Scene, size: int, ballots: Ballots) -> tuple[Ints, Ints]:
        """The sets of `size` variables and any triggers that separate each pair; how many of them hold each centre."""
        separating, holding = np.zeros_like(ballots.first), np.zeros_like(ballots.centre)
        level = self._level(scene, size, triggers_count=False)
        count_votes(level, ballots, scene.plan.max_given, separating, holding, _workspace(level))
        return separating, holding

    def _level(self, scene: Scene, size: int, triggers_count: bool) -> Level:
        """What the pairs of a level have in common; `triggers_count` towards its size or not. Threads share it."""
        with self._lock:
            last = self._last
            if last is None or last[0] is not scene or last[1:3] != (size, triggers_count):
                masks, asked = self._masks(scene, size, triggers_count)
                sheets = self.prepared.sheets(asked, change=bool(scene.role.contexts))
                views = self.prepared.views(size + masks.kept.shape[1])
                level = Level(views, sheets, scene.neighbours, masks, scene.plan.alpha, size)
                self._last = last = (scene, size, triggers_count, level)
            return last[3]

    def _masks(self, scene: Scene, size: int, triggers_count: bool) -> tuple[Masks, list[Sheet]]:
        plan, begin = scene.plan, scene.share.begin
        known: dict[Sheet, int] = {}
        kept = [[z for z in mask.kept if z not in plan.contexts.positions] for mask in plan.masks]
        sheet = np.zeros((scene.share.end - begin, len(plan.masks)), dtype=np.int64)
        for m, mask in enumerate(plan.masks):
            chosen = size - len(mask.triggers) if triggers_count else size
            if chosen < 0 or set(mask.triggers).intersection(scene.role.contexts):
                continue
            named = tuple(z for z in mask.kept if z in plan.contexts.positions)
            conditions = chosen + len(mask.kept) - len(named)
            for g in range(len(sheet)):
                asked = self.prepared.sheet(int(plan.views[begin + g, m]), named, scene.role.contexts, conditions)
                sheet[g, m] = known.setdefault(asked, len(known))
        sizes = np.array([len(mask.triggers) for mask in plan.masks], dtype=np.int64)
        sizes[: scene.first_mask] = NEVER
        return Masks(self._bits(scene), sizes, _padded(kept), sheet, self._own(scene)), list(known)

    def _bits(self, scene: Scene) -> Ints:
        triggers = scene.plan.triggers
        bits = [sum(1 << triggers.index(column) for column in mask.triggers) for mask in scene.plan.masks]
        return np.array(bits, dtype=np.int64)

    def _own(self, scene: Scene) -> Ints:
        own = np.zeros(scene.plan.variables, dtype=np.int64)
        for t, column in enumerate(scene.plan.triggers):
            own[column] = 1 << t
        return own


def _workspace(level: Level) -> Workspace:
    graphs, variables = len(level.masks.sheet), len(level.masks.own)
    return workspace(level.sheets, level.size + level.masks.kept.shape[1], graphs, variables)


def _padded(kept: list[list[int]]) -> Ints:
    width = max(len(columns) for columns in kept)
    rows = [[*columns, *[-1] * (width - len(columns))] for columns in kept]
    return np.array(rows, dtype=np.int64).reshape(len(kept), width)
