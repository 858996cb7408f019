"""Do the contexts share values at all? Is the context a function of a column?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset
from causalcontext.data.determinism import StepFunction, indicators
from causalcontext.data.several import by_variable
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.results.contexts import ContextGraphs

LITTLE_OVERLAP = 0.1


def determinism(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Columns of which a context is a function without error."""
    if result.settings.indicator is not None:
        return
    for data in _by_context(result, rows):
        for indicator in indicators(data):
            yield _deterministic(str(data.context_name), indicator)


def overlap(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Variables whose ranges hardly overlap between two values of a context."""
    for data in _by_context(result, rows):
        known = {indicator.column for indicator in indicators(data)}
        for position in data.system:
            if data.names[position] not in known:
                yield from _apart(data, position)


def _by_context(result: ContextGraphs, rows: Dataset) -> Iterable[Dataset]:
    """The table with its context; of several context variables, with each in turn."""
    return by_variable(rows, result.settings.contexts) if result.settings.contexts else (rows,)


def _deterministic(context: str, indicator: StepFunction) -> Finding:
    message = (f"{context} is a function of {indicator.column} without a single exception; given "
               f"{indicator.column} it carries no information, so its links cannot be tested properly")  # fmt: skip
    advice = (f"if it was made from {indicator.column}, declare it: {indicator.call()}; if {indicator.column} only "
              f"has far apart values because {context} shifts it, leave the call as it is")  # fmt: skip
    evidence = {"column": indicator.column, "cuts": indicator.cuts, "call": indicator.call()}
    return Finding("deterministic context", Severity.WARNING, message, advice, evidence)


def _apart(data: Dataset, position: int) -> Iterator[Finding]:
    """The pairs of contexts between which the usual values of a column hardly overlap."""
    name, column = data.names[position], np.asarray(data.columns[position], dtype=np.float64)
    boxes = [_box(column[data.codes == level]) for level in range(len(data.levels))]
    for a, b in combinations(range(len(boxes)), 2):
        share = _shared(boxes[a], boxes[b])
        if share < LITTLE_OVERLAP:
            pair = (data.levels[a], data.levels[b])
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
