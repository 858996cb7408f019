"""The order of the present: exact by dynamic programming over sets for few nodes, by insertion moves for many.

Only links inside one time step need an order. A model found with more nodes before a variable serves every smaller set
that contains what it uses, which saves most local problems. A search that is stopped hands back the best order of the
models that it has; since no reversal was looked at to the end, no link inside the time step has a direction then.
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
NO_ORDER = "knowledge leaves no order of the variables within a time step that was found; allow one more link"


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
    unfinished : tuple of int or None
        Of a search that was stopped, the nodes that were not asked about all sets before them; else None.
    """

    score: float
    order: tuple[int, ...]
    models: tuple[LocalModel, ...]
    evidence: Floats
    exact: bool
    unfinished: tuple[int, ...] | None = None


def search(local: LocalModels, starts: int, seed: int) -> Searched:
    """The best order, exactly where that is possible."""
    if local.problem.nodes <= MOST_EXACT:
        return search_exactly(local)
    return search_by_insertion(local, starts, seed)


def search_exactly(local: LocalModels) -> Searched:
    """The optimum over all orders of the present."""
    nodes = local.problem.nodes
    full = (1 << nodes) - 1
    models: list[list[LocalModel | None]] = [[None] * (full + 1) for _ in range(nodes)]
    unfinished: tuple[int, ...] | None = None
    node = 0
    try:
        for node in range(nodes):
            _by_set(local, node, models[node])
    except KeyboardInterrupt:
        unfinished = tuple(range(node, nodes))
        for left in unfinished:
            _with_what_is_known(local, left, models[left])
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
        raise OptionError(NO_ORDER)
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
    total = float(forward[full])
    if unfinished is not None:
        return Searched(total, tuple(order), final, _open_evidence(local, final, total), False, unfinished)
    return Searched(total, tuple(order), final, _evidence(score, used, forward, backward), True)


def _by_set(local: LocalModels, node: int, found: list[LocalModel | None]) -> None:
    """Write the best model of a node for every set of nodes before it; None stays for sets that hold the node."""
    nodes = local.problem.nodes
    sets = _largest_first(node, nodes)
    for some in sets:
        wider = (found[some | 1 << other] for other in range(nodes) if other != node and not some >> other & 1)
        fitting = [model for model in wider if model is not None and model.used & ~some == 0]
        known = max(fitting, key=lambda model: model.score, default=None)
        found[some] = local.watched(node, some) if known is None else known
    for some in reversed(sets):
        for other in range(nodes):
            if some >> other & 1:
                smaller = _there(found[some ^ (1 << other)])
                if smaller.score > _there(found[some]).score:
                    found[some] = smaller


def _with_what_is_known(local: LocalModels, node: int, found: list[LocalModel | None]) -> None:
    """Fill in, for every set that was not asked about, the best model that fits it; one without the present is made."""
    nodes = local.problem.nodes
    alone = local.best(node, 0)
    if alone.score == -inf:  # it must have a cause in the present
        alone = local.best(node, ((1 << nodes) - 1) ^ (1 << node))
    known = {id(model): model for model in (*found, alone) if model is not None}
    for some in _largest_first(node, nodes):
        fitting = [model for model in known.values() if model.used & ~some == 0]
        if found[some] is None:
            found[some] = max(fitting, key=lambda model: model.score, default=local.best(node, 0))


def _largest_first(node: int, nodes: int) -> list[int]:
    """The sets of nodes that may be before a node."""
    return sorted((some for some in range(1 << nodes) if not some >> node & 1), key=lambda some: -some.bit_count())


def _open_evidence(local: LocalModels, models: tuple[LocalModel, ...], score: float) -> Floats:
    """Reversals inside the time step are as good as links, unless knowledge says which way: nothing else is known."""
    evidence, allowed = np.full((len(models), len(models)), -inf), local.problem.allowed
    for j, model in enumerate(models):
        for i in (i for i in range(len(models)) if model.used >> i & 1):
            evidence[i, j] = score
            if allowed.may[0, j, i] and not allowed.must[0, i, j]:
                evidence[j, i] = score
    return evidence


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
    memory = _Memory(local)
    try:
        order = _best_of_starts(memory, starts, np.random.default_rng(seed))
        models = {node: memory.model(node, before) for node, before in _with_before(order)}
        final = tuple(models[node] for node in range(nodes))
        return Searched(memory.best, tuple(order), final, _moved_evidence(memory, order, memory.best, final), False)
    except KeyboardInterrupt:
        order = memory.order or list(range(nodes))
    models = {node: memory.fitting(node, before) for node, before in _with_before(order)}
    final = tuple(models[node] for node in range(nodes))
    total = sum(model.score for model in final)
    if total == -inf:
        raise OptionError(NO_ORDER)
    unfinished = () if memory.order else tuple(node for node in range(nodes) if not memory.known[node])
    return Searched(total, tuple(order), final, _open_evidence(local, final, total), False, unfinished)


def _best_of_starts(memory: _Memory, starts: int, random: np.random.Generator) -> list[int]:
    """The best order that was found; the memory has it while it is searched."""
    nodes = len(memory.known)
    for start in range(starts):
        trial = _first_order(memory, nodes) if start == 0 else random.permutation(nodes).tolist()
        _climb(memory, trial)
    if memory.best == -inf:
        raise OptionError(NO_ORDER)
    return memory.order


class _Memory:
    """Models by node and set, also for sets that a known model fits; and the best order so far."""

    def __init__(self, local: LocalModels) -> None:
        self.local = local
        self.best = -inf
        self.order: list[int] = []
        self.known: list[dict[int, LocalModel]] = [{} for _ in range(local.problem.nodes)]

    def model(self, node: int, before: int) -> LocalModel:
        known = self.known[node]
        if before not in known:
            fitting = [model for some, model in known.items() if before & ~some == 0 and model.used & ~before == 0]
            known[before] = max(fitting, key=lambda model: model.score) if fitting else self.local.watched(node, before)
        return known[before]

    def fitting(self, node: int, before: int) -> LocalModel:
        """The best model that is known and fits; one without the present if there is none."""
        known = [model for model in self.known[node].values() if model.used & ~before == 0]
        return max(known, key=lambda model: model.score) if known else self.local.best(node, 0)

    def keep(self, score: float, order: list[int]) -> None:
        """Remember an order if it is better than all before."""
        if score > self.best + GAIN or not self.order:
            self.best, self.order = score, list(order)

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


def _climb(memory: _Memory, order: list[int]) -> None:
    """Move single nodes to their best place until none is better elsewhere."""
    score, moved = memory.score(order), True
    memory.keep(score, order)
    while moved:
        moved = False
        for node in sorted(order):
            better, trial = _best_insertion(memory, order, node)
            if better > score + GAIN:
                score, order, moved = better, trial, True
                memory.keep(score, order)


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
