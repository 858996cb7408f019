"""What differs between two contexts of a result with lags, and what may be claimed to differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.data.frames import frame_of
from causalcontext.errors import OptionError
from causalcontext.graphs.lag_names import split
from causalcontext.results.changes import context_place, false_discovery
from causalcontext.results.series import SlopeRow, series_of
from causalcontext.results.slopes import Slope, heterogeneity

if TYPE_CHECKING:
    import pandas as pd

    from causalcontext.results.contexts import ContextGraphs

COLUMNS = [
    "source",
    "lag",
    "target",
    "kind",
    "present",
    "reads",
    "slope_first",
    "slope_second",
    "difference",
    "p",
    "q",
    "claimed",
]


def changes_lagged(result: ContextGraphs, first: Any, second: Any, alpha: float | None = None) -> pd.DataFrame:
    """Links that one of the two contexts has and the other has not, or that have opposite signs."""
    if result.context is None:
        raise OptionError("there is only one graph; pass context=... to discover to compare contexts")
    if context_place(result, first) == context_place(result, second):
        raise OptionError(f"changes needs two different contexts, got {first!r} twice")
    level = result.settings.alpha if alpha is None else alpha
    by_link: dict[tuple[str, str], dict[int, SlopeRow]] = {}
    for row in series_of(result).slopes:
        by_link.setdefault((row.source, row.target), {})[context_place(result, row.context)] = row
    a, b = context_place(result, first), context_place(result, second)
    found = [
        _compared(result, rows[a], rows[b], first, second)
        for rows in by_link.values()
        if _differ(rows.get(a), rows.get(b))
    ]
    adjusted = false_discovery([float(row[9]) for row in found], _candidates(result))
    rows = [(*row[:10], float(q), bool(q <= level)) for row, q in zip(found, adjusted, strict=True)]
    rows.sort(key=lambda row: (not row[11], row[10] if row[10] == row[10] else 2.0))
    return frame_of(rows, columns=COLUMNS).astype({"claimed": bool})


def _differ(one: SlopeRow | None, other: SlopeRow | None) -> bool:
    if one is None or other is None:
        return False
    return one.present != other.present or (one.present and one.slope != other.slope)


def _compared(result: ContextGraphs, one: SlopeRow, other: SlopeRow, first: Any, second: Any) -> tuple[Any, ...]:
    source, lag = split(one.source)
    kind = "link" if one.present != other.present else "sign" if one.slope * other.slope < 0 else "size"
    present = tuple(value for row, value in ((one, first), (other, second)) if row.present)
    slopes = [Slope(row.own, row.own_error, np.nan, int(row.df)) for row in (one, other)]
    p = heterogeneity(slopes)[1] if all(s.error > 0 and s.df > 0 for s in slopes) else np.nan
    return (
        source,
        lag,
        one.target,
        kind,
        present,
        result.reads.get(one.target),
        one.own,
        other.own,
        other.own - one.own,
        p,
    )


def _candidates(result: ContextGraphs) -> int:
    """Out of how many links the search picked the ones that differ."""
    targets = len(series_of(result).variables) - len(result.cells.positions)
    return int(targets * (targets * (series_of(result).lags + 1) - 1))
