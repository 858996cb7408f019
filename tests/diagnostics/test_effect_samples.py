"""Effects over bootstrap samples: the same numbers as naive samples, and whatever the number of
workers.
"""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
import naive_effects as naive
from causalcontext.diagnostics.stability import EffectSampler
from marks import rest_slow

GRAPH = {r: {"X": [], "R": ["X"], "B": ["X", "R"], "Y": ["B"]} for r in (0, 1)}


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    r = (x + 0.5 * rng.normal(size=n) > 0).astype(int)
    b = np.where(r == 1, 1.5, -0.8) * x + rng.normal(size=n)
    return pd.DataFrame({"X": x, "R": r, "B": b, "Y": 0.7 * b + rng.normal(size=n)})


@pytest.fixture(scope="module")
def result():
    found = cc.discover(table(), context="R", method="pc-ac")
    names = list(found.names)
    return found.with_graphs(
        {
            r: cc.Graph.from_edges(names, [(c, v, "-->") for v in of for c in of[v]])
            for r, of in GRAPH.items()
        }
    )


def test_intervals_are_quantiles_of_naive_samples(result):
    rows = table()
    found = result.effects("X", "Y", samples=40, seed=3)
    sampler = EffectSampler(result, [], resampled=False)
    drawn = []
    for number in range(40):
        generator = np.random.default_rng([3, number])
        chosen = np.concatenate(
            [cell[generator.integers(len(cell), size=len(cell))] for cell in sampler.of_cell]
        )
        fits = naive.mechanisms(rows.iloc[chosen], GRAPH, errors=False)
        effects = [naive.total_effect(fits, GRAPH, r, "X", "Y") for r in (0, 1)]
        drawn.append([*effects, effects[1] - effects[0]])
    wanted = np.quantile(drawn, [0.025, 0.975], axis=0).T
    assert found[["low", "high"]].to_numpy() == pytest.approx(wanted)
    assert found["se"].to_numpy() == pytest.approx(np.std(drawn, axis=0, ddof=1))
    assert found["effect"].to_numpy() == pytest.approx(
        result.effects("X", "Y")["effect"].to_numpy()
    )


def test_the_bootstrap_and_the_delta_method_agree(result):
    delta, drawn = result.effects(), result.effects(samples=200)
    some = delta["se"] > 0
    assert np.allclose(drawn.loc[some, "se"], delta.loc[some, "se"], rtol=0.25)
    assert (drawn.loc[some, "p"] >= 1 / 200).all()


@pytest.mark.parametrize("workers", rest_slow([1, 2]))
def test_a_new_search_in_every_sample_shows_what_comes_from_the_graph(workers):
    found = cc.discover(
        table(600, seed=2),
        context="R",
        alpha=0.01,
        knowledge=cc.Knowledge(tiers=[["X"], ["R"], ["B"], ["Y"]]),
        method="pc-ac",
    )
    drawn = found.effects("X", "Y", graph="resampled", samples=30)
    assert {"samples", "from graph", "zero in", "open in"} <= set(drawn)
    assert drawn["from graph"].between(0, 1).all()
    assert (drawn["zero in"] < 0.2).all()
    again = found.effects("X", "Y", graph="resampled", samples=30, n_jobs=workers)
    pd.testing.assert_frame_equal(drawn, again)
    with pytest.raises(cc.CausalContextError, match="samples"):
        found.effects("X", "Y", graph="resampled", samples=5)


def test_a_graph_that_hangs_on_chance_widens_the_interval():
    """A link that half of the samples lose: its zero is part of the interval, and the graph is to
    blame.
    """
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"X": rng.normal(size=200), "R": np.arange(200) % 2})
    frame["Y"] = 0.16 * frame["X"] + rng.normal(size=200)
    found = cc.discover(
        frame,
        context="R",
        alpha=0.05,
        knowledge=cc.Knowledge(tiers=[["X"], ["R", "Y"]]),
        method="pc-ac",
    )
    row = found.effects("X", "Y", graph="resampled", samples=60).iloc[0]
    assert 0.1 < row["zero in"] < 0.9
    assert row["from graph"] > 0.1
    assert row["low"] <= 0.0 <= row["high"]
