"""What a method of a study is given, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from causalcontext.graphs.endpoints import Endpoints
from causalcontext.knowledge import Knowledge


@dataclass(frozen=True, eq=False)
class StudyTask:
    """A table, its context, what is known about links, and how to test.

    `memory` is shared by all tasks on the same table, for what need not be computed twice.
    """

    table: pd.DataFrame
    context: str
    knowledge: Knowledge
    test: str
    alpha: float
    memory: dict[str, Any] = field(default_factory=dict)

    @property
    def position(self) -> int:
        """The place of the context among the columns."""
        return list(self.table.columns).index(self.context)


@dataclass(frozen=True, eq=False)
class EstimatedEndpoints:
    """Found ends in the order of the table's columns.

    Attributes
    ----------
    contexts : array of ends, shape (contexts, N, N), or None
        None for methods that find the union alone.
    union : array of ends, shape (1, N, N)
    tests : mapping
        How many tests were run on which rows, where the method counts them.
    """

    contexts: Endpoints | None
    union: Endpoints
    tests: Mapping[str, int] = field(default_factory=dict)
