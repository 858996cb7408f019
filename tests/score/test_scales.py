"""Noise whose spread depends on causes: fits against a naive twin, level and power, and what
results say of it.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from score_tables import design_of

import causalcontext as cc
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.knowledge import Knowledge
from causalcontext.score import design as score_design
from causalcontext.score import explore
from causalcontext.score.columns import scale_columns
from causalcontext.score.data import score_data
from causalcontext.score.design import MIXED, POOLED, SHIFTED, ScoreDesign
from causalcontext.score.options import ScoreOptions
from causalcontext.score.workspace import FitWorkspace
from naive_effects import weighted_least_squares
from naive_scale import log_likelihood


def uneven_table(rows: int, seed: int, size: float = 0.6) -> pd.DataFrame:
    """X and Z cause Y, Z its spread as well; R is a noisy threshold of X and shifts W; D changes
    W's spread alone.
    """
    random = np.random.default_rng(seed)
    x, z, d, e, f, g = random.normal(size=(6, rows))
    r = np.where(x + 0.5 * g > 0.0, "high", "low")
    y = 40.0 - 1.2 * x + z + np.exp(size * z) * e
    w = -3.0 + 0.8 * y + 2.0 * (r == "high") + 2.0 * np.exp(size * d) * f
    return pd.DataFrame({"X": x + 7.0, "Z": z, "Y": y, "W": w, "D": -5.0 * d, "R": r})


def designed(table: pd.DataFrame) -> ScoreDesign:
    data = read_table(table, "R")
    links = Knowledge().links(data.names)
    scored = score_data(data, gather_statistics(data, "listwise"), links)
    return ScoreDesign(scored, ScoreOptions(), False).with_scales()


@pytest.mark.parametrize("kind", [POOLED, SHIFTED, MIXED])
@pytest.mark.parametrize("seed", [1, 2])
def test_scores_and_slopes_are_those_of_a_general_optimiser(kind: str, seed: int) -> None:
    design = designed(uneven_table(400, seed))
    data = design.data
    names = [data.table.names[place] for place in data.position]
    node, x, z = names.index("Y"), names.index("X"), names.index("Z")
    block = design.block(kind, design.everything, -1 if kind == POOLED else 0)
    bits = design.bits(block)
    columns = [((int(design.first[cause]) + 1) << bits) - 1 for cause in (x, z)]
    scale = [5 * z, 5 * x + 1]
    found = FitWorkspace(design, curves=False).score(
        [(block, node, [*columns, *(-1 - np.array(scale))])]
    )[0]
    matrix, rows, shifts = design.matrix_and_rows(block, np.array(columns))
    offered = scale_columns(data)[scale]
    offered = offered - offered.mean(axis=1, keepdims=True)
    best, beta, slopes = log_likelihood(design.values[design.response[node], rows], matrix, offered)
    price = design.price(400.0)
    expected = best - price * (1.0 + shifts) - 2.0 * price - 2.0 * price - np.log(4.0)
    assert found[0] == pytest.approx(
        expected, abs=0.3
    )  # a few scoring steps come close to the maximum
    assert found[0] <= expected + 8.0  # what a density may gain by chance has its price
    np.testing.assert_allclose(found[2:4], beta[shifts:], atol=0.03)
    np.testing.assert_allclose(found[4:6], slopes, atol=0.06)


def test_links_and_directions_where_the_spread_depends_on_causes() -> None:
    right = 0
    for seed in range(4):
        result = cc.discover(uneven_table(600, seed), context="R", method="score-ac")
        marks = [
            result.union.mark(*pair)
            for pair in (("X", "Y"), ("Z", "Y"), ("Y", "W"), ("D", "W"), ("X", "D"))
        ]
        right += marks == ["-->", "-->", "-->", "-->", ""]
        assert result.evidence is not None
        assert result.evidence.scales_gain > 20.0
        assert "uneven spread" not in result.evidence.contradicted
    assert right >= 3


def wide_table(rows: int, causes: int, slope: float, seed: int) -> tuple[pd.DataFrame, list[str]]:
    """Y with as many causes of equal slopes, whose spread depends on the first of them; and the
    names of its causes.
    """
    random = np.random.default_rng(seed)
    x, names = random.normal(size=(causes, rows)), [f"X{j}" for j in range(causes)]
    y = slope * x.sum(axis=0) + np.exp(x[0]) * random.normal(size=rows)
    return pd.DataFrame(x.T, columns=names).assign(Y=y, R=np.arange(rows) % 2), names


def test_fits_with_a_scale_know_whose_candidacy_matters() -> None:
    """Also where more columns were ever taken than can be listed: else a climb keeps causes that
    come later.
    """
    table, causes = wide_table(60, 8, 0.25, 2)
    design = design_of(table, penalty=0.3).with_scales()
    block, node, mattered = design.block(POOLED, design.everything), len(causes), 0
    for seed in range(6):
        chosen = np.arange(design.data.candidates) < len(causes)
        chosen[: len(causes)] &= np.random.default_rng(seed).random(len(causes)) < 0.9
        workspace = FitWorkspace(design, curves=True, keeps=True)
        (score,), _, (columns,) = workspace.fit([(block, node)], [chosen])
        matters = workspace.arrays.fits.matters[node, 0]
        mattered += np.count_nonzero(matters)
        for j in np.flatnonzero(chosen & ~matters):
            fresh = FitWorkspace(design, curves=True, memory=design.new_memory())
            (other,), _, (without,) = fresh.fit(
                [(block, node)], [chosen & (np.arange(len(chosen)) != j)]
            )
            assert other == score
            assert without.tolist() == columns.tolist()
    assert mattered > 20


def test_columns_of_a_scale_have_room_beside_many_of_the_location(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What did not fit was written over other fits, which could end the process."""
    monkeypatch.setattr(score_design, "MOST_COLUMNS", 12)
    table, causes = wide_table(400, 30, 0.28, 0)
    design, node = designed(table), len(causes)
    block = design.block(POOLED, design.everything)
    workspace = FitWorkspace(design, curves=False)
    _, _, (columns,) = workspace.fit([(block, node)], [np.arange(design.data.candidates) < node])
    assert (columns >= 0).sum() == 12
    assert (columns < 0).sum() > 0
    assert len(columns) <= workspace.width
    assert not workspace.arrays.fits.whole[node + 1].any()


def test_even_noise_never_has_a_scale() -> None:
    taken = []
    for seed in range(12):
        table = uneven_table(400, 100 + seed, size=0.0)
        found = cc.discover(table, context="R", method="score-ac").evidence
        assert found is not None
        taken.append(np.isfinite(found.scales_gain))
    assert sum(taken) == 0


def test_large_tables_keep_even_noise_and_say_that_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A climb with uneven noise takes minutes there: 9 conditions and 7,466 rows of Sachs et al.
    did not end.
    """
    monkeypatch.setattr(explore, "LARGEST_UNEVEN", 1_000)
    result = cc.discover(uneven_table(600, 4), "R", method="score-ac")
    assert result.evidence is not None
    assert result.evidence.mechanisms is not None
    assert not any(one.spread for one in result.evidence.mechanisms.equations)
    assert any("unequal variance" in note for note in result.warnings)


def test_words_equations_and_files_know_the_spread(tmp_path) -> None:  # type: ignore[no-untyped-def]
    result = cc.discover(uneven_table(800, 5), context="R", method="score-ac")
    assert "changes the spread of the noise and not the mean" in result.explain("D", "W")
    assert "and changes the spread of the noise" in result.explain("Z", "Y")
    assert result.evidence is not None
    assert result.evidence.mechanisms is not None
    places = [-1.5, 0.0, 1.5]
    spread = result.evidence.mechanisms.spread_curve(
        result.position("Y"), result.position("Z"), places, 0
    )
    np.testing.assert_allclose(spread, np.exp(0.6 * np.array(places)), rtol=0.35)
    growth = result.mechanisms().set_index(["cause", "effect"])["spread"]
    assert growth["Z", "Y"].iloc[0] == pytest.approx(np.exp(1.2), rel=0.35)
    assert growth["D", "W"].iloc[0] == pytest.approx(np.exp(-1.2), rel=0.35)
    assert growth["X", "Y"].isna().all()
    result.save(tmp_path / "r.json")
    again = cc.load(tmp_path / "r.json")
    assert again == result
    assert again.explain("D", "W") == result.explain("D", "W")
    content = json.loads((tmp_path / "r.json").read_text())
    assert any(one["spread"] for one in content["evidence"]["mechanisms"]["equations"])


def test_the_order_of_columns_does_not_matter() -> None:
    table = uneven_table(500, 8)
    one, other = (
        cc.discover(table[names], context="R", method="score-ac")
        for names in (["X", "Z", "Y", "W", "D", "R"], ["D", "R", "W", "Y", "X", "Z"])
    )
    assert {str(edge) for edge in one.labeled_union} == {str(edge) for edge in other.labeled_union}


KNOWN = cc.Knowledge(
    required=[("X", "Y"), ("Z", "Y"), ("Y", "W"), ("D", "W")], roots=["X", "Z", "D"]
)


def scale_in_rows(result: cc.ContextGraphs, table: pd.DataFrame, effect: str) -> np.ndarray:
    """The standard deviation of the noise of an effect in every row, up to a factor, by its
    equation.
    """
    place, own = result.names.index(effect), result.evidence.mechanisms
    log_scale = np.zeros(len(table))
    for number, value in enumerate(result.contexts):
        here = (table["R"] == value).to_numpy()
        for term in own.equation(place, number).spread:
            if term.cause < 0:
                log_scale[here] += term.slope * (number in term.contexts)
            else:
                values = own.scales[term.cause].standard(
                    table[result.names[term.cause]].to_numpy()[here]
                )
                log_scale[here] += term.values(values, number)
    return np.exp(log_scale)


def test_rows_of_a_mechanism_count_by_the_spread_of_its_noise() -> None:
    table = uneven_table(500, 4)
    result = cc.discover(table, "R", method="score-ac", knowledge=KNOWN)
    found = result.mechanisms().set_index(["cause", "effect"])
    assert (
        result.graphs["high"].endpoints[result.names.index("R"), result.names.index("Y")] == 0
    )  # one mechanism
    slopes, covariance = weighted_least_squares(
        table, "Y", ("X", "Z"), scale_in_rows(result, table, "Y") ** -2.0
    )
    for number, cause in enumerate(("X", "Z"), 1):
        row = found.loc[(cause, "Y")].iloc[0]
        np.testing.assert_allclose(
            [row["coefficient"], row["se"]],
            [slopes[number], np.sqrt(covariance[number, number])],
            rtol=1e-9,
        )
    effect = result.effects("X", "Y").iloc[0]
    assert effect["effect"] == pytest.approx(slopes[1], rel=1e-9)
    classical = (
        result.mechanisms(errors="classical").set_index(["cause", "effect"]).loc[("X", "Y")].iloc[0]
    )
    plain = np.linalg.lstsq(
        np.column_stack([np.ones(500), table[["X", "Z"]]]), table["Y"], rcond=None
    )[0]
    assert classical["coefficient"] == pytest.approx(plain[1], rel=1e-9)  # moments know no weights


@pytest.mark.slow
def test_weighted_fits_cover_the_truth_with_narrower_intervals() -> None:
    covered, narrower = [], []
    for seed in range(60):
        result = cc.discover(
            uneven_table(300, 9000 + seed), "R", method="score-ac", knowledge=KNOWN
        )
        row, plain = (
            result.mechanisms(errors=errors).set_index(["cause", "effect"]).loc[("X", "Y")].iloc[0]
            for errors in ("auto", "classical")
        )
        covered.append(row["low"] <= -1.2 <= row["high"])
        narrower.append(row["se"] / plain["se"])
    assert np.mean(covered) >= 0.88  # .95 of 60 is less in one of 100 cases
    assert np.median(narrower) < 0.8


@pytest.mark.parametrize(("size", "climbs"), [(0.6, True), (0.0, False)])
def test_a_spread_that_curves_explain_is_not_searched(
    monkeypatch, size: float, climbs: bool
) -> None:
    x, z, e, f, g = np.random.default_rng(11).normal(size=(5, 400))
    y = 40.0 + (0.0 if climbs else 1.5) * x**2 + z + np.exp(size * z) * e
    table = pd.DataFrame(
        {
            "X": x + 7.0,
            "Z": z,
            "Y": y,
            "W": -0.8 * y + 3.0 * f,
            "R": (x + 0.5 * g > 0.0).astype(str),
        }
    )
    searched, search = [], explore.search
    monkeypatch.setattr("causalcontext.score.engine.asks_for_scales", lambda even: True)
    monkeypatch.setattr(explore, "asks_for_scales", lambda even: True)
    monkeypatch.setattr(
        explore, "search", lambda *own: searched.append(own[0].scales) or search(*own)
    )
    cc.discover(table, "R", method="score-ac")
    assert any(searched) == climbs
    assert searched


def test_curves_are_not_searched_beside_a_scale_that_nothing_contradicts(monkeypatch) -> None:
    searched, search = [], explore.search
    monkeypatch.setattr(explore, "NEAR_ENOUGH", 10.0)  # curves would be climbed with scales as well
    monkeypatch.setattr(
        explore, "search", lambda *own: searched.append((own[0].scales, own[1])) or search(*own)
    )
    cc.discover(uneven_table(400, 0, 0.9), "R", method="score-ac")
    assert (True, False) in searched
    assert (True, True) not in searched
