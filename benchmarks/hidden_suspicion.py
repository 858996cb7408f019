"""How often is a hidden common cause suspected where there is one, and where there is none?

    python benchmarks/hidden_suspicion.py --models 40

Tables of 1,000 rows with eight numbers and a context R as in `curved_models` (13 links), analysed
by `discover` as it is. In hidden tables one root with two or more effects among the numbers is left
out, or two; clean tables have nothing hidden. "named" is the share of the arrows drawn on pairs of
its effects that `edges()` calls suspected, "clean" that of all arrows of clean tables, "others"
that of the other arrows of hidden tables, where a suspicion may be about a neighbour; "warned" are
tables with a suspected arrow, hidden and clean. "asked" is the share of arrows that were asked.
Effects are .6 to 1.8 in size; in the cell "few weights" 1.2, 1.5 or 1.8, so that effects of one
variable on another along two ways often cancel nearly, which looks like a hidden cause. In the cell
"few links" tables come from `simulate.random_hidden_model`, whose hidden variable has two effects
and in half of the models also causes R. In the cells "one uneven" and "all uneven" noise is
exponential, and the spread of one number, or of all, grows with a cause. Times are processor
seconds a table.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext_lab.simulate import random_hidden_model
from curved_models import SIX, Design, draw_model
from measuring import machine, markdown_table
from model_checks import LINE

ROWS, NUMBERS, LINKS = 1000, 9, 13
WEIGHTS = tuple(np.linspace(0.6, 1.8, 61).tolist())
CELLS = {
    "linear": Design(LINE, weights=WEIGHTS),
    "few weights": Design(LINE),
    "two hidden": Design(LINE, weights=WEIGHTS),
    "weak": Design(LINE, weights=(0.5, 0.6, 0.7, 0.8, 0.9)),
    "few links": None,
    "exponential": Design(LINE, noise="exponential"),
    "uniform": Design(LINE, noise="uniform"),
    "curved": Design(SIX),
    "curved, exponential": Design(SIX, noise="exponential"),
    "one uneven": Design(LINE, noise="exponential", uneven=0.5, spread="one"),
    "all uneven": Design(LINE, noise="exponential", uneven=0.5),
}
Pairs = set[frozenset[str]]


def drawn(cell: str, hidden: int, rows: int, seed: int) -> tuple[pd.DataFrame, Pairs]:
    """A table, and the pairs of numbers with a hidden common cause."""
    design = CELLS[cell]
    if design is None:
        return _with_few_links(hidden, rows, seed)
    for attempt in range(1000):
        model = draw_model(_sized(design, hidden), 1000 * seed + attempt)
        caused, roots = model.links.all(axis=0), ~model.links.any(axis=(0, 1))
        effects = [[int(v) for v in np.flatnonzero(own) if v != model.context] for own in caused]
        fit = [
            v for v, own in enumerate(effects) if roots[v] and v != model.context and len(own) > 1
        ]
        if len(fit) >= hidden:
            break
    generator = np.random.default_rng([seed, 30, hidden])
    left_out = generator.choice(fit, hidden, replace=False).tolist() if hidden else []
    pairs = {
        frozenset(f"V{v}" for v in pair)
        for root in left_out
        for pair in combinations(effects[root], 2)
    }
    return model.sample(rows, generator).drop(columns=[f"V{v}" for v in left_out]), pairs


def _sized(design: Design, hidden: int) -> Design:
    return replace(design, nodes=NUMBERS + hidden, links=LINKS)


def _with_few_links(hidden: int, rows: int, seed: int) -> tuple[pd.DataFrame, Pairs]:
    model = random_hidden_model(8, hidden, seed=seed)
    names, effects = model.model.names, (model.model.coefficients != 0).any(axis=0)
    numbers = [
        [v for v in np.flatnonzero(effects[h]) if v != model.model.context] for h in model.hidden
    ]
    pairs = {frozenset(names[v] for v in pair) for own in numbers for pair in combinations(own, 2)}
    return model.sample(rows, seed=100_000 + seed), pairs


def counted(cell: str, hidden: int, rows: int, seeds: range) -> Counter[str]:
    """Arrows and tables, and those that are suspected."""
    count: Counter[str] = Counter()
    for seed in seeds:
        table, pairs = drawn(cell, hidden, rows, seed)
        result = cc.discover(table, "R")
        begin = time.process_time()
        edges = result.edges()
        count["seconds"] += time.process_time() - begin  # type: ignore[assignment]
        if "hidden cause" not in edges:
            continue
        system = ~edges["source"].eq("R") & ~edges["target"].eq("R") & edges["mark"].eq("-->")
        for edge in edges[system].to_dict("records"):
            kind = "confounded" if frozenset((edge["source"], edge["target"])) in pairs else "other"
            count.update(
                {
                    kind: 1,
                    f"{kind} named": edge["hidden cause"] == "suspected",
                    "asked": edge["hidden cause"] != "not asked",
                }
            )
        count.update(tables=1, warned=bool(edges[system]["hidden cause"].eq("suspected").any()))
    return count


def line(cell: str, rows: int, seeds: range) -> list[str]:
    """One line of the table."""
    with_hidden, clean = (
        counted(cell, 2 if cell == "two hidden" else 1, rows, seeds),
        counted(cell, 0, rows, seeds),
    )
    arrows = sum(one[kind] for one in (with_hidden, clean) for kind in ("confounded", "other"))
    tables = with_hidden["tables"] + clean["tables"]

    def share(part: int, whole: int) -> str:
        return f"{part / max(whole, 1):.3f} ({part} of {whole})"

    return [
        cell,
        share(with_hidden["confounded named"], with_hidden["confounded"]),
        share(clean["other named"], clean["other"]),
        share(with_hidden["other named"], with_hidden["other"]),
        share(with_hidden["warned"], with_hidden["tables"]),
        share(clean["warned"], clean["tables"]),
        f"{(with_hidden['asked'] + clean['asked']) / max(arrows, 1):.2f}",
        f"{(with_hidden['seconds'] + clean['seconds']) / max(tables, 1):.2f}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=70_000)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--cells", nargs="+", default=list(CELLS), choices=list(CELLS))
    asked = parser.parse_args()
    print(
        f"{machine()}; {asked.models} models a cell, seeds from {asked.first_seed}, {asked.rows}"
        " rows\n"
    )
    seeds = range(asked.first_seed, asked.first_seed + asked.models)
    head = (
        "cell",
        "named",
        "clean",
        "others",
        "hidden tables warned",
        "clean tables warned",
        "asked",
        "seconds",
    )
    print(markdown_table(head, [line(cell, asked.rows, seeds) for cell in asked.cells]), flush=True)


if __name__ == "__main__":
    main()
