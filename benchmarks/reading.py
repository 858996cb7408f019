"""What does it cost to read a result, as a share of its search?

`python benchmarks/reading.py` prints, for four tables of 1,500 rows and 7 columns, the processor
time of a search, and of every accessor and every question as a share of it: the least of several
runs, each on a fresh result. Accessors read what the search stored; questions compute.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

import causalcontext as cc
from measuring import machine, markdown_table

ROWS = 1500


def lines() -> pd.DataFrame:
    """Straight mechanisms; C needs B in one context, and E has another level there."""
    rng = np.random.default_rng(0)
    wet = rng.integers(0, 2, ROWS)
    a = rng.normal(size=ROWS)
    b = 0.8 * a + rng.normal(size=ROWS)
    c = 0.9 * wet * b + rng.normal(size=ROWS)
    d = 0.7 * c + 0.5 * a + rng.normal(size=ROWS)
    e = 0.6 * d + wet + rng.normal(size=ROWS)
    f = 0.8 * e + rng.normal(size=ROWS)
    values = {"A": a, "B": b, "C": c, "D": d, "E": e, "F": f}
    return pd.DataFrame(values).assign(R=np.where(wet == 1, "wet", "dry"))


def curves() -> pd.DataFrame:
    """The same with curves."""
    table = lines()
    rng = np.random.default_rng(1)
    wet = (table["R"] == "wet").to_numpy()
    b = np.tanh(2.0 * table["A"]) + 0.5 * rng.normal(size=ROWS)
    c = np.where(wet, b**2, 0.0) + 0.7 * rng.normal(size=ROWS)
    d = np.sin(1.5 * c) + 0.5 * table["A"] + 0.6 * rng.normal(size=ROWS)
    return table.assign(B=b, C=c, D=d)


def mixed() -> pd.DataFrame:
    """The same with categories of two and of four levels."""
    table = lines()
    levels = np.digitize(table["D"], [-1.0, 0.0, 1.0])
    return table.assign(B=np.where(table["B"] > 0.0, "yes", "no"), D=np.array([*"pqrs"])[levels])


def five_contexts() -> pd.DataFrame:
    """The same mechanisms, the wet rows in two contexts and the dry ones in three."""
    table = lines()
    wet = (table["R"] == "wet").to_numpy()
    number = np.random.default_rng(2).integers(0, np.where(wet, 2, 3))
    return table.assign(
        R=[f"{name} {place}" for name, place in zip(table["R"], number, strict=True)]
    )


CASES: dict[str, tuple[Callable[[], pd.DataFrame], str]] = {
    "lines, score-ac": (lines, "score-ac"),
    "curves, score-ac": (curves, "score-ac"),
    "categories, pc-ac": (mixed, "pc-ac"),
    "lines, pc-ac": (lines, "pc-ac"),
    "five contexts, score-ac": (five_contexts, "score-ac"),
    "five contexts, pc-ac": (five_contexts, "pc-ac"),
}


def readings(folder: Path) -> dict[str, Callable[[cc.ContextGraphs], object]]:
    """The accessors, and the questions after them."""
    return {
        "edges()": lambda result: result.edges(),
        "labels()": lambda result: result.labels(),
        "tests()": lambda result: result.tests(),
        "scores()": lambda result: result.scores(),
        "changes()": lambda result: result.changes(),
        "save()": lambda result: result.save(folder / "result.json"),
        "==": lambda result: result == result,
        "str()": lambda result: str(result),
        "report()": lambda result: result.report(folder / "page.html"),
        "diagnose()": lambda result: result.diagnose(),
        "second_opinion()": lambda result: result.second_opinion(),
        "report(diagnose=True)": lambda result: result.report(folder / "page.html", diagnose=True),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="runs, of which the least counts")
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as name:
        questions = readings(Path(name))
        columns = {label: _shares(*case, questions, times) for label, case in CASES.items()}
    rows = [
        [question, *(column[question] for column in columns.values())]
        for question in ("search", *questions)
    ]
    print(machine())
    print(markdown_table(["", *columns], rows))


def _shares(
    make: Callable[[], pd.DataFrame],
    method: str,
    questions: dict[str, Callable[[cc.ContextGraphs], object]],
    times: int,
) -> dict[str, str]:
    """The seconds of a search, and what every question costs as a share of them."""
    table = make()
    cc.discover(table, "R", method=method)
    searches = []
    least: dict[str, float] = {}
    for name, question in questions.items():
        for _ in range(times):
            seconds, result = _timed(lambda: cc.discover(table, "R", method=method))
            searches.append(seconds)
            spent, _ = _timed(lambda: question(result))  # noqa: B023
            least[name] = min(spent, least.get(name, spent))
    search = min(searches)
    return {"search": f"{search:.3f} s"} | {
        name: f"{spent / search:.2f}" for name, spent in least.items()
    }


def _timed(call: Callable[[], object]) -> tuple[float, object]:
    """The processor time of a call, and its answer."""
    gc.collect()
    start = process_time()
    answer = call()
    return process_time() - start, answer


if __name__ == "__main__":
    main()
