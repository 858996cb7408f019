"""What the laboratory costs: sampling, truth graphs, and one job of the paper's study (15 runs on one table).

Run with `python benchmarks/laboratory.py`. Seconds are processor time of one core, the median of several repeats, so
that a busy machine does not matter much.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from causalcontext.simulate import named_model, random_model
from causalcontext.study.designs import AS_PUBLISHED, PARAMETRIC, random_legacy_model
from causalcontext.study.runner import run_job


def processor_seconds(task: Callable[[], object], repeats: int) -> float:
    """The median processor time of a task, after one call that does not count."""
    task()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        task()
        times.append(time.process_time() - begin)
    return statistics.median(times)


def main() -> None:
    """Print one line per task."""
    model, legacy = random_model(seed=1), random_legacy_model(seed=1)
    tasks: list[tuple[str, Callable[[], object], int]] = [
        ("draw a model of 8 nodes", lambda: random_model(seed=2), 20),
        ("sample 100,000 rows of 8 nodes", lambda: model.sample(100_000, seed=1), 10),
        ("sample 100,000 rows of 8 nodes, as published", lambda: legacy.sample(100_000, seed=1), 10),
        ("truth graphs of the soil-moisture model", lambda: named_model("soil-moisture").truth(), 3),
    ]
    jobs = 0.0
    for name, design in PARAMETRIC.items():
        seconds = processor_seconds(lambda design=design: [run_job(design, place, 1) for place in range(5)], 3)
        jobs += 100 * seconds
        print(f"study {name:12s} {100 * seconds:7.1f} s of processor time for 500 tables")
    print(f"study as a whole   {jobs:7.1f} s of processor time, {jobs / 2:.0f} s on two free cores")
    published = processor_seconds(lambda: [run_job(AS_PUBLISHED, place, 1) for place in range(5)], 3)
    print(f"study as-published {100 * published:7.1f} s of processor time for 500 tables")
    for name, task, repeats in tasks:
        print(f"{name}: {1000 * processor_seconds(task, repeats):.1f} ms")


if __name__ == "__main__":
    main()
