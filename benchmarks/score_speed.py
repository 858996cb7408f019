"""How long score-ac takes, from table to result: growth with the number of variables, curves, and
BOSS beside it.

Settings are the defaults (10, 4 or 1 random starts; undirected marks, evidence and residual checks
included) unless said otherwise; one call comes before those that count.
Tables have 1,000 rows, two contexts, and beyond 8 nodes an average degree of 3.5 with effects of .5
to .9. Each time is a median over calls, by the clock and in processor seconds: on a machine that is
busy with other work the second is the one to compare. BOSS is causal-learn's (`pip install
causal-learn` beside causalcontext), on the same pooled columns, one start each, no context. Systems
of curves are those of `curved_models.py`, with 1.75 links a node.

    python benchmarks/score_speed.py --before ../older-checkout --sizes 8 20 50 --curved --rows 500
    2000 --jobs 1

With `--before`, the root of another checkout, the same tables are searched by both versions
instead, in processes of their own, in turns table by table. Processor time counts: the least of
three searches of a table, since other work on the machine only adds to it, then medians over
tables.
"""

from __future__ import annotations

import argparse
import contextlib
import io
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext_lab.simulate import random_model
from curved_models import Design, draw_model
from measuring import (
    BESIDE,
    Versions,
    add_before,
    machine,
    markdown_table,
    median_duration,
    spoken_time,
    timed,
)
from score_accuracy import Setting, drawn_model

ROWS = 1000
TARGETS = {8: "150 ms", 50: "20 s", 100: "2 min"}


def main() -> None:
    """Print the tables that were asked for."""
    options = _options()
    print(f"{machine('causal-learn')}\n")
    sizes = [size for size in options.sizes if size <= options.largest]
    curved = [size for size in options.curved if size <= options.largest]
    if options.before is not None:
        print(_compared(sizes, curved, options))
        return
    times = {size: _growth(size, options.repeats, options.jobs, sample) for size in sizes}
    header = ["nodes", "clock", "processor", "target"]
    rows = [
        [size, *map(spoken_time, spent), TARGETS.get(size, "")] for size, spent in times.items()
    ]
    print(markdown_table(header, rows), end="\n\n")
    bent = [
        [size, *map(spoken_time, _growth(size, options.repeats, options.jobs, curved_sample))]
        for size in curved
    ]
    print(markdown_table(["nodes, curves", "clock", "processor"], bent), end="\n\n")
    if options.figure is not None:
        _draw(times, options.figure)
    if find_spec("causallearn") is None:
        print("causal-learn is not installed: no comparison with BOSS")
        return
    _race(options.boss)


def _compared(sizes: list[int], curved: list[int], options: argparse.Namespace) -> str:
    """Both versions on linear tables and on systems of curves."""
    versions, rows = Versions(options.before, options.python), []
    for (name, draw, some), n in product(
        (("lines", sample, sizes), ("curves", curved_sample, curved)), options.rows
    ):
        for size in some:
            tables = (
                draw(size, seed, n)
                for seed in range(70_000, 70_000 + (options.repeats if size < 200 else 1))
            )
            found = versions.row(tables, 3, context="R", method="score-ac", n_jobs=options.jobs)
            rows.append([name, size, f"{n:,}", *found])
    versions.close()
    return markdown_table(["tables", "nodes", "rows", *BESIDE], rows)


def _growth(
    size: int, repeats: int, jobs: int, draw: Callable[[int, int], pd.DataFrame]
) -> tuple[float, float]:
    tables = [draw(size, seed) for seed in range(70_000, 70_000 + (repeats if size < 200 else 1))]
    calls = [partial(cc.discover, table, "R", method="score-ac", n_jobs=jobs) for table in tables]
    if size < 200:
        calls[0]()
    return tuple(np.median([timed(call)[0] for call in calls], axis=0))


def sample(size: int, seed: int, rows: int = ROWS) -> pd.DataFrame:
    """A table of so many nodes, the context included."""
    generator = np.random.default_rng([seed, size])
    if size == 8:
        return random_model(seed=seed).sample(rows, generator)
    design = {"nodes": size, "density": 3.5 / (size - 1), "changes": max(1, size // 20)}
    return drawn_model(Setting("", rows, design, moderate=True), seed).sample(rows, generator)


def curved_sample(size: int, seed: int, rows: int = ROWS) -> pd.DataFrame:
    """A table of so many nodes whose mechanisms are curves."""
    model = draw_model(Design(nodes=size, links=int(1.75 * size)), seed)
    return model.sample(rows, np.random.default_rng([seed, size]))


def _race(sizes: list[int]) -> None:
    boss = import_module("causallearn.search.PermutationBased.BOSS").boss
    rows = []
    for size in sizes:
        table = sample(size, 71_000).drop(columns="R")
        ours = median_duration(
            partial(cc.discover, table, method="score-ac", starts=1, transform="none"), 5
        )
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            theirs, _ = timed(
                partial(boss, table.to_numpy(), "local_score_BIC_from_cov", verbose=False)
            )
        ratios = [f"{their / our:.0f}x" for their, our in zip(theirs, ours, strict=True)]
        rows.append([size - 1, spoken_time(ours.wall), spoken_time(theirs.wall), *ratios])
    print("one start each, the same columns without the context (target at 50 nodes: 30x)\n")
    print(
        markdown_table(
            ["columns", "score-ac", "BOSS", "ratio by the clock", "in processor time"], rows
        )
    )


def _draw(times: dict[int, tuple[float, float]], path: Path) -> None:
    """A figure of time against nodes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.5), layout="constrained")
    axes.loglog(list(times), [clock for clock, _ in times.values()], "o-", label="clock")
    axes.loglog(list(times), [own for _, own in times.values()], "s--", label="processor")
    axes.set_xlabel("nodes, the context included")
    axes.set_ylabel("seconds, table to result")
    axes.legend(frameon=False)
    figure.savefig(path)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 20, 50, 100, 200, 500])
    parser.add_argument(
        "--curved", type=int, nargs="*", default=[8, 20, 50, 100], help="sizes of systems of curves"
    )
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[ROWS], help="beside another checkout"
    )
    parser.add_argument("--largest", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--boss", type=int, nargs="+", default=[21, 51])
    parser.add_argument(
        "--jobs", type=int, default=2, help="threads of score-ac in the growth table"
    )
    parser.add_argument(
        "--figure", type=Path, default=None, help="file for a figure of time against nodes"
    )
    add_before(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
