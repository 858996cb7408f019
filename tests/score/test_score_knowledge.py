"""Knowledge binds the search over orders and the exact one alike."""

import numpy as np
import pandas as pd
import pytest
from score_tables import model_table

import causalcontext as cc
from marks import rest_slow


def random_knowledge(names, generator):
    """Some of everything, free of contradictions: all of it agrees with one random order."""
    order = generator.permutation(names).tolist()
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    picked = generator.permutation(len(pairs))
    required = [pairs[i] for i in picked[:3]]
    forbidden = [pairs[i] for i in picked[3:6]] + [pairs[i][::-1] for i in picked[6:9]]
    free = [name for name in names if name not in {n for pair in required for n in pair}]
    tiers = [order[:4], order[4:]] if generator.random() < 0.5 else []
    return cc.Knowledge(required, forbidden, tiers, roots=free[:1], sinks=free[1:2])


@pytest.mark.parametrize("search", ["order", "exact"])
@pytest.mark.parametrize("seed", rest_slow(range(12), fast=3))
def test_knowledge_is_never_broken(search, seed):
    rows = model_table(200, 400 + seed, edits=("add", "remove", "flip"), cycles="any")
    knowledge = random_knowledge(list(rows.columns), np.random.default_rng(seed))
    starts = 3 if search == "order" else None
    result = cc.discover(
        rows,
        "R",
        method="score-ac",
        search=search,
        knowledge=knowledge,
        starts=starts,
        transform="none",
    )
    assert result.knowledge_violations() == []
    for cause, effect in knowledge.required:
        assert all(graph.mark(cause, effect) == "-->" for graph in result.graphs.values())
        assert "required by your knowledge" in result.explain(cause, effect)


@pytest.mark.parametrize("seed", range(4))
def test_both_searches_agree_under_knowledge(seed):
    rows = model_table(300, 500 + seed)
    knowledge = random_knowledge(list(rows.columns), np.random.default_rng(100 + seed))
    scores = [
        cc.discover(
            rows, "R", method="score-ac", search=search, knowledge=knowledge, transform="none"
        ).evidence.score
        for search in ("order", "exact")
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-3)


@pytest.mark.parametrize("contexts", [2, 6])
def test_links_at_the_context(contexts):
    rows = model_table(600, 8, contexts=contexts, edits=("add", "remove", "flip"))
    system = [name for name in rows if name != "R"]
    children = cc.Knowledge.context_children("R", system[:2])
    result = cc.discover(rows, "R", method="score-ac", knowledge=children, starts=2)
    assert all(
        graph.mark("R", name) == "-->" for graph in result.graphs.values() for name in system[:2]
    )
    everything = cc.Knowledge.context_neighbours("R", parents=system[2:3], children=system[:1])
    result = cc.discover(rows, "R", method="score-ac", knowledge=everything, starts=2)
    for graph in result.graphs.values():
        assert graph.mark(system[2], "R") == graph.mark("R", system[0]) == "-->"
        assert len(graph.neighbours("R")) == 2
    assert result.knowledge_violations() == []


def test_knowing_the_order_turns_a_link_at_the_context():
    """Skewed noise may turn X --> R round; that X comes first settles it."""
    rows = model_table(300, 9)
    causes = [name for name in rows if name != "R"]
    result = cc.discover(rows, "R", method="score-ac", knowledge=cc.Knowledge(sinks=["R"]))
    assert all(
        graph.mark("R", name) != "-->" for graph in result.graphs.values() for name in causes
    )


@pytest.mark.parametrize("known", [{"tiers": [["Z"], ["X"], ["Y"]]}, {"forbidden": [("X", "Z")]}])
def test_a_wave_is_seen_where_knowledge_forbids_the_line_that_stands_for_it(known):
    """Without a link to Z the density of X explains much; the best model of lines has Z after X,
    and no link.
    """
    rng = np.random.default_rng(0)
    z = rng.standard_normal(500)
    x = 2.5 * np.sin(2.0 * z) + 0.5 * rng.standard_normal(500)
    code = rng.integers(0, 2, 500)
    y = np.where(code == 0, x / 2.5, 0.0) + rng.standard_normal(500)
    table = {"Z": z, "X": x, "Y": y, "R": code}
    found, bent = (
        cc.discover(table, "R", method="score-ac", knowledge=cc.Knowledge(**known), curves=curves)
        for curves in ("auto", "always")
    )
    assert found.evidence.score == pytest.approx(bent.evidence.score)
    assert found.union.mark("Z", "X") == "-->"


@pytest.mark.parametrize("seed", range(5))
def test_a_link_in_the_only_known_direction_is_scored_whatever_the_order(seed):
    """The order may have a variable without links behind those that it could cause."""
    rng = np.random.default_rng(seed)
    wet = rng.integers(0, 2, 400)
    a, b, c, d = rng.normal(size=(4, 400))
    table = pd.DataFrame({"A": a, "B": b, "C": b + c + wet, "D": d, "R": wet})
    tiers = [["A", "D"], ["B"], ["C"], ["R"]]
    result = cc.discover(table, "R", method="score-ac", knowledge=cc.Knowledge(tiers=tiers))
    scores = result.scores()
    assert scores["score"].notna().all()
    absent = scores.query("decision == 'absent' and effect == 'B'")
    assert set(zip(absent["x"], absent["y"], strict=True)) == {("A", "B"), ("B", "D")}
    for row in absent.itertuples():
        cause = row.x if row.x != "B" else row.y
        known = cc.Knowledge(tiers=tiers, required=[(cause, "B")])
        with_link = cc.discover(table, "R", method="score-ac", knowledge=known)
        loss = with_link.evidence.score - result.evidence.score
        assert row.score == pytest.approx(loss, abs=0.5)
