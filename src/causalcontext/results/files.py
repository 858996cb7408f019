"""Results as JSON files: readable by other programs, versioned, and equal again when loaded."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from causalcontext.data.dataset import cell_values
from causalcontext.data.files import write_whole
from causalcontext.data.moments import Moments
from causalcontext.errors import FileError
from causalcontext.graphs.graph import Graph
from causalcontext.independence.gaussian import PreparedGaussian
from causalcontext.independence.labels import Label, Strength
from causalcontext.kernels.arrays import Values
from causalcontext.kernels.levels.gaussian import FISHER, STUDENT
from causalcontext.knowledge import Knowledge
from causalcontext.questions import Contexts
from causalcontext.results.contexts import ContextGraphs, DataSummary, Settings
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import TrialLog
from causalcontext.search.family import Doubt, Origin

FORMAT = "causalcontext-result"
FORMAT_VERSION = 2
_LEVEL_TYPES = {"int": int, "float": float, "bool": bool, "str": str}
_INTEGER_COLUMNS = {"decision": np.int8, "n": np.int64, "view": np.int64, "reason": np.int8, "untested": np.int64,
                    "cut": np.int64, "label": np.int8, "given": np.int16}  # fmt: skip
_FLOAT_COLUMNS = ("p", "statistic", "df")


def save(result: ContextGraphs, path: str | Path) -> None:
    """Write a result to a JSON file, whole or not at all."""
    write_whole(path, json.dumps(to_dict(result), ensure_ascii=False, allow_nan=False, indent=None) + "\n")


def load(path: str | Path) -> ContextGraphs:
    """The result that was saved in a JSON file, equal to the one that was saved.

    Examples
    --------
    >>> import causalcontext as cc
    >>> cc.load("missing.json")
    Traceback (most recent call last):
        ...
    causalcontext.errors.FileError: result file 'missing.json' cannot be read: No such file or directory
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"result file {str(path)!r} cannot be read: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise FileError(f"result file {str(path)!r} is not valid JSON: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FileError(f"file {str(path)!r} is not a result of causalcontext")
    if content.get("format_version") != FORMAT_VERSION:
        found = content.get("format_version")
        raise FileError(f"result file {str(path)!r} has format version {found}, this library reads {FORMAT_VERSION}")
    try:
        return from_dict(content)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FileError(f"result file {str(path)!r} is damaged: {type(error).__name__}: {error}") from error


def to_dict(result: ContextGraphs) -> dict[str, Any]:
    """A result as plain lists, mappings, numbers and text."""
    settings = asdict(result.settings) | {"knowledge": result.settings.knowledge.to_dict()}
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "complete": result.complete,
        "names": list(result.names),
        "context": {
            "name": result.context,
            "levels": list(result.contexts),
            "variables": [_variable(result, place) for place in range(len(result.levels))],
            "cells": [list(cell) for cell in result.cells.cells],
            "source": result.cells.source,
        },
        "kind": result.union.kind.value,
        "graphs": {str(value): _edges(graph) for value, graph in result.graphs.items()},
        "union": _edges(result.union),
        "labeled_union": [edge._asdict() | {"contexts": list(edge.contexts)} for edge in result.labeled_union],
        "settings": settings,
        "data": asdict(result.data),
        "tests_run": dict(result.tests_run),
        "log": _log_to_dict(result.log),
        "origins": [[*place, *origin] for place, origin in result.origins.items()],
        "doubts": [list(doubt) for doubt in result.doubts],
        "warnings": list(result.warnings),
        "evidence": None if result.evidence is None else result.evidence.to_dict(),
        "notes": list(result.notes),
        "moments": _moments_to_dict(result.moments),
    }


def from_dict(content: dict[str, Any]) -> ContextGraphs:
    """The result of `to_dict`."""
    names = tuple(content["names"])
    cells, levels = _cells(names, content["context"])
    contexts = cell_values(cells, levels)
    edges = {value: content["graphs"][str(value)] for value in contexts}
    settings = Settings(**content["settings"] | {"knowledge": Knowledge.from_dict(content["settings"]["knowledge"])})
    moments = _moments_from_dict(content["moments"])
    numbers = sum(kind != "continuous" for kind in content["data"]["kinds"]) <= len(cells.positions)
    return ContextGraphs(
        names=names,
        cells=cells,
        levels=levels,
        contexts=contexts,
        graphs={value: _graph(names, edges[value], content.get("kind", "pattern")) for value in contexts},
        settings=settings,
        data=_summary(content["data"]),
        log=_log_from_dict(content["log"], len(contexts), len(names)),
        tests_run=content["tests_run"],
        complete=content["complete"],
        origins={(g, a, b): Origin(rule, h, tuple(via)) for g, a, b, rule, h, via in content.get("origins", ())},
        doubts=tuple(Doubt(*doubt) for doubt in content.get("doubts", ())),
        warnings=tuple(content.get("warnings", ())),
        evidence=None if content.get("evidence") is None else ScoreEvidence.from_dict(content["evidence"]),
        notes=tuple(content.get("notes", ())),
        prepared=_prepared(moments, cells, settings.test) if numbers and moments is not None else None,
        moments=moments,
    )


def _summary(data: dict[str, Any]) -> DataSummary:
    emptied = tuple((value, rows) for value, rows in data["emptied"])
    return DataSummary(tuple(data["rows"]), tuple(data["lost"]), data["without_context"], emptied, tuple(data["kinds"]),
                       data["fingerprint"])  # fmt: skip


def _variable(result: ContextGraphs, place: int) -> dict[str, Any]:
    """A context variable: its name, its values and their types."""
    levels = result.levels[place]
    types = [type(value).__name__ for value in levels]
    return {"name": result.names[result.cells.positions[place]], "levels": list(levels), "types": types}


def _cells(names: tuple[str, ...], context: dict[str, Any]) -> tuple[Contexts, tuple[tuple[Any, ...], ...]]:
    """The context variables, and their values with their own types again."""
    variables = context["variables"]
    positions = tuple(names.index(variable["name"]) for variable in variables)
    cells = tuple(tuple(int(level) for level in cell) for cell in context["cells"])
    levels = tuple(
        tuple(_LEVEL_TYPES[kind](value) for value, kind in zip(variable["levels"], variable["types"], strict=True))
        for variable in variables
    )
    return Contexts(positions, cells, context["source"]), levels


def _prepared(moments: Moments, cells: Contexts, test: str) -> PreparedGaussian:
    """The linear-Gaussian test on the moments that were kept."""
    return PreparedGaussian(moments, cells, FISHER if test == "fisher-z" else STUDENT)


def _edges(graph: Graph) -> list[dict[str, str]]:
    return [edge._asdict() for edge in graph.edges]


def _graph(names: tuple[str, ...], edges: list[dict[str, str]], kind: str) -> Graph:
    return Graph.from_edges(names, [(edge["source"], edge["target"], edge["mark"]) for edge in edges], kind)


def _log_to_dict(log: TrialLog) -> dict[str, Any]:
    """Columns of lists, one list per context; null stands for not a number."""
    columns: dict[str, Any] = {name: getattr(log, name).tolist() for name in _INTEGER_COLUMNS if name != "given"}
    for name in _FLOAT_COLUMNS:
        values = getattr(log, name)
        columns[name] = [[None if np.isnan(v) else v for v in row] for row in values.tolist()]
    columns["given"] = [[[z for z in chosen if z >= 0] for chosen in row] for row in log.given.tolist()]
    return columns | {"labels": [list(label) for label in log.labels]}


def _log_from_dict(columns: dict[str, Any], contexts: int, variables: int) -> TrialLog:
    shape = (contexts, variables * (variables - 1) // 2)
    arrays: dict[str, Any] = {
        name: np.array(columns[name], dtype=kind).reshape(shape)
        for name, kind in _INTEGER_COLUMNS.items()
        if name != "given"
    }
    for name in _FLOAT_COLUMNS:
        arrays[name] = np.array(columns[name], dtype=np.float64).reshape(shape)
    sets = [chosen for row in columns["given"] for chosen in row]
    given = np.full((len(sets), max((len(chosen) for chosen in sets), default=0)), -1, dtype=np.int16)
    for place, chosen in enumerate(sets):
        given[place, : len(chosen)] = chosen
    labels = tuple(Label(name, Strength(strength)) for name, strength in columns["labels"])
    return TrialLog(**arrays, given=given.reshape(*shape, -1), labels=labels)


def _moments_to_dict(moments: Moments | None) -> dict[str, Any] | None:
    """The moments of every context, so that a loaded result can run its tests again; no rows are kept."""
    if moments is None:
        return None
    return {name: _encoded(getattr(moments, name)) for name in ("rows", "mean", "scatter")}


def _moments_from_dict(moments: dict[str, Any] | None) -> Moments | None:
    if moments is None:
        return None
    return Moments(*(_decoded(moments[name]) for name in ("rows", "mean", "scatter")))


def _encoded(array: Values) -> dict[str, Any]:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode("ascii")
    return {"type": little.dtype.str, "shape": list(array.shape), "base64": text}


def _decoded(stored: dict[str, Any]) -> Values:
    if stored["type"] not in ("<f8", "<i8"):
        raise ValueError(f"unexpected number type {stored['type']!r}")
    flat = np.frombuffer(base64.b64decode(stored["base64"]), dtype=stored["type"])
    return flat.reshape(stored["shape"]).astype(stored["type"][1:])
