"""PC-M: every context by itself."""

from __future__ import annotations

from typing import ClassVar

from causalcontext.methods.by_tests import ByTests
from causalcontext.methods.method_object import method_object
from causalcontext.methods.task import Task, without_made_contexts
from causalcontext.results.outcome import Outcome
from causalcontext.views import masked


@method_object
class PCM(ByTests):
    """PC-M (masked): every question is asked inside one context.

    It suits contexts that nothing in the table causes; context variables themselves stay isolated.
    Without a context it is plain PC.

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
    >>> result = cc.discover(table, "soil", method=cc.PCM(alpha=0.01))
    >>> result.union.mark("precipitation", "soil")
    ''
    """

    name: ClassVar[str] = "pc-m"


def pc_m(task: Task) -> Outcome:
    """PC-M: every question is asked inside one context; context variables themselves stay
    isolated.
    """
    return without_made_contexts(task, task.run(masked, task.cells))
