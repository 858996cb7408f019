"""FCI-JCI0 and CD-NOD on all rows, for union graphs: causal-learn's searches (extra `compare`) with our tests.

Both have no way to use link assumptions while they search, so they are run without knowledge, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from causalcontext.data.survey import take_survey
from causalcontext.data.tables import read_table
from causalcontext.errors import OptionError
from causalcontext.graphs.ends import End, Ends
from causalcontext.independence.protocol import PreparedTest
from causalcontext.independence.registry import find_test
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.questions import Trial
from causalcontext.study.estimate import Estimate, Task

TEST_NAME = "causalcontext"
ARROW = 1
"""How causal-learn codes the ends of an edge: `ends[j, i]` is the end at j of the edge between i and j."""


def fci_jci0(task: Task) -> Estimate:
    """FCI with the context as a variable like any other; `o->` is read as an arrow, since nothing is hidden here."""
    from causallearn.search.ConstraintBased.FCI import fci

    def search(values: Floats) -> Ints:
        graph, _ = fci(values, TEST_NAME, task.alpha, show_progress=False, verbose=False)
        return np.asarray(graph.graph)

    return _run(task, search)


def cd_nod(task: Task) -> Estimate:
    """CD-NOD, which takes the context to be exogenous."""
    from causallearn.search.ConstraintBased.CDNOD import cdnod

    def search(values: Floats) -> Ints:
        found = cdnod(values[:, :-1], values[:, -1:], task.alpha, TEST_NAME, show_progress=False, verbose=False)
        return np.asarray(found.G.graph)

    return _run(task, search)


def _run(task: Task, search: Callable[[Floats], Ints]) -> Estimate:
    """The union found by a search that wants the context as the last column."""
    if task.knowledge.names:
        raise OptionError("FCI-JCI0 and CD-NOD cannot be told about links; ask for knowledge 'none'")
    order = [name for name in task.table.columns if name != task.context] + [task.context]
    table = task.table[order]
    data = read_table(table, task.context)
    _register(find_test(task.test).prepare(data, take_survey(data, "raise")))
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):  # both talk, asked or not
        ends = _read(search(table.to_numpy(dtype=np.float64)))
    back = [order.index(name) for name in task.table.columns]
    return Estimate(None, ends[np.ix_(back, back)][None])


def _register(prepared: PreparedTest) -> None:
    """Make a prepared test known to causal-learn under `TEST_NAME`."""
    from causallearn.utils.cit import CIT_Base, register_ci_test

    class PreparedCIT(CIT_Base):  # type: ignore[misc]
        """A test that has seen the table already."""

        method = TEST_NAME

        def __call__(self, x: Any, y: Any, condition_set: Iterable[int] | None = None) -> float:
            trial = Trial(int(x), int(y), tuple(sorted(int(z) for z in condition_set or ())))
            p = float(prepared.answer([trial]).p[0])
            return 0.0 if np.isnan(p) else p

    register_ci_test(TEST_NAME, PreparedCIT)


def _read(codes: Ints) -> Ends:
    """Our ends of causal-learn's edges: what is no arrow is a tail beside an arrow, else a circle."""
    here, there = codes.T == ARROW, codes == ARROW
    return np.select([codes == 0, here, there], [End.NONE, End.ARROW, End.TAIL], default=End.CIRCLE).astype(np.int8)
