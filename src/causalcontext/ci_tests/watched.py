"""A prepared test that answers in parts and says so, so that time limits are kept and progress is shown in between."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from causalcontext.ci_tests.protocol import Declared, PreparedTest
from causalcontext.progress import Watch
from causalcontext.views import CIQuery, Outcomes

PART_SECONDS = 0.2
"""About what a part takes."""
FIRST_PART = 8
"""Queries of the first part."""


class Watched(Declared):
    """The same test; a watch hears about every part."""

    def __init__(self, prepared: PreparedTest, watch: Watch) -> None:
        self.labels, self.gaussian, self.compiled_roles = prepared.labels, prepared.gaussian, prepared.compiled_roles
        self._prepared, self._watch, self._part = prepared, watch, FIRST_PART

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, in order."""
        found, place = [], 0
        while place < len(queries):
            part, begin = queries[place : place + self._part], time.perf_counter()
            found.append(self._prepared.answer(part))
            taken = time.perf_counter() - begin
            self._part = max(1, min(2 * self._part, int(len(part) * PART_SECONDS / max(taken, 1e-6))))
            place += len(part)
            self._watch.answered(len(part))
        return joined(found) if len(found) != 1 else found[0]


def joined(parts: Sequence[Outcomes]) -> Outcomes:
    """The outcomes of several parts in a row."""
    if not parts:
        empty = np.empty(0)
        return Outcomes(empty, empty, empty, empty.astype(np.int64), empty.astype(np.int8))
    label = None
    if any(part.label is not None for part in parts):
        label = np.concatenate([np.zeros(len(part.p), np.int8) if part.label is None else part.label for part in parts])
    return Outcomes(
        np.concatenate([part.statistic for part in parts]),
        np.concatenate([part.df for part in parts]),
        np.concatenate([part.p for part in parts]),
        np.concatenate([part.n for part in parts]),
        np.concatenate([part.reason for part in parts]),
        label,
    )
