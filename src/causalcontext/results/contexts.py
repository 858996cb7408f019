"""The result of a search: one graph per context, their union, and the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.ci_tests.protocol import PreparedTest
from causalcontext.data.dataset import Dataset
from causalcontext.data.frames import frame_of, pd
from causalcontext.data.moments import Moments
from causalcontext.data.scan import Scan
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.windows import WindowCounts
from causalcontext.errors import OptionError, check_level, did_you_mean
from causalcontext.graphs.endpoints import directed, may_cause
from causalcontext.graphs.graph import LabeledUnion, union_graph
from causalcontext.graphs.lag_names import at, split
from causalcontext.methods.method_object import MethodObject
from causalcontext.methods.registry import method_of_settings
from causalcontext.results.answers import EffectMethods
from causalcontext.results.by_context import GraphsByContext
from causalcontext.results.cut import Cut
from causalcontext.results.edge_table import edge_table
from causalcontext.results.effects.mixture import EffectDraws, OrderDraws, probabilities
from causalcontext.results.empty import because, empty
from causalcontext.results.evidence import COLUMNS as EVIDENCE_COLUMNS
from causalcontext.results.evidence import ScoreEvidence, score_decisions
from causalcontext.results.few_rows import ThinLevels
from causalcontext.results.kept import KeptAnswers, answers_of
from causalcontext.results.log import CITestLog
from causalcontext.results.notes import was_cut
from causalcontext.results.old_names import OLD_NAMES, value_of_old_name
from causalcontext.results.outcome import DataSummary, Settings
from causalcontext.results.series import (
    Copy,
    ReadsByVariable,
    SeriesFacts,
    SummaryGraph,
    not_among,
    series_of,
)
from causalcontext.results.thin import as_searched, asked_of_search, of_search
from causalcontext.results.violations import check_words
from causalcontext.results.words import context_place, view_words
from causalcontext.results.wrong_cells import WrongCells
from causalcontext.screening.left_out import DoubtfulScale, LeftOut, words_about_absence
from causalcontext.search.family import Doubt, Origin
from causalcontext.views import Contexts, described

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from causalcontext.diagnostics.findings import Diagnosis
    from causalcontext.diagnostics.stability import Stability
    from causalcontext.graphs.graph import Graph
    from causalcontext.progress import Advance, Count
    from causalcontext.timeseries.windows import SeriesWindows


PUBLIC = (
    *("names", "context", "contexts", "graphs", "union", "labeled_union", "left_out"),
    *("warnings", "notes", "complete", "method", "data"),
    *("edges", "labels", "tests", "scores", "explain", "changes", "flagged_cells"),
    *("mechanisms", "effects", "predict_intervention", "with_graphs"),
    *("diagnose", "stability", "second_opinion", "probabilities"),
    *("plot", "plot_mechanism", "report", "save"),
)
"""The names of every result for users, and what `dir` lists; all else is for the package."""
WITH_LAGS = ("reads", "windows", "slopes", "summary")
"""The names for users that a result has besides after a search with lags."""
WITH_CUT = ("cut",)
"""The name for users that a result has besides where a cut was looked for."""


@dataclass(frozen=True, eq=False)
class ContextGraphs(EffectMethods):
    """One causal graph per context, by name.

    Attributes
    ----------
    names : tuple of str
        The variables, in the order of the table, the context included.
    cells : Contexts
        The context variables by position, and their levels in every context.
    levels : tuple of tuples
        The values of every context variable.
    contexts : tuple
        The values of the context, with their own types; of several context variables, tuples of
        values.
    graphs : mapping from context value to Graph
    settings : Settings
    data : DataSummary
    log : CIQueryLog
        The deciding tests; `tests()` shows them as a table.
    tests_run : mapping from "pooled" and "within contexts" to int
        How many tests the skeleton took on all rows, and on the rows of one context.
    complete : bool
        False if Ctrl-C or a time limit ended the search; `warnings` say what it left out.
    origins : mapping from (context, x, y), by position, to Origin
        The rule behind the end at y of x - y; `explain` puts it into words.
    doubts : tuple of Doubt
        Ends that a rule asked for against what was settled, and edges on which the assumptions
        fail.
    warnings : tuple of str
        What a reader must know before believing the answer, with what to do; `diagnose()` has more.
        After a search by tests that you named, `model_checks` are not among them before you ask for
        these; what is printed, and the report, have both.
    prepared : PreparedTest or None
        The test, to ask more of it; a loaded result has it where the moments are enough.
    moments : Moments or None
        Rows, means and cross products of all columns, in every context.
    rows : Dataset or None
        The table, as long as the result lives; it is saved with `save(path, rows=True)` alone.
    scanned : Scan or None
        Of a table larger than memory, what was kept of it; it is not saved.
    evidence : ScoreEvidence or None
        For a score-based method, what speaks for and against every edge; `scores()` shows it as a
        table.
    notes : tuple of str
        How the result was made: why a method was chosen, what was read, what columns were taken
        for.
    wrong_cells : WrongCells or None
        The cells that were replaced, and what is found with all of them kept; `flagged_cells()`
        shows them as a table.
    cuts : tuple of Cut
        With `cc.threshold("X", "best")`: the cuts that were looked for, the strongest first.
    series : SeriesFacts or None
        Of a search with lags, what only time has: variables and lags, windows, slopes, and who
        reads the context. Its graphs have links into time t, with earlier values named `X(t-1)`. A
        label on a link into a variable is the value of the copy of the context *that this variable
        reads* (`reads`): a graph is that of the system with the context held at its value.
    windowed : SeriesWindows or None
        The windows, as long as the result lives; they are not saved.
    known_windows : (Contexts, Moments) or None
        Of a loaded result, the `window_moments`.
    left_out : tuple of LeftOut
        The columns of the table that took no part in the search, each with the reason.
    doubtful_scales : tuple of DoubtfulScale
        Columns whose scale makes differences between contexts that are none, so that `changes` does
        not claim them, and effects that have no interval.
    thin : ThinLevels or None
        The values of the context with too few rows to say anything: `rows` has them, and how many
        rows each has. They took no part in the search, and their graph is the pooled one, the union
        over the others.
    """

    names: tuple[str, ...]
    cells: Contexts
    levels: tuple[tuple[Any, ...], ...]
    contexts: tuple[Any, ...]
    graphs: Mapping[Any, Graph]
    settings: Settings
    data: DataSummary
    log: CITestLog
    tests_run: Mapping[str, int]
    complete: bool = True
    origins: Mapping[tuple[int, int, int], Origin] = field(default_factory=dict, repr=False)
    doubts: tuple[Doubt, ...] = ()
    warnings: tuple[str, ...] = ()
    evidence: ScoreEvidence | None = None
    notes: tuple[str, ...] = ()
    prepared: PreparedTest | None = field(default=None, repr=False)
    moments: Moments | None = field(default=None, repr=False)
    rows: Dataset | None = field(default=None, repr=False)
    scanned: Scan | None = field(default=None, repr=False)
    wrong_cells: WrongCells | None = field(default=None, repr=False)
    cuts: tuple[Cut, ...] = field(default=(), repr=False)
    series: SeriesFacts | None = None
    windowed: SeriesWindows | None = field(default=None, repr=False)
    known_windows: tuple[Contexts, Moments] | None = field(default=None, repr=False)
    left_out: tuple[LeftOut, ...] = ()
    doubtful_scales: tuple[DoubtfulScale, ...] = ()
    thin: ThinLevels | None = None
    _kept: KeptAnswers = field(init=False, default_factory=KeptAnswers, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "graphs", GraphsByContext(self.graphs))

    def __getstate__(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)} | {
            "graphs": dict(self.graphs)
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __getitem__(self, value: Any) -> Graph:
        """The graph of a context: `result["wet"]` is `result.graphs["wet"]`."""
        return self.graphs[value]

    if not TYPE_CHECKING:  # which is to find names that are not there

        def __getattr__(self, name: str) -> Any:
            if name in OLD_NAMES:
                return value_of_old_name(self, name)
            raise AttributeError(
                f"a result has no {name!r}{did_you_mean(name, self._names_for_users())}",
                name=name,
                obj=self,
            )

    def __dir__(self) -> list[str]:
        """The names for users; what the parts of the package read besides is not listed."""
        private = (name for name in super().__dir__() if name.startswith("_"))
        return [*self._names_for_users(), *private]

    def _names_for_users(self) -> tuple[str, ...]:
        """The public names that say something about this result."""
        return (
            *PUBLIC,
            *(WITH_LAGS if self.__dict__.get("series") is not None else ()),
            *(WITH_CUT if self.__dict__.get("cuts") else ()),
        )

    @property
    def final(self) -> bool:
        """True where the graphs are oriented and can be asked: the search is complete, or a time
        limit cut it short.
        """
        return self.complete or was_cut((*self.warnings, *self.notes))

    @cached_property
    def searched(self) -> ContextGraphs:
        """The result as if there were no rows of values that have too few: what every question is
        answered by.
        """
        return of_search(self)

    @property
    def context(self) -> str | None:
        """The name of the context variable, of several all of them; None without one."""
        if self.thin is not None:
            return self.thin.context
        return ", ".join(self.names[position] for position in self.cells.positions) or None

    @property
    def cut(self) -> Cut | None:
        """With `cc.threshold("X", "best")`: the strongest cut with its verdict, None without.

        Unless the verdict is "cut", the column was not used as a context, and there is no interval.
        """
        return self.cuts[0] if self.cuts else None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names that the numbers of conditions in the log stand for: the variables, and the
        past beyond the window.
        """
        return self.names if self.series is None else self.series.columns(self.names)

    @cached_property
    def asked(self) -> Contexts:
        """The context variables, or their copies in time, that views of the log fix, and their
        values.
        """
        return self.cells if self.series is None else self.series.asked(self.cells)

    @asked_of_search
    def second_opinion(self, *, progress: bool | Advance = False) -> ContextGraphs:
        """Search the same rows with the other engine: score-ac after tests, pc-ac after a score.

        After a search by tests every difference between contexts is a candidate until score-ac
        makes the same claim; `changes()` and the report follow the answer from then on, and files
        keep it. The model checks are made as well, since they may speak against a claim.

        Parameters
        ----------
        progress : bool or callable
            As in `discover`.

        Raises
        ------
        OptionError
            Where the other engine cannot be asked, with the reason.
        """
        from causalcontext.diagnostics.other_methods import ask_other_engine

        opinion = ask_other_engine(self, progress)
        if isinstance(opinion, str):
            raise OptionError(opinion)
        return opinion

    def _order_draws(self, progress: bool | Count = False) -> OrderDraws | str:
        """After score-ac: orders of the variables, drawn by their score, or why there are none;
        drawn once.
        """
        from causalcontext.score.order_draws import drawn_orders

        kept = answers_of(self)
        if kept.orders is None:
            kept.orders = drawn_orders(self.searched, progress)
        return kept.orders

    def _effect_draws(self, progress: bool | Count = False) -> EffectDraws | str:
        """After score-ac: effects and edges over draws of graphs, or why there are none; drawn
        once.
        """
        kept = answers_of(self)
        if kept.draws is None:
            orders = self._order_draws(progress)
            kept.draws = orders if isinstance(orders, str) else EffectDraws(self.searched, orders)
        return kept.draws

    @property
    def cautions(self) -> tuple[str, ...]:
        """The warnings, with those of the model checks as far as these were asked for."""
        words = check_words(self.searched)
        return (*self.warnings, *(sentence for sentence in words if sentence not in self.warnings))

    @property
    def method(self) -> MethodObject:
        """The method that found the graphs, with its options: `cc.PCAC(alpha=0.01)`.

        After `method="auto"` it is the one that was chosen; `discover(table, context,
        method=result.method)` searches in the same way.
        """
        return method_of_settings(self.settings)

    @cached_property
    def union(self) -> Graph:
        """The union graph: an edge is there if some context has it."""
        return union_graph([self.graphs[value] for value in self.searched.contexts])

    @property
    def labeled_union(self) -> LabeledUnion:
        """The edges of the union, each with the contexts in which it is present."""
        return LabeledUnion(self.searched.graphs)

    @asked_of_search
    def edges(self) -> pd.DataFrame:
        """The edges of the labeled union, one row for each, with the same columns for every method.

        Returns
        -------
        DataFrame
            source, target, mark, contexts, strength, p-value, n, score, model, margin, hidden
            cause, p_edge, p_direction, stability. What a method does not have, and what was not
            asked, is NaN or ""; without rows, `attrs["reason"]` says why.

            `strength` is the partial correlation in the weakest test that the edge survived in any
            of its contexts; for links at the context, its counterpart sqrt(1 - exp(-LR / n)). An
            edge that was not tested has NaN. Score-based results have no p-values, but the smallest
            `score` difference that the edge makes in any of its contexts, the `model` of its
            effect, and the `margin` of its direction: how many nats the best model without that
            direction is worse in the contexts that have it, as far as that was followed; NaN where
            knowledge settles it.

            The other columns follow questions. `hidden cause`, after `diagnose()`: "suspected"
            where a hidden common cause may stand behind the edge, "not seen", which is no
            clearance, or "not asked". `p_edge` and `p_direction`, after `probabilities()`: how
            probable an edge between the two is, and its direction given that it is there, in the
            context where they are least; NaN where no graphs were drawn. `stability`, after
            `stability()`: the share of samples that have the edge, in the context where it is
            least.
        """
        return edge_table(self)

    @asked_of_search
    def tests(self) -> pd.DataFrame:
        """The test that decided each pair in each context; for edges that stayed, the one with the
        largest p-value.

        `decision` is "present", "absent", "untestable" (no query of the pair could be run; the edge
        stays), "required" or "forbidden" (by knowledge). `untested` counts the queries of the pair
        that could not be run.

        A score-based search runs no tests: what decided is the comparison of two models, with the
        link and without it, `test` is "score", `statistic` the difference of the log scores, and
        there is no p-value.
        """
        if self.evidence is not None:
            return score_decisions(self.evidence, self.graphs, self.names, self.context)
        return self.log.frame(self.names, self.contexts, view_words(self), self.columns)

    @asked_of_search
    def scores(self) -> pd.DataFrame:
        """For a score-based result, the evidence on every pair in each context; without rows for
        other methods.

        `score` is the log score with the link minus that without it, in the model of the `effect`,
        whose mechanism is `shared by` these contexts and was fitted on `n` rows.
        """
        if self.evidence is None:
            reason = f"{self.settings.method} has no scores: tests() has what decided"
            return empty(EVIDENCE_COLUMNS, reason)
        return self.evidence.frame(self.names, self.contexts)

    @asked_of_search
    def probabilities(self, *, progress: bool | Count = False) -> pd.DataFrame:
        """After score-ac: how probable edges and directed paths are, for every ordered pair and
        context.

        From 500 graphs, drawn by their score: `edge` is the share with an edge between x and y,
        `cause` that with x --> y, `ancestor` that with a directed path from x to y.
        `docs/effects.md` has how often such numbers are right. Without rows where no graphs are
        drawn; `attrs["reason"]` says why. The draws are kept, and `edges()` shows them from then
        on.

        Parameters
        ----------
        progress : bool or callable
            Show a bar, or call `progress(mechanisms scored, mechanisms in all)`; of many rows they
            take longer than the search.
        """
        draws = self._effect_draws(progress)
        table = probabilities(draws, self.names, self.contexts)
        return because(table, draws) if isinstance(draws, str) else table

    @asked_of_search
    def flagged_cells(self) -> pd.DataFrame:
        """The cells that were taken for wrong: row (counted from 0), column, value, and what was
        expected there.

        The search, and all that follows from it, saw the expected values in their place, and none
        of the rows that were left out; `diagnose()` says what that changes. Without rows if no cell
        was.
        """
        table = (self.wrong_cells or WrongCells(())).frame()
        return because(table, "no cell was taken for wrong")

    @property
    def reads(self) -> dict[str, Copy]:
        """With lags, by variable: `("R", 1)` for R(t-1), `("R", (0, 1))` where that is undecided,
        None for none.

        Of several contexts that it reads, all of them: `(("R", 1), ("S", 0))`.
        """
        return ReadsByVariable(series_of(self).reads)

    @property
    def windows(self) -> WindowCounts:
        """With lags: rows that end a whole window, and what the others were lost to."""
        return series_of(self).windows

    @property
    @asked_of_search
    def summary(self) -> SummaryGraph:
        """With lags: what causes what at any lag, with lags and contexts."""
        return SummaryGraph(series_of(self).variables, self.graphs)

    @asked_of_search
    def slopes(self, source: str | None = None, target: str | None = None) -> pd.DataFrame:
        """With lags: the slope of every link by lag and context, in the units of the table, with
        its standard error.

        Selected slopes are the largest of many; a p-value of them would be too small, so there is
        none.

        Parameters
        ----------
        source, target : str, optional
            The ends of the links; `"X"` is X at every lag, `"X(t-1)"` at one. A target is a
            variable at time t.
        """
        series = series_of(self)
        variables = (*series.variables, *series.covariates)
        if source is not None and source not in (*variables, *self.names):
            raise self.no_variable(source, (*variables, *self.names))
        if target is not None and target not in series.variables:
            raise self.no_variable(target, series.variables)
        rows = [
            (*split(row.source), row.target, row.context, row.present, row.slope, row.error)
            for row in series.slopes
            if target in (None, row.target)
            and (source is None or source in (row.source, split(row.source)[0]))
        ]
        columns = ["source", "lag", "target", "context", "present", "slope", "error"]
        return because(frame_of(rows, columns=columns), "no such link is in the graphs")

    def at(self, name: str, lag: int) -> str:
        """With lags: the name of a variable so many steps ago: `at("X", 1)` is `X(t-1)`."""
        series = series_of(self)
        variables = (*series.variables, *series.covariates)
        if name not in variables:
            raise self.no_variable(name, variables)
        if not 0 <= lag <= series.lags:
            raise OptionError(
                f"there is no {name!r} at lag {lag}, expected a lag up to {series.lags}"
            )
        return at(name, lag)

    @property
    def table(self) -> Dataset | None:
        """The rows, with lags the windows, as long as the result lives; nodes are columns."""
        return self.rows if self.windowed is None else self.windowed.scored

    @cached_property
    def window_moments(self) -> tuple[Contexts, Moments] | None:
        """With lags: the context lags by position, and rows, means and cross products of all nodes
        in their cells.
        """
        if self.known_windows is not None or self.windowed is None:
            return self.known_windows
        data = self.windowed.scored
        return data.contexts, gather_statistics(data, "listwise").of_columns(data)

    def explain(self, x: str, y: str) -> str:
        """The reasons why x and y are adjacent or not, in words: a line for all contexts of which
        the same is said.
        """
        from causalcontext.results.explain import explained

        return "\n".join(explained(self, x, y))

    def changes(
        self,
        first: Any = None,
        second: Any = None,
        alpha: float | None = None,
        *,
        progress: bool | Count = False,
    ) -> pd.DataFrame:
        """The differences between two contexts: effect sizes, p-values, and those of them that may
        be claimed.

        The columns are the same after every method, static and with lags. After score-ac (and
        `auto`, where it took it) edges that one context has are compared, slopes of edges that both
        have, and levels and spreads of variables. After methods that test, all of these are
        candidates until `second_opinion()` has asked score-ac about the same rows. With lags: links
        into time t, and their slopes where the target reads the context. After fci-ac: also the
        ends of edges. pc-p has one graph for all contexts, so no edge differs.

        A change is claimed where an edge is found in one context and not in the other, its slopes
        differ after false-discovery control (`q` <= alpha), nothing else explains that, no model
        check says that the model is wrong, and, for methods that test, score-ac makes the same
        claim in the same rows; all else is a "candidate" (`status`), and `reason` says why. Where
        mechanisms are curved, effects are relative to the context that has the edge: 1 is its whole
        curve, 0 no effect, on values of the cause that both contexts have. `label` says whether the
        edge is "absent" where it was not found, or "undetermined". Edges that turn around are
        listed with the kind "direction"; edges of PAGs with an end that is a tail in the first and
        an arrow in the second context, or the other way, with the kind "end" and both marks. Links
        of both contexts whose slopes differ have the kind "slope"; with lags effects are slopes on
        the rows of the context lag that the target `reads`. Where neither links nor slopes of a
        variable differ, a context may change its level (kind "level", the source is the context:
        the difference of the means with causes at their average) or the spread of its noise (kind
        "spread": the difference is a ratio, the standard deviation in the second context over that
        in the first), both in normal scores where the search went by these. With several context
        variables, a context is a tuple of their values.

        Parameters
        ----------
        first, second : context value, optional
            The contexts to compare. Without them all contexts are compared, two at a time, with
            one of them that context with every other. A search compares up to five contexts at
            its end, and this reads the answer; of more contexts, the first call compares and keeps
            it. `q` is adjusted for the differences between the two contexts of a row.
        alpha : float, optional
            The level of claims, by default that of the search.
        progress : bool or callable
            Show a bar, or call `progress(pairs of contexts compared, pairs in all)`.

        Returns
        -------
        DataFrame
            source, target, mark, kind, present, absent, effect_present, effect_absent, difference,
            p, q, claimed, label, reason, status. A context with too few rows is compared with none.
            Without rows, `attrs["reason"]` says why.
        """
        from causalcontext.results.changes import all_changes

        return all_changes(self, first, second, alpha, progress)

    def labels(self, negligible: float = 0.15) -> pd.DataFrame:
        """The label of each edge, present, absent or undetermined, in each context, with the
        evidence.

        Parameters
        ----------
        negligible : float
            An edge that was not found is "absent" where its partial correlation is surely between
            -`negligible` and `negligible`, else "undetermined".
        """
        from causalcontext.results.changes import labels, no_labels

        check_level("negligible", negligible)
        if self.thin is not None and len(self.searched.contexts) < 2:
            return no_labels(self.thin.warning)
        return labels(self.searched, negligible)

    @asked_of_search
    def diagnose(self, *, progress: bool | Count = False) -> Diagnosis:
        """Ask what the search did not: model checks, hidden common causes, support, near misses.

        The answer is kept: `edges()`, `print` and the report show it from then on, and files have
        it.

        Parameters
        ----------
        progress : bool or callable
            Show a bar, or call `progress(checks done, checks in all)`.

        Returns
        -------
        Diagnosis
            Findings about whether the result can be believed, with severity, evidence and advice.
        """
        kept = answers_of(self)
        if kept.diagnosis is None:
            from causalcontext.diagnostics.diagnose import diagnose

            kept.diagnosis = diagnose(self, progress)
        return kept.diagnosis

    @asked_of_search
    def stability(
        self,
        samples: int = 200,
        *,
        n_jobs: int = 1,
        seed: int = 0,
        progress: bool | Count = False,
    ) -> Stability:
        """The shares of bootstrap samples with each mark and label, drawn separately in every
        context.

        The last answer is kept: `edges()` and the report show it from then on, and files have it.
        """
        from causalcontext.diagnostics.stability import stability

        shares = stability(self, samples, n_jobs=n_jobs, seed=seed, progress=progress)
        answers_of(self).stability = shares
        return shares

    @asked_of_search
    def knowledge_violations(self) -> list[str]:
        """The contradictions between the graphs and the knowledge, one sentence each; empty after
        every search.
        """
        links = self.settings.knowledge.links(self.names)
        name = self.names
        sentences = []
        one_way = links.may & ~links.may.T & ~links.must
        for value, graph in self.graphs.items():
            wrong = (
                (links.must & ~directed(graph.endpoints), "{0} --> {1} is required and not there"),
                (
                    np.triu(graph.adjacency & links.absent),
                    "{0} and {1} are adjacent, which is ruled out",
                ),
                (
                    one_way & may_cause(graph.endpoints).T,
                    "{1} --> {0} is ruled out, but the edge is not directed so",
                ),
            )
            sentences += [
                f"{value}: {words.format(name[i], name[j])}"
                for where, words in wrong
                for i, j in np.argwhere(where).tolist()
            ]
        return sentences

    def save(self, path: str | Path, *, rows: bool = False) -> None:
        """Write the result to a JSON file, whole or not at all.

        Parameters
        ----------
        path : str or Path
        rows : bool
            Whether the file has the rows of the table, too, of at most ten million cells. Without
            them a loaded result answers from moments: effects along categories and counts are
            refused, and errors are classical.
        """
        from causalcontext.results.content import save

        save(self, path, rows)

    def strength(self, x: str, y: str, value: Any) -> float:
        """The strength of the pair in one context, as in `edges()`; NaN without a test."""
        if self.thin is not None:
            known = value in self.searched.contexts and {x, y} <= set(self.searched.names)
            return self.searched.strength(x, y, value) if known else float("nan")
        context_index = context_place(self.contexts, value)
        slot = self.log.slot(self.position(x), self.position(y))
        return (
            self.log.strength(context_index, slot)
            if self.evidence is None
            else float(self.evidence.strength[context_index, slot])
        )

    def plot(
        self,
        kind: str = "contexts",
        *,
        contexts: Sequence[Any] | None = None,
        probabilities: bool = False,
        axes: Axes | Sequence[Axes] | None = None,
        path: str | Path | None = None,
        dpi: float = 150,
    ) -> tuple[Axes, ...]:
        """A picture in one layout that all contexts share: causes left of effects, the context in a
        dark box.

        Parameters
        ----------
        kind : {"contexts", "union", "difference", "cut"}
            One panel per context, the labeled union, two contexts compared, or, after
            `cc.threshold("X", "best")`, the score over the places of a cut, with that of the best
            smooth change and the interval. With lags also "time-series", which is "contexts", and
            "summary": what causes what at any lag.
        contexts : sequence of context values, optional
            Which panels to draw, or which two to compare; by default all of them, and the first
            two.
        probabilities : bool
            After score-ac, with kind "contexts": write beside every edge how probable it is
            (`probabilities()`).
        axes : matplotlib axes, optional
            Where to draw, one for each panel; by default a new figure with a legend.
        path : str or Path, optional
            A `.png`, `.svg` or `.pdf` file to write.
        dpi : float
            Dots per inch of a PNG file.

        Returns
        -------
        tuple of matplotlib Axes, one for each panel
        """
        from causalcontext.drawing.mechanism import plot_cut
        from causalcontext.drawing.plot import painted, result_picture

        if kind == "cut":
            return plot_cut(self, axes, path, dpi)
        return painted(result_picture(self, kind, contexts, probabilities), axes, path, dpi)

    @asked_of_search
    def plot_mechanism(
        self,
        effect: str,
        table: Any = None,
        *,
        axes: Axes | Sequence[Axes] | None = None,
        path: str | Path | None = None,
        dpi: float = 150,
    ) -> tuple[Axes, ...]:
        """The effect of every cause on a variable, as a figure: one panel a cause, one line a
        context. For `method="score-ac"`.

        A line is the expected effect as one cause moves and everything else stays at its average;
        of a variable with levels, their probabilities. A band is one standard deviation of the
        noise on either side, where that depends on the cause.

        Parameters
        ----------
        effect : str
            The variable that is explained.
        table : pandas DataFrame or what makes one, optional
            The rows, to be shown as dots: where the line puts them, plus their residuals.
        axes : matplotlib axes, optional
            Where to draw, one for each cause; by default a new figure.
        path : str or Path, optional
            A `.png`, `.svg` or `.pdf` file to write.
        dpi : float
            Dots per inch of a PNG file.

        Returns
        -------
        tuple of matplotlib Axes, one for each cause
        """
        from causalcontext.drawing.mechanism import plot_mechanism

        return plot_mechanism(self, effect, table, axes=axes, path=path, dpi=dpi)

    def report(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        stability: Stability | None = None,
        diagnose: bool = False,
    ) -> None:
        """Write one HTML file: the graphs, the reasons for every pair, tables, settings; it needs
        no network.

        The page has the answers to the questions that were asked of the result, and says which
        were not.

        Parameters
        ----------
        path : str or Path
        title : str, optional
        stability : Stability, optional
            How often each edge is found again; by default what `stability()` found last.
        diagnose : bool
            Whether to ask `diagnose()` and `probabilities()` first, so that the page has their
            answers.
        """
        from causalcontext.report.html import write_report

        write_report(self, path, title=title, stability=stability, diagnose=diagnose)

    @property
    def made_of(self) -> dict[str, str]:
        """The contexts, with lags at all times, that are made out of a column, each with that
        column of its time.
        """
        lags = range(1 if self.series is None else self.series.lags + 1)
        return {
            at(self.names[p], lag): at(self.names[source], lag)
            for p, source in self.cells.made
            for lag in lags
        }

    def fixed(self, view: int) -> dict[str, Any]:
        """The context variables that a view fixes, by name, with their values; none for all
        rows.
        """
        if view <= 0:
            return {}
        fixed_levels = {
            self.names[position]: levels
            for position, levels in zip(self.cells.positions, self.levels, strict=True)
        }
        asked = [self.names[position] for position in self.asked.positions]
        levels = [fixed_levels[name if name in fixed_levels else split(name)[0]] for name in asked]
        return described(self.asked, view, self.names, levels)

    def position(self, name: str) -> int:
        """The place of a variable among `names`."""
        if not isinstance(name, str) or name not in self.names:
            raise self.no_variable(name, self.names)
        return self.names.index(name)

    def no_variable(self, name: object, known: Sequence[str]) -> OptionError:
        """The error about a name that is none of the known ones: why its column was left out, or
        which one may be meant.
        """
        for left in self.left_out:
            if left.column == name:
                return OptionError(f"{name} {words_about_absence(left)}")
        return OptionError(f"there is no variable {not_among(name, known)}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ContextGraphs):
            return NotImplemented
        if self.thin is not None or other.thin is not None:
            return self.thin == other.thin and as_searched(self) == as_searched(other)
        same = (
            "names",
            "cells",
            "levels",
            "contexts",
            "settings",
            "data",
            "complete",
            "tests_run",
            "log",
            "origins",
            "doubts",
            "warnings",
            "evidence",
            "notes",
            "wrong_cells",
            "cuts",
        )
        if repr(self.series) != repr(other.series) or dict(self.graphs) != dict(other.graphs):
            # slopes may be NaN
            return False
        types = [[type(value) for value in result.contexts] for result in (self, other)]
        return types[0] == types[1] and all(
            getattr(self, key) == getattr(other, key) for key in same
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        from causalcontext.report.text import summary

        return summary(self)

    def _repr_html_(self) -> str:
        from causalcontext.drawing.plot import result_html
        from causalcontext.report.payload import summary

        return result_html(self, summary(self), self.cautions if self.final else ())

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{value!r}: {len(graph.edges)} edges" for value, graph in self.graphs.items()
        )
        return f"ContextGraphs({self.settings.method}, {len(self.names)} variables, {{{counts}}})"


class _WithLags(type):
    """Lets `isinstance` ask whether a result has lags."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, ContextGraphs) and instance.series is not None


class LaggedGraphs(metaclass=_WithLags):
    """A `ContextGraphs` of a search with lags: only for `isinstance(result, cc.LaggedGraphs)`."""
