"""Which independences a table with contexts has, by the graphs of its contexts alone; some variables may be hidden.

Inside a context, x and y are independent given S if S and R separate them in its graph. On all rows the contexts are
mixed, and separation in every graph is not enough: x may depend on R in one context and R on y in another. `separated`
has the rule (docs/hidden-causes.md). It needs no joint distribution, so it answers for large models too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from causalcontext.errors import DataError
from causalcontext.graphs.paths import descendants, open_paths
from causalcontext.kernels.arrays import Bools
from causalcontext.simulate.discrete import NamedColumns
from causalcontext.views import CIQuery, Contexts, Outcomes, Reason


def separated(stack: Bools, context: int, x: int, y: int, given: Sequence[int], level: int | None = None) -> Bools:
    """True where x and y are independent given a set, on all rows or on those of one context.

    Parameters
    ----------
    stack : array of bool, shape (..., contexts, N, N)
        The graph of every context, links at the context variable R and hidden variables included. Leading axes are
        models.
    context : int
        The position of R.
    x, y : int
    given : sequence of int
        On all rows R may be among them.
    level : int, optional
        The context whose rows answer.

    Notes
    -----
    On all rows and without R in S, independence holds if S separates x and y in every graph, and if there are no two
    contexts r and s with a path x ~ R open in r and a path R ~ y open in s such that R is an ancestor of S or one of
    the two paths leaves R along an arrow. If S separates y from R in every graph, P(y | S, R = r) is the same for all
    r; if it does not, all open paths run into R, and the graphs of the ancestors are one and the same. That nothing
    else is independent is faithfulness.

    Examples
    --------
    >>> stack = np.zeros((2, 3, 3), dtype=bool)
    >>> stack[0, 0, 1] = stack[:, 2, 1] = True
    >>> bool(separated(stack, 2, 0, 1, ())), bool(separated(stack, 2, 0, 1, (), level=1))
    (False, True)
    """
    chosen = np.zeros(stack.shape[-1], dtype=bool)
    chosen[list(given)] = True
    if level is not None:
        chosen[context] = True
        return ~open_paths(stack[..., level, :, :], x, chosen)[..., y]
    apart = ~open_paths(stack, x, chosen)[..., y].any(axis=-1)
    if context in (x, y, *given) or not apart.any():
        return np.asarray(apart)
    return np.asarray(apart & ~_mixed(stack, context, x, y, chosen))


def _mixed(stack: Bools, context: int, x: int, y: int, given: Bools) -> Bools:
    """True where x and y are dependent because different contexts connect them with R."""
    near = open_paths(stack, context, given)
    out = open_paths(stack, context, given, leaving=True)
    above = np.asarray((descendants(stack, context) & given).any(axis=-1))
    found = np.zeros(stack.shape[:-3], dtype=bool)
    for r in range(stack.shape[-3]):
        for s in range(stack.shape[-3]):
            if r != s:
                leaves = above[..., r] | out[..., r, x] | out[..., s, y]
                found |= near[..., r, x] & near[..., s, y] & leaves
    return found


class SeparationTest:
    """The independence test that knows the graphs: p is 1 where independence follows from them, else 0.

    Parameters
    ----------
    stack : array of bool, shape (contexts, N, N)
    context : int
    names : sequence of str
        Of all nodes; a table holds those that are not hidden.
    """

    name: str = "separation"

    def __init__(self, stack: Bools, context: int, names: Sequence[str]) -> None:
        self.stack, self.context, self.names = stack, context, tuple(names)

    def prepare(self, data: NamedColumns, statistics: object = None) -> PreparedSeparation:
        """The oracle for the columns of a table."""
        unknown = [name for name in data.names if name not in self.names]
        if unknown:
            raise DataError(f"the table has a column {unknown[0]!r}, which the model has not")
        nodes = tuple(self.names.index(name) for name in data.names)
        return PreparedSeparation(self.stack, self.context, nodes, data.contexts)


@dataclass(frozen=True, eq=False)
class PreparedSeparation:
    """The oracle for one table; `nodes` holds the node of every column, `contexts` the views of the table."""

    stack: Bools
    context: int
    nodes: tuple[int, ...]
    contexts: Contexts
    _known: dict[CIQuery, float] = field(default_factory=dict, init=False, repr=False)

    def answer(self, queries: Sequence[CIQuery]) -> Outcomes:
        """One outcome for every query, without rows."""
        p = np.array([self._p(query) for query in queries], dtype=np.float64)
        reason = np.where(np.isnan(p), Reason.CONSTANT, Reason.TESTABLE).astype(np.int8)
        return Outcomes(1.0 - p, np.full(p.shape, np.nan), p, np.zeros(p.shape, dtype=np.int64), reason)

    def _p(self, query: CIQuery) -> float:
        """1 or 0, NaN where the view leaves one of the two variables constant."""
        if query not in self._known:
            view = self.contexts.views[query.view]
            x, y, *given = (self.nodes[column] for column in (query.x, query.y, *query.given))
            constant = bool(view) and self.context in (x, y)
            level = view[0][1] if view else None
            self._known[query] = np.nan if constant else float(separated(self.stack, self.context, x, y, given, level))
        return self._known[query]
