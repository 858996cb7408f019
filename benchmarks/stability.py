"""Time of 200 bootstrap samples of the paper's main setting (8 nodes, 2 contexts, n = 1000).

Run as `python benchmarks/stability.py [models] [samples] [test]`.
"""

from __future__ import annotations

import sys
import time

import causalcontext as cc
from causalcontext_lab.simulate import random_model


def main() -> None:
    models = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    test = sys.argv[3] if len(sys.argv) > 3 else "auto"
    cc.discover(
        random_model(seed=99).sample(1000, seed=1), context="R", test=test, method="pc-ac"
    ).stability(2)
    for jobs in (1, 2):
        spent = []
        for seed in range(models):
            result = cc.discover(
                random_model(seed=seed).sample(1000, seed=seed),
                context="R",
                test=test,
                method="pc-ac",
            )
            start = time.perf_counter()
            result.stability(samples, n_jobs=jobs)
            spent.append(time.perf_counter() - start)
        listed = ", ".join(f"{seconds:.2f}" for seconds in spent)
        print(
            f"{samples} samples, n_jobs={jobs}: {listed} s (models in turn; workers start with the"
            " first)"
        )


if __name__ == "__main__":
    main()
