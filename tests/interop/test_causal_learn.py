"""causal-learn's searches take our context-adaptive test by its name."""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext.examples import example_i
from causalcontext.interop.causal_learn import AdaptiveTest, register

TABLE = example_i(3000, seed=2)
ARRAY = TABLE.to_numpy(dtype=float)


def test_the_test_chooses_its_rows():
    zero, one = (AdaptiveTest(ARRAY, context=2, level=level) for level in (0, 1))
    assert zero(0, 1) == one(0, 1) > 0.001
    assert zero(1, 3, [2]) > 0.001
    assert one(1, 3, [2]) < 1e-10
    assert zero(0, 1, [2]) < 1e-10


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("level", [0, 1])
def test_pc_and_fci_find_what_we_find(level):
    pytest.importorskip("causallearn", reason="causal-learn is not installed")
    from causallearn.search.ConstraintBased.FCI import fci
    from causallearn.search.ConstraintBased.PC import pc

    name = register()
    ours = cc.discover(TABLE, "R", alpha=0.01, method="pc-ac").graphs[level].adjacency
    found = pc(ARRAY, 0.01, name, show_progress=False, context=2, level=level)
    assert np.array_equal(found.G.graph != 0, ours)
    graph, _ = fci(ARRAY, name, 0.01, show_progress=False, context=2, level=level)
    assert np.array_equal(graph.graph != 0, ours)
