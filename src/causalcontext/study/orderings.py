"""Methods beside each other: paired differences on the same tables, and run times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from causalcontext.study.bootstrap import bootstrap_std
from causalcontext.study.jobs import SETTING_COLUMNS

RIVALS = {
    "pc-ac": (("pc-m", "context"), ("pc-b", "context"), ("pc-m", "union"), ("pc-b", "union"), ("pc-p", "union")),
    "score-ac": (("pc-ac", "context"), ("pc-m", "context"), ("pc-b", "context"), ("pc-ac", "union"), ("pc-p", "union")),
}
"""Whom a method is compared with, on which graphs."""

ORDERING_METRICS = ("tpr", "fpr", "f1", "edge_prec", "edge_rec")
ORDERING_HEAD = (
    "| against | graphs | metric | adj. | better | neither | worse | mean difference |",
    "|---|---|---|---|---|---|---|---|",
)


def paired_differences(runs: pd.DataFrame, first: str, second: str, columns: Sequence[str]) -> pd.DataFrame:
    """Mean differences between two methods on the same tables, with bootstrap errors, per design and setting.

    Parameters
    ----------
    runs : DataFrame
        From `run_table`.
    first, second : str
        Methods; positive means that the first has more.
    columns : sequence of str
        Columns of `runs`, such as "context_tpr".
    """
    keys = ["design", *SETTING_COLUMNS, "knowledge"]
    rows = []
    for cell, part in runs.groupby(keys, sort=False):
        by_method = part.set_index(["repeat", "method"])[list(columns)].unstack("method")
        for column in columns:
            if first not in by_method[column] or second not in by_method[column]:
                continue
            difference = (by_method[column][first] - by_method[column][second]).to_numpy(dtype=float)
            known = difference[~np.isnan(difference)]
            if len(known) < 2:
                continue
            std = float(bootstrap_std(known[:, None])[0])
            rows.append({**dict(zip(keys, cell, strict=True)), "metric": column, "first": first, "second": second,
                         "difference": float(known.mean()), "bootstrap_std": std,
                         "standard_errors": float(known.mean() / max(std, 1e-12))})  # fmt: skip
    return pd.DataFrame(rows)


def ordering_report(runs: pd.DataFrame) -> str:
    """PC-AC and score-ac against the others: in how many cells they are better, worse or neither, as Markdown."""
    lines = [
        "# Methods against each other, corrected study",
        "",
        "Paired differences on the same tables, five numbers of rows per design. Better (worse): the mean difference",
        "is at least 2 bootstrap standard errors in (against) the favour of the method of the heading.",
    ]
    for method, others in RIVALS.items():
        entries = [line for other, graph in others for line in _ordering_lines(runs, method, other, graph)]
        if entries:
            lines += ["", f"## {method}", "", *ORDERING_HEAD, *entries]
    return "\n".join(lines) + "\n"


def runtime_report(times: pd.DataFrame) -> str:
    """Median milliseconds of a run and mean numbers of tests, main setting without knowledge, as the paper's table."""
    main = times[times["design"].isin(["main", "baselines-main"]) & (times["knowledge"] == "none")]
    methods = list(dict.fromkeys(main["method"]))
    lines = [
        "# Run times",
        "",
        "Median milliseconds of a run, reading the table included; in brackets the mean number of tests of the",
        "skeleton on all rows + inside contexts. PC-AC and PC-M: all contexts together; score-ac runs none.",
        "",
        "| | " + " | ".join(methods) + " |",
        "|" + "---|" * (1 + len(methods)),
    ]
    for samples, rows in main.groupby("samples"):
        by_method = rows.set_index("method")
        cells = [_runtime_cell(by_method.loc[method]) for method in methods]
        lines.append(f"| n = {samples} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _runtime_cell(row: pd.Series[float]) -> str:
    tests = "" if np.isnan(row["tests_pooled"]) else f" ({row['tests_pooled']:.0f} + {row['tests_within']:.0f})"
    return f"{1000 * row['median_seconds']:.1f}{tests}"


def _ordering_lines(runs: pd.DataFrame, method: str, other: str, graph: str) -> list[str]:
    """A line for every metric and kind of knowledge; none if one of the two methods was not run."""
    lines = []
    for metric in ORDERING_METRICS:
        differences = paired_differences(runs, method, other, [f"{graph}_{metric}"])
        for kind, cells in differences.groupby("knowledge", sort=False) if len(differences) else ():
            lines.append(_ordering_line(other, graph, metric, str(kind), cells))
    return lines


def _ordering_line(other: str, graph: str, metric: str, kind: str, cells: pd.DataFrame) -> str:
    favour = cells["standard_errors"] * (-1.0 if metric == "fpr" else 1.0)
    better, worse = int((favour >= 2).sum()), int((favour <= -2).sum())
    neither = len(cells) - better - worse
    mean = cells["difference"].mean()
    return f"| {other} | {graph} | {metric} | {kind} | {better} | {neither} | {worse} | {mean:+.3f} |"
