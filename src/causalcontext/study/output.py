"""A study in a folder: records, tables, figures and pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from causalcontext.data.files import write_whole
from causalcontext.errors import FileError
from causalcontext.study.designs import Design
from causalcontext.study.figures import PAPER_FIGURES, PUBLISHED_FIGURES, save_figures
from causalcontext.study.reports import compare, correction_report, ordering_report, replication_report, runtime_report
from causalcontext.study.runner import run_study
from causalcontext.study.tables import failure_table, run_table, save_table, summary_table, time_table


def run_designs(
    designs: Mapping[str, Design], folder: Path, n_jobs: int, progress: bool, tell: Callable[[str], None]
) -> dict[str, pd.DataFrame]:
    """Every design is run or resumed; its tables "runs", "summary", "times" and "failures" are written and returned."""
    records_folder = _made(folder / "records")
    parts: dict[str, list[pd.DataFrame]] = {"runs": [], "summary": [], "times": [], "failures": []}
    for name, design in designs.items():
        begin = time.perf_counter()
        records = run_study(design, records_folder / f"{name}.jsonl", n_jobs=n_jobs, progress=progress)
        failed = sum(record["kind"] == "run" and "reason" in record for record in records)
        tell(f"{name}: {len(design.jobs())} tables in {time.perf_counter() - begin:.1f} s, {failed} failed runs")
        for key, made in zip(parts, (run_table, summary_table, time_table, failure_table), strict=True):
            parts[key].append(made(design, records))
    tables = {key: pd.concat([part for part in found if len(part)] or found[:1], ignore_index=True)
              for key, found in parts.items()}  # fmt: skip
    for key, table in tables.items():
        save_table(table, folder / f"{key}.csv")
    return tables


def write_paper_pages(
    folder: Path, tables: Mapping[str, pd.DataFrame], as_published: bool, published: pd.DataFrame | None
) -> Iterator[str]:
    """The figures of the paper and the comparisons are in the folder; a line says where each of them is."""
    runs, summary = tables["runs"], tables["summary"]
    specs = PUBLISHED_FIGURES if as_published else PAPER_FIGURES
    yield from (f"figure: {path}" for path in save_figures(specs, summary, _made(folder / "figures")))
    pages = {}
    with_main = "main" in set(summary["design"])
    if not as_published:
        pages["ordering.md"] = ordering_report(runs)
        if with_main:
            pages["runtimes.md"] = runtime_report(pd.read_csv(folder / "times.csv"))
    if as_published and published is not None:
        save_table(compare(summary, published), folder / "comparison.csv")
        pages["comparison.md"] = replication_report(summary, published)
    elif with_main and published is not None:
        pages["comparison.md"] = correction_report(summary, published)
    for name, page in pages.items():
        write_whole(folder / name, page)
        yield f"page: {folder / name}"


def _made(folder: Path) -> Path:
    """The folder, made if its parent is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder
