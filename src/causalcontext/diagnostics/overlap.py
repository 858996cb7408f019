"""Do the contexts share values at all? Is the context a function of a column?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset
from causalcontext.data.determinism import indicators
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.results.contexts import ContextGraphs

LITTLE_OVERLAP = 0.1


def determinism(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Columns of which the context is a function without error."""
    for indicator in indicators(rows) if result.settings.indicator is None else ():
        message = (f"{result.context} is a function of {indicator.column} without a single exception; given "
                   f"{indicator.column} it carries no information, so its links cannot be tested properly")  # fmt: skip
        advice = (f"if it was made from {indicator.column}, declare it: {indicator.call()}; if {indicator.column} only "
                  f"has far apart values because {result.context} shifts it, leave the call as it is")  # fmt: skip
        evidence = {"column": indicator.column, "cuts": indicator.cuts, "call": indicator.call()}
        yield Finding("deterministic context", Severity.WARNING, message, advice, evidence)


def overlap(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Variables whose ranges in two contexts hardly overlap."""
    known = {indicator.column for indicator in indicators(rows)}
    for position in rows.system:
        name = rows.names[position]
        if name in known:
            continue
        column = np.asarray(rows.columns[position], dtype=np.float64)
        boxes = [_box(column[rows.codes == level]) for level in range(len(result.contexts))]
        for a, b in combinations(range(len(boxes)), 2):
            share = _shared(boxes[a], boxes[b])
            if share < LITTLE_OVERLAP:
                pair = (result.contexts[a], result.contexts[b])
                message = f"the usual values of {name} hardly overlap between {pair[0]} and {pair[1]} ({share:.0%})"
                advice = "differences between these contexts that rest on it are extrapolated"
                evidence = {"column": name, "contexts": pair, "overlap": share}
                yield Finding("overlap", Severity.CAUTION, message, advice, evidence)


def _box(values: NDArray[np.float64]) -> tuple[float, float]:
    values = values[np.isfinite(values)]
    if values.size == 0:
        return np.nan, np.nan
    low, high = np.quantile(values, (0.05, 0.95))
    return float(low), float(high)


def _shared(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The length of the shared range as a share of the shorter one; 1 where it cannot be said."""
    shorter = min(first[1] - first[0], second[1] - second[0])
    if not shorter > 0.0:
        return 1.0
    return max(0.0, min(first[1], second[1]) - max(first[0], second[0])) / shorter
