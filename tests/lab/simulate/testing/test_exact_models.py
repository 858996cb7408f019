"""The exact oracle: against a plain count of cells, and against d-separation."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest

from causalcontext.ci_tests.protocol import IndependenceTest, PreparedTest, prepared_test
from causalcontext.errors import DataError, OptionError
from causalcontext.graphs.paths import is_acyclic
from causalcontext.views import CIQuery, Contexts, Reason
from causalcontext_lab.simulate.testing import (
    OracleTest,
    every_model,
    random_discrete_model,
    random_models,
)


def naive_independent(joint, x, y, given, where):
    """P(x | y, z) = P(x | z) in every cell of positive probability, by sums over all cells."""
    weights = {
        cell: joint[cell]
        for cell in product(*map(range, joint.shape))
        if all(cell[axis] == level for axis, level in where)
    }

    def probability(**fixed):
        wanted = {int(axis[1:]): value for axis, value in fixed.items()}
        return sum(
            w for cell, w in weights.items() if all(cell[axis] == v for axis, v in wanted.items())
        )

    for values in product(*(range(joint.shape[axis]) for axis in (x, y, *given))):
        z = {f"v{axis}": value for axis, value in zip(given, values[2:], strict=True)}
        at_x, at_y = {f"v{x}": values[0]}, {f"v{y}": values[1]}
        if probability(**at_y, **z) == 0:
            continue
        with_y = probability(**at_x, **at_y, **z) / probability(**at_y, **z)
        if abs(with_y - probability(**at_x, **z) / probability(**z)) > 1e-8:
            return False
    return True


def questions(nodes, context, contexts=2):
    """Every pair and conditioning set, in the pool and inside every context."""
    for x, y in combinations(range(nodes), 2):
        others = [node for node in range(nodes) if node not in (x, y)]
        for size in range(len(others) + 1):
            for given in combinations(others, size):
                yield x, y, given, ()
                if context not in (x, y, *given):
                    yield from ((x, y, given, ((context, level),)) for level in range(contexts))


def d_separated(adjacency, x, y, given):
    graph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
    return nx.is_d_separator(graph, {x}, {y}, set(given))


def some_models(count, seed, context=1):
    every = every_model(variables=3, context=context)
    chosen = np.random.default_rng(seed).choice(len(every), size=count, replace=False)
    return [random_discrete_model(every[i], context, seed=int(i)) for i in chosen]


def test_the_joint_is_a_distribution_with_the_tables_of_its_graphs():
    for model in some_models(50, seed=1):
        assert model.joint.sum() == pytest.approx(1.0)
        assert model.joint.min() > 0


def test_the_oracle_agrees_with_a_plain_count_of_cells():
    for model in some_models(12, seed=2):
        for x, y, given, where in questions(4, context=1):
            assert model.independent(x, y, given, where) == naive_independent(
                model.joint, x, y, given, where
            )


def test_more_values_and_contexts_agree_with_a_plain_count_of_cells():
    adjacency = random_models(1, variables=3, contexts=3, context=3, seed=5)[0]
    model = random_discrete_model(adjacency, 3, seed=6, levels=3)
    assert model.joint.shape == (3, 3, 3, 3)
    for x, y, given, where in questions(4, context=3, contexts=3):
        assert model.independent(x, y, given, where) == naive_independent(
            model.joint, x, y, given, where
        )


def test_adjacent_variables_are_dependent_given_any_set():
    """The part of r-faithfulness that soundness rests on (Lemma 2), in every view that Algorithm 1
    uses.
    """
    for model in some_models(300, seed=3):
        union = model.adjacency.any(axis=0)
        for x, y, given, where in questions(4, context=1):
            graph = model.adjacency[where[0][1]] if where else union
            if (graph | graph.T)[x, y] and not (1 in given and not where):
                assert not model.independent(x, y, given, where)


def test_inside_a_context_independence_is_d_separation_in_its_graph_given_the_context():
    """Selection bias included, whatever cycles the union has: P(. | R = r) is Markov and faithful
    to G_r.
    """
    for model in some_models(250, seed=4):
        for x, y, given, where in questions(4, context=1):
            if where:
                expected = d_separated(model.adjacency[where[0][1]], x, y, (*given, 1))
                assert model.independent(x, y, given, where) == expected


def test_pooled_d_separation_in_an_acyclic_union_implies_independence():
    models = [
        model for model in some_models(250, seed=5) if is_acyclic(model.adjacency.any(axis=0))
    ]
    for model in models:
        union = model.adjacency.any(axis=0)
        for x, y, given, where in questions(4, context=1):
            if not where and d_separated(union, x, y, given):
                assert model.independent(x, y, given)


def test_with_one_graph_for_all_contexts_pooled_independence_is_d_separation():
    every = every_model(variables=3, context=0)
    same = every[(every[:, 0] == every[:, 1]).all(axis=(1, 2))]
    for seed, adjacency in enumerate(same[:: len(same) // 60]):
        model = random_discrete_model(adjacency, 0, seed=seed)
        for x, y, given, where in questions(4, context=0):
            if not where:
                assert model.independent(x, y, given) == d_separated(adjacency[0], x, y, given)


def test_children_of_the_context_change_even_where_their_parents_do_not():
    adjacency = np.zeros((2, 3, 3), dtype=bool)
    adjacency[:, 0, 2] = adjacency[:, 0, 1] = adjacency[:, 1, 2] = True
    model = random_discrete_model(adjacency, 0, seed=1)
    assert not model.independent(0, 2, (1,))
    adjacency[:, 0, 2] = False
    model = random_discrete_model(adjacency, 0, seed=1)
    assert model.independent(0, 2, (1,))


def test_context_specific_links_may_cancel_in_the_pool():
    """X -[0]-> W -[1]-> Y: dependent on W in turn, yet X and Y are independent in every view
    without W.
    """
    adjacency = np.zeros((2, 4, 4), dtype=bool)
    adjacency[:, 0, 2:] = True
    adjacency[0, 1, 2] = adjacency[1, 2, 3] = True
    model = random_discrete_model(adjacency, 0, seed=2, names=("R", "X", "W", "Y"))
    assert model.independent(1, 3)
    assert model.context_graph(0).mark("X", "W") == "-->"
    assert model.context_graph(1).mark("X", "W") == ""
    assert model.union_graph().mark("W", "Y") == "-->"


def test_the_oracle_follows_the_test_protocol():
    model = some_models(1, seed=6)[0]
    oracle = OracleTest(model)
    assert isinstance(oracle, IndependenceTest)
    prepared = prepared_test(oracle, None, None)
    assert isinstance(prepared, PreparedTest)
    assert [label.name for label in prepared.labels] == ["oracle"]
    assert oracle.name == "oracle"


def test_answers_of_the_oracle():
    model = some_models(1, seed=7)[0]
    asked = list(questions(4, context=1))
    queries = [CIQuery(*question[:3], model.contexts.number(question[3])) for question in asked]
    outcomes = OracleTest(model).prepare(None).answer(queries)
    assert outcomes.p.tolist() == [float(model.independent(*question)) for question in asked]
    assert outcomes.statistic.tolist() == [model.deviation(*question) for question in asked]
    assert (outcomes.reason == Reason.TESTABLE).all()
    assert np.isnan(outcomes.df).all()
    assert (outcomes.n == 0).all()


def test_the_context_is_constant_in_its_own_rows():
    prepared = OracleTest(some_models(1, seed=8)[0]).prepare(None)
    outcomes = prepared.answer([CIQuery(1, 0, (), 1), CIQuery(2, 1, (3,), 2), CIQuery(0, 2, ())])
    assert outcomes.reason.tolist() == [Reason.CONSTANT, Reason.CONSTANT, Reason.TESTABLE]
    assert np.isnan(outcomes.p[:2]).all()
    assert np.isnan(outcomes.statistic[:2]).all()


def test_an_empty_batch_has_an_empty_answer():
    outcomes = OracleTest(some_models(1, seed=8)[0]).prepare(None).answer([])
    assert outcomes.p.shape == outcomes.n.shape == outcomes.reason.shape == (0,)


def test_columns_may_stand_in_any_order():
    model = some_models(1, seed=9)[0]
    names = ("X3", "X0", "R", "X2")
    contexts = Contexts((2,), ((0,), (1,)))
    prepared = OracleTest(model).prepare(SimpleNamespace(names=names, contexts=contexts))
    assert prepared.nodes == (3, 0, 1, 2)
    assert prepared.answer([CIQuery(0, 3, (1,), 2)]).p[0] == model.independent(
        3, 2, (0,), ((1, 1),)
    )


def test_a_table_with_other_columns_is_refused():
    model = some_models(1, seed=9)[0]
    with pytest.raises(DataError, match="X0"):
        OracleTest(model).prepare(SimpleNamespace(names=("X0", "R")))


def test_graphs_that_violate_the_assumptions_are_refused():
    adjacency = np.zeros((2, 3, 3), dtype=bool)
    adjacency[0, 0, 1] = True
    with pytest.raises(OptionError, match="weak context-sufficiency"):
        random_discrete_model(adjacency, 2, seed=0)


def test_samples_have_the_frequencies_of_the_joint():
    model = some_models(1, seed=10)[0]
    table = model.sample(200_000, seed=1)
    assert table.equals(model.sample(200_000, seed=1))
    assert table["R"].dtype.kind == "i"
    counts = np.zeros(model.joint.shape)
    np.add.at(counts, tuple(table[name].to_numpy().astype(int) for name in model.names), 1)
    spread = np.sqrt(model.joint * (1 - model.joint) / len(table))
    assert (np.abs(counts / len(table) - model.joint) < 5 * spread).all()
