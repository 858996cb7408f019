"""PC-P: all rows together."""

from __future__ import annotations

from typing import ClassVar

from causalcontext.methods.by_tests import ByTests
from causalcontext.methods.method_object import method_object
from causalcontext.methods.task import Task, without_made_contexts
from causalcontext.results.outcome import Outcome
from causalcontext.views import pooled


@method_object
class PCP(ByTests):
    """PC-P (pooled): plain PC on all rows, with the context as a variable like any other.

    There is one graph, which stands for every context.

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
    >>> result = cc.discover(cc.examples.soil_moisture(2000, seed=1), "soil", method=cc.PCP())
    >>> result.graphs["dry"] == result.graphs["wet"]
    True
    """

    name: ClassVar[str] = "pc-p"


def pc_p(task: Task) -> Outcome:
    """PC-P: every question is asked on all rows; the same graph for every context."""
    return without_made_contexts(task, task.run(pooled, [0]))
