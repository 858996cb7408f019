"""G² of two categorical columns in the strata of categorical conditions.

A stratum says something about dependence only if both columns repeat a value and have two there;
others are left out. Where counts are small, x is permuted inside the strata instead of trusting the
chi-squared law.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from causalcontext.ci_tests.designs import level_numbers, parts_of, strata_of
from causalcontext.ci_tests.rows import Comparison, RowTest, Variable, sequential_p, untestable
from causalcontext.ci_tests.settings import FEWEST_TABLE_ROWS, ROWS_PER_CELL
from causalcontext.data.columns import Kind
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.rows.permutations import cell_sum, permuted_exceedances
from causalcontext.views import Reason


@dataclass(frozen=True)
class GSquared(RowTest):
    """G² with df = the sum over strata of (rows - 1)(columns - 1) of the levels that occur there.

    Numbers are taken as categories: each value is a level.
    """

    name: str = "g-squared"
    seed: int = 0
    pair: frozenset[Kind] | None = None

    def takes(self, x: Kind, y: Kind, given: Sequence[Kind]) -> bool:
        """True where no column is a number."""
        return not any(kind.is_number for kind in (x, y, *given))

    def compare(
        self, x: Variable, y: Variable, given: Sequence[Variable], random: np.random.Generator
    ) -> Comparison:
        """The answer for one query."""
        tables = tables_of(x, y, given)
        if len(tables.x) < FEWEST_TABLE_ROWS:
            return untestable(Reason.FEW_ROWS)
        zeros = np.zeros((int(tables.x.max()) + 1, int(tables.y.max()) + 1), dtype=np.int64)
        counts = np.arange(len(tables.x) + 1.0)
        logs = np.asarray(scipy.special.xlogy(counts, counts))
        observed = float(cell_sum(tables.x, tables.y, tables.bounds, zeros, logs))
        statistic = max(2.0 * (observed - tables.margins), 0.0)
        p = float(scipy.special.chdtrc(tables.df, statistic))
        if len(tables.x) < ROWS_PER_CELL * tables.cells:
            p = _permuted(tables, zeros, logs, observed, random)
        return Comparison(statistic, float(tables.df), p)


def _permuted(
    tables: StratifiedRows,
    zeros: Ints,
    logs: Floats,
    observed: float,
    random: np.random.Generator,
) -> float:
    """The share of permutations of x inside the strata that reach the observed sum.

    Margins stay as they are, so that the sum of c log(c) over cells orders permutations as G² does.
    `zeros` is an empty table, shape (levels of x, levels of y); `logs` has c log(c) by c.
    """
    reached = observed - 1e-9 * (1.0 + abs(observed))
    fixed = (tables.x.copy(), tables.y, tables.bounds, zeros, logs, reached)
    return sequential_p(
        lambda uniforms, most: permuted_exceedances(*fixed, uniforms, most),
        len(tables.x),
        random,
    )


class StratifiedRows(NamedTuple):
    """The rows of the strata that count, stratum after stratum."""

    # x, y: shape (rows,)
    x: Ints
    y: Ints
    bounds: Ints  # shape (strata + 1,)
    df: int
    cells: int
    margins: float  # half of G² is the sum of c log(c) over cells, less this


def tables_of(x: Variable, y: Variable, given: Sequence[Variable]) -> StratifiedRows:
    """The tables of x and y in every stratum that says something about their dependence.

    Degrees of freedom are the sum of (rows - 1)(columns - 1) over these strata. `margins` is the
    sum of r log(r) over the margins less n log(n), so that G² = 2 (Σ c log(c) - margins).
    """
    codes = [level_numbers(variable.values) for variable in (x, y)]
    kept = []
    df = 0
    cells = 0
    margins = 0.0
    for rows in parts_of(strata_of(given, len(x.values))):
        sides = [np.bincount(column[rows]) for column in codes]
        first, second = (int(np.count_nonzero(side)) for side in sides)
        if not (1 < first < rows.size and 1 < second < rows.size):
            continue
        kept.append(rows)
        df = df + (first - 1) * (second - 1)
        cells = cells + first * second
        margin = sum(float(scipy.special.xlogy(side, side).sum()) for side in sides)
        margins += margin - float(scipy.special.xlogy(rows.size, rows.size))
    bounds = np.concatenate([[0], np.cumsum([rows.size for rows in kept])]).astype(np.int64)
    order = np.concatenate(kept) if kept else np.zeros(0, dtype=np.intp)
    return StratifiedRows(codes[0][order], codes[1][order], bounds, df, cells, margins)
