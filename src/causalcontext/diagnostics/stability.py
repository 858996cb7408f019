"""The stability of a result: the same search on bootstrap samples, drawn separately in every
context.

A sample is a weight for every row, so all it costs is weighted moments (for tests that need no more
than these) and a search. Seeds are split by sample: neither the order of the samples nor the number
of workers matters.

Effects follow from the same samples, with the graph that was found or, with `graph="resampled"`,
the graph of each sample: an interval that takes the graph as given says nothing about that. Side by
side, the two show how much of the spread comes from the graph. Where a sample leaves a direction
open, the smallest and the largest value count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from causalcontext.ci_tests.gaussian import PreparedGaussian
from causalcontext.ci_tests.preparation import PreparedCompletions, prepare
from causalcontext.ci_tests.protocol import PreparedTest, prepared_test
from causalcontext.ci_tests.registry import TESTS, find_test
from causalcontext.data.dataset import complete_rows, some_rows
from causalcontext.data.frames import frame_of, pd
from causalcontext.data.moments import Moments
from causalcontext.data.sufficient_statistics import drop_empty_cells, gather_statistics
from causalcontext.diagnostics.settings import (
    COMPLETIONS_OF_A_SAMPLE,
    FEWEST_BLOCKS,
    FEWEST_INTERVAL_SAMPLES,
    MOST_SAMPLES,
)
from causalcontext.diagnostics.support import Support
from causalcontext.errors import (
    NotYetError,
    OptionError,
    check_jobs,
    check_level,
    check_whole,
    shortly,
)
from causalcontext.graphs.endpoints import Endpoint, GraphKind, adjacent, endpoints_of_mark, marked
from causalcontext.graphs.graph import Graph
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.methods.registry import run_method
from causalcontext.methods.task import Task, windows_task
from causalcontext.progress import Count, Watch, counting_bar, nobody
from causalcontext.results.edge_table import NO_EDGES
from causalcontext.results.effects.asking import context_effect, difference, effect_in
from causalcontext.results.effects.composition import Contrast, contrasts
from causalcontext.results.effects.mechanics import Mechanics
from causalcontext.results.effects.table import (
    LevelOptions,
    asked_pairs,
    asked_rows,
    check_levels_asked,
    columns,
    framed,
    no_effects,
    pair_rows,
)
from causalcontext.results.empty import because
from causalcontext.results.outcome import Outcome, Settings
from causalcontext.score.options import ScoreOptions
from causalcontext.search.indicator import links_without_functions
from causalcontext.timeseries.windows import SeriesWindows

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

Drawn = TypeVar("Drawn")
MARKS = {
    GraphKind.CPDAG: ("-->", "<--", "o-o", "x-x"),
    GraphKind.PAG: ("-->", "<--", "o-o", "x-x", "o->", "<-o", "<->", "x->", "<-x"),
}

ENDPOINTS = (Endpoint.ARROW, Endpoint.TAIL, Endpoint.CIRCLE, Endpoint.CONFLICT)


@dataclass(frozen=True, eq=False)
class Stability:
    """The frequency of each mark over bootstrap samples.

    Attributes
    ----------
    result : ContextGraphs
        What the samples are compared with.
    samples : int
    frequency : array, shape (contexts, N, N, marks)
        Share of samples with the mark `-->`, `<--`, `o-o` or `x-x`, read from the first variable to
        the second; of PAGs also with `o->`, `<-o`, `<->`, `x->` or `<-x`.
    label_frequency : mapping from (x, y) by position, x < y, to a mapping from contexts to shares
        In which contexts the edge is present, over samples.
    """

    result: ContextGraphs
    samples: int
    frequency: Floats
    label_frequency: Mapping[tuple[int, int], Mapping[tuple[Any, ...], float]]

    def edges(self, least: float = 0.1) -> pd.DataFrame:
        """The pairs that are adjacent in a share `least` of the samples, by context.

        `found` is the mark of the result, `present` the share of samples with any edge, and the
        other columns are the shares of each mark. They add up to `present`.
        """
        rows = []
        for position, value in enumerate(self.result.contexts):
            shares = self.frequency[position]
            for x, y in zip(*np.nonzero(np.triu(shares.sum(axis=2) >= least, 1)), strict=True):
                pair = (self.result.names[x], self.result.names[y])
                mark = self.result.graphs[value].mark(*pair)
                rows.append((*pair, value, mark, float(shares[x, y].sum()), *shares[x, y].tolist()))
        columns = ["x", "y", "context", "found", "present", *MARKS[self.result.union.kind]]
        return because(frame_of(rows, columns=columns), _seldom(least))

    def endpoints(self, least: float = 0.1) -> pd.DataFrame:
        """The pairs as in `edges`, both ways round: shares of samples with an arrow, a tail, ...
        `at` a variable.

        These say more than marks where an end is certain and the other is open.
        """
        rows = []
        for position, value in enumerate(self.result.contexts):
            shares = self.frequency[position]
            graph = self.result.graphs[value]
            at_second = np.array([endpoints_of_mark(mark)[1] for mark in MARKS[graph.kind]])
            for x, y in zip(*np.nonzero(shares.sum(axis=2) >= least), strict=True):
                endpoint = Endpoint(graph.endpoints[x, y]).name.lower()
                counted = [float(shares[x, y, at_second == end].sum()) for end in ENDPOINTS]
                rows.append((graph.names[x], graph.names[y], value, endpoint, *counted))
        columns = ["other", "at", "context", "found", *(end.name.lower() for end in ENDPOINTS)]
        return because(frame_of(rows, columns=columns), _seldom(least))

    def labels(self) -> pd.DataFrame:
        """For every edge of the union of the result, the share of samples with the label that was
        found.

        A label is the contexts that have the edge; the most frequent one stands beside it.
        """
        rows = []
        for x, y in zip(*np.nonzero(np.triu(self.result.union.adjacency)), strict=True):
            pair = (self.result.names[x], self.result.names[y])
            label_of_result = tuple(
                value for value in self.result.contexts if self.result.graphs[value].mark(*pair)
            )
            shares = self.label_frequency.get((int(x), int(y)), {})
            likely = max(shares, key=lambda label: shares[label], default=())
            rows.append(
                (
                    *pair,
                    label_of_result,
                    shares.get(label_of_result, 0.0),
                    likely,
                    shares.get(likely, 0.0),
                )
            )
        columns = ["x", "y", "contexts", "frequency", "most frequent", "its frequency"]
        return because(frame_of(rows, columns=columns), NO_EDGES)

    def __str__(self) -> str:
        return (
            f"{self.samples}"
            f" samples\n{self.edges(0.5).to_string(index=False, float_format='{:.2f}'.format)}"
        )


def _seldom(least: float) -> str:
    """The reason in words why no pair is listed."""
    return f"no pair is adjacent in a share {least:g} of the samples of a context"


def stability(
    result: ContextGraphs,
    samples: int = 200,
    *,
    n_jobs: int = 1,
    seed: int = 0,
    progress: bool | Count = False,
) -> Stability:
    """Search `samples` bootstrap samples, stratified by context, with the settings of a result.

    Parameters
    ----------
    result : ContextGraphs
        A live result: a loaded one has no rows to draw from. Of a scanned table, blocks of rows are
        drawn where all tests use moments, else rows of the sample; shares are then those of a table
        as large as the sample.
    samples : int
    n_jobs : int
        Worker processes of joblib (an active joblib backend is used); the result does not depend on
        it.
    seed : int
    progress : bool or callable
        Show a bar, or call `progress(samples done, samples in all)`.

    Examples
    --------
    >>> import causalcontext as cc
    >>> result = cc.discover(cc.examples.soil_moisture(500, seed=1), context="soil")
    >>> stable = stability(result, samples=20)
    >>> bool(stable.edges(0.9).query("x == 'precipitation' and y == 'soil'")["present"].min() > 0.9)
    True
    """
    check_resampling(result, samples)
    if result.windowed is not None:
        draw: Callable[[int, int], NDArray[np.int8]] = partial(
            half_windows, result.windowed, result.settings
        )
    else:
        draw = (Resample if result.rows is not None or _on_sample(result) else BlockResample)(
            result
        ).endpoints
    collected: list[NDArray[np.int8]] = []
    with counting_bar("bootstrap samples", progress) as advance:
        for endpoints_of_sample in each_sample(draw, samples, seed, n_jobs):
            collected.append(endpoints_of_sample)
            advance(len(collected), samples)
    endpoints = np.stack(collected)
    frequency = np.stack(
        [marked(endpoints, mark).mean(axis=0) for mark in MARKS[result.union.kind]], axis=-1
    )
    return Stability(result, samples, frequency, _labels(result, adjacent(endpoints)))


def _on_sample(result: ContextGraphs) -> bool:
    """True if samples of a scanned table are drawn from the sample of its rows.

    That is where a score or tests looked at rows; tests of moments draw blocks of all rows.
    """
    by_moments = result.evidence is None and isinstance(result.prepared, PreparedGaussian)
    return result.scanned is not None and not by_moments


class Resample:
    """Draws a bootstrap sample by its number, separately in every context, and searches it.

    As many rows are drawn with replacement from every cell as it has, so that no sample lacks a
    context. Everything that no sample changes is prepared once: the rows that may be drawn, their
    cells, the links that may exist, and the centred numbers, of which tests of moments need no more
    than weighted sums. Whether a missing edge is a matter of support is asked of the whole table,
    not of the sample.
    """

    def __init__(self, result: ContextGraphs) -> None:
        data = result.rows
        self.settings = result.settings
        modelled = isinstance(result.prepared, PreparedCompletions)
        if isinstance(result.prepared, PreparedCompletions):
            data = result.prepared.completed.given
        if data is None and result.scanned is not None:
            data = result.scanned.data
        assert data is not None
        usable = (
            data.codes >= 0
            if result.settings.missing == "testwise" or modelled
            else complete_rows(data)
        )
        self.data = some_rows(data, np.flatnonzero(usable))
        self.links = links_without_functions(
            result.settings.knowledge.links(result.names), data.contexts
        )
        self.test = find_test(result.settings.test, result.settings.seed)
        self.of_cell = [
            np.flatnonzero(self.data.codes == cell) for cell in range(len(data.contexts.cells))
        ]
        self.statistics = gather_statistics(self.data)
        self.support = Support(self.data, result.settings.alpha)
        prepared = result.prepared
        self.kind = (
            prepared.kind
            if isinstance(prepared, PreparedGaussian) and not result.settings.score
            else None
        )
        self.values = np.zeros((self.data.n_rows, len(data.names)))
        for position in data.system:
            self.values[:, position] = self.data.columns[position]
        self.values -= self.values.mean(axis=0)

    def endpoints(self, number: int, seed: int) -> NDArray[np.int8]:
        """The endpoints of all contexts for one sample, int8, shape (contexts, N, N)."""
        return self.outcome(drawn_rows(self.of_cell, number, seed)).endpoints

    def outcome(self, chosen: NDArray[np.intp]) -> Outcome:
        """The outcome of the search on these rows, which may be repeated; `chosen` has their
        places.

        Tests of moments get new moments; others get the rows. A column that is constant in a sample
        by chance is no error.
        """
        data = self.data
        statistics = self.statistics
        prepared: PreparedTest
        if self.kind is None:
            data = some_rows(self.data, chosen)
            if self.settings.missing in ("testwise", "model"):
                mode = self.settings.missing
                completions = COMPLETIONS_OF_A_SAMPLE
                _, statistics, prepared = prepare(data, self.test, mode, completions=completions)
            else:  # a column that happens to be constant in a sample is no error
                statistics = gather_statistics(data)
                prepared = prepared_test(self.test, data, statistics)
        else:
            cells = len(data.contexts.cells)
            moments = Moments.of_rows(self.values[chosen], self.data.codes[chosen], cells)
            prepared = PreparedGaussian(moments, data.contexts, self.kind)
        options = sample_options(self.settings)
        task = Task(
            prepared,
            data,
            statistics,
            self.links,
            self.settings,
            options,
            1,
            Watch(nobody),
            self.support,
        )
        return run_method(self.settings.method, task).whole()


def half_windows(
    windows: SeriesWindows, settings: Settings, number: int, seed: int
) -> NDArray[np.int8]:
    """The endpoints of all contexts in half of the windows of a series, shape (contexts, N, N).

    Rows of a series depend on each other, so they cannot be drawn one by one: half of the windows,
    in blocks, without replacement, has a spread like that of a bootstrap sample of all of them. The
    number of the sample says which half.
    """
    settings = replace(settings, seed=seed)
    task = windows_task(
        windows.half(number, seed), settings, sample_options(settings), 1, Watch(nobody)
    )
    return run_method(settings.method, task).whole().endpoints


def sample_options(settings: Settings) -> ScoreOptions:
    """The options of samples that are searched by scores.

    Their rows have no wrong cells any more, or are to keep them: what was decided of the whole
    table holds for its samples.
    """
    return replace(ScoreOptions(**settings.score), wrong_cells="keep")


def drawn_rows(of_cell: Sequence[NDArray[np.intp]], number: int, seed: int) -> NDArray[np.intp]:
    """The places of the rows of one bootstrap sample: as many of every cell as it has.

    The generator is seeded by the pair (seed, number), so that a sample is the same in whatever
    order.
    """
    generator = np.random.default_rng([seed, number])
    return np.concatenate([rows[generator.integers(len(rows), size=len(rows))] for rows in of_cell])


def each_sample(
    draw: Callable[[int, int], Drawn], samples: int, seed: int, n_jobs: int
) -> Iterator[Drawn]:
    """`draw(number, seed)` of every sample, in order; the number of workers changes nothing.

    With workers, four parts for each are handed out, so that a slow one does not keep the others
    waiting; -1 stands for all cores.
    """
    if n_jobs == 1:
        yield from (draw(number, seed) for number in range(samples))
        return
    from joblib import Parallel, delayed

    tasks = np.array_split(np.arange(samples), min(samples, 4 * n_jobs if n_jobs > 0 else 32))
    for part in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_several)(draw, numbers, seed) for numbers in tasks
    ):
        yield from part


def _several(
    draw: Callable[[int, int], Drawn], numbers: NDArray[np.intp], seed: int
) -> list[Drawn]:
    """The draws of some numbers, one after the other, as one task of a worker."""
    return [draw(int(number), seed) for number in numbers]


def _labels(
    result: ContextGraphs, present: Bools
) -> dict[tuple[int, int], dict[tuple[Any, ...], float]]:
    """For every pair that is adjacent in some sample, the shares of samples by its label.

    `present` has shape (samples, contexts, N, N). A label is a bit mask of contexts while it is
    counted, and the tuple of their values in the answer.
    """
    shares_by_pair: dict[tuple[int, int], dict[tuple[Any, ...], float]] = {}
    powers = 1 << np.arange(len(result.contexts), dtype=object)
    for x, y in zip(*np.nonzero(np.triu(present.any(axis=(0, 1)))), strict=True):
        codes, counts = np.unique(
            (present[:, :, x, y] * powers).sum(axis=1).astype(object), return_counts=True
        )
        labels = (
            tuple(value for position, value in enumerate(result.contexts) if code >> position & 1)
            for code in codes
        )
        shares_by_pair[int(x), int(y)] = dict(
            zip(labels, (counts / len(present)).tolist(), strict=True)
        )
    return shares_by_pair


def check_resampling(result: ContextGraphs, samples: int) -> None:
    """Refuse a result that cannot be searched again on samples of its rows, with the reason."""
    check_whole("samples", samples, 1)
    if samples > MOST_SAMPLES:
        raise OptionError(f"samples is {shortly(samples)}, expected at most {MOST_SAMPLES:,}")
    if result.windowed is not None:
        return
    if result.rows is None and result.scanned is None:
        raise OptionError(
            "stability is not available on a loaded result, which has no rows; run discover again"
        )
    if result.rows is None and result.scanned is not None and not _on_sample(result):
        blocks = sum(bool(block.rows.sum()) for block in result.scanned.blocks)
        if blocks < FEWEST_BLOCKS:
            kept = result.scanned.blocks
            shortage = (
                f"{blocks} blocks of rows" if kept else "too many columns to keep moments by blocks"
            )
            raise OptionError(
                f"stability of a scanned table draws blocks of rows, and this one has {shortage};"
                " read it into memory, or fewer of its columns"
            )
    if not isinstance(result.prepared, PreparedGaussian) and result.settings.test not in (
        "auto",
        *TESTS,
    ):
        raise NotYetError(
            f"not yet: stability with the test {result.settings.test!r}, which is not in the"
            " registry"
        )


class BlockResample:
    """Draws a bootstrap sample of blocks of a scanned table by its number, and searches it by tests
    of moments.

    A block is the moments of some consecutive rows by cell, which the scan kept. Whole blocks are
    drawn with replacement, so that the rows are never read again; that also allows for dependence
    inside blocks.
    """

    def __init__(self, result: ContextGraphs) -> None:
        scanned = result.scanned
        prepared = result.prepared
        assert scanned is not None
        assert isinstance(prepared, PreparedGaussian)
        kept = np.flatnonzero(scanned.statistics.moments.rows > 0).tolist()
        self.data, self.statistics = drop_empty_cells(scanned.data, scanned.statistics)
        self.settings = result.settings
        self.kind = prepared.kind
        self.links = links_without_functions(
            result.settings.knowledge.links(result.names), self.data.contexts
        )
        self.support = Support(self.data, result.settings.alpha)
        self.blocks = [block.some(kept) for block in scanned.blocks]

    def endpoints(self, number: int, seed: int) -> NDArray[np.int8]:
        """The endpoints of all contexts for one sample, int8, shape (contexts, N, N)."""
        moments = replace(
            self.statistics, moments=drawn_moments(self.blocks, number, seed)
        ).of_columns(self.data)
        prepared = PreparedGaussian(moments, self.data.contexts, self.kind)
        task = Task(
            prepared,
            self.data,
            self.statistics,
            self.links,
            self.settings,
            ScoreOptions(),
            1,
            Watch(nobody),
            self.support,
        )
        return run_method(self.settings.method, task).whole().endpoints


def drawn_moments(blocks: list[Moments], number: int, seed: int) -> Moments:
    """The moments of one sample of blocks, drawn for every cell among those that have rows of it.

    With w_b rows, means m_b and scatters S_b of the drawn blocks, the mean is m = sum w_b m_b / sum
    w_b and the scatter sum S_b + sum w_b (m_b - m)(m_b - m)'. Means are taken around the first
    block, so that no digits are lost where the origin is far.
    """
    generator = np.random.default_rng([seed, number])
    rows, mean, scatter = (
        np.stack([getattr(block, name) for block in blocks]) for name in ("rows", "mean", "scatter")
    )
    parts = []
    for cell in range(rows.shape[1]):
        with_rows = np.flatnonzero(rows[:, cell])
        times = generator.multinomial(with_rows.size, np.full(with_rows.size, 1.0 / with_rows.size))
        weight = (times * rows[with_rows, cell]).astype(np.float64)
        origin = mean[with_rows[0], cell]
        away = mean[with_rows, cell] - origin
        centre = weight @ away / weight.sum()
        away -= centre
        both = (
            np.tensordot(times.astype(np.float64), scatter[with_rows, cell], 1)
            + (away.T * weight) @ away
        )
        parts.append((np.int64(weight.sum()), origin + centre, both))
    return Moments(*(np.stack(part) for part in zip(*parts, strict=True)))


EffectRow = tuple[int, int, int, int, Contrast]
"""One row of the table: x, y, the context, the one it is compared with (-1 for none), and the
levels.
"""


class EffectSampler:
    """Draws a sample by its number, and computes every row of a table of effects on it.

    `asked` are the rows; `resampled` says whether samples are searched too, for effects in graphs
    of their own.
    """

    def __init__(self, result: ContextGraphs, asked: Sequence[EffectRow], resampled: bool) -> None:
        assert result.rows is not None
        self.result = replace(result, prepared=None, rows=None, moments=None)
        self.asked = tuple(asked)
        self.resample = Resample(result) if resampled else None
        self.data = some_rows(result.rows, np.flatnonzero(result.rows.codes >= 0))
        if self.resample is not None:
            self.data = self.resample.data
        self.complete = complete_rows(self.data)
        self.of_cell = [
            np.flatnonzero(self.data.codes == cell) for cell in range(len(result.contexts))
        ]
        assert result.moments is not None
        self.numbers = np.flatnonzero(np.diagonal(result.moments.merged().scatter[0]) > 0.0)

    def values(self, number: int, seed: int) -> Floats:
        """The least and the greatest effect by row, shape (rows of the table, 2), or (.., 4) with
        own graphs.

        The first two columns have those with the graph that was found, the last two those with the
        graph of the sample.
        """
        chosen = drawn_rows(self.of_cell, number, seed)
        given_graph = self._answers(chosen[self.complete[chosen]], {})
        if self.resample is None:
            return given_graph
        outcome = self.resample.outcome(chosen)
        names = self.result.names
        kind = self.result.union.kind
        found_graphs = (Graph(names, endpoints, kind) for endpoints in outcome.endpoints)
        graphs = dict(zip(self.result.contexts, found_graphs, strict=True))
        of_sample = {"graphs": graphs, "log": outcome.log, "evidence": outcome.evidence}
        return np.hstack([given_graph, self._answers(chosen[self.complete[chosen]], of_sample)])

    def _answers(self, chosen: NDArray[np.intp], replaced: dict[str, Any]) -> Floats:
        """The least and the greatest value of every row of the table, shape (.., 2); NaN where
        there is none.

        `replaced` are the fields of the result that the sample replaces: none, or its graphs, log
        and evidence.
        """
        values = np.zeros((len(chosen), len(self.data.names)))
        for position in self.numbers:
            values[:, position] = np.asarray(self.data.columns[position])[chosen]
        moments = Moments.of_rows(values, self.data.codes[chosen], len(self.of_cell))
        drawn = replace(self.result, moments=moments, rows=some_rows(self.data, chosen), **replaced)
        mechanics = Mechanics(drawn, "classical")
        answers = np.full((len(self.asked), 2), np.nan)
        for number, (x, y, g, h, levels) in enumerate(self.asked):
            if x in mechanics.contexts:
                estimates = context_effect(mechanics, x, g, h, y, levels).estimates
            elif h < 0:
                estimates = effect_in(mechanics, g, x, y, levels).estimates
            else:
                estimates = difference(mechanics, g, h, x, y, levels).estimates
            if estimates:
                answers[number] = estimates[0].value, estimates[-1].value
        return answers


def sampled_effects(
    result: ContextGraphs,
    x: str | None,
    y: str | None,
    *,
    samples: int,
    graph: str,
    level: float,
    seed: int,
    n_jobs: int,
    levels: LevelOptions = (None, None),
    progress: bool | Count = False,
) -> pd.DataFrame:
    """The table of effects with intervals by the bootstrap; see `ContextGraphs.effects`."""
    check_whole("samples", samples, FEWEST_INTERVAL_SAMPLES)
    check_jobs(n_jobs)
    check_level("level", level)
    if result.rows is None:
        raise OptionError(
            "samples need the rows of the table, which a loaded result or a scanned one has not;"
            " run discover again"
        )
    if graph == "resampled":
        check_resampling(result, samples)
    mechanics = Mechanics(result, "classical")
    check_levels_asked(x, y, levels)
    pairs = [(pair, contrasts(mechanics, *pair, *levels)) for pair in asked_pairs(mechanics, x, y)]
    plain = [row for pair, of_pair in pairs for row in pair_rows(mechanics, *pair, level, of_pair)]
    asked = [
        (*row, contrast)
        for pair, of_pair in pairs
        for contrast in of_pair
        for row in asked_rows(mechanics, *pair)
    ]
    sampler = EffectSampler(result, asked, graph == "resampled")
    values = []
    with counting_bar("bootstrap samples", progress) as advance:
        for values_of_sample in each_sample(sampler.values, samples, seed, n_jobs):
            values.append(values_of_sample)
            advance(len(values), samples)
    drawn = np.stack(values)
    more = ["samples"] if graph == "found" else ["samples", "from graph", "zero in", "open in"]
    named = columns(mechanics)
    known = (dict(zip(named, row, strict=True)) for row in plain)
    rows = [_with_samples(row, drawn[:, number], level) for number, row in enumerate(known)]
    return because(framed(rows, [*named, *more]), no_effects(x, y))


def _with_samples(known: dict[str, Any], drawn: Floats, level: float) -> tuple[Any, ...]:
    """A row of the table, with error, interval and p-value by the samples.

    `drawn` has shape (samples, 2 or 4). The interval goes from the quantile (1 - level) / 2 of the
    least values to that of (1 + level) / 2 of the greatest ones, and p is twice the smaller share
    of samples beyond 0, at least one sample's. With graphs of their own, three shares follow: of
    the variance that the graph adds, 1 - var(with the found graph) / var(with own graphs); of
    samples where the effect is 0; and of those where it is open.
    """
    used = drawn[:, -2:]
    used = used[np.isfinite(used[:, 0])]
    if len(used) < FEWEST_INTERVAL_SAMPLES:
        known |= dict.fromkeys(("se", "low", "high", "p"), np.nan)
    else:
        low = np.quantile(used[:, 0], (1.0 - level) / 2.0)
        high = np.quantile(used[:, 1], (1.0 + level) / 2.0)
        beyond = min(float(np.mean(used[:, 0] <= 0.0)), float(np.mean(used[:, 1] >= 0.0)))
        p = np.nan if low == high else max(min(2.0 * beyond, 1.0), 1.0 / len(used))
        known |= {
            "se": float(used.mean(axis=1).std(ddof=1)),
            "low": float(low),
            "high": float(high),
            "p": p,
        }
    known["intervals"] = "samples"
    if drawn.shape[1] == 2:
        return (*known.values(), len(drawn))
    # the share of the variance that the graph adds; shares of samples without a path, and without a
    # single value
    own_graphs = drawn[:, 2:]
    answered = np.isfinite(own_graphs[:, 0])
    zero = np.mean((own_graphs == 0.0).all(axis=1))
    open_ = np.mean(~answered | (own_graphs[:, 0] != own_graphs[:, 1]))
    both = answered & np.isfinite(drawn[:, 0])
    spread = own_graphs[both].mean(axis=1).var() if both.sum() > 1 else 0.0
    within = drawn[both, :2].mean(axis=1).var() if both.sum() > 1 else 0.0
    share = float(np.clip(1.0 - within / spread, 0.0, 1.0)) if spread > 0.0 else 0.0
    return (*known.values(), len(drawn), share, float(zero), float(open_))
