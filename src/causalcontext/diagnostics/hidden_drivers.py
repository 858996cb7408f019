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
    ENOUGH,
    MOST_WORK,
    Columns,
    EquationClimb,
    StraightEquations,
)
from causalcontext.graphs.endpoints import adjacent, directed
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.kernels.limits import SAME_COLUMN_BELOW
from causalcontext.model_checks.violations import CURVES, INTERACTIONS
from causalcontext.results.equations import NUMBER
from causalcontext.results.evidence import HiddenSuspicion
from causalcontext.results.violations import violations_of
from causalcontext.score.options import ScoreOptions
from causalcontext.timeseries.tested import cells_read

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs
    from causalcontext.timeseries.windows import SeriesWindows

START_MEMORY = 0.7
START_SHARE = 0.6
"""Where a climb starts: the memory, and the loading in standard deviations of the errors of a
child.
"""
LONGEST_MEMORY = 0.98
MOST_STEPS = 12
MOST_CLIMBS = 6
CONVERGED = 0.02
SMALLEST = 1e-6
MOST_PROCESSES = 12
MOST_ROWS = 5000
"""With more columns models take long; of longer series the last rows are compared."""
MOST_PRODUCTS = 15_000_000
"""Products of columns, of all contexts at all lags, for one step from every pair."""

BENT = (CURVES, INTERACTIONS)

Term = tuple[int, tuple[int, ...]]
"""A cause, and the contexts in which it acts along one line."""


@dataclass(frozen=True)
class SeriesEquations:
    """Straight equations of a window, and the rows that they are about.

    The last two numbers of `given` are H(t) and H(t-1), with moments of 0; `free` are numbers at
    time t.
    """

    given: StraightEquations
    values: (
        Floats  # shape (rows, numbers but the last two): in the order of time, in standard units
    )
    codes: Ints  # shape (rows,): the context of every row
    process: tuple[int, ...]  # of every number, which column of the table it is, at whatever lag


class DrivenModel(NamedTuple):
    """Equations without the hidden process, its children with the lag at which it acts, its memory,
    and the score.
    """

    columns: tuple[Columns, ...]
    children: Mapping[int, int]
    memory: float
    score: float


class DriverComparison(NamedTuple):
    """The equations of the best model without a hidden process, its score, and the clearly better
    ones, best first.

    `left` are the pairs of columns of the table that were not asked: there were too many.
    """

    columns: tuple[Columns, ...]
    base: float
    better: tuple[DrivenModel, ...]
    left: tuple[frozenset[int], ...] = ()


class DriverStart(NamedTuple):
    """Equations without the links between two columns of the table, the lags and loadings that
    replace them.

    `correlation` is that of the errors of the two.
    """

    columns: tuple[Columns, ...]
    children: Mapping[int, tuple[int, float]]
    correlation: float


class SmoothedState(NamedTuple):
    """What is known of the hidden process given all rows, and the log-likelihood of the errors."""

    mean: Floats
    variance: float
    neighbours: float  # the covariance of H(t) and H(t-1)
    likelihood: float


def compare_hidden_drivers(series: SeriesEquations) -> DriverComparison:
    """The models with a hidden process that beat every model without one."""
    climb = EquationClimb(series.given)
    base = best = climb.up(series.given.columns, ())
    found: list[DrivenModel] = []
    left: list[frozenset[int]] = []
    for start in sorted(_starts(series, climb, base.columns), key=lambda start: -start.correlation):
        if climb.work > MOST_WORK:
            left.append(frozenset(series.process[v] for v in start.children))
            continue
        driven = [
            model
            for memory in (START_MEMORY, 0.0)
            if (model := _Driven(series, climb, start, memory).up()) is not None
        ]
        if driven:
            found.append(max(driven, key=lambda model: model.score))
            best = max(best, climb.up(found[-1].columns, ()), key=lambda model: model.score)
    better = sorted(
        (model for model in found if model.score > best.score + ENOUGH),
        key=lambda model: -model.score,
    )
    return DriverComparison(base.columns, best.score, tuple(better), tuple(left))


def _starts(
    series: SeriesEquations, climb: EquationClimb, columns: tuple[Columns, ...]
) -> Iterator[DriverStart]:
    """What to start from: every pair of columns of the table with links between them, taken
    away.
    """
    process = series.process
    rows = _columns(series, climb)
    for pair in combinations(_drivable(series), 2):
        ends = {process[v] for v in pair}
        start = tuple(
            frozenset(
                one
                for one in own
                if v not in pair
                or one[0] >= len(process)
                or process[one[0]] == process[v]
                or process[one[0]] not in ends
            )
            for v, own in enumerate(columns)
        )
        if start == columns:
            continue
        x, y = (rows @ climb.fit_alone(v, start[v])[1] for v in pair)
        if min(x.std(), y.std()) < sqrt(SMALLEST):  # others determine it
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
    """Numbers whose equation may change, and whose noise is the same in all contexts."""
    given = series.given
    now = len(series.process)
    even = np.ptp(given.noise / given.noise[:, :1], axis=1) < SMALLEST
    return [v for v in np.flatnonzero(given.free & even).tolist() if v < now]


def _columns(series: SeriesEquations, climb: EquationClimb) -> Floats:
    """The columns of all equations in every row, the hidden process being 0, a part of the
    errors.
    """
    rows = len(series.values)
    numbers = np.column_stack([series.values, np.zeros((rows, 2)), np.ones(rows)])
    lives = {mask: (mask >> series.codes) & 1 for mask in climb.masks}
    return np.column_stack([numbers[:, v] * lives[mask] for v, mask in climb.place])


class _Driven:
    """A climb with a hidden process; without memory if it starts without."""

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
            child: (1.0 - START_SHARE**2) * float(own.var()) for child, own in self.errors.items()
        }

    def up(self) -> DrivenModel | None:
        """The best model on the way; None if the process loses its children at once."""
        best: DrivenModel | None = None
        for _ in range(MOST_CLIMBS):
            score = self.converge()
            if best is not None and score < best.score + CONVERGED:
                break
            best = DrivenModel(self.columns, dict(self.lag), self.memory, score)
            if not self.move():
                break
        return best

    def converge(self) -> float:
        """EM with the same columns; the score before its last step."""
        score = -np.inf
        order = sorted(self.lag)
        for _ in range(MOST_STEPS):
            shifted = np.stack([np.roll(self.errors[child], -self.lag[child]) for child in order])
            loading, left = (
                np.array([one[child] for child in order]) for one in (self.loading, self.left)
            )
            state = smoothed_process(shifted, loading, left, self.memory, self.fresh)
            before = score
            score = self.score(state)
            self.expect(state)
            self.fit()
            if not score > before + CONVERGED:
                break
        return score

    def score(self, state: SmoothedState) -> float:
        """The log-likelihood less the price of columns, loadings and memory; of no memory, of
        correlations.
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
        """Memory and expected moments of the window with H(t) and H(t-1), which gets a variance of
        1.
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
        """The equations of the children with the hidden process among their causes."""
        for child, lag in self.lag.items():
            own = self.columns[child] | {(self.process + lag, self.climb.everywhere)}
            score, error = self.climb.fit_alone(child, own)
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
                exp(-2.0 * (score + self.climb.price(own)) / self.climb.n), SMALLEST
            )

    def move(self) -> bool:
        """Whether other causes, or other children, are better with the process as it is expected;
        they are taken.
        """
        every = self.climb.everywhere
        ends = (self.process, self.process + 1)
        now = tuple(
            own | {(self.process + self.lag[v], every)} if v in self.lag else own
            for v, own in enumerate(self.columns)
        )
        found = self.climb.up(now, (), around=sorted(self.lag)).columns
        columns = tuple(frozenset(one for one in own if one[0] not in ends) for own in found)
        lags = {
            v: min(lags)
            for v, own in enumerate(found)
            if (lags := [cause - self.process for cause, _ in own if cause in ends])
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
    """The hidden process behind errors, shape (children, rows): `loading` times it, and noise of
    variances `left`.

    The steady Kalman filter and smoother, so that the first value of the process has the variance
    of a prediction.
    """
    told = float((loading**2 / left).sum())
    # the variance of a prediction that a step forward leaves as it is: P = a^2 P / (1 + P told) +
    # fresh
    half = 0.5 * (1.0 - memory**2 - fresh * told)
    spread = fresh / max(1.0 - memory**2, SMALLEST)
    if not told < SMALLEST:
        spread = (-half + sqrt(half**2 + told * fresh)) / told
    gain = spread / (1.0 + spread * told)
    weighted = (loading / left) @ errors
    ahead = np.concatenate(
        [[0.0], lfilter([memory * gain], [1.0, -memory * (1.0 - gain * told)], weighted)[:-1]]
    )
    filtered = ahead + gain * (weighted - told * ahead)
    off = errors - loading[:, None] * ahead
    surprise = (loading / left) @ off
    squares = float((off**2 / left[:, None]).sum() - gain * surprise @ surprise)
    rows = errors.shape[1]
    likelihood = -0.5 * (rows * (float(np.log(left).sum()) + log1p(spread * told)) + squares)
    back = memory * gain / spread
    change = filtered * (1.0 - back * memory)
    change[-1] = filtered[-1]
    mean = lfilter([1.0], [1.0, -back], change[::-1])[::-1]
    variance = (gain - back**2 * spread) / (1.0 - back**2)
    return SmoothedState(np.array(mean), variance, back * variance, likelihood)


def suspected_drivers(result: ContextGraphs) -> HiddenSuspicion:
    """The links of a result with lags behind which a hidden process may stand, and those that could
    be asked about.
    """
    windows = result.windowed
    if windows is None or windows.of_all is not None:
        return HiddenSuspicion(
            why_not="hidden common causes over time need the rows, which this result does not have"
        )
    series = _series_equations(result, windows)
    if isinstance(series, str):
        return HiddenSuspicion(why_not=series)
    found = compare_hidden_drivers(series)
    numbers = [v for v in range(len(result.names)) if _is_number(windows, v)]
    free = {numbers[v] for v in _drivable(series)}
    links = {
        (x, y)
        for x, y in np.argwhere(np.triu(result.union.adjacency)).tolist()
        if y in free and x in numbers
    }
    column = dict(zip(numbers, series.process, strict=True))
    asked = {
        ends for ends in links if not any({column[v] for v in ends} <= pair for pair in found.left)
    }
    suspected: set[tuple[int, int]] = set()
    for model in found.better:
        if model.score < found.better[0].score - ENOUGH:
            break
        for effect, own in enumerate(found.columns):
            kept = {cause for cause, _ in model.columns[effect]}
            gone = {cause for cause, _ in own if cause < len(numbers)} - kept
            suspected |= {
                (min(ends), max(ends))
                for cause in gone
                for ends in [(numbers[cause], numbers[effect])]
            }
    missing = (
        []
        if len(links) == int(np.triu(result.union.adjacency).sum())
        else [
            "with lags links at contexts and categories, and into columns with uneven spreads, or"
            " with an equation for some contexts alone, are not asked about"
        ]
    )
    if found.left:
        missing.append(
            f"{len(found.left)} pairs of columns, those whose errors are the least correlated, were"
            " not asked about, since all of them would take too long"
        )
    return HiddenSuspicion(
        _by_name(result, suspected & asked), _by_name(result, asked), "; ".join(missing)
    )


def _by_name(result: ContextGraphs, pairs: set[tuple[int, int]]) -> tuple[tuple[str, str], ...]:
    ends = (sorted((result.names[x], result.names[y])) for x, y in sorted(pairs))
    return tuple((first, second) for first, second in ends)


def _is_number(windows: SeriesWindows, node: int) -> bool:
    return windows.scored.kinds[node].is_number and not windows.window.is_context(node)


def _series_equations(result: ContextGraphs, windows: SeriesWindows) -> SeriesEquations | str:
    """The equations of the numbers of a window, or why there are none."""
    table = windows.scored
    window = windows.window
    nodes = range(len(result.names))
    numbers = [v for v in nodes if _is_number(windows, v)]
    if len(window.now) > MOST_PROCESSES:
        return f"with lags models of more than {MOST_PROCESSES} columns are not compared"
    if _bent(result, window.now):
        return "with lags links are asked about where all equations are straight lines"
    straight = {
        v: own
        for v in window.now
        if v in numbers
        and (own := _terms(result, v)) is not None
        and all(cause in numbers for cause, _ in own[0])
    }
    place = {v: i for i, v in enumerate(numbers)}
    k = len(table.contexts.cells)
    p = len(numbers) + 2
    if len(straight) * (len(straight) - 1) // 2 * k * ((k + 1) * p) ** 2 > MOST_PRODUCTS:
        return (
            f"with lags models of {len(window.now)} columns in {k} combinations of contexts are not"
            " compared"
        )
    columns: list[Columns] = [frozenset()] * (p + 1)
    free = np.zeros(p + 1, dtype=bool)
    links = np.zeros((k, p + 1, p + 1), dtype=bool)
    may = np.zeros((p + 1, p + 1), dtype=bool)
    must = np.zeros((p + 1, p + 1), dtype=bool)
    known = windows.links(result.settings.knowledge)
    for v, (terms, shifts) in straight.items():
        here = place[v]
        free[place[v]] = True
        columns[here] = frozenset(
            {(place[cause], _mask(result, windows, v, contexts)) for cause, contexts in terms}
            | {(p, _mask(result, windows, v, contexts)) for contexts in shifts}
        )
        may[: len(numbers), here] = known.may[numbers, v]
        must[: len(numbers), here] = known.must[numbers, v]
        for cause, mask in columns[here]:
            links[:, cause, here] |= [bool(mask >> r & 1) for r in range(k)]
    rows = np.column_stack([np.asarray(table.columns[v], dtype=np.float64) for v in numbers])[
        -MOST_ROWS:
    ]
    spread = rows.std(axis=0)
    codes = np.zeros(len(rows), dtype=np.int64)
    if table.contexts.positions:
        codes = table.codes[-MOST_ROWS:].astype(np.int64)
    if (spread < SAME_COLUMN_BELOW).any() or not np.isfinite(rows).all():
        return "with lags columns that hardly vary, or with missing cells, are not compared"
    values = (rows - rows.mean(axis=0)) / spread
    moments = Moments.of_rows(np.column_stack([values, np.zeros((len(rows), 2))]), codes, k)
    price = 0.5 * (
        result.evidence.penalty if result.evidence is not None else ScoreOptions().penalty
    )
    given = StraightEquations(
        moments,
        tuple(columns),
        free,
        may,
        must,
        links,
        np.ones((p + 1, k)),
        price,
        ScoreOptions().parent_price(len(nodes)),
    )
    names = [split(result.names[v])[0] for v in numbers]
    return SeriesEquations(given, values, codes, tuple(names.index(name) for name in names))


def _bent(result: ContextGraphs, now: Sequence[int]) -> bool:
    """Whether some number has a curve; after a search by tests, whether there is a sign of one.

    A test that declares a trait does not take mechanisms for straight lines.
    """
    evidence = result.evidence
    if evidence is None or evidence.mechanisms is None:
        return bool(result.settings.test_traits) or any(
            violation.kind in BENT for violation in violations_of(result)
        )
    scales = evidence.mechanisms.scales
    own = [
        one
        for one in evidence.mechanisms.equations
        if one.effect in now and scales[one.effect].kind == NUMBER
    ]
    bends = (
        scales[term.causes[0]].is_number
        for one in own
        for term in one.terms
        if term.kind != "linear"
    )
    return any(scales[one.effect].scores for one in own) or any(bends)


def _terms(result: ContextGraphs, effect: int) -> tuple[list[Term], list[tuple[int, ...]]] | None:
    """The causes of a number, and the contexts with intercepts of their own; None if it has not
    just one equation.

    After a search by tests: links into a number, of open ones those from the left; all contexts
    differ.
    """
    evidence = result.evidence
    contexts = range(len(result.contexts))
    if evidence is not None and evidence.mechanisms is not None:
        own = [one for one in evidence.mechanisms.equations if one.effect == effect]
        if (
            len(own) != 1
            or own[0].kind != NUMBER
            or own[0].spread
            or len(own[0].intercepts) != len(contexts)
        ):
            return None
        groups = {
            shift: tuple(r for r in contexts if own[0].intercepts[r] == shift)
            for shift in own[0].intercepts
        }
        return [(term.causes[0], term.contexts) for term in own[0].terms], list(groups.values())[1:]
    ends = np.stack([graph.endpoints for graph in result.graphs.values()])
    arrows = directed(ends)
    near = adjacent(ends)
    order = np.arange(ends.shape[-1])
    causes = arrows[:, :, effect] | (near[:, :, effect] & ~arrows[:, effect, :] & (order < effect))
    assert result.windowed is not None
    series = result.series
    reads = series is not None and series.reads.get(result.names[effect]) is not None
    terms = [
        (int(x), tuple(np.flatnonzero(causes[:, x]).tolist()))
        for x in np.flatnonzero(causes.any(axis=0))
        if _is_number(result.windowed, int(x))
    ]
    return terms, [(r,) for r in range(1, len(ends))] if reads else []


def _mask(
    result: ContextGraphs, windows: SeriesWindows, effect: int, contexts: Sequence[int]
) -> int:
    """The cells of windows in which the copy of the context that an effect reads has one of some
    values.
    """
    everywhere = len(contexts) == len(result.contexts)
    series = result.series
    copy = None if series is None else series.reads.get(result.names[effect])
    cells = {c for r in contexts for c in cells_read(windows, windows.scored, copy, r, everywhere)}
    return sum(1 << c for c in cells)
