"""The log: for every pair and context the test that decided, with its rows, numbers and verdict.

`Entries` are the deciding queries: what was asked, what came out, and what became of the pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.ci_tests.protocol import Label
from causalcontext.data.frames import frame_of, pd
from causalcontext.kernels.arrays import Bools, Floats, Ints, Shorts, Values
from causalcontext.kernels.levels import skeleton
from causalcontext.kernels.levels.skeleton import MASK, SEPARATED, Decisions
from causalcontext.progress import ArrayEnumType
from causalcontext.search.plan import Plan
from causalcontext.search.sepsets import SepsetRecords, pairs_at, slot
from causalcontext.views import CIQuery


class Decision(IntEnum, metaclass=ArrayEnumType):
    """The fate of a pair in a context."""

    PRESENT = 0
    ABSENT = 1
    UNTESTABLE = 2
    REQUIRED = 3
    FORBIDDEN = 4
    NOT_SEARCHED = 5


@dataclass(frozen=True, eq=False)
class Entries:
    """The deciding queries of some pairs in every context, as arrays of shape (contexts, pairs), or
    of one pair in one.

    `p`, `statistic` and `df` are of the separating query, or of the one with the largest p-value
    where the edge was kept; NaN without a test.
    """

    decision: NDArray[np.int8]  # a `Decision`
    p: Floats
    statistic: Floats
    df: Floats
    n: Ints  # rows used
    view: Ints  # the number of the view that answered: 0 for all rows; -1 without a test
    given: Shorts
    """The conditioning set, shape (contexts, pairs, width), padded with -1; without contexts that
    the view fixes.
    """
    reason: NDArray[np.int8]  # why a pair could not be tested, a `Reason`
    untested: Ints  # how many queries of the pair could not be run
    # the size from which on not all sets were tried, since there are too many; 0 where all were
    cut: Ints
    label: NDArray[np.int8]  # which of the labels of the log, the tests, was used

    @property
    def conditions(self) -> tuple[int, ...]:
        """The conditioning set of the deciding query of one pair in one context."""
        return tuple(int(z) for z in self.given if z >= 0)


_NAMES = tuple(field.name for field in fields(Entries))


def picked(entries: Entries, places: Ints) -> Entries:
    """Entries of some of the pairs, by their places."""
    return Entries(*(getattr(entries, name)[:, places] for name in _NAMES))


def woven(listed: Entries, others: Entries, where: Bools) -> Entries:
    """Entries of the pairs for which `where` is true, and of all others, in the order of the
    pairs.
    """
    values: dict[str, Any] = {}
    listed, others = alike(listed, others)
    for field in fields(Entries):
        mine = getattr(listed, field.name)
        theirs = getattr(others, field.name)
        values[field.name] = made = np.empty(
            (len(mine), where.size, *mine.shape[2:]), dtype=mine.dtype
        )
        made[:, where] = mine
        made[:, ~where] = theirs
    return Entries(**values)


def alike(first: Entries, other: Entries) -> tuple[Entries, Entries]:
    """The same entries, with sets of the same width, so that they can stand in one array."""
    width = max(first.given.shape[2], other.given.shape[2])
    return replace(first, given=padded(first.given, width)), replace(
        other, given=padded(other.given, width)
    )


def padded(given: Shorts, width: int) -> Shorts:
    """The sets with -1 behind them, up to a width; shape (contexts, pairs, width)."""
    return np.pad(given, ((0, 0), (0, 0), (0, width - given.shape[2])), constant_values=-1)


class CITestLog:
    """The deciding query of every pair `i < j` in every context.

    The log of a wide table keeps the pairs that live past the empty set; the entries of all others
    are made when they are asked for. `some` has those of chosen pairs, `blocks` all of them a part
    at a time, and `everything` all of them at once; its columns are properties of the log as well.
    `slots` are the pairs that are kept, by their place among all pairs; all of them by default.
    """

    COLUMNS = (
        "context",
        "x",
        "y",
        "given",
        "rows",
        "test",
        "statistic",
        "df",
        "p",
        "n",
        "decision",
        "untested",
    )
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

    def __init__(
        self,
        entries: Entries | FromSepsets,
        variables: int,
        labels: tuple[Label, ...],
        slots: Ints | None = None,
    ) -> None:
        self._entries = entries
        self.variables = variables
        self.labels = labels
        self.slots = slots

    @classmethod
    def from_sepsets(
        cls, plan: Plan, sepsets: SepsetRecords, contexts: int, labels: tuple[Label, ...]
    ) -> CITestLog:
        """The log of a search; a single pooled graph stands for every context."""
        source = FromSepsets(replace(plan, across=None), sepsets, contexts)
        return cls(source, sepsets.variables, labels, sepsets.slots)

    @classmethod
    def empty(cls, contexts: int, variables: int) -> CITestLog:
        """The log of a method without tests."""
        shape = (contexts, variables * (variables - 1) // 2)
        none = np.full(shape, np.nan)
        zero = np.zeros(shape, dtype=np.int64)
        decision = np.full(shape, Decision.NOT_SEARCHED, dtype=np.int8)
        given = np.full((*shape, 0), -1, dtype=np.int16)
        entries = Entries(
            decision,
            none,
            none,
            none,
            zero,
            np.full(shape, -1),
            given,
            zero.astype(np.int8),
            zero,
            zero,
            zero.astype(np.int8),
        )
        return cls(entries, variables, ())

    @cached_property
    def kept(self) -> Entries:
        """The entries that are kept."""
        if isinstance(self._entries, Entries):
            return self._entries
        sepsets = self._entries.sepsets
        return self._entries.made(sepsets.first, sepsets.second, sepsets.records())

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return self.variables * (self.variables - 1) // 2

    def slot(self, x: int, y: int) -> int:
        """The place of a pair."""
        return slot(x, y, self.variables)

    def some(self, slots: Ints) -> Entries:
        """The entries of some pairs, by their places; in every context."""
        if self.slots is None or isinstance(self._entries, Entries):
            return picked(self.kept, slots)
        index = np.searchsorted(self.slots, slots)
        listed = index < self.slots.size
        listed[listed] = self.slots[index[listed]] == slots[listed]
        if listed.all():
            return picked(self.kept, index)
        first, second = pairs_at(slots[~listed], self.variables)
        made = self._entries.made(first, second, self._entries.sepsets.unlisted(first, second))
        return woven(picked(self.kept, index[listed]), made, listed)

    def at(self, context: int, slot: int) -> Entries:
        """The entry of one pair in one context."""
        entries = self.kept  # of thousands in a report most are kept
        index = slot
        if self.slots is not None and not isinstance(self._entries, Entries):
            index = int(np.searchsorted(self.slots, slot))
            if index == self.slots.size or self.slots[index] != slot:
                entries = self.some(np.array([slot]))
                index = 0
        return Entries(*(getattr(entries, name)[context, index] for name in _NAMES))

    def blocks(self, size: int = 2**18) -> Iterator[tuple[Ints, Entries]]:
        """The places of all pairs and their entries, so many at a time."""
        for begin in range(0, self.pairs, size):
            slots = np.arange(begin, min(begin + size, self.pairs))
            yield slots, self.some(slots)

    @cached_property
    def everything(self) -> Entries:
        """The entries of all pairs: of a wide table these are many."""
        return self.kept if self.slots is None else self.some(np.arange(self.pairs))

    def query(self, context: int, x: int, y: int) -> CIQuery:
        """The deciding query of a pair, to run it again."""
        entry = self.at(context, self.slot(x, y))
        return CIQuery(x, y, entry.conditions, max(int(entry.view), 0))

    def strength(self, context: int, slot: int) -> float:
        """The strength of the dependence in the deciding query, on the scale of a correlation; NaN
        without a test.
        """
        if not self.labels:
            return float("nan")
        entry = self.at(context, slot)
        return self.labels[int(entry.label)].strength_of(float(entry.statistic), int(entry.n))

    def frame(
        self,
        names: Sequence[str],
        contexts: Sequence[Any],
        views: Sequence[str],
        columns: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """The log as a tidy table, with views in words; pairs that the method does not search are
        left out.

        `columns` are what conditions may be, the variables by default.
        """
        first, second = np.triu_indices(len(names), 1)
        row, pair = np.nonzero(self.decision != Decision.NOT_SEARCHED)
        name = np.array(names, dtype=object)
        tests = np.array(["", *(label.name for label in self.labels)], dtype=object)
        values = np.empty(len(contexts), dtype=object)
        sets = np.empty(len(row), dtype=object)
        values[:] = contexts
        sets[:] = [()] * len(row)
        given = self.given[row, pair]
        for i in np.flatnonzero((given >= 0).any(axis=1)):
            sets[i] = tuple((columns or names)[z] for z in given[i] if z >= 0)
        return frame_of(
            {
                "context": values[row],
                "x": name[first[pair]],
                "y": name[second[pair]],
                "given": sets,
                "rows": np.array(["", *views], dtype=object)[self.view[row, pair] + 1],
                "test": tests[np.where(self.view[row, pair] < 0, 0, self.label[row, pair] + 1)],
                "statistic": self.statistic[row, pair],
                "df": self.df[row, pair],
                "p": self.p[row, pair],
                "n": self.n[row, pair].astype(np.int64),
                "decision": np.array([d.name.lower() for d in Decision], dtype=object)[
                    self.decision[row, pair]
                ],
                "untested": self.untested[row, pair].astype(np.int64),
            }
        )

    def not_searched(self, *variables: int) -> CITestLog:
        """This log, with all pairs of some variables marked as not searched."""
        first, second = np.triu_indices(self.variables, 1)
        decision = self.decision.copy()
        decision[:, np.isin(first, variables) | np.isin(second, variables)] = Decision.NOT_SEARCHED
        return CITestLog(replace(self.everything, decision=decision), self.variables, self.labels)

    def combined(self, other: CITestLog, take_other: Bools) -> CITestLog:
        """This log, with the entries of another one where `take_other` is true; shape (contexts,
        pairs).
        """
        mine, theirs = alike(self.everything, other.everything)
        taken = {
            column.name: np.where(
                take_other[:, :, None] if column.name == "given" else take_other,
                getattr(theirs, column.name),
                getattr(mine, column.name),
            )
            for column in fields(Entries)
        }
        return CITestLog(Entries(**taken), self.variables, self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CITestLog) or self.labels != other.labels:
            return False
        names = [field.name for field in fields(Entries) if field.name != "given"]
        return all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True)
            for name in names
        ) and np.array_equal(_trimmed(self.given), _trimmed(other.given))

    __hash__ = None  # type: ignore[assignment]


for column in fields(Entries):
    setattr(CITestLog, column.name, property(attrgetter(f"everything.{column.name}")))


def _trimmed(given: Shorts) -> Shorts:
    """The same sets without columns that hold nothing."""
    return given[:, :, (given >= 0).any(axis=(0, 1))]


@dataclass(frozen=True, eq=False)
class FromSepsets:
    """Entries made out of the records of a search; a single pooled graph stands for every
    context.
    """

    plan: Plan
    sepsets: SepsetRecords
    contexts: int

    def made(self, first: Ints, second: Ints, records: Decisions) -> Entries:
        """The entries of pairs with these records, shapes (graphs, pairs, ...)."""
        facts = records.facts
        mask = facts[:, :, MASK]
        numbers = np.where(mask[:, :, None] >= 0, records.numbers, np.nan)
        views = self.plan.views[np.arange(len(mask))[:, None], np.maximum(mask, 0)]
        decision = np.where(records.facts[:, :, MASK] >= 0, Decision.PRESENT, Decision.UNTESTABLE)
        decision = np.where(records.facts[:, :, SEPARATED] == 1, Decision.ABSENT, decision)
        constant = [
            position
            for position in self.plan.contexts.positions
            if position not in self.plan.searched
        ]
        decision[:, np.isin(first, constant) | np.isin(second, constant)] = Decision.NOT_SEARCHED
        decision[:, self.plan.links.rule_out(first, second)] = Decision.FORBIDDEN
        decision[:, self.plan.links.required[first, second]] = Decision.REQUIRED
        kept = max(len(pair_mask.kept) for pair_mask in self.plan.masks)
        given = records.given
        # what masks keep of their triggers is at the end
        given = padded(given, given.shape[2] + kept) if kept else given
        for mask_index, pair_mask in enumerate(self.plan.masks if kept else ()):
            graph, pair = np.nonzero(mask == mask_index)
            for offset, column in enumerate(pair_mask.kept):
                given[graph, pair, facts[graph, pair, skeleton.SIZE] + offset] = column
        columns: dict[str, Values] = {
            "decision": decision.astype(np.int8),
            "p": numbers[:, :, skeleton.P],
            "statistic": numbers[:, :, skeleton.STATISTIC],
            "df": numbers[:, :, skeleton.DF],
            "n": facts[:, :, skeleton.ROWS],
            "view": np.where(mask >= 0, views, -1),
            "given": given,
            "reason": facts[:, :, skeleton.REASON].astype(np.int8),
            "untested": facts[:, :, skeleton.UNTESTED],
            "cut": np.where(facts[:, :, SEPARATED] == 1, 0, facts[:, :, skeleton.CUT]),
            "label": facts[:, :, skeleton.LABEL].astype(np.int8),
        }
        if len(mask) != self.contexts:
            columns = {
                name: np.broadcast_to(values, (self.contexts, *values.shape[1:]))
                for name, values in columns.items()
            }
        return Entries(**columns)
