"""Exact chains with a context that is made out of a column: X has four values, and the context is
whether X > 1.

Variables depend on variables of the last and of the same time step. One that reads the context at a
lag depends on X at that lag, and may have other parents on both sides of the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from causalcontext.views import Contexts
from causalcontext_lab.simulate.hidden import PreparedOracle
from causalcontext_lab.simulate.testing import DiscreteModel


@dataclass(frozen=True)
class ThresholdChain:
    """Variables 0 .. d - 1, of which 0 is X, then the context; columns t-1, t, t-2, as in
    `BinaryChain`.
    """

    links: np.ndarray
    reads: tuple[int, ...]
    joint: np.ndarray

    @property
    def variables(self):
        return len(self.reads) + 1

    @property
    def context_places(self):
        return (len(self.reads),)

    @property
    def values(self):
        return ((0,), (1,))

    @property
    def contexts(self):
        n = self.variables
        cells = tuple((now, before) for now in range(2) for before in range(2))
        return Contexts((2 * n - 1, n - 1), cells, (n, 0))

    def oracle(self, contexts=None):
        columns = self.joint.ndim
        names = tuple(f"column {column}" for column in range(columns))
        model = DiscreteModel(
            names, columns - 1, np.zeros((2, columns, columns), dtype=bool), self.joint
        )
        return PreparedOracle(model.deviation, tuple(range(columns)), contexts or self.contexts)

    def truth(self):
        n = self.variables
        found = np.zeros((2, 2 * n, 2 * n), dtype=bool)
        found[:, : n - 1, n : 2 * n - 1] = self.links[:, 1]
        found[:, n : 2 * n - 1, n : 2 * n - 1] = self.links[:, 0]
        return found


def random_threshold_chain(variables, seed, share=0.4):
    """A random chain of so many variables, X included."""
    random = np.random.default_rng(seed)
    d, place = variables, np.argsort(random.permutation(variables))
    links = np.zeros((2, 2, d, d), dtype=bool)
    links[:, 1] = random.random((d, d)) < share
    links[:, 0] = (random.random((d, d)) < share) & (place[:, None] < place[None])
    reads = [int(random.choice([-1, 1, *([0] if place[0] < place[j] else [])])) for j in range(d)]
    for j, lag in enumerate(reads):
        if lag >= 0:
            others = np.ones((2, d), dtype=bool)
            others[lag, 0] = False
            lost = links[0, :, :, j] & others & (random.random((2, d)) < 0.5)
            links[int(random.integers(2)), :, :, j] &= ~lost
            links[:, lag, 0, j] = True
    sizes = [4, *[2] * (d - 1)]
    law = np.ones((*sizes, *sizes))
    for j, lag in enumerate(reads):
        parts = [
            _table(links[r, :, :, j], j, sizes, random) * np.ones_like(law)
            for r in range(2 if lag >= 0 else 1)
        ]
        axis = d if lag == 0 else 0
        above = (np.arange(4) > 1).reshape([4 if a == axis else 1 for a in range(2 * d)])
        law = law * (np.where(above, parts[1], parts[0]) if lag >= 0 else parts[0])
    return ThresholdChain(links, tuple(reads), _with_steps(_three_times(law, sizes), d))


def _table(parents, j, sizes, random):
    d = len(sizes)
    shape = [sizes[i] if parents[1, i] else 1 for i in range(d)]
    shape += [sizes[i] if parents[0, i] or i == j else 1 for i in range(d)]
    weights = random.uniform(0.15, 1.0, size=shape)
    return weights / weights.sum(axis=d + j, keepdims=True)


def _three_times(law, sizes):
    matrix = law.reshape(int(np.prod(sizes)), -1)
    values, vectors = np.linalg.eig(matrix.T)
    stationary = np.real(vectors[:, np.argmax(np.real(values))])
    stationary = stationary / stationary.sum()
    joint = stationary[:, None, None] * matrix[:, :, None] * matrix[None]
    return joint.transpose(1, 2, 0).reshape((*sizes, *sizes, *sizes))


def _with_steps(joint, d):
    """The law with the context, a function of X, after the variables of every time."""
    for time in range(3):
        x = time * (d + 1)
        above = (np.arange(4) > 1)[:, None] == (np.arange(2) == 1)
        shape = [1] * (joint.ndim + 1)
        shape[x], shape[x + d] = 4, 2
        joint = np.expand_dims(joint, x + d) * above.reshape(shape)
    return joint
