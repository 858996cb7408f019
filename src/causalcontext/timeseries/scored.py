"""score-ac with lags: from windows to the best-scoring model, and from there to an outcome.

What is here is the seam of the engine: `LocalModels`, `search` and `WindowMarks` are called nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from causalcontext.errors import NotYetError, listed
from causalcontext.graphs.lag_names import at
from causalcontext.knowledge import Knowledge
from causalcontext.progress import OutOfTime, Watch
from causalcontext.results.log import CITestLog
from causalcontext.results.outcome import Outcome
from causalcontext.results.series import SeriesFacts
from causalcontext.score.options import ScoreOptions
from causalcontext.search.lagged.lag_alarm import MORE_LAGS, LagAlarm
from causalcontext.timeseries.alarm import lag_warnings, not_asked, past_beyond_lags
from causalcontext.timeseries.known import allowed_links
from causalcontext.timeseries.local_models import LocalModels
from causalcontext.timeseries.marks import WindowMarks
from causalcontext.timeseries.order_search import MOST_EXACT, Searched, search
from causalcontext.timeseries.problem import MOST_CONTEXTS, LaggedProblem
from causalcontext.timeseries.residuals import sentence as skewness_sentence
from causalcontext.timeseries.residuals import skewed
from causalcontext.timeseries.windows import SeriesWindows

NO_ALARM = "the search was stopped before the past beyond the lags was tested"
STARTS = 2
"""Orders to begin with where the order is not searched exactly."""


def score_windows(windows: SeriesWindows, knowledge: Knowledge, score: ScoreOptions, seed: int, watch: Watch
                  ) -> Outcome:  # fmt: skip
    """The best-scoring model of the windows; where it is stopped, by its watch or by Ctrl-C, the best so far."""
    data, series, lags, starts = windows.data, windows.series, windows.options.lags, score.starts or STARTS
    _check(windows)
    allowed = allowed_links(knowledge, [*series.names, data.context_name or "_"], lags)
    context_lags, has_context = windows.options.context_lags, data.context is not None
    problem = LaggedProblem(windows.table, allowed, context_lags, score.penalty, has_context)
    local = LocalModels(problem, heard=watch.check)
    found = search(local, starts, seed)
    place = [windows.names.index(name) for name in (*series.names, *([windows.context] if windows.context else []))]
    reader = WindowMarks(local, found, windows.names, place, series.covariate_names)
    alarm, stopped = _alarm(windows, problem, found, watch.check)
    longer = [at(name, lag) for lag in range(lags + MORE_LAGS + 1) for name in series.names]
    evidence = reader.evidence({"penalty": float(score.penalty), "search": "exact" if found.exact else "order",
                                "transform": "none", "starts": 1 if found.exact else starts,
                                "agreeing": 1})  # fmt: skip
    by_moves = "the order inside a time step was searched by moves, not exactly: there are many variables"
    notes = (
        *(_cut(reader) if stopped else not_asked(alarm, lags)), str(windows.table.counts),
        *([by_moves] if len(windows.names) > MOST_EXACT else []), *skewness_sentence(skewed(reader), has_context),
    )  # fmt: skip
    return Outcome(
        reader.endpoints(), CITestLog.empty(len(data.values), len(windows.nodes)), np.zeros(2, dtype=np.int64),
        found.unfinished is None and stopped is not KeyboardInterrupt, evidence=evidence, notes=notes,
        warnings=lag_warnings(alarm, longer, lags),
        series=SeriesFacts(windows.names, lags, series.covariate_names, reader.reads(), windows.table.counts,
                           tuple(reader.slopes(data.values)), None if alarm is None else alarm.p),
    )  # fmt: skip


def _check(windows: SeriesWindows) -> None:
    """Return if the columns are such that the model applies."""
    data = windows.data
    if len(windows.contexts) > 1 or windows.made_of:
        raise NotYetError("not yet: score-ac with lags takes one context variable that is a column; pass "
                          "method='pc-ac'")  # fmt: skip
    for position in data.system:
        if not data.kinds[position].is_number:
            raise NotYetError(f"not yet: score-ac with lags needs continuous columns, {data.names[position]!r} "
                              f"is {data.kinds[position].value}")  # fmt: skip
    if len(data.values) > MOST_CONTEXTS:
        raise NotYetError(f"not yet: score-ac with lags takes at most {MOST_CONTEXTS} contexts, {data.context_name!r} "
                          f"has {len(data.values)}; merge some")  # fmt: skip
    windows.check()


def _alarm(windows: SeriesWindows, problem: LaggedProblem, found: Searched, heard: Callable[[], None]
           ) -> tuple[LagAlarm | None, type[KeyboardInterrupt] | None]:  # fmt: skip
    """What the past beyond the lags tells, and what stopped that test, if anything did; no sample is tested."""
    if found.unfinished is not None:
        return None, OutOfTime
    if windows.sample is not None:
        return None, None
    try:
        return past_beyond_lags(windows.series, problem, found, heard), None
    except KeyboardInterrupt as reason:
        return None, type(reason)


def _cut(reader: WindowMarks) -> tuple[str, ...]:
    """What is missing in the result of a search that was stopped."""
    unfinished = reader.found.unfinished
    if unfinished is None:
        return (NO_ALARM,)
    names = [reader.names[reader.place[node]] for node in unfinished]
    where = f"causes inside the time step of {listed(names)} were not all tried, " if names else ""
    return (f"the search was stopped early, and this is the best model found so far: {where}no order of the time step "
            "was settled, so that no link inside it has a direction", NO_ALARM)  # fmt: skip
