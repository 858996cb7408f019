"""Every method of `compare.py`, ours and the peers', as a function from a problem to the graph that
it finds.

Settings are the defaults of each library, or what its documentation recommends for such a table;
where a setting is given here, it stands in the name of the method. Peers have to be installed
(`make compare` does).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import causalcontext as cc
from causalcontext.graphs.lag_names import at
from standard_problems import Bools, Floats, Problem


class Found(NamedTuple):
    """A graph: `joined` and `arrows`, shape (lags + 1, variables, variables), lag, cause, effect.

    Without a lag `joined` goes both ways. `targets` are the effects of the environment, where a
    method names them.
    """

    joined: Bools
    arrows: Bools
    targets: Bools | None = None


Method = Callable[[Problem], Found]


def ours(problem: Problem, **options: Any) -> Found:
    """A search of causalcontext: the environment is its context, and a root where it was set from
    outside.
    """
    lags = len(problem.links) - 1
    if problem.targets is not None:
        root = cc.Knowledge(roots=["E"]) if problem.exogenous else None
        result = cc.discover(problem.table, "E", knowledge=root, **options)
    elif problem.panel:
        table = problem.table.drop(columns="place_context")
        result = cc.discover(
            table, lags=lags, units="unit", time="t", covariates=["time_context"], **options
        )
    else:
        result = cc.discover(problem.table, lags=lags or None, **options)
    graph, names = result.union, problem.names
    marks = np.array(
        [
            [
                [
                    graph.mark(at(cause, lag), effect) if lag or cause != effect else ""
                    for effect in names
                ]
                for cause in names
            ]
            for lag in range(lags + 1)
        ]
    )
    targets = (
        None
        if problem.targets is None
        else np.array([graph.mark("E", name) == "-->" for name in names])
    )
    return Found(marks != "", marks == "-->", targets)


def causal_learn(problem: Problem, name: str, **options: Any) -> Found:
    """PC, FCI, GES or BOSS on the columns, or on the columns and the environment as one more
    number.
    """
    values = coded(problem.table)
    if name == "BOSS":
        graph = (
            import_module("causallearn.search.PermutationBased.BOSS")
            .boss(values, verbose=False, **options)
            .graph
        )
    elif name == "GES":
        graph = import_module("causallearn.search.ScoreBased.GES").ges(values, **options)["G"].graph
    elif name == "FCI":
        graph = (
            import_module("causallearn.search.ConstraintBased.FCI")
            .fci(values, show_progress=False, **options)[0]
            .graph
        )
    elif name == "CD-NOD":
        cdnod = import_module("causallearn.search.ConstraintBased.CDNOD").cdnod
        graph = cdnod(values[:, :-1], values[:, -1:], show_progress=False, **options).G.graph
    else:
        graph = (
            import_module("causallearn.search.ConstraintBased.PC")
            .pc(values, show_progress=False, **options)
            .G.graph
        )
    found = _of_ends(graph, len(problem.names))
    return found if name == "CD-NOD" else found._replace(targets=None)


def _of_ends(graph: Floats, d: int) -> Found:
    """What causal-learn's numbers say: [i, j] holds the end at i, -1 for a tail and 1 for an arrow;
    E is the last.
    """
    arrows = (graph == -1) & (graph.T == 1)
    return Found((graph != 0)[np.newaxis, :d, :d], arrows[np.newaxis, :d, :d], arrows[-1, :d])


def coded(table: pd.DataFrame) -> Floats:
    """The table as an array, columns of text by the number of the level."""
    return np.column_stack(
        [
            (
                column.to_numpy()
                if column.dtype.kind == "f"
                else pd.factorize(column, sort=True)[0].astype(float)
            )
            for _, column in table.items()
        ]
    )


def lingam(problem: Problem, name: str) -> Found:
    """DirectLiNGAM, its form for several groups, RESIT with forests, or VARLiNGAM."""
    package, values = import_module("lingam"), problem.table[list(problem.names)].to_numpy()
    if name == "MultiGroupDirectLiNGAM":
        groups = [values[problem.table["E"] == e] for e in problem.table["E"].unique()]
        fitted = package.MultiGroupDirectLiNGAM().fit(groups)
        weights = np.any([matrix != 0 for matrix in fitted.adjacency_matrices_], axis=0)[np.newaxis]
    elif name == "RESIT":
        forest = import_module("sklearn.ensemble").RandomForestRegressor(
            max_depth=4, random_state=0
        )
        weights = (
            package.RESIT(regressor=forest, random_state=0)
            .fit(values)
            .adjacency_matrix_[np.newaxis]
            != 0
        )
    elif name == "VARLiNGAM":
        fitted = package.VARLiNGAM(lags=len(problem.links) - 1).fit(values).adjacency_matrices_
        weights = np.zeros(problem.links.shape, dtype=bool)
        weights[: len(fitted)] = fitted != 0
    else:
        weights = package.DirectLiNGAM().fit(values).adjacency_matrix_[np.newaxis] != 0
    return _of_arrows(np.asarray(weights).swapaxes(1, 2))


def dagma(problem: Problem) -> Found:
    """DAGMA with its least-squares loss, as its documentation has it."""
    model = import_module("dagma.linear").DagmaLinear(loss_type="l2")
    return _of_arrows((model.fit(problem.table.to_numpy(copy=True), lambda1=0.02) != 0)[np.newaxis])


def _of_arrows(arrows: Bools) -> Found:
    joined = arrows.copy()
    joined[0] |= arrows[0].T
    return Found(joined, arrows)


def tigramite(problem: Problem, name: str) -> Found:
    """PCMCI+, LPCMCI or J-PCMCI+ with partial correlation at level .01."""
    test = import_module("tigramite.independence_tests.parcorr").ParCorr()
    frames = import_module("tigramite.data_processing").DataFrame
    d, lags = len(problem.names), len(problem.links) - 1
    if name == "J-PCMCI+":
        return _joint(problem, test, frames)
    if problem.panel:
        sets = {
            unit: rows[list(problem.names)].to_numpy()
            for unit, rows in problem.table.groupby("unit")
        }
        frame = frames(sets, analysis_mode="multiple")
    else:
        frame = frames(problem.table.to_numpy())
    if name == "LPCMCI":
        search = import_module("tigramite.lpcmci").LPCMCI(frame, test, verbosity=0)
        marks = search.run_lpcmci(tau_max=lags, pc_alpha=0.01)["graph"]
    else:
        marks = (
            import_module("tigramite.pcmci")
            .PCMCI(frame, test, verbosity=0)
            .run_pcmciplus(tau_max=lags, pc_alpha=0.01)["graph"]
        )
    return _of_marks(marks[:d, :d])


def _joint(problem: Problem, test: Any, frames: Any) -> Found:
    """J-PCMCI+ with both contexts that are seen, and a dummy for what else differs between data
    sets.
    """
    d, units = len(problem.names), list(problem.table.groupby("unit"))
    dummies = np.eye(len(units))
    sets = {
        unit: np.column_stack(
            [rows[[*problem.names, "time_context", "place_context"]], [dummies[k]] * len(rows)]
        )
        for k, (unit, rows) in enumerate(units)
    }
    kinds = dict.fromkeys(range(d), "system") | {
        d: "time_context",
        d + 1: "space_context",
        d + 2: "space_dummy",
    }
    vectors = {i: [(i, 0)] for i in range(d + 2)} | {
        d + 2: [(d + 2 + k, 0) for k in range(len(units))]
    }
    frame = frames(sets, analysis_mode="multiple", vector_vars=vectors)
    multivariate = import_module("tigramite.independence_tests.parcorr_mult").ParCorrMult()
    search = import_module("tigramite.jpcmciplus").JPCMCIplus
    found = search(
        node_classification=kinds, dataframe=frame, cond_ind_test=multivariate, verbosity=0
    )
    return _of_marks(
        found.run_jpcmciplus(tau_max=len(problem.links) - 1, pc_alpha=0.01)["graph"][:d, :d]
    )


def _of_marks(marks: np.ndarray[Any, Any]) -> Found:
    """What tigramite's text says, with shape (cause, effect, lag)."""
    by_lag = marks.transpose(2, 0, 1)
    return Found(by_lag != "", by_lag == "-->")


def equivalence_class(dag: Bools) -> Found:
    """The CPDAG of a directed acyclic graph: its colliders, and what Meek's rules add."""
    joined, arrows = dag | dag.T, np.zeros_like(dag)
    for j in range(len(dag)):
        apart = np.outer(dag[:, j], dag[:, j]) & ~joined & ~np.eye(len(dag), dtype=bool)
        arrows[:, j] = apart.any(axis=1)
    while (more := _meek(joined, arrows)).any():
        arrows |= more
    return Found(joined[np.newaxis], arrows[np.newaxis])


def _meek(joined: Bools, arrows: Bools) -> Bools:
    """What the first three rules of Meek direct in one step."""
    left, into, apart = joined & ~arrows & ~arrows.T, arrows.astype(int), (~joined).astype(int)
    more = left & ((into.T @ apart > 0) | (into @ into > 0))
    for a, d in np.argwhere(left & ~more):
        kites = np.flatnonzero(left[a] & arrows[:, d])
        more[a, d] = apart[np.ix_(kites, kites)].sum() > len(kites)
    return np.asarray(more)


OURS: dict[str, Method] = {
    "causalcontext": ours,
    "causalcontext, pc-ac": partial(ours, method="pc-ac"),
}
PC, BOSS, FCI, GES = (partial(causal_learn, name=name) for name in ("PC", "BOSS", "FCI", "GES"))
DIRECT = partial(lingam, name="DirectLiNGAM")
CLASS: dict[str, Method] = {"the true class": lambda problem: equivalence_class(problem.links[0])}
"""What the best method can say where only the equivalence class is determined."""
METHODS: dict[str, dict[str, Method]] = {
    "Networks of categories": {
        **CLASS,
        **OURS,
        "causalcontext, score-ac": partial(ours, method="score-ac"),
        "causal-learn PC, chi-square": partial(PC, indep_test="chisq"),
        "causal-learn FCI, chi-square": partial(FCI, independence_test_method="chisq"),
        "causal-learn GES, BDeu": partial(GES, score_func="local_score_BDeu"),
        "causal-learn BOSS, BDeu": partial(BOSS, score_func="local_score_BDeu"),
    },
    "Linear graphs": {
        **CLASS,
        **OURS,
        "causal-learn PC": PC,
        "causal-learn FCI": FCI,
        "causal-learn GES": GES,
        "causal-learn BOSS": BOSS,
        "DirectLiNGAM": DIRECT,
        "DAGMA": dagma,
    },
    "Curved graphs": {
        **OURS,
        "causal-learn PC": PC,
        "causal-learn PC, KCI": partial(PC, indep_test="kci"),
        "causal-learn BOSS": BOSS,
        "DirectLiNGAM": DIRECT,
        "RESIT, forests": partial(lingam, name="RESIT"),
        "DAGMA": dagma,
    },
    "Environments": {
        **OURS,
        "causal-learn CD-NOD, Fisher's z": partial(causal_learn, name="CD-NOD"),
        "causal-learn PC, pooled": PC,
        "causal-learn BOSS, pooled": BOSS,
        "DirectLiNGAM, pooled": DIRECT,
        "MultiGroupDirectLiNGAM": partial(lingam, name="MultiGroupDirectLiNGAM"),
    },
    "Series": {
        "causalcontext": ours,
        "causalcontext, pc-ac, alpha .01": partial(ours, method="pc-ac", alpha=0.01),
        **{name: partial(tigramite, name=name) for name in ("PCMCI+", "LPCMCI", "J-PCMCI+")},
        "VARLiNGAM": partial(lingam, name="VARLiNGAM"),
    },
}


def takes(method: str, problem: Problem) -> bool:
    """Whether a method is meant for such a table: J-PCMCI+ for data sets of a panel, the others for
    single series.
    """
    return (method == "J-PCMCI+") <= problem.panel and (method in ("LPCMCI", "VARLiNGAM")) <= (
        not problem.panel
    )
