"""From a table to what the score needs: moments per context in a canonical order of columns, the rows for R's logit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import Dataset
from causalcontext.data.some_rows import complete_rows
from causalcontext.data.survey import Survey
from causalcontext.graphs.paths import reach
from causalcontext.kernels.orders.partitions import ALWAYS, FREE, NEVER
from causalcontext.knowledge import Links

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_LOGIT_ROWS = 100_000
"""Longer tables score the context on every m-th row."""


@dataclass(frozen=True, eq=False)
class Setup:
    """The data and the knowledge, with the system variables in an order that depends on content alone.

    K contexts, p system variables, numbered 0 .. p - 1; the context is number p.

    Attributes
    ----------
    position : array of int, shape (p + 1,)
        The place of every variable among the table's columns; -1 for a missing context.
    n : array of float, shape (K,)
    mean, scatter : arrays, shape (K, p) and (K, p, p)
        In units of the pooled standard deviations, around the pooled means.
    values : array, shape (rows, p)
        The same columns, row by row; part of the rows of a very long table.
    codes : array of int, shape (rows,)
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

    position: Ints
    n: Floats
    mean: Floats
    scatter: Floats
    values: Floats
    codes: Ints
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
        return int(self.mean.shape[1])

    @property
    def contexts(self) -> int:
        """The contexts; 1 without a context variable."""
        return len(self.n)

    @property
    def rows(self) -> float:
        """All rows."""
        return float(self.n.sum())

    def block_covariance(self, mask: int) -> Floats:
        """The covariance of the rows of some contexts."""
        members = [r for r in range(self.contexts) if mask >> r & 1]
        n, mean = self.n[members], self.mean[members]
        away = mean - n @ mean / n.sum()
        return np.asarray((self.scatter[members].sum(axis=0) + (away.T * n) @ away) / n.sum())

    def within_covariance(self) -> Floats:
        """The covariance around the mean of each row's own context."""
        return np.asarray(self.scatter.sum(axis=0) / self.rows)

    def block_rows(self, mask: int) -> float:
        """The rows of some contexts."""
        return float(sum(self.n[r] for r in range(self.contexts) if mask >> r & 1))


def set_up(data: Dataset, survey: Survey, links: Links) -> Setup:
    """The setup of a table."""
    moments, whole = survey.moments, survey.moments.merged()
    centre, pooled = whole.mean[0], whole.scatter[0]
    scale = np.sqrt(np.diagonal(pooled) / whole.rows[0])
    scale = np.where(scale > 0.0, scale, 1.0)
    order = _canonical_order(pooled, scale, survey)
    mean = ((moments.mean - centre) / scale)[:, order]
    scatter = (moments.scatter / scale[:, None] / scale)[:, order[:, None], order]
    position = np.append(np.array(data.system)[order], -1 if data.context is None else data.context)
    values, codes, weight = _standardised_rows(data, centre[order], scale[order], position[:-1])
    return Setup(position, moments.rows.astype(np.float64), np.ascontiguousarray(mean), np.ascontiguousarray(scatter),
                 values, codes, weight, **_constraints(links, position))  # fmt: skip


def _canonical_order(pooled: Floats, scale: Floats, survey: Survey) -> Ints:
    """System variables sorted by what they hold, so that the order of columns cannot matter; names break ties."""
    correlation = pooled / scale[:, None] / scale / survey.moments.rows.sum()
    keys = np.round(np.stack([np.sum(correlation**2, axis=1), np.sum(np.abs(correlation), axis=1)]), 7)
    return np.array(sorted(range(len(scale)), key=lambda j: (keys[0, j], keys[1, j], survey.names[j])), dtype=np.int64)


def _standardised_rows(data: Dataset, centre: Floats, scale: Floats, columns: Ints) -> tuple[Floats, Ints, float]:
    """Usable rows, standardised, at most about `MOST_LOGIT_ROWS` of them; their contexts; what each stands for."""
    rows = np.flatnonzero(complete_rows(data))
    total = len(rows)
    rows = rows[:: max(1, -(-total // MOST_LOGIT_ROWS))]
    values = np.empty((len(rows), len(columns)))
    for place, column in enumerate(columns):
        values[:, place] = (data.columns[column][rows] - centre[place]) / scale[place]
    return values, data.codes[rows].astype(np.int64), total / max(len(rows), 1)


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
