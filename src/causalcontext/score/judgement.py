"""From a fitted model to the evidence for and against every link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.node_data import NUMBER
from causalcontext.kernels.orders.node_scores import fit_pointer
from causalcontext.kernels.orders.partitions import MOST_CONTEXTS_EXACT, best_partition
from causalcontext.kernels.orders.set_scores import best_extras, score_sets
from causalcontext.kernels.orders.single_fits import fit_many
from causalcontext.knowledge import Links
from causalcontext.results.entries import Decision
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.score.design import FitWorkspace, ScoreDesign
from causalcontext.score.design_factory import DesignFactory
from causalcontext.score.directions import Directed
from causalcontext.score.model import PARTITIONED, FittedModel, Part, members, owners
from causalcontext.score.order_search import lattice


@dataclass(frozen=True, eq=False)
class LinkScores:
    """`[context, effect, cause]`: score differences and strengths; NaN where nothing was judged."""

    difference: Floats
    strength: Floats


def judge(designs: DesignFactory, directed: Directed, links: Links, facts: dict[str, object]) -> ScoreEvidence:
    """The evidence, with variables in the order of the table; `facts` are the fields that describe the search."""
    model = directed.model
    k, p = designs.setup.contexts, designs.setup.variables
    judged = LinkScores(*(np.full((k, p + 1, p + 1), np.nan) for _ in range(2)))
    _judge_causes(designs, model, judged)
    if k > 1:
        _judge_context_effects(designs, model, judged)
        gain = np.maximum(judged.difference, 0.0)
        at_context = np.sqrt(-np.expm1(-2.0 * gain / designs.setup.total))
        judged.strength[:, p, :], judged.strength[:, :, p] = at_context[:, p, :], at_context[:, :, p]
    return _arranged(directed, links, judged, facts)


def _judge_causes(designs: DesignFactory, model: FittedModel, judged: LinkScores) -> None:
    """Links into every node: with their columns and without, or with the best column that could be added."""
    tasks = [(node, part) for node, parts in enumerate(model.parts) for part in parts]
    if designs.setup.contexts > 1:
        everything = (1 << designs.setup.contexts) - 1
        pooled = model.layout.masks.index(everything)
        tasks.append((designs.setup.variables, Part(pooled, everything, model.context_columns)))
    arrays = _JudgingWorkspace(designs, model.layout)
    extras = arrays.extras([(part.block, node, part.columns) for node, part in tasks])
    wanted, where = [], []
    for node, part in tasks:
        wanted.append((part.block, node, part.columns))
        where.append((node, part, -1))
        for cause in owners(arrays.about(part.block), part.columns):
            wanted.append((part.block, node, arrays.without(part, cause)))
            where.append((node, part, cause))
    whole = np.zeros(0)
    for (node, part, cause), row in zip(where, arrays.scores(wanted), strict=True):
        if cause < 0:
            whole = row
        else:
            _write(model, judged, node, part, cause, whole, row)
    for (node, part), gains in zip(tasks, extras, strict=True):
        _write_extras(designs, model, judged, node, part, gains)


def _write(model: FittedModel, judged: LinkScores, node: int, part: Part, cause: int, whole: Floats,
           rest: Floats) -> None:  # fmt: skip
    """The worth of a link that is there; rows are score, residual variance and slopes with and without it."""
    number = node < len(model.parts) and model.layout.setup.kind[node] == NUMBER
    difference = whole[0] - rest[0]
    share = 1.0 - whole[1] / rest[1] if number else -np.expm1(-2.0 * max(difference, 0.0) / _rows(model, part))
    size = np.sqrt(max(0.0, float(share))) * (_sign(model, part, cause, whole[2:]) if number else 1.0)
    for r in members(part.mask, model.layout.setup.contexts):
        if model.parents[r, node, cause] if node < len(model.parts) else model.context_parents[cause]:
            judged.difference[r, node, cause], judged.strength[r, node, cause] = difference, size


def _sign(model: FittedModel, part: Part, cause: int, slopes: Floats) -> float:
    """The sign of the slope of a link that is a straight line, else 1."""
    about = model.layout.tables.about[model.layout.tables.block[part.block, 2]]
    mine = [place for place, c in enumerate(part.columns) if cause in (about[0, c], about[1, c])]
    straight = len(mine) == 1 and not about[6, part.columns[mine[0]]]
    return float(np.sign(slopes[mine[0]]) or 1.0) if straight else 1.0


def _rows(model: FittedModel, part: Part) -> float:
    return model.layout.setup.block_rows(part.mask)


def _write_extras(designs: DesignFactory, model: FittedModel, judged: LinkScores, node: int, part: Part,
                  gains: Floats) -> None:  # fmt: skip
    """What links would be worth that are not there but could be."""
    setup, p = designs.setup, designs.setup.variables
    allowed = setup.context_allowed if node == p else setup.allowed[node]
    place = np.argsort(model.orders, axis=1)
    for r in members(part.mask, setup.contexts):
        parents = model.context_parents if node == p else model.parents[r, node]
        open_ = allowed & ~parents & (place[r, :p] < place[r, node]) & np.isfinite(gains[:, 0])
        judged.difference[r, node, :p][open_] = gains[open_, 0]
        judged.strength[r, node, :p][open_] = np.copysign(np.sqrt(np.abs(gains[open_, 1])), gains[open_, 1])


def _judge_context_effects(designs: DesignFactory, model: FittedModel, judged: LinkScores) -> None:
    """Links from the context: the best changing model of a node against the pooled one."""
    setup = designs.setup
    k, p = setup.contexts, setup.variables
    place = np.argsort(model.orders, axis=1)
    nodes = [node for node in range(p) if place[0, node] > place[0, p] and setup.role[node] == 0]
    masks = model.layout.tables.block[:, 3].tolist()
    tasks, candidates = [], []
    for node in nodes:
        for block, mask in enumerate(masks):
            here = members(mask, k)
            before = (place[here, :p] < place[here, node : node + 1]).all(axis=0)
            tasks.append((block, node))
            candidates.append(before & setup.allowed[node])
    scores = (
        _JudgingWorkspace(designs, model.layout)
        .fits(tasks, np.array(candidates, dtype=bool).reshape(-1, p))
        .reshape(-1, len(masks))
    )
    pooled = model.layout.masks.index((1 << k) - 1)
    for node, row in zip(nodes, scores, strict=True):
        judged.difference[:, node, p] = _changing(model, node, row) - row[pooled]


def _changing(model: FittedModel, node: int, scores: Floats) -> float:
    """The best score of a node whose mechanism changes with the context, given the scores of all blocks."""
    layout = model.layout
    whole = float(scores[layout.shifted :].max())
    if layout.setup.contexts <= MOST_CONTEXTS_EXACT:
        return max(whole, float(best_partition(layout.setup.contexts, lattice(layout).joins, node, scores)))
    if model.kind[node] == PARTITIONED:
        return max(whole, float(sum(scores[part.block] for part in model.parts[node])))
    single = [layout.masks.index(1 << r) for r in range(layout.setup.contexts)]
    return max(whole, float(scores[single].sum()))


class _JudgingWorkspace:
    """Scores of given sets of columns, and of given candidates."""

    def __init__(self, designs: DesignFactory, layout: ScoreDesign) -> None:
        self._layout, self._top = layout, FitWorkspace(layout, 1, designs.memory(layout))

    def about(self, block: int) -> Ints:
        """What the columns of a block are."""
        return np.asarray(self._layout.tables.about[self._layout.tables.block[block, 2]])

    def without(self, part: Part, cause: int) -> Ints:
        """The columns of a regression that do not belong to one cause."""
        about = self.about(part.block)
        return np.array([c for c in part.columns if cause not in (about[0, c], about[1, c])], dtype=np.int64)

    def _packed(self, wanted: Sequence[tuple[int, int, Ints]]) -> tuple[Ints, Ints]:
        tasks = np.array([[block, node] for block, node, _ in wanted], dtype=np.int64).reshape(-1, 2)
        sets = np.zeros((len(wanted), 1 + self._layout.width), dtype=np.int64)
        for row, (_, _, columns) in enumerate(wanted):
            sets[row, 0] = len(columns)
            sets[row, 1 : 1 + len(columns)] = columns
        return tasks, sets

    def scores(self, wanted: Sequence[tuple[int, int, Ints]]) -> Floats:
        """Scores, residual variances and slopes of (block, node, columns), shape (tasks, 2 + W)."""
        tasks, sets = self._packed(wanted)
        out = np.zeros((len(wanted), 2 + self._layout.width))
        score_sets(self._layout.calls, self._top.note, tasks, sets, out)
        return out

    def extras(self, wanted: Sequence[tuple[int, int, Ints]]) -> Floats:
        """What the best further column of every variable would gain, shape (tasks, p, 2)."""
        tasks, sets = self._packed(wanted)
        out = np.zeros((len(wanted), self._layout.setup.variables, 2))
        best_extras(self._top.note, tasks, sets, np.array([True, not self._layout.plain]), out)
        return out

    def fits(self, tasks: Sequence[tuple[int, int]], candidates: Bools) -> Floats:
        """Scores of (block, node) with some candidates."""
        scores, nothing = np.zeros(len(tasks)), np.zeros((len(tasks), 0))
        fit_many(fit_pointer(), self._layout.calls, self._top.note, np.array(tasks, dtype=np.int64).reshape(-1, 2),
                 candidates, scores, nothing, nothing.astype(np.int64))  # fmt: skip
        return scores


def _arranged(directed: Directed, links: Links, judged: LinkScores, facts: dict[str, object]) -> ScoreEvidence:
    """The same in the numbers of the table, one entry per pair."""
    model, setup = directed.model, directed.model.layout.setup
    k, p = setup.contexts, setup.variables
    there = setup.position >= 0
    back = np.argsort(setup.position[there])

    def in_table(array: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(array[..., there, :][..., there][..., back, :][..., back])

    graphs = in_table(model.links)
    difference, strength, margin = in_table(judged.difference), in_table(judged.strength), in_table(directed.margin)
    first, second = np.triu_indices(int(there.sum()), 1)
    present = graphs[:, first, second] | graphs[:, second, first]
    forward = graphs[:, first, second] | (~graphs[:, second, first] & ~np.isnan(difference[:, second, first]))
    chosen = [np.where(forward, array[:, second, first], array[:, first, second]) for array in (difference, strength)]
    judged_at_all = ~np.isnan(chosen[0]) | present
    decision = np.where(present, Decision.PRESENT, Decision.ABSENT)
    decision[:, links.rule_out(first, second)] = Decision.FORBIDDEN
    decision[:, links.required[first, second]] = Decision.REQUIRED
    block = np.full((k, p + 1), (1 << k) - 1)
    block[:, :p] = model.block
    own = np.arange(p + 1)[there][back]
    names, block = [*model.kind, "context"], block[:, own]
    rows = np.array([[setup.block_rows(int(mask)) for mask in row] for row in block]).astype(np.int64)
    margins = np.where(forward, margin[first, second], margin[second, first])
    return ScoreEvidence(
        difference=chosen[0], strength=chosen[1],
        effect=np.where(judged_at_all, np.where(forward, second, first), -1).astype(np.int64),
        decision=decision.astype(np.int8), model=tuple(names[i] for i in own), block=block, rows=rows,
        score=model.score, margin=np.where(present, margins, np.nan), **facts,  # type: ignore[arg-type]
    )  # fmt: skip
