"""Linear-Gaussian tests prepared for one table: all that is kept of the rows is a covariance matrix per context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from causalcontext.data.kinds import Kind
from causalcontext.independence.protocol import answer_in_groups
from causalcontext.kernels.levels.gaussian import (
    CONSTANT,
    CONTEXT_CHANGE,
    EVERY_CONTEXT,
    FEWEST_DF,
    FISHER,
    ONE_VIEW,
    Statistics,
    Workspace,
    answer_batch,
    workspace,
)
from causalcontext.kernels.levels.skeleton import Candidates, Records, count_votes, search_pairs
from causalcontext.questions import Outcomes, Trial

if TYPE_CHECKING:
    from causalcontext.data.dataset import Dataset
    from causalcontext.data.survey import Survey

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
OTHER_LABELS = ("partial-correlation by context", "context-change")
"""What two system variables given the context on all rows, and the context against one of them, are tested by."""
USUAL_SIZE = 10
"""Terms of LR* are computed for conditioning sets up to this size at once."""


class PreparedGaussian:
    """Partial correlation for two system variables, LR* for the context against one of them.

    Parameters
    ----------
    rows : array of int, shape (contexts,)
    mean : array of float, shape (contexts, N)
    scatter : array of float, shape (contexts, N, N)
        Centred cross products inside each context; zero in the row and column of the context variable.
    context : int
        The position of the context variable among the N, or -1.
    kind : int
        `STUDENT` or `FISHER`: how the p-value of a partial correlation is computed.
    """

    def __init__(self, rows: Ints, mean: Floats, scatter: Floats, context: int, kind: int) -> None:
        self.rows, self.mean, self.scatter = rows, mean, scatter
        self.context, self.kind = context, kind
        plain = "fisher-z" if kind == FISHER else "partial-correlation"
        self.labels = (plain, *OTHER_LABELS)
        pooled = pooled_scatter(rows, mean, scatter)
        self._scale = _scale(rows, pooled)
        self._covariance = self._all_views(pooled)
        self._by_size: dict[int, Statistics] = {}
        self._shared: Statistics | None = None
        self._fewest = int(rows.min())

    def statistics(self, size: int) -> Statistics:
        """What the kernels need for conditioning sets of `size` variables."""
        if size not in self._by_size:
            self._by_size[size] = self._make_statistics(size)
        return self._by_size[size]

    def answer(self, trials: Sequence[Trial]) -> Outcomes:
        """One outcome for every trial, in order."""
        by_size: dict[int, list[int]] = {}
        for i, trial in enumerate(trials):
            by_size.setdefault(len(trial.given) - (self.context in trial.given), []).append(i)
        return answer_in_groups(trials, by_size, self._answer_size)

    def search_pairs(self, alpha: float, level: int, first: Ints, second: Ints, slot: Ints, active: Ints,
                     candidates: Candidates, records: Records) -> Ints:  # fmt: skip
        """Search one level of the skeleton for these pairs, writing to `records`; tests on all and on some rows."""
        work = self._workspace(level, records.facts.shape[0])
        return search_pairs(self.statistics(level), alpha, level, self.context, first, second, slot, active,
                            candidates, records, work)  # fmt: skip

    def count_votes(self, alpha: float, size: int, graph: Ints, first: Ints, second: Ints, centre: Ints, offset: Ints,
                    with_context: bool, candidates: Candidates, separating: Ints, holding: Ints) -> None:  # fmt: skip
        """Add the votes of the sets with `size` system variables to `separating` and `holding`."""
        count_votes(self.statistics(size), alpha, size, self.context, graph, first, second, centre, offset,
                    with_context, candidates, separating, holding, self._workspace(size, 1))  # fmt: skip

    def _answer_size(self, size: int, trials: list[Trial]) -> Outcomes:
        """Trials with sets of one size; the mode in which the kernel answers is the place among `labels`."""
        plan = np.array([self._plan(trial) for trial in trials], dtype=np.int64).reshape(-1, 4)
        given = np.array([[z for z in trial.given if z != self.context] for trial in trials], dtype=np.int64)
        numbers = np.full((len(trials), 3), np.nan)
        facts = np.zeros((len(trials), 2), dtype=np.int64)
        answer_batch(self.statistics(size), plan[:, 0].copy(), plan[:, 1].copy(), plan[:, 2].copy(), plan[:, 3].copy(),
                     given.reshape(len(trials), size), size, self._workspace(size, 1), numbers, facts)  # fmt: skip
        for i, trial in enumerate(trials):
            if trial.where and self.context in (trial.x, trial.y):
                numbers[i], facts[i, 1] = np.nan, CONSTANT
        statistic, df, p = numbers.T
        return Outcomes(statistic, df, p, facts[:, 0], facts[:, 1].astype(np.int8), plan[:, 0].astype(np.int8))

    def _plan(self, trial: Trial) -> tuple[int, int, int, int]:
        """How the kernel answers a trial: (mode, view, x, y)."""
        view = trial.where[0][1] + 1 if trial.where else 0
        if self.context in (trial.x, trial.y):
            y = trial.y if trial.x == self.context else trial.x
            return CONTEXT_CHANGE, 0, y, y
        mode = EVERY_CONTEXT if self.context in trial.given and not trial.where else ONE_VIEW
        return mode, view, trial.x, trial.y

    def _workspace(self, size: int, graphs: int) -> Workspace:
        return workspace(self._covariance.shape[0], size, graphs)

    def _all_views(self, pooled: Floats) -> Floats:
        """Covariances of all rows and of every context, in units of the pooled standard deviations."""
        stacked = np.concatenate([pooled[None], self.scatter])
        counts = np.maximum(np.concatenate([[self.rows.sum()], self.rows]), 1)
        return np.ascontiguousarray(stacked / counts[:, None, None] / self._scale[:, None] / self._scale)

    def _make_statistics(self, size: int) -> Statistics:
        """What LR* compares are the contexts with enough rows; while all have enough, all sizes share one object."""
        if self._fewest < size + 1 + FEWEST_DF:
            usable = self.rows >= size + 1 + FEWEST_DF
            change = pooled_scatter(self.rows[usable], self.mean[usable], self.scatter[usable])
            change = change / max(int(self.rows[usable].sum()), 1) / self._scale[:, None] / self._scale
            return self._statistics(size, usable, np.ascontiguousarray(change))
        if self._shared is None or self._shared.expected.shape[1] <= size:
            self._shared = self._statistics(
                max(size, USUAL_SIZE), np.ones(self.rows.size, dtype=np.bool_), self._covariance[0]
            )
        return self._shared

    def _statistics(self, size: int, usable: NDArray[np.bool_], change: Floats) -> Statistics:
        rows = np.concatenate([[self.rows.sum()], self.rows])
        counts = np.concatenate([[self.rows[usable].sum()], np.where(usable, self.rows, 0)])
        return Statistics(
            self._covariance, rows, usable, change, int(counts[0]), _expected_terms(counts, size), self.kind
        )


def answers_gaussian(data: Dataset, trial: Trial, at_context: bool) -> bool:
    """Whether the columns of a trial are continuous; the context may be a condition, and one end if `at_context`."""
    ends = [end for end in (trial.x, trial.y) if end != data.context]
    if len(ends) < 2 and not at_context:
        return False
    return all(data.kinds[column] is Kind.CONTINUOUS for column in (*ends, *trial.given) if column != data.context)


def moments_of(prepared: object) -> PreparedGaussian | None:
    """The per-context moments that a prepared test keeps, if it does."""
    if isinstance(prepared, PreparedGaussian):
        return prepared
    found = getattr(prepared, "moments", None)
    return found if isinstance(found, PreparedGaussian) else None


def prepare_gaussian(data: Dataset, survey: Survey, kind: int) -> PreparedGaussian:
    """The prepared test for a table, with the context variable at its own position among the columns.

    Two categories are the numbers 0 and 1, ordered ones 0, 1, 2, ...; a categorical column with more of them, which has
    no moments, counts as constant.
    """
    system = np.array(data.system)
    total = len(data.names)
    mean = np.zeros((len(survey.n), total))
    scatter = np.zeros((len(survey.n), total, total))
    mean[:, system] = survey.mean
    scatter[:, system[:, None], system] = survey.scatter
    named = [position for position in data.categories if data.kinds[position] is Kind.CATEGORICAL]
    several = [position for position in named if len(data.categories[position]) > 2]
    mean[:, several], scatter[:, several], scatter[:, :, several] = 0.0, 0.0, 0.0
    return PreparedGaussian(survey.n, mean, scatter, -1 if data.context is None else data.context, kind)


def pooled_scatter(rows: Ints, mean: Floats, scatter: Floats) -> Floats:
    """Centred cross products over all contexts: inside them, plus between them."""
    centre = rows @ mean / max(int(rows.sum()), 1)
    away = mean - centre
    between: Floats = np.einsum("r,ri,rj->ij", rows.astype(np.float64), away, away)
    return np.asarray(scatter.sum(axis=0) + between)


def _scale(rows: Ints, pooled: Floats) -> Floats:
    """Pooled standard deviations; 1 where there is none."""
    variance = np.diagonal(pooled) / max(int(rows.sum()), 1)
    return np.where(variance > 0.0, np.sqrt(np.maximum(variance, 0.0)), 1.0)


def _expected_terms(counts: Ints, size: int) -> Floats:
    """n (ψ((n - rank - 1) / 2) + log(2 / n)) for every view and rank up to `size`; zero where n is too small."""
    n = counts[:, None].astype(np.float64)
    half = (n - 1.0 - np.arange(size + 1)) / 2.0
    safe = half > 0.0
    terms = n * (digamma(np.where(safe, half, 1.0)) + np.log(2.0 / np.maximum(n, 1.0)))
    return np.where(safe, terms, 0.0)
