"""Exact models with several binary context variables: every combination of their values has its own graph.

A node may have other parents in another combination only if a context variable that differs is one of its parents;
links at context variables are those of the union; every graph is acyclic, and no cycle of the union meets a context
variable or an ancestor of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from causalcontext.knowledge import Knowledge
from causalcontext.rules import masked
from causalcontext.search.across import always_physical
from causalcontext.search.algorithm import Found, algorithm_1
from causalcontext.search.plan import NO_CONTEXT, ContextVariables, Plan
from causalcontext.search.several import SeveralSearch
from causalcontext.simulate.assumptions import ancestors, is_acyclic
from causalcontext.simulate.discrete import DiscreteModel, OracleTest


@dataclass(frozen=True)
class SeveralModel:
    """Graphs of every combination, shape (combinations, N, N), and the joint distribution; contexts come first."""

    contexts: int
    truth: NDArray[np.bool_]
    joint: NDArray[np.float64]

    @property
    def codes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(product((0, 1), repeat=self.contexts))


def random_several_model(contexts: int, system: int, generator: np.random.Generator) -> SeveralModel:
    """A random model that meets the assumptions."""
    while True:
        truth = _random_graphs(contexts, system, generator)
        if _acyclic_enough(truth, contexts):
            return SeveralModel(contexts, truth, random_joint(truth, contexts, generator))


def search_several(model: SeveralModel, collider_rule: str = "majority", across: bool = True,
                   cells: tuple[int, ...] | None = None) -> Found:  # fmt: skip
    """The graphs that a search finds, when every independence question is answered exactly, of some combinations."""
    nodes, positions = model.truth.shape[1], tuple(range(model.contexts))
    names = tuple(f"V{node}" for node in range(nodes))
    oracle = OracleTest(DiscreteModel(names, 0, model.truth[:2], model.joint)).prepare(None)
    codes = tuple(model.codes[cell] for cell in (cells or range(len(model.truth))))
    plan = Plan(nodes, NO_CONTEXT, masked, tuple(range(len(codes))), Knowledge().links(names), 0.5, nodes,
                across=(lambda ledger: always_physical) if across else None,
                cells=ContextVariables(positions, codes))  # fmt: skip
    search = SeveralSearch(oracle, positions, np.array(codes))
    return algorithm_1(search, plan, collider_rule, 1, lambda size, done, total: None)


def random_joint(truth: NDArray[np.bool_], contexts: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """The product of generic tables: every node has its own for every combination of its parents among the contexts."""
    nodes = truth.shape[1]
    joint = np.ones((2,) * nodes)
    codes = list(product((0, 1), repeat=contexts))
    for node in range(nodes):
        tables: dict[tuple[int, ...], NDArray[np.float64]] = {}
        for cell, values in enumerate(codes):
            parents = truth[cell, :, node].copy()
            masks = [j for j in range(contexts) if parents[j]] if node >= contexts else []
            parents[masks] = False
            key = tuple(values[j] for j in masks)
            if key not in tables:
                size = [2 if axis == node or parents[axis] else 1 for axis in range(nodes)]
                weights = generator.uniform(0.1, 1.0, size)
                tables[key] = weights / weights.sum(axis=node, keepdims=True)
            window = tuple(slice(value, value + 1) for value in values)
            table = tables[key][tuple(part if tables[key].shape[axis] > 1 else slice(None)
                                      for axis, part in enumerate(window))]  # fmt: skip
            joint[window] *= table
    return joint


def _random_graphs(contexts: int, system: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    nodes = contexts + system
    codes = list(product((0, 1), repeat=contexts))
    truth = np.zeros((len(codes), nodes, nodes), dtype=bool)
    for a in range(contexts):
        for b in range(a + 1, nodes):
            kind = generator.integers(4 if b < contexts else 3)  # contexts are less often adjacent to each other
            if kind in (0, 1):
                truth[(slice(None), a, b) if kind else (slice(None), b, a)] = True
    density = generator.uniform(0.2, 0.7)
    for node in range(contexts, nodes):
        by_values: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        for cell, values in enumerate(codes):
            key = tuple(values[j] for j in range(contexts) if truth[cell, j, node])
            if key not in by_values:
                by_values[key] = generator.uniform(size=system) < density / 2
            truth[cell, contexts:, node] = by_values[key]
        truth[:, node, node] = False
    return truth


def _acyclic_enough(truth: NDArray[np.bool_], contexts: int) -> bool:
    union = truth.any(axis=0)
    upstream = np.zeros(len(union), dtype=bool)
    for context in range(contexts):
        upstream |= ancestors(union, context)
        upstream[context] = True
    among = union & upstream[:, None] & upstream[None, :]
    return bool(is_acyclic(truth).all() and is_acyclic(among))
