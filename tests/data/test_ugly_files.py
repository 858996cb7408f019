"""Files that a stranger may have, read in batches: a result, or one sentence that says what was
found.
"""

import gzip
import os
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import causalcontext as cc
from causalcontext.data import checks
from causalcontext.data.accumulate import Accumulator
from causalcontext.data.table_files import wide_encoding

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

ROWS = ["A,B,R", "1,2,dry", "2,3.5,wet", "4,5,wet", "6,1,dry", "0,1,dry"]
TEXT = "\n".join(ROWS) + "\n"
FULL = "".join(f"{k % 7}.5,{k % 11},{'dry' if k % 3 else 'wet'}\n" for k in range(200_000))
"""More rows than are looked at to tell what a column holds."""


def refused(tmp_path: Path, content: bytes, name: str = "table.csv") -> str:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(cc.CausalContextError) as error:
        cc.scan(tmp_path / name, "R")
    return str(error.value)


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_text_in_a_wide_encoding_is_named(tmp_path, encoding, ending):
    content = TEXT.encode(encoding)
    words = refused(
        tmp_path, gzip.compress(content) if ending == "csv.gz" else content, f"table.{ending}"
    )
    assert f"is text in {encoding.upper()}, expected UTF-8" in words
    assert f'encoding="{encoding}"' in words
    with pytest.raises(cc.FileError, match=r"is text in UTF-"):  # and so it is by the other door
        cc.discover(tmp_path / f"table.{ending}", "R")
    chunks = pd.read_csv(tmp_path / f"table.{ending}", encoding=encoding, chunksize=2)
    assert cc.scan(chunks, "R").rows == 5


@pytest.mark.parametrize("text", ["A", "A,B", "\ufeffA,B", "é,ü", "日本,本", "\0\0", "A\0B\0C\0"])
def test_other_text_has_no_wide_encoding(text):
    content = text.encode()
    assert wide_encoding(content) == ("UTF-16-LE" if text.startswith("A\0") else None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"A,B,R\n", "has no rows"),
        (
            TEXT.replace(".", ",").replace(",", ";").encode(),
            "has 4 fields in row 3, expected 3 as in the header",
        ),
        (
            (",A,B,R\n" + "".join(f"{k},{row}\n" for k, row in enumerate(ROWS[1:]))).encode(),
            "no name for column 1",
        ),
        (TEXT.replace("A,B", "A,A").encode(), "several columns called 'A'"),
        (TEXT.encode() + b"1,2\n", "has 2 fields in row 7, expected 3 as in the header"),
        (
            ("A,B,R\n" + FULL + "oops,1,dry\n").encode(),
            "has 'oops' in row 200002 of column 'A', expected a number",
        ),
        (
            ("A,B,R\n" + FULL + "1,2,tr\xe8s\n").encode("latin-1"),
            "bytes in row 200002 of column 'R' that are not UTF-8",
        ),
        (
            ("A,B,R\n" + FULL.replace("dry", "0").replace("wet", "1") + "1,2,x\n").encode(),
            "dtype={'R': str}",
        ),
        (b"PAR1 and so on", "holds a Parquet file"),
    ],
)
def test_text_that_is_no_table_is_refused_in_words_of_ours(tmp_path, content, words):
    said = refused(tmp_path, content)
    assert words in said
    assert "CSV" not in said


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("\n", "\r"),
        TEXT.replace("dry", '"very\ndry"'),
        TEXT.replace("A,", '"A\nb",'),
    ],
)
def test_marks_and_line_ends_do_not_matter(tmp_path, text):
    (tmp_path / "table.csv").write_bytes(text.encode())
    found = cc.scan(tmp_path / "table.csv", "R")
    assert (found.rows, len(found.data.names)) == (5, 3)
    assert found.statistics.moments.merged().mean.tolist() == [[2.6, 2.5]]


def make_table(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.standard_normal((rows, 3)), columns=list("ABC")).round(3)
    return table.assign(R=np.where(rng.random(rows) < 0.5, "dry", "wet"))


def test_decimals_are_the_numbers_that_they_say(tmp_path):
    table = make_table()
    exact = table.assign(
        C=[None if k == 7 else Decimal(f"{value:.3f}") for k, value in enumerate(table["C"])]
    )
    pq.write_table(pa.Table.from_pandas(exact), tmp_path / "exact.parquet")
    table.loc[7, "C"] = np.nan
    twin = cc.scan(pa.Table.from_pandas(table), "R")
    found = cc.scan(tmp_path / "exact.parquet", "R")
    assert found.statistics.fingerprint == twin.statistics.fingerprint
    assert np.array_equal(found.statistics.moments.scatter, twin.statistics.moments.scatter)
    folder = tmp_path / "both"
    folder.mkdir()
    table.to_parquet(folder / "a.parquet")
    pq.write_table(pa.Table.from_pandas(exact), folder / "b.parquet")
    assert cc.scan(folder, "R").rows == 600


def test_other_files_names_and_orders(tmp_path):
    folder = tmp_path / "ein Ordner é日本"
    folder.mkdir()
    parts = [make_table(seed=k).rename(columns={"A": "Größe"}) for k in range(2)]
    parts[0].to_parquet(folder / "a b.parquet")
    parts[1][["R", "C", "B", "Größe"]].to_parquet(folder / "c[1].parquet")
    for name in ("_SUCCESS", ".part.parquet.crc", ".hidden.parquet", "README.md"):
        (folder / name).write_text("no table")
    found = cc.scan(folder, "R")
    assert (
        found.statistics.fingerprint
        == cc.scan(pa.Table.from_pandas(pd.concat(parts)), "R").statistics.fingerprint
    )


def test_paths_that_nothing_can_be_read_from(tmp_path):
    for path in ("", "x" * 300 + ".parquet"):
        for read in (cc.scan, cc.discover):
            with pytest.raises(cc.FileError, match=r"the file is ''|File name too long"):
                read(path, "R")
    with pytest.raises(cc.FileError, match="File name too long"):
        cc.scan(["x" * 300 + ".parquet"], "R")
    table = tmp_path / "table.parquet"
    make_table(3000).to_parquet(table)
    content = table.read_bytes()
    for damaged in (
        b"",
        content[: len(content) // 2],
        content[:999] + content[1999:],
        content[:999] + bytes(999),
    ):
        table.write_bytes(damaged)
        with pytest.raises(cc.FileError, match=r"cannot read .*table\.parquet"):
            cc.scan(table, "R")


def test_a_folder_that_cannot_be_looked_into_is_no_empty_one(tmp_path, monkeypatch):
    make_table().to_parquet(tmp_path / "a.parquet")
    (tmp_path / "locked").mkdir()
    look = os.scandir

    def locked(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return look(path)

    monkeypatch.setattr(os, "scandir", locked)
    with pytest.raises(cc.FileError, match="locked: Permission denied"):
        cc.scan(tmp_path, "R")


def test_cross_products_that_do_not_fit_are_refused_early(monkeypatch):
    table = make_table().assign(R=np.arange(300) % 20)
    monkeypatch.setattr(checks, "LARGEST_SCATTERS", 17)
    monkeypatch.setattr(Accumulator, "add", None)  # no row is looked at
    with pytest.raises(cc.DataError, match="cross products of 3 variables in 2 contexts need"):
        cc.scan(pa.Table.from_pandas(table), "R")
    monkeypatch.undo()
    monkeypatch.setattr(checks, "LARGEST_SCATTERS", 90)
    with pytest.raises(cc.DataError, match="cross products of 3 variables in 20 contexts need"):
        cc.scan(pa.Table.from_pandas(table), "R")


def test_a_quote_that_does_not_end_is_shown_in_part(tmp_path):
    words = refused(tmp_path, ('A,B,R\n1,2,"x\n' + "1,2,y\n" * 900).encode())
    assert "1 level" in words
    assert len(words) < 300


def test_a_context_without_a_value_at_first(tmp_path):
    words = refused(
        tmp_path, ("A,B,R\n" + "".join(f"{k % 7}.5,{k % 3},\n" for k in range(50))).encode()
    )
    assert "context 'R' has no value" in words


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_columns_in_the_names_of_folders(tmp_path, ending):
    table = make_table(400).assign(year=np.repeat([2019, 2021], 200))
    for (context, year), part in table.groupby(["R", "year"]):
        folder = tmp_path / "all" / f"R=very%20{context}" / f"year={year}"
        folder.mkdir(parents=True)
        part = part.drop(columns=["R", "year"])
        if ending == "parquet":
            part.to_parquet(folder / "part.parquet", index=False)
        else:
            part.to_csv(folder / "part.csv", index=False)
    twin = table.assign(R="very " + table["R"]).sort_values(["R", "year"], kind="stable")
    for source in (tmp_path / "all", tmp_path / "all" / "*" / "*" / f"*.{ending}"):
        found = cc.scan(source, ["R", "year"])
        assert (
            found.statistics.fingerprint
            == cc.scan(pa.Table.from_pandas(twin), ["R", "year"]).statistics.fingerprint
        )
    assert cc.scan(tmp_path / "all", "R").data.values == ("very dry", "very wet")
    one = tmp_path / "all" / "R=very%20dry" / "year=2019" / f"part.{ending}"
    assert cc.scan(one).data.names == ("A", "B", "C")  # the path to a file says nothing
    missing = tmp_path / "all" / "R=__HIVE_DEFAULT_PARTITION__" / "year=2019"
    missing.mkdir(parents=True)
    (missing / one.name).write_bytes(one.read_bytes())
    assert cc.scan(tmp_path / "all", "R").statistics.missing_context > 0
    (tmp_path / "all" / "S=1").mkdir()
    (tmp_path / "all" / "S=1" / one.name).write_bytes(one.read_bytes())
    with pytest.raises(cc.FileError, match="name other columns"):
        cc.scan(tmp_path / "all", "R")


def test_batches_know_the_same_missing_values_as_memory(tmp_path):
    rows = (
        ["A,B,R"]
        + [f"{k % 7}.5,{k % 3},{'dry' if k % 2 else 'NA'}" for k in range(40)]
        + ["None,1,", "<NA>,2,dry"]
    )
    (tmp_path / "table.csv").write_text("\n".join(rows))
    found, inside = cc.scan(tmp_path / "table.csv", "R"), cc.read_file(tmp_path / "table.csv")
    assert found.data.values == ("NA", "dry")
    assert found.statistics.missing_context == inside["R"].isna().sum() == 1
    assert found.statistics.missing.sum() == 1  # of the row that has a context
    assert inside["A"].isna().sum() == 2


def test_a_column_of_a_file_goes_before_that_of_its_folder(tmp_path):
    for year in (2019, 2021):
        (tmp_path / f"year={year}").mkdir()
        make_table(300, year).assign(year=str(year)).to_parquet(
            tmp_path / f"year={year}" / "part.parquet"
        )
    assert cc.scan(tmp_path, "year", columns=["A", "B", "year"]).data.values == ("2019", "2021")
