"""The result of a search with lags: window graphs over `X(t-1)` and `X`, their summary, and who reads the context."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from causalcontext.data.frames import frame_of
from causalcontext.data.windows import LaggedTable, WindowCounts, WindowMoments
from causalcontext.errors import NotYetError, OptionError
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.graphs.lag_names import at, split
from causalcontext.results.contexts import ContextGraphs
from causalcontext.results.series_facts import Copy, SeriesFacts
from causalcontext.results.summary_graph import SummaryGraph
from causalcontext.views import Contexts

if TYPE_CHECKING:
    import pandas as pd

    from causalcontext.results.effects.lagged_mechanics import LaggedMechanics
    from causalcontext.results.effects.mechanics import Mechanics


class Resampling(Protocol):
    """Searches a sample of the windows, by its number; `stability` asks it."""

    def endpoints(self, number: int, seed: int) -> Endpoints:
        """The ends of all contexts, shape (contexts, N, N)."""


@dataclass(frozen=True, eq=False)
class LaggedGraphs(ContextGraphs):
    """One window graph per context: links into time t, with earlier values named `X(t-1)`.

    A label on a link into a variable is the value of the copy of the context *that this variable reads* (`reads`): a
    graph is that of the system with the context held at its value. `table` are the windows, as long as the result
    lives; a loaded result has their moments alone (`kept_moments`).
    """

    series: SeriesFacts = field(kw_only=True)
    resample: Resampling | None = field(default=None, kw_only=True, repr=False)
    table: LaggedTable | None = field(default=None, kw_only=True, repr=False)
    kept_moments: WindowMoments | None = field(default=None, kw_only=True, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """What the numbers of conditions in the log stand for: the nodes, then the past beyond the window."""
        return self.series.columns(self.names)

    @property
    def asked(self) -> Contexts:
        """The copies of the context that views of the log fix, and their values."""
        return self.series.asked(self.cells)

    def fixed(self, view: int) -> dict[str, Any]:
        """The copies of the context that a view fixes, by name, with their values; none for all rows."""
        chosen = self.asked.views[max(view, 0)]
        return {self.names[position]: self.contexts[value] for position, value in chosen}

    @property
    def reads(self) -> dict[str, Copy]:
        """By variable: `("R", 1)` for R(t-1), `("R", (0, 1))` where that is undecided, None for none."""
        return dict(self.series.reads)

    @property
    def windows(self) -> WindowCounts:
        """Rows that end a whole window, and what the others were lost to."""
        return self.series.windows

    @property
    def summary(self) -> SummaryGraph:
        """What causes what at any lag, with lags and contexts."""
        return SummaryGraph(self.series.variables, self.graphs)

    def slopes(self, source: str | None = None, target: str | None = None) -> pd.DataFrame:
        """The slope of every link by lag and context, in the units of the table, with its standard error.

        Selected slopes are the largest of many; a p-value of them would be too small, so there is none.
        """
        rows = [
            (*split(row.source), row.target, row.context, row.present, row.slope, row.error)
            for row in self.series.slopes
            if (source is None or source in (row.source, split(row.source)[0])) and target in (None, row.target)
        ]
        return frame_of(rows, columns=["source", "lag", "target", "context", "present", "slope", "error"])

    def explain(self, x: str, y: str) -> str:
        """Why x and y are adjacent or not, context by context, in words; one of them is at time t."""
        from causalcontext.results.explain_lagged import explain_lagged

        return explain_lagged(self, x, y)

    def changes(self, first: Any, second: Any, alpha: float | None = None) -> pd.DataFrame:
        """Links that only one of two contexts has, or that turn their sign: slopes in both, and a claim.

        A change is claimed where the slopes differ on the rows of the two contexts after false-discovery control over
        all links that were candidates (`q` <= alpha).
        """
        from causalcontext.results.changes_lagged import changes_lagged

        return changes_lagged(self, first, second, alpha)

    def labels(self, negligible: float = 0.15) -> pd.DataFrame:
        """Whether each link is present, absent or undetermined in each context, with the evidence."""
        from causalcontext.results.labels_lagged import labels_lagged

        return labels_lagged(self, negligible)

    def mechanisms(self, *, level: float = 0.95, errors: str = "auto") -> pd.DataFrame:
        """The direct coefficients: one row for every cause, effect and context; see `ContextGraphs.mechanisms`.

        A variable that reads a copy of the context is fitted on the windows with that value of this copy, one that
        reads none on all windows. With all parents in the regression residuals are white; where they are not, `note`
        says so.
        """
        from causalcontext.results.effects.lagged_table import lagged_mechanisms

        return lagged_mechanisms(self._lagged_mechanics(errors), level)

    def effects(
        self, x: str | None = None, y: str | None = None, *, by_path: bool = False, level: float = 0.95,
        errors: str = "auto", steps: int | None = None, **sampling: Any,
    ) -> pd.DataFrame:  # fmt: skip
        """The total effect of x so many steps ago on y now, in every context, and how it differs between contexts.

        By how much the mean of y rises with a unit of x `lag` steps before, all copies of the context held at its value
        and nothing else touched: x itself, too, goes on as it does.

        Parameters
        ----------
        x, y : str, optional
            The cause and the effect; `"X"` is X at every lag, `"X(t-2)"` at one.
        by_path : bool
            One row for every directed path through the repeated links instead.
        level : float
            Of the intervals.
        errors : {"auto", "sandwich", "classical"}
            As in `mechanisms`.
        steps : int, optional
            The longest lag; by default that of the search. Links repeat, so it may be longer.
        **sampling
            `samples`, `graph`, `seed` and `n_jobs` of a result without lags: not yet.

        Returns
        -------
        DataFrame
            x, lag, y, context, versus, effect, se, low, high, p, direct, values, identified, note, as without lags.
        """
        from causalcontext.results.effects.lagged_table import lagged_effects, lagged_effects_by_path

        if sampling:
            raise NotYetError(f"not yet: effects with {', '.join(sampling)} of a search with lags; leave that out")
        ask = lagged_effects_by_path if by_path else lagged_effects
        return ask(self._lagged_mechanics(errors), x, y, level, steps)

    @cached_property
    def window_moments(self) -> WindowMoments | None:
        """Rows, means and cross products of the windows, for every combination of values of the context's copies."""
        if self.kept_moments is not None or self.table is None:
            return self.kept_moments
        return WindowMoments.of_table(self.table, self.settings.series["context_lags"] if self.cells.positions else ())

    def _lagged_mechanics(self, errors: str) -> LaggedMechanics:
        """The fits, kept as long as the result lives."""
        from causalcontext.results.effects.lagged_mechanics import LaggedMechanics

        kept = self.__dict__.setdefault("_kept_lagged_mechanics", {})
        if errors not in kept:
            kept[errors] = LaggedMechanics(self, errors)
        found: LaggedMechanics = kept[errors]
        return found

    def _mechanics(self, errors: str) -> Mechanics:
        raise NotYetError("not yet: means under an intervention in a search with lags; effects() has what a unit does")

    def at(self, name: str, lag: int) -> str:
        """The name of a variable so many steps ago: `at("X", 1)` is `X(t-1)`."""
        if name not in (*self.series.variables, *self.series.covariates) or not 0 <= lag <= self.series.lags:
            raise OptionError(
                f"there is no {name!r} at lag {lag}, expected a variable and a lag up to {self.series.lags}"
            )
        return at(name, lag)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LaggedGraphs):
            return NotImplemented
        return repr(self.series) == repr(other.series) and ContextGraphs.__eq__(self, other)

    __hash__ = None

    def __repr__(self) -> str:
        return ContextGraphs.__repr__(self).replace("ContextGraphs", "LaggedGraphs", 1)
