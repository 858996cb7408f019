"""Every rule of orientation, once: its name, its function, its words for `explain`, and when it has its turn.

To add a rule, write a function of the family of graphs that yields proposals, and enter it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, IntEnum
from itertools import groupby
from typing import NamedTuple

from causalcontext.graphs.ends import Kind
from causalcontext.search import across, ancestral, descent, within
from causalcontext.search.family import Doubt, GraphFamily, Proposal


class Scope(Enum):
    """What a rule looks at."""

    KNOWLEDGE = "what is known beforehand"
    WITHIN = "one graph"
    ACROSS = "the graphs of several contexts"


class Turn(IntEnum):
    """Groups of rules, strongest first: after every change it is the strongest group's turn again."""

    KNOWLEDGE = 0
    COLLIDERS = 1
    ANCESTRY = 2
    CHANGES = 3
    COPIES = 4
    CONSEQUENCES = 5


ONCE = (Turn.KNOWLEDGE, Turn.COLLIDERS)
"""These have one turn each, before all others: what they propose never changes."""

A_TEST, ACYCLICITY, SUFFICIENCY = "a test", "strong context-acyclicity", "weak context-sufficiency"
UNCONFOUNDED = "that nothing hidden causes the context and something else"


class Entry(NamedTuple):
    """One rule of orientation.

    Attributes
    ----------
    name : str
        As it is cited.
    scope : Scope
    turn : Turn
    propose : function or None
        The ends that the rule asks for; None for ends that are drawn and not proposed, or by earlier versions.
    rests_on : str
        What is in doubt if the rule contradicts what is settled.
    words : str
        Why the end at `{effect}` of `{cause}` - `{effect}` is what it is. May name `{via}`, the variables it rests on;
        `{context}` and `{source}`, the context variable and the context it rests on; `{lost}`, a missing edge; `{set}`,
        what separates the ends of a collider; `{system}` and `{kin}`, what else is at the edge and its relation to it.
    kind : Kind
        Of the graphs that the rule is for.
    """

    name: str
    scope: Scope
    turn: Turn
    propose: Callable[[GraphFamily], Iterator[Proposal]] | None
    rests_on: str
    words: str
    kind: Kind = Kind.PATTERN


class Check(NamedTuple):
    """A sign that an assumption fails: edges (graph, x, y) of the finished graphs that it rules out."""

    name: str
    edges: Callable[[GraphFamily], Iterator[tuple[int, int, int]]]
    rests_on: str
    kind: Kind = Kind.PATTERN


RULES = (
    Entry("knowledge", Scope.KNOWLEDGE, Turn.KNOWLEDGE, within.only_allowed_direction, A_TEST,
          "your knowledge allows no other direction"),
    Entry("time", Scope.KNOWLEDGE, Turn.KNOWLEDGE, None, A_TEST,
          "nothing causes what was before"),
    Entry("reads", Scope.KNOWLEDGE, Turn.KNOWLEDGE, None, SUFFICIENCY,
          "given all of its causes {effect} differs with {cause}"),
    Entry("deterministic", Scope.KNOWLEDGE, Turn.KNOWLEDGE, None, A_TEST,
          "{effect} was made out of {cause}"),
    Entry("collider", Scope.WITHIN, Turn.COLLIDERS, within.collider, A_TEST,
          "{via} and {cause} are separated{set}, not given {effect}: a collider"),
    Entry("A1", Scope.ACROSS, Turn.ANCESTRY, None, ACYCLICITY,  # follows from others; saved results may name it
          "{system} is a known {kin} of {via}"),
    Entry("A2", Scope.ACROSS, Turn.ANCESTRY, across.from_ancestor_to_descendant, ACYCLICITY,
          "{cause} is a known ancestor of {via} and {effect} a known descendant"),
    Entry("A3", Scope.ACROSS, Turn.ANCESTRY, across.into_ancestor, ACYCLICITY,
          "{cause} leads to {effect}, an ancestor of {via}, and no cycle of any contexts may meet {via}"),
    Entry("V1", Scope.ACROSS, Turn.CHANGES, across.vanishing_from_unchanged, SUFFICIENCY,
          "{lost} is missing in {source} and only its effect can be a child of {context}"),
    Entry("V4", Scope.ACROSS, Turn.CHANGES, across.vanishing_arrow, SUFFICIENCY,
          "{lost} is missing in {source}, so {context} changes the causes of {effect}"),
    Entry("F", Scope.ACROSS, Turn.CHANGES, across.flipping_arrow, SUFFICIENCY,
          "the edge between {effect} and {via} turns around in {source}, so {context} causes both"),
    Entry("indicator", Scope.ACROSS, Turn.CHANGES, None, SUFFICIENCY,
          "{lost} is missing in {source}, and only {effect} can be an effect of {context}"),
    Entry("T1", Scope.ACROSS, Turn.COPIES, across.same_direction, SUFFICIENCY,
          "it points so in {source}, and only edges between two children of {context} can turn around"),
    Entry("R1", Scope.WITHIN, Turn.CONSEQUENCES, within.away_from_collider, A_TEST,
          "the other direction would make {cause} a collider of {via} and {effect}"),
    Entry("R2", Scope.WITHIN, Turn.CONSEQUENCES, within.away_from_cycle, A_TEST,
          "the other direction would close a cycle through {via}"),
    Entry("R3", Scope.WITHIN, Turn.CONSEQUENCES, within.double_triangle, A_TEST,
          "the other direction would close a cycle or make a collider with {via}"),
    Entry("R4", Scope.WITHIN, Turn.CONSEQUENCES, within.long_triangle, A_TEST,
          "the other direction would close a cycle or make a collider with {via}"),
    Entry("knowledge", Scope.KNOWLEDGE, Turn.KNOWLEDGE, ancestral.known_ends, A_TEST,
          "your knowledge says so", Kind.PAG),
    Entry("collider", Scope.WITHIN, Turn.COLLIDERS, ancestral.collider, A_TEST,
          "{via} and {cause} are separated{set}, not given {effect}", Kind.PAG),
    Entry("R1", Scope.WITHIN, Turn.CONSEQUENCES, ancestral.no_new_collider, A_TEST,
          "{effect} does not cause {via}, and is no collider of {via} and {cause}", Kind.PAG),
    Entry("R2", Scope.WITHIN, Turn.CONSEQUENCES, ancestral.no_cycle, A_TEST,
          "{effect} causing {cause} would close a cycle through {via}", Kind.PAG),
    Entry("R3", Scope.WITHIN, Turn.CONSEQUENCES, ancestral.double_triangle, A_TEST,
          "{effect} causing {cause} would make {cause} a collider of {via}, or close a cycle", Kind.PAG),
    Entry("R4", Scope.WITHIN, Turn.CONSEQUENCES, ancestral.discriminating_path, A_TEST,
          "a path between {via} shows it (a discriminating path)", Kind.PAG),
    Entry("R8", Scope.WITHIN, Turn.CONSEQUENCES, ancestral.through_an_effect, A_TEST,
          "{effect} causes {via}, which causes {cause}", Kind.PAG),
    Entry("R9", Scope.WITHIN, Turn.CONSEQUENCES, ancestral.around_the_edge, A_TEST,
          "even without it {effect} would cause {cause}, through {via}", Kind.PAG),
    Entry("R10", Scope.WITHIN, Turn.CONSEQUENCES, ancestral.two_ways_round, A_TEST,
          "{effect} causes one of {via}, and either leads to {cause}", Kind.PAG),
    Entry("V", Scope.ACROSS, Turn.CONSEQUENCES, descent.vanishing_from_no_effect, SUFFICIENCY,
          "the edge {via} - {cause} is missing in {source}, and {effect} does not cause {via}", Kind.PAG),
    Entry("V*", Scope.ACROSS, Turn.CONSEQUENCES, descent.vanishing_from_separated, SUFFICIENCY,
          "the edge {via} - {cause} is missing in {source} given what separates {via} and {effect}", Kind.PAG),
    Entry("U", Scope.KNOWLEDGE, Turn.CONSEQUENCES, descent.unconfounded_context, UNCONFOUNDED,
          "you say that nothing hidden causes {effect} or {cause} as well", Kind.PAG),
)  # fmt: skip

CHECKS = (
    Check("T1'", across.lost_from_cause, SUFFICIENCY),
    Check("V2", across.lost_between_unchanged, SUFFICIENCY),
    Check("V2", descent.lost_between_no_effects, SUFFICIENCY, Kind.PAG),
)


def rule_named(name: str, kind: Kind = Kind.PATTERN) -> Entry:
    """The rule of that name for graphs of that kind."""
    return next(rule for rule in RULES if (rule.name, rule.kind) == (name, kind))


def rule_groups(kind: Kind, with_contexts: bool) -> dict[Turn, list[Entry]]:
    """The rules that propose something, by turn; without contexts, only those that look at no other graph."""
    chosen = [rule for rule in RULES if rule.kind is kind and rule.propose is not None
              and (with_contexts or rule.scope is not Scope.ACROSS)]  # fmt: skip
    return {turn: list(group) for turn, group in groupby(sorted(chosen, key=_turn), key=_turn)}


def proposals(rules: Iterable[Entry], family: GraphFamily) -> Iterator[tuple[str, Proposal]]:
    """What a group of rules asks for, each with the name of its rule."""
    for rule in rules:
        if rule.propose is not None:
            yield from ((rule.name, proposal) for proposal in rule.propose(family))


def doubts(kind: Kind, family: GraphFamily) -> Iterator[Doubt]:
    """What the checks for graphs of that kind find in the finished ones."""
    return (Doubt(check.name, *edge) for check in CHECKS if check.kind is kind for edge in check.edges(family))


def suspect(name: str) -> str:
    """What is in doubt if a rule or a check of that name fails."""
    return next((entry.rests_on for entry in (*RULES, *CHECKS) if entry.name == name), A_TEST)


def _turn(rule: Entry) -> Turn:
    return rule.turn
