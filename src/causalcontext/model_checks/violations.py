"""What a model check finds, and its words: what was found and where, what it does to a result,
which call to try.

How much harm each of them does was measured by `python benchmarks/model_checks.py`
(docs/diagnostics.md).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from causalcontext.errors import listed

CURVES, INTERACTIONS, SPREAD, SKEW, TAILS, OUTLIERS, ROWS = KINDS = (
    "curves",
    "interactions",
    "uneven spread",
    "skew",
    "heavy tails",
    "outliers",
    "dependent rows",
)


@dataclass(frozen=True)
class Violation:
    """A check that failed."""

    kind: str  # one of `KINDS`
    columns: tuple[str, ...]  # where, the clearest first
    # how clearly in the first of them: a correlation, a skewness, an excess kurtosis, or a share of
    # rows
    size: float
    # of dependent rows, the column by which rows belong together, where there is one
    key: str = ""
    # how clearly in each of them; files do not keep it
    sizes: tuple[float, ...] = field(default=(), compare=False, repr=False)

    def without(self, columns: Collection[str]) -> Violation | None:
        """What is left of it without some columns; None if nothing is."""
        kept = [
            (one, size)
            for one, size in zip(self.columns, self.sizes, strict=True)
            if one not in columns
        ]
        if not kept:
            return None
        names, sizes = zip(*kept, strict=True)
        return Violation(self.kind, names, sizes[0], self.key, sizes)


NOTHING_LEFT = "the remedies for this are already in use"
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


class Words(NamedTuple):
    """What was found, what it does, what to try; and what else to try where score-ac does not take
    the context.
    """

    found: str
    danger: str
    remedies: tuple[Remedy, ...]
    without_score: tuple[Remedy, ...] = ()


WORDS = {
    CURVES: Words(
        "the mechanisms of {} are not straight lines",
        "many links are missed, and false links at the context appear",
        (SCORE, KNN),
        (KNN,),
    ),
    INTERACTIONS: Words(
        "causes of {} interact (their product matters)",
        "links are missed, and false links at the context appear",
        (SCORE, KNN),
        (KNN,),
    ),
    SPREAD: Words(
        "the noise of {} has unequal variance",
        "links at the context are missed, and some others are false",
        (SCORE, SANDWICH),
        (SANDWICH,),
    ),
    SKEW: Words(
        "the noise of {} is skewed",
        "links at the context are missed",
        (SCORE, LOGARITHMS, RANKS),
        (LOGARITHMS, RANKS),
    ),
    TAILS: Words(
        "the noise of {} has heavy tails", "some links at the context are missed", (RANKS,)
    ),
    OUTLIERS: Words(
        "{} have outliers, values far from all others",
        "they distort every slope: many links are missed, and false ones appear",
        (Remedy(SCORE.call, ", which tells wrong cells from heavy tails"), KEEP_ORDER),
        (KEEP_ORDER,),
    ),
    ROWS: Words(
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
"""The same of the residuals of a score-based model: what was found, what it does at a context, what
to try then.
"""
UNEXPLAINED = {
    CURVES: "a mechanism is not additive, or its noise not constant",
    SPREAD: "noise is not constant",
}
"""What residuals of a score-based model say where its mechanisms do not explain the table."""


class AdviceFacts(NamedTuple):
    """What advice depends on."""

    scored: bool = (
        True  # whether score-ac takes the context: with lags one column, not made out of another
    )
    had: tuple[Call, ...] = ()  # the calls that would change nothing, since the search had them


ANYTHING = AdviceFacts()
WITHOUT_CONTEXT = "some edges may be false, missing or wrongly directed"


def sentence(violation: Violation, context: bool = True, asked: AdviceFacts = ANYTHING) -> str:
    """One sentence for a reader of the graphs: what was found, what it does, and what to try.

    >>> print(sentence(Violation(TAILS, ("X",), 3.0)))
    the noise of X has heavy tails: some links at the context are missed; try transform='ranks'
    """
    found = WORDS[violation.kind].found.format(listed(violation.columns))
    if violation.key:
        found = f"rows with the same {violation.key} are alike in {listed(violation.columns)}"
    return f"{found}: {danger(violation, context)}; {advice(violation, asked)}"


def score_words(violation: Violation, context: bool) -> tuple[str, str]:
    """What the residuals of a score-based model say, and what to try."""
    found, at_context, remedy = SCORE_WORDS[violation.kind]
    said = found.format(listed(sorted(violation.columns)))
    return f"{said}: {at_context if context else WITHOUT_CONTEXT}", remedy if context else ""


def advice(violation: Violation, asked: AdviceFacts = ANYTHING) -> str:
    """What to try that was not tried."""
    if violation.key:
        return f"try one row for each {violation.key}, or the means of its rows"
    words = WORDS[violation.kind]
    remedies = words.remedies if asked.scored else words.without_score or words.remedies
    left = [str(remedy) for remedy in remedies if remedy.call not in asked.had]
    return f"try {', or '.join(left)}" if left else NOTHING_LEFT


def danger(violation: Violation, context: bool = True) -> str:
    """What the violation does to a result; other words without a context."""
    return WORDS[violation.kind].danger if context else WITHOUT_CONTEXT
