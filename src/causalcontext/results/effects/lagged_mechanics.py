"""Whose windows are right for a mechanism in time, and its fit on them.

A variable that reads the copy R(t-1) of the context is fitted on the windows with that value of R(t-1), one that reads
no copy on all of them: given all its parents, its noise knows nothing of the copy that selects its windows. Links
repeat, so the mechanism of X(t-2) is that of X.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from causalcontext.data.kinds import Kind
from causalcontext.data.moments import Moments
from causalcontext.data.windows import WindowMoments, WindowRows, numbered
from causalcontext.errors import NotYetError, OptionError, check_choice
from causalcontext.graphs.lag_names import at
from causalcontext.results.effects.fits import MechanismFit, fit
from causalcontext.results.effects.mechanics import ERRORS, NoAnswer, NotLinear
from causalcontext.results.effects.shared_fits import SharedFit, Term, shared_fits
from causalcontext.results.effects.window_links import LinkChoice, WindowLinks

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

LARGEST_Z = 3.3
"""Residuals of neighbouring windows that are correlated more clearly than this are named."""


class WindowChoice(NamedTuple):
    """The windows of a mechanism: cells of copies of the context, whether each has its own level, and why these.

    `together` says that slopes which contexts share are fitted on the windows of all of them.
    """

    copies: tuple[int, ...]
    cells: tuple[int, ...]
    shifted: bool
    why: str
    together: bool = False


class LaggedMechanics(WindowLinks):
    """The window graphs of a result with the fits of their mechanisms, each made once.

    Parameters
    ----------
    result : ContextGraphs
    errors : {"auto", "sandwich", "classical"}
        "auto" takes the sandwich where the result has its windows.
    """

    def __init__(self, result: ContextGraphs, errors: str = "auto") -> None:
        check_choice("errors", errors, ERRORS)
        if not result.complete:
            raise OptionError("the search was interrupted, so its graphs are not final; run discover again")
        super().__init__(result)
        self.moments = _moments(result)
        if errors == "sandwich" and result.windowed is None:
            raise OptionError("errors is 'sandwich', which needs the windows of the table; this result has none")
        self._robust = errors != "classical" and result.windowed is not None
        self._fits: dict[tuple[object, ...], MechanismFit] = {}
        self._follows: dict[MechanismFit, float] = {}
        self._joint: dict[tuple[object, ...], tuple[SharedFit, ...] | str] = {}
        self._merged: dict[tuple[int, ...], Moments] = {}

    def windows_for(self, choice: LinkChoice, g: int, variable: int) -> WindowChoice:
        """Whose windows a mechanism is fitted on."""
        if self.context is None:
            return WindowChoice((), (0,), False, "there is no context")
        if self.result.settings.method == "pc-m" and 0 in self.moments.copies:
            return WindowChoice((0,), (g,), False, f"links at {self.result.context} were not searched")
        copies = self.copies(choice, g, variable)
        if not copies:
            return self._without_copy(choice, g, variable)
        unknown = [self.name(self.context, lag) for lag in copies if lag not in self.moments.copies]
        if unknown:
            raise NoAnswer(f"{self.name(variable)} reads {unknown[0]}, which is none of context_lags")
        read = " and ".join(self.name(self.context, lag) for lag in copies)
        evidence = self.result.evidence
        if evidence is None or len(copies) > 1 or self.open[:, :, variable].any():
            cell = int(numbered(np.full((1, len(copies)), g), len(self.cells))[0])
            return WindowChoice(copies, (cell,), False, f"{read} causes it")
        here = self.node(variable, 0)
        mask, model = int(evidence.block[g, here]), evidence.model[here]
        why = f"it reads {read}, its model is {model}"
        if model == "mixed":
            return WindowChoice(copies, (g,), False, f"{why}: slopes that stay are fitted together", True)
        return WindowChoice(copies, tuple(r for r in self.cells if mask >> r & 1), model == "shifted", why)

    def fit(self, choice: LinkChoice, g: int, variable: int) -> MechanismFit:
        """The mechanism of a variable in a context."""
        causes, windows = self.causes(choice, g, variable), self.windows_for(choice, g, variable)
        self._check_linear(variable, causes)
        if windows.together:
            return self._shared(choice, g, variable, windows)
        return self.regression(variable, causes, windows)

    def _shared(self, choice: LinkChoice, g: int, variable: int, windows: WindowChoice) -> MechanismFit:
        """The mechanism in one context of a regression for all of them."""
        terms = self._terms(choice, variable)
        key = (variable, tuple(terms), windows.copies)
        if key not in self._joint:
            rows = self._rows(windows.copies) if self._robust else None
            self._joint[key] = shared_fits(self.by_copies(windows.copies), self.column(variable), terms, rows)
        found = self._joint[key]
        if isinstance(found, str):
            raise NoAnswer(f"{self.name(variable)} cannot be fitted: {found}")
        return found[g]

    def _terms(self, choice: LinkChoice, variable: int) -> list[Term]:
        """The columns of a mechanism, each with the contexts that share its slope: those with the same number."""
        slopes = {(row.source, row.context): row.slope for row in self.series.slopes
                  if row.target == self.series.variables[variable]}  # fmt: skip
        blocks: dict[tuple[int, float], list[int]] = {}
        for r, value in enumerate(self.result.contexts):
            for column in self.causes(choice, r, variable):
                known = slopes.get((self._plain_name(column), value), float(r))
                blocks.setdefault((column, known), []).append(r)
        return [(column, tuple(members)) for (column, _), members in blocks.items()]

    def _plain_name(self, column: int) -> str:
        """The name of a column as the search knew it."""
        place, series = self.place(column), self.series
        if place is not None:
            return at(series.variables[place[0]], place[1])
        return series.covariates[column - len(self.system) * (self.lags + 1)]

    def regression(self, variable: int, causes: tuple[int, ...], windows: WindowChoice) -> MechanismFit:
        """Least squares of a variable on columns of the table of windows."""
        copies, cells, shifted = windows.copies, windows.cells, windows.shifted and len(windows.cells) > 1
        key = (variable, causes, copies, cells, shifted)
        if key not in self._fits:
            rows = self._rows(copies) if self._robust else None
            self._fits[key] = fit(self.by_copies(copies), self.column(variable), causes, cells, shifted, rows)
        found = self._fits[key]
        if found.problem:
            where = "" if self.context is None else f" (windows: {self.rows_text(windows)})"
            raise NoAnswer(f"{self.name(variable)} cannot be fitted{where}: {found.problem}")
        return found

    def follows(self, found: MechanismFit, windows: WindowChoice) -> float:
        """The correlation of residuals of neighbouring windows where it is clear; else 0."""
        if found not in self._follows:
            self._follows[found] = self._residual_correlation(found, windows)
        return self._follows[found]

    def rows_text(self, windows: WindowChoice) -> str:
        """Windows in words: "all", "R(t-1)=wet"."""
        k = len(self.cells)
        if self.context is None or len(windows.cells) == k ** len(windows.copies):
            return "all"
        return " or ".join(", ".join(self._cell_texts(windows.copies, cell)) for cell in windows.cells)

    def _cell_texts(self, copies: Sequence[int], cell: int) -> Iterator[str]:
        assert self.context is not None
        values = self.result.contexts
        for number, lag in enumerate(copies):
            code = cell // len(values) ** (len(copies) - 1 - number) % len(values)
            yield f"{self.name(self.context, lag)}={values[code]}"

    def _without_copy(self, choice: LinkChoice, g: int, variable: int) -> WindowChoice:
        """All windows; where causes differ between contexts all the same, those of contexts with the same ones."""
        own = self.causes(choice, g, variable)
        alike = tuple(h for h in self.cells if self.causes(choice, h, variable) == own)
        why = f"{self.result.context} does not cause it: one mechanism in all contexts"
        past = [lag for lag in self.moments.copies if lag > 0]
        if len(alike) == len(self.cells) or not past:
            return WindowChoice((), (0,), False, why)
        return WindowChoice((past[0],), alike, False, f"{why}, but its causes differ between contexts")

    def _check_linear(self, variable: int, causes: Sequence[int]) -> None:
        kinds = self.result.data.kinds
        places = [self.place(column) for column in causes]
        nodes = [self.node(variable, 0), *(self.node(*place) for place in places if place is not None)]
        for node in nodes:
            if Kind(kinds[node]) is not Kind.CONTINUOUS:
                raise NotLinear(f"not yet: {self.result.names[node]} is {kinds[node]}, without a linear mechanism")

    def by_copies(self, copies: tuple[int, ...]) -> Moments:
        """The moments of every combination of values of some copies of the context."""
        if copies not in self._merged:
            self._merged[copies] = self.moments.by(copies)
        return self._merged[copies]

    def _rows(self, copies: Sequence[int]) -> WindowRows:
        assert self.result.windowed is not None
        return WindowRows(self.result.windowed.table, copies)

    def _residual_correlation(self, found: MechanismFit, windows: WindowChoice) -> float:
        if self.result.windowed is None:
            return 0.0
        rows = self._rows(windows.copies)
        values, codes = rows.values([found.effect, *found.causes], found.cells)
        place = np.zeros(len(codes), dtype=np.int64) if len(found.levels) == 1 else np.searchsorted(found.cells, codes)
        residual = values[:, 0] - found.levels[place] - np.sum((values[:, 1:] - found.centres[place]) * found.slopes, 1)
        time = self.result.windowed.table.row[rows.inside(found.cells)]
        after = np.flatnonzero(np.diff(time) == 1)
        spread = float(residual.var()) * len(after)
        if spread <= 0.0:
            return 0.0
        correlation = float(residual[after] @ residual[after + 1]) / spread
        return correlation if abs(correlation) * np.sqrt(len(after)) > LARGEST_Z else 0.0


def _moments(result: ContextGraphs) -> WindowMoments:
    found = result.window_moments
    if found is None:
        raise NotYetError(
            "not yet: coefficients and effects need the moments of the windows, which this result does not have"
        )
    return found
