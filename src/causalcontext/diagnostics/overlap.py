"""Do the contexts share values at all? Is the context a function of a column?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from causalcontext.data.dataset import Dataset
from causalcontext.data.indicators import StepFunction, step_functions
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.kernels.arrays import Floats
from causalcontext.results.contexts import ContextGraphs

LITTLE_OVERLAP = 0.1
MOST_COLUMNS = 3


def determinism(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Columns of which a context is a function without error."""
    if result.settings.indicator is not None:
        return
    yield from (_deterministic(found) for found in step_functions(rows))


def overlap(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Variables whose ranges hardly overlap between two values of a context."""
    known = {(found.context, found.column) for found in step_functions(rows)}
    for context, levels in zip(rows.contexts.positions, rows.levels, strict=True):
        for position in rows.system:
            if (rows.names[context], rows.names[position]) not in known:
                yield from _apart(rows, position, context, levels)


def columns_apart(rows: Dataset) -> Iterator[str]:
    """The names of the columns that are apart between some values of a context."""
    known = {(found.context, found.column) for found in step_functions(rows)}
    for context, levels in zip(rows.contexts.positions, rows.levels, strict=True):
        for position in rows.system:
            told = (rows.names[context], rows.names[position]) in known
            if not told and any(True for _ in _apart(rows, position, context, levels)):
                yield rows.names[position]


def ranked_overlap(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """The variables that are apart between most values of a context, and how many more there are."""
    found = sorted(overlap(result, rows), key=lambda finding: (-finding.evidence["pairs"], finding.evidence["overlap"]))
    yield from found[:MOST_COLUMNS]
    if len(found) > MOST_COLUMNS:
        names = ", ".join(finding.evidence["column"] for finding in found[MOST_COLUMNS:])
        more = len(found) - MOST_COLUMNS
        which = "1 more variable hardly overlaps" if more == 1 else f"{more} more variables hardly overlap"
        message = f"{which} between some contexts: {names}"
        yield Finding("overlap", Severity.NOTE, message)


def _deterministic(found: StepFunction) -> Finding:
    message = (f"{found.context} is a function of {found.column} without a single exception; given "
               f"{found.column} it carries no information, so its links cannot be tested properly")  # fmt: skip
    advice = (f"if it was made from {found.column}, declare it: {found.advice()}; if {found.column} only "
              f"has far apart values because {found.context} shifts it, leave the call as it is")  # fmt: skip
    evidence = {"column": found.column, "cuts": found.cuts, "call": found.call()}
    return Finding("deterministic context", Severity.WARNING, message, advice, evidence)


def _apart(data: Dataset, position: int, context: int, levels: tuple[Any, ...]) -> Iterator[Finding]:
    """The values of a context between which the usual values of a column hardly overlap, in one finding."""
    name, column = data.names[position], np.asarray(data.columns[position], dtype=np.float64)
    boxes = [_box(column[np.asarray(data.columns[context]) == level]) for level in range(len(levels))]
    shares = {(a, b): _shared(boxes[a], boxes[b]) for a, b in combinations(range(len(boxes)), 2)}
    little = sorted((share, pair) for pair, share in shares.items() if share < LITTLE_OVERLAP)
    if not little:
        return
    share, (a, b) = little[0]
    where = f"between {levels[a]} and {levels[b]} ({share:.0%})"
    if len(little) > 1:
        where = f"between {len(little)} of {len(shares)} pairs of contexts, most of all {where}"
    message = f"the usual values of {name} hardly overlap {where}"
    advice = "differences between these contexts that rest on it are extrapolated"
    evidence = {"column": name, "contexts": (levels[a], levels[b]), "overlap": share, "pairs": len(little)}
    yield Finding("overlap", Severity.CAUTION, message, advice, evidence)


def _box(values: Floats) -> tuple[float, float]:
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
