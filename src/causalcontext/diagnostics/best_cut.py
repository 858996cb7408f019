"""The cut of a column that mechanisms want (`cc.threshold("X", "best")`), and the edges that depend
on it.

For the latter the same search is run with the cut a little lower and higher.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.ci_tests.protocol import prepared_test
from causalcontext.ci_tests.registry import TESTS, find_test
from causalcontext.data.columns import number_text
from causalcontext.data.dataset import Dataset
from causalcontext.data.indicators import Indicator, short_cut
from causalcontext.data.windows import lagged_table
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.diagnostics.settings import (
    CUT_SECONDS,
    CUT_SHIFT,
    MOST_CUT_VARIABLES,
    MOST_NAMED_TOGETHER,
    RETRIED_CUT_SHARES,
)
from causalcontext.errors import CausalContextError, DataError, NotYetError, listed
from causalcontext.graphs.endpoints import Endpoints, adjacent, directed
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.methods.registry import run_method
from causalcontext.methods.task import Task, rows_task, windows_task
from causalcontext.progress import Watch, nobody
from causalcontext.results.cut import CUT, SMOOTH, UNDECIDED, Cut
from causalcontext.score.changing import Table, responses_of
from causalcontext.score.cuts import (
    COARSER,
    DEMAND,
    CutProfile,
    CutResponse,
    beside,
    cut_profile,
    grid_of,
)
from causalcontext.score.options import ScoreOptions

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


def best_cuts(result: ContextGraphs, wanted: Indicator) -> tuple[Cut, ...]:
    """The cuts of a column by which mechanisms change, the strongest first.

    If there are none, the one best place with its verdict. Two cuts are looked for together where
    two are wanted, since of two changes that undo each other neither is seen alone.

    Parameters
    ----------
    result : that of a search by scores without that context
    wanted : the column, and how many cuts are wanted
    """
    data = searched_rows(result)
    wanted.source(
        data.names,
        data.kinds,
        () if wanted.column in result.made_of.values() else data.contexts.sources,
    )
    table = Table(data, ranks=result.evidence is not None and result.evidence.transform == "ranks")
    responses = asked_responses(result, table, wanted.column)
    values = table.values(data.position(wanted.column))
    if table.in_groups(data.position(wanted.column)) or not grid_of(values).size:
        raise DataError(
            f"column {wanted.column!r} has too few values, or too few rows, for a cut to be found"
        )
    if not responses:
        # where everything else comes before a column, no mechanism can change with it
        may = (
            result.settings.knowledge.links(result.names)
            if result.windowed is None
            else result.windowed.links(result.settings.knowledge)
        ).may
        if not may[result.position(wanted.column)].any():
            raise DataError(
                f"no mechanism may change with {wanted.column!r}: knowledge says that it causes"
                " nothing"
            )
        places = tuple(grid_of(values).tolist())
        return (
            Cut(
                wanted.column,
                float(np.median(values)),
                None,
                None,
                UNDECIDED,
                0.0,
                DEMAND * log(len(table.rows)),
                0.0,
                (),
                places,
                (0.0,) * len(places),
            ),
        )
    profiles = [profile_of(responses, values)]
    if wanted.best > 1:
        pair = _pair(responses, values, profiles[0].places[::COARSER])
        profiles = (
            pair if all(profile_of_two.verdict == CUT for profile_of_two in pair) else profiles
        )
    return tuple(cut_of(wanted.column, profile, values) for profile in profiles)


def places_to_try(cuts: Sequence[Cut]) -> list[list[float]]:
    """The lists of cuts with which to search again, since that may direct links otherwise.

    Those that were found, or else a few places of the grid, one at a time.
    """
    clear_cuts = [cut.value for cut in cuts if cut.verdict == CUT]
    places = cuts[0].places
    return (
        [clear_cuts]
        if clear_cuts
        else [[places[int(share * (len(places) - 1))]] for share in RETRIED_CUT_SHARES if places]
    )


def searched_rows(result: ContextGraphs) -> Dataset:
    """The rows of a result, with lags its windows, or the sample of a table that was read in
    batches.
    """
    if result.scanned is not None:
        return result.scanned.data
    assert result.table is not None
    return result.table


def asked_responses(result: ContextGraphs, table: Table, column: str) -> list[list[CutResponse]]:
    """The mechanisms that may change with a column, by what a result directs and what is known.

    Each has a copy for every lag at which the context may act.
    """
    arrows: Bools = np.any([directed(graph.endpoints) for graph in result.graphs.values()], axis=0)
    if result.windowed is None:
        return responses_of(
            table, column, arrows, result.settings.knowledge.links(result.names).may, None
        )
    options = result.windowed.options
    if options.units is not None and "means" in (options.unit_effects, options.time_effects):
        raise NotYetError(
            "not yet: a cut that is to be found where means of units or times are taken away; pass "
            "unit_effects='none'"
        )
    may = result.windowed.links(result.settings.knowledge).may
    return responses_of(table, column, arrows, may, options.context_lags)


def profile_of(responses: list[list[CutResponse]], values: Floats) -> CutProfile:
    """The profile of a column in standard units, as responses have it."""
    return cut_profile(responses, (values - values.mean()) / (values.std() or 1.0))


def _pair(responses: list[list[CutResponse]], values: Floats, cuts: Floats) -> list[CutProfile]:
    """Two cuts, each beside the other one, the stronger first.

    The second one is where the first would gain the most beside it, on the coarse grid `cuts`; then
    both are moved in turns. Of two changes that undo each other neither is seen alone, so they are
    looked for together.
    """

    def beside_cut(cut: float) -> CutProfile:
        """The profile if the columns above a cut are offered in every model."""
        split_responses = []
        for copies in responses:
            above = [np.asarray(response.x > cut, dtype=np.float64) for response in copies]
            split_responses.append(
                [beside(response, [column]) for response, column in zip(copies, above, strict=True)]
            )
        return profile_of(split_responses, values)

    profiles = map(beside_cut, cuts.tolist())
    second = max(profiles, key=lambda profile: profile.plain + float(profile.scores.max()))
    for _ in range(2):
        second = beside_cut(second.value)
    return sorted((beside_cut(second.value), second), key=lambda profile: -profile.gain)


def cut_of(column: str, profile: CutProfile, values: Floats) -> Cut:
    """The cut of a profile in the units of the table.

    `values`, shape (rows,), are those of the column. A place is written as the shortest number
    between the two values of the column beside it, which splits the rows in the same way.
    """
    centre = float(values.mean())
    scale = float(values.std()) or 1.0
    ordered = np.unique(values)

    def placed(standard_cut: float) -> float:
        """The shortest number between the two values of the column beside a cut."""
        above = int(np.searchsorted(ordered, standard_cut * scale + centre, side="right"))
        lower = float(ordered[max(above - 1, 0)])
        upper = float(ordered[min(above, len(ordered) - 1)])
        return short_cut(lower, upper)

    is_cut = profile.verdict == CUT
    return Cut(
        column,
        placed(profile.value),
        placed(profile.low) if is_cut else None,
        placed(profile.high) if is_cut else None,
        profile.verdict,
        profile.gain,
        profile.demand,
        profile.smooth,
        profile.responses,
        tuple((profile.places * scale + centre).tolist()),
        tuple(profile.scores.tolist()),
    )


TOPIC = "threshold"


def nearby_cuts(result: ContextGraphs) -> Iterator[Finding]:
    """The cut that mechanisms want instead of the chosen one, and the edges that differ with nearby
    cuts.

    It is asked of finished searches with one threshold, up to `MOST_CUT_VARIABLES` variables: two
    more searches are made.
    """
    rows = _rows(result)
    if rows is None or not _has_one_cut(result):
        return
    if len(result.names) > MOST_CUT_VARIABLES or result.settings.missing == "testwise":
        return
    source = rows.contexts.made[0][1]
    name = rows.names[source]
    values = np.asarray(rows.columns[source], dtype=np.float64)
    below = float(values[rows.codes == 0].max())
    above = float(values[rows.codes == 1].min())
    chosen = short_cut(below, above)
    best = result.cut or _best(result, name)
    interval = None
    if best is not None and best.low is not None and best.high is not None:
        interval = best.low, best.high
    if best is not None and result.cut is None:  # chosen by hand
        yield from _against_the_chosen(best, interval, chosen)
    yield from _moved_cuts(result, name, chosen, _nearby(values, chosen, interval))


def _has_one_cut(result: ContextGraphs) -> bool:
    """True for a finished search with one context, of two values, that is made out of a column."""
    contexts = result.cells
    is_single = len(contexts.positions) == 1 and len(contexts.made) == 1
    return is_single and len(result.contexts) == 2 and result.complete


def _against_the_chosen(
    best: Cut, interval: tuple[float, float] | None, chosen: float
) -> Iterator[Finding]:
    """The finding that mechanisms change smoothly, or want another cut than the chosen one.

    None where the chosen cut lies in the interval, or where the rows say neither.
    """
    if best.verdict == SMOOTH:
        message = f"{best}; the threshold at {number_text(chosen)} splits what changes smoothly"
        advice = "read the two graphs as ranges of one mechanism, not as regimes"
        yield Finding(TOPIC, Severity.CAUTION, message, advice)
    elif best.verdict == CUT and interval is not None:
        low, high = interval
        if not low <= chosen <= high:
            message = f"{best}; the threshold is at {number_text(chosen)}"
            advice = f'compare with cc.threshold("{best.column}", "best")'
            yield Finding(TOPIC, Severity.CAUTION, message, advice)


def _nearby(values: Floats, chosen: float, interval: tuple[float, float] | None) -> list[float]:
    """Two cuts beside the chosen one: as far as the interval reaches, else a few rows away.

    Without an interval they are `CUT_SHIFT` of the rows lower and higher, where so many rows are
    left.
    """
    reach = 0.0 if interval is None else (interval[1] - interval[0]) / 2.0
    if reach:
        return [chosen - reach, chosen + reach]
    known = values[np.isfinite(values)]
    share = float(np.mean(known <= chosen))
    shares = (share - CUT_SHIFT, share + CUT_SHIFT)
    return [
        float(np.quantile(known, moved))
        for moved in shares
        if CUT_SHIFT <= moved <= 1.0 - CUT_SHIFT
    ]


def _moved_cuts(
    result: ContextGraphs, name: str, chosen: float, nearby: Sequence[float]
) -> Iterator[Finding]:
    """The finding that graphs differ with nearby cuts, and where; or that they are the same.

    Cuts that could not be searched are left out; without any other there is no finding.
    """
    differences: dict[float, list[str]] = {}
    for cut in nearby:
        edges = _differences(result, cut)
        if edges is not None:
            differences[cut] = edges
    different = [
        f"at {cut:.4g} {listed(edges, MOST_NAMED_TOGETHER)}"
        for cut, edges in differences.items()
        if edges
    ]
    if different:
        message = (
            f"the graphs depend on the cut of {name} at {number_text(chosen)}:"
            f" {' and '.join(different)} differ"
        )
        advice = (
            f'do not rest a claim on these edges; cc.threshold("{name}", "best") looks for the cut'
        )
        every = tuple(sorted({edge for edges in differences.values() for edge in edges}))
        yield Finding(TOPIC, Severity.CAUTION, message, advice, {"edges": every})
    elif differences:
        cuts = " and ".join(f"{cut:.4g}" for cut in differences)
        yield Finding(
            TOPIC, Severity.NOTE, f"the graphs are the same with the cut of {name} at {cuts}"
        )


def _rows(result: ContextGraphs) -> Dataset | None:
    """The rows of a result, not windows of them; None where they are not in memory."""
    windows = result.windowed
    if windows is None:
        return result.rows
    return None if windows.series.rows is None else windows.data


def _best(result: ContextGraphs, name: str) -> Cut | None:
    """The cut that mechanisms want, by the directions of a result; None where none can be looked
    for.

    So it is for columns in groups, and where nothing may change with the column.
    """
    table = Table(searched_rows(result), ranks=False)
    position = table.data.position(name)
    try:
        values = table.values(position)
        responses = asked_responses(result, table, name)
    except NotYetError:
        return None
    if not responses or table.in_groups(position) or not grid_of(values).size:
        return None
    return cut_of(name, profile_of(responses, values), values)


def _differences(result: ContextGraphs, cut: float) -> list[str] | None:
    """The edges between system variables that differ with the cut elsewhere.

    None if that cannot be searched. An edge differs if its presence does in any context; marks are
    not compared.
    """
    endpoints = endpoints_at(result, cut)
    if endpoints is None:
        return None
    adjacency = np.stack([graph.adjacency for graph in result.graphs.values()])
    differ = np.triu((adjacency != adjacent(endpoints)).any(axis=0), 1)
    made = [result.position(name) for name in result.made_of]
    differ[made] = False
    differ[:, made] = False
    return [f"{result.names[i]} - {result.names[j]}" for i, j in np.argwhere(differ).tolist()]


def endpoints_at(result: ContextGraphs, cut: float) -> Endpoints | None:
    """The endpoints of both contexts with the cut elsewhere, shape (2, N, N).

    None if that cannot be searched, takes longer than `CUT_SECONDS`, or leaves a context fewer rows
    than two for every variable.
    """
    rows = _rows(result)
    if rows is None:
        return None
    position, source = rows.contexts.made[0]
    values = np.asarray(rows.columns[source], dtype=np.float64)
    codes = np.where(rows.codes >= 0, values > cut, -1).astype(rows.codes.dtype)
    if min(np.sum(codes == 0), np.sum(codes == 1)) < 2 * len(result.names):
        return None
    data = replace(
        rows, codes=codes, columns=(*rows.columns[:position], codes, *rows.columns[position + 1 :])
    )
    watch = Watch(nobody, CUT_SECONDS)
    try:
        outcome = run_method(result.settings.method, _task(result, data, watch))
    except CausalContextError:
        return None
    return None if watch.over or not outcome.complete else outcome.endpoints


def _task(result: ContextGraphs, data: Dataset, watch: Watch) -> Task:
    """The search of a result with other contexts; with lags, of windows of the same rows.

    Scores take the columns as the result did (its transform), and keep all cells.
    """
    settings = result.settings
    windows = result.windowed
    options = ScoreOptions(
        transform="none" if result.evidence is None else result.evidence.transform,
        time_limit=CUT_SECONDS,
        wrong_cells="keep",
    )
    if windows is not None:
        series = replace(windows.series, codes=data.codes[windows.series.rows].astype(np.int64))
        table = lagged_table(series, windows.options.lags, len(data.values))
        return windows_task(
            replace(windows, data=data, series=series, all_windows=table),
            settings,
            options,
            1,
            watch,
        )
    task = rows_task(data, None, settings, options, watch)
    if settings.test not in ("auto", *TESTS):
        return task
    return replace(
        task, prepared=prepared_test(find_test(settings.test, settings.seed), data, task.statistics)
    )
