"""What sepset records keeps of the levels that it is told about."""

from __future__ import annotations

import numpy as np

from causalcontext.kernels.levels.skeleton import REASON, ROWS, UNTESTED, no_decisions
from causalcontext.search.sepsets import SepsetRecords
from causalcontext.views import Reason

PLACES, LEADER = np.array([0]), np.array([0])


def test_a_level_without_sets_takes_no_reason_away() -> None:
    """A pair that no test takes keeps its reason when a later level has no sets for it."""
    sepsets, untested = SepsetRecords.empty(2, 1), no_decisions(1, 1, 0)
    untested.facts[0, 0, [ROWS, REASON, UNTESTED]] = 12, Reason.FEW_CONTEXTS, 3
    sepsets.take(untested, PLACES, LEADER, 0)
    sepsets.take(no_decisions(1, 1, 1), PLACES, LEADER, 0)
    assert list(sepsets.facts[0, 0, [ROWS, REASON, UNTESTED]]) == [12, Reason.FEW_CONTEXTS, 3]
