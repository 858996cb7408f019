"""The published tests, against regressions on the rows."""

import numpy as np
import pytest

import causalcontext as cc
import naive
from causalcontext.ci_tests.registry import find_test
from causalcontext.ci_tests.regression_legacy import PreparedLegacy
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.views import CIQuery, Reason
from causalcontext_lab.simulate import random_model


@pytest.fixture(scope="module", params=[2, 3], ids=["2 contexts", "3 contexts"])
def prepared(request):
    """A prepared test, its system columns at their own positions, the context's codes and
    position.
    """
    table = random_model(nodes=6, contexts=request.param, seed=3).sample(400, seed=4)
    table = table * 1.0 + np.where(table.columns == "R", 0.0, -7.0)
    table["R"] = table["R"].astype(int)
    data = read_table(table, "R")
    test = find_test("regression-legacy").prepare(data, gather_statistics(data, "raise"))
    return test, table.to_numpy(dtype=float), data.codes, data.context


def system(context, *places):
    """Positions of some system variables."""
    return tuple(np.delete(np.arange(6), context)[list(places)].tolist())


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_two_system_variables_on_all_rows_and_in_a_context(prepared, size):
    test, values, codes, context = prepared
    x, y, *given = system(context, 3, 1, 0, 2, 4)[: 2 + size]
    queries = [CIQuery(x, y, tuple(given)), CIQuery(x, y, tuple(given), 2)]
    outcomes = test.answer(queries)
    for place, rows in enumerate((values, values[codes == 1])):
        r, df, p = naive.legacy_correlation(rows, x, y, given)
        assert outcomes.statistic[place] == pytest.approx(r)
        assert outcomes.df[place] == df
        assert outcomes.p[place] == pytest.approx(p, rel=1e-6, abs=1e-300)
        assert outcomes.n[place] == len(rows)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_the_context_is_charged_with_a_degree_for_every_level(prepared, size):
    test, values, codes, context = prepared
    y, *given = system(context, 2, 0, 1, 4)[: 1 + size]
    outcomes = test.answer([CIQuery(context, y, tuple(given)), CIQuery(y, context, tuple(given))])
    drop, df, p = naive.legacy_regression(values, codes, y, given)
    assert outcomes.statistic == pytest.approx([drop, drop])
    assert outcomes.df.tolist() == [df, df]
    assert outcomes.p == pytest.approx([p, p], rel=1e-6, abs=1e-300)


def test_the_context_as_a_condition_on_all_rows(prepared):
    test, values, codes, context = prepared
    x, y, z = system(context, 1, 3, 4)
    outcomes = test.answer([CIQuery(x, y, (z, context))])
    drop, df, p = naive.legacy_given_context(values, codes, x, y, [z])
    assert (outcomes.statistic[0], outcomes.df[0]) == (pytest.approx(drop), df)
    assert outcomes.p[0] == pytest.approx(p, rel=1e-6, abs=1e-300)


def test_inside_a_context_the_context_cannot_be_tested(prepared):
    test, _, _, context = prepared
    (y,) = system(context, 0)
    assert test.answer([CIQuery(context, y, (), 1)]).reason[0] == Reason.CONSTANT


def test_a_variable_explained_by_the_conditions_is_untestable():
    table = random_model(nodes=5, seed=1).sample(200, seed=1)
    names = [name for name in table.columns if name != "R"]
    table[names[1]] = table[names[0]]
    result = cc.discover(
        table, context="R", test="regression-legacy", method="pc-ac", keep=names[:2]
    )
    assert result.graphs[0].mark(names[0], names[1]) != ""


def test_discover_takes_it_by_name():
    result = cc.discover(
        random_model(seed=2).sample(500, seed=2),
        context="R",
        test="regression-legacy",
        method="pc-ac",
    )
    assert result.settings.test == "regression-legacy"


@pytest.mark.slow
def test_it_is_conservative_at_the_context_and_blind_to_changing_slopes():
    generator = np.random.default_rng(0)
    found = {"nothing": 0, "slope": 0}
    for _ in range(300):
        r = generator.integers(2, size=200)
        x, noise = generator.standard_normal((2, 200))
        for what, y in (("nothing", noise), ("slope", np.where(r == 1, 1.0, -1.0) * x + noise)):
            values = np.array([r * 0.0, x, y])
            test = PreparedLegacy(values, r, 2, 0)
            found[what] += int(test.answer([CIQuery(0, 2, (1,))]).p[0] < 0.05)
    assert found["nothing"] <= 300 * 0.05
    assert found["slope"] <= 300 * 0.10
