"""A fitted model: the columns of every node in every context, and which contexts share one mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from causalcontext.kernels.arrays import Bools, Ints
from causalcontext.kernels.orders.regressions import CONTEXTS, OWNER, PARTNER, SOURCE
from causalcontext.score.design import ScoreDesign

POOLED, PARTITIONED, SHIFTED, MIXED = "pooled", "partitioned", "shifted", "mixed"


@dataclass(frozen=True, eq=False)
class Part:
    """One regression of a node: the block it is fitted on, the contexts of that, and the columns it takes."""

    block: int
    mask: int
    columns: Ints


@dataclass(frozen=True, eq=False)
class FittedModel:
    """K contexts, p system variables in the setup's order; the context is number p.

    Attributes
    ----------
    score : float
        The penalised log-likelihood of the table in pooled standard units.
    orders : array of int, shape (K, p + 1)
        Every node comes after its parents; all orders agree up to the context.
    parts : tuple of tuples of Part
        The regressions of every node: one, or one for every block of a partition.
    context_columns : array of int
        The columns in the context's logit.
    layout : Layout
        What the columns and blocks are.
    """

    score: float
    orders: Ints
    parts: tuple[tuple[Part, ...], ...]
    context_columns: Ints
    layout: ScoreDesign

    @cached_property
    def kind(self) -> tuple[str, ...]:
        """What every node's model is: pooled, partitioned, shifted or mixed."""
        return tuple(self._kind(parts) for parts in self.parts)

    def _kind(self, parts: Sequence[Part]) -> str:
        if len(parts) > 1:
            return PARTITIONED
        return {0: SHIFTED, 1: MIXED}.get(parts[0].block - self.layout.shifted, POOLED)

    @cached_property
    def block(self) -> Ints:
        """The contexts that share the mechanism of a node in a context, as a bit mask; shape (K, p)."""
        k = self.layout.setup.contexts
        masks = np.zeros((k, len(self.parts)), dtype=np.int64)
        for node, parts in enumerate(self.parts):
            for part in parts:
                masks[members(part.mask, k), node] = part.mask
        return masks

    @cached_property
    def parents(self) -> Bools:
        """`parents[r, child, parent]`, shape (K, p, p)."""
        k, p = self.layout.setup.contexts, len(self.parts)
        found = np.zeros((k, p, p), dtype=bool)
        for node, parts in enumerate(self.parts):
            for part in parts:
                for r in members(part.mask, k):
                    found[r, node, list(self.parents_of(part, r))] = True
        return np.asarray(found | self.layout.setup.forced)

    def parents_of(self, part: Part, context: int) -> tuple[int, ...]:
        """The parents of a regression in one of its contexts, sorted."""
        about = self.layout.tables.about[self.layout.tables.block[part.block, 2]]
        here = [c for c in part.columns if about[CONTEXTS, c] == 0 or about[CONTEXTS, c] >> context & 1]
        return owners(about, here)

    @cached_property
    def context_parents(self) -> Bools:
        """The parents of the context, shape (p,)."""
        found = np.zeros(len(self.parts), dtype=bool)
        found[list(owners(self.layout.tables.about[0], self.context_columns))] = True
        return np.asarray(found | self.layout.setup.context_forced)

    @property
    def context_children(self) -> Bools:
        """Nodes whose mechanism depends on the context, shape (p,)."""
        return np.array([kind != POOLED for kind in self.kind])

    @cached_property
    def links(self) -> Bools:
        """Directed links of every context, shape (K, p + 1, p + 1), row -> column, the context last; read only."""
        k, p = self.layout.setup.contexts, len(self.parts)
        links = np.zeros((k, p + 1, p + 1), dtype=bool)
        links[:, :p, :p] = self.parents.transpose(0, 2, 1)
        links[:, :p, p] = self.context_parents
        links[:, p, :p] = self.context_children
        return links


def translated(model: FittedModel, layout: ScoreDesign) -> FittedModel:
    """The same model in the columns of another layout of the same table, which has more of them."""
    old, new = model.layout, layout
    start = new.columns.first - old.columns.first[: len(new.columns.first)]
    known = {(design, *new.tables.about[design][[SOURCE, CONTEXTS], column].tolist()): column
             for design, first in enumerate(new.tables.first) for column in range(first[0], first[-1])}  # fmt: skip

    def columns_of(design: int, columns: Ints) -> Ints:
        about = old.tables.about[design]
        keys = [(design, int(about[SOURCE, c] + start[about[OWNER, c]]), int(about[CONTEXTS, c])) for c in columns]
        return np.array([known[key] for key in keys], dtype=np.int64)

    parts = []
    for own in model.parts:
        parts.append(tuple(
            Part(_block_of(part, old, new), part.mask, columns_of(int(old.tables.block[part.block, 2]), part.columns))
            for part in own
        ))  # fmt: skip
    return FittedModel(model.score, model.orders, tuple(parts), columns_of(0, model.context_columns), layout)


def _block_of(part: Part, old: ScoreDesign, new: ScoreDesign) -> int:
    beyond = part.block - old.shifted
    return new.shifted + beyond if beyond >= 0 else new.masks.index(part.mask)


def owners(about: Ints, columns: Iterable[int]) -> tuple[int, ...]:
    """The variables that columns are made of, sorted."""
    chosen = np.asarray(list(columns), dtype=np.int64)
    found = np.concatenate([about[OWNER, chosen], about[PARTNER, chosen]])
    return tuple(np.unique(found[found >= 0]).tolist())


def members(mask: int, contexts: int) -> list[int]:
    """The contexts of a bit mask."""
    return [r for r in range(contexts) if mask >> r & 1]
