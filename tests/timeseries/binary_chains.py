"""Exact Markov chains of binary variables with contexts, and a test that cannot err.

Every variable depends on variables of the last and of the same time step, and reads one copy of
every context, R(t) or R(t-1), or none; contexts depend on variables and on the past of all
contexts. The stationary law of three consecutive times is computed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from causalcontext.kernels.arrays import Bools, Floats, Ints
from causalcontext.views import Contexts
from causalcontext_lab.simulate.hidden import PreparedOracle
from causalcontext_lab.simulate.testing import DiscreteModel

NO_COPY = -1


@dataclass(frozen=True, eq=False)
class BinaryChain:
    """d variables and c contexts, the last ones; all binary, with one lag.

    Attributes
    ----------
    links : array of bool, shape (2**c, 2, d + c, d + c)
        `links[r, lag, cause, effect]` with the contexts held at their combination r, links at
        copies of contexts included.
    reads : tuple of tuples of int
        For every variable the lag of the copy of each context that it reads; -1 for none.
    joint : array, shape (2,) * 3 (d + c)
        The law of the columns X(t-1), X(t), X(t-2), in this order, the contexts last among those of
        each time.
    """

    links: Bools
    reads: tuple[tuple[int, ...], ...]
    joint: Floats

    @property
    def variables(self) -> int:
        """How many, contexts included."""
        return int(self.links.shape[-1])

    @property
    def context_places(self) -> tuple[int, ...]:
        """Which of the variables are contexts."""
        return tuple(range(len(self.reads), self.variables))

    @property
    def values(self) -> tuple[tuple[int, ...], ...]:
        """The combinations of the values of all contexts."""
        return tuple(product(range(2), repeat=len(self.context_places)))

    @property
    def contexts(self) -> Contexts:
        """The copies R(t) and R(t-1) of all contexts among the columns, those of now first."""
        d, places = self.variables, self.context_places
        positions = (*(d + place for place in places), *places)
        return Contexts(positions, tuple(product(range(2), repeat=len(positions))))

    def oracle(self, contexts: Contexts | None = None) -> PreparedOracle:
        """A test that cannot err; with other numbers of views where they are given."""
        columns = self.joint.ndim
        names = tuple(f"column {column}" for column in range(columns))
        model = DiscreteModel(
            names, columns - 1, np.zeros((2, columns, columns), dtype=bool), self.joint
        )
        return PreparedOracle(model.deviation, tuple(range(columns)), contexts or self.contexts)

    def truth(self) -> Bools:
        """Links into time t, shape (2**c, 2 (d + c), 2 (d + c)), from row to column: the window
        graph of every cell.
        """
        d = self.variables
        found = np.zeros((len(self.links), 2 * d, 2 * d), dtype=bool)
        found[:, :d, d:] = self.links[:, 1]
        found[:, d:, d:] = self.links[:, 0]
        return found


def random_chain(
    variables: int,
    seed: int | np.random.Generator,
    into_context: str = "any",
    share: float = 0.4,
    contexts: int = 1,
) -> BinaryChain:
    """A random chain: an order of the present, parents with a probability `share`, generic tables.

    Parameters
    ----------
    variables : int
        Without the contexts.
    seed : int or numpy Generator
    into_context : {"any", "past"}
        Whether variables of the same time step may cause a context.
    share : float
    contexts : int
    """
    random = np.random.default_rng(seed)
    d, n = variables, variables + contexts
    place = np.argsort(random.permutation(n))
    cells = np.array(list(product(range(2), repeat=contexts)))
    links = np.zeros((len(cells), 2, n, n), dtype=bool)
    links[:, 1] = random.random((n, n)) < share
    links[:, 0] = (random.random((n, n)) < share) & (place[:, None] < place[None])
    links[:, :, d:, :d] = False
    if into_context == "past":
        links[:, 0, :, d:] = False
    reads = tuple(tuple(_copy(j, d + k, place, random) for k in range(contexts)) for j in range(d))
    for j, read in enumerate(reads):
        for k, lag in enumerate(read):
            if lag != NO_COPY:
                lost = links[0, :, :d, j] & (random.random((2, d)) < 0.5)
                links[np.ix_(cells[:, k] == random.integers(2), [0, 1], range(d), [j])] &= ~lost[
                    None, :, :, None
                ]
                links[:, lag, d + k, j] = True
    return BinaryChain(links, reads, _three_times(_transition(links, reads, random)))


def _copy(j: int, context: int, place: Ints, random: np.random.Generator) -> int:
    """Which copy of a context a variable reads; R(t) only after it, in the order of the present."""
    open_to = [NO_COPY, 1, *([0] if place[j] > place[context] else [])]
    return int(random.choice(open_to))


def _transition(
    links: Bools, reads: Sequence[Sequence[int]], random: np.random.Generator
) -> Floats:
    """P(next state | state), axes: variables before, then now; one axis each."""
    d, n = len(reads), links.shape[-1]
    cells = list(product(range(2), repeat=n - d))
    law = np.ones((2,) * (2 * n))
    for j in range(n):
        axes = (
            {}
            if j >= d
            else {
                k: d + k + (n if lag == 0 else 0)
                for k, lag in enumerate(reads[j])
                if lag != NO_COPY
            }
        )
        found = np.zeros((1,) * (2 * n))
        for levels in product(range(2), repeat=len(axes)):
            read = dict(zip(axes, levels, strict=True))
            cell = next(
                c
                for c, cell in enumerate(cells)
                if all(cell[k] == level for k, level in read.items())
            )
            parents = links[cell, :, :, j].copy()
            parents[:, d:] &= j >= d
            here = np.ones((1,) * (2 * n))
            for axis, level in zip(axes.values(), levels, strict=True):
                here = here * (np.arange(2) == level).reshape(
                    [2 if a == axis else 1 for a in range(2 * n)]
                )
            found = found + here * _table(parents, j, random)
        law = law * found
    return law


def _table(parents: Bools, j: int, random: np.random.Generator) -> Floats:
    """P(variable j now | parents[lag, cause])."""
    d = parents.shape[1]
    shape = [2 if parents[1, i] else 1 for i in range(d)] + [
        2 if parents[0, i] or i == j else 1 for i in range(d)
    ]
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
