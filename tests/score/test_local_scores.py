"""Every local score from moments equals its twin from rows; the memory of a path never lies."""

import naive_score
import numpy as np
import pandas as pd
import pytest
from score_tables import model_table, setup_of

from causalcontext.kernels.orders.context_parents import (
    choose_context_parents,
    log_wilks,
    logit_score,
    no_memory,
    remembered_score,
)
from causalcontext.kernels.orders.parent_sets import fit, no_fits, on_path, residual_variance, scratch, would_change
from causalcontext.kernels.orders.partitions import Partitions, best_partition, best_score, chosen_slots
from causalcontext.score.options import ScoreOptions
from causalcontext.score.problem import context_table, lattice_layout, make_blocks

OPTIONS = ScoreOptions()


@pytest.fixture
def generator():
    return np.random.default_rng(20)


@pytest.mark.parametrize("contexts", [2, 3])
@pytest.mark.parametrize("parents", [(), (1,), (0, 3, 4)])
def test_block_scores_are_those_of_the_rows(contexts, parents):
    setup = setup_of(model_table(400, 3, contexts=contexts, nodes=6))
    masks = list(range(1, 1 << contexts))
    blocks, work, node = make_blocks(setup, OPTIONS, masks), scratch(5, 6), 2
    for b, mask in enumerate(masks):
        rows = np.isin(setup.codes, [r for r in range(contexts) if mask >> r & 1])
        left = residual_variance(blocks.covariance[b], node, np.array([*parents, 0]), len(parents), work)
        score = blocks.base[b] - 0.5 * blocks.rows[b] * np.log(left) - blocks.price[b] * len(parents)
        assert score == pytest.approx(naive_score.local_score(setup.values[rows], node, parents, 2.0), abs=1e-6)
    left = residual_variance(blocks.covariance[-1], node, np.array([*parents, 0]), len(parents), work)
    score = blocks.base[-1] - 0.5 * setup.rows * np.log(left) - blocks.price[-1] * len(parents)
    naive = naive_score.shifted_score(setup.values, setup.codes, node, parents, 2.0)
    assert score == pytest.approx(naive, abs=1e-6)


def test_growing_takes_what_raises_the_score_and_the_score_is_that_of_the_parents(generator):
    setup = setup_of(model_table(300, 11, nodes=8))
    layout = lattice_layout(setup, OPTIONS)
    fits, work = no_fits(7, 4, 8), scratch(7, 8)
    nobody = np.zeros(7, dtype=bool)
    for node in range(7):
        for slot, mask in enumerate(layout.masks):
            work.candidates[:] = generator.random(7) < 0.7
            work.candidates[node] = False
            candidates = np.flatnonzero(work.candidates)
            fit(layout.problem.blocks, slot, node, nobody, fits, slot, work)
            parents = fits.parents[node, slot, : fits.taken[node, slot]].tolist()
            rows = setup.values[np.isin(setup.codes, [r for r in range(2) if mask >> r & 1])]
            own = naive_score.local_score(rows, node, parents, 2.0)
            assert fits.score[node, slot] == pytest.approx(own, abs=1e-6)
            assert set(parents) <= set(candidates.tolist())
            for parent in parents:
                rest = [other for other in parents if other != parent]
                assert naive_score.local_score(rows, node, rest, 2.0) <= own + 1e-9


def test_the_path_says_truly_whether_a_candidate_matters(generator):
    setup = setup_of(model_table(300, 12, nodes=10, density=0.6))
    blocks = lattice_layout(setup, OPTIONS).problem.blocks
    p, nobody = 9, np.zeros(9, dtype=bool)
    fits, again, work = no_fits(p, 4, 10), no_fits(p, 4, 10), scratch(p, 10)
    matters = 0
    for _ in range(400):
        node, other = generator.choice(p, 2, replace=False)
        slot = int(generator.integers(4))
        candidates = generator.random(p) < 0.6
        candidates[[node, other]] = False
        work.candidates[:] = candidates
        fit(blocks, slot, node, nobody, fits, slot, work)
        changes = would_change(blocks, slot, node, other, fits, slot, work)
        work.candidates[:] = candidates
        work.candidates[other] = True
        fit(blocks, slot, node, nobody, again, slot, work)
        assert changes == on_path(again, node, slot, other)
        if not changes:
            assert again.score[node, slot] == fits.score[node, slot]
        matters += changes
    assert 50 < matters < 350


def test_forced_parents_stay():
    setup = setup_of(model_table(300, 13))
    blocks = lattice_layout(setup, OPTIONS).problem.blocks
    fits, work = no_fits(7, 4, 10), scratch(7, 10)
    forced = np.array([False, True, False, True, False, False, False])
    work.candidates[:] = True
    work.candidates[0] = False
    fit(blocks, 2, 0, forced, fits, 2, work)
    assert {1, 3} <= set(fits.parents[0, 2, : fits.taken[0, 2]].tolist())


@pytest.mark.parametrize("contexts", [2, 3, 4])
def test_best_partition_is_the_best_of_all(contexts, generator):
    slots = 1 << contexts
    family = Partitions(contexts, *(np.zeros((1, slots), dtype=np.int64),) * 3, np.zeros(1, dtype=np.int64))
    for _ in range(50):
        scores = generator.normal(size=slots)
        ways = [way for way in naive_score.partitions(list(range(contexts))) if len(way) > 1]
        worth = [sum(scores[sum(1 << r for r in block) - 1] for block in way) for way in ways]
        assert best_partition(family, 0, scores) == pytest.approx(max(worth))
        best = max([*worth, scores[-1], scores[-2]])
        assert best_score(family, 0, scores, True) == pytest.approx(best)
        assert sum(scores[slot] for slot in chosen_slots(family, 0, scores, True)) == pytest.approx(best)
        assert chosen_slots(family, 0, scores, False) == [slots - 2]


def test_best_cut_of_a_merge_tree(generator):
    left = np.array([[0, 1, 2, 3, 4, 0, 2, 5, 7, 0]])
    right = np.array([[0, 1, 2, 3, 4, 1, 3, 4, 6, 0]])
    family = Partitions(5, left, left, right, np.zeros(1, dtype=np.int64))
    cuts = [[7, 6], [7, 2, 3], [5, 4, 6], [5, 4, 2, 3], [0, 1, 4, 6], [0, 1, 4, 2, 3]]
    for _ in range(50):
        scores = generator.normal(size=10)
        best = max(sum(scores[slot] for slot in cut) for cut in cuts)
        assert best_partition(family, 0, scores) == pytest.approx(best)
        chosen = chosen_slots(family, 0, scores, True)
        assert sum(scores[chosen]) == pytest.approx(max(best, scores[8], scores[9]))


@pytest.mark.parametrize("contexts", [2, 3])
@pytest.mark.parametrize("parents", [(), (1,), (0, 2, 4)])
def test_the_context_score_is_that_of_a_general_optimiser(contexts, parents):
    setup = setup_of(model_table(300, 5, contexts=contexts, nodes=6, context_noise=2.0))
    table = context_table(setup, OPTIONS)
    chosen = np.array(parents, dtype=np.int64)
    naive = naive_score.context_score(setup.values, setup.codes, parents, 2.0)
    assert logit_score(table, chosen, len(chosen)) == pytest.approx(naive, abs=1e-4)
    memory = no_memory()
    first = remembered_score(table, chosen, len(chosen), memory)
    assert remembered_score(table, chosen, len(chosen), memory) == first == logit_score(table, chosen, len(chosen))


def test_wilks_lambda_is_the_discriminant_ratio():
    setup = setup_of(model_table(300, 6, contexts=3, nodes=6))
    table = context_table(setup, OPTIONS)
    for parents in ([1], [0, 3], [0, 1, 2, 4]):
        gain = -0.5 * 300 * log_wilks(table, np.array(parents), len(parents))
        assert gain == pytest.approx(naive_score.wilks_gain(setup.values, setup.codes, parents))


def test_separated_contexts_have_a_finite_score(generator):
    x = generator.normal(size=200)
    setup = setup_of(pd.DataFrame({"X": x, "Y": generator.normal(size=200), "R": (x > 0).astype(int)}))
    table = context_table(setup, OPTIONS)
    names = {position: place for place, position in enumerate(setup.position)}
    chosen, count = choose_context_parents(table, np.ones(2, dtype=bool))
    assert chosen[:count].tolist() == [names[0]]
    assert -2 * np.log(200) - 5 < logit_score(table, chosen, count) < 0


def test_a_long_table_is_scored_on_part_of_its_rows(monkeypatch):
    import causalcontext.score.setup as module

    table = model_table(4000, 5)
    whole = setup_of(table)
    monkeypatch.setattr(module, "MOST_LOGIT_ROWS", 1000)
    part = setup_of(table)
    assert len(part.values) == 1000
    assert part.weight == 4.0
    parents = np.array([0, 1])
    scores = [logit_score(context_table(setup, OPTIONS), parents, 2) for setup in (whole, part)]
    assert scores[1] == pytest.approx(scores[0], rel=0.1)
