"""The first card of a report: what differs between the contexts, and what to be careful about.

It is plain HTML, so that it can be read without a script, and printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.drawing.names import printable
from causalcontext.drawing.strokes import shown
from causalcontext.errors import listed
from causalcontext.graphs.endpoints import as_written, mark_of
from causalcontext.graphs.lag_names import at
from causalcontext.results.changes import Change
from causalcontext.results.series import copies_in, series_of
from causalcontext.results.slope_fits import RowFits, compare
from causalcontext.results.slopes import Slope
from causalcontext.results.verdicts import ChangeVerdict, ChangeVerdicts
from causalcontext.results.violations import is_curved

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

MOST_STORIES = 12
MOST_FINDINGS = 5
MOST_NAMED = 4
MOST_CONTEXTS = 6
"""Of more contexts not all pairs of slopes are told."""
TWO_SIDED_95 = 1.96


class Story(NamedTuple):
    """One difference in words: an edge, the contexts that have it and those that lack it, or have another slope."""

    edge: str
    present: str
    absent: tuple[str, ...]
    slopes: str
    verdict: str
    claimed: bool
    kind: str = "edge"


def answer(result: ContextGraphs, findings: Iterable[Finding]) -> str:
    """The card about a result and its diagnosis, or nothing where there is nothing to say."""
    parts = "".join([*_differences(result), *_cautions(findings)])
    return parts and f'<section class="card" id="answer" aria-label="The answer in short">{parts}</section>'


def stories(result: ContextGraphs) -> list[Story]:
    """Every edge that some contexts lack, and slopes that differ, those that may be claimed first.

    Contexts that are alike share a story; the slopes of many contexts are in `changes()` alone.
    """
    sayings = ChangeVerdicts(result)
    found = [story for pair in _partial(result) for story in _of_pair(result, sayings, *pair)]
    for one, other in combinations(range(len(result.contexts)), 2) if len(result.contexts) <= MOST_CONTEXTS else ():
        for change in sayings.between(one, other):
            x, y = (result.names.index(name) for name in (change.source, change.target))
            if change.kind == "slope" and all(graph.adjacency[x, y] for graph in result.graphs.values()):
                found.append(_of_slope(result, change, x, y, one, other))
    return sorted(found, key=lambda story: not story.claimed)


def _differences(result: ContextGraphs) -> Iterator[str]:
    if result.context is None or len(result.contexts) < 2:
        return
    yield "<h2>What differs between the contexts?</h2>"
    found = ([(_sentence(story), story.claimed) for story in stories(result)] if result.series is None
             else lagged_stories(result))  # fmt: skip
    if not found:
        yield f"<p>No edge differs: all {len(result.contexts)} contexts have the same ones.</p>"
        return
    claimed = sum(is_claimed for _, is_claimed in found)
    may = f"{claimed} difference{'' if claimed == 1 else 's'} may be claimed, {len(found) - claimed} may not"
    yield f"<p>{may}.</p><ul>"
    yield from (f'<li dir="auto">{escape(sentence)}</li>' for sentence, _ in found[:MOST_STORIES])
    yield "</ul>"
    if len(found) > MOST_STORIES:
        more = len(found) - MOST_STORIES
        yield f"<p>{more} more {'is' if more == 1 else 'are'} in doubt as well; changes() has them all.</p>"


def lagged_stories(result: ContextGraphs) -> list[tuple[str, bool]]:
    """With lags, every link that differs between two contexts in a sentence, and whether that may be claimed."""
    errors = {(row.source, row.target, row.context): row.own_error for row in series_of(result).slopes}
    rows = [row for pair in combinations(result.contexts, 2) for row in result.changes(*pair).to_dict("records")]
    kept = [row for row in rows if row["kind"] in ("edge", "slope")]
    return sorted(((_lagged_sentence(result, row, errors), row["claimed"]) for row in kept), key=lambda one: not one[1])


def _lagged_sentence(result: ContextGraphs, row: dict[Any, Any], errors: dict[tuple[str, str, Any], float]) -> str:
    names = [shown(row[end]) for end in ("source", "target")]
    sides = ((row["present"], row["effect_present"]), (row["absent"], row["effect_absent"]))
    turned = sides[0][1] * sides[1][1] < 0
    what = "turns its sign" if turned else "changes its slope"
    if row["kind"] == "edge":
        what = f"is found in {shown(str(row['present']))} only"
    read = copies_in(result.reads.get(row["target"]))
    if any(lags != (0,) for _, lags in read):
        copies = [" or ".join(shown(at(name, lag)) for lag in lags) for name, lags in read]
        what += f" (by the value of {' and '.join(copies)})"
    slopes = []
    for value, found in sides:
        interval = _interval(Slope(found, errors.get((row["source"], row["target"], value), np.nan), np.nan, 0))
        slopes.append(f"{interval or format(found, '.2g')} in {shown(str(value))}")
    verdict = _verdict(ChangeVerdict(bool(row["claimed"]), str(row["reason"])))
    return f"{names[0]} {row['mark']} {names[1]} {what}: its slope is {', '.join(slopes)}. {verdict}"


def _cautions(findings: Iterable[Finding]) -> Iterator[str]:
    """The findings that matter most; what was said about differences is not said again."""
    severe = [finding for finding in findings if finding.severity > Severity.NOTE]
    above = [f for f in severe if f.evidence.get("doubt") or f.evidence.get("cause") == "several"]
    found = [finding for finding in severe if finding not in above][:MOST_FINDINGS]
    if found:
        yield "<h2>What to be careful about</h2><ul>"
        texts = ("; ".join(filter(None, (finding.message, finding.advice))) for finding in found)
        yield from (f'<li dir="auto">{escape(printable(text))}</li>' for text in texts)
        yield "</ul>"


def _sentence(story: Story) -> str:
    what = f"is found in {story.present} and not in {listed(story.absent, MOST_NAMED)}"
    return f"{story.edge} {'changes its slope' if story.kind == 'slope' else what}{story.slopes}. {story.verdict}"


def _partial(result: ContextGraphs) -> Iterator[tuple[int, int]]:
    """Pairs of system variables that some contexts have an edge between, and others have not."""
    adjacent = np.stack([graph.adjacency for graph in result.graphs.values()])
    some = np.triu(adjacent.any(axis=0) & ~adjacent.all(axis=0))
    yield from ((x, y) for x, y in np.argwhere(some).tolist() if not {x, y}.intersection(result.cells.positions))


def _of_pair(result: ContextGraphs, sayings: ChangeVerdicts, x: int, y: int) -> Iterator[Story]:
    graphs = [result.graphs[value] for value in result.contexts]
    having = [place for place, graph in enumerate(graphs) if graph.adjacency[x, y]]
    present = max(having, key=lambda place: (result.data.rows[place], -place))
    source, target = as_written(graphs[present].endpoints, x, y)
    alike: dict[ChangeVerdict | None, list[int]] = {}
    for absent in (place for place in range(len(graphs)) if place not in having):
        alike.setdefault(sayings.about(source, target, present, absent), []).append(absent)
    names = [shown(result.names[z]) for z in (source, target)]
    marks = {mark_of(graphs[place].endpoints, source, target) for place in having}
    edge = f"{names[0]} {marks.pop() if len(marks) == 1 else '-'} {names[1]}"
    for said, places in alike.items():
        yield Story(edge, _listed(result, having), tuple(_shown(result, place) for place in places),
                    _slopes(result, source, target, present, places[0]), _verdict(said),
                    said is not None and said.claimed, "edge" if said is None else said.kind)  # fmt: skip


def _of_slope(result: ContextGraphs, change: Change, x: int, y: int, one: int, other: int) -> Story:
    """A link that all contexts have, with another slope in one of two."""
    said = ChangeVerdict(change.claimed, change.reason, change.kind)
    return Story(f"{shown(change.source)} {change.mark} {shown(change.target)}", _shown(result, one),
                 (_shown(result, other),), _slopes(result, x, y, one, other), _verdict(said), said.claimed,
                 said.kind)  # fmt: skip


def _slopes(result: ContextGraphs, x: int, y: int, present: int, absent: int) -> str:
    """The slopes of both contexts with their intervals, where there are any."""
    if result.moments is None:
        return ""
    found = compare(RowFits(result, result.moments), x, y, present, absent)
    texts = [_interval(side) for side in (found.here, found.there)]
    if not all(texts):
        return ""
    if found.shares:
        what = "curve" if is_curved(result) else "effect"
        return f": {texts[1]} of its {what} remains in {_shown(result, absent)}"
    return f": its slope is {texts[0]} in {_shown(result, present)} and {texts[1]} in {_shown(result, absent)}"


def _interval(found: Slope) -> str:
    if not np.isfinite(found.value) or not np.isfinite(found.error):
        return ""
    reach = TWO_SIDED_95 * found.error
    return f"{found.value:.2g} ({found.value - reach:.2g} to {found.value + reach:.2g})"


def _verdict(said: ChangeVerdict | None) -> str:
    if said is None:
        return "Whether the mechanism differs could not be tested."
    if said.claimed:
        return "The difference may be claimed."
    return f"No claim: {said.doubt}." if said.doubt else "No claim: the slopes do not differ clearly."


def _listed(result: ContextGraphs, places: Sequence[int]) -> str:
    if len(places) > MOST_NAMED:
        return f"{len(places)} of {len(result.contexts)} contexts"
    return ", ".join(_shown(result, place) for place in places)


def _shown(result: ContextGraphs, place: int) -> str:
    return shown(str(result.contexts[place]))
