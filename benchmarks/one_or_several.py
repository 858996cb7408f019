"""Processor time with several context variables against one context variable of as many values, on the same rows.

Run as `python benchmarks/one_or_several.py [rows] [columns]`. The system is a sparse linear one; every context variable
is a noisy function of one column. The one context variable names the combinations.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd

import causalcontext as cc

CASES = ((2, 2), (3, 2), (4, 2), (2, 3))
"""Context variables, and values of each."""


def make_table(rows: int, columns: int, contexts: int, values: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The table with several context variables, and the one in which their combinations are one."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    for j in range(1, columns):
        for i in rng.choice(j, size=min(j, 2), replace=False):
            x[:, j] += 0.4 * x[:, i]
    system = pd.DataFrame(x, columns=[f"V{i}" for i in range(columns)])
    noisy = x[:, :contexts] + 0.5 * rng.standard_normal((rows, contexts))
    codes = [np.digitize(c, np.quantile(c, np.arange(1, values) / values)) for c in noisy.T]
    joint = sum(code * values**j for j, code in enumerate(codes))
    return system.assign(**{f"R{j}": code for j, code in enumerate(codes)}), system.assign(R=joint)


def seconds(table: pd.DataFrame, context: str | list[str], test: str) -> float:
    """The better of two runs."""
    times = []
    for _ in range(2):
        start = time.process_time()
        cc.discover(table, context=context, test=test, alpha=0.01, method="pc-ac")
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    columns = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    print(f"{rows} rows, {columns} columns: seconds of processor time\n")
    print("| context variables | values each | test | several | one | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for contexts, values in CASES:
        for test in ("partial-correlation", "auto"):
            several, one = make_table(rows, columns, contexts, values, seed=1)
            first = seconds(several, [f"R{j}" for j in range(contexts)], test)
            second = seconds(one, "R", test)
            print(f"| {contexts} | {values} | {test} | {first:.2f} | {second:.2f} | {first / second:.2f} |")


if __name__ == "__main__":
    main()
