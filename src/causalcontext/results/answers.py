"""The answers of a result beyond its graphs: coefficients, effects, and the consequences of an
intervention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from causalcontext.data.frames import pd
from causalcontext.errors import NotYetError, OptionError, check_choice, did_you_mean, shortly
from causalcontext.progress import Count
from causalcontext.results.thin import asked_of_search

if TYPE_CHECKING:
    from causalcontext.graphs.graph import Graph
    from causalcontext.results.contexts import ContextGraphs

GRAPHS = ("found", "resampled")


class Further(TypedDict, total=False):
    """Options of `effects` that are seldom asked for: which levels are compared, and how samples
    are drawn.
    """

    reference: Any
    of_level: Any
    intervals: str
    seed: int
    n_jobs: int
    progress: bool | Count


class EffectMethods:
    """The part of `ContextGraphs` that goes from graphs to numbers."""

    @asked_of_search
    def mechanisms(self, *, level: float = 0.95, errors: str = "auto") -> pd.DataFrame:
        """The direct coefficients: one row for every cause, effect and context.

        A mechanism is fitted where its noise is independent of what selects the rows: an ancestor
        of the context, and whatever no context causes, on all rows; what a context causes, on the
        rows of its own context. `rows`, `n`, `shared by` and `why` say which they are.

        Parameters
        ----------
        level : float
            Of the intervals.
        errors : {"auto", "sandwich", "classical"}
            The sandwich (HC3) needs no equal variances, but the rows of the table; "auto" takes it
            where they are.

        Returns
        -------
        DataFrame
            cause, effect, context, coefficient, se, low, high, p, standardised, rows, n, shared by,
            why, errors, identified, note, spread (after score-ac: by what factor the standard
            deviation of the noise grows from one standard deviation of the cause below its average
            to one above it). Where the graph leaves the causes or the rows open there is no single
            coefficient, and `low` and `high` enclose all of them.
        """
        from causalcontext.results.effects.table import mechanisms

        return mechanisms(self._mechanics(errors), level)

    @asked_of_search
    def effects(
        self,
        x: str | None = None,
        y: str | None = None,
        *,
        by_path: bool = False,
        level: float = 0.95,
        errors: str = "auto",
        steps: int | None = None,
        samples: int | None = None,
        graph: str = "found",
        **more: Unpack[Further],
    ) -> pd.DataFrame:
        """The total effect of x on y in every context, and how it differs between contexts.

        With x a system variable: by how much the mean of y rises with a unit of x while the context
        is held at its value. For a category x: with the level `x_level` instead of `reference`, one
        row for every level but that one. For a category y: by how much the probability of
        `of_level` rises, of two levels the second one, of more every one of them; of an ordered y,
        the probability of that level or a higher one. With x the context: the mean of y if every
        case were put in `context`, minus that in `versus`. With y the context: by how much the
        probability of one of its values rises, in all rows (`context` is None). Without x or y, all
        pairs between which a path may lead.

        With lags: by how much the mean of y rises with a unit of x `lag` steps before, all copies
        of the context held at its value and nothing else touched: x itself, too, goes on as it
        does.

        Parameters
        ----------
        x, y : str, optional
            The cause and the effect; with lags `"X"` is X at every lag, `"X(t-2)"` at one.
        by_path : bool
            One row for every directed path instead.
        level : float
            Of the intervals.
        errors : {"auto", "sandwich", "classical"}
            As in `mechanisms`.
        samples : int, optional
            Intervals by so many bootstrap samples, drawn separately in every context, instead of
            the delta method.
        graph : {"found", "resampled"}
            "resampled" searches every bootstrap sample anew, so that intervals include what is
            uncertain about the graph; `from graph` is its share of the spread.
        reference : level of x, optional
            What the other levels of a category are compared with; by default the first one.
        of_level : level of y, optional
            The level whose probability counts.
        intervals : {"auto", "mixture", "graph"}
            "mixture": over 500 draws of graphs by their score, so that intervals know that the
            graph may be wrong; "graph": as if the graph that was found were the true one. "auto"
            takes the former after score-ac where it is sound, and the column `intervals` says which
            they are, and why.
        seed : int
            Of the samples.
        n_jobs : int
            Worker processes for the samples.
        progress : bool or callable
            Show a bar, or call `progress(done, in all)`: of the mechanisms that draws of graphs
            need, then of pairs; with `samples` of the samples.
        steps : int, optional
            With lags: the longest one; by default that of the search. Links repeat, so it may be
            longer.

        Returns
        -------
        DataFrame
            x, (with lags: lag,) y, x_level, reference, of_level (None for numbers), context, versus
            (None for the effect itself, another context for the difference to it), effect, se, low,
            high, p, direct (the part without mediators), values, identified, note, intervals. Where
            the graph leaves directions open, `effect` is NaN, `values` has all values it can have,
            and `low` and `high` enclose their intervals; where it forbids an answer, `note` says
            why.
        """
        check_choice("graph", graph, GRAPHS)
        for name in more:
            if name not in Further.__annotations__:
                raise OptionError(
                    "effects has no option"
                    f" {name!r}{did_you_mean(name, list(Further.__annotations__))}"
                )
        levels = more.get("reference"), more.get("of_level")
        result = cast("ContextGraphs", self)
        intervals = more.get("intervals", "auto")
        drawn = samples is not None or graph != "found"
        if intervals != "auto" and (drawn or by_path):
            raise OptionError(
                f"intervals is {shortly(intervals)}, which is not for samples, or effects by path"
            )
        progress = more.get("progress", False)
        mechanics = self._mechanics(errors, "graph" if drawn or by_path else intervals, progress)
        if steps is not None and result.series is None:
            raise OptionError(f"steps is {shortly(steps)}, which is for a search with lags")
        if not drawn:
            from causalcontext.results.effects.table import effects, effects_by_path

            if by_path:
                return effects_by_path(mechanics, x, y, level, steps, levels)
            return effects(mechanics, x, y, level, steps, levels, progress)
        if result.series is not None:
            raise NotYetError(
                "not yet: effects with samples of a search with lags; leave samples and graph out"
            )
        from causalcontext.diagnostics.stability import sampled_effects

        if by_path:
            raise OptionError(
                "by_path has intervals by the delta method only; leave samples and graph out"
            )
        return sampled_effects(
            result,
            x,
            y,
            samples=200 if samples is None else samples,
            graph=graph,
            level=level,
            seed=more.get("seed", 0),
            n_jobs=more.get("n_jobs", 1),
            levels=levels,
            progress=progress,
        )

    @asked_of_search
    def predict_intervention(
        self,
        values: Mapping[str, float],
        context: Any = None,
        *,
        among: str = "everyone",
        level: float = 0.95,
        errors: str = "auto",
    ) -> pd.DataFrame:
        """The means of everything downstream if some variables are set, with intervals.

        Parameters
        ----------
        values : mapping from variable to number
        context : context value, optional
            By default all of them, one after the other.
        among : {"everyone", "context"}
            Whose mean: that of all cases, each put in the context; or of the cases that are in it
            now.
        level : float
            Of the intervals.
        errors : {"auto", "sandwich", "classical"}
            As in `mechanisms`.

        Returns
        -------
        DataFrame
            context, variable, mean, se, low, high, now (its mean in the context as it is),
            identified, note.
        """
        from causalcontext.results.effects.table import predict_intervention

        return predict_intervention(self._mechanics(errors), values, context, among, level)

    def with_graphs(self, graphs: Mapping[Any, Graph]) -> ContextGraphs:
        """The same table with other graphs: for a graph that is known, or one of those that are
        left open.

        `mechanisms`, `effects` and `predict_intervention` follow them; `tests` and `explain` still
        tell of the search.
        """
        result = cast("ContextGraphs", self)
        if list(graphs) != list(result.contexts):
            raise OptionError(
                f"graphs has the contexts {list(graphs)}, expected {list(result.contexts)}"
            )
        if any(graph.names != result.names for graph in graphs.values()):
            raise OptionError(
                f"the graphs must have the variables of the result in its order: {result.names}"
            )
        return replace(result, graphs=graphs, origins={}, doubts=(), evidence=None)

    def _mechanics(
        self, errors: str, intervals: str = "graph", progress: bool | Count = False
    ) -> Any:
        """The fits, kept as long as the result lives."""
        from causalcontext.results.effects.mechanics import Mechanics

        kept = self.__dict__.setdefault("_kept_mechanics", {})
        if (errors, intervals) not in kept:
            kept[errors, intervals] = Mechanics(
                cast("ContextGraphs", self), errors, intervals, progress
            )
        return kept[errors, intervals]
