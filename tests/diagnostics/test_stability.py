"""Bootstrap stability: frequencies of marks and labels, the same however the work is spread."""

import numpy as np
import pytest

import causalcontext as cc
from causalcontext.diagnostics.stability import MARKS, Resample, Stability
from causalcontext.graphs.endpoints import GraphKind, marked
from pags import soil_pags


@pytest.fixture(scope="module")
def result():
    return cc.discover(
        cc.examples.soil_moisture(600, seed=1), context="soil", alpha=0.01, method="pc-ac"
    )


@pytest.fixture(scope="module")
def stable(result):
    return result.stability(40, seed=3)


def test_a_sample_is_a_search_of_the_drawn_rows(result):
    """The naive twin: draw the rows into a table and search that."""
    resample = Resample(result)
    table = cc.examples.soil_moisture(600, seed=1)
    for number in range(5):
        generator = np.random.default_rng([3, number])
        rows = np.concatenate(
            [of[generator.integers(len(of), size=len(of))] for of in resample.of_cell]
        )
        drawn = cc.discover(
            table.iloc[rows], context="soil", alpha=0.01, method="pc-ac", damaged="keep"
        )
        for place, value in enumerate(drawn.contexts):
            adjacency = resample.endpoints(number, seed=3)[place] != 0
            assert np.array_equal(adjacency, drawn.graphs[value].adjacency)


def test_frequencies_are_shares(result, stable):
    frequency = stable.frequency
    assert frequency.shape == (2, 7, 7, 4)
    assert frequency.sum(axis=-1).max() <= 1.0 + 1e-12
    assert np.allclose(frequency[..., 0], frequency[..., 1].swapaxes(1, 2))
    edges = stable.edges(0.0)
    certain = edges.query("x == 'precipitation' and y == 'soil'")
    assert (certain["present"] > 0.9).all()
    assert edges["present"].between(0, 1).all()


def test_marks_of_pags_have_their_own_columns():
    pags = soil_pags()
    endpoints = np.stack([graph.endpoints for graph in pags.graphs.values()])
    frequency = np.stack(
        [marked(endpoints, mark) for mark in MARKS[GraphKind.PAG]], axis=-1
    ).astype(float)
    edges = Stability(pags, 1, frequency, {}).edges()
    assert (edges["present"] == 1.0).all()
    assert all(row[row["found"]] == 1.0 for _, row in edges.iterrows())
    assert edges["found"].nunique() == 6


def test_labels_have_frequencies(result, stable):
    labels = stable.labels().set_index(["x", "y"])
    row = labels.loc["precipitation", "runoff"]
    assert row["contexts"] == row["most frequent"] == ("wet",)
    assert row["frequency"] > 0.7
    assert "40 samples" in str(stable)
    for shares in stable.label_frequency.values():
        assert sum(shares.values()) == pytest.approx(1.0)


@pytest.mark.slow
def test_workers_and_progress_do_not_change_the_result(result, stable):
    seen = []
    again = result.stability(
        40, seed=3, n_jobs=2, progress=lambda done, total: seen.append((done, total))
    )
    assert np.array_equal(again.frequency, stable.frequency)
    assert seen[-1] == (40, 40)
    other = result.stability(40, seed=4)
    assert not np.array_equal(other.frequency, stable.frequency)


@pytest.mark.parametrize("method", ["pc-m", "pc-p", "pc-b"])
def test_every_method(method):
    result = cc.discover(cc.examples.soil_moisture(200, seed=1), context="soil", method=method)
    assert result.stability(3).frequency.shape == (2, 7, 7, 4)


def test_plain_pc():
    result = cc.discover(
        cc.examples.soil_moisture(200, seed=1).drop(columns="soil"), method="pc-ac"
    )
    assert result.stability(3).frequency.shape == (1, 6, 6, 4)


def test_loaded_results_have_no_rows(result, tmp_path):
    result.save(tmp_path / "r.json")
    with pytest.raises(cc.OptionError, match="not available on a loaded result"):
        cc.load(tmp_path / "r.json").stability()
    with pytest.raises(cc.OptionError, match="samples is 0"):
        result.stability(0)


def test_score_based_results_have_frequencies_too():
    result = cc.discover(
        cc.examples.soil_moisture(300, seed=2), context="soil", method="score-ac", starts=2
    )
    stable = result.stability(samples=5)
    assert stable.samples == 5
    edges = stable.edges(0.8)
    assert edges.query("x == 'evapotranspiration' and y == 'humidity'")["present"].min() == 1.0
