"""By which columns do mechanisms change? `cc.find_contexts`, for who suspects a context and has no name for it.

Every column is asked in turn: categories, and numbers of few values, as they are, other numbers by their best cut. The
one with the most evidence is taken, what it changes is offered to every model, and the others are asked again: columns
that go along with a context look like contexts themselves until it is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.columns import number_text
from causalcontext.data.frames import frame_of
from causalcontext.data.indicators import threshold
from causalcontext.diagnostics.best_cut import asked_responses, cut_of, profile_of, searched_rows
from causalcontext.discover import discover
from causalcontext.errors import check_whole
from causalcontext.graphs.lag_names import at
from causalcontext.kernels.arrays import Floats
from causalcontext.knowledge import Knowledge
from causalcontext.results.cut import CUT
from causalcontext.score.changing import Table
from causalcontext.score.cuts import DEMAND, CutResponse, beside, grid_of, group_gains

if TYPE_CHECKING:
    import pandas as pd

    from causalcontext.results.contexts import ContextGraphs

COLUMNS = ("column", "kind", "cut", "low", "high", "evidence", "required", "changed", "call")
MOST_FOUND = 5
"""Columns that are suggested at most."""


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A column by which mechanisms change."""

    column: str
    value: float | None  # the cut of a number
    low: float | None
    high: float | None
    evidence: float
    required: float
    changed: tuple[str, ...]

    @property
    def context(self) -> str:
        """What to pass as the context."""
        return repr(self.column) if self.value is None else f"cc.threshold({self.column!r}, {number_text(self.value)})"


def find_contexts(
    table: Any,
    *,
    knowledge: Knowledge | None = None,
    lags: int | None = None,
    time: str | None = None,
    kinds: Mapping[str, str] | None = None,
    missing: str = "raise",
    names: Sequence[str] | None = None,
    most: int = MOST_FOUND,
    seed: int = 0,
) -> pd.DataFrame:
    """The columns by which mechanisms change, the one with the most evidence first; without rows if there is none.

    Parameters
    ----------
    table : what `discover` takes
    knowledge : Knowledge, optional
        Links that are required, forbidden or ordered.
    lags : int, optional
        Rows follow each other in time; mechanisms may change with a column or with its past.
    time, kinds, missing, names, seed
        As in `discover`.
    most : int
        How many columns are suggested at most.

    Returns
    -------
    DataFrame
        `column`; `kind`, "category" or "cut"; `cut` with its 95 % interval `low` to `high`; `evidence`, by how many
        nats the log score with the change exceeds that without it, or with a smooth change; what is `required`; the
        variables whose mechanism is `changed`; the `call` to make next, with the columns above it.

    Examples
    --------
    >>> import causalcontext as cc
    >>> found = cc.find_contexts(cc.examples.soil_moisture(2000, seed=1))
    >>> found["column"].tolist()
    ['soil']
    """
    check_whole("most", most, 1)
    options: dict[str, Any] = {"knowledge": knowledge, "lags": lags, "time": time, "kinds": kinds, "missing": missing}
    result = discover(table, None, method="score-ac", names=names, seed=seed, **options)
    found = suggested(result, most)
    asked = "".join(f", {name}={value!r}" for name, value in (("lags", lags), ("time", time)) if value is not None)
    rows = []
    for place, one in enumerate(found):
        contexts = [other.context for other in found[: place + 1]]
        context = contexts[0] if place == 0 else f"[{', '.join(contexts)}]"
        rows.append((one.column, "category" if one.value is None else CUT, one.value, one.low, one.high, one.evidence,
                     one.required, one.changed, f"cc.discover(table, {context}{asked})"))  # fmt: skip
    return frame_of(rows, columns=list(COLUMNS))


def suggested(result: ContextGraphs, most: int = MOST_FOUND) -> list[Suggestion]:
    """The columns by which mechanisms of a result change, one after the other; it has no context yet."""
    data = searched_rows(result)
    table = Table(data, ranks=result.evidence is not None and result.evidence.transform == "ranks")
    left = [name for name in data.names if result.series is None or name in result.series.variables]
    found: list[Suggestion] = []
    while left and len(found) < most:
        asked = [one for name in left if (one := _asked(result, table, name, found, len(left))) is not None]
        best = max(asked, key=lambda one: one.evidence - one.required, default=None)
        if best is None or best.evidence <= best.required:
            break
        found.append(best)
        left.remove(best.column)
    return found


def _asked(result: ContextGraphs, table: Table, name: str, known: Sequence[Suggestion], columns: int
           ) -> Suggestion | None:  # fmt: skip
    """What a column would change beside those that are known; None if nothing may change with it."""
    responses = [[_beside(table, result, one, known) for one in copies]
                 for copies in asked_responses(result, table, name)]  # fmt: skip
    more, position = log(columns), table.data.position(name)
    if not responses:
        return None
    if table.in_groups(position):
        gains, rows = group_gains(responses), len(table.rows)
        changed = tuple(one[0].name for one, gain in zip(responses, gains, strict=True) if gain > log(rows))
        return Suggestion(name, None, None, None, float(gains.sum()) - log(rows), DEMAND * log(rows) + more, changed)
    values = table.values(position)
    if not grid_of(values).size:
        return None
    cut = cut_of(threshold(name, "best").column, profile_of(responses, values), values)
    return Suggestion(name, cut.value, cut.low, cut.high, cut.evidence, cut.required + more, cut.changed)


def _beside(table: Table, result: ContextGraphs, one: CutResponse, known: Sequence[Suggestion]) -> CutResponse:
    """A response to which what known columns change is offered in every model."""
    lags = (0,) if result.windowed is None else result.windowed.options.context_lags
    for other in known:
        for lag in lags:
            position = table.data.names.index(at(other.column, lag))
            if position == table.data.position(one.name):
                continue
            groups: list[Floats] = table.levels(position)
            if other.value is not None:
                groups = [np.asarray(table.values(position) > other.value, dtype=np.float64)]
            one = beside(one, groups)
    return one
