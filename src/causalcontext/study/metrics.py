"""How near found graphs are to true ones: adjacencies, edge marks, labels, links at the context apart.

Found graphs are ends, true graphs links; both are stacks of shape (contexts, N, N), the union a stack of one. Rates
are computed per graph and averaged over contexts, as in the paper. Pairs that a method was told about are left out:
as published, they count as absent from both graphs.

Where variables are hidden, an end is right if it is true in its context: a tail at y of x - y if y is an ancestor of x
there, an arrow if it is not. Counts are kept beside rates, so that rates over many models can be pooled: most models
have few tails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from causalcontext.discover import discover
from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent, causes, endpoints_of_arcs, marked
from causalcontext.kernels.arrays import Bools
from causalcontext.simulate.hidden import HiddenVariables

Metrics = dict[str, float]

GRAPH_METRICS = (
    "tpr", "fpr", "fpr_untold", "fpr_pairs", "adj_prec", "f1", "edge_prec", "edge_rec", "shd",
    "tpr_at_context", "fpr_at_context", "tpr_system", "fpr_system",
)  # fmt: skip
LABEL_METRICS = ("label_prec", "label_rec")


def graph_metrics(found: Endpoints, truth: Bools, context: int, told: Bools) -> Metrics:
    """The metrics of one kind of graph, each averaged over the stack; NaN where there is nothing to count.

    `told` are the pairs that the method was told about, symmetric. In the result,

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


RATES = {
    "tpr": ("pairs_right", "pairs_true"),
    "fpr": ("pairs_wrong", "pairs_absent"),
    "arrow_prec": ("arrows_right", "arrows"),
    "arrow_rec": ("arrows_found", "arrows_known"),
    "tail_prec": ("tails_right", "tails"),
    "tail_rec": ("tails_found", "tails_known"),
    "tail_prec_at_context": ("tails_at_context_right", "tails_at_context"),
    "bidirected_prec": ("bidirected_right", "bidirected"),
    "change_prec": ("changes_right", "changes"),
    "change_rec": ("changes_right", "changes_true"),
}
"""Of a rate, what is counted and out of how many."""


def knowable_endpoints(model: HiddenVariables) -> Endpoints:
    """The ends that fci-ac finds without noise, shape (contexts, M, M)."""
    few = model.sample(len(model.names) * 20, seed=0)  # of their values nothing is used
    oracle: Any = model.oracle()
    found = discover(few, model.context_name, method="fci-ac", test=oracle, contested="bidirected")
    return np.stack([graph.endpoints for graph in found.graphs.values()])


def ancestral_counts(found: Endpoints, model: HiddenVariables, exact: Endpoints) -> dict[str, float]:
    """Counts of the found ends of every context, shape (contexts, M, M).

    Pairs of system variables are counted once in every context, links at the context variable once. `exact` are the
    ends that can be known, found by a search without noise: recall is out of these. Changes are system pairs that some
    contexts have and others have not; right if in just the same contexts.
    """
    system = ~np.eye(len(model.names), dtype=bool)
    system[model.context] = system[:, model.context] = False
    pairs, causes = np.triu(system), model.causes.swapaxes(1, 2)
    here, there = adjacent(found) & pairs, adjacent(model.endpoints) & pairs
    arrows, known_arrows = ((ends == Endpoint.ARROW) & system for ends in (found, exact))
    tails, known_tails = ((ends == Endpoint.TAIL) & system for ends in (found, exact))
    at_context, both = (found[0] == Endpoint.TAIL) & ~system, marked(found, "<->") & pairs
    ours, true = ((which != which[0]).any(axis=0) for which in (here, there))
    counted = {
        "pairs_wrong": here & ~there, "pairs_right": here & there, "pairs_true": there, "pairs_absent": pairs & ~there,
        "arrows": arrows, "arrows_right": arrows & ~causes, "arrows_known": known_arrows,
        "arrows_found": known_arrows & arrows, "tails": tails, "tails_right": tails & causes,
        "tails_known": known_tails, "tails_found": known_tails & tails, "tails_at_context": at_context,
        "tails_at_context_right": at_context & causes[0], "bidirected": both,
        "bidirected_right": both & ~causes & ~causes.swapaxes(1, 2), "changes": ours,
        "changes_right": ours & (here == there).all(axis=0), "changes_true": true,
    }  # fmt: skip
    return {name: float(which.sum()) for name, which in counted.items()}


def ancestral_rates(counts: Mapping[str, float]) -> dict[str, float]:
    """The rates of counts, of one model or summed over several; NaN where there is nothing to count."""
    return {name: _ratio(counts[part], counts[whole]) for name, (part, whole) in RATES.items()}


METRICS_OF = {"context": (*GRAPH_METRICS, *LABEL_METRICS), "union": GRAPH_METRICS, "ancestral": tuple(RATES)}
"""The metrics of every kind of graph; "ancestral" where variables are hidden, of all contexts together."""
