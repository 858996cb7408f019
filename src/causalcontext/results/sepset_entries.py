"""Entries of the log, made out of the records of a search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.arrays import Ints, Shorts, Values
from causalcontext.kernels.levels.skeleton import (
    CUT,
    DF,
    LABEL,
    MASK,
    REASON,
    ROWS,
    SEPARATED,
    SIZE,
    STATISTIC,
    UNTESTED,
    Decisions,
    P,
)
from causalcontext.results.entries import Decision, Entries, padded
from causalcontext.search.plan import Plan
from causalcontext.search.sepsets import SepsetRecords


@dataclass(frozen=True, eq=False)
class FromSepsets:
    """Entries made out of the records of a search; a single pooled graph stands for every context."""

    plan: Plan
    sepsets: SepsetRecords
    contexts: int

    def listed(self) -> Entries:
        """The entries of pairs that the sepset records lists."""
        return self.made(self.sepsets.first, self.sepsets.second, self.sepsets.records())

    def entries(self, first: Ints, second: Ints) -> Entries:
        """The entries of pairs that the sepset records does not list."""
        return self.made(first, second, self.sepsets.unlisted(first, second))

    def made(self, first: Ints, second: Ints, records: Decisions) -> Entries:
        """The entries of pairs with these records, shapes (graphs, pairs, ...)."""
        shape, facts = (self.contexts, first.size), records.facts
        numbers = np.where(facts[:, :, MASK, None] >= 0, records.numbers, np.nan)
        given = _conditions(self.plan, records)
        return Entries(
            decision=_for_every(_decisions(self.plan, first, second, records), shape),
            p=_for_every(numbers[:, :, P], shape),
            statistic=_for_every(numbers[:, :, STATISTIC], shape),
            df=_for_every(numbers[:, :, DF], shape),
            n=_for_every(facts[:, :, ROWS], shape),
            view=_for_every(_views(self.plan, records), shape),
            given=_for_every(given, (*shape, given.shape[2])),
            reason=_for_every(facts[:, :, REASON].astype(np.int8), shape),
            untested=_for_every(facts[:, :, UNTESTED], shape),
            cut=_for_every(np.where(facts[:, :, SEPARATED] == 1, 0, facts[:, :, CUT]), shape),
            label=_for_every(facts[:, :, LABEL].astype(np.int8), shape),
        )


def _for_every(array: Values, shape: tuple[int, ...]) -> Values:
    """The array itself where every context has its own entries, else the entries of one graph for all of them."""
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _views(plan: Plan, records: Decisions) -> Ints:
    """The view of every deciding test; -1 without one."""
    mask = records.facts[:, :, MASK]
    graph = np.arange(len(mask))[:, None]
    return np.where(mask >= 0, plan.views[graph, np.maximum(mask, 0)], -1)


def _conditions(plan: Plan, records: Decisions) -> Shorts:
    """The conditioning sets, with what the masks keep of their triggers at the end."""
    kept = max(len(mask.kept) for mask in plan.masks)
    if kept == 0:
        return records.given
    given = padded(records.given, records.given.shape[2] + kept)
    for place, mask in enumerate(plan.masks):
        graph, pair = np.nonzero(records.facts[:, :, MASK] == place)
        for offset, column in enumerate(mask.kept):
            given[graph, pair, records.facts[graph, pair, SIZE] + offset] = column
    return given


def _decisions(plan: Plan, first: Ints, second: Ints, records: Decisions) -> NDArray[np.int8]:
    """The decision on every pair of every graph."""
    decision = np.where(records.facts[:, :, MASK] >= 0, Decision.PRESENT, Decision.UNTESTABLE)
    decision = np.where(records.facts[:, :, SEPARATED] == 1, Decision.ABSENT, decision)
    constant = [position for position in plan.contexts.positions if position not in plan.searched]
    decision[:, np.isin(first, constant) | np.isin(second, constant)] = Decision.NOT_SEARCHED
    decision[:, plan.links.rule_out(first, second)] = Decision.FORBIDDEN
    decision[:, plan.links.required[first, second]] = Decision.REQUIRED
    return decision.astype(np.int8)
