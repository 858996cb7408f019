"""What a search was asked for, as a result keeps it."""

from __future__ import annotations

from dataclasses import asdict, replace

from causalcontext.data.dataset import Dataset
from causalcontext.data.indicators import Indicator
from causalcontext.knowledge import Knowledge, Links
from causalcontext.options import Options
from causalcontext.results.provenance import Settings
from causalcontext.score.options import ScoreOptions
from causalcontext.search.indicator import without
from causalcontext.version import __version__

SCORE_METHODS = ("score-ac", "auto")
"""Those that search by scores, or may."""
NOTHING_KNOWN = Knowledge()


def settings_of(options: Options, test: str, context: object) -> Settings:
    """The settings of a search, by values alone."""
    limit = None if options.max_given is None else int(options.max_given)
    return Settings(
        options.method, test, float(options.alpha), options.collider_rule, limit, options.missing, int(options.seed),
        options.knowledge or NOTHING_KNOWN, __version__, _scope(options), options.orientation,
        context.column if isinstance(context, Indicator) else None,
        score=asdict(score_of(options)) if options.method in SCORE_METHODS else {},
        possible_dsep=None if options.possible_dsep is None else int(options.possible_dsep),
        contested=options.contested, context_confounded=bool(options.context_confounded),
        transform="ranks" if ranked(options) else "none",
    )  # fmt: skip


def _scope(options: Options) -> str:
    """Which edges are asked about inside the contexts; fci-ac asks about all of them."""
    return "always" if options.method == "fci-ac" else options.masked_scope


def ranked(options: Options) -> bool:
    """Whether a search sees normal scores instead of the columns; score-ac transforms the table itself."""
    return options.transform == "ranks" and options.method != "score-ac"


def score_of(options: Options) -> ScoreOptions:
    """How to search by scores; columns that are normal scores already are transformed no further."""
    return replace(options.score, transform="none") if ranked(options) else options.score


def links_of(knowledge: Knowledge, data: Dataset) -> Links:
    """What is known, by number; about a context that is made out of a column nothing can be."""
    links = knowledge.links(data.names)
    return links if data.contexts.source is None else without(links, data.contexts.positions[0])
