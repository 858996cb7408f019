"""From a fitted model to the evidence for and against every link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causalcontext.kernels.orders.context_parents import Memory, log_wilks, logit_score
from causalcontext.kernels.orders.edge_evidence import link_evidence
from causalcontext.kernels.orders.order_state import refit
from causalcontext.kernels.orders.parent_sets import scratch
from causalcontext.kernels.orders.partitions import best_partition, pooled_slot
from causalcontext.knowledge import Links
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import Decision
from causalcontext.score.model import FittedModel
from causalcontext.score.options import ScoreOptions
from causalcontext.score.problem import Layout, make_blocks, make_state
from causalcontext.score.setup import Setup

Floats = NDArray[np.float64]


def judge(setup: Setup, options: ScoreOptions, layout: Layout, model: FittedModel, links: Links, memory: Memory,
          facts: dict[str, object]) -> ScoreEvidence:  # fmt: skip
    """The evidence, with variables in the order of the table; `facts` are the fields that describe the search."""
    k, p = setup.contexts, setup.variables
    difference, strength = np.full((k, p + 1, p + 1), np.nan), np.full((k, p + 1, p + 1), np.nan)
    _judge_system(setup, options, model, difference, strength)
    if k > 1:
        _judge_context_effects(setup, layout, model, memory, difference)
        _judge_context_causes(setup, layout, model, difference)
        strength[:, p, :] = np.sqrt(-np.expm1(-2.0 * np.maximum(difference[:, p, :], 0.0) / setup.rows))
        strength[:, :, p] = np.sqrt(-np.expm1(-2.0 * np.maximum(difference[:, :, p], 0.0) / setup.rows))
    return _arranged(setup, model, links, difference, strength, facts)


def _judge_system(
    setup: Setup, options: ScoreOptions, model: FittedModel, difference: Floats, strength: Floats
) -> None:
    """Links between system variables: `[context, child, parent]`."""
    p = setup.variables
    masks = sorted(set(model.block.ravel().tolist()))
    blocks = make_blocks(setup, options, masks)
    number = {mask: place for place, mask in enumerate(masks)}
    work = scratch(p, p + 1)
    for r in range(setup.contexts):
        block = np.array([len(masks) if model.shifted[i] else number[int(model.block[r, i])] for i in range(p)])
        place = np.argsort(model.orders[r])
        link_evidence(blocks, block, place, model.parents[r], setup.allowed, work,
                      difference[r, :p, :p], strength[r, :p, :p])  # fmt: skip


def _judge_context_effects(
    setup: Setup, layout: Layout, model: FittedModel, memory: Memory, difference: Floats
) -> None:
    """Links from the context: the best changing model of a node against the pooled one."""
    p = setup.variables
    state = make_state(setup, layout, model.orders, False, memory)
    refit(layout.problem, state)
    place = np.argsort(model.orders[0])
    pooled = pooled_slot(setup.contexts)
    for node in range(p):
        if place[node] < place[p] or setup.role[node] != 0:
            continue
        scores = state.fits.score[node]
        changing = max(scores[-1], best_partition(layout.problem.family, node, scores))
        difference[:, node, p] = changing - scores[pooled]


def _judge_context_causes(setup: Setup, layout: Layout, model: FittedModel, difference: Floats) -> None:
    """Links into the context: by the logit for its parents, by Wilks' lambda for the others."""
    p, table = setup.variables, layout.problem.context
    place = np.argsort(model.orders[0])
    parents = np.flatnonzero(model.context_parents)
    whole = logit_score(table, parents, len(parents))
    spread = log_wilks(table, parents, len(parents))
    for node in range(p):
        if place[node] > place[p] or not setup.context_allowed[node]:
            continue
        if model.context_parents[node]:
            rest = parents[parents != node]
            difference[:, p, node] = whole - logit_score(table, rest, len(rest))
        else:
            more = np.append(parents, node)
            gain = 0.5 * table.n * (spread - log_wilks(table, more, len(more)))
            difference[:, p, node] = gain - table.price


def _arranged(setup: Setup, model: FittedModel, links: Links, difference: Floats, strength: Floats,
              facts: dict[str, object]) -> ScoreEvidence:  # fmt: skip
    """The same in the numbers of the table, one entry per pair."""
    k, p = setup.contexts, setup.variables
    there = setup.position >= 0
    total = int(there.sum())
    position = setup.position[there]
    back = np.argsort(position)
    graphs = model.links()[:, there][:, :, there][:, back][:, :, back]
    wide = [array[:, there][:, :, there][:, back][:, :, back] for array in (difference, strength)]
    first, second = np.triu_indices(total, 1)
    forward = graphs[:, first, second] | (~graphs[:, second, first] & ~np.isnan(wide[0][:, second, first]))
    chosen = [np.where(forward, array[:, second, first], array[:, first, second]) for array in wide]
    judged = ~np.isnan(chosen[0]) | graphs[:, first, second] | graphs[:, second, first]
    decision = np.where(graphs[:, first, second] | graphs[:, second, first], Decision.PRESENT, Decision.ABSENT)
    decision[:, links.absent[first, second]] = Decision.FORBIDDEN
    decision[:, links.required[first, second]] = Decision.REQUIRED
    block = np.full((k, p + 1), (1 << k) - 1)
    block[:, :p] = model.block
    names = ["shifted" if s else "partitioned" if c else "pooled" for s, c in
             zip(model.shifted, model.context_children, strict=True)] + ["context"]  # fmt: skip
    own = np.append(np.arange(p), p)[there][back]
    block = block[:, own]
    rows = np.array([[setup.block_rows(int(mask)) for mask in row] for row in block]).astype(np.int64)
    return ScoreEvidence(
        difference=chosen[0], strength=chosen[1],
        effect=np.where(judged, np.where(forward, second, first), -1).astype(np.int64),
        decision=decision.astype(np.int8), model=tuple(names[i] for i in own), block=block, rows=rows,
        score=model.score, **facts,  # type: ignore[arg-type]
    )  # fmt: skip
