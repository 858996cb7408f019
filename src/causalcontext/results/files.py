"""Results as JSON files: readable by other programs, versioned, and equal again when loaded."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from causalcontext.data.files import write_whole
from causalcontext.errors import FileError
from causalcontext.graphs.graph import Graph
from causalcontext.independence.gaussian import PreparedGaussian
from causalcontext.independence.several import PreparedSeveral
from causalcontext.knowledge import Knowledge
from causalcontext.results.contexts import ContextGraphs, DataSummary, KeptMoments, Settings
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import TrialLog
from causalcontext.search.family import Doubt, Origin

FORMAT = "causalcontext-result"
FORMAT_VERSION = 1
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
            "level_types": [_type_names(value) for value in result.contexts],
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
    context = content["context"]
    contexts = tuple(_typed(*pair) for pair in zip(context["levels"], context["level_types"], strict=True))
    edges = {value: content["graphs"][str(value)] for value in contexts}
    settings = content["settings"] | {"knowledge": Knowledge.from_dict(content["settings"]["knowledge"])}
    settings["contexts"] = tuple(settings.get("contexts", ()))
    moments = _moments_from_dict(content["moments"])
    categories = sum(kind != "continuous" for kind in content["data"]["kinds"])
    numbers = categories <= max(len(settings["contexts"]), context["name"] is not None)
    return ContextGraphs(
        names=names,
        context=context["name"],
        contexts=contexts,
        graphs={value: _graph(names, edges[value], content.get("kind", "pattern")) for value in contexts},
        settings=Settings(**settings),
        data=_summary(content["data"]),
        log=_log_from_dict(content["log"], len(contexts), len(names)),
        tests_run=content["tests_run"],
        complete=content["complete"],
        origins={(g, a, b): Origin(rule, h, tuple(via)) for g, a, b, rule, h, via in content.get("origins", ())},
        doubts=tuple(Doubt(*doubt) for doubt in content.get("doubts", ())),
        warnings=tuple(content.get("warnings", ())),
        evidence=None if content.get("evidence") is None else ScoreEvidence.from_dict(content["evidence"]),
        notes=tuple(content.get("notes", ())),
        prepared=moments if numbers else None,
        moments=moments,
    )


def _summary(data: dict[str, Any]) -> DataSummary:
    emptied = tuple((value, rows) for value, rows in data["emptied"])
    return DataSummary(tuple(data["rows"]), tuple(data["lost"]), data["without_context"], emptied, tuple(data["kinds"]),
                       data["fingerprint"])  # fmt: skip


def _type_names(value: Any) -> str | list[str]:
    """The type of a context value, for a combination of values the type of each."""
    return [type(part).__name__ for part in value] if isinstance(value, tuple) else type(value).__name__


def _typed(value: Any, kind: str | list[str]) -> Any:
    """A context value with its own type again."""
    if isinstance(kind, list):
        return tuple(_LEVEL_TYPES[name](part) for part, name in zip(value, kind, strict=True))
    return _LEVEL_TYPES[kind](value)


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
    return columns | {"labels": list(log.labels)}


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
    return TrialLog(**arrays, given=given.reshape(*shape, -1), labels=tuple(columns["labels"]))


def _moments_to_dict(prepared: KeptMoments | None) -> dict[str, Any] | None:
    """The per-context moments, so that a loaded result can run its tests again; no rows are kept."""
    if prepared is None:
        return None
    arrays = {"rows": prepared.rows, "mean": prepared.mean, "scatter": prepared.scatter}
    if isinstance(prepared, PreparedSeveral):
        arrays["codes"] = prepared.codes
        return {name: _encoded(array) for name, array in arrays.items()} | {
            "contexts": list(prepared.contexts),
            "kind": prepared.kind,
        }
    return {name: _encoded(array) for name, array in arrays.items()} | {
        "context": prepared.context,
        "kind": prepared.kind,
    }


def _moments_from_dict(moments: dict[str, Any] | None) -> KeptMoments | None:
    if moments is None:
        return None
    rows, mean, scatter = (_decoded(moments[name]) for name in ("rows", "mean", "scatter"))
    if "codes" in moments:
        return PreparedSeveral(rows, mean, scatter, tuple(moments["contexts"]), _decoded(moments["codes"]),
                               moments["kind"])  # fmt: skip
    return PreparedGaussian(rows, mean, scatter, moments["context"], moments["kind"])


def _encoded(array: NDArray[Any]) -> dict[str, Any]:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode("ascii")
    return {"type": little.dtype.str, "shape": list(array.shape), "base64": text}


def _decoded(stored: dict[str, Any]) -> NDArray[Any]:
    if stored["type"] not in ("<f8", "<i8"):
        raise ValueError(f"unexpected number type {stored['type']!r}")
    flat = np.frombuffer(base64.b64decode(stored["base64"]), dtype=stored["type"])
    return flat.reshape(stored["shape"]).astype(stored["type"][1:])
