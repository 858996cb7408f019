"""score-ac on curves, skew and categories: rates over random systems (`curved_models`), against
other methods.

    python benchmarks/curved_accuracy.py --models 40 python benchmarks/curved_accuracy.py --cells
    curved-500 --models 10 --methods score-ac pc-ac python benchmarks/curved_accuracy.py --cells
    linear-500 curved-500 curved-2000 --methods pc-ac pc-ac:basis

Cells are a design and a number of rows; `pc-ac:basis` is a method and its test. Every entry has:
TPR / FPR of system pairs over all context graphs; the same of pairs with R; directions right /
wrong among the links found; the same at R; false changes per model.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import causalcontext as cc
from causalcontext.errors import CausalContextError
from curved_models import Counts, Design, count, draw_model, summary
from measuring import machine, markdown_table

LINEAR = ("linear",)
DESIGNS: dict[str, Design] = {
    "linear": Design(LINEAR),
    "linear-t5": Design(LINEAR, "student-t5"),
    "linear-exponential": Design(LINEAR, "exponential"),
    "linear-categorical": Design(LINEAR, categorical=0.3),
    "linear-products": Design(LINEAR, products=0.5),
    "curved": Design(),
    "curved-t5": Design(noise="student-t5"),
    "curved-exponential": Design(noise="exponential"),
    "curved-categorical": Design(categorical=0.3),
    "curved-products": Design(products=0.5),
    "weak": Design(LINEAR, weights=(0.2, 0.35, 0.5)),
    "uneven": Design(LINEAR, uneven=0.5),
    "exp-warp": Design(LINEAR, warp=np.exp),
    "cube-warp": Design(LINEAR, warp=lambda x: x**3),
}
CELLS = (
    "linear-200",
    "linear-500",
    "linear-exponential-500",
    "linear-categorical-500",
    "curved-500",
    "curved-2000",
    "curved-exponential-500",
    "curved-categorical-500",
    "curved-products-500",
    "linear-products-500",
    "weak-500",
)
Discover = Callable[..., cc.ContextGraphs]


def main() -> None:
    """Print the table."""
    options = _options()
    rows = [_row(cell, method, options) for cell in options.cells for method in options.methods]
    header = (
        "cell",
        "method",
        "models",
        "system TPR/FPR",
        "at R",
        "directions",
        "at R",
        "false changes",
        "curves, ranks",
        "ms",
    )
    print(markdown_table(header, [row for row in rows if row]))
    print(
        f"\n{machine()}; seeds from {options.first_seed}; milliseconds are medians of processor"
        " time"
    )


def _row(cell: str, method: str, options: argparse.Namespace) -> list[str]:
    name, size = cell.rsplit("-", 1)
    counts: list[Counts] = []
    times, curved, ranked = [], 0, 0
    for seed in range(options.first_seed, options.first_seed + options.models):
        model = draw_model(DESIGNS[name], seed)
        table = model.sample(int(size), np.random.default_rng([seed, int(size)]))
        start = time.process_time()
        try:
            searched, _, test = method.partition(":")
            options_of_method = {"test": test} if test else {}
            result = cc.discover(table, "R", method=searched, **options_of_method)
        except CausalContextError as error:
            print(f"{cell}, {method}, seed {seed}: {error}")
            return []
        times.append(time.process_time() - start)
        counts.append(count(model, result))
        curved += bool(getattr(result.evidence, "curved", False))
        ranked += getattr(result.evidence, "transform", "none") == "ranks"
    return [
        cell,
        method,
        str(options.models),
        *summary(counts).split(),
        f"{curved}, {ranked}",
        f"{1000 * float(np.median(times)):.0f}",
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cells",
        nargs="+",
        default=list(CELLS),
        help=f"DESIGN-ROWS; designs: {', '.join(DESIGNS)}",
    )
    parser.add_argument("--methods", nargs="+", default=["score-ac", "pc-ac"])
    parser.add_argument("--first-seed", type=int, default=730_000)
    parser.add_argument("--models", type=int, default=40)
    return parser.parse_args()


if __name__ == "__main__":
    main()
