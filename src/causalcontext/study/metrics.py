"""How near found graphs are to true ones: adjacencies, edge marks, labels, links at the context apart.

Found graphs are ends, true graphs links; both are stacks of shape (contexts, N, N), the union a stack of one. Rates
are computed per graph and averaged over contexts, as in the paper. Pairs that a method was told about are left out:
as published, they count as absent from both graphs.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent, causes, endpoints_of_arcs
from causalcontext.kernels.arrays import Bools

Metrics = dict[str, float]

GRAPH_METRICS = (
    "tpr", "fpr", "fpr_untold", "fpr_pairs", "adj_prec", "f1", "edge_prec", "edge_rec", "shd",
    "tpr_at_context", "fpr_at_context", "tpr_system", "fpr_system",
)  # fmt: skip
LABEL_METRICS = ("label_prec", "label_rec")


def graph_metrics(found: Endpoints, truth: Bools, context: int, told: Bools) -> Metrics:
    """The metrics of one kind of graph, each averaged over the stack; NaN where there is nothing to count.

    Parameters
    ----------
    found : array of ends, shape (graphs, N, N)
    truth : array of bool, shape (graphs, N, N)
        `truth[r, i, j]`: i -> j.
    context : int
    told : array of bool, shape (N, N)
        Pairs that the method was told about, symmetric.

    Returns
    -------
    dict
        `tpr`, `adj_prec` and `f1` of adjacencies; `fpr` over all absent ordered pairs, the diagonal and the pairs in
        `told` included (as published); `fpr_untold` without the pairs in `told`, `fpr_pairs` without both;
        `edge_prec`, `edge_rec`: right arrows among found adjacencies and among true links; `shd`: pairs with another
        mark; `..._at_context`, `..._system`: the rates of the links at the context, and of all others (without the
        diagonal).
    """
    rows = [_one_graph(endpoints, links, context, told) for endpoints, links in zip(found, truth, strict=True)]
    with np.errstate(invalid="ignore"):
        return {name: _mean([row[name] for row in rows]) for name in GRAPH_METRICS}


def label_metrics(found: Endpoints, truth: Bools, context: int) -> Metrics:
    """Are the pairs that change between contexts found, each with just the contexts that have it?

    `label_prec`: of the system pairs whose adjacency was found to change, the share whose contexts are right;
    `label_rec`: of those whose adjacency truly changes, the share whose contexts were found.
    """
    here = adjacent(found)
    there = truth | truth.swapaxes(1, 2)
    pairs = _pairs(found.shape[1])
    pairs[context] = pairs[:, context] = False
    right = (here == there).all(axis=0)
    found_changes = pairs & (here != here[0]).any(axis=0)
    true_changes = pairs & (there != there[0]).any(axis=0)
    return {"label_prec": _share(right, found_changes), "label_rec": _share(right, true_changes)}


def rounded(metrics: Mapping[str, float]) -> dict[str, float | None]:
    """The same metrics for a file: eight digits, and null for NaN."""
    return {name: None if np.isnan(value) else round(float(value), 8) for name, value in metrics.items()}


def _one_graph(endpoints: Endpoints, links: Bools, context: int, told: Bools) -> Metrics:
    open_pair = ~told
    found, true = adjacent(endpoints) & open_pair, (links | links.T) & open_pair
    pairs = _pairs(len(endpoints)) & open_pair
    at_context = np.zeros_like(pairs)
    at_context[context] = at_context[:, context] = True
    right = causes(endpoints) & links & open_pair
    other_end = endpoints != endpoints_of_arcs(links, both=Endpoint.MIXED)
    arrows = links & open_pair
    precision, recall = _share(true, found), _share(found, true)
    return {
        "tpr": recall,
        "fpr": _share(found, ~true),
        "fpr_untold": _share(found, ~true & open_pair),
        "fpr_pairs": _share(found, pairs & ~true),
        "adj_prec": precision,
        "f1": _ratio(2.0 * (found & true).sum(), found.sum() + true.sum()),
        "edge_prec": _ratio(right.sum(), found.sum() / 2),
        "edge_rec": _ratio(right.sum(), arrows.sum()),
        "shd": float((other_end | other_end.T)[pairs].sum()),
        "tpr_at_context": _share(found, true & at_context),
        "fpr_at_context": _share(found, pairs & ~true & at_context),
        "tpr_system": _share(found, true & ~at_context),
        "fpr_system": _share(found, pairs & ~true & ~at_context),
    }


def _pairs(nodes: int) -> Bools:
    """Every pair once."""
    return np.triu(np.ones((nodes, nodes), dtype=np.bool_), k=1)


def _share(these: Bools, among: Bools) -> float:
    return _ratio((these & among).sum(), among.sum())


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")


def _mean(values: list[float]) -> float:
    kept = [value for value in values if not np.isnan(value)]
    return float(np.mean(kept)) if kept else float("nan")
