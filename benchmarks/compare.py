"""causalcontext beside other libraries, on standard networks and on random graphs as the peers'
papers draw them.

    make compare                # at most 60 minutes on two cores; sets up .venv-compare first
    make compare SHORT=1        # five minutes
    python benchmarks/compare.py --families Series --minutes 10 --jobs 1
    python benchmarks/compare.py --print        # tables of what is in the file, without a call

Every call has a process of its own and a limit of processor time; a call that exceeds it is printed
as such, and the other seeds of that setting are then not tried. Every finished call is a line of
out/compare.jsonl at once, so that Ctrl-C keeps what is done and the next run goes on; lines of our
own methods count for the commit that last changed the library. Seeds are in the outer loop:
whenever the minutes are over, all settings rest on about as many tables.

The arrow F1 is against the graph that made the table, wherever a direction is not determined by it,
too: "the true class" shows how much a method can then have. Links directed right are shares of all
true links. The structural Hamming distance (SHD) counts pairs; it is to the equivalence class for
networks and for Gaussian noise on standardised columns, else to the graph. The structural
intervention distance (SID) is that of gadjid, with its extension to open edges. Time is processor
time, memory the growth of the process during the call.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version
from multiprocessing import connection, get_context
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from compare_methods import METHODS, Found, equivalence_class, takes
from measuring import machine, markdown_table
from standard_problems import FAMILIES, SHORT, Bools, Problem

RESULTS = Path("out/compare.jsonl")
PEERS = ("causal-learn", "tigramite", "lingam", "dagma", "gadjid")
IMPORTED_FIRST = (
    "causallearn.search.ConstraintBased.PC",
    "causallearn.search.ConstraintBased.FCI",
    "causallearn.search.ConstraintBased.CDNOD",
    "causallearn.search.ScoreBased.GES",
    "causallearn.search.PermutationBased.BOSS",
    "tigramite.jpcmciplus",
    "tigramite.lpcmci",
    "tigramite.independence_tests.parcorr_mult",
    "lingam",
    "dagma.linear",
    "sklearn.ensemble",
)
"""Loaded before the processes are made, so that no call pays for it."""
SHOWN = {
    "skeleton": "skeleton F1",
    "arrows": "arrow F1",
    "right": "links directed right",
    "lagged": "lagged F1",
    "targets": "targets F1",
    "shd": "SHD",
    "sid": "SID",
}
AHEAD = 0.02


class Call(NamedTuple):
    """One method on one table."""

    family: str
    setting: str
    method: str
    seed: int


def scores(problem: Problem, found: Found) -> dict[str, float]:
    """How far a graph is from the truth: every number that makes sense for this problem."""
    truth, other = problem.links, ~np.eye(len(problem.names), dtype=bool)
    dag, upper = truth[0], np.triu(other)
    answer = (
        Found(truth | truth.swapaxes(1, 2), truth) if problem.identified else equivalence_class(dag)
    )
    wrong = np.triu(_state(found) != _state(answer))
    shown = {
        "skeleton": f1((dag | dag.T)[upper], found.joined[0][upper]),
        "arrows": f1(dag[other], found.arrows[0][other]),
        "right": float((found.arrows[0] & dag).sum() / max(1, dag.sum())),
        "shd": float(wrong.sum()),
    }
    if len(truth) > 1:
        shown["lagged"] = f1(truth[1:, other], found.joined[1:, other])
    else:
        shown["sid"] = structural_distance(dag, found)
    if problem.targets is not None and found.targets is not None:
        shown["targets"] = f1(problem.targets, found.targets)
    return shown


def _state(graph: Found) -> np.ndarray[Any, Any]:
    """For every ordered pair without a lag: none, open, forward, backward."""
    arrows = graph.arrows[0]
    return np.select([arrows, arrows.T, graph.joined[0]], [2, 3, 1], 0)


def f1(truth: Bools, found: Bools) -> float:
    """Twice the hits, divided by the number of true ones and the number of found ones together."""
    both = int(truth.sum() + found.sum())
    return 2.0 * float((truth & found).sum()) / both if both else 1.0


def structural_distance(dag: Bools, found: Found) -> float:
    """The SID, for graphs with open edges its generalisation to parents of a class (gadjid); NaN
    for a cyclic graph.
    """
    arrows, joined = found.arrows[0], found.joined[0]
    guess = np.where(arrows, 1, 0) + np.triu(np.where(joined & ~arrows & ~arrows.T, 2, 0))
    if not nx.is_directed_acyclic_graph(
        nx.from_numpy_array(arrows.astype(int), create_using=nx.DiGraph)
    ):
        return math.nan
    distance = import_module("gadjid").parent_aid
    return float(
        distance(dag.astype(np.int8), guess.astype(np.int8), edge_direction="from row to column")[1]
    )


def answer(call: Call) -> dict[str, Any]:
    """The scores of a call, processor seconds, and the growth of the peak of memory in MB.

    BOSS begins with an order that it shuffles by Python's own generator.
    """
    warnings.simplefilter("ignore")
    random.seed(call.seed)
    np.random.seed(call.seed)
    problem = FAMILIES[call.family][call.setting](call.seed)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    found = METHODS[call.family][call.method](problem)
    seconds, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return scores(problem, found) | {"seconds": seconds, "MB": (peak - before) / 1024}


def _process(call: Call, limit: int, sender: connection.Connection) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        sender.send(answer(call))
    except Exception as error:
        sender.send({"failed": f"{type(error).__name__}: {error}"[:200]})


def run(
    calls: Iterator[Call], limit: int, jobs: int, until: float
) -> Iterator[tuple[Call, dict[str, Any]]]:
    """Every call with its answer, as they end; no call is begun once it is `until`."""
    fork = get_context("fork")
    running: dict[connection.Connection, tuple[Call, ForkProcess]] = {}
    while True:
        while (
            len(running) < jobs
            and time.monotonic() < until
            and (call := next(calls, None)) is not None
        ):
            receiver, sender = fork.Pipe(duplex=False)
            child = fork.Process(target=_process, args=(call, limit, sender), daemon=True)
            child.start()
            sender.close()
            running[receiver] = call, child
        if not running:
            return
        for receiver in connection.wait(list(running)):
            call, child = running.pop(receiver)
            try:
                got = receiver.recv()
            except EOFError:
                got = {"failed": f"over {limit} s"}
            child.join()
            yield call, got


def calls_to_make(
    families: Iterable[str], settings: Iterable[str], seeds: int, done: dict[Call, Any]
) -> Iterator[Call]:
    """Calls that are not in the file; a setting that a method could not do with one seed is not
    tried with the next.
    """
    for seed in range(seeds):
        for family in families:
            for setting in (name for name in FAMILIES[family] if name in settings):
                problem = FAMILIES[family][setting](seed)
                for method in (name for name in METHODS[family] if takes(name, problem)):
                    before = done.get(Call(family, setting, method, seed - 1), {})
                    call = Call(family, setting, method, seed)
                    if call not in done and "failed" in before:
                        done[call] = before
                    elif call not in done:
                        yield call


@cache
def library_version(method: str) -> str:
    """The commit that last changed the library for our methods; a peer's results hold whatever the
    version is.
    """
    if not method.startswith("causalcontext"):
        return ""
    git = subprocess.run(
        ["git", "log", "-1", "--format=%h", "--", "src"],
        capture_output=True,
        text=True,
        check=False,
    )
    return git.stdout.strip()


def read_results(path: Path) -> dict[Call, dict[str, Any]]:
    """What is in the file, without results of other versions of this library."""
    known, here = {}, library_version("causalcontext")
    for line in path.read_text().splitlines() if path.exists() else ():
        record = json.loads(line)
        call = Call(*record.pop("call"))
        if record.pop("version") in ("", here):
            known[call] = record
    return known


def print_tables(done: dict[Call, dict[str, Any]]) -> None:
    """One Markdown table for every family, and where a peer is ahead."""
    for family, settings in FAMILIES.items():
        found: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
        for call, record in done.items():
            if call.family == family:
                found[call.setting][call.method].append(record)
        if found:
            rows = [(s, m, found[s][m]) for s in settings for m in METHODS[family] if found[s][m]]
            print(f"\n## {family}\n")
            print_family(rows)


def print_family(rows: list[tuple[str, str, list[dict[str, Any]]]]) -> None:
    """The table of a family, then the peers that have more arrows right than our default."""
    names = [
        name
        for name in SHOWN
        if any(name in record for _, _, records in rows for record in records)
    ]
    lines, best = [], {}
    for setting, method, records in rows:
        good = [record for record in records if "failed" not in record]
        if good:
            cells = [_mean([record.get(name, math.nan) for record in good], name) for name in names]
            seconds = f"{statistics.median(record['seconds'] for record in good):.2g}"
            lines.append(
                (
                    setting,
                    method,
                    *cells,
                    seconds,
                    round(max(record["MB"] for record in good)),
                    len(good),
                )
            )
            best[setting, method] = statistics.mean(record["arrows"] for record in good)
        else:
            lines.append(
                (setting, method, records[0]["failed"].replace("|", "/"), *[""] * (len(names) + 2))
            )
    print(markdown_table(("setting", "method", *map(SHOWN.get, names), "s", "MB", "tables"), lines))
    ahead = []
    for (setting, method), score in best.items():
        ours = best.get((setting, "causalcontext"), math.nan)
        if not method.startswith(("causalcontext", "the true")) and not score <= ours + AHEAD:
            ahead.append(
                f"{method} in {setting} ({score:.2f} :"
                f" {'no answer' if math.isnan(ours) else f'{ours:.2f}'})"
            )
    print(
        f"\nPeers whose arrow F1 is ahead of our default by more than {AHEAD}: "
        + ("; ".join(ahead) or "none")
        + "."
    )


def _mean(values: list[float], name: str) -> str:
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return "-"
    return (
        f"{statistics.mean(known):.0f}"
        if name in ("shd", "sid")
        else f"{statistics.mean(known):.2f}"
    )


def warm() -> None:
    """Load what is loaded once: modules of the peers, and our compiled kernels."""
    warnings.simplefilter("ignore")
    for module in IMPORTED_FIRST:
        import_module(module)
    for family, settings in FAMILIES.items():
        for method in (name for name in METHODS[family] if name.startswith("causalcontext")):
            METHODS[family][method](next(iter(settings.values()))(10_000))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--short", action="store_true", help="few settings, three seeds, five minutes"
    )
    parser.add_argument("--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--settings", nargs="+", help="only these, by the names in the tables")
    parser.add_argument("--without", nargs="+", default=[], help="methods to leave out")
    parser.add_argument(
        "--minutes", type=float, help="begin no call after so long: 55, or 4 in the short form"
    )
    parser.add_argument("--seeds", type=int, help="tables a setting: 5, or 3 in the short form")
    parser.add_argument(
        "--limit",
        type=int,
        help="seconds of processor time for a call: 60, or 15 in the short form",
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--print", action="store_true", help="print what is in the file, and make no call"
    )
    chosen = parser.parse_args()
    file = RESULTS.with_stem("compare-short") if chosen.short else RESULTS
    done = read_results(file)
    if not chosen.print:
        settings = (
            SHORT if chosen.short else [name for family in FAMILIES.values() for name in family]
        )
        settings = chosen.settings or settings
        minutes, seeds, limit = (4.0, 3, 15) if chosen.short else (55.0, 5, 60)
        until = time.monotonic() + 60.0 * (chosen.minutes or minutes)
        print(f"{len(done)} calls are in {file}", file=sys.stderr)
        warm()
        every = calls_to_make(chosen.families, settings, chosen.seeds or seeds, done)
        calls = (call for call in every if call.method not in chosen.without)
        file.parent.mkdir(exist_ok=True)
        with file.open("a") as log:
            for call, got in run(calls, chosen.limit or limit, chosen.jobs, until):
                done[call] = got
                line = {"call": call, "version": library_version(call.method), **got}
                print(json.dumps(line), file=log, flush=True)
                print(
                    *call,
                    f"{got.get('seconds', math.nan):.2f} s",
                    got.get("failed", ""),
                    file=sys.stderr,
                    flush=True,
                )
    print(
        f"{machine('scipy', 'pandas', *PEERS)}; causalcontext {version('causalcontext')}, "
        f"commit {library_version('causalcontext')}, {time.strftime('%Y-%m-%d')}"
    )
    print_tables(done)


if __name__ == "__main__":
    main()
