"""How large reports are and how long pictures and reports take: `python
benchmarks/research/report_size.py`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib

import causalcontext as cc
from causalcontext_lab.simulate.linear import random_model

SIZES = ((8, 0.4), (15, 0.2), (30, 0.1), (40, 0.06), (100, 0.02))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    print(f"{'variables':>9} {'edges':>6} {'report, kB':>11} {'report, s':>10} {'picture, s':>11}")
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder) / "report.html", Path(folder) / "contexts.png"
        for variables, density in SIZES:
            model = random_model(variables, contexts=3, density=density, changes=4, seed=4)
            result = cc.discover(
                model.sample(2000, seed=1), context=model.context_name, alpha=0.01, method="pc-ac"
            )
            result.report(page)
            reported = seconds(lambda result=result: result.report(page))
            painted = seconds(lambda result=result: result.plot(path=picture))
            pyplot.close("all")
            size = page.stat().st_size / 1000
            print(
                f"{variables:>9} {len(result.union.edges):>6} {size:>11.0f} {reported:>10.2f}"
                f" {painted:>11.2f}"
            )


if __name__ == "__main__":
    main()
