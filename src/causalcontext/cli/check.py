"""`causalcontext check`: everything that stands in the way of a search, without one.

    causalcontext check soil.csv --context soil
    causalcontext check soil.csv --context soil --json findings.json

The table is read as `discover` reads it, and its sufficient statistics are gathered once; no test
is run. The answer has five parts: rows and complete rows by context, a line for every column,
columns that would be left out, problems (each would prevent a search), notes and advice (neither
would). The terminal and `--json` show the same mapping, `to_dict`.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import typer

from causalcontext.cli import inputs
from causalcontext.cli.pipes import is_stdout, write_json
from causalcontext.cli.settings import PROBLEMS_FOUND
from causalcontext.cli.terminal import show_page, show_table
from causalcontext.diagnostics.check import (
    CheckOptions,
    Inspection,
    constant_levels,
    largest_set,
    level_text,
)
from causalcontext.diagnostics.check import check as inspected
from causalcontext.errors import listed
from causalcontext.kernels.arrays import Ints

_HEADER = ("column", "dtype", "kind", "role", "missing", "infinite", "constant in")


@inputs.with_options(CheckOptions, searches=False)
def check(
    data: inputs.TableArgument,
    context: inputs.ContextOption = None,
    columns: inputs.ColumnsOption = None,
    drop: inputs.DropOption = None,
    kind: inputs.KindOption = None,
    output: inputs.JsonOption = None,
    **options: Any,
) -> None:
    """Kinds, rows by context and everything that stands in the way of a search, without one.

    Exit code 0: discover takes the table; 1: it refuses it; 2: the input cannot be read.
    """
    kinds = inputs.parsed_kinds(kind)
    inputs.check_outputs({"--json": output}, inputs=[data])
    table, read_context = inputs.chosen_columns(inputs.read_whole(data), context, columns, drop)
    findings = to_dict(inspected(table, read_context, kinds=kinds, **options))
    if output is not None:
        write_json(output, findings)
    if not is_stdout(output):
        _show(findings)
    if not findings["usable"]:
        raise typer.Exit(PROBLEMS_FOUND)


def to_dict(inspection: Inspection) -> dict[str, Any]:
    """The inspection as plain lists, mappings, numbers and text, ready for JSON.

    `contexts` has one entry for every value of the context: its rows, those without a missing
    value, and the largest conditioning set that a test can have there, -1 where no test can be run.
    `usable` says that there is no problem.
    """
    statistics = inspection.statistics
    complete = (
        [0] * len(inspection.rows) if statistics is None else statistics.moments.rows.tolist()
    )
    contexts = [
        {
            "value": value,
            "rows": rows,
            "complete": usable,
            "largest_set": max(largest_set(usable), -1),
        }
        for value, rows, usable in zip(
            inspection.context.levels, inspection.rows, complete, strict=True
        )
    ]
    return {
        "usable": not inspection.problems,
        "context": inspection.context.name,
        "contexts": contexts,
        "columns": _columns(inspection),
        "collinear": [asdict(dependence) for dependence in inspection.dependences],
        "problems": list(inspection.problems),
        "notes": list(inspection.notes),
        "advice": list(inspection.advice),
        "left_out": [asdict(left) for left in inspection.left_out],
    }


def _columns(inspection: Inspection) -> list[dict[str, Any]]:
    """One entry for every column, those of the context first.

    An entry has name, dtype, kind and role. If the table could be read as numbers, columns of the
    system also have missing values, infinite values and the contexts in which they are constant.
    """
    entries = []
    statistics = inspection.statistics
    for part in inspection.context.columns:
        unknown = int(np.count_nonzero(part.codes < 0))
        missing = [{"context": None, "count": unknown}] if unknown else []
        entries.append(
            {
                "name": part.name,
                "dtype": part.dtype,
                "kind": "categorical",
                "role": "context",
                "missing": missing,
            }
        )
    for reading in inspection.system:
        entries.append(
            {"name": reading.name, "dtype": reading.dtype, "kind": reading.kind, "role": "system"}
        )
        if statistics is not None and reading.name in statistics.names:
            position = statistics.names.index(reading.name)
            entries[-1] |= {
                "missing": _by_level(statistics.values, statistics.missing[:, position]),
                "infinite": _by_level(statistics.values, statistics.infinite[:, position]),
                "constant": [
                    statistics.values[level] for level in constant_levels(statistics, position)
                ],
            }
    return entries


def _by_level(levels: Sequence[Any], counts: Ints) -> list[dict[str, Any]]:
    """The contexts that count anything, each with its number.

    `counts` has shape (contexts,). The answer is a list, since keys of a JSON object are text and
    values of a context need not be.
    """
    return [
        {"context": levels[int(level)], "count": int(counts[level])}
        for level in np.flatnonzero(counts)
    ]


def _show(findings: dict[str, Any]) -> None:
    """Print the findings: tables of contexts and columns, paragraphs of sentences, the verdict."""
    splits = len(findings["contexts"]) > 1
    _show_contexts(findings, splits)
    _show_columns(findings["columns"], splits)
    _show_left_out(findings["left_out"])
    for name in ("problems", "notes", "advice"):
        sentences = findings[name]
        if sentences:
            lines = [f"{name} ({len(sentences)})", *(f"  {text}" for text in sentences), ""]
            show_page("\n".join(lines))
    show_page("usable" if findings["usable"] else "not usable: discover refuses this table")


def _show_contexts(findings: dict[str, Any], splits: bool) -> None:
    """Print a table of the contexts, or of the whole table where no context `splits` it.

    A largest conditioning set of -1, where no test can be run at all, is shown as "-".
    """
    title = f"rows by value of {findings['context']}" if splits else "rows"
    rows = []
    for context in findings["contexts"]:
        largest = context["largest_set"]
        rows.append(
            [
                level_text(context["value"]),
                f"{context['rows']:,}",
                f"{context['complete']:,}",
                "-" if largest < 0 else f"{largest:,}",
            ]
        )
    show_table(title, ["value", "rows", "complete", "largest set"], rows, "contexts")


def _show_columns(columns: Sequence[dict[str, Any]], splits: bool) -> None:
    """Print a table of the columns of a table, a row each.

    What no column has, such as missing values, is left out: the header keeps only those parts of
    `_HEADER` with an entry somewhere.
    """
    rows = []
    for column in columns:
        constant = [level_text(level) for level in column.get("constant", [])]
        rows.append(
            [
                *(column[key] for key in ("name", "dtype", "kind", "role")),
                *(_count_cell(column.get(key, []), splits) for key in ("missing", "infinite")),
                listed(constant) if splits else "",
            ]
        )
    used = [position for position in range(len(_HEADER)) if any(row[position] for row in rows)]
    header = [_HEADER[position] for position in used]
    show_table("columns", header, [[row[position] for position in used] for row in rows], "columns")


def _show_left_out(left_out: Sequence[dict[str, Any]]) -> None:
    """Print a table of the columns that a search leaves out, with the flag that keeps each."""
    if not left_out:
        return
    rows = [
        [left["column"], left["reason"], f"--keep {shlex.quote(left['column'])}"]
        for left in left_out
    ]
    show_table("left out of the search", ["column", "reason", "to keep it"], rows, "columns")


def _count_cell(counts: list[dict[str, Any]], splits: bool) -> str:
    """The total and the contexts that it is made of: `12 (dry 7, wet 5)`; empty where nothing
    counts.

    A table without contexts has the total alone, and at most four contexts are named.
    """
    if not counts:
        return ""
    total = f"{sum(entry['count'] for entry in counts):,}"
    if not splits or counts[0]["context"] is None:
        return total
    parts = listed(
        [f"{level_text(entry['context'])} {entry['count']:,}" for entry in counts], most=4
    )
    return f"{total} ({parts})"
