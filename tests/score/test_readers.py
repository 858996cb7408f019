"""Several contexts: every mechanism reads none of them, one or two, and the best of all such models
is found.
"""

import itertools

import naive_score
import numpy as np
import pandas as pd
import pytest
from score_tables import design_of, searched

import causalcontext as cc
from causalcontext.results.explain import explained
from causalcontext.score.design import POOLED
from causalcontext.score.workspace import FitWorkspace
from marks import rest_slow


def two_contexts(seed, n=400):
    """C reads R, D reads S, E reads both; R follows A, S follows B."""
    generator = np.random.default_rng(seed)
    a, (c, d, e, b) = generator.normal(size=n), generator.normal(size=(4, n))
    b += 0.8 * a
    r = (a + 0.5 * generator.logistic(size=n) > 0).astype(int)
    s = (b + 0.5 * generator.logistic(size=n) > 0).astype(int)
    c += np.where(r == 1, 1.0, 0.0) * b
    d += np.where(s == 1, 1.0, -0.7) * c
    e += 0.7 * d + np.where((r == 1) & (s == 1), 1.2, 0.0) * a
    return pd.DataFrame({"A": a, "B": b, "C": c, "D": d, "E": e, "R": r, "S": s})


class Naive:
    """The best model of two numbers and two binary contexts with one order for all cells, by trying
    everything.
    """

    def __init__(self, design):
        self.design, data = design, design.data
        self.values, self.codes = data.values[:2].T, data.codes[2:]
        self.memory = {}

    def best(self):
        return max(self._total(order) for order in itertools.permutations(range(4)))

    def _total(self, order):
        return sum(self._node(node, frozenset(order[:place])) for place, node in enumerate(order))

    def _node(self, node, before):
        key = (node, before if node >= 2 else (before & {2, 3}, before & {0, 1}))
        if key not in self.memory:
            self.memory[key] = (
                self._context(node, before) if node >= 2 else self._number(node, before)
            )
        return self.memory[key]

    def _context(self, node, before):
        first, pooled = self.design.first, self.design.block(POOLED, self.design.everything)
        tasks = [
            (pooled, node, [int(first[j]) for j in chosen])
            for chosen in naive_score.subsets(sorted(before))
        ]
        return FitWorkspace(self.design, curves=False, densities=False).score(tasks)[:, 0].max()

    def _number(self, node, before):
        parents, everything = sorted(before & {0, 1}), np.ones(len(self.values), bool)
        scores = [self._block(node, everything, parents)]
        for read in naive_score.subsets(sorted(before & {2, 3}))[1:]:
            cell = sum(2**place * self.codes[context - 2] for place, context in enumerate(read))
            values = np.unique(cell).tolist()
            for way in naive_score.partitions(values):
                scores.append(
                    sum(self._block(node, np.isin(cell, block), parents) for block in way)
                )
            own = (cell[:, None] == values).astype(float)
            scores.append(
                max(
                    self._changing(node, own, [(j, everything) for j in chosen])
                    for chosen in naive_score.subsets(parents)
                )
            )
            if len(values) == 2:
                scores.append(self._mixed(node, parents, cell == 1))
            # some of the four values against the others, but for those with one value of a single
            # context
            else:
                merged = [
                    some for some in naive_score.subsets(values) if 0 in some and len(some) < 4
                ]
                merged = [some for some in merged if some not in ((0, 1), (0, 2))]
                scores += [
                    self._mixed(node, parents, np.isin(cell, some)) - np.log(len(merged))
                    for some in merged
                ]
        return max(scores)

    def _mixed(self, node, parents, there):
        """Two intercepts, and every slope nowhere, everywhere, in some of the rows, or in both
        parts apart.
        """
        everything, own = there | ~there, np.column_stack([there, ~there]).astype(float)
        where = [[], [everything], [there], [~there], [there, ~there]]
        return max(
            self._changing(
                node, own, [(j, rows) for j, way in zip(parents, ways, strict=True) for rows in way]
            )
            for ways in itertools.product(where, repeat=len(parents))
        )

    def _block(self, node, rows, parents):
        return max(
            naive_score.local_score(self.values[rows], node, chosen, 2.0)
            for chosen in naive_score.subsets(parents)
        )

    def _changing(self, node, own, lives):
        """An intercept for every value of what is read, and slopes that live in some rows."""
        columns = [
            np.where(rows, self.values[:, j] - own @ self._means(j, own), 0.0) for j, rows in lives
        ]
        residual = naive_score.regression_residual(
            self.values[:, node], np.column_stack([own, *columns])
        )
        price = (1 + own.shape[1]) * np.log(len(own)) + sum(np.log(rows.sum()) for _, rows in lives)
        return naive_score.log_likelihood(residual) - price

    def _means(self, j, own):
        return own.T @ self.values[:, j] / own.sum(axis=0)


@pytest.mark.parametrize("seed", rest_slow(range(4), fast=1))
@pytest.mark.parametrize("columns", [["B", "C"], ["C", "D"], ["A", "E"]])
def test_the_exact_search_finds_the_best_of_all_models_of_two_contexts(columns, seed):
    table = two_contexts(seed, 300)[[*columns, "R", "S"]]
    found = searched(table, "exact", context=["R", "S"], densities=False)
    naive = Naive(design_of(table, ["R", "S"], curves=False, densities=False)).best()
    same = (found.best.orders == found.best.orders[0]).all()
    assert found.best.score >= naive - 1e-4
    assert not same or found.best.score == pytest.approx(naive, abs=1e-4)
    assert searched(table, "order", context=["R", "S"], densities=False).best.score >= naive - 1e-3


def test_every_mechanism_reads_its_own_contexts():
    right = 0
    for seed in range(10):
        result = cc.discover(
            two_contexts(seed, 1000), ["R", "S"], method="score-ac", curves="never", seed=1
        )
        children = {
            context: {name for name in "ABCDE" if result.union.mark(context, name) == "-->"}
            for context in "RS"
        }
        right += children == {"R": {"C", "E"}, "S": {"D", "E"}}
        assert result.contexts == ((0, 0), (0, 1), (1, 0), (1, 1))
    assert right >= 8


@pytest.mark.parametrize("how", ["exact", "order"])
def test_a_slope_that_no_context_changes_is_one_slope_beside_one_that_two_change(how):
    for seed in range(3):
        table = two_contexts(seed, 1000)
        result = cc.discover(
            table, ["R", "S"], method="score-ac", curves="never", search=how, seed=1
        )
        own = [
            equation
            for equation in result.evidence.mechanisms.equations
            if result.names[equation.effect] == "E"
        ]
        terms = {
            (result.names[term.causes[0]], len(term.contexts))
            for equation in own
            for term in equation.terms
        }
        assert terms == {("D", 4), ("A", 1)}
        assert len({level for equation in own for level in equation.intercepts}) == 2
        assert result.evidence.model[result.position("E")] == "mixed"


@pytest.mark.parametrize("how", ["exact", "order"])
def test_the_order_of_contexts_does_not_matter(how):
    table = two_contexts(0, 500)[["B", "C", "E", "A", "R", "S"]].assign(
        S=lambda own: own["S"] + (own["A"] > 1)
    )
    one, other = (
        cc.discover(table, list(order), method="score-ac", search=how, curves="never", seed=3)
        for order in (("R", "S"), ("S", "R"))
    )
    assert one.evidence.score == other.evidence.score
    assert (one.thin.values, other.thin.values) == (((0, 2),), ((2, 0),))
    for r, s in one.contexts:
        assert set(one.graphs[r, s].edges) == set(other.graphs[s, r].edges)
        for x, y in itertools.combinations("ABCE", 2):
            told = explained(one, x, y, apart=True)[one.contexts.index((r, s))]
            again = explained(other, x, y, apart=True)[other.contexts.index((s, r))]
            assert len(told.split()) == len(again.split())
        if (r, s) in one.thin.values:
            continue
        for name in "ABCE":
            effect = one.names.index(name)
            first = one.evidence.mechanisms.equation(effect, one.searched.contexts.index((r, s)))
            second = other.evidence.mechanisms.equation(
                effect, other.searched.contexts.index((s, r))
            )
            assert sorted(map(repr, (term.slopes for term in first.terms))) == sorted(
                map(repr, (term.slopes for term in second.terms))
            )


def test_knowledge_about_several_contexts_is_kept():
    table = two_contexts(0, 800)
    for known, mark in (
        ({"required": [("R", "D")]}, "-->"),
        ({"forbidden": [("R", "D"), ("D", "R")]}, ""),
    ):
        result = cc.discover(
            table, ["R", "S"], method="score-ac", knowledge=cc.Knowledge(**known), curves="never"
        )
        assert {graph.mark("R", "D") for graph in result.graphs.values()} == {mark}
        assert "knowledge" in result.explain("R", "D")
        assert result.union.mark("S", "D") == "-->"


def test_three_contexts_share_one_order():
    table = two_contexts(3, 1500)
    table["T"] = (np.random.default_rng(0).random(len(table)) < 0.5).astype(int)
    result = cc.discover(table, ["R", "S", "T"], method="score-ac", curves="never", seed=1)
    assert len(result.contexts) == 8
    assert {name for name in "ABCDE" if result.union.mark("T", name)} == set()
    assert result.union.mark("R", "C") == result.union.mark("S", "D") == "-->"


def above(seed, n=800):
    """W --> Y where X is above .3 alone; W --> X, Y --> Z."""
    generator = np.random.default_rng([seed, 3])
    w, (x, y, z) = generator.normal(size=n), generator.normal(size=(3, n))
    x += 0.8 * w
    y += np.where(x > 0.3, 1.2, 0.0) * w
    return pd.DataFrame({"W": w, "X": x, "Y": y, "Z": z + 0.8 * y})


@pytest.mark.parametrize("how", ["exact", "order"])
def test_a_mechanism_changes_with_a_threshold_of_a_column_that_comes_before_it(how):
    right = 0
    for seed in range(8):
        result = cc.discover(
            above(seed),
            cc.threshold("X", 0.3),
            method="score-ac",
            search=how,
            curves="never",
            seed=1,
        )
        found = {
            (edge.source, edge.mark, edge.target, edge.contexts) for edge in result.labeled_union
        }
        both = result.contexts
        right += found == {
            ("W", "o-o", "X", both),
            ("W", "-->", "Y", (both[1],)),
            ("X", "-->", "X > 0.3", both),
            ("Y", "-->", "Z", both),
            ("X > 0.3", "-->", "Y", both),
        }
    assert right >= 7


def test_results_of_a_threshold_answer_like_others(tmp_path):
    result = cc.discover(above(1), cc.threshold("X", 0.3), method="score-ac", seed=1)
    assert "X > 0.3 is a function of X" in result.explain("X", "X > 0.3")
    assert "raises the score" in result.explain("X > 0.3", "Y")
    assert result.changes(*result.contexts)[["source", "target", "claimed"]].values.tolist() == [
        ["W", "Y", True]
    ]
    assert result.effects("W", "Y").effect.tolist()[0] == 0.0
    result.save(tmp_path / "r.json")
    assert cc.load(tmp_path / "r.json") == result
    assert cc.load(tmp_path / "r.json").explain("W", "Y") == result.explain("W", "Y")


@pytest.mark.parametrize("contexts", [6, 8])
def test_many_context_variables_have_many_cells(contexts, tmp_path):
    """From 6 binary contexts on, bit masks of cells do not fit into 64 bits; who reads which is
    found all the same.
    """
    generator, n = np.random.default_rng(contexts), 4000
    cells = generator.integers(2, size=(contexts, n))
    x, (y, z) = generator.normal(size=n), generator.normal(size=(2, n))
    y += x * np.where(cells[0] == 1, 1.0, -0.5)
    z += 0.8 * y + x * np.where(cells[1] & cells[2], 1.0, 0.0)
    names = [f"C{j}" for j in range(contexts)]
    table = pd.DataFrame({"X": x, "Y": y, "Z": z, **dict(zip(names, cells, strict=True))})
    result = cc.discover(table, names, method="score-ac", curves="never", transform="none")
    assert len(result.contexts) == 1 << contexts
    read = {
        (name, child)
        for name in names
        for child in "XYZ"
        if result.union.mark(name, child) == "-->"
    }
    assert read == {("C0", "Y"), ("C1", "Z"), ("C2", "Z")}
    result.save(tmp_path / "found.json")
    again = cc.load(tmp_path / "found.json")
    assert again == result
    searched = result.searched.contexts
    assert len(searched) == (1 << contexts) - (0 if result.thin is None else len(result.thin.rows))
    assert again.evidence.merged(0, 3, searched) == tuple(searched)
    assert len(result.mechanisms())
