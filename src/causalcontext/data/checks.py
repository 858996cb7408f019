"""Faults that make a table unusable once its values have been seen: one sentence each, with names
and counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from causalcontext.errors import DataError, OptionError, check_choice, listed
from causalcontext.kernels.arrays import Ints
from causalcontext.kernels.limits import LARGEST_SCATTER, SMALLEST_SCATTER

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.sufficient_statistics import SufficientStatistics

MOST_CELLS = 1000
"""Values of the context, or combinations of values, at most."""
LARGEST_SCATTERS = 2**30
"""Cross products that are kept at most; as many float64 take 8 GB."""


def check_missing_option(missing: str) -> None:
    """Return if `missing` is a way to treat missing values that exists."""
    if isinstance(missing, str) and missing in ("windows", "interpolate"):
        raise OptionError(
            f"missing is {missing!r}, which is for rows that follow each other in time; pass"
            " lags=... too"
        )
    check_choice("missing", missing, ["raise", "model", "listwise", "testwise"])


def check_size(data: Dataset) -> None:
    """Return if the cross products of all contexts fit in memory."""
    check_products(len(data.system), len(data.contexts.cells))


def check_products(variables: int, levels: int) -> None:
    """Return if the cross products of so many variables in so many contexts fit in memory."""
    if levels * variables**2 > LARGEST_SCATTERS:
        raise DataError(
            f"the cross products of {variables} variables in {levels} contexts need "
            f"{8e-9 * levels * variables**2:.0f} GB; merge contexts or drop columns"
        )


def check_statistics(
    statistics: SufficientStatistics, data: Dataset, missing: str = "raise", tested: bool = True
) -> None:
    """Return if the table can be searched; `tested` is whether rows could be dropped test by
    test.
    """
    # Else a `DataError` names missing values under "raise", infinite values, no rows or fewer than
    # two contexts left, values too large to be squared, or a column that is constant in all rows.
    check_missing_option(missing)
    if missing == "raise":
        check_none_missing(statistics, data, tested, True)
    check_none_infinite(statistics, data)
    left = np.flatnonzero(statistics.moments.rows)
    if left.size == 0:
        # as no row is left, all were lost
        never = statistics.missing.sum(axis=0) == statistics.lost.sum()
        empty = [repr(statistics.names[position]) for position in np.flatnonzero(never)]
        reason = f"; {listed(empty, what='column')} without any value" if empty else ""
        raise DataError(f"no rows are left after dropping rows with missing values{reason}")
    for j, position in enumerate(data.contexts.positions):
        if len({data.contexts.cells[cell][j] for cell in left}) < 2:
            raise DataError(
                f"context {data.names[position]!r} has 1 level after dropping rows with missing"
                " values; at least 2 are needed"
            )
    squares = statistics.moments.squares
    huge = [
        repr(statistics.names[position])
        for position in np.flatnonzero(~(squares <= LARGEST_SCATTER))
    ]
    if huge:
        raise DataError(
            f"values too large to be squared in {listed(huge, what='column')}; rescale them"
        )
    fixed = [
        repr(statistics.names[position]) for position in np.flatnonzero(squares < SMALLEST_SCATTER)
    ]
    if fixed:
        raise DataError(
            f"the same value in all rows of {listed(fixed, what='column')}; drop constant columns "
            "(and rescale those with tiny values)"
        )


def check_none_infinite(statistics: SufficientStatistics, data: Dataset) -> None:
    """Return if no value is infinite."""
    infinite = _counts_by_column(statistics, data, statistics.infinite)
    if infinite:
        raise DataError(
            f"infinite values in {listed(infinite, what='column')}; replace them or drop the rows"
        )


def check_none_missing(
    statistics: SufficientStatistics, data: Dataset, testwise: bool, in_memory: bool
) -> None:
    """Return if no value is missing; of a table in memory a model can use all rows, and tests drop
    some of them.
    """
    findings = _counts_by_column(statistics, data, statistics.missing)
    if statistics.missing_context:
        findings.insert(0, f"{data.context_name!r} ({statistics.missing_context})")
    if findings:
        kept = int(statistics.moments.rows.sum())
        lost = int(statistics.lost.sum()) + statistics.missing_context
        model = (
            f'"model" to use every observed cell of all {kept + lost:,} rows, ' if in_memory else ""
        )
        else_drop = ', or "testwise" to drop them test by test' if testwise else ""
        raise DataError(
            f"missing values in {listed(findings, what='column')}; pass missing={model}"
            f'{"or " if model and not else_drop else ""}"listwise" to drop the rows that have one,'
            " which "
            f"keeps {kept:,} of {kept + lost:,}{else_drop}"
        )


def _counts_by_column(statistics: SufficientStatistics, data: Dataset, counts: Ints) -> list[str]:
    """`'X' (12: 7 with R = 'dry', 5 with R = 'wet')` for every column that has any."""
    sentences = []
    name = " ".join(str(data.context_name).split())
    for position in np.flatnonzero(counts.any(axis=0)):
        of_column = counts[:, position]
        cells = [
            f"{of_column[cell]} with {name} = {statistics.values[cell]!r}"
            for cell in np.flatnonzero(of_column)
        ]
        by_level = f": {listed(cells, what='context')}" if data.contexts.positions else ""
        sentences.append(f"{statistics.names[position]!r} ({of_column.sum()}{by_level})")
    return sentences
