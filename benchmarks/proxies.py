"""Which links does `diagnose()` name as proxies for curves of other variables, and which of them
are false?

    python benchmarks/proxies.py --models 40

Cells are those of `violations.py`. A link of score-ac counts once for all contexts; it is false if
its endpoints are linked in none of them. "named" are links that explain nothing beside the curves
of a neighbour (`results/curve_difference.py`).
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

import causalcontext as cc
from causalcontext.graphs.endpoints import directed
from causalcontext.results.curve_difference import replaceable_links
from curved_models import draw_model
from measuring import machine, markdown_table
from violations import CELLS


def count(cell: str, seed: int, rows: int) -> Counter[str]:
    """True and false links of one table, and how many of them are named."""
    model = draw_model(CELLS[cell].design, seed)
    table = model.sample(rows, np.random.default_rng([seed, rows]))
    result = cc.discover(table, "R", method="score-ac")
    truth = np.asarray((model.links | model.links.transpose(0, 2, 1)).any(axis=0))
    links = np.any([directed(graph.endpoints) for graph in result.graphs.values()], axis=0)
    begin = time.process_time()
    named = {(link.cause, link.effect) for link in replaceable_links(result)}
    found = Counter(ms=round(1000 * (time.process_time() - begin)), tables=int(bool(named)))
    for x, y in np.argwhere(links).tolist():
        if x not in result.cells.positions and y not in result.cells.positions:
            a, b = (int(result.names[end].removeprefix("V")) for end in (x, y))
            kind = "true" if truth[a, b] else "false"
            found.update({kind: 1, f"named {kind}": int((x, y) in named)})
    return found


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cells = [name for name, cell in CELLS.items() if cell.damage is None]
    options.add_argument("--cells", nargs="+", default=cells, choices=cells)
    options.add_argument("--models", type=int, default=40)
    options.add_argument("--rows", type=int, default=500)
    options.add_argument("--first-seed", type=int, default=910_000)
    chosen = options.parse_args()
    lines = []
    for cell in chosen.cells:
        seeds = range(chosen.first_seed, chosen.first_seed + chosen.models)
        total: Counter[str] = sum((count(cell, seed, chosen.rows) for seed in seeds), Counter())
        lines.append(
            [
                cell,
                f"{total['named false']} of {total['false']}",
                f"{total['named true']} of {total['true']}",
                f"{total['tables']} of {chosen.models}",
                round(total["ms"] / chosen.models),
            ]
        )
        print(" | ".join(map(str, lines[-1])), flush=True)
    header = (
        "cell",
        "false links named",
        "true links named",
        "tables with a name",
        "ms of processor time a table",
    )
    print(
        f"\n{markdown_table(header, lines)}\n\n{machine()}; seeds from {chosen.first_seed}, n ="
        f" {chosen.rows}"
    )


if __name__ == "__main__":
    main()
