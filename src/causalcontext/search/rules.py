"""Every rule of orientation, once: its name, its function, its words for `explain`, and when it has
its turn.

`orient_edges` finds the ends of all edges: knowledge, colliders, then rules until nothing changes.
With contexts in its evidence the graphs learn from each other. To add a rule, write a function of
the family of graphs that yields proposals, and enter it here (CONTRIBUTING.md, "Add a rule of
orientation", has all places).

R1 to R4 of a CPDAG are those of Meek (1995), R1-R4 and R8-R10 of a PAG those of Zhang (2008); the
others, which compare contexts, have their reasons in docs/orientation.md. A group of rules proposes
ends for all graphs before any is set, so that neither the order of rules in a group nor that of
columns matters.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, IntEnum
from typing import NamedTuple

from causalcontext.graphs.endpoints import GraphKind
from causalcontext.kernels.arrays import Bools
from causalcontext.kernels.levels.neighbours import Edges, list_edges
from causalcontext.search import across, within
from causalcontext.search.family import Doubt, Evidence, GraphFamily, Proposal


class Scope(Enum):
    """The graphs that a rule looks at."""

    KNOWLEDGE = "what is known beforehand"
    WITHIN = "one graph"
    ACROSS = "the graphs of several contexts"


class Turn(IntEnum):
    """Groups of rules, strongest first: after every change it is the strongest group's turn
    again.
    """

    KNOWLEDGE = 0
    COLLIDERS = 1
    ANCESTRY = 2
    CHANGES = 3
    COPIES = 4
    CONSEQUENCES = 5


ONCE = (Turn.KNOWLEDGE, Turn.COLLIDERS)
"""These have one turn each, before all others: what they propose never changes."""

AGREED = "models"
"""The name of the rule that all models near the best one have an arrow."""
A_TEST = "a test"
ACYCLICITY = "strong context-acyclicity"
SUFFICIENCY = "weak context-sufficiency"
UNCONFOUNDED = "that the context has no hidden common cause with another variable"


class OrientationRule(NamedTuple):
    """One rule of orientation: a row of the table that `explain`, `diagnose` and files read by its
    name.
    """

    name: str  # as it is cited
    scope: Scope
    turn: Turn
    # the ends that the rule asks for; None for ends that are drawn and not proposed
    propose: Callable[[GraphFamily], Iterator[Proposal]] | None
    rests_on: str  # what is in doubt if the rule contradicts what is settled
    # why the end at `{effect}` of `{cause}` - `{effect}` is what it is. May name `{via}`, the
    # variables it rests on; `{context}` and `{source}`, the context variable and the context it
    # rests on; `{lost}`, a missing edge; `{set}`, what separates the ends of a collider; `{system}`
    # and `{kin}`, what else is at the edge and its relation to it.
    words: str
    kind: GraphKind = GraphKind.CPDAG  # of the graphs that the rule is for


class Check(NamedTuple):
    """A sign that an assumption fails: edges (graph, x, y) of the finished graphs that it rules
    out.
    """

    name: str
    edges: Callable[[GraphFamily], Iterator[tuple[int, int, int]]]
    rests_on: str
    kind: GraphKind = GraphKind.CPDAG


RULES = (
    OrientationRule(
        "knowledge",
        Scope.KNOWLEDGE,
        Turn.KNOWLEDGE,
        within.only_allowed_direction,
        A_TEST,
        "your knowledge allows no other direction",
    ),
    OrientationRule(
        "time", Scope.KNOWLEDGE, Turn.KNOWLEDGE, None, A_TEST, "an effect cannot precede its cause"
    ),
    OrientationRule(
        "reads",
        Scope.KNOWLEDGE,
        Turn.KNOWLEDGE,
        None,
        SUFFICIENCY,
        "given all of its causes, {effect} depends on {cause}",
    ),
    OrientationRule(
        "deterministic",
        Scope.KNOWLEDGE,
        Turn.KNOWLEDGE,
        None,
        A_TEST,
        "{effect} was made out of {cause}",
    ),
    OrientationRule(
        AGREED,
        Scope.KNOWLEDGE,
        Turn.KNOWLEDGE,
        within.agreed_direction,
        A_TEST,
        "all models that score nearly as well agree on this",
    ),
    OrientationRule(
        "collider",
        Scope.WITHIN,
        Turn.COLLIDERS,
        within.collider,
        A_TEST,
        "{via} and {cause} are separated{set}, not given {effect}: a collider",
    ),
    # follows from others; saved results may name it
    OrientationRule(
        "A1", Scope.ACROSS, Turn.ANCESTRY, None, ACYCLICITY, "{system} is a known {kin} of {via}"
    ),
    OrientationRule(
        "A2",
        Scope.ACROSS,
        Turn.ANCESTRY,
        across.from_ancestor_to_descendant,
        ACYCLICITY,
        "{cause} is a known ancestor of {via} and {effect} a known descendant",
    ),
    OrientationRule(
        "A3",
        Scope.ACROSS,
        Turn.ANCESTRY,
        across.into_ancestor,
        ACYCLICITY,
        "{cause} leads to {effect}, an ancestor of {via}, and no cycle of any contexts may meet"
        " {via}",
    ),
    OrientationRule(
        "V1",
        Scope.ACROSS,
        Turn.CHANGES,
        across.vanishing_from_unchanged,
        SUFFICIENCY,
        "{lost} is missing in {source} and only its effect can be a child of {context}",
    ),
    OrientationRule(
        "V4",
        Scope.ACROSS,
        Turn.CHANGES,
        across.vanishing_arrow,
        SUFFICIENCY,
        "{lost} is missing in {source}, so {context} changes the causes of {effect}",
    ),
    OrientationRule(
        "F",
        Scope.ACROSS,
        Turn.CHANGES,
        across.flipping_arrow,
        SUFFICIENCY,
        "the edge between {effect} and {via} is reversed in {source}, so {context} causes both",
    ),
    OrientationRule(
        "indicator",
        Scope.ACROSS,
        Turn.CHANGES,
        None,
        SUFFICIENCY,
        "{lost} is missing in {source}, and only {effect} can be an effect of {context}",
    ),
    OrientationRule(
        "T1",
        Scope.ACROSS,
        Turn.COPIES,
        across.same_direction,
        SUFFICIENCY,
        "it points this way in {source}, and only edges between two children of {context} can be"
        " reversed",
    ),
    OrientationRule(
        "R1",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.away_from_collider,
        A_TEST,
        "the other direction would make {cause} a collider of {via} and {effect}",
    ),
    OrientationRule(
        "R2",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.away_from_cycle,
        A_TEST,
        "the other direction would close a cycle through {via}",
    ),
    OrientationRule(
        "R3",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.double_triangle,
        A_TEST,
        "the other direction would close a cycle or make a collider with {via}",
    ),
    OrientationRule(
        "R4",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.long_triangle,
        A_TEST,
        "the other direction would close a cycle or make a collider with {via}",
    ),
    OrientationRule(
        "knowledge",
        Scope.KNOWLEDGE,
        Turn.KNOWLEDGE,
        within.known_endpoints,
        A_TEST,
        "your knowledge says so",
        GraphKind.PAG,
    ),
    OrientationRule(
        "time",
        Scope.KNOWLEDGE,
        Turn.KNOWLEDGE,
        None,
        A_TEST,
        "an effect cannot precede its cause",
        GraphKind.PAG,
    ),
    OrientationRule(
        "deterministic",
        Scope.KNOWLEDGE,
        Turn.KNOWLEDGE,
        None,
        A_TEST,
        "{cause} was made out of {effect}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "indicator",
        Scope.ACROSS,
        Turn.CONSEQUENCES,
        None,
        SUFFICIENCY,
        "the edge {via} - {cause} is missing in {source}, so {effect} changes what leads to"
        " {cause}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "collider",
        Scope.WITHIN,
        Turn.COLLIDERS,
        within.pag_collider,
        A_TEST,
        "{via} and {cause} are separated{set}, not given {effect}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "R1",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.no_new_collider,
        A_TEST,
        "{effect} does not cause {via}, and is no collider of {via} and {cause}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "R2",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.no_cycle,
        A_TEST,
        "{effect} causing {cause} would close a cycle through {via}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "R3",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.pag_double_triangle,
        A_TEST,
        "{effect} causing {cause} would make {cause} a collider of {via}, or close a cycle",
        GraphKind.PAG,
    ),
    OrientationRule(
        "R4",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.discriminating_path,
        A_TEST,
        "a discriminating path between {via} shows it",
        GraphKind.PAG,
    ),
    OrientationRule(
        "R8",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.through_an_effect,
        A_TEST,
        "{effect} causes {via}, which causes {cause}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "R9",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.around_the_edge,
        A_TEST,
        "even without it {effect} would cause {cause}, through {via}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "R10",
        Scope.WITHIN,
        Turn.CONSEQUENCES,
        within.two_ways_round,
        A_TEST,
        "{effect} causes one of {via}, and either leads to {cause}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "V",
        Scope.ACROSS,
        Turn.CONSEQUENCES,
        across.vanishing_from_no_effect,
        SUFFICIENCY,
        "the edge {via} - {cause} is missing in {source}, and {effect} does not cause {via}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "V*",
        Scope.ACROSS,
        Turn.CONSEQUENCES,
        across.vanishing_from_separated,
        SUFFICIENCY,
        "the edge {via} - {cause} is missing in {source} given what separates {via} and {effect}",
        GraphKind.PAG,
    ),
    OrientationRule(
        "U",
        Scope.KNOWLEDGE,
        Turn.CONSEQUENCES,
        across.unconfounded_context,
        UNCONFOUNDED,
        "you say that nothing hidden causes {effect} or {cause} as well",
        GraphKind.PAG,
    ),
)

CHECKS = (
    Check("T1'", across.lost_from_cause, SUFFICIENCY),
    Check("V2", across.lost_between_unchanged, SUFFICIENCY),
    Check("V2", across.lost_between_no_effects, SUFFICIENCY, GraphKind.PAG),
)


def orient_all(
    adjacency: Bools, evidence: Evidence, kind: GraphKind = GraphKind.CPDAG
) -> GraphFamily:
    """As `orient_edges`, from an array of shape (graphs, N, N)."""
    return orient_edges(list_edges(adjacency), adjacency.shape[1], evidence, kind)


def orient_edges(
    edges: Edges, variables: int, evidence: Evidence, kind: GraphKind = GraphKind.CPDAG
) -> GraphFamily:
    """The family of graphs with all ends that follow, their origins and doubts.

    After every change it is the turn of the strongest group again that can propose something, so
    that a weak rule never decides what a strong one would. Signs that an assumption fails
    (`CHECKS`) are looked for in the finished graphs.

    Parameters
    ----------
    edges : those of all graphs, with the graphs that have each
    variables : their number N
    evidence : verdicts on triples, knowledge, and what is known of contexts
    kind : of the graphs, which decides which rules there are
    """
    collecting = gc.isenabled()
    gc.disable()  # rules make very many small sets, none of which is cyclic garbage
    try:
        family = GraphFamily(edges, variables, evidence, kind)
        compared = bool(evidence.contexts.positions) and evidence.across
        groups = rule_groups(kind, compared)
        for turn in ONCE:
            family.apply(proposals(groups.pop(turn), family))
        while any(family.apply(proposals(group, family)) for group in groups.values()):
            pass
        checks = [check for check in CHECKS if compared and check.kind is kind]
        family.noted |= {
            Doubt(check.name, *edge) for check in checks for edge in check.edges(family)
        }
        _apply_knowledge_to_untested(family)
        return family
    finally:
        if collecting:
            gc.enable()


def _apply_knowledge_to_untested(family: GraphFamily) -> None:
    """Give edges that nothing tested the ends that knowledge says; no rule has used them, and none
    will.

    They are there for lack of rows alone, so what would follow from them follows from nothing.
    """
    if family.evidence.untested is None or not family.evidence.untested.any():
        return
    for graph in family.graphs:
        graph.open_untested()
    family.apply(proposals([rule_named("knowledge", family.kind)], family))


def rule_named(name: str, kind: GraphKind = GraphKind.CPDAG) -> OrientationRule:
    """The rule of that name for graphs of that kind."""
    return next(rule for rule in RULES if (rule.name, rule.kind) == (name, kind))


def rule_groups(kind: GraphKind, with_contexts: bool) -> dict[Turn, list[OrientationRule]]:
    """The rules that propose something, by turn, strongest first.

    Without contexts, these are only those that look at no other graph.
    """
    chosen = [
        rule
        for rule in RULES
        if rule.kind is kind
        and rule.propose is not None
        and (with_contexts or rule.scope is not Scope.ACROSS)
    ]
    return {turn: [rule for rule in chosen if rule.turn is turn] for turn in Turn}


def proposals(
    rules: Iterable[OrientationRule], family: GraphFamily
) -> Iterator[tuple[str, Proposal]]:
    """The proposals of a group of rules, each with the name of its rule.

    Over time, a proposal holds for every repetition of its edge, and is followed by those.
    """
    repeated = family.evidence.repeated
    for rule in rules:
        if rule.propose is None:
            continue
        for proposal in rule.propose(family):
            yield rule.name, proposal
            if repeated is not None:
                for other in repeated(proposal):
                    yield rule.name, other


def suspect(name: str) -> str:
    """The assumption in doubt if a rule or a check of that name fails; a test, if none rests
    on it.
    """
    return next((entry.rests_on for entry in (*RULES, *CHECKS) if entry.name == name), A_TEST)
