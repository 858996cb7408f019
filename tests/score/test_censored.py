"""Numbers beyond a limit: what is drawn there, its density, the Tobit regression, and when a search takes either."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

import causalcontext as cc
from causalcontext.data.coarse import CENSORED, SCORES, few_valued
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.knowledge import Knowledge
from causalcontext.score.censored import (
    Limit,
    Normal,
    drawn_columns,
    limits_of,
    log_density_beyond,
    log_probability_below,
    tobit,
)
from causalcontext.score.data import score_data

COVARIANCE = np.array([[1.0, 0.6, -0.3], [0.6, 1.5, 0.2], [-0.3, 0.2, 0.8]])


def rain(rows, seed, acts, sign=1.0):
    """Z --> X --> Y, V --> Y, W --> X; X and V are 0 where they are below, and what is written acts, or not."""
    generator = np.random.default_rng([seed, rows])
    z, w, *noise = generator.normal(size=(5, rows))
    x = 1.2 * z - w + 0.7 * noise[0]
    v = 1.2 * z + 0.8 * noise[1]
    x, v, written = (x, v, (np.maximum(x, 0.0), np.maximum(v, 0.0)))
    mine = written if acts else (x, v)
    y = 1.5 * mine[0] + mine[1] + 0.8 * noise[2]
    table = pd.DataFrame({"Z": z, "W": w, "X": sign * written[0], "V": sign * written[1], "Y": y})
    return table, np.stack([x, v]), generator.integers(2, size=rows)


def told(result):
    (note,) = [note for note in result.notes if "numbers of few values" in note]
    return note


@pytest.mark.parametrize("k", [1, 2, 3])
def test_probabilities_of_several_limits_are_those_of_normal_variables(k):
    ends = np.random.default_rng(k).normal(size=(40, k)) - 0.3
    covariance = np.repeat(COVARIANCE[None, :k, :k], 40, axis=0)
    naive = [np.log(multivariate_normal(np.zeros(k), COVARIANCE[:k, :k]).cdf(end)) for end in ends]
    found = log_probability_below(ends, covariance, np.random.default_rng(0))
    assert found == pytest.approx(naive, abs=1e-10 if k == 1 else 0.5)
    assert found.mean() == pytest.approx(np.mean(naive), abs=0.06)


def test_density_of_draws_is_that_of_truncated_normal_variables():
    """Row by row: the conditional density over the conditional probability of all cells below their ends."""
    generator = np.random.default_rng(4)
    x, mean = generator.normal(size=(30, 3)), np.array([0.2, -0.1, 0.3])
    beyond = generator.random((30, 3)) < 0.4
    ends = np.where(beyond, x + generator.exponential(size=x.shape), np.inf)
    naive = 0.0
    for row, own, end in zip(x, beyond, ends, strict=True):
        if own.any():
            other = ~own
            gain = COVARIANCE[np.ix_(own, other)] @ np.linalg.inv(COVARIANCE[np.ix_(other, other)])
            law = multivariate_normal(mean[own] + gain @ (row - mean)[other],
                                      COVARIANCE[np.ix_(own, own)] - gain @ COVARIANCE[np.ix_(other, own)])  # fmt: skip
            naive += law.logpdf(row[own]) - np.log(law.cdf(end[own]))
    normal = Normal(np.arange(30), mean, COVARIANCE)
    assert log_density_beyond(x, beyond, ends, [normal], generator) == pytest.approx(naive, abs=0.5)
    assert log_density_beyond(x, np.zeros_like(beyond), ends, [normal], generator) == 0.0


def test_tobit_is_the_largest_likelihood():
    generator = np.random.default_rng(5)
    design = np.stack([np.ones(300), generator.normal(size=300)])
    latent = np.array([0.4, 1.1]) @ design + 0.7 * generator.normal(size=300)
    response, censored = np.maximum(latent, 0.0), latent < 0.0

    def loss(theta):
        expected, spread = theta[:2] @ design, np.exp(theta[2])
        inside = norm.logpdf(response, expected, spread)[~censored].sum()
        return -inside - norm.logcdf((response - expected) / spread)[censored].sum()

    assert tobit(design, response, censored) == pytest.approx(-minimize(loss, np.zeros(3)).fun, abs=0.01)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_drawn_has_the_moments_of_what_is_behind(sign):
    """Below a lowest value, and above a highest one; cells that are no limit stay, and so do units."""
    table, latent, code = rain(1500, 1, False, sign)
    table, latent = 3.0 + 10.0 * table.assign(R=code), 3.0 + 10.0 * sign * latent
    data = read_table(table.assign(R=code), "R")
    scored = score_data(data, gather_statistics(data, "listwise"), Knowledge().links(data.names))
    limits = limits_of(scored, few_valued(data))
    assert limits == {data.names.index(name): Limit(3.0, sign) for name in ("X", "V")}
    columns, _ = drawn_columns(scored, limits, 0)
    found = np.stack([columns[data.names.index(name)] for name in ("X", "V")])
    at_limit = table[["X", "V"]].to_numpy().T == 3.0
    assert found[~at_limit] == pytest.approx(latent[~at_limit])
    assert (sign * found[at_limit] <= sign * 3.0).all()
    everything = np.vstack([found, table[["Z", "W", "Y"]].T])
    truth = np.vstack([latent, table[["Z", "W", "Y"]].T])
    assert np.corrcoef(everything) == pytest.approx(np.corrcoef(truth), abs=0.05)
    assert everything.std(axis=1) == pytest.approx(truth.std(axis=1), rel=0.06)


@pytest.mark.parametrize("acts", [False, True])
def test_numbers_behind_a_limit_are_told_from_written_ones(acts):
    """Where the number behind acts, links of what it stands for are not left to other columns."""
    table, _, code = rain(600, 3, acts)
    result = cc.discover(table.assign(R=code), "R", method="score-ac")
    assert (CENSORED in told(result)) == (not acts)
    assert (SCORES in told(result)) == acts
    if not acts:
        found = {frozenset((edge.source, edge.target)) for edge in result.union.edges}
        assert {pair for pair in found if "R" not in pair} == {
            frozenset(pair) for pair in ("ZX", "WX", "ZV", "XY", "VY")
        }
    shuffled = table.assign(R=code).sample(frac=1.0, random_state=1)[["R", "Y", "X", "W", "V", "Z"]]
    assert cc.discover(shuffled, "R", method="score-ac").evidence.score == pytest.approx(result.evidence.score)


def test_equations_and_files_know_the_limit(tmp_path):
    table, latent, _ = rain(600, 3, False)
    result = cc.discover(table, method="score-ac", knowledge=Knowledge(tiers=[["Z", "W"], ["X", "V"], ["Y"]]))
    assert CENSORED in told(result)
    scale = result.evidence.mechanisms.scales[result.names.index("X")]
    zero, one, two = scale.standard([0.0, 1.0, 2.0])
    unit = two - one
    assert (zero - one) / unit + 1.0 == pytest.approx(latent[0][latent[0] < 0.0].mean(), abs=0.15)
    assert scale.own(scale.standard(np.array([0.0, 0.5, 2.0]))) == pytest.approx([0.0, 0.5, 2.0])
    low, high = result.evidence.mechanisms.partial_curve(
        result.names.index("Y"), result.names.index("X"), [1.0, 2.0], 0
    )
    assert high - low == pytest.approx(1.5, abs=0.2)
    assert scale.own(np.array([one - 1.2 * unit])) == pytest.approx(0.0)
    result.save(tmp_path / "result.json")
    assert cc.load(tmp_path / "result.json").evidence.mechanisms.scales == result.evidence.mechanisms.scales


def test_lags_and_several_contexts_go_with_limits():
    generator = np.random.default_rng(7)
    x, y = np.zeros((2, 500))
    for t in range(1, 500):
        x[t] = 0.5 * x[t - 1] + generator.normal()
        y[t] = 1.2 * x[t - 1] + 0.7 * generator.normal()
    table = pd.DataFrame({"X": np.maximum(x, -0.2), "Y": y, "R": generator.integers(2, size=500)})
    result = cc.discover(table, "R", method="score-ac", lags=1)
    assert CENSORED in told(result)
    assert result.union.mark("X(t-1)", "Y") == "-->"
    table, _, code = rain(600, 4, False)
    both = table.assign(R=code, S=generator.integers(3, size=600), K=np.where(table["Z"] > 0.3, "a", "b"))
    result = cc.discover(both, ["R", "S"], method="score-ac")
    assert CENSORED in told(result)
    assert {"Z", "W"} <= {edge.source for edge in result.union.edges if edge.target == "X"}


def test_many_limits_are_not_drawn():
    generator = np.random.default_rng(8)
    table = {f"X{k}": np.maximum(generator.normal(size=300), 0.0) for k in range(13)}
    data = read_table(table, None)
    scored = score_data(data, gather_statistics(data, "listwise"), Knowledge().links(data.names))
    assert limits_of(scored, few_valued(data)) == {}
    assert len(limits_of(scored, few_valued(data)[:12])) == 12
