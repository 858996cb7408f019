"""The methods of a study, by name, and what they can be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import numpy as np

from causalcontext.ci_tests.registry import find_test
from causalcontext.discover import discover
from causalcontext.kernels.arrays import Bools
from causalcontext.knowledge import Knowledge
from causalcontext.simulate.hidden import HiddenVariables
from causalcontext.simulate.linear import ContextSCM
from causalcontext.study.baselines import cd_nod, fci_jci0, fci_m, fci_p
from causalcontext.study.published import published
from causalcontext.study.task import EstimatedEndpoints, Remembering, StudyTask

Method = Callable[[StudyTask], EstimatedEndpoints]


def search_with(method: str, task: StudyTask) -> EstimatedEndpoints:
    """What `discover` finds; of PC-P the union alone counts, since it has the same graph for every context.

    Numbers of tests are kept of methods that test: none is not the same as zero.
    """
    test = "auto" if method in WITHOUT_TESTS else _test_of(task)
    result = discover(
        task.table, context=task.context, method=method, test=test, alpha=task.alpha, knowledge=task.knowledge
    )
    endpoints = np.stack([graph.endpoints for graph in result.graphs.values()])
    contexts = None if method == "pc-p" else endpoints
    return EstimatedEndpoints(
        contexts, result.union.endpoints[None], {} if method in WITHOUT_TESTS else result.tests_run
    )


def _test_of(task: StudyTask) -> str | Remembering:
    """The test; one that permutes rows answers a question of several methods once."""
    if task.test not in SLOW_TESTS:
        return task.test
    if "test" not in task.memory:
        task.memory["test"] = Remembering(find_test(task.test))
    found: Remembering = task.memory["test"]
    return found


SLOW_TESTS = ("cmi-knn", "cmi-knn-mixed")

METHODS: Mapping[str, Method] = {
    **{name: partial(search_with, name) for name in ("pc-ac", "pc-m", "pc-b", "pc-p", "fci-ac", "score-ac")},
    "fci": fci_jci0,
    "fci-p": fci_p,
    "fci-m": fci_m,
    "cd-nod": cd_nod,
    **{f"published {name}": partial(published, name) for name in ("pc-ac", "pc-m", "pc-b", "pc-p")},
}
"""A new method is one function and one line here."""

WITHOUT_KNOWLEDGE = ("fci", "fci-p", "fci-m", "cd-nod")
"""Methods that cannot be told about links; they run once per table, without knowledge."""
WITHOUT_TESTS = ("score-ac",)


def told_links(kind: str, model: ContextSCM | HiddenVariables, others: Literal["absent", "unknown"]
               ) -> tuple[Knowledge, Bools]:  # fmt: skip
    """What a method is told about links at the context, and the pairs that the metrics leave out for it.

    Parameters
    ----------
    kind : {"none", "r-children", "r-all"}
        Nothing; the children of the context; all its links.
    others : {"absent", "unknown"}
        With "r-all", whether the pairs that are not named are told to be absent, or still tested (as published).
    """
    told = np.zeros((len(model.names),) * 2, dtype=np.bool_)
    if kind == "none" or isinstance(model, HiddenVariables):
        return Knowledge(), told
    context, links = model.context, model.adjacency[0]
    children = [model.names[node] for node in np.flatnonzero(links[context])]
    told[context, links[context]] = True
    if kind == "r-children":
        return Knowledge.context_children(model.context_name, children), told | told.T
    told[context] = True
    told[context, context] = False
    parents = [model.names[node] for node in np.flatnonzero(links[:, context])]
    return Knowledge.context_neighbours(model.context_name, parents, children, others=others), told | told.T
