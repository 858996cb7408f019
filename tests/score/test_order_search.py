"""The searches: what a climb claims is what a fresh fit finds, and the optimum is the best of all
models.
"""

from dataclasses import replace
from itertools import pairwise

import naive_score
import numpy as np
import pytest
from score_tables import curved_table, design_of, fits_of, kinds_table, model_table, quiet, searched

import causalcontext as cc
from causalcontext.graphs.endpoints import marked
from causalcontext.kernels.orders.fit_arrays import no_kept
from causalcontext.kernels.rows.noise_densities import MANY, best_density
from causalcontext.score.columns import OWN_STEP, PRODUCT, BasisFunction
from causalcontext.score.design import POOLED
from causalcontext.score.judgement import direct
from causalcontext.score.merging import Merger, lattice
from causalcontext.score.options import Clock
from causalcontext.score.search import (
    Climber,
    Effort,
    best_first,
    climb_from,
    random_order,
    search,
    sweeps,
)
from causalcontext.score.workspace import FitWorkspace
from marks import rest_slow

CYCLIC = {"cycles": "enforce", "edits": ("add", "remove", "flip")}


@pytest.mark.parametrize("contexts", [1, 2, 3])
@pytest.mark.parametrize("curves", [False, True])
def test_kept_scores_are_those_of_a_fresh_fit(contexts, curves):
    table = model_table(
        300, 100, nodes=9, contexts=max(contexts, 2), edits=("add", "remove", "flip")
    )
    if curves:
        table = kinds_table(300, 7) if contexts == 2 else curved_table(300, 7, max(contexts, 2))
    design = design_of(
        table if contexts > 1 else table.drop(columns="R"), "R" if contexts > 1 else None, curves
    )
    slots, generator, stop = lattice(design), np.random.default_rng(1), Clock().flag
    workspace, other = (
        FitWorkspace(design, curves, memory=design.new_memory(), keeps=True) for _ in range(2)
    )
    order, p = random_order(design, generator), design.data.responses
    for shared in (True, False) if contexts > 1 else (True,):
        standing = Climber(workspace, slots, np.tile(order, (contexts, 1)), shared, stop)
        before = standing.fit()
        for visits in sweeps(p, design.data.nodes, generator)[:3]:
            gain, after = standing.climb(visits[None])
            other.kept.names[:] = 0
            fresh = Climber(other, slots, standing.orders.copy(), shared, stop).fit()
            assert after == pytest.approx(fresh, abs=1e-6)
            assert after - before == pytest.approx(gain, abs=1e-6)
            assert gain >= 0.0
            before = after
        order = standing.orders[0]
    if contexts > 1:
        prefix = standing.orders[:, : np.flatnonzero(standing.orders[0] == p)[0] + 1]
        assert (prefix == prefix[0]).all()


def _fit(workspace, task, candidates):
    scores, columns = fits_of(workspace, [task], [candidates])
    return scores[0], columns[0]


@pytest.mark.parametrize("curves", [False, True])
def test_fits_are_kept_and_know_whose_candidacy_matters(curves):
    table = kinds_table(300, 3).drop(columns="M").assign(**curved_table(300, 4).drop(columns="R"))
    design, generator = design_of(table, curves=curves), np.random.default_rng(5)
    p = design.data.responses
    if curves:
        design = design.with_proposed(
            [
                BasisFunction(0, 1, PRODUCT, -1.0),
                BasisFunction(2, 4, PRODUCT, -1.0),
                BasisFunction(3, -1, OWN_STEP, 0.3),
            ]
        )
    blocks = lattice(design).block.shape[1]
    workspace, mattered = FitWorkspace(design, curves, keeps=True), 0
    for _ in range(20):
        task = (int(generator.integers(blocks)), int(generator.integers(p)))
        chosen = (generator.random(p) < 0.5) & (np.arange(p) != task[1])
        first, again = (_fit(workspace, task, chosen) for _ in range(2))
        matters = workspace.arrays.fits.matters[task[1], 0, :p].copy()
        assert (
            first
            == again
            == _fit(FitWorkspace(design, curves, memory=design.new_memory()), task, chosen)
        )
        for j in np.flatnonzero(~matters & (np.arange(p) != task[1])):
            fresh = FitWorkspace(design, curves, memory=design.new_memory())
            assert _fit(fresh, task, chosen ^ (np.arange(p) == j)) == first
        mattered += matters.sum()
    assert mattered > 20


def test_what_is_kept_is_forgotten_when_there_is_no_room():
    design = design_of(model_table(200, 1, nodes=9), curves=False)
    slots, order = lattice(design), random_order(design, np.random.default_rng(0))
    large, small = (
        FitWorkspace(design, False, memory=design.new_memory(), keeps=True) for _ in range(2)
    )
    small.kept = no_kept(9, small.width, 32)
    one, other = (
        climb_from(order, workspace, slots, np.random.default_rng(1), Clock())
        for workspace in (large, small)
    )
    assert one.score == other.score
    assert np.array_equal(one.orders, other.orders)
    assert small.kept.filled[0] <= 16


def test_an_exact_search_ends_with_the_time():
    design = design_of(model_table(200, 3, nodes=5), curves=False)
    late, ample = Clock(1e-9), Clock(600.0)
    cut, whole = (search(design, False, Effort(0, 1, quiet, clock)) for clock in (late, ample))
    assert (cut.search, late.cut) == ("order", ["starts"])
    assert (whole.search, ample.cut) == ("exact", [])
    assert whole.best.score == search(design, False, Effort(0, 1, quiet, Clock())).best.score


def test_of_equal_models_the_first_leads():
    design = design_of(model_table(200, 2, nodes=5), curves=False)
    found = search(design, False, Effort(0, 1, quiet, Clock())).best
    models = [replace(found, score=score) for score in (-5.0 - 1e-9, -7.0, -5.0, -6.0)]
    assert [model.score for model in best_first(models)] == [-5.0 - 1e-9, -5.0, -6.0, -7.0]


class Naive(naive_score.SmallProblem):
    """All models of a small table with noise densities, slopes that differ between contexts
    included, two contexts.
    """

    def __init__(self, design, banned=None):
        self.design, self.banned = design, banned
        super().__init__(design.data.values[:-1].T, design.data.codes[-1], 2.0, self._of_context)

    def _of_context(self, prefix):
        before = [j for j in prefix if self.banned != (j, self.p)]
        pooled, first, sets = (
            self.design.block(POOLED, 3),
            self.design.first,
            naive_score.subsets(before),
        )
        tasks = [(pooled, self.p, [int(first[j]) for j in chosen]) for chosen in sets]
        scores = FitWorkspace(self.design, curves=False).score(tasks)[:, 0]
        best = int(np.argmax(scores))
        return scores[best], sets[best]

    def best_regression(self, node, contexts, candidates):
        allowed = tuple(j for j in candidates if self.banned != (j, node))
        return super().best_regression(node, contexts, allowed)

    def _score(self, node, contexts, chosen):
        key = (node, contexts, "density", chosen)
        if key not in self._memory:
            rows = (
                np.ones(len(self.codes), bool)
                if contexts is None
                else np.isin(self.codes, contexts)
            )
            shifts = (
                [self.codes == r for r in (0, 1)] if contexts is None else [np.ones(rows.sum())]
            )
            self._memory[key] = super()._score(node, contexts, chosen) + self._density(
                rows, node, shifts, chosen
            )
        return self._memory[key]

    def _density(self, rows, node, shifts, chosen):
        design = np.column_stack([*shifts, self.values[rows][:, list(chosen)]])
        return _gain(naive_score.regression_residual(self.values[rows, node], design))

    def best_node(self, node, before, after_context):
        if self.banned == (self.p, node):
            return super().best_node(node, before, False)
        best = super().best_node(node, before, after_context)
        if not after_context:
            return best
        candidates = tuple(
            j for j in sorted(set(before[0]) & set(before[1])) if self.banned != (j, node)
        )
        return max([best, *(self._mixed(node, chosen) for chosen in _by_context(candidates))])

    def _mixed(self, node, chosen):
        """One regression with an intercept for every context, and slopes in some contexts: (parent,
        contexts).
        """
        key = (node, "mixed", chosen)
        if key not in self._memory:
            inside = [np.isin(self.codes, where) for _, where in chosen]
            design = np.column_stack(
                [
                    self.codes == 0,
                    self.codes == 1,
                    *(
                        np.where(
                            rows, self.values[:, j] - _mean_by(self.values[:, j], self.codes), 0.0
                        )
                        for (j, _), rows in zip(chosen, inside, strict=True)
                    ),
                ]
            )
            residual = naive_score.regression_residual(self.values[:, node], design)
            price = 3 * np.log(len(residual)) + sum(np.log(rows.sum()) for rows in inside)
            self._memory[key] = naive_score.log_likelihood(residual) - price + _gain(residual)
        parents = tuple(tuple(sorted({j for j, where in chosen if r in where})) for r in (0, 1))
        return self._memory[key], True, parents


def _mean_by(values, codes):
    return np.array([values[codes == r].mean() for r in (0, 1)])[codes]


def _gain(residual):
    return best_density(residual, len(residual), np.zeros(MANY + 5))


def _by_context(candidates):
    """All ways to give parents slopes: none, in one context, the same in both, or one in each."""
    ways = [()]
    for j in candidates:
        options = [(), ((j, (0,)),), ((j, (1,)),), ((j, (0, 1)),), ((j, (0,)), (j, (1,)))]
        ways = [(*way, *option) for way in ways for option in options]
    return ways


def _links(model, p, contexts):
    """Directed links of a naive model, shape (contexts, p + 1, p + 1)."""
    parents_of_context, children, parents = model
    links = np.zeros((contexts, p + 1, p + 1), dtype=bool)
    for node in range(p):
        links[:, p, node] = children[node]
        for r in range(contexts):
            links[r, list(parents[node][r]), node] = True
    links[:, list(parents_of_context), p] = True
    return links


@pytest.mark.parametrize("seed", rest_slow(range(6), fast=2))
def test_the_exact_search_finds_the_best_of_all_models_and_directs_what_forbidding_costs(seed):
    table = model_table(150, 500 + seed, nodes=4, density=0.7, edits=("add", "remove", "flip"))
    found = searched(table, "exact")
    design = found.best.design
    best = max(Naive(design).models(), key=lambda model: model[0])
    assert found.best.score == pytest.approx(best[0], abs=1e-4)
    told = direct(found)
    arrows = told.agreed
    for cause, effect in np.argwhere(found.best.links.any(axis=0)):
        rival = max(Naive(design, (cause, effect)).models(), key=lambda model: model[0])
        margin = best[0] - rival[0]
        assert told.margin[cause, effect] == pytest.approx(min(margin, 30.0), abs=1e-3)
        if margin >= 3.0:
            assert np.array_equal(arrows[:, cause, effect], found.best.links[:, cause, effect])
        elif _links(rival[1:], 3, 2)[:, effect, cause].all():
            assert not arrows[:, cause, effect].any()
    assert not (arrows & ~found.best.links).any()


@pytest.mark.parametrize("design", rest_slow([CYCLIC, {}, {"contexts": 3, "nodes": 6}]))
def test_the_order_search_reaches_the_optimum(design):
    reached = 0
    for seed in range(10):
        table = model_table(300, 900 + seed, **design)
        best = searched(table, "exact").best.score
        found = searched(table, "order").models
        assert all(one.score > other.score - 1e-6 for one, other in pairwise(found))
        reached += found[0].score > best - 1e-3
    assert reached >= 9


def test_the_order_search_reaches_the_optimum_with_curves_and_categories():
    reached = 0
    for seed in range(5):
        for table in (curved_table(200, seed), kinds_table(200, seed)):
            best = searched(table, "exact", curves=True).best.score
            reached += searched(table, "order", curves=True).best.score > best - 1e-3
    assert reached >= 9


def test_union_cycles_are_within_reach():
    found = 0
    for seed in range(10):
        model = cc.simulate.random_model(seed=seed, cycles="enforce", edits=("flip",))
        result = cc.discover(model.sample(1000, seed), "R", method="score-ac")
        truth, union = (
            marked(graph.endpoints, "<=>") for graph in (model.union_graph(), result.union)
        )
        found += bool((truth & union).any())
    assert found >= 6  # both directions must be clear: a model without one of them is 3 nats worse


@pytest.mark.parametrize("curves", [False, True])
def test_a_read_model_respects_its_orders_and_its_score_is_the_sum_of_its_parts(curves):
    table = curved_table(400, 41, 3) if curves else model_table(400, 41, contexts=3)
    model = searched(table, "order", curves).best
    wanted = [(part.block, node, part.columns) for node, part in model.regressions()]
    assert FitWorkspace(model.design, curves).score(wanted)[:, 0].sum() == pytest.approx(
        model.score, abs=1e-5
    )
    for r, links in enumerate(model.links):
        place = np.argsort(model.orders[r])
        causes, effects = np.nonzero(links)
        assert (place[causes] < place[effects]).all()


def test_many_contexts_are_merged():
    """Six contexts, two mechanisms: the contexts that share one are found."""
    generator = np.random.default_rng(3)
    code = generator.integers(6, size=1200)
    x = generator.normal(size=1200)
    y = np.where(code < 3, 1.5, -1.0) * x + generator.normal(size=1200)
    z = y + generator.normal(size=1200)
    result = cc.discover(
        {"X": x, "Y": y, "Z": z, "R": code}, "R", method="score-ac", transform="none"
    )
    evidence = result.evidence
    assert evidence.model[:3] == ("pooled", "partitioned", "pooled")
    assert [evidence.merged(1, r, result.contexts) for r in (0, 5)] == [(0, 1, 2), (3, 4, 5)]
    assert result.union.mark("R", "Y") == "-->"
    assert "shared by 0, 1, 2" in result.explain("X", "Y")


def test_contexts_are_merged_without_comparing_when_the_time_is_up(monkeypatch):
    """Comparing all pairs of many contexts takes longer than a short limit: it ends after a few
    fits.
    """
    asked = []
    fit = FitWorkspace.fit
    monkeypatch.setattr(
        FitWorkspace,
        "fit",
        lambda self, pairs, *more: asked.append(len(pairs)) or fit(self, pairs, *more),
    )
    generator = np.random.default_rng(4)
    table = {name: generator.normal(size=1200) for name in "ABC"} | {"R": np.arange(1200) % 30}
    result = cc.discover(table, "R", method="score-ac", time_limit=1e-6)
    assert not result.complete
    assert sum(asked) < 100, "the 465 sets of one and two contexts, three times, are not compared"
    assert len(result.contexts) == 30


@pytest.mark.parametrize("contexts", [3, 6])
def test_a_climb_that_has_to_stop_at_once_fits_required_causes_alone(contexts, monkeypatch):
    """The first fits of large tables take longer than a short limit."""
    start = Clock.start

    def late(self, call):
        assert self.late
        self.overdue[0] = 1
        return start(self, call)

    monkeypatch.setattr(Clock, "start", late)
    table = model_table(400, 11, contexts=contexts, nodes=6)
    known = cc.Knowledge(required=[("X0", "X1")])
    free, bound = (
        cc.discover(
            table, "R", method="score-ac", search="order", knowledge=knowledge, time_limit=1e-6
        )
        for knowledge in (None, known)
    )
    assert not free.complete
    assert [len(graph.edges) for graph in free.graphs.values()] == [0] * contexts
    assert [[str(edge) for edge in graph.edges] for graph in bound.graphs.values()] == [
        ["X0 --> X1"]
    ] * contexts


def test_greedy_merging_agrees_with_all_partitions():
    """Merging pair by pair finds the best of all partitions of five contexts, or comes close."""
    equal = 0
    for seed in range(6):
        table = model_table(600, 300 + seed, contexts=5, nodes=5, edits=("add", "remove", "flip"))
        design = design_of(table, curves=False)
        greedy = search(design, False, Effort(0, 1, quiet, Clock())).best
        merger = Merger(design, False, design.memory, Clock())
        place = np.argsort(greedy.orders, axis=1)

        def total(node, masks, merger=merger, place=place):
            return merger.scores([(node, mask) for mask in masks], place).sum()

        for node in (node for node, parts in enumerate(greedy.parts) if len(parts) > 1):
            ways = [way for way in naive_score.partitions(list(range(5))) if len(way) > 1]
            best = max(total(node, [sum(1 << r for r in block) for block in way]) for way in ways)
            own = total(node, [part.mask for part in greedy.parts[node]])
            equal += own > best - 1e-6
            assert own > best - 10.0
    assert equal >= 4


def test_blocks_stay_where_they_are_while_others_are_added():
    design = design_of(curved_table(300, 8, 5), curves=False)
    numbers = design.pooled([1, 2])
    first = design.tables()
    names = ("block", "groups", "number", "cost", "weight", "variance")
    before = [getattr(first, name).copy() for name in names]
    design.pooled(range(1, 32))
    later = design.tables()
    assert len(later.block) == 31
    assert design.pooled([1, 2]) == numbers
    assert [design.key(block) for block in numbers] == [(POOLED, 1, -1), (POOLED, 2, -1)]
    for name, rows in zip(names, before, strict=True):
        assert np.array_equal(getattr(first, name), rows)
        assert np.array_equal(getattr(later, name)[:2], rows)
