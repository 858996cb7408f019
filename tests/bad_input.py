"""Every kind of bad input: how to make it, and the class of error it gets.

The sentences are in docs/bad-input.md, keyed by the same words; test_bad_input.py compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc

ROWS = 40


def good_table(**columns: Any) -> pd.DataFrame:
    """A table that is fine, but for the columns that are given."""
    generator = np.random.default_rng(0)
    x, y, z = generator.standard_normal((3, ROWS))
    table = pd.DataFrame({"X": x, "Y": y + x, "Z": z, "R": ["dry", "wet"] * (ROWS // 2)})
    return table.assign(**columns)


def with_value(column: str, value: Any, count: int = 3) -> pd.DataFrame:
    """A table whose first rows have this value in a column."""
    table = good_table()
    table.loc[: count - 1, column] = value
    return table


def two_contexts() -> pd.DataFrame:
    """A table with the context columns S and R."""
    return good_table(S=np.repeat([1, 2], ROWS // 2))


GOOD_TEXT = good_table().to_csv(index=False)


@dataclass(frozen=True)
class Case:
    """One kind of bad input.

    `table` is handed over in memory, and through a Parquet file on the command line; otherwise
    `files` are written and `path` is read in both. `options` are arguments of `discover`;
    `knowledge` is TOML.
    """

    error: type[cc.CausalContextError]
    table: Any = None
    path: str = "data.csv"
    files: Mapping[str, str | bytes] = field(default_factory=lambda: {"data.csv": GOOD_TEXT})
    context: str | None = "R"
    options: Mapping[str, Any] = field(default_factory=dict)
    knowledge: str | None = None
    output: str | None = None


def table_case(
    table: pd.DataFrame, error: type[cc.CausalContextError] = cc.DataError, **rest: Any
) -> Case:
    return Case(error, table=table, **rest)


def text_case(text: str | bytes, path: str = "data.csv", **rest: Any) -> Case:
    return Case(cc.FileError, path=path, files={path: text}, **rest)


def option_case(error: type[cc.CausalContextError] = cc.OptionError, **options: Any) -> Case:
    return Case(error, options=options)


def knowledge_case(toml: str, error: type[cc.CausalContextError] = cc.KnowledgeError) -> Case:
    return Case(error, knowledge=toml)


TABLES = {
    "a missing value in a system variable": table_case(with_value("X", np.nan)),
    "a missing value in the context": table_case(with_value("R", None)),
    "missing values without a context": table_case(
        with_value("X", np.nan)[["X", "Y", "Z"]], context=None
    ),
    "a column without any value that is kept, rows with missing values dropped": table_case(
        good_table(X=np.nan), options={"missing": "listwise", "keep": ["X"]}
    ),
    "missing values in all but one context in a column that is kept, those rows dropped": (
        table_case(
            good_table(X=np.where(good_table().R == "dry", np.nan, good_table().X)),
            options={"missing": "listwise", "keep": ["X"]},
        )
    ),
    "an infinite value": table_case(with_value("X", np.inf)),
    "a constant column that is kept": table_case(good_table(Z=1.5), options={"keep": ["Z"]}),
    "values whose squares overflow": table_case(good_table(Z=good_table().Z * 1e200)),
    "a context with one level": table_case(good_table(R="dry")),
    "a context without any value": table_case(good_table(R=pd.Series([None] * ROWS, dtype=object))),
    "a context that is an identifier": table_case(good_table(R=[f"row {i}" for i in range(ROWS)])),
    "a context of floats": table_case(good_table(R=np.repeat([0.5, 1.5], ROWS // 2))),
    "a context that is declared continuous": table_case(
        good_table(), options={"kinds": {"R": "continuous"}}
    ),
    "a context of dates": table_case(
        good_table(R=pd.to_datetime(["2020-01-01", "2021-01-01"] * (ROWS // 2)))
    ),
    "a context that is not in the table": table_case(good_table(), context="Rr"),
    "a kind for a column that is not in the table": table_case(
        good_table(), options={"kinds": {"Q": "continuous"}}
    ),
    "a kind that does not exist": table_case(
        good_table(), cc.OptionError, options={"kinds": {"X": "ordinal"}}
    ),
    "text that is declared continuous": table_case(
        good_table(Z=["a", "b"] * (ROWS // 2)), options={"kinds": {"Z": "continuous"}}
    ),
    "an identifier that is kept": table_case(
        good_table(Z=[f"row {i}" for i in range(ROWS)]), options={"keep": ["Z"]}
    ),
    "text that is declared ordered": table_case(
        good_table(Z=["low", "high"] * (ROWS // 2)), options={"kinds": {"Z": "ordered"}}
    ),
    "measurements that are declared counts": table_case(
        good_table(Z=[0.5, 1.5] * (ROWS // 2)), options={"kinds": {"Z": "count"}}
    ),
    "a column of dates that is kept": table_case(
        good_table(Z=pd.date_range("2020-01-01", periods=ROWS)), options={"keep": ["Z"]}
    ),
    "numbers with a unit": table_case(good_table(Z=[f"{row} kg" for row in range(ROWS)])),
    "numbers with decimal commas": table_case(good_table(Z=[f"{row},5" for row in range(ROWS)])),
    "numbers with thousands separators": table_case(
        good_table(Z=[f"{row + 1},250" for row in range(ROWS)])
    ),
    "numbers with a unit in some cells": table_case(
        good_table(Z=[f"{row} kg" if row < 3 else f"{row}" for row in range(ROWS)])
    ),
    "a column that would be left out, and strict": table_case(
        good_table(Z=1.5), options={"strict": True}
    ),
    "too few columns beside those that are left out": table_case(good_table(Y="a", Z=1.5)),
    "a table without rows": table_case(good_table().iloc[:0]),
    "a single system variable": table_case(good_table()[["X", "R"]]),
    "a single row": table_case(good_table()[["X", "Y", "Z"]].iloc[:1], context=None),
}

FILES = {
    "a file that does not exist": Case(cc.FileError, path="nowhere.csv"),
    "a folder instead of a file": Case(cc.FileError, path="folder"),
    "a file of another type": text_case("{}", "data.json"),
    "an empty file": text_case(""),
    "a file with a header and no rows": Case(cc.DataError, files={"data.csv": "X,Y,R\n"}),
    "a row that is too long": text_case("X,Y,R\n1,2,dry\n3,4,wet,5\n"),
    "a row that is too short": text_case("X,Y,R\n1,2,dry\n3,4\n"),
    "names separated otherwise than rows": text_case("X;Y;R\n1,2,dry\n3,4,wet\n"),
    "a column without a name": text_case(
        good_table().rename(columns={"Y": ""}).to_csv(index=False)
    ),
    "the same column name twice": text_case("X,X,R\n1,2,dry\n3,4,wet\n"),
    "a number with a typing error": Case(
        cc.DataError, files={"data.csv": "X,Y,R\n" + "1,2,dry\n3,4,wet\n" * 5 + "1,2o,dry\n"}
    ),
    "a text file in another encoding": text_case("X,Y,R\n1,2,Zürich\n".encode("latin-1")),
    "a CSV file that is not text": text_case(b"\x00\x01\x02\xff\xfe"),
    "a .gz file that is not compressed": text_case("X,Y,R\n", "data.csv.gz"),
    "a .parquet file that is none": text_case("X,Y,R\n", "data.parquet"),
}

LEFT_OUT = {
    "a column without any value": good_table(W=np.nan),
    "a column without a value in one context": good_table(
        W=np.where(good_table().R == "dry", np.nan, good_table().X)
    ),
    "a constant column": good_table(W=1.5),
    "a constant column of text": good_table(W="v2"),
    "the number of the row": good_table(W=np.arange(1, ROWS + 1)),
    "ids in another order": good_table(W=100 + np.random.default_rng(1).permutation(ROWS)),
    "keys of text": good_table(W=[f"P{row:05d}" for row in range(ROWS)]),
    "UUIDs": good_table(W=[f"{row:08x}-0000-4000-8000-000000000000" for row in range(ROWS)]),
    "the index of a table": good_table(**{"Unnamed: 0": np.arange(ROWS) ** 3}),
    "dates": good_table(W=pd.date_range("2020-01-01", periods=ROWS)),
    "dates as text": good_table(W=pd.date_range("2020-01-01", periods=ROWS).strftime("%d.%m.%Y")),
    "dates as numbers": good_table(
        W=pd.date_range("2020-01-01", periods=ROWS).strftime("%Y%m%d").astype(int)
    ),
    "free text": good_table(W=[f"seen by nurse {row}, stable" for row in range(ROWS)]),
    "more levels than a category has": (
        pd.concat([good_table()] * 4, ignore_index=True).assign(
            X=np.random.default_rng(1).standard_normal(4 * ROWS),
            Y=np.random.default_rng(2).standard_normal(4 * ROWS),
            Z=np.random.default_rng(3).standard_normal(4 * ROWS),
            W=[f"name {row % 70}" for row in range(4 * ROWS)],
        )
    ),
    "a copy of the context": (
        pd.concat([good_table()] * 4, ignore_index=True).assign(
            W=lambda table: (table.R == "wet").astype(int)
        )
    ),
    "finer levels of the context": (
        pd.concat([good_table()] * 4, ignore_index=True).assign(
            W=lambda table: table.R + [str(row // 2 % 2) for row in range(4 * ROWS)]
        )
    ),
}
"""Columns, called W but for the index, that are left out with a warning."""

KNOWLEDGE = {
    "knowledge of a column that is not there": knowledge_case('forbidden = [["X", "Why"]]'),
    "a link both required and forbidden": knowledge_case(
        'required = [["X", "Y"]]\nforbidden = [["X", "Y"]]'
    ),
    "a required link against the tiers": knowledge_case(
        'required = [["X", "Y"]]\ntiers = [["Y"], ["X"]]'
    ),
    "a required link into a root": knowledge_case('required = [["X", "Y"]]\nroots = ["Y"]'),
    "a required link out of a sink": knowledge_case('required = [["X", "Y"]]\nsinks = ["X"]'),
    "required links in a circle": knowledge_case('required = [["X", "Y"], ["Y", "Z"], ["Z", "X"]]'),
    "a link required both ways": knowledge_case('required = [["X", "Y"], ["Y", "X"]]'),
    "a variable in two tiers": knowledge_case('tiers = [["X", "Y"], ["X"]]'),
    "a link from a variable to itself": knowledge_case('required = [["X", "X"]]'),
    "a link of three variables": knowledge_case('required = [["X", "Y", "Z"]]'),
    "a name where a list is expected": knowledge_case('roots = "X"'),
    "a number where a name is expected": knowledge_case("roots = [1]"),
    "an unknown key in a knowledge file": knowledge_case('forbiden = [["X", "Y"]]'),
    "a knowledge file that is not TOML": knowledge_case("required = [", cc.FileError),
}

OPTIONS = {
    "alpha outside 0 to 1": option_case(method="pc-ac", alpha=1.5),
    "alpha that is not a number": option_case(method="pc-ac", alpha=float("nan")),
    "an unknown method": option_case(method="pc-ab"),
    "an unknown test": option_case(method="pc-ac", test="fisherz"),
    "a mark for decimals that does not exist": option_case(decimal=";"),
    "an unknown collider rule": option_case(method="pc-ac", collider_rule="majorty"),
    "an unknown treatment of missing values": option_case(missing="drop"),
    "an ordered column of many levels for score-ac": table_case(
        pd.concat([good_table()] * 8, ignore_index=True).assign(
            Z=[row % 60 for row in range(8 * ROWS)]
        ),
        cc.NotYetError,
        options={"method": "score-ac", "kinds": {"Z": "ordered"}},
    ),
    "missing values dropped test by test, without tests": option_case(
        missing="testwise", method="score-ac"
    ),
    "a negative size of conditioning sets": option_case(method="pc-ac", max_given=-1),
    "an option of a method beside 'auto'": option_case(alpha=0.01),
    "an option that the method does not use": option_case(curves="always", method="pc-ac"),
    "a penalty that leaves nothing to compare": option_case(method="score-ac", penalty=1e9),
    "no threads": option_case(n_jobs=0),
}

OUTPUTS = {
    "a file to write in a folder that does not exist": Case(
        cc.FileError, output="nowhere/out.json"
    ),
    "a folder as file to write": Case(cc.FileError, output="folder"),
}

BOTH = TABLES | FILES | KNOWLEDGE | OPTIONS | OUTPUTS


def _from_python(*arguments: Any, **options: Any) -> Any:
    return lambda: cc.discover(*arguments, **options)


PYTHON = {
    "an array without names": (cc.DataError, _from_python(np.zeros((9, 3)))),
    "an array with too few names": (cc.DataError, _from_python(np.zeros((9, 3)), names=["X", "Y"])),
    "an array of three dimensions": (
        cc.DataError,
        _from_python(np.zeros((9, 3, 2)), names=["X", "Y", "Z"]),
    ),
    "names beside a table that has some": (
        cc.OptionError,
        _from_python(good_table(), names=list("abcd")),
    ),
    "something that is no table": (cc.DataError, _from_python(7)),
    "columns of different length": (cc.DataError, _from_python({"X": [1, 2], "Y": [1, 2, 3]})),
    "a table with the same column name twice": (
        cc.DataError,
        _from_python(good_table().rename(columns={"Y": "X"}), "R"),
    ),
    "column names of several levels": (
        cc.DataError,
        _from_python(
            pd.DataFrame(
                np.zeros((9, 2)), columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
            )
        ),
    ),
    "knowledge of a column that is left out": (
        cc.KnowledgeError,
        _from_python(good_table(W=1.5), "R", knowledge=cc.Knowledge(required=[("W", "X")])),
    ),
    "a variable asked for that was left out": (
        cc.OptionError,
        lambda: cc.discover(good_table(W=1.5), "R").explain("X", "W"),
    ),
    "a context that mixes types": (
        cc.DataError,
        _from_python(good_table(R=[1, "1"] * (ROWS // 2)), "R"),
    ),
    "several context columns, one of them measured": (
        cc.DataError,
        _from_python(good_table(), ["R", "Z"]),
    ),
    "the same context column twice": (cc.OptionError, _from_python(good_table(), ["R", "R"])),
    "an option that does not exist": (cc.OptionError, _from_python(good_table(), "R", alhpa=0.01)),
    "a combination of contexts that does not occur": (
        cc.OptionError,
        lambda: cc.discover(two_contexts(), ["S", "R"]).changes((1, "wet"), (3, "dry")),
    ),
    "a column of lists": (cc.DataError, _from_python(good_table(Z=[[1]] * ROWS), "R")),
    "a column that mixes numbers and text": (
        cc.DataError,
        _from_python(good_table(Z=pd.Series([1, "a"] * (ROWS // 2), dtype=object)), "R"),
    ),
    "kinds that are no mapping": (cc.OptionError, _from_python(good_table(), "R", kinds=["X"])),
    "knowledge that is a plain dictionary": (
        cc.OptionError,
        _from_python(good_table(), "R", knowledge={"roots": ["X"]}),
    ),
    "a test that is neither name nor test": (
        cc.OptionError,
        _from_python(good_table(), "R", method="pc-ac", test=3),
    ),
    "alpha as text": (
        cc.OptionError,
        _from_python(good_table(), "R", method="pc-ac", alpha="0.05"),
    ),
    "a seed that is not a whole number": (
        cc.OptionError,
        _from_python(good_table(), "R", seed=0.5),
    ),
    "a result file that does not exist": (cc.FileError, lambda: cc.load("nowhere.json")),
    "another variable asked for than the table has": (
        cc.OptionError,
        lambda: cc.discover(good_table(), "R").explain("X", "y"),
    ),
    "the same variable asked for twice": (
        cc.OptionError,
        lambda: cc.discover(good_table(), "R").explain("X", "X"),
    ),
}

ACCEPTED = {
    "a column twice, under two names": good_table(W=good_table().X),
    "a column that is the sum of two others": good_table(W=good_table().X + good_table().Z),
    "a column that is constant in one context": good_table(
        Z=np.where(good_table().R == "dry", 1.5, good_table().Z)
    ),
    "a context of seven rows": good_table(R=["dry"] * 33 + ["wet"] * 7),
    "a context of five rows": good_table(R=["dry"] * 35 + ["wet"] * 5),
}

COMMAND = {
    "a kind without a column": ["--kind", "categorical"],
    "a report in a missing folder": ["--report", "missing/out.html"],
    "one file for result and report": ["--json", "out.html", "--report", "out.html"],
    "the table as file to write": ["--json", "data.csv"],
}
