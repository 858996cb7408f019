"""The order of the present: exact by dynamic programming over sets for few nodes, by insertion moves for many.

Only links inside one time step need an order. A model found with more nodes before a variable serves every smaller set
that contains what it uses, which saves most local problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.timeseries.local_models import LocalModel, LocalModels

MOST_EXACT = 11
"""Nodes, the context included, up to which the order is searched exactly."""
GAIN = 1e-7


@dataclass(frozen=True, eq=False)
class Searched:
    """The best order and its models.

    Attributes
    ----------
    score : float
    order : tuple of int
        The nodes, causes first.
    models : tuple of LocalModel
        By node.
    evidence : array, shape (nodes, nodes)
        The best score of a model with i -> j inside the time step; minus infinity if none was found.
    exact : bool
    """

    score: float
    order: tuple[int, ...]
    models: tuple[LocalModel, ...]
    evidence: Floats
    exact: bool


def search(local: LocalModels, starts: int, seed: int) -> Searched:
    """The best order, exactly where that is possible."""
    if local.problem.nodes <= MOST_EXACT:
        return search_exactly(local)
    return search_by_insertion(local, starts, seed)


def search_exactly(local: LocalModels) -> Searched:
    """The optimum over all orders of the present."""
    nodes = local.problem.nodes
    full = (1 << nodes) - 1
    models = [_by_set(local, node, nodes) for node in range(nodes)]
    score = np.array([[model.score if model else -inf for model in row] for row in models])
    used = np.array([[model.used if model else 0 for model in row] for row in models], dtype=np.int64)
    forward, last = np.full(full + 1, -inf), np.zeros(full + 1, dtype=np.int64)
    forward[0] = 0.0
    for some in range(1, full + 1):
        for node in range(nodes):
            if some >> node & 1:
                value = forward[some ^ (1 << node)] + score[node, some ^ (1 << node)]
                if value > forward[some]:
                    forward[some], last[some] = value, node
    if forward[full] == -inf:
        raise OptionError("knowledge leaves no order of the variables within a time step; allow one more link")
    backward = np.full(full + 1, -inf)
    backward[full] = 0.0
    for some in range(full - 1, -1, -1):
        for node in range(nodes):
            if not some >> node & 1:
                backward[some] = max(backward[some], score[node, some] + backward[some | 1 << node])
    order, rest = [], full
    while rest:
        order.append(int(last[rest]))
        rest ^= 1 << order[-1]
    order.reverse()
    chosen = {}
    before = 0
    for node in order:
        chosen[node] = models[node][before]
        before |= 1 << node
    final = tuple(_there(chosen[node]) for node in range(nodes))
    return Searched(float(forward[full]), tuple(order), final, _evidence(score, used, forward, backward), True)


def _by_set(local: LocalModels, node: int, nodes: int) -> list[LocalModel | None]:
    """The best model of a node for every set of nodes before it; None for sets that hold the node itself."""
    full = (1 << nodes) - 1
    found: list[LocalModel | None] = [None] * (full + 1)
    sets = sorted((some for some in range(full + 1) if not some >> node & 1), key=lambda some: -some.bit_count())
    for some in sets:
        wider = (found[some | 1 << other] for other in range(nodes) if other != node and not some >> other & 1)
        fitting = [model for model in wider if model is not None and model.used & ~some == 0]
        known = max(fitting, key=lambda model: model.score, default=None)
        found[some] = local.best(node, some) if known is None else known
    for some in reversed(sets):
        for other in range(nodes):
            if some >> other & 1:
                smaller = _there(found[some ^ (1 << other)])
                if smaller.score > _there(found[some]).score:
                    found[some] = smaller
    return found


def _evidence(score: Floats, used: Ints, forward: Floats, backward: Floats) -> Floats:
    """The best total with i -> j: over all sets before j whose model uses i."""
    nodes = len(score)
    evidence = np.full((nodes, nodes), -inf)
    sets = np.arange(score.shape[1])
    for j in range(nodes):
        free = sets[(sets >> j & 1) == 0]
        totals = forward[free] + score[j, free] + backward[free | 1 << j]
        for i in range(nodes):
            with_i = (used[j, free] >> i & 1) == 1
            if with_i.any():
                evidence[i, j] = totals[with_i].max()
    return evidence


def search_by_insertion(local: LocalModels, starts: int, seed: int) -> Searched:
    """The best order that insertion moves find from several starts."""
    nodes = local.problem.nodes
    random = np.random.default_rng(seed)
    memory = _Memory(local)
    best, order = -inf, list(range(nodes))
    for start in range(starts):
        trial = _first_order(memory, nodes) if start == 0 else random.permutation(nodes).tolist()
        score, trial = _climb(memory, trial)
        if score > best + GAIN:
            best, order = score, trial
    if best == -inf:
        raise OptionError("knowledge leaves no order of the variables within a time step that was found; allow one "
                          "more link")  # fmt: skip
    models = {node: memory.model(node, before) for node, before in _with_before(order)}
    final = tuple(models[node] for node in range(nodes))
    return Searched(best, tuple(order), final, _moved_evidence(memory, order, best, final), False)


class _Memory:
    """Models by node and set, also for sets that a known model fits."""

    def __init__(self, local: LocalModels) -> None:
        self.local = local
        self.known: list[dict[int, LocalModel]] = [{} for _ in range(local.problem.nodes)]

    def model(self, node: int, before: int) -> LocalModel:
        known = self.known[node]
        if before not in known:
            fitting = [model for some, model in known.items() if before & ~some == 0 and model.used & ~before == 0]
            known[before] = max(fitting, key=lambda model: model.score) if fitting else self.local.best(node, before)
        return known[before]

    def score(self, order: list[int]) -> float:
        return sum(self.model(node, before).score for node, before in _with_before(order))


def _first_order(memory: _Memory, nodes: int) -> list[int]:
    """Sinks first taken from the end: whoever loses least when it has all others before it."""
    rest, order = list(range(nodes)), []
    while rest:
        everything = sum(1 << node for node in rest)
        gain = {node: memory.model(node, everything ^ (1 << node)).score - memory.model(node, 0).score for node in rest}
        order.append(max(rest, key=lambda node: (gain[node], -node)))
        rest.remove(order[-1])
    return order[::-1]


def _climb(memory: _Memory, order: list[int]) -> tuple[float, list[int]]:
    """Move single nodes to their best place until none is better elsewhere."""
    score, moved = memory.score(order), True
    while moved:
        moved = False
        for node in sorted(order):
            better, trial = _best_insertion(memory, order, node)
            if better > score + GAIN:
                score, order, moved = better, trial, True
    return score, order


def _best_insertion(memory: _Memory, order: list[int], node: int) -> tuple[float, list[int]]:
    rest = [other for other in order if other != node]
    trials = [[*rest[:place], node, *rest[place:]] for place in range(len(order))]
    scores = [memory.score(trial) for trial in trials]
    best = int(np.argmax(scores))
    return scores[best], trials[best]


def _moved_evidence(memory: _Memory, order: list[int], score: float, models: tuple[LocalModel, ...]) -> Floats:
    """For links of the model its score; for their reversals the best order that one or two insertions reach."""
    nodes = len(order)
    evidence = np.full((nodes, nodes), -inf)
    place = {node: number for number, node in enumerate(order)}
    for j in range(nodes):
        for i in range(nodes):
            if not models[j].used >> i & 1:
                continue
            evidence[i, j] = score
            between = [node for node in order[place[i] : place[j] + 1] if node not in (i, j)]
            head, tail = order[: place[i]], order[place[j] + 1 :]
            for cut in range(len(between) + 1):
                trial = [*head, *between[:cut], j, i, *between[cut:], *tail]
                value = memory.score(trial)
                if memory.model(i, sum(1 << node for node in trial[: trial.index(i)])).used >> j & 1:
                    evidence[j, i] = max(evidence[j, i], value)
    return evidence


def _with_before(order: list[int]) -> list[tuple[int, int]]:
    before, found = 0, []
    for node in order:
        found.append((node, before))
        before |= 1 << node
    return found


def _there(model: LocalModel | None) -> LocalModel:
    assert model is not None
    return model
