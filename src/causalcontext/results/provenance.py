"""How a result was made, and from what: the settings of the search, and what is known of the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from causalcontext.knowledge import Knowledge


@dataclass(frozen=True)
class Settings:
    """How a result was made."""

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


@dataclass(frozen=True)
class DataSummary:
    """What was analysed, and what was not."""

    # `rows`, `lost`: rows used, and rows dropped for missing values, for every context
    rows: tuple[int, ...]
    lost: tuple[int, ...]
    without_context: int  # rows dropped because the context itself is missing
    emptied: tuple[tuple[Any, int], ...]  # contexts without a graph, and how many rows each lost
    kinds: tuple[str, ...]  # the kind of every column
    fingerprint: str  # tells tables apart; two results with the same one come from the same values
    # what the codes of categorical and ordered columns stand for, in order; empty for numbers and contexts
    levels: tuple[tuple[Any, ...], ...] = ()
