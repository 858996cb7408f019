"""The numbers of reports: the most that a page or a print tells, and for how long it computes.

They were chosen by reading pages, not measured: half and double
show fewer or more things, make a file smaller or larger, and change no answer. A sentence beside
what was left out says how much there is.
"""

from __future__ import annotations

# The page.

LEAST_PAIR_SHARE = 0.5
"""Pairs without an edge are listed where this share of samples has one (a share of samples): where
most samples disagree with the graph."""

MOST_CHANGES_TOLD = 12
"""Differences between contexts that are told in sentences (sentences); the table has all."""

MOST_FINDINGS_TOLD = 5
"""Findings of the diagnosis beside the warnings of the result, of which all are told (findings)."""

MOST_CONTEXTS_NAMED = 4
"""Contexts that a sentence of the page names (contexts); of more it says how many there are."""

MOST_PAIRED_CONTEXTS = 6
"""Contexts up to which slopes of all pairs of them are told (contexts): these are 15 pairs. Double
would be 66."""

TWO_SIDED_95 = 1.96
"""The .975 quantile of the standard normal law (standard errors): intervals of slopes are at .95.
Not a choice of its own."""

# The slider of cuts.

MOST_SLIDER_VARIABLES = 40
"""Variables up to which graphs of other cuts are searched (variables): beyond, these searches take
longer than a report should."""

MOST_SLIDER_CUTS = 16
"""Cuts that are searched for the slider, those next to the cut of the result first (cuts)."""

MOST_SLIDER_SECONDS = 15.0
"""The time for these searches (seconds); cuts that were not reached are left out."""

MOST_SIDE_LABELS = 12
"""Links that one side of a cut has alone up to which each has a label (links): of more, labels
cover each other, and colours must do."""

# What the page computes beforehand.

MOST_PAIR_STORIES = 12_000
"""Pairs times contexts of which all stories are told (stories); beyond, those of edges and close
calls."""

INTERVAL_LEVEL = 0.95
"""The level of the intervals of effects (a probability), as of `effects()`. A convention."""

MOST_EFFECT_ROWS = 6000
"""Rows of the table of effects that are shown (rows); of more, pairs that are adjacent in some
context come first."""

MOST_CURVED_LINKS = 400
"""Links up to which a report has their curves (links); a report of more has none."""

CURVE_POINT_STEP = 2
"""The step from a point of a curve to the next one that is drawn (points): half of the 81 points of
`results.settings.CURVE_POINTS` still look like a line."""

# Print.

MOST_LISTED_EDGES = 60
"""Edges of a graph that a print lists (edges), a screen; of larger graphs the rest is counted."""
