"""Exact models with several binary context variables: every combination of their values has its own
graph.

A node may have other parents in another combination only if a context variable that differs is one
of its parents; links at context variables are those of the union; every graph is acyclic, and no
cycle of the union meets a context variable or an ancestor of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.paths import ancestors, is_acyclic, reach
from causalcontext.knowledge import Knowledge
from causalcontext.search.algorithm import FoundGraphs, algorithm_1
from causalcontext.search.batched_search import BatchedSearch
from causalcontext.search.family import Doubt
from causalcontext.search.indicator import with_indicators
from causalcontext.search.plan import Plan
from causalcontext.views import Contexts, adaptive
from causalcontext_lab.simulate.hidden import PreparedOracle
from causalcontext_lab.simulate.testing import DiscreteModel
from oracle import always_trusted


@dataclass(frozen=True)
class SeveralModel:
    """Graphs of every combination, shape (combinations, N, N), and the joint distribution; contexts
    come first.
    """

    contexts: int
    truth: NDArray[np.bool_]
    joint: NDArray[np.float64]

    @property
    def codes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(product((0, 1), repeat=self.contexts))


def random_several_model(
    contexts: int, system: int, generator: np.random.Generator
) -> SeveralModel:
    """A random model that meets the assumptions."""
    while True:
        truth = _random_graphs(contexts, system, generator)
        if _acyclic_enough(truth, contexts):
            return SeveralModel(contexts, truth, random_joint(truth, contexts, generator))


def every_model_of_two() -> list[NDArray[np.bool_]]:
    """The graphs of all models with two context variables A, B and two system variables X, Y."""
    a, b, x, y = range(4)
    found = []
    for kinds in product(range(3), repeat=5):  # no link, or one of its two directions
        links = np.zeros((4, 4), dtype=bool)
        for (first, second), kind in zip(
            ((a, b), (a, x), (a, y), (b, x), (b, y)), kinds, strict=True
        ):
            if kind:
                links[(first, second) if kind == 1 else (second, first)] = True
        for towards_x, towards_y in product(*(_by_combination(links, node) for node in (x, y))):
            truth = np.repeat(links[None], 4, axis=0)
            truth[:, y, x], truth[:, x, y] = towards_x, towards_y
            if _acyclic_enough(truth, 2):
                found.append(truth)
    return found


def independences(model: SeveralModel) -> tuple[bool, ...]:
    """Every independence, with any of the context variables among the conditions fixed: all that
    could be learnt.
    """
    nodes = range(model.truth.shape[1])
    exact = DiscreteModel(tuple(f"V{node}" for node in nodes), 0, model.truth[:2], model.joint)
    answers = []
    for x, y in combinations(nodes, 2):
        rest = [z for z in nodes if z not in (x, y)]
        for given in (given for size in range(len(rest) + 1) for given in combinations(rest, size)):
            contexts = [z for z in given if z < model.contexts]
            for fixed in (
                fixed for size in range(len(contexts) + 1) for fixed in combinations(contexts, size)
            ):
                free = [z for z in given if z not in fixed]
                for values in product((0, 1), repeat=len(fixed)):
                    answers.append(
                        exact.independent(x, y, free, tuple(zip(fixed, values, strict=True)))
                    )
    return tuple(answers)


def search_several(
    model: SeveralModel,
    collider_rule: str = "majority",
    across: bool = True,
    cells: tuple[int, ...] | None = None,
) -> FoundGraphs:
    """The graphs that a search finds, when every independence question is answered exactly, of some
    combinations.
    """
    nodes, positions = model.truth.shape[1], tuple(range(model.contexts))
    names = tuple(f"V{node}" for node in range(nodes))
    contexts = Contexts(
        positions, tuple(model.codes[cell] for cell in cells or range(len(model.truth)))
    )
    exact = DiscreteModel(names, 0, model.truth[:2], model.joint)
    oracle = PreparedOracle(exact.deviation, tuple(range(nodes)), contexts)
    plan = Plan(
        nodes,
        contexts,
        adaptive,
        tuple(range(len(contexts.cells))),
        Knowledge().links(names),
        0.5,
        nodes,
        collider_rule,
        across=always_trusted if across else None,
    )
    return algorithm_1(BatchedSearch(oracle), plan, 1, lambda size, done, total: None)


def random_joint(
    truth: NDArray[np.bool_], contexts: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """The product of generic tables: every node has its own for every combination of its parents
    among the contexts.
    """
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
            table = tables[key][
                tuple(
                    part if tables[key].shape[axis] > 1 else slice(None)
                    for axis, part in enumerate(window)
                )
            ]
            joint[window] *= table
    return joint


def _by_combination(links: NDArray[np.bool_], node: int) -> list[list[bool]]:
    """All ways in which a link may be there in some combinations, as its effect's parents among A
    and B allow.
    """
    keys = [
        tuple(value for j, value in enumerate(values) if links[j, node])
        for values in product((0, 1), repeat=2)
    ]
    known = sorted(set(keys))
    return [
        [bits[known.index(key)] for key in keys]
        for bits in product((False, True), repeat=len(known))
    ]


def _random_graphs(contexts: int, system: int, generator: np.random.Generator) -> NDArray[np.bool_]:
    nodes = contexts + system
    codes = list(product((0, 1), repeat=contexts))
    truth = np.zeros((len(codes), nodes, nodes), dtype=bool)
    for a in range(contexts):
        for b in range(a + 1, nodes):
            kind = generator.integers(
                4 if b < contexts else 3
            )  # contexts are less often adjacent to each other
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


def written_cells(text: str) -> tuple[list[str], SeveralModel]:
    """The columns of a table, and the model, of "R>A A>Y@T1 L>Y": contexts R and T first, hidden
    names L... last.

    `A>Y@T1` is there where T = 1 alone.
    """
    arrows = [
        (a, *rest.partition("@")[::2]) for a, rest in (arrow.split(">") for arrow in text.split())
    ]
    others = {name for a, b, _ in arrows for name in (a, b)} - {"R", "T"}
    names = ["R", "T", *sorted(others, key=lambda name: (name[0] == "L", name))]
    truth = np.zeros((4, len(names), len(names)), dtype=bool)
    for a, b, where in arrows:
        for cell, values in enumerate(product((0, 1), repeat=2)):
            truth[cell, names.index(a), names.index(b)] = not where or values[
                "RT".index(where[0])
            ] == int(where[1])
    model = SeveralModel(2, truth, random_joint(truth, 2, np.random.default_rng(1)))
    return [name for name in names if name[0] != "L"], model


def hidden_oracle(model: SeveralModel, columns: int) -> PreparedOracle:
    """Exact answers about a table that holds the first variables of a model only."""
    joint = model.joint.sum(axis=tuple(range(columns, model.joint.ndim)))
    names = tuple(f"V{node}" for node in range(columns))
    exact = DiscreteModel(names, 0, model.truth[:2, :columns, :columns], joint)
    return PreparedOracle(
        exact.deviation, tuple(range(columns)), Contexts(tuple(range(model.contexts)), model.codes)
    )


@dataclass(frozen=True)
class MadeModel:
    """A model some of whose context variables are step functions of a column with four values.

    Attributes
    ----------
    made : tuple of bool
        Whether each of the first variables is such a column, or a context variable with two values.
    truth : array of bool, shape (combinations, N, N)
        The graphs without the functions: what a function acts on is an effect of its column.
    reads : array of bool, shape (contexts, N)
        Which variables have other mechanisms for other values of a context variable, or of a
        function.
    joint : array
        Of all variables, then of the functions.
    """

    made: tuple[bool, ...]
    truth: NDArray[np.bool_]
    reads: NDArray[np.bool_]
    joint: NDArray[np.float64]

    @property
    def codes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(product((0, 1), repeat=len(self.made)))

    def oracle(self, columns: int) -> PreparedOracle:
        """Exact answers about a table that holds the first variables and the functions."""
        joint = self.joint.sum(axis=tuple(range(columns, self.truth.shape[1])))
        names = tuple(f"V{node}" for node in range(joint.ndim))
        exact = DiscreteModel(
            names, 0, np.zeros((joint.shape[0], joint.ndim, joint.ndim), dtype=bool), joint
        )
        functions = iter(range(columns, joint.ndim))
        positions = tuple(
            next(functions) if made else place for place, made in enumerate(self.made)
        )
        sources = tuple(place if made else None for place, made in enumerate(self.made))
        return PreparedOracle(
            exact.deviation, tuple(range(joint.ndim)), Contexts(positions, self.codes, sources)
        )

    def caused_by(self, context: int) -> NDArray[np.bool_]:
        """What a context variable, or the function of a column, acts on, or leads to; shape
        (combinations, N).
        """
        direct = self.reads[context]
        return np.asarray(direct | (reach(self.truth) & direct[:, None]).any(axis=1))


def random_made_model(
    made: tuple[bool, ...], system: int, generator: np.random.Generator, steady: bool = False
) -> MadeModel:
    """A random model; links at a context variable may change with another that is a cause, unless
    they are steady.
    """
    while True:
        truth, reads = _random_reading(len(made), system, generator)
        if steady:
            contexts, union = len(made), truth.any(axis=0)
            truth[:, :contexts], truth[:, :, :contexts] = union[:contexts], union[:, :contexts]
        if _acyclic_enough(truth, len(made)):
            return MadeModel(made, truth, reads, _joint_of_made(made, truth, reads, generator))


def _random_reading(
    contexts: int, system: int, generator: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    nodes, codes = contexts + system, list(product((0, 1), repeat=contexts))
    truth, reads = (
        np.zeros((len(codes), nodes, nodes), dtype=bool),
        np.zeros((contexts, nodes), dtype=bool),
    )
    density = generator.uniform(0.2, 0.7) / 2
    for node in range(nodes):
        reads[:, node] = generator.uniform(size=contexts) < (0.35 if node >= contexts else 0.15)
        reads[node : node + 1, node] = False
        chosen: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        for cell, values in enumerate(codes):
            key = tuple(value for value, read in zip(values, reads[:, node], strict=True) if read)
            parents = chosen.setdefault(key, generator.uniform(size=nodes) < density)
            truth[cell, :, node] = parents
            truth[cell, :contexts, node] |= reads[:, node]
        truth[:, node, node] = False
    return truth, reads


def _joint_of_made(
    made: tuple[bool, ...],
    truth: NDArray[np.bool_],
    reads: NDArray[np.bool_],
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    nodes, contexts = truth.shape[1], len(made)
    shape = [4 if node < contexts and made[node] else 2 for node in range(nodes)]
    joint = np.ones(shape)
    for node in range(nodes):
        besides = (
            generator.uniform(size=contexts) < 0.5
        )  # whether a column acts beside its function
        tables: dict[tuple[int, ...], NDArray[np.float64]] = {}
        for cell, values in enumerate(product((0, 1), repeat=contexts)):
            key = tuple(value for value, read in zip(values, reads[:, node], strict=True) if read)
            parents = truth[cell, :, node].copy()
            parents[:contexts] &= ~reads[:, node] | (besides & np.array(made))
            if key not in tables:
                size = [
                    shape[axis] if axis == node or parents[axis] else 1 for axis in range(nodes)
                ]
                weights = generator.uniform(0.1, 1.0, size)
                tables[key] = weights / weights.sum(axis=node, keepdims=True)
            window = tuple(
                slice(2 * value, 2 * value + 2) if one else slice(value, value + 1)
                for value, one in zip(values, made, strict=True)
            )
            table = tables[key]
            joint[window] *= table[
                tuple(
                    part if table.shape[axis] > 1 else slice(None)
                    for axis, part in enumerate(window)
                )
            ]
    for node in (node for node in range(contexts) if made[node]):
        function = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        axes = [1] * joint.ndim
        axes[node] = 4
        joint = joint[..., None] * function.reshape(*axes, 2)
    return joint


def search_made(model: MadeModel) -> tuple[Contexts, NDArray[np.int8], list[Doubt]]:
    """What pc-ac finds with exact answers, the links of the functions drawn; nothing is hidden."""
    oracle = model.oracle(model.truth.shape[1])
    columns, contexts = len(oracle.nodes), oracle.contexts
    links = Knowledge().links([f"V{node}" for node in range(columns)])
    plan = Plan(
        columns,
        contexts,
        adaptive,
        tuple(range(len(contexts.cells))),
        links,
        0.5,
        columns,
        "majority",
        "always",
        always_trusted,
    )
    found = algorithm_1(BatchedSearch(oracle), plan, 1, lambda size, done, total: None)
    endpoints, _, doubts = with_indicators(found.endpoints, found.origins, contexts)
    return contexts, endpoints, [*found.doubts, *doubts]
