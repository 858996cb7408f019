"""The outcome of every method: the endpoints of all contexts, and how they came about; settings and
table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from causalcontext.graphs.endpoints import Endpoints, GraphKind
from causalcontext.kernels.arrays import Ints
from causalcontext.knowledge import Knowledge
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import CITestLog
from causalcontext.results.series import SeriesFacts
from causalcontext.results.wrong_cells import CleanedTable
from causalcontext.search.family import Doubt, EdgeEnd, Origin


@dataclass(frozen=True)
class Settings:
    """The settings that a result was made with."""

    method: str
    test: str
    alpha: float
    collider_rule: str
    max_given: int | None
    missing: str
    seed: int
    knowledge: Knowledge
    version: str
    masked_scope: str = "adaptive"
    orientation: str = "within"
    indicator: str | None = None
    score: Mapping[str, Any] = field(default_factory=dict)
    possible_dsep: int | None = None
    contested: str = "conflict"
    context_confounded: bool = True
    series: Mapping[str, Any] = field(default_factory=dict)
    transform: str = "none"
    test_traits: tuple[str, ...] = ()  # what the test declares, of `ci_tests.protocol.TRAITS`


@dataclass(frozen=True)
class DataSummary:
    """The rows and columns that were analysed, and those that were not.

    Attributes
    ----------
    rows, lost : tuple of int
        Rows used, and rows dropped for missing values, for every context.
    without_context : int
        Rows dropped because the context itself is missing.
    emptied : tuple of (value, int)
        Contexts without a graph, and how many rows each lost.
    kinds : tuple of str
        The kind of every column.
    fingerprint : str
        Tells tables apart; two results with the same one come from the same values.
    levels : tuple of tuples
        What the codes of categorical and ordered columns stand for, in order; empty for numbers and
        contexts.
    """

    rows: tuple[int, ...]
    lost: tuple[int, ...]
    without_context: int
    emptied: tuple[tuple[Any, int], ...]
    kinds: tuple[str, ...]
    fingerprint: str
    levels: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Outcome:
    """The endpoints of every context, shape (contexts, N, N), and how they came about.

    `series` has what only a search with lags knows; its nodes are those of a window. `cleaned` is
    what was searched in place of a table with wrong cells.
    """

    endpoints: Endpoints
    log: CITestLog
    tests: Ints
    complete: bool
    origins: Mapping[EdgeEnd, Origin] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    evidence: ScoreEvidence | None = None
    notes: tuple[str, ...] = ()
    method: str | None = None
    kind: GraphKind = GraphKind.CPDAG
    warnings: tuple[str, ...] = ()
    series: SeriesFacts | None = None
    cleaned: CleanedTable | None = None

    def whole(self) -> Outcome:
        """The outcome, for callers that cannot use half of one: after Ctrl-C the interrupt is
        raised again.
        """
        if not self.complete:
            raise KeyboardInterrupt
        return self

    def for_all(self, contexts: int) -> Outcome:
        """The same where one pooled graph stands for all contexts."""
        if len(self.endpoints) == contexts:
            return self
        origins = {
            (cell, a, b): origin
            for (_, a, b), origin in self.origins.items()
            for cell in range(contexts)
        }
        return replace(self, endpoints=np.repeat(self.endpoints, contexts, axis=0), origins=origins)
