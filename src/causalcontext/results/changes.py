"""The differences between two contexts, and those of them that may be claimed.

An edge that is missing in a small context may be lack of power, and a correlation moves with the
variance of the cause though the mechanism does not. So a change is claimed only where the edge is
found in one context and not in the other, the slopes differ too, after false-discovery control over
all such claims, and nothing else explains the difference (`results.slope_fits`). A link that both
contexts have may change its slope: that needs the same evidence.

What is said about a pair is decided here, once: `explain`, `diagnose` and the report ask for these
verdicts. A pair may be dependent inside contexts and not on all rows, for the context selects rows,
or the dependences of the contexts cancel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from causalcontext.data.frames import frame_of, pd
from causalcontext.errors import CausalContextError, OptionError, value_text
from causalcontext.graphs.endpoints import (
    Endpoint,
    GraphKind,
    as_written,
    directed,
    mark_of,
    may_cause,
)
from causalcontext.graphs.lag_names import split
from causalcontext.kernels.arrays import Floats
from causalcontext.progress import Count, counting_bar
from causalcontext.results.empty import because, empty
from causalcontext.results.equations import NUMBER
from causalcontext.results.evidence import ScoreEvidence
from causalcontext.results.kept import answers_of
from causalcontext.results.levels_and_spreads import KINDS, LEVEL, moved, readers, shared_bend
from causalcontext.results.series import context_nodes
from causalcontext.results.settings import (
    CLEARLY_DEPENDENT,
    DIRECTION_MARGIN_PER_VALUE,
    LARGEST_MARGIN,
    LARGEST_NEGLIGIBLE,
    MOST_FOR_SECOND_OPINION,
    ONE_SIDED_95,
)
from causalcontext.results.slope_fits import (
    SHOWN,
    RowFits,
    WindowFits,
    compare,
    fits_of,
    possible_causes,
)
from causalcontext.results.slopes import heterogeneity
from causalcontext.results.thin import why_no_changes
from causalcontext.results.violations import (
    bends_in,
    by_ranks,
    graded,
    has_levels,
    is_curved,
    scored,
    slopes_mislead,
    spiked,
)
from causalcontext.results.words import context_place

if TYPE_CHECKING:
    from causalcontext.results.contexts import ContextGraphs

CLAIMED = "claimed"
CANDIDATE = "candidate"
Claim = tuple[str, str, str, str]
"""Two variables in the order of their names, and the contexts with and without the edge."""


LABEL_COLUMNS = ["source", "target", "mark", "context", "label", "correlation", "bound", "n"]


class Change(NamedTuple):
    """One difference between the graphs of two contexts.

    `effect` is the slope of the target on the source in either context, NaN where it cannot be
    computed; of a curved mechanism, and beside categories, it is how much of the mechanism shows, 1
    being all of it. `reason` says why a change is not claimed; if that was found before slopes were
    compared, there is no `q`. `status` is "claimed", or "candidate" for what is only worth another
    look.
    """

    source: str
    target: str
    mark: str
    kind: str
    present: Any
    absent: Any
    effect_present: float = np.nan
    effect_absent: float = np.nan
    difference: float = np.nan
    p: float = np.nan
    q: float = np.nan
    claimed: bool = False
    label: str = "present"
    reason: str = ""
    status: str = CANDIDATE


def all_changes(
    result: ContextGraphs,
    first: Any = None,
    second: Any = None,
    alpha: float | None = None,
    progress: bool | Count = False,
) -> pd.DataFrame:
    """The differences between contexts, two at a time; see `ContextGraphs.changes`."""
    pairs = list(_pairs_to_compare(result.contexts, first, second))
    if not pairs:
        return no_changes(WITHOUT_CONTEXT if result.context is None else ONE_CONTEXT)
    reasons = []
    listed_changes: list[Change] = []
    with counting_bar("contexts compared", progress) as advance:
        for done, pair in enumerate(pairs):
            advance(done, len(pairs))
            reason = why_no_changes(result, *pair)
            if reason:
                reasons.append(reason)
                continue
            listed_changes += sorted(found_changes(result.searched, *pair, alpha), key=_by_claim)
        advance(len(pairs), len(pairs))
    if not listed_changes:
        return no_changes("; ".join(dict.fromkeys(reasons)) or _nothing_differs(result, pairs))
    if len(pairs) > 1:
        listed_changes.sort(key=_by_claim)
    return frame_of(listed_changes, columns=list(Change._fields))


def _by_claim(change: Change) -> tuple[bool, float]:
    """The order of a table: claims first, then by the adjusted p-value."""
    return (not change.claimed, change.q if change.q == change.q else 2.0)


def _pairs_to_compare(
    contexts: Sequence[Any], first: Any, second: Any
) -> Iterator[tuple[Any, Any]]:
    """The contexts that are compared, two at a time; a single one with all others."""
    if first is None and second is None:
        yield from combinations(contexts, 2)
    elif first is None or second is None:
        value = contexts[context_place(contexts, second if first is None else first)]
        yield from ((value, other) for other in contexts if other != value)
    else:
        yield first, second


WITHOUT_CONTEXT = "there is only one graph; pass context=... to discover to compare contexts"
ONE_CONTEXT = "only one context has enough rows, so there is nothing to compare"


def _nothing_differs(result: ContextGraphs, pairs: Sequence[tuple[Any, Any]]) -> str:
    """The reason in words why a table of changes is empty though contexts were compared."""
    if result.settings.method == "pc-p":
        return "pc-p has one graph for all contexts, so no edge differs between them"
    where = f"{pairs[0][0]} and {pairs[0][1]}" if len(pairs) == 1 else "any two contexts"
    return f"no edge, slope, level or spread is known to differ between {where}"


def no_changes(reason: str) -> pd.DataFrame:
    """The table of `changes` without a row; `attrs["reason"]` says in words why."""
    return because(frame_of(columns=list(Change._fields)).astype({"claimed": bool}), reason)


NOT_CONFIRMED = "score-ac was not asked: second_opinion() compares both"
NO_AGREEMENT = "score-ac does not confirm it"


def found_changes(
    result: ContextGraphs, first: Any, second: Any, alpha: float | None = None
) -> list[Change]:
    """The differences between two context graphs; claims are candidates where something speaks
    against them.

    So they are if the model is wrong where they are, if they come from tests and no score agrees,
    and where a number of two to five values is near, or one with a value that stands out beside
    measurements: what it stands for may be a finer cause that is not in the table, and this leaves
    links that differ between contexts though nothing changes.
    """
    weighed = [
        _unless_vetoed(result, change) for change in own_claims(result, first, second, alpha)
    ]
    if result.evidence is not None:
        return weighed
    return [_unless_score_disagrees(result, change, alpha) for change in weighed]


def _unless_score_disagrees(result: ContextGraphs, change: Change, alpha: float | None) -> Change:
    """The change as it is, or a candidate, if score-ac does not claim what tests do."""
    if not change.claimed:
        return change
    agreed = confirmed(result, change.present, change.absent, alpha)
    if isinstance(agreed, str):
        return _candidate(change, agreed)
    return change if agreed.intersection(_same_claims(change)) else _candidate(change, NO_AGREEMENT)


def _unless_vetoed(result: ContextGraphs, change: Change) -> Change:
    """The change as it is, or a candidate with the reason of the first veto, if it is claimed."""
    if change.claimed:
        for veto in VETOES:
            reason = veto(result, change)
            if reason:
                return _candidate(change, reason)
    return change


def scale_is_doubtful(result: ContextGraphs, change: Change) -> str:
    """The reason in words why the scale of a column makes differences between contexts; "" if it
    does not.

    That of an end; of a scale that bends mechanisms, which turns links, that of a neighbour of an
    end as well; of one that makes effects of a column smaller, which other causes get then, that of
    another cause alone.
    """
    ends = {change.source, change.target}
    for doubtful in result.doubtful_scales:
        if doubtful.by_ranks and by_ranks(result):
            continue
        near = ends
        if doubtful.near:
            near = ends.union(*(result.union.neighbours(end) for end in ends))
        if doubtful.as_causes:  # what a cause lost goes to the others
            near = _other_causes(result, change)
        if change.kind in doubtful.kinds and near.intersection(doubtful.columns):
            return doubtful.reason
    return ""


def _other_causes(result: ContextGraphs, change: Change) -> set[str]:
    """The causes of the effect of a change beside its ends, and what may be one; of both ends where
    the graphs do not say which of them is the effect.
    """
    ends = (change.source, change.target)
    effects = ends[1:] if change.mark == "-->" else ends
    union = result.union
    return {
        other
        for effect in effects
        for other in union.neighbours(effect)
        if other not in ends and union.mark(effect, other) != "-->"
    }


def model_is_wrong(result: ContextGraphs, change: Change) -> str:
    """The reason in words why the mechanism that a change is about cannot be compared; "" if
    nothing says so.

    That is the mechanism of the effect, of either end where the graphs do not say which one it is.
    """
    names = result.names
    contexts = context_nodes(result)
    places = [context_place(result.contexts, value) for value in (change.present, change.absent)]
    ends = [names.index(name) for name in (change.source, change.target)]
    effects = {end for end in (ends[1:] if change.mark == "-->" else ends) if end not in contexts}
    near = {
        *ends,
        *(cause for effect in effects for cause in possible_causes(result, effect, effect, places)),
    }
    named = (
        frozenset(names[position] for position in variables - contexts)
        for variables in (near, effects)
    )
    return slopes_mislead(result, *named)


def own_claims(
    result: ContextGraphs, first: Any, second: Any, alpha: float | None = None
) -> tuple[Change, ...]:
    """The differences between two context graphs, with what these graphs alone would claim.

    They are compared once: the answer at the level of the search is kept.
    """
    if result.context is None:
        raise OptionError(WITHOUT_CONTEXT)
    a = context_place(result.contexts, first)
    b = context_place(result.contexts, second)
    if a == b:
        raise OptionError(f"changes needs two different contexts, got {first!r} twice")
    if alpha is not None:
        return tuple(_compared(result, a, b, alpha))
    known = answers_of(result).compared
    if (a, b) not in known:
        known[a, b] = tuple(_compared(result, a, b, result.settings.alpha))
    return known[a, b]


def _compared(result: ContextGraphs, a: int, b: int, level: float) -> list[Change]:
    """The differences between two contexts, by their places.

    Edges that one context has come first, then slopes of links that both have, where the model of a
    score lets them differ. The p-values of both are adjusted together, out of as many links as a
    search picked them from. After tests the slopes of shared links follow, and after all searches
    levels and spreads, edges that turn, and ends that differ.
    """
    fits = fits_of(result)
    changes = list(_one_sided(result, fits, a, b))
    for x, y in fits.moved(a, b):  # links that both contexts have, with slopes that may differ
        first_slope, second_slope, p, doubt = (
            (*fits.slopes(x, y, a, b), "")
            if isinstance(fits, WindowFits)
            else fits.compare_slopes(x, y, a, b, both=True)[:4]
        )
        mark = mark_of(result.graphs[result.contexts[a]].endpoints, x, y)
        changes.append(
            Change(
                result.names[x],
                result.names[y],
                mark,
                "slope",
                result.contexts[a],
                result.contexts[b],
                first_slope.value,
                second_slope.value,
                second_slope.value - first_slope.value,
                p,
                reason=doubt,
            )
        )
    # Out of how many links a search picks differences without testing each; 0 for tests of rows,
    # which test them.
    names = result.names if result.series is None else result.series.variables
    system = len(names) - len(result.cells.positions)
    picked_from = 0
    if result.series is not None:
        picked_from = system * (system * (result.series.lags + 1) - 1)
    elif result.evidence is not None:
        picked_from = system * (system - 1) // 2
    adjusted = false_discovery(
        [1.0 if change.reason else change.p for change in changes], picked_from
    )
    what = "curves" if is_curved(result) else "slopes"
    changes = [
        (
            _recalled(result, change)
            if result.table is None
            and (is_curved(result) or (has_levels(result) and np.isnan(change.p)))
            else change
            if change.reason
            else _decided(fits, change, float(q), level, what)
        )
        for change, q in zip(changes, adjusted, strict=True)
    ]
    changes += _tested_slopes(result, fits, a, b, level)
    return [
        *changes,
        *_levels_and_spreads(result, changes, a, b, level),
        *_other_ends(result, a, b),
    ]


def _tested_slopes(
    result: ContextGraphs, fits: RowFits | WindowFits, a: int, b: int, level: float
) -> list[Change]:
    """After a search by tests: the links of both contexts whose slopes differ.

    Such a search models no slopes, so those of all its links are compared: their p-values are
    adjusted by themselves, and links whose slopes may be the same are not listed.
    """
    if result.evidence is not None or not isinstance(fits, RowFits):
        return []
    pairs = list(fits.shared_links(a, b))
    rows = []
    for x, y in pairs:
        first_slope, second_slope, p = fits.slopes_apart(x, y, (a, b))
        change = Change(
            result.names[x],
            result.names[y],
            mark_of(result.graphs[result.contexts[a]].endpoints, x, y),
            "slope",
            result.contexts[a],
            result.contexts[b],
            first_slope.value,
            second_slope.value,
            second_slope.value - first_slope.value,
            p,
        )
        rows.append(change)
    adjusted = false_discovery([change.p for change in rows])
    differing = []
    for (x, y), change, q in zip(pairs, rows, adjusted.tolist(), strict=True):
        if not q <= level:
            continue
        doubt = fits.direction_doubt(x, y, (a, b))
        if doubt:
            differing.append(change._replace(q=q, reason=doubt))
        else:
            differing.append(_decided(fits, change, q, level, "slopes"))
    return differing


def _why_alike(
    fits: RowFits | WindowFits, change: Change, q: float, level: float, what: str
) -> str:
    """The reason why a difference of slopes is no claim, where the p-values of all that could be
    right are not small; where they are small given the causes in the graph, the reason says so.
    """
    if q != q:
        return f"the {what} cannot be compared"
    sizes = np.isfinite([change.effect_present, change.effect_absent])
    if isinstance(fits, RowFits) and sizes.all() and not is_curved(fits.result):
        result = fits.result
        x, y = (result.names.index(name) for name in (change.source, change.target))
        two = (
            context_place(result.contexts, change.present),
            context_place(result.contexts, change.absent),
        )
        given = possible_causes(result, y, x, two)
        if heterogeneity(fits.slopes(x, y, given, two))[1] <= level:
            return (
                "the slopes differ given the causes in these graphs, but may be the same if other"
                " causes, or the other direction, are right"
            )
    return f"the {what} may be the same"


def _decided(
    fits: RowFits | WindowFits, change: Change, q: float, level: float, what: str
) -> Change:
    """A claim where q is small and neither a bend that all contexts share nor errors explain as
    much, else a candidate.

    `what` is the word for what is compared, slopes or curves. Bends need rows: without them a claim
    is one that was made before. Errors of measurement are asked about for straight mechanisms
    without lags alone.
    """
    result = fits.result
    change = change._replace(q=q)
    if not q <= level:
        return change._replace(reason=_why_alike(fits, change, q, level, what))
    if result.table is None and isinstance(answers_of(result).claims, tuple):
        return _recalled(result, change)
    x, y = (result.names.index(name) for name in (change.source, change.target))
    two = (
        context_place(result.contexts, change.present),
        context_place(result.contexts, change.absent),
    )
    doubt = shared_bend(result, x, y, *two)
    if not doubt and isinstance(fits, RowFits) and not is_bent(result, change):
        doubt = fits.errors_explain(x, y, *two)
    return change._replace(reason=doubt) if doubt else change._replace(claimed=True, status=CLAIMED)


def is_bent(result: ContextGraphs, change: Change) -> bool:
    """True where a change of a link is one of curves: of slopes it is not, where the mechanism has
    no curve.
    """
    if change.kind != "slope":
        return is_curved(result)
    places = [context_place(result.contexts, value) for value in (change.present, change.absent)]
    return bends_in(result, result.names.index(change.target), places)


def moved_words(change: Change, normal_scores: bool) -> str:
    """A sentence on what a context does to the level or to the spread of a mechanism, which is in
    the units of the table, or in normal scores.
    """
    first_context = value_text(change.present)
    second_context = value_text(change.absent)
    unit = "in normal scores, " if normal_scores else ""
    if change.kind == LEVEL:
        levels = (
            f"{change.effect_present:.3g} in {first_context} and"
            f" {change.effect_absent:.3g} in {second_context}"
        )
        return (
            f"{change.source} changes the level of {change.target}: {unit}with its causes at their"
            f" average it is {levels}"
        )
    times = f"{change.difference:.2g} times as large in {second_context} as in {first_context}"
    return (
        f"{change.source} changes the spread of the noise of {change.target}: {unit}it is {times}"
    )


def _recalled(result: ContextGraphs, change: Change) -> Change:
    """The change as it was claimed before a result was saved, where it needs rows to be compared
    again.
    """
    known = answers_of(result).claims
    if not isinstance(known, str) and known is not None and claim_of(change) in known:
        return change._replace(claimed=True, status=CLAIMED, reason="")
    cannot = "it cannot be tested again, since the file has no rows: save the result with rows=True"
    return change._replace(reason=change.reason or scale_is_doubtful(result, change) or cannot)


def _few_values(result: ContextGraphs, change: Change) -> str:
    """A sentence that names a number of few values among the ends of a link, or their neighbours,
    and the remedy; "" if there is none.

    Of a coarse number the lowest and the highest value hold what is beyond them, so that slopes of
    a link that stays differ where another one goes.
    """
    near = {
        name
        for end in (change.source, change.target)
        for name in (end, *result.union.neighbours(end))
    }
    if special_neighbours := near & graded(result):
        name = split(min(special_neighbours))[0]
        return (
            f"{name} has few values and may stand for something finer; if it is all there is, pass "
            f"kinds={{{name!r}: 'ordered'}}, or 'categorical'"
        )
    if special_neighbours := near & spiked(result):
        name = split(min(special_neighbours))[0]
        return (
            f"one value of {name} stands out and may stand for something finer; if it is all there"
            f" is, pass kinds={{{name!r}: 'continuous'}}"
        )
    if change.kind in ("slope", *KINDS) and (
        special_neighbours := {change.source, change.target} & scored(result)
    ):
        return (
            f"{min(special_neighbours)} has few values: its {change.kind} also moves where other"
            " causes make it spread more"
        )
    return ""


VETOES = (_few_values, scale_is_doubtful, model_is_wrong)
"""The vetoes of a claim, in their order: each gives a reason in words, or "" where it has none."""


def confirmed(
    result: ContextGraphs, first: Any, second: Any, alpha: float | None = None
) -> set[Claim] | str:
    """The claims of score-ac about the same rows, or why there are none; those that were saved, if
    loaded.
    """
    kept = answers_of(result)
    if kept.claims is not None and kept.opinion is None:
        return kept.claims if isinstance(kept.claims, str) else set(kept.claims)
    if kept.opinion is None:
        return why_not_asked(result) or NOT_CONFIRMED
    if isinstance(kept.opinion, str):
        return kept.opinion
    claims = own_claims(kept.opinion, first, second, alpha)
    return {claim_of(change) for change in claims if change.claimed}


def why_not_asked(result: ContextGraphs) -> str:
    """The reason in words why no other engine can be asked about a result; "" if it can."""
    other = "score-ac" if result.evidence is None else "pc-ac"
    if result.windowed is None and (result.rows is None or result.prepared is None):
        return "a result without rows cannot be compared with another engine"
    if not result.complete:
        return f"{other} was not run: the search was interrupted"
    if not result.cells.positions or result.union.kind is not GraphKind.CPDAG:
        return f"{other} cannot be compared with a PAG, or where there is no context"
    if result.settings.missing == "testwise" or len(result.names) > MOST_FOR_SECOND_OPINION:
        return f"{other} was not run: too many variables, or incomplete rows"
    return ""


def compare_contexts(result: ContextGraphs, most: int) -> None:
    """Compare all contexts, two at a time, and keep the answers, if that takes at most `most`
    comparisons.

    An error of a comparison is left to `changes()`, which raises it with its sentence. Without
    contexts, or without moments, nothing is compared.
    """
    contexts = result.contexts
    if result.context is None or len(contexts) * (len(contexts) - 1) // 2 > most:
        return
    if result.moments is None and result.series is None:
        return
    for first, second in combinations(contexts, 2):
        with suppress(CausalContextError):  # changes() raises it again, with its sentence
            own_claims(result, first, second)


def claims_to_keep(result: ContextGraphs) -> tuple[Claim, ...] | str | None:
    """The claims that stand between the contexts that were compared, for a file; None where
    score-ac was not asked.

    Without rows neither curves nor bends can be compared again, so a loaded result makes the claims
    that it made before, and no others. After tests these are the claims that score-ac confirms.
    """
    kept = answers_of(result)
    if kept.claims is not None and kept.opinion is None:
        return kept.claims
    if result.context is None:
        return ()
    if result.evidence is None and (kept.opinion is None or isinstance(kept.opinion, str)):
        return kept.opinion
    claims: dict[Claim, None] = {}
    for places, compared in list(kept.compared.items()):
        agreed = None
        if result.evidence is None:
            agreed = confirmed(result, *(result.contexts[index] for index in places))
        for change in compared:
            if _stands(result, change, agreed):
                claims[claim_of(change)] = None
    return tuple(claims)


def _stands(result: ContextGraphs, change: Change, agreed: set[Claim] | str | None) -> bool:
    """True for a claim that no veto of the model or of the scale meets, and that another engine
    confirms; `agreed` are its claims, None or a reason where it has no say.
    """
    if not change.claimed or scale_is_doubtful(result, change):
        return False
    if isinstance(agreed, set) and not agreed.intersection(_same_claims(change)):
        return False
    return not model_is_wrong(result, change)


def claim_of(change: Change) -> Claim:
    """The two ends by name, and the contexts as they are written; of a slope in any order, which is
    the alphabet's.
    """
    first_context, second_context = (value_text(value) for value in (change.present, change.absent))
    if change.kind != "edge":
        first_context, second_context = sorted((first_context, second_context))
    if change.kind in KINDS:  # one context may change both of a variable
        first_context, second_context = (
            f"{change.kind} in {value}" for value in (first_context, second_context)
        )
    return (*sorted((change.source, change.target)), first_context, second_context)  # type: ignore[return-value]


def _same_claims(change: Change) -> tuple[Claim, ...]:
    """The claims of another engine that say as much: a slope also differs where that one finds the
    link in one of the two contexts alone.
    """
    claim = claim_of(change)
    if change.kind != "slope":
        return (claim,)
    first, second, first_context, second_context = claim
    return (claim, (first, second, second_context, first_context))


def _candidate(change: Change, reason: str) -> Change:
    """The change with a reason why it is not claimed."""
    return change._replace(claimed=False, status=CANDIDATE, reason=reason)


def labels(result: ContextGraphs, negligible: float = LARGEST_NEGLIGIBLE) -> pd.DataFrame:
    """Every edge of the union between system variables in every context: present, absent or
    undetermined.

    "present": found there. "absent": not found, and the 90 % interval of the partial correlation
    lies within ±`negligible`. "undetermined": not found, but it may well be there.

    Columns: the two ends and the mark of the edge, the context, the label, the partial correlation
    given the set that decided (after tests) or the causes (after scores), the end of its interval
    that is further from 0, and the rows.
    """
    fits = fits_of(result)
    contexts = context_nodes(result)
    union = result.union.endpoints
    rows = []
    for first, second in np.argwhere(np.triu(union)).tolist():
        if first not in contexts and second not in contexts:
            x, y = as_written(union, first, second)
            edge = result.names[x], result.names[y], mark_of(union, x, y)
            rows += [
                (*edge, value, *_label(result, fits, x, y, context_index, negligible))
                for context_index, value in enumerate(result.contexts)
            ]
    table = frame_of(rows, columns=LABEL_COLUMNS)
    return because(table, "no edge between system variables in any context")


def no_labels(reason: str) -> pd.DataFrame:
    """The table of `labels` without a row; `attrs["reason"]` says in words why no contexts were
    compared.
    """
    return empty(LABEL_COLUMNS, reason)


def false_discovery(p: Sequence[float], of: int = 0) -> Floats:
    """Benjamini and Hochberg's adjusted p-values; what was not tested stays NaN and is not counted.

    q of the i-th smallest p-value is the least p m / i from there on, at most 1. With `of` the
    p-values are the smallest ones of so many: a search that looked at all pairs has picked them, so
    m is that number.
    """
    values = np.asarray(p, dtype=np.float64)
    adjusted = np.full(values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    scaled = values[order] * max(tested.size, of) / np.arange(1, tested.size + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def _one_sided(
    result: ContextGraphs, fits: RowFits | WindowFits, a: int, b: int
) -> Iterator[Change]:
    """Edges between system variables that one of two contexts has.

    The slope in the context without the edge is compared with that in the context with it. Where it
    is clearly not 0 there, the edge did not go: the change is one of slopes, compared as those of
    links that both contexts have. Its label says whether the edge is absent or only not found.
    """
    endpoints = [
        result.graphs[result.contexts[context_index]].endpoints for context_index in (a, b)
    ]
    contexts = context_nodes(result)
    for first, second in np.argwhere(np.triu((endpoints[0] != 0) != (endpoints[1] != 0))).tolist():
        if first in contexts or second in contexts:
            continue
        edge_endpoints, present, absent = (
            (endpoints[0], a, b) if endpoints[0][first, second] else (endpoints[1], b, a)
        )
        x, y = as_written(edge_endpoints, first, second)
        present_slope, absent_slope, p, doubt, shares = compare(fits, x, y, present, absent)
        # what is clearly not 0 is not absent
        kind = "slope" if doubt == SHOWN and not shares else "edge"
        if kind == "slope":
            present_slope, absent_slope, p, doubt, _ = fits.compare_slopes(
                x, y, present, absent, both=True
            )
        try:
            label = _label(result, fits, x, y, absent, LARGEST_NEGLIGIBLE)[0]
        except CausalContextError:
            # without the moments of windows nothing is known of a correlation
            label = "undetermined"
        yield Change(
            result.names[x],
            result.names[y],
            mark_of(edge_endpoints, x, y),
            kind,
            result.contexts[present],
            result.contexts[absent],
            present_slope.value,
            absent_slope.value,
            absent_slope.value - present_slope.value,
            p,
            label=label,
            reason=doubt,
        )


def _levels_and_spreads(
    result: ContextGraphs, earlier_changes: Sequence[Change], a: int, b: int, level: float
) -> list[Change]:
    """Levels and spreads of mechanisms that a context changes, where no link or slope is known to
    differ.

    They are tested by themselves: their p-values are the smallest of those of all variables.
    """
    changed = {
        result.names.index(change.target)
        for change in earlier_changes
        if change.kind == "edge" or not change.q > level
    }
    rows = [
        row
        for source, target in readers(result, a, b, changed)
        for row in _moved(result, source, target, a, b)
    ]
    rows = [row for row in rows if row.claimed or row.p <= level]
    variables = result.names if result.series is None else result.series.variables
    adjusted = false_discovery(
        [row.p for row in rows], len(KINDS) * (len(variables) - len(result.cells.positions))
    )
    for index, (row, q) in enumerate(zip(rows, adjusted.tolist(), strict=True)):
        if not row.claimed:
            reason = row.reason or ("" if q <= level else f"the {row.kind}s may be the same")
            status = CANDIDATE if reason else CLAIMED
            rows[index] = row._replace(q=q, reason=reason, claimed=not reason, status=status)
    return rows


def _moved(result: ContextGraphs, source: int, target: int, a: int, b: int) -> Iterator[Change]:
    """The changes of the level and the spread of a variable between two contexts; without rows
    those that were claimed before.

    The difference of levels is in units of the column, that of spreads is a ratio, second context
    to first.
    """
    mark = mark_of(result.graphs[result.contexts[a]].endpoints, source, target)
    numbers_and_doubt = moved(result, target, a, b)
    weak = (
        "" if result.evidence is None else _may_turn(result, result.evidence, source, target, a, b)
    )
    for kind in KINDS:
        change = Change(
            result.names[source],
            result.names[target],
            mark,
            kind,
            result.contexts[a],
            result.contexts[b],
        )
        if numbers_and_doubt is None:
            yield _recalled(result, change)
            continue
        first_value, second_value, p = numbers_and_doubt[0][kind]
        difference = (
            second_value - first_value
            if kind == LEVEL
            else second_value / first_value
            if first_value > 0.0
            else np.nan
        )
        doubt = (numbers_and_doubt[1] or weak) if kind == LEVEL else weak
        yield change._replace(
            effect_present=first_value,
            effect_absent=second_value,
            difference=difference,
            p=p,
            reason=doubt,
        )


def _may_turn(
    result: ContextGraphs, evidence: ScoreEvidence, source: int, target: int, a: int, b: int
) -> str:
    """The reason why a variable whose level or spread differs between contexts may be a cause of
    the context; "" if it is not.

    Both ways they would differ. The margin of the link tells the direction, most clearly beside
    other causes of the variable; without any it rests on the shape of the noise alone. So
    `DIRECTION_MARGIN_PER_VALUE` is asked for every value of the context but one, twice as much
    where the noise is not Gaussian, and `LARGEST_MARGIN` where there is no other cause. Knowledge,
    or the past, takes the place of a margin.
    """
    cause = result.names[source]
    effect = result.names[target]
    if _cannot_turn(result, source, target):
        return ""
    margin = np.nan
    if evidence.margin.size:
        margin = np.min(evidence.margin[[a, b], evidence.slot(source, target)])
    by_noise = evidence.mechanisms is not None and any(
        equation.effect == target and equation.kind == NUMBER and equation.density[0]
        for equation in evidence.mechanisms.equations
    )
    alone = context_nodes(result).issuperset(possible_causes(result, target, source, (a, b)))
    if np.isnan(margin) or (alone and not by_noise):
        # of a context that is made out of a column there is no margin
        return f"{effect} may be a cause of {cause}" if alone else ""
    asked = LARGEST_MARGIN if alone else _margin_asked(result, source, by_noise)
    if margin >= asked:
        return ""
    return (
        f"{effect} may be a cause of {cause}: the margin of the direction is below {asked:.0f} nats"
    )


def _cannot_turn(result: ContextGraphs, source: int, target: int) -> bool:
    """True if the past, or knowledge, says that the target is no cause of the source."""
    if result.series is not None:
        return split(result.names[source])[1] > 0
    return not result.settings.knowledge.links(result.names).may[target, source]


def _margin_asked(result: ContextGraphs, source: int, by_noise: bool) -> float:
    """The margin in nats that a direction needs, from a context to a variable with other causes."""
    positions = result.cells.positions
    cells = result.cells.cells
    values = len(cells)
    if source in positions:
        values = len({cell[positions.index(source)] for cell in cells})
    of_value = DIRECTION_MARGIN_PER_VALUE * (2.0 if by_noise else 1.0)
    return min(LARGEST_MARGIN, of_value * (values - 1))


def _other_ends(result: ContextGraphs, a: int, b: int) -> Iterator[Change]:
    """Edges that turn, and edges of PAGs with one end that is a tail in the one context and an
    arrow in the other.

    Ends with circles are left out: an end that is open in one context is compatible with both.
    """
    first, second = (
        result.graphs[result.contexts[context_index]].endpoints for context_index in (a, b)
    )
    for x, y in np.argwhere(directed(first) & directed(second).T).tolist():
        yield Change(
            result.names[x],
            result.names[y],
            "-->",
            "direction",
            result.contexts[a],
            result.contexts[b],
        )
    settled = [np.isin(endpoints, (Endpoint.TAIL, Endpoint.ARROW)) for endpoints in (first, second)]
    differs = settled[0] & settled[1] & (first != second)
    for x, y in np.argwhere(np.triu(differs | differs.T) & ~(differs & differs.T)).tolist():
        source, target = as_written(first, x, y)
        marks = " | ".join(mark_of(endpoints, source, target) for endpoints in (first, second))
        yield Change(
            result.names[source],
            result.names[target],
            marks,
            "end",
            result.contexts[a],
            result.contexts[b],
        )


def _label(
    result: ContextGraphs,
    fits: RowFits | WindowFits,
    x: int,
    y: int,
    context_index: int,
    negligible: float,
) -> tuple[str, float, float, int]:
    """The label, the partial correlation, the end of its 90 % interval that is further from 0, and
    the rows.

    The interval is that of Fisher's z: tanh(|atanh r| + 1.645 / √(n - |Z| - 3)). Without rows to
    spare the end is 1.
    """
    fit, n, conditions = fits.inside(x, y, context_index)
    weight = n - conditions - 3
    bound = (
        float(np.tanh(np.abs(np.arctanh(fit.correlation)) + ONE_SIDED_95 / np.sqrt(weight)))
        if weight > 0
        else 1.0
    )
    if result.graphs[result.contexts[context_index]].endpoints[x, y]:
        return "present", fit.correlation, bound, n
    return ("absent" if bound < negligible else "undetermined"), fit.correlation, bound, n


class WithinContexts(StrEnum):
    """The reason why a pair is dependent inside contexts and independent on all rows."""

    SELECTION = "selection bias"
    CANCELLATION = "cancellation"


INSIDE_WORDS = {
    WithinContexts.SELECTION: "conditioning on {context}, a common effect, can induce this",
    WithinContexts.CANCELLATION: (
        "nothing causes {context}, so this is not selection: the dependence cancels when "
        "contexts are pooled (Simpson's paradox)"
    ),
}


def why_inside_only(result: ContextGraphs) -> WithinContexts:
    """Selection needs a context that something may cause; what is known about it counts."""
    may = may_cause(result.union.endpoints)[:, list(result.cells.positions)]
    return WithinContexts.SELECTION if may.any() else WithinContexts.CANCELLATION


def inside_words(result: ContextGraphs, p: float = 0.0) -> str:
    """The same in a sentence; `p` is the p-value inside the context, which may leave room for
    chance.
    """
    why = why_inside_only(result)
    if why is WithinContexts.CANCELLATION and p > CLEARLY_DEPENDENT:
        return (
            f"nothing causes {result.context}, so this is not selection: it may be chance, or a"
            " dependence that cancels when contexts are pooled (Simpson's paradox)"
        )
    return INSIDE_WORDS[why].format(context=result.context)


class ChangeVerdict(NamedTuple):
    """The verdict of `changes` about an edge of two contexts: its claim, its doubt, and the kind of
    change.
    """

    claimed: bool
    doubt: str
    kind: str = "edge"


def verdict_on(x: str, y: str, changes: Sequence[Change]) -> ChangeVerdict | None:
    """The verdict of the changes between two contexts about a pair; None where there is nothing to
    go by.
    """
    said = (change for change in changes if {change.source, change.target} == {x, y})
    return next(
        (ChangeVerdict(change.claimed, change.reason, change.kind) for change in said), None
    )


class ChangeVerdicts:
    """The verdicts of `changes` about edges and slopes of two contexts; every two contexts are
    compared once.
    """

    def __init__(self, result: ContextGraphs) -> None:
        self._result = result
        self._known: dict[tuple[int, int], list[Change]] = {}

    def between(self, first: int, other: int) -> list[Change]:
        """The edges and slopes that differ between two contexts; none where there is nothing to go
        by.
        """
        result = self._result
        places = (min(first, other), max(first, other))
        if result.moments is None or result.context is None:
            return []
        if places not in self._known:
            changes = found_changes(
                result, *(result.contexts[context_index] for context_index in places)
            )
            self._known[places] = [change for change in changes if change.kind in ("edge", "slope")]
        return self._known[places]
