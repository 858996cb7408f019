"""Intervals that know that the graph may be wrong: effects over draws of orders, sub-models and
coefficients.

Orders of the variables are drawn by their score (`score.order_draws`). Given an order, every
variable draws its causes among those before it, and whether its mechanism changes with a context
before it, with AIC weights: BIC weights lose weak effects. Then coefficients are drawn from their t
distribution, and a total effect follows from all of them. A draw with y before x, or without a
path, is an effect of 0, so that an absent edge has the interval [0, 0] only if hardly any draw has
it. Probabilities of edges, directions and ancestors come from the same orders with the price of the
search: AIC weights have a cause too many now and then, which does no harm to an effect, but is no
edge; and with BIC weights edges were probable that the search had left out. Weak edges have low
probabilities for that (docs/effects.md).

Everything but the orders comes from moments: a saved result keeps the orders and answers the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.data.moments import Moments
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.kernels.orders.submodels import draw_models, draw_slopes, subset_weights
from causalcontext.results.effects.fits import grouped

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

MOST_SYSTEM = 13
"""The most system variables: all sets of them are weighed."""
ROUNDING = 1e-11
"""Effects in units of the spreads that are smaller are none."""
AIC = 1.0
"""What a parameter costs in draws of effects."""
TOO_SURE = 2.5
"""A 95 % interval leaves out 2 % of the draws where effects are weak: there, draws are too sure of
directions.
"""
STRONG = 12.0
"""Effects that are so many times their error are not weak, and the interval leaves out 5 % of the
draws.
"""


@dataclass(frozen=True, eq=False)
class OrderDraws:
    """Orders of all variables that were drawn by their score."""

    orders: Ints  # shape (draws, N): positions of all variables, causes before effects
    into: Bools  # shape (draws, contexts, N): the causes of every context variable in every draw

    def to_dict(self) -> dict[str, Any]:
        """As lists of numbers: equal draws once, with where they occur."""
        kept, place = np.unique(
            np.hstack([self.orders, self.into.reshape(len(self.into), -1)]),
            axis=0,
            return_inverse=True,
        )
        return {"distinct": kept.astype(int).tolist(), "place": place.ravel().tolist()}

    @classmethod
    def from_dict(cls, content: dict[str, Any], variables: int, contexts: int) -> OrderDraws:
        """The draws of `to_dict`."""
        distinct = np.array(content["distinct"], dtype=np.int64).reshape(
            -1, variables * (1 + contexts)
        )
        if not (np.sort(distinct[:, :variables], axis=1) == np.arange(variables)).all():
            raise ValueError(
                "order_draws.distinct holds something that is no order of the variables"
            )
        whole = distinct[np.array(content["place"], dtype=np.int64)]
        return cls(
            whole[:, :variables], whole[:, variables:].reshape(len(whole), contexts, variables) == 1
        )


class _Readers(NamedTuple):
    """What mechanisms may change with: context variables, and pairs of them."""

    variables: list[tuple[int, ...]]
    table: Ints  # as `draw_models` has it
    scatter: Floats  # blocks: all rows, then for every reader around its means, and at every value
    rows: Floats
    levels: Floats


class EffectDraws:
    """Effects, edges and ancestors over draws of graphs."""

    def __init__(self, result: ContextGraphs, draws: OrderDraws) -> None:
        assert result.moments is not None
        self._draws = draws
        self._contexts = result.cells.positions
        # By name, so that draws do not depend on the order of the columns.
        system = [v for v in range(len(result.names)) if v not in self._contexts]
        self._system = sorted(system, key=lambda v: result.names[v])
        self._size = len(result.names)
        self._moments = result.moments
        self._cells = result.cells.cells
        self._links = result.settings.knowledge.links(result.names)
        self._seed = result.settings.seed % 2**32
        self._penalty = 1.0 if result.evidence is None else result.evidence.penalty

    @cached_property
    def totals(self) -> Floats:
        """The effect of everything on everything with the context held, shape (draws, contexts, N,
        N).
        """
        readers = self._readers
        system = self._system
        kinds, sets = self._models(AIC)
        count = len(kinds)
        cells = len(self._cells)
        size = len(system)
        normal = np.random.default_rng([self._seed, 1]).standard_normal(
            (count, size, cells, 1 + size)
        )
        slopes = np.zeros((count, cells, size, size))
        draw_slopes(readers.scatter, self._facts(AIC), readers.table, kinds, sets, normal, slopes)
        found = np.linalg.inv(np.eye(size) - slopes)
        found[np.abs(found) < ROUNDING] = 0.0  # no path, but for rounding
        found *= self._scale[:, None] ** -1.0 * self._scale
        found[:, :, range(size), range(size)] = 1.0
        whole = np.zeros((count, cells, self._size, self._size))
        whole[:, :, np.array(system)[:, None], system] = found
        return whole

    @cached_property
    def edges(self) -> Bools:
        """True if one causes the other, shape (draws, contexts, N, N)."""
        kinds, sets = self._models(None, self._penalty)
        system = np.array(self._system)
        found = np.zeros((len(kinds), len(self._cells), self._size, self._size), dtype=bool)
        # (draws, effects, cells, causes)
        inside = (sets[:, :, :, None] >> np.arange(len(system)) & 1).astype(bool)
        found[:, :, system[:, None], system] = inside.transpose(0, 2, 3, 1)
        for q, variables in enumerate(self._readers.variables):
            for context in variables:
                found[:, :, context, system] |= (kinds // 2 == q)[:, None]
        for j, context in enumerate(self._contexts):
            found[:, :, :, context] |= self._draws.into[:, j][:, None]
        return found

    @cached_property
    def ancestors(self) -> Bools:
        """True if a directed path leads from one to the other, shape (draws, contexts, N, N)."""
        found = self.edges.astype(np.float32)
        for _ in range(int(self._size).bit_length()):
            found = ((found @ found + found) > 0).astype(np.float32)
        return found > 0

    def spread(
        self, x: int, y: int, g: int, h: int, level: float
    ) -> tuple[float, float, float, float]:
        """Error, interval and p-value of the effect of x on y in a context, or of its difference to
        another one.
        """
        drawn: Floats = self.totals[:, g, x, y]
        if h >= 0:
            drawn = drawn - self.totals[:, h, x, y]
        some = drawn[drawn != 0.0]
        low, middle, high = np.quantile(some, [0.16, 0.5, 0.84]) if len(some) else np.zeros(3)
        # where there is an effect, beside the spread of its draws
        weak = not 2.0 * abs(middle) > STRONG * (high - low)
        sure = TOO_SURE if h >= 0 or weak else 1.0
        tail = 0.5 * (1.0 - level) / sure
        low, high = np.quantile(drawn, [tail, 1.0 - tail]).tolist()
        beyond = min(float(np.mean(drawn <= 0.0)), float(np.mean(drawn >= 0.0)))
        p = min(sure * max(2.0 * beyond, 1.0 / len(drawn)), 1.0) if drawn.any() else np.nan
        return float(drawn.std(ddof=1)), low, high, p

    @cached_property
    def _scale(self) -> Floats:
        """The spread of every system variable over all rows."""
        whole = self._moments.merged()
        spread = np.sqrt(
            np.diagonal(whole.scatter[0])[self._system] / max(float(whole.rows[0]), 1.0)
        )
        return np.where(spread > 0.0, spread, 1.0)

    @cached_property
    def _readers(self) -> _Readers:
        places = range(len(self._contexts))
        cells = self._cells
        everything = (tuple(range(len(cells))),)
        scatter = [self._scatter([grouped(self._moments, everything, self._system)])]
        rows = [everything]
        levels = [1.0]
        variables = []
        table = []
        for some in (some for size in (1, 2) for some in combinations(places, size)):
            values = sorted({tuple(cell[j] for j in some) for cell in cells})
            groups = [values.index(tuple(cell[j] for j in some)) for cell in cells]
            variables.append(tuple(self._contexts[j] for j in some))
            table.append([len(scatter), len(values), *groups])
            members = [
                tuple(c for c, own in enumerate(groups) if own == value)
                for value in range(len(values))
            ]
            apart = [grouped(self._moments, (own,), self._system) for own in members]
            scatter += [self._scatter(apart), *(self._scatter([one]) for one in apart)]
            rows += [everything, *((own,) for own in members)]
            levels += [float(len(values)), *[1.0] * len(values)]
        n = [
            float(sum(self._moments.rows[list(cells)].sum() for cells in groups)) for groups in rows
        ]
        return _Readers(
            variables,
            np.array(table, dtype=np.int64).reshape(len(variables), 2 + len(cells)),
            np.stack(scatter),
            np.array(n),
            np.array(levels),
        )

    def _scatter(self, parts: Sequence[Moments]) -> Floats:
        """Cross products around the means of every part, in units of the spread."""
        total = np.sum([part.scatter[0] for part in parts], axis=0)
        return np.asarray(total / self._scale[:, None] / self._scale)

    def _facts(self, price: float | None) -> Floats:
        """Rows, intercepts and what a parameter costs in every block; without a price that of the
        BIC.
        """
        readers = self._readers
        prices = (
            0.5 * np.log(np.maximum(readers.rows, 2.0))
            if price is None
            else np.full(len(readers.rows), price)
        )
        return np.column_stack([readers.rows, readers.levels, prices])

    def _models(self, price: float | None, penalty: float = 1.0) -> tuple[Ints, Ints]:
        """What every variable reads in every draw, and its causes in every cell, as `draw_models`
        has them.
        """
        readers = self._readers
        system = np.array(self._system)
        links = self._links
        size = len(system)
        draws = len(self._draws.orders)
        cells = len(self._cells)
        weights = np.full((len(readers.rows), size, 1 << size), -np.inf)
        facts = self._facts(price)
        facts[:, 2] *= penalty
        subset_weights(readers.scatter, facts, weights)
        place = np.argsort(self._draws.orders, axis=1)
        # (draws, causes, effects)
        earlier = place[:, system][:, :, None] < place[:, system][:, None, :]
        before = np.zeros((draws, 1 + len(readers.variables), size), dtype=np.int64)
        before[:, 0] = (earlier * (1 << np.arange(size))[:, None]).sum(axis=1)
        may = np.ones((1 + len(readers.variables), size), dtype=bool)
        contexts = list(self._contexts)
        may[0] = ~links.must[contexts][:, system].any(axis=0)
        for q, variables in enumerate(readers.variables):
            before[:, 1 + q] = (place[:, variables].max(axis=1)[:, None] < place[:, system]).astype(
                np.int64
            )
            others = [c for c in contexts if c not in variables]
            may[1 + q] = links.may[list(variables)][:, system].all(axis=0)
            may[1 + q] &= ~links.must[others][:, system].any(axis=0)
        bits = 1 << np.arange(size)
        allowed, required = (
            bits @ each[system[:, None], system] for each in (links.may, links.must)
        )
        uniform = np.random.default_rng([self._seed, 2]).uniform(size=(draws, size, 1 + cells))
        kinds = np.zeros((draws, size), dtype=np.int64)
        sets = np.zeros((draws, size, cells), dtype=np.int64)
        draw_models(weights, readers.table, before, allowed, required, may, uniform, kinds, sets)
        return kinds, sets


def probabilities(
    draws: EffectDraws | str, names: Sequence[str], contexts: Sequence[Any]
) -> pd.DataFrame:
    """One row for every ordered pair and context; none where no graphs were drawn."""
    columns = ["context", "x", "y", "edge", "cause", "ancestor"]
    if isinstance(draws, str):
        return frame_of(columns=columns)
    cause = draws.edges.mean(axis=0)
    ancestor = draws.ancestors.mean(axis=0)
    edge = cause + cause.swapaxes(1, 2)
    rows = [
        (
            value,
            names[x],
            names[y],
            float(edge[g, x, y]),
            float(cause[g, x, y]),
            float(ancestor[g, x, y]),
        )
        for g, value in enumerate(contexts)
        for x in range(len(names))
        for y in range(len(names))
        if x != y
    ]
    return frame_of(rows, columns=columns)


def with_probabilities(
    edges: pd.DataFrame, draws: EffectDraws | str, names: Sequence[str], contexts: Sequence[Any]
) -> pd.DataFrame:
    """A table of edges with how probable each is, and its direction, in the context where that is
    least.
    """
    found = np.full((len(edges), 2), np.nan)
    if not isinstance(draws, str):
        cause = draws.edges.mean(axis=0)
        place = {name: v for v, name in enumerate(names)}
        for row, (source, target, mark, some) in enumerate(
            edges[["source", "target", "mark", "contexts"]].to_numpy()
        ):
            x = place[source]
            y = place[target]
            here = [contexts.index(value) for value in some]
            both = cause[here, x, y] + cause[here, y, x]
            found[row, 0] = both.min()
            if mark in ("-->", "<--"):
                own = cause[here, x, y] if mark == "-->" else cause[here, y, x]
                found[row, 1] = (own / np.maximum(both, 0.5 / len(draws.edges))).min()
    return edges.assign(p_edge=found[:, 0], p_direction=found[:, 1])
