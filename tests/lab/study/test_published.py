"""The published data generation, against loops over its description, and its fault."""

import numpy as np
import pytest

from causalcontext.errors import OptionError
from causalcontext_lab.simulate import random_model
from causalcontext_lab.simulate.truth import shortest_union_cycle
from causalcontext_lab.study.designs import LegacySCM, random_legacy_model


def drawn_obviously(model, n, seed):
    """Both passes of the scripts as loops over links."""
    noise = model.noise(np.random.default_rng(seed), (len(model.names), n))
    orders = [model.base_order, *model.orders]
    first = noise.copy()
    for level in range(model.contexts):
        for node in orders[level]:
            for parent in range(len(model.names)):
                first[node] += model.coefficients[level, parent, node] * first[parent]
    edges = np.quantile(first[model.context], np.arange(1, model.contexts) / model.contexts)
    levels = (first[model.context][:, None] >= edges).sum(axis=1)
    final = noise.copy()
    for row in range(n):
        for node in orders[levels[row]]:
            for parent in range(len(model.names)):
                final[node, row] += (
                    model.coefficients[levels[row], parent, node] * final[parent, row]
                )
    return final, levels


@pytest.mark.parametrize("edits", [("remove",), ("add", "flip")])
def test_two_passes(edits):
    model = random_legacy_model(nodes=6, contexts=3, edits=edits, cycles="any", seed=4)
    table = model.sample(60, seed=5)
    final, levels = drawn_obviously(model, 60, 5)
    assert np.array_equal(table["R"], levels)
    for node, name in enumerate(model.names):
        if name != "R":
            assert np.allclose(table[name], final[node])


def chain(kind):
    """P -> X -> R, and X -> Y in context 1 only."""
    coefficients = np.zeros((2, 4, 4))
    coefficients[:, 0, 1] = coefficients[:, 1, 2] = 1.5
    coefficients[1, 1, 3] = 1.5
    return kind(("P", "X", "R", "Y"), 2, coefficients, (0, 1, 2, 3), context_noise=1.0)


def test_the_context_depends_on_the_parent_of_its_parent_given_its_parent():
    """The fault: published false positives at the context count true dependences."""
    from causalcontext_lab.simulate.linear import ContextSCM

    scores = {}
    for kind in (LegacySCM, ContextSCM):
        table = chain(kind).sample(20_000, seed=1)
        design = np.column_stack([np.ones(len(table)), table["X"]])
        left = [
            table[name] - design @ np.linalg.lstsq(design, table[name], rcond=None)[0]
            for name in ("P", "R")
        ]
        scores[kind] = abs(np.corrcoef(*left)[0, 1]) * np.sqrt(len(table))
    assert scores[LegacySCM] > 10
    assert scores[ContextSCM] < 4


def test_too_few_rows_are_refused():
    with pytest.raises(OptionError, match="at least as many rows"):
        random_legacy_model(seed=1).sample(1, seed=1)


@pytest.mark.parametrize("length", [2, 3])
def test_the_length_of_enforced_cycles(length):
    for seed in range(4):
        model = random_model(
            edits=("add", "flip"), cycles="enforce", cycle_length=length, changes=2, seed=seed
        )
        assert shortest_union_cycle(model.coefficients != 0) == length


def test_a_cycle_length_needs_enforced_cycles():
    with pytest.raises(OptionError, match="cycle_length is 3"):
        random_model(seed=1, cycle_length=3)


def test_an_exogenous_context_has_no_parents():
    for seed in range(10):
        model = random_model(seed=seed, exogenous=True)
        assert model.context_parents == ()
        assert model.adjacency[0, model.context].any()


def test_coefficients_can_be_chosen():
    model = random_model(seed=1, coefficients=(0.3, -0.3))
    assert set(np.abs(model.coefficients[model.coefficients != 0])) == {0.3}
    with pytest.raises(OptionError, match="other than 0"):
        random_model(seed=1, coefficients=(0.0,))
