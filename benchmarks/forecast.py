"""The forecast of score-ac's seconds beside processor seconds that were measured, on tables of many
shapes.

Every table has about three causes a column. The context is a cause of some columns and changes a
tenth of the slopes; it may be an effect of others. A time is that of one call of
`discover(method="score-ac")` in a process that has run it before; the peak of memory is that of the
process so far, so tables come from small to large.

    python benchmarks/forecast.py                 # all tables, about half an hour
    python benchmarks/forecast.py --most 20       # those whose forecast is at most 20 seconds
    python benchmarks/forecast.py --only curves
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import dataclass

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.data.tables import read_table
from causalcontext.methods.forecast import forecast
from measuring import machine, markdown_table

DEGREE = 3
CHANGED = 0.1
"""The causes of a column, on average, and the share of slopes that the context changes."""


CURVES = (
    lambda x: 1.5 * np.tanh(1.5 * x),
    lambda x: 1.5 * np.sin(1.3 * x),
    lambda x: 0.7 * (x * x - 1.0),
)
"""How causes act in tables with curves."""


@dataclass(frozen=True)
class Shape:
    """What a table looks like."""

    kind: str  # "lines", "curves", "categories" or "mixed"
    rows: int
    columns: int
    contexts: int = 1
    levels: int = 3

    def __str__(self) -> str:
        levels = f", {self.levels} levels" if self.kind in ("categories", "mixed") else ""
        return f"{self.kind}{levels}"


SHAPES = (
    Shape("lines", 200, 5, 2),
    Shape("lines", 1_000, 30, 1),
    Shape("lines", 1_000, 30, 2),
    Shape("lines", 1_000, 30, 4),
    Shape("lines", 1_000, 20, 8),
    Shape("lines", 2_500, 10, 25),
    Shape("lines", 500, 100, 2),
    Shape("lines", 1_000, 100, 4),
    Shape("lines", 1_000, 200, 1),
    Shape("lines", 500, 200, 2),
    Shape("lines", 1_000, 400, 1),
    Shape("lines", 10_000, 30, 1),
    Shape("lines", 10_000, 20, 2),
    Shape("lines", 20_000, 30, 6),
    Shape("lines", 100_000, 20, 2),
    Shape("lines", 200_000, 10, 2),
    Shape("lines", 200_000, 30, 1),
    Shape("curves", 500, 8, 2),
    Shape("curves", 1_000, 30, 1),
    Shape("curves", 1_000, 30, 2),
    Shape("curves", 1_000, 20, 6),
    Shape("curves", 2_500, 10, 25),
    Shape("curves", 1_000, 100, 1),
    Shape("curves", 1_000, 100, 2),
    Shape("curves", 10_000, 10, 2),
    Shape("curves", 10_000, 30, 1),
    Shape("curves", 10_000, 20, 4),
    Shape("curves", 100_000, 10, 1),
    Shape("curves", 100_000, 20, 2),
    Shape("categories", 500, 8, 2),
    Shape("categories", 1_000, 20, 1),
    Shape("categories", 1_000, 20, 2),
    Shape("categories", 1_000, 8, 2, 10),
    Shape("categories", 1_000, 40, 1, 4),
    Shape("categories", 10_000, 10, 1, 2),
    Shape("categories", 10_000, 30, 1, 2),
    Shape("categories", 10_000, 27, 1, 4),
    Shape("categories", 5_000, 10, 1, 12),
    Shape("categories", 50_000, 10, 1, 3),
    Shape("mixed", 1_000, 12, 2),
    Shape("mixed", 1_000, 20, 5),
    Shape("mixed", 1_000, 60, 2),
    Shape("mixed", 5_000, 20, 2),
    Shape("mixed", 20_000, 15, 3),
    Shape("mixed", 20_000, 15, 2, 8),
)
"""From all corners: long, wide, many contexts, curves, categories, several of these at once."""


def table(shape: Shape, seed: int = 1) -> pd.DataFrame:
    """A table of a shape."""
    rng = np.random.default_rng([seed, shape.rows, shape.columns, shape.contexts])
    n, p = shape.rows, shape.columns
    context, columns = np.zeros(n, dtype=int), np.zeros((p, n))
    share = min(1.0, DEGREE / max(p - 1, 1))
    as_category = np.zeros(p, dtype=bool)
    if shape.kind in ("categories", "mixed"):
        as_category[:: 1 if shape.kind == "categories" else 3] = True
    made: dict[str, object] = {}
    for j in range(p):
        causes = (
            np.flatnonzero(rng.random(j) < share * (p - 1) / max(j, 1) / 2.0)
            if j
            else np.zeros(0, dtype=int)
        )
        total = np.zeros(n)
        for cause in causes.tolist():
            slope = rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 1.2)
            kept = float(rng.random() >= CHANGED)
            act = CURVES[rng.integers(len(CURVES))] if shape.kind == "curves" else np.asarray
            total += np.where(context == 1, slope * kept, slope) * act(columns[cause])
        total += 0.5 * context / max(shape.contexts - 1, 1) * (rng.random() < CHANGED)
        values = total + rng.standard_normal(n)
        values = (values - values.mean()) / values.std()
        if as_category[j]:
            cuts = np.quantile(values, np.arange(1, shape.levels) / shape.levels)
            codes = np.searchsorted(cuts, values)
            columns[j] = (codes - codes.mean()) / max(codes.std(), 1e-9)
            made[f"v{j}"] = np.array([f"k{level:02d}" for level in range(shape.levels)])[codes]
        else:
            columns[j] = values
            made[f"v{j}"] = values
        if shape.contexts > 1 and j == 1:
            moved = 0.8 * columns[0] + rng.standard_normal(n)
            cuts = np.quantile(moved, np.arange(1, shape.contexts) / shape.contexts)
            context = np.searchsorted(cuts, moved)
    if shape.contexts > 1:
        made["R"] = np.array([f"r{level:02d}" for level in range(shape.contexts)])[context]
    return pd.DataFrame(made)


def main() -> None:
    """Print a line for every table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--most", type=float, default=300.0, help="tables with a longer forecast are not searched"
    )
    parser.add_argument("--only", default="", help="one kind of tables")
    asked = parser.parse_args()
    cc.discover(table(Shape("lines", 200, 4, 2)), "R", method="score-ac")
    print(machine())
    rows = []
    for shape in SHAPES:
        if asked.only not in shape.kind:
            continue
        frame, context = table(shape), "R" if shape.contexts > 1 else None
        expected = forecast(read_table(frame, context))
        if expected > asked.most:
            continue
        begin = time.process_time()
        cc.discover(frame, context, method="score-ac")
        seconds = time.process_time() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        rows.append(
            [
                str(shape),
                f"{shape.rows:,}",
                str(shape.columns),
                str(shape.contexts),
                f"{expected:.1f}",
                f"{seconds:.1f}",
                f"{expected / seconds:.2f}",
                f"{peak:.1f}",
            ]
        )
        print(*rows[-1], sep=" | ", flush=True)
    print(
        markdown_table(
            [
                "table",
                "rows",
                "columns",
                "contexts",
                "forecast s",
                "measured s",
                "ratio",
                "peak GB",
            ],
            rows,
        )
    )


if __name__ == "__main__":
    main()
