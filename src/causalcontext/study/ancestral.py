"""How near found PAGs are to the truth where variables are hidden: adjacencies, ends by ancestry, changes.

An end is right if it is true in its context: a tail at y of x - y if y is an ancestor of x there, an arrow if it is
not. Counts are kept beside rates, so that rates over many models can be pooled: most models have few tails.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from causalcontext.discover import discover
from causalcontext.graphs.endpoints import Endpoint, Endpoints, adjacent, marked
from causalcontext.kernels.arrays import Bools
from causalcontext.simulate.hidden import HiddenVariables

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
    ends that can be known, found by a search without noise: recall is out of these.
    """
    return _pair_counts(found, model) | _end_counts(found, model, exact) | _change_counts(found, model)


def ancestral_rates(counts: Mapping[str, float]) -> dict[str, float]:
    """The rates of counts, of one model or summed over several; NaN where there is nothing to count."""
    return {name: _ratio(counts[part], counts[whole]) for name, (part, whole) in RATES.items()}


def _pair_counts(found: Endpoints, model: HiddenVariables) -> dict[str, float]:
    pairs = np.triu(_system(model))
    here, there = adjacent(found) & pairs, adjacent(model.endpoints) & pairs
    absent = len(found) * pairs.sum() - there.sum()
    return _named("pairs_wrong pairs_right pairs_true pairs_absent", (here & ~there).sum(), (here & there).sum(),
                  there.sum(), absent)  # fmt: skip


def _end_counts(found: Endpoints, model: HiddenVariables, exact: Endpoints) -> dict[str, float]:
    system, causes = _system(model), model.causes.swapaxes(1, 2)
    arrows, tails = (found == Endpoint.ARROW) & system, (found == Endpoint.TAIL) & system
    both = marked(found, "<->") & np.triu(system)
    at_context = (found[0] == Endpoint.TAIL) & ~system
    known_arrows, known_tails = (exact == Endpoint.ARROW) & system, (exact == Endpoint.TAIL) & system
    return _named(
        "arrows arrows_right arrows_known arrows_found tails tails_right tails_known tails_found tails_at_context "
        "tails_at_context_right bidirected bidirected_right",
        arrows.sum(), (arrows & ~causes).sum(), known_arrows.sum(), (known_arrows & arrows).sum(), tails.sum(),
        (tails & causes).sum(), known_tails.sum(), (known_tails & tails).sum(), at_context.sum(),
        (at_context & causes[0]).sum(), both.sum(), (both & ~causes & ~causes.swapaxes(1, 2)).sum(),
    )  # fmt: skip


def _change_counts(found: Endpoints, model: HiddenVariables) -> dict[str, float]:
    """System pairs that some contexts have and others have not; right if in just the same contexts."""
    here, there, pairs = adjacent(found), adjacent(model.endpoints), np.triu(_system(model))
    ours, true = ((which != which[0]).any(axis=0) & pairs for which in (here, there))
    return _named("changes changes_right changes_true", ours.sum(), (ours & (here == there).all(axis=0)).sum(),
                  true.sum())  # fmt: skip


def _system(model: HiddenVariables) -> Bools:
    """True for pairs without the context variable."""
    pairs = ~np.eye(len(model.names), dtype=bool)
    pairs[model.context] = pairs[:, model.context] = False
    return pairs


def _named(names: str, *values: float) -> dict[str, float]:
    return dict(zip(names.split(), map(float, values), strict=True))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
