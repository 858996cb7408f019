"""Would a hidden process that drives several columns describe a series of straight lines and
Gaussian noise better?

The process remembers its last value, H(t) = a H(t-1) + noise, and acts on its children at time t or
a step later: given the past, their errors are those of a factor model over time, whose likelihood
is that of a Kalman filter. Without memory (a = 0) it is the correlated errors of a table, of equal
times or of neighbouring ones. Models are climbed by structural EM (Friedman 1997): the expected
moments of the window with H(t) and H(t-1) among its columns, then the same moves and prices as
without (`correlated_errors`), from every pair of columns with links between them, taken away.

The filter is the steady one throughout, and the series a ring, in which the first value follows the
last. Both are models with a likelihood of their own, so that the comparison stays fair; across
gaps, and from unit to unit of a panel, they only cost power.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, log1p, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.signal import lfilter

from causalcontext.data.moments import Moments
from causalcontext.diagnostics.correlated_errors import (
    EquationClimb,
    EquationColumns,
    StraightEquations,
)
from causalcontext.diagnostics.settings import (
    CLIMB_CONVERGED,
    LONGEST_MEMORY,
    MOST_COMPARISON_WORK,
    MOST_DRIVER_CLIMBS,
    MOST_DRIVER_PRODUCTS,
    MOST_DRIVER_ROWS,
    MOST_DRIVER_STEPS,
    MOST_PROCESSES,
    NEAR_BEST,
    SMALLEST_INFORMATION,
    START_MEMORY,
    START_SHARE,
)
from causalcontext.graphs.endpoints import adjacent, directed
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.limits import SAME_COLUMN_BELOW
from causalcontext.model_checks.violations import CURVES, INTERACTIONS
from causalcontext.results.equations import NUMBER, Mechanisms
from causalcontext.results.evidence import HiddenSuspicion
from causalcontext.results.violations import violations_of
from causalcontext.score.options import ScoreOptions
from causalcontext.timeseries.tested import cells_read

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs
    from causalcontext.timeseries.windows import SeriesWindows


BENT = (CURVES, INTERACTIONS)

LineTerm = tuple[int, tuple[int, ...]]
"""A cause, and the contexts in which it acts along one line."""


@dataclass(frozen=True)
class SeriesEquations:
    """Straight equations of a window, and the rows that they are about.

    The last two numbers of `given` are H(t) and H(t-1), with moments of 0; `free` are numbers at
    time t.
    """

    given: StraightEquations
    # shape (rows, numbers but the last two): in the order of time, in standard units
    values: Floats
    codes: Ints  # shape (rows,): the context of every row
    process: tuple[int, ...]  # the column of the table that every number is, at whatever lag


class DrivenModel(NamedTuple):
    """Equations without the hidden process, its children with the lag at which it acts, its memory,
    and the score.
    """

    columns: tuple[EquationColumns, ...]
    children: Mapping[int, int]
    memory: float
    score: float


class DriverComparison(NamedTuple):
    """The comparison of models with a hidden process with all models without one.

    `columns` are the equations of the best model without, `base` its score, `better` the clearly
    better ones with a process, the best first. `left` are the pairs of columns of the table that
    were not asked: there were too many.
    """

    columns: tuple[EquationColumns, ...]
    base: float
    better: tuple[DrivenModel, ...]
    left: tuple[frozenset[int], ...] = ()


class DriverStart(NamedTuple):
    """A model to start from: equations without the links between two columns of the table.

    `children` has, by each of the two, the lag at which the process acts on it and the loading;
    `correlation` is that of their errors, by which starts are ordered.
    """

    columns: tuple[EquationColumns, ...]
    children: Mapping[int, tuple[int, float]]
    correlation: float


class SmoothedState(NamedTuple):
    """The distribution of the hidden process given all rows.

    `mean` has shape (rows,); variance and covariance are the same at all times, since the filter is
    steady. `likelihood` is that of the errors.
    """

    mean: Floats
    variance: float
    neighbours: float  # the covariance of H(t) and H(t-1)
    likelihood: float


def compare_hidden_drivers(series: SeriesEquations) -> DriverComparison:
    """The models with a hidden process that beat every model without one.

    Starts with the most correlated errors come first. A model counts if its score exceeds that of
    the best model without a process by `NEAR_BEST`, where climbs without one start from its
    equations as well: what its links alone gain is no sign of a process.
    """
    climb = EquationClimb(series.given)
    base = best = climb.up(series.given.columns, ())
    driven_models: list[DrivenModel] = []
    left: list[frozenset[int]] = []
    for start in sorted(_starts(series, climb, base.columns), key=lambda start: -start.correlation):
        if climb.work > MOST_COMPARISON_WORK:
            left.append(frozenset(series.process[v] for v in start.children))
            continue
        driven = [
            model
            for memory in (START_MEMORY, 0.0)
            if (model := _Driven(series, climb, start, memory).up()) is not None
        ]
        if driven:
            driven_models.append(max(driven, key=lambda model: model.score))
            best = max(best, climb.up(driven_models[-1].columns, ()), key=lambda model: model.score)
    better = sorted(
        (model for model in driven_models if model.score > best.score + NEAR_BEST),
        key=lambda model: -model.score,
    )
    return DriverComparison(base.columns, best.score, tuple(better), tuple(left))


def _starts(
    series: SeriesEquations, climb: EquationClimb, columns: tuple[EquationColumns, ...]
) -> Iterator[DriverStart]:
    """The models to start from: every pair of columns of the table with links between them, taken
    away.

    The process acts on both at once, or on one of them a step later, whichever has the largest
    correlation of the errors; loadings start at `START_SHARE` of their deviations.
    """
    process = series.process
    rows = _columns(series, climb)
    for pair in combinations(_drivable(series), 2):
        ends = {process[v] for v in pair}
        start = tuple(
            frozenset(
                column
                for column in equation
                if v not in pair
                or column[0] >= len(process)
                or process[column[0]] == process[v]
                or process[column[0]] not in ends
            )
            for v, equation in enumerate(columns)
        )
        if start == columns:
            continue
        x, y = (rows @ climb.fit_alone(v, start[v])[1] for v in pair)
        if min(x.std(), y.std()) < sqrt(SMALLEST_INFORMATION):  # others determine it
            continue
        products = {(0, 0): x @ y, (1, 0): np.roll(x, -1) @ y, (0, 1): x @ np.roll(y, -1)}
        lags = max(products, key=lambda key: abs(products[key]))
        sign = 1.0 if products[lags] > 0 else -1.0
        loadings = {
            pair[0]: (lags[0], START_SHARE * x.std()),
            pair[1]: (lags[1], sign * START_SHARE * y.std()),
        }
        yield DriverStart(start, loadings, float(abs(products[lags]) / (x.std() * y.std())))


def _drivable(series: SeriesEquations) -> list[int]:
    """The numbers at time t whose equation may change, and whose noise is the same in all
    contexts.
    """
    given = series.given
    now = len(series.process)
    even = np.ptp(given.noise / given.noise[:, :1], axis=1) < SMALLEST_INFORMATION
    return [v for v in np.flatnonzero(given.free & even).tolist() if v < now]


def _columns(series: SeriesEquations, climb: EquationClimb) -> Floats:
    """The columns of all equations in every row, shape (rows, columns).

    The hidden process is 0 here: it is a part of the errors.
    """
    rows = len(series.values)
    numbers = np.column_stack([series.values, np.zeros((rows, 2)), np.ones(rows)])
    lives = {mask: (mask >> series.codes) & 1 for mask in climb.masks}
    return np.column_stack([numbers[:, v] * lives[mask] for v, mask in climb.place])


class _Driven:
    """A climb with a hidden process by structural EM; without memory if it starts without.

    Attributes
    ----------
    columns : the equations without the process
    lag, loading : by child, the lag at which the process acts on it, and its slope
    errors : by child, shape (rows,), its error with the process as a part of it
    left : by child, the variance of the error without the process
    memory, fresh : a, and the variance of the noise of H(t) = a H(t-1) + noise; H has variance 1
    """

    def __init__(
        self, series: SeriesEquations, climb: EquationClimb, start: DriverStart, memory: float
    ) -> None:
        columns = start.columns
        children = start.children
        self.series = series
        self.columns = columns
        self.white = memory == 0.0
        self.process = len(series.process)
        self.rows = _columns(series, climb)
        may = series.given.may.copy()
        may[np.ix_([self.process, self.process + 1], _drivable(series))] = True
        self.given = replace(series.given, may=may)
        self.climb = self.without = climb
        self.memory = memory
        self.fresh = 1.0 - memory**2
        self.lag = {child: lag for child, (lag, _) in children.items()}
        self.loading = {child: loading for child, (_, loading) in children.items()}
        self.errors: dict[int, Floats] = {
            child: self.rows @ climb.fit_alone(child, columns[child])[1] for child in children
        }
        self.left = {
            child: (1.0 - START_SHARE**2) * float(error.var())
            for child, error in self.errors.items()
        }

    def up(self) -> DrivenModel | None:
        """The best model on the way; None if the process loses its children at once."""
        best: DrivenModel | None = None
        for _ in range(MOST_DRIVER_CLIMBS):
            score = self.converge()
            if best is not None and score < best.score + CLIMB_CONVERGED:
                break
            best = DrivenModel(self.columns, dict(self.lag), self.memory, score)
            if not self.move():
                break
        return best

    def converge(self) -> float:
        """The score before the last step of EM with the same columns.

        A step smooths the process behind the errors, makes it a column of the window (`expect`),
        and fits the equations of its children with that column (`fit`).
        """
        score = -np.inf
        order = sorted(self.lag)
        for _ in range(MOST_DRIVER_STEPS):
            shifted = np.stack([np.roll(self.errors[child], -self.lag[child]) for child in order])
            loading, left = (
                np.array([by_child[child] for child in order])
                for by_child in (self.loading, self.left)
            )
            state = smoothed_process(shifted, loading, left, self.memory, self.fresh)
            before = score
            score = self.score(state)
            self.expect(state)
            self.fit()
            if not score > before + CLIMB_CONVERGED:
                break
        return score

    def score(self, state: SmoothedState) -> float:
        """The log-likelihood less the price of columns, loadings and memory.

        With memory a process costs one parameter a child and one for the memory; without, it is a
        set of correlations, m (m - 1) / 2 of them.
        """
        climb = self.climb
        m = len(self.lag)
        alone = sum(climb.score_alone(v, self.columns[v]) for v in climb.nodes if v not in self.lag)
        parameters = m * (m - 1) // 2 if self.white else m + 1
        priced = sum(climb.price(self.columns[child]) for child in self.lag)
        return float(
            alone
            + state.likelihood
            + 0.5 * m * climb.n
            - priced
            - parameters * climb.cost[climb.everywhere]
        )

    def expect(self, state: SmoothedState) -> None:
        """Take the expected moments of the window with H(t) and H(t-1), which gets a variance of 1.

        The moments of the smoothed mean are too small by the variance that is unknown, which is
        added: by the variance at the diagonal, by the covariance of neighbours beside it. The
        memory is the expected correlation of neighbours.
        """
        rows = len(state.mean)
        mean = state.mean - state.mean.mean()
        square = float(mean @ mean) / rows + state.variance
        neighbours = float(mean[1:] @ mean[:-1]) / (rows - 1) + state.neighbours
        if not self.white:
            self.memory = float(np.clip(neighbours / square, -LONGEST_MEMORY, LONGEST_MEMORY))
        self.fresh = 1.0 - self.memory**2
        mean /= sqrt(square)
        table = np.column_stack([self.series.values, mean, np.roll(mean, 1)])
        moments = Moments.of_rows(table, self.series.codes, len(self.series.given.moments.rows))
        ends = [self.process, self.process + 1]
        scatter = moments.scatter
        unknown = (
            np.array([[state.variance, state.neighbours], [state.neighbours, state.variance]])
            / square
        )
        scatter[np.ix_(range(len(scatter)), ends, ends)] += moments.rows[:, None, None] * unknown
        self.climb = EquationClimb(replace(self.given, moments=moments), self.without, ends)

    def fit(self) -> None:
        """Fit the equations of the children with the hidden process among their causes.

        The loading is the slope of the process; the error keeps it as a part.
        """
        for child, lag in self.lag.items():
            with_process = self.columns[child] | {(self.process + lag, self.climb.everywhere)}
            score, error = self.climb.fit_alone(child, with_process)
            error = error.copy()
            self.loading[child] = -float(
                error[self.climb.place[self.process + lag, self.climb.everywhere]]
            )
            error[
                [
                    i
                    for (v, _), i in self.without.place.items()
                    if v in (self.process, self.process + 1)
                ]
            ] = 0.0
            self.errors[child] = self.rows @ error
            self.left[child] = max(
                exp(-2.0 * (score + self.climb.price(with_process)) / self.climb.n),
                SMALLEST_INFORMATION,
            )

    def move(self) -> bool:
        """True after taking other causes, or other children, that are better with the expected
        process.

        A process with fewer than two children is none.
        """
        every = self.climb.everywhere
        ends = (self.process, self.process + 1)
        now = tuple(
            equation | {(self.process + self.lag[v], every)} if v in self.lag else equation
            for v, equation in enumerate(self.columns)
        )
        equations = self.climb.up(now, (), around=sorted(self.lag)).columns
        columns = tuple(
            frozenset(column for column in equation if column[0] not in ends)
            for equation in equations
        )
        lags = {
            v: min(lags)
            for v, equation in enumerate(equations)
            if (lags := [cause - self.process for cause, _ in equation if cause in ends])
        }
        if len(lags) < 2 or (columns == self.columns and lags == self.lag):
            return False
        self.columns = columns
        self.lag = lags
        self.fit()
        return True


def smoothed_process(
    errors: Floats, loading: Floats, left: Floats, memory: float, fresh: float
) -> SmoothedState:
    """The hidden process behind errors, by the steady Kalman filter and smoother.

    With told = sum loading^2 / left, the information of one time, the variance P of a prediction
    solves P = a^2 P / (1 + P told) + fresh. The first value of the process has this variance, too.
    Filter and smoother then are two linear recursions, so that the time is linear in the rows.

    Parameters
    ----------
    errors : shape (children, rows), `loading` times the process, and noise
    loading, left : shape (children,), slopes, and variances of the noise
    memory, fresh : of H(t) = memory H(t-1) + noise of variance fresh
    """
    information = float((loading**2 / left).sum())
    # the variance of a prediction that a step forward leaves as it is: P = a^2 P / (1 + P told) +
    # fresh
    half = 0.5 * (1.0 - memory**2 - fresh * information)
    spread = fresh / max(1.0 - memory**2, SMALLEST_INFORMATION)
    if not information < SMALLEST_INFORMATION:
        spread = (-half + sqrt(half**2 + information * fresh)) / information
    gain = spread / (1.0 + spread * information)
    weighted = (loading / left) @ errors
    ahead = np.concatenate(
        [
            [0.0],
            lfilter([memory * gain], [1.0, -memory * (1.0 - gain * information)], weighted)[:-1],
        ]
    )
    filtered = ahead + gain * (weighted - information * ahead)
    off = errors - loading[:, None] * ahead
    surprise = (loading / left) @ off
    squares = float((off**2 / left[:, None]).sum() - gain * surprise @ surprise)
    rows = errors.shape[1]
    likelihood = -0.5 * (rows * (float(np.log(left).sum()) + log1p(spread * information)) + squares)
    back = memory * gain / spread
    change = filtered * (1.0 - back * memory)
    change[-1] = filtered[-1]
    mean = lfilter([1.0], [1.0, -back], change[::-1])[::-1]
    variance = (gain - back**2 * spread) / (1.0 - back**2)
    return SmoothedState(np.array(mean), variance, back * variance, likelihood)


def suspected_drivers(result: ContextGraphs) -> HiddenSuspicion:
    """The links of a result with lags behind which a hidden process may stand.

    Beside these stand the links that could be asked about, and sentences on those that could not.
    """
    windows = result.windowed
    if windows is None or windows.of_all is not None:
        return HiddenSuspicion(
            why_not="hidden common causes over time need the rows, which this result does not have"
        )
    series = _series_equations(result, windows)
    if isinstance(series, str):
        return HiddenSuspicion(why_not=series)
    comparison = compare_hidden_drivers(series)
    numbers = [v for v in range(len(result.names)) if _is_number(windows, v)]
    asked = _asked_links(result, series, comparison, numbers)
    suspected = _dropped_links(comparison, numbers)
    missing = []
    if len(_drivable_links(result, series, numbers)) < int(np.triu(result.union.adjacency).sum()):
        missing.append(
            "with lags links at contexts and categories, and into columns with uneven spreads, or"
            " with an equation for some contexts alone, are not asked about"
        )
    if comparison.left:
        missing.append(
            f"{len(comparison.left)} pairs of columns, those whose errors are the least correlated,"
            " were not asked about, since all of them would take too long"
        )
    return HiddenSuspicion(
        _by_name(result, suspected & asked), _by_name(result, asked), "; ".join(missing)
    )


def _drivable_links(
    result: ContextGraphs, series: SeriesEquations, numbers: list[int]
) -> set[tuple[int, int]]:
    """The links between numbers, into those that a process may drive, the lower position first."""
    free = {numbers[v] for v in _drivable(series)}
    links = np.argwhere(np.triu(result.union.adjacency)).tolist()
    return {(x, y) for x, y in links if y in free and x in numbers}


def _asked_links(
    result: ContextGraphs,
    series: SeriesEquations,
    comparison: DriverComparison,
    numbers: list[int],
) -> set[tuple[int, int]]:
    """The links of which a comparison had a pair of columns that was not left out."""
    column = dict(zip(numbers, series.process, strict=True))
    asked = set()
    for x, y in _drivable_links(result, series, numbers):
        columns = {column[x], column[y]}
        if not any(columns <= pair for pair in comparison.left):
            asked.add((x, y))
    return asked


def _dropped_links(comparison: DriverComparison, numbers: list[int]) -> set[tuple[int, int]]:
    """The links between numbers that models with a hidden process have not.

    Models nearly as good as the best one count as well (`NEAR_BEST`).
    """
    dropped = set()
    for model in comparison.better:
        if model.score < comparison.better[0].score - NEAR_BEST:
            break
        for effect, columns in enumerate(comparison.columns):
            kept = {cause for cause, _ in model.columns[effect]}
            gone = {cause for cause, _ in columns if cause < len(numbers)} - kept
            for cause in gone:
                ends = numbers[cause], numbers[effect]
                dropped.add((min(ends), max(ends)))
    return dropped


def _by_name(result: ContextGraphs, pairs: set[tuple[int, int]]) -> tuple[tuple[str, str], ...]:
    """The pairs by name, each in the order of the alphabet."""
    ends = (sorted((result.names[x], result.names[y])) for x, y in sorted(pairs))
    return tuple((first, second) for first, second in ends)


def _is_number(windows: SeriesWindows, node: int) -> bool:
    """True for a node of a window that is a number and no context."""
    return windows.scored.kinds[node].is_number and not windows.window.is_context(node)


def _series_equations(result: ContextGraphs, windows: SeriesWindows) -> SeriesEquations | str:
    """The equations of the numbers of a window, or the reason why there are none.

    Numbers are in standard units. Of long series the last `MOST_DRIVER_ROWS` rows are taken.
    """
    table = windows.scored
    window = windows.window
    numbers = [v for v in range(len(result.names)) if _is_number(windows, v)]
    if len(window.now) > MOST_PROCESSES:
        return f"with lags models of more than {MOST_PROCESSES} columns are not compared"
    if _bent(result, window.now):
        return "with lags links are asked about where all equations are straight lines"
    straight = _straight_terms(result, window.now, numbers)
    k = len(table.contexts.cells)
    p = len(numbers) + 2
    if len(straight) * (len(straight) - 1) // 2 * k * ((k + 1) * p) ** 2 > MOST_DRIVER_PRODUCTS:
        return (
            f"with lags models of {len(window.now)} columns in {k} combinations of contexts are not"
            " compared"
        )
    values = np.column_stack([np.asarray(table.columns[v], dtype=np.float64) for v in numbers])
    rows = values[-MOST_DRIVER_ROWS:]
    spread = rows.std(axis=0)
    if (spread < SAME_COLUMN_BELOW).any() or not np.isfinite(rows).all():
        return "with lags columns that hardly vary, or with missing cells, are not compared"
    codes = np.zeros(len(rows), dtype=np.int64)
    if table.contexts.positions:
        codes = table.codes[-MOST_DRIVER_ROWS:].astype(np.int64)
    standard = (rows - rows.mean(axis=0)) / spread
    moments = Moments.of_rows(np.column_stack([standard, np.zeros((len(rows), 2))]), codes, k)
    given = _given_equations(result, windows, numbers, straight, moments)
    names = [split(result.names[v])[0] for v in numbers]
    return SeriesEquations(given, standard, codes, tuple(names.index(name) for name in names))


def _straight_terms(
    result: ContextGraphs, now: Sequence[int], numbers: list[int]
) -> dict[int, tuple[list[LineTerm], list[tuple[int, ...]]]]:
    """The terms and shifts of the numbers at time t whose causes are all numbers."""
    straight = {}
    for v in now:
        terms = _terms(result, v) if v in numbers else None
        if terms is not None and all(cause in numbers for cause, _ in terms[0]):
            straight[v] = terms
    return straight


def _given_equations(
    result: ContextGraphs,
    windows: SeriesWindows,
    numbers: list[int],
    straight: Mapping[int, tuple[list[LineTerm], list[tuple[int, ...]]]],
    moments: Moments,
) -> StraightEquations:
    """The straight equations by the places of numbers; H(t) and H(t-1) are the last two, then the
    context.
    """
    place_of = {v: i for i, v in enumerate(numbers)}
    k = len(windows.scored.contexts.cells)
    p = len(numbers) + 2
    columns: list[EquationColumns] = [frozenset()] * (p + 1)
    free = np.zeros(p + 1, dtype=bool)
    links = np.zeros((k, p + 1, p + 1), dtype=bool)
    may = np.zeros((p + 1, p + 1), dtype=bool)
    must = np.zeros((p + 1, p + 1), dtype=bool)
    known = windows.links(result.settings.knowledge)
    for v, (terms, shifts) in straight.items():
        effect = place_of[v]
        free[effect] = True
        slopes = {(place_of[x], _mask(result, windows, v, contexts)) for x, contexts in terms}
        levels = {(p, _mask(result, windows, v, contexts)) for contexts in shifts}
        columns[effect] = frozenset(slopes | levels)
        may[: len(numbers), effect] = known.may[numbers, v]
        must[: len(numbers), effect] = known.must[numbers, v]
        for cause, mask in columns[effect]:
            links[:, cause, effect] |= [bool(mask >> r & 1) for r in range(k)]
    penalty = ScoreOptions().penalty if result.evidence is None else result.evidence.penalty
    noise = np.ones((p + 1, k))
    extra = ScoreOptions().parent_price(len(result.names))
    return StraightEquations(
        moments, tuple(columns), free, may, must, links, noise, 0.5 * penalty, extra
    )


def _bent(result: ContextGraphs, now: Sequence[int]) -> bool:
    """True if a number has a curve; after a search by tests, if there is a sign of one.

    A test that declares a trait does not take mechanisms for straight lines.
    """
    evidence = result.evidence
    if evidence is None or evidence.mechanisms is None:
        has_sign = any(violation.kind in BENT for violation in violations_of(result))
        return bool(result.settings.test_traits) or has_sign
    scales = evidence.mechanisms.scales
    for equation in evidence.mechanisms.equations:
        if equation.effect not in now or scales[equation.effect].kind != NUMBER:
            continue
        curves = [term for term in equation.terms if term.kind != "linear"]
        if scales[equation.effect].scores or any(
            scales[term.causes[0]].is_number for term in curves
        ):
            return True
    return False


def _terms(
    result: ContextGraphs, effect: int
) -> tuple[list[LineTerm], list[tuple[int, ...]]] | None:
    """The causes of a number with their contexts, and the groups of contexts with intercepts of
    their own.

    None if the number has not just one equation, or one that is not straight.
    """
    evidence = result.evidence
    if evidence is not None and evidence.mechanisms is not None:
        return _terms_of_equation(evidence.mechanisms, effect, len(result.contexts))
    return _terms_of_links(result, effect)


def _terms_of_equation(
    mechanisms: Mechanisms, effect: int, contexts: int
) -> tuple[list[LineTerm], list[tuple[int, ...]]] | None:
    """As `_terms`, after a search by scores."""
    equations = [equation for equation in mechanisms.equations if equation.effect == effect]
    if len(equations) != 1:
        return None
    equation = equations[0]
    is_everywhere = len(equation.intercepts) == contexts
    if equation.kind != NUMBER or equation.spread or not is_everywhere:
        return None
    groups: dict[tuple[float, ...], list[int]] = {}
    for r, intercept in enumerate(equation.intercepts):
        groups.setdefault(intercept, []).append(r)
    terms = [(term.causes[0], term.contexts) for term in equation.terms]
    return terms, [tuple(group) for group in groups.values()][1:]


def _terms_of_links(
    result: ContextGraphs, effect: int
) -> tuple[list[LineTerm], list[tuple[int, ...]]]:
    """As `_terms`, after a search by tests, which knows links and no slopes.

    Causes are the links into a number, and of open ones those from earlier positions. Every context
    has an intercept of its own if the number reads the context.
    """
    assert result.windowed is not None
    ends = np.stack([graph.endpoints for graph in result.graphs.values()])
    arrows = directed(ends)
    near = adjacent(ends)
    order = np.arange(ends.shape[-1])
    open_from_left = near[:, :, effect] & ~arrows[:, effect, :] & (order < effect)
    causes = arrows[:, :, effect] | open_from_left
    terms = []
    for x in np.flatnonzero(causes.any(axis=0)).tolist():
        if _is_number(result.windowed, x):
            terms.append((x, tuple(np.flatnonzero(causes[:, x]).tolist())))
    series = result.series
    reads = series is not None and series.reads.get(result.names[effect]) is not None
    return terms, [(r,) for r in range(1, len(ends))] if reads else []


def _mask(
    result: ContextGraphs, windows: SeriesWindows, effect: int, contexts: Sequence[int]
) -> int:
    """The bit mask of the cells of windows in which an effect reads one of some context values.

    Which cells these are depends on the copy of the context, R(t) or R(t-1), that the effect reads.
    """
    everywhere = len(contexts) == len(result.contexts)
    series = result.series
    copy = None if series is None else series.reads.get(result.names[effect])
    cells = {c for r in contexts for c in cells_read(windows, windows.scored, copy, r, everywhere)}
    return sum(1 << c for c in cells)
