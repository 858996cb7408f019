"""A study's records as tidy tables: means with error bars, run times, failures.

Run times differ from run to run of the same study, so they have a table of their own: all others are the same, byte
for byte, whenever and however a study was run. Error bars are the standard deviation of means over resampled runs (the
paper: 200 resamples).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from causalcontext.data.files import write_whole
from causalcontext.errors import FileError
from causalcontext.kernels.arrays import Floats
from causalcontext.study.designs import Design
from causalcontext.study.jobs import Record, runs_of, setting_columns
from causalcontext.study.metrics import METRICS_OF


def summary_table(design: Design, records: Sequence[Record]) -> pd.DataFrame:
    """One row per setting, knowledge, graph, method and metric: mean, bootstrap standard deviation, runs, failures.

    The columns have the names of the published table, so that the two can be laid side by side.
    """
    rows = []
    for (place, kind, method), runs in _cells(design, records).items():
        failed = sum("reason" in run for run in runs)
        for graph in METRICS_OF:
            scored = [run[graph] for run in runs if graph in run]
            if not scored:
                continue
            names = METRICS_OF[graph]
            values = np.array([[_number(run[name]) for name in names] for run in scored])
            for name, value, std in zip(names, _column_means(values), bootstrap_std(values), strict=True):
                rows.append({"design": design.name, **setting_columns(design, place), "knowledge": kind,
                             "graph": graph, "method": method, "metric": name, "value": value,
                             "bootstrap_std": std, "runs": len(scored), "failed": failed})  # fmt: skip
    return pd.DataFrame(rows)


def run_table(design: Design, records: Sequence[Record]) -> pd.DataFrame:
    """One row per run, with its metrics, its number of tests and the reason where it failed; without times."""
    rows = []
    found = {graph for record in records for graph in METRICS_OF if graph in record} | {"context", "union"}
    for record in (record for record in records if record["kind"] == "run"):
        row = {"design": design.name, **setting_columns(design, record["setting"]), "repeat": record["repeat"],
               "knowledge": record["knowledge"], "method": record["method"]}  # fmt: skip
        for graph, names in ((graph, names) for graph, names in METRICS_OF.items() if graph in found):
            scored = record.get(graph, {})
            row |= {f"{graph}_{name}": _number(scored.get(name)) for name in names}
        tests = record.get("tests", {})
        row |= {"tests_pooled": tests.get("pooled"), "tests_within": tests.get("within contexts")}
        rows.append(row | {"reason": record.get("reason", "")})
    return pd.DataFrame(rows)


def time_table(design: Design, records: Sequence[Record]) -> pd.DataFrame:
    """Seconds per run (median and mean) and the mean number of tests by view, per setting, knowledge and method."""
    rows = []
    for (place, kind, method), runs in _cells(design, records).items():
        seconds = [run["seconds"] for run in runs if "seconds" in run]
        tests = [run["tests"] for run in runs if "tests" in run]
        if seconds:
            rows.append({"design": design.name, **setting_columns(design, place), "knowledge": kind, "method": method,
                         "median_seconds": round(float(np.median(seconds)), 6),
                         "mean_seconds": round(float(np.mean(seconds)), 6),
                         "tests_pooled": _mean_count(tests, "pooled"),
                         "tests_within": _mean_count(tests, "within contexts"), "runs": len(seconds)})  # fmt: skip
    return pd.DataFrame(rows)


def failure_table(design: Design, records: Sequence[Record]) -> pd.DataFrame:
    """How often a proposal was turned down and a run failed, by reason."""
    counts: Counter[tuple[int, str, str]] = Counter()
    for record in records:
        for reason, number in record.get("rejections", {}).items():
            counts[record["setting"], "proposal turned down", reason] += number
        if record["kind"] == "run" and "reason" in record:
            counts[record["setting"], f"{record['method']} failed", record["reason"]] += 1
    rows = [{"design": design.name, **setting_columns(design, place), "what": what, "reason": reason, "count": number}
            for (place, what, reason), number in sorted(counts.items())]  # fmt: skip
    return pd.DataFrame(rows, columns=["design", *setting_columns(design, 0), "what", "reason", "count"])


def save_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table to a .csv or .parquet file, whole or not at all."""
    path = Path(path)
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    elif path.suffix == ".csv":
        write_whole(path, table.to_csv(index=False, float_format="%.8g", lineterminator="\n"))
    else:
        raise FileError(f"table {str(path)!r} has an unknown ending; expected .csv or .parquet")


def _cells(design: Design, records: Iterable[Record]) -> dict[tuple[int, str, str], list[Record]]:
    """The runs of every setting, knowledge and method, in the order of the design."""
    cells: dict[tuple[int, str, str], list[Record]] = {
        (place, kind, method): [] for place in range(len(design.settings)) for kind, method in runs_of(design)
    }
    for record in records:
        if record["kind"] == "run":
            cells[record["setting"], record["knowledge"], record["method"]].append(record)
    return cells


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _column_means(values: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> list[float]:
    return [float(np.mean(column[~np.isnan(column)])) if (~np.isnan(column)).any() else float("nan")
            for column in values.T]  # fmt: skip


def _mean_count(tests: Sequence[dict[str, int]], view: str) -> float:
    return float("nan") if not tests else round(float(np.mean([count[view] for count in tests])), 2)


RESAMPLES = 200


def bootstrap_std(values: Floats) -> Floats:
    """The bootstrap standard deviation of the mean of every column, runs without a value left out.

    Parameters
    ----------
    values : array of float, shape (runs, metrics)
        NaN where a run has no value.

    Returns
    -------
    array of float, shape (metrics,)
        NaN where fewer than two runs have a value.
    """
    if len(values) == 0:
        return np.full(values.shape[1], np.nan)
    known = ~np.isnan(values)
    weights = resampling_weights(len(values))
    counts = weights @ known
    means = np.divide(weights @ np.where(known, values, 0.0), counts, out=np.full(counts.shape, np.nan),
                      where=counts > 0)  # fmt: skip
    usable = known.sum(axis=0) >= 2
    spread = np.full(values.shape[1], np.nan)
    spread[usable] = np.nanstd(means[:, usable], axis=0, ddof=1)
    return spread


@cache
def resampling_weights(runs: int) -> Floats:
    """How often each run is in each resample, shape (resamples, runs); the same for every metric and method.

    So methods are compared on the same resampled models, and no result depends on the order of the table.
    """
    drawn = np.random.default_rng(runs).multinomial(runs, np.full(runs, 1.0 / runs), size=RESAMPLES)
    weights: Floats = drawn.astype(np.float64)
    weights.setflags(write=False)
    return weights
