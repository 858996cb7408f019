"""Our context-adaptive test inside causal-learn: one call registers it for its PC, FCI and CD-NOD (extra `compare`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from causalcontext.ci_tests.registry import find_test
from causalcontext.data.checks import check_statistics
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.graphs.export.refusals import missing_package
from causalcontext.kernels.arrays import Values
from causalcontext.views import CIQuery, adaptive

NAME = "causalcontext"


class AdaptiveTest:
    """`p-value = test(x, y, given)` by column numbers, on the rows that the paper's line 8 chooses.

    Parameters
    ----------
    data : array, shape (rows, columns)
        The context is one of the columns, as numbers.
    context : int or None
        The column of the context.
    level : int
        Which context's graph is searched: the place of its value among the sorted ones.
    test : str
        A name of the registry.
    """

    def __init__(self, data: Values, context: int | None = None, level: int = 0, test: str = "auto") -> None:
        names = [str(column) for column in range(data.shape[1])]
        table = read_table(np.asarray(data), None if context is None else str(context), names=names)
        statistics = gather_statistics(table, "raise")
        check_statistics(statistics, table)
        self.contexts, self.level = table.contexts, level
        self._prepared = find_test(test).prepare(table, statistics)

    def __call__(self, x: int, y: int, given: Sequence[int] | None = None) -> float:
        """The p-value; 0 where the question cannot be asked, so that the edge stays."""
        asked = sorted(int(z) for z in given or ())
        view = self.contexts.number(adaptive(self.contexts.cell(self.level), asked))
        conditions = tuple(z for z in asked if z not in self.contexts.fixed(view))
        p = float(self._prepared.answer([CIQuery(int(x), int(y), conditions, view)]).p[0])
        return 0.0 if np.isnan(p) else p


def register(name: str = NAME) -> str:
    """Make the test known to causal-learn under this name; afterwards its searches take it by name.

    Examples
    --------
    >>> import causalcontext.interop.causal_learn as door
    >>> name = door.register()                                                    # doctest: +SKIP
    >>> pc(array, indep_test=name, context=3, level=0)                            # doctest: +SKIP
    >>> fci(array, independence_test_method=name, context=3, level=0)             # doctest: +SKIP
    """
    try:
        from causallearn.utils.cit import CIT_Base, register_ci_test
    except ImportError as error:
        raise missing_package("causal-learn 0.1.4 or newer", "compare") from error

    class Registered(CIT_Base):  # type: ignore[misc]
        def __init__(self, data: Values, **options: Any) -> None:
            super().__init__(data)
            self.method = name
            self._test = AdaptiveTest(data, **options)

        def __call__(self, X: int, Y: int, condition_set: Sequence[int] | None = None) -> float:
            return self._test(X, Y, condition_set)

    register_ci_test(name, Registered)
    return name
