"""Linear-Gaussian tests with several context variables, on the moments of every combination of their values.

A trial fixes some of the context variables (`where`) and leaves the others pooled. Two system variables are tested by
partial correlation on the rows that match; a context variable against a system variable by LR* between its own levels
there; two context variables by Wilks' lambda of their indicators.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from causalcontext.data.several import Cells
from causalcontext.data.survey import Survey
from causalcontext.independence.gaussian import PreparedGaussian, pooled_scatter
from causalcontext.questions import Outcomes, Reason, Trial

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Where = tuple[tuple[int, int], ...]
Answer = tuple[float, float, float, int, int]

FEWEST_DF = 5
COLLINEAR_BELOW = 1e-10


class PreparedSeveral:
    """The tests for one table.

    Parameters
    ----------
    rows : array of int, shape (cells,)
    mean : array, shape (cells, N)
    scatter : array, shape (cells, N, N)
        Centred cross products inside each cell; zero at the context variables.
    contexts : tuple of int
        Positions of the context variables among the N.
    codes : array of int, shape (cells, context variables)
        Their levels in every cell.
    kind : int
        `STUDENT` or `FISHER`.
    """

    def __init__(self, rows: Ints, mean: Floats, scatter: Floats, contexts: tuple[int, ...], codes: Ints,
                 kind: int) -> None:  # fmt: skip
        self.rows, self.mean, self.scatter = rows, mean, scatter
        self.contexts, self.codes, self.kind = contexts, codes, kind
        self._column = {position: place for place, position in enumerate(contexts)}
        self._views: dict[tuple[Where, int], PreparedGaussian] = {}
        self.labels = (*self._view((), -1).labels, "wilks")

    def answer(self, trials: Sequence[Trial]) -> Outcomes:
        """One outcome for every trial, in order."""
        answers: list[Answer] = [(np.nan, np.nan, np.nan, 0, Reason.FEW_ROWS)] * len(trials)
        by_view: dict[tuple[Where, int], list[int]] = {}
        for i, trial in enumerate(trials):
            ends = [end for end in (trial.x, trial.y) if end in self._column]
            fixed = [column for column, _ in trial.where]
            if any(end in fixed for end in ends):
                answers[i] = (np.nan, np.nan, np.nan, 0, Reason.CONSTANT)
            elif len(ends) == 2:
                answers[i] = self._wilks(trial)
            else:
                by_view.setdefault((trial.where, ends[0] if ends else -1), []).append(i)
        for (where, by), chosen in by_view.items():
            found = self._view(where, by).answer([trials[i]._replace(where=()) for i in chosen])
            columns = (found.statistic, found.df, found.p, found.n, found.reason)
            for i, *values in zip(chosen, *columns, strict=True):
                answers[i] = (float(values[0]), float(values[1]), float(values[2]), int(values[3]), int(values[4]))
        statistic, df, p, n, reason = zip(*answers, strict=True) if answers else ((), (), (), (), ())
        return Outcomes(np.array(statistic, dtype=np.float64), np.array(df, dtype=np.float64),
                        np.array(p, dtype=np.float64), np.array(n, dtype=np.int64),
                        np.array(reason, dtype=np.int8))  # fmt: skip

    def like(self, place: int, fixed: Sequence[int]) -> tuple[np.int64, Floats, Floats]:
        """Rows, means and cross products of all cells that agree with one of them on some context variables."""
        codes = self.codes[place]
        return self._merged(self._matching(tuple((c, int(codes[self._column[c]])) for c in fixed)))

    def _view(self, where: Where, by: int) -> PreparedGaussian:
        """The single-context tests on the rows that match, between the levels of `by`, or all in one."""
        if (where, by) not in self._views:
            cells = self._matching(where)
            groups = np.zeros(cells.size, dtype=np.int64) if by < 0 else self.codes[cells, self._column[by]]
            parts = [self._merged(cells[groups == level]) for level in np.unique(groups)] or [self._merged(cells)]
            rows, mean, scatter = (np.stack(values) for values in zip(*parts, strict=True))
            self._views[where, by] = PreparedGaussian(rows, mean, scatter, by, self.kind)
        return self._views[where, by]

    def _matching(self, where: Where) -> NDArray[np.intp]:
        matches = np.ones(len(self.rows), dtype=bool)
        for column, level in where:
            matches &= self.codes[:, self._column[column]] == level
        return np.flatnonzero(matches)

    def _merged(self, cells: NDArray[np.intp]) -> tuple[np.int64, Floats, Floats]:
        """Rows, means and cross products of some cells together."""
        rows = self.rows[cells]
        centre = rows @ self.mean[cells] / max(int(rows.sum()), 1)
        return np.int64(rows.sum()), centre, pooled_scatter(rows, self.mean[cells], self.scatter[cells])

    def _wilks(self, trial: Trial) -> Answer:
        """Bartlett's chi-squared of Wilks' lambda between the indicators of two context variables, given a set."""
        cells = self._matching(trial.where)
        n = int(self.rows[cells].sum())
        first, second = (self._indicators(cells, end) for end in (trial.x, trial.y))
        p, q, size = first.shape[1], second.shape[1], len(trial.given)
        if min(p, q) == 0:
            return np.nan, np.nan, np.nan, n, Reason.CONSTANT
        if n - size - 2 - p - q < FEWEST_DF:
            return np.nan, np.nan, np.nan, n, Reason.FEW_ROWS
        left = self._residual_scatter(cells, np.hstack([first, second]), trial.given)
        volumes = [_log_volume(part) for part in (left, left[:p, :p], left[p:, p:])]
        if not np.isfinite(volumes[1]) or not np.isfinite(volumes[2]):
            return np.nan, np.nan, np.nan, n, Reason.COLLINEAR
        ratio = volumes[1] + volumes[2] - volumes[0]
        statistic = (n - 1 - size - (p + q + 1) / 2) * ratio
        return statistic, float(p * q), float(special.chdtrc(p * q, max(statistic, 0.0))), n, Reason.TESTABLE

    def _indicators(self, cells: NDArray[np.intp], end: int) -> Floats:
        """One column for every level but the first that occurs, shape (cells, levels - 1)."""
        codes = self.codes[cells, self._column[end]]
        return np.asarray(codes[:, None] == np.unique(codes)[1:], dtype=np.float64)

    def _residual_scatter(self, cells: NDArray[np.intp], indicators: Floats, given: Sequence[int]) -> Floats:
        """Cross products of indicators, which are constant inside cells, after regression on a set."""
        columns = list(given)
        mean = np.hstack([indicators, self.mean[cells][:, columns]])
        scatter = np.zeros((len(cells), mean.shape[1], mean.shape[1]))
        k = indicators.shape[1]
        scatter[:, k:, k:] = self.scatter[cells][:, columns][:, :, columns]
        total = pooled_scatter(self.rows[cells], mean, scatter)
        if not columns:
            return total
        return np.asarray(total[:k, :k] - total[:k, k:] @ np.linalg.pinv(total[k:, k:]) @ total[k:, :k])


def prepare_several(cells: Cells, survey: Survey, kind: int) -> PreparedSeveral:
    """The tests for a table with several context variables; `survey` has the moments of every cell."""
    system, total = np.array(cells.system), len(cells.names)
    mean = np.zeros((len(survey.n), total))
    scatter = np.zeros((len(survey.n), total, total))
    mean[:, system] = survey.mean
    scatter[:, system[:, None], system] = survey.scatter
    return PreparedSeveral(survey.n, mean, scatter, cells.contexts, cells.codes, kind)


def _log_volume(scatter: Floats) -> float:
    """log det of cross products, -inf where they are singular."""
    spread = np.sqrt(np.maximum(np.diagonal(scatter), 0.0))
    if (spread <= 0.0).any():
        return -np.inf
    values = np.linalg.eigvalsh(scatter / spread[:, None] / spread)
    return float(np.log(np.maximum(values, COLLINEAR_BELOW)).sum() + 2.0 * np.log(spread).sum())
