"""Do the model checks stay silent on clean tables, and do they speak up where the model is wrong?
And what is lost there?

    python benchmarks/model_checks.py --models 40
    python benchmarks/model_checks.py --cells linear-500 square-500 --models 100

A cell is a design and a number of rows (`curved_models`: 8 nodes, the context one of them). The
first table has, for every check, the share of tables in which it finds something, and the processor
time of all checks; the second what pc-ac finds there: TPR / FPR of system pairs, the same of pairs
with the context. In clean designs every check should speak in at most 5 % of the tables, the one of
dependent rows in at most 2 %.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.model_checks.violations import KINDS
from causalcontext.results.violations import violations_of
from curved_models import LAWS, Counts, Design, count, draw_model, summary
from measuring import machine, markdown_table

LINE = ("linear",)


def in_order(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Noise of which every row keeps .6 of the row before; variance 1."""
    steps = generator.normal(size=shape)
    for row in range(1, shape[1]):
        steps[:, row] = 0.6 * steps[:, row - 1] + 0.8 * steps[:, row]
    return steps


def student_t3(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Student's t with 3 degrees of freedom, variance 1."""
    return generator.standard_t(3, size=shape) / np.sqrt(3.0)


OWN_LAWS = {"in-order": in_order, "student-t3": student_t3}
CLEAN = {
    "linear": Design(LINE),
    "three-contexts": Design(LINE, contexts=3),
    "eight-contexts": Design(LINE, contexts=8),
    "weak": Design(LINE, weights=(0.2, 0.35, 0.5)),
}
WRONG = {
    "tanh": Design(("tanh",)),
    "square": Design(("square",)),
    "sine": Design(("sine",)),
    "step": Design(("step",)),
    "curved": Design(),
    "products": Design(LINE, products=0.5),
    "exponential": Design(LINE, "exponential"),
    "t5": Design(LINE, "student-t5"),
    "t3": Design(LINE, "student-t3"),
    "lognormal": Design(LINE, warp=np.exp),
    "uneven": Design(LINE, uneven=0.5),
    "outliers": Design(LINE),
    "ordered-rows": Design(LINE, "in-order"),
}
DESIGNS = CLEAN | WRONG
CELLS = (
    "linear-200",
    "linear-500",
    "linear-2000",
    "three-contexts-600",
    "eight-contexts-2000",
    "weak-500",
    *(f"{name}-500" for name in WRONG),
)


def with_outliers(table: pd.DataFrame, generator: np.random.Generator) -> pd.DataFrame:
    """The table with 5 % of the cells moved by 8 standard deviations."""
    numbers = table.drop(columns="R")
    moved = (generator.random(numbers.shape) < 0.05) * generator.choice((-8.0, 8.0), numbers.shape)
    return (numbers + moved * numbers.std().to_numpy()).assign(R=table["R"])


def measured(cell: str, models: int, first_seed: int) -> tuple[list[str], list[str]]:
    """The lines of a cell in both tables."""
    name, rows = cell.rsplit("-", 1)
    found: Counter[str] = Counter()
    seconds, counts = 0.0, list[Counts]()
    for seed in range(first_seed, first_seed + models):
        generator = np.random.default_rng([seed, int(rows)])
        model = draw_model(DESIGNS[name], seed)
        table = model.sample(int(rows), generator)
        if name == "outliers":
            table = with_outliers(table, generator)
        result = cc.discover(table, "R", method="pc-ac")
        begin = time.process_time()
        found.update(violation.kind for violation in violations_of(result))
        seconds += time.process_time() - begin
        counts.append(count(model, result))
    shares = [
        f"{found[kind] / models:.2f}".replace("0.", ".") if found[kind] else "0" for kind in KINDS
    ]
    return [cell, *shares, f"{1000 * seconds / models:.0f}"], [cell, *summary(counts).split()]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cells",
        nargs="+",
        default=list(CELLS),
        help=f"DESIGN-ROWS; designs: {', '.join(DESIGNS)}",
    )
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=810_000)
    options = parser.parse_args()
    LAWS.update(OWN_LAWS)
    lines = [measured(cell, options.models, options.first_seed) for cell in options.cells]
    print(f"{machine()}; {options.models} models a cell, seeds from {options.first_seed}\n")
    print(markdown_table(("cell", *KINDS, "ms"), [line[0] for line in lines]))
    header = (
        "cell",
        "pc-ac: TPR/FPR",
        "at R",
        "directions right/wrong",
        "at R",
        "false changes a model",
    )
    print("\n" + markdown_table(header, [line[1] for line in lines]))


if __name__ == "__main__":
    main()
