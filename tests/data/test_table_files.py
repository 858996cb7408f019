"""Files: tables that are read as they are, files that are written whole or not at all."""

from __future__ import annotations

import gzip
import os
import pickle
import stat
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import causalcontext as cc
from causalcontext.data.files import check_writable, write_whole
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.table_files import read_file
from causalcontext.data.tables import read_table
from causalcontext.errors import FileError


@pytest.fixture
def frame() -> pd.DataFrame:
    """A table whose numbers are exact in a few decimals, since older parsers round the last bit of
    others.
    """
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(-200, 200, size=(30, 2)) / 64, columns=["x", "température"])
    return table.assign(n=range(30), R=np.resize(["dry", "wet"], 30))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "T.CSV", "t.tsv", "t.tsv.gz", "t.parquet"])
def test_a_table_survives_the_file(frame: pd.DataFrame, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    pd.testing.assert_frame_equal(read_file(path), frame)
    statistics = gather_statistics(read_table(read_file(str(path)), "R"))
    assert statistics.fingerprint == gather_statistics(read_table(frame, "R")).fingerprint


def test_a_named_index_in_parquet_is_a_column(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.set_index("R").to_parquet(tmp_path / "t.parquet")
    assert list(read_file(tmp_path / "t.parquet").columns) == ["R", "x", "température", "n"]
    frame.iloc[3:9].to_parquet(tmp_path / "t.parquet")
    assert list(read_file(tmp_path / "t.parquet").columns) == list(frame.columns)


def test_byte_order_marks_blank_lines_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes('\ufeffx,"the, R"\r\n\r\n1,"a\nb"\r\n2,\r\n'.encode())
    table = read_file(path)
    assert list(table.columns) == ["x", "the, R"]
    assert table["x"].tolist() == [1, 2]
    assert table["the, R"].isna().tolist() == [False, True]


TEXTS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b"\n\n", "is empty"),
    "duplicate names": (b"a,b,a\n1,2,3\n", "several columns called 'a'"),
    "unnamed column": (b"a,,b\n0,1,2\n", r"no name for column 2 \(an index\?\)"),
    "row too long": (b"a,b\n1,2\n3,4,5\n", "3 fields in row 3, expected 2"),
    "first row too long": (b"a,b\n1,2,3\n3,4\n", "3 fields in row 2, expected 2"),
    "all rows too long": (b"a,b\n1,2,3\n3,4,5\n", "3 fields in row 2, expected 2"),
    "row too short": (b"a,b\n1,2\n3\n5,6\n", "1 fields in row 3, expected 2"),
    "last row cut off": (b"a,b,c\n1,2,3\n3,4", "2 fields in row 3, expected 3"),
    "semicolons": (b"a;b\n1,2\n", "separated by ';'"),
    "latin-1": ("a,b\n1,é\n".encode("latin-1"), "not a text file in UTF-8"),
    "latin-1 header": ("é,b\n1,2\n".encode("latin-1"), "not a text file in UTF-8"),
    "binary": (b"\x00\x01\x02\xff\xfe", "is not a t"),
    "open quote": (b'a,b\n1,"2\n3,4\n', "t.csv"),
}


@pytest.mark.parametrize(("content", "message"), TEXTS.values(), ids=TEXTS)
def test_bad_text_files_get_one_clear_sentence(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(FileError, match=message) as caught:
        read_file(path)
    assert "\n" not in str(caught.value)


def test_a_header_without_rows_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    assert read_file(path).shape == (0, 2)


def test_bad_gzip_files(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(FileError, match="not a text file"):
        read_file(path)
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10000)[:-20])
    with pytest.raises(FileError, match="not a text file"):
        read_file(path)


def test_columns_between_bars_and_columns_between_spaces(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a|b|R\n1|2|x\n3|4|y\n")
    assert list(read_file(path).columns) == ["a", "b", "R"]
    path.write_text("a b R\n1 2 x\n3 4 y\n")
    with pytest.raises(cc.DataError, match="its only column is 'a b R': save it with commas"):
        cc.discover(path, "R")


def test_missing_files_folders_and_other_endings(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no file .*absent\.csv"):
        read_file(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileError, match=r"folder.csv is a folder"):
        read_file(tmp_path / "folder.csv")
    (tmp_path / "t.xlsx").write_bytes(b"")
    with pytest.raises(FileError, match=r"one of .csv, .*.parquet; save the sheet as CSV"):
        read_file(tmp_path / "t.xlsx")
    with pytest.raises(FileError, match="there is no file"):
        read_file("nul\0byte.csv")
    with pytest.raises(FileError, match=r"cannot read .*: File name too long"):
        read_file("a" * 300 + ".csv")


def test_pickles_are_not_read(tmp_path: Path, frame: pd.DataFrame) -> None:
    for name, message in (
        ("t.pkl", "must end"),
        ("t.csv", "UTF-8"),
        ("t.parquet", "not a Parquet file"),
    ):
        (tmp_path / name).write_bytes(pickle.dumps(frame))
        with pytest.raises(FileError, match=message):
            read_file(tmp_path / name)


def test_bad_parquet_files(tmp_path: Path, frame: pd.DataFrame) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"")
    with pytest.raises(FileError, match="not a Parquet file"):
        read_file(path)
    frame.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FileError, match=r"t\.parquet"):
        read_file(path)
    pa.parquet.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    with pytest.raises(FileError, match="several columns called 'a'"):
        read_file(path)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FileError, match=r"needs pyarrow: pip install 'causalcontext\[parquet\]'"):
        read_file(tmp_path / "t.parquet")


def test_files_are_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_whole(path, "première")
    assert path.read_bytes() == "première".encode()
    path.chmod(0o640)
    write_whole(str(path), "second")
    assert path.read_text() == "second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["r.json"]


def test_new_files_have_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    write_whole(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "r.json")
    write_whole(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "r.json").read_text() == "text"


def test_devices_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_text_that_utf8_cannot_hold_is_escaped(tmp_path: Path) -> None:
    write_whole(tmp_path / "r", "a\udc80b")
    assert (tmp_path / "r").read_text() == "a\\udc80b"


@pytest.mark.parametrize("call", [check_writable, lambda path: write_whole(path, "text")])
def test_places_that_cannot_be_written(tmp_path: Path, call: object) -> None:
    assert callable(call)
    (tmp_path / "file").write_text("")
    for path, message in (
        (tmp_path / "absent" / "r.json", "there is no folder .*absent"),
        (tmp_path / "file" / "r.json", "there is no folder .*file|Not a directory"),
        (tmp_path, "it is a folder"),
        (tmp_path / ("a" * 300), "cannot write"),
        ("nul\0byte", "cannot write"),
    ):
        with pytest.raises(FileError, match=message):
            call(path)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_protected_places(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("")
    (tmp_path / "r.json").chmod(0o400)
    with pytest.raises(FileError, match="permission denied"):
        check_writable(tmp_path / "r.json")
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="permission denied"):
        check_writable(tmp_path / "new.json")
    tmp_path.chmod(0o700)


def test_permission_denied_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileError, match="permission denied"):
        write_whole(tmp_path / "r.json", "text")


@pytest.mark.parametrize("failing", ["os.fsync", "pathlib.Path.replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: BaseException
) -> None:
    path = tmp_path / "r.json"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(failing, fail)
    with pytest.raises((FileError, KeyboardInterrupt), match=r"No space left|^$"):
        write_whole(path, "after")
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["r.json"]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("mark", [";", "\t"])
def test_spreadsheets_separate_columns_by_other_marks(
    frame: pd.DataFrame, tmp_path: Path, name: str, mark: str
) -> None:
    """A file whose name says commas, and whose rows all have another mark, in memory and in
    batches.
    """
    path = tmp_path / name
    frame.to_csv(path, index=False, sep=mark)
    pd.testing.assert_frame_equal(read_file(path), frame.astype({"R": "str"}))
    plain = tmp_path / "plain.csv"
    frame.to_csv(plain, index=False)
    scans = [cc.scan(file, context="R") for file in (path, plain)]
    assert scans[0].data.names == scans[1].data.names
    pd.testing.assert_frame_equal(*(scan.sample_as_table() for scan in scans))


def test_semicolons_and_decimal_commas_from_a_spreadsheet(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    refused = cc.check(path, "R").problems
    assert "pass decimal=',' to read them" in refused[0]
    known = cc.check(read_file(path), "R", decimal=",")
    assert not known.problems
