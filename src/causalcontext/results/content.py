"""A result as plain lists, mappings, numbers and text, as files have it, and back.

Where that is asked for, with the rows of its table: a loaded result then answers all that it did.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from causalcontext.ci_tests.gaussian import PreparedGaussian
from causalcontext.ci_tests.protocol import Label, Strength, declared_traits
from causalcontext.ci_tests.registry import TESTS
from causalcontext.data.columns import Kind
from causalcontext.data.dataset import Dataset, cell_values
from causalcontext.data.files import write_whole
from causalcontext.data.moments import Moments
from causalcontext.errors import OptionError
from causalcontext.graphs.endpoints import Endpoints
from causalcontext.graphs.graph import Graph
from causalcontext.graphs.lag_names import at, split
from causalcontext.kernels.arrays import Values
from causalcontext.kernels.levels.gaussian import STUDENT
from causalcontext.knowledge import Knowledge
from causalcontext.model_checks.violations import Violation
from causalcontext.results.changes import Change, claims_to_keep
from causalcontext.results.cut import Cut
from causalcontext.results.effects.mixture import OrderDraws
from causalcontext.results.equations import tuples
from causalcontext.results.evidence import HiddenSuspicion, ScoreEvidence
from causalcontext.results.few_rows import LEVEL_TYPES, ThinLevels
from causalcontext.results.kept import KeptAnswers, answers_of
from causalcontext.results.log import CITestLog, Decision, Entries
from causalcontext.results.notes import marked, with_marks
from causalcontext.results.outcome import DataSummary, Settings
from causalcontext.results.schema import check_content, check_range
from causalcontext.results.series import SeriesFacts
from causalcontext.results.settings import MOST_FILE_CELLS
from causalcontext.results.thin import as_searched
from causalcontext.results.words import context_place
from causalcontext.results.wrong_cells import WrongCells
from causalcontext.screening.left_out import DoubtfulScale, LeftOut, Why
from causalcontext.search.family import Doubt, Origin
from causalcontext.views import Contexts, Reason

if TYPE_CHECKING:
    from causalcontext.diagnostics.stability import Stability
    from causalcontext.results.contexts import ContextGraphs

FORMAT = "causalcontext-result"
RESULT_FORMAT_VERSION = 6
_LOG_COLUMNS = {
    "decision": np.int8,
    "n": np.int64,
    "view": np.int64,
    "reason": np.int8,
    "untested": np.int64,
    "cut": np.int64,
    "label": np.int8,
    "p": float,
    "statistic": float,
    "df": float,
}


def save(result: ContextGraphs, path: str | Path, rows: bool = False) -> None:
    """Write a result to a JSON file, whole or not at all."""
    write_whole(path, result_text(result, rows))


def result_text(result: ContextGraphs, rows: bool = False) -> str:
    """A result as the text of its file."""
    content = to_dict(result) | ({"rows": rows_to_dict(result)} if rows else {})
    signed = {
        "format": FORMAT,
        "format_version": RESULT_FORMAT_VERSION,
        "checksum": checksum(content),
    } | content
    return json.dumps(signed, ensure_ascii=False, allow_nan=False, indent=None) + "\n"


def checksum(content: dict[str, Any]) -> str:
    """A hash of everything but the head of the file, whatever its layout; "" where JSON cannot hold
    the content.
    """
    body = {
        key: value
        for key, value in content.items()
        if key not in ("format", "format_version", "checksum")
    }
    try:
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()


def to_dict(result: ContextGraphs) -> dict[str, Any]:
    """The result as plain numbers, lists and text, without rows, as a file holds it.

    The types of context values stand beside them. Answers that were not asked are left out.
    Warnings about rows stay as sentences, since the rows are gone.
    """
    if result.thin is not None:
        return _with_thin_levels(to_dict(as_searched(result)), result, result.thin)
    claims = claims_to_keep(result)
    return {
        "complete": result.complete,
        "names": list(result.names),
        "context": _context_to_dict(result),
        **_graphs_to_dict(result),
        "method": result.method.to_dict(),
        "settings": asdict(result.settings) | {"knowledge": result.settings.knowledge.to_dict()},
        "data": asdict(result.data),
        "tests_run": dict(result.tests_run),
        "log": _log_to_dict(result.log),
        "origins": [[*pair, *origin] for pair, origin in result.origins.items()],
        "doubts": [list(doubt) for doubt in result.doubts],
        "warnings": list(result.warnings),
        "evidence": None if result.evidence is None else result.evidence.to_dict(),
        "notes": list(result.notes),
        "claims": [list(claim) for claim in claims] if isinstance(claims, tuple) else claims,
        **_model_answers_to_dict(result),
        "moments": moments_to_dict(result.moments),
        **_optional_to_dict(result),
        **_series_to_dict(result),
    }


def _context_to_dict(result: ContextGraphs) -> dict[str, Any]:
    """The context variables with their levels and types, the cells of rows, and the columns that
    contexts were made of.
    """
    cells = result.cells
    variables = [
        {
            "name": result.names[position],
            "levels": list(levels),
            "types": [type(level).__name__ for level in levels],
        }
        for position, levels in zip(cells.positions, result.levels, strict=True)
    ]
    return {
        "name": result.context,
        "levels": list(result.contexts),
        "variables": variables,
        "cells": [list(cell) for cell in cells.cells],
        "source": list(cells.sources) or None if len(cells.positions) > 1 else cells.source,
    }


def _graphs_to_dict(result: ContextGraphs) -> dict[str, Any]:
    """The edges of every graph, of the union and of the labeled union."""
    return {
        "kind": result.union.kind.value,
        "graphs": {
            str(value): [edge._asdict() for edge in graph.edges]
            for value, graph in result.graphs.items()
        },
        "union": [edge._asdict() for edge in result.union.edges],
        "labeled_union": [
            edge._asdict() | {"contexts": list(edge.contexts)} for edge in result.labeled_union
        ],
    }


def _log_to_dict(log: CITestLog) -> dict[str, Any]:
    """The columns of the log, a list per context; null for NaN, text for an infinite statistic."""
    columns: dict[str, Any] = {}
    for name in _LOG_COLUMNS:
        rows = getattr(log, name).tolist()
        columns[name] = [[_number_for_json(value) for value in row] for row in rows]
    columns["given"] = [
        [[z for z in chosen if z >= 0] for chosen in row] for row in log.given.tolist()
    ]
    columns["labels"] = [list(label) for label in log.labels]
    return columns


def _number_for_json(value: float) -> float | str | None:
    """A number as JSON holds it: null for NaN, "inf" or "-inf" for an infinite one."""
    if isfinite(value):
        return value
    return None if value != value else str(value)


def _model_answers_to_dict(result: ContextGraphs) -> dict[str, Any]:
    """The stored answers of model checks and comparisons of contexts; null where not asked."""
    kept = answers_of(result)
    compared = [
        [*places, [_change_to_list(result.contexts, change) for change in changes]]
        for places, changes in kept.compared.items()
    ]
    violations = None
    if kept.violations is not None:
        violations = [
            [violation.kind, list(violation.columns), violation.size, violation.key]
            for violation in kept.violations
        ]
    return {
        "suspicion": None if kept.suspicion is None else asdict(kept.suspicion),
        "compared": compared,
        "violations": violations,
    }


def _optional_to_dict(result: ContextGraphs) -> dict[str, Any]:
    """The entries that a file has only where the result has something to put there."""
    kept = answers_of(result)
    drawn = kept.orders
    entries = {
        "notes_about": [list(mark) for mark in marked(result.notes)] or None,
        "warnings_about": [list(mark) for mark in marked(result.warnings)] or None,
        "order_draws": drawn.to_dict() if isinstance(drawn, OrderDraws) else drawn,
        "diagnosis": None if kept.diagnosis is None else kept.diagnosis.to_list(),
        "stability": None if kept.stability is None else _stability_to_dict(kept.stability),
        "other_cuts": _cuts_to_dict(kept.other_cuts) if kept.other_cuts else None,
        "wrong_cells": None if result.wrong_cells is None else result.wrong_cells.to_dict(),
        "left_out": [asdict(left) for left in result.left_out] or None,
        "doubtful_scales": [asdict(scale) for scale in result.doubtful_scales] or None,
        "cuts": [cut.to_dict() for cut in result.cuts] or None,
    }
    return {name: entry for name, entry in entries.items() if entry is not None}


def fields_from_dict(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of the result of `to_dict`."""
    check_content(content)
    names = tuple(content["names"])
    cells, levels = _cells(names, content["context"])
    contexts = cell_values(cells, levels)
    evidence = None if content["evidence"] is None else ScoreEvidence.from_dict(content["evidence"])
    if evidence is not None:
        _check_evidence(evidence, len(contexts), len(names))
    settings = _settings_from_dict(content["settings"])
    moments = moments_from_dict(content["moments"], len(contexts), len(names))
    numbers = sum(kind != "continuous" for kind in content["data"]["kinds"]) <= len(cells.positions)
    prepared = None
    if numbers and moments is not None:
        statistic = getattr(TESTS.get(settings.test), "kind", STUDENT)
        prepared = PreparedGaussian(moments, cells, statistic)
    more: dict[str, Any] = _series_from_dict(content) if "series" in content else {}
    series: SeriesFacts | None = more.get("series")
    asked = cells if series is None else series.asked(cells)
    columns = len(names) if series is None else len(series.columns(names))
    return dict(
        names=names,
        cells=cells,
        levels=levels,
        contexts=contexts,
        graphs=_graphs_from_dict(content, names, contexts),
        settings=settings,
        data=DataSummary(*(tuples(content["data"][field.name]) for field in fields(DataSummary))),
        log=log_from_dict(content["log"], asked, len(names), (len(contexts), columns)),
        tests_run=content["tests_run"],
        complete=content["complete"],
        origins={(g, a, b): Origin(*tuples(rest)) for g, a, b, *rest in content["origins"]},
        doubts=tuple(Doubt(*doubt) for doubt in content["doubts"]),
        warnings=with_marks(
            content["warnings"], content.get("warnings_about", ()), "warnings_about"
        ),
        evidence=evidence,
        notes=with_marks(content["notes"], content.get("notes_about", ()), "notes_about"),
        **_screening_from_dict(content),
        cuts=tuple(Cut.from_dict(cut) for cut in content.get("cuts", ())),
        prepared=prepared,
        moments=moments,
        rows=_rows_of_file(content, names, cells, levels),
        **more,
    )


def _graphs_from_dict(
    content: dict[str, Any], names: tuple[str, ...], contexts: Sequence[Any]
) -> dict[Any, Graph]:
    """The graph of every context value."""
    graphs = {}
    for value in contexts:
        edges = [
            (edge["source"], edge["target"], edge["mark"]) for edge in content["graphs"][str(value)]
        ]
        graphs[value] = Graph.from_edges(names, edges, content["kind"])
    return graphs


def _screening_from_dict(content: dict[str, Any]) -> dict[str, Any]:
    """The columns left out, the columns of doubtful scale and the wrong cells."""
    wrong_cells = None
    if "wrong_cells" in content:
        wrong_cells = WrongCells.from_dict(content["wrong_cells"])
    left_out = tuple(
        LeftOut(left["column"], Why(left["why"]), left["reason"], tuple(left["of"]))
        for left in content.get("left_out", ())
    )
    doubtful_scales = tuple(
        DoubtfulScale(
            tuple(scale["columns"]),
            tuple(scale["kinds"]),
            scale["reason"],
            scale["by_ranks"],
            scale.get("near", scale["by_ranks"]),
            scale.get("as_causes", False),
        )
        for scale in content.get("doubtful_scales", ())
    )
    return {
        "wrong_cells": wrong_cells,
        "left_out": left_out,
        "doubtful_scales": doubtful_scales,
    }


def _rows_of_file(
    content: dict[str, Any], names: tuple[str, ...], cells: Contexts, levels: Any
) -> Dataset | None:
    """The rows of the table, if the file has them."""
    kept = content.get("rows")
    if kept is None:
        return None
    return rows_from_dict(kept, names, cells, levels, content["data"]["levels"])


def _settings_from_dict(stored: dict[str, Any]) -> Settings:
    """The settings of a result; the registry says what a test declares where a file does not."""
    traits = stored.get("test_traits")
    if traits is None:
        traits = declared_traits(TESTS.get(stored["test"]))
    knowledge = Knowledge.from_dict(stored["knowledge"])
    return Settings(**stored | {"knowledge": knowledge, "test_traits": tuple(traits)})


def _stability_to_dict(stability: Stability) -> dict[str, Any]:
    """The shares over bootstrap samples, with contexts by their places."""
    contexts = list(stability.result.contexts)
    labels = [
        [x, y, [[list(map(contexts.index, label)), share] for label, share in shares.items()]]
        for (x, y), shares in stability.label_frequency.items()
    ]
    return {
        "samples": stability.samples,
        "frequency": encoded(stability.frequency),
        "labels": labels,
    }


def _cuts_to_dict(other_cuts: Mapping[float, Endpoints]) -> dict[str, Any]:
    """The endpoints below and above places of a cut: shape (places, 2, variables, variables)."""
    endpoints = np.stack(list(other_cuts.values())).astype(np.int64)
    return {"places": list(other_cuts), "endpoints": encoded(endpoints)}


def _change_to_list(contexts: Sequence[Any], change: Change) -> list[Any]:
    """A difference between two contexts, with these by their places; null for not a number."""
    places = (context_place(contexts, value) for value in (change.present, change.absent))
    named = change._replace(present=next(places), absent=next(places))
    return [None if value != value else value for value in named]


def _change_from_list(contexts: Sequence[Any], stored: Sequence[Any]) -> Change:
    """The difference of `_change_to_list`."""
    values: list[Any] = [float("nan") if value is None else value for value in stored]
    change = Change(*values)
    return change._replace(present=contexts[change.present], absent=contexts[change.absent])


def answers_from_dict(content: dict[str, Any], contexts: Sequence[Any]) -> KeptAnswers:
    """The answers to questions that were asked before a result was saved; `content` is checked."""
    names = content["names"]
    claims, suspicion, violations = (content[key] for key in ("claims", "suspicion", "violations"))
    orders = content.get("order_draws")
    if isinstance(orders, dict):
        count = len(content["context"]["variables"])
        orders = OrderDraws.from_dict(orders, len(names), count)
    if suspicion is not None:
        pairs = {name: tuples(value) for name, value in suspicion.items()}
        suspicion = HiddenSuspicion(**pairs)
    if violations is not None:
        violations = tuple(Violation(*tuples(violation)) for violation in violations)
    compared = {
        (a, b): tuple(_change_from_list(contexts, change) for change in changes)
        for a, b, changes in content.get("compared", ())
    }
    return KeptAnswers(
        violations=violations,
        suspicion=suspicion,
        orders=orders,
        compared=compared,
        claims=tuples(claims),
    )


def _with_thin_levels(
    content: dict[str, Any], result: ContextGraphs, thin: ThinLevels
) -> dict[str, Any]:
    """The content of a search with what stands for the values of the context that have too few
    rows.
    """
    content["context"] |= {"name": result.context, "levels": list(result.contexts)}
    pooled = {
        str(value): [edge._asdict() for edge in result.graphs[value].edges]
        for value in result.contexts
    }
    return content | {"graphs": content["graphs"] | pooled, "thin": thin.to_dict()}


def _series_to_dict(result: ContextGraphs) -> dict[str, Any]:
    """The contents of a file with lags: facts, the moments of windows, and the times of nodes; none
    without lags.
    """
    if result.series is None:
        return {}
    kept = None
    if result.window_moments is not None:
        contexts, moments = result.window_moments
        copies = [result.names[position] for position in contexts.positions]
        alone = len(result.cells.positions) == 1
        saved_columns = _saved_columns(result.names, result.cells, result.series)
        kept = {
            "copies": [split(name)[1] if alone else name for name in copies],
            "codes": [list(cell) for cell in contexts.cells],
            "moments": moments_to_dict(
                Moments(
                    moments.rows,
                    moments.mean[:, saved_columns],
                    moments.scatter[:, saved_columns][:, :, saved_columns],
                )
            ),
        }
    nodes = [{"name": name, "lag": lag} for name, lag in map(split, result.names)]
    return {"series": result.series.to_dict(), "windows": kept, "nodes": nodes}


def _series_from_dict(content: dict[str, Any]) -> dict[str, Any]:
    """The facts, the moments and the columns of a file with lags; nothing of a file without.

    The lags of every context copy are checked against the window before an array is made from them.
    """
    facts = SeriesFacts.from_dict(content["series"])
    kept = content.get("windows")
    if kept is None:
        return {"series": facts}
    names = tuple(content["names"])
    codes = kept["codes"]
    cells, levels = _cells(names, content["context"])
    copies = [
        copy if isinstance(copy, str) else at(names[cells.positions[0]], copy)
        for copy in kept["copies"]
    ]
    owners = [names[position] for position in cells.positions]
    for index, copy in enumerate(copies):
        check_range(
            np.array([code[index] for code in codes]),
            0,
            len(levels[owners.index(split(copy)[0])]) - 1,
            "windows.codes",
        )
    if any(len(code) != len(copies) for code in codes):
        raise ValueError("windows.codes are of other copies")
    saved_columns = _saved_columns(names, cells, facts)
    window_moments = moments_from_dict(kept["moments"], len(codes), len(saved_columns))
    if window_moments is None:
        raise ValueError("windows have no moments")
    mean = np.zeros((len(codes), len(names)))
    scatter = np.zeros((len(codes), len(names), len(names)))
    mean[:, saved_columns] = window_moments.mean
    scatter[:, np.array(saved_columns)[:, None], saved_columns] = window_moments.scatter
    contexts = Contexts(tuple(map(names.index, copies)), tuples(codes))
    return {
        "series": facts,
        "known_windows": (contexts, Moments(window_moments.rows, mean, scatter)),
    }


def _saved_columns(names: Sequence[str], cells: Contexts, facts: SeriesFacts) -> list[int]:
    """The columns of a window that moments are kept of: system variables from the present
    backwards, and covariates.

    Context copies are left out, since the moments are by cell, and each is constant there.
    """
    context = {names[position] for position in cells.positions}
    last = len(facts.variables) * (facts.lags + 1)
    nodes = [node for node in range(last) if split(names[node])[0] not in context]
    return [*sorted(nodes, key=lambda node: split(names[node])[1]), *range(last, len(names))]


def _cells(
    names: tuple[str, ...], context: dict[str, Any]
) -> tuple[Contexts, tuple[tuple[Any, ...], ...]]:
    """The context variables, and their values with their own types again."""
    variables = context["variables"]
    positions = tuple(names.index(variable["name"]) for variable in variables)
    levels = []
    for variable in variables:
        typed_levels = list(zip(variable["levels"], variable["types"], strict=True))
        for value, kind in typed_levels:  # a float may be written as a whole number
            if type(value).__name__ != kind and (kind, type(value)) != ("float", int):
                raise ValueError(f"a level is {value!r}, expected a value of type {kind}")
        levels.append(tuple(LEVEL_TYPES[kind](value) for value, kind in typed_levels))
    saved = context["source"]  # what they are functions of; of a single one the number itself
    sources = tuple(saved) if isinstance(saved, list) else () if saved is None else (saved,)
    return Contexts(positions, tuples(context["cells"]), sources), tuple(levels)


def _check_evidence(evidence: ScoreEvidence, contexts: int, variables: int) -> None:
    """Return if the evidence is about so many contexts and variables.

    Shapes of the arrays, numbers of variables and contexts, and the equations by effect and context
    are checked; anything else is a `ValueError`, which the reader of files turns into a sentence.
    """
    pairs = variables * (variables - 1) // 2
    shapes = (
        evidence.difference.shape,
        evidence.block.shape,
        evidence.rows.shape,
        (len(evidence.model),),
    )
    if shapes != ((contexts, pairs), (contexts, variables), (contexts, variables), (variables,)):
        raise ValueError("evidence is about other contexts or variables")
    check_range(evidence.effect, -1, variables - 1, "evidence.effect")
    check_range(evidence.decision, 0, max(Decision), "evidence.decision")
    if evidence.mechanisms is not None:
        known_equations = {
            (equation.effect, context)
            for equation in evidence.mechanisms.equations
            for context in equation.contexts
        }
        asked = {
            (int(effect), r)
            for r, effects in enumerate(evidence.effect)
            for effect in effects
            if effect >= 0
        }
        if len(evidence.mechanisms.scales) < variables or not asked <= known_equations:
            raise ValueError("evidence lacks the mechanism of a variable")


def log_from_dict(
    columns: dict[str, Any], cells: Contexts, variables: int, sizes: tuple[int, int]
) -> CITestLog:
    """The log of `to_dict`, if its numbers are in range; `sizes` are those of contexts and of
    columns.
    """
    contexts, most = sizes
    shape = (contexts, variables * (variables - 1) // 2)
    arrays: dict[str, Any] = {
        name: np.array(columns[name], dtype=kind).reshape(shape)
        for name, kind in _LOG_COLUMNS.items()
    }
    sets = [chosen for row in columns["given"] for chosen in row]
    given = np.full(
        (len(sets), max((len(chosen) for chosen in sets), default=0)), -1, dtype=np.int16
    )
    for query_index, chosen in enumerate(sets):
        given[query_index, : len(chosen)] = chosen
    labels = tuple(Label(name, Strength(strength)) for name, strength in columns["labels"])
    highest = {
        "decision": max(Decision),
        "n": np.inf,
        "view": len(cells.views) - 1,
        "reason": max(Reason),
        "untested": np.inf,
        "cut": np.inf,
        "label": max(len(labels) - 1, 0),
    }
    for name, high in highest.items():
        check_range(arrays[name], -1 if name == "view" else 0, high, f"log.{name}")
    check_range(given, -1, most - 1, "log.given")
    return CITestLog(
        Entries(**arrays, given=given.reshape(*shape, given.shape[1])), variables, labels
    )


def moments_to_dict(moments: Moments | None) -> dict[str, Any] | None:
    """The moments of every context, so that a loaded result can run its tests again; no rows are
    kept.
    """
    if moments is None:
        return None
    return {name: encoded(getattr(moments, name)) for name in ("rows", "mean", "scatter")}


def moments_from_dict(
    moments: dict[str, Any] | None, contexts: int, variables: int
) -> Moments | None:
    """The moments of `moments_to_dict`, if they are of so many contexts and variables."""
    if moments is None:
        return None
    moments_of_cells = Moments(*(decoded(moments[name]) for name in ("rows", "mean", "scatter")))
    for array, shape in (
        (moments_of_cells.rows, ()),
        (moments_of_cells.mean, (variables,)),
        (moments_of_cells.scatter, (variables, variables)),
    ):
        if array.shape != (contexts, *shape) or not np.isfinite(array).all():
            raise ValueError("moments have another shape, or numbers that are not finite")
    return moments_of_cells


def rows_to_dict(result: ContextGraphs) -> dict[str, Any]:
    """The rows of a result, so that `rows_from_dict` has them again."""
    data = result.rows
    if result.series is not None:
        raise OptionError(
            "not yet: rows=True with lags; without it the file holds everything but the rows"
        )
    if data is None:
        raise OptionError(
            "this result has no rows to keep: it was loaded without them, or its table was read in"
            " parts"
        )
    if data.n_rows * len(data.names) > MOST_FILE_CELLS:
        raise OptionError(
            f"a file keeps at most {MOST_FILE_CELLS:,} cells, this table has {data.n_rows:,} rows"
            f" of {len(data.names)} columns: save without rows=True"
        )
    plain = [
        column.astype(np.int64 if column.dtype.kind in "ib" else np.float64)
        for column in data.columns
    ]
    return {
        "columns": list(map(encoded, plain)),
        "dtypes": list(data.dtypes),
        "kinds": list(data.kinds),
        "codes": encoded(data.codes.astype(np.int64)),
        "declared": sorted(data.declared),
        "share": data.share,
    }


def rows_from_dict(
    kept: Mapping[str, Any],
    names: tuple[str, ...],
    cells: Contexts,
    levels: tuple[tuple[Any, ...], ...],
    categories: tuple[Any, ...],
) -> Dataset:
    """The table of `rows_to_dict`, if its codes are in range; `categories` are the levels of every
    column.
    """
    columns = tuple(map(decoded, kept["columns"]))
    codes = decoded(kept["codes"])
    kinds = kept["kinds"]
    if any(
        column.shape != codes.shape or codes.ndim != 1 or np.isinf(column).any()
        for column in columns
    ):
        raise ValueError("rows have columns of other lengths, or infinite numbers")
    check_range(codes, -1, len(cells.cells) - 1, "rows.codes")
    for position, context_levels in zip(cells.positions, levels, strict=True):
        check_range(columns[position], -1, len(context_levels) - 1, "rows.columns")
    named = {
        v: tuples(categories[v])
        for v, kind in enumerate(kinds)
        if not Kind(kind).is_number and v not in cells.positions
    }
    for position, context_levels in named.items():
        check_range(
            columns[position][~np.isnan(columns[position])],
            0,
            len(context_levels) - 1,
            "rows.columns",
        )
    return Dataset(
        names,
        tuple(map(Kind, kinds)),
        columns,
        tuple(kept["dtypes"]),
        cells,
        levels,
        codes,
        named,
        frozenset(kept["declared"]),
        kept["share"],
    )


def encoded(array: Values) -> dict[str, Any]:
    """An array of numbers of 64 bits as base64."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode("ascii")
    return {"type": little.dtype.str, "shape": list(array.shape), "base64": text}


def decoded(stored: dict[str, Any]) -> Values:
    """The array of `encoded`."""
    if stored["type"] not in ("<f8", "<i8"):
        raise ValueError(f"unexpected number type {stored['type']!r}")
    flat = np.frombuffer(base64.b64decode(stored["base64"], validate=True), dtype=stored["type"])
    return flat.reshape(stored["shape"]).astype(stored["type"][1:])
