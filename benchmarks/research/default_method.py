"""`auto`, the default, against pc-ac on tables unlike those of `violations.py`: no context, few
rows, more variables.

    python benchmarks/research/default_method.py --models 40
    python benchmarks/research/default_method.py --part nothing-fits --models 40

The first are linear mechanisms with Gaussian noise. The others are systems that neither straight
lines nor curves of score-ac fit; only tables count of which `auto` says so, and the searches that
it could take are compared on them.

TPR and FPR of pairs over all graphs, the share of arrows that point the right way, what `auto`
chose, and processor time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import causalcontext as cc

sys.path.insert(0, str(Path(__file__).parents[1]))

from curved_models import SIX, Design, draw_model
from measuring import machine, markdown_table

Bools = NDArray[np.bool_]
CELLS = {
    "no context, 8 variables": (8, 500, 0),
    "no context, 8 variables, few rows": (8, 100, 0),
    "2 contexts, 8 variables, few rows": (8, 60, 2),
    "2 contexts, 8 variables, very few rows": (8, 30, 2),
    "3 contexts, 8 variables": (8, 500, 3),
    "2 contexts, 30 variables": (30, 500, 2),
    "2 contexts, 30 variables, few rows": (30, 100, 2),
    "2 contexts, 30 variables, fewer rows than variables": (30, 25, 2),
}
"""Variables, rows, contexts."""
VIOLATIONS = {
    "uneven spread": Design(("linear",), uneven=0.5),
    "very uneven spread": Design(("linear",), uneven=1.0),
    "curves, uneven spread": Design(SIX, uneven=0.5),
    "products, uneven spread": Design(("linear",), products=1.0, uneven=0.5),
}
SEARCHES: dict[str, dict[str, str]] = {
    "score-ac": {"method": "score-ac"},
    "pc-ac": {"method": "pc-ac"},
    "pc-ac, sandwich": {"method": "pc-ac", "test": "sandwich"},
    "pc-ac, cmi-knn": {"method": "pc-ac", "test": "cmi-knn"},
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=920_000)
    parser.add_argument("--methods", nargs="+", default=["auto", "pc-ac"])
    parser.add_argument("--part", choices=["other-tables", "nothing-fits"], default="other-tables")
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[200, 500], help="of tables that nothing fits"
    )
    parser.add_argument("--cells", nargs="+", default=list(VIOLATIONS), choices=list(VIOLATIONS))
    options = parser.parse_args()
    (_nothing_fits if options.part == "nothing-fits" else _other_tables)(options)


def _other_tables(options: argparse.Namespace) -> None:
    lines = []
    for cell, (nodes, rows, contexts) in CELLS.items():
        for method in options.methods:
            seeds = range(options.first_seed, options.first_seed + options.models)
            lines.append([cell, str(rows), method, *_entries(nodes, rows, contexts, method, seeds)])
            print(" | ".join(lines[-1]), flush=True)
    header = ("tables", "rows", "method", "TPR", "FPR", "arrows", "chose", "s a table")
    print(f"\n{markdown_table(header, lines)}\n\n{machine()}; {options.models} models a cell")


def _nothing_fits(options: argparse.Namespace) -> None:
    """The searches on tables of which `auto` says that nothing fits."""
    lines = []
    for cell in options.cells:
        for rows in options.rows:
            seeds = range(options.first_seed, options.first_seed + options.models)
            tables = [_drawn_from(VIOLATIONS[cell], rows, seed) for seed in seeds]
            tables = [(table, truth) for table, truth in tables if _nothing_fits_it(table)]
            for search, keywords in SEARCHES.items() if tables else ():
                lines.append(
                    [
                        cell,
                        str(rows),
                        f"{len(tables)} of {len(seeds)}",
                        search,
                        *_rates(tables, keywords),
                    ]
                )
                print(" | ".join(lines[-1]), flush=True)
    header = (
        "tables",
        "rows",
        "nothing fits",
        "search",
        "TPR",
        "FPR",
        "arrows",
        "wrong pairs a graph",
        "s a table",
    )
    print(f"\n{markdown_table(header, lines)}\n\n{machine()}; {options.models} models a cell")


def _nothing_fits_it(table: pd.DataFrame) -> bool:
    return "clearly not additive" in cc.discover(table, "R").notes[0]


def _rates(tables: list[tuple[pd.DataFrame, list[Bools]]], keywords: dict[str, str]) -> list[str]:
    totals, begin = np.zeros(6), time.process_time()
    for table, truth in tables:
        result = cc.discover(table, "R", **keywords)
        for value, links in zip(result.contexts, truth, strict=True):
            totals += _counts(links, result.graphs[value], list(table))
    hits, links, extra, others, right, arrows = totals
    seconds, graphs = (
        (time.process_time() - begin) / len(tables),
        sum(len(truth) for _, truth in tables),
    )
    wrong = (links - hits + extra) / graphs
    return [
        f"{hits / links:.3f}",
        f"{extra / others:.3f}",
        f"{right / max(arrows, 1):.2f}",
        f"{wrong:.1f}",
        f"{seconds:.2f}",
    ]


def _entries(nodes: int, rows: int, contexts: int, method: str, seeds: range) -> list[str]:
    totals, chosen, begin = np.zeros(6), Counter[str](), time.process_time()
    for seed in seeds:
        table, truth = (
            _without_context(nodes, rows, seed)
            if contexts == 0
            else _drawn(nodes, rows, contexts, seed)
        )
        if "R" in table and table["R"].nunique() < max(contexts, 2):
            continue
        result = cc.discover(table, "R" if "R" in table else None, method=method)
        chosen[result.settings.method] += 1
        for value, links in zip(result.contexts, truth, strict=True):
            totals += _counts(links, result.graphs[value], list(table))
    hits, links, extra, others, right, arrows = totals
    seconds = (time.process_time() - begin) / len(seeds)
    picked = ", ".join(f"{name} {number}" for name, number in chosen.most_common())
    return [
        f"{hits / links:.3f}",
        f"{extra / others:.3f}",
        f"{right / max(arrows, 1):.2f}",
        picked,
        f"{seconds:.2f}",
    ]


def _counts(truth: Bools, graph: cc.Graph, names: list[str]) -> list[int]:
    """Links found, links, others found, others, arrows that are right, arrows."""
    place = [graph.names.index(name) for name in names]
    found = graph.adjacency[np.ix_(place, place)]
    linked, upper = truth | truth.T, np.triu(np.ones_like(truth), 1).astype(bool)
    arrows = np.array([[graph.mark(x, y) == "-->" for y in names] for x in names])
    return [
        int((found & linked & upper).sum()),
        int((linked & upper).sum()),
        int((found & ~linked & upper).sum()),
        int((~linked & upper).sum()),
        int((arrows & truth).sum()),
        int((arrows & linked).sum()),
    ]


def _without_context(nodes: int, rows: int, seed: int) -> tuple[pd.DataFrame, list[Bools]]:
    """A random linear system, columns in random order, and its true arrows."""
    generator = np.random.default_rng([seed, rows])
    truth = np.triu(generator.random((nodes, nodes)) < 3.0 / (nodes - 1), 1)
    weights = (
        truth * generator.uniform(0.4, 1.0, truth.shape) * generator.choice([-1, 1], truth.shape)
    )
    values = np.zeros((rows, nodes))
    for node in range(nodes):
        values[:, node] = values @ weights[:, node] + generator.standard_normal(rows)
    order = generator.permutation(nodes)
    return pd.DataFrame(values[:, order], columns=[f"V{node}" for node in order]), [
        truth[np.ix_(order, order)]
    ]


def _drawn(nodes: int, rows: int, contexts: int, seed: int) -> tuple[pd.DataFrame, list[Bools]]:
    return _drawn_from(Design(("linear",), nodes=nodes, contexts=contexts), rows, seed)


def _drawn_from(design: Design, rows: int, seed: int) -> tuple[pd.DataFrame, list[Bools]]:
    """A table of `curved_models` and the true arrows of every context, in the order of its
    columns.
    """
    model = draw_model(design, seed)
    table = model.sample(rows, np.random.default_rng([seed, rows]))
    place = [model.context if name == "R" else int(name[1:]) for name in table]
    return table, [arrows[np.ix_(place, place)] for arrows in np.asarray(model.truth(), dtype=bool)]


if __name__ == "__main__":
    main()
