"""Categories of very many levels: rare levels are taken together, or the column is left out, and it
is said.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.data.tables import read_table
from causalcontext.score.options import MOST_LEVELS
from causalcontext.screening.rare_levels import TOGETHER, with_rare_levels_together


def table(rows: int = 800) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    x, r = rng.normal(size=rows), rng.integers(2, size=rows)
    return pd.DataFrame({"X": x, "Y": r * x + rng.normal(size=rows), "R": r})


def skewed(rows: int = 800) -> list[str]:
    """Two cities have nine rows in ten; 80 others share the rest."""
    rng = np.random.default_rng(1)
    rare = rng.integers(0, 80, size=rows)
    rare[:80] = np.arange(80)
    common = rng.choice(["Paris", "Rome"], size=rows)
    return [
        f"village {code}" if i < 160 else city
        for i, (code, city) in enumerate(zip(rare, common, strict=True))
    ]


def test_rare_levels_are_taken_together_and_it_is_said() -> None:
    data, left_out, told = with_rare_levels_together(read_table(table().assign(city=skewed()), "R"))
    assert not left_out
    place = data.names.index("city")
    assert len(data.categories[place]) == MOST_LEVELS
    assert {"Paris", "Rome", TOGETHER} <= set(data.categories[place])
    labels = np.array(data.categories[place])[np.asarray(data.columns[place])]
    for city in ("Paris", "Rome"):
        assert (labels == city).tolist() == [own == city for own in skewed()]
    assert told[0].startswith("city has 82 levels: the 33 rarest, each of at most ")


def test_the_answer_is_that_without_many_levels() -> None:
    rows = table()
    clean = cc.discover(rows, "R")
    surnames = [f"name {code}" for code in np.random.default_rng(2).integers(0, 300, size=800)]
    for column in (skewed(), surnames):
        found = cc.discover(rows.assign(city=column), "R")
        assert found.settings.method == "score-ac"
        assert any("city" in words and "levels" in words for words in found.warnings)
        for value, graph in clean.graphs.items():
            edges = {(edge.source, edge.target, edge.mark) for edge in found.graphs[value].edges}
            assert edges == {(edge.source, edge.target, edge.mark) for edge in graph.edges}


def test_what_has_no_frequent_levels_is_left_out_unless_it_is_kept() -> None:
    surnames = [f"name {i % 300}" for i in range(800)]
    data = read_table(table().assign(surname=surnames), "R")
    same, left_out, told = with_rare_levels_together(data)
    assert [left.column for left in left_out] == ["surname"]
    assert "has 300 levels" in left_out[0].reason
    assert not told
    assert same is data
    assert with_rare_levels_together(data, ["surname"])[1] == ()


def test_few_levels_and_missing_cells_stay() -> None:
    data = read_table(table().assign(city=[f"c{i % 30}" for i in range(800)]), "R")
    assert with_rare_levels_together(data) == (data, (), ())
    missing = pd.Series(skewed()).mask(np.arange(800) % 10 == 5)
    data = read_table(table().assign(city=missing), "R")
    merged = with_rare_levels_together(data)[0]
    column = np.asarray(merged.columns[merged.names.index("city")], dtype=float)
    assert np.isnan(column).tolist() == missing.isna().tolist()
