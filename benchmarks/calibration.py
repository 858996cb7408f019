"""Size and power of what `auto` picks for every pair of kinds: the table of docs/tests.md.

Columns x and y depend on the same conditions and, for the power, y on x; every kind by its own law
(linear with normal noise, logits, proportional odds, Poisson). Run `python
benchmarks/calibration.py [--repeats 600]`; prints Markdown.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from causalcontext.ci_tests.registry import find_test
from causalcontext.data.sufficient_statistics import gather_statistics
from causalcontext.data.tables import read_table
from causalcontext.views import CIQuery

Floats = NDArray[np.float64]
KINDS = ("continuous", "binary", "nominal", "ordered", "count")
DECLARED = {"binary": "categorical", "nominal": "categorical"}
CONDITIONS = ("continuous", "nominal", "count")
EFFECT = 0.6


def main() -> None:
    """Print one row for every pair of kinds."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=600)
    options.add_argument("--rows", type=int, nargs="+", default=[100, 400])
    chosen = options.parse_args()
    heads = [f"size, n = {n}, {z} given" for n in chosen.rows for z in range(4)]
    print(f"| pair | tests | {' | '.join(heads)} | power, n = {chosen.rows[0]}, 0 and 2 given |")
    print(f"|---|---|{'---|' * (len(heads) + 1)}")
    outside = []
    for place, pair in enumerate(combinations_with_replacement(KINDS, 2)):
        used: Counter[str] = Counter()
        sizes = [
            share(pair, z, n, 0.0, chosen.repeats, place, used)
            for n in chosen.rows
            for z in range(4)
        ]
        powers = [
            share(pair, z, chosen.rows[0], EFFECT, chosen.repeats // 3, place, Counter())
            for z in (0, 2)
        ]
        outside += [
            f"{pair[0]} - {pair[1]}, {head}: {size}"
            for head, size in zip(heads, sizes, strict=True)
            if not 0.03 <= float(size) <= 0.08
        ]
        names = ", ".join(name for name, _ in used.most_common())
        print(
            f"| {' - '.join(pair)} | {names} | {' | '.join(sizes)} | {', '.join(powers)} |",
            flush=True,
        )
    print("\nOutside [.03, .08]:", *(outside or ["none"]), sep="\n- ")


def share(
    pair: tuple[str, str],
    given: int,
    rows: int,
    effect: float,
    repeats: int,
    place: int,
    used: Counter[str],
) -> str:
    """The share of tables in which the pair is called dependent."""
    rejected = tested = 0
    for repeat in range(repeats):
        random = np.random.default_rng([place, given, rows, int(10 * effect), repeat])
        outcome, label = answer(draw_table(pair, given, rows, effect, random), pair, given)
        if np.isfinite(outcome):
            used[label] += 1
            tested += 1
            rejected += outcome <= 0.05
    return f"{rejected / tested:.3f}" if tested else "nan"


def answer(table: pd.DataFrame, pair: tuple[str, str], given: int) -> tuple[float, str]:
    """The p-value of `auto` for x against y given all z, and the test that gave it."""
    kinds = dict(zip(table.columns, [*pair, *CONDITIONS[:given]], strict=True))
    data = read_table(
        table, None, kinds={name: DECLARED.get(kind, kind) for name, kind in kinds.items()}
    )
    prepared = find_test("auto").prepare(data, gather_statistics(data))
    found = prepared.answer([CIQuery(0, 1, tuple(range(2, 2 + given)))])
    names = getattr(prepared, "labels", ("partial-correlation",))
    return float(found.p[0]), names[0 if found.label is None else int(found.label[0])]


def draw_table(
    pair: tuple[str, str], given: int, rows: int, effect: float, random: np.random.Generator
) -> pd.DataFrame:
    """x, y and the conditions."""
    conditions = [drawn(kind, np.zeros(rows), random) for kind in CONDITIONS[:given]]
    common = sum((scored(z) for z in conditions), np.zeros(rows))
    x = drawn(pair[0], 0.5 * common, random)
    y = drawn(pair[1], -0.5 * common + effect * scored(x), random)
    return pd.DataFrame({"x": x, "y": y, **{f"z{place}": z for place, z in enumerate(conditions)}})


def drawn(kind: str, score: Floats, random: np.random.Generator) -> Floats:
    """A column of this kind whose law depends on the score."""
    noise = random.standard_normal(len(score))
    if kind == "continuous":
        return score + noise
    if kind == "count":
        return random.poisson(np.exp(0.5 + 0.5 * np.clip(score, -3.0, 3.0))).astype(float)
    latent = score + random.logistic(size=len(score))
    if kind == "binary":
        return (latent > 0.0).astype(float)
    if kind == "ordered":
        return np.digitize(latent, (-1.5, 0.0, 1.5)).astype(float)
    worth = np.column_stack([np.zeros(len(score)), score, -0.7 * score]) + random.gumbel(
        size=(len(score), 3)
    )
    return worth.argmax(axis=1).astype(float)


def scored(column: Floats) -> Floats:
    """What a column adds to the scores of others: itself in standard units."""
    spread = column.std()
    return (column - column.mean()) / (spread if spread > 0.0 else 1.0)


if __name__ == "__main__":
    main()
