"""PC-AC with several context variables: one graph for every combination of their values that occurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.checks import check_stock
from causalcontext.data.dataset import Dataset
from causalcontext.data.kinds import Kind
from causalcontext.data.several import Cells, read_cells
from causalcontext.data.stock import Stock, drop_empty_levels, take_stock
from causalcontext.errors import NotYetError
from causalcontext.graphs.graph import Graph
from causalcontext.independence.protocol import IndependenceTest
from causalcontext.independence.several import prepare_several
from causalcontext.kernels.gaussian import FISHER, STUDENT
from causalcontext.progress import Advance, progress_bar
from causalcontext.results.contexts import ContextGraphs, DataSummary, Settings
from causalcontext.results.log import TrialLog
from causalcontext.rules import masked
from causalcontext.search.algorithm import Found, algorithm_1
from causalcontext.search.plan import NO_CONTEXT, Plan
from causalcontext.search.several import SeveralSearch

KINDS = {"auto": STUDENT, "partial-correlation": STUDENT, "fisher-z": FISHER}
CHANGE, WILKS = 2, 3
"""Places of the tests of one and of two context variables among the labels of `PreparedSeveral`."""


def discover_several(
    table: Any,
    contexts: Sequence[str],
    settings: Settings,
    test: IndependenceTest,
    kinds: Mapping[str, str] | None,
    names: Sequence[str] | None,
    progress: bool | Advance,
) -> ContextGraphs:
    """The graphs of all combinations of context values, with the settings of `discover`.

    Every graph is oriented by itself. The keys of `graphs` are tuples of values in the order of `contexts`.
    """
    if settings.method != "pc-ac" or test.name not in KINDS:
        raise NotYetError(f"not yet: several context variables need method 'pc-ac' and a test of {', '.join(KINDS)}; "
                          f"got {settings.method!r} and {test.name!r}")  # fmt: skip
    cells = read_cells(table, contexts, kinds, names)
    _check_continuous(cells.data, settings.missing)
    links = settings.knowledge.links(cells.names)
    stock = take_stock(cells.data, settings.missing)
    check_stock(stock, cells.data, settings.missing)
    cells, stock = _without_empty(cells, stock)
    prepared = prepare_several(cells, stock, KINDS[test.name])
    limit = len(cells.names) if settings.max_given is None else settings.max_given
    plan = Plan(len(cells.names), NO_CONTEXT, masked, tuple(range(len(stock.n))), links, settings.alpha, limit)
    with progress_bar(progress) as advance:
        search = SeveralSearch(prepared, cells.contexts, cells.codes)
        found = algorithm_1(search, plan, settings.collider_rule, 1, advance)
    log = TrialLog.from_ledger(plan, found.ledger, len(stock.n), prepared.labels)
    log = replace(log, label=np.broadcast_to(_labels(cells), log.label.shape))
    chosen = replace(settings, contexts=tuple(contexts), orientation="within")
    return _result(cells, stock, found, log, chosen)


def _check_continuous(data: Dataset, missing: str) -> None:
    """Return if the moments of complete rows are all that tests need."""
    others = [data.names[i] for i in data.system if data.kinds[i] is not Kind.CONTINUOUS]
    if others or missing == "testwise":
        found = f"{others[0]!r} is not continuous" if others else "missing is 'testwise'"
        raise NotYetError("not yet: several context variables need continuous system variables and complete rows; "
                          f"{found}")  # fmt: skip


def _without_empty(cells: Cells, stock: Stock) -> tuple[Cells, Stock]:
    """Without the combinations all of whose rows were lost."""
    kept = stock.n > 0
    data, stock = drop_empty_levels(cells.data, stock)
    return replace(cells, codes=cells.codes[kept], data=data), stock


def _labels(cells: Cells) -> NDArray[np.int8]:
    """Which test answers for every pair."""
    first, second = np.triu_indices(len(cells.names), 1)
    ends = np.isin(first, cells.contexts).astype(np.int8) + np.isin(second, cells.contexts).astype(np.int8)
    return np.array([0, CHANGE, WILKS], dtype=np.int8)[ends]


def _result(cells: Cells, stock: Stock, found: Found, log: TrialLog, settings: Settings) -> ContextGraphs:
    kinds = tuple("categorical" if i in cells.contexts else "continuous" for i in range(len(cells.names)))
    values = cells.values
    return ContextGraphs(
        names=cells.names,
        context=", ".join(settings.contexts),
        contexts=values,
        graphs={value: Graph(cells.names, marks) for value, marks in zip(values, found.marks, strict=True)},
        settings=settings,
        data=DataSummary(
            tuple(stock.n.tolist()),
            tuple(stock.lost.tolist()),
            stock.missing_context,
            stock.emptied,
            kinds,
            stock.fingerprint,
        ),
        log=log,
        tests_run=dict(zip(("pooled", "within contexts"), found.ledger.tests.tolist(), strict=True)),
        complete=found.complete,
        origins=found.origins,
        doubts=found.doubts,
    )
