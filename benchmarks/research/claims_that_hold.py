"""How many claims of change are false, and how many changes are claimed, where the model holds and
where it does not?

    python benchmarks/research/claims_that_hold.py --models 40

Cells are those of `model_checks.py`, and some more. "alone" is what the graphs of one engine would
claim by themselves; "held" is what `changes()` claims: no model check speaks, and what comes from
tests is confirmed by score-ac. A claim is true if the link is there in one context and not in the
other. The aim is a false discovery rate of at most .05 plus two standard errors in every cell. With
`--by-kind`, which changes are not claimed, by the kinds of cause and effect:

    python benchmarks/research/claims_that_hold.py --by-kind --cells categories-500 curved-categories-500
    --methods score-ac

With `--lagged`, series of four numbers with `lags=1`, whose regime R is caused by one of them a
step before and changes nothing, or (cells "changes") one slope, which is 0 in one regime. With
`--cycles`, systems with union cycles: links of three numbers that turn round between contexts. A
claim of an edge or a slope is false there if the link is the same in both contexts, one of a level
or a spread if R does not cause the variable. With `--slopes`, 1,500 rows of A --> B, A --> C, B -->
C and A --> R, where the slope of 1 of B --> C halves in one context ("halved"), or stays ("kept").
With `--levels`, 500 rows of seven numbers in a random order, R among them, where R is caused by
earlier ones and changes the level of some of the later ones by one standard deviation, and nothing
else; the power is that of these levels.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.results.changes import own_claims

sys.path.insert(0, str(Path(__file__).parents[1]))

from curved_models import LAWS, CurvedModel, Design, draw_model
from measuring import machine, markdown_table, with_second_opinion
from model_checks import DESIGNS, LINE, OWN_LAWS, with_outliers

CELLS = (
    "linear-200",
    "linear-500",
    "linear-2000",
    "weak-500",
    "three-contexts-600",
    "tanh-500",
    "square-500",
    "sine-500",
    "step-500",
    "curved-200",
    "curved-500",
    "curved-exponential-500",
    "curved-three-contexts-600",
    "categories-500",
    "curved-categories-500",
    "uneven-500",
    "products-500",
    "interactions-500",
    "exponential-500",
    "t5-500",
    "t3-500",
    "lognormal-500",
    "outliers-500",
    "ordered-rows-500",
)


MORE = {
    "curved-exponential": Design(noise="exponential"),
    "curved-three-contexts": Design(contexts=3),
    "categories": Design(LINE, categorical=0.3),
    "curved-categories": Design(categorical=0.3),
    "interactions": Design(LINE, products=1.0),
}


def changed_links(model: CurvedModel, a: int, b: int) -> set[frozenset[str]]:
    """Pairs of system variables that are linked in one of two contexts only."""
    linked = model.links | model.links.swapaxes(1, 2)
    names = ["R" if node == model.context else f"V{node}" for node in range(model.design.nodes)]
    pairs = np.argwhere(np.triu(linked[a] != linked[b]))
    return {frozenset((names[x], names[y])) for x, y in pairs if model.context not in (x, y)}


def totals(model: CurvedModel, result: cc.ContextGraphs) -> Counter[str]:
    """Claims alone and held, the false ones among them, and changes that there are."""
    count: Counter[str] = Counter()
    for a, b in combinations(range(len(result.contexts)), 2):
        values = result.contexts[a], result.contexts[b]
        truth = changed_links(model, a, b)
        alone = [{one.source, one.target} for one in own_claims(result, *values) if one.claimed]
        held = [
            {row.source, row.target}
            for row in with_second_opinion(result).changes(*values).itertuples()
            if row.claimed
        ]
        count.update(changes=len(truth), alone=len(alone), held=len(held))
        count.update(false_alone=sum(pair not in truth for pair in alone))
        count.update(false_held=sum(pair not in truth for pair in held))
    return count


SERIES = {
    "line": lambda x: x,
    "quadratic": lambda x: 0.5 * (x**2 - 1.0),
    "relu": lambda x: np.maximum(x, 0.0),
    "tanh": lambda x: np.tanh(2.0 * x),
}
LAGGED = (
    "line",
    "quadratic",
    "relu",
    "tanh",
    "line exponential",
    "relu exponential",
    "line trend",
    "line changes",
    "relu changes",
)
SLOPES = ("halved", "kept")
LEVELS = ("levels", "levels exponential", "levels three contexts")


def series_table(cell: str, rows: int, seed: int) -> tuple[pd.DataFrame, set[frozenset[str]]]:
    """A series in time with its regime, and the pairs of nodes whose link differs between
    regimes.
    """
    random, words = np.random.default_rng([seed, 30]), cell.split()
    curve, names = SERIES[words[0]], ["A", "B", "C", "D"]
    noise = (
        random.exponential(size=(rows, 4)) - 1.0
        if "exponential" in words
        else random.standard_normal((rows, 4))
    )
    causes = {
        effect: random.choice([v for v in range(4) if v != effect], 2, replace=False)
        for effect in (1, 2, 3)
    }
    slopes = random.choice([-1.0, 1.0], (4, 4)) * random.uniform(0.5, 0.9, (4, 4))
    changing = int(random.integers(1, 4))
    x, regime, other = (
        np.zeros((rows, 4)),
        np.zeros(rows, dtype=np.int64),
        0.5 * random.standard_normal(rows),
    )
    for t in range(1, rows):
        regime[t] = x[t - 1, 0] + other[t] > 0.0
        x[t] = 0.3 * x[t - 1] + noise[t]
        for effect, own in causes.items():
            for place, cause in enumerate(own):
                there = "changes" not in words or effect != changing or place or regime[t]
                x[t, effect] += (
                    there
                    * slopes[cause, effect]
                    * float(curve(np.clip(x[t - 1, cause], -4.0, 4.0)))
                )
    if "trend" in words:
        x += np.linspace(0.0, 3.0, rows)[:, None]
    pairs: set[frozenset[str]] = set()
    if "changes" in words:
        pairs = {
            frozenset((f"{names[causes[changing][0]]}(t-1)", names[changing])),
            frozenset(("R", names[changing])),
        }
    return pd.DataFrame(x, columns=names).assign(R=regime), pairs


def cycle_table(rows: int, seed: int) -> tuple[pd.DataFrame, set[frozenset[str]]]:
    """A random system with a union cycle, and the pairs whose link is there in one context
    alone.
    """
    model = cc.simulate.random_model(
        nodes=6, density=0.4, edits=("flip", "remove"), cycles="enforce", seed=seed
    )
    differ = model.adjacency[0] != model.adjacency[1]
    differ[model.context] = model.adjacency[
        0, model.context
    ]  # whose level or spread the context may change
    return model.sample(rows, seed=seed + 1), {
        frozenset(model.names[v] for v in pair) for pair in np.argwhere(differ)
    }


def slope_table(cell: str, rows: int, seed: int) -> tuple[pd.DataFrame, set[frozenset[str]]]:
    """Three numbers and a context that one of them causes, and the pair whose slope halves in it,
    if it does.
    """
    random = np.random.default_rng([seed, 31])
    a, b, c, other = random.standard_normal((4, rows))
    first, second = random.choice([-1.0, 1.0], 2) * random.uniform(0.5, 1.5, 2)
    regime, b = (a + other > 0.0).astype(np.int64), b + first * a
    c = c + second * a + np.where((regime == 1) & (cell == "halved"), 0.5, 1.0) * b
    pairs = {frozenset(("B", "C")), frozenset(("R", "C"))} if cell == "halved" else set()
    return pd.DataFrame({"A": a, "B": b, "C": c, "R": regime}), pairs


def level_table(cell: str, rows: int, seed: int) -> tuple[pd.DataFrame, set[frozenset[str]]]:
    """Seven numbers and a context, and the context with every number whose level it changes."""
    random = np.random.default_rng([seed, 32])
    values, names, pairs, place = (
        np.zeros((rows, 8)),
        [f"V{v}" for v in range(8)],
        set(),
        int(random.integers(1, 5)),
    )
    order, regime = random.permutation(8), np.zeros(rows, dtype=np.int64)
    names[order[place]] = "R"
    for step, node in enumerate(order):
        own = (
            random.exponential(size=rows) - 1.0
            if "exponential" in cell
            else random.standard_normal(rows)
        )
        causes = [v for v in order[:step] if v != order[place] and random.random() < 0.35]
        for cause in causes or ([order[0]] if step == place else []):
            own += random.choice([-1.0, 1.0]) * random.uniform(0.6, 1.4) * values[:, cause]
        if step == place:
            regime = np.digitize(
                own, np.quantile(own, [1 / 3, 2 / 3] if "three" in cell else [1 / 2])
            )
        elif step > place and random.random() < 0.4:
            own += own.std() * (regime == 1)
            pairs.add(frozenset(("R", names[node])))
        values[:, node] = (own - own.mean()) / own.std()
    return pd.DataFrame(values, columns=names).assign(R=regime), pairs


def other_line(cell: str, models: int, first_seed: int) -> list[object]:
    """Claims of edges and slopes, the false ones, tables with one, and the share of changes that
    are claimed.
    """
    count: Counter[str] = Counter()
    for seed in range(first_seed, first_seed + models):
        table, pairs = (
            cycle_table(500, seed)
            if cell == "cycles"
            else (
                slope_table(cell, 1500, seed)
                if cell in SLOPES
                else (
                    level_table(cell, 500, seed)
                    if cell in LEVELS
                    else series_table(cell, 600, seed)
                )
            )
        )
        result = cc.discover(table, "R", **({"lags": 1} if cell in LAGGED else {}))
        rows = [
            row
            for row in with_second_opinion(result).changes(*result.contexts[:2]).itertuples()
            if row.claimed
        ]
        false = [row for row in rows if frozenset((row.source, row.target)) not in pairs]
        found = {frozenset((row.source, row.target)) for row in rows} & pairs
        links = {pair for pair in pairs if cell in LEVELS or "R" not in pair}
        count.update(
            claims=len(rows),
            false=len(false),
            tables=bool(false),
            changes=len(links),
            found=len(found & links),
        )
        count.update(f"false {row.kind}" for row in false)
    power = f"{count['found'] / count['changes']:.2f}" if count["changes"] else ""
    kinds = ", ".join(
        f"{count[f'false {kind}']} {kind}"
        for kind in ("edge", "slope", "level", "spread")
        if count[f"false {kind}"]
    )
    return [
        cell,
        f"{count['false']} of {count['claims']}",
        kinds,
        f"{count['tables']} of {models}",
        power,
    ]


def fates(model: CurvedModel, result: cc.ContextGraphs) -> Counter[tuple[str, str]]:
    """What became of every change between the first two contexts, by the kinds of its ends."""
    count: Counter[tuple[str, str]] = Counter()
    names = ["R" if node == model.context else f"V{node}" for node in range(model.design.nodes)]
    rows = {
        frozenset((row.source, row.target)): row
        for row in with_second_opinion(result).changes(*result.contexts[:2]).itertuples()
    }
    for x, y in np.argwhere(model.links[0] != model.links[1]):
        if model.context not in (x, y):
            endpoints = " to ".join(
                "category" if model.categorical[end] else "number" for end in (x, y)
            )
            row = rows.get(frozenset((names[x], names[y])))
            count[
                endpoints,
                "not in the graphs" if row is None else "claimed" if row.claimed else row.reason,
            ] += 1
    return count


def print_fates(cell: str, method: str, models: int, first_seed: int) -> None:
    """One line for every pair of kinds and what became of their changes."""
    total: Counter[tuple[str, str]] = Counter()
    for model, result in drawn(cell, method, models, first_seed):
        total += fates(model, result)
    lines = [[cell, endpoints, fate, number] for (endpoints, fate), number in sorted(total.items())]
    print(
        markdown_table(("cell", "ends", "what became of the changes", "changes"), lines), flush=True
    )


def drawn(
    cell: str, method: str, models: int, first_seed: int
) -> Iterator[tuple[CurvedModel, cc.ContextGraphs]]:
    """The models of a cell, and what the method finds."""
    name, rows = cell.rsplit("-", 1)
    for seed in range(first_seed, first_seed + models):
        generator = np.random.default_rng([seed, int(rows)])
        model = draw_model((DESIGNS | MORE)[name], seed)
        table = model.sample(int(rows), generator)
        table = with_outliers(table, generator) if name == "outliers" else table
        yield model, cc.discover(table, "R", method=method)


def line(cell: str, method: str, models: int, first_seed: int) -> list[object]:
    """One line of the table."""
    total: Counter[str] = Counter()
    for model, result in drawn(cell, method, models, first_seed):
        total += totals(model, result)
    changes = max(total["changes"], 1)
    cells: list[object] = [cell, method, total["changes"]]
    for kind in ("alone", "held"):
        true = total[kind] - total[f"false_{kind}"]
        cells += [f"{total[f'false_{kind}']} of {total[kind]}", f"{true / changes:.2f}"]
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", nargs="+", default=list(CELLS))
    parser.add_argument("--methods", nargs="+", default=["pc-ac", "score-ac"])
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=830_000)
    parser.add_argument("--by-kind", action="store_true")
    parser.add_argument("--lagged", action="store_true")
    parser.add_argument("--cycles", action="store_true")
    parser.add_argument("--slopes", action="store_true")
    parser.add_argument("--levels", action="store_true")
    chosen = parser.parse_args()
    others = {
        LAGGED: chosen.lagged,
        ("cycles",): chosen.cycles,
        SLOPES: chosen.slopes,
        LEVELS: chosen.levels,
    }
    if any(others.values()):
        cells = [cell for some, asked in others.items() if asked for cell in some]
        cells = [cell for cell in chosen.cells if cell in cells] or cells
        lines = [other_line(cell, chosen.models, chosen.first_seed) for cell in cells]
        print(
            markdown_table(("cell", "false claims", "kinds", "tables with one", "power"), lines),
            flush=True,
        )
        return
    LAWS.update(OWN_LAWS)
    print(f"{machine()}; {chosen.models} models a cell, seeds from {chosen.first_seed}\n")
    lines: list[list[object]] = []
    for cell in chosen.cells:
        for method in chosen.methods:
            if chosen.by_kind:
                print_fates(cell, method, chosen.models, chosen.first_seed)
                continue
            lines.append(line(cell, method, chosen.models, chosen.first_seed))
            print(" | ".join(map(str, lines[-1])), flush=True)
    if lines:
        print(
            markdown_table(
                (
                    "cell",
                    "method",
                    "changes",
                    "false alone",
                    "power alone",
                    "false held",
                    "power held",
                ),
                lines,
            )
        )


if __name__ == "__main__":
    main()
