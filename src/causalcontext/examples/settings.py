"""The numbers that example systems rest on: unit, reason, and what half and double do.

None of them is a choice of the method: they say how a system is run, and when a truth counts as
known. They were set on 2026-11-15. Half and double of the two that can change a truth were measured
on 2026-11-19 (`model().truth()` of all in `MODELS`); the others were chosen, not measured.
"""

from __future__ import annotations

# The truth of equations: one cause is moved at a time.

DONOR_ROWS = 25
"""Rows with the most similar other causes, whose value of one cause is tried (rows): they stand for
the support. At half and at double, all named models have the same truth.
"""

SMALLEST_MOVED_SHARE = 0.01
"""The share of the tried changes that must move the effect (a share). Less is the paper's
"negligible" (Example (ii)). At half and at double, all named models have the same truth.
"""

FEWEST_TRUTH_ROWS = 30
"""Rows that a context needs for its truth to be asked (rows)."""

# Series.

BURN_IN = 300
"""Steps before the first row of a series (steps), so that the start is forgotten: at
`LARGEST_RADIUS` a ten-thousandth of it is left.
"""

PILOT = 4000
"""Rows of the run by which a system is judged before it is used (rows)."""

LARGEST_RADIUS = 0.97
"""The largest eigenvalue that a stable context has (no unit): what was is halved every 23 steps."""

LARGEST_SERIES_VALUE = 500.0
"""The largest value of the run of `PILOT` rows (standard deviations of the noise): a system with
larger ones has left what measurements look like.
"""

MOST_UNEVEN = 4.0
"""The ratio of the variances of its two halves up to which the run of `PILOT` rows is stationary (a
ratio).
"""
