"""The linear generator: its graphs, and that its tables follow them."""

from __future__ import annotations

import numpy as np
import pytest

from causalcontext.errors import OptionError
from causalcontext.examples import noise
from causalcontext.graphs.paths import ancestors, causal_order, is_acyclic
from causalcontext_lab.simulate.linear import ContextSCM, cut_at_quantiles, random_model
from causalcontext_lab.simulate.random_graphs import (
    COEFFICIENTS,
    ModelDesign,
    Rejection,
    link_count,
    random_base,
    random_family,
)
from causalcontext_lab.simulate.truth import (
    is_strongly_acyclic,
    is_weakly_sufficient,
)

DESIGNS = [
    {},
    {"contexts": 3, "changes": 2},
    {"edits": ("add",), "cycles": "exclude", "nodes": 6},
    {"edits": ("flip",), "cycles": "enforce"},
    {"edits": ("add", "remove", "flip"), "cycles": "any", "contexts": 4, "changes": 2},
]


def logit_z(levels, *columns):
    """z statistics of the columns in a logistic regression with intercept, by Newton steps."""
    design = np.column_stack([np.ones(len(levels)), *columns])
    design[:, 1:] = (design[:, 1:] - design[:, 1:].mean(axis=0)) / design[:, 1:].std(axis=0)
    beta = np.zeros(design.shape[1])
    for _ in range(40):
        p = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        information = design.T @ (design * (p * (1 - p))[:, None])
        step = np.linalg.solve(information, design.T @ (levels - p))
        beta += step / max(1.0, np.abs(step).max())
    assert np.abs(step).max() < 1e-6
    return (beta / np.sqrt(np.diag(np.linalg.inv(information))))[1:]


def slopes(table, effect, causes):
    """Least-squares slopes of `effect` on `causes`, and the residual variance."""
    design = np.column_stack([np.ones(len(table)), table[causes]])
    beta, *_ = np.linalg.lstsq(design, table[effect].to_numpy(), rcond=None)
    return beta[1:], (table[effect] - design @ beta).var()


@pytest.mark.parametrize("options", DESIGNS)
def test_models_meet_the_assumptions_and_differ_between_contexts(options):
    for seed in range(20):
        model = random_model(seed=seed, **options)
        assert is_weakly_sufficient(model.adjacency, model.context)
        assert is_strongly_acyclic(model.adjacency, model.context)
        graphs = {model.context_graph(level) for level in range(model.contexts)}
        assert len(graphs) == model.contexts == options.get("contexts", 2)


@pytest.mark.parametrize("options", DESIGNS)
def test_the_context_causes_just_the_nodes_whose_parents_differ(options):
    for seed in range(20):
        model = random_model(seed=seed, **options)
        for node in range(len(model.names)):
            parents = {tuple(np.flatnonzero(links[:, node] != 0)) for links in model.coefficients}
            for links in model.adjacency:
                assert links[model.context, node] == (len(parents) > 1)


def test_number_of_links_of_the_base_graph():
    assert [link_count(8, 0.4), link_count(5, 0.3), link_count(200, 0.29)] == [11, 3, 5771]
    for seed in range(10):
        order, base = random_base(8, 0.4, np.random.default_rng(seed))
        cause, effect = np.nonzero(base)
        assert len(cause) == 11
        assert all(order.index(a) < order.index(b) for a, b in zip(cause, effect, strict=True))
        assert set(base[base != 0]) <= set(COEFFICIENTS)


@pytest.mark.parametrize(
    ("edit", "added", "removed"), [("add", 1, 0), ("remove", 0, 1), ("flip", 1, 1)]
)
@pytest.mark.parametrize("changes", [1, 2])
def test_every_context_differs_from_the_base_graph_by_its_edits(edit, added, removed, changes):
    design = ModelDesign(8, 0.4, 3, changes, (edit,), "any")
    for seed in range(15):
        family = random_family(design, np.random.default_rng(seed))
        base = family.base
        for links in family.coefficients:
            assert ((links != 0) & (base == 0)).sum() == added * changes
            assert ((links == 0) & (base != 0)).sum() == removed * changes
            assert np.array_equal(links[:, family.context], base[:, family.context])


def test_union_cycles_are_excluded_or_enforced():
    edits = ("add", "remove", "flip")
    for seed in range(30):
        without = random_model(edits=edits, cycles="exclude", changes=2, seed=seed)
        within = random_model(edits=edits, cycles="enforce", changes=2, seed=seed)
        assert is_acyclic(without.adjacency.any(axis=0))
        assert not is_acyclic(within.adjacency.any(axis=0))


def test_flipped_links_are_marked_in_the_union_graph():
    model = random_model(edits=("flip",), cycles="enforce", seed=4)
    marks = {edge.mark for edge in model.union_graph()}
    assert "<=>" in marks


def test_any_node_may_be_the_context():
    assert {random_model(nodes=5, density=0.6, seed=seed).context for seed in range(60)} == set(
        range(5)
    )


def test_rejections_are_counted_by_reason():
    totals = [random_model(seed=seed).rejections for seed in range(20)]
    reasons = {reason for rejections in totals for reason in rejections}
    assert {Rejection.UPSTREAM, Rejection.NOTHING_TO_EDIT, Rejection.SAME_GRAPH} <= reasons


def test_the_same_seed_gives_the_same_model_and_table():
    first, second = random_model(seed=5), random_model(seed=5)
    assert np.array_equal(first.coefficients, second.coefficients)
    assert first.sample(50, seed=6).equals(second.sample(50, seed=6))
    assert first.sample(50, seed=6).equals(first.sample(50, seed=np.random.default_rng(6)))
    assert not first.sample(50, seed=6).equals(first.sample(50, seed=7))


def test_a_large_table():
    table = random_model(seed=8).sample(100_000, seed=9)
    assert table.shape == (100_000, 8)
    assert np.isfinite(table.to_numpy(dtype=float)).all()


@pytest.mark.parametrize(("contexts", "balance"), [(2, 1.0), (3, 0.5), (4, 2.0)])
def test_contexts_are_cut_at_the_balanced_quantiles(contexts, balance):
    table = random_model(contexts=contexts, changes=2, balance=balance, seed=10).sample(
        4000, seed=11
    )
    assert table["R"].dtype.kind == "i"
    shares = table["R"].value_counts(normalize=True).sort_index()
    assert shares.index.tolist() == list(range(contexts))
    expected = np.diff((np.arange(contexts + 1) / contexts) ** balance)
    assert shares.to_numpy() == pytest.approx(expected, abs=0.001)


def test_levels_grow_with_the_values():
    levels = cut_at_quantiles(np.array([3.0, -1.0, 0.5, 9.0]), levels=2, balance=1.0)
    assert levels.tolist() == [1, 0, 0, 1]


def test_the_context_depends_on_its_grandparent_through_its_parent_only():
    """P -> X -> R -> Y: given X, P says nothing about R."""
    coefficients = np.zeros((2, 4, 4))
    coefficients[:, 0, 1], coefficients[:, 1, 2] = 1.5, 1.2
    coefficients[1, 0, 3] = 1.8
    model = ContextSCM(("P", "X", "R", "Y"), 2, coefficients, (0, 1, 2, 3))
    table = model.sample(5000, seed=12)
    of_x, of_p = logit_z(table["R"], table["X"], table["P"])
    assert of_x > 8
    assert abs(of_p) < 3.5
    assert abs(logit_z(table["R"], table["P"])[0]) > 20


def test_contexts_of_random_models_depend_on_their_parents_only():
    checked = 0
    for seed in range(40):
        model = random_model(context_noise=1.0, seed=seed)
        upstream = np.flatnonzero(ancestors(model.adjacency[0], model.context))
        table = model.sample(4000, seed=seed)
        if len(upstream) == len(model.context_parents):
            continue
        z = logit_z(table["R"], *(table[model.names[node]] for node in upstream))
        is_parent = np.isin(upstream, model.context_parents)
        assert (np.abs(z[is_parent]) > 5).all()
        assert (np.abs(z[~is_parent]) < 4).all()
        checked += 1
    assert checked >= 5


@pytest.mark.parametrize("options", DESIGNS)
def test_tables_have_the_coefficients_of_each_row_s_own_context(options):
    for seed in range(5):
        model = random_model(seed=seed, **options)
        table = model.sample(20_000, seed=seed)
        upstream = ancestors(model.adjacency[0], model.context)
        for level in range(model.contexts):
            rows = table[table["R"] == level]
            for node in np.delete(np.arange(len(model.names)), model.context):
                check_mechanism(model, level, int(node), table if upstream[node] else rows)


def check_mechanism(model, level, node, rows):
    """Selection on R does not bend the mechanism of a node that is no ancestor of R."""
    parents = np.flatnonzero(model.coefficients[level, :, node])
    found, variance = slopes(rows, model.names[node], [model.names[parent] for parent in parents])
    assert found == pytest.approx(model.coefficients[level, parents, node], abs=0.15)
    assert variance == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    "law", [noise.normal, noise.uniform, noise.laplace, noise.exponential, noise.student_t5]
)
def test_noise_laws_are_standardised(law):
    draws = law(np.random.default_rng(13), (4, 50_000))
    assert draws.shape == (4, 50_000)
    assert draws.mean() == pytest.approx(0.0, abs=0.02)
    assert draws.var() == pytest.approx(1.0, abs=0.05)
    assert random_model(nodes=4, density=0.6, seed=1, noise=law).sample(20, seed=2).shape == (20, 4)


def test_causal_orders_put_causes_first_and_follow_the_preference():
    links = np.zeros((4, 4), dtype=bool)
    links[3, 0] = links[0, 2] = True
    assert causal_order(links, preferred=(0, 1, 2, 3)) == (1, 3, 0, 2)
    for seed in range(10):
        model = random_model(edits=("flip",), cycles="enforce", seed=seed)
        for order, graph in zip(model.orders, model.adjacency, strict=True):
            place = np.argsort(order)
            assert all(place[cause] < place[effect] for cause, effect in np.argwhere(graph))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edits": ("removed",)}, "did you mean 'remove'"),
        ({"cycles": "forbid"}, "cycles is 'forbid'"),
        ({"cycles": "enforce"}, "needs one of"),
        ({"edits": ("flip",), "cycles": "exclude"}, "needs one of"),
        ({"edits": ()}, "needs one of"),
        ({"contexts": 1}, "contexts >= 2"),
        ({"density": 0.0}, "density"),
        ({"balance": 0.0}, "balance"),
        pytest.param(
            {"nodes": 3, "density": 0.5, "contexts": 6}, "base graphs", marks=pytest.mark.slow
        ),
    ],
)
def test_impossible_designs_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        random_model(seed=0, **options)


def test_impossible_models_are_refused():
    coefficients = np.zeros((2, 3, 3))
    coefficients[0, 0, 1] = 1.2
    coefficients[:, 1, 2] = 1.5
    with pytest.raises(OptionError, match="cycle"):
        ContextSCM(("X", "Y", "R"), 2, coefficients, (0, 1, 2))
    coefficients[1, 1, 2] = 1.8
    with pytest.raises(OptionError, match="differ"):
        ContextSCM(("X", "Y", "R"), 2, coefficients, (0, 1, 2))
    with pytest.raises(OptionError, match="linear effects"):
        ContextSCM(("X", "R", "Y"), 1, coefficients, (0, 1, 2))
    with pytest.raises(OptionError, match="shape"):
        ContextSCM(("X", "R"), 1, coefficients, (0, 1))


def test_a_table_needs_a_row_for_every_context():
    with pytest.raises(OptionError, match="at least as many rows"):
        random_model(seed=0).sample(1, seed=0)
