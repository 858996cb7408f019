"""From a table to what the score needs: rows in standard units, sorted by context, in a canonical order of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from causalcontext.data.dataset import Dataset, complete_rows, gaussian_ranks
from causalcontext.data.kinds import Kind
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.node_data import CLASS, NUMBER, ORDERED
from causalcontext.kernels.orders.partitions import ALWAYS, FREE, NEVER
from causalcontext.knowledge import Links

MOST_VALUES = 24_000_000
"""Tables with more values keep every m-th row for what needs rows; moments are always those of all rows."""
MOST_ROWS = 100_000
MOST_DISTINCT = 0.5
"""A number with fewer values than this share of the rows is one that was counted or rounded."""
SMALLEST_GAP = 0.03
KINDS = {Kind.CONTINUOUS: NUMBER, Kind.COUNT: NUMBER, Kind.ORDERED: ORDERED, Kind.CATEGORICAL: CLASS}


@dataclass(frozen=True, eq=False)
class SortedRows:
    """Rows sorted by context.

    Attributes
    ----------
    values : array, shape (p, rows)
        Numbers in standard units, normal scores of ordered classes; zeros for categories.
    codes : array of int, shape (p + 1, rows)
        Classes of categories and ordered variables; the context is last.
    starts : array of int, shape (K + 1,)
    """

    values: Floats
    codes: Ints
    starts: Ints


@dataclass(frozen=True, eq=False)
class Setup:
    """The data and the knowledge, with the system variables in an order that depends on content alone.

    K contexts, p system variables, numbered 0 .. p - 1; the context is number p.

    Attributes
    ----------
    data : Dataset
    position : array of int, shape (p + 1,)
        The place of every variable among the table's columns; -1 for a missing context.
    kind, classes : arrays of int, shape (p + 1,)
        `NUMBER`, `CLASS` or `ORDERED`, and how many classes there are.
    centre, scale : arrays, shape (p,)
        The units of numbers.
    n : array of float, shape (K,)
    gap : array, shape (p + 1,)
        The distance of neighbouring values, in standard units, of counts and other numbers with few values; else 0.
    rows : Rows
        All rows, or part of the rows of a long table.
    weight : float
        How many rows of the table each of these stands for.
    allowed, forced : arrays of bool, shape (p, p)
        `[child, parent]`.
    context_allowed, context_forced : arrays of bool, shape (p,)
        What may and must be a parent of the context.
    role : array of int, shape (p,)
        Whether the context may, may not or must be a parent of a node.
    first : array of bool, shape (p + 1, p + 1)
        `first[a, b]`: a must come before b in every order.
    """

    data: Dataset
    position: Ints
    kind: Ints
    classes: Ints
    centre: Floats
    scale: Floats
    n: Floats
    gap: Floats
    rows: SortedRows
    weight: float
    allowed: Bools
    forced: Bools
    context_allowed: Bools
    context_forced: Bools
    role: Ints
    first: Bools

    @property
    def variables(self) -> int:
        """The system variables."""
        return len(self.position) - 1

    @property
    def contexts(self) -> int:
        """The contexts; 1 without a context variable."""
        return len(self.n)

    @property
    def total(self) -> float:
        """All rows."""
        return float(self.n.sum())

    def block_rows(self, mask: int) -> float:
        """The rows of some contexts."""
        return float(sum(self.n[r] for r in range(self.contexts) if mask >> r & 1))

    def all_rows(self) -> Iterator[SortedRows]:
        """All rows of the table, in parts that fit into memory."""
        if self.weight == 1.0:
            yield self.rows
            return
        usable = np.flatnonzero(complete_rows(self.data))
        size = max(1000, MOST_VALUES // (20 * max(self.variables, 1)))
        for start in range(0, len(usable), size):
            yield _rows(self.data, self, usable[start : start + size])


def set_up(data: Dataset, statistics: SufficientStatistics, links: Links) -> Setup:
    """The setup of a table."""
    whole = statistics.moments.merged()
    centre, pooled = whole.mean[0], whole.scatter[0]
    scale = np.sqrt(np.diagonal(pooled) / whole.rows[0])
    scale = np.where(scale > 0.0, scale, 1.0)
    order = _canonical_order(pooled, scale, statistics)
    position = np.append(np.array(data.system)[order], -1 if data.context is None else data.context)
    kind = np.append([KINDS[data.kinds[column]] for column in position[:-1]], CLASS)
    classes = np.append([_classes(data, column) for column in position[:-1]], len(statistics.moments.rows))
    usable = np.flatnonzero(complete_rows(data))
    step = max(1, -(-len(usable) // MOST_ROWS), -(-len(usable) * len(order) // MOST_VALUES))
    empty = SortedRows(np.empty((0, 0)), np.empty((0, 0), dtype=np.int64), np.zeros(1, dtype=np.int64))
    units = Setup(data, position, kind.astype(np.int64), classes.astype(np.int64), centre[order], scale[order],
                  statistics.moments.rows.astype(np.float64), np.zeros(len(position)), empty, 1.0,
                  **_constraints(links, position))  # fmt: skip
    rows = _rows(data, units, usable[::step])
    gap = np.array([_gap(rows.values[j]) if kind[j] == NUMBER else 0.0 for j in range(len(order))] + [0.0])
    return replace(units, rows=rows, gap=gap, weight=len(usable) / max(len(usable[::step]), 1))


def _canonical_order(pooled: Floats, scale: Floats, statistics: SufficientStatistics) -> Ints:
    """System variables sorted by what they hold, so that the order of columns cannot matter; names break ties."""
    correlation = pooled / scale[:, None] / scale / statistics.moments.rows.sum()
    keys = np.round(np.stack([np.sum(correlation**2, axis=1), np.sum(np.abs(correlation), axis=1)]), 7)
    return np.array(
        sorted(range(len(scale)), key=lambda j: (keys[0, j], keys[1, j], statistics.names[j])), dtype=np.int64
    )


def _gap(values: Floats) -> float:
    """The smallest distance of two values if values repeat, else 0; one that is too small to matter counts as 0."""
    seen = np.unique(values)
    repeated = 1 < len(seen) < MOST_DISTINCT * len(values)
    gap = float(np.diff(seen).min()) if repeated else 0.0
    return gap if gap > SMALLEST_GAP else 0.0


def _classes(data: Dataset, column: int) -> int:
    return 0 if data.kinds[column].is_number else len(data.categories[column])


def _rows(data: Dataset, units: Setup, rows: Ints) -> SortedRows:
    """Some rows of a table, sorted by context."""
    rows = rows[np.argsort(data.codes[rows], kind="stable")]
    p = units.variables
    values, codes = np.zeros((p, len(rows))), np.zeros((p + 1, len(rows)), dtype=np.int64)
    codes[p] = data.codes[rows]
    for place, column in enumerate(units.position[:p]):
        own = np.asarray(data.columns[column])[rows]
        if units.kind[place] == NUMBER:
            values[place] = (own - units.centre[place]) / units.scale[place]
        else:
            codes[place] = own
        if units.kind[place] == ORDERED:
            values[place] = _level_scores(data, int(column), int(units.classes[place]))[codes[place]]
    return SortedRows(values, codes, np.searchsorted(codes[p], np.arange(units.contexts + 1)))


def _level_scores(data: Dataset, column: int, classes: int) -> Floats:
    """Normal scores of ordered classes, over all rows, in standard units."""
    own = np.asarray(data.columns[column], dtype=np.float64)
    own = own[complete_rows(data)]
    scores = gaussian_ranks(own)
    scores = (scores - scores.mean()) / max(float(scores.std()), 1e-300)
    table = np.zeros(classes)
    table[own.astype(np.int64)] = scores
    return table


def _constraints(links: Links, position: Ints) -> dict[str, Any]:
    """Knowledge in the numbers of the setup."""
    p = len(position) - 1
    system = position[:p]
    may, must = links.may[system[:, None], system], links.must[system[:, None], system]
    first = np.zeros((p + 1, p + 1), dtype=bool)
    first[:p, :p] = must
    into, out_of = np.ones(p, dtype=bool), np.ones(p, dtype=bool)
    forced_into, forced_out = np.zeros(p, dtype=bool), np.zeros(p, dtype=bool)
    if position[p] >= 0:
        into, out_of = links.may[system, position[p]], links.may[position[p], system]
        forced_into, forced_out = links.must[system, position[p]], links.must[position[p], system]
        first[:p, p], first[p, :p] = forced_into, forced_out
    role = np.where(forced_out, ALWAYS, np.where(out_of, FREE, NEVER)).astype(np.int64)
    return {"allowed": np.ascontiguousarray(may.T), "forced": np.ascontiguousarray(must.T),
            "context_allowed": into.copy(), "context_forced": forced_into.copy(), "role": role,
            "first": reach(first)}  # fmt: skip
