"""PC-B: what PC-M and PC-P share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from causalcontext.ci_tests.preparation import prepare
from causalcontext.graphs.endpoints import (
    Endpoint,
    Endpoints,
    adjacent,
    directed,
    endpoints_of_arcs,
)
from causalcontext.methods.by_tests import ByTests
from causalcontext.methods.method_object import method_object
from causalcontext.methods.pc_m import pc_m
from causalcontext.methods.pc_p import pc_p
from causalcontext.methods.task import Task
from causalcontext.results.log import Decision
from causalcontext.results.outcome import Outcome
from causalcontext.timeseries.tested import facts_of


@method_object
class PCB(ByTests):
    """PC-B: the edges that PC-M and PC-P share, as few false links as possible.

    A mark on which both agree is kept, the directed one is taken where only one is directed, and
    `x-x` is written where they contradict. Links at context variables are those of PC-P.

    Parameters
    ----------
    test : str or IndependenceTest
        "auto" picks by the kinds of the columns of every query: "partial-correlation" for two
        numbers, "robust-change" for a context or another category and a number, and so on; a name
        of the registry ("partial-correlation", "tsagris", "cmi-knn", ...) is used wherever it takes
        these kinds; or an object of your own.
    alpha : float
        Two variables are called independent if the p-value is larger than this.
    max_given : int, optional
        The largest conditioning set; no limit by default.
    collider_rule : {"majority", "conservative", "first"}
        How colliders are decided; around the context always conservatively.

    Examples
    --------
    >>> import causalcontext as cc
    >>> table = cc.examples.soil_moisture(2000, seed=1)
    >>> cc.discover(table, "soil", method=cc.PCB()).union.mark("precipitation", "soil")
    '-->'
    """

    name: ClassVar[str] = "pc-b"


def pc_b(task: Task) -> Outcome:
    """PC-B: the edges that PC-M and PC-P share, and the links at context variables of PC-P."""
    everywhere = pc_p(task)
    if not everywhere.complete:
        return everywhere
    inside = pc_m(task)
    whole = everywhere.endpoints[0]
    mine = inside.log
    theirs = everywhere.log
    whole = whole if inside.complete else endpoints_of_arcs(adjacent(whole))
    contexts = task.data.contexts.positions
    window = None if task.windows is None else task.windows.window
    if window is not None:  # at all times
        contexts = tuple(node for node in range(window.nodes) if window.is_context(node))
    endpoints = intersect(inside.endpoints, whole, contexts)
    # PC-P decides about links at context variables, edges that only it removes, and where its
    # evidence is weaker.
    weaker = ~(mine.p >= theirs.p) & ~np.isnan(theirs.p)
    removed = (mine.decision != Decision.ABSENT) & ((theirs.decision == Decision.ABSENT) | weaker)
    log = mine.combined(theirs, (mine.decision == Decision.NOT_SEARCHED) | removed)
    notes = tuple(dict.fromkeys((*everywhere.notes, *inside.notes)))
    outcome = Outcome(endpoints, log, inside.tests + everywhere.tests, inside.complete, notes=notes)
    if task.windows is None or everywhere.series is None:
        return outcome
    data, statistics, _ = prepare(
        task.windows.columns, task.windows.test, "raise", task.windows.statistics
    )
    facts = facts_of(task.windows, data, statistics.of_columns(data), endpoints)
    facts = replace(facts, beyond_lags=everywhere.series.beyond_lags)
    return replace(outcome, warnings=everywhere.warnings, series=facts)


def intersect(masked: Endpoints, pooled: Endpoints, contexts: Sequence[int]) -> Endpoints:
    """The ends of PC-B (paper, App. "Baseline method / intersection graph")."""
    # They come from those of PC-M, shape (contexts, N, N), and of PC-P, shape (N, N). A mark on
    # which both agree is kept, the directed one is taken where only one is directed, and where they
    # contradict each other the edge is a conflict. Links at context variables are those of PC-P.
    both = adjacent(masked) & adjacent(pooled)
    masked_directed, pooled_directed = (
        directed(ends) | directed(ends).swapaxes(-1, -2) for ends in (masked, pooled)
    )
    same = masked == pooled
    endpoints = np.select(
        [
            ~both,
            same & same.swapaxes(1, 2),
            masked_directed & ~pooled_directed,
            pooled_directed & ~masked_directed,
        ],
        [np.int8(Endpoint.NONE), masked, masked, pooled],
        default=np.int8(Endpoint.CONFLICT),
    ).astype(np.int8)
    chosen = list(contexts)
    endpoints[:, chosen] = pooled[chosen]
    endpoints[:, :, chosen] = pooled[:, chosen]
    return endpoints
