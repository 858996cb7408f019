"""The numbers of the package's front: of searches as a whole, their progress, and their messages.

None of them changes a graph of a finished search. Where an entry says "not measured", it was chosen
for the reason that is given, and neither half nor double was tried.
"""

from __future__ import annotations

# Values in options and messages.

LARGEST_NUMBER = 1e300
"""The largest number that an option may have (no unit): the square of a larger one overflows, and
no unit of measurement needs it. A limit of floating point, not a choice."""

LONGEST_QUOTE = 80
"""Characters of a value in a message (characters): a line of a terminal. Half cuts names of columns
that a reader could still tell apart; double fills a message with one value."""

# Limits of a search.

SHORTEST_LIMIT = 0.01
"""The time that each search of several still has when their common limit is over (seconds): it
comes back at once with what it has. Not measured; any time that no user notices does the same."""

FEWEST_FIRST_ROWS = 100
"""Rows in the first batch of a file from which on columns are left out by these rows alone (rows):
ids and constants show there. Not measured. With half, a rare value is more often taken for a
constant; with double, short batches are read twice."""

# The forecast of a search by tests. The first three were read off searches of random models of 8 to
# 12 variables (2026-11-15).

QUERIES_KEPT = 0.3
"""The share of the later queries that is still there a level later, before anything is known about
it (a share of queries). At half and double the first forecasts of a search are too short and too
long; later ones follow the search."""

NEW_VOTES = 0.58
"""The share of the sets that vote which were not asked about before (a share of queries). It scales
the forecast of the votes, so half and double halve and double that part."""

SETTLED_SHARE = 0.15
"""A level of fewer queries than this changes the votes no more (a share of the votes). Not measured
at half and double."""

LONG_SEARCH = 20.0
"""The time of a search from which on a forecast is worth a line (seconds). Not measured: chosen as
the time after which somebody looks at a clock."""

QUICK_SEARCH = 60.0
"""A forecast names the largest `max_given` with which a search takes less (seconds). Not measured:
chosen as a time that a user waits without doing something else."""
