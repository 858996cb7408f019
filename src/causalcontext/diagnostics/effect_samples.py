"""Effects over bootstrap samples, drawn separately in every context: with the graph that was found, or a new one.

The graph is a guess, and an interval that takes it as given says nothing about that. With `graph="resampled"` every
sample is searched anew and its effects follow its own graph; beside the same samples with the graph that was found this
shows how much of the spread comes from the graph. Where a sample leaves a direction open, the smallest and the largest
value count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.dataset import complete_rows, some_rows
from causalcontext.data.frames import pd
from causalcontext.data.moments import Moments
from causalcontext.diagnostics.stability import Resample, check_resampling, drawn_rows, each_sample
from causalcontext.errors import OptionError, check_jobs, check_level, check_whole
from causalcontext.graphs.graph import Graph
from causalcontext.kernels.arrays import Floats
from causalcontext.results.effects.asking import context_effect, difference, effect_in
from causalcontext.results.effects.levels import Contrast, contrasts
from causalcontext.results.effects.mechanics import Mechanics
from causalcontext.results.effects.sets import Possible
from causalcontext.results.effects.table import (
    LevelOptions,
    asked_pairs,
    asked_rows,
    check_levels_asked,
    columns,
    framed,
    pair_rows,
)

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

FEWEST = 20
"""An interval by fewer samples than this would be made of its extremes."""
EffectRow = tuple[int, int, int, int, Contrast]
"""One row of the table: x, y, the context, the one it is compared with (-1 for none), and the levels."""


class EffectSampler:
    """Draws a sample by its number and asks it: least and greatest value of every row of the table."""

    def __init__(self, result: ContextGraphs, asked: Sequence[EffectRow], resampled: bool) -> None:
        assert result.rows is not None
        self.result = replace(result, prepared=None, rows=None, moments=None)
        self.asked = tuple(asked)
        self.resample = Resample(result) if resampled else None
        self.data = some_rows(result.rows, np.flatnonzero(result.rows.codes >= 0))
        if self.resample is not None:
            self.data = self.resample.data
        self.complete = complete_rows(self.data)
        self.of_cell = [np.flatnonzero(self.data.codes == cell) for cell in range(len(result.contexts))]
        assert result.moments is not None
        self.numbers = np.flatnonzero(np.diagonal(result.moments.merged().scatter[0]) > 0.0)

    def values(self, number: int, seed: int) -> Floats:
        """Shape (rows of the table, 2 or 4): least and greatest with the graph found, then with the sample's own."""
        chosen = drawn_rows(self.of_cell, number, seed)
        found = self._answers(chosen[self.complete[chosen]], {})
        if self.resample is None:
            return found
        outcome = self.resample.outcome(chosen)
        names, kind = self.result.names, self.result.union.kind
        found_graphs = (Graph(names, endpoints, kind) for endpoints in outcome.endpoints)
        graphs = dict(zip(self.result.contexts, found_graphs, strict=True))
        own = {"graphs": graphs, "log": outcome.log, "evidence": outcome.evidence}
        return np.hstack([found, self._answers(chosen[self.complete[chosen]], own)])

    def _answers(self, chosen: NDArray[np.intp], own: dict[str, Any]) -> Floats:
        """The least and the greatest value of every row of the table; NaN where there is none."""
        values = np.zeros((len(chosen), len(self.data.names)))
        for position in self.numbers:
            values[:, position] = np.asarray(self.data.columns[position])[chosen]
        moments = Moments.of_rows(values, self.data.codes[chosen], len(self.of_cell))
        drawn = replace(self.result, moments=moments, rows=some_rows(self.data, chosen), **own)
        mechanics = Mechanics(drawn, "classical")
        found = np.full((len(self.asked), 2), np.nan)
        for place, asked in enumerate(self.asked):
            estimates = _answer(mechanics, *asked).estimates
            if estimates:
                found[place] = estimates[0].value, estimates[-1].value
        return found


def sampled_effects(result: ContextGraphs, x: str | None, y: str | None, *, samples: int, graph: str, level: float,
                    seed: int, n_jobs: int, levels: LevelOptions = (None, None)) -> pd.DataFrame:  # fmt: skip
    """The table of effects with intervals by the bootstrap; see `ContextGraphs.effects`."""
    check_whole("samples", samples, FEWEST)
    check_jobs(n_jobs)
    check_level("level", level)
    if result.rows is None:
        raise OptionError("samples need the rows of the table, which a loaded result or a scanned one has not; run "
                          "discover again")  # fmt: skip
    if graph == "resampled":
        check_resampling(result, samples)
    mechanics = Mechanics(result, "classical")
    check_levels_asked(x, y, levels)
    pairs = [(pair, contrasts(mechanics, *pair, *levels)) for pair in asked_pairs(mechanics, x, y)]
    plain = [row for pair, some in pairs for row in pair_rows(mechanics, *pair, level, some)]
    asked = [(*row, one) for pair, some in pairs for one in some for row in asked_rows(mechanics, *pair)]
    sampler = EffectSampler(result, asked, graph == "resampled")
    drawn = np.stack(list(each_sample(sampler.values, samples, seed, n_jobs)))
    more = ["samples"] if graph == "found" else ["samples", "from graph", "zero in", "open in"]
    named = columns(mechanics)
    known = (dict(zip(named, row, strict=True)) for row in plain)
    rows = [_with_samples(row, drawn[:, place], level) for place, row in enumerate(known)]
    return framed(rows, [*named, *more])


def _answer(mechanics: Mechanics, x: int, y: int, g: int, h: int, levels: Contrast) -> Possible:
    if x in mechanics.contexts:
        return context_effect(mechanics, x, g, h, y, levels)
    return effect_in(mechanics, g, x, y, levels) if h < 0 else difference(mechanics, g, h, x, y, levels)


def _with_samples(known: dict[str, Any], drawn: Floats, level: float) -> tuple[Any, ...]:
    """A row of the table, with error, interval and p-value by the samples, shape (samples, 2 or 4)."""
    used = drawn[:, -2:]
    used = used[np.isfinite(used[:, 0])]
    if len(used) < FEWEST:
        known |= dict.fromkeys(("se", "low", "high", "p"), np.nan)
    else:
        low, high = np.quantile(used[:, 0], (1.0 - level) / 2.0), np.quantile(used[:, 1], (1.0 + level) / 2.0)
        beyond = min(float(np.mean(used[:, 0] <= 0.0)), float(np.mean(used[:, 1] >= 0.0)))
        p = np.nan if low == high else max(min(2.0 * beyond, 1.0), 1.0 / len(used))
        known |= {"se": float(used.mean(axis=1).std(ddof=1)), "low": float(low), "high": float(high), "p": p}
    known["intervals"] = "samples"
    more = (len(drawn),) if drawn.shape[1] == 2 else (len(drawn), *_of_graph(drawn))
    return (*known.values(), *more)


def _of_graph(drawn: Floats) -> tuple[float, float, float]:
    """The share of the variance that the graph adds; shares of samples without a path, and without a single value."""
    own = drawn[:, 2:]
    answered = np.isfinite(own[:, 0])
    zero, open_ = np.mean((own == 0.0).all(axis=1)), np.mean(~answered | (own[:, 0] != own[:, 1]))
    both = answered & np.isfinite(drawn[:, 0])
    spread = own[both].mean(axis=1).var() if both.sum() > 1 else 0.0
    within = drawn[both, :2].mean(axis=1).var() if both.sum() > 1 else 0.0
    share = float(np.clip(1.0 - within / spread, 0.0, 1.0)) if spread > 0.0 else 0.0
    return share, float(zero), float(open_)
