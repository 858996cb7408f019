"""PC-AC, the paper's method: every question on the rows that it needs."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from causalcontext.methods.by_tests import ByTests, check_orientation, check_scope
from causalcontext.methods.method_object import method_object, option
from causalcontext.methods.task import Task, without_made_contexts
from causalcontext.results.outcome import Outcome
from causalcontext.search.indicator import with_indicators
from causalcontext.views import adaptive


@method_object
class PCAC(ByTests):
    """PC-AC, the paper's method (adaptive): every test uses the rows that it needs.

    A question with the context in its conditioning set is asked inside that context, any other one
    on all rows. There is one graph per context, every link has a p-value, and a context may be an
    effect of the system.

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
    masked_scope : {"adaptive", "cycle", "always"}
        Stop where the paper does, or ask again inside the contexts about edges that a large union
        cycle may hide, or about all edges; without lags.
    orientation : {"across", "within"}
        Whether the graphs of the contexts orient each other, or each is oriented by itself;
        without lags.

    Examples
    --------
    >>> import causalcontext as cc
    >>> table = cc.examples.soil_moisture(2000, seed=1)
    >>> result = cc.discover(table, "soil", method=cc.PCAC(alpha=0.01, max_given=2))
    >>> result.method
    cc.PCAC(alpha=0.01, max_given=2)
    """

    name: ClassVar[str] = "pc-ac"

    masked_scope: str = option("adaptive", "NAME", "adaptive, cycle or always.")
    orientation: str = option("across", "NAME", "across contexts, or within each.")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scope(self.masked_scope)
        check_orientation(self.orientation)


def pc_ac(task: Task) -> Outcome:
    """PC-AC: with a context in its conditioning set a question is asked inside that context, else
    on all rows.
    """
    across = task.support.trusted if task.settings.orientation == "across" else None
    outcome = task.run(adaptive, task.cells, task.settings.masked_scope, across)
    contexts = task.data.contexts
    if outcome.complete and contexts.made and task.windows is None:
        # the links of contexts made out of a column
        endpoints, origins, doubts = with_indicators(outcome.endpoints, outcome.origins, contexts)
        outcome = replace(
            outcome, endpoints=endpoints, origins=origins, doubts=(*outcome.doubts, *doubts)
        )
    return without_made_contexts(task, outcome)
