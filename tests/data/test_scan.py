"""Tables that are read once, in batches: the same numbers as in memory, whatever the batches, files
and partitions.
"""

import ctypes
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.data import streams, table_files
from causalcontext.data.accumulate import Accumulator, BatchColumns
from causalcontext.data.scan import columns_of, finished
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.kernels.draws import GOLDEN, ONE, splitmix64
from causalcontext.model_checks.violations import ROWS
from marks import rest_slow

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from questions import violations_of  # noqa: E402

TEST = {"method": "pc-ac", "test": "partial-correlation", "alpha": 0.01}


def row_hashes(numbers):
    """A hash of every row number, another one for every number (splitmix64)."""
    with np.errstate(over="ignore"):
        return splitmix64((numbers.astype(np.uint64) + ONE) * GOLDEN)


def make_table(rows: int = 3000, seed: int = 0, contexts: int = 1) -> pd.DataFrame:
    """Numbers far from 0, in several dtypes, some missing and infinite, and text as the context."""
    rng = np.random.default_rng(seed)
    dry = rng.random(rows) < 0.4
    x = rng.standard_normal((rows, 4))
    x[:, 1] += 0.8 * x[:, 0] * dry
    x[:, 2] += 0.7 * x[:, 1] + dry
    table = pd.DataFrame(x * [1.0, 1e-6, 1e6, 1.0] + [1e3, 0, -3, 0], columns=list("ABCD"))
    table["E"] = rng.integers(-5, 5, rows)
    table["F"] = table["D"].astype(np.float32)
    table.insert(2, "R", np.where(dry, "dry", "wet"))
    if contexts > 1:
        table["S"] = rng.integers(0, 3, rows)
    return table


def in_batches(table: pd.DataFrame, sizes, context, sample=500, parts=1):
    """The scan of a table that is cut into batches of some sizes, accumulated in some parts."""
    schema = pa.Schema.from_pandas(table, preserve_index=False)
    columns = columns_of(schema, context, None)
    accumulators = [columns.accumulator(sample) for _ in range(parts)]
    begin, k = 0, 0
    while begin < len(table):
        size = sizes[k % len(sizes)]
        batch = pa.RecordBatch.from_pandas(
            table.iloc[begin : begin + size], schema=schema, preserve_index=False
        )
        accumulators[k % parts].add(batch, begin)
        begin, k = begin + size, k + 1
    found = accumulators[0]
    for other in accumulators[1:]:
        found = other.merged(found)
    return finished(found, columns, "a test")


@pytest.mark.parametrize("context", [None, "R", ["R", "S"]])
@pytest.mark.parametrize("cut", rest_slow([[999, 2, 500], [3000], [1, 700], [64]]))
@pytest.mark.parametrize("parts", [1, 3])
def test_a_scan_is_the_survey_of_the_table(context, cut, parts):
    table = make_table(contexts=2)
    table.loc[::97, "A"] = np.nan
    table.loc[5, "B"] = np.inf
    table.loc[[7, 8], "R"] = None
    if context is None:
        table = table.drop(columns=["R"])
    found, twin = (
        in_batches(table, cut, context, parts=parts),
        gather_statistics(read_table(table, context)),
    )
    assert isinstance(found, cc.Scan)
    assert found.data.values == twin.values
    assert found.data.contexts == read_table(table, context).contexts
    assert found.statistics.fingerprint == twin.fingerprint
    for name in ("missing", "infinite", "lost", "constant"):
        assert np.array_equal(getattr(found.statistics, name), getattr(twin, name)), name
    assert found.statistics.missing_context == twin.missing_context
    mine, theirs = found.statistics.moments, twin.moments
    assert np.array_equal(mine.rows, theirs.rows)
    scale = np.sqrt(np.diagonal(theirs.scatter, axis1=1, axis2=2))
    assert (
        np.max(np.abs(mine.scatter - theirs.scatter) / scale[:, :, None] / scale[:, None, :])
        < 1e-12
    )
    assert (np.abs(mine.mean - theirs.mean) <= 1e-13 * scale + 1e-15 * np.abs(theirs.mean)).all()


def exact_scatter(values):
    """Centred cross products in whole numbers: what is left of rounding is that of the last
    step.
    """
    rows = [[Fraction(value) for value in row] for row in values.tolist()]
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    away = [[value - mean for value, mean in zip(row, means, strict=True)] for row in rows]
    columns = list(zip(*away, strict=True))
    return np.array(
        [[float(sum(a * b for a, b in zip(x, y, strict=True))) for y in columns] for x in columns]
    )


@pytest.mark.parametrize("cut", rest_slow([[299, 2, 150], [900], [1, 70], [64]]))
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("order", ["random", "sorted", "reversed"])
def test_means_far_from_0_cost_no_digits(cut, parts, order):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((900, 3))
    x[:, 1] -= 0.9 * x[:, 0]
    x = x * [1.0, 1e-3, 50.0] + [1e8, -1e5, 5e9]
    dry = rng.random(900) < 0.3
    if order != "random":
        rows = np.argsort(x[:, 0])
        x, dry = (x[rows], dry[rows]) if order == "sorted" else (x[rows[::-1]], dry[rows[::-1]])
    table = pd.DataFrame(x, columns=list("ABC")).assign(R=np.where(dry, "dry", "wet"))
    found = in_batches(table, cut, "R", parts=parts).statistics.moments
    inside = gather_statistics(read_table(table, "R"), batch=cut[-1]).moments
    for cell, chosen in enumerate((dry, ~dry)):
        twin = exact_scatter(x[chosen])
        scale = np.sqrt(np.diag(twin))
        for moments in (found, inside):
            assert np.abs((moments.scatter[cell] - twin) / scale / scale[:, None]).max() < 1e-12


@pytest.mark.parametrize("most", [0, 2**23])
@pytest.mark.parametrize("p", rest_slow([2, 5, 66, 3, 4, 6, 63, 65, 68, 129, 130], fast=3))
def test_any_number_of_columns_is_multiplied(monkeypatch, most, p):
    monkeypatch.setattr("causalcontext.data.moments.MOST_NUMBERS", most)
    rng = np.random.default_rng(p)
    x, cells = (
        3.0 - rng.standard_normal((600, p)) @ rng.standard_normal((p, p)),
        rng.integers(0, 3, 600),
    )
    table = pd.DataFrame(x, columns=[f"X{j}" for j in range(p)]).assign(R=cells)
    moments = in_batches(table, [512, 40, 7], "R").statistics.moments
    for cell in range(3):
        away = x[cells == cell] - x[cells == cell].mean(axis=0)
        twin = away.T @ away
        scale = np.sqrt(np.diag(twin))
        assert np.abs((moments.scatter[cell] - twin) / scale / scale[:, None]).max() < 1e-13


@pytest.mark.parametrize("most", [0, 2**23])
@pytest.mark.parametrize("order", ["mixed", "sorted"])
def test_many_columns_and_long_stretches(monkeypatch, most, order):
    monkeypatch.setattr("causalcontext.data.moments.MOST_NUMBERS", most)
    rng = np.random.default_rng(2)
    x, cells = rng.standard_normal((1700, 71)) + 5.0, rng.integers(0, 2, 1700)
    x[:, 9], x[3, 20], x[4, 21] = np.where(cells == 1, -0.0, 7.0), np.nan, -np.inf
    x[cells == 1, 10] = np.tile([0.0, -0.0], 1700)[: cells.sum()]
    if order == "sorted":
        x, cells = x[np.argsort(cells, kind="stable")], np.sort(cells)
    table = pd.DataFrame(x, columns=[f"X{j}" for j in range(71)]).assign(R=cells)
    found = in_batches(table, [1000, 300], "R")
    usable = np.isfinite(x).all(axis=1)
    for cell in (0, 1):
        part = x[usable & (cells == cell)]
        assert found.statistics.moments.rows[cell] == len(part)
        away = part - part.mean(axis=0)
        assert np.allclose(
            found.statistics.moments.scatter[cell], away.T @ away, rtol=1e-12, atol=1e-10
        )
    assert found.statistics.constant.sum(axis=1).tolist() == [1, 2]
    assert found.statistics.fingerprint == gather_statistics(read_table(table, "R")).fingerprint


def test_kernels_see_columns_where_they_lie():
    arrays = {
        "A": pa.array([0.0, 1.0, 2.0, 3.0]),
        "B": pa.array([1, 2, None, 4], pa.int16()),
        "C": pa.array([1.5, None, 2.5, 3.5]),
        "D": pa.array([7.0, 8.0, 9.0, 6.0], pa.float32()),
    }
    batch = pa.record_batch(arrays).slice(1, 3)
    columns = BatchColumns(batch, ["D", "C", "A", "B"])
    kept = [list((ctypes.c_double * 3).from_address(int(address))) for address in columns.addresses]
    expected = [[8.0, 9.0, 6.0], [np.nan, 2.5, 3.5], [1.0, 2.0, 3.0], [2.0, np.nan, 4.0]]
    np.testing.assert_array_equal(kept, expected)


@pytest.mark.parametrize(
    "context",
    [
        pa.array([3, -1, 3, None, 3]),
        pa.array([2**63 + 5, 7, 2**63 + 5, None, 7], pa.uint64()),
        pa.array([True, False, None, True, True]),
        pa.array(["b", None, "a", "b", "b"]),
        pa.DictionaryArray.from_arrays(
            pa.array([2, 0, None, 2, 1], pa.int8()), pa.array(["a", None, "c", "unused"])
        ),
    ],
)
def test_cells_are_the_values_that_occur(context):
    found = Accumulator(("A",), ("R",), 5)
    batch = pa.record_batch({"A": [1.0, 2.0, 3.0, 4.0, 5.0], "R": context})
    found.add(batch.slice(0, 2), 0)
    found.add(batch.slice(2, 3), 2)
    values = context.to_pylist()
    assert {cell[0] for cell in found.cells} == set(values) - {None}
    assert found.missing_context == values.count(None)
    cells = [*found.cells]
    assert [
        None if code < 0 else cells[code][0] for code in found.sample.in_order()[1].tolist()
    ] == values


@pytest.mark.parametrize("rows", [400, 1200, 3000])
def test_rows_that_are_expected_change_nothing(rows):
    values = np.random.default_rng(1).standard_normal((rows, 2))
    batch = pa.record_batch({"A": values[:, 0], "B": values[:, 1]})
    plain, told = Accumulator(("A", "B"), (), 500), Accumulator(("A", "B"), (), 500)
    told.sample.expect(rows)
    for begin in range(0, rows, 300):
        for found in (plain, told):
            found.add(batch.slice(begin, 300), begin)
    assert np.array_equal(plain.sample.in_order()[0], told.sample.in_order()[0])


def test_the_sample_is_the_same_whatever_the_parts():
    table = make_table()
    one, two = in_batches(table, [3000], "R"), in_batches(table, [17, 400], "R", parts=4)
    chosen = np.sort(np.argsort(row_hashes(np.arange(3000)))[:500])
    for found in (one, two):
        for name, column in zip(found.data.names, found.data.columns, strict=True):
            if name != "R":
                assert np.array_equal(column, table[name].to_numpy()[chosen])
        assert np.array_equal(
            np.array(found.data.levels[0])[found.data.codes], table["R"].to_numpy()[chosen]
        )
    assert not one.whole
    assert in_batches(table, [3000], "R", sample=3000).whole


def test_hashes_of_rows_are_different_and_even():
    hashes = row_hashes(np.arange(100_000))
    assert np.unique(hashes).size == hashes.size
    share = np.histogram(hashes.astype(float), bins=20, range=(0, 2.0**64))[0] / hashes.size
    assert np.abs(share - 0.05).max() < 0.005


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """One table as a Parquet file, as a folder of them, and as text."""
    table = make_table()
    folder = tmp_path / "parts"
    folder.mkdir()
    table.to_parquet(tmp_path / "table.parquet", row_group_size=700)
    for k, begin in enumerate(range(0, 3000, 1100)):
        table.iloc[begin : begin + 1100].to_parquet(folder / f"part-{k}.parquet")
    table.to_csv(tmp_path / "table.csv", index=False)
    return {
        "file": tmp_path / "table.parquet",
        "folder": folder,
        "text": tmp_path / "table.csv",
        "pattern": folder / "*.parquet",
    }


@pytest.mark.parametrize("what", ["file", "folder", "text", "pattern"])
def test_files_give_the_result_of_memory(files, what):
    seen = []
    found = cc.scan(files[what], "R", progress=lambda done, total: seen.append((done, total)))
    inside = cc.discover(make_table(), "R", **TEST)
    result = cc.discover(found, **TEST)
    assert seen[-1][0] == seen[-1][1]
    assert found.whole
    assert dict(result.graphs) == dict(inside.graphs)
    assert result.warnings == inside.warnings
    assert result.left_out == inside.left_out
    if what != "text":
        assert result.data.fingerprint == inside.data.fingerprint
        assert np.allclose(result.log.p, inside.log.p, rtol=1e-6, atol=1e-12)


def untidy_table() -> pd.DataFrame:
    """A table with a copy of the context, a sum, a thin context, text of numbers, codes and
    duplicate rows.
    """
    table = make_table().drop(columns="F")
    table = pd.concat([table, table.iloc[:300]], ignore_index=True)
    table["K"] = table["R"]
    table["T"] = table["A"] + table["D"]
    table["dose"] = [f"{value:.3f}" for value in np.random.default_rng(1).random(len(table))]
    table.loc[:4, "R"] = "thin"
    table.loc[9:13, "B"] = -9999.0
    return table


def test_an_untidy_table_is_screened_as_in_memory():
    table = untidy_table()
    inside = cc.discover(table, "R", **TEST)
    assert [left.column for left in inside.left_out] == ["K", "T"]
    assert inside.thin is not None
    for words in ("cells of -9999", "earlier row"):
        assert any(words in warning for warning in inside.warnings)
    assert cc.discover(cc.scan(iter([table]), "R"), **TEST) == inside


def test_of_a_larger_table_the_sample_shows_functions_of_other_columns():
    table = make_table(2000).drop(columns="F").assign(T=lambda table: table["A"] + table["D"])
    found = cc.scan(iter([table]), "R", sample=1000)
    result = cc.discover(found, **TEST)
    assert [left.column for left in result.left_out] == ["T"]
    inside = cc.discover(table.drop(columns="T"), "R", **TEST)
    assert dict(result.graphs) == dict(inside.graphs)
    assert np.allclose(result.log.p, inside.log.p, rtol=1e-6, atol=1e-12)
    assert "T" in cc.discover(found, keep=["T", "A", "D"], **TEST).names


@pytest.mark.slow
@pytest.mark.parametrize("what", ["file", "text"])
def test_a_file_is_searched_without_pandas(files, what):
    code = f"""import sys, causalcontext as cc
table = cc.scan({str(files[what])!r}, "R", sample=1000)
print(len(cc.discover(table, method="pc-ac", test="partial-correlation").graphs), "pandas" in sys.modules)"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["2", "False"]


def test_a_list_of_files_in_any_order(files):
    paths = sorted(files["folder"].iterdir())
    folder = cc.scan(files["folder"], "R", sample=500)
    for given in (paths, paths[::-1], (str(paths[1]), paths[2], paths[0])):
        found = cc.scan(given, "R", sample=500)
        assert found.statistics.fingerprint == folder.statistics.fingerprint
        assert all(
            np.array_equal(a, b)
            for a, b in zip(found.data.columns, folder.data.columns, strict=True)
        )
    assert dict(cc.discover(paths, "R", **TEST).graphs) == dict(
        cc.discover(make_table(), "R", **TEST).graphs
    )
    for given, words in (
        ([*paths, paths[0]], "listed twice"),
        ([paths[0], files["text"]], "the endings"),
        ([paths[0], "none.parquet"], "no file"),
        ([], "of type list"),
    ):
        with pytest.raises(cc.CausalContextError, match=words):
            cc.scan(given, "R")


def test_a_page_that_does_not_have_its_checksum_is_refused(tmp_path):
    path = tmp_path / "table.parquet"
    table = pa.Table.from_pandas(make_table(), preserve_index=False)
    pq.write_table(table, path, write_page_checksum=True, compression="none")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(cc.FileError, match="page integrity"):
        cc.scan(path, "R")


def test_text_in_another_encoding_is_named(tmp_path):
    rows = ["A,B,R", "1,2,tr\xe8s", "2,3,peu", "4,5,peu", "6,1,peu"]
    (tmp_path / "latin.csv").write_text("\n".join(rows), encoding="latin-1")
    (tmp_path / "header.csv").write_text("\n".join(["\xe8,B,R", *rows[1:]]), encoding="latin-1")
    for name in ("latin.csv", "header.csv"):
        for read in (cc.scan, cc.discover):
            with pytest.raises(cc.CausalContextError, match=r"in UTF-8.*encoding=\"latin-1\""):
                read(tmp_path / name, "R")
    chunks = pd.read_csv(tmp_path / "latin.csv", encoding="latin-1", chunksize=2)
    assert cc.scan(chunks, "R").data.values == ("peu", "tr\xe8s")


def test_advice_about_missing_values_is_what_a_scan_takes(files):
    table = make_table()
    table.loc[3, "A"] = np.nan
    with pytest.raises(cc.DataError, match="listwise") as refused:
        cc.discover(cc.scan(bad(table), "R"))
    assert "testwise" not in str(refused.value)
    assert sum(cc.discover(cc.scan(bad(table), "R"), missing="listwise", **TEST).data.rows) == 2999


def test_a_sampled_result_says_what_rests_on_what(files, tmp_path):
    result = cc.discover(cc.scan(files["file"], "R", sample=1000), "R", method="pc-ac", alpha=0.01)
    assert result.rows is None
    assert "use all 3,000 rows" in result.notes[-1]
    assert "sample of 1,000 rows" in str(result)
    log = result.tests()
    assert set(log.query("x != 'R' and y != 'R' and rows == 'pooled'")["n"]) == {3000}
    assert set(log.query("x == 'R' or y == 'R'")["n"]) == {1000}
    result.save(tmp_path / "result.json")
    assert cc.load(tmp_path / "result.json").notes == result.notes


@pytest.mark.parametrize("method", ["score-ac", "auto"])
def test_a_score_rests_on_the_sample(files, method):
    table = make_table()
    found = cc.scan(files["file"], "R", sample=800, columns=["A", "B", "C", "R"])
    kept = np.sort(np.argsort(row_hashes(np.arange(3000)))[:800])
    inside = cc.discover(table[["A", "B", "R", "C"]].iloc[kept], "R", method=method)
    result = cc.discover(found, method=method)
    assert dict(result.graphs) == dict(inside.graphs)
    assert result.settings.method == "score-ac"
    assert "rest on a random sample of 800 rows" in result.notes[-1]
    assert sum(result.data.rows) == 3000
    assert not result.mechanisms().empty


def test_the_sample_warns_of_what_all_rows_would(tmp_path):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((6000, 3))
    x[:, 1] += x[:, 0] ** 2
    table = pd.DataFrame(x, columns=list("ABC")).assign(R=np.where(x[:, 2] > 0.3, "high", "low"))
    inside = cc.discover(table, "R", **TEST)
    result = cc.discover(cc.scan(bad(table), "R", sample=2000), **TEST)
    assert [violation.kind for violation in violations_of(result)] == [
        violation.kind for violation in violations_of(inside)
    ]
    assert violations_of(result)
    assert "R is a function of C in every row of the sample" in str(result)
    assert "without exception" in str(inside)
    result.save(tmp_path / "result.json")
    assert violations_of(cc.load(tmp_path / "result.json")) == violations_of(result)
    assert "read in batches" in str(result.diagnose())
    assert "loaded" not in str(result.diagnose())


def test_rows_of_a_sample_do_not_follow_each_other():
    rng = np.random.default_rng(6)
    drift = np.cumsum(rng.standard_normal((3000, 3)), axis=0)
    table = pd.DataFrame(drift + rng.standard_normal((3000, 3)), columns=list("ABC"))
    table["R"] = np.arange(3000) // 100 % 2
    assert any(
        violation.kind == ROWS for violation in violations_of(cc.discover(table, "R", **TEST))
    )
    found = cc.discover(cc.scan(bad(table), "R", sample=1500), **TEST)
    assert not any(violation.kind == ROWS for violation in violations_of(found))


def test_the_power_of_a_score_is_that_of_the_sample(files):
    result = cc.discover(
        cc.scan(files["file"], "R", sample=800, columns=["A", "B", "C", "R"]), method="score-ac"
    )
    counts = np.bincount(result.scanned.data.codes).tolist()
    assert f"contexts have from {min(counts)} rows" in str(result.diagnose())


def test_a_score_of_a_rare_context_is_refused():
    table = make_table(3000)
    table["R"] = np.where(np.arange(3000) < 12, "rare", "usual")
    with pytest.raises(cc.DataError, match="larger sample="):
        cc.discover(cc.scan(bad(table), "R", sample=300), method="score-ac")


def test_lazy_tables_and_readers():
    polars = pytest.importorskip("polars")
    table = make_table()
    inside = cc.discover(table, "R", **TEST)
    for source in (
        polars.from_pandas(table).lazy(),
        pa.Table.from_pandas(table, preserve_index=False).to_reader(500),
    ):
        result = cc.discover(source, "R", **TEST)
        assert dict(result.graphs) == dict(inside.graphs)
        assert result.data.fingerprint == inside.data.fingerprint


def test_a_relation_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    table = make_table()
    with duckdb.connect() as connection:
        result = cc.discover(connection.from_df(table), "R", **TEST)
        some = cc.scan(connection.from_df(table).filter("A > 1000"), "R")
    inside = cc.discover(table, "R", **TEST)
    assert dict(result.graphs) == dict(inside.graphs)
    assert result.data.fingerprint == inside.data.fingerprint
    assert some.rows == int((table["A"] > 1000).sum())


def test_a_lazy_table_with_text_is_collected():
    polars = pytest.importorskip("polars")
    table = make_table(300).assign(T=np.tile(["a", "b", "c"], 100))
    assert (
        "T" in cc.discover(polars.from_pandas(table).lazy(), "R", method="pc-ac", max_given=0).names
    )


def test_a_large_file_is_read_in_batches(files, monkeypatch):
    monkeypatch.setattr(streams, "LARGE_FILE", 1)
    assert dict(cc.discover(files["file"], "R", **TEST).graphs) == dict(
        cc.discover(make_table(), "R", **TEST).graphs
    )
    with pytest.raises(cc.CausalContextError, match="listwise"):
        cc.discover(files["file"], "R", missing="testwise")


def test_discover_keeps_as_many_rows_as_it_is_asked_for(files):
    result = cc.discover(files["folder"], "R", sample=700, method="pc-ac", alpha=0.01)
    assert "random sample of 700 rows" in result.notes[-1]
    twin = cc.discover(
        cc.scan(files["folder"], "R", sample=700), sample=700, method="pc-ac", alpha=0.01
    )
    assert result == twin
    assert (
        cc.discover(cc.scan(files["folder"], "R", sample=5000), sample=5000, **TEST).rows
        is not None
    )
    with pytest.raises(cc.OptionError, match="700 rows were kept"):
        cc.discover(cc.scan(files["folder"], "R", sample=700), sample=800)
    with pytest.raises(cc.OptionError, match="sample is 0"):
        cc.discover(files["folder"], "R", sample=0)


def test_the_command_line_reads_large_files(files, monkeypatch, tmp_path):
    from typer.testing import CliRunner

    monkeypatch.setattr(streams, "LARGE_FILE", 1)
    words = [
        "discover",
        str(files["file"]),
        "--context",
        "R",
        "--method",
        "pc-ac",
        "--test",
        "partial-correlation",
        "--json",
        str(tmp_path / "out.json"),
        "--sample",
        "900",
    ]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, answer.output
    assert "random sample of 900 rows" in answer.stdout
    assert "table.parquet is read once, in batches" in answer.stderr
    assert sum(cc.load(tmp_path / "out.json").data.rows) == 3000


def bad(table):
    return pa.Table.from_pandas(table, preserve_index=False).to_reader()


@pytest.mark.parametrize(
    ("change", "context", "words"),
    [
        ({"T": pd.Timestamp("2020-01-01")}, "R", "holds timestamp.*pass time='T' with lags"),
        ({"T": [[1]] * 3000}, "R", "neither continuous nor categorical"),
        ({"R": 1.5}, "R", "is continuous"),
        ({"R": "dry"}, "R", "1 level"),
        ({}, "Q", "no context column 'Q'"),
        ({"R": [str(k) for k in range(3000)]}, "R", "identifier"),
    ],
)
def test_what_cannot_be_scanned_is_refused_in_one_sentence(change, context, words):
    with pytest.raises(cc.CausalContextError, match=words):
        cc.scan(bad(make_table().assign(**change)), context)


def test_a_context_is_not_continuous_by_declaration():
    with pytest.raises(cc.DataError, match="is declared continuous; a context is categorical"):
        cc.scan(bad(make_table()), "R", kinds={"R": "continuous"})


def test_some_columns_are_enough():
    table = make_table().assign(T="text")
    found = cc.scan(bad(table), "R", columns=["A", "B", "R"])
    assert found.data.names == ("A", "B", "R")
    assert (
        found.statistics.fingerprint
        == gather_statistics(read_table(table[["A", "B", "R"]], "R")).fingerprint
    )
    with pytest.raises(cc.DataError, match="no column 'Q'"):
        cc.scan(bad(table), "R", columns=["A", "B", "R", "Q"])


def test_refused_files_and_options(files, tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nonsense")
    pq.write_table(pa.table({"A": [1.0]}), files["folder"] / "zz.parquet")
    for source, words in (
        (tmp_path / "none.parquet", "no file"),
        (tmp_path / "broken.parquet", "cannot read"),
        (files["folder"], "has no column"),
        (3, "is of type int"),
    ):
        with pytest.raises(cc.CausalContextError, match=words):
            cc.scan(source, "R")
    with pytest.raises(cc.OptionError, match="sample is 0"):
        cc.scan(files["file"], "R", sample=0)
    with pytest.raises(cc.OptionError, match="scanned with"):
        cc.discover(cc.scan(files["file"], "R"), "E")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"A": "text"}, "column 'A' holds double in the first file and"),
        ({"A": pd.Timestamp("2020-01-01")}, "and timestamp"),
        ({"R": 1}, "column 'R' holds"),
    ],
)
def test_files_of_other_types_are_refused(files, change, words):
    make_table(50).assign(**change).to_parquet(files["folder"] / "zz.parquet")
    with pytest.raises(cc.FileError, match=words):
        cc.scan(files["folder"], "R")


def test_later_files_may_hold_whole_numbers_nothing_and_new_levels(files):
    table = make_table(50).assign(A=3, B=None, R="late")
    table.to_parquet(files["folder"] / "zz.parquet")
    found = cc.scan(files["folder"], "R")
    assert found.data.values == ("dry", "late", "wet")
    assert found.statistics.missing.sum() == found.statistics.lost[1] == 50
    table.assign(B=1.0, R=None).to_parquet(files["folder"] / "zz.parquet")
    assert cc.scan(files["folder"], "R").statistics.missing_context == 50


def test_text_whose_first_rows_are_whole_numbers_or_empty(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "_TEXT_BLOCK", 1000)
    rows = [f"{k},,{k % 2}" for k in range(500)] + ["0.5,1.5,1"]
    (tmp_path / "late.csv").write_text("\n".join(["A,B,R", *rows]))
    found = cc.scan(tmp_path / "late.csv", "R")
    assert found.data.values == (0, 1)
    assert found.statistics.missing.sum() == 500
    assert found.statistics.moments.mean.tolist() == [[0.0, 0.0], [0.5, 1.5]]


def test_an_iterator_of_tables():
    table = make_table()
    found = cc.scan((table.iloc[k : k + 700] for k in range(0, 3000, 700)), "R", sample=500)
    assert found.statistics.fingerprint == gather_statistics(read_table(table, "R")).fingerprint
    result = cc.discover((table.iloc[k : k + 700] for k in range(0, 3000, 700)), "R", **TEST)
    assert dict(result.graphs) == dict(cc.discover(table, "R", **TEST).graphs)
    for source, words in ((iter([]), "no tables left"), (iter([3]), "holds a int")):
        with pytest.raises(cc.DataError, match=words):
            cc.scan(source, "R")


def test_what_others_raise_while_they_make_a_table():
    def gone():
        yield make_table(300)
        raise RuntimeError("the network is gone\nand more")

    with pytest.raises(
        cc.DataError, match=r"a generator cannot be read \(RuntimeError: the network is gone\)"
    ) as said:
        cc.scan(gone(), "R")
    assert isinstance(said.value.__cause__, RuntimeError)
    polars = pytest.importorskip("polars")
    lazy = polars.from_pandas(make_table(300)).lazy()
    for read in (cc.scan, cc.discover):
        with pytest.raises(cc.DataError, match=r"a LazyFrame cannot be read .ColumnNotFoundError"):
            read(lazy.with_columns(Z=polars.col("Q")), "R")


def test_data_sets_and_scanners_of_pyarrow(files):
    from pyarrow.dataset import dataset

    table = make_table()
    whole = dataset(files["folder"])
    for source in (whole, whole.scanner(batch_size=200)):
        found = cc.scan(source, "R", sample=np.int64(500))
        assert found.statistics.fingerprint == gather_statistics(read_table(table, "R")).fingerprint
    assert dict(cc.discover(whole, "R", **TEST).graphs) == dict(
        cc.discover(table, "R", **TEST).graphs
    )


def test_ctrl_c_ends_a_scan(files):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cc.scan(files["file"], "R", progress=stop)


@pytest.mark.slow
def test_tables_of_dask_that_cannot_be_added_up():
    dataframe = pytest.importorskip("dask.dataframe")
    table = make_table(300)
    parted = dataframe.from_pandas(table, npartitions=2, sort=False)

    def own_error(part):
        raise ZeroDivisionError("of their own")

    meta = table.head(0)
    refused = [
        (parted.map_partitions(own_error, meta=meta), "ZeroDivisionError: of their own"),
        (
            parted.map_partitions(lambda part: part.assign(A="x"), meta=meta),
            "Dask could not add up the table",
        ),
        (
            parted.map_partitions(lambda part: part.drop(columns="A"), meta=meta),
            "look at its partitions",
        ),
        (parted["A"], "of type Series"),
        (parted[["A", "B"]].to_dask_array(), "of type Array"),
        (parted[parted["A"] > 1e9], "no rows"),
    ]
    for source, words in refused:
        with pytest.raises(cc.DataError, match=words):
            cc.scan(source, "R")
    numbered = dataframe.from_pandas(table.rename(columns={"A": 0}), npartitions=2, sort=False)
    assert cc.scan(numbered, "R").data.names == ("0", "B", "R", "C", "D", "E", "F")


@pytest.mark.parametrize("partitions", [1, 4])
def test_dask_gives_the_same(partitions):
    pytest.importorskip("dask")
    dataframe = pytest.importorskip("dask.dataframe")
    table = make_table()
    found = cc.scan(
        dataframe.from_pandas(table, npartitions=partitions, sort=False), "R", sample=500
    )
    one = in_batches(table, [3000], "R")
    assert (
        found.statistics.fingerprint
        == one.statistics.fingerprint
        == gather_statistics(read_table(table, "R")).fingerprint
    )
    assert np.array_equal(found.data.codes, one.data.codes)
    assert dict(cc.discover(found, **TEST).graphs) == dict(cc.discover(table, "R", **TEST).graphs)


@pytest.mark.parametrize(
    "options",
    [
        {"context": cc.threshold("A", 0.0)},
        {"context": ["R", cc.bins("A", quantiles=3)]},
        {"context": "R", "transform": "ranks", "method": "pc-ac"},
    ],
)
def test_what_moments_do_not_know_is_searched_on_the_sample(options):
    """A context made out of a column, and ranks: the search is that of the sampled rows as a table
    of their own.
    """
    random = np.random.default_rng(5)
    a, b = random.normal(size=(2, 900))
    table = pd.DataFrame({"A": a, "B": a + b, "R": np.where(b > 0, "x", "y")})
    measured = "R" if "R" in str(options["context"]) else None
    table = table if measured else table.drop(columns="R")
    found = cc.scan(iter([table.iloc[:500], table.iloc[500:]]), measured, sample=400)
    result = cc.discover(found, **options)
    kept = pd.DataFrame(dict(zip(found.data.names, found.data.columns, strict=True)))
    if measured:
        kept["R"] = np.array(found.data.levels[0])[found.data.columns[2]]
    alone = cc.discover(kept, **options)
    assert result.graphs == alone.graphs
    assert sum(result.data.rows) == 400
    assert "everything rests on a random sample of 400 rows of its 900" in result.notes[-1]
    assert result.stability(samples=2) is not None
    with pytest.raises(cc.OptionError, match="scan it again"):
        cc.discover(found, cc.threshold("A", 0.0) if measured else ["R", cc.threshold("A", 0.0)])


def leveled_table():
    random = np.random.default_rng(6)
    a = random.normal(size=900)
    level = np.digitize(a + random.normal(size=900), [-0.7, 0.7])
    graded = pd.Categorical.from_codes(level, ["low", "mid", "high"], ordered=True)
    return pd.DataFrame(
        {
            "A": a,
            "C": np.array(["x", "y", "z"])[level],
            "G": graded,
            "T": a > 0.5,
            "R": np.where(random.random(900) < 0.5, "dry", "wet"),
        }
    )


@pytest.mark.parametrize("sizes", [(900,), (500, 400), (7, 300, 593)])
def test_of_columns_with_levels_the_sample_is_kept(sizes):
    """The rows whose numbers have the smallest hashes, read as a table in memory, however the table
    is cut.
    """
    table, ends = leveled_table(), np.cumsum(sizes)
    found = cc.scan(
        iter([table.iloc[end - size : end] for end, size in zip(ends, sizes, strict=True)]),
        "R",
        sample=400,
    )
    rows = np.sort(np.argsort(row_hashes(np.arange(900)))[:400])
    kept = read_table(table.iloc[rows], "R")
    assert found.data.kinds == kept.kinds
    assert found.data.categories == kept.categories
    assert found.data.levels == kept.levels
    for mine, theirs in zip(found.data.columns, kept.columns, strict=True):
        assert np.array_equal(mine, theirs)
    result = cc.discover(found, method="pc-ac")
    tests = result.tests()
    assert set(
        tests.loc[tests["x"].isin(["C", "G", "T"]) | tests["y"].isin(["C", "G", "T"]), "n"]
    ) <= {
        400,
        *np.bincount(kept.codes),
    }
    assert "partial-correlation and fisher-z of numbers" in result.notes[-1]
    assert "use a random sample of 400 rows" in result.notes[-1]


def test_columns_may_be_declared_to_have_levels(tmp_path):
    table = leveled_table().assign(N=lambda rows: rows["C"].map({"x": 1, "y": 2, "z": 3}))
    table.to_parquet(tmp_path / "table.parquet")
    found = cc.scan(
        tmp_path / "table.parquet",
        "R",
        columns=["A", "N", "R"],
        kinds={"N": "categorical"},
        sample=300,
    )
    assert found.data.categories == {2: (1, 2, 3)}
    with pytest.raises(cc.DataError, match="no column 'Q'"):
        cc.scan(tmp_path / "table.parquet", "R", columns=["A", "C", "R", "Q"])
