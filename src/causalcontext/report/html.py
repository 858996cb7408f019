"""`result.report("report.html")`: one self-contained page that answers "why is this edge missing?"
with a click.

The page is three files in `page/` and one block of data. It asks nothing of a network, and a
content security policy forbids it to: only the one script whose hash is in the page may run. Its
first card, what differs between the contexts and what to be careful about, is plain HTML, so that
it can be read without a script, and printed.

The card about a cut that was looked for has its profile, and a slider over the graphs of other
cuts, in one layout, so that nothing moves but what depends on the choice.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.data.columns import number_text
from causalcontext.data.files import check_writable, write_whole
from causalcontext.data.frames import frame_of
from causalcontext.diagnostics.best_cut import endpoints_at
from causalcontext.diagnostics.findings import Diagnosis, Finding, Severity
from causalcontext.diagnostics.other_methods import ask_other_engine
from causalcontext.diagnostics.stability import Stability
from causalcontext.drawing.names import printable
from causalcontext.drawing.strokes import shown
from causalcontext.drawing.time_layout import result_layout
from causalcontext.errors import FileError, OptionError, listed, shortly, value_text
from causalcontext.graphs.endpoints import Endpoints, as_written, mark_of
from causalcontext.graphs.graph import Graph, union_endpoints
from causalcontext.graphs.lag_names import at
from causalcontext.progress import Count
from causalcontext.report.advice import in_a_report, in_python
from causalcontext.report.payload import Section, drawn, four_digits, marks, payload
from causalcontext.report.settings import (
    LEAST_PAIR_SHARE,
    MOST_CHANGES_TOLD,
    MOST_CONTEXTS_NAMED,
    MOST_FINDINGS_TOLD,
    MOST_PAIRED_CONTEXTS,
    MOST_SIDE_LABELS,
    MOST_SLIDER_CUTS,
    MOST_SLIDER_SECONDS,
    MOST_SLIDER_VARIABLES,
    TWO_SIDED_95,
)
from causalcontext.report.text import CAREFUL
from causalcontext.results.changes import (
    ChangeVerdict,
    ChangeVerdicts,
    found_changes,
    moved_words,
    verdict_on,
)
from causalcontext.results.cut import CUT, Cut
from causalcontext.results.kept import NOT_ASKED, answers_of, questions_left
from causalcontext.results.levels_and_spreads import KINDS
from causalcontext.results.notes import About, about
from causalcontext.results.series import copies_in, series_of
from causalcontext.results.slope_fits import RowFits, compare
from causalcontext.results.slopes import Slope
from causalcontext.results.violations import by_ranks, is_curved
from causalcontext.version import __version__

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

Spoken = Callable[[str], str]
"""A sentence of the library as the place says it where the page is read."""
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
OTHER_FORMATS = (".pdf", ".png", ".svg", ".json", ".csv", ".docx")
"""Endings of names under which no program would open a page."""
NOT_ASKED_TITLE = "What was not asked"
TOLD_AS_WARNINGS = ("search", "model", "wrong cells")
"""The topics of findings that are warnings of the result, too."""
COLUMNS = ("edge", "context", "found in", "with this mark in")


def write_report(
    result: ContextGraphs,
    path: str | Path,
    *,
    title: str | None = None,
    stability: Stability | None = None,
    diagnose: bool = False,
    spoken: Spoken = in_python,
) -> None:
    """The page in a file, written whole or not at all; see `ContextGraphs.report`.

    That the file can be written is checked before anything is computed.
    """
    check_page(path)
    text = report_text(result, title=title, stability=stability, diagnose=diagnose, spoken=spoken)
    write_whole(path, text)


def report_text(
    result: ContextGraphs,
    *,
    title: str | None = None,
    stability: Stability | None = None,
    diagnose: bool = False,
    spoken: Spoken = in_python,
) -> str:
    """The page of a result, as text.

    Parameters
    ----------
    result : ContextGraphs
        The result that the page shows.
    title : str, optional
        The title of the page; by default it names the context.
    stability : Stability, optional
        Shares of samples to show, in place of those that the result keeps.
    diagnose : bool
        True asks the questions of a full report first (`ask_for_report`).
    spoken : callable
        The spelling of the library's sentences where the page is read.
    """
    if diagnose:
        ask_for_report(result)
    shares = answers_of(result).stability if stability is None else stability
    again = () if shares is None else (stability_section(result, shares),)
    return page(result, title, again, spoken)


def check_page(path: str | Path) -> None:
    """Return if the page can be written to the file, whose name promises no other format."""
    check_writable(path)
    if Path(path).suffix.lower() in OTHER_FORMATS:
        raise FileError(
            f"cannot save the report as {str(path)!r}: it is an HTML page, so its name must end"
            " with .html"
        )


def ask_for_report(result: ContextGraphs, progress: bool | Count = False) -> None:
    """Ask a result what a full report shows: its diagnosis, another engine about differences,
    probabilities of edges, and graphs with other cuts. Nothing is asked of a cut search.

    Each question keeps its answer, so that what was asked before costs nothing. Another engine is
    asked after a search by tests with several contexts, probabilities after a search by scores,
    which has orders to draw, and graphs with other cuts where a cut was looked for and found.
    """
    if not result.final:
        return
    searched = result.searched
    if result.evidence is None and len(searched.contexts) > 1:
        ask_other_engine(searched, progress is True)
    result.diagnose(progress=progress)
    if result.evidence is not None:
        result.probabilities(progress=progress is True)
    kept = answers_of(result)
    if may_try_cuts(searched) and kept.other_cuts is None:
        kept.other_cuts = tried_cuts(searched)


def page(
    result: ContextGraphs,
    title: str | None = None,
    sections: Sequence[Section] = (),
    spoken: Spoken = in_python,
) -> str:
    """The page as text: one HTML file without requests to anything outside.

    Parameters
    ----------
    result : ContextGraphs
        The result that the page shows, with the answers that it keeps.
    title : str, optional
        The title of the page; by default it names the context.
    sections : sequence of Section
        Cards that come after those of the result.
    spoken : callable
        The spelling of the library's sentences where the page is read.

    Returns
    -------
    str
        The script of the page is allowed by its hash alone, all names are escaped, and the record
        of the result stands inside a script element as JSON.
    """

    thin = result.thin
    result = result.searched
    diagnosis = answers_of(result).diagnosis or Diagnosis(())

    def told(sentence: str) -> str:
        return spoken(in_a_report(sentence, diagnosed=len(diagnosis) > 0))

    score_sections = [] if result.evidence is None else [Section("Scores", (), result.scores())]
    if thin is not None:
        score_sections.append(
            Section("Contexts with too few rows", (told(f"{thin.warning}."), *thin.stories))
        )
    if len(diagnosis):
        findings = diagnosis.to_frame().drop(columns="evidence")
        words = {name: list(map(told, findings[name])) for name in ("message", "advice")}
        score_sections.append(Section("Diagnosis", (), findings.assign(**words)))
    if result.wrong_cells is not None:
        score_sections.append(Section("Cells taken for wrong", (), result.flagged_cells()))
    default = "Causal graph" if result.context is None else f"Causal graphs by {result.context}"
    text = str(result.labeled_union)  # for readers without a script
    if result.series is not None:
        text = f"{result.summary}\n\nThe same, lag by lag:\n{text}"
    script = _part("report.js")
    cut = cut_panel(result)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {
        "SCRIPT_HASH": f"sha256-{digest}",
        "VERSION": escape(__version__),
        "TITLE": escape(printable(title or default)),
        "STYLE": _part("report.css"),
        "ANSWER": answer(result, diagnosis, told, spoken) + cut_card(result, cut),
        "TEXT": escape(text),
        "DATA": safe_json(payload(result, (*score_sections, *sections), told) | {"cut": cut}),
        "SCRIPT": script,
    }
    # In one pass, so that data which look like a name stay data.
    return re.sub(r"\{\{(\w+)\}\}", lambda name: values[name[1]], _part("report.html"))


def safe_json(content: Any) -> str:
    """JSON that can stand inside a script element: no `<`, `>` or `&`, whatever the data are.

    U+2028 and U+2029 end a line in scripts, though not in JSON, so they are spelled out as well.
    NaN and infinities, which JSON does not have, are an error.
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter, spelled in _UNSAFE.items():
        text = text.replace(letter, spelled)
    return text


def _part(name: str) -> str:
    """The text of a file of the page: its frame, its style or its script."""
    return files("causalcontext.report").joinpath("page", name).read_text(encoding="utf-8")


def stability_section(result: ContextGraphs, stability: Stability) -> Section:
    """Every edge with the share of samples that have it, and that have it with the same mark; the
    rarest come first.

    Pairs without an edge are there as well where most samples have one (`LEAST_PAIR_SHARE`). Shares
    of another result are refused: they would be read as if they were about this one.
    """
    if not isinstance(stability, Stability) or stability.result != result:
        what = "that of another result" if isinstance(stability, Stability) else shortly(stability)
        raise OptionError(
            f"stability is {what}, expected what result.stability() of this result returned"
        )
    edge_rows = stability.edges(0.0).to_dict("records")
    shares = sorted(edge_rows, key=lambda row: (row["present"], row.get(row["found"], 0.0)))
    rows = []
    for row in (row for row in shares if row["found"] or row["present"] >= LEAST_PAIR_SHARE):
        named = "all rows" if result.context is None else row["context"]
        named = ", ".join(map(str, named)) if isinstance(named, tuple) else str(named)
        edge = f"{row['x']}, {row['y']}: no edge here"
        again = ""
        if row["found"]:
            endpoints = result.graphs[row["context"]].endpoints
            x, y = as_written(endpoints, result.position(row["x"]), result.position(row["y"]))
            edge = f"{result.names[x]} {mark_of(endpoints, x, y)} {result.names[y]}"
            again = f"{row[row['found']]:.0%}"
        rows.append((edge, named, f"{row['present']:.0%}", again))
    line = (
        f"The same search in {stability.samples:,} bootstrap samples; the rarest edges come first."
    )
    return Section("Stability", (line,), frame_of(rows, columns=COLUMNS))


class Story(NamedTuple):
    """One difference in words: an edge, the contexts that have it and those that lack it, or have
    another slope.

    Attributes
    ----------
    edge : str
        The two names and the mark between them, "-" where contexts draw it differently.
    present : str
        The contexts with the edge, or how many there are.
    absent : tuple of str
        The contexts without it that share this verdict, or the one with another slope.
    slopes : str
        The two slopes with their intervals, or the share of a curve that is left; may be empty.
    verdict : str
        The sentence about the claim.
    claimed : bool
        True where the difference may be claimed.
    kind : str
        "edge" or "slope", as in `changes()`.
    """

    edge: str
    present: str
    absent: tuple[str, ...]
    slopes: str
    verdict: str
    claimed: bool
    kind: str = "edge"


def answer(
    result: ContextGraphs,
    findings: Iterable[Finding],
    spoken: Spoken = in_a_report,
    called: Spoken = in_python,
) -> str:
    """The card about a result and its diagnosis, or nothing where there is nothing to say.

    It has up to three parts: what to be careful about, the differences between contexts with their
    verdicts, those that may be claimed first, and the questions that were not asked. A finding
    about differences is left out, since the second part has their verdicts, and so is one that is a
    warning of the result, too.

    `spoken` gives a sentence the spelling of its reader, `called` one about a question that the
    report does not answer.
    """
    parts = ""
    if texts := _cautions(result, findings):
        parts += f"<h2>{CAREFUL}</h2>{_list(printable(spoken(text)) for text in texts)}"
    if result.context is not None and len(result.contexts) > 1:
        parts += f"<h2>What differs between the contexts?</h2>{_differences(result, spoken)}"
    questions = questions_left(result) if result.final else []
    if may_try_cuts(result) and answers_of(result).other_cuts is None:
        questions.append(NOT_ASKED["cuts"])
    if questions:
        parts += f"<h2>{NOT_ASKED_TITLE}</h2>{_list(printable(called(text)) for text in questions)}"
    if not parts:
        return ""
    return f'<section class="card" id="answer" aria-label="The answer in short">{parts}</section>'


def _cautions(result: ContextGraphs, findings: Iterable[Finding]) -> list[str]:
    """The sentences about what to be careful about: those of the result, then the gravest findings.

    Findings about differences between contexts, and those that are warnings of the result, are
    left out.
    """
    topics = set(TOLD_AS_WARNINGS)
    if any(about(warning) is About.FUNCTION for warning in result.warnings):
        topics.add("deterministic context")
    texts = []
    for finding in findings:
        of_differences = finding.evidence.get("doubt") or finding.evidence.get("cause") == "several"
        if finding.severity > Severity.NOTE and not of_differences and finding.topic not in topics:
            texts.append("; ".join(filter(None, (finding.message, finding.advice))))
    return [*(result.cautions if result.final else ()), *texts[:MOST_FINDINGS_TOLD]]


def _differences(result: ContextGraphs, spoken: Spoken) -> str:
    """The differences between contexts as HTML: how many may be claimed, and the first of them."""
    changes = sorted(_change_sentences(result), key=lambda told: not told[1])
    if not changes:
        return f"<p>No edge differs: all {len(result.contexts)} contexts have the same ones.</p>"
    claimed = sum(is_claimed for _, is_claimed in changes)
    may = (
        f"{claimed} difference{'' if claimed == 1 else 's'} may be claimed,"
        f" {len(changes) - claimed} may not"
    )
    html = f"<p>{may}.</p>{_list(spoken(sentence) for sentence, _ in changes[:MOST_CHANGES_TOLD])}"
    more = len(changes) - MOST_CHANGES_TOLD
    if more > 0:
        html += f"<p>{more} more {'is' if more == 1 else 'are'} not listed here.</p>"
    return html


def _change_sentences(result: ContextGraphs) -> list[tuple[str, bool]]:
    """A sentence on every difference between contexts, and whether it may be claimed."""
    if result.series is not None:
        return [*lagged_stories(result), *mechanism_stories(result)]
    sentences = []
    for story in stories(result):
        what = "changes its slope"
        if story.kind != "slope":
            absent = listed(story.absent, MOST_CONTEXTS_NAMED)
            what = f"is found in {story.present} and not in {absent}"
        sentences.append((f"{story.edge} {what}{story.slopes}. {story.verdict}", story.claimed))
    return [*sentences, *mechanism_stories(result)]


def stories(result: ContextGraphs) -> list[Story]:
    """Every edge that some contexts lack, and slopes that differ, those that may be claimed first.

    Contexts that are alike share a story; the slopes of many contexts are in `changes()` alone.
    Edges at a context variable have no story: they are what it means to depend on the context.
    """
    sayings = ChangeVerdicts(result)
    adjacent = np.stack([graph.adjacency for graph in result.graphs.values()])
    pair_stories: list[Story] = []
    for x, y in np.argwhere(np.triu(adjacent.any(axis=0) & ~adjacent.all(axis=0))).tolist():
        if not {x, y}.intersection(result.cells.positions):
            pair_stories += _of_pair(result, sayings, x, y)
    for first_context, other in (
        combinations(range(len(result.contexts)), 2)
        if len(result.contexts) <= MOST_PAIRED_CONTEXTS
        else ()
    ):
        for change in sayings.between(first_context, other):
            x, y = (result.names.index(name) for name in (change.source, change.target))
            if change.kind == "slope" and adjacent[:, x, y].all():
                said = ChangeVerdict(change.claimed, change.reason, change.kind)
                edge = f"{shown(change.source)} {change.mark} {shown(change.target)}"
                pair_stories.append(
                    Story(
                        edge,
                        _shown(result, first_context),
                        (_shown(result, other),),
                        _slopes(result, x, y, first_context, other),
                        _verdict(said),
                        said.claimed,
                        said.kind,
                    )
                )
    return sorted(pair_stories, key=lambda story: not story.claimed)


def mechanism_stories(result: ContextGraphs) -> list[tuple[str, bool]]:
    """Every level and spread that a context changes in a sentence, and whether that may be claimed.

    Of more contexts than `MOST_PAIRED_CONTEXTS` none are told: their pairs are in `changes()`.
    """
    pairs = combinations(result.contexts, 2) if len(result.contexts) <= MOST_PAIRED_CONTEXTS else ()
    if result.moments is None and result.series is None:
        return []
    mechanism_changes = [
        change for pair in pairs for change in found_changes(result, *pair) if change.kind in KINDS
    ]
    return [
        (
            (
                f"{printable(moved_words(change, by_ranks(result)))}."
                f" {_verdict(ChangeVerdict(change.claimed, change.reason))}"
            ),
            change.claimed,
        )
        for change in mechanism_changes
    ]


def lagged_stories(result: ContextGraphs) -> list[tuple[str, bool]]:
    """With lags, every link that differs between two contexts in a sentence, and whether that may
    be claimed.

    Of many contexts each is compared with the first: a link that differs between any two of them
    differs there. Those that may be claimed come first. Standard errors are those of regressions
    inside the contexts.
    """
    errors = {
        (row.source, row.target, row.context): row.own_error for row in series_of(result).slopes
    }
    first, *others = result.contexts
    few = len(result.contexts) <= MOST_PAIRED_CONTEXTS
    pairs = combinations(result.contexts, 2) if few else ((first, other) for other in others)
    rows = [row for pair in pairs for row in result.changes(*pair).to_dict("records")]
    kept = [row for row in rows if row["kind"] in ("edge", "slope")]
    return sorted(
        ((_lagged_sentence(result, row, errors), row["claimed"]) for row in kept),
        key=lambda story_item: not story_item[1],
    )


def _lagged_sentence(
    result: ContextGraphs, row: dict[Any, Any], errors: dict[tuple[str, str, Any], float]
) -> str:
    """The sentence about a link that differs between two contexts of a series.

    `row` is a row of `changes()`; `errors` has the standard errors of slopes by source, target and
    context. Where the target reads the context at other lags than 0, the sentence names them.
    """
    names = [shown(row[end]) for end in ("source", "target")]
    turned = row["effect_present"] * row["effect_absent"] < 0 and not is_curved(result)
    what = "turns its sign" if turned else "changes its slope"
    if row["kind"] == "edge":
        what = f"is found in {shown(value_text(row['present']))} only"
    read = copies_in(result.reads.get(row["target"]))
    if any(lags != (0,) for _, lags in read):
        copies = [" or ".join(shown(at(name, lag)) for lag in lags) for name, lags in read]
        what += f" (by the value of {' and '.join(copies)})"
    verdict = _verdict(ChangeVerdict(bool(row["claimed"]), str(row["reason"])))
    return (
        f"{names[0]} {row['mark']} {names[1]} {what}{_lagged_sizes(result, row, errors)}. {verdict}"
    )


def _lagged_sizes(
    result: ContextGraphs, row: dict[Any, Any], errors: dict[tuple[str, str, Any], float]
) -> str:
    """The sizes of a link in both contexts: slopes with their intervals, or how much of a curve is
    left.

    Slopes without an interval, of links that one context lacks, stand alone. Of a curve whose rest
    cannot be computed nothing is said.
    """
    if is_curved(result):  # the effects are shares of the curve, 1 is all of it, and have no errors
        remains = row["effect_absent"]
        return (
            f": {remains:.2g} of its curve remains in {shown(value_text(row['absent']))}"
            if np.isfinite(remains)
            else ""
        )
    slopes = []
    for value, size in (
        (row["present"], row["effect_present"]),
        (row["absent"], row["effect_absent"]),
    ):
        interval = _interval(
            Slope(size, errors.get((row["source"], row["target"], value), np.nan), np.nan, 0)
        )
        slopes.append(f"{interval or format(size, '.2g')} in {shown(value_text(value))}")
    return f": its slope is {', '.join(slopes)}"


def _list(texts: Iterable[str]) -> str:
    """The texts as a list of the page, each escaped and in its own direction of writing."""
    items = "".join(f'<li dir="auto">{escape(text)}</li>' for text in texts)
    return f"<ul>{items}</ul>"


def _of_pair(result: ContextGraphs, sayings: ChangeVerdicts, x: int, y: int) -> Iterator[Story]:
    """The stories of a pair that some contexts lack, one for each verdict.

    The context with the link that has most rows is compared with every context without it; contexts
    without it that share a verdict share a story.
    """
    graphs = [result.graphs[value] for value in result.contexts]
    having = [number for number, graph in enumerate(graphs) if graph.adjacency[x, y]]
    present = max(having, key=lambda number: (result.data.rows[number], -number))
    source, target = as_written(graphs[present].endpoints, x, y)
    alike: dict[ChangeVerdict | None, list[int]] = {}
    for absent in (number for number in range(len(graphs)) if number not in having):
        said = verdict_on(
            result.names[source], result.names[target], sayings.between(present, absent)
        )
        alike.setdefault(said, []).append(absent)
    names = [shown(result.names[z]) for z in (source, target)]
    found_in = f"{len(having)} of {len(result.contexts)} contexts"
    if len(having) <= MOST_CONTEXTS_NAMED:
        found_in = ", ".join(_shown(result, number) for number in having)
    marks = {mark_of(graphs[number].endpoints, source, target) for number in having}
    edge = f"{names[0]} {marks.pop() if len(marks) == 1 else '-'} {names[1]}"
    for said, places in alike.items():
        yield Story(
            edge,
            found_in,
            tuple(_shown(result, number) for number in places),
            _slopes(result, source, target, present, places[0]),
            _verdict(said),
            said is not None and said.claimed,
            "edge" if said is None else said.kind,
        )


def _slopes(result: ContextGraphs, x: int, y: int, present: int, absent: int) -> str:
    """The slopes of both contexts with their intervals, where there are any.

    Of a curved mechanism, and of one with categories, it is the share that remains in the context
    without the link: these have no slopes.
    """
    if result.moments is None:
        return ""
    comparison = compare(RowFits(result, result.moments), x, y, present, absent)
    texts = [_interval(side) for side in (comparison.present_slope, comparison.absent_slope)]
    if not all(texts):
        return ""
    if comparison.shares:
        what = "curve" if is_curved(result) else "effect"
        return f": {texts[1]} of its {what} remains in {_shown(result, absent)}"
    return (
        f": its slope is {texts[0]} in {_shown(result, present)} and {texts[1]} in"
        f" {_shown(result, absent)}"
    )


def _interval(estimate: Slope) -> str:
    """A slope and its 95 % interval, b ± 1.96 standard errors; "" where one of them is not
    known.
    """
    if not np.isfinite(estimate.value) or not np.isfinite(estimate.error):
        return ""
    reach = TWO_SIDED_95 * estimate.error
    return f"{estimate.value:.2g} ({estimate.value - reach:.2g} to {estimate.value + reach:.2g})"


def _verdict(said: ChangeVerdict | None) -> str:
    """The sentence about a claim: made, not made and why, or not to be tested."""
    if said is None:
        return "Whether the mechanism differs could not be tested."
    if said.claimed:
        return "The difference may be claimed."
    return (
        f"No claim: {said.doubt}." if said.doubt else "No claim: the slopes do not differ clearly."
    )


def _shown(result: ContextGraphs, number: int) -> str:
    """The value of a context by its place in the result, as a page shows it."""
    return shown(value_text(result.contexts[number]))


TRIED = """<div id="cut-tried"><h3>What depends on the choice?</h3>
<div class="field"><label for="cut-slider">Cut at</label>
<span><input type="range" id="cut-slider" min="0" step="1">
<output id="cut-value" for="cut-slider"></output>
<button type="button" id="cut-back">Back to the cut found</button></span></div>
<div id="cut-story" aria-live="polite"></div></div>"""
GRAPH = """<div><div id="cut-stage" tabindex="0" role="group"
 aria-label="The graph with this cut"></div>
<ul id="cut-legend" class="legend" aria-label="Legend"></ul></div>"""


def cut_card(result: ContextGraphs, panel: dict[str, Any] | None) -> str:
    """The card, which the page fills in from the panel; nothing where no cut was looked for.

    It has a sentence for each cut that was looked for, the profiles, and, where other cuts were
    searched, a slider with the graph of the chosen one.
    """
    if panel is None:
        return ""
    verdict = ""
    for cut in result.cuts:
        words = printable(str(cut))
        begin = words[0] if words.startswith(printable(cut.column)) else words[0].upper()
        verdict += f'<p dir="auto">{escape(begin + words[1:])}.</p>'
    tried, graph = (TRIED, GRAPH) if panel["tried"] else ("", "")
    return (
        '<section class="card" id="cut" aria-labelledby="cut-heading"><h2 id="cut-heading">Where'
        f' is the cut?</h2>{verdict}<div class="halves"><div><div'
        f' id="cut-profiles"></div>{tried}</div>{graph}</div></section>'
    )


def cut_panel(result: ContextGraphs) -> dict[str, Any] | None:
    """The record of the cut of a result for the page: the profiles and, of a single cut, graphs of
    others.

    A profile has the score at every place that was tried, in nats, the score of a smooth change,
    and the score that a cut needs. `None` where no cut was looked for.
    """
    if result.cut is None:
        return None
    profiles = [
        {
            "places": list(map(four_digits, cut.places)),
            "scores": list(map(four_digits, cut.scores)),
            "smooth": four_digits(cut.smooth),
            "needed": four_digits(cut.needed),
            "value": cut.value,
            "low": cut.low,
            "high": cut.high,
        }
        for cut in result.cuts
    ]
    return {
        "column": printable(result.cut.column),
        "profiles": profiles,
        "tried": _tried(result, result.cut),
    }


def _tried(result: ContextGraphs, cut: Cut) -> dict[str, Any] | None:
    """The graphs of searches with other cuts, as far as these were asked for, the two sides of
    each, and one layout for all of them.

    All graphs are drawn in the layout of their union, so that nothing moves when the slider does.
    None where no other cut was searched.
    """
    endpoints_by_cut = answers_of(result).other_cuts or {}
    if len(endpoints_by_cut) < 2:
        return None
    places = sorted(endpoints_by_cut)
    sides = union_endpoints(
        np.stack([endpoints_by_cut[cut_value] for cut_value in places]), result.union.kind
    )
    wide = replace(
        result,
        graphs={
            value: Graph(result.names, side, result.union.kind)
            for value, side in zip(result.contexts, sides, strict=True)
        },
    )
    graphs = [
        [
            marks(Graph(result.names, side, result.union.kind))
            for side in endpoints_by_cut[cut_value]
        ]
        for cut_value in places
    ]
    alone = max(len(below.keys() ^ above.keys()) for below, above in graphs)
    return {
        "places": places,
        "words": [
            number_text(cut.value) if cut_value == cut.value else f"{cut_value:.4g}"
            for cut_value in places
        ],
        "found": places.index(cut.value),
        "graphs": graphs,
        "small": alone <= MOST_SIDE_LABELS,
    } | drawn(result_layout(wide))


def may_try_cuts(result: ContextGraphs) -> bool:
    """True where a single cut was found, and other places of it can be searched: in tables of at
    most `MOST_SLIDER_VARIABLES` variables whose rows are in memory.
    """
    return (
        result.cut is not None
        and result.cut.verdict == CUT
        and len(result.cuts) == 1
        and len(result.cells.positions) == 1
        and result.complete
        and len(result.names) <= MOST_SLIDER_VARIABLES
        and result.table is not None
    )


def tried_cuts(result: ContextGraphs) -> dict[float, Endpoints]:
    """The endpoints on both sides of the cut that was found, and of other places, by the place;
    empty where none can be tried.

    Shape of each: (2, variables, variables). The ends of the interval of the cut and places over
    its whole range are searched, the nearest first, until `MOST_SLIDER_SECONDS` are over.
    """
    cut = result.cut
    if cut is None or not may_try_cuts(result):
        return {}
    endpoints_by_cut = {cut.value: np.stack([graph.endpoints for graph in result.graphs.values()])}
    spread = np.unique(
        np.linspace(0, len(cut.places) - 1, MOST_SLIDER_CUTS - 2).round().astype(int)
    ).tolist()
    others = [
        cut_value
        for cut_value in (cut.low, cut.high, *(cut.places[number] for number in spread))
        if cut_value is not None
    ]
    end = monotonic() + MOST_SLIDER_SECONDS
    for cut_value in sorted(
        set(others) - {cut.value}, key=lambda cut_value: abs(cut_value - cut.value)
    ):
        endpoints = endpoints_at(result, cut_value) if monotonic() < end else None
        if endpoints is not None:
            endpoints_by_cut[cut_value] = endpoints
    return endpoints_by_cut
