"""The log: for every pair and context the test that decided, with its rows, numbers and verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causalcontext.independence.labels import Label
from causalcontext.kernels.arrays import Bools, Floats, Ints, Shorts, Values
from causalcontext.kernels.levels.skeleton import CUT, DF, LABEL, MASK, REASON, ROWS, SIZE, STATISTIC, UNTESTED, P
from causalcontext.questions import Trial
from causalcontext.search.ledger import Ledger, slot
from causalcontext.search.plan import Plan


class Decision(IntEnum):
    """What became of a pair in a context."""

    PRESENT = 0
    ABSENT = 1
    UNTESTABLE = 2
    REQUIRED = 3
    FORBIDDEN = 4
    NOT_SEARCHED = 5


@dataclass(frozen=True, eq=False)
class TrialLog:
    """The deciding trial of every pair `i < j` in every context, as arrays of shape (contexts, pairs).

    Attributes
    ----------
    decision : array of `Decision`
    p, statistic, df : arrays of float
        Of the separating trial, or of the one with the largest p-value where the edge was kept; NaN without a test.
    n : array of int
        Rows used.
    view : array of int
        The number of the view that answered: 0 for all rows; -1 without a test.
    given : array of int, shape (contexts, pairs, width)
        The conditioning set, padded with -1; context variables that the view fixes are not among them.
    reason : array of `Reason`
        Why a pair could not be tested.
    untested : array of int
        How many trials of the pair could not be run.
    cut : array of int
        The size from which on not all sets were tried, since there are too many; 0 where all were.
    label : array of int
        Which of `labels`, the tests, was used.
    """

    decision: NDArray[np.int8]
    p: Floats
    statistic: Floats
    df: Floats
    n: Ints
    view: Ints
    given: Shorts
    reason: NDArray[np.int8]
    untested: Ints
    cut: Ints
    label: NDArray[np.int8]
    labels: tuple[Label, ...]

    @classmethod
    def from_ledger(cls, plan: Plan, ledger: Ledger, contexts: int, labels: tuple[Label, ...]) -> TrialLog:
        """The log of a search; a single pooled graph stands for every context."""
        shape = (contexts, ledger.first.size)
        facts = ledger.facts
        numbers = np.where(facts[:, :, MASK, None] >= 0, ledger.numbers, np.nan)
        given = _conditions(plan, ledger)
        return cls(
            decision=_for_every(_decisions(plan, ledger), shape),
            p=_for_every(numbers[:, :, P], shape),
            statistic=_for_every(numbers[:, :, STATISTIC], shape),
            df=_for_every(numbers[:, :, DF], shape),
            n=_for_every(facts[:, :, ROWS], shape),
            view=_for_every(_views(plan, ledger), shape),
            given=_for_every(given, (*shape, given.shape[2])),
            reason=_for_every(facts[:, :, REASON].astype(np.int8), shape),
            untested=_for_every(facts[:, :, UNTESTED], shape),
            cut=_for_every(np.where(ledger.separated(), 0, facts[:, :, CUT]), shape),
            label=_for_every(facts[:, :, LABEL].astype(np.int8), shape),
            labels=labels,
        )

    @classmethod
    def empty(cls, contexts: int, variables: int) -> TrialLog:
        """The log of a method without tests."""
        shape = (contexts, variables * (variables - 1) // 2)
        none, zero = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
        decision = np.full(shape, Decision.NOT_SEARCHED, dtype=np.int8)
        given = np.full((*shape, 0), -1, dtype=np.int16)
        return cls(decision, none, none, none, zero, np.full(shape, -1), given, zero.astype(np.int8), zero,
                   zero, zero.astype(np.int8), ())  # fmt: skip

    @property
    def variables(self) -> int:
        """How many variables the pairs are made of."""
        return int((1 + (1 + 8 * self.p.shape[1]) ** 0.5) // 2)

    def slot(self, x: int, y: int) -> int:
        """The place of a pair."""
        return slot(x, y, self.variables)

    def conditions(self, context: int, slot: int) -> tuple[int, ...]:
        """The conditioning set of the deciding trial of a pair."""
        return tuple(int(z) for z in self.given[context, slot] if z >= 0)

    def trial(self, context: int, x: int, y: int) -> Trial:
        """The deciding trial of a pair, to run it again."""
        slot = self.slot(x, y)
        return Trial(x, y, self.conditions(context, slot), max(int(self.view[context, slot]), 0))

    def strength(self, context: int, slot: int) -> float:
        """The strength of the dependence in the deciding trial, on the scale of a correlation; NaN without a test."""
        if not self.labels:
            return float("nan")
        label = self.labels[int(self.label[context, slot])]
        return label.strength_of(float(self.statistic[context, slot]), int(self.n[context, slot]))

    def frame(self, names: Sequence[str], contexts: Sequence[Any], views: Sequence[str]) -> pd.DataFrame:
        """The log as a tidy table, with views in words; pairs that the method does not search are left out."""
        first, second = np.triu_indices(len(names), 1)
        row, pair = np.nonzero(self.decision != Decision.NOT_SEARCHED)
        name = np.array(names, dtype=object)
        names_of_tests = ["", *(label.name for label in self.labels)]
        values = np.empty(len(contexts), dtype=object)
        values[:] = contexts
        return pd.DataFrame(
            {
                "context": values[row],
                "x": name[first[pair]],
                "y": name[second[pair]],
                "given": _named_sets(self.given[row, pair], names),
                "rows": np.array(["", *views], dtype=object)[self.view[row, pair] + 1],
                "test": np.array(names_of_tests, dtype=object)[
                    np.where(self.view[row, pair] < 0, 0, self.label[row, pair] + 1)
                ],
                "statistic": self.statistic[row, pair],
                "df": self.df[row, pair],
                "p": self.p[row, pair],
                "n": self.n[row, pair].astype(np.int64),
                "decision": np.array([d.name.lower() for d in Decision], dtype=object)[self.decision[row, pair]],
                "untested": self.untested[row, pair].astype(np.int64),
            }
        )

    def not_searched(self, *variables: int) -> TrialLog:
        """This log, with all pairs of some variables marked as not searched."""
        first, second = np.triu_indices(self.variables, 1)
        decision = self.decision.copy()
        decision[:, np.isin(first, variables) | np.isin(second, variables)] = Decision.NOT_SEARCHED
        return replace(self, decision=decision)

    def combined(self, other: TrialLog, take_other: Bools) -> TrialLog:
        """This log, with the entries of another one where `take_other` is true; shape (contexts, pairs)."""
        width = max(self.given.shape[2], other.given.shape[2])
        values: dict[str, Any] = {"labels": self.labels}
        for field in fields(self):
            if field.name == "labels":
                continue
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if field.name == "given":
                mine, theirs = _padded(mine, width), _padded(theirs, width)
                values["given"] = np.where(take_other[:, :, None], theirs, mine)
            else:
                values[field.name] = np.where(take_other, theirs, mine)
        return TrialLog(**values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrialLog) or self.labels != other.labels:
            return False
        names = [field.name for field in fields(self) if field.name not in ("labels", "given")]
        return all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True) for name in names
        ) and np.array_equal(_trimmed(self.given), _trimmed(other.given))

    __hash__ = None  # type: ignore[assignment]


def _for_every(array: Values, shape: tuple[int, ...]) -> Values:
    """The array itself where every context has its own entries, else the entries of one graph for all of them."""
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _views(plan: Plan, ledger: Ledger) -> Ints:
    """The view of every deciding test; -1 without one."""
    mask = ledger.facts[:, :, MASK]
    graph = np.arange(len(mask))[:, None]
    return np.where(mask >= 0, plan.views[graph, np.maximum(mask, 0)], -1)


def _conditions(plan: Plan, ledger: Ledger) -> Shorts:
    """The conditioning sets, with what the masks keep of their triggers at the end."""
    kept = max(len(mask.kept) for mask in plan.masks)
    if kept == 0:
        return ledger.given
    given = _padded(ledger.given, ledger.given.shape[2] + kept)
    for place, mask in enumerate(plan.masks):
        graph, pair = np.nonzero(ledger.facts[:, :, MASK] == place)
        for offset, column in enumerate(mask.kept):
            given[graph, pair, ledger.facts[graph, pair, SIZE] + offset] = column
    return given


def _decisions(plan: Plan, ledger: Ledger) -> NDArray[np.int8]:
    """The decision on every pair of every graph."""
    decision = np.where(ledger.facts[:, :, MASK] >= 0, Decision.PRESENT, Decision.UNTESTABLE)
    decision = np.where(ledger.separated(), Decision.ABSENT, decision)
    constant = [position for position in plan.contexts.positions if position not in plan.searched]
    decision[:, np.isin(ledger.first, constant) | np.isin(ledger.second, constant)] = Decision.NOT_SEARCHED
    decision[:, plan.links.absent[ledger.first, ledger.second]] = Decision.FORBIDDEN
    decision[:, plan.links.required[ledger.first, ledger.second]] = Decision.REQUIRED
    return decision.astype(np.int8)


def _named_sets(given: Shorts, names: Sequence[str]) -> NDArray[np.object_]:
    """Conditioning sets as tuples of names."""
    sets = np.empty(len(given), dtype=object)
    sets[:] = [()] * len(given)
    for i in np.flatnonzero((given >= 0).any(axis=1)):
        sets[i] = tuple(names[z] for z in given[i] if z >= 0)
    return sets


def _padded(given: Shorts, width: int) -> Shorts:
    return np.pad(given, ((0, 0), (0, 0), (0, width - given.shape[2])), constant_values=-1)


def _trimmed(given: Shorts) -> Shorts:
    """The same sets without columns that hold nothing."""
    return given[:, :, (given >= 0).any(axis=(0, 1))]
