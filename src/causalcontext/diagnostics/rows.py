"""What the rows can show: the power of each context, untestable pairs, narrow decisions, overlap
between contexts.

And of an edge that some contexts have and others have not: is that a change of mechanism, or of
what the data can show?

Does it depend on other columns whether a cell is missing? Then rows without holes are a selected
sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from causalcontext.ci_tests.preparation import PreparedCompletions
from causalcontext.data.columns import Kind
from causalcontext.data.completion import FEWEST_OBSERVED, complete
from causalcontext.data.dataset import Dataset, complete_rows, missing_rows
from causalcontext.data.indicators import step_functions
from causalcontext.data.sufficient_statistics import drop_empty_cells
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.diagnostics.support import Cause, MatchedSupport, Support
from causalcontext.errors import listed, value_text
from causalcontext.graphs.endpoints import Endpoints, GraphKind, as_written, mark_of
from causalcontext.kernels.arrays import Bools, Floats
from causalcontext.kernels.rows.glm import first_slopes, fit_glm
from causalcontext.kernels.rows.likelihoods import LOGIT
from causalcontext.results.changes import ChangeVerdict, ChangeVerdicts, verdict_on
from causalcontext.results.log import Decision
from causalcontext.results.slope_fits import conditions
from causalcontext.results.words import p_words
from causalcontext.search.sepsets import pairs_at

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

LARGE_EFFECT = 0.3
POWER = 0.8
KEPT = 1.25
REMOVED = 1.1
"""An edge was kept by a hair if p > alpha / 1.25, and a link at a context removed by one if p < 1.1
alpha.
"""
MOST_NEAR = 3
MOST_LISTED = 10
LITTLE_OVERLAP = 0.1
MOST_COLUMNS = 3
TOPIC = "missing edge"
WORDS = {
    Cause.MECHANISM: (
        "persists where both contexts have data, so the mechanism differs (a physical change)"
    ),
    Cause.SUPPORT: (
        "is not found on the values that both contexts share: its absence may be due to that range"
    ),
    Cause.SINGULAR: "cannot be detected where most values of the cause are equal",
    Cause.FEW_ROWS: (
        "would hardly be detected with so few rows and so little variation of the cause"
    ),
    Cause.UNDECIDED: "cannot be compared: too few rows lie where both contexts have data",
}
ADVICE = {
    Cause.SUPPORT: (
        "read its absence as descriptive: the link may exist there for values that were not"
        " observed"
    ),
    Cause.SINGULAR: "leave the variable out for this context, or collect rows in which it varies",
    Cause.FEW_ROWS: "do not read it as a difference between contexts; see labels() and changes()",
    Cause.UNDECIDED: "do not read it as a change of mechanism without other evidence",
}
UNCLEAR = "the slopes do not differ clearly"
DOUBTS = {
    "no change if the edge has the other direction": (
        "nothing differs if the edge has the other direction"
    )
}
MOST_NAMED = 3
MOST_EDGES = 5
RANK = (Cause.SINGULAR, Cause.SUPPORT, Cause.FEW_ROWS, Cause.UNDECIDED, Cause.MECHANISM)
"""Which verdict counts where an edge has no direction: the one that trusts the absence least."""


def minimum_detectable(n: int, given: int, alpha: float) -> float:
    """The partial correlation that n rows show with a power of 80 %, given so many variables; 1
    with too few rows.
    """
    if n - given - 3 <= 0:
        return 1.0
    return float(
        np.tanh(
            (scipy.special.ndtri(1 - alpha / 2) + scipy.special.ndtri(POWER))
            / np.sqrt(n - given - 3)
        )
    )


def rows_and_power(result: ContextGraphs) -> Iterator[Finding]:
    """Contexts that are too small to show effects of a usual size, one by one; the others in one
    line.
    """
    kept = result.log.kept
    sample = None
    power = []
    if result.scanned is not None and result.evidence is not None:  # score-ac had no more
        sample = drop_empty_cells(result.scanned.data, result.scanned.statistics)[0]
    for place, context in enumerate(
        result.contexts
    ):  # for the largest set that a question inside was decided with
        given = kept.given[place]
        rows = result.data.rows[place]
        sizes = (given >= 0).sum(axis=1) - np.isin(given, result.cells.positions).sum(axis=1)
        largest = int(sizes[kept.view[place] > 0].max(initial=0))
        if sample is not None:
            rows = int(np.count_nonzero(complete_rows(sample) & (sample.codes == place)))
        power.append(
            {
                "context": context,
                "rows": rows,
                "given": largest,
                "minimum detectable": minimum_detectable(rows, largest, result.settings.alpha),
            }
        )
    small = sorted(
        (found for found in power if found["minimum detectable"] > LARGE_EFFECT), key=_by_rows
    )
    for found in small[:MOST_LISTED]:
        advice = "an edge may be missing there for lack of power; see labels()"
        yield Finding(
            "rows",
            Severity.WARNING,
            f"{_shown([found])} is detected with a power of 80 %",
            advice,
            found,
        )
    if len(small) > MOST_LISTED:
        yield Finding(
            "rows",
            Severity.WARNING,
            f"{len(small) - MOST_LISTED} more contexts have few rows as well",
        )
    enough = [found for found in power if found["minimum detectable"] <= LARGE_EFFECT]
    if enough:
        yield Finding(
            "rows",
            Severity.NOTE,
            f"{_shown(enough)} is detected with a power of 80 %",
            "",
            {"contexts": enough},
        )


def _by_rows(found: dict[str, Any]) -> int:
    return int(found["rows"])


def _shown(found: list[dict[str, Any]]) -> str:
    """One sentence for one context, or for several: from the smallest to the largest."""
    fewest = min(found, key=_by_rows)
    most = max(found, key=_by_rows)
    sizes = sorted(f"{one['minimum detectable']:.2f}" for one in found)
    if len(found) == 1:
        where = value_text(fewest["context"])
        return f"{where} has {fewest['rows']:,} rows: a partial correlation of {sizes[0]}"
    span = " to ".join(dict.fromkeys((sizes[0], sizes[-1])))
    return (
        f"contexts have from {fewest['rows']:,} rows {_in_brackets(fewest['context'])} to"
        f" {most['rows']:,} {_in_brackets(most['context'])}: a partial correlation of {span}"
    )


def _in_brackets(value: object) -> str:
    """The value of a context in one pair of brackets."""
    return value_text(value) if isinstance(value, tuple) else f"({value})"


def untestable_pairs(result: ContextGraphs) -> Iterator[Finding]:
    """Pairs that keep their edge because no test of them could be run."""
    for place, value in enumerate(result.contexts):
        count = int((result.log.kept.decision[place] == Decision.UNTESTABLE).sum())
        if count:
            message = (
                f"{count} pairs could not be tested in {value_text(value)} and kept their edge"
            )
            yield Finding(
                "untestable",
                Severity.WARNING,
                message,
                "see tests() for the reasons",
                {"context": value, "pairs": count},
            )


def near_misses(result: ContextGraphs) -> Iterator[Finding]:
    """Edges that were kept by a hair, and links at a context that were removed by one: those
    silence the context.

    Among many pairs without a link some p-values are close to alpha by chance, so the margins are
    narrow.
    """
    alpha = result.settings.alpha
    log = result.log
    contexts = result.cells.positions
    tests: dict[tuple[int, float], list[int]] = {}  # one test may decide in several contexts
    for slots, found in log.blocks():
        at_context = np.isin(pairs_at(slots, len(result.names)), contexts).any(axis=0)
        kept = (found.decision == Decision.PRESENT) & (found.p > alpha / KEPT)
        near = kept | (
            (found.decision == Decision.ABSENT) & (found.p < alpha * REMOVED) & at_context
        )
        for place, k in zip(*(index.tolist() for index in np.nonzero(near)), strict=True):
            tests.setdefault((int(slots[k]), float(found.p[place, k])), []).append(place)
    slots = np.array(sorted({slot for slot, _ in tests}), dtype=np.int64)
    first, second = (ends.tolist() for ends in pairs_at(slots, len(result.names)))
    pairs = dict(zip(slots.tolist(), zip(first, second, strict=True), strict=True))
    order = sorted(tests, key=lambda test: (set(pairs[test[0]]).isdisjoint(contexts), test[1]))
    for slot, p in order[:MOST_NEAR]:
        places, (x, y) = tests[slot, p], (result.names[end] for end in pairs[slot])
        first = result.contexts[places[0]]
        is_at_context = not set(pairs[slot]).isdisjoint(contexts)
        was_kept = bool(log.at(places[0], slot).decision == Decision.PRESENT)
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        where = "all contexts" if len(places) == len(result.contexts) else f"{first}{more}"
        message = (
            f"{x} - {y} in {where} was {'kept' if was_kept else 'removed'} with {p_words(p)}, alpha"
            f" {alpha:g}"
        )
        advice = (
            "a missed link at the context would hide changes between contexts: try a larger alpha"
        )
        evidence = {"x": x, "y": y, "context": first, "p": p, "kept": was_kept}
        yield Finding(
            "near miss",
            Severity.CAUTION if is_at_context else Severity.NOTE,
            message,
            advice if is_at_context and not was_kept else "",
            evidence,
        )
    if len(order) > MOST_NEAR:
        message = f"{len(order) - MOST_NEAR} more p-values were close to alpha; see tests()"
        yield Finding("near miss", Severity.NOTE, message)


def determinism(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Columns of which a context is a function without error."""
    for found in step_functions(rows):
        message = (
            f"{found.context} is a function of {found.column} without a single exception; given "
            f"{found.column} it carries no information, so its links cannot be tested properly"
        )
        declared = found.advice(len(rows.contexts.positions) == 1)
        advice = (
            f"if it was made from {found.column}, declare it: {declared}; if {found.column} only "
            f"has far apart values because {found.context} shifts it, leave the call as it is"
        )
        evidence = {"column": found.column, "cuts": found.cuts, "call": f"context={found.call()}"}
        yield Finding("deterministic context", Severity.WARNING, message, advice, evidence)


def overlap(rows: Dataset) -> Iterator[Finding]:
    """Variables whose ranges hardly overlap between two values of a context, unless one is a
    function of the other.
    """
    known = {(rows.names[context], rows.names[source]) for context, source in rows.contexts.made}
    known |= {(found.context, found.column) for found in step_functions(rows)}
    for context, levels in zip(rows.contexts.positions, rows.levels, strict=True):
        for position in rows.system:
            if (rows.names[context], rows.names[position]) not in known:
                yield from _apart(rows, position, context, levels)


def ranked_overlap(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """The variables that are apart between most values of a context, and how many more there
    are.
    """
    found = sorted(
        overlap(rows), key=lambda finding: (-finding.evidence["pairs"], finding.evidence["overlap"])
    )
    yield from found[:MOST_COLUMNS]
    if len(found) > MOST_COLUMNS:
        names = ", ".join(finding.evidence["column"] for finding in found[MOST_COLUMNS:])
        more = len(found) - MOST_COLUMNS
        which = (
            "1 more variable hardly overlaps"
            if more == 1
            else f"{more} more variables hardly overlap"
        )
        message = f"{which} between some contexts: {names}"
        yield Finding("overlap", Severity.NOTE, message)


def _apart(
    data: Dataset, position: int, context: int, levels: tuple[Any, ...]
) -> Iterator[Finding]:
    """The values of a context between which the 5-95 % ranges of a column hardly overlap, in one
    finding.
    """
    name = data.names[position]
    column = np.asarray(data.columns[position], dtype=np.float64)
    codes = np.asarray(data.columns[context])
    inside = [column[(codes == level) & np.isfinite(column)] for level in range(len(levels))]
    boxes = [
        np.quantile(values, (0.05, 0.95)) if values.size else np.full(2, np.nan)
        for values in inside
    ]
    shares: dict[tuple[int, int], float] = {}
    for a, b in combinations(
        range(len(boxes)), 2
    ):  # of the shorter range; 1 where it cannot be said
        (low, high), (lower, upper) = boxes[a], boxes[b]
        shorter = np.minimum(high - low, upper - lower)
        shares[a, b] = (
            float(max(0.0, min(high, upper) - max(low, lower)) / shorter) if shorter > 0.0 else 1.0
        )
    little = sorted((share, pair) for pair, share in shares.items() if share < LITTLE_OVERLAP)
    if not little:
        return
    share, (a, b) = little[0]
    where = f"between {levels[a]} and {levels[b]} ({share:.0%})"
    if len(little) > 1:
        where = f"between {len(little)} of {len(shares)} pairs of contexts, most of all {where}"
    message = f"the 5-95 % ranges of {name} hardly overlap {where}"
    advice = "differences between these contexts that rest on it are extrapolated"
    evidence = {
        "column": name,
        "contexts": (levels[a], levels[b]),
        "overlap": share,
        "pairs": len(little),
    }
    yield Finding("overlap", Severity.CAUTION, message, advice, evidence)


def vanishing_edges(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Edges that some contexts lack: those that stand first, then a few that are in doubt, and how
    many more are.

    There is one finding for every edge and every reason why contexts lack it. They are compared
    with the context that has it and differs least in its context variables, of several the largest.
    """
    found: list[Finding] = []
    support = Support(rows, result.settings.alpha)
    endpoints = np.stack([result.graphs[value].endpoints for value in result.contexts])
    contexts = result.cells.positions
    sayings = ChangeVerdicts(result)
    for x, y in zip(*np.nonzero(np.triu(endpoints.any(axis=0))), strict=True):
        if x in contexts or y in contexts:
            continue
        has = np.flatnonzero(endpoints[:, x, y]).tolist()
        told: dict[
            tuple[Cause | None, ChangeVerdict | None], list[tuple[MatchedSupport, int, int]]
        ] = {}
        for absent in np.flatnonzero(endpoints[:, x, y] == 0).tolist():
            differing = [len(result.cells.differing(place, absent)) for place in has]
            present = has[
                int(np.lexsort((has, [-result.data.rows[place] for place in has], differing))[0])
            ]
            source, target = as_written(endpoints[present], int(x), int(y))
            settled = (
                mark_of(endpoints[present], source, target) == "-->"
                and result.union.kind is GraphKind.CPDAG
            )
            verdict = _verdict(result, support, source, target, settled, present, absent)
            said = verdict_on(
                result.names[source], result.names[target], sayings.between(present, absent)
            )
            key = (
                None if said is not None and said.doubt else verdict.cause
            )  # a doubt is one, whatever the support
            told.setdefault((key, said), []).append((verdict, present, absent))
        for (_, said), places in told.items():
            found.append(_finding(result, endpoints, (int(x), int(y)), said, places))
    yield from (finding for finding in found if finding.severity is Severity.NOTE)
    doubtful = [finding for finding in found if finding.severity is not Severity.NOTE]
    yield from doubtful[:MOST_EDGES]
    more = list(
        dict.fromkeys(
            f"{f.evidence['source']} - {f.evidence['target']}" for f in doubtful[MOST_EDGES:]
        )
    )
    if more:
        what = (
            "edges that some contexts lack are"
            if len(more) > 1
            else "edge that some contexts lack is"
        )
        message = f"{len(more)} more {what} in doubt: {', '.join(more)}"
        evidence = {"source": "", "target": "", "cause": "several", "edges": tuple(more)}
        yield Finding(
            TOPIC, Severity.CAUTION, message, "see changes() and explain() for them", evidence
        )


def _finding(
    result: ContextGraphs,
    endpoints: Endpoints,
    pair: tuple[int, int],
    said: ChangeVerdict | None,
    places: list[tuple[MatchedSupport, int, int]],
) -> Finding:
    """What is said about an edge in all contexts that lack it for one reason."""
    verdict, present, _ = places[0]
    x, y = as_written(endpoints[present], *pair)
    edge = f"{result.names[x]} {mark_of(endpoints[present], x, y)} {result.names[y]}"
    here = result.contexts[present]
    without = tuple(result.contexts[place] for *_, place in places)
    doubt = (
        "" if said is None else said.doubt
    )  # what speaks against a change of mechanism, as `changes` sees it
    if said is not None and not said.claimed and not doubt and verdict.cause is Cause.MECHANISM:
        doubt = UNCLEAR
    trusted = verdict.cause is Cause.MECHANISM and not doubt
    evidence = {
        "source": result.names[x],
        "target": result.names[y],
        "present": here,
        "absent": without[0],
        "all absent": without,
        "cause": verdict.cause.value,
        "doubt": doubt,
        "p": verdict.p,
        "matched rows": verdict.rows,
        "variance ratio": verdict.variance_ratio,
        "power": verdict.power,
    }
    shows = ", where its slope is not 0 either" if said is not None and said.kind == "slope" else ""
    where = (
        f"{edge} is in {value_text(here)} and not in"
        f" {listed(map(value_text, without), MOST_NAMED)}{shows}"
    )
    words = (
        f"not claimed as a change, since {DOUBTS.get(doubt, doubt)}"
        if doubt
        else f"it {WORDS[verdict.cause]}"
    )
    advice = "" if said is not None and said.doubt else ADVICE.get(verdict.cause, "")
    if advice and said is not None and said.claimed:
        advice += "; changes() claims it from the slopes alone"
    return Finding(
        TOPIC, Severity.NOTE if trusted else Severity.CAUTION, f"{where}: {words}", advice, evidence
    )


def _verdict(
    result: ContextGraphs,
    support: Support,
    x: int,
    y: int,
    directed: bool,
    present: int,
    absent: int,
) -> MatchedSupport:
    made_from = (
        result.settings.indicator
    )  # its ranges never overlap between the steps made out of it
    given = [z for z in conditions(result, x, y, absent) if result.names[z] != made_from]
    found = [
        support.verdict(*ends, given, present, absent)
        for ends in ((x, y), (y, x))[: 1 if directed else 2]
    ]
    return min(found, key=lambda verdict: RANK.index(verdict.cause))


LEVEL = 0.01
"""The share of tables without any such dependence in which one is reported."""
FEWEST_HOLES = 5
MOST_ASKED_FOR_HOLES = 60
"""With more columns what decides is not looked for."""
TOLERANCE = 1e-6
MODES = {
    "listwise": (
        "rows without holes are a selected sample, in which columns can be linked that are not:"
        " pass missing='model', which allows for this"
    ),
    "testwise": (
        "rows that a test leaves out are not like the others, which can create and hide links: pass"
        " missing='model', which allows for this"
    ),
    "model": "missing='model' allows for this as long as these columns stay in the table",
}


def deciding_columns(result: ContextGraphs) -> Iterator[Finding]:
    """Columns whose holes depend on other columns, each with those that decide."""
    prepared = result.prepared
    data = result.rows
    completed = prepared.completed if isinstance(prepared, PreparedCompletions) else None
    data = data if completed is None else completed.given
    if data is None or result.series is not None or len(data.names) > MOST_ASKED_FOR_HOLES:
        return
    gaps = {
        place: rows
        for place, rows in missing_rows(data).items()
        if FEWEST_HOLES <= rows.sum() <= len(rows) - FEWEST_OBSERVED
    }
    if not gaps:
        return
    columns = _predictors((complete(data, 0) if completed is None else completed).table(0))
    for place, missing in gaps.items():
        others = [other for other in columns if other != place]
        whole = _likelihood(missing, [columns[other] for other in others])
        df = sum(len(columns[other]) for other in others)
        p = float(scipy.special.chdtrc(df, 2.0 * (whole - _likelihood(missing, []))))
        if p > LEVEL / len(gaps):
            continue
        # those that matter given all others
        without = {
            other: _likelihood(missing, [columns[one] for one in others if one != other])
            for other in others
        }
        own = {
            other: float(scipy.special.chdtrc(len(columns[other]), max(2.0 * (whole - less), 0.0)))
            for other, less in without.items()
        }
        ranked = sorted(own, key=lambda other: without[other])
        names = tuple(
            data.names[one]
            for one in [other for other in ranked if own[other] < LEVEL] or ranked[:1]
        )
        message = (
            f"whether {data.names[place]} is missing depends on {listed(names, 3)} ({p_words(p)}, a"
            " logit)"
        )
        evidence = {"column": data.names[place], "p": p, "depends on": names}
        yield Finding(
            "missing cells",
            Severity.CAUTION,
            message,
            MODES.get(result.settings.missing, ""),
            evidence,
        )


def _predictors(table: Dataset) -> dict[int, Floats]:
    """By position, the columns of every variable in a completed table: a number, or indicators of
    its levels.
    """
    found = {}
    for place, column in enumerate(table.columns):
        own = np.asarray(column, dtype=np.float64)
        if place in table.contexts.positions or table.kinds[place] is Kind.CATEGORICAL:
            levels = np.unique(own)[1:]
            found[place] = (own == levels[:, None]).astype(np.float64)
        else:
            found[place] = ((own - own.mean()) / max(float(own.std()), 1e-300))[None]
    return {place: own for place, own in found.items() if len(own) and own.std() > 0.0}


def _likelihood(missing: Bools, columns: list[Floats]) -> float:
    """The largest log-likelihood of a logit of what is missing."""
    design = np.vstack([np.ones((1, len(missing))), *columns])
    response = missing.astype(np.int64)
    slopes = first_slopes(LOGIT, response, 2, len(design))
    return fit_glm(LOGIT, np.ascontiguousarray(design), response, 2, slopes, 0.0, TOLERANCE)
