"""`causalcontext check`: an inspection as tables on the terminal, or as JSON."""

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
    """An inspection as plain lists, mappings, numbers and text."""
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
    """Missing and infinite values of every column, and the contexts where it is constant; nothing
    if it is unusable.
    """
    found = []
    statistics = inspection.statistics
    for part in inspection.context.columns:
        unknown = int(np.count_nonzero(part.codes < 0))
        missing = [{"context": None, "count": unknown}] if unknown else []
        found.append(
            {
                "name": part.name,
                "dtype": part.dtype,
                "kind": "categorical",
                "role": "context",
                "missing": missing,
            }
        )
    for reading in inspection.system:
        found.append(
            {"name": reading.name, "dtype": reading.dtype, "kind": reading.kind, "role": "system"}
        )
        if statistics is not None and reading.name in statistics.names:
            place = statistics.names.index(reading.name)
            found[-1] |= {
                "missing": _by_level(statistics.values, statistics.missing[:, place]),
                "infinite": _by_level(statistics.values, statistics.infinite[:, place]),
                "constant": [
                    statistics.values[level] for level in constant_levels(statistics, place)
                ],
            }
    return found


def _by_level(levels: Sequence[Any], counts: Ints) -> list[dict[str, Any]]:
    """The contexts that have any; a list, since keys of a JSON object are text and contexts need
    not be.
    """
    return [
        {"context": levels[int(level)], "count": int(counts[level])}
        for level in np.flatnonzero(counts)
    ]


def _show(findings: dict[str, Any]) -> None:
    split = len(findings["contexts"]) > 1
    title = f"rows by value of {findings['context']}" if split else "rows"
    contexts = [
        [
            level_text(context["value"]),
            f"{context['rows']:,}",
            f"{context['complete']:,}",
            "-" if context["largest_set"] < 0 else f"{context['largest_set']:,}",
        ]
        for context in findings["contexts"]
    ]
    show_table(title, ["value", "rows", "complete", "largest set"], contexts, "contexts")
    cells = [
        [
            *(column[key] for key in ("name", "dtype", "kind", "role")),
            *(_count_cell(column.get(key, []), split) for key in ("missing", "infinite")),
            listed([level_text(level) for level in column.get("constant", [])]) if split else "",
        ]
        for column in findings["columns"]
    ]
    used = [place for place in range(len(_HEADER)) if any(row[place] for row in cells)]
    show_table(
        "columns", [_HEADER[i] for i in used], [[row[i] for i in used] for row in cells], "columns"
    )
    if findings["left_out"]:
        rows = [
            [left["column"], left["reason"], f"--keep {shlex.quote(left['column'])}"]
            for left in findings["left_out"]
        ]
        show_table("left out of the search", ["column", "reason", "to keep it"], rows, "columns")
    for name in ("problems", "notes", "advice"):
        if findings[name]:
            lines = [
                f"{name} ({len(findings[name])})",
                *(f"  {text}" for text in findings[name]),
                "",
            ]
            show_page("\n".join(lines))
    show_page("usable" if findings["usable"] else "not usable: discover refuses this table")


def _count_cell(counts: list[dict[str, Any]], split: bool) -> str:
    """`12 (dry 7, wet 5)`, or nothing."""
    if not counts:
        return ""
    total = f"{sum(entry['count'] for entry in counts):,}"
    if not split or counts[0]["context"] is None:
        return total
    parts = listed(
        [f"{level_text(entry['context'])} {entry['count']:,}" for entry in counts], most=4
    )
    return f"{total} ({parts})"
