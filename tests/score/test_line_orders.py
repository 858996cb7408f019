"""The best order for lines: scores against plain least squares, the optimum of small tables against
all orders, knowledge, and tables that have no inverse.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from score_tables import design_of

import causalcontext as cc
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.orders.line_orders import LineProblem, search_lines
from causalcontext.score.lines import line_order, line_problem
from causalcontext.score.options import Clock

GOING_ON = np.zeros(1, dtype=np.int64)


def drawn(seed: int, columns: int, degree: float, rows: int, largest: float = 2.0) -> Floats:
    """Columns in standard units, in random order, of lines with weights from .4; shape (rows,
    columns).
    """
    random = np.random.default_rng([seed, columns, rows])
    values = np.zeros((columns, rows))
    for effect in range(columns):
        for cause in np.flatnonzero(random.random(effect) < degree / (columns - 1)).tolist():
            values[effect] += random.choice([-1.0, 1.0]) * (
                random.uniform(0.4, largest) * values[cause]
            )
        values[effect] += random.normal(size=rows)
        values[effect] /= values[effect].std()
    values -= values.mean(axis=1, keepdims=True)
    return np.ascontiguousarray(values[random.permutation(columns)].T)


def problem_of(values: Floats, price: float | None = None) -> LineProblem:
    """The moments of a table without knowledge."""
    rows, size = values.shape
    nothing = np.zeros((size, size), dtype=bool)
    return LineProblem(
        np.ascontiguousarray(values.T @ values / rows),
        ~np.eye(size, dtype=bool),
        nothing,
        nothing,
        float(rows),
        float(np.log(rows)) if price is None else price,
        max(12, rows // 10),
    )


def naive_score(problem: LineProblem, effect: int, causes: list[int]) -> float:
    """The score of a variable, by least squares on moments."""
    whole = problem.covariance
    left = whole[effect, effect]
    if causes:
        slopes = np.linalg.solve(whole[np.ix_(causes, causes)], whole[causes, effect])
        left -= whole[causes, effect] @ slopes
    return float(-0.5 * problem.rows * np.log(left) - problem.price * len(causes))


def naive_optimum(problem: LineProblem) -> float:
    """The best score of all orders, each variable with the best causes of those before it."""
    size = len(problem.covariance)
    local = np.full((size, 1 << size), -np.inf)
    for effect in range(size):
        others = [v for v in range(size) if v != effect]
        for count in range(size):
            for causes in combinations(others, count):
                local[effect, sum(1 << v for v in causes)] = naive_score(
                    problem, effect, list(causes)
                )
        for v in range(size):
            for members in range(1 << size):
                if members >> v & 1:
                    smaller = local[effect, members ^ 1 << v]
                    local[effect, members] = max(local[effect, members], smaller)
    best = np.full(1 << size, -np.inf)
    best[0] = 0.0
    for members in range(1, 1 << size):
        for last in range(size):
            if members >> last & 1:
                rest = members ^ 1 << last
                best[members] = max(best[members], best[rest] + local[last, rest])
    return float(best[-1])


def total_of(problem: LineProblem, causes: Bools) -> float:
    """The score of a graph."""
    return sum(
        naive_score(problem, effect, np.flatnonzero(row).tolist())
        for effect, row in enumerate(causes)
    )


@pytest.mark.parametrize(("columns", "degree"), [(12, 3.0), (25, 8.0), (180, 3.0)])
def test_the_score_is_that_of_least_squares_and_no_cause_more_or_less_pays(
    columns: int, degree: float
) -> None:
    problem = problem_of(drawn(1, columns, degree, 400))
    score, order, causes = search_lines(problem, 3, GOING_ON)
    assert score == pytest.approx(total_of(problem, causes), abs=1e-6)
    place = np.argsort(order)
    assert (place[None, :] < place[:, None])[causes].all()
    for effect in range(0, columns, 1 + columns // 40):
        chosen = np.flatnonzero(causes[effect]).tolist()
        own = naive_score(problem, effect, chosen)
        for cause in chosen:
            assert naive_score(problem, effect, [v for v in chosen if v != cause]) < own
        for other in np.flatnonzero((place < place[effect]) & ~causes[effect]).tolist():
            assert naive_score(problem, effect, [*chosen, other]) < own + 1e-4


@pytest.mark.parametrize("degree", [2.0, 4.5])
def test_small_tables_have_the_best_order_of_all(degree: float) -> None:
    missed = []
    for seed in range(12):
        problem = problem_of(drawn(seed, 7, degree, 300))
        missed.append(naive_optimum(problem) - search_lines(problem, seed, GOING_ON)[0])
    assert min(missed) > -1e-6
    # causes that hide each other are not found by one more cause at a time
    assert sum(lacking > 0.01 for lacking in missed) <= 1


def test_the_same_seed_has_the_same_order() -> None:
    problem = problem_of(drawn(5, 40, 4.0, 300))
    first, again = (search_lines(problem, 7, GOING_ON) for _ in range(2))
    assert first[0] == again[0]
    assert np.array_equal(first[1], again[1])


def test_knowledge_holds_in_every_order() -> None:
    values = drawn(2, 12, 3.0, 300)
    problem = problem_of(values)
    _, order, causes = search_lines(problem, 0, GOING_ON)
    last, first = order[-1], order[0]
    earlier = np.zeros((12, 12), dtype=bool)
    earlier[last, first] = True
    required = earlier.T.copy()
    allowed = problem.allowed & ~earlier
    effect, cause = np.argwhere(causes)[0]
    allowed[effect, cause] = False
    told = problem._replace(allowed=allowed, required=required, first=earlier)
    _, order, causes = search_lines(told, 0, GOING_ON)
    place = np.argsort(order)
    assert place[last] < place[first]
    assert causes[first, last]
    assert not causes[effect, cause]
    assert not (causes & ~allowed).any()


@pytest.mark.parametrize("columns", [30, 160])
def test_more_columns_than_rows_copies_and_constants(columns: int) -> None:
    values = drawn(3, columns, 2.0, 25)
    values[:, 1] = values[:, 0]
    values[:, 2] = 0.0
    problem = problem_of(values)._replace(most=12)
    score, order, causes = search_lines(problem, 0, GOING_ON)
    assert np.isfinite(score)
    assert sorted(order.tolist()) == list(range(columns))
    assert causes.sum(axis=1).max() <= 12
    assert not causes[2].any()
    assert not causes[:, 2].any()
    assert causes[0, 1] or causes[1, 0]


def test_a_search_that_is_to_stop_has_an_order() -> None:
    score, order, _ = search_lines(problem_of(drawn(4, 30, 4.0, 200)), 0, np.ones(1, np.int64))
    assert np.isfinite(score)
    assert sorted(order.tolist()) == list(range(30))


def test_moments_of_contexts_are_put_together() -> None:
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(300, 5)), columns=list("ABCDE"))
    table["R"] = np.where(random.random(300) < 0.4 + 0.2 * np.sign(table["A"]), "wet", "dry")
    design = design_of(table, "R")
    problem = line_problem(design)
    expected = np.corrcoef(
        [
            design.values[place][: len(design.data.cells)]
            for place in design.response[: design.data.nodes]
        ]
    )
    assert problem.covariance == pytest.approx(expected)
    assert sorted(line_order(design, 1, Clock())[0].tolist()) == list(range(design.data.nodes))


def test_dense_tables_with_large_weights_have_their_links() -> None:
    """Climbs from random orders ended in local optima 20 nats below the true graph."""
    wrong = 0
    for seed in range(3):
        values = drawn(seed, 30, 10.0, 1_000)
        problem = problem_of(values)
        wrong += abs(int(search_lines(problem, 0, GOING_ON)[2].sum()) - 145)
    table = pd.DataFrame(values).rename(columns="V{}".format)
    links = cc.discover(table, method="score-ac").graphs["all"].edges
    assert len(links) == int(search_lines(problem, 0, GOING_ON)[2].sum())
    assert wrong < 60
