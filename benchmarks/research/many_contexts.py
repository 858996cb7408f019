"""One context of many values: time and memory of score-ac, whose merge trees ask for thousands of
regressions.

    python benchmarks/research/many_contexts.py [--variables 60] [--contexts 25] [--rows 5000]

Straight lines only; compiled before. Memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import causalcontext as cc
from causalcontext_lab.simulate import random_model

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import machine


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--variables", type=int, default=60)
    parser.add_argument("--contexts", type=int, default=25)
    parser.add_argument("--rows", type=int, default=5000)
    arguments = parser.parse_args()
    print(machine())
    for variables, contexts, rows in (
        (8, 6, 600),
        (arguments.variables, arguments.contexts, arguments.rows),
    ):
        model = random_model(
            nodes=variables, density=2 / variables, contexts=contexts, changes=2, seed=1
        )
        table, start = model.sample(rows, seed=1), time.process_time()
        cc.discover(table, model.context_name, method="score-ac", curves="never", seed=1)
        spent, peak = (
            time.process_time() - start,
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        )
        print(
            f"{variables} variables, {contexts} contexts, {rows:,} rows: {spent:.1f} s,"
            f" {peak:.0f} MB"
        )


if __name__ == "__main__":
    main()
