"""Categories, ordered columns and contexts made out of a column in tables that are read once: as in
memory.
"""

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data.accumulate import unpacked
from causalcontext.data.indicators import read_with_functions
from causalcontext.data.scan import columns_of, finished
from causalcontext.data.sufficient_statistics import gather_statistics

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

KINDS = {"K": "ordered", "N": "categorical"}
UGLY = ["ä b", "z,\n'\"", "", "\U0001f40c"]
CONTEXTS = [
    "R",
    None,
    ["R", cc.threshold("X", 0.1)],
    cc.bins("X", [-1, 1]),
    [cc.threshold("Y", 1e6), "W"],
]


def make_table(rows=1200, seed=0, gaps=True):
    """Text, truth values, ordered categories with one that never occurs, and numbers that are
    declared to be levels.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    level = np.digitize(x + rng.normal(size=rows), [-0.5, 0.5])
    table = pd.DataFrame(
        {
            "X": x,
            "T": np.array(UGLY, dtype=object)[
                np.digitize(x + rng.normal(size=rows), [-0.5, 0.5, 1.0])
            ],
            "B": x + rng.normal(size=rows) > 0,
            "R": rng.integers(0, 2, rows),
            "W": np.where(rng.random(rows) < 0.3, "yes", "no"),
            "O": pd.Categorical.from_codes(
                2 - level, ["low", "mid", "high", "never"], ordered=True
            ),
            "Y": 1e6 + x + rng.normal(size=rows),
            "K": 3 * rng.integers(1, 5, rows) ** 2,
            "N": rng.integers(0, 3, rows) / 2,
        }
    )
    if gaps:
        table.loc[::50, "T"], table.loc[::70, "O"], table.loc[::90, "N"] = None, np.nan, np.nan
        table.loc[7, "X"] = np.nan
    return table


def added_up(table, context, sizes, parts, sample=300):
    """The scan of a table in batches of some sizes, in parts that travel and are merged from the
    last to the first.
    """
    schema = pa.Schema.from_pandas(table, preserve_index=False)
    columns = columns_of(schema, context, KINDS)
    found, begin, k = [columns.accumulator(sample) for _ in range(parts)], 0, 0
    while begin < len(table):
        size = sizes[k % len(sizes)]
        batch = pa.RecordBatch.from_pandas(
            table.iloc[begin : begin + size], schema=schema, preserve_index=False
        )
        found[k % parts].add(batch, begin)
        begin, k = begin + size, k + 1
    whole = unpacked(found[-1].packed())
    for other in found[-2::-1]:
        whole = whole.merged(unpacked(other.packed()))
    return finished(whole, columns, "a test")


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(("sizes", "parts"), [([1200], 1), ([1, 7, 250], 1), ([33, 400], 3)])
def test_moments_of_levels_are_those_of_memory(context, sizes, parts):
    table = make_table()
    inside = read_with_functions(table, context, KINDS)
    found, twin = added_up(table, context, sizes, parts), gather_statistics(inside)
    for what in ("names", "kinds", "contexts", "levels", "categories"):
        assert getattr(found.data, what) == getattr(inside, what), what
    for what in ("missing", "infinite", "lost", "constant", "missing_context", "fingerprint"):
        assert np.array_equal(getattr(found.statistics, what), getattr(twin, what)), what
    mine, theirs = found.statistics.of_columns(found.data), twin.of_columns(inside)
    assert np.array_equal(mine.rows, theirs.rows)
    np.testing.assert_allclose(mine.mean, theirs.mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mine.scatter, theirs.scatter, rtol=1e-9, atol=1e-9)
    together = found.blocks[0]
    for block in found.blocks[1:]:
        together = together + block
    np.testing.assert_allclose(
        together.scatter, found.statistics.moments.scatter, rtol=1e-9, atol=1e-8
    )
    whole = added_up(table, context, sizes, parts, sample=5000).data
    for column, other in zip(whole.columns, inside.columns, strict=True):
        known = inside.codes >= 0
        assert np.array_equal(
            np.asarray(column, float)[known], np.asarray(other, float)[known], equal_nan=True
        )


def test_files_with_different_dictionaries_are_one_table(tmp_path):
    table = make_table(900, gaps=False).drop(columns=["B", "T"])
    halves = [table.iloc[:300], table.iloc[300:]]
    (tmp_path / "parts").mkdir()
    for part, order in zip(halves, (["mid", "high"], ["low", "mid", "high"]), strict=True):
        kept = part[part["O"].isin(order)].assign(
            O=lambda rows, order=order: rows["O"].cat.set_categories(order)
        )
        pq.write_table(
            pa.Table.from_pandas(kept, preserve_index=False),
            tmp_path / "parts" / f"{len(order)}.parquet",
        )
    table = table.drop(index=halves[0].index[halves[0]["O"] == "low"]).reset_index(drop=True)
    inside = read_with_functions(table, "R", KINDS)
    found = cc.scan(tmp_path / "parts", "R", kinds=KINDS, sample=200)
    assert found.data.categories[list(table.columns).index("O")] == ("low", "mid", "high")
    mine, theirs = (
        found.statistics.of_columns(found.data),
        gather_statistics(inside).of_columns(inside),
    )
    np.testing.assert_allclose(mine.scatter, theirs.scatter, rtol=1e-9, atol=1e-9)


def test_text_files_hold_levels_too(tmp_path):
    table = make_table(900, gaps=False).drop(columns=["O", "T"])
    table.to_csv(tmp_path / "table.csv", index=False)
    table.to_parquet(tmp_path / "table.parquet")
    found = [
        cc.scan(tmp_path / f"table.{ending}", "R", kinds=KINDS, sample=200)
        for ending in ("csv", "parquet")
    ]
    assert found[0].data.categories == found[1].data.categories
    assert found[0].statistics.fingerprint == found[1].statistics.fingerprint
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        third = cc.scan(connection.from_df(table), "R", kinds=KINDS, sample=200)
    assert third.statistics.fingerprint == found[0].statistics.fingerprint


@pytest.mark.parametrize(
    ("orders", "words"),
    [
        ([["a", "b"], ["b", "a"]], "do not say one order of its levels: 'a' and 'b'"),
        ([["a", "c"], ["b", "c"]], "do not say one order of its levels: 'a' and 'b'"),
        ([["a", "b"], ["b", "c"]], ""),
        ([["b", "c"], ["c", "a"], ["a", "d"]], ""),
    ],
)
def test_orders_of_dictionaries_are_put_together(orders, words):
    x = np.random.default_rng(0).normal(size=60)
    parts = [
        pd.DataFrame(
            {
                "X": x,
                "Y": x[::-1] ** 2,
                "O": pd.Categorical.from_codes([0, 1] * 30, order, ordered=True),
            }
        )
        for order in orders
    ]
    if words:
        with pytest.raises(cc.DataError, match=words):
            cc.scan(iter(parts))
        return
    order = cc.scan(iter(parts)).data.categories[2]
    assert order == cc.scan(iter(parts[::-1])).data.categories[2]
    assert all(order.index(first) < order.index(second) for first, second in orders)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("lags", [None, 1])
def test_contexts_and_categories_have_the_order_of_their_dictionary_as_in_memory(
    ordered, lags, tmp_path
):
    rng = np.random.default_rng(4)
    x = rng.normal(size=800)
    names = np.array(["wet", "mild", "dry"])[np.digitize(x + rng.normal(size=800), [-0.5, 0.5])]
    table = pd.DataFrame({"X": x, "Y": x + rng.normal(size=800), "W": rng.permutation(names)})
    for name, values in (
        ("R", names),
        ("W", table["W"]),
        ("S", np.where(rng.random(800) < 0.5, "on", "off")),
    ):
        levels = ["on", "never", "off"] if name == "S" else ["wet", "mild", "dry"]
        table[name] = pd.Categorical(values, levels, ordered=ordered)
    table.to_parquet(tmp_path / "table.parquet", row_group_size=300)
    inside = read_with_functions(table, ["S", "R"])
    parts = [table.iloc[:10], table.iloc[10:]]
    for source in (tmp_path / "table.parquet", pa.Table.from_pandas(table), iter(parts)):
        found = cc.scan(source, ["S", "R"], lags=lags).data
        assert found.levels == inside.levels == (("on", "off"), ("wet", "mild", "dry"))
        assert (found.contexts, found.categories) == (inside.contexts, inside.categories)
        for column, other in zip(found.columns, inside.columns, strict=True):
            np.testing.assert_array_equal(column, other)
    columns = columns_of(pa.Schema.from_pandas(table, preserve_index=False), ["S", "R"], {})
    halves = [columns.accumulator(100) for _ in parts]
    for half, part, first in zip(halves, parts, (0, 10), strict=True):
        half.add(pa.RecordBatch.from_pandas(part, preserve_index=False), first)
    merged = finished(
        unpacked(halves[1].packed()).merged(unpacked(halves[0].packed())), columns, "a test"
    ).data
    assert (merged.levels, merged.categories) == (inside.levels, inside.categories)


def test_dictionaries_that_say_no_one_order_are_sorted():
    x = np.random.default_rng(0).normal(size=60)
    parts = [
        pd.DataFrame(
            {
                "X": x,
                "Y": x[::-1] ** 2,
                "C": pd.Categorical(order * 30),
                "R": pd.Categorical(order * 30),
            }
        )
        for order in (["b", "a"], ["a", "b"], ["c", "a"])
    ]
    for part, order in zip(parts, (["b", "a"], ["a", "b"], ["c", "a"]), strict=True):
        part[["C", "R"]] = part[["C", "R"]].astype(pd.CategoricalDtype(order))
    for some in (parts, parts[::-1]):
        found = cc.scan(iter(some), "R").data
        assert found.levels == (("a", "b", "c"),)
        assert found.categories == {2: ("a", "b", "c")}


def test_categoricals_of_polars_have_no_order_of_their_own():
    pl = pytest.importorskip("polars")
    x = np.random.default_rng(0).normal(size=60)
    table = pl.DataFrame(
        {"X": x, "Y": x[::-1] ** 2, "R": ["wet", "dry"] * 30, "C": ["on", "off"] * 30}
    )
    named = table.with_columns(pl.col("R", "C").cast(pl.Categorical))
    made = table.with_columns(
        pl.col("R").cast(pl.Enum(["wet", "dry"])), pl.col("C").cast(pl.Enum(["on", "off"]))
    )
    for one, order in (
        (named, (("dry", "wet"), ("off", "on"))),
        (made, (("wet", "dry"), ("on", "off"))),
    ):
        for found in (cc.scan(one.lazy(), "R").data, read_with_functions(one, "R")):
            assert (found.levels[0], found.categories[3]) == order


@pytest.mark.parametrize(
    ("column", "kinds", "words"),
    [
        (
            [f"id {k}" for k in range(1500)],
            {},
            "more than 1,000 levels, which looks like an identifier",
        ),
        ([f"id {k // 2}" for k in range(1500)], {}, ""),
        ([f"id {k % 900}" for k in range(1500)], {}, "900 levels in 1500 rows"),
        ([str(stamp)[:10] for stamp in pd.date_range("2020", periods=1500)], {}, "dates as text"),
        (["1", "2", "x"] * 500, {}, "2 of its 3 different values are numbers; 'x' is not"),
        (np.arange(1500) % 30, {"C": "ordered"}, "ordered and has more than 20 levels"),
        (["a", "b", "c"] * 500, {"C": "ordered"}, "have no order of their own"),
        (["a", "b", "c"] * 500, {"C": "count"}, "declared count but not numeric"),
        (np.arange(1500) % 30, {"C": "categorical"}, ""),
        (pd.array([True, False, None] * 500, "boolean"), {"C": "ordered"}, ""),
        ([True, False, False] * 500, {"C": "continuous"}, ""),
        ([None] * 1500, {}, ""),
    ],
)
def test_levels_that_cannot_be_are_refused_in_one_sentence(column, kinds, words):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {"X": rng.normal(size=1500), "Y": rng.normal(size=1500), "C": pd.Series(column)}
    )
    parts = (table.iloc[:1000], table.iloc[1000:])
    if words:
        with pytest.raises(cc.CausalContextError, match=words):
            cc.scan(iter(parts), kinds=kinds)
    else:
        inside = read_with_functions(table, None, kinds)
        assert cc.scan(iter(parts), kinds=kinds).data.categories == inside.categories


@pytest.mark.parametrize("context", ["R", ["R", cc.threshold("X", 0.1)], cc.threshold("X", 0.1)])
@pytest.mark.parametrize("method", ["pc-ac", "score-ac"])
def test_a_search_of_all_rows_is_that_of_memory(context, method, tmp_path):
    table = make_table(700, gaps=False)[["X", "T", "O", "Y", "R"]]
    found = cc.discover(
        cc.scan(iter([table.iloc[:11], table.iloc[11:]]), context),
        method=method,
        missing="listwise",
    )
    assert found == cc.discover(table, context, method=method, missing="listwise")
    part = cc.discover(
        cc.scan(iter([table.iloc[:11], table.iloc[11:]]), context, sample=300), method=method
    )
    assert part.settings == cc.discover(table, context, method=method).settings
    assert "a random sample of 300 rows" in part.notes[-1]
    assert sum(part.data.rows) == 700
    (
        part.mechanisms(),
        part.changes(part.contexts[0], part.contexts[-1]),
        part.effects("X", "Y"),
        part.diagnose(),
    )
    part.save(tmp_path / "part.json")
    assert cc.load(tmp_path / "part.json") == part


def test_tests_of_numbers_use_all_rows_and_those_of_categories_the_sample():
    table = make_table(900, gaps=False)[["X", "Y", "T", "O", "R"]].assign(
        Z=lambda rows: rows["Y"] + rows["X"] ** 3
    )
    tests = cc.discover(cc.scan(iter([table]), sample=400), method="pc-ac").tests()
    levels = {"T", "O", "R"} - {"R"}
    of_numbers = [
        not levels & {x, y, *given}
        for x, y, given in zip(tests["x"], tests["y"], tests["given"], strict=True)
    ]
    assert set(tests.loc[of_numbers, "n"]) == {900}
    assert set(tests.loc[np.logical_not(of_numbers), "n"]) == {400}
    outside, inside = (
        cc.discover(cc.scan(iter([table]), sample=400), method="pc-ac"),
        cc.discover(table, method="pc-ac"),
    )
    assert np.allclose(outside.moments.scatter, inside.moments.scatter, rtol=1e-9)


def test_a_context_of_other_cuts_is_not_the_one_that_was_scanned():
    table = make_table(300, gaps=False)[["X", "Y", "R"]]
    found = cc.scan(iter([table]), cc.threshold("X", 0.1, name="wet"), sample=100)
    with pytest.raises(cc.OptionError, match="scanned with context=wet; scan it again"):
        cc.discover(found, cc.threshold("X", 0.2, name="wet"))
    with pytest.raises(cc.NotYetError, match="pass it to discover"):
        cc.scan(iter([table]), cc.bins("X", quantiles=3))
    with pytest.raises(cc.DataError, match="1 level"):
        cc.scan(iter([table]), cc.threshold("X", 99.0))
    with pytest.raises(cc.DataError, match="has a column 'Y' already"):
        cc.scan(iter([table]), cc.threshold("X", 0.0, name="Y"))
    with pytest.raises(cc.DataError, match="no column 'Q'"):
        cc.scan(iter([table]), cc.threshold("Q", 0.0))
    with pytest.raises(cc.DataError, match="two contexts are made out of 'X'"):
        cc.scan(iter([table]), [cc.threshold("X", 0.0), cc.threshold("X", 1.0)])
    both = cc.discover(cc.scan(iter([table]), "R", sample=100), ["R", cc.bins("X", quantiles=2)])
    assert "everything rests on a random sample of 100 rows of its 300" in both.notes[-1]


@pytest.mark.parametrize("partitions", [1, 4])
def test_dask_gives_the_same_levels(partitions):
    pytest.importorskip("dask")
    dataframe = pytest.importorskip("dask.dataframe")
    table = make_table(600)
    context = ["R", cc.threshold("X", 0.1)]
    found = cc.scan(
        dataframe.from_pandas(table, npartitions=partitions, sort=False),
        context,
        kinds=KINDS,
        sample=300,
    )
    one = added_up(table, context, [600], 1)
    assert found.statistics.fingerprint == one.statistics.fingerprint
    assert found.data.categories == one.data.categories
    for mine, theirs in zip(found.data.columns, one.data.columns, strict=True):
        assert np.array_equal(mine, theirs, equal_nan=True)


def test_an_enum_of_polars_is_what_it_is_in_memory():
    polars = pytest.importorskip("polars")
    x = np.random.default_rng(0).normal(size=90)
    levels = polars.Series(["lo", "hi", "hi"] * 30, dtype=polars.Enum(["lo", "hi"]))
    table = polars.DataFrame({"X": x, "Y": x[::-1] ** 2, "E": levels})
    for kinds in ({}, {"E": "ordered"}):
        assert (
            cc.scan(table.lazy(), kinds=kinds).data.kinds
            == read_with_functions(table, None, kinds).kinds
        )
