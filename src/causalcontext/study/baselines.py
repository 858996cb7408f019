"""FCI-JCI0 and CD-NOD on all rows, for union graphs: causal-learn's searches (extra `compare`) with our tests.

Both have no way to use link assumptions while they search, so they are run without knowledge, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.ci_tests.registry import find_test
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import Endpoint, Endpoints, GraphKind
from causalcontext.graphs.union import union_endpoints
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.study.task import EstimatedEndpoints, StudyTask
from causalcontext.views import CIQuery

TEST_NAME = "causalcontext"
ARROW = 1
"""How causal-learn codes the ends of an edge: `endpoints[j, i]` is the end at j of the edge between i and j."""


def fci_jci0(task: StudyTask) -> EstimatedEndpoints:
    """FCI with the context as a variable like any other; `o->` is read as an arrow, since nothing is hidden here."""
    return _union(task, _fci(task))


def cd_nod(task: StudyTask) -> EstimatedEndpoints:
    """CD-NOD, which takes the context to be exogenous."""
    from causallearn.search.ConstraintBased.CDNOD import cdnod

    def search(values: Floats) -> Ints:
        found = cdnod(values[:, :-1], values[:, -1:], task.alpha, TEST_NAME, show_progress=False, verbose=False)
        return np.asarray(found.G.graph)

    return _union(task, search)


def fci_p(task: StudyTask) -> EstimatedEndpoints:
    """FCI on all rows, the context a variable like any other; its PAG, end by end."""
    return EstimatedEndpoints(None, fci_pag(task)[None])


def fci_m(task: StudyTask) -> EstimatedEndpoints:
    """FCI inside every context, which has no links then; PAGs, end by end."""
    levels = range(task.table[task.context].nunique())
    contexts = np.stack([fci_pag(task, level) for level in levels])
    return EstimatedEndpoints(contexts, union_endpoints(contexts, GraphKind.PAG)[None])


def fci_pag(task: StudyTask, level: int | None = None) -> Endpoints:
    """The PAG of FCI on all rows, or on those of one context, where the context has no links; shape (N, N).

    Unlike `fci_jci0`, every end is kept as it is: here variables may be hidden.
    """
    columns = [name for name in task.table.columns if level is None or name != task.context]
    codes = _searched(task, columns, 0 if level is None else 1 + level, _fci(task))
    known = {0: Endpoint.NONE, -1: Endpoint.TAIL, ARROW: Endpoint.ARROW, 2: Endpoint.CIRCLE}
    chosen = [list(task.table.columns).index(name) for name in columns]
    endpoints = np.zeros((task.table.shape[1],) * 2, dtype=np.int8)
    endpoints[np.ix_(chosen, chosen)] = np.vectorize(known.get, otypes=[np.int8])(codes.T)
    return endpoints


def _fci(task: StudyTask) -> Callable[[Floats], Ints]:
    from causallearn.search.ConstraintBased.FCI import fci

    return lambda values: np.asarray(fci(values, TEST_NAME, task.alpha, show_progress=False, verbose=False)[0].graph)


def _union(task: StudyTask, search: Callable[[Floats], Ints]) -> EstimatedEndpoints:
    """The union found by a search that wants the context as the last column.

    What is no arrow is a tail beside an arrow, else a circle.
    """
    if task.knowledge.names:
        raise OptionError("FCI-JCI0 and CD-NOD cannot be told about links; ask for knowledge 'none'")
    order = [name for name in task.table.columns if name != task.context] + [task.context]
    codes = _searched(task, order, 0, search)
    ends = [Endpoint.NONE, Endpoint.ARROW, Endpoint.TAIL]
    endpoints = np.select([codes == 0, codes.T == ARROW, codes == ARROW], ends, default=Endpoint.CIRCLE).astype(np.int8)
    back = [order.index(name) for name in task.table.columns]
    return EstimatedEndpoints(None, endpoints[np.ix_(back, back)][None])


def _searched(task: StudyTask, columns: Sequence[str], view: int, search: Callable[[Floats], Ints]) -> Ints:
    """What a search of causal-learn finds on some columns, with our test on the rows of a view."""
    data = read_table(task.table, task.context)
    prepared = find_test(task.test).prepare(data, gather_statistics(data, "raise"))
    _register(prepared, [data.names.index(name) for name in columns], view)
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):  # causal-learn talks, asked or not
        return search(task.table[list(columns)].to_numpy(dtype=np.float64))


def _register(prepared: PreparedTest, columns: Sequence[int], view: int) -> None:
    """Make a prepared test known to causal-learn under `TEST_NAME`; `columns` are the places of its columns here."""
    from causallearn.utils.cit import CIT_Base, register_ci_test

    class PreparedCIT(CIT_Base):  # type: ignore[misc]
        """A test that has seen the table already."""

        method = TEST_NAME

        def __call__(self, x: Any, y: Any, condition_set: Iterable[int] | None = None) -> float:
            x, y, *given = (columns[int(place)] for place in (x, y, *(condition_set or ())))
            p = float(prepared.answer([CIQuery(x, y, tuple(sorted(given)), view)]).p[0])
            return 0.0 if np.isnan(p) else p

    register_ci_test(TEST_NAME, PreparedCIT)
