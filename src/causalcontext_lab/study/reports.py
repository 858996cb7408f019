"""A study's records as tidy tables and pages: means with error bars, run times, failures,
comparisons.

Run times differ from run to run of the same study, so they have a table of their own: all others
are the same, byte for byte, whenever and however a study was run. Error bars are the standard
deviation of means over resampled runs (the paper: 200 resamples).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from causalcontext.data.files import harmless, write_whole
from causalcontext.errors import FileError
from causalcontext_lab.arrays import Floats
from causalcontext_lab.study.designs import Design
from causalcontext_lab.study.runner import (
    METRICS_OF,
    SETTING_COLUMNS,
    Record,
    runs_of,
    setting_columns,
)


def summary_table(design: Design, records: Sequence[Record]) -> pd.DataFrame:
    """One row per setting, knowledge, graph, method and metric: mean, bootstrap standard deviation,
    runs, failures.

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
            known = (column[~np.isnan(column)] for column in values.T)
            means = [float(np.mean(column)) if column.size else float("nan") for column in known]
            for name, value, std in zip(names, means, bootstrap_std(values), strict=True):
                rows.append(
                    {
                        "design": design.name,
                        **setting_columns(design, place),
                        "knowledge": kind,
                        "graph": graph,
                        "method": method,
                        "metric": name,
                        "value": value,
                        "bootstrap_std": std,
                        "runs": len(scored),
                        "failed": failed,
                    }
                )
    return pd.DataFrame(rows)


def run_table(design: Design, records: Sequence[Record]) -> pd.DataFrame:
    """One row per run, with its metrics, its number of tests and the reason where it failed;
    without times.
    """
    rows = []
    found = {graph for record in records for graph in METRICS_OF if graph in record} | {
        "context",
        "union",
    }
    for record in (record for record in records if record["kind"] == "run"):
        row = {
            "design": design.name,
            **setting_columns(design, record["setting"]),
            "repeat": record["repeat"],
            "knowledge": record["knowledge"],
            "method": record["method"],
        }
        for graph, names in (
            (graph, names) for graph, names in METRICS_OF.items() if graph in found
        ):
            scored = record.get(graph, {})
            row |= {f"{graph}_{name}": _number(scored.get(name)) for name in names}
        tests = record.get("tests", {})
        row |= {"tests_pooled": tests.get("pooled"), "tests_within": tests.get("within contexts")}
        rows.append(row | {"reason": record.get("reason", "")})
    return pd.DataFrame(rows)


def time_table(design: Design, records: Sequence[Record]) -> pd.DataFrame:
    """Seconds per run (median and mean) and the mean number of tests by view, per setting,
    knowledge and method.
    """
    rows = []
    for (place, kind, method), runs in _cells(design, records).items():
        seconds = [run["seconds"] for run in runs if "seconds" in run]
        tests = [run["tests"] for run in runs if "tests" in run]
        if seconds:
            rows.append(
                {
                    "design": design.name,
                    **setting_columns(design, place),
                    "knowledge": kind,
                    "method": method,
                    "median_seconds": round(float(np.median(seconds)), 6),
                    "mean_seconds": round(float(np.mean(seconds)), 6),
                    "tests_pooled": _mean_count(tests, "pooled"),
                    "tests_within": _mean_count(tests, "within contexts"),
                    "runs": len(seconds),
                }
            )
    return pd.DataFrame(rows)


def failure_table(design: Design, records: Sequence[Record]) -> pd.DataFrame:
    """How often a proposal was turned down and a run failed, by reason."""
    counts: Counter[tuple[int, str, str]] = Counter()
    for record in records:
        for reason, number in record.get("rejections", {}).items():
            counts[record["setting"], "proposal turned down", reason] += number
        if record["kind"] == "run" and "reason" in record:
            counts[record["setting"], f"{record['method']} failed", record["reason"]] += 1
    rows = [
        {
            "design": design.name,
            **setting_columns(design, place),
            "what": what,
            "reason": reason,
            "count": number,
        }
        for (place, what, reason), number in sorted(counts.items())
    ]
    return pd.DataFrame(
        rows, columns=["design", *setting_columns(design, 0), "what", "reason", "count"]
    )


def save_table(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table to a .csv or .parquet file, whole or not at all."""
    path = Path(path)
    if path.suffix == ".parquet":
        table.to_parquet(path, index=False)
    elif path.suffix == ".csv":
        write_whole(
            path, table.map(harmless).to_csv(index=False, float_format="%.8g", lineterminator="\n")
        )
    else:
        raise FileError(f"table {str(path)!r} has an unknown ending; expected .csv or .parquet")


def _cells(design: Design, records: Iterable[Record]) -> dict[tuple[int, str, str], list[Record]]:
    """The runs of every setting, knowledge and method, in the order of the design."""
    keys = ((place, *run) for place in range(len(design.settings)) for run in runs_of(design))
    cells: dict[tuple[int, str, str], list[Record]] = {key: [] for key in keys}
    for record in records:
        if record["kind"] == "run":
            cells[record["setting"], record["knowledge"], record["method"]].append(record)
    return cells


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _mean_count(tests: Sequence[dict[str, int]], view: str) -> float:
    return float("nan") if not tests else round(float(np.mean([count[view] for count in tests])), 2)


RESAMPLES = 200


def bootstrap_std(values: Floats) -> Floats:
    """The bootstrap standard deviation of the mean of every column, runs without a value (NaN) left
    out.
    """
    # From shape (runs, metrics) to (metrics,); NaN where fewer than two runs have a value.
    if len(values) == 0:
        return np.full(values.shape[1], np.nan)
    known = ~np.isnan(values)
    weights = resampling_weights(len(values))
    counts = weights @ known
    means = np.divide(
        weights @ np.where(known, values, 0.0),
        counts,
        out=np.full(counts.shape, np.nan),
        where=counts > 0,
    )
    usable = known.sum(axis=0) >= 2
    spread = np.full(values.shape[1], np.nan)
    spread[usable] = np.nanstd(means[:, usable], axis=0, ddof=1)
    return spread


@cache
def resampling_weights(runs: int) -> Floats:
    """How often each run is in each resample, shape (resamples, runs); the same for every metric
    and method.
    """
    # So methods are compared on the same resampled models, and no result depends on the order of
    # the table.
    drawn = np.random.default_rng(runs).multinomial(runs, np.full(runs, 1.0 / runs), size=RESAMPLES)
    weights: Floats = drawn.astype(np.float64)
    weights.setflags(write=False)
    return weights


RIVALS = {
    "pc-ac": (
        ("pc-m", "context"),
        ("pc-b", "context"),
        ("pc-m", "union"),
        ("pc-b", "union"),
        ("pc-p", "union"),
    ),
    "score-ac": (
        ("pc-ac", "context"),
        ("pc-m", "context"),
        ("pc-b", "context"),
        ("pc-ac", "union"),
        ("pc-p", "union"),
    ),
}
"""Whom a method is compared with, on which graphs."""

ORDERING_METRICS = ("tpr", "fpr", "f1", "edge_prec", "edge_rec")
ORDERING_HEAD = (
    "| against | graphs | metric | adj. | better | neither | worse | mean difference |",
    "|" + "---|" * 8,
)


def paired_differences(
    runs: pd.DataFrame, first: str, second: str, columns: Sequence[str]
) -> pd.DataFrame:
    """Mean differences between two methods on the same tables, with bootstrap errors, per design
    and setting.
    """
    # Positive means that the first has more; `columns` are some of `run_table`, such as
    # "context_tpr".
    keys = ["design", *SETTING_COLUMNS, "knowledge"]
    rows = []
    for cell, part in runs.groupby(keys, sort=False):
        by_method = part.set_index(["repeat", "method"])[list(columns)].unstack("method")
        for column in columns:
            if first not in by_method[column] or second not in by_method[column]:
                continue
            difference = (by_method[column][first] - by_method[column][second]).to_numpy(
                dtype=float
            )
            known = difference[~np.isnan(difference)]
            if len(known) < 2:
                continue
            std = float(bootstrap_std(known[:, None])[0])
            rows.append(
                {
                    **dict(zip(keys, cell, strict=True)),
                    "metric": column,
                    "first": first,
                    "second": second,
                    "difference": float(known.mean()),
                    "bootstrap_std": std,
                    "standard_errors": float(known.mean() / max(std, 1e-12)),
                }
            )
    return pd.DataFrame(rows)


def ordering_report(runs: pd.DataFrame) -> str:
    """PC-AC and score-ac against the others: in how many cells they are better, worse or neither,
    as Markdown.
    """
    lines = [
        "# Methods against each other, corrected study",
        "",
        (
            "Paired differences on the same tables, five numbers of rows per design. Better"
            " (worse): the mean difference"
        ),
        (
            "is at least 2 bootstrap standard errors in (against) the favour of the method of the"
            " heading."
        ),
    ]
    for method, others in RIVALS.items():
        entries = []
        for (other, graph), metric in product(others, ORDERING_METRICS):
            differences = paired_differences(runs, method, other, [f"{graph}_{metric}"])
            for kind, cells in (
                differences.groupby("knowledge", sort=False) if len(differences) else ()
            ):
                favour = cells["standard_errors"] * (-1.0 if metric == "fpr" else 1.0)
                better = int((favour >= 2).sum())
                worse = int((favour <= -2).sum())
                counts = (
                    f"{better} | {len(cells) - better - worse} | {worse} |"
                    f" {cells['difference'].mean():+.3f}"
                )
                entries.append(f"| {other} | {graph} | {metric} | {kind} | {counts} |")
        if entries:
            lines += ["", f"## {method}", "", *ORDERING_HEAD, *entries]
    return "\n".join(lines) + "\n"


def runtime_report(times: pd.DataFrame) -> str:
    """Median milliseconds of a run and mean numbers of tests, main setting without knowledge, as
    the paper's table.
    """
    main = times[times["design"].isin(["main", "baselines-main"]) & (times["knowledge"] == "none")]
    methods = list(dict.fromkeys(main["method"]))
    lines = [
        "# Run times",
        "",
        (
            "Median milliseconds of a run, reading the table included; in brackets the mean number"
            " of tests of the"
        ),
        (
            "skeleton on all rows + inside contexts. PC-AC and PC-M: all contexts together;"
            " score-ac runs none."
        ),
        "",
        "| | " + " | ".join(methods) + " |",
        "|" + "---|" * (1 + len(methods)),
    ]
    for samples, rows in main.groupby("samples"):
        by_method = rows.set_index("method")
        cells = []
        for row in (by_method.loc[method] for method in methods):
            tests = (
                ""
                if np.isnan(row["tests_pooled"])
                else f" ({row['tests_pooled']:.0f} + {row['tests_within']:.0f})"
            )
            cells.append(f"{1000 * row['median_seconds']:.1f}{tests}")
        lines.append(f"| n = {samples} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


KEYS = ("samples", "knowledge", "graph", "method", "metric")
PUBLISHED_COLUMNS = (*KEYS, "mixed_test", "value", "bootstrap_std")
TARGET_METHODS = ("pc-ac", "pc-m")
TARGET_METRICS = ("tpr", "fpr")
FAR = 3.0
"""Standard errors beyond which two figures are said to differ."""


def read_published(path: str | Path) -> pd.DataFrame:
    """The published figures of the parametric test, with our names for methods."""
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise FileError(f"published figures {str(path)!r} cannot be read: {error}") from error
    missing = [name for name in PUBLISHED_COLUMNS if name not in table.columns]
    if missing:
        raise FileError(f"published figures {str(path)!r} have no column {missing[0]!r}")
    table = table[table["mixed_test"] == "regression"]
    return table.assign(method=table["method"].replace({"nod": "cd-nod"}))


def compare(ours: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Every figure that both tables have, with their difference in combined standard errors."""
    mine = ours.assign(method=ours["method"].str.removeprefix("published "))
    both = mine.merge(
        published[[*KEYS, "value", "bootstrap_std"]], on=list(KEYS), suffixes=("", "_published")
    )
    error = np.hypot(both["bootstrap_std"], both["bootstrap_std_published"])
    both["standard_errors"] = (both["value"] - both["value_published"]) / np.maximum(error, 1e-12)
    columns = [
        *KEYS,
        "value",
        "bootstrap_std",
        "value_published",
        "bootstrap_std_published",
        "standard_errors",
    ]
    return both[columns].sort_values(list(KEYS), ignore_index=True)


def is_target(compared: pd.DataFrame) -> pd.Series[bool]:
    """The cells on which the replication is judged: TPR and FPR of PC-AC and PC-M on context
    graphs.
    """
    wanted = compared["method"].isin(TARGET_METHODS) & compared["metric"].isin(TARGET_METRICS)
    return wanted & (compared["graph"] == "context")


def replication_report(ours: pd.DataFrame, published: pd.DataFrame) -> str:
    """How many published figures are met, and which are not, as a page of Markdown."""
    # Whether the scripts count pairs given as knowledge as absent in the FPR, or not at all, is not
    # documented: both are reported.
    compared = compare(ours, published)
    target = compared[is_target(compared)]
    untold = compare(
        ours.assign(metric=ours["metric"].replace({"fpr": "", "fpr_untold": "fpr"})), published
    )
    lines = [
        "# As published: our engine against the published figures",
        "",
        f"Met: within {FAR:g} combined standard errors (bootstrap, 200 resamples, both sides).",
        "",
        f"- PC-AC and PC-M, TPR and FPR, context graphs: {_met(target)}",
        (
            "- the same with the pairs given as knowledge left out of the FPR instead of counted"
            f" as absent: {_met(untold[is_target(untold)])}"
        ),
    ]
    for graph, metric in (
        ("context", "tpr"),
        ("context", "fpr"),
        ("union", "tpr"),
        ("union", "fpr"),
    ):
        cells = compared[(compared["graph"] == graph) & (compared["metric"] == metric)]
        if len(cells):
            lines.append(f"- all methods, {metric.upper()}, {graph} graphs: {_met(cells)}")
    lines += ["", "## PC-AC and PC-M, context graphs", "", *_side_by_side(target)]
    far = compared[
        compared["metric"].isin(TARGET_METRICS) & (compared["standard_errors"].abs() > FAR)
    ]
    sentences = [
        f"- {row.method}, {row.knowledge}, n = {row.samples}, {row.graph}, {row.metric}:"
        f" {row.value:.3f} here, {row.value_published:.3f} published ({row.standard_errors:+.1f}"
        " standard errors)"
        for row in far.itertuples()
    ]
    lines += ["", "## TPR and FPR that differ", "", *(sentences or ["None."])]
    return "\n".join(lines) + "\n"


def correction_report(corrected: pd.DataFrame, published: pd.DataFrame) -> str:
    """What the corrected generator and tests change, beside the published figures, as a page of
    Markdown.
    """
    main = corrected[(corrected["design"] == "main") & corrected["metric"].isin(TARGET_METRICS)]
    compared = compare(main, published)
    lines = [
        "# Corrected numbers beside the published ones",
        "",
        (
            "Main setting, mean (bootstrap standard deviation). Corrected: the generator of the"
            " paper's text and tests of"
        ),
        (
            "the right size; published: the authors' scripts. Differences are of designs, not of"
            " engines."
        ),
        "",
    ]
    for graph in ("context", "union"):
        lines += [
            f"## {graph} graphs",
            "",
            *_side_by_side(compared[compared["graph"] == graph]),
            "",
        ]
    return "\n".join(lines)


def _met(cells: pd.DataFrame) -> str:
    met = int((cells["standard_errors"].abs() <= FAR).sum())
    return f"{met} of {len(cells)} cells ({met / max(len(cells), 1):.0%})"


def _side_by_side(cells: pd.DataFrame) -> list[str]:
    """A Markdown table with a row per knowledge, metric and method, and ours / published per number
    of rows.
    """
    if not len(cells):
        return ["No figure in common."]
    samples = sorted(cells["samples"].unique())
    lines = ["| adj. | metric | method | | " + " | ".join(f"n = {n}" for n in samples) + " |"]
    lines.append("|" + "---|" * (4 + len(samples)))
    for (kind, metric, method), rows in cells.groupby(["knowledge", "metric", "method"]):
        by_samples = rows.set_index("samples")
        for words, suffix in (("ours", ""), ("published", "_published")):
            entries = [
                f"{by_samples.loc[n, f'value{suffix}']:.3f}"
                f" ({by_samples.loc[n, f'bootstrap_std{suffix}']:.3f})"
                for n in samples
            ]
            lines.append(
                f"| {kind} | {metric} | {method} | {words} | " + " | ".join(entries) + " |"
            )
    return lines
