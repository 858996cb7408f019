"""Clean tables get no warning of damage, of dependent rows or of columns that were left out.

At most 1 % of them may: who is warned of nothing twice no longer reads warnings.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from bases import BASES, clean_base

import causalcontext as cc
from causalcontext.examples import noise
from causalcontext_lab.simulate import random_model

ABOUT_MECHANISMS = ("these rows do not tell whether the context changes", "residuals of ")
"""How warnings begin that speak of mechanisms and not of the table: a context that is nearly a
step of its cause, and a category that was a number, do bring them."""
MOST = 0.01

Table = tuple[pd.DataFrame, Any, dict[str, str]]
"""A table, its context and the kinds that are declared."""
LAWS = (noise.normal, noise.uniform, noise.laplace, noise.exponential, noise.student_t5)


def from_base(name: str) -> Callable[[np.random.Generator], Table]:
    """Tables of a base."""

    def drawn(rng: np.random.Generator) -> Table:
        base = clean_base(name, int(rng.integers(1 << 30)))
        return base.table, base.truth.context, dict(base.truth.kinds)

    return drawn


def from_model(law: Any, contexts: int, rows: int) -> Callable[[np.random.Generator], Table]:
    """Tables of random linear models."""

    def drawn(rng: np.random.Generator) -> Table:
        model = random_model(
            nodes=5,
            density=0.5,
            contexts=contexts,
            edits=("remove", "add"),
            context_noise=1.0,
            noise=law,
            seed=rng,
        )
        return model.sample(rows, rng), "R", {}

    return drawn


def of_two_contexts(rng: np.random.Generator) -> Table:
    """A random model, and a second context that does nothing."""
    table, _, _ = from_model(noise.normal, 2, 500)(rng)
    return table.assign(S=rng.choice(["u", "v"], len(table))), ["R", "S"], {}


def of_mixed_kinds(rng: np.random.Generator) -> Table:
    """A random model whose numbers are flags, counts, levels, ratings and rounded numbers."""
    table, _, _ = from_model(noise.normal, 2, 300)(rng)
    for name in table.columns.drop("R"):
        x = ((table[name] - table[name].mean()) / table[name].std()).to_numpy()
        shapes = (
            x > 0.5 * rng.standard_normal(),
            rng.poisson(np.exp(np.clip(0.8 + 0.6 * x, -3.0, 3.0))),
            np.array(["low", "mid", "high", "top"])[np.digitize(x, [-0.7, 0.2, 1.0])],
            np.clip(np.round(3.0 + 1.1 * x), 1, 5).astype(int),
            np.round(50.0 + 10.0 * x),
        )
        table[name] = shapes[int(rng.integers(len(shapes)))]
    return table, "R", {}


def of_ratings(rng: np.random.Generator) -> Table:
    """Answers on short scales, most of them the middle one in one of two groups."""
    group = rng.choice(["a", "b"], 400, p=[0.7, 0.3])
    wide = np.where(group == "a", 0.4, 1.2)
    answers = np.clip(np.round(3.0 + wide * rng.standard_normal(400)), 1, 5).astype(int)
    short = rng.choice([1, 2, 3], 400, p=[0.12, 0.75, 0.13])
    age = rng.integers(18, 90, 400)
    return (
        pd.DataFrame({"answers": answers, "short": short, "age": age, "group": group}),
        "group",
        {},
    )


def of_weather(rng: np.random.Generator) -> Table:
    """Rounded amounts with many zeros, shares with limits, and two heaps."""
    rows = 800
    rain = np.where(rng.random(rows) < 0.7, 0.0, np.round(rng.exponential(4.0, rows), 1))
    columns = {
        "rain": rain,
        "warm": np.round(rng.normal(15.0, 8.0, rows)),
        "damp": np.round(100.0 * rng.beta(6.0, 4.0, rows)),
        "wind": np.round(6.0 * rng.weibull(2.0, rows), 1),
        "level": np.where(rng.random(rows) < 0.3, rng.normal(-4, 1, rows), rng.normal(3, 1, rows)),
    }
    return pd.DataFrame(columns), None, {}


def of_heavy_tails(rng: np.random.Generator) -> Table:
    """Noise of so few degrees of freedom that single values are far away."""
    columns = {name: rng.standard_t(2.5, 120) for name in "abcd"}
    return pd.DataFrame({**columns, "g": rng.choice(["x", "y"], 120)}), "g", {}


SOURCES: dict[str, tuple[Callable[[np.random.Generator], Table], int]] = {
    **{f"base {name}": (from_base(name), 14) for name in BASES},
    **{
        f"{law.__name__}, {contexts} contexts, {rows} rows": (from_model(law, contexts, rows), 15)
        for law in LAWS
        for contexts, rows in ((2, 100), (2, 500), (3, 400))
    },
    "two contexts": (of_two_contexts, 20),
    "mixed kinds": (of_mixed_kinds, 40),
    "ratings": (of_ratings, 20),
    "weather": (of_weather, 20),
    "heavy tails": (of_heavy_tails, 30),
}
"""Where clean tables come from, and how many of each."""


def clean_tables() -> Iterator[tuple[str, Table]]:
    """Clean tables of every source."""
    for name, (drawn, count) in SOURCES.items():
        for seed in range(count):
            yield name, drawn(np.random.default_rng([seed, zlib.crc32(name.encode())]))


@pytest.mark.slow
def test_clean_tables_get_no_false_alarm() -> None:
    alarms = []
    tables = 0
    for name, (table, context, kinds) in clean_tables():
        result = cc.discover(table, context, kinds=kinds)
        told = [one for one in result.warnings if not one.startswith(ABOUT_MECHANISMS)]
        tables += 1
        if told or result.left_out:
            alarms.append(f"{name}: {'; '.join(told)}")
    assert tables >= 400
    assert len(alarms) <= MOST * tables, "\n".join(alarms)
