"""`causalcontext study`: run designs, write tables, figures and a comparison, and say what was found."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from causalcontext.cli.terminal import print_line, show_table
from causalcontext.data.files import write_whole
from causalcontext.errors import FileError, OptionError, check_choice
from causalcontext.study.against_published import compare, correction_report, read_published, replication_report
from causalcontext.study.designs import Design
from causalcontext.study.figures import PAPER_FIGURES, PUBLISHED_FIGURES, save_figures
from causalcontext.study.jobs import SETTING_COLUMNS, runs_of
from causalcontext.study.orderings import ordering_report, runtime_report
from causalcontext.study.paper import DEFAULT_TEST, NONPARAMETRIC, paper_designs
from causalcontext.study.runner import run_study
from causalcontext.study.tables import failure_table, run_table, save_table, summary_table, time_table


def study_paper(
    folder: Path,
    *,
    as_published: bool,
    baselines: bool,
    nonparametric: bool,
    only: Sequence[str],
    repeats: int | None,
    published: Path | None,
    n_jobs: int,
    progress: bool,
) -> None:
    """The paper's study is in the folder: records, tables, figures, and the comparison if it was asked for."""
    figures = None if published is None else read_published(published)
    asked = nonparametric or not {NONPARAMETRIC.name, DEFAULT_TEST.name}.isdisjoint(only)
    designs = _with_repeats(_chosen(paper_designs(as_published, baselines, asked), only), repeats)
    if not asked and not as_published and not only:
        print_line(f"left out: {NONPARAMETRIC.name}, whose permutations take longer than all the rest; --nonparametric")
    if baselines and find_spec("causallearn") is None:
        raise OptionError(
            "--baselines needs causal-learn, which is not installed; pip install 'causalcontext[compare]'"
        )
    runs, table = _run_all(designs, folder, n_jobs, progress)
    specs = PUBLISHED_FIGURES if as_published else PAPER_FIGURES
    for path in save_figures(specs, table, _made(folder / "figures")):
        print_line(f"figure: {path}")
    if as_published and figures is not None:
        save_table(compare(table, figures), folder / "comparison.csv")
        _write_page(folder / "comparison.md", replication_report(table, figures))
    if not as_published:
        _write_page(folder / "ordering.md", ordering_report(runs))
        if "main" in designs:
            _write_page(folder / "runtimes.md", runtime_report(pd.read_csv(folder / "times.csv")))
        if figures is not None and "main" in designs:
            _write_page(folder / "comparison.md", correction_report(table, figures))
    _show(table)


def study_file(path: Path, folder: Path, repeats: int | None, n_jobs: int, progress: bool) -> None:
    """The study that a TOML file describes is in the folder: records and tables."""
    design = Design.from_toml(path)
    runs_of(design)  # it knows the methods: a wrong one is refused before a folder is made
    _, table = _run_all(_with_repeats({design.name: design}, repeats), folder, n_jobs, progress)
    _show(table)


def _run_all(
    designs: Mapping[str, Design], folder: Path, n_jobs: int, progress: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every design is run or resumed, and its tables are written; returned are the runs and the summary."""
    records_folder = _made(folder / "records")
    parts: dict[str, list[pd.DataFrame]] = {"runs": [], "summary": [], "times": [], "failures": []}
    for name, design in designs.items():
        begin = time.perf_counter()
        records = run_study(design, records_folder / f"{name}.jsonl", n_jobs=n_jobs, progress=progress)
        failed = sum(record["kind"] == "run" and "reason" in record for record in records)
        print_line(f"{name}: {len(design.jobs())} tables in {time.perf_counter() - begin:.1f} s, {failed} failed runs")
        parts["runs"].append(run_table(design, records))
        parts["summary"].append(summary_table(design, records))
        parts["times"].append(time_table(design, records))
        parts["failures"].append(failure_table(design, records))
    tables = {key: pd.concat([part for part in found if len(part)] or found[:1], ignore_index=True)
              for key, found in parts.items()}  # fmt: skip
    for key, table in tables.items():
        save_table(table, folder / f"{key}.csv")
    return tables["runs"], tables["summary"]


def _chosen(designs: Mapping[str, Design], only: Sequence[str]) -> dict[str, Design]:
    for name in only:
        check_choice("--only", name, designs)
    return {name: design for name, design in designs.items() if not only or name in only}


def _with_repeats(designs: Mapping[str, Design], repeats: int | None) -> dict[str, Design]:
    if repeats is not None and repeats < 1:
        raise OptionError(f"--repeats is {repeats}, expected a whole number from 1")
    return {name: design if repeats is None else replace(design, repeats=repeats) for name, design in designs.items()}


def _made(folder: Path) -> Path:
    """The folder, made if its parent is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder


def _write_page(path: Path, page: str) -> None:
    write_whole(path, page)
    print_line(f"page: {path}")


def _show(table: pd.DataFrame) -> None:
    """TPR and FPR of every method at the largest number of rows are on the terminal."""
    wanted = table[table["metric"].isin(["tpr", "fpr"]) & (table["samples"] == table["samples"].max())]
    varying = [name for name in SETTING_COLUMNS if wanted.groupby("design")[name].nunique().max() > 1]
    keys = ["design", *varying, "knowledge", "graph", "method"]
    rows = []
    for cell, part in wanted.groupby(keys, sort=False):
        by_metric = part.set_index("metric")
        values = [f"{by_metric.loc[name, 'value']:.3f} ± {by_metric.loc[name, 'bootstrap_std']:.3f}"
                  for name in ("tpr", "fpr")]  # fmt: skip
        rows.append([*map(str, cell), *values, str(part["runs"].iloc[0])])
    show_table(f"n = {table['samples'].max()}", [*keys, "TPR", "FPR", "runs"], rows)
