"""Numbers of few values: what they are taken for, the treatments of coarse ones, and what a result
says of them.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm
from score_tables import model_table

import causalcontext as cc
from causalcontext.data.coarse import AS_THEY_ARE, HEAPS, SCORES, few_valued
from causalcontext.data.columns import Kind
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.knowledge import Knowledge
from causalcontext.results.violations import graded, scored, spiked
from causalcontext.score.data import score_data
from causalcontext.score.design import ScoreDesign
from causalcontext.score.explore import beyond_shares
from causalcontext.score.options import ScoreOptions
from causalcontext.score.treatments import levels_act, normal_scores_of, treatments, widths_of
from causalcontext.score.workspace import FitWorkspace
from questions import violations_of


def few(columns, **options):
    table = read_table(columns, None, **options)
    return {table.names[one.columns[0]]: one for one in few_valued(table)}


def cigarettes(rows, seed):
    """Heaped at tens, an effect of a number and of a 0/1 column, and a cause of a graded one."""
    generator = np.random.default_rng(seed)
    smoker, stress = generator.integers(2, size=rows), generator.normal(size=rows)
    latent = 12.0 + 10.0 * (0.7 * stress + 0.8 * smoker + 0.7 * generator.normal(size=rows))
    tens = generator.random(rows) < 0.8
    daily = np.maximum(np.where(tens, 10.0 * np.round(latent / 10.0), np.round(latent)), 0.0)
    grade = np.clip(np.round(daily / 15.0 + 0.5 * generator.normal(size=rows)), 0, 3)
    return pd.DataFrame(
        {"smoker": 2.0 + 3.0 * smoker, "stress": stress, "daily": daily, "grade": grade}
    )


def edges(result):
    return {frozenset((edge.source, edge.target)) for edge in result.union.edges}


def scales_of(result):
    return dict(zip(result.names, result.evidence.mechanisms.scales, strict=True))


def treated(table):
    """The treatments of a table by name."""
    data = read_table(table, None)
    scored = score_data(data, gather_statistics(data, "listwise"), Knowledge().links(data.names))
    return {one.name: one for one in treatments(scored, few_valued(data))}


def test_kinds_follow_from_values():
    generator = np.random.default_rng(1)
    table = {
        "two": generator.choice([-7.5, 3.0], 400),
        "five": generator.integers(-2, 3, 400),
        "constant": np.ones(400),
        "heaped": np.where(generator.random(400) < 0.5, 20.0, generator.normal(size=400)),
        "atom": np.where(generator.random(400) < 0.15, 99.0, generator.normal(size=400)),
        "many": generator.normal(size=400),
        "rounded": np.round(generator.normal(size=400), 2),
        "gaps": np.where(generator.random(400) < 0.1, np.nan, generator.integers(3, size=400)),
    }
    found = few(table)
    assert {name: one.kind for name, one in found.items()} == {
        "two": Kind.CATEGORICAL,
        "five": Kind.ORDERED,
        "gaps": Kind.ORDERED,
        "heaped": Kind.CONTINUOUS,
        "atom": Kind.CONTINUOUS,
    }
    assert found["two"].levels == (-7.5, 3.0)
    assert found["five"].levels == (-2, -1, 0, 1, 2)
    kept = np.isfinite(table["gaps"])
    assert found["heaped"].shares.max() == pytest.approx(np.mean(table["heaped"][kept] == 20.0))
    assert set(
        few(table, kinds=dict.fromkeys(("two", "five", "heaped", "atom"), "continuous"))
    ) == {"gaps"}
    assert set(few({name: table[name][::-1] for name in sorted(table)})) == set(found)
    assert few({"A": np.arange(12.0), "B": np.arange(12.0) % 7}) == {}  # short, and hardly repeated


def test_normal_scores_are_conditional_means():
    """Against numerical integrals between the quantiles; their mean is 0 whatever the shares
    are.
    """
    shares = np.array([0.35, 0.05, 0.2, 0.1, 0.28, 0.02])
    cuts = norm.ppf(np.concatenate([[0.0], np.cumsum(shares)[:-1], [1.0]]))
    naive = [
        quad(lambda z: z * norm.pdf(z), low, high)[0] / p
        for low, high, p in zip(cuts[:-1], cuts[1:], shares, strict=True)
    ]
    assert normal_scores_of(shares) == pytest.approx(naive, abs=1e-7)
    assert shares @ normal_scores_of(shares) == pytest.approx(0.0, abs=1e-12)


def test_widths_fill_a_smooth_density():
    values, shares = np.array([-50.0, -10.0, 0.0, 5.0, 10.0]), np.array([0.1, 0.4, 0.2, 0.1, 0.2])
    sd = np.sqrt(np.sum(shares * values**2) - np.sum(shares * values) ** 2)
    naive = []
    for value, share in zip(values, shares, strict=True):
        density = sum(
            p * norm.pdf(value, other, 0.35 * sd) for other, p in zip(values, shares, strict=True)
        )
        naive.append(min(share / density, 2.0 * sd))
    assert widths_of(values, shares) == pytest.approx(naive)
    assert widths_of(1.0 - 3.0 * values[::-1], shares[::-1]) == pytest.approx(
        3.0 * np.array(naive)[::-1]
    )


def test_scores_are_probabilities_of_written_values():
    """Alone, a column by normal scores has the probability of its shares; units do not matter to
    any treatment.
    """
    rows = cigarettes(500, 3)
    ways, scaled = treated(rows), treated(rows.assign(daily=7.0 + 2.0 * rows["daily"]))
    assert list(ways) == [AS_THEY_ARE, SCORES, HEAPS]
    count = rows["daily"].value_counts().to_numpy()
    for name, way in ways.items():
        design = ScoreDesign(way.data, ScoreOptions(), False)
        node = int(np.flatnonzero(way.data.position == 2)[0])
        block = design.pooled([1])[0]
        alone = FitWorkspace(design, False).score([(block, node, [])])[0, 0]
        assert way.data.has_density(node) == (name != SCORES)
        if name == SCORES:
            naive = (
                np.sum(count * np.log(count / 500)) - 2.0 * np.log(500) - (len(count) - 1)
            )  # a mean, a variance
            assert alone + way.charge == pytest.approx(naive)
        other = ScoreDesign(scaled[name].data, ScoreOptions(), False)
        block, node = other.pooled([1])[0], int(np.flatnonzero(scaled[name].data.position == 2)[0])
        again = FitWorkspace(other, False).score([(block, node, [])])[0, 0]
        assert again + scaled[name].charge == pytest.approx(
            alone + way.charge, abs=1e-3 * abs(alone)
        )


def test_no_value_of_most_rows_is_spread():
    """It is none of many that numbers were rounded to; links with other columns would vanish."""
    generator = np.random.default_rng(12)
    year = generator.integers(6, size=900)
    school = generator.integers(4, 18, size=900).astype(float)
    table = pd.DataFrame({f"y{k}": np.where(year == k, school, 0.0) for k in range(3)})
    assert set(treated(table)) == {AS_THEY_ARE, SCORES}
    assert len(edges(cc.discover(table, method="score-ac"))) == 3


@pytest.mark.parametrize(
    "shares", [(0.82, 0.08, 0.05, 0.03, 0.01, 0.01), (0.1, 0.2, 0.25, 0.2, 0.15, 0.1)]
)
def test_columns_as_they_are_promise_no_more_than_shares(shares):
    """A density that is narrower than the distance of values is no probability: what is too much is
    taken away.
    """
    children = np.random.default_rng(13).choice(6, 1000, p=shares).astype(float)
    table = pd.DataFrame({"children": children, "x": np.random.default_rng(14).normal(size=1000)})
    way, (own,) = treated(table)[AS_THEY_ARE], few_valued(read_table(table, None))
    design = ScoreDesign(way.data, ScoreOptions(), curves=False)
    block, node = design.block("pooled", 1), way.data.position.tolist().index(0)
    alone = (
        FitWorkspace(design, False).score([(block, node, np.empty(0, dtype=np.int64))])[0, 0]
        + way.charge
    )
    most = sum(count * np.log(count / 1000.0) for count in table["children"].value_counts())
    too_much = alone - (most - 5.0 - 2.0 * np.log(1000.0)) if alone > most else 0.0
    assert beyond_shares(design, [own]) == pytest.approx(too_much)
    assert (too_much > 0.0) == (shares[0] > 0.5)


def test_heaps_are_spread_around_their_values():
    way = treated(cigarettes(500, 3))[HEAPS]
    data = way.data
    node = int(np.flatnonzero(data.position == 2)[0])
    values = np.round(data.values[node] * data.scale[node] + data.centre[node], 6)
    seen, shares = np.unique(values, return_counts=True)
    naive = dict(zip(seen, widths_of(seen, shares / 500), strict=True))
    assert data.bin_widths(node) * data.scale[node] == pytest.approx(
        [naive[value] for value in values]
    )


def test_links_of_coarse_columns_are_found_and_told():
    rows = cigarettes(600, 1)
    result = cc.discover(rows, method="score-ac")
    wanted = {
        frozenset(("smoker", "daily")),
        frozenset(("stress", "daily")),
        frozenset(("daily", "grade")),
    }
    assert edges(result) >= wanted
    assert (
        not edges(cc.discover(rows, method="score-ac", kinds=dict.fromkeys(rows, "continuous")))
        >= wanted
    )
    (note,) = [note for note in result.notes if "few distinct values" in note]
    share = 100.0 * rows["daily"].value_counts(normalize=True).max()
    assert "smoker (two values) as a category; grade (three to five values) as ordered; " in note
    assert f"daily ({share:.0f} % is one value) rank-transformed" in note
    (words,) = [words for words in cc.check(rows).notes if "few distinct values" in words]
    assert (
        "smoker (two values) as a category; grade (three to five values) as ordered, or as steps"
        in words
    )
    shuffled = cc.discover(rows[rows.columns[::-1]], method="score-ac")
    assert shuffled.evidence.score == pytest.approx(result.evidence.score)
    assert edges(shuffled) == edges(result)


def test_truth_values_and_two_numbers_are_alike():
    rows = cigarettes(400, 2)
    ways = [
        rows["smoker"],
        rows["smoker"] > 3,
        (rows["smoker"] > 3).astype(int),
        (rows["smoker"] > 3).astype("int8"),
    ]
    scores = {
        cc.discover(rows.assign(smoker=one), method="score-ac").evidence.score for one in ways
    }
    assert len(scores) == 1


@pytest.mark.parametrize("method", ["score-ac", "pc-ac"])
def test_contexts_of_two_numbers_are_alike(method):
    """Truth values, integers and floats: the same graphs; floats are told."""
    rows = cigarettes(400, 2)
    ways = {
        dtype: (rows["smoker"] > 3).astype(dtype)
        for dtype in ("bool", "int64", "int8", "float64", "float32")
    }
    found = {
        dtype: cc.discover(rows.assign(smoker=one), "smoker", method=method)
        for dtype, one in ways.items()
    }
    for dtype, result in found.items():
        assert result.contexts == ((False, True) if dtype == "bool" else (0, 1))
        for one, other in zip(result.graphs.values(), found["int64"].graphs.values(), strict=True):
            assert np.array_equal(one.endpoints, other.endpoints)
        told = [
            note
            for note in result.notes
            if note == "the floats of smoker are whole numbers and taken for labels"
        ]
        assert bool(told) == dtype.startswith("float")
    assert cc.check(rows.assign(smoker=ways["float64"]), "smoker").problems == ()
    with pytest.raises(cc.DataError, match="is continuous"):
        cc.discover(rows.assign(smoker=0.5 * ways["float64"]), "smoker", method=method)


def naive_levels_act(values, codes, cells):
    """Row by row with scipy: what a line in the level gains over cell means, less what proportional
    odds gain.
    """
    groups = np.unique(cells)

    def odds(columns):
        design, cuts = np.column_stack(columns), len(np.unique(codes)) - 1

        def loss(theta):
            eta = design @ theta[cuts:]
            ends = np.concatenate(
                [[-50.0], np.cumsum(np.concatenate([theta[:1], np.exp(theta[1:cuts])])), [50.0]]
            )
            return -np.log(expit(ends[codes + 1] - eta) - expit(ends[codes] - eta)).sum()

        return -minimize(
            loss, np.concatenate([[-1.0], np.zeros(cuts - 1 + design.shape[1])]), tol=1e-10
        ).fun

    def line(y, *columns):
        design = np.column_stack([*(cells == group for group in groups), *columns]).astype(float)
        rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        return -0.5 * len(y) * np.log(np.mean(rest**2))

    shifts = [(cells == group).astype(float) for group in groups[1:]]
    return max(
        line(y, values[-1]) - line(y) - odds([*shifts, y]) + odds(shifts) for y in values[:-1]
    )


@pytest.mark.parametrize("acts", [False, True])
def test_levels_act_or_a_finer_number_does(acts):
    """A number behind five levels is told from levels that act, and the likelihoods are those of a
    naive fit.
    """
    generator = np.random.default_rng(9)
    cells = generator.integers(2, size=1500)
    latent, noise = generator.normal(size=(2, 1500))
    codes = np.searchsorted([-0.9, -0.3, 0.3, 0.9], latent)
    effect = 1.5 * ((codes - 2.0) / np.sqrt(2.0) if acts else latent) + 0.5 * cells + 0.6 * noise
    other = generator.normal(size=1500)
    values = np.stack([effect, other, codes - 2.0])
    found = levels_act(values, codes, cells)
    assert found == pytest.approx(naive_levels_act(values, codes, cells), abs=0.1)
    assert (found > np.log(1500)) == acts
    table = pd.DataFrame({"grade": codes, "effect": effect, "other": other, "R": cells})
    result = cc.discover(table, "R", method="score-ac")
    assert frozenset(("grade", "effect")) in edges(result)
    assert scales_of(result)["grade"].kind == ("ordered" if acts else "number")
    assert graded(result) == {"grade"}
    steps = "grade (three to five values) as steps of a finer number"
    assert any(steps in note for note in result.notes) != acts
    if not acts:
        assert scales_of(result)["grade"].places == (0.0, 1.0, 2.0, 3.0, 4.0)
        assert scales_of(result)["grade"].standard([0, 4]) == pytest.approx(
            np.array([-1.0, 1.0]) * abs(scales_of(result)["grade"].scores[0]), abs=0.2
        )


def test_effects_equations_and_files_keep_the_units(tmp_path):
    rows = cigarettes(600, 1)
    tiers = [["smoker", "stress"], ["daily"], ["grade"]]
    result = cc.discover(rows, method="score-ac", knowledge=Knowledge(tiers=tiers))
    slopes = np.linalg.lstsq(
        np.column_stack([np.ones(600), rows["smoker"], rows["stress"]]),
        rows["daily"].to_numpy(),
        rcond=None,
    )[0]
    found = result.mechanisms().set_index(["cause", "effect"])["coefficient"]
    assert found["smoker", "daily"] == pytest.approx(slopes[1])
    mechanisms, names = result.evidence.mechanisms, result.names
    effect, cause = names.index("daily"), names.index("smoker")
    low, high = mechanisms.partial_curve(effect, cause, [2.0, 5.0], 0)
    assert high - low == pytest.approx(3.0 * slopes[1], abs=3.0)
    chances = mechanisms.partial_curve(names.index("grade"), effect, [0.0, 20.0, 40.0], 0)
    assert chances.sum(axis=0) == pytest.approx(1.0)
    assert chances[0, 0] > chances[0, 2]
    assert result.plot_mechanism("daily", rows)
    result.save(tmp_path / "result.json")
    loaded = cc.load(tmp_path / "result.json")
    assert loaded.evidence.mechanisms.scales == mechanisms.scales
    assert loaded.explain("smoker", "daily") == result.explain("smoker", "daily")
    assert violations_of(result) == ()


def test_clean_tables_are_as_before():
    rows = model_table(300, 1)
    numbers = dict.fromkeys((name for name in rows if name != "R"), "continuous")
    assert few_valued(read_table(rows, "R")) == ()
    first, second = (
        cc.discover(rows, "R", method="score-ac", kinds=kinds) for kinds in (None, numbers)
    )
    assert first.evidence.score == second.evidence.score
    assert first.notes == second.notes


def test_columns_and_their_lags_are_alike():
    generator = np.random.default_rng(4)
    rain, river = np.zeros(400), np.zeros(400)
    for t in range(1, 400):
        rain[t] = 0.4 * rain[t - 1] + generator.normal()
        river[t] = 0.8 * max(rain[t - 1], 0.0) + 0.5 * generator.normal()
    table = pd.DataFrame(
        {"rain": np.maximum(rain, 0.0), "river": river, "flood": (river > 1.0).astype(int)}
    )
    result = cc.discover(table, method="score-ac", lags=1, keep=["flood"])
    scales = scales_of(result)
    assert scales["flood"].kind == scales["flood(t-1)"].kind == "category"
    for name in ("rain", "rain(t-1)"):
        assert scales[name].scores  # normal scores
    assert scales["rain"].standard([0.0, 1.0]) == pytest.approx(
        scales["rain(t-1)"].standard([0.0, 1.0]), abs=0.1
    )
    assert frozenset(("rain(t-1)", "river")) in edges(result)
    assert any(
        "rain (" in note
        and "% is one value)" in note
        and "flood (two values) as a category" in note
        for note in result.notes
    )


@pytest.mark.parametrize("transform", ["none", "ranks"])
def test_transforms_that_are_asked_for_are_kept(transform):
    result = cc.discover(cigarettes(300, 1), method="score-ac", transform=transform)
    assert result.evidence.transform == transform
    scale = scales_of(result)["daily"]
    assert bool(scale.scores) == (transform == "ranks")


def test_contexts_and_thresholds_go_with_coarse_columns():
    rows = cigarettes(600, 5).assign(R=np.random.default_rng(5).integers(2, size=600))
    result = cc.discover(rows, [cc.threshold("daily", 15.0), "R"], method="score-ac")
    assert frozenset(("stress", "daily")) in edges(result)
    assert scales_of(result)["daily"].kind == "number"
    graded = cc.discover(rows, cc.threshold("grade", 1.5), method="score-ac")
    assert scales_of(graded)["grade"].kind == "number"


def test_tables_of_levels_alone_are_searched():
    generator = np.random.default_rng(6)
    a, b = generator.integers(2, size=(2, 400))
    table = pd.DataFrame({"a": a, "b": b, "c": a + b + generator.integers(2, size=400)})
    result = cc.discover(table, method="score-ac")
    assert {frozenset("ac"), frozenset("bc")} <= edges(result)
    assert cc.discover(table.astype(str), method="score-ac").complete


def test_changes_near_few_values_are_claimed_only_if_these_are_declared():
    """What 0/1 stands for may be finer, which leaves links that differ between contexts though
    nothing changes.
    """
    generator = np.random.default_rng(7)
    code, arm = generator.integers(2, size=(2, 600))
    dose = np.where(code == 0, 2.0 * arm, 0.0) + generator.normal(size=600)
    table = pd.DataFrame({"arm": arm, "dose": dose, "age": generator.normal(size=600), "R": code})
    for kinds, claimed in ((None, False), ({"arm": "categorical"}, True)):
        changes = cc.discover(table, "R", method="score-ac", kinds=kinds).changes(0, 1)
        row = changes[
            changes["source"].isin(["arm", "dose"]) & changes["target"].isin(["arm", "dose"])
        ].iloc[0]
        assert bool(row["claimed"]) == claimed
        assert row["reason"].startswith("arm has few values") != claimed


def test_residuals_of_coarse_columns_warn_of_nothing():
    """Zeros beside measurements have uneven residuals; claims of change still heed them."""
    generator = np.random.default_rng(8)
    x = generator.normal(size=800)
    rain = np.maximum(x + 0.7 * generator.normal(size=800), 0.0)
    result = cc.discover(
        pd.DataFrame({"x": x, "rain": rain, "z": generator.normal(size=800)}), method="score-ac"
    )
    assert frozenset(("x", "rain")) in edges(result)
    assert not [
        note for note in result.warnings if "residuals of rain" in note and "curves" not in note
    ]
    assert violations_of(result) == ()


def cut_off(rows, seed):
    """The link X --> Y is missing in one context; X is written as 0 where it is low, and follows
    Z.
    """
    generator = np.random.default_rng(seed)
    z, e, f, g = generator.normal(size=(4, rows))
    r = generator.integers(2, size=rows)
    x = z + 0.5 * e
    return pd.DataFrame(
        {"Z": z, "X": np.maximum(x + 0.25, 0.0), "Y": 1.5 * x * r + f, "W": g - z, "R": r}
    )


def test_changes_near_a_value_that_stands_out_are_claimed_only_if_numbers_are_declared(tmp_path):
    """Zeros may stand for numbers below; counts have no such value, nor have heaped numbers."""
    table, kinds = cut_off(600, 3), {"X": "continuous"}
    result, told = (
        cc.discover(table, "R", method="score-ac", kinds=some) for some in (None, kinds)
    )
    assert scales_of(result)["X"].spike == pytest.approx((table["X"] == 0.0).mean())
    assert spiked(result) == {"X"}
    assert spiked(told) == frozenset()
    found = result.changes(0, 1)
    assert not found["claimed"].any()
    assert found["reason"].str.contains("one value of X stands out").any()
    assert "kinds={'X': 'continuous'}" in " ".join(found["reason"])
    result.save(tmp_path / "spike.json")
    assert spiked(cc.load(tmp_path / "spike.json")) == {"X"}
    counts = table.assign(X=np.random.default_rng(1).poisson(2.0, 600).astype(float))
    assert spiked(cc.discover(counts, "R", method="score-ac")) == frozenset()
    assert spiked(cc.discover(cigarettes(600, 1), method="score-ac")) == frozenset()


def test_slopes_of_coarse_numbers_are_no_claims_where_another_link_goes():
    """Ten levels end where the number behind them does not: X moves them less where W moves them as
    well.
    """
    generator = np.random.default_rng(5)
    x, w, z, e = generator.normal(size=(4, 900))
    r = generator.integers(2, size=900)
    levels = pd.qcut(1.5 * x + 1.8 * w * r + 0.6 * e, 10, labels=False).astype(float)
    result = cc.discover(
        pd.DataFrame({"X": x, "W": w, "Z": z, "Y": levels, "R": r}), "R", method="score-ac"
    )
    assert scored(result) == {"Y"}
    found = result.changes(0, 1).set_index(["source", "target"])
    assert found.loc[("W", "Y"), "claimed"]
    assert found.loc[("X", "Y"), "kind"] == "slope"
    assert found.loc[("X", "Y"), "reason"].startswith("Y has few values")
    assert not found.loc[("X", "Y"), "claimed"]
