"""Damage is told and mended, in every table that has it, and in hardly any that has none."""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.tables import read_table
from causalcontext.screening.damage import DamageKind, cells, mended, mended_series
from causalcontext.screening.damage.finding import number_columns
from causalcontext.screening.damage.summaries import rows_of_summaries

SEEDS = range(3)


def table_of(seed, rows=600):
    """A causes R and B, R moves B and C, C is an effect of B, D stands alone."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(rows)
    r = rng.random(rows) < 1.0 / (1.0 + np.exp(-2.0 * a))
    b = 0.8 * a + r + rng.standard_normal(rows)
    c = 0.9 * b - 0.7 * r + rng.standard_normal(rows)
    d = rng.standard_normal(rows)
    columns = {"A": 55 + 12 * a, "B": 60 + 8 * b, "C": 120 + 10 * c, "D": 75 + 10 * d}
    return pd.DataFrame({**columns, "R": np.where(r, "icu", "ward")})


def some(seed, share, rows=600):
    return np.random.default_rng([seed, 1]).random(rows) < share


def with_cells(column, value, share):
    def damaged(table, seed):
        return table.assign(**{column: table[column].mask(some(seed, share, len(table)), value)})

    return damaged


def with_totals(how):
    def damaged(table, seed):
        row = {name: getattr(table[name], how)() for name in "ABCD"} | {"R": "ward"}
        return pd.concat([table, pd.DataFrame([row])], ignore_index=True)

    return damaged


def with_means(digits=None, group=False):
    def damaged(table, seed):
        observed = table["B"].mask(some(seed, 0.1, len(table)))
        mean = observed.groupby(table["R"]).transform("mean") if group else observed.mean()
        filled = observed.fillna(mean)
        return table.assign(B=filled if digits is None else filled.round(digits))

    return damaged


def carried(table, seed):
    return table.assign(B=table["B"].mask(some(seed, 0.1, len(table))).ffill().bfill())


def interpolated(table, seed):
    return table.assign(B=table["B"].mask(some(seed, 0.1, len(table))).interpolate().bfill())


def interpolated_block(table, seed):
    lost = (np.arange(len(table)) >= 200) & (np.arange(len(table)) < 240)
    return table.assign(B=table["B"].mask(lost).interpolate())


def half_coarse(table, seed):
    return table.assign(
        B=table["B"].mask(some(seed, 0.5, len(table)), 8 * (table["B"] / 8).round())
    )


def read_again(table, seed):
    noise = 0.04 * table["B"].std() * np.random.default_rng(seed).standard_normal(len(table))
    return table.assign(again=table["B"] + noise)


def likert_with_refusals(table, seed):
    item = np.clip(np.round(3 + (table["B"] - 60) / 10), 1, 5)
    return table.assign(item=item.mask(some(seed, 0.04, len(table)), 9))


def copied_with_noise(table, seed):
    rng = np.random.default_rng([seed, 2])
    copy = table.copy()
    for name in "ABCD":
        copy[name] += 0.01 * copy[name].std() * rng.standard_normal(len(copy))
    return pd.concat([table, copy]).sample(frac=1.0, random_state=seed)


def slipped(table, seed):
    return table.assign(B=table["B"].where(table.index != 17, 1000 * table["B"]))


MENDED = {
    "rows thrice": (DamageKind.DUPLICATES, lambda table, seed: pd.concat([table] * 3), 600),
    "some rows twice": (
        DamageKind.DUPLICATES,
        lambda table, seed: pd.concat([table, table[::20]]),
        600,
    ),
    "rounded rows thrice": (
        DamageKind.DUPLICATES,
        lambda table, seed: pd.concat([table.round(1)] * 3),
        600,
    ),
    "rows twice with noise": (DamageKind.NEAR_DUPLICATES, copied_with_noise, None),
    "sums": (DamageKind.TOTALS, with_totals("sum"), 600),
    "means": (DamageKind.TOTALS, with_totals("mean"), 600),
    "code -999": (DamageKind.CODES, with_cells("B", -999.0, 0.03), None),
    "code 0": (DamageKind.CODES, with_cells("C", 0.0, 0.03), None),
    "code 99": (
        DamageKind.CODES,
        lambda table, seed: with_cells("C", 9.0, 0.03)(table.round(0), seed),
        None,
    ),
    "code 9 of a scale": (DamageKind.CODES, likert_with_refusals, None),
    "slip": (DamageKind.SLIP, slipped, 599),
    "imputed means": (DamageKind.IMPUTED, with_means(), None),
    "rounded imputed means": (DamageKind.IMPUTED, with_means(digits=2), None),
    "means of contexts": (DamageKind.IMPUTED, with_means(group=True), None),
    "carried forward": (DamageKind.CARRIED, carried, None),
    "interpolated": (DamageKind.INTERPOLATED, interpolated, None),
    "an interpolated block": (DamageKind.INTERPOLATED, interpolated_block, 560),
    "means taken before cells were lost": (
        DamageKind.IMPUTED,
        lambda table, seed: with_cells("B", table["B"].mean(), 0.1)(table, seed),
        None,
    ),
    "medians taken before cells were lost": (
        DamageKind.IMPUTED,
        lambda table, seed: with_cells("B", table["B"].median(), 0.1)(table, seed),
        None,
    ),
    "a code that nobody lists": (DamageKind.CODES, with_cells("B", -1000.0, 0.03), None),
    "a code in all columns of a row": (
        DamageKind.CODES,
        lambda table, seed: table.where(
            (np.arange(len(table)) % 30 != 7)[:, None] | (table.columns == "R")[None], -9.0
        ),
        None,
    ),
    "decimal points": (
        DamageKind.SLIP,
        lambda table, seed: table.assign(
            B=table["B"].where(~np.isin(np.arange(len(table)), [5, 80, 300]), 10.0 * table["B"])
        ),
        None,
    ),
}
SUMMARIES = {
    "means": lambda column: [column.mean()],
    "rounded means": lambda column: [round(column.mean(), 1)],
    "deviations": lambda column: [column.std()],
    "extremes": lambda column: [column.min(), column.max()],
    "description": lambda column: column.describe().tolist(),
}

TOLD = {
    "cap": (DamageKind.CAP, "B", lambda table, seed: table.assign(B=table["B"].clip(upper=70.0))),
    "two caps": (
        DamageKind.CAP,
        "B",
        lambda table, seed: table.assign(
            B=table["B"].clip(table["B"].quantile(0.05), table["B"].quantile(0.95))
        ),
    ),
    "another unit": (
        DamageKind.FAR,
        "B",
        lambda table, seed: table.assign(
            B=table["B"].where(np.arange(len(table)) % 20 != 3, 1000.0 * table["B"])
        ),
    ),
    "repeated value": (DamageKind.REPEATED, "B", with_cells("B", 66.5, 0.05)),
    "half of a limit": (
        DamageKind.REPEATED,
        "B",
        lambda table, seed: table.assign(
            B=table["B"].mask(
                table["B"] < table["B"].quantile(0.05), 0.5 * table["B"].quantile(0.05)
            )
        ),
    ),
    "rounded": (
        DamageKind.ROUNDED,
        "B",
        lambda table, seed: table.assign(B=8 * (table["B"] / 8).round()),
    ),
    "half rounded": (DamageKind.HEAPED, "B", half_coarse),
    "read twice": (DamageKind.READ_TWICE, "again", read_again),
    "centred": (
        DamageKind.STANDARDISED,
        "B",
        lambda table, seed: table.assign(
            **{name: table[name] - table.groupby("R")[name].transform("mean") for name in "ABC"}
        ),
    ),
    "amounts": (
        DamageKind.LOGARITHM,
        "B",
        lambda table, seed: table.assign(B=np.exp((table["B"] - 60) / 8)),
    ),
}


@pytest.mark.parametrize("name", MENDED)
def test_damage_is_told_and_left_out(name):
    kind, damaged, rows = MENDED[name]
    for seed in SEEDS:
        table = damaged(table_of(seed), seed)
        found = mended(read_table(table, "R"))
        assert [one.kind for one in found.findings] == [kind]
        assert len(found.told) == 1
        assert found.data.n_rows < len(table)
        assert rows is None or found.data.n_rows == rows
        assert found.kept_rows is not None
        np.testing.assert_array_equal(found.data.columns[1], table["B"].to_numpy()[found.kept_rows])


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("name", SUMMARIES)
def test_rows_of_summaries_are_left_out(name, first):
    for seed in SEEDS:
        table = table_of(seed)
        below = pd.DataFrame(
            {
                column: SUMMARIES[name](table[column])
                for column in table
                if column != "R" and table[column].dtype.kind in "if"
            }
        ).assign(R=table["R"].iloc[0])
        both = pd.concat([below, table] if first else [table, below], ignore_index=True)
        found = mended(read_table(both[list(table)], "R"))
        assert [one.kind for one in found.findings] == [DamageKind.TOTALS], found.told
        assert found.data.n_rows == len(table)


@pytest.mark.parametrize("name", ["means", "deviations", "medians", "means, deviations, errors"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_rows_of_summaries_are_found_anywhere(name, shuffled):
    summaries = {
        "means": lambda column: [column.mean()],
        "deviations": lambda column: [column.std(ddof=0)],
        "medians": lambda column: [column.median()],
        "means, deviations, errors": lambda column: [
            column.mean(),
            column.std(),
            column.std() / np.sqrt(len(column)),
        ],
    }
    for seed in SEEDS:
        table = table_of(seed)
        below = pd.DataFrame({column: summaries[name](table[column]) for column in "ABCD"})
        both = pd.concat([table, below.assign(R="ward")], ignore_index=True)
        order = np.roll(np.arange(len(both)), 200)
        if shuffled:
            order = np.random.default_rng(seed).permutation(len(both))
        data = read_table(both.iloc[order].reset_index(drop=True), "R")
        found = rows_of_summaries(data, number_columns(data))
        assert found is not None
        np.testing.assert_array_equal(np.flatnonzero(found.rows), np.flatnonzero(order >= 600))


def test_rows_of_means_of_a_context_are_found_among_its_rows():
    table = table_of(0).sort_values("R", ignore_index=True)
    means = table.groupby("R").mean().reset_index()
    parts = [
        pd.concat([table[table["R"] == level], means[means["R"] == level]])
        for level in ("icu", "ward")
    ]
    data = read_table(pd.concat(parts, ignore_index=True)[list(table)], "R")
    found = rows_of_summaries(data, number_columns(data))
    icu = int((table["R"] == "icu").sum())
    assert found is not None
    np.testing.assert_array_equal(np.flatnonzero(found.rows), [icu, 601])
    assert "the means of the other rows of their context" in found.words


def test_cycles_trends_and_sorted_columns_are_not_interpolated():
    rows = np.arange(600)
    noise = np.random.default_rng(0).standard_normal(600)
    columns = {
        "day": np.sin(2 * np.pi * rows / 20),
        "year": np.sin(2 * np.pi * rows / 365.25),
        "clock": 0.1 * rows,
        "since": 0.37 * (rows % 50),
        "sorted": np.sort(noise),
        "walk": np.cumsum(noise),
        "rounded": np.round(np.cumsum(noise), 2),
    }
    data = read_table(pd.DataFrame(columns), None)
    assert cells.interpolated(data, number_columns(data)) is None


@pytest.mark.parametrize("value", [1e9, np.inf, np.nan])
@pytest.mark.parametrize("rows", [1, 30, 590])
def test_rows_of_huge_and_missing_numbers_are_no_summaries(value, rows):
    """Beside a number that is far away all others are within a small part of the deviation."""
    table = table_of(0)
    for name in "ABCD":
        table.loc[:rows, name] = value
    data = read_table(table, "R")
    assert rows_of_summaries(data, number_columns(data)) is None


def test_rows_near_all_means_are_no_summaries_where_columns_say_the_same():
    """Six columns that follow one: the row that is nearest to one mean is near to all of them."""
    told = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        one = rng.standard_normal(1000)
        table = pd.DataFrame(
            {f"x{i}": 50 + 10 * (one + 0.05 * rng.standard_normal(1000)) for i in range(6)}
        )
        data = read_table(table.assign(copy=2.54 * table["x0"]).round(1), None)
        told += rows_of_summaries(data, number_columns(data)) is not None
    assert told == 0


@pytest.mark.parametrize("name", TOLD)
def test_a_scale_that_hides_something_is_told(name):
    kind, column, damaged = TOLD[name]
    for seed in SEEDS:
        found = mended(read_table(damaged(table_of(seed), seed), "R"))
        assert [one.kind for one in found.findings] == [kind]
        assert column in found.findings[0].columns
        assert column in found.told[0]
        assert found.kept_rows is None


@pytest.mark.parametrize("name", MENDED)
def test_damage_is_kept_where_the_user_says_so(name):
    table = MENDED[name][1](table_of(0), 0)
    found = mended(read_table(table, "R"), keep=True)
    assert found.data.n_rows == len(table)
    assert found.told


def test_damaged_cells_become_missing_where_missing_values_are_modelled():
    data = read_table(with_cells("B", -999.0, 0.03)(table_of(0), 0), "R")
    found = mended(data, missing="model")
    assert found.data.n_rows == 600
    assert (
        np.isnan(found.data.columns[1]).sum() == (np.asarray(data.columns[1]) == -999.0).sum() > 0
    )


def test_cells_in_most_rows_are_told_and_kept():
    table = table_of(0)
    for name in "ABCD":
        table = with_cells(name, -999.0, 0.2)(
            table.sample(frac=1.0, random_state=1, ignore_index=True), 0
        )
    found = mended(read_table(table, "R"))
    if found.data.n_rows < 600:
        table["B"] = table["B"].mask(some(3, 0.4), -999.0)
        found = mended(read_table(table, "R"))
    assert found.data.n_rows == 600
    assert "too many to leave out" in found.told[0]


def clean_columns(rng, rows):
    """Columns as they are in clean tables: scales, counts, zeros beside amounts, heaps, heavy
    tails.
    """
    z = rng.standard_normal((rows, 6))
    z[:, 1] += 0.8 * z[:, 0]
    return pd.DataFrame(
        {
            "scale": np.clip(np.round(3 + z[:, 0]), 1, 5),
            "scale7": np.clip(np.round(4 + 1.5 * z[:, 1]), 1, 7),
            "rating": np.clip(np.round(8 + 2 * z[:, 0]), 0, 10),
            "count": rng.poisson(2, rows),
            "rain": np.where(rng.random(rows) < 0.3, 0.0, np.exp(z[:, 2])),
            "visits": rng.negative_binomial(2, 0.3, rows),
            "flag": (rng.random(rows) < 0.02).astype(int),
            "heaped": np.where(
                rng.random(rows) < 0.5,
                5 * np.round((50 + 15 * z[:, 3]) / 5),
                np.round(50 + 15 * z[:, 3]),
            ),
            "heavy": rng.standard_t(3, rows),
            "uniform": rng.random(rows),
            "percent": 100 * rng.beta(2, 5, rows),
            "skewed": rng.exponential(1, rows),
            "age": np.round(np.clip(45 + 18 * z[:, 4], 18, 95)),
            "points": np.round(z[:, 5] * 30 + 100),
            "R": rng.choice(["a", "b"], rows),
        }
    )


def test_clean_tables_get_no_word():
    wrong, tables = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = int(rng.choice([50, 200, 1000]))
        columns = clean_columns(rng, rows)
        for table in (
            columns,
            columns[["scale", "scale7", "count", "flag", "age", "points", "R"]],
            table_of(seed),
            table_of(seed).round(0),
        ):
            wrong += bool(mended(read_table(table, "R")).told)
            tables += 1
    assert wrong <= 0.02 * tables  # 1 % or less are meant; binomial bound


def test_series_sorted_tables_and_households_get_no_word():
    rng = np.random.default_rng(0)
    walk = rng.standard_normal((500, 3)).cumsum(axis=0).round(2)
    groups = np.repeat(rng.standard_normal((200, 1)), 4, axis=0) + rng.standard_normal((800, 3))
    income = np.repeat(rng.standard_normal(200), 4)
    for table in (
        pd.DataFrame(walk, columns=list("ABC")),
        table_of(1).sort_values("B"),
        table_of(1).round(1).sort_values("B"),
        pd.DataFrame(groups, columns=list("ABC")).assign(income=income),
    ):
        assert mended(read_table(table, "R" if "R" in table else None)).told == ()


def test_natural_repeats_of_rounded_rows_are_none():
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        health = rng.standard_normal(5000)
        table = pd.DataFrame(
            {
                "height": np.round(170 + 8 * health),
                "weight": np.round(75 + 9 * health + 5 * rng.standard_normal(5000)),
                "sex": rng.integers(0, 2, 5000),
            }
        )
        assert table.duplicated().mean() > 0.1
        assert mended(read_table(table, None)).told == ()


def test_the_answer_is_that_of_the_clean_table():
    table = table_of(4)
    clean = cc.discover(table, context="R")
    thrice = cc.discover(pd.concat([table] * 3, ignore_index=True), context="R")
    assert thrice.graphs == clean.graphs
    assert thrice.data.fingerprint == clean.data.fingerprint
    assert sum("duplicates" in text for text in thrice.warnings) == 1
    coded = cc.discover(with_cells("B", -999.0, 0.03)(table, 4), context="R")
    assert {value: graph.edges for value, graph in coded.graphs.items()} == {
        value: graph.edges for value, graph in clean.graphs.items()
    }
    assert sum("-999" in text for text in coded.warnings) == 1


def test_na_values_decide_on_codes():
    table = with_cells("B", -999.0, 0.03)(table_of(4), 4)
    kept = cc.discover(table, context="R", na_values=[])
    assert sum(kept.data.rows) == 600
    assert not any("-999" in text for text in kept.warnings)


def test_rows_of_flagged_cells_are_those_of_the_table():
    table = table_of(5, 1000)
    rows = np.arange(40, 900, 40)
    table.loc[rows, "C"] += 200.0 * np.random.default_rng(3).standard_normal(len(rows))
    twice = pd.concat([table[:30], table], ignore_index=True)
    found = cc.discover(twice, context="R")
    assert sum("duplicates" in text for text in found.warnings) == 1
    flagged = found.flagged_cells()
    assert len(flagged) >= 0.8 * len(rows)
    np.testing.assert_allclose(twice["C"].to_numpy()[flagged["row"]], flagged["value"])


def test_a_made_scale_holds_claims_back_in_results_and_files(tmp_path) -> None:
    """Standardised within contexts, one slope is another number in each of them."""
    rng = np.random.default_rng(3)
    wet = rng.random(1000) < 0.5
    cause = rng.standard_normal(1000) * np.where(wet, 3.0, 1.0)
    other = rng.standard_normal(1000)
    effect = cause + other + rng.standard_normal(1000)
    table = pd.DataFrame(
        {"cause": cause, "effect": effect, "other": other, "soil": np.where(wet, "wet", "dry")}
    )
    assert not cc.discover(table, "soil").doubtful_scales
    numbers = ["cause", "effect", "other"]
    inside = table.groupby("soil")[numbers].transform(lambda x: (x - x.mean()) / x.std())
    result = cc.discover(table.assign(**inside), "soil")
    (doubtful,) = result.doubtful_scales
    assert set(doubtful.columns) == set(numbers)
    for found in (result, cc.load(saved(result, tmp_path))):
        changes = found.changes("dry", "wet")
        assert list(changes["kind"]) == ["slope", "slope"]
        assert not changes["claimed"].any()
        assert changes["reason"].str.contains("other units in every context").all()
    assert (
        cc.discover(table.assign(**inside), "soil", damaged="keep")
        .changes("dry", "wet")["claimed"]
        .all()
    )


def of_a_chain(seed):
    """Numbers whose slopes a context shares; it moves the levels of the first two."""
    rng = np.random.default_rng(seed)
    wet = rng.random(800) < 0.5
    cause = rng.standard_normal(800) + 1.5 * wet
    middle = 0.8 * cause + 0.8 * wet + 0.6 * rng.standard_normal(800)
    effect = 0.9 * middle + 0.7 * rng.standard_normal(800)
    soil = np.where(wet, "wet", "dry")
    return pd.DataFrame({"cause": cause, "middle": middle, "effect": effect, "soil": soil})


ORDER = cc.Knowledge(tiers=[["soil"], ["cause"], ["middle"], ["effect"]])


def intervals(result, x, y):
    """Whether the effects of x on y in the contexts have intervals, and what is said of them."""
    rows = result.effects(x, y)
    rows = rows[rows["versus"].isna()]
    return bool(np.isfinite(rows["low"]).all()), " ".join(rows["note"])


def claimed_at(result, column):
    """Whether a change of the mechanism of a column is claimed."""
    changes = result.changes("dry", "wet")
    return bool(changes.loc[changes["target"] == column, "claimed"].any())


def test_values_cut_off_have_no_claims_and_no_intervals(tmp_path) -> None:
    """Where more rows of one context are cut off, a mechanism that both share seems to differ."""
    table = of_a_chain(4)
    clean = cc.discover(table, "soil", knowledge=ORDER)
    assert intervals(clean, "middle", "effect")[0]
    assert claimed_at(clean, "middle")
    assert not clean.doubtful_scales
    limit = table["middle"].quantile(0.85)
    capped = table.assign(middle=table["middle"].clip(upper=limit))
    result = cc.discover(capped, "soil", knowledge=ORDER)
    for found in (result, cc.load(saved(result, tmp_path))):
        assert not claimed_at(found, "middle")
        for pair in (("cause", "middle"), ("middle", "effect"), ("cause", "effect")):
            has_interval, note = intervals(found, *pair)
            assert not has_interval
            assert "no interval: values of middle beyond a limit were set to it" in note
        assert found.mechanisms()["low"].isna().all()
        assert found.predict_intervention({"cause": 1.0})["low"].isna().all()
    kept = cc.discover(capped, "soil", knowledge=ORDER, damaged="keep")
    assert intervals(kept, "middle", "effect")[0]


def test_few_cells_at_a_limit_cost_no_interval() -> None:
    table = of_a_chain(5)
    limit = table["middle"].quantile(0.985)
    result = cc.discover(
        table.assign(middle=table["middle"].clip(upper=limit)), "soil", knowledge=ORDER
    )
    assert any("middle is" in text for text in result.warnings)
    assert not result.doubtful_scales
    assert intervals(result, "middle", "effect")[0]


def test_rounding_costs_the_intervals_of_causes_alone() -> None:
    """The error of rounding makes slopes of a cause too small; an effect may have it."""
    table = of_a_chain(6)
    step = 0.9 * table["middle"].std()
    rounded = table.assign(middle=(table["middle"] / step).round() * step)
    result = cc.discover(rounded, "soil", knowledge=ORDER)
    assert any("coarse rounding of middle" in text for text in result.warnings)
    has_interval, note = intervals(result, "middle", "effect")
    assert not has_interval
    assert "no interval: coarse rounding of middle" in note
    assert intervals(result, "cause", "middle")[0]


def test_damaged_cells_that_stay_cost_claims_and_intervals() -> None:
    """Codes in more rows than are left out: their columns are not believed."""
    table = of_a_chain(7)
    rng = np.random.default_rng(7)
    coded = table.assign(
        **{
            name: table[name].where(rng.random(len(table)) >= 0.14, -99.0)
            for name in ("cause", "middle", "effect")
        }
    )
    result = cc.discover(coded, "soil", knowledge=ORDER)
    assert any("too many to leave out" in text for text in result.warnings)
    assert not claimed_at(result, "middle")
    assert not intervals(result, "middle", "effect")[0]


def saved(result, folder):
    """The path of the result in a file."""
    result.save(folder / "result.json")
    return folder / "result.json"


@pytest.mark.parametrize("off", [0.0, 60.0, 61.25])
def test_a_number_that_is_constant_in_a_context_is_neither_carried_forward_nor_imputed(off):
    """Sorted by the context, a device that is off repeats the row before, and its value may be that
    in the middle.
    """
    for seed in SEEDS:
        table = table_of(seed).assign(R=np.where(np.arange(600) < 480, "on", "off"))
        table["B"] = (table["B"] - table["B"][:480].mean() + 60.0).where(table["R"] == "on", off)
        for rows in (table, table.sample(frac=1.0, random_state=seed)):
            kinds = {one.kind for one in mended(read_table(rows, "R")).findings}
            assert kinds.isdisjoint({DamageKind.CARRIED, DamageKind.IMPUTED})
        filled = table.assign(B=table["B"].mask(some(seed, 0.1) & (table["R"] == "on")).ffill())
        found = mended(read_table(filled, "R")).findings
        assert DamageKind.CARRIED in {one.kind for one in found}
        carried_cells = next(one for one in found if one.kind is DamageKind.CARRIED).cells[1]
        assert carried_cells.sum() < 80


@pytest.mark.parametrize("missing", ["raise", "model"])
@pytest.mark.parametrize("damaged", ["auto", "keep"])
def test_a_name_may_have_braces(missing, damaged):
    """The share is written into the sentence, and a name such as "dose {mg}" is no place for it."""
    table = with_cells("B", 999.0, 0.04)(table_of(0), 0).rename(columns={"B": "B {mg}", "C": "{}"})
    (told,) = mended(read_table(table, "R"), missing, damaged == "keep").told
    assert told.startswith("B {mg} has ")
    assert ("taken for missing" in told) == (damaged == "auto")


def test_the_level_that_most_rows_of_a_context_have_is_no_imputed_mean():
    """Two thirds of the answers of one ward are 3 of 5; a mean of all answers, between two levels,
    is imputed.
    """
    table = table_of(0)
    answers = np.random.default_rng(0).integers(1, 6, len(table)).astype(float)
    is_icu = (table["R"] == "icu").to_numpy()
    answers[is_icu] = np.resize(
        [3.0, 1.0, 3.0, 5.0, 3.0, 3.0, 2.0, 3.0, 4.0, 3.0, 3.0, 3.0], is_icu.sum()
    )
    assert (
        mended(read_table(table.assign(B=answers), "R", kinds={"B": "continuous"})).findings == ()
    )
    gaps = some(0, 0.75)
    filled = np.where(gaps, answers[~gaps].mean(), answers)
    found = mended(read_table(table.assign(B=filled), "R", kinds={"B": "continuous"})).findings
    assert DamageKind.IMPUTED in {finding.kind for finding in found}


@pytest.mark.parametrize("levels", [(1, 2, 3), (1, 2, 3, 4, 5)])
def test_the_middle_of_a_short_scale_is_no_imputed_mean(levels):
    """Three answers of four are the middle one, in all rows or in those of one context."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        table = table_of(seed)
        middle = levels[len(levels) // 2]
        others = rng.choice([middle - 1, middle + 1], len(table))
        everywhere = np.where(rng.random(len(table)) < 0.75, middle, others)
        elsewhere = np.where(table["R"] == "icu", everywhere, rng.choice(levels, len(table)))
        for answers in (everywhere, elsewhere):
            assert mended(read_table(table.assign(B=answers), "R")).told == ()


def test_a_repeated_number_in_the_tail_of_an_amount_is_no_code():
    """Six days have 8.0 mm of rain, and hardly another one about as much; 0 stays a code far away
    from all others.
    """
    rng = np.random.default_rng(6)
    amounts = np.round(rng.exponential(4.0, 700), 1)
    amounts = amounts[np.abs(amounts - 8.0) > 0.15]
    rain = np.concatenate([np.zeros(1_400), amounts[:594], np.full(6, 8.0)])
    rain = rng.permutation(rain)
    other = rng.standard_normal(len(rain))
    assert mended(read_table({"rain": rain, "other": other}, None)).told == ()
    warmth = np.round(rng.normal(20.0, 5.0, len(rain)), 1)
    warmth[:60] = 0.0
    (told,) = mended(read_table({"warmth": warmth, "other": other}, None)).told
    assert "60 cells of 0" in told


@pytest.mark.parametrize(
    "made", [np.log1p, np.sqrt, np.arcsinh, lambda counts: np.log2(1 + counts)]
)
@pytest.mark.parametrize("mean", [2.5, 4.0, 6.0])
def test_zeros_of_logarithms_of_counts_are_no_codes(made, mean):
    """The first gap of such a grid is its widest, but hardly wider than the second."""
    for seed in SEEDS:
        table = table_of(seed)
        counts = np.random.default_rng([seed, 9]).poisson(mean, len(table))
        finding = mended(read_table(table.assign(D=made(counts)), "R"), "raise", False, False)
        assert finding.told == ()


def series_of(seed, rows=600):
    """X moves Y one row later; both move slowly."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((2, rows))
    for t in range(1, rows):
        x[t] += 0.6 * x[t - 1]
        y[t] += 0.4 * y[t - 1] + 0.7 * x[t - 1]
    return pd.DataFrame(
        {"X": 20 + 3 * x, "Y": 50 + 8 * y, "R": np.repeat(["dry", "wet"], rows // 2)}
    )


SPOILT_SERIES = {
    "a code": (lambda y, here: y.mask(here, -9999.0), "cells of -9999"),
    "zeros": (lambda y, here: y.mask(here, 0.0), "cells of 0"),
    "means": (lambda y, here: y.mask(here, y.median()), "imputed means are no data"),
}


@pytest.mark.parametrize("missing", ["raise", "windows", "model"])
@pytest.mark.parametrize("name", SPOILT_SERIES)
def test_damaged_cells_of_a_series_are_missing(name, missing):
    """No row goes, since those beside it would follow each other; the answer is the clean one."""
    spoil, words = SPOILT_SERIES[name]
    for seed in SEEDS:
        table = series_of(seed)
        here = some(seed, 0.05)
        spoilt = table.assign(Y=spoil(table["Y"], here))
        result = cc.discover(spoilt, "R", lags=1, missing=missing)
        (told,) = [words_told for words_told in result.warnings if words in words_told]
        assert "Y" in told
        clean = cc.discover(table, "R", lags=1)
        for context in clean.contexts:
            assert {frozenset(e[:2]) for e in map(edge, result[context].edges)} == {
                frozenset(e[:2]) for e in map(edge, clean[context].edges)
            }
        kept = cc.discover(spoilt, "R", lags=1, damaged="keep")
        assert any(words in words_told for words_told in kept.warnings)


def edge(one):
    return one.source, one.target, one.mark


def test_values_carried_forward_in_a_series_are_told_and_stay():
    table = series_of(3)
    spoilt = table.assign(Y=table["Y"].mask(some(3, 0.1)).ffill())
    warnings = cc.discover(spoilt, "R", lags=1).warnings
    assert any("repeat the row before" in words and "they stay" in words for words in warnings)


def test_clean_series_get_no_word_on_damage():
    for seed in range(20):
        table = series_of(seed)
        prices = np.round(table["X"])  # coarse, and often the same twice
        data = read_table(table.assign(price=prices), "R")
        assert mended_series(data, "raise", 1).told == ()


def test_codes_in_a_series_that_lacks_other_cells_are_no_excuse_for_these():
    table = series_of(4)
    spoilt = table.assign(Y=table["Y"].mask(some(4, 0.05), -9999.0))
    spoilt.loc[5, "X"] = np.nan
    with pytest.raises(cc.CausalContextError, match="missing"):
        cc.discover(spoilt, "R", lags=1)
