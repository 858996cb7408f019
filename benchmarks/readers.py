"""Two contexts: which links change with which of them, by score-ac, by the joined column, and by
pc-ac.

    python benchmarks/readers.py [--models 40] [--rows 500 1000 2000] [--seed 0]

Five numbers with continuous weights and two binary contexts that are noisy thresholds of two of
them; up to three links change with R, with S, or with both. "system": links between numbers in any
context. "changes": pairs of a changed link and a context variable that it changes with, where the
model of score-ac has one slope for both values or two. "readers": a context variable that causes a
number. True and false rates, and the share of tables with exactly the right changes. "claims": what
`changes()` claims between any two combinations of values, false ones of all, and the share of the
links that come or go.
"""

from __future__ import annotations

import argparse
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import causalcontext as cc
from measuring import markdown_table, with_second_opinion

NUMBERS, CONTEXTS = ("A", "B", "C", "D", "E"), ("R", "S")
Pairs = set[tuple[str, str]]


class Truth(NamedTuple):
    """Links between numbers, (link, context variable) for those that change, (context variable,
    number), slopes.
    """

    system: Pairs
    changes: set[tuple[str, str, str]]
    readers: Pairs
    slopes: dict[tuple[str, str], dict[tuple[int, int], float]]


def drawn(rows: int, seed: int) -> tuple[pd.DataFrame, Truth]:
    """A table, and what is true of it; contexts follow the first two numbers, which read
    neither.
    """
    random = np.random.default_rng([seed, 11])
    truth, values = Truth(set(), set(), set(), {}), {}
    codes: dict[str, Any] = {}
    for place, name in enumerate(NUMBERS):
        total = random.normal(size=rows)
        for cause in NUMBERS[:place]:
            if random.random() < 0.5:
                continue
            slope = random.choice([-1.0, 1.0]) * random.uniform(0.6, 1.4)
            weight, reads, other = np.full(rows, slope), (), slope
            if place >= 2 and random.random() < 0.4:
                reads = [("R",), ("S",), ("R", "S")][int(random.integers(3))]
                changed = np.all([codes[context] == 1 for context in reads], axis=0)
                other = random.choice([0.0, -slope])
                weight = np.where(changed, slope, other)
            truth.slopes[cause, name] = {
                cell: (
                    slope
                    if all(
                        code
                        for context, code in zip(CONTEXTS, cell, strict=True)
                        if context in reads
                    )
                    else other
                )
                for cell in product((0, 1), repeat=2)
            }
            truth.system.add((cause, name))
            truth.changes.update((cause, name, context) for context in reads)
            truth.readers.update((context, name) for context in reads)
            total += weight * values[cause]
        values[name] = total
        if place < 2:
            noise = 0.5 * random.logistic(size=rows)
            codes[CONTEXTS[place]] = (total / total.std() + noise > 0).astype(int)
    return pd.DataFrame({**values, **codes}), truth


def found_by(table: pd.DataFrame, method: str) -> tuple[Truth, cc.ContextGraphs]:
    """What a method says; a change of a link is read off its presence and, for score-ac, its slope
    in each context.
    """
    if method == "joined":
        joined = table.assign(RS=[f"{r}{s}" for r, s in zip(table["R"], table["S"], strict=True)])
        result = cc.discover(
            joined.drop(columns=["R", "S"]), "RS", method="score-ac", curves="never"
        )
        cells = {value: (int(value[0]), int(value[1])) for value in result.contexts}
    else:
        options = {"curves": "never"} if method == "score-ac" else {}
        result = cc.discover(table, list(CONTEXTS), method=method, **options)
        cells = {value: value for value in result.contexts}
    truth = Truth(set(), set(), set(), {})
    for cause, effect in product(NUMBERS, NUMBERS):
        slopes = {cell: slope_of(result, cause, effect, value) for value, cell in cells.items()}
        if cause == effect or not any(slopes.values()):
            continue
        if (
            cause < effect
        ):  # the order of names is that of causes: directions are not what is measured here
            truth.system.add((cause, effect))
            truth.changes.update(
                (cause, effect, context)
                for place, context in enumerate(CONTEXTS)
                if _differs(slopes, place)
            )
    if method != "joined":
        truth.readers.update(
            (context, name)
            for context in CONTEXTS
            for name in NUMBERS
            if result.union.mark(context, name) == "-->"
        )
    return truth, result


def claims(result: cc.ContextGraphs, truth: Truth) -> list[int]:
    """Links that come or go between two contexts and are claimed, all of them, false claims, all
    claims.
    """
    counts = np.zeros(4, dtype=int)
    for first, second in combinations(result.contexts, 2):
        true = {
            pair
            for pair, slopes in truth.slopes.items()
            if (slopes[first] == 0) != (slopes[second] == 0)
        }
        made = {
            tuple(sorted((row.source, row.target)))
            for row in with_second_opinion(result).changes(first, second).itertuples()
            if row.claimed and row.kind == "edge"
        }
        counts += [len(made & true), len(true), len(made - true), len(made)]
    return counts.tolist()


def slope_of(result: cc.ContextGraphs, cause: str, effect: str, value: Any) -> float:
    """The slope of a link in the model of a context, 1 where a method has no model, 0 without a
    link.
    """
    if not result.graphs[value].mark(cause, effect):
        return 0.0
    mechanisms = None if result.evidence is None else result.evidence.mechanisms
    if mechanisms is None:
        return 1.0
    names, place = result.names, list(result.contexts).index(value)
    for one, other in ((cause, effect), (effect, cause)):
        terms = [
            term
            for equation in mechanisms.equations
            if equation.effect == names.index(other)
            for term in equation.terms
            if names.index(one) in term.causes and place in term.contexts
        ]
        if terms:
            return round(sum(term.slopes[0] for term in terms), 9)
    return 1.0


def _differs(slopes: dict[tuple[int, int], float], place: int) -> bool:
    """Whether a slope depends on one context variable, the other one held."""
    return any(
        slopes[cell] != slopes[other]
        for cell, other in product(slopes, slopes)
        if cell[1 - place] == other[1 - place]
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 1000, 2000])
    parser.add_argument("--seed", type=int, default=0, help="number of the first table")
    chosen = parser.parse_args()
    possible = Truth(
        {(a, b) for a, b in product(NUMBERS, NUMBERS) if a < b},
        {(a, b, c) for a, b in product(NUMBERS, NUMBERS) for c in CONTEXTS if a < b},
        set(product(CONTEXTS, NUMBERS)),
        {},
    )
    lines = []
    for rows in chosen.rows:
        for method in ("score-ac", "joined", "pc-ac"):
            counts, exact, claimed = np.zeros((3, 4)), 0, np.zeros(4, dtype=int)
            for seed in range(chosen.seed, chosen.seed + chosen.models):
                table, truth = drawn(rows, seed)
                found, result = found_by(table, method)
                exact += found.changes == truth.changes
                claimed += [0, 0, 0, 0] if method == "joined" else claims(result, truth)
                for row, own, true, every in zip(
                    counts, found[:3], truth[:3], possible[:3], strict=True
                ):
                    row += [len(own & true), len(true), len(own - true), len(every - true)]
            cells = [
                f"{hit / max(there, 1):.3f}/{false / max(free, 1):.3f}"
                for hit, there, false, free in counts
            ]
            cells[2] = "-" if method == "joined" else cells[2]
            made = (
                "-"
                if method == "joined"
                else f"{claimed[2]} of {claimed[3]}, {claimed[0] / max(claimed[1], 1):.2f}"
            )
            lines.append([rows, method, *cells, f"{exact / chosen.models:.2f}", made])
    print(
        markdown_table(
            ["rows", "method", "system", "changes", "readers", "exactly right", "claims"], lines
        )
    )


if __name__ == "__main__":
    main()
