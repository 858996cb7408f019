"""The task of a method: a table or windows of one, knowledge about them, and the way to search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from causalcontext.ci_tests.preparation import PreparedCompletions
from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.data.completion import Completed
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics, gather_statistics
from causalcontext.diagnostics.support import Support
from causalcontext.kernels.arrays import Bools
from causalcontext.knowledge import Links
from causalcontext.progress import Watch
from causalcontext.results.few_rows import ThinLevels
from causalcontext.results.log import CITestLog
from causalcontext.results.notes import About, ResultNote
from causalcontext.results.outcome import Outcome, Settings
from causalcontext.score.options import ScoreOptions
from causalcontext.screening.screen import NOTHING, Screening
from causalcontext.search.algorithm import algorithm_1
from causalcontext.search.forecast import queries_ahead
from causalcontext.search.indicator import links_without_functions
from causalcontext.search.level_search import SplitSearch
from causalcontext.search.plan import Plan, Trusted
from causalcontext.timeseries.tested import search_windows
from causalcontext.timeseries.windows import SeriesWindows
from causalcontext.views import ViewRule


@dataclass(frozen=True, eq=False)
class Task:
    """Everything a method needs: a prepared test, what the variables are, what is known, how to
    search.

    With lags `windows` stand in place of the rows of `data`, `links` are about their nodes, and the
    test is prepared when they are searched.
    """

    prepared: PreparedTest | None
    data: Dataset
    statistics: SufficientStatistics
    links: Links
    settings: Settings
    score: ScoreOptions
    n_jobs: int
    advance: Watch
    support: Support

    windows: SeriesWindows | None = None
    screening: Screening = NOTHING
    thin: ThinLevels | None = None  # values of the context whose rows were taken out of the table

    def run(
        self,
        rule: ViewRule,
        cells: Sequence[int],
        masked_scope: str = "adaptive",
        across: Trusted | None = None,
    ) -> Outcome:
        """The graphs of some cells that tests find, with a rule for the rows that answer; one graph
        stands for all.
        """
        if self.windows is not None:
            return search_windows(
                self.windows, rule, cells, self.links, self.settings, self.n_jobs, self.advance
            )
        plan = self.plan(rule, cells, masked_scope, across)
        test = self.row_test
        contexts = len(self.cells)
        quick = test.compiled_roles  # a kernel answers these in no time

        def expect(phase: int, graphs: Bools) -> None:
            self.advance.expect(phase, queries_ahead(plan, graphs, phase, quick))

        search = algorithm_1(self.search(), plan, self.n_jobs, self.advance, expect)
        log = CITestLog.from_sepsets(plan, search.sepsets, contexts, test.labels)
        cut = (
            (ResultNote(f"the time limit ended the search {search.cut}", About.CUT),)
            if search.cut
            else ()
        )
        return Outcome(
            search.endpoints,
            log,
            search.sepsets.tests,
            search.complete,
            search.origins,
            search.doubts,
            notes=cut,
        ).for_all(contexts)

    @property
    def row_test(self) -> PreparedTest:
        """The test on the rows of the table."""
        assert self.prepared is not None
        return self.prepared

    def search(self) -> SplitSearch:
        """The test as a search of levels, which reports its progress to the watch."""
        return SplitSearch(self.row_test, self.n_jobs, self.advance)

    def plan(
        self,
        rule: ViewRule,
        cells: Sequence[int],
        masked_scope: str = "adaptive",
        across: Trusted | None = None,
    ) -> Plan:
        """The plan of a search by tests, by the settings."""
        settings = self.settings
        variables = len(self.data.names)
        limit = variables if settings.max_given is None else min(settings.max_given, variables)
        return Plan(
            variables,
            self.data.contexts,
            rule,
            tuple(cells),
            self.links,
            settings.alpha,
            limit,
            settings.collider_rule,
            masked_scope,
            across,
        )

    @property
    def completed(self) -> Completed | None:
        """Of a table with missing cells that are modelled, the model and completed tables."""
        return self.prepared.completed if isinstance(self.prepared, PreparedCompletions) else None

    @property
    def cells(self) -> range:
        """All cells of the table."""
        return range(len(self.data.contexts.cells))


def rows_task(
    rows: Dataset, test: PreparedTest | None, settings: Settings, score: ScoreOptions, watch: Watch
) -> Task:
    """A search of the rows of a table on one thread, with what settings know."""
    links = links_without_functions(settings.knowledge.links(rows.names), rows.contexts)
    statistics = gather_statistics(rows, settings.missing)
    return Task(
        test, rows, statistics, links, settings, score, 1, watch, Support(rows, settings.alpha)
    )


def windows_task(
    windows: SeriesWindows,
    settings: Settings,
    score: ScoreOptions,
    n_jobs: int,
    advance: Watch,
    known: SufficientStatistics | None = None,
) -> Task:
    """A search of windows in place of rows; `known` are the statistics of the rows, if they have
    been made.
    """
    data = windows.data
    statistics = gather_statistics(data, "listwise") if known is None else known
    return Task(
        None,
        data,
        statistics,
        windows.links(settings.knowledge),
        settings,
        score,
        n_jobs,
        advance,
        Support(data, settings.alpha),
        windows=windows,
    )


def without_made_contexts(task: Task, outcome: Outcome) -> Outcome:
    """The outcome whose log says that no link of context variables was searched that are made out
    of a column.
    """
    if task.windows is not None:
        return outcome
    functions = [position for position, _ in task.data.contexts.made]
    return replace(outcome, log=outcome.log.not_searched(*functions)) if functions else outcome
