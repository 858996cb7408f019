"""Explanations of edges, of missing edges and of their ends, by tests or scores: in words, by
context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from causalcontext.errors import OptionError, listed, value_text
from causalcontext.graphs.endpoints import Endpoint, GraphKind, mark_of
from causalcontext.graphs.lag_names import at, split
from causalcontext.results.changes import found_changes, inside_words, moved_words
from causalcontext.results.equations import ORDERED
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.few_rows import untested_words
from causalcontext.results.levels_and_spreads import KINDS
from causalcontext.results.log import Decision, Entries
from causalcontext.results.series import context_nodes, copies_in, series_of
from causalcontext.results.settings import (
    CLEAR_MARGIN,
    LARGEST_MARGIN,
    MOST_COMPARED_CONTEXTS,
    MOST_CONTEXTS_LISTED,
    TIE_MARGIN,
)
from causalcontext.results.structure_words import missing_link_words
from causalcontext.results.violations import by_ranks
from causalcontext.results.words import fixed_words, p_words
from causalcontext.search.family import Origin
from causalcontext.search.rules import Scope, rule_named
from causalcontext.views import REASON_TEXT, Reason

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs


MEANINGS = {
    "-->": "{x} causes {y}, perhaps through others; a hidden cause of both is not excluded.",
    "o->": "{y} does not cause {x}; {x} causes {y}, or a hidden cause acts on both.",
    "<->": (
        "Neither causes the other: a hidden cause acts on both, or a test erred (with few rows,"
        " most are wrong)."
    ),
    "o-o": "Either may cause the other, or a hidden cause may act on both.",
    "x-x": "A hidden common cause, or two separations that contradict each other.",
    "x->": "{y} does not cause {x}; whether {x} causes {y} is contested.",
    "": "In this context neither a direct mechanism nor a hidden common cause links them.",
}
"""The meaning of the marks of a PAG in one context."""
_SAID = {
    Decision.PRESENT: True,
    Decision.REQUIRED: True,
    Decision.UNTESTABLE: True,
    Decision.ABSENT: False,
    Decision.FORBIDDEN: False,
}
"""True for the decisions of a deciding test that keep the edge."""


def explained(result: ContextGraphs, x: str, y: str, apart: bool = False) -> list[str]:
    """The story of a pair: a line for all contexts of which the same is said, or with `apart` for
    every context.

    What else is to be said follows. Of two variables of a window the earlier one comes first.
    """
    untested = "" if result.thin is None else untested_words(result.thin, x, y)
    if untested and {x, y} <= set(result.names):
        return [untested]
    return [
        *_searched(result.searched, x, y, apart),
        *(() if result.thin is None else result.thin.stories),
    ]


def _searched(result: ContextGraphs, x: str, y: str, apart: bool) -> list[str]:
    """The story of a pair, of the contexts that were searched alone.

    Contexts whose sentence is the same share a line, unless `apart`; claims about the level or the
    spread of a variable follow, where one of the two is a context.
    """
    if result.position(x) == result.position(y):
        raise OptionError(f"explain needs two different variables, got {x!r} twice")
    if result.series is not None:
        unsearched = _unsearched_windows(result, x, y)
        if unsearched:
            return [unsearched]
        x, y = (x, y) if split(x)[1] >= split(y)[1] else (y, x)
    # The contexts by what is said of them, before their names and after.
    stories: dict[tuple[str, str, int | None], list[str]] = {}
    elsewhere = {} if result.evidence is not None else _on_other_rows(result, x, y)
    for context_index, value in enumerate(result.contexts):
        mark = result.graphs[value].mark(x, y)
        verdict, edge = ("present", f" ({x} {mark} {y})") if mark else ("absent", "")
        if result.evidence is not None:
            words = f": {_by_score(result, result.evidence, x, y, context_index)}."
        else:
            words = _tested_words(result, x, y, context_index, elsewhere.get(context_index))
        key = (verdict, f"{edge}{words}", context_index if apart else None)
        stories.setdefault(key, []).append(value_text(value))
    lines = [
        f"{verdict}{_in_contexts(result, values)}{story}"
        for (verdict, story, _), values in stories.items()
    ]
    return lines if result.evidence is None else [*lines, *_of_mechanism(result, x, y)]


def _unsearched_windows(result: ContextGraphs, x: str, y: str) -> str:
    """The sentence about a pair over time that no search asks about, "" about any other.

    Of two variables in the past it names the same pair one or more steps later, since links repeat.
    """
    assert result.series is not None
    (name, lag), (late, later_lag) = sorted((split(x), split(y)), key=lambda pair: -pair[1])
    if later_lag:
        return (
            f"{x} and {y} are both in the past; links repeat, so this is the pair"
            f" {at(name, lag - later_lag)} and {late}: explain that"
        )
    searched = result.series.copies
    is_context = name in {result.names[position] for position in result.cells.positions}
    if result.evidence is not None or not is_context or result.settings.method == "pc-m":
        return ""
    if lag in searched:
        return ""
    return (
        f"{at(name, lag)} takes no part in the search: mechanisms may depend on {name} at lags "
        f"{', '.join(map(str, searched))} (context_lags)"
    )


def _tested_words(
    result: ContextGraphs, x: str, y: str, context_index: int, elsewhere: float | None
) -> str:
    """The sentences about a pair after a search by tests: the deciding test, the mark, the rule
    that set its ends.
    """
    value = result.contexts[context_index]
    has_edge = bool(result.graphs[value].mark(x, y))
    sentence = _by_test(result, x, y, context_index, elsewhere)
    slot = result.log.slot(result.position(x), result.position(y))
    decision = Decision(int(result.log.at(context_index, slot).decision))
    if _SAID.get(decision, has_edge) != has_edge:
        # as it may of graphs that were given
        by = f"the search by {result.settings.method} found otherwise"
        sentence = f" in this graph; {by}{sentence}"
    meaning = _meaning(result, context_index, x, y)
    origin = _origin_words(result, context_index, x, y)
    return " ".join(filter(None, (f"{sentence}.", meaning, origin)))


def _in_contexts(result: ContextGraphs, values: Sequence[str]) -> str:
    """The contexts of which one sentence speaks; empty without a context variable."""
    return (
        "" if result.context is None else f" in {listed(values, MOST_CONTEXTS_LISTED, 'context')}"
    )


def _of_mechanism(result: ContextGraphs, x: str, y: str) -> Iterator[str]:
    """The claims that may be made about a context and the level or the spread of a variable, if one
    of two is a context.

    Contexts are compared two at a time, up to `MOST_COMPARED_CONTEXTS` of them: more would make a
    long list, and each comparison reads rows.
    """
    ends = {result.position(x), result.position(y)}
    has_moments = result.moments is not None or result.series is not None
    if (
        not has_moments
        or len(ends & context_nodes(result)) != 1
        or not 2 <= len(result.contexts) <= MOST_COMPARED_CONTEXTS
    ):
        return
    for pair in combinations(result.contexts, 2):
        for change in found_changes(result, *pair):
            if change.claimed and change.kind in KINDS and {change.source, change.target} == {x, y}:
                yield f"{moved_words(change, by_ranks(result))}."


def _by_test(
    result: ContextGraphs, x: str, y: str, context_index: int, elsewhere: float | None
) -> str:
    """The sentence about an edge or its absence, by the test that decided; its p-value on the other
    rows, if it can be asked.

    It has the conditions, the rows and the p-value: of an edge those of the weakest test, of a
    missing one those of the test that separated the pair. `elsewhere` is the p-value on the other
    rows, None where it was not asked.
    """
    a = result.position(x)
    b = result.position(y)
    entry = result.log.at(context_index, result.log.slot(a, b))
    decision = Decision(int(entry.decision))
    if decision not in (Decision.PRESENT, Decision.ABSENT):
        return _untested_words(result, x, y, decision, entry)
    origins = (result.origins.get((context_index, *pair)) for pair in ((a, b), (b, a)))
    where = _query_words(result, entry)
    p = p_words(float(entry.p))
    if decision is Decision.ABSENT:
        story = f"{x} and {y} are independent{where}, {p}"
    elif any(origin is not None and origin.rule == "reads" for origin in origins):
        # put back after a separation
        story = f"{x} and {y} are dependent{where}, {p}: a smaller conditioning set had hidden it"
    else:
        story = f"{x} and {y} are dependent in every test, most weakly{where}, {p}"
    return (
        f": {story}{_other_view(result, entry, context_index, elsewhere)}{_left_out_words(entry)}"
    )


def _untested_words(
    result: ContextGraphs, x: str, y: str, decision: Decision, entry: Entries
) -> str:
    """The reason why no test decided about a pair.

    It is knowledge, a function of a column, graphs that were given, a method that sees one context
    at a time, an interruption, or rows on which no test can be run.
    """
    if decision is Decision.REQUIRED:
        return ": the link is required by your knowledge; it was not tested"
    if decision is Decision.FORBIDDEN:
        return ": your knowledge rules the link out; it was not tested"
    if decision is Decision.NOT_SEARCHED:
        return _not_searched_words(result, x, y)
    if entry.untested == 0:
        return ": the search was interrupted before this pair was tested"
    why = REASON_TEXT[Reason(int(entry.reason))]
    return f", but untestable: no test of {x} and {y} could be run ({why}), so the edge stays"


def _not_searched_words(result: ContextGraphs, x: str, y: str) -> str:
    """The reason why the search passed a pair over."""
    function = next((name for name in (x, y) if name in result.made_of), None)
    if function is not None:
        source = result.made_of[function]
        return f": {function} is a function of {source}; its links follow from missing edges"
    if (result.log.decision == Decision.NOT_SEARCHED).all():
        return f": the graphs were given, and {result.settings.method} ran no tests"
    return (
        f": {result.settings.method} looks at one context at a time, where {result.context} is"
        " constant, so it cannot test links at it"
    )


def _query_words(result: ContextGraphs, entry: Entries) -> str:
    """The conditions of the deciding test, and the rows that answered it."""
    n = int(entry.n)
    fixed = result.fixed(int(entry.view))
    if fixed:
        rows = f"among the {n} rows with {fixed_words(fixed, result.made_of)}"
    elif result.context is None or n == sum(result.data.rows):
        rows = f"on all {n} rows"
    else:
        rows = f"on {n} rows"
    if not entry.conditions:
        return f" {rows}"
    return f" given {', '.join(result.columns[z] for z in entry.conditions)} {rows}"


def _left_out_words(entry: Entries) -> str:
    """The queries of a pair that could not be run, and the sets that were not tested."""
    words = ""
    if count := int(entry.untested):
        queries = "query" if count == 1 else "queries"
        words = f" ({count} {queries} of this pair could not be run)"
    if cut := int(entry.cut):
        words += f" (not all sets of {cut} and more neighbours were tested)"
    return words


def _on_other_rows(result: ContextGraphs, x: str, y: str) -> dict[int, float]:
    """The p-values of the deciding tests on the other rows, where these can be asked: all, or those
    of the context.

    A test inside a context is asked again on all rows, and one on all rows inside the context.
    Tests with a context variable among their columns have no other rows. One call answers for all
    contexts.
    """
    contexts = result.cells.positions
    queries = {}
    for context_index in (
        range(len(result.contexts)) if result.prepared is not None and contexts else ()
    ):
        asked = result.log.query(context_index, result.position(x), result.position(y))
        decision = Decision(
            int(result.log.at(context_index, result.log.slot(asked.x, asked.y)).decision)
        )
        tested = decision in (Decision.PRESENT, Decision.ABSENT)
        if tested and not set(contexts).intersection((asked.x, asked.y, *asked.given)):
            other = 0 if asked.view else result.cells.number(result.cells.cell(context_index))
            queries[context_index] = asked._replace(view=other)
    if not queries or result.prepared is None:
        return {}
    return dict(zip(queries, result.prepared.answer([*queries.values()]).p.tolist(), strict=True))


def _other_view(result: ContextGraphs, entry: Entries, context_index: int, p: float | None) -> str:
    """The answer to the same question on the other rows, in words.

    Where these say something else than the graph does, it is said why the graph does not follow
    them.
    """
    if p is None:
        return ""
    inside = int(entry.view) > 0
    words = "on all rows" if inside else f"within {value_text(result.contexts[context_index])}"
    if np.isnan(p):
        return f"; {words} it could not be tested"
    dependent = p <= result.settings.alpha
    if dependent == (int(entry.decision) == Decision.PRESENT):
        return f"; {words} {p_words(p)}"
    if dependent:
        reason = "which is due to the other contexts" if inside else inside_words(result, p)
    else:
        why = "pooling the contexts hides it" if inside else "these rows alone are not enough"
        reason = f"which does not show it: {why}"
    return f"; {words} {p_words(p)}, {reason}"


def _by_score(result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str, r: int) -> str:
    """Sentences about a pair: knowledge or the score, the slope, the model of the effect, the
    shape, the direction.

    `r` is the place of the context.
    """
    slot = evidence.slot(result.position(x), result.position(y))
    decision = Decision(int(evidence.decision[r, slot]))
    difference = float(evidence.difference[r, slot])
    if decision is Decision.REQUIRED:
        return "the link is required by your knowledge"
    if decision is Decision.FORBIDDEN:
        return "your knowledge rules the link out"
    if np.isnan(difference):
        return _unscored_words(result, x, y)
    mark = result.graphs[result.contexts[r]].mark(x, y)
    effect = int(evidence.effect[r, slot])
    sentences = [] if mark else [missing_link_words(result, x, y, r)]
    sentences.append(_gain(bool(mark), difference))
    if result.series is None:
        sentences.append(_model(result, evidence, effect, r))
    else:
        sentences += _over_time(result, evidence, effect, x, y, r)
    if mark:
        sentences.append(_shape_words(result, evidence, x, y, r))
    sentences.append(_direction(result, evidence, x, y, r, mark))
    if words := _origin_words(result, r, x, y):
        sentences.append(
            f"not all models near the best one say so; {words.rstrip('.')} in the best one"
        )
    return "; ".join(text for text in sentences if text)


def _unscored_words(result: ContextGraphs, x: str, y: str) -> str:
    """The reason why a link has no score: the order in time, a function of a column, other causes
    of either, or knowledge.
    """
    if result.series is not None:
        return "no link between them could be scored in the order of the present that was found"
    function = next((name for name in (x, y) if name in result.made_of), None)
    if function is not None:
        return f"{function} is a function of {result.made_of[function]}"
    may = result.settings.knowledge.links(result.names).may
    a = result.position(x)
    b = result.position(y)
    if may[a, b] and may[b, a]:
        return "no link between them could be scored beside the other causes of either"
    return (
        "no link between them was scored: the best order of the variables leaves only the"
        " direction that your knowledge rules out"
    )


def _shape_words(result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str, r: int) -> str:
    """The shape of a link in the equation of its effect, "" where it has none."""
    pair = (result.position(x), result.position(y), r)
    shape = evidence.shape(*pair)
    if not shape:
        return ""
    if shape == "spread":
        return "the cause changes the spread of the noise and not the mean"
    spread = " and changes the spread of the noise" if evidence.is_spread(*pair) else ""
    return f"the link is {_SHAPES[shape]}{spread}"


def _gain(present: bool, difference: float) -> str:
    """The gain of the score by a link, in words; where that speaks against the graph, the sentence
    says so.

    `difference` is in nats: the score of the best equation of the effect with the link less that
    without it, all else being equal. Its sign may differ from the graph, which is a whole: a link
    alone may gain what an order forbids.
    """
    size = f"{abs(difference):.1f} nats"
    if present == (difference > 0.0):
        return f"the link {'raises' if present else 'would lower'} the score of the model by {size}"
    if present:
        return (
            "the best model found has the link, although without it alone its score would be"
            f" {size} higher"
        )
    return (
        f"the best model found has no such link, although it alone would raise the score by {size}:"
        " do not take its absence as settled"
    )


def _over_time(
    result: ContextGraphs, evidence: ScoreEvidence, effect: int, x: str, y: str, r: int
) -> list[str]:
    """The slope of a link, and on the context at which lag the mechanism of its effect depends."""
    name = result.names[effect]
    model = evidence.model[effect]
    value = result.contexts[r]
    slopes = [
        f"slope {row.slope:.3g} (standard error {row.error:.2g})"
        for row in series_of(result).slopes
        if row.present
        and (row.source, row.target) == ((x, y) if name == y else (y, x))
        and row.context == value
        and type(row.context) is type(value)
    ]
    if model == "context":
        return [*slopes, f"{name} is the context, {_odds(evidence, effect)}"]
    if result.context is None:
        return slopes
    read = copies_in(result.reads.get(name))
    shown = [
        context + " or ".join("(t)" if lag == 0 else f"(t-{lag})" for lag in lags)
        for context, lags in read
    ]
    undecided = ", the data do not decide which" if any(len(lags) > 1 for _, lags in read) else ""
    depends = (
        f"depends on {' and '.join(shown)}{undecided}"
        if read
        else f"does not depend on {result.context}"
    )
    return [*slopes, f"{name}'s mechanism {depends}{_OVER_TIME.get(model, '')}"]


_OVER_TIME = {
    "pooled": " and is the same in all contexts",
    "shifted": " and changes its intercept with it",
    "partitioned": " and changes as a whole with it",
    "mixed": " and changes some slopes with it",
}


def _odds(evidence: ScoreEvidence, context: int) -> str:
    """The family of the regression of a context or a category, in words."""
    ordered = (
        evidence.mechanisms is not None and evidence.mechanisms.scales[context].kind == ORDERED
    )
    return "its values in order with proportional odds" if ordered else "a multinomial logit"


def _model(result: ContextGraphs, evidence: ScoreEvidence, effect: int, r: int) -> str:
    """The equation of a variable in a context, in words: what it shares with other contexts, and
    its rows.
    """
    name = result.names[effect]
    n = int(evidence.rows[r, effect])
    if evidence.model[effect] == "context":
        return f"{name} is the context, {_odds(evidence, effect)} on {n} rows"
    if result.context is None:
        return f"{name} has one regression on {n} rows"
    if evidence.model[effect] in _SHARED:
        return f"{name}'s {_SHARED[evidence.model[effect]]} ({n} rows)"
    others = [value_text(value) for value in evidence.merged(effect, r, result.contexts)]
    shared = "of its own" if len(others) == 1 else f"shared by {', '.join(others)}"
    return f"{name} has a mechanism {shared} here ({n} rows)"


_SHARED = {
    "pooled": "mechanism is the same in all contexts",
    "shifted": "intercept differs between contexts, its slopes do not",
    "mixed": "intercept and some slopes differ between contexts",
}
_SHAPES = {
    "linear": "a straight line",
    "curved": "a curve",
    "step": "a step",
    "by category": "a level for every category",
    "product": "a product with another cause",
}


def _direction(
    result: ContextGraphs, evidence: ScoreEvidence, x: str, y: str, r: int, mark: str
) -> str:
    """The sentence about the direction of a link, with its margin in nats.

    The margin is what the best model loses where the direction is forbidden. Two models that score
    the same leave the link open, and margins beyond `LARGEST_MARGIN` were not followed.
    """
    slot = evidence.slot(result.position(x), result.position(y))
    margin = float(evidence.margin[r, slot]) if evidence.margin.size else float("nan")
    if mark == "o-o" and not margin >= TIE_MARGIN:
        return "models with either direction score the same"
    if not mark or np.isnan(margin):
        return ""
    least = "at least " if margin >= LARGEST_MARGIN else ""
    shown = f"{margin:.1f}" if margin < CLEAR_MARGIN else f"{margin:.0f}"
    without = f"without this direction scores {least}{shown} nats less"
    if mark != "o-o":
        return f"the best model {without}"
    cause, effect = (x, y) if result.names[int(evidence.effect[r, slot])] == y else (y, x)
    return f"the best model has {cause} --> {effect}, the best one {without}"


def _meaning(result: ContextGraphs, context_index: int, x: str, y: str) -> str:
    """The meaning of the edge of a PAG, or that there is none; empty for a CPDAG.

    A PAG allows for hidden common causes, so that "-->" says that the one is a cause of the other,
    perhaps with a hidden cause beside, and "o->" that the other is no cause of the one. Of a
    function of a column the edge is about the column.
    """
    graph = result.graphs[result.contexts[context_index]]
    if graph.kind is GraphKind.CPDAG:
        return ""
    function = next((name for name in (x, y) if name in result.made_of), None)
    if function is not None:
        other = y if function == x else x
        mark = graph.mark(function, other)
        if mark == "-->":
            return f"{function} acts on {other}, or on something that leads to it."
        return (
            f"{function} may act on {other}: an edge of it is missing in some contexts."
            if mark[:1] == "o"
            else ""
        )
    for first, second in ((x, y), (y, x)):
        words = MEANINGS.get(
            mark_of(graph.endpoints, graph.position(first), graph.position(second))
        )
        if words is not None:
            return words.format(x=first, y=second)
    return ""


def _origin_words(result: ContextGraphs, context_index: int, x: str, y: str) -> str:
    """The sentences about the ends of x - y in one context; empty without an end whose origin is
    known.

    Each names the rule that set the end, and what the rule rested on. An arrow that follows from a
    tail at the other end says so, since PAGs have no cycles.
    """
    sentences = []
    graph = result.graphs[result.contexts[context_index]]
    for cause, effect in ((x, y), (y, x)):
        origin = result.origins.get(
            (context_index, result.position(cause), result.position(effect))
        )
        if origin is not None:
            end = Endpoint(graph.endpoints[graph.position(cause), graph.position(effect)])
            # where an end is a whole direction: one arrow and one tail
            cpdag = graph.kind is GraphKind.CPDAG
            what = f"{cause} --> {effect}" if cpdag else f"{_ENDPOINT_WORDS[end]} at {effect}"
            sentences.append(
                f"{what} by {origin.rule}:"
                f" {_because(result, origin, context_index, cause, effect)}."
            )
        elif (
            graph.kind is GraphKind.PAG
            and graph.mark(cause, effect) == "-->"
            and (context_index, result.position(effect), result.position(cause)) in result.origins
        ):
            sentences.append(
                f"An arrow at {effect}, since {cause} causes it and there are no cycles."
            )
    return " ".join(sentences)


_ENDPOINT_WORDS = {
    Endpoint.ARROW: "An arrow",
    Endpoint.TAIL: "A tail",
    Endpoint.CONFLICT: "Contested",
}


def _because(
    result: ContextGraphs, origin: Origin, context_index: int, cause: str, effect: str
) -> str:
    """The words of the rule that set an end, with the names of this case.

    Rules have their words in `search.rules`, with places for the cause, the effect, the variables
    in between, the context, and the set that separated the ends of a collider. Of a rule that was
    applied in another context the sentence ends with that context.
    """
    rule = rule_named(origin.rule, result.graphs[result.contexts[context_index]].kind)
    via = " and ".join(result.names[v] for v in origin.via)
    system, kin = (effect, "descendant") if cause == via else (cause, "ancestor")
    words = rule.words.format(
        cause=cause,
        effect=effect,
        via=via,
        context=_context_of_rule(result, origin, context_index, cause),
        source=result.contexts[origin.graph],
        system=system,
        kin=kin,
        lost=f"the edge {via or cause} - {effect}",
        set=_separating_set(result, origin, cause) if "{set}" in rule.words else "",
    )
    if origin.graph == context_index or rule.scope is Scope.KNOWLEDGE or "{source}" in rule.words:
        return words
    apart = rule.kind is GraphKind.PAG and len(result.cells.positions) > 1
    shared = "the same here" if apart else "the same in all contexts"
    return f"{words} (found in {value_text(result.contexts[origin.graph])}, {shared})"


def _context_of_rule(result: ContextGraphs, origin: Origin, context_index: int, cause: str) -> str:
    """The context variable that a rule is about; of several the one that differs between the two
    contexts, or all of them.
    """
    names = [result.names[position] for position in result.cells.positions]
    if len(names) < 2:
        return str(result.context)
    if cause in names or split(cause)[0] in names:
        return cause
    differing = [result.names[z] for z in result.cells.differing(context_index, origin.graph)]
    return " and ".join(differing if len(differing) == 1 else names)


def _separating_set(result: ContextGraphs, origin: Origin, cause: str) -> str:
    """The set that separates the two ends of a collider, and on which rows, in words."""
    slot = result.log.slot(result.position(cause), origin.via[0])
    entry = result.log.at(origin.graph, slot)
    if entry.decision != Decision.ABSENT:
        return ""
    fixed = result.fixed(int(entry.view))
    given = [result.columns[z] for z in entry.conditions]
    rows = f"where {fixed_words(fixed, result.made_of)}" if fixed else "on all rows"
    return f" given {', '.join(given)} {rows}" if given else f" {rows}"
