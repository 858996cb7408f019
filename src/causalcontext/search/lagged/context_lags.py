"""A pair at a context given other context lags: tested inside every value of these lags, and summed up.

A test that takes another context lag for a column would suppose that it moves levels only; but it may change slopes
as well. Inside each of its values there is nothing to suppose. p-values of separate rows are combined by Fisher's
method.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from causalcontext.ci_tests.protocol import Declared, Label, PreparedTest
from causalcontext.views import CIQuery, Contexts, Outcomes, Reason

BY_CONTEXT_LAG = Label("by the other context lag (Fisher)")
SMALLEST = 1e-300


class ByContextLags(Declared):
    """A prepared test whose queries at the context never have a context lag among their conditions.

    Parameters
    ----------
    prepared : PreparedTest
    contexts : Contexts
        The context lags.
    """

    def __init__(self, prepared: PreparedTest, contexts: Contexts) -> None:
        self._prepared, self._contexts = prepared, contexts
        self.labels = (*prepared.labels, BY_CONTEXT_LAG)

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order."""
        parts = [self._parts(query) for query in queries]
        asked = list(dict.fromkeys(part for some in parts for part in some))
        found = self._prepared.answer(asked)
        place = {query: i for i, query in enumerate(asked)}
        label = np.zeros(len(asked), dtype=np.int8) if found.label is None else found.label
        rows = [
            _single(found, label, place[some[0]]) if len(some) == 1
            else _combined(found, [place[part] for part in some], len(self.labels) - 1)
            for some in parts
        ]  # fmt: skip
        table = np.array(rows, dtype=np.float64).reshape(-1, 6)
        return Outcomes(table[:, 0], table[:, 1], table[:, 2], table[:, 3].astype(np.int64),
                        table[:, 4].astype(np.int8), table[:, 5].astype(np.int8))  # fmt: skip

    def _parts(self, query: CIQuery) -> list[CIQuery]:
        """The query itself, or one for every combination of values of the context lags among its conditions."""
        context_lags = self._contexts.positions
        named = [z for z in query.given if z in context_lags]
        if not named or not {query.x, query.y}.intersection(context_lags):
            return [query]
        given = tuple(z for z in query.given if z not in named)
        return [CIQuery(query.x, query.y, given, view) for view in self._contexts.parts(query.view, named)]


Row = tuple[float, float, float, int, int, int]


def _single(found: Outcomes, label: np.ndarray, i: int) -> Row:
    return (found.statistic[i], found.df[i], found.p[i], int(found.n[i]), int(found.reason[i]), int(label[i]))


def fisher(p: Sequence[float]) -> float:
    """One p-value for several of separate rows; those that are not known are left out, and without any it is 1.

    Examples
    --------
    >>> round(fisher([0.05, 0.05]), 4), fisher([float("nan")])
    (0.0175, 1.0)
    """
    known = [value for value in p if value == value]
    if not known:
        return 1.0
    return float(scipy.special.chdtrc(2 * len(known), float(-2.0 * np.log(np.maximum(known, SMALLEST)).sum())))


def _combined(found: Outcomes, places: list[int], label: int) -> Row:
    """Fisher's sum over the parts that could be tested."""
    told = [i for i in places if not found.reason[i]]
    if not told:
        return (np.nan, np.nan, np.nan, int(found.n[places].sum()), int(found.reason[places[0]]), label)
    statistic = float(-2.0 * np.log(np.maximum(found.p[told], SMALLEST)).sum())
    p = fisher(found.p[told].tolist())
    return (statistic, 2.0 * len(told), p, int(found.n[told].sum()), int(Reason.TESTABLE), label)
