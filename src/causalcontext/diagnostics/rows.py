"""The limits of what rows can show: the power of each context, untestable pairs, narrow decisions,
overlap between contexts.

And of an edge that some contexts have and others have not: is that a change of mechanism, or of
what the data can show?

Does it depend on other columns whether a cell is missing? Then rows without holes are a selected
sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy

from causalcontext.ci_tests.preparation import PreparedCompletions
from causalcontext.data.columns import Kind
from causalcontext.data.completion import FEWEST_OBSERVED, complete
from causalcontext.data.dataset import Dataset, complete_rows, missing_rows
from causalcontext.data.indicators import step_functions
from causalcontext.data.sufficient_statistics import drop_empty_cells
from causalcontext.diagnostics.findings import Finding, Severity
from causalcontext.diagnostics.settings import (
    FEWEST_HOLES,
    HOLES_LEVEL,
    HOLES_TOLERANCE,
    KEPT_BY_A_HAIR,
    LARGE_EFFECT,
    LITTLE_OVERLAP,
    MOST_DOUBTFUL_EDGES,
    MOST_HOLES_COLUMNS,
    MOST_NAMED_TOGETHER,
    MOST_NEAR_MISSES,
    MOST_OVERLAP_COLUMNS,
    MOST_SMALL_CONTEXTS,
    REMOVED_BY_A_HAIR,
    SHOWN_POWER,
)
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
RANK = (Cause.SINGULAR, Cause.SUPPORT, Cause.FEW_ROWS, Cause.UNDECIDED, Cause.MECHANISM)
"""The order of verdicts where an edge has no direction: the one that trusts the absence least
counts."""


def minimum_detectable(n: int, given: int, alpha: float) -> float:
    """The partial correlation that n rows show with a power of 80 %, given so many variables.

    By Fisher's z it is tanh((z(1 - alpha / 2) + z(.8)) / sqrt(n - given - 3)); 1 with too few rows.
    """
    if n - given - 3 <= 0:
        return 1.0
    deviations = scipy.special.ndtri(1 - alpha / 2) + scipy.special.ndtri(SHOWN_POWER)
    return float(np.tanh(deviations / np.sqrt(n - given - 3)))


def rows_and_power(result: ContextGraphs) -> Iterator[Finding]:
    """Contexts that are too small to show effects of a usual size (`LARGE_EFFECT`), one by one; the
    others in one line.

    The effect is asked given as many variables as the largest set that decided a question inside
    the context. Of a scanned table that score-ac searched, the rows are those of its sample.
    """
    kept = result.log.kept
    sample = None
    power = []
    if result.scanned is not None and result.evidence is not None:  # score-ac had no more
        sample = drop_empty_cells(result.scanned.data, result.scanned.statistics)[0]
    for position, context in enumerate(result.contexts):
        # for the largest set that a question inside was decided with
        given = kept.given[position]
        rows = result.data.rows[position]
        sizes = (given >= 0).sum(axis=1) - np.isin(given, result.cells.positions).sum(axis=1)
        largest = int(sizes[kept.view[position] > 0].max(initial=0))
        if sample is not None:
            rows = int(np.count_nonzero(complete_rows(sample) & (sample.codes == position)))
        power.append(
            {
                "context": context,
                "rows": rows,
                "given": largest,
                "minimum detectable": minimum_detectable(rows, largest, result.settings.alpha),
            }
        )
    small = [facts for facts in power if facts["minimum detectable"] > LARGE_EFFECT]
    small.sort(key=_by_rows)
    for facts in small[:MOST_SMALL_CONTEXTS]:
        message = f"{_shown([facts])} is detected with a power of 80 %"
        advice = "an edge may be missing there for lack of power; see labels()"
        yield Finding("rows", Severity.WARNING, message, advice, facts)
    if len(small) > MOST_SMALL_CONTEXTS:
        yield Finding(
            "rows",
            Severity.WARNING,
            f"{len(small) - MOST_SMALL_CONTEXTS} more contexts have few rows as well",
        )
    enough = [facts for facts in power if facts["minimum detectable"] <= LARGE_EFFECT]
    if enough:
        yield Finding(
            "rows",
            Severity.NOTE,
            f"{_shown(enough)} is detected with a power of 80 %",
            "",
            {"contexts": enough},
        )


def _by_rows(context: dict[str, Any]) -> int:
    """The rows of a context, to sort by."""
    return int(context["rows"])


def _shown(contexts: list[dict[str, Any]]) -> str:
    """A sentence on one context, or on several: from the smallest to the largest."""
    fewest = min(contexts, key=_by_rows)
    most = max(contexts, key=_by_rows)
    sizes = sorted(f"{facts['minimum detectable']:.2f}" for facts in contexts)
    if len(contexts) == 1:
        name = value_text(fewest["context"])
        return f"{name} has {fewest['rows']:,} rows: a partial correlation of {sizes[0]}"
    span = " to ".join(dict.fromkeys((sizes[0], sizes[-1])))
    return (
        f"contexts have from {fewest['rows']:,} rows {_in_brackets(fewest['context'])} to"
        f" {most['rows']:,} {_in_brackets(most['context'])}: a partial correlation of {span}"
    )


def _in_brackets(value: object) -> str:
    """The value of a context in one pair of brackets."""
    return value_text(value) if isinstance(value, tuple) else f"({value})"


def untestable_pairs(result: ContextGraphs) -> Iterator[Finding]:
    """Contexts with pairs that keep their edge because no test of them could be run."""
    for position, value in enumerate(result.contexts):
        count = int((result.log.kept.decision[position] == Decision.UNTESTABLE).sum())
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
    narrow (`KEPT_BY_A_HAIR`, `REMOVED_BY_A_HAIR`).
    """
    alpha = result.settings.alpha
    log = result.log
    contexts = result.cells.positions
    tests: dict[tuple[int, float], list[int]] = {}  # one test may decide in several contexts
    for slots, records in log.blocks():
        at_context = np.isin(pairs_at(slots, len(result.names)), contexts).any(axis=0)
        kept = (records.decision == Decision.PRESENT) & (records.p > alpha / KEPT_BY_A_HAIR)
        removed = (records.decision == Decision.ABSENT) & (records.p < alpha * REMOVED_BY_A_HAIR)
        near = kept | (removed & at_context)
        for position, k in zip(*(index.tolist() for index in np.nonzero(near)), strict=True):
            tests.setdefault((int(slots[k]), float(records.p[position, k])), []).append(position)
    slots = np.array(sorted({slot for slot, _ in tests}), dtype=np.int64)
    first, second = (ends.tolist() for ends in pairs_at(slots, len(result.names)))
    pairs = dict(zip(slots.tolist(), zip(first, second, strict=True), strict=True))
    order = sorted(tests, key=lambda test: (set(pairs[test[0]]).isdisjoint(contexts), test[1]))
    for slot, p in order[:MOST_NEAR_MISSES]:
        places = tests[slot, p]
        x, y = (result.names[end] for end in pairs[slot])
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
    if len(order) > MOST_NEAR_MISSES:
        message = f"{len(order) - MOST_NEAR_MISSES} more p-values were close to alpha; see tests()"
        yield Finding("near miss", Severity.NOTE, message)


def determinism(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """Columns of which a context is a function without error.

    Given such a column the context is constant, and a test against it is undefined, not
    independent: the finding says how to declare the function.
    """
    for step_function in step_functions(rows):
        context = step_function.context
        column = step_function.column
        message = (
            f"{context} is a function of {column} without a single exception; given {column} it"
            " carries no information, so its links cannot be tested properly"
        )
        declared = step_function.advice(len(rows.contexts.positions) == 1)
        advice = (
            f"if it was made from {column}, declare it: {declared}; if {column} only has far apart"
            f" values because {context} shifts it, leave the call as it is"
        )
        call = f"context={step_function.call()}"
        evidence = {"column": column, "cuts": step_function.cuts, "call": call}
        yield Finding("deterministic context", Severity.WARNING, message, advice, evidence)


def overlap(rows: Dataset) -> Iterator[Finding]:
    """Variables whose ranges hardly overlap between two values of a context.

    Columns that the context is a function of are left out: their ranges never overlap.
    """
    known = {(rows.names[context], rows.names[source]) for context, source in rows.contexts.made}
    known |= {
        (step_function.context, step_function.column) for step_function in step_functions(rows)
    }
    for context, levels in zip(rows.contexts.positions, rows.levels, strict=True):
        for position in rows.system:
            if (rows.names[context], rows.names[position]) not in known:
                yield from _apart(rows, position, context, levels)


def ranked_overlap(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """The variables that are apart between most values of a context, then the number of others."""
    ranked = sorted(
        overlap(rows), key=lambda finding: (-finding.evidence["pairs"], finding.evidence["overlap"])
    )
    yield from ranked[:MOST_OVERLAP_COLUMNS]
    if len(ranked) > MOST_OVERLAP_COLUMNS:
        names = ", ".join(finding.evidence["column"] for finding in ranked[MOST_OVERLAP_COLUMNS:])
        more = len(ranked) - MOST_OVERLAP_COLUMNS
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
    """The finding on the values of a context between which the 5-95 % ranges of a column hardly
    overlap.

    The overlap of two ranges is what they share of the shorter one: max(0, min(high) - max(low)) /
    length. The pair with the least overlap is named.
    """
    name = data.names[position]
    column = np.asarray(data.columns[position], dtype=np.float64)
    codes = np.asarray(data.columns[context])
    inside = [column[(codes == level) & np.isfinite(column)] for level in range(len(levels))]
    boxes = [
        np.quantile(values, (0.05, 0.95)) if values.size else np.full(2, np.nan)
        for values in inside
    ]
    # the overlap as a share of the shorter range; 1 where it cannot be said
    shares: dict[tuple[int, int], float] = {}
    for a, b in combinations(range(len(boxes)), 2):
        low, high = boxes[a]
        lower, upper = boxes[b]
        shorter = np.minimum(high - low, upper - lower)
        shared = max(0.0, min(high, upper) - max(low, lower))
        shares[a, b] = float(shared / shorter) if shorter > 0.0 else 1.0
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
    """Edges that some contexts lack: those that are claimed as changes, then a few that are in
    doubt.

    There is one finding for every edge and every reason why contexts lack it. They are compared
    with the context that has it and differs least in its context variables, of several the largest.
    A last line counts doubtful edges beyond `MOST_DOUBTFUL_EDGES`.
    """
    findings = list(_findings_of_absence(result, rows))
    yield from (finding for finding in findings if finding.severity is Severity.NOTE)
    doubtful = [finding for finding in findings if finding.severity is not Severity.NOTE]
    yield from doubtful[:MOST_DOUBTFUL_EDGES]
    names = [
        f"{finding.evidence['source']} - {finding.evidence['target']}"
        for finding in doubtful[MOST_DOUBTFUL_EDGES:]
    ]
    more = list(dict.fromkeys(names))
    if more:
        subject = (
            "edges that some contexts lack are"
            if len(more) > 1
            else "edge that some contexts lack is"
        )
        message = f"{len(more)} more {subject} in doubt: {', '.join(more)}"
        evidence = {"source": "", "target": "", "cause": "several", "edges": tuple(more)}
        yield Finding(
            TOPIC, Severity.CAUTION, message, "see changes() and explain() for them", evidence
        )


class _Absence(NamedTuple):
    """A context that lacks an edge, and one that has it, both by position, with the verdict on
    them.
    """

    support: MatchedSupport
    present: int
    absent: int


def _findings_of_absence(result: ContextGraphs, rows: Dataset) -> Iterator[Finding]:
    """A finding for every edge between system variables that some contexts lack, and every reason
    why.

    Contexts are grouped by the verdict of `changes` and the cause that the matched support gives;
    where `changes` has a doubt, that alone is the reason.
    """
    support = Support(rows, result.settings.alpha)
    endpoints = np.stack([result.graphs[value].endpoints for value in result.contexts])
    contexts = result.cells.positions
    verdicts = ChangeVerdicts(result)
    for x, y in np.argwhere(np.triu(endpoints.any(axis=0))).tolist():
        if x in contexts or y in contexts:
            continue
        by_reason: dict[tuple[Cause | None, ChangeVerdict | None], list[_Absence]] = {}
        for absent in np.flatnonzero(endpoints[:, x, y] == 0).tolist():
            present = _nearest_with_edge(result, endpoints, (x, y), absent)
            source, target = as_written(endpoints[present], x, y)
            is_arrow = mark_of(endpoints[present], source, target) == "-->"
            settled = is_arrow and result.union.kind is GraphKind.CPDAG
            matched = _verdict(result, support, source, target, settled, present, absent)
            ends = result.names[source], result.names[target]
            verdict = verdict_on(*ends, verdicts.between(present, absent))
            # a doubt is one, whatever the support
            cause = None if verdict is not None and verdict.doubt else matched.cause
            by_reason.setdefault((cause, verdict), []).append(_Absence(matched, present, absent))
        for (_, verdict), absences in by_reason.items():
            yield _finding(result, endpoints, (x, y), verdict, absences)


def _nearest_with_edge(
    result: ContextGraphs, endpoints: Endpoints, pair: tuple[int, int], absent: int
) -> int:
    """The context that a context without the edge is compared with.

    It has the edge, and differs in the fewest context variables; of several the one with the most
    rows, then the first.
    """
    x, y = pair
    having = np.flatnonzero(endpoints[:, x, y]).tolist()
    return min(
        having,
        key=lambda context_index: (
            len(result.cells.differing(context_index, absent)),
            -result.data.rows[context_index],
            context_index,
        ),
    )


def _finding(
    result: ContextGraphs,
    endpoints: Endpoints,
    pair: tuple[int, int],
    change: ChangeVerdict | None,
    absences: list[_Absence],
) -> Finding:
    """The finding about an edge in all contexts that lack it for one reason.

    It is a note where the change may be claimed, a caution elsewhere; its evidence has the numbers
    of the matched support.
    """
    verdict, present, _ = absences[0]
    x, y = as_written(endpoints[present], *pair)
    edge = f"{result.names[x]} {mark_of(endpoints[present], x, y)} {result.names[y]}"
    value_with_edge = result.contexts[present]
    without = tuple(result.contexts[absence.absent] for absence in absences)
    doubt = _doubt(change, verdict)
    trusted = verdict.cause is Cause.MECHANISM and not doubt
    evidence = {
        "source": result.names[x],
        "target": result.names[y],
        "present": value_with_edge,
        "absent": without[0],
        "all absent": without,
        "cause": verdict.cause.value,
        "doubt": doubt,
        "p": verdict.p,
        "matched rows": verdict.rows,
        "variance ratio": verdict.variance_ratio,
        "power": verdict.power,
    }
    names = listed(map(value_text, without), MOST_NAMED_TOGETHER)
    headline = f"{edge} is in {value_text(value_with_edge)} and not in {names}"
    if change is not None and change.kind == "slope":
        headline += ", where its slope is not 0 either"
    words = f"it {WORDS[verdict.cause]}"
    if doubt:
        words = f"not claimed as a change, since {DOUBTS.get(doubt, doubt)}"
    severity = Severity.NOTE if trusted else Severity.CAUTION
    advice = _advice(change, verdict)
    return Finding(TOPIC, severity, f"{headline}: {words}", advice, evidence)


def _doubt(change: ChangeVerdict | None, verdict: MatchedSupport) -> str:
    """The reason against a change of mechanism, as `changes` sees it; "" without one.

    A change that `changes` neither claims nor doubts is unclear, though the support says that
    mechanisms differ.
    """
    if change is None or change.claimed or change.doubt:
        return "" if change is None else change.doubt
    return UNCLEAR if verdict.cause is Cause.MECHANISM else ""


def _advice(change: ChangeVerdict | None, verdict: MatchedSupport) -> str:
    """The advice on a missing edge, by its cause; none where `changes` has a doubt of its own."""
    if change is not None and change.doubt:
        return ""
    advice = ADVICE.get(verdict.cause, "")
    if advice and change is not None and change.claimed:
        advice += "; changes() claims it from the slopes alone"
    return advice


def _verdict(
    result: ContextGraphs,
    support: Support,
    x: int,
    y: int,
    directed: bool,
    present: int,
    absent: int,
) -> MatchedSupport:
    """The support of a missing edge; without a direction, of the end that trusts it least (`RANK`).

    Conditions are those of the separating set, without the column that the context is made of: its
    ranges never overlap between the steps.
    """
    # the ranges of such a column never overlap between the steps made out of it
    made_from = result.settings.indicator
    given = [z for z in conditions(result, x, y, absent) if result.names[z] != made_from]
    verdicts = [support.verdict(x, y, given, present, absent)]
    if not directed:
        verdicts.append(support.verdict(y, x, given, present, absent))
    return min(verdicts, key=lambda verdict: RANK.index(verdict.cause))


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
    """Columns whose holes depend on other columns, each with those that decide.

    A logit of the missing cells on all other columns is compared with a constant by its likelihood,
    2 (l - l0) being chi-squared under independence; the level `HOLES_LEVEL` is shared by all
    columns with holes. Missing cells of the other columns are completed first.
    """
    prepared = result.prepared
    data = result.rows
    completed = prepared.completed if isinstance(prepared, PreparedCompletions) else None
    data = data if completed is None else completed.given
    if data is None or result.series is not None or len(data.names) > MOST_HOLES_COLUMNS:
        return
    gaps = _gaps(data)
    if not gaps:
        return
    columns = _predictors((complete(data, 0) if completed is None else completed).table(0))
    for position, missing in gaps.items():
        others = {other: column for other, column in columns.items() if other != position}
        whole = _likelihood(missing, list(others.values()))
        df = sum(map(len, others.values()))
        p = float(scipy.special.chdtrc(df, 2.0 * (whole - _likelihood(missing, []))))
        if p > HOLES_LEVEL / len(gaps):
            continue
        name = data.names[position]
        deciding = tuple(data.names[other] for other in _deciding(missing, others, whole))
        message = (
            f"whether {name} is missing depends on {listed(deciding, 3)} ({p_words(p)}, a logit)"
        )
        evidence = {"column": name, "p": p, "depends on": deciding}
        yield Finding(
            "missing cells",
            Severity.CAUTION,
            message,
            MODES.get(result.settings.missing, ""),
            evidence,
        )


def _gaps(data: Dataset) -> dict[int, Bools]:
    """The missing rows, shape (rows,), of the columns with enough of them, and enough of others."""
    gaps = {}
    for position, missing in missing_rows(data).items():
        if FEWEST_HOLES <= missing.sum() <= len(missing) - FEWEST_OBSERVED:
            gaps[position] = missing
    return gaps


def _deciding(missing: Bools, others: dict[int, Floats], whole: float) -> list[int]:
    """The columns that matter for the holes given all others, the clearest first; at least one.

    `whole` is the log-likelihood with all of them. A column matters if twice the loss without it is
    too large for chi-squared.
    """
    without = {}
    for left_out in others:
        kept = [column for other, column in others.items() if other != left_out]
        without[left_out] = _likelihood(missing, kept)
    ranked = sorted(without, key=lambda other: without[other])
    clear = []
    for other in ranked:
        gain = max(2.0 * (whole - without[other]), 0.0)
        if float(scipy.special.chdtrc(len(others[other]), gain)) < HOLES_LEVEL:
            clear.append(other)
    return clear or ranked[:1]


def _predictors(table: Dataset) -> dict[int, Floats]:
    """By position, the columns of a completed table in a logit, shape (columns, rows) each.

    A number is in standard units; a category, or a context, has indicators of its levels but the
    first. Columns that do not vary are left out.
    """
    predictors = {}
    for position, column in enumerate(table.columns):
        values = np.asarray(column, dtype=np.float64)
        if position in table.contexts.positions or table.kinds[position] is Kind.CATEGORICAL:
            levels = np.unique(values)[1:]
            columns = (values == levels[:, None]).astype(np.float64)
        else:
            columns = ((values - values.mean()) / max(float(values.std()), 1e-300))[None]
        if len(columns) and columns.std() > 0.0:
            predictors[position] = columns
    return predictors


def _likelihood(missing: Bools, columns: list[Floats]) -> float:
    """The largest log-likelihood of a logit of the missing cells on some columns and a constant."""
    design = np.vstack([np.ones((1, len(missing))), *columns])
    response = missing.astype(np.int64)
    slopes = first_slopes(LOGIT, response, 2, len(design))
    return fit_glm(LOGIT, np.ascontiguousarray(design), response, 2, slopes, 0.0, HOLES_TOLERANCE)
