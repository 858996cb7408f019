"""From the models that were found to marks, and to the evidence for and against every link.

Marks come from a set of models: the best one, and every other one that was met and scores less than
`CLEAR_MARGIN` nats below it. For every link the best model without it is asked for, so a direction
that is not clearly better than its reverse has a model in the set that says so. A mark is a
direction that all models of the set have, and what follows from these by the rules of CPDAGs, in a
graph and across contexts (`search.rules`). Whether an unshielded triple is a collider is left
undecided, as conservative PC leaves it, where its marks are open and one of the models has a
collider there, or would have one if an open link were turned. The best model has every mark, and no
collider that is excluded: it is an extension of the marks.

Undecided triples are no part of a graph. Where a graph alone, without them, has no extension, as
many colliders of the best model as are needed keep their arrows, the surest first. Where knowledge
allows one direction only, nothing is asked. A direction that there was no time to ask about is left
open, and then nothing is inferred.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalcontext.graphs.dags import OpenGraphs, UndecidedTriple, has_extension
from causalcontext.graphs.endpoints import Endpoints, endpoints_of_arcs
from causalcontext.graphs.paths import reach
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.orders.fit_arrays import CURVED, KIND, NUMBER, OWNER, PARTNER
from causalcontext.kernels.orders.slots import NodeSlots, best_score, readers_in_reach
from causalcontext.kernels.rows.scales import SHAPES
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.log import Decision
from causalcontext.results.settings import CLEAR_MARGIN, LARGEST_MARGIN
from causalcontext.score.data import ScoreData, members
from causalcontext.score.merging import lattice
from causalcontext.score.model import FittedModel, Part, owners
from causalcontext.score.options import Clock
from causalcontext.score.search import REACH, FoundModels, Rival
from causalcontext.score.workspace import FitWorkspace, NodeTask
from causalcontext.search.colliders import Triple, Triples
from causalcontext.search.family import EdgeEnd, Evidence, Origin
from causalcontext.search.rules import AGREED, orient_all
from causalcontext.views import Contexts

BETTER = 1e-6
MOST_CORRECTIONS = 5


class Marks(NamedTuple):
    """The endpoints of every context, the rules behind those that not all models say, and triples
    without a verdict.
    """

    endpoints: Endpoints
    origins: dict[EdgeEnd, Origin]
    undecided: frozenset[UndecidedTriple]


@dataclass(frozen=True, eq=False)
class Directed:
    """The best model, the set of models that marks come from, and the margin of every direction."""

    model: FittedModel  # the best one: a rival may have turned out to be better
    near: tuple[FittedModel, ...]  # all within `CLEAR_MARGIN` nats of it, itself among them
    # shape (variables, variables): `margin[cause, effect]`: what forbidding the direction costs, at
    # most `LARGEST_MARGIN`; NaN where it was not asked
    margin: Floats
    asked: Bools  # shape (variables, variables): where there was time to ask, or nothing to ask

    @cached_property
    def agreed(self) -> Bools:
        """Links of the model whose margin is not small; shape (K, variables, variables)."""
        turned = self.model.links.swapaxes(1, 2).copy()
        for other in self.near:
            for node in other.nodes_apart(self.model):
                turned[:, node] |= other.links_into(node)
        return np.asarray(self.model.links & self.asked & ~turned & ~(self.margin < CLEAR_MARGIN))

    def marks(
        self,
        contexts: Contexts,
        place: Callable[[NDArray[Any]], NDArray[Any]],
        doubted: bool = False,
    ) -> Marks:
        """The marks that all models say, and what follows.

        Links that all models have one way in some contexts and the other way in others need
        feedback, or a model that does not fit: where it is `doubted`, they are left open. `place`
        moves links to the numbers of the table.
        """
        turns = self.agreed.any(axis=0) & self.agreed.any(axis=0).T & doubted
        agreed = place(self.agreed & ~turns)
        best = place(self.model.links)
        edges = best | best.swapaxes(1, 2)
        loose = edges & ~agreed & ~agreed.swapaxes(1, 2)
        colliders = self._colliders(place, edges, loose)
        open_triples = [Triples(frozenset(), frozenset(own)) for own in colliders]
        if not self.asked.all():
            return Marks(endpoints_of_arcs(agreed | loose), {}, _undecided(open_triples))
        evidence = Evidence(open_triples, None, contexts, arrows=agreed)
        margin = np.broadcast_to(np.nan_to_num(self.margin, nan=np.inf), self.model.links.shape)
        return _extendable(edges, evidence, best, place(margin))

    def _colliders(
        self, place: Callable[[NDArray[Any]], NDArray[Any]], edges: Bools, loose: Bools
    ) -> list[list[Triple]]:
        """For every graph its unshielded triples with a loose edge that are colliders in one of the
        models, or in the best one when an open link is turned.

        `edges` and `loose`, shape (K, variables, variables), are in the numbers of the table, as
        the triples are.
        """
        model = self.model
        shape = model.links.shape
        source = place(np.arange(model.links.size).reshape(shape))
        graphs = source[:, 0, 0] // (shape[1] * shape[2])
        back = source[0, :, 0] % (shape[1] * shape[2]) // shape[2]
        turned: dict[int, list[tuple[int, bool]]] = {}
        for cause, effect in np.argwhere(self.margin < CLEAR_MARGIN).tolist():
            turned.setdefault(effect, []).append((cause, False))
            turned.setdefault(cause, []).append((effect, True))
        apart: dict[int, list[FittedModel]] = {}
        for other in self.near:
            for node in other.nodes_apart(model):
                apart.setdefault(node, []).append(other)
        found: list[list[Triple]] = [[] for _ in edges]
        for w in np.flatnonzero(loose.any(axis=(0, 1))).tolist():
            node = int(back[w])
            own = model.links[:, :, node]
            ways = [own]
            ways += [other.links_into(node) for other in apart.get(node, ())]
            for neighbour, comes in turned.get(node, ()):
                way = own.copy()
                way[:, neighbour] = comes & model.links[:, node, neighbour]
                ways.append(way)
            into = np.stack(ways)[:, graphs][:, :, back]
            for g, triples in enumerate(found):
                triples += _colliders_at(w, edges[g], loose[g], into[:, g])
        return found


def _extendable(edges: Bools, evidence: Evidence, best: Bools, margin: Floats) -> Marks:
    """The marks, with as many undecided colliders of the best model as extensions of all graphs
    need, surest first.
    """
    doubt = {
        (g, x, w, y): -min(margin[g, x, w], margin[g, y, w])
        for g, x, w, y in _undecided(evidence.triples)
        if best[g, x, w] and best[g, y, w]
    }
    colliders = sorted(doubt, key=lambda triple: (doubt[triple], triple))

    @cache
    def marks(number: int) -> Marks:
        """With the first of them as colliders."""
        decided = [
            frozenset((x, w, y) for h, x, w, y in colliders[:number] if h == g)
            for g in range(len(edges))
        ]
        triples = [
            Triples(kept, each.ambiguous - kept)
            for kept, each in zip(decided, evidence.triples, strict=True)
        ]
        family = orient_all(edges, evidence._replace(triples=triples))
        undecided = _undecided(triples)
        endpoints = family.endpoints
        if undecided:
            endpoints = OpenGraphs(endpoints, evidence.contexts, triples=undecided).closed()
        inferred = {
            place: origin for place, origin in family.origins.items() if origin.rule != AGREED
        }
        return Marks(endpoints, inferred, undecided)

    def are_extendable(number: int) -> bool:
        """True if every graph has an extension without a new collider then."""
        return all(map(has_extension, marks(number).endpoints))

    if not colliders or are_extendable(0):
        return marks(0)
    return marks(1 + bisect_left(range(1, len(colliders)), True, key=are_extendable))


def _undecided(triples: Sequence[Triples]) -> frozenset[UndecidedTriple]:
    return frozenset((g, *triple) for g, each in enumerate(triples) for triple in each.ambiguous)


def _colliders_at(w: int, edges: Bools, loose: Bools, into: Bools) -> Iterator[Triple]:
    """Triples (x, w, y), x < y, unshielded in a graph, with a loose edge, that are colliders in one
    of some models, of which `into`, shape (models, variables), has the links into w.
    """
    for x, y in combinations(np.flatnonzero(edges[w]).tolist(), 2):
        asked = not edges[x, y] and (loose[x, w] or loose[y, w])
        if asked and (into[:, x] & into[:, y]).any():
            yield x, w, y


def direct(found: FoundModels, clock: Clock | None = None) -> Directed:
    """The best model, and those near it. No clock: there is time enough."""
    model = found.best
    known = list(found.models)
    for _ in range(MOST_CORRECTIONS):
        ask = partial(_ask, model, tuple(known), found, clock)
        met, margin, asked = ask() if clock is None else clock.result(clock.start(ask))
        known += met
        if not met or met[-1].score <= model.score + BETTER:
            break
        model = met[-1]
    for other in known:
        behind = model.score - other.score
        for node in other.nodes_apart(model):
            lost = model.linked[:, node] & ~other.linked_into(node)
            margin[lost & (margin[:, node] > behind), node] = behind
    near = tuple(other for other in known if other.score > model.score - CLEAR_MARGIN)
    return Directed(model, near, margin, asked)


def _ask(
    model: FittedModel, known: Sequence[FittedModel], found: FoundModels, clock: Clock | None
) -> tuple[list[FittedModel], Floats, Bools]:
    """The best model without each link, margins, and which links there was time for; one that is
    better ends it.
    """
    linked, design, p = model.linked, model.design, model.design.data.responses
    rivals = None if clock is not None and clock.late else found.rivals(model)
    met: list[FittedModel] = []
    margin = np.full(linked.shape, np.nan)
    asked = np.ones(linked.shape, dtype=bool)
    nodes = design.data.nodes
    for cause, effect in np.argwhere(linked[:nodes, :nodes]).tolist():
        may_turn = design.allowed[cause, effect]
        if effect >= p and cause < p:  # the mechanism of the cause may change with the context
            may_turn = (design.may[cause, 1:] & (design.needs == effect).any(axis=1)).any()
        if not may_turn:
            continue
        late = clock is not None and clock.late
        other = (
            None if late or rivals is None else rivals(cause, effect, model.score - LARGEST_MARGIN)
        )
        if clock is not None and clock.skips("directions"):
            asked[cause, effect] = False
            continue
        margin[cause, effect] = LARGEST_MARGIN if other is None else model.score - other.score
        if other is not None:
            met.append(other)
            if other.score > model.score + BETTER:
                return met, margin, asked
    if clock is not None and found.search != "exact":
        near = [other for other in (*known, *met) if other.score > model.score - CLEAR_MARGIN]
        met += _met_from(near, model, margin, found.rivals, clock)
        if clock.skips("directions"):
            asked[_doubtful(margin)] = False
    return met, margin, asked


def _met_from(
    near: list[FittedModel],
    model: FittedModel,
    margin: Floats,
    rivals_of: Callable[[FittedModel], Rival],
    clock: Clock,
) -> Iterator[FittedModel]:
    """Models as good that are met from others near the best one; one that is better ends it.

    To turn a link may cost nothing once another one is turned (Chickering 1995: models of one
    equivalence class are connected by such steps), and from the best model alone both would have to
    be turned at once. So directions that are clear, but not by far, are asked again where the
    causes of one of their ends are others.
    """
    asked = set()
    for other in near:
        moved = (other.linked != model.linked).any(axis=0)
        rivals = None
        for cause, effect in np.argwhere(
            _doubtful(margin) & other.linked & (moved | moved[:, None])
        ).tolist():
            key = cause, effect, other.linked[:, [cause, effect]].tobytes()
            if key in asked or clock.late:
                continue
            asked.add(key)
            rivals = rivals or rivals_of(other)
            rival = rivals(cause, effect, model.score - CLEAR_MARGIN)
            if rival is not None:
                near.append(rival)
                margin[cause, effect] = model.score - rival.score
                yield rival
                if rival.score > model.score + BETTER:
                    return


def _doubtful(margin: Floats) -> Bools:
    """Directions that are clear, but not by far."""
    return np.asarray((margin >= CLEAR_MARGIN) & (margin <= REACH))


def judge(
    directed: Directed, curves: bool, facts: dict[str, object], clock: Clock
) -> ScoreEvidence:
    """The evidence, with variables in the order of the table; `facts` are the fields that describe
    the search.

    Scores are differences with and without a link, `[context, effect, cause]`, NaN where nothing
    was judged.
    """
    model = directed.model
    data = model.design.data
    workspace = FitWorkspace(model.design, curves)
    k = data.contexts
    contexts = list(data.context_variables)
    difference, strength = (np.full((k, data.variables, data.variables), np.nan) for _ in range(2))
    _judge_causes(model, workspace, difference, strength)
    if k > 1:
        _judge_context_effects(model, curves, difference, clock)
        at_context = np.sqrt(-np.expm1(-2.0 * np.maximum(difference, 0.0) / data.total))
        strength[:, contexts, :] = at_context[:, contexts, :]
        strength[:, :, contexts] = at_context[:, :, contexts]
    # in the numbers of the table, one entry per pair
    graphs, difference, strength, margin = (
        in_table(data, each) for each in (model.links, difference, strength, directed.margin)
    )
    own = np.argsort(data.position)
    first, second = np.triu_indices(len(own), 1)
    present = graphs[:, first, second] | graphs[:, second, first]
    forward = graphs[:, first, second] | (
        ~graphs[:, second, first] & ~np.isnan(difference[:, second, first])
    )
    gain, size = (
        np.where(forward, each[:, second, first], each[:, first, second])
        for each in (difference, strength)
    )
    # what is known is not about thresholds
    made = (own >= data.candidates)[first] | (own >= data.candidates)[second]
    judged = ~np.isnan(gain) | (present & ~made)
    decision = np.where(present, Decision.PRESENT, Decision.ABSENT)
    decision[:, data.links.rule_out(first, second) & ~made] = Decision.FORBIDDEN
    decision[np.isnan(gain) & made & ~present] = Decision.NOT_SEARCHED
    decision[:, data.links.required[first, second]] = Decision.REQUIRED
    block = model.block[:, own]
    rows = np.array([[data.rows_of(int(mask)) for mask in row] for row in block]).astype(np.int64)
    margins = np.where(forward, margin[first, second], margin[second, first])
    return ScoreEvidence(
        difference=gain,
        strength=size,
        effect=np.where(judged, np.where(forward, second, first), -1).astype(np.int64),
        decision=decision.astype(np.int8),
        model=tuple(model.kind[i] for i in own),
        block=block,
        rows=rows,
        score=model.score,
        margin=np.where(present, margins, np.nan),
        **facts,  # type: ignore[arg-type]
    )


def _judge_causes(
    model: FittedModel, workspace: FitWorkspace, difference: Floats, strength: Floats
) -> None:
    """Links into every node: with their columns and without, or with the best column that could be
    added.
    """
    data = model.design.data
    design = model.design
    tasks = list(model.regressions())
    extras = workspace.extras([(part.block, node, part.columns) for node, part in tasks])
    _correct_for_scales(model, workspace, tasks, extras)
    _correct_for_products(model, workspace, tasks, extras)
    wanted = []
    for node, part in tasks:
        about = design.about(part.block)
        spreads = part.scale // SHAPES
        for cause in (
            -1,
            *sorted({*owners(about, part.columns), *design.owners_of_scale(part.scale).tolist()}),
        ):
            rest = [
                c
                for c in part.columns
                if cause < 0 or cause not in (about[OWNER, c], about[PARTNER, c])
            ]
            wanted.append((node, part, cause, [*rest, *(-1 - part.scale[spreads != cause])]))
    whole = np.zeros(0)
    scores = workspace.score([(part.block, node, rest) for node, part, _, rest in wanted])
    for (node, part, cause, _), row in zip(wanted, scores, strict=True):
        if cause < 0:
            whole = row
            continue
        gain = whole[0] - row[0]
        if design.rows.node[node, KIND] == NUMBER:
            size = np.sqrt(max(0.0, float(1.0 - whole[1] / row[1])))
            about = design.about(part.block)
            mine = [
                place
                for place, c in enumerate(part.columns)
                if cause in (about[OWNER, c], about[PARTNER, c])
            ]
            if len(mine) == 1 and not about[CURVED, part.columns[mine[0]]]:
                # a straight line, whose slope has a sign
                size *= float(np.sign(whole[2 + mine[0]]) or 1.0)
        else:
            size = np.sqrt(
                max(0.0, float(-np.expm1(-2.0 * max(gain, 0.0) / data.rows_of(part.mask))))
            )
        for r in members(part.mask, data.contexts):
            if model.parents[r, node, cause]:
                difference[r, node, cause] = gain
                strength[r, node, cause] = size
    one_way = _one_way_causes(model)
    for (node, part), gains in zip(tasks, extras, strict=True):
        for r in members(part.mask, data.contexts):
            may_be_added = model.before(node, 1 << r) | one_way[node]
            absent = design.allowed[node] & ~model.parents[r, node] & may_be_added
            absent = np.flatnonzero(absent & np.isfinite(gains[:, 0]))
            difference[r, node, absent] = gains[absent, 0]
            strength[r, node, absent] = np.copysign(
                np.sqrt(np.abs(gains[absent, 1])), gains[absent, 1]
            )


def _one_way_causes(model: FittedModel) -> Bools:
    """True for candidates that knowledge lets be causes of a node and no effects, and to which no
    path leads from it: shape (nodes, C).

    An order may have such a variable behind the node, if no path joins the two; a link between them
    would put it before, so that it can be scored all the same.
    """
    data = model.design.data
    allowed = model.design.allowed
    nodes = len(allowed)
    position = data.position[: allowed.shape[1]]
    opposite = data.links.may[position[:nodes, None], position]
    links = np.zeros((allowed.shape[1], allowed.shape[1]), dtype=bool)
    links[:, :nodes] = model.parents.any(axis=0).T
    return np.asarray(allowed & ~opposite & ~reach(links)[:nodes])


def _correct_for_scales(
    model: FittedModel, workspace: FitWorkspace, tasks: Sequence[tuple[int, Part]], extras: Floats
) -> None:
    """What a further straight line gains where the noise has an uneven spread, which moments do not
    know.
    """
    design = model.design
    places = []
    wanted = []
    for place, (node, part) in enumerate(tasks):
        first = (design.first[: design.data.candidates] + 1 << design.bits(part.block)) - 1
        for cause in np.flatnonzero(design.allowed[node]).tolist() if len(part.scale) else ():
            if first[cause] not in part.columns:
                places.append((place, cause))
                wanted += [
                    (part.block, node, columns)
                    for columns in (part.everything, np.append(part.everything, first[cause]))
                ]
    if wanted:
        scores, left = workspace.score(wanted)[:, :2].reshape(-1, 2, 2).transpose(2, 1, 0)
        extras[tuple(np.array(places).T)] = np.stack(
            [scores[1] - scores[0], 1.0 - left[1] / left[0]], axis=1
        )


def _correct_for_products(
    model: FittedModel, workspace: FitWorkspace, tasks: Sequence[tuple[int, Part]], extras: Floats
) -> None:
    """What a link that seems to be lacking gains without products of its cause and what is no cause
    of the effect.

    The product of y and z = x y says much about x: z is their effect. Such a column is no part of a
    model in which z comes later, so it says nothing about a link of x and y.
    """
    design = model.design
    places = []
    wanted = []
    for place, (node, part) in enumerate(tasks):
        about = design.about(part.block)
        # the last one: no partner
        may = np.append(model.before(node, part.mask) & design.allowed[node], True)
        inside = np.arange(about.shape[1]) < int(design.first[-1]) << design.bits(part.block)
        taken = np.isin(np.arange(about.shape[1]), part.columns)
        usable = inside & ~taken & may[about[OWNER]] & may[about[PARTNER]]
        usable &= workspace.curves | (about[CURVED] == 0)
        for cause in np.flatnonzero(may[:-1] & (extras[place, :, 0] > 0.0)).tolist():
            own = (about[OWNER] == cause) | (about[PARTNER] == cause)
            if (own & inside & ~taken & ~may[about[PARTNER]]).any() or (
                own & inside & ~may[about[OWNER]]
            ).any():
                columns = np.flatnonzero(own & usable)
                places.append((place, cause, len(columns)))
                wanted += [(part.block, node, part.everything)]
                wanted += [
                    (part.block, node, np.append(part.everything, column)) for column in columns
                ]
    scores = workspace.score(wanted)[:, :2] if wanted else np.zeros((0, 2))
    first = 0
    for place, cause, count in places:
        alone = scores[first]
        more = scores[first + 1 : first + 1 + count]
        first += 1 + count
        extras[place, cause] = -np.inf, 0.0
        if count:
            best = int(np.argmax(more[:, 0]))
            # categories have no variance
            share = 1.0 - more[best, 1] / alone[1] if alone[1] > 0.0 else 0.0
            extras[place, cause] = more[best, 0] - alone[0], max(float(share), 0.0)


def _judge_context_effects(
    model: FittedModel, curves: bool, difference: Floats, clock: Clock
) -> None:
    """Links from context variables: the best model of a node that changes with one against the best
    that does not.

    With many contexts a changing model has the partition that was found, or all contexts apart.
    When the time is up, it has the partition that was found, and a little later nothing is judged
    any more.
    """
    design = model.design
    place = np.argsort(model.orders, axis=1)[0]
    slots = lattice(design)
    workspace = FitWorkspace(design, curves)
    for node in range(design.data.responses):
        usable = readers_in_reach(slots.needs, place, node) & slots.may[node, 1:]
        if clock.is_overdue or not usable.any():
            continue
        tasks: list[NodeTask] = [
            (block, node)
            for block, q in zip(slots.block[node].tolist(), slots.owner.tolist(), strict=True)
            if q < 0 or (usable[q] and not clock.late)
        ]
        tasks += [(part.block, node) for part in model.parts[node]]
        candidates = [
            model.before(node, design.key(block)[1]) & design.allowed[node] for block, _ in tasks
        ]
        scores, _, _ = workspace.fit(tasks, candidates)
        found = dict(zip((block for block, _ in tasks), scores.tolist(), strict=True))
        own = np.array([found.get(block, -np.inf) for block in slots.block[node].tolist()])
        reads = model.reads(node)
        whole = sum(found[part.block] for part in model.parts[node])
        for context in design.data.context_variables:
            reading = np.array([context in reader.variables for reader in design.data.readers])
            with_it = best_score(_only(slots, reading, False), node, own, usable)
            without = best_score(_only(slots, ~reading, True), node, own, usable)
            if context in reads:
                with_it = max(with_it, whole)
            if np.isfinite(with_it) and np.isfinite(without):
                difference[:, node, context] = with_it - without


def _only(slots: NodeSlots, readers: Bools, pooled: bool) -> NodeSlots:
    """Slots of some readers only, and perhaps the pooled one."""
    return slots._replace(may=slots.may & np.append(pooled, readers))


def in_table(data: ScoreData, array: NDArray[Any]) -> NDArray[Any]:
    """An array with variables on its last two axes, in the order of the table."""
    back = np.argsort(data.position)
    return np.asarray(array[..., back[:, None], back])
