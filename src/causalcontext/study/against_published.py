"""Our figures beside the published ones, in tables and plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from causalcontext.errors import FileError

KEYS = ("samples", "knowledge", "graph", "method", "metric")
PUBLISHED_COLUMNS = (*KEYS, "mixed_test", "value", "bootstrap_std")
TARGET_METHODS, TARGET_METRICS = ("pc-ac", "pc-m"), ("tpr", "fpr")
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
    both = mine.merge(published[[*KEYS, "value", "bootstrap_std"]], on=list(KEYS), suffixes=("", "_published"))
    error = np.hypot(both["bootstrap_std"], both["bootstrap_std_published"])
    both["standard_errors"] = (both["value"] - both["value_published"]) / np.maximum(error, 1e-12)
    columns = [*KEYS, "value", "bootstrap_std", "value_published", "bootstrap_std_published", "standard_errors"]
    return both[columns].sort_values(list(KEYS), ignore_index=True)


def is_target(compared: pd.DataFrame) -> pd.Series[bool]:
    """The cells on which the replication is judged: TPR and FPR of PC-AC and PC-M on context graphs."""
    return (
        compared["method"].isin(TARGET_METHODS)
        & compared["metric"].isin(TARGET_METRICS)
        & (compared["graph"] == "context")
    )


def replication_report(ours: pd.DataFrame, published: pd.DataFrame) -> str:
    """How many published figures are met, and which are not, as a page of Markdown.

    Whether the scripts count told pairs as absent in the FPR, or not at all, is not documented: both are reported.
    """
    compared = compare(ours, published)
    target = compared[is_target(compared)]
    untold = compare(ours.assign(metric=ours["metric"].replace({"fpr": "", "fpr_untold": "fpr"})), published)
    lines = [
        "# As published: our engine against the published figures",
        "",
        f"Met: within {FAR:g} combined standard errors (bootstrap, 200 resamples, both sides).",
        "",
        f"- PC-AC and PC-M, TPR and FPR, context graphs: {_met(target)}",
        f"- the same with told pairs left out of the FPR, not counted as absent: {_met(untold[is_target(untold)])}",
    ]
    for graph, metric in (("context", "tpr"), ("context", "fpr"), ("union", "tpr"), ("union", "fpr")):
        cells = compared[(compared["graph"] == graph) & (compared["metric"] == metric)]
        if len(cells):
            lines.append(f"- all methods, {metric.upper()}, {graph} graphs: {_met(cells)}")
    lines += ["", "## PC-AC and PC-M, context graphs", "", *_side_by_side(target)]
    far = compared[compared["metric"].isin(TARGET_METRICS) & (compared["standard_errors"].abs() > FAR)]
    lines += ["", "## TPR and FPR that differ", "", *(_cell_lines(far) or ["None."])]
    return "\n".join(lines) + "\n"


def correction_report(corrected: pd.DataFrame, published: pd.DataFrame) -> str:
    """What the corrected generator and tests change, beside the published figures, as a page of Markdown."""
    main = corrected[(corrected["design"] == "main") & corrected["metric"].isin(TARGET_METRICS)]
    compared = compare(main, published)
    lines = [
        "# Corrected numbers beside the published ones",
        "",
        "Main setting, mean (bootstrap standard deviation). Corrected: the generator of the paper's text and tests of",
        "the right size; published: the authors' scripts. Differences are of designs, not of engines.",
        "",
    ]
    for graph in ("context", "union"):
        lines += [f"## {graph} graphs", "", *_side_by_side(compared[compared["graph"] == graph]), ""]
    return "\n".join(lines)


def _met(cells: pd.DataFrame) -> str:
    met = int((cells["standard_errors"].abs() <= FAR).sum())
    return f"{met} of {len(cells)} cells ({met / max(len(cells), 1):.0%})"


def _side_by_side(cells: pd.DataFrame) -> list[str]:
    """A Markdown table with a row per knowledge, metric and method, and ours / published per number of rows."""
    if not len(cells):
        return ["No figure in common."]
    samples = sorted(cells["samples"].unique())
    lines = ["| adj. | metric | method | | " + " | ".join(f"n = {n}" for n in samples) + " |"]
    lines.append("|" + "---|" * (4 + len(samples)))
    for (kind, metric, method), rows in cells.groupby(["knowledge", "metric", "method"]):
        by_samples = rows.set_index("samples")
        for words, suffix in (("ours", ""), ("published", "_published")):
            entries = [f"{by_samples.loc[n, f'value{suffix}']:.3f} ({by_samples.loc[n, f'bootstrap_std{suffix}']:.3f})"
                       for n in samples]  # fmt: skip
            lines.append(f"| {kind} | {metric} | {method} | {words} | " + " | ".join(entries) + " |")
    return lines


def _cell_lines(cells: pd.DataFrame) -> list[str]:
    return list(_sentences(cells))


def _sentences(cells: pd.DataFrame) -> Iterator[str]:
    for row in cells.itertuples():
        yield (f"- {row.method}, {row.knowledge}, n = {row.samples}, {row.graph}, {row.metric}: {row.value:.3f} here, "
               f"{row.value_published:.3f} published ({row.standard_errors:+.1f} standard errors)")  # fmt: skip
