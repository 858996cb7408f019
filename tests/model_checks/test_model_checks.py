"""Model checks: statistics against naive ones, silence on clean tables, warnings on others, and
where these appear.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import causalcontext as cc
from causalcontext.data.tables import read_table
from causalcontext.model_checks import residuals
from causalcontext.model_checks.linear_fits import fits, numeric_rows
from causalcontext.model_checks.residuals import Residuals, check_residuals, statistics
from causalcontext.model_checks.row_order import alike_neighbours
from causalcontext.model_checks.settings import ROWS_OF_A_RUN
from causalcontext.model_checks.violations import (
    CURVES,
    INTERACTIONS,
    KINDS,
    OUTLIERS,
    ROWS,
    SCORE_WORDS,
    SKEW,
    SPREAD,
    TAILS,
    Violation,
    danger,
)
from causalcontext.results.notes import About, ResultNote, residual_notes
from questions import model_checks, violations_of

WRONG = {
    CURVES: lambda t, g: t.assign(Y=t.X**2 + t.X + 0.5 * g.normal(size=len(t))),
    INTERACTIONS: lambda t, g: t.assign(Y=t.X * t.Z + t.X + t.Z + 0.5 * g.normal(size=len(t))),
    SPREAD: lambda t, g: t.assign(Y=t.X + g.normal(size=len(t)) * (0.1 + np.abs(t.X))),
    SKEW: lambda t, g: t.assign(Y=t.X + 2.0 * g.exponential(size=len(t))),
    TAILS: lambda t, g: t.assign(Y=t.X + g.standard_t(4, size=len(t))),
    OUTLIERS: lambda t, g: t.assign(Y=t.Y + 200.0 * (g.random(len(t)) < 0.02)),
    ROWS: lambda t, g: t.assign(
        Y=t.X + np.convolve(g.normal(size=len(t) + 3), [1.0, 0.8, 0.6, 0.4], "valid")
    ),
}


def clean(seed: int, rows: int = 400) -> pd.DataFrame:
    """X and Z cause Y, in the context b more strongly; W follows Y; R follows X."""
    g = np.random.default_rng(seed)
    x, z = g.normal(size=(2, rows))
    r = x + 0.5 * g.normal(size=rows) > 0.3
    y = np.where(r, 1.5, 0.6) * x - 0.8 * z + g.normal(size=rows)
    w = y + g.normal(size=rows)
    return pd.DataFrame(
        {"X": x, "Z": z, "Y": 100.0 + 7.0 * y, "W": -3.0 * w, "R": np.where(r, "b", "a")}
    )


def found(
    table: pd.DataFrame, method: str = "pc-ac", **options: object
) -> dict[str, tuple[str, ...]]:
    return {
        violation.kind: violation.columns
        for violation in violations_of(cc.discover(table, "R", method=method, **options))
    }


def test_residuals_and_statistics_are_the_naive_ones():
    table = clean(0)
    data = read_table(table, "R")
    result = cc.discover(table, "R", method="pc-ac")
    endpoints = np.stack([result.graphs[value].endpoints for value in result.contexts])
    numeric = numeric_rows(data)
    pooled = next(iter(fits(numeric, endpoints)))
    got = statistics(pooled)
    numbers = table.drop(columns="R").to_numpy()
    standard = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    for node in range(4):
        causes = np.flatnonzero(pooled.causes[:, node])
        design = np.column_stack([np.ones(len(numbers)), numbers[:, causes]])
        slopes, *_ = np.linalg.lstsq(design, numbers[:, node], rcond=None)
        left = numbers[:, node] - design @ slopes
        left = left / left.std()
        assert pooled.left[:, node] == pytest.approx(left, abs=1e-5)
        assert got.skewness[node] == pytest.approx(stats.skew(left), abs=1e-4)
        assert got.kurtosis[node] == pytest.approx(stats.kurtosis(left), abs=1e-4)
        others = [k for k in range(4) if k != node]
        squares = [abs(np.corrcoef(left, standard[:, k] ** 2)[0, 1]) for k in others]
        assert got.hidden_curves[node] == pytest.approx(max(squares), abs=1e-4)
        products = [
            abs(np.corrcoef(left, standard[:, a] * standard[:, b])[0, 1])
            for a in others
            for b in others
            if a < b
        ]
        assert got.interactions[node] == pytest.approx(max(products), abs=1e-4)


def test_rows_of_a_long_table_are_taken_in_runs():
    g = np.random.default_rng(0)
    walk = np.cumsum(g.normal(size=20_000))
    numeric = numeric_rows(read_table(pd.DataFrame({"X": walk, "Y": g.normal(size=20_000)}), None))
    assert len(numeric.values) == 5_000
    assert np.bincount(numeric.order.part).tolist() == [ROWS_OF_A_RUN] * (5_000 // ROWS_OF_A_RUN)
    alike = alike_neighbours(numeric.values, numeric.order.part)
    assert alike[0] > 0.0
    assert abs(alike[1]) < 0.05


@pytest.mark.slow
def test_clean_tables_are_left_in_peace():
    kinds = [kind for seed in range(40) for kind in found(clean(seed))]
    for kind in KINDS:
        assert kinds.count(kind) <= 4, kind


@pytest.mark.parametrize("kind", KINDS)
def test_each_check_speaks_up_and_names_the_column(kind: str):
    heard = 0
    for seed in range(8):
        table = WRONG[kind](clean(seed), np.random.default_rng(1000 + seed))
        heard += "Y" in found(table).get(kind, ())
    assert heard >= 5


def test_shuffled_rows_are_independent():
    heard = 0
    for seed in range(10):
        g = np.random.default_rng(seed)
        table = WRONG[ROWS](clean(seed), g)
        assert ROWS in found(table)
        heard += ROWS in found(table.sample(frac=1.0, random_state=seed))
    assert heard <= 1


def test_units_and_the_order_of_columns_change_nothing():
    table = WRONG[SKEW](clean(1), np.random.default_rng(1))
    turned = table[table.columns[::-1]].assign(Y=-1e6 + 1e-3 * table.Y)
    assert found(table) == found(turned)


def test_categories_constants_and_few_rows_are_no_problem():
    table = clean(2).assign(kind=lambda t: np.where(t.Z > 0, "u", "v"))
    assert set(found(table)) <= {CURVES, SPREAD}
    assert found(clean(3, 12)) == {}
    assert (
        model_checks(
            cc.discover(clean(3)[["X", "Z"]].assign(S=lambda t: t.X + t.Z), method="pc-ac")
        )
        == ()
    )


def test_a_sentence_says_where_what_it_does_and_what_to_try():
    result = cc.discover(WRONG[CURVES](clean(0), np.random.default_rng(1000)), "R", method="pc-ac")
    sentence = next(text for text in model_checks(result) if "straight lines" in text)
    assert "Y" in sentence
    assert "method='score-ac'" in sentence
    assert sentence in result.cautions
    assert f"WARNING: {sentence}" in str(result)
    assert any(
        finding.topic == "model" and finding.evidence["kind"] == CURVES
        for finding in result.diagnose()
    )


def test_what_was_found_is_kept_in_files(tmp_path):
    result = cc.discover(WRONG[OUTLIERS](clean(5), np.random.default_rng(5)), "R", method="pc-ac")
    result.save(tmp_path / "unasked.json")
    assert "model checks" in str(cc.load(tmp_path / "unasked.json").diagnose())
    result.diagnose()
    result.save(tmp_path / "result.json")
    loaded = cc.load(tmp_path / "result.json")
    assert violations_of(loaded) == violations_of(result) != ()
    assert loaded == result


def test_a_test_without_a_model_is_told_about_rows_only():
    table = WRONG[CURVES](
        clean(6, 80), np.random.default_rng(60)
    )  # with seed 6 the noise would be X itself
    assert CURVES in found(table)
    assert found(table, test="cmi-knn", max_given=0) == {}
    assert CURVES in found(table, test="cmi-knn-mixed", max_given=0)  # numbers by correlations


def test_normal_scores_make_monotone_scales_harmless():
    table = clean(7)
    warped = table.assign(X=np.exp(table.X), Y=(table.Y - 100.0) ** 3, W=np.sinh(table.W))
    plain, other = (
        cc.discover(one, "R", transform="ranks", method="pc-ac") for one in (table, warped)
    )
    assert dict(plain.graphs) == dict(other.graphs)
    pd.testing.assert_frame_equal(plain.changes("a", "b"), other.changes("a", "b"))
    assert plain.settings.transform == "ranks"
    assert "normal scores" in plain.notes[0]
    assert model_checks(plain) == model_checks(other)


def test_outliers_hide_fewer_links_from_ranks():
    kept = {"none": 0, "ranks": 0}
    for seed in range(6):
        g = np.random.default_rng(seed)
        table = clean(seed)
        numbers = table.drop(columns="R")
        table = (
            numbers + 10.0 * numbers.std().to_numpy() * (g.random(numbers.shape) < 0.04)
        ).assign(R=table.R)
        for transform in kept:
            graph = cc.discover(table, "R", transform=transform, method="pc-ac").union
            kept[transform] += sum(
                {edge.source, edge.target} in ({"X", "Y"}, {"Z", "Y"}, {"Y", "W"})
                for edge in graph.edges
            )
    assert kept["ranks"] > kept["none"]


def test_advice_that_was_followed_is_not_given_again():
    table = WRONG[SPREAD](clean(0), np.random.default_rng(1000))
    first, second = (
        cc.discover(table, "R", method="pc-ac", test=test) for test in ("auto", "sandwich")
    )
    assert any("try method='score-ac', or test='sandwich'" in text for text in model_checks(first))
    assert SPREAD in {violation.kind for violation in violations_of(second)}
    told = [*model_checks(second), *(finding.advice for finding in second.diagnose())]
    assert not [text for text in told if "test='sandwich'" in text.split("; ")[-1]]


def test_the_danger_is_said_in_words_without_rates():
    spread = Violation(SPREAD, ("Y",), 0.3)
    assert danger(spread) == "links at the context are missed, and some others are false"
    assert danger(spread, context=False) == "some edges may be false, missing or wrongly directed"
    result = cc.discover(
        WRONG[SPREAD](clean(0), np.random.default_rng(1000)), "R", method="pc-ac", test="sandwich"
    )
    assert any(danger(spread) in text for text in model_checks(result))
    assert not any("%" in text for text in model_checks(result))


@pytest.mark.parametrize("method", ["pc-ac", "pc-b", "fci-ac"])
def test_lags_are_advised_to_methods_that_take_them(method):
    result = cc.discover(WRONG[ROWS](clean(1), np.random.default_rng(1)), "R", method=method)
    told = [text for text in model_checks(result) if "depend on the rows before" in text]
    assert told
    assert "lags=1" in told[0]


def test_without_a_context_the_diagnosis_has_what_the_guards_say():
    table = WRONG[OUTLIERS](clean(5), np.random.default_rng(5)).drop(columns="R")
    result = cc.discover(table, method="pc-ac")
    assert model_checks(result)
    found = result.diagnose().about("model")
    assert [f"{finding.message}; {finding.advice}" for finding in found] == list(
        model_checks(result)
    )


def test_what_residuals_of_scores_say_is_a_finding():
    scored = cc.discover(clean(0), "R", method="score-ac")
    assert scored.diagnose().about("model") == ()
    for kind in SCORE_WORDS:
        (note,) = residual_notes([Violation(kind, ("Y",), 1.0)], context=True)
        (finding,) = replace(scored, notes=(note,)).diagnose().about("model")
        assert note == (
            f"{finding.message}; {finding.advice}" if finding.advice else finding.message
        )


def test_what_a_note_is_about_does_not_hang_on_its_words(tmp_path):
    """Not on those of a column's name either, and a file keeps it."""
    scored = cc.discover(clean(0), "R", method="score-ac")
    told = (
        "residuals of us, v: few whole numbers; compare with nothing",
        ResultNote("new words", About.RESIDUALS, "do it"),
    )
    result = replace(scored, warnings=told)
    result.save(tmp_path / "result.json")
    for one in (result, cc.load(tmp_path / "result.json")):
        assert one.warnings == (told[0], "new words; do it")
        (finding,) = one.diagnose().about("model")
        assert (finding.message, finding.advice) == ("new words", "do it")
        assert str(one).count("new words; do it") == 1


def test_large_values_alone_are_no_violation_but_unequal_noise_is():
    generator = np.random.default_rng(5)
    earlier, residual = (
        generator.standard_t(2.0, size=(1000, 4)),
        generator.standard_t(2.0, size=(1000, 1)),
    )
    residual[:3] = 40.0
    earlier[:3, 1] = 40.0
    values = generator.normal(size=(1000, 4))
    uneven = generator.normal(size=(1000, 1)) * np.exp(0.4 * values[:, 2:3])
    for beside, left, expected in ((earlier, residual, []), (values, uneven, [SPREAD])):
        against = np.ones((4, 1), dtype=bool)
        fit = Residuals(
            (left - left.mean()) / left.std(),
            (beside - beside.mean(axis=0)) / beside.std(axis=0),
            against,
            against,
        )
        found = check_residuals(
            statistics(fit, by_ranks=True), 1000, ["Y"], (CURVES, INTERACTIONS, SPREAD)
        )
        assert [violation.kind for violation in found] == expected


def test_dependence_by_ranks_is_the_naive_one_by_distances_from_the_median():
    generator = np.random.default_rng(8)
    beside, left = generator.standard_t(3.0, size=(300, 2)), generator.normal(size=(300, 1))
    left += 0.3 * beside[:, :1] ** 2
    left, beside = (
        (left - left.mean()) / left.std(),
        (beside - beside.mean(axis=0)) / beside.std(axis=0),
    )
    against = np.ones((2, 1), dtype=bool)
    got = statistics(Residuals(left, beside, against, against), True, cubes=False).by_ranks

    def scores(column):
        return stats.norm.ppf((stats.rankdata(column) - 0.5) / len(column))

    def largest(pairs):
        return max(abs(np.corrcoef(first, second)[0, 1]) for first, second in pairs)

    sizes = [scores(abs(column - np.median(column))) for column in beside.T]
    spread, values = (
        scores(abs(left[:, 0] - np.median(left))),
        [scores(column) for column in beside.T],
    )
    curves = largest((scores(left[:, 0]), size) for size in sizes)
    products = largest([(scores(left[:, 0]), values[0] * values[1])])
    uneven = largest((spread, column) for column in (*sizes, *values))
    assert got[:, 0] == pytest.approx([curves, curves, products, uneven], abs=1e-9)


@pytest.mark.slow
def test_a_cube_that_is_not_worth_its_price_is_no_violation_of_a_model_that_offers_curves():
    """Of a search that offers none it is one."""
    found = {"auto": 0, "never": 0}
    for seed in range(10):
        g = np.random.default_rng(seed)
        x, z, noise = g.normal(size=(3, 500))
        y = 1.8 * np.tanh(x) + noise
        table = pd.DataFrame({"X": x, "Y": y, "W": y + z, "R": g.integers(0, 2, 500)})
        for curves in found:
            found[curves] += (
                CURVES
                in cc.discover(
                    table, "R", method="score-ac", curves=curves, transform="none"
                ).evidence.contradicted
            )
    assert found["auto"] == 0
    assert found["never"] > 0


def test_products_are_the_same_one_residual_at_a_time(monkeypatch):
    """Of many columns every residual has the products of its own columns alone."""
    random = np.random.default_rng(4)
    left, beside = random.normal(size=(200, 5)), random.normal(size=(200, 8))
    against = random.random((8, 5)) < 0.6
    against[:, 2] = False
    together = residuals._products(left, beside, against)
    monkeypatch.setattr(residuals, "MOST_COLUMNS_IN_PAIRS", 2)
    assert residuals._products(left, beside, against) == pytest.approx(together, abs=1e-12)
