"""Scores are those of least squares on the rows; searches are close to all subsets; orders are optimal."""

from itertools import combinations

import numpy as np
import pytest
from naive_series import best_order, interaction_score, partitioned_score, pooled_score
from scipy.optimize import minimize

from causalcontext.data.series import Series
from causalcontext.data.windows import lagged_table
from causalcontext.kernels.lagged.subsets import OPEN, best_subset
from causalcontext.simulate import SeriesDesign, random_series_model
from causalcontext.timeseries.local_models import LocalModels
from causalcontext.timeseries.order_search import search_by_insertion, search_exactly
from causalcontext.timeseries.problem import Allowed, LaggedProblem


def a_problem(seed, variables=3, lags=1, contexts=2, rows=300, shift=0.0):
    model = random_series_model(SeriesDesign(variables=variables, lags=lags, contexts=contexts), seed)
    table = model.sample(rows, seed)
    values = table.drop(columns="R").to_numpy() * [1.0, -7.0, 0.01, 3.0][:variables] + shift
    series = Series(tuple(model.names), values, table["R"].to_numpy(), (), np.zeros((rows, 0)),
                    np.zeros(rows, dtype=int), np.arange(rows))  # fmt: skip
    may = np.ones((lags + 1, variables + 1, variables + 1), dtype=bool)
    return LaggedProblem(lagged_table(series, lags, contexts), Allowed(may, np.zeros_like(may)), (0, 1), 2.0, True)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("contexts", [2, 3])
def test_scores_are_those_of_least_squares(seed, contexts):
    problem = a_problem(seed, contexts=contexts, shift=1e3)
    local, values = LocalModels(problem), problem.table.values
    for node in range(3):
        before = 0b111 & ~(1 << node)
        pooled = local.pooled(node, before)
        assert pooled.score == pytest.approx(
            pooled_score(values, node, np.flatnonzero(pooled.parents[0]), problem.cost)
        )
        for place, lag in enumerate(problem.copies):
            codes = problem.table.codes[:, lag]
            shifted = local._shifted(node, before, place)
            for model in (shifted, local._interaction(node, before, place, shifted)):
                naive = interaction_score(values, codes, node, model.blocks, problem.cost)
                assert model.score == pytest.approx(naive)
            divided = local._partitioned(node, before, place)
            if len(set(divided.mechanism)) == contexts:
                naive = partitioned_score(values, codes, node, divided.parents, problem.cost)
                assert divided.score == pytest.approx(naive)


def test_subsets_are_close_to_the_best_of_all():
    worse = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        values = random.normal(size=(60, 8))
        values[:, 1:] += random.normal(size=(60, 1))
        values[:, 0] += values[:, 1:] @ (random.normal(size=7) * (random.random(7) < 0.4))
        values = (values - values.mean(axis=0)) / values.std(axis=0)
        covariance = values.T @ values / 60
        status = np.full(8, OPEN)
        status[0] = 0
        chosen = np.zeros(8, dtype=bool)
        score = best_subset(covariance, 60.0, 0, status, 4.0, 50, chosen)
        naive = {
            some: pooled_score(values, 0, list(some), lambda n: 4.0)
            for size in range(8)
            for some in combinations(range(1, 8), size)
        }
        constant = 30.0 * (np.log(2 * np.pi) + 1.0) + 8.0
        assert score == pytest.approx(naive[tuple(np.flatnonzero(chosen))] + constant)
        worse += score < max(naive.values()) + constant - 1e-6
    assert worse <= 4


def test_the_context_is_a_logit_and_score_tests_promise_what_fits_gain():
    problem = a_problem(5)
    models = LocalModels(problem).context
    codes, values = problem.table.codes[:, 0], problem.table.values

    def naive(columns):
        design = np.column_stack([np.ones(len(codes)), *(values[:, c] for c in columns)])

        def loss(slopes):
            power = design @ slopes
            return np.logaddexp(0.0, power).sum() - power[codes == 1].sum()

        return -minimize(loss, np.zeros(design.shape[1])).fun - problem.cost(problem.rows) * (len(columns) + 1)

    for columns in [(), (0,), (1, 4)]:
        assert models.fit(columns).score == pytest.approx(naive(columns), abs=0.05)
    weak = [c for c in range(6) if abs(models.fit(()).gains[c]) < 8.0]
    for c in weak:
        assert models.fit(()).gains[c] == pytest.approx(models.fit((c,)).score - models.fit(()).score, abs=1.0)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_is_the_best_of_all_orders(seed):
    problem = a_problem(seed)
    local = LocalModels(problem)
    found = search_exactly(local)

    def score(node, before):
        return max(local.best(node, some).score for some in range(before + 1) if some & ~before == 0)

    assert found.score >= best_order(score, 4) - 1e-6
    assert found.score == pytest.approx(sum(model.score for model in found.models))
    moved = search_by_insertion(LocalModels(problem), 3, 0)
    assert moved.score == pytest.approx(found.score, abs=1e-6)
    for place, node in enumerate(found.order):
        assert found.models[node].used & ~sum(1 << other for other in found.order[:place]) == 0
