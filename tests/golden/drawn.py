"""Which tables stand in the golden set, and how each is drawn and searched.

Tables are drawn with numpy alone, from a seed, so that no part of the package can move them. The
truth behind a table is of no interest here: `X` is first in the order of causes, then `Y`, `Z`, `W`
and `V`, with random links; the contexts `R` and `S` may be effects of some variables and change
slopes, means and spreads of others. `CASES` is the whole set: one case is one table with one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc

METHODS = ("auto", "score-ac", "pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac")
BY_TESTS = ("pc-ac", "pc-m", "pc-p", "pc-b", "fci-ac")
VARIABLES = ("X", "Y", "Z", "W", "V")
WORDS_OF_LEVELS = ("low", "mid", "top")
Columns = dict[str, np.ndarray]
Change = Callable[[np.random.Generator, pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True)
class System:
    """What a random system is like; `draw` makes a table of it."""

    rows: int = 260
    variables: int = 5
    contexts: int = 1
    levels: int = 2
    exogenous: bool = False
    noise: str = "normal"
    curve: bool = False
    spread: bool = False
    kinds: Mapping[str, str] = field(default_factory=dict)
    in_time: bool = False
    units: int = 0
    changes: tuple[Change, ...] = ()

    def draw(self, seed: int) -> pd.DataFrame:
        """The table of a seed, its columns in random order."""
        random = np.random.default_rng(seed)
        mechanisms = [mechanism(random, self, place) for place in range(self.nodes)]
        columns = (
            walked(random, self, mechanisms) if self.in_time else at_once(random, self, mechanisms)
        )
        table = pd.DataFrame(columns)
        table = table[[str(name) for name in random.permutation(table.columns)]]
        if self.units:
            table["unit"] = np.arange(self.rows) * self.units // self.rows
        for change in self.changes:
            table = change(random, table)
        return table

    @property
    def nodes(self) -> int:
        """The number of variables and contexts."""
        return self.variables + self.contexts

    @property
    def order(self) -> tuple[str, ...]:
        """All nodes, causes first."""
        names = list(VARIABLES[: self.variables])
        for place, context in enumerate(("R", "S")[: self.contexts]):
            names.insert(place if self.exogenous else 2 + place, context)
        return tuple(names)


@dataclass(frozen=True)
class Mechanism:
    """How one node follows from those before it: a weight each, and what its contexts change."""

    name: str
    weights: Mapping[str, float]
    factors: Mapping[str, np.ndarray]
    shifts: Mapping[str, np.ndarray]
    past: float


def mechanism(random: np.random.Generator, system: System, place: int) -> Mechanism:
    """A random mechanism for the node at a place of the order."""
    name = system.order[place]
    before = system.order[:place]
    causes = [cause for cause in before if cause not in ("R", "S")]
    linked = [cause for cause in causes if random.random() < 0.55]
    if causes and not linked:
        linked = [causes[int(random.integers(len(causes)))]]
    sizes = random.uniform(0.6, 1.2, len(linked)) * random.choice([-1.0, 1.0], len(linked))
    readers = [] if name in ("R", "S") else [cause for cause in before if cause in ("R", "S")]
    readers = [reader for reader in readers if random.random() < 0.8]
    factors = {
        reader: np.linspace(1.0, random.uniform(-0.6, 0.3), system.levels) for reader in readers
    }
    shifts = {
        reader: np.linspace(0.0, random.uniform(0.4, 1.4), system.levels) for reader in readers
    }
    return Mechanism(
        name, dict(zip(linked, sizes, strict=True)), factors, shifts, random.uniform(0.3, 0.6)
    )


def draw_noise(random: np.random.Generator, law: str, size: int) -> np.ndarray:
    """Noise of variance about 1."""
    if law == "uniform":
        return random.uniform(-1.7, 1.7, size)
    if law == "laplace":
        return random.laplace(0.0, 0.7, size)
    if law == "heavy":
        return random.standard_t(3.0, size) / 1.5
    return random.normal(0.0, 1.0, size)


def drive(
    system: System, node: Mechanism, values: Mapping[str, Any], codes: Mapping[str, Any]
) -> Any:
    """The part of a node that its causes and contexts make."""
    total: Any = 0.0
    for number, (cause, weight) in enumerate(node.weights.items()):
        value = values[cause]
        if system.curve and number == 0:
            value = 1.2 * (value**2 - 1.0) / (1.0 + 0.3 * value**2)
        for reader, factor in node.factors.items():
            if number == 0:
                value = value * factor[codes[reader]]
        total = total + weight * value
    for reader, shift in node.shifts.items():
        total = total + shift[codes[reader]]
    return total


def at_once(random: np.random.Generator, system: System, nodes: list[Mechanism]) -> Columns:
    """Rows that do not depend on each other."""
    values: Columns = {}
    codes: Columns = {}
    columns: Columns = {}
    for node in nodes:
        noise = draw_noise(random, system.noise, system.rows)
        if system.spread and node.factors:
            reader = next(iter(node.factors))
            noise = noise * np.linspace(0.6, 1.8, system.levels)[codes[reader]]
        value = np.asarray(drive(system, node, values, codes) + noise)
        if node.name in ("R", "S"):
            cuts = np.quantile(value, np.arange(1, system.levels) / system.levels)
            codes[node.name] = np.digitize(value, cuts)
            columns[node.name] = codes[node.name]
        else:
            values[node.name], columns[node.name] = of_kind(
                random, value, system.kinds.get(node.name)
            )
    return columns


def of_kind(
    random: np.random.Generator, value: np.ndarray, kind: str | None
) -> tuple[np.ndarray, Any]:
    """What effects see of a column, and the column as it stands in the table."""
    if kind is None:
        return value, value
    if kind == "count":
        counts = random.poisson(np.exp(0.6 * np.clip(value / value.std(), -2.0, 2.0) + 0.5))
        return counts - counts.mean(), counts
    levels = np.digitize(value, np.quantile(value, [0.35, 0.7] if kind != "binary" else [0.5]))
    centred = 1.4 * (levels - levels.mean())
    if kind == "binary":
        return centred, levels
    if kind == "ordered":
        return centred, pd.Categorical.from_codes(levels, list(WORDS_OF_LEVELS), ordered=True)
    return centred, np.array(["a", "b", "c"])[levels]


def walked(random: np.random.Generator, system: System, nodes: list[Mechanism]) -> Columns:
    """Rows that follow each other: every node has a past, and first causes act a step later."""
    columns: Columns = {
        node.name: np.zeros(system.rows, int if node.name in ("R", "S") else float)
        for node in nodes
    }
    noise = {node.name: draw_noise(random, system.noise, system.rows) for node in nodes}
    late = {node.name for node in nodes if node.name not in ("R", "S") and random.random() < 0.6}
    unit = np.arange(system.rows) * max(system.units, 1) // system.rows
    offsets = random.normal(0.0, 1.0, max(system.units, 1))
    drives = {node.name: 0.0 for node in nodes}
    for t in range(system.rows):
        first = t == 0 or unit[t] != unit[t - 1]
        past = {name: 0.0 if first else float(column[t - 1]) for name, column in columns.items()}
        now: dict[str, float] = {}
        codes: dict[str, int] = {}
        for node in nodes:
            seen = past if node.name in late else now
            value = float(drive(system, node, seen, codes)) + noise[node.name][t]
            if node.name in ("R", "S"):
                drives[node.name] = value + (0.0 if first else 0.5 * drives[node.name])
                codes[node.name] = int(drives[node.name] > 0.0)
                columns[node.name][t] = codes[node.name]
            else:
                now[node.name] = (
                    value
                    + node.past * past[node.name]
                    + (offsets[unit[t]] if system.units else 0.0)
                )
                columns[node.name][t] = now[node.name]
    return columns


# What is done to a table after it was drawn.


def named_contexts(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """Words in place of the numbers of contexts."""
    for context in {"R", "S"} & set(table.columns):
        table[context] = np.array(["dry", "moist", "wet"])[table[context]]
    return table


def holes(share: float, *columns: str) -> Change:
    """Cells that are missing at random in some columns."""

    def change(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
        for column in columns:
            values = table[column].to_numpy(float).copy()
            values[random.random(len(table)) < share] = np.nan
            table[column] = values
        return table

    return change


def codes_for_missing(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """-9999 in some cells."""
    values = table["Y"].to_numpy(float).copy()
    values[random.random(len(table)) < 0.06] = -9999.0
    table["Y"] = values
    return table


def outliers(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """A few cells that are far too large."""
    values = table["Z"].to_numpy(float).copy()
    chosen = random.choice(len(table), 5, replace=False)
    values[chosen] = values[chosen] * 10.0 + 25.0
    table["Z"] = values
    return table


def heaped(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """Numbers with one decimal, and one column that cannot fall below a limit."""
    for column in ("Y", "Z"):
        table[column] = np.round(table[column].to_numpy(float), 1)
    table["X"] = np.maximum(table["X"].to_numpy(float), -0.9)
    return table


def bent_scales(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """Columns on scales that bend: an exponential and a cube."""
    table["Y"] = np.exp(table["Y"].to_numpy(float) / 2.0)
    table["W"] = table["W"].to_numpy(float) ** 3 / 5.0
    return table


def useless_columns(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """A constant, a number of the row, and a sum of two columns."""
    table["constant"] = 3.0
    table["row"] = np.arange(1000, 1000 + len(table))
    table["total"] = table["X"] + table["Y"]
    return table


def rare_level(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """A value of the context that only four rows have."""
    values = table["R"].to_numpy().copy()
    values[random.choice(len(table), 4, replace=False)] = 7
    table["R"] = values
    return table


def shifted_units(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """Columns in units far from 1, and far from 0."""
    table["X"] = 1e5 + 300.0 * table["X"]
    table["Z"] = 1e-4 * table["Z"]
    return table


def slope_above_zero(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """A slope that is there where X is positive alone."""
    table["W"] = table["W"] + np.where(table["X"] > 0.0, 2.0, 0.0) * table["Y"]
    return table


def infinite(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """An infinite cell."""
    table.loc[3, "Y"] = np.inf
    return table


def hours(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """A column of times; of every series of a panel, the same ones."""
    units = table["unit"].to_numpy() if "unit" in table else np.zeros(len(table), int)
    place = np.concatenate([np.arange(np.sum(units == unit)) for unit in np.unique(units)])
    table["time"] = pd.Timestamp("2021-03-01") + pd.to_timedelta(place, unit="h")
    return table


def gaps(random: np.random.Generator, table: pd.DataFrame) -> pd.DataFrame:
    """The same rows without some of them: the series has gaps."""
    return table[random.random(len(table)) > 0.03].reset_index(drop=True)


# Which calls are made.


@dataclass(frozen=True)
class Case:
    """A table and how it is searched; the part of the name before the first slash is its file."""

    name: str
    system: System
    context: Any
    keywords: Mapping[str, Any]

    @property
    def file(self) -> str:
        """The name of the file that keeps it, without the ending."""
        return self.name.split("/")[0]

    @property
    def with_lags(self) -> bool:
        """Whether rows follow each other."""
        return "lags" in self.keywords


def cases() -> Iterator[Case]:
    """The whole set, in order."""
    yield from crossed("lines", LINES, METHODS, "R")
    for name, test in product(("pc-ac", "fci-ac"), TESTS):
        keywords = {"method": name, "test": test}
        yield Case(f"tests/{name}/{test}", System(kinds=KINDS_FOR.get(test, {})), "R", keywords)
        if test in FOR_NUMBERS:
            laplace = System(noise="laplace", levels=3, rows=330)
            yield Case(f"tests/{name}/{test}, laplace", laplace, "R", keywords)
    for name, (method, keywords) in OPTIONS.items():
        for way in ("endogenous", "exogenous"):
            system = System(exogenous=way == "exogenous", spread=True)
            yield Case(
                f"options/{method}/{name}, {way}", system, "R", {"method": method, **keywords}
            )
    yield from crossed("curves", CURVES, ("auto", "score-ac", "pc-ac"), "R")
    for method, test in product(("pc-ac", "fci-ac", "pc-b"), ("basis", "gaussian-ranks")):
        keywords = {"method": method, "test": test}
        yield Case(f"curves/{method}/{test}", System(curve=True), "R", keywords)
    yield from crossed("kinds", KINDS, METHODS, "R")
    yield from crossed("several", SEVERAL, METHODS, ["R", "S"])
    for name, (system, context) in CUTS.items():
        for method in METHODS:
            yield Case(f"cuts/{method}/{name}", system, context, {"method": method})
    for method in ("auto", "score-ac", "pc-ac"):
        yield Case(
            f"cuts/{method}/best", BENT_AT_A_CUT, cc.threshold("X", "best"), {"method": method}
        )
    for method, (name, (change, keywords)) in product(METHODS, MISSING.items()):
        system = System(rows=320, changes=(change,))
        yield Case(f"missing/{method}/{name}", system, "R", {"method": method, **keywords})
    for method, (name, knowledge) in product(METHODS, KNOWLEDGE.items()):
        yield Case(
            f"knowledge/{method}/{name}", System(), "R", {"method": method, "knowledge": knowledge}
        )
    yield from crossed("none", NONE, METHODS, None)
    yield from crossed("damage", DAMAGE, METHODS, "R")
    for method, (name, (system, context, keywords)) in product(METHODS, LAGS.items()):
        yield Case(
            f"lags/{method}/{name}", system, context, {"method": method, "lags": 1, **keywords}
        )
    for method, (name, (system, context, keywords)) in product(METHODS, PANEL.items()):
        keywords = {"method": method, "lags": 1, "units": "unit", **keywords}
        yield Case(f"panel/{method}/{name}", system, context, keywords)
    for name, (system, context, keywords) in MORE_LAGS.items():
        yield Case(f"lags/{name}", system, context, keywords)
    for name, (system, context, keywords) in REFUSALS.items():
        yield Case(f"refusals/{name}", system, context, keywords)


def crossed(
    file: str, systems: Mapping[str, System], methods: tuple[str, ...], context: Any
) -> Iterator[Case]:
    """Every system with every method."""
    for method, (name, system) in product(methods, systems.items()):
        yield Case(f"{file}/{method}/{name}", system, context, {"method": method})


LINES = {
    "endogenous": System(),
    "exogenous": System(exogenous=True),
    "words": System(changes=(named_contexts,), variables=4),
    "three levels": System(levels=3, rows=390),
    "spreads": System(spread=True, exogenous=True, noise="uniform"),
    "few rows": System(rows=110, variables=4),
}
FOR_NUMBERS = ("partial-correlation", "fisher-z", "sandwich", "gaussian-ranks", "tsagris")
TESTS = (
    *FOR_NUMBERS,
    "basis",
    "robust-change",
    "conditional-gaussian",
    "g-squared",
    "regression-legacy",
)
KINDS_FOR = {
    "tsagris": {"Y": "ordered", "W": "count"},
    "conditional-gaussian": {"Y": "category"},
    "g-squared": dict.fromkeys(VARIABLES, "binary"),
}
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "alpha 0.01": ("pc-ac", {"alpha": 0.01}),
    "max_given 1": ("pc-ac", {"max_given": 1}),
    "conservative": ("pc-ac", {"collider_rule": "conservative"}),
    "first": ("pc-ac", {"collider_rule": "first"}),
    "cycle": ("pc-ac", {"masked_scope": "cycle"}),
    "always": ("pc-ac", {"masked_scope": "always"}),
    "within": ("pc-ac", {"orientation": "within"}),
    "ranks": ("pc-ac", {"transform": "ranks"}),
    "conservative, alpha 0.1": ("pc-m", {"collider_rule": "conservative", "alpha": 0.1}),
    "within each": ("fci-ac", {"orientation": "within"}),
    "possible_dsep 1": ("fci-ac", {"possible_dsep": 1}),
    "bidirected": ("fci-ac", {"contested": "bidirected"}),
    "unconfounded context": ("fci-ac", {"context_confounded": False}),
    "penalty 1": ("score-ac", {"penalty": 1.0}),
    "exact": ("score-ac", {"search": "exact"}),
    "order": ("score-ac", {"search": "order", "starts": 3}),
    "normal scores": ("score-ac", {"transform": "ranks"}),
    "no transform, no curves": ("score-ac", {"transform": "none", "curves": "never"}),
    "curves always": ("score-ac", {"curves": "always"}),
}
CURVES = {
    "endogenous": System(curve=True),
    "exogenous": System(curve=True, exogenous=True, noise="uniform"),
    "bent scales": System(changes=(bent_scales,)),
    "laplace": System(noise="laplace", exogenous=True),
}
KINDS = {
    "category": System(kinds={"Y": "category"}),
    "ordered": System(kinds={"Z": "ordered"}),
    "count": System(kinds={"Z": "count"}),
    "mixed": System(kinds={"X": "binary", "Y": "count", "Z": "category", "W": "ordered"}, rows=340),
}
SEVERAL = {
    "endogenous": System(contexts=2, rows=380),
    "exogenous": System(contexts=2, rows=380, exogenous=True),
    "mixed": System(contexts=2, rows=380, variables=4, kinds={"Y": "category"}),
    "three levels": System(contexts=2, rows=400, variables=4, levels=3),
}
BENT_AT_A_CUT = System(contexts=0, rows=400, variables=4, changes=(slope_above_zero,))
CUTS = {
    "threshold": (System(contexts=0), cc.threshold("Y", 0.2)),
    "bins": (System(contexts=0, rows=340), cc.bins("X", quantiles=3)),
    "threshold and column": (System(rows=360), ["R", cc.threshold("X", 0.0, name="high X")]),
}
MISSING = {
    "listwise": (holes(0.06, "X", "Z"), {"missing": "listwise"}),
    "testwise": (holes(0.06, "Y", "W"), {"missing": "testwise"}),
    "model": (holes(0.08, "Y", "Z", "W"), {"missing": "model"}),
    "codes": (codes_for_missing, {"missing": "listwise", "na_values": [-9999]}),
}
KNOWLEDGE = {
    "links": cc.Knowledge(required=[("X", "Y")], forbidden=[("Z", "W"), ("V", "R")]),
    "tiers": cc.Knowledge(tiers=[["X"], ["Y", "R"], ["Z", "W", "V"]]),
    "children": cc.Knowledge.context_children("R", ["Z", "W"]),
    "roots and sinks": cc.Knowledge(roots=["X"], sinks=["V"]),
}
NONE = {
    "lines": System(contexts=0),
    "uniform": System(contexts=0, noise="uniform", variables=4),
    "mixed": System(contexts=0, kinds={"Y": "category", "W": "count"}),
}
DAMAGE = {
    "outliers": System(changes=(outliers,), noise="heavy"),
    "heaped": System(changes=(heaped,)),
    "useless columns": System(changes=(useless_columns,), variables=4),
    "rare level": System(changes=(rare_level,), rows=300),
    "units": System(changes=(shifted_units,)),
}
LAGS: dict[str, tuple[System, Any, dict[str, Any]]] = {
    "one context": (System(in_time=True, variables=3), "R", {}),
    "no context": (System(in_time=True, variables=3, contexts=0), None, {"lags": 2}),
    "gaps": (
        System(in_time=True, variables=3, rows=340, changes=(hours, gaps)),
        "R",
        {"time": "time", "missing": "windows"},
    ),
    "threshold": (System(in_time=True, variables=3, contexts=0), cc.threshold("X", 0.0), {}),
    "missing cells": (
        System(in_time=True, variables=3, rows=340, changes=(holes(0.03, "Y"),)),
        "R",
        {"missing": "windows"},
    ),
    "covariate": (System(in_time=True, variables=4), "R", {"covariates": ["X"]}),
}
PANEL: dict[str, tuple[System, Any, dict[str, Any]]] = {
    "means": (System(in_time=True, variables=3, units=4, rows=360), "R", {}),
    "raw": (System(in_time=True, variables=3, units=4, rows=360), "R", {"unit_effects": "none"}),
    "times": (
        System(in_time=True, variables=3, units=5, rows=400, changes=(hours,)),
        "R",
        {"time": "time", "time_effects": "means"},
    ),
    "no context": (System(in_time=True, variables=4, contexts=0, units=3, rows=300), None, {}),
}
MORE_LAGS: dict[str, tuple[System, Any, dict[str, Any]]] = {
    "pc-ac/two contexts": (
        System(in_time=True, variables=3, contexts=2, rows=380),
        ["R", "S"],
        {"method": "pc-ac", "lags": 1},
    ),
    "score-ac/model of missing cells": (
        System(in_time=True, variables=3, changes=(holes(0.03, "Z"),)),
        "R",
        {"method": "score-ac", "lags": 1, "missing": "model"},
    ),
    "pc-ac/interpolated": (
        System(in_time=True, variables=3, changes=(holes(0.03, "Z"),)),
        "R",
        {"method": "pc-ac", "lags": 1, "missing": "interpolate"},
    ),
    "auto/context now alone": (
        System(in_time=True, variables=3),
        "R",
        {"method": "auto", "lags": 2, "context_lags": [0]},
    ),
    "fci-ac/two lags": (
        System(in_time=True, variables=3, contexts=0),
        None,
        {"method": "fci-ac", "lags": 2, "alpha": 0.01},
    ),
}
REFUSALS: dict[str, tuple[System, Any, dict[str, Any]]] = {
    "a context that is no column": (System(), "wether", {}),
    "missing cells": (System(changes=(holes(0.05, "Y"),)), "R", {}),
    "infinite cells": (System(changes=(infinite,)), "R", {"method": "pc-ac"}),
    "a test for scores": (System(), "R", {"method": "score-ac", "test": "fisher-z"}),
    "missing cells test by test for scores": (
        System(changes=(holes(0.05, "Y"),)),
        "R",
        {"method": "score-ac", "missing": "testwise"},
    ),
}
CASES = {case.name: case for case in cases()}
FILES = tuple(dict.fromkeys(case.file for case in CASES.values()))
