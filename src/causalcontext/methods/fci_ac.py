"""fci-ac: one partial ancestral graph per context, where variables may be missing."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from causalcontext.errors import check_choice, check_truth, check_whole
from causalcontext.graphs.endpoints import GraphKind
from causalcontext.methods.by_tests import ByTests, check_orientation
from causalcontext.methods.method_object import method_object, option
from causalcontext.methods.task import Task, without_made_contexts
from causalcontext.results.log import CITestLog
from causalcontext.results.outcome import Outcome
from causalcontext.search.fci import CONTESTED, Caution, fci
from causalcontext.timeseries.tested import pags_of_windows
from causalcontext.views import adaptive


@method_object
class FCIAC(ByTests):
    """fci-ac: like PC-AC, where common causes may be missing from the table.

    There is one partial ancestral graph per context. Every set is asked in both views, and ends are
    those that hidden common causes cannot make wrong.

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
    orientation : {"across", "within"}
        Whether the graphs of the contexts orient each other, or each is oriented by itself;
        ends at the context are shared all the same.
    possible_dsep : int, optional
        Ask the edges that are left once more with sets up to this size, the context counted, of
        variables that are no neighbours. By default neighbours are enough.
    contested : {"conflict", "bidirected"}
        An edge with arrows by colliders from both sides is `x-x`, or `<->`, a hidden common cause;
        few of these are right unless there are very many rows.
    context_confounded : bool
        False declares that the context has no hidden common cause with another variable.

    Examples
    --------
    >>> import causalcontext as cc
    >>> table = cc.examples.soil_moisture(2000, seed=1)
    >>> result = cc.discover(table, "soil", method=cc.FCIAC(context_confounded=False))
    >>> result.method
    cc.FCIAC(context_confounded=False)
    """

    name: ClassVar[str] = "fci-ac"

    orientation: str = option("across", "NAME", "across contexts, or within each.")
    possible_dsep: int | None = option(None, "N", "The largest set that may hold non-neighbours.")
    contested: str = option(
        "conflict", "NAME", "Contested arrowheads are a conflict, or bidirected."
    )
    context_confounded: bool = option(
        True, "", "Whether the context may have hidden common causes."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_orientation(self.orientation)
        check_choice("contested", self.contested, CONTESTED)
        check_truth("context_confounded", self.context_confounded)
        if self.possible_dsep is not None:
            check_whole("possible_dsep", self.possible_dsep, 1, ", or None for neighbours alone")


def fci_ac(task: Task) -> Outcome:
    """fci-ac: as pc-ac, with both views for every set, and ends that hidden common causes cannot
    make wrong.
    """
    settings = task.settings
    if task.windows is not None:
        return pags_of_windows(task.windows, task.links, settings, task.n_jobs, task.advance)
    across = task.support.trusted if settings.orientation == "across" else None
    plan = replace(task.plan(adaptive, task.cells, "always", across), kind=GraphKind.PAG)
    caution = Caution(settings.possible_dsep, settings.contested, settings.context_confounded)
    search = fci(task.search(), plan, caution, task.n_jobs, task.advance)
    log = CITestLog.from_sepsets(plan, search.sepsets, len(task.cells), task.row_test.labels)
    return without_made_contexts(
        task,
        Outcome(
            search.endpoints,
            log,
            search.sepsets.tests,
            search.complete,
            search.origins,
            search.doubts,
            kind=GraphKind.PAG,
        ),
    )
