"""Bootstrap samples of a table that was scanned: blocks of rows are drawn, since the rows themselves are gone.

The moments of some blocks, each as often as it was drawn, are those of the rows in them; so a sample costs a sum and a
search. Blocks are drawn separately in every context, as many as have rows there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalcontext.ci_tests.gaussian import PreparedGaussian
from causalcontext.data.moments import Moments
from causalcontext.data.scan import Scan
from causalcontext.data.sufficient_statistics import drop_empty_cells
from causalcontext.diagnostics.support import Support
from causalcontext.errors import OptionError
from causalcontext.kernels.arrays import Floats, Ints
from causalcontext.methods.registry import run_method
from causalcontext.methods.task import Task
from causalcontext.options import Options
from causalcontext.progress import Watch, nobody
from causalcontext.results.contexts import ContextGraphs
from causalcontext.score.options import ScoreOptions

FEWEST_BLOCKS = 10
ON_MOMENTS = ("partial-correlation", "fisher-z")
"""Tests that need no rows at all."""
NO_ROWS = ("stability of a scanned table draws blocks of rows, whose moments answer no test on rows; pass "
           "test='partial-correlation', or method='score-ac' to discover")  # fmt: skip


class BlockResample:
    """Draws a bootstrap sample of blocks by its number, and searches it.

    Parameters
    ----------
    result : ContextGraphs
        Of a scanned table, by tests that need no more than moments.
    """

    def __init__(self, result: ContextGraphs) -> None:
        scanned, prepared = result.scanned, result.prepared
        assert scanned is not None
        assert isinstance(prepared, PreparedGaussian)
        kept = np.flatnonzero(scanned.statistics.moments.rows > 0).tolist()
        self.data, self.statistics = drop_empty_cells(scanned.data, scanned.statistics)
        self.settings, self.kind = result.settings, prepared.kind
        self.links = result.settings.knowledge.links(result.names)
        self.support = Support(self.data, result.settings.alpha)
        self.blocks = [block.some(kept) for block in scanned.blocks]

    def endpoints(self, number: int, seed: int) -> NDArray[np.int8]:
        """The ends of all contexts for one sample, shape (contexts, N, N)."""
        moments = self._on_columns(drawn_moments(self.blocks, number, seed))
        prepared = PreparedGaussian(moments, self.data.contexts, self.kind)
        task = Task(prepared, self.data, self.statistics, self.links, self.settings, ScoreOptions(), 1, Watch(nobody),
                    self.support)  # fmt: skip
        return run_method(self.settings.method, task).whole().endpoints

    def _on_columns(self, moments: Moments) -> Moments:
        """The moments with every variable at its place in the table; context variables are constant."""
        cells, system = len(moments.rows), list(self.data.system)
        mean, scatter = np.zeros((cells, len(self.data.names))), np.zeros((cells, *2 * (len(self.data.names),)))
        mean[:, system] = moments.mean
        scatter[np.ix_(range(cells), system, system)] = moments.scatter
        return Moments(moments.rows, mean, scatter)


def drawn_moments(blocks: list[Moments], number: int, seed: int) -> Moments:
    """The moments of one sample of blocks."""
    generator = np.random.default_rng([seed, number])
    rows = np.stack([block.rows for block in blocks])
    mean, scatter = np.stack([block.mean for block in blocks]), np.stack([block.scatter for block in blocks])
    parts = [_weighted(rows[:, cell], mean[:, cell], scatter[:, cell], generator) for cell in range(rows.shape[1])]
    found = [np.stack(part) for part in zip(*parts, strict=True)]
    return Moments(found[0], found[1], found[2])


def _weighted(
    rows: Ints, mean: Floats, scatter: Floats, generator: np.random.Generator
) -> tuple[np.int64, Floats, Floats]:
    """Rows, mean and cross products of one cell in some of its blocks."""
    there = np.flatnonzero(rows)
    times = generator.multinomial(there.size, np.full(there.size, 1.0 / there.size))
    weight = (times * rows[there]).astype(np.float64)
    origin = mean[there[0]]
    away = mean[there] - origin
    centre = weight @ away / weight.sum()
    away -= centre
    both = np.tensordot(times.astype(np.float64), scatter[there], 1) + (away.T * weight) @ away
    return np.int64(weight.sum()), origin + centre, both


def check_blocks(result: ContextGraphs, scanned: Scan) -> None:
    """Return if samples of blocks can be searched in place of samples of rows."""
    if not isinstance(result.prepared, PreparedGaussian):
        raise OptionError(NO_ROWS)
    blocks = sum(bool(block.rows.sum()) for block in scanned.blocks)
    if blocks < FEWEST_BLOCKS:
        found = f"{blocks} blocks of rows" if scanned.blocks else "too many columns to keep moments by blocks"
        raise OptionError(f"stability of a scanned table draws blocks of rows, and this one has {found}; read it into "
                          "memory, or fewer of its columns")  # fmt: skip


def check_before_search(scanned: Scan, options: Options) -> None:
    """Return if nothing in the options of a search says already that blocks will not do."""
    by_tests = options.method not in ("auto", "score-ac") or options.named_for_tests
    if not scanned.whole and by_tests and options.test not in ON_MOMENTS:
        raise OptionError(NO_ROWS)
