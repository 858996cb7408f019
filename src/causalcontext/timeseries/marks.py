"""From a searched model to window graphs, to the evidence on every pair, and to who reads which copy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, Endpoints
from causalcontext.graphs.lag_names import at
from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.results.entries import Decision
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.series import Copy, SlopeRow
from causalcontext.timeseries.judgement import TargetLinkScores, judge_context, judge_reading, judge_target
from causalcontext.timeseries.local_models import LocalModels
from causalcontext.timeseries.order_search import Searched
from causalcontext.timeseries.problem import LaggedProblem

LEAST_GAP = 3.0
"""A direction inside a time step is claimed if its reversal scores lower by so much."""
LEAST_COPY_GAP = 1.0
"""A copy of the context is claimed if all others score lower by so much."""


class WindowMarks:
    """A searched model in the numbers of a window graph.

    `names` are the variables in table order, the context included; nodes of the engine are numbered with the context
    last, so `place[node]` is where they are among `names`.
    """

    def __init__(self, local: LocalModels, found: Searched, names: Sequence[str], place: Sequence[int],
                 covariates: Sequence[str]) -> None:  # fmt: skip
        self.local, self.found = local, found
        self.problem: LaggedProblem = local.problem
        self.names, self.place, self.covariates = tuple(names), tuple(place), tuple(covariates)
        self.before: dict[int, int] = {}
        some = 0
        for node in found.order:
            self.before[node] = some
            some |= 1 << node

    @cached_property
    def judged(self) -> list[TargetLinkScores]:
        """The evidence on the links into every system variable."""
        return [
            judge_target(self.problem, node, self.found.models[node], self.before[node])
            for node in range(self.problem.variables)
        ]

    @property
    def size(self) -> int:
        """The nodes of a window graph."""
        return len(self.names) * (self.problem.table.lags + 1) + len(self.covariates)

    def node(self, node: int, lag: int) -> int:
        """The position of a variable at a lag among the nodes of a window graph."""
        return (self.problem.table.lags - lag) * len(self.names) + self.place[node]

    def column(self, column: int) -> int:
        """The position of a column of the lagged table."""
        d, lags = self.problem.variables, self.problem.table.lags
        if column >= d * (lags + 1):
            return len(self.names) * (lags + 1) + column - d * (lags + 1)
        return self.node(column % d, column // d)

    def links(self) -> Bools:
        """Directed links of every context, shape (K, nodes, nodes)."""
        d, k = self.problem.variables, self.problem.contexts
        links = np.zeros((k, self.size, self.size), dtype=bool)
        for j, model in enumerate(self.found.models):
            for r, column in np.argwhere(model.parents):
                links[r, self.column(int(column)), self.node(j, 0)] = True
            if model.copy >= 0:
                links[:, self.node(d, model.copy), self.node(j, 0)] = True
            for lag in model.own_past:
                links[:, self.node(d, lag), self.node(d, 0)] = True
        return links

    def endpoints(self) -> Endpoints:
        """The ends of every context; a direction of the present that the data do not tell is two circles."""
        links = self.links()
        endpoints = np.where(
            links, Endpoint.ARROW, np.where(links.swapaxes(1, 2), Endpoint.TAIL, Endpoint.NONE)
        ).astype(np.int8)
        for i in range(self.problem.nodes):
            for j in range(self.problem.nodes):
                if self.undecided(i, j):
                    a, b = self.node(i, 0), self.node(j, 0)
                    there = links[:, a, b]
                    endpoints[there, a, b] = endpoints[there, b, a] = Endpoint.CIRCLE
        return endpoints

    def undecided(self, i: int, j: int) -> bool:
        """Whether i -> j inside a time step is in the model and its reversal scores about as well."""
        uses = self.found.models[j].used >> i & 1
        return bool(uses and self.found.evidence[j, i] > self.found.score - LEAST_GAP)

    def reads(self) -> dict[str, Copy]:
        """Which copy of the context every variable reads."""
        d = self.problem.variables
        if not self.problem.has_context:
            return {self.names[self.place[node]]: None for node in range(d)}
        context = self.names[self.place[d]]
        found: dict[str, Copy] = {}
        for node in range(d):
            model = self.found.models[node]
            others = {lag for lag, gap in self._copy_gaps(node).items() if gap < LEAST_COPY_GAP} - {model.copy}
            lags = tuple(sorted({model.copy, *others}))
            found[self.names[self.place[node]]] = (
                None if model.copy < 0 else (context, lags if len(lags) > 1 else model.copy)
            )
        return found

    def _copy_gaps(self, node: int) -> dict[int, float]:
        """By how much models that read another copy score lower than the one that was found."""
        model, d = self.found.models[node], self.problem.variables
        if model.copy < 0:
            return {}
        models = self.local.all_of(node, self.before[node])
        gaps = {other.copy: model.score - other.score for other in models if other.copy >= 0}
        if model.copy > 0 and 0 in self.problem.copies:
            gaps[0] = min(gaps.get(0, np.inf), self.found.score - float(self.found.evidence[d, node]))
        return gaps

    def slopes(self, contexts: Sequence[Any]) -> list[SlopeRow]:
        """Every link into a system variable from a column, in every context."""
        scale, found = self.problem.table.scale, []
        names = self._column_names()
        for node, (model, judged) in enumerate(zip(self.found.models, self.judged, strict=False)):
            for column in np.flatnonzero(model.parents.any(axis=0)).tolist():
                unit = float(scale[node] / scale[column])
                for r, value in enumerate(contexts):
                    present = bool(model.parents[r, column])
                    slope = float(judged.slope[r, column]) * unit if present else 0.0
                    found.append(SlopeRow(
                        names[column], self.names[self.place[node]], value, present, slope,
                        float(judged.error[r, column]) * unit if present else np.nan,
                        float(judged.own[r, column]) * unit, float(judged.own_error[r, column]) * unit,
                        int(judged.df[r]),
                    ))  # fmt: skip
        return found

    def _column_names(self) -> list[str]:
        d, lags = self.problem.variables, self.problem.table.lags
        system = [self.names[self.place[node]] for node in range(d)]
        return [at(name, lag) for lag in range(lags + 1) for name in system] + list(self.covariates)

    def evidence(self, facts: dict[str, Any]) -> ScoreEvidence:
        """The evidence on every pair of nodes; pairs of two earlier ones are not searched."""
        k, size, d = self.problem.contexts, self.size, self.problem.variables
        difference, strength = np.full((k, size, size), np.nan), np.full((k, size, size), np.nan)
        model, rows = ["" for _ in range(size)], np.zeros((k, size), dtype=np.int64)
        block = np.full((k, size), (1 << k) - 1, dtype=np.int64)
        columns = np.array([self.column(c) for c in range(self.problem.table.width)])
        for node, judged in enumerate(self.judged):
            here = self.node(node, 0)
            difference[:, columns, here], strength[:, columns, here] = judged.difference, judged.strength
            model[here], rows[:, here] = self.found.models[node].kind, judged.rows
            block[:, here] = self.found.models[node].mechanism
            if self.problem.has_context:
                for lag, value in judge_reading(self.local, node, self.found.models[node], self.before[node]).items():
                    difference[:, self.node(d, lag), here] = value
        if self.problem.has_context:
            self._evidence_of_context(difference, columns, model, rows)
        return self._arranged(difference, strength, tuple(model), block, rows, facts)

    def _evidence_of_context(self, difference: Floats, columns: Ints, model: list[str], rows: Ints) -> None:
        d, here = self.problem.variables, self.node(self.problem.variables, 0)
        from_columns, from_past = judge_context(self.local, self.found.models[d], self.before[d])
        difference[:, columns, here] = from_columns
        for lag, value in enumerate(from_past, start=1):
            difference[:, self.node(d, lag), here] = value
        model[here], rows[:, here] = "context", int(self.problem.rows)

    def _arranged(self, difference: Floats, strength: Floats, model: tuple[str, ...], block: Ints, rows: Ints,
                  facts: dict[str, Any]) -> ScoreEvidence:  # fmt: skip
        links = self.links()
        n = self.problem.rows
        likelihood = np.sqrt(-np.expm1(-2.0 * np.maximum(difference, 0.0) / n))
        strength = np.where(np.isnan(strength), likelihood, strength)
        first, second = np.triu_indices(self.size, 1)
        forward = links[:, first, second] | (~links[:, second, first] & ~np.isnan(difference[:, first, second]))
        chosen = [
            np.where(forward, array[:, first, second], array[:, second, first]) for array in (difference, strength)
        ]
        present = links[:, first, second] | links[:, second, first]
        judged = ~np.isnan(chosen[0]) | present
        decision = np.where(present, Decision.PRESENT, np.where(judged, Decision.ABSENT, Decision.NOT_SEARCHED))
        for number, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            known = self._known(a, b)
            if known is not None:
                decision[:, number] = known
        return ScoreEvidence(
            difference=chosen[0], strength=chosen[1],
            effect=np.where(judged, np.where(forward, second, first), -1).astype(np.int64),
            decision=decision.astype(np.int8), model=model, block=block, rows=rows, score=self.found.score,
            margin=self._margins(links, first, second), **facts,
        )  # fmt: skip

    def _margins(self, links: Bools, first: Ints, second: Ints) -> Floats:
        """How much worse the best model is in which a link inside the time step points the other way."""
        margin = np.full((self.problem.contexts, self.size, self.size), np.nan)
        for j, model in enumerate(self.found.models):
            for i in (i for i in range(self.problem.nodes) if model.used >> i & 1):
                a, b = self.node(i, 0), self.node(j, 0)
                gap = self.found.score - float(self.found.evidence[j, i])
                margin[:, a, b] = margin[:, b, a] = min(gap, 1e9)
        margin = np.where(links | links.swapaxes(1, 2), margin, np.nan)
        return np.asarray(margin[:, first, second])

    def _known(self, a: int, b: int) -> Decision | None:
        """What knowledge says about the pair of an earlier node and one of time t."""
        count, lags = len(self.names), self.problem.table.lags
        if max(a, b) >= count * (lags + 1) or b < count * lags:
            return None
        lag = lags - a // count
        order = {place: node for node, place in enumerate(self.place)}
        i, j = order[a % count], order[b % count]
        may, must = self.problem.allowed.may, self.problem.allowed.must
        if lag == 0:
            if must[0, i, j] or must[0, j, i]:
                return Decision.REQUIRED
            return Decision.FORBIDDEN if not may[0, i, j] and not may[0, j, i] else None
        if must[lag, i, j]:
            return Decision.REQUIRED
        return None if may[lag, i, j] else Decision.FORBIDDEN
