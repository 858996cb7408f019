"""Tables of any dtype and ugliness, and options of any value, drawn from a generator."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import causalcontext as cc

Random = np.random.Generator
Maker = Callable[[Random, int], Any]

NAMES = [
    "X",
    "Y",
    "x",
    "Größe",
    "a b",
    "a,b",
    "two\nlines",
    "[bold]",
    "%s",
    "0",
    "=1+1",
    " X",
    "温度",
    "é",
    "R2",
    "<b>",
]
ROWS = [0, 1, 2, 3, 5, 12, 40, 120, 120, 300, 300]


def _holes(make: Maker) -> Maker:
    def with_holes(random: Random, rows: int) -> Any:
        values = pd.Series(make(random, rows), dtype=object)
        values[random.random(rows) < 0.1] = None
        return values

    return with_holes


def _scaled(factor: float, offset: float = 0.0) -> Maker:
    return lambda random, rows: random.standard_normal(rows) * factor + offset


COLUMNS: dict[str, Maker] = {
    "normal": _scaled(1.0),
    "also normal": _scaled(3.0, 100.0),
    "huge": _scaled(1e300),
    "tiny": _scaled(1e-300),
    "far": _scaled(1.0, 1e12),
    "heavy": lambda random, rows: random.standard_cauchy(rows),
    "float32": lambda random, rows: random.standard_normal(rows).astype(np.float32),
    "float16": lambda random, rows: random.standard_normal(rows).astype(np.float16),
    "int8": lambda random, rows: random.integers(-100, 100, rows).astype(np.int8),
    "uint64": lambda random, rows: random.integers(0, 2**63, rows).astype(np.uint64),
    "counts": lambda random, rows: random.poisson(3.0, rows),
    "constant": lambda random, rows: np.full(rows, 7.0),
    "nearly constant": lambda random, rows: np.where(np.arange(rows) == 0, 1.0, 0.0),
    "tied": lambda random, rows: np.round(random.standard_normal(rows)),
    "bool": lambda random, rows: random.random(rows) < 0.5,
    "text": lambda random, rows: random.choice(["a", "b", "NA", "None", "ü"], rows).astype(object),
    "numbers as text": (
        lambda random, rows: np.char.mod("%.2f", random.standard_normal(rows)).astype(object)
    ),
    "identifier": lambda random, rows: np.array([f"id{i}" for i in range(rows)], dtype=object),
    "category": lambda random, rows: pd.Categorical(random.choice(["low", "high", "mid"], rows)),
    "ordered": lambda random, rows: pd.Categorical(
        random.choice(["1", "2"], rows), ["1", "2", "3"], ordered=True
    ),
    "nullable": lambda random, rows: pd.array(random.integers(0, 9, rows), dtype="Int64"),
    "dates": lambda random, rows: pd.date_range("2000-01-01", periods=rows),
    "decimals": lambda random, rows: np.array(
        [Decimal(int(i)) for i in random.integers(0, 9, rows)], dtype=object
    ),
    "complex": lambda random, rows: random.standard_normal(rows) + 1j,
    "mixed": lambda random, rows: np.array(
        [[1, "a", 2.5, None][i % 4] for i in range(rows)], dtype=object
    ),
    "infinite": lambda random, rows: np.where(
        random.random(rows) < 0.1, np.inf, random.standard_normal(rows)
    ),
    "missing": _holes(_scaled(1.0)),
    "missing text": _holes(lambda random, rows: random.choice(["a", "b"], rows)),
    "empty": lambda random, rows: np.full(rows, np.nan),
    "lists": lambda random, rows: pd.Series([[1, 2]] * rows, dtype=object),
}
PLAIN = ("normal", "also normal", "float32", "tied", "counts")
HARD = (
    "huge",
    "tiny",
    "far",
    "heavy",
    "int8",
    "uint64",
    "constant",
    "nearly constant",
    "bool",
    "text",
    "category",
    "ordered",
    "nullable",
    "decimals",
    "float16",
    "missing",
    "missing text",
    "normal",
)
CONTEXTS = (
    "few",
    "bool",
    "text",
    "category",
    "missing text",
    "constant",
    "identifier",
    "normal",
    "none",
    "absent",
)


def ugly_table(random: Random) -> tuple[pd.DataFrame, Any]:
    """A table, and what is said to be its context."""
    rows = int(random.choice(ROWS))
    names = random.permutation(NAMES)[: int(random.integers(1, 7))].tolist()
    tame = random.random() < 0.6
    kinds = random.choice(PLAIN if tame else list(COLUMNS), len(names))
    table = pd.DataFrame(
        {name: COLUMNS[kind](random, rows) for name, kind in zip(names, kinds, strict=True)}
    )
    _tangle(table, random)
    return table, _context(table, random, rows)


def hard_table(random: Random) -> tuple[pd.DataFrame, Any]:
    """A table that should not be refused, with columns that are hard to compute with, and its
    context.
    """
    rows = int(random.choice(ROWS[4:]))
    names = random.permutation(NAMES)[: int(random.integers(3, 7))].tolist()
    kinds = random.choice(PLAIN, len(names))
    hard = int(random.integers(0, 3))
    kinds = [*random.choice(HARD, hard), *kinds[hard:]]
    table = pd.DataFrame(
        {name: COLUMNS[kind](random, rows) for name, kind in zip(names, kinds, strict=True)}
    )
    _tangle(table, random)
    codes = random.permutation(np.arange(rows) % int(random.integers(2, 5)))
    if random.random() < 0.5 and pd.api.types.is_float_dtype(table[names[-1]]):
        codes = (table[names[-1]] > table[names[-1]].median()).to_numpy(dtype=np.int64)
    if random.random() < 0.2:
        return table, str(random.choice(names)) if random.random() < 0.3 else None
    table["R"] = (
        codes
        if random.random() < 0.5
        else np.array(["no", "yes", "NA", "<b>"], dtype=object)[codes]
    )
    return table, "R"


def ordinary_table(random: Random) -> tuple[pd.DataFrame, Any]:
    """A table as tables are, a chain of causes whose columns are coarse, heaped, uneven or wrong;
    and its contexts.
    """
    rows = int(random.choice([80, 150, 300]))
    values, table = random.standard_normal(rows), pd.DataFrame(index=range(rows))
    for name in random.permutation(NAMES)[: int(random.integers(3, 6))]:
        values = 0.8 * values + random.standard_normal(rows)
        table[str(name)] = SHAPES[str(random.choice(list(SHAPES)))](values, random)
    first = str(table.columns[0])
    table[first] = (
        np.asarray(table[first] == "high") * 1.0
        if table[first].dtype.kind not in "fi"
        else table[first]
    )
    level = np.clip(np.round(values), 0, int(random.integers(1, 4))).astype(int)
    level[:8] = np.arange(8) % 2
    table["R"] = (
        level
        if random.random() < 0.5
        else np.array(["no", "yes", "NA", "<b>"], dtype=object)[level]
    )
    table["S"] = random.random(rows) < 0.5
    made = [cc.threshold(first, float(table[first].median())), cc.bins(first, quantiles=2)]
    some = ["R", ["R", "S"], made[0], made[1], ["S", made[0]]]
    return table, some[int(random.choice(len(some), p=[0.4, 0.2, 0.15, 0.1, 0.15]))]


def much_table(random: Random) -> tuple[pd.DataFrame, Any, dict[str, Any]]:
    """A chain of numbers, its context, and options that ask for much."""
    columns, rows = int(random.integers(2, 7)), int(random.choice([120, 400]))
    names = [str(name) for name in random.permutation(NAMES)[:columns]]
    table = pd.DataFrame(np.cumsum(random.standard_normal((rows, columns)), axis=1), columns=names)
    what = str(random.choice(["contexts", "holes", "cut", "hidden"], p=[0.55, 0.2, 0.1, 0.15]))
    methods = {
        "contexts": ["pc-ac", "pc-m", "pc-b", "fci-ac", "score-ac", "auto"],
        "holes": ["auto", "score-ac"],
        "cut": ["auto", "score-ac"],
        "hidden": ["fci-ac"],
    }[what]
    options: dict[str, Any] = {"method": str(random.choice(methods))}
    table["R"] = np.arange(rows) % (int(random.integers(8, 65)) if what == "contexts" else 2)
    if what == "holes":
        table[names[-1]] = table[names[-1]].where(random.random(rows) > 0.2)
        options["missing"] = "model"
    if what == "hidden":
        options |= {"lags": 1, "max_given": 2}
    if random.random() < 0.15:
        tests = options["method"] not in ("score-ac", "auto")
        options |= {"max_given": 10**30} if tests else {"penalty": 1e9, "method": "score-ac"}
    return table, cc.threshold(names[0], "best") if what == "cut" else "R", options


def question_table(what: str, random: Random) -> tuple[pd.DataFrame, Any, dict[str, Any]]:
    """A table about which `what` can be asked, its context, and options."""
    table, context = ordinary_table(random)
    names, options = [name for name in table.columns if name not in ("R", "S")], {}
    if what == "draws" or (
        what != "draws" and random.random() < 0.3
    ):  # straight lines, whose graphs can be drawn
        links = np.triu(
            random.uniform(-1.5, 1.5, (len(names),) * 2) * (random.random((len(names),) * 2) < 0.6),
            1,
        )
        values = random.standard_normal((len(table), len(names))) @ np.linalg.inv(
            np.eye(len(names)) - links
        )
        table[names] = values
        context = ["R", "S", None, ["R", "S"]][int(random.choice(4, p=[0.4, 0.3, 0.2, 0.1]))]
    methods = {
        "draws": ["auto", "score-ac"],
        "cut": ["auto", "score-ac", "pc-ac"],
        "hidden": ["fci-ac"],
        "holes": ["auto", "score-ac", "pc-ac", "pc-m", "pc-b", "fci-ac"],
    }.get(what)
    if methods is not None:
        options["method"] = str(random.choice(methods))
    if what == "hidden" or (what != "draws" and random.random() < 0.3):
        options["lags"] = int(random.integers(1, 3))
        if options.get("method") == "fci-ac":
            options["max_given"] = 2
    if what == "holes" or (what == "contexts" and random.random() < 0.3):
        for name in names:
            table[name] = table[name].where(
                random.random(len(table)) > random.choice([0.0, 0.1, 0.4])
            )
        options["missing"] = "model"
    if what == "cut":
        numbers = [name for name in names if table[name].dtype.kind in "fi"]
        best = cc.threshold(str(random.choice(numbers)), "best")
        context = best if random.random() < 0.8 else ["S", best]
    if what == "contexts" and random.random() < 0.3:
        options["knowledge"] = cc.Knowledge(roots=[names[0]])
    return table, context, options


SHAPES: dict[str, Callable[[Any, Random], Any]] = {
    "smooth": lambda values, random: values,
    "0/1": lambda values, random: (values > 0.3).astype(float),
    "graded": lambda values, random: np.clip(np.round(values), -2, 2),
    "heaped": lambda values, random: np.where(
        random.random(values.size) < 0.6, np.round(values) * 10, values * 10
    ),
    "zeros": lambda values, random: np.maximum(values, 0.0),
    "counts": lambda values, random: random.poisson(np.exp(np.clip(values, -2, 3) / 2)),
    "uneven": lambda values, random: (
        values + np.exp(np.clip(values, -3, 3)) * random.standard_normal(values.size)
    ),
    "wrong": lambda values, random: np.where(random.random(values.size) < 0.03, -9999.0, values),
    "kinked": lambda values, random: (
        np.maximum(values, 0.0) + 0.3 * random.standard_normal(values.size)
    ),
    "text": lambda values, random: np.where(values > 0, "high", "low").astype(object),
}


def _tangle(table: pd.DataFrame, random: Random) -> None:
    """Some columns depend on others: with noise, without, or they are copies."""
    for name in table.columns[1:]:
        first = table.iloc[:, 0]
        if (
            random.random() < 0.5
            and pd.api.types.is_float_dtype(table[name])
            and pd.api.types.is_float_dtype(first)
        ):
            share = random.choice([0.0, 1e-9, 0.5, 1.0])
            with np.errstate(all="ignore"):
                table[name] = first * 0.7 + share * table[name]


def _context(table: pd.DataFrame, random: Random, rows: int) -> Any:
    """A context column is added, or something else is said to be one."""
    kind = str(random.choice(CONTEXTS, p=[0.35, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.1, 0.05]))
    if kind == "none":
        return None
    if kind == "absent":
        return str(random.choice(["nowhere", ""]))
    if kind == "normal" and random.random() < 0.5:
        return cc.threshold(str(table.columns[0]), float(random.choice([0.0, 0.5, 1e9])))
    made = (
        random.integers(0, int(random.integers(1, 5)), rows)
        if kind == "few"
        else COLUMNS[kind](random, rows)
    )
    table["R"] = made
    return "R" if random.random() < 0.9 else ["R", str(table.columns[0])]


def in_some_library(table: pd.DataFrame, random: Random) -> tuple[Any, dict[str, Any]]:
    """The table as pandas, polars, pyarrow, a mapping or an array, and what `discover` needs for
    it.
    """
    form = int(random.integers(0, 6))
    try:
        if form == 1:
            return pl.from_pandas(table), {}
        if form == 2:
            return pa.Table.from_pandas(table.iloc[::-1]), {}
        if form == 3:
            return {name: table[name].to_numpy() for name in table}, {}
        if form == 4 and all(pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes):
            return table.to_numpy(), {"names": list(table.columns)}
        if form == 5:
            return pl.from_pandas(table).lazy(), {}
    except (
        pa.ArrowException,
        TypeError,
        ValueError,
        OverflowError,
    ):  # the other library's business
        return table, {}
    return table, {}


def some_options(random: Random) -> dict[str, Any]:
    """Options, most of them sensible; sets are small, so that a case takes no longer than
    seconds.
    """
    others = [
        "robust-change",
        "fisher-z",
        "g-squared",
        "chi-squared",
        "tsagris",
        "sandwich",
        "gaussian-ranks",
        "conditional-gaussian",
        "cmi-knn",
        "nonsense",
    ]
    tests = ["auto"] * 6 + ["partial-correlation"] * 6 + others
    chosen: dict[str, Any] = {
        "method": str(random.choice(["pc-ac"] * 5 + ["pc-m", "pc-p", "pc-b", "fci-ac", "pc-ac"])),
        "test": str(random.choice(tests)),
        "max_given": 10**30 if random.random() < 0.02 else int(random.choice([0, 1, 2])),
        "time_limit": 20.0,
    }
    more = {
        "alpha": [0.05, 0.001, 0.999, 0.0, -1, "x", float("nan")],
        "collider_rule": ["majority", "conservative", "first", "x"],
        "missing": ["raise", "listwise", "listwise", "testwise", "x"],
        "masked_scope": ["adaptive", "cycle", "always"],
        "orientation": ["across", "within"],
        "n_jobs": [1, 2, -1, 0],
        "seed": [0, 7, -1, 2**70],
        "kinds": [{"X": "categorical"}, {"Y": "count"}, {"R": "categorical"}, ["R"]],
        "knowledge": [cc.Knowledge(roots=["X"]), cc.Knowledge(forbidden=[("X", "Y")]), "x"],
        "transform": ["auto", "none", "ranks"],
    }
    if (
        random.random() < 0.2
    ):  # what a method does not use is refused, which would be most of the cases
        chosen = {"method": "score-ac", "time_limit": 20.0}
        more = {
            name: more[name]
            for name in ("alpha", "missing", "n_jobs", "seed", "kinds", "knowledge", "transform")
        }
        more |= {
            "penalty": [1.0, 2.0, 1000.0, float("inf")],
            "starts": [1, 2],
            "wrong_cells": ["keep"],
            "test": ["basis"],
        }
    for name, values in more.items():
        if random.random() < 0.15:
            chosen[name] = values[int(random.integers(len(values)))]
    return chosen


def good_options(random: Random) -> dict[str, Any]:
    """Options that go together."""
    method = str(
        random.choice(["auto", "pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac", "score-ac", "score-ac"])
    )
    chosen: dict[str, Any] = {"method": method, "time_limit": 20.0, "missing": "listwise"}
    if method == "score-ac":
        more = {
            "curves": ["never", "always"],
            "transform": ["none", "ranks"],
            "search": ["order", "exact"],
            "penalty": [1.0],
            "lags": [1, 2],
        }
    elif method == "auto":
        more = {"lags": [1, 2], "n_jobs": [2]}
    else:
        tests = [
            "auto",
            "auto",
            "partial-correlation",
            "basis",
            "cautious-change",
            "sandwich",
            "gaussian-ranks",
            "conditional-gaussian",
            "fisher-z",
        ]
        chosen |= {"test": str(random.choice(tests)), "max_given": int(random.choice([1, 2]))}
        more = {
            "alpha": [0.001, 0.5],
            "collider_rule": ["conservative", "first"],
            "n_jobs": [2],
            "missing": ["testwise"],
            "transform": ["ranks"],
        }
        if method == "pc-ac":
            more |= (
                {"masked_scope": ["cycle", "always"], "orientation": ["within"]}
                if random.random() < 0.5
                else {"lags": [1]}
            )
        if method == "fci-ac":
            more |= {
                "orientation": ["within"],
                "possible_dsep": [1, 2],
                "contested": ["bidirected"],
                "context_confounded": [False],
            }
    for name, values in more.items():
        if random.random() < 0.2:
            chosen[name] = values[int(random.integers(len(values)))]
    if "lags" in chosen:
        chosen["missing"] = "raise"
    return chosen
