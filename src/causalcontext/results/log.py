"""The log: for every pair and context the test that decided, with its rows, numbers and verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causalcontext.kernels.levels.skeleton import CUT, DF, LABEL, REASON, ROWS, STATISTIC, UNTESTED, VIEW, P
from causalcontext.questions import Trial
from causalcontext.search.ledger import Ledger
from causalcontext.search.plan import NO_CONTEXT, Plan


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
        -1 without a test, 0 for all rows, 1 + level for the rows of one context.
    given : array of int, shape (contexts, pairs, width)
        The conditioning set, padded with -1.
    reason : array of `Reason`
        Why a pair could not be tested.
    untested : array of int
        How many trials of the pair could not be run.
    cut : array of int
        The size from which on not all sets were tried, since there are too many; 0 where all were.
    label : array of int
        Which of `labels`, the names of tests, was used.
    """

    decision: NDArray[np.int8]
    p: NDArray[np.float64]
    statistic: NDArray[np.float64]
    df: NDArray[np.float64]
    n: NDArray[np.int64]
    view: NDArray[np.int64]
    given: NDArray[np.int16]
    reason: NDArray[np.int8]
    untested: NDArray[np.int64]
    cut: NDArray[np.int64]
    label: NDArray[np.int8]
    labels: tuple[str, ...]

    @classmethod
    def from_ledger(cls, plan: Plan, ledger: Ledger, contexts: int, labels: tuple[str, ...]) -> TrialLog:
        """The log of a search; a single pooled graph stands for every context."""
        shape = (contexts, ledger.first.size)
        numbers, facts, given = ledger.records
        tested = facts[:, :, VIEW] >= 0
        numbers = np.where(tested[:, :, None], numbers, np.nan)
        return cls(
            decision=_for_every(_decisions(plan, ledger), shape),
            p=_for_every(numbers[:, :, P], shape),
            statistic=_for_every(numbers[:, :, STATISTIC], shape),
            df=_for_every(numbers[:, :, DF], shape),
            n=_for_every(facts[:, :, ROWS], shape),
            view=_for_every(facts[:, :, VIEW], shape),
            given=_for_every(given, (*shape, given.shape[2])),
            reason=_for_every(facts[:, :, REASON].astype(np.int8), shape),
            untested=_for_every(facts[:, :, UNTESTED], shape),
            cut=_for_every(np.where(ledger.separated(), 0, facts[:, :, CUT]), shape),
            label=_for_every(np.minimum(facts[:, :, LABEL], len(labels) - 1).astype(np.int8), shape),
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

    def slot(self, x: int, y: int) -> int:
        """The place of a pair."""
        pairs = self.p.shape[1]
        variables = int((1 + (1 + 8 * pairs) ** 0.5) // 2)
        i, j = min(x, y), max(x, y)
        return i * (2 * variables - i - 1) // 2 + j - i - 1

    def trial(self, context: int, slot: int, pair: tuple[int, int], context_column: int | None) -> Trial:
        """The deciding trial of a pair, to run it again."""
        view = int(self.view[context, slot])
        given = tuple(int(z) for z in self.given[context, slot] if z >= 0)
        where = ((context_column, view - 1),) if view > 0 and context_column is not None else ()
        return Trial(pair[0], pair[1], given, where)

    def frame(self, names: Sequence[str], contexts: Sequence[Any], context: str | None) -> pd.DataFrame:
        """The log as a tidy table; pairs that the method does not search are left out."""
        first, second = np.triu_indices(len(names), 1)
        row, pair = np.nonzero(self.decision != Decision.NOT_SEARCHED)
        name = np.array(names, dtype=object)
        places = np.array(["" if context is None else f"{context}={value}" for value in contexts], dtype=object)
        rows = np.concatenate([["", "pooled"], places])[self.view[row, pair] + 1]
        values = np.empty(len(contexts), dtype=object)
        values[:] = contexts
        return pd.DataFrame(
            {
                "context": values[row],
                "x": name[first[pair]],
                "y": name[second[pair]],
                "given": _named_sets(self.given[row, pair], names),
                "rows": rows,
                "test": np.array(("", *self.labels), dtype=object)[
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

    def not_searched(self, variable: int) -> TrialLog:
        """This log, with all pairs of one variable marked as not searched."""
        variables = int((1 + (1 + 8 * self.p.shape[1]) ** 0.5) // 2)
        first, second = np.triu_indices(variables, 1)
        decision = self.decision.copy()
        decision[:, (first == variable) | (second == variable)] = Decision.NOT_SEARCHED
        return replace(self, decision=decision)

    def combined(self, other: TrialLog, take_other: NDArray[np.bool_]) -> TrialLog:
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


def _for_every(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The array itself where every context has its own entries, else the entries of one graph for all of them."""
    return array if array.shape == shape else np.broadcast_to(array, shape)


def _decisions(plan: Plan, ledger: Ledger) -> NDArray[np.int8]:
    """The decision on every pair of every graph."""
    tested = ledger.records.facts[:, :, VIEW] >= 0
    decision = np.where(tested, Decision.PRESENT, Decision.UNTESTABLE)
    decision = np.where(ledger.separated(), Decision.ABSENT, decision)
    if not plan.searches_context:
        decision[:, _at_context(plan, ledger)] = Decision.NOT_SEARCHED
    decision[:, plan.links.absent[ledger.first, ledger.second]] = Decision.FORBIDDEN
    decision[:, plan.links.required[ledger.first, ledger.second]] = Decision.REQUIRED
    return decision.astype(np.int8)


def _at_context(plan: Plan, ledger: Ledger) -> NDArray[np.bool_]:
    """True for the pairs that hold the context."""
    if plan.context == NO_CONTEXT:
        return np.zeros(ledger.first.size, dtype=bool)
    at_context: NDArray[np.bool_] = (ledger.first == plan.context) | (ledger.second == plan.context)
    return at_context


def _named_sets(given: NDArray[np.int16], names: Sequence[str]) -> NDArray[np.object_]:
    """Conditioning sets as tuples of names."""
    sets = np.empty(len(given), dtype=object)
    sets[:] = [()] * len(given)
    for i in np.flatnonzero((given >= 0).any(axis=1)):
        sets[i] = tuple(names[z] for z in given[i] if z >= 0)
    return sets


def _padded(given: NDArray[np.int16], width: int) -> NDArray[np.int16]:
    return np.pad(given, ((0, 0), (0, 0), (0, width - given.shape[2])), constant_values=-1)


def _trimmed(given: NDArray[np.int16]) -> NDArray[np.int16]:
    """The same sets without columns that hold nothing."""
    return given[:, :, (given >= 0).any(axis=(0, 1))]
