"""Tests and time of PC-AC with m = 1 ... 6 binary context variables, against masking on every
combination.

Run as `python benchmarks/several_contexts.py [tables] [rows] [figure.png]`. Thirty system
variables, average degree 2; every context variable is a noisy threshold of one of them and switches
one link off. Both methods run in the same engine without compiled kernels, at alpha .01 and with at
most three conditions.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.ci_tests.registry import find_test

VARIABLES, DEGREE, MOST = 30, 2.0, 6
OPTIONS = {"alpha": 0.01, "max_given": 3}


class WithoutKernels:
    """The default test without its compiled level search, so that both methods pay for the same
    engine.
    """

    name = "partial-correlation, in batches"

    def prepare(self, data, statistics):
        prepared = find_test("partial-correlation").prepare(data, statistics)
        return type("Plain", (), {"answer": staticmethod(prepared.answer)})()


def make_table(contexts: int, rows: int, seed: int) -> pd.DataFrame:
    """A sparse linear system in which every context variable is caused upstream and switches a link
    downstream.
    """
    rng = np.random.default_rng([seed, 5])
    links = np.triu(rng.random((VARIABLES, VARIABLES)) < DEGREE / (VARIABLES - 1), 1) * rng.choice(
        [-1.0, 1.0], (30, 30)
    )
    values = rng.standard_normal((rows, VARIABLES))
    codes: dict[int, np.ndarray] = {}
    switched = {
        int(v): j for j, v in enumerate(rng.choice(np.arange(16, VARIABLES), MOST, replace=False))
    }
    for v in range(VARIABLES):
        coefficients = np.repeat(links[None, :, v], rows, axis=0)
        if switched.get(v, MOST) < contexts and links[:, v].any():
            parent = np.flatnonzero(links[:, v])[0]
            coefficients[:, parent] *= codes[switched[v]]
        values[:, v] += (coefficients * values).sum(axis=1)
        if v < MOST:
            codes[v] = (values[:, v] + 0.5 * rng.standard_normal(rows) > 0).astype(int)
    table = pd.DataFrame(values, columns=[f"V{i}" for i in range(VARIABLES)])
    return table.assign(**{f"R{j}": codes[j] for j in range(contexts)})


def measured(table: pd.DataFrame, contexts: int) -> list[float]:
    """Tests and seconds of PC-AC and of masking, and the number of combinations."""
    names = [f"R{j}" for j in range(contexts)]
    start = time.perf_counter()
    adaptive = cc.discover(table, context=names, method="pc-ac", **OPTIONS)
    middle = time.perf_counter()
    cell = table[names].astype(str).agg("".join, axis=1).radd("c")
    masked = cc.discover(
        table.drop(columns=names).assign(cell=cell),
        context="cell",
        method="pc-m",
        test=WithoutKernels(),
        **OPTIONS,
    )
    end = time.perf_counter()
    return [
        len(adaptive.graphs),
        sum(adaptive.tests_run.values()),
        adaptive.tests_run["within contexts"],
        sum(masked.tests_run.values()),
        middle - start,
        end - middle,
    ]


def draw(rows: np.ndarray, path: Path) -> None:
    """Two panels: tests and seconds against the number of context variables."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for panel, (adaptive, masked), label in zip(
        panels, ((1, 3), (4, 5)), ("tests", "seconds"), strict=True
    ):
        panel.plot(np.arange(1, len(rows) + 1), rows[:, adaptive], "o-", label="PC-AC")
        panel.plot(np.arange(1, len(rows) + 1), rows[:, masked], "s--", label="masking")
        panel.set(xlabel="binary context variables", ylabel=label, yscale="log")
        panel.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main() -> None:
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 6400
    path = Path(sys.argv[3] if len(sys.argv) > 3 else "out/several-contexts.png")
    columns = ("m", "combinations", "tests", "inside", "masking", "seconds", "masking, s")
    print(f"{tables} tables of {rows} rows, means\n" + "".join(f"{name:>14}" for name in columns))
    means = []
    for contexts in range(1, MOST + 1):
        found = np.mean(
            [measured(make_table(contexts, rows, seed), contexts) for seed in range(tables)], axis=0
        )
        means.append(found)
        print(f"{contexts:14d}" + "".join(f"{number:14.4g}" for number in found), flush=True)
    draw(np.array(means), path)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
