"""A fitted model: the columns of every node in every context, and which contexts share one mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.fit_arrays import CONTEXTS, OWNER, PARTNER, SOURCE
from causalcontext.kernels.rows.scales import LARGEST_LOG
from causalcontext.results.evidence import masks_of
from causalcontext.score.data import members
from causalcontext.score.design import MIXED, POOLED, SHIFTED, ScoreDesign
from causalcontext.score.workspace import FitWorkspace

PARTITIONED, CONTEXT = "partitioned", "context"
"""Kinds of mechanisms beside those of single blocks."""


@dataclass(frozen=True, eq=False)
class Part:
    """One regression of a node: the block it is fitted on, the contexts of that, and the columns it takes.

    `scale` are the columns of its noise's scale, `SHAPES` a candidate, then an indicator of every group but the first.
    """

    block: int
    mask: int
    columns: Ints
    scale: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def everything(self) -> Ints:
        """All columns as kernels number them: those of the scale are negative."""
        return np.concatenate([self.columns, -1 - self.scale])


def part_of(block: int, mask: int, everything: Ints) -> Part:
    """A regression with all its columns as kernels number them."""
    if not len(everything) or everything.min() >= 0:
        return Part(block, mask, everything)
    return Part(block, mask, everything[everything >= 0], -1 - everything[everything < 0])


@dataclass(frozen=True, eq=False)
class FittedModel:
    """K contexts, p system variables in the order of the data; the context, if there is one, is number p."""

    score: float  # the penalised log-likelihood of the table in pooled standard units
    orders: Ints  # shape (K, nodes): every node comes after its parents; all orders agree up to the context
    parts: tuple[tuple[Part, ...], ...]  # the regressions of every node: one, or one for every block of a partition
    design: ScoreDesign  # what the columns and blocks are

    @cached_property
    def kind(self) -> tuple[str, ...]:
        """What every node's model is: pooled, partitioned, shifted or mixed; "context" for that one."""
        data = self.design.data
        kinds = [PARTITIONED if len(parts) > 1 else self._kind(parts[0]) for parts in self.parts]
        kinds += [POOLED] * (data.variables - data.nodes)
        return tuple(CONTEXT if v in data.context_variables else kind for v, kind in enumerate(kinds))

    def _kind(self, part: Part) -> str:
        """The kind of a single block; slopes that stay and intercepts of merged values are a shift."""
        kind = self.design.key(part.block)[0]
        if kind != MIXED:
            return kind
        lives = self.design.about(part.block)[CONTEXTS, part.columns]
        return MIXED if (lives != (1 << self.design.bits(part.block)) - 1).any() else SHIFTED

    def node_scores(self, curves: bool) -> Floats:
        """The scores of all nodes, whose sum is that of the model."""
        tasks = [(part.block, node, part.everything) for node, part in self.regressions()]
        scores = FitWorkspace(self.design, curves).score(tasks)[:, 0]
        return np.asarray(np.bincount([node for _, node, _ in tasks], scores, self.design.data.nodes), dtype=np.float64)

    def regressions(self) -> Iterator[tuple[int, Part]]:
        """All nodes with their regressions."""
        return ((node, part) for node, parts in enumerate(self.parts) for part in parts)

    @cached_property
    def block(self) -> Ints:
        """The contexts that share the mechanism of a node in a context, as a bit mask; shape (K, variables)."""
        shape = (self.design.data.contexts, self.design.data.variables)
        masks = np.full(shape, self.design.everything, dtype=masks_of(shape[0]))
        for node, part in self.regressions():
            masks[members(part.mask, len(masks)), node] = part.mask
        return masks

    @cached_property
    def parents(self) -> Bools:
        """`parents[r, child, parent]`, shape (K, nodes, C)."""
        found = np.repeat(self.design.required[None], self.design.data.contexts, axis=0)
        for node, part in self.regressions():
            about = self.design.about(part.block)
            for column in part.columns.tolist():
                here = members(self.design.lives(part.block, column), len(found))
                for who in (who for who in about[: PARTNER + 1, column].tolist() if who >= 0):
                    found[here, node, who] = True
            for r in members(part.mask, len(found)) if len(part.scale) else ():
                found[r, node, self.design.owners_of_scale(part.scale)] = True
        return found

    def before(self, node: int, mask: int) -> Bools:
        """The candidates before a node in all of some contexts, shape (C,)."""
        return before(self._place, node, mask, self.design.data.candidates)

    @cached_property
    def _place(self) -> Ints:
        """The place of every node in the orders."""
        return np.argsort(self.orders, axis=1)

    def residual(self, node: int, part: Part) -> tuple[Floats, Bools]:
        """The residuals of a number in one of its regressions, divided by its scale, and the rows of it; read only."""
        key = node, part.mask
        if key not in self._residuals:
            self._residuals[key] = self._residual(node, part)
        return self._residuals[key]

    @cached_property
    def _residuals(self) -> dict[tuple[int, int], tuple[Floats, Bools]]:
        """The residuals that were asked for, by node and cells."""
        return {}

    def _residual(self, node: int, part: Part) -> tuple[Floats, Bools]:
        matrix, rows, _ = self.design.matrix_and_rows(part.block, part.columns)
        response, scale = self.design.values[self.design.response[node], rows], self.scale(node, part, rows)
        slopes = np.linalg.lstsq((matrix / scale).T, response / scale, rcond=None)[0]
        return (response - slopes @ matrix) / scale, rows

    def scale(self, node: int, part: Part, rows: Bools) -> Floats:
        """The scale of the noise of a number on the rows of one of its regressions; 1 where it is even."""
        if not len(part.scale):
            return np.ones(np.count_nonzero(rows))
        slopes = self.slopes_of_scales[node, part.mask]
        columns = self.design.scale_matrix(part.block, part.scale, rows)
        logarithm = np.asarray(slopes @ (columns - columns.mean(axis=1, keepdims=True)))
        return np.asarray(np.exp(np.clip(logarithm, -LARGEST_LOG, LARGEST_LOG)))

    @cached_property
    def slopes_of_scales(self) -> dict[tuple[int, int], Floats]:
        """The slopes of the columns of every scale, by node and cells."""
        uneven = [(node, part) for node, part in self.regressions() if len(part.scale)]
        if not uneven:
            return {}
        fitted = FitWorkspace(self.design, curves=True).score([(p.block, node, p.everything) for node, p in uneven])
        return {(node, part.mask): row[2 + len(part.columns) : 2 + len(part.everything)]
                for (node, part), row in zip(uneven, fitted, strict=True)}  # fmt: skip

    @cached_property
    def links(self) -> Bools:
        """Directed links of every context, shape (K, variables, variables), row -> column; read only."""
        data = self.design.data
        links = np.zeros((data.contexts, data.variables, data.variables), dtype=bool)
        links[:, : data.candidates, : data.nodes] = self.parents.transpose(0, 2, 1)
        for node in range(data.responses):
            links[:, list(self.reads(node)), node] = True
        for context, source in data.made_of.items():
            links[:, source, context] = True
        return links

    @cached_property
    def linked(self) -> Bools:
        """Directed links of any context, shape (variables, variables), row -> column: quicker than all of `links`."""
        data = self.design.data
        found = np.zeros((data.variables, data.variables), dtype=bool)
        found[: data.candidates, : data.nodes] = self.design.required.T
        for node, part in self.regressions():
            about = self.design.about(part.block)
            for who in (*about[OWNER, part.columns].tolist(), *about[PARTNER, part.columns].tolist()):
                if who >= 0:
                    found[who, node] = True
        for node in range(data.responses):
            found[list(self.reads(node)), node] = True
        for context, source in data.made_of.items():
            found[source, context] = True
        return found

    def reads(self, node: int) -> tuple[int, ...]:
        """The context variables that the mechanism of a node changes with, or must change with by knowledge."""
        data = self.design.data
        known = {v for v in data.context_variables if data.links.must[data.position[v], data.position[node]]}
        return tuple(sorted({*self._found_to_read(node), *known}))

    def _found_to_read(self, node: int) -> tuple[int, ...]:
        parts = self.parts[node]
        kind, _, reader = self.design.key(parts[0].block)
        if len(parts) == 1:
            return () if kind == POOLED else self.design.data.codings[reader].variables
        same = self.block[:, node]
        return next(variables for variables, _, groups, _ in self.design.data.readers
                    if len({*zip(groups.tolist(), same.tolist(), strict=True)}) == len({*groups.tolist()}))  # fmt: skip


def before(place: Ints, node: int, mask: int, candidates: int) -> Bools:
    """The candidates before a node in all of some contexts; `place` has the place of every node in their orders."""
    here = place[members(mask, len(place))] if len(place) > 1 else place
    found = np.ones(candidates, dtype=bool)
    found[: place.shape[1]] = (here < here[:, node : node + 1]).all(axis=0)
    return found


def translated(model: FittedModel, new: ScoreDesign) -> FittedModel:
    """The same model in another design of the same data, which has more columns."""
    old = model.design
    if new is old:
        return model
    start = new.first - old.first

    def same(part: Part) -> Part:
        about = old.about(part.block)[:, part.columns]
        moved = about[SOURCE] + start[about[OWNER]]
        return Part(new.block(*old.key(part.block)), part.mask, (moved << old.bits(part.block)) + about[CONTEXTS],
                    part.scale)  # fmt: skip

    parts = tuple(tuple(map(same, own)) for own in model.parts)
    return FittedModel(model.score, model.orders, parts, new)


def owners(about: Ints, columns: Iterable[int]) -> tuple[int, ...]:
    """The variables that columns are made of, sorted."""
    chosen = np.asarray(list(columns), dtype=np.int64)
    found = np.concatenate([about[OWNER, chosen], about[PARTNER, chosen]])
    return tuple(np.unique(found[found >= 0]).tolist())
