"""Exact discrete models with a context: the joint distribution, and a test that cannot err.

With generic probability tables the only independences are those that the graphs imply, so that theory can be
checked without noise: pooled, or inside the rows of one context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import DataError, OptionError
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.simulate.hidden import TOLERANCE, PreparedOracle, Where
from causalcontext.simulate.truth import TrueGraphs, is_strongly_acyclic, is_weakly_sufficient
from causalcontext.views import Contexts

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class DiscreteModel(TrueGraphs):
    """A joint distribution over discrete variables, one of which is the context, and the graphs it came from.

    Attributes
    ----------
    names : tuple of str
    context : int
        The position of the context variable R; it may be anywhere.
    adjacency : array of bool, shape (contexts, nodes, nodes)
        `adjacency[r, i, j]`: `i -> j` in context `r`, links at R included.
    joint : array, one axis per variable
        The probability of every combination of values.
    """

    names: tuple[str, ...]
    context: int
    adjacency: Bools
    joint: Floats
    _views: dict[Where, Floats] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.joint.ndim != len(self.names) or self.joint.shape[self.context] != len(self.adjacency):
            raise OptionError(
                f"a joint over {len(self.names)} variables needs one axis for each, and that of the context "
                f"one entry for each of {len(self.adjacency)} graphs; found the shape {self.joint.shape}"
            )

    @property
    def contexts(self) -> Contexts:
        """The views of the model's own variables."""
        return Contexts((self.context,), tuple((level,) for level in range(len(self.adjacency))))

    def independent(self, x: int, y: int, given: Sequence[int] = (), where: Where = ()) -> bool:
        """True if `x` and `y` are independent given the variables `given`, where `where` holds."""
        return self.deviation(x, y, given, where) <= TOLERANCE

    def deviation(self, x: int, y: int, given: Sequence[int] = (), where: Where = ()) -> float:
        """The largest |P(x, y, z) P(z) - P(x, z) P(y, z)|, every probability conditional on `where`."""
        view = self._view(where)
        rest = tuple(axis for axis in range(view.ndim) if axis != x and axis != y and axis not in given)
        p_xyz = np.add.reduce(view, axis=rest, keepdims=True)
        p_xz = np.add.reduce(p_xyz, axis=y, keepdims=True)
        p_yz = np.add.reduce(p_xyz, axis=x, keepdims=True)
        p_z = np.add.reduce(p_yz, axis=y, keepdims=True)
        return float(np.abs(p_xyz * p_z - p_xz * p_yz).max())

    def sample(self, n: int, seed: int | np.random.Generator) -> pd.DataFrame:
        """A table of `n` rows drawn from the joint: integers for the context, floats for the others."""
        cells = np.random.default_rng(seed).choice(self.joint.size, size=n, p=self.joint.ravel())
        values = np.unravel_index(cells, self.joint.shape)
        return frame_of({
            name: column if node == self.context else column.astype(float)
            for node, (name, column) in enumerate(zip(self.names, values, strict=True))
        })  # fmt: skip

    def _view(self, where: Where) -> Floats:
        """The joint conditional on `where`; the fixed axes keep a length of 1."""
        if where not in self._views:
            window = [slice(None)] * self.joint.ndim
            for axis, level in where:
                window[axis] = slice(level, level + 1)
            part = self.joint[tuple(window)]
            self._views[where] = part / part.sum()
        return self._views[where]


def random_discrete_model(
    adjacency: Bools,
    context: int,
    *,
    seed: int | np.random.Generator,
    levels: int = 2,
    names: Sequence[str] | None = None,
) -> DiscreteModel:
    """A model with these context graphs and generic probability tables.

    Parameters
    ----------
    adjacency : array of bool, shape (contexts, nodes, nodes)
        The graph of every context, links at the context variable included.
    context : int
        The position of the context variable; it has as many values as there are contexts.
    seed : int or numpy Generator
    levels : int
        Number of values of the other variables.
    names : sequence of str, optional
        `R` for the context and `X0`, `X1`, ... by position for the others, unless given.

    Notes
    -----
    A child of R has its own table in every context, even where its parents are the same; any other node has
    one table for all contexts. The joint is the product of the tables, taken separately for every value of R.

    Examples
    --------
    >>> chain = np.zeros((2, 3, 3), dtype=bool)
    >>> chain[:, 0, 1] = chain[:, 1, 2] = True
    >>> model = random_discrete_model(chain, context=2, seed=0)
    >>> model.independent(0, 2), model.independent(0, 2, given=(1,))
    (False, True)
    """
    if not is_weakly_sufficient(adjacency, context) or not is_strongly_acyclic(adjacency, context):
        raise OptionError("the context graphs violate weak context-sufficiency or strong context-acyclicity")
    contexts, nodes = adjacency.shape[:2]
    shape = [contexts if node == context else levels for node in range(nodes)]
    joint = _random_joint(adjacency, context, shape, np.random.default_rng(seed))
    default_names = ["R" if node == context else f"X{node}" for node in range(nodes)]
    return DiscreteModel(tuple(names or default_names), context, adjacency, joint)


def _random_joint(adjacency: Bools, context: int, shape: Sequence[int], generator: np.random.Generator) -> Floats:
    """The product of one random table per node, for children of the context of one per node and context."""
    joint = np.ones(shape)
    for node in range(len(shape)):
        if not adjacency[0, context, node]:
            joint *= _random_table(adjacency[0, :, node], node, shape, generator)
            continue
        for level, links in enumerate(adjacency):
            rows = joint[(slice(None),) * context + (slice(level, level + 1),)]
            parents = links[:, node].copy()
            parents[context] = False
            rows *= _random_table(parents, node, shape, generator)
    return joint


def _random_table(parents: Bools, node: int, shape: Sequence[int], generator: np.random.Generator) -> Floats:
    """P(node | parents) with an axis of length 1 for every other variable, away from 0 and 1."""
    size = [length if axis == node or parents[axis] else 1 for axis, length in enumerate(shape)]
    weights = generator.uniform(0.1, 1.0, size)
    return np.asarray(weights / weights.sum(axis=node, keepdims=True))


class OracleTest:
    """The independence test that knows the distribution: p is 1 where independence holds exactly, else 0.

    Hand it to a search in the place of a test; the table is only asked for the names of its columns, so that
    they may stand in any order.

    Parameters
    ----------
    model : DiscreteModel
    """

    name: str = "oracle"

    def __init__(self, model: DiscreteModel) -> None:
        self.model = model

    def prepare(self, data: Dataset | None, statistics: object = None) -> PreparedOracle:
        """The oracle for the columns of `data`; without data, for the variables in the model's own order."""
        names = self.model.names if data is None else tuple(data.names)
        if sorted(names) != sorted(self.model.names):
            raise DataError(f"the table has the columns {names}, the oracle's model {self.model.names}")
        contexts = self.model.contexts if data is None else data.contexts
        return PreparedOracle(self.model.deviation, tuple(map(self.model.names.index, names)), contexts)
