"""Models with hidden variables: which independences they have, which graphs are true, what their
tables hold.
"""

import numpy as np
import pytest

import causalcontext as cc
import naive_hidden as naive
from causalcontext.graphs.endpoints import Endpoint, GraphKind
from causalcontext.views import CIQuery, Contexts
from causalcontext_lab.simulate import (
    HiddenVariables,
    SeparationTest,
    random_hidden_model,
    random_model,
)
from causalcontext_lab.simulate.hidden import separated
from causalcontext_lab.simulate.testing import (
    every_model,
    is_strongly_acyclic,
    is_weakly_sufficient,
    random_discrete_model,
    random_models,
    with_hidden_cause,
)
from hidden_models import questions, written
from marks import rest_slow


@pytest.mark.parametrize("models", rest_slow([50, 250]))
def test_a_mixture_is_independent_just_where_its_exact_distribution_is(models):
    """The rule without a joint against the joint, hidden variable included, on models of R, three
    variables and one.
    """
    every = with_hidden_cause(every_model(), varying=True)
    chosen = np.random.default_rng(1).choice(len(every), size=250, replace=False)
    for number in chosen[:models]:
        model = random_discrete_model(every[number], 0, seed=int(number))
        for x, y, given, view in questions(4):
            where = ((0, view - 1),) if view else ()
            level = view - 1 if view else None
            assert separated(every[number], 0, x, y, given, level) == model.independent(
                x, y, given, where
            )


def test_a_mixture_of_three_contexts_too():
    for number, stack in enumerate(random_models(25, variables=4, contexts=3, seed=2)):
        model = random_discrete_model(stack, 0, seed=number)
        for x, y, given, _ in questions(5):
            assert separated(stack, 0, x, y, given) == model.independent(x, y, given)


def test_inside_a_context_separation_is_that_of_its_graph_given_the_context():
    for stack in random_models(10, variables=4, seed=3):
        for x, y, given, view in questions(5):
            if view:
                expected = naive.separated(stack[view - 1], x, y, (0, *given))
                assert separated(stack, 0, x, y, given, view - 1) == expected


def test_many_models_are_answered_at_once():
    stacks = random_models(30, variables=3, seed=4)
    for x, y, given in ((1, 2, ()), (1, 3, (2,)), (0, 2, (1,)), (2, 3, (0,))):
        assert separated(stacks, 0, x, y, given).tolist() == [
            bool(separated(s, 0, x, y, given)) for s in stacks
        ]


@pytest.mark.parametrize(("varying", "count"), rest_slow([(False, 28_083), (True, 149_755)]))
def test_every_model_with_a_hidden_cause_is_listed_once_and_meets_the_assumptions(varying, count):
    found = with_hidden_cause(every_model(), varying)
    assert len(found) == count
    assert (found[:, :, 4, :4].any(axis=1).sum(axis=1) > 1).all()
    assert not found[:, :, :4, 4].any()
    assert len(np.unique(found.reshape(len(found), -1), axis=0)) == len(found)
    assert is_weakly_sufficient(found, 0).all()
    assert is_strongly_acyclic(found, 0).all()


def test_the_truth_is_that_of_all_sets():
    for seed in range(12):
        model = random_hidden_model(observed=5, hidden=2, seed=seed)
        stack, context = model.model.adjacency, model.model.context
        for i, x in enumerate(model.observed):
            for j, y in enumerate(model.observed):
                if i >= j:
                    continue
                rest = [v for v in model.observed if v not in (x, y, context)]
                pooled = any(
                    separated(stack, context, x, y, given) for given in naive.subsets(rest)
                )
                for level in (0, 1):
                    inside = context not in (x, y) and any(
                        separated(stack, context, x, y, given, level)
                        for given in naive.subsets(rest)
                    )
                    assert (model.endpoints[level, i, j] == Endpoint.NONE) == (pooled or inside)


def test_the_truth_of_a_large_model_is_found():
    model = random_hidden_model(observed=30, hidden=4, degree=2.0, seed=3)
    assert model.endpoints.shape == (2, 31, 31)
    assert np.array_equal(model.endpoints != 0, (model.endpoints != 0).swapaxes(1, 2))


def test_ends_of_the_truth_say_who_causes_whom_in_a_context():
    seen, names, stack = written("X>A L>A L>Y A>B@0 B>Y R>B")
    whole = random_discrete_model(stack, 0, seed=1, names=names)
    model = HiddenVariables(whole, (names.index("L"),))
    assert model.names == tuple(seen)
    graphs = model.true_graphs()
    assert (graphs[0].mark("A", "Y"), graphs[1].mark("A", "Y")) == ("-->", "<->")
    assert (graphs[0].mark("X", "Y"), graphs[1].mark("X", "Y")) == ("-->", "")
    assert graphs[0].kind is GraphKind.PAG


def test_the_link_of_a_context_that_one_graph_lacks_is_in_both():
    _, names, stack = written("R>A R>B L>A L>Y A>B@0 B>Y")
    model = HiddenVariables(
        random_discrete_model(stack, 0, seed=1, names=names), (names.index("L"),)
    )
    assert [graph.mark("R", "Y") for graph in model.true_graphs().values()] == ["-->", "-->"]


def test_tables_have_no_hidden_column():
    model = random_hidden_model(observed=6, hidden=3, seed=5)
    table = model.sample(200, seed=1)
    assert tuple(table.columns) == model.names == (*(f"X{i}" for i in range(6)), "R")
    assert set(table["R"]) == {0, 1}
    assert table.equals(model.sample(200, seed=1))
    assert model.context_name == "R"


def test_random_hidden_models_are_what_they_say():
    confounded = 0
    for seed in range(40):
        model = random_hidden_model(seed=seed)
        stack, context = model.model.adjacency, model.model.context
        assert is_weakly_sufficient(stack, context)
        assert is_strongly_acyclic(stack, context)
        assert stack[0, context].any()
        assert not stack[:, :, list(model.hidden)].any()
        confounded += bool(stack[0, list(model.hidden), context].any())
    assert 10 < confounded < 30
    assert random_hidden_model(hidden=0, seed=1).hidden == ()
    with pytest.raises(cc.OptionError, match="4 or more"):
        random_hidden_model(observed=3, seed=1)


def test_shifts_move_a_variable_in_one_context():
    zero = np.zeros((2, 2, 2))
    shifted = cc.simulate.ContextSCM(
        ("X", "R"), 1, zero, (0, 1), shifts=np.array([[0.0, 0.0], [3.0, 0.0]])
    )
    means = shifted.sample(4000, seed=1).groupby("R")["X"].mean()
    assert abs(means[1] - means[0] - 3.0) < 0.1
    assert shifted.adjacency[0, 1, 0]
    assert not cc.simulate.ContextSCM(("X", "R"), 1, zero, (0, 1)).adjacency.any()


def test_hidden_variables_are_refused_where_they_make_no_sense():
    whole = random_model(nodes=5, seed=1)
    with pytest.raises(cc.OptionError, match="context variable is among the hidden"):
        HiddenVariables(whole, (whole.context,))


def test_the_oracle_answers_by_column_and_view():
    model = random_hidden_model(observed=5, hidden=1, seed=2)
    names = tuple(reversed(model.names))

    class Table:
        contexts = Contexts((0,), ((0,), (1,)))

    Table.names = names
    prepared = model.oracle().prepare(Table())
    position = {name: place for place, name in enumerate(model.model.names)}
    for x, y, given, view in questions(6):
        nodes = [position[names[v]] for v in (x, y, *given)]
        expected = separated(
            model.model.adjacency, position["R"], *nodes[:2], nodes[2:], view - 1 if view else None
        )
        outcome = prepared.answer([CIQuery(x, y, given, view)])
        assert outcome.p[0] == float(expected)
        assert outcome.statistic[0] == 1.0 - float(expected)
    assert np.isnan(prepared.answer([CIQuery(0, 1, (), 1)]).p[0])
    Table.names = ("R", "elsewhere")
    with pytest.raises(cc.DataError, match="'elsewhere'"):
        SeparationTest(model.model.adjacency, position["R"], model.model.names).prepare(Table())
