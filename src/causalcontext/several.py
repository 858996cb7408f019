"""PC-AC with several context variables: one graph for every combination of their values that occurs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.checks import check_survey
from causalcontext.data.dataset import Dataset
from causalcontext.data.determinism import indicators
from causalcontext.data.kinds import Kind
from causalcontext.data.missing import complete_rows
from causalcontext.data.several import Cells, by_variable, read_cells
from causalcontext.data.survey import Survey, drop_empty_levels, take_survey
from causalcontext.diagnostics.support import CellSupport
from causalcontext.errors import NotYetError
from causalcontext.graphs.graph import Graph
from causalcontext.independence.protocol import IndependenceTest
from causalcontext.independence.several import PreparedSeveral, prepare_several
from causalcontext.kernels.levels.gaussian import FISHER, STUDENT
from causalcontext.knowledge import Links
from causalcontext.progress import Advance, progress_bar
from causalcontext.questions import masked
from causalcontext.results.contexts import ContextGraphs, DataSummary, Settings
from causalcontext.results.log import TrialLog
from causalcontext.search.algorithm import Found, algorithm_1
from causalcontext.search.ledger import Ledger
from causalcontext.search.plan import NO_CONTEXT, ContextVariables, Physical, Plan
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

    The keys of `graphs` are tuples of values in the order of `contexts`.
    """
    _check(settings, test)
    cells = read_cells(table, contexts, kinds, names)
    _check_continuous(cells.data, settings.missing)
    links = settings.knowledge.links(cells.names)
    survey = take_survey(cells.data, settings.missing)
    check_survey(survey, cells.data, settings.missing)
    cells, survey = _without_empty(cells, survey)
    prepared = prepare_several(cells, survey, KINDS[test.name])
    support = CellSupport(cells.data, settings.alpha, cells.contexts, cells.codes)
    task = CellSearch(len(cells.names), links, replace(settings, contexts=tuple(contexts)), support)
    with progress_bar(progress) as advance:
        found, log = task.run(prepared, advance)
    return _result(cells, survey, found, log, prepared, task.settings)


@dataclass(frozen=True, eq=False)
class CellSearch:
    """How to search: the same for a table and for samples of its rows."""

    variables: int
    links: Links
    settings: Settings
    support: CellSupport

    def run(self, prepared: PreparedSeveral, advance: Advance) -> tuple[Found, TrialLog]:
        """The graphs of all cells, and the log of the tests."""
        plan = self._plan(prepared)
        search = SeveralSearch(prepared, prepared.contexts, prepared.codes)
        found = algorithm_1(search, plan, self.settings.collider_rule, 1, advance)
        log = TrialLog.from_ledger(plan, found.ledger, len(prepared.rows), prepared.labels)
        labels = _labels(self.variables, prepared.contexts)
        return found, replace(log, label=np.broadcast_to(labels, log.label.shape))

    def _plan(self, prepared: PreparedSeveral) -> Plan:
        settings = self.settings
        limit = self.variables if settings.max_given is None else settings.max_given
        cells = ContextVariables(prepared.contexts, tuple(tuple(row) for row in prepared.codes.tolist()))
        return Plan(self.variables, NO_CONTEXT, masked, tuple(range(len(prepared.rows))), self.links, settings.alpha,
                    limit, across=self._physical if settings.orientation == "across" else None,
                    cells=cells)  # fmt: skip

    def _physical(self, ledger: Ledger) -> Physical:
        """Whether a missing edge is a change of mechanism: asked of the rows, given what separated the pair."""

        def answer(x: int, y: int, present: int, absent: int) -> bool:
            given = ledger.separating_set(absent, x, y, NO_CONTEXT) or ()
            return self.support.trusted(x, y, [z for z in given if z != NO_CONTEXT], present, absent)

        return answer


class CellResample:
    """Draws a bootstrap sample by its number, separately in every cell, and searches it.

    Whether a missing edge is a matter of support is asked of the whole table, not of the sample.
    """

    def __init__(self, result: ContextGraphs) -> None:
        data, prepared = result.rows, result.prepared
        assert data is not None
        assert isinstance(prepared, PreparedSeveral)
        self.prepared = prepared
        links = result.settings.knowledge.links(result.names)
        support = CellSupport(data, result.settings.alpha, prepared.contexts, prepared.codes)
        self.task = CellSearch(len(result.names), links, result.settings, support)
        values = np.column_stack([np.asarray(data.columns[i], dtype=np.float64) for i in data.system])
        usable = complete_rows(data)
        self.of_cell = [np.flatnonzero(usable & (data.codes == cell)) for cell in range(len(prepared.rows))]
        self.values = np.zeros((len(values), len(result.names)))
        self.values[:, [v for v in range(len(result.names)) if v not in prepared.contexts]] = values
        self.values -= self.values[usable].mean(axis=0)
        self.values[:, prepared.contexts] = 0.0

    def ends(self, number: int, seed: int) -> NDArray[np.int8]:
        """The ends of all cells for one sample, shape (cells, N, N)."""
        generator = np.random.default_rng([seed, number])
        mean, scatter = np.zeros_like(self.prepared.mean), np.zeros_like(self.prepared.scatter)
        for cell, rows in enumerate(self.of_cell):
            part = self.values[rows[generator.integers(len(rows), size=len(rows))]]
            mean[cell] = part.mean(axis=0)
            part -= mean[cell]
            scatter[cell] = part.T @ part
        whole = self.prepared
        sample = PreparedSeveral(whole.rows, mean, scatter, whole.contexts, whole.codes, whole.kind)
        return self.task.run(sample, lambda size, done, total: None)[0].ends


def _check(settings: Settings, test: IndependenceTest) -> None:
    if settings.method != "pc-ac" or test.name not in KINDS:
        raise NotYetError(f"not yet: several context variables need method 'pc-ac' and a test of {', '.join(KINDS)}; "
                          f"got {settings.method!r} and {test.name!r}")  # fmt: skip
    if settings.masked_scope != "adaptive":
        raise NotYetError("not yet: several context variables need masked_scope 'adaptive', "
                          f"got {settings.masked_scope!r}")  # fmt: skip


def _check_continuous(data: Dataset, missing: str) -> None:
    """Return if the moments of complete rows are all that tests need."""
    others = [data.names[i] for i in data.system if data.kinds[i] is not Kind.CONTINUOUS]
    if others or missing == "testwise":
        found = f"{others[0]!r} is not continuous" if others else "missing is 'testwise'"
        raise NotYetError("not yet: several context variables need continuous system variables and complete rows; "
                          f"{found}")  # fmt: skip


def _without_empty(cells: Cells, survey: Survey) -> tuple[Cells, Survey]:
    """Without the combinations all of whose rows were lost."""
    kept = survey.n > 0
    data, survey = drop_empty_levels(cells.data, survey)
    return replace(cells, codes=cells.codes[kept], data=data), survey


def _labels(variables: int, contexts: tuple[int, ...]) -> NDArray[np.int8]:
    """Which test answers for every pair."""
    first, second = np.triu_indices(variables, 1)
    ends = np.isin(first, contexts).astype(np.int8) + np.isin(second, contexts).astype(np.int8)
    return np.array([0, CHANGE, WILKS], dtype=np.int8)[ends]


def _warnings(cells: Cells, contexts: Sequence[str]) -> tuple[str, ...]:
    """What must be said with every result: that a context variable is a function of a column."""
    return tuple(
        f"{data.context_name} is a function of {found.column} without exception; if it was made out of "
        f"{found.column}, its links cannot be tested given {found.column}: leave one of the two out, or declare it as "
        f"the only context, {found.call()}"
        for data in by_variable(cells.data, contexts)
        for found in indicators(data)
    )


def _result(cells: Cells, survey: Survey, found: Found, log: TrialLog, prepared: PreparedSeveral,
            settings: Settings) -> ContextGraphs:  # fmt: skip
    kinds = tuple("categorical" if i in cells.contexts else "continuous" for i in range(len(cells.names)))
    values = cells.values
    return ContextGraphs(
        names=cells.names,
        context=", ".join(settings.contexts),
        contexts=values,
        graphs={value: Graph(cells.names, ends) for value, ends in zip(values, found.ends, strict=True)},
        settings=settings,
        data=DataSummary(
            tuple(survey.n.tolist()),
            tuple(survey.lost.tolist()),
            survey.missing_context,
            survey.emptied,
            kinds,
            survey.fingerprint,
        ),
        log=log,
        tests_run=dict(zip(("pooled", "within contexts"), found.ledger.tests.tolist(), strict=True)),
        complete=found.complete,
        origins=found.origins,
        doubts=found.doubts,
        warnings=_warnings(cells, settings.contexts),
        prepared=prepared,
        moments=prepared,
        rows=cells.data,
    )
