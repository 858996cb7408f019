"""One job of a study: draw a model and a table, run every method with every kind of knowledge, score what it found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from causalcontext.errors import check_choice
from causalcontext.simulate.hidden import HiddenVariables
from causalcontext.simulate.linear import ContextSCM
from causalcontext.study.designs import Design
from causalcontext.study.methods import METHODS, WITHOUT_KNOWLEDGE, told_links
from causalcontext.study.metrics import (
    ancestral_counts,
    ancestral_rates,
    graph_metrics,
    knowable_endpoints,
    label_metrics,
    rounded,
)
from causalcontext.study.task import EstimatedEndpoints, StudyTask

Record = dict[str, Any]


def runs_of(design: Design) -> tuple[tuple[str, str], ...]:
    """Every (knowledge, method) of a job, in the order of the final table."""
    for method in design.methods:
        check_choice("a method of the design", method, METHODS)
    return tuple(
        (kind, method)
        for kind in design.knowledge
        for method in design.methods
        if kind == "none" or method not in WITHOUT_KNOWLEDGE
    )


def run_job(design: Design, place: int, repeat: int) -> list[Record]:
    """The records of one job: how the model was drawn, then one for every run.

    Whatever goes wrong is a record with its reason, so that no table has holes that nobody can explain.
    """
    setting = design.settings[place]
    about = {"setting": place, "repeat": repeat}
    draw_seed, rows_seed = design.seeds(setting, repeat)
    try:
        model = setting.draw_model(draw_seed)
        table = model.sample(setting.samples, rows_seed)
    except Exception as error:
        reason = f"no model: {_reason(error)}"
        runs = [{**about, "kind": "run", "knowledge": kind, "method": method, "reason": reason}
                for kind, method in runs_of(design)]  # fmt: skip
        return [{**about, "kind": "draw", "reason": reason}, *runs]
    rejections = {} if isinstance(model, HiddenVariables) else model.rejections
    draw = {**about, "kind": "draw", "rejections": {reason.name: n for reason, n in sorted(rejections.items())}}
    return [draw, *({**about, "kind": "run", **run} for run in _runs(design, model, table))]


def _runs(design: Design, model: ContextSCM | HiddenVariables, table: Any) -> Iterator[Record]:
    legacy = any(method.startswith("published") for method in design.methods)
    memory: dict[str, Any] = {}
    judged = _judge(model)
    for kind, method in runs_of(design):
        knowledge, told = told_links(kind, model, "unknown" if legacy else "absent")
        task = StudyTask(table, model.context_name, knowledge, design.test, design.alpha, memory)
        record: Record = {"knowledge": kind, "method": method}
        begin = time.perf_counter()
        try:
            estimate = METHODS[method](task)
            record |= {"seconds": round(time.perf_counter() - begin, 6), **judged(estimate, told)}
        except Exception as error:
            record |= {"reason": _reason(error)}
        yield record


def _judge(model: ContextSCM | HiddenVariables) -> Callable[[EstimatedEndpoints, Any], Record]:
    """How the estimates for a model are scored: where variables are hidden, by the adjacencies and ends of contexts."""
    if not isinstance(model, HiddenVariables):
        return lambda estimate, told: score(estimate, model, told)
    known = knowable_endpoints(model)

    def score_ancestry(estimate: EstimatedEndpoints, told: Any) -> Record:
        both = np.repeat(estimate.union, len(known), axis=0) if estimate.contexts is None else estimate.contexts
        scored: Record = {"ancestral": rounded(ancestral_rates(ancestral_counts(both, model, known)))}
        return scored | ({"tests": dict(estimate.tests)} if estimate.tests else {})

    return score_ancestry


def score(estimate: EstimatedEndpoints, model: ContextSCM, told: Any) -> Record:
    """The metrics of the union, of the contexts where the method finds them, and the number of tests."""
    truth = model.adjacency
    union = np.asarray(truth.any(axis=0))[None]
    scored: Record = {"union": rounded(graph_metrics(estimate.union, union, model.context, told))}
    if estimate.contexts is not None:
        contexts = graph_metrics(estimate.contexts, truth, model.context, told)
        scored["context"] = rounded(contexts | label_metrics(estimate.contexts, truth, model.context))
    if estimate.tests:
        scored["tests"] = dict(estimate.tests)
    return scored


SETTING_COLUMNS = (
    "nodes", "density", "samples", "changed_links", "contexts", "union_cycles", "edits", "cycle_length", "balance",
    "context_noise", "exogenous", "noise", "generator", "hidden", "test",
)  # fmt: skip


def setting_columns(design: Design, place: int) -> Record:
    """A setting in the words of the published table, under the names of `SETTING_COLUMNS`; a length of 0: any."""
    setting = design.settings[place]
    written = {"changed_links": setting.changes, "union_cycles": setting.cycles, "edits": "+".join(setting.edits),
               "cycle_length": setting.cycle_length or 0, "test": design.test}  # fmt: skip
    entries = asdict(setting) | written
    return {name: entries[name] for name in SETTING_COLUMNS}


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
