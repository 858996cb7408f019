"""Exact Markov chains of binary variables with a context: three consecutive times as one joint distribution.

Every variable depends on variables of the last and of the same time step, and reads one copy of the context, R(t) or
R(t-1), or none; the context depends on variables and on its own past. The stationary law is computed, so a search over
time can be held against the truth without noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.simulate.discrete import DiscreteModel, PreparedOracle
from causalcontext.views import Contexts

NO_COPY = -1
INTO_CONTEXT = ("any", "past")


@dataclass(frozen=True, eq=False)
class BinaryChain:
    """d variables and a context, the last one; all binary, with one lag.

    Attributes
    ----------
    links : array of bool, shape (2, 2, d + 1, d + 1)
        `links[r, lag, cause, effect]` with the context held at r, links at copies of the context included.
    reads : tuple of int
        The lag of the copy of the context that every variable reads; -1 for none.
    joint : array, shape (2,) * 3 (d + 1)
        The law of the columns X(t-1), X(t), X(t-2), in this order, the context last among those of each time.
    """

    links: Bools
    reads: tuple[int, ...]
    joint: Floats

    @property
    def variables(self) -> int:
        """How many, the context included."""
        return len(self.reads) + 1

    @property
    def contexts(self) -> Contexts:
        """The copies R(t) and R(t-1) among the columns."""
        d = self.variables
        return Contexts((2 * d - 1, d - 1), tuple((now, before) for now in range(2) for before in range(2)))

    def oracle(self, contexts: Contexts | None = None) -> PreparedOracle:
        """A test that cannot err; with other numbers of views where they are given."""
        columns = self.joint.ndim
        names = tuple(f"column {column}" for column in range(columns))
        model = DiscreteModel(names, columns - 1, np.zeros((2, columns, columns), dtype=bool), self.joint)
        return PreparedOracle(model, tuple(range(columns)), contexts or self.contexts)

    def truth(self) -> Bools:
        """Links into time t, shape (2, 2 (d + 1), 2 (d + 1)), from row to column: the window graph of every context."""
        d = self.variables
        found = np.zeros((2, 2 * d, 2 * d), dtype=bool)
        found[:, :d, d:] = self.links[:, 1]
        found[:, d:, d:] = self.links[:, 0]
        return found


def random_chain(variables: int, seed: int | np.random.Generator, into_context: str = "any",
                 share: float = 0.4) -> BinaryChain:  # fmt: skip
    """A random chain: an order of the present, parents with a probability `share`, generic tables.

    Parameters
    ----------
    variables : int
        Without the context.
    seed : int or numpy Generator
    into_context : {"any", "past"}
        Whether variables of the same time step may cause the context.
    share : float
    """
    random = np.random.default_rng(seed)
    d, order = variables, random.permutation(variables + 1)
    place = np.argsort(order)
    links = np.zeros((2, 2, d + 1, d + 1), dtype=bool)
    links[:, 1] = random.random((d + 1, d + 1)) < share
    links[:, 0] = (random.random((d + 1, d + 1)) < share) & (place[:, None] < place[None])
    links[:, :, d, :d] = False
    if into_context == "past":
        links[:, 0, :, d] = False
    reads = [_copy(j, place, random) for j in range(d)]
    for j, lag in enumerate(reads):
        if lag != NO_COPY:
            lost = links[0, :, :d, j] & (random.random((2, d)) < 0.5)
            links[int(random.integers(2)), :, :d, j] &= ~lost
            links[:, lag, d, j] = True
    return BinaryChain(links, tuple(reads), _three_times(_transition(links, reads, random)))


def _copy(j: int, place: Ints, random: np.random.Generator) -> int:
    """Which copy a variable reads; R(t) only after it, in the order of the present."""
    open_to = [NO_COPY, 1, *([0] if place[j] > place[-1] else [])]
    return int(random.choice(open_to))


def _transition(links: Bools, reads: list[int], random: np.random.Generator) -> Floats:
    """P(next state | state), axes: variables before, then now; one axis each."""
    d = len(reads)
    law = np.ones((2,) * (2 * d + 2))
    for j in range(d + 1):
        copy = None if j == d or reads[j] == NO_COPY else (d if reads[j] == 1 else 2 * d + 1)
        if copy is None:
            law = law * _table(links[0, :, :, j], j, random)
            continue
        parts = []
        for r in range(2):
            parents = links[r, :, :, j].copy()
            parents[:, d] = False
            parts.append(_table(parents, j, random) * np.ones((1,) * (2 * d + 2)))
        switch = [1] * (2 * d + 2)
        switch[copy] = 2
        here = np.arange(2).reshape(switch)
        law = law * np.where(here == 0, parts[0], parts[1])
    return law


def _table(parents: Bools, j: int, random: np.random.Generator) -> Floats:
    """P(variable j now | parents[lag, cause])."""
    d = parents.shape[1]
    shape = [2 if parents[1, i] else 1 for i in range(d)] + [2 if parents[0, i] or i == j else 1 for i in range(d)]
    weights = random.uniform(0.15, 1.0, size=shape)
    return np.asarray(weights / weights.sum(axis=d + j, keepdims=True))


def _three_times(law: Floats) -> Floats:
    """The stationary law of the columns t-1, t, t-2."""
    half = law.ndim // 2
    matrix = law.reshape(2**half, 2**half)
    values, vectors = np.linalg.eig(matrix.T)
    stationary = np.real(vectors[:, np.argmax(np.real(values))])
    stationary = stationary / stationary.sum()
    joint = stationary[:, None, None] * matrix[:, :, None] * matrix[None]
    return np.ascontiguousarray(joint.transpose(1, 2, 0).reshape((2,) * (3 * half)))
