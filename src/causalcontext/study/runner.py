"""Run a study: many jobs in parallel, one file of records, resumed where it was left.

A job depends on its design, setting and repeat alone, so that neither the order nor the number of workers matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from causalcontext.errors import OptionError
from causalcontext.progress import counting_bar
from causalcontext.study.designs import Design
from causalcontext.study.jobs import Record, run_job, runs_of
from causalcontext.study.records import append_records, open_records, read_records

JOBS_PER_TASK = 4
"""Jobs that go to a worker at once: enough to pay for the way there, few enough to lose little in a kill."""


def run_study(
    design: Design, path: str | Path, *, n_jobs: int = 1, client: Any = None, progress: bool = False
) -> list[Record]:
    """Every job of the design is in the records file; those that were there already are not run again.

    Parameters
    ----------
    design : Design
    path : str or Path
        A file of JSON lines, made if it does not exist.
    n_jobs : int
        Local processes; -1 for all cores.
    client : dask.distributed.Client, optional
        Run on this cluster instead (extra `dask`).
    progress : bool
        Show a bar with the time left.

    Returns
    -------
    list of dict
        All records, in the order of the design.
    """
    runs_of(design)
    if n_jobs == 0 or n_jobs < -1:
        raise OptionError(f"n_jobs is {n_jobs}, expected a whole number from 1, or -1 for all cores")
    done, file = open_records(path, design)
    missing = [job for job in design.jobs() if job not in done]
    with file, counting_bar(f"study {design.name}", progress) as advance:
        for finished, records in enumerate(_finished(design, missing, n_jobs, client), start=len(done) + 1):
            append_records(file, records)
            advance(finished, len(done) + len(missing))
    return read_records(path, design)


def run_jobs(design: Design, jobs: Sequence[tuple[int, int]]) -> list[list[Record]]:
    """The records of some jobs, one after the other."""
    return [run_job(design, place, repeat) for place, repeat in jobs]


def _finished(design: Design, jobs: Sequence[tuple[int, int]], n_jobs: int, client: Any) -> Iterator[list[Record]]:
    """The records of every job, as they come in."""
    parts = [jobs[begin : begin + JOBS_PER_TASK] for begin in range(0, len(jobs), JOBS_PER_TASK)]
    if client is not None:
        yield from _on_cluster(design, parts, client)
    elif n_jobs == 1:
        for part in parts:
            yield from run_jobs(design, part)
    else:
        work = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for finished in work(delayed(run_jobs)(design, part) for part in parts):
            yield from finished


def _on_cluster(design: Design, parts: Sequence[Sequence[tuple[int, int]]], client: Any) -> Iterator[list[Record]]:
    """The same through joblib's Dask backend, which hands results back a wave at a time."""
    wave = max(1, 4 * sum(client.nthreads().values()))
    with parallel_config(backend="dask", client=client):
        for begin in range(0, len(parts), wave):
            chosen = parts[begin : begin + wave]
            for finished in Parallel()(delayed(run_jobs)(design, part) for part in chosen):
                yield from finished
