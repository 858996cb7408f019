"""The violations that a model check finds, in words: their place, their effect on a result, and the
call to try.

How much harm each of them does was measured by `python benchmarks/model_checks.py`
(docs/diagnostics.md).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from causalcontext.errors import listed

CURVES = "curves"
INTERACTIONS = "interactions"
SPREAD = "uneven spread"
SKEW = "skew"
TAILS = "heavy tails"
OUTLIERS = "outliers"
ROWS = "dependent rows"
KINDS = (CURVES, INTERACTIONS, SPREAD, SKEW, TAILS, OUTLIERS, ROWS)


@dataclass(frozen=True)
class Violation:
    """A check that failed."""

    kind: str  # one of `KINDS`
    columns: tuple[str, ...]  # that show it, the clearest first
    # the size in the first of them: a correlation, a skewness, an excess kurtosis, or a share of
    # rows
    size: float
    # of dependent rows, the column that says which rows belong together, where there is one
    key: str = ""
    # the size in each of them; files do not keep it
    sizes: tuple[float, ...] = field(default=(), compare=False, repr=False)

    def without(self, columns: Collection[str]) -> Violation | None:
        """The violation in the other columns; None if there are none."""
        sized = zip(self.columns, self.sizes, strict=True)
        kept = [(column, size) for column, size in sized if column not in columns]
        if not kept:
            return None
        names, sizes = zip(*kept, strict=True)
        return Violation(self.kind, names, sizes[0], self.key, sizes)


REMEDIES_IN_USE = "the remedies for this are already in use"
Call = tuple[str, str]
"""An option of a call, and its value."""


class Remedy(NamedTuple):
    """Something to try: an option with its value, where it is one, and more words about it."""

    call: Call | None
    more: str = ""

    def __str__(self) -> str:
        return self.more if self.call is None else f"{self.call[0]}={self.call[1]!r}{self.more}"


SCORE = Remedy(("method", "score-ac"))
KNN = Remedy(("test", "cmi-knn"), " for small tables")
SANDWICH = Remedy(("test", "sandwich"))
RANKS = Remedy(("transform", "ranks"))
KEEP_ORDER = Remedy(RANKS.call, ", which keeps the order of the rows, and look at those far away")
LOGARITHMS = Remedy(None, "logarithms of columns that are skewed themselves")


class ViolationWords(NamedTuple):
    """The finding, its danger and its remedies; others where score-ac does not take the context."""

    finding: str
    danger: str
    remedies: tuple[Remedy, ...]
    without_score: tuple[Remedy, ...] = ()


WORDS = {
    CURVES: ViolationWords(
        "the mechanisms of {} are not straight lines",
        "many links are missed, and false links at the context appear",
        (SCORE, KNN),
        (KNN,),
    ),
    INTERACTIONS: ViolationWords(
        "causes of {} interact (their product matters)",
        "links are missed, and false links at the context appear",
        (SCORE, KNN),
        (KNN,),
    ),
    SPREAD: ViolationWords(
        "the noise of {} has unequal variance",
        "links at the context are missed, and some others are false",
        (SCORE, SANDWICH),
        (SANDWICH,),
    ),
    SKEW: ViolationWords(
        "the noise of {} is skewed",
        "links at the context are missed",
        (SCORE, LOGARITHMS, RANKS),
        (LOGARITHMS, RANKS),
    ),
    TAILS: ViolationWords(
        "the noise of {} has heavy tails", "some links at the context are missed", (RANKS,)
    ),
    OUTLIERS: ViolationWords(
        "{} have outliers, values far from all others",
        "they distort every slope: many links are missed, and false ones appear",
        (Remedy(SCORE.call, ", which tells wrong cells from heavy tails"), KEEP_ORDER),
        (KEEP_ORDER,),
    ),
    ROWS: ViolationWords(
        "rows of {} depend on the rows before them",
        "the rows hold less evidence than their number suggests, so that false links appear",
        (Remedy(None, "lags=1 if rows follow each other in time, else fewer rows, further apart"),),
        (Remedy(None, "fewer rows, further apart"),),
    ),
}


SCORE_WORDS = {
    CURVES: (
        (
            "residuals of {} depend on earlier variables, so a mechanism is not additive or its"
            " noise not constant"
        ),
        "some edges, and above all links from the context, may be false or missing",
        "",
    ),
    SPREAD: (
        "residuals of {} have unequal variance",
        "links, above all at the context, may be false, and directions wrong",
        (
            "compare with method='pc-ac', test='sandwich', which finds fewer links and fewer false"
            " ones"
        ),
    ),
    SKEW: (
        "residuals of {} are skewed",
        "edges are mostly safe, but links at the context may be false or point the wrong way",
        "",
    ),
    TAILS: ("residuals of {} have heavy tails", "some links from the context may be false", ""),
}
"""The same of the residuals of a score-based model: the finding, its danger at a context, and the
remedy then.
"""
UNEXPLAINED = {
    CURVES: "a mechanism is not additive, or its noise not constant",
    SPREAD: "noise is not constant",
}
"""The words where the mechanisms of a score-based model do not explain the table."""


class AdviceFacts(NamedTuple):
    """The facts that advice depends on."""

    # true if score-ac takes the context: with lags one column, not made out of another
    scored: bool = True
    had: tuple[Call, ...] = ()  # the calls that would change nothing, since the search had them


ANYTHING = AdviceFacts()
WITHOUT_CONTEXT = "some edges may be false, missing or wrongly directed"


def sentence(violation: Violation, context: bool = True, asked: AdviceFacts = ANYTHING) -> str:
    """One sentence for a reader of the graphs: what was found, what it does, and what to try.

    >>> print(sentence(Violation(TAILS, ("X",), 3.0)))
    the noise of X has heavy tails: some links at the context are missed; try transform='ranks'
    """
    words = WORDS[violation.kind].finding.format(listed(violation.columns))
    if violation.key:
        words = f"rows with the same {violation.key} are alike in {listed(violation.columns)}"
    return f"{words}: {danger(violation, context)}; {advice(violation, asked)}"


def score_words(violation: Violation, context: bool) -> tuple[str, str]:
    """The words on the residuals of a score-based model, and the remedy."""
    words, at_context, remedy = SCORE_WORDS[violation.kind]
    said = words.format(listed(sorted(violation.columns)))
    return f"{said}: {at_context if context else WITHOUT_CONTEXT}", remedy if context else ""


def advice(violation: Violation, asked: AdviceFacts = ANYTHING) -> str:
    """The remedies that were not tried, in words."""
    if violation.key:
        return f"try one row for each {violation.key}, or the means of its rows"
    words = WORDS[violation.kind]
    remedies = words.remedies if asked.scored else words.without_score or words.remedies
    left = [str(remedy) for remedy in remedies if remedy.call not in asked.had]
    return f"try {', or '.join(left)}" if left else REMEDIES_IN_USE


def danger(violation: Violation, context: bool = True) -> str:
    """The danger of the violation to a result; other words without a context."""
    return WORDS[violation.kind].danger if context else WITHOUT_CONTEXT
