"""Skeletons by other libraries, from the same table; these have to be installed beside
causalcontext.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Result = TypeVar("Result")


def causal_learn_skeleton(table: pd.DataFrame, alpha: float) -> NDArray[np.bool_]:
    """The adjacencies that causal-learn's `pc` finds with Fisher's z and the order-independent
    skeleton.
    """
    pc = import_module("causallearn.search.ConstraintBased.PC").pc
    found = pc(table.to_numpy(), alpha, "fisherz", stable=True, show_progress=False)
    return np.asarray(found.G.graph != 0, dtype=np.bool_)


def causal_learn_categories(codes: NDArray[np.int64], alpha: float, test: str) -> NDArray[np.bool_]:
    """The adjacencies that causal-learn's `pc` finds among columns of codes with its test "gsq" or
    "chisq".
    """
    pc = import_module("causallearn.search.ConstraintBased.PC").pc
    found = pc(codes, alpha, test, stable=True, show_progress=False)
    return np.asarray(found.G.graph != 0, dtype=np.bool_)


def import_causal_learn() -> None:
    """Import what is asked for here, so that processes of their own need not, a second each."""
    for name in ("ConstraintBased.PC", "PermutationBased.BOSS"):
        import_module(f"causallearn.search.{name}")


def causal_learn_graph(values: NDArray[np.float64], alpha: float, method: str) -> NDArray[np.int64]:
    """The marks that causal-learn finds by "PC", "BOSS" or "PC, KCI"; row i, column j holds the end
    at i of i - j.
    """
    if method == "BOSS":
        boss = import_module("causallearn.search.PermutationBased.BOSS").boss
        return np.asarray(boss(values, "local_score_BIC_from_cov", verbose=False).graph)
    pc = import_module("causallearn.search.ConstraintBased.PC").pc
    test = "kci" if method.endswith("KCI") else "fisherz"
    return np.asarray(pc(values, alpha, test, stable=True, show_progress=False).G.graph)


def within(seconds: int, function: Callable[..., Result], *arguments: object) -> Result | None:
    """What a function returns in a process of its own; None if it takes more processor time."""
    fork = get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=_limited, args=(seconds, sender, function, arguments))
    child.start()
    sender.close()
    try:
        found: Result | None = receiver.recv()
    except EOFError:
        found = None
    child.join()
    return found


def _limited(
    seconds: int, sender: Connection, function: Callable[..., object], arguments: Sequence[object]
) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    sender.send(function(*arguments))


def tigramite_skeleton(table: pd.DataFrame, alpha: float) -> NDArray[np.bool_]:
    """The adjacencies that tigramite's PC for non-time-series data finds with partial
    correlation.
    """
    frame = import_module("tigramite.data_processing").DataFrame(table.to_numpy())
    test = import_module("tigramite.independence_tests.parcorr").ParCorr(significance="analytic")
    search = import_module("tigramite.pcmci").PCMCI(
        dataframe=frame, cond_ind_test=test, verbosity=0
    )
    found = search.run_pcalg_non_timeseries_data(pc_alpha=alpha)
    return np.asarray(found["graph"][:, :, 0] != "", dtype=np.bool_)


def tigramite_information(columns: NDArray[np.float64], permutations: int) -> tuple[float, float]:
    """The statistic and p-value of tigramite's `CMIknn` for the first two columns given the
    others.
    """
    test = import_module("tigramite.independence_tests.cmiknn").CMIknn(
        knn=0.2, transform="ranks", significance="shuffle_test", sig_samples=permutations
    )
    roles = np.minimum(np.arange(len(columns)), 2)
    statistic = test.get_dependence_measure(columns.copy(), roles)
    return float(statistic), float(test.get_shuffle_significance(columns.copy(), roles, statistic))


def tigramite_mixed_information(
    columns: NDArray[np.float64], is_code: NDArray[np.bool_], permutations: int
) -> tuple[float, float]:
    """The statistic and p-value of tigramite's `CMIknnMixed`, with these columns as codes."""
    test = import_module("tigramite.independence_tests.cmiknn_mixed").CMIknnMixed(
        knn=0.2, transform="ranks", significance="shuffle_test", sig_samples=permutations
    )
    roles = np.minimum(np.arange(len(columns)), 2)
    kinds = np.repeat(is_code.astype(int)[:, np.newaxis], columns.shape[1], axis=1)
    statistic = test.get_dependence_measure(columns.copy(), roles, kinds)
    p = test.get_shuffle_significance(columns.copy(), roles, statistic, data_type=kinds)
    return float(statistic), float(p)
