"""Numbers in whose place one value is written: draws, their density, what is written instead, what
a search takes.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm

import causalcontext as cc
from causalcontext.data.coarse import CENSORED, HURDLES, REPLACED, SCORES, few_valued
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.knowledge import Knowledge
from causalcontext.score.censored import (
    Limit,
    Normal,
    Unwritten,
    drawn_columns,
    hurdle,
    limits_of,
    log_density_beyond,
    log_probability_below,
    probit,
    tobit,
)
from causalcontext.score.data import score_data
from causalcontext.score.design import POOLED, ScoreDesign
from causalcontext.score.options import ScoreOptions
from causalcontext.score.treatments import treatments
from causalcontext.score.workspace import FitWorkspace

COVARIANCE = np.array([[1.0, 0.6, -0.3], [0.6, 1.5, 0.2], [-0.3, 0.2, 0.8]])


def rain(rows, seed, acts, sign=1.0):
    """Z --> X --> Y, V --> Y, W --> X; X and V are 0 where they are below, and what is written
    acts, or not.
    """
    generator = np.random.default_rng([seed, rows])
    z, w, *noise = generator.normal(size=(5, rows))
    x = 1.2 * z - w + 0.7 * noise[0]
    v = 1.2 * z + 0.8 * noise[1]
    x, v, written = (x, v, (np.maximum(x, 0.0), np.maximum(v, 0.0)))
    mine = written if acts else (x, v)
    y = 1.5 * mine[0] + mine[1] + 0.8 * noise[2]
    table = pd.DataFrame({"Z": z, "W": w, "X": sign * written[0], "V": sign * written[1], "Y": y})
    return table, np.stack([x, v]), generator.integers(2, size=rows)


def sales(rows, seed, acts):
    """The same, but X and V are -1, a value like others, where nothing is counted, mostly low
    ones.
    """
    generator = np.random.default_rng([seed, rows, 1])
    z, w, *noise = generator.normal(size=(5, rows))
    x, v = 1.2 * z - w + 0.7 * noise[0], 1.2 * z + 0.8 * noise[1]
    written = [
        np.where(generator.normal(size=rows) < -0.4 - 0.6 * one, -1.0, one + 1.0) for one in (x, v)
    ]
    mine = written if acts else (x, v)
    y = 1.5 * mine[0] + mine[1] + 0.8 * noise[2]
    table = pd.DataFrame({"Z": z, "W": w, "X": written[0], "V": written[1], "Y": y})
    return table, np.stack([x, v]), generator.integers(2, size=rows)


def told(result):
    (note,) = [note for note in result.notes if "few distinct values" in note]
    return note


@pytest.mark.parametrize("k", [1, 2, 3])
def test_probabilities_of_several_limits_are_those_of_normal_variables(k):
    ends = np.random.default_rng(k).normal(size=(40, k)) - 0.3
    covariance = np.repeat(COVARIANCE[None, :k, :k], 40, axis=0)
    naive = [np.log(multivariate_normal(np.zeros(k), COVARIANCE[:k, :k]).cdf(end)) for end in ends]
    found = log_probability_below(ends, covariance, np.random.default_rng(0))
    assert found == pytest.approx(naive, abs=1e-10 if k == 1 else 0.5)
    assert found.mean() == pytest.approx(np.mean(naive), abs=0.06)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_density_of_draws_is_that_of_selected_normal_variables(noise):
    """Row by row: the conditional density over the conditional probability that nothing was
    written.
    """
    generator = np.random.default_rng(4)
    x, mean, slopes = (
        generator.normal(size=(30, 3)),
        np.array([0.2, -0.1, 0.3]),
        np.array([1.0, 1.0, 1.0]),
    )
    slopes = slopes if noise == 0.0 else np.array([0.8, -1.1, 0.4])
    beyond, ends = generator.random((30, 3)) < 0.4, np.array([2.5, 3.0, 2.0])
    naive = 0.0
    for row, own in zip(x, beyond, strict=True):
        if own.any():
            other, slope = ~own, slopes[own]
            gain = COVARIANCE[np.ix_(own, other)] @ np.linalg.inv(COVARIANCE[np.ix_(other, other)])
            expected = mean[own] + gain @ (row - mean)[other]
            spread = COVARIANCE[np.ix_(own, own)] - gain @ COVARIANCE[np.ix_(other, own)]
            away = np.outer(slope, slope) * spread + noise * np.eye(len(slope))
            naive += multivariate_normal(expected, spread).logpdf(row[own])
            naive -= np.log(multivariate_normal(slope * expected, away).cdf(ends[own]))
    normal, unwritten = (
        Normal(np.arange(30), mean, COVARIANCE),
        Unwritten(ends, slopes, np.full(3, noise)),
    )
    assert log_density_beyond(x, beyond, unwritten, [normal], generator) == pytest.approx(
        naive, abs=0.5
    )
    assert log_density_beyond(x, np.zeros_like(beyond), unwritten, [normal], generator) == 0.0


def test_probit_and_hurdle_are_the_largest_likelihoods():
    generator = np.random.default_rng(6)
    x = generator.normal(size=(2, 400))
    chosen = 0.8 * x[0] + generator.normal(size=400) < -0.3
    y = np.where(chosen, 0.0, 3.0 + x[0] - x[1] + 0.5 * generator.normal(size=400))

    def ridged(theta):
        away = np.where(chosen, 1.0, -1.0) * (theta[0] - theta[1] * x[0])
        return -norm.logcdf(away).sum() + 0.5 * theta[1] ** 2

    assert probit(x[0], chosen, steps=20) == pytest.approx(
        minimize(ridged, np.zeros(2)).x, abs=1e-3
    )
    everywhere = generator.normal(size=400) < x[0]
    assert np.isfinite(probit(x[0], x[0] < 0.0, steps=60)).all()
    assert probit(x[0], everywhere, steps=20)[1] < 0.0
    design = np.stack([np.ones(400), *x])

    def loss(theta):
        logit, expected = theta[:3] @ design, theta[3:6] @ design
        inside = norm.logpdf(y, expected, np.exp(theta[6]))[~chosen].sum()
        return -inside + np.logaddexp(0.0, np.where(chosen, -logit, logit)).sum()

    assert hurdle(design, y, chosen) == pytest.approx(-minimize(loss, np.zeros(7)).fun, abs=0.1)


def test_tobit_is_the_largest_likelihood():
    generator = np.random.default_rng(5)
    design = np.stack([np.ones(300), generator.normal(size=300)])
    latent = np.array([0.4, 1.1]) @ design + 0.7 * generator.normal(size=300)
    response, censored = np.maximum(latent, 0.0), latent < 0.0

    def loss(theta):
        expected, spread = theta[:2] @ design, np.exp(theta[2])
        inside = norm.logpdf(response, expected, spread)[~censored].sum()
        return -inside - norm.logcdf((response - expected) / spread)[censored].sum()

    assert tobit(design, response, censored) == pytest.approx(
        -minimize(loss, np.zeros(3)).fun, abs=0.01
    )


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_drawn_has_the_moments_of_what_is_behind(sign):
    """Below a lowest value, and above a highest one; cells that are no limit stay, and so do
    units.
    """
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


def test_numbers_in_whose_place_a_value_is_written_are_drawn_anywhere():
    """Their moments are those of what is behind, on either side of the value; it may lie in the
    middle of others.
    """
    table, latent, code = sales(1500, 1, False)
    data = read_table(table.assign(R=code), "R")
    scored = score_data(data, gather_statistics(data, "listwise"), Knowledge().links(data.names))
    assert limits_of(scored, few_valued(data)) == {}
    limits = limits_of(scored, few_valued(data), anywhere=True)
    assert limits == {data.names.index(name): Limit(-1.0, 0.0) for name in ("X", "V")}
    columns, _ = drawn_columns(scored, limits, 0)
    found = np.stack([columns[data.names.index(name)] for name in ("X", "V")])
    replaced = table[["X", "V"]].to_numpy().T == -1.0
    assert found[~replaced] == pytest.approx(1.0 + latent[~replaced])
    assert (found[replaced] > -1.0).any()
    everything = np.vstack([found, table[["Z", "W", "Y"]].T])
    truth = np.vstack([1.0 + latent, table[["Z", "W", "Y"]].T])
    assert np.corrcoef(everything) == pytest.approx(np.corrcoef(truth), abs=0.05)
    assert everything.std(axis=1) == pytest.approx(truth.std(axis=1), rel=0.08)
    assert everything.mean(axis=1) == pytest.approx(truth.mean(axis=1), abs=0.12)


@pytest.mark.parametrize("acts", [False, True])
def test_structural_values_are_told_from_written_ones(acts, tmp_path):
    table, _, code = sales(600, 3, acts)
    result = cc.discover(table.assign(R=code), "R", method="score-ac")
    assert (HURDLES if acts else REPLACED) in told(result)
    found = {frozenset((edge.source, edge.target)) for edge in result.union.edges}
    assert {pair for pair in found if "R" not in pair} == {
        frozenset(pair) for pair in ("ZX", "WX", "ZV", "XY", "VY")
    }
    scale = result.evidence.mechanisms.scales[result.names.index("X")]
    assert scale.own(scale.standard(np.array([-1.0, 0.5, 2.0]))) == pytest.approx([-1.0, 0.5, 2.0])
    y, x = result.names.index("Y"), result.names.index("X")
    assert result.union.mark("X", "Y") == "-->"
    low, high = result.evidence.mechanisms.partial_curve(y, x, [1.0, 2.0], 0)
    assert high - low == pytest.approx(1.5, abs=0.2)
    result.save(tmp_path / "result.json")
    assert (
        cc.load(tmp_path / "result.json").evidence.mechanisms.scales
        == result.evidence.mechanisms.scales
    )


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
    assert cc.discover(shuffled, "R", method="score-ac").evidence.score == pytest.approx(
        result.evidence.score
    )


@pytest.mark.parametrize("middle", [False, True])
def test_the_score_of_a_hurdle_is_that_of_a_logit_and_a_regression_of_the_numbers(middle):
    """As a cause it offers itself and whether there is a number, wherever the value lies that says
    there is none.
    """
    table, _, code = (sales if middle else rain)(400, 5, True)
    data = read_table(table.assign(R=code), "R")
    scored = score_data(data, gather_statistics(data, "listwise"), Knowledge().links(data.names))
    way = next(way for way in treatments(scored, few_valued(data)) if way.name == HURDLES)
    design = ScoreDesign(way.data, ScoreOptions(), False)
    place = {data.names[i]: j for j, i in enumerate(way.data.position.tolist())}
    x, columns = place["X"], [int(design.first[place[name]]) for name in ("Z", "W")]
    block = design.block(POOLED, design.everything)
    y, empty = way.data.values[x], way.data.codes[x] == 0
    assert (
        empty
        == (
            way.data.table.columns[way.data.position[x]][np.argsort(code, kind="stable")]
            == (-1.0 if middle else 0.0)
        )
    ).all()
    naive = hurdle(np.stack([np.ones(400), *design.values[columns]]), y, empty) - 7 * design.price(
        400
    )
    assert FitWorkspace(design, False).score([(block, x, columns)])[0, 0] == pytest.approx(
        naive, abs=0.05
    )
    own = design.values[design.first[x] : design.first[x + 1]]
    rest = np.linalg.lstsq(np.vstack([np.ones(400), own]).T, empty.astype(float), rcond=None)[1]
    assert len(own) == 2
    assert rest == pytest.approx(0.0, abs=1e-9)


def test_equations_of_hurdles_are_those_of_what_is_written(tmp_path):
    """A cause that acts by whether there is a number, and by the number: both are told, with lags
    and contexts too.
    """
    generator = np.random.default_rng(9)
    z, *noise = generator.normal(size=(3, 900))
    x = np.where(z + generator.logistic(size=900) < 0.0, 0.0, 2.0 + 0.5 * z + 0.6 * noise[0])
    y = 3.0 * (x != 0.0) - 0.8 * x + 0.5 * noise[1]
    table = pd.DataFrame({"Z": z, "X": x, "Y": y, "R": generator.integers(2, size=900)})
    result = cc.discover(table, "R", method="score-ac")
    assert HURDLES in told(result)
    assert (result.union.mark("Z", "X"), result.union.mark("X", "Y")) == ("-->", "-->")
    zero, one, two = result.evidence.mechanisms.partial_curve(
        result.names.index("Y"), result.names.index("X"), [0.0, 1.0, 2.0], 0
    )
    assert (one - zero, two - one) == (pytest.approx(2.2, abs=0.25), pytest.approx(-0.8, abs=0.15))
    result.save(tmp_path / "result.json")
    assert (
        cc.load(tmp_path / "result.json").evidence.mechanisms.equations
        == result.evidence.mechanisms.equations
    )
    late = pd.DataFrame({"X": x, "Y": np.append(0.0, y[:-1]), "R": table["R"]})
    result = cc.discover(late, "R", method="score-ac", lags=1)
    assert HURDLES in told(result)
    assert result.union.mark("X(t-1)", "Y") == "-->"


def test_equations_and_files_know_the_limit(tmp_path):
    table, latent, _ = rain(600, 3, False)
    result = cc.discover(
        table, method="score-ac", knowledge=Knowledge(tiers=[["Z", "W"], ["X", "V"], ["Y"]])
    )
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
    assert (
        cc.load(tmp_path / "result.json").evidence.mechanisms.scales
        == result.evidence.mechanisms.scales
    )


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
    coded = table.assign(X=np.where(generator.normal(size=500) < -0.3 - 0.7 * x, 9.0, x))
    result = cc.discover(coded, "R", method="score-ac", lags=1)
    assert REPLACED in told(result)
    assert {("X(t-1)", "X"), ("X(t-1)", "Y")} <= {
        (edge.source, edge.target) for edge in result.union.edges
    }
    table, _, code = rain(600, 4, False)
    both = table.assign(
        R=code, S=generator.integers(3, size=600), K=np.where(table["Z"] > 0.3, "a", "b")
    )
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
