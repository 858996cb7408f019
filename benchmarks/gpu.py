"""What a CUDA card is worth: the same answers as on the CPU, and how much sooner.

Run as `python benchmarks/gpu.py [--parts knn ...] [--rows 10000]` on a machine with a card and the
extra `gpu`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.ci_tests.cmi_knn import CmiKnn
from causalcontext.ci_tests.rows import Variable, as_variable
from causalcontext.data.columns import Kind
from causalcontext.kernels.cuda.card import obstacle


def main() -> None:
    options = _options()
    if obstacle():
        raise SystemExit(obstacle())
    print(_card())
    for part in options.parts:
        PARTS[part](options)


def knn_search(options: argparse.Namespace) -> None:
    """PC-AC with cmi-knn, 10 variables, 10,000 rows, 2 contexts."""
    table = sparse_table(9, 10_000, seed=1)
    for device in ("cuda", "cpu"):
        start, work = time.perf_counter(), time.process_time()
        result = cc.discover(table, "R", test="cmi-knn", device=device, n_jobs=-1, method="pc-ac")
        print(
            f"PC-AC with cmi-knn, 10 variables x 10,000 rows, {device}:"
            f" {time.perf_counter() - start:.1f} s, {time.process_time() - work:.1f} s of processor"
            f" time, {sum(result.tests_run.values())} tests",
            flush=True,
        )


def sparse_table(variables: int, rows: int, seed: int) -> pd.DataFrame:
    """A linear system with about three neighbours a variable, and a context that is an effect of
    one of them.
    """
    random = np.random.default_rng(seed)
    values = random.standard_normal((variables, rows))
    for j in range(1, variables):
        for cause in random.choice(j, min(j, random.poisson(1.5)), replace=False):
            values[j] += random.choice([-1, 1]) * random.uniform(0.4, 0.9) * values[cause]
        values[j] /= values[j].std()
    table = pd.DataFrame(values.T, columns=[f"x{j}" for j in range(variables)])
    table["R"] = np.where(values[variables // 2] + random.standard_normal(rows) > 0, "high", "low")
    return table


def same_answers(options: argparse.Namespace) -> None:
    """200 queries of cmi-knn on columns of mixed kinds: statistic and p-value on both devices."""
    worst, different = 0.0, 0
    for seed in range(options.trials):
        x, y, given = _mixed_query(seed)
        answers = [
            CmiKnn(device=device).compare(x, y, given, np.random.default_rng(seed))
            for device in ("cpu", "cuda")
        ]
        if answers[0].reason != answers[1].reason or answers[0].p != answers[1].p:
            different += 1
        if not answers[0].reason:
            worst = max(worst, abs(answers[0].statistic - answers[1].statistic))
    print(
        f"cmi-knn, {options.trials} trials of mixed kinds: {different} different p-values or"
        f" reasons, largest difference of a statistic {worst:.1e}"
    )


def knn_speed(options: argparse.Namespace) -> None:
    """One query with all permutations, by rows and conditions."""
    print("\n| rows | conditions | permutations | one CPU core, s | card, s | ratio |")
    print("| --- | --- | --- | --- | --- | --- |")
    for rows in options.rows:
        for conditions in (1, 3):
            columns = np.random.default_rng(rows).standard_normal((2 + conditions, rows))
            columns[:2] += columns[2]
            x, y, *given = (Variable(column, Kind.CONTINUOUS) for column in columns)
            clocks = []
            for device, repeats in (("cpu", 1), ("cuda", 3)):
                test = CmiKnn(device=device, enough=None, most_rows=max(options.rows))
                run = partial(test.compare, x, y, given, np.random.default_rng(1))
                clocks.append(_best(run, repeats))
            print(
                f"| {rows} | {conditions} | 100 | {clocks[0]:.3f} | {clocks[1]:.4f} |"
                f" {clocks[0] / clocks[1]:.0f} |"
            )


def _mixed_query(seed: int) -> tuple[Variable, Variable, list[Variable]]:
    rng = np.random.default_rng([seed, 9])
    rows = int(rng.integers(40, 500))
    shared = rng.standard_normal(rows)

    def column() -> Variable:
        values = shared * rng.uniform(0, 1) + rng.standard_normal(rows)
        kind = rng.integers(4)
        if kind == 0:
            found = as_variable(np.digitize(values, [-0.5, 0.5]).astype(float), Kind.CATEGORICAL)
        elif kind == 1:
            found = as_variable(np.round(values), Kind.CONTINUOUS)
        else:
            found = as_variable(values, Kind.CONTINUOUS)
        assert found is not None
        return found

    return column(), column(), [column() for _ in range(int(rng.integers(0, 4)))]


def _best(run: Callable[[], Any], repeats: int, warm: bool = True) -> float:
    """The least seconds of some runs, after one that compiles and warms up."""
    if warm:
        run()
    clocks = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        clocks.append(time.perf_counter() - start)
    return min(clocks)


def _card() -> str:
    from numba import cuda

    card = cuda.get_current_device()
    name = card.name.decode() if isinstance(card.name, bytes) else card.name
    return f"{name}, compute capability {'.'.join(str(part) for part in card.compute_capability)}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 4000, 10000])
    parser.add_argument("--trials", type=int, default=200)
    return parser.parse_args()


PARTS = {
    "knn-same": same_answers,
    "knn-speed": knn_speed,
    "knn-search": knn_search,
}


if __name__ == "__main__":
    main()
