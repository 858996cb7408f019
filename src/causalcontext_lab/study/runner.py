"""Run a study: many jobs in parallel, one file of records, resumed where it was left.

A job draws a model and a table, runs every method with every kind of knowledge, and scores what it
found. It depends on its design, setting and repeat alone, so that neither the order nor the number
of workers matters. The records are JSON lines, appended job by job, so that a killed study loses
one job at most.

How near found graphs are to true ones is measured by adjacencies, edge marks and labels, links at
the context apart. Found graphs are ends, true graphs links; both are stacks of shape (contexts, N,
N), the union a stack of one. Rates are computed per graph and averaged over contexts, as in the
paper. Pairs that a method was told about are left out: as published, they count as absent from both
graphs. Where variables are hidden, an end is right if it is true in its context: a tail at y of x -
y if y is an ancestor of x there, an arrow if it is not. Counts are kept beside rates, so that rates
over many models can be pooled: most models have few tails.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from causalcontext import __version__, discover
from causalcontext.data.files import write_whole
from causalcontext.errors import FileError, OptionError, check_choice, is_whole
from causalcontext.graphs.endpoints import (
    Endpoint,
    Endpoints,
    adjacent,
    causes,
    endpoints_of_arcs,
    marked,
)
from causalcontext.progress import counting_bar
from causalcontext_lab.arrays import Bools
from causalcontext_lab.simulate.hidden import HiddenVariables
from causalcontext_lab.simulate.linear import ContextSCM
from causalcontext_lab.study.designs import Design
from causalcontext_lab.study.methods import (
    METHODS,
    WITHOUT_KNOWLEDGE,
    EstimatedEndpoints,
    StudyTask,
    told_links,
)

Metrics = dict[str, float]

GRAPH_METRICS = (
    "tpr",
    "fpr",
    "fpr_untold",
    "fpr_pairs",
    "adj_prec",
    "f1",
    "edge_prec",
    "edge_rec",
    "shd",
    "tpr_at_context",
    "fpr_at_context",
    "tpr_system",
    "fpr_system",
)
LABEL_METRICS = ("label_prec", "label_rec")


def graph_metrics(found: Endpoints, truth: Bools, context: int, told: Bools) -> Metrics:
    """The metrics of one kind of graph, each averaged over the stack; NaN where there is nothing to
    count.

    `told` are the pairs that the method was told about, symmetric. In the result,

        `tpr`, `adj_prec` and `f1` of adjacencies; `fpr` over all absent ordered pairs, the diagonal
        and the pairs in `told` included (as published); `fpr_untold` without the pairs in `told`,
        `fpr_pairs` without both; `edge_prec`, `edge_rec`: right arrows among found adjacencies and
        among true links; `shd`: pairs with another mark; `..._at_context`, `..._system`: the rates
        of the links at the context, and of all others (without the diagonal).
    """
    rows = [
        _one_graph(endpoints, links, context, told)
        for endpoints, links in zip(found, truth, strict=True)
    ]
    kept = {name: [row[name] for row in rows if not np.isnan(row[name])] for name in GRAPH_METRICS}
    return {
        name: float(np.mean(values)) if values else float("nan") for name, values in kept.items()
    }


def label_metrics(found: Endpoints, truth: Bools, context: int) -> Metrics:
    """Are the pairs that change between contexts found, each with just the contexts that have
    it?
    """
    # `label_prec`: of the system pairs whose adjacency was found to change, the share whose
    # contexts are right; `label_rec`: of those whose adjacency truly changes, the share whose
    # contexts were found.
    here = adjacent(found)
    there = truth | truth.swapaxes(1, 2)
    pairs = _pairs(found.shape[1])
    pairs[context] = pairs[:, context] = False
    right = (here == there).all(axis=0)
    found_changes = pairs & (here != here[0]).any(axis=0)
    true_changes = pairs & (there != there[0]).any(axis=0)
    return {"label_prec": _share(right, found_changes), "label_rec": _share(right, true_changes)}


def rounded(metrics: Mapping[str, float]) -> dict[str, float | None]:
    """The same metrics for a file: eight digits, and null for NaN."""
    return {
        name: None if np.isnan(value) else round(float(value), 8) for name, value in metrics.items()
    }


def _one_graph(endpoints: Endpoints, links: Bools, context: int, told: Bools) -> Metrics:
    open_pair = ~told
    found = adjacent(endpoints) & open_pair
    true = (links | links.T) & open_pair
    pairs = _pairs(len(endpoints)) & open_pair
    at_context = np.zeros_like(pairs)
    at_context[context] = at_context[:, context] = True
    right = causes(endpoints) & links & open_pair
    other_end = endpoints != endpoints_of_arcs(links, both=Endpoint.MIXED)
    absent = pairs & ~true
    return {
        "tpr": _share(found, true),
        "fpr": _share(found, ~true),
        "fpr_untold": _share(found, ~true & open_pair),
        "fpr_pairs": _share(found, absent),
        "adj_prec": _share(true, found),
        "f1": _ratio(2.0 * (found & true).sum(), found.sum() + true.sum()),
        "edge_prec": _ratio(right.sum(), found.sum() / 2),
        "edge_rec": _ratio(right.sum(), (links & open_pair).sum()),
        "shd": float((other_end | other_end.T)[pairs].sum()),
        "tpr_at_context": _share(found, true & at_context),
        "fpr_at_context": _share(found, absent & at_context),
        "tpr_system": _share(found, true & ~at_context),
        "fpr_system": _share(found, absent & ~at_context),
    }


def _pairs(nodes: int) -> Bools:
    """Every pair once."""
    return np.triu(np.ones((nodes, nodes), dtype=np.bool_), k=1)


def _share(these: Bools, among: Bools) -> float:
    return _ratio((these & among).sum(), among.sum())


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")


RATES = {
    "tpr": ("pairs_right", "pairs_true"),
    "fpr": ("pairs_wrong", "pairs_absent"),
    "arrow_prec": ("arrows_right", "arrows"),
    "arrow_rec": ("arrows_found", "arrows_known"),
    "tail_prec": ("tails_right", "tails"),
    "tail_rec": ("tails_found", "tails_known"),
    "tail_prec_at_context": ("tails_at_context_right", "tails_at_context"),
    "bidirected_prec": ("bidirected_right", "bidirected"),
    "change_prec": ("changes_right", "changes"),
    "change_rec": ("changes_right", "changes_true"),
}
"""Of a rate, what is counted and out of how many."""


def knowable_endpoints(model: HiddenVariables) -> Endpoints:
    """The ends that fci-ac finds without noise, shape (contexts, M, M)."""
    few = model.sample(len(model.names) * 20, seed=0)  # of their values nothing is used
    oracle: Any = model.oracle()
    found = discover(few, model.context_name, method="fci-ac", test=oracle, contested="bidirected")
    return np.stack([graph.endpoints for graph in found.graphs.values()])


def ancestral_counts(
    found: Endpoints, model: HiddenVariables, exact: Endpoints
) -> dict[str, float]:
    """Counts of the found ends of every context, shape (contexts, M, M)."""
    # Pairs of system variables are counted once in every context, links at the context variable
    # once. `exact` are the ends that can be known, found by a search without noise: recall is out
    # of these. Changes are system pairs that some contexts have and others have not; right if in
    # just the same contexts.
    system = ~np.eye(len(model.names), dtype=bool)
    system[model.context] = system[:, model.context] = False
    pairs = np.triu(system)
    causes = model.causes.swapaxes(1, 2)
    here = adjacent(found) & pairs
    there = adjacent(model.endpoints) & pairs
    arrows, known_arrows = ((ends == Endpoint.ARROW) & system for ends in (found, exact))
    tails, known_tails = ((ends == Endpoint.TAIL) & system for ends in (found, exact))
    at_context = (found[0] == Endpoint.TAIL) & ~system
    both = marked(found, "<->") & pairs
    ours, true = ((which != which[0]).any(axis=0) for which in (here, there))
    counted = {
        "pairs_wrong": here & ~there,
        "pairs_right": here & there,
        "pairs_true": there,
        "pairs_absent": pairs & ~there,
        "arrows": arrows,
        "arrows_right": arrows & ~causes,
        "arrows_known": known_arrows,
        "arrows_found": known_arrows & arrows,
        "tails": tails,
        "tails_right": tails & causes,
        "tails_known": known_tails,
        "tails_found": known_tails & tails,
        "tails_at_context": at_context,
        "tails_at_context_right": at_context & causes[0],
        "bidirected": both,
        "bidirected_right": both & ~causes & ~causes.swapaxes(1, 2),
        "changes": ours,
        "changes_right": ours & (here == there).all(axis=0),
        "changes_true": true,
    }
    return {name: float(which.sum()) for name, which in counted.items()}


def ancestral_rates(counts: Mapping[str, float]) -> dict[str, float]:
    """The rates of counts, of one model or summed over several; NaN where there is nothing to
    count.
    """
    return {name: _ratio(counts[part], counts[whole]) for name, (part, whole) in RATES.items()}


METRICS_OF = {
    "context": (*GRAPH_METRICS, *LABEL_METRICS),
    "union": GRAPH_METRICS,
    "ancestral": tuple(RATES),
}
"""The metrics of every kind of graph; "ancestral" where variables are hidden, of all contexts
together.
"""

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
    """The records of one job: how the model was drawn, then one for every run."""
    # Whatever goes wrong is a record with its reason, so that no table has holes that nobody can
    # explain.
    setting = design.settings[place]
    about = {"setting": place, "repeat": repeat}
    draw_seed, rows_seed = design.seeds(setting, repeat)
    try:
        model = setting.draw_model(draw_seed)
        table = model.sample(setting.samples, rows_seed)
    except Exception as error:
        reason = f"no model: {type(error).__name__}: {error}"
        runs = [
            {**about, "kind": "run", "knowledge": kind, "method": method, "reason": reason}
            for kind, method in runs_of(design)
        ]
        return [{**about, "kind": "draw", "reason": reason}, *runs]
    rejections = {} if isinstance(model, HiddenVariables) else model.rejections
    draw = {
        **about,
        "kind": "draw",
        "rejections": {reason.name: n for reason, n in sorted(rejections.items())},
    }
    return [draw, *({**about, "kind": "run", **run} for run in _runs(design, model, table))]


def _runs(design: Design, model: ContextSCM | HiddenVariables, table: Any) -> Iterator[Record]:
    legacy = any(method.startswith("published") for method in design.methods)
    memory: dict[str, Any] = {}
    known = (
        knowable_endpoints(model)
        if isinstance(model, HiddenVariables)
        else np.empty((0, 0, 0), np.int8)
    )
    for kind, method in runs_of(design):
        knowledge, told = told_links(kind, model, "unknown" if legacy else "absent")
        task = StudyTask(table, model.context_name, knowledge, design.test, design.alpha, memory)
        record: Record = {"knowledge": kind, "method": method}
        begin = time.perf_counter()
        try:
            estimate = METHODS[method](task)
            record |= {
                "seconds": round(time.perf_counter() - begin, 6),
                **_scores(estimate, model, known, told),
            }
        except Exception as error:
            record |= {"reason": f"{type(error).__name__}: {error}"}
        yield record


def _scores(
    estimate: EstimatedEndpoints, model: ContextSCM | HiddenVariables, known: Endpoints, told: Bools
) -> Record:
    """The metrics of the union, of the contexts where the method finds them, and the number of
    tests.
    """
    # Where variables are hidden, those of the adjacencies and ends of contexts, out of the ends
    # that can be known.
    scored: Record = {}
    if isinstance(model, HiddenVariables):
        both = (
            np.repeat(estimate.union, len(known), axis=0)
            if estimate.contexts is None
            else estimate.contexts
        )
        scored["ancestral"] = rounded(ancestral_rates(ancestral_counts(both, model, known)))
    else:
        union = np.asarray(model.adjacency.any(axis=0))[None]
        scored["union"] = rounded(graph_metrics(estimate.union, union, model.context, told))
        if estimate.contexts is not None:
            contexts = graph_metrics(estimate.contexts, model.adjacency, model.context, told)
            scored["context"] = rounded(
                contexts | label_metrics(estimate.contexts, model.adjacency, model.context)
            )
    return scored | ({"tests": dict(estimate.tests)} if estimate.tests else {})


SETTING_COLUMNS = (
    "nodes",
    "density",
    "samples",
    "changed_links",
    "contexts",
    "union_cycles",
    "edits",
    "cycle_length",
    "balance",
    "context_noise",
    "exogenous",
    "noise",
    "generator",
    "hidden",
    "test",
)


def setting_columns(design: Design, place: int) -> Record:
    """A setting in the words of the published table, under the names of `SETTING_COLUMNS`; a length
    of 0: any.
    """
    setting = design.settings[place]
    written = {
        "changed_links": setting.changes,
        "union_cycles": setting.cycles,
        "edits": "+".join(setting.edits),
        "cycle_length": setting.cycle_length or 0,
        "test": design.test,
    }
    entries = asdict(setting) | written
    return {name: entries[name] for name in SETTING_COLUMNS}


JOBS_PER_TASK = 4
"""Jobs that go to a worker at once: enough to pay for the way there, few enough to lose little in a
kill.
"""


def run_study(
    design: Design, path: str | Path, *, n_jobs: int = 1, client: Any = None, progress: bool = False
) -> list[Record]:
    """All records, in the order of the design; jobs that the file at `path` (JSON lines) holds are
    not run again.

    `n_jobs` are local processes, -1 for all cores; `client`, a `dask.distributed.Client` (extra
    `dask`), runs the jobs on its cluster instead. `progress` shows a bar with the time left.
    """
    runs_of(design)
    if n_jobs == 0 or n_jobs < -1:
        raise OptionError(
            f"n_jobs is {n_jobs}, expected a whole number from 1, or -1 for all cores"
        )
    path = Path(path)  # what a kill has left half-written is dropped first
    kept = list(_complete_jobs(path, design)) if path.exists() else []
    write_whole(
        path, "".join([_header(design), *(_line(record) for records in kept for record in records)])
    )
    done = {_job(records[0]) for records in kept}
    missing = [job for job in design.jobs() if job not in done]
    with (
        path.open("a", encoding="utf-8") as file,
        counting_bar(f"study {design.name}", progress) as advance,
    ):
        for finished, records in enumerate(
            _finished(design, missing, n_jobs, client), start=len(done) + 1
        ):
            file.write("".join(map(_line, records)))  # in one write
            file.flush()
            advance(finished, len(done) + len(missing))
    return read_records(path, design)


def run_jobs(design: Design, jobs: Sequence[tuple[int, int]]) -> list[list[Record]]:
    """The records of some jobs, one after the other."""
    return [run_job(design, place, repeat) for place, repeat in jobs]


def _finished(
    design: Design, jobs: Sequence[tuple[int, int]], n_jobs: int, client: Any
) -> Iterator[list[Record]]:
    """The records of every job, as they come in."""
    parts = [jobs[begin : begin + JOBS_PER_TASK] for begin in range(0, len(jobs), JOBS_PER_TASK)]
    if client is not None:  # joblib's Dask backend hands results back a wave at a time
        wave = max(1, 4 * sum(client.nthreads().values()))
        for begin in range(0, len(parts), wave):
            with parallel_config(backend="dask", client=client):
                found = Parallel()(
                    delayed(run_jobs)(design, part) for part in parts[begin : begin + wave]
                )
            yield from chain.from_iterable(found)
    elif n_jobs == 1:
        yield from chain.from_iterable(run_jobs(design, part) for part in parts)
    else:
        work = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        yield from chain.from_iterable(work(delayed(run_jobs)(design, part) for part in parts))


FORMAT = "causalcontext-study"
StudyJob = tuple[int, int]


def read_records(path: str | Path, design: Design) -> list[Record]:
    """All records of complete jobs, in the order of the design, whatever order they were made
    in.
    """
    path = Path(path)
    if not path.exists():
        raise FileError(f"records file {str(path)!r} does not exist; run the study first")
    jobs = {_job(records[0]): records for records in _complete_jobs(path, design)}
    return [record for job in design.jobs() if job in jobs for record in jobs[job]]


def _complete_jobs(path: Path, design: Design) -> Iterator[list[Record]]:
    """The records of every job that has all of its runs, in their order; a job with a damaged
    record runs again.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise FileError(f"cannot read the records file {str(path)!r}: {error.strerror}") from error
    if not lines:
        return
    found = _parsed(lines[0])
    expected = json.loads(_header(design))
    if found is None or found.get("format") != FORMAT:
        raise FileError(f"file {str(path)!r} does not hold the records of a study")
    for key in ("version", "design"):
        # records of another one could not be told apart from new ones
        if found.get(key) != expected[key]:
            raise FileError(
                f"records file {str(path)!r} was made with another {key}; choose another folder, or"
                " remove the file to start again"
            )
    jobs: dict[StudyJob, list[Record]] = {}
    for line in lines[1:]:
        record = _parsed(line)
        if record is not None and _is_whole(record):
            jobs.setdefault(_job(record), []).append(record)
    all_runs = [("draw", "", ""), *(("run", kind, method) for kind, method in runs_of(design))]
    known = set(design.jobs())
    for job, records in jobs.items():
        runs = [
            tuple(record.get(key, "") for key in ("kind", "knowledge", "method"))
            for record in records
        ]
        if job in known and runs == all_runs:
            yield records


def _header(design: Design) -> str:
    return _line({"format": FORMAT, "version": __version__, "design": design.to_dict()})


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def _parsed(line: bytes) -> Record | None:
    """A record, None for a line that was cut off or is no text."""
    try:
        record = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _is_whole(record: Record) -> bool:
    """True if a record has what the tables need, and numbers where they count."""
    if not is_whole(record.get("setting")) or not is_whole(record.get("repeat")):
        return False
    texts = [record.get(key, "") for key in ("kind", "knowledge", "method", "reason")]
    counts = [record.get(key, {}) for key in ("tests", "rejections")]
    if not all(isinstance(text, str) for text in texts) or not _is_number(
        record.get("seconds", 0.0)
    ):
        return False
    if not all(isinstance(count, dict) and all(map(is_whole, count.values())) for count in counts):
        return False
    if counts[0] and set(counts[0]) != {"pooled", "within contexts"}:
        return False
    if texts[0] == "draw" or "reason" in record:
        return True
    # of the union at least, or of ends
    graphs = {graph: record[graph] for graph in METRICS_OF if graph in record}
    return bool({"union", "ancestral"} & set(graphs)) and all(
        isinstance(scores, dict)
        and set(scores) >= set(METRICS_OF[graph])
        and all(value is None or _is_number(value) for value in scores.values())
        for graph, scores in graphs.items()
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _job(record: Record) -> StudyJob:
    return int(record["setting"]), int(record["repeat"])
