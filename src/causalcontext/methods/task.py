"""What a method is given, and what it hands back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.ci_tests.watched import Watched
from causalcontext.data.dataset import Dataset
from causalcontext.data.sufficient_statistics import SufficientStatistics
from causalcontext.diagnostics.support import Support
from causalcontext.graphs.endpoints import Endpoints, GraphKind
from causalcontext.kernels.arrays import Ints
from causalcontext.knowledge import Links
from causalcontext.progress import Watch
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import CITestLog
from causalcontext.results.provenance import Settings
from causalcontext.score.options import ScoreOptions
from causalcontext.search.algorithm import FoundGraphs, algorithm_1
from causalcontext.search.compiled import SplitSearch
from causalcontext.search.family import Doubt, Origin, Place
from causalcontext.search.forecast import Expect, queries_ahead
from causalcontext.search.plan import Plan, Trusted
from causalcontext.views import ViewRule


@dataclass(frozen=True, eq=False)
class Task:
    """Everything a method needs: a prepared test, what the variables are, what is known, how to search."""

    prepared: PreparedTest
    data: Dataset
    statistics: SufficientStatistics
    links: Links
    settings: Settings
    score: ScoreOptions
    n_jobs: int
    advance: Watch
    support: Support
    device: str = "cpu"

    def run(self, rule: ViewRule, cells: Sequence[int], masked_scope: str = "adaptive",
            across: Trusted | None = None) -> tuple[FoundGraphs, CITestLog]:  # fmt: skip
        """Search the graphs of some cells, with a rule for the rows that answer."""
        plan = self.plan(rule, cells, masked_scope, across)
        found = algorithm_1(self.search(), plan, self.n_jobs, self.advance, self._expect(plan))
        return found, CITestLog.from_sepsets(plan, found.sepsets, len(self.data.contexts.cells), self.prepared.labels)

    def search(self) -> SplitSearch:
        """The test as a search of levels; the watch hears how it gets on."""
        return SplitSearch(Watched(self.prepared, self.advance), self.n_jobs, self.device)

    def _expect(self, plan: Plan) -> Expect:
        """Tells the watch how many queries are ahead; those that a kernel answers take no time to speak of."""
        quick = self.prepared.compiled_roles if self.prepared.gaussian is not None else ()
        return lambda phase, graphs: self.advance.expect(phase, queries_ahead(plan, graphs, phase, quick))

    def plan(self, rule: ViewRule, cells: Sequence[int], masked_scope: str = "adaptive",
             across: Trusted | None = None) -> Plan:  # fmt: skip
        """What to search for, by the settings."""
        settings, variables = self.settings, len(self.data.names)
        limit = variables if settings.max_given is None else settings.max_given
        return Plan(variables, self.data.contexts, rule, tuple(cells), self.links, settings.alpha, limit,
                    settings.collider_rule, masked_scope, across)  # fmt: skip

    @property
    def cells(self) -> range:
        """All cells of the table."""
        return range(len(self.data.contexts.cells))


@dataclass(frozen=True, eq=False)
class Outcome:
    """The ends of every context, shape (contexts, N, N), and how they came about."""

    endpoints: Endpoints
    log: CITestLog
    tests: Ints
    complete: bool
    origins: Mapping[Place, Origin] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    evidence: ScoreEvidence | None = None
    notes: tuple[str, ...] = ()
    method: str | None = None
    kind: GraphKind = GraphKind.CPDAG

    def whole(self) -> Outcome:
        """The outcome, where nobody can use half of one: a search that Ctrl-C ended goes on ending what called it."""
        if not self.complete:
            raise KeyboardInterrupt
        return self
