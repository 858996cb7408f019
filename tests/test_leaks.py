"""Whatever is passed, and whatever a file holds: a result or an error of this library; nothing
vanishes silently.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import causalcontext as cc
from causalcontext.cli.app import app
from causalcontext.data.table_files import read_file, words_for_missing
from causalcontext.data.tables import read_table
from causalcontext.options import Options
from marks import rest_slow

TABLE = cc.examples.soil_moisture(200, seed=0)
STRANGE: list[Any] = [
    np.array([1, 2]),
    5,
    None,
    float("inf"),
    float("nan"),
    -1,
    "x",
    [],
    ["R"],
    {},
    {"a": 1},
    object(),
    True,
    10**400,
    (1, 2),
    b"x",
    1.5,
    TABLE,
]


@cache
def result() -> cc.ContextGraphs:
    return cc.discover(TABLE, "soil", method="pc-ac")


CALLS: dict[str, Callable[[Any], Any]] = {
    "explain": lambda value: result().explain(value, "soil"),
    "changes": lambda value: result().changes(value, "wet"),
    "load": cc.load,
    "save": lambda value: result().save(None if isinstance(value, str) else value),
    "threshold": lambda value: cc.threshold("runoff", value),
    "threshold of": lambda value: cc.threshold(value, 1.0),
    "bins": lambda value: cc.bins("runoff", value),
    "quantiles": lambda value: cc.bins("runoff", quantiles=value),
    "required": lambda value: cc.Knowledge(required=value),
    "tiers": lambda value: cc.Knowledge(tiers=value),
    "roots": lambda value: cc.Knowledge(roots=value),
    "names": lambda value: read_table(np.zeros((4, 3)), None, names=value),
    "kinds": lambda value: read_table(TABLE, "soil", kinds=value),
    "context": lambda value: read_table(TABLE, value),
    "table": lambda value: read_table(value, None),
}


def allowed(call: Callable[[], Any]) -> None:
    """A result, or an error that the library raises on purpose, in one line."""
    try:
        call()
    except cc.CausalContextError as error:
        text = str(error)
    else:
        return
    assert "\n" not in text
    assert len(text) < 600


@pytest.mark.parametrize("option", [entry.name for entry in fields(Options)])
def test_any_value_of_any_option(option: str) -> None:
    for value in STRANGE:
        allowed(lambda value=value: Options(**{option: value}))


@pytest.mark.parametrize("name", CALLS)
def test_any_argument(name: str) -> None:
    for value in STRANGE:
        allowed(lambda value=value: CALLS[name](value))


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 0, -1.0, "2", True, 1e308])
def test_a_penalty_is_a_number(value: Any) -> None:
    with pytest.raises(cc.OptionError, match=r"penalty is .*, expected a positive number"):
        cc.ScoreAC(penalty=value)


@pytest.mark.parametrize(
    "arrow", [pa.Table.from_pandas, lambda t: pl.from_arrow(pa.Table.from_pandas(t))]
)
def test_the_index_of_pandas_is_no_variable(arrow: Callable[[pd.DataFrame], Any]) -> None:
    table = arrow(TABLE[TABLE["soil"] != ""].iloc[::2])
    assert read_table(table, "soil").names == tuple(TABLE.columns)
    with pytest.raises(cc.DataError, match="1 column; at least 2"):
        read_table(pa.Table.from_pandas(TABLE[["runoff"]].iloc[::2]), None)


def test_words_that_look_missing_are_levels_among_words(tmp_path: Path) -> None:
    regions = ["NA", "EU", "None", ""] * 3
    numbers = ["1.5", "NA", "", "2"] * 3
    only = ["NA", "None"] * 6
    lines = [",".join(row) for row in zip(regions, numbers, only, ["a"] * 12, strict=True)]
    (tmp_path / "t.csv").write_text("region,x,only,last\n" + "\n".join(lines) + "\n")
    table = read_file(tmp_path / "t.csv")
    assert table["region"].value_counts().to_dict() == {"NA": 3, "EU": 3, "None": 3}
    assert table["x"].isna().sum() == 6
    assert table["x"].dtype == float
    assert set(table["only"]) == {"NA", "None"}
    assert words_for_missing(table) == {"region": ("NA", "None"), "only": ("NA", "None")}
    run = CliRunner().invoke(app, ["discover", str(tmp_path / "t.csv"), "--context", "only"])
    assert "note: 'NA' and 'None' in columns 'region' and 'only' are read as levels" in run.output


def test_damaged_parquet_is_one_sentence(tmp_path: Path) -> None:
    TABLE.to_parquet(tmp_path / "t.parquet")
    whole, draw = (tmp_path / "t.parquet").read_bytes(), random.Random(0)
    for _ in range(150):
        place = draw.randrange(len(whole))
        broken = draw.choice(
            [whole[:place], whole[:place] + draw.randbytes(3) + whole[place + 3 :]]
        )
        (tmp_path / "d.parquet").write_bytes(broken)
        allowed(lambda: read_file(tmp_path / "d.parquet"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is always full")
@pytest.mark.parametrize("words", rest_slow([["--version"], ["demo"]]))
def test_a_full_disk_is_one_sentence(words: list[str]) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(cc.__file__).parents[1])}
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "causalcontext", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
        )
    assert (run.returncode, run.stderr) == (
        2,
        "error: cannot write to standard output: No space left on device\n",
    )


def test_numbers_in_messages_are_the_numbers_of_the_table() -> None:
    table = pd.DataFrame({"n": [1000000.25, 1.0, 2.0, 3.0], "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(cc.DataError, match=r"holds 1000000\.25, expected whole numbers"):
        read_table(table, None, kinds={"n": "count"})


def test_no_probability_is_zero() -> None:
    x = np.arange(2000.0) + 0.5
    noise = np.random.default_rng(0).standard_normal((2000, 2))
    result = cc.discover(
        pd.DataFrame({"x": x, "y": x + 100.0 * noise[:, 0], "z": noise[:, 1]}),
        test="partial-correlation",
        method="pc-ac",
    )
    assert "p < 1e-16" in result.explain("x", "y")


def test_a_context_made_of_a_column_is_named_by_what_it_says() -> None:
    table = TABLE.drop(columns="soil").rename(columns={"radiation": "VPD"})
    text = str(cc.discover(table, cc.threshold("VPD", 0.8), max_given=1, method="pc-ac"))
    assert "VPD <= 0.8 (" in text
    assert "VPD > 0.8 = " not in text
